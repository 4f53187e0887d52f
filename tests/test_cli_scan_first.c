/* SPDX-License-Identifier: Apache-2.0 */
/* What a scan keeps of its first pass: the less of both where both are trusted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/scan.h"

static struct probe_throughput throughput_of(double cycles, double spread, enum hx_verdict verdict) {
    return (struct probe_throughput){
        .measured = true, .cycles = cycles, .spread = spread, .verdict = verdict, .registers = 4};
}

static double throughput_after(const struct probe_throughput *before, struct probe_throughput now) {
    const struct scan_first first = {.throughput = *before};
    scan_first_use(&first, &now, NULL);
    return now.cycles;
}

static void less_throughput_counts(void **state) {
    (void)state;
    const struct probe_throughput half = throughput_of(0.5, 0.01, HX_VERDICT_OK);
    assert_true(throughput_after(&half, throughput_of(0.55, 0.01, HX_VERDICT_OK)) == 0.5);
    assert_true(throughput_after(&half, throughput_of(0.45, 0.01, HX_VERDICT_OK)) == 0.45);
    /* What the second pass doubts it says itself. */
    assert_true(throughput_after(&half, throughput_of(0.55, 0.01, HX_VERDICT_UNSTABLE)) == 0.55);
}

static void doubtful_throughput_does_not(void **state) {
    (void)state;
    const struct probe_throughput now = throughput_of(0.55, 0.01, HX_VERDICT_OK);
    const struct probe_throughput none = {0}, wide = throughput_of(0.5, 0.03, HX_VERDICT_OK);
    const struct probe_throughput disturbed = throughput_of(0.5, 0.01, HX_VERDICT_DISTURBED);
    assert_true(throughput_after(&none, now) == 0.55);
    assert_true(throughput_after(&wide, now) == 0.55);
    assert_true(throughput_after(&disturbed, now) == 0.55);
}

static struct probe_latency_pair pair_of(enum probe_path path, double cycles) {
    return (struct probe_latency_pair){
        .src = 1, .path = path, .measured = true, .cycles = cycles, .verdict = HX_VERDICT_OK};
}

enum { PAIRS = 4 };

/* What a scan keeps of these pairs, found in this order. */
static void expect_latencies(struct probe_latency_pair before[PAIRS], struct probe_latency_pair now[PAIRS],
                             const double cycles[PAIRS]) {
    const struct scan_first first = {.latency = {before, PAIRS}};
    struct probe_latency latency = {now, PAIRS};
    scan_first_use(&first, NULL, &latency);
    for (size_t i = 0; i < PAIRS; i++) {
        assert_true(now[i].cycles == cycles[i]);
    }
}

/* What both trust and is not the same is known to that only. */
static void throughputs_apart_are_spread(void **state) {
    (void)state;
    const struct scan_first first = {.throughput = throughput_of(0.5, 0.01, HX_VERDICT_OK)};
    struct probe_throughput now = throughput_of(0.55, 0.002, HX_VERDICT_OK);
    scan_first_use(&first, &now, NULL);
    assert_true(now.cycles == 0.5);
    assert_float_equal(now.spread, 0.1, 1e-9);
    now = throughput_of(0.4, 0.002, HX_VERDICT_OK);
    scan_first_use(&first, &now, NULL);
    assert_true(now.cycles == 0.4);
    assert_float_equal(now.spread, 0.25, 1e-9);
}

/* Only contents of memory have slow rhythms; of all else the second, more careful pass is right. */
static void less_latency_of_contents_counts(void **state) {
    (void)state;
    struct probe_latency_pair before[] = {pair_of(PROBE_PATH_CONTENT, 5), pair_of(PROBE_PATH_REGISTER, 5),
                                          pair_of(PROBE_PATH_CONTENT, 5), pair_of(PROBE_PATH_CONTENT, 5)};
    struct probe_latency_pair now[] = {pair_of(PROBE_PATH_CONTENT, 6), pair_of(PROBE_PATH_REGISTER, 6),
                                       pair_of(PROBE_PATH_CONTENT, 6), pair_of(PROBE_PATH_CONTENT, 4)};
    before[2].upper_bound = true; /* another kind of answer */
    expect_latencies(before, now, (const double[]){5, 6, 6, 4});
}

