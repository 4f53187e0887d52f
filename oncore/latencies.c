/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/latencies.h"

#include <math.h>
#include <stddef.h>

#include "generator/operands.h"
#include "oncore/cost_steps.h"
#include "oncore/stack.h"

/* Cycles where the tables know none: what most operations take. */
static const float DEFAULT_CYCLES = 1.0f;
static const float NEARLY_WHOLE = 0.2f;

float core_cycles_round(float cycles) {
    float whole = roundf(cycles);
    return fabsf(cycles - whole) < NEARLY_WHOLE ? whole : cycles;
}

/* The latency that was measured from operand s to operand d; NULL: none was. */
static const struct core_latency *pair_find(const struct core_cost *cost, int s, int d, bool address,
                                            bool index) {
    for (unsigned i = 0; i < cost->latency_count; i++) {
        const struct core_latency *pair = &cost->latencies[i];
        if ((pair->address || pair->index) == address && pair->src == s && pair->dst == d &&
            (!index || pair->index)) {
            return pair;
        }
    }
    return NULL;
}

/* Cycles from operand s to operand d, -INFINITY where d does not wait for s; where the pair was not measured,
 * the longest that was, to that operand or at all. `address`: from a register of the address; `own`: from the
 * destination's own register, named by another operand. */
static float pair_cycles(const struct core_cost *cost, int s, int d, bool address, bool index, bool own) {
    const struct core_latency *found = pair_find(cost, s, d, address, index);
    if (found != NULL) {
        return core_cycles_round(own ? found->cycles - found->own_less : found->cycles);
    }
    float to_target = -1.0f, any = -1.0f;
    for (unsigned i = 0; i < cost->latency_count; i++) {
        const struct core_latency *pair = &cost->latencies[i];
        if ((pair->address || pair->index) == address) {
            to_target = pair->dst == d ? fmaxf(to_target, pair->cycles) : to_target;
            any = fmaxf(any, pair->cycles);
        }
    }
    return core_cycles_round(to_target >= 0.0f ? to_target : any);
}

static float load_cycles(const struct core_block *block) {
    return isnan(block->load_cycles) ? 0.0f : (float)block->load_cycles;
}

/* From the address to operand d, of memory that the form names: no register need make the address. */
static float through_load(const struct core_instruction *to, int d, float load) {
    const bool named = to->loads && to->memory >= 0 && !to->cost->form.operands[to->memory].implicit;
    return named ? fmaxf(load, pair_cycles(to->cost, to->memory, d, true, false, false)) : load;
}

/* Does it write a general register within a cycle or two of its operands? */
static bool writes_at_once(const struct core_instruction *instruction) {
    static const float at_once = 2.5f;
    for (unsigned t = 0; t < instruction->target_count; t++) {
        float soonest = INFINITY;
        for (unsigned s = instruction->address_count; s < instruction->source_count; s++) {
            float cycles = instruction->latency[t][s];
            soonest = cycles >= 0.0f ? fminf(soonest, cycles) : soonest;
        }
        bool later = soonest < INFINITY && soonest > at_once; /* of nothing it is there at once */
        if (instruction->targets[t] < CORE_RESOURCE_VECTOR && !later) {
            return true;
        }
    }
    return false;
}

/* What a load takes longer from an address with an index: less, or nothing, where that is two registers
 * alone. */
static float index_more(const struct core_costs *costs, const struct core_instruction *to) {
    const struct isa_address *address = &to->binding.address;
    if (!to->loads || to->memory < 0 || address->index < 0 || core_through_rsp(to, false)) {
        return 0.0f;
    }
    bool sum = address->scale == 1 && !address->number;
    double more = probe_core_get(&costs->core, sum ? PROBE_CORE_LOAD_INDEX_UNSCALED : PROBE_CORE_LOAD_INDEX) -
                  probe_core_get(&costs->core, PROBE_CORE_LOAD_BASE);
    return isnan(more) ? 0.0f : (float)fmax(0.0, round(more));
}

