/* SPDX-License-Identifier: Apache-2.0 */
/* harness/sim_front.h - the front end of a simulated core: so many slots a cycle come into a queue of so
 * many, ahead of rename; microcode keeps it busy for some cycles. Internal to the harness; docs/sim.md, "The
 * model". */
#ifndef ISAPROBE_HARNESS_SIM_FRONT_H
#define ISAPROBE_HARNESS_SIM_FRONT_H

#include <stdbool.h>
#include <stdint.h>

struct hx_sim_front {
    unsigned width, queue; /* slots; width 0: all that rename asks for is there */
    int64_t *renamed;      /* owned; cycles of the last `queue` slots: a place is free then */
    int64_t cycle;         /* in which it delivers */
    unsigned delivered;    /* slots of that cycle */
    uint64_t slots;        /* in all */
};

/* false: no memory. All-zero is fine for a front end of width 0. */
bool hx_sim_front_init(struct hx_sim_front *front, unsigned width, unsigned queue);
void hx_sim_front_fini(struct hx_sim_front *front);

/* The next slots are those of an instruction that takes the front end `cycles` cycles, 0: no more than their
 * number asks for, or there is no front end. */
void hx_sim_front_begin(struct hx_sim_front *front, unsigned cycles);
void hx_sim_front_end(struct hx_sim_front *front, unsigned cycles);
/* The cycle in which the next slot is there. */
int64_t hx_sim_front_slot(struct hx_sim_front *front);
/* That slot was renamed. */
void hx_sim_front_renamed(struct hx_sim_front *front, int64_t cycle);

/* All that decides about what comes, relative to cycle `now`, as a hash. */
uint64_t hx_sim_front_signature(const struct hx_sim_front *front, int64_t now);

#endif
