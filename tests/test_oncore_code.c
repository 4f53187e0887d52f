/* SPDX-License-Identifier: Apache-2.0 */
/* What code costs before it issues: lines of it, and moves that the operation behind them takes along. */
#include "tests/oncore_table.h"

#include "oncore/line.h"

#define TIMES_4(text)  text text text text
#define TIMES_9(text)  TIMES_4(text) TIMES_4(text) text
#define TIMES_12(text) TIMES_4(text) TIMES_4(text) TIMES_4(text)
#define CMP_MEM_0      "\x80\xbb\x00\x01\x00\x00\x00" /* cmp byte [rbx+0x100], 0 */
#define CMP_AX_0       "\x48\x83\xf8\x00"             /* cmp rax, 0 */
#define CMP_AX_1       "\x48\x83\xf8\x01"             /* cmp rax, 1 */
#define ADD_CX_0       "\x48\x83\xc1\x00"             /* add rcx, 0 */
#define ADD_CX_5       "\x48\x83\xc1\x05"             /* add rcx, 5 */
#define ADD_AX_8       "\x48\x83\xc0\x08"             /* add rax, 8 */
#define THREE_NOPS     NOP_MEM NOP_MEM NOP_MEM
#define NOP_MEM        "\x0f\x1f\x40\x08"                         /* nop dword [rax+8] */
#define MOV_CX_64      "\x48\xb9\x01\x02\x03\x04\x05\x06\x07\x08" /* mov rcx, 0x0807060504030201 */
#define MOV_CX_DI      "\x48\x89\xf9"                             /* mov rcx, rdi */
#define ADD_CX_SI      "\x48\x01\xf1"                             /* add rcx, rsi */

/* Entries of four instructions: up to two that begin in a line take a cycle, three five, four six. */
static void lines_make(struct core_costs *costs, bool across) {
    small_machine_make(costs);
    form_add(costs, BYTES(CMP_MEM_0), "1*p015+1*p23", 1.0, 1.0);
    form_add(costs, BYTES(CMP_AX_0), "1*p015", 1.0, 1.0);
    form_add(costs, BYTES(NOP_MEM), "none", 1.0, NAN);
    form_add(costs, BYTES(MOV_CX_64), "1*p015", 1.0, 1.0);
    form_add(costs, BYTES(ADD_AX_8), "1*p015", 1.0, 1.0);
    form_add(costs, BYTES(JNZ_HERE), "1*p0", 1.0, 0.0);
    costs->entries = (struct probe_entries){.size = 4, .across = across, .cycles = {1, 1, 1, 5, 6}};
}

/* A loop begins with a line. */
static void test_lines_of_loops(void **state) {
    (void)state;
    for (int across = 0; across < 2; across++) {
        struct core_costs costs;
        lines_make(&costs, across);
        assert_near(
            bound_in(&costs, BYTES(TIMES_4(ADD_AX_BX) TIMES_4(ADD_AX_BX)), true, CORE_BOUND_UOP_CACHE), 1);
        assert_near(bound_in(&costs, BYTES(TIMES_4(ADD_AX_BX) TIMES_4(ADD_AX_BX) ADD_AX_BX), true,
                             CORE_BOUND_UOP_CACHE),
                    5);
        assert_near(bound_in(&costs, BYTES(TIMES_12(ADD_AX_BX)), true, CORE_BOUND_UOP_CACHE), 5);
        assert_near(bound_in(&costs, BYTES(TIMES_12(ADD_AX_BX) ADD_AX_BX), true, CORE_BOUND_UOP_CACHE), 6);
        /* Ten in the first line, three of them in its third entry, and four in the next: one of these fills
         * that entry, where it goes on. A line in which no entry begins is there all the same. */
        assert_near(bound_in(&costs, BYTES(TIMES_9(CMP_MEM_0) CMP_MEM_0 TIMES_4(ADD_AX_BX)), true,
                             CORE_BOUND_UOP_CACHE),
                    6);
        assert_near(bound_in(&costs, BYTES(TIMES_9(CMP_MEM_0) CMP_MEM_0 ADD_AX_BX ADD_AX_BX), true,
                             CORE_BOUND_UOP_CACHE),
                    6);
        /* A branch that ends in the next line is looked for there; one that ends with a line is not. */
        assert_near(bound_in(&costs, BYTES(TIMES_9(CMP_MEM_0) CMP_MEM_0), true, CORE_BOUND_UOP_CACHE), 6);
        assert_near(bound_in(&costs, BYTES(TIMES_12(ADD_AX_8) TIMES_4(ADD_AX_8)), true, CORE_BOUND_UOP_CACHE),
                    6);
        costs.entries.cycles[1] = 3;
        assert_near(bound_in(&costs, BYTES(TIMES_9(CMP_MEM_0) CMP_MEM_0 ADD_AX_BX ADD_AX_BX), true,
                             CORE_BOUND_UOP_CACHE),
                    across ? 6 : 8);
        core_costs_fini(&costs);
    }
}

