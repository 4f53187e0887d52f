/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/access.h - which ports loads and stores take where some loads have fewer of them. Internal to
 * oncore/. */
#ifndef ISAPROBE_ONCORE_ACCESS_H
#define ISAPROBE_ONCORE_ACCESS_H

#include "oncore/block.h"
#include "oncore/cost.h"

/* Where accesses take turns (PROBE_CORE_LOAD_TURNS), one that may go to all ports of loads goes to others
 * than the access before it, even if those are crowded by loads that have only them. */
struct core_access {
    uint32_t loads;  /* ports of loads; 0: no turns are taken */
    uint32_t narrow; /* those of them that are all that some loads of the block have */
    bool turned;     /* the last access went to the others */
};

/* Looks for loads of the block that have fewer ports; both are read only now. */
void core_access_init(struct core_access *access, const struct core_costs *costs,
                      const struct core_block *block);

/* The ports that the next access, which may go to `ports`, goes to; in program order. */
uint32_t core_access_ports(struct core_access *access, uint32_t ports);

#endif
