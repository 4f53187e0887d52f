/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/corrections.h"

#include <string.h>

#include "isa/mapping.h"

enum { RSP = 4, CARRY = 0x1, OVERFLOWS = 0x800 };

/* Legacy SSE keeps the part of an XMM destination that it does not write; Zydis says "written" only. The
 * named ones do clear it. */
static bool merges(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
                   const struct isa_form *form) {
    const struct isa_operand *op = &form->operands[0];
    if (form->vex || form->evex || form->explicit_count < 2 || op->kind != ISA_OPERAND_REG ||
        op->reg_class != ISA_REG_XMM || !op->write || op->read || operands[0].size >= 128)
        return false;
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_MOVD:
    case ZYDIS_MNEMONIC_MOVQ:
    case ZYDIS_MNEMONIC_MOVQ2DQ:
    case ZYDIS_MNEMONIC_CVTPD2PS:
    case ZYDIS_MNEMONIC_CVTPD2DQ:
    case ZYDIS_MNEMONIC_CVTTPD2DQ:
        return false;
    case ZYDIS_MNEMONIC_MOVSS:
    case ZYDIS_MNEMONIC_MOVSD:
        return form->operands[1].kind != ISA_OPERAND_MEM;
    default:
        return true;
    }
}

/* BSF and BSR leave their destination alone when the source is zero: AMD's manual says so, and Intel's cores
 * do. */
static bool keeps_destination(const ZydisDecodedInstruction *instruction) {
    return instruction->mnemonic == ZYDIS_MNEMONIC_BSF || instruction->mnemonic == ZYDIS_MNEMONIC_BSR;
}

/* A shift or rotation by CL leaves the flags alone when the count is zero. */
static bool shifts_by_cl(const ZydisDecodedInstruction *instruction, const struct isa_form *form) {
    const struct isa_operand *last =
        form->explicit_count > 0 ? &form->operands[form->explicit_count - 1] : NULL;
    bool shift = instruction->meta.category == ZYDIS_CATEGORY_SHIFT ||
                 instruction->meta.category == ZYDIS_CATEGORY_ROTATE;
    return shift && last != NULL && last->kind == ISA_OPERAND_REG && last->reg_class == ISA_REG_GPR8 &&
           last->reg == 1;
}

/* Floating-point instructions whose operands Zydis calls integers: s, d or h, the type of an element; 0: it
 * is none of them. */
static char floating_type(const char *mnemonic) {
    static const char *const stems[] = {"round",   "fpclass", "and",  "andn",  "or",     "xor",
                                        "maskmov", "movl",    "movh", "movnt", "extract"};
    static const char *const endings[] = {"ps", "pd", "ss", "sd", "ph", "sh"};
    mnemonic += mnemonic[0] == 'v';
    size_t length = strlen(mnemonic);
    /* CVTSD2SI: what it converts stands in front of the 2. */
    const char *to = strncmp(mnemonic, "cvt", 3) == 0 ? strchr(mnemonic, '2') : NULL;
    for (unsigned k = 0; k < sizeof endings / sizeof endings[0]; k++) {
        if (to != NULL && strncmp(to - 2, endings[k], 2) == 0) {
            return endings[k][1];
        }
        for (unsigned i = 0; i < sizeof stems / sizeof stems[0]; i++) {
            size_t stem = strlen(stems[i]);
            if (length == stem + 2 && strncmp(mnemonic, stems[i], stem) == 0 &&
                strcmp(mnemonic + stem, endings[k]) == 0) {
                return endings[k][1];
            }
        }
    }
    return 0;
}

/* FTST and FXAM only look at ST0. */
static bool only_examines(const ZydisDecodedInstruction *instruction) {
    return instruction->mnemonic == ZYDIS_MNEMONIC_FTST || instruction->mnemonic == ZYDIS_MNEMONIC_FXAM;
}

/* How far the x87 stack moves. Zydis lists the registers that are accessed, not TOP. An instruction that
 * writes a register above those that it read pushes: ST0 without reading it (FLD, FILD), or ST1 beside an ST0
 * that it reads and writes (FSINCOS, FPTAN, FXTRACT). One that leaves its result in ST1 and only reads ST0
 * pops (FPATAN, FYL2X). All others that pop say so by a P at their end, for each register one (FADDP,
 * FCOMPP, FSTP); FINCSTP and FDECSTP end in one and name no register. */
