/* SPDX-License-Identifier: Apache-2.0 */
/* Which forms a user means. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/nearest.h"
#include "isa/parse.h"
#include "isa/table.h"

struct selection {
    size_t *positions;
    size_t count, capacity;
    bool failed;
};

static bool selection_has(const struct selection *selection, size_t position) {
    for (size_t i = 0; i < selection->count; i++) {
        if (selection->positions[i] == position)
            return true;
    }
    return false;
}

static void selection_add(struct selection *selection, size_t position) {
    if (selection->count == selection->capacity) {
        size_t capacity = selection->capacity == 0 ? 64 : selection->capacity * 2;
        size_t *positions = realloc(selection->positions, capacity * sizeof *positions);
        if (positions == NULL) {
            selection->failed = true;
            return;
        }
        selection->positions = positions;
        selection->capacity = capacity;
    }
    selection->positions[selection->count++] = position;
}

/* Shell-like: * is any string, ? any character. */
static bool pattern_matches(const char *pattern, const char *text) {
    const char *star = NULL, *retry = NULL;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            retry = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* "r64," and "imm8": the shell made words of a syntax that was not quoted. */
static bool is_operand(const char *word) {
    char syntax[ISA_SYNTAX_MAX];
    struct isa_form form;
    struct ip_error err = {0};
    size_t length = strlen(word);
    length -= length > 0 && word[length - 1] == ',';
    (void)snprintf(syntax, sizeof syntax, "nop %.*s", (int)length, word);
    return isa_form_parse(&form, syntax, &err) == IP_OK && form.explicit_count == 1;
}

static enum ip_status unknown_mnemonic(const struct isa_table *table, const char *mnemonic,
                                       struct ip_error *err) {
    struct isa_nearest nearest = {.wanted = mnemonic};
    if (is_operand(mnemonic))
        return ip_fail(
            err, IP_USAGE,
            "no instruction is called '%s' (a syntax with operands must be quoted: \"add r64, r64\")",
            mnemonic);
    for (size_t i = 0; i < table->count; i++) {
        if (i == 0 || strcmp(table->forms[i].mnemonic, table->forms[i - 1].mnemonic) != 0)
            isa_nearest_add(&nearest, table->forms[i].mnemonic);
    }
    char list[ISA_NEAREST_TEXT];
    if (nearest.count == 0)
        return ip_fail(
            err, IP_USAGE,
            "no instruction is called '%s'; 'isaprobe list' names all, 'isaprobe scan --isa FILE' adds rows",
            mnemonic);
    return ip_fail(err, IP_USAGE, "no instruction is called '%s'; nearest: %s", mnemonic,
                   isa_nearest_list(&nearest, list));
}

static enum ip_status unknown_form(const struct isa_table *table, const char *query, const char *mnemonic,
                                   struct ip_error *err) {
    char list[360] = "";
    size_t length = 0, shown = 0, total = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->forms[i].mnemonic, mnemonic) != 0)
            continue;
        total++;
        size_t needed = strlen(table->forms[i].syntax) + 2;
        if (shown + 1 == total && length + needed < sizeof list - 40) {
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", shown > 0 ? "; " : "",
                                       table->forms[i].syntax);
            shown++;
        }
    }
    if (total == 0)
        return unknown_mnemonic(table, mnemonic, err);
    if (shown < total)
        snprintf(list + length, sizeof list - length, " ... and %zu more", total - shown);
    return ip_fail(err, IP_USAGE, "no form '%.60s'; forms of %s: %s", query, mnemonic, list);
}

/* A mnemonic or a pattern, in canonical spelling. */
static bool bare_mnemonic(const char *query, char *mnemonic) {
    while (*query == ' ' || *query == '\t')
        query++;
    size_t length = strcspn(query, " \t");
    if (length == 0 || length >= ISA_MNEMONIC_MAX || query[0] == '{' ||
        query[length + strspn(query + length, " \t")] != '\0')
        return false;
    memcpy(mnemonic, query, length);
    mnemonic[length] = '\0';
    isa_mnemonic_canonicalise(mnemonic);
    return true;
}

/* A pattern of whole forms as their syntax is written: lower case, no blank before a comma, one behind it,
 * and otherwise one for many. Returns false where it is longer than any syntax. */
