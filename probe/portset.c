/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/portset.h"

#include <stdlib.h>
#include <string.h>

/* Depth-first over the classes, narrowest first. The ports that are already used fall into cells: two ports
 * are in one cell when no placed class tells them apart. A new class takes some ports of each cell; which
 * ones does not matter, so the first are taken. Ports that nobody uses yet are a cell of their own. That
 * leaves few choices, and names play no role. */

struct search {
    const struct probe_portset_problem *problem;
    unsigned order[PROBE_PORTSET_CLASSES];
    uint32_t sets[PROBE_PORTSET_CLASSES]; /* of placed classes, by class */
    bool placed[PROBE_PORTSET_CLASSES];
    unsigned port_limit; /* ports 0 .. port_limit-1 may be used */
    unsigned deepest;    /* most classes ever placed */
    uint64_t steps;
    struct probe_portset_solution *solution;
};

/* Enough for any CPU that was tried, by three orders of magnitude; a guard against problems made of noise. */
static const uint64_t STEPS_MAX = 1000000;

static unsigned bits(uint32_t set) {
    return (unsigned)__builtin_popcount(set);
}

static bool pairs_agree(const struct search *search, unsigned class, uint32_t set) {
    const struct probe_portset_problem *problem = search->problem;
    for (unsigned other = 0; other < problem->count; other++) {
        unsigned together = problem->together[class][other];
        unsigned ports = bits(set | search->sets[other]);
        if (search->placed[other] &&
            ((together != 0 && ports != together) || ports < problem->at_least[class][other])) {
            return false;
        }
    }
    return true;
}

static bool triples_agree(const struct search *search, unsigned class, uint32_t set) {
    const struct probe_portset_problem *problem = search->problem;
    for (unsigned i = 0; i < problem->triple_count; i++) {
        const struct probe_portset_triple *triple = &problem->triples[i];
        const unsigned members[3] = {triple->a, triple->b, triple->c};
        uint32_t all = set;
        bool concerned = false, complete = true;
        for (unsigned m = 0; m < 3; m++) {
            if (members[m] == class) {
                concerned = true;
            } else if (search->placed[members[m]]) {
                all |= search->sets[members[m]];
            } else {
                complete = false;
            }
        }
        const unsigned ports = bits(all);
        if (concerned && complete &&
            ((triple->ports != 0 && ports != triple->ports) || ports < triple->at_least)) {
            return false;
        }
    }
    return true;
}

static void solution_keep(struct search *search) {
    struct probe_portset_solution *solution = search->solution;
    if (solution->count == PROBE_PORTSET_SOLUTIONS) {
        solution->more = PROBE_PORTSET_MORE;
        return;
    }
    memcpy(solution->sets[solution->count++], search->sets, sizeof search->sets);
}

static void class_place(struct search *search, unsigned depth);

/* Takes `left` more ports for the class from cells[at..count); `set` is what it has. */
static void cells_choose(struct search *search, unsigned depth, const uint32_t *cells, unsigned count,
                         unsigned at, unsigned left, uint32_t set) {
    if (search->solution->more != PROBE_PORTSET_NO_MORE || ++search->steps > STEPS_MAX) {
        return;
    }
    unsigned class = search->order[depth];
    if (left == 0) {
        if (pairs_agree(search, class, set) && triples_agree(search, class, set)) {
            search->sets[class] = set;
            search->placed[class] = true;
            class_place(search, depth + 1);
            search->placed[class] = false;
        }
        return;
    }
    if (at == count) {
        return;
    }
    unsigned most = bits(cells[at]) < left ? bits(cells[at]) : left;
    uint32_t taken = set;
    uint32_t rest = cells[at];
    cells_choose(search, depth, cells, count, at + 1, left, taken);
    for (unsigned n = 1; n <= most; n++) {
        uint32_t port = rest & -rest;
        rest ^= port;
        taken |= port;
        cells_choose(search, depth, cells, count, at + 1, left - n, taken);
    }
}

static void class_place(struct search *search, unsigned depth) {
    const struct probe_portset_problem *problem = search->problem;
    if (depth > search->deepest) {
        search->deepest = depth;
    }
    if (depth == problem->count) {
        solution_keep(search);
        return;
    }
    uint32_t cells[PROBE_PORTSET_PORTS] = {(UINT32_C(1) << search->port_limit) - 1};
    unsigned count = 1;
    for (unsigned other = 0; other < problem->count; other++) {
        unsigned known = count;
        for (unsigned i = 0; search->placed[other] && i < known; i++) {
            uint32_t inside = cells[i] & search->sets[other];
            if (inside != 0 && inside != cells[i]) {
                cells[count++] = cells[i] & ~inside;
                cells[i] = inside;
            }
        }
    }
    cells_choose(search, depth, cells, count, 0, problem->width[search->order[depth]], 0);
}

/* Narrowest first: their ports become the cells by which the wider ones are told apart. Among equals those
 * that are known together with most others. */
static void order_make(struct search *search) {
    const struct probe_portset_problem *problem = search->problem;
    unsigned weight[PROBE_PORTSET_CLASSES];
    for (unsigned i = 0; i < problem->count; i++) {
        weight[i] = (PROBE_PORTSET_PORTS - problem->width[i]) * 1000u;
        for (unsigned j = 0; j < problem->count; j++) {
            weight[i] += problem->together[i][j] != 0;
        }
        unsigned at = i;
        while (at > 0 && weight[search->order[at - 1]] < weight[i]) {
            search->order[at] = search->order[at - 1];
            at--;
        }
        search->order[at] = i;
    }
}

bool probe_portset_solve(const struct probe_portset_problem *problem, struct probe_portset_solution *solution,
                         unsigned *conflict) {
    struct probe_portset_solution found;
    memset(&found, 0, sizeof found);
    struct search search = {.problem = problem, .solution = &found};
    order_make(&search);
    unsigned least = 1;
    for (unsigned i = 0; i < problem->count; i++) {
        for (unsigned j = 0; j < problem->count; j++) {
            unsigned ports =
                problem->together[i][j] > problem->width[i] ? problem->together[i][j] : problem->width[i];
            least = ports > least ? ports : least;
        }
    }
    bool cut = false; /* there may be more solutions, and smaller ones */
    for (unsigned limit = least; limit <= PROBE_PORTSET_PORTS && found.count == 0; limit++) {
        search.port_limit = limit;
        search.steps = 0;
        class_place(&search, 0);
        cut = cut || search.steps > STEPS_MAX;
    }
    found.more = cut ? PROBE_PORTSET_MORE : found.more;
    if (found.count == 0) {
        *conflict = search.order[search.deepest < problem->count ? search.deepest : 0];
        return false;
    }
    uint32_t all = 0;
    for (unsigned i = 0; i < problem->count; i++) {
        all |= found.sets[0][i];
    }
    found.ports = bits(all);
    *solution = found;
    return true;
}
