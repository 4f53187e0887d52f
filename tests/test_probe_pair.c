/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs on a simulated CPU with five ALU ports behind six issue slots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "isa/decode.h"
#include "probe/pair.h"
#include "tests/brief.h"
#include "tests/port_machine.h"

#define FIVE                                                                                                 \
    "isaprobe-sim 1\nissue-width 6\nretire-width 8\nscheduler 200\nrob 512\n"                                \
    "ports p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 pA pB\nload-ports p23A\nstore-address-ports p78\n"                  \
    "store-data-ports p49\nform \"sub r64, imm8\" ports 1*p0156B\nform \"j*\" ports 1*p06\n"                 \
    "fuse \"sub *\" \"j*\"\nform \"add r64, r64\" ports 1*p0156B\nform \"nop *\" ports none\n"               \
    "form \"nop\" ports none\nform \"mov r64, m64\" ports 1*p23A\nform \"mov m64, r64\" ports 1*p78+1*p49\n"

static const struct cast cast[] = {{"imul r64, r64", "1*p1 latency 3"},
                                   {"popcnt r64, r64", "1*p1 latency 3"},
                                   {"vpermd ymm, ymm, ymm", "1*p5 latency 3"},
                                   {"andn r64, r64, r64", "15"},
                                   {"vpaddd ymm, ymm, ymm", "015"},
                                   {"shl r64, imm8", "06"},
                                   {"vdivpd ymm, ymm, ymm", "1*p0 latency 14 blocking 8 divider"},
                                   {"vsqrtpd ymm, ymm", "1*p0 latency 19 blocking 9 divider"},
                                   {"sbb r64, r64", "06"},
                                   {"lodsq", "1*p23A latency 1 slots 12"},
                                   {"mul r64", "1*p1 latency 3"},
                                   {"vfmadd231pd ymm, ymm, ymm", "1*p01 latency 4"},
                                   {"vhaddps ymm, ymm, ymm", "2*p01 latency 3"},
                                   {"vmulps ymm, ymm, ymm", "1*p01 latency 3"},
                                   {"cmovbe r64, r64", "1*p0+1*p06"},
                                   {"vpshufb ymm, ymm, ymm", "1*p0"},
                                   {"rorx r64, m64, imm8", "1*p06+1*p23A"},
                                   {"vandpd zmm, zmm, zmm", "05"},
                                   {"vpermd zmm, zmm, zmm", "1*p5 latency 3"},
                                   {"vpord zmm, zmm, zmm", "2*p05 slots 1"},
                                   {"vmulps ymm, ymm, m256", "1*p01+1*p23A latency 3"},
                                   {"mov r32, imm32", "none latency 0"},
                                   {"test r64, r64", "none latency 1"},
                                   {"cmp r64, r64", "none latency 1"},
                                   {"xor r32, r32", "1*p0156B latency 1 same-register eliminated"},
                                   {"", ""}};

struct pair_machine {
    struct machine machine;
    struct isa_form forms[2];
};

static void pair_machine_open(struct pair_machine *machine, const char *core, const char *a, const char *b) {
    struct ip_error err = {0};
    machine_open(&machine->machine, core, cast);
    for (unsigned i = 0; i < 2; i++) {
        struct isa_form *form = &machine->forms[i], *list[1] = {form};
        memset(form, 0, sizeof *form);
        assert_int_equal(isa_form_parse(form, i == 0 ? a : b, &err), IP_OK);
        assert_int_equal(isa_forms_derive(list, 1, &err), IP_OK);
    }
}

static struct probe_pair pair_machine_measure(struct pair_machine *machine, const struct hx_meter *meter) {
    struct probe_pair pair;
    struct ip_error err = {0};
    if (probe_pair_measure(meter, &machine->machine.bench.encoder, &machine->forms[0], &machine->forms[1],
                           &pair, &err) != IP_OK) {
        fail_msg("%s", err.text);
    }
    return pair;
}

