/* SPDX-License-Identifier: Apache-2.0 */
/* Which sets of ports are asked of a form at all, and where its operands say what readings are too rough for:
 * as a Zen 5 needs it. */
#include <math.h>
#include <string.h>

#include "probe/usage.h"
#include "probe/usage_steps.h"
#include "tests/generator_testing.h"

/* Six ALUs, four pipes of vectors, and stores. */
enum { ALUS = 0x3f, VECTORS = 0x3c0, STORES = 0xc00, MEMBERS = 3 };
static const char *const blockers[MEMBERS] = {"mov r64, imm32", "vpaddd ymm, ymm, ymm", "mov m64, r64"};

struct core {
    struct isa_form forms[MEMBERS];
    struct probe_port_member members[MEMBERS];
    struct probe_portmap map;
};

static void core_make(struct core *core) {
    static const uint32_t sets[MEMBERS] = {ALUS, VECTORS, STORES};
    *core = (struct core){.map = {.issue_width = 8, .member_count = MEMBERS, .class_count = MEMBERS}};
    core->map.members = core->members;
    for (int i = 0; i < MEMBERS; i++) {
        bool vector = i == 1;
        core->forms[i] = form_of(blockers[i]);
        core->members[i] = (struct probe_port_member){.form = &core->forms[i],
                                                      .class = i,
                                                      .cycles = 1.0 / ports_in(sets[i]),
                                                      .world = vector ? (unsigned)PROBE_PORTS_VECTOR
                                                                      : (unsigned)PROBE_PORTS_SCALAR};
        core->map.classes[i] = (struct probe_port_class){.ports = sets[i],
                                                         .width = ports_in(sets[i]),
                                                         .store = i == 2,
                                                         .worlds = core->members[i].world,
                                                         .blocker = {vector ? -1 : i, vector ? i : -1, -1}};
    }
}

static struct probe_usage_experiment *of_set(struct probe_usage_subject *subject, uint32_t set) {
    for (unsigned e = 0; e < subject->count; e++) {
        if (subject->experiments[e].target == set) {
            return &subject->experiments[e];
        }
    }
    return NULL;
}

/* Is the set asked of the form, of which two issue slots are known? */
static bool is_asked(const struct core *core, const char *syntax, uint32_t set, uint64_t delays) {
    struct isa_form form = form_of(syntax);
    struct probe_usage_subject subject;
    probe_usage_subject_init(&subject, &form);
    subject.slots = 2;
    subject.delays = delays;
    subject.legacy = false;
    probe_usage_experiments_plan(&subject, &core->map);
    const struct probe_usage_experiment *experiment = of_set(&subject, set);
    bool none = experiment != NULL && experiment->implied && experiment->parts == 0;
    return experiment != NULL && !none;
}

/* Stores are looked for where memory is written, the stack grows, or nothing says what the form is for. */
static void test_who_may_store(void **state) {
    (void)state;
    struct core core;
    core_make(&core);
    static const struct {
        const char *form;
        bool stores;
    } forms[] = {{"add m64, r64", true},          {"push r64", true},      {"clflushopt m512", true},
                 {"add r64, m64", false},         {"add r64, r64", false}, {"vmovups m256, ymm", true},
                 {"vpaddd ymm, ymm, m256", false}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        assert_int_equal(is_asked(&core, forms[i].form, STORES, 0), forms[i].stores);
    }
}

/* Where some wait for blocked ports a form that names only vectors, or stores them, has nothing on the ports
 * of ALUs; where none do what is read counts. */
