/* SPDX-License-Identifier: Apache-2.0 */
/* Port usage of forms on a simulated CPU that knows it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "isa/decode.h"
#include "probe/usage.h"
#include "probe/usage_steps.h"
#include "tests/brief.h"
#include "tests/near.h"
#include "tests/port_machine.h"

#define CLASSES                                                                                              \
    {"popcnt r64, r64", "1"}, {"shlx r64, r64, r64", "06"}, {"andn r64, r64, r64", "15"},                    \
        {"movsxd r64, r32", "0156"}, {"kmovd k, k", "0"}, {"vpermd ymm, ymm, ymm", "5"},                     \
        {"vaddpd ymm, ymm, ymm", "01"}, {                                                                    \
        "vandpd ymm, ymm, ymm", "015"                                                                        \
    }

static const struct cast usages[] = {CLASSES,
                                     {"vhaddpd ymm, ymm, ymm", "2*p5+1*p01"},
                                     {"vcvttsd2si r64, xmm", "1*p0+1*p01"},
                                     {"vdpps xmm, xmm, xmm, imm8", "1*p5+2*p01+1*p015"},
                                     {"mulx r64, r64, r64", "1*p1+1*p5"},
                                     {"bextr r64, r64, r64", "1*p15+1*p06"},
                                     {"pdep r64, r64, r64", "3*p06"},
                                     {"add r64, m64", "1*p89+1*p0156"},
                                     {"vpermd ymm, ymm, m256", "1*p89+1*p5"},
                                     {"mov m32, r32", "1*pA+1*pB"},
                                     {"mov r32, r32", "none slots 1"},
                                     {"", ""}};

/* "1*p0+1*p01" of `usage` in the names of the truth: a set is known by the class that has it. */
static void usage_is(const struct machine *machine, const struct probe_usage *usage, const char *form,
                     const char *truth) {
    static const char *const known[][2] = {{"popcnt r64, r64", "1"},
                                           {"shlx r64, r64, r64", "06"},
                                           {"andn r64, r64, r64", "15"},
                                           {"movsxd r64, r32", "0156"},
                                           {"kmovd k, k", "0"},
                                           {"vpermd ymm, ymm, ymm", "5"},
                                           {"vaddpd ymm, ymm, ymm", "01"},
                                           {"vandpd ymm, ymm, ymm", "015"},
                                           {"mov r64, m64", "89"},
                                           {"mov m64, r64", "A"}};
    unsigned found = 0;
    char print[PROBE_USAGE_TEXT];
    for (unsigned t = 0; t < usage->term_count; t++) {
        for (unsigned k = 0; k < sizeof known / sizeof known[0]; k++) {
            const struct probe_port_member *member = machine->map.members;
            while (strcmp(member->form->syntax, known[k][0]) != 0) {
                member++;
            }
            char wanted[32];
            (void)snprintf(wanted, sizeof wanted, "%.0f*p%s", usage->terms[t].uops, known[k][1]);
            const char *at = strstr(truth, wanted);
            bool whole = at != NULL && strchr("+ ", at[strlen(wanted)]) != NULL;
            found += machine->map.classes[member->class].ports == usage->terms[t].ports && whole;
        }
    }
    unsigned terms = 0;
    for (const char *at = truth; *at != '\0'; at++) {
        terms += *at == '*' && strncmp(at, "*pB", 3) != 0; /* the store's data goes with its address */
    }
    if (usage->verdict != PROBE_USAGE_OK || found != terms || usage->term_count != terms) {
        fail_msg("%s: %s, found %s; %s", form, truth, probe_usage_print(&machine->map, usage, print),
                 usage->why);
    }
    char *word = NULL;
    assert_int_equal(strtoul(usage->how, &word, 10), usage->read); /* "7 sets, 1 mix to check" */
    assert_int_equal(strncmp(word, " set", 4), 0);
    assert_non_null(strstr(word, " to check"));
}

