/* SPDX-License-Identifier: Apache-2.0 */
/* The core model: exact cycles of small loops on small simulated CPUs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/random.h"
#include "common/text.h"
#include "harness/sim_core.h"
#include "harness/sim_program.h"
#include "tests/near.h"

/* Machine code by hand, so that these tests need no assembler. */
#define ADD_RAX_RAX  "\x48\x01\xc0"
#define ADD_RAX_RBX  "\x48\x01\xd8"
#define ADD_RCX_RBX  "\x48\x01\xd9"
#define ADD_RBX_RAX  "\x48\x01\xc3"
#define ADD_RAX_MEM  "\x48\x03\x06" /* [rsi] */
#define ADD_RAX_OF   "\x48\x03\x00" /* [rax] */
#define ADC_RCX_RBX  "\x48\x11\xd9"
#define INC_RAX      "\x48\xff\xc0"
#define IMUL_RAX_RBX "\x48\x0f\xaf\xc3"
#define IMUL_RCX_RBX "\x48\x0f\xaf\xcb"
#define IMUL_RDX_RBX "\x48\x0f\xaf\xd3"
#define SHL_RAX      "\x48\xc1\xe0\x03"
#define MOV_RAX_RBX  "\x48\x89\xd8"
#define MOV_RBX_RAX  "\x48\x89\xc3"
#define MOV_AL_BL    "\x88\xd8"
#define LOAD_RAX     "\x48\x8b\x06"     /* mov rax, [rsi] */
#define STORE_RAX    "\x48\x89\x06"     /* mov [rsi], rax */
#define STORE_RAX_8  "\x48\x89\x46\x08" /* mov [rsi+8], rax */
#define XOR_EAX_EAX  "\x31\xc0"
#define NOP          "\x90"
#define CRC32        "\xf2\x0f\x38\xf0\xc0"
#define UD2          "\x0f\x0b"
#define GARBAGE      "\x06\x06"
#define VPADDD_YMM   "\xc5\xed\xfe\xca"         /* ymm1, ymm2, ymm2 */
#define VADDPS_3     "\xc5\xe4\x58\xd9"         /* ymm3, ymm3, ymm1 */
#define VADDPS_15    "\xc5\x04\x58\xf9"         /* ymm15, ymm15, ymm1 */
#define VADDPS_18    "\x62\xe1\x6c\x40\x58\xd1" /* zmm18, zmm18, zmm1 */
#define VZEROALL     "\xc5\xfc\x77"
#define VPADDD_ZMM   "\x62\xf1\x6d\x48\xfe\xda" /* zmm3, zmm2, zmm2 */

struct machine {
    struct hx_sim_description description;
    struct hx_sim_ops ops;
};

static void machine_init(struct machine *machine, const char *text) {
    struct ip_error err;
    memset(machine, 0, sizeof *machine);
    if (hx_sim_description_parse(&machine->description, "test", text, strlen(text), NULL, &err) != IP_OK) {
        fail_msg("%s: %s", err.place, err.text);
    }
}

static void machine_fini(struct machine *machine) {
    hx_sim_description_fini(&machine->description);
    hx_sim_ops_fini(&machine->ops);
}

/* A loop over `body` that ends in sub rdi, 1; jnz; then ret. */
static void loop_make(struct ip_text *code, const char *body, size_t body_bytes, unsigned times) {
    for (unsigned i = 0; i < times; i++) {
        ip_text_append_bytes(code, body, body_bytes);
    }
    ip_text_append_bytes(code, "\x48\x83\xef\x01\x0f\x85", 6);
    int32_t back = -(int32_t)(code->length + 4);
    uint8_t bytes[4] = {(uint8_t)back, (uint8_t)((uint32_t)back >> 8), (uint8_t)((uint32_t)back >> 16),
                        (uint8_t)((uint32_t)back >> 24)};
    ip_text_append_bytes(code, bytes, sizeof bytes);
    ip_text_append_bytes(code, "\xc3", 1);
    assert_false(code->failed);
}

