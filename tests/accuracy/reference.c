/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/accuracy/reference.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/decode.h"
#include "tests/accuracy/lines.h"

enum {
    FILE_LIMIT_BYTES = 16 << 20,
    FIELDS = 8,
    KEY_MAX = 128,
};

void reference_fini(struct reference *reference) {
    free(reference->rows);
    memset(reference, 0, sizeof *reference);
}

size_t reference_fields_split(char *line, char **fields, size_t limit) {
    size_t count = 0;
    char *in = line;
    while (count < limit) {
        char *out = in;
        bool quoted = *in == '"';
        in += quoted;
        fields[count++] = out;
        while (*in != '\0' && (quoted || *in != ',')) {
            if (quoted && *in == '"') {
                if (in[1] != '"') {
                    quoted = false;
                    in++;
                    continue;
                }
                in++;
            }
            *out++ = *in++;
        }
        bool more = *in == ',';
        *out = '\0';
        if (!more) {
            break;
        }
        in++;
    }
    return count;
}

/* "3", "≤7", "13.0" at *text, which moves past it. */
static bool bound_parse(const char **text, double *value, bool *bound) {
    static const char SIGN[] = "\xe2\x89\xa4"; /* ≤ */
    *bound = strncmp(*text, SIGN, sizeof SIGN - 1) == 0;
    if (*bound) {
        *text += sizeof SIGN - 1;
    }
    char *end;
    *value = strtod(*text, &end);
    bool good = end != *text;
    *text = end;
    return good;
}

static bool range_parse(const char *text, struct reference_range *range) {
    memset(range, 0, sizeof *range);
    if (*text == '\0') {
        return true;
    }
    range->known = true;
    bool pair = *text == '[';
    text += pair;
    if (!bound_parse(&text, &range->low, &range->low_bound)) {
        return false;
    }
    if (!pair) {
        range->high = range->low;
        range->high_bound = range->low_bound;
        return *text == '\0';
    }
    return *text++ == ';' && bound_parse(&text, &range->high, &range->high_bound) && strcmp(text, "]") == 0;
}

static bool row_parse(char *line, struct reference_row *row) {
    char *fields[FIELDS];
    line[strcspn(line, "\r")] = '\0';
    if (reference_fields_split(line, fields, FIELDS) != FIELDS) {
        return false;
    }
    memset(row, 0, sizeof *row);
    snprintf(row->name, sizeof row->name, "%s", fields[0]);
    snprintf(row->extension, sizeof row->extension, "%s", fields[1]);
    snprintf(row->ports, sizeof row->ports, "%s", fields[7]);
    row->throughput = fields[4][0] != '\0' ? strtod(fields[4], NULL) : NAN;
    row->slots = fields[5][0] != '\0' ? strtod(fields[5], NULL) : NAN;
    return range_parse(fields[2], &row->latency);
}

enum ip_status reference_read(struct reference *reference, const char *path, struct ip_error *err) {
    struct lines lines;
    enum ip_status status = lines_open(&lines, path, FILE_LIMIT_BYTES, err);
    if (status != IP_OK) {
        return status;
    }
    struct reference found = {.rows = calloc(lines.most, sizeof *found.rows)};
    if (found.rows == NULL) {
        lines_close(&lines);
        return ip_fail(err, IP_NO_MEMORY, "no memory for the rows of %s", path);
    }
    for (char *line; status == IP_OK && (line = lines_next(&lines)) != NULL;) {
        if (!row_parse(line, &found.rows[found.count++])) {
            status = ip_fail_at(err, IP_SYNTAX, path, lines.number, 0,
                                "not a row of the reference: expected 8 fields and a latency such as [2;5]");
        }
    }
    lines_close(&lines);
    if (status != IP_OK) {
        reference_fini(&found);
        return status;
    }
    *reference = found;
    return IP_OK;
}

/* -- Names to keys
 * ------------------------------------------------------------------------------------------- */

/* A key says what both tables agree on: "vaddpd xmm k xmm xmm z er evex". */
struct key {
    char text[KEY_MAX];
};

