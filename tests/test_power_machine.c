/* SPDX-License-Identifier: Apache-2.0 */
/* Machine and kernel descriptions: what is taken, and the one clear line for what is not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "power/expression.h"
#include "power/kernel.h"
#include "power/machine.h"
#include "scc_model/scc.h"
#include "tests/near.h"

#define HEAD "machine m\nreference 1600 MHz\n"

struct bad {
    const char *text, *place, *words;
};

static void machine_errors(void **state) {
    (void)state;
    static const struct bad cases[] = {
        {HEAD "setting div 2 1.1 V\nsetting div 4 0.7 V\n", "f:4", "a gap: divisor 3 is missing"},
        {HEAD "setting div 2 -1.1 V\n", "f:3", "the voltage -1.1 V is to be larger than 0"},
        {HEAD "setting div 2 0 V\n", "f:3", "larger than 0"},
        {"machine m\nsetting 1 GHz 1 V\nsetting 2 GHz 1 V\n", "f:3", "sort the settings"},
        {"machine m\nsetting 1 GHz 1 V\nsetting 1 GHz 1 V\n", "f:3", "sort the settings"},
        {"machine m\nsetting 800 1 V\n", "f:2", "the frequency 800 has no unit"},
        {"machine m\nsetting 800 MHz 1.1\n", "f:2", "the voltage 1.1 has no unit"},
        {"machine m\nsetting 800 MHz 1.1 W\n", "f:2", "'W' is no unit of the voltage"},
        {"machine m\nsetting 800 mhz 1.1 V\n", "f:2", "'mhz' is no unit"},
        {"machine m\nclock memory 800\n", "f:2", "has no unit"},
        {"machine m\naccess 40 core\n", "f:2", "no unit: write 'cycles'"},
        {"machine m\naccess 40\n", "f:2", "has no unit"},
        {"machine m\naccess 46 memory cycles\n", "f:2", "no clock 'memory'"},
        {"machine m\naccess -1 core cycles\n", "f:2", "less than nothing"},
        {"machine m\nclock core 1 GHz\n", "f:2", "there already"},
        {"machine m\npending 0 requests\n", "f:2", "N from 1 to 1e+18"},
        {"machine m\npending 2e18 requests\n", "f:2", "N from 1 to 1e+18"},
        {"machine m\nhops 2e18\n", "f:2", "at most 1e+18"},
        {"machine m\npending 2\n", "f:2", "pending N requests"},
        {"machine m\nhops 1.5\n", "f:2", "whole number"},
        {"machine m\nmachine n\n", "f:2", "a second 'machine'"},
        {"machine m\nvolts 3\n", "f:2", "unknown keyword 'volts'"},
        {"machine m\nsetting div 2 1 V\n", "f:2", "needs the line 'reference"},
        {HEAD "setting div 2 700 MHz 1 V\n", "f:3", "700 MHz is not 1600 MHz / 2"},
        {HEAD "setting div 2.5 1 V\n", "f:3", "whole number"},
        {HEAD "setting div 2 1 V\nsetting 400 MHz 1 V\n", "f:4", "not some of each"},
        {HEAD "setting div 2 1 V\nmeasured div 7 3 W\n", "f:4", "no setting has divisor 7"},
        {HEAD "setting div 2 1 V\nmeasured 500 MHz 3 W\n", "f:4", "no setting has 500.00 MHz"},
        {HEAD "setting div 2 1 V\nmeasured div 2 3 W\nmeasured div 2 3 W\n", "f:5", "already"},
        {HEAD "setting div 2 1 V\nmeasured div 2 -3 W\n", "f:4", "larger than 0"},
        {HEAD "setting div 2 1 V\nsetting div 3\n", "f:4", "has no voltage"},
        {HEAD "setting div 2\ncapacitance 1 nF\n", "f:3", "has no voltage"},
        {HEAD "setting div 2\ncapacitance 1 nF\nmeasured div 2 3 W\n", "f:3", "has no voltage"},
        {HEAD "setting div 2 1 V\nsetting div 3 0.9 V\nmeasured div 3 3 W\n", "f:5",
         "two measured settings that differ in V²·f are needed"},
        {HEAD "setting div 2 1 V extra\n", "f:3", "'extra' is not expected"},
        {HEAD "setting div 2 1 V\nstatic 1 W\n", "f", "without 'capacitance'"},
        {HEAD "setting div 2 1 V\ncapacitance 0 nF\n", "f:4", "larger than 0"},
        {"reference 1 GHz\nsetting 1 GHz 1 V\n", "f", "'machine NAME' is missing"},
        {"machine m\n", "f", "no settings"},
        {"machine m\nsetting \x01 1 V\n", "f:2", "control character"},
        {"machine m\nsetting 1e999 MHz 1 V\n", "f:2", "too large"},
        {"machine m\nsetting inf MHz 1 V\n", "f:2", "no number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pw_machine machine;
        memset(&machine, 0x5a, sizeof machine);
        struct ip_error err = {0};
        enum ip_status status = pw_machine_parse(&machine, "f", cases[i].text, &err);
        if (status != IP_SYNTAX || strcmp(err.place, cases[i].place) != 0 ||
            strstr(err.text, cases[i].words) == NULL || strchr(err.text, '\n') != NULL) {
            fail_msg("case %zu: status %d, %s: %s", i, (int)status, err.place, err.text);
        }
        assert_int_equal(machine.setting_count, 0x5a5a5a5a5a5a5a5a); /* untouched */
    }
}