static enum hx_outcome run_code(struct machine *machine, const struct ip_text *code,
                                struct hx_sim_widths widths, struct hx_sim_cost *cost, char why[96]) {
    struct ip_error err;
    struct hx_sim_program program = {0};
    struct hx_sim_verdict verdict;
    assert_int_equal(hx_sim_program_build(&program, &machine->ops, &machine->description,
                                          (const uint8_t *)code->data, code->length, &verdict, &err),
                     IP_OK);
    if (verdict.outcome == HX_OUTCOME_OK) {
        assert_int_equal(hx_sim_core_run(&machine->description, &program, widths, cost, &err), IP_OK);
    }
    hx_sim_program_fini(&program);
    memcpy(why, verdict.why, sizeof verdict.why);
    return verdict.outcome;
}

static double cycles_of(struct machine *machine, const char *body, size_t body_bytes, unsigned times) {
    struct ip_text code = {0};
    struct hx_sim_cost cost = {0};
    char why[96];
    struct hx_sim_widths widths = {machine->description.issue_width, machine->description.retire_width};
    loop_make(&code, body, body_bytes, times);
    enum hx_outcome outcome = run_code(machine, &code, widths, &cost, why);
    ip_text_fini(&code);
    if (outcome != HX_OUTCOME_OK) {
        fail_msg("the loop does not run: %s", why);
    }
    return cost.cycles_per_iteration;
}

/* Cycles of `times` copies of the body: those of 2*times minus those of times, free of the loop. */
#define BODY(machine, body, times)                                                                           \
    (cycles_of(machine, body, sizeof(body) - 1, 2 * (times)) -                                               \
     cycles_of(machine, body, sizeof(body) - 1, times))

#define assert_cycles(machine, body, times, expected) assert_near(BODY(machine, body, times), expected, 1e-9)

#define CORE                                                                                                 \
    "isaprobe-sim 1\n"                                                                                       \
    "issue-width 4\n"                                                                                        \
    "ports p0 p1 p2 p3 p4 p5 p6 p7\n"                                                                        \
    "load-ports p23\nstore-address-ports p237\nstore-data-ports p4\n"                                        \
    "load-latency 5\nforward-latency 4\nrob 128\n"                                                           \
    "form \"sub r64, imm8\" ports 1*p0156\n"                                                                 \
    "form \"jnz *\" ports 1*p06\n"
#define FORMS                                                                                                \
    "form \"add r64, r64\" ports 1*p0156\n"                                                                  \
    "form \"adc r64, r64\" ports 1*p06\n"                                                                    \
    "form \"inc r64\" ports 1*p0156\n"                                                                       \
    "form \"add r64, m64\" ports 1*p23+1*p0156\n"                                                            \
    "form \"imul r64, r64\" ports 1*p1 latency 3\n"                                                          \
    "form \"shl r64, imm8\" ports 1*p06\n"                                                                   \
    "form \"mov r64, r64\" eliminated\n"                                                                     \
    "form \"mov r8, r8\" ports 1*p0156\n"                                                                    \
    "form \"mov r64, m64\" ports 1*p23\n"                                                                    \
    "form \"mov m64, r64\" ports 1*p237+1*p4\n"                                                              \
    "form \"xor r32, r32\" ports 1*p0156 same-register eliminated\n"                                         \
    "form \"nop\" ports none\n"

static void latency_chains(void **state) {
    (void)state;
    struct machine machine;
    machine_init(&machine, CORE FORMS);
    assert_cycles(&machine, ADD_RAX_RAX, 8, 8);
    assert_cycles(&machine, IMUL_RAX_RBX, 8, 24);
    assert_cycles(&machine, IMUL_RAX_RBX ADD_RAX_RBX, 8, 32);
    assert_cycles(&machine, ADD_RAX_RBX ADD_RBX_RAX, 8, 16);
    assert_cycles(&machine, ADD_RAX_MEM, 8, 8); /* the load is not in the chain */
    assert_cycles(&machine, ADD_RAX_OF, 8, 48); /* here it is: 5 + 1 */
    machine_fini(&machine);
}

