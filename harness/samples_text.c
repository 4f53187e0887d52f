/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/samples_text.h"

const char *const hx_samples_outcome_words[HX_SAMPLES_OUTCOMES] = {
    [HX_OUTCOME_OK] = "ok",
    [HX_OUTCOME_ILLEGAL] = "illegal",
    [HX_OUTCOME_SEGFAULT] = "segfault",
    [HX_OUTCOME_ARITHMETIC] = "arithmetic",
    [HX_OUTCOME_TRAP] = "trap",
    [HX_OUTCOME_SYSCALL] = "syscall",
    [HX_OUTCOME_TIMEOUT] = "timeout",
    [HX_OUTCOME_WRECKED] = "wrecked",
    [HX_OUTCOME_PAGES] = "pages",
    [HX_OUTCOME_DIED] = "died",
    [HX_OUTCOME_MISSING] = "missing",
    [HX_OUTCOME_UNKNOWN] = "unknown",
};

const char *const hx_samples_row_words[HX_SAMPLE_ROWS] = {
    "shorter", "longer", "reference-shorter", "reference-longer", "sentinel-shorter", "sentinel-longer",
};

const char *const hx_samples_vendors[] = {"AuthenticAMD", "GenuineIntel", NULL};

uint64_t hx_samples_hash(uint64_t hash, const void *bytes, size_t count) {
    const uint8_t *byte = bytes;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

uint64_t hx_samples_key(const struct gen_kernel *kernel) {
    uint64_t lengths[2] = {kernel->shorter.length, kernel->longer.length};
    uint64_t hash = hx_samples_hash(HX_SAMPLES_HASH_BEGIN, lengths, sizeof lengths);
    hash = hx_samples_hash(hash, kernel->shorter.bytes, kernel->shorter.length);
    hash = hx_samples_hash(hash, kernel->longer.bytes, kernel->longer.length);
    hash = hx_samples_hash(hash, kernel->memory_fill, sizeof kernel->memory_fill);
    return hx_samples_hash(hash, kernel->vector_fill, sizeof kernel->vector_fill);
}