static void test_who_may_compute_on_alus(void **state) {
    (void)state;
    struct core core;
    core_make(&core);
    static const struct {
        const char *form;
        bool alus;
    } forms[] = {{"vpaddd ymm, ymm, m256", false},
                 {"vphaddw xmm, xmm, xmm", false},
                 {"vmovd r32, xmm", true},
                 {"vptest xmm, xmm", true},
                 {"vmovups m256, ymm", false},
                 {"vpextrb m8, xmm, imm8", false},
                 {"kmovq m64, k", false},
                 {"mov m64, r64", true},
                 {"vpinsrb xmm, xmm, r32, imm8", true},
                 {"vpgatherdd xmm, vm32x, xmm", true},
                 {"vpscatterdd vm32x{k}, xmm", true},
                 {"fadd st0, st", false},
                 {"fcomi st0, st", true},
                 {"fadd m64", false}, /* too many ports */
                 {"add r64, r64", true}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        assert_int_equal(is_asked(&core, forms[i].form, ALUS, 1), forms[i].alus);
        assert_true(is_asked(&core, forms[i].form, ALUS, 0));
    }
}

/* What x87 has in memory has its address noted by one of general registers' ports: by one of four it is seen,
 * and not where the blocker takes values from vectors, as what is stored does. */
static void test_who_notes_an_address(void **state) {
    (void)state;
    for (unsigned crosses = 0; crosses < 2; crosses++) {
        struct core core;
        core_make(&core);
        core.forms[0] = form_of(crosses ? "vmovd r32, xmm" : "rorx r64, r64, imm8");
        core.map.classes[0].ports = 0xf;
        core.map.classes[0].width = 4;
        assert_int_equal(is_asked(&core, "fstp m64", 0xf, 1), !crosses);
        assert_int_equal(is_asked(&core, "fadd m64", 0xf, 1), !crosses);
        assert_false(is_asked(&core, "vmovups m256, ymm", 0xf, 1));
        assert_true(is_asked(&core, "fstp m64", 0xf, 0));
        assert_true(is_asked(&core, "fstp m64", VECTORS, 1));
    }
}

/* Beside six blocked ports stand two copies for each, and readings are upper bounds; beside four as many as
 * ever. */
static void test_copies_beside_wide_sets(void **state) {
    (void)state;
    struct core core;
    core_make(&core);
    struct isa_form form = form_of("add r64, r64");
    for (double alone = 0.25; alone <= 4; alone *= 16) {
        struct probe_usage_subject subject;
        probe_usage_subject_init(&subject, &form);
        subject.alone = alone;
        subject.slots = 2;
        probe_usage_experiments_plan(&subject, &core.map);
        struct probe_usage_experiment *wide = of_set(&subject, ALUS), *narrow = of_set(&subject, VECTORS);
        probe_usage_experiment_size(wide, &subject, &core.map, PROBE_USAGE_GLANCED, 0);
        probe_usage_experiment_size(narrow, &subject, &core.map, PROBE_USAGE_GLANCED, 0);
        assert_int_equal(wide->copies, 12);
        assert_int_equal(narrow->copies, alone > 1 ? 4 : 8);
        assert_true(wide->bounds && !narrow->bounds);
    }
}

/* Beside what others wait for, two readings of five have blockers for twice as long as the copies take alone;
 * and at least these three are taken. Where uops are bound early, or a set holds many ports, all are as ever.
 */
static void test_brief_blockers(void **state) {
    (void)state;
    static const struct {
        uint32_t ports;
        bool early, waits;
    } sets[] = {{0x7, false, true}, {0x7, true, false}, {ALUS, false, false}};
    struct isa_form form = form_of("imul r64, r64, imm8");
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        struct core core;
        core_make(&core);
        core.map.classes[0].ports = sets[i].ports;
        core.map.classes[0].width = ports_in(sets[i].ports);
        struct probe_usage_subject subject;
        probe_usage_subject_init(&subject, &form);
        subject.delays = 1;
        subject.binds_early = sets[i].early;
        subject.alone = 1.0 / 3;
        subject.chain = 2.0 / 3;
        subject.slots = 2;
        probe_usage_experiments_plan(&subject, &core.map);
        struct probe_usage_experiment *experiment = of_set(&subject, sets[i].ports);
        assert_int_equal(experiment->waits, sets[i].waits);
        assert_int_equal(experiment->least, sets[i].waits ? 3 : 1);
        for (unsigned number = 0; number < 7; number++) {
            probe_usage_experiment_size(experiment, &subject, &core.map, PROBE_USAGE_GLANCED, number);
            bool brief = sets[i].waits && (number % 5 == 1 || number % 5 == 2);
            assert_true((experiment->blocked[0].uops == 18) == brief);
            assert_true(brief || experiment->blocked[0].uops > 40);
        }
    }
}