static void throughput_is_the_width_of_the_port_set(void **state) {
    (void)state;
    struct machine machine;
    machine_init(&machine, CORE "form \"imul r64, r64\" ports 1*p1 latency 1\n"
                                "form \"mov r64, m64\" ports 1*p23\n"
                                "form \"mov r64, r64\" ports 1*p056\n"
                                "form \"mov m64, r64\" ports 1*p237+1*p4\n");
    assert_cycles(&machine, IMUL_RCX_RBX IMUL_RDX_RBX IMUL_RAX_RBX, 8, 24);
    assert_cycles(&machine, LOAD_RAX, 16, 8);
    assert_cycles(&machine, MOV_RAX_RBX, 24, 8);
    assert_cycles(&machine, STORE_RAX, 8, 8);
    machine_fini(&machine);
}

static void issue_width_limits_nops(void **state) {
    (void)state;
    struct machine machine;
    for (unsigned width = 1; width <= 8; width++) {
        char text[512];
        snprintf(text, sizeof text,
                 "isaprobe-sim 1\nissue-width %u\nretire-width 64\nports p0 p1 p6\nform \"nop\" ports none\n"
                 "form \"sub r64, imm8\" ports 1*p01\nform \"jnz *\" ports 1*p6\n",
                 width);
        machine_init(&machine, text);
        assert_near(BODY(&machine, NOP, 40), 40.0 / width, 1e-9);
        /* 7 nops and the loop's two: exact although no multiple of the width */
        assert_near(cycles_of(&machine, NOP, 1, 14), 16.0 / width, 1e-9);
        machine_fini(&machine);
    }
}

static void retire_width_limits_too(void **state) {
    (void)state;
    struct machine machine;
    machine_init(&machine, CORE FORMS "retire-width 2\n");
    assert_cycles(&machine, NOP, 40, 20);
    machine_fini(&machine);
}

static void unions_of_port_sets(void **state) {
    (void)state;
    struct machine machine;
    machine_init(&machine, CORE "form \"imul r64, r64\" ports 1*p1 latency 1\n"
                                "form \"mov r64, r64\" ports 1*p15\n"
                                "form \"shl r64, imm8\" ports 1*p06 latency 0\n"
                                "form \"mov r64, m64\" ports 1*p01\n");
    /* {1} and {1,5}: one port for two, two for three */
    assert_cycles(&machine, IMUL_RCX_RBX MOV_RAX_RBX, 8, 8);
    assert_cycles(&machine, IMUL_RCX_RBX MOV_RAX_RBX MOV_RAX_RBX MOV_RAX_RBX, 8, 16);
    assert_cycles(&machine, IMUL_RCX_RBX IMUL_RDX_RBX MOV_RAX_RBX, 8, 16);
    /* {1,5} and {0,1}: three ports for four */
    assert_near(BODY(&machine, MOV_RAX_RBX LOAD_RAX MOV_RAX_RBX LOAD_RAX, 24), 32, 0.5);
    machine_fini(&machine);
}

static void pairs_have_their_own_latency(void **state) {
    (void)state;
    struct machine machine;
    machine_init(&machine, CORE "form \"add r64, r64\" ports 1*p0156 op1->op1 1 op2->op1 4 latency 2\n"
                                "form \"adc r64, r64\" ports 1*p0156 latency 1 flags->flags 3\n");
    assert_cycles(&machine, ADD_RAX_RBX, 8, 8);              /* op1 to op1 */
    assert_cycles(&machine, ADD_RAX_RBX ADD_RBX_RAX, 8, 64); /* op2 to op1, twice */
    assert_cycles(&machine, ADC_RCX_RBX, 8, 24);             /* carry to carry */
    machine_fini(&machine);
}

