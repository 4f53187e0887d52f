/* SPDX-License-Identifier: Apache-2.0 */
/* The port map of simulated CPUs whose ports are known: descriptions and small tables are made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "isa/decode.h"
#include "probe/portmap.h"
#include "probe/usage.h"
#include "tests/brief.h"
#include "tests/port_machine.h"

static const struct probe_port_class *class_of(const struct probe_portmap *map, const char *form) {
    for (size_t i = 0; i < map->member_count; i++) {
        if (strcmp(map->members[i].form->syntax, form) == 0 && !map->members[i].scaled) {
            assert_true(map->members[i].class >= 0);
            return &map->classes[map->members[i].class];
        }
    }
    fail_msg("'%s' was not tried", form);
    return NULL;
}

/* "015", or the attributes of one uop: "1*p015 latency 4". */
static uint32_t set_of(const char *ports) {
    uint32_t set = 0;
    ports += strncmp(ports, "1*p", 3) == 0 ? 3 : 0;
    for (; *ports != '\0' && *ports != ' '; ports++) {
        set |= UINT32_C(1) << (*ports <= '9' ? *ports - '0' : *ports - 'A' + 10);
    }
    return set;
}

static int compare(const void *a, const void *b) {
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

enum { CAST_MAX = 20 };

/* A port without its name: the forms of the cast that may use it. */
static void signatures(const uint32_t *sets, unsigned count, uint32_t ports[PROBE_PORTSET_PORTS]) {
    for (unsigned p = 0; p < PROBE_PORTSET_PORTS; p++) {
        ports[p] = 0;
        for (unsigned i = 0; i < count; i++) {
            ports[p] |= (sets[i] >> p & 1u) << i;
        }
    }
    qsort(ports, PROBE_PORTSET_PORTS, sizeof *ports, compare);
}

static void map_is(const struct probe_portmap *map, const struct cast *cast) {
    uint32_t found[CAST_MAX] = {0}, truth[CAST_MAX] = {0}, ports[2][PROBE_PORTSET_PORTS];
    unsigned count = 0;
    for (; cast[count].form[0] != '\0'; count++) {
        found[count] = class_of(map, cast[count].form)->ports;
        truth[count] = set_of(cast[count].ports);
    }
    signatures(found, count, ports[0]);
    signatures(truth, count, ports[1]);
    char buffer[PROBE_PORTSET_PORTS + 6];
    for (unsigned i = 0; i < count && memcmp(ports[0], ports[1], sizeof ports[0]) != 0; i++) {
        print_error("%s: p%s, found %s\n", cast[i].form, cast[i].ports,
                    probe_ports_print(map, found[i], buffer));
    }
    assert_memory_equal(ports[0], ports[1], sizeof ports[0]);
    assert_int_equal(map->solutions, 1);
}

/* Members, and what their ports are called. */
static void names_are(const struct probe_portmap *map, const char *const named[][2], size_t count) {
    char buffer[PROBE_PORTSET_PORTS + 6];
    for (size_t i = 0; i < count; i++) {
        const struct probe_port_class *class = class_of(map, named[i][0]);
        assert_string_equal(probe_port_class_print(map, class, buffer), named[i][1]);
    }
}

static void recovers(const char *core, const struct cast *cast) {
    struct machine machine;
    machine_open_mapped(&machine, core, cast, "");
    map_is(&machine.map, cast);
    machine_close(&machine);
}

static const struct cast skylake[] = {{"popcnt r64, r64", "1"},
                                      {"lzcnt r64, r64", "1"},
                                      {"shlx r64, r64, r64", "06"},
                                      {"rorx r64, r64, imm8", "06"},
                                      {"andn r64, r64, r64", "15"},
                                      {"movsxd r64, r32", "0156"},
                                      {"vmovmskpd r32, ymm", "0"},
                                      {"vpermd ymm, ymm, ymm", "5"},
                                      {"vpshufd ymm, ymm, imm8", "5"},
                                      {"vaddpd ymm, ymm, ymm", "01"},
                                      {"vandpd ymm, ymm, ymm", "015"},
                                      {"vpaddd ymm, ymm, ymm", "015"},
                                      {"vpaddd zmm, zmm, zmm", "05"},
                                      {"vpermd zmm, zmm, zmm", "5"},
                                      {"vcvtps2ph ymm, zmm, imm8", "0"},
                                      {"kmovd k, k", "0"},
                                      {"", ""}};

static void test_skylake(void **state) {
    (void)state;
    struct machine machine;
    machine_open_mapped(&machine, CORE("6", "0156"), skylake, "GenuineIntel");
    const struct probe_portmap *map = &machine.map;
    map_is(map, skylake);
    static const char *const named[][2] = {{"popcnt r64, r64", "1"},     {"vpermd ymm, ymm, ymm", "5"},
                                           {"shlx r64, r64, r64", "06"}, {"movsxd r64, r32", "0156"},
                                           {"mov r64, m64", "23"},       {"mov m64, r64", "4+237"}};
    names_are(map, named, sizeof named / sizeof named[0]);
    assert_true(map->issue_width > 5.9 && map->issue_width < 6.1);
    assert_true(class_of(map, "mov r64, m64")->load && class_of(map, "mov m64, r64")->store);
    /* The two worlds of {5} never meet, and are one class nevertheless; each has its own blocker. */
    const struct probe_port_class *shuffle = class_of(map, "vpermd zmm, zmm, zmm");
    assert_ptr_equal(shuffle, class_of(map, "vpshufd ymm, ymm, imm8"));
    assert_int_equal(map->members[shuffle->blocker[2]].world, PROBE_PORTS_WIDE);
    assert_int_equal(map->members[shuffle->blocker[1]].world, PROBE_PORTS_VECTOR);
    machine_close(&machine);
}

/* Which ports Intel's stores have their addresses on is known of some cores only: by their issue slots, loads
 * and stores, and what is as old as those. */
static void test_store_addresses(void **state) {
    (void)state;
    static const struct {
        unsigned slots, loads, stores;
        const char *others[2]; /* that run */
        const char *name;
    } cases[] = {
        {4, 2, 1, {"shlx r64, r64, r64", NULL}, "237"},                   /* Haswell */
        {4, 2, 1, {NULL}, ""},                                            /* Sandy Bridge: 23 */
        {4, 1, 1, {NULL}, ""},                                            /* Nehalem: 3 */
        {4, 1, 1, {"shlx r64, r64, r64", NULL}, ""},                      /* none that is known */
        {5, 2, 2, {"rorx r64, r64, imm8", "vpaddd zmm, zmm, zmm"}, "78"}, /* Ice Lake */
        {6, 3, 2, {"rorx r64, r64, imm8", NULL}, "78"},                   /* Golden Cove */
        {8, 3, 2, {"rorx r64, r64, imm8", NULL}, ""},                     /* Lion Cove: three others */
        {5, 2, 2, {"rorx r64, r64, imm8", NULL}, ""},                     /* Gracemont */
        {4, 0, 1, {"shlx r64, r64, r64", NULL}, ""},                      /* loads were lost to noise */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_form forms[2];
        struct probe_port_member members[2];
        struct probe_portmap map = {.members = members, .issue_width = cases[i].slots};
        struct ip_error err = {0};
        for (unsigned kind = 0; kind < 2; kind++) {
            unsigned width = kind == 0 ? cases[i].loads : cases[i].stores;
            if (width > 0) {
                map.classes[map.class_count++] =
                    (struct probe_port_class){.width = width,
                                              .ports = ((UINT32_C(1) << width) - 1) << map.port_count,
                                              .load = kind == 0,
                                              .store = kind == 1};
            }
            map.port_count += width;
        }
        for (unsigned m = 0; m < 2 && cases[i].others[m] != NULL; m++) {
            memset(&forms[m], 0, sizeof forms[m]);
            assert_int_equal(isa_form_parse(&forms[m], cases[i].others[m], &err), IP_OK);
            bool wide = strstr(cases[i].others[m], "zmm") != NULL;
            members[map.member_count++] =
                (struct probe_port_member){.form = &forms[m],
                                           .world = wide ? PROBE_PORTS_WIDE : PROBE_PORTS_SCALAR,
                                           .class = -1,
                                           .runs = true};
        }
        probe_portmap_label(&map, "GenuineIntel");
        if (strcmp(map.store_address, cases[i].name) != 0) {
            fail_msg("%u loads, %u stores (case %zu): '%s', ports %s", cases[i].loads, cases[i].stores, i,
                     map.store_address, map.names);
        }
    }
}

/* A Zen's vector pipes are called as AMD calls them, whatever the order in which they were found. */
static void test_names_of_amd(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"movsxd r64, r32", "012"},
                                       {"vandpd ymm, ymm, ymm", "3456"},
                                       {"vaddpd ymm, ymm, ymm", "34"},
                                       {"vpshufb ymm, ymm, ymm", "45"},
                                       {"vmulpd ymm, ymm, ymm", "56"},
                                       {"", ""}};
    static const char *const named[][2] = {{"vmulpd ymm, ymm, ymm", "01"}, {"vpshufb ymm, ymm, ymm", "12"},
                                           {"vaddpd ymm, ymm, ymm", "23"}, {"vandpd ymm, ymm, ymm", "0123"},
                                           {"popcnt r64, r64", "4"},       {"movsxd r64, r32", "456"},
                                           {"mov r64, m64", "78"}};
    struct machine machine;
    machine_open_mapped(&machine, CORE("6", "012"), cast, "AuthenticAMD");
    names_are(&machine.map, named, sizeof named / sizeof named[0]);
    machine_close(&machine);
}

