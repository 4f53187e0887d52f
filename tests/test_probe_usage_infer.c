/* SPDX-License-Identifier: Apache-2.0 */
/* What port usage is inferred from given readings: such as were seen on silicon, where no core simulates
 * them.
 */
#include <math.h>
#include <string.h>

#include "probe/usage.h"
#include "probe/usage_steps.h"
#include "tests/generator_testing.h"

static double uops_on(const struct probe_usage *usage, uint32_t ports) {
    double uops = 0;
    for (unsigned t = 0; t < usage->term_count; t++) {
        uops += usage->terms[t].ports == ports ? usage->terms[t].uops : 0;
    }
    return uops;
}

/* VDIVPD of 512 bits as it was read on silicon, 2*p0+1*p05: uops that come in bursts look like more, and what
 * five ports together say is vague by two. */
static void test_bursts_of_a_unit(void **state) {
    (void)state;
    static const struct {
        uint32_t target;
        double confined;
    } read[] = {{0x1, 2.07}, {0x4, -0.27}, {0x9, 2.44}, {0x3, 3.12}, {0x19, 2.58}, {0x1f, 1.28}};
    const struct probe_portmap map = {.issue_width = 6};
    struct isa_form form = form_of("add r64, r64");
    struct probe_usage_subject subject = {.form = &form, .count = sizeof read / sizeof read[0]};
    for (unsigned i = 0; i < subject.count; i++) {
        subject.experiments[i] =
            (struct probe_usage_experiment){.target = read[i].target, .confined = read[i].confined};
    }
    assert_false(probe_usage_holds_unit(16.0, NAN));
    assert_false(probe_usage_holds_unit(10.0, 9.4)); /* microcode: IDIV */
    assert_false(probe_usage_holds_unit(40.0, 9.4));
    assert_true(probe_usage_holds_unit(16.0, 3.0));
    subject.holds_unit = true;
    struct probe_usage unit = {.slots = 3, .cycles = 16};
    probe_usage_infer(&subject, &unit, &map);
    assert_int_equal(unit.verdict, PROBE_USAGE_OK);
    assert_int_equal(unit.term_count, 2);
    assert_true(unit.terms[0].ports == 0x1 && unit.terms[0].uops == 2);
    assert_true(unit.terms[1].ports == 0x3 && unit.terms[1].uops == 1);
    /* Too much for {0 6}, but {0 6 B} has not more than 2.58. */
    subject.experiments[2].confined = 2.9;
    probe_usage_infer(&subject, &unit, &map);
    assert_true(unit.verdict == PROBE_USAGE_OK && unit.term_count == 2);
    /* Between one more and none: marked. */
    subject.experiments[2].confined = subject.experiments[4].confined = 2.75;
    probe_usage_infer(&subject, &unit, &map);
    assert_int_equal(unit.verdict, PROBE_USAGE_INCONSISTENT);
    /* Of a form that does not come in bursts 0.44 is a part of a uop, which there is none of. */
    subject.holds_unit = false;
    subject.experiments[2].confined = 2.44;
    struct probe_usage other = {.slots = 3, .cycles = 16};
    probe_usage_infer(&subject, &other, &map);
    assert_int_equal(other.verdict, PROBE_USAGE_INCONSISTENT);
}

/* A set of a core that binds uops early, read so. */
static void early_read(struct probe_usage_experiment *experiment, uint32_t target, const double *readings,
                       unsigned count) {
    *experiment = (struct probe_usage_experiment){
        .target = target, .bounds = true, .delays = true, .copies = 8, .parts = 1};
    for (unsigned r = 0; r < count; r++) {
        probe_usage_reading_add(experiment, readings[r], ports_in(target));
    }
}

/* What a core that binds uops early shows (Zen 4): one that could go to a fourth port seems to be a part of
 * one that cannot, another part in each mix; what is confined shows itself in all. */
static void test_readings_of_early_binding(void **state) {
    (void)state;
    static const struct {
        double three[5], four[5]; /* on {2 3 4}, and {2 3 4 5} */
        uint32_t ports;
        double uops;
    } read[] = {{{0.50, 0.59, 0.63, 0.76, 0.98}, {0.93, 0.95, 0.97, 0.97, 1.03}, 0x3c, 1},
                {{0.92, 0.95, 0.99, 0.99, 1.05}, {0.99, 0.99, 1.00, 1.03, 1.05}, 0x1c, 1},
                /* with a stray reading on either side; and as much three times of five */
                {{0.70, 0.88, 0.95, 1.20, 1.32}, {0.95, 0.99, 1.00, 1.03, 1.05}, 0x1c, 1},
                {{0.50, 0.56, 0.93, 0.98, 1.02}, {0.95, 0.99, 1.00, 1.03, 1.05}, 0x3c, 1},
                {{-0.02, 0.49, 0.50, 0.50, 0.51}, {0.98, 0.99, 1.00, 1.00, 1.01}, 0x3c, 1},
                {{0.79, 1.07, 1.19, 1.30, 1.47}, {1.93, 2.00, 2.05, 2.05, 2.07}, 0x3c, 2},
                {{1.95, 2.02, 2.03, 2.03, 2.10}, {1.96, 1.98, 2.00, 2.02, 2.05}, 0x1c, 2}};
    struct isa_form form = form_of("add r64, r64");
    const struct probe_portmap map = {.issue_width = 6};
    for (unsigned i = 0; i < sizeof read / sizeof read[0]; i++) {
        struct probe_usage_subject subject = {.form = &form, .count = 2, .binds_early = true};
        early_read(&subject.experiments[0], 0x1c, read[i].three, 5);
        early_read(&subject.experiments[1], 0x3c, read[i].four, 5);
        struct probe_usage usage = {.slots = read[i].uops, .cycles = 1};
        probe_usage_infer(&subject, &usage, &map);
        assert_int_equal(usage.verdict, PROBE_USAGE_OK);
        assert_int_equal(usage.term_count, 1);
        assert_int_equal(usage.terms[0].ports, read[i].ports);
        assert_true(usage.terms[0].uops == read[i].uops);
    }
}

