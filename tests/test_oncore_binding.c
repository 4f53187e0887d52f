/* SPDX-License-Identifier: Apache-2.0 */
/* Which ports operations, loads and stores take in the simulation of a block, where cores differ in that. */
#include "tests/oncore_table.h"

static double cycles(struct core_costs *costs, struct bytes code) {
    struct core_prediction prediction = predict(costs, code, false);
    double predicted = prediction.cycles;
    core_prediction_fini(&prediction);
    return predicted;
}

/* An operation that is issued with what it waits for takes its port twice, where the core was seen to do
 * that, and so does one that waits for a load, too; behind a multiplication of three cycles, and in a chain,
 * of which all but the second wait for what waits, every third does, if a port is free. */
static void test_issued_again(void **state) {
    (void)state;
    struct core_costs costs;
    small_machine_make(&costs);
#define SIGN_DX_SI "\x48\x63\xd6" /* movsxd rdx, esi */
#define SIGN_CX_DX "\x48\x63\xca" /* movsxd rcx, edx */
#define SIGN_DI_CX "\x48\x63\xf9" /* movsxd rdi, ecx */
#define CMP_DX_M   "\x48\x3b\x13" /* cmp rdx, [rbx] */
#define CMP_DI_MDX "\x48\x3b\x3a" /* cmp rdi, [rdx] */
    form_add(&costs, BYTES(CMP_DX_M), "1*p23+1*p015", 1, 1);
    form_add(&costs, BYTES(SIGN_DX_SI), "1*p015", 1, 1);
    static const struct {
        struct bytes code;
        double once, again;
    } cases[] = {{BYTES(SIGN_DX_SI SIGN_CX_DX), 2.0 / 3, 1.0},
                 {BYTES(SIGN_DX_SI SIGN_CX_DX SIGN_DI_CX), 1.0, (4 + 1.0 / 3) / 3},
                 {BYTES(SIGN_DX_SI CMP_DX_M), 2.0 / 3, 1.0},
                 {BYTES(SIGN_CX_DX CMP_DX_M), 2.0 / 3, 2.0 / 3},
                 {BYTES(SIGN_DX_SI CMP_DI_MDX), 2.0 / 3, 2.0 / 3}, /* its load waits, no operation does */
                 {BYTES(POPCNT_DX_S SIGN_CX_DX), 1.0, 1.0},
                 {BYTES(SIGN_DX_SI SIGN_DX_SI SIGN_DX_SI), 1.0, 1.0}};
    for (unsigned again = 0; again < 2; again++) {
        parameter(&costs, "issue_again", again);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            assert_about(cycles(&costs, cases[i].code), again ? cases[i].again : cases[i].once);
        }
    }
    core_costs_fini(&costs);
}

/* Six chains on three ports leave none of them free for what is issued too early: it takes one of later. */
static void test_crowded(void **state) {
    (void)state;
    static const struct bytes chains =
        BYTES("\x48\x63\xc0\x48\x63\xc9\x48\x63\xd2\x48\x63\xdb\x48\x63\xf6\x48\x63\xff"); /* movsxd */
    struct core_costs costs;
    small_machine_make(&costs);
    form_add(&costs, BYTES("\x48\x63\xc0"), "1*p015", 1, 1);
    assert_about(cycles(&costs, chains), 6.0 / 3.0);
    parameter(&costs, "issue_again", 1);
    assert_about(cycles(&costs, chains), 2.0 * (1.0 + 1.0 / 9.0)); /* a third of a third */
    core_costs_fini(&costs);
}

/* Loads of vectors on pab, of general registers on pabcd, stores on pcd, as a Zen 5 has them. */
#define VECTOR_0   "\x0f\x10\x03"         /* movups xmm0, [rbx] */
#define VECTOR_1   "\x0f\x10\x4b\x10"     /* movups xmm1, [rbx+16] */
#define LOAD_CX_32 "\x48\x8b\x4b\x20"     /* mov rcx, [rbx+32] */
#define LOAD_DX_40 "\x48\x8b\x53\x28"     /* mov rdx, [rbx+40] */
#define STORE_48   "\x48\x89\x43\x30"     /* mov [rbx+48], rax */
#define ADD_56     "\x48\x83\x43\x38\x01" /* add qword [rbx+56], 1 */
#define FOUR       VECTOR_0 VECTOR_1 VECTOR_0 VECTOR_1

static void access_machine_make(struct core_costs *costs) {
    struct core_term terms[CORE_TERMS_MAX];
    unsigned count = 0;
    struct ip_error err = {0};
    memset(costs, 0, sizeof *costs);
    parameter(costs, "issue_width", 8);
    parameter(costs, "load_base", 4);
    parameter(costs, "store_pair_bytes", 0);
    form_add(costs, BYTES(VECTOR_0), "1*pAB", 1, 0);
    form_add(costs, BYTES(LOAD_CX_32), "1*pABCD", 1, 0);
    form_add(costs, BYTES(STORE_48), "1*pCD", 1, NAN);
    form_add(costs, BYTES(ADD_56), "1*p01+1*pABCD+1*pCD", 2, NAN);
    must(core_ports_parse(costs, "1*pABCD", terms, &count, &err), &err);
    costs->load_ports = terms[0].ports;
    count = 0;
    must(core_ports_parse(costs, "1*pCD", terms, &count, &err), &err);
    costs->store_ports = terms[0].ports;
}

/* Where accesses take turns, the second of two in a row goes where loads of vectors crowd; one alone does
 * not, nor do more than one where nothing is crowded, and changes of memory close no port to others. */
static void test_accesses_take_turns(void **state) {
    (void)state;
    static const struct {
        struct bytes code;
        double free, turns;
    } cases[] = {{BYTES(FOUR LOAD_CX_32 LOAD_DX_40), 2.0, 2.5},
                 {BYTES(FOUR LOAD_CX_32 STORE_48), 2.0, 2.5},
                 {BYTES(VECTOR_0 VECTOR_1 LOAD_CX_32 VECTOR_0 VECTOR_1 LOAD_DX_40), 2.0, 2.0},
                 {BYTES(LOAD_CX_32 LOAD_DX_40 LOAD_CX_32 STORE_48), 1.0, 1.0},
                 {BYTES(FOUR FOUR FOUR ADD_56), 6.0, 6.5}};
    struct core_costs costs;
    access_machine_make(&costs);
    for (unsigned turns = 0; turns < 3; turns++) { /* not known, none, seen */
        if (turns > 0) {
            parameter(&costs, "load_turns", turns == 2 ? 0.42 : 0.02);
        }
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            assert_about(cycles(&costs, cases[i].code), turns == 2 ? cases[i].turns : cases[i].free);
        }
    }
    parameter(&costs, "ports_in_turn", 1); /* which accesses are given by themselves */
    assert_about(cycles(&costs, cases[0].code), 2.0);
    core_costs_fini(&costs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_issued_again),
        cmocka_unit_test(test_crowded),
        cmocka_unit_test(test_accesses_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
