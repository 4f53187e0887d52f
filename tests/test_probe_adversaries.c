/* SPDX-License-Identifier: Apache-2.0 */
/* Port usage on small CPUs that are made to mislead: what cannot be told must not be told wrongly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "isa/decode.h"
#include "tests/port_machine.h"
#include "tests/port_proof.h"

/* A machine whose last forms of the cast are the subjects; their truth is what its description says. */
struct trial {
    struct machine machine;
    struct hx_sim_description description;
    struct proof_ports pairs;
    struct probe_usage usages[8];
    struct isa_form *forms[8];
};

static void trial_run(struct trial *trial, const char *core, const struct cast *cast, size_t first,
                      size_t count) {
    struct ip_error err = {0};
    struct ip_text text = {0};
    memset(trial, 0, sizeof *trial);
    machine_open(&trial->machine, core, cast);
    ip_text_append(&text, core);
    for (const struct cast *row = cast; row->form[0] != '\0'; row++) {
        bool whole = strchr(row->ports, '*') != NULL || strncmp(row->ports, "none", 4) == 0;
        ip_text_printf(&text, "form \"%s\" ports %s%s\n", row->form, whole ? "" : "1*p", row->ports);
    }
    assert_int_equal(
        hx_sim_description_parse(&trial->description, "trial", text.data, text.length, NULL, &err), IP_OK);
    ip_text_fini(&text);
    if (machine_map(&trial->machine, "", &err) != IP_OK) {
        fail_msg("%s", err.text);
    }
    proof_ports_pair(&trial->description, &trial->machine.map, &trial->pairs);
    for (size_t i = 0; i < count; i++) {
        trial->forms[i] = isa_table_find(&trial->machine.table, cast[first + i].form);
        assert_non_null(trial->forms[i]);
    }
    assert_int_equal(isa_forms_derive(trial->forms, count, &err), IP_OK);
    struct hx_meter meter = hx_bench_meter(&trial->machine.bench);
    assert_int_equal(probe_usage_measure(&meter, &trial->machine.bench.encoder, &trial->machine.map, NULL,
                                         trial->forms, NULL, count, trial->usages, &err),
                     IP_OK);
}

static void trial_end(struct trial *trial) {
    hx_sim_description_fini(&trial->description);
    machine_close(&trial->machine);
}

static enum proof_result result_of(const struct trial *trial, size_t i) {
    return proof_judge(&trial->description, &trial->machine.map,
                       hx_sim_row_find(&trial->description, trial->forms[i], NULL), trial->forms[i],
                       &trial->pairs, &trial->usages[i]);
}

static void all_are(const char *core, const struct cast *cast, size_t first, size_t count,
                    enum proof_result expected) {
    struct trial trial;
    trial_run(&trial, core, cast, first, count);
    assert_int_equal(trial.pairs.wrong, 0);
    for (size_t i = 0; i < count; i++) {
        char text[PROBE_USAGE_TEXT];
        if (result_of(&trial, i) != expected) {
            fail_msg("%s: %s, result %d, found %s, %s", trial.forms[i]->syntax, cast[first + i].ports,
                     (int)result_of(&trial, i), probe_usage_print(&trial.machine.map, &trial.usages[i], text),
                     trial.usages[i].why);
        }
    }
    trial_end(&trial);
}

