/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of the model over random machines, and of the fit, the measurements and the figures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/random.h"
#include "power/fit.h"
#include "power/plot.h"
#include "scc_model/scc.h"
#include "tests/near.h"

enum { CASES = 2000 };
static const uint64_t seed = 20260720;

static double between(struct ip_random *random, double low, double high) {
    return low + (high - low) * ip_random_unit(random);
}

static void machine_random(struct pw_machine *machine, struct ip_random *random) {
    *machine = (struct pw_machine){.name = "random", .pending = (double)(1 + ip_random_below(random, 12))};
    machine->clocks[0].hz = between(random, 1e8, 3e9);
    machine->clock_count = 1;
    machine->term_count = 3;
    machine->terms[0] = (struct pw_term){.kind = PW_TERM_CORE, .amount = between(random, 0, 60)};
    if (ip_random_below(random, 3) == 0) {
        machine->terms[0].amount = 0;
    }
    machine->terms[1] = (struct pw_term){.kind = PW_TERM_CLOCK, .amount = between(random, 0, 100)};
    machine->terms[2] = (struct pw_term){.kind = PW_TERM_TIME, .amount = between(random, 0, 1e-7)};
    machine->capacitance_f = between(random, 1e-10, 1e-8);
    machine->static_w = ip_random_below(random, 2) == 0 ? 0 : between(random, 0, 20);
    machine->setting_count = 1 + ip_random_below(random, 20);
    double freq_hz = between(random, 5e8, 5e9), volts = between(random, 0.7, 1.4);
    for (size_t i = 0; i < machine->setting_count; i++) {
        machine->settings[i] = (struct pw_setting){.freq_hz = freq_hz, .volts = volts, .measured_w = NAN};
        freq_hz *= between(random, 0.7, 0.98);
        volts *= ip_random_below(random, 3) == 0 ? 1 : between(random, 0.9, 1);
    }
    pw_machine_settle(machine, true);
}

static void kernel_random(struct pw_kernel *kernel, struct ip_random *random) {
    *kernel = (struct pw_kernel){.name = "random",
                                 .body_cycles = between(random, 1, 100),
                                 .iterations = between(random, 1, 1e7),
                                 .flops = between(random, 1, 1e8)};
    kernel->accesses = ip_random_below(random, 4) == 0 ? 0 : between(random, 0, 1e8);
}

static void points_get(struct pw_point *points, const struct pw_machine *machine,
                       const struct pw_kernel *kernel) {
    struct ip_error err = {0};
    assert_int_equal(pw_model(points, machine, kernel, &err), IP_OK);
}

static void scaling(void **state) {
    (void)state;
    struct ip_random random = {seed};
    struct pw_machine machine;
    struct pw_kernel kernel, more;
    struct pw_point points[PW_SETTINGS_MAX], larger[PW_SETTINGS_MAX];
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int c = 0; c < CASES; c++) {
        machine_random(&machine, &random);
        kernel_random(&kernel, &random);
        more = kernel;
        double factor = between(&random, 1, 50);
        more.iterations *= factor;
        more.accesses *= factor;
        points_get(points, &machine, &kernel);
        points_get(larger, &machine, &more);
        for (size_t i = 0; i < machine.setting_count; i++) {
            assert_true(points[i].time_s >= 0 && points[i].energy_j >= 0 && points[i].slowdown >= 1);
            assert_true(fabs(larger[i].time_s / points[i].time_s / factor - 1) < 1e-9);
            assert_true(fabs(larger[i].energy_j / points[i].energy_j / factor - 1) < 1e-9);
        }
    }
}

