/* SPDX-License-Identifier: Apache-2.0 */
/* Single operands in the on-core model: which of them a result waits for, and how long. */
#include "tests/oncore_table.h"

#define LFENCE "\x0f\xae\xe8"

#define VADDPS_3  "\xc5\xe4\x58\xd9"         /* vaddps ymm3, ymm3, ymm1 */
#define VADDPS_15 "\xc5\x04\x58\xf9"         /* vaddps ymm15, ymm15, ymm1 */
#define VADDPS_18 "\x62\xe1\x6c\x40\x58\xd1" /* vaddps zmm18, zmm18, zmm1 */
#define GATHER    "\xc4\xc2\xed\x91\x04\xce" /* vpgatherqq ymm0, [r14+ymm1*8], ymm2 */
#define VPOR_2    "\xc5\xed\xeb\xd5"         /* vpor ymm2, ymm2, ymm5 */
#define VPOR_2_0  "\xc5\xfd\xeb\xd5"         /* vpor ymm2, ymm0, ymm5 */
#define VZEROALL  "\xc5\xfc\x77"
#define LODSB     "\xac"
#define STOSB     "\xaa"
#define MOVSB     "\xa4"
#define SCASB     "\xae"
#define REP_STOSB "\xf3\xaa"
#define XLATB     "\xd7"
#define MOV_A     "\xb8\x04\0\0\0"   /* mov eax, 4 */
#define MOV_B     "\xbb\x04\0\0\0"   /* mov ebx, 4 */
#define IMUL_B_A  "\x6b\xd8\x01"     /* imul ebx, eax, 1 */
#define MASKMOV   "\x66\x0f\xf7\xc1" /* maskmovdqu xmm0, xmm1 */
#define MOV_C     "\xb9\x04\0\0\0"   /* mov ecx, 4 */
#define IMUL_A_SI "\x6b\xc6\x01"     /* imul eax, esi, 1 */
#define IMUL_A_DI "\x6b\xc7\x01"     /* imul eax, edi, 1 */
#define IMUL_S_DI "\x6b\xf7\x01"     /* imul esi, edi, 1 */
#define IMUL_C_DI "\x6b\xcf\x01"     /* imul ecx, edi, 1 */

#define FLD_ST0  "\xd9\xc0"
#define FLD_ST1  "\xd9\xc1"
#define FMUL_00  "\xd8\xc8" /* fmul st0, st0 */
#define FMUL_10  "\xdc\xc9" /* fmul st1, st0 */
#define FMULP_1  "\xde\xc9"
#define FSTP_ST0 "\xdd\xd8"
#define FSTP_ST1 "\xdd\xd9"
#define FSTP_ST2 "\xdd\xda"
#define FUCOMPP  "\xda\xe9"
#define FINCSTP  "\xd9\xf7"
#define FDECSTP  "\xd9\xf6"
#define FSINCOS  "\xd9\xfb"

/* VZEROALL writes the first 16 vector registers, which are no operands of it. */
static void test_all_cleared(void **state) {
    (void)state;
    struct core_costs costs;
    small_machine_make(&costs);
    form_add(&costs, BYTES(VADDPS_3), "1*p01", 1, 4);
    form_add(&costs, BYTES(VADDPS_18), "1*p01", 1, 4);
    form_add(&costs, BYTES(VZEROALL), "none", 1, NAN);
    assert_near(bound(&costs, BYTES(VADDPS_3 VADDPS_3), CORE_BOUND_CHAIN), 8.0);
    assert_near(bound(&costs, BYTES(VADDPS_3 VADDPS_3 VZEROALL), CORE_BOUND_CHAIN), 0.0);
    assert_about(bound(&costs, BYTES(VADDPS_3 VADDPS_3 VZEROALL), CORE_BOUND_SIMULATION), 1.0);
    assert_near(bound(&costs, BYTES(VADDPS_15 VADDPS_15 VZEROALL), CORE_BOUND_CHAIN), 0.0);
    assert_near(bound(&costs, BYTES(VADDPS_18 VADDPS_18 VZEROALL), CORE_BOUND_CHAIN), 8.0);
    core_costs_fini(&costs);
}

