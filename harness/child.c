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

enum {
    TARGET_CYCLES = 6000,
    BLOCK_CYCLES_MAX = 6000, /* a block whose addresses move on touches the more pages the longer it runs */
    WARM_RUNS_MAX = 12,
    ITERATIONS_MAX = 100000,
};

static void setup_failed(struct hx_child *child, const char *step, int error) {
    (void)snprintf(child->shared->setup_step, sizeof child->shared->setup_step, "%s", step);
    child->shared->setup_errno = error;
    hx_sandbox_exit();
}

static void *low_address(uintptr_t address) {
    return (void *)address; /* NOLINT(performance-no-int-to-ptr): the ABI's fixed addresses */
}

/* Code read-execute, arena read-write: no page is ever both writable and executable. */
static void maps_make(struct hx_child *child) {
    const int fixed = MAP_FIXED_NOREPLACE | MAP_POPULATE;
    void *code = mmap(low_address(GEN_CODE_ADDRESS), child->code_bytes, PROT_READ | PROT_EXEC,
                      MAP_PRIVATE | fixed, child->code_fd, 0);
    if (code != low_address(GEN_CODE_ADDRESS)) {
        setup_failed(child, "map the code", errno);
    }
    void *arena = mmap(low_address(GEN_ARENA_ADDRESS), GEN_ARENA_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
    if (arena != low_address(GEN_ARENA_ADDRESS)) {
        setup_failed(child, "map the arena", errno);
    }
    /* A page fault inside a sample would spoil it. Where the limit forbids locking, MAP_POPULATE has to do.
     */
    (void)mlock(arena, GEN_ARENA_BYTES);
    child->pages =
        mmap(NULL, HX_PAGES_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, child->page_fd, 0);
    if (child->pages == MAP_FAILED) {
        setup_failed(child, "map the data pages", errno);
    }
}

static void pattern_fill(void *to, size_t bytes, const uint8_t pattern[64]) {
    for (size_t at = 0; at < bytes; at += 64) {
        memcpy((uint8_t *)to + at, pattern, 64);
    }
}

static void data_fill(const struct hx_child *child, const struct gen_kernel *kernel) {
    const uint32_t fast_fp = 0x9fc0; /* all exceptions masked, flush to zero, denormals are zero */
    memcpy(low_address(GEN_ARENA_FAST_FP), &fast_fp, sizeof fast_fp);
    memcpy(low_address(GEN_ARENA_VECTOR), kernel->vector_fill, 64);
    if (kernel->map_on_demand) {
        pattern_fill(child->pages, HX_PAGES_BYTES, kernel->memory_fill);
    } else {
        pattern_fill(low_address(GEN_DATA_ADDRESS), GEN_DATA_BYTES, kernel->memory_fill);
    }
}

/* Puts all vector and mask registers into their initial configuration, as XRSTOR does with an area whose
 * header names no component. VZEROUPPER does not reach registers 16 to 31, which the C library's copying
 * leaves in use: a child of such a parent ran chains of FP16 multiplications in 4.0 cycles, one of a fresh
 * parent in 3.9. */
static void vectors_reset(void) {
    static const struct {
        _Alignas(64) uint8_t bytes[576]; /* legacy region and header; MXCSR at 24 */
    } initial = {.bytes = {[24] = 0x80, [25] = 0x1f}};
    const uint32_t components =
        0xe4; /* AVX, masks, upper halves of 0-15, registers 16-31: those that XCR0 enables */
    __asm__ volatile("xrstor %0" : : "m"(initial), "a"(components), "d"(0) : "memory");
}

/* One sample. A block that stores changes the memory that its next run reads: renew it, so that every run is
 * the same run. */
static uint64_t sample_take(struct hx_child *child, uintptr_t entry, uint32_t iterations, bool on_demand,
                            const struct gen_kernel *kernel, uint32_t *wreck) {
    if (on_demand) {
        pattern_fill(child->pages, HX_PAGES_BYTES, kernel->memory_fill);
    }
    if (child->avx) {
        vectors_reset();
    }
    uint64_t begin = child->clock.begin(&child->clock);
    uint64_t wrecked = hx_call(entry, iterations);
    uint64_t end = child->clock.end(&child->clock);
    *wreck |= (uint32_t)wrecked;
    return end - begin;
}

/* Runs the kernel until two runs in a row agree (caches, branch predictors, the power licence of wide
 * vectors), then chooses how many iterations make the longer run take about `target` ticks; ticks and cycles
 * are near enough for that. */
static uint32_t iterations_choose(struct hx_child *child, const struct hx_placed *placed,
                                  const struct gen_kernel *kernel, uint32_t target, uint32_t *wreck) {
    bool on_demand = kernel->map_on_demand;
    (void)sample_take(child, placed->shorter, 2, on_demand, kernel, wreck);
    uint64_t before = sample_take(child, placed->longer, 2, on_demand, kernel, wreck);
    uint64_t now = before;
    for (int i = 0; i < WARM_RUNS_MAX; i++) {
        now = sample_take(child, placed->longer, 2, on_demand, kernel, wreck);
        uint64_t difference = now > before ? now - before : before - now;
        before = now;
        if (i > 0 && difference * 50 <= now) {
            break;
        }
        if (now > UINT64_C(100) * target) {
            break; /* a very slow kernel: warm enough */
        }
    }
    if (now >= target) {
        return 2; /* as few as there can be */
    }
    /* Twice: the first run of so many iterations may still touch new pages. */
    (void)sample_take(child, placed->longer, 10, on_demand, kernel, wreck);
    uint64_t more = sample_take(child, placed->longer, 10, on_demand, kernel, wreck);
    double per_iteration = more > now ? (double)(more - now) / 8.0 : (double)now / 2.0;
    if (per_iteration < 1.0) {
        per_iteration = 1.0;
    }
    double iterations = target / per_iteration;
    if (iterations < 2.0) {
        return 2;
    }
    return iterations > ITERATIONS_MAX ? ITERATIONS_MAX : (uint32_t)iterations;
}

static void alarm_set(uint32_t milliseconds) {
    struct itimerval timer = {.it_value = {milliseconds / 1000, (suseconds_t)(milliseconds % 1000) * 1000}};
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

/* Linux gives a process the tiles' 8 KiB of state only when it asks; without that, their first use is an
 * illegal instruction. */
static void tiles_ask(struct hx_child *child) {
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    bool wanted = false;
    for (size_t i = 0; i < child->kernel_count; i++) {
        wanted = wanted || child->kernels[i]->tiles;
    }
    if (wanted && syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) != 0) {
        child->shared->tiles_errno = errno;
    }
}

/* A kernel as large as the caches of code drives the references out of them, and it takes some passes until
 * they are back in the µop cache: without this the sentinel made a core that nobody shared look shared. */
static void references_warm(struct hx_child *child, const struct gen_kernel *kernel,
                            const struct hx_placed *beside, uint32_t *wreck) {
    enum { LARGE_BYTES = 4096, WARM_ITERATIONS = 24 };
    if (kernel->longer.length < LARGE_BYTES) {
        return;
    }
    const struct hx_references *references = child->references;
    const struct hx_placed places[2] = {child->reference, *beside};
    const struct gen_kernel *const kernels[2] = {&references->chain,
                                                 hx_references_sentinel(references, kernel)};
    for (unsigned i = 0; i < 2; i++) {
        (void)sample_take(child, places[i].longer, WARM_ITERATIONS, false, kernels[i], wreck);
        (void)sample_take(child, places[i].shorter, WARM_ITERATIONS, false, kernels[i], wreck);
    }
}

static void job_run(struct hx_child *child, uint32_t number) {
    const struct hx_job *job = &child->jobs[number];
    const struct gen_kernel *kernel = child->kernels[job->held];
    const struct hx_placed *placed = &child->placed[job->held];
    struct hx_job_result *result = &child->results[number];
    uint64_t *ticks = child->ticks + (size_t)number * HX_TICK_KINDS * child->rounds_max;
    uint64_t *row[HX_TICK_KINDS];
    for (size_t kind = 0; kind < HX_TICK_KINDS; kind++) {
        row[kind] = ticks + kind * child->rounds_max;
    }
    uint32_t wreck = 0;
    const struct gen_kernel *chain = &child->references->chain;
    const struct gen_kernel *sentinel = hx_references_sentinel(child->references, kernel);
    const struct hx_placed *beside = sentinel == &child->references->loads ? &child->loads : &child->sentinel;
    data_fill(child, kernel);
    child->shared->pages = 0;
    uint32_t target = job->target_cycles != 0 ? job->target_cycles : TARGET_CYCLES;
    if (kernel->map_on_demand && target > BLOCK_CYCLES_MAX) {
        target = BLOCK_CYCLES_MAX;
    }
    /* The chain is as precise as what it measures; of the NOPs (four or more in a cycle) half as long a run
     * will do. */
    result->reference_iterations = target / (chain->longer.copies * chain->forms_per_unit) + 1;
    result->sentinel_iterations = 2 * target / (sentinel->longer.copies * sentinel->forms_per_unit) + 1;
    struct hx_pace *pace = &child->paces[job->held];
    if (pace->target != target) {
        pace->iterations = iterations_choose(child, placed, kernel, target, &wreck);
        pace->target = target;
    }
    result->iterations = job->iterations != 0 ? job->iterations : pace->iterations;
    uint32_t warm_iterations = result->iterations / 2 + 2;
    bool on_demand = kernel->map_on_demand;
    uint32_t every = job->reference_every > 1 ? job->reference_every : 1;
    /* Round 0 warms the chain, the sentinel and the final number of iterations, and is overwritten. */
    for (uint32_t pass = 0; pass <= job->rounds && wreck == 0; pass++) {
        uint32_t i = pass == 0 ? 0 : pass - 1;
        bool references = pass == 0 || i % every == 0;
        if (references) {
            references_warm(child, kernel, beside, &wreck);
            row[2][i] = sample_take(child, child->reference.shorter, result->reference_iterations, false,
                                    chain, &wreck);
            row[3][i] = sample_take(child, child->reference.longer, result->reference_iterations, false,
                                    chain, &wreck);
            /* After the chain's scalar code the vector units take a while to wake. If the shorter run alone
             * paid for that, the difference would come out up to 5 % too small. */
            (void)sample_take(child, placed->shorter, warm_iterations, on_demand, kernel, &wreck);
        }
        row[0][i] = sample_take(child, placed->shorter, result->iterations, on_demand, kernel, &wreck);
        row[1][i] = sample_take(child, placed->longer, result->iterations, on_demand, kernel, &wreck);
        if (references) {
            references_warm(child, kernel, beside, &wreck);
            row[4][i] =
                sample_take(child, beside->shorter, result->sentinel_iterations, false, sentinel, &wreck);
            row[5][i] =
                sample_take(child, beside->longer, result->sentinel_iterations, false, sentinel, &wreck);
        } else {
            for (size_t kind = 2; kind < HX_TICK_KINDS; kind++) {
                row[kind][i] = row[kind][i - 1];
            }
        }
    }
    result->wreck = wreck;
    result->done = true;
}

/* The jobs that the parent has put down. */
static void jobs_run(struct hx_child *child) {
    for (uint32_t i = child->shared->first; i < child->shared->count; i++) {
        child->shared->current = i;
        alarm_set(child->timeout_ms);
        job_run(child, i);
        alarm_set(0);
        if (child->results[i].wreck != 0) {
            child->shared->outcome = HX_OUTCOME_WRECKED;
            hx_sandbox_exit(); /* nothing that this process holds can be trusted any more */
        }
    }
}

void hx_child_main(struct hx_child *child) {
    int error = hx_sandbox_enter(child->parent, child->cpu);
    if (error != 0) {
        setup_failed(child, "pin to the CPU", error);
    }
    if (dup2(child->wire, HX_WIRE_FD) < 0) {
        setup_failed(child, "keep the wire to its parent", errno);
    }
    (void)close(child->wire);
    maps_make(child);
    child->paces = calloc(child->kernel_count, sizeof *child->paces);
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
    error = hx_sandbox_close(child->sandbox);
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