/* What is microcode of vectors has nothing but its loads elsewhere while all their ports are blocked. */
static void test_blockers_beside_microcode_of_vectors(void **state) {
    (void)state;
    struct core core;
    core_make(&core);
    double blocked[2];
    for (unsigned general = 0; general < 2; general++) {
        struct isa_form form = form_of(general ? "vptest xmm, xmm" : "vphaddw xmm, xmm, xmm");
        struct probe_usage_subject subject;
        probe_usage_subject_init(&subject, &form);
        subject.alone = 6;
        subject.slots = 32;
        subject.legacy = false;
        probe_usage_experiments_plan(&subject, &core.map);
        struct probe_usage_experiment *vectors = of_set(&subject, VECTORS);
        probe_usage_experiment_size(vectors, &subject, &core.map, PROBE_USAGE_GLANCED, 0);
        blocked[general] = vectors->blocked[0].uops;
    }
    assert_true(2 * blocked[0] < blocked[1]);
}

/* Readings beside two of the vectors' four ports are upper bounds of microcode, whose uops come at once;
 * beside all four, and of what takes few slots, and where nothing waits, they count. */
static void test_bursts_of_microcode(void **state) {
    (void)state;
    static const struct {
        double slots;
        uint64_t delays;
        bool bounds;
    } cases[] = {{16, 1, true}, {2, 1, false}, {16, 0, false}};
    struct core core;
    core_make(&core);
    enum { HALF = 0x0c0 };
    core.map.classes[2] = core.map.classes[1]; /* for that of stores */
    core.map.classes[2].ports = HALF;
    core.map.classes[2].width = 2;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_form form = form_of("vphaddw xmm, xmm, xmm");
        struct probe_usage_subject subject;
        probe_usage_subject_init(&subject, &form);
        subject.slots = cases[i].slots;
        subject.delays = cases[i].delays;
        probe_usage_experiments_plan(&subject, &core.map);
        assert_int_equal(of_set(&subject, HALF)->bounds, cases[i].bounds);
        assert_int_equal(of_set(&subject, HALF)->delays, cases[i].bounds);
        assert_false(of_set(&subject, VECTORS)->bounds);
    }
}

/* Stores of `add m64, r64` that are told by these readings, of which two issue slots are known. */
static double stores_of(const double *readings, unsigned count) {
    struct core core;
    core_make(&core);
    struct isa_form form = form_of("add m64, r64");
    struct probe_usage_subject subject;
    probe_usage_subject_init(&subject, &form);
    subject.slots = 2;
    probe_usage_experiments_plan(&subject, &core.map);
    struct probe_usage_experiment *stores = of_set(&subject, STORES);
    assert_true(stores->by_operands);
    stores->copies = 8;
    stores->blocked[0].uops = 48;
    for (unsigned i = 0; i < count; i++) {
        probe_usage_reading_add(stores, readings[i], 2);
    }
    probe_usage_reading_judge(stores);
    struct probe_usage usage = {.slots = 2, .cycles = 0.5};
    probe_usage_infer(&subject, &usage, &core.map);
    double uops = 0;
    for (unsigned t = 0; t < usage.term_count; t++) {
        uops += usage.terms[t].store ? usage.terms[t].uops : 0;
    }
    return uops;
}

/* Read-modify-write reads as 0.1 to 0.5 of a store now, as 1.5 then: half of the readings must show any. */
static void test_stores_that_are_seen(void **state) {
    (void)state;
    static const double low[] = {0.1, 0.1, 1.5, 0.2}, high[] = {0.1, 1.5, 1.4}, none[] = {0.0, 0.1};
    assert_true(stores_of(high, 3) == 1);
    assert_true(stores_of(low, 4) == 0);
    assert_true(stores_of(none, 2) == 0);
}

