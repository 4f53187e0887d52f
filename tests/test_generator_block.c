/* SPDX-License-Identifier: Apache-2.0 */
/* Users' blocks: what is copied, which counter is chosen, what is refused and where. */
#include "generator/abi.h"
#include "tests/generator_testing.h"

static enum ip_status block_of(struct gen_program *program, const char *source, struct ip_error *err) {
    struct ip_text code = {0};
    struct ip_error assembly = {0};
    gen_program_init(program);
    if (isa_assemble_source("block", source, &code, &assembly) != IP_OK) {
        fail_msg("%s: %s", source, assembly.text);
    }
    enum ip_status status =
        gen_block_program(program, (const uint8_t *)code.data, code.length, 0x2345600, err);
    ip_text_fini(&code);
    return status;
}

static void copied(void **state) {
    (void)state;
    struct gen_program program;
    struct ip_error err = {0};
    assert_int_equal(
        block_of(&program, "add rax, rbx\nagain: dec ecx\njnz again\nmulps xmm0, [rsi+rdi*4+8]\n", &err),
        IP_OK);
    assert_int_equal(program.unit.count, 4);
    assert_string_equal(program.unit.items[0], "db 0x48,0x01,0xd8 ; add rax, rbx");
    assert_non_null(strstr(program.unit.items[2], "db 0x75,0xfc ; jnz"));
    assert_int_equal(program.counter, 15);
    assert_int_equal(program.uses, GEN_USES_ALL_GPR | GEN_USES_XMM);
    assert_true(program.map_on_demand);
    static const uint8_t pointer[8] = {0x00, 0x56, 0x34, 0x02, 0, 0, 0, 0};
    assert_memory_equal(program.memory_fill + 8, pointer, 8);
    assert_memory_equal(program.vector_fill + 56, pointer, 8);
    struct gen_encoder encoder = {0};
    assert_print_is_build(&program, &encoder, 0);
    assert_print_is_build(&program, &encoder, 1);
    gen_encoder_fini(&encoder);
    gen_program_fini(&program);
}

/* Fifteen bytes of an instruction with a long name: its line is none that is refused as too long. */
static void long_lines(void **state) {
    (void)state;
    static const uint8_t code[] = {0x2e, 0x65, 0x67, 0x62, 0x03, 0x8d, 0xd7, 0xcf,
                                   0xac, 0xf5, 0x88, 0xa9, 0xcb, 0xed, 0x12};
    struct gen_program program;
    struct ip_error err = {0};
    assert_int_equal(gen_block_program(&program, code, sizeof code, 1, &err), IP_OK);
    assert_true(strlen(program.unit.items[0]) < ISA_LINE_MAX);
    assert_non_null(strstr(program.unit.items[0], "; vgf2p8affineinvqb"));
    gen_program_fini(&program);
}

/* What loads and stores has so many copies that a core forgets which of them meet, unless they leave the uop
 * cache, or RSP moves on from copy to copy. */