/* ... and of those that a bound is not told for, the one that is nearer to a whole number; a bound is the
 * less.
 */
static void whole_latency_of_contents_counts(void **state) {
    (void)state;
    struct probe_latency_pair before[] = {pair_of(PROBE_PATH_CONTENT, 6.3), pair_of(PROBE_PATH_CONTENT, 7.1),
                                          pair_of(PROBE_PATH_CONTENT, 9.0), pair_of(PROBE_PATH_CONTENT, 6.3)};
    struct probe_latency_pair now[] = {pair_of(PROBE_PATH_CONTENT, 7.1), pair_of(PROBE_PATH_CONTENT, 6.3),
                                       pair_of(PROBE_PATH_CONTENT, 7.4), pair_of(PROBE_PATH_CONTENT, 7.1)};
    before[3].upper_bound = now[3].upper_bound = true;
    expect_latencies(before, now, (const double[]){7.1, 7.1, 7.4, 6.3});
}

/* Of registers and flags, within a cycle what is nearer to a whole number counts; and what a guess of the CPU
 * made long now and then is not. */
static void latency_of_registers(void **state) {
    (void)state;
    const enum probe_path path = PROBE_PATH_REGISTER;
    struct probe_latency_pair before[] = {pair_of(path, 2.0), pair_of(path, 1.3), pair_of(path, 1.02),
                                          pair_of(path, 1.02)};
    struct probe_latency_pair now[] = {pair_of(path, 1.3), pair_of(path, 2.0), pair_of(path, 32.1),
                                       pair_of(path, 7.1)};
    expect_latencies(before, now, (const double[]){2.0, 2.0, 1.02, 7.1});
}

static void long_latencies_must_agree(void **state) {
    (void)state;
    struct probe_latency_pair before[] = {pair_of(PROBE_PATH_ADDRESS, 1100), pair_of(PROBE_PATH_ADDRESS, 100),
                                          pair_of(PROBE_PATH_CONTENT, 32), pair_of(PROBE_PATH_ADDRESS, 20)};
    struct probe_latency_pair now[] = {pair_of(PROBE_PATH_ADDRESS, 1200), pair_of(PROBE_PATH_ADDRESS, 102),
                                       pair_of(PROBE_PATH_CONTENT, 30), pair_of(PROBE_PATH_ADDRESS, 22)};
    expect_latencies(before, now, (const double[]){1200, 102, 30, 22});
    assert_int_equal(now[0].verdict, HX_VERDICT_UNSTABLE);
    assert_string_equal(now[0].why, "unstable: one process measured 1100.0 cycles, another 1200.0");
    for (size_t i = 1; i < PAIRS; i++) {
        assert_int_equal(now[i].verdict, HX_VERDICT_OK);
    }
}

static void forms_come_in_turn(void **state) {
    (void)state;
    struct isa_form forms[3];
    memset(forms, 0, sizeof forms);
    struct scan scan = {.first = calloc(2, sizeof(struct scan_first))};
    assert_non_null(scan.first);
    const struct probe_throughput throughput = throughput_of(2, 0, HX_VERDICT_OK);
    struct probe_latency latency = {calloc(1, sizeof(struct probe_latency_pair)), 1};
    scan_first_keep(&scan, &forms[0], &throughput, NULL);
    scan_first_keep(&scan, &forms[2], NULL, &latency);
    assert_null(latency.pairs); /* taken over */
    assert_true(scan_first_find(&scan, &forms[0])->throughput.cycles == 2);
    assert_null(scan_first_find(&scan, &forms[1]));
    assert_int_equal(scan_first_find(&scan, &forms[2])->latency.count, 1);
    assert_null(scan_first_find(&scan, &forms[1])); /* there is no more */
    scan_first_fini(&scan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(less_throughput_counts),          cmocka_unit_test(doubtful_throughput_does_not),
        cmocka_unit_test(less_latency_of_contents_counts), cmocka_unit_test(whole_latency_of_contents_counts),
        cmocka_unit_test(throughputs_apart_are_spread),    cmocka_unit_test(latency_of_registers),
        cmocka_unit_test(long_latencies_must_agree),       cmocka_unit_test(forms_come_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
