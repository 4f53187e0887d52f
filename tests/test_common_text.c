/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of common/text: growing strings, lists, whole files. */
#include "common/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void test_text_grows_and_stays_terminated(void **state) {
    (void)state;
    struct ip_text text = {0};
    assert_string_equal(ip_text_string(&text), "");
    char expected[3001] = "";
    for (int i = 0; i < 1000; i++) {
        ip_text_append(&text, "abc");
        memcpy(expected + 3 * (size_t)i, "abc", 4);
        assert_int_equal(text.data[text.length], 0);
    }
    assert_false(text.failed);
    assert_int_equal(text.length, 3000);
    assert_string_equal(ip_text_string(&text), expected);
    ip_text_clear(&text);
    assert_string_equal(ip_text_string(&text), "");
    ip_text_printf(&text, "%s=%d", "x", 42);
    assert_string_equal(ip_text_string(&text), "x=42");
    ip_text_fini(&text);
    assert_null(text.data);
    ip_text_fini(&text); /* twice is fine */
}

static void test_text_keeps_zero_bytes(void **state) {
    (void)state;
    struct ip_text text = {0};
    ip_text_append_bytes(&text, "a\0b", 3);
    ip_text_append_bytes(&text, "", 0);
    assert_int_equal(text.length, 3);
    assert_memory_equal(text.data, "a\0b", 4);
    ip_text_fini(&text);
}

static void test_text_appending_nothing_to_an_empty_text_terminates_it(void **state) {
    (void)state;
    struct ip_text text = {0};
    ip_text_append(&text, "");
    assert_false(text.failed);
    assert_int_equal(text.length, 0);
    assert_string_equal(ip_text_string(&text), "");
    ip_text_fini(&text);
}

/* A request that cannot be met sets the mark, changes nothing, and every later call does nothing. */
static void test_text_failure_sticks_until_cleared(void **state) {
    (void)state;
    struct ip_text text = {0};
    ip_text_append(&text, "kept");
    ip_text_append_bytes(&text, "", SIZE_MAX / 2);
    assert_true(text.failed);
    ip_text_append(&text, "lost");
    ip_text_printf(&text, "%d", 1);
    assert_string_equal(ip_text_string(&text), "kept");
    ip_text_clear(&text);
    assert_false(text.failed);
    ip_text_append(&text, "again");
    assert_string_equal(ip_text_string(&text), "again");
    ip_text_fini(&text);
}

static void test_lines(void **state) {
    (void)state;
    struct ip_lines lines = {0};
    for (int i = 0; i < 100; i++) {
        ip_lines_printf(&lines, "line %d", i);
    }
    ip_lines_add(&lines, "");
    ip_lines_printf(&lines, "%s", "");
    assert_false(lines.failed);
    assert_int_equal(lines.count, 102);
    assert_string_equal(lines.items[0], "line 0");
    assert_string_equal(lines.items[99], "line 99");
    assert_string_equal(lines.items[100], "");
    assert_string_equal(lines.items[101], "");
    ip_lines_fini(&lines);
    assert_int_equal(lines.count, 0);
    ip_lines_fini(&lines);
}

/* A temporary file with `length` bytes of 'y'; the caller unlinks `path` (a template of mkstemp). */
static void file_make(char *path, size_t length) {
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    for (size_t i = 0; i < length; i++) {
        assert_int_equal(write(descriptor, "y", 1), 1);
    }
    assert_int_equal(close(descriptor), 0);
}

static void test_file_read(void **state) {
    (void)state;
    char path[] = "/tmp/isaprobe-test-XXXXXX";
    file_make(path, 1000);
    struct ip_error err = {0};
    struct ip_text text = {0};
    ip_text_append(&text, "earlier");
    assert_int_equal(ip_file_read(&text, path, 1000, &err), IP_OK);
    assert_int_equal(text.length, 1000);
    assert_int_equal(text.data[0], 'y');
    assert_int_equal(text.data[999], 'y');
    /* One byte too many: the text is untouched. */
    assert_int_equal(ip_file_read(&text, path, 999, &err), IP_SYNTAX);
    assert_int_equal(text.length, 1000);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, "999"));
    ip_text_fini(&text);
    assert_int_equal(unlink(path), 0);
}

