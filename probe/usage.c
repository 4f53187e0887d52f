/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/usage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/stats.h"
#include "probe/portmap_steps.h"
#include "probe/usage_steps.h"

enum {
    CHUNK = 64, /* forms that are measured together */
    ALONE_INSTANCES = 24,
    CHAIN_INSTANCES = 8,
    STORE_STRIDE = 64, /* a line for each store: some CPUs write two to one line at once, but not to two */
    STORES = 64,
    BIAS_CYCLES = 32, /* of blockers alone */
    BIAS_CLASSES_LEAST = 3,
    BIAS_TIMES = 5,
    ROUNDS = PROBE_USAGE_READINGS,
};

static const double BIAS_MOST = 0.03;
static const double SLOTS_ERROR = 0.4;

/* What was measured with looks, and with measurements: their low quantiles are not equally low. */
enum kind { LOOKED, MEASURED, KINDS };

struct user {
    const struct hx_meter *meter;
    struct gen_encoder *encoder;
    const struct probe_portmap *map;
    double bias[KINDS];  /* cycles that are measured for one that is taken, by blockers alone */
    double store_cycles; /* of a store that shares its line with none before or behind it */
    const struct probe_throughput *throughputs;
    struct probe_usage_subject *subjects;
    struct probe_usage *results;
    size_t count;
};

static enum ip_status batch_run(const struct user *user, struct probe_batch *batch, enum kind kind,
                                struct ip_error *err) {
    batch->looks = kind == LOOKED ? PROBE_MIX_LOOKS : 0;
    return batch->count > 0 ? probe_batch_measure(batch, user->meter, user->encoder, err) : IP_OK;
}

/* -- The form alone ----------------------------------------------------------------------------------- */

/* Does anything stand before an instance? */
static bool form_renews(const struct isa_form *form) {
    const struct gen_part part = {.form = form, .count = 1, .how = {.renewals_only = true}};
    struct gen_program program;
    struct ip_error ignored; /* what cannot be mixed is told when it is measured */
    if (gen_mix_program(&program, &part, 1, &ignored) != IP_OK) {
        return false;
    }
    bool renews = program.unit.count > 0;
    gen_program_fini(&program);
    return renews;
}

/* How long an instance takes alone, for the sizes of what follows: a look will do. */
static void alone_read(struct probe_usage_subject *subject, const struct probe_throughput *throughput,
                       const struct probe_batch *batch, struct probe_usage *result) {
    subject->alone = probe_mix_cycles(batch, subject->slot) / ALONE_INSTANCES;
    subject->chain = probe_mix_cycles(batch, subject->chain_slot);
    if (!isfinite(subject->alone)) {
        subject->alone = throughput->plain_cycles;
    }
    if (!isfinite(subject->chain)) {
        subject->chain = CHAIN_INSTANCES * subject->alone;
    }
    bool trusted = throughput->measured && throughput->verdict == HX_VERDICT_OK;
    result->cycles = trusted ? throughput->cycles : NAN;
    result->stat = throughput->stat;
    if (subject->slot == SIZE_MAX) {
        probe_usage_give_up(result, PROBE_USAGE_UNKNOWN, "it cannot stand in a mix of independent instances");
        return;
    }
    const struct hx_stat *stat = &batch->stats[subject->slot];
    if (stat->verdict == HX_VERDICT_FAULT || !isfinite(subject->alone)) {
        result->stat = *stat;
        result->meter = stat->verdict;
        probe_usage_give_up(result, PROBE_USAGE_UNKNOWN,
                            stat->why[0] != '\0' ? stat->why : "another thread used the core");
    }
}

