/* SPDX-License-Identifier: Apache-2.0 */
/* results/export_exegesis.c - the YAML of llvm-exegesis: one document for each form, with one thing measured.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/formats.h"

static const struct {
    const char *mode, *key;
} kinds[] = {
    [RES_EXEGESIS_LATENCY] = {"latency", "latency"},
    [RES_EXEGESIS_THROUGHPUT] = {"inverse_throughput", "inverse_throughput"},
    [RES_EXEGESIS_UOPS] = {"uops", "NumMicroOps"},
};

static double value_of(const struct res_row *row, enum res_exegesis kind) {
    return kind == RES_EXEGESIS_LATENCY      ? res_row_latency(row)
           : kind == RES_EXEGESIS_THROUGHPUT ? row->throughput
                                             : row->slots;
}

static void document_append(struct ip_text *text, const struct res_row *row, const struct res_llvm_name *name,
                            const struct res_export *export) {
    ip_text_printf(text, "---\nmode:            %s\nkey:\n  instructions:\n", kinds[export->exegesis].mode);
    if (name->prefix[0] != '\0') {
        ip_text_printf(text, "    - '%s'\n", name->prefix);
    }
    ip_text_printf(text, "    - '%s%s%s'\n", name->opcode, name->operands[0] != '\0' ? " " : "",
                   name->operands);
    ip_text_append(text, "  config:          ''\n  register_initial_values:\n");
    ip_text_printf(text, "cpu_name:        %s\nllvm_triple:     x86_64-unknown-linux-gnu\n",
                   export->arch != NULL ? export->arch : "x86-64");
    ip_text_printf(text,
                   "num_repetitions: 1\nmeasurements:\n  - { key: %s, value: ", kinds[export->exegesis].key);
    res_number_append(text, value_of(row, export->exegesis));
    ip_text_append(text, ", per_snippet_value: ");
    res_number_append(text, value_of(row, export->exegesis));
    ip_text_printf(
        text, " }\nerror:           ''\ninfo:            'isaprobe: %s'\nassembled_snippet: ", row->form);
    for (unsigned i = 0; i < name->code_bytes; i++) {
        ip_text_printf(text, "%02X", name->code[i]);
    }
    ip_text_append(text, "\n...\n");
}

enum ip_status res_exegesis_write(const struct res_sheet *sheet, struct res_export *export,
                                  struct ip_text *text, struct ip_error *err) {
    struct res_llvm_name *names = NULL;
    enum ip_status status = res_llvm_names(sheet, &names, err);
    for (size_t i = 0; status == IP_OK && i < sheet->count; i++) {
        if (names[i].opcode[0] == '\0' || isnan(value_of(&sheet->rows[i], export->exegesis))) {
            export->unnamed++;
            continue;
        }
        document_append(text, &sheet->rows[i], &names[i], export);
        export->written++;
    }
    free(names);
    return status;
}

/* The rest of the line behind `key`, which must stand at its beginning; NULL: another line. */
static const char *behind(const char *line, const char *key) {
    size_t length = strlen(key);
    return strncmp(line, key, length) == 0 ? line + length + strspn(line + length, " ") : NULL;
}

/* Where a reader is, and what it has of the document there. */
struct place {
    const char *name;
    unsigned line;
    bool open, valued;
    int kind; /* -1: no mode yet */
};

static enum ip_status wrong(const struct place *at, const char *what, struct ip_error *err) {
    return ip_fail_at(err, IP_SYNTAX, at->name, at->line, 0, "%s", what);
}

static enum ip_status document_begin(struct res_sheet *sheet, struct place *at, struct ip_error *err) {
    if (at->open) {
        return wrong(at, "the document before does not end in ...", err);
    }
    at->open = true;
    at->valued = false;
    at->kind = -1;
    return res_sheet_row_add(sheet) != NULL ? IP_OK
                                            : ip_fail(err, IP_NO_MEMORY, "out of memory for %s", at->name);
}

static enum ip_status document_end(const struct res_row *row, struct place *at, struct ip_error *err) {
    if (row->form[0] == '\0' || !at->valued) {
        return wrong(at, "a document without measurement, or without info 'isaprobe: FORM'", err);
    }
    at->open = false;
    return IP_OK;
}

static enum ip_status value_read(struct res_row *row, const char *rest, struct place *at,
                                 struct ip_error *err) {
    char word[32];
    rest += strlen("value:") + strspn(rest + strlen("value:"), " ");
    (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(rest, ", }"), rest);
    double value = res_number_read(word);
    if (isnan(value) || at->kind < 0) {
        return wrong(at, "a measurement without value or mode", err);
    }
    if (at->kind == RES_EXEGESIS_LATENCY) {
        row->latency = (struct res_sheet_range){.known = true, .low = value, .high = value};
    } else if (at->kind == RES_EXEGESIS_THROUGHPUT) {
        row->throughput = value;
    } else {
        row->slots = value;
    }
    at->valued = true;
    return IP_OK;
}

static enum ip_status line_read(struct res_sheet *sheet, const char *line, struct place *at,
                                struct ip_error *err) {
    const char *rest;
    if (behind(line, "---") != NULL) {
        return document_begin(sheet, at, err);
    }
    if (!at->open) {
        return line[strspn(line, " \r")] == '\0' ? IP_OK
                                                 : wrong(at, "expected --- before anything else", err);
    }
    struct res_row *row = &sheet->rows[sheet->count - 1];
    if (behind(line, "...") != NULL) {
        return document_end(row, at, err);
    }
    if ((rest = behind(line, "mode:")) != NULL) {
        at->kind = -1;
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
            at->kind = strcmp(rest, kinds[i].mode) == 0 ? (int)i : at->kind;
        }
        return at->kind >= 0
                   ? IP_OK
                   : ip_fail_at(err, IP_SYNTAX, at->name, at->line, 0,
                                "unknown mode '%.40s': expected latency, inverse_throughput or uops", rest);
    }
    if ((rest = behind(line, "info:")) != NULL && (rest = behind(rest, "'isaprobe:")) != NULL) {
        (void)snprintf(row->form, sizeof row->form, "%.*s", (int)strcspn(rest, "'"), rest);
    } else if ((rest = behind(line, "  - {")) != NULL && (rest = strstr(rest, "value:")) != NULL) {
        return value_read(row, rest, at, err);
    }
    return IP_OK;
}

enum ip_status res_exegesis_read(struct res_sheet *sheet, const char *name, const char *text,
                                 struct ip_error *err) {
    char line[1024];
    struct place place = {.name = name};
    enum ip_status status = IP_OK;
    for (const char *at = text; status == IP_OK && *at != '\0';) {
        size_t length = strcspn(at, "\n");
        place.line++;
        if (length >= sizeof line) {
            return ip_fail_at(err, IP_SYNTAX, name, place.line, 0, "a line is longer than %zu bytes",
                              sizeof line - 1);
        }
        memcpy(line, at, length);
        line[length] = '\0';
        at += length + (at[length] == '\n');
        status = line_read(sheet, line, &place, err);
    }
    return status == IP_OK && place.open ? wrong(&place, "the file ends in the middle of a document", err)
                                         : status;
}
