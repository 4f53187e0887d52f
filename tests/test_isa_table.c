/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "isa/table.h"

static enum ip_status add(struct isa_table *table, const char *text, struct ip_error *err) {
    return isa_table_text_add(table, "rows", text, strlen(text), err);
}

static void test_alternatives_expand(void **state) {
    (void)state;
    struct isa_table table = {0};
    struct ip_error err = {0};
    assert_int_equal(add(&table,
                         "# a comment\n\nextension SSE2\naddpd xmm, xmm/m128\r\n"
                         "  VADDPD\tzmm/zmm{k}/zmm{k}{z} , zmm,zmm/m512/m64{1to8}  # another\n",
                         &err),
                     IP_OK);
    assert_int_equal(table.count, 2 + 9);
    assert_string_equal(table.forms[0].syntax, "addpd xmm, xmm");
    assert_string_equal(table.forms[1].syntax, "addpd xmm, m128");
    assert_string_equal(table.forms[1].extension, "SSE2");
    assert_string_equal(table.forms[2].syntax, "vaddpd zmm, zmm, zmm");
    assert_string_equal(table.forms[10].syntax, "vaddpd zmm{k}{z}, zmm, m64{1to8}");
    const struct isa_form *form = isa_table_find(&table, "vaddpd zmm{k}{z}, zmm, m64{1to8}");
    assert_non_null(form);
    assert_int_equal(form->explicit_count, 4);
    assert_true(form->zeroing);
    assert_int_equal(form->operands[0].reg_class, ISA_REG_ZMM);
    assert_int_equal(form->operands[0].bits, 512);
    assert_true(form->operands[1].mask);
    assert_int_equal(form->operands[1].reg_class, ISA_REG_MASK);
    assert_int_equal(form->operands[3].kind, ISA_OPERAND_MEM);
    assert_int_equal(form->operands[3].bits, 64);
    assert_int_equal(form->operands[3].broadcast, 8);
    assert_false(form->derived);
    isa_table_fini(&table);
}

static void test_kinds(void **state) {
    (void)state;
    static const struct {
        const char *syntax;
        unsigned operand;
        enum isa_operand_kind kind;
        enum isa_reg_class reg_class;
        int reg;
        unsigned bits;
    } cases[] = {
        {"mov r8h, r8", 0, ISA_OPERAND_REG, ISA_REG_GPR8H, -1, 8},
        {"shl r64, cl", 1, ISA_OPERAND_REG, ISA_REG_GPR8, 1, 8},
        {"add rax, imm32", 0, ISA_OPERAND_REG, ISA_REG_GPR64, 0, 64},
        {"add rax, imm32", 1, ISA_OPERAND_IMM, ISA_REG_NONE, -1, 32},
        {"mov r10d, r32", 0, ISA_OPERAND_REG, ISA_REG_GPR32, 10, 32},
        {"fadd st0, st", 0, ISA_OPERAND_REG, ISA_REG_X87, 0, 80},
        {"fadd st0, st", 1, ISA_OPERAND_REG, ISA_REG_X87, -1, 80},
        {"paddb mm, m64", 0, ISA_OPERAND_REG, ISA_REG_MMX, -1, 64},
        {"kmovq k, k", 1, ISA_OPERAND_REG, ISA_REG_MASK, -1, 64},
        {"lea r64, agen", 1, ISA_OPERAND_AGEN, ISA_REG_NONE, -1, 0},
        {"vgatherdps xmm{k}, vm32x", 2, ISA_OPERAND_MEM, ISA_REG_XMM, -1, 32},
        {"vpgatherqq zmm{k}, vm64z", 2, ISA_OPERAND_MEM, ISA_REG_ZMM, -1, 64},
        {"xsave m4608", 0, ISA_OPERAND_MEM, ISA_REG_NONE, -1, 4608},
        {"fxsave m", 0, ISA_OPERAND_MEM, ISA_REG_NONE, -1, 0},
        {"jmp rel32", 0, ISA_OPERAND_REL, ISA_REG_NONE, -1, 32},
        {"mov al, moffs8", 1, ISA_OPERAND_MEM, ISA_REG_NONE, -1, 8},
        {"mov sreg, r16", 0, ISA_OPERAND_REG, ISA_REG_SEGMENT, -1, 16},
        {"push fs", 0, ISA_OPERAND_REG, ISA_REG_SEGMENT, 4, 16},
        {"mov cr, r64", 0, ISA_OPERAND_REG, ISA_REG_OTHER, -1, 64},
        {"tdpbssd tmm, tmm, tmm", 2, ISA_OPERAND_REG, ISA_REG_TILE, -1, 8192},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_form form;
        struct ip_error err = {0};
        assert_int_equal(isa_form_parse(&form, cases[i].syntax, &err), IP_OK);
        const struct isa_operand *op = &form.operands[cases[i].operand];
        assert_string_equal(form.syntax, cases[i].syntax);
        assert_int_equal(op->kind, cases[i].kind);
        assert_int_equal(op->reg_class, cases[i].reg_class);
        assert_int_equal(op->reg, cases[i].reg);
        assert_int_equal(op->bits, cases[i].bits);
    }
    struct isa_form form;
    struct ip_error err = {0};
    assert_int_equal(isa_form_parse(&form, "add r64, -5", &err), IP_OK);
    assert_true(form.operands[1].imm_fixed);
    assert_int_equal(form.operands[1].imm, -5);
    assert_string_equal(form.syntax, "add r64, -5");
}

