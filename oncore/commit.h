/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/commit.h - how stores enter the cache: in order, one a cycle, or some that follow each other into
 * one block. Internal to oncore/; docs/oncore.md, "Simulation". */
#ifndef ISAPROBE_ONCORE_COMMIT_H
#define ISAPROBE_ONCORE_COMMIT_H

#include "oncore/cost.h"
#include "oncore/values.h"

struct core_commits {
    double last;    /* the cycle in which the last store entered */
    uint64_t bytes; /* stores into one aligned block of so many bytes may share a cycle ... */
    unsigned more;  /* ... so many more than the first */
    bool unread;    /* ... unless a load took its data from one of them ... */
    unsigned pass;  /* ... not more than so many stores ago: those of a pass */
    struct {
        bool open, read; /* there was a store; a load took its data from one */
        unsigned since;  /* stores since that load */
        unsigned more;   /* stores that share the last one's cycle with it */
        uint64_t block;
        uint32_t symbol;
    } run; /* of stores into one block */
};

/* None has entered yet; the parameters are the core's (probe/core.h). `stores` are those of a pass. */
void core_commits_init(struct core_commits *commits, const struct core_costs *costs, unsigned stores);
/* A load took its data from a store to this address. */
void core_commits_read(struct core_commits *commits, struct core_word address);
/* A store whose address and data are there at `done`; `where` NULL: to where is not known. Returns the cycle
 * in which it enters. */
double core_commits_take(struct core_commits *commits, const struct core_word *where, double done);

#endif