static void machine_round_trip(void **state) {
    (void)state;
    struct pw_machine machines[2];
    struct ip_error err = {0};
    assert_int_equal(scc_machine(&machines[0], &err), IP_OK);
    assert_int_equal(pw_machine_read(&machines[1], "tests/data/power/desktop.machine", &err), IP_OK);
    assert_int_equal(machines[1].power, PW_POWER_FITTED);
    for (size_t m = 0; m < 2; m++) {
        struct ip_text first = {0}, second = {0};
        struct pw_machine back;
        pw_machine_print(&first, &machines[m]);
        assert_int_equal(pw_machine_parse(&back, "printed", ip_text_string(&first), &err), IP_OK);
        pw_machine_print(&second, &back);
        assert_string_equal(ip_text_string(&first), ip_text_string(&second));
        assert_int_equal(back.setting_count, machines[m].setting_count);
        assert_int_equal(back.power, machines[m].power);
        for (size_t i = 0; i < back.setting_count; i++) {
            assert_near(pw_machine_power_w(&back, i) / pw_machine_power_w(&machines[m], i), 1, 1e-9);
        }
        ip_text_fini(&first);
        ip_text_fini(&second);
    }
}

/* A CPU's identity as results/machine.c has it, of 26 words, a title of many, and as many as a line holds. */
static void machine_words(void **state) {
    (void)state;
    struct pw_machine machine;
    struct ip_error err = {0};
    static const char identity[] = "GenuineIntel family 6 model 151 stepping 2, 12th Gen Intel(R) Core(TM) "
                                   "i9-12900K @ 3.20GHz, performance core, L1d 48 KiB, L1i 32 KiB, "
                                   "L2 1280 KiB, AVX, AVX2";
    char text[2 * PW_LINE_MAX];
    int used = snprintf(text, sizeof text, "machine m\nsetting 1 GHz 1 V\ncpu %s\ntitle", identity);
    for (int i = 0; i < 79; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used, " t");
    }
    assert_int_equal(pw_machine_parse(&machine, "f", text, &err), IP_OK);
    assert_string_equal(machine.cpu, identity);
    assert_int_equal(strlen(machine.title), 2 * 79 - 1);
    memcpy(text, "machine m\n", 10);
    for (size_t i = 0; i < PW_LINE_MAX; i++) {
        text[10 + i] = i % 2 == 0 ? 'x' : ' ';
    }
    text[10 + PW_LINE_MAX - 1] = '\0'; /* 256 words, the last one at the end */
    assert_int_equal(pw_machine_parse(&machine, "f", text, &err), IP_SYNTAX);
    assert_string_equal(err.place, "f:2");
    assert_non_null(strstr(err.text, "unknown keyword 'x'"));
}

/* The forms that the documentation promises. */
static void machine_forms(void **state) {
    (void)state;
    struct pw_machine machine;
    struct ip_error err = {0};
    static const char text[] = "machine m # a comment\r\n\n  clock mesh 1GHz\naccess 2 mesh cycles per hop\n"
                               "access 10 ns\nhops 4\nsetting 2GHz 900mV\nsetting 1500 MHz\t0.8 V\n";
    assert_int_equal(pw_machine_parse(&machine, "f", text, &err), IP_OK);
    assert_string_equal(machine.name, "m");
    assert_near(machine.settings[0].volts, 0.9, 1e-12);
    assert_near(pw_machine_access_cycles(&machine, 2e9), 2 * 4 * 2 + 20, 1e-9);
    assert_int_equal(machine.power, PW_POWER_UNKNOWN);
    assert_true(isnan(pw_machine_power_w(&machine, 0)));
    /* Watts without volts are taken as they are. */
    assert_int_equal(pw_machine_parse(&machine, "f", "machine m\nsetting 2 GHz\nmeasured 2 GHz 7 W\n", &err),
                     IP_OK);
    assert_int_equal(machine.power, PW_POWER_MEASURED);
    assert_near(pw_machine_power_w(&machine, 0), 7, 0);
}

