/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/meter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "harness/estimate.h"
#include "harness/holding.h"
#include "harness/judge.h"
#include "harness/passes.h"
#include "harness/record.h"
#include "harness/roam.h"

enum {
    KERNELS_PER_CHUNK = 4096, /* bounds the memory for code and samples */
    PASSES_MORE = 2,          /* where the plan's disagree */
    NAPS_MAX = 50,            /* in one measurement of many kernels */
    SCREEN_ROUNDS = 4,
    SCREEN_REFERENCE_EVERY = SCREEN_ROUNDS,
    SCREEN_RETAKES = 6,
    SCREEN_CYCLES = 3000, /* of 1500, with the chain once, half of the looks were off by more than 2 % */
    SCREEN_LOOKS = 3,     /* at a kernel that looks disturbed */
};

void hx_plan_init(struct hx_plan *plan) {
    *plan = (struct hx_plan){
        .rounds = 11,
        .passes = 2,
        .min_batches = 3,
        .max_batches = 24,
        .spread_limit = 0.006,
        .trust_limit = 0.03,
        .block_trust_limit = 0.10,
        .target_cycles = 12000,
        .reference_every = 1,
    };
}

void hx_plan_quicken(struct hx_plan *plan, bool first) {
    enum { FIRST_BATCHES = 6 };
    plan->passes = 1;
    plan->rounds = 4;
    plan->retakes = 8;
    plan->min_batches = 2;
    plan->target_cycles = 4000;
    plan->reference_every = plan->rounds;
    plan->spread_limit = 0.01;
    plan->keep_process = true;
    plan->max_batches = first ? FIRST_BATCHES : plan->max_batches;
}

/* Samples for up to `count` jobs, in one block. */
struct sample_store {
    struct hx_samples *samples;
    double *values;
};

static enum ip_status store_open(struct sample_store *store, size_t count, uint32_t rounds,
                                 struct ip_error *err) {
    store->samples = calloc(count, sizeof *store->samples);
    store->values = calloc(count * HX_SAMPLE_ROWS * rounds, sizeof *store->values);
    if (store->samples == NULL || store->values == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the samples of %zu kernels", count);
    }
    for (size_t i = 0; i < count; i++) {
        hx_samples_place(&store->samples[i], store->values + i * HX_SAMPLE_ROWS * rounds, rounds);
    }
    return IP_OK;
}

static void store_close(struct sample_store *store) {
    free(store->samples);
    free(store->values);
}

static void stat_fault(struct hx_stat *stat, enum hx_outcome outcome, const char *why) {
    memset(stat, 0, sizeof *stat);
    stat->verdict = HX_VERDICT_FAULT;
    stat->outcome = outcome;
    stat->cycles = stat->low = stat->high = stat->spread = NAN;
    (void)snprintf(stat->why, sizeof stat->why, "%s", why);
}

/* The kernels of one chunk that still need batches. */
struct chunk {
    struct hx_bench *bench;
    const struct gen_kernel *const *kernels;
    struct hx_stat *stats;
    struct hx_tally *tallies;
    struct hx_job *jobs;
    size_t *open; /* numbers of the kernels that are not settled */
    size_t open_count;
    uint32_t *held; /* where the timer holds each kernel */
    bool holds;
    struct sample_store store;
    uint32_t naps; /* batches, or looks, that do not count, for something disturbed them */
};

/* Ticks of all samples of a job; references stand for several rounds. */
static double ticks_sum(const struct hx_job *job, const struct hx_samples *samples) {
    uint32_t every = job->reference_every > 1 ? job->reference_every : 1;
    double sum = 0.0;
    for (uint32_t i = 0; i < job->rounds; i++) {
        sum += samples->shorter[i] + samples->longer[i];
        if (i % every == 0) {
            sum += samples->reference_shorter[i] + samples->reference_longer[i] +
                   samples->sentinel_shorter[i] + samples->sentinel_longer[i];
        }
    }
    return sum;
}

