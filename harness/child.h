/* SPDX-License-Identifier: Apache-2.0 */
/* harness/child.h - the measuring process: runs jobs one after another and writes samples into memory that it
 * shares with its parent. */
#ifndef ISAPROBE_HARNESS_CHILD_H
#define ISAPROBE_HARNESS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "harness/clock.h"
#include "harness/sandbox.h"
#include "harness/timer.h"

/* The memory behind all pages that a block touches: small enough for any L1 cache, a power of two. */
enum { HX_PAGES_BYTES = 16384 };

/* Where the two lengths of a kernel lie in the code mapping. */
struct hx_placed {
    uintptr_t shorter, longer;
};

/* What one job's run left in shared memory; `rounds` ticks of each of the six kinds follow in
 * hx_shared.ticks. */
struct hx_job_result {
    uint32_t iterations, reference_iterations, sentinel_iterations;
    uint32_t wreck; /* enum hx_wreck */
    bool done;
};

enum hx_phase { HX_PHASE_SETUP, HX_PHASE_RUNNING };

enum { HX_TICK_KINDS = 6 }; /* shorter, longer, reference shorter, longer, sentinel shorter, longer */

/* Shared between parent and child; the parent writes while the child waits for its word. */
struct hx_shared {
    volatile uint32_t first, count; /* the jobs to run: first .. count-1 */
    volatile uint32_t phase;
    volatile uint32_t current; /* job that is running */
    volatile uint32_t outcome; /* enum hx_outcome of the job that ended the child */
    volatile int setup_errno;
    char setup_step[32];
    volatile uint64_t fault_address;
    volatile int fault_errno;
    volatile int tiles_errno; /* why the system lets nobody use tiles; 0: it does, or nobody asked */
    volatile uint32_t pages;  /* mapped on demand for the current job */
};

static inline void *hx_low_address(uintptr_t address) {
    return (void *)address; /* NOLINT(performance-no-int-to-ptr): the ABI's fixed addresses */
}

/* What was found out about a kernel when it ran first in this process. */
struct hx_pace {
    uint32_t target;     /* cycles of a longer run; 0: it has not run */
    uint32_t iterations; /* that take about as long */
};

/* The chain as it last ran, in both lengths. */
struct hx_chain_run {
    uint64_t shorter, longer; /* ticks */
    uint32_t iterations;
    uint32_t jobs; /* that may still take it for their own */
};

/* All that the child needs; the parent fills it before the fork. */
struct hx_child {
    const struct hx_job *jobs; /* in shared memory */
    const struct gen_kernel *const *kernels;
    size_t kernel_count;
    const struct hx_placed *placed; /* of each kernel */
    struct hx_job_result *results;  /* in shared memory */
    uint64_t *ticks;                /* in shared memory: [job][kind][round], rows of rounds_max */
    uint32_t rounds_max;
    struct hx_shared *shared;
    struct hx_placed reference;
    const struct hx_placed *sentinels; /* HX_SENTINELS of them */
    const struct hx_references *references;
    struct hx_clock clock;
    const struct hx_sandbox *sandbox;
    pid_t parent;
    int cpu;
    int code_fd; /* memfd that holds the code; mapped read-execute at GEN_CODE_ADDRESS */
    size_t code_bytes;
    int page_fd;           /* memfd of HX_PAGES_BYTES: every page that a block touches is one of these */
    uint8_t *pages;        /* its mapping in the child */
    struct hx_pace *paces; /* of each kernel, in the child's own memory */
    double clock_last;     /* ticks of one iteration of the chain, in the last job; 0: there was none */
    struct hx_chain_run chain_run;
    bool retook_in_vain; /* the last job did */
    int wire;            /* to the parent; the child moves it to HX_WIRE_FD */
    double dither;       /* of the moment at which a sample begins, 0 to 1 of some steps of the clock */
    uint32_t timeout_ms;
    bool avx; /* VZEROUPPER exists */
};

/* Runs jobs whenever the parent asks, until the wire is cut; never returns. */
void hx_child_main(struct hx_child *child);

/* Runs one job and leaves its samples in shared memory (harness/child_job.c). */
void hx_child_job_run(struct hx_child *child, uint32_t number);

/* Installs the fault handlers and their stack (harness/fault.c). Returns 0 or an errno value. */
int hx_fault_handlers_install(struct hx_child *child);

#endif
