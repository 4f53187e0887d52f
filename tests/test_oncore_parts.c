/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the simulated back end by themselves: units, ports, and stores that enter the cache. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "oncore/binding.h"
#include "oncore/commit.h"
#include "oncore/unit.h"
#include "tests/near.h"

enum { P0 = 1, P1 = 2, P01 = 3 };

static void a_unit_is_taken_once_at_a_time(void **state) {
    (void)state;
    struct core_unit unit = {0};
    assert_near(core_unit_take(&unit, 2.0, 5.0), 2.0, 1e-9);
    assert_near(core_unit_take(&unit, 3.0, 5.0), 7.0, 1e-9);   /* it waits */
    assert_near(core_unit_take(&unit, 20.0, 5.0), 20.0, 1e-9); /* idle from 12 to 20 */
    assert_near(core_unit_take(&unit, 10.0, 6.0), 12.0, 1e-9); /* what is ready sooner goes into the gap */
    assert_near(core_unit_take(&unit, 10.0, 2.0), 18.0, 1e-9);
    assert_near(core_unit_take(&unit, 10.0, 2.0), 25.0, 1e-9); /* which is full */
}

static void parameter_set(struct core_costs *costs, enum probe_core_key key, double value) {
    costs->core.values[key].known = true;
    costs->core.values[key].value = value;
}

static void binding_open(struct core_binding *binding, const struct core_costs *costs) {
    struct ip_error err;
    assert_int_equal(core_binding_open(binding, costs, &err), IP_OK);
}

static void a_port_is_taken_once_a_cycle(void **state) {
    (void)state;
    struct core_costs costs = {.port_names = "01"};
    struct core_binding binding;
    binding_open(&binding, &costs);
    assert_near(core_binding_take(&binding, P0, 3.0, -1, CORE_TAKES_PORT), 3.0, 1e-9);
    assert_near(core_binding_take(&binding, P01, 3.0, -1, CORE_TAKES_PORT), 3.0, 1e-9); /* the other */
    assert_near(core_binding_take(&binding, P01, 3.0, -1, CORE_TAKES_PORT), 4.0, 1e-9);
    assert_near(core_binding_take(&binding, P01, 7.2, -1, CORE_TAKES_PORT), 7.0,
                1e-9); /* a part of a cycle early, not late */
    assert_false(binding.full);
    assert_near(core_binding_take(&binding, P0, CORE_CYCLES_MAX + 5.0, -1, CORE_TAKES_PORT),
                CORE_CYCLES_MAX + 5.0, 1e-9);
    assert_true(binding.full);
    core_binding_fini(&binding);
}

static void so_many_loads_begin_in_a_bank(void **state) {
    (void)state;
    struct core_costs costs = {.port_names = "01"};
    parameter_set(&costs, PROBE_CORE_LOAD_RATE_STRIDE, 1.0);
    struct core_binding binding;
    binding_open(&binding, &costs);
    assert_near(core_binding_take(&binding, P01, 1.0, 8, CORE_TAKES_PORT), 1.0, 1e-9);
    assert_near(core_binding_take(&binding, P01, 1.0, 8, CORE_TAKES_PORT), 2.0, 1e-9);
    assert_near(core_binding_take(&binding, P01, 1.0, 16, CORE_TAKES_PORT), 1.0, 1e-9); /* another bank */
    core_binding_fini(&binding);
}

/* What is only a result waits for results, not for ports; what writes one at once waits for both. */
static void results_have_a_way_of_their_own(void **state) {
    (void)state;
    struct core_costs costs = {.port_names = "01"};
    struct core_binding binding;
    binding_open(&binding, &costs);
    assert_near(core_binding_take(&binding, P0, 1.0, -1, CORE_TAKES_PORT), 1.0, 1e-9);
    assert_near(core_binding_take(&binding, P0, 1.0, -1, CORE_TAKES_RESULT), 1.0, 1e-9);
    assert_near(core_binding_take(&binding, P0, 1.0, -1, CORE_TAKES_RESULT), 2.0, 1e-9);
    assert_near(core_binding_take(&binding, P0, 1.0, -1, CORE_TAKES_PORT), 2.0, 1e-9);
    assert_near(core_binding_take(&binding, P0, 1.0, -1, CORE_TAKES_BOTH), 3.0, 1e-9);
    assert_near(core_binding_take(&binding, P0, 1.0, -1, CORE_TAKES_RESULT), 4.0, 1e-9);
    assert_near(core_binding_take(&binding, P01, 1.0, -1, CORE_TAKES_BOTH), 1.0, 1e-9); /* the other port */
    core_binding_fini(&binding);
}

