/* SPDX-License-Identifier: Apache-2.0 */
/* Forms that move or consume state: the x87 stack, tiles, the masks of gathers. Golden units, and a model of
 * the x87 stack that follows every unit of every x87 form: nothing is pushed onto a full register, and none
 * that is empty is read. */
#include "generator/control.h"
#include "generator/x87.h"
#include "tests/generator_testing.h"

static struct isa_table table;

static int table_setup(void **state) {
    (void)state;
    struct ip_error err = {0};
    return isa_table_builtin_add(&table, &err) == IP_OK ? 0 : -1;
}

static int table_teardown(void **state) {
    (void)state;
    isa_table_fini(&table);
    return 0;
}

static void throughput_case(const char *syntax, struct gen_independence how, const char *expected) {
    struct isa_form form = form_of(syntax);
    struct gen_program program;
    struct ip_error err = {0};
    if (gen_throughput_program(&program, &form, &how, 2, &err) != IP_OK) {
        fail_msg("%s: %s", syntax, err.text);
    }
    assert_unit(&program, expected);
    gen_program_fini(&program);
}

static void x87_units(void **state) {
    (void)state;
    const struct gen_independence pops = {0}, frees = {.x87_frees = true};
    const struct gen_independence fresh = {.break_registers = true};
    const struct gen_independence both = {.break_registers = true, .x87_frees = true};
    throughput_case("fld m64", pops, "fld qword [r14]\nfstp st0\nfld qword [r14+40]\nfstp st0\n");
    throughput_case("fld m64", frees, "ffree st7\nfld qword [r14]\nffree st7\nfld qword [r14+40]\n");
    throughput_case("faddp st, st0", pops,
                    "fld dword [abs 0x20000018]\nfaddp st1, st0\n"
                    "fld dword [abs 0x20000018]\nfaddp st2, st0\n");
    throughput_case("fcompp", pops,
                    "fld dword [abs 0x20000018]\nfld dword [abs 0x20000018]\nfcompp\n"
                    "fld dword [abs 0x20000018]\nfld dword [abs 0x20000018]\nfcompp\n");
    throughput_case("fsqrt", pops, "fsqrt\nfsqrt\n");
    throughput_case("fsqrt", fresh,
                    "fld dword [abs 0x20000018]\nfsqrt\nfstp st0\n"
                    "fld dword [abs 0x20000018]\nfsqrt\nfstp st0\n");
    throughput_case("fyl2x", both,
                    "ffree st7\nffree st6\nfld dword [abs 0x20000018]\nfld dword [abs 0x20000018]\nfyl2x\n"
                    "ffree st7\nffree st6\nfld dword [abs 0x20000018]\nfld dword [abs 0x20000018]\nfyl2x\n");
    throughput_case("fsincos", pops, "fsincos\nfstp st0\nfsincos\nfstp st0\n");
    throughput_case("fadd st, st0", pops, "fadd st1, st0\nfadd st2, st0\n");
}

static void masks_are_freed(void **state) {
    (void)state;
    const struct gen_independence plain = {.registers = 1};
    const struct gen_independence one = {.registers = 1, .frees_masks = true};
    const struct gen_independence two = {.registers = 2, .frees_masks = true};
    throughput_case("vptestmd k, xmm, xmm", plain, "vptestmd k1, xmm31, xmm30\nvptestmd k1, xmm31, xmm30\n");
    throughput_case("vptestmd k, xmm, xmm", one,
                    "vptestmd k1, xmm31, xmm30\nkxorw k1, k1, k1\n"
                    "vptestmd k1, xmm31, xmm30\nkxorw k1, k1, k1\n");
    throughput_case("kmovq k, m64", two,
                    "kmovq k1, qword [r14]\nkxorq k1, k1, k1\n"
                    "kmovq k2, qword [r14+40]\nkxorq k2, k2, k2\n");
    /* One that is read stays. */
    throughput_case("vaddps xmm{k}, xmm, xmm", one,
                    "vaddps xmm0{k7}, xmm31, xmm30\nvaddps xmm0{k7}, xmm31, xmm30\n");
    /* Nor is one used up that is renewed anyway. */
    throughput_case("vgatherdps xmm{k}, vm32x", one,
                    "kxnorw k1, k7, k7\nvgatherdps xmm0{k1}, [r14+xmm31]\n"
                    "kxnorw k1, k7, k7\nvgatherdps xmm0{k1}, [r14+xmm31+40]\n");
}

