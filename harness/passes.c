/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/passes.h"

#include <math.h>
#include <stdio.h>

/* Two passes that are nearer than this say the same. */
static const double PASSES_AGREE = 0.01;

/* Two passes are no nearer than the batches of each: noise is no slow mode, and its best would be too good.
 */
static bool passes_agree(const struct hx_stat *a, const struct hx_stat *b) {
    double near = fmax(PASSES_AGREE, 0.5 * (a->spread + b->spread));
    return a->verdict == HX_VERDICT_OK && b->verdict == HX_VERDICT_OK &&
           fabs(a->cycles - b->cycles) <= near * fmin(a->cycles, b->cycles);
}

static const struct hx_stat *pass_at(const struct hx_passes *passes, size_t number) {
    return passes->first + number * passes->stride;
}

/* The fastest two that agree. Returns false where none do. */
static bool passes_pair(const struct hx_passes *passes, const struct hx_stat *pair[2]) {
    double least = INFINITY;
    for (size_t i = 0; i < passes->count; i++) {
        for (size_t j = i + 1; j < passes->count; j++) {
            const struct hx_stat *a = pass_at(passes, i), *b = pass_at(passes, j);
            if (passes_agree(a, b) && a->cycles + b->cycles < least) {
                least = a->cycles + b->cycles;
                pair[0] = a;
                pair[1] = b;
            }
        }
    }
    return isfinite(least);
}

/* The best that one pass alone says: steady before unsteady, then the fastest. */
static const struct hx_stat *passes_best(const struct hx_passes *passes) {
    const struct hx_stat *best = passes->first;
    for (size_t i = 1; i < passes->count; i++) {
        const struct hx_stat *other = pass_at(passes, i);
        bool ok = best->verdict == HX_VERDICT_OK, other_ok = other->verdict == HX_VERDICT_OK;
        if (other->verdict != HX_VERDICT_FAULT &&
            (ok != other_ok ? other_ok : other->cycles < best->cycles || isnan(best->cycles))) {
            best = other;
        }
    }
    return best;
}

/* How far the nearest other steady pass is from `best`, relative to it; 0: there is none. */
static double passes_distance(const struct hx_passes *passes, const struct hx_stat *best) {
    double nearest = INFINITY;
    for (size_t i = 0; i < passes->count; i++) {
        const struct hx_stat *other = pass_at(passes, i);
        if (other != best && other->verdict == HX_VERDICT_OK && best->verdict == HX_VERDICT_OK) {
            nearest = fmin(nearest, fabs(other->cycles - best->cycles) / best->cycles);
        }
    }
    return isfinite(nearest) ? nearest : 0.0;
}

void hx_passes_settle(const struct hx_passes *passes, const struct hx_plan *plan, struct hx_stat *stat) {
    const struct hx_stat *pair[2];
    if (passes->first->verdict == HX_VERDICT_FAULT) {
        *stat = *passes->first; /* the first fault is as good as any */
        return;
    }
    if (passes_pair(passes, pair)) {
        *stat = *pair[0];
        stat->cycles = 0.5 * (pair[0]->cycles + pair[1]->cycles);
        stat->low = fmin(pair[0]->low, pair[1]->low);
        stat->high = fmax(pair[0]->high, pair[1]->high);
        stat->spread = fmax(pair[0]->spread, pair[1]->spread);
    } else {
        const struct hx_stat *best = passes_best(passes);
        *stat = *best;
        double distance = passes_distance(passes, best);
        stat->spread = fmax(stat->spread, distance);
        if (stat->verdict == HX_VERDICT_OK && stat->spread > plan->trust_limit) {
            stat->verdict = HX_VERDICT_UNSTABLE;
            (void)snprintf(stat->why, sizeof stat->why,
                           "unstable: of %zu passes no two agree, the nearest to the least is %.0f %% off",
                           passes->count, 100.0 * distance);
        }
    }
    stat->batches = stat->retakes = 0;
    for (size_t i = 0; i < passes->count; i++) {
        stat->batches += pass_at(passes, i)->batches;
        stat->retakes += pass_at(passes, i)->retakes;
    }
}

bool hx_passes_dispute(const struct hx_passes *passes) {
    const struct hx_stat *pair[2];
    size_t steady = 0;
    for (size_t i = 0; i < passes->count; i++) {
        steady += pass_at(passes, i)->verdict == HX_VERDICT_OK;
    }
    return steady > 1 && !passes_pair(passes, pair);
}
