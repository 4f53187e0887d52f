/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge.h"

#include <math.h>

#include "harness/undisturbed.h"

static bool is_within(double value, double of, double less, double more) {
    return value >= of * (1.0 - less) && value <= of * (1.0 + more);
}

struct hx_estimate hx_judge_estimate(const struct hx_bench *bench, const struct gen_kernel *kernel,
                                     const struct hx_samples *samples, uint32_t rounds) {
    struct hx_estimate estimate = hx_estimate_batch(kernel, &bench->references, samples, rounds);
    enum hx_sentinel sentinel = hx_references_sentinel(&bench->references, kernel);
    estimate.clock_moved =
        estimate.clock_moved || hx_ruler_is_slowed(&bench->ruler, estimate.ticks_per_cycle);
    if (sentinel != HX_SENTINEL_NOPS) { /* they are told even where what they take undisturbed is not known */
        estimate.sentinel_cycles *= bench->sentinel_cycles / hx_undisturbed_known(bench, sentinel);
    }
    return estimate;
}

/* From the longer loop as well: where something slows the shorter one, the difference is too small for as
 * long as that lasts. (A Zen 5 seemed to issue nine NOPs a cycle, and whatever ran beside eight was void.) Of
 * a round through memory the call would be too large a part. */
void hx_judge_learn(struct hx_bench *bench, const struct gen_kernel *kernel,
                    const struct hx_estimate *estimate) {
    enum hx_sentinel sentinel = hx_references_sentinel(&bench->references, kernel);
    double scale = hx_undisturbed_known(bench, sentinel) / bench->sentinel_cycles;
    double least = sentinel == HX_SENTINEL_FORWARDS ? 0.0 : estimate->sentinel_bound;
    if (hx_chain_is_sound(bench, estimate)) {
        hx_undisturbed_learn(bench, sentinel, fmax(estimate->sentinel_cycles * scale, least));
    }
}

/* How far what ran beside the kernel may be from what it takes undisturbed, as a part of that. */
struct tolerance {
    double less, more;
};

/* A batch is void when its sentinel took longer, or less long, than undisturbed by more than this. Where the
 * kernel's own samples lie close together, NOPs have little to add: they have slow modes of their own. */
static const struct tolerance SENTINEL_CALM = {0.10, 0.10}, SENTINEL_STRICT = {0.02, 0.03};
/* A round of eleven cycles through memory takes up to one more beside a neighbour, at a bad moment for so
 * long that it is taken for what it takes undisturbed. */
static const struct tolerance FORWARDS_CALM = {0.12, 0.04};

/* NOPs that come from the decoders instead of the micro-op cache take 6 % longer without anybody: what the
 * calibration found is as good as the issue width that it stands for. */
static bool sentinel_within(const struct hx_bench *bench, const struct gen_kernel *kernel,
                            const struct hx_estimate *estimate, struct tolerance by) {
    bool nops = hx_references_sentinel(&bench->references, kernel) == HX_SENTINEL_NOPS;
    return is_within(estimate->sentinel_cycles, bench->sentinel_cycles, by.less, by.more) ||
           (nops && is_within(estimate->sentinel_cycles, bench->sentinel_calibrated, by.less, by.more));
}

/* Is what ran beside the kernel as it is when nobody disturbs it? */
static bool sentinel_is_calm(const struct hx_bench *bench, const struct gen_kernel *kernel,
                             const struct hx_estimate *estimate) {
    bool forwards = hx_references_sentinel(&bench->references, kernel) == HX_SENTINEL_FORWARDS;
    return sentinel_within(bench, kernel, estimate,
                           forwards              ? FORWARDS_CALM
                           : kernel->fills_issue ? SENTINEL_STRICT
                                                 : SENTINEL_CALM);
}

/* Do its own samples show nobody who disturbed this batch? */
static bool samples_are_calm(const struct hx_bench *bench, const struct hx_estimate *estimate) {
    return !bench->sentinel_suspect && !estimate->clock_moved && estimate->unrest <= HX_UNREST_MAX;
}

bool hx_judge_is_calm(const struct hx_bench *bench, const struct gen_kernel *kernel,
                      const struct hx_estimate *estimate) {
    return samples_are_calm(bench, estimate) && sentinel_is_calm(bench, kernel, estimate);
}

bool hx_judge_is_accepted(const struct hx_bench *bench, const struct gen_kernel *kernel,
                          const struct hx_estimate *estimate) {
    return hx_judge_is_calm(bench, kernel, estimate) ||
           (!bench->sentinel_suspect && !estimate->clock_moved &&
            sentinel_within(bench, kernel, estimate, SENTINEL_STRICT));
}

/* A neighbour takes issue slots and ports, which is what NOPs and loads show; a chain of which hardly ever
 * two instructions run at once needs few of either. What its values find in memory is another matter. */
static bool batch_is_quiet(const struct hx_bench *bench, const struct gen_kernel *kernel,
                           const struct hx_estimate *estimate) {
    return kernel->chain && !kernel->forwards && samples_are_calm(bench, estimate) &&
           estimate->cycles * kernel->forms_per_unit >= kernel->unit_instructions;
}

enum hx_batch hx_judge_worth(const struct hx_bench *bench, const struct gen_kernel *kernel,
                             const struct hx_estimate *estimate) {
    return hx_judge_is_accepted(bench, kernel, estimate) ? HX_BATCH_ACCEPTED
           : batch_is_quiet(bench, kernel, estimate)     ? HX_BATCH_QUIET
                                                         : HX_BATCH_VOID;
}

bool hx_judge_beside_disturbed(const struct hx_bench *bench, const struct gen_kernel *kernel,
                               const struct hx_estimate *estimate) {
    return estimate->clock_moved || !sentinel_within(bench, kernel, estimate, SENTINEL_CALM);
}
