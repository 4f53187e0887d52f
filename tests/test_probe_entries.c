/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of decoded code, from what lines of it take. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "probe/entries.h"

enum { LINES = 23, WIDTH = 8 };
/* Lines are read longer by so much. */
static const double longer[] = {1.0, 1.01, 1.035};
static const unsigned counts[LINES] = {6,  8,  10, 12, 13, 14, 15, 16, 17, 18, 20, 22,
                                       24, 25, 26, 28, 30, 32, 36, 40, 48, 56, 64};

static void line_put(struct probe_core *core, unsigned count, double cycles) {
    char key[16];
    struct ip_error err = {0};
    (void)snprintf(key, sizeof key, "line %02u", count);
    assert_int_equal(probe_core_set(core, key, cycles, 0.01, "by hand", &err), IP_OK);
}

/* Lines of a core with entries of so many instructions, of which `cycles` says what k take. */
static void lines_put(struct probe_core *core, unsigned size, bool across, double more,
                      double (*cycles)(unsigned k)) {
    for (unsigned i = 0; i < LINES; i++) {
        const unsigned lines = across ? size : 1;
        double sum = 0;
        for (unsigned line = 0; line < lines; line++) {
            unsigned begun = 0;
            for (unsigned n = line * counts[i]; n < (line + 1) * counts[i]; n++) {
                begun += (across ? n : n - line * counts[i]) % size == 0;
            }
            sum += cycles(begun);
        }
        line_put(core, counts[i], more * fmax(sum / lines, (double)counts[i] / WIDTH));
    }
}

static double two_at_a_time(unsigned k) {
    return k % 2 == 0 && k > 0 ? k - 1 : fmax(k, 1);
}

static double one_at_a_time(unsigned k) {
    return k == 0 ? 1 : k;
}

static void test_entries(void **state) {
    (void)state;
    for (unsigned i = 0; i < 3 * 2 * sizeof longer / sizeof longer[0]; i++) {
        const unsigned size = 4 + i % 3, across = i / 3 % 2;
        struct probe_core core = {0};
        struct probe_entries entries;
        lines_put(&core, size, across != 0, longer[i / 6], two_at_a_time);
        probe_entries_find(&entries, &core, WIDTH);
        /* Where each line begins one, two that are read together are as one. */
        const unsigned pair = across ? 1 : 2;
        assert_int_equal(entries.size, pair * size);
        assert_int_equal(entries.across, across);
        for (unsigned k = 0; k * size * pair <= 24; k++) {
            assert_true(fabs(entries.cycles[k] - two_at_a_time(pair * k)) < 1e-9);
        }
        probe_core_fini(&core);
    }
}

/* Entries of six, one after the other: as fast as eight issue, or not. */
static void test_what_issue_hides(void **state) {
    (void)state;
    struct probe_core core = {0};
    struct probe_entries entries;
    lines_put(&core, 6, true, 1.01, one_at_a_time);
    probe_entries_find(&entries, &core, WIDTH);
    assert_int_equal(entries.size, 6);
    assert_true(fabs(entries.cycles[10] - 10) < 0.2); /* more than any line that is known has */
    probe_core_fini(&core);
    lines_put(&core, 8, true, 1.01, one_at_a_time);
    probe_entries_find(&entries, &core, WIDTH);
    assert_int_equal(entries.size, 0);
    probe_core_fini(&core);
}

/* Nothing known, or nothing that entries explain. */
static void test_no_entries(void **state) {
    (void)state;
    struct probe_core core = {0};
    struct probe_entries entries;
    probe_entries_find(&entries, &core, WIDTH);
    assert_int_equal(entries.size, 0);
    lines_put(&core, 6, true, 1.01, two_at_a_time);
    line_put(&core, 20, 9);
    probe_entries_find(&entries, &core, WIDTH);
    assert_int_equal(entries.size, 0);
    probe_core_fini(&core);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_what_issue_hides),
        cmocka_unit_test(test_no_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