/* As many ports as issue slots: a uop for any of them costs what its slot costs. */
static void test_hidden_by_the_issue(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"shlx r64, r64, r64", "06"},
                                       {"andn r64, r64, r64", "15"},
                                       {"vpermd ymm, ymm, ymm", "5"},
                                       {"kmovd k, k", "0"},
                                       {"movsxd r64, r32", "0156"},
                                       {"add r64, m64", "1*p0156+1*p89"},
                                       {"add m64, r64", "1*p0156+1*p89+1*pA+1*pB"},
                                       {"mov r32, m32", "1*p89"},
                                       {"pext r64, r64, r64", "2*p1+1*p0156"},
                                       {"mov r32, r32", "none slots 1"},
                                       {"", ""}};
    struct trial trial;
    trial_run(&trial, CORE("4", "0156"), cast, 5, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(result_of(&trial, i), PROOF_AMBIGUOUS);
        assert_true(trial.usages[i].hidden_most == 1);
        assert_non_null(strstr(trial.usages[i].why, "0 to 1 uops may go to any of 4 ports or more"));
    }
    /* What is likely is printed: the load of "mov" feeds nothing that computes. */
    assert_int_equal(trial.usages[0].term_count, 1);
    assert_int_equal(trial.usages[1].term_count, 2);
    assert_int_equal(trial.usages[3].term_count, 1);
    trial_end(&trial);
    /* With two slots more the same is plain. */
    all_are(CORE("6", "0156"),
            (const struct cast[]){cast[0], cast[1], cast[2], cast[3], cast[4], cast[5], cast[6], cast[7],
                                  cast[8], cast[9], cast[11]},
            6, 4, PROOF_EXACT);
}

/* More ports than issue slots: sets of fewer than all are hidden, too. */
static void test_hidden_among_more(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"shlx r64, r64, r64", "06"},
                                       {"andn r64, r64, r64", "15"},
                                       {"bzhi r64, r64, r64", "02"},
                                       {"test r64, r64", "0156"},
                                       {"bswap r64", "1*p0156"},
                                       {"xadd r64, r64", "1*p01256+1*p06"},
                                       {"", ""}};
    struct trial trial;
    trial_run(&trial, CORE("4", "0156"), cast, 5, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(result_of(&trial, i), PROOF_AMBIGUOUS);
        assert_non_null(strstr(trial.usages[i].why, "0 to 1 uops may go to any of 4 ports or more"));
    }
    trial_end(&trial);
}

/* Nothing of general registers has fewer ports than instructions are issued: their set is in no map, and a
 * form for which no ports were found may use it. What works with vectors alone does not. */
static void test_unseen_set(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "0123"},
                                       {"andn r64, r64, r64", "0123"},
                                       {"shlx r64, r64, r64", "0123"},
                                       {"vaddpd ymm, ymm, ymm", "67"},
                                       {"vmulpd ymm, ymm, ymm", "45"},
                                       {"vpermd ymm, ymm, ymm", "6"},
                                       {"xor r32, imm32", "1*p0123"},
                                       {"add r64, m64", "1*p0123+1*p89"},
                                       {"mov r32, r32", "none slots 1"},
                                       {"vmaxss xmm, xmm, xmm", "1*p67"},
                                       {"", ""}};
    struct trial trial;
    trial_run(&trial, CORE("4", "0123"), cast, 6, 4);
    for (size_t i = 0; i < 3; i++) {
        const struct probe_usage *usage = &trial.usages[i];
        assert_int_equal(result_of(&trial, i), PROOF_AMBIGUOUS);
        assert_int_equal(usage->hidden_ports, 0);
        assert_int_equal(usage->term_count, i == 1 ? 1 : 0); /* the load */
        assert_string_equal(usage->why, "0 to 1 uops may go to ports that the issue width hides");
    }
    assert_int_equal(result_of(&trial, 3), PROOF_EXACT);
    trial_end(&trial);
}

/* The same of vectors: all of them have as many ports as instructions are issued, and no narrower set shows
 * these. General registers' have a set of their own, and a store one slot. */
static void test_unseen_set_of_vectors(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"shlx r64, r64, r64", "01"},
                                       {"vandpd ymm, ymm, ymm", "4567"},
                                       {"vpermd ymm, ymm, ymm", "4567"},
                                       {"vmaxss xmm, xmm, xmm", "1*p4567"},
                                       {"vpabsd ymm, m256", "1*p4567+1*p89 slots 1"},
                                       {"vmaxpd ymm, ymm, m256", "1*p4567+1*p89 slots 1"},
                                       {"vhaddpd ymm, ymm, ymm", "3*p4567"},
                                       {"bswap r64", "1*p01"},
                                       {"mov m32, r32", "1*pA+1*pB slots 1"},
                                       {"", ""}};
    struct trial trial;
    trial_run(&trial, CORE("4", "01"), cast, 4, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(result_of(&trial, i), i < 4 ? PROOF_AMBIGUOUS : PROOF_EXACT);
    }
    assert_string_equal(trial.usages[3].why, "0 to 3 uops may go to ports that the issue width hides");
    trial_end(&trial);
}