static void key_add(struct key *key, const char *word) {
    size_t used = strlen(key->text);
    snprintf(key->text + used, sizeof key->text - used, "%s%s", used != 0 ? " " : "", word);
}

/* "_02", "_0F29", "_R4": the opcode or ModRM.reg where several encode the same form. */
static bool suffix_is_opcode(const char *suffix) {
    size_t length = strlen(suffix);
    if (length == 2 && suffix[0] == 'R' && isdigit((unsigned char)suffix[1])) {
        return true;
    }
    if (length != 2 && length != 4) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (!isxdigit((unsigned char)suffix[i])) {
            return false;
        }
    }
    return true;
}

bool reference_number_read(const char **text, const char *before, unsigned *number) {
    size_t length = strlen(before);
    if (strncmp(*text, before, length) != 0 || !isdigit((unsigned char)(*text)[length])) {
        return false;
    }
    char *end = NULL;
    *number = (unsigned)strtoul(*text + length, &end, 10);
    *text = end;
    return true;
}

/* "M128" is m128, "M64_1to8" m64b8, "Moffs8" moffs8. False: no memory operand. */
static bool memory_kind(const char *text, char *kind, size_t size) {
    unsigned bits = 0, broadcast = 0;
    if (reference_number_read(&text, "Moffs", &bits)) {
        snprintf(kind, size, "moffs%u", bits);
        return *text == '\0';
    }
    if (!reference_number_read(&text, "M", &bits)) {
        return false;
    }
    if (reference_number_read(&text, "_1to", &broadcast)) {
        snprintf(kind, size, "m%ub%u", bits, broadcast);
    } else {
        snprintf(kind, size, "m%u", bits);
    }
    return *text == '\0';
}

/* A register or immediate of the reference in our words, or NULL. */
static const char *operand_word(const char *operand) {
    static const char *const WORDS[][2] = {
        {"R8l", "r8"},    {"R8h", "r8h"},     {"R16", "r16"},   {"R32", "r32"},   {"R64", "r64"},
        {"XMM", "xmm"},   {"YMM", "ymm"},     {"ZMM", "zmm"},   {"MM", "mm"},     {"K", "k"},
        {"I8", "imm8"},   {"I16", "imm16"},   {"I32", "imm32"}, {"I64", "imm64"}, {"SEG", "sreg"},
        {"AL", "al"},     {"AX", "ax"},       {"EAX", "eax"},   {"RAX", "rax"},   {"CL", "cl"},
        {"DX", "dx"},     {"0", "0"},         {"1", "1"},       {"FS", "fs"},     {"GS", "gs"},
        {"Rel8", "rel8"}, {"Rel32", "rel32"},
    };
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        if (strcmp(operand, WORDS[i][0]) == 0) {
            return WORDS[i][1];
        }
    }
    return NULL;
}

static enum reference_scope unmapped(struct reference_row *row, const char *why) {
    snprintf(row->why, sizeof row->why, "%s", why);
    return REFERENCE_UNMAPPED;
}

/* The part before the operands: mnemonic and suffixes. */
static enum reference_scope head_key(struct reference_row *row, char *head, struct key *key, bool *zeroing,
                                     const char **decorator) {
    char *save = NULL;
    char *word = strtok_r(head, "_", &save);
    char mnemonic[ISA_MNEMONIC_MAX];
    size_t length = 0;
    for (; word != NULL && word[length] != '\0' && length + 1 < sizeof mnemonic; length++) {
        mnemonic[length] = (char)tolower((unsigned char)word[length]);
    }
    mnemonic[length] = '\0';
    key_add(key, mnemonic);
    while ((word = strtok_r(NULL, "_", &save)) != NULL) {
        if (strcmp(word, "Z") == 0) {
            *zeroing = true;
        } else if (strcmp(word, "ER") == 0 || strcmp(word, "SAE") == 0) {
            *decorator = strcmp(word, "ER") == 0 ? "er" : "sae";
        } else if (strcmp(word, "REPE") == 0 || strcmp(word, "REPNE") == 0 || strcmp(word, "REP") == 0) {
            return unmapped(row, "a repeated string instruction, whose length the name does not say");
        } else if (strcmp(word, "EVEX") != 0 && !suffix_is_opcode(word)) {
            return unmapped(row, "the tables do not tell this address mode or variant apart");
        }
    }
    return REFERENCE_IN_SCOPE;
}