void core_latencies_fill(const struct core_costs *costs, const struct core_block *block,
                         const struct core_reading *reading) {
    struct core_instruction *to = reading->to;
    const struct core_cost *cost = to->cost;
    float load = load_cycles(block);
    to->to_store = (float)cost->stored;
    to->index_more = index_more(costs, to);
    for (unsigned t = 0; t < to->target_count; t++) {
        int d = reading->target_operand[t];
        to->through_load[t] = through_load(to, d, load);
        /* A gather's mask is zero afterwards, whatever it was: no chain goes on through it. */
        const bool consumed = gen_operand_is_consumed(&cost->form, (unsigned)d);
        for (unsigned s = 0; s < to->source_count; s++) {
            bool address = s < to->address_count;
            bool own = !address && to->sources[s] == to->targets[t];
            const int o = reading->source_operand[s];
            const bool apart =
                consumed || (!address && gen_pointer_moves_alone(&cost->form, (unsigned)o, (unsigned)d));
            float cycles = apart ? -INFINITY : pair_cycles(cost, o, d, address, reading->index[s], own);
            const struct core_latency *pair = pair_find(cost, o, d, address, reading->index[s]);
            to->late |= pair != NULL && pair->late ? (uint16_t)(1u << s) : 0;
            const bool kept = reading->merges[s] && own; /* no other register has the rest */
            if (cycles == -INFINITY && !kept) {
                to->latency[t][s] = cycles;
                continue;
            }
            if (address && to->loads) {
                cycles = cycles >= 0.0f ? cycles : load + (to->stores ? DEFAULT_CYCLES : 0.0f);
                to->through_load[t] = fmaxf(to->through_load[t], cycles);
                cycles += to->index_more;
            } else if (cycles < 0.0f) {
                cycles = address || !to->loads ? DEFAULT_CYCLES
                                               : fmaxf(DEFAULT_CYCLES, to->through_load[t] - load);
                cycles = cost->eliminated >= 0.0 ? 0.0f : cycles;
            }
            /* What takes part in less than a cycle does not take part: a shift by CL passes the flags on, by
             * a µop of its own. */
            bool flags = to->sources[s] >= CORE_RESOURCE_CARRY;
            bool idle = flags && !address && cost->eliminated < 0.0 && cycles < 0.5f;
            bool merges = kept && (cycles <= 0.0f || pair_find(cost, o, d, false, false) == NULL);
            to->latency[t][s] = merges ? DEFAULT_CYCLES : idle ? -INFINITY : cycles;
        }
        if (to->loads && to->stores) {
            to->to_store = fmaxf(to->to_store, fmaxf(DEFAULT_CYCLES, to->through_load[t] - load));
        }
    }
    if (to->loads && to->stores && to->target_count == 0) {
        to->to_store = DEFAULT_CYCLES;
    }
    to->to_store = to->copies ? 0.0f : to->to_store;
    to->at_once = writes_at_once(to);
    /* LEAVE: RBP is the address of what goes to RBP, and goes to RSP. */
    for (unsigned t = 0; t < to->target_count && cost->action == CORE_ACTION_LEAVE; t++) {
        const bool pointer = to->targets[t] == CORE_RESOURCE_RSP;
        for (unsigned s = 0; s < to->source_count; s++) {
            const bool apart = pointer == (s < to->address_count);
            to->latency[t][s] = apart ? -INFINITY : pointer ? DEFAULT_CYCLES : load;
        }
    }
    /* The stack pointer is moved at decode, by an adder of its own. */
    for (unsigned t = 0; t < to->target_count && to->stack; t++) {
        for (unsigned s = 0; s < to->source_count; s++) {
            if (core_moves_rsp(to, t)) {
                to->latency[t][s] = to->sources[s] == CORE_RESOURCE_RSP ? 0.0f : -INFINITY;
            } else if (to->sources[s] == CORE_RESOURCE_RSP && to->loads) {
                to->latency[t][s] = load;
            }
        }
    }
}
