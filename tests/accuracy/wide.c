/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/accuracy/wide.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/decode.h"
#include "tests/accuracy/lines.h"
#include "tests/accuracy/reference.h"

enum { FILE_LIMIT_BYTES = 1 << 20, WORDS_MAX = 8, LOADS = 1 << 2 | 1 << 3 | 1 << 10 };

static const double TOLERANCE = 0.03; /* the table has two decimals */

void wide_fini(struct wide *wide) {
    free(wide->rows);
    memset(wide, 0, sizeof *wide);
}

/* LLVM counts the fifth ALU port as 10 and the third load port as 11; we have A = 10 for the load. */
static bool pressure_parse(const char *text, double *pressure) {
    unsigned port = 0;
    while (reference_number_read(&text, "p", &port) && *text == '=' && port < WIDE_PORTS) {
        char *end = NULL;
        pressure[port == 10 ? 11 : port == 11 ? 10 : port] = strtod(text + 1, &end);
        text = end + (*end == ';');
    }
    return *text == '\0' || *text == '\r';
}

/* -- Names ---------------------------------------------------------------------------------------------- */

struct att {
    char mnemonic[ISA_MNEMONIC_MAX];
    char words[WORDS_MAX][12]; /* in Intel order: "zmm" "m" "m1to8" "imm" "{k}" ... */
    unsigned count;
    bool zeroing;
    const char *decorator; /* "sae", "er", "" */
};

static void att_word(struct att *att, const char *text) {
    char *word = att->words[att->count++];
    unsigned broadcast = 0;
    if (text[0] == '$') {
        (void)snprintf(word, 12, "imm");
    } else if (strchr(text, '(') != NULL) {
        const char *brace = strchr(text, '{');
        if (brace != NULL && reference_number_read(&brace, "{1to", &broadcast)) {
            (void)snprintf(word, 12, "m1to%u", broadcast);
        } else {
            (void)snprintf(word, 12, "m");
        }
    } else {
        static const char *const CLASSES[][2] = {{"%zmm", "zmm"}, {"%ymm", "ymm"}, {"%xmm", "xmm"},
                                                 {"%k", "k"},     {"%r", "r64"},   {"%e", "r32"}};
        for (size_t i = 0; i < sizeof CLASSES / sizeof CLASSES[0]; i++) {
            if (strncmp(text, CLASSES[i][0], strlen(CLASSES[i][0])) == 0) {
                (void)snprintf(word, 12, "%s", CLASSES[i][1]);
                break;
            }
        }
    }
}

/* "vaddpd (%rax){1to8}, %zmm17, %zmm19 {%k1} {z}": operands turn round, decorations of the destination follow
 * it. */
static void att_parse(const char *name, struct att *att) {
    char text[WIDE_NAME_MAX], *save = NULL;
    memset(att, 0, sizeof *att);
    att->decorator = "";
    (void)snprintf(text, sizeof text, "%s", name);
    char *mask = strstr(text, " {%k"), *rest = strchr(text, ' ');
    att->zeroing = strstr(text, "{z}") != NULL;
    if (mask != NULL) {
        *mask = '\0';
    }
    if (rest != NULL) {
        *rest++ = '\0';
    }
    (void)snprintf(att->mnemonic, sizeof att->mnemonic, "%.23s", text);
    for (char *word = strtok_r(rest, ",", &save); word != NULL && att->count + 2 < WORDS_MAX;
         word = strtok_r(NULL, ",", &save)) {
        word += strspn(word, " ");
        if (word[0] == '{') {
            att->decorator = strcmp(word, "{sae}") == 0 ? "sae" : "er";
        } else {
            att_word(att, word);
        }
    }
    for (unsigned i = 0; i < att->count / 2; i++) {
        char swap[12];
        memcpy(swap, att->words[i], 12);
        memcpy(att->words[i], att->words[att->count - 1 - i], 12);
        memcpy(att->words[att->count - 1 - i], swap, 12);
    }
    if (mask != NULL) {
        memmove(att->words[2], att->words[1], sizeof att->words - 2 * sizeof att->words[0]);
        (void)snprintf(att->words[1], 12, "{k}");
        att->count++;
    }
}

