/* SPDX-License-Identifier: Apache-2.0 */
/* Counts that contradict each other set by set, as a Zen 5 shows them: what all readings together say. */
#include <math.h>
#include <string.h>

#include "probe/usage.h"
#include "probe/usage_steps.h"
#include "tests/generator_testing.h"

/* Four vector pipes, of which sets of two share one, three and all; two of six ALUs, and these. */
enum {
    MULTIPLY = 0x3,
    SHUFFLE = 0x6,
    ADD = 0xc,
    SIGN = 0x9,
    SHUFFLE_ADD = 0xe,
    VECTOR = 0xf,
    TO_GENERAL = 0x30,
    SHIFT = 0x1c0,
    GENERAL = 0x3f0,
    STORE = 0xc00,
    SETS = 10,
};
static const uint32_t sets[SETS] = {SIGN,       MULTIPLY, ADD,         SHUFFLE, STORE,
                                    TO_GENERAL, SHIFT,    SHUFFLE_ADD, VECTOR,  GENERAL};

/* The classes of `sets`, in two systems: in the other one a shift may go where a value to general registers
 * does. The blocker of TO_GENERAL is `crossing`. */
static struct probe_portmap map_of(struct probe_port_member *crossing) {
    struct probe_portmap map = {.members = crossing,
                                .member_count = 1,
                                .issue_width = 8,
                                .class_count = SETS,
                                .alternatives = {.count = 2}};
    for (unsigned c = 0; c < SETS; c++) {
        map.classes[c] = (struct probe_port_class){
            .ports = sets[c], .width = ports_in(sets[c]), .store = sets[c] == STORE, .blocker = {-1, -1, -1}};
        map.alternatives.sets[0][c] = sets[c];
        map.alternatives.sets[1][c] = sets[c] == SHIFT ? 0xe0 : sets[c];
    }
    return map;
}

struct reading {
    uint32_t set;
    double uops;
};

/* What is inferred where these sets read so many uops, and all others none. */
static struct probe_usage usage_of(const char *syntax, double slots, const struct reading *readings,
                                   unsigned count) {
    struct isa_form move = form_of("vmovd r32, xmm"), form = form_of(syntax);
    struct probe_port_member crossing = {.form = &move};
    const struct probe_portmap map = map_of(&crossing);
    struct probe_usage_subject subject = {.form = &form, .count = SETS};
    for (unsigned e = 0; e < SETS; e++) {
        struct probe_usage_experiment *experiment = &subject.experiments[e];
        *experiment = (struct probe_usage_experiment){.target = sets[e],
                                                      .store = sets[e] == STORE,
                                                      .parts = 1,
                                                      .reading_count = 1,
                                                      .members = {sets[e] == TO_GENERAL ? 0 : -1}};
        for (unsigned r = 0; r < count; r++) {
            experiment->confined = readings[r].set == sets[e] ? readings[r].uops : experiment->confined;
        }
        experiment->readings[0] = experiment->confined;
    }
    struct probe_usage usage = {.slots = slots, .cycles = 1};
    probe_usage_infer(&subject, &usage, &map);
    return usage;
}

static void is_of(const struct probe_usage *usage, uint32_t ports, double uops) {
    assert_int_equal(usage->verdict, PROBE_USAGE_OK);
    assert_int_equal(usage->term_count, 1);
    assert_int_equal(usage->terms[0].ports, ports);
    assert_true(usage->terms[0].uops == uops);
}

/* VDIVPS: both sets that have port 1 show two, and no port has it alone. */
static void test_a_port_that_two_sets_share(void **state) {
    (void)state;
    const struct reading divides[] = {{MULTIPLY, 2.0}, {SHUFFLE, 2.01}, {SHUFFLE_ADD, 0.02},
                                      {VECTOR, 1.98},  {ADD, 0.1},      {SIGN, -0.1}};
    struct probe_usage usage = usage_of("vdivps ymm, ymm, ymm", 1, divides, 6);
    assert_int_equal(usage.verdict, PROBE_USAGE_INCONSISTENT); /* {SHUFFLE_ADD} holds {SHUFFLE} */
    const struct reading adds[] = {{ADD, 1.0}, {SHUFFLE, 0.97}, {SHUFFLE_ADD, 1.0}, {VECTOR, 0.91}};
    usage = usage_of("fadd st, st0", 1, adds, 4);
    is_of(&usage, ADD & SHUFFLE, 1);
    assert_true(usage.reconciled);
}