/* The usage of a form that reads so on {2 4} and {2 3 4}. */
static struct probe_usage early_usage(const double *two, unsigned two_count, const double *three,
                                      unsigned three_count) {
    struct isa_form form = form_of("vpextrb r32, xmm, imm8");
    const struct probe_portmap map = {.issue_width = 6};
    struct probe_usage_subject subject = {.form = &form, .count = 2, .binds_early = true};
    early_read(&subject.experiments[0], 0x14, two, two_count);
    early_read(&subject.experiments[1], 0x1c, three, three_count);
    struct probe_usage usage = {.slots = NAN, .cycles = 1};
    probe_usage_infer(&subject, &usage, &map);
    return usage;
}

/* Two readings of nine that are too low take no uop from a set within, nor one of two from the set itself. */
static void test_strays_of_early_binding(void **state) {
    (void)state;
    static const double two[] = {0.87, 0.92, 0.93, 0.98, 1.09};
    static const double strays[] = {0.21, 0.40, 0.83, 0.85, 0.91, 0.93, 1.01, 1.12, 1.79};
    struct probe_usage usage = early_usage(two, 5, strays, 9);
    assert_int_equal(usage.term_count, 1);
    assert_int_equal(usage.terms[0].ports, 0x14);
    static const double low[] = {0.21, 0.40, 0.42, 0.45, 0.51, 0.53, 0.61, 0.62, 0.79}; /* not two alone */
    assert_int_equal(early_usage(two, 5, low, 9).term_count, 0);
    static const double much[] = {1.42, 1.90, 2.02, 2.10, 2.36, 2.38, 2.44, 2.50, 2.86};
    static const double as_much[] = {1.95, 2.01, 2.02, 2.05, 2.06};
    usage = early_usage(much, 9, as_much, 5);
    assert_int_equal(usage.term_count, 1);
    assert_int_equal(usage.terms[0].ports, 0x14);
    assert_true(usage.terms[0].uops == 2);
    static const double one[] = {0.52, 1.05, 1.09, 1.10, 1.21, 1.29, 1.29, 1.30, 1.43}; /* may go elsewhere */
    assert_int_equal(early_usage(one, 9, as_much, 5).terms[0].ports, 0x1c);
}

/* Where uops are bound early, those that keep one port from others make the set of all read up to 0.6 more;
 * where nothing is within it, and elsewhere, that is too far from a whole number. */
static void test_excess_of_early_binding(void **state) {
    (void)state;
    static const struct {
        double within, all;
        bool early, ok;
        double uops; /* in all */
    } read[] = {{1.0, 1.52, true, true, 1}, {1.0, 1.52, false, false, 0}, {1.0, 1.62, true, true, 2},
                {1.0, 1.72, true, true, 2}, {0.0, 0.52, true, false, 0},  {1.0, 0.52, true, false, 0},
                {1.0, 2.0, true, true, 2},  {1.0, 1.35, false, true, 1}};
    struct isa_form form = form_of("imul r64, r64, imm32");
    const struct probe_portmap map = {.issue_width = 6};
    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++) {
        struct probe_usage_subject subject = {.form = &form, .count = 2, .binds_early = read[i].early};
        for (unsigned e = 0; e < 2; e++) {
            subject.experiments[e] =
                (struct probe_usage_experiment){.target = e == 0 ? 0x1 : 0xf,
                                                .reading_count = 1,
                                                .tries = 1,
                                                .confined = e == 0 ? read[i].within : read[i].all,
                                                .copies = 8,
                                                .parts = 1};
        }
        struct probe_usage usage = {.slots = 1, .cycles = 1};
        probe_usage_infer(&subject, &usage, &map);
        assert_int_equal(usage.verdict == PROBE_USAGE_OK, read[i].ok);
        double uops = uops_on(&usage, 0x1) + uops_on(&usage, 0xf);
        assert_true(!read[i].ok || uops == read[i].uops);
    }
}