/* What an idiom gives back counts no instances: twice as many lines are in the loop. */
static void loops_of_freed_masks_are_as_long(void **state) {
    (void)state;
    struct isa_form form = form_of("vptestmd k, xmm, xmm");
    for (unsigned freed = 0; freed < 2; freed++) {
        const struct gen_independence how = {.registers = 1, .frees_masks = freed == 1};
        struct gen_program program;
        struct ip_error err = {0};
        assert_int_equal(gen_throughput_program(&program, &form, &how, 24, &err), IP_OK);
        assert_int_equal(program.copies, 2);
        assert_int_equal(program.forms_per_unit, 24);
        gen_program_fini(&program);
    }
}

static void tile_units(void **state) {
    (void)state;
    const struct gen_independence plain = {0}, fresh = {.break_registers = true};
    throughput_case("tdpbssd tmm, tmm, tmm", plain, "tdpbssd tmm0, tmm7, tmm6\ntdpbssd tmm1, tmm7, tmm6\n");
    throughput_case("tdpbssd tmm, tmm, tmm", fresh,
                    "tilezero tmm0\ntdpbssd tmm0, tmm7, tmm6\ntilezero tmm1\ntdpbssd tmm1, tmm7, tmm6\n");
    throughput_case("tileloadd tmm, m", plain, "tileloadd tmm0, [r14+r13]\ntileloadd tmm1, [r14+r13+64]\n");
    throughput_case("tilestored m, tmm", plain,
                    "tilestored [r14+r13-5632], tmm7\ntilestored [r14+r13-5568], tmm7\n");
    /* A configured kernel, whose tiles hold data, and a source that is the bytes. */
    struct isa_form form = form_of("tdpbssd tmm, tmm, tmm");
    const struct gen_link link = {.form = &form, .src = 1, .dst = 0};
    struct gen_program program;
    struct gen_encoder encoder = {0};
    struct ip_error err = {0};
    assert_int_equal(gen_latency_program(&program, &link, 1, 2, 0, &err), IP_OK);
    assert_unit(&program, "tdpbssd tmm1, tmm0, tmm7\ntdpbssd tmm0, tmm1, tmm7\n");
    assert_int_equal(program.uses & GEN_USES_TILES, GEN_USES_TILES);
    assert_string_equal(program.init.items[0], "mov r13d, 0x40");
    assert_string_equal(program.init.items[1], "tileloadd tmm0, [r14+r13]");
    assert_print_is_build(&program, &encoder, 2);
    struct gen_kernel kernel = {0};
    assert_int_equal(gen_kernel_make(&kernel, &program, &encoder, 2, &err), IP_OK);
    assert_true(kernel.tiles);
    gen_kernel_fini(&kernel);
    gen_encoder_fini(&encoder);
    gen_program_fini(&program);
}

/* The value that a program begins with in a register, by the line of its init that sets it. */
static void init_case(const char *syntax, const char *line) {
    struct isa_form form = form_of(syntax);
    const struct gen_independence plain = {0};
    struct gen_program program;
    struct ip_error err = {0};
    struct ip_text text = {0};
    assert_int_equal(gen_throughput_program(&program, &form, &plain, 2, &err), IP_OK);
    assert_int_equal(gen_program_print(&program, 2, &text, &err), IP_OK);
    if (strstr(ip_text_string(&text), line) == NULL) {
        fail_msg("%s: no '%s' in\n%s", syntax, line, ip_text_string(&text));
    }
    ip_text_fini(&text);
    gen_program_fini(&program);
}

/* What a register points to, though it is no address in the form's syntax. */
static void pointers(void **state) {
    (void)state;
    init_case("clzero rax", "mov eax, 0x20012800");
    init_case("monitorx", "mov eax, 0x20014000");
    init_case("monitorx", "mov ecx, 0x0");
    init_case("umonitor r64", "mov r13d, 0x20012800");
}

