/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of x87: what keeps its stack as it was stands beside the form, and is none of its uops. */
#include "isa/decode.h"
#include "probe/usage.h"
#include "probe/usage_steps.h"
#include "tests/generator_testing.h"
#include "tests/port_machine.h"

/* Shifts at {1 2}, vectors at {4 5}, what both have in one and all: a core whose pipes are apart, as AMD's.
 */
static const char CPU[] =
    CORE("8", "0123") "form \"ffree st\" ports 1*p5\nform \"fld m32\" ports 1*p89+1*p45+1*p12 slots 1\n"
                      "form \"fld1\" ports 1*p45\nform \"fstp st\" ports 1*p45\n";
static const struct cast cast[] = {{"popcnt r64, r64", "0"},
                                   {"rorx r64, r64, imm8", "12"},
                                   {"movsxd r64, r32", "0123"},
                                   {"vpshufd ymm, ymm, imm8", "5"},
                                   {"vmulpd ymm, ymm, ymm", "4"},
                                   {"vaddpd ymm, ymm, ymm", "45"},
                                   {"fadd st0, st", "1*p4 latency 6"},
                                   {"faddp st, st0", "1*p4 latency 6"},
                                   {"fmul m64", "1*p89+1*p5+1*p12 slots 1 latency 6"},
                                   {"fld st", "1*p45"},
                                   {"fld m64", "1*p89+1*p45+1*p12 slots 1"},
                                   {"fstp m64", "1*pA+1*pB+1*p5 slots 2"},
                                   {"fcompp", "1*p5"},
                                   {"", ""}};

/* Of the class that this candidate is a member of. */
static uint32_t ports_of(const struct probe_portmap *map, const char *syntax) {
    for (size_t i = 0; i < map->member_count; i++) {
        if (strcmp(map->members[i].form->syntax, syntax) == 0) {
            assert_true(map->members[i].class >= 0);
            return map->classes[map->members[i].class].ports;
        }
    }
    fail_msg("no candidate '%s'", syntax);
    return 0;
}

/* uops that the usage has on this set, all told. */
static unsigned uops_on(const struct probe_usage *usage, uint32_t ports) {
    for (unsigned t = 0; t < usage->term_count; t++) {
        if (usage->terms[t].ports == ports) {
            return (unsigned)usage->terms[t].uops;
        }
    }
    return 0;
}

/* What is loaded so that it can be popped, or so that no instance waits for the one before, is taken off; and
 * the address of what x87 has in memory takes a uop without a slot. */
static void test_what_renews_the_stack_is_taken_off(void **state) {
    (void)state;
    struct machine machine;
    machine_open_mapped(&machine, CPU, cast, "");
    static const struct {
        const char *form, *one, *other; /* candidates with the ports of its uops; "": none */
        unsigned uops, stores;
    } told[] = {{"fadd st0, st", "vmulpd ymm, ymm, ymm", "", 1, 0},
                {"faddp st, st0", "vmulpd ymm, ymm, ymm", "", 1, 0},
                {"fcompp", "vpshufd ymm, ymm, imm8", "", 1, 0},
                {"fld st", "vaddpd ymm, ymm, ymm", "", 1, 0},
                {"fld m64", "vaddpd ymm, ymm, ymm", "rorx r64, r64, imm8", 3, 0},
                {"fmul m64", "vpshufd ymm, ymm, imm8", "rorx r64, r64, imm8", 3, 0},
                {"fstp m64", "vpshufd ymm, ymm, imm8", "", 2, 1}};
    enum { FORMS = sizeof told / sizeof told[0] };
    struct isa_form *forms[FORMS];
    struct probe_usage usages[FORMS];
    for (unsigned i = 0; i < FORMS; i++) {
        forms[i] = isa_table_find(&machine.table, told[i].form);
    }
    struct hx_meter meter = hx_bench_meter(&machine.bench);
    struct ip_error err = {0};
    assert_int_equal(isa_forms_derive(forms, FORMS, &err), IP_OK);
    assert_int_equal(probe_usage_measure(&meter, &machine.bench.encoder, &machine.map, NULL, forms, NULL,
                                         FORMS, usages, &err),
                     IP_OK);
    for (unsigned i = 0; i < FORMS; i++) {
        const struct probe_usage *usage = &usages[i];
        if (usage->verdict != PROBE_USAGE_OK) {
            fail_msg("%s: %s", told[i].form, usage->why);
        }
        assert_int_equal(uops_on(usage, ports_of(&machine.map, told[i].one)), 1);
        assert_true(told[i].other[0] == '\0' || uops_on(usage, ports_of(&machine.map, told[i].other)) == 1);
        assert_int_equal(probe_usage_terms_uops(usage->terms, usage->term_count), told[i].uops);
        unsigned stores = 0;
        for (unsigned t = 0; t < usage->term_count; t++) {
            stores += usage->terms[t].store ? (unsigned)usage->terms[t].uops : 0;
        }
        assert_int_equal(stores, told[i].stores);
    }
    machine_close(&machine);
}

/* What stands beside each instance: with it and without. */
static void test_the_same_stands_without_the_form(void **state) {
    (void)state;
    static const struct {
        const char *form, *before, *instance;
    } units[] = {
        {"fadd st0, st", "ffree st7\nfld dword [abs 0x20000018]\n", "fadd st0, st6\n"},
        {"fld st", "ffree st7\n", "fld st6\n"},
        {"fcompp", "ffree st7\nffree st6\nfld dword [abs 0x20000018]\nfld dword [abs 0x20000018]\n",
         "fcompp\n"},
        {"fadd st, st0", "", "fadd st1, st0\n"},
    };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        struct isa_form form = form_of(units[i].form);
        struct ip_error err = {0};
        struct gen_part part = {.form = &form, .count = 1, .how = probe_usage_independence(&form)};
        char whole[256];
        (void)snprintf(whole, sizeof whole, "%s%s", units[i].before, units[i].instance);
        struct gen_program program;
        assert_int_equal(gen_mix_program(&program, &part, 1, &err), IP_OK);
        assert_unit(&program, whole);
        gen_program_fini(&program);
        part.how.renewals_only = true;
        assert_int_equal(gen_mix_program(&program, &part, 1, &err), IP_OK);
        assert_unit(&program, units[i].before);
        gen_program_fini(&program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_renews_the_stack_is_taken_off),
        cmocka_unit_test(test_the_same_stands_without_the_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