/* Beside so many uops no count is certain where they are bound early. */
static void test_microcode_of_early_binding(void **state) {
    (void)state;
    struct isa_form form = form_of("rcl r64, cl");
    const struct probe_portmap map = {.issue_width = 6};
    for (unsigned i = 0; i < 4; i++) {
        bool early = i < 2, many = i % 2 == 0;
        struct probe_usage_subject subject = {.form = &form, .count = 1, .binds_early = early};
        subject.experiments[0] = (struct probe_usage_experiment){
            .target = 0x3, .reading_count = 1, .tries = 1, .confined = 4, .cycles = 2, .copies = 1};
        struct probe_usage usage = {.slots = NAN, .cycles = 2, .term_count = 2};
        usage.terms[0] = (struct probe_usage_term){.ports = 0x3, .uops = 4};
        usage.terms[1] = (struct probe_usage_term){.ports = 0xc, .uops = many ? 3 : 2};
        subject.result = &usage;
        probe_usage_verify(&subject, &usage, &map);
        assert_int_equal(usage.verdict, early && many ? PROBE_USAGE_INCONSISTENT : PROBE_USAGE_OK);
    }
}

/* Nothing else of so many is read: at a glance where two say so, and clearly. */
static void test_too_many_for_early_binding(void **state) {
    (void)state;
    static const struct {
        enum probe_usage_kind kind;
        double slots[2];
        unsigned count;
        bool too_many;
    } read[] = {{PROBE_USAGE_GLANCED, {7.7, 8.4}, 2, true}, {PROBE_USAGE_GLANCED, {6.7, 8.4}, 2, false},
                {PROBE_USAGE_GLANCED, {7.7}, 1, false},     {PROBE_USAGE_GLANCED, {0}, 0, false},
                {PROBE_USAGE_LOOKED, {6.7, 6.7}, 2, true},  {PROBE_USAGE_LOOKED, {6.7}, 1, true},
                {PROBE_USAGE_LOOKED, {6.4, 6.3}, 2, false}};
    struct isa_form form = form_of("rcl r64, cl"), vectors = form_of("vphaddw ymm, ymm, ymm");
    for (size_t i = 0; i < 2 * sizeof read / sizeof read[0]; i++) {
        bool early = i % 2 == 0;
        struct probe_usage_subject subject = {.form = &form, .binds_early = early};
        subject.issue = (struct probe_usage_experiment){
            .parts = 1, .copies = 8, .kind = read[i / 2].kind, .confined = NAN};
        for (unsigned r = 0; r < read[i / 2].count; r++) {
            probe_usage_reading_add(&subject.issue, read[i / 2].slots[r], 6);
        }
        bool glanced = read[i / 2].kind == PROBE_USAGE_GLANCED;
        bool too_many = probe_usage_too_many(&subject, glanced ? 1 : 0.5) != NULL;
        assert_int_equal(too_many, early && read[i / 2].too_many);
        subject.form = &vectors; /* their microcode fills slots, and its uops are few */
        assert_null(probe_usage_too_many(&subject, 0));
    }
    struct probe_usage_subject subject = {.form = &vectors, .binds_early = true};
    subject.issue =
        (struct probe_usage_experiment){.kind = PROBE_USAGE_LOOKED, .reading_count = 1, .confined = 18.5};
    assert_non_null(probe_usage_too_many(&subject, 0));
}

/* Where some wait for blocked ports, nothing of more than eight: but for those of vectors. */
static void test_too_many_where_some_wait(void **state) {
    (void)state;
    static const char *const forms[] = {"shld r32, r32, cl", "vphaddw ymm, ymm, ymm", "phaddw mm, mm",
                                        "vpgatherdd xmm, vm32x, xmm", "vcompressps m256, ymm"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct isa_form form = form_of(forms[i]);
        struct probe_usage_subject subject = {.form = &form};
        subject.issue =
            (struct probe_usage_experiment){.kind = PROBE_USAGE_GLANCED, .reading_count = 2, .confined = 12};
        bool vectors = i == 1 || i == 2;
        assert_true(probe_usage_is_vectors_alone(&form) == vectors);
        assert_null(probe_usage_too_many(&subject, 1));
        subject.delays = 4;
        assert_int_equal(probe_usage_too_many(&subject, 1) != NULL, !vectors);
        assert_null(probe_usage_too_many(&subject, 4.5));
        subject.issue.reading_count = 1;
        assert_null(probe_usage_too_many(&subject, 1));
    }
}

/* {2 3}, {2 3 4} and {2 3 4 5}: five readings of `within`, `count` of `once`, and five of one uop. */
static void early_read_alike(struct probe_usage_subject *subject, double within, double once,
                             unsigned count) {
    const double inner[] = {within, within, within, within, within}, outer[] = {1, 1, 1, 1, 1};
    const double between[] = {once, once, once, once, once};
    early_read(&subject->experiments[0], 0xc, inner, 5);
    early_read(&subject->experiments[1], 0x1c, between, count);
    early_read(&subject->experiments[2], 0x3c, outer, 5);
}

/* Where each reading is an upper bound a set's uops could go elsewhere until five readings say not, unless a
 * set within it has as many. What two leave open takes the others at once. */
