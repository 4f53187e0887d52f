/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_size.c - how many blockers stand beside how many copies of a form. */
#include <math.h>
#include <string.h>

#include "probe/portmap_steps.h"
#include "probe/usage_steps.h"

enum {
    COPIES = 4,         /* of the form beside blockers ... */
    COPIES_OF_FAST = 8, /* ... and of one that takes a cycle at most: the more, the clearer */
    COPIES_OF_SLOW = 3, /* ... and of one that holds a unit for long, beside NOPs */
    COPIES_OF_MANY = 2, /* ... ports do some uops: copies for each port */
};

static const double CYCLES_LEAST = 4;   /* of a unit */
static const double CYCLES_SPARE = 1.5; /* blockers take longer than the copies alone, by this factor, */
static const double ISSUE_SPARE = 1.6;  /* NOPs even longer: what is slow takes slots in bursts */
static const double BRIEF = 2;          /* ... but where more than what they take is an upper bound */
static const double CHAIN_SPARE = 1.3;  /* and than what the copies of the next round wait for */
static const double SLOTS_SPARE = 1.25; /* and than the copies' µops take on one port ... */
static const double FOUND_SPARE = 1.5;  /* ... or, once they are known, on theirs */
/* What holds a unit is read best where the blockers take little longer than it does. */
static const double UNIT_CYCLES_PER_SLOT = 2.5, UNIT_SLOTS_MOST = 6, UNIT_SPARE = 1.3;
static const double SLOW_ISSUE_SPARE = 1.2, SLOW_RHYTHM = 1.0 / 3;
/* Readings of one experiment have rhythms of their own. */
static const double CYCLES_LONGER[] = {1, 1.37, 1.17, 1.53, 1.27, 1.1, 1.43, 1.21, 1.33};

/* ... the faster it is: of a slow one few say as much, and more would not fit. */
unsigned probe_usage_copies(double cycles) {
    return cycles <= 1.05 ? COPIES_OF_FAST : cycles <= 8 ? COPIES : cycles <= 25 ? 2 : 1;
}

bool probe_usage_holds_unit(double cycles, double slots) {
    return slots <= UNIT_SLOTS_MOST && cycles >= fmax(PROBE_USAGE_SLOW_CYCLES, UNIT_CYCLES_PER_SLOT * slots);
}

double probe_usage_terms_uops(const struct probe_usage_term *terms, unsigned count) {
    double uops = 0;
    for (unsigned t = 0; t < count; t++) {
        uops += terms[t].uops;
    }
    return uops;
}

void probe_usage_found_use(struct probe_usage_subject *subject, const struct probe_usage *result) {
    bool whole = true;
    for (unsigned e = 0; e < subject->count; e++) {
        whole = whole && (subject->experiments[e].parts == 0 || isfinite(subject->experiments[e].confined));
    }
    subject->found_count = whole ? result->term_count : 0;
    memcpy(subject->found, result->terms, sizeof subject->found);
    /* NaN slots: not known */
    subject->uops = fmin(probe_usage_terms_uops(subject->found, subject->found_count), subject->slots);
}

/* uops of one instance that may crowd on one port while the target is blocked, at most: each takes a slot,
 * and without blockers that port and the target do them all in the time that the form takes. What works with
 * vectors alone has only its loads elsewhere where the target is all their ports. */
static double crowd_most(const struct probe_usage_subject *subject, uint32_t target) {
    bool loads = subject->vector_ports != 0 && ports_within(subject->vector_ports, target);
    unsigned ports = loads ? 1 : ports_in(target) + 1;
    return fmin(subject->slots, PROBE_USAGE_CYCLES_MORE * subject->alone * ports); /* leaves NaN out */
}

/* Cycles in which ports that are not blocked take the uops of one instance that may go there: at most those
 * in which one port takes all. */