/* uops of the ALUs that these readings tell of a form of two slots where some wait. */
static double alus_of(const char *syntax, const double *readings, unsigned count) {
    struct core core;
    core_make(&core);
    struct isa_form form = form_of(syntax);
    struct probe_usage_subject subject;
    probe_usage_subject_init(&subject, &form);
    subject.slots = 2;
    subject.delays = 1;
    probe_usage_experiments_plan(&subject, &core.map);
    struct probe_usage_experiment *alus = of_set(&subject, ALUS);
    alus->copies = 12;
    alus->blocked[0].uops = 144;
    for (unsigned i = 0; i < count; i++) {
        probe_usage_reading_add(alus, readings[i], 6);
    }
    struct probe_usage usage = {.slots = 2, .cycles = 0.75};
    probe_usage_infer(&subject, &usage, &core.map);
    assert_int_equal(usage.verdict, PROBE_USAGE_OK);
    return usage.term_count > 0 ? usage.terms[0].uops : 0;
}

/* What two readings agree on may be much too long, and hardly too short. */
static void test_counts_of_wide_sets(void **state) {
    (void)state;
    static const double two[] = {2.24, 2.33, 2.53, 3.15, 3.75}, most[] = {2.7, 2.6, 3.3},
                        one[] = {0.7, 0.9, 1.4}, none[] = {0.5, 0.6, -0.2}, three[] = {3.1, 3.2};
    assert_true(alus_of("btr r64, r64", two, 5) == 2);
    assert_true(alus_of("btr r64, r64", most, 3) == 2);
    assert_true(alus_of("btr r64, r64", one, 3) == 1);
    assert_true(alus_of("btr r64, r64", none, 3) == 0);
    assert_true(alus_of("btr r64, r64", three, 2) == 2);   /* there are two slots */
    assert_true(alus_of("vmovd r32, xmm", three, 2) == 3); /* what crosses needs none */
}

/* What makes flags does it on some port, where no such form is as fast as instructions are issued: six ALUs
 * are seen behind seven issue slots. */
static void test_flags_need_a_port(void **state) {
    (void)state;
    static const char *const forms[] = {"cmp r64, r64", "adc r64, r64", "mov r64, r64", "clc"};
    enum { SEEN, SEEN_BEHIND_SEVEN, HIDDEN_BEHIND_SIX, HIDDEN, CORES };
    for (size_t i = 0; i < CORES * sizeof forms / sizeof forms[0]; i++) {
        struct core core;
        core_make(&core);
        struct isa_form form = form_of(forms[i / CORES]), fast = form_of("add r64, r64");
        bool hidden = i % CORES >= HIDDEN_BEHIND_SIX, flags = i / CORES < 2;
        core.map.issue_width = i % CORES == SEEN_BEHIND_SEVEN   ? 7
                               : i % CORES == HIDDEN_BEHIND_SIX ? 6
                                                                : core.map.issue_width;
        if (i % CORES == HIDDEN) { /* in no class, for nothing blocks its ports */
            core.members[1] = (struct probe_port_member){.form = &fast, .class = -1, .cycles = 0.125};
        }
        struct probe_usage_subject subject;
        probe_usage_subject_init(&subject, &form);
        subject.count = 1;
        subject.experiments[0] = (struct probe_usage_experiment){
            .target = ALUS, .reading_count = 1, .tries = 1, .cycles = 8, .copies = 1};
        struct probe_usage usage = {.slots = 1, .cycles = 0.17};
        subject.result = &usage;
        probe_usage_verify(&subject, &usage, &core.map);
        bool missed = strstr(usage.why, "it computes, and no uop was seen") != NULL;
        assert_int_equal(missed, flags && !hidden);
    }
}

