/* SPDX-License-Identifier: Apache-2.0 */
/* Golden units of pairs, mixes and branches, among them the listings of Putigny 2014. */
#include "generator/control.h"
#include "tests/generator_testing.h"
#include "tests/near.h"

static void pair_units(void **state) {
    (void)state;
    struct isa_form addpd = form_of("addpd xmm, xmm"), imul = form_of("imul r64, r64");
    struct isa_form vaddpd = form_of("vaddpd ymm, ymm, ymm"), mulpd = form_of("mulpd xmm, xmm");
    struct gen_program program;
    struct ip_error err = {0};
    assert_int_equal(gen_pair_program(&program, &addpd, 3, &imul, 2, &err), IP_OK);
    assert_unit(&program,
                "addpd xmm0, xmm15\nimul rax, r13\naddpd xmm1, xmm15\nimul rcx, r13\naddpd xmm2, xmm15\n");
    assert_int_equal(program.forms_per_unit, 1);
    gen_program_fini(&program);
    /* One file: disjoint registers. */
    assert_int_equal(gen_pair_program(&program, &addpd, 1, &mulpd, 2, &err), IP_OK);
    assert_unit(&program, "addpd xmm0, xmm15\nmulpd xmm7, xmm15\nmulpd xmm8, xmm15\n");
    gen_program_fini(&program);
    /* Nobody's stays nobody's: a count of zero leaves the other alone. */
    assert_int_equal(gen_pair_program(&program, &addpd, 0, &mulpd, 1, &err), IP_OK);
    assert_unit(&program, "mulpd xmm7, xmm15\n");
    gen_program_fini(&program);
    /* What names a high byte has no REX prefix; that it leaves its neighbour few registers would be its own
     * doing. */
    struct isa_form high = form_of("add r8h, r8"), lea = form_of("lea r64, agen"), div = form_of("div r64");
    assert_int_equal(gen_pair_program(&program, &high, 2, &lea, 4, &err), IP_OK);
    assert_unit(&program,
                "add ah, bl\nlea rdi, [rsi]\nlea r8, [rsi]\nadd ch, bl\nlea r9, [rsi]\nlea r10, [rsi]\n");
    gen_program_fini(&program);
    assert_int_equal(gen_pair_program(&program, &high, 1, &div, 1, &err), IP_OK);
    assert_unit(&program, "add ch, bl\ndiv r13\n"); /* rdx:rax are the division's */
    bool divisor = false;
    for (size_t i = 0; i < program.init.count; i++) {
        divisor = divisor || strcmp(program.init.items[i], "mov r13d, 0x1") == 0;
    }
    assert_true(divisor);
    gen_program_fini(&program);
    /* ... and the stack of x87 is filled once. */
    struct isa_form narrow = form_of("div r8h"), fadd = form_of("fadd st, st0");
    assert_int_equal(gen_pair_program(&program, &narrow, 1, &fadd, 1, &err), IP_OK);
    unsigned loads = 0;
    for (size_t i = 0; i < program.init.count; i++) {
        loads += strncmp(program.init.items[i], "fld", 3) == 0;
    }
    assert_within(loads, 1, 8);
    gen_program_fini(&program);
    assert_int_equal(gen_pair_program(&program, &addpd, 1, &vaddpd, 1, &err), IP_UNSUPPORTED);
    assert_non_null(strstr(err.text, "legacy SSE and VEX"));
    assert_int_equal(gen_pair_program(&program, &addpd, 0, &mulpd, 0, &err), IP_USAGE);
}

/* Of a displacement on the base register in the line, modulo 1 KiB; -1: there is none. */
static int offset_of(const char *line) {
    const char *bracket = strstr(line, "[r14");
    return bracket != NULL ? (int)(strtol(bracket + 4, NULL, 10) & 0x3ff) : -1;
}

/* Does a load of the second form have the offset of a store of the first, or the other way round? */
static bool meet(const char *first, const char *second, unsigned stride) {
    struct isa_form forms[2] = {form_of(first), form_of(second)};
    const struct gen_part parts[2] = {{.form = &forms[0], .count = 30, .how = {.stride = stride}},
                                      {.form = &forms[1], .count = 9, .how = {.stride = stride}}};
    struct gen_program program;
    struct ip_error err = {0};
    assert_int_equal(gen_mix_program(&program, parts, 2, &err), IP_OK);
    bool used[2][0x400] = {{false}}, met = false;
    for (size_t i = 0; i < program.unit.count; i++) {
        int offset = offset_of(program.unit.items[i]);
        assert_within(offset, 0, 0x3ff);
        bool is_first = strncmp(program.unit.items[i], first, strcspn(first, " ")) == 0;
        used[!is_first][offset] = true;
    }
    for (size_t i = 0; i < 0x400; i++) {
        met = met || (used[0][i] && used[1][i]);
    }
    gen_program_fini(&program);
    return met;
}