static void flags_are_two_things(void **state) {
    (void)state;
    struct machine machine;
    machine_init(&machine, CORE FORMS);
    /* ADC chains through the carry, which ADD writes and breaks. INC writes the others only. */
    assert_cycles(&machine, ADC_RCX_RBX, 8, 8);
    machine_fini(&machine);
    machine_init(&machine, CORE "form \"inc r64\" ports 1*p0156 latency 1 op1->flags 9\n"
                                "form \"add r64, r64\" ports 1*p0156 latency 1 op1->flags 9\n"
                                "form \"adc r64, r64\" ports 1*p06 latency 1\n"
                                "form \"mov r64, r64\" ports 1*p0156\n");
    /* mov rbx, rcx via adc: inc's late flags do not hold the carry up, add's do */
    double with_inc = BODY(&machine, INC_RAX ADC_RCX_RBX, 8);
    double with_add =
        BODY(&machine, ADD_RAX_RBX ADC_RCX_RBX MOV_RBX_RAX "\x48\x89\xc8", 8); /* mov rax, rcx */
    assert_near(with_inc, 8, 1e-9);
    assert_true(with_add > 8 * 9);
    machine_fini(&machine);
}

static void elimination_and_idioms(void **state) {
    (void)state;
    struct machine machine;
    machine_init(&machine, CORE FORMS);
    assert_cycles(&machine, ADD_RAX_RBX MOV_RBX_RAX, 8, 8);  /* the move costs nothing in the chain */
    assert_cycles(&machine, MOV_RAX_RBX, 16, 4);             /* but a slot */
    assert_cycles(&machine, IMUL_RAX_RBX XOR_EAX_EAX, 8, 8); /* the idiom cuts the chain */
    assert_cycles(&machine, XOR_EAX_EAX, 40, 10);
    machine_fini(&machine);
    machine_init(&machine, CORE "form \"xor r32, r32\" ports 1*p5 same-register breaks\n"
                                "form \"imul r64, r64\" ports 1*p1 latency 3\n");
    assert_cycles(&machine, XOR_EAX_EAX, 8, 8); /* executes on its one port */
    assert_cycles(&machine, IMUL_RAX_RBX XOR_EAX_EAX, 8, 8);
    machine_fini(&machine);
}

/* imul rcx, rax; imul rdx, rax; mov rax, rdx: the second waits a cycle for the port, and so does the chain.
 */
static void contention_lengthens_chains(void **state) {
    (void)state;
    struct machine machine;
    machine_init(&machine, CORE FORMS);
    assert_cycles(&machine, "\x48\x0f\xaf\xc8\x48\x0f\xaf\xd0\x48\x89\xd0", 8, 32);
    machine_fini(&machine);
    /* A form's own µops do not lengthen its latency, which includes them. */
    machine_init(&machine, CORE "form \"imul r64, r64\" ports 2*p1 latency 5\n");
    assert_cycles(&machine, IMUL_RAX_RBX, 8, 40);
    machine_fini(&machine);
}

/* add rcx, rbx; cmovz rbx, rax: through the zero flag. */
static void other_flags_carry_dependences(void **state) {
    (void)state;
    struct machine machine;
    machine_init(&machine, CORE "form \"add r64, r64\" ports 1*p0156 op2->flags 9\n"
                                "form \"cmovz r64, r64\" ports 1*p06\n");
    assert_cycles(&machine, ADD_RCX_RBX "\x48\x0f\x44\xd8", 8, 80);
    machine_fini(&machine);
}

static void what_does_not_depend_does_not_wait(void **state) {
    (void)state;
    struct machine machine;
    machine_init(&machine, CORE "form \"imul r64, r64\" ports 1*p1 latency 3 op1->op1 none\n");
    assert_cycles(&machine, IMUL_RAX_RBX, 8, 8);
    machine_fini(&machine);
}

static void partial_writes_merge(void **state) {
    (void)state;
    struct machine machine;
    machine_init(&machine, CORE FORMS);
    assert_cycles(&machine, IMUL_RAX_RBX MOV_AL_BL, 8, 32); /* mov al, bl waits for rax */
    machine_fini(&machine);
}