static void sides(void **state) {
    (void)state;
    struct ip_random random = {seed + 1};
    struct pw_machine machine;
    struct pw_kernel kernel;
    struct pw_point points[PW_SETTINGS_MAX];
    int compute = 0, memory = 0;
    for (int c = 0; c < CASES; c++) {
        machine_random(&machine, &random);
        kernel_random(&kernel, &random);
        points_get(points, &machine, &kernel);
        for (size_t i = 0; i < machine.setting_count; i++) {
            const struct pw_point *p = &points[i];
            if (p->bound == PW_BOUND_COMPUTE) {
                /* The cycles do not depend on the frequency. */
                assert_true(p->cycles == kernel.iterations * kernel.body_cycles);
                compute++;
                continue;
            }
            /* The time depends on the frequency through the core part of an access only. */
            double requests = kernel.accesses / machine.pending;
            double core_s = requests * machine.terms[0].amount / p->setting->freq_hz;
            double other_s =
                requests * (machine.terms[1].amount / machine.clocks[0].hz + machine.terms[2].amount);
            assert_true(fabs(p->time_s / (core_s + other_s) - 1) < 1e-9);
            if (machine.terms[0].amount == 0 && points[0].bound == PW_BOUND_MEMORY) {
                assert_true(fabs(p->time_s / points[0].time_s - 1) < 1e-9);
            }
            memory++;
        }
    }
    assert_true(compute > 1000 && memory > 1000); /* both sides were tried */
}

/* The chosen setting against all others, by the definition. */
static void choice(void **state) {
    (void)state;
    struct ip_random random = {seed + 2};
    struct pw_machine machine;
    struct pw_kernel kernel;
    struct pw_point points[PW_SETTINGS_MAX];
    int none = 0, limited = 0;
    for (int c = 0; c < CASES; c++) {
        machine_random(&machine, &random);
        kernel_random(&kernel, &random);
        points_get(points, &machine, &kernel);
        struct pw_limits limits = {0};
        switch (ip_random_below(&random, 4)) {
        case 0:
            limits.max_slowdown = between(&random, 1, 3);
            break;
        case 1:
            limits.max_time_s = points[0].time_s * between(&random, 0.5, 3);
            break;
        case 2:
            limits.max_power_w = points[0].power_w * between(&random, 0.1, 1.2);
            break;
        default:
            break;
        }
        enum pw_metric metric = (enum pw_metric)ip_random_below(&random, PW_METRIC_TIME + 1);
        size_t best = 999, allowed = 0;
        struct ip_error err = {0};
        enum ip_status status = pw_choose(points, machine.setting_count, metric, &limits, &best, &err);
        for (size_t i = 0; i < machine.setting_count; i++) {
            allowed += pw_allowed(&points[i], &limits);
        }
        if (allowed == 0) {
            assert_int_equal(status, IP_UNSUPPORTED);
            assert_int_equal(best, 999);
            none++;
            continue;
        }
        assert_int_equal(status, IP_OK);
        assert_true(pw_allowed(&points[best], &limits));
        limited += allowed < machine.setting_count;
        double cost = pw_cost(&points[best], metric);
        for (size_t i = 0; i < machine.setting_count; i++) {
            if (!pw_allowed(&points[i], &limits)) {
                continue;
            }
            double other = pw_cost(&points[i], metric);
            assert_true(other >= cost - 2e-9 * fabs(cost));
            if (other <= cost) {
                assert_true(points[i].time_s >= points[best].time_s * (1 - 1e-9)); /* ties: the faster */
            }
        }
    }
    assert_true(none > 10 && limited > 100);
}

/* The last bits decide nothing, the order of the points neither. */
static void choice_ties(void **state) {
    (void)state;
    const struct pw_limits limits = {0};
    struct pw_point points[3] = {
        {.time_s = 2, .power_w = 0.5, .energy_j = 1, .slowdown = 2},
        {.time_s = 1, .power_w = 1, .energy_j = 1 + 1e-12, .slowdown = 1},
        {.time_s = 3, .power_w = 0.3, .energy_j = 1 - 1e-12, .slowdown = 3},
    };
    struct ip_error err = {0};
    size_t best = 9;
    assert_int_equal(pw_choose(points, 3, PW_METRIC_ENERGY, &limits, &best, &err), IP_OK);
    assert_int_equal(best, 1);
    points[2].energy_j = 0.999;
    assert_int_equal(pw_choose(points, 3, PW_METRIC_ENERGY, &limits, &best, &err), IP_OK);
    assert_int_equal(best, 2);
}