/* Two clusters of more ports than issue slots: no form has all of them, so an issue slot more than uops is a
 * load's own, and nothing is hidden. */
static void test_nothing_hidden(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},         {"andn r64, r64, r64", "0123"},
                                       {"shlx r64, r64, r64", "12"},     {"vaddpd ymm, ymm, ymm", "67"},
                                       {"vmulpd ymm, ymm, ymm", "45"},   {"vpermd ymm, ymm, ymm", "6"},
                                       {"vandpd ymm, ymm, ymm", "4567"}, {"nop r64", "none"},
                                       {"mov r32, m32", "1*p89"},        {"movzx r32, m16", "1*p89"},
                                       {"mov r64, r64", "1*p0123"},      {"", ""}};
    all_are(CORE("6", "0123"), cast, 8, 3, PROOF_EXACT);
}

/* The same where MMX computes on the ports of vectors, and moves of it are removed: eight ports in all are no
 * set of general registers. */
static void test_mmx_ties_no_cluster(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},         {"andn r64, r64, r64", "0123"},
                                       {"shlx r64, r64, r64", "12"},     {"vaddpd ymm, ymm, ymm", "67"},
                                       {"vmulpd ymm, ymm, ymm", "45"},   {"vpermd ymm, ymm, ymm", "6"},
                                       {"vandpd ymm, ymm, ymm", "4567"}, {"nop r64", "none"},
                                       {"pabsd mm, mm", "1*p4567"},      {"movq mm, mm", "none eliminated"},
                                       {"mov r32, m32", "1*p89"},        {"movzx r32, m16", "1*p89"},
                                       {"mov r64, r64", "1*p0123"},      {"", ""}};
    all_are(CORE("6", "0123"), cast, 10, 3, PROOF_EXACT);
}

/* A core of three issue slots, two ports for either kind of registers. */
#define SMALL                                                                                                \
    "isaprobe-sim 1\nissue-width 3\nports p0 p1 p2 p3 p5 p6\nload-ports p5\nstore-data-ports p6\n"           \
    "ticks-per-cycle 0.7\nform \"nop\" ports none\nform \"nop *\" ports none\nform \"j*\" ports 1*p0\n"      \
    "form \"add r64, r64\" ports 1*p01\nform \"sub r64, imm8\" ports 1*p01\n"                                \
    "form \"mov r64, m64\" ports 1*p5\nform \"mov m64, r64\" ports 1*p6\n"

/* Behind three slots a set of two ports is no widest one, whose count the slots would bound: what is made of
 * a load shows. */
static void test_few_issue_slots(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1*p0 latency 3"},
                                       {"movsxd r64, r32", "01"},
                                       {"andn r64, r64, r64", "01"},
                                       {"vpshufb xmm, xmm, xmm", "2"},
                                       {"vpaddd xmm, xmm, xmm", "23"},
                                       {"vpand xmm, xmm, xmm", "23"},
                                       {"vpabsd xmm, m128", "1*p23+1*p5"},
                                       {"rorx r64, m64, imm8", "1*p01+1*p5"},
                                       {"vpinsrd xmm, xmm, r32, imm8", "1*p01+1*p23"},
                                       {"", ""}};
    struct trial trial;
    trial_run(&trial, SMALL, cast, 6, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct probe_usage *usage = &trial.usages[i];
        char text[PROBE_USAGE_TEXT];
        if (usage->verdict != PROBE_USAGE_OK || usage->term_count != 2 || usage->terms[0].uops != 1 ||
            usage->terms[1].uops != 1) {
            fail_msg("%s: %s, found %s, %s", trial.forms[i]->syntax, cast[6 + i].ports,
                     probe_usage_print(&trial.machine.map, usage, text), usage->why);
        }
    }
    trial_end(&trial);
}