static void test_noise_and_uneven_binding(void **state) {
    (void)state;
    skip_under_memcheck();
    recovers(CORE("6", "0156") "noise 0.003\nspikes 0.01 2000\ndrift walk 0.001 0.03\nseed 4\n", skylake);
    recovers(CORE("6", "0156") "policy uneven 0.03\nseed 5\n", skylake);
}

/* Integers on four ports, vectors on four others. */
static void test_two_clusters(void **state) {
    (void)state;
    skip_under_memcheck();
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"andn r64, r64, r64", "0123"},
                                       {"shlx r64, r64, r64", "12"},
                                       {"movsxd r64, r32", "03"},
                                       {"vaddpd ymm, ymm, ymm", "67"},
                                       {"vmulpd ymm, ymm, ymm", "45"},
                                       {"vpermd ymm, ymm, ymm", "6"},
                                       {"vandpd ymm, ymm, ymm", "4567"},
                                       {"vpsllvd ymm, ymm, ymm", "5"},
                                       {"vpaddd ymm, ymm, ymm", "457"},
                                       {"", ""}};
    recovers(CORE("6", "0123"), cast);
}

/* A Zen without AVX: its sums and products wait for their own destination, for longer than half of the
 * registers last; a load of it before every fourth tells their ports. */
static const struct cast without_avx[] = {{"popcnt r64, r64", "0"},
                                          {"bt r64, r64", "01"},
                                          {"movsxd r64, r32", "0123"},
                                          {"pshufd xmm, xmm, imm8", "567"},
                                          {"packssdw xmm, xmm", "56"},
                                          {"addps xmm, xmm", "1*p67 latency 3"},
                                          {"mulps xmm, xmm", "1*p45 latency 4"},
                                          {"pmuldq xmm, xmm", "1*p5 latency 4"},
                                          {"andps xmm, xmm", "4567"},
                                          {"movaps xmm, m128", "89"},
                                          {"", ""}};

