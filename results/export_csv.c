/* SPDX-License-Identifier: Apache-2.0 */
/* results/export_csv.c - CSV (RFC 4180): ours, and uops.info's. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/formats.h"

enum { FIELDS_MAX = 16, FIELD_MAX = 32 << 10 };

static const char header[] =
    "form,name,isa,status,latency_min,latency_max,throughput,throughput_slow,slots,ports,latency";

/* --- our own -------------------------------------------------------------------------------------------- */

static void field_append(struct ip_text *text, const char *value) {
    if (strpbrk(value, ",\"\n") == NULL) {
        ip_text_append(text, value);
        return;
    }
    ip_text_append(text, "\"");
    for (; *value != '\0'; value++) {
        ip_text_append_bytes(text, value, 1);
        if (*value == '"') {
            ip_text_append(text, "\"");
        }
    }
    ip_text_append(text, "\"");
}

static void bound_append(struct ip_text *text, bool known, double cycles, bool bound) {
    if (known) {
        ip_text_append(text, bound ? "<=" : "");
        res_number_append(text, cycles);
    }
}

/* "(same 0)", "(slow 18)", "(slow <=18)" */
static void remark_append(struct ip_text *text, const char *word, double cycles, bool bound) {
    if (!isnan(cycles)) {
        ip_text_printf(text, "(%s %s", word, bound ? "<=" : "");
        res_number_append(text, cycles);
        ip_text_append(text, ")");
    }
}

/* "op1->op1=3;op2:address->op1<=5;rax->flags=1(same 0)(slow 18)" */
static void pairs_append(struct ip_text *text, const struct res_row *row) {
    for (size_t i = 0; i < row->pair_count; i++) {
        const struct res_sheet_pair *pair = &row->pairs[i];
        bool plain = strcmp(pair->path, "register") == 0;
        ip_text_printf(text, "%s%s%s%s->%s%s", i > 0 ? ";" : "", pair->src, plain ? "" : ":",
                       plain ? "" : pair->path, pair->dst, pair->upper_bound ? "<=" : "=");
        res_number_append(text, pair->cycles);
        remark_append(text, "same", pair->same_register_cycles, false);
        remark_append(text, "slow", pair->slow_cycles, pair->slow_upper_bound);
    }
}

void res_csv_write(const struct res_sheet *sheet, struct res_export *export, struct ip_text *text) {
    ip_text_printf(text, "%s\r\n", header);
    for (size_t i = 0; i < sheet->count; i++) {
        const struct res_row *row = &sheet->rows[i];
        const char *const words[] = {row->form, row->name, row->extension, row->status};
        for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
            field_append(text, words[w]);
            ip_text_append(text, ",");
        }
        bound_append(text, row->latency.known, row->latency.low, row->latency.low_bound);
        ip_text_append(text, ",");
        bound_append(text, row->latency.known, row->latency.high, row->latency.high_bound);
        ip_text_append(text, ",");
        res_number_or(text, row->throughput, "");
        ip_text_append(text, ",");
        res_number_or(text, row->throughput_slow, "");
        ip_text_append(text, ",");
        res_number_or(text, row->slots, "");
        ip_text_printf(text, ",%s,", row->ports);
        pairs_append(text, row);
        ip_text_append(text, "\r\n");
        export->written++;
    }
}

/* Takes one line of CSV apart; *at moves behind it. Returns the number of fields, 0 when there are too many,
 * or a quote is not closed at a field's end. The fields point into `buffer` (FIELD_MAX bytes). */
static size_t line_split(const char **at, char *buffer, const char **fields) {
    size_t count = 0, used = 0;
    const char *in = *at;
    for (;;) {
        if (count == FIELDS_MAX) {
            return 0;
        }
        fields[count++] = buffer + used;
        bool quoted = *in == '"';
        in += quoted;
        while (*in != '\0' && (quoted || (*in != ',' && *in != '\n'))) {
            if (quoted && *in == '"' && in[1] != '"') {
                quoted = false;
                in++;
                if (strchr(",\r\n", *in) == NULL) { /* which finds the text's end, too */
                    return 0;
                }
                continue;
            }
            in += quoted && *in == '"';
            if (used + 1 >= FIELD_MAX) {
                return 0;
            }
            buffer[used] = *in++;
            used += buffer[used] != '\r';
        }
        if (quoted || used == FIELD_MAX) {
            return 0;
        }
        buffer[used++] = '\0';
        if (*in != ',') {
            *at = *in == '\n' ? in + 1 : in;
            return count;
        }
        in++;
    }
}

static bool bound_read(const char *text, bool *known, double *cycles, bool *bound) {
    *known = text[0] != '\0';
    *bound = strncmp(text, "<=", 2) == 0;
    *cycles = *known ? res_number_read(text + (*bound ? 2 : 0)) : 0;
    return !isnan(*cycles);
}

static bool word_take(const char **at, const char *until, char *word, size_t size) {
    size_t length = strcspn(*at, until);
    if (length == 0 || length >= size) {
        return false;
    }
    memcpy(word, *at, length);
    word[length] = '\0';
    *at += length;
    return true;
}