static void test_glances_that_are_wanted(void **state) {
    (void)state;
    static const struct {
        double within;  /* of {2 3}, read five times */
        unsigned count; /* of readings of {2 3 4} */
        unsigned wanted;
    } read[] = {{1, 2, 0}, {0, 1, 1}, {0, 2, 3}, {0, 5, 0}};
    const struct probe_portmap map = {.issue_width = 6};
    struct isa_form form = form_of("vpaddd ymm, ymm, ymm");
    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++) {
        struct probe_usage usage = {.slots = 1, .cycles = 0.5};
        struct probe_usage_subject subject = {
            .form = &form, .result = &usage, .count = 3, .binds_early = true, .slots = 2};
        early_read_alike(&subject, read[i].within, 1, read[i].count);
        assert_int_equal(probe_usage_glance_again(&subject, &map), read[i].wanted > 0);
        assert_int_equal(subject.experiments[0].wanted, 0);
        assert_int_equal(subject.experiments[1].wanted, read[i].wanted);
        assert_int_equal(subject.experiments[2].wanted, 0);
    }
}

/* One low reading of a set moves a uop to a set that holds it: where one is told there, it is read again. */
static void test_glances_that_may_lack_some(void **state) {
    (void)state;
    static const struct {
        double within;  /* of {2 3}, read five times */
        double once;    /* of {2 3 4} */
        unsigned count; /* of its readings */
        bool again;
    } read[] = {{0, 0, 1, true}, {0, 0, 2, false}, {1, 1, 2, false}, {1, 0, 1, true}};
    const struct probe_portmap map = {.issue_width = 6};
    struct isa_form form = form_of("vpaddd ymm, ymm, ymm");
    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++) {
        struct probe_usage usage = {.slots = 1, .cycles = 0.5};
        struct probe_usage_subject subject = {
            .form = &form, .result = &usage, .count = 3, .binds_early = true, .slots = 2};
        early_read_alike(&subject, read[i].within, read[i].once, read[i].count);
        probe_usage_infer(&subject, &usage, &map);
        subject.issue = (struct probe_usage_experiment){.copies = 8, .parts = 1};
        probe_usage_reading_add(&subject.issue, 1, 6);
        probe_usage_reading_add(&subject.issue, 1, 6);
        assert_int_equal(probe_usage_glance_fits(&subject, &map), !read[i].again);
    }
}

/* Two uops in one slot fit where one of them only notes the address of what x87 has in memory, and not else.
 */
static void test_glances_without_a_slot(void **state) {
    (void)state;
    static const struct {
        const char *form;
        bool fits;
    } cases[] = {{"fcom m32", true}, {"vpabsb xmm, m128", false}, {"fcom st", false}};
    const struct probe_portmap map = {.issue_width = 8};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_form form = form_of(cases[i].form);
        struct probe_usage usage = {.slots = 1, .cycles = 1};
        struct probe_usage_subject subject = {.form = &form, .result = &usage, .count = 2, .slots = 2};
        for (unsigned e = 0; e < 2; e++) {
            subject.experiments[e] = (struct probe_usage_experiment){
                .target = e == 0 ? 0x3 : 0x1c0, .parts = 1, .copies = 8, .blocked = {{.uops = 24}}};
            for (unsigned r = 0; r < 5; r++) {
                probe_usage_reading_add(&subject.experiments[e], 1, e == 0 ? 2 : 3);
            }
        }
        subject.issue = (struct probe_usage_experiment){.copies = 8, .parts = 1};
        probe_usage_reading_add(&subject.issue, 1, 8);
        probe_usage_reading_add(&subject.issue, 1, 8);
        probe_usage_infer(&subject, &usage, &map);
        assert_int_equal(usage.term_count, 2);
        assert_int_equal(probe_usage_glance_fits(&subject, &map), cases[i].fits);
    }
}

/* What renews the operands was taken off once, and it may have been too much: a set that reads as nothing
 * says so of no set within it, and is read again. What renews nothing, on these ports, hides nothing there.
 */
static void test_glances_that_took_off_too_much(void **state) {
    (void)state;
    static const struct {
        double renewed;
        unsigned renewals;
        bool clear;
    } read[] = {{1, 1, false}, {1, 2, true}, {0, 1, true}, {0, 0, true}};
    const struct probe_portmap map = {.issue_width = 6};
    struct isa_form form = form_of("fld st");
    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++) {
        struct probe_usage usage = {.slots = 1, .cycles = 0.5};
        struct probe_usage_subject subject = {.form = &form, .result = &usage, .count = 2, .slots = 2};
        struct probe_usage_experiment *inner = &subject.experiments[0], *outer = &subject.experiments[1];
        for (unsigned e = 0; e < 2; e++) {
            subject.experiments[e] = (struct probe_usage_experiment){
                .target = e == 0 ? 0xc : 0x3c, .parts = 1, .copies = 8, .confined = NAN, .cycles = NAN};
        }
        for (unsigned r = 0; r < read[i].renewals; r++) {
            probe_usage_renewal_add(outer, read[i].renewed);
        }
        probe_usage_reading_add(outer, read[i].renewed, 4);
        probe_usage_glance_inner(&subject, &map);
        assert_int_equal(inner->implied, read[i].clear);
        assert_int_equal(inner->wanted, !read[i].clear);
        inner->implied = true;
        assert_int_equal(probe_usage_glance_again(&subject, &map) && outer->wanted > 0, !read[i].clear);
    }
}

