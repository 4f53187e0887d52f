/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of common/ascii: as <ctype.h> has it in the locale "C", for each byte. */
#include "common/ascii.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <strings.h>

#include <cmocka.h>

static void test_each_byte(void **state) {
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        const char c = (char)byte;
        assert_int_equal(ip_ascii_is_digit(c), isdigit(byte) != 0);
        assert_int_equal(ip_ascii_is_lower(c), islower(byte) != 0);
        assert_int_equal(ip_ascii_is_upper(c), isupper(byte) != 0);
        assert_int_equal(ip_ascii_is_letter(c), isalpha(byte) != 0);
        assert_int_equal(ip_ascii_is_alnum(c), isalnum(byte) != 0);
        assert_int_equal(ip_ascii_is_hex(c), isxdigit(byte) != 0);
        assert_int_equal(ip_ascii_is_space(c), isspace(byte) != 0);
        assert_int_equal((unsigned char)ip_ascii_lower(c), tolower(byte));
        assert_int_equal((unsigned char)ip_ascii_upper(c), toupper(byte));
    }
}

static void test_strings(void **state) {
    (void)state;
    char word[] = "imul r64, \xc4\xb1z9";
    ip_ascii_capitals(word);
    assert_string_equal(word, "IMUL R64, \xc4\xb1Z9");
    static const char *const words[] = {"",     "a",    "A",   "b",    "ab", "aB",
                                        "BMI1", "bmi1", "bmi", "bmi2", "[",  "{"};
    enum { WORDS = sizeof words / sizeof words[0] };
    for (unsigned i = 0; i < WORDS * WORDS; i++) {
        const char *a = words[i / WORDS], *b = words[i % WORDS];
        assert_int_equal(ip_ascii_same(a, b), strcasecmp(a, b) == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_byte), cmocka_unit_test(test_strings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
