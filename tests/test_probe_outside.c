/* SPDX-License-Identifier: Apache-2.0 */
/* Which instructions take so long that they must leave the core. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "isa/decode.h"
#include "isa/table.h"
#include "probe/outside.h"

static const struct {
    const char *syntax;
    double cycles;
    const char *why; /* NULL: it does not */
} cases[] = {
    {"str r64", 2400, "2400 cycles without memory: it traps"},
    {"str r64", 40, NULL},
    {"idiv r64", 95, NULL},
    /* the kernel's answer */
    {"sgdt m80", 2419, "2419 cycles to store what the system keeps: it traps"},
    {"smsw m16", 1950, "1950 cycles to store what the system keeps: it traps"},
    {"smsw m16", 40, NULL},
    {"vmovntdq m128, xmm", 1200, "1200 cycles: what is stored past the caches comes back from memory"},
    {"clzero rax", 557, "557 cycles: what is stored past the caches comes back from memory"},
    {"vmovntdqa xmm, m128", 1200, NULL}, /* a load */
    /* caches may take as long */
    {"mov r64, m64", 900, NULL},
    {"vmovups m128, xmm", 1200, NULL},
    {"fbstp m80", 600, NULL},
    {"clflush m512", 700, NULL},
    {"xsave m4608", 700, NULL},
};

static void what_leaves_the_core(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_form form, *forms[1] = {&form};
        struct ip_error err = {0};
        assert_int_equal(isa_form_parse(&form, cases[i].syntax, &err), IP_OK);
        assert_int_equal(isa_forms_derive(forms, 1, &err), IP_OK);
        char why[128] = "";
        if (probe_is_outside(&form, cases[i].cycles, why, sizeof why) != (cases[i].why != NULL)) {
            fail_msg("%s, %.0f cycles: '%s'", cases[i].syntax, cases[i].cycles, why);
        }
        assert_true(cases[i].why == NULL ? why[0] == '\0' : strstr(why, cases[i].why) == why);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_leaves_the_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