static int x87_pushes(const struct isa_form *form) {
    const struct isa_operand *top = NULL, *second = NULL;
    bool touches = false;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *op = &form->operands[i];
        bool x87 = op->kind == ISA_OPERAND_REG && op->reg_class == ISA_REG_X87;
        touches = touches || x87;
        top = x87 && op->reg == 0 ? op : top;
        second = x87 && op->reg == 1 ? op : second;
    }
    size_t length = strlen(form->mnemonic);
    if (!touches || length < 3)
        return 0;
    if (top != NULL && top->write && !top->read)
        return 1;
    if (top != NULL && second != NULL && second->write)
        return second->read ? -1 : 1;
    if (strcmp(form->mnemonic, "fstpnce") == 0) /* FSTP without checking for an empty register */
        return -1;
    if (form->mnemonic[length - 1] != 'p')
        return 0;
    return form->mnemonic[length - 2] == 'p' ? -2 : -1;
}

/* VP2INTERSECTD and VP2INTERSECTQ write a pair of masks, and name one of them. */
static void second_mask_add(const ZydisDecodedInstruction *instruction, struct isa_form *form) {
    bool pair = instruction->mnemonic == ZYDIS_MNEMONIC_VP2INTERSECTD ||
                instruction->mnemonic == ZYDIS_MNEMONIC_VP2INTERSECTQ;
    if (pair && form->operand_count < ISA_OPERANDS_MAX) {
        struct isa_operand *second = &form->operands[form->operand_count++];
        *second = form->operands[0];
        second->implicit = second->beside = true;
    }
}

static bool lists(const struct isa_form *form, const struct isa_operand *wanted) {
    bool found = false;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *op = &form->operands[i];
        found = found ||
                (op->kind == ISA_OPERAND_REG && op->reg_class == wanted->reg_class && op->reg == wanted->reg);
    }
    return found;
}

/* Puts an implicit operand behind the others, but before the flags. */
static void implicit_insert(struct isa_form *form, const struct isa_operand *operand) {
    int flags = isa_form_flags_operand(form);
    unsigned at = flags >= 0 ? (unsigned)flags : form->operand_count;
    memmove(&form->operands[at + 1], &form->operands[at], (form->operand_count - at) * sizeof *operand);
    form->operands[at] = *operand;
    form->operand_count++;
}

/* String instructions move the pointers of their memory on: Zydis lists those of LODS, MOVS and STOS, and not
 * those of CMPS and SCAS. Under a prefix that happens under the same condition as the access. */
static void pointers_add(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
                         struct isa_form *form) {
    bool string = instruction->meta.category == ZYDIS_CATEGORY_STRINGOP;
    for (unsigned i = 0; i < instruction->operand_count && string; i++) {
        const ZydisDecodedOperand *memory = &operands[i];
        if (memory->type != ZYDIS_OPERAND_TYPE_MEMORY) {
            continue;
        }
        bool conditional =
            (memory->actions & (ZYDIS_OPERAND_ACTION_CONDREAD | ZYDIS_OPERAND_ACTION_CONDWRITE)) != 0;
        struct isa_operand pointer = {.implicit = true, .read = true, .write = true};
        pointer.cond_read = pointer.cond_write = conditional;
        pointer.reg = (int8_t)isa_zydis_register_read(memory->mem.base, &pointer);
        if (!lists(form, &pointer) && form->operand_count < ISA_OPERANDS_MAX) {
            implicit_insert(form, &pointer);
        }
    }
}

/* Comparisons into a mask clear it where their own mask does: Zydis calls those of FP16 merged. */
static void compare_into_mask(struct isa_form *form) {
    struct isa_operand *first = &form->operands[0];
    if (form->evex && form->explicit_count > 1 && form->operands[1].mask && first->kind == ISA_OPERAND_REG &&
        first->reg_class == ISA_REG_MASK) {
        first->read = first->cond_read = first->cond_write = false;
    }
}

/* 3DNow!'s conversions, estimates and its swap write all of their destination, which Zydis has read, too;
 * LWPCB's register is an address that LLWPCB reads; LEAVE takes RSP from RBP. */
static void actions_correct(const ZydisDecodedInstruction *instruction, struct isa_form *form) {
    struct isa_operand *first = &form->operands[0];
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_PF2ID:
    case ZYDIS_MNEMONIC_PF2IW:
    case ZYDIS_MNEMONIC_PFRCP:
    case ZYDIS_MNEMONIC_PFSQRT:
    case ZYDIS_MNEMONIC_PI2FD:
    case ZYDIS_MNEMONIC_PI2FW:
    case ZYDIS_MNEMONIC_PSWAPD:
        first->read = false;
        break;
    case ZYDIS_MNEMONIC_LLWPCB:
        first->read = true;
        first->write = false;
        break;
    case ZYDIS_MNEMONIC_LEAVE:
        for (unsigned i = 0; i < form->operand_count; i++) {
            struct isa_operand *op = &form->operands[i];
            bool stack = op->kind == ISA_OPERAND_REG && isa_reg_is_gpr(op->reg_class) && op->reg == RSP;
            op->read = op->read && !stack;
        }
        break;
    default:
        break;
    }
}