static bool operand_is(const struct isa_operand *operand, const char *word) {
    char ours[12] = "?";
    switch (operand->kind) {
    case ISA_OPERAND_IMM:
        return strcmp(word, "imm") == 0 && !operand->imm_fixed;
    case ISA_OPERAND_MEM:
        (void)snprintf(ours, sizeof ours, operand->broadcast != 0 ? "m1to%u" : "m", operand->broadcast);
        break;
    case ISA_OPERAND_REG:
        (void)snprintf(ours, sizeof ours, "%s",
                       operand->mask                         ? "{k}"
                       : operand->reg_class == ISA_REG_ZMM   ? "zmm"
                       : operand->reg_class == ISA_REG_YMM   ? "ymm"
                       : operand->reg_class == ISA_REG_XMM   ? "xmm"
                       : operand->reg_class == ISA_REG_MASK  ? "k"
                       : operand->reg_class == ISA_REG_GPR64 ? "r64"
                       : operand->reg_class == ISA_REG_GPR32 ? "r32"
                                                             : "?");
        break;
    default:
        break;
    }
    return strcmp(word, ours) == 0;
}

static struct isa_form *form_find(const struct isa_table *table, const struct att *att) {
    for (size_t i = 0; i < table->count; i++) {
        struct isa_form *form = &table->forms[i];
        const char *decorator = form->decorator[0] == '\0'              ? ""
                                : strcmp(form->decorator, "{sae}") == 0 ? "sae"
                                                                        : "er";
        if (strcmp(form->mnemonic, att->mnemonic) != 0 || form->explicit_count != att->count ||
            form->zeroing != att->zeroing || strcmp(decorator, att->decorator) != 0) {
            continue;
        }
        unsigned same = 0;
        for (unsigned o = 0; o < att->count; o++) {
            same += operand_is(&form->operands[o], att->words[o]);
        }
        if (same == att->count) {
            return form;
        }
    }
    return NULL;
}

enum ip_status wide_read(struct wide *wide, const char *path, const struct isa_table *table,
                         struct ip_error *err) {
    struct lines lines;
    enum ip_status status = lines_open(&lines, path, FILE_LIMIT_BYTES, err);
    if (status != IP_OK) {
        return status;
    }
    struct wide found = {.rows = calloc(lines.most, sizeof *found.rows)};
    struct isa_form **forms = calloc(lines.most, sizeof *forms);
    size_t mapped = 0;
    if (found.rows == NULL || forms == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "no memory for the rows of %s", path);
    }
    for (char *line; status == IP_OK && (line = lines_next(&lines)) != NULL;) {
        char *fields[5];
        struct wide_row *row = &found.rows[found.count++];
        if (reference_fields_split(line, fields, 5) != 5 || !pressure_parse(fields[4], row->pressure)) {
            status = ip_fail_at(err, IP_SYNTAX, path, lines.number, 0,
                                "not a row of the table: expected 5 fields and pressures such as p00=0.50");
            break;
        }
        (void)snprintf(row->name, sizeof row->name, "%s", fields[0]);
        row->uops = strtod(fields[1], NULL);
        row->latency = strtod(fields[2], NULL);
        row->throughput = strtod(fields[3], NULL);
        struct att att;
        att_parse(row->name, &att);
        row->form = form_find(table, &att);
        if (row->form != NULL) {
            forms[mapped++] = row->form;
        }
    }
    status = status == IP_OK ? isa_forms_derive(forms, mapped, err) : status;
    lines_close(&lines);
    free(forms);
    if (status != IP_OK) {
        wide_fini(&found);
        return status;
    }
    *wide = found;
    return IP_OK;
}

/* -- As a reference ------------------------------------------------------------------------------------- */