/* The key of a row of the reference. */
static enum reference_scope row_key(struct reference_row *row, struct key *key) {
    char name[REFERENCE_NAME_MAX];
    snprintf(name, sizeof name, "%s", row->name);
    memset(key, 0, sizeof *key);
    char *operands = strstr(name, " (");
    if (operands != NULL) {
        *operands = '\0';
        operands += 2;
        operands[strcspn(operands, ")")] = '\0';
    }
    bool zeroing = false;
    const char *decorator = "";
    enum reference_scope scope = head_key(row, name, key, &zeroing, &decorator);
    char *save = NULL;
    for (char *word = operands != NULL ? strtok_r(operands, ", ", &save) : NULL; word != NULL;
         word = strtok_r(NULL, ", ", &save)) {
        char in_memory[24];
        const char *ours = operand_word(word);
        if (ours != NULL) {
            key_add(key, ours);
        } else if (memory_kind(word, in_memory, sizeof in_memory)) {
            key_add(key, in_memory);
        } else {
            scope = unmapped(row, "the tables have no such operand");
        }
    }
    if (scope == REFERENCE_UNMAPPED) {
        return scope;
    }
    key_add(key, zeroing ? "z" : "-");
    key_add(key, decorator[0] != '\0' ? decorator : "-");
    key_add(key, strcmp(row->extension, "AVX512EVEX") == 0 ? "evex" : "-");
    return REFERENCE_IN_SCOPE;
}

static void operand_key(const struct isa_operand *operand, struct key *key) {
    char word[16];
    if (operand->kind == ISA_OPERAND_IMM) {
        if (operand->imm_fixed) {
            snprintf(word, sizeof word, "%lld", (long long)operand->imm);
        } else {
            snprintf(word, sizeof word, "imm%u", operand->bits);
        }
        key_add(key, word);
        return;
    }
    if (operand->kind == ISA_OPERAND_REL) {
        snprintf(word, sizeof word, "rel%u", operand->bits);
        key_add(key, word);
        return;
    }
    if (operand->kind == ISA_OPERAND_MEM && !isa_reg_is_vector(operand->reg_class)) {
        int used = snprintf(word, sizeof word, "%s%u", operand->absolute ? "moffs" : "m", operand->bits);
        if (operand->broadcast != 0) {
            snprintf(word + used, sizeof word - (size_t)used, "b%u", operand->broadcast);
        }
        key_add(key, word);
        return;
    }
    if (operand->kind != ISA_OPERAND_REG) {
        key_add(key, operand->kind == ISA_OPERAND_AGEN ? "agen" : "vsib");
        return;
    }
    if (operand->reg >= 0) {
        const char *name = isa_reg_name(operand->reg_class, (unsigned)operand->reg);
        key_add(key, name != NULL ? name : "?");
        return;
    }
    static const char *const CLASSES[] = {
        [ISA_REG_GPR8] = "r8",   [ISA_REG_GPR8H] = "r8h", [ISA_REG_GPR16] = "r16",    [ISA_REG_GPR32] = "r32",
        [ISA_REG_GPR64] = "r64", [ISA_REG_MMX] = "mm",    [ISA_REG_XMM] = "xmm",      [ISA_REG_YMM] = "ymm",
        [ISA_REG_ZMM] = "zmm",   [ISA_REG_MASK] = "k",    [ISA_REG_SEGMENT] = "sreg", [ISA_REG_TILE] = "tmm",
        [ISA_REG_X87] = "st",
    };
    size_t classes = sizeof CLASSES / sizeof CLASSES[0];
    const char *name = (size_t)operand->reg_class < classes ? CLASSES[operand->reg_class] : NULL;
    key_add(key, name != NULL ? name : "?");
}