/* Copies in a row. */
static void test_lines_of_copies(void **state) {
    (void)state;
    struct core_costs costs;
    lines_make(&costs, true);
    /* Sixteen of four bytes in a line are four entries. Of three bytes 64 begin in three lines: at every
     * fourth an entry, six, five and five of them. */
    costs.entries.cycles[5] = costs.entries.cycles[6] = 6;
    assert_near(bound_in(&costs, BYTES(ADD_AX_8), false, CORE_BOUND_UOP_CACHE), 6.0 / 16);
    assert_near(bound_in(&costs, BYTES(ADD_AX_BX), false, CORE_BOUND_UOP_CACHE), 3 * 6.0 / 64);
    costs.entries.cycles[6] = 9;
    assert_near(bound_in(&costs, BYTES(ADD_AX_BX), false, CORE_BOUND_UOP_CACHE), (6.0 + 6.0 + 9.0) / 64);
    costs.entries.size = 0;
    assert_true(isnan(bound_in(&costs, BYTES(ADD_AX_8), false, CORE_BOUND_UOP_CACHE)));
    core_costs_fini(&costs);
}

/* Displacements and immediates count where they were seen to. */
static void test_constants_in_lines(void **state) {
    (void)state;
    struct core_costs costs;
    lines_make(&costs, true);
    struct bytes four = BYTES(TIMES_4(CMP_MEM_0)), five = BYTES(TIMES_4(CMP_MEM_0) CMP_MEM_0);
    assert_near(bound_in(&costs, five, true, CORE_BOUND_UOP_CACHE), 1);
    parameter(&costs, "line_constants", 1);
    assert_near(bound_in(&costs, four, true, CORE_BOUND_UOP_CACHE), 1);
    assert_near(bound_in(&costs, five, true, CORE_BOUND_UOP_CACHE), 5);
    /* A comparison and its jump are one instruction, with the constants of both. */
    struct bytes pairs = BYTES(TIMES_4(CMP_AX_0 JNZ_HERE) CMP_AX_0 JNZ_HERE);
    parameter(&costs, "fuse cmp r64, imm8 + jnz rel8", 1);
    assert_near(bound_in(&costs, pairs, true, CORE_BOUND_UOP_CACHE), 5);
    parameter(&costs, "line_constants", 0);
    assert_near(bound_in(&costs, pairs, true, CORE_BOUND_UOP_CACHE), 1);
    /* A NOP's are not held, those of 64 bits count twice. */
    parameter(&costs, "line_constants", 1);
    assert_near(
        bound_in(&costs, BYTES(THREE_NOPS CMP_MEM_0 THREE_NOPS CMP_MEM_0), true, CORE_BOUND_UOP_CACHE), 1);
    assert_near(bound_in(&costs, BYTES(ADD_AX_8 ADD_AX_8 ADD_AX_8 CMP_MEM_0 TIMES_4(ADD_AX_8)), true,
                         CORE_BOUND_UOP_CACHE),
                5);
    assert_near(bound_in(&costs, BYTES(MOV_CX_64 MOV_CX_64 MOV_CX_64 MOV_CX_64), true, CORE_BOUND_UOP_CACHE),
                1);
    assert_near(bound_in(&costs, BYTES(MOV_CX_64 MOV_CX_64 MOV_CX_64 MOV_CX_64 MOV_CX_64), true,
                         CORE_BOUND_UOP_CACHE),
                5);
    core_costs_fini(&costs);
}

static double slots_of(struct core_costs *costs, struct bytes code) {
    struct core_prediction prediction = predict(costs, code, false);
    double slots = prediction.slots;
    core_prediction_fini(&prediction);
    return slots;
}

