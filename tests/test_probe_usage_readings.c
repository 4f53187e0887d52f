/* SPDX-License-Identifier: Apache-2.0 */
/* One mix of a form and blockers, without a CPU: how many blockers stand there, and what its readings say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "probe/usage.h"
#include "probe/usage_steps.h"

static void readings_add(struct probe_usage_experiment *mix, const double *readings, size_t count,
                         double rate) {
    for (size_t i = 0; i < count; i++) {
        probe_usage_reading_add(mix, readings[i], rate);
    }
}

/* What a mix takes belongs to its own numbers, also when a later try, with other numbers, came to nothing. */
static void test_a_lost_reading_keeps_the_others(void **state) {
    (void)state;
    struct probe_usage_experiment mix = {.target = 3, .parts = 1, .copies = 8, .least = 1};
    mix.blocked[0] = (struct probe_usage_term){.ports = 3, .uops = 28};
    probe_usage_reading_add(&mix, 1.0, 2.0);
    assert_true(mix.cycles == (28 + 8) / 2.0);
    mix.blocked[0].uops = 40;
    probe_usage_reading_add(&mix, NAN, 2.0);
    assert_int_equal(mix.reading_count, 1);
    assert_int_equal(mix.tries, 2);
    assert_true(mix.cycles == (40 + 8) / 2.0);
    assert_true(probe_usage_believed(&mix));
    probe_usage_reading_add(&mix, NAN, 2.0);
    assert_false(probe_usage_believed(&mix));
}

/* The narrowest half decides, wherever the others lie. */
static void test_spoilt_readings_do_not_count(void **state) {
    (void)state;
    static const double readings[] = {5.9, 1.0, 3.4, 1.02, 0.98, 1.01, 8.2};
    struct probe_usage_experiment mix = {.target = 3, .parts = 1, .copies = 8, .kind = PROBE_USAGE_LOOKED};
    readings_add(&mix, readings, sizeof readings / sizeof readings[0], 2.0);
    assert_true(fabs(mix.confined - 1.0) < 0.01);
}

/* A kernel may run in a slower rhythm for good, never in a faster one: of glances the least that two say. */
static void test_slow_rhythms_do_not_count(void **state) {
    (void)state;
    static const double readings[] = {1.82, 1.85, 0.3, 1.44, 1.02, 1.0, 1.83};
    struct probe_usage_experiment mix = {.target = 3, .parts = 1, .copies = 8, .kind = PROBE_USAGE_GLANCED};
    readings_add(&mix, readings, sizeof readings / sizeof readings[0], 2.0);
    assert_true(fabs(mix.confined - 1.01) < 0.001);
    /* Looked at closely, five kernels of eleven in the fast one (VFNMADD132PS beside VPADDD, both of 512
     * bits). */
    static const double closely[] = {2.95, 0.95, 0.96, 3.17, 0.99, 3.52, 1.0, 1.05, 2.98, 3.63, 3.77};
    mix.rhythms = true;
    probe_usage_readings_drop(&mix, PROBE_USAGE_LOOKED);
    readings_add(&mix, closely, sizeof closely / sizeof closely[0], 2.0);
    assert_true(fabs(mix.confined - 0.98) < 0.02);
    assert_false(probe_usage_disagrees(&mix));
    /* Two that are too short are strays. */
    static const double strays[] = {-3.6, -0.1, 1.0, 1.02, 1.04};
    probe_usage_readings_drop(&mix, PROBE_USAGE_LOOKED);
    readings_add(&mix, strays, sizeof strays / sizeof strays[0], 2.0);
    assert_true(fabs(mix.confined - 1.02) < 0.001);
}

/* Of what holds up the front end readings lie all over the place (ROR of memory by CL on a simulated Golden
 * Cove, two uops): three that are near each other are no rhythm, where more than strays lie below them. */
