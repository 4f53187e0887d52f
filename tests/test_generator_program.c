/* SPDX-License-Identifier: Apache-2.0 */
/* The printed source, the built bytes, and that they are the same. */
#include "common/random.h"
#include "generator/abi.h"
#include "generator/operands.h"
#include "tests/generator_testing.h"
#include "tests/near.h"

static const char addpd_source[] =
    "; isaprobe kernel: latency of addpd xmm, xmm (op2 -> op1)\n"
    "; void kernel(uint64_t iterations); 4 x 1 instructions in the loop, 4 of them count.\n"
    "; Assemble: nasm -f bin -o kernel.bin kernel.asm\n"
    "; Needs read-write memory at 0x20000000..0x2003ffff, in repeated bytes:\n"
    ";   data: 00 00 00 00 00 00 f0 3f\n"
    ";   vectors: 00 00 00 00 00 00 f0 3f\n"
    "bits 64\n"
    "default abs\n"
    "\n"
    "        ; save what the caller owns\n"
    "        push rbx\n"
    "        push rbp\n"
    "        push r12\n"
    "        push r13\n"
    "        push r14\n"
    "        push r15\n"
    "        mov [abs 0x20000000], rsp\n"
    "        stmxcsr [abs 0x20000008]\n"
    "\n"
    "        ; flush denormals\n"
    "        ldmxcsr [abs 0x2000000c]\n"
    "\n"
    "        ; iterations\n"
    "        mov r15, rdi\n"
    "\n"
    "        ; vector registers\n"
    "        movups xmm0, [abs 0x20000100]\n"
    "        movups xmm1, [abs 0x20000100]\n"
    "        movups xmm2, [abs 0x20000100]\n"
    "        movups xmm3, [abs 0x20000100]\n"
    "        movups xmm4, [abs 0x20000100]\n"
    "        movups xmm5, [abs 0x20000100]\n"
    "        movups xmm6, [abs 0x20000100]\n"
    "        movups xmm7, [abs 0x20000100]\n"
    "        movups xmm8, [abs 0x20000100]\n"
    "        movups xmm9, [abs 0x20000100]\n"
    "        movups xmm10, [abs 0x20000100]\n"
    "        movups xmm11, [abs 0x20000100]\n"
    "        movups xmm12, [abs 0x20000100]\n"
    "        movups xmm13, [abs 0x20000100]\n"
    "        movups xmm14, [abs 0x20000100]\n"
    "        movups xmm15, [abs 0x20000100]\n"
    "\n"
    "        ; general-purpose registers\n"
    "        mov eax, 0x101\n"
    "        mov ecx, 0x101\n"
    "        mov edx, 0x101\n"
    "        mov ebx, 0x101\n"
    "        mov ebp, 0x101\n"
    "        mov esi, 0x101\n"
    "        mov edi, 0x101\n"
    "        mov r8d, 0x101\n"
    "        mov r9d, 0x101\n"
    "        mov r10d, 0x101\n"
    "        mov r11d, 0x101\n"
    "        mov r12d, 0x101\n"
    "        mov r13d, 0x101\n"
    "\n"
    "        ; base of the data\n"
    "        mov r14d, 0x20014000\n"
    "\n"
    "        ; nothing else is in flight when the loop begins\n"
    "        lfence\n"
    "\n"
    "align 64\n"
    "kernel_loop:\n"
    "%rep 4\n"
    "        addpd xmm0, xmm0\n"
    "%endrep\n"
    "        sub r15, 1\n"
    "        jnz strict near kernel_loop\n"
    "\n"
    "        ; nor when it ends\n"
    "        lfence\n"
    "\n"
    "        ; restore and return\n"
    "        ldmxcsr [abs 0x20000008]\n"
    "        cld\n"
    "        pop r15\n"
    "        pop r14\n"
    "        pop r13\n"
    "        pop r12\n"
    "        pop rbp\n"
    "        pop rbx\n"
    "        ret\n";