/* What is hidden of BSWAP where additions are as fast as instructions are issued, behind as many slots as
 * there are ALUs. */
static struct probe_usage hidden_of(double slots, double cycles) {
    struct core core;
    core_make(&core);
    struct isa_form form = form_of("bswap r64"), fast = form_of("add r64, r64");
    core.map.issue_width = 6;
    core.members[1] =
        (struct probe_port_member){.form = &fast, .class = -1, .cycles = 0.125, .world = PROBE_PORTS_SCALAR};
    struct probe_usage usage = {.slots = slots, .cycles = cycles};
    probe_usage_hidden_infer(&form, &usage, &core.map);
    return usage;
}

/* Where the issue slots are not known either, the time that it takes bounds what they hide. */
static void test_hidden_without_slots(void **state) {
    (void)state;
    static const double cycles[] = {0.5, 0.1, NAN};
    for (size_t i = 0; i < 3; i++) {
        const struct probe_usage usage = hidden_of(NAN, cycles[i]);
        assert_true(usage.hidden_most == (i == 0 ? 3 : 0));
        assert_int_equal(usage.hidden_ports, i == 0 ? ALUS : 0);
        assert_int_equal(usage.term_count, 0);
    }
}

/* Slots that read as a fifth of one more than a whole number may be the next. */
static void test_hidden_beside_vague_slots(void **state) {
    (void)state;
    static const struct { double slots, most; } cases[] = {{0.9, 1}, {1.19, 1}, {1.24, 2}, {1.9, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct probe_usage usage = hidden_of(cases[i].slots, 0.5);
        assert_true(usage.hidden_most == cases[i].most);
        assert_true(usage.term_count == 1 && usage.terms[0].uops == cases[i].most);
    }
}

/* What makes a value for a general register and takes longer than its slots has a port somewhere. */
static void test_values_need_a_port(void **state) {
    (void)state;
    static const struct {
        const char *form;
        double cycles, slots;
        bool missed;
    } forms[] = {{"movsx r64, r8", 0.17, 1, true},
                 {"mov r64, r64", 0.13, 1, false},
                 {"xchg r64, r64", 0.25, 2, false},
                 {"vmovups ymm, ymm", 0.17, 1, false}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct core core;
        core_make(&core);
        struct isa_form form = form_of(forms[i].form);
        struct probe_usage_subject subject;
        probe_usage_subject_init(&subject, &form);
        subject.count = 1;
        subject.experiments[0] = (struct probe_usage_experiment){
            .target = ALUS, .reading_count = 1, .tries = 1, .cycles = 8, .copies = 1};
        struct probe_usage usage = {.slots = forms[i].slots, .cycles = forms[i].cycles};
        subject.result = &usage;
        probe_usage_verify(&subject, &usage, &core.map);
        bool missed = strstr(usage.why, "longer than its issue slots") != NULL;
        assert_int_equal(missed, forms[i].missed);
    }
}

/* A load shares the slot of what it feeds, but two that compute share none. */
static void test_slots_beside_memory(void **state) {
    (void)state;
    struct core core;
    core_make(&core);
    struct isa_form form = form_of("vsqrtpd ymm, m256");
    for (unsigned uops = 1; uops <= 2; uops++) {
        struct probe_usage_subject subject;
        probe_usage_subject_init(&subject, &form);
        subject.count = 1;
        subject.issue = (struct probe_usage_experiment){.parts = 1, .copies = 8, .reading_count = 4};
        subject.experiments[0] = (struct probe_usage_experiment){
            .target = VECTORS, .reading_count = 1, .tries = 1, .cycles = uops / 4.0, .copies = 1};
        struct probe_usage usage = {.slots = 1, .cycles = 7, .term_count = 1};
        usage.terms[0] = (struct probe_usage_term){.ports = VECTORS, .uops = uops};
        subject.result = &usage;
        probe_usage_verify(&subject, &usage, &core.map);
        assert_int_equal(usage.verdict, uops > 1 ? PROBE_USAGE_INCONSISTENT : PROBE_USAGE_OK);
    }
}

/* Beside what holds up the front end the blockers of all ALUs wait as well (of a Golden Cove five, behind six
 * slots). Where its slots are not told, for readings disagree, the least that two agree on bounds these uops.
 */
static void test_the_widest_is_held_within_slots_that_are_not_told(void **state) {
    (void)state;
    enum { FIVE = 0x1f, TWO = 0x3 };
    static const struct probe_portmap map = {.issue_width = 6};
    static const struct {
        double readings[5], uops;
        bool believed;
    } cases[] = {{{3.6, 4.3, 4.4, 9.0, 10.4}, 6, false}, /* 8 for 4.35 slots */
                 {{3.6, 4.3, 4.4, 9.0, 10.4}, 3, true},
                 {{7.9, 8.0, 8.2, 8.3, 12.1}, 6, true},
                 {{3.6, 4.3, 5.0, 9.0, 10.4}, 6, true}}; /* no two agree */
    struct isa_form form = form_of("ror m32, cl");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct probe_usage_subject subject;
        probe_usage_subject_init(&subject, &form);
        subject.count = 1;
        subject.issue = (struct probe_usage_experiment){.parts = 1, .copies = 8, .reading_count = 5};
        memcpy(subject.issue.readings, cases[i].readings, sizeof cases[i].readings);
        subject.experiments[0] = (struct probe_usage_experiment){
            .target = FIVE, .reading_count = 1, .tries = 1, .confined = 2 + cases[i].uops, .copies = 8};
        struct probe_usage usage = {.slots = NAN, .cycles = 4, .term_count = 2};
        usage.terms[0] = (struct probe_usage_term){.ports = TWO, .uops = 2};
        usage.terms[1] = (struct probe_usage_term){.ports = FIVE, .uops = cases[i].uops};
        subject.result = &usage;
        probe_usage_verify(&subject, &usage, &map);
        bool told = strstr(usage.why, "the front end is held up") == NULL;
        assert_int_equal(told, cases[i].believed);
        assert_int_equal(usage.verdict, told ? PROBE_USAGE_OK : PROBE_USAGE_INCONSISTENT);
    }
}

