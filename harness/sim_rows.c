/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a simulated CPU's description: lists, look-up, port notation. */
#include <stdlib.h>
#include <string.h>

#include "harness/sim_description.h"

bool hx_sim_rows_add(struct hx_sim_rows *rows, const struct hx_sim_row *row) {
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity != 0 ? rows->capacity * 2 : 16;
        struct hx_sim_row *items = realloc(rows->items, capacity * sizeof *items);
        if (items == NULL) {
            return false;
        }
        rows->items = items;
        rows->capacity = capacity;
    }
    rows->items[rows->count++] = *row;
    return true;
}

bool hx_sim_rows_index(struct hx_sim_rows *rows) {
    size_t size = 16;
    while (size < rows->count * 2) {
        size *= 2;
    }
    uint32_t *index = calloc(size, sizeof *index);
    if (index == NULL) {
        return false;
    }
    for (size_t i = 0; i < rows->count; i++) {
        size_t slot = ip_text_hash(rows->items[i].syntax) & (size - 1);
        while (index[slot] != 0) {
            slot = (slot + 1) & (size - 1);
        }
        index[slot] = (uint32_t)i + 1;
    }
    free(rows->index);
    rows->index = index;
    rows->index_size = size;
    return true;
}

const struct hx_sim_row *hx_sim_rows_find(const struct hx_sim_rows *rows, const char *syntax) {
    if (rows->index_size == 0) {
        return NULL;
    }
    size_t slot = ip_text_hash(syntax) & (rows->index_size - 1);
    for (; rows->index[slot] != 0; slot = (slot + 1) & (rows->index_size - 1)) {
        const struct hx_sim_row *row = &rows->items[rows->index[slot] - 1];
        if (strcmp(row->syntax, syntax) == 0) {
            return row;
        }
    }
    return NULL;
}

void hx_sim_rows_fini(struct hx_sim_rows *rows) {
    free(rows->items);
    free(rows->index);
    memset(rows, 0, sizeof *rows);
}

bool hx_sim_pattern_matches(const char *pattern, const char *text) {
    const char *star = NULL, *resume = NULL;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            resume = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star; /* the last star takes one character more */
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}

const struct hx_sim_row *hx_sim_row_find(const struct hx_sim_description *description,
                                         const struct isa_form *form, const struct isa_binding *binding) {
    const struct hx_sim_row *row = hx_sim_rows_find(&description->rows, form->syntax);
    if (row != NULL) {
        return row;
    }
    for (size_t i = 0; i < description->patterns.count; i++) {
        if (hx_sim_pattern_matches(description->patterns.items[i].syntax, form->syntax)) {
            return &description->patterns.items[i];
        }
    }
    if (description->imported.count > 0) {
        row = hx_sim_import_find(&description->imported, form, binding);
        if (row != NULL) {
            return row;
        }
    }
    return description->has_fallback ? &description->fallback : NULL;
}

const char hx_sim_too_many_uops[] = "a form has 1 to 100 µops in the model";

const char *hx_sim_ports_parse(const struct hx_sim_description *description, const char *text, size_t length,
                               struct hx_sim_row *row, size_t *where) {
    row->uops_count = 0;
    *where = 0;
    if (length == 4 && memcmp(text, "none", 4) == 0) {
        return NULL;
    }
    unsigned total = 0;
    for (size_t i = 0;;) {
        *where = i;
        unsigned count = 0;
        for (; i < length && text[i] >= '0' && text[i] <= '9'; i++) {
            count = count > HX_SIM_UOPS_MAX ? count : count * 10 + (unsigned)(text[i] - '0');
        }
        total += count;
        if (count == 0) {
            return "a number of µops is expected, as in 1*p01+2*p5";
        }
        if (total > HX_SIM_UOPS_MAX) {
            return hx_sim_too_many_uops;
        }
        *where = i;
        if (i + 2 >= length || text[i] != '*' || text[i + 1] != 'p') {
            return "*p and port names are expected, as in 1*p01+2*p5";
        }
        uint32_t ports = 0;
        for (i += 2; i < length && text[i] != '+'; i++) {
            *where = i;
            const char *port = text[i] != '\0' ? strchr(description->ports, text[i]) : NULL;
            if (port == NULL) {
                return "no such port; the `ports` line lists them and must come first";
            }
            ports |= UINT32_C(1) << (port - description->ports);
        }
        if (ports == 0) {
            return "a port is expected after p";
        }
        if (row->uops_count == HX_SIM_GROUPS_MAX) {
            return "more than 12 terms";
        }
        row->uops[row->uops_count++] = (struct hx_sim_uops){.ports = ports, .count = (uint16_t)count};
        if (i == length) {
            return NULL;
        }
        i++; /* the plus */
    }
}
