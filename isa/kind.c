/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/kind.h"

#include <string.h>

static const struct kind {
    char name[8];
    enum isa_reg_class reg_class;
    uint16_t bits;
} register_kinds[] = {
    {"r8", ISA_REG_GPR8, 8},       {"r8h", ISA_REG_GPR8H, 8},  {"r16", ISA_REG_GPR16, 16},
    {"r32", ISA_REG_GPR32, 32},    {"r64", ISA_REG_GPR64, 64}, {"st", ISA_REG_X87, 80},
    {"mm", ISA_REG_MMX, 64},       {"xmm", ISA_REG_XMM, 128},  {"ymm", ISA_REG_YMM, 256},
    {"zmm", ISA_REG_ZMM, 512},     {"k", ISA_REG_MASK, 64},    {"tmm", ISA_REG_TILE, 8192},
    {"sreg", ISA_REG_SEGMENT, 16},
};
enum { REGISTER_KINDS = sizeof register_kinds / sizeof register_kinds[0] };

static const char *const other_kinds[] = {
    [ISA_OTHER_CONTROL] = "cr", [ISA_OTHER_DEBUG] = "dr", [ISA_OTHER_BOUND] = "bnd"};

static bool same(const char *text, size_t length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* A decimal number below 65536 that fills text[0..length); -1 if it is none. */
static long number_parse(const char *text, size_t length) {
    long value = 0;
    if (length == 0 || length > 5)
        return -1;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value <= UINT16_MAX ? value : -1;
}

static bool register_parse(const char *text, size_t length, struct isa_operand *operand) {
    for (unsigned i = 0; i < REGISTER_KINDS; i++) {
        if (same(text, length, register_kinds[i].name)) {
            operand->reg_class = register_kinds[i].reg_class;
            operand->bits = register_kinds[i].bits;
            return true;
        }
    }
    for (int other = ISA_OTHER_CONTROL; other <= ISA_OTHER_BOUND; other++) {
        if (same(text, length, other_kinds[other])) {
            operand->reg_class = ISA_REG_OTHER;
            operand->other_reg = (int8_t)other;
            operand->bits = other == ISA_OTHER_BOUND ? 128 : 64;
            return true;
        }
    }
    /* A fixed register. */
    for (unsigned i = 0; i < REGISTER_KINDS; i++) {
        enum isa_reg_class reg_class = register_kinds[i].reg_class;
        const char *name;
        for (unsigned n = 0; (name = isa_reg_name(reg_class, n)) != NULL; n++) {
            if (same(text, length, name)) {
                operand->reg_class = reg_class;
                operand->bits = register_kinds[i].bits;
                operand->reg = (int8_t)n;
                return true;
            }
        }
    }
    return false;
}

/* "m64", "m64{1to8}", "m", "vm32x", "agen". */
static bool memory_parse(const char *text, size_t length, struct isa_operand *operand) {
    operand->kind = ISA_OPERAND_MEM;
    if (same(text, length, "agen")) {
        operand->kind = ISA_OPERAND_AGEN;
        return true;
    }
    if (length == 5 && text[0] == 'v' && text[1] == 'm') {
        long bits = number_parse(text + 2, 2);
        operand->bits = (uint16_t)bits;
        operand->reg_class = text[4] == 'x'   ? ISA_REG_XMM
                             : text[4] == 'y' ? ISA_REG_YMM
                             : text[4] == 'z' ? ISA_REG_ZMM
                                              : ISA_REG_NONE;
        return (bits == 32 || bits == 64) && operand->reg_class != ISA_REG_NONE;
    }
    if (text[0] != 'm')
        return false;
    if (length > 5 && memcmp(text, "moffs", 5) == 0) {
        long bits = number_parse(text + 5, length - 5);
        operand->bits = (uint16_t)bits;
        operand->absolute = true;
        return text[5] != '0' && (bits == 8 || bits == 16 || bits == 32 || bits == 64);
    }
    size_t end = 1;
    while (end < length && text[end] != '{')
        end++;
    if (end > 1) {
        long bits = number_parse(text + 1, end - 1);
        if (bits <= 0 || bits % 8 != 0 || text[1] == '0')
            return false;
        operand->bits = (uint16_t)bits;
    }
    if (end < length) {
        if (length - end < 6 || memcmp(text + end, "{1to", 4) != 0 || text[length - 1] != '}')
            return false;
        long broadcast = number_parse(text + end + 4, length - end - 5);
        if (broadcast != 2 && broadcast != 4 && broadcast != 8 && broadcast != 16 && broadcast != 32)
            return false;
        operand->broadcast = (uint8_t)broadcast;
    }
    return true;
}

/* "imm8", "rel32", or a bare integer. */
static bool immediate_parse(const char *text, size_t length, struct isa_operand *operand) {
    if (length > 3 && (memcmp(text, "imm", 3) == 0 || memcmp(text, "rel", 3) == 0)) {
        long bits = number_parse(text + 3, length - 3);
        operand->kind = text[0] == 'i' ? ISA_OPERAND_IMM : ISA_OPERAND_REL;
        operand->bits = (uint16_t)bits;
        if (text[3] == '0')
            return false;
        return bits == 8 || bits == 32 || (text[0] == 'i' && (bits == 16 || bits == 64));
    }
    size_t i = text[0] == '-' ? 1 : 0;
    int64_t value = 0;
    if (i == length || length - i > 18)
        return false;
    for (; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (text[i] - '0');
    }
    operand->kind = ISA_OPERAND_IMM;
    operand->imm_fixed = true;
    operand->imm = text[0] == '-' ? -value : value;
    return true;
}

bool isa_kind_parse(const char *text, size_t length, struct isa_operand *operand) {
    static const struct isa_operand blank = {.kind = ISA_OPERAND_REG, .reg = -1};
    *operand = blank;
    if (length == 0)
        return false;
    if (text[0] == 'm' && length > 1 && text[1] == 'm')
        return register_parse(text, length, operand);
    if (text[0] == 'm' || text[0] == 'v' || text[0] == 'a') {
        if (memory_parse(text, length, operand))
            return true;
        *operand = blank;
    }
    if (text[0] == 'i' || text[0] == 'r' || text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) {
        if (immediate_parse(text, length, operand))
            return true;
        *operand = blank;
    }
    return register_parse(text, length, operand);
}

static size_t append(char *buffer, size_t at, const char *text) {
    size_t length = strlen(text);
    memcpy(buffer + at, text, length + 1);
    return at + length;
}

static size_t append_number(char *buffer, size_t at, uint64_t value) {
    char digits[24];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    while (count > 0)
        buffer[at++] = digits[--count];
    buffer[at] = '\0';
    return at;
}

static size_t register_print(const struct isa_operand *operand, char *buffer) {
    if (operand->reg_class == ISA_REG_OTHER) {
        if (operand->other_reg < ISA_OTHER_CONTROL || operand->other_reg > ISA_OTHER_BOUND)
            return append(buffer, 0, "?");
        return append(buffer, 0, other_kinds[operand->other_reg]);
    }
    if (operand->reg >= 0) {
        const char *name = isa_reg_name(operand->reg_class, (unsigned)operand->reg);
        return append(buffer, 0, name != NULL ? name : "?");
    }
    for (unsigned i = 0; i < REGISTER_KINDS; i++) {
        if (register_kinds[i].reg_class == operand->reg_class)
            return append(buffer, 0, register_kinds[i].name);
    }
    return append(buffer, 0, "?");
}

size_t isa_kind_print(const struct isa_operand *operand, char *buffer) {
    size_t at = 0;
    switch (operand->kind) {
    case ISA_OPERAND_REG:
        return register_print(operand, buffer);
    case ISA_OPERAND_AGEN:
        return append(buffer, 0, "agen");
    case ISA_OPERAND_MEM:
        if (operand->reg_class != ISA_REG_NONE) {
            at = append(buffer, at, operand->bits == 64 ? "vm64" : "vm32");
            return append(buffer, at,
                          operand->reg_class == ISA_REG_XMM   ? "x"
                          : operand->reg_class == ISA_REG_YMM ? "y"
                                                              : "z");
        }
        at = append(buffer, at, operand->absolute ? "moffs" : "m");
        if (operand->bits != 0)
            at = append_number(buffer, at, operand->bits);
        if (operand->broadcast != 0) {
            at = append(buffer, at, "{1to");
            at = append_number(buffer, at, operand->broadcast);
            at = append(buffer, at, "}");
        }
        return at;
    case ISA_OPERAND_IMM:
        if (operand->imm_fixed) {
            if (operand->imm < 0)
                at = append(buffer, at, "-");
            return append_number(buffer, at,
                                 operand->imm < 0 ? -(uint64_t)operand->imm : (uint64_t)operand->imm);
        }
        at = append(buffer, at, "imm");
        return append_number(buffer, at, operand->bits);
    case ISA_OPERAND_REL:
        at = append(buffer, at, "rel");
        return append_number(buffer, at, operand->bits);
    case ISA_OPERAND_FLAGS:
        return append(buffer, 0, "flags");
    }
    return append(buffer, 0, "?");
}

bool isa_form_syntax_build(struct isa_form *form) {
    /* Room for everything that the loop may add before it looks at the length again. */
    char buffer[ISA_SYNTAX_MAX + 64];
    size_t at = 0;
    buffer[0] = '\0';
    if (form->prefix[0] != '\0') {
        at = append(buffer, at, form->prefix);
        at = append(buffer, at, " ");
    }
    at = append(buffer, at, form->mnemonic);
    bool first = true;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        if (form->operands[i].mask) {
            at = append(buffer, at, form->zeroing ? "{k}{z}" : "{k}");
        } else {
            at = append(buffer, at, first ? " " : ", ");
            at += isa_kind_print(&form->operands[i], buffer + at);
            first = false;
        }
        if (at >= ISA_SYNTAX_MAX)
            return false;
    }
    if (form->decorator[0] != '\0') {
        at = append(buffer, at, first ? " " : ", ");
        at = append(buffer, at, form->decorator);
    }
    if (at >= ISA_SYNTAX_MAX)
        return false;
    memcpy(form->syntax, buffer, at + 1);
    return true;
}
