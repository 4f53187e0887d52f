/* SPDX-License-Identifier: Apache-2.0 */
/* results/hash.h - a 64-bit hash of bytes that stays the same for ever: it names kernels in stores. Not for
 * keeping enemies out. */
#ifndef ISAPROBE_RESULTS_HASH_H
#define ISAPROBE_RESULTS_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Mixes `length` bytes into `hash` (0 to begin with), eight at a time (SplitMix64's finaliser; Steele, Lea,
 * Flood 2014). Little-endian machines only, as x86-64 is. */
static inline uint64_t res_hash(uint64_t hash, const void *bytes, size_t length) {
    const unsigned char *at = bytes;
    size_t left = length;
    while (left > 0) {
        uint64_t word = 0;
        size_t some = left < sizeof word ? left : sizeof word;
        memcpy(&word, at, some);
        hash = (hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
        hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
        hash ^= hash >> 31;
        at += some;
        left -= some;
    }
    return hash ^ length;
}

#endif
