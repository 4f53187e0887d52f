/* SPDX-License-Identifier: Apache-2.0 */
/* What differs from core to core in the on-core model: parameters that `isaprobe core` measures. */
#include "oncore/cost_steps.h"
#include "tests/oncore_table.h"

#define MOV_CX_AX    "\x48\x89\xc1"             /* mov rcx, rax */
#define ADD_AX_CX    "\x48\x01\xc8"             /* add rax, rcx */
#define ADD_8_CX     "\x49\x01\xc8"             /* add r8, rcx */
#define ADD_9_CX     "\x49\x01\xc9"             /* add r9, rcx */
#define ADD_CX_BX    "\x48\x01\xd9"             /* add rcx, rbx */
#define MOV_8_AX     "\x49\x89\xc0"             /* mov r8, rax */
#define MOV_9_8      "\x4d\x89\xc1"             /* mov r9, r8 */
#define MOV_10_8     "\x4d\x89\xc2"             /* mov r10, r8 */
#define ADD_10_CX    "\x49\x01\xca"             /* add r10, rcx */
#define POPCNT_DX_SI "\xf3\x48\x0f\xb8\xd6"     /* popcnt rdx, rsi */
#define BT_AX_3      "\x48\x0f\xba\xe0\x03"     /* bt rax, 3 */
#define ADOX_AX_CX   "\xf3\x48\x0f\x38\xf6\xc1" /* adox rax, rcx */
#define CMOVZ_AX_CX  "\x48\x0f\x44\xc1"         /* cmovz rax, rcx */
#define CMOVB_AX_CX  "\x48\x0f\x42\xc1"         /* cmovb rax, rcx */
#define CMOVO_AX_CX  "\x48\x0f\x40\xc1"         /* cmovo rax, rcx */
#define ADOX_DX_CX   "\xf3\x48\x0f\x38\xf6\xd1" /* adox rdx, rcx */
#define ADD_M_1      "\x48\x83\x03\x01"         /* add qword [rbx], 1 */
#define LOAD_CX      "\x48\x8b\x0b"             /* mov rcx, [rbx] */
#define LOAD_DX      "\x48\x8b\x13"             /* mov rdx, [rbx] */
#define LOAD_DI_8    "\x48\x8b\x7b\x08"         /* mov rdi, [rbx+8] */
#define LOAD_BX      "\x48\x8b\x1b"             /* mov rbx, [rbx] */
#define STORE_0      "\x48\x89\x03"             /* mov [rbx], rax */
#define STORE_8      "\x48\x89\x43\x08"         /* mov [rbx+8], rax */
#define STORE_16     "\x48\x89\x43\x10"         /* mov [rbx+16], rax */
#define STORE_32     "\x48\x89\x43\x20"         /* mov [rbx+32], rax */
#define STORE_BX_SI  "\x48\x89\x1e"             /* mov [rsi], rbx */
#define LOAD_BX_SI   "\x48\x8b\x1e"             /* mov rbx, [rsi] */
#define LOAD_SI_BX   "\x48\x8b\x33"             /* mov rsi, [rbx] */
#define PUSH_BP      "\x55"                     /* push rbp */
#define SUB_SP_8     "\x48\x83\xec\x08"         /* sub rsp, 8 */
#define LOAD_SP      "\x48\x8b\x44\x24\x08"     /* mov rax, [rsp+8] */
#define LEA_SP       "\x48\x8d\x44\x24\x08"     /* lea rax, [rsp+8] */
#define LEA_SP_AX    "\x48\x8d\x0c\xc4"         /* lea rcx, [rsp+rax*8] */
#define NOP_4        "\x0f\x1f\x40\x00"         /* nop dword [rax] */
#define LOAD_AX_BX   "\x48\x8b\x03"             /* mov rax, [rbx] */
#define LOAD_AX_BX_4 "\x8b\x43\x04"             /* mov eax, [rbx+4] */
#define MOV_BX_BX    "\x48\x89\xdb"             /* mov rbx, rbx */
#define ADD_BX_16    "\x48\x83\xc3\x10"         /* add rbx, 16 */
#define OR_8_3       "\x80\x0b\x03"             /* or byte [rbx], 3 */
#define POP_BP       "\x5d"                     /* pop rbp */
#define PUSH_AX      "\x50"                     /* push rax */
#define POP_AX       "\x58"                     /* pop rax */
#define MOVD_AX_0    "\x66\x0f\x7e\xc0"         /* movd eax, xmm0 */
#define RORX_DX_SI   "\xc4\xe3\xfb\xf0\xd6\x03" /* rorx rdx, rsi, 3 */
#define RORX_DI_SI   "\xc4\xe3\xfb\xf0\xfe\x03" /* rorx rdi, rsi, 3 */
#define IMUL_DX_SI   "\x48\x6b\xd6\x03"         /* imul rdx, rsi, 3 */
#define CMP_DX_SI    "\x48\x39\xf2"             /* cmp rdx, rsi */
#define CMOVO_SI_CX  "\x48\x0f\x40\xf1"         /* cmovo rsi, rcx */
#define CMOVZ_SI_CX  "\x48\x0f\x44\xf1"         /* cmovz rsi, rcx */
#define SAR_DI_3     "\x48\xc1\xff\x03"         /* sar rdi, 3 */
#define SAR_DX_CL    "\x48\xd3\xfa"             /* sar rdx, cl */
#define SAR_DI_1     "\x48\xd1\xff"             /* sar rdi, 1 */
#define BT_DI_3      "\x48\x0f\xba\xe7\x03"     /* bt rdi, 3 */
#define BSF_DI_CX    "\x48\x0f\xbc\xf9"         /* bsf rdi, rcx */
#define IMUL_DI_CX   "\x48\x6b\xf9\x03"         /* imul rdi, rcx, 3 */
#define TEST_DX_DX   "\x48\x85\xd2"             /* test rdx, rdx */
#define CMP_AX_1     "\x83\xf8\x01"             /* cmp eax, 1 */
#define JNZ_ON       "\x75\x00"                 /* jnz to what follows */
#define JNZ_BACK     "\x75\xef"                 /* jnz to the first byte of 17 */
#define SBB_AX       "\x19\xc0"                 /* sbb eax, eax */
#define ADD_AX_1     "\x83\xc0\x01"             /* add eax, 1 */
#define MOVSD_1      "\xf2\x0f\x10\x4b\x08"     /* movsd xmm1, [rbx+8] */
#define UCOMISD_1_0  "\x66\x0f\x2e\xc8"         /* ucomisd xmm1, xmm0 */
#define LEA_NUMBER   "\x48\x8d\x40\x08"         /* lea rax, [rax+8] */
#define LEA_BASE     "\x48\x8d\x00"             /* lea rax, [rax] */
#define LEA_INDEX    "\x48\x8d\x04\x18"         /* lea rax, [rax+rbx] */
#define LEA_THREE    "\x48\x8d\x44\x18\x08"     /* lea rax, [rax+rbx+8] */
#define LEA_BP_BX    "\x48\x8d\x44\x1d\x00"     /* lea rax, [rbp+rbx]: with a number of zero */
#define LEA_13_BX    "\x49\x8d\x44\x1d\x00"     /* lea rax, [r13+rbx]: the same */
#define LEA_SCALED   "\x48\x8d\x04\x58"         /* lea rax, [rax+rbx*2] */

