/* SPDX-License-Identifier: Apache-2.0 */
/* Golden units of chains and of independent instances, among them the listings of Putigny 2014. */
#include "generator/operands.h"
#include "generator/pool.h"
#include "tests/generator_testing.h"

struct chain_case {
    const char *syntax[3];
    struct gen_link links[3];
    unsigned registers;
    const char *unit; /* NULL: IP_UNSUPPORTED, and `error` is part of the text */
    const char *error;
};

static void chain_run(const struct chain_case *test) {
    struct isa_form forms[3];
    struct gen_link links[3];
    unsigned count = 0;
    for (; count < 3 && test->syntax[count] != NULL; count++) {
        forms[count] = form_of(test->syntax[count]);
        links[count] = test->links[count];
        links[count].form = &forms[count];
    }
    struct gen_program program;
    struct ip_error err = {0};
    gen_program_init(&program);
    enum ip_status status = gen_latency_program(&program, links, count, test->registers, 0, &err);
    if (test->unit == NULL) {
        assert_int_equal(status, IP_UNSUPPORTED);
        if (strstr(err.text, test->error) == NULL) {
            fail_msg("'%s' is not in '%s'", test->error, err.text);
        }
    } else {
        if (status != IP_OK) {
            fail_msg("%s: %s", test->syntax[0], err.text);
        }
        assert_unit(&program, test->unit);
        bool stores = false;
        for (unsigned i = 0; i < count; i++) {
            stores = stores || forms[i].operands[links[i].dst].kind == ISA_OPERAND_MEM;
        }
        assert_int_equal(program.forwards, stores);
    }
    gen_program_fini(&program);
}