static void test_without_avx(void **state) {
    (void)state;
    static const char *const named[][2] = {{"mulps xmm, xmm", "01"},
                                           {"packssdw xmm, xmm", "12"},
                                           {"addps xmm, xmm", "23"},
                                           {"andps xmm, xmm", "0123"}};
    struct machine machine;
    machine_open_mapped(&machine, CORE("6", "0123"), without_avx, "AuthenticAMD");
    map_is(&machine.map, without_avx);
    assert_ptr_equal(class_of(&machine.map, "movaps xmm, m128"), class_of(&machine.map, "mov r64, m64"));
    names_are(&machine.map, named, sizeof named / sizeof named[0]);
    machine_close(&machine);
}

static void test_nested(void **state) {
    (void)state;
    skip_under_memcheck();
    static const struct cast cast[] = {{"popcnt r64, r64", "0"},
                                       {"shlx r64, r64, r64", "01"},
                                       {"andn r64, r64, r64", "012"},
                                       {"movsxd r64, r32", "0123"},
                                       {"", ""}};
    recovers(CORE("6", "0123"), cast);
}

/* Three sets of two: a triangle and a star differ only when all three run together. No set has one port. */
static void test_equal_widths(void **state) {
    (void)state;
    skip_under_memcheck();
    static const struct cast triangle[] = {
        {"shlx r64, r64, r64", "01"}, {"andn r64, r64, r64", "12"}, {"movsxd r64, r32", "02"}, {"", ""}};
    static const struct cast star[] = {
        {"shlx r64, r64, r64", "03"}, {"andn r64, r64, r64", "13"}, {"movsxd r64, r32", "23"}, {"", ""}};
    recovers(CORE("6", "0123"), triangle);
    recovers(CORE("6", "0123"), star);
}

static void test_lonely_port(void **state) {
    (void)state;
    skip_under_memcheck();
    static const struct cast cast[] = {{"popcnt r64, r64", "7"},      {"shlx r64, r64, r64", "01"},
                                       {"andn r64, r64, r64", "012"}, {"movsxd r64, r32", "0127"},
                                       {"vpermd ymm, ymm, ymm", "5"}, {"", ""}};
    recovers(CORE("6", "012"), cast);
}

/* A port that jumps alone use. Nothing but jumps is measured beside them, and it is named behind all others.
 */