static void loops(void **state) {
    (void)state;
    struct isa_form loop = form_of("loop rel8"), loope = form_of("loope rel8");
    struct gen_program program;
    struct ip_error err = {0};
    gen_program_init(&program);
    assert_int_equal(gen_branch_prepare(&program, &loop, false, &err), IP_UNSUPPORTED); /* of a mix */
    gen_program_fini(&program);
    const struct isa_form *const ends[] = {&loop, &loope};
    for (unsigned i = 0; i < 2; i++) { /* each counter ends at its branch, whatever the flags */
        assert_int_equal(gen_branch_program(&program, ends[i], false, &err), IP_OK);
        assert_int_equal(program.unit.count, 32);
        assert_string_equal(program.unit.items[0], "mov ecx, 1");
        assert_string_equal(program.unit.items[1], i == 0 ? "loop $+2" : "loope $+2");
        assert_string_equal(program.unit.items[2], "mov ecx, 1");
        gen_program_fini(&program);
    }
    assert_int_equal(gen_branch_program(&program, &loop, true, &err), IP_OK);
    assert_string_equal(program.init.items[0], "mov rcx, 0x7fffffffffffffff");
    assert_string_equal(program.unit.items[0], "loop $+16");
    gen_program_fini(&program);
    assert_int_equal(gen_branch_program(&program, &loope, true, &err), IP_OK);
    assert_string_equal(program.unit.items[0], "cmp r13, r13"); /* ZF: taken */
    assert_string_equal(program.unit.items[1], "loope $+16");
    gen_program_fini(&program);
}

static void chain_case(const char *const syntax[2], const struct gen_link given[2], const char *expected) {
    struct isa_form forms[2];
    struct gen_link links[2];
    unsigned count = 0;
    for (; count < 2 && syntax[count] != NULL; count++) {
        forms[count] = form_of(syntax[count]);
        links[count] = given[count];
        links[count].form = &forms[count];
    }
    struct gen_program program;
    struct ip_error err = {0};
    enum ip_status status = gen_latency_program(&program, links, count, 2, 0, &err);
    if (expected == NULL) {
        assert_int_equal(status, IP_UNSUPPORTED);
        return;
    }
    if (status != IP_OK) {
        fail_msg("%s: %s", syntax[0], err.text);
    }
    assert_unit(&program, expected);
    gen_program_fini(&program);
}

/* Registers and addresses that only some forms have. */
static void odd_operands(void **state) {
    (void)state;
    const struct gen_independence plain = {0};
    throughput_case("mov m16, sreg", plain, "mov word [r14-5632], ds\nmov word [r14-5630], ds\n");
    throughput_case("push fs", plain, "push fs\npush fs\nmov esp, 0x20034000\n");
    throughput_case("mov sreg, m16", plain, "mov ds, word [r14]\nmov ds, word [r14+40]\n");
    throughput_case("enter imm16, imm8", plain, "enter 0x10, 0\nenter 0x10, 0\nmov esp, 0x20034000\n");
    throughput_case("leave", plain, "leave\nleave\nmov esp, 0x20034000\n");
    throughput_case("frstor m864", plain, "frstor [r14]\nfrstor [r14+128]\n");
    throughput_case("movdir64b r64, m512", plain,
                    "movdir64b r13, zword [r14]\nmovdir64b r13, zword [r14+64]\n");
    throughput_case("mov al, moffs8", plain,
                    "mov al, byte [qword 0x20014000]\nmov al, byte [qword 0x20014028]\n");
    throughput_case("mov moffs64, rax", plain,
                    "mov qword [qword 0x20012a00], rax\nmov qword [qword 0x20012a08], rax\n");
    throughput_case("rep movsb", plain,
                    "mov ecx, 0x4\nmov edi, 0x20012800\nmov esi, 0x20014000\nrep movsb\n"
                    "mov ecx, 0x4\nmov edi, 0x20012800\nmov esi, 0x20014000\nrep movsb\n");
    chain_case((const char *const[2]){"mov moffs64, rax", "mov rax, moffs64"},
               (const struct gen_link[2]){{.src = 1, .dst = 0}, {.src = 1, .dst = 0}},
               "mov qword [qword 0x20014000], rax\nmov rax, qword [qword 0x20014000]\n");
    chain_case((const char *const[2]){"lodsb"}, (const struct gen_link[2]){{.src = 0, .dst = 0}},
               "mov esi, 0x20014000\nlodsb\n");
    /* The pointer gets what was loaded, twice, so that it stays where it is. */
    chain_case((const char *const[2]){"lodsb"}, (const struct gen_link[2]){{.src = 2, .dst = 0}},
               "xor rbp, rax\nxor rbp, rax\nmovsxd rsi, ebp\nlodsb\n");
    chain_case((const char *const[2]){"repe scasb"}, (const struct gen_link[2]){{.src = 3, .dst = 3}}, NULL);
    /* It faults unless rcx is 0. */
    chain_case((const char *const[2]){"xgetbv", "movsxd r64, r32"},
               (const struct gen_link[2]){{.src = 0, .dst = 2}, {.src = 1, .dst = 0}}, NULL);
    chain_case((const char *const[2]){"mov rax, moffs64"},
               (const struct gen_link[2]){{.src = 1, .dst = 0, .src_address = true}}, NULL);
}