/* Ports 0 to 3 of additions, 4 to 6 of loads, 5 and 7 of stores. Moves are renamed. */
static void machine_make(struct core_costs *costs) {
    memset(costs, 0, sizeof *costs);
    parameter(costs, "issue_width", 6);
    parameter(costs, "load_base", 4);
    parameter(costs, "store_forward", 0);
    form_add(costs, BYTES(ADD_AX_CX), "1*p0123", 1, 1);
    form_add(costs, BYTES(MOV_8_AX), "none", 1, 0);
    form_add(costs, BYTES(STORE_0), "1*p57", 1, NAN);
    form_add(costs, BYTES(LOAD_CX), "1*p456", 1, 0);
    form_add(costs, BYTES(PUSH_BP), "1*p57", 1, NAN);
    form_add(costs, BYTES(SUB_SP_8), "1*p0123", 1, 1);
    form_add(costs, BYTES(CMP_AX_1), "1*p0123", 1, 1);
    form_add(costs, BYTES(SBB_AX), "1*p0123", 1, 1);
    form_add(costs, BYTES(ADD_AX_1), "1*p0123", 1, 1);
    form_add(costs, BYTES(NOP_4), "none", 1, NAN);
    struct core_term terms[CORE_TERMS_MAX];
    unsigned count = 0;
    struct ip_error err = {0};
    must(core_ports_parse(costs, "1*p456", terms, &count, &err), &err);
    costs->load_ports = terms[0].ports;
    must(core_ports_parse(costs, "1*p57", terms, &count, &err), &err);
    costs->store_ports = terms[0].ports;
}

/* All registers and memory begin with one number, as in `validate`. */
static double filled(struct core_costs *costs, struct bytes code, bool loop, enum core_bound which) {
    struct core_prediction prediction = {0};
    struct ip_error err = {0};
    const struct core_options options = {.loop = loop, .filled = true, .fill = 0x12345600};
    must(core_predict(costs, (const uint8_t *)code.data, code.length, &options, &prediction, &err), &err);
    double cycles = prediction.bounds[which];
    core_prediction_fini(&prediction);
    return cycles;
}

/* A port of both loads and stores is taken once by what loads and stores with one access of it. */
static void test_modified_memory(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    form_add(&costs, BYTES(ADD_M_1), "1*p5+1*p0123", 2, 1);
    assert_about(simulated(&costs, BYTES(ADD_M_1)), 1.0);
    core_costs_fini(&costs);
}

/* How many loads a cycle may begin in one place of a line. */
static void test_banks(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    assert_about(simulated(&costs, BYTES(LOAD_CX LOAD_DX LOAD_CX)), 1.0);
    parameter(&costs, "load_rate_stride", 2.02);
    assert_about(simulated(&costs, BYTES(LOAD_CX LOAD_DX LOAD_CX)), 1.5);
    assert_about(simulated(&costs, BYTES(LOAD_CX LOAD_DX LOAD_DI_8)), 1.0);
    core_costs_fini(&costs);
}

/* A load that its unit slows down, and a comparison that another one does: neither waits for the other's
 * turn. */
static void test_units(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    form_add(&costs, BYTES(MOVSD_1), "1*p456", 1, 4);
    form_add(&costs, BYTES(UCOMISD_1_0), "1*p89", 1, 3);
    struct core_cost *load = cost_of(&costs, BYTES(MOVSD_1)), *compare = cost_of(&costs, BYTES(UCOMISD_1_0));
    load->unit_cycles = 0.5;
    compare->unit_cycles = 1.0;
    compare->unit = CORE_UNIT_VECTOR;
    load->unit = CORE_UNIT_LOADS;
    assert_about(simulated(&costs, BYTES(MOVSD_1 UCOMISD_1_0)), 1.0);
    load->unit = CORE_UNIT_VECTOR; /* one unit for both is busy for both, and idle for nothing */
    assert_about(simulated(&costs, BYTES(MOVSD_1 UCOMISD_1_0)), 1.5);
    core_costs_fini(&costs);
}

/* What takes three in a cycle holds none up that can still begin in it: a chain beside two that begin with
 * each of its links, and come first, goes on as if it were alone. */
static void test_a_unit_that_takes_several(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    form_add(&costs, BYTES(IMUL_AX_BX), "1*p0123", 1, 3);
    struct core_cost *multiply = cost_of(&costs, BYTES(IMUL_AX_BX));
    multiply->unit = CORE_UNIT_SCALAR;
    multiply->unit_cycles = 1.0 / 3.0;
    assert_about(simulated(&costs, BYTES(MOV_CX_AX IMUL_CX_BX IMUL_AX_BX)), 3.0);
    assert_about(simulated(&costs, BYTES(MOV_CX_AX IMUL_CX_BX MOV_CX_AX IMUL_CX_BX IMUL_AX_BX)), 3.0);
    multiply->unit_cycles = 2.0;
    assert_about(simulated(&costs, BYTES(MOV_CX_AX IMUL_CX_BX IMUL_AX_BX)), 5.0);
    core_costs_fini(&costs);
}

