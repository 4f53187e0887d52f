/* SPDX-License-Identifier: Apache-2.0 */
/* probe/pair_read.c - from the cycles of interleavings to shared ports. */
#include <math.h>
#include <stdio.h>

#include "probe/pair.h"

enum { WIDTH_MAX = 12 }; /* ports that a form is taken to use at most */
/* A width counts as an integer when it is so near to one. */
static const double WIDTH_TOLERANCE = 0.05;
/* A union counts as an integer when it is so near to one. */
static const double UNION_TOLERANCE = 0.15;
/* So much of what runs beside a busy set, or so little, is confined to it. */
static const double CONFINED_ALL = 0.7, CONFINED_NONE = 0.3;
/* The unit is limited by the issue where it takes so little more than that. */
static const double ISSUE_TOLERANCE = 0.03;
/* A form of more issue slots than this has several uops: 1/throughput is no number of ports. Where the slots
 * take nearly all of its time it tells nothing of its ports. */
static const double SLOTS_SEVERAL = 1.5, SLOTS_TOLERANCE = 0.1;
/* So much longer than its ports are busy is a part whose instances wait for each other. */
static const double CHAINED_TOLERANCE = 0.05;
/* A side that takes more than this part of what the ports of both take leaves room for the other anyway. */
static const double HIDING_PART = 0.9;
/* What is added takes no longer than alone, whatever ports it shares; what closes one takes longer. */
static const double CLOSES_FACTOR = 1.5;
/* Times that nearly add up, or do not meet, as a part of the difference. */
static const double TIMES_TOLERANCE = 0.1;

/* 1/throughput where that is an integer, else 0: the number of ports of a one-slot form. */
static double width_of(double cycles) {
    if (!(cycles > 0.0)) {
        return 0.0;
    }
    double width = 1.0 / cycles, nearest = round(width);
    return nearest >= 1.0 && nearest <= WIDTH_MAX && fabs(width - nearest) <= WIDTH_TOLERANCE * nearest
               ? nearest
               : 0.0;
}

static double narrower(const struct probe_pair *pair) {
    return fmin(pair->sides[0].width, pair->sides[1].width);
}

bool probe_pair_closes(const struct probe_pair *pair) {
    return pair->wide_more > CLOSES_FACTOR; /* NaN is not */
}

bool probe_pair_widths_known(const struct probe_pair *pair) {
    return narrower(pair) > 0 && !probe_pair_closes(pair);
}

static void shared_is(struct probe_pair *pair, double shared) {
    pair->shared_width = pair->shared_least = pair->shared_most = shared;
    pair->union_width = pair->sides[0].width + pair->sides[1].width - shared;
    pair->sharing = shared < 0.5                    ? PROBE_SHARING_NONE
                    : shared > narrower(pair) - 0.5 ? PROBE_SHARING_ALL
                                                    : PROBE_SHARING_SOME;
    pair->why[0] = '\0';
}

/* What few of the form with fewer ports among many of the other say: are its ports all among the other's? Of
 * two with as many ports both must say so: a core that binds uops to ports before it knows which are free has
 * few of {1, 2} wait among many of {2, 3}, but not the other way round. */
static bool is_nested(const struct probe_pair *pair) {
    const struct probe_side *sides = pair->sides;
    bool nested = true;
    for (unsigned i = 0; i < 2; i++) {
        bool narrow = sides[i].width <= sides[1 - i].width;
        nested = nested && (!narrow || (sides[i].beside.measured && sides[i].beside.confined > CONFINED_ALL));
    }
    return nested;
}

static bool is_not_nested(const struct probe_pair *pair) {
    const struct probe_side *sides = pair->sides;
    bool apart = false;
    for (unsigned i = 0; i < 2; i++) {
        bool narrow = sides[i].width <= sides[1 - i].width;
        apart = apart || (narrow && sides[i].beside.measured && sides[i].beside.confined < CONFINED_NONE);
    }
    return apart;
}

/* Does the unit take what the instances of one side take that wait for each other? Then it tells no union,
 * but only how large that is at least. */
static bool is_chained(const struct probe_pair *pair) {
    double part = pair->expected_disjoint_cycles, longest = 0;
    for (unsigned i = 0; i < 2; i++) {
        longest = fmax(longest, pair->sides[i].count * pair->sides[i].cycles);
    }
    return part > longest * (1 + CHAINED_TOLERANCE) && pair->together_cycles < part * (1 + CHAINED_TOLERANCE);
}

/* Both take the same port time, so a round of as many instances of each as it has ports takes
 * (instances)/|A u B|. */
static void ports_read(struct probe_pair *pair) {
    const double a_width = pair->sides[0].width, b_width = pair->sides[1].width;
    double ports = (pair->sides[0].count + pair->sides[1].count) / pair->together_cycles;
    double nearest = round(ports), least = fmax(a_width, b_width), most = a_width + b_width;
    bool fits = nearest > least - 0.5 && nearest < most + 0.5;
    bool chained = is_chained(pair);
    bool exact = fits && fabs(ports - nearest) <= UNION_TOLERANCE && !chained &&
                 (!pair->issue_limited || nearest > most - 0.5);
    bool nested = is_nested(pair), apart = is_not_nested(pair), least_ports = nearest < least + 0.5;
    /* Whatever else slows the mix makes the union look smaller: the reading is a lower bound. */
    double union_least = fmin(fmax(ceil(ports - UNION_TOLERANCE), least), most);
    pair->shared_least = 0;
    pair->shared_most = most - union_least;
    if (exact && !(least_ports ? apart : nested)) {
        shared_is(pair, most - nearest);
    } else if (nested) {
        shared_is(pair, narrower(pair));
    } else if (ports > most + 0.5) {
        (void)snprintf(pair->why, sizeof pair->why, "%.2f ports in all do not fit widths of %.0f and %.0f",
                       ports, a_width, b_width);
    } else {
        if (apart && pair->shared_most > narrower(pair) - 1) {
            pair->shared_most = narrower(pair) - 1;
        }
        if (pair->shared_most < 0.5) {
            shared_is(pair, 0);
        } else if (pair->issue_limited) {
            (void)snprintf(pair->why, sizeof pair->why, "the issue width is reached before %.0f ports are",
                           most);
        } else if (chained) {
            (void)snprintf(pair->why, sizeof pair->why, "the instances of one wait for each other");
        } else if (exact) {
            (void)snprintf(pair->why, sizeof pair->why,
                           "%.2f ports in all, but a few of one find room beside many of the other", ports);
        } else {
            (void)snprintf(pair->why, sizeof pair->why, "%.2f ports in all is not near an integer", ports);
        }
    }
}