static double elsewhere_cycles(const struct probe_usage_subject *subject, uint32_t target) {
    struct probe_usage_term terms[PROBE_USAGE_TERMS];
    unsigned count = 0;
    for (unsigned t = 0; t < subject->found_count; t++) {
        terms[count] = subject->found[t];
        terms[count].ports &= ~target;
        count += terms[count].ports != 0;
    }
    double one_port = SLOTS_SPARE * crowd_most(subject, target); /* fmin, fmax leave NaN out */
    return subject->found_count > 0 ? fmin(FOUND_SPARE * probe_ports_bound(terms, count, NULL), one_port)
                                    : fmax(SLOTS_SPARE, one_port);
}

/* uops of one instance that were found to have no other ports than these. */
static double confined_uops(const struct probe_usage_subject *subject, uint32_t target) {
    double uops = 0;
    for (unsigned t = 0; t < subject->found_count; t++) {
        uops += ports_within(subject->found[t].ports, target) ? subject->found[t].uops : 0;
    }
    return uops;
}

/* Issue slots of a blocker. */
static double blocker_slots(const struct probe_portmap *map,
                            const struct probe_usage_experiment *experiment) {
    double slots = 1;
    for (unsigned p = 0; p < experiment->parts; p++) {
        int member = experiment->members[p];
        bool known = member >= 0 && (size_t)member < map->member_count;
        slots = known ? fmax(slots, probe_port_slots(&map->members[member])) : slots;
    }
    return slots;
}

/* Of the narrowest set of loads; 0: there is none. */
static unsigned load_ports(const struct probe_portmap *map) {
    unsigned least = 0;
    for (unsigned c = 0; c < map->class_count; c++) {
        const struct probe_port_class *class = &map->classes[c];
        least = class->load && (least == 0 || class->width < least) ? class->width : least;
    }
    return least;
}

/* Cycles in which the loads' ports do those of one instance beside those that renew the blockers. Infinite:
 * the blockers alone keep these ports busy. */
static double loads_cycles(const struct probe_usage_subject *subject, const struct probe_portmap *map,
                           const struct probe_usage_experiment *experiment) {
    double renewing = 0, loads = 1;
    for (unsigned p = 0; p < experiment->parts; p++) {
        int member = experiment->members[p];
        bool known = member >= 0 && (size_t)member < map->member_count;
        double more = known ? probe_port_slots(&map->members[member]) - 1 : 0;
        renewing += more * ports_in(experiment->blocked[p].ports);
    }
    unsigned ports = load_ports(map);
    int memory = renewing > 0 && ports > 0 ? isa_form_memory_operand(subject->form) : -1;
    if (memory < 0 || !subject->form->operands[memory].read) {
        return 0;
    }
    for (unsigned t = 0; t < subject->found_count; t++) {
        loads =
            probe_usage_is_load(map, subject->found[t].ports) ? fmax(loads, subject->found[t].uops) : loads;
    }
    double spare = ports - renewing;
    return spare > 0 ? SLOTS_SPARE * loads / spare : INFINITY;
}

/* How long the blockers must take so that nothing else of the form can bind. */
static double least_cycles(const struct probe_usage_subject *subject, const struct probe_portmap *map,
                           const struct probe_usage_experiment *experiment, unsigned copies) {
    uint32_t target = experiment->target;
    unsigned width = ports_in(target);
    double slots = subject->slots > 1 ? subject->slots : 1;
    bool unit = width != 0 && subject->holds_unit;
    double least = (unit ? UNIT_SPARE : CYCLES_SPARE) * copies * subject->alone;
    least = fmax(least, CHAIN_SPARE * subject->chain);
    if (width == 0) { /* NOPs */
        return CYCLES_LEAST +
               (subject->alone < PROBE_USAGE_SLOW_CYCLES ? ISSUE_SPARE : SLOW_ISSUE_SPARE) * least;
    }
    least = fmax(least, copies * elsewhere_cycles(subject, target));
    least = fmax(least, copies * loads_cycles(subject, map, experiment));
    double spare = map->issue_width - width * blocker_slots(map, experiment); /* a cycle, left by blockers */
    slots = SLOTS_SPARE * copies * fmax(slots, subject->uops);
    /* While the blocked ports take the form's own, all slots of these cycles are its. */
    slots -= map->issue_width * copies * confined_uops(subject, target) / width;
    least = fmax(least, spare > 0.25 ? slots / spare : 0);
    return CYCLES_LEAST + least;
}