static void memory_forwards(void **state) {
    (void)state;
    struct machine machine;
    machine_init(&machine, CORE FORMS);
    assert_cycles(&machine, STORE_RAX LOAD_RAX, 8, 32);
    assert_cycles(&machine, STORE_RAX_8 LOAD_RAX, 8, 8); /* another address */
    assert_cycles(&machine, STORE_RAX LOAD_RAX ADD_RAX_RBX, 8, 40);
    machine_fini(&machine);
}

static void unpipelined_units(void **state) {
    (void)state;
    struct machine machine;
    machine_init(&machine, CORE "form \"imul r64, r64\" ports 1*p1 latency 9 blocking 4 divider\n"
                                "form \"shl r64, imm8\" ports 1*p06 latency 1 blocking 4 divider\n"
                                "form \"nop\" ports none\n");
    assert_cycles(&machine, IMUL_RCX_RBX IMUL_RDX_RBX IMUL_RAX_RBX, 8, 96);
    assert_cycles(&machine, IMUL_RCX_RBX SHL_RAX, 8, 8 * 9); /* rcx: latency 9; the unit would take 8 */
    machine_fini(&machine);
}

/* Narrower vectors do without a port while 512 bits are in flight; general registers keep it. */
static void wide_vectors_close_ports(void **state) {
    (void)state;
#define VECTORS                                                                                              \
    "form \"vpaddd ymm, ymm, ymm\" ports 1*p015\nform \"vpaddd zmm, zmm, zmm\" ports 1*p05\n"                \
    "form \"imul r64, r64\" ports 1*p1 latency 3\n"
#define SIX VPADDD_YMM VPADDD_YMM VPADDD_YMM VPADDD_YMM VPADDD_YMM VPADDD_YMM
    struct machine open, closed;
    machine_init(&open, CORE VECTORS);
    machine_init(&closed, CORE "wide-closes p1\n" VECTORS);
    assert_cycles(&open, SIX, 8, 16);
    assert_cycles(&closed, SIX, 8, 16);
    assert_cycles(&open, SIX VPADDD_ZMM VPADDD_ZMM VPADDD_ZMM, 8, 24);
    assert_cycles(&closed, SIX VPADDD_ZMM VPADDD_ZMM VPADDD_ZMM, 8, 36);
    assert_cycles(&closed, VPADDD_ZMM VPADDD_ZMM IMUL_RCX_RBX, 8, 24); /* by the chain through rcx */
    assert_cycles(&closed, VPADDD_ZMM VPADDD_ZMM VPADDD_ZMM VPADDD_ZMM IMUL_RCX_RBX IMUL_RDX_RBX, 8, 24);
    machine_fini(&open);
    machine_fini(&closed);
}

/* Three slots of one cycle leave the fourth unused. */
static void all_vectors_are_cleared(void **state) {
    (void)state;
    struct machine machine;
    machine_init(&machine, CORE "form \"vaddps *\" ports 1*p01 latency 4\nform \"vzeroall\" ports none\n");
    assert_cycles(&machine, VADDPS_3 VADDPS_3, 8, 64);
    assert_cycles(&machine, VADDPS_3 VADDPS_3 VZEROALL, 8, 8);
    assert_cycles(&machine, VADDPS_15 VADDPS_15 VZEROALL, 8, 8);
    assert_cycles(&machine, VADDPS_18 VADDPS_18 VZEROALL, 8, 64); /* not of the upper sixteen */
    machine_fini(&machine);
}

static void slots_of_one_cycle(void **state) {
    (void)state;
    struct machine apart, together;
    machine_init(&apart, CORE "form \"nop\" ports none\nform \"crc32 r32, r8\" ports none slots 3\n");
    machine_init(&together,
                 CORE "form \"nop\" ports none\nform \"crc32 r32, r8\" ports none slots 3 together\n");
    assert_cycles(&apart, CRC32, 8, 6);
    assert_cycles(&together, CRC32, 8, 8);
    assert_cycles(&together, CRC32 NOP, 8, 8);
    machine_fini(&apart);
    machine_fini(&together);
}