static void printed(void **state) {
    (void)state;
    struct isa_form form = form_of("addpd xmm, xmm");
    const struct gen_link link = {.form = &form, .src = 1, .dst = 0};
    struct gen_program program;
    struct ip_error err = {0};
    struct ip_text source = {0};
    assert_int_equal(gen_latency_program(&program, &link, 1, 1, 0, &err), IP_OK);
    assert_int_equal(gen_program_print(&program, 4, &source, &err), IP_OK);
    assert_string_equal(source.data, addpd_source);
    ip_text_fini(&source);
    gen_program_fini(&program);
}

/* What each register file adds to the frame, and what takes it back. */
static void frames(void **state) {
    (void)state;
    static const struct {
        unsigned uses;
        int counter;
        const char *has[4], *has_not[3];
    } cases[] = {
        {0, 15, {"mov r15, rdi"}, {"ymm", "vzeroupper", "mov rsp,"}},
        {GEN_USES_YMM, 15, {"vmovups ymm15,", "vzeroupper"}, {"zmm", "ymm16"}},
        {GEN_USES_EVEX, 15, {"vmovups zmm31,", "vzeroupper"}, {"ymm"}},
        {GEN_USES_EVEX | GEN_USES_EVEX_256, 15, {"vmovups ymm31,", "vzeroupper"}, {"zmm"}},
        {GEN_USES_YMM | GEN_USES_VEX_128, 15, {"vmovups xmm15,", "vzeroupper"}, {"zmm", "ymm"}},
        {GEN_USES_EVEX | GEN_USES_EVEX_256 | GEN_USES_VEX_128, 15, {"vmovups xmm31,"}, {"zmm", "ymm"}},
        {GEN_USES_XMM | GEN_USES_YMM, 15, {"movups xmm15,", "vzeroupper"}, {"vmovups"}},
        {GEN_USES_MASK, 15, {"kxnorw k0, k0, k0", "kxnorw k7, k7, k7"}, {"kxnorq"}},
        {GEN_USES_MASK | GEN_USES_MASK_64, 15, {"kxnorq k7, k7, k7"}, {"kxnorw"}},
        {GEN_USES_MMX, 15, {"movq mm7,", "emms"}, {"fninit"}},
        {GEN_USES_X87, 15, {"fninit"}, {"emms"}},
        {GEN_USES_STACK, 15, {"mov esp, 0x20034000", "mov rsp, [abs 0x20000000]"}, {NULL}},
        {GEN_USES_ALL_GPR,
         8,
         {"mov r8, rdi", "mov esp, 0x101", "mov r15d, 0x101", "mov rsp, [abs 0x20000000]"},
         {"mov r8d,", "0x20014000"}},
        {GEN_USES_ALL_GPR,
         -1,
         {"mov [abs 0x20000010], rdi", "sub qword [abs 0x20000010], 1"},
         {"mov r15, rdi"}},
    };
    struct gen_encoder encoder = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gen_program program;
        struct ip_error err = {0};
        struct ip_text source = {0};
        gen_program_init(&program);
        program.uses = cases[i].uses;
        program.counter = cases[i].counter;
        ip_lines_add(&program.unit, "nop");
        assert_int_equal(gen_program_print(&program, 1, &source, &err), IP_OK);
        for (size_t w = 0; w < 4 && cases[i].has[w] != NULL; w++) {
            if (strstr(source.data, cases[i].has[w]) == NULL) {
                fail_msg("case %zu: no '%s' in\n%s", i, cases[i].has[w], source.data);
            }
        }
        for (size_t w = 0; w < 3 && cases[i].has_not[w] != NULL; w++) {
            if (strstr(source.data, cases[i].has_not[w]) != NULL) {
                fail_msg("case %zu: '%s' in\n%s", i, cases[i].has_not[w], source.data);
            }
        }
        assert_print_is_build(&program, &encoder, 3);
        ip_text_fini(&source);
        gen_program_fini(&program);
    }
    gen_encoder_fini(&encoder);
}

