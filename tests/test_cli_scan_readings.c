/* SPDX-License-Identifier: Apache-2.0 */
/* What several readings of a form say together, and when there are enough of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "cli/scan_readings.h"
#include "results/store.h"
#include "tests/near.h"

enum { MOST = SCAN_READINGS_MOST, MANY = SCAN_READINGS_MANY, SOME = SCAN_READINGS_SOME };

/* Two ways in turn: a b a b ... */
#define SEVEN(a, b)   a, b, a, b, a, b, a
#define ELEVEN(a, b)  SEVEN(a, b), b, a, b, a
#define FIFTEEN(a, b) SEVEN(a, b), b, SEVEN(a, b)

/* Readings of one throughput; a negative one is disturbed. */
static struct scan_readings throughputs_of(const double *cycles, size_t count) {
    struct scan_readings readings = {.throughput_count = 0};
    for (size_t i = 0; i < count; i++) {
        const struct probe_throughput throughput = {.measured = true,
                                                    .cycles = fabs(cycles[i]),
                                                    .spread = 0.001,
                                                    .registers = (unsigned)i,
                                                    .verdict =
                                                        cycles[i] < 0 ? HX_VERDICT_DISTURBED : HX_VERDICT_OK};
        scan_readings_add(&readings, &throughput, NULL);
    }
    return readings;
}

static void throughputs_are_read_until_they_are_alike(void **state) {
    (void)state;
    static const struct {
        double cycles[MOST];
        size_t count;
        bool wanted;
    } cases[] = {
        {{0.5}, 1, false},                                         /* as on two ports */
        {{0.36}, 1, true},                                         /* no ratio of small numbers */
        {{0.36, 0.36}, 2, true},                                   /* two say nothing yet */
        {{0.36, 0.37, 0.375}, 3, false},                           /* three alike, within 0.02 */
        {{0.36, 0.37, 0.41}, 3, true},                             /* not alike */
        {{0.36, 0.37, 0.41, 0.36, 0.36, 0.36, 0.36}, SOME, false}, /* one stray of seven */
        {{SEVEN(0.36, 0.41)}, SOME, true},                         /* not alike */
        {{FIFTEEN(0.36, 0.41)}, MOST - 1, true},
        {{FIFTEEN(0.36, 0.41)}, MOST, false}, /* enough in any case */
        {{1.0, 0.5}, 2, true},                /* both are plain, and differ */
        {{-0.36}, 1, false},                  /* not trusted, and read closely already */
        {{-0.36, 0.5}, 2, false},             /* trusted the second time */
        {{-0.36, 0.36}, 2, true},
        {{17.3, 17.4, 17.9}, 3, false}, /* within 5 % */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scan_readings readings = throughputs_of(cases[i].cycles, cases[i].count);
        if ((scan_readings_wanted(&readings) != 0) != cases[i].wanted) {
            fail_msg("case %zu: wanted 0x%x", i, scan_readings_wanted(&readings));
        }
        assert_int_equal(scan_readings_wanted(&readings) & ~(unsigned)RES_PART_THROUGHPUT, 0);
        scan_readings_fini(&readings);
    }
}

static void the_middle_throughput_counts(void **state) {
    (void)state;
    static const struct {
        double cycles[MOST];
        size_t count;
        double middle, spread;
        enum hx_verdict verdict;
    } cases[] = {
        {{0.36, 0.41, 0.37}, 3, 0.37, 0.05 / 0.37, HX_VERDICT_OK},
        {{0.41, 0.36}, 2, 0.36, 0.05 / 0.36, HX_VERDICT_OK}, /* of two the lesser: disturbances lengthen */
        {{0.34, 0.38, 0.39, 0.40, 0.60}, 5, 0.39, 0.02 / 0.39, HX_VERDICT_OK}, /* but one at either end */
        {{-0.30, 0.38, -0.31}, 3, 0.38, 0.001, HX_VERDICT_OK},
        /* Of seven that are near each other the mean of three: 0.37, 0.38, 0.39. */
        {{0.41, 0.36, 0.34, 0.40, 0.37, 0.38, 0.39}, SOME, 0.38, 0.04 / 0.38, HX_VERDICT_OK},
        {{0.40, 0.36, 0.36, 0.39, 0.36, 0.40, 0.39}, SOME, 1.14 / 3, 0.04 / (1.14 / 3), HX_VERDICT_OK},
        /* Of two kinds one. */
        {{SEVEN(0.5, 1.0)}, SOME, 0.5, 1.0, HX_VERDICT_OK},
        {{-0.38, -0.39}, 2, 0.39, 0.001, HX_VERDICT_DISTURBED}, /* the last, which looked closely */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scan_readings readings = throughputs_of(cases[i].cycles, cases[i].count);
        struct probe_throughput throughput = {0};
        struct probe_latency latency = {0};
        scan_readings_settle(&readings, &throughput, &latency);
        assert_near(throughput.cycles, cases[i].middle, 1e-9);
        assert_near(throughput.spread, cases[i].spread, 1e-9);
        assert_int_equal(throughput.verdict, cases[i].verdict);
        /* The reading in the middle stands for them, with its evidence. */
        assert_true(fabs(fabs(cases[i].cycles[throughput.registers]) - cases[i].middle) <= 0.011);
        assert_null(latency.pairs);
        scan_readings_fini(&readings);
    }
}