/* Microcode keeps the front end busy. What it has delivered ahead of rename hides that, if there is time for
 * it between two of them, and a place. */
static void the_front_end_runs_ahead(void **state) {
    (void)state;
#define MICROCODE "form \"nop\" ports none\nform \"crc32 r32, r8\" ports none slots 4 microcode 5\n"
#define NOPS_12   NOP NOP NOP NOP NOP NOP NOP NOP NOP NOP NOP NOP
    struct machine narrow, wide, shallow, by_slots;
    machine_init(&narrow, CORE "fetch-width 3\nform \"nop\" ports none\n");
    machine_init(&wide, CORE "fetch-width 6\nfetch-queue 24\n" MICROCODE);
    machine_init(&shallow, CORE "fetch-width 6\nfetch-queue 8\n" MICROCODE);
    machine_init(&by_slots, CORE "fetch-width 6\nmicrocode 3 7\nform \"nop\" ports none slots 3\n"
                                 "form \"crc32 r32, r8\" ports none slots 4\n");
    assert_cycles(&by_slots, CRC32, 8, 56);
    assert_cycles(&by_slots, NOP NOP NOP NOP, 8, 8 * 3);
    assert_cycles(&narrow, NOPS_12, 8, 32);
    assert_cycles(&wide, NOPS_12, 8, 24);
    assert_cycles(&wide, CRC32, 8, 40);
    assert_cycles(&wide, CRC32 NOPS_12, 8, 8 * (5 + 2));
    assert_cycles(&wide, CRC32 NOPS_12 NOPS_12 NOPS_12, 8, 8 * (5 + 6));
    assert_near(BODY(&wide, CRC32 NOPS_12 NOPS_12 NOPS_12 NOPS_12 NOPS_12, 8), 8 * 16,
                0.1); /* 64 slots of 4 */
    assert_true(BODY(&shallow, CRC32 NOPS_12 NOPS_12 NOPS_12 NOPS_12 NOPS_12, 8) > 8 * 17);
    machine_fini(&narrow);
    machine_fini(&wide);
    machine_fini(&shallow);
    machine_fini(&by_slots);
}

/* An independent 20-cycle operation: a window of 16 slots holds so many in flight and no more. */
static void the_window_is_finite(void **state) {
    (void)state;
    struct machine small, large, scheduler;
    machine_init(&small, CORE "rob 16\nform \"mov r64, m64\" ports 1*p23 op2->op1 20\n");
    machine_init(&large, CORE "rob 256\nform \"mov r64, m64\" ports 1*p23 op2->op1 20\n");
    machine_init(&scheduler, CORE "scheduler 4\nform \"imul r64, r64\" ports 1*p1 latency 3\n"
                                  "form \"mov r64, m64\" ports 1*p23\n");
    double in_small = BODY(&small, LOAD_RAX, 32), in_large = BODY(&large, LOAD_RAX, 32);
    assert_near(in_large, 16, 1e-9);
    assert_near(in_small, 32.0 / 16 * 21, 4); /* 16 every 20 cycles and the one of issue */
    /* Loads beside a multiply chain: they hide behind it unless the scheduler is full of waiting multiplies.
     */
    double hidden = BODY(&scheduler, IMUL_RAX_RBX LOAD_RAX LOAD_RAX LOAD_RAX, 8);
    assert_true(hidden > 8 * 1.5);
    machine_fini(&small);
    machine_fini(&large);
    machine_fini(&scheduler);
}

static void pairs_can_fuse(void **state) {
    (void)state;
    struct machine plain, fused;
    machine_init(&plain, CORE FORMS);
    machine_init(&fused, CORE FORMS "fuse \"sub *\" \"j*\"\n");
    assert_near(cycles_of(&plain, NOP, 1, 14), 4, 1e-9);
    assert_near(cycles_of(&fused, NOP, 1, 15), 4, 1e-9);
    machine_fini(&plain);
    machine_fini(&fused);
}

