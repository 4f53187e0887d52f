/* SPDX-License-Identifier: Apache-2.0 */
#include "generator/x87.h"

#include "generator/abi.h"
#include "generator/pool.h"

/* How many registers from the top on the form changes by name. */
static unsigned changed_count(const struct isa_form *form) {
    unsigned count = 0;
    for (unsigned o = 0; o < form->operand_count; o++) {
        const struct isa_operand *operand = &form->operands[o];
        if (gen_operand_is_fixed(operand) && operand->reg_class == ISA_REG_X87 && operand->read &&
            operand->write && (unsigned)operand->reg + 1 > count) {
            count = (unsigned)operand->reg + 1;
        }
    }
    return count;
}

struct gen_x87_balance gen_x87_balance_of(const struct isa_form *form, bool fresh) {
    int pushes = form->x87_pushes;
    struct gen_x87_balance balance = {.loads = fresh ? changed_count(form) : 0};
    if (pushes < 0 && balance.loads < (unsigned)-pushes) {
        balance.loads = (unsigned)-pushes;
    }
    balance.pops = (unsigned)((int)balance.loads + pushes);
    balance.room = balance.loads + (pushes > 0 ? (unsigned)pushes : 0);
    return balance;
}

unsigned gen_x87_depth(const struct isa_form *const *forms, unsigned count) {
    unsigned room = 0;
    for (unsigned i = 0; i < count; i++) {
        struct gen_x87_balance balance = gen_x87_balance_of(forms[i], true);
        room = balance.room > room ? balance.room : room;
    }
    return GEN_X87_REGISTERS - room;
}

void gen_x87_load(struct ip_lines *lines) {
    ip_lines_printf(lines, "fld dword [abs 0x%x]", GEN_ARENA_X87);
}

void gen_x87_before(struct ip_lines *lines, const struct gen_x87_balance *balance, bool frees) {
    for (unsigned i = 0; i < balance->room && frees; i++) {
        ip_lines_printf(lines, "ffree st%u", GEN_X87_REGISTERS - 1 - i);
    }
    for (unsigned i = 0; i < balance->loads; i++) {
        gen_x87_load(lines);
    }
}

void gen_x87_after(struct ip_lines *lines, const struct gen_x87_balance *balance, bool frees) {
    for (unsigned i = 0; i < balance->pops && !frees; i++) {
        ip_lines_add(lines, "fstp st0");
    }
}

void gen_x87_init(struct ip_lines *lines, const struct isa_form *const *forms, unsigned count,
                  bool slow_values) {
    unsigned depth = gen_x87_depth(forms, count);
    if (slow_values) {
        ip_lines_printf(lines, "mov dword [abs 0x%x], 0x3f9d70b3", GEN_ARENA_X87);
        for (unsigned i = 0; i < depth; i++) {
            gen_x87_load(lines);
        }
        ip_lines_printf(lines, "mov dword [abs 0x%x], 0x3fd5a2f7", GEN_ARENA_X87);
        return;
    }
    if (depth < GEN_X87_REGISTERS) {
        ip_lines_printf(lines, "mov dword [abs 0x%x], 0x3f800000", GEN_ARENA_X87);
    }
    for (unsigned i = 0; i < depth; i++) {
        ip_lines_add(lines, "fld1");
    }
}

void gen_x87_renew(struct ip_lines *lines) {
    static const struct gen_x87_balance one = {.loads = 1, .pops = 1, .room = 1};
    gen_x87_before(lines, &one, true);
}