/* What adds what it loads to a register does not do it on the ports of loads. */
static void test_work_needs_a_port(void **state) {
    (void)state;
    static const struct {
        const char *form;
        bool ok;
    } forms[] = {{"vpaddd xmm, xmm, m128", false},
                 {"vmovups xmm, m128", true},
                 {"vmovups xmm{k}{z}, m128", true},
                 {"add r64, m64", true}}; /* on a CPU whose issue width hides it */
    enum { LOAD = 0x300 };
    struct probe_portmap map = {
        .issue_width = 6,
        .classes = {{.ports = LOAD, .width = 2, .load = true, .worlds = PROBE_PORTS_SCALAR},
                    {.ports = 0x7, .width = 3, .worlds = PROBE_PORTS_VECTOR}},
        .class_count = 2};
    for (unsigned i = 0; i <= sizeof forms / sizeof forms[0]; i++) {
        bool again = i == sizeof forms / sizeof forms[0]; /* the first, where the width may hide it */
        struct isa_form form = form_of(forms[again ? 0 : i].form);
        map.classes[1].ports = again ? 0x3f : 0x7;
        struct probe_usage_subject subject;
        probe_usage_subject_init(&subject, &form);
        subject.count = 1;
        subject.experiments[0] = (struct probe_usage_experiment){
            .target = LOAD, .reading_count = 1, .tries = 1, .confined = 1, .cycles = 0.5, .copies = 1};
        struct probe_usage usage = {.slots = NAN, .cycles = 0.5, .term_count = 1};
        usage.terms[0] = (struct probe_usage_term){.ports = LOAD, .uops = 1};
        subject.result = &usage;
        probe_usage_verify(&subject, &usage, &map);
        assert_int_equal(usage.verdict, again || forms[i].ok ? PROBE_USAGE_OK : PROBE_USAGE_INCONSISTENT);
    }
}

/* Of one uop that holds its port for two cycles noise may well read two sets: it has the wider, and its loads
 * beside. */
static void test_halves_are_alike(void **state) {
    (void)state;
    enum { INNER = 0x1, OUTER = 0x3, LOAD = 0x700 };
    static const struct probe_portmap map = {.issue_width = 6,
                                             .classes = {{.ports = INNER, .width = 1, .blocker = {-1, 1, 1}},
                                                         {.ports = OUTER, .width = 2, .blocker = {-1, 2, 2}},
                                                         {.ports = LOAD, .width = 3, .load = true}},
                                             .class_count = 3};
    struct isa_form form = form_of("vandpd zmm, zmm, m512");
    for (double slots = 1; slots <= 2; slots++) {
        struct probe_usage_subject subject = {.form = &form, .count = 3, .world = PROBE_PORTS_WIDE};
        subject.experiments[0] = (struct probe_usage_experiment){.target = INNER, .confined = 1.1};
        subject.experiments[1] = (struct probe_usage_experiment){.target = LOAD, .confined = 2.0};
        subject.experiments[2] = (struct probe_usage_experiment){.target = OUTER, .confined = 2.0};
        struct probe_usage result = {.slots = slots, .cycles = NAN};
        probe_usage_infer(&subject, &result, &map);
        assert_true(uops_on(&result, INNER) == (slots < 2 ? 0 : 1));
        assert_true(uops_on(&result, OUTER) == (slots < 2 ? 2 : 1));
        assert_true(uops_on(&result, LOAD) == 2);
    }
}

/* The only uop of a form of 512 bits that reads so on {0 1}, {1 2}, {2 3}, {1 2 3} and {0 1 2 3}, of a core
 * that executes halves and binds them early; 0: its readings contradict each other. */
static uint32_t halves_of(const char *syntax, const double *readings) {
    enum { SETS = 5 };
    static const uint32_t sets[SETS] = {0x3, 0x6, 0xc, 0xe, 0xf};
    struct probe_portmap map = {.issue_width = 6, .class_count = SETS, .halves = true};
    struct isa_form form = form_of(syntax);
    struct probe_usage_subject subject = {
        .form = &form, .count = SETS, .world = PROBE_PORTS_WIDE, .binds_early = true};
    for (unsigned i = 0; i < SETS; i++) {
        map.classes[i] = (struct probe_port_class){
            .ports = sets[i], .width = ports_in(sets[i]), .blocker = {-1, (int)i, (int)i}};
        subject.experiments[i] = (struct probe_usage_experiment){
            .target = sets[i], .parts = 1, .copies = 8, .confined = readings[i], .cycles = NAN};
    }
    struct probe_usage usage = {.slots = 1, .cycles = 1};
    probe_usage_infer(&subject, &usage, &map);
    bool one = usage.verdict == PROBE_USAGE_OK && usage.term_count == 1 && usage.terms[0].uops == 2;
    return one ? usage.terms[0].ports : 0;
}

