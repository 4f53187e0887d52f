/* SPDX-License-Identifier: Apache-2.0 */
/* Which forms are asked whether they wait for what they only write. The measurement:
 * tests/cli/scan_output.sh. */
#include "probe/output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/decode.h"
#include "isa/table.h"

static int operand_of(const char *syntax) {
    struct isa_form form, *list[1] = {&form};
    struct ip_error err;
    assert_int_equal(isa_form_parse(&form, syntax, &err), IP_OK);
    assert_int_equal(isa_forms_derive(list, 1, &err), IP_OK);
    return probe_output_operand(&form);
}

static void test_asked(void **state) {
    (void)state;
    assert_int_equal(operand_of("popcnt r64, r64"), 0);
    assert_int_equal(operand_of("vpaddd xmm, xmm, xmm"), 0);
    assert_int_equal(operand_of("vexpandps zmm{k}{z}, m512"), 0);
    assert_int_equal(operand_of("vpcmpeqd k, zmm, zmm"), 0);
    assert_int_equal(operand_of("mov r32, m32"), 0);
}

static void test_not_asked(void **state) {
    (void)state;
    static const char *const others[] = {
        "add r64, r64",            /* reads it */
        "cmovz r64, r64",          /* writes it under a condition */
        "vpaddd zmm{k}, zmm, zmm", /* keeps lanes of it */
        "movzx r16, r8",           /* keeps the rest of the register */
        "mov m64, r64",            /* writes memory */
        "mulx r64, r64, r64",      /* writes two */
        "mul r64",                 /* that nobody chooses */
        "cmp r64, r64",            /* only flags */
        "setb r8",
        "lahf", /* narrow */
        "fild m64",
        "movq mm, r64", /* other files */
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (operand_of(others[i]) >= 0) {
            fail_msg("%s is asked", others[i]);
        }
    }
}

/* The look sees it wait, and what is measured then is disturbed: nobody knows, and nobody says that it does
 * not. */
static const struct hx_stat disturbed = {.verdict = HX_VERDICT_DISTURBED, .cycles = 3.0, .spread = 0.2};
static const struct hx_stat waiting = {.verdict = HX_VERDICT_OK, .cycles = 3.0, .screened = true};

static enum ip_status all_are(const struct hx_stat *stat, size_t count, struct hx_stat *stats) {
    for (size_t i = 0; i < count; i++) {
        stats[i] = *stat;
    }
    return IP_OK;
}

static enum ip_status disturbed_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                        struct hx_stat *stats, struct ip_error *err) {
    (void)self, (void)kernels, (void)err;
    return all_are(&disturbed, count, stats);
}

static enum ip_status waiting_look(void *self, const struct gen_kernel *const *kernels, size_t count,
                                   struct hx_stat *stats, struct ip_error *err) {
    (void)self, (void)kernels, (void)err;
    return all_are(&waiting, count, stats);
}

static void test_disturbed(void **state) {
    (void)state;
    struct isa_form form, *list[1] = {&form};
    struct ip_error err;
    struct gen_encoder encoder = {0};
    const struct hx_meter meter = {.measure = disturbed_measure, .screen = waiting_look};
    const struct probe_throughput throughput = {.measured = true, .cycles = 0.5, .verdict = HX_VERDICT_OK};
    struct probe_output output = {0};
    assert_int_equal(isa_form_parse(&form, "popcnt r64, r64", &err), IP_OK);
    assert_int_equal(isa_forms_derive(list, 1, &err), IP_OK);
    assert_int_equal(probe_outputs_measure(&meter, &encoder, list, &throughput, 1, &output, &err), IP_OK);
    assert_false(output.asked);
    assert_false(output.waits);
    gen_encoder_fini(&encoder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_asked), cmocka_unit_test(test_not_asked),
                                       cmocka_unit_test(test_disturbed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