static enum ip_status alone_measure(struct user *user, struct ip_error *err) {
    struct probe_batch batch = {0};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < user->count && status == IP_OK; i++) {
        struct probe_usage_subject *subject = &user->subjects[i];
        const struct gen_part part = {.form = subject->form, .count = ALONE_INSTANCES};
        const struct gen_part few = {.form = subject->form, .count = CHAIN_INSTANCES};
        subject->renews = form_renews(subject->form);
        status = probe_mix_add(&batch, &part, 1, &subject->slot, err);
        status = status == IP_OK ? probe_mix_add(&batch, &few, 1, &subject->chain_slot, err) : status;
    }
    status = status == IP_OK ? batch_run(user, &batch, LOOKED, err) : status;
    for (size_t i = 0; i < user->count && status == IP_OK; i++) {
        alone_read(&user->subjects[i], &user->throughputs[i], &batch, &user->results[i]);
    }
    probe_batch_fini(&batch);
    return status;
}

/* -- Experiments -------------------------------------------------------------------------------------- */

/* Those of a form that are measured together. */
enum stage { ISSUE, SETS, CHECKS };

static struct probe_usage_experiment *stage_experiments(struct probe_usage_subject *subject, enum stage stage,
                                                        unsigned *count) {
    *count = stage == ISSUE ? 1 : stage == SETS ? subject->count : subject->check_count;
    return stage == ISSUE ? &subject->issue : stage == SETS ? subject->experiments : subject->checks;
}

static enum ip_status mix_add(const struct user *user, const struct probe_usage_subject *subject,
                              struct probe_usage_experiment *experiment, bool base, size_t *slot,
                              struct probe_batch *batch, struct ip_error *err) {
    struct gen_part parts[GEN_PARTS_MAX];
    unsigned count = 0, stride = experiment->store ? STORE_STRIDE : 0;
    unsigned between = experiment->load ? GEN_LOAD_STRIDE : stride; /* of the blockers */
    for (unsigned p = 0; p < experiment->parts; p++) {
        unsigned instances = (unsigned)experiment->blocked[p].uops;
        parts[count] = experiment->target == 0
                           ? (struct gen_part){.form = NULL, .count = instances}
                           : probe_port_part(&user->map->members[experiment->members[p]], instances);
        parts[count++].how.stride = between;
    }
    unsigned copies = base && !subject->renews ? experiment->base_copies : experiment->copies;
    if (copies > 0) {
        parts[count++] =
            (struct gen_part){.form = subject->form,
                              .count = copies,
                              .how = {.stride = stride, .renewals_only = base && subject->renews}};
    }
    enum ip_status status = probe_mix_add(batch, parts, count, slot, err);
    if (status == IP_OK && *slot != SIZE_MAX && experiment->target == 0) {
        /* What the loop's end takes is the same in the mix that it is compared with, and the loop stays
         * small.
         */
        batch->programs[*slot].copies = 1;
        batch->programs[*slot].one_loop = true;
    }
    return status;
}

/* Another member of the class and world of `member`, behind it; -1: none. */
static int next_member(const struct probe_portmap *map, int member) {
    const struct probe_port_member *members = map->members;
    for (size_t i = (size_t)member + 1; member >= 0 && i < map->member_count; i++) {
        if (members[i].class == members[member].class && members[i].world == members[member].world) {
            return (int)i;
        }
    }
    return -1;
}

/* A blocker that cannot share a kernel with the form (there are too few registers for both) gives way to
 * another of its class. */
static enum ip_status experiment_add(const struct user *user, const struct probe_usage_subject *subject,
                                     struct probe_usage_experiment *experiment, struct probe_batch *batch,
                                     struct ip_error *err) {
    experiment->slot = experiment->base_slot = SIZE_MAX;
    int first = experiment->members[0], next = first;
    enum ip_status status = IP_OK;
    do {
        experiment->members[0] = next;
        status = mix_add(user, subject, experiment, false, &experiment->slot, batch, err);
        next = next_member(user->map, next);
    } while (status == IP_OK && experiment->slot == SIZE_MAX && next >= 0);
    if (experiment->slot == SIZE_MAX) {
        experiment->members[0] = first;
        experiment->parts = 0;
        return status;
    }
    if (status == IP_OK && (subject->renews || experiment->based)) {
        status = mix_add(user, subject, experiment, true, &experiment->base_slot, batch, err);
    }
    return status;
}

