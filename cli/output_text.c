/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"

enum { GAP = 3 }; /* blanks between columns */

const char *cli_slots_text(double slots, char buffer[CLI_SLOTS_MAX]) {
    static const double near = 0.3;
    if (isnan(slots)) {
        return "-";
    }
    (void)snprintf(buffer, CLI_SLOTS_MAX, fabs(slots - round(slots)) <= near ? "%.0f" : "%.2f", slots);
    return buffer;
}

void cli_number_append(struct ip_text *text, double number) {
    if (isfinite(number)) {
        ip_text_printf(text, "%.2f", fabs(number) < 0.005 ? 0.0 : number); /* no "-0.00" */
    } else {
        ip_text_append(text, "-");
    }
}

void cli_text_cells(struct ip_lines *cells, const struct cli_column *columns,
                    const struct cli_value *values) {
    struct ip_text text = {0};
    for (size_t i = 0; columns[i].name != NULL; i++) {
        if (columns[i].text_hidden) {
            continue;
        }
        ip_text_clear(&text);
        switch (values[i].type) {
        case CLI_TYPE_TEXT:
            ip_text_append(&text, values[i].text);
            break;
        case CLI_TYPE_NUMBER:
            cli_number_append(&text, values[i].number);
            break;
        case CLI_TYPE_INTEGER:
            ip_text_printf(&text, "%" PRId64, values[i].integer);
            break;
        case CLI_TYPE_BOOL:
            ip_text_append(&text, values[i].integer != 0 ? "yes" : "no");
            break;
        case CLI_TYPE_NONE:
        case CLI_TYPE_LIST:
            break;
        }
        ip_lines_add(cells, ip_text_string(&text));
    }
    cells->failed = cells->failed || text.failed;
    ip_text_fini(&text);
}

/* Characters, not bytes: continuation bytes of UTF-8 take no place. */
static size_t width_of(const char *string) {
    size_t width = 0;
    for (; *string != '\0'; string++) {
        width += ((unsigned char)*string & 0xc0) != 0x80;
    }
    return width;
}

/* A user's words may hold control characters: they must not steer the terminal. */
static void cell_append(struct ip_text *text, const char *cell) {
    for (; *cell != '\0'; cell++) {
        bool control = (unsigned char)*cell < 0x20 || *cell == 0x7f;
        ip_text_append_bytes(text, control ? "?" : cell, 1);
    }
}

static void line_append(struct ip_text *text, const struct ip_lines *cells, const size_t *widths) {
    size_t last = cells->count;
    while (last > 0 && cells->items[last - 1][0] == '\0') {
        last--; /* no blanks at the end of a line */
    }
    for (size_t i = 0; i < last; i++) {
        cell_append(text, cells->items[i]);
        if (i + 1 < last) {
            ip_text_printf(text, "%*s", (int)(widths[i] - width_of(cells->items[i]) + GAP), "");
        }
    }
    ip_text_append(text, "\n");
}

void cli_text_table(struct ip_text *text, const struct cli_output *output) {
    struct ip_lines header = {0};
    for (const struct cli_column *column = output->columns; column->name != NULL; column++) {
        if (!column->text_hidden) {
            ip_lines_add(&header, column->name);
        }
    }
    size_t columns = header.count;
    for (size_t r = 0; r < output->row_count; r++) {
        columns = output->rows[r].count > columns ? output->rows[r].count : columns;
    }
    size_t *widths = calloc(columns + 1, sizeof *widths);
    if (widths == NULL || header.failed) {
        text->failed = true;
        free(widths);
        ip_lines_fini(&header);
        return;
    }
    for (size_t c = 0; c < header.count; c++) {
        widths[c] = width_of(header.items[c]);
    }
    for (size_t r = 0; r < output->row_count; r++) {
        for (size_t c = 0; c < output->rows[r].count; c++) {
            size_t width = width_of(output->rows[r].items[c]);
            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
    ip_text_append(text, output->colour ? "\x1b[1m" : "");
    line_append(text, &header, widths);
    ip_text_append(text, output->colour ? "\x1b[0m" : "");
    for (size_t r = 0; r < output->row_count; r++) {
        line_append(text, &output->rows[r], widths);
    }
    free(widths);
    ip_lines_fini(&header);
}