/* A third source of 512 bits holds up what is executed on other ports; it is no uop of these (Zen 4). */
static void test_halves_of_three_sources(void **state) {
    (void)state;
    static const struct {
        const char *form;
        double readings[5];
        uint32_t ports;
    } read[] = {{"vaddpd zmm{k}, zmm, zmm", {0.78, 0.93, 1.93, 1.88, 3.14}, 0xc},
                {"vaddpd zmm{k}, zmm, m512", {0.86, 0.87, 2.03, 1.83, 3.28}, 0xc},
                {"vpaddd zmm{k}, zmm, zmm", {0.97, 0.48, 0.01, 0.73, 3.04}, 0xf},
                {"vpermt2d zmm, zmm, zmm", {0.99, 1.98, 0.00, 2.21, 2.51}, 0x6},
                {"vunpcklps zmm{k}, zmm, zmm", {0.98, 1.03, 0.84, 2.35, 3.20}, 0xe},
                /* two sets as narrow; nowhere two halves; one more than a way can add */
                {"vaddpd zmm{k}, zmm, zmm", {1.93, 0.93, 1.93, 1.88, 3.14}, 0},
                {"vaddpd zmm{k}, zmm, zmm", {0.78, 0.93, 0.93, 1.30, 1.50}, 0},
                {"vaddpd zmm{k}, zmm, zmm", {0.78, 1.45, 1.93, 1.88, 3.14}, 0},
                /* and two sources have no such way */
                {"vaddpd zmm{k}{z}, zmm, zmm", {0.78, 0.93, 1.93, 1.88, 3.14}, 0}};
    for (unsigned i = 0; i < sizeof read / sizeof read[0]; i++) {
        assert_int_equal(halves_of(read[i].form, read[i].readings), read[i].ports);
    }
}

/* What runs four in a cycle has no two issue slots, whatever was read among NOPs. */
static void test_slots_that_take_longer_than_it_takes(void **state) {
    (void)state;
    static const struct probe_portmap map = {.issue_width = 6};
    struct isa_form form = form_of("paddb mm, mm");
    for (unsigned i = 0; i < 2; i++) {
        const double cycles = i == 0 ? 0.25 : 0.33;
        struct probe_usage_subject subject = {.form = &form, .count = 1, .binds_early = true};
        subject.experiments[0] = (struct probe_usage_experiment){
            .target = 0xf, .reading_count = 1, .tries = 1, .confined = 1, .cycles = 2, .copies = 8};
        struct probe_usage usage = {.slots = 1.85, .cycles = cycles, .term_count = 1};
        usage.terms[0] = (struct probe_usage_term){.ports = 0xf, .uops = 1};
        subject.result = &usage;
        probe_usage_verify(&subject, &usage, &map);
        assert_int_equal(usage.verdict, PROBE_USAGE_OK);
        assert_true(isnan(usage.slots) == (i == 0));
    }
}

/* What goes from one register file to another, and may hold more than its slots; and what notes an address.
 */
static void test_crossings(void **state) {
    (void)state;
    static const struct {
        const char *form;
        bool crosses;
        double slotless;
    } forms[] = {{"movd r32, xmm", true, INFINITY},
                 {"cvtsi2sd xmm, r64", true, INFINITY},
                 {"cvtsd2si r64, m64", true, INFINITY},
                 {"cvtsi2sd xmm, m64", false, 0},
                 {"mov r64, m64", false, 0},
                 {"addsd xmm, m64", false, 0},
                 {"fnstsw ax", true, INFINITY},
                 {"fadd st0, st", false, 0},
                 {"fadd m64", false, 1},
                 {"fisttp m32", false, 1},
                 {"fldcw m16", false, 0}};
    for (unsigned i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct isa_form form = form_of(forms[i].form);
        assert_true(probe_usage_crosses(&form) == forms[i].crosses);
        assert_true(probe_usage_slotless(&form) == forms[i].slotless);
    }
}

/* Loads that `form` is given where so many were read on the three ports of loads, one of which stores share,
 * and once only `lowest` (NaN: it was read once). One uop loads 128 bits here. */
static double loads_bound(const char *syntax, bool early, double lowest, double read, double cycles,
                          double stores) {
    enum { STORE = 0x100, LOAD = 0x700 };
    struct isa_form load = form_of("movups xmm, m128");
    struct probe_port_member member = {.form = &load, .class = 1, .load = true};
    const struct probe_portmap map = {
        .members = &member,
        .member_count = 1,
        .issue_width = 6,
        .classes = {{.ports = STORE, .width = 1, .store = true}, {.ports = LOAD, .width = 3, .load = true}},
        .class_count = 2};
    struct isa_form form = form_of(syntax);
    struct probe_usage_subject subject = {.form = &form, .count = 2, .binds_early = early};
    subject.experiments[0] =
        (struct probe_usage_experiment){.target = STORE, .confined = stores, .store = true};
    subject.experiments[1] = (struct probe_usage_experiment){
        .target = LOAD, .confined = read, .readings = {lowest, read}, .reading_count = isnan(lowest) ? 0 : 2};
    struct probe_usage result = {.slots = 1, .cycles = cycles};
    probe_usage_infer(&subject, &result, &map);
    return uops_on(&result, LOAD);
}

static double loads_of(const char *syntax, double read, double cycles, double stores) {
    return loads_bound(syntax, false, NAN, read, cycles, stores);
}

/* What is only stored has no loads, though its address may wait for some; or it has a load's port. */
static void test_stores_wait_for_loads(void **state) {
    (void)state;
    assert_true(loads_bound("vmovups m512, zmm", true, NAN, 2.9, 2, 2) == 0);
    assert_true(loads_bound("vmovups m512, zmm", false, NAN, 2.9, 2, 2) == 1);
    assert_true(loads_bound("add m32, r32", true, NAN, 2.0, 1, 1) == 1); /* this one reads it */
}

