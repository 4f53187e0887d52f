/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/output.h"

/* Length of the well-formed UTF-8 sequence at `at` (RFC 3629), 0 if it is none. */
static size_t utf8_length(const unsigned char *at) {
    if (at[0] < 0x80) {
        return 1;
    }
    size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0; /* also the end of the string */
        }
    }
    bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool surrogate = at[0] == 0xed && at[1] > 0x9f;
    bool beyond = at[0] == 0xf4 && at[1] > 0x8f;
    return overlong || surrogate || beyond ? 0 : length;
}

static void string_append(struct ip_text *text, const char *string) {
    ip_text_append(text, "\"");
    for (const unsigned char *at = (const unsigned char *)string; *at != '\0';) {
        size_t length = utf8_length(at);
        if (length == 0) {
            ip_text_append(text, "\xef\xbf\xbd"); /* U+FFFD for what is not UTF-8 */
            at++;
        } else if (*at == '"' || *at == '\\') {
            ip_text_printf(text, "\\%c", *at++);
        } else if (*at < 0x20 || *at == 0x7f) {
            ip_text_printf(text, "\\u%04x", *at++);
        } else {
            ip_text_append_bytes(text, at, length);
            at += length;
        }
    }
    ip_text_append(text, "\"");
}

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
        string_append(text, value->text);
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
        string_append(text, columns[i].name);
        ip_text_append(text, ": ");
        value_append(text, &columns[i], &values[i]);
    }
    ip_text_append(text, "}");
}

void cli_json_row(struct ip_text *text, const struct cli_column *columns, const struct cli_value *values) {
    object_append(text, columns, values);
    ip_text_append(text, "\n");
}
