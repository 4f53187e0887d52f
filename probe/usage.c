/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/usage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/portmap_steps.h"
#include "probe/throughput.h"
#include "probe/usage_steps.h"

enum {
    CHUNK = 64, /* forms that are measured together */
    ALONE_INSTANCES = 24,
    COPIES = 4,             /* of the form beside blockers ... */
    COPIES_OF_FAST = 8,     /* ... and of one that takes a cycle at most: the more, the clearer */
    BLOCKERS_MAX = 900,     /* instances in a kernel */
    SLOTS_OF_MICROCODE = 4, /* and more: what it does is not in its operands */
    STORE_STRIDE = 64, /* a line for each store: some CPUs write two to one line at once, but not to two */
    STORES = 64,
    BIAS_CYCLES = 32, /* of blockers alone */
    BIAS_CLASSES_LEAST = 3,
};

static const double CYCLES_LEAST = 16;  /* of a unit: longer than the latencies of a form */
static const double CYCLES_SPARE = 1.5; /* blockers take longer than the copies alone, by this factor, */
static const double CHAIN_SPARE = 1.3;  /* and than what the copies of the next round wait for */
/* Looks at a reading: a doubtful one is taken again in another rhythm. */
static const double CYCLES_LONGER[PROBE_USAGE_LOOKS] = {1, 1.37, 1.17, 1.53, 1.27};
static const double BIAS_MOST = 0.03;
static const double DOUBT = 0.2; /* of a count of µops to an integer: worth a second look */

struct user {
    const struct hx_meter *meter;
    struct gen_encoder *encoder;
    const struct probe_portmap *map;
    double bias;         /* cycles that are measured for one that is taken, by blockers alone */
    double store_cycles; /* of a store that shares its line with none before or behind it */
    struct probe_usage_subject *subjects;
    struct probe_usage *results;
    size_t count;
};

static enum ip_status batch_run(const struct user *user, struct probe_batch *batch, struct ip_error *err) {
    batch->retries = PROBE_MIX_RETRIES;
    return batch->count > 0 ? probe_batch_measure(batch, user->meter, user->encoder, err) : IP_OK;
}

/* -- The form alone ----------------------------------------------------------------------------------- */

static void subject_init(struct probe_usage_subject *subject, struct isa_form *form) {
    memset(subject, 0, sizeof *subject);
    subject->form = form;
    subject->world = PROBE_PORTS_SCALAR;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        bool vector = isa_reg_is_vector(operand->reg_class);
        if (vector && operand->reg_class == ISA_REG_ZMM) {
            subject->world = PROBE_PORTS_WIDE;
        } else if (vector && subject->world == PROBE_PORTS_SCALAR) {
            subject->world = PROBE_PORTS_VECTOR;
        }
        subject->legacy = subject->legacy || (vector && !form->vex && !form->evex);
    }
}

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

static enum ip_status alone_measure(struct user *user, struct ip_error *err) {
    struct probe_batch batch = {0};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < user->count && status == IP_OK; i++) {
        struct probe_usage_subject *subject = &user->subjects[i];
        const struct gen_part part = {.form = subject->form, .count = ALONE_INSTANCES};
        const struct gen_part few = {.form = subject->form, .count = COPIES};
        subject->renews = form_renews(subject->form);
        status = probe_mix_add(&batch, &part, 1, &subject->slot, err);
        status = status == IP_OK ? probe_mix_add(&batch, &few, 1, &subject->chain_slot, err) : status;
    }
    status = status == IP_OK ? batch_run(user, &batch, err) : status;
    for (size_t i = 0; i < user->count && status == IP_OK; i++) {
        struct probe_usage_subject *subject = &user->subjects[i];
        subject->alone = probe_mix_cycles(&batch, subject->slot) / ALONE_INSTANCES;
        subject->chain = probe_mix_cycles(&batch, subject->chain_slot);
        if (subject->slot != SIZE_MAX) {
            user->results[i].stat = batch.stats[subject->slot];
        }
        if (!isfinite(subject->alone)) {
            user->results[i].meter = user->results[i].stat.verdict;
            probe_usage_give_up(&user->results[i], PROBE_USAGE_UNKNOWN,
                                subject->slot == SIZE_MAX
                                    ? "it cannot stand in a mix of independent instances"
                                    : batch.stats[subject->slot].why);
        }
    }
    probe_batch_fini(&batch);
    return status;
}