static struct probe_latency_pair pair_of(enum probe_path path, double cycles) {
    return (struct probe_latency_pair){.src = 1,
                                       .path = path,
                                       .measured = true,
                                       .cycles = cycles,
                                       .same_register_cycles = NAN,
                                       .verdict = HX_VERDICT_OK};
}

static void reading_add(struct scan_readings *readings, const struct probe_latency_pair *pairs,
                        size_t count) {
    struct probe_latency latency = {calloc(count + 1, sizeof *pairs), count};
    assert_non_null(latency.pairs);
    memcpy(latency.pairs, pairs, count * sizeof *pairs);
    scan_readings_add(readings, NULL, &latency);
    assert_null(latency.pairs); /* taken over, or freed */
}

/* Readings of one latency. */
static struct scan_readings latencies_of(enum probe_path path, bool bound, const double *cycles,
                                         size_t count) {
    struct scan_readings readings = {.latency_count = 0};
    for (size_t i = 0; i < count; i++) {
        struct probe_latency_pair pair = pair_of(path, fabs(cycles[i]));
        pair.verdict = cycles[i] < 0 ? HX_VERDICT_UNSTABLE : HX_VERDICT_OK;
        pair.upper_bound = bound;
        reading_add(&readings, &pair, 1);
    }
    return readings;
}

static void latencies_are_read_until_they_are_alike(void **state) {
    (void)state;
    static const struct {
        double cycles[MOST];
        size_t count;
        bool wanted, bound_wanted;
    } cases[] = {
        {{4.02}, 1, false, false},
        {{4.13}, 1, true, false}, /* a bound has more noise: other instructions are part of it */
        {{4.16}, 1, true, true},
        {{5.46}, 1, true, true},
        {{5.46, 5.48}, 2, true, true},
        {{5.46, 5.48, 5.49}, 3, false, false}, /* all are 5.5 */
        {{7.44, 7.45, 7.53}, 3, true, true},   /* 7 and 7.5 */
        {{7.46, 7.49, 7.55}, 3, false, false}, /* all are 7.5 */
        {{5.43, 5.44, 5.46}, 3, true, true},   /* 5 and 5.5, nearly alike */
        {{ELEVEN(5.43, 5.46)}, MANY - 1, true, true},
        {{ELEVEN(5.43, 5.46)}, MANY, false, false}, /* which is enough of many */
        {{ELEVEN(5.40, 5.46)}, MANY, true, true},
        {{5.41, 5.48, 5.63}, 3, true, true},
        {{SEVEN(5.4, 5.6)}, SOME, true, true},
        {{FIFTEEN(5.4, 5.6)}, MOST, false, false},                 /* enough in any case */
        {{5.4, 5.4, 5.4, 5.4, 5.4, 5.4, 5.6}, SOME, false, false}, /* one stray of seven */
        {{ELEVEN(26.0, 27.0)}, MANY - 1, true, true},
        {{ELEVEN(26.0, 27.0)}, MANY, false, false}, /* long ones cost too much */
        {{12.0, 13.0}, 2, true, true},              /* whole numbers that differ */
        {{26.0}, 1, true, true},                    /* long ones must agree */
        {{21.0}, 1, true, true},                    /* dividers take a cycle more or less */
        {{17.0}, 1, false, false},
        {{26.0, 26.0, 26.1}, 3, false, false},
        {{-4.5}, 1, false, false},
        {{-4.5, 4.0}, 2, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int bound = 0; bound < 2; bound++) {
            struct scan_readings readings =
                latencies_of(PROBE_PATH_REGISTER, bound != 0, cases[i].cycles, cases[i].count);
            bool wanted = bound != 0 ? cases[i].bound_wanted : cases[i].wanted;
            if (scan_readings_wanted(&readings) != (wanted ? (unsigned)RES_PART_LATENCY : 0u)) {
                fail_msg("case %zu, bound %d: wanted 0x%x", i, bound, scan_readings_wanted(&readings));
            }
            if (cases[i].count == 1) {
                assert_true(scan_latency_wavers(&readings.latencies[0], NULL) == wanted);
            }
            scan_readings_fini(&readings);
        }
    }
}