static void test_port_of_jumps(void **state) {
    (void)state;
    static const char core[] =
        "isaprobe-sim 1\nissue-width 6\nports p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 pA pB\nload-ports p89\n"
        "store-address-ports pA\nstore-data-ports pB\nform \"sub r64, imm8\" ports 1*p0123\n"
        "fuse \"sub *\" \"j*\"\nform \"add r64, r64\" ports 1*p0123\nform \"nop *\" ports none\n"
        "form \"j* rel32\" ports 1*p07\nform \"nop\" ports none\nform \"cmp *\" ports 1*p0123\nform \"test "
        "*\" ports 1*p0123\n"
        "form \"mov r64, m64\" ports 1*p89\nform \"mov m64, r64\" ports 1*pA+1*pB\n";
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"shlx r64, r64, r64", "12"},
                                       {"rorx r64, r64, imm8", "03"},
                                       {"movsxd r64, r32", "0123"},
                                       {"jb rel8", "07"},
                                       {"jz rel8", "07"},
                                       {"jnz rel8", "07"},
                                       {"", ""}};
    struct machine machine;
    struct ip_error err = {0};
    machine_open_mapped(&machine, core, cast, "AuthenticAMD");
    const struct probe_portmap *map = &machine.map;
    const struct probe_port_class *jumps = class_of(map, "jb rel8");
    assert_true(probe_port_class_jumps(map, jumps));
    assert_int_equal(jumps->members, 2); /* JNZ goes on by other flags */
    assert_int_equal(jumps->width, 2);
    assert_false(probe_port_class_jumps(map, class_of(map, "rorx r64, r64, imm8")));
    uint32_t all = class_of(map, "movsxd r64, r32")->ports, own = jumps->ports & ~all;
    assert_int_equal(__builtin_popcount(own), 1);
    assert_int_equal(__builtin_popcount(jumps->ports & class_of(map, "rorx r64, r64, imm8")->ports), 1);
    assert_int_equal(map->port_count, 4 + 1 + 2 + 1);
    assert_int_equal(map->names[__builtin_ctz(own)], '7');
    struct isa_form *forms[] = {isa_table_find(&machine.table, "jnz rel8"),
                                isa_table_find(&machine.table, "popcnt r64, r64"),
                                isa_table_find(&machine.table, "rorx r64, r64, imm8")};
    struct probe_usage usages[3];
    struct hx_meter meter = hx_bench_meter(&machine.bench);
    assert_int_equal(isa_forms_derive(forms, 3, &err), IP_OK);
    assert_int_equal(
        probe_usage_measure(&meter, &machine.bench.encoder, map, NULL, forms, NULL, 3, usages, &err), IP_OK);
    for (unsigned i = 0; i < 3; i++) {
        const char *like[] = {"jb rel8", "popcnt r64, r64", "rorx r64, r64, imm8"};
        assert_int_equal(usages[i].verdict, PROBE_USAGE_OK);
        assert_int_equal(usages[i].term_count, 1);
        assert_int_equal(usages[i].terms[0].ports, class_of(map, like[i])->ports);
    }
    assert_int_equal(usages[0].read, usages[1].read + 1); /* beside jumps stand jumps alone */
    machine_close(&machine);
}

/* Of stores in halves each takes both ports of two stores: no port of its own. Where a store's address and
 * data have a slot each, one of two slots is whole. */
static void test_stores_in_halves(void **state) {
    (void)state;
    for (unsigned slots = 1; slots <= 2; slots++) {
        char core[1024], whole[64], halves[64];
        (void)snprintf(
            core, sizeof core,
            "isaprobe-sim 1\nissue-width 6\nports p0 p1 p2 p3 p8 p9 pA pB pC pD\nload-ports p89\n"
            "store-address-ports pAB\nstore-data-ports pCD\n"
            "form \"sub r64, imm8\" ports 1*p0123\nform \"j*\" ports 1*p0\n"
            "fuse \"sub *\" \"j*\"\nform \"add r64, r64\" ports 1*p0123\n"
            "form \"nop *\" ports none\nform \"nop\" ports none\n"
            "form \"mov r64, m64\" ports 1*p89\nform \"mov m64, r64\" ports 1*pAB+1*pCD slots %u\n",
            slots);
        (void)snprintf(whole, sizeof whole, "1*pAB+1*pCD slots %u", slots);
        (void)snprintf(halves, sizeof halves, "2*pAB+2*pCD slots %u", 2 * slots);
        const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                    {"shlx r64, r64, r64", "03"},
                                    {"vmovups m128, xmm", whole},
                                    {"vmovups m256, ymm", halves},
                                    {"", ""}};
        struct machine machine;
        machine_open_mapped(&machine, core, cast, "");
        const struct probe_port_class *stores = class_of(&machine.map, "mov m64, r64");
        assert_int_equal(stores->width, 2);
        assert_ptr_equal(class_of(&machine.map, "vmovups m128, xmm"), stores);
        for (unsigned c = 0; c < machine.map.class_count; c++) {
            assert_true(!machine.map.classes[c].store || &machine.map.classes[c] == stores);
        }
        machine_close(&machine);
    }
}

/* Behind an issue of four a set of four cannot be told from none, and is said to be hidden. */
static void test_hidden_by_the_issue(void **state) {
    (void)state;
    static const struct cast cast[] = {
        {"popcnt r64, r64", "1"}, {"shlx r64, r64, r64", "06"}, {"movsxd r64, r32", "0156"}, {"", ""}};
    struct machine machine;
    machine_open_mapped(&machine, CORE("4", "0156"), cast, "");
    assert_int_equal(machine.map.notes.count, 1);
    assert_non_null(strstr(machine.map.notes.items[0], "'movsxd r64, r32' are as fast"));
    assert_int_equal(machine.map.port_count, 3 + 2 + 1); /* with the load's two and the store's data */
    machine_close(&machine);
}