/* Is what ran beside most of the jobs disturbed? */
static bool jobs_disturbed(const struct chunk *chunk, size_t first, size_t count) {
    const struct hx_bench *bench = chunk->bench;
    size_t ran = 0, disturbed = 0;
    for (size_t i = first; i < first + count; i++) {
        const struct hx_job *job = &chunk->jobs[i];
        if (chunk->store.samples[i].outcome == HX_OUTCOME_OK) {
            struct hx_estimate estimate =
                hx_judge_estimate(bench, job->kernel, &chunk->store.samples[i], job->rounds);
            ran++;
            disturbed += hx_judge_beside_disturbed(bench, job->kernel, &estimate);
        }
    }
    return 2 * disturbed > ran;
}

/* Runs the jobs of all open kernels, and records them where that is wanted. */
static enum ip_status jobs_run(struct chunk *chunk, struct ip_error *err) {
    enum { SLICE = 64, MANY = 8 }; /* kernels: some milliseconds; enough to tell who stays */
    struct hx_bench *bench = chunk->bench;
    enum ip_status status = IP_OK;
    for (size_t at = 0, some = 0; at < chunk->open_count && status == IP_OK; at += some) {
        some = bench->roams && chunk->open_count - at > SLICE ? SLICE : chunk->open_count - at;
        status = bench->timer.ops->run(&bench->timer, chunk->jobs + at, some, chunk->store.samples + at, err);
        if (status == IP_OK && bench->roams && some >= MANY && jobs_disturbed(chunk, at, some)) {
            hx_bench_roam(bench);
        }
    }
    if (status == IP_OK && bench->recorder != NULL) {
        status = hx_recorder_add(bench->recorder, chunk->jobs, chunk->store.samples, chunk->open_count, err);
    }
    if (status == IP_OK) {
        bench->kernels_run += chunk->open_count;
        for (size_t i = 0; i < chunk->open_count; i++) {
            if (chunk->store.samples[i].outcome == HX_OUTCOME_OK) {
                bench->run_ticks += ticks_sum(&chunk->jobs[i], &chunk->store.samples[i]);
            }
        }
    }
    return status;
}

/* The more kernels wait for a neighbour to leave, the longer it is worth it. */
static uint32_t naps_most(size_t kernels) {
    enum { NAPS_LEAST = 4, KERNELS_PER_NAP = 4 };
    return NAPS_LEAST + (uint32_t)kernels / KERNELS_PER_NAP;
}

/* Is it worth taking so many disturbed kernels again? A neighbour who stays disturbs many, and has to be
 * waited for. What hit a few is over as a rule, and to take them again costs a part of a nap. */
static bool chunk_wait(struct chunk *chunk, size_t disturbed) {
    enum { FEW = 16, AT_ONCE = 4 };
    bool wait = disturbed > FEW || chunk->naps % AT_ONCE == AT_ONCE - 1;
    struct hx_patience *patience = &chunk->bench->patience;
    if (chunk->bench->sentinel_suspect || patience->left_ms == 0 || (wait && !hx_patience_wait(patience))) {
        return false;
    }
    chunk->naps++;
    return true;
}

/* The plan for one kernel: how a program's block runs depends on its place in ways that no repetition evens
 * out. */
static struct hx_plan plan_for(const struct hx_bench *bench, const struct gen_kernel *kernel) {
    struct hx_plan plan = bench->plan;
    if (kernel != NULL && kernel->map_on_demand) {
        plan.trust_limit = plan.block_trust_limit;
    }
    if (kernel != NULL && kernel->once) {
        plan.min_batches = 1;
    }
    return plan;
}

static uint32_t target_for(const struct hx_bench *bench, const struct gen_kernel *kernel) {
    enum { FINE_TIMES = 4 };
    return bench->plan.target_cycles * (kernel->fine ? FINE_TIMES : 1);
}

