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

/* The memory behind all pages that a block touches: three quarters of the smallest L1 cache. */
enum { HX_PAGE_BYTES = 4096, HX_FRAMES = 6, HX_PAGES_BYTES = HX_FRAMES * HX_PAGE_BYTES };

static inline void *hx_low_address(uintptr_t address) {
    return (void *)address; /* NOLINT(performance-no-int-to-ptr): the ABI's fixed addresses */
}

/* What was found out about a kernel when it ran first in this process. */
struct hx_pace {
    uint32_t target;     /* cycles of a longer run; 0: it has not run */
    uint32_t iterations; /* that take about as long */
    uint32_t calls;      /* into which they are divided: a call begins with the registers' first values */
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
    int page_fd; /* memfd of HX_PAGES_BYTES: every page that a block touches is a view of one of these */
};

/* All that the child needs. */
struct hx_child {
    const struct hx_child_common *common;
    struct hx_clock clock;
    struct hx_shared *shared;
    struct hx_shared_parts parts; /* of the shared memory */
    uint64_t *pages;              /* addresses that the running block touched, in that order; a page each */
    uint32_t pages_count;
    uint8_t *frames;       /* the memory behind them, once more */
    uint32_t pages_of;     /* 1 + number of the kernel that touched them; 0: none */
    struct hx_pace *paces; /* of each kernel, in the child's own memory */
    double clock_last;     /* ticks of one iteration of the chain, in the last job; 0: there was none */
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

/* A block's memory (harness/pages.c). Once for a process; returns 0 or an errno value. */
int hx_pages_open(struct hx_child *child);
/* From now on pages belong to this kernel; those of another are gone. */
void hx_pages_begin(struct hx_child *child, uint32_t kernel);
/* Unmaps all of them. */
void hx_pages_clear(struct hx_child *child);
/* Maps the page of `address`, filled with the kernel's pattern. Returns 0 or an errno value; E2BIG: too many
 * pages for one block. */
int hx_pages_map(struct hx_child *child, uint64_t address);
/* Renews the memory behind the pages, through the block's own addresses. */
void hx_pages_fill(const struct hx_child *child, const uint8_t pattern[64]);
/* Memory of a multiple of 64 bytes. */
void hx_pattern_fill(uint8_t *to, size_t bytes, const uint8_t pattern[64]);

/* Installs the fault handlers and their stack (harness/fault.c). Returns 0 or an errno value. */
int hx_fault_handlers_install(struct hx_child *child);

#endif
