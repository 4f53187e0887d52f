/* SPDX-License-Identifier: Apache-2.0 */
/* Several systems of sets explain a port map: which sets are the same in all of them, and what a form's usage
 * is then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/random.h"
#include "isa/decode.h"
#include "probe/usage.h"
#include "tests/port_machine.h"

/* -- Names of ports ---------------------------------------------------------------------------------------
 */

static void system_set(struct probe_portmap *map, unsigned system, const uint32_t *sets) {
    for (unsigned c = 0; c < map->class_count; c++) {
        map->alternatives.sets[system][c] = sets[c];
        if (system == 0) {
            map->classes[c].ports = sets[c];
            map->classes[c].width = (unsigned)__builtin_popcount(sets[c]);
        }
    }
    map->solutions = map->alternatives.count = system + 1;
}

static void ambiguous_are(const struct probe_portmap *map, uint32_t classes) {
    for (unsigned c = 0; c < map->class_count; c++) {
        if (probe_port_class_is_ambiguous(map, c) != ((classes >> c & 1u) != 0)) {
            fail_msg("class %u is told to be %s", c,
                     probe_port_class_is_ambiguous(map, c) ? "ambiguous" : "certain");
        }
    }
}

/* The same sets by other names are no other system. */
static void test_other_names(void **state) {
    (void)state;
    static const uint32_t one[] = {0x1, 0x3, 0x4, 0x6}, other[] = {0x8, 0x9, 0x2, 0x3};
    struct probe_portmap map = {.class_count = 4, .port_count = 3};
    system_set(&map, 0, one);
    system_set(&map, 1, other);
    probe_portmap_align(&map);
    assert_memory_equal(map.alternatives.sets[1], one, sizeof one);
    ambiguous_are(&map, 0);
}

/* Of {01} and {12}, which may as well be {01} and {23}, the one with fewer members is open; so it is with no
 * members at all, by the order of the map. */
static void test_fewer_members(void **state) {
    (void)state;
    static const uint32_t one[] = {0x1, 0x3, 0x4, 0x6}, other[] = {0x2, 0x3, 0x4, 0xc};
    for (unsigned few = 1; few < 4; few += 2) {
        struct probe_portmap map = {.class_count = 4, .port_count = 3};
        system_set(&map, 0, one);
        system_set(&map, 1, other);
        for (unsigned c = 0; c < 4; c++) {
            map.classes[c].members = c == few ? 1 : 5;
        }
        probe_portmap_align(&map);
        ambiguous_are(&map, 1u << few);
        assert_int_equal(map.alternatives.sets[1][few], few == 1 ? 0x9 : 0xc);
    }
}

/* One that stands against two others is open, though it has more members than either. */
static void test_one_against_two(void **state) {
    (void)state;
    static const uint32_t one[] = {0x1d, 0x0a, 0x1a}, other[] = {0x0f, 0x30, 0x70};
    struct probe_portmap map = {.class_count = 3, .port_count = 5};
    system_set(&map, 0, one);
    system_set(&map, 1, other);
    for (unsigned c = 0; c < 3; c++) {
        map.classes[c].members = c == 0 ? 5 : 3;
    }
    probe_portmap_align(&map);
    ambiguous_are(&map, 0x1);
    map.classes[0].members = 7;
    system_set(&map, 1, other);
    probe_portmap_align(&map);
    ambiguous_are(&map, 0x6);
}

static void test_of_what_kind(void **state) {
    (void)state;
    static const uint32_t one[] = {0x1, 0x2, 0xc, 0x8}, other[] = {0x1, 0x2, 0xc, 0x10};
    struct probe_portmap map = {.class_count = 4, .port_count = 4};
    system_set(&map, 0, one);
    map.classes[2].load = map.classes[3].store = true;
    ambiguous_are(&map, 0);
    map.more_solutions = PROBE_PORTSET_MORE; /* the search was broken off */
    ambiguous_are(&map, 0x3);
    system_set(&map, 1, other); /* more than are kept, of those that differ in stores */
    ambiguous_are(&map, 0xc);
    map.more_solutions = PROBE_PORTSET_MORE_ALIKE;
    ambiguous_are(&map, 0x8);
    map.more_solutions = PROBE_PORTSET_NO_MORE;
    ambiguous_are(&map, 0x8);
    map.classes[0].contradicted = true;
    ambiguous_are(&map, 0x9);
}

enum { CLASSES = 6, PORTS = 6, TRIALS = 400 };

/* A random system, and one in which some of its sets are others; the names of its ports are shuffled. */
static void systems_draw(struct ip_random *random, uint32_t *one, uint32_t *other) {
    unsigned names[2 * PORTS];
    for (unsigned p = 0; p < 2 * PORTS; p++) {
        unsigned at = (unsigned)ip_random_below(random, p + 1);
        names[p] = names[at];
        names[at] = p;
    }
    for (unsigned c = 0; c < CLASSES; c++) {
        one[c] = 1 + (uint32_t)ip_random_below(random, (1u << PORTS) - 1);
        uint32_t changed = one[c];
        if (ip_random_below(random, 3) == 0) { /* one port is another */
            changed = (changed & (changed - 1)) | UINT32_C(1) << (PORTS + ip_random_below(random, 2));
        }
        other[c] = 0;
        for (unsigned p = 0; p < 2 * PORTS; p++) {
            other[c] |= (changed >> p & 1u) << names[p];
        }
    }
}

