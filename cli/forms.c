/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/decode.h"

void cli_forms_fini(struct cli_forms *forms) {
    free(forms->items);
    isa_table_fini(&forms->table);
    memset(forms, 0, sizeof *forms);
}

enum ip_status cli_forms_load(struct cli_forms *forms, const struct cli_settings *settings,
                              struct ip_error *err) {
    enum ip_status status = isa_table_builtin_add(&forms->table, err);
    for (size_t i = 0; status == IP_OK && i < settings->isa_files.count; i++) {
        status = isa_table_file_add(&forms->table, settings->isa_files.items[i], err);
    }
    return status;
}

/* Marks what is selected in one byte per form, so that a query costs its own length. */
static enum ip_status selection_add(struct cli_forms *forms, const size_t *positions, size_t count,
                                    size_t from, struct ip_error *err) {
    struct isa_form **items = realloc(forms->items, (forms->count + count) * sizeof *items);
    bool *taken = calloc(forms->table.count + 1, sizeof *taken);
    if (items != NULL) {
        forms->items = items;
    }
    if (items == NULL || taken == NULL) {
        free(taken);
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", count);
    }
    for (size_t i = from; i < forms->count; i++) {
        taken[forms->items[i] - forms->table.forms] = true;
    }
    for (size_t i = 0; i < count; i++) {
        if (!taken[positions[i]]) {
            taken[positions[i]] = true;
            forms->items[forms->count++] = &forms->table.forms[positions[i]];
        }
    }
    free(taken);
    return IP_OK;
}

enum ip_status cli_forms_select(struct cli_forms *forms, const char *query, size_t from,
                                struct ip_error *err) {
    size_t *positions = NULL;
    size_t count = 0;
    enum ip_status status = isa_table_select(&forms->table, query, &positions, &count, err);
    if (status == IP_OK && count > 0) {
        status = selection_add(forms, positions, count, from, err);
    }
    free(positions);
    return status;
}

enum ip_status cli_forms_prepare(struct cli_forms *forms, const struct cli_settings *settings,
                                 struct ip_error *err) {
    enum ip_status status = cli_forms_load(forms, settings, err);
    for (int i = 0; status == IP_OK && i < settings->argument_count; i++) {
        status = cli_forms_select(forms, settings->arguments[i], 0, err);
    }
    return status == IP_OK ? isa_forms_derive(forms->items, forms->count, err) : status;
}

enum ip_status cli_forms_single(struct cli_forms *forms, const char *query, struct isa_form **form,
                                struct ip_error *err) {
    size_t *positions = NULL;
    size_t count = 0;
    enum ip_status status = isa_table_select(&forms->table, query, &positions, &count, err);
    if (status != IP_OK) {
        free(positions);
        return status;
    }
    /* `lodsq` is a form, and the mnemonic of `rep lodsq`, too. */
    struct isa_form *found =
        count == 1 ? &forms->table.forms[positions[0]] : isa_table_find(&forms->table, query);
    if (found == NULL) {
        struct ip_text names = {0};
        for (size_t i = 0; i < count && i < 6; i++) {
            ip_text_printf(&names, "%s'%s'", i > 0 ? " or " : "", forms->table.forms[positions[i]].syntax);
        }
        status = ip_fail(err, IP_USAGE, "'%s' names %zu forms: choose one, such as %s", query, count,
                         ip_text_string(&names));
        ip_text_fini(&names);
        free(positions);
        return status;
    }
    free(positions);
    status = isa_forms_derive(&found, 1, err);
    if (status == IP_OK) {
        *form = found;
    }
    return status;
}

const char *cli_form_obstacle(const struct isa_form *form, char *buffer) {
    static const char *const words[] = {
        [ISA_OBSTACLE_NONE] = "",
        [ISA_OBSTACLE_PRIVILEGED] = "privileged",
        [ISA_OBSTACLE_CONTROL_FLOW] = "leaves the kernel",
        [ISA_OBSTACLE_STATE] = "changes state that the harness stands on",
        [ISA_OBSTACLE_UNENCODABLE] = "cannot be encoded",
        [ISA_OBSTACLE_OPERANDS] = "needs operands that cannot be prepared",
    };
    if (form->obstacle == ISA_OBSTACLE_NONE) {
        return NULL;
    }
    (void)snprintf(buffer, 160, "not measurable: %s",
                   form->note[0] != '\0' ? form->note : words[form->obstacle]);
    return buffer;
}
