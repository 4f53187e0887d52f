/* SPDX-License-Identifier: Apache-2.0 */
#include "results/export.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "results/formats.h"

const char res_format_words[] = "uopsinfo-xml osaca llvm-exegesis llvm-sched-json maqao-lua csv json";

/* --- shared by the formats ------------------------------------------------------------------------------ */

void res_number_or(struct ip_text *text, double number, const char *nothing) {
    if (isnan(number)) {
        ip_text_append(text, nothing);
    } else {
        res_number_append(text, number);
    }
}

double res_pair_cycles(const struct res_sheet_pair *pair) {
    return pair->upper_bound && !isnan(pair->share) ? pair->share : pair->cycles;
}

double res_row_latency_shared(const struct res_row *row) {
    double most = NAN;
    for (size_t i = 0; i < row->pair_count; i++) {
        const struct res_sheet_pair *pair = &row->pairs[i];
        if (pair->upper_bound && pair->share < pair->cycles && strcmp(pair->path, "register") == 0) {
            most = fmax(most, pair->share);
        }
    }
    return most;
}

double res_row_latency(const struct res_row *row) {
    if (row->pair_count == 0) {
        return row->latency.known ? row->latency.high : NAN;
    }
    /* What is exact before what is a bound; what goes through memory last. But what is exact may be only that
     * of the operand into which a result is merged (CVTSI2SD, PINSRQ): beside it a bound's share counts. */
    double best[4] = {NAN, NAN, NAN, NAN};
    for (size_t i = 0; i < row->pair_count; i++) {
        const struct res_sheet_pair *pair = &row->pairs[i];
        double *kind = &best[2 * (strcmp(pair->path, "content") == 0) + pair->upper_bound];
        *kind = fmax(*kind, res_pair_cycles(pair));
    }
    if (!isnan(best[0])) {
        best[0] = fmax(best[0], res_row_latency_shared(row));
    }
    for (size_t i = 0; i < sizeof best / sizeof best[0]; i++) {
        if (!isnan(best[i])) {
            return best[i];
        }
    }
    return NAN;
}

double res_row_uops(const struct res_row *row) {
    struct probe_usage_term terms[PROBE_USAGE_TERMS];
    unsigned count;
    if (row->ports[0] == '\0' || !res_usage_parse(row->ports, terms, &count)) {
        return NAN;
    }
    double uops = 0;
    for (unsigned i = 0; i < count; i++) {
        uops += terms[i].uops;
    }
    return uops;
}

unsigned res_port_number(unsigned port) {
    return port == 10 ? 11 : port == 11 ? 10 : port;
}

void res_ports_append(struct ip_text *text, const char *ports, const char *open, const char *close,
                      const char *quote) {
    struct probe_usage_term terms[PROBE_USAGE_TERMS];
    unsigned count;
    if (!res_usage_parse(ports, terms, &count)) {
        count = 0;
    }
    ip_text_append(text, open);
    for (unsigned i = 0; i < count; i++) {
        ip_text_printf(text, "%s%s", i > 0 ? ", " : "", open);
        res_number_append(text, terms[i].uops);
        ip_text_printf(text, ", %s", open);
        const char *comma = "";
        for (unsigned number = 0; number < 32; number++) {
            if ((terms[i].ports >> res_port_number(number) & 1) != 0) {
                ip_text_printf(text, "%s%s%u%s", comma, quote, number, quote);
                comma = ", ";
            }
        }
        ip_text_printf(text, "%s%s", close, close);
    }
    ip_text_append(text, close);
}

static bool term_of_node(const struct res_node *node, struct ip_text *text) {
    const struct res_node *uops = node->first, *list = uops != NULL ? uops->next : NULL;
    if (uops == NULL || isnan(res_number_read(uops->text)) || list == NULL || list->first == NULL) {
        return false;
    }
    ip_text_printf(text, "%s%s*p", text->length > 0 ? "+" : "", uops->text);
    uint32_t ports = 0;
    for (const struct res_node *port = list->first; port != NULL; port = port->next) {
        double number = res_number_read(port->text);
        if (!(number >= 0 && number < 32)) {
            return false;
        }
        ports |= UINT32_C(1) << res_port_number((unsigned)number);
    }
    for (unsigned port = 0; port < 32; port++) {
        char name = res_port_name(port);
        ip_text_append_bytes(text, &name, ports >> port & 1);
    }
    return true;
}

