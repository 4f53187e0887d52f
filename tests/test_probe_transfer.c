/* SPDX-License-Identifier: Apache-2.0 */
/* Which instructions may take a form's result back to one of its sources. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "isa/decode.h"
#include "probe/transfer.h"

enum { ANY = -1, FLAGS = -2 };

/* May the transfer `syntax` read the operand `dst` of the form and lead to its operand `src`? */
static bool fits(const char *syntax, const char *row, int dst, int src) {
    struct probe_transfers transfers = {0};
    struct isa_form form, *forms[1] = {&form};
    struct ip_error err = {0};
    assert_int_equal(isa_form_parse(&form, row, &err), IP_OK);
    assert_int_equal(isa_forms_derive(forms, 1, &err), IP_OK);
    assert_int_equal(probe_transfers_init(&transfers, NULL, &err), IP_OK);
    int operand = dst == FLAGS ? isa_form_flags_operand(&form) : dst;
    assert_true(operand >= 0 || dst == ANY);
    bool known = false, fit = false;
    for (size_t i = 0; i < transfers.count; i++) {
        if (strcmp(transfers.items[i].form.syntax, syntax) == 0) {
            known = true;
            fit = probe_transfer_fits(&transfers.items[i], &form, operand, src);
        }
    }
    assert_true(known);
    probe_transfers_fini(&transfers);
    return fit;
}

/* Is the result of `form`, its operand `dst` ("op1", "flags"), what the transfer `syntax` reads? */
static bool takes_from(const char *syntax, const char *row, const char *dst) {
    return fits(syntax, row, strcmp(dst, "flags") == 0 ? FLAGS : 0, ANY);
}

/* Does it lead to this one? */
static bool leads_to(const char *syntax, const char *row, const char *src) {
    return fits(syntax, row, ANY, src[2] - '1');
}

static void half_of_a_wide_store_is_loaded_too(void **state) {
    (void)state;
    assert_true(takes_from("vmovups ymm, m256", "vmovaps m256, ymm", "op1"));
    assert_true(takes_from("vmovups xmm, m128", "vmovaps m256, ymm", "op1"));
    assert_true(takes_from("vmovups ymm, m256", "vmovaps m512, zmm", "op1"));
    assert_false(takes_from("vmovups xmm, m128", "vmovaps m512, zmm", "op1"));
    assert_false(takes_from("vmovq xmm, m64", "vmovaps m128, xmm", "op1"));
    assert_false(takes_from("mov r32, m32", "mov m64, r64", "op1"));
}

/* SETcc may make it zero, and what a shift by zero takes is another matter. */
static void counts_are_not_made_zero(void **state) {
    (void)state;
    assert_true(leads_to("cmovb r64, r64", "shl r64, cl", "op2"));
    assert_false(leads_to("setb r8", "shl r64, cl", "op2"));
    assert_false(leads_to("setz r8", "shrd m32, r32, cl", "op3"));
    assert_true(leads_to("setb r8", "add r8, r8", "op2"));
    assert_true(leads_to("setb r8", "shl r8, cl", "op1"));
}

static void undefined_flags_are_not_read(void **state) {
    (void)state;
    /* MUL tells by CF and OF whether the upper half is zero; a Zen 4 leaves the others alone. */
    assert_true(takes_from("cmovb r64, r64", "mul r64", "flags"));
    assert_true(takes_from("cmovo r64, r64", "mul r64", "flags"));
    assert_false(takes_from("cmovz r64, r64", "mul r64", "flags"));
    assert_false(takes_from("cmovs r64, r64", "mul r64", "flags"));
    assert_true(takes_from("setb r8", "bt m32, r32", "flags"));
    assert_false(takes_from("setz r8", "bt m32, r32", "flags"));
    assert_true(takes_from("cmovz r64, r64", "bsf r64, r64", "flags"));
    assert_false(takes_from("cmovb r64, r64", "bsf r64, r64", "flags"));
    assert_false(takes_from("cmovb r64, r64", "div r64", "flags"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_of_a_wide_store_is_loaded_too),
        cmocka_unit_test(undefined_flags_are_not_read),
        cmocka_unit_test(counts_are_not_made_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