/* Of settings that cost the same and are equally fast the one with the least energy. */
static void choice_equally_fast(void **state) {
    (void)state;
    const struct pw_limits limits = {0};
    struct pw_point points[3] = {
        {.time_s = 1, .power_w = 6, .energy_j = 6, .slowdown = 1},
        {.time_s = 1 + 1e-12, .power_w = 4, .energy_j = 4, .slowdown = 1},
        {.time_s = 2, .power_w = 1, .energy_j = 2, .slowdown = 2},
    };
    struct ip_error err = {0};
    size_t best = 9;
    assert_int_equal(pw_choose(points, 3, PW_METRIC_TIME, &limits, &best, &err), IP_OK);
    assert_int_equal(best, 1);
    points[0].energy_j = points[1].energy_j;
    assert_int_equal(pw_choose(points, 3, PW_METRIC_TIME, &limits, &best, &err), IP_OK);
    assert_int_equal(best, 0);
    points[0].energy_j = points[1].energy_j = points[2].energy_j = NAN;
    assert_int_equal(pw_choose(points, 3, PW_METRIC_TIME, &limits, &best, &err), IP_OK);
    assert_int_equal(best, 0);
}

static void choice_refusals(void **state) {
    (void)state;
    struct pw_machine machine;
    struct pw_point point = {.time_s = 1, .power_w = NAN, .energy_j = NAN, .gflops_per_watt = NAN};
    const struct pw_limits free_choice = {0}, watts = {.max_power_w = 1};
    struct pw_kernel kernel = {.name = "k", .body_cycles = 1, .iterations = 1, .accesses = 1};
    struct ip_error err = {0};
    size_t best = 7;
    assert_int_equal(pw_choose(&point, 1, PW_METRIC_ENERGY, &free_choice, &best, &err), IP_CAPABILITY);
    assert_int_equal(pw_choose(&point, 1, PW_METRIC_TIME, &watts, &best, &err), IP_CAPABILITY);
    assert_int_equal(best, 7);
    assert_int_equal(pw_choose(&point, 1, PW_METRIC_TIME, &free_choice, &best, &err), IP_OK);
    point.power_w = point.energy_j = 1;
    assert_int_equal(pw_choose(&point, 1, PW_METRIC_GFLOPS_PER_WATT, &free_choice, &best, &err), IP_USAGE);
    assert_int_equal(pw_machine_parse(&machine, "f", "machine m\nsetting 1 GHz\n", &err), IP_OK);
    assert_int_equal(pw_model(&point, &machine, &kernel, &err), IP_CAPABILITY);
    kernel.body_cycles = NAN;
    assert_int_equal(pw_model(&point, &machine, &kernel, &err), IP_USAGE);
}

/* Whatever made it so: nothing to choose a setting for. */
static void nothing_to_do(void **state) {
    (void)state;
    static const struct pw_kernel idle = {.name = "k", .iterations = 1},
                                  free_access = {.name = "k", .iterations = 1, .accesses = 1};
    struct pw_machine machine;
    struct pw_point point = {.time_s = 7};
    struct ip_error err = {0};
    assert_int_equal(pw_machine_parse(&machine, "f", "machine m\naccess 0 ns\nsetting 1 GHz 1 V\n", &err),
                     IP_OK);
    assert_int_equal(pw_model(&point, &machine, &idle, &err), IP_USAGE);
    assert_non_null(strstr(err.text, "kernel 'k' does nothing"));
    assert_int_equal(pw_model(&point, &machine, &free_access, &err), IP_USAGE);
    assert_non_null(strstr(err.text, "kernel 'k' does nothing"));
    assert_near(point.time_s, 7, 0);
}