/* A CPU that guesses by the displacement what a load reads (Zen 4) must not take another's store for it. */
static void loads_meet_no_stores_of_others(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"mov m64, r64", "sub m32, imm8"}, {"sub m32, imm8", "mov m64, r64"},
        {"not m64", "add m32, r32"},       {"mov m64, r64", "add r64, m64"},
        {"add r64, m64", "not m64"},       {"vmovups m256, ymm", "lock inc m32"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        for (unsigned stride = 0; stride <= 64; stride += 64) {
            if (meet(pairs[i][0], pairs[i][1], stride)) {
                fail_msg("%s beside %s, stride %u", pairs[i][0], pairs[i][1], stride);
            }
        }
    }
    assert_true(meet("mov m64, r64", "vmovups m256, ymm", 64)); /* these load nothing */
}

/* The unit's branches are `branch`, behind `first` and a NOP that keeps it apart; those that are taken begin
 * a stride apart each. */
static void branch_run(const char *syntax, bool taken, const char *first, const char *branch) {
    struct isa_form form = form_of(syntax);
    struct gen_program program;
    struct gen_encoder encoder = {0};
    struct gen_kernel kernel = {0};
    struct ip_error err = {0};
    if (gen_branch_program(&program, &form, taken, &err) != IP_OK) {
        fail_msg("%s: %s", syntax, err.text);
    }
    if (gen_kernel_make(&kernel, &program, &encoder, 1, &err) != IP_OK) {
        fail_msg("%s: %s: %s", syntax, err.place, err.text);
    }
    size_t i = first != NULL ? 2 : 0;
    if (first != NULL) {
        assert_string_equal(program.unit.items[0], first);
        assert_string_equal(program.unit.items[1], "nop dword [rax+8]"); /* no macro-fusion */
    }
    size_t branches = 0;
    for (; i < program.unit.count; i++) {
        bool leapt = taken && strstr(program.unit.items[i], "nop") != NULL;
        assert_true(leapt || strcmp(program.unit.items[i], branch) == 0);
        branches += !leapt;
    }
    assert_int_equal(branches, program.forms_per_unit);
    if (taken) {
        assert_int_equal(kernel.unit_bytes,
                         branches * GEN_BRANCH_STRIDE +
                             (first == NULL ? 0 : (strstr(first, ", r13") != NULL ? 3 : 4) + 4));
    }
    gen_kernel_fini(&kernel);
    gen_encoder_fini(&encoder);
    gen_program_fini(&program);
}

static void branch_units(void **state) {
    (void)state;
    /* Listing 2.3 */
    branch_run("jmp rel8", true, NULL, "jmp short $+16");
    branch_run("jmp rel32", true, NULL, "jmp strict near $+16");
    branch_run("jz rel8", true, "cmp r13, r13", "jz short $+16");
    branch_run("jz rel8", false, "test r13, r13", "jz short $+2");
    branch_run("jb rel32", true, "cmp r13, 2", "jb strict near $+16");
    branch_run("jo rel8", true, "cmp r13b, 0x80", "jo short $+16");
    branch_run("jrcxz rel8", true, NULL, "jrcxz $+16");
    branch_run("jecxz rel8", true, NULL, "jecxz $+16");
    struct isa_form jmp = form_of("jmp rel8"), add = form_of("add r64, r64");
    struct gen_program program;
    struct ip_error err = {0};
    assert_int_equal(gen_branch_program(&program, &jmp, false, &err), IP_UNSUPPORTED);
    assert_int_equal(gen_branch_program(&program, &add, true, &err), IP_UNSUPPORTED);
}