static struct probe_pair pair_on(const char *core, const char *a, const char *b) {
    struct pair_machine machine;
    pair_machine_open(&machine, core, a, b);
    const struct hx_meter meter = hx_bench_meter(&machine.machine.bench);
    struct probe_pair pair = pair_machine_measure(&machine, &meter);
    machine_close(&machine.machine);
    return pair;
}

static void shares(const char *core, const char *a, const char *b, enum probe_sharing sharing, double ports) {
    struct probe_pair pair = pair_on(core, a, b);
    if (pair.sharing != sharing || pair.shared_width != ports) {
        fail_msg("%s, %s: sharing %d, %.0f ports; %s", a, b, (int)pair.sharing, pair.shared_width, pair.why);
    }
}

static void known_pairs(const char *core) {
    shares(core, "imul r64, r64", "popcnt r64, r64", PROBE_SHARING_ALL, 1);
    shares(core, "imul r64, r64", "vpermd ymm, ymm, ymm", PROBE_SHARING_NONE, 0);
    shares(core, "andn r64, r64, r64", "imul r64, r64", PROBE_SHARING_ALL, 1);
    shares(core, "shl r64, imm8", "vpaddd ymm, ymm, ymm", PROBE_SHARING_SOME, 1);
    /* Five ports, and what is written is read: the instances wait for each other unless they have registers.
     */
    shares(core, "add r64, r64", "imul r64, r64", PROBE_SHARING_ALL, 1);
    shares(core, "shl r64, imm8", "add r64, r64", PROBE_SHARING_ALL, 2);
    shares(core, "add r64, r64", "vpaddd ymm, ymm, ymm", PROBE_SHARING_ALL, 3);
    shares(core, "add r64, r64", "add r64, r64", PROBE_SHARING_ALL, 5);
}

static void test_known_pairs(void **state) {
    (void)state;
    skip_under_memcheck();
    known_pairs(FIVE);
}

static void test_noise_and_uneven_binding(void **state) {
    (void)state;
    skip_under_memcheck();
    known_pairs(FIVE "noise 0.003\nspikes 0.05 14000\ndrift walk 0.0005 0.05\nseed 7\n");
    known_pairs(FIVE "policy uneven 0.05\nseed 8\n");
}

/* Ports bound so badly that the interleaving looks like four ports. A few of one beside many of the other
 * tell nevertheless. */
static void test_bound_badly(void **state) {
    (void)state;
    struct probe_pair pair = pair_on(FIVE "policy uneven 0.4\nseed 3\n", "add r64, r64", "imul r64, r64");
    assert_true(36 / pair.together_cycles < 4.5);
    assert_true(pair.sides[1].beside.measured);
    assert_true(pair.sides[1].beside.confined > 0.7);
    assert_int_equal(pair.sharing, PROBE_SHARING_ALL);
    assert_string_equal(pair.why, "");
}

/* Eight ports cannot be busy behind six slots: two at most are common, and no more is claimed. */
static void test_hidden_by_the_issue(void **state) {
    (void)state;
    struct probe_pair pair = pair_on(FIVE, "add r64, r64", "mov r64, m64");
    assert_int_equal(pair.sharing, PROBE_SHARING_UNKNOWN);
    assert_true(pair.issue_limited);
    assert_true(pair.shared_least == 0 && pair.shared_most == 2);
    assert_non_null(strstr(pair.why, "issue width"));
    assert_true(pair.sides[0].beside.measured && fabs(pair.sides[0].beside.confined) < 0.1);
    assert_true(pair.sides[1].beside.measured && fabs(pair.sides[1].beside.confined) < 0.1);
    assert_string_equal(pair.drawing, "ababaabaababaaba");
}

/* A unit that is not pipelined has no width; the times add up. */
static void test_shared_unit(void **state) {
    (void)state;
    struct probe_pair pair = pair_on(FIVE, "vdivpd ymm, ymm, ymm", "vsqrtpd ymm, ymm");
    assert_int_equal(pair.sharing, PROBE_SHARING_ALL);
    assert_true(pair.union_width == 0);
    pair = pair_on(FIVE, "vdivpd ymm, ymm, ymm", "vpermd ymm, ymm, ymm");
    assert_int_equal(pair.sharing, PROBE_SHARING_NONE);
}