/* A mask that no line names is zeroed, which takes no register; one is named as a word of its own. */
static void idle_masks_are_zero(void **state) {
    (void)state;
    static const struct {
        const char *line;
        unsigned named;
    } cases[] = {{"vpcmpeqb k1{k7}, ymm0, [abs 0x20010000]", 0x82},
                 {"kmovq k0, k3", 0x09},
                 {"kxnorw k2, k2, k2", 0x04},
                 {"vpshufbitqmb k4, xmm1, xmm2", 0x10},
                 {"vpaddd zmm0{k5}{z}, zmm1, zmm2", 0x20},
                 {"vpunpckhbw xmm6, xmm7, [k0x]", 0x00},
                 {"kk1 k", 0x00}};
    struct gen_encoder encoder = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gen_program program;
        gen_program_init(&program);
        ip_lines_add(i % 2 != 0 ? &program.init : &program.unit, cases[i].line);
        assert_int_equal(gen_program_idle_masks(&program), 0xff & ~cases[i].named);
        gen_program_fini(&program);
    }
    static const unsigned idle[] = {0, 0x7e, 0};
    for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++) {
        struct gen_program program;
        struct ip_error err = {0};
        struct ip_text source = {0};
        gen_program_init(&program);
        program.uses = GEN_USES_MASK;
        program.idle_masks = (uint8_t)idle[i];
        ip_lines_add(&program.unit, "kmovw k0, k7");
        assert_int_equal(gen_program_print(&program, 1, &source, &err), IP_OK);
        assert_true((strstr(source.data, "kxorw k1, k1, k1") != NULL) == (idle[i] != 0));
        assert_true((strstr(source.data, "kxnorw k1, k1, k1") != NULL) == (idle[i] == 0));
        assert_non_null(strstr(source.data, "kxnorw k7, k7, k7"));
        assert_print_is_build(&program, &encoder, 1); /* neither has the other's prologue */
        ip_text_fini(&source);
        gen_program_fini(&program);
    }
    gen_encoder_fini(&encoder);
}

static void large_gpr_fill(void **state) {
    (void)state;
    struct gen_program program;
    struct gen_encoder encoder = {0};
    struct ip_error err = {0};
    struct ip_text source = {0};
    gen_program_init(&program);
    program.gpr_fill = UINT64_C(0x123456789abcdef0);
    ip_lines_add(&program.unit, "nop");
    assert_int_equal(gen_program_print(&program, 1, &source, &err), IP_OK);
    assert_non_null(strstr(source.data, "mov rcx, 0x123456789abcdef0"));
    assert_print_is_build(&program, &encoder, 1);
    ip_text_fini(&source);
    gen_program_fini(&program);
    gen_encoder_fini(&encoder);
}

static uint32_t copies_of(const char *line, unsigned instructions) {
    struct gen_program program;
    struct gen_encoder encoder = {0};
    struct gen_kernel kernel = {0};
    struct ip_error err = {0};
    gen_program_init(&program);
    for (unsigned i = 0; i < instructions; i++) {
        ip_lines_add(&program.unit, line);
    }
    assert_int_equal(gen_kernel_make(&kernel, &program, &encoder, 0, &err), IP_OK);
    uint32_t copies = kernel.shorter.copies;
    assert_int_equal(kernel.longer.copies, 2 * copies);
    assert_int_equal(kernel.unit_instructions, instructions);
    /* The unit begins at the loop, which is aligned, and stands there again and again. */
    size_t loop = kernel.longer.loop_offset;
    assert_int_equal(loop % 64, 0);
    gen_kernel_fini(&kernel);
    gen_encoder_fini(&encoder);
    gen_program_fini(&program);
    return copies;
}

static void default_copies(void **state) {
    (void)state;
    /* The short loop has a certain number of instructions, or a little more to hold whole units. */
    uint32_t instructions = copies_of("add rax, rbx", 1);
    assert_within(instructions, 32, 512);
    uint32_t copies = copies_of("add rax, rbx", 12);
    assert_within(copies * 12, instructions, instructions + 11);
    assert_int_equal(copies_of("add rax, rbx", 1000), 2);
    /* Long instructions: the long loop stays in the cache of decoded instructions. */
    copies = copies_of("mov rax, 0x123456789abcdef0", 10);
    assert_within(2 * copies * 10 * 10, 1, 4096);
    assert_within(copies, 2, instructions);
}

/* The same code in both lengths; the longer one is to be called with twice the iterations. It begins where it
 * is to in a cache line. */