static void a_port_is_given_by_what_waits_or_in_turn(void **state) {
    (void)state;
    struct core_costs costs = {.port_names = "01"};
    struct core_binding binding;
    binding_open(&binding, &costs);
    (void)core_binding_take(&binding, P0, 50.0, -1, CORE_TAKES_PORT);
    assert_int_equal(core_binding_port(&binding, P01, 40.0), P1); /* one waits for the other */
    assert_int_equal(core_binding_port(&binding, P01, 90.0), P0); /* it has begun */
    core_binding_fini(&binding);

    parameter_set(&costs, PROBE_CORE_PORTS_IN_TURN, 1.0);
    binding_open(&binding, &costs);
    assert_int_equal(core_binding_port(&binding, P01, 0.0), P0);
    assert_int_equal(core_binding_port(&binding, P01, 0.0), P1);
    (void)core_binding_take(&binding, P0, 50.0, -1, CORE_TAKES_PORT); /* whatever waits */
    assert_int_equal(core_binding_port(&binding, P01, 0.0), P0);
    assert_int_equal(core_binding_port(&binding, P01, 0.0), P1);
    for (unsigned i = 1; i < 6; i++) {
        (void)core_binding_take(&binding, P0, 50.0, -1, CORE_TAKES_PORT);
    }
    assert_int_equal(core_binding_port(&binding, P01, 0.0), P0); /* six more than for the other */
    assert_int_equal(core_binding_port(&binding, P01, 0.0), P1);
    for (unsigned i = 6; i < 24; i++) {
        (void)core_binding_take(&binding, P0, 50.0, -1, CORE_TAKES_PORT);
        assert_int_equal(core_binding_port(&binding, P01, 0.0),
                         P1); /* not its turn, but they are too many more */
        assert_int_equal(core_binding_port(&binding, P0, 0.0), i < 23 ? P0 : 0);
    }
    assert_int_equal(core_binding_port(&binding, P0, 40.0), 0);
    assert_int_equal(core_binding_port(&binding, P0, 90.0), P0);
    core_binding_fini(&binding);
}

static void stores_enter_the_cache_in_order(void **state) {
    (void)state;
    struct core_costs costs = {.port_names = "01"};
    parameter_set(&costs, PROBE_CORE_STORE_PAIR_BYTES, 32.0);
    const struct core_word first = {1, 64}, beside = {1, 72}, third = {1, 80}, next = {1, 96},
                           other = {2, 64};
    struct core_commits commits;
    core_commits_init(&commits, &costs, 2, true);
    assert_near(core_commits_take(&commits, &first, 8, 10.0), 10.0, 1e-9);
    assert_near(core_commits_take(&commits, &beside, 8, 4.0), 10.0, 1e-9); /* the same block */
    assert_near(core_commits_take(&commits, &third, 8, 4.0), 11.0, 1e-9);  /* two of a block */
    assert_near(core_commits_take(&commits, &next, 8, 4.0), 12.0, 1e-9);
    assert_near(core_commits_take(&commits, &other, 8, 4.0), 13.0, 1e-9); /* perhaps elsewhere */
    assert_near(core_commits_take(&commits, NULL, 8, 4.0), 14.0, 1e-9);
    assert_near(core_commits_take(&commits, &other, 8, 4.0), 15.0, 1e-9);

    parameter_set(&costs, PROBE_CORE_STORE_ROW, 1.0);
    parameter_set(&costs, PROBE_CORE_STORE_READ, 1.0);
    core_commits_init(&commits, &costs, 2, true);
    assert_near(core_commits_take(&commits, &first, 8, 10.0), 10.0, 1e-9);
    assert_near(core_commits_take(&commits, &beside, 8, 4.0), 10.0, 1e-9);
    assert_near(core_commits_take(&commits, &third, 8, 4.0), 10.0, 1e-9); /* all of a row */
    assert_near(core_commits_take(&commits, &first, 8, 4.0), 10.0, 1e-9);
    core_commits_read(&commits);
    assert_near(core_commits_take(&commits, &first, 8, 4.0), 10.0,
                1e-9); /* of a pass of two stores, one is read: */
    assert_near(core_commits_take(&commits, &beside, 8, 4.0), 10.0, 1e-9);
    assert_near(core_commits_take(&commits, &first, 8, 4.0), 11.0, 1e-9);
    assert_near(core_commits_take(&commits, &beside, 8, 4.0), 12.0, 1e-9);
    assert_near(core_commits_take(&commits, &third, 8, 4.0), 12.0, 1e-9); /* none was, in the last one */

    parameter_set(&costs, PROBE_CORE_STORE_READ, 0.0);
    parameter_set(&costs, PROBE_CORE_STORE_ROW, 0.0);
    parameter_set(&costs, PROBE_CORE_STORE_PAIR_BYTES, 0.0);
    core_commits_init(&commits, &costs, 2, true);
    assert_near(core_commits_take(&commits, &first, 8, 4.0), 4.0, 1e-9);
    assert_near(core_commits_take(&commits, &other, 8, 4.0), 4.0, 1e-9); /* two, wherever they go */
    assert_near(core_commits_take(&commits, NULL, 8, 4.0), 5.0, 1e-9);
    assert_near(core_commits_take(&commits, NULL, 8, 4.0), 5.0, 1e-9);

    parameter_set(&costs, PROBE_CORE_STORE_READ, 1.0);
    parameter_set(&costs, PROBE_CORE_STORE_ROW, 1.0);
    parameter_set(&costs, PROBE_CORE_STORE_PAIR_BYTES, 32.0);
    static const bool loops[] = {true, false};
    for (unsigned l = 0; l < 2; l++) { /* one of three */
        core_commits_init(&commits, &costs, 3, loops[l]);
        assert_near(core_commits_take(&commits, &first, 8, 4.0), 4.0, 1e-9);
        core_commits_read(&commits);
        assert_near(core_commits_take(&commits, &first, 8, 4.0), 4.0, 1e-9);
        assert_near(core_commits_take(&commits, &first, 8, 4.0), 4.0, 1e-9);
        assert_near(core_commits_take(&commits, &first, 8, 4.0), loops[l] ? 5.0 : 4.0, 1e-9);
    }
}