/* What is read of measurements: both take so long alone, and in a unit `together` for each instance; with
 * six issue slots. */
static struct probe_pair read_of(double a, double b, double together) {
    struct probe_pair pair = {.sides = {{.cycles = a, .slots = 1}, {.cycles = b, .slots = 1}},
                              .slot_cycles = 1.0 / 6};
    probe_pair_counts(a, b, &pair.sides[0].count, &pair.sides[1].count);
    for (unsigned i = 0; i < 2; i++) {
        pair.sides[i].part_cycles = pair.sides[i].count * pair.sides[i].cycles;
    }
    pair.together_cycles = together * (pair.sides[0].count + pair.sides[1].count);
    probe_pair_read(&pair);
    return pair;
}

static void test_unions(void **state) {
    (void)state;
    static const struct {
        double a, b, together, ports, shared;
        enum probe_sharing sharing;
    } cases[] = {
        {1.0, 1.0, 1.0 / 2, 2, 0, PROBE_SHARING_NONE},
        {0.5, 0.5, 1.0 / 2, 2, 2, PROBE_SHARING_ALL},
        {1.0 / 3, 1.0, 1.0 / 3, 3, 1, PROBE_SHARING_ALL}, /* three, and one of them */
        {0.5, 0.5, 1.0 / 3, 3, 1, PROBE_SHARING_SOME},
        {1.0, 1.0, 0.65, 2, 0, PROBE_SHARING_NONE}, /* one and a half never come from one port */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct probe_pair pair = read_of(cases[i].a, cases[i].b, cases[i].together);
        if (pair.sharing != cases[i].sharing || pair.union_width != cases[i].ports ||
            pair.shared_width != cases[i].shared || pair.issue_limited) {
            fail_msg("case %zu: sharing %d, %.0f of %.0f ports; %s", i, (int)pair.sharing, pair.shared_width,
                     pair.union_width, pair.why);
        }
    }
}

static void test_unions_that_are_not_guessed(void **state) {
    (void)state;
    struct probe_pair pair = read_of(0.25, 0.25, 0.17);
    assert_int_equal(pair.sharing, PROBE_SHARING_UNKNOWN);
    assert_true(pair.issue_limited);
    assert_true(pair.shared_least == 0 && pair.shared_most == 2); /* six ports of eight at least */
    /* Two and a half ports: three or four of them, one shared or none. */
    pair = read_of(0.5, 0.5, 1.0 / 2.5);
    assert_int_equal(pair.sharing, PROBE_SHARING_UNKNOWN);
    assert_true(pair.union_width == 0 && pair.shared_most == 1);
    assert_non_null(strstr(pair.why, "not near an integer"));
}

