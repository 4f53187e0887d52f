/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of common/random: the published sequence, and the ranges. */
#include "common/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The reference implementation's first outputs for the seed 1234567. */
static void test_known_sequence(void **state) {
    (void)state;
    struct ip_random random = {1234567};
    assert_true(ip_random_next(&random) == UINT64_C(6457827717110365317));
    assert_true(ip_random_next(&random) == UINT64_C(3203168211198807973));
    assert_true(ip_random_next(&random) == UINT64_C(9817491932198370423));
}

static void test_ranges(void **state) {
    (void)state;
    struct ip_random random = {42};
    double sum = 0;
    unsigned seen[7] = {0};
    for (int i = 0; i < 7000; i++) {
        double unit = ip_random_unit(&random);
        assert_true(unit >= 0 && unit < 1);
        sum += unit;
        uint64_t below = ip_random_below(&random, 7);
        assert_true(below < 7);
        seen[below]++;
    }
    assert_true(sum / 7000 > 0.48 && sum / 7000 < 0.52);
    for (int i = 0; i < 7; i++) {
        assert_true(seen[i] > 850 && seen[i] < 1150);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_sequence),
        cmocka_unit_test(test_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
