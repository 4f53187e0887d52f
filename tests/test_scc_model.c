/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of Putigny 2014, section 2.3, as the program derives them from the machine's description. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "power/model.h"
#include "scc_model/scc.h"
#include "tests/near.h"

static void scc_get(struct pw_machine *machine) {
    struct ip_error err = {0};
    if (scc_machine(machine, &err) != IP_OK) {
        fail_msg("%s: %s", err.place, err.text);
    }
}

static void points_get(struct pw_point *points, const struct pw_machine *machine, const char *name) {
    struct ip_error err = {0};
    struct pw_kernel kernel = {0};
    assert_int_equal(scc_kernel(&kernel, name, 0, &err), IP_OK);
    assert_int_equal(pw_model(points, machine, &kernel, &err), IP_OK);
    pw_kernel_fini(&kernel);
}

static int best_divisor(const struct pw_machine *machine, const char *kernel, enum pw_metric metric,
                        const struct pw_limits *limits) {
    struct pw_point points[PW_SETTINGS_MAX];
    struct ip_error err = {0};
    size_t best = 0;
    points_get(points, machine, kernel);
    assert_int_equal(pw_choose(points, machine->setting_count, metric, limits, &best, &err), IP_OK);
    return points[best].setting->divisor;
}

static const struct pw_limits no_limits;

static void divisors(void **state) {
    (void)state;
    struct pw_machine machine;
    scc_get(&machine);
    assert_int_equal(machine.setting_count, 15);
    for (size_t i = 0; i < 15; i++) {
        assert_int_equal(machine.settings[i].divisor, (int)i + 2);
        assert_true(fabs(machine.settings[i].freq_hz * ((double)i + 2) - 1.6e9) < 1);
        /* mem_freq = f_div * core_freq / 2 */
        assert_true(fabs(machine.settings[i].freq_hz * ((double)i + 2) / 2 - 8e8) < 1);
    }
    assert_true(machine.settings[0].volts == 1.1 && machine.settings[1].volts == 0.8 &&
                machine.settings[2].volts == 0.7);
    for (size_t i = 3; i < 15; i++) {
        assert_true(machine.settings[i].volts == 0.6);
    }
}

/* P = C·V²·f: what the thesis's figures rest on, C apart. */
static void power_law(void **state) {
    (void)state;
    struct pw_machine machine;
    scc_get(&machine);
    double two = pw_machine_power_w(&machine, 0), five = pw_machine_power_w(&machine, 3);
    assert_near(two / five, (1.1 * 1.1 * 800) / (0.6 * 0.6 * 320), 1e-9);
    assert_near(pw_machine_power_w(&machine, 8) / five, 0.5, 1e-9); /* 160 MHz, the same voltage */
}

static void access_cycles(void **state) {
    (void)state;
    struct pw_machine machine;
    scc_get(&machine);
    assert_near(pw_machine_access_cycles(&machine, machine.settings[0].freq_hz), 86, 1e-9);
    assert_near(pw_machine_access_cycles(&machine, machine.settings[14].freq_hz), 45.75, 1e-9);
    /* 4 * n * 2 mesh cycles for n hops: at divisor 2 the mesh runs at the core's clock. */
    machine.hops = 3;
    assert_near(pw_machine_access_cycles(&machine, machine.settings[0].freq_hz), 86 + 24, 1e-9);
    assert_near(pw_machine_access_cycles(&machine, machine.settings[14].freq_hz), 45.75 + 3, 1e-9);
}

static void sides(void **state) {
    (void)state;
    struct pw_machine machine;
    struct pw_point points[PW_SETTINGS_MAX];
    scc_get(&machine);
    static const struct {
        const char *name;
        enum pw_bound bound;
    } cases[] = {{"dot", PW_BOUND_MEMORY}, {"matvec", PW_BOUND_MEMORY}, {"matmul", PW_BOUND_COMPUTE}};
    for (size_t c = 0; c < 3; c++) {
        points_get(points, &machine, cases[c].name);
        for (size_t i = 0; i < machine.setting_count; i++) {
            assert_int_equal(points[i].bound, cases[c].bound);
        }
    }
}

