/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/sim_noise.h"

#include <math.h>
#include <string.h>

void hx_sim_noise_init(struct hx_sim_noise *noise, const struct hx_sim_description *description) {
    memset(noise, 0, sizeof *noise);
    noise->random.state = description->seed;
}

bool hx_sim_noise_neighbour(struct hx_sim_noise *noise, const struct hx_sim_description *description) {
    uint64_t run = noise->runs++;
    if (run >= description->neighbour_from && run < description->neighbour_to) {
        return true;
    }
    if (noise->neighbour_left > 0) {
        noise->neighbour_left--;
        return true;
    }
    if (description->neighbour_probability > 0 &&
        ip_random_unit(&noise->random) < description->neighbour_probability) {
        noise->neighbour_left = description->neighbour_runs - 1;
        return true;
    }
    return false;
}

/* Nearly normal, mean 0, deviation 1: twelve uniform numbers, so that no library's rounding matters. */
static double normal(struct ip_random *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += ip_random_unit(random);
    }
    return sum;
}

static double ticks_per_cycle(struct hx_sim_noise *noise, const struct hx_sim_description *d) {
    double deviation = 0;
    switch (d->drift) {
    case HX_SIM_DRIFT_NONE:
        break;
    case HX_SIM_DRIFT_SINE:
        deviation = d->drift_amplitude * sin(6.283185307179586 * (double)noise->runs / d->drift_period);
        break;
    case HX_SIM_DRIFT_WALK:
        noise->walk += d->drift_step * normal(&noise->random);
        noise->walk = fmax(-d->drift_amplitude, fmin(d->drift_amplitude, noise->walk));
        deviation = noise->walk;
        break;
    }
    return d->ticks_per_cycle * (1 + deviation);
}

double hx_sim_noise_ticks(struct hx_sim_noise *noise, const struct hx_sim_description *d, double cycles) {
    double ticks = cycles * ticks_per_cycle(noise, d) + d->overhead_ticks;
    if (d->noise > 0) {
        ticks = fmax(0, ticks * (1 + d->noise * normal(&noise->random)));
    }
    if (d->jitter_ticks > 0) {
        ticks += d->jitter_ticks * ip_random_unit(&noise->random);
    }
    if (d->spike_probability > 0 && ip_random_unit(&noise->random) < d->spike_probability) {
        ticks += d->spike_ticks * (0.5 + ip_random_unit(&noise->random));
    }
    double before = floor(noise->clock_ticks / d->resolution_ticks);
    noise->clock_ticks += ticks;
    return (floor(noise->clock_ticks / d->resolution_ticks) - before) * d->resolution_ticks;
}
