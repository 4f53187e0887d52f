/* SPDX-License-Identifier: Apache-2.0 */
/* What is derived for forms whose behaviour the manuals state: who is read, written, implicit; obstacles;
 * overrides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "isa/decode.h"
#include "isa/table.h"

/* "op1:rw op2:r flags:w"; c before a letter: only under a condition. */
static void describe(const struct isa_form *form, char *buffer, size_t size) {
    size_t at = 0;
    buffer[0] = '\0';
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *op = &form->operands[i];
        char name[16];
        at += (size_t)snprintf(buffer + at, size - at, "%s%s:%s%s%s%s", i > 0 ? " " : "",
                               isa_operand_name(form, i, name), op->cond_read ? "c" : "", op->read ? "r" : "",
                               op->cond_write ? "c" : "", op->write ? "w" : "");
    }
}

static const struct {
    const char *syntax, *operands;
    unsigned element_bits;
    bool floating;
} cases[] = {
    {"add r64, r64", "op1:rw op2:r flags:w", 0, false},
    {"add m64, imm8", "op1:rw op2:r flags:w", 0, false},
    {"adc r64, r64", "op1:rw op2:r flags:rw", 0, false},
    {"cmp r64, r64", "op1:r op2:r flags:w", 0, false},
    {"mov r32, r32", "op1:w op2:r", 0, false},
    {"mov r8, r8", "op1:w op2:r", 0, false},
    {"lea r64, agen", "op1:w op2:", 0, false},
    {"cmpsb", "mem_rsi:r mem_rdi:r rsi:rw rdi:rw flags:w", 0, false},
    {"repe cmpsd", "mem_rsi:cr mem_rdi:cr rcx:rcw rsi:crcw rdi:crcw flags:rw", 0, false},
    {"scasq", "rax:r mem:r rdi:rw flags:w", 0, false},
    {"repne scasw", "rax:r mem:cr rcx:rcw rdi:crcw flags:rw", 0, false},
    {"stosb", "mem:w rax:r rdi:rw", 0, false},
    {"rep stosb", "mem:cw rax:r rdi:crcw rcx:rcw", 0, false},
    {"movsb", "mem_rdi:w mem_rsi:r rdi:rw rsi:rw", 0, false},
    {"nop m32", "op1:", 0, false},
    {"imul r64, r64", "op1:rw op2:r flags:w", 0, false},
    {"mul r64", "op1:r rax:rw rdx:w flags:w", 0, false},
    {"mulx r64, r64, r64", "op1:w op2:w op3:r rdx:r", 0, false},
    {"div r64", "op1:r rax:rw rdx:rw flags:w", 0, false},
    {"cmovz r64, r64", "op1:crcw op2:r flags:r", 0, false},
    {"setz r8", "op1:w flags:r", 0, false},
    {"bsf r64, r64", "op1:crcw op2:r flags:w", 0, false},
    {"vp2intersectd k, zmm, zmm", "op1:w op2:r op3:r k+1:w", 32, false},
    {"vp2intersectq k, xmm, m64{1to2}", "op1:w op2:r op3:r k+1:w", 64, false},
    {"popcnt r64, r64", "op1:w op2:r flags:w", 0, false},
    {"shl r64, imm8", "op1:rw op2:r flags:w", 0, false},
    {"shl r64, cl", "op1:rw op2:r flags:crcw", 0, false},
    {"shl r64, 0", "op1:rw op2:r flags:crcw", 0, false},
    {"rcr m32, 0", "op1:rw op2:r flags:rcw", 0, false},
    {"shl r64, 1", "op1:rw op2:r flags:w", 0, false},
    {"and r64, 0", "op1:rw op2:r flags:w", 0, false},
    {"vcmpph k{k}, zmm, zmm, imm8", "op1:w op2:r op3:r op4:r op5:r", 16, true},
    {"vcmpps k{k}, zmm, zmm, imm8", "op1:w op2:r op3:r op4:r op5:r", 32, true},
    {"vfpclasssh k{k}, xmm, imm8", "op1:w op2:r op3:r op4:r", 16, true},
    {"vaddph zmm{k}, zmm, zmm", "op1:rcw op2:r op3:r op4:r", 16, true},
    {"fnstsw ax", "op1:w other:r", 0, false},
    {"rcl r64, cl", "op1:rw op2:r flags:rcw", 0, false},
    {"shlx r64, r64, r64", "op1:w op2:r op3:r", 0, false},
    {"xadd r64, r64", "op1:rw op2:rw flags:w", 0, false},
    {"xchg m64, r64", "op1:rw op2:rw", 0, false},
    {"lock cmpxchg m64, r64", "op1:rcw op2:r rax:rcw flags:w", 0, false},
    {"push r64", "op1:r rsp:rw mem:w", 0, false},
    {"pop r64", "op1:w rsp:rw mem:r", 0, false},
    {"leave", "mem:r rbp:rw rsp:w", 0, false},
    {"pf2id mm, mm", "op1:w op2:r", 64, false},
    {"pswapd mm, m64", "op1:w op2:r", 64, false},
    {"pfadd mm, mm", "op1:rw op2:r", 64, false},
    {"llwpcb r64", "op1:r", 0, false},
    {"slwpcb r64", "op1:w", 0, false},
    {"jz rel8", "op1:r flags:r", 0, false},
    {"jmp rel32", "op1:r", 0, false},
    {"lwpval r64, m32, imm32", "op1:r op2:r op3:r", 0, false},
    {"addpd xmm, xmm", "op1:rw op2:r", 64, true},
    {"addsd xmm, m64", "op1:rw op2:r", 64, true},
    {"movss xmm, xmm", "op1:rw op2:r", 32, true},
    {"movss xmm, m32", "op1:w op2:r", 32, true},
    {"movaps m128, xmm", "op1:w op2:r", 32, true},
    {"movhps xmm, m64", "op1:rw op2:r", 32, true},
    {"movq xmm, r64", "op1:w op2:r", 32, false},
    {"sqrtsd xmm, xmm", "op1:rw op2:r", 64, true},
    {"roundsd xmm, xmm, imm8", "op1:rw op2:r op3:r", 64, true},
    {"cvtsi2sd xmm, r64", "op1:rw op2:r", 64, true},
    {"cvtss2sd xmm, xmm", "op1:rw op2:r", 32, true},
    {"cvtpd2ps xmm, xmm", "op1:w op2:r", 64, true},
    {"cvtdq2ps xmm, xmm", "op1:w op2:r", 32, false},
    {"cvtsd2si r64, m64", "op1:w op2:r", 64, true},
    {"vcvttss2si r32, xmm", "op1:w op2:r", 32, true},
    {"vsqrtsd xmm, xmm, xmm", "op1:w op2:r op3:r", 64, true},
    {"ptest xmm, xmm", "op1:r op2:r flags:w", 32, false},
    {"pcmpestri xmm, xmm, imm8", "op1:r op2:r op3:r rax:r rdx:r rcx:w flags:w", 32, false},
    {"pblendvb xmm, xmm, xmm0", "op1:rw op2:r op3:r", 32, false},
    {"vaddpd ymm, ymm, ymm", "op1:w op2:r op3:r", 64, true},
    {"vaddpd zmm{k}, zmm, zmm", "op1:rcw op2:r op3:r op4:r", 64, true},
    {"vaddpd zmm{k}{z}, zmm, zmm", "op1:w op2:r op3:r op4:r", 64, true},
    {"vfmadd231pd ymm, ymm, ymm", "op1:rw op2:r op3:r", 64, true},
    {"vblendvpd ymm, ymm, ymm, ymm", "op1:w op2:r op3:r op4:r", 64, true},
    {"vpcmpgtd k{k}, zmm, zmm", "op1:w op2:r op3:r op4:r", 32, false},
    {"vgatherdpd ymm, vm32x, ymm", "op1:crw op2:r op3:rw", 64, true},
    {"vgatherdps zmm{k}, vm32z", "op1:rcw op2:rw op3:r", 32, true},
    {"vscatterdps vm32z{k}, zmm", "op1:cw op2:rw op3:r", 32, true},
    {"vmovdqu32 m512{k}, zmm", "op1:cw op2:r op3:r", 32, false},
    {"vpternlogd zmm, zmm, zmm, imm8", "op1:rw op2:r op3:r op4:r", 32, false},
    {"vfpclasspd k, zmm, imm8", "op1:w op2:r op3:r", 64, true},
    {"kaddw k, k, k", "op1:w op2:r op3:r", 0, false},
    {"fsqrt", "st0:rw other:w", 80, true},
    {"rdtsc", "rax:w rdx:w", 0, false},
    {"sha256rnds2 xmm, xmm, xmm0", "op1:rw op2:r op3:r", 32, false},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static void test_operands(void **state) {
    (void)state;
    static struct isa_form forms[CASES];
    struct isa_form *pointers[CASES];
    struct ip_error err = {0};
    for (size_t i = 0; i < CASES; i++) {
        assert_int_equal(isa_form_parse(&forms[i], cases[i].syntax, &err), IP_OK);
        pointers[i] = &forms[i];
    }
    assert_int_equal(isa_forms_derive(pointers, CASES, &err), IP_OK);
    for (size_t i = 0; i < CASES; i++) {
        char text[256];
        assert_true(forms[i].derived);
        assert_int_equal(forms[i].obstacle, ISA_OBSTACLE_NONE);
        assert_string_equal(forms[i].syntax, cases[i].syntax);
        describe(&forms[i], text, sizeof text);
        if (strcmp(text, cases[i].operands) != 0)
            fail_msg("%s: '%s', not '%s'", cases[i].syntax, text, cases[i].operands);
        if (forms[i].element_bits != cases[i].element_bits || forms[i].floating != cases[i].floating)
            fail_msg("%s: elements of %d bits, floating %d", cases[i].syntax, forms[i].element_bits,
                     forms[i].floating);
    }
}

/* Of a pair of masks either may be named. (NASM encodes any; the CPU drops the lowest bit.) */
static void test_pairs(void **state) {
    (void)state;
    static const uint8_t codes[][6] = {
        {0x62, 0xf2, 0x77, 0x48, 0x68, 0xe2}, /* vp2intersectd k4, zmm1, zmm2 */
        {0x62, 0xf2, 0x77, 0x48, 0x68, 0xea}, /* vp2intersectd k5, zmm1, zmm2 */
    };
    for (size_t i = 0; i < 2; i++) {
        struct isa_form form;
        struct isa_binding binding;
        struct ip_error err = {0};
        size_t length = 0;
        if (isa_decode(codes[i], sizeof codes[i], &form, &binding, &length, &err) != IP_OK)
            fail_msg("code %zu: %s", i, err.text);
        int beside = isa_form_beside_operand(&form);
        assert_int_equal(beside, 3);
        assert_true(form.operands[beside].implicit && form.operands[beside].reg < 0);
        assert_int_equal(binding.reg[0] & ~1, 4);
        assert_int_equal(binding.reg[0] ^ binding.reg[beside], 1);
    }
}

static void derive(struct isa_form *form, const char *row) {
    struct isa_table table = {0};
    struct ip_error err = {0};
    assert_int_equal(isa_table_text_add(&table, "row", row, strlen(row), &err), IP_OK);
    struct isa_form *pointer = &table.forms[0];
    assert_int_equal(isa_forms_derive(&pointer, 1, &err), IP_OK);
    *form = table.forms[0];
    isa_table_fini(&table);
}

static void test_flags(void **state) {
    (void)state;
    struct isa_form form;
    derive(&form, "add r64, r64");
    assert_int_equal(form.flags_read, 0);
    assert_int_equal(form.flags_written, 0x8d5);
    derive(&form, "adc r64, r64");
    assert_int_equal(form.flags_read, 1);
    derive(&form, "jz rel8");
    assert_int_equal(form.flags_read, 0x40);
    derive(&form, "inc r64");
    assert_int_equal(form.flags_written, 0x8d4); /* not the carry */
    derive(&form, "mul r64");                    /* undefined ones count as written */
    assert_int_equal(form.flags_written, 0x8d5);
    assert_int_equal(form.flags_undefined, 0xd4);
    derive(&form, "div r64");
    assert_int_equal(form.flags_undefined, 0x8d5);
    derive(&form, "bextr r64, r64, r64"); /* CF and OF are cleared */
    assert_int_equal(form.flags_written, 0x8d5);
    assert_int_equal(form.flags_undefined, 0x94);
    derive(&form, "add r64, r64");
    assert_int_equal(form.flags_undefined, 0);
    static const char *const all[] = {"ptest xmm, xmm",   "vptest ymm, ymm", "vtestps xmm, m128",
                                      "vtestpd ymm, ymm", "sbb r64, r64",    "adc r64, r64"};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        derive(&form, all[i]);
        assert_int_equal(form.flags_written, 0x8d5);
        assert_int_equal(form.flags_undefined, 0);
    }
    derive(&form, "shl r64, 0"); /* leaves them alone, and so passes them on */
    assert_int_equal(form.flags_read, form.flags_written);
    derive(&form, "movsb"); /* the direction flag is no operand */
    assert_int_equal(form.flags_read, 0x400);
    assert_int_equal(isa_form_flags_operand(&form), -1);
}

