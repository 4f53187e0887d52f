/* SPDX-License-Identifier: Apache-2.0 */
/* probe/portmap_hidden.c - where nothing but the issue width says that two classes have no more ports
 * together, the smallest system lets them share some: of the larger systems, in which they share less, as
 * many as are kept. Time alone does not tell which is true. Pure combinatorics. */
#include <string.h>

#include "probe/portmap_steps.h"

struct search {
    double issue_width;
    struct probe_portset_solution *systems;
    struct probe_portset_problem found_by[PROBE_PORTSET_SOLUTIONS]; /* what each of them solves */
    bool cut; /* there are others than those that are kept */
};

static unsigned ports_of(const uint32_t *sets, unsigned a, unsigned b) {
    return (unsigned)__builtin_popcount(sets[a] | sets[b]);
}

/* Does nothing but the issue width say how many ports the two have together? */
static bool pair_is_hidden(const struct probe_portset_problem *problem, double issue_width, unsigned a,
                           unsigned b) {
    static const double spare = 0.5; /* a port less than the issue width is seen */
    return problem->together[a][b] == 0 && problem->at_least[a][b] >= issue_width - spare;
}

/* May the two have more than in this system, for all that was read of them? */
static bool is_hidden(const struct probe_portset_problem *problem, double issue_width, const uint32_t *sets,
                      unsigned a, unsigned b) {
    return pair_is_hidden(problem, issue_width, a, b) &&
           ports_of(sets, a, b) < (unsigned)problem->width[a] + problem->width[b];
}

/* Makes it a condition that they have one more than in this system. */
static void widen(struct probe_portset_problem *problem, const uint32_t *sets, unsigned a, unsigned b) {
    problem->at_least[a][b] = problem->at_least[b][a] = (uint8_t)(ports_of(sets, a, b) + 1);
}

/* The same of three. False: there is no room for more conditions. */
static bool triple_widen(struct probe_portset_problem *problem, const uint32_t *sets, unsigned a, unsigned b,
                         unsigned c) {
    struct probe_portset_triple triple = {(uint8_t)a, (uint8_t)b, (uint8_t)c, 0, 0};
    triple.at_least = (uint8_t)(__builtin_popcount(sets[a] | sets[b] | sets[c]) + 1);
    const bool room = problem->triple_count < PROBE_PORTSET_TRIPLES;
    if (room) {
        problem->triples[problem->triple_count++] = triple;
    }
    return room;
}

/* The classes that may use each port, in order: a system without the names of its ports. */
static void ports_sort(const uint32_t *sets, unsigned count, uint64_t ports[PROBE_PORTSET_PORTS]) {
    for (unsigned p = 0; p < PROBE_PORTSET_PORTS; p++) {
        uint64_t classes = 0;
        for (unsigned c = 0; c < count; c++) {
            classes |= (uint64_t)(sets[c] >> p & 1u) << c;
        }
        unsigned at = p;
        for (; at > 0 && ports[at - 1] > classes; at--) {
            ports[at] = ports[at - 1];
        }
        ports[at] = classes;
    }
}

static bool is_kept(const struct probe_portset_solution *systems, const uint32_t *sets, unsigned count) {
    uint64_t ports[PROBE_PORTSET_PORTS], kept[PROBE_PORTSET_PORTS];
    ports_sort(sets, count, ports);
    for (unsigned s = 0; s < systems->count; s++) {
        ports_sort(systems->sets[s], count, kept);
        if (memcmp(ports, kept, sizeof ports) == 0) {
            return true;
        }
    }
    return false;
}

static void systems_keep(struct search *search, const struct probe_portset_problem *problem,
                         const struct probe_portset_solution *found) {
    struct probe_portset_solution *systems = search->systems;
    search->cut = search->cut || found->more != PROBE_PORTSET_NO_MORE;
    for (unsigned s = 0; s < found->count; s++) {
        if (is_kept(systems, found->sets[s], problem->count)) {
            continue;
        }
        if (systems->count == PROBE_PORTSET_SOLUTIONS) {
            search->cut = true;
            return;
        }
        search->found_by[systems->count] = *problem;
        memcpy(systems->sets[systems->count++], found->sets[s], sizeof found->sets[s]);
    }
}