/* Two ports for either kind behind two issue slots: what a slot hides is of the form's own kind. */
static void test_hidden_by_kind(void **state) {
    (void)state;
    static const struct cast cast[] = {
        {"popcnt r64, r64", "0"},          {"shlx r64, r64, r64", "1"},     {"vpermd ymm, ymm, ymm", "2"},
        {"vmulpd ymm, ymm, ymm", "3"},     {"movsxd r64, r32", "01"},       {"vandpd ymm, ymm, ymm", "23"},
        {"vmaxss xmm, xmm, xmm", "1*p23"}, {"andn r64, r64, r64", "1*p01"}, {"", ""}};
    struct trial trial;
    trial_run(&trial, CORE("2", "01"), cast, 6, 2);
    for (size_t i = 0; i < 2; i++) {
        char text[PROBE_USAGE_TEXT];
        assert_int_equal(result_of(&trial, i), PROOF_AMBIGUOUS);
        if (__builtin_popcount(trial.usages[i].hidden_ports) != 2) {
            fail_msg("%s: found %s, %s", trial.forms[i]->syntax,
                     probe_usage_print(&trial.machine.map, &trial.usages[i], text), trial.usages[i].why);
        }
    }
    assert_int_equal(trial.usages[0].hidden_ports & trial.usages[1].hidden_ports, 0);
    trial_end(&trial);
}

/* Without AVX legacy SSE blocks for itself, and its loads for those of vectors; a jump has a blocker that
 * leaves the flags alone, not the first of its class. */
static void test_without_avx(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"bt r64, r64", "06"},
                                       {"cmovb r64, r64", "06"},
                                       {"movsxd r64, r32", "0156"},
                                       {"movmskps r32, xmm", "0"},
                                       {"pshufd xmm, xmm, imm8", "5"},
                                       {"paddd xmm, xmm", "015"},
                                       {"cvtdq2ps xmm, xmm", "1*p01 latency 4"},
                                       {"addps xmm, xmm", "1*p01 latency 4"},
                                       {"movaps xmm, m128", "1*p89"},
                                       {"addpd xmm, m128", "1*p01+1*p89 latency 4"},
                                       {"haddps xmm, xmm", "1*p01+2*p5 latency 6"},
                                       {"jz rel8", "06"},
                                       {"", ""}};
    all_are(CORE("6", "0156") "form \"test r64, r64\" ports 1*p0156\n", cast, 8, 5, PROOF_EXACT);
}

/* Of legacy SSE on three ports every fourth is renewed by a load, of which there is one a cycle: that is no
 * reason to lose the loads, and beside such blockers what loads waits for the one port. */
static void test_one_load_port_without_avx(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"shlx r64, r64, r64", "06"},
                                       {"movsxd r64, r32", "0136"},
                                       {"movmskps r32, xmm", "4"},
                                       {"pshufd xmm, xmm, imm8", "2"},
                                       {"andps xmm, xmm", "245"},
                                       {"paddd xmm, xmm", "245"},
                                       {"addps xmm, xmm", "1*p25 latency 4"},
                                       {"mulps xmm, xmm", "1*p25 latency 4"},
                                       {"movaps xmm, m128", "1*p8"},
                                       {"addpd xmm, m128", "1*p25+1*p8 latency 4"},
                                       {"imul r64, m64", "1*p1+1*p8 slots 1"},
                                       {"", ""}};
    static const char core[] =
        "isaprobe-sim 1\nissue-width 6\nports p0 p1 p2 p3 p4 p5 p6 p8 pA pB\nload-ports p8\n"
        "store-address-ports pA\nstore-data-ports pB\nform \"sub r64, imm8\" ports 1*p0136\n"
        "form \"j*\" ports 1*p0\nfuse \"sub *\" \"j*\"\nform \"add r64, r64\" ports 1*p0136\n"
        "form \"nop *\" ports none\nform \"nop\" ports none\nform \"mov r64, m64\" ports 1*p8\n"
        "form \"mov m64, r64\" ports 1*pA+1*pB\n";
    all_are(core, cast, 9, 3, PROOF_EXACT);
}