/* The key of one of our forms; false for those that the reference names otherwise (lock, rep). */
static bool form_key(const struct isa_form *form, struct key *key) {
    memset(key, 0, sizeof *key);
    if (form->prefix[0] != '\0' && form->prefix[0] != '{') {
        return false;
    }
    key_add(key, form->mnemonic);
    for (unsigned i = 0; i < form->explicit_count; i++) {
        operand_key(&form->operands[i], key);
    }
    key_add(key, form->zeroing ? "z" : "-");
    key_add(key, form->decorator[0] == '\0' ? "-" : strcmp(form->decorator, "{sae}") == 0 ? "sae" : "er");
    key_add(key, form->evex ? "evex" : "-");
    return true;
}

/* -- Mapping
 * ------------------------------------------------------------------------------------------------- */

/* Of several forms with one key (prefixed and plain spellings of one encoding) the first is as good as any.
 */
static struct isa_form *form_of_key(struct isa_form *const *forms, const struct key *keys, size_t count,
                                    const struct key *key) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(keys[i].text, key->text) == 0) {
            return forms[i];
        }
    }
    return NULL;
}

static bool mnemonic_wanted(const struct key *wanted, size_t count, const char *mnemonic) {
    size_t length = strlen(mnemonic);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(wanted[i].text, mnemonic, length) == 0 && wanted[i].text[length] == ' ') {
            return true;
        }
    }
    return false;
}

static bool form_touches_memory(const struct isa_form *form) {
    return isa_form_memory_operand(form) >= 0;
}

static enum reference_scope form_scope(const struct isa_form *form) {
    return isa_form_vector_bits(form) > 256 ? REFERENCE_512
           : form_touches_memory(form)      ? REFERENCE_MEMORY
                                            : REFERENCE_IN_SCOPE;
}

static void row_map(struct reference_row *row, const struct key *wanted, struct isa_form *const *forms,
                    const struct key *keys, size_t count) {
    struct isa_form *form = form_of_key(forms, keys, count, wanted);
    if (form == NULL) {
        row->scope = unmapped(row, "the tables have no such form");
    } else if (form->obstacle != ISA_OBSTACLE_NONE) {
        row->scope = unmapped(row, form->note[0] != '\0' ? form->note : "cannot be measured in a loop");
    } else {
        row->form = form;
        row->scope = form_scope(form);
    }
}

enum ip_status reference_map(struct reference *reference, const struct isa_table *table,
                             struct ip_error *err) {
    size_t rows = reference->count != 0 ? reference->count : 1,
           forms_max = table->count != 0 ? table->count : 1;
    struct key *wanted = calloc(rows, sizeof *wanted);
    struct isa_form **forms = calloc(forms_max, sizeof *forms);
    struct key *keys = calloc(forms_max, sizeof *keys);
    size_t count = 0, keyed = 0;
    enum ip_status status = IP_OK;
    if (wanted == NULL || forms == NULL || keys == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "no memory for %zu keys", rows + forms_max);
    }
    if (status == IP_OK) {
        for (size_t i = 0; i < reference->count; i++) {
            reference->rows[i].scope = row_key(&reference->rows[i], &wanted[i]);
        }
        for (size_t i = 0; i < table->count; i++) {
            if (mnemonic_wanted(wanted, reference->count, table->forms[i].mnemonic)) {
                forms[count++] = &table->forms[i];
            }
        }
        status = isa_forms_derive(forms, count, err);
    }
    if (status == IP_OK) {
        for (size_t i = 0; i < count; i++) {
            if (form_key(forms[i], &keys[keyed])) {
                forms[keyed++] = forms[i];
            }
        }
        for (size_t i = 0; i < reference->count; i++) {
            if (reference->rows[i].scope == REFERENCE_IN_SCOPE) {
                row_map(&reference->rows[i], &wanted[i], forms, keys, keyed);
            }
        }
    }
    free(wanted);
    free(forms);
    free(keys);
    return status;
}
