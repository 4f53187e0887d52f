/* SPDX-License-Identifier: Apache-2.0 */
/* Which classes are left out when pairs of them were slow, without a CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "probe/portmap.h"
#include "probe/portmap_steps.h"

/* Classes as they were found on a Zen 5: moves of immediates on six ports; CMOV, which took a fifth of a
 * cycle in that run; shifts, VMOVD, a multiplication. */
enum { MOVES, CMOV, SHIFTS, MOVD, MULTIPLICATION, FOUND };

/* Which classes are left when these pairs were slow; a bit for each. */
static unsigned left_of(const bool slows[FOUND][FOUND]) {
    static const struct {
        const char *form;
        unsigned members, width;
    } found[FOUND] = {{"mov r64, imm32", 8, 6},
                      {"cmovz r64, r64", 1, 5},
                      {"rorx r64, r64, imm8", 15, 3},
                      {"vmovd r32, xmm", 9, 2},
                      {"imul r64, r64, imm8", 1, 3}};
    struct isa_form forms[FOUND];
    struct probe_port_member members[FOUND];
    struct probe_portmap map = {.members = members, .member_count = FOUND, .class_count = FOUND};
    struct probe_mapper mapper = {.map = &map};
    struct probe_port_unions *unions = calloc(1, sizeof *unions);
    struct ip_error err = {0};
    unsigned left = 0;
    assert_non_null(unions);
    unions->mapper = &mapper;
    for (unsigned c = 0; c < FOUND; c++) {
        assert_int_equal(isa_form_parse(&forms[c], found[c].form, &err), IP_OK);
        members[c] = (struct probe_port_member){.form = &forms[c], .width = found[c].width, .class = (int)c};
        map.classes[c] = (struct probe_port_class){
            .width = found[c].width, .members = found[c].members, .blocker = {(int)c, -1, -1}};
        memcpy(unions->slows[c], slows[c], FOUND * sizeof slows[c][0]);
    }
    probe_port_unions_settle(unions);
    for (unsigned c = 0; c < FOUND; c++) {
        left |= (members[c].class >= 0 ? 1u : 0u) << c;
    }
    ip_lines_fini(&map.notes);
    free(unions);
    return left;
}

/* Where classes of more members are slow beside one and no other, it is that one which is no blocker. */
static void test_no_blocker(void **state) {
    (void)state;
    enum { ALL = (1 << FOUND) - 1 };
    assert_int_equal(left_of((const bool[FOUND][FOUND]){{false}}), ALL);
    assert_int_equal(left_of((const bool[FOUND][FOUND]){[SHIFTS] = {[CMOV] = true},
                                                        [MOVD] = {[CMOV] = true},
                                                        [MULTIPLICATION] = {[CMOV] = true, [MOVES] = true}}),
                     ALL & ~(1 << CMOV | 1 << MULTIPLICATION));
    /* One alone may be slow by itself, and so may those that have fewer members. */
    assert_int_equal(left_of((const bool[FOUND][FOUND]){[SHIFTS] = {[CMOV] = true}}), ALL & ~(1 << SHIFTS));
    assert_int_equal(
        left_of((const bool[FOUND][FOUND]){[CMOV] = {[MOVES] = true}, [MULTIPLICATION] = {[MOVES] = true}}),
        ALL & ~(1 << CMOV | 1 << MULTIPLICATION));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_blocker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