static void test_encodings_and_names(void **state) {
    (void)state;
    struct isa_form form;
    derive(&form, "vaddpd ymm, ymm, ymm");
    assert_true(form.vex && !form.evex);
    assert_string_equal(form.isa_set, "AVX");
    assert_int_equal(isa_form_vector_bits(&form), 256);
    derive(&form, "vaddpd zmm, zmm, zmm");
    assert_true(form.evex && !form.vex);
    assert_string_equal(form.isa_set, "AVX512F_512");
    assert_int_equal(isa_form_vector_bits(&form), 512);
    derive(&form, "paddb mm, m64");
    assert_true(!form.evex && !form.vex);
    assert_int_equal(isa_form_vector_bits(&form), 64);
    assert_int_equal(isa_form_memory_operand(&form), 1);
    derive(&form, "{evex} vaddpd xmm, xmm, xmm");
    assert_true(form.evex);
    derive(&form, "{vex} vpdpbusd xmm, xmm, xmm"); /* NASM 2 cannot */
    assert_true(form.vex && !form.evex);
    bool raw = form.encode_raw;
    derive(&form, "vcvtsd2si r32, xmm, {rn-sae}"); /* NASM 3 cannot */
    assert_true(form.evex && raw != form.encode_raw);
    derive(&form, "vpdpbusd xmm, xmm, xmm");
    assert_true(form.evex && !form.encode_raw);
}