/* µops, or issue slots, a cycle of what the blockers keep busy. */
static double target_rate(const struct user *user, const struct probe_usage_experiment *experiment) {
    return experiment->target == 0 ? user->map->issue_width
           : experiment->store     ? 1.0 / user->store_cycles
                                   : ports_in(experiment->target);
}

static void experiment_read(const struct user *user, struct probe_usage_experiment *experiment,
                            const struct probe_batch *batch, enum kind kind) {
    double rate = target_rate(user, experiment);
    double cycles = probe_mix_cycles(batch, experiment->slot) / user->bias[kind];
    unsigned more = experiment->copies - experiment->base_copies; /* instances than the base has */
    double base = 0;
    for (unsigned p = 0; p < experiment->parts; p++) {
        base += experiment->blocked[p].uops / rate;
    }
    if (experiment->base_slot != SIZE_MAX) { /* what renews the form's operands is no part of it */
        base = probe_mix_cycles(batch, experiment->base_slot) / user->bias[kind];
    }
    probe_usage_reading_add(experiment, (cycles - base) * rate / more, rate);
    probe_usage_reading_judge(experiment);
}

/* One reading of all experiments of the stage that want one of this kind. *taken counts them. */
static enum ip_status readings_take(const struct user *user, enum stage stage, enum kind kind, size_t *taken,
                                    struct ip_error *err) {
    struct probe_batch batch = {0};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < user->count; i++) {
        struct probe_usage_subject *subject = &user->subjects[i];
        unsigned count = 0;
        struct probe_usage_experiment *experiments = stage_experiments(subject, stage, &count);
        for (unsigned e = 0; e < count && status == IP_OK; e++) {
            struct probe_usage_experiment *experiment = &experiments[e];
            experiment->slot = SIZE_MAX;
            if (!experiment->wanted || experiment->parts == 0) {
                continue;
            }
            probe_usage_experiment_size(experiment, subject, &user->results[i], user->map);
            probe_usage_experiment_begin(experiment);
            if (experiment->parts != 0 && experiment->measured == (kind == MEASURED)) {
                status = experiment_add(user, subject, experiment, &batch, err);
                ++*taken;
            }
        }
    }
    status = status == IP_OK ? batch_run(user, &batch, kind, err) : status;
    for (size_t i = 0; i < user->count && status == IP_OK; i++) {
        unsigned count = 0;
        struct probe_usage_experiment *experiments = stage_experiments(&user->subjects[i], stage, &count);
        for (unsigned e = 0; e < count; e++) {
            if (experiments[e].slot != SIZE_MAX) {
                experiment_read(user, &experiments[e], &batch, kind);
            }
        }
    }
    probe_batch_fini(&batch);
    return status;
}

/* Readings until all experiments of the stage are clear, or nothing helps. */
static enum ip_status stage_run(const struct user *user, enum stage stage, struct ip_error *err) {
    enum ip_status status = IP_OK;
    size_t taken = 1;
    for (unsigned round = 0; round < ROUNDS && status == IP_OK && taken > 0; round++) {
        taken = 0;
        status = readings_take(user, stage, LOOKED, &taken, err);
        status = status == IP_OK ? readings_take(user, stage, MEASURED, &taken, err) : status;
    }
    return status;
}

/* Nothing is wanted any more of a form of which nothing is known. */
static void unknown_leave(struct user *user) {
    for (size_t i = 0; i < user->count; i++) {
        if (user->results[i].verdict == PROBE_USAGE_UNKNOWN) {
            user->subjects[i].issue.parts = 0;
            user->subjects[i].count = user->subjects[i].check_count = 0;
        }
    }
}