/* By the map that the machine has. */
static void forms_use(struct machine *machine, const struct cast *cast, struct probe_usage *results,
                      size_t count) {
    struct ip_error err = {0};
    struct isa_form *forms[16];
    for (size_t i = 0; i < count; i++) {
        forms[i] = isa_table_find(&machine->table, cast[i].form);
        assert_non_null(forms[i]);
    }
    assert_int_equal(isa_forms_derive(forms, count, &err), IP_OK);
    struct hx_meter meter = hx_bench_meter(&machine->bench);
    if (probe_usage_measure(&meter, &machine->bench.encoder, &machine->map, NULL, forms, NULL, count, results,
                            &err) != IP_OK) {
        fail_msg("%s", err.text);
    }
}

static void machine_uses(struct machine *machine, const struct cast *cast, struct probe_usage *results,
                         size_t count) {
    struct ip_error err = {0};
    if (machine_map(machine, "", &err) != IP_OK) {
        fail_msg("%s", err.text);
    }
    forms_use(machine, cast, results, count);
}

/* A form of the machine's table, and its throughput. */
static struct isa_form *form_measured(struct machine *machine, const char *syntax,
                                      struct probe_throughput *throughput) {
    struct ip_error err = {0};
    struct hx_meter meter = hx_bench_meter(&machine->bench);
    struct isa_form *form = isa_table_find(&machine->table, syntax);
    assert_int_equal(isa_forms_derive(&form, 1, &err), IP_OK);
    assert_int_equal(probe_throughput_measure(&meter, &machine->bench.encoder, &form, 1, throughput, &err),
                     IP_OK);
    return form;
}

/* A glance at one form: does it settle it? */
static bool glance_settles(struct machine *machine, struct probe_usage_core *core, struct isa_form *form,
                           const struct probe_usage_known *known, struct probe_usage *usage) {
    struct ip_error err = {0};
    bool settled = false;
    struct probe_usage suggested;
    struct hx_meter meter = hx_bench_meter(&machine->bench);
    assert_int_equal(probe_usage_glance(&meter, &machine->bench.encoder, &machine->map, core, &form, known, 1,
                                        usage, &settled, &suggested, &err),
                     IP_OK);
    assert_true(!settled || suggested.verdict == usage->verdict);
    return settled;
}

static void recovers(const char *core) {
    enum { FIRST = 8, COUNT = 10 };
    struct machine machine;
    struct probe_usage results[COUNT];
    machine_open(&machine, core, usages);
    machine_uses(&machine, usages + FIRST, results, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        usage_is(&machine, &results[i], usages[FIRST + i].form, usages[FIRST + i].ports);
    }
    machine_close(&machine);
}

static void test_usages(void **state) {
    (void)state;
    recovers(CORE("6", "0156"));
}

static void test_noise(void **state) {
    (void)state;
    skip_under_memcheck();
    recovers(CORE("6", "0156") "noise 0.002\nspikes 0.01 2000\nseed 4\n");
}

/* Beside microcode blockers must not stand so long that a small part of the time is a uop. */
static void test_microcode_among_noise(void **state) {
    (void)state;
    skip_under_memcheck();
    static const struct cast cast[] = {CLASSES,
                                       {"pext r64, r64, r64", "13*p0156+7*p06+3*p1+2*p5"},
                                       {"mulx r64, r64, r64", "9*p0156+12*p06+4*p15+1*p1"},
                                       {"pdep r64, r64, r64", "6*p0156+11*p06+2*p15+5*p5"},
                                       {"vdpps xmm, xmm, xmm, imm8", "17*p015+5*p01+4*p5+3*p0"},
                                       {"", ""}};
    struct machine machine;
    struct probe_usage results[4];
    machine_open(&machine,
                 CORE("6", "0156") "noise 0.003\nspikes 0.05 14000\ndrift walk 0.0005 0.05\nseed 2\n", cast);
    machine_uses(&machine, cast + 8, results, 4);
    for (unsigned i = 0; i < 4; i++) {
        usage_is(&machine, &results[i], cast[8 + i].form, cast[8 + i].ports);
    }
    machine_close(&machine);
}

