/* SPDX-License-Identifier: Apache-2.0 */
/* harness/sim_noise.h - from exact cycles to the ticks that a disturbed machine would show. Internal to the
 * harness. Seeded: the same description and the same sequence of runs give the same ticks, on any machine. */
#ifndef ISAPROBE_HARNESS_SIM_NOISE_H
#define ISAPROBE_HARNESS_SIM_NOISE_H

#include "common/random.h"
#include "harness/sim_description.h"

struct hx_sim_noise {
    struct ip_random random;
    uint64_t runs;           /* so far */
    uint64_t neighbour_left; /* runs that the neighbour's visit still lasts */
    double walk;             /* relative deviation of the clock's random walk */
    double clock_ticks;      /* the time-stamp counter, before it is rounded */
};

void hx_sim_noise_init(struct hx_sim_noise *noise, const struct hx_sim_description *description);
/* Begins a run: true when the neighbour takes its share of the issue width. */
bool hx_sim_noise_neighbour(struct hx_sim_noise *noise, const struct hx_sim_description *description);
/* Ends it: the ticks that it took. */
double hx_sim_noise_ticks(struct hx_sim_noise *noise, const struct hx_sim_description *description,
                          double cycles);

#endif