static void one_loop(void **state) {
    (void)state;
    static const int counters[] = {15, -1};
    static const unsigned shifts[] = {0, 20};
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        struct gen_program program;
        struct gen_encoder encoder = {0};
        struct gen_kernel kernel = {0};
        struct ip_text source = {0}, bytes = {0};
        struct ip_error err = {0};
        gen_program_init(&program);
        program.counter = counters[i];
        program.one_loop = true;
        program.loop_shift = shifts[i];
        program.copies = 5;
        ip_lines_add(&program.unit, "imul rax, rbx");
        assert_int_equal(gen_kernel_make(&kernel, &program, &encoder, 0, &err), IP_OK);
        const struct gen_code *shorter = &kernel.shorter, *longer = &kernel.longer;
        assert_int_equal(shorter->copies, 5);
        assert_int_equal(shorter->passes, 1);
        assert_int_equal(longer->copies, 10);
        assert_int_equal(longer->passes, 2);
        assert_int_equal(shorter->loop_offset % 64, shifts[i]);
        assert_int_equal(longer->length, shorter->length);
        assert_memory_equal(longer->bytes, shorter->bytes, shorter->length);
        assert_int_equal(gen_program_print(&program, 5, &source, &err), IP_OK);
        assert_int_equal(isa_assemble_source("kernel.asm", source.data, &bytes, &err), IP_OK);
        assert_int_equal(bytes.length, shorter->length);
        assert_memory_equal(bytes.data, shorter->bytes, shorter->length);
        ip_text_fini(&source);
        ip_text_fini(&bytes);
        gen_kernel_fini(&kernel);
        gen_encoder_fini(&encoder);
        gen_program_fini(&program);
    }
}

static void rejected_line(void **state) {
    (void)state;
    struct gen_program program, good;
    struct gen_encoder encoder = {0};
    struct gen_kernel kernel = {0};
    struct ip_error err = {0};
    gen_program_init(&program);
    gen_program_init(&good);
    ip_lines_add(&program.unit, "add rax, rbx");
    ip_lines_add(&program.unit, "frobnicate rax");
    ip_lines_add(&good.unit, "add rax, rbx");
    assert_int_equal(gen_encoder_program_add(&encoder, &program, &err), IP_OK);
    assert_int_equal(gen_encoder_program_add(&encoder, &good, &err), IP_OK);
    assert_int_equal(gen_encoder_flush(&encoder, &err), IP_OK);
    assert_int_equal(gen_kernel_build(&kernel, &program, &encoder, 0, &err), IP_UNSUPPORTED);
    assert_non_null(strstr(err.text, "frobnicate rax"));
    assert_null(kernel.shorter.bytes);
    /* The others do not suffer. */
    assert_int_equal(gen_kernel_build(&kernel, &good, &encoder, 0, &err), IP_OK);
    gen_kernel_fini(&kernel);
    gen_encoder_fini(&encoder);
    gen_program_fini(&program);
    gen_program_fini(&good);
}

static void misuse(void **state) {
    (void)state;
    struct gen_program program;
    struct gen_encoder encoder = {0};
    struct gen_kernel kernel = {0};
    struct ip_error err = {0};
    struct ip_text source = {0};
    gen_program_init(&program);
    assert_int_equal(gen_program_print(&program, 1, &source, &err), IP_USAGE); /* empty */
    assert_int_equal(gen_kernel_make(&kernel, &program, &encoder, 1, &err), IP_USAGE);
    ip_lines_add(&program.unit, "nop");
    assert_int_equal(gen_program_print(&program, 0, &source, &err), IP_USAGE);
    ip_lines_add(&program.unit, "add rsi, rdi");
    assert_int_equal(gen_kernel_build(&kernel, &program, &encoder, 1, &err), IP_FAILED); /* not flushed */
    assert_null(source.data);
    gen_program_fini(&program);
    gen_encoder_fini(&encoder);
}