/* 512-bit vectors take no time of narrower ones, so that the two never meet, and no scalar form tells the two
 * ports of {06} apart: the 512-bit form may use the port of the narrower one, or the other. */
static void test_ambiguous(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"shlx r64, r64, r64", "06"},
                                       {"vmovmskpd r32, ymm", "0"},
                                       {"vcvtps2ph ymm, zmm, imm8", "6"},
                                       {"", ""}};
    struct machine machine;
    machine_open_mapped(&machine, CORE("6", "0156"), cast, "");
    const struct probe_portmap *map = &machine.map;
    assert_false(map->halves || map->meet);
    assert_int_equal(map->solutions, 2);
    assert_int_equal(map->more_solutions, PROBE_PORTSET_NO_MORE);
    long narrow = class_of(map, cast[2].form) - map->classes,
         wide = class_of(map, cast[3].form) - map->classes;
    assert_true(narrow != wide);
    bool same[2];
    for (unsigned s = 0; s < 2; s++) {
        same[s] = map->alternatives.sets[s][narrow] == map->alternatives.sets[s][wide];
    }
    assert_true(same[0] != same[1]);
    /* One of the two may have the other port of {06}; all else has its set in both. */
    for (unsigned c = 0; c < map->class_count; c++) {
        bool either = c == (unsigned)narrow || c == (unsigned)wide;
        assert_true(either || !probe_port_class_is_ambiguous(map, c));
    }
    assert_true(probe_port_class_is_ambiguous(map, (unsigned)narrow) !=
                probe_port_class_is_ambiguous(map, (unsigned)wide));
    machine_close(&machine);
}

/* The sets of one of the systems that explain the readings are those of the cast. */
static bool truth_is_system(const struct probe_portmap *map, unsigned system, const struct cast *cast) {
    uint32_t found[CAST_MAX] = {0}, truth[CAST_MAX] = {0}, ports[2][PROBE_PORTSET_PORTS];
    unsigned count = 0;
    for (; cast[count].form[0] != '\0'; count++) {
        found[count] = map->alternatives.sets[system][class_of(map, cast[count].form) - map->classes];
        truth[count] = set_of(cast[count].ports);
    }
    signatures(found, count, ports[0]);
    signatures(truth, count, ports[1]);
    return memcmp(ports[0], ports[1], sizeof ports[0]) == 0;
}

/* Of these two forms' sets one is open, and no other. */
static void is_ambiguous_with_truth(const char *core, const struct cast *cast, const char *one,
                                    const char *other) {
    struct machine machine;
    machine_open_mapped(&machine, core, cast, "");
    const struct probe_portmap *map = &machine.map;
    assert_true(map->confirmed && map->solutions > 1 && probe_portmap_is_ambiguous(map));
    bool any = false;
    for (unsigned s = 0; s < map->solutions; s++) {
        any = any || truth_is_system(map, s, cast);
    }
    assert_true(any);
    char buffer[PROBE_PORTSET_PORTS + 1];
    unsigned found = 0;
    for (unsigned c = 0; c < map->class_count; c++) {
        if (probe_port_class_is_ambiguous(map, c)) {
            const struct probe_port_class *class = &map->classes[c];
            assert_true(class == class_of(map, one) || class == class_of(map, other));
            (void)probe_ports_print(map, map->alternatives.sets[map->solutions - 1][c], buffer);
            assert_int_equal(strlen(buffer), class->width);
            assert_int_equal(buffer[strlen(buffer) - 1], '?'); /* a port that the first system lacks */
            found++;
        }
    }
    assert_int_equal(found, 1);
    machine_close(&machine);
}

/* Nothing but three sets together shows that the system is no smaller, and they are as fast as instructions
 * are issued. */
static void test_triples_behind_the_issue(void **state) {
    (void)state;
    static const struct cast cast[] = {{"shlx r64, r64, r64", "245"},   {"movsxd r64, r32", "0235"},
                                       {"pdep r64, r64, r64", "035"},   {"vaddpd ymm, ymm, ymm", "125"},
                                       {"vandpd ymm, ymm, ymm", "345"}, {"", ""}};
    recovers(CORE("6", "0235"), cast);
}

/* Two clusters with more ports than issue slots: the smallest system lets them share some, and larger ones
 * explain the readings as well. */
