/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/oncore.h - how many core cycles a block of machine code takes, and why: every bound by itself, the
 * pressure on each port, the chain of dependences that decides. docs/oncore.md.
 *
 *     struct core_costs costs = {0};
 *     struct core_prediction prediction = {0};
 *     status = core_costs_open(&costs, store, &err);
 *     status = core_predict(&costs, code, code_bytes, &options, &prediction, &err);
 *
 * Nothing is run or measured. Data is taken to be in the first-level cache, branches to be predicted. The
 * bounds follow the shape of Facile (Abel, Sharma, Reineke 2023); the port bound is the closed form of
 * docs/ports.md. */
#ifndef ISAPROBE_ONCORE_ONCORE_H
#define ISAPROBE_ONCORE_ONCORE_H

#include "oncore/block.h"
#include "oncore/cost.h"
#include "oncore/timeline.h"

enum core_bound {
    CORE_BOUND_PREDECODE,  /* bytes of code, where they must be decoded */
    CORE_BOUND_DECODE,     /* instructions, where they must be decoded */
    CORE_BOUND_UOP_CACHE,  /* slots that the µop cache delivers */
    CORE_BOUND_LOOP,       /* the loop's taken branch */
    CORE_BOUND_ISSUE,      /* issue slots */
    CORE_BOUND_PORTS,      /* the closed form over sets of ports */
    CORE_BOUND_UNIT,       /* an unpipelined unit */
    CORE_BOUND_CHAIN,      /* the longest cycle of dependences */
    CORE_BOUND_SIMULATION, /* what the simulated back end takes, where that is more than all of them */
    CORE_BOUNDS
};
/* "issue" ... Static storage. */
const char *core_bound_name(enum core_bound bound);

struct core_options {
    bool loop;          /* the block is the body of a loop; else it is one of many copies in a row */
    bool no_simulation; /* only the closed forms: faster */
    bool filled;        /* all registers and memory hold `fill` at the start, as in BHive's protocol */
    uint64_t fill;
    struct core_timeline *timeline; /* gets the first timeline_passes passes of the simulation, in place of
                                       what it held; empty when the issue width is not known. NULL: nobody
                                       looks, and it costs nothing. Left alone with no_simulation */
    unsigned timeline_passes;
};

enum { CORE_CHAIN_MAX = 256, CORE_MISSING_MAX = 16 };

/* One link of the critical chain. */
struct core_link {
    uint32_t instruction; /* its position in the block */
    uint8_t from, to;     /* enum core_resource: what it waits for, what it makes */
    bool memory;          /* the value comes through memory, from an earlier store */
    double cycles;
};

struct core_prediction {
    struct core_block block; /* owned; borrows the code and the costs */
    double cycles;           /* of one pass; NaN when not one bound is known */
    enum core_bound binding;
    double bounds[CORE_BOUNDS]; /* NaN: not known, or not applicable */

    double pressure[CORE_PORTS_MAX];  /* cycles that each port is busy in one pass, fairly spread */
    double (*shares)[CORE_PORTS_MAX]; /* owned: of each instruction on each port */
    uint32_t bottleneck;              /* the set of ports that binds */
    double slots;                     /* issue slots of one pass */

    struct core_link chain[CORE_CHAIN_MAX]; /* one turn of the critical cycle, in order */
    unsigned chain_count;
    unsigned chain_passes; /* passes through the block that one turn takes */

    bool splits; /* an access whose address is known crosses a cache line */
    bool walks;  /* an access whose address is known goes to another page in each pass */
    bool x87;    /* the block uses the x87 registers, whose denormals are slow */
    uint32_t missing[CORE_MISSING_MAX]; /* instructions that the tables do not have: only their slots count */
    unsigned missing_count;             /* of all; only the first CORE_MISSING_MAX are listed */
    unsigned composed_count, assumed_count; /* instructions with costs of these sources */
    unsigned open_count; /* with ports that are the first of several that the port map leaves open */
};

/* Predicts. `code` is borrowed, and the prediction refers to it and to `costs`. IP_SYNTAX when the bytes are
 * no code. What the tables lack is no error: see `missing`. */
IP_CHECK enum ip_status core_predict(struct core_costs *costs, const uint8_t *code, size_t code_bytes,
                                     const struct core_options *options, struct core_prediction *prediction,
                                     struct ip_error *err);
void core_prediction_fini(struct core_prediction *prediction); /* all-zero is fine */

#endif