/* Takes one batch of every open kernel and keeps open those that need more. */
static enum ip_status chunk_batch(struct chunk *chunk, struct ip_error *err) {
    struct hx_bench *bench = chunk->bench;
    const struct hx_plan *plan = &bench->plan;
    for (size_t i = 0; i < chunk->open_count; i++) {
        chunk->jobs[i] = (struct hx_job){.kernel = chunk->kernels[chunk->open[i]],
                                         .iterations = plan->iterations,
                                         .rounds = plan->rounds,
                                         .target_cycles = target_for(bench, chunk->kernels[chunk->open[i]]),
                                         .reference_every = plan->reference_every,
                                         .retakes = plan->retakes,
                                         .held = chunk->held[chunk->open[i]]};
    }
    enum ip_status status = jobs_run(chunk, err);
    if (status != IP_OK) {
        return status;
    }
    size_t left = 0, void_count = 0, disturbed = 0, taken = chunk->open_count;
    for (size_t i = 0; i < taken; i++) {
        size_t number = chunk->open[i];
        struct hx_samples *samples = &chunk->store.samples[i];
        if (samples->outcome != HX_OUTCOME_OK) {
            stat_fault(&chunk->stats[number], samples->outcome, samples->why);
            continue;
        }
        struct hx_estimate estimate = hx_judge_estimate(bench, chunk->kernels[number], samples, plan->rounds);
        hx_ruler_add(&bench->ruler, estimate.ticks_per_cycle);
        hx_judge_learn(bench, chunk->kernels[number], &estimate);
        enum hx_batch worth = hx_judge_worth(bench, chunk->kernels[number], &estimate);
        void_count += worth == HX_BATCH_VOID;
        disturbed +=
            worth == HX_BATCH_VOID && hx_judge_beside_disturbed(bench, chunk->kernels[number], &estimate);
        hx_tally_add(&chunk->tallies[number], &estimate, worth);
        const struct hx_plan its = plan_for(bench, chunk->kernels[number]);
        if (!hx_tally_settle(&chunk->tallies[number], &its, &chunk->stats[number]) &&
            chunk->tallies[number].taken < plan->max_batches + chunk->naps) {
            chunk->open[left++] = number;
        }
    }
    chunk->open_count = left;
    hx_patience_earn(&bench->patience, taken - void_count);
    /* A time of which most was disturbed does not count against the limit while there is patience: what ran
     * beside the kernels says it, for some kernels are never calm, and at last only those are open. */
    if (left > 0 && 2 * disturbed > taken && chunk->naps < NAPS_MAX) {
        (void)chunk_wait(chunk, disturbed);
    }
    return IP_OK;
}

/* The numbers of the open kernels among those that the bench holds; a look that was taken at one since then
 * counts as its first batch. */
static enum ip_status chunk_look_up(struct chunk *chunk, struct ip_error *err) {
    const struct hx_bench *bench = chunk->bench;
    for (size_t i = 0; i < chunk->open_count; i++) {
        size_t number = chunk->open[i];
        const struct hx_held *found = hx_holding_find(&bench->holding, chunk->kernels[number]);
        if (found == NULL) {
            return ip_fail(err, IP_FAILED, "a kernel is none of those that the meter was told to hold");
        }
        chunk->held[number] = found->number;
        if (found->looked) {
            hx_tally_add(&chunk->tallies[number], &found->look, HX_BATCH_ACCEPTED);
        }
    }
    return IP_OK;
}

/* Lets the timer prepare the open kernels once for all that is to come, where it can. */
static enum ip_status chunk_hold(struct chunk *chunk, uint32_t rounds, struct ip_error *err) {
    struct hx_timer *timer = &chunk->bench->timer;
    if (chunk->bench->holding.count > 0) {
        return chunk_look_up(chunk, err);
    }
    if (timer->ops->hold == NULL) {
        return IP_OK;
    }
    const struct gen_kernel **kernels = calloc(chunk->open_count, sizeof(const struct gen_kernel *));
    if (kernels == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu kernels", chunk->open_count);
    }
    for (size_t i = 0; i < chunk->open_count; i++) {
        kernels[i] = chunk->kernels[chunk->open[i]];
        chunk->held[chunk->open[i]] = (uint32_t)i;
    }
    enum ip_status status = timer->ops->hold(timer, kernels, chunk->open_count, rounds, err);
    chunk->holds = status == IP_OK;
    free(kernels);
    return status;
}