/* Each distinct line is encoded once, over any number of flushes. */
static void encoded_once(void **state) {
    (void)state;
    enum { PROGRAMS = 40, LINES = 500 };
    struct gen_encoder encoder = {0};
    struct ip_error err = {0};
    for (unsigned p = 0; p < PROGRAMS; p++) {
        struct gen_program program;
        gen_program_init(&program);
        for (unsigned i = 0; i < LINES; i++) {
            ip_lines_printf(&program.unit, "mov eax, 0x%x", p / 2 * LINES + i);
        }
        assert_int_equal(gen_encoder_program_add(&encoder, &program, &err), IP_OK);
        size_t before = encoder.count;
        assert_int_equal(gen_encoder_program_add(&encoder, &program, &err), IP_OK);
        assert_int_equal(encoder.count, before);
        if (p % 16 == 15 || p == PROGRAMS - 1) {
            assert_int_equal(gen_encoder_flush(&encoder, &err), IP_OK);
            assert_int_equal(encoder.flushed, encoder.count);
            struct gen_kernel kernel = {0};
            assert_int_equal(gen_kernel_build(&kernel, &program, &encoder, 2, &err), IP_OK);
            uint32_t first = p / 2 * LINES;
            const uint8_t expected[] = {0xb8, (uint8_t)first, (uint8_t)(first >> 8), 0, 0};
            assert_memory_equal(kernel.shorter.bytes + kernel.shorter.loop_offset, expected, 5);
            gen_kernel_fini(&kernel);
        }
        gen_program_fini(&program);
    }
    assert_true(encoder.count > PROGRAMS / 2 * LINES);
    assert_true(encoder.count < PROGRAMS / 2 * LINES + 100);
    gen_encoder_fini(&encoder);
}

/* Programs of every shape of the form, as many as there are. */
static size_t programs_of(struct gen_program *programs, const struct isa_form *form,
                          const struct isa_form *other, struct ip_random *random) {
    size_t count = 0;
    struct ip_error err = {0};
    unsigned operands = form->operand_count > 0 ? form->operand_count : 1;
    unsigned src = (unsigned)ip_random_below(random, operands);
    unsigned dst = (unsigned)ip_random_below(random, operands);
    const struct gen_link link = {.form = form,
                                  .src = (int)src,
                                  .dst = (int)dst,
                                  .src_address = form->operands[src].kind == ISA_OPERAND_MEM &&
                                                 ip_random_below(random, 2) == 0};
    const struct gen_independence how = {.registers = (unsigned)ip_random_below(random, 12),
                                         .break_flags = ip_random_below(random, 2) == 0,
                                         .break_registers = ip_random_below(random, 2) == 0,
                                         .same_register = ip_random_below(random, 4) == 0};
    unsigned registers = (unsigned)ip_random_below(random, 13), filler = (unsigned)ip_random_below(random, 3);
    count += form->operand_count > 0 &&
             gen_latency_program(&programs[count], &link, 1, registers, filler, &err) == IP_OK;
    count += gen_throughput_program(&programs[count], form, &how, 1 + (unsigned)ip_random_below(random, 9),
                                    &err) == IP_OK;
    count += gen_pair_program(&programs[count], form, 3, other, 2, &err) == IP_OK;
    count += gen_branch_program(&programs[count], form, true, &err) == IP_OK;
    return count;
}

static void builtin_sample(void **state) {
    (void)state;
    enum { SAMPLE = 60, SEED = 2214 };
    struct isa_table table = {0};
    struct ip_error err = {0};
    struct ip_random random = {SEED};
    struct isa_form *sample[SAMPLE];
    assert_int_equal(isa_table_builtin_add(&table, &err), IP_OK);
    if (table.count == 0) {
        print_message("skip: no builtin tables\n");
        skip();
    }
    for (unsigned i = 0; i < SAMPLE; i++) {
        sample[i] = &table.forms[ip_random_below(&random, table.count)];
    }
    sample[0] = isa_table_find(&table, "jz rel8");
    assert_non_null(sample[0]);
    assert_int_equal(isa_forms_derive(sample, SAMPLE, &err), IP_OK);
    struct gen_encoder encoder = {0};
    size_t total = 0;
    for (unsigned i = 0; i < SAMPLE; i++) {
        struct gen_program programs[4];
        size_t count = programs_of(programs, sample[i], sample[(i + 1) % SAMPLE], &random);
        for (size_t p = 0; p < count; p++) {
            assert_print_is_build(&programs[p], &encoder, (uint32_t)ip_random_below(&random, 5));
            gen_program_fini(&programs[p]);
        }
        total += count;
    }
    print_message("seed %d, %zu programs\n", SEED, total);
    assert_true(total > SAMPLE);
    gen_encoder_fini(&encoder);
    isa_table_fini(&table);
}