static enum ip_status throughputs_measure(struct user *user, struct ip_error *err) {
    struct isa_form *forms[CHUNK];
    struct probe_throughput throughputs[CHUNK];
    for (size_t i = 0; i < user->count; i++) {
        forms[i] = user->subjects[i].form;
    }
    enum ip_status status =
        probe_throughput_measure(user->meter, user->encoder, forms, user->count, throughputs, err);
    for (size_t i = 0; i < user->count && status == IP_OK; i++) {
        bool trusted = throughputs[i].measured && throughputs[i].verdict == HX_VERDICT_OK;
        user->results[i].cycles = trusted ? throughputs[i].cycles : NAN;
    }
    return status;
}

/* NOPs that keep the issue busy for longer than the copies take. */
static enum ip_status slots_measure(struct user *user, struct ip_error *err) {
    struct probe_batch batch = {0};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < user->count && status == IP_OK; i++) {
        struct probe_usage_subject *subject = &user->subjects[i];
        subject->slot = subject->base_slot = SIZE_MAX;
        double nops = ceil(user->map->issue_width * (CYCLES_LEAST + CYCLES_SPARE * COPIES * subject->alone));
        if (user->results[i].verdict != PROBE_USAGE_OK || !(nops <= BLOCKERS_MAX)) {
            continue;
        }
        subject->nops = (unsigned)nops;
        struct gen_part parts[2] = {{.form = NULL, .count = subject->nops},
                                    {.form = subject->form, .count = COPIES}};
        status = probe_mix_add(&batch, parts, 2, &subject->slot, err);
        if (status == IP_OK && subject->renews) {
            parts[1].how.renewals_only = true;
            status = probe_mix_add(&batch, parts, 2, &subject->base_slot, err);
        }
    }
    status = status == IP_OK ? batch_run(user, &batch, err) : status;
    for (size_t i = 0; i < user->count && status == IP_OK; i++) {
        struct probe_usage_subject *subject = &user->subjects[i];
        double cycles = probe_mix_cycles(&batch, subject->slot);
        double nops = subject->renews ? probe_mix_cycles(&batch, subject->base_slot) * user->map->issue_width
                                      : subject->nops;
        user->results[i].slots = (cycles * user->map->issue_width - nops) / COPIES;
    }
    probe_batch_fini(&batch);
    return status;
}

/* -- Blockers ----------------------------------------------------------------------------------------- */

static bool xmm_only(const struct isa_form *form) {
    for (unsigned i = 0; i < form->operand_count; i++) {
        enum isa_reg_class class = form->operands[i].reg_class;
        if (class == ISA_REG_YMM || class == ISA_REG_ZMM || form->operands[i].bits > 128) {
            return false;
        }
    }
    return !form->evex;
}

/* A member of the class that may stand beside the form; -1: none. */
static int blocker_for(const struct probe_usage_subject *subject, const struct probe_portmap *map,
                       unsigned number) {
    const struct probe_port_class *class = &map->classes[number];
    if (class->blocker[0] >= 0) {
        return class->blocker[0];
    }
    if (!subject->legacy) {
        return class->blocker[subject->world == PROBE_PORTS_WIDE ? 2 : 1];
    }
    for (size_t i = 0; i < map->member_count; i++) {
        if (map->members[i].class == (int)number && xmm_only(map->members[i].form)) {
            return (int)i;
        }
    }
    return -1;
}