/* What changes its memory is read in a few processes, however whole it is; bounds through memory are not. */
static void what_changes_memory_is_read_again(void **state) {
    (void)state;
    const double cycles[] = {8.0, 8.01, 8.0, 10.0};
    for (size_t count = 1; count <= 4; count++) {
        struct scan_readings exact = latencies_of(PROBE_PATH_CONTENT, false, cycles, count);
        struct scan_readings bound = latencies_of(PROBE_PATH_CONTENT, true, cycles, count);
        bool more = count != 3; /* enough that are alike; one that is not asks for more */
        assert_int_equal(scan_readings_wanted(&exact), more ? RES_PART_LATENCY : 0);
        assert_int_equal(scan_readings_wanted(&bound), count == 4 ? RES_PART_LATENCY : 0);
        scan_readings_fini(&exact);
        scan_readings_fini(&bound);
    }
}

/* Where it matters how old that is what is merged into, other processes may tell another whole number of what
 * other instructions close. */
static void what_merges_is_read_again(void **state) {
    (void)state;
    struct probe_latency_pair pairs[] = {pair_of(PROBE_PATH_REGISTER, 1.0),
                                         pair_of(PROBE_PATH_REGISTER, 1.0)};
    (void)strcpy(pairs[0].via, "vptestmd k{k}, zmm, zmm");
    for (int old = 0; old < 2; old++) {
        pairs[1].slow_cycles = old != 0 ? 1.87 : NAN;
        struct scan_readings readings = {.latency_count = 0};
        reading_add(&readings, pairs, 2);
        assert_true(scan_latency_wavers(&readings.latencies[0], NULL) == (old != 0));
        assert_true(scan_readings_pairs(&readings) == (uint64_t)old);
        struct probe_latency_pair asked[] = {pairs[0], pairs[1]};
        asked[1].measured = false;
        reading_add(&readings, asked, 2);
        assert_true(scan_readings_pairs(&readings) == (uint64_t)old);
        reading_add(&readings, asked, 2); /* three that are alike */
        assert_true(scan_readings_pairs(&readings) == 0);
        scan_readings_fini(&readings);
    }
}