static void test_more_than_strays_are_faster(void **state) {
    (void)state;
    static const double wild[] = {1.73, 1.8, 3.59, 5.25, 7.7, 7.94, 8.16, 8.26, 10.4, 10.8, 15.4};
    struct probe_usage_experiment mix = {
        .target = 31, .parts = 1, .copies = 8, .rhythms = true, .kind = PROBE_USAGE_LOOKED};
    readings_add(&mix, wild, sizeof wild / sizeof wild[0], 5.0);
    assert_true(probe_usage_disagrees(&mix));
    probe_usage_readings_drop(&mix, PROBE_USAGE_LOOKED);
    readings_add(&mix, wild + 2, sizeof wild / sizeof wild[0] - 2, 5.0); /* two strays */
    assert_false(probe_usage_disagrees(&mix));
}

/* Readings that lie all over the place tell nothing; those of a slow form may lie further apart. */
static void test_readings_that_disagree(void **state) {
    (void)state;
    static const double wild[] = {1.06, 1.11, 2.26, 4.64, 6.77, 7.78, 14.09};
    static const double near[] = {0.82, 0.9, 1.0, 1.02, 1.5, 2.2, 3.1};
    for (unsigned spoilt = 0; spoilt < 2; spoilt++) {
        struct probe_usage_experiment mix = {
            .target = 31, .parts = 1, .copies = 4, .blocked = {{.ports = 31, .uops = 215}}};
        mix.kind = PROBE_USAGE_MEASURED;
        readings_add(&mix, spoilt == 1 ? wild : near, sizeof wild / sizeof wild[0], 5.0);
        assert_int_equal(probe_usage_disagrees(&mix), spoilt == 1);
        mix.blocked[0].uops = 215 * 50;
        assert_false(probe_usage_disagrees(&mix));
    }
}

/* Noise only makes a glance at the widest set longer: the least that two agree on counts. */
static void test_least_of_the_widest(void **state) {
    (void)state;
    static const double readings[] = {1.86, 0.9, 1.9, 1.1};
    struct probe_usage_experiment mix = {.target = 31, .parts = 1, .copies = 8, .widest = true};
    readings_add(&mix, readings, sizeof readings / sizeof readings[0], 5.0);
    assert_true(fabs(mix.confined - 1.0) < 0.01);
}

/* A bound below nothing is one of nothing: the bursts of a divider (VSQRTPD of 128 bits beside three ports).
 */
static void test_bounds_below_nothing(void **state) {
    (void)state;
    static const double readings[] = {-0.81, 1.55, -0.52, 0.57, -0.51};
    struct probe_usage_experiment mix = {
        .target = 7, .parts = 1, .copies = 2, .bounds = true, .kind = PROBE_USAGE_GLANCED};
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
        probe_usage_reading_add(&mix, readings[i], 3.0);
        assert_true(mix.confined == 0);
    }
    assert_true(mix.readings[0] == -0.81); /* which says how wrong readings may be */
}

/* What renews the operands is one number for all mixes: a slow mix without instances takes nothing off for
 * good. */
static void test_one_slow_mix_without_instances(void **state) {
    (void)state;
    struct probe_usage_experiment mix = {.target = 3, .parts = 1, .copies = 8, .kind = PROBE_USAGE_GLANCED};
    probe_usage_renewal_add(&mix, 2.1);
    probe_usage_reading_add(&mix, 2.02, 2.0);
    assert_true(mix.confined == 0); /* two of two */
    probe_usage_renewal_add(&mix, 1.02);
    probe_usage_reading_add(&mix, 2.0, 2.0);
    probe_usage_renewal_add(&mix, 1.0);
    probe_usage_reading_add(&mix, NAN, 2.0);
    assert_int_equal(mix.reading_count, 2);
    assert_int_equal(mix.renewal_count, 3);
    assert_true(fabs(mix.renewed - 1.01) < 1e-9);
    assert_true(fabs(mix.confined - 1.0) < 1e-9);
    assert_true(fabs(mix.cycles - 8 / 2.0) < 1e-9);
    probe_usage_renewal_add(&mix, NAN);
    assert_int_equal(mix.renewal_count, 3);
    probe_usage_readings_drop(&mix, PROBE_USAGE_LOOKED);
    assert_true(mix.renewal_count == 0 && mix.renewed == 0);
    /* Looked at closely, the middle of them. */
    static const double looks[] = {1.2, 1.21, 0.3, 1.19};
    for (unsigned i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        probe_usage_renewal_add(&mix, looks[i]);
    }
    assert_true(fabs(mix.renewed - 1.2) < 0.01);
}