/* Where uops are bound early, what changes memory has a load only where no reading is much less. */
static void test_one_low_reading_refutes_a_load(void **state) {
    (void)state;
    assert_true(loads_bound("add m32, r32", true, 1.5, 2.4, 1, 1) == 0);
    assert_true(loads_bound("add m32, r32", true, 1.9, 2.4, 1, 1) == 1);
    assert_true(loads_bound("add m32, r32", false, 1.5, 2.4, 1, 1) == 1);
    assert_true(loads_bound("add r32, m32", true, 0.5, 1.2, 0.33, 0) == 1); /* it only reads */
}

/* Beside other loads a kernel may run in a slower rhythm, which looks as if it had more of them. */
static void test_loads_are_held(void **state) {
    (void)state;
    assert_true(loads_of("add r32, m32", 2.1, 0.33, 0) == 1);
    assert_true(loads_of("add r32, m32", 2.1, NAN, 0) == 1); /* there is nothing that a second would load */
    assert_true(loads_of("add m32, r32", 3.0, 1, 1) == 1);   /* beside the store */
    assert_true(loads_of("vaddps xmm, xmm, m128", 2.0, 0.67, 0) == 1);
    assert_true(loads_of("vaddps ymm, ymm, m256", 2.0, 0.33, 0) == 1);
    assert_true(loads_of("vaddps ymm, ymm, m256", 3.0, 0.67, 0) == 2); /* in halves */
    assert_true(loads_of("vpgatherdd xmm, vm32x, xmm", 4.0, 4, 0) == 4);
}

/* Where loads of vectors have fewer ports than others, each form is read beside loads of its own kind. */
static void test_loads_beside_their_kind(void **state) {
    (void)state;
    enum { VECTORS = 0x600, ALL = 0x700 };
    static const struct {
        const char *syntax;
        uint32_t loads;
    } forms[] = {{"adc r64, m64", ALL},          {"crc32 r32, m8", ALL},
                 {"add m32, r32", ALL},          {"vpaddd ymm, ymm, m256", VECTORS},
                 {"cvtsd2si r32, m64", VECTORS}, {"fadd m64", VECTORS}};
    struct isa_form blockers[] = {form_of("mov r64, m64"), form_of("vmovups ymm, m256")};
    struct probe_port_member members[] = {
        {.form = &blockers[0], .world = PROBE_PORTS_SCALAR, .class = 0, .load = true},
        {.form = &blockers[1], .world = PROBE_PORTS_VECTOR, .class = 1, .load = true}};
    const struct probe_portmap map = {
        .members = members,
        .member_count = 2,
        .issue_width = 6,
        .classes =
            {{.ports = ALL, .width = 3, .load = true, .worlds = PROBE_PORTS_SCALAR, .blocker = {0, -1, -1}},
             {.ports = VECTORS,
              .width = 2,
              .load = true,
              .worlds = PROBE_PORTS_VECTOR,
              .blocker = {-1, 1, -1}}},
        .class_count = 2};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct isa_form form = form_of(forms[i].syntax);
        struct probe_usage_subject subject;
        probe_usage_subject_init(&subject, &form);
        subject.legacy = false; /* nothing but the kind of load decides */
        probe_usage_experiments_plan(&subject, &map);
        assert_int_equal(subject.count, 1);
        assert_int_equal(subject.experiments[0].target, forms[i].loads);
        /* What it writes back may have the address that it was loaded with. */
        bool rewrites = strncmp(forms[i].syntax, "add m32", 7) == 0;
        assert_int_equal(subject.experiments[0].least, rewrites ? PROBE_USAGE_BOUND_READINGS : 1);
    }
}

/* µops of the widest set that `form` is given, of which a load and `widest` µops on five ports were read, and
 * `slots` issue slots. */
static double widest_of(const char *form, double widest, double slots) {
    enum { LOAD = 0x380, FIVE = 0x1f };
    struct isa_form row = form_of(form);
    const struct probe_portmap map = {
        .issue_width = 6, .classes = {{.ports = LOAD, .width = 3, .load = true}}, .class_count = 1};
    struct probe_usage_subject subject = {.form = &row, .count = 2};
    subject.experiments[0] = (struct probe_usage_experiment){.target = LOAD, .confined = 1};
    subject.experiments[1] = (struct probe_usage_experiment){.target = FIVE, .confined = widest};
    struct probe_usage result = {.slots = slots, .cycles = 0.5};
    probe_usage_infer(&subject, &result, &map);
    return uops_on(&result, FIVE);
}

/* A load's slot has room for a uop that works on what was loaded, but a load alone has no such. */
static void test_loads_have_no_company(void **state) {
    (void)state;
    assert_true(widest_of("vmovapd zmm, m512", 0.7, 1) == 0);
    assert_true(widest_of("mov r16, m16", 0.7, 1) == 1); /* keeps the upper bits */
    assert_true(widest_of("add r32, m32", 0.7, 1) == 1);
    assert_true(widest_of("lodsq", 2.1, 3) == 2);                  /* more slots than its load */
    assert_true(widest_of("vpermq ymm, m256, imm8", 1.0, 1) == 1); /* something is made of it */
    assert_true(widest_of("vpermq ymm, m256, imm8", 0.3, 1) == 0);
}

