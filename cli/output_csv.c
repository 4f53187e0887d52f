/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/output.h"

static void string_append(struct ip_text *text, const char *string) {
    if (strpbrk(string, ",\"\r\n") == NULL) {
        ip_text_append(text, string);
        return;
    }
    ip_text_append(text, "\"");
    for (const char *at = string; *at != '\0'; at++) {
        ip_text_append_bytes(text, at, 1);
        if (*at == '"') {
            ip_text_append(text, "\"");
        }
    }
    ip_text_append(text, "\"");
}

static void value_append(struct ip_text *text, const struct cli_value *value) {
    switch (value->type) {
    case CLI_TYPE_TEXT:
        string_append(text, value->text);
        break;
    case CLI_TYPE_NUMBER:
        if (isfinite(value->number)) {
            cli_number_exact_append(text, value);
        }
        break;
    case CLI_TYPE_INTEGER:
        ip_text_printf(text, "%" PRId64, value->integer);
        break;
    case CLI_TYPE_BOOL:
        ip_text_append(text, value->integer != 0 ? "true" : "false");
        break;
    case CLI_TYPE_NONE:
    case CLI_TYPE_LIST:
        break;
    }
}

static void separate(struct ip_text *text, bool *first) {
    if (!*first) {
        ip_text_append(text, ",");
    }
    *first = false;
}

/* So many columns, items of lists among them, are called so. */
static unsigned named_so(const struct cli_column *columns, const char *name) {
    unsigned count = 0;
    for (; columns->name != NULL; columns++) {
        if (columns->items != NULL) {
            count += named_so(columns->items, name);
        } else {
            count += !columns->text_only && strcmp(columns->name, name) == 0;
        }
    }
    return count;
}

/* An item of a list that is called as another column is has the list's name before its own. */
void cli_csv_header(struct ip_text *text, const struct cli_column *columns) {
    bool first = true;
    for (const struct cli_column *column = columns; column->name != NULL; column++) {
        if (column->text_only) {
            continue;
        }
        if (column->items == NULL) {
            separate(text, &first);
            string_append(text, column->name);
            continue;
        }
        for (const struct cli_column *item = column->items; item->name != NULL; item++) {
            separate(text, &first);
            if (named_so(columns, item->name) > 1) {
                string_append(text, column->name);
                ip_text_append(text, "_");
            }
            string_append(text, item->name);
        }
    }
    ip_text_append(text, "\r\n");
}

static void record_append(struct ip_text *text, const struct cli_column *columns,
                          const struct cli_value *values, size_t item) {
    static const struct cli_value nothing;
    bool first = true;
    for (size_t i = 0; columns[i].name != NULL; i++) {
        if (columns[i].text_only) {
            continue;
        }
        if (columns[i].items == NULL) {
            separate(text, &first);
            value_append(text, &values[i]);
            continue;
        }
        size_t width = 0;
        while (columns[i].items[width].name != NULL) {
            width++;
        }
        for (size_t j = 0; j < width; j++) {
            separate(text, &first);
            value_append(text, item < values[i].count ? &values[i].list[item * width + j] : &nothing);
        }
    }
    ip_text_append(text, "\r\n");
}

void cli_csv_row(struct ip_text *text, const struct cli_column *columns, const struct cli_value *values) {
    size_t records = 1; /* a row without items is one record too */
    for (size_t i = 0; columns[i].name != NULL; i++) {
        if (columns[i].items != NULL && values[i].count > records) {
            records = values[i].count;
        }
    }
    for (size_t item = 0; item < records; item++) {
        record_append(text, columns, values, item);
    }
}