static void test_unions_behind_the_issue(void **state) {
    (void)state;
    static const struct cast small[] = {{"popcnt r64, r64", "0"},
                                        {"movsxd r64, r32", "01"},
                                        {"andn r64, r64, r64", "01"},
                                        {"vpshufb xmm, xmm, xmm", "2"},
                                        {"vpaddd xmm, xmm, xmm", "23"},
                                        {"vpand xmm, xmm, xmm", "23"},
                                        {"", ""}};
    static const struct cast five[] = {{"popcnt r64, r64", "1"},
                                       {"shlx r64, r64, r64", "12"},
                                       {"movsxd r64, r32", "0123"},
                                       {"vpshufb xmm, xmm, xmm", "5"},
                                       {"vmulps xmm, xmm, xmm", "56"},
                                       {"vpaddd xmm, xmm, xmm", "567"},
                                       {"", ""}};
    static const struct cast few[] = {{"popcnt r64, r64", "1"}, {"shlx r64, r64, r64", "06"}, {"", ""}};
    /* Three loads or two stores a cycle: behind four issue slots they seem to share a port. */
    static const char memory[] =
        "isaprobe-sim 1\nissue-width 4\nports p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 pA pB pC\n"
        "load-ports p789\nstore-address-ports p45\nstore-data-ports pBC\n"
        "form \"sub r64, imm8\" ports 1*p06\nform \"j*\" ports 1*p0\nfuse \"sub *\" \"j*\"\n"
        "form \"add r64, r64\" ports 1*p06\nform \"nop *\" ports none\nform \"nop\" ports none\n"
        "form \"mov r64, m64\" ports 1*p789\nform \"mov m64, r64\" ports 1*p45+1*pBC\n";
    is_ambiguous_with_truth(CORE("3", "01"), small, "vpaddd xmm, xmm, xmm", "movsxd r64, r32");
    is_ambiguous_with_truth(CORE("5", "0123"), five, "movsxd r64, r32", "vpaddd xmm, xmm, xmm");
    is_ambiguous_with_truth(memory, few, "mov r64, m64", "mov m64, r64");
    /* So many ports that a few of the narrower set beside the wider one say less than both together. */
    static const struct cast seven[] = {{"popcnt r64, r64", "037"}, {"andn r64, r64, r64", "1246"}, {"", ""}};
    is_ambiguous_with_truth(CORE("6", "01234567"), seven, "popcnt r64, r64", "andn r64, r64, r64");
    struct machine machine; /* with more issue slots the same is plain */
    machine_open_mapped(&machine, CORE("8", "0123"), five, "");
    map_is(&machine.map, five);
    assert_false(probe_portmap_is_ambiguous(&machine.map));
    machine.map.more_solutions = PROBE_PORTSET_MORE; /* a search that was broken off found one */
    assert_true(probe_portmap_is_ambiguous(&machine.map));
    for (unsigned c = 0; c < machine.map.class_count; c++) {
        const struct probe_port_class *class = &machine.map.classes[c];
        assert_true(probe_port_class_is_ambiguous(&machine.map, c) == !(class->load || class->store));
    }
    machine_close(&machine);
}

/* A 512-bit vector takes a narrower one's port for a cycle: they meet, and that of MMX is no blocker of both.
 */
static void test_wide_vectors_meet(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"shlx r64, r64, r64", "06"},
                                       {"pshufw mm, mm, imm8", "56"},
                                       {"vpermd ymm, ymm, ymm", "56"},
                                       {"vpshufd zmm, zmm, imm8", "56"},
                                       {"vpabsd zmm, zmm", "0"},
                                       {"", ""}};
    struct machine machine;
    machine_open_mapped(&machine, CORE("6", "0156"), cast, "");
    assert_true(machine.map.meet && !machine.map.halves && machine.map.confirmed);
    assert_int_equal(machine.map.solutions, 1);
    const struct probe_port_class *shuffles = class_of(&machine.map, cast[3].form);
    assert_ptr_equal(class_of(&machine.map, cast[2].form), shuffles);
    assert_ptr_equal(class_of(&machine.map, cast[4].form), shuffles);
    assert_int_equal(shuffles->blocker[0], -1);
    assert_string_equal(machine.map.members[shuffles->blocker[1]].form->syntax, cast[3].form);
    assert_string_equal(machine.map.members[shuffles->blocker[2]].form->syntax, cast[4].form);
    map_is(&machine.map, cast);
    machine_close(&machine);
}

static void left_out(const struct probe_portmap *map, const char *mnemonic) {
    bool tried = false;
    for (size_t i = 0; i < map->member_count; i++) {
        bool out = strcmp(map->members[i].form->mnemonic, mnemonic) == 0;
        tried = tried || out;
        assert_int_equal(map->members[i].class < 0, out);
    }
    assert_true(tried);
}

/* Moves that rename removes, four a cycle where six are issued: no set of four ports. */
static void test_removed_moves(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"shlx r64, r64, r64", "06"},
                                       {"vmovaps ymm, ymm", "1*p4567 latency 0"},
                                       {"", ""}};
    struct machine machine;
    machine_open_mapped(&machine, CORE("6", "0156"), cast, "");
    left_out(&machine.map, "vmovaps");
    assert_true(machine.map.confirmed);
    machine_close(&machine);
}

/* Within {0156} by what it takes from these, and outside of both halves: no set of two ports is. The form
 * uses two others besides, in one slot, and has fewer fellows than those that it contradicts. */