/* The thesis's formulas, written out. */
static void formulas(void **state) {
    (void)state;
    struct pw_machine machine;
    struct pw_point dot[PW_SETTINGS_MAX], matvec[PW_SETTINGS_MAX], matmul[PW_SETTINGS_MAX];
    scc_get(&machine);
    points_get(dot, &machine, "dot");
    points_get(matvec, &machine, "matvec");
    points_get(matmul, &machine, "matmul");
    for (size_t i = 0; i < machine.setting_count; i++) {
        double access = 40 + 46 * 2.0 / machine.settings[i].divisor;
        assert_near(dot[i].memory_cycles / (2097152 * access), 1, 1e-12);
        assert_near(dot[i].compute_cycles, 2097152 * 36 / 4.0, 1e-6);
        assert_near(matvec[i].memory_cycles / (512 * 1024 / 2.0 * access), 1, 1e-12);
        assert_near(matvec[i].compute_cycles, 512 * 1024 * 64 / 4.0, 1e-6);
        assert_near(matmul[i].memory_cycles / (3 * 160 * 160 / 2.0 * access), 1, 1e-12);
        assert_near(matmul[i].compute_cycles / (160.0 * 160 * 160 * 43), 1, 1e-12);
    }
}

static void matmul_choice(void **state) {
    (void)state;
    struct pw_machine machine;
    struct pw_point points[PW_SETTINGS_MAX];
    scc_get(&machine);
    points_get(points, &machine, "matmul");
    for (size_t i = 3; i < 15; i++) {
        assert_near(points[i].gflops_per_watt / points[3].gflops_per_watt, 1, 1e-12);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_true(points[i].gflops_per_watt < points[i + 1].gflops_per_watt);
    }
    assert_int_equal(best_divisor(&machine, "matmul", PW_METRIC_GFLOPS_PER_WATT, &no_limits), 5);
    assert_int_equal(best_divisor(&machine, "matmul", PW_METRIC_ENERGY, &no_limits), 5);
}

static void dot_trade(void **state) {
    (void)state;
    struct pw_machine machine;
    struct pw_point points[PW_SETTINGS_MAX];
    scc_get(&machine);
    points_get(points, &machine, "dot");
    const struct pw_point *five = &points[pw_machine_find_divisor(&machine, 5)];
    const struct pw_point *sixteen = &points[pw_machine_find_divisor(&machine, 16)];
    assert_near((sixteen->gflops_per_watt / five->gflops_per_watt - 1) * 100, 27.65, 0.005);
    assert_near(sixteen->time_s / five->time_s, 2.507, 0.0005);
    assert_int_equal(best_divisor(&machine, "dot", PW_METRIC_GFLOPS_PER_WATT, &no_limits), 16);
}

static void dot_limits(void **state) {
    (void)state;
    struct pw_machine machine;
    scc_get(&machine);
    for (int metric = PW_METRIC_ENERGY; metric <= PW_METRIC_TIME; metric++) {
        for (size_t k = 0; scc_kernel_names[k] != NULL; k++) {
            assert_int_equal(best_divisor(&machine, scc_kernel_names[k], (enum pw_metric)metric,
                                          &(struct pw_limits){.max_slowdown = 1.0}),
                             2);
        }
    }
    assert_int_equal(
        best_divisor(&machine, "dot", PW_METRIC_ENERGY, &(struct pw_limits){.max_slowdown = 2.0}), 6);
    assert_int_equal(best_divisor(&machine, "dot", PW_METRIC_TIME, &no_limits), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divisors),  cmocka_unit_test(power_law),  cmocka_unit_test(access_cycles),
        cmocka_unit_test(sides),     cmocka_unit_test(formulas),   cmocka_unit_test(matmul_choice),
        cmocka_unit_test(dot_trade), cmocka_unit_test(dot_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