/* A gather makes its mask zero, and that waits for nothing; what it gathers waits for the mask. */
static void test_consumed_mask(void **state) {
    (void)state;
    struct core_costs costs;
    small_machine_make(&costs);
    form_add(&costs, BYTES(VPOR_2), "1*p015", 1, 1);
    form_add(&costs, BYTES(GATHER), "1*p23", 1, 14);
    struct core_cost *gather = cost_of(&costs, BYTES(GATHER));
    gather->latencies[0] = (struct core_latency){.src = 0, .dst = 0, .cycles = 3};
    gather->latencies[1] = (struct core_latency){.src = 2, .dst = 0, .cycles = 14};
    gather->latency_count = 2;
    assert_near(bound(&costs, BYTES(GATHER), CORE_BOUND_CHAIN), 3.0);
    assert_near(bound(&costs, BYTES(VPOR_2 GATHER), CORE_BOUND_CHAIN), 3.0);
    assert_near(bound(&costs, BYTES(VPOR_2_0 GATHER), CORE_BOUND_CHAIN), 15.0);
    core_costs_fini(&costs);
}

/* A string's pointer moves on whatever is stored, or was in the register that is loaded; under a prefix it
 * waits for the count. */
static void test_pointers_move_alone(void **state) {
    (void)state;
    struct core_costs costs;
    small_machine_make(&costs);
    form_add(&costs, BYTES(IMUL_A_SI), "1*p1", 1, 3);
    form_add(&costs, BYTES(LODSB), "1*p23+1*p015", 2, 1);
    form_add(&costs, BYTES(STOSB), "1*p4+1*p7+1*p015", 2, 1);
    form_add(&costs, BYTES(MOVSB), "1*p23+1*p4+1*p7+2*p015", 4, 1);
    form_add(&costs, BYTES(SCASB), "1*p23+1*p015", 2, 1);
    form_add(&costs, BYTES(REP_STOSB), "1*p4+1*p7+1*p015", 2, 1);
    form_add(&costs, BYTES(MOV_C), "1*p015", 1, 1);
    assert_near(bound(&costs, BYTES(LODSB IMUL_A_SI), CORE_BOUND_CHAIN), 1.0);
    assert_near(bound(&costs, BYTES(STOSB IMUL_A_DI), CORE_BOUND_CHAIN), 1.0);
    assert_near(bound(&costs, BYTES(STOSB IMUL_A_DI), CORE_BOUND_SIMULATION), 1.0);
    assert_near(bound(&costs, BYTES(MOVSB IMUL_S_DI), CORE_BOUND_CHAIN), 1.0);
    assert_near(bound(&costs, BYTES(SCASB IMUL_A_DI), CORE_BOUND_CHAIN), 1.0);
    assert_near(bound(&costs, BYTES(MOV_C REP_STOSB IMUL_A_DI), CORE_BOUND_CHAIN), 1.0);
    assert_near(bound(&costs, BYTES(REP_STOSB IMUL_C_DI), CORE_BOUND_CHAIN), 4.0);
    core_costs_fini(&costs);
}

/* XLAT loads from RBX, and MASKMOVDQU stores to RDI, which are no operands of theirs. */
static void test_pointers_unnamed(void **state) {
    (void)state;
    struct core_costs costs;
    small_machine_make(&costs);
    form_add(&costs, BYTES(IMUL_A_SI), "1*p1", 1, 3);
    form_add(&costs, BYTES(XLATB), "1*p23+1*p015", 2, 1);
    form_add(&costs, BYTES(MASKMOV), "1*p4+1*p7", 1, NAN);
    form_add(&costs, BYTES(MOV_A), "1*p015", 1, 1);
    assert_near(bound(&costs, BYTES(MOV_A XLATB IMUL_B_A), CORE_BOUND_CHAIN), 9.0);
    assert_about(bound(&costs, BYTES(MOV_A XLATB IMUL_B_A), CORE_BOUND_SIMULATION), 9.0);
    assert_near(bound(&costs, BYTES(MOV_A XLATB IMUL_B_A MOV_B), CORE_BOUND_CHAIN), 0.0);
    struct core_prediction prediction = predict(&costs, BYTES(MASKMOV), false);
    const struct core_instruction *store = &prediction.block.items[0];
    assert_int_equal(store->address_count, 1);
    assert_int_equal(store->sources[0], CORE_RESOURCE_GPR + 7);
    core_prediction_fini(&prediction);
    core_costs_fini(&costs);
}