/* As decoded, with the name that its address gives it. */
static const char *lea_name(const struct core_costs *costs, struct bytes code, struct isa_form *form) {
    struct isa_binding binding;
    size_t length = 0;
    struct ip_error err = {0};
    must(isa_decode((const uint8_t *)code.data, code.length, form, &binding, &length, &err), &err);
    core_lea_name(costs, form, &binding);
    return form->syntax;
}

/* What names RSP after PUSH moved it waits for that; LEA and MOV between registers do not. */
static void test_stack_sync(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    form_add(&costs, BYTES(LEA_SP), "1*p0123", 1, 1);
    assert_near(bound(&costs, BYTES(PUSH_BP SUB_SP_8), CORE_BOUND_CHAIN), 1.0);
    parameter(&costs, "stack_sync", 1.003);
    struct core_prediction p = predict(&costs, BYTES(PUSH_BP SUB_SP_8), false);
    assert_near(p.bounds[CORE_BOUND_CHAIN], 2.0);
    assert_about(p.bounds[CORE_BOUND_SIMULATION], 2.0);
    core_prediction_fini(&p);
    p = predict(&costs, BYTES(PUSH_BP SUB_SP_8 SUB_SP_8), false); /* once */
    assert_near(p.bounds[CORE_BOUND_CHAIN], 3.0);
    core_prediction_fini(&p);
    assert_near(bound(&costs, BYTES(SUB_SP_8 PUSH_BP), CORE_BOUND_CHAIN), 2.0); /* of the pass before */
    assert_near(bound(&costs, BYTES(PUSH_BP LOAD_SP LOAD_SP), CORE_BOUND_CHAIN), 1.0);
    p = predict(&costs, BYTES(PUSH_BP LOAD_SP), false);
    assert_near(p.bounds[CORE_BOUND_CHAIN], 1.0);
    double sum = 0.0;
    for (unsigned l = 0; l < p.chain_count; l++) {
        sum += p.chain[l].cycles;
    }
    assert_near(sum, 1.0); /* and the chain says where */
    core_prediction_fini(&p);
    assert_near(bound(&costs, BYTES(PUSH_BP LEA_SP), CORE_BOUND_CHAIN), 0.0);
    struct isa_form scaled;
    struct ip_error err = {0};
    assert_string_equal(lea_name(&costs, BYTES(LEA_SP_AX), &scaled), "lea r64, agen [scaled]");
    must(core_costs_add(&costs, &scaled, "1*p0123", 1, 1, &err), &err);
    assert_near(bound(&costs, BYTES(PUSH_BP LEA_SP_AX), CORE_BOUND_CHAIN), 1.0); /* it has an index */
    assert_near(bound(&costs, BYTES(SUB_SP_8 LOAD_SP), CORE_BOUND_CHAIN), 1.0);  /* nothing moved it */
    /* The sum takes a slot. */
    assert_near(bound(&costs, BYTES(PUSH_BP SUB_SP_8 PUSH_BP), CORE_BOUND_ISSUE), 4.0 / 6);
    assert_near(bound(&costs, BYTES(PUSH_BP LEA_SP PUSH_BP), CORE_BOUND_ISSUE), 3.0 / 6);
    /* Addresses do without, where the core says so. */
    parameter(&costs, "stack_sync_address", 0.6);
    assert_near(bound(&costs, BYTES(PUSH_BP LOAD_SP), CORE_BOUND_CHAIN), 1.0);
    parameter(&costs, "stack_sync_address", 0.04);
    assert_near(bound(&costs, BYTES(PUSH_BP LOAD_SP), CORE_BOUND_CHAIN), 0.0);
    assert_near(bound(&costs, BYTES(PUSH_BP LOAD_SP SUB_SP_8), CORE_BOUND_CHAIN), 2.0);
    core_costs_fini(&costs);
}

/* SBB of a register with itself waits for the flags, whatever it does not wait for. */
static void test_idiom_of_flags(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    cost_of(&costs, BYTES(SBB_AX))->same_breaks = cost_of(&costs, BYTES(SBB_AX))->same_eliminated = true;
    assert_near(bound(&costs, BYTES(CMP_AX_1 SBB_AX ADD_AX_1), CORE_BOUND_CHAIN), 3.0);
    assert_near(bound(&costs, BYTES(CMP_AX_1 SBB_AX ADD_AX_1), CORE_BOUND_PORTS), 0.75);
    assert_near(bound(&costs, BYTES(MOV_8_AX SBB_AX), CORE_BOUND_CHAIN), 1.0); /* its own flags */
    core_costs_fini(&costs);
}

/* Carry, overflow and the others are three; what has no defined value is not written. */
static void test_flags(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    form_add(&costs, BYTES(BT_AX_3), "1*p0123", 1, 1);
    form_add(&costs, BYTES(ADOX_AX_CX), "1*p0123", 1, 1);
    form_add(&costs, BYTES(CMOVZ_AX_CX), "1*p0123", 1, 1);
    form_add(&costs, BYTES(CMOVB_AX_CX), "1*p0123", 1, 1);
    form_add(&costs, BYTES(CMOVO_AX_CX), "1*p0123", 1, 1);
    assert_near(bound(&costs, BYTES(BT_AX_3 CMOVB_AX_CX), CORE_BOUND_CHAIN), 2.0);
    assert_near(bound(&costs, BYTES(BT_AX_3 CMOVZ_AX_CX), CORE_BOUND_CHAIN), 1.0); /* ZF is not BT's */
    assert_near(bound(&costs, BYTES(ADD_AX_CX CMOVZ_AX_CX), CORE_BOUND_CHAIN), 2.0);
    /* ADOX hands the overflow on, and waits for no carry. */
    assert_near(bound(&costs, BYTES(ADOX_AX_CX CMOVO_AX_CX), CORE_BOUND_CHAIN), 2.0);
    assert_near(bound(&costs, BYTES(BT_AX_3 ADOX_DX_CX CMOVO_AX_CX), CORE_BOUND_CHAIN), 1.0);
    assert_string_equal(core_resource_name(CORE_RESOURCE_OVERFLOW), "overflow");
    core_costs_fini(&costs);
}

