/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as text, CSV and JSON; the JSON is read back by jansson. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "cli/output.h"
#include "common/random.h"

static const struct cli_column item_columns[] = {{.name = "src"}, {.name = "cycles"}, {.name = NULL}};
static const struct cli_column columns[] = {
    {.name = "form"},
    {.name = "pairs", .items = item_columns, .text_hidden = true},
    {.name = "count"},
    {.name = "sure"},
    {.name = "shown", .text_only = true},
    {.name = NULL},
};

static json_t *json_of(const struct cli_value *values) {
    struct ip_text text = {0};
    cli_json_row(&text, columns, values);
    assert_false(text.failed);
    assert_int_equal(text.data[text.length - 1], '\n');
    assert_null(memchr(text.data, '\n', text.length - 1)); /* one object per line */
    json_error_t error;
    json_t *json = json_loadb(text.data, text.length, 0, &error);
    if (json == NULL) {
        fail_msg("%s in %s", error.text, text.data);
    }
    ip_text_fini(&text);
    return json;
}

static void json_keeps_types(void **state) {
    (void)state;
    const struct cli_value items[] = {cli_text("op1"), cli_number(2.99996), cli_text("flags"), cli_number(0)};
    const struct cli_value row[] = {cli_text("addpd xmm, xmm"), cli_list(items, 2), cli_integer(INT64_MIN),
                                    cli_bool(true), cli_text("not here")};
    json_t *json = json_of(row);
    assert_int_equal(json_object_size(json), 4); /* "shown" is for text only */
    assert_string_equal(json_string_value(json_object_get(json, "form")), "addpd xmm, xmm");
    assert_int_equal(json_integer_value(json_object_get(json, "count")), INT64_MIN);
    assert_true(json_is_true(json_object_get(json, "sure")));
    const json_t *pairs = json_object_get(json, "pairs");
    assert_int_equal(json_array_size(pairs), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(pairs, 1), "src")), "flags");
    assert_true(json_real_value(json_object_get(json_array_get(pairs, 0), "cycles")) == 3.0); /* 4 decimals */
    json_decref(json);
}

static void json_has_no_infinite_numbers(void **state) {
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        const struct cli_value item[] = {cli_text(NULL), cli_number(bad[i])};
        const struct cli_value row[] = {cli_text(NULL), cli_list(item, 1), cli_number(bad[i]),
                                        cli_bool(false), cli_text(NULL)};
        json_t *json = json_of(row);
        assert_true(json_is_null(json_object_get(json, "form")));
        assert_true(json_is_null(json_object_get(json, "count")));
        assert_true(
            json_is_null(json_object_get(json_array_get(json_object_get(json, "pairs"), 0), "cycles")));
        json_decref(json);
    }
}

static void json_takes_any_bytes(void **state) {
    (void)state;
    static const char *const strings[][2] = {
        {"quote \" backslash \\ tab \t line \n", "quote \" backslash \\ tab \t line \n"},
        {"\x01\x1f\x7f", "\x01\x1f\x7f"},
        {"\xe2\x89\xa4 \xf0\x9f\x98\x80 \xc3\xa9", "\xe2\x89\xa4 \xf0\x9f\x98\x80 \xc3\xa9"},
        {"cut \xe2\x89", "cut \xef\xbf\xbd\xef\xbf\xbd"},                         /* ends in the middle */
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                                 /* overlong */
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},                 /* a surrogate */
        {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* beyond U+10FFFF */
        {"", ""},
    };
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        const struct cli_value row[] = {cli_text(strings[i][0]), cli_list(NULL, 0), cli_integer(0),
                                        cli_bool(false), cli_text("")};
        json_t *json = json_of(row);
        assert_string_equal(json_string_value(json_object_get(json, "form")), strings[i][1]);
        json_decref(json);
    }
}

