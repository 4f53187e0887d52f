/* SPDX-License-Identifier: Apache-2.0 */
/* harness/estimate.h - from the samples of one batch to cycles, and from batches to a statistic. Pure;
 * docs/method.md, "Statistics". */
#ifndef ISAPROBE_HARNESS_ESTIMATE_H
#define ISAPROBE_HARNESS_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/meter.h"
#include "harness/timer.h"

/* What one batch says of one kernel. */
struct hx_estimate {
    double cycles;          /* core cycles per form */
    double ticks_per_cycle; /* of the bracketing chain */
    double sentinel_cycles; /* per NOP, load or round through memory */
    double sentinel_bound;  /* the same from its longer loop alone, call and all: it takes no more */
    double gap;             /* how far the two lengths disagree, relative: see below */
    double unrest;          /* how far the samples of one length lie apart, relative: see below */
    bool clock_moved;       /* the chain itself was unsteady during the batch: void */
};

/* gap: let t be what the difference of the lengths says, and b what the longer one alone says, its call's
 * overhead (known from the chain) taken off: b is an upper bound. A loop that was slowed by something that is
 * not its instructions (seen: a short loop that takes 16 instead of 12 cycles for milliseconds, while the
 * long one does not) makes t too small, and b - t large. gap = (b - t) / b.
 *
 * unrest: how far the median of the samples of a length lies above the least of them; of the two lengths the
 * larger. Nothing tells so well whether somebody else used the core: docs/method.md, "Sentinels". */

/* Batches with more unrest than this are believed only of kernels that have no others. */
#define HX_UNREST_MAX 0.012

/* Each sample in units of its round's chain, which is the clock; the low quartile of each length; then the
 * difference, free of overhead (Putigny 2014, 2.2.2, takes the best of one length). `kernel` NULL: only chain
 * and sentinel. rounds <= HX_ROUNDS_MAX. */
struct hx_estimate hx_estimate_batch(const struct gen_kernel *kernel, const struct hx_references *references,
                                     const struct hx_samples *samples, uint32_t rounds);

enum { HX_BATCHES_MAX = 64, HX_ROUNDS_MAX = 256 };

/* What a batch is worth. */
enum hx_batch {
    HX_BATCH_VOID,
    HX_BATCH_QUIET,    /* what ran beside it was disturbed, not it, as far as its own samples tell */
    HX_BATCH_ACCEPTED, /* nobody disturbed it */
};

/* The batches of one kernel so far. */
struct hx_tally {
    double cycles[HX_BATCHES_MAX], gap[HX_BATCHES_MAX], unrest[HX_BATCHES_MAX]; /* of accepted batches */
    double quiet_cycles[HX_BATCHES_MAX];                                        /* of quiet ones */
    uint32_t accepted, quiet;
    uint32_t taken; /* all of them */
    double ticks_per_cycle,
        sentinel_cycles; /* of the last accepted batch; of the last one while none is accepted */
};

void hx_tally_add(struct hx_tally *tally, const struct hx_estimate *estimate, enum hx_batch batch);

/* Considers the calm batches whose lengths agree; when there are too few of them after many batches, the
 * restless ones too; when all batches that the plan allows are taken and too few agree, or one more than the
 * plan demands are alike, gap and all, all of them, with the gap as part of the spread. Where too few are
 * accepted, one more than the plan demands of these and of quiet ones, if they agree. The narrowest window
 * that holds at least half of them, and at least min_batches: its median becomes `cycles`, its width the
 * spread. Returns true when that satisfies the plan; stat->verdict is then HX_VERDICT_OK. Otherwise verdict
 * and `why` say what to report if no more batches are taken. */
bool hx_tally_settle(const struct hx_tally *tally, const struct hx_plan *plan, struct hx_stat *stat);

#endif