static bool cycles_take(const char **at, const char *until, double *cycles) {
    char word[32];
    bool good = word_take(at, until, word, sizeof word);
    *cycles = good ? res_number_read(word) : NAN;
    return !isnan(*cycles);
}

/* What remark_append writes, if it is there; false when it does not end. `bound`: NULL, it cannot be one. */
static bool remark_take(const char **at, const char *begin, double *cycles, bool *bound) {
    size_t length = strlen(begin);
    if (strncmp(*at, begin, length) != 0) {
        return true;
    }
    *at += length;
    if (bound != NULL && strncmp(*at, "<=", 2) == 0) {
        *bound = true;
        *at += 2;
    }
    if (!cycles_take(at, ")", cycles) || **at != ')') {
        return false;
    }
    (*at)++;
    return true;
}

static bool pair_read(const char **at, struct res_sheet_pair *pair) {
    (void)snprintf(pair->path, sizeof pair->path, "register");
    if (!word_take(at, ":-;", pair->src, sizeof pair->src)) {
        return false;
    }
    if (**at == ':') {
        (*at)++;
        if (!word_take(at, "-;", pair->path, sizeof pair->path)) {
            return false;
        }
    }
    if (strncmp(*at, "->", 2) != 0) {
        return false;
    }
    *at += 2;
    if (!word_take(at, "<=;", pair->dst, sizeof pair->dst)) {
        return false;
    }
    pair->upper_bound = **at == '<';
    *at += pair->upper_bound;
    if (**at != '=') {
        return false;
    }
    (*at)++;
    if (!cycles_take(at, ";(", &pair->cycles)) {
        return false;
    }
    if (!remark_take(at, "(same ", &pair->same_register_cycles, NULL) ||
        !remark_take(at, "(slow ", &pair->slow_cycles, &pair->slow_upper_bound)) {
        return false;
    }
    if (**at == ';') {
        (*at)++;
        return **at != '\0';
    }
    return **at == '\0';
}

static bool number_field(const char *text, double *number) {
    *number = res_number_read(text);
    return text[0] == '\0' || !isnan(*number);
}

static enum ip_status row_read(struct res_row *row, const char *const *fields, const char *name,
                               unsigned line, struct ip_error *err) {
    const struct {
        char *to;
        size_t size, field;
    } words[] = {{row->form, sizeof row->form, 0},
                 {row->name, sizeof row->name, 1},
                 {row->extension, sizeof row->extension, 2},
                 {row->status, sizeof row->status, 3},
                 {row->ports, sizeof row->ports, 9}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *text = fields[words[i].field];
        if (strlen(text) >= words[i].size) {
            return ip_fail_at(err, IP_SYNTAX, name, line, 0, "'%.40s...' is longer than %zu characters", text,
                              words[i].size - 1);
        }
        memcpy(words[i].to, text, strlen(text) + 1);
    }
    bool low, high;
    if (!bound_read(fields[4], &low, &row->latency.low, &row->latency.low_bound) ||
        !bound_read(fields[5], &high, &row->latency.high, &row->latency.high_bound) || low != high ||
        !number_field(fields[6], &row->throughput) || !number_field(fields[7], &row->throughput_slow) ||
        !number_field(fields[8], &row->slots)) {
        return ip_fail_at(err, IP_SYNTAX, name, line, 0, "a latency, throughput or slots is no number");
    }
    row->latency.known = low;
    struct probe_usage_term terms[PROBE_USAGE_TERMS];
    unsigned count;
    if (!res_usage_parse(row->ports, terms, &count)) {
        return ip_fail_at(err, IP_SYNTAX, name, line, 0,
                          "'%.60s' is no port usage: expected such as 1*p01+2*p5", row->ports);
    }
    for (const char *at = fields[10]; *at != '\0';) {
        struct res_sheet_pair *pair = res_row_pair_add(row);
        if (pair == NULL) {
            return ip_fail(err, IP_NO_MEMORY, "out of memory for %s", name);
        }
        if (!pair_read(&at, pair)) {
            return ip_fail_at(
                err, IP_SYNTAX, name, line, 0,
                "'%.60s' is no list of latencies: expected such as op1->op1=3;op2:address->op1<=5",
                fields[10]);
        }
    }
    return IP_OK;
}

enum ip_status res_csv_read(struct res_sheet *sheet, const char *name, const char *text,
                            struct ip_error *err) {
    const char *at = text + (strncmp(text, header, sizeof header - 1) == 0 ? sizeof header - 1 : 0);
    at += *at == '\r';
    if (*at != '\n') {
        return ip_fail_at(err, IP_SYNTAX, name, 1, 0, "expected the header %s", header);
    }
    at++;
    char buffer[FIELD_MAX];
    const char *fields[FIELDS_MAX];
    unsigned line = 1;
    while (*at != '\0') {
        line++;
        if (line_split(&at, buffer, fields) != 11) {
            return ip_fail_at(err, IP_SYNTAX, name, line, 0,
                              "expected 11 fields, quoted as a whole or not at all");
        }
        struct res_row *row = res_sheet_row_add(sheet);
        enum ip_status status = row == NULL ? ip_fail(err, IP_NO_MEMORY, "out of memory for %s", name)
                                            : row_read(row, fields, name, line, err);
        if (status != IP_OK) {
            return status;
        }
    }
    return IP_OK;
}

