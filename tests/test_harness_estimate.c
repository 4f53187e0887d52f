/* SPDX-License-Identifier: Apache-2.0 */
/* From the samples of one batch to cycles, where the samples are reckoned and their truth is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "harness/estimate.h"

/* What a clock that advances in steps shows of runs that take `ticks`, each begun somewhat later than the one
 * before, as the measuring process begins them. */
static void coarse_samples(double *samples, uint32_t rounds, double ticks, double step, double *phase) {
    for (uint32_t i = 0; i < rounds; i++) {
        *phase = fmod(*phase + 0.6180339887498949, 1.0);
        double begin = *phase * step;
        samples[i] = floor((begin + ticks) / step) * step;
    }
}

/* A loop of so many instances, and one of twice as many. */
static void lengths_set(struct gen_kernel *kernel, uint32_t copies) {
    kernel->forms_per_unit = 1;
    kernel->shorter.copies = copies;
    kernel->longer.copies = 2 * copies;
}

/* A step is 1.2 % of what the two lengths differ by: no single sample, and no quantile, is nearer. */
static void a_coarse_clock_is_averaged_over(void **state) {
    (void)state;
    enum { ITERATIONS = 60, CHAIN = 48, COPIES = 16, LATENCY = 3 };
    const double per_cycle = 26.0 / 37.0, step = 26.0, call = 163.0;
    static double values[HX_SAMPLE_ROWS * HX_ROUNDS_MAX];
    static struct hx_references references;
    static struct gen_kernel kernel;
    const uint32_t rounds = 44;
    double worst = 0.0, phase = 0.0;
    references.clock_step = step;
    lengths_set(&references.chain, CHAIN);
    lengths_set(&kernel, COPIES);
    references.sentinels[HX_SENTINEL_NOPS] = references.chain;
    for (unsigned extra = 0; extra < 40; extra++) { /* cycles of the call: all places within a step */
        struct hx_samples samples = {
            .iterations = ITERATIONS, .reference_iterations = ITERATIONS, .sentinel_iterations = ITERATIONS};
        hx_samples_place(&samples, values, rounds);
        double *const rows[2][3] = {
            {samples.reference_shorter, samples.sentinel_shorter, samples.shorter},
            {samples.reference_longer, samples.sentinel_longer, samples.longer},
        };
        for (unsigned length = 0; length < 2; length++) {
            for (unsigned row = 0; row < 3; row++) {
                double cycles = (length + 1.0) * ITERATIONS * (row < 2 ? CHAIN : COPIES * LATENCY);
                coarse_samples(rows[length][row], rounds, (cycles + call + extra) * per_cycle, step, &phase);
            }
        }
        struct hx_estimate estimate = hx_estimate_batch(&kernel, &references, &samples, rounds);
        worst = fmax(worst, fabs(estimate.cycles / LATENCY - 1.0));
        worst = fmax(worst, fabs(estimate.ticks_per_cycle / per_cycle - 1.0));
    }
    assert_true(worst < 0.002);
}

/* How far apart the lengths of a loop of 48 and 96 instances are of which eight take a cycle, where each pass
 * takes so many cycles more. */
static double gap_of(double shorter_more, double longer_more) {
    enum { ITERATIONS = 500, CHAIN = 48, COPIES = 48, ROUNDS = 11 };
    const double call = 100.0;
    static double values[HX_SAMPLE_ROWS * ROUNDS];
    static struct hx_references references;
    static struct gen_kernel kernel;
    lengths_set(&references.chain, CHAIN);
    lengths_set(&kernel, COPIES);
    references.sentinels[HX_SENTINEL_NOPS] = references.chain;
    struct hx_samples samples = {
        .iterations = ITERATIONS, .reference_iterations = ITERATIONS, .sentinel_iterations = ITERATIONS};
    hx_samples_place(&samples, values, ROUNDS);
    for (unsigned i = 0; i < ROUNDS; i++) {
        samples.reference_shorter[i] = samples.sentinel_shorter[i] = call + ITERATIONS * CHAIN;
        samples.reference_longer[i] = samples.sentinel_longer[i] = call + 2 * ITERATIONS * CHAIN;
        samples.shorter[i] = call + ITERATIONS * (COPIES / 8.0 + shorter_more);
        samples.longer[i] = call + ITERATIONS * (COPIES / 4.0 + longer_more);
    }
    return hx_estimate_batch(&kernel, &references, &samples, ROUNDS).gap;
}

/* A cycle lost at the end of each pass makes no difference; one that only one length loses does, and more
 * than one are no loop's end. */
static void a_loop_may_lose_a_cycle(void **state) {
    (void)state;
    const double agree = 0.015, disagree = 0.06;
    assert_true(fabs(gap_of(0, 0)) < agree);
    assert_true(fabs(gap_of(1, 1)) < agree);
    assert_true(fabs(gap_of(1, 0)) > disagree);
    assert_true(fabs(gap_of(0, 1)) > disagree);
    assert_true(fabs(gap_of(2, 2)) > disagree);
    assert_true(fabs(gap_of(2, 1)) > disagree);
}

/* Batches of `cycles`, each longer than the one before by `drift`, whose lengths are `gap` apart, and each
 * more than the one before by `change`. Returns how many a plan took until it was settled, or its most. */
static uint32_t batches_taken(const struct hx_plan *plan, double drift, double gap, double change,
                              struct hx_stat *stat) {
    struct hx_tally tally = {0};
    for (uint32_t i = 0; i < plan->max_batches; i++) {
        struct hx_estimate estimate = {.cycles = 4.0 + drift * i, .gap = gap + change * i};
        hx_tally_add(&tally, &estimate, HX_BATCH_ACCEPTED);
        if (hx_tally_settle(&tally, plan, stat)) {
            return i + 1;
        }
    }
    return plan->max_batches;
}

static void a_steady_gap_needs_one_batch_more(void **state) {
    (void)state;
    struct hx_plan plan;
    struct hx_stat stat;
    hx_plan_init(&plan);
    assert_int_equal(batches_taken(&plan, 0.0, 0.0, 0.0, &stat), plan.min_batches);
    assert_true(stat.spread <= plan.spread_limit);
    assert_int_equal(batches_taken(&plan, 0.0, 0.02, 0.0, &stat), plan.min_batches + 1);
    assert_int_equal(stat.verdict, HX_VERDICT_OK);
    assert_true(fabs(stat.spread - 0.02) < 1e-9);
    /* Not where it is more than is trusted, nor where it or the cycles change. */
    assert_int_equal(batches_taken(&plan, 0.0, 0.05, 0.0, &stat), plan.max_batches);
    assert_int_equal(stat.verdict, HX_VERDICT_UNSTABLE);
    assert_string_equal(stat.why, "unstable: its shorter and its longer loop disagree by 5 % (4.000 cycles)");
    assert_int_equal(batches_taken(&plan, 0.0, 0.016, 0.003, &stat), plan.max_batches);
    assert_int_equal(batches_taken(&plan, 0.02, 0.016, 0.0, &stat), plan.max_batches);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_coarse_clock_is_averaged_over),
                                       cmocka_unit_test(a_loop_may_lose_a_cycle),
                                       cmocka_unit_test(a_steady_gap_needs_one_batch_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
