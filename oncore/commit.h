/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/commit.h - how stores enter the cache: in order, one a cycle, or some that follow each other into
 * one block. Internal to oncore/; docs/oncore.md, "Simulation". */
#ifndef ISAPROBE_ONCORE_COMMIT_H
#define ISAPROBE_ONCORE_COMMIT_H

#include "oncore/cost.h"
#include "oncore/values.h"

/* How stores of one width enter. */
struct core_commit_width {
    double cycles; /* that one takes */
    bool alone;    /* with no other store, in the same cycle */
};

struct core_commits {
    double last;    /* the cycle in which the last store entered */
    bool anywhere;  /* any two stores share a cycle ... */
    uint64_t bytes; /* ... or else stores into one aligned block of so many bytes may share a cycle ... */
    unsigned more;  /* ... so many more than the first */
    struct core_commit_width narrow, of_256, of_512;
    unsigned pass;          /* stores of a pass */
    double reads_most;      /* ... unless more loads of a pass take their data from stores */
    unsigned stores, reads; /* of this pass, so far */
    bool apart;             /* there were more in the last one */
    struct {
        bool open;     /* there was a store */
        bool alone;    /* ... with which none shares a cycle */
        unsigned more; /* stores that share the last one's cycle with it */
        uint64_t block;
        uint32_t symbol;
    } run; /* of stores into one block */
};

/* None has entered yet; the parameters are the core's (probe/core.h). `stores` are those of a pass, of the
 * body of a loop or of copies in a row. */
void core_commits_init(struct core_commits *commits, const struct core_costs *costs, unsigned stores,
                       bool loop);
/* A load took its data from a store. */
void core_commits_read(struct core_commits *commits);
/* A store of so many bytes whose address and data are there at `done`; `where` NULL: to where is not known.
 * Returns the cycle in which it has entered. */
double core_commits_take(struct core_commits *commits, const struct core_word *where, unsigned bytes,
                         double done);

#endif
