/* SPDX-License-Identifier: Apache-2.0 */
/* probe/pair_read.c - from the cycles of interleavings to shared ports. */
#include <math.h>
#include <stdio.h>

#include "probe/pair.h"

/* A union counts as an integer when it is so near to one. */
static const double UNION_TOLERANCE = 0.15;
/* So much of what runs beside a busy set, or so little, is confined to it. */
static const double CONFINED_ALL = 0.7, CONFINED_NONE = 0.3;
/* Times that nearly add up, or do not meet, as a part of the difference. */
static const double TIMES_TOLERANCE = 0.1;

static double narrower(const struct probe_pair *pair) {
    return fmin(pair->a_width, pair->b_width);
}

static void shared_is(struct probe_pair *pair, double shared) {
    pair->shared_width = pair->shared_least = pair->shared_most = shared;
    pair->union_width = pair->a_width + pair->b_width - shared;
    pair->sharing = shared < 0.5                    ? PROBE_SHARING_NONE
                    : shared > narrower(pair) - 0.5 ? PROBE_SHARING_ALL
                                                    : PROBE_SHARING_SOME;
    pair->why[0] = '\0';
}

/* The narrower one's ports are all among the other's: a direct reading. */
static bool is_nested(const struct probe_pair *pair) {
    const struct probe_beside *few = pair->a_width <= pair->b_width ? &pair->a_beside_b : &pair->b_beside_a;
    return few->measured && few->confined > CONFINED_ALL;
}

static bool is_not_nested(const struct probe_pair *pair) {
    const struct probe_beside *few = pair->a_width <= pair->b_width ? &pair->a_beside_b : &pair->b_beside_a;
    return few->measured && few->confined < CONFINED_NONE;
}

/* Both take the same port time, so a round of (a_width of a + b_width of b) takes (a + b)/|A u B|. */
static void ports_read(struct probe_pair *pair) {
    double ports = (pair->a_count + pair->b_count) / pair->together_cycles, nearest = round(ports);
    double least = fmax(pair->a_width, pair->b_width), most = pair->a_width + pair->b_width;
    bool fits = nearest > least - 0.5 && nearest < most + 0.5;
    bool exact =
        fits && fabs(ports - nearest) <= UNION_TOLERANCE && (!pair->issue_limited || nearest > most - 0.5);
    bool nested = is_nested(pair), apart = is_not_nested(pair);
    /* Whatever else slows the mix makes the union look smaller: the reading is a lower bound. */
    double union_least = fmin(fmax(ceil(ports - UNION_TOLERANCE), least), most);
    pair->shared_least = 0;
    pair->shared_most = most - union_least;
    if (exact && !(nearest < least + 0.5 ? apart : nested)) {
        shared_is(pair, most - nearest);
    } else if (nested) {
        shared_is(pair, narrower(pair));
    } else if (ports > most + 0.5 || (exact && apart)) {
        (void)snprintf(pair->why, sizeof pair->why, "%.2f ports in all do not fit widths of %.0f and %.0f",
                       ports, pair->a_width, pair->b_width);
    } else {
        if (apart && pair->shared_most > narrower(pair) - 1) {
            pair->shared_most = narrower(pair) - 1;
        }
        if (pair->shared_most < 0.5) {
            shared_is(pair, 0);
        } else if (pair->issue_limited) {
            (void)snprintf(pair->why, sizeof pair->why, "the issue width is reached before %.0f ports are",
                           most);
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
    } else if (position > 1 - TIMES_TOLERANCE) {
        pair->sharing = PROBE_SHARING_ALL;
    } else if (!pair->issue_limited) {
        pair->sharing = PROBE_SHARING_SOME;
    } else {
        (void)snprintf(pair->why, sizeof pair->why, "the issue width is reached first");
    }
}

void probe_pair_read(struct probe_pair *pair) {
    pair->sharing = PROBE_SHARING_UNKNOWN;
    pair->union_width = pair->shared_width = 0;
    if (pair->verdict != HX_VERDICT_OK || !(pair->together_cycles > 0)) {
        return;
    }
    pair->why[0] = '\0';
    if (pair->a_width > 0 && pair->b_width > 0) {
        ports_read(pair);
    } else {
        times_read(pair);
    }
}

bool probe_pair_open(const struct probe_pair *pair) {
    return pair->verdict == HX_VERDICT_OK && pair->sharing == PROBE_SHARING_UNKNOWN && pair->a_width > 0 &&
           pair->b_width > 0;
}
