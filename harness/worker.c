/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "generator/abi.h"
#include "harness/call.h"

enum { PAGE_BYTES = 4096, CODE_ALIGNMENT = 64 };

static size_t aligned(size_t value, size_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

/* Both lengths are the same code, which then lies at one place. */
static bool is_one_code(const struct gen_kernel *kernel) {
    return kernel->longer.passes > 1;
}

static size_t kernel_bytes(const struct gen_kernel *kernel) {
    size_t longer = is_one_code(kernel) ? 0 : aligned(kernel->longer.length, CODE_ALIGNMENT);
    return aligned(kernel->shorter.length, CODE_ALIGNMENT) + longer;
}

static struct hx_placed kernel_place(uint8_t *code, size_t *at, const struct gen_kernel *kernel) {
    struct hx_placed placed = {GEN_CODE_ADDRESS + *at, 0};
    if (kernel->longer.bytes == NULL) {
        return placed;
    }
    memcpy(code + *at, kernel->shorter.bytes, kernel->shorter.length);
    *at += aligned(kernel->shorter.length, CODE_ALIGNMENT);
    if (is_one_code(kernel)) {
        placed.longer = placed.shorter;
        return placed;
    }
    placed.longer = GEN_CODE_ADDRESS + *at;
    memcpy(code + *at, kernel->longer.bytes, kernel->longer.length);
    *at += aligned(kernel->longer.length, CODE_ALIGNMENT);
    return placed;
}

/* Writes all code into a memfd, which is sealed against writing before anybody can execute it. */
static enum ip_status code_place(struct hx_worker *worker, size_t gap, struct ip_error *err) {
    const struct hx_references *references = worker->timer->references;
    size_t bytes = kernel_bytes(&references->chain);
    for (size_t i = 0; i < HX_SENTINELS; i++) {
        bytes += kernel_bytes(&references->sentinels[i]);
    }
    bytes += gap * CODE_ALIGNMENT;
    for (size_t i = 0; i < worker->count; i++) {
        bytes += kernel_bytes(worker->kernels[i]);
    }
    bytes = aligned(bytes, PAGE_BYTES);
    if (bytes > GEN_ARENA_ADDRESS - GEN_CODE_ADDRESS) {
        return ip_fail(err, IP_FAILED,
                       "a batch of %zu kernels has %zu bytes of code, too many: use smaller batches",
                       worker->count, bytes);
    }
    worker->code_fd = memfd_create("isaprobe-code", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (worker->code_fd < 0) {
        return ip_fail_errno(err, IP_CAPABILITY, errno, "cannot create memory for kernels");
    }
    if (ftruncate(worker->code_fd, (off_t)bytes) != 0) {
        return ip_fail_errno(err, IP_NO_MEMORY, errno, "cannot reserve %zu bytes for kernels", bytes);
    }
    uint8_t *code = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, worker->code_fd, 0);
    if (code == MAP_FAILED) {
        return ip_fail_errno(err, IP_NO_MEMORY, errno, "cannot map %zu bytes for kernels", bytes);
    }
    size_t at = 0;
    worker->chain = kernel_place(code, &at, &references->chain);
    for (size_t i = 0; i < HX_SENTINELS; i++) {
        worker->sentinels[i] = kernel_place(code, &at, &references->sentinels[i]);
    }
    at += gap * CODE_ALIGNMENT;
    for (size_t i = 0; i < worker->count; i++) {
        worker->placed[i] = kernel_place(code, &at, worker->kernels[i]);
    }
    (void)munmap(code, bytes);
    if (fcntl(worker->code_fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) != 0) {
        return ip_fail_errno(err, IP_CAPABILITY, errno, "cannot seal the memory of kernels against writing");
    }
    worker->code_bytes = bytes;
    return IP_OK;
}

/* A mapping that a process which is no child of this one can have, too. */
static enum ip_status shared_open(struct hx_worker *worker, struct ip_error *err) {
    worker->shared_bytes = hx_shared_bytes(worker->count, worker->rounds_max);
    worker->shared_fd = memfd_create("isaprobe-shared", MFD_CLOEXEC);
    void *shared = MAP_FAILED;
    if (worker->shared_fd >= 0 && ftruncate(worker->shared_fd, (off_t)worker->shared_bytes) == 0) {
        shared = mmap(NULL, worker->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                      worker->shared_fd, 0);
    }
    if (shared == MAP_FAILED) {
        return ip_fail_errno(err, ip_refusal_or(errno, IP_NO_MEMORY), errno,
                             "cannot map the samples of %zu kernels", worker->count);
    }
    worker->shared = shared;
    worker->parts = hx_shared_parts(shared, worker->count);
    return IP_OK;
}

enum ip_status hx_worker_open(struct hx_worker *worker, const struct hx_starter *starter,
                              struct hx_timer *timer, const struct gen_kernel *const *kernels, size_t count,
                              size_t gap, uint32_t rounds_max, struct ip_error *err) {
    struct hx_worker opened = {.starter = starter,
                               .timer = timer,
                               .count = count,
                               .rounds_max = rounds_max,
                               .shared_fd = -1,
                               .code_fd = -1,
                               .wire = -1};
    enum ip_status status = IP_OK;
    opened.kernels = calloc(count, sizeof(const struct gen_kernel *));
    opened.placed = calloc(count, sizeof *opened.placed);
    if (opened.kernels == NULL || opened.placed == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for a batch of %zu kernels", count);
    } else {
        memcpy(opened.kernels, kernels, count * sizeof(const struct gen_kernel *));
        status = shared_open(&opened, err);
    }
    if (status == IP_OK) {
        status = code_place(&opened, gap, err);
    }
    if (status != IP_OK) {
        hx_worker_close(&opened);
        return status;
    }
    *worker = opened;
    return IP_OK;
}

/* Ends the child, if there is one. */
static void child_end(struct hx_worker *worker) {
    if (worker->pid <= 0) {
        return;
    }
    hx_starter_kill(worker->starter, worker->pid);
    (void)close(worker->wire);
    worker->pid = 0;
    worker->wire = -1;
}

void hx_worker_close(struct hx_worker *worker) {
    bool opened = worker->starter != NULL; /* else its descriptors are none */
    child_end(worker);
    if (worker->shared != NULL) {
        (void)munmap(worker->shared, worker->shared_bytes);
    }
    if (opened && worker->shared_fd >= 0) {
        (void)close(worker->shared_fd);
    }
    if (opened && worker->code_fd >= 0) {
        (void)close(worker->code_fd);
    }
    free(worker->placed);
    free(worker->kernels);
    memset(worker, 0, sizeof *worker);
}

/* Puts down what a child needs. Whatever the one before it was made to write there is gone. */
static void shared_fill(const struct hx_worker *worker) {
    struct hx_shared *shared = worker->shared;
    memset(shared, 0, sizeof *shared);
    shared->kernel_count = worker->count;
    shared->code_bytes = worker->code_bytes;
    shared->rounds_max = worker->rounds_max;
    shared->timeout_ms = worker->timer->timeout_ms;
    shared->cpu = worker->timer->cpu;
    shared->avx = __builtin_cpu_supports("avx") != 0;
    shared->chain = worker->chain;
    memcpy(shared->sentinels, worker->sentinels, sizeof shared->sentinels);
    shared->references = *worker->timer->references;
    for (size_t i = 0; i < worker->count; i++) {
        worker->parts.kernels[i] = *worker->kernels[i];
    }
    memcpy(worker->parts.placed, worker->placed, worker->count * sizeof *worker->placed);
}

static enum ip_status child_start(struct hx_worker *worker, struct ip_error *err) {
    int wires[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, wires) != 0) {
        return ip_fail_errno(err, ip_refusal_or(errno, IP_FAILED), errno,
                             "cannot make a wire to the measuring process");
    }
    shared_fill(worker);
    const struct hx_start start = {.shared_fd = worker->shared_fd,
                                   .code_fd = worker->code_fd,
                                   .wire = wires[1],
                                   .shared_bytes = worker->shared_bytes};
    enum ip_status status = hx_starter_start(worker->starter, &start, &worker->pid, err);
    (void)close(wires[1]);
    if (status != IP_OK) {
        (void)close(wires[0]);
        return status;
    }
    worker->wire = wires[0];
    return IP_OK;
}