static void chains(void **state) {
    (void)state;
    /* TOP goes round: the register that it comes to is marked empty first. */
    chain_case((const char *const[2]){"fld st"}, (const struct gen_link[2]){{.src = 0, .dst = 1}},
               "ffree st7\nfld st0\n");
    /* The sum stays where it is; what is popped was loaded. */
    chain_case((const char *const[2]){"faddp st, st0"}, (const struct gen_link[2]){{.src = 0, .dst = 0}},
               "ffree st7\nfld dword [abs 0x20000018]\nfaddp st1, st0\n");
    /* ST1 is ST0 once the cosine is popped. */
    chain_case((const char *const[2]){"fsincos"}, (const struct gen_link[2]){{.src = 0, .dst = 1}},
               "ffree st7\nfsincos\nfstp st0\n");
    /* The result is one further up than the source. */
    chain_case((const char *const[2]){"faddp st, st0"}, (const struct gen_link[2]){{.src = 1, .dst = 0}},
               NULL);
    /* ST0 of FCMOV is renewed: only the flags carry the chain. FCOMIP pops what it compared. */
    chain_case((const char *const[2]){"fcomip st0, st", "fcmovb st0, st"},
               (const struct gen_link[2]){{.src = 0, .dst = 3}, {.src = 3, .dst = 0}},
               "fcomip st0, st6\nfld dword [abs 0x20000018]\n"
               "ffree st7\nfld dword [abs 0x20000018]\nfcmovb st0, st6\n");
    chain_case((const char *const[2]){"fstp m64", "fld m64"},
               (const struct gen_link[2]){{.src = 1, .dst = 0}, {.src = 0, .dst = 1}},
               "fstp qword [r14]\nfld dword [abs 0x20000018]\nffree st7\nfld qword [r14]\n");
    /* The mask that a gather consumes is made anew of the zeros that it loaded. */
    chain_case((const char *const[2]){"vpgatherdd ymm, vm32y, ymm", "vpcmpeqd ymm, ymm, ymm"},
               (const struct gen_link[2]){{.src = 2, .dst = 0}, {.src = 1, .dst = 0}},
               "vpgatherdd ymm1, [r14+ymm15], ymm0\nvpcmpeqd ymm0, ymm1, ymm15\n"
               "vpgatherdd ymm1, [r14+ymm15], ymm0\nvpcmpeqd ymm0, ymm1, ymm15\n");
}

static void bits_are_tested_where_they_were_stored(void **state) {
    (void)state;
    struct isa_form bt = form_of("bt m32, r32"), add = form_of("add r32, r32");
    struct gen_program program;
    struct ip_error err = {0};
    struct gen_link link = {.form = &bt, .src = 1, .dst = 2};
    struct isa_form setb = form_of("cmovb r64, r64");
    const struct gen_link links[2] = {link, {.form = &setb, .src = 2, .dst = 0}};
    assert_int_equal(gen_latency_program(&program, links, 2, 2, 0, &err), IP_OK);
    assert_int_equal(program.gpr_fill, 1); /* bit 257 is in another quadword */
    gen_program_fini(&program);
    assert_int_equal(gen_throughput_program(&program, &add, &(struct gen_independence){0}, 2, &err), IP_OK);
    assert_int_equal(program.gpr_fill, 0x101);
    gen_program_fini(&program);
}

/* The line that counts the loop of this program, which is taken over. */
static void counts_by(struct gen_program *program, const char *expected) {
    struct gen_encoder encoder = {0};
    struct ip_text source = {0};
    struct ip_error err = {0};
    assert_int_equal(gen_program_print(program, 2, &source, &err), IP_OK);
    const char *end = strstr(ip_text_string(&source), "%endrep");
    assert_non_null(end);
    assert_memory_equal(end, expected, strlen(expected));
    ip_text_fini(&source);
    assert_print_is_build(program, &encoder, 2);
    gen_encoder_fini(&encoder);
    gen_program_fini(program);
}