/* One port after the other, pair by pair, until none can be added: as many pairs as can be share nothing. */
static void farthest_keep(struct search *search, const struct probe_portset_problem *problem) {
    struct probe_portset_problem farthest = *problem;
    struct probe_portset_solution found = {.count = 1}, last = {.count = 0};
    memcpy(found.sets[0], search->systems->sets[0], sizeof found.sets[0]);
    for (unsigned a = 0; a < problem->count; a++) {
        for (unsigned b = a + 1; b < problem->count; b++) {
            struct probe_portset_problem wider = farthest;
            unsigned ignored = 0;
            while (is_hidden(problem, search->issue_width, found.sets[0], a, b)) {
                widen(&wider, found.sets[0], a, b);
                if (!probe_portset_solve(&wider, &found, &ignored)) {
                    break;
                }
                farthest = wider;
                last = found;
            }
        }
    }
    last.count = last.count > 0 ? 1 : 0;
    last.more = PROBE_PORTSET_NO_MORE;
    systems_keep(search, &farthest, &last);
}

/* Are these classes' ports together as many in all that are kept? */
static bool pair_is_same(const struct probe_portset_solution *systems, unsigned a, unsigned b) {
    bool same = true;
    for (unsigned s = 1; s < systems->count; s++) {
        same = same && ports_of(systems->sets[s], a, b) == ports_of(systems->sets[0], a, b);
    }
    return same;
}

/* Of three classes of which two pairs are hidden the two may share the same ports with the third, or others:
 * keeps what explains the readings when the three share a port less. */
static void triples_keep(struct search *search, const struct probe_portset_problem *problem,
                         const uint32_t *sets, unsigned a, unsigned b) {
    for (unsigned c = b + 1; c < problem->count; c++) {
        const struct probe_portset_problem *base = &search->found_by[0];
        unsigned hidden = pair_is_hidden(base, search->issue_width, a, b) +
                          pair_is_hidden(base, search->issue_width, a, c) +
                          pair_is_hidden(base, search->issue_width, b, c);
        struct probe_portset_problem wider = *problem;
        struct probe_portset_solution found;
        unsigned ignored = 0;
        if (hidden >= 2 && triple_widen(&wider, sets, a, b, c) &&
            probe_portset_solve(&wider, &found, &ignored)) {
            systems_keep(search, &wider, &found);
        }
    }
}

/* Keeps what explains the readings when any two that may do so in this system share a port less. */
static void wider_keep(struct search *search, unsigned system, bool open[][PROBE_PORTSET_CLASSES]) {
    const struct probe_portset_problem problem = search->found_by[system];
    uint32_t sets[PROBE_PORTSET_CLASSES];
    memcpy(sets, search->systems->sets[system], sizeof sets);
    for (unsigned a = 0; a < problem.count; a++) {
        for (unsigned b = a + 1; b < problem.count; b++) {
            struct probe_portset_problem wider = problem;
            triples_keep(search, &problem, sets, a, b);
            struct probe_portset_solution found;
            unsigned ignored = 0;
            if (!is_hidden(&search->found_by[0], search->issue_width, sets, a, b)) {
                continue;
            }
            widen(&wider, sets, a, b);
            if (probe_portset_solve(&wider, &found, &ignored)) {
                open[a][b] = open[a][b] || system == 0;
                systems_keep(search, &wider, &found);
            }
        }
    }
}

void probe_port_hidden_add(const struct probe_portset_problem *problem, double issue_width,
                           struct probe_portset_solution *systems) {
    struct search search = {.issue_width = issue_width, .systems = systems};
    bool open[PROBE_PORTSET_CLASSES][PROBE_PORTSET_CLASSES] = {{false}};
    if (systems->more != PROBE_PORTSET_NO_MORE) {
        return;
    }
    for (unsigned s = 0; s < systems->count; s++) {
        search.found_by[s] = *problem;
    }
    farthest_keep(&search, problem);
    for (unsigned s = 0; s < systems->count && !(search.cut && s > 0); s++) {
        wider_keep(&search, s, open);
    }
    systems->more = search.cut ? PROBE_PORTSET_MORE_ALIKE : PROBE_PORTSET_NO_MORE;
    for (unsigned a = 0; a < problem->count; a++) {
        for (unsigned b = a + 1; b < problem->count; b++) {
            if (open[a][b] && pair_is_same(systems, a, b)) {
                systems->more = PROBE_PORTSET_MORE;
            }
        }
    }
}
