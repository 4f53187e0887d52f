/* SPDX-License-Identifier: Apache-2.0 */
/* What two sheets differ in: a store is no other than what an export of it can say. */
#include "tests/results_samples.h"

#include "results/compare.h"
#include "results/export.h"
#include "tests/sheet_rows.h"

static void pair_make(struct res_row *row, const char *src, double cycles, bool bound, double share) {
    struct res_sheet_pair *pair = res_row_pair_add(row);
    assert_non_null(pair);
    (void)snprintf(pair->src, sizeof pair->src, "%s", src);
    strcpy(pair->dst, "op1");
    strcpy(pair->path, "register");
    pair->cycles = cycles;
    pair->upper_bound = bound;
    pair->share = share;
}

/* Differences between rows of one form, either way round. */
static size_t differences(struct res_sheet *a, struct res_sheet *b) {
    const struct res_tolerance tolerance = {.relative = 0.05};
    struct res_comparison there = {0}, back = {0};
    struct ip_error err = {0};
    assert_int_equal(res_compare(a, b, tolerance, &there, &err), IP_OK);
    assert_int_equal(res_compare(b, a, tolerance, &back, &err), IP_OK);
    assert_int_equal(there.common, 1);
    assert_int_equal(there.count, back.count);
    const size_t count = there.count;
    res_comparison_fini(&there);
    res_comparison_fini(&back);
    return count;
}

/* A store with two latencies, of which one or both are bounds, beside a table of a range. */
static void test_ranges_of_bounds(void **state) {
    (void)state;
    static const struct {
        double first, second; /* of the store; the second is a bound */
        double share;
        double low, high; /* of the other */
        bool same;
    } cases[] = {
        {9.9384, 13.0653, 5.9533, 5.9533, 13.0653, true}, /* its least is a share, as MAQAO's */
        {9.9384, 13.0653, 5.9533, 9.9384, 13.0653, true},
        {9.9384, 13.0653, 5.9533, 7.5, 13.0653, false},  /* neither */
        {9.9384, 13.0653, 5.9533, 5.9533, 5.9533, true}, /* one number, as OSACA's */
        {9.9384, 13.0653, 5.9533, 4.9, 4.9, false},
        {10.9617, 8.0509, 5.0509, 5.0509, 5.0509, true}, /* the least is a bound: nobody is below */
        {10.9617, 8.0509, NAN, 5.0509, 5.0509, true},
        {10.9617, 8.0509, NAN, 12.0, 12.0, false},
        {3, 9, NAN, 2, 2, false},
        {3, 9, NAN, 3, 9, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct res_sheet store = {0}, other = {0};
        struct res_row *row = row_made(&store, "vptest xmm, m128");
        pair_make(row, "op1", cases[i].first, false, NAN);
        pair_make(row, "op2", cases[i].second, true, cases[i].share);
        res_row_range_find(row);
        row_made(&other, row->form)->latency =
            (struct res_sheet_range){.known = true, .low = cases[i].low, .high = cases[i].high};
        if ((differences(&store, &other) == 0) != cases[i].same) {
            fail_msg("case %zu is %s", i, cases[i].same ? "another" : "the same");
        }
        res_sheet_fini(&store);
        res_sheet_fini(&other);
    }
}

/* A file of whole latencies says no more than to which one rounds; another may not be off by as much. */
static void test_rounded_latencies(void **state) {
    (void)state;
    static const char rounded[] =
        "{\n  \"PHADDSWrr\": {\"SchedReads\": [], \"SchedWrites\": [], \"Latency\": 4, "
        "\"isaprobe\": \"phaddsw mm, mm\"}\n}\n";
    static const struct {
        double cycles;
        bool same, same_unrounded;
    } cases[] = {{4.43, true, false}, {3.46, true, false}, {4.2, true, true}, {4.7, false, false}};
    struct res_sheet whole = {0};
    struct ip_error err = {0};
    assert_int_equal(res_export_read(&whole, RES_FORMAT_LLVM_SCHED_JSON, "test", rounded, &err), IP_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct res_sheet store = {0}, exact = {0};
        struct res_row *row = row_made(&store, "phaddsw mm, mm");
        pair_make(row, "op1", cases[i].cycles, false, NAN);
        res_row_range_find(row);
        assert_int_equal(differences(&store, &whole) == 0, cases[i].same);
        row_made(&exact, row->form)->latency = whole.rows[0].latency;
        assert_int_equal(differences(&store, &exact) == 0, cases[i].same_unrounded);
        res_sheet_fini(&store);
        res_sheet_fini(&exact);
    }
    res_sheet_fini(&whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges_of_bounds),
        cmocka_unit_test(test_rounded_latencies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
