/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/xed.h"

#include <stdio.h>
#include <string.h>

#include "isa/mapping.h"
#include "isa/newer.h"
#include "isa/xed_iform.h"

/* XED numbers broadcasts by what is repeated and how often. */
static int broadcast_number(unsigned element_bits, unsigned times) {
    static const struct {
        uint8_t bits, times, number;
    } known[] = {
        {32, 16, 1}, {32, 8, 3},  {32, 4, 10},  {32, 2, 22},  {64, 8, 5},  {64, 4, 13},
        {64, 2, 11}, {16, 8, 14}, {16, 16, 15}, {16, 32, 16}, {16, 2, 26}, {16, 4, 27},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].bits == element_bits && known[i].times == times) {
            return known[i].number;
        }
    }
    return 0;
}

/* The operands that an iform names, in XED's order: what is not suppressed. Of the x87 stack XED has ST0
 * before a source and behind a destination. */
static unsigned named_operands(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands,
                               uint8_t *order) {
    unsigned count = 0, visible = 0;
    int top = -1;
    for (unsigned i = 0; i < in->operand_count; i++) {
        const ZydisDecodedOperand *op = &operands[i];
        bool hidden = op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
        visible += !hidden;
        if (hidden && op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == ZYDIS_REGISTER_ST0) {
            top = (int)i;
        }
    }
    const char *name = ZydisMnemonicGetString(in->mnemonic);
    bool stores = strncmp(name, "fst", 3) == 0 || strncmp(name, "fist", 4) == 0 || strcmp(name, "fbstp") == 0;
    bool stacked = top >= 0 && visible > 0;
    if (stacked && !stores) {
        order[count++] = (uint8_t)top;
    }
    for (unsigned i = 0; i < in->operand_count; i++) {
        if (operands[i].visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN) {
            order[count++] = (uint8_t)i;
        }
    }
    if (stacked && stores) {
        order[count++] = (uint8_t)top;
    }
    return count;
}

/* Names all operands of the instruction as XED numbers them: "REG0", "REG1" ..., flags and K0 included. */
static void operands_name(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands,
                          const uint8_t *order, unsigned named, char names[][8]) {
    unsigned registers = 0, memories = 0, immediates = 0;
    bool done[ZYDIS_MAX_OPERAND_COUNT] = {false};
    for (unsigned k = 0; k < named + in->operand_count; k++) {
        unsigned i = k < named ? order[k] : k - named;
        const ZydisDecodedOperand *op = &operands[i];
        if (done[i]) {
            continue;
        }
        done[i] = true;
        if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.type == ZYDIS_MEMOP_TYPE_AGEN) {
            (void)snprintf(names[i], sizeof names[i], "AGEN");
        } else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            (void)snprintf(names[i], sizeof names[i], "MEM%u", memories++ % 10);
        } else if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op->imm.is_relative) {
            (void)snprintf(names[i], sizeof names[i], "RELBR");
        } else if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
            (void)snprintf(names[i], sizeof names[i], "IMM%u", immediates++ % 10);
        } else if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value != ZYDIS_REGISTER_MXCSR) {
            (void)snprintf(names[i], sizeof names[i], "REG%u", registers++ % 100);
        }
    }
}

static void high8_find(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands,
                       const char names[][8], struct isa_xed *xed) {
    for (unsigned i = 0; i < in->operand_count; i++) {
        struct isa_operand operand = {.reg = -1};
        if (operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER ||
            operands[i].visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT ||
            in->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ||
            ZydisRegisterGetClass(operands[i].reg.value) != ZYDIS_REGCLASS_GPR8) {
            continue;
        }
        xed->has_high8 = true;
        (void)isa_zydis_register_read(operands[i].reg.value, &operand);
        size_t used = strlen(xed->high8);
        if (operand.reg_class == ISA_REG_GPR8H) {
            (void)snprintf(xed->high8 + used, sizeof xed->high8 - used, "%s%s", used > 0 ? "," : "",
                           names[i]);
        }
    }
}

