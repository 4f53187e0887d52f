/* SPDX-License-Identifier: Apache-2.0 */
/* harness/sim_hash.h - a simulated core's state as a hash. Internal to the harness. */
#ifndef ISAPROBE_HARNESS_SIM_HASH_H
#define ISAPROBE_HARNESS_SIM_HASH_H

#include <stdint.h>

static inline uint64_t hx_sim_mix(uint64_t signature, uint64_t value) {
    return (signature ^ value) * UINT64_C(0x9e3779b97f4a7c15) + (signature >> 29);
}

/* `signature` with one cycle more, relative to `now`: what is over does not matter. */
static inline uint64_t hx_sim_hash(uint64_t signature, int64_t cycle, int64_t now) {
    return hx_sim_mix(signature, cycle > now ? (uint64_t)(cycle - now) : 0);
}

#endif