/* How a child's turn ended. */
struct turn {
    bool ended;   /* the child is no more, with wait_status */
    bool overdue; /* this process killed it, for it made no progress */
    int wait_status;
};

/* Waits until the child says that it is through or ends; kills it when it makes no progress for much longer
 * than its own alarm allows, or when the caller wants to stop. */
static enum ip_status child_wait(struct hx_worker *worker, struct turn *turn, struct ip_error *err) {
    const struct hx_shared *shared = worker->shared;
    const struct hx_timer *timer = worker->timer;
    bool stopped = false;
    uint32_t seen = UINT32_MAX;
    uint32_t idle_ms = 0;
    const int step_ms = 200;
    for (;;) {
        /* The wire of a child that ended reads as closed. */
        struct pollfd wait = {.fd = worker->wire, .events = POLLIN};
        int ready = poll(&wait, 1, step_ms);
        if (ready > 0) {
            char word = 0;
            turn->ended = read(worker->wire, &word, 1) != 1;
            break;
        }
        stopped = timer->stop != NULL && *timer->stop != 0;
        idle_ms = shared->current == seen && ready == 0 ? idle_ms + (uint32_t)step_ms : 0;
        seen = shared->current;
        turn->overdue = idle_ms > 2 * timer->timeout_ms + 2000;
        if (stopped || turn->overdue) {
            (void)kill(worker->pid, SIGKILL);
            turn->ended = true;
            break;
        }
    }
    if (turn->ended) {
        enum ip_status status = hx_starter_wait(worker->starter, worker->pid, &turn->wait_status, err);
        worker->pid = 0;
        (void)close(worker->wire);
        worker->wire = -1;
        if (status != IP_OK) {
            return status;
        }
    }
    if (stopped || (timer->stop != NULL && *timer->stop != 0)) {
        return ip_fail(err, IP_FAILED, "interrupted");
    }
    return IP_OK;
}