/* The reorder buffer holds slots: what has four of them takes four entries. */
static void test_reorder_buffer(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    form_add(&costs, BYTES(POPCNT_DX_SI), "1*p0", 1, 40);
    cost_of(&costs, BYTES(ADD_AX_CX))->slots = 4.0;
    struct bytes block = BYTES(POPCNT_DX_SI ADD_AX_CX ADD_8_CX ADD_9_CX ADD_10_CX); /* 17 slots */
    assert_about(simulated(&costs, block), 17.0 / 6.0); /* all of it fits the default */
    parameter(&costs, "rob_slots", 17);
    double one = simulated(&costs, block);
    assert_true(one >= 40.0 && one <= 44.0); /* nothing of the next pass beside the long one */
    parameter(&costs, "rob_slots", 68);
    double four = simulated(&costs, block);
    assert_true(four >= 10.0 && four <= 11.0);
    parameter(&costs, "rob_slots", 3); /* fewer than an instruction has: it goes alone */
    assert_true(simulated(&costs, block) >= 40.0);
    core_costs_fini(&costs);
}

/* NOPs that share the slot of the instruction before them. */
static void test_nops(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    struct core_prediction p = predict(&costs, BYTES(MOV_8_AX NOP_4 MOV_9_8), false);
    assert_near(p.slots, 3.0);
    core_prediction_fini(&p);
    parameter(&costs, "nop_slots", 0);
    p = predict(&costs, BYTES(MOV_8_AX NOP_4 MOV_9_8), false);
    assert_near(p.slots, 2.0);
    core_prediction_fini(&p);
    p = predict(&costs, BYTES(MOV_8_AX NOP_4 NOP_4 MOV_9_8), false); /* the second has a slot of its own */
    assert_near(p.slots, 3.0);
    core_prediction_fini(&p);
    p = predict(&costs, BYTES(MOV_8_AX NOP_4 NOP_4 NOP_4), false); /* which the third one shares */
    assert_near(p.slots, 2.0);
    core_prediction_fini(&p);
    core_costs_fini(&costs);
}

/* A comparison and the jump that goes on take a port of the jump's, one that is taken one of those that taken
 * branches were seen to need, too; where the jump's are not known these. */
static void test_branch_ports(void **state) {
    (void)state;
    struct core_costs costs;
    struct core_term terms[CORE_TERMS_MAX];
    unsigned count = 0;
    struct ip_error err = {0};
    for (unsigned known = 0; known < 2; known++) {
        machine_make(&costs);
        if (known) {
            form_add(&costs, BYTES(JNZ_ON), "1*p38", 1, NAN);
        }
        must(core_ports_parse(&costs, "1*p23", terms, &count, &err), &err);
        costs.branch_ports = terms[0].ports;
        assert_near(
            bound(&costs, BYTES(ADD_AX_1 ADD_AX_1 ADD_AX_1 ADD_AX_1 CMP_AX_1 JNZ_ON), CORE_BOUND_PORTS),
            known ? 1.0 : 1.25);
        assert_near(bound(&costs, BYTES(CMP_AX_1 JNZ_ON CMP_AX_1 JNZ_ON), CORE_BOUND_PORTS), 1.0);
        assert_near(
            bound(&costs, BYTES(ADD_AX_1 ADD_AX_1 ADD_AX_1 ADD_AX_1 CMP_AX_1 JNZ_BACK), CORE_BOUND_PORTS),
            1.25);
        assert_near(
            bound(&costs, BYTES(MOV_8_AX MOV_8_AX MOV_8_AX MOV_8_AX CMP_AX_1 JNZ_BACK), CORE_BOUND_PORTS),
            known ? 1.0 : 0.5);
        core_costs_fini(&costs);
    }
}

/* Stores enter the cache one a cycle, or two to one block, or all in a row to one. */
static void test_commits(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    assert_about(simulated(&costs, BYTES(STORE_0 STORE_8)), 1.0); /* a line, as long as nothing is known */
    assert_about(simulated(&costs, BYTES(STORE_0 STORE_32)), 1.0);
    parameter(&costs, "store_pair_bytes", 32);
    assert_about(simulated(&costs, BYTES(STORE_0 STORE_8)), 1.0);
    assert_about(simulated(&costs, BYTES(STORE_0 STORE_32)), 2.0);
    assert_about(simulated(&costs, BYTES(STORE_0 STORE_8 STORE_16 STORE_32)), 3.0);
    parameter(&costs, "store_row", 1);
    assert_about(simulated(&costs, BYTES(STORE_0 STORE_8 STORE_16 STORE_32)), 2.0);
    assert_about(simulated(&costs, BYTES(STORE_0 STORE_8 LOAD_DX)), 1.0);
    parameter(&costs, "store_read", 1);
    assert_about(simulated(&costs, BYTES(STORE_0 STORE_8 LOAD_DX)), 2.0);
    /* One load that takes its data from one of four stores is no obstacle, two are for all of them; of one
     * for three it depends on whether it is a loop. */
    struct bytes third = BYTES(STORE_0 STORE_8 LOAD_DX STORE_32);
    struct bytes fourth = BYTES(STORE_0 STORE_8 STORE_16 STORE_32 LOAD_DX);
    struct bytes half = BYTES(STORE_0 STORE_8 LOAD_DX STORE_16 STORE_32 LOAD_DX);
    assert_about(filled(&costs, third, false, CORE_BOUND_SIMULATION), 2.0);
    assert_about(filled(&costs, third, true, CORE_BOUND_SIMULATION), 3.0);
    assert_about(filled(&costs, fourth, false, CORE_BOUND_SIMULATION), 2.0);
    assert_about(filled(&costs, fourth, true, CORE_BOUND_SIMULATION), 2.0);
    assert_about(filled(&costs, half, false, CORE_BOUND_SIMULATION), 4.0);
    assert_about(filled(&costs, half, true, CORE_BOUND_SIMULATION), 4.0);
    /* Read once, by the first pass; and by what changes it in memory. */
    assert_about(filled(&costs, BYTES(STORE_0 STORE_8 POP_BP), false, CORE_BOUND_SIMULATION), 1.0);
    form_add(&costs, BYTES(ADD_M_1), "1*p456+1*p0123+1*p57", 2, 1);
    assert_about(simulated(&costs, BYTES(STORE_16 ADD_M_1)), 1.0);
    core_costs_fini(&costs);
}