/* An unpipelined unit: the ports are found, and that they are not all. */
static void test_unit(void **state) {
    (void)state;
    skip_under_memcheck();
    static const struct cast cast[] = {
        CLASSES, {"vsqrtpd xmm, xmm", "1*p0 latency 12 blocking 4 divider"}, {"", ""}};
    struct machine machine;
    struct probe_usage result;
    machine_open(&machine, CORE("6", "0156"), cast);
    machine_uses(&machine, cast + 8, &result, 1);
    usage_is(&machine, &result, cast[8].form, cast[8].ports);
    assert_true(result.slower);
    assert_true(fabs(result.expected_cycles - 1.0) < 0.05 && fabs(result.cycles - 4.0) < 0.1);
    machine_close(&machine);
}

/* 512 bits in halves: blockers of 256 bits show each port taken for two cycles, in one issue slot. */
static void test_halves(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"movsxd r64, r32", "012"},
                                       {"vpermd ymm, ymm, ymm", "4"},
                                       {"vaddpd ymm, ymm, ymm", "45"},
                                       {"vandpd ymm, ymm, ymm", "3456"},
                                       {"vandpd zmm, zmm, zmm", "2*p3456 slots 1"},
                                       {"vaddpd zmm, zmm, zmm", "2*p45 slots 1"},
                                       {"vpermd zmm, zmm, zmm", "2*p4 slots 1"},
                                       {"", ""}};
    struct machine machine;
    struct ip_error err = {0};
    machine_open_mapped(&machine, CORE("6", "012"), cast, "");
    assert_true(machine.map.halves && machine.map.confirmed);
    struct hx_meter meter = hx_bench_meter(&machine.bench);
    struct probe_usage_core core = {0}; /* measured once, and kept */
    for (size_t i = 0; i < machine.table.count; i++) {
        struct isa_form *form = &machine.table.forms[i];
        struct probe_usage usage;
        bool wide = strstr(form->syntax, "zmm") != NULL;
        if (strncmp(form->mnemonic, "vpermd", 6) != 0 && strncmp(form->mnemonic, "vandpd", 6) != 0) {
            continue;
        }
        assert_int_equal(isa_forms_derive(&form, 1, &err), IP_OK);
        assert_int_equal(probe_usage_measure(&meter, &machine.bench.encoder, &machine.map, &core, &form, NULL,
                                             1, &usage, &err),
                         IP_OK);
        assert_true(core.known && !core.binds_early && core.delays == 0);
        assert_string_equal(usage.why, "");
        assert_int_equal(usage.term_count, 1);
        assert_true(usage.terms[0].uops == (wide ? 2 : 1));
        bool settled = glance_settles(&machine, &core, form, NULL, &usage);
        assert_true(settled); /* two uops in one slot are no reason for a closer look */
        assert_int_equal(__builtin_popcount(usage.terms[0].ports), form->mnemonic[1] == 'p' ? 1 : 4);
    }
    machine_close(&machine);
}

/* Issue slots that were measured before are not read anew, unless they are not to be trusted. */
static void test_known_slots(void **state) {
    (void)state;
    enum { FIRST = 8, CASES = 3 };
    static const struct cast cast[] = {CLASSES, {"vhaddpd ymm, ymm, ymm", "2*p5+1*p01"}, {"", ""}};
    struct machine machine;
    struct ip_error err = {0};
    machine_open(&machine, CORE("4", "0156"), cast); /* too narrow an issue for all ports at once */
    assert_int_equal(machine_map(&machine, "", &err), IP_OK);
    struct probe_throughput throughput;
    struct isa_form *form = form_measured(&machine, cast[FIRST].form, &throughput);
    const double known_slots = 3.04;
    const struct probe_slots slots[CASES] = {
        {.measured = true, .slots = known_slots, .verdict = HX_VERDICT_OK},
        {.measured = true, .slots = known_slots, .verdict = HX_VERDICT_UNSTABLE},
        {.measured = true, .slots = 1.0, .verdict = HX_VERDICT_OK},
    };
    for (unsigned i = 0; i < CASES; i++) {
        const struct probe_usage_known known = {.throughputs = &throughput, .slots = &slots[i]};
        struct probe_usage_core core = {0};
        struct probe_usage usage;
        bool settled = glance_settles(&machine, &core, form, &known, &usage);
        assert_true(settled == (slots[i].slots > 1.0)); /* one slot is none for three uops */
        assert_true((fabs(usage.slots - known_slots) < 1e-9) == (i == 0));
    }
    machine_close(&machine);
}