/* How long the blockers must take so that nothing else of the form can bind. */
static double least_cycles(const struct probe_usage_subject *subject, const struct probe_usage *result,
                           const struct probe_portmap *map, unsigned width, unsigned copies) {
    double least = CYCLES_LEAST + CYCLES_SPARE * copies * subject->alone;
    least = least < CHAIN_SPARE * subject->chain ? CHAIN_SPARE * subject->chain : least;
    double slots = isfinite(result->slots) && result->slots > 1 ? result->slots : 1;
    double spare = map->issue_width - width; /* slots a cycle that the blockers leave */
    double issue = spare > 0.25 ? 1.25 * copies * slots / spare : least;
    /* Whatever is not confined to the blocked ports finds room on one other. */
    double elsewhere = 1.25 * copies * slots;
    least = least > issue ? least : issue;
    return least > elsewhere ? least : elsewhere;
}

static void experiment_size(struct probe_usage_experiment *experiment,
                            const struct probe_usage_subject *subject, const struct probe_usage *result,
                            const struct probe_portmap *map, double longer) {
    unsigned width = ports_in(experiment->target);
    double cycles = 0;
    /* More copies where they cost no time: what others wait for is longer. */
    double chain = CHAIN_SPARE * subject->chain - CYCLES_LEAST;
    bool fast = subject->alone < 1.05 || CYCLES_SPARE * COPIES_OF_FAST * subject->alone < chain;
    experiment->copies = fast ? COPIES_OF_FAST : COPIES;
    for (; experiment->copies > 0; experiment->copies /= 2) {
        cycles = ceil(longer * least_cycles(subject, result, map, width, experiment->copies));
        if (cycles * width <= BLOCKERS_MAX) {
            break;
        }
    }
    if (experiment->copies == 0) {
        experiment->parts = 0;
    }
    for (unsigned p = 0; p < experiment->parts; p++) {
        experiment->blocked[p].uops = cycles * ports_in(experiment->blocked[p].ports);
    }
}

static bool set_known(const struct probe_usage_subject *subject, const struct probe_port_class *class) {
    for (unsigned i = 0; i < subject->count; i++) {
        if (subject->experiments[i].target == class->ports) {
            return true;
        }
    }
    return false;
}

/* By an operand, or within microcode. */
static bool may_touch_memory(const struct isa_form *form, const struct probe_usage *result) {
    return isa_form_memory_operand(form) >= 0 || result->slots > SLOTS_OF_MICROCODE - 0.5;
}

static void experiments_plan(struct probe_usage_subject *subject, const struct probe_usage *result,
                             const struct probe_portmap *map) {
    for (unsigned width = 1; width <= PROBE_PORTSET_PORTS; width++) {
        for (unsigned c = 0; c < map->class_count; c++) {
            const struct probe_port_class *class = &map->classes[c];
            bool memory = class->load || class->store;
            int member = blocker_for(subject, map, c);
            if (class->store && (class->blocker[0] < 0 || class->worlds == PROBE_PORTS_WIDE)) {
                continue; /* one count is enough, and goes by plain stores */
            }
            if (class->width != width || set_known(subject, class) ||
                subject->count == PROBE_USAGE_EXPERIMENTS ||
                (memory && (member < 0 || !may_touch_memory(subject->form, result)))) {
                continue;
            }
            struct probe_usage_experiment *experiment = &subject->experiments[subject->count++];
            *experiment =
                (struct probe_usage_experiment){.target = class->ports,
                                                .store = class->store,
                                                .based = class->load || width + 1.5 > map->issue_width,
                                                .parts = member >= 0,
                                                .looks_wanted = 1,
                                                .members = {member},
                                                .blocked = {{.ports = class->ports}},
                                                .slot = SIZE_MAX,
                                                .base_slot = SIZE_MAX,
                                                .cycles = NAN,
                                                .confined = NAN};
            experiment_size(experiment, subject, result, map, 1);
        }
    }
}

