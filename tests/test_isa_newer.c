/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that Zydis does not know: another assembler's bytes decode to what it was given, and encode to
 * the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/text.h"
#include "isa/decode.h"
#include "isa/encode.h"

enum { ENCODINGS = 132 };

static size_t hex_read(const char *text, uint8_t code[ISA_CODE_MAX]) {
    size_t bytes = strcspn(text, " ") / 2;
    assert_true(bytes > 0 && bytes <= ISA_CODE_MAX);
    for (size_t i = 0; i < bytes; i++) {
        char digits[3] = {text[2 * i], text[2 * i + 1], '\0'}, *end;
        code[i] = (uint8_t)strtoul(digits, &end, 16);
        assert_true(*end == '\0');
    }
    return bytes;
}

static void one_encoding(const char *line) {
    uint8_t code[ISA_CODE_MAX], again[ISA_CODE_MAX];
    size_t bytes = hex_read(line, code), length = 0;
    const char *expected = strchr(line, ' ') + 1;
    struct isa_form form;
    struct isa_binding binding;
    struct ip_error err = {0};
    char text[ISA_LINE_MAX];
    assert_int_equal(isa_disassemble_one(code, bytes, 0, text, sizeof text), bytes);
    assert_int_equal(isa_decode(code, bytes, &form, &binding, &length, &err), IP_OK);
    assert_int_equal(length, bytes);
    assert_int_equal(isa_form_print(&form, &binding, text, &err), IP_OK);
    assert_string_equal(text, expected);
    if (isa_encode(&form, &binding, again, &length, &err) != IP_OK)
        fail_msg("%s", err.text);
    if (length != bytes || memcmp(code, again, bytes) != 0)
        fail_msg("'%s' is encoded otherwise", text);
    for (size_t less = 1; less < bytes; less++) /* cut off anywhere: no instruction, nothing read behind it */
        assert_int_equal(isa_decode(code, less, &form, NULL, &length, &err), IP_SYNTAX);
}

static void test_encodings(void **state) {
    (void)state;
    struct ip_text file = {0};
    struct ip_error err = {0};
    size_t seen = 0;
    assert_int_equal(ip_file_read(&file, "tests/data/newer.txt", 1 << 20, &err), IP_OK);
    char *rest = NULL;
    for (char *line = strtok_r(file.data, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] == '#')
            continue;
        one_encoding(line);
        seen++;
    }
    assert_int_equal(seen, ENCODINGS);
    ip_text_fini(&file);
}

/* Bytes beside them are still no instructions. */
static void test_neighbours(void **state) {
    (void)state;
    static const char *const codes[] = {
        "c4e2d350ca", /* VPDPBSSD with W */
        "c4e26de60e", /* CMPBEXADD of 256 bits */
        "c4e269e6c1", /* CMPBEXADD of a register */
        "c4e27bcc08", /* VSHA512MSG1 of 128 bits */
        "c4e27fcc08", /* VSHA512MSG1 from memory */
        "c4e266b00e", /* VCVTNEEPH2PS without its prefix, with vvvv */
        "c4e279b0c1", /* VCVTNEEPH2PS of a register */
        "c4e2516cc9", /* TCMMIMFP16PS of one tile twice */
        "c4e248dec1", /* 0F38 DE: VAESDEC is 66 */
        "0f38fcc1",   /* AADD of a register */
    };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        uint8_t code[ISA_CODE_MAX];
        struct isa_form form;
        struct ip_error err = {0};
        char text[ISA_LINE_MAX];
        size_t length, bytes = hex_read(codes[i], code);
        if (isa_decode(code, bytes, &form, NULL, &length, &err) == IP_OK)
            fail_msg("%s is '%s'", codes[i], form.syntax);
        assert_int_equal(isa_disassemble_one(code, bytes, 0, text, sizeof text), 0);
    }
}

static const struct isa_operand *decoded_operand(const char *hex, unsigned i, struct isa_form *form) {
    uint8_t code[ISA_CODE_MAX];
    size_t length, bytes = hex_read(hex, code);
    struct ip_error err = {0};
    assert_int_equal(isa_decode(code, bytes, form, NULL, &length, &err), IP_OK);
    assert_true(i < form->operand_count);
    return &form->operands[i];
}

/* What each operand is for: a destination that is added to is read, one that is not is only written. */
static void test_actions(void **state) {
    (void)state;
    struct isa_form form;
    const struct isa_operand *op =
        decoded_operand("c4e269e60e", 0, &form); /* cmpbexadd dword [rsi], ecx, edx */
    assert_true(op->kind == ISA_OPERAND_MEM && op->read && op->write && op->bits == 32);
    assert_true(form.operands[1].read && form.operands[1].write);
    assert_true(form.operands[2].read && !form.operands[2].write);
    assert_int_equal(isa_form_flags_operand(&form), 3);
    assert_int_equal(form.flags_written, 0x8d5);
    assert_int_equal(form.flags_read, 0);
    op = decoded_operand("c4e26b50cb", 0, &form); /* vpdpbssd xmm1, xmm2, xmm3 */
    assert_true(op->read && op->write && form.vex && !form.evex);
    op = decoded_operand("c4e26adacb", 0, &form);
    assert_string_equal(form.syntax, "vsm4key4 xmm, xmm, xmm");
    assert_true(!op->read && op->write);
    op = decoded_operand("c4e27ab10e", 1, &form);
    assert_string_equal(form.syntax, "vbcstnebf162ps xmm, m16");
    assert_true(op->read && !op->write && form.floating && form.element_bits == 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_actions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