static void fit_recovers(void **state) {
    (void)state;
    struct ip_random random = {seed + 3};
    for (int c = 0; c < CASES; c++) {
        struct pw_machine machine;
        struct pw_fit fit;
        machine_random(&machine, &random);
        double noise = ip_random_below(&random, 2) == 0 ? 0 : 0.01;
        for (size_t i = 0; i < machine.setting_count; i++) {
            machine.settings[i].measured_w =
                pw_machine_power_w(&machine, i) * (1 + noise * between(&random, -1, 1));
        }
        if (!pw_fit(&fit, machine.settings, machine.setting_count)) {
            assert_true(machine.setting_count < 2);
            continue;
        }
        assert_int_equal(fit.points, machine.setting_count);
        assert_true(fit.capacitance_f >= 0 && fit.static_w >= 0);
        if (noise == 0) {
            assert_true(fabs(fit.capacitance_f / machine.capacitance_f - 1) < 1e-6);
            assert_true(fit.worst_relative < 1e-6 && !fit.static_clamped);
        }
    }
}

static void fit_limits(void **state) {
    (void)state;
    struct pw_fit fit = {.points = 77};
    const struct pw_setting same[] = {{0, 1e9, 1, 5}, {0, 1e9, 1, 6}};
    assert_false(pw_fit(&fit, same, 2));
    assert_int_equal(fit.points, 77);
    /* The straight line would cut the axis below 0. */
    const struct pw_setting steep[] = {{0, 2e9, 1, 10}, {0, 1e9, 1, 4}};
    assert_true(pw_fit(&fit, steep, 2));
    assert_true(fit.static_clamped && fit.static_w == 0 && !fit.capacitance_clamped);
    assert_near(fit.capacitance_f * 1e9, (2 * 10 + 1 * 4) / 5.0, 1e-9);
    const struct pw_setting falling[] = {{0, 2e9, 1, 4}, {0, 1e9, 1, 6}};
    assert_true(pw_fit(&fit, falling, 2));
    assert_true(fit.capacitance_clamped && fit.capacitance_f == 0 && fit.static_w == 5 &&
                !fit.static_clamped);
    const struct pw_setting even[] = {{0, 2e9, 1, 5}, {0, 1e9, 1, 5}}; /* 0 is what fits */
    assert_true(pw_fit(&fit, even, 2));
    assert_true(fit.capacitance_f == 0 && !fit.capacitance_clamped);
}

static void dot_get(struct pw_machine *machine, struct pw_point *points) {
    struct pw_kernel kernel = {0};
    struct ip_error err = {0};
    assert_int_equal(scc_machine(machine, &err), IP_OK);
    assert_int_equal(scc_kernel(&kernel, "dot", 0, &err), IP_OK);
    points_get(points, machine, &kernel);
    pw_kernel_fini(&kernel);
}

