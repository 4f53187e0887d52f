/* SPDX-License-Identifier: Apache-2.0 */
/* What rename does with a form, on a simulated CPU that knows it: elimination, idioms, macro-fusion. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "isa/decode.h"
#include "probe/fusion.h"
#include "probe/rename.h"
#include "tests/brief.h"
#include "tests/port_machine.h"

enum { CLASSES_COUNT = 8 };

static const struct cast cast[] = {
    {"popcnt r64, r64", "1"},
    {"shlx r64, r64, r64", "06"},
    {"andn r64, r64, r64", "15"},
    {"movsxd r64, r32", "0156"},
    {"kmovd k, k", "0"},
    {"vpermd ymm, ymm, ymm", "5"},
    {"vaddpd ymm, ymm, ymm", "01 latency 4"},
    {"vandpd ymm, ymm, ymm", "015"},
    {"mov r64, r64", "none slots 1 latency 0"}, /* eliminated */
    {"mov r32, r32", "none slots 1 latency 1"}, /* without a port, yet not at once */
    {"vmovdqa ymm, ymm", "1*p015 latency 1"},   /* executed */
    {"vpxor ymm, ymm, ymm", "1*p015 latency 1 same-register eliminated"},    /* zero idiom */
    {"vpcmpeqd ymm, ymm, ymm", "1*p01 latency 1 same-register breaks"},      /* ones idiom, executed */
    {"vpand ymm, ymm, ymm", "1*p015 latency 1"},                             /* ordinary */
    {"vpalignr ymm, ymm, ymm, imm8", "1*p5 latency 1 same-register breaks"}, /* a number decides: not asked */
    {"add r64, imm8", "none slots 1 latency 0"}, /* eliminated, though they make flags */
    {"inc r64", "none slots 1 latency 0"},
    {"add r64, imm32", "none slots 1 latency 1"}, /* no core is like this: something went wrong */
    {"", ""},
};

struct expected {
    enum probe_answer eliminated, breaks, portless;
    enum probe_usage_verdict verdict;
};

static void recovers(const char *core) {
    static const struct expected expected[] = {
        {PROBE_YES, PROBE_NOT_MEASURED, PROBE_NOT_MEASURED, PROBE_USAGE_OK},
        {PROBE_NO, PROBE_NOT_MEASURED, PROBE_NOT_MEASURED, PROBE_USAGE_OK},
        {PROBE_NOT_MEASURED, PROBE_NOT_MEASURED, PROBE_NOT_MEASURED, PROBE_USAGE_OK},
        {PROBE_NOT_MEASURED, PROBE_YES, PROBE_YES, PROBE_USAGE_OK},
        {PROBE_NOT_MEASURED, PROBE_YES, PROBE_NO, PROBE_USAGE_OK},
        {PROBE_NOT_MEASURED, PROBE_NO, PROBE_NOT_MEASURED, PROBE_USAGE_OK},
        {PROBE_NOT_MEASURED, PROBE_NOT_MEASURED, PROBE_NOT_MEASURED, PROBE_USAGE_OK},
        {PROBE_YES, PROBE_NOT_MEASURED, PROBE_NOT_MEASURED, PROBE_USAGE_OK},
        {PROBE_YES, PROBE_NOT_MEASURED, PROBE_NOT_MEASURED, PROBE_USAGE_OK},
        {PROBE_NOT_MEASURED, PROBE_NOT_MEASURED, PROBE_NOT_MEASURED, PROBE_USAGE_INCONSISTENT},
    };
    enum { COUNT = sizeof expected / sizeof expected[0] };
    struct machine machine;
    struct ip_error err = {0};
    struct isa_form *forms[COUNT];
    struct probe_usage usages[COUNT];
    struct probe_rename results[COUNT];
    machine_open(&machine, core, cast);
    assert_int_equal(machine_map(&machine, "", &err), IP_OK);
    for (size_t i = 0; i < COUNT; i++) {
        forms[i] = isa_table_find(&machine.table, cast[CLASSES_COUNT + i].form);
        assert_non_null(forms[i]);
    }
    assert_int_equal(isa_forms_derive(forms, COUNT, &err), IP_OK);
    struct hx_meter meter = hx_bench_meter(&machine.bench);
    struct gen_encoder *encoder = &machine.bench.encoder;
    enum ip_status status =
        probe_usage_measure(&meter, encoder, &machine.map, NULL, forms, NULL, COUNT, usages, &err);
    if (status == IP_OK) {
        status = probe_rename_measure(&meter, encoder, &machine.map, forms, COUNT, usages, results, &err);
    }
    if (status != IP_OK) {
        fail_msg("%s", err.text);
    }
    for (size_t i = 0; i < COUNT; i++) {
        if (results[i].eliminated != expected[i].eliminated || results[i].breaks != expected[i].breaks ||
            results[i].portless != expected[i].portless || usages[i].verdict != expected[i].verdict) {
            fail_msg(
                "%s: eliminated %d, breaks %d, portless %d; a link %.2f, with one register %.2f, %.2f uops",
                forms[i]->syntax, (int)results[i].eliminated, (int)results[i].breaks,
                (int)results[i].portless, results[i].link_cycles, results[i].same_register_cycles,
                results[i].same_register_uops);
        }
    }
    machine_close(&machine);
}

static void test_rename(void **state) {
    (void)state;
    skip_under_memcheck();
    recovers(CORE("6", "0156"));
}

static void test_noise(void **state) {
    (void)state;
    recovers(CORE("6", "0156") "noise 0.003\nspikes 0.01 2000\nseed 5\n");
}

/* "sub" fuses with all jumps, "cmp" with two, "add" with none; "popcnt" sets no flags that a jump would ask
 * for. */
static void test_fusion(void **state) {
    (void)state;
    static const struct cast pairs[] = {{"sub r64, r64", "0156"},
                                        {"cmp r64, imm8", "0156"},
                                        {"add r32, m32", "1*p0156+1*p89"},
                                        {"popcnt r64, r64", "1"},
                                        {"mov r64, r64", "none slots 1"},
                                        {"test r64, r64", "0156"},
                                        {"", ""}};
    struct machine machine;
    struct ip_error err = {0};
    struct isa_form *forms[4];
    struct probe_fusion results[4];
    machine_open(&machine, CORE("6", "0156") "fuse \"cmp *\" \"jz *\"\nfuse \"cmp *\" \"jnl *\"\n", pairs);
    for (size_t i = 0; i < 4; i++) {
        forms[i] = isa_table_find(&machine.table, pairs[i].form);
    }
    struct hx_meter meter = hx_bench_meter(&machine.bench);
    if (probe_fusion_measure(&meter, &machine.bench.encoder, 6, forms, 4, results, &err) != IP_OK) {
        fail_msg("%s", err.text);
    }
    assert_true(results[0].measured && results[1].measured && results[2].measured && !results[3].measured);
    assert_int_equal(results[0].fused, 0xffff);
    assert_int_equal(results[1].fused, 1u << 4 | 1u << 13);
    assert_int_equal(results[1].apart, 0xffff & ~results[1].fused);
    assert_int_equal(results[2].fused, 0);
    assert_int_equal(results[2].apart, 0xffff);
    assert_int_equal(results[3].fused | results[3].apart, 0);
    assert_string_equal(probe_fusion_jumps[13], "jnl");
    machine_close(&machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rename),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_fusion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