/* As many ports each, and they look like one set; what a few of one take among many of the other tells. */
static void test_sets_that_look_alike(void **state) {
    (void)state;
    static const struct {
        double a, b; /* how many of a few are confined */
        bool measured[2];
        enum probe_sharing sharing;
        double most;
    } cases[] = {
        {1.0, 1.0, {true, true}, PROBE_SHARING_ALL, 2},
        {1.0, 0.1, {true, true}, PROBE_SHARING_UNKNOWN, 1}, /* bound before it is known which port is free */
        {0.1, 1.0, {true, true}, PROBE_SHARING_UNKNOWN, 1},
        {1.0, 0.5, {true, true}, PROBE_SHARING_ALL, 2}, /* nothing speaks against what the unit says */
        {0.1, 1.0, {false, true}, PROBE_SHARING_ALL, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct probe_pair pair = read_of(0.5, 0.5, 1.0 / 2);
        assert_true(probe_pair_open(&pair)); /* it is worth a second experiment */
        for (unsigned s = 0; s < 2; s++) {
            pair.sides[s].beside.measured = cases[i].measured[s];
            pair.sides[s].beside.confined = s == 0 ? cases[i].a : cases[i].b;
        }
        probe_pair_read(&pair);
        if (pair.sharing != cases[i].sharing || pair.shared_most != cases[i].most) {
            fail_msg("case %zu: sharing %d, at most %.0f; %s", i, (int)pair.sharing, pair.shared_most,
                     pair.why);
        }
    }
    struct probe_pair pair = read_of(1.0, 1.0, 1.0 / 2);
    assert_false(probe_pair_open(&pair)); /* no port in common: nothing is left to ask */
}

/* Five cycles, in which a waits for itself, are no three ports of 15 instances. */
static void test_chains_tell_no_union(void **state) {
    (void)state;
    struct probe_pair pair = read_of(1.0 / 3, 0.5, 1.0 / 3);
    assert_int_equal(pair.sharing, PROBE_SHARING_ALL);
    pair.sides[0].part_cycles = pair.together_cycles;
    probe_pair_read(&pair);
    assert_int_equal(pair.sharing, PROBE_SHARING_UNKNOWN);
    assert_true(pair.shared_most == 2);
    assert_string_equal(pair.why, "the instances of one wait for each other");
}

/* Three cycles of all issue slots, whatever its ports: behind them another form's instances wait, too. */
static void test_forms_that_wait_for_issue(void **state) {
    (void)state;
    static const struct {
        double cycles, slots;
        bool waits;
    } cases[] = {
        {3.0, 17.6, true}, {3.0, 12.0, false}, {0.5, 2.9, true}, {0.25, 1.0, false}, {3.0, NAN, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct probe_pair pair = read_of(1.0, cases[i].cycles, 1.0);
        pair.sides[1].slots = cases[i].slots;
        probe_pair_read(&pair);
        bool waits = strstr(pair.why, "the second alone waits for its") != NULL;
        if (waits != cases[i].waits || (waits && pair.sharing != PROBE_SHARING_UNKNOWN)) {
            fail_msg("case %zu: sharing %d; %s", i, (int)pair.sharing, pair.why);
        }
    }
    struct probe_pair pair = pair_on(FIVE, "lodsq", "add r64, r64");
    assert_int_equal(pair.sharing, PROBE_SHARING_UNKNOWN);
    assert_true(fabs(pair.sides[0].slots - 12) < 0.3);
    assert_non_null(strstr(pair.why, "the first alone waits for its 12 issue slots"));
}

/* Two uops for two ports take a cycle, as one for one of them. What forms of several share is told by times.
 */
static void test_several_uops_are_no_width(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        enum probe_sharing sharing;
        bool known[2];
    } cases[] = {
        {"vhaddps ymm, ymm, ymm", "vpshufb ymm, ymm, ymm", PROBE_SHARING_SOME, {false, true}},
        {"vhaddps ymm, ymm, ymm", "vmulps ymm, ymm, ymm", PROBE_SHARING_ALL, {false, true}},
        {"vhaddps ymm, ymm, ymm", "vpermd ymm, ymm, ymm", PROBE_SHARING_NONE, {false, true}},
        {"cmovbe r64, r64", "vpshufb ymm, ymm, ymm", PROBE_SHARING_ALL, {false, true}},
        /* One slot, but two uops, of which the slower part is what it takes alone. */
        {"rorx r64, m64, imm8", "shl r64, imm8", PROBE_SHARING_ALL, {false, true}},
        {"mov m64, r64", "vpermd ymm, ymm, ymm", PROBE_SHARING_NONE, {false, true}},
        {"mov r64, m64", "vpermd ymm, ymm, ymm", PROBE_SHARING_NONE, {true, true}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct probe_pair pair = pair_on(FIVE, cases[i].a, cases[i].b);
        bool known = pair.sides[0].width > 0 && pair.sides[1].width > 0;
        if (pair.sharing != cases[i].sharing || known != (cases[i].known[0] && cases[i].known[1]) ||
            (!known && pair.union_width != 0)) {
            fail_msg("%s, %s: sharing %d, widths %.0f and %.0f; %s", cases[i].a, cases[i].b,
                     (int)pair.sharing, pair.sides[0].width, pair.sides[1].width, pair.why);
        }
    }
}

/* MUL reads the RAX that it writes: three cycles each, in which the ports of others are hidden. */
static void test_instances_that_wait_for_each_other(void **state) {
    (void)state;
    struct probe_pair pair = pair_on(FIVE, "mul r64", "vpermd ymm, ymm, ymm");
    assert_true(fabs(pair.sides[0].cycles - 1) < 0.01 && pair.sides[0].renewals == 1);
    assert_true(fabs(pair.expected_disjoint_cycles - pair.sides[0].count) < 0.1);
    assert_true(pair.sides[0].width == 0); /* its throughput holds the renewals, too */
    assert_int_equal(pair.sharing, PROBE_SHARING_NONE);
    pair = pair_on(FIVE, "imul r64, r64", "mul r64");
    assert_true(pair.sides[0].renewals == 0 && pair.sides[1].renewals == 1);
    assert_int_equal(pair.sharing, PROBE_SHARING_ALL);
}

/* A unit of six would wait for the one before it: four cycles of latency, three of ports. */
static void test_units_are_longer_than_a_chain(void **state) {
    (void)state;
    struct probe_pair pair = pair_on(FIVE, "vfmadd231pd ymm, ymm, ymm", "shl r64, imm8");
    assert_true(pair.sides[0].count * pair.sides[0].cycles > 4);
    assert_int_equal(pair.sharing, PROBE_SHARING_SOME);
    assert_true(pair.union_width == 3 && pair.shared_width == 1);
}

/* Where nothing renews what they read nothing is told. */
static void test_instances_that_wait_in_any_case(void **state) {
    (void)state;
    struct probe_pair pair = read_of(1.0, 0.25, 0.5);
    pair.sides[0].part_cycles = 3.0 * pair.sides[0].count;
    probe_pair_read(&pair);
    assert_int_equal(pair.sharing, PROBE_SHARING_UNKNOWN);
    assert_string_equal(
        pair.why, "in a mix the instances of the first wait for each other: 3.00 cycles each, not 1.00");
}

/* 512 bits in flight close port 1 for narrower vectors: what they take together tells no ports. Where they do
 * not, in halves neither, it does. */
static void test_a_port_that_512_bits_close(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        enum probe_sharing open; /* where no port is closed */
    } cases[] = {
        {"vmulps ymm, ymm, ymm", "vandpd zmm, zmm, zmm", PROBE_SHARING_SOME}, /* {0 1} and {0 5} */
        {"vandpd zmm, zmm, zmm", "vpaddd ymm, ymm, ymm", PROBE_SHARING_ALL},
        {"vpaddd ymm, ymm, ymm", "vpermd zmm, zmm, zmm", PROBE_SHARING_ALL},
        {"vpermd zmm, zmm, zmm", "vmulps ymm, ymm, ymm", PROBE_SHARING_NONE},
        {"vmulps ymm, ymm, m256", "vpermd zmm, zmm, zmm", PROBE_SHARING_NONE},
        {"vpaddd ymm, ymm, ymm", "vpord zmm, zmm, zmm", PROBE_SHARING_ALL}, /* halves */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct probe_pair open = pair_on(FIVE, cases[i].a, cases[i].b);
        struct probe_pair closed = pair_on(FIVE "wide-closes p1\n", cases[i].a, cases[i].b);
        if (open.sharing != cases[i].open || closed.sharing != PROBE_SHARING_UNKNOWN ||
            probe_pair_widths_known(&closed) ||
            strstr(closed.why, "512 bits close a port for narrower vectors") != closed.why) {
            fail_msg("%s, %s: %d, %d, %.2f; %s", cases[i].a, cases[i].b, (int)open.sharing,
                     (int)closed.sharing, closed.wide_more, closed.why);
        }
    }
    struct probe_pair pair = pair_on(FIVE "wide-closes p1\n", "vandpd zmm, zmm, zmm", "vpermd zmm, zmm, zmm");
    assert_int_equal(pair.sharing, PROBE_SHARING_ALL); /* both of 512 bits */
    pair = pair_on(FIVE "wide-closes p1\n", "vandpd zmm, zmm, zmm", "imul r64, r64");
    assert_int_equal(pair.sharing, PROBE_SHARING_NONE); /* nor is it closed for general registers */
}

/* A meter that notes how many instructions a mix has that it measures alone, which is the interleaving, and
 * finds it disturbed so many times. */
struct watching {
    struct hx_meter inner;
    unsigned disturbed;
    uint32_t instructions;
};

static enum ip_status watching_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                       struct hx_stat *stats, struct ip_error *err) {
    struct watching *watching = self;
    enum ip_status status = watching->inner.measure(watching->inner.self, kernels, count, stats, err);
    bool mix = count == 1 && kernels[0]->forms_per_unit == 1 && !kernels[0]->fills_issue;
    watching->instructions = mix ? kernels[0]->unit_instructions : watching->instructions;
    if (mix && status == IP_OK && watching->disturbed > 0) {
        watching->disturbed--;
        stats[0].verdict = HX_VERDICT_DISTURBED;
        (void)snprintf(stats[0].why, sizeof stats[0].why, "neighbours");
    }
    return status;
}

