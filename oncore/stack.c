/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/stack.c - the stack pointer. PUSH and POP move RSP by an adder at decode; what names RSP then needs
 * the sum, which takes an issue slot and comes later. Moves from RSP may be executed where others are done at
 * rename. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "oncore/cost_steps.h"
#include "oncore/stack.h"

static const char from_stack[] = " [rsp]";
/* So much later one more addition is in the way. */
static const double ADDITION = 0.5;

void core_stack_name(const struct core_costs *costs, struct isa_form *form,
                     const struct isa_binding *binding) {
    bool move = binding->reg[1] == CORE_RESOURCE_RSP &&
                (strcmp(form->syntax, "mov r64, r64") == 0 || strcmp(form->syntax, "mov r32, r32") == 0);
    if (move && probe_core_get(&costs->core, PROBE_CORE_STACK_MOVE) > ADDITION) {
        core_syntax_add(form, from_stack);
    }
}

enum ip_status core_stack_fill(struct core_costs *costs, struct core_cost *cost, bool *done,
                               struct ip_error *err) {
    *done = core_syntax_ends(cost->form.syntax, from_stack);
    if (!*done) {
        return IP_OK;
    }
    cost->slots = 1.0;
    cost->known = cost->latency_known = true;
    cost->source = CORE_SOURCE_COMPOSED;
    (void)snprintf(cost->why, sizeof cost->why, "from RSP, with the ports of an addition");
    cost->latencies[0] = (struct core_latency){
        .src = 1, .dst = 0, .cycles = (float)probe_core_get(&costs->core, PROBE_CORE_STACK_MOVE)};
    cost->latency_count = 1;
    return core_addition_ports(costs, cost, err);
}

void core_stack_read(struct core_instruction *to, bool hidden) {
    const struct isa_form *form = &to->cost->form;
    for (unsigned i = 0; i < form->operand_count && hidden; i++) {
        const struct isa_operand *op = &form->operands[i];
        const int number = op->reg >= 0 ? op->reg : to->binding.reg[i];
        bool rsp = op->kind == ISA_OPERAND_REG && op->write && isa_reg_is_gpr(op->reg_class) &&
                   op->reg_class != ISA_REG_GPR8H && number == CORE_RESOURCE_RSP;
        to->stack = to->stack || (rsp && op->implicit && op->read); /* LEAVE moves RBP there */
        to->loads_rsp = to->loads_rsp || (rsp && !op->implicit);
    }
    to->copies = to->stack && to->loads && to->stores;
}

bool core_moves_rsp(const struct core_instruction *instruction, unsigned t) {
    return instruction->stack && !instruction->loads_rsp && instruction->targets[t] == CORE_RESOURCE_RSP;
}

bool core_through_rsp(const struct core_instruction *instruction, bool store) {
    return instruction->stack &&
           (!instruction->copies || store == (instruction->cost->action != CORE_ACTION_POP));
}

static bool uses(const uint8_t *resources, unsigned count) {
    return memchr(resources, CORE_RESOURCE_RSP, count) != NULL;
}

static bool pushes_rsp(const struct core_instruction *of) {
    return of->cost->action == CORE_ACTION_PUSH && of->cost->form.explicit_count > 0 &&
           of->cost->form.operands[0].kind == ISA_OPERAND_REG && of->binding.reg[0] == CORE_RESOURCE_RSP;
}

/* Does it need the sum? PUSH of RSP does, which stores it. Moves do not, and LEA without an index: seen on a
 * Zen 4, where PUSH and `lea rax, [rsp+8]` in turns form no chain; nor need addresses, if the core says so.
 */
static bool names_sum(const struct core_instruction *of, bool addresses) {
    enum core_action action = of->cost->action;
    bool memory = of->loads || of->stores;
    bool copies = action == CORE_ACTION_MOVE || (action == CORE_ACTION_LEA && of->binding.address.index < 0);
    unsigned first = memory && !addresses ? of->address_count : 0;
    return pushes_rsp(of) ||
           (!of->stack && (memory || !copies) && uses(of->sources + first, of->source_count - first));
}

void core_stack_syncs_find(struct core_block *block, const struct core_costs *costs) {
    double sync = probe_core_get(&costs->core, PROBE_CORE_STACK_SYNC);
    bool addresses = !(probe_core_get(&costs->core, PROBE_CORE_STACK_SYNC_ADDRESS) < ADDITION / 2);
    block->stack_sync = isnan(sync) ? 0.0 : round(sync);
    bool moved = false;
    for (size_t pass = 0; pass < 2; pass++) { /* the first finds out how the block ends */
        for (size_t i = 0; i < block->count; i++) {
            struct core_instruction *to = &block->items[i];
            to->syncs = moved && names_sum(to, addresses);
            moved = (to->stack && !to->loads_rsp) ||
                    (moved && !to->syncs && !uses(to->targets, to->target_count));
        }
    }
    for (size_t i = 0; i < block->count; i++) {
        block->items[i].slots += block->items[i].syncs && block->stack_sync > 0.0 ? 1.0 : 0.0;
    }
}