enum ip_status wide_append(const struct wide *wide, struct reference *reference, struct ip_error *err) {
    struct reference_row *rows =
        realloc(reference->rows, (reference->count + wide->count + 1) * sizeof *reference->rows);
    if (rows == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu rows", wide->count);
    }
    reference->rows = rows;
    for (size_t i = 0; i < wide->count; i++) {
        const struct wide_row *from = &wide->rows[i];
        if (from->form == NULL) {
            continue;
        }
        struct reference_row *row = &rows[reference->count++];
        *row = (struct reference_row){.scope = REFERENCE_MODEL,
                                      .form = from->form,
                                      .throughput = from->throughput,
                                      .slots = isa_form_memory_operand(from->form) < 0 ? from->uops : NAN};
        (void)snprintf(row->name, sizeof row->name, "%s", from->name);
        int memory = isa_form_memory_operand(from->form);
        row->latency.known = memory < 0 || !from->form->operands[memory].write;
        row->latency.low = row->latency.high = from->latency;
    }
    return IP_OK;
}

/* -- Pressures ------------------------------------------------------------------------------------------ */

static unsigned ports_bits(const char *ports) {
    unsigned bits = 0;
    for (; *ports != '\0'; ports++) {
        bits |= *ports >= '0' && *ports <= '9' ? 1u << (*ports - '0')
                : *ports == 'A'                ? 1u << 10
                : *ports == 'B'                ? 1u << 11
                                               : 0;
    }
    return (bits & LOADS) != 0 ? bits | LOADS : bits;
}

/* The model sends what waits for a divider to its ports in turn: are the pressures those of uops that are
 * spread evenly over their ports? */
static bool spread_agrees(const struct wide_row *row, const struct res_port_term *terms, unsigned count) {
    double pressure[WIDE_PORTS] = {0};
    bool agrees = true;
    for (unsigned t = 0; t < count; t++) {
        unsigned bits = ports_bits(terms[t].ports);
        for (unsigned p = 0; p < WIDE_PORTS; p++) {
            pressure[p] += (bits >> p & 1u) != 0 ? terms[t].uops / __builtin_popcount(bits) : 0;
        }
    }
    for (unsigned p = 0; p < WIDE_PORTS; p++) {
        agrees = agrees && fabs(pressure[p] - row->pressure[p]) <= TOLERANCE;
    }
    return agrees;
}

bool wide_agrees(const struct wide_row *row, const struct res_port_term *terms, unsigned count) {
    double total = 0, uops = 0, highest = 0, bound = 0;
    for (unsigned p = 0; p < WIDE_PORTS; p++) {
        total += row->pressure[p];
        highest = row->pressure[p] > highest ? row->pressure[p] : highest;
    }
    for (unsigned t = 0; t < count; t++) {
        uops += terms[t].uops;
    }
    for (unsigned set = 1; set < 1u << WIDE_PORTS; set++) {
        double confined = 0, given = 0;
        for (unsigned t = 0; t < count; t++) {
            confined += (ports_bits(terms[t].ports) & ~set) == 0 ? terms[t].uops : 0;
        }
        for (unsigned p = 0; p < WIDE_PORTS; p++) {
            given += (set >> p & 1u) != 0 ? row->pressure[p] : 0;
        }
        if (given < confined - TOLERANCE * WIDE_PORTS / 4) {
            return false; /* more must go there than the model sends */
        }
        double cycles = confined / __builtin_popcount(set);
        bound = cycles > bound ? cycles : bound;
    }
    return fabs(total - uops) <= 0.1 && (fabs(bound - highest) <= 0.1 || spread_agrees(row, terms, count));
}

void wide_print(const struct wide_row *row, char *buffer, size_t size) {
    size_t used = 0;
    buffer[0] = '\0';
    for (unsigned p = 0; p < WIDE_PORTS && used < size; p++) {
        if (row->pressure[p] > 0) {
            used += (size_t)snprintf(buffer + used, size - used, "%sp%c=%.2f", used > 0 ? " " : "",
                                     "0123456789AB"[p], row -> pressure[p]);
        }
    }
}
