/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/estimate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/stats.h"

/* A batch whose chain moved by more than this between its quartiles saw two clock frequencies. */
static const double CHAIN_QUARTILES_MAX = 0.02;
/* Below this many cycles a relative spread says little: results are compared absolutely. */
static const double SPREAD_FLOOR_CYCLES = 0.05;

/* Ticks per unit of the kernel: difference of the medians of its two lengths. */
static double ticks_per_unit(const struct gen_kernel *kernel, double *shorter, double *longer,
                             uint32_t rounds, uint32_t iterations) {
    double copies = (double)(kernel->longer.copies - kernel->shorter.copies);
    return (hx_median(longer, rounds) - hx_median(shorter, rounds)) / (copies * iterations);
}

struct hx_estimate hx_estimate_batch(const struct gen_kernel *kernel, const struct hx_references *references,
                                     struct hx_samples *samples, uint32_t rounds) {
    struct hx_estimate estimate = {.cycles = NAN};
    double chain = ticks_per_unit(&references->chain, samples->reference_shorter, samples->reference_longer,
                                  rounds, samples->reference_iterations) /
                   references->chain.forms_per_unit;
    double sentinel = ticks_per_unit(&references->sentinel, samples->sentinel_shorter,
                                     samples->sentinel_longer, rounds, samples->sentinel_iterations) /
                      references->sentinel.forms_per_unit;
    /* hx_median left the arrays sorted. */
    double low = hx_quantile(samples->reference_longer, rounds, 0.25);
    double high = hx_quantile(samples->reference_longer, rounds, 0.75);
    double middle = hx_quantile(samples->reference_longer, rounds, 0.5);
    estimate.clock_moved = !(chain > 0.0) || !(high - low <= CHAIN_QUARTILES_MAX * middle);
    estimate.ticks_per_cycle = chain;
    estimate.sentinel_cycles = chain > 0.0 ? sentinel / chain : NAN;
    if (kernel != NULL) {
        double unit = ticks_per_unit(kernel, samples->shorter, samples->longer, rounds, samples->iterations);
        estimate.cycles = chain > 0.0 ? unit / chain / kernel->forms_per_unit : NAN;
    }
    return estimate;
}

void hx_tally_add(struct hx_tally *tally, const struct hx_estimate *estimate, bool accepted) {
    tally->taken++;
    if (accepted && tally->accepted < HX_BATCHES_MAX) {
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

bool hx_tally_settle(const struct hx_tally *tally, const struct hx_plan *plan, struct hx_stat *stat) {
    memset(stat, 0, sizeof *stat);
    stat->cycles = stat->low = stat->high = stat->spread = NAN;
    stat->ticks_per_cycle = tally->ticks_per_cycle;
    stat->sentinel_cycles = tally->sentinel_cycles;
    stat->batches = tally->accepted;
    stat->retakes = tally->taken - tally->accepted;
    if (tally->accepted < plan->min_batches) {
        stat->verdict = HX_VERDICT_DISTURBED;
        (void)snprintf(
            stat->why, sizeof stat->why,
            "disturbed: %u of %u batches were void (another thread on this core, or a moving clock)",
            stat->retakes, tally->taken);
        return false;
    }
    double sorted[HX_BATCHES_MAX];
    memcpy(sorted, tally->cycles, tally->accepted * sizeof sorted[0]);
    hx_sort(sorted, tally->accepted);
    uint32_t window = (tally->accepted + 1) / 2;
    if (window < plan->min_batches) {
        window = plan->min_batches;
    }
    uint32_t best = 0;
    for (uint32_t i = 1; i + window <= tally->accepted; i++) {
        if (sorted[i + window - 1] - sorted[i] < sorted[best + window - 1] - sorted[best]) {
            best = i;
        }
    }
    stat->low = sorted[best];
    stat->high = sorted[best + window - 1];
    stat->cycles = hx_quantile(sorted + best, window, 0.5);
    stat->spread = spread_of(stat->low, stat->high, stat->cycles);
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