static void measurements(void **state) {
    (void)state;
    struct pw_machine machine;
    struct pw_point points[PW_SETTINGS_MAX];
    struct pw_measured measured[PW_SETTINGS_MAX];
    struct ip_error err = {0};
    dot_get(&machine, points);
    assert_int_equal(
        pw_measured_parse(measured, "f",
                          "# note\nfreq_hz,time_s,power_w,else\n800e6,0.5,2,x\r\n320000000,1,,y\n", &machine,
                          points, 1e9, &err),
        IP_OK);
    assert_near(measured[0].cycles, 4e8, 1);
    assert_near(measured[0].gflops_per_watt, 1, 1e-12);
    assert_near(measured[3].gflops_per_watt, 1 / points[3].power_w, 1e-9);
    assert_true(isnan(measured[1].cycles));
    assert_int_equal(pw_measured_parse(measured, "f",
                                       "\"divisor\" , \"cycles\",\"a \"\"b\"\", c\"\r\n  # \"\n"
                                       "\"2\",\"4e8\",\r\n3, 5 , \"\"\r\n\r\n",
                                       &machine, points, 1e9, &err),
                     IP_OK);
    assert_near(measured[0].cycles, 4e8, 1);
    assert_near(measured[1].cycles, 5, 1e-9);
    /* What a table cuts (1600 MHz / 15), and what two digits round, is no contradiction. */
    assert_int_equal(pw_measured_parse(measured, "f", "divisor,freq_hz,cycles,time_s\n15,106e6,1.12e8,1.1\n",
                                       &machine, points, 1e9, &err),
                     IP_OK);
    assert_true(measured[13].cycles == 1.12e8 && measured[13].time_s == 1.1);
    static const struct {
        const char *text, *place, *words;
    } bad[] = {
        {"", "f", "no measurements"},
        {"divisor,cycles\n", "f", "no measurements"},
        {"cycles\n5\n", "f:1", "'divisor' or 'freq_hz'"},
        {"divisor\n5\n", "f:1", "'cycles' or 'time_s'"},
        {"divisor,cycles\n17,5\n", "f:2", "no setting with divisor 17"},
        {"divisor,cycles\n2,-5\n", "f:2", "larger than 0"},
        {"divisor,cycles\n2,many\n", "f:2", "not 'many'"},
        {"freq_hz,cycles\n5e9,5\n", "f:2", "no setting of 5000.00 MHz"},
        {"divisor,cycles\n,5\n", "f:2", "no divisor"},
        {"divisor,cycles\n2,5\n2,6\n", "f:3", "a line above has the setting of 800.00 MHz"},
        {"divisor,freq_hz,cycles\n2,,5\n,800e6,5\n", "f:3", "a line above has the setting of 800.00 MHz"},
        {"divisor,cycles,cycles\n2,5,6\n", "f:1", "column 'cycles' twice"},
        {"divisor,cycles\n2\n", "f:2", "1 field, where the header has 2"},
        {"divisor,cycles\n2,5,6\n", "f:2", "3 fields, where the header has 2"},
        {"divisor,cycles,time_s\n2,,\n", "f:2", "no cycles and no time"},
        {"divisor,freq_hz,cycles\n2,100000000,300\n", "f:2",
         "divisor 2 is the setting of 800.00 MHz, but freq_hz is that of 100.00 MHz"},
        {"divisor,freq_hz,cycles\n16,106.7e6,300\n", "f:2", "but freq_hz is that of 106.70 MHz"},
        {"freq_hz,cycles,time_s\n8e8,300,5\n", "f:2",
         "300 cycles take 3.75e-07 s at 800.00 MHz, but time_s is 5"},
        {"divisor,cycles,time_s\n15,1.6e8,1.6\n", "f:2", "1.6e+08 cycles take 1.5 s"},
        {"divisor,cycles,time_s\n15,1.6e8,1.4\n", "f:2", "1.6e+08 cycles take 1.5 s"},
        {"divisor,\"cycles\n2,5\n", "f:1:9", "quotes"},
        {"divisor,cycles\n2,\"5\"0\n", "f:2:3", "quotes"},
        {",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n", "f:1:33", "more than 32 fields"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        enum ip_status status = pw_measured_parse(measured, "f", bad[i].text, &machine, points, 1, &err);
        if (status != IP_SYNTAX || strcmp(err.place, bad[i].place) != 0 ||
            strstr(err.text, bad[i].words) == NULL) {
            fail_msg("case %zu: %s: %s", i, err.place, err.text);
        }
    }
}

static size_t occurrences(const char *text, const char *word) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        count++;
    }
    return count;
}