/* What a chain shows of a form that takes as long by itself may be its pace, in some processes. */
static void what_is_paced_is_read_again(void **state) {
    (void)state;
    static const struct {
        double pace, cycles;
        bool again;
    } cases[] = {{4.0, 5.0, true},  {4.0, 2.0, true},   {4.0, 6.0, false},
                 {2.0, 1.0, false}, {20.0, 8.0, false}, {-4.0, 5.0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scan_readings readings = throughputs_of(&cases[i].pace, 1);
        const struct probe_latency_pair pair = pair_of(PROBE_PATH_REGISTER, cases[i].cycles);
        reading_add(&readings, &pair, 1);
        assert_true(scan_latency_wavers(&readings.latencies[0], &readings.throughputs[0]) == cases[i].again);
        assert_true(scan_readings_pairs(&readings) == (cases[i].again ? 1 : 0));
        assert_false(scan_latency_wavers(&readings.latencies[0], NULL));
        reading_add(&readings, &pair, 1);
        reading_add(&readings, &pair, 1); /* three that are alike */
        assert_true(scan_readings_pairs(&readings) == 0);
        scan_readings_fini(&readings);
    }
}

/* Only pairs that waver are read again. */
static void only_some_pairs_are_read_again(void **state) {
    (void)state;
    struct probe_latency_pair pairs[] = {pair_of(PROBE_PATH_REGISTER, 4.0), pair_of(PROBE_PATH_REGISTER, 1.4),
                                         pair_of(PROBE_PATH_CONTENT, 12.0),
                                         pair_of(PROBE_PATH_REGISTER, 3.01)};
    pairs[2].upper_bound = true;
    struct scan_readings readings = {.latency_count = 0};
    reading_add(&readings, pairs, 4);
    assert_true(scan_readings_pairs(&readings) == 0x2);
    pairs[0].measured = pairs[2].measured = pairs[3].measured = false; /* not asked */
    reading_add(&readings, pairs, 4);
    reading_add(&readings, pairs, 4);
    assert_true(scan_readings_pairs(&readings) == 0);
    struct probe_throughput throughput = {0};
    struct probe_latency latency = {0};
    scan_readings_settle(&readings, &throughput, &latency);
    const double expected[] = {4.0, 1.4, 12.0, 3.01};
    for (size_t i = 0; i < 4; i++) {
        assert_true(latency.pairs[i].measured);
        assert_near(latency.pairs[i].cycles, expected[i], 1e-9);
    }
    probe_latency_fini(&latency);
    scan_readings_fini(&readings);
}

static struct probe_latency_pair settled(struct scan_readings *readings) {
    struct probe_throughput throughput = {0};
    struct probe_latency latency = {0};
    scan_readings_settle(readings, &throughput, &latency);
    assert_int_equal(latency.count, 1);
    struct probe_latency_pair pair = latency.pairs[0];
    probe_latency_fini(&latency);
    scan_readings_fini(readings);
    assert_false(throughput.measured);
    return pair;
}

static void the_middle_latency_counts(void **state) {
    (void)state;
    static const struct {
        enum probe_path path;
        double cycles[MOST];
        size_t count;
        double middle;
        const char *why;
    } cases[] = {
        {PROBE_PATH_REGISTER, {5.4, 5.6, 5.45}, 3, 5.45, ""},
        {PROBE_PATH_REGISTER, {1.3, 2.0}, 2, 1.3, ""},
        {PROBE_PATH_REGISTER, {SEVEN(5.4, 5.6)}, SOME, 16.4 / 3, ""},   /* the mean of three in the middle */
        {PROBE_PATH_REGISTER, {FIFTEEN(5.4, 5.6)}, MOST, 38.4 / 7, ""}, /* of seven */
        {PROBE_PATH_REGISTER,
         {SEVEN(1.0, 32.0)},
         SOME,
         1.0, /* of two kinds one, which is not to be trusted */
         "unstable: 7 processes measured 1.0 to 32.0 cycles"},
        {PROBE_PATH_REGISTER, {SEVEN(5.0, 6.1)}, SOME, 5.0, ""},
        {PROBE_PATH_CONTENT, {SEVEN(8.0, 10.0)}, SOME, 8.0, ""},
        {PROBE_PATH_CONTENT,
         {SEVEN(8.0, 10.5)},
         SOME,
         8.0,
         "unstable: 7 processes measured 8.0 to 10.5 cycles"},
        {PROBE_PATH_REGISTER, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 5.0}, SOME, 1.0, ""}, /* one stray of seven */
        {PROBE_PATH_REGISTER, {-7.0, 6.0, -8.0}, 3, 6.0, ""},
        {PROBE_PATH_REGISTER, {1.0, 32.1, 1.0}, 3, 1.0, ""}, /* what a wrong guess made long now and then */
        {PROBE_PATH_ADDRESS,
         {1100, 1200, 1150},
         3,
         1150,
         "unstable: 3 processes measured 1100.0 to 1200.0 cycles"},
        {PROBE_PATH_ADDRESS, {100, 102}, 2, 100, ""},
        {PROBE_PATH_CONTENT, {32, 30}, 2, 30, ""}, /* a slow rhythm of stores and loads */
        {PROBE_PATH_ADDRESS, {32, 30}, 2, 30, "unstable: 2 processes measured 30.0 to 32.0 cycles"},
        {PROBE_PATH_ADDRESS, {20, 22}, 2, 20, ""},
        {PROBE_PATH_ADDRESS, {50.0, 50.1, 50.2, 50.3, 60.0}, 5, 50.2, ""}, /* one stray of five */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scan_readings readings = latencies_of(cases[i].path, false, cases[i].cycles, cases[i].count);
        struct probe_latency_pair pair = settled(&readings);
        assert_near(pair.cycles, cases[i].middle, 1e-9);
        assert_string_equal(pair.why, cases[i].why);
        assert_int_equal(pair.verdict, cases[i].why[0] != '\0' ? HX_VERDICT_UNSTABLE : HX_VERDICT_OK);
    }
}

