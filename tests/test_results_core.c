/* SPDX-License-Identifier: Apache-2.0 */
/* The core's parameters: by name, in memory and in the store. */
#include "results/core.h"
#include "tests/results_samples.h"

static void test_names(void **state) {
    (void)state;
    struct ip_error err = {0};
    struct probe_core core = {0};
    assert_true(isnan(probe_core_get(&core, PROBE_CORE_ISSUE_WIDTH)));
    for (unsigned i = 0; i < PROBE_CORE_KEYS; i++) {
        assert_non_null(probe_core_key_name(i));
        assert_non_null(probe_core_key_unit(i));
        must(probe_core_set(&core, probe_core_key_name(i), 1.0 + i, 0.0, "by hand", &err), &err);
    }
    for (unsigned i = 0; i < PROBE_CORE_KEYS; i++) {
        assert_true(probe_core_get(&core, i) == 1.0 + i); /* no two keys share a name */
    }
    assert_int_equal(probe_core_set(&core, "colour", 1.0, 0.0, NULL, &err), IP_USAGE);
    assert_int_equal(core.fact_count, 0);
    probe_core_fini(&core);
}

static void test_facts(void **state) {
    (void)state;
    struct ip_error err = {0};
    struct probe_core core = {0};
    for (unsigned i = 0; i < 200; i++) { /* in no order; some twice */
        char key[PROBE_CORE_FACT_MAX], form[32];
        (void)snprintf(form, sizeof form, "frob%u r64", i * 37 % 100);
        probe_core_fact_key("fuse", form, "jz rel8", key);
        must(probe_core_set(&core, key, i, 0.0, NULL, &err), &err);
    }
    assert_int_equal(core.fact_count, 100);
    for (unsigned i = 100; i < 200; i++) {
        char form[32];
        (void)snprintf(form, sizeof form, "frob%u r64", i * 37 % 100);
        const struct probe_core_value *value = probe_core_fact_get(&core, "fuse", form, "jz rel8");
        assert_non_null(value);
        assert_true(value->value == i);
    }
    assert_null(probe_core_fact_get(&core, "fuse", "frob1 r64", NULL));
    assert_null(probe_core_fact_get(&core, "idiom", "frob1 r64", NULL));
    probe_core_fini(&core);
}

static void test_store(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    sample_store_make(place->path, &machine, 1);
    struct ip_error err = {0};
    struct res_store *store = NULL;
    struct probe_core core = {0}, back = {0};
    must(res_store_open_readonly(&store, place->path, &err), &err);
    must(res_core_get(store, &back, &err), &err); /* nothing was stored: nothing is known */
    assert_false(back.values[PROBE_CORE_ISSUE_WIDTH].known);
    res_store_close(store);

    must(probe_core_set(&core, "issue_width", 6.0, 0.01, "long NOPs", &err), &err);
    must(probe_core_set(&core, "eliminate mov r64, r64", 0.2, NAN, NULL, &err), &err);
    store = sample_store_open(place->path, true);
    must(res_core_put(store, &core, &err), &err);
    must(probe_core_set(&core, "issue_width", 8.0, 0.02, "again", &err), &err);
    core.facts[0].value.known = false; /* a second experiment that does not know it leaves it alone */
    must(res_core_put(store, &core, &err), &err);
    /* What a scan sees by the way takes the place of nothing but of its like. */
    struct probe_core seen = {0};
    must(probe_core_set(&seen, "eliminate mov r64, r64", 0.3, NAN, RES_CORE_OF_SCAN "chain", &err), &err);
    must(probe_core_set(&seen, "eliminate mov r32, r32", 0.3, NAN, RES_CORE_OF_SCAN "chain", &err), &err);
    must(res_core_add(store, &seen, &err), &err);
    must(probe_core_set(&seen, "eliminate mov r32, r32", 0.4, NAN, RES_CORE_OF_SCAN "chain", &err), &err);
    must(res_core_add(store, &seen, &err), &err);
    probe_core_fini(&seen);
    must(res_run_end(store, "finished", 1, &err), &err);
    must(res_core_get(store, &back, &err), &err);
    assert_true(probe_core_fact_get(&back, "eliminate", "mov r64, r64", NULL)->value == 0.2);
    assert_true(probe_core_fact_get(&back, "eliminate", "mov r32, r32", NULL)->value == 0.4);
    assert_true(probe_core_get(&back, PROBE_CORE_ISSUE_WIDTH) == 8.0);
    assert_true(back.values[PROBE_CORE_ISSUE_WIDTH].spread == 0.02);
    assert_string_equal(back.values[PROBE_CORE_ISSUE_WIDTH].how, "again");
    assert_false(back.values[PROBE_CORE_ROB_SLOTS].known);
    const struct probe_core_value *fact = probe_core_fact_get(&back, "eliminate", "mov r64, r64", NULL);
    assert_non_null(fact);
    assert_true(fact->value == 0.2 && isnan(fact->spread));
    res_store_close(store);
    probe_core_fini(&core);
    probe_core_fini(&back);
}

/* Numbers that no core has, from whoever else wrote there: the model would take them for sizes. */
static void test_impossible(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    sample_store_make(place->path, &machine, 1);
    static const struct {
        const char *key;
        double value;
        bool possible;
    } cases[] = {{"rob_slots", 0, false},     {"rob_slots", -4, false},   {"issue_width", 0.5, false},
                 {"rob_slots", 1e300, false}, {"l1i_bytes", 1e12, false}, {"load_base", INFINITY, false},
                 {"load_base", -1e10, false}, {"fuse a + b", 2e9, false}, {"nop_slots", 0, true},
                 {"load_alias", -0.01, true}, {"rob_slots", 512, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ip_error err = {0};
        struct probe_core core = {0}, back = {0};
        must(probe_core_set(&core, cases[i].key, cases[i].value, NAN, "by hand", &err), &err);
        struct res_store *store = sample_store_open(place->path, i == 0);
        must(res_core_put(store, &core, &err), &err);
        assert_int_equal(res_core_get(store, &back, &err), cases[i].possible ? IP_OK : IP_IO);
        if (!cases[i].possible) {
            assert_non_null(strstr(err.text, cases[i].key));
            assert_non_null(strstr(err.text, place->path));
        }
        probe_core_fini(&back);
        for (unsigned k = 0; k < PROBE_CORE_KEYS; k++) {
            core.values[k].value = 1;
        }
        for (size_t f = 0; f < core.fact_count; f++) {
            core.facts[f].value.value = 1;
        }
        must(res_core_put(store, &core, &err), &err); /* mended, for the next */
        res_store_close(store);
        probe_core_fini(&core);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_facts),
        cmocka_unit_test_setup_teardown(test_store, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_impossible, place_open, place_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