static void test_obstacles(void **state) {
    (void)state;
    /* As NASM 3 says it. */
    static const char *const later[][2] = {
        {"frobnicate r64", "NASM: instruction expected, found `frobnicate rbx'"},
        {"frobnicate", "NASM: label `frobnicate' alone on a line without a colon might be in error"},
    };
    static const struct {
        const char *row;
        enum isa_obstacle obstacle;
        const char *note;
    } obstacles[] = {
        {"cli", ISA_OBSTACLE_PRIVILEGED, "needs an I/O privilege level (IOPL) of 3"},
        {"sti", ISA_OBSTACLE_PRIVILEGED, "needs an I/O privilege level (IOPL) of 3"},
        {"rdpmc", ISA_OBSTACLE_PRIVILEGED, "needs counters that the system opens to programs (CR4.PCE)"},
        {"lgdt m80", ISA_OBSTACLE_PRIVILEGED, "needs CPL 0"},
        {"stgi", ISA_OBSTACLE_PRIVILEGED, "needs CPL 0"},
        {"vmrun rax", ISA_OBSTACLE_PRIVILEGED, "needs CPL 0"},
        {"skinit eax", ISA_OBSTACLE_PRIVILEGED, "needs CPL 0"},
        {"enclv", ISA_OBSTACLE_PRIVILEGED, "needs CPL 0"},
        {"ret", ISA_OBSTACLE_NONE, ""},
        {"call r64", ISA_OBSTACLE_NONE, ""},
        {"jmp m64", ISA_OBSTACLE_NONE, ""},
        {"jmp m80", ISA_OBSTACLE_CONTROL_FLOW,
         "goes to another code segment, whose selector only the system knows"},
        {"call m32", ISA_OBSTACLE_CONTROL_FLOW,
         "goes to another code segment, whose selector only the system knows"},
        {"iretq", ISA_OBSTACLE_CONTROL_FLOW,
         "goes to another code segment, whose selector only the system knows"},
        {"popfq", ISA_OBSTACLE_NONE, ""},
        {"syscall", ISA_OBSTACLE_CONTROL_FLOW, "enters or leaves the system"},
        {"int imm8", ISA_OBSTACLE_CONTROL_FLOW, "raises an interrupt"},
        {"ud2", ISA_OBSTACLE_CONTROL_FLOW, "raises an invalid-opcode exception"},
        {"hlt", ISA_OBSTACLE_PRIVILEGED, "needs CPL 0"},
        {"wrmsr", ISA_OBSTACLE_PRIVILEGED, "needs CPL 0"},
        {"in al, dx", ISA_OBSTACLE_PRIVILEGED, "needs access to I/O ports"},
        {"wrfsbase r64", ISA_OBSTACLE_STATE, "moves the thread's local storage"},
        {"std", ISA_OBSTACLE_NONE, ""},
        {"pop fs", ISA_OBSTACLE_STATE, "moves the thread's local storage"},
        {"mov sreg, r16", ISA_OBSTACLE_NONE, ""},
        {"tileloadd tmm, m", ISA_OBSTACLE_NONE, ""},
        {"frobnicate r64", ISA_OBSTACLE_UNENCODABLE, "NASM: parser: instruction expected"},
        {"frobnicate", ISA_OBSTACLE_UNENCODABLE,
         "NASM: label alone on a line without a colon might be in error"},
        {"lock add r64, r64", ISA_OBSTACLE_UNENCODABLE, "NASM: instruction is not lockable"},
        {"add r64, r32", ISA_OBSTACLE_UNENCODABLE, "NASM: invalid combination of opcode and operands"},
    };
    for (size_t i = 0; i < sizeof obstacles / sizeof obstacles[0]; i++) {
        struct isa_form form;
        derive(&form, obstacles[i].row);
        const char *note = obstacles[i].note;
        for (size_t k = 0; k < sizeof later / sizeof later[0]; k++) {
            if (strcmp(obstacles[i].row, later[k][0]) == 0 && strcmp(form.note, later[k][1]) == 0)
                note = later[k][1];
        }
        assert_string_equal(form.note, note);
        assert_int_equal(form.obstacle, obstacles[i].obstacle);
    }
}

