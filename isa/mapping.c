/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/mapping.h"

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