static void test_two_ports_at_once(void **state) {
    (void)state;
    skip_under_memcheck();
    static const struct cast cast[] = {{"movsxd r64, r32", "0156"},
                                       {"shlx r64, r64, r64", "01"},
                                       {"sarx r64, r64, r64", "01"},
                                       {"andn r64, r64, r64", "56"},
                                       {"rorx r64, r64, imm8", "56"},
                                       {"mov r64, imm32", "0156"},
                                       {"lzcnt r64, r64", "1*p0156+1*p23 slots 1"},
                                       {"", ""}};
    struct machine machine;
    machine_open_mapped(&machine, CORE("8", "0156"), cast, "");
    left_out(&machine.map, "lzcnt");
    assert_true(machine.map.confirmed);
    assert_int_equal(machine.map.notes.count, 1);
    assert_non_null(
        strstr(machine.map.notes.items[0], "1 forms such as 'lzcnt r64, r64' have no set of ports"));
    assert_int_equal(class_of(&machine.map, "movsxd r64, r32")->width, 4);
    machine_close(&machine);
}

/* Two such forms, in halves of the core that share nothing: no single class stands in the way, and one's
 * unions are left out. Its own set is open then, and no other. */
static void test_contradiction_stays_alone(void **state) {
    (void)state;
    static const char core[] =
        "isaprobe-sim 1\nissue-width 10\nports p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 pA pB pC pD pE\n"
        "load-ports p89\nstore-address-ports pA\nstore-data-ports pB\n"
        "form \"sub r64, imm8\" ports 1*p0156\nform \"j*\" ports 1*p0\nfuse \"sub *\" \"j*\"\n"
        "form \"add r64, r64\" ports 1*p0156\nform \"nop *\" ports none\nform \"nop\" ports none\n"
        "form \"mov r64, m64\" ports 1*p89\nform \"mov m64, r64\" ports 1*pA+1*pB\n";
    static const struct cast cast[] = {{"movsxd r64, r32", "0156"},
                                       {"shlx r64, r64, r64", "01"},
                                       {"sarx r64, r64, r64", "01"},
                                       {"andn r64, r64, r64", "56"},
                                       {"rorx r64, r64, imm8", "56"},
                                       {"mov r64, imm32", "0156"},
                                       {"lzcnt r64, r64", "1*p0156+1*p23 slots 1"},
                                       {"bzhi r64, r64, r64", "47CD"},
                                       {"movzx r32, r8", "47CD"},
                                       {"shrx r64, r64, r64", "47"},
                                       {"pdep r64, r64, r64", "47"},
                                       {"pext r64, r64, r64", "CD"},
                                       {"imul r64, r64, imm8", "CD"},
                                       {"popcnt r64, r64", "1*p47CD+1*p2E slots 1"},
                                       {"", ""}};
    struct machine machine;
    machine_open_mapped(&machine, core, cast, "");
    unsigned contradicted = 0;
    assert_int_equal(machine.map.more_solutions, PROBE_PORTSET_NO_MORE);
    for (unsigned c = 0; c < machine.map.class_count; c++) {
        contradicted += machine.map.classes[c].contradicted;
        assert_true(machine.map.classes[c].contradicted == probe_port_class_is_ambiguous(&machine.map, c));
    }
    assert_int_equal(contradicted, 1);
    machine_close(&machine);
}

static void test_nothing_to_find(void **state) {
    (void)state;
    static const struct cast cast[] = {{"", ""}};
    struct machine machine;
    struct ip_error err = {0};
    machine_open(&machine, CORE("4", "0156"), cast);
    assert_int_equal(machine_map(&machine, "", &err), IP_UNSUPPORTED);
    assert_non_null(strstr(err.text, "nothing to find ports with"));
    assert_null(machine.map.members);
    machine_close(&machine);
}

/* Loads and stores ran, but not as fast as any number of ports: somebody else loads. A map without them is
 * confirmed by nobody. */
static void test_memory_without_ports(void **state) {
    (void)state;
    static const char core[] =
        "isaprobe-sim 1\nissue-width 6\nports p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 pA pB\n"
        "form \"sub r64, imm8\" ports 1*p0156\nform \"j*\" ports 1*p0\nfuse \"sub *\" \"j*\"\n"
        "form \"add r64, r64\" ports 1*p0156\nform \"nop *\" ports none\nform \"nop\" ports none\n"
        "form \"mov r64, m64\" ports 3*p89\nform \"mov m64, r64\" ports 5*pAB\n";
    struct machine machine;
    machine_open_mapped(&machine, core, skylake, "");
    for (unsigned c = 0; c < machine.map.class_count; c++) {
        assert_false(machine.map.classes[c].load || machine.map.classes[c].store);
    }
    assert_false(machine.map.confirmed);
    machine_close(&machine);
}