/* XED tells an 8-bit immediate of zero from others, for instructions of the base set. */
static int immzero_find(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands,
                        const struct isa_form *form) {
    bool base = in->meta.isa_ext == ZYDIS_ISA_EXT_BASE || in->meta.isa_ext == ZYDIS_ISA_EXT_LONGMODE;
    bool byte = in->raw.imm[0].size == 8 && !in->raw.imm[0].is_relative;
    for (unsigned i = 0; base && byte && i < in->operand_count; i++) {
        if (operands[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
            operands[i].visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT) {
            for (unsigned k = 0; k < form->explicit_count; k++) {
                const struct isa_operand *op = &form->operands[k];
                if (op->kind == ISA_OPERAND_IMM) {
                    return op->imm_fixed && op->imm == 0;
                }
            }
        }
    }
    return -1;
}

/* Adds one operand of an instruction that not every Zydis knows to its iform, and names it. */
static void newer_operand_add(const struct isa_operand *op, const char *type, unsigned *registers, char *name,
                              struct isa_xed *xed) {
    const char *word = op->kind == ISA_OPERAND_MEM      ? "MEM"
                       : op->kind == ISA_OPERAND_IMM    ? "IMM"
                       : op->reg_class == ISA_REG_TILE  ? "TMM"
                       : op->reg_class == ISA_REG_XMM   ? "XMM"
                       : op->reg_class == ISA_REG_YMM   ? "YMM"
                       : op->reg_class == ISA_REG_GPR64 ? "GPR64"
                                                        : "GPR32";
    bool is_register = op->kind == ISA_OPERAND_REG;
    (void)snprintf(name, sizeof xed->names[0], "%s%u", is_register ? "REG" : word,
                   is_register ? (*registers)++ % 10 : 0);
    size_t used = strlen(xed->iform), left = sizeof xed->iform - used;
    if (strcmp(type, "u") == 0 || strcmp(type, "n") == 0) {
        (void)snprintf(xed->iform + used, left, "_%s%s%u", word, type[0] == 'u' ? "u" : "",
                       (unsigned)op->bits);
    } else {
        (void)snprintf(xed->iform + used, left, "_%s%s", word, strcmp(type, "-") == 0 ? "" : type);
    }
}

static void newer_describe(const struct isa_newer *newer, const struct isa_form *form, struct isa_xed *xed) {
    char types[32], *rest = NULL;
    unsigned registers = 0;
    *xed = (struct isa_xed){.immzero = -1};
    isa_xed_capitals(xed->iclass, sizeof xed->iclass, newer->mnemonic);
    (void)snprintf(xed->iform, sizeof xed->iform, "%s", xed->iclass);
    (void)snprintf(xed->category, sizeof xed->category, "%s", newer->category);
    bool tiles = strcmp(newer->category, "AMX_TILE") == 0;
    (void)snprintf(xed->extension, sizeof xed->extension, "%s", tiles ? newer->category : newer->extension);
    (void)snprintf(types, sizeof types, "%s", newer->types);
    char *type = strtok_r(types, " ", &rest);
    for (unsigned i = 0; i < form->explicit_count && type != NULL; i++) {
        newer_operand_add(&form->operands[i], type, &registers, xed->names[i], xed);
        type = strtok_r(NULL, " ", &rest);
    }
    int memory = isa_form_memory_operand(form), flags = isa_form_flags_operand(form);
    if (flags >= 0)
        (void)snprintf(xed->names[flags], sizeof xed->names[flags], "REG%u", registers % 10);
    /* What gives a narrower vector has one name for memory of both widths. */
    if (memory >= 0 && newer->kinds[0] == 'x' && newer->kinds[1] == 'v')
        (void)strcat(xed->iform, form->operands[memory].bits == 256 ? "_VL256" : "_VL128");
}

/* The registers that Zydis does not list (the second of a pair, for which XED has one operand; the pointers
 * of CMPS) are numbered behind those that it names. */
static void others_name(const struct isa_form *form, const ZydisDecodedInstruction *in, const char names[][8],
                        struct isa_xed *xed) {
    unsigned registers = 0;
    for (unsigned i = 0; i < in->operand_count; i++) {
        registers += strncmp(names[i], "REG", 3) == 0;
    }
    for (unsigned k = form->explicit_count; k < form->operand_count; k++) {
        if (form->operands[k].kind == ISA_OPERAND_REG && xed->names[k][0] == '\0') {
            (void)snprintf(xed->names[k], sizeof xed->names[0], "REG%u", registers++ % 100);
        }
    }
}

enum ip_status isa_xed_describe(const struct isa_form *form, struct isa_xed *xed, struct ip_error *err) {
    ZydisDecoder decoder;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    const struct isa_newer *newer = form->sample_bytes == 0 ? NULL : isa_newer_of(form);
    if (newer != NULL) { /* whether Zydis knows it or not: it has one name */
        newer_describe(newer, form, xed);
        return IP_OK;
    }
    if (form->sample_bytes == 0 ||
        ZYAN_FAILED(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
        ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, form->sample, form->sample_bytes, &in, operands))) {
        return ip_fail(err, IP_UNSUPPORTED, "no instance of '%s' is known", form->syntax);
    }
    struct isa_xed made = {0};
    uint8_t order[ZYDIS_MAX_OPERAND_COUNT], ours[ISA_OPERANDS_MAX];
    char names[ZYDIS_MAX_OPERAND_COUNT][8] = {""};
    unsigned named = named_operands(&in, operands, order), explicit_count;
    isa_xed_iform_make(&in, operands, order, named, &made);
    operands_name(&in, operands, order, named, names);
    unsigned count = isa_zydis_operands_order(&in, operands, ours, &explicit_count);
    for (unsigned k = 0; k < count && k < form->operand_count; k++) {
        memcpy(made.names[k], names[ours[k]], sizeof made.names[k]);
    }
    for (unsigned i = 0; i < in.operand_count; i++) {
        int flags = isa_form_flags_operand(form);
        if (flags >= 0 && operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(operands[i].reg.value) == ZYDIS_REGCLASS_FLAGS) {
            memcpy(made.names[flags], names[i], sizeof made.names[flags]);
        }
    }
    others_name(form, &in, names, &made);
    (void)snprintf(made.category, sizeof made.category, "%s",
                   in.meta.category == ZYDIS_CATEGORY_AMD3DNOW ? "3DNOW"
                                                               : ZydisCategoryGetString(in.meta.category));
    (void)snprintf(made.extension, sizeof made.extension, "%s", ZydisISAExtGetString(in.meta.isa_ext));
    bool repeats = strncmp(made.iclass, "REP", 3) == 0;
    made.rep = !repeats ? 0 : strncmp(made.iclass, "REPNE", 5) == 0 ? 2 : 3;
    if (made.eosz != 0 || repeats) {
        made.eosz = in.operand_width == 16 ? 1 : in.operand_width == 64 ? 3 : 2;
    }
    int memory = isa_form_memory_operand(form);
    made.bcast = in.avx.broadcast.is_static ? -1 : 0;
    if (memory >= 0 && form->operands[memory].broadcast != 0) {
        made.bcast = broadcast_number(form->operands[memory].bits, form->operands[memory].broadcast);
    }
    made.immzero = immzero_find(&in, operands, form);
    high8_find(&in, operands, names, &made);
    made.agen = strcmp(form->mnemonic, "lea") == 0;
    *xed = made;
    return IP_OK;
}