/* -- Blockers alone ----------------------------------------------------------------------------------- */

/* The middle of those values that are known. NaN: too few are. Sorts. */
static double middle(double *values, size_t count, size_t least) {
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(values[i])) {
            values[known++] = values[i];
        }
    }
    return known >= least ? hx_median(values, known) : NAN;
}

/* Each class's blockers alone, and again and again: all else hangs on them. */
static enum ip_status bias_batch(const struct user *user, struct probe_batch *batch,
                                 size_t slots[BIAS_TIMES * PROBE_PORTSET_CLASSES], struct ip_error *err) {
    const struct probe_portmap *map = user->map;
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < BIAS_TIMES * map->class_count && status == IP_OK; i++) {
        const struct probe_port_class *class = &map->classes[i % map->class_count];
        const int *blocker = class->blocker;
        int member = blocker[0] >= 0 ? blocker[0] : blocker[1] >= 0 ? blocker[1] : blocker[2];
        slots[i] = SIZE_MAX;
        if (member >= 0 && !class->load && !class->store) {
            const struct gen_part part = probe_port_part(&map->members[member], BIAS_CYCLES * class->width);
            status = probe_mix_add(batch, &part, 1, &slots[i], err);
        }
    }
    return status;
}

/* Blockers alone take a known time. Noise lets the low quantiles of all samples come out too low by the same
 * part, which counts for much where a form takes long: so the blockers set the scale. */
static enum ip_status bias_measure(struct user *user, enum kind kind, struct ip_error *err) {
    struct probe_batch batch = {0};
    size_t slots[BIAS_TIMES * PROBE_PORTSET_CLASSES];
    double ratios[BIAS_TIMES * PROBE_PORTSET_CLASSES];
    size_t count = BIAS_TIMES * user->map->class_count;
    enum ip_status status = bias_batch(user, &batch, slots, err);
    status = status == IP_OK ? batch_run(user, &batch, kind, err) : status;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        double ratio = probe_mix_cycles(&batch, slots[i]) / BIAS_CYCLES;
        ratios[i] = fabs(ratio - 1) < BIAS_MOST ? ratio : NAN;
    }
    double bias = status == IP_OK ? middle(ratios, count, BIAS_CLASSES_LEAST * BIAS_TIMES) : NAN;
    user->bias[kind] = isfinite(bias) ? bias : 1;
    probe_batch_fini(&batch);
    return status;
}

static enum ip_status stores_measure(struct user *user, struct ip_error *err) {
    struct probe_batch batch = {0};
    enum ip_status status = IP_OK;
    size_t slots[BIAS_TIMES], count = 0;
    double cycles[BIAS_TIMES];
    for (unsigned c = 0; c < user->map->class_count && count == 0 && status == IP_OK; c++) {
        const struct probe_port_class *class = &user->map->classes[c];
        const struct gen_part part = {
            .form = class->blocker[0] >= 0 ? user->map->members[class->blocker[0]].form : NULL,
            .count = STORES,
            .how = {.stride = STORE_STRIDE}};
        while (class->store && part.form != NULL && count < BIAS_TIMES && status == IP_OK) {
            status = probe_mix_add(&batch, &part, 1, &slots[count++], err);
        }
    }
    status = status == IP_OK ? batch_run(user, &batch, LOOKED, err) : status;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        cycles[i] = probe_mix_cycles(&batch, slots[i]) / STORES;
    }
    user->store_cycles = status == IP_OK ? middle(cycles, count, 1) : NAN;
    probe_batch_fini(&batch);
    return status;
}

/* Issue slots that are not known well are not known. */
static void slots_take(struct user *user) {
    for (size_t i = 0; i < user->count; i++) {
        const struct probe_usage_experiment *issue = &user->subjects[i].issue;
        user->results[i].slots = probe_usage_error(issue) <= SLOTS_ERROR ? issue->confined : NAN;
    }
}

