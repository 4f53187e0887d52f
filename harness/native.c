/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/native.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/cpus.h"
#include "common/random.h"
#include "harness/child.h"
#include "harness/cores.h"
#include "harness/host_cpuid.h"
#include "harness/worker.h"

enum { TIMEOUT_DEFAULT_MS = 2000 };
/* Places of the code of a process, in cache lines: 64 KiB. */
enum { PLACES = 1024 };

struct native {
    struct hx_child_common common;
    struct hx_starter starter;
    struct hx_worker held; /* all-zero: none */
    struct ip_random places;
};

/* What a predictor learns goes by the place of the code, and a kernel measured again at the same place is as
 * it was: so each process has its kernels somewhere else (Curtsinger and Berger, "STABILIZER", ASPLOS 2013;
 * docs/method.md, "The place of the code"). In the same order in each run of the program. */
static size_t place_next(struct native *native) {
    return ip_random_below(&native->places, PLACES);
}

static enum ip_status native_hold(struct hx_timer *timer, const struct gen_kernel *const *kernels,
                                  size_t count, uint32_t rounds_max, struct ip_error *err) {
    struct native *native = timer->state;
    hx_worker_close(&native->held);
    return hx_worker_open(&native->held, &native->starter, timer, kernels, count, place_next(native),
                          rounds_max, err);
}

static void native_release(struct hx_timer *timer) {
    struct native *native = timer->state;
    hx_worker_close(&native->held);
}

static bool native_move(struct hx_timer *timer, int cpu) {
    const struct native *native = timer->state;
    bool moved = native->held.pid <= 0 || hx_cpu_pin(native->held.pid, cpu) == 0;
    timer->cpu = moved ? cpu : timer->cpu;
    return moved;
}

/* One run with a worker of its own. */
static enum ip_status run_once(struct hx_timer *timer, struct hx_job *jobs, size_t count,
                               struct hx_samples *samples, struct ip_error *err) {
    struct native *native = timer->state;
    uint32_t rounds_max = 0;
    const struct gen_kernel **kernels = calloc(count, sizeof(const struct gen_kernel *));
    if (kernels == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for a batch of %zu kernels", count);
    }
    for (size_t i = 0; i < count; i++) {
        rounds_max = jobs[i].rounds > rounds_max ? jobs[i].rounds : rounds_max;
        jobs[i].held = (uint32_t)i;
        kernels[i] = jobs[i].kernel;
    }
    struct hx_worker worker = {0};
    enum ip_status status = rounds_max == 0
                                ? ip_fail(err, IP_FAILED, "a measurement of zero rounds was asked for")
                                : hx_worker_open(&worker, &native->starter, timer, kernels, count,
                                                 place_next(native), rounds_max, err);
    if (status == IP_OK) {
        status = hx_worker_run(&worker, jobs, count, samples, err);
    }
    hx_worker_close(&worker);
    free(kernels);
    return status;
}

static enum ip_status native_run(struct hx_timer *timer, const struct hx_job *jobs, size_t count,
                                 struct hx_samples *samples, struct ip_error *err) {
    struct native *native = timer->state;
    if (count == 0) {
        return IP_OK;
    }
    if (native->held.count != 0) {
        return hx_worker_run(&native->held, jobs, count, samples, err);
    }
    struct hx_job *own = malloc(count * sizeof *own);
    if (own == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for a batch of %zu kernels", count);
    }
    memcpy(own, jobs, count * sizeof *own);
    enum ip_status status = run_once(timer, own, count, samples, err);
    free(own);
    return status;
}

/* Fails early and in plain words when the CPU cannot be had; the child would only report EINVAL. */
static enum ip_status cpu_check(struct hx_timer *timer, struct ip_error *err) {
    struct ip_cpus allowed;
    int error = ip_cpus_allowed(&allowed);
    if (error != 0) {
        return ip_fail_errno(err, IP_CAPABILITY, error, "cannot read the CPUs that this process may use");
    }
    if (timer->cpu < 0) {
        struct hx_cores cores;
        hx_cores_read(&cores, "");
        timer->cpu = hx_core_default(&cores, &allowed, sched_getcpu());
    }
    if (!ip_cpus_has(&allowed, timer->cpu)) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        return ip_fail(err, IP_CAPABILITY,
                       "cannot pin to CPU %d: this process may use %d of %ld online CPUs; choose one of "
                       "those with --cpu",
                       timer->cpu, ip_cpus_count(&allowed), online);
    }
    return IP_OK;
}

static void native_close(struct hx_timer *timer) {
    struct native *native = timer->state;
    if (native == NULL) {
        return;
    }
    hx_worker_close(&native->held);
    hx_starter_close(&native->starter);
    if (native->common.page_fd >= 0) {
        (void)close(native->common.page_fd);
    }
    hx_sandbox_fini(&native->common.sandbox);
    free(native);
    timer->state = NULL;
}

static enum ip_status native_open(struct hx_timer *timer, const struct hx_clock *clock,
                                  struct ip_error *err) {
    enum ip_status status = cpu_check(timer, err);
    if (status != IP_OK) {
        return status;
    }
    struct native *native = calloc(1, sizeof *native);
    if (native == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for a timer");
    }
    native->common.clock = *clock;
    hx_host_vendor(timer->vendor);
    native->common.page_fd = memfd_create("isaprobe-pages", MFD_CLOEXEC);
    timer->state = native;
    if (native->common.page_fd < 0 || ftruncate(native->common.page_fd, HX_PAGES_BYTES) != 0) {
        status = ip_fail_errno(err, IP_CAPABILITY, errno, "cannot create the data pages of user blocks");
    } else {
        status = hx_sandbox_init(&native->common.sandbox, err);
    }
    if (status == IP_OK) {
        status = hx_starter_open(&native->starter, hx_child_main, &native->common, err);
    }
    if (status != IP_OK) {
        native_close(timer);
        return status;
    }
    if (timer->timeout_ms == 0) {
        timer->timeout_ms = TIMEOUT_DEFAULT_MS;
    }
    return IP_OK;
}

static enum ip_status tsc_open(struct hx_timer *timer, const char *argument, struct ip_error *err) {
    if (argument[0] != '\0') {
        return ip_fail(err, IP_USAGE, "timer tsc takes no argument, got '%s'", argument);
    }
    struct hx_clock clock;
    enum ip_status status = hx_clock_tsc_init(&clock, err);
    return status == IP_OK ? native_open(timer, &clock, err) : status;
}

static enum ip_status papi_open(struct hx_timer *timer, const char *argument, struct ip_error *err) {
    struct hx_clock clock;
    enum ip_status status = hx_clock_papi_init(&clock, argument, err);
    return status == IP_OK ? native_open(timer, &clock, err) : status;
}

const struct hx_timer_ops hx_timer_tsc = {
    .name = "tsc",
    .unit = "ticks",
    .summary =
        "RDTSC with LFENCE in a pinned child process; calibrated to core cycles by a dependent add chain",
    .on_silicon = true,
    .open = tsc_open,
    .close = native_close,
    .run = native_run,
    .hold = native_hold,
    .release = native_release,
    .move = native_move,
};

const struct hx_timer_ops hx_timer_papi = {
    .name = "papi",
    .unit = "counts",
    .summary = "a PAPI event (papi:EVENT; default PAPI_TOT_CYC) in a pinned child process",
    .on_silicon = true,
    .open = papi_open,
    .close = native_close,
    .run = native_run,
    .hold = native_hold,
    .release = native_release,
    .move = native_move,
};
