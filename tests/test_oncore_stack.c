/* SPDX-License-Identifier: Apache-2.0 */
/* The stack in the on-core model: what PUSH and POP access, and what becomes of what they stored. */
#include "tests/oncore_table.h"

#define PUSH_14    "\x41\xff\x36"         /* push qword [r14] */
#define POP_14     "\x41\x8f\x06"         /* pop qword [r14] */
#define POP_SP_8   "\x8f\x44\x24\x08"     /* pop qword [rsp+8] */
#define LOAD_14    "\x49\x8b\x06"         /* mov rax, [r14] */
#define LOAD_SP_8  "\x48\x8b\x44\x24\x08" /* mov rax, [rsp+8] */
#define STORE_14   "\x49\x89\x06"         /* mov [r14], rax */
#define PUSH_AX    "\x50"                 /* push rax */
#define POP_AX     "\x58"                 /* pop rax */
#define STORE_SP_8 "\x48\x89\x44\x24\x08" /* mov [rsp+8], rax */
#define STORE_BX_8 "\x48\x89\x43\x08"     /* mov [rbx+8], rax */
#define LOAD_BX_40 "\x48\x8b\x43\x28"     /* mov rax, [rbx+40] */
#define SUB_SP_32  "\x48\x83\xec\x20"     /* sub rsp, 32 */
#define ADD_SP_32  "\x48\x83\xc4\x20"     /* add rsp, 32 */
#define SUB_BX_32  "\x48\x83\xeb\x20"     /* sub rbx, 32 */
#define ADD_BX_32  "\x48\x83\xc3\x20"     /* add rbx, 32 */
#define MOV_BP_SP  "\x48\x89\xe5"         /* mov rbp, rsp */
#define MOV_SP_BP  "\x48\x89\xec"         /* mov rsp, rbp */
#define IMUL_AX_CX "\x48\x0f\xaf\xc1"     /* imul rax, rcx */
#define PUSH_SP    "\x54"                 /* push rsp */
#define POP_SP     "\x5c"                 /* pop rsp */
#define ADD_SP_CX  "\x48\x01\xcc"         /* add rsp, rcx */
#define STOSQ      "\x48\xab"
#define PUSHFQ     "\x9c"
#define POPFQ      "\x9d"
#define CMP_A_B    "\x48\x39\xd8" /* cmp rax, rbx */
#define ADC_AX_CX  "\x48\x11\xc8" /* adc rax, rcx */
#define FS         "\x64"         /* before an instruction */
#define GS         "\x65"
#define PUSH_BP    "\x55"
#define RET_8      "\xc2\x08\x00"         /* ret 8 */
#define LOAD_BELOW "\x48\x8b\x44\x24\xf8" /* mov rax, [rsp-8] */
#define LEAVE      "\xc9"
#define IMUL_SP_SP "\x48\x0f\xaf\xe4" /* imul rsp, rsp */
#define IMUL_BP_BP "\x48\x0f\xaf\xed" /* imul rbp, rbp */
#define CALL       "\xe8\x00\x00\x00\x00"
#define RET        "\xc3"
#define JMP        "\xeb\x00"
#define POP_BX     "\x5b"
#define ADD_SP_8   "\x48\x83\xc4\x08" /* add rsp, 8 */

/* Additions and products of the small machine; a store gives a load its data in four cycles, a load takes
 * five. */
static void machine_make(struct core_costs *costs) {
    small_machine_make(costs);
    form_add(costs, BYTES(PUSH_AX), "1*p4+1*p7", 1, NAN);
    form_add(costs, BYTES(POP_AX), "1*p23", 1, 0);
    form_add(costs, BYTES(PUSH_14), "1*p23+1*p4+1*p7", 2, NAN);
    form_add(costs, BYTES(POP_14), "1*p23+1*p4+1*p7", 2, NAN);
    form_add(costs, BYTES(ADD_SP_8), "1*p015", 1, 1);
}