static enum ip_status chunk_open(struct chunk *chunk, size_t count, bool hold, struct ip_error *err) {
    chunk->tallies = calloc(count, sizeof *chunk->tallies);
    chunk->jobs = calloc(count, sizeof *chunk->jobs);
    chunk->open = calloc(count, sizeof *chunk->open);
    chunk->held = calloc(count, sizeof *chunk->held);
    if (chunk->tallies == NULL || chunk->jobs == NULL || chunk->open == NULL || chunk->held == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu kernels", count);
    }
    for (size_t i = 0; i < count; i++) {
        if (chunk->kernels[i] == NULL) {
            stat_fault(&chunk->stats[i], HX_OUTCOME_OK, "no kernel");
        } else {
            chunk->open[chunk->open_count++] = i;
        }
    }
    if (chunk->open_count == 0) {
        return IP_OK;
    }
    uint32_t rounds = chunk->bench->plan.rounds;
    rounds = rounds > SCREEN_ROUNDS ? rounds : SCREEN_ROUNDS;
    enum ip_status status = store_open(&chunk->store, chunk->open_count, rounds, err);
    hold = hold || chunk->bench->holding.count > 0;
    return status == IP_OK && hold ? chunk_hold(chunk, rounds, err) : status;
}

static void chunk_close(struct chunk *chunk) {
    if (chunk->holds) {
        chunk->bench->timer.ops->release(&chunk->bench->timer);
    }
    free(chunk->held);
    store_close(&chunk->store);
    free(chunk->tallies);
    free(chunk->jobs);
    free(chunk->open);
}

static enum ip_status chunk_measure(struct hx_bench *bench, const struct gen_kernel *const *kernels,
                                    size_t count, struct hx_stat *stats, struct ip_error *err) {
    struct chunk chunk = {.bench = bench, .kernels = kernels, .stats = stats};
    enum ip_status status = chunk_open(&chunk, count, bench->plan.keep_process, err);
    while (status == IP_OK && chunk.open_count > 0) {
        status = chunk_batch(&chunk, err);
    }
    chunk_close(&chunk);
    return status;
}

/* As many passes as the plan says, and up to two more of those kernels that they dispute. */
static enum ip_status passes_run(struct hx_bench *bench, const struct gen_kernel **kernels, size_t count,
                                 struct hx_stat *taken, struct hx_stat *stats, struct ip_error *err) {
    uint32_t most = bench->plan.passes + (bench->plan.passes > 1 ? PASSES_MORE : 0);
    enum ip_status status = IP_OK;
    size_t open = count;
    for (uint32_t pass = 0; pass < most && status == IP_OK && open > 0; pass++) {
        status = chunk_measure(bench, kernels, count, taken + pass * count, err);
        open = 0;
        for (size_t i = 0; i < count && status == IP_OK; i++) {
            const struct hx_passes passes = {.first = taken + i, .stride = count, .count = pass + 1};
            if (pass > 0 && kernels[i] == NULL) {
                continue; /* settled before */
            }
            bool more = pass + 1 < bench->plan.passes || (pass + 1 < most && hx_passes_dispute(&passes));
            if (more && kernels[i] != NULL) {
                open++;
            } else {
                const struct hx_plan its = plan_for(bench, kernels[i]);
                hx_passes_settle(&passes, &its, &stats[i]);
                kernels[i] = NULL;
            }
        }
    }
    return status;
}

static enum ip_status passes_measure(struct hx_bench *bench, const struct gen_kernel *const *kernels,
                                     size_t count, struct hx_stat *stats, struct ip_error *err) {
    struct hx_stat *taken = calloc((bench->plan.passes + PASSES_MORE) * count, sizeof *taken);
    const struct gen_kernel **open = calloc(count, sizeof(const struct gen_kernel *));
    enum ip_status status = IP_OK;
    if (taken == NULL || open == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for %zu kernels", count);
    } else {
        for (size_t i = 0; i < count; i++) {
            open[i] = kernels[i];
        }
        status = passes_run(bench, open, count, taken, stats, err);
    }
    free(taken);
    free(open);
    return status;
}

