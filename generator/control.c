/* SPDX-License-Identifier: Apache-2.0 */
/* Near calls and returns, and jumps through a register or memory: each goes to what stands behind it. */
#include "generator/control.h"

#include <stdio.h>
#include <string.h>

#include "generator/abi.h"
#include "generator/operands.h"

/* Lengths of the lines below. They are the same wherever a line stands, and so are the distances. */
enum {
    LEA_BYTES = 7,
    STORE_BYTES = 7,
    THROUGH_REGISTER_BYTES = 2,
    THROUGH_MEMORY_BYTES = 7,
    CALL_BYTES = 5,
    JUMP_BYTES = 2,
    TARGET_DISP = 0x400, /* from the base: needs four bytes, as reckoned above */
    TARGET_STRIDE = 64,
    RETURN_POPS = 8, /* RET imm16: each return takes so much more off the stack */
};

/* Registers whose names need no prefix in a jump; none of them is the base, the counter or RSP. */
static const uint8_t targets[] = {0, 1, 2, 3, 6, 7};
enum { TARGET_COUNT = sizeof targets / sizeof targets[0] };

/* NOPs that are so many bytes long in all. */
static void leapt_add(struct ip_lines *unit, unsigned bytes) {
    static const char *const nops[] = {/* of one byte, two ... */
                                       "nop",
                                       "o16 nop",
                                       "nop dword [rax]",
                                       "nop dword [rax+8]",
                                       "nop dword [rax+rax+8]",
                                       "nop word [rax+rax+8]",
                                       "nop dword [rax+0x200]",
                                       "nop dword [rax+rax+0x200]",
                                       "nop word [rax+rax+0x200]"};
    const unsigned most = sizeof nops / sizeof nops[0];
    for (unsigned length; bytes > 0; bytes -= length) {
        length = bytes < most ? bytes : most;
        ip_lines_add(unit, nops[length - 1]);
    }
}

static bool is_called(const struct isa_form *form, const char *mnemonic) {
    return strcmp(form->mnemonic, mnemonic) == 0;
}

bool gen_form_is_return(const struct isa_form *form) {
    return is_called(form, "ret");
}

bool gen_form_branches(const struct isa_form *form) {
    for (unsigned i = 0; i < form->explicit_count; i++) {
        if (form->operands[i].kind == ISA_OPERAND_REL) {
            return true;
        }
    }
    return is_called(form, "call") || is_called(form, "jmp") || gen_form_is_return(form);
}

bool gen_form_branches_on_flags(const struct isa_form *form) {
    return gen_form_branches(form) && form->flags_read != 0;
}

bool gen_form_jumps_on_flags(const struct isa_form *form) {
    return form->mnemonic[0] == 'j' && gen_form_branches_on_flags(form);
}

bool gen_form_needs_target(const struct isa_form *form) {
    bool relative = form->explicit_count == 1 && form->operands[0].kind == ISA_OPERAND_REL;
    return is_called(form, "call") || gen_form_is_return(form) || (is_called(form, "jmp") && !relative);
}

/* More than `length` bytes: a call of the very next instruction is no call to CPUs, it only asks where it is.
 */
static unsigned strides(unsigned length) {
    return (length / GEN_BRANCH_STRIDE + 1) * GEN_BRANCH_STRIDE;
}

/* Through a register or memory: the address is computed first, which does not wait for anything. */
static enum ip_status indirect_add(struct gen_program *program, const struct isa_form *form, unsigned i,
                                   struct ip_error *err) {
    bool memory = form->operands[0].kind == ISA_OPERAND_MEM;
    unsigned length = LEA_BYTES + (memory ? STORE_BYTES + THROUGH_MEMORY_BYTES : THROUGH_REGISTER_BYTES);
    unsigned distance = strides(length);
    struct isa_binding binding;
    memset(&binding, 0, sizeof binding);
    binding.reg[0] = targets[i % TARGET_COUNT];
    binding.address = (struct isa_address){
        .base = GEN_REG_BASE, .index = -1, .scale = 1, .disp = TARGET_DISP + (int32_t)(i * TARGET_STRIDE)};
    const char *reg = isa_reg_name(ISA_REG_GPR64, targets[i % TARGET_COUNT]);
    char line[ISA_LINE_MAX];
    enum ip_status status = isa_form_print(form, &binding, line, err);
    if (status == IP_OK) {
        ip_lines_printf(&program->unit, "lea %s, [rel $+%u]", reg, distance);
        if (memory) {
            ip_lines_printf(&program->unit, "mov [%s+%d], %s", isa_reg_name(ISA_REG_GPR64, GEN_REG_BASE),
                            (int)binding.address.disp, reg);
        }
        ip_lines_add(&program->unit, line);
        leapt_add(&program->unit, distance - length);
    }
    return status;
}

/* Calls of a return that stands in front of them: a return is predicted only where it answers a call. */
static enum ip_status returns_add(struct gen_program *program, const struct isa_form *form, unsigned count,
                                  struct ip_error *err) {
    struct isa_binding binding;
    memset(&binding, 0, sizeof binding);
    bool pops = form->explicit_count > 0;
    binding.imm[0] = RETURN_POPS;
    char line[ISA_LINE_MAX];
    enum ip_status status = isa_form_print(form, &binding, line, err);
    if (status == IP_OK) {
        unsigned bytes = pops ? 3 : 1;
        ip_lines_printf(&program->unit, "jmp short $+%u", JUMP_BYTES + bytes);
        ip_lines_add(&program->unit, line);
        for (unsigned i = 0; i < count; i++) {
            ip_lines_printf(&program->unit, "call $-%u", bytes + CALL_BYTES * i);
        }
    }
    return status;
}

enum ip_status gen_relative_add(struct ip_lines *unit, const struct isa_form *form, unsigned count,
                                bool taken, struct ip_error *err) {
    struct isa_binding binding;
    memset(&binding, 0, sizeof binding);
    binding.leaps = (uint8_t)(taken ? GEN_BRANCH_STRIDE - isa_branch_bytes(form) : 0);
    char line[ISA_LINE_MAX];
    enum ip_status status = isa_form_print(form, &binding, line, err);
    for (unsigned i = 0; i < count && status == IP_OK; i++) {
        ip_lines_add(unit, line);
        leapt_add(unit, binding.leaps);
    }
    return status;
}

enum ip_status gen_control_add(struct gen_program *program, const struct isa_form *form, unsigned count,
                               struct ip_error *err) {
    if (gen_form_is_return(form) || is_called(form, "call")) {
        program->uses |= GEN_USES_STACK;
    }
    if (gen_form_is_return(form)) {
        enum ip_status status = returns_add(program, form, count, err);
        gen_stack_reset(&program->unit);
        return status;
    }
    const bool relative = isa_branch_bytes(form) != 0;
    enum ip_status status = relative ? gen_relative_add(&program->unit, form, count, true, err) : IP_OK;
    for (unsigned i = 0; i < count && status == IP_OK && !relative; i++) {
        status = indirect_add(program, form, i, err);
    }
    if (is_called(form, "call")) {
        gen_stack_reset(&program->unit);
    }
    return status;
}
