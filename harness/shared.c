/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/shared.h"

/* The parts begin at cache lines. */
static size_t lines(size_t bytes) {
    enum { LINE_BYTES = 64 };
    return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

/* Where each part begins. */
struct offsets {
    size_t kernels, placed, jobs, results, ticks;
};

static struct offsets offsets_of(size_t kernel_count) {
    struct offsets at = {.kernels = lines(sizeof(struct hx_shared))};
    at.placed = at.kernels + lines(kernel_count * sizeof(struct gen_kernel));
    at.jobs = at.placed + lines(kernel_count * sizeof(struct hx_placed));
    at.results = at.jobs + lines(kernel_count * sizeof(struct hx_job));
    at.ticks = at.results + lines(kernel_count * sizeof(struct hx_job_result));
    return at;
}

struct hx_shared_parts hx_shared_parts(struct hx_shared *shared, size_t kernel_count) {
    const struct offsets at = offsets_of(kernel_count);
    uint8_t *base = (uint8_t *)shared;
    return (struct hx_shared_parts){.kernels = (struct gen_kernel *)(base + at.kernels),
                                    .placed = (struct hx_placed *)(base + at.placed),
                                    .jobs = (struct hx_job *)(base + at.jobs),
                                    .results = (struct hx_job_result *)(base + at.results),
                                    .ticks = (uint64_t *)(base + at.ticks)};
}

size_t hx_shared_bytes(size_t kernel_count, uint32_t rounds_max) {
    return offsets_of(kernel_count).ticks + kernel_count * HX_TICK_KINDS * rounds_max * sizeof(uint64_t);
}