static enum ip_status mix_add(const struct user *user, const struct probe_usage_subject *subject,
                              struct probe_usage_experiment *experiment, bool base, size_t *slot,
                              struct probe_batch *batch, struct ip_error *err) {
    struct gen_part parts[GEN_PARTS_MAX];
    unsigned count = 0, stride = experiment->store ? STORE_STRIDE : 0;
    for (unsigned p = 0; p < experiment->parts; p++) {
        parts[count] = probe_port_part(&user->map->members[experiment->members[p]],
                                       (unsigned)experiment->blocked[p].uops);
        parts[count++].how.stride = stride;
    }
    unsigned copies = base && !subject->renews ? experiment->base_copies : experiment->copies;
    if (copies > 0) {
        parts[count++] =
            (struct gen_part){.form = subject->form,
                              .count = copies,
                              .how = {.stride = stride, .renewals_only = base && subject->renews}};
    }
    return probe_mix_add(batch, parts, count, slot, err);
}

/* Another member of the class and world of `member`, behind it; -1: none. */
static int next_member(const struct probe_portmap *map, int member) {
    const struct probe_port_member *members = map->members;
    for (size_t i = (size_t)member + 1; i < map->member_count; i++) {
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
    if (experiment->parts == 0) {
        return IP_OK;
    }
    int first = experiment->members[0], next = first;
    enum ip_status status = IP_OK;
    do {
        experiment->members[0] = next;
        status = mix_add(user, subject, experiment, false, &experiment->slot, batch, err);
        next = next_member(user->map, next);
    } while (status == IP_OK && experiment->slot == SIZE_MAX && next >= 0);
    if (experiment->slot == SIZE_MAX) {
        experiment->members[0] = first;
    }
    experiment->base_copies = experiment->based && !subject->renews ? experiment->copies / 2 : 0;
    if (status == IP_OK && (subject->renews || experiment->based)) {
        status = mix_add(user, subject, experiment, true, &experiment->base_slot, batch, err);
    }
    return status;
}

static void experiment_read(const struct user *user, struct probe_usage_experiment *experiment,
                            const struct probe_batch *batch) {
    double blocked = 0;
    for (unsigned p = 0; p < experiment->parts; p++) {
        blocked += experiment->blocked[p].uops;
    }
    double ports = experiment->store ? 1.0 / user->store_cycles : ports_in(experiment->target);
    experiment->cycles = probe_mix_cycles(batch, experiment->slot) / user->bias;
    unsigned more = experiment->copies - experiment->base_copies; /* instances than the base has */
    double base = blocked / ports;
    if (experiment->base_slot != SIZE_MAX) { /* what renews the form's operands is no part of it */
        base = probe_mix_cycles(batch, experiment->base_slot) / user->bias;
    }
    experiment->confined = (experiment->cycles - base) * ports / more;
    experiment->cycles = (blocked + experiment->confined * experiment->copies) / ports;
}

static void look_restore(struct probe_usage_experiment *experiment, const struct probe_usage_look *look) {
    for (unsigned p = 0; p < experiment->parts; p++) {
        experiment->blocked[p].uops = look->blocked[p];
    }
    experiment->copies = look->copies;
    experiment->cycles = look->cycles;
    experiment->confined = look->confined;
}

/* Far from an integer: worth another look. */
static bool is_doubtful(const struct probe_usage_experiment *experiment) {
    return !(fabs(experiment->confined - round(experiment->confined)) <= DOUBT);
}

/* Keeps the reading in order; the middle one of an odd number counts. While that is doubtful, two more are
 * asked for. */
static void look_keep(struct probe_usage_experiment *experiment) {
    struct probe_usage_look look = {
        .copies = experiment->copies, .cycles = experiment->cycles, .confined = experiment->confined};
    for (unsigned p = 0; p < experiment->parts; p++) {
        look.blocked[p] = experiment->blocked[p].uops;
    }
    unsigned at = experiment->look_count;
    if (at == PROBE_USAGE_LOOKS || !isfinite(look.confined)) {
        return;
    }
    for (; at > 0 && experiment->looks[at - 1].confined > look.confined; at--) {
        experiment->looks[at] = experiment->looks[at - 1];
    }
    experiment->looks[at] = look;
    experiment->look_count++;
    if (experiment->look_count % 2 == 1) {
        look_restore(experiment, &experiment->looks[experiment->look_count / 2]);
        experiment->looks_wanted = experiment->look_count + (is_doubtful(experiment) ? 2 : 0);
    }
}

static bool look_wanted(const struct probe_usage_experiment *experiment) {
    return experiment->parts > 0 && experiment->look_count < PROBE_USAGE_LOOKS &&
           experiment->look_count < experiment->looks_wanted;
}

/* One look at all experiments that want one. */
static enum ip_status experiments_measure(const struct user *user, struct ip_error *err) {
    struct probe_batch batch = {0};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < user->count; i++) {
        struct probe_usage_subject *subject = &user->subjects[i];
        for (unsigned e = 0; e < subject->count && status == IP_OK; e++) {
            struct probe_usage_experiment *experiment = &subject->experiments[e];
            experiment->slot = SIZE_MAX;
            if (user->results[i].verdict == PROBE_USAGE_OK && look_wanted(experiment)) {
                experiment_size(experiment, subject, &user->results[i], user->map,
                                CYCLES_LONGER[experiment->look_count]);
                status = experiment_add(user, subject, experiment, &batch, err);
            }
        }
    }
    status = status == IP_OK ? batch_run(user, &batch, err) : status;
    for (size_t i = 0; i < user->count && status == IP_OK; i++) {
        for (unsigned e = 0; e < user->subjects[i].count; e++) {
            struct probe_usage_experiment *experiment = &user->subjects[i].experiments[e];
            if (experiment->slot != SIZE_MAX) {
                experiment_read(user, experiment, &batch);
                look_keep(experiment);
            }
        }
    }
    probe_batch_fini(&batch);
    return status;
}

