/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX_BYTES = 64 << 20 };

/* A mark for each form of the table. */
struct marks {
    const struct isa_table *table;
    bool *taken;
};

static enum ip_status query_mark(struct marks *marks, const char *query, struct ip_error *err) {
    /* A list may hold thousands of syntaxes: those are found without a walk through the table. */
    const struct isa_form *exact = isa_table_find(marks->table, query);
    if (exact != NULL) {
        marks->taken[exact - marks->table->forms] = true;
        return IP_OK;
    }
    size_t *positions = NULL;
    size_t count = 0;
    enum ip_status status = isa_table_select(marks->table, query, &positions, &count, err);
    for (size_t i = 0; status == IP_OK && i < count; i++) {
        marks->taken[positions[i]] = true;
    }
    free(positions);
    return status;
}

/* One FORM a line; # begins a comment. */
static enum ip_status list_mark(struct marks *marks, const char *path, struct ip_error *err) {
    struct ip_text text = {0};
    enum ip_status status =
        ip_text_file_read(&text, path, LIST_MAX_BYTES, "one form a line is expected", err);
    unsigned number = 0;
    char *next = status == IP_OK && text.data != NULL ? text.data : NULL;
    while (status == IP_OK && next != NULL) {
        char *line = strsep(&next, "\n");
        number++;
        line[strcspn(line, "#")] = '\0';
        line += strspn(line, " \t");
        size_t length = strlen(line);
        while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t')) {
            line[--length] = '\0';
        }
        struct ip_error reason;
        if (length > 0 && query_mark(marks, line, &reason) != IP_OK) {
            status = ip_fail_at(err, reason.status, strcmp(path, "-") == 0 ? "standard input" : path, number,
                                0, "%s", reason.text);
        }
    }
    bool any = false;
    for (size_t i = 0; i < marks->table->count && !any; i++) {
        any = marks->taken[i];
    }
    if (status == IP_OK && !any) {
        status = ip_fail(err, IP_USAGE, "'%.200s' names no form: one a line is expected",
                         strcmp(path, "-") == 0 ? "standard input" : path);
    }
    ip_text_fini(&text);
    return status;
}

enum ip_status cli_selection_keep(struct cli_forms *forms, const struct cli_settings *settings,
                                  struct ip_error *err) {
    enum ip_status status = isa_table_extensions_check(&forms->table, &settings->extensions, err);
    size_t kept = 0;
    for (size_t i = 0; status == IP_OK && i < forms->count; i++) {
        if (isa_extension_wanted(&settings->extensions, forms->items[i]->extension)) {
            forms->items[kept++] = forms->items[i];
        }
    }
    if (status == IP_OK && kept == 0) {
        status = ip_fail(err, IP_USAGE, "none of the forms named is of the extension asked for");
    }
    if (status == IP_OK) {
        forms->count = kept;
    }
    return status;
}

static enum ip_status items_make(struct cli_forms *forms, const bool *taken, struct ip_error *err) {
    struct isa_form **items = calloc(forms->table.count + 1, sizeof(struct isa_form *));
    if (items == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", forms->table.count);
    }
    size_t count = 0;
    for (size_t i = 0; i < forms->table.count; i++) {
        if (taken[i]) {
            items[count++] = &forms->table.forms[i];
        }
    }
    free(forms->items);
    forms->items = items;
    forms->count = count;
    return IP_OK;
}

enum ip_status cli_selection_make(struct cli_forms *forms, const struct cli_settings *settings,
                                  struct ip_error *err) {
    enum ip_status status = cli_forms_load(forms, settings, err);
    if (status != IP_OK) {
        return status;
    }
    struct marks marks = {.table = &forms->table, .taken = calloc(forms->table.count + 1, sizeof(bool))};
    if (marks.taken == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", forms->table.count);
    }
    for (int i = 0; status == IP_OK && i < settings->argument_count; i++) {
        status = query_mark(&marks, settings->arguments[i], err);
    }
    if (status == IP_OK && settings->list != NULL) {
        status = list_mark(&marks, settings->list, err);
    }
    if (settings->argument_count == 0 && settings->list == NULL) {
        memset(marks.taken, true, forms->table.count);
    }
    if (status == IP_OK) {
        status = items_make(forms, marks.taken, err);
    }
    if (status == IP_OK) {
        status = cli_selection_keep(forms, settings, err);
    }
    free(marks.taken);
    return status;
}

void cli_selection_describe(struct ip_text *text, const struct cli_settings *settings) {
    for (int i = 0; i < settings->argument_count; i++) {
        ip_text_printf(text, "%s\"%s\"", i > 0 ? " " : "", settings->arguments[i]);
    }
    if (settings->list != NULL) {
        ip_text_printf(text, "%s--list %s", text->length > 0 ? " " : "", settings->list);
    }
    for (size_t i = 0; i < settings->extensions.count; i++) {
        ip_text_printf(text, "%s--extension %s", text->length > 0 ? " " : "", settings->extensions.items[i]);
    }
    if (text->length == 0) {
        ip_text_append(text, "all");
    }
}