static struct probe_pair pair_watched(struct watching *watching, const char *a, const char *b) {
    struct pair_machine machine;
    pair_machine_open(&machine, FIVE, a, b);
    watching->inner = hx_bench_meter(&machine.machine.bench);
    const struct hx_meter meter = {
        .measure = watching_measure, .self = watching, .filler = watching->inner.filler};
    struct probe_pair pair = pair_machine_measure(&machine, &meter);
    machine_close(&machine.machine);
    return pair;
}

/* A conditional jump is not taken, by a comparison in each unit and a NOP that keeps the two apart; beside
 * what writes flags it would fuse, and follow them. */
static void test_conditional_jumps(void **state) {
    (void)state;
    struct watching watching = {.disturbed = 0};
    struct probe_pair pair = pair_watched(&watching, "jnz rel8", "vpaddd ymm, ymm, ymm");
    assert_int_equal(pair.sharing, PROBE_SHARING_SOME);
    assert_true(pair.union_width == 4 && pair.shared_width == 1);
    assert_int_equal(watching.instructions, pair.sides[0].count + pair.sides[1].count + 2);
    pair = pair_on(FIVE, "add r64, r64", "jnz rel8");
    assert_int_equal(pair.sharing, PROBE_SHARING_UNKNOWN);
    assert_non_null(strstr(pair.why, "'jnz rel8' may fuse with 'add r64, r64'"));
}

