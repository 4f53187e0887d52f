/* SPDX-License-Identifier: Apache-2.0 */
/* results/uops_name.c - our forms in the notation of uops.info: "VADDPD_ER_Z (ZMM, K, ZMM, ZMM)". */
#include <stdio.h>
#include <string.h>

#include "common/ascii.h"
#include "isa/kind.h"
#include "results/sheet.h"

/* Appends within RES_NAME_MAX bytes. */
static void name_add(char *name, const char *word) {
    size_t used = strlen(name);
    (void)snprintf(name + used, RES_NAME_MAX - used, "%s", word);
}

/* General registers by their width, others by the name of their file. */
static void register_name(const struct isa_operand *operand, char *word, size_t size) {
    static const char *const classes[] = {
        [ISA_REG_GPR8] = "R8l",    [ISA_REG_GPR8H] = "R8h", [ISA_REG_GPR16] = "R16", [ISA_REG_GPR32] = "R32",
        [ISA_REG_GPR64] = "R64",   [ISA_REG_X87] = "STi",   [ISA_REG_MMX] = "MM",    [ISA_REG_XMM] = "XMM",
        [ISA_REG_YMM] = "YMM",     [ISA_REG_ZMM] = "ZMM",   [ISA_REG_MASK] = "K",    [ISA_REG_TILE] = "TMM",
        [ISA_REG_SEGMENT] = "SEG",
    };
    const char *fixed = operand->reg >= 0 ? isa_reg_name(operand->reg_class, (unsigned)operand->reg) : NULL;
    if (fixed != NULL) {
        (void)snprintf(word, size, "%s", fixed);
        ip_ascii_capitals(word);
        return;
    }
    if ((size_t)operand->reg_class < sizeof classes / sizeof classes[0] &&
        classes[operand->reg_class] != NULL) {
        (void)snprintf(word, size, "%s", classes[operand->reg_class]);
        return;
    }
    (void)snprintf(word, size, "%s",
                   operand->other_reg == ISA_OTHER_CONTROL ? "CR"
                   : operand->other_reg == ISA_OTHER_DEBUG ? "DR"
                                                           : "BND");
}

static void operand_name(const struct isa_operand *operand, char *word, size_t size) {
    static const char *const vsib[] = {
        [ISA_REG_XMM] = "VSIB_XMM", [ISA_REG_YMM] = "VSIB_YMM", [ISA_REG_ZMM] = "VSIB_ZMM"};
    word[0] = '\0';
    switch (operand->kind) {
    case ISA_OPERAND_REG:
        register_name(operand, word, size);
        break;
    case ISA_OPERAND_MEM:
        if (isa_reg_is_vector(operand->reg_class)) {
            (void)snprintf(word, size, "%s", vsib[operand->reg_class]);
        } else if (operand->broadcast != 0) {
            (void)snprintf(word, size, "M%u_1to%u", operand->bits, operand->broadcast);
        } else if (operand->bits != 0) {
            (void)snprintf(word, size, "%s%u", operand->absolute ? "Moffs" : "M", operand->bits);
        } else {
            (void)snprintf(word, size, "M");
        }
        break;
    case ISA_OPERAND_IMM:
        if (operand->imm_fixed) {
            (void)snprintf(word, size, "%lld", (long long)operand->imm);
        } else {
            (void)snprintf(word, size, "I%u", operand->bits);
        }
        break;
    case ISA_OPERAND_REL:
        (void)snprintf(word, size, "Rel%u", operand->bits);
        break;
    case ISA_OPERAND_AGEN: /* not written there */
    case ISA_OPERAND_FLAGS:
        break;
    }
}

/* Where an SSE instruction has the name of a string instruction, and near branches. */
static void mnemonic_name(const struct isa_form *form, char *name) {
    name_add(name, form->mnemonic);
    ip_ascii_capitals(name);
    bool vector = form->explicit_count > 0 && isa_form_vector_bits(form) == 128;
    if ((strcmp(name, "MOVSD") == 0 || strcmp(name, "CMPSD") == 0) && vector) {
        name_add(name, "_XMM");
    } else if (strcmp(name, "RET") == 0 || strcmp(name, "CALL") == 0) {
        name_add(name, "_NEAR");
    }
}

void res_uops_name(const struct isa_form *form, char *name) {
    static const char *const prefixes[][2] = {
        {"lock", "_LOCK"},   {"rep", "_REPE"},    {"repe", "_REPE"},
        {"repne", "_REPNE"}, {"{evex}", "_EVEX"}, {"{vex}", "_VEX"},
    };
    name[0] = '\0';
    mnemonic_name(form, name);
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strcmp(form->prefix, prefixes[i][0]) == 0) {
            name_add(name, prefixes[i][1]);
        }
    }
    if (form->decorator[0] != '\0') {
        name_add(name, strcmp(form->decorator, "{sae}") == 0 ? "_SAE" : "_ER");
    }
    name_add(name, form->zeroing ? "_Z" : "");
    const char *separator = " (";
    for (unsigned i = 0; i < form->explicit_count; i++) {
        char word[24];
        operand_name(&form->operands[i], word, sizeof word);
        if (word[0] != '\0') {
            name_add(name, separator);
            name_add(name, word);
            separator = ", ";
        }
    }
    name_add(name, separator[0] == ',' ? ")" : "");
}

/* "_02", "_0F29", "_R4", "_IMMB": which of several encodings of one form is meant. */
static bool tells_encoding(const char *word, size_t length) {
    static const char *const words[] = {"IMMB", "IMMZ", "CL", "SSE4", "CR", "DR"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i]) == length && strncmp(word, words[i], length) == 0) {
            return true;
        }
    }
    if (length == 2 && word[0] == 'R' && ip_ascii_is_digit(word[1])) {
        return true;
    }
    bool hex = length == 2 || length == 4;
    for (size_t i = 0; i < length && hex; i++) {
        hex = ip_ascii_is_digit(word[i]) || (word[i] >= 'A' && word[i] <= 'F');
    }
    /* "ER" is no opcode, but "D8" stands in the names of LEA for a displacement. */
    return hex && !(length == 2 && word[0] == 'D' && word[1] == '8');
}

/* VEX has no broadcast, no rounding and no mask as a result: there "_EVEX" tells nothing from anything. */
static bool evex_is_plain(const char *name) {
    return strstr(name, "_1to") != NULL || strstr(name, "_ER") != NULL || strstr(name, "_SAE") != NULL ||
           strstr(name, "(K,") != NULL;
}

void res_uops_name_plain(char *name) {
    bool evex_goes = evex_is_plain(name);
    char *out = name + strcspn(name, "_ ");
    const char *in = out;
    while (*in == '_') {
        size_t length = strcspn(in + 1, "_ ");
        bool evex = length == 4 && strncmp(in + 1, "EVEX", length) == 0;
        if (!tells_encoding(in + 1, length) && !(evex && evex_goes)) {
            memmove(out, in, length + 1);
            out += length + 1;
        }
        in += length + 1;
    }
    memmove(out, in, strlen(in) + 1);
}
