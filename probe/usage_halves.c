/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_halves.c - cores that execute 512 bits in two halves (Zen 4): one uop holds its port for two
 * cycles. */
#include <math.h>

#include "probe/usage_steps.h"

/* What a set reads that has both halves, and one that has none. */
static const double BOTH_LEAST = 1.65, BOTH_MOST = 3.7, WAY_LEAST = 0.35, WAY_MOST = 1.3;

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

/* Vectors that it reads, what it merges into among them. */
static unsigned vectors_read(const struct isa_form *form) {
    unsigned count = 0;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        bool read = operand->read || operand->cond_write;
        bool vector = operand->kind == ISA_OPERAND_REG && isa_reg_is_vector(operand->reg_class);
        count += read && (vector || operand->kind == ISA_OPERAND_MEM);
    }
    return count;
}

static bool tells(const struct probe_usage_subject *subject, const struct probe_usage_experiment *experiment,
                  const struct probe_portmap *map) {
    return isfinite(experiment->confined) && probe_usage_is_of_ports(subject, experiment, map);
}

/* The ports of the narrowest set that reads both halves; 0: there is none, or there are two. */
static uint32_t both_halves(const struct probe_usage_subject *subject, const struct probe_portmap *map) {
    uint32_t narrowest = 0;
    bool alone = false;
    /* They go from narrow sets to wide ones. */
    for (unsigned e = 0; e < subject->count; e++) {
        const struct probe_usage_experiment *experiment = &subject->experiments[e];
        uint32_t target = experiment->target;
        if (!tells(subject, experiment, map) || experiment->confined < BOTH_LEAST) {
            continue;
        }
        alone = narrowest == 0 || (alone && ports_in(target) > ports_in(narrowest));
        narrowest = narrowest == 0 ? target : narrowest;
    }
    return alone ? narrowest : 0;
}

bool probe_usage_halves_of_three(const struct probe_usage_subject *subject, struct probe_usage *result,
                                 const struct probe_portmap *map) {
    bool such = subject->world == PROBE_PORTS_WIDE && probe_usage_slot_uops_most(subject, result, map) > 1 &&
                vectors_read(subject->form) >= 3 && !(result->slots >= 1.5) && !subject->holds_unit;
    uint32_t ports = such ? both_halves(subject, map) : 0;
    bool fits = ports != 0, others = false;
    for (unsigned e = 0; e < subject->count && fits; e++) {
        const struct probe_usage_experiment *experiment = &subject->experiments[e];
        double confined = experiment->confined;
        if (tells(subject, experiment, map)) {
            bool holds = ports_within(ports, experiment->target);
            fits = holds ? confined >= BOTH_LEAST && confined <= BOTH_MOST : confined <= WAY_MOST;
            others = others || (!holds && confined >= WAY_LEAST);
        }
    }
    if (!fits || !others) {
        return false;
    }
    unsigned kept = 0;
    for (unsigned t = 0; t < result->term_count; t++) {
        bool memory = result->terms[t].store || probe_usage_is_load(map, result->terms[t].ports);
        result->terms[kept] = result->terms[t];
        kept += memory;
    }
    result->terms[kept++] = (struct probe_usage_term){.ports = ports, .uops = 2};
    result->term_count = kept;
    return true;
}