static void figures(void **state) {
    (void)state;
    static const char *const y_names[] = {"Cycles (millions)", "Time (ms)", "Power efficiency (GFlops/W)"};
    struct pw_machine machine;
    struct pw_point points[PW_SETTINGS_MAX];
    struct pw_measured measured[PW_SETTINGS_MAX];
    struct ip_error err = {0};
    dot_get(&machine, points);
    assert_int_equal(pw_measured_parse(measured, "f", "divisor,cycles\n2,2e8\n3,1.6e8\n5,1.3e8\n", &machine,
                                       points, 1e6, &err),
                     IP_OK);
    for (int kind = PW_PLOT_CYCLES; kind <= PW_PLOT_GFLOPS_PER_WATT; kind++) {
        struct ip_text svg = {0};
        const struct pw_plot plot = {.kind = (enum pw_plot_kind)kind,
                                     .title = "a < b & \"c\"",
                                     .subtitle = "sub",
                                     .points = points,
                                     .count = machine.setting_count,
                                     .measured = measured,
                                     .best = 3};
        pw_plot_svg(&svg, &plot);
        const char *text = ip_text_string(&svg);
        assert_non_null(strstr(text, "a &lt; b &amp; &quot;c&quot;"));
        assert_non_null(strstr(text, y_names[kind]));
        assert_non_null(strstr(text, "Core frequency divisor"));
        assert_non_null(strstr(text, "chosen: divisor 5"));
        assert_int_equal(occurrences(text, "r=\"4\""), 15 + 1);       /* points and the legend's */
        assert_int_equal(occurrences(text, "l8 8m0 -8l-8 8"), 3 + 1); /* crosses likewise */
        assert_null(strstr(text, "nan"));
        assert_null(strstr(text, "inf"));
        ip_text_fini(&svg);
    }
}

/* A long title gets smaller letters, not a cut end; letters count, not bytes. */
static void long_titles(void **state) {
    (void)state;
    struct pw_machine machine;
    struct pw_point points[PW_SETTINGS_MAX];
    struct ip_text svg = {0};
    dot_get(&machine, points);
    char title[2 * 128 + 1];
    for (size_t i = 0; i < 128; i++) {
        memcpy(title + 2 * i, "\u00e9", 2);
    }
    title[2 * 128] = '\0';
    const struct pw_plot plot = {.kind = PW_PLOT_GFLOPS_PER_WATT,
                                 .title = title,
                                 .subtitle = "short",
                                 .points = points,
                                 .count = machine.setting_count,
                                 .best = -1};
    pw_plot_svg(&svg, &plot);
    assert_non_null(strstr(ip_text_string(&svg), "font-size=\"9.3\" text-anchor=\"middle\" font-weight"));
    assert_non_null(strstr(ip_text_string(&svg), "font-size=\"13\" text-anchor=\"middle\" fill"));
    assert_non_null(strstr(ip_text_string(&svg), ">0.10</text>")); /* the decimals of its step, 0.02 */
    ip_text_fini(&svg);
}

