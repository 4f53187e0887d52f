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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_asked), cmocka_unit_test(test_not_asked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