static void json_of_random_bytes_is_json(void **state) {
    (void)state;
    struct ip_random random = {20140};
    for (int i = 0; i < 3000; i++) {
        char bytes[24] = "";
        size_t length = (size_t)ip_random_below(&random, sizeof bytes);
        for (size_t j = 0; j < length; j++) {
            bytes[j] = (char)(1 + ip_random_below(&random, 255));
        }
        const struct cli_value row[] = {cli_text(bytes), cli_list(NULL, 0), cli_integer(0), cli_bool(false),
                                        cli_text("")};
        json_decref(json_of(row)); /* fails with the text */
    }
}

static void csv_is_rfc_4180(void **state) {
    (void)state;
    struct ip_text text = {0};
    const struct cli_value items[] = {cli_text("a,b"), cli_number(1.5), cli_text("say \"x\""),
                                      cli_number(NAN)};
    const struct cli_value two[] = {cli_text("addpd xmm, xmm"), cli_list(items, 2), cli_integer(-7),
                                    cli_bool(false), cli_text("hidden")};
    const struct cli_value none[] = {cli_text("line\nbreak"), cli_list(NULL, 0), cli_integer(0),
                                     cli_bool(true), cli_text("hidden")};
    cli_csv_header(&text, columns);
    cli_csv_row(&text, columns, two);
    cli_csv_row(&text, columns, none);
    assert_string_equal(ip_text_string(&text), "form,src,cycles,count,sure\r\n"
                                               "\"addpd xmm, xmm\",\"a,b\",1.5000,-7,false\r\n"
                                               "\"addpd xmm, xmm\",\"say \"\"x\"\"\",,-7,false\r\n"
                                               "\"line\nbreak\",,,0,true\r\n");
    ip_text_fini(&text);
}

static void text_is_aligned(void **state) {
    (void)state;
    struct cli_settings settings;
    struct cli_command command = {.name = "test"};
    memset(&settings, 0, sizeof settings);
    char path[] = "/tmp/isaprobe-output-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    settings.output = path;
    struct cli_output output;
    assert_int_equal(cli_output_open(&output, &command, &settings, columns), CLI_EXIT_OK);
    const struct cli_value first[] = {cli_text("\xe2\x89\xa4 two"), cli_list(NULL, 0), cli_number(-0.001),
                                      cli_bool(true), cli_text("")};
    const struct cli_value second[] = {cli_text("bell \a"), cli_list(NULL, 0), cli_number(NAN),
                                       cli_bool(false), cli_text("end")};
    cli_output_row(&output, first, NULL);
    cli_output_row(&output, second, NULL);
    assert_int_equal(cli_output_close(&output, CLI_EXIT_UNTRUSTED), CLI_EXIT_UNTRUSTED);
    struct ip_text text = {0};
    struct ip_error err;
    assert_int_equal(ip_file_read(&text, path, 4096, &err), IP_OK);
    assert_int_equal(remove(path), 0);
    assert_string_equal(ip_text_string(&text), "form     count   sure   shown\n"
                                               "\xe2\x89\xa4 two    0.00    yes\n"
                                               "bell ?   -       no     end\n");
    ip_text_fini(&text);
}

static void full_disk_is_a_failure(void **state) {
    (void)state;
    struct cli_settings settings;
    struct cli_command command = {.name = "test"};
    struct cli_output output;
    memset(&settings, 0, sizeof settings);
    settings.output = "/dev/full";
    settings.format = CLI_FORMAT_JSON;
    assert_int_equal(cli_output_open(&output, &command, &settings, columns), CLI_EXIT_OK);
    const struct cli_value row[] = {cli_text("x"), cli_list(NULL, 0), cli_integer(1), cli_bool(true),
                                    cli_text("")};
    cli_output_row(&output, row, NULL);
    assert_int_equal(cli_output_close(&output, CLI_EXIT_OK), CLI_EXIT_FAILED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_keeps_types),       cmocka_unit_test(json_has_no_infinite_numbers),
        cmocka_unit_test(json_takes_any_bytes),   cmocka_unit_test(json_of_random_bytes_is_json),
        cmocka_unit_test(csv_is_rfc_4180),        cmocka_unit_test(text_is_aligned),
        cmocka_unit_test(full_disk_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