static void latency_units(void **state) {
    (void)state;
    static const struct chain_case cases[] = {
        /* Listing 2.2: always the same register. */
        {{"addpd xmm, xmm"}, {{.src = 1, .dst = 0}}, 1, "addpd xmm0, xmm0\n", NULL},
        /* Listing 2.5: round-robin; the last writes what the first reads. */
        {{"addpd xmm, xmm"},
         {{.src = 1, .dst = 0}},
         4,
         "addpd xmm1, xmm0\naddpd xmm2, xmm1\naddpd xmm3, xmm2\naddpd xmm0, xmm3\n",
         NULL},
        {{"vaddpd ymm, ymm, ymm"},
         {{.src = 2, .dst = 0}},
         2,
         "vaddpd ymm1, ymm15, ymm0\nvaddpd ymm0, ymm15, ymm1\n",
         NULL},
        {{"vaddpd zmm, zmm, zmm"},
         {{.src = 1, .dst = 0}},
         2,
         "vaddpd zmm1, zmm0, zmm31\nvaddpd zmm0, zmm1, zmm31\n",
         NULL},
        {{"vaddpd xmm, xmm, xmm", "vmovq r64, xmm", "vmovq xmm, r64"},
         {{.src = 1, .dst = 0, .same_register = true}, {.src = 1, .dst = 0}, {.src = 1, .dst = 0}},
         1,
         "vaddpd xmm0, xmm0, xmm0\nvmovq rax, xmm0\nvmovq xmm0, rax\n",
         NULL},
        /* One operand that is read and written. */
        {{"add r64, imm8"}, {{.src = 0, .dst = 0}}, 0, "add rcx, 2\n", NULL},
        {{"add m64, r64"}, {{.src = 0, .dst = 0}}, 0, "add qword [r14], r13\n", NULL},
        /* Flags: the chain through them, and broken. */
        {{"adc r64, r64"}, {{.src = 2, .dst = 2}}, 2, "adc rax, r13\nadc rcx, r13\n", NULL},
        {{"adc r64, r64"},
         {{.src = 1, .dst = 0}},
         2,
         "test r13, r13\nadc rcx, rax\ntest r13, r13\nadc rax, rcx\n",
         NULL},
        {{"cmp r64, r64", "setb r8"},
         {{.src = 0, .dst = 2}, {.src = 1, .dst = 0}},
         2,
         "cmp rax, r13\nsetb cl\ncmp rcx, r13\nsetb al\n",
         NULL},
        {{"cmp r64, r64"}, {{.src = 0, .dst = 2}}, 0, NULL, "a transfer between the two kinds is needed"},
        /* Implicit registers. */
        {{"mul r64"}, {{.src = 1, .dst = 1}}, 0, "mul r13\n", NULL},
        {{"mul r64"}, {{.src = 0, .dst = 1}}, 0, NULL, "would carry the chain together"},
        {{"mul r64", "mov r64, r64"},
         {{.src = 0, .dst = 1}, {.src = 1, .dst = 0}},
         2,
         "mov eax, 0x101\nmul rcx\nmov rbx, rax\nmov eax, 0x101\nmul rbx\nmov rcx, rax\n",
         NULL},
        {{"shl r64, cl"}, {{.src = 1, .dst = 0}}, 0, NULL, "would carry the chain together"},
        {{"shl r64, cl", "mov r64, r64"},
         {{.src = 1, .dst = 0}, {.src = 1, .dst = 0}},
         2,
         "test r13, r13\nshl rdx, cl\nmov rcx, rdx\ntest r13, r13\nshl rax, cl\nmov rcx, rax\n",
         NULL},
        /* The divisor and the dividend keep their values. */
        {{"div r64"},
         {{.src = 0, .dst = 1}},
         0,
         "xor rbp, rax\nxor rbp, rax\nmov eax, 0x11\nmov edx, 0x0\ndiv rbp\n",
         NULL},
        {{"div r64"}, {{.src = 1, .dst = 1}}, 0, "mov edx, 0x0\ndiv r13\n", NULL},
        /* Memory: pointer chase, address kept, through a store. */
        {{"mov r64, m64"},
         {{.src = 1, .dst = 0, .src_address = true}},
         2,
         "mov rcx, qword [rax]\nmov rax, qword [rcx]\n",
         NULL},
        {{"addpd xmm, m128", "movq r64, xmm"},
         {{.src = 1, .dst = 0, .src_address = true}, {.src = 1, .dst = 0}},
         2,
         "xor rbp, rax\nxor rbp, rax\naddpd xmm1, oword [rbp]\nmovq rcx, xmm1\n"
         "xor rbp, rcx\nxor rbp, rcx\naddpd xmm0, oword [rbp]\nmovq rax, xmm0\n",
         NULL},
        {{"mov m64, r64", "mov r64, m64"},
         {{.src = 1, .dst = 0}, {.src = 1, .dst = 0}},
         2,
         "mov qword [r14], rax\nmov rcx, qword [r14]\nmov qword [r14], rcx\nmov rax, qword [r14]\n",
         NULL},
        /* From the address of a store, by a load whose address is known early, or not. */
        {{"mov m64, r64", "mov r64, m64"},
         {{.src = 0, .dst = 0, .src_address = true}, {.src = 1, .dst = 0}},
         2,
         "xor rbp, rax\nxor rbp, rax\nmov qword [rbp], r13\nmov rcx, qword [r14]\n"
         "xor rbp, rcx\nxor rbp, rcx\nmov qword [rbp], r13\nmov rax, qword [r14]\n",
         NULL},
        {{"mov m64, r64", "mov r64, m64"},
         {{.src = 0, .dst = 0, .src_address = true, .late_load = true}, {.src = 1, .dst = 0}},
         2,
         "xor rbp, rax\nxor rbp, rax\nmov qword [rbp], r13\nmov rcx, qword [rbp]\n"
         "xor rbp, rcx\nxor rbp, rcx\nmov qword [rbp], r13\nmov rax, qword [rbp]\n",
         NULL},
        /* So is a string's pointer, which goes on by itself. */
        {{"scasb", "setb r8"},
         {{.src = 2, .dst = 3}, {.src = 1, .dst = 0}},
         2,
         "xor rbp, rcx\nxor rbp, rcx\nmovsxd rdi, ebp\nscasb\nsetb dl\n"
         "xor rbp, rdx\nxor rbp, rdx\nmovsxd rdi, ebp\nscasb\nsetb cl\n",
         NULL},
        {{"stosq"}, {{.src = 1, .dst = 2}}, 0, NULL, "moves its pointer whatever the other operands are"},
        {{"cmpsb"}, {{.src = 3, .dst = 2}}, 0, NULL, "moves its pointer whatever the other operands are"},
        /* A gather's mask is renewed; its index can be the chain. */
        {{"vgatherdps xmm{k}, vm32x"},
         {{.src = 2, .dst = 0, .src_index = true}},
         2,
         "kxnorw k1, k7, k7\nvgatherdps xmm1{k1}, [r14+xmm0]\n"
         "kxnorw k2, k7, k7\nvgatherdps xmm0{k2}, [r14+xmm1]\n",
         NULL},
        {{"vgatherdps xmm{k}, vm32x"}, {{.src = 1, .dst = 1}}, 0, NULL, "mask"},
        /* ah and al do not depend on each other. */
        {{"add r8, r8h"}, {{.src = 1, .dst = 0}}, 0, NULL, "a transfer between the two kinds is needed"},
        {{"movzx r32, r8h"}, {{.src = 1, .dst = 0}}, 2, "movzx ecx, ah\nmovzx eax, ch\n", NULL},
        /* Never both encodings. */
        {{"addpd xmm, xmm", "vmovq r64, xmm", "vmovq xmm, r64"},
         {{.src = 1, .dst = 0}, {.src = 1, .dst = 0}, {.src = 1, .dst = 0}},
         0,
         NULL,
         "legacy SSE and VEX"},
        {{"push r64"}, {{.src = 0, .dst = 1}}, 0, NULL, "implicit pointer"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        chain_run(&cases[i]);
    }
}

static void keeper_cycles(void **state) {
    (void)state;
    struct isa_form add = form_of("add r64, m64"), mov = form_of("mov r64, m64");
    struct isa_form move = form_of("mov r64, r64"), div = form_of("div r64");
    const struct gen_link loads = {.form = &add, .src = 1, .dst = 0, .src_address = true};
    const struct gen_link chase[2] = {{.form = &mov, .src = 1, .dst = 0, .src_address = true},
                                      {.form = &move, .src = 1, .dst = 0}};
    const struct gen_link divides = {.form = &div, .src = 0, .dst = 1};
    assert_int_equal(gen_latency_keeper_cycles(&loads, 1), 2);
    assert_int_equal(gen_latency_keeper_cycles(chase, 1), 0);
    assert_int_equal(gen_latency_keeper_cycles(chase, 2), 2);
    assert_int_equal(gen_latency_keeper_cycles(&divides, 1), 2);
    /* The pointer of a string is put back from the keeper by a sign extension. */
    const struct isa_form lods = form_of("lodsq"), scas = form_of("scasb");
    const struct gen_link moves = {.form = &lods, .src = 2, .dst = 0},
                          scans = {.form = &scas, .src = 2, .dst = 3};
    assert_int_equal(gen_latency_keeper_cycles(&moves, 1), 3);
    assert_int_equal(gen_latency_keeper_cycles(&scans, 1), 3);
}

static void pointer_chase_prepared(void **state) {
    (void)state;
    struct isa_form mov = form_of("mov r64, m64");
    const struct gen_link link = {.form = &mov, .src = 1, .dst = 0, .src_address = true};
    struct gen_program program;
    struct ip_error err = {0};
    assert_int_equal(gen_latency_program(&program, &link, 1, 2, 0, &err), IP_OK);
    assert_int_equal(program.init.count, 2);
    assert_string_equal(program.init.items[0], "mov eax, 0x20014000");
    assert_string_equal(program.init.items[1], "mov ecx, 0x20014000");
    static const uint8_t pointer[8] = {0x00, 0x40, 0x01, 0x20, 0, 0, 0, 0};
    assert_memory_equal(program.memory_fill, pointer, 8);
    assert_memory_equal(program.memory_fill + 56, pointer, 8);
    gen_program_fini(&program);
}

/* What memory holds is measured in a loop of few pairs of store and load, all of which a core knows, an
 * address in one of more than it knows. Nor is anything stored elsewhere that the chain itself stores. */
static void pairs_of_chains(void **state) {
    (void)state;
    struct isa_form store = form_of("mov m64, r64"), load = form_of("mov r64, m64"),
                    add = form_of("add m64, r64"), wide = form_of("vmovups m256, ymm"),
                    wide_load = form_of("vmovups ymm, m256"), cmov = form_of("cmovz r64, r64");
    const struct gen_link named = {.form = &store, .src = 0, .src_address = true, .dst = 0},
                          stored = {.form = &store, .src = 1, .dst = 0},
                          loaded = {.form = &load, .src = 1, .dst = 0};
    enum { ROTATION = 8 };
    const struct {
        struct gen_link links[3];
        unsigned count, filler, registers;
        uint32_t copies; /* 0: the builder chooses */
        bool one_loop;
        uint32_t rounds; /* of a unit */
    } cases[] = {
        {{named, loaded}, 2, 0, 1, GEN_PAIRS_FORGOTTEN, false, 1},
        {{named, loaded}, 2, 5, 1, GEN_PAIRS_FORGOTTEN, true, 1},
        {{named, loaded}, 2, 5, ROTATION, GEN_PAIRS_FORGOTTEN / ROTATION, true, ROTATION},
        {{stored, loaded}, 2, 0, 1, GEN_PAIRS_KNOWN, true, 1},
        {{stored, loaded}, 2, 6, ROTATION, 1, true, ROTATION},
        {{{.form = &add, .src = 0, .dst = 0}}, 1, 0, 1, GEN_PAIRS_KNOWN, true, 1},
        {{{.form = &add, .src = 0, .dst = 2}, {.form = &cmov, .src = 2, .dst = 0}, stored},
         3,
         0,
         ROTATION,
         1,
         true,
         ROTATION},
        {{{.form = &add, .src = 0, .src_address = true, .dst = 2}, {.form = &cmov, .src = 2, .dst = 0}},
         2,
         0,
         ROTATION,
         0,
         false,
         2 * ROTATION},
        {{{.form = &wide, .src = 1, .dst = 0}, {.form = &wide_load, .src = 1, .dst = 0}},
         2,
         2,
         1,
         0,
         false,
         1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gen_program program;
        struct ip_error err = {0};
        if (gen_latency_program(&program, cases[i].links, cases[i].count, cases[i].registers, cases[i].filler,
                                &err) != IP_OK) {
            fail_msg("case %zu: %s", i, err.text);
        }
        if (program.copies != cases[i].copies || program.one_loop != cases[i].one_loop ||
            program.forms_per_unit != cases[i].rounds) {
            fail_msg("case %zu: %u copies of %u rounds, %zu lines, %s", i, program.copies,
                     program.forms_per_unit, program.unit.count, program.one_loop ? "one loop" : "two");
        }
        gen_program_fini(&program);
    }
}

static void filler(void **state) {
    (void)state;
    struct isa_form add = form_of("imul r64, r64");
    const struct gen_link link = {.form = &add, .src = 1, .dst = 0};
    struct gen_program program;
    struct ip_error err = {0};
    assert_int_equal(gen_latency_program(&program, &link, 1, 1, 2, &err), IP_OK);
    assert_unit(&program, "imul rax, rax\nnop dword [rax+8]\nnop dword [rax+8]\n");
    assert_int_equal(program.forms_per_unit, 1);
    gen_program_fini(&program);
    /* Behind what stores, wherever the unit begins. */
    struct isa_form setz = form_of("setz m8"), movzx = form_of("movzx r32, m8"),
                    cmp = form_of("cmp r64, r64");
    const struct gen_link links[] = {{.form = &setz, .src = 1, .dst = 0},
                                     {.form = &movzx, .src = 1, .dst = 0},
                                     {.form = &cmp, .src = 0, .dst = 2}};
    assert_int_equal(gen_latency_program(&program, links, 3, 1, 1, &err), IP_OK);
    assert_unit(&program, "cmp rax, r13\nsetz byte [r14]\nnop dword [rax+8]\nmovzx eax, byte [r14]\n");
    gen_program_fini(&program);
}

static void throughput_run(const char *syntax, struct gen_independence how, unsigned count,
                           const char *expected) {
    struct isa_form form = form_of(syntax);
    struct gen_program program;
    struct ip_error err = {0};
    if (gen_throughput_program(&program, &form, &how, count, &err) != IP_OK) {
        fail_msg("%s: %s", syntax, err.text);
    }
    assert_unit(&program, expected);
    assert_int_equal(program.forms_per_unit, count);
    gen_program_fini(&program);
}

/* SCAS and CMPS move their pointers: out of the data, if nobody renews them. Those of XLAT and MASKMOVQ stay.
 */
static void pointers_are_renewed(void **state) {
    (void)state;
    const struct gen_independence plain = {.registers = 2};
    throughput_run("scasb", plain, 2, "mov edi, 0x20012800\nscasb\nmov edi, 0x20012800\nscasb\n");
    throughput_run("repe cmpsq", plain, 1,
                   "mov ecx, 0x4\nmov esi, 0x20014000\nmov edi, 0x20012800\nrepe cmpsq\n");
    throughput_run("maskmovq mm, mm", plain, 2, "maskmovq mm7, mm6\nmaskmovq mm7, mm6\n");
    throughput_run("xlat", plain, 1, "xor eax, eax\nxlat\n"); /* its pointer stays, and al is one, too */
    struct isa_form cmps = form_of("cmpsb"), setz = form_of("setz r8"), movzx = form_of("movzx r64, r8");
    const struct gen_link links[] = {{.form = &cmps, .src = 2, .dst = 4},
                                     {.form = &setz, .src = 1, .dst = 0},
                                     {.form = &movzx, .src = 1, .dst = 0}};
    struct gen_program program;
    struct ip_error err = {0};
    assert_int_equal(gen_latency_program(&program, links, 3, 1, 0, &err), IP_OK);
    bool renewed = false;
    for (size_t i = 0; i < program.unit.count; i++) {
        renewed = renewed || strcmp(program.unit.items[i], "mov edi, 0x20012800") == 0;
    }
    assert_true(renewed); /* the chain's own is RSI */
    assert_true(program.implicit_memory);
    gen_program_fini(&program);
}

static void throughput_units(void **state) {
    (void)state;
    /* Listing 2.4 */
    throughput_run("mov r32, imm32", (struct gen_independence){.registers = 8}, 8,
                   "mov eax, strict dword 0x10101\nmov ecx, strict dword 0x10101\n"
                   "mov edx, strict dword 0x10101\nmov ebx, strict dword 0x10101\n"
                   "mov esi, strict dword 0x10101\nmov edi, strict dword 0x10101\n"
                   "mov r8d, strict dword 0x10101\nmov r9d, strict dword 0x10101\n");
    /* Listing 2.6 */
    throughput_run("addpd xmm, xmm", (struct gen_independence){.registers = 4, .same_register = true}, 8,
                   "addpd xmm0, xmm0\naddpd xmm1, xmm1\naddpd xmm2, xmm2\naddpd xmm3, xmm3\n"
                   "addpd xmm0, xmm0\naddpd xmm1, xmm1\naddpd xmm2, xmm2\naddpd xmm3, xmm3\n");
    throughput_run("addpd xmm, xmm", (struct gen_independence){.registers = 2}, 3,
                   "addpd xmm0, xmm15\naddpd xmm1, xmm15\naddpd xmm0, xmm15\n");
    /* Sources differ from each other: equal ones would be an idiom. */
    throughput_run("vpxor ymm, ymm, ymm", (struct gen_independence){0}, 2,
                   "vpxor ymm0, ymm15, ymm14\nvpxor ymm1, ymm15, ymm14\n");
    throughput_run("vpxor ymm, ymm, ymm", (struct gen_independence){.same_register = true}, 2,
                   "vpxor ymm0, ymm0, ymm0\nvpxor ymm1, ymm1, ymm1\n");
    /* Loads and stores walk apart. */
    throughput_run("vmovaps zmm, m512", (struct gen_independence){0}, 2,
                   "vmovaps zmm0, zword [r14]\nvmovaps zmm1, zword [r14+64]\n");
    /* Loads walk through the banks; those of 16 bytes stay aligned. */
    throughput_run("mov r64, m64", (struct gen_independence){0}, 3,
                   "mov rax, qword [r14]\nmov rcx, qword [r14+40]\nmov rdx, qword [r14+80]\n");
    throughput_run("movaps xmm, m128", (struct gen_independence){0}, 2,
                   "movaps xmm0, oword [r14]\nmovaps xmm1, oword [r14+48]\n");
    throughput_run("vmovaps ymm, m256", (struct gen_independence){0}, 2,
                   "vmovaps ymm0, yword [r14]\nvmovaps ymm1, yword [r14+32]\n");
    /* After eight places they begin anew: no more lines to assemble than that. */
    throughput_run("mov r64, m64", (struct gen_independence){.registers = 1}, 9,
                   "mov rax, qword [r14]\nmov rax, qword [r14+40]\nmov rax, qword [r14+80]\n"
                   "mov rax, qword [r14+120]\nmov rax, qword [r14+160]\nmov rax, qword [r14+200]\n"
                   "mov rax, qword [r14+240]\nmov rax, qword [r14+280]\nmov rax, qword [r14]\n");
    /* A stride that is asked for is kept, where it is no less than what there is anyway. */
    throughput_run("mov r64, m64", (struct gen_independence){.stride = 72}, 2,
                   "mov rax, qword [r14]\nmov rcx, qword [r14+72]\n");
    throughput_run("mov m32, r32", (struct gen_independence){0}, 2,
                   "mov dword [r14-5632], r13d\nmov dword [r14-5628], r13d\n");
    throughput_run("mov m64, r64", (struct gen_independence){.stride = 64}, 2,
                   "mov qword [r14-5632], r13\nmov qword [r14-5568], r13\n");
    /* What modifies memory, and vectors; what goes past the caches fills no line. */
    throughput_run("add m32, r32", (struct gen_independence){0}, 2,
                   "add dword [r14-5632], r13d\nadd dword [r14-5624], r13d\n");
    throughput_run("movnti m64, r64", (struct gen_independence){.stride = 64}, 2,
                   "movnti qword [r14-5632], r13\nmovnti qword [r14-5632], r13\n");
    throughput_run("vmovntps m256, ymm", (struct gen_independence){0}, 2,
                   "vmovntps yword [r14-5632], ymm15\nvmovntps yword [r14-5632], ymm15\n");
    throughput_run("movups m128, xmm", (struct gen_independence){0}, 2,
                   "movups oword [r14-5632], xmm15\nmovups oword [r14-5600], xmm15\n");
    /* Through halves of 1 KiB, never where the loads are modulo that. */
    char stores[1024] = "";
    for (int i = 0; i < 17; i++) {
        int at = -5632 + (i < 16 ? 32 * i : 1024);
        (void)snprintf(stores + strlen(stores), sizeof stores - strlen(stores), "add dword [r14%d], r13d\n",
                       at);
    }
    throughput_run("add m32, r32", (struct gen_independence){.stride = 32}, 17, stores);
    /* Dependences broken. */
    throughput_run("adc r64, r64", (struct gen_independence){.break_flags = true, .break_registers = true}, 2,
                   "xor eax, eax\nadc rax, r13\nxor ecx, ecx\nadc rcx, r13\n");
    throughput_run("adc r64, r64", (struct gen_independence){.break_registers = true}, 1,
                   "mov eax, 0x101\nadc rax, r13\n");
    /* Four wait for each other; with an idiom each no core would show what takes a quarter of a cycle. */
    throughput_run("adcx r32, r32", (struct gen_independence){.registers = 2, .break_flags = true}, 5,
                   "xor ebp, ebp\nadcx eax, r13d\nadcx ecx, r13d\nadcx eax, r13d\nadcx ecx, r13d\n"
                   "xor ebp, ebp\nadcx eax, r13d\n");
    throughput_run("sbb al, imm8", (struct gen_independence){.break_flags = true, .break_registers = true}, 5,
                   "xor eax, eax\nsbb al, 2\nsbb al, 2\nsbb al, 2\nsbb al, 2\n"
                   "xor eax, eax\nsbb al, 2\n");
    /* All four that there are. */
    throughput_run("neg r8h", (struct gen_independence){0}, 5, "neg ah\nneg ch\nneg dh\nneg bh\nneg ah\n");
    throughput_run("mul r64", (struct gen_independence){.break_registers = true}, 1,
                   "xor eax, eax\nmul r13\n");
    throughput_run("vfmadd231pd ymm, ymm, ymm", (struct gen_independence){.break_registers = true}, 1,
                   "vpxor xmm0, xmm0, xmm0\nvfmadd231pd ymm0, ymm15, ymm14\n");
    throughput_run("addsd xmm, xmm", (struct gen_independence){.break_registers = true}, 1,
                   "pxor xmm0, xmm0\naddsd xmm0, xmm15\n");
    throughput_run("div r32", (struct gen_independence){.break_registers = true}, 1,
                   "mov eax, 0x11\nmov edx, 0x0\ndiv r13d\n");
    /* The stack pointer is set back. */
    throughput_run("push r64", (struct gen_independence){0}, 2, "push r13\npush r13\nmov esp, 0x20034000\n");
    throughput_run("pop r64", (struct gen_independence){0}, 2, "pop rax\npop rcx\nmov esp, 0x20034000\n");
    throughput_run("vpgatherdd ymm, vm32y, ymm", (struct gen_independence){0}, 1,
                   "vpcmpeqd ymm7, ymm7, ymm7\nvpgatherdd ymm0, [r14+ymm15], ymm7\n");
    throughput_run("paddb mm, mm", (struct gen_independence){0}, 2, "paddb mm0, mm7\npaddb mm1, mm7\n");
}

static void fills(void **state) {
    (void)state;
    static const struct {
        const char *syntax;
        uint8_t bytes, first[16];
    } cases[] = {
        {"addpd xmm, xmm", 8, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
        {"addps xmm, xmm", 4, {0, 0, 0x80, 0x3f}},
        {"paddw xmm, xmm", 2, {1, 0}},
        {"add r64, m64", 8, {1, 1}},
        {"div m32", 4, {1, 0, 0, 0}},
        {"vgatherdps xmm, vm32x, xmm", 1, {0}},
        {"vmaskmovps xmm, xmm, m128", 1, {0xff}},
        {"fld m32", 4, {0, 0, 0x80, 0x3f}},
        {"fild m32", 4, {1, 0, 0, 0}},
        {"verr m16", 8, {0x2b}},
        {"repe scasw", 1, {1}},
        {"repne scasq", 1, {1}},
        {"repe cmpsb", 8, {1, 1}},
        {"fld m80", 16, {0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_form form = form_of(cases[i].syntax);
        uint8_t memory[64], vectors[64];
        gen_fill_for_form(&form, memory, vectors);
        assert_memory_equal(memory, cases[i].first, cases[i].bytes);
        assert_memory_equal(memory + cases[i].bytes, memory, 64u - cases[i].bytes);
        assert_memory_equal(vectors, memory, 64);
    }
    /* Elements of any width at the two places of CMPS are alike, or none is. */
    struct isa_form seeks = form_of("repne cmpsw"), goes_on = form_of("repe cmpsw");
    const struct gen_pool pool = {0};
    uint8_t memory[64], vectors[64];
    gen_fill_for_form(&seeks, memory, vectors);
    uint64_t source = gen_fixed_value(&pool, &seeks, 6, 0), other = gen_fixed_value(&pool, &seeks, 7, 0);
    for (unsigned i = 0; i < 64; i++) {
        assert_int_not_equal(memory[(source + i) % 64], memory[(other + i) % 64]);
    }
    gen_fill_for_form(&goes_on, memory, vectors);
    source = gen_fixed_value(&pool, &goes_on, 6, 0);
    other = gen_fixed_value(&pool, &goes_on, 7, 0);
    for (unsigned i = 0; i < 64; i++) {
        assert_int_equal(memory[(source + i) % 64], memory[(other + i) % 64]);
    }
}

/* What registers begin with: RAX holds what SCAS goes on over, or does not. */
static void registers_begin(void **state) {
    (void)state;
    static const struct {
        const char *syntax;
        uint64_t fill;
    } cases[] = {{"add r64, r64", 0x101},
                 {"lar r32, r32", 0x2b},
                 {"verw r16", 0x2b},
                 {"repe scasq", UINT64_C(0x0101010101010101)},
                 {"repne scasb", UINT64_C(0x0202020202020202)},
                 {"repne cmpsb", 0x101}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_form form = form_of(cases[i].syntax);
        assert_true(gen_form_gpr_fill(&form, 0x101) == cases[i].fill);
    }
    const struct gen_pool pool = {0};
    struct isa_form rdpru = form_of("rdpru");
    assert_int_equal(gen_fixed_value(&pool, &rdpru, 1, 0x101), 0); /* ECX says which */
}

/* A selector that there is stays in the keeper: LAR makes none of one. */
static void selectors_are_kept(void **state) {
    (void)state;
    struct isa_form form = form_of("lar r32, r32");
    const struct gen_link link = {.form = &form, .src = 1, .dst = 0};
    struct gen_program program;
    struct ip_error err = {0};
    assert_int_equal(gen_latency_program(&program, &link, 1, 1, 0, &err), IP_OK);
    assert_unit(&program, "xor rbp, rax\nxor rbp, rax\nlar eax, ebp\n");
    assert_string_equal(program.init.items[0], "mov ebp, 0x2b");
    gen_program_fini(&program);
}

/* A row may name registers; not those that a kernel needs. */
static void reserved_registers(void **state) {
    (void)state;
    static const char *const rows[] = {"add r15, 1", "mov r14d, r32", "add rsp, 8", "pop r15"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct isa_form form = form_of(rows[i]);
        const struct gen_independence plain = {.registers = 2};
        struct gen_program program;
        struct ip_error err = {0};
        assert_int_equal(gen_throughput_program(&program, &form, &plain, 2, &err), IP_UNSUPPORTED);
        assert_non_null(strstr(err.text, "writes a register that kernels need"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_units),          cmocka_unit_test(keeper_cycles),
        cmocka_unit_test(pointer_chase_prepared), cmocka_unit_test(filler),
        cmocka_unit_test(pairs_of_chains),        cmocka_unit_test(throughput_units),
        cmocka_unit_test(pointers_are_renewed),   cmocka_unit_test(fills),
        cmocka_unit_test(registers_begin),        cmocka_unit_test(selectors_are_kept),
        cmocka_unit_test(reserved_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
