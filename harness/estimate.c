/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/estimate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/stats.h"

/* A batch whose chain moved by more than this between its quartiles saw the clock jump, or a neighbour come
 * or go. */
static const double CHAIN_QUARTILES_MAX = 0.08;
/* Rounds whose chain is further from the median are left out. */
static const double CLOCK_MAX = 0.04;
/* Which of the ordered samples counts: low, because disturbances only lengthen a run, and code can have a
 * slow mode (ports bound unluckily for a whole run) in up to half of its runs; not the least, which has the
 * luckiest noise. */
static const double LOW_QUANTILE = 0.25;
/* Steps of a coarse clock by which runs of one kernel differ though they take the same: one, and some for
 * what the clock of the core adds. */
static const double STEPS_NEAR = 1.2;
/* A batch whose two lengths disagree by more is taken again. Loops of a hundred instructions and more lose
 * less at their branch. */
static const double GAP_MAX = 0.015;
/* Cycles that a core may lose at the end of each pass through a loop, in both lengths alike: a Zen 5 takes 13
 * for 96 moves of which eight are issued in a cycle. */
static const double LOOP_END_CYCLES = 1.1;
/* A kernel that has had so many times the accepted batches that it needs, too few of them calm, is what it
 * is.
 */
enum { MANY_TIMES = 3 };
/* Below this many cycles a relative spread says little: results are compared absolutely. */
static const double SPREAD_FLOOR_CYCLES = 0.05;

/* How many units apart the two lengths are, over all iterations. */
static double units_apart(const struct gen_kernel *kernel, uint32_t iterations) {
    return (double)(kernel->longer.copies - kernel->shorter.copies) * iterations;
}

static double median_of(const double *values, uint32_t count) {
    double sorted[HX_ROUNDS_MAX];
    memcpy(sorted, values, count * sizeof sorted[0]);
    return hx_median(sorted, count);
}

/* What a coarse clock rounds: the mean of the values that are no more than `near` from `middle`. The runs
 * begin at all moments of the clock's step (child_job.c), so that the mean is free of it, where each value
 * and each quantile is off by up to a step. */
static double mean_near(const double *values, uint32_t count, double middle, double near) {
    double sum = 0.0;
    uint32_t within = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (fabs(values[i] - middle) <= near) {
            sum += values[i];
            within++;
        }
    }
    return within > 0 ? sum / within : middle;
}

/* Ticks of the chain's difference in each round: the clock of that round. Those that a coarse clock's step
 * makes differ, it being in both lengths, have one clock in common. */
static void clocks_of_rounds(const struct hx_samples *samples, uint32_t rounds, double step, double *clocks) {
    for (uint32_t i = 0; i < rounds; i++) {
        clocks[i] = samples->reference_longer[i] - samples->reference_shorter[i];
    }
    if (!(step > 0.0)) {
        return;
    }
    double middle = median_of(clocks, rounds);
    double near = STEPS_NEAR * 2.0 * step;
    double mean = mean_near(clocks, rounds, middle, near);
    for (uint32_t i = 0; i < rounds; i++) {
        clocks[i] = fabs(clocks[i] - middle) <= near ? mean : clocks[i];
    }
}

static bool chain_moved(const double *clocks, uint32_t rounds) {
    double sorted[HX_ROUNDS_MAX];
    memcpy(sorted, clocks, rounds * sizeof sorted[0]);
    hx_sort(sorted, rounds);
    double low = hx_quantile(sorted, rounds, 0.25);
    double high = hx_quantile(sorted, rounds, 0.75);
    return !(high - low <= CHAIN_QUARTILES_MAX * hx_quantile(sorted, rounds, 0.5));
}

/* The low quantile of the samples of one length, in units of the chain's difference, over the rounds whose
 * chain was not hit by an interrupt. Whatever disturbs a run makes it longer; within a round (some
 * microseconds) the clock stands still, within a batch it may not. `step`: by how many ticks the clock
 * advances, or 0. *unrest: see estimate.h; NULL: not wanted. */
