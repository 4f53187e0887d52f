/* SPDX-License-Identifier: Apache-2.0 */
/* What code costs before it issues: lines of it, and moves that the operation behind them takes along. */
#include "tests/oncore_table.h"

#include "oncore/line.h"

#define TIMES_4(text)  text text text text
#define TIMES_12(text) TIMES_4(text) TIMES_4(text) TIMES_4(text)
#define CMP_MEM_0      "\x80\xbb\x00\x01\x00\x00\x00" /* cmp byte [rbx+0x100], 0 */
#define MOV_CX_DI      "\x48\x89\xf9"                 /* mov rcx, rdi */
#define ADD_CX_SI      "\x48\x01\xf1"                 /* add rcx, rsi */

/* Lines of twelve and fewer instructions issue, four a cycle; those of 14 to 16 take five cycles; of 24, what
 * issues. */
static void lines_make(struct core_costs *costs) {
    small_machine_make(costs);
    form_add(costs, BYTES(CMP_MEM_0), "1*p015+1*p23", 1.0, 1.0);
    parameter(costs, "line 8", 2.03);
    parameter(costs, "line 12", 3.0);
    parameter(costs, "line 14", 5.1);
    parameter(costs, "line 16", 4.9);
    parameter(costs, "line 24", 6.0);
    core_lines_fill(costs);
}

static double code_bound(struct core_costs *costs, struct bytes code, bool loop) {
    struct core_prediction prediction = predict(costs, code, loop);
    double bound = prediction.bounds[CORE_BOUND_UOP_CACHE];
    core_prediction_fini(&prediction);
    return bound;
}

static void test_line_cycles(void **state) {
    (void)state;
    struct core_costs costs;
    lines_make(&costs);
    static const double expected[] = {[0] = 0,  [1] = 0,  [8] = 0,  [10] = 0,   [12] = 0,    [13] = 4,
                                      [14] = 5, [15] = 5, [16] = 5, [20] = 5.5, [23] = 5.875};
    for (unsigned n = 0; n < sizeof expected / sizeof expected[0]; n++) {
        if (expected[n] > 0 || n <= 12) {
            assert_near(costs.line_cycles[n], expected[n]);
        }
    }
    assert_near(costs.line_cycles[24], 0);
    assert_near(costs.line_cycles[CORE_LINE_MOST], 0); /* nothing is known of so many */
    parameter(&costs, "line 6", 1.7);                  /* and fewer: a line is not taken in sooner */
    core_lines_fill(&costs);
    assert_near(costs.line_cycles[1], 1.7);
    core_costs_fini(&costs);
}

static void test_lines(void **state) {
    (void)state;
    struct core_costs costs;
    lines_make(&costs);
    /* Copies of three bytes end with the third line, in which 22, 21 and 21 of them begin. */
    assert_near(code_bound(&costs, BYTES(ADD_AX_BX), false), (5.75 + 5.625 + 5.625) / 64);
    /* A loop begins with a line, and has a branch: 13 and 14 instructions. */
    assert_near(code_bound(&costs, BYTES(TIMES_12(ADD_AX_BX)), true), 4);
    assert_near(code_bound(&costs, BYTES(TIMES_12(ADD_AX_BX) ADD_AX_BX), true), 5);
    assert_true(isnan(code_bound(&costs, BYTES(TIMES_4(ADD_AX_BX)), true)));
    /* Constants count where they were seen to: ten and nine comparisons begin in a line. */
    assert_true(isnan(code_bound(&costs, BYTES(CMP_MEM_0), false)));
    parameter(&costs, "line_constants", 1);
    assert_near(code_bound(&costs, BYTES(CMP_MEM_0), false), (5.5 + 6 * 5.25) / 64);
    core_costs_fini(&costs);
    small_machine_make(&costs);
    assert_true(isnan(code_bound(&costs, BYTES(ADD_AX_BX), false)));
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_cycles),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
