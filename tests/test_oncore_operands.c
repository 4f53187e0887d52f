/* SPDX-License-Identifier: Apache-2.0 */
/* Single operands in the on-core model: which of them a result waits for, and how long. */
#include "tests/oncore_table.h"

#define VADDPS_3  "\xc5\xe4\x58\xd9"         /* vaddps ymm3, ymm3, ymm1 */
#define VADDPS_15 "\xc5\x04\x58\xf9"         /* vaddps ymm15, ymm15, ymm1 */
#define VADDPS_18 "\x62\xe1\x6c\x40\x58\xd1" /* vaddps zmm18, zmm18, zmm1 */
#define VZEROALL  "\xc5\xfc\x77"

static double bound(struct core_costs *costs, struct bytes code, enum core_bound which) {
    struct core_prediction prediction = predict(costs, code, false);
    double cycles = prediction.bounds[which];
    core_prediction_fini(&prediction);
    return cycles;
}

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_cleared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
