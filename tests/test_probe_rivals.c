/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several rivals are measured after a cheap look at all of them; over a scripted meter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "probe/rivals.h"

enum { KERNELS = 6 };

/* What a look and a measurement of each kernel give; a kernel is told by its forms_per_unit. */
struct script {
    double look[KERNELS], truth[KERNELS];
    bool lacking[KERNELS]; /* the CPU has no such instruction */
    unsigned measured[KERNELS], looked[KERNELS];
};

static enum ip_status answer(struct script *script, bool look, const struct gen_kernel *const *kernels,
                             size_t count, struct hx_stat *stats) {
    for (size_t i = 0; i < count; i++) {
        uint32_t number = kernels[i]->forms_per_unit;
        memset(&stats[i], 0, sizeof stats[i]);
        stats[i].screened = look;
        stats[i].cycles = look ? script->look[number] : script->truth[number];
        script->measured[number] += !look;
        script->looked[number] += look;
        if (script->lacking[number]) {
            stats[i] =
                (struct hx_stat){.verdict = HX_VERDICT_FAULT, .outcome = HX_OUTCOME_ILLEGAL, .cycles = NAN};
        }
    }
    return IP_OK;
}

static enum ip_status script_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                     struct hx_stat *stats, struct ip_error *err) {
    (void)err;
    return answer(self, false, kernels, count, stats);
}

static enum ip_status script_screen(void *self, const struct gen_kernel *const *kernels, size_t count,
                                    struct hx_stat *stats, struct ip_error *err) {
    (void)err;
    return answer(self, true, kernels, count, stats);
}

static void run(struct script *script, const struct probe_rival *rivals, struct hx_stat *stats) {
    struct gen_kernel kernels[KERNELS];
    const struct gen_kernel *pointers[KERNELS];
    memset(kernels, 0, sizeof kernels);
    for (uint32_t i = 0; i < KERNELS; i++) {
        kernels[i].forms_per_unit = i;
        pointers[i] = &kernels[i];
    }
    const struct hx_meter meter = {.measure = script_measure, .screen = script_screen, .self = script};
    struct ip_error err = {0};
    assert_int_equal(probe_rivals_measure(&meter, rivals, pointers, KERNELS, stats, &err), IP_OK);
}

static void only_what_can_win_is_measured(void **state) {
    (void)state;
    struct script script = {.look = {2.0, 1.0, 4.0, 1.01, 9.0, 7.0}, .truth = {2.0, 1.0, 4.0, 1.0, 9.0, 7.0}};
    const struct probe_rival rivals[KERNELS] = {{.set = 1}, {.set = 1}, {.set = 1},
                                                {.set = 1}, {.set = 0}, {.set = 2}};
    struct hx_stat stats[KERNELS];
    run(&script, rivals, stats);
    const unsigned expected[KERNELS] = {0, 1, 0, 1, 1, 1};
    for (size_t i = 0; i < KERNELS; i++) {
        assert_int_equal(script.measured[i], expected[i]);
        assert_int_equal(stats[i].screened, expected[i] == 0);
    }
}

static void a_look_that_was_too_low_is_put_right(void **state) {
    (void)state;
    /* The first looks least, but takes 3 cycles; the third is the true winner. */
    struct script script = {.look = {1.0, 5.0, 2.0, 6.0, 6.0, 6.0}, .truth = {3.0, 5.0, 2.0, 6.0, 6.0, 6.0}};
    const struct probe_rival rivals[KERNELS] = {{.set = 1}, {.set = 1}, {.set = 1},
                                                {.set = 1}, {.set = 1}, {.set = 1}};
    struct hx_stat stats[KERNELS];
    run(&script, rivals, stats);
    assert_int_equal(script.measured[0], 1);
    assert_int_equal(script.measured[2], 1);
    assert_int_equal(script.measured[1] + script.measured[3] + script.measured[4] + script.measured[5], 0);
}

