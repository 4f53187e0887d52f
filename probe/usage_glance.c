/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_glance.c - a form's ports by one glance at each mix. A single glance may be wrong by anything,
 * but what is wrong seldom fits: a set's uops show in every set that holds it, all together are the issue
 * slots, and mixes that nothing was inferred from must come out as well. So few glances do for most forms,
 * and only the others are looked at closely. docs/port_usage.md, "Glances". */
#include <math.h>

#include "generator/operands.h"
#include "harness/stats.h"
#include "probe/usage_steps.h"

static const double ZERO_MOST = 0.3;       /* uops: a reading below is none */
static const double INTEGER_WITHIN = 0.25; /* of a reading to an integer */
static const double ISSUE_WITHIN = 0.4;    /* the same of issue slots, which uops must explain besides */
static const double ERROR_MOST = 0.3;      /* uops: vaguer glances prove nothing */
static const double RESIDUAL_MOST = 0.3;
static const double WIDEST_WITHIN = 0.35; /* uops: of all that compute to what a set of all ports says */
/* Where readings are upper bounds, and there were some: so far the least may be above the count. */
static const double BOUND_WITHIN = 0.7;
enum {
    GLANCES_MOST = 9,
    BESIDE_LEAST = 5, /* of a set that has uops beside others */
    SEEN_TWICE = 2,
    ALL_AGAIN = 2, /* of all sets, where what is clear does not fit */
    WIDE_BITS = 512,
    FEW_UOPS = 2,
};

static bool is_inside(const struct probe_usage_experiment *inner,
                      const struct probe_usage_experiment *outer) {
    return ports_within(inner->target, outer->target) && inner->target != outer->target;
}

static bool is_of_memory(const struct probe_usage_experiment *experiment, const struct probe_portmap *map) {
    return experiment->store || probe_usage_is_load(map, experiment->target);
}

/* A set that others can be within: all but the widest, whose readings are vague. */
static bool is_outer(const struct probe_usage_experiment *experiment, const struct probe_portmap *map) {
    return experiment->parts != 0 && !probe_usage_is_widest(map, experiment);
}

static bool is_top(const struct probe_usage_subject *subject, const struct probe_usage_experiment *experiment,
                   const struct probe_portmap *map) {
    for (unsigned e = 0; e < subject->count; e++) {
        const struct probe_usage_experiment *outer = &subject->experiments[e];
        if (is_outer(outer, map) && is_inside(experiment, outer)) {
            return false;
        }
    }
    return true;
}

void probe_usage_glance_tops(struct probe_usage_subject *subject, const struct probe_portmap *map) {
    for (unsigned e = 0; e < subject->count; e++) {
        struct probe_usage_experiment *experiment = &subject->experiments[e];
        experiment->wanted = !probe_usage_is_widest(map, experiment) && is_top(subject, experiment, map);
    }
}

/* What renews the operands is taken off: one slow mix of that alone would hide a uop. */
static bool may_take_off_too_much(const struct probe_usage_experiment *experiment) {
    return experiment->renewal_count == 1 && experiment->renewed > ZERO_MOST;
}

static bool is_zero(const struct probe_usage_experiment *experiment) {
    return experiment->reading_count > 0 && fabs(experiment->confined) <= ZERO_MOST &&
           !may_take_off_too_much(experiment);
}

void probe_usage_glance_inner(struct probe_usage_subject *subject, const struct probe_portmap *map) {
    for (unsigned e = 0; e < subject->count; e++) {
        struct probe_usage_experiment *experiment = &subject->experiments[e];
        if (experiment->reading_count > 0 || probe_usage_is_widest(map, experiment)) {
            continue;
        }
        experiment->wanted = true;
        for (unsigned o = 0; o < subject->count; o++) {
            const struct probe_usage_experiment *outer = &subject->experiments[o];
            experiment->implied = experiment->implied ||
                                  (is_outer(outer, map) && is_zero(outer) && is_inside(experiment, outer));
        }
        experiment->wanted = !experiment->implied;
    }
}

/* What the terms are made of. Where loads and stores have the same ports all are stores. */
struct sums {
    double uops, loads, stores;
    bool shared;
};

static struct sums sums_of(const struct probe_usage *result, const struct probe_portmap *map) {
    struct sums sums = {.uops = probe_usage_terms_uops(result->terms, result->term_count)};
    for (unsigned t = 0; t < result->term_count; t++) {
        const struct probe_usage_term *term = &result->terms[t];
        bool load = probe_usage_is_load(map, term->ports);
        sums.loads += load && !term->store ? term->uops : 0;
        sums.stores += term->store ? term->uops : 0;
        sums.shared = sums.shared || (load && term->store);
    }
    return sums;
}