/* Where uops are bound early nothing is read of what locks memory. */
static void test_locked(void **state) {
    (void)state;
    enum { FIRST = 8, FORMS = 3 };
    static const struct cast cast[] = {CLASSES,
                                       {"lock add m64, r64", "1*p89+1*p0156+1*pA+1*pB"},
                                       {"xchg m64, r64", "1*p89+1*pA+1*pB"},
                                       {"add m64, r64", "1*p89+1*p0156+1*pA+1*pB"},
                                       {"", ""}};
    struct machine machine;
    struct ip_error err = {0};
    machine_open_mapped(&machine, CORE("6", "0156"), cast, "");
    for (unsigned early = 0; early < 2; early++) {
        for (unsigned i = 0; i < FORMS; i++) {
            struct isa_form *form = isa_table_find(&machine.table, cast[FIRST + i].form);
            struct probe_usage_core core = {.known = true, .binds_early = early != 0, .store_cycles = 1};
            struct probe_usage usage;
            assert_int_equal(isa_forms_derive(&form, 1, &err), IP_OK);
            bool settled = glance_settles(&machine, &core, form, NULL, &usage);
            bool left = early != 0 && i < 2;
            assert_true(!left || (settled && usage.verdict == PROBE_USAGE_INCONSISTENT));
            assert_true(left == (strncmp(usage.why, "it locks what it changes", 24) == 0));
        }
    }
    machine_close(&machine);
}

/* Where uops wait for blocked ports, what glances suggested need not be confirmed, and anything else is. */
static void test_confirmed(void **state) {
    (void)state;
    enum { FIRST = 8, CASES = 3 };
    static const struct cast cast[] = {CLASSES, {"vhaddpd ymm, ymm, ymm", "2*p5+1*p01"}, {"", ""}};
    struct machine machine;
    struct ip_error err = {0};
    machine_open_mapped(&machine, CORE("6", "0156"), cast, "");
    struct hx_meter meter = hx_bench_meter(&machine.bench);
    struct probe_throughput throughput;
    struct isa_form *form = form_measured(&machine, cast[FIRST].form, &throughput);
    struct probe_usage suggested[CASES] = {{.verdict = PROBE_USAGE_UNKNOWN}}, usage;
    uint64_t kernels[CASES + 1];
    for (unsigned i = 0; i <= CASES; i++) { /* none, the same, another, and where none waits */
        const struct probe_usage_known known = {.throughputs = &throughput,
                                                .suggested = i < CASES ? &suggested[i] : NULL};
        struct probe_usage_core core = {.known = true, .delays = i < CASES, .store_cycles = 1};
        uint64_t before = machine.bench.kernels_run;
        assert_int_equal(probe_usage_measure(&meter, &machine.bench.encoder, &machine.map, &core, &form,
                                             &known, 1, &usage, &err),
                         IP_OK);
        kernels[i] = machine.bench.kernels_run - before;
        usage_is(&machine, &usage, cast[FIRST].form, cast[FIRST].ports);
        if (i == 0) {
            suggested[1] = suggested[2] = usage;
            suggested[2].terms[0].uops += 1;
        }
    }
    assert_true(kernels[1] < kernels[0]);
    assert_true(kernels[1] < kernels[2]);
    assert_true(kernels[3] < kernels[2]);
    machine_close(&machine);
}

/* What contradicts itself each time in the same way is not looked at again and again. */
static void test_contradictions_end(void **state) {
    (void)state;
    skip_under_memcheck();
    enum { FIRST = 8 };
    static const struct cast cast[] = {CLASSES, {"vhaddpd ymm, ymm, ymm", "2*p5+1*p01 slots 1"}, {"", ""}};
    struct machine machine;
    struct probe_usage result;
    machine_open_mapped(&machine, CORE("6", "0156"), cast, "");
    uint64_t before = machine.bench.kernels_run;
    forms_use(&machine, cast + FIRST, &result, 1);
    assert_int_equal(result.verdict, PROBE_USAGE_INCONSISTENT);
    assert_string_equal(result.why, "it has fewer issue slots than uops");
    assert_within(machine.bench.kernels_run - before, 1, 900);
    machine_close(&machine);
}