static enum ip_status checks_measure(const struct user *user, struct ip_error *err) {
    struct probe_batch batch = {0};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < user->count && status == IP_OK; i++) {
        struct probe_usage_subject *subject = &user->subjects[i];
        if (user->results[i].verdict != PROBE_USAGE_OK) {
            continue;
        }
        probe_usage_checks_choose(subject, &user->results[i], user->map);
        for (unsigned c = 0; c < subject->check_count && status == IP_OK; c++) {
            experiment_size(&subject->checks[c], subject, &user->results[i], user->map, 1);
            status = experiment_add(user, subject, &subject->checks[c], &batch, err);
        }
    }
    status = status == IP_OK ? batch_run(user, &batch, err) : status;
    for (size_t i = 0; i < user->count && status == IP_OK; i++) {
        struct probe_usage_subject *subject = &user->subjects[i];
        for (unsigned c = 0; c < subject->check_count; c++) {
            if (subject->checks[c].slot != SIZE_MAX) {
                experiment_read(user, &subject->checks[c], &batch);
            }
        }
    }
    probe_batch_fini(&batch);
    return status;
}

static int compare(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* Blockers alone take a known time. Noise lets the low quantiles of all samples come out too low by the same
 * part, which counts for much where a form takes long: so the blockers set the scale. */
static enum ip_status bias_measure(struct user *user, struct ip_error *err) {
    const struct probe_portmap *map = user->map;
    struct probe_batch batch = {0};
    size_t slots[PROBE_PORTSET_CLASSES];
    double ratios[PROBE_PORTSET_CLASSES];
    size_t count = 0;
    enum ip_status status = IP_OK;
    for (unsigned c = 0; c < map->class_count && status == IP_OK; c++) {
        const int *blocker = map->classes[c].blocker;
        int member = blocker[0] >= 0 ? blocker[0] : blocker[1] >= 0 ? blocker[1] : blocker[2];
        slots[c] = SIZE_MAX;
        if (member < 0 || map->classes[c].load || map->classes[c].store) {
            continue;
        }
        const struct gen_part part =
            probe_port_part(&map->members[member], BIAS_CYCLES * map->classes[c].width);
        status = probe_mix_add(&batch, &part, 1, &slots[c], err);
    }
    status = status == IP_OK ? batch_run(user, &batch, err) : status;
    for (unsigned c = 0; c < map->class_count && status == IP_OK; c++) {
        double ratio = probe_mix_cycles(&batch, slots[c]) / BIAS_CYCLES;
        if (fabs(ratio - 1) < BIAS_MOST) {
            ratios[count++] = ratio;
        }
    }
    qsort(ratios, count, sizeof *ratios, compare);
    user->bias = count >= BIAS_CLASSES_LEAST ? ratios[count / 2] : 1;
    probe_batch_fini(&batch);
    return status;
}

static enum ip_status chunk_measure(struct user *user, struct ip_error *err) {
    enum ip_status status = alone_measure(user, err);
    status = status == IP_OK ? throughputs_measure(user, err) : status;
    status = status == IP_OK ? slots_measure(user, err) : status;
    status = status == IP_OK ? bias_measure(user, err) : status;
    for (size_t i = 0; i < user->count; i++) {
        experiments_plan(&user->subjects[i], &user->results[i], user->map);
    }
    for (unsigned look = 0; look < PROBE_USAGE_LOOKS && status == IP_OK; look++) {
        status = experiments_measure(user, err);
    }
    bool *inferred = calloc(user->count + 1, sizeof *inferred);
    if (status == IP_OK && inferred == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "no memory for the port usage of %zu forms", user->count);
    }
    for (size_t i = 0; i < user->count && status == IP_OK; i++) {
        inferred[i] = user->results[i].verdict == PROBE_USAGE_OK;
        if (inferred[i]) {
            probe_usage_infer(&user->subjects[i], &user->results[i], user->map);
        }
    }
    status = status == IP_OK ? checks_measure(user, err) : status;
    for (size_t i = 0; i < user->count && status == IP_OK; i++) {
        if (inferred[i]) {
            probe_usage_verify(&user->subjects[i], &user->results[i], user->map);
        }
    }
    free(inferred);
    return status;
}