/* What waits for the carry of the instance before it does so from one round of the loop to the next, too. */
static void counting_keeps_the_carry(void **state) {
    (void)state;
    static const char keeps[] = "%endrep\n        dec r15\n        jnz";
    static const char writes[] = "%endrep\n        sub r15, 1\n        jnz";
    struct isa_form adc = form_of("adc rax, imm32"), add = form_of("add r64, r64");
    const int flags = (int)adc.operand_count - 1;
    assert_int_equal(adc.operands[flags].kind, ISA_OPERAND_FLAGS);
    const struct gen_link carry = {.form = &adc, .src = flags, .dst = flags};
    const struct gen_link value = {.form = &adc, .src = 0, .dst = 0};
    struct gen_program program;
    struct ip_error err = {0};
    assert_int_equal(gen_latency_program(&program, &carry, 1, 0, 0, &err), IP_OK);
    counts_by(&program, keeps);
    assert_int_equal(gen_latency_program(&program, &value, 1, 0, 0, &err), IP_OK);
    counts_by(&program, writes);
    for (unsigned i = 0; i < 3; i++) {
        const struct gen_independence how = {.registers = 4, .break_flags = i == 1};
        struct isa_form *form = i < 2 ? &adc : &add;
        assert_int_equal(gen_throughput_program(&program, form, &how, 8, &err), IP_OK);
        counts_by(&program, i == 0 ? keeps : writes);
    }
}

/* The x87 stack as the processor keeps it. */
struct stack {
    bool full[8];
    unsigned top;
};

static void stack_step(struct stack *stack, const struct isa_form *form, const struct isa_binding *binding,
                       const char *where, const char *line) {
    const char *name = form->mnemonic;
    if (strcmp(name, "fninit") == 0 || strcmp(name, "fnsave") == 0) {
        memset(stack, 0, sizeof *stack);
        return;
    }
    bool frees = strncmp(name, "ffree", 5) == 0;
    for (unsigned o = 0; o < form->operand_count; o++) {
        const struct isa_operand *op = &form->operands[o];
        if (op->kind != ISA_OPERAND_REG || op->reg_class != ISA_REG_X87 || !op->read) {
            continue;
        }
        unsigned number = op->reg >= 0 ? (unsigned)op->reg : binding->reg[o];
        unsigned at = (stack->top + number) % 8;
        if (frees) {
            stack->full[at] = false;
        } else if (!stack->full[at]) {
            fail_msg("%s: '%s' reads st%u, which is empty", where, line, number);
        }
    }
    int pushes = form->x87_pushes;
    /* FST and FSTP write by the numbers before the pop; what a push writes is written after it. */
    for (unsigned o = 0; o < form->explicit_count && pushes <= 0 && !frees; o++) {
        const struct isa_operand *op = &form->operands[o];
        if (op->kind == ISA_OPERAND_REG && op->reg_class == ISA_REG_X87 && op->write) {
            unsigned number = op->reg >= 0 ? (unsigned)op->reg : binding->reg[o];
            stack->full[(stack->top + number) % 8] = true;
        }
    }
    for (; pushes > 0; pushes--) {
        stack->top = (stack->top + 7) % 8;
        if (stack->full[stack->top]) {
            fail_msg("%s: '%s' pushes onto a full stack", where, line);
        }
        stack->full[stack->top] = true;
    }
    for (; pushes < 0; pushes++) {
        if (!stack->full[stack->top] && !frees) {
            fail_msg("%s: '%s' pops an empty stack", where, line);
        }
        stack->full[stack->top] = false;
        stack->top = (stack->top + 1) % 8;
    }
    stack->top += strcmp(name, "fincstp") == 0 ? 1 : strcmp(name, "fdecstp") == 0 ? 7 : 0;
    stack->top %= 8;
}