/* PUSH and POP of memory load from one place and store to another. */
static void test_two_places(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    /* Each is no chain through its own operand. */
    assert_near(chain(&costs, BYTES(PUSH_14 ADD_SP_8)), 1.0);
    assert_near(bound_in(&costs, BYTES(PUSH_14 ADD_SP_8), false, CORE_BOUND_SIMULATION), 1.0);
    assert_near(chain(&costs, BYTES(PUSH_AX POP_14)), 0.0);
    /* Both of them are, through two stores, with a product between or not. */
    assert_near(chain(&costs, BYTES(PUSH_14 POP_14)), 8.0);
    assert_near(chain(&costs, BYTES(PUSH_14 POP_AX IMUL_AX_BX STORE_14)), 11.0);
    assert_near(chain(&costs, BYTES(PUSH_AX POP_14 LOAD_14 IMUL_AX_BX)), 11.0);
    assert_about(bound_in(&costs, BYTES(PUSH_AX POP_14 LOAD_14 IMUL_AX_BX), false, CORE_BOUND_SIMULATION),
                 11.0);
    /* RSP has moved when it names the place that POP stores to. */
    assert_near(chain(&costs, BYTES(PUSH_AX POP_SP_8 LOAD_SP_8 IMUL_AX_BX)), 11.0);
    core_costs_fini(&costs);
}

/* Which writes of RSP keep what names a place by it the same name. */
static void test_writes(void **state) {
    (void)state;
    static const struct bytes added = BYTES(PUSH_AX SUB_SP_32 ADD_SP_32 POP_AX IMUL_AX_BX),
                              copied = BYTES(PUSH_AX MOV_BP_SP MOV_SP_BP POP_AX IMUL_AX_BX),
                              both = BYTES(PUSH_AX SUB_SP_32 MOV_BP_SP MOV_SP_BP ADD_SP_32 POP_AX IMUL_AX_BX),
                              other = BYTES(STORE_SP_8 SUB_BX_32 ADD_BX_32 LOAD_SP_8 IMUL_AX_CX),
                              by_bx = BYTES(STORE_BX_8 SUB_BX_32 LOAD_BX_40 ADD_BX_32 IMUL_AX_CX);
    struct core_costs costs;
    machine_make(&costs);
    parameter(&costs, "store_forward", 0);
    parameter(&costs, "store_forward_other", 1);
    parameter(&costs, "store_forward_long", 4);
    const struct {
        struct bytes code;
        double copies, loop, known_copies, known_loop;
    } cases[] = {
        {added, 7, 4, 3, 3}, /* as any write, as long as nothing is known */
        {copied, 7, 4, 7, 6}, {both, 7, 4, 7, 6}, {other, 3, 3, 3, 3}, {by_bx, 7, 4, 7, 4},
    };
    for (unsigned known = 0; known < 2; known++) {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            assert_near(bound_in(&costs, cases[i].code, false, CORE_BOUND_CHAIN),
                        known ? cases[i].known_copies : cases[i].copies);
            assert_near(bound_in(&costs, cases[i].code, true, CORE_BOUND_CHAIN),
                        known ? cases[i].known_loop : cases[i].loop);
        }
        parameter(&costs, "store_forward_added", 0);
        parameter(&costs, "store_forward_written", 3);
    }
    core_costs_fini(&costs);
}

/* What needs RSP itself behind PUSH waits for its sum; what only accesses memory by RDI leaves RSP alone. */
static void test_rsp(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    form_add(&costs, BYTES(ADD_SP_CX), "1*p015", 1, 1);
    parameter(&costs, "stack_sync", 1);
    assert_near(chain(&costs, BYTES(PUSH_AX ADD_SP_8)), 2.0);
    assert_near(chain(&costs, BYTES(PUSH_AX PUSH_SP ADD_SP_8)), 3.0); /* PUSH RSP stores the sum */
    assert_near(chain(&costs, BYTES(POP_SP)), 5.0);                   /* and POP RSP loads it ... */
    assert_near(bound_in(&costs, BYTES(POP_SP), false, CORE_BOUND_SIMULATION), 5.0);
    assert_near(chain(&costs, BYTES(POP_SP ADD_SP_8)), 6.0); /* ... so that it is there */
    assert_near(chain(&costs, BYTES(STOSQ ADD_SP_CX)), 1.0);
    assert_near(bound_in(&costs, BYTES(STOSQ ADD_SP_CX), false, CORE_BOUND_ISSUE), 0.5);
    core_costs_fini(&costs);
}