/* Loads that are as fast as no number of ports are in no class: what reads memory is marked, all else told.
 * So it is with stores. */
static void test_memory_of_no_class(void **state) {
    (void)state;
#define NO_CLASS(load, store)                                                                                \
    "isaprobe-sim 1\nissue-width 6\nports p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 pA pB\nload-ports p89\n"             \
    "store-address-ports pA\nstore-data-ports pB\nform \"sub r64, imm8\" ports 1*p0156\n"                    \
    "form \"j*\" ports 1*p0\nfuse \"sub *\" \"j*\"\nform \"add r64, r64\" ports 1*p0156\n"                   \
    "form \"nop *\" ports none\nform \"nop\" ports none\nform \"mov r64, m64\" ports " load                  \
    "\nform \"mov m64, r64\" ports " store "\n"
    static const struct {
        const char *core;
        struct cast subject;
        enum proof_result result;
    } cases[] = {
        {NO_CLASS("3*p89", "1*pA+1*pB"), {"imul r64, m64", "1*p1+1*p89 slots 1"}, PROOF_MARKED},
        {NO_CLASS("3*p89", "1*pA+1*pB"), {"bswap r64", "1*p15"}, PROOF_EXACT},
        {NO_CLASS("1*p89", "1*pA+3*pB") "form \"test r*, r*\" ports 1*p0156\n",
         {"setz m8", "1*p06+1*pA+1*pB"},
         PROOF_MARKED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                    {"shlx r64, r64, r64", "06"},
                                    {"andn r64, r64, r64", "15"},
                                    {"movsxd r64, r32", "0156"},
                                    cases[i].subject,
                                    {"", ""}};
        all_are(cases[i].core, cast, 4, 1, cases[i].result);
    }
#undef NO_CLASS
}

/* What touches memory without an operand that says so, and what does not though it has one. */
static void test_memory_against_the_operands(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"shlx r64, r64, r64", "06"},
                                       {"movsxd r64, r32", "0156"},
                                       {"andn r64, r64, r64", "15"},
                                       {"vpermd ymm, ymm, ymm", "5"},
                                       {"mov r64, imm64", "0156"},
                                       {"mov r32, imm32", "0156"},
                                       {"sfence", "1*p89+1*pB"},
                                       {"repe scasb", "1*p0156+3*p06+1*p1 slots 4"},
                                       {"cldemote m8", "none"}, /* a hint that this CPU does not take */
                                       {"prefetchwt1 m8", "1*p89"},
                                       {"", ""}};
    all_are(CORE("6", "0156"), cast, 7, 4, PROOF_EXACT);
}

/* No set has one port: a triangle of pairs. */
static void test_no_single_port(void **state) {
    (void)state;
    static const struct cast cast[] = {{"shlx r64, r64, r64", "01"},
                                       {"andn r64, r64, r64", "12"},
                                       {"movsxd r64, r32", "02"},
                                       {"pext r64, r64, r64", "2*p01+1*p12"},
                                       {"mulx r64, r64, r64", "1*p02+1*p12"},
                                       {"bextr r64, r64, r64", "3*p02"},
                                       {"", ""}};
    all_are(CORE("6", "0123"), cast, 3, 3, PROOF_EXACT);
}

/* Two clusters without a common port, with forms that reach into both. */
static void test_two_clusters(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"andn r64, r64, r64", "0123"},
                                       {"shlx r64, r64, r64", "12"},
                                       {"vaddpd ymm, ymm, ymm", "67"},
                                       {"vmulpd ymm, ymm, ymm", "45"},
                                       {"vpermd ymm, ymm, ymm", "6"},
                                       {"vandpd ymm, ymm, ymm", "4567"},
                                       {"vcvttsd2si r64, xmm", "1*p67+1*p12"},
                                       {"vcvtsi2sd xmm, xmm, r64", "1*p45+1*p0123"},
                                       {"vhaddpd ymm, ymm, ymm", "2*p6+1*p45"},
                                       {"", ""}};
    all_are(CORE("6", "0123"), cast, 7, 3, PROOF_EXACT);
}

