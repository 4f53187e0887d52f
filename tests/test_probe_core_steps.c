/* SPDX-License-Identifier: Apache-2.0 */
/* Where sweeps change, on sweeps that were recorded on silicon; and the flags after simple instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/core_flags.h"
#include "probe/core_steps.h"

enum { POINTS_MAX = 96 };

static size_t points_fill(struct probe_point *points, double first, double step, const double *y,
                          size_t count) {
    for (size_t i = 0; i < count; i++) {
        points[i] = (struct probe_point){.x = first + (double)i * step, .y = y[i]};
    }
    return count;
}

#define FILL(points, first, step, y) points_fill(points, first, step, y, sizeof(y) / sizeof((y)[0]))

/* Cycles of a loop with two chains and 16, 32 ... loads between them: a load buffer of 192. */
static const double loads_coarse[] = {194.9, 194.5, 194.7, 194.7, 194.4, 194.5, 221.7, 226.8, 239.7,
                                      251.1, 261.6, 272.4, 435.2, 442.9, 448.2, 453.5, 463.1, 474.3,
                                      484.9, 497.0, 507.3, 517.8, 528.3, 539.6, 546.2};

/* The same with 440, 441 ... NOPs: the reorder buffer. Its last entries come back in bundles. */
static const double nops_fine[] = {
    553.1, 553.0, 555.3, 556.1, 553.8, 556.0, 554.0, 555.8, 556.3, 557.6, 556.9, 557.7, 558.8, 558.6,
    559.5, 559.2, 558.5, 561.3, 560.8, 559.6, 560.4, 562.1, 560.8, 561.4, 563.0, 564.0, 563.9, 564.7,
    563.8, 564.4, 564.9, 563.5, 565.7, 565.7, 567.4, 566.4, 566.9, 567.5, 567.2, 589.5, 616.0, 641.0,
    667.5, 693.6, 719.0, 745.4, 771.1, 794.4, 821.5, 849.1, 861.7, 875.3, 899.8, 923.9, 911.6, 911.3,
    946.6, 960.3, 960.5, 960.9, 960.1, 960.5, 961.4, 963.0, 962.6, 964.0, 964.6, 965.1, 964.4, 966.5,
    965.6, 967.5, 965.8, 966.0, 966.5, 967.6, 970.6, 970.6, 970.0, 970.2, 971.3};

/* Cycles of a window of code in loops of 8192, 12288 ... bytes: an instruction cache of 32 KiB. */
static const double code[] = {2.81, 2.81, 2.88, 2.93, 3.01, 3.06, 3.15, 4.96, 5.01, 4.99, 4.99, 4.98};

static void jump(void **state) {
    (void)state;
    struct probe_point points[POINTS_MAX];
    size_t count = FILL(points, 16, 16, loads_coarse);
    size_t at = probe_jump(points, count);
    assert_true(points[at].x < 208 && points[at + 2].x >= 208); /* 192 loads fit, 208 do not */
    count = FILL(points, 8192, 4096, code);
    at = probe_jump(points, count);
    assert_true(points[at].x <= 32768 && points[at + 2].x > 32768);
    assert_int_equal(probe_jump(points, 2), 2);
}

static void arrival(void **state) {
    (void)state;
    struct probe_point points[POINTS_MAX];
    size_t count = FILL(points, 440, 1, nops_fine);
    assert_int_equal(points[probe_arrival(points, count, 12, 6.5)].x, 497);
    /* A sweep that has arrived all along, and one that is too short to tell. */
    assert_int_equal(probe_arrival(points + 58, count - 58, 12, 6.5), 0);
    assert_int_equal(probe_arrival(points, 12, 12, 6.5), 12);
}