/* All lines in one run of NASM. */
static void stack_follow(const struct gen_program *program) {
    enum { LINES = 512 };
    static struct isa_code codes[LINES];
    static struct isa_form forms[LINES];
    static struct isa_binding bindings[LINES];
    const char *lines[LINES];
    size_t count = program->init.count + program->unit.count;
    assert_true(count <= LINES);
    for (size_t i = 0; i < count; i++) {
        lines[i] =
            i < program->init.count ? program->init.items[i] : program->unit.items[i - program->init.count];
    }
    struct ip_lines complaints = {0};
    struct ip_error err = {0};
    assert_int_equal(isa_assemble_lines(lines, count, codes, &complaints, &err), IP_OK);
    for (size_t i = 0; i < count; i++) {
        size_t length;
        if (isa_decode(codes[i].bytes, codes[i].length, &forms[i], &bindings[i], &length, &err) != IP_OK) {
            fail_msg("%s: '%s': %s", program->title, lines[i], err.text);
        }
    }
    struct stack stack = {.top = 0};
    for (size_t i = 0; i < program->init.count; i++) {
        stack_step(&stack, &forms[i], &bindings[i], program->title, lines[i]);
    }
    for (unsigned round = 0; round < 9; round++) {
        for (size_t i = program->init.count; i < count; i++) {
            stack_step(&stack, &forms[i], &bindings[i], program->title, lines[i]);
        }
    }
    ip_lines_fini(&complaints);
}

static bool is_x87(const struct isa_form *form) {
    for (unsigned o = 0; o < form->operand_count; o++) {
        if (form->operands[o].kind == ISA_OPERAND_REG && form->operands[o].reg_class == ISA_REG_X87) {
            return true;
        }
    }
    return false;
}

static void stack_is_balanced(void **state) {
    (void)state;
    struct isa_form *chosen[256] = {NULL};
    size_t count = 0;
    for (size_t i = 0; i < table.count; i++) {
        const char *extension = table.forms[i].extension;
        if (strstr(extension, "X87") != NULL || strcmp(extension, "PPRO") == 0 ||
            strcmp(extension, "FCMOV") == 0 || strcmp(extension, "SSE3") == 0) {
            assert_true(count < 256);
            chosen[count++] = &table.forms[i];
        }
    }
    struct ip_error err = {0};
    assert_int_equal(isa_forms_derive(chosen, count, &err), IP_OK);
    unsigned throughputs = 0, latencies = 0;
    for (size_t i = 0; i < count; i++) {
        const struct isa_form *form = chosen[i];
        if (!is_x87(form) || form->obstacle != ISA_OBSTACLE_NONE) {
            continue;
        }
        for (unsigned way = 0; way < 4; way++) {
            const struct gen_independence how = {.break_registers = (way & 1) != 0,
                                                 .x87_frees = (way & 2) != 0};
            struct gen_program program;
            if (gen_throughput_program(&program, form, &how, 16, &err) != IP_OK) {
                fail_msg("%s: %s", form->syntax, err.text);
            }
            stack_follow(&program);
            gen_program_fini(&program);
            throughputs++;
        }
        for (int pair = 0; pair < form->operand_count * form->operand_count; pair++) {
            const struct gen_link link = {
                .form = form, .src = pair / form->operand_count, .dst = pair % form->operand_count};
            struct gen_program program;
            if (gen_latency_program(&program, &link, 1, 0, 0, &err) == IP_OK) {
                stack_follow(&program);
                gen_program_fini(&program);
                latencies++;
            }
        }
    }
    print_message("%u throughput kernels, %u chains\n", throughputs, latencies);
    assert_true(throughputs > 300);
    assert_true(latencies > 40);
}

/* --- division ------------------------------------------------------------------------------------------- */

enum { RAX = 0, RDX = 2 };

static uint64_t register_read(const uint64_t registers[16], enum isa_reg_class reg_class, unsigned number) {
    switch (reg_class) {
    case ISA_REG_GPR8:
        return registers[number] & 0xff;
    case ISA_REG_GPR8H:
        return registers[number] >> 8 & 0xff;
    case ISA_REG_GPR16:
        return registers[number] & 0xffff;
    case ISA_REG_GPR32:
        return registers[number] & 0xffffffff;
    default:
        return registers[number];
    }
}

static void part_write(uint64_t *reg, unsigned bits, uint64_t value) {
    uint64_t mask = bits >= 32 ? UINT64_MAX : (UINT64_C(1) << bits) - 1; /* 32 bits clear the rest */
    *reg = (*reg & ~mask) | (value & (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1));
}

static __int128 signed_of(unsigned __int128 value, unsigned bits) {
    unsigned __int128 sign = (unsigned __int128)1 << (bits - 1);
    return bits == 128 ? (__int128)value : (__int128)((value ^ sign) - sign);
}

