/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_reconcile.c - where counts set by set contradict each other: the fewest uops that give back all
 * readings. What may go to a blocked port or to another waits for the first now and then, and adds a part of
 * a uop to each set that shares a port with its own; and uops may go to ports that two sets share, and no
 * class has alone. */
#include <math.h>
#include <string.h>

#include "probe/usage_steps.h"

enum {
    SETS_MOST = 64,
    UOPS_MOST = 6,
    ENOUGH = 2, /* solutions: more do not matter */
};

static const double WITHIN = 0.4; /* uops, of a reading to what is predicted */

struct puzzle {
    const struct probe_usage_experiment *readings[PROBE_USAGE_EXPERIMENTS]; /* borrowed */
    unsigned reading_count;
    uint32_t sets[SETS_MOST]; /* that uops may have */
    unsigned set_count;
    unsigned uops[SETS_MOST]; /* of each set, so far */
    unsigned solved[SETS_MOST];
    unsigned solutions;
};

double probe_usage_waits(const struct probe_usage_term *terms, unsigned count, uint32_t target) {
    static const double each = 0.25;
    double uops = 0;
    for (unsigned t = 0; t < count; t++) {
        bool may_wait = (terms[t].ports & target) != 0 && !ports_within(terms[t].ports, target);
        uops += may_wait ? terms[t].uops : 0;
    }
    return each * uops;
}

/* uops that are confined to the set of the reading, and of the others those that may wait. */
static double confined_to(const struct puzzle *puzzle, uint32_t target, double *waits) {
    double confined = 0;
    *waits = 0;
    for (unsigned s = 0; s < puzzle->set_count; s++) {
        const struct probe_usage_term term = {.ports = puzzle->sets[s], .uops = puzzle->uops[s]};
        confined += ports_within(term.ports, target) ? term.uops : 0;
        *waits += probe_usage_waits(&term, 1, target);
    }
    return confined;
}

/* Does no reading show fewer uops than there are, which more of them would not mend? With `all`: nor more? */
static bool fits(const struct puzzle *puzzle, bool all) {
    for (unsigned r = 0; r < puzzle->reading_count; r++) {
        double waits, read = puzzle->readings[r]->confined;
        double confined = confined_to(puzzle, puzzle->readings[r]->target, &waits);
        if (read < confined - WITHIN || (all && read > confined + WITHIN + waits)) {
            return false;
        }
    }
    return true;
}

/* Deals `left` uops to the sets from `at` on, in all ways. */
static void uops_deal(struct puzzle *puzzle, unsigned at, unsigned left) {
    if (!fits(puzzle, left == 0)) {
        return;
    }
    if (left == 0) {
        memcpy(puzzle->solved, puzzle->uops, sizeof puzzle->solved);
        puzzle->solutions++;
        return;
    }
    for (; at < puzzle->set_count && puzzle->solutions < ENOUGH; at++) {
        puzzle->uops[at]++;
        uops_deal(puzzle, at, left - 1);
        puzzle->uops[at]--;
    }
}

/* The fewest uops that fit. False: none do, or they do in several ways. */
static bool solve(struct puzzle *puzzle) {
    double most = 0;
    puzzle->solutions = 0;
    for (unsigned r = 0; r < puzzle->reading_count; r++) {
        most = fmax(most, puzzle->readings[r]->confined);
    }
    unsigned least = most > UOPS_MOST + WITHIN ? UOPS_MOST + 1 : (unsigned)fmax(ceil(most - WITHIN), 1);
    for (unsigned uops = least; uops <= UOPS_MOST && puzzle->solutions == 0; uops++) {
        uops_deal(puzzle, 0, uops);
    }
    return puzzle->solutions == 1;
}

/* One that no reading speaks against, and that is not among them yet. */
static void set_add(struct puzzle *puzzle, const struct probe_usage_subject *subject, uint32_t set) {
    bool possible = set != 0 && puzzle->set_count < SETS_MOST;
    for (unsigned s = 0; s < puzzle->set_count && possible; s++) {
        possible = puzzle->sets[s] != set;
    }
    for (unsigned e = 0; e < subject->count && possible; e++) {
        const struct probe_usage_experiment *outer = &subject->experiments[e];
        bool none = outer->implied || outer->confined < 1 - WITHIN; /* NaN is not */
        possible = !ports_within(set, outer->target) || !none;
    }
    if (possible) {
        puzzle->sets[puzzle->set_count++] = set;
    }
}

/* What each two share, and each two of these. */
static void shared_add(struct puzzle *puzzle, const struct probe_usage_subject *subject,
                       const struct probe_portmap *map) {
    for (unsigned a = 0; a < puzzle->set_count; a++) {
        for (unsigned b = 0; b < a; b++) {
            if (probe_usage_union_is_known(map, puzzle->sets[a], puzzle->sets[b])) {
                set_add(puzzle, subject, puzzle->sets[a] & puzzle->sets[b]);
            }
        }
    }
}

unsigned probe_usage_reconcile(const struct probe_usage_subject *subject, const struct probe_portmap *map,
                               struct probe_usage_term terms[PROBE_USAGE_TERMS]) {
    struct puzzle puzzle = {0};
    for (unsigned e = 0; e < subject->count; e++) {
        const struct probe_usage_experiment *experiment = &subject->experiments[e];
        if (probe_usage_is_of_ports(subject, experiment, map) && isfinite(experiment->confined)) {
            puzzle.readings[puzzle.reading_count++] = experiment;
            set_add(&puzzle, subject, experiment->target);
        }
    }
    bool solved = solve(&puzzle);
    if (!solved && puzzle.solutions == 0) {
        shared_add(&puzzle, subject, map);
        solved = solve(&puzzle);
    }
    unsigned count = 0;
    for (unsigned width = 1; width <= PROBE_PORTSET_PORTS && solved; width++) {
        for (unsigned s = 0; s < puzzle.set_count && count < PROBE_USAGE_TERMS; s++) {
            if (puzzle.solved[s] > 0 && ports_in(puzzle.sets[s]) == width) {
                terms[count++] = (struct probe_usage_term){.ports = puzzle.sets[s], .uops = puzzle.solved[s]};
            }
        }
    }
    return count;
}
