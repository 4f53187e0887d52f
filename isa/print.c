/* SPDX-License-Identifier: Apache-2.0 */
/* One instance of a form as NASM source. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/encode.h"
#include "isa/form.h"
#include "isa/kind.h"

/* A line in the making; `full` once something did not fit. */
struct line {
    char *data;
    size_t length;
    bool full;
};

static void add(struct line *line, const char *text) {
    size_t count = strlen(text);
    if (line->length + count >= ISA_LINE_MAX) {
        line->full = true;
        return;
    }
    memcpy(line->data + line->length, text, count + 1);
    line->length += count;
}

static const char *size_keyword(unsigned bits) {
    switch (bits) {
    case 8:
        return "byte ";
    case 16:
        return "word ";
    case 32:
        return "dword ";
    case 64:
        return "qword ";
    case 80:
        return "tword ";
    case 128:
        return "oword ";
    case 256:
        return "yword ";
    case 512:
        return "zword ";
    default:
        return "";
    }
}

static bool add_address(struct line *line, const struct isa_form *form, const struct isa_operand *op,
                        const struct isa_address *address) {
    char number[32];
    const char *separator = "";
    add(line, "[");
    add(line, address->segment == ISA_SEGMENT_FS ? "fs:" : address->segment == ISA_SEGMENT_GS ? "gs:" : "");
    if (op->kind == ISA_OPERAND_MEM && op->absolute) {
        snprintf(number, sizeof number, "qword 0x%" PRIx32 "]", (uint32_t)address->disp);
        add(line, number);
        return true;
    }
    if (address->base >= 0) {
        const char *name = isa_reg_name(ISA_REG_GPR64, (unsigned)address->base);
        if (name == NULL)
            return false;
        add(line, name);
        separator = "+";
    }
    if (address->index >= 0) {
        bool vsib = op->reg_class != ISA_REG_NONE;
        const char *name = isa_reg_name(vsib ? op->reg_class : ISA_REG_GPR64, (unsigned)address->index);
        /* rsp is no index; only EVEX reaches the upper 16 vectors. */
        if (name == NULL || (!vsib && address->index == 4) || (vsib && address->index > 15 && !form->evex))
            return false;
        add(line, separator);
        add(line, name);
        if (address->scale != 1) {
            snprintf(number, sizeof number, "*%u", (unsigned)address->scale);
            add(line, number);
        }
        separator = "+";
    } else if (op->reg_class != ISA_REG_NONE) {
        return false; /* VSIB lives on its index */
    }
    if (address->disp != 0 || separator[0] == '\0') {
        if (separator[0] == '\0')
            snprintf(number, sizeof number, "0x%" PRIx32, (uint32_t)address->disp);
        else
            snprintf(number, sizeof number, "%+" PRId32, address->disp);
        add(line, number);
    }
    add(line, "]");
    return true;
}

/* Mnemonics whose immediate NASM would shorten if it were not told its size. */
static bool shortens(const char *mnemonic) {
    static const char *const names[] = {"add", "or",  "adc",  "sbb", "and",  "sub",
                                        "xor", "cmp", "test", "mov", "imul", "push"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(mnemonic, names[i]) == 0)
            return true;
    }
    return false;
}

static bool touches_vectors(const struct isa_form *form) {
    for (unsigned i = 0; i < form->explicit_count; i++) {
        if (form->operands[i].reg_class >= ISA_REG_MMX && form->operands[i].reg_class <= ISA_REG_TILE)
            return true;
    }
    return false;
}

static void add_immediate(struct line *line, const struct isa_form *form, const struct isa_operand *op,
                          int64_t value) {
    char number[48];
    if (op->imm_fixed) {
        snprintf(number, sizeof number, "%" PRId64, op->imm);
        add(line, number);
        return;
    }
    switch (op->bits) {
    case 8:
        /* Signed where the byte is sign-extended, a pattern of bits elsewhere. */
        if ((uint8_t)value == 1 && !touches_vectors(form)) /* not the encoding for a shift by one */
            snprintf(number, sizeof number, "strict byte 1");
        else
            snprintf(number, sizeof number, "%d",
                     shortens(form->mnemonic) ? (int8_t)(uint8_t)value : (uint8_t)value);
        break;
    case 16:
        snprintf(number, sizeof number, "%s0x%" PRIx16, shortens(form->mnemonic) ? "strict word " : "",
                 (uint16_t)value);
        break;
    case 32: {
        /* NASM 2.16 calls a sign-extended 32-bit immediate of a 64-bit operation `strict qword`, but not
         * that of MOV. */
        bool mov = strcmp(form->mnemonic, "mov") == 0;
        bool wide = form->operands[0].bits == 64 || strcmp(form->mnemonic, "push") == 0;
        const char *strict = !shortens(form->mnemonic) ? ""
                             : wide && !mov            ? "strict qword "
                                                       : "strict dword ";
        if (wide)
            snprintf(number, sizeof number, "%s%" PRId32, strict, (int32_t)(uint32_t)value);
        else
            snprintf(number, sizeof number, "%s0x%" PRIx32, strict, (uint32_t)value);
        break;
    }
    default:
        snprintf(number, sizeof number, "%s0x%" PRIx64, shortens(form->mnemonic) ? "strict qword " : "",
                 (uint64_t)value);
    }
    add(line, number);
}