/* How far the x87 stack moves, by the manual. */
static void test_x87_pushes(void **state) {
    (void)state;
    static const struct {
        const char *row;
        int pushes;
    } moves[] = {
        {"fld m32", 1},        {"fld st", 1},      {"fild m16", 1},
        {"fbld m80", 1},       {"fldz", 1},        {"fsincos", 1},
        {"fptan", 1},          {"fxtract", 1},     {"fst st", 0},
        {"fst m64", 0},        {"fstp st", -1},    {"fstp m80", -1},
        {"fistp m64", -1},     {"fisttp m16", -1}, {"fbstp m80", -1},
        {"faddp st, st0", -1}, {"fcomp m32", -1},  {"fcomip st0, st", -1},
        {"fcompp", -2},        {"fucompp", -2},    {"fpatan", -1},
        {"fyl2x", -1},         {"ffreep st", -1},  {"ffree st", 0},
        {"fincstp", 0},        {"fdecstp", 0},     {"fadd st, st0", 0},
        {"fxch st", 0},        {"fprem", 0},       {"fscale", 0},
        {"fsqrt", 0},          {"fnop", 0},        {"fcmovb st0, st", 0},
        {"ftst", 0},           {"fldcw m16", 0},   {"vpermilps xmm, xmm, imm8", 0},
    };
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        struct isa_form form;
        derive(&form, moves[i].row);
        if (form.x87_pushes != moves[i].pushes) {
            fail_msg("%s pushes %d, not %d", moves[i].row, form.x87_pushes, moves[i].pushes);
        }
    }
}