static void offset_and_floor_count(void **state) {
    (void)state;
    /* Less what the transfers take: 1, 0.2 (nothing came through), 3. */
    struct script script = {.look = {6.0, 1.2, 4.0, 9.0, 9.0, 9.0}, .truth = {6.0, 1.2, 4.0, 9.0, 9.0, 9.0}};
    const struct probe_rival rivals[KERNELS] = {{.set = 1, .offset = 5.0, .floor = 0.5},
                                                {.set = 1, .offset = 1.0, .floor = 0.5},
                                                {.set = 1, .offset = 1.0, .floor = 0.5},
                                                {.set = 2},
                                                {.set = 3},
                                                {.set = 4}};
    struct hx_stat stats[KERNELS];
    run(&script, rivals, stats);
    assert_int_equal(script.measured[0], 1);
    assert_int_equal(script.measured[1], 0);
    assert_int_equal(script.measured[2], 0);
}

static void who_has_nothing_speaks_for_its_team(void **state) {
    (void)state;
    /* Less what the transfers take: 1 and, in a longer round, -1, so the 1 was none; the other team has 3. */
    struct script script = {.look = {2.0, 2.0, 4.0, 9, 9, 9}, .truth = {2.0, 2.0, 4.0, 9, 9, 9}};
    struct probe_rival rivals[KERNELS] = {{.set = 1, .team = 1, .offset = 1.0, .floor = 0.6, .vetoes = true},
                                          {.set = 1, .team = 1, .offset = 3.0, .floor = 0.6, .vetoes = true},
                                          {.set = 1, .team = 2, .offset = 1.0, .floor = 0.6, .vetoes = true},
                                          {.set = 2},
                                          {.set = 3},
                                          {.set = 4}};
    struct hx_stat stats[KERNELS];
    run(&script, rivals, stats);
    assert_int_equal(script.measured[0] + script.measured[1], 0);
    assert_int_equal(script.measured[2], 1);
    assert_true(probe_rival_is_veto(&rivals[1], &stats[1]));
    assert_false(probe_rival_is_veto(&rivals[0], &stats[0]));
    /* A look that is no further off than looks are says nothing of the kind. */
    script = (struct script){.look = {2.0, 3.5, 4.0, 9, 9, 9}, .truth = {2.0, 3.9, 4.0, 9, 9, 9}};
    run(&script, rivals, stats);
    assert_int_equal(script.measured[0], 1);
    assert_int_equal(script.measured[2], 0);
}

/* What looks like somewhat less than nothing is nothing, and the least; half a cycle less is no result. */
static void nothing_may_look_like_less(void **state) {
    (void)state;
    for (int slightly = 0; slightly < 2; slightly++) {
        double look = slightly ? 2.9 : 2.4;
        struct script script = {.look = {2.0, look, 9, 9, 9, 9}, .truth = {2.0, look, 9, 9, 9, 9}};
        const struct probe_rival rivals[KERNELS] = {{.set = 1, .offset = 1.0, .floor = -0.5, .whole = true},
                                                    {.set = 1, .offset = 3.0, .floor = -0.5, .whole = true}};
        struct hx_stat stats[KERNELS];
        run(&script, rivals, stats);
        assert_int_equal(script.measured[0], !slightly);
        assert_int_equal(script.measured[1], slightly);
    }
}

/* What waits for a wrong guess is no part of the median of its flag. */
static void wrong_guesses_are_left_out(void **state) {
    (void)state;
    const double values[] = {1.0, 1.1, 31.9, 32.0, 32.1};
    assert_int_equal(probe_rivals_quick(values, 5), 2);
    assert_int_equal(probe_rivals_quick(values + 2, 3), 3); /* all of them, or all guessed */
    const double slow[] = {20.0, 24.9, 39.9, 41.0};
    assert_int_equal(probe_rivals_quick(slow, 4), 3); /* not twice as long */
    const double quick[] = {1.0, 1.0, 2.5, 24.0};
    assert_int_equal(probe_rivals_quick(quick, 4), 4);
    struct script script = {.look = {32.0, 32.1, 1.0, 1.0, 32.2, 9.0},
                            .truth = {32.0, 32.1, 1.0, 1.0, 32.2, 9.0}};
    const struct probe_rival rivals[KERNELS] = {{.set = 1, .team = 1}, {.set = 1, .team = 1},
                                                {.set = 1, .team = 1}, {.set = 1, .team = 1},
                                                {.set = 1, .team = 1}, {.set = 2}};
    struct hx_stat stats[KERNELS];
    run(&script, rivals, stats);
    assert_int_equal(script.measured[2], 1);
    assert_int_equal(script.measured[3], 1);
}