/* VSCALEFSD: each of its two uops waits now and then for a blocked port that it need not go to. */
static void test_uops_that_wait(void **state) {
    (void)state;
    struct reading scales[] = {
        {SIGN, 0.46}, {ADD, 2.01}, {SHUFFLE, 0.55}, {SHUFFLE_ADD, 2.04}, {VECTOR, 2.02}};
    struct probe_usage usage = usage_of("vscalefsd xmm, xmm, xmm", 2, scales, 5);
    is_of(&usage, ADD, 2);
    scales[0].uops = 1.1; /* so much is none that waits, and all of VECTOR are ADD's */
    usage = usage_of("vscalefsd xmm, xmm, xmm", 2, scales, 5);
    assert_int_equal(usage.verdict, PROBE_USAGE_OK);
    assert_int_equal(usage.term_count, 2);
    assert_int_equal(usage.terms[0].ports, ADD & SIGN);
    assert_int_equal(usage.terms[1].ports, ADD);
    scales[4].uops = 4.0; /* more than there are in all sets */
    usage = usage_of("vscalefsd xmm, xmm, xmm", 2, scales, 5);
    assert_int_equal(usage.verdict, PROBE_USAGE_INCONSISTENT);
}

/* Where the systems of sets differ, what two sets share is not known. */
static void test_what_is_shared_in_one_system_only(void **state) {
    (void)state;
    struct probe_port_member none = {0};
    const struct probe_portmap map = map_of(&none);
    assert_true(probe_usage_union_is_known(&map, ADD, SHUFFLE));
    assert_false(probe_usage_union_is_known(&map, SHIFT, TO_GENERAL));
    assert_true(probe_usage_union_is_known(&map, SHIFT, VECTOR));
}

/* VFMADD reads its third source by the way of what goes to general registers: no ALU takes a uop of it. */
static void test_the_way_of_a_third_source(void **state) {
    (void)state;
    struct reading reads[] = {{MULTIPLY, 1.09}, {TO_GENERAL, 1.01}, {VECTOR, 1.0}, {GENERAL, 0.1}};
    struct probe_usage usage = usage_of("vfmadd213pd ymm, ymm, ymm", 1, reads, 4);
    is_of(&usage, MULTIPLY, 1);
    assert_false(usage.reconciled);
    reads[3].uops = 1.0; /* and here one does: a conversion that crosses */
    usage = usage_of("vcvttsd2si r32, xmm", 2, reads, 4);
    assert_int_equal(usage.verdict, PROBE_USAGE_OK);
    assert_int_equal(usage.term_count, 2);
    assert_int_equal(usage.terms[1].ports, TO_GENERAL);
}

/* SUB to memory holds up the stores behind it, and has one; what is seen of a vector's is not known so. */
static void test_stores_by_operand(void **state) {
    (void)state;
    const struct reading stores[] = {{STORE, 1.52}, {GENERAL, 0.99}}, lost[] = {{STORE, 0.1}};
    struct probe_usage usage = usage_of("sub m8, imm8", 1, stores, 2);
    assert_int_equal(usage.verdict, PROBE_USAGE_OK);
    assert_int_equal(usage.term_count, 2);
    assert_true(usage.terms[0].store && usage.terms[0].uops == 1);
    usage = usage_of("vmovups m256, ymm", 1, stores, 1);
    assert_int_equal(usage.verdict, PROBE_USAGE_INCONSISTENT);
    usage = usage_of("mov m64, r64", 1, lost, 1);
    assert_int_equal(usage.term_count, 0);
}

/* VMOVD beside shifts: half a uop that could go elsewhere is none, where such waits were seen. */
static void test_delays_of_a_class(void **state) {
    (void)state;
    struct probe_port_member none = {0};
    const struct probe_portmap map = map_of(&none);
    struct isa_form form = form_of("vmovd r32, xmm");
    struct probe_usage_subject subject = {.form = &form, .count = 2};
    for (unsigned delays = 0; delays < 2; delays++) {
        subject.delays = delays != 0 ? UINT64_C(1) << 6 : 0; /* of SHIFT */
        assert_true(probe_usage_delays(&subject, &map, 6) == (delays != 0));
        assert_false(probe_usage_delays(&subject, &map, 5));
        for (unsigned e = 0; e < 2; e++) {
            struct probe_usage_experiment *experiment = &subject.experiments[e];
            *experiment = (struct probe_usage_experiment){.target = e == 0 ? TO_GENERAL : SHIFT,
                                                          .copies = 8,
                                                          .parts = 1,
                                                          .members = {-1},
                                                          .delays = e == 1 && delays != 0,
                                                          .bounds = e == 1 && delays != 0};
            for (unsigned r = 0; r < 5; r++) {
                probe_usage_reading_add(experiment, e == 0 ? 1.0 : 0.47 + 0.01 * r, 2);
            }
        }
        struct probe_usage usage = {.slots = 1, .cycles = 0.5};
        probe_usage_infer(&subject, &usage, &map);
        assert_int_equal(usage.verdict, delays != 0 ? PROBE_USAGE_OK : PROBE_USAGE_INCONSISTENT);
    }
}