/* 256 bits are two uops everywhere: only the 128-bit forms show the sets. */
static void test_narrow_units(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "6"},
                                       {"vaddpd ymm, ymm, ymm", "2*p23"},
                                       {"vaddpd xmm, xmm, xmm", "1*p23"},
                                       {"vpermilpd ymm, ymm, imm8", "2*p12"},
                                       {"vpermilpd xmm, xmm, imm8", "1*p12"},
                                       {"vpsrld ymm, ymm, imm8", "2*p2"},
                                       {"vpsrld xmm, xmm, imm8", "1*p2"},
                                       {"vsubps ymm, ymm, ymm", "2*p23"},
                                       {"vhaddpd ymm, ymm, ymm", "4*p12+2*p23"},
                                       {"vmulpd xmm, xmm, m128", "1*p89+1*p23"},
                                       {"", ""}};
    all_are(CORE("6", "67"), cast, 7, 3, PROOF_EXACT);
}

/* Stores that take an integer port and one of the two that loads use. */
static void test_store_shares_with_loads(void **state) {
    (void)state;
    static const char core[] =
        "isaprobe-sim 1\nissue-width 6\nports p0 p1 p2 p3 p4 p5 p6 p7 p8 p9\nload-ports p45\n"
        "store-address-ports p5\nform \"sub r64, imm8\" ports 1*p6789\nform \"j*\" ports 1*p6\n"
        "fuse \"sub *\" \"j*\"\nform \"add r64, r64\" ports 1*p6789\nform \"nop *\" ports none\n"
        "form \"nop\" ports none\nform \"mov r64, m64\" ports 1*p45\nform \"mov m64, r64\" ports "
        "1*p6789+1*p5\n";
    static const struct cast cast[] = {{"popcnt r64, r64", "7"},
                                       {"andn r64, r64, r64", "6789"},
                                       {"shlx r64, r64, r64", "67"},
                                       {"mov m32, r32", "1*p6789+1*p5"},
                                       {"add m64, r64", "1*p6789+1*p45+1*p5"},
                                       {"movsx r64, m8", "1*p6789+1*p45"},
                                       {"", ""}};
    all_are(core, cast, 3, 3, PROOF_EXACT);
}

/* A chain through memory is longer than the mix of a few copies: it must be waited for. */
static void test_long_chains(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"shlx r64, r64, r64", "06"},
                                       {"movsxd r64, r32", "0156"},
                                       {"andn r64, r64, r64", "15"},
                                       {"lock add m64, r64", "2*p0156+1*p06+1*p89+1*pA+1*pB latency 24"},
                                       {"add m32, r32", "1*p0156+1*p89+1*pA+1*pB latency 9"},
                                       {"", ""}};
    all_are(CORE("6", "0156"), cast, 4, 2, PROOF_EXACT);
}

/* What stands before a copy to renew what it uses up (a gather's mask, a string's pointers) is no part of it.
 */
static void test_renewals(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"shlx r64, r64, r64", "06"},
                                       {"movsxd r64, r32", "0156"},
                                       {"vpermd ymm, ymm, ymm", "5"},
                                       {"vaddpd ymm, ymm, ymm", "01"},
                                       {"vandpd ymm, ymm, ymm", "015"},
                                       {"kmovd k, k", "0"},
                                       {"vpcmpeqd ymm, ymm, ymm", "01"},
                                       {"mov r64, imm64", "0156"},
                                       {"mov r32, imm32", "0156"},
                                       {"vpgatherdd ymm, vm32y, ymm", "1*p0+1*p015+8*p89+1*p5 latency 20"},
                                       {"lodsq", "1*p89+1*p0156"},
                                       {"", ""}};
    all_are(CORE("6", "0156"), cast, 10, 2, PROOF_EXACT);
}

/* Nobody's sets: two uops for {05}, which no one-uop form has. They must be marked, or be told by their
 * unions. */
