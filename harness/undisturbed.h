/* SPDX-License-Identifier: Apache-2.0 */
/* harness/undisturbed.h - what a sentinel takes when nobody disturbs it: a whole number of cycles a round, or
 * of rounds a cycle. A neighbour makes it longer, never shorter, so that whatever is shorter is nearer to it.
 * docs/method.md, "Sentinels". */
#ifndef ISAPROBE_HARNESS_UNDISTURBED_H
#define ISAPROBE_HARNESS_UNDISTURBED_H

#include <stdbool.h>

#include "harness/estimate.h"
#include "harness/meter.h"

/* `cycles`, measured, as what an undisturbed sentinel can take; NaN: none takes that. */
double hx_undisturbed(enum hx_sentinel sentinel, double cycles);

/* The same of what batches agree on (NaN: on nothing) and the least of many short runs (harness/floor.h; NaN:
 * not known). Beside a neighbour who stays batches may agree on half as many loads a cycle, and short runs
 * that were clearly faster say how many there are. NOPs are believed only if both say the same, or if short
 * ones take what an issue width does. */
double hx_undisturbed_settled(enum hx_sentinel sentinel, double agreed, double least);

/* What the bench thinks that it takes undisturbed; NaN: not known. */
double hx_undisturbed_known(const struct hx_bench *bench, enum hx_sentinel sentinel);

/* Does the chain of the batch take the least that a calibration found? Beside one that somebody slows all
 * else looks short. (So it does, harmlessly, where the clock is now a slower one.) */
bool hx_chain_is_sound(const struct hx_bench *bench, const struct hx_estimate *estimate);

/* Beside a batch with a sound chain the sentinel took so many cycles. Where the bench was calibrated at a bad
 * moment many batches say so once that is over, and what undisturbed means is put right. */
void hx_undisturbed_learn(struct hx_bench *bench, enum hx_sentinel sentinel, double cycles);

#endif