/* Where data is passed on sooner than a load takes, the load's address is not waited for. */
static void test_foretold(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    parameter(&costs, "store_forward_far", 5);
    struct bytes chase =
        BYTES(LOAD_SI_BX STORE_BX_SI LOAD_BX_SI); /* [rsi] gives rbx, by its address or not */
    assert_near(bound(&costs, chase, CORE_BOUND_CHAIN), 8.0);
    parameter(&costs, "store_forward_far", 1);
    assert_near(bound(&costs, chase, CORE_BOUND_CHAIN), 0.0);
    core_costs_fini(&costs);
}

/* Rename knows a place by the registers that name it, and learns of others in a loop; a part of what was
 * stored comes through the store buffer. */
static void test_names_of_places(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    form_add(&costs, BYTES(LOAD_AX_BX_4), "1*p456", 1, 0);
    form_add(&costs, BYTES(ADD_BX_16), "1*p0123", 1, 1);
    struct bytes same = BYTES(LOAD_AX_BX ADD_AX_CX STORE_0), other = BYTES(LOAD_AX ADD_AX_CX STORE_0);
    struct bytes anew = BYTES(LOAD_AX_BX ADD_AX_CX STORE_0 MOV_BX_BX);
    struct bytes part = BYTES(LOAD_AX_BX_4 ADD_AX_CX STORE_0);
    assert_near(filled(&costs, other, false, CORE_BOUND_CHAIN), 1.0); /* as long as nothing is known */
    parameter(&costs, "store_forward_other", 2);
    parameter(&costs, "store_forward_long", 6);
    for (unsigned loop = 0; loop < 2; loop++) {
        assert_near(filled(&costs, same, loop != 0, CORE_BOUND_CHAIN), 1.0);
        assert_about(filled(&costs, same, loop != 0, CORE_BOUND_SIMULATION), 1.0);
        assert_near(filled(&costs, other, loop != 0, CORE_BOUND_CHAIN), loop != 0 ? 3.0 : 7.0);
        assert_about(filled(&costs, other, loop != 0, CORE_BOUND_SIMULATION), loop != 0 ? 3.0 : 7.0);
        assert_near(filled(&costs, anew, loop != 0, CORE_BOUND_CHAIN), loop != 0 ? 3.0 : 7.0);
        assert_near(filled(&costs, part, loop != 0, CORE_BOUND_CHAIN), 7.0);
    }
    parameter(&costs, "store_forward_long", 6.6); /* six or seven */
    assert_near(filled(&costs, other, false, CORE_BOUND_CHAIN), 7.6);
    assert_about(filled(&costs, other, false, CORE_BOUND_SIMULATION), 7.6);
    parameter(&costs, "store_forward_long", 6.04); /* six */
    assert_about(filled(&costs, other, false, CORE_BOUND_SIMULATION), 7.0);
    /* PUSH and POP move RSP, and decode knows by how much. */
    assert_near(filled(&costs, BYTES(PUSH_AX POP_AX ADD_AX_CX), false, CORE_BOUND_CHAIN), 1.0);
    /* An addition to memory may have its data as soon as a load would. */
    form_add(&costs, BYTES(ADD_M_1), "1*p456+1*p0123+1*p57", 2, 1);
    struct bytes changed = BYTES(ADD_M_1 MOV_BX_BX), unchanged = BYTES(ADD_M_1);
    for (unsigned known = 0; known < 2; known++) {
        assert_near(filled(&costs, changed, false, CORE_BOUND_CHAIN), known != 0 ? 6.0 : 7.04);
        assert_about(filled(&costs, changed, false, CORE_BOUND_SIMULATION), known != 0 ? 6.0 : 7.0);
        assert_near(filled(&costs, changed, true, CORE_BOUND_CHAIN), 3.0); /* learned */
        assert_near(filled(&costs, unchanged, false, CORE_BOUND_CHAIN), 1.0);
        assert_near(filled(&costs, other, false, CORE_BOUND_CHAIN), 7.04);
        parameter(&costs, "store_forward_changed", 6);
    }
    core_costs_fini(&costs);
}

/* Of as many pairs of store and load as the core remembers the values are passed on at rename; in longer
 * loops and in straight code they go through the store buffer, by whatever name. */