static bool syntax_pattern(const char *query, char *pattern) {
    size_t length = 0;
    bool blank = false;
    for (const char *at = query + strspn(query, " \t"); *at != '\0'; at++) {
        if (*at == ' ' || *at == '\t') {
            blank = true;
            continue;
        }
        if (length + 2 >= ISA_SYNTAX_MAX)
            return false;
        if (*at != ',' && (blank || (length > 0 && pattern[length - 1] == ',')))
            pattern[length++] = ' ';
        blank = false;
        pattern[length++] = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
    }
    pattern[length] = '\0';
    return true;
}

static enum ip_status select_syntax_pattern(const struct isa_table *table, const char *query,
                                            struct selection *selection, struct ip_error *err) {
    char pattern[ISA_SYNTAX_MAX];
    bool fits = syntax_pattern(query, pattern);
    for (size_t i = 0; i < table->count && fits; i++) {
        if (pattern_matches(pattern, table->forms[i].syntax))
            selection_add(selection, i);
    }
    if (selection->count == 0)
        return ip_fail(err, IP_USAGE,
                       "no form matches '%.60s'; 'isaprobe list' writes all as they are matched", query);
    return IP_OK;
}

static enum ip_status select_query(const struct isa_table *table, const char *query,
                                   struct selection *selection, struct ip_error *err) {
    char mnemonic[ISA_MNEMONIC_MAX];
    if (bare_mnemonic(query, mnemonic)) {
        bool pattern = strpbrk(mnemonic, "*?") != NULL;
        for (size_t i = 0; i < table->count; i++) {
            const char *name = table->forms[i].mnemonic;
            if (pattern ? pattern_matches(mnemonic, name) : strcmp(mnemonic, name) == 0)
                selection_add(selection, i);
        }
        if (selection->count > 0)
            return IP_OK;
        if (pattern)
            return ip_fail(err, IP_USAGE,
                           "no mnemonic matches '%s'; 'isaprobe list' names all, and with a blank ('lock *') "
                           "a pattern is one of whole forms",
                           mnemonic);
        return unknown_mnemonic(table, mnemonic, err);
    }
    if (strpbrk(query, "*?") != NULL)
        return select_syntax_pattern(table, query, selection, err);
    struct isa_row row;
    unsigned column = 0;
    enum ip_status status = isa_row_parse(&row, query, strlen(query), &column, err);
    if (status != IP_OK) {
        struct ip_error inner = *err;
        /* The mnemonic is read before the operands, so it may be known already. */
        if (row.base.mnemonic[0] != '\0') {
            bool known = false;
            for (size_t i = 0; i < table->count && !known; i++)
                known = strcmp(table->forms[i].mnemonic, row.base.mnemonic) == 0;
            if (!known)
                return unknown_mnemonic(table, row.base.mnemonic, err);
        }
        return ip_fail(err, IP_USAGE, "'%.60s', column %u: %s", query, column, inner.text);
    }
    if (row.operand_count == 0 && row.base.prefix[0] != '\0' && row.base.decorator[0] == '\0') {
        for (size_t i = 0; i < table->count; i++) { /* "lock add": all of them */
            if (strcmp(table->forms[i].mnemonic, row.base.mnemonic) == 0 &&
                strcmp(table->forms[i].prefix, row.base.prefix) == 0)
                selection_add(selection, i);
        }
    }
    for (unsigned n = 0; n < row.form_count; n++) {
        struct isa_form form;
        status = isa_row_form(&row, n, &form, err);
        if (status != IP_OK)
            return status;
        const struct isa_form *found = isa_table_find(table, form.syntax);
        if (found != NULL && !selection_has(selection, (size_t)(found - table->forms)))
            selection_add(selection, (size_t)(found - table->forms));
    }
    if (selection->count == 0)
        return unknown_form(table, query, row.base.mnemonic, err);
    return IP_OK;
}

enum ip_status isa_table_select(const struct isa_table *table, const char *query, size_t **positions,
                                size_t *count, struct ip_error *err) {
    struct selection selection = {0};
    enum ip_status status = select_query(table, query, &selection, err);
    if (status == IP_OK && !selection.failed && selection.count > 0) {
        size_t *grown = realloc(*positions, (*count + selection.count) * sizeof *grown);
        if (grown != NULL) {
            memcpy(grown + *count, selection.positions, selection.count * sizeof *grown);
            *positions = grown;
            *count += selection.count;
        } else {
            selection.failed = true;
        }
    }
    if (status == IP_OK && selection.failed)
        status = ip_fail(err, IP_NO_MEMORY, "no memory to select forms");
    free(selection.positions);
    return status;
}