/* What the manuals say of flags, and Zydis does not: VPTEST and VTESTPS clear those that they do not set, as
 * PTEST does, and TESTUI does, BEXTR clears CF and OF; SBB's AF is as defined as ADC's. */
static void flags_complete(const ZydisDecodedInstruction *instruction, struct isa_form *form) {
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_VPTEST:
    case ZYDIS_MNEMONIC_VTESTPS:
    case ZYDIS_MNEMONIC_VTESTPD:
    case ZYDIS_MNEMONIC_TESTUI:
        form->flags_written = ISA_ARITHMETIC_FLAGS;
        form->flags_undefined = 0;
        break;
    case ZYDIS_MNEMONIC_BEXTR:
        form->flags_undefined &= ~(uint32_t)(CARRY | OVERFLOWS);
        break;
    case ZYDIS_MNEMONIC_SBB:
        form->flags_undefined = 0;
        break;
    default:
        break;
    }
}

/* FNSTSW and its like store the state that Zydis says they write. */
static void stores_x87_state(const ZydisDecodedInstruction *instruction, struct isa_form *form) {
    bool resets = instruction->mnemonic == ZYDIS_MNEMONIC_FNSAVE;
    bool stores = resets || instruction->mnemonic == ZYDIS_MNEMONIC_FNSTSW ||
                  instruction->mnemonic == ZYDIS_MNEMONIC_FNSTCW ||
                  instruction->mnemonic == ZYDIS_MNEMONIC_FNSTENV;
    for (unsigned i = 0; i < form->operand_count && stores; i++) {
        struct isa_operand *op = &form->operands[i];
        if (op->kind == ISA_OPERAND_REG && op->reg_class == ISA_REG_OTHER) {
            op->read = true;
            op->write = resets;
        }
    }
}

/* A count of zero leaves the flags alone. */
static void flags_kept(struct isa_form *form, int flags) {
    struct isa_operand *op = &form->operands[flags];
    op->cond_read = !op->read; /* RCL and RCR read the carry anyway */
    op->read = op->cond_write = true;
    form->flags_read |= form->flags_written;
}

void isa_corrections_of_zero(struct isa_form *form) {
    static const char *const shifts[] = {"shl", "shr", "sar", "sal",  "rol",
                                         "ror", "rcl", "rcr", "shld", "shrd"};
    const struct isa_operand *last =
        form->explicit_count > 0 ? &form->operands[form->explicit_count - 1] : NULL;
    int flags = isa_form_flags_operand(form);
    bool zero = last != NULL && last->kind == ISA_OPERAND_IMM && last->imm_fixed && last->imm == 0;
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0] && zero && flags >= 0; i++) {
        if (strcmp(form->mnemonic, shifts[i]) == 0) {
            flags_kept(form, flags);
            break;
        }
    }
}

void isa_corrections_apply(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
                           struct isa_form *form) {
    struct isa_operand *first = &form->operands[0];
    if (merges(instruction, operands, form))
        first->read = true;
    if (keeps_destination(instruction))
        first->read = first->cond_read = first->cond_write = true;
    for (unsigned i = 0; i < form->operand_count && only_examines(instruction); i++) {
        if (form->operands[i].reg_class == ISA_REG_X87)
            form->operands[i].write = false;
    }
    actions_correct(instruction, form);
    if (instruction->mnemonic == ZYDIS_MNEMONIC_LWPINS || instruction->mnemonic == ZYDIS_MNEMONIC_LWPVAL) {
        first->read = true; /* a value for the event record (AMD 43724, section 4) */
        first->write = false;
    }
    form->x87_pushes = (int8_t)x87_pushes(form);
    second_mask_add(instruction, form);
    pointers_add(instruction, operands, form);
    int flags = isa_form_flags_operand(form);
    if (flags >= 0 && shifts_by_cl(instruction, form)) {
        flags_kept(form, flags);
    }
    compare_into_mask(form);
    stores_x87_state(instruction, form);
    if (flags >= 0) {
        flags_complete(instruction, form);
    }
    char type = form->floating ? 0 : floating_type(form->mnemonic);
    if (type != 0) {
        form->floating = true;
        form->element_bits = type == 'd' ? 64 : type == 'h' ? 16 : 32;
    }
}
