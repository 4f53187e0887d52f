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
    PROBE_USAGE_READINGS =
        15, /* cheap looks at an experiment, at most; of one for which these are too vague */
    PROBE_USAGE_MEASUREMENTS = 7, /* so many measurements */
};

/* Blockers of a set, and what they took with and without the form. */
struct probe_usage_experiment {
    uint32_t target; /* the set that is saturated; 0: the issue, by NOPs */
    bool store, load;
    bool based; /* its blockers do not always reach the rate of their ports: what they take is measured */
    struct probe_usage_term blocked[PROBE_USAGE_PARTS]; /* instances by set */
    int members[PROBE_USAGE_PARTS];                     /* positions in the map */
    unsigned parts; /* 0: the set cannot be saturated in the form's world */
    unsigned copies;
    size_t slot;
    size_t base_slot; /* of the same mix without the form, but with what renews its operands, or, when it is
                         `based`, with fewer instances of the form */
    unsigned base_copies;
    double cycles;                         /* of the mix, as the readings have it; NaN: not measured */
    double confined;                       /* the form's µops that can go nowhere else, by all readings */
    double readings[PROBE_USAGE_READINGS]; /* of `confined`, each with other numbers of instances, in order */
    unsigned reading_count;
    unsigned tries; /* with and without a reading, of this kind */
    unsigned least; /* readings wanted in any case */
    bool measured;  /* the readings are measurements; else cheap looks */
    bool wanted;    /* one more reading */
};

struct probe_usage_subject {
    struct isa_form *form;
    unsigned world;
    bool legacy;  /* legacy SSE: beside it only VEX instructions on xmm, which leave the upper halves clean */
    bool renews;  /* something stands before each instance, to renew what it uses up */
    double alone; /* cycles of an instance in a kernel of its own */
    double chain; /* cycles of a few instances, which the next few wait for: through the memory or register
                     that a form reads and writes */
    size_t slot, chain_slot;
    struct probe_usage_experiment issue; /* beside NOPs: how many issue slots */
    struct probe_usage_experiment experiments[PROBE_USAGE_EXPERIMENTS]; /* narrow sets first */
    unsigned count;
    struct probe_usage_experiment checks[PROBE_USAGE_CHECKS]; /* not used to infer */
    unsigned check_count;
};

static inline unsigned ports_in(uint32_t set) {
    return (unsigned)__builtin_popcount(set);
}

void probe_usage_give_up(struct probe_usage *result, enum probe_usage_verdict verdict, const char *why);

/* -- probe/usage_plan.c: which blockers stand beside a form, and how many ------------------------------- */

void probe_usage_subject_init(struct probe_usage_subject *subject, struct isa_form *form);
/* A member of class `number` of the map that may stand beside the form (position in the map); -1: none. */
int probe_usage_blocker(const struct probe_usage_subject *subject, const struct probe_portmap *map,
                        unsigned number);
/* The experiment that finds the issue slots. */
void probe_usage_issue_plan(struct probe_usage_subject *subject);
/* One experiment for each set that may have µops of the form. */
void probe_usage_experiments_plan(struct probe_usage_subject *subject, const struct probe_usage *result,
                                  const struct probe_portmap *map);
/* Sets the numbers of instances for the next reading; each has a rhythm of its own. */
void probe_usage_experiment_size(struct probe_usage_experiment *experiment,
                                 const struct probe_usage_subject *subject, const struct probe_usage *result,
                                 const struct probe_portmap *map);

/* -- probe/usage_readings.c: what several readings of one experiment say, and whether there should be more */

/* Once the first sizes are set: an experiment for which looks are too vague is measured. */
void probe_usage_experiment_begin(struct probe_usage_experiment *experiment);
/* `rate`: µops (or slots) a cycle of the target. A NaN is a try without a reading. */
void probe_usage_reading_add(struct probe_usage_experiment *experiment, double confined, double rate);
/* By so many µops the readings may be wrong. */
double probe_usage_error(const struct probe_usage_experiment *experiment);
/* Did most tries give a reading? A reading that survived where most were spoilt is spoilt itself. */
bool probe_usage_believed(const struct probe_usage_experiment *experiment);
/* Sets `wanted`. */
void probe_usage_reading_judge(struct probe_usage_experiment *experiment);
/* More readings of all experiments. Returns false where there were enough. */
bool probe_usage_look_again(struct probe_usage_subject *subject);

/* -- probe/usage_infer.c, probe/usage_check.c ----------------------------------------------------------- */

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
