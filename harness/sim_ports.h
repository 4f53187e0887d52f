/* SPDX-License-Identifier: Apache-2.0 */
/* harness/sim_ports.h - which port is busy in which cycle. Internal to the harness. */
#ifndef ISAPROBE_HARNESS_SIM_PORTS_H
#define ISAPROBE_HARNESS_SIM_PORTS_H

#include "common/random.h"
#include "harness/sim_description.h"

struct hx_sim_port {
    uint64_t *busy;     /* owned; bit c: a µop starts in cycle c */
    size_t words, used; /* allocated; up to the last in which a µop starts */
    uint64_t taken;     /* µops so far */
    uint64_t load;      /* µops so far, but not fewer than LOAD_LAG behind the most loaded port */
};

struct hx_sim_ports {
    struct hx_sim_port port[HX_SIM_PORTS_MAX];
    struct hx_sim_port any; /* busy where one of them is */
    uint8_t *starts;        /* owned; for each cycle of any.words: µops that start in it, on all ports */
    unsigned count;
    enum hx_sim_policy policy;
    double uneven;
    struct ip_random random;
    uint64_t load_max;
    bool failed; /* no memory, or more cycles than any kernel should need */
};

void hx_sim_ports_fini(struct hx_sim_ports *ports);

/* Binds a µop that is renamed in cycle `now` and ready in cycle `ready` to a port of `set` and returns the
 * cycle in which it starts there. */
int64_t hx_sim_ports_take(struct hx_sim_ports *ports, uint32_t set, int64_t now, int64_t ready);

/* µops that start in a cycle from `from` to `to`, on any port. */
unsigned hx_sim_ports_starting(const struct hx_sim_ports *ports, int64_t from, int64_t to);

/* The first cycle from `from` on in which a µop starts; `from` if none does. */
int64_t hx_sim_ports_next(const struct hx_sim_ports *ports, int64_t from);

/* What the ports still have to do from cycle `now` on, and which of them is chosen next, as a hash: equal
 * values mean that the same µops would get the same ports. */
uint64_t hx_sim_ports_signature(const struct hx_sim_ports *ports, int64_t now);

#endif
