/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of the ways between register files. What a store says of the forms between is tested by
 * tests/cli/predict.sh and export_transfer.sh. */
#include "results/transfer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Forms that were asked for before: there is no store. */
static double transferred(const char *via, double bound) {
    struct res_transfers known = {
        .items = {{"movd r32, xmm", 2.0}, {"movd xmm, r32", 3.0}, {"cmovb r64, r64", 0.0}}, .count = 3};
    double cycles = NAN;
    struct ip_error err = {0};
    assert_int_equal(res_transfer_cycles(NULL, &known, via, bound, &cycles, &err), IP_OK);
    return cycles;
}

static void test_there_and_back(void **state) {
    (void)state;
    assert_true(transferred("movd r32, xmm", 6.0) + transferred("movd xmm, r32", 6.0) == 7.0);
    assert_true(transferred("cmovb r64, r64 + movd xmm, r32", 7.0) == 4.0);
    assert_true(transferred("movd r32, xmm + movd xmm, r32", 9.0) == 4.0);
    assert_true(transferred("7 x vorps xmm, xmm, xmm + movd r32, xmm", 11.0) == 9.0);
}

static void test_ends(void **state) {
    (void)state;
    assert_true(transferred("movd r32, xmm", 2.5) == 1.0); /* it takes a cycle */
    assert_true(transferred("movd r32, xmm", 0.5) == 0.5);
    assert_true(transferred("", 8.0) == 8.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