static void one_fault_speaks_for_the_set(void **state) {
    (void)state;
    struct script script = {.look = {1.0, 1.0, 1.0, 2.0, 2.0, 2.0},
                            .truth = {1.0, 1.0, 1.0, 2.0, 2.0, 2.0},
                            .lacking = {true, true, true}};
    const struct probe_rival rivals[KERNELS] = {{.set = 1}, {.set = 1}, {.set = 1},
                                                {.set = 2}, {.set = 2}, {.set = 2}};
    struct hx_stat stats[KERNELS];
    run(&script, rivals, stats);
    const unsigned looked[KERNELS] = {1, 0, 0, 1, 1, 1};
    for (size_t i = 0; i < KERNELS; i++) {
        assert_int_equal(script.looked[i], looked[i]);
        assert_int_equal(stats[i].outcome, i < 3 ? HX_OUTCOME_ILLEGAL : HX_OUTCOME_OK);
    }
    assert_int_equal(script.measured[0] + script.measured[1] + script.measured[2], 0);
}

/* The first is the anchor: 4 cycles, less 1 that is not its own. The second to fourth are a set behind it. */
static unsigned measured_behind(double anchor, double second, double third, double fourth) {
    struct script script = {.look = {0, second, third, fourth, 9.0, 9.0},
                            .truth = {anchor, second, third, fourth, 9.0, 9.0}};
    const struct probe_rival rivals[KERNELS] = {
        {.set = 0, .offset = 1}, {.set = 1, .anchor = 1}, {.set = 1, .anchor = 2}, {.set = 1, .anchor = 3}};
    struct hx_stat stats[KERNELS];
    run(&script, rivals, stats);
    assert_int_equal(script.measured[0], 1);
    assert_int_equal(script.looked[0], 0);
    return script.measured[1] + script.measured[2] + script.measured[3];
}

static void an_anchor_that_says_the_same_spares_the_set(void **state) {
    (void)state;
    assert_int_equal(measured_behind(4.0, 3.2, 3.1, 4.0), 0);
    assert_int_equal(measured_behind(4.0, 2.9, 3.1, 4.0), 0);
}

static void an_anchor_that_says_something_else_spares_nothing(void **state) {
    (void)state;
    assert_int_equal(measured_behind(4.0, 2.0, 3.0, 4.0), 1);
    assert_int_equal(measured_behind(4.0, 4.0, 5.0, 6.0), 1);
    assert_int_equal(measured_behind(3.86, 3.0, 4.0, 5.0), 1);    /* no whole number */
    assert_int_equal(measured_behind(13.0, 12.0, 15.0, 16.0), 1); /* a look tells no 12 from 12.5 */
}

static void a_second_is_measured_where_the_first_is_no_whole_number(void **state) {
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        double first = whole ? 3.0 : 3.3;
        struct script script = {.look = {first, first + 0.1, first + 2, 9, 9, 9},
                                .truth = {first, first + 0.1, first + 2, 9, 9, 9}};
        const struct probe_rival rivals[KERNELS] = {
            {.set = 1, .whole = true}, {.set = 1, .whole = true}, {.set = 1, .whole = true}};
        struct hx_stat stats[KERNELS];
        run(&script, rivals, stats);
        assert_int_equal(script.measured[0], 1);
        assert_int_equal(script.measured[1], !whole);
        assert_int_equal(script.measured[2], 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_can_win_is_measured),
        cmocka_unit_test(a_look_that_was_too_low_is_put_right),
        cmocka_unit_test(offset_and_floor_count),
        cmocka_unit_test(who_has_nothing_speaks_for_its_team),
        cmocka_unit_test(nothing_may_look_like_less),
        cmocka_unit_test(wrong_guesses_are_left_out),
        cmocka_unit_test(one_fault_speaks_for_the_set),
        cmocka_unit_test(an_anchor_that_says_the_same_spares_the_set),
        cmocka_unit_test(an_anchor_that_says_something_else_spares_nothing),
        cmocka_unit_test(a_second_is_measured_where_the_first_is_no_whole_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
