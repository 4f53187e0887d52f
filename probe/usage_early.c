/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_early.c - cores that bind uops to ports before it is known which will be free (Zen 4). One that
 * could go elsewhere may wait behind blockers: a reading is an upper bound then. docs/port_usage.md, "What
 * binds early". */
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

/* Where only some wait they add a part of a uop that never comes near one (VMOVD beside RORX of a Zen 5: 0.4
 * to 0.6), and what two readings agree on is seldom so far below a count. */
static const double WAIT_MOST = 0.3, WAIT_MOST_OF_MANY = 0.25, ONE_LACKS = 0.35;

/* Issue slots that blockers leave in a cycle: beside those that leave fewer noise looks like a wait. */
static const double SLOTS_SPARE = 2.5;

/* How far readings of a count are below and above it, and as a part of all, how many must be; what noise
 * takes off the least. */
static const double NEAR_BELOW = 0.2, NEAR_ABOVE = 0.25, SHARE = 0.5, NOISE = 0.17;

/* Instances of a class beside blockers of another that leaves it a port, at least. */
struct trial {
    unsigned blocked, beside; /* classes */
    bool nested;              /* the one holds the other, and one port more */
    double added;             /* uops that an instance adds, by the least of all looks; NaN */
};
enum { TRIALS = PROBE_PORTSET_CLASSES * PROBE_PORTSET_CLASSES };

/* Does `outer` hold all ports of `inner`, and one more? */
static bool has_one_more(const struct probe_portmap *map, const struct probe_port_class *outer,
                         const struct probe_port_class *inner) {
    return probe_port_class_computes(map, outer) && probe_port_class_computes(map, inner) &&
           ports_within(inner->ports, outer->ports) && ports_in(outer->ports) == ports_in(inner->ports) + 1;
}

/* Has `beside` a port that `blocked` lacks, and are there issue slots for both? */
static bool has_another(const struct probe_portmap *map, const struct probe_port_class *beside,
                        const struct probe_port_class *blocked) {
    bool spare = blocked->width + SLOTS_SPARE < map->issue_width;
    return probe_port_class_computes(map, beside) && probe_port_class_computes(map, blocked) && spare &&
           !ports_within(beside->ports, blocked->ports);
}

/* The first PAIRS that are nested, and all others. */
static unsigned trials_choose(const struct probe_portmap *map, struct trial trials[TRIALS]) {
    unsigned count = 0, pairs = 0;
    for (unsigned i = 0; i < map->class_count; i++) {
        for (unsigned o = 0; o < map->class_count; o++) {
            const struct probe_port_class *inner = &map->classes[i], *outer = &map->classes[o];
            bool nested = has_one_more(map, outer, inner);
            bool wanted = nested ? outer->width + 1 < map->issue_width && pairs < PAIRS
                                 : has_another(map, outer, inner);
            pairs += nested && wanted;
            if (wanted) {
                trials[count++] = (struct trial){.blocked = i, .beside = o, .nested = nested, .added = NAN};
            }
        }
    }
    return count;
}

static enum ip_status trial_add(const struct probe_portmap *map, const struct trial *trial,
                                struct probe_batch *batch, size_t *slot, struct ip_error *err) {
    const unsigned classes[2] = {trial->blocked, trial->beside};
    int members[2];
    *slot = SIZE_MAX;
    if (!probe_port_blockers_choose(map, classes, 2, members)) {
        return IP_OK;
    }
    unsigned blockers = CYCLES * map->classes[trial->blocked].width;
    const struct gen_part parts[2] = {probe_port_part(&map->members[members[0]], blockers),
                                      probe_port_part(&map->members[members[1]], INSTANCES)};
    return probe_mix_add(batch, parts, 2, slot, err);
}

/* Once. Lowers `added`. */
static enum ip_status trials_look(const struct probe_usage_session *session, struct trial *trials,
                                  unsigned count, struct ip_error *err) {
    struct probe_batch batch = {0};
    size_t slots[TRIALS];
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < count && status == IP_OK; i++) {
        status = trial_add(session->map, &trials[i], &batch, &slots[i], err);
    }
    status = status == IP_OK ? probe_usage_batch_run(session, &batch, PROBE_USAGE_LOOKED, err) : status;
    for (unsigned i = 0; i < count && status == IP_OK; i++) {
        unsigned width = session->map->classes[trials[i].blocked].width;
        double more = (probe_mix_cycles(&batch, slots[i]) - CYCLES) * width / INSTANCES;
        trials[i].added = fmin(trials[i].added, more); /* fmin leaves NaN out */
    }
    probe_batch_fini(&batch);
    return status;
}