/* Which reference stands beside a kernel depends on what it uses. */
static void resources(void **state) {
    (void)state;
    static const struct {
        const char *line;
        bool memory;
    } cases[] = {{"add rax, rbx", false},       {"add rax, [r14]", true}, {"mov [r14+8], eax", true},
                 {"lea rax, [r14+rbx]", false}, {GEN_FILLER_NOP, false},  {GEN_FILLER_LONG_NOP, false},
                 {GEN_FILLER_MOVE, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int block = 0; block < 2; block++) {
            struct gen_program program;
            struct gen_encoder encoder = {0};
            struct gen_kernel kernel = {0};
            struct ip_error err = {0};
            gen_program_init(&program);
            program.map_on_demand = block != 0;
            ip_lines_add(&program.unit, "add rcx, rcx");
            ip_lines_add(&program.unit, cases[i].line);
            assert_int_equal(gen_kernel_make(&kernel, &program, &encoder, 0, &err), IP_OK);
            assert_int_equal(kernel.touches_memory, cases[i].memory && block == 0);
            assert_false(kernel.fills_issue);
            gen_kernel_fini(&kernel);
            gen_encoder_fini(&encoder);
            gen_program_fini(&program);
        }
    }
}

/* Kernels wait in the end for what leaves the caches, and for nothing else that is stored. */
static void late_stores(void **state) {
    (void)state;
    static const struct {
        const char *form;
        bool late;
    } cases[] = {{"movntdq m128, xmm", true},          {"{evex} vmovntdq m256, ymm", true},
                 {"maskmovdqu xmm, xmm", true},        {"clflush m512", true},
                 {"movdiri m64, r64", true},           {"movdqu m128, xmm", false},
                 {"vmaskmovps m128, xmm, xmm", false}, {"prefetchnta m8", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_form form = form_of(cases[i].form);
        const struct gen_independence how = {0};
        struct gen_program program;
        struct ip_error err = {0};
        if (gen_throughput_program(&program, &form, &how, 4, &err) != IP_OK) {
            fail_msg("%s: %s", cases[i].form, err.text);
        }
        struct ip_text text = {0};
        assert_int_equal(gen_program_print(&program, 2, &text, &err), IP_OK);
        assert_int_equal(strstr(ip_text_string(&text), "mfence") != NULL, cases[i].late);
        ip_text_fini(&text);
        gen_program_fini(&program);
    }
}

static bool has_extended_state(const struct isa_form *form) {
    bool has = false;
    for (unsigned o = 0; o < form->operand_count; o++) {
        enum isa_reg_class of = form->operands[o].reg_class;
        has = has || isa_reg_is_vector(of) || of == ISA_REG_MASK || of == ISA_REG_MMX || of == ISA_REG_X87 ||
              of == ISA_REG_TILE;
    }
    return has;
}

/* What reads or writes the data says so, without naming memory too: the data are renewed for it alone. And so
 * do those whose registers XRSTOR has to reset. */
static void data_reached(void **state) {
    (void)state;
    enum { EVERY = 60 };
    struct isa_table table = {0};
    struct ip_error err = {0};
    struct gen_encoder encoder = {0};
    const struct gen_independence how = {0};
    size_t chosen = 0, made = 0, named = 0, strings = 0, none = 0, idle = 0, plain = 0;
    assert_int_equal(isa_table_builtin_add(&table, &err), IP_OK);
    struct isa_form **forms = calloc(table.count, sizeof(struct isa_form *));
    struct gen_program *programs = calloc(table.count, sizeof *programs);
    assert_non_null(forms);
    assert_non_null(programs);
    for (size_t i = 0; i < table.count; i++) {
        if (i % EVERY == 0 || gen_form_is_string(&table.forms[i])) {
            forms[chosen++] = &table.forms[i];
        }
    }
    assert_int_equal(isa_forms_derive(forms, chosen, &err), IP_OK);
    for (size_t i = 0; i < chosen; i++) {
        bool works = !gen_form_is_stack(forms[i]) &&
                     gen_throughput_program(&programs[made], forms[i], &how, 2, &err) == IP_OK;
        if (works) {
            assert_int_equal(gen_encoder_program_add(&encoder, &programs[made], &err), IP_OK);
            forms[made++] = forms[i];
        }
    }
    assert_int_equal(gen_encoder_flush(&encoder, &err), IP_OK);
    for (size_t i = 0; i < made; i++) {
        const struct isa_form *form = forms[i];
        struct gen_kernel kernel = {0};
        bool memory = isa_form_memory_operand(form) >= 0;
        if (gen_kernel_build(&kernel, &programs[i], &encoder, 1, &err) == IP_OK) {
            if (memory && !kernel.reaches_data && strstr(form->extension, "PADLOCK") == NULL) {
                fail_msg("%s: its kernel does not say that it reaches the data", form->syntax);
            }
            if (has_extended_state(form) && !kernel.extended_state) {
                fail_msg("%s: its kernel does not say that it uses vectors or the like", form->syntax);
            }
            plain += !kernel.extended_state;
            strings += gen_form_is_string(form);
            named += memory;
            none += !memory;
            idle += !kernel.reaches_data;
        }
        gen_kernel_fini(&kernel);
        gen_program_fini(&programs[i]);
    }
    print_message("%zu with memory, of which %zu strings; %zu without, %zu leave the data alone\n", named,
                  strings, none, idle);
    assert_true(strings > 10 && named > 50 && idle > none / 2 && plain > 10);
    free(programs);
    free(forms);
    gen_encoder_fini(&encoder);
    isa_table_fini(&table);
}

/* An immediate stands for all that are not special: no shift by one, and lanes that are moved. */
static void immediates(void **state) {
    (void)state;
    static const struct {
        const char *syntax;
        int64_t value;
    } cases[] = {{"shl r64, imm8", 2},
                 {"vextractf128 xmm, ymm, imm8", 1},
                 {"vextracti64x4 m256{k}, zmm, imm8", 1},
                 {"vshuff32x4 ymm{k}{z}, ymm, m256, imm8", 1},
                 {"vextractps r32, xmm, imm8", 2},
                 {"vshufps xmm, xmm, xmm, imm8", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_form form;
        struct ip_error err = {0};
        assert_int_equal(isa_form_parse(&form, cases[i].syntax, &err), IP_OK);
        unsigned last = 0;
        while (last < ISA_OPERANDS_MAX && form.operands[last].kind != ISA_OPERAND_IMM) {
            last++;
        }
        assert_true(last < ISA_OPERANDS_MAX);
        assert_int_equal(gen_immediate(&form, last), cases[i].value);
    }
}

/* A part without a form is made of fillers, and the kernel is known to leave no issue slots. */
static void fillers(void **state) {
    (void)state;
    static const char *const texts[] = {NULL, GEN_FILLER_MOVE};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const struct gen_part part = {.filler = texts[i], .count = 5};
        struct gen_program program;
        struct gen_encoder encoder = {0};
        struct gen_kernel kernel = {0};
        struct ip_error err = {0};
        assert_int_equal(gen_mix_program(&program, &part, 1, &err), IP_OK);
        assert_int_equal(program.unit.count, 5);
        assert_string_equal(program.unit.items[4], texts[i] != NULL ? texts[i] : GEN_FILLER_NOP);
        assert_int_equal(gen_kernel_make(&kernel, &program, &encoder, 0, &err), IP_OK);
        assert_true(kernel.fills_issue);
        assert_false(kernel.touches_memory);
        gen_kernel_fini(&kernel);
        gen_encoder_fini(&encoder);
        gen_program_fini(&program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed),
        cmocka_unit_test(frames),
        cmocka_unit_test(idle_masks_are_zero),
        cmocka_unit_test(large_gpr_fill),
        cmocka_unit_test(default_copies),
        cmocka_unit_test(rejected_line),
        cmocka_unit_test(misuse),
        cmocka_unit_test(encoded_once),
        cmocka_unit_test(builtin_sample),
        cmocka_unit_test(one_loop),
        cmocka_unit_test(resources),
        cmocka_unit_test(late_stores),
        cmocka_unit_test(data_reached),
        cmocka_unit_test(immediates),
        cmocka_unit_test(fillers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
