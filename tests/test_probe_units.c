/* SPDX-License-Identifier: Apache-2.0 */
/* Unpipelined units on simulated CPUs that have them, and forms that are slow for other reasons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "isa/decode.h"
#include "probe/units.h"
#include "tests/brief.h"
#include "tests/port_machine.h"

enum { CLASSES_COUNT = 8, SUBJECTS_MAX = 8 };

#define CLASSES                                                                                              \
    {"popcnt r64, r64", "1"}, {"shlx r64, r64, r64", "06"}, {"andn r64, r64, r64", "15"},                    \
        {"movsxd r64, r32", "0156"}, {"kmovd k, k", "0"}, {"vpermd ymm, ymm, ymm", "5"},                     \
        {"vaddpd ymm, ymm, ymm", "01"}, {                                                                    \
        "vandpd ymm, ymm, ymm", "015"                                                                        \
    }
#define RENEWALS                                                                                             \
    "form \"xor r32, r32\" ports none slots 1 same-register eliminated\nform \"mov r*, imm*\" ports "        \
    "1*p0156\n"                                                                                              \
    "form \"test r64, r64\" ports 1*p0156\n"

struct trial {
    struct machine machine;
    struct probe_units units;
    struct isa_form *forms[SUBJECTS_MAX];
    struct probe_usage usages[SUBJECTS_MAX];
    size_t count;
};

/* The forms behind CLASSES are the subjects. */
static void trial_open(struct trial *trial, const char *core, const struct cast *cast) {
    struct ip_error err = {0};
    memset(trial, 0, sizeof *trial);
    machine_open(&trial->machine, core, cast);
    if (machine_map(&trial->machine, "", &err) != IP_OK) {
        fail_msg("%s", err.text);
    }
    for (const struct cast *row = cast + CLASSES_COUNT; row->form[0] != '\0'; row++) {
        trial->forms[trial->count] = isa_table_find(&trial->machine.table, row->form);
        assert_non_null(trial->forms[trial->count++]);
    }
    assert_int_equal(isa_forms_derive(trial->forms, trial->count, &err), IP_OK);
}

/* Ports and units of subjects [from, from + count). */
static void trial_measure(struct trial *trial, size_t from, size_t count) {
    struct ip_error err = {0};
    struct machine *machine = &trial->machine;
    struct hx_meter meter = hx_bench_meter(&machine->bench);
    enum ip_status status = probe_usage_measure(&meter, &machine->bench.encoder, &machine->map, NULL,
                                                trial->forms + from, NULL, count, trial->usages + from, &err);
    if (status == IP_OK) {
        status = probe_units_measure(&meter, &machine->bench.encoder, &machine->table, &machine->map,
                                     &trial->units, trial->forms + from, count, trial->usages + from, &err);
    }
    if (status != IP_OK) {
        fail_msg("%s", err.text);
    }
}

static void unit_is(const struct trial *trial, size_t subject, const char *unit, double cycles) {
    const struct probe_usage *usage = &trial->usages[subject];
    if (strcmp(usage->unit, unit) != 0) {
        fail_msg("%s: unit '%s', not '%s' (%s)", trial->forms[subject]->syntax, usage->unit, unit,
                 usage->why);
    }
    if (unit[0] != '\0') {
        assert_true(fabs(usage->unit_cycles - cycles) < 0.05 * cycles);
    } else {
        assert_true(isnan(usage->unit_cycles));
    }
}

/* Two units whose forms use the same port, a third one that no form called a division holds, and forms that
 * hold none. */
static const struct cast units[] = {CLASSES,
                                    {"divpd xmm, xmm", "1*p0 latency 14 blocking 4 vector"},
                                    {"vsqrtpd xmm, xmm", "1*p0 latency 18 blocking 6 vector"},
                                    {"vdivps ymm, ymm, ymm", "1*p0 latency 11 blocking 5 vector"},
                                    {"div r32", "1*p0+2*p15 latency 26 blocking 6 integer"},
                                    {"pdep r64, r64, r64", "1*p1 latency 9 blocking 4 other"},
                                    {"pext r64, r64, r64", "1*p5 latency 5 blocking 5 other"},
                                    {"imul r64, r64", "1*p1 latency 3"},
                                    {"mulx r64, r64, r64", "4*p5 latency 6"},
                                    {"", ""}};