/* µops of the ALUs that a form is given which takes a third of a cycle and reads so beside their blockers. */
static double counted_in_time(bool delays, const double readings[4], struct probe_usage *usage) {
    enum { THREE = 0x7 };
    struct isa_form form = form_of("crc32 r64, r64");
    const struct probe_portmap map = {.issue_width = 8};
    struct probe_usage_subject subject = {.form = &form, .count = 1, .delays = delays};
    subject.experiments[0] = (struct probe_usage_experiment){
        .target = THREE, .bounds = true, .delays = delays, .copies = 8, .parts = 1};
    for (unsigned r = 0; r < 4; r++) {
        probe_usage_reading_add(&subject.experiments[0], readings[r], ports_in(THREE));
    }
    *usage = (struct probe_usage){.slots = NAN, .cycles = 0.334};
    probe_usage_infer(&subject, usage, &map);
    subject.result = usage;
    probe_usage_verify(&subject, usage, &map);
    return probe_usage_terms_uops(usage->terms, usage->term_count);
}

/* Where others wait, a form may take twice the time of its µop. It has no more than it has time for. */
static void test_counts_within_the_throughput(void **state) {
    (void)state;
    static const double twice[4] = {1.90, 1.96, 2.00, 2.02};
    struct probe_usage usage;
    assert_true(counted_in_time(true, twice, &usage) == 1);
    assert_int_equal(usage.verdict, PROBE_USAGE_OK);
    assert_true(usage.residual < 0.1);
    assert_true(counted_in_time(false, twice, &usage) == 2);
    assert_string_equal(usage.why, "it runs faster than these ports allow");
}

/* A form's stores that are told nothing of beside stores to lines of their own are counted at one place; not
 * those that read it, which would wait for each other there. */
