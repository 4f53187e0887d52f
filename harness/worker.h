/* SPDX-License-Identifier: Apache-2.0 */
/* harness/worker.h - the measuring process as its parent sees it: kernels whose code lies in one sealed
 * mapping, and a child that runs jobs of them, as often as asked. A kernel that ends its child costs only
 * itself: another child goes on. One that somebody else kills costs nothing: another one begins where it was.
 */
#ifndef ISAPROBE_HARNESS_WORKER_H
#define ISAPROBE_HARNESS_WORKER_H

#include <sys/types.h>

#include "harness/shared.h"
#include "harness/starter.h"
#include "harness/timer.h"

struct hx_worker {
    const struct hx_starter *starter;  /* borrowed */
    struct hx_timer *timer;            /* borrowed */
    const struct gen_kernel **kernels; /* the list owned, the kernels borrowed */
    size_t count;
    uint32_t rounds_max;
    struct hx_placed *placed; /* owned; of each kernel */
    struct hx_placed chain, sentinels[HX_SENTINELS];
    int code_fd;
    size_t code_bytes;
    int shared_fd;
    struct hx_shared *shared; /* with the child */
    struct hx_shared_parts parts;
    size_t shared_bytes;
    pid_t pid; /* 0: none runs */
    int wire;  /* to the child: a byte asks for the jobs, a byte says that they are done */
};

/* Places the kernels, `gap` cache lines behind the references; no process is started yet. At most
 * `rounds_max` rounds and `count` jobs in a run. IP_FAILED: too much code. IP_CAPABILITY, IP_NO_MEMORY as the
 * system says. */
IP_CHECK enum ip_status hx_worker_open(struct hx_worker *worker, const struct hx_starter *starter,
                                       struct hx_timer *timer, const struct gen_kernel *const *kernels,
                                       size_t count, size_t gap, uint32_t rounds_max, struct ip_error *err);
/* Ends the child; an all-zero worker is fine. */
void hx_worker_close(struct hx_worker *worker);

/* Runs jobs, whose `held` says which of the worker's kernels each one runs. A faulting kernel is an outcome,
 * not an error. IP_FAILED: somebody killed the measuring process twice in the course of one job. */
IP_CHECK enum ip_status hx_worker_run(struct hx_worker *worker, const struct hx_job *jobs, size_t count,
                                      struct hx_samples *samples, struct ip_error *err);

#endif
