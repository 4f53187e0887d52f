/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of a simulated CPU as a second opinion on what was inferred from time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "isa/decode.h"
#include "probe/counted.h"
#include "tests/port_machine.h"

static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                   {"shlx r64, r64, r64", "06"},
                                   {"pext r64, r64, r64", "2*p1+1*p06"},
                                   {"add m64, r64", "1*p06+1*p89+1*pA+1*pB"},
                                   {"mov r64, imm64", "0156"},
                                   {"mov r32, imm32", "0156"},
                                   {"lodsq", "1*p89+1*p0156"},
                                   {"", ""}};

enum { FORMS = 4 };

/* Writes the description of the machine, which lives in a file while it is open. */
static void counts_of(const char *core, struct probe_counted *counted, unsigned *events_count) {
    struct machine machine;
    struct hx_port_events events;
    struct isa_form *forms[FORMS];
    struct ip_error err = {0};
    char path[] = "/tmp/isaprobe-counted-XXXXXX", timer[64];
    machine_open(&machine, core, cast);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(dprintf(fd, "%s", core) > 0);
    for (const struct cast *row = cast; row->form[0] != '\0'; row++) {
        assert_true(dprintf(fd, "form \"%s\" ports %s%s\n", row->form,
                            strchr(row->ports, '*') != NULL ? "" : "1*p", row->ports) > 0);
    }
    assert_int_equal(close(fd), 0);
    (void)snprintf(timer, sizeof timer, "sim:%s", path);
    hx_port_events_open(&events, timer, -1, &machine.bench.references);
    *events_count = events.count;
    static const char *const names[FORMS] = {"popcnt r64, r64", "pext r64, r64, r64", "add m64, r64",
                                             "lodsq"};
    for (unsigned i = 0; i < FORMS; i++) {
        forms[i] = isa_table_find(&machine.table, names[i]);
        assert_non_null(forms[i]);
    }
    assert_int_equal(isa_forms_derive(forms, FORMS, &err), IP_OK);
    assert_int_equal(probe_counted_measure(&events, &machine.bench.encoder, forms, FORMS, counted, &err),
                     IP_OK);
    hx_port_events_close(&events);
    assert_int_equal(unlink(path), 0);
    machine_close(&machine);
}

static void test_counts(void **state) {
    (void)state;
    struct probe_counted counted[FORMS];
    unsigned events;
    char text[PROBE_COUNTED_TEXT];
    counts_of(CORE("6", "0156") "port-counters\nnoise 0.01\n", counted, &events);
    assert_int_equal(events, 12);
    assert_string_equal(probe_counted_print(&counted[0], text), "1.00 p1");
    assert_true(counted[1].measured && fabs(counted[1].total - 3) < 0.01 &&
                fabs(counted[1].uops[1] - 2) < 0.01);
    assert_true(fabs(counted[2].total - 4) < 0.01 && fabs(counted[2].uops[10] - 1) < 0.01);
    assert_true(fabs(counted[3].total - 2) < 0.01); /* without what sets its pointer back */
}

static void test_agreement(void **state) {
    (void)state;
    struct probe_counted counted[FORMS];
    unsigned events;
    counts_of(CORE("6", "0156") "port-counters\n", counted, &events);
    struct probe_usage pext = {.term_count = 2, .terms = {{.ports = 1, .uops = 2}, {.ports = 6, .uops = 1}}};
    assert_true(probe_counted_agrees(&counted[1], &pext));
    pext.terms[0].uops = 1;
    assert_false(probe_counted_agrees(&counted[1], &pext));
    pext.hidden_ports = 15; /* a uop that time does not show */
    pext.hidden_most = 1;
    assert_true(probe_counted_agrees(&counted[1], &pext));
    /* A store is two uops, of which time shows the data. */
    struct probe_usage add = {
        .term_count = 3,
        .terms = {{.ports = 1, .uops = 1, .store = true}, {.ports = 6, .uops = 1}, {.ports = 8, .uops = 1}}};
    assert_true(probe_counted_agrees(&counted[2], &add));
    add.terms[2].uops = 2;
    assert_false(probe_counted_agrees(&counted[2], &add));
}

/* A machine that counts no ports is no error. */
static void test_none(void **state) {
    (void)state;
    struct probe_counted counted[FORMS];
    unsigned events;
    counts_of(CORE("6", "0156"), counted, &events);
    assert_int_equal(events, 0);
    for (unsigned i = 0; i < FORMS; i++) {
        assert_false(counted[i].measured);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