static void what_does_not_run_says_why(void **state) {
    (void)state;
    static const struct {
        const char *body;
        size_t bytes;
        enum hx_outcome outcome;
        const char *why;
    } cases[] = {
        {CRC32, 5, HX_OUTCOME_UNKNOWN, "crc32 r32, r8"},       {UD2, 2, HX_OUTCOME_ILLEGAL, "ud2"},
        {GARBAGE, 2, HX_OUTCOME_ILLEGAL, "offset 0"},          {"\xf3\x90", 2, HX_OUTCOME_TIMEOUT, "pause"},
        {"\xeb\xfe", 2, HX_OUTCOME_TIMEOUT, "without an end"},
    };
    struct machine machine;
    machine_init(&machine, CORE FORMS "fault \"ud2\" illegal\nfault \"pause\" timeout\n"
                                      "form \"jmp *\" ports 1*p6\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ip_text code = {0};
        struct hx_sim_cost cost = {-1, -1, 0};
        char why[96];
        loop_make(&code, cases[i].body, cases[i].bytes, 1);
        assert_int_equal(run_code(&machine, &code, (struct hx_sim_widths){4, 4}, &cost, why),
                         cases[i].outcome);
        if (strstr(why, cases[i].why) == NULL) {
            fail_msg("case %zu: \"%s\" does not tell \"%s\"", i, why, cases[i].why);
        }
        assert_true(cost.fixed_cycles == -1);
        ip_text_fini(&code);
    }
    machine_fini(&machine);
}

static void prologue_need_not_be_listed(void **state) {
    (void)state;
    struct machine machine;
    struct ip_text code = {0};
    struct hx_sim_cost cost;
    char why[96];
    machine_init(&machine, CORE FORMS);
    /* crc32 eax, al; loop: add rax, rbx; sub rdi, 1; jnz loop; crc32; ret */
    ip_text_append_bytes(&code, CRC32 ADD_RAX_RBX "\x48\x83\xef\x01\x75\xf7" CRC32 "\xc3", 20);
    assert_int_equal(run_code(&machine, &code, (struct hx_sim_widths){4, 4}, &cost, why), HX_OUTCOME_OK);
    assert_near(cost.cycles_per_iteration, 1, 1e-9);
    ip_text_fini(&code);
    machine_fini(&machine);
}

static void default_row_serves_the_rest(void **state) {
    (void)state;
    struct machine machine;
    machine_init(&machine, CORE "default ports 1*p5 latency 7\n");
    assert_cycles(&machine, CRC32, 8, 56);
    machine_fini(&machine);
}

/* The closed form of the design: cycles = max over sets Q of ports of (µops confined to Q) / |Q|. Random
 * mixes of single-µop forms over random port sets must come within 5 % of it (the model binds greedily). */