/* Among instructions that write no flags the flags of a branch are prepared once, so that it is not taken. */
static void branches_in_a_mix(void **state) {
    (void)state;
    static const struct {
        const char *syntax, *first, *init;
    } known[] = {{"jz rel8", "test r13, r13", "mov r13d, 1"},
                 {"jnz rel8", "cmp r13, r13", "mov r13d, 1"},
                 {"jrcxz rel8", "jrcxz $+2", "mov ecx, 1"},
                 {"loope rel8", "test r13, r13", "mov rcx, 0x7fffffffffffffff"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct isa_form form = form_of(known[i].syntax);
        struct gen_program program;
        struct ip_error err = {0};
        const struct gen_part parts[] = {{.form = &form, .count = 2, .not_taken = true}, {.count = 4}};
        assert_int_equal(gen_mix_program(&program, parts, 2, &err), IP_OK);
        assert_string_equal(program.unit.items[0], known[i].first);
        assert_string_equal(program.unit.items[1], GEN_FILLER_NOP); /* no macro-fusion */
        bool set = false;
        for (size_t l = 0; l < program.init.count; l++) {
            set = set || strcmp(program.init.items[l], known[i].init) == 0;
        }
        assert_true(set);
        gen_program_fini(&program);
    }
    struct isa_form jmp = form_of("jmp rel8");
    struct gen_program program;
    struct ip_error err = {0};
    const struct gen_part parts[] = {{.count = 4}, {.form = &jmp, .count = 2, .not_taken = true}};
    assert_int_equal(gen_mix_program(&program, parts, 2, &err), IP_UNSUPPORTED);
}

/* Several jumps on flags go on by the same flags, if there are such; none stands beside what writes flags. */
static void jumps_in_a_mix(void **state) {
    (void)state;
    static const struct {
        const char *one, *other, *first; /* NULL: they cannot share a kernel */
    } known[] = {{"jb rel8", "jz rel32", "test r13, r13"},
                 {"jnb rel8", "jz rel8", "cmp r13, 2"},
                 {"jno rel8", "jz rel8", "cmp r13b, 0x80"},
                 {"jnz rel8", "jb rel8", "cmp r13, r13"},
                 {"jnb rel8", "jb rel8", NULL},
                 {"jl rel8", "jnl rel32", NULL},
                 {"jz rel8", "add r64, r64", NULL},
                 {"jz rel8", "andn r64, r64, r64", NULL},
                 {"jz rel8", "movsxd r64, r32", "test r13, r13"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct isa_form one = form_of(known[i].one), other = form_of(known[i].other);
        struct gen_program program;
        struct ip_error err = {0};
        const struct gen_part parts[] = {{.form = &one, .count = 2}, {.form = &other, .count = 4}};
        enum ip_status status = gen_mix_program(&program, parts, 2, &err);
        assert_int_equal(status, known[i].first != NULL ? IP_OK : IP_UNSUPPORTED);
        if (status == IP_OK) {
            assert_string_equal(program.unit.items[0], known[i].first);
            assert_string_equal(program.unit.items[1], GEN_FILLER_NOP);
            gen_program_fini(&program);
        }
        if (other.mnemonic[0] == 'j') {
            assert_int_equal(gen_jumps_agree(&one, &other), known[i].first != NULL);
        }
    }
}

/* Of a mix: memory as the form needs it that has it, vectors as the strictest form does. */
static void fills_of_mixes(void **state) {
    (void)state;
    static const char *const mixes[][3] = {
        /* first, second, whose memory */
        {"add r64, m64", "vaddpd ymm, ymm, ymm", "add r64, m64"},
        {"vaddpd ymm, ymm, ymm", "fidiv m16", "fidiv m16"},
        {"fdiv m32", "div r64", "fdiv m32"},
        {"add r64, m64", "vaddpd ymm, ymm, m256", "vaddpd ymm, ymm, m256"},
    };
    for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++) {
        struct isa_form first = form_of(mixes[i][0]), second = form_of(mixes[i][1]);
        struct isa_form of_memory = form_of(mixes[i][2]);
        const struct gen_part parts[2] = {{.form = &first, .count = 2}, {.form = &second, .count = 2}};
        struct gen_program program;
        struct ip_error err = {0};
        uint8_t memory[64], vectors[64];
        assert_int_equal(gen_mix_program(&program, parts, 2, &err), IP_OK);
        gen_fill_for_form(&of_memory, memory, vectors);
        assert_memory_equal(program.memory_fill, memory, 64);
        if (i < 2) {
            struct isa_form floats = form_of("vaddpd ymm, ymm, ymm");
            gen_fill_for_form(&floats, memory, vectors);
            assert_memory_equal(program.vector_fill, vectors, 64);
        }
        gen_program_fini(&program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pair_units),        cmocka_unit_test(branch_units),
        cmocka_unit_test(branches_in_a_mix), cmocka_unit_test(jumps_in_a_mix),
        cmocka_unit_test(fills_of_mixes),    cmocka_unit_test(loads_meet_no_stores_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