/* About so many cycles, but `most`, with whole ones between two copies: what needs all ports in one cycle
 * would lose the rest of another. */
static double whole_between(double cycles, unsigned copies, double most) {
    double more = ceil(cycles / copies) * copies;
    return more <= most ? more : fmax(floor(most / copies), 1) * copies;
}

/* Do blockers stand only twice as long as the copies take alone, in the second and third of five readings
 * beside what others wait for? Whatever else binds then adds to it, as everything does to a bound; but what
 * may go elsewhere waits the less, the less long ports are blocked. (IMUL of a Zen 5, three a cycle on any of
 * six ports: beside 69 RORX eight read as 0.9 to 1.1 uops of their three ports, beside 18 as 0.3 to 0.5.) */
static bool blocks_briefly(const struct probe_usage_experiment *experiment, unsigned number) {
    unsigned of_five = number % PROBE_USAGE_BOUND_READINGS;
    return experiment->waits && (of_five == 1 || of_five == 2);
}

void probe_usage_experiment_size(struct probe_usage_experiment *experiment,
                                 const struct probe_usage_subject *subject, const struct probe_portmap *map,
                                 enum probe_usage_kind kind, unsigned number) {
    unsigned width = ports_in(experiment->target);
    double longer = CYCLES_LONGER[number % (sizeof CYCLES_LONGER / sizeof CYCLES_LONGER[0])];
    bool narrow = width == 0 ? subject->alone >= PROBE_USAGE_SLOW_CYCLES : subject->holds_unit;
    longer = narrow ? 1 + SLOW_RHYTHM * (longer - 1) : longer;
    double rate = width != 0 ? width : map->issue_width, cycles = 0;
    /* More copies where they cost no time: what others wait for is longer. */
    bool waits = CYCLES_SPARE * COPIES_OF_FAST * subject->alone < CHAIN_SPARE * subject->chain;
    unsigned copies = waits ? COPIES_OF_FAST : probe_usage_copies(subject->alone);
    if (width >= PROBE_USAGE_MANY_PORTS && !experiment->widest && copies < COPIES_OF_MANY * width) {
        copies = COPIES_OF_MANY * width;
    }
    if (width == 0) {
        /* A loop ends with a group of instructions: what whole groups are added is not lost in its last one.
         */
        copies =
            subject->alone < PROBE_USAGE_SLOW_CYCLES ? (unsigned)round(map->issue_width) : COPIES_OF_SLOW;
    }
    double most = floor(PROBE_USAGE_BLOCKERS / rate);
    unsigned before = experiment->copies;
    const bool brief = blocks_briefly(experiment, number);
    for (experiment->copies = copies; experiment->copies > 0; experiment->copies /= 2) {
        double least = brief ? fmax(BRIEF * experiment->copies * subject->alone, 1)
                             : least_cycles(subject, map, experiment, experiment->copies);
        cycles = fmin(ceil(brief ? least : longer * least), most);
        if (ceil(least) <= most) {
            break;
        }
    }
    if (experiment->copies == 0) { /* what was read of it before remains */
        experiment->copies = before;
        experiment->parts = experiment->reading_count > 0 ? experiment->parts : 0;
        experiment->wanted = 0;
        return;
    }
    if (experiment->one_place) {
        cycles = whole_between(cycles, experiment->copies, most);
    }
    experiment->base_copies =
        experiment->based && kind != PROBE_USAGE_GLANCED && width != 0 && !subject->renews
            ? experiment->copies / 2
            : 0;
    for (unsigned p = 0; p < experiment->parts; p++) {
        experiment->blocked[p].uops =
            width != 0 ? cycles * ports_in(experiment->blocked[p].ports) : ceil(cycles * rate);
    }
}