/* A value from one batch; its spread is not known. */
static void stat_look(struct hx_stat *stat, const struct hx_estimate *estimate, bool accepted) {
    memset(stat, 0, sizeof *stat);
    stat->screened = true;
    stat->cycles = stat->low = stat->high = estimate->cycles;
    stat->spread = NAN;
    stat->ticks_per_cycle = estimate->ticks_per_cycle;
    stat->sentinel_cycles = estimate->sentinel_cycles;
    stat->verdict = accepted ? HX_VERDICT_OK : HX_VERDICT_DISTURBED;
}

/* Looks once at every open kernel and keeps open those that looked disturbed. `lenient`: they had their
 * chance to be calm. *disturbed: so many of them did not look right, and nor did what ran beside them. */
static enum ip_status chunk_look(struct chunk *chunk, bool lenient, size_t *disturbed, struct ip_error *err) {
    struct hx_bench *bench = chunk->bench;
    *disturbed = 0;
    for (size_t i = 0; i < chunk->open_count; i++) {
        chunk->jobs[i] = (struct hx_job){.kernel = chunk->kernels[chunk->open[i]],
                                         .iterations = bench->plan.iterations,
                                         .rounds = SCREEN_ROUNDS,
                                         .target_cycles = SCREEN_CYCLES,
                                         .reference_every = SCREEN_REFERENCE_EVERY,
                                         .retakes = SCREEN_RETAKES,
                                         .held = chunk->held[chunk->open[i]]};
    }
    enum ip_status status = jobs_run(chunk, err);
    size_t left = 0;
    for (size_t i = 0; i < chunk->open_count && status == IP_OK; i++) {
        size_t number = chunk->open[i];
        struct hx_samples *samples = &chunk->store.samples[i];
        if (samples->outcome != HX_OUTCOME_OK) {
            stat_fault(&chunk->stats[number], samples->outcome, samples->why);
            continue;
        }
        struct hx_estimate estimate =
            hx_judge_estimate(bench, chunk->kernels[number], samples, SCREEN_ROUNDS);
        hx_ruler_add(&bench->ruler, estimate.ticks_per_cycle);
        bool accepted = lenient ? hx_judge_is_accepted(bench, chunk->kernels[number], &estimate)
                                : hx_judge_is_calm(bench, chunk->kernels[number], &estimate);
        stat_look(&chunk->stats[number], &estimate, accepted);
        if (accepted && !lenient) {
            hx_holding_look(&bench->holding, chunk->kernels[number], &estimate);
        }
        if (!accepted) {
            chunk->open[left++] = number;
            *disturbed += hx_judge_beside_disturbed(bench, chunk->kernels[number], &estimate);
        }
    }
    hx_patience_earn(&bench->patience, chunk->open_count - left);
    chunk->open_count = left;
    return status;
}

static enum ip_status chunk_screen(struct hx_bench *bench, const struct gen_kernel *const *kernels,
                                   size_t count, struct hx_stat *stats, struct ip_error *err) {
    struct chunk chunk = {.bench = bench, .kernels = kernels, .stats = stats};
    enum ip_status status = chunk_open(&chunk, count, true, err);
    uint32_t naps = naps_most(chunk.open_count);
    for (unsigned i = 0; i < SCREEN_LOOKS && status == IP_OK && chunk.open_count > 0; i++) {
        size_t before = chunk.open_count, disturbed = 0;
        bool lenient = i > 0;
        status = chunk_look(&chunk, lenient, &disturbed, err);
        /* Some kernels are never calm: it is a neighbour only where the references suffer, too. */
        while (status == IP_OK && chunk.open_count == before && 2 * disturbed > before && chunk.naps < naps &&
               chunk_wait(&chunk, disturbed)) {
            status = chunk_look(&chunk, lenient, &disturbed, err);
        }
    }
    chunk_close(&chunk);
    return status;
}