/* Loads alone are looked for as long, and then all else is told. */
static void test_loads_without_ports(void **state) {
    (void)state;
    skip_under_memcheck();
    static const char *const loads[] = {"1*p89", "3*p89"};
    size_t kernels[2];
    for (unsigned i = 0; i < 2; i++) {
        char core[700];
        (void)snprintf(core, sizeof core,
                       "isaprobe-sim 1\nissue-width 6\nports p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 pA pB\n"
                       "form \"sub r64, imm8\" ports 1*p0156\nform \"j*\" ports 1*p0\nfuse \"sub *\" "
                       "\"j*\"\nform \"add r64, r64\" ports 1*p0156\nform \"nop *\" ports none\n"
                       "form \"nop\" ports none\nform \"mov r64, m64\" ports %s\n"
                       "form \"mov m64, r64\" ports 1*pA\n",
                       loads[i]);
        struct machine machine;
        machine_open_mapped(&machine, core, skylake, "");
        bool load = false, store = false;
        for (unsigned c = 0; c < machine.map.class_count; c++) {
            load = load || machine.map.classes[c].load;
            store = store || machine.map.classes[c].store;
        }
        assert_int_equal(load, i == 0);
        assert_true(store && machine.map.confirmed);
        kernels[i] = machine.map.kernels;
        machine_close(&machine);
    }
    assert_true(kernels[1] > 2 * kernels[0]); /* six attempts, not two */
}

/* Every look at the clock finds a minute gone. */
static double minutes_pass(const void *self) {
    static double seconds;
    (void)self;
    return seconds += 60;
}

/* Two attempts confirm each other. Where time flies there is only one, and a note says so. */
static void test_time_is_limited(void **state) {
    (void)state;
    struct machine machine;
    struct ip_error err = {0};
    struct probe_portmap map = {0};
    machine_open(&machine, CORE("6", "0156"), skylake);
    struct hx_meter meter = hx_bench_meter(&machine.bench);
    assert_true(hx_seconds(&meter) == 0); /* simulated */
    assert_int_equal(
        probe_portmap_measure(&meter, &machine.bench.encoder, &machine.table, "", &machine.map, &err), IP_OK);
    meter.seconds = minutes_pass;
    assert_int_equal(probe_portmap_measure(&meter, &machine.bench.encoder, &machine.table, "", &map, &err),
                     IP_OK);
    assert_true(map.kernels < machine.map.kernels);
    assert_int_equal(machine.map.notes.count, 0);
    assert_true(machine.map.confirmed);
    assert_false(map.confirmed);
    assert_int_equal(map.notes.count, 1);
    assert_non_null(strstr(map.notes.items[0], "no two attempts found the same sets (of 1 in all)"));
    probe_portmap_fini(&map);
    machine_close(&machine);
}

/* Two uops in one issue slot look like a port of their own, and keep others from theirs: they are found out.
 */
static void test_no_one_uop_form(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"shlx r64, r64, r64", "06"},
                                       {"andn r64, r64, r64", "15"},
                                       {"movsxd r64, r32", "0156"},
                                       {"bzhi r64, r64, r64", "2*p06 slots 1"},
                                       {"", ""}};
    struct machine machine;
    machine_open_mapped(&machine, CORE("6", "0156"), cast, "");
    const struct probe_portmap *map = &machine.map;
    for (size_t i = 0; i < map->member_count; i++) {
        bool out = strcmp(map->members[i].form->mnemonic, "bzhi") == 0;
        assert_int_equal(map->members[i].class < 0, out);
    }
    assert_true(map->confirmed && !map->halves);
    assert_int_equal(map->notes.count, 1);
    assert_non_null(strstr(map->notes.items[0], "'bzhi r64, r64, r64' take more of others' time"));
    assert_int_equal(class_of(map, "shlx r64, r64, r64")->width, 2);
    machine_close(&machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_skylake),
        cmocka_unit_test(test_store_addresses),
        cmocka_unit_test(test_stores_in_halves),
        cmocka_unit_test(test_names_of_amd),
        cmocka_unit_test(test_noise_and_uneven_binding),
        cmocka_unit_test(test_two_clusters),
        cmocka_unit_test(test_without_avx),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_equal_widths),
        cmocka_unit_test(test_lonely_port),
        cmocka_unit_test(test_port_of_jumps),
        cmocka_unit_test(test_hidden_by_the_issue),
        cmocka_unit_test(test_ambiguous),
        cmocka_unit_test(test_contradiction_stays_alone),
        cmocka_unit_test(test_unions_behind_the_issue),
        cmocka_unit_test(test_triples_behind_the_issue),
        cmocka_unit_test(test_no_one_uop_form),
        cmocka_unit_test(test_wide_vectors_meet),
        cmocka_unit_test(test_removed_moves),
        cmocka_unit_test(test_two_ports_at_once),
        cmocka_unit_test(test_nothing_to_find),
        cmocka_unit_test(test_memory_without_ports),
        cmocka_unit_test(test_loads_without_ports),
        cmocka_unit_test(test_time_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
