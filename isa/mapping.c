/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/mapping.h"

#include <string.h>

#include "isa/kind.h"

static const struct {
    ZydisRegisterClass zydis;
    enum isa_reg_class ours;
    enum isa_other other;
    uint16_t bits;
} classes[] = {
    {ZYDIS_REGCLASS_GPR16, ISA_REG_GPR16, ISA_OTHER_NONE, 16},
    {ZYDIS_REGCLASS_GPR32, ISA_REG_GPR32, ISA_OTHER_NONE, 32},
    {ZYDIS_REGCLASS_GPR64, ISA_REG_GPR64, ISA_OTHER_NONE, 64},
    {ZYDIS_REGCLASS_X87, ISA_REG_X87, ISA_OTHER_NONE, 80},
    {ZYDIS_REGCLASS_MMX, ISA_REG_MMX, ISA_OTHER_NONE, 64},
    {ZYDIS_REGCLASS_XMM, ISA_REG_XMM, ISA_OTHER_NONE, 128},
    {ZYDIS_REGCLASS_YMM, ISA_REG_YMM, ISA_OTHER_NONE, 256},
    {ZYDIS_REGCLASS_ZMM, ISA_REG_ZMM, ISA_OTHER_NONE, 512},
    {ZYDIS_REGCLASS_TMM, ISA_REG_TILE, ISA_OTHER_NONE, 8192},
    {ZYDIS_REGCLASS_SEGMENT, ISA_REG_SEGMENT, ISA_OTHER_NONE, 16},
    {ZYDIS_REGCLASS_MASK, ISA_REG_MASK, ISA_OTHER_NONE, 64},
    {ZYDIS_REGCLASS_CONTROL, ISA_REG_OTHER, ISA_OTHER_CONTROL, 64},
    {ZYDIS_REGCLASS_DEBUG, ISA_REG_OTHER, ISA_OTHER_DEBUG, 64},
    {ZYDIS_REGCLASS_BOUND, ISA_REG_OTHER, ISA_OTHER_BOUND, 128},
};
enum { CLASSES = sizeof classes / sizeof classes[0] };

/* Zydis numbers the byte registers al cl dl bl ah ch dh bh spl bpl sil dil r8b ... r15b. */
enum { ZYDIS_AH = 4, ZYDIS_SPL = 8, ZYDIS_BYTES = 20 };

unsigned isa_zydis_register_read(ZydisRegister reg, struct isa_operand *operand) {
    ZydisRegisterClass reg_class = ZydisRegisterGetClass(reg);
    ZyanI8 id = ZydisRegisterGetId(reg);
    unsigned number = id < 0 ? 0 : (unsigned)id;
    operand->kind = ISA_OPERAND_REG;
    operand->other_reg = ISA_OTHER_NONE;
    if (reg_class == ZYDIS_REGCLASS_GPR8) {
        bool high = number >= ZYDIS_AH && number < ZYDIS_SPL;
        operand->reg_class = high ? ISA_REG_GPR8H : ISA_REG_GPR8;
        operand->bits = 8;
        return number < ZYDIS_AH ? number : number - 4;
    }
    for (unsigned i = 0; i < CLASSES; i++) {
        if (classes[i].zydis == reg_class) {
            operand->reg_class = classes[i].ours;
            operand->other_reg = (int8_t)classes[i].other;
            operand->bits = classes[i].bits;
            return number;
        }
    }
    operand->reg_class = ISA_REG_OTHER;
    operand->other_reg = ISA_OTHER_HIDDEN;
    operand->bits = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg);
    return 0;
}

ZydisRegister isa_zydis_register(const struct isa_operand *operand, unsigned number) {
    if (operand->reg_class == ISA_REG_GPR8 || operand->reg_class == ISA_REG_GPR8H) {
        bool high = operand->reg_class == ISA_REG_GPR8H;
        if (number >= (high ? 4u : 16u))
            return ZYDIS_REGISTER_NONE;
        return ZydisRegisterEncode(ZYDIS_REGCLASS_GPR8, (ZyanU8)(!high && number < 4 ? number : number + 4));
    }
    if (operand->reg_class != ISA_REG_OTHER && isa_reg_name(operand->reg_class, number) == NULL)
        return ZYDIS_REGISTER_NONE;
    for (unsigned i = 0; i < CLASSES; i++) {
        if (classes[i].ours == operand->reg_class &&
            (classes[i].ours != ISA_REG_OTHER || classes[i].other == (enum isa_other)operand->other_reg))
            return ZydisRegisterEncode(classes[i].zydis, (ZyanU8)number);
    }
    return ZYDIS_REGISTER_NONE;
}

bool isa_zydis_written_xmm0(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operand) {
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->reg.value == ZYDIS_REGISTER_XMM0 &&
           operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
           (instruction->mnemonic == ZYDIS_MNEMONIC_PBLENDVB ||
            instruction->mnemonic == ZYDIS_MNEMONIC_BLENDVPS ||
            instruction->mnemonic == ZYDIS_MNEMONIC_BLENDVPD ||
            instruction->mnemonic == ZYDIS_MNEMONIC_SHA256RNDS2);
}

/* K0 as a mask says "no mask"; the flags become an operand of their own; MXCSR is read by all of SSE; far
 * pointers do not exist in 64-bit code. */
static bool is_operand(const ZydisDecodedOperand *op, bool hidden) {
    if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return op->type == ZYDIS_OPERAND_TYPE_MEMORY || op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    ZydisRegisterClass reg_class = ZydisRegisterGetClass(op->reg.value);
    if (op->encoding == ZYDIS_OPERAND_ENCODING_MASK && op->reg.value == ZYDIS_REGISTER_K0)
        return false;
    return !hidden || (reg_class != ZYDIS_REGCLASS_FLAGS && reg_class != ZYDIS_REGCLASS_IP &&
                       op->reg.value != ZYDIS_REGISTER_MXCSR);
}

unsigned isa_zydis_operands_order(const ZydisDecodedInstruction *instruction,
                                  const ZydisDecodedOperand *operands, uint8_t order[ISA_OPERANDS_MAX],
                                  unsigned *explicit_count) {
    unsigned count = 0;
    for (unsigned pass = 0; pass < 2; pass++) { /* the written operands, then the others */
        for (unsigned i = 0; i < instruction->operand_count && count < ISA_OPERANDS_MAX; i++) {
            const ZydisDecodedOperand *op = &operands[i];
            bool hidden =
                op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && !isa_zydis_written_xmm0(instruction, op);
            bool later = hidden || (op->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT &&
                                    op->type == ZYDIS_OPERAND_TYPE_MEMORY);
            if (later == (pass == 1) && is_operand(op, hidden))
                order[count++] = (uint8_t)i;
        }
        if (pass == 0)
            *explicit_count = count;
    }
    return count;
}

/* By name, for which of them Zydis knows in VEX too, and in which extension, changes with its version. */
bool isa_evex_came_first(const char *mnemonic) {
    static const char *const names[] = {"vpdpbusd",    "vpdpbusds",   "vpdpwssd",     "vpdpwssds",
                                        "vpmadd52luq", "vpmadd52huq", "vcvtneps2bf16"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(mnemonic, names[i]) == 0)
            return true;
    }
    return false;
}