typedef enum ip_status chunk_run(struct hx_bench *bench, const struct gen_kernel *const *kernels,
                                 size_t count, struct hx_stat *stats, struct ip_error *err);

static enum ip_status by_chunks(struct hx_bench *bench, chunk_run *run,
                                const struct gen_kernel *const *kernels, size_t count, struct hx_stat *stats,
                                struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t at = 0; at < count && status == IP_OK; at += KERNELS_PER_CHUNK) {
        size_t some = count - at < KERNELS_PER_CHUNK ? count - at : KERNELS_PER_CHUNK;
        status = run(bench, kernels + at, some, stats + at, err);
    }
    return status;
}

static enum ip_status bench_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                    struct hx_stat *stats, struct ip_error *err) {
    return by_chunks(self, passes_measure, kernels, count, stats, err);
}

static enum ip_status bench_screen(void *self, const struct gen_kernel *const *kernels, size_t count,
                                   struct hx_stat *stats, struct ip_error *err) {
    return by_chunks(self, chunk_screen, kernels, count, stats, err);
}

static void bench_release(void *self) {
    struct hx_bench *bench = self;
    hx_holding_end(&bench->holding, &bench->timer);
}

/* Kernels that are more than one chunk are placed chunk by chunk, and those of a careful plan for each batch.
 */
static enum ip_status bench_hold(void *self, const struct gen_kernel *const *kernels, size_t count,
                                 struct ip_error *err) {
    struct hx_bench *bench = self;
    bench_release(bench);
    bool looks_count = !bench->as_recorded; /* as batches, where kernels are held */
    if (bench->timer.ops->hold == NULL || !bench->plan.keep_process || count > KERNELS_PER_CHUNK ||
        !looks_count) {
        return IP_OK;
    }
    uint32_t rounds = bench->plan.rounds > SCREEN_ROUNDS ? bench->plan.rounds : SCREEN_ROUNDS;
    return hx_holding_begin(&bench->holding, &bench->timer, kernels, count, rounds, err);
}

static double bench_seconds(const void *self) {
    const struct hx_bench *bench = self;
    return hx_bench_is_live(bench) ? ip_clock_seconds() - bench->opened_s : 0;
}

struct hx_meter hx_bench_meter(struct hx_bench *bench) {
    return (struct hx_meter){.measure = bench_measure,
                             .screen = bench_screen,
                             .hold = bench_hold,
                             .release = bench_release,
                             .seconds = bench_seconds,
                             .filler = bench->filler,
                             .self = bench};
}

struct hx_meter hx_meter_before(const struct hx_meter *inner, void *self) {
    return (struct hx_meter){.filler = inner->filler, .self = self, .before = inner};
}

enum ip_status hx_hold(const struct hx_meter *meter, const struct gen_kernel *const *kernels, size_t count,
                       struct ip_error *err) {
    return meter->hold != NULL ? meter->hold(meter->self, kernels, count, err) : IP_OK;
}

void hx_release(const struct hx_meter *meter) {
    if (meter->release != NULL) {
        meter->release(meter->self);
    }
}

double hx_seconds(const struct hx_meter *meter) {
    while (meter->seconds == NULL && meter->before != NULL) {
        meter = meter->before;
    }
    return meter->seconds != NULL ? meter->seconds(meter->self) : 0;
}

enum ip_status hx_screen(const struct hx_meter *meter, const struct gen_kernel *const *kernels, size_t count,
                         struct hx_stat *stats, struct ip_error *err) {
    return meter->screen != NULL ? meter->screen(meter->self, kernels, count, stats, err)
                                 : hx_measure(meter, kernels, count, stats, err);
}

enum ip_status hx_measure(const struct hx_meter *meter, const struct gen_kernel *const *kernels, size_t count,
                          struct hx_stat *stats, struct ip_error *err) {
    return meter->measure(meter->self, kernels, count, stats, err);
}