void probe_usage_glance_widest(struct probe_usage_subject *subject, const struct probe_portmap *map) {
    subject->uops = probe_usage_terms_uops(subject->result->terms, subject->result->term_count) + 1;
    for (unsigned e = 0; e < subject->count; e++) {
        struct probe_usage_experiment *experiment = &subject->experiments[e];
        if (probe_usage_is_widest(map, experiment)) {
            experiment->wanted = experiment->wanted || experiment->reading_count == 0;
        }
    }
}

/* Read twice or more, each. */
static bool all_read(const struct probe_usage_subject *subject) {
    for (unsigned e = 0; e < subject->count; e++) {
        const struct probe_usage_experiment *experiment = &subject->experiments[e];
        if (experiment->parts != 0 && experiment->reading_count < 2) {
            return false;
        }
    }
    return true;
}

/* What could go elsewhere and waits makes a reading more than the terms say: where it was seen to. */
static bool is_waited_for(const struct probe_usage_subject *subject,
                          const struct probe_usage_experiment *experiment) {
    const struct probe_usage *result = subject->result;
    double confined = 0;
    for (unsigned t = 0; t < result->term_count; t++) {
        confined += ports_within(result->terms[t].ports, experiment->target) ? result->terms[t].uops : 0;
    }
    double more = experiment->confined - confined;
    return subject->delays != 0 && more >= -INTEGER_WITHIN &&
           more <= INTEGER_WITHIN + probe_usage_waits(result->terms, result->term_count, experiment->target);
}

static bool is_clear(const struct probe_usage_experiment *experiment, double within) {
    double above = experiment->confined - floor(experiment->confined + within);
    double distance =
        experiment->bounds && above <= BOUND_WITHIN && experiment->reading_count >= PROBE_USAGE_BOUND_READINGS
            ? 0
            : fabs(experiment->confined - round(experiment->confined));
    return experiment->reading_count > 0 && distance <= within && probe_usage_error(experiment) <= ERROR_MOST;
}

/* Do two readings or more, and more than half of them, say the same? */
static bool is_seen_twice(const struct probe_usage_experiment *experiment) {
    const double *readings = experiment->readings;
    unsigned count = experiment->reading_count, half = count / 2 + 1;
    size_t best = count >= 2 ? hx_narrowest(readings, count, half) : 0;
    return count >= 2 && readings[best + half - 1] - readings[best] <= 2 * INTEGER_WITHIN;
}

static bool issue_is_clear(const struct probe_usage_experiment *issue) {
    return is_seen_twice(issue) && is_clear(issue, ISSUE_WITHIN);
}

/* A form that reads and writes its memory may do both with one address (Zen), and beside loads it runs now
 * and then in a slower rhythm, as if it had another: a load of it is one that many readings show. */
static bool load_is_vague(const struct probe_usage_subject *subject,
                          const struct probe_usage_experiment *experiment, const struct probe_portmap *map) {
    double stores = 0;
    for (unsigned t = 0; t < subject->result->term_count; t++) {
        const struct probe_usage_term *term = &subject->result->terms[t];
        stores += term->store && ports_within(term->ports, experiment->target) ? term->uops : 0;
    }
    return probe_usage_is_load(map, experiment->target) && gen_form_modifies_memory(subject->form) &&
           experiment->confined > stores + ZERO_MOST &&
           experiment->reading_count < PROBE_USAGE_BOUND_READINGS;
}

/* Has a set within it as many? Then these are all of it, and none of them could go elsewhere. */
static bool is_explained(const struct probe_usage_subject *subject,
                         const struct probe_usage_experiment *experiment) {
    for (unsigned e = 0; e < subject->count; e++) {
        const struct probe_usage_experiment *inner = &subject->experiments[e];
        if (is_inside(inner, experiment) && inner->reading_count > 0 &&
            round(inner->confined) >= round(experiment->confined)) {
            return true;
        }
    }
    return false;
}

/* So far readings spread that are but chance of one and the same. */
static bool is_spread(const struct probe_usage_experiment *experiment) {
    unsigned count = experiment->reading_count;
    return count > 1 && experiment->readings[count - 1] - experiment->readings[0] > 2 * INTEGER_WITHIN;
}

/* A form that takes longer than its ports may have uops where nobody looked: was a set that is taken to have
 * none, and so none within it, read but once? */
