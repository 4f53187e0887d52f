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
    references.chain.forms_per_unit = kernel.forms_per_unit = 1;
    references.chain.shorter.copies = CHAIN;
    references.chain.longer.copies = 2 * CHAIN;
    references.sentinels[HX_SENTINEL_NOPS] = references.chain;
    kernel.shorter.copies = COPIES;
    kernel.longer.copies = 2 * COPIES;
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_coarse_clock_is_averaged_over)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