/* A row may narrow a form to one value or one register. */
static void test_narrow_rows(void **state) {
    (void)state;
    static const char *const rows[] = {"add r64, 0", "add r64, 305419896", "mov rbx, r64", "shl r64, 1",
                                       "add rax, imm32"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct isa_form form;
        derive(&form, rows[i]);
        assert_int_equal(form.obstacle, ISA_OBSTACLE_NONE);
        assert_string_equal(form.syntax, rows[i]);
        assert_true(form.operands[0].write);
    }
}

static void test_overrides(void **state) {
    (void)state;
    struct isa_form form;
    char text[256];
    derive(&form, "add r64, r64 ; reads: op2 writes: op1");
    describe(&form, text, sizeof text);
    assert_string_equal(text, "op1:w op2:r flags:");
    assert_int_equal(form.flags_written, 0);
    derive(&form, "mul r64 ; reads: op1 writes: op1");
    assert_int_equal(form.flags_undefined, 0);
    derive(&form, "mov r64, r64 ; reads: op2 flags writes: op1 flags note: as an example");
    describe(&form, text, sizeof text);
    assert_string_equal(text, "op1:w op2:r flags:rw");
    assert_int_equal(form.flags_read, 0x8d5);
    assert_string_equal(form.note, "as an example");
    derive(&form, "vaddpd zmm{k}{z}, zmm, zmm ; reads: op2 writes: op1"); /* the mask is no word of a row */
    describe(&form, text, sizeof text);
    assert_string_equal(text, "op1:w op2:r op3:r op4:");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operands),  cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_flags),     cmocka_unit_test(test_encodings_and_names),
        cmocka_unit_test(test_obstacles), cmocka_unit_test(test_x87_pushes),
        cmocka_unit_test(test_overrides), cmocka_unit_test(test_narrow_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