static bool may_hide_some(const struct probe_usage_subject *subject,
                          const struct probe_usage_experiment *experiment, const struct probe_portmap *map) {
    bool implies = false;
    for (unsigned e = 0; e < subject->count; e++) {
        const struct probe_usage_experiment *inner = &subject->experiments[e];
        implies = implies || (inner->implied && is_inside(inner, experiment));
    }
    return implies && subject->result->slower && is_outer(experiment, map) && is_zero(experiment) &&
           experiment->reading_count < SEEN_TWICE;
}

/* Do as many readings as are enough elsewhere leave open whether there is a uop more? */
static bool is_undecided(const struct probe_usage_subject *subject,
                         const struct probe_usage_experiment *experiment) {
    return subject->binds_early && experiment->bounds &&
           experiment->reading_count >= PROBE_USAGE_BOUND_READINGS &&
           experiment->reading_count < GLANCES_MOST && probe_usage_is_undecided(experiment);
}

/* Where uops are bound early, one reading that is too low by chance moves a uop to a set that holds its own,
 * or away: was this set read but once, and is a uop told beside it, or one seen within it that it lacks? */
static bool may_lack_some(const struct probe_usage_subject *subject,
                          const struct probe_usage_experiment *experiment) {
    if (!subject->binds_early || !experiment->bounds || experiment->reading_count != 1) {
        return false;
    }
    bool beside = false;
    for (unsigned t = 0; t < subject->result->term_count; t++) {
        uint32_t ports = subject->result->terms[t].ports;
        beside = beside || (ports_within(experiment->target, ports) && ports != experiment->target);
    }
    for (unsigned e = 0; e < subject->count; e++) {
        const struct probe_usage_experiment *inner = &subject->experiments[e];
        beside = beside || (is_inside(inner, experiment) && inner->reading_count > 0 &&
                            round(inner->confined) > round(experiment->confined));
    }
    return beside;
}

static bool set_is_clear(const struct probe_usage_subject *subject,
                         const struct probe_usage_experiment *experiment, const struct probe_portmap *map) {
    /* The widest's is held within the slots, whatever it is. */
    double within = probe_usage_is_widest(map, experiment) ? 0.5 : INTEGER_WITHIN;
    bool nothing_blocks = experiment->members[0] < 0;
    bool bounded =
        experiment->confined > probe_usage_confined_most(subject, subject->result, map, experiment);
    /* Its uops may be such that could go elsewhere. */
    bool open = experiment->bounds && experiment->confined > ZERO_MOST && !is_top(subject, experiment, map) &&
                !is_explained(subject, experiment);
    /* One of two that is too short by chance would hide a uop, and two of three that are too long show one;
     * and between two of which one is wrong there may be a whole number. */
    bool split = (experiment->bounds || !probe_usage_is_widest(map, experiment)) && is_spread(experiment);
    /* What contradicts itself set by set must not do so by chance, nor agree where bursts of a unit read low.
     */
    bool unsure = subject->result->reconciled || subject->result->slower;
    bool once = unsure && experiment->confined > ZERO_MOST && !is_seen_twice(experiment);
    if (((open || split || once) && experiment->reading_count < PROBE_USAGE_BOUND_READINGS) ||
        is_undecided(subject, experiment) || load_is_vague(subject, experiment, map) ||
        may_hide_some(subject, experiment, map) || may_lack_some(subject, experiment) ||
        may_take_off_too_much(experiment)) {
        return false;
    }
    if (experiment->by_operands) {
        return probe_usage_most_show(experiment, PROBE_USAGE_STORE_SEEN);
    }
    bool waited =
        !is_of_memory(experiment, map) && is_seen_twice(experiment) && is_waited_for(subject, experiment);
    return experiment->implied || nothing_blocks || bounded || waited || is_clear(experiment, within);
}

/* Where NOPs are to tell whether all uops were seen: a load may share its slot, and so hide that one was not.
 */
static bool slots_may_be_shared(const struct probe_usage_subject *subject, const struct probe_portmap *map) {
    return probe_usage_glance_needs_issue(map) && isa_form_memory_operand(subject->form) >= 0;
}

/* What a set within another has shows in both. What only a set that no other holds has was seen once: is it
 * seen again? And often enough where it stands beside others: a neighbour takes slots as the widest's uops
 * do, and a mix with loads may run in a slower rhythm (a uop of {0 5} more in one kernel of six). */
