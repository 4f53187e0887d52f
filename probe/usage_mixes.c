/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_mixes.c - kernels of forms and their blockers, and what is read from them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generator/x87.h"
#include "probe/portmap_steps.h"
#include "probe/usage_steps.h"

enum {
    ALONE_INSTANCES = 24,
};

enum ip_status probe_usage_batch_run(const struct probe_usage_session *session, struct probe_batch *batch,
                                     enum probe_usage_kind kind, struct ip_error *err) {
    static const unsigned looks[PROBE_USAGE_KINDS] = {
        [PROBE_USAGE_GLANCED] = 1, [PROBE_USAGE_LOOKED] = PROBE_MIX_LOOKS, [PROBE_USAGE_MEASURED] = 0};
    batch->looks = looks[kind];
    return batch->count > 0 ? probe_batch_measure(batch, session->meter, session->encoder, err) : IP_OK;
}

struct gen_independence probe_usage_independence(const struct isa_form *form) {
    bool stack = gen_x87_balance_of(form, true).room > 0;
    return (struct gen_independence){.break_registers = stack, .x87_frees = stack};
}

/* -- The form alone ----------------------------------------------------------------------------------- */

unsigned probe_usage_renewals(const struct isa_form *form, const struct gen_independence *how) {
    struct gen_part part = {.form = form, .count = 1, .how = *how};
    part.how.renewals_only = true;
    struct gen_program program;
    struct ip_error ignored; /* what cannot be mixed is told when it is measured */
    if (gen_mix_program(&program, &part, 1, &ignored) != IP_OK) {
        return 0;
    }
    unsigned renewals = (unsigned)program.unit.count;
    gen_program_fini(&program);
    return renewals;
}

/* Does its throughput say how long an instance takes? */
static bool alone_is_known(const struct probe_throughput *throughput) {
    return throughput->measured && throughput->verdict == HX_VERDICT_OK && throughput->plain_cycles > 0;
}

/* Does an instance wait for the one before it? */
static bool waits_for_itself(const struct isa_form *form) {
    bool waits = (form->flags_read & form->flags_written) != 0;
    for (unsigned o = 0; o < form->operand_count; o++) {
        waits = waits || (form->operands[o].read && form->operands[o].write);
    }
    return waits;
}

/* Then nothing has to be run: its throughput says all that is asked for. */
static bool all_is_known(const struct probe_usage_subject *subject, enum probe_usage_kind kind) {
    return kind == PROBE_USAGE_GLANCED && alone_is_known(subject->throughput) &&
           !waits_for_itself(subject->form);
}

