/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_halves.c - cores that execute 512 bits in two halves (Zen 4): one uop holds its port for two
 * cycles. */
#include <math.h>

#include "probe/usage_steps.h"

double probe_usage_slot_uops_most(const struct probe_usage_subject *subject, const struct probe_usage *result,
                                  const struct probe_portmap *map) {
    bool same = false, differ = false, halves = subject->world == PROBE_PORTS_WIDE || result->slower;
    for (unsigned c = 0; c < map->class_count; c++) {
        const int *blocker = map->classes[c].blocker;
        same = same || (blocker[2] >= 0 && blocker[2] == blocker[1]);
        differ = differ || (blocker[1] >= 0 && blocker[2] >= 0 && blocker[2] != blocker[1]);
    }
    for (unsigned i = 0; i < subject->form->operand_count; i++) {
        halves = halves || subject->form->operands[i].reg_class == ISA_REG_MASK;
    }
    return same && !differ && halves ? 2 : 1;
}

bool probe_usage_halves_fit(const struct probe_usage_subject *subject, const struct probe_usage *result,
                            const struct probe_portmap *map) {
    double computing = 0;
    bool whole = true;
    for (unsigned t = 0; t < result->term_count; t++) {
        const struct probe_usage_term *term = &result->terms[t];
        if (!term->store && !probe_usage_is_load(map, term->ports)) {
            computing += term->uops;
            whole = whole && fmod(term->uops, 2) == 0;
        }
    }
    bool halves = probe_usage_slot_uops_most(subject, result, map) > 1 && computing > round(result->slots);
    return !halves || whole;
}

void probe_usage_halves_join(const struct probe_usage_subject *subject, struct probe_usage *result,
                             const struct probe_portmap *map) {
    struct probe_usage_term *inner = NULL, *outer = NULL;
    unsigned computing = 0;
    for (unsigned t = 0; t < result->term_count; t++) {
        struct probe_usage_term *term = &result->terms[t];
        if (term->store) {
            return;
        }
        if (!probe_usage_is_load(map, term->ports)) {
            computing++;
            inner = outer;
            outer = term;
        }
    }
    bool nested = computing == 2 && ports_within(inner->ports, outer->ports);
    bool one_slot = !(result->slots >= 1.5); /* or not known */
    if (nested && one_slot && subject->world == PROBE_PORTS_WIDE &&
        probe_usage_slot_uops_most(subject, result, map) > 1) {
        outer->uops += inner->uops;
        result->term_count--;
        for (struct probe_usage_term *at = inner; at < result->terms + result->term_count; at++) {
            at[0] = at[1];
        }
    }
}