static void recovers(const char *core) {
    struct trial trial;
    char sharers[256];
    trial_open(&trial, core, units);
    trial_measure(&trial, 0, trial.count);
    unit_is(&trial, 0, "vsqrtpd xmm, xmm", 4);
    unit_is(&trial, 1, "vsqrtpd xmm, xmm", 6);
    unit_is(&trial, 2, "vsqrtpd xmm, xmm", 5);
    unit_is(&trial, 3, "div r32", 6);
    unit_is(&trial, 4, "pdep r64, r64, r64", 4);
    unit_is(&trial, 5, "pdep r64, r64, r64", 5);
    unit_is(&trial, 6, "", NAN);
    unit_is(&trial, 7, "", NAN);
    assert_int_equal(trial.units.count, 3);
    assert_string_equal(
        probe_unit_sharers(&trial.units, "vsqrtpd xmm, xmm", trial.forms[0], sharers, sizeof sharers),
        "vsqrtpd xmm, xmm; vdivps ymm, ymm, ymm");
    assert_string_equal(probe_unit_sharers(&trial.units, "div r32", trial.forms[3], sharers, sizeof sharers),
                        "");
    machine_close(&trial.machine);
}

static void test_units(void **state) {
    (void)state;
    recovers(CORE("6", "0156") RENEWALS);
}

static void test_noise(void **state) {
    (void)state;
    skip_under_memcheck();
    recovers(CORE("6", "0156") RENEWALS "noise 0.003\nspikes 0.01 2000\nseed 11\n");
}

/* Forms that are measured later are compared with the units that are known, also by name alone. */
static void test_later_calls(void **state) {
    (void)state;
    struct trial trial;
    trial_open(&trial, CORE("6", "0156") RENEWALS, units);
    trial_measure(&trial, 5, 1);
    unit_is(&trial, 5, "pext r64, r64, r64", 5);
    trial_measure(&trial, 4, 1);
    unit_is(&trial, 4, "pext r64, r64, r64", 4);
    memset(&trial.units, 0, sizeof trial.units);
    (void)snprintf(trial.units.known[trial.units.known_count++], PROBE_UNIT_NAME, "pdep r64, r64, r64");
    trial_measure(&trial, 5, 1);
    unit_is(&trial, 5, "pdep r64, r64, r64", 5);
    machine_close(&trial.machine);
}

/* Slow, but for no unit: each says why. What `ports` makes of such forms is not at issue. */
static void test_no_units(void **state) {
    (void)state;
    static const struct cast cast[] = {
        CLASSES,
        {"lzcnt r64, r64", "1*p1 latency 60 reads op1"}, /* a false dependence */
        {"pext r64, r64, r64", "14*p16"},                /* a set that no form shows */
        {"lock add m64, r64", "1*p0156+1*p89+1*pA+1*pB latency 80"},
        {"mulx r64, r64, r64", "1*p1 latency 4 slots 24"}, /* microcode */
        {"bextr r64, r64, r64", "3*p06"},                  /* too fast */
        {"", ""}};
    static const char *const reasons[] = {
        "its instances wait for results of others", "ports are nearly as busy: no unit can be told",
        "it may wait for the memory that it reads and writes",
        "nothing is issued beside it: microcode, or it waits for all under way",
        "by too little for a unit to be told"};
    struct trial trial;
    struct ip_error err = {0};
    trial_open(&trial, CORE("6", "0156") RENEWALS, cast);
    for (size_t i = 0; i < trial.count; i++) {
        trial.usages[i] = (struct probe_usage){
            .verdict = PROBE_USAGE_OK, .slower = true, .cycles = 8, .expected_cycles = 1};
    }
    struct machine *machine = &trial.machine;
    struct hx_meter meter = hx_bench_meter(&machine->bench);
    assert_int_equal(probe_units_measure(&meter, &machine->bench.encoder, &machine->table, &machine->map,
                                         &trial.units, trial.forms, trial.count, trial.usages, &err),
                     IP_OK);
    for (size_t i = 0; i < trial.count; i++) {
        unit_is(&trial, i, "", NAN);
        assert_string_equal(trial.usages[i].why, reasons[i]);
    }
    assert_int_equal(trial.units.count, 0);
    machine_close(&trial.machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_later_calls),
        cmocka_unit_test(test_no_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
