/* SPDX-License-Identifier: Apache-2.0 */
/* harness/child_job.c - one job in the measuring process: the kernel, its chain and its sentinel in turn. */
#include <math.h>
#include <string.h>

#include "generator/abi.h"
#include "harness/call.h"
#include "harness/child.h"

enum {
    TARGET_CYCLES = 6000,
    BLOCK_CYCLES_MAX = 6000, /* a block whose addresses move on touches the more pages the longer it runs */
    COARSE_KERNEL_TIMES = 2, /* where the clock is coarse: so many times as long as asked for */
    COARSE_CHAIN_TIMES = 3,  /* as long as that */
    COARSE_CHAIN_JOBS = 4,   /* and so many jobs in a row have one chain in common */
    WARM_RUNS_MAX = 12,
    ITERATIONS_MAX = 100000,
    CHAIN_WARM_ITERATIONS = 4,
    SENTINEL_WARM_PART = 4,
};

static void data_fill(const struct hx_child *child, const struct gen_kernel *kernel) {
    const uint32_t fast_fp = 0x9fc0; /* all exceptions masked, flush to zero, denormals are zero */
    memcpy(hx_low_address(GEN_ARENA_FAST_FP), &fast_fp, sizeof fast_fp);
    memcpy(hx_low_address(GEN_ARENA_VECTOR), kernel->vector_fill, 64);
    if (kernel->map_on_demand) {
        hx_pages_fill(child, kernel->memory_fill);
    } else if (kernel->reaches_data) {
        hx_pattern_fill(hx_low_address(GEN_DATA_ADDRESS), GEN_DATA_BYTES, kernel->memory_fill);
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

/* Where the clock is coarse, and its step a whole number of core cycles (a Zen 4's 26 ticks are 37), runs of
 * one length begin at the same moment of a step again and again and are all rounded alike. So each begins
 * somewhat later than the one before, by the golden section of some steps: no two, and no seventh, alike. */
static void step_dither(struct hx_child *child) {
    const double steps = 4.0, golden = 0.6180339887498949;
    if (child->shared->references.clock_step > 0.0) {
        child->dither = fmod(child->dither + golden, 1.0);
        uint64_t cycles = (uint64_t)(child->dither * steps * child->shared->references.clock_step) + 1;
        __asm__ volatile("1: subq $1, %0\n\tjnz 1b" : "+r"(cycles) : : "cc");
    }
}

/* One call of a kernel. A block that stores changes the memory that its next run reads: renew it, so that
 * every run is the same run. */
static uint64_t call_take(struct hx_child *child, uintptr_t entry, uint32_t iterations,
                          const struct gen_kernel *kernel, uint32_t *wreck) {
    if (kernel->map_on_demand) {
        hx_pages_fill(child, kernel->memory_fill);
    }
    if (child->shared->avx && kernel->extended_state) { /* a Zen 4 takes 330 cycles for it */
        vectors_reset();
    }
    step_dither(child);
    uint64_t begin = child->clock.begin(&child->clock);
    uint64_t wrecked = hx_call(entry, iterations);
    uint64_t end = child->clock.end(&child->clock);
    if (wrecked == HX_WRECK_ILLEGAL && kernel->tiles && child->shared->tiles_errno == 0) {
        __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0xc0"); /* TILERELEASE: it was left with its tiles */
    }
    *wreck |= (uint32_t)wrecked;
    return end - begin;
}

/* A job on its way. */
struct run {
    struct hx_child *child;
    const struct hx_job *job;
    const struct gen_kernel *kernel, *sentinel;
    const struct hx_placed *placed, *beside; /* of the kernel, of its sentinel */
    struct hx_job_result *result;
    uint64_t *row[HX_TICK_KINDS];
    uint32_t calls;    /* into which the kernel's iterations are divided */
    uint32_t every;    /* rounds for which one sample of the references stands */
    bool shares_chain; /* with the jobs before and after it */
    bool keeps_chain;  /* does not run the chain */
    uint32_t wreck;
};

enum length { SHORTER, LONGER };

/* One sample of one length of a kernel: its iterations, in so many calls. */
static uint64_t length_take(struct run *run, const struct gen_kernel *kernel, const struct hx_placed *placed,
                            enum length length, uint32_t iterations, uint32_t calls) {
    const struct gen_code *code = length == LONGER ? &kernel->longer : &kernel->shorter;
    uintptr_t entry = length == LONGER ? placed->longer : placed->shorter;
    uint32_t each = iterations > calls ? iterations / calls : 1;
    uint64_t ticks = 0;
    for (uint32_t i = 0; i < calls; i++) {
        ticks += call_take(run->child, entry, gen_code_iterations(code, each), kernel, &run->wreck);
    }
    return ticks;
}

static uint64_t kernel_take(struct run *run, enum length length, uint32_t iterations) {
    return length_take(run, run->kernel, run->placed, length, iterations, run->calls);
}

static uint64_t chain_take(struct run *run, enum length length, uint32_t iterations) {
    const struct hx_child *child = run->child;
    return length_take(run, &child->shared->references.chain, &child->shared->chain, length, iterations, 1);
}

static uint64_t sentinel_take(struct run *run, enum length length, uint32_t iterations) {
    return length_take(run, run->sentinel, run->beside, length, iterations, 1);
}

/* Runs the kernel until two runs in a row agree (caches, branch predictors, the power licence of wide
 * vectors), then chooses how many iterations make the longer run take about `target` ticks; ticks and cycles
 * are near enough for that. */
static uint32_t iterations_choose(struct run *run, uint32_t target) {
    enum { FEW = 2, MORE = 10, LONG_PARTS = 8 };
    (void)kernel_take(run, SHORTER, FEW);
    if (run->wreck != 0) {
        return FEW;
    }
    uint64_t few = kernel_take(run, LONGER, FEW), before = few;
    for (int i = 0; i < WARM_RUNS_MAX; i++) {
        uint64_t now = kernel_take(run, LONGER, FEW);
        uint64_t difference = now > before ? now - before : before - now;
        before = now;
        few = now < few ? now : few;
        if (i > 0 && difference * 50 <= now) {
            break;
        }
        if (now > UINT64_C(100) * target) {
            break; /* a very slow kernel: warm enough */
        }
    }
    if (few >= target) {
        return FEW; /* as few as there can be */
    }
    double per_iteration = (double)few / FEW; /* and a little more, for the call: no iteration takes longer */
    if (few < target / LONG_PARTS) {
        if (run->kernel->map_on_demand) {
            (void)kernel_take(run, LONGER, MORE); /* touches new pages */
        }
        uint64_t more = kernel_take(run, LONGER, MORE);
        per_iteration = more > few ? fmin(per_iteration, (double)(more - few) / (MORE - FEW)) : per_iteration;
    }
    double iterations = target / fmax(per_iteration, 1.0);
    return iterations < FEW ? FEW : iterations > ITERATIONS_MAX ? ITERATIONS_MAX : (uint32_t)iterations;
}

/* A block whose addresses move on touches a page after the other; calls that are over before it needs more of
 * them than there are frames find all of its lines where they were. One that goes to another page in each
 * pass has no such calls. */
static void calls_choose(struct run *run, struct hx_pace *pace) {
    enum { CALLS_MAX = 64 };
    const uint32_t *pages = &run->child->pages_count;
    uint32_t fitting = 0;
    pace->calls = 1;
    if (!run->kernel->map_on_demand) {
        return;
    }
    hx_pages_clear(run->child);
    for (uint32_t n = 1; fitting < pace->iterations; n = 2 * n) {
        n = n < pace->iterations ? n : pace->iterations;
        (void)kernel_take(run, LONGER, n);
        if (run->wreck != 0 || *pages > HX_FRAMES) {
            break;
        }
        fitting = n;
    }
    if (fitting == 0 || fitting == pace->iterations) {
        return;
    }
    pace->calls = pace->iterations / fitting < CALLS_MAX ? pace->iterations / fitting : CALLS_MAX;
    pace->iterations = pace->calls * fitting;
}

/* A kernel as large as the caches of code drives the references out of them, and it takes some passes until
 * they are back in the µop cache: without this the sentinel made a core that nobody shared look shared. */
static void references_warm(struct run *run) {
    enum { LARGE_BYTES = 4096, WARM_ITERATIONS = 24 };
    if (run->kernel->longer.length < LARGE_BYTES) {
        return;
    }
    (void)chain_take(run, LONGER, WARM_ITERATIONS);
    (void)chain_take(run, SHORTER, WARM_ITERATIONS);
    (void)sentinel_take(run, LONGER, WARM_ITERATIONS);
    (void)sentinel_take(run, SHORTER, WARM_ITERATIONS);
}

/* A sample of both lengths of the chain, or the last one once more. */
static void clock_take(struct run *run, uint64_t *shorter, uint64_t *longer) {
    struct hx_chain_run *last = &run->child->chain_run;
    if (!run->keeps_chain) {
        (void)chain_take(run, SHORTER, CHAIN_WARM_ITERATIONS);
        last->shorter = chain_take(run, SHORTER, run->result->reference_iterations);
        last->longer = chain_take(run, LONGER, run->result->reference_iterations);
        last->iterations = run->result->reference_iterations;
        last->jobs = COARSE_CHAIN_JOBS;
    }
    *shorter = last->shorter;
    *longer = last->longer;
}

/* One round: a sample of each length, with or without those of the references. The first run of a chain after
 * other code takes some 40 cycles more, whichever length it is, and the first of a sentinel after some
 * vector instructions hundreds (with the shorter run paying for that a core of six issues was taken for one
 * of seven, and all that came after for disturbed). After the chain's scalar code the vector units take a
 * while to wake. If the shorter run alone paid for that, the difference would come out up to 5 % too small.
 */
static void round_take(struct run *run, bool references, uint64_t ticks[HX_TICK_KINDS]) {
    const struct hx_job_result *result = run->result;
    if (references) {
        references_warm(run);
        clock_take(run, &ticks[2], &ticks[3]);
        (void)kernel_take(run, SHORTER, result->iterations / 2 + 2);
    }
    /* The longer first, so that each sample has one of the other length before it: a shorter run behind
     * another one takes up to 1 % less than behind a longer one. */
    ticks[1] = kernel_take(run, LONGER, result->iterations);
    ticks[0] = kernel_take(run, SHORTER, result->iterations);
    if (references) {
        references_warm(run);
        (void)sentinel_take(run, SHORTER, result->sentinel_iterations / SENTINEL_WARM_PART + 1);
        ticks[4] = sentinel_take(run, SHORTER, result->sentinel_iterations);
        ticks[5] = sentinel_take(run, LONGER, result->sentinel_iterations);
    }
}

/* What is run for the first time is slower: many iterations of the kernel (half of them will do), and the
 * references, which other kernels may have driven out of the caches. The first round has runs ahead of all
 * but these. */
static void warm(struct run *run) {
    enum { WARM_ITERATIONS = 4 };
    (void)sentinel_take(run, LONGER, WARM_ITERATIONS);
    (void)kernel_take(run, LONGER, run->result->iterations / 2 + 2);
}

/* A sample of one kind, or of a pair of kinds, in the place of the longest, if it is shorter: whatever
 * disturbs a run makes it longer. Each stands for `every` rounds. */
static void longest_replace(uint64_t *const rows[2], const uint64_t ticks[2], uint32_t rounds,
                            uint32_t every) {
    uint32_t longest = 0;
    for (uint32_t i = every; i < rounds; i += every) {
        if (rows[0][i] + rows[1][i] > rows[0][longest] + rows[1][longest]) {
            longest = i;
        }
    }
    bool shorter = ticks[0] + ticks[1] < rows[0][longest] + rows[1][longest];
    for (uint32_t i = longest; shorter && i < rounds && i < longest + every; i++) {
        rows[0][i] = ticks[0];
        rows[1][i] = ticks[1];
    }
}

/* Are all samples alike but for one? */
static bool row_is_calm(const struct run *run, const uint64_t *row) {
    enum { NEAR_PER_MILLE = 12, MANY = 3 };
    uint32_t rounds = run->job->rounds;
    uint64_t step = (uint64_t)run->child->shared->references.clock_step;
    uint64_t least = row[0], most = row[0], next = row[0];
    for (uint32_t i = 1; i < rounds; i++) {
        uint64_t lower = row[i] < most ? row[i] : most;
        least = row[i] < least ? row[i] : least;
        next = i == 1 || lower > next ? lower : next;
        most = row[i] > most ? row[i] : most;
    }
    uint64_t high = rounds > MANY ? next : most;
    return (high - least) * 1000 <= least * NEAR_PER_MILLE + step * 1000;
}

/* Ticks of one iteration of the chain, as the sample that stands for most rounds has it. */
static double clock_of(const struct run *run) {
    return (double)(run->row[3][0] - run->row[2][0]) / run->result->reference_iterations;
}

/* Is the clock what the last job found, if there was one? One sample of the chain may well be disturbed. */
static bool clock_is_likely(const struct run *run) {
    const double near = 0.01;
    double last = run->child->clock_last;
    return last == 0.0 || fabs(clock_of(run) - last) <= near * last;
}

/* Rounds beyond those that the job asks for, as long as its samples are not alike and it allows any. What
 * disturbs is either over after one or two rounds, or there for milliseconds: a job behind one that had all
 * its rounds in vain has fewer. */
static void rounds_retake(struct run *run) {
    enum { FEWER_TIMES = 4 };
    const struct hx_job *job = run->job;
    uint64_t *const *row = run->row;
    uint32_t most =
        run->child->retook_in_vain ? (job->retakes + FEWER_TIMES - 1) / FEWER_TIMES : job->retakes;
    bool calm = false;
    for (uint32_t i = 0; run->wreck == 0; i++) {
        calm = row_is_calm(run, row[0]) && row_is_calm(run, row[1]) && clock_is_likely(run);
        if (calm || i == most) {
            break;
        }
        uint64_t ticks[HX_TICK_KINDS];
        bool references = i % 2 == 0;
        run->keeps_chain = run->shares_chain && clock_is_likely(run);
        round_take(run, references, ticks);
        for (size_t kind = 0; kind < 2; kind++) {
            longest_replace((uint64_t *const[]){row[kind], row[kind]}, (uint64_t[]){ticks[kind], ticks[kind]},
                            job->rounds, 1);
        }
        for (size_t kind = 2; references && kind < HX_TICK_KINDS; kind += 2) {
            longest_replace(row + kind, ticks + kind, job->rounds, run->every);
        }
    }
    run->child->retook_in_vain = !calm;
}

static void rounds_take(struct run *run) {
    const struct hx_chain_run *last = &run->child->chain_run;
    run->keeps_chain =
        run->shares_chain && last->jobs > 0 && last->iterations == run->result->reference_iterations;
    for (uint32_t i = 0; i < run->job->rounds && run->wreck == 0; i++) {
        uint64_t ticks[HX_TICK_KINDS];
        bool references = i % run->every == 0;
        round_take(run, references, ticks);
        for (size_t kind = 0; kind < HX_TICK_KINDS; kind++) {
            run->row[kind][i] = kind < 2 || references ? ticks[kind] : run->row[kind][i - 1];
        }
    }
}

/* The chain for the next jobs: not where the clock seems to have moved. */
static void clock_leave(const struct run *run, bool likely) {
    struct hx_chain_run *last = &run->child->chain_run;
    last->shorter = run->row[2][0];
    last->longer = run->row[3][0];
    last->jobs = likely && last->jobs > 0 ? last->jobs - 1 : 0;
}

void hx_child_job_run(struct hx_child *child, uint32_t number) {
    const struct hx_job *job = &child->parts.jobs[number];
    const struct gen_kernel *kernel = &child->parts.kernels[job->held];
    const struct gen_kernel *chain = &child->shared->references.chain;
    enum hx_sentinel beside = hx_references_sentinel(&child->shared->references, kernel);
    const struct gen_kernel *sentinel = &child->shared->references.sentinels[beside];
    struct hx_job_result *result = &child->parts.results[number];
    struct run run = {.child = child,
                      .job = job,
                      .kernel = kernel,
                      .sentinel = sentinel,
                      .placed = &child->parts.placed[job->held],
                      .beside = &child->shared->sentinels[beside],
                      .result = result,
                      .shares_chain = child->shared->references.clock_step > 0.0 &&
                                      job->reference_every >= job->rounds && !kernel->fills_issue,
                      .every = job->reference_every > 1 ? job->reference_every : 1};
    uint64_t *ticks = child->parts.ticks + (size_t)number * HX_TICK_KINDS * child->shared->rounds_max;
    for (size_t kind = 0; kind < HX_TICK_KINDS; kind++) {
        run.row[kind] = ticks + kind * child->shared->rounds_max;
    }
    if (kernel->map_on_demand) {
        hx_pages_begin(child, job->held);
    }
    data_fill(child, kernel);
    uint32_t target = job->target_cycles != 0 ? job->target_cycles : TARGET_CYCLES;
    if (kernel->map_on_demand && target > BLOCK_CYCLES_MAX) {
        target = BLOCK_CYCLES_MAX;
    }
    /* A coarse clock needs longer runs, above all of what all samples are compared with. So much of the time
     * would go into the chain that several jobs have one in common; not those of which two must agree. */
    bool coarse = child->shared->references.clock_step > 0.0;
    target *= coarse && !kernel->map_on_demand && !kernel->fine ? COARSE_KERNEL_TIMES : 1;
    uint32_t chain_target = target * (coarse ? COARSE_CHAIN_TIMES : 1);
    /* The chain is as precise as what it measures; of its sentinel half as long a run will do: four or more
     * NOPs in a cycle, some loads, ten cycles and more for a value through memory. */
    static const uint32_t cycles_per_run[HX_SENTINELS] = {1, 1, 40};
    result->reference_iterations = chain_target / (chain->longer.copies * chain->forms_per_unit) + 1;
    uint32_t runs = (kernel->fills_issue ? 4 : 2) * target; /* whose limits are narrow */
    runs += coarse ? runs / 2 : 0;
    result->sentinel_iterations =
        runs / (cycles_per_run[beside] * sentinel->longer.copies * sentinel->forms_per_unit) + 1;
    struct hx_pace *pace = &child->paces[job->held];
    if (pace->target != target) {
        run.calls = 1;
        pace->iterations = iterations_choose(&run, target);
        calls_choose(&run, pace);
        pace->target = target;
    }
    result->iterations = job->iterations != 0 ? job->iterations : pace->iterations;
    run.calls = job->iterations != 0 ? 1 : pace->calls;
    if (run.wreck == 0) {
        warm(&run);
        rounds_take(&run);
        rounds_retake(&run);
    }
    if (run.wreck == 0) {
        bool likely = clock_is_likely(&run);
        child->clock_last = clock_of(&run);
        clock_leave(&run, likely);
    }
    result->wreck = run.wreck;
    result->done = true;
}
