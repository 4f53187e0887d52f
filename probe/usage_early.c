/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_early.c - cores that bind uops to ports before it is known which will be free (Zen 4). One that
 * could go elsewhere may wait behind blockers: a reading is an upper bound then. docs/ports.md, "What binds
 * early". */
#include <math.h>

#include "probe/portmap_steps.h"
#include "probe/usage_steps.h"

enum {
    CYCLES = 24,    /* that the blockers take */
    INSTANCES = 8,  /* beside them */
    PAIRS = 16,     /* of classes of which one holds the other and a port more */
    PART = 4,       /* one in so many is enough */
    TIMES = 3,      /* they are looked at */
    STRAY_PART = 4, /* of readings; of three and more one in any case */
    STRAYS_FROM = 3,
};

/* uops that an instance adds to the time though it could go elsewhere: 0.4 to 0.6 on a Zen 4, and nothing
 * where uops wait until a port is free. */
static const double ADDED = 0.3;

/* How far readings of a count are below and above it, and as a part of all, how many must be; what noise
 * takes off the least. */
static const double NEAR_BELOW = 0.2, NEAR_ABOVE = 0.25, SHARE = 0.5, NOISE = 0.17;

/* Does `outer` hold all ports of `inner`, and one more? None of loads or stores. */
static bool has_one_more(const struct probe_port_class *outer, const struct probe_port_class *inner) {
    bool memory = outer->load || outer->store || inner->load || inner->store;
    return !memory && (inner->ports & ~outer->ports) == 0 &&
           ports_in(outer->ports) == ports_in(inner->ports) + 1;
}

/* Classes of which the second holds the first and one port more, from `pair` on. False: there are no more. */
static bool nested_next(const struct probe_portmap *map, unsigned *pair, unsigned classes[2]) {
    unsigned count = map->class_count;
    for (; *pair < count * count; ++*pair) {
        const struct probe_port_class *inner = &map->classes[*pair / count],
                                      *outer = &map->classes[*pair % count];
        if (has_one_more(outer, inner) && outer->width + 1 < map->issue_width) {
            classes[0] = *pair / count;
            classes[1] = *pair % count;
            ++*pair;
            return true;
        }
    }
    return false;
}

/* Once: some of each wider class beside blockers of the narrower. Lowers added[pair]. */
static enum ip_status pairs_look(const struct probe_usage_session *session, double added[PAIRS],
                                 struct ip_error *err) {
    const struct probe_portmap *map = session->map;
    struct probe_batch batch = {0};
    size_t slots[PAIRS];
    unsigned widths[PAIRS], count = 0, pair = 0, classes[2];
    enum ip_status status = IP_OK;
    while (status == IP_OK && count < PAIRS && nested_next(map, &pair, classes)) {
        int blockers[2];
        if (!probe_port_blockers_choose(map, classes, 2, blockers)) {
            continue;
        }
        widths[count] = map->classes[classes[0]].width;
        const struct gen_part parts[2] = {probe_port_part(&map->members[blockers[0]], CYCLES * widths[count]),
                                          probe_port_part(&map->members[blockers[1]], INSTANCES)};
        status = probe_mix_add(&batch, parts, 2, &slots[count++], err);
    }
    status = status == IP_OK ? probe_usage_batch_run(session, &batch, PROBE_USAGE_LOOKED, err) : status;
    for (unsigned i = 0; i < count && status == IP_OK; i++) {
        double more = (probe_mix_cycles(&batch, slots[i]) - CYCLES) * widths[i] / INSTANCES;
        added[i] = fmin(added[i], more); /* fmin leaves NaN out */
    }
    probe_batch_fini(&batch);
    return status;
}

enum ip_status probe_usage_binding_measure(struct probe_usage_session *session, struct ip_error *err) {
    double added[PAIRS];
    unsigned known = 0, some = 0;
    for (unsigned i = 0; i < PAIRS; i++) {
        added[i] = NAN;
    }
    enum ip_status status = IP_OK;
    for (unsigned time = 0; time < TIMES && status == IP_OK; time++) { /* a neighbour comes and goes */
        status = pairs_look(session, added, err);
    }
    for (unsigned i = 0; i < PAIRS; i++) {
        known += isfinite(added[i]);
        some += added[i] > ADDED;
    }
    session->binds_early = some > 0 && some * PART >= known;
    return status;
}

bool probe_usage_leaves_one_port(const struct probe_portmap *map, const struct probe_port_class *class) {
    for (unsigned c = 0; c < map->class_count; c++) {
        if (has_one_more(&map->classes[c], class)) {
            return true;
        }
    }
    return false;
}

bool probe_usage_early_too_many(const struct probe_usage_subject *subject) {
    enum { GLANCES = 2 };
    const double more = 0.5, more_glanced = 1;
    const struct probe_usage_experiment *issue = &subject->issue;
    bool glanced = issue->kind == PROBE_USAGE_GLANCED;
    return subject->binds_early && issue->reading_count >= (glanced ? GLANCES : 1) &&
           issue->confined > PROBE_USAGE_EARLY_UOPS + (glanced ? more_glanced : more);
}

/* The least but for strays. */
static double low_reading(const struct probe_usage_experiment *experiment) {
    unsigned count = experiment->reading_count, strays = count / STRAY_PART;
    return experiment->readings[count >= STRAYS_FROM && strays == 0 ? 1 : strays];
}

/* The whole number that half of the readings are near, and that all but those strays are no less than. What
 * could have gone elsewhere is now as much, now half of it: the readings of what could not are all alike, but
 * for those that something disturbed. Negative: there is none. */
static double common_count(const struct probe_usage_experiment *experiment) {
    const double *readings = experiment->readings; /* in order */
    unsigned count = experiment->reading_count, near = 0;
    double whole = fmax(floor(low_reading(experiment) + NEAR_BELOW), 0);
    for (unsigned i = 0; i < count; i++) {
        near += readings[i] >= whole - NEAR_BELOW && readings[i] <= whole + NEAR_ABOVE;
    }
    return near >= SHARE * count ? whole : -1;
}

double probe_usage_early_count(const struct probe_usage_subject *subject,
                               const struct probe_usage_experiment *experiment,
                               const struct probe_portmap *map, double found) {
    if (experiment->reading_count == 0) {
        return 0;
    }
    double count = common_count(experiment);
    count = count < 0 ? floor(experiment->readings[0] + NOISE) : count;
    for (unsigned e = 0; e < subject->count; e++) {
        const struct probe_usage_experiment *other = &subject->experiments[e];
        bool holds = (experiment->target & ~other->target) == 0 && !probe_usage_is_widest(map, other);
        count = holds && other->reading_count > 0 ? fmin(count, round(other->confined)) : count;
    }
    return fmax(count - found, 0);
}
