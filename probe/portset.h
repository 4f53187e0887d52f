/* SPDX-License-Identifier: Apache-2.0 */
/* probe/portset.h - the smallest system of port sets that explains measured widths and unions. Pure
 * combinatorics: no meter, no knowledge of any CPU. docs/ports.md, "Method".
 *
 * Given are classes of one-µop forms: how many ports each may use (its width) and, for some pairs and
 * triples, how many ports they use together. Sought are sets of ports, up to the names of the ports, with as
 * few ports as possible. */
#ifndef ISAPROBE_PROBE_PORTSET_H
#define ISAPROBE_PROBE_PORTSET_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PROBE_PORTSET_CLASSES = 48,
    PROBE_PORTSET_PORTS = 20,
    PROBE_PORTSET_TRIPLES = 512,
    PROBE_PORTSET_SOLUTIONS = 8, /* alternatives that are kept */
};

/* Are there other systems than those that are kept? */
enum probe_portset_more {
    PROBE_PORTSET_NO_MORE,
    PROBE_PORTSET_MORE,       /* and any class's set may be another in these */
    PROBE_PORTSET_MORE_ALIKE, /* but no class's whose set is the same in all that are kept */
};

struct probe_portset_triple {
    uint8_t a, b, c;
    uint8_t ports;    /* |A u B u C|; 0: not known */
    uint8_t at_least; /* it is no smaller; 0: nothing is known */
};

struct probe_portset_problem {
    unsigned count;
    uint8_t width[PROBE_PORTSET_CLASSES];                           /* > 0 */
    uint8_t together[PROBE_PORTSET_CLASSES][PROBE_PORTSET_CLASSES]; /* |A u B|, symmetric; 0: not known */
    uint8_t at_least[PROBE_PORTSET_CLASSES]
                    [PROBE_PORTSET_CLASSES]; /* |A u B| is no smaller, symmetric; 0: nothing is known */
    struct probe_portset_triple triples[PROBE_PORTSET_TRIPLES];
    unsigned triple_count;
};

struct probe_portset_solution {
    unsigned ports;               /* used in all */
    unsigned count;               /* solutions kept */
    enum probe_portset_more more; /* by probe_portset_solve: others with as few ports; never _ALIKE */
    uint32_t sets[PROBE_PORTSET_SOLUTIONS]
                 [PROBE_PORTSET_CLASSES]; /* bit p of sets[s][i]: class i may use port p */
};

/* Fills `solution` with the solutions of fewest ports, up to renaming of ports. Returns false when there is
 * none with at most PROBE_PORTSET_PORTS ports; *conflict is then the first class (in the order of the
 * search, narrowest first) that cannot be placed. */
bool probe_portset_solve(const struct probe_portset_problem *problem, struct probe_portset_solution *solution,
                         unsigned *conflict);

#endif