/* -- All together ------------------------------------------------------------------------------------- */

/* Infers from what the experiments say, and looks at mixes that were not used for it. */
static enum ip_status usages_infer(struct user *user, struct ip_error *err) {
    for (size_t i = 0; i < user->count; i++) {
        struct probe_usage *result = &user->results[i];
        if (result->verdict != PROBE_USAGE_UNKNOWN) {
            result->verdict = PROBE_USAGE_OK;
            result->why[0] = '\0';
            probe_usage_infer(&user->subjects[i], result, user->map);
            probe_usage_checks_choose(&user->subjects[i], result, user->map);
        }
    }
    enum ip_status status = stage_run(user, CHECKS, err);
    for (size_t i = 0; i < user->count && status == IP_OK; i++) {
        if (user->results[i].verdict != PROBE_USAGE_UNKNOWN) {
            probe_usage_verify(&user->subjects[i], &user->results[i], user->map);
        }
    }
    return status;
}

static enum ip_status chunk_measure(struct user *user, struct ip_error *err) {
    enum ip_status status = alone_measure(user, err);
    for (size_t i = 0; i < user->count; i++) {
        probe_usage_issue_plan(&user->subjects[i]);
    }
    unknown_leave(user);
    status = status == IP_OK ? stage_run(user, ISSUE, err) : status;
    slots_take(user);
    for (size_t i = 0; i < user->count; i++) {
        probe_usage_experiments_plan(&user->subjects[i], &user->results[i], user->map);
    }
    unknown_leave(user);
    status = status == IP_OK ? stage_run(user, SETS, err) : status;
    status = status == IP_OK ? usages_infer(user, err) : status;
    /* What does not fit together is looked at again, from the slots on. */
    bool again = false;
    for (size_t i = 0; i < user->count && status == IP_OK; i++) {
        if (user->results[i].verdict == PROBE_USAGE_INCONSISTENT) {
            again = probe_usage_look_again(&user->subjects[i]) || again;
        }
    }
    if (status != IP_OK || !again) {
        return status;
    }
    status = stage_run(user, ISSUE, err);
    slots_take(user);
    status = status == IP_OK ? stage_run(user, SETS, err) : status;
    return status == IP_OK ? usages_infer(user, err) : status;
}

enum ip_status probe_usage_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                   const struct probe_portmap *map, struct isa_form *const *forms,
                                   const struct probe_throughput *throughputs, size_t count,
                                   struct probe_usage *results, struct ip_error *err) {
    struct probe_usage_subject *subjects = calloc(CHUNK, sizeof *subjects);
    struct probe_throughput *own = calloc(CHUNK, sizeof *own);
    if (subjects == NULL || own == NULL) {
        free(subjects);
        free(own);
        return ip_fail(err, IP_NO_MEMORY, "no memory for the port usage of %d forms", CHUNK);
    }
    struct user user = {.meter = meter, .encoder = encoder, .map = map, .subjects = subjects};
    enum ip_status status = stores_measure(&user, err);
    for (enum kind kind = LOOKED; kind < KINDS && status == IP_OK; kind++) {
        status = bias_measure(&user, kind, err);
    }
    for (size_t at = 0; at < count && status == IP_OK; at += CHUNK) {
        user.results = results + at;
        user.count = count - at < CHUNK ? count - at : CHUNK;
        for (size_t i = 0; i < user.count; i++) {
            probe_usage_subject_init(&subjects[i], forms[at + i]);
            user.results[i] = (struct probe_usage){.slots = NAN, .cycles = NAN, .expected_cycles = NAN};
        }
        user.throughputs = throughputs != NULL ? throughputs + at : own;
        if (throughputs == NULL) {
            status = probe_throughput_measure(meter, encoder, forms + at, user.count, own, err);
        }
        status = status == IP_OK ? chunk_measure(&user, err) : status;
    }
    free(subjects);
    free(own);
    return status;
}