static void test_file_read_empty(void **state) {
    (void)state;
    struct ip_error err = {0};
    struct ip_text text = {0};
    ip_text_append(&text, "earlier");
    assert_int_equal(ip_file_read(&text, "/dev/null", 10, &err), IP_OK);
    assert_int_equal(text.length, 0);
    assert_string_equal(ip_text_string(&text), "");
    ip_text_fini(&text);
}

static void test_file_read_errors_name_the_file(void **state) {
    (void)state;
    struct ip_error err = {0};
    struct ip_text text = {0};
    ip_text_append(&text, "earlier");
    assert_int_equal(ip_file_read(&text, "/nonexistent/a.isa", 10, &err), IP_IO);
    assert_int_equal(err.errno_value, ENOENT);
    assert_non_null(strstr(err.text, "/nonexistent/a.isa"));
    assert_int_equal(ip_file_read(&text, "/", 10, &err), IP_IO); /* a directory opens, but does not read */
    assert_int_equal(err.errno_value, EISDIR);
    assert_string_equal(ip_text_string(&text), "earlier");
    ip_text_fini(&text);
}

/* Behind a NUL nobody looks: what is there must not be lost without a word. */
static void test_text_file_is_text(void **state) {
    (void)state;
    char path[] = "/tmp/isaprobe-test-XXXXXX";
    int descriptor = mkstemp(path);
    struct ip_error err = {0};
    struct ip_text text = {0};
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, "ab\n", 3), 3);
    assert_int_equal(ip_text_file_read(&text, path, 100, "CSV is expected", &err), IP_OK);
    assert_string_equal(ip_text_string(&text), "ab\n");
    assert_int_equal(pwrite(descriptor, "\ra\r\n\r\rb\r", 8, 0), 8);
    assert_int_equal(ip_text_file_read(&text, path, 100, "CSV is expected", &err), IP_OK);
    assert_string_equal(ip_text_string(&text), "\na\n\n\nb\n");
    assert_int_equal(text.length, 7);
    assert_int_equal(ftruncate(descriptor, 0), 0);
    assert_int_equal(pwrite(descriptor, "ab\n", 3, 0), 3);
    assert_int_equal(ip_text_file_read(&text, path, 100, "CSV is expected", &err), IP_OK);
    assert_int_equal(write(descriptor, "\0cd", 3), 3);
    assert_int_equal(ip_text_file_read(&text, path, 100, "CSV is expected", &err), IP_SYNTAX);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, "is not text: CSV is expected"));
    assert_string_equal(ip_text_string(&text), "ab\n"); /* untouched */
    assert_int_equal(ip_text_file_read(&text, path, 5, "CSV is expected", &err), IP_SYNTAX);
    ip_text_fini(&text);
    assert_int_equal(close(descriptor), 0);
    assert_int_equal(unlink(path), 0);
}

static void test_json_strings(void **state) {
    (void)state;
    struct ip_text text = {0};
    ip_text_append_json(&text, "a\"b\\c\n\x01\x7f \xc2\xb5 \xff \xc2");
    assert_string_equal(ip_text_string(&text),
                        "\"a\\\"b\\\\c\\u000a\\u0001\\u007f \xc2\xb5 \xef\xbf\xbd \xef\xbf\xbd\"");
    ip_text_fini(&text);
}

static void test_xml_text(void **state) {
    (void)state;
    struct ip_text text = {0};
    ip_text_append_xml(&text, "a<b>&\"\n\x01 \xc2\xb5 caf\xe9.sim \xed\xa0\x80 \xef\xbf\xbf \xc2");
    assert_string_equal(
        ip_text_string(&text),
        "a&lt;b&gt;&amp;&quot;   \xc2\xb5 caf\xef\xbf\xbd.sim \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd "
        "\xef\xbf\xbd \xef\xbf\xbd");
    ip_text_fini(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_file_is_text),
        cmocka_unit_test(test_json_strings),
        cmocka_unit_test(test_xml_text),
        cmocka_unit_test(test_text_grows_and_stays_terminated),
        cmocka_unit_test(test_text_keeps_zero_bytes),
        cmocka_unit_test(test_text_appending_nothing_to_an_empty_text_terminates_it),
        cmocka_unit_test(test_text_failure_sticks_until_cleared),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_file_read),
        cmocka_unit_test(test_file_read_empty),
        cmocka_unit_test(test_file_read_errors_name_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
