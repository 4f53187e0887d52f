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
#include "harness/shared.h"
#include "harness/starter.h"

/* The memory behind all pages that a block touches: small enough for any L1 cache, a power of two. */
enum { HX_PAGES_BYTES = 16384 };

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

/* What all measuring processes of a timer have in common; as it is when the starter is forked. */
struct hx_child_common {
    struct hx_clock clock;
    struct hx_sandbox sandbox;
    int page_fd; /* memfd of HX_PAGES_BYTES: every page that a block touches is one of these */
};

/* All that the child needs. */
struct hx_child {
    const struct hx_child_common *common;
    struct hx_clock clock;
    struct hx_shared *shared;
    struct hx_shared_parts parts; /* of the shared memory */
    uint8_t *pages;               /* the mapping of the common pages */
    struct hx_pace *paces;        /* of each kernel, in the child's own memory */
    double clock_last; /* ticks of one iteration of the chain, in the last job; 0: there was none */
    struct hx_chain_run chain_run;
    bool retook_in_vain;       /* the last job did */
    volatile uint32_t alarmed; /* the job that ran at the last alarm */
    double dither;             /* of the moment at which a sample begins, 0 to 1 of some steps of the clock */
};

/* Runs jobs whenever the parent asks, until the wire is cut; never returns. `common`: struct hx_child_common.
 */
hx_start_main hx_child_main;

/* Runs one job and leaves its samples in shared memory (harness/child_job.c). */
void hx_child_job_run(struct hx_child *child, uint32_t number);

/* Installs the fault handlers and their stack (harness/fault.c). Returns 0 or an errno value. */
int hx_fault_handlers_install(struct hx_child *child);

#endif