/* VPERMD of 512 bits from memory in a slow rhythm: a second uop of {0 5} would show in five ports, too. */
static void test_widest_lacks_a_uop(void **state) {
    (void)state;
    const struct probe_portmap map = {.issue_width = 6};
    struct isa_form form = form_of("add r64, r64");
    struct probe_usage_subject subject = {.form = &form, .count = 3};
    const uint32_t targets[] = {0x2, 0x3, 0x1f};
    const double read[2][3] = {{1.0, 2.0, 1.2}, {1.0, 2.0, 1.6}};
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned e = 0; e < 3; e++) {
            subject.experiments[e] =
                (struct probe_usage_experiment){.target = targets[e], .confined = read[i][e]};
        }
        struct probe_usage result = {.slots = NAN, .cycles = 1};
        probe_usage_infer(&subject, &result, &map);
        assert_int_equal(result.verdict, i == 0 ? PROBE_USAGE_INCONSISTENT : PROBE_USAGE_OK);
        assert_string_equal(
            result.why, /* the reading, not what counts of it: nothing */
            i == 0 ? "0.80 uops fewer are confined to a set of 5 ports than to those within it" : "");
    }
}

/* What works on a register that its operands do not name does more than load (MULX: RDX); a pointer that
 * moves on is none of that. */
static void test_sources_that_are_not_named(void **state) {
    (void)state;
    static const struct {
        const char *form;
        double own; /* uops of the widest set */
    } forms[] = {{"mulx r32, r32, m32", 1}, {"pop r64", 0}};
    enum { LOAD = 0x300, WIDEST = 0x1f };
    static const struct probe_portmap map = {
        .issue_width = 6, .classes = {{.ports = LOAD, .width = 2, .load = true}}, .class_count = 1};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct isa_form form = form_of(forms[i].form);
        struct probe_usage_subject subject = {.form = &form, .count = 2};
        subject.experiments[0] = (struct probe_usage_experiment){.target = LOAD, .confined = 1};
        subject.experiments[1] = (struct probe_usage_experiment){.target = WIDEST, .confined = 1};
        struct probe_usage result = {.slots = 1, .cycles = NAN};
        probe_usage_infer(&subject, &result, &map);
        assert_true(uops_on(&result, WIDEST) == forms[i].own && uops_on(&result, LOAD) == 1);
    }
}

/* Between two readings of which one is spoilt there may be a whole number: more are taken. */
static void test_glances_far_apart(void **state) {
    (void)state;
    static const double read[][2] = {{36.88, 0.66}, {1.02, 0.98}};
    const struct probe_portmap map = {.issue_width = 6};
    struct isa_form form = form_of("vmovapd m128, xmm");
    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++) {
        struct probe_usage usage = {.slots = 1, .cycles = 0.5};
        struct probe_usage_subject subject = {.form = &form, .result = &usage, .count = 1, .slots = 2};
        subject.experiments[0] = (struct probe_usage_experiment){
            .target = 0x60, .store = true, .parts = 1, .copies = 8, .kind = PROBE_USAGE_GLANCED};
        subject.experiments[0].blocked[0] = (struct probe_usage_term){.ports = 0x60, .uops = 24};
        probe_usage_reading_add(&subject.experiments[0], read[i][0], 2);
        probe_usage_reading_add(&subject.experiments[0], read[i][1], 2);
        (void)probe_usage_glance_again(&subject, &map);
        assert_int_equal(subject.experiments[0].wanted, i == 0 ? 3 : 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bursts_of_a_unit),
        cmocka_unit_test(test_readings_of_early_binding),
        cmocka_unit_test(test_strays_of_early_binding),
        cmocka_unit_test(test_excess_of_early_binding),
        cmocka_unit_test(test_glances_that_may_lack_some),
        cmocka_unit_test(test_halves_are_alike),
        cmocka_unit_test(test_halves_of_three_sources),
        cmocka_unit_test(test_slots_that_take_longer_than_it_takes),
        cmocka_unit_test(test_crossings),
        cmocka_unit_test(test_loads_are_held),
        cmocka_unit_test(test_loads_beside_their_kind),
        cmocka_unit_test(test_loads_have_no_company),
        cmocka_unit_test(test_widest_lacks_a_uop),
        cmocka_unit_test(test_microcode_of_early_binding),
        cmocka_unit_test(test_too_many_for_early_binding),
        cmocka_unit_test(test_too_many_where_some_wait),
        cmocka_unit_test(test_glances_that_are_wanted),
        cmocka_unit_test(test_glances_that_took_off_too_much),
        cmocka_unit_test(test_glances_without_a_slot),
        cmocka_unit_test(test_work_needs_a_port),
        cmocka_unit_test(test_stores_wait_for_loads),
        cmocka_unit_test(test_one_low_reading_refutes_a_load),
        cmocka_unit_test(test_sources_that_are_not_named),
        cmocka_unit_test(test_glances_far_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