static void test_prefixes_and_decorators(void **state) {
    (void)state;
    struct isa_form form;
    struct ip_error err = {0};
    assert_int_equal(isa_form_parse(&form, "LOCK Add M32,R32", &err), IP_OK);
    assert_string_equal(form.syntax, "lock add m32, r32");
    assert_string_equal(form.prefix, "lock");
    assert_string_equal(form.mnemonic, "add");
    assert_int_equal(isa_form_parse(&form, "repz cmpsb", &err), IP_OK);
    assert_string_equal(form.syntax, "repe cmpsb");
    assert_int_equal(isa_form_parse(&form, "{evex} vaddpd xmm, xmm, xmm", &err), IP_OK);
    assert_string_equal(form.prefix, "{evex}");
    assert_int_equal(isa_form_parse(&form, "vaddpd zmm, zmm, zmm, {rn-sae}", &err), IP_OK);
    assert_string_equal(form.decorator, "{rn-sae}");
    assert_int_equal(form.explicit_count, 3);
    assert_int_equal(isa_form_parse(&form, "jne rel8", &err), IP_OK);
    assert_string_equal(form.syntax, "jnz rel8");
    assert_int_equal(isa_form_parse(&form, "cmovae r64, r64", &err), IP_OK);
    assert_string_equal(form.syntax, "cmovnb r64, r64");
    assert_int_equal(isa_form_parse(&form, "CMPGXADD m32, r32, r32", &err), IP_OK);
    assert_string_equal(form.syntax, "cmpnlexadd m32, r32, r32");
    assert_int_equal(isa_form_parse(&form, "cmppxadd m32, r32, r32", &err), IP_OK);
    assert_string_equal(form.syntax, "cmppxadd m32, r32, r32");
    assert_int_equal(isa_form_parse(&form, "sal r64, 1", &err), IP_OK);
    assert_string_equal(form.syntax, "shl r64, 1");
}