bool res_is_unit_term(const struct res_node *term) {
    const struct res_node *list = term->first != NULL ? term->first->next : NULL;
    const struct res_node *pipe = list != NULL ? list->first : NULL;
    return pipe != NULL && pipe->text != NULL &&
           strncmp(pipe->text, RES_UNIT_PIPE, strlen(RES_UNIT_PIPE)) == 0;
}

bool res_ports_of_node(const struct res_node *node, char ports[RES_PORTS_MAX]) {
    struct ip_text text = {0};
    bool good = node->text == NULL;
    for (const struct res_node *term = node->first; good && term != NULL; term = term->next) {
        good = res_is_unit_term(term) || term_of_node(term, &text);
    }
    struct probe_usage_term terms[PROBE_USAGE_TERMS];
    unsigned count;
    good = good && !text.failed && text.length < RES_PORTS_MAX &&
           res_usage_parse(ip_text_string(&text), terms, &count); /* no µops that are none */
    if (good) {
        (void)snprintf(ports, RES_PORTS_MAX, "%s", text.length > 0 ? ip_text_string(&text) : "none");
    }
    ip_text_fini(&text);
    return good;
}

static int choice_by_key(const void *left, const void *right) {
    const struct res_choice *a = left, *b = right;
    int key = strcmp(a->key, b->key);
    if (key != 0) {
        return key;
    }
    return a->rank != b->rank ? b->rank - a->rank : (a->row > b->row) - (a->row < b->row);
}

static int choice_by_row(const void *left, const void *right) {
    const struct res_choice *a = left, *b = right;
    return (a->row > b->row) - (a->row < b->row);
}

void res_choices_make(struct res_choice *choices, size_t count, size_t *merged) {
    qsort(choices, count, sizeof *choices, choice_by_key);
    for (size_t i = 0; i < count; i++) {
        choices[i].chosen = i == 0 || strcmp(choices[i].key, choices[i - 1].key) != 0;
        *merged += !choices[i].chosen;
    }
    qsort(choices, count, sizeof *choices, choice_by_row);
}

/* --- writing -------------------------------------------------------------------------------------------- */

static enum ip_status format_write(const struct res_sheet *sheet, struct res_export *export,
                                   struct ip_text *text, struct ip_error *err) {
    switch (export->format) {
    case RES_FORMAT_UOPSINFO_XML:
        res_xml_write(sheet, export, text);
        return IP_OK;
    case RES_FORMAT_OSACA:
        return res_osaca_write(sheet, export, text, err);
    case RES_FORMAT_LLVM_EXEGESIS:
        return res_exegesis_write(sheet, export, text, err);
    case RES_FORMAT_LLVM_SCHED_JSON:
        return res_schedule_write(sheet, export, text, err);
    case RES_FORMAT_MAQAO_LUA:
        res_lua_write(sheet, export, text);
        return IP_OK;
    case RES_FORMAT_CSV:
        res_csv_write(sheet, export, text);
        return IP_OK;
    case RES_FORMAT_JSON:
        res_json_write(sheet, export, text);
        return IP_OK;
    case RES_FORMATS:
        break;
    }
    return ip_fail(err, IP_USAGE, "unknown export format: choose one of %s", res_format_words);
}

bool res_arch_is_word(const char *arch) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._";
    return arch[0] != '\0' && arch[strspn(arch, letters)] == '\0';
}

enum ip_status res_export_write(struct res_sheet *sheet, struct res_export *export, struct ip_text *text,
                                struct ip_error *err) {
    struct ip_text made = {0};
    export->written = export->merged = export->unnamed = 0;
    if (export->arch != NULL && !res_arch_is_word(export->arch)) {
        return ip_fail(err, IP_USAGE, "the name of the CPU has letters, digits and + - . _: '%.40s' is none",
                       export->arch);
    }
    enum ip_status status = sheet->table.count == 0 ? res_sheet_derive(sheet, err) : IP_OK;
    if (status == IP_OK) {
        status = format_write(sheet, export, &made, err);
    }
    if (status == IP_OK && !made.failed && export->written == 0) {
        status = ip_fail(
            err, IP_FAILED,
            sheet->count == 0
                ? "none of the forms named runs on the CPU of this store: there is nothing to export"
                : "none of the %zu forms can be exported: this format has no name for them, or the store not "
                  "the "
                  "value that it wants; choose another format, or measure more with 'isaprobe scan --parts'",
            sheet->count);
    }
    if (status == IP_OK && made.failed) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for an export of %zu forms", sheet->count);
    }
    if (status != IP_OK) {
        ip_text_fini(&made);
        return status;
    }
    ip_text_fini(text);
    *text = made;
    return IP_OK;
}

