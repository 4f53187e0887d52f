/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_check.c - mixes that the inference did not use, chosen so that a wrong answer would show. */
#include <math.h>

#include "probe/usage_steps.h"

/* The widest set that the answer names: its uops could just as well go to a set that no class has, and that
 * only a union of two classes tells from it. */
static uint32_t widest_term(const struct probe_usage *result) {
    uint32_t widest = 0;
    for (unsigned t = 0; t < result->term_count; t++) {
        if (!result->terms[t].store && ports_in(result->terms[t].ports) > ports_in(widest)) {
            widest = result->terms[t].ports;
        }
    }
    return widest;
}

static bool may_block(const struct probe_usage_experiment *experiment) {
    bool known = isfinite(experiment->confined) || experiment->implied;
    return experiment->parts == 1 && known && !experiment->store;
}

/* Unions within that set, the larger the better; any other will do when there is none. */
static unsigned score_of(uint32_t both, uint32_t widest) {
    bool within = ports_within(both, widest) && both != widest;
    return within ? 2 * ports_in(both) : 1;
}

static bool is_chosen(const struct probe_usage_subject *subject, unsigned count, uint32_t both) {
    for (unsigned i = 0; i < count; i++) {
        if (subject->checks[i].target == both) {
            return true;
        }
    }
    return false;
}

int probe_usage_class_of(const struct probe_portmap *map, uint32_t ports) {
    for (unsigned c = 0; c < map->class_count; c++) {
        if (map->classes[c].ports == ports) {
            return (int)c;
        }
    }
    return -1;
}

bool probe_usage_union_is_known(const struct probe_portmap *map, uint32_t one, uint32_t other) {
    int a = probe_usage_class_of(map, one), b = probe_usage_class_of(map, other);
    for (unsigned s = 0; s < map->alternatives.count && a >= 0 && b >= 0; s++) {
        const uint32_t *sets = map->alternatives.sets[s];
        if (ports_in(sets[a] | sets[b]) != ports_in(one | other)) {
            return false;
        }
    }
    return true;
}

bool probe_usage_reads_flags(const struct probe_portmap *map,
                             const struct probe_usage_experiment *experiment) {
    int member = experiment->members[0];
    return member >= 0 && map->members[member].form->flags_read != 0;
}

/* Do conditional moves and others leave one port of a set that they share some with? Where uops wait for
 * blocked ports most of that set's do then (of `cwd` 2.9, none of which has to), and such a mix says nothing.
 */
static bool leaves_one(const struct probe_usage_subject *subject, const struct probe_portmap *map,
                       const struct probe_usage_experiment *experiment,
                       const struct probe_usage_experiment *other) {
    const uint32_t both = experiment->target | other->target;
    bool one = false;
    for (unsigned c = 0; c < map->class_count; c++) {
        uint32_t ports = map->classes[c].ports;
        one = one || (!probe_port_class_jumps(map, &map->classes[c]) && (ports & both) != 0 &&
                      ports_in(ports & ~both) == 1);
    }
    return one && (subject->delays != 0 || subject->binds_early) &&
           (probe_usage_reads_flags(map, experiment) || probe_usage_reads_flags(map, other));
}

static bool check_choose(struct probe_usage_subject *subject, const struct probe_portmap *map,
                         unsigned number, uint32_t widest, unsigned score_min) {
    const double ports_max = map->issue_width - 1;
    unsigned best = score_min - 1;
    struct probe_usage_experiment *check = &subject->checks[number];
    for (unsigned a = 0; a < subject->count; a++) {
        for (unsigned b = a + 1; b < subject->count; b++) {
            const struct probe_usage_experiment *one = &subject->experiments[a],
                                                *other = &subject->experiments[b];
            uint32_t both = one->target | other->target;
            unsigned score = score_of(both, widest);
            if (!may_block(one) || !may_block(other) || (one->target & other->target) != 0 || score <= best ||
                ports_in(both) > ports_max || leaves_one(subject, map, one, other) ||
                is_chosen(subject, number, both) ||
                !probe_usage_union_is_known(map, one->target, other->target)) {
                continue;
            }
            best = score;
            *check = (struct probe_usage_experiment){
                .target = both,
                .parts = 2,
                .delays = one->delays || other->delays,
                .wanted = subject->issue.least,
                .least = subject->issue.least,
                .kind = one->kind == PROBE_USAGE_GLANCED ? PROBE_USAGE_GLANCED : PROBE_USAGE_LOOKED,
                .members = {one->members[0], other->members[0]},
                .blocked = {{.ports = one->target}, {.ports = other->target}},
                .cycles = NAN,
                .confined = NAN};
        }
    }
    return best >= score_min;
}

void probe_usage_checks_choose(struct probe_usage_subject *subject, const struct probe_usage *result,
                               const struct probe_portmap *map) {
    uint32_t widest = widest_term(result);
    subject->check_count = 0;
    if (subject->renews) {
        return; /* what the renewals add to two sets at once is no simple sum */
    }
    while (subject->check_count < PROBE_USAGE_CHECKS &&
           check_choose(subject, map, subject->check_count, widest, subject->check_count == 0 ? 1 : 2)) {
        subject->check_count++;
    }
}