/* How long an instance takes alone, for the sizes of what follows: a look will do. */
static void alone_take(struct probe_usage_subject *subject, const struct probe_batch *batch,
                       enum probe_usage_kind kind) {
    const struct probe_throughput *throughput = subject->throughput;
    struct probe_usage *result = subject->result;
    bool known = subject->slot == subject->chain_slot, ran = subject->slot != SIZE_MAX;
    subject->alone =
        known ? throughput->plain_cycles : probe_mix_cycles(batch, subject->slot) / ALONE_INSTANCES;
    subject->chain = ran ? probe_mix_cycles(batch, subject->chain_slot) : NAN;
    if (!isfinite(subject->alone)) {
        subject->alone = throughput->plain_cycles;
    }
    if (!isfinite(subject->chain)) {
        subject->chain = probe_usage_copies(subject->alone) * subject->alone;
    }
    bool trusted = throughput->measured && throughput->verdict == HX_VERDICT_OK;
    result->cycles = trusted ? throughput->cycles : NAN;
    result->stat = throughput->stat;
    if (!ran && all_is_known(subject, kind)) {
        return;
    }
    if (!ran) {
        bool noise = throughput->verdict != HX_VERDICT_OK && throughput->verdict != HX_VERDICT_FAULT;
        bool said = !throughput->measured && !noise && throughput->why[0] != '\0';
        probe_usage_give_up(result, PROBE_USAGE_UNKNOWN,
                            said ? throughput->why : "it cannot stand in a mix of independent instances");
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

enum ip_status probe_usage_alone_read(struct probe_usage_session *session, enum probe_usage_kind kind,
                                      struct ip_error *err) {
    struct probe_batch batch = {0};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < session->count && status == IP_OK; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        subject->how = probe_usage_independence(subject->form);
        subject->renews = probe_usage_renewals(subject->form, &subject->how) > 0;
        const struct gen_part part = {.form = subject->form, .count = ALONE_INSTANCES, .how = subject->how};
        const struct gen_part few = {.form = subject->form,
                                     .count = probe_usage_copies(subject->throughput->plain_cycles),
                                     .how = subject->how};
        subject->slot = subject->chain_slot = SIZE_MAX;
        if (all_is_known(subject, kind)) {
            continue;
        }
        status = probe_mix_add(&batch, &few, 1, &subject->chain_slot, err);
        subject->slot = subject->chain_slot;
        bool known = kind == PROBE_USAGE_GLANCED && alone_is_known(subject->throughput);
        if (status == IP_OK && (!known || subject->how.x87_frees)) {
            status = probe_mix_add(&batch, &part, 1, &subject->slot, err);
        }
    }
    status = status == IP_OK ? probe_usage_batch_run(session, &batch, kind, err) : status;
    for (size_t i = 0; i < session->count && status == IP_OK; i++) {
        alone_take(&session->subjects[i], &batch, kind);
    }
    probe_batch_fini(&batch);
    return status;
}

/* -- Experiments -------------------------------------------------------------------------------------- */

static struct probe_usage_experiment *stage_experiments(struct probe_usage_subject *subject,
                                                        enum probe_usage_stage stage, unsigned *count) {
    switch (stage) {
    case PROBE_USAGE_ISSUE:
        *count = 1;
        return &subject->issue;
    case PROBE_USAGE_SETS:
        *count = subject->count;
        return subject->experiments;
    default:
        *count = subject->check_count;
        return subject->checks;
    }
}

static enum ip_status mix_add(const struct probe_usage_session *session,
                              const struct probe_usage_subject *subject,
                              struct probe_usage_experiment *experiment, bool base, size_t *slot,
                              struct probe_batch *batch, struct ip_error *err) {
    struct gen_part parts[GEN_PARTS_MAX];
    unsigned count = 0, stride = experiment->store && !experiment->one_place ? PROBE_USAGE_STORE_STRIDE : 0;
    unsigned between = experiment->load ? GEN_LOAD_STRIDE : stride; /* of the blockers */
    for (unsigned p = 0; p < experiment->parts; p++) {
        unsigned instances = (unsigned)experiment->blocked[p].uops;
        parts[count] = experiment->target == 0
                           ? (struct gen_part){.filler = session->meter->filler, .count = instances}
                           : probe_port_part(&session->map->members[experiment->members[p]], instances);
        parts[count++].how.stride = between;
    }
    unsigned copies = base && !subject->renews ? experiment->base_copies : experiment->copies;
    if (copies > 0) {
        parts[count] = (struct gen_part){.form = subject->form, .count = copies, .how = subject->how};
        parts[count].how.stride = stride;
        parts[count++].how.renewals_only = base && subject->renews;
    }
    enum ip_status status = probe_mix_add(batch, parts, count, slot, err);
    if (status == IP_OK && *slot != SIZE_MAX) { /* a neighbour's slots would look like uops */
        batch->programs[*slot].fills_issue = experiment->widest;
    }
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

/* One of the readings, and how many instances it had. */
struct mix {
    struct probe_usage_experiment *of;
    size_t slot;
    size_t base_slot; /* of the mix that it is compared with */
    unsigned copies, base_copies;
    bool renews; /* that mix has what renews the instances' operands */
    double instances[PROBE_USAGE_PARTS];
};

/* What is read in one go. */
struct reading {
    enum probe_usage_kind kind;
    struct probe_batch batch;
    struct mix *mixes; /* owned */
    size_t count, capacity;
    size_t nop_slots[PROBE_USAGE_BLOCKERS + 1]; /* of so many NOPs alone; SIZE_MAX: not added */
};

static void reading_init(struct reading *reading, enum probe_usage_kind kind) {
    memset(reading, 0, sizeof *reading);
    reading->kind = kind;
    for (size_t i = 0; i <= PROBE_USAGE_BLOCKERS; i++) {
        reading->nop_slots[i] = SIZE_MAX;
    }
}

static void reading_fini(struct reading *reading) {
    probe_batch_fini(&reading->batch);
    free(reading->mixes);
}

/* Room for the next mix; NULL: no memory. */
static struct mix *reading_mix(struct reading *reading) {
    if (reading->count == reading->capacity) {
        size_t capacity = reading->capacity != 0 ? 2 * reading->capacity : 64;
        struct mix *grown = realloc(reading->mixes, capacity * sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        reading->mixes = grown;
        reading->capacity = capacity;
    }
    return &reading->mixes[reading->count++];
}

/* The mix that the experiment's is compared with. NOPs alone serve all forms. */
static enum ip_status base_add(const struct probe_usage_session *session,
                               const struct probe_usage_subject *subject,
                               struct probe_usage_experiment *experiment, struct reading *reading,
                               size_t *slot, struct ip_error *err) {
    bool nops = experiment->target == 0;
    bool based = experiment->based && (nops || reading->kind != PROBE_USAGE_GLANCED);
    if (!subject->renews && !based) {
        return IP_OK;
    }
    size_t *shared =
        nops && !subject->renews ? &reading->nop_slots[(size_t)experiment->blocked[0].uops] : NULL;
    if (shared != NULL && *shared != SIZE_MAX) {
        *slot = *shared;
        return IP_OK;
    }
    enum ip_status status = mix_add(session, subject, experiment, true, slot, &reading->batch, err);
    if (shared != NULL) {
        *shared = *slot;
    }
    return status;
}

/* A blocker that cannot share a kernel with the form (there are too few registers for both) gives way to
 * another of its class. */
static enum ip_status experiment_add(const struct probe_usage_session *session,
                                     const struct probe_usage_subject *subject,
                                     struct probe_usage_experiment *experiment, struct reading *reading,
                                     struct ip_error *err) {
    int first = experiment->members[0], next = first;
    size_t slot = SIZE_MAX, base_slot = SIZE_MAX;
    enum ip_status status = IP_OK;
    do {
        experiment->members[0] = next;
        status = mix_add(session, subject, experiment, false, &slot, &reading->batch, err);
        next = next_member(session->map, next);
    } while (status == IP_OK && slot == SIZE_MAX && next >= 0);
    if (slot == SIZE_MAX) {
        experiment->members[0] = first;
        experiment->parts = 0;
        return status;
    }
    status = status == IP_OK ? base_add(session, subject, experiment, reading, &base_slot, err) : status;
    struct mix *mix = status == IP_OK ? reading_mix(reading) : NULL;
    if (mix == NULL) {
        return status == IP_OK ? ip_fail(err, IP_NO_MEMORY, "no memory for %zu mixes", reading->count)
                               : status;
    }
    *mix = (struct mix){.of = experiment,
                        .slot = slot,
                        .base_slot = base_slot,
                        .copies = experiment->copies,
                        .base_copies = experiment->base_copies,
                        .renews = subject->renews};
    for (unsigned p = 0; p < experiment->parts; p++) {
        mix->instances[p] = experiment->blocked[p].uops;
    }
    return IP_OK;
}

/* µops, or issue slots, a cycle of what the blockers keep busy. */
static double target_rate(const struct probe_usage_session *session,
                          const struct probe_usage_experiment *experiment) {
    const struct probe_usage_core *core = &session->core;
    return experiment->target == 0 ? session->map->issue_width
           : experiment->store ? 1.0 / (experiment->one_place ? core->one_place_cycles : core->store_cycles)
                               : ports_in(experiment->target);
}

static void mix_take(const struct probe_usage_session *session, const struct mix *mix,
                     const struct reading *reading) {
    const struct probe_batch *batch = &reading->batch;
    struct probe_usage_experiment *experiment = mix->of;
    double bias = session->bias[reading->kind];
    double rate = target_rate(session, experiment);
    double cycles = probe_mix_cycles(batch, mix->slot) / bias, base = 0;
    experiment->copies = mix->copies;
    experiment->base_copies = mix->base_copies;
    for (unsigned p = 0; p < experiment->parts; p++) {
        experiment->blocked[p].uops = mix->instances[p];
        base += mix->instances[p] / rate;
    }
    double alone = mix->base_slot != SIZE_MAX ? probe_mix_cycles(batch, mix->base_slot) / bias : base;
    bool scaled = reading->kind == PROBE_USAGE_GLANCED || !experiment->based; /* by its blockers' ports */
    /* What renews the form's operands is no part of it. */
    if (mix->renews && experiment->target != 0 && scaled) {
        probe_usage_renewal_add(experiment, (alone - base) * rate / mix->copies);
        base = experiment->renewal_count > 0 ? base : NAN;
    } else {
        base = alone;
    }
    unsigned more = mix->copies - mix->base_copies; /* instances than the base has */
    probe_usage_reading_add(experiment, (cycles - base) * rate / more, rate);
    probe_usage_reading_judge(experiment);
}

/* Adds the mix of reading `number` of those that the experiment wants of this kind, with a size of its own.
 */
static enum ip_status reading_mix_add(const struct probe_usage_session *session,
                                      const struct probe_usage_subject *subject,
                                      struct probe_usage_experiment *experiment, unsigned number,
                                      struct reading *reading, struct ip_error *err) {
    bool other_kind = number > 0 && experiment->kind != reading->kind;
    if (number >= experiment->wanted || experiment->parts == 0 || other_kind) {
        return IP_OK;
    }
    probe_usage_experiment_size(experiment, subject, session->map, reading->kind, experiment->tries + number);
    if (number == 0) {
        probe_usage_experiment_begin(experiment);
    }
    bool wanted = experiment->parts != 0 && experiment->wanted != 0 && experiment->kind == reading->kind;
    return wanted ? experiment_add(session, subject, experiment, reading, err) : IP_OK;
}

/* The reading `number` of all experiments of the stages that want so many. */
static enum ip_status readings_add(struct probe_usage_session *session, unsigned stages, unsigned number,
                                   struct reading *reading, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        for (unsigned stage = PROBE_USAGE_ISSUE; stage <= PROBE_USAGE_CHECKING; stage *= 2) {
            unsigned count = 0;
            struct probe_usage_experiment *experiments =
                (stages & stage) != 0 ? stage_experiments(subject, stage, &count) : NULL;
            for (unsigned e = 0; e < count && status == IP_OK; e++) {
                status = reading_mix_add(session, subject, &experiments[e], number, reading, err);
            }
        }
    }
    return status;
}

/* So many uops more than its throughput allows no form has in a set. */
static const double LATE_UOPS = 1;

/* Blockers that wait for the form's flags for longer than its uops take have nothing to say of these: shifts
 * by zero have theirs after 32 cycles (Zen 4). */
static void late_drop(struct probe_usage_session *session) {
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        for (unsigned e = 0; e < subject->count; e++) {
            struct probe_usage_experiment *experiment = &subject->experiments[e];
            double most =
                PROBE_USAGE_CYCLES_MORE * subject->result->cycles * ports_in(experiment->target) + LATE_UOPS;
            bool waits =
                subject->form->flags_written != 0 && probe_usage_reads_flags(session->map, experiment);
            if (waits && experiment->confined > most) {
                experiment->parts = experiment->reading_count = experiment->wanted = 0;
                experiment->cycles = experiment->confined = NAN;
                experiment->implied = true; /* what is confined to the set remains unknown, and seems none */
                subject->check_count = 0;   /* they may have these blockers, too */
            }
        }
    }
}

/* Readings of one experiment stand apart: what disturbs one is over at the next. */
static enum ip_status readings_run(struct probe_usage_session *session, unsigned stages,
                                   struct reading *reading, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (unsigned number = 0; number < PROBE_USAGE_READINGS && status == IP_OK; number++) {
        status = readings_add(session, stages, number, reading, err);
    }
    if (status == IP_OK && reading->batch.count > 0 && session->bias[reading->kind] == 0) {
        status = probe_usage_bias_measure(session, reading->kind, err);
    }
    status = status == IP_OK ? probe_usage_batch_run(session, &reading->batch, reading->kind, err) : status;
    for (size_t i = 0; i < reading->count && status == IP_OK; i++) {
        mix_take(session, &reading->mixes[i], reading);
    }
    late_drop(session);
    return status;
}

enum ip_status probe_usage_readings_take(struct probe_usage_session *session, unsigned stages,
                                         enum probe_usage_kind kind, size_t *taken, struct ip_error *err) {
    struct reading reading;
    reading_init(&reading, kind);
    enum ip_status status = readings_run(session, stages, &reading, err);
    *taken += reading.count;
    reading_fini(&reading);
    return status;
}