/* Where all vectors meet, masks block the pipes of no vector: their results come after one cycle, and hold up
 * those that take three. */
static void test_masks_block_masks(void **state) {
    (void)state;
    static const char *const blockers[] = {"kmovd k, k", "vpabsb ymm, ymm", "vpabsb zmm, zmm",
                                           "rorx r64, r64, imm8"};
    static const struct {
        const char *form;
        int member;
    } of[] = {{"kaddd k, k, k", 0}, {"vmulpd ymm, ymm, ymm", 1}, {"vmulpd zmm, zmm, zmm", 2}};
    struct isa_form forms[4];
    struct probe_port_member members[4];
    for (unsigned i = 0; i < 4; i++) {
        forms[i] = form_of(blockers[i]);
        members[i] = (struct probe_port_member){.form = &forms[i], .class = i == 3};
    }
    struct probe_portmap map = {
        .members = members,
        .member_count = 4,
        .class_count = 2,
        .meet = true,
        .classes = {{.ports = SIGN, .blocker = {0, 1, 2}}, {.ports = SHIFT, .blocker = {3, -1, -1}}}};
    for (unsigned i = 0; i < sizeof of / sizeof of[0]; i++) {
        struct isa_form form = form_of(of[i].form);
        struct probe_usage_subject subject;
        probe_usage_subject_init(&subject, &form);
        assert_int_equal(probe_usage_blocker(&subject, &map, 0), of[i].member);
        assert_int_equal(probe_usage_blocker(&subject, &map, 1), 3);
        map.meet = false;
        assert_int_equal(probe_usage_blocker(&subject, &map, 0), 0);
        map.meet = true;
    }
}

/* VDIVPS has one issue slot, and keeps its only port for two cycles. What a class has alone is read by
 * itself: two uops in one slot are a wrong reading there. */
static void test_one_that_holds_its_port(void **state) {
    (void)state;
    static const struct {
        const char *form;
        uint32_t ports;
        bool class, notes; /* the address: a uop of ALUs */
        bool holds;
    } of[] = {{"vdivps ymm, ymm, ymm", SHUFFLE & MULTIPLY, false, false, true},
              {"vdivps ymm, ymm, ymm", SHUFFLE & MULTIPLY, true, false, false},
              {"vdivps ymm, ymm, ymm", SHUFFLE, false, false, false},
              {"vdivps ymm, ymm, ymm", SHUFFLE & MULTIPLY, false, true, false},
              {"fdiv m32", SHUFFLE & MULTIPLY, false, true, true},
              {"fdiv m32", SHUFFLE & MULTIPLY, true, true, false}};
    const uint32_t alus = 0x700;
    struct probe_port_member none = {0};
    for (unsigned i = 0; i < sizeof of / sizeof of[0]; i++) {
        struct isa_form form = form_of(of[i].form);
        struct probe_portmap map = map_of(&none);
        map.classes[0].ports = of[i].class ? of[i].ports : map.classes[0].ports;
        struct probe_usage usage = {.slots = 1, .cycles = 2.5, .term_count = of[i].notes ? 2 : 1};
        usage.terms[0] = (struct probe_usage_term){.ports = of[i].ports, .uops = 2};
        usage.terms[1] = (struct probe_usage_term){.ports = alus, .uops = 1};
        struct probe_usage_subject subject = {.form = &form, .result = &usage, .count = 1};
        subject.issue = (struct probe_usage_experiment){.reading_count = 2, .copies = 8, .confined = 1};
        subject.experiments[0] = (struct probe_usage_experiment){.target = VECTOR,
                                                                 .parts = 1,
                                                                 .members = {-1},
                                                                 .reading_count = 1,
                                                                 .tries = 1,
                                                                 .cycles = NAN,
                                                                 .implied = true};
        probe_usage_verify(&subject, &usage, &map);
        assert_int_equal(usage.verdict, of[i].holds ? PROBE_USAGE_OK : PROBE_USAGE_INCONSISTENT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_port_that_two_sets_share),
        cmocka_unit_test(test_uops_that_wait),
        cmocka_unit_test(test_what_is_shared_in_one_system_only),
        cmocka_unit_test(test_the_way_of_a_third_source),
        cmocka_unit_test(test_stores_by_operand),
        cmocka_unit_test(test_delays_of_a_class),
        cmocka_unit_test(test_masks_block_masks),
        cmocka_unit_test(test_one_that_holds_its_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
