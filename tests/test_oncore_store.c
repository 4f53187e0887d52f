/* SPDX-License-Identifier: Apache-2.0 */
/* Costs out of a store: what cannot be read is an error each time that it is asked for. */
#include "tests/results_samples.h"

#include "isa/decode.h"
#include "oncore/oncore.h"

/* A process that goes on after the first error (libisaprobe's model) would get a form without ports, and a
 * prediction without a word. */
static void test_damaged_usage(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    struct ip_error err = {0};
    struct res_store *store = NULL;
    struct core_costs costs = {0};
    struct isa_form form;
    const struct core_cost *cost = NULL;
    size_t length = 0;
    static const uint8_t imul[] = {0x48, 0x0f, 0xaf, 0xc3};
    must(isa_decode(imul, sizeof imul, &form, NULL, &length, &err), &err);
    sample_store_make(place->path, &machine, 1);
    sql(place->path,
        "UPDATE forms SET syntax = 'imul r64, r64', mnemonic = 'imul';"
        "INSERT INTO ports SELECT id, 'x', 1, 1, 1, 1, 0, 'ok', '', NULL, '', '', NULL, run_id FROM forms");
    must(res_store_open_readonly(&store, place->path, &err), &err);
    must(core_costs_open(&costs, store, &err), &err);
    for (unsigned twice = 0; twice < 2; twice++) {
        assert_int_not_equal(core_costs_get(&costs, &form, &cost, &err), IP_OK);
        assert_null(cost);
    }
    core_costs_fini(&costs);
    res_store_close(store);

    sql(place->path, "UPDATE ports SET usage = '1*p1'");
    must(res_store_open_readonly(&store, place->path, &err), &err);
    must(core_costs_open(&costs, store, &err), &err);
    must(core_costs_get(&costs, &form, &cost, &err), &err);
    assert_true(cost->known);
    core_costs_fini(&costs);
    res_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_damaged_usage, place_open, place_close)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