static void test_pairs_that_are_remembered(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    struct bytes same = BYTES(LOAD_AX_BX ADD_AX_CX STORE_0);
    struct bytes two = BYTES(LOAD_AX_BX ADD_AX_CX STORE_0 LOAD_AX_BX ADD_AX_CX STORE_0);
    parameter(&costs, "store_forward", 0);
    parameter(&costs, "store_forward_other", 0);
    parameter(&costs, "store_forward_many", 5);
    parameter(&costs, "store_forward_long", 6);
    assert_near(filled(&costs, same, true, CORE_BOUND_CHAIN), 1.0);
    assert_about(filled(&costs, same, true, CORE_BOUND_SIMULATION), 1.0);
    assert_near(filled(&costs, same, false, CORE_BOUND_CHAIN), 6.0);
    assert_about(filled(&costs, same, false, CORE_BOUND_SIMULATION), 6.0);
    assert_near(filled(&costs, two, true, CORE_BOUND_CHAIN), 2.0); /* as long as nothing is known */
    /* By RSP they are found by name, if numbers that are added to it make no difference. */
    assert_near(filled(&costs, BYTES(PUSH_AX POP_AX ADD_AX_CX), false, CORE_BOUND_CHAIN), 6.0);
    parameter(&costs, "store_forward_added", 0);
    assert_near(filled(&costs, BYTES(PUSH_AX POP_AX ADD_AX_CX), false, CORE_BOUND_CHAIN), 1.0);
    parameter(&costs, "store_forward_pairs", 1);
    assert_near(filled(&costs, same, true, CORE_BOUND_CHAIN), 1.0);
    assert_near(filled(&costs, two, true, CORE_BOUND_CHAIN), 12.0);
    assert_about(filled(&costs, two, true, CORE_BOUND_SIMULATION), 12.0);
    core_costs_fini(&costs);
}

/* What was stored by an earlier pass than the one before is no chain from pass to pass. */
static void test_stored_once(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    parameter(&costs, "store_forward", 4);
    form_add(&costs, BYTES(ADD_BX_16), "1*p0123", 1, 1);
    struct bytes away = BYTES(LOAD_AX ADD_AX_CX STORE_0 ADD_BX_16);
    assert_near(filled(&costs, away, false, CORE_BOUND_CHAIN), 1.0); /* of RBX */
    assert_near(filled(&costs, BYTES(LOAD_AX ADD_AX_CX STORE_0), false, CORE_BOUND_CHAIN), 5.0);
    core_costs_fini(&costs);
}

/* Bytes changed in memory go their own way through it, as they were measured; quadwords with a number beside
 * them are renamed. */
static void test_bytes_changed(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    form_add(&costs, BYTES(OR_8_3), "1*p456+1*p0123+1*p57", 2, 1);
    form_add(&costs, BYTES(ADD_M_1), "1*p456+1*p0123+1*p57", 2, 1);
    cost_of(&costs, BYTES(OR_8_3))->modifies = cost_of(&costs, BYTES(ADD_M_1))->modifies = 6.0;
    assert_near(bound(&costs, BYTES(OR_8_3), CORE_BOUND_CHAIN), 6.0);
    assert_near(bound(&costs, BYTES(ADD_M_1), CORE_BOUND_CHAIN), 1.0);
    /* Not what takes longer than the store buffer: BTS of a Zen 5. */
    cost_of(&costs, BYTES(ADD_M_1))->modifies = 9.0;
    parameter(&costs, "store_forward_far", 7);
    assert_near(bound(&costs, BYTES(ADD_M_1), CORE_BOUND_CHAIN), 9.0);
    parameter(&costs, "store_forward_changed", 9);
    assert_near(bound(&costs, BYTES(ADD_M_1), CORE_BOUND_CHAIN), 1.0);
    core_costs_fini(&costs);
}

/* Ports that are given in turn: an operation in the way of the chain, with two of them a link, not with
 * three. */
static void test_turns(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    struct bytes two = BYTES(ADD_AX_CX MOV_8_AX ADD_8_CX MOV_9_8 ADD_9_CX);
    struct bytes three = BYTES(ADD_AX_CX MOV_8_AX ADD_8_CX MOV_9_8 MOV_10_8 ADD_9_CX ADD_10_CX);
    double counted = simulated(&costs, three);
    /* Accesses, too: a chain of loads waits for stores that were given its port. */
    struct bytes accesses = BYTES(LOAD_BX LOAD_CX LOAD_CX PUSH_BP PUSH_BP PUSH_BP PUSH_BP);
    assert_about(simulated(&costs, accesses), 4.0);
    parameter(&costs, "ports_in_turn", 1);
    assert_true(simulated(&costs, accesses) > 4.3);
    assert_true(simulated(&costs, two) > 1.2);
    assert_true(simulated(&costs, three) < 1.2);
    assert_true(counted > simulated(&costs, three) + 0.1);
    /* What may go to two ports only would overload them: full queues turn others away. */
    form_add(&costs, BYTES(POPCNT_DX_SI), "1*p03", 1, 3);
    assert_about(simulated(&costs, BYTES(ADD_AX_CX ADD_8_CX ADD_9_CX ADD_10_CX POPCNT_DX_SI)), 1.25);
    /* What is ready, and waits for room among those that wait for a chain, begins when it has come in. */
    form_add(&costs, BYTES(BT_AX_3), "1*p0", 1, 1);
    assert_about(simulated(&costs, BYTES(LOAD_BX LOAD_BX ADD_CX_BX BT_AX_3)), 8.0);
    core_costs_fini(&costs);
}

/* A flag that an instruction leaves without a defined value is the one before it, but for shifts and some
 * others. */
static void test_undefined_flags(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    form_add(&costs, BYTES(IMUL_DX_SI), "1*p0", 1, 3);
    form_add(&costs, BYTES(CMOVO_SI_CX), "1*p12", 1, 1);
    form_add(&costs, BYTES(CMOVZ_SI_CX), "1*p12", 1, 1);
    form_add(&costs, BYTES(SAR_DI_3), "1*p03", 1, 1);
    form_add(&costs, BYTES(SAR_DI_1), "1*p03", 1, 1);
    form_add(&costs, BYTES(SAR_DX_CL), "1*p03", 1, 1);
    form_add(&costs, BYTES(BT_DI_3), "1*p03", 1, 1);
    form_add(&costs, BYTES(BSF_DI_CX), "1*p0", 1, 1);
    form_add(&costs, BYTES(TEST_DX_DX), "1*p0123", 1, 1);
    assert_near(bound(&costs, BYTES(IMUL_DX_SI CMOVO_SI_CX), CORE_BOUND_CHAIN), 4.0);
    assert_near(bound(&costs, BYTES(IMUL_DX_SI BT_DI_3 CMOVO_SI_CX), CORE_BOUND_CHAIN), 4.0);
    assert_near(bound(&costs, BYTES(IMUL_DX_SI SAR_DI_3 CMOVO_SI_CX), CORE_BOUND_CHAIN), 1.0);
    assert_near(bound(&costs, BYTES(IMUL_DX_SI SAR_DI_1 CMOVO_SI_CX), CORE_BOUND_CHAIN), 1.0);
    assert_near(bound(&costs, BYTES(IMUL_DX_SI SAR_DX_CL CMOVO_SI_CX), CORE_BOUND_CHAIN), 5.0);
    assert_near(bound(&costs, BYTES(IMUL_DX_SI BSF_DI_CX CMOVO_SI_CX), CORE_BOUND_CHAIN), 1.0);
    assert_near(bound(&costs, BYTES(IMUL_DX_SI TEST_DX_DX IMUL_DI_CX CMOVZ_SI_CX), CORE_BOUND_CHAIN), 5.0);
    core_costs_fini(&costs);
}