/* Where any two share a cycle, but of a width only one was seen to enter in it, or less. */
static void wide_stores_enter_alone(void **state) {
    (void)state;
    struct core_costs costs = {.port_names = "01"};
    const struct core_word first = {1, 64}, next = {1, 128};
    struct core_commits commits;
    parameter_set(&costs, PROBE_CORE_STORE_PAIR_BYTES, 0.0);
    parameter_set(&costs, PROBE_CORE_STORE_RATE_256, 2.0);
    parameter_set(&costs, PROBE_CORE_STORE_RATE_512, 0.998);
    core_commits_init(&commits, &costs, 3, true);
    assert_near(core_commits_take(&commits, &first, 32, 4.0), 4.0, 1e-9);
    assert_near(core_commits_take(&commits, &next, 32, 4.0), 4.0, 1e-9);
    assert_near(core_commits_take(&commits, &first, 64, 4.0), 5.0, 1e-9);
    assert_near(core_commits_take(&commits, &next, 64, 4.0), 6.0, 1e-9);
    assert_near(core_commits_take(&commits, NULL, 8, 4.0), 7.0, 1e-9);
    assert_near(core_commits_take(&commits, NULL, 8, 4.0), 7.0, 1e-9);

    parameter_set(&costs, PROBE_CORE_STORE_RATE_256, 1.0);
    parameter_set(&costs, PROBE_CORE_STORE_RATE_512, 0.5);
    core_commits_init(&commits, &costs, 3, true);
    assert_near(core_commits_take(&commits, &first, 32, 4.0), 4.0, 1e-9);
    assert_near(core_commits_take(&commits, &next, 32, 4.0), 5.0, 1e-9);
    assert_near(core_commits_take(&commits, &next, 64, 9.0), 10.0, 1e-9);

    parameter_set(&costs, PROBE_CORE_STORE_PAIR_BYTES, 64.0); /* in one block they still share */
    core_commits_init(&commits, &costs, 3, true);
    assert_near(core_commits_take(&commits, &first, 32, 4.0), 4.0, 1e-9);
    assert_near(core_commits_take(&commits, &first, 8, 4.0), 4.0, 1e-9);
    assert_near(core_commits_take(&commits, &next, 64, 4.0), 6.0, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_is_taken_once_at_a_time),
        cmocka_unit_test(a_port_is_taken_once_a_cycle),
        cmocka_unit_test(so_many_loads_begin_in_a_bank),
        cmocka_unit_test(results_have_a_way_of_their_own),
        cmocka_unit_test(a_port_is_given_by_what_waits_or_in_turn),
        cmocka_unit_test(stores_enter_the_cache_in_order),
        cmocka_unit_test(wide_stores_enter_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
