/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of instruction tables, and queries: whatever the text, a table or an error with a place; every form of
 * the table is found by its own syntax, and its syntax parses to itself. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "isa/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct isa_table table = {0};
    struct ip_error err = {0};
    const char *text = (const char *)data;
    enum ip_status status = isa_table_text_add(&table, "fuzz", text, size, &err);
    if (status == IP_OK) {
        for (size_t i = 0; i < table.count; i++) {
            struct isa_form form;
            struct isa_binding binding;
            char line[ISA_LINE_MAX];
            if (isa_table_find(&table, table.forms[i].syntax) != &table.forms[i])
                abort();
            if (isa_form_parse(&form, table.forms[i].syntax, &err) != IP_OK ||
                strcmp(form.syntax, table.forms[i].syntax) != 0)
                abort();
            isa_binding_init(&form, &binding);
            if (isa_form_print(&form, &binding, line, &err) == IP_OK && strlen(line) >= sizeof line)
                abort();
        }
    } else if (table.count != 0 || strncmp(err.place, "fuzz:", 5) != 0 || err.text[0] == '\0' ||
               strpbrk(err.text, "\n\x1b") != NULL) {
        abort();
    }
    /* The first line as a query. */
    char query[128];
    size_t length = 0;
    while (length < size && length < sizeof query - 1 && text[length] != '\n' && text[length] != '\0')
        length++;
    memcpy(query, text, length);
    query[length] = '\0';
    size_t *positions = NULL, count = 0;
    if (isa_table_select(&table, query, &positions, &count, &err) == IP_OK && count == 0)
        abort();
    free(positions);
    isa_table_fini(&table);
    return 0;
}
