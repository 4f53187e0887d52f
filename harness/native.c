/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/native.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "generator/abi.h"
#include "harness/child.h"
#include "harness/clock.h"
#include "harness/sandbox.h"

enum {
    PAGE_BYTES = 4096,
    CODE_ALIGNMENT = 64,
    TIMEOUT_DEFAULT_MS = 2000,
};

struct native {
    struct hx_clock clock;
    struct hx_sandbox sandbox;
    int page_fd;
};

/* One batch: everything that lives as long as one call of run. */
struct batch {
    struct hx_timer *timer;
    const struct hx_job *jobs;
    struct hx_samples *samples;
    size_t count;
    struct hx_placed *placed; /* of each job */
    struct hx_placed reference, sentinel;
    int code_fd;
    size_t code_bytes;
    void *shared; /* hx_shared, results, ticks */
    size_t shared_bytes;
    uint32_t rounds_max;
};

static size_t aligned(size_t value, size_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

static size_t kernel_bytes(const struct gen_kernel *kernel) {
    return aligned(kernel->shorter.length, CODE_ALIGNMENT) + aligned(kernel->longer.length, CODE_ALIGNMENT);
}

static struct hx_placed kernel_place(uint8_t *code, size_t *at, const struct gen_kernel *kernel) {
    struct hx_placed placed = {GEN_CODE_ADDRESS + *at, 0};
    memcpy(code + *at, kernel->shorter.bytes, kernel->shorter.length);
    *at += aligned(kernel->shorter.length, CODE_ALIGNMENT);
    placed.longer = GEN_CODE_ADDRESS + *at;
    memcpy(code + *at, kernel->longer.bytes, kernel->longer.length);
    *at += aligned(kernel->longer.length, CODE_ALIGNMENT);
    return placed;
}

/* Writes all code into a memfd, which is sealed against writing before anybody can execute it. */
static enum ip_status batch_code_place(struct batch *batch, struct ip_error *err) {
    const struct hx_references *references = batch->timer->references;
    size_t bytes = kernel_bytes(&references->chain) + kernel_bytes(&references->sentinel);
    for (size_t i = 0; i < batch->count; i++) {
        bytes += kernel_bytes(batch->jobs[i].kernel);
    }
    bytes = aligned(bytes, PAGE_BYTES);
    if (bytes > GEN_ARENA_ADDRESS - GEN_CODE_ADDRESS) {
        return ip_fail(err, IP_FAILED,
                       "a batch of %zu kernels has %zu bytes of code, too many: use smaller batches",
                       batch->count, bytes);
    }
    batch->code_fd = memfd_create("isaprobe-code", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (batch->code_fd < 0) {
        return ip_fail_errno(err, IP_CAPABILITY, errno, "cannot create memory for kernels");
    }
    if (ftruncate(batch->code_fd, (off_t)bytes) != 0) {
        return ip_fail_errno(err, IP_NO_MEMORY, errno, "cannot reserve %zu bytes for kernels", bytes);
    }
    uint8_t *code = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, batch->code_fd, 0);
    if (code == MAP_FAILED) {
        return ip_fail_errno(err, IP_NO_MEMORY, errno, "cannot map %zu bytes for kernels", bytes);
    }
    size_t at = 0;
    batch->reference = kernel_place(code, &at, &references->chain);
    batch->sentinel = kernel_place(code, &at, &references->sentinel);
    for (size_t i = 0; i < batch->count; i++) {
        batch->placed[i] = kernel_place(code, &at, batch->jobs[i].kernel);
    }
    (void)munmap(code, bytes);
    if (fcntl(batch->code_fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) != 0) {
        return ip_fail_errno(err, IP_CAPABILITY, errno, "cannot seal the memory of kernels against writing");
    }
    batch->code_bytes = bytes;
    return IP_OK;
}

static struct hx_job_result *batch_results(const struct batch *batch) {
    return (struct hx_job_result *)((uint8_t *)batch->shared + aligned(sizeof(struct hx_shared), 64));
}

static uint64_t *batch_ticks(const struct batch *batch) {
    return (uint64_t *)((uint8_t *)batch->shared + aligned(sizeof(struct hx_shared), 64) +
                        aligned(batch->count * sizeof(struct hx_job_result), 64));
}

static enum ip_status batch_open(struct batch *batch, struct ip_error *err) {
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->jobs[i].rounds > batch->rounds_max) {
            batch->rounds_max = batch->jobs[i].rounds;
        }
    }
    if (batch->rounds_max == 0) {
        return ip_fail(err, IP_FAILED, "a measurement of zero rounds was asked for");
    }
    batch->placed = calloc(batch->count, sizeof *batch->placed);
    if (batch->placed == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for a batch of %zu kernels", batch->count);
    }
    batch->shared_bytes = aligned(sizeof(struct hx_shared), 64) +
                          aligned(batch->count * sizeof(struct hx_job_result), 64) +
                          batch->count * HX_TICK_KINDS * batch->rounds_max * sizeof(uint64_t);
    batch->shared = mmap(NULL, batch->shared_bytes, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (batch->shared == MAP_FAILED) {
        batch->shared = NULL;
        return ip_fail_errno(err, IP_NO_MEMORY, errno, "cannot map the samples of %zu kernels", batch->count);
    }
    return batch_code_place(batch, err);
}