/* Whatever is told to be certain is so together: any mix of it takes the same time in both systems. */
static void test_certain_together(void **state) {
    (void)state;
    struct ip_random random = {.state = 20260};
    unsigned open = 0;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct probe_portmap map = {.class_count = CLASSES, .port_count = PORTS};
        uint32_t one[CLASSES], other[CLASSES];
        systems_draw(&random, one, other);
        system_set(&map, 0, one);
        system_set(&map, 1, other);
        for (unsigned c = 0; c < CLASSES; c++) {
            map.classes[c].members = (unsigned)ip_random_below(&random, 9);
        }
        probe_portmap_align(&map);
        uint32_t certain = 0;
        for (unsigned c = 0; c < CLASSES; c++) {
            bool ambiguous = probe_port_class_is_ambiguous(&map, c);
            certain |= ambiguous ? 0 : 1u << c;
            open += ambiguous;
            assert_int_equal(__builtin_popcount(map.alternatives.sets[1][c]), map.classes[c].width);
            for (unsigned d = 0; d < c; d++) { /* only the names are others */
                assert_int_equal(
                    __builtin_popcount(map.alternatives.sets[1][c] & map.alternatives.sets[1][d]),
                    __builtin_popcount(other[c] & other[d]));
            }
        }
        for (uint32_t classes = 1; classes < 1u << CLASSES; classes++) {
            uint32_t unions[2] = {0};
            for (unsigned c = 0; c < CLASSES; c++) {
                unions[0] |= (classes >> c & 1u) != 0 ? one[c] : 0;
                unions[1] |= (classes >> c & 1u) != 0 ? other[c] : 0;
            }
            if ((classes & ~certain) == 0) {
                assert_int_equal(__builtin_popcount(unions[0]), __builtin_popcount(unions[1]));
            }
        }
    }
    assert_in_range(open, TRIALS / 4, TRIALS * CLASSES / 2);
}

/* -- Usages -----------------------------------------------------------------------------------------------
 */

/* Two clusters of two ports behind three issue slots: {01} and {12}, or {01} and {23}. */
static const struct cast small[] = {{"popcnt r64, r64", "0"},
                                    {"movsxd r64, r32", "01"},
                                    {"andn r64, r64, r64", "01"},
                                    {"rorx r64, r64, imm8", "01"},
                                    {"vpshufb xmm, xmm, xmm", "2"},
                                    {"vpaddd xmm, xmm, xmm", "23"},
                                    {"vpand xmm, xmm, xmm", "23"},
                                    {"pdep r64, r64, r64", "1*p0+1*p01 latency 3"},
                                    {"pext r64, r64, r64", "2*p0 latency 3"},
                                    {"vphaddd xmm, xmm, xmm", "1*p23+1*p2 latency 3"},
                                    {"", ""}};

static void usages_are(struct machine *machine, const char *const told[][2], size_t count) {
    struct ip_error err = {0};
    struct isa_form *forms[8];
    struct probe_usage usages[8];
    struct hx_meter meter = hx_bench_meter(&machine->bench);
    assert_in_range(count, 1, 8);
    for (size_t i = 0; i < count; i++) {
        forms[i] = isa_table_find(&machine->table, told[i][0]);
        assert_non_null(forms[i]);
    }
    assert_int_equal(isa_forms_derive(forms, count, &err), IP_OK);
    assert_int_equal(probe_usage_measure(&meter, &machine->bench.encoder, &machine->map, NULL, forms, NULL,
                                         count, usages, &err),
                     IP_OK);
    for (size_t i = 0; i < count; i++) {
        char text[PROBE_USAGE_ALTERNATIVES_TEXT];
        (void)probe_usage_print_all(&machine->map, forms[i], &usages[i], text);
        bool several = strstr(told[i][1], PROBE_USAGE_OR) != NULL;
        if (usages[i].verdict != PROBE_USAGE_OK || usages[i].ambiguous != several ||
            strcmp(text, told[i][1]) != 0) {
            fail_msg("%s: '%s' (%s), not '%s'", told[i][0], text, usages[i].why, told[i][1]);
        }
    }
}

static void test_clusters(void **state) {
    (void)state;
    static const char *const told[][2] = {
        {"popcnt r64, r64", "1*p0"},
        {"movsxd r64, r32", "1*p02"},
        {"pdep r64, r64, r64", "1*p0+1*p02"},
        {"pext r64, r64, r64", "2*p0"},
        {"vpshufb xmm, xmm, xmm", "1*p1"},
        {"vpaddd xmm, xmm, xmm", "1*p12 or 1*p1?"},
        {"vphaddd xmm, xmm, xmm", "1*p1+1*p12 or 1*p1+1*p1?"},
    };
    struct machine machine;
    machine_open_mapped(&machine, CORE("3", "01"), small, "");
    usages_are(&machine, told, sizeof told / sizeof told[0]);
    machine_close(&machine);
}

/* With more issue slots the same is plain. */
static void test_clusters_seen(void **state) {
    (void)state;
    static const char *const told[][2] = {{"movsxd r64, r32", "1*p02"},
                                          {"vpaddd xmm, xmm, xmm", "1*p13"},
                                          {"mov r64, m64", "1*p56"},
                                          {"mov m64, r64", "1*p4"}};
    struct machine machine;
    machine_open_mapped(&machine, CORE("6", "01"), small, "");
    usages_are(&machine, told, sizeof told / sizeof told[0]);
    machine_close(&machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_names),      cmocka_unit_test(test_fewer_members),
        cmocka_unit_test(test_one_against_two),  cmocka_unit_test(test_of_what_kind),
        cmocka_unit_test(test_certain_together), cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_clusters_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
