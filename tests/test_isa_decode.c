/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/random.h"
#include "isa/assemble.h"
#include "isa/decode.h"
#include "isa/encode.h"
#include "isa/table.h"
#include "tests/near.h"

static void test_binding(void **state) {
    (void)state;
    /* vaddpd zmm17{k3}{z}, zmm30, [r14+rcx*4-64] */
    static const uint8_t code[] = {0x62, 0xc1, 0x8d, 0xc3, 0x58, 0x4c, 0x8e, 0xff, 0x90};
    struct isa_form form;
    struct isa_binding binding;
    struct ip_error err = {0};
    size_t length = 0;
    assert_int_equal(isa_decode(code, sizeof code, &form, &binding, &length, &err), IP_OK);
    assert_int_equal(length, 8);
    assert_string_equal(form.syntax, "vaddpd zmm{k}{z}, zmm, m512");
    assert_int_equal(binding.reg[0], 17);
    assert_int_equal(binding.reg[1], 3);
    assert_int_equal(binding.reg[2], 30);
    assert_int_equal(binding.address.base, 14);
    assert_int_equal(binding.address.index, 1);
    assert_int_equal(binding.address.scale, 4);
    assert_int_equal(binding.address.disp, -64);
    char line[ISA_LINE_MAX];
    assert_int_equal(isa_form_print(&form, &binding, line, &err), IP_OK);
    assert_string_equal(line, "vaddpd zmm17{k3}{z}, zmm30, zword [r14+rcx*4-64]");
}

/* Registers of 32 bits in an address: mov eax, [r9d+edx*2]. */
static void test_short_address(void **state) {
    (void)state;
    static const uint8_t code[] = {0x67, 0x41, 0x8b, 0x04, 0x51}, relative[] = {0x67, 0x8b, 0x05, 1, 0, 0, 0};
    struct isa_form form;
    struct isa_binding binding;
    struct ip_error err = {0};
    size_t length = 0;
    assert_int_equal(isa_decode(code, sizeof code, &form, &binding, &length, &err), IP_OK);
    assert_int_equal(length, 5);
    assert_int_equal(binding.address.base, 9);
    assert_int_equal(binding.address.index, 2);
    assert_int_equal(isa_decode(relative, sizeof relative, &form, &binding, &length, &err), IP_OK);
    assert_int_equal(binding.address.base, -1); /* EIP is no register of anybody's */
    assert_true(binding.address.relative);
}