/* A value that goes to another register file may keep ports busy that it has no issue slot for. */
static void test_crossing(void **state) {
    (void)state;
    enum { FIRST = 8 };
    static const struct cast cast[] = {CLASSES,
                                       {"vmovq r64, xmm", "4*p0156+1*p0 slots 1"},
                                       {"vmovmskpd r32, ymm", "4*p0156+1*p0 slots 1"},
                                       {"vhaddpd ymm, ymm, ymm", "2*p5+1*p01 slots 1"},
                                       {"", ""}};
    struct machine machine;
    struct probe_usage results[3];
    machine_open(&machine, CORE("6", "0156"), cast);
    machine_uses(&machine, cast + FIRST, results, 3);
    usage_is(&machine, &results[0], cast[FIRST].form, "1*p0+4*p0156");
    usage_is(&machine, &results[1], cast[FIRST + 1].form, "1*p0+4*p0156");
    assert_true(round(results[0].slots) == 1);
    assert_int_equal(results[2].verdict, PROBE_USAGE_INCONSISTENT);
    machine_close(&machine);
}

/* Ports that no class has: {16} is no set of the map. Nothing may be made up. */
static void test_inconsistent(void **state) {
    (void)state;
    static const struct cast cast[] = {CLASSES, {"pext r64, r64, r64", "3*p16+1*p5"}, {"", ""}};
    struct machine machine;
    struct probe_usage result;
    machine_open(&machine, CORE("6", "0156"), cast);
    machine_uses(&machine, cast + 8, &result, 1);
    assert_int_equal(result.verdict, PROBE_USAGE_INCONSISTENT);
    assert_true(result.why[0] != '\0');
    machine_close(&machine);
}

/* A map without plain stores, or one that nothing confirms. */
static void test_maps_that_fall_short(void **state) {
    (void)state;
    static const struct cast cast[] = {CLASSES, {"mov m32, r32", "1*pA+1*pB"}, {"", ""}};
    struct machine machine;
    struct probe_usage result;
    machine_open(&machine, CORE("6", "0156"), cast);
    machine_uses(&machine, cast + 8, &result, 1);
    usage_is(&machine, &result, cast[8].form, cast[8].ports);
    machine.map.confirmed = false;
    forms_use(&machine, cast + 8, &result, 1);
    assert_int_equal(result.verdict, PROBE_USAGE_INCONSISTENT);
    assert_non_null(strstr(result.why, "nothing confirms the port map"));
    machine.map.confirmed = true;
    for (unsigned c = 0; c < machine.map.class_count; c++) {
        if (machine.map.classes[c].store) {
            machine.map.classes[c].blocker[0] = -1;
        }
    }
    forms_use(&machine, cast + 8, &result, 1);
    assert_int_equal(result.verdict, PROBE_USAGE_INCONSISTENT);
    assert_non_null(strstr(result.why, "no store was seen"));
    machine_close(&machine);
}

static uint32_t ports_of(const struct machine *machine, const char *member) {
    for (size_t i = 0; i < machine->map.member_count; i++) {
        if (strcmp(machine->map.members[i].form->syntax, member) == 0) {
            return machine->map.classes[machine->map.members[i].class].ports;
        }
    }
    fail_msg("no class has %s", member);
    return 0;
}

/* A core that stores two of general registers in a cycle, and one vector: counted by plain stores, each is
 * told by what it takes. */
