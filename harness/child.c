/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "generator/abi.h"
#include "harness/call.h"

static void setup_failed(struct hx_child *child, const char *step, int error) {
    (void)snprintf(child->shared->setup_step, sizeof child->shared->setup_step, "%s", step);
    child->shared->setup_errno = error;
    hx_sandbox_exit();
}

/* Code read-execute, arena read-write: no page is ever both writable and executable. */
static void maps_make(struct hx_child *child, int code_fd) {
    const int fixed = MAP_FIXED_NOREPLACE | MAP_POPULATE;
    void *code = mmap(hx_low_address(GEN_CODE_ADDRESS), child->shared->code_bytes, PROT_READ | PROT_EXEC,
                      MAP_PRIVATE | fixed, code_fd, 0);
    if (code != hx_low_address(GEN_CODE_ADDRESS)) {
        setup_failed(child, "map the code", errno);
    }
    void *arena = mmap(hx_low_address(GEN_ARENA_ADDRESS), GEN_ARENA_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
    if (arena != hx_low_address(GEN_ARENA_ADDRESS)) {
        setup_failed(child, "map the arena", errno);
    }
    /* A page fault inside a sample would spoil it. Where the limit forbids locking, MAP_POPULATE has to do.
     */
    (void)mlock(arena, GEN_ARENA_BYTES);
    int error = hx_pages_open(child);
    if (error != 0) {
        setup_failed(child, "list the data pages", error);
    }
}

/* An alarm now and then; 0: none. A job that two of them find running is over (harness/fault.c): a system
 * call for each job would take longer than the rest of what is done around its samples. */
static void alarms_set(struct hx_child *child, uint32_t milliseconds) {
    const struct timeval every = {milliseconds / 1000, (suseconds_t)(milliseconds % 1000) * 1000};
    const struct itimerval timer = {.it_interval = every, .it_value = every};
    child->alarmed = UINT32_MAX;
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

/* Linux gives a process the tiles' 8 KiB of state only when it asks; without that, their first use is an
 * illegal instruction. */
static void tiles_ask(struct hx_child *child) {
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    bool wanted = false;
    for (size_t i = 0; i < child->shared->kernel_count; i++) {
        wanted = wanted || child->parts.kernels[i].tiles;
    }
    if (wanted && syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) != 0) {
        child->shared->tiles_errno = errno;
    }
}

/* The jobs that the parent has put down. */
static void jobs_run(struct hx_child *child) {
    alarms_set(child, child->shared->timeout_ms);
    for (uint32_t i = child->shared->first; i < child->shared->count; i++) {
        child->shared->current = i;
        hx_child_job_run(child, i);
        if ((child->parts.results[i].wreck & ~(uint32_t)HX_WRECK_ILLEGAL) != 0) {
            child->shared->outcome = HX_OUTCOME_WRECKED;
            hx_sandbox_exit(); /* nothing that this process holds can be trusted any more */
        }
    }
    alarms_set(child, 0);
}

/* What the parent shares. */
static void shared_map(struct hx_child *child, const struct hx_start *start) {
    child->shared = mmap(NULL, start->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                         start->shared_fd, 0);
    if (child->shared == MAP_FAILED) {
        hx_sandbox_exit(); /* the parent sees that it ended before it could measure */
    }
    child->parts = hx_shared_parts(child->shared, child->shared->kernel_count);
    (void)close(start->shared_fd);
}

/* The program's files are not the kernels': a store that it has open could be mapped. Standard error remains,
 * for what a sanitizer says, and `keep`. */
static int others_close(int keep) {
    for (int fd = HX_WIRE_FD + 1; fd < keep; fd++) {
        if (fd != STDERR_FILENO) {
            (void)close(fd);
        }
    }
    return close_range((unsigned)keep + 1, ~0U, 0) == 0 ? 0 : errno;
}

void hx_child_main(const void *common, const struct hx_start *start) {
    struct hx_child own = {.common = common}, *child = &own;
    child->clock = child->common->clock;
    shared_map(child, start);
    int error = hx_sandbox_enter(child->shared->cpu);
    if (error != 0) {
        setup_failed(child, "pin to the CPU", error);
    }
    if (dup2(start->wire, HX_WIRE_FD) < 0) {
        setup_failed(child, "keep the wire to its parent", errno);
    }
    (void)close(start->wire);
    maps_make(child, start->code_fd);
    error = others_close(child->common->page_fd);
    if (error != 0) {
        setup_failed(child, "close what it has inherited", error);
    }
    child->paces = calloc(child->shared->kernel_count, sizeof *child->paces);
    if (child->paces == NULL) {
        setup_failed(child, "note how long kernels take", ENOMEM);
    }
    tiles_ask(child);
    if (child->clock.child_open != NULL) {
        error = child->clock.child_open(&child->clock);
        if (error != 0) {
            setup_failed(child, "start the counter", error);
        }
    }
    error = hx_fault_handlers_install(child);
    if (error != 0) {
        setup_failed(child, "install the fault handlers", error);
    }
    error = hx_sandbox_close(&child->common->sandbox);
    if (error != 0) {
        setup_failed(child, "load the seccomp filter", error);
    }
    child->shared->phase = HX_PHASE_RUNNING;
    char word = 0;
    while (read(HX_WIRE_FD, &word, 1) == 1) {
        jobs_run(child);
        if (write(HX_WIRE_FD, &word, 1) != 1) {
            break;
        }
    }
    hx_sandbox_exit();
}