/* FS and GS begin elsewhere: mov rax, [fs:r14], mov rax, [gs:r14], mov rax, [ss:r14]; LEA does not care. */
static void test_segments(void **state) {
    (void)state;
    static const struct {
        uint8_t code[5];
        unsigned segment;
        const char *line;
    } cases[] = {{{0x64, 0x49, 0x8b, 0x06, 0x90}, ISA_SEGMENT_FS, "mov rax, qword [fs:r14]"},
                 {{0x65, 0x49, 0x8b, 0x06, 0x90}, ISA_SEGMENT_GS, "mov rax, qword [gs:r14]"},
                 {{0x36, 0x49, 0x8b, 0x06, 0x90}, ISA_SEGMENT_FLAT, "mov rax, qword [r14]"},
                 {{0x64, 0x49, 0x8d, 0x06, 0x90}, ISA_SEGMENT_FLAT, "lea rax, [r14]"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_form form;
        struct isa_binding binding;
        struct ip_error err = {0};
        char line[ISA_LINE_MAX];
        uint8_t again[ISA_CODE_MAX];
        size_t length = 0;
        assert_int_equal(isa_decode(cases[i].code, 5, &form, &binding, &length, &err), IP_OK);
        assert_int_equal(length, 4);
        assert_int_equal(binding.address.segment, cases[i].segment);
        assert_int_equal(isa_form_print(&form, &binding, line, &err), IP_OK);
        assert_string_equal(line, cases[i].line);
        if (cases[i].segment != ISA_SEGMENT_FLAT) {
            assert_int_equal(isa_encode(&form, &binding, again, &length, &err), IP_OK);
            assert_int_equal(length, 4);
            assert_memory_equal(again, cases[i].code, 4);
        }
    }
}

static void test_bad_bytes(void **state) {
    (void)state;
    static const struct {
        uint8_t code[4];
        size_t bytes;
        const char *text;
    } cases[] = {
        {{0x06}, 1, "no instruction at offset 0 (byte 0x06)"},
        {{0x48, 0x05, 1, 2}, 4, "the bytes end at offset 4 in the middle of an instruction"},
        {{0x0f}, 1, "the bytes end at offset 1 in the middle of an instruction"},
        {{0}, 0, "no instruction in zero bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_form form = {.syntax = "untouched"};
        struct ip_error err = {0};
        size_t length = 77;
        assert_int_equal(isa_decode(cases[i].code, cases[i].bytes, &form, NULL, &length, &err), IP_SYNTAX);
        assert_string_equal(err.text, cases[i].text);
        assert_string_equal(form.syntax, "untouched");
        assert_int_equal(length, 77);
    }
}

static void test_disassemble(void **state) {
    (void)state;
    static const uint8_t code[] = {0x48, 0x01, 0xd8, 0x06, 0x90, 0x48};
    struct ip_lines lines = {0};
    isa_disassemble(code, sizeof code, &lines);
    assert_int_equal(lines.count, 4);
    assert_string_equal(lines.items[0], "     0  4801d8                          add rax, rbx");
    assert_string_equal(lines.items[1], "     3  06                              db 0x06");
    assert_string_equal(lines.items[2], "     4  90                              nop");
    assert_string_equal(lines.items[3], "     5  48                              db 0x48");
    ip_lines_fini(&lines);
    char text[8];
    assert_int_equal(isa_disassemble_one(code, sizeof code, 0, text, sizeof text), 3);
    assert_string_equal(text, "add rax"); /* cut to the buffer */
    assert_int_equal(isa_disassemble_one(code + 3, 1, 0, text, sizeof text), 0);
    static const uint8_t padding[] = {0x0f, 0x1f, 0x00}, other[] = {0x0f, 0x1f, 0x08};
    char line[40];
    assert_int_equal(isa_disassemble_one(padding, sizeof padding, 0, line, sizeof line), 3);
    assert_string_equal(line, "nop dword ptr [rax]"); /* as it was written, and assemblers take it */
    assert_int_equal(isa_disassemble_one(other, sizeof other, 0, line, sizeof line), 3);
    assert_string_equal(line, "nop [rax], ecx");
}

/* The row's own encoding is printed, whatever the values. */
static void test_print_keeps_the_form(void **state) {
    (void)state;
    static const struct {
        const char *syntax;
        int64_t imm;
        const char *line;
    } cases[] = {
        {"add r64, imm32", 1, "add rbx, strict qword 1"},
        {"add r64, imm8", -1, "add rbx, -1"},
        {"add r32, imm32", 1, "add ebx, strict dword 0x1"},
        {"add r16, imm16", 1, "add bx, strict word 0x1"},
        {"mov r64, imm32", -1, "mov rbx, strict dword -1"},
        {"mov r64, imm64", 1, "mov rbx, strict qword 0x1"},
        {"imul r64, r64, imm32", 2, "imul rbx, rcx, strict qword 2"},
        {"push imm32", 1, "push strict qword 1"},
        {"test r64, imm32", 1, "test rbx, strict qword 1"},
        {"shl r64, imm8", 1, "shl rbx, strict byte 1"},
        {"shl r64, 1", 9, "shl rbx, 1"},
        {"pshufd xmm, xmm, imm8", -1, "pshufd xmm1, xmm2, 255"},
        {"add r64, 0", 9, "add rbx, 0"},
        {"vcmppd k, zmm, zmm, imm8, {sae}", 4, "vcmppd k2, zmm2, zmm3, {sae}, 4"},
        {"vcvtsi2sd xmm, xmm, r64, {rn-sae}", 0, "vcvtsi2sd xmm1, xmm2, {rn-sae}, rdx"},
        {"jz rel8", 0, "jz short $+2"},
        {"jz rel32", 0, "jz strict near $+6"},
        {"jmp rel32", 0, "jmp strict near $+5"},
        {"jrcxz rel8", 0, "jrcxz $+2"},
        {"vgatherdps xmm{k}, vm32x", 0, "vgatherdps xmm1{k1}, [rsi+xmm7]"},
        {"mov rax, moffs64", 0, "mov rax, qword [qword 0x0]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_form form, decoded;
        struct isa_binding binding, bound;
        struct ip_error err = {0};
        char line[ISA_LINE_MAX];
        assert_int_equal(isa_form_parse(&form, cases[i].syntax, &err), IP_OK);
        isa_binding_init(&form, &binding);
        for (unsigned k = 0; k < form.explicit_count; k++) {
            if (form.operands[k].kind == ISA_OPERAND_IMM)
                binding.imm[k] = cases[i].imm;
        }
        assert_int_equal(isa_form_print(&form, &binding, line, &err), IP_OK);
        assert_string_equal(line, cases[i].line);
        const char *lines[] = {line};
        struct isa_code code;
        size_t length;
        assert_int_equal(isa_assemble_lines(lines, 1, &code, NULL, &err), IP_OK);
        if (code.length == 0 && strcmp(form.syntax, "vcvtsi2sd xmm, xmm, r64, {rn-sae}") == 0)
            continue; /* NASM 3.01 rejects it; the tables leave it to Zydis */
        assert_int_equal(isa_decode(code.bytes, code.length, &decoded, &bound, &length, &err), IP_OK);
        /* "add r64, 0" is a row for the value: its encoding is that of imm8. */
        if (strcmp(form.syntax, "add r64, 0") != 0)
            assert_string_equal(decoded.syntax, form.syntax);
    }
}

static void test_print_refuses(void **state) {
    (void)state;
    static const struct {
        const char *syntax;
        unsigned operand, reg;
        int8_t index;
    } cases[] = {
        {"add r64, r64", 0, 16, -1},
        {"mov r8h, r8", 0, 4, -1},
        {"vaddpd zmm{k}, zmm, zmm", 1, 0, -1}, /* k0 masks nothing */
        {"vaddpd ymm, ymm, ymm", 0, 32, -1},
        {"add r64, m64", 0, 1, 4}, /* rsp is no index */
        {"vgatherdps xmm{k}, vm32x", 0, 1, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_form form;
        struct isa_binding binding;
        struct ip_error err = {0};
        char line[ISA_LINE_MAX] = "untouched";
        assert_int_equal(isa_form_parse(&form, cases[i].syntax, &err), IP_OK);
        isa_binding_init(&form, &binding);
        binding.reg[cases[i].operand] = (uint8_t)cases[i].reg;
        binding.address.index = cases[i].index;
        assert_int_equal(isa_form_print(&form, &binding, line, &err), IP_UNSUPPORTED);
        assert_string_equal(line, "untouched");
        assert_non_null(strstr(err.text, cases[i].syntax));
    }
}

static void test_registers(void **state) {
    (void)state;
    assert_string_equal(isa_reg_name(ISA_REG_GPR8, 6), "sil");
    assert_string_equal(isa_reg_name(ISA_REG_GPR8H, 3), "bh");
    assert_string_equal(isa_reg_name(ISA_REG_GPR32, 10), "r10d");
    assert_string_equal(isa_reg_name(ISA_REG_ZMM, 31), "zmm31");
    assert_null(isa_reg_name(ISA_REG_ZMM, 32));
    assert_null(isa_reg_name(ISA_REG_OTHER, 0));
    assert_null(isa_reg_name(ISA_REG_NONE, 0));
    assert_int_equal(isa_reg_count(ISA_REG_YMM, false), 16);
    assert_int_equal(isa_reg_count(ISA_REG_YMM, true), 32);
    assert_int_equal(isa_reg_count(ISA_REG_MASK, true), 8);
    assert_int_equal(isa_reg_count(ISA_REG_OTHER, true), 0);
    assert_true(isa_reg_is_vector(ISA_REG_XMM) && !isa_reg_is_vector(ISA_REG_MMX));
    assert_true(isa_reg_is_gpr(ISA_REG_GPR8H) && !isa_reg_is_gpr(ISA_REG_X87));
}

/* Whatever the bytes: the decoder gives a syntax that the parser reads back the same, or an error. */
static void test_random_bytes(void **state) {
    (void)state;
    const uint64_t seed = 7;
    struct ip_random random = {seed};
    unsigned decoded = 0;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned i = 0; i < 200000; i++) {
        uint8_t code[ISA_CODE_MAX];
        for (unsigned k = 0; k < sizeof code; k++)
            code[k] = (uint8_t)ip_random_next(&random);
        if (i % 3 == 0)
            code[0] = i % 2 == 0 ? 0x62 : 0xc4;
        struct isa_form form, parsed;
        struct isa_binding binding;
        struct ip_error err = {0};
        size_t length = 0;
        if (isa_decode(code, sizeof code, &form, &binding, &length, &err) != IP_OK)
            continue;
        decoded++;
        assert_within(length, 1, sizeof code);
        assert_within(form.operand_count, form.explicit_count, ISA_OPERANDS_MAX);
        if (isa_form_parse(&parsed, form.syntax, &err) == IP_OK)
            assert_string_equal(parsed.syntax, form.syntax);
        else
            assert_non_null(strstr(form.syntax, "rel16")); /* the one kind that no row has */
    }
    assert_true(decoded > 20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binding),       cmocka_unit_test(test_short_address),
        cmocka_unit_test(test_segments),      cmocka_unit_test(test_bad_bytes),
        cmocka_unit_test(test_disassemble),   cmocka_unit_test(test_print_keeps_the_form),
        cmocka_unit_test(test_print_refuses), cmocka_unit_test(test_registers),
        cmocka_unit_test(test_random_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
