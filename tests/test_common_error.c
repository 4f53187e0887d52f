/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of common/error: what an error carries, and that long texts are cut and stay terminated. */
#include "common/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_fail_fills_everything(void **state) {
    (void)state;
    struct ip_error err;
    memset(&err, 0x5a, sizeof err);
    assert_int_equal(ip_fail(&err, IP_USAGE, "no CPU %d; the last is %d", 9, 1), IP_USAGE);
    assert_int_equal(err.status, IP_USAGE);
    assert_int_equal(err.errno_value, 0);
    assert_string_equal(err.place, "");
    assert_string_equal(err.text, "no CPU 9; the last is 1");
}

static void test_fail_errno_appends_the_reason(void **state) {
    (void)state;
    struct ip_error err = {0};
    assert_int_equal(ip_fail_errno(&err, IP_IO, ENOENT, "cannot open '%s'", "a.isa"), IP_IO);
    assert_int_equal(err.errno_value, ENOENT);
    assert_string_equal(err.text, "cannot open 'a.isa': No such file or directory");
}

static void test_fail_at_names_the_place(void **state) {
    (void)state;
    struct ip_error err = {0};
    assert_int_equal(ip_fail_at(&err, IP_SYNTAX, "a.isa", 3, 7, "bad"), IP_SYNTAX);
    assert_string_equal(err.place, "a.isa:3:7");
    assert_string_equal(err.text, "bad");
    (void)ip_fail_at(&err, IP_SYNTAX, "a.isa", 3, 0, "bad");
    assert_string_equal(err.place, "a.isa:3");
    (void)ip_fail_at(&err, IP_SYNTAX, "a.isa", 0, 0, "bad");
    assert_string_equal(err.place, "a.isa");
    /* A later error without a place does not keep the old one. */
    (void)ip_fail(&err, IP_FAILED, "other");
    assert_string_equal(err.place, "");
}

static void test_long_texts_are_cut(void **state) {
    (void)state;
    char long_text[2000];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    struct ip_error err = {0};
    (void)ip_fail(&err, IP_FAILED, "%s", long_text);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    (void)ip_fail_errno(&err, IP_IO, EIO, "%s", long_text);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    (void)ip_fail_at(&err, IP_SYNTAX, long_text, 12, 34, "bad");
    assert_int_equal(strlen(err.place), sizeof err.place - 1);
}

static void test_an_earlier_text_may_be_an_argument(void **state) {
    (void)state;
    struct ip_error err = {0};
    (void)ip_fail(&err, IP_FAILED, "no such register");
    (void)ip_fail(&err, IP_SYNTAX, "row 3 of the table: %s", err.text);
    assert_string_equal(err.text, "row 3 of the table: no such register");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fail_fills_everything),
        cmocka_unit_test(test_fail_errno_appends_the_reason),
        cmocka_unit_test(test_fail_at_names_the_place),
        cmocka_unit_test(test_long_texts_are_cut),
        cmocka_unit_test(test_an_earlier_text_may_be_an_argument),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