static struct probe_pair disturbed_pair(unsigned times) {
    struct watching watching = {.disturbed = times};
    return pair_watched(&watching, "vpaddd ymm, ymm, ymm", "vpermd ymm, ymm, ymm");
}

static void test_a_disturbed_mix_is_not_interpreted(void **state) {
    (void)state;
    struct probe_pair pair = disturbed_pair(100);
    assert_int_equal(pair.verdict, HX_VERDICT_DISTURBED);
    assert_int_equal(pair.sharing, PROBE_SHARING_UNKNOWN);
    assert_string_equal(pair.why, "neighbours");
    /* But measured again, before. */
    pair = disturbed_pair(1);
    assert_int_equal(pair.verdict, HX_VERDICT_OK);
    assert_int_equal(pair.sharing, PROBE_SHARING_ALL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_pairs),
        cmocka_unit_test(test_noise_and_uneven_binding),
        cmocka_unit_test(test_bound_badly),
        cmocka_unit_test(test_hidden_by_the_issue),
        cmocka_unit_test(test_shared_unit),
        cmocka_unit_test(test_unions),
        cmocka_unit_test(test_unions_that_are_not_guessed),
        cmocka_unit_test(test_sets_that_look_alike),
        cmocka_unit_test(test_chains_tell_no_union),
        cmocka_unit_test(test_forms_that_wait_for_issue),
        cmocka_unit_test(test_several_uops_are_no_width),
        cmocka_unit_test(test_instances_that_wait_for_each_other),
        cmocka_unit_test(test_instances_that_wait_in_any_case),
        cmocka_unit_test(test_units_are_longer_than_a_chain),
        cmocka_unit_test(test_a_port_that_512_bits_close),
        cmocka_unit_test(test_conditional_jumps),
        cmocka_unit_test(test_a_disturbed_mix_is_not_interpreted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