static double low_in_clocks(const double *samples, const double *clocks, double clock, uint32_t rounds,
                            double step, double *unrest) {
    double values[HX_ROUNDS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        if (fabs(clocks[i] - clock) <= CLOCK_MAX * clock) {
            values[count++] = samples[i] / clocks[i];
        }
    }
    hx_sort(values, count);
    if (unrest != NULL) {
        double least = hx_quantile(values, count, 0.0);
        *unrest = (hx_quantile(values, count, 0.5) - least) / least;
    }
    double low = hx_quantile(values, count, LOW_QUANTILE);
    return step > 0.0 ? mean_near(values, count, low, STEPS_NEAR * step / clock) : low;
}

/* How far `cycles` lies outside of low .. high, relative to the nearer end. Which instructions have to wake a
 * vector unit is not known: 128 bits of integers take none of what 256 bits and conversions of 128 bits take.
 */
static double gap_to(double cycles, double low, double high) {
    double end = cycles > high ? high : low;
    return cycles < low || cycles > high ? (end - cycles) / end : 0.0;
}

struct hx_estimate hx_estimate_batch(const struct gen_kernel *kernel, const struct hx_references *references,
                                     const struct hx_samples *samples, uint32_t rounds) {
    struct hx_estimate estimate = {.cycles = NAN, .sentinel_cycles = NAN, .sentinel_bound = NAN};
    double clocks[HX_ROUNDS_MAX];
    const double step = references->clock_step;
    clocks_of_rounds(samples, rounds, step, clocks);
    double clock = median_of(clocks, rounds);
    /* The chain takes a cycle for each of its forms. */
    double chain_cycles =
        units_apart(&references->chain, samples->reference_iterations) * references->chain.forms_per_unit;
    estimate.ticks_per_cycle = clock / chain_cycles;
    estimate.clock_moved = !(clock > 0.0) || chain_moved(clocks, rounds);
    if (!(clock > 0.0)) {
        return estimate;
    }
    const struct gen_kernel *sentinel = &references->sentinels[hx_references_sentinel(references, kernel)];
    double beside = units_apart(sentinel, samples->sentinel_iterations) * sentinel->forms_per_unit;
    double beside_longer = low_in_clocks(samples->sentinel_longer, clocks, clock, rounds, step, NULL);
    double beside_shorter = low_in_clocks(samples->sentinel_shorter, clocks, clock, rounds, step, NULL);
    estimate.sentinel_cycles = (beside_longer - beside_shorter) * chain_cycles / beside;
    estimate.sentinel_bound =
        beside_longer * chain_cycles /
        ((double)sentinel->longer.copies * samples->sentinel_iterations * sentinel->forms_per_unit);
    if (kernel == NULL) {
        return estimate;
    }
    double unrest_longer, unrest_shorter;
    double longer = low_in_clocks(samples->longer, clocks, clock, rounds, step, &unrest_longer);
    double shorter = low_in_clocks(samples->shorter, clocks, clock, rounds, step, &unrest_shorter);
    double forms = units_apart(kernel, samples->iterations) * kernel->forms_per_unit;
    estimate.cycles = (longer - shorter) * chain_cycles / forms;
    /* The overhead of a call: what the chain takes at length zero. */
    double copies = (double)references->chain.shorter.copies /
                    (references->chain.longer.copies - references->chain.shorter.copies);
    double overhead = low_in_clocks(samples->reference_shorter, clocks, clock, rounds, step, NULL) - copies;
    double extra = kernel->wakes_vectors ? references->call_cycles[HX_CALL_VECTOR] : 0.0;
    extra = kernel->fills_x87 ? fmax(extra, references->call_cycles[HX_CALL_X87]) : extra;
    extra = (extra + LOOP_END_CYCLES * samples->iterations) / chain_cycles;
    double unit_cycles =
        chain_cycles / ((double)kernel->longer.copies * samples->iterations * kernel->forms_per_unit);
    /* One loop in both lengths: the first pass through a large one is slower than the others, and the
     * difference is right because of that. */
    bool one_loop = kernel->longer.passes > kernel->shorter.passes;
    estimate.gap = kernel->map_on_demand || one_loop
                       ? 0.0
                       : gap_to(estimate.cycles, (longer - overhead - extra) * unit_cycles,
                                (longer - overhead) * unit_cycles);
    /* What a block does differs from run to run. */
    estimate.unrest = kernel->map_on_demand ? 0.0 : fmax(unrest_longer, unrest_shorter);
    return estimate;
}

