/* SPDX-License-Identifier: Apache-2.0 */
/* harness/judge.h - what a batch is worth: did anybody disturb the kernel, or what ran beside it?
 * docs/method.md, "Sentinels". Internal to harness/. */
#ifndef ISAPROBE_HARNESS_JUDGE_H
#define ISAPROBE_HARNESS_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/estimate.h"
#include "harness/meter.h"

/* What a batch says of the kernel, with its sentinel's cycles as of NOPs, whatever ran in their place: all
 * are compared with what is undisturbed. */
struct hx_estimate hx_judge_estimate(const struct hx_bench *bench, const struct gen_kernel *kernel,
                                     const struct hx_samples *samples, uint32_t rounds);

/* What its sentinel took may be less than ever before: then the bench learns that. */
void hx_judge_learn(struct hx_bench *bench, const struct gen_kernel *kernel,
                    const struct hx_estimate *estimate);

/* Did nobody disturb this batch, as far as one can see? */
bool hx_judge_is_calm(const struct hx_bench *bench, const struct gen_kernel *kernel,
                      const struct hx_estimate *estimate);

/* Or is the kernel itself one that runs now faster, now slower? Then its sentinel alone can say. */
bool hx_judge_is_accepted(const struct hx_bench *bench, const struct gen_kernel *kernel,
                          const struct hx_estimate *estimate);

enum hx_batch hx_judge_worth(const struct hx_bench *bench, const struct gen_kernel *kernel,
                             const struct hx_estimate *estimate);

/* Did somebody disturb what ran beside the kernel, too? */
bool hx_judge_beside_disturbed(const struct hx_bench *bench, const struct gen_kernel *kernel,
                               const struct hx_estimate *estimate);

#endif