/* One DIV or IDIV, as the manual has it; a quotient that does not fit is the fault that it would be. */
static void divide(uint64_t registers[16], uint64_t divisor, unsigned bits, bool is_signed,
                   const char *where) {
    uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    uint64_t high = bits == 8 ? registers[RAX] >> 8 & 0xff : registers[RDX] & mask;
    unsigned __int128 dividend = (unsigned __int128)high << bits | (registers[RAX] & mask);
    if (divisor == 0) {
        fail_msg("%s: division by zero", where);
        return;
    }
    uint64_t quotient, remainder;
    bool fits;
    if (is_signed) {
        __int128 n = signed_of(dividend, 2 * bits), d = signed_of(divisor, bits), q = n / d;
        fits = q == signed_of((unsigned __int128)q & mask, bits);
        quotient = (uint64_t)q;
        remainder = (uint64_t)(n % d);
    } else {
        unsigned __int128 q = dividend / divisor;
        fits = q <= mask;
        quotient = (uint64_t)q;
        remainder = (uint64_t)(dividend % divisor);
    }
    if (!fits) {
        fail_msg("%s: the quotient does not fit", where);
    }
    if (bits == 8) {
        part_write(&registers[RAX], 16, (remainder & 0xff) << 8 | (quotient & 0xff));
    } else {
        part_write(&registers[RAX], bits, quotient);
        part_write(&registers[RDX], bits, remainder);
    }
}

static void division_step(uint64_t registers[16], const struct isa_form *form,
                          const struct isa_binding *binding, const struct gen_program *program,
                          const char *line) {
    const char *name = form->mnemonic;
    const struct isa_operand *op = &form->operands[0];
    if (strcmp(name, "mov") == 0 && form->operands[1].kind == ISA_OPERAND_IMM) {
        registers[binding->reg[0]] = (uint64_t)binding->imm[1];
    } else if (strcmp(name, "xor") == 0) {
        registers[binding->reg[0]] ^= registers[binding->reg[1]];
    } else if (strcmp(name, "div") == 0 || strcmp(name, "idiv") == 0) {
        uint64_t divisor = 0;
        if (op->kind == ISA_OPERAND_MEM) {
            memcpy(&divisor, program->memory_fill, op->bits / 8u);
        } else {
            divisor = register_read(registers, op->reg_class, binding->reg[0]);
        }
        divide(registers, divisor, op->bits, name[0] == 'i', program->title);
    } else if (strcmp(name, "test") != 0) {
        fail_msg("%s: '%s' was not expected", program->title, line);
    }
}

static void divisions_follow(const struct gen_program *program) {
    enum { LINES = 256 };
    static struct isa_code codes[LINES];
    const char *lines[LINES];
    uint64_t registers[16];
    size_t count = program->init.count + program->unit.count;
    assert_true(count <= LINES);
    for (size_t i = 0; i < count; i++) {
        lines[i] =
            i < program->init.count ? program->init.items[i] : program->unit.items[i - program->init.count];
    }
    for (unsigned i = 0; i < 16; i++) {
        registers[i] = program->gpr_fill;
    }
    struct ip_lines complaints = {0};
    struct ip_error err = {0};
    assert_int_equal(isa_assemble_lines(lines, count, codes, &complaints, &err), IP_OK);
    for (unsigned round = 0; round < 50; round++) {
        for (size_t i = round == 0 ? 0 : program->init.count; i < count; i++) {
            struct isa_form form;
            struct isa_binding binding;
            size_t length;
            assert_int_equal(isa_decode(codes[i].bytes, codes[i].length, &form, &binding, &length, &err),
                             IP_OK);
            division_step(registers, &form, &binding, program, lines[i]);
        }
    }
    ip_lines_fini(&complaints);
}