/* Somebody else ended the child: what runs there can send no signal, and has a handler for those that it
 * causes. That says nothing about the job in hand. */
static bool killed_from_outside(const struct turn *turn) {
    if (turn->overdue || !WIFSIGNALED(turn->wait_status)) {
        return false;
    }
    switch (WTERMSIG(turn->wait_status)) {
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGFPE:
    case SIGTRAP:
    case SIGSYS: /* the handler itself faulted */
        return false;
    default:
        return true;
    }
}

/* Of a child that nobody outside killed. */
static enum hx_outcome outcome_of_death(const struct hx_shared *shared, const struct turn *turn) {
    if (WIFEXITED(turn->wait_status)) {
        return shared->outcome != HX_OUTCOME_OK ? (enum hx_outcome)shared->outcome : HX_OUTCOME_DIED;
    }
    if (turn->overdue) {
        return HX_OUTCOME_TIMEOUT;
    }
    /* SIGSEGV: the kernel destroyed what the handler stands on. */
    return WTERMSIG(turn->wait_status) == SIGSEGV ? HX_OUTCOME_WRECKED : HX_OUTCOME_DIED;
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
                           "the CPU has no tiles, or the system does not let programs use them: %s",
                           strerror(shared->tiles_errno));
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

static enum ip_status setup_error(const struct hx_worker *worker, struct ip_error *err) {
    const struct hx_shared *shared = worker->shared;
    if (strcmp(shared->setup_step, "pin to the CPU") == 0) {
        return ip_fail_errno(err, IP_CAPABILITY, shared->setup_errno,
                             "cannot pin the measuring process to CPU %d; choose another with --cpu",
                             worker->timer->cpu);
    }
    return ip_fail_errno(err, IP_CAPABILITY, shared->setup_errno, "the measuring process cannot %s",
                         shared->setup_step);
}

/* Lets the child, a new one where there is none, run jobs first .. count-1. On return *next is the first job
 * that is still to be tried. *lost: the job in whose course somebody killed a child; it gets another one, but
 * only once. */