/* A vector unit's result takes the way of general results: of two ports, and of all for what could go to any
 * of them; not of what has no result in a general register, or one that comes later. */
static void test_results(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    form_add(&costs, BYTES(MOVD_AX_0), "2*p03", 1, 3);
    form_add(&costs, BYTES(RORX_DX_SI), "1*p03", 1, 1);
    form_add(&costs, BYTES(IMUL_DX_SI), "1*p0", 1, 3);
    form_add(&costs, BYTES(CMP_DX_SI), "1*p03", 1, 1);
    form_add(&costs, BYTES(CMOVZ_AX_CX), "1*p12", 1, 1);
    struct bytes adds = BYTES(MOVD_AX_0 ADD_8_CX ADD_9_CX ADD_10_CX ADD_8_CX);
    assert_near(bound(&costs, BYTES(MOVD_AX_0 RORX_DX_SI RORX_DI_SI), CORE_BOUND_PORTS), 2.0);
    assert_near(bound(&costs, BYTES(MOVD_AX_0 CMP_DX_SI CMP_DX_SI), CORE_BOUND_PORTS), 2.0); /* ports */
    assert_near(bound(&costs, adds, CORE_BOUND_PORTS), 1.5);
    struct core_term *term = &cost_of(&costs, BYTES(MOVD_AX_0))->terms[0];
    struct core_term any[CORE_TERMS_MAX];
    unsigned count = 0;
    struct ip_error err = {0};
    must(core_ports_parse(&costs, "1*p0123", any, &count, &err), &err);
    term->results_of = any[0].ports;
    assert_near(bound(&costs, BYTES(MOVD_AX_0 RORX_DX_SI RORX_DI_SI), CORE_BOUND_PORTS), 2.0);
    assert_about(simulated(&costs, BYTES(MOVD_AX_0 RORX_DX_SI RORX_DI_SI)), 2.0);
    assert_near(bound(&costs, BYTES(MOVD_AX_0 CMP_DX_SI CMP_DX_SI), CORE_BOUND_PORTS), 1.0);
    assert_about(simulated(&costs, BYTES(MOVD_AX_0 CMP_DX_SI CMP_DX_SI)), 1.0);
    assert_near(bound(&costs, BYTES(MOVD_AX_0 IMUL_DX_SI), CORE_BOUND_PORTS), 1.0);
    assert_about(simulated(&costs, BYTES(MOVD_AX_0 IMUL_DX_SI)), 1.0);
    assert_near(bound(&costs, BYTES(MOVD_AX_0 CMOVZ_AX_CX CMOVZ_AX_CX), CORE_BOUND_PORTS), 1.0);
    assert_near(bound(&costs, adds, CORE_BOUND_PORTS), 2.0);
    core_costs_fini(&costs);
}