/* What so many readings that are exact and so many bounds say. */
static struct probe_latency_pair settled_of(unsigned exact_count, unsigned bound_count) {
    struct scan_readings readings = {.latency_count = 0};
    struct probe_latency_pair bound = pair_of(PROBE_PATH_CONTENT, 6.0), exact = bound;
    bound.upper_bound = true;
    exact.cycles = 7.0;
    for (unsigned i = 0; i < exact_count + bound_count; i++) {
        reading_add(&readings, i < bound_count ? &bound : &exact, 1);
    }
    return settled(&readings);
}

static void exact_latencies_go_before_as_many_bounds(void **state) {
    (void)state;
    struct probe_latency_pair pair = settled_of(2, 2);
    assert_false(pair.upper_bound);
    assert_near(pair.cycles, 7.0, 1e-9);
    pair = settled_of(1, 2); /* noise */
    assert_true(pair.upper_bound);
    assert_near(pair.cycles, 6.0, 1e-9);
}

/* What no reading measured keeps its reason, and what another pair told of one register its value. */
static void what_was_not_asked_again_stays(void **state) {
    (void)state;
    struct scan_readings readings = {.latency_count = 0};
    struct probe_latency_pair none = pair_of(PROBE_PATH_REGISTER, NAN);
    none.measured = false;
    struct probe_latency_pair reason = none;
    strcpy(reason.why, "the flags do not depend on it");
    reading_add(&readings, &reason, 1);
    reading_add(&readings, &none, 1);
    assert_string_equal(settled(&readings).why, "the flags do not depend on it");

    struct probe_latency_pair told = pair_of(PROBE_PATH_REGISTER, 2.4),
                              again = pair_of(PROBE_PATH_REGISTER, 2.3);
    told.same_register_cycles = 1.0;
    reading_add(&readings, &told, 1);
    reading_add(&readings, &again, 1);
    struct probe_latency_pair pair = settled(&readings);
    assert_near(pair.cycles, 2.3, 1e-9);
    assert_near(pair.same_register_cycles, 1.0, 1e-9);
}

static void there_is_room_for_so_many(void **state) {
    (void)state;
    const double cycles[] = {FIFTEEN(5.4, 5.6)};
    struct scan_readings readings = latencies_of(PROBE_PATH_REGISTER, false, cycles, MOST);
    const struct probe_latency_pair pair = pair_of(PROBE_PATH_REGISTER, 9.0);
    reading_add(&readings, &pair, 1); /* one too many: freed */
    assert_int_equal(readings.latency_count, MOST);
    assert_near(settled(&readings).cycles, 38.4 / 7, 1e-9);
    const struct probe_latency_pair two[] = {pair, pair};
    reading_add(&readings, two, 2);
    reading_add(&readings, &pair, 0); /* it did not run this time */
    assert_int_equal(readings.latency_count, 1);
    scan_readings_fini(&readings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(throughputs_are_read_until_they_are_alike),
        cmocka_unit_test(the_middle_throughput_counts),
        cmocka_unit_test(latencies_are_read_until_they_are_alike),
        cmocka_unit_test(what_changes_memory_is_read_again),
        cmocka_unit_test(what_merges_is_read_again),
        cmocka_unit_test(what_is_paced_is_read_again),
        cmocka_unit_test(only_some_pairs_are_read_again),
        cmocka_unit_test(the_middle_latency_counts),
        cmocka_unit_test(exact_latencies_go_before_as_many_bounds),
        cmocka_unit_test(what_was_not_asked_again_stays),
        cmocka_unit_test(there_is_room_for_so_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