static bool top_fits(const struct probe_usage_subject *subject,
                     const struct probe_usage_experiment *experiment, const struct probe_portmap *map) {
    const struct probe_usage *result = subject->result;
    bool found = false, beside = false;
    for (unsigned t = 0; t < result->term_count; t++) {
        found = found || result->terms[t].ports == experiment->target;
        beside = beside || result->terms[t].ports != experiment->target;
    }
    if (is_of_memory(experiment, map) || !is_top(subject, experiment, map)) {
        return true;
    }
    if (!found) {
        return !slots_may_be_shared(subject, map) || experiment->reading_count < 2 ||
               is_seen_twice(experiment);
    }
    if (beside && experiment->reading_count < BESIDE_LEAST) {
        return false;
    }
    return probe_usage_is_widest(map, experiment) || is_seen_twice(experiment);
}

/* The widest's own uops look like whatever the front end loses: one alone is plain, one beside others is not.
 */
static bool widest_fits(const struct probe_usage_subject *subject, const struct sums *sums,
                        const struct probe_portmap *map) {
    const struct probe_usage *result = subject->result;
    double computing = sums->uops - sums->loads - sums->stores, own = 0;
    for (unsigned t = 0; t < result->term_count; t++) {
        const struct probe_usage_experiment its = {.target = result->terms[t].ports};
        bool memory = result->terms[t].store || probe_usage_is_load(map, result->terms[t].ports);
        own += !memory && probe_usage_is_widest(map, &its) ? result->terms[t].uops : 0;
    }
    return own == 0 || own == computing;
}

/* A load or a store for the operand in memory, and no more: whatever disturbs loads disturbs all of them, and
 * no other set would show it. */
static bool memory_fits(const struct probe_usage_subject *subject, const struct sums *sums,
                        const struct probe_portmap *map) {
    const struct isa_form *form = subject->form;
    int operand = isa_form_memory_operand(form);
    bool reads = operand >= 0 && form->operands[operand].read;
    bool writes = operand >= 0 && form->operands[operand].write;
    bool wide = operand >= 0 && form->operands[operand].bits >= WIDE_BITS;
    double halves = wide ? probe_usage_slot_uops_most(subject, subject->result, map) : 1;
    double stores = writes + (sums->shared && reads ? 1 : 0);
    return sums->loads <= reads * halves && sums->stores <= stores * halves;
}

/* Are all uops but those of memory seen by one set that holds their ports, and no others? */
static bool all_seen(const struct probe_usage_subject *subject, const struct sums *sums,
                     const struct probe_portmap *map) {
    uint32_t ports = 0;
    double computing = sums->uops - sums->loads - sums->stores;
    for (unsigned e = 0; e < subject->count; e++) {
        const struct probe_usage_experiment *experiment = &subject->experiments[e];
        bool none = experiment->implied && experiment->parts == 0;
        ports |= none || is_of_memory(experiment, map) ? 0 : experiment->target;
    }
    for (unsigned e = 0; e < subject->count; e++) {
        const struct probe_usage_experiment *experiment = &subject->experiments[e];
        if (experiment->reading_count > 0 && ports_within(ports, experiment->target)) {
            return fabs(experiment->confined - computing) <= WIDEST_WITHIN;
        }
    }
    return false;
}

/* Are the uops all that there are? NOPs tell it best, but it takes long. */
static bool sum_fits(const struct probe_usage_subject *subject, const struct sums *sums,
                     const struct probe_portmap *map) {
    double slots = round(subject->result->slots);
    /* Vectors' microcode fills slots with more than uops, and all of its ports are in sets that were read. */
    if (subject->delays != 0 && probe_usage_is_vectors_alone(subject->form) && sums->uops > FEW_UOPS &&
        all_seen(subject, sums, map)) {
        return true;
    }
    if (isfinite(slots) || probe_usage_glance_needs_issue(map)) { /* a load may go with another uop */
        double stores = probe_usage_glance_needs_issue(map) ? sums->stores : 0; /* AMD's may share it, too */
        double least =
            (sums->uops - sums->loads - stores) / probe_usage_slot_uops_most(subject, subject->result, map);
        /* One uop may need no port. Of many a reading may lack one, and a slot that a load did not share
         * hides it. */
        bool few = sums->uops - sums->loads <= FEW_UOPS;
        double most = few ? sums->uops + all_read(subject) : sums->uops - sums->loads;
        /* Of what holds a port for most of its time the slots are vague, and so few that no set misses any.
         */
        if (probe_usage_holds_a_port(subject->form, subject->result, map)) {
            return true;
        }
        return issue_is_clear(&subject->issue) && slots <= most &&
               slots + probe_usage_slotless(subject->form) >= least &&
               probe_usage_halves_fit(subject, subject->result, map);
    }
    return sums->uops > 0 && widest_fits(subject, sums, map) && all_seen(subject, sums, map);
}