/* No kernel of a division faults, whatever its operands are: fast or slow, broken or chained. */
static void quotients_fit(void **state) {
    (void)state;
    unsigned kernels = 0;
    for (size_t i = 0; i < table.count; i++) {
        struct isa_form *form = &table.forms[i];
        struct ip_error err = {0};
        if (strcmp(form->mnemonic, "div") != 0 && strcmp(form->mnemonic, "idiv") != 0) {
            continue;
        }
        assert_int_equal(isa_forms_derive(&form, 1, &err), IP_OK);
        assert_true(gen_form_depends_on_values(form));
        for (unsigned way = 0; way < 4; way++) {
            const struct gen_independence how = {.break_registers = (way & 1) != 0, .slow_values = way == 3};
            struct gen_program program;
            assert_int_equal(gen_throughput_program(&program, form, &how, 4, &err), IP_OK);
            divisions_follow(&program);
            gen_program_fini(&program);
            kernels++;
        }
        for (int pair = 0; pair < form->operand_count * form->operand_count; pair++) {
            const struct gen_link link = {
                .form = form, .src = pair / form->operand_count, .dst = pair % form->operand_count};
            /* Slow operands: where the quotient is the lower half of the next dividend. */
            const struct isa_operand *src = &form->operands[link.src], *dst = &form->operands[link.dst];
            bool stays = dst->reg == 0 && dst->bits >= 32 && (src->reg == 0 || !src->implicit);
            for (unsigned slow = 0; slow < (stays ? 2u : 1u); slow++) {
                struct gen_link chosen = link;
                chosen.slow_values = slow == 1;
                struct gen_program program;
                if (gen_latency_program(&program, &chosen, 1, 0, 0, &err) == IP_OK) {
                    divisions_follow(&program);
                    gen_program_fini(&program);
                    kernels++;
                }
            }
        }
    }
    print_message("%u kernels of divisions\n", kernels);
    assert_true(kernels > 60);
}

/* Slow operands: dividend and divisor differ, and what is written is put back. */
static void slow_units(void **state) {
    (void)state;
    const struct gen_independence slow = {.break_registers = true, .slow_values = true};
    throughput_case("div r64", slow,
                    "mov eax, 0x30303030\nmov edx, 0x30303030\ndiv r13\n"
                    "mov eax, 0x30303030\nmov edx, 0x30303030\ndiv r13\n");
    throughput_case("vdivpd ymm, ymm, ymm", slow, "vdivpd ymm0, ymm15, ymm14\nvdivpd ymm1, ymm15, ymm14\n");
    throughput_case("divpd xmm, xmm", slow,
                    "movaps xmm0, [r14]\ndivpd xmm0, xmm15\nmovaps xmm1, [r14]\ndivpd xmm1, xmm15\n");
    struct isa_form form = form_of("vdivpd ymm, ymm, ymm"), add = form_of("vaddpd ymm, ymm, ymm");
    struct gen_program program;
    struct ip_error err = {0};
    assert_int_equal(gen_throughput_program(&program, &form, &slow, 2, &err), IP_OK);
    assert_string_equal(program.init.items[0], "vmovups ymm14, [r14]");
    assert_memory_not_equal(program.memory_fill, program.vector_fill, 8);
    gen_program_fini(&program);
    assert_false(gen_form_depends_on_values(&add));
    struct isa_form rsqrt = form_of("rsqrtps xmm, xmm"), sqrt = form_of("sqrtps xmm, xmm");
    assert_false(gen_form_depends_on_values(&rsqrt));
    assert_true(gen_form_depends_on_values(&sqrt));
}

/* Chains of four in each register, which begin with a load; what does not read its destination needs none. */
static void fourth_instances(void **state) {
    (void)state;
    const struct gen_independence how = {.break_fourth = true, .registers = 2};
    struct isa_form add = form_of("addps xmm, xmm");
    struct gen_program program;
    struct ip_error err = {0};
    assert_int_equal(gen_throughput_program(&program, &add, &how, 10, &err), IP_OK);
#define LOADED "movaps xmm0, [r14]\naddps xmm0, xmm15\nmovaps xmm1, [r14]\naddps xmm1, xmm15\n"
#define KEPT   "addps xmm0, xmm15\naddps xmm1, xmm15\n"
    assert_unit(&program, LOADED KEPT KEPT KEPT LOADED);
    gen_program_fini(&program);
    throughput_case("pshufd xmm, xmm, imm8", how, "pshufd xmm0, xmm15, 2\npshufd xmm1, xmm15, 2\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x87_units),
        cmocka_unit_test(masks_are_freed),
        cmocka_unit_test(loops_of_freed_masks_are_as_long),
        cmocka_unit_test(tile_units),
        cmocka_unit_test(chains),
        cmocka_unit_test(counting_keeps_the_carry),
        cmocka_unit_test(odd_operands),
        cmocka_unit_test(stack_is_balanced),
        cmocka_unit_test(quotients_fit),
        cmocka_unit_test(slow_units),
        cmocka_unit_test(fourth_instances),
        cmocka_unit_test(pointers),
        cmocka_unit_test(loops),
        cmocka_unit_test(bits_are_tested_where_they_were_stored),
    };
    return cmocka_run_group_tests(tests, table_setup, table_teardown);
}