static void test_attributes(void **state) {
    (void)state;
    struct isa_table table = {0};
    struct ip_error err = {0};
    assert_int_equal(add(&table,
                         "frob r64, r64 ; reads: op1 flags writes: op2 note: from the manual  \n"
                         "vfrob zmm/zmm{k}, zmm ; raw unsized reads: op2 writes: op1\n",
                         &err),
                     IP_OK);
    assert_int_equal(table.count, 3);
    assert_true(table.forms[0].override);
    assert_int_equal(table.forms[0].override_reads, 0x8001);
    assert_int_equal(table.forms[0].override_writes, 2);
    assert_string_equal(table.forms[0].note, "from the manual");
    assert_string_equal(table.forms[0].extension, "USER");
    assert_true(table.forms[1].encode_raw && table.forms[1].memory_unsized);
    assert_int_equal(table.forms[1].override_reads, 2);
    assert_int_equal(table.forms[2].override_reads, 4); /* the mask is operand 1 */
    isa_table_fini(&table);
}

static void test_bad_rows(void **state) {
    (void)state;
    static const struct {
        const char *text, *place, *message;
    } cases[] = {
        {"add r64, foo", "rows:1:10", "'foo' is no operand kind"},
        {"nop\n\nadd r64,, r64", "rows:3:9", "an operand is missing here"},
        {"add r64, r64/", "rows:1:14", "an operand is missing here"},
        {"add r64 r64", "rows:1:5", "'r64 r64' is no operand kind"},
        {"  ad-d r64", "rows:1:3", "'ad-' is no mnemonic"},
        {"lock rep add m8, r8", "rows:1:6", "'rep' is a second prefix; a row has at most one"},
        {"{frob} add m8, r8", "rows:1:1", "'{frob}' is no prefix (lock rep repe repne {evex} {vex})"},
        {"vaddpd zmm, zmm{k}, zmm", "rows:1:13", "'zmm{k}': only the first operand is masked"},
        {"vaddpd zmm{z}, zmm, zmm", "rows:1:8", "'zmm{z}': {z} needs {k} before it"},
        {"vaddpd zmm, zmm, m64{1to7}", "rows:1:18", "'m64{1to7}' is no operand kind"},
        {"vaddpd zmm, zmm, zmm, {rx-sae}", "rows:1:23", "'{rx-sae}' is no decorator ({sae} {rn-sae})"},
        {"vaddpd zmm, {sae}, zmm", "rows:1:20", "'zmm' follows the rounding decorator, which must be last"},
        {"add r64, imm7", "rows:1:10", "'imm7' is no operand kind"},
        {"add m7, r8", "rows:1:5", "'m7' is no operand kind"},
        {"jmp rel16", "rows:1:5", "'rel16' is no operand kind"},
        {"add r64, r64 ; reads: op3", "rows:1:23", "the row has no operand 'op3'"},
        {"add r64, r64 ; op1", "rows:1:16", "'op1' is no attribute (reads: writes: note: raw unsized)"},
        {"add r64, r64 ; frob", "rows:1:16", "'frob' is no attribute (reads: writes: note: raw unsized)"},
        {"extension", "rows:1:10", "'extension' takes one name of at most 19 letters, digits and _ - . +"},
        {"extension A B", "rows:1:11",
         "'extension' takes one name of at most 19 letters, digits and _ - . +"},
        {"extension A\"B", "rows:1:11",
         "'extension' takes one name of at most 19 letters, digits and _ - . +"},
        {"extension ABCDEFGHIJKLMNOPQRSTUVWXYZ", "rows:1:11",
         "'extension' takes one name of at most 19 letters, digits and _ - . +"},
        {"a r8,r8,r8,r8,r8,r8,r8,r8,r8", "rows:1:27", "'r8' is one operand too many"},
        {"abcdefghijklmnopqrstuvwxyz r8", "rows:1:1", "'abcdefghijklmnopqrstuvwxyz r8' is no mnemonic"},
        {"add \x1b[31m", "rows:1:5", "'?[31m' is no operand kind"},
        {"add 1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17, 1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16", "rows:1:48",
         "the row stands for too many forms; split it"},
        {"abcdefghijklmnopqrs m12344{1to32}, m12344{1to32}, m12344{1to32}, m12344{1to32}, m12344{1to32}, "
         "m12344{1to32}, m12344{1to32}",
         "rows:1:1", "the syntax of 'abcdefghijklmnopqrs' is longer than 111 characters"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_table table = {0};
        struct ip_error err = {0};
        assert_int_equal(add(&table, "nop\nadd r64, r64\n", &err), IP_OK);
        if (cases[i].message == NULL) {
            assert_int_equal(add(&table, cases[i].text, &err), IP_OK);
        } else {
            assert_int_equal(add(&table, cases[i].text, &err), IP_SYNTAX);
            assert_string_equal(err.place, cases[i].place);
            assert_string_equal(err.text, cases[i].message);
            assert_int_equal(table.count, 2); /* untouched */
            assert_non_null(isa_table_find(&table, "add r64, r64"));
        }
        isa_table_fini(&table);
    }
}

/* A later row replaces an earlier one, in a text of its own or in the same. */
static void test_replacement(void **state) {
    (void)state;
    struct isa_table table = {0};
    struct ip_error err = {0};
    assert_int_equal(add(&table, "nop\nadd r64, r64\nsub r64, r64\nadd r64, r64 ; note: second\n", &err),
                     IP_OK);
    assert_int_equal(table.count, 3);
    assert_string_equal(isa_table_find(&table, "add r64, r64")->note, "second");
    assert_int_equal(add(&table, "sub r64, r64 ; note: third\nxor r64, r64", &err), IP_OK);
    assert_int_equal(table.count, 4);
    assert_string_equal(isa_table_find(&table, "SUB r64,r64")->note, "third");
    assert_string_equal(table.forms[3].syntax, "xor r64, r64");
    assert_null(isa_table_find(&table, "sub r64, r32"));
    assert_null(isa_table_find(&table, "sub r64, rubbish"));
    isa_table_fini(&table);
}

static void test_files(void **state) {
    (void)state;
    struct isa_table table = {0};
    struct ip_error err = {0};
    char path[] = "/tmp/isaprobe-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "frob r64\nfrob r65\n", 18), 18);
    close(fd);
    assert_int_equal(isa_table_file_add(&table, path, &err), IP_SYNTAX);
    char place[64];
    snprintf(place, sizeof place, "%s:2:6", path);
    assert_string_equal(err.place, place);
    unlink(path);
    assert_int_equal(isa_table_file_add(&table, path, &err), IP_IO);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(table.count, 0);
    isa_table_fini(&table);
}

static void test_builtin_holds_the_thesis_table(void **state) {
    (void)state;
    /* Putigny 2014, Table 2.2. */
    static const char *const syntaxes[] = {
        "add r64, r64",
        "add r64, imm32",
        "add r64, imm8",
        "mov r64, r64",
        "mov r64, imm64",
        "mov r64, imm32",
        "mov r64, m64",
        "mov m64, r64",
        "insertps xmm, xmm, imm8",
        "shufps xmm, xmm, imm8",
        "shufpd xmm, xmm, imm8",
        "addps xmm, xmm",
        "addpd xmm, xmm",
        "andps xmm, xmm",
        "andpd xmm, xmm",
        "movaps xmm, xmm",
        "movaps xmm, m128",
        "orps xmm, xmm",
        "orpd xmm, xmm",
        "maxps xmm, xmm",
        "maxpd xmm, xmm",
        "minps xmm, xmm",
        "minpd xmm, xmm",
        "hsubps xmm, xmm",
        "hsubpd xmm, xmm",
        "movq xmm, xmm",
        "movq xmm, r64",
        "movss xmm, xmm",
        "movsd xmm, xmm",
        "mulps xmm, xmm",
        "mulpd xmm, xmm",
        "paddb xmm, xmm",
        "paddw xmm, xmm",
        "paddd xmm, xmm",
        "paddq xmm, xmm",
        "pand xmm, xmm",
        "addpd xmm, m128",
        "lock xadd m64, r64",
        "vaddpd ymm, ymm, m256",
        "vfmadd231pd zmm{k}{z}, zmm, m64{1to8}",
        "{vex} vpdpbusd xmm, xmm, xmm",
    };
    struct isa_table table = {0};
    struct ip_error err = {0};
    assert_int_equal(isa_table_builtin_add(&table, &err), IP_OK);
    for (size_t i = 0; i < sizeof syntaxes / sizeof syntaxes[0]; i++) {
        if (isa_table_find(&table, syntaxes[i]) == NULL)
            fail_msg("'%s' is not in the tables", syntaxes[i]);
    }
    isa_table_fini(&table);
}

static void test_select(void **state) {
    (void)state;
    struct isa_table table = {0};
    struct ip_error err = {0};
    size_t *positions = NULL, count = 0;
    assert_int_equal(add(&table,
                         "addpd xmm, xmm/m128\naddps xmm, xmm/m128\nadd r64, r64/imm8/imm32\n"
                         "lock add m64, r64\njnz rel8/rel32\nvaddpd ymm, ymm, ymm\n",
                         &err),
                     IP_OK);
    assert_int_equal(isa_table_select(&table, "ADDPD", &positions, &count, &err), IP_OK);
    assert_int_equal(count, 2);
    assert_int_equal(positions[1], 1);
    assert_int_equal(isa_table_select(&table, " add R64,  imm8/imm32 ", &positions, &count, &err), IP_OK);
    assert_int_equal(count, 4); /* appended */
    assert_string_equal(table.forms[positions[2]].syntax, "add r64, imm8");
    assert_string_equal(table.forms[positions[3]].syntax, "add r64, imm32");
    count = 0;
    assert_int_equal(isa_table_select(&table, "add*", &positions, &count, &err), IP_OK);
    assert_int_equal(count, 8);
    count = 0;
    assert_int_equal(isa_table_select(&table, "?add?d", &positions, &count, &err), IP_OK);
    assert_int_equal(count, 1);
    count = 0;
    assert_int_equal(isa_table_select(&table, "lock add", &positions, &count, &err), IP_OK);
    assert_int_equal(count, 1);
    static const struct {
        const char *query;
        size_t count;
    } patterns[] = {{"LOCK *", 1},        {"  add*  xmm , m*", 2}, {"add? xmm,xmm", 0},
                    {"add?? xmm,xmm", 2}, {"?add* ymm, *", 1},     {"add* r64, imm*", 2}};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) { /* of whole forms */
        count = 0;
        assert_int_equal(isa_table_select(&table, patterns[i].query, &positions, &count, &err),
                         patterns[i].count > 0 ? IP_OK : IP_USAGE);
        assert_int_equal(count, patterns[i].count);
    }
    count = 0;
    assert_int_equal(isa_table_select(&table, "JNE", &positions, &count, &err), IP_OK);
    assert_int_equal(count, 2);

    static const struct {
        const char *query, *message;
    } bad[] = {
        {"adpd", "no instruction is called 'adpd'; nearest: addpd, add, addps, vaddpd"},
        {"r64,", "no instruction is called 'r64,' (a syntax with operands must be quoted: \"add r64, r64\")"},
        {"imm8", "no instruction is called 'imm8' (a syntax with operands must be quoted: \"add r64, r64\")"},
        {"ADDDP", "no instruction is called 'adddp'; nearest: addpd, addps, add, vaddpd"},
        {"zzzzzzzzzz", "no instruction is called 'zzzzzzzzzz'; 'isaprobe list' names all, 'isaprobe scan "
                       "--isa FILE' adds rows"},
        {"lock*", "no mnemonic matches 'lock*'; 'isaprobe list' names all, and with a blank ('lock *') a "
                  "pattern is one of whole forms"},
        {"Rep *", "no form matches 'Rep *'; 'isaprobe list' writes all as they are matched"},
        {"addpd ymm, ymm", "no form 'addpd ymm, ymm'; forms of addpd: addpd xmm, xmm; addpd xmm, m128"},
        {"addpd xmm, foo", "'addpd xmm, foo', column 12: 'foo' is no operand kind"},
        {"adpd xmm, foo", "no instruction is called 'adpd'; nearest: addpd, add, addps, vaddpd"},
        {"", "'', column 1: '' is no mnemonic"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        size_t before = count;
        assert_int_equal(isa_table_select(&table, bad[i].query, &positions, &count, &err), IP_USAGE);
        assert_string_equal(err.text, bad[i].message);
        assert_int_equal(count, before);
    }
    free(positions);
    isa_table_fini(&table);
}

static void test_extensions(void **state) {
    (void)state;
    struct isa_table table = {0};
    struct ip_error err = {0};
    struct ip_lines wanted = {0};
    assert_int_equal(add(&table,
                         "extension AVX512_VNNI\nvpdpbusd zmm, zmm, zmm\nextension AVX_VNNI\n"
                         "{vex} vpdpbusd xmm, xmm, xmm\nextension SSE2\naddpd xmm, xmm\n",
                         &err),
                     IP_OK);
    assert_true(isa_extension_wanted(&wanted, "SSE2")); /* none is named */
    assert_int_equal(isa_table_extensions_check(&table, &wanted, &err), IP_OK);
    ip_lines_add(&wanted, "sse2");
    ip_lines_add(&wanted, "AVX_vnni");
    assert_int_equal(isa_table_extensions_check(&table, &wanted, &err), IP_OK);
    assert_true(isa_extension_wanted(&wanted, "SSE2"));
    assert_true(isa_extension_wanted(&wanted, "AVX_VNNI"));
    assert_false(isa_extension_wanted(&wanted, "AVX512_VNNI"));
    static const struct {
        const char *name, *message;
    } bad[] = {
        {"avxvnni", "no extension is called 'avxvnni'; nearest: AVX_VNNI"},
        {"AVX51_VNNI", "no extension is called 'AVX51_VNNI'; nearest: AVX512_VNNI, AVX_VNNI"},
        {"x", "no extension is called 'x': 'isaprobe list' shows the extension of each form"},
        {"", "no extension is called '': 'isaprobe list' shows the extension of each form"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ip_lines_fini(&wanted);
        ip_lines_add(&wanted, "SSE2");
        ip_lines_add(&wanted, bad[i].name);
        assert_int_equal(isa_table_extensions_check(&table, &wanted, &err), IP_USAGE);
        assert_string_equal(err.text, bad[i].message);
    }
    ip_lines_fini(&wanted);
    isa_table_fini(&table);
}

/* A long list of forms is cut, and says so. */
static void test_select_long_list(void **state) {
    (void)state;
    struct isa_table table = {0};
    struct ip_error err = {0};
    size_t *positions = NULL, count = 0;
    assert_int_equal(isa_table_builtin_add(&table, &err), IP_OK);
    assert_int_equal(isa_table_select(&table, "vaddpd st", &positions, &count, &err), IP_USAGE);
    assert_non_null(strstr(err.text, "forms of vaddpd: "));
    assert_non_null(strstr(err.text, " more"));
    assert_true(strlen(err.text) < sizeof err.text - 1);
    assert_int_equal(isa_table_select(&table, "*", &positions, &count, &err), IP_OK);
    assert_int_equal(count, table.count);
    free(positions);
    isa_table_fini(&table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alternatives_expand),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_prefixes_and_decorators),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_bad_rows),
        cmocka_unit_test(test_replacement),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_builtin_holds_the_thesis_table),
        cmocka_unit_test(test_select),
        cmocka_unit_test(test_extensions),
        cmocka_unit_test(test_select_long_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