static void departure(void **state) {
    (void)state;
    struct probe_point points[POINTS_MAX];
    size_t count = FILL(points, 8192, 4096, code);
    size_t staying = probe_departure(points, count, 0.25, 1.3);
    assert_int_equal(points[staying - 1].x, 32768);
    /* Less of a rise than asked for; a first point that is off. */
    assert_int_equal(probe_departure(points, count, 0.25, 2.0), count);
    points[0].y = 4.0;
    assert_int_equal(probe_departure(points + 1, count - 1, 0.25, 1.3), staying - 1);
    points[0].y = 2.8;
    points[1].y = 5.0;
    assert_int_equal(probe_departure(points, count, 0.25, 1.3), 1);
    assert_int_equal(probe_departure(points, 3, 0.25, 1.3), 3);
}

#if defined(__x86_64__)
/* The conditions that this CPU sees after an instruction: bit 0 is "o", bit 1 "no", ... */
static uint16_t conditions_here(enum core_operation operation, uint64_t a, uint64_t b) {
    uint64_t flags = 0;
    switch (operation) {
#define CASE(name, instruction)                                                                              \
    case name:                                                                                               \
        __asm__ volatile("clc\n\t" instruction "\n\tpushfq\n\tpopq %0"                                       \
                         : "=r"(flags), "+r"(a)                                                              \
                         : "r"(b)                                                                            \
                         : "cc", "memory");                                                                  \
        break
        CASE(CORE_ADD, "addq %2, %1");
        CASE(CORE_SUB, "subq %2, %1");
        CASE(CORE_AND, "andq %2, %1");
        CASE(CORE_OR, "orq %2, %1");
        CASE(CORE_XOR, "xorq %2, %1");
        CASE(CORE_INC, "incq %1");
        CASE(CORE_DEC, "decq %1");
        CASE(CORE_NEG, "negq %1");
#undef CASE
    }
    unsigned c = flags & 1, p = flags >> 2 & 1, z = flags >> 6 & 1, s = flags >> 7 & 1, o = flags >> 11 & 1;
    const unsigned even[8] = {o, c, z, c | z, s, p, s ^ o, (s ^ o) | z};
    uint16_t conditions = 0;
    for (unsigned i = 0; i < 16; i++) {
        conditions |= (uint16_t)((even[i / 2] ^ (i & 1)) << i);
    }
    return conditions;
}

static void flags(void **state) {
    (void)state;
    for (unsigned operation = CORE_ADD; operation <= CORE_NEG; operation++) {
        for (unsigned i = 0; i < CORE_FLAGS_VALUES; i++) {
            for (unsigned j = 0; j < CORE_FLAGS_VALUES; j++) {
                uint64_t a = core_flags_value(i, 64), b = core_flags_value(j, 64);
                uint16_t here = conditions_here(operation, a, b);
                for (unsigned condition = 0; condition < CORE_CONDITIONS; condition++) {
                    assert_int_equal(core_flags_true(operation, 64, a, b, condition), here >> condition & 1);
                }
            }
        }
    }
}
#endif

/* Narrow operands: the same values at their own ends. */
static void narrow(void **state) {
    (void)state;
    enum { O = 0, B = 2, Z = 4, S = 8, L = 12 };
    uint64_t least = core_flags_value(7, 8), most = core_flags_value(8, 8);
    assert_int_equal(least & 0xff, 0x80);
    assert_int_equal(most & 0xff, 0x7f);
    assert_true(core_flags_true(CORE_SUB, 8, least, 1, O));
    assert_true(core_flags_true(CORE_ADD, 8, most, 1, O));
    assert_false(core_flags_true(CORE_ADD, 16, most, 1, O));
    assert_true(core_flags_true(CORE_ADD, 8, 0xff, 1, B));
    assert_true(core_flags_true(CORE_ADD, 8, 0xff, 1, Z));
    assert_false(core_flags_true(CORE_ADD, 16, 0xff, 1, B));
    assert_true(core_flags_true(CORE_SUB, 8, 0, 1, S));
    assert_true(core_flags_true(CORE_SUB, 8, least, 1, L));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jump),
        cmocka_unit_test(arrival),
        cmocka_unit_test(departure),
#if defined(__x86_64__)
        cmocka_unit_test(flags),
#endif
        cmocka_unit_test(narrow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
