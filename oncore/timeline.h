/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/timeline.h - what the simulated back end did with the first passes through a block, from an empty
 * core on: when each instruction was issued, on which ports its µops began and when, when it was done and
 * when it retired. docs/oncore.md, "Timeline".
 *
 *     struct core_timeline timeline = {0};
 *     struct core_options options = {.timeline = &timeline, .timeline_passes = 4};
 *     status = core_predict(&costs, code, code_bytes, &options, &prediction, &err);
 *
 * Times are simulated cycles; the first one is 0. There is what the simulation has and no more: it knows no
 * front end, nothing between issue and port (a µop may begin in the cycle in which it is issued), and no
 * limit to what retires in one cycle. */
#ifndef ISAPROBE_ONCORE_TIMELINE_H
#define ISAPROBE_ONCORE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CORE_PASSES_MIN = 12,     /* so many are simulated of every block, unless simulated time runs out, ... */
    CORE_PASSES_MAX = 200,    /* ... and so many of a short one */
    CORE_CYCLES_MAX = 1 << 14 /* of simulated time */
};

enum core_uop_kind {
    CORE_UOP_LOAD,
    CORE_UOP_OPERATION,
    CORE_UOP_STORE, /* a store's address or its data */
    CORE_UOP_UNIT,  /* no µop: an unpipelined unit (a divider) that is taken */
};
/* "load" ... Static storage. */
const char *core_uop_kind_name(enum core_uop_kind kind);

struct core_uop {
    enum core_uop_kind kind;
    int port;      /* core_costs.port_names[port]; -1: a unit */
    double begin;  /* a whole cycle on a port; of a unit any time */
    double cycles; /* for so long it takes the port, 1, or the unit */
};

/* One instruction in one pass. What is fused with the one before has none. */
struct core_step {
    uint32_t pass, instruction; /* both from 0; the latter is its position in the block */
    double issued;              /* the cycle of its last slot */
    double loaded;              /* what it loads is there; NaN: it loads nothing */
    bool forwarded;             /* ... and came from a store on its way, not from the cache */
    double started;             /* its operation: with all operands, on the last of its ports */
    double result;              /* the last of its results is there */
    double done;                /* that, and what it stores: all before it may retire, and it */
    double retired;             /* in order */
    double cached;              /* its store is in the cache; NaN: it stores nothing */
    size_t uop, uop_count;      /* core_timeline.uops[uop] is the first; 0: it takes no port */
};

struct core_timeline {
    struct core_step *steps; /* owned; in the order of issue */
    struct core_uop *uops;   /* owned */
    size_t step_count, step_capacity, uop_count, uop_capacity;
    unsigned passes; /* that are in it whole; fewer than were asked for where fewer are simulated */
    bool failed;     /* out of memory: later additions do nothing */
};

void core_timeline_fini(struct core_timeline *timeline); /* all-zero is fine, and empty */

/* The first cycle in which a µop may begin that waits for what is there at `time`: latencies that vary are no
 * whole numbers, and a µop begins a little early rather than a cycle late. */
size_t core_timeline_cycle(double time);

/* For the simulation: an instruction's µops first, then its step, which gets all that were added since the
 * step before. */
void core_timeline_uop_add(struct core_timeline *timeline, struct core_uop uop);
void core_timeline_step_add(struct core_timeline *timeline, struct core_step step);
/* Only the first `passes` were simulated to their end: drops the others. */
void core_timeline_close(struct core_timeline *timeline, unsigned passes);

#endif