static enum ip_status child_run(struct hx_worker *worker, const struct hx_job *jobs, uint32_t first,
                                uint32_t count, struct hx_samples *all, uint32_t *next, uint32_t *lost,
                                struct ip_error *err) {
    struct hx_shared *shared = worker->shared;
    enum ip_status status = worker->pid > 0 ? IP_OK : child_start(worker, err);
    if (status != IP_OK) {
        return status;
    }
    shared->first = shared->current = first;
    shared->count = count;
    shared->outcome = HX_OUTCOME_OK;
    shared->fault_address = 0;
    shared->fault_errno = 0;
    struct turn turn = {0};
    /* A child that is gone already is found out while waiting. */
    (void)!send(worker->wire, "g", 1, MSG_NOSIGNAL);
    status = child_wait(worker, &turn, err);
    if (status != IP_OK) {
        return status;
    }
    if (!turn.ended) {
        *next = count;
        return IP_OK;
    }
    if (shared->setup_errno != 0) {
        return setup_error(worker, err);
    }
    uint32_t current = shared->current;
    if (current < first || current >= count) {
        current = first; /* what a kernel wrote there is not believed */
    }
    if (killed_from_outside(&turn)) {
        if (*lost == current) {
            return ip_fail(err, IP_FAILED,
                           "somebody killed the measuring process twice (signal %d), or the system did for "
                           "want of memory: see its log, and try again",
                           WTERMSIG(turn.wait_status));
        }
        *lost = *next = current;
        return IP_OK;
    }
    if (shared->phase == HX_PHASE_SETUP) {
        return ip_fail(err, IP_FAILED,
                       "the measuring process ended before it could measure (wait status 0x%x)",
                       (unsigned)turn.wait_status);
    }
    struct hx_samples *samples = &all[current];
    samples->outcome = outcome_of_death(shared, &turn);
    outcome_describe(samples, shared, worker->parts.results[current].wreck,
                     worker->kernels[jobs[current].held]->tiles);
    *next = current + 1;
    return IP_OK;
}

static void samples_copy(const struct hx_worker *worker, size_t number, uint32_t rounds,
                         struct hx_samples *samples) {
    const struct hx_job_result *result = &worker->parts.results[number];
    const uint64_t *ticks = worker->parts.ticks + number * HX_TICK_KINDS * worker->rounds_max;
    double *const rows[HX_TICK_KINDS] = {samples->shorter,           samples->longer,
                                         samples->reference_shorter, samples->reference_longer,
                                         samples->sentinel_shorter,  samples->sentinel_longer};
    for (size_t kind = 0; kind < HX_TICK_KINDS; kind++) {
        for (uint32_t i = 0; i < rounds; i++) {
            rows[kind][i] = (double)ticks[kind * worker->rounds_max + i];
        }
    }
    samples->iterations = result->iterations;
    samples->reference_iterations = result->reference_iterations;
    samples->sentinel_iterations = result->sentinel_iterations;
}

enum ip_status hx_worker_run(struct hx_worker *worker, const struct hx_job *jobs, size_t count,
                             struct hx_samples *samples, struct ip_error *err) {
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].rounds > worker->rounds_max || jobs[i].held >= worker->count || count > worker->count) {
            return ip_fail(err, IP_FAILED, "job %zu of %zu is none of those that were prepared", i, count);
        }
        samples[i].outcome = HX_OUTCOME_OK;
        samples[i].why[0] = '\0';
        worker->parts.jobs[i] = jobs[i];
    }
    enum ip_status status = IP_OK;
    uint32_t lost = UINT32_MAX;
    for (uint32_t next = 0; status == IP_OK && next < count;) {
        status = child_run(worker, jobs, next, (uint32_t)count, samples, &next, &lost, err);
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (samples[i].outcome == HX_OUTCOME_OK && worker->parts.results[i].wreck == HX_WRECK_ILLEGAL) {
            samples[i].outcome = HX_OUTCOME_ILLEGAL;
            outcome_describe(&samples[i], worker->shared, 0, worker->kernels[jobs[i].held]->tiles);
            samples[i].fault_address = 0; /* that is of what ended the child, if anything did */
        } else if (samples[i].outcome == HX_OUTCOME_OK) {
            samples_copy(worker, i, jobs[i].rounds, &samples[i]);
        }
    }
    return status;
}
