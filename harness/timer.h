/* SPDX-License-Identifier: Apache-2.0 */
/* harness/timer.h - what runs a kernel and says how long it took: one small table of functions per timer.
 *
 * tsc: RDTSC between LFENCEs, in a pinned child process; ticks of the time-stamp counter.
 * papi[:EVENT]: a PAPI event around the kernel, in a pinned child process; PAPI_TOT_CYC, core cycles, by
 * default.
 * sim:FILE: the simulated CPU that FILE describes (harness/sim.h).
 * replay:FILE: samples recorded earlier with --record (harness/replay.h).
 *
 * A timer is probed (can it work here, and why not) and validated before use. */
#ifndef ISAPROBE_HARNESS_TIMER_H
#define ISAPROBE_HARNESS_TIMER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "generator/kernel.h"

/* How one kernel's run ended. */
enum hx_outcome {
    HX_OUTCOME_OK,
    HX_OUTCOME_ILLEGAL,    /* SIGILL: this CPU lacks the instruction */
    HX_OUTCOME_SEGFAULT,   /* SIGSEGV or SIGBUS */
    HX_OUTCOME_ARITHMETIC, /* SIGFPE: division error or an unmasked exception */
    HX_OUTCOME_TRAP,       /* SIGTRAP */
    HX_OUTCOME_SYSCALL,    /* the kernel made a system call (SIGSYS) */
    HX_OUTCOME_TIMEOUT,    /* it did not end in time */
    HX_OUTCOME_WRECKED, /* it returned with a changed RSP, callee-saved register, direction flag or MXCSR */
    HX_OUTCOME_PAGES,   /* touched addresses that cannot be mapped, or too many pages */
    HX_OUTCOME_DIED,    /* any other end of the child */
    HX_OUTCOME_MISSING, /* replay: no recorded samples for this kernel */
    HX_OUTCOME_UNKNOWN, /* sim: an instruction that the description lacks */
};

/* A request: run both lengths of `kernel` alternately, `rounds` times each, together with the reference
 * chain. */
struct hx_job {
    const struct gen_kernel *kernel;
    uint32_t iterations; /* of the loop, for each sample; 0: the timer chooses so that a long run takes about
                            target_cycles */
    uint32_t rounds;     /* samples of each length */
    uint32_t target_cycles;   /* how long a longer run should take, about; 0: 6000 */
    uint32_t reference_every; /* chain and sentinel run in every so many rounds, whose samples stand for the
                                 rounds behind too; 0 and 1: in each */
    uint32_t retakes;         /* rounds more, at most, while the samples of a length are not alike: each new
                                 sample replaces the longest, if it is shorter; timers whose samples nobody
                                 disturbs take none */
    uint32_t held;            /* while the timer holds kernels (hold, below): which of them `kernel` is */
};

/* What came back. Arrays are allocated by the caller of hx_timer_run: `rounds` values each. */
struct hx_samples {
    double *shorter, *longer;                     /* ticks of each run of the kernel */
    double *reference_shorter, *reference_longer; /* ticks of the calibration chain, beside it */
    double *sentinel_shorter, *sentinel_longer;   /* ticks of its sentinel, beside it */
    uint32_t iterations;                          /* that were used for the kernel */
    uint32_t reference_iterations, sentinel_iterations;
    enum hx_outcome outcome;
    uint64_t fault_address; /* for SEGFAULT and PAGES */
    char why[96];           /* outcome in words; "" when OK */
};

enum { HX_SAMPLE_ROWS = 6 }; /* arrays of struct hx_samples */

/* Points the arrays of `samples` into `values`, which has HX_SAMPLE_ROWS * rounds elements. */
void hx_samples_place(struct hx_samples *samples, double *values, uint32_t rounds);

struct hx_timer;

