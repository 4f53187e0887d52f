/* SPDX-License-Identifier: Apache-2.0 */
/* What the times of a few kernels say together; the first ones of each test are those of a Zen 4. */
#include "probe/core_readings.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct probe_commit commit(double at_8, double at_16, double at_32, double at_64, double row,
                                  double read) {
    return probe_commit_read((const double[]){at_8, at_16, at_32, at_64, row, read});
}

static void test_commit(void **state) {
    (void)state;
    struct probe_commit found = commit(1.34, 1.32, 2.0, 2.0, 2.0, 2.0);
    assert_true(found.pair_bytes == 32 && found.row == 1 && found.read == 1);
    found = commit(1.0, 1.0, 2.0, 2.0, 3.0, 1.0);
    assert_true(found.pair_bytes == 32 && found.row == 0 && found.read == 0);
    found = commit(1.0, 1.0, 1.0, 2.0, 2.0, 1.0); /* whole lines: a row of 32 bytes says nothing */
    assert_true(found.pair_bytes == 64 && isnan(found.row) && found.read == 0);
    found = commit(1.0, 1.0, 1.0, 1.0, 2.0, 1.0); /* wherever they go */
    assert_true(found.pair_bytes == 0 && isnan(found.row) && found.read == 0);
    found = commit(1.0, 1.0, 1.0, NAN, 2.0, 1.0);
    assert_true(found.pair_bytes == 64);
    found = commit(1.0, 1.0, 2.0, 1.0, 3.0, 1.0); /* noise */
    assert_true(found.pair_bytes == 32);
    found = commit(1.0, 2.0, 2.0, 2.0, 4.0, 2.0);
    assert_true(found.pair_bytes == 16 && isnan(found.row) && found.read == 1);
    found = commit(2.0, 2.0, 2.0, 2.0, 4.0, 2.0); /* one store a cycle */
    assert_true(isnan(found.pair_bytes) && isnan(found.row) && isnan(found.read));
    found = commit(1.0, NAN, 2.0, 2.0, 2.0, 2.0);
    assert_true(isnan(found.pair_bytes));
    found = commit(1.0, 1.0, 2.0, 2.0, NAN, NAN);
    assert_true(found.pair_bytes == 32 && isnan(found.row) && isnan(found.read));
}

static void test_turns(void **state) {
    (void)state;
    assert_int_equal(probe_turns_read((const double[]){1.0, 1.5, 1.0}), PROBE_TURNS_YES);
    assert_int_equal(probe_turns_read((const double[]){1.0, 1.57, 1.68}), PROBE_TURNS_NO); /* by count */
    assert_int_equal(probe_turns_read((const double[]){1.0, 1.0, 1.0}),
                     PROBE_TURNS_NO); /* at the last moment */
    assert_int_equal(probe_turns_read((const double[]){1.0, 1.6, 1.2}), PROBE_TURNS_NO);
    assert_int_equal(probe_turns_read((const double[]){1.0, 1.2, 1.05}), PROBE_TURNS_NO);
    assert_int_equal(probe_turns_read((const double[]){0.8, 1.5, 1.0}), PROBE_TURNS_NOT_ASKED);
    assert_int_equal(probe_turns_read((const double[]){1.0, NAN, 1.0}), PROBE_TURNS_UNKNOWN);
}

static void test_forward(void **state) {
    (void)state;
    /* 4, 8, 12, 16, 24, 32, 48, 64, 96 and 128 pairs */
    struct probe_forward found =
        probe_forward_read((const double[]){1.0, 1.0, 1.0, 1.0, 1.01, 6.6, 7.1, 7.2, 7.4, 7.6});
    assert_true(found.other == 0 && fabs(found.long_code - 6.6) < 1e-9 && found.pairs == 24);
    /* Never learned, or learned whatever there is: nothing is remembered that could be counted. */
    found = probe_forward_read((const double[]){6, 6, 6, 6, 6, 6, 6, 6, 6, 6.1});
    assert_true(found.other == 5 && isnan(found.pairs));
    found = probe_forward_read((const double[]){0.98, 1, 1, 1, 1, 1, 1, 1, 1, 1});
    assert_true(found.other == 0 && found.long_code == 0 && isnan(found.pairs));
    assert_false(found.learns);
    /* What was not steady says nothing, nor is it known then what is remembered if it comes last. */
    found = probe_forward_read((const double[]){1, 1, 1, NAN, 1, 6, 7, 7, 7, 7});
    assert_true(found.pairs == 24 && found.learns);
    found = probe_forward_read((const double[]){1, 1, 1, 1, NAN, 6, 7, 7, 7, 7});
    assert_true(isnan(found.pairs) && found.learns);
    found = probe_forward_read((const double[]){1, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 7});
    assert_true(isnan(found.pairs) && found.learns);
    found = probe_forward_read((const double[]){1, 1, 1, 1, 1, 6, 7, 7, 7, NAN});
    assert_true(found.other == 0 && isnan(found.long_code) && isnan(found.pairs));
    found = probe_forward_read((const double[]){NAN, 1, 1, 1, 1, 6, 7, 7, 7, 7});
    assert_true(isnan(found.other) && found.long_code == 6 && isnan(found.pairs));
}

static void test_idiom(void **state) {
    (void)state;
    static const struct {
        struct probe_idiom idiom;
        bool is_free;
    } cases[] = {
        /* XOR on a Zen 5, of two and three bytes, eight slots: as fast as such NOPs. */
        {{.same = 0.151, .different = 0.194, .nops = 0.150, .executed = 0.194, .slot = 0.125}, true},
        {{.same = 0.135, .different = 0.194, .nops = 0.135, .executed = 0.194, .slot = 0.125}, true},
        {{.same = 0.151, .different = 0.194, .nops = 0.125, .executed = 0.194, .slot = 0.125}, true},
        {{.same = 0.167, .different = 0.194, .nops = 0.150, .executed = 0.194, .slot = 0.125}, false},
        /* VPXOR: six in a cycle, on four ports; VPCMPEQD waits for nothing, and takes one of them. */
        {{.same = 0.167, .different = 0.250, .nops = NAN, .executed = 0.250, .slot = 0.125}, true},
        {{.same = 0.250, .different = 0.250, .nops = NAN, .executed = 0.250, .slot = 0.125}, false},
        /* Of legacy SSE those with different registers wait for themselves, and say nothing. */
        {{.same = 0.167, .different = 0.440, .nops = NAN, .executed = 0.250, .slot = 0.125}, true},
        {{.same = 0.250, .different = 0.440, .nops = NAN, .executed = 0.250, .slot = 0.125}, false},
        {{.same = 0.167, .different = 0.440, .nops = NAN, .executed = NAN, .slot = 0.125}, false},
        /* As many ports as slots hide it; NOPs that share slots are no measure. */
        {{.same = 0.25, .different = 0.25, .nops = 0.25, .executed = 0.25, .slot = 0.25}, false},
        {{.same = 0.25, .different = 0.33, .nops = 0.125, .executed = 0.33, .slot = 0.25}, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (probe_idiom_is_free(&cases[i].idiom) != cases[i].is_free) {
            fail_msg("case %zu: %s", i, cases[i].is_free ? "takes no port" : "takes one");
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_commit), cmocka_unit_test(test_turns),
                                       cmocka_unit_test(test_forward), cmocka_unit_test(test_idiom)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
