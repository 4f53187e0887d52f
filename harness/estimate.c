/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/estimate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/stats.h"

/* A batch whose chain moved by more than this between its quartiles saw the clock jump, or a neighbour come
 * or go. */
static const double CHAIN_QUARTILES_MAX = 0.08;
/* A batch whose two lengths disagree by more is taken again. Loops of a hundred instructions and more lose
 * less at their branch. */
static const double GAP_MAX = 0.03;
/* Below this many cycles a relative spread says little: results are compared absolutely. */
static const double SPREAD_FLOOR_CYCLES = 0.05;

/* How many units apart the two lengths are, over all iterations. */
static double units_apart(const struct gen_kernel *kernel, uint32_t iterations) {
    return (double)(kernel->longer.copies - kernel->shorter.copies) * iterations;
}

/* The median over the rounds of the difference of the two lengths, divided by that of the chain in the same
 * round when there is one: within a round (some microseconds) the clock stands still, within a batch it may
 * not. */
static double rounds_median(const double *shorter, const double *longer, const double *chain_shorter,
                            const double *chain_longer, uint32_t rounds) {
    double values[HX_ROUNDS_MAX];
    for (uint32_t i = 0; i < rounds; i++) {
        values[i] = longer[i] - shorter[i];
        if (chain_shorter != NULL) {
            values[i] /= chain_longer[i] - chain_shorter[i];
        }
    }
    return hx_median(values, rounds);
}

static bool chain_moved(const double *chain_shorter, const double *chain_longer, uint32_t rounds) {
    double values[HX_ROUNDS_MAX];
    for (uint32_t i = 0; i < rounds; i++) {
        values[i] = chain_longer[i] - chain_shorter[i];
    }
    hx_sort(values, rounds);
    double low = hx_quantile(values, rounds, 0.25);
    double high = hx_quantile(values, rounds, 0.75);
    return !(high - low <= CHAIN_QUARTILES_MAX * hx_quantile(values, rounds, 0.5));
}

/* Ticks per form of the longer kernel, less the overhead of a call: what the chain's time has at length zero.
 */
static double longer_alone(const struct gen_kernel *kernel, const struct hx_references *references,
                           const struct hx_samples *samples, uint32_t rounds) {
    const struct gen_kernel *chain = &references->chain;
    double values[HX_ROUNDS_MAX];
    double shorter_part = (double)chain->shorter.copies / (chain->longer.copies - chain->shorter.copies);
    for (uint32_t i = 0; i < rounds; i++) {
        double slope = samples->reference_longer[i] - samples->reference_shorter[i];
        values[i] = samples->longer[i] - (samples->reference_shorter[i] - slope * shorter_part);
    }
    double forms = (double)kernel->longer.copies * samples->iterations * kernel->forms_per_unit;
    return hx_median(values, rounds) / forms;
}

struct hx_estimate hx_estimate_batch(const struct gen_kernel *kernel, const struct hx_references *references,
                                     const struct hx_samples *samples, uint32_t rounds) {
    struct hx_estimate estimate = {.cycles = NAN};
    const double *chain_shorter = samples->reference_shorter;
    const double *chain_longer = samples->reference_longer;
    /* The chain takes a cycle for each of its forms. */
    double chain_cycles =
        units_apart(&references->chain, samples->reference_iterations) * references->chain.forms_per_unit;
    estimate.ticks_per_cycle = rounds_median(chain_shorter, chain_longer, NULL, NULL, rounds) / chain_cycles;
    estimate.clock_moved =
        !(estimate.ticks_per_cycle > 0.0) || chain_moved(chain_shorter, chain_longer, rounds);
    double nops = units_apart(&references->sentinel, samples->sentinel_iterations) *
                  references->sentinel.forms_per_unit;
    estimate.sentinel_cycles = rounds_median(samples->sentinel_shorter, samples->sentinel_longer,
                                             chain_shorter, chain_longer, rounds) *
                               chain_cycles / nops;
    if (kernel != NULL) {
        double forms = units_apart(kernel, samples->iterations) * kernel->forms_per_unit;
        estimate.cycles =
            rounds_median(samples->shorter, samples->longer, chain_shorter, chain_longer, rounds) *
            chain_cycles / forms;
        double bound = longer_alone(kernel, references, samples, rounds) / estimate.ticks_per_cycle;
        estimate.gap = kernel->map_on_demand ? 0.0 : (bound - estimate.cycles) / bound;
    }
    return estimate;
}

void hx_tally_add(struct hx_tally *tally, const struct hx_estimate *estimate, bool accepted) {
    tally->taken++;
    if (accepted && tally->accepted < HX_BATCHES_MAX) {
        tally->gap[tally->accepted] = estimate->gap;
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

static uint32_t batches_that_agree(const struct hx_tally *tally, double *cycles) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < tally->accepted; i++) {
        if (fabs(tally->gap[i]) <= GAP_MAX) {
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

bool hx_tally_settle(const struct hx_tally *tally, const struct hx_plan *plan, struct hx_stat *stat) {
    memset(stat, 0, sizeof *stat);
    stat->cycles = stat->low = stat->high = stat->spread = NAN;
    stat->ticks_per_cycle = tally->ticks_per_cycle;
    stat->sentinel_cycles = tally->sentinel_cycles;
    stat->batches = tally->accepted;
    stat->retakes = tally->taken - tally->accepted;
    double sorted[HX_BATCHES_MAX];
    double gap = 0.0;
    uint32_t count = batches_that_agree(tally, sorted);
    if (count < plan->min_batches && tally->accepted >= plan->min_batches &&
        tally->taken >= plan->max_batches) {
        gap = gap_median(tally);
        count = tally->accepted;
        memcpy(sorted, tally->cycles, count * sizeof sorted[0]);
    }
    if (count < plan->min_batches) {
        stat->verdict = HX_VERDICT_DISTURBED;
        (void)snprintf(
            stat->why, sizeof stat->why,
            "disturbed: %u of %u batches were void (another thread on this core, or a moving clock)",
            tally->taken - count, tally->taken);
        return false;
    }
    hx_sort(sorted, count);
    stat->batches = count;
    stat->retakes = tally->taken - count;
    uint32_t window = (count + 1) / 2;
    if (window < plan->min_batches) {
        window = plan->min_batches;
    }
    uint32_t best = 0;
    for (uint32_t i = 1; i + window <= count; i++) {
        if (sorted[i + window - 1] - sorted[i] < sorted[best + window - 1] - sorted[best]) {
            best = i;
        }
    }
    stat->low = sorted[best];
    stat->high = sorted[best + window - 1];
    stat->cycles = hx_quantile(sorted + best, window, 0.5);
    stat->spread = spread_of(stat->low, stat->high, stat->cycles) + gap;
    if (stat->spread <= plan->spread_limit) {
        stat->verdict = HX_VERDICT_OK;
        return true;
    }
    if (stat->spread <= plan->trust_limit) {
        stat->verdict = HX_VERDICT_OK; /* reported with its spread, but more batches may still narrow it */
        return false;
    }
    stat->verdict = HX_VERDICT_UNSTABLE;
    (void)snprintf(stat->why, sizeof stat->why,
                   "unstable: %u batches spread over %.0f %% (%.3f to %.3f cycles)", tally->accepted,
                   100.0 * stat->spread, stat->low, stat->high);
    return false;
}