static void kernel_errors(void **state) {
    (void)state;
    static const struct bad cases[] = {
        {"size 4\nbody 1 cycles\niterations size\n", "f", "'kernel NAME' is missing"},
        {"kernel k\nbody 1 cycles\niterations size\n", "f", "the size is missing"},
        {"kernel k\nsize 4\nbody 1 cycles\n", "f", "'iterations ...' is missing"},
        {"kernel k\nsize 4\niterations size\n", "f", "neither 'body"},
        {"kernel k\nsize 4\nbody 1\niterations 1\n", "f:3", "has no unit: write 'cycles'"},
        {"kernel k\nsize 1 - 4\n", "f:2", "larger than 0"},
        {"kernel k\nsize 4 +\n", "f:2", "number or a name expected"},
        {"kernel k\nsize 4\nbody 1 cycles\niterations length\n", "f:4", "unknown name (known: size, unroll)"},
        {"kernel k\nsize size\n", "f:2", "unknown name (known: none here)"},
        {"kernel k\nsize 4\nbody 1 cycles\niterations size / (unroll - 1)\n", "f:4", "division by zero"},
        {"kernel k\nsize 4\nbody 1 cycles\niterations size\naccesses -1 * size\n", "f:5", "expected"},
        {"kernel k\nsize 4\nbody 1 cycles\niterations size\naccesses 1 - size\n", "f:5",
         "cannot be negative"},
        {"kernel k\nsize 4\nbody 1 cycles\niterations size - 4\n", "f", "does nothing"},
        {"kernel k\nsize 4\ncode\nnop\n", "f:3", "has no 'end'"},
        {"kernel k\nsize 4\ncode\n\nend\niterations 1\n", "f", "the code block is empty"},
        {"kernel k\nwatts 3\n", "f:2", "unknown keyword 'watts'"},
        {"kernel k\nsize 4\nsize 5\n", "f:3", "a second 'size'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pw_kernel kernel = {0};
        struct ip_error err = {0};
        enum ip_status status = pw_kernel_parse(&kernel, "f", cases[i].text, 0, &err);
        if (status != IP_SYNTAX || strcmp(err.place, cases[i].place) != 0 ||
            strstr(err.text, cases[i].words) == NULL) {
            fail_msg("case %zu: status %d, %s: %s", i, (int)status, err.place, err.text);
        }
        assert_null(kernel.code.data);
    }
}

static void kernel_size(void **state) {
    (void)state;
    struct pw_kernel kernel = {0};
    struct ip_error err = {0};
    assert_int_equal(pw_kernel_read(&kernel, "tests/data/power/triad.kernel", 0, &err), IP_OK);
    assert_near(kernel.iterations, 2.5e6, 0);
    assert_near(kernel.accesses, 3.75e6, 0);
    assert_int_equal(pw_kernel_read(&kernel, "tests/data/power/triad.kernel", 64, &err), IP_OK);
    assert_near(kernel.iterations, 16, 0);
    assert_near(kernel.flops, 128, 0);
    pw_kernel_fini(&kernel);
    assert_int_equal(scc_kernel(&kernel, "fft", 0, &err), IP_USAGE);
}

static void expressions(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"2^3^2", 512}, {"1+2*3", 7},     {"(1+2)*3", 9},
                {"8/4/2", 1},   {"size^1.5", 64}, {" 1e3 - 1 ", 999}};
    static const char *const bad[] = {"", "1 2", "(1", "1)", "a", "1/0", "9^9^9^9", "0x10", "--1", "1..2"};
    const struct pw_variable size = {"size", 16};
    struct ip_error err = {0};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double value = NAN;
        assert_int_equal(pw_expression(good[i].text, &size, 1, &value, &err), IP_OK);
        assert_near(value, good[i].value, 1e-9);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value = 5;
        if (pw_expression(bad[i], &size, 1, &value, &err) != IP_SYNTAX || value != 5) {
            fail_msg("'%s' was taken", bad[i]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machine_errors), cmocka_unit_test(machine_round_trip),
        cmocka_unit_test(machine_words),  cmocka_unit_test(machine_forms),
        cmocka_unit_test(kernel_errors),  cmocka_unit_test(kernel_size),
        cmocka_unit_test(expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
