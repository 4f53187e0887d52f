/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional moves as a set of ports of their own: they wait for flags that others write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/decode.h"
#include "probe/usage.h"
#include "probe/usage_steps.h"
#include "tests/port_machine.h"

/* As on a Zen 4. BSF has its flags late, and few uops may wait for them. */
static const char CPU[] = CORE("6", "0123") "rob 4000\nscheduler 40\n";
enum { ONE, SHIFTS, MOVES, ALL, SET, LATE, FORMS };
static const struct cast cast[] = {{"popcnt r64, r64", "0"},
                                   {"rorx r64, r64, imm8", "01"},
                                   {"cmovb r64, r64", "23"},
                                   {"movsxd r64, r32", "0123"},
                                   {"setb r8", "23"},
                                   {"bsf r64, r64", "1*p01 latency 1 op2->flags 100 op1->flags 100"},
                                   {"", ""}};

static int cpu_setup(void **state) {
    static struct machine machine;
    struct ip_error err = {0};
    machine_open(&machine, CPU, cast);
    *state = &machine;
    return machine_map(&machine, "", &err) == IP_OK ? 0 : -1;
}

static int cpu_teardown(void **state) {
    machine_close(*state);
    return 0;
}

/* The position of this form among the map's members. */
static int member_of(const struct probe_portmap *map, unsigned form) {
    int member = 0;
    while (strcmp(map->members[member].form->syntax, cast[form].form) != 0) {
        member++;
    }
    return member;
}

static uint32_t ports_of(const struct probe_portmap *map, unsigned form) {
    int class = map->members[member_of(map, form)].class;
    assert_true(class >= 0);
    return map->classes[class].ports;
}

static void conditional_moves_have_a_set(void **state) {
    const struct machine *machine = *state;
    const struct probe_portmap *map = &machine->map;
    assert_int_equal(ports_in(ports_of(map, MOVES)), 2);
    assert_int_equal(ports_of(map, MOVES) & ports_of(map, SHIFTS), 0);
    assert_int_equal(ports_of(map, MOVES) | ports_of(map, SHIFTS), ports_of(map, ALL));
}

static void uses_one_of(struct machine *machine, unsigned form, uint32_t ports) {
    struct ip_error err = {0};
    struct probe_usage usage;
    struct isa_form *forms[1] = {isa_table_find(&machine->table, cast[form].form)};
    assert_int_equal(isa_forms_derive(forms, 1, &err), IP_OK);
    struct hx_meter meter = hx_bench_meter(&machine->bench);
    assert_int_equal(probe_usage_measure(&meter, &machine->bench.encoder, &machine->map, NULL, forms, NULL, 1,
                                         &usage, &err),
                     IP_OK);
    if (usage.verdict != PROBE_USAGE_OK || usage.term_count != 1) {
        fail_msg("%s: %u terms; %s", cast[form].form, usage.term_count, usage.why);
    }
    assert_int_equal(usage.terms[0].ports, ports);
    assert_true(usage.terms[0].uops == 1);
}

static void what_reads_flags_goes_there(void **state) {
    struct machine *machine = *state;
    uses_one_of(machine, SET, ports_of(&machine->map, MOVES));
}

static void flags_that_come_late_are_no_uops(void **state) {
    struct machine *machine = *state;
    uses_one_of(machine, LATE, ports_of(&machine->map, SHIFTS));
}

/* Where uops wait for blocked ports no check leaves one port beside conditional moves. */
static void a_check_leaves_more_than_one_port(void **state) {
    const struct machine *machine = *state;
    const struct probe_portmap *map = &machine->map;
    static struct probe_usage_subject subject;
    struct probe_usage result = {.term_count = 1, .terms = {{.ports = ports_of(map, ALL), .uops = 1}}};
    static const unsigned sets[] = {ONE, MOVES};
    for (unsigned delays = 0; delays < 2; delays++) {
        memset(&subject, 0, sizeof subject);
        subject.delays = delays;
        subject.count = 2;
        for (unsigned e = 0; e < 2; e++) {
            subject.experiments[e] = (struct probe_usage_experiment){
                .target = ports_of(map, sets[e]), .parts = 1, .members = {member_of(map, sets[e])}};
        }
        probe_usage_checks_choose(&subject, &result, map);
        assert_int_equal(subject.check_count, delays == 0 ? 1 : 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditional_moves_have_a_set),
        cmocka_unit_test(what_reads_flags_goes_there),
        cmocka_unit_test(flags_that_come_late_are_no_uops),
        cmocka_unit_test(a_check_leaves_more_than_one_port),
    };
    return cmocka_run_group_tests(tests, cpu_setup, cpu_teardown);
}