static void test_unknown_sets(void **state) {
    (void)state;
    static const struct cast cast[] = {
        {"popcnt r64, r64", "1"},        {"shlx r64, r64, r64", "06"},         {"andn r64, r64, r64", "15"},
        {"movsxd r64, r32", "0156"},     {"vpermd ymm, ymm, ymm", "5"},        {"kmovd k, k", "0"},
        {"pext r64, r64, r64", "3*p05"}, {"pdep r64, r64, r64", "4*p16+1*p0"}, {"", ""}};
    struct trial trial;
    trial_run(&trial, CORE("6", "0156"), cast, 6, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(result_of(&trial, i), PROOF_MARKED);
    }
    trial_end(&trial);
}

/* Behind many issue slots six of one a cycle take longer than sixty NOPs: those that stand beside them for
 * their slots are more. */
static void test_many_issue_slots(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"shlx r64, r64, r64", "06"},
                                       {"andn r64, r64, r64", "15"},
                                       {"movsxd r64, r32", "0156"},
                                       {"pext r64, r64, r64", "1*p1"},
                                       {"mulx r64, r64, r64", "1*p1+1*p06"},
                                       {"imul r64, m64", "1*p1+1*p89"},
                                       {"mov m32, r32", "1*pA+1*pB slots 1"},
                                       {"", ""}};
    all_are(CORE("12", "0156"), cast, 4, 4, PROOF_EXACT);
    all_are(CORE("16", "0156"), cast, 4, 4, PROOF_EXACT);
}

/* Loads and stores by one port: what changes memory has both there. */
static void test_one_port_of_memory(void **state) {
    (void)state;
    static const char core[] =
        "isaprobe-sim 1\nissue-width 4\nports p0 p1 p4\nload-ports p4\nstore-address-ports p4\n"
        "store-data-ports p4\nload-latency 3\nform \"sub r64, imm8\" ports 1*p01\nform \"j*\" ports 1*p1\n"
        "form \"add r64, r64\" ports 1*p01\nform \"nop *\" ports none\nform \"nop\" ports none\n"
        "form \"mov r64, m64\" ports 1*p4\nform \"mov m64, r64\" ports 1*p4 slots 1\n";
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"shlx r64, r64, r64", "0"},
                                       {"movsxd r64, r32", "01"},
                                       {"add m64, r64", "2*p4+1*p01 slots 1"},
                                       {"mov m32, r32", "1*p4 slots 1"},
                                       {"mov r32, m32", "1*p4"},
                                       {"add r64, m64", "1*p4+1*p01 slots 1"},
                                       {"", ""}};
    static const char *const told[] = {"2*p", "1*p", "1*p", "1*p"};
    struct trial trial;
    trial_run(&trial, core, cast, 3, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct probe_usage *usage = &trial.usages[i];
        char text[PROBE_USAGE_TEXT];
        (void)probe_usage_print(&trial.machine.map, usage, text);
        if (usage->verdict != PROBE_USAGE_OK || usage->terms[0].uops != (i == 0 ? 2 : 1) ||
            strncmp(text, told[i], 3) != 0 || (usage->term_count == 2) != (i % 3 == 0)) {
            fail_msg("%s: %s; %s", trial.forms[i]->syntax, text, usage->why);
        }
    }
    trial_end(&trial);
}

/* Untaken branches have just the port of the shuffles (Sandy Bridge): these block for it, for all forms. */
static void test_vectors_share_the_port_of_jumps(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"shlx r64, r64, r64", "06"},
                                       {"movsxd r64, r32", "016"},
                                       {"jb rel8", "0"},
                                       {"jz rel8", "0"},
                                       {"vpermd ymm, ymm, ymm", "0"},
                                       {"vmulpd ymm, ymm, ymm", "1*p6 latency 4"},
                                       {"vpaddd ymm, ymm, ymm", "016"},
                                       {"vshufps ymm, ymm, ymm, imm8", "1*p0"},
                                       {"vhaddps ymm, ymm, ymm", "1*p6+2*p0 latency 6"},
                                       {"bswap r64", "1*p0"},
                                       {"jnz rel8", "1*p0"},
                                       {"", ""}};
    all_are(CORE("4", "016") "form \"test r*, r*\" ports 1*p016\nform \"cmp *\" ports 1*p016\n", cast, 8, 4,
            PROOF_EXACT);
}