static void test_stores_of_two_kinds(void **state) {
    (void)state;
    static const char core[] =
        "isaprobe-sim 1\nissue-width 6\nports p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 pA pB\n"
        "load-ports p89\nstore-address-ports pA\nstore-data-ports pB\n"
        "form \"sub r64, imm8\" ports 1*p0156\nform \"j*\" ports 1*p0\nfuse \"sub *\" \"j*\"\n"
        "form \"add r64, r64\" ports 1*p0156\nform \"nop *\" ports none\nform \"nop\" ports none\n"
        "form \"mov r64, m64\" ports 1*p89\nform \"mov m64, r64\" ports 1*pAB\n";
    static const struct cast cast[] = {CLASSES,
                                       {"vmovups m256, ymm", "1*pA"},
                                       {"mov m32, r32", "1*pAB"},
                                       {"vmovupd m128, xmm", "1*pA"},
                                       {"vextractf128 m128, ymm, imm8", "1*pA+1*p5"},
                                       {"", ""}};
    enum { FIRST = 9, COUNT = 3 };
    struct machine machine;
    struct probe_usage results[COUNT];
    machine_open(&machine, core, cast);
    machine_uses(&machine, cast + FIRST, results, COUNT);
    const uint32_t one = ports_of(&machine, "vmovups m256, ymm"), two = ports_of(&machine, "mov m64, r64");
    assert_int_equal(__builtin_popcount(one), 1);
    assert_int_equal(__builtin_popcount(two), 2);
    assert_int_equal(one & ~two, 0);
    const uint32_t wanted[COUNT] = {two, one, two};
    for (unsigned i = 0; i < COUNT; i++) {
        uint32_t found = 0;
        for (unsigned t = 0; t < results[i].term_count; t++) {
            found |= results[i].terms[t].store ? results[i].terms[t].ports : 0;
        }
        assert_int_equal(results[i].verdict, PROBE_USAGE_OK);
        assert_int_equal(found, wanted[i]);
        assert_false(results[i].slower);
    }
    machine_close(&machine);
}

/* No port, no throughput, no slots: not a form without ports, but one of which nothing is known. */
static void test_nothing_is_no_answer(void **state) {
    (void)state;
    static const struct cast cast[] = {CLASSES, {"mov r32, r32", "none slots 1"}, {"", ""}};
    struct machine machine;
    struct probe_usage result = {.slots = 1, .cycles = 0.2};
    machine_open(&machine, CORE("6", "0156"), cast);
    machine.map.issue_width = 6;
    struct probe_usage_subject subject;
    probe_usage_subject_init(&subject, machine.table.forms);
    subject.count = 1;
    probe_usage_reading_add(&subject.experiments[0], 0, 1);
    probe_usage_verify(&subject, &result, &machine.map);
    assert_int_equal(result.verdict, PROBE_USAGE_OK);
    result.slots = result.cycles = NAN;
    probe_usage_verify(&subject, &result, &machine.map);
    assert_int_equal(result.verdict, PROBE_USAGE_INCONSISTENT);
    machine_close(&machine);
}

static void test_bound(void **state) {
    (void)state;
    const struct probe_usage_term terms[] = {
        {.ports = 1, .uops = 1}, {.ports = 2, .uops = 1}, {.ports = 3, .uops = 3}, {.ports = 8, .uops = 2}};
    assert_true(probe_ports_bound(terms, 0, NULL) == 0);
    assert_true(probe_ports_bound(terms, 1, NULL) == 1);
    assert_true(probe_ports_bound(terms, 3, NULL) == 2.5);
    assert_true(probe_ports_bound(terms, 4, NULL) == 2.5);
}

/* What an attempt before it said of hidden uops does not outlive it. */
static void test_hidden_uops_are_told_anew(void **state) {
    (void)state;
    struct probe_portmap map = {.issue_width = 6};
    struct probe_usage result = {.hidden_ports = 15, .hidden_most = 2};
    struct probe_usage_subject subject = {.result = &result};
    probe_usage_verify(&subject, &result, &map);
    assert_int_equal(result.hidden_ports, 0);
    assert_true(result.hidden_most == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usages),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_unit),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_known_slots),
        cmocka_unit_test(test_confirmed),
        cmocka_unit_test(test_locked),
        cmocka_unit_test(test_contradictions_end),
        cmocka_unit_test(test_crossing),
        cmocka_unit_test(test_inconsistent),
        cmocka_unit_test(test_stores_of_two_kinds),
        cmocka_unit_test(test_maps_that_fall_short),
        cmocka_unit_test(test_nothing_is_no_answer),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_hidden_uops_are_told_anew),
        cmocka_unit_test(test_microcode_among_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