static enum ip_status stores_measure(const struct user *user, double *cycles, struct ip_error *err) {
    struct probe_batch batch = {0};
    enum ip_status status = IP_OK;
    size_t slot = SIZE_MAX;
    for (unsigned c = 0; c < user->map->class_count && slot == SIZE_MAX && status == IP_OK; c++) {
        const struct probe_port_class *class = &user->map->classes[c];
        if (class->store && class->blocker[0] >= 0) {
            const struct gen_part part = {.form = user->map->members[class->blocker[0]].form,
                                          .count = STORES,
                                          .how = {.stride = STORE_STRIDE}};
            status = probe_mix_add(&batch, &part, 1, &slot, err);
        }
    }
    status = status == IP_OK ? batch_run(user, &batch, err) : status;
    *cycles = status == IP_OK ? probe_mix_cycles(&batch, slot) / STORES : NAN;
    probe_batch_fini(&batch);
    return status;
}

enum ip_status probe_usage_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                   const struct probe_portmap *map, struct isa_form *const *forms,
                                   size_t count, struct probe_usage *results, struct ip_error *err) {
    struct probe_usage_subject *subjects = calloc(CHUNK, sizeof *subjects);
    if (subjects == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for the port usage of %d forms", CHUNK);
    }
    double store_cycles = NAN;
    const struct user stores = {.meter = meter, .encoder = encoder, .map = map};
    enum ip_status status = stores_measure(&stores, &store_cycles, err);
    for (size_t at = 0; at < count && status == IP_OK; at += CHUNK) {
        struct user user = {.meter = meter,
                            .encoder = encoder,
                            .map = map,
                            .store_cycles = store_cycles,
                            .subjects = subjects,
                            .results = results + at,
                            .count = count - at < CHUNK ? count - at : CHUNK};
        for (size_t i = 0; i < user.count; i++) {
            subject_init(&subjects[i], forms[at + i]);
            user.results[i] = (struct probe_usage){.slots = NAN, .cycles = NAN, .expected_cycles = NAN};
        }
        status = chunk_measure(&user, err);
    }
    free(subjects);
    return status;
}