static void sentences(void **state) {
    (void)state;
    static const struct {
        size_t best;
        enum pw_metric metric;
        struct pw_limits limits;
        const char *why;
    } cases[] = {
        {14,
         PW_METRIC_ENERGY,
         {.max_slowdown = 0},
         "divisor 16 (100 MHz) gives the least energy: the kernel is memory-bound here (memory takes 5.08 "
         "times as long as computation), takes 4.26 times as long as at divisor 2 (800 MHz) and 84.2 % less "
         "energy; there is no slower one."},
        {3,
         PW_METRIC_EDP,
         {.max_slowdown = 0},
         "divisor 5 (320 MHz) gives the least energy-delay product: the kernel is memory-bound here (memory "
         "takes 6.49 times as long as computation), takes 1.7 times as long as at divisor 2 (800 MHz) and "
         "79.8 % less energy; the longer time of a slower one outweighs its lower energy."},
        {2,
         PW_METRIC_ENERGY,
         {.max_slowdown = 1.5},
         "divisor 4 (400 MHz) gives the least energy within the limits: the kernel is memory-bound here "
         "(memory takes 7 times as long as computation), takes 1.47 times as long as at divisor 2 (800 MHz) "
         "and 70.3 % less energy; a slower one is over the limit."},
        {0,
         PW_METRIC_ENERGY,
         {.max_slowdown = 1},
         "divisor 2 (800 MHz) gives the least energy within the limits: the kernel is memory-bound here "
         "(memory takes 9.56 times as long as computation), and this is the fastest clock; a slower one is "
         "over the limit."},
        {7,
         PW_METRIC_TIME,
         {.max_power_w = 0.1},
         "divisor 9 (178 MHz) gives the shortest time within the limits: the kernel is memory-bound here "
         "(memory takes 5.58 times as long as computation), takes 2.63 times as long as at divisor 2 (800 "
         "MHz) and 82.6 % less energy; a faster one is over the limit."},
    };
    struct pw_machine machine;
    struct pw_point points[PW_SETTINGS_MAX];
    dot_get(&machine, points);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ip_error err = {0};
        struct ip_text why = {0};
        size_t best = 99;
        assert_int_equal(
            pw_choose(points, machine.setting_count, cases[i].metric, &cases[i].limits, &best, &err), IP_OK);
        assert_int_equal(best, cases[i].best);
        pw_explain(&why, points, machine.setting_count, best, cases[i].metric, &cases[i].limits);
        assert_string_equal(ip_text_string(&why), cases[i].why);
        ip_text_fini(&why);
    }
    /* One side alone. */
    struct pw_kernel kernel = {.name = "k", .body_cycles = 1, .iterations = 1};
    struct ip_text why = {0};
    points_get(points, &machine, &kernel);
    pw_explain(&why, points, machine.setting_count, 3, PW_METRIC_ENERGY, &cases[0].limits);
    assert_non_null(strstr(ip_text_string(&why), "compute-bound here (it leaves the memory alone)"));
    ip_text_fini(&why);
    kernel = (struct pw_kernel){.name = "k", .accesses = 1, .iterations = 1};
    points_get(points, &machine, &kernel);
    pw_explain(&why, points, machine.setting_count, 3, PW_METRIC_ENERGY, &cases[0].limits);
    assert_non_null(strstr(ip_text_string(&why), "memory-bound here (it computes nothing)"));
    ip_text_fini(&why);
}

