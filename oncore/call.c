/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/call.h"

#include <math.h>

#include "isa/decode.h"

static bool is_call(const struct core_instruction *instruction) {
    return instruction->cost->action == CORE_ACTION_CALL;
}

static bool is_return(const struct core_instruction *instruction) {
    return instruction->cost->action == CORE_ACTION_RETURN;
}

/* The RET that answers the CALL at i; NULL: it is elsewhere, as the callee is. */
static struct core_instruction *answer_find(const struct core_block *block, size_t i) {
    size_t depth = 1;
    for (size_t k = i + 1; k < block->count; k++) {
        depth += is_call(&block->items[k]) ? 1 : 0;
        if (is_return(&block->items[k]) && --depth == 0) {
            return &block->items[k];
        }
    }
    return NULL;
}

static double known_or_none(double cycles) {
    return isnan(cycles) ? 0.0 : cycles;
}

enum ip_status core_calls_find(struct core_block *block, struct core_costs *costs, struct ip_error *err) {
    static const uint8_t code[] = {0xc3};
    const struct core_cost *plain = NULL;
    for (size_t i = 0; i < block->count; i++) {
        struct core_instruction *to = &block->items[i], *answer = is_call(to) ? answer_find(block, i) : NULL;
        if (is_return(to)) {
            to->pair_cycles = known_or_none(to->cost->cycles);
        } else if (answer != NULL) {
            to->answered = answer->answered = true;
        } else if (is_call(to)) {
            struct isa_form form;
            size_t length = 0;
            enum ip_status status = isa_decode(code, sizeof code, &form, NULL, &length, err);
            status = status == IP_OK ? core_costs_get(costs, &form, &plain, err) : status;
            if (status != IP_OK) {
                return status;
            }
            to->pair_cycles = known_or_none(plain->cycles);
        }
    }
    return IP_OK;
}

double core_calls_cycles(const struct core_block *block) {
    double cycles = 0.0;
    for (size_t i = 0; i < block->count; i++) {
        cycles += block->items[i].pair_cycles;
    }
    return cycles;
}