/* What stands for a memory operand is of the file that its data goes to. */
static void test_twins(void **state) {
    (void)state;
    static const struct {
        struct bytes code;
        const char *twin;
    } cases[] = {{BYTES("\x48\x03\x03"), "add r64, r64"},
                 {BYTES("\xf2\x0f\x2d\x03"), "cvtsd2si r32, xmm"},
                 {BYTES("\xc5\xf9\xfe\x03"), "vpaddd xmm, xmm, xmm"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_form form;
        size_t length = 0;
        struct ip_error err = {0};
        char twin[ISA_SYNTAX_MAX];
        must(
            isa_decode((const uint8_t *)cases[i].code.data, cases[i].code.length, &form, NULL, &length, &err),
            &err);
        assert_true(core_twin_syntax(&form, twin));
        assert_string_equal(twin, cases[i].twin);
    }
}

/* An index makes a load longer, where the core was asked: of two registers alone by less. */
static void test_index(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    struct bytes plain = BYTES("\x48\x8b\x1b"),
                 scaled = BYTES("\x48\x8b\x1c\xc3");           /* rbx, [rbx], [rbx+rax*8] */
    struct bytes sum = BYTES("\x48\x8b\x1c\x03");              /* [rbx+rax] */
    struct bytes three = BYTES("\x48\x8b\x5c\x03\x08");        /* [rbx+rax+8] */
    struct bytes encoded = BYTES("\x48\x8b\x6c\x05\x00");      /* rbp, [rbp+rax] */
    assert_near(bound(&costs, scaled, CORE_BOUND_CHAIN), 4.0); /* not known */
    parameter(&costs, "load_index", 4.996);
    parameter(&costs, "load_index_unscaled", 4.004);
    assert_near(bound(&costs, plain, CORE_BOUND_CHAIN), 4.0);
    assert_near(bound(&costs, scaled, CORE_BOUND_CHAIN), 5.0);
    assert_about(simulated(&costs, scaled), 5.0);
    assert_near(bound(&costs, sum, CORE_BOUND_CHAIN), 4.0);
    assert_about(simulated(&costs, sum), 4.0);
    assert_near(bound(&costs, three, CORE_BOUND_CHAIN), 5.0);
    assert_near(bound(&costs, encoded, CORE_BOUND_CHAIN), 5.0);
    parameter(&costs, "load_index_unscaled", 5);
    assert_near(bound(&costs, sum, CORE_BOUND_CHAIN), 5.0);
    core_costs_fini(&costs);
}

/* What multiplies tiles waits for the sum that it adds to. */
static void test_tiles(void **state) {
    (void)state;
    struct core_costs costs;
    small_machine_make(&costs);
#define TDP_0_1_2 "\xc4\xe2\x6a\x5c\xc1" /* tdpbf16ps tmm0, tmm1, tmm2 */
#define TDP_3_1_2 "\xc4\xe2\x6a\x5c\xd9" /* tdpbf16ps tmm3, tmm1, tmm2 */
    form_add(&costs, BYTES(TDP_0_1_2), "1*p0", 1, 52);
    assert_near(bound(&costs, BYTES(TDP_0_1_2), CORE_BOUND_CHAIN), 52.0);
    assert_about(simulated(&costs, BYTES(TDP_0_1_2)), 52.0);
    assert_about(simulated(&costs, BYTES(TDP_0_1_2 TDP_3_1_2)), 52.0);
    assert_about(simulated(&costs, BYTES(TDP_0_1_2 TDP_0_1_2)), 104.0);
    assert_string_equal(core_resource_name(CORE_RESOURCE_TILE + 3), "tmm3");
    core_costs_fini(&costs);
}

/* Latencies hold that a form's own uops share ports; what others do there does not belong to them. */
static void test_own_uops(void **state) {
    (void)state;
    struct core_costs costs;
    small_machine_make(&costs);
    form_add(&costs, BYTES(IMUL_AX_BX), "2*p1", 2, 3);
    assert_about(simulated(&costs, BYTES(IMUL_AX_BX)), 3.0);
    form_add(&costs, BYTES(IMUL_AX_BX), "4*p15", 4, 3);
    assert_about(simulated(&costs, BYTES(IMUL_AX_BX)), 3.0);
    form_add(&costs, BYTES(IMUL_AX_BX), "4*p1", 4, 3);
    assert_about(simulated(&costs, BYTES(IMUL_AX_BX)), 4.0);
    core_costs_fini(&costs);
}

/* Kinds of LEA are told apart where the core was asked about them. */
static void test_lea(void **state) {
    (void)state;
    struct core_costs costs;
    struct isa_form form;
    machine_make(&costs);
    assert_string_equal(lea_name(&costs, BYTES(LEA_NUMBER), &form), "lea r64, agen");
    assert_string_equal(lea_name(&costs, BYTES(LEA_THREE), &form), "lea r64, agen [index]");
    parameter(&costs, "lea_three", 2);
    parameter(&costs, "lea_displacement", 1);
    assert_string_equal(lea_name(&costs, BYTES(LEA_BASE), &form), "lea r64, agen");
    assert_string_equal(lea_name(&costs, BYTES(LEA_INDEX), &form), "lea r64, agen [index]");
    assert_string_equal(lea_name(&costs, BYTES(LEA_SCALED), &form), "lea r64, agen [scaled]");
    assert_string_equal(lea_name(&costs, BYTES(LEA_THREE), &form), "lea r64, agen [three]");
    assert_string_equal(lea_name(&costs, BYTES(LEA_BP_BX), &form), "lea r64, agen [three]");
    assert_string_equal(lea_name(&costs, BYTES(LEA_13_BX), &form), "lea r64, agen [three]");
    struct bytes no_base = BYTES("\x48\x8d\x04\x5d\x08\x00\x00\x00"); /* lea rax, [rbx*2+8] */
    assert_string_equal(lea_name(&costs, no_base, &form), "lea r64, agen [scaled]");
    assert_string_equal(lea_name(&costs, BYTES(LEA_NUMBER), &form), "lea r64, agen [displaced]");
    /* A number of zero that is encoded is one. */
    assert_string_equal(lea_name(&costs, BYTES("\x48\x8d\x40\x00"), &form), "lea r64, agen [displaced]");
    assert_string_equal(lea_name(&costs, BYTES("\x48\x8d\x45\x00"), &form), "lea r64, agen [displaced]");
    assert_string_equal(lea_name(&costs, BYTES("\x48\x8d\x44\x18\x00"), &form), "lea r64, agen [three]");
    assert_string_equal(lea_name(&costs, BYTES("\x48\x8d\x84\x18\0\0\0\0"), &form), "lea r64, agen [three]");
    lea_name(&costs, BYTES(LEA_NUMBER), &form);
    /* Done at rename: no port. (Else the store is asked for the ports of an addition: tests/cli/predict.sh.)
     */
    parameter(&costs, "lea_displacement", 0.17);
    struct core_cost cost = {.form = form, .eliminated = -1.0, .unit = -1};
    struct ip_error err = {0};
    bool done = false;
    must(core_lea_fill(&costs, &cost, &done, &err), &err);
    assert_true(done && cost.known);
    assert_true(cost.eliminated >= 0.0 && cost.term_count == 0);
    core_costs_fini(&costs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modified_memory), cmocka_unit_test(test_banks),
        cmocka_unit_test(test_units),           cmocka_unit_test(test_a_unit_that_takes_several),
        cmocka_unit_test(test_stack_sync),      cmocka_unit_test(test_idiom_of_flags),
        cmocka_unit_test(test_flags),           cmocka_unit_test(test_nops),
        cmocka_unit_test(test_branch_ports),    cmocka_unit_test(test_commits),
        cmocka_unit_test(test_foretold),        cmocka_unit_test(test_pairs_that_are_remembered),
        cmocka_unit_test(test_names_of_places), cmocka_unit_test(test_stored_once),
        cmocka_unit_test(test_bytes_changed),   cmocka_unit_test(test_reorder_buffer),
        cmocka_unit_test(test_turns),           cmocka_unit_test(test_undefined_flags),
        cmocka_unit_test(test_results),         cmocka_unit_test(test_twins),
        cmocka_unit_test(test_index),           cmocka_unit_test(test_own_uops),
        cmocka_unit_test(test_tiles),           cmocka_unit_test(test_lea),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