/* Two sets of one port less than instructions are issued: neither holds the uops of all others, and what the
 * form has elsewhere takes none of their time. */
static void test_two_widest_sets(void **state) {
    (void)state;
    static const struct cast cast[] = {{"popcnt r64, r64", "2"},
                                       {"shlx r64, r64, r64", "24"},
                                       {"movsxd r64, r32", "014"},
                                       {"andn r64, r64, r64", "134"},
                                       {"vandpd ymm, ymm, ymm", "134"},
                                       {"vpermd ymm, ymm, ymm", "4"},
                                       {"vmulpd ymm, ymm, ymm", "14"},
                                       {"vmaxss xmm, xmm, xmm", "1*p24+1*p014"},
                                       {"bswap r64", "1*p2+1*p014+1*p134"},
                                       {"vpabsd ymm, m256", "1*p134+1*p89 slots 1"},
                                       {"rorx r64, m64, imm8", "1*p24+1*p014+1*p89 slots 2"},
                                       {"movbe r64, m64", "1*p014+1*p89 slots 1"},
                                       {"", ""}};
    all_are(CORE("4", "014") "form \"vmovups ymm, m256\" ports 1*p89\n", cast, 7, 5, PROOF_EXACT);
}

/* So many loads a cycle: what computes leaves no issue slot for one, and it needs none of its own. */
static void test_loads_almost_as_fast_as_issue(void **state) {
    (void)state;
    static const char core[] =
        "isaprobe-sim 1\nissue-width 4\nports p0 p1 p2 p7 p8 p9 pA pB\nload-ports p789\n"
        "store-address-ports pA\nstore-data-ports pB\nform \"sub r64, imm8\" ports 1*p02\n"
        "form \"j*\" ports 1*p0\nfuse \"sub *\" \"j*\"\nform \"add r64, r64\" ports 1*p02\n"
        "form \"nop *\" ports none\nform \"nop\" ports none\nform \"mov r64, m64\" ports 1*p789\n"
        "form \"mov m64, r64\" ports 1*pA+1*pB\n";
    static const struct cast cast[] = {{"popcnt r64, r64", "1"},
                                       {"shlx r64, r64, r64", "02"},
                                       {"mov r32, m32", "1*p789"},
                                       {"imul r64, m64", "1*p1+1*p02+1*p789"},
                                       {"cmp r64, m64", "1*p1+1*p789"},
                                       {"add m64, r64", "1*p02+1*p789+1*pA+1*pB"},
                                       {"", ""}};
    all_are(core, cast, 2, 4, PROOF_EXACT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hidden_by_the_issue),
        cmocka_unit_test(test_hidden_among_more),
        cmocka_unit_test(test_unseen_set),
        cmocka_unit_test(test_nothing_hidden),
        cmocka_unit_test(test_mmx_ties_no_cluster),
        cmocka_unit_test(test_hidden_by_kind),
        cmocka_unit_test(test_few_issue_slots),
        cmocka_unit_test(test_without_avx),
        cmocka_unit_test(test_memory_against_the_operands),
        cmocka_unit_test(test_no_single_port),
        cmocka_unit_test(test_two_clusters),
        cmocka_unit_test(test_narrow_units),
        cmocka_unit_test(test_store_shares_with_loads),
        cmocka_unit_test(test_long_chains),
        cmocka_unit_test(test_renewals),
        cmocka_unit_test(test_one_load_port_without_avx),
        cmocka_unit_test(test_memory_of_no_class),
        cmocka_unit_test(test_one_port_of_memory),
        cmocka_unit_test(test_unseen_set_of_vectors),
        cmocka_unit_test(test_many_issue_slots),
        cmocka_unit_test(test_unknown_sets),
        cmocka_unit_test(test_vectors_share_the_port_of_jumps),
        cmocka_unit_test(test_two_widest_sets),
        cmocka_unit_test(test_loads_almost_as_fast_as_issue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