/* Why no other setting, of machines that are not the SCC. */
static void reasons(void **state) {
    (void)state;
    static const char measured[] = "machine m\naccess 100 ns\nsetting 2 GHz\nsetting 1.5 GHz\nsetting 1 GHz\n"
                                   "measured 2 GHz 20 W\nmeasured 1.5 GHz 5 W\nmeasured 1 GHz 9 W\n";
    static const char halves[] = "machine m\nsetting 2 GHz\nsetting 1 GHz\n"
                                 "measured 2 GHz 8 W\nmeasured 1 GHz 4 W\n";
    static const char flat[] = "machine m\naccess 100 ns\ncapacitance 1 nF\nstatic 3 W\nsetting 3 GHz 1 V\n"
                               "setting 2 GHz 1 V\nsetting 1 GHz 1 V\n";
    static const char watts_unknown[] = "machine m\naccess 100 ns\nsetting 3 GHz\nsetting 2 GHz\n";
    static const struct pw_kernel fetches = {.name = "k", .body_cycles = 1, .iterations = 1, .accesses = 1};
    static const struct pw_kernel computes = {.name = "k", .body_cycles = 300, .iterations = 1};
    static const struct {
        const char *machine;
        const struct pw_kernel *kernel;
        enum pw_metric metric;
        double max_power_w, max_slowdown;
        const char *begin, *end;
    } cases[] = {
        {measured, &fetches, PW_METRIC_ENERGY, 0, 0,
         "1500 MHz gives the least energy:", "75.0 % less energy; a slower one draws no less."},
        {halves, &computes, PW_METRIC_ENERGY, 0, 0,
         "2000 MHz gives the least energy, the fastest of 2 settings that tie:",
         "fastest clock; with a slower one the longer time makes up for the lower power."},
        {flat, &computes, PW_METRIC_EDP, 4.5, 0, "1000 MHz gives the least energy-delay product within the",
         "100.0 % more energy; a faster one is over the limit."},
        /* A limit that a slower one breaks, which costs more anyhow. */
        {flat, &computes, PW_METRIC_EDP, 0, 1.2, "3000 MHz gives the least energy-delay product within the",
         "fastest clock; a slower one lowers the voltage no further."},
        {flat, &fetches, PW_METRIC_TIME, 0, 0,
         "1000 MHz gives the shortest time, the one with the least energy of 3 settings that take as long:",
         "takes as long as at 3000 MHz and 33.3 % less energy."},
        {flat, &fetches, PW_METRIC_TIME, 5.5, 0,
         "1000 MHz gives the shortest time within the limits, the one with the least energy of 2 settings",
         "33.3 % less energy."},
        {watts_unknown, &fetches, PW_METRIC_TIME, 0, 0,
         "3000 MHz gives the shortest time, the one with the fastest clock of 2 settings that take as long:",
         "and this is the fastest clock."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct pw_limits limits = {.max_power_w = cases[i].max_power_w,
                                         .max_slowdown = cases[i].max_slowdown};
        struct pw_machine machine;
        struct pw_point points[PW_SETTINGS_MAX];
        struct ip_error err = {0};
        struct ip_text text = {0};
        size_t best = 99;
        assert_int_equal(pw_machine_parse(&machine, "m", cases[i].machine, &err), IP_OK);
        points_get(points, &machine, cases[i].kernel);
        assert_int_equal(pw_choose(points, machine.setting_count, cases[i].metric, &limits, &best, &err),
                         IP_OK);
        pw_explain(&text, points, machine.setting_count, best, cases[i].metric, &limits);
        const char *why = ip_text_string(&text);
        size_t end = strlen(cases[i].end);
        if (strncmp(why, cases[i].begin, strlen(cases[i].begin)) != 0 || strlen(why) < end ||
            strcmp(why + strlen(why) - end, cases[i].end) != 0) {
            fail_msg("case %zu: %s", i, why);
        }
        ip_text_fini(&text);
    }
}

/* Without static power C scales watts and joules and changes no comparison: the SCC's is an assumption. */
static void capacitance_decides_nothing(void **state) {
    (void)state;
    struct ip_random random = {seed + 4};
    for (int c = 0; c < CASES; c++) {
        struct pw_machine machine;
        struct pw_kernel kernel;
        struct pw_point points[2][PW_SETTINGS_MAX];
        const struct pw_limits limits = {.max_slowdown = between(&random, 1, 4)};
        enum pw_metric metric = (enum pw_metric)ip_random_below(&random, PW_METRIC_TIME + 1);
        size_t best[2] = {98, 99};
        machine_random(&machine, &random);
        kernel_random(&kernel, &random);
        machine.static_w = 0;
        double factor = between(&random, 0.01, 100);
        for (int i = 0; i < 2; i++) {
            struct ip_error err = {0};
            points_get(points[i], &machine, &kernel);
            assert_int_equal(pw_choose(points[i], machine.setting_count, metric, &limits, &best[i], &err),
                             IP_OK);
            machine.capacitance_f *= factor;
        }
        assert_int_equal(best[0], best[1]);
        for (size_t i = 0; i < machine.setting_count; i++) {
            assert_true(fabs(points[1][i].energy_j / points[0][i].energy_j / factor - 1) < 1e-9);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scaling),
        cmocka_unit_test(sides),
        cmocka_unit_test(choice),
        cmocka_unit_test(choice_ties),
        cmocka_unit_test(choice_equally_fast),
        cmocka_unit_test(reasons),
        cmocka_unit_test(choice_refusals),
        cmocka_unit_test(nothing_to_do),
        cmocka_unit_test(fit_recovers),
        cmocka_unit_test(fit_limits),
        cmocka_unit_test(measurements),
        cmocka_unit_test(figures),
        cmocka_unit_test(long_titles),
        cmocka_unit_test(sentences),
        cmocka_unit_test(capacitance_decides_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