static double blockers_beside(const struct probe_usage_subject *subject) {
    const struct probe_portmap map = {.issue_width = 6};
    struct probe_usage_experiment mix = {
        .target = 1, .parts = 1, .blocked = {{.ports = 1}}, .wanted = 1, .kind = PROBE_USAGE_LOOKED};
    probe_usage_experiment_size(&mix, subject, &map, PROBE_USAGE_LOOKED, 0);
    return mix.parts != 0 ? mix.blocked[0].uops : 0;
}

/* Once it is known where the uops go blockers stand as long as these ports need for theirs; what cannot be
 * true is not believed. */
static void test_blockers_stand_as_long_as_needed(void **state) {
    (void)state;
    struct probe_usage_subject subject = {.alone = 8, .slots = 16, .chain = 5};
    double unknown = blockers_beside(&subject);
    assert_true(unknown >= 16 * 4);
    struct probe_usage found = {
        .terms = {{.ports = 1, .uops = 2}, {.ports = 0x63, .uops = 8}, {.ports = 0x21, .uops = 6}},
        .term_count = 3};
    probe_usage_found_use(&subject, &found);
    double known = blockers_beside(&subject);
    assert_true(known >= 8 * 4 && known < unknown / 1.4);
    found.terms[1].uops = 4000;
    probe_usage_found_use(&subject, &found);
    assert_true(blockers_beside(&subject) == unknown);
}

/* No more uops crowd on the port that is left than it and the blocked one do in the time that the form takes:
 * microcode has more issue slots than that. */
static void test_blockers_stand_no_longer_than_needed(void **state) {
    (void)state;
    struct probe_usage_subject subject = {.alone = 2, .slots = 4};
    double few = blockers_beside(&subject);
    subject.slots = 20;
    double many = blockers_beside(&subject);
    assert_true(few >= 4 * 4 && many >= few && many < 1.2 * few);
    subject.alone = NAN;                          /* not known: slots alone bound them */
    assert_true(blockers_beside(&subject) >= 20); /* beside one copy */
}

/* A mix that would be too long is not read; what was read of a shorter one stands. */
static void test_a_mix_too_long_keeps_its_readings(void **state) {
    (void)state;
    const struct probe_portmap map = {.issue_width = 6};
    struct probe_usage_subject subject = {.alone = 2000, .slots = 30};
    struct probe_usage_experiment mix = {
        .target = 1, .parts = 1, .blocked = {{.ports = 1, .uops = 28}}, .copies = 4, .wanted = 1};
    probe_usage_reading_add(&mix, 1.0, 1.0);
    probe_usage_experiment_size(&mix, &subject, &map, PROBE_USAGE_LOOKED, 0);
    assert_int_equal(mix.parts, 1);
    assert_int_equal(mix.copies, 4);
    assert_int_equal(mix.wanted, 0);
    assert_true(mix.cycles == 28 + 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lost_reading_keeps_the_others),
        cmocka_unit_test(test_spoilt_readings_do_not_count),
        cmocka_unit_test(test_slow_rhythms_do_not_count),
        cmocka_unit_test(test_more_than_strays_are_faster),
        cmocka_unit_test(test_readings_that_disagree),
        cmocka_unit_test(test_least_of_the_widest),
        cmocka_unit_test(test_bounds_below_nothing),
        cmocka_unit_test(test_one_slow_mix_without_instances),
        cmocka_unit_test(test_blockers_stand_as_long_as_needed),
        cmocka_unit_test(test_blockers_stand_no_longer_than_needed),
        cmocka_unit_test(test_a_mix_too_long_keeps_its_readings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