/* LEAVE has RSP from RBP, before it has loaded what is there: nothing waits for the old RSP. */
static void test_leave_alone(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    form_add(&costs, BYTES(LEAVE), "1*p23+1*p015", 2, NAN);
    form_add(&costs, BYTES(MOV_BP_SP), "1*p015", 1, 1);
    for (unsigned loop = 0; loop < 2; loop++) {
        assert_near(bound_in(&costs, BYTES(LEAVE), loop == 1, CORE_BOUND_CHAIN), 5.0);
        assert_near(bound_in(&costs, BYTES(IMUL_SP_SP LEAVE), loop == 1, CORE_BOUND_CHAIN), 5.0);
        assert_near(bound_in(&costs, BYTES(IMUL_BP_BP LEAVE), loop == 1, CORE_BOUND_CHAIN), 8.0);
        assert_near(bound_in(&costs, BYTES(IMUL_BP_BP LEAVE), loop == 1, CORE_BOUND_SIMULATION), 8.0);
        assert_near(bound_in(&costs, BYTES(LEAVE MOV_BP_SP), loop == 1, CORE_BOUND_CHAIN), 2.0);
        assert_true(bound_in(&costs, BYTES(PUSH_AX MOV_BP_SP LEAVE), loop == 1, CORE_BOUND_SIMULATION) < 3.0);
    }
    core_costs_fini(&costs);
}

/* A place in FS is none that the same registers name without it. */
static void test_segments(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    assert_near(chain(&costs, BYTES(STORE_14 LOAD_14 IMUL_AX_BX)), 7.0);
    assert_near(chain(&costs, BYTES(FS STORE_14 FS LOAD_14 IMUL_AX_BX)), 7.0);
    assert_near(chain(&costs, BYTES(FS STORE_14 LOAD_14 IMUL_AX_BX)), 0.0);
    assert_near(chain(&costs, BYTES(FS STORE_14 GS LOAD_14 IMUL_AX_BX)), 0.0);
    core_costs_fini(&costs);
}

/* PUSHF and POPF store and load where RSP points, and move it by a number that is known. */
static void test_flags(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    parameter(&costs, "store_forward_long", 7);
    form_add(&costs, BYTES(PUSHFQ), "1*p4+1*p7", 1, NAN);
    form_add(&costs, BYTES(POPFQ), "1*p23+1*p015", 2, 0);
    form_add(&costs, BYTES(ADC_AX_CX), "1*p015", 1, 1);
    assert_near(chain(&costs, BYTES(CMP_A_B PUSHFQ POP_AX)), 8.0);
    assert_near(chain(&costs, BYTES(PUSH_AX POPFQ ADC_AX_CX)), 8.0);
    /* What was stored before is found again above. */
    assert_near(chain(&costs, BYTES(PUSH_AX PUSHFQ LOAD_SP_8 IMUL_AX_BX ADD_SP_8 ADD_SP_8)), 7.0);
    /* Nor is RSP the data of PUSHF, which would need the sum. */
    parameter(&costs, "stack_sync", 1);
    struct core_prediction prediction = predict(&costs, BYTES(PUSHFQ POPFQ), false);
    assert_false(prediction.block.items[0].syncs || prediction.block.items[1].syncs);
    core_prediction_fini(&prediction);
    core_costs_fini(&costs);
}