struct hx_timer_ops {
    const char *name;    /* "tsc" */
    const char *unit;    /* what samples count: "ticks" (of the TSC) or "cycles" */
    const char *summary; /* one line for `doctor` and help */
    bool on_silicon;     /* runs kernels on a CPU of this machine */
    bool replays;        /* has the samples of an earlier run */
    /* Prepares `timer->state`. `argument` is what follows the colon ("" if none). IP_CAPABILITY: cannot work
     * here, and why. */
    enum ip_status (*open)(struct hx_timer *timer, const char *argument, struct ip_error *err);
    void (*close)(struct hx_timer *timer);
    /* Runs jobs[0..count), filling samples[0..count). A faulting kernel is an outcome, not an error. */
    enum ip_status (*run)(struct hx_timer *timer, const struct hx_job *jobs, size_t count,
                          struct hx_samples *samples, struct ip_error *err);
    /* Until release, all runs take their kernels from these, in one process where nothing goes wrong, and at
     * most so many rounds and jobs: what each run would prepare anew is prepared once. Kernels are borrowed
     * until then. NULL: the timer has nothing to prepare. */
    enum ip_status (*hold)(struct hx_timer *timer, const struct gen_kernel *const *kernels, size_t count,
                           uint32_t rounds_max, struct ip_error *err);
    void (*release)(struct hx_timer *timer); /* NULL where hold is */
    /* From now on kernels run on that CPU, those that are held, too. Returns false, and nothing has changed,
     * where that cannot be. NULL: the timer runs them on no CPU of this machine. */
    bool (*move)(struct hx_timer *timer, int cpu);
};

/* What can run beside a kernel to show whether somebody disturbs it. */
enum hx_sentinel {
    HX_SENTINEL_NOPS,     /* long NOPs: the issue width */
    HX_SENTINEL_LOADS,    /* independent loads among NOPs: the ports that load, too */
    HX_SENTINEL_FORWARDS, /* a chain of vectors through memory: what a load takes from the store before it */
    HX_SENTINELS
};

/* What makes the call of a kernel longer. */
enum hx_call {
    HX_CALL_VECTOR, /* the widest of AVX2 and SSE are filled, which wakes their units */
    HX_CALL_X87,    /* MMX and x87 are filled, and emptied in the end (EMMS, FNINIT) */
    HX_CALLS
};

/* Kernels that every timer needs beside the user's: built once by hx_bench_open. */
struct hx_references {
    struct gen_kernel chain;                   /* dependent `add r, r`: one cycle each */
    struct gen_kernel sentinels[HX_SENTINELS]; /* empty, but for the NOPs: not here */
    struct gen_kernel calls[HX_CALLS]; /* the chain with such registers filled first; empty: not here */
    double call_cycles[HX_CALLS];      /* that its call takes more than the chain's */
    double clock_step; /* ticks by which the clock advances, where it is coarse (tens of ticks, as of AMD's);
                          0: finer than what runs through it can be told apart */
};

/* Whether somebody disturbs `kernel`: where its chain goes through memory the forwards say it, where it
 * touches memory otherwise and is no measurement of issue slots the loads, and elsewhere (NULL too), or where
 * those are empty, the NOPs. */
enum hx_sentinel hx_references_sentinel(const struct hx_references *references,
                                        const struct gen_kernel *kernel);

struct hx_timer {
    const struct hx_timer_ops *ops;
    void *state;                            /* owned by the timer */
    const struct hx_references *references; /* borrowed */
    bool replays_silicon;                   /* what it replays ran on silicon */
    char vendor[13]; /* as CPUID calls it, of the CPU that runs or ran the kernels; "": none did, or not known
                      */
    int cpu;         /* CPU number to pin to; -1: the one we are on */
    uint32_t timeout_ms; /* a job that takes as long may be ended, and one of twice as long is */
    const volatile sig_atomic_t
        *stop; /* borrowed, may be NULL: non-zero asks the run to end with IP_FAILED */
};

/* All timers, NULL-terminated. */
extern const struct hx_timer_ops *const hx_timers[];

/* "tsc", "sim:zen.sim" ... IP_USAGE for an unknown name (lists the known ones). */
IP_CHECK enum ip_status hx_timer_open(struct hx_timer *timer, const char *specification,
                                      const struct hx_references *references, int cpu, struct ip_error *err);
void hx_timer_close(struct hx_timer *timer); /* an all-zero timer is fine */

const char *hx_outcome_name(enum hx_outcome outcome); /* "illegal instruction" ... */

#endif