void hx_tally_add(struct hx_tally *tally, const struct hx_estimate *estimate, enum hx_batch batch) {
    const bool accepted = batch == HX_BATCH_ACCEPTED;
    tally->taken++;
    if (batch == HX_BATCH_QUIET && fabs(estimate->gap) <= GAP_MAX && tally->quiet < HX_BATCHES_MAX) {
        tally->quiet_cycles[tally->quiet++] = estimate->cycles;
    }
    if (accepted && tally->accepted < HX_BATCHES_MAX) {
        tally->gap[tally->accepted] = estimate->gap;
        tally->unrest[tally->accepted] = estimate->unrest;
        tally->cycles[tally->accepted++] = estimate->cycles;
    }
    if (accepted || tally->accepted == 0) {
        tally->ticks_per_cycle = estimate->ticks_per_cycle;
        tally->sentinel_cycles = estimate->sentinel_cycles;
    }
}

static double spread_of(double low, double high, double median) {
    double width = high - low;
    return fabs(median) < SPREAD_FLOOR_CYCLES ? width : width / fabs(median);
}

/* The batches whose lengths agree and whose unrest is within the limit. */
static uint32_t batches_within(const struct hx_tally *tally, double unrest, double *cycles) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < tally->accepted; i++) {
        if (fabs(tally->gap[i]) <= GAP_MAX && tally->unrest[i] <= unrest) {
            cycles[count++] = tally->cycles[i];
        }
    }
    return count;
}

static double gap_median(const struct hx_tally *tally) {
    double gaps[HX_BATCHES_MAX];
    for (uint32_t i = 0; i < tally->accepted; i++) {
        gaps[i] = fabs(tally->gap[i]);
    }
    return hx_median(gaps, tally->accepted);
}

/* Are calm batches alike, and by so much the same apart in their two lengths that more of them would not
 * change it? What a kernel does before its loop may take longer than what the chain does (FNINIT, EMMS: some
 * 200 cycles), and by where it lies the call of one length may take longer than that of the other. */
static bool gap_is_steady(const struct hx_tally *tally, const struct hx_plan *plan) {
    double gaps[HX_BATCHES_MAX], cycles[HX_BATCHES_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < tally->accepted; i++) {
        if (tally->unrest[i] <= HX_UNREST_MAX) {
            gaps[count] = fabs(tally->gap[i]);
            cycles[count++] = tally->cycles[i];
        }
    }
    if (count <= plan->min_batches || count < tally->accepted) {
        return false;
    }
    hx_sort(gaps, count);
    hx_sort(cycles, count);
    double spread = spread_of(cycles[0], cycles[count - 1], hx_quantile(cycles, count, 0.5));
    return spread <= plan->spread_limit && gaps[count - 1] - gaps[0] <= plan->spread_limit &&
           spread + hx_quantile(gaps, count, 0.5) <= plan->trust_limit;
}

/* The narrowest window of so many batches. Sorts. */
static void window_take(struct hx_stat *stat, double *cycles, uint32_t count, uint32_t window) {
    hx_sort(cycles, count);
    size_t best = hx_narrowest(cycles, count, window);
    stat->low = cycles[best];
    stat->high = cycles[best + window - 1];
    stat->cycles = hx_quantile(cycles + best, window, 0.5);
    stat->spread = spread_of(stat->low, stat->high, stat->cycles);
    stat->batches = count;
}