static void batch_close(struct batch *batch) {
    if (batch->shared != NULL) {
        (void)munmap(batch->shared, batch->shared_bytes);
    }
    if (batch->code_fd >= 0) {
        (void)close(batch->code_fd);
    }
    free(batch->placed);
}

/* Waits for the child; kills it when it makes no progress for much longer than its own alarm allows, or when
 * the caller wants to stop. */
static enum ip_status child_wait(struct batch *batch, pid_t pid, int *wait_status, struct ip_error *err) {
    const struct hx_shared *shared = batch->shared;
    int fd = pidfd_open(pid, 0);
    bool stopped = false;
    uint32_t seen = UINT32_MAX;
    uint32_t idle_ms = 0;
    const int step_ms = 200;
    while (fd >= 0) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        int ready = poll(&wait, 1, step_ms);
        if (ready > 0) {
            break;
        }
        stopped = batch->timer->stop != NULL && *batch->timer->stop != 0;
        idle_ms = shared->current == seen && ready == 0 ? idle_ms + (uint32_t)step_ms : 0;
        seen = shared->current;
        if (stopped || idle_ms > 2 * batch->timer->timeout_ms + 2000) {
            (void)kill(pid, SIGKILL);
            break;
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    while (waitpid(pid, wait_status, 0) < 0) {
        if (errno != EINTR) {
            return ip_fail_errno(err, IP_FAILED, errno, "cannot wait for the measuring process");
        }
    }
    if (stopped || (batch->timer->stop != NULL && *batch->timer->stop != 0)) {
        return ip_fail(err, IP_FAILED, "interrupted");
    }
    return IP_OK;
}

static enum hx_outcome outcome_of_death(const struct hx_shared *shared, int wait_status) {
    if (WIFEXITED(wait_status)) {
        return shared->outcome != HX_OUTCOME_OK ? (enum hx_outcome)shared->outcome : HX_OUTCOME_DIED;
    }
    switch (WTERMSIG(wait_status)) {
    case SIGSEGV: /* the handler itself faulted: the kernel destroyed what it stands on */
        return HX_OUTCOME_WRECKED;
    case SIGKILL:
        return HX_OUTCOME_TIMEOUT;
    default:
        return HX_OUTCOME_DIED;
    }
}

static void outcome_describe(struct hx_samples *samples, const struct hx_shared *shared, uint32_t wreck,
                             bool tiles) {
    unsigned long long address = shared->fault_address;
    samples->fault_address = address;
    const char *name = hx_outcome_name(samples->outcome);
    switch (samples->outcome) {
    case HX_OUTCOME_SEGFAULT:
        (void)snprintf(samples->why, sizeof samples->why, "%s at address 0x%llx", name, address);
        break;
    case HX_OUTCOME_PAGES:
        if (shared->fault_errno == E2BIG) {
            (void)snprintf(samples->why, sizeof samples->why, "touches too many pages (at 0x%llx)", address);
        } else if (shared->fault_errno != 0) {
            (void)snprintf(samples->why, sizeof samples->why, "address 0x%llx cannot be mapped: %s", address,
                           strerror(shared->fault_errno));
        } else {
            (void)snprintf(samples->why, sizeof samples->why, "non-canonical or misaligned address");
        }
        break;
    case HX_OUTCOME_WRECKED:
        (void)snprintf(samples->why, sizeof samples->why, "%s:%s%s%s%s%s", name,
                       (wreck & 1) != 0 ? " callee-saved register" : "", (wreck & 2) != 0 ? " RSP" : "",
                       (wreck & 4) != 0 ? " direction flag" : "", (wreck & 8) != 0 ? " MXCSR" : "",
                       wreck == 0 ? " stack or handler" : "");
        break;
    case HX_OUTCOME_ILLEGAL:
        if (tiles && shared->tiles_errno != 0) {
            (void)snprintf(samples->why, sizeof samples->why,
                           "the system does not let programs use tiles: %s", strerror(shared->tiles_errno));
        } else {
            (void)snprintf(samples->why, sizeof samples->why, "%s", name);
        }
        break;
    case HX_OUTCOME_SYSCALL:
        (void)snprintf(samples->why, sizeof samples->why, "%s %llu", name, address);
        break;
    default:
        (void)snprintf(samples->why, sizeof samples->why, "%s", name);
        break;
    }
}

static enum ip_status setup_error(const struct batch *batch, struct ip_error *err) {
    const struct hx_shared *shared = batch->shared;
    if (strcmp(shared->setup_step, "pin to the CPU") == 0) {
        return ip_fail_errno(err, IP_CAPABILITY, shared->setup_errno,
                             "cannot pin the measuring process to CPU %d; choose another with --cpu",
                             batch->timer->cpu);
    }
    return ip_fail_errno(err, IP_CAPABILITY, shared->setup_errno, "the measuring process cannot %s",
                         shared->setup_step);
}

/* Runs jobs first.. in one child. On return *next is the first job that no child has tried yet. */
static enum ip_status child_run(struct batch *batch, uint32_t first, uint32_t *next, struct ip_error *err) {
    struct native *native = batch->timer->state;
    struct hx_shared *shared = batch->shared;
    memset(shared, 0, sizeof *shared);
    shared->current = first;
    struct hx_child child = {
        .jobs = batch->jobs,
        .placed = batch->placed,
        .results = batch_results(batch),
        .ticks = batch_ticks(batch),
        .rounds_max = batch->rounds_max,
        .first = first,
        .count = (uint32_t)batch->count,
        .shared = shared,
        .reference = batch->reference,
        .sentinel = batch->sentinel,
        .references = batch->timer->references,
        .clock = native->clock,
        .sandbox = &native->sandbox,
        .parent = getpid(),
        .cpu = batch->timer->cpu,
        .code_fd = batch->code_fd,
        .code_bytes = batch->code_bytes,
        .page_fd = native->page_fd,
        .timeout_ms = batch->timer->timeout_ms,
        .avx = __builtin_cpu_supports("avx") != 0,
    };
    pid_t pid = fork();
    if (pid < 0) {
        return ip_fail_errno(err, IP_FAILED, errno, "cannot start the measuring process");
    }
    if (pid == 0) {
        hx_child_main(&child);
    }
    int wait_status = 0;
    enum ip_status status = child_wait(batch, pid, &wait_status, err);
    if (status != IP_OK) {
        return status;
    }
    if (shared->setup_errno != 0) {
        return setup_error(batch, err);
    }
    if (shared->phase == HX_PHASE_DONE) {
        *next = (uint32_t)batch->count;
        return IP_OK;
    }
    if (shared->phase == HX_PHASE_SETUP) {
        return ip_fail(err, IP_FAILED,
                       "the measuring process ended before it could measure (wait status 0x%x)",
                       (unsigned)wait_status);
    }
    struct hx_samples *samples = &batch->samples[shared->current];
    samples->outcome = outcome_of_death(shared, wait_status);
    outcome_describe(samples, shared, batch_results(batch)[shared->current].wreck,
                     batch->jobs[shared->current].kernel->tiles);
    *next = shared->current + 1;
    return IP_OK;
}

static void samples_copy(const struct batch *batch, size_t number) {
    const struct hx_job_result *result = &batch_results(batch)[number];
    struct hx_samples *samples = &batch->samples[number];
    const uint64_t *ticks = batch_ticks(batch) + number * HX_TICK_KINDS * batch->rounds_max;
    double *const rows[HX_TICK_KINDS] = {samples->shorter,           samples->longer,
                                         samples->reference_shorter, samples->reference_longer,
                                         samples->sentinel_shorter,  samples->sentinel_longer};
    for (size_t kind = 0; kind < HX_TICK_KINDS; kind++) {
        for (uint32_t i = 0; i < batch->jobs[number].rounds; i++) {
            rows[kind][i] = (double)ticks[kind * batch->rounds_max + i];
        }
    }
    samples->iterations = result->iterations;
    samples->reference_iterations = result->reference_iterations;
    samples->sentinel_iterations = result->sentinel_iterations;
}

static enum ip_status native_run(struct hx_timer *timer, const struct hx_job *jobs, size_t count,
                                 struct hx_samples *samples, struct ip_error *err) {
    struct batch batch = {.timer = timer, .jobs = jobs, .samples = samples, .count = count, .code_fd = -1};
    enum ip_status status = batch_open(&batch, err);
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        samples[i].outcome = HX_OUTCOME_OK;
        samples[i].why[0] = '\0';
    }
    uint32_t next = 0;
    while (status == IP_OK && next < count) {
        status = child_run(&batch, next, &next, err);
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (samples[i].outcome == HX_OUTCOME_OK) {
            samples_copy(&batch, i);
        }
    }
    batch_close(&batch);
    return status;
}