/* Apart from the sum: is all that was read clear, and does it give back every mix? */
static bool readings_fit(const struct probe_usage_subject *subject, const struct sums *sums,
                         const struct probe_portmap *map) {
    const struct probe_usage *result = subject->result;
    for (unsigned e = 0; e < subject->count; e++) {
        const struct probe_usage_experiment *experiment = &subject->experiments[e];
        if (!set_is_clear(subject, experiment, map) || !top_fits(subject, experiment, map)) {
            return false;
        }
    }
    for (unsigned c = 0; c < subject->check_count; c++) {
        if (!is_clear(&subject->checks[c], 0.5)) {
            return false;
        }
    }
    double computing = sums->uops - sums->loads - sums->stores;
    return result->verdict == PROBE_USAGE_OK && result->residual <= RESIDUAL_MOST &&
           memory_fits(subject, sums, map) && computing <= subject->slots;
}

bool probe_usage_glance_fits(const struct probe_usage_subject *subject, const struct probe_portmap *map) {
    const struct sums sums = sums_of(subject->result, map);
    return readings_fit(subject, &sums, map) && sum_fits(subject, &sums, map);
}

bool probe_usage_glance_asks_issue(const struct probe_usage_subject *subject,
                                   const struct probe_portmap *map) {
    const struct sums sums = sums_of(subject->result, map);
    return !isfinite(subject->result->slots) && readings_fit(subject, &sums, map);
}

/* What two readings leave unclear takes some more, as a rule. */
static unsigned glances_more(const struct probe_usage_subject *subject,
                             const struct probe_usage_experiment *experiment) {
    unsigned count = experiment->reading_count;
    if (count >= SEEN_TWICE && count < BESIDE_LEAST) {
        return BESIDE_LEAST - count;
    }
    return is_undecided(subject, experiment) ? GLANCES_MOST - count : 1;
}

bool probe_usage_glance_again(struct probe_usage_subject *subject, const struct probe_portmap *map) {
    bool any = false, implied = false;
    const struct sums sums = sums_of(subject->result, map);
    double computing = sums.uops - sums.loads - sums.stores;
    /* The mixes were too short for so many uops. */
    bool longer = subject->result->verdict == PROBE_USAGE_OK && computing > subject->slots;
    unsigned most = 0, least = GLANCES_MOST;
    subject->slots = longer ? computing : subject->slots;
    subject->issue.wanted = probe_usage_glance_needs_issue(map) && !issue_is_clear(&subject->issue);
    subject->check_count = 0; /* they are chosen anew */
    for (unsigned e = 0; e < subject->count; e++) {
        struct probe_usage_experiment *experiment = &subject->experiments[e];
        bool unclear = !set_is_clear(subject, experiment, map) || !top_fits(subject, experiment, map);
        most = experiment->tries > most ? experiment->tries : most;
        least = experiment->reading_count < least ? experiment->reading_count : least;
        experiment->wanted =
            experiment->parts != 0 && (longer || unclear) ? glances_more(subject, experiment) : 0;
        if (longer && experiment->wanted > 0) {
            probe_usage_readings_drop(experiment, PROBE_USAGE_GLANCED);
            experiment->wanted = 1;
        }
        experiment->implied = experiment->implied && !(longer && experiment->parts != 0);
        any = any || experiment->wanted > 0;
        implied = implied || (experiment->implied && experiment->parts != 0);
    }
    any = any || subject->issue.wanted;
    if (!any && !implied && least >= ALL_AGAIN) {
        return false; /* all is clear, and yet it does not fit */
    }
    for (unsigned e = 0; e < subject->count && !any; e++) {
        struct probe_usage_experiment *experiment = &subject->experiments[e];
        experiment->wanted = experiment->parts != 0 && (experiment->implied || !implied);
        experiment->implied = experiment->implied && experiment->parts == 0;
    }
    return most < GLANCES_MOST;
}

bool probe_usage_glance_needs_issue(const struct probe_portmap *map) {
    return probe_usage_issue_is_narrow(map) || probe_usage_flags_are_hidden(map) ||
           probe_usage_vectors_are_hidden(map);
}
