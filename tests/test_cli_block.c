/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks in hex digits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/block.h"
#include "common/random.h"

static void hex_is_read(void **state) {
    (void)state;
    static const char *const ways[] = {"4801d8", "48 01 D8", "0x48,0x01,0xd8", "\t48:01:d8\r\n", "0x4801d8"};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct ip_text code = {0};
        struct ip_error err;
        assert_int_equal(cli_hex_parse(&code, ways[i], &err), IP_OK);
        assert_int_equal(code.length, 3);
        assert_memory_equal(code.data, "\x48\x01\xd8", 3);
        ip_text_fini(&code);
    }
}

static void bad_hex_names_the_column(void **state) {
    (void)state;
    static const struct {
        const char *hex, *word;
    } cases[] = {{"", "no bytes"},      {"  ", "no bytes"},   {"4", "column 2"},
                 {"48 0", "column 5"},  {"48zz", "column 3"}, {"4g", "column 2"},
                 {"48-01", "column 3"}, {"0x", "no bytes"},   {"\xff", "column 1"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ip_text code = {0};
        struct ip_error err;
        assert_int_equal(cli_hex_parse(&code, cases[i].hex, &err), IP_SYNTAX);
        assert_non_null(strstr(err.text, cases[i].word));
        assert_null(code.data); /* untouched */
    }
}

static void random_bytes_come_back(void **state) {
    (void)state;
    struct ip_random random = {7};
    for (int i = 0; i < 500; i++) {
        struct ip_text code = {0}, hex = {0};
        struct ip_error err;
        unsigned char bytes[40];
        size_t length = 1 + (size_t)ip_random_below(&random, sizeof bytes);
        for (size_t j = 0; j < length; j++) {
            bytes[j] = (unsigned char)ip_random_next(&random);
            ip_text_printf(&hex, ip_random_below(&random, 2) != 0 ? "%02x" : " %02X", bytes[j]);
        }
        assert_int_equal(cli_hex_parse(&code, ip_text_string(&hex), &err), IP_OK);
        assert_int_equal(code.length, length);
        assert_memory_equal(code.data, bytes, length);
        ip_text_fini(&code);
        ip_text_fini(&hex);
    }
}

static void long_block_is_refused(void **state) {
    (void)state;
    struct ip_text hex = {0}, code = {0};
    struct ip_error err;
    for (int i = 0; i <= CLI_BLOCK_BYTES_MAX; i++) {
        ip_text_append(&hex, "90");
    }
    assert_int_equal(cli_hex_parse(&code, ip_text_string(&hex), &err), IP_SYNTAX);
    assert_non_null(strstr(err.text, "longer"));
    ip_text_fini(&hex);
}

static void exactly_one_block_is_wanted(void **state) {
    (void)state;
    struct cli_settings settings;
    struct ip_text code = {0};
    struct ip_error err;
    memset(&settings, 0, sizeof settings);
    assert_int_equal(cli_block_read(&code, &settings, &err), IP_USAGE);
    settings.hex = "90";
    settings.file = "-";
    assert_int_equal(cli_block_read(&code, &settings, &err), IP_USAGE);
    settings.file = NULL;
    assert_int_equal(cli_block_read(&code, &settings, &err), IP_OK);
    assert_int_equal(code.length, 1);
    ip_text_fini(&code);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hex_is_read),
        cmocka_unit_test(bad_hex_names_the_column),
        cmocka_unit_test(random_bytes_come_back),
        cmocka_unit_test(long_block_is_refused),
        cmocka_unit_test(exactly_one_block_is_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