static void random_mixes_meet_the_closed_form(void **state) {
    (void)state;
    static const char *const forms[] = {"imul r64, r64", "mov r64, r64", "mov r64, m64", "shl r64, imm8"};
    static const char *const code[] = {IMUL_RCX_RBX, MOV_RAX_RBX, LOAD_RAX, SHL_RAX};
    static const size_t bytes[] = {4, 3, 3, 4};
    const uint64_t seed = 2014;
    struct ip_random random = {seed};
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int run = 0; run < 60; run++) {
        struct ip_text text = {0}, body = {0};
        unsigned sets[4], counts[4] = {0};
        ip_text_append(&text, "isaprobe-sim 1\nissue-width 16\nports p0 p1 p2 p3 p4 p8 p9\n"
                              "form \"sub r64, imm8\" ports 1*p89\nform \"jnz *\" ports 1*p89\n");
        for (int f = 0; f < 4; f++) {
            sets[f] = 1 + (unsigned)ip_random_below(&random, 31);
            ip_text_printf(&text, "form \"%s\" latency 0 ports 1*p", forms[f]);
            for (unsigned p = 0; p < 5; p++) {
                if ((sets[f] >> p & 1) != 0) {
                    ip_text_printf(&text, "%u", p);
                }
            }
            ip_text_append(&text, "\n");
        }
        for (int i = 0; i < 24; i++) {
            unsigned f = (unsigned)ip_random_below(&random, 4);
            counts[f]++;
            ip_text_append_bytes(&body, code[f], bytes[f]);
        }
        double bound = 24.0 / 16;
        for (unsigned q = 1; q < 32; q++) {
            unsigned confined = 0;
            for (int f = 0; f < 4; f++) {
                confined += (sets[f] & ~q) == 0 ? counts[f] : 0;
            }
            bound = fmax(bound, (double)confined / __builtin_popcount(q));
        }
        struct machine machine;
        machine_init(&machine, ip_text_string(&text));
        double cycles =
            cycles_of(&machine, body.data, body.length, 8) - cycles_of(&machine, body.data, body.length, 4);
        if (cycles < 4 * bound - 1e-9 || cycles > 4 * bound * 1.05) {
            fail_msg("run %d: %.3f cycles, the closed form says %.3f:\n%s", run, cycles, 4 * bound,
                     ip_text_string(&text));
        }
        machine_fini(&machine);
        ip_text_fini(&text);
        ip_text_fini(&body);
    }
}

static void uneven_binding_costs_and_is_repeatable(void **state) {
    (void)state;
    struct machine even, uneven, counters;
#define MIX   "form \"imul r64, r64\" ports 1*p1 latency 1\nform \"mov r64, r64\" ports 1*p0156\n"
#define MIXED IMUL_RCX_RBX MOV_RAX_RBX MOV_RAX_RBX MOV_RAX_RBX
    machine_init(&even, CORE MIX);
    machine_init(&uneven, CORE "policy uneven 0.5\n" MIX);
    machine_init(&counters, CORE "policy counters\n" MIX);
    double best = BODY(&even, MIXED, 40), worse = BODY(&uneven, MIXED, 40);
    assert_near(best, 40, 1e-9);
    assert_near(BODY(&counters, MIXED, 40), 40, 2);
    assert_true(worse > best * 1.1 && worse < 2 * best);
    assert_true(worse == BODY(&uneven, MIXED, 40));
    machine_fini(&even);
    machine_fini(&uneven);
    machine_fini(&counters);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_chains),
        cmocka_unit_test(throughput_is_the_width_of_the_port_set),
        cmocka_unit_test(issue_width_limits_nops),
        cmocka_unit_test(retire_width_limits_too),
        cmocka_unit_test(unions_of_port_sets),
        cmocka_unit_test(pairs_have_their_own_latency),
        cmocka_unit_test(flags_are_two_things),
        cmocka_unit_test(elimination_and_idioms),
        cmocka_unit_test(contention_lengthens_chains),
        cmocka_unit_test(other_flags_carry_dependences),
        cmocka_unit_test(what_does_not_depend_does_not_wait),
        cmocka_unit_test(partial_writes_merge),
        cmocka_unit_test(memory_forwards),
        cmocka_unit_test(unpipelined_units),
        cmocka_unit_test(wide_vectors_close_ports),
        cmocka_unit_test(all_vectors_are_cleared),
        cmocka_unit_test(slots_of_one_cycle),
        cmocka_unit_test(the_front_end_runs_ahead),
        cmocka_unit_test(the_window_is_finite),
        cmocka_unit_test(pairs_can_fuse),
        cmocka_unit_test(what_does_not_run_says_why),
        cmocka_unit_test(prologue_need_not_be_listed),
        cmocka_unit_test(default_row_serves_the_rest),
        cmocka_unit_test(random_mixes_meet_the_closed_form),
        cmocka_unit_test(uneven_binding_costs_and_is_repeatable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
