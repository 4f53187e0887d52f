/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/form.h"

#include <stdio.h>
#include <string.h>

#include "isa/kind.h"

/* String instructions with two: what MOVS writes is at RDI, and what CMPS reads second. */
static const char *implicit_memory_name(const struct isa_form *form, unsigned operand) {
    unsigned others = 0;
    bool at_rdi = form->operands[operand].write;
    for (unsigned i = form->explicit_count; i < form->operand_count; i++) {
        if (i != operand && form->operands[i].kind == ISA_OPERAND_MEM) {
            at_rdi = at_rdi || (i < operand && !form->operands[i].write);
            others++;
        }
    }
    return others != 1 ? "mem" : at_rdi ? "mem_rdi" : "mem_rsi";
}

const char *isa_operand_name(const struct isa_form *form, unsigned operand, char *buffer) {
    const struct isa_operand *op = &form->operands[operand];
    const char *name = NULL;
    if (operand < form->explicit_count) {
        snprintf(buffer, 16, "op%u", operand + 1);
        return buffer;
    }
    if (op->kind == ISA_OPERAND_FLAGS) {
        name = "flags";
    } else if (op->kind == ISA_OPERAND_MEM || op->kind == ISA_OPERAND_AGEN) {
        name = implicit_memory_name(form, operand);
    } else if (op->beside) {
        name = "k+1";
    } else if (op->kind == ISA_OPERAND_REG && op->reg >= 0) {
        enum isa_reg_class reg_class = op->reg_class;
        unsigned number = (unsigned)op->reg;
        /* Partial registers go by the name of the whole: "ah" is a part of rax, number 0. */
        if (isa_reg_is_gpr(reg_class))
            reg_class = ISA_REG_GPR64;
        name = isa_reg_name(reg_class, number);
    }
    snprintf(buffer, 16, "%s", name != NULL ? name : "other");
    return buffer;
}

bool isa_form_is_nop(const struct isa_form *form) {
    return strcmp(form->mnemonic, "nop") == 0;
}

bool isa_form_clears_vectors(const struct isa_form *form) {
    return strcmp(form->mnemonic, "vzeroall") == 0;
}

int isa_form_memory_operand(const struct isa_form *form) {
    for (int i = 0; i < form->operand_count; i++) {
        if (form->operands[i].kind == ISA_OPERAND_MEM)
            return i;
    }
    return -1;
}

int isa_form_beside_operand(const struct isa_form *form) {
    for (int i = form->explicit_count; i < form->operand_count; i++) {
        if (form->operands[i].beside)
            return i;
    }
    return -1;
}

uint32_t isa_form_flags_defined(const struct isa_form *form) {
    return form->flags_written & ~form->flags_undefined;
}

int isa_form_flags_operand(const struct isa_form *form) {
    for (int i = 0; i < form->operand_count; i++) {
        if (form->operands[i].kind == ISA_OPERAND_FLAGS)
            return i;
    }
    return -1;
}

unsigned isa_form_vector_bits(const struct isa_form *form) {
    unsigned widest = 0;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *op = &form->operands[i];
        unsigned bits = 0;
        switch (op->reg_class) {
        case ISA_REG_MMX:
            bits = 64;
            break;
        case ISA_REG_XMM:
            bits = 128;
            break;
        case ISA_REG_YMM:
            bits = 256;
            break;
        case ISA_REG_ZMM:
            bits = 512;
            break;
        default:
            if (op->kind == ISA_OPERAND_MEM && (op->bits == 128 || op->bits == 256 || op->bits == 512) &&
                (form->vex || form->evex))
                bits = op->bits;
        }
        if (bits > widest)
            widest = bits;
    }
    return widest;
}

void isa_binding_init(const struct isa_form *form, struct isa_binding *binding) {
    /* rsi as the base: it needs no REX prefix, which would exclude ah..bh. */
    static const uint8_t gpr[] = {3, 1, 2, 7, 0, 5};
    unsigned used = 0;
    memset(binding, 0, sizeof *binding);
    binding->address.base = 6;
    binding->address.index = -1;
    binding->address.scale = 1;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *op = &form->operands[i];
        if (op->kind == ISA_OPERAND_IMM) {
            binding->imm[i] = op->bits == 8    ? 0x11
                              : op->bits == 16 ? 0x1234
                              : op->bits == 32 ? 0x12345678
                                               : 0x1122334455667788;
        } else if (op->kind == ISA_OPERAND_MEM && op->reg_class != ISA_REG_NONE) {
            binding->address.index = 7;
        } else if (op->kind == ISA_OPERAND_REG) {
            if (op->reg >= 0)
                binding->reg[i] = (uint8_t)op->reg;
            else if (isa_reg_is_gpr(op->reg_class))
                binding->reg[i] = gpr[used % sizeof gpr];
            else if (op->reg_class == ISA_REG_MASK)
                binding->reg[i] = op->mask ? 1 : (uint8_t)(2 + used % 6);
            else if (op->reg_class == ISA_REG_SEGMENT)
                binding->reg[i] = 3; /* ds */
            else if (op->reg_class == ISA_REG_OTHER)
                binding->reg[i] = 0;
            else
                binding->reg[i] = (uint8_t)(1 + used % 6);
            used += op->mask ? 0 : 1;
        }
    }
    /* r8h holds numbers 0..3 only. */
    for (unsigned i = 0; i < form->explicit_count; i++) {
        if (form->operands[i].kind == ISA_OPERAND_REG && form->operands[i].reg_class == ISA_REG_GPR8H)
            binding->reg[i] &= 3;
    }
}

static bool address_equal(const struct isa_address *a, const struct isa_address *b) {
    return a->base == b->base && a->index == b->index && a->disp == b->disp &&
           (a->index < 0 || a->scale == b->scale);
}

bool isa_binding_equal(const struct isa_form *form, const struct isa_binding *a,
                       const struct isa_binding *b) {
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *op = &form->operands[i];
        uint64_t low = op->bits == 0 || op->bits >= 64 ? UINT64_MAX : (UINT64_C(1) << op->bits) - 1;
        switch (op->kind) {
        case ISA_OPERAND_REG:
            if (op->reg < 0 && a->reg[i] != b->reg[i])
                return false;
            break;
        case ISA_OPERAND_IMM:
            if (!op->imm_fixed && (((uint64_t)a->imm[i] ^ (uint64_t)b->imm[i]) & low) != 0)
                return false;
            break;
        case ISA_OPERAND_MEM:
        case ISA_OPERAND_AGEN:
            if (!op->absolute && !address_equal(&a->address, &b->address))
                return false;
            break;
        default:
            break;
        }
    }
    return true;
}
