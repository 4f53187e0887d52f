/* SPDX-License-Identifier: Apache-2.0 */
/* How far predictions are off: known answers, and what does not change them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/validate.h"
#include "common/random.h"
#include "tests/near.h"

static void test_known(void **state) {
    (void)state;
    /* Two of the six pairs are in the wrong order: tau = (4 - 2) / 6. Errors: 0, 50, 100 / 3, 0 per cent. */
    const double measured[] = {1, 2, 3, 4}, predicted[] = {1, 3, 2, 4}, wrong[] = {1, 4, 2, 3};
    struct cli_agreement a = cli_agreement_find(predicted, measured, 4);
    assert_int_equal(a.count, 4);
    assert_near(a.mape, (50.0 + 100.0 / 3.0) / 4.0, 1e-9);
    assert_near(a.bias, (50.0 - 100.0 / 3.0) / 4.0, 1e-9);
    assert_near(a.tau, 4.0 / 6.0, 1e-9);
    assert_near(a.tau_b, 4.0 / 6.0, 1e-9);
    assert_int_equal(a.histogram[0], 2);
    assert_int_equal(a.histogram[5], 2);
    a = cli_agreement_find(wrong, measured, 4);
    assert_near(a.tau_b, 2.0 / 6.0, 1e-9);
}

static void test_ties(void **state) {
    (void)state;
    /* One pair is predicted alike: it counts as neither. In tau-b it narrows the scale. */
    const double measured[] = {1, 2, 4}, predicted[] = {1, 3, 3};
    struct cli_agreement a = cli_agreement_find(predicted, measured, 3);
    assert_near(a.tau, 2.0 / 3.0, 1e-9);
    assert_near(a.tau_b, 2.0 / sqrt(2.0 * 3.0), 1e-9);
    /* Measurements within 2 % do not say which block is faster: only tau-b takes their order for one. */
    const double close[] = {1.00, 1.01, 2.00}, turned[] = {1.01, 1.00, 2.00};
    a = cli_agreement_find(turned, close, 3);
    assert_near(a.tau, 1.0, 1e-9);
    assert_near(a.tau_b, 1.0 / 3.0, 1e-9);
}

static void test_gaps(void **state) {
    (void)state;
    const double measured[] = {1, NAN, 2, 0, 3}, predicted[] = {1, 5, 2, 5, NAN};
    struct cli_agreement a = cli_agreement_find(predicted, measured, 5);
    assert_int_equal(a.count, 2);
    assert_near(a.mape, 0.0, 1e-9);
    a = cli_agreement_find(predicted, measured, 0);
    assert_int_equal(a.count, 0);
    assert_true(isnan(a.mape) && isnan(a.tau));
}

/* The order of the blocks does not matter, and scaling both sides neither. */
static void test_invariance(void **state) {
    (void)state;
    struct ip_random random = {.state = 11};
    double m[40], p[40], m2[40], p2[40];
    for (unsigned round = 0; round < 50; round++) {
        for (unsigned i = 0; i < 40; i++) {
            m[i] = 1.0 + (double)ip_random_below(&random, 30);
            p[i] = 1.0 + (double)ip_random_below(&random, 30);
            m2[39 - i] = 3.0 * m[i];
            p2[39 - i] = 3.0 * p[i];
        }
        struct cli_agreement a = cli_agreement_find(p, m, 40), b = cli_agreement_find(p2, m2, 40);
        assert_near(a.mape, b.mape, 1e-9);
        assert_near(a.tau, b.tau, 1e-9);
        assert_near(a.tau_b, b.tau_b, 1e-9);
        assert_true(fabs(a.tau) <= 1.0 && fabs(a.tau_b) <= 1.0);
    }
}

static void a_reading_that_is_too_low_alone_does_not_count(void **state) {
    (void)state;
    static const double low[] = {0.969, 1.004, 0.999}, apart[] = {1.0, 1.03, 1.06},
                        slow[] = {1.4, 1.41, 1.0, 1.005};
    assert_true(fabs(cli_readings_agreed(low, 3) - 1.0015) < 1e-9);
    assert_true(isnan(cli_readings_agreed(low, 2)));
    assert_true(isnan(cli_readings_agreed(apart, 3)));
    assert_true(isnan(cli_readings_agreed(low, 1)) && isnan(cli_readings_agreed(low, 0)));
    assert_true(fabs(cli_readings_agreed(slow, 4) - 1.0025) < 1e-9); /* a neighbour makes two slower */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_reading_that_is_too_low_alone_does_not_count),
                                       cmocka_unit_test(test_known), cmocka_unit_test(test_ties),
                                       cmocka_unit_test(test_gaps), cmocka_unit_test(test_invariance)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