/* --- reading -------------------------------------------------------------------------------------------- */

enum ip_status res_export_read(struct res_sheet *sheet, enum res_format format, const char *name,
                               const char *text, struct ip_error *err) {
    static enum ip_status (*const readers[])(struct res_sheet *, const char *, const char *,
                                             struct ip_error *) = {
        [RES_FORMAT_UOPSINFO_XML] = res_xml_read,
        [RES_FORMAT_OSACA] = res_osaca_read,
        [RES_FORMAT_LLVM_EXEGESIS] = res_exegesis_read,
        [RES_FORMAT_LLVM_SCHED_JSON] = res_schedule_read,
        [RES_FORMAT_MAQAO_LUA] = res_lua_read,
        [RES_FORMAT_CSV] = res_csv_read,
        [RES_FORMAT_JSON] = res_json_read,
    };
    if ((unsigned)format >= RES_FORMATS) {
        return ip_fail(err, IP_USAGE, "unknown export format: choose one of %s", res_format_words);
    }
    struct res_sheet made = {.architecture = sheet->architecture};
    (void)snprintf(made.machine, sizeof made.machine, "%s", name);
    enum ip_status status = readers[format](&made, name, text, err);
    if (status != IP_OK) {
        res_sheet_fini(&made);
        return status;
    }
    for (size_t i = 0; i < made.count; i++) {
        res_row_range_find(&made.rows[i]);
    }
    res_sheet_fini(sheet);
    *sheet = made;
    return IP_OK;
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static enum ip_status text_read(struct res_sheet *sheet, const char *path, const char *text,
                                struct ip_error *err) {
    static const struct {
        const char *beginning;
        enum res_format format;
    } known[] = {
        {"<?xml", RES_FORMAT_UOPSINFO_XML},
        {"<root", RES_FORMAT_UOPSINFO_XML},
        {"osaca_version:", RES_FORMAT_OSACA},
        {"---\nmode:", RES_FORMAT_LLVM_EXEGESIS},
        {"{\"form\":", RES_FORMAT_JSON},
        {"{", RES_FORMAT_LLVM_SCHED_JSON},
        {"form,", RES_FORMAT_CSV},
        {"-- isaprobe", RES_FORMAT_MAQAO_LUA},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (begins(text, known[i].beginning)) {
            return res_export_read(sheet, known[i].format, path, text, err);
        }
    }
    if (begins(text, "instruction,")) {
        struct res_sheet made = {0};
        (void)snprintf(made.machine, sizeof made.machine, "%s", path);
        enum ip_status status = res_uops_csv_read(&made, path, text, err);
        if (status != IP_OK) {
            res_sheet_fini(&made);
            return status;
        }
        res_sheet_fini(sheet);
        *sheet = made;
        return IP_OK;
    }
    return ip_fail_at(
        err, IP_SYNTAX, path, 1, 0,
        "neither a store, nor an export of isaprobe, nor a CSV table of uops.info (whose first column is "
        "called instruction)");
}

/* An SQLite file by its first bytes. What is no file (a pipe) can be read but once, and is none. */
static bool is_database(const char *path) {
    char magic[16] = "";
    struct stat about;
    FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rbe") : NULL;
    if (file == NULL) {
        return false;
    }
    bool database = fread(magic, 1, sizeof magic, file) == sizeof magic &&
                    memcmp(magic, "SQLite format 3", sizeof magic) == 0;
    (void)fclose(file);
    return database;
}

enum ip_status res_sheet_read(struct res_sheet *sheet, const char *path, bool doubtful,
                              struct ip_error *err) {
    if (is_database(path)) {
        struct res_store *store = NULL;
        enum ip_status status = res_store_open_readonly(&store, path, err);
        if (status == IP_OK) {
            const struct res_wanted all = {0};
            status = res_sheet_of_store(sheet, store, &all, doubtful, err);
        }
        res_store_close(store);
        return status;
    }
    struct ip_text text = {0};
    enum ip_status status =
        ip_text_file_read(&text, path, RES_SHEET_BYTES_MAX, "a store or an export is expected", err);
    if (status == IP_OK && text.length == 0) {
        status = ip_fail(err, IP_SYNTAX, "%s is empty: neither a store nor an export", path);
    }
    if (status == IP_OK) {
        status = text_read(sheet, path, text.data, err);
    }
    ip_text_fini(&text);
    return status;
}