/* Fails early and in plain words when the CPU cannot be had; the child would only report EINVAL. */
static enum ip_status cpu_check(struct hx_timer *timer, struct ip_error *err) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return ip_fail_errno(err, IP_CAPABILITY, errno, "cannot read the CPUs that this process may use");
    }
    if (timer->cpu < 0) {
        timer->cpu = sched_getcpu();
    }
    if (timer->cpu < 0 || timer->cpu >= CPU_SETSIZE || !CPU_ISSET((size_t)timer->cpu, &allowed)) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        return ip_fail(err, IP_CAPABILITY,
                       "cannot pin to CPU %d: this process may use %d of %ld online CPUs; choose one of "
                       "those with --cpu",
                       timer->cpu, CPU_COUNT(&allowed), online);
    }
    return IP_OK;
}

static void native_close(struct hx_timer *timer) {
    struct native *native = timer->state;
    if (native == NULL) {
        return;
    }
    if (native->page_fd >= 0) {
        (void)close(native->page_fd);
    }
    hx_sandbox_fini(&native->sandbox);
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
    native->clock = *clock;
    native->page_fd = memfd_create("isaprobe-pages", MFD_CLOEXEC);
    timer->state = native;
    if (native->page_fd < 0 || ftruncate(native->page_fd, HX_PAGES_BYTES) != 0) {
        status = ip_fail_errno(err, IP_CAPABILITY, errno, "cannot create the data pages of user blocks");
    } else {
        status = hx_sandbox_init(&native->sandbox, err);
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
};

const struct hx_timer_ops hx_timer_papi = {
    .name = "papi",
    .unit = "counts",
    .summary = "a PAPI event (papi:EVENT; default PAPI_TOT_CYC) in a pinned child process",
    .on_silicon = true,
    .open = papi_open,
    .close = native_close,
    .run = native_run,
};