static void test_stores_are_gathered(void **state) {
    (void)state;
    static const struct {
        const char *form;
        double reading, cycles;
        bool gathered;
    } cases[] = {{"vmovaps m512, zmm", -1.5, 1.0, true}, {"vmovaps m512, zmm", 2.0, 1.0, false},
                 {"movntdq m128, xmm", 2.4, 0.5, true},  {"movups m128, xmm", 1.1, 0.5, false},
                 {"movnti m64, r64", 2.4, 0.5, false}, /* its operand says how many */
                 {"movnti m64, r64", 0.1, 0.5, true},    {"add m64, r64", -1.5, 1.0, false}};
    struct core core;
    core_make(&core);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_form form = form_of(cases[i].form);
        struct probe_usage usage = {.cycles = cases[i].cycles};
        struct probe_usage_subject subject;
        probe_usage_subject_init(&subject, &form);
        subject.result = &usage;
        subject.alone = cases[i].cycles;
        subject.slots = 2;
        subject.legacy = false;
        probe_usage_experiments_plan(&subject, &core.map);
        struct probe_usage_experiment *stores = of_set(&subject, STORES);
        assert_non_null(stores);
        assert_false(probe_usage_stores_gather(&subject)); /* nothing was read */
        stores->copies = 8;
        probe_usage_reading_add(stores, cases[i].reading, 1);
        assert_int_equal(probe_usage_stores_gather(&subject), cases[i].gathered);
        assert_int_equal(stores->one_place, cases[i].gathered);
        assert_int_equal(stores->reading_count, !cases[i].gathered);
        assert_false(probe_usage_stores_gather(&subject)); /* once */
        /* The next look begins there. */
        subject.count = 0;
        probe_usage_experiments_plan(&subject, &core.map);
        assert_int_equal(of_set(&subject, STORES)->one_place, cases[i].gathered);
    }
}

/* What needs both ports of stores at once loses half a cycle where an odd number of others stands between. */
static void test_whole_cycles_stand_between_stores(void **state) {
    (void)state;
    struct core core;
    core_make(&core);
    struct isa_form form = form_of("vmovaps m512, zmm");
    for (unsigned one_place = 0; one_place < 2; one_place++) {
        struct probe_usage_subject subject;
        probe_usage_subject_init(&subject, &form);
        subject.alone = 1;
        subject.slots = 2;
        subject.one_place = one_place != 0;
        probe_usage_experiments_plan(&subject, &core.map);
        struct probe_usage_experiment *stores = of_set(&subject, STORES);
        unsigned odd = 0;
        for (unsigned number = 0; number < 8; number++) {
            probe_usage_experiment_size(stores, &subject, &core.map, PROBE_USAGE_GLANCED, number);
            assert_true(stores->copies > 0);
            odd += fmod(stores->blocked[0].uops / stores->copies, ports_in(STORES)) != 0;
        }
        assert_int_equal(odd == 0, one_place);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_within_the_throughput),
        cmocka_unit_test(test_stores_are_gathered),
        cmocka_unit_test(test_whole_cycles_stand_between_stores),
        cmocka_unit_test(test_who_may_store),
        cmocka_unit_test(test_the_widest_is_held_within_slots_that_are_not_told),
        cmocka_unit_test(test_who_may_compute_on_alus),
        cmocka_unit_test(test_who_notes_an_address),
        cmocka_unit_test(test_copies_beside_wide_sets),
        cmocka_unit_test(test_brief_blockers),
        cmocka_unit_test(test_blockers_beside_microcode_of_vectors),
        cmocka_unit_test(test_bursts_of_microcode),
        cmocka_unit_test(test_stores_that_are_seen),
        cmocka_unit_test(test_counts_of_wide_sets),
        cmocka_unit_test(test_flags_need_a_port),
        cmocka_unit_test(test_slots_beside_memory),
        cmocka_unit_test(test_values_need_a_port),
        cmocka_unit_test(test_hidden_without_slots),
        cmocka_unit_test(test_hidden_beside_vague_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