unsigned isa_branch_bytes(const struct isa_form *form) {
    const struct isa_operand *op = &form->operands[0];
    if (form->explicit_count == 0 || op->kind != ISA_OPERAND_REL)
        return 0;
    if (op->bits == 8)
        return strcmp(form->mnemonic, "jecxz") == 0 ? 3 : 2;
    if (strcmp(form->mnemonic, "jmp") == 0 || strcmp(form->mnemonic, "call") == 0)
        return 5;
    return 6;
}

static bool add_operand(struct line *line, const struct isa_form *form, unsigned i,
                        const struct isa_binding *binding) {
    const struct isa_operand *op = &form->operands[i];
    char number[40];
    switch (op->kind) {
    case ISA_OPERAND_REG: {
        unsigned n = op->reg >= 0 ? (unsigned)op->reg : binding->reg[i];
        const char *name = op->reg_class == ISA_REG_OTHER ? isa_other_name((enum isa_other)op->other_reg, n)
                                                          : isa_reg_name(op->reg_class, n);
        bool upper = isa_reg_is_vector(op->reg_class) && n > 15;
        if (name == NULL || (op->mask && n == 0) || (upper && form->derived && !form->evex))
            return false;
        add(line, name);
        return true;
    }
    case ISA_OPERAND_MEM:
    case ISA_OPERAND_AGEN:
        if (op->kind == ISA_OPERAND_MEM && op->reg_class == ISA_REG_NONE && !form->memory_unsized)
            add(line, size_keyword(op->bits));
        if (!add_address(line, form, op, &binding->address))
            return false;
        if (op->broadcast != 0) {
            snprintf(number, sizeof number, "{1to%u}", (unsigned)op->broadcast);
            add(line, number);
        }
        return true;
    case ISA_OPERAND_IMM:
        add_immediate(line, form, op, binding->imm[i]);
        return true;
    case ISA_OPERAND_REL: { /* NASM 3 makes jumps short that are not strictly near */
        bool only_short = form->mnemonic[0] != 'j' || strstr(form->mnemonic, "cxz") != NULL;
        snprintf(number, sizeof number, "%s$+%u",
                 op->bits == 8 ? (only_short ? "" : "short ") : "strict near ",
                 isa_branch_bytes(form) + binding->leaps);
        add(line, number);
        return true;
    }
    case ISA_OPERAND_FLAGS:
        break;
    }
    return true;
}

/* NASM wants rounding behind the last vector register, before a GPR or an immediate that follows. */
static unsigned decorated_operand(const struct isa_form *form) {
    unsigned last = ISA_OPERANDS_MAX;
    for (unsigned i = 0; i < form->explicit_count && form->decorator[0] != '\0'; i++) {
        if (form->operands[i].kind == ISA_OPERAND_REG && isa_reg_is_vector(form->operands[i].reg_class))
            last = i;
    }
    return last;
}

/* The line without regard to encode_raw. */
static enum ip_status print_nasm(const struct isa_form *form, const struct isa_binding *binding,
                                 struct line *line, struct ip_error *err) {
    bool first = true;
    unsigned decorated = decorated_operand(form);
    if (form->prefix[0] != '\0') {
        add(line, form->prefix);
        add(line, " ");
    }
    add(line, form->mnemonic);
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *op = &form->operands[i];
        add(line, op->mask ? "{" : first ? " " : ", ");
        if (!add_operand(line, form, i, binding))
            return ip_fail(err, IP_UNSUPPORTED, "%s: operand %u cannot be register or address number %u",
                           form->syntax, i + 1, (unsigned)binding->reg[i]);
        if (op->mask)
            add(line, form->zeroing ? "}{z}" : "}");
        if (i == decorated) {
            add(line, ", ");
            add(line, form->decorator);
        }
        first = false;
    }
    if (line->full)
        return ip_fail(err, IP_UNSUPPORTED, "%s: an instance is longer than %d characters", form->syntax,
                       ISA_LINE_MAX - 1);
    return IP_OK;
}

enum ip_status isa_form_print(const struct isa_form *form, const struct isa_binding *binding, char *buffer,
                              struct ip_error *err) {
    char text[ISA_LINE_MAX];
    struct line line = {text, 0, false};
    text[0] = '\0';
    enum ip_status status = print_nasm(form, binding, &line, err);
    if (status != IP_OK)
        return status;
    if (!form->encode_raw) {
        memcpy(buffer, text, line.length + 1);
        return IP_OK;
    }
    uint8_t code[ISA_CODE_MAX];
    size_t length;
    status = isa_encode(form, binding, code, &length, err);
    if (status != IP_OK)
        return status;
    int at = snprintf(buffer, ISA_LINE_MAX, "db ");
    for (size_t i = 0; i < length; i++)
        at += snprintf(buffer + at, (size_t)(ISA_LINE_MAX - at), i == 0 ? "0x%02x" : ",0x%02x", code[i]);
    /* 3 + 15 * 5 bytes at most so far; the comment is cut to what fits. */
    snprintf(buffer + at, (size_t)(ISA_LINE_MAX - at), " ; %.*s", ISA_LINE_MAX - at - 4, text);
    return IP_OK;
}
