/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/shared.h"

/* The parts begin at cache lines. */
static size_t lines(size_t bytes) {
    enum { LINE_BYTES = 64 };
    return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

struct hx_shared_parts hx_shared_parts(struct hx_shared *shared, size_t kernel_count) {
    uint8_t *at = (uint8_t *)shared + lines(sizeof *shared);
    struct hx_shared_parts parts;
    parts.kernels = (struct gen_kernel *)at;
    at += lines(kernel_count * sizeof *parts.kernels);
    parts.placed = (struct hx_placed *)at;
    at += lines(kernel_count * sizeof *parts.placed);
    parts.jobs = (struct hx_job *)at;
    at += lines(kernel_count * sizeof *parts.jobs);
    parts.results = (struct hx_job_result *)at;
    at += lines(kernel_count * sizeof *parts.results);
    parts.ticks = (uint64_t *)at;
    return parts;
}

size_t hx_shared_bytes(size_t kernel_count, uint32_t rounds_max) {
    size_t ticks = kernel_count * HX_TICK_KINDS * rounds_max;
    return lines(sizeof(struct hx_shared)) + lines(kernel_count * sizeof(struct gen_kernel)) +
           lines(kernel_count * sizeof(struct hx_placed)) + lines(kernel_count * sizeof(struct hx_job)) +
           lines(kernel_count * sizeof(struct hx_job_result)) + ticks * sizeof(uint64_t);
}
