/* SPDX-License-Identifier: Apache-2.0 */
/* tests/near.h - assert_near(value, expected, tolerance): cmocka's assert_float_equal takes NaN for equal to
 * everything, and what was not measured is NaN here. assert_within(value, low, high), of integers: cmocka 1
 * and 2 have no common name for that. */
#ifndef ISAPROBE_TESTS_NEAR_H
#define ISAPROBE_TESTS_NEAR_H

#include <inttypes.h>
#include <math.h>
#include <stdint.h>

#define assert_near(value, expected, tolerance)                                                              \
    near_check((value), (expected), (tolerance), #value, __FILE__, __LINE__)

#define assert_within(value, low, high)                                                                      \
    within_check((intmax_t)(value), (intmax_t)(low), (intmax_t)(high), #value, __FILE__, __LINE__)

static inline void within_check(intmax_t value, intmax_t low, intmax_t high, const char *what,
                                const char *file, int line) {
    if (value < low || value > high) {
        print_error("%s:%d: %s is %" PRIdMAX ", not within %" PRIdMAX " to %" PRIdMAX "\n", file, line, what,
                    value, low, high);
        _fail(file, line);
    }
}

static inline void near_check(double value, double expected, double tolerance, const char *what,
                              const char *file, int line) {
    if (!(fabs(value - expected) <= tolerance)) {
        print_error("%s:%d: %s is %.17g, not %.17g within %g\n", file, line, what, value, expected,
                    tolerance);
        _fail(file, line);
    }
}

#endif
