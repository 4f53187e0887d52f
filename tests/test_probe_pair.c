/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs on a simulated CPU with five ALU ports behind six issue slots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "isa/decode.h"
#include "probe/pair.h"
#include "tests/port_machine.h"

#define FIVE                                                                                                 \
    "isaprobe-sim 1\nissue-width 6\nretire-width 8\nscheduler 200\nrob 512\n"                                \
    "ports p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 pA pB\nload-ports p23A\nstore-address-ports p78\n"                  \
    "store-data-ports p49\nform \"sub r64, imm8\" ports 1*p0156B\nform \"j*\" ports 1*p06\n"                 \
    "fuse \"sub *\" \"j*\"\nform \"add r64, r64\" ports 1*p0156B\nform \"nop *\" ports none\n"               \
    "form \"nop\" ports none\nform \"mov r64, m64\" ports 1*p23A\nform \"mov m64, r64\" ports 1*p78+1*p49\n"

static const struct cast cast[] = {{"imul r64, r64", "1*p1 latency 3"},
                                   {"popcnt r64, r64", "1*p1 latency 3"},
                                   {"vpermd ymm, ymm, ymm", "1*p5 latency 3"},
                                   {"andn r64, r64, r64", "15"},
                                   {"vpaddd ymm, ymm, ymm", "015"},
                                   {"shl r64, imm8", "06"},
                                   {"vdivpd ymm, ymm, ymm", "1*p0 latency 14 blocking 8 divider"},
                                   {"vsqrtpd ymm, ymm", "1*p0 latency 19 blocking 9 divider"},
                                   {"sbb r64, r64", "06"},
                                   {"", ""}};

static struct probe_pair pair_on(const char *core, const char *a, const char *b) {
    struct machine machine;
    struct ip_error err = {0};
    struct probe_pair pair;
    struct isa_form forms[2];
    machine_open(&machine, core, cast);
    for (unsigned i = 0; i < 2; i++) {
        struct isa_form *list[1] = {&forms[i]};
        memset(&forms[i], 0, sizeof forms[i]);
        assert_int_equal(isa_form_parse(&forms[i], i == 0 ? a : b, &err), IP_OK);
        assert_int_equal(isa_forms_derive(list, 1, &err), IP_OK);
    }
    struct hx_meter meter = hx_bench_meter(&machine.bench);
    if (probe_pair_measure(&meter, &machine.bench.encoder, &forms[0], &forms[1], &pair, &err) != IP_OK) {
        fail_msg("%s", err.text);
    }
    machine_close(&machine);
    return pair;
}

static void shares(const char *core, const char *a, const char *b, enum probe_sharing sharing, double ports) {
    struct probe_pair pair = pair_on(core, a, b);
    if (pair.sharing != sharing || pair.shared_width != ports) {
        fail_msg("%s, %s: sharing %d, %.0f ports; %s", a, b, (int)pair.sharing, pair.shared_width, pair.why);
    }
}

static void known_pairs(const char *core) {
    shares(core, "imul r64, r64", "popcnt r64, r64", PROBE_SHARING_ALL, 1);
    shares(core, "imul r64, r64", "vpermd ymm, ymm, ymm", PROBE_SHARING_NONE, 0);
    shares(core, "andn r64, r64, r64", "imul r64, r64", PROBE_SHARING_ALL, 1);
    shares(core, "shl r64, imm8", "vpaddd ymm, ymm, ymm", PROBE_SHARING_SOME, 1);
    /* Five ports, and what is written is read: the instances wait for each other unless they have registers.
     */
    shares(core, "add r64, r64", "imul r64, r64", PROBE_SHARING_ALL, 1);
    shares(core, "shl r64, imm8", "add r64, r64", PROBE_SHARING_ALL, 2);
    shares(core, "add r64, r64", "vpaddd ymm, ymm, ymm", PROBE_SHARING_ALL, 3);
    shares(core, "add r64, r64", "add r64, r64", PROBE_SHARING_ALL, 5);
}

static void test_known_pairs(void **state) {
    (void)state;
    known_pairs(FIVE);
}

static void test_noise_and_uneven_binding(void **state) {
    (void)state;
    known_pairs(FIVE "noise 0.003\nspikes 0.05 14000\ndrift walk 0.0005 0.05\nseed 7\n");
    known_pairs(FIVE "policy uneven 0.05\nseed 8\n");
}

/* Ports bound so badly that the interleaving looks like four ports. A few of one beside many of the other
 * tell nevertheless. */
static void test_bound_badly(void **state) {
    (void)state;
    struct probe_pair pair = pair_on(FIVE "policy uneven 0.4\nseed 3\n", "add r64, r64", "imul r64, r64");
    assert_true(36 / pair.together_cycles < 4.5);
    assert_true(pair.b_beside_a.measured);
    assert_true(pair.b_beside_a.confined > 0.7);
    assert_int_equal(pair.sharing, PROBE_SHARING_ALL);
    assert_string_equal(pair.why, "");
}

/* Eight ports cannot be busy behind six slots: two at most are common, and no more is claimed. */
static void test_hidden_by_the_issue(void **state) {
    (void)state;
    struct probe_pair pair = pair_on(FIVE, "add r64, r64", "mov r64, m64");
    assert_int_equal(pair.sharing, PROBE_SHARING_UNKNOWN);
    assert_true(pair.issue_limited);
    assert_true(pair.shared_least == 0 && pair.shared_most == 2);
    assert_non_null(strstr(pair.why, "issue width"));
    assert_true(pair.a_beside_b.measured && fabs(pair.a_beside_b.confined) < 0.1);
    assert_true(pair.b_beside_a.measured && fabs(pair.b_beside_a.confined) < 0.1);
    assert_string_equal(pair.drawing, "ababaabaababaaba");
}

/* A unit that is not pipelined has no width; the times add up. */
static void test_shared_unit(void **state) {
    (void)state;
    struct probe_pair pair = pair_on(FIVE, "vdivpd ymm, ymm, ymm", "vsqrtpd ymm, ymm");
    assert_int_equal(pair.sharing, PROBE_SHARING_ALL);
    assert_true(pair.union_width == 0);
    pair = pair_on(FIVE, "vdivpd ymm, ymm, ymm", "vpermd ymm, ymm, ymm");
    assert_int_equal(pair.sharing, PROBE_SHARING_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_pairs), cmocka_unit_test(test_noise_and_uneven_binding),
        cmocka_unit_test(test_bound_badly), cmocka_unit_test(test_hidden_by_the_issue),
        cmocka_unit_test(test_shared_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