/* The x87 stack moves: ST1 of one instruction may be ST0 of the next. */
static void test_x87_stack(void **state) {
    (void)state;
    static const struct {
        struct bytes code;
        double cycles; /* from pass to pass: products take 6, the others 1 */
    } cases[] = {
        {BYTES(FLD_ST0 FMUL_00 FSTP_ST1), 8},
        {BYTES(FLD_ST1 FMUL_00 FSTP_ST2), 8},
        {BYTES(FLD_ST1 FMUL_00 FSTP_ST1), 0}, /* into the old ST0, from ST1 */
        {BYTES(FLD_ST0 FSTP_ST0 FMUL_00), 6},
        {BYTES(FLD_ST1 FMULP_1), 6},
        {BYTES(FLD_ST0 FLD_ST1 FMULP_1 FSTP_ST1), 8},
        {BYTES(FLD_ST0 FLD_ST0 FUCOMPP FMUL_00), 6},
        {BYTES(FINCSTP FMUL_00 FDECSTP FMUL_10), 12},
        {BYTES(FMUL_00 FDECSTP FMUL_10 FINCSTP), 12},
        {BYTES(FSINCOS FSTP_ST1), 2},         /* the cosine stays */
        {BYTES(FSINCOS FSTP_ST0 FMUL_00), 7}, /* the sine */
    };
    struct core_costs costs;
    small_machine_make(&costs);
    static const struct bytes quick[] = {BYTES(FLD_ST0), BYTES(FSTP_ST0), BYTES(FUCOMPP),
                                         BYTES(FINCSTP), BYTES(FDECSTP),  BYTES(FSINCOS)};
    static const struct bytes products[] = {BYTES(FMUL_00), BYTES(FMUL_10), BYTES(FMULP_1)};
    for (size_t i = 0; i < sizeof quick / sizeof quick[0]; i++) {
        form_add(&costs, quick[i], "1*p015", 1, 1);
    }
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        form_add(&costs, products[i], "1*p0", 1, 6);
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_near(chain(&costs, cases[i].code), cases[i].cycles);
    }
    core_costs_fini(&costs);
}

/* LFENCE begins when all before it is done, and nothing behind it before it has ended. */
static void test_fence(void **state) {
    (void)state;
    enum { FENCE = 10, PRODUCT = 3 };
    struct core_costs costs;
    small_machine_make(&costs);
    form_add(&costs, BYTES(LFENCE), "none", 1, NAN);
    struct core_cost *fence = cost_of(&costs, BYTES(LFENCE));
    fence->source = CORE_SOURCE_ASSUMED; /* as what the store has the throughput of alone */
    fence->unit = CORE_UNITS_SHARED;
    fence->unit_cycles = FENCE;
    assert_about(simulated(&costs, BYTES(LFENCE)), FENCE);
    assert_about(simulated(&costs, BYTES(LFENCE IMUL_AX_BX IMUL_AX_BX)), FENCE + 2 * PRODUCT);
    assert_about(simulated(&costs, BYTES(IMUL_CX_BX LFENCE IMUL_AX_BX)), FENCE + 1 + PRODUCT);
    core_costs_fini(&costs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_cleared),         cmocka_unit_test(test_consumed_mask),
        cmocka_unit_test(test_pointers_move_alone), cmocka_unit_test(test_pointers_unnamed),
        cmocka_unit_test(test_x87_stack),           cmocka_unit_test(test_fence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