static void test_moves(void **state) {
    (void)state;
    struct core_costs costs;
    small_machine_make(&costs);
    form_add(&costs, BYTES(MOV_CX_DI), "none", 1.0, 0.0);
    form_add(&costs, BYTES("\x89\xf9"), "none", 1.0, 0.0);                   /* mov ecx, edi */
    form_add(&costs, BYTES("\x48\x29\xf1"), "1*p015", 1, 1);                 /* sub rcx, rsi */
    form_add(&costs, BYTES("\x48\x81\xe1\x45\x23\x01\x00"), "1*p015", 1, 1); /* and rcx, 0x12345 */
    assert_near(slots_of(&costs, BYTES(MOV_CX_DI ADD_CX_SI)), 2);
    parameter(&costs, "move add r64, r64", 1);
    parameter(&costs, "move sub r64, r64", 0);
    parameter(&costs, "move and r64, imm8", 1);
    assert_near(slots_of(&costs, BYTES(MOV_CX_DI ADD_CX_SI)), 1);
    assert_near(slots_of(&costs, BYTES(ADD_CX_SI MOV_CX_DI)), 2);
    assert_near(slots_of(&costs, BYTES(MOV_CX_DI "\x48\x29\xf1")), 2);
    assert_near(slots_of(&costs, BYTES(MOV_CX_DI "\x48\x01\xce")), 2); /* add rsi, rcx */
    assert_near(slots_of(&costs, BYTES(MOV_CX_DI "\x48\x01\xc9")), 2); /* add rcx, rcx */
    assert_near(slots_of(&costs, BYTES("\x89\xf9" ADD_CX_SI)), 2);
    /* A long immediate is as a short one, where it could not be told. */
    assert_near(slots_of(&costs, BYTES(MOV_CX_DI "\x48\x81\xe1\x45\x23\x01\x00")), 1);
    parameter(&costs, "move and r64, imm32", 0);
    assert_near(slots_of(&costs, BYTES(MOV_CX_DI "\x48\x81\xe1\x45\x23\x01\x00")), 2);
    /* The move is there all the same: what it wrote waits for what it read. */
    struct core_prediction prediction =
        predict(&costs, BYTES(MOV_CX_DI ADD_CX_SI "\x48\x89\xcf"), false); /* mov rdi, rcx */
    assert_near(prediction.bounds[CORE_BOUND_CHAIN], 1);
    core_prediction_fini(&prediction);
    core_costs_fini(&costs);
}

/* Facts are of a form with any immediate, whether or not that of zero has a row of its own. */
static void test_facts_of_zeros(void **state) {
    (void)state;
    struct core_costs costs;
    small_machine_make(&costs);
    form_add(&costs, BYTES(MOV_CX_DI), "none", 1.0, 0.0);
    static const struct {
        struct bytes code;
        const char *zero;
    } rows[] = {{BYTES(CMP_AX_0), "cmp r64, 0"}, {BYTES(ADD_CX_0), "add r64, 0"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct isa_form form;
        size_t length = 0;
        struct ip_error err = {0};
        must(isa_decode((const uint8_t *)rows[i].code.data, rows[i].code.length, &form, NULL, &length, &err),
             &err);
        must(core_costs_add(&costs, &form, "1*p015", 1, 1, &err), &err);
        (void)strcpy(form.syntax, rows[i].zero);
        must(core_costs_add(&costs, &form, "1*p015", 1, 1, &err), &err);
    }
    parameter(&costs, "fuse cmp r64, imm8 + jnz rel8", 1);
    parameter(&costs, "move add r64, imm8", 1);
    assert_near(slots_of(&costs, BYTES(CMP_AX_1 JNZ_HERE)), 1);
    assert_near(slots_of(&costs, BYTES(CMP_AX_0 JNZ_HERE)), 1);
    assert_near(slots_of(&costs, BYTES(MOV_CX_DI ADD_CX_5)), 1);
    assert_near(slots_of(&costs, BYTES(MOV_CX_DI ADD_CX_0)), 1);
    core_costs_fini(&costs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_of_loops),     cmocka_unit_test(test_lines_of_copies),
        cmocka_unit_test(test_constants_in_lines), cmocka_unit_test(test_moves),
        cmocka_unit_test(test_facts_of_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