/* Without widths only the extremes can be told: the times add up, or they do not meet at all. */
static void times_read(struct probe_pair *pair) {
    double low = pair->expected_disjoint_cycles, high = pair->expected_shared_cycles;
    double position = high > low ? (pair->together_cycles - low) / (high - low) : 0.0;
    if (position < TIMES_TOLERANCE) {
        pair->sharing = PROBE_SHARING_NONE;
    } else if (pair->issue_limited) {
        (void)snprintf(pair->why, sizeof pair->why, "the issue width is reached first");
    } else {
        pair->sharing = position > 1 - TIMES_TOLERANCE ? PROBE_SHARING_ALL : PROBE_SHARING_SOME;
    }
}

/* Two uops for {2 3} take a cycle, as one for {2} does. NaN slots are not several. */
static bool has_several_uops(const struct probe_side *side) {
    return side->fused || side->slots > SLOTS_SEVERAL;
}

/* Of several issue slots, which take all of its time: nothing shows what else it waits for. */
static bool waits_for_issue(const struct probe_pair *pair, const struct probe_side *side) {
    return side->slots > SLOTS_SEVERAL &&
           side->slots * pair->slot_cycles >= (1 - SLOTS_TOLERANCE) * side->cycles;
}

/* What the ports of both are busy with, one after the other. */
static double port_cycles(const struct probe_pair *pair) {
    return pair->sides[0].count * pair->sides[0].cycles + pair->sides[1].count * pair->sides[1].cycles;
}

bool probe_pair_hides(const struct probe_pair *pair, unsigned side) {
    return pair->sides[side].part_cycles > HIDING_PART * port_cycles(pair);
}

/* Issue slots of the unit; one where they are not known, and for each that renews something. */
static double slots_in_all(const struct probe_pair *pair) {
    double slots = 0;
    for (unsigned i = 0; i < 2; i++) {
        const struct probe_side *side = &pair->sides[i];
        slots += side->count * (side->renewals + fmax(side->slots, 1.0));
    }
    return slots;
}

/* Does one of them wait for something else than ports? Then says so. */
static bool waits(struct probe_pair *pair) {
    static const char *const names[2] = {"first", "second"};
    for (unsigned i = 0; i < 2; i++) {
        const struct probe_side *side = &pair->sides[i];
        if (waits_for_issue(pair, side)) {
            (void)snprintf(pair->why, sizeof pair->why,
                           "the %s alone waits for its %.0f issue slots, not for ports", names[i],
                           side->slots);
            return true;
        }
        double each = side->part_cycles / side->count;
        const double alike = 1.05;
        if (probe_pair_hides(pair, i) && each <= alike * side->cycles) {
            (void)snprintf(
                pair->why, sizeof pair->why,
                "the %s takes so long, %.2f cycles, that the other would find room beside it in any case",
                names[i], side->cycles);
            return true;
        }
        if (probe_pair_hides(pair, i)) {
            (void)snprintf(pair->why, sizeof pair->why,
                           "in a mix the instances of the %s wait for each other: %.2f cycles each, not %.2f",
                           names[i], side->part_cycles / side->count, side->cycles);
            return true;
        }
    }
    return false;
}

void probe_pair_read(struct probe_pair *pair) {
    pair->sharing = PROBE_SHARING_UNKNOWN;
    pair->union_width = pair->shared_width = pair->shared_least = pair->shared_most = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct probe_side *side = &pair->sides[i];
        side->width = side->renewals > 0 || has_several_uops(side) ? 0 : width_of(side->cycles);
    }
    pair->expected_disjoint_cycles = fmax(pair->sides[0].part_cycles, pair->sides[1].part_cycles);
    pair->expected_shared_cycles = fmax(pair->expected_disjoint_cycles, port_cycles(pair));
    pair->issue_cycles = pair->slot_cycles * slots_in_all(pair);
    pair->issue_limited = pair->together_cycles <= pair->issue_cycles * (1.0 + ISSUE_TOLERANCE);
    if (pair->verdict != HX_VERDICT_OK || !(pair->together_cycles > 0)) {
        return;
    }
    pair->why[0] = '\0';
    if (probe_pair_closes(pair)) {
        (void)snprintf(pair->why, sizeof pair->why,
                       "512 bits close a port for narrower vectors: a few among many of these add %.1f times "
                       "their own time",
                       pair->wide_more);
        return;
    }
    if (waits(pair)) {
        return;
    }
    if (probe_pair_widths_known(pair)) {
        ports_read(pair);
    } else {
        times_read(pair);
    }
}

bool probe_pair_open(const struct probe_pair *pair) {
    return pair->verdict == HX_VERDICT_OK && pair->sharing != PROBE_SHARING_NONE &&
           probe_pair_widths_known(pair);
}
