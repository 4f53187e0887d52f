/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/binding.h - which port a µop is given, and in which cycle it begins there. Internal to oncore/;
 * docs/oncore.md, "Simulation". */
#ifndef ISAPROBE_ONCORE_BINDING_H
#define ISAPROBE_ONCORE_BINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oncore/cost.h"
#include "oncore/timeline.h"

/* Which ports are taken in a cycle, and where its loads begin in their cache line. */
struct core_cycle {
    uint32_t busy;
    uint32_t results; /* the way of whose results is taken */
    uint8_t banks[4]; /* 1 + bank */
};

/* What a µop takes: a port; the way of the port's results to the general registers, too; that way only. */
enum core_takes { CORE_TAKES_PORT, CORE_TAKES_BOTH, CORE_TAKES_RESULT };

struct core_binding {
    const char *port_names;    /* borrowed */
    bool in_turn;              /* ports are given to µops in turn, else by what waits for each */
    unsigned bank_loads;       /* loads a cycle that begin in the same place of a cache line */
    struct core_cycle *cycles; /* owned; CORE_CYCLES_MAX, of which only the first `cleared` hold something */
    size_t cleared;
    bool full;                   /* out of simulated time */
    int taken;                   /* the port that was taken last; -1: none, time had run out */
    int load_of[CORE_PORTS_MAX]; /* µops bound to each port */
    int waiting[CORE_PORTS_MAX]; /* µops that were given each port and have not begun */
    size_t begun;                /* the cycle up to which those that have begun were taken off */
    int given[CORE_PORTS_MAX];   /* when each port was last given to a µop, in the order of giving */
    int givens;
};

/* Opens with the parameters of the core (probe/core.h). IP_NO_MEMORY. `costs` is borrowed. */
IP_CHECK enum ip_status core_binding_open(struct core_binding *binding, const struct core_costs *costs,
                                          struct ip_error *err);
void core_binding_fini(struct core_binding *binding); /* all-zero is fine */

/* The port that a µop is given which is issued in cycle `issued`, one bit of `ports`: it waits for that one,
 * which is not always the one that is free first. 0: all of them have as many waiting as they can hold. */
uint32_t core_binding_port(struct core_binding *binding, uint32_t ports, double issued);

/* The first cycle that is not before `time`, or only so little before it as a µop may begin early. */
size_t core_binding_cycle(double time);

/* Takes one of the ports in the first cycle at or after `from` in which one is free, in vain, if that is not
 * after `until`; false when none is. */
bool core_binding_waste(struct core_binding *binding, uint32_t ports, double from, double until);

/* Takes one of the ports in the first cycle, at or after `from`, in which one is free, and returns that
 * cycle. `bank` is where a load begins in its cache line: no more than so many do in a cycle; -1: it does not
 * matter. When simulated time has run out `full` is set and `from` returned. */
double core_binding_take(struct core_binding *binding, uint32_t ports, double from, int bank,
                         enum core_takes takes);

#endif