static void copies(void **state) {
    (void)state;
    static const struct {
        const char *source;
        bool many;
    } cases[] = {
        {"mov rax, [rbx]\nadd rax, 1\nmov [rcx], rax\n", true},
        {"add [rbx], rax\nadd rdx, 1\ncmp rdx, rsi\n", true},
        {"mov rax, [rbx]\nadd rax, 1\nmov rdx, [rcx]\n", false},
        {"mov [rbx], rax\nadd rax, 1\nmov [rcx], rdx\n", false},
        {"mov rax, [rbx]\nmov [rcx], rax\n", false}, /* two instructions: the builder takes more */
        {"push rax\nadd rcx, 1\npop rdx\n", true},
        {"mov rax, [rbx]\nmov [rcx], rax\nadd rsp, 64\n", false},
        {"mov rax, [rbx]\nmov [rcx], rax\nadd rdx, 64\n", true},
        {"mov rax, [rbx]\ntimes 60 db 0x90\nmov [rcx], rax\n", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gen_program program;
        struct ip_error err = {0};
        assert_int_equal(block_of(&program, cases[i].source, &err), IP_OK);
        assert_int_equal(program.copies, cases[i].many ? 48 : 0);
        gen_program_fini(&program);
    }
}

static void counters(void **state) {
    (void)state;
    static const struct {
        const char *source;
        int counter;
    } cases[] = {
        {"nop\n", 15},
        {"mov r15b, 1\n", 14},                        /* a part of it */
        {"mov rax, [r15+r14*2]\nmov r13w, ax\n", 12}, /* base and index */
        {"lea rax, [r15+r14]\n", 13},
        {"mov eax, [r15d]\nmov ebx, [r14d+r13d*2]\n", 12}, /* of 32 bits */
        {"mov rax, rsp\nmov rbp, rsp\nmovsb\nmul rdx\n", 15},
        {"push rbp\nmov rbp, rsp\nleave\n", 15}, /* frames are a block's own */
        {"enter 16, 0\nleave\n", 15},
        {"add r15, r14\nadd r13, r12\nadd r11, r10\nadd r9, r8\n", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gen_program program;
        struct ip_error err = {0};
        if (block_of(&program, cases[i].source, &err) != IP_OK) {
            fail_msg("%s: %s", cases[i].source, err.text);
        }
        if (program.counter != cases[i].counter) {
            fail_msg("%s: counter %d, not %d", cases[i].source, program.counter, cases[i].counter);
        }
        struct gen_encoder encoder = {0};
        assert_print_is_build(&program, &encoder, 2);
        gen_encoder_fini(&encoder);
        gen_program_fini(&program);
    }
}

static void register_files(void **state) {
    (void)state;
    static const struct {
        const char *source;
        unsigned uses, masks;
    } cases[] = {
        {"vaddps ymm0, ymm1, ymm2\n", GEN_USES_YMM, 0},
        {"vaddps xmm20, xmm1, xmm2\n", GEN_USES_EVEX | GEN_USES_EVEX_256, 0},
        {"vaddps zmm0{k1}, zmm1, zmm2\n", GEN_USES_EVEX | GEN_USES_MASK | GEN_USES_MASK_64, 0x02},
        {"kmovw k3, eax\nkandw k5, k3, k3\n", GEN_USES_MASK | GEN_USES_MASK_64, 0x28},
        {"addps xmm0, xmm1\nvaddps ymm0, ymm1, ymm2\n", GEN_USES_XMM | GEN_USES_YMM, 0},
        {"paddb mm0, mm1\n", GEN_USES_MMX, 0},
        {"fld1\nfstp st0\n", GEN_USES_X87, 0},
        {"tilezero tmm0\n", GEN_USES_TILES, 0},
        {"tilerelease\n", GEN_USES_TILES, 0},
        {"vgatherdps xmm1, [rax+xmm2], xmm3\n", GEN_USES_YMM, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gen_program program;
        struct ip_error err = {0};
        assert_int_equal(block_of(&program, cases[i].source, &err), IP_OK);
        if (program.uses != (cases[i].uses | GEN_USES_ALL_GPR)) {
            fail_msg("%s: uses 0x%x, not 0x%x", cases[i].source, program.uses,
                     cases[i].uses | GEN_USES_ALL_GPR);
        }
        assert_int_equal(program.idle_masks, 0xff & ~cases[i].masks);
        gen_program_fini(&program);
    }
}

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *source, *error;
    } cases[] = {
        {"nop\nret\n", "at offset 1"},
        {"nop\nnop\ncall $+5\n", "at offset 2"},
        {"call rax\n", "offset 0"},
        {"jmp rax\n", "offset 0"},
        {"nop\nsyscall\n", "offset 1"},
        {"int3\n", "offset 0"},
        {"ud2\n", "offset 0"},
        {"nop\njmp $+100\n", "branch at offset 1"},
        {"nop\njmp $-1000\n", "branch at offset 1"},
        {"jz $-1\n", "branch at offset 0"},
        {"jz $+3\nadd rax, rbx\n", "branch at offset 0"}, /* into the middle of an instruction */
        {"hlt\n", "offset 0"},
        {"leave\npopfq\n", "offset 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gen_program program;
        struct ip_error err = {0};
        enum ip_status status = block_of(&program, cases[i].source, &err);
        if (status != IP_UNSUPPORTED || strstr(err.text, cases[i].error) == NULL) {
            fail_msg("%s: status %d, '%s'", cases[i].source, status, err.text);
        }
        assert_int_equal(program.unit.count, 0); /* untouched */
    }
}

static void branches_within(void **state) {
    (void)state;
    static const char *const sources[] = {"jmp $+2\n", "nop\njz $+2\n", "a: nop\njmp b\nnop\nb: jz a\n",
                                          "jnz $+5\nadd rax, rbx\n"};
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        struct gen_program program;
        struct ip_error err = {0};
        if (block_of(&program, sources[i], &err) != IP_OK) {
            fail_msg("%s: %s", sources[i], err.text);
        }
        gen_program_fini(&program);
    }
}

static void no_instruction(void **state) {
    (void)state;
    struct gen_program program;
    struct ip_error err = {0};
    static const uint8_t cut[] = {0x90, 0x48, 0x01};
    static const uint8_t bad[] = {0x90, 0x06};
    assert_int_equal(gen_block_program(&program, cut, sizeof cut, 0, &err), IP_SYNTAX);
    assert_non_null(strstr(err.text, "offset 1"));
    assert_int_equal(gen_block_program(&program, bad, sizeof bad, 0, &err), IP_SYNTAX);
    assert_int_equal(gen_block_program(&program, bad, 0, 0, &err), IP_SYNTAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_lines),     cmocka_unit_test(copied),  cmocka_unit_test(counters),
        cmocka_unit_test(register_files), cmocka_unit_test(refused), cmocka_unit_test(branches_within),
        cmocka_unit_test(no_instruction), cmocka_unit_test(copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
