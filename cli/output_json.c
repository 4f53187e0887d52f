/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/output.h"

static void object_append(struct ip_text *text, const struct cli_column *columns,
                          const struct cli_value *values);

static size_t columns_count(const struct cli_column *columns) {
    size_t count = 0;
    while (columns[count].name != NULL) {
        count++;
    }
    return count;
}

static void value_append(struct ip_text *text, const struct cli_column *column,
                         const struct cli_value *value) {
    switch (value->type) {
    case CLI_TYPE_NONE:
        ip_text_append(text, "null");
        break;
    case CLI_TYPE_TEXT:
        ip_text_append_json(text, value->text);
        break;
    case CLI_TYPE_NUMBER:
        if (isfinite(value->number)) {
            cli_number_exact_append(text, value);
        } else {
            ip_text_append(text, "null");
        }
        break;
    case CLI_TYPE_INTEGER:
        ip_text_printf(text, "%" PRId64, value->integer);
        break;
    case CLI_TYPE_BOOL:
        ip_text_append(text, value->integer != 0 ? "true" : "false");
        break;
    case CLI_TYPE_LIST: {
        size_t width = columns_count(column->items);
        ip_text_append(text, "[");
        for (size_t i = 0; i < value->count; i++) {
            ip_text_append(text, i > 0 ? ", " : "");
            object_append(text, column->items, value->list + i * width);
        }
        ip_text_append(text, "]");
        break;
    }
    }
}

static void object_append(struct ip_text *text, const struct cli_column *columns,
                          const struct cli_value *values) {
    ip_text_append(text, "{");
    bool first = true;
    for (size_t i = 0; columns[i].name != NULL; i++) {
        if (columns[i].text_only) {
            continue;
        }
        ip_text_append(text, first ? "" : ", ");
        first = false;
        ip_text_append_json(text, columns[i].name);
        ip_text_append(text, ": ");
        value_append(text, &columns[i], &values[i]);
    }
    ip_text_append(text, "}");
}

void cli_json_row(struct ip_text *text, const struct cli_column *columns, const struct cli_value *values) {
    object_append(text, columns, values);
    ip_text_append(text, "\n");
}
