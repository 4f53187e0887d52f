/* SPDX-License-Identifier: Apache-2.0 */
/* harness/shared.h - the memory that a measuring process shares with its parent: what the parent puts down
 * for it before it starts, the jobs, and what came of them. */
#ifndef ISAPROBE_HARNESS_SHARED_H
#define ISAPROBE_HARNESS_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/timer.h"

/* Where the two lengths of a kernel lie in the code mapping. */
struct hx_placed {
    uintptr_t shorter, longer;
};

/* What one job's run left; `rounds` ticks of each of the six kinds are among the ticks. */
struct hx_job_result {
    uint32_t iterations, reference_iterations, sentinel_iterations;
    uint32_t wreck; /* enum hx_wreck */
    bool done;
};

enum hx_phase { HX_PHASE_SETUP, HX_PHASE_RUNNING };

enum { HX_TICK_KINDS = 6 }; /* shorter, longer, reference shorter, longer, sentinel shorter, longer */

/* Lies first; the parent writes before the child starts, and while it waits for the parent's word. */
struct hx_shared {
    size_t kernel_count, code_bytes;
    uint32_t rounds_max, timeout_ms;
    int cpu;
    bool avx; /* VZEROUPPER exists */
    struct hx_placed chain, sentinels[HX_SENTINELS];
    struct hx_references references; /* the addresses in it are of no use to the child */
    volatile uint32_t first, count;  /* the jobs to run: first .. count-1 */
    volatile uint32_t phase;
    volatile uint32_t current; /* job that is running */
    volatile uint32_t outcome; /* enum hx_outcome of the job that ended the child */
    volatile int setup_errno;
    char setup_step[32];
    volatile uint64_t fault_address;
    volatile int fault_errno;
    volatile int tiles_errno; /* why the system lets nobody use tiles; 0: it does, or nobody asked */
};

/* The parts behind it, one behind the other. */
struct hx_shared_parts {
    struct gen_kernel *kernels; /* kernel_count; the addresses of their code are of no use to the child */
    struct hx_placed *placed;   /* of each kernel */
    struct hx_job *jobs;        /* kernel_count of them at most */
    struct hx_job_result *results;
    uint64_t *ticks; /* [job][kind][round], rows of rounds_max */
};

/* Bytes of all, for so many kernels (and jobs) and rounds. */
size_t hx_shared_bytes(size_t kernel_count, uint32_t rounds_max);
/* Where the parts lie in a mapping for so many kernels. */
struct hx_shared_parts hx_shared_parts(struct hx_shared *shared, size_t kernel_count);

#endif