/* LEAVE loads RBP from where that points to, and RSP is behind it, in a cycle. */
static void test_leave(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    parameter(&costs, "store_forward", 0);
    parameter(&costs, "store_forward_other", 2);
    parameter(&costs, "store_forward_long", 7);
    form_add(&costs, BYTES(MOV_BP_SP), "1*p015", 1, 1);
    form_add(&costs, BYTES(SUB_SP_32), "1*p015", 1, 1);
    form_add(&costs, BYTES(LEAVE), "1*p23", 3, NAN);
    form_add(&costs, BYTES(IMUL_BP_BP), "1*p1", 1, 3);
    /* from RSP to RBP and back; what was pushed is another name's place, and far in copies */
    assert_near(bound_in(&costs, BYTES(PUSH_BP MOV_BP_SP LEAVE), true, CORE_BOUND_CHAIN), 2.0);
    assert_near(bound_in(&costs, BYTES(PUSH_BP MOV_BP_SP LEAVE), false, CORE_BOUND_CHAIN), 7.0);
    assert_near(bound_in(&costs, BYTES(PUSH_BP MOV_BP_SP SUB_SP_32 LEAVE IMUL_BP_BP), true, CORE_BOUND_CHAIN),
                2.0 + 3.0);
    assert_about(
        bound_in(&costs, BYTES(PUSH_BP MOV_BP_SP SUB_SP_32 LEAVE IMUL_BP_BP), true, CORE_BOUND_SIMULATION),
        2.0 + 3.0);
    /* RSP does not wait for what is loaded, nor for what it was */
    assert_near(chain(&costs, BYTES(SUB_SP_32 LEAVE MOV_BP_SP SUB_SP_32)), 2.0);
    /* what was pushed below is found again */
    assert_near(chain(&costs, BYTES(PUSH_AX PUSH_BP MOV_BP_SP SUB_SP_32 LEAVE POP_AX IMUL_AX_BX)), 7.0 + 3.0);
    core_costs_fini(&costs);
}

/* Behind a CALL, or a RET that ends the block, RSP is what it was; a RET of the block returns from its CALL.
 */
static void test_calls(void **state) {
    (void)state;
    enum { PAIR = 6, JUMP = 2 };
    struct core_costs costs;
    machine_make(&costs);
    parameter(&costs, "taken_branch", 1);
    form_add(&costs, BYTES(CALL), "1*p4+1*p7", 1, NAN);
    form_add(&costs, BYTES(RET), "1*p23", 1, NAN);
    cost_of(&costs, BYTES(RET))->cycles = PAIR;
    form_add(&costs, BYTES(RET_8), "1*p23", 1, NAN);
    form_add(&costs, BYTES(JMP), "1*p5", 1, NAN);
    assert_near(chain(&costs, BYTES(PUSH_AX CALL POP_AX IMUL_AX_BX)), 7.0);
    assert_near(chain(&costs, BYTES(PUSH_AX CALL LOAD_SP_8 RET POP_BX IMUL_AX_BX)), 7.0);
    assert_near(chain(&costs, BYTES(POP_AX IMUL_AX_BX PUSH_AX RET)), 7.0);
    assert_near(chain(&costs, BYTES(PUSH_AX CALL RET_8 LOAD_BELOW IMUL_AX_BX)), 7.0);
    /* Each CALL and its RET, one of which may be elsewhere, take what RET was measured with. */
    assert_near(bound(&costs, BYTES(CALL), CORE_BOUND_UNIT), PAIR);
    assert_near(bound(&costs, BYTES(CALL CALL RET RET), CORE_BOUND_UNIT), 2 * PAIR);
    assert_near(bound(&costs, BYTES(RET CALL), CORE_BOUND_UNIT), 2 * PAIR);
    assert_near(bound_in(&costs, BYTES(CALL RET), true, CORE_BOUND_LOOP), PAIR + 1);
    cost_of(&costs, BYTES(JMP))->unit_cycles = JUMP;
    assert_near(bound_in(&costs, BYTES(CALL JMP RET), true, CORE_BOUND_LOOP), PAIR + 2 * JUMP);
    core_costs_fini(&costs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_places), cmocka_unit_test(test_writes),      cmocka_unit_test(test_rsp),
        cmocka_unit_test(test_segments),   cmocka_unit_test(test_flags),       cmocka_unit_test(test_leave),
        cmocka_unit_test(test_calls),      cmocka_unit_test(test_leave_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