enum ip_status probe_usage_binding_measure(struct probe_usage_session *session, struct ip_error *err) {
    struct trial trials[TRIALS];
    unsigned count = trials_choose(session->map, trials), known = 0, some = 0;
    enum ip_status status = IP_OK;
    for (unsigned time = 0; time < TIMES && status == IP_OK; time++) { /* a neighbour comes and goes */
        status = trials_look(session, trials, count, err);
    }
    session->core.delays = 0;
    for (unsigned i = 0; i < count; i++) {
        bool adds = trials[i].added > ADDED;
        known += trials[i].nested && isfinite(trials[i].added);
        some += trials[i].nested && adds;
        session->core.delays |= adds ? UINT64_C(1) << trials[i].blocked : 0;
    }
    session->core.binds_early = some > 0 && some * PART >= known;
    return status;
}

static bool leaves_one_port(const struct probe_portmap *map, const struct probe_port_class *class) {
    for (unsigned c = 0; c < map->class_count; c++) {
        if (has_one_more(map, &map->classes[c], class)) {
            return true;
        }
    }
    return false;
}

bool probe_usage_delays(const struct probe_usage_subject *subject, const struct probe_portmap *map,
                        unsigned number) {
    return subject->binds_early ? leaves_one_port(map, &map->classes[number])
                                : (subject->delays >> number & 1) != 0;
}

const char *probe_usage_too_many(const struct probe_usage_subject *subject, double clear) {
    enum { GLANCES = 2 };
    const struct probe_usage_experiment *issue = &subject->issue;
    unsigned least = issue->kind == PROBE_USAGE_GLANCED ? GLANCES : 1;
    double slots = issue->reading_count >= least ? issue->confined - clear : NAN;
    bool vectors = probe_usage_is_vectors_alone(subject->form), waits = subject->delays != 0 && !vectors;
    double most = vectors ? PROBE_USAGE_EARLY_SLOTS : PROBE_USAGE_EARLY_UOPS;
    return subject->binds_early && slots > most        ? PROBE_USAGE_EARLY_WHY
           : waits && slots > PROBE_USAGE_DELAYED_UOPS ? PROBE_USAGE_DELAYED_WHY
                                                       : NULL;
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

/* Where the readings have no whole number in common. Of many uops strays are no less than of one, but what is
 * left above a whole number is a smaller part. */
static double least_count(const struct probe_usage_experiment *experiment) {
    static const double many = 2;
    double low = floor(low_reading(experiment) + NOISE);
    return low >= many ? low : floor(experiment->readings[0] + NOISE);
}

bool probe_usage_is_undecided(const struct probe_usage_experiment *experiment) {
    const double *readings = experiment->readings; /* in order */
    unsigned count = experiment->reading_count;
    return count > 0 && readings[0] < floor(readings[count / 2] + NEAR_BELOW) - NEAR_BELOW;
}

/* Where only some uops wait. Of many ports a count is no more than the slots that nothing else computes in,
 * and what needs none. */
static double delayed_count(const struct probe_usage_subject *subject,
                            const struct probe_usage_experiment *experiment, const struct probe_usage *result,
                            const struct probe_portmap *map, double found) {
    double read = experiment->confined, computing = 0;
    if (ports_in(experiment->target) < PROBE_USAGE_MANY_PORTS) {
        return floor(read + WAIT_MOST);
    }
    for (unsigned t = 0; t < result->term_count; t++) {
        const struct probe_usage_term *term = &result->terms[t];
        computing += term->store || probe_usage_is_load(map, term->ports) ? 0 : term->uops;
    }
    double count = floor(read + (read < 1 ? ONE_LACKS : WAIT_MOST_OF_MANY));
    double most = fmax(round(result->slots), 1) + probe_usage_slotless(subject->form) - computing + found;
    return isfinite(result->slots) ? fmin(count, fmax(most, found)) : count;
}

double probe_usage_early_count(const struct probe_usage_subject *subject,
                               const struct probe_usage_experiment *experiment,
                               const struct probe_usage *result, const struct probe_portmap *map,
                               double found) {
    if (experiment->reading_count == 0) {
        return 0;
    }
    double count = subject->binds_early ? common_count(experiment)
                                        : delayed_count(subject, experiment, result, map, found);
    count = count < 0 ? least_count(experiment) : count;
    for (unsigned e = 0; e < subject->count; e++) {
        const struct probe_usage_experiment *other = &subject->experiments[e];
        bool holds = ports_within(experiment->target, other->target) && !probe_usage_is_widest(map, other);
        if (holds && other->reading_count > 0) {
            /* Of many readings two strays agree now and then. */
            double read = subject->binds_early ? fmax(other->confined, low_reading(other)) : other->confined;
            count = fmin(count, round(read));
        }
    }
    return fmax(count - found, 0);
}