/* --- uops.info's ---------------------------------------------------------------------------------------- */

enum uops_column {
    UOPS_INSTRUCTION,
    UOPS_EXTENSION,
    UOPS_LATENCY,
    UOPS_THROUGHPUT,
    UOPS_SLOTS,
    UOPS_PORTS,
    UOPS_COLUMNS
};

/* "3", "\u22647": a number, with the sign of an upper bound. */
static bool uops_bound_take(const char **at, double *cycles, bool *bound) {
    static const char sign[] = "\xe2\x89\xa4";
    *bound = strncmp(*at, sign, sizeof sign - 1) == 0;
    *at += *bound ? sizeof sign - 1 : 0;
    return cycles_take(at, ";]", cycles);
}

/* "", "-", "3" or "[2;\u22645]" */
static bool uops_range_read(const char *text, struct res_sheet_range *range) {
    memset(range, 0, sizeof *range);
    if (text[0] == '\0' || strcmp(text, "-") == 0) {
        return true;
    }
    range->known = true;
    bool two = text[0] == '[';
    text += two;
    if (!uops_bound_take(&text, &range->low, &range->low_bound)) {
        return false;
    }
    range->high = range->low;
    range->high_bound = range->low_bound;
    if (!two) {
        return *text == '\0';
    }
    if (*text++ != ';' || !uops_bound_take(&text, &range->high, &range->high_bound)) {
        return false;
    }
    return strcmp(text, "]") == 0;
}

static enum ip_status uops_row_read(struct res_row *row, const char *const *fields, const int *columns,
                                    const char *name, unsigned line, struct ip_error *err) {
    const char *of[UOPS_COLUMNS];
    for (int i = 0; i < UOPS_COLUMNS; i++) {
        of[i] = columns[i] >= 0 ? fields[columns[i]] : "";
    }
    (void)snprintf(row->name, sizeof row->name, "%s", of[UOPS_INSTRUCTION]);
    (void)snprintf(row->extension, sizeof row->extension, "%s", of[UOPS_EXTENSION]);
    res_uops_name_plain(row->name);
    if (!res_number_known(of[UOPS_THROUGHPUT], &row->throughput) ||
        !res_number_known(of[UOPS_SLOTS], &row->slots)) {
        return ip_fail_at(err, IP_SYNTAX, name, line, 0, "a throughput_measured or slots is no number");
    }
    struct probe_usage_term terms[PROBE_USAGE_TERMS];
    unsigned count;
    if (row->name[0] == '\0' || !uops_range_read(of[UOPS_LATENCY], &row->latency)) {
        return ip_fail_at(err, IP_SYNTAX, name, line, 0,
                          "not a row of uops.info: expected a name and a latency such as [2;5]");
    }
    /* Where the ports could not be found out the column is empty or holds another mark. */
    if (res_usage_parse(of[UOPS_PORTS], terms, &count) && strlen(of[UOPS_PORTS]) < sizeof row->ports) {
        (void)snprintf(row->ports, sizeof row->ports, "%s", of[UOPS_PORTS]);
    }
    return IP_OK;
}

enum ip_status res_uops_csv_read(struct res_sheet *sheet, const char *name, const char *text,
                                 struct ip_error *err) {
    static const char *const titles[] = {"instruction",         "extension", "latency",
                                         "throughput_measured", "slots",     "ports"};
    char buffer[FIELD_MAX];
    const char *fields[FIELDS_MAX];
    const char *at = text;
    size_t width = line_split(&at, buffer, fields);
    int columns[UOPS_COLUMNS];
    for (size_t c = 0; c < UOPS_COLUMNS; c++) {
        columns[c] = -1;
        for (size_t i = 0; i < width; i++) {
            columns[c] = strcmp(fields[i], titles[c]) == 0 ? (int)i : columns[c];
        }
    }
    if (columns[UOPS_INSTRUCTION] < 0 || columns[UOPS_THROUGHPUT] < 0) {
        return ip_fail_at(err, IP_SYNTAX, name, 1, 0,
                          "expected the columns instruction and throughput_measured among others");
    }
    for (unsigned line = 2; *at != '\0'; line++) {
        if (line_split(&at, buffer, fields) != width) {
            return ip_fail_at(err, IP_SYNTAX, name, line, 0,
                              "expected %zu fields, quoted as a whole or not at all", width);
        }
        struct res_row *row = res_sheet_row_add(sheet);
        enum ip_status status = row == NULL ? ip_fail(err, IP_NO_MEMORY, "out of memory for %s", name)
                                            : uops_row_read(row, fields, columns, name, line, err);
        if (status != IP_OK) {
            return status;
        }
    }
    return IP_OK;
}