static uint32_t half_of(uint32_t count, uint32_t at_least) {
    uint32_t half = (count + 1) / 2;
    return half < at_least ? at_least : half;
}

/* Do quiet batches agree, with those that are accepted if there are any? One that a neighbour slowed all the
 * time looks as quiet: one more than the plan demands, at different times, do not look alike. */
static bool quiet_settle(const struct hx_tally *tally, const struct hx_plan *plan, struct hx_stat *stat) {
    double cycles[2 * HX_BATCHES_MAX];
    uint32_t count = batches_within(tally, HX_UNREST_MAX, cycles);
    memcpy(cycles + count, tally->quiet_cycles, tally->quiet * sizeof cycles[0]);
    count += tally->quiet;
    if (tally->quiet == 0 || count <= plan->min_batches) {
        return false;
    }
    struct hx_stat agreed = *stat;
    window_take(&agreed, cycles, count, half_of(count, plan->min_batches + 1));
    if (!(agreed.spread <= plan->spread_limit)) {
        return false;
    }
    agreed.verdict = HX_VERDICT_OK;
    agreed.retakes = tally->taken - count;
    *stat = agreed;
    return true;
}

bool hx_tally_settle(const struct hx_tally *tally, const struct hx_plan *plan, struct hx_stat *stat) {
    memset(stat, 0, sizeof *stat);
    stat->cycles = stat->low = stat->high = stat->spread = NAN;
    stat->ticks_per_cycle = tally->ticks_per_cycle;
    stat->sentinel_cycles = tally->sentinel_cycles;
    stat->batches = tally->accepted;
    stat->retakes = tally->taken - tally->accepted;
    double sorted[HX_BATCHES_MAX];
    double gap = 0.0;
    uint32_t count = batches_within(tally, HX_UNREST_MAX, sorted);
    bool last = tally->taken >= plan->max_batches;
    if (count < plan->min_batches && (last || tally->accepted >= MANY_TIMES * plan->min_batches)) {
        count = batches_within(tally, INFINITY, sorted); /* a restless kernel */
    }
    bool steady = count < plan->min_batches && gap_is_steady(tally, plan);
    if (count < plan->min_batches && tally->accepted >= plan->min_batches && (last || steady)) {
        gap = gap_median(tally);
        count = tally->accepted;
        memcpy(sorted, tally->cycles, count * sizeof sorted[0]);
    }
    if (count < plan->min_batches) {
        if (quiet_settle(tally, plan, stat)) {
            return true;
        }
        stat->verdict = HX_VERDICT_DISTURBED;
        (void)snprintf(
            stat->why, sizeof stat->why,
            "disturbed: %u of %u batches were void (another thread on this core, or a moving clock)",
            tally->taken - count, tally->taken);
        return false;
    }
    window_take(stat, sorted, count, half_of(count, plan->min_batches));
    stat->retakes = tally->taken - count;
    stat->spread += gap;
    if (stat->spread <= plan->spread_limit) {
        stat->verdict = HX_VERDICT_OK;
        return true;
    }
    if (stat->spread <= plan->trust_limit) {
        stat->verdict = HX_VERDICT_OK; /* reported with its spread, but more batches may still narrow it */
        return steady;
    }
    stat->verdict = HX_VERDICT_UNSTABLE;
    if (gap > stat->spread / 2) {
        (void)snprintf(stat->why, sizeof stat->why,
                       "unstable: its shorter and its longer loop disagree by %.0f %% (%.3f cycles)",
                       100.0 * gap, stat->cycles);
    } else {
        (void)snprintf(stat->why, sizeof stat->why,
                       "unstable: %u batches spread over %.0f %% (%.3f to %.3f cycles)", tally->accepted,
                       100.0 * stat->spread, stat->low, stat->high);
    }
    return false;
}
