/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_steps.h - the steps of probe_usage_measure, for probe/usage*.c only. */
#ifndef ISAPROBE_PROBE_USAGE_STEPS_H
#define ISAPROBE_PROBE_USAGE_STEPS_H

#include "generator/shapes.h"
#include "probe/usage.h"

enum {
    PROBE_USAGE_EXPERIMENTS = 32, /* of a form: one for each set */
    PROBE_USAGE_PARTS = GEN_PARTS_MAX - 1,
    PROBE_USAGE_CHECKS = 2,
    PROBE_USAGE_LOOKS = 5, /* at a doubtful reading; the middle one counts */
};

/* One of several measurements of an experiment, each with other numbers of instances. */
struct probe_usage_look {
    double blocked[PROBE_USAGE_PARTS];
    unsigned copies;
    double cycles, confined;
};

/* Blockers of a set, and what they took with and without the form. */
struct probe_usage_experiment {
    uint32_t target; /* the set that is saturated */
    bool store;
    bool based; /* its blockers do not always reach the rate of their ports: what they take is measured */
    struct probe_usage_term blocked[PROBE_USAGE_PARTS]; /* instances by set */
    int members[PROBE_USAGE_PARTS];                     /* positions in the map */
    unsigned parts; /* 0: the set cannot be saturated in the form's world */
    unsigned copies;
    size_t slot;
    size_t base_slot; /* of the same mix without the form, but with what renews its operands, or, when it is
                         `based`, with fewer instances of the form */
    unsigned base_copies;
    double cycles;   /* NaN: not measured */
    double confined; /* the form's µops that can go nowhere else */
    struct probe_usage_look looks[PROBE_USAGE_LOOKS];
    unsigned look_count, looks_wanted;
};

struct probe_usage_subject {
    struct isa_form *form;
    unsigned world;
    bool legacy;  /* legacy SSE: beside it only VEX instructions on xmm, which leave the upper halves clean */
    bool renews;  /* something stands before each instance, to renew what it uses up */
    double alone; /* cycles of an instance in a kernel of its own */
    double chain; /* cycles of a few instances, which the next few wait for: through the memory or register
                     that a form reads and writes */
    size_t slot, chain_slot, base_slot;
    unsigned nops;                                                      /* of the kernel for the slots */
    struct probe_usage_experiment experiments[PROBE_USAGE_EXPERIMENTS]; /* narrow sets first */
    unsigned count;
    struct probe_usage_experiment checks[PROBE_USAGE_CHECKS]; /* not used to infer */
    unsigned check_count;
};

static inline unsigned ports_in(uint32_t set) {
    return (unsigned)__builtin_popcount(set);
}

void probe_usage_give_up(struct probe_usage *result, enum probe_usage_verdict verdict, const char *why);

/* Fills the terms from the experiments. */
void probe_usage_infer(const struct probe_usage_subject *subject, struct probe_usage *result,
                       const struct probe_portmap *map);
/* Chooses mixes of the form with blockers of two sets at once; their sizes are still to be set. */
void probe_usage_checks_choose(struct probe_usage_subject *subject, const struct probe_usage *result,
                               const struct probe_portmap *map);
/* Do the terms give back every experiment, the checks, the throughput and the slots? */
void probe_usage_verify(const struct probe_usage_subject *subject, struct probe_usage *result,
                        const struct probe_portmap *map);

#endif
