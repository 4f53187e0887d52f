/* SPDX-License-Identifier: Apache-2.0 */
/* common/random.h - a small seeded generator (SplitMix64; Steele, Lea, Flood 2014), the same on every
 * machine. */
#ifndef ISAPROBE_COMMON_RANDOM_H
#define ISAPROBE_COMMON_RANDOM_H

#include <stdint.h>

struct ip_random {
    uint64_t state; /* the seed, to begin with */
};

static inline uint64_t ip_random_next(struct ip_random *random) {
    uint64_t z = (random->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Uniform in [0, 1). */
static inline double ip_random_unit(struct ip_random *random) {
    return (double)(ip_random_next(random) >> 11) * 0x1p-53;
}

/* Uniform in [0, bound), bound > 0; the bias of the modulus is below 2^-32 for bounds below 2^32. */
static inline uint64_t ip_random_below(struct ip_random *random, uint64_t bound) {
    return ip_random_next(random) % bound;
}

#endif
