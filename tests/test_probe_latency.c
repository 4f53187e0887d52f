/* SPDX-License-Identifier: Apache-2.0 */
/* The latency probe on a simulated CPU whose latencies are known: what is recovered, what can only be
 * bounded, and what is said of that which cannot be measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/latency_machine.h"

static void general_purpose_and_flags(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure(*state, "imul r64, r64", &form, &latency);
    check_exact(&form, &latency, "op1", "op1", 3);
    check_exact(&form, &latency, "op2", "op1", 3);
    /* CMOV and CMP are one cycle each because their round is two. */
    check_exact(&form, &latency, "op1", "flags", 3);
    assert_near(pair_find(&form, &latency, "op2", "op1")->chained_cycles, 3, 0.05);
    probe_latency_fini(&latency);
}

/* What a round takes longer than its CMOV, half a cycle here, is the throughput of a form that it does not
 * wait for. */
static void half_a_cycle_is_no_latency_of_flags(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure(*state, "popcnt r64, r64", &form, &latency);
    const struct probe_latency_pair *pair = pair_find(&form, &latency, "op2", "flags");
    if (pair->measured) {
        fail_msg("op2 -> flags: %.3f cycles", pair->cycles);
    }
    assert_string_equal(pair->why, "the flags do not depend on it");
    check_exact(&form, &latency, "op2", "op1", 3);
    probe_latency_fini(&latency);
}

static void a_shorter_pair_is_not_hidden_by_a_longer_one(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure(*state, "aesdec xmm, xmm", &form, &latency);
    check_exact(&form, &latency, "op1", "op1", 5);
    check_exact(&form, &latency, "op2", "op1", 3);
    probe_latency_fini(&latency);
}

/* SHL of memory by CL takes four cycles an instance here, whatever it waits for. */
static void a_round_is_longer_than_what_changes_memory_takes(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure(*state, "shl m32, cl", &form, &latency);
    check_exact(&form, &latency, "flags", "flags", 1);
    probe_latency_fini(&latency);
}

static void implicit_registers(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure(*state, "mul r64", &form, &latency);
    check_exact(&form, &latency, "op1", "rax", 3);
    check_exact(&form, &latency, "op1", "rdx", 4);
    check_exact(&form, &latency, "rax", "rdx", 4);
    probe_latency_fini(&latency);
}

static void an_idiom_is_a_fact_of_its_own(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure(*state, "vpsubq xmm, xmm, xmm", &form, &latency);
    check_exact(&form, &latency, "op2", "op1", 1);
    assert_near(pair_find(&form, &latency, "op2", "op1")->same_register_cycles, 0, 0.05);
    assert_near(pair_find(&form, &latency, "op3", "op1")->same_register_cycles, 0, 0.05);
    probe_latency_fini(&latency);
}

/* Counts what passes through it. */
struct counter {
    struct hx_meter inner;
    size_t looked, measured;
    double longest; /* instructions in a round */
};

static void counter_lengths(struct counter *counter, const struct gen_kernel *const *kernels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (kernels[i] != NULL) {
            double length = (double)kernels[i]->unit_instructions / kernels[i]->forms_per_unit;
            counter->longest = length > counter->longest ? length : counter->longest;
        }
    }
}

static enum ip_status counter_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                      struct hx_stat *stats, struct ip_error *err) {
    struct counter *counter = self;
    counter->measured += count;
    counter_lengths(counter, kernels, count);
    return hx_measure(&counter->inner, kernels, count, stats, err);
}

static enum ip_status counter_screen(void *self, const struct gen_kernel *const *kernels, size_t count,
                                     struct hx_stat *stats, struct ip_error *err) {
    struct counter *counter = self;
    counter->looked += count;
    counter_lengths(counter, kernels, count);
    return hx_screen(&counter->inner, kernels, count, stats, err);
}

/* A form, and all transfers, calibrated. */
static void form_make(struct machine *machine, const char *syntax, struct isa_form *form,
                      struct probe_transfers *transfers) {
    struct ip_error err = {0};
    *transfers = (struct probe_transfers){0};
    assert_int_equal(isa_form_parse(form, syntax, &err), IP_OK);
    assert_int_equal(isa_forms_derive(&form, 1, &err), IP_OK);
    assert_int_equal(probe_transfers_init(transfers, NULL, &err), IP_OK);
    probe_transfers_need_all(transfers);
    assert_int_equal(probe_transfers_calibrate(transfers, &machine->meter, &machine->bench.encoder, &err),
                     IP_OK);
}

/* What issues as fast as it can is restless beside neighbours: its batches disagree, time and again. */
static enum ip_status restless_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                       struct hx_stat *stats, struct ip_error *err) {
    enum ip_status status = hx_measure(self, kernels, count, stats, err);
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (stats[i].cycles < 1.1) {
            stats[i].verdict = HX_VERDICT_UNSTABLE;
            stats[i].high = stats[i].cycles * 1.1;
            stats[i].spread = 0.1;
        }
    }
    return status;
}

static void an_idiom_may_be_restless(void **state) {
    struct machine *machine = *state;
    const struct hx_meter meter = {.measure = restless_measure, .self = &machine->meter};
    struct isa_form form;
    struct isa_form *forms[1] = {&form};
    struct probe_transfers transfers;
    struct probe_latency latency;
    struct ip_error err = {0};
    form_make(machine, "vpsubq xmm, xmm, xmm", &form, &transfers);
    assert_int_equal(probe_latency_measure_with(&meter, &machine->bench.encoder, &transfers, forms, NULL, 1,
                                                &latency, &err),
                     IP_OK);
    assert_near(pair_find(&form, &latency, "op2", "op1")->same_register_cycles, 0, 0.05);
    probe_latency_fini(&latency);
    probe_transfers_fini(&transfers);
}

/* Counts the chains of those pairs of a form that are asked for; NULL: of all. */
static void asked_count(struct machine *machine, struct probe_transfers *transfers, struct isa_form *form,
                        const uint64_t *asked, struct probe_latency *latency, struct counter *counter) {
    struct ip_error err = {0};
    *counter = (struct counter){.inner = machine->meter};
    const struct hx_meter meter = {.measure = counter_measure, .screen = counter_screen, .self = counter};
    assert_int_equal(probe_latency_measure_with(&meter, &machine->bench.encoder, transfers, &form, asked, 1,
                                                latency, &err),
                     IP_OK);
}

/* Counts the chains of a form whose transfers are known already. */
static void count(struct machine *machine, const char *syntax, struct isa_form *form,
                  struct probe_latency *latency, struct counter *counter) {
    struct probe_transfers transfers;
    form_make(machine, syntax, form, &transfers);
    asked_count(machine, &transfers, form, NULL, latency, counter);
    probe_transfers_fini(&transfers);
}

/* Of two pairs of operands one is asked for: the other is listed, and nothing is run for it. */
static void only_pairs_that_are_asked_are_measured(void **state) {
    struct isa_form form;
    struct probe_transfers transfers;
    form_make(*state, "aesdec xmm, xmm", &form, &transfers);
    size_t measured[2];
    for (size_t i = 0; i < 2; i++) {
        const uint64_t asked[] = {i == 0 ? 2 : UINT64_MAX};
        struct counter counter;
        struct probe_latency latency;
        asked_count(*state, &transfers, &form, asked, &latency, &counter);
        assert_int_equal(latency.count, 2);
        assert_int_equal(latency.pairs[0].measured, i != 0);
        check_exact(&form, &latency, "op2", "op1", 3);
        measured[i] = counter.measured + counter.looked;
        probe_latency_fini(&latency);
    }
    assert_true(measured[0] < measured[1]);
    probe_transfers_fini(&transfers);
}

/* No two pairs of a form have the same names, whatever parts of a register its operands are. */
static void no_pair_is_listed_twice(void **state) {
    static const char *const all[] = {"mul r8", "mul m8", "imul r8h", "cbw",
                                      "cdqe",   "cmpsb",  "movsq",    "div r8"};
    for (size_t f = 0; f < sizeof all / sizeof all[0]; f++) {
        struct isa_form form;
        struct probe_transfers transfers;
        struct counter counter;
        struct probe_latency latency;
        const uint64_t none = 0;
        form_make(*state, all[f], &form, &transfers);
        asked_count(*state, &transfers, &form, &none, &latency, &counter);
        assert_true(latency.count > 0);
        for (size_t i = 0; i < latency.count; i++) {
            const struct probe_latency_pair *pair = &latency.pairs[i];
            char src[16], dst[16];
            isa_operand_name(&form, (unsigned)pair->src, src);
            isa_operand_name(&form, (unsigned)pair->dst, dst);
            for (size_t j = 0; j < i; j++) {
                const struct probe_latency_pair *other = &latency.pairs[j];
                char from[16], to[16];
                isa_operand_name(&form, (unsigned)other->src, from);
                isa_operand_name(&form, (unsigned)other->dst, to);
                if (pair->path == other->path && strcmp(src, from) == 0 && strcmp(dst, to) == 0) {
                    fail_msg("%s lists %s -> %s twice", form.syntax, src, dst);
                }
            }
        }
        probe_latency_fini(&latency);
        probe_transfers_fini(&transfers);
    }
}

static void what_a_form_says_itself_is_not_measured_through_others(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    struct counter counter;
    count(*state, "vaddps xmm, xmm, xmm", &form, &latency, &counter);
    check_exact(&form, &latency, "op2", "op1", 4);
    check_exact(&form, &latency, "op3", "op1", 4);
    assert_near(pair_find(&form, &latency, "op2", "op1")->same_register_cycles, 4, 0.05);
    assert_near(pair_find(&form, &latency, "op3", "op1")->same_register_cycles, 4, 0.05);
    assert_int_equal(counter.looked, 2 + 1); /* each pair behind one transfer, and with one register */
    assert_int_equal(counter.measured, 2);   /* each pair by the form alone */
    probe_latency_fini(&latency);
}

static void each_register_that_an_exchange_writes_is_looked_at(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    struct counter counter;
    count(*state, "xchg r64, r64", &form, &latency, &counter);
    assert_int_equal(latency.count, 4);
    assert_int_equal(counter.looked, 4 + 4); /* behind a transfer, and with one register */
    probe_latency_fini(&latency);
}

static void across_files_only_the_sum_is_known(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure(*state, "vmovd r32, xmm", &form, &latency);
    const struct probe_latency_pair *pair = pair_find(&form, &latency, "op2", "op1");
    assert_true(pair->measured);
    assert_true(pair->upper_bound);
    assert_near(pair->cycles, 4, 0.05); /* 3 + 2 less the one that a transfer takes at least */
    assert_string_equal(pair->via, "vmovd xmm, r32");
    probe_latency_fini(&latency);
}

static void a_masked_compare_makes_masks_exact(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure(*state, "vaddpd xmm{k}, xmm, xmm", &form, &latency);
    check_exact(&form, &latency, "op1", "op1", 4);
    check_exact(&form, &latency, "op2", "op1", 6);
    check_exact(&form, &latency, "op3", "op1", 4);
    probe_latency_fini(&latency);
}

static void a_form_that_the_cpu_lacks_says_so(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure(*state, "vdivpd xmm, xmm, xmm", &form, &latency);
    const struct probe_latency_pair *pair = pair_find(&form, &latency, "op2", "op1");
    assert_false(pair->measured);
    assert_int_equal(pair->verdict, HX_VERDICT_FAULT);
    assert_int_equal(pair->stat.outcome, HX_OUTCOME_ILLEGAL);
    assert_true(pair->why[0] != '\0');
    probe_latency_fini(&latency);
}

static void the_stack_pointer_is_not_chained(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure(*state, "push r64", &form, &latency);
    for (size_t i = 0; i < latency.count; i++) {
        assert_false(latency.pairs[i].measured);
        assert_true(latency.pairs[i].why[0] != '\0');
    }
    probe_latency_fini(&latency);
}

/* A meter that gives every kernel the same statistic. */
static enum ip_status constant_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                       struct hx_stat *stats, struct ip_error *err) {
    (void)kernels;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        stats[i] = *(const struct hx_stat *)self;
    }
    return IP_OK;
}

static void an_unsteady_chain_is_not_passed_off_as_steady(void **state) {
    (void)state;
    struct hx_stat stat = {.cycles = 3.3, .spread = 0.5, .verdict = HX_VERDICT_UNSTABLE, .why = "too wide"};
    struct machine machine = {.meter = {.measure = constant_measure, .self = &stat}};
    struct isa_form form;
    struct probe_latency latency;
    measure(&machine, "imul r64, r64", &form, &latency);
    const struct probe_latency_pair *pair = pair_find(&form, &latency, "op1", "op1");
    assert_true(pair->measured);
    assert_int_equal(pair->verdict, HX_VERDICT_UNSTABLE);
    assert_string_equal(pair->why, "too wide");
    /* No transfer was calibrated by an unsteady chain: what they close is a bound at best. */
    assert_true(pair_find(&form, &latency, "op1", "flags")->upper_bound);
    probe_latency_fini(&latency);
    gen_encoder_fini(&machine.bench.encoder);
}

/* A meter by which each instruction of a round takes three cycles, NOPs none, and chains of the form alone,
 * the first of each pair, are disturbed. */
static enum ip_status direct_disturbed_measure(void *self, const struct gen_kernel *const *kernels,
                                               size_t count, struct hx_stat *stats, struct ip_error *err) {
    static const uint8_t nop[] = {0x0f, 0x1f, 0x40};
    (void)err;
    for (size_t i = 0; i < count; i++) {
        bool disturbed = i == *(const size_t *)self;
        const unsigned nops = in_unit(kernels[i], nop, sizeof nop);
        double cycles = 3.0 * (kernels[i]->unit_instructions - nops) / kernels[i]->forms_per_unit;
        stats[i] = (struct hx_stat){.cycles = disturbed ? NAN : cycles,
                                    .verdict = disturbed ? HX_VERDICT_DISTURBED : HX_VERDICT_OK};
    }
    return IP_OK;
}

static void without_the_chain_of_the_form_alone_a_pair_is_marked(void **state) {
    (void)state;
    for (size_t disturbed = 0; disturbed < 2; disturbed++) {
        struct machine machine = {.meter = {.measure = direct_disturbed_measure, .self = &disturbed}};
        struct isa_form form;
        struct probe_latency latency;
        measure(&machine, "imul r64, r64", &form, &latency);
        const struct probe_latency_pair *pair = pair_find(&form, &latency, "op1", "op1");
        assert_true(pair->measured);
        assert_int_equal(pair->verdict, disturbed == 0 ? HX_VERDICT_DISTURBED : HX_VERDICT_OK);
        assert_int_equal(pair->why[0] != '\0', disturbed == 0);
        probe_latency_fini(&latency);
        gen_encoder_fini(&machine.bench.encoder);
    }
}

static void what_a_form_takes_anyway_is_no_latency(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    /* With one and three instructions beside it a round takes five cycles, as without. */
    measure(*state, "bzhi r64, r64, r64", &form, &latency);
    check_exact(&form, &latency, "op3", "op1", 1);
    check_exact(&form, &latency, "op3", "flags", 1);
    assert_false(pair_find(&form, &latency, "op2", "flags")->measured);
    assert_string_equal(pair_find(&form, &latency, "op2", "flags")->why, "the flags do not depend on it");
    probe_latency_fini(&latency);
    measure(*state, "pdep r64, r64, r64", &form, &latency);
    check_exact(&form, &latency, "op2", "op1", 1);
    check_exact(&form, &latency, "op3", "op1", 0);
    probe_latency_fini(&latency);
    /* And with as many as a round may have: 14, less nine sign extensions. */
    measure(*state, "pext r64, r64, r64", &form, &latency);
    const struct probe_latency_pair *pair = pair_find(&form, &latency, "op2", "op1");
    assert_true(pair->measured && pair->upper_bound);
    assert_near(pair->cycles, 5, 0.1);
    probe_latency_fini(&latency);
    /* What takes longer is not tried in longer rounds: 60, less three extensions. */
    measure(*state, "crc32 r32, r32", &form, &latency);
    pair = pair_find(&form, &latency, "op2", "op1");
    assert_true(pair->measured && pair->upper_bound);
    assert_near(pair->cycles, 57, 0.5);
    probe_latency_fini(&latency);
}

/* A chain of the form alone takes its own pace, with whichever values and registers. */
static void nor_is_it_slow_or_of_one_register(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure(*state, "ror r64, cl", &form, &latency); /* at 1.5 cycles */
    check_exact(&form, &latency, "op1", "op1", 1);
    assert_true(isnan(pair_find(&form, &latency, "op1", "op1")->same_register_cycles));
    assert_true(isnan(pair_find(&form, &latency, "op1", "op1")->slow_cycles)); /* with a count of zero */
    probe_latency_fini(&latency);
    measure(*state, "vpmaxsd xmm{k}, xmm, xmm", &form, &latency); /* at 4, into an old value, too */
    assert_near(pair_find(&form, &latency, "op3", "op1")->cycles, 1, 0.05);
    assert_near(pair_find(&form, &latency, "op3", "op1")->chained_cycles, 4, 0.05);
    assert_true(isnan(pair_find(&form, &latency, "op3", "op1")->slow_cycles));
    probe_latency_fini(&latency);
}

static void check_bound(const struct isa_form *form, const struct probe_latency *latency, const char *src,
                        const char *dst, double cycles) {
    const struct probe_latency_pair *pair = pair_find(form, latency, src, dst);
    assert_true(pair->measured && pair->upper_bound);
    assert_int_equal(pair->verdict, HX_VERDICT_OK);
    assert_near(pair->cycles, cycles, 0.05);
}

/* The same in the other files, and of the address of a load: all of these take one cycle, behind the load
 * six.
 */
static void nor_in_vectors_masks_and_addresses(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure(*state, "vphminposuw xmm, xmm", &form, &latency);
    check_bound(&form, &latency, "op2", "op1", 3); /* 12, less nine ORs */
    probe_latency_fini(&latency);
    measure(*state, "vpmaxuw xmm{k}{z}, xmm, xmm", &form, &latency);
    check_bound(&form, &latency, "op2", "op1", 5); /* 16, less the three of a comparison and eight ORs */
    check_bound(&form, &latency, "op3", "op1", 7);
    probe_latency_fini(&latency);
    measure(*state, "kaddd k, k, k", &form, &latency);
    check_bound(&form, &latency, "op2", "op1", 3);
    probe_latency_fini(&latency);
    measure(*state, "kaddq k, k, k", &form, &latency);
    check_exact(&form, &latency, "op2", "op1", 1); /* as many are longer than the form */
    probe_latency_fini(&latency);
    measure(*state, "paddd mm, mm", &form, &latency);
    check_bound(&form, &latency, "op2", "op1", 3);
    probe_latency_fini(&latency);
    measure(*state, "popcnt r64, m64", &form, &latency);
    for (size_t i = 0; i < latency.count; i++) { /* 20, less nine transfers, and two that keep the address */
        const struct probe_latency_pair *pair = &latency.pairs[i];
        assert_true(pair->measured && pair->upper_bound);
        assert_near(pair->cycles, pair->path == PROBE_PATH_ADDRESS ? 9 : 13, 0.05);
    }
    probe_latency_fini(&latency);
}

/* A form of one cycle behind a comparison of three: no round of nine transfers is needed to know that. */
static void what_takes_longer_than_the_form_needs_no_longer_round(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    struct counter counter;
    count(*state, "vpmaxud xmm{k}{z}, xmm, xmm", &form, &latency, &counter);
    check_exact(&form, &latency, "op2", "op1", 1);
    assert_true(counter.longest <= 4);
    probe_latency_fini(&latency);
}

/* A meter by which short rounds take longer than their chain. */
static enum ip_status short_late_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                         struct hx_stat *stats, struct ip_error *err) {
    enum ip_status status = hx_measure(self, kernels, count, stats, err);
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        bool is_short = kernels[i] != NULL && kernels[i]->unit_instructions < 5 * kernels[i]->forms_per_unit;
        stats[i].cycles += is_short ? 1.5 : 0;
    }
    return status;
}

static void a_longer_round_that_tells_far_less_is_a_bound(void **state) {
    struct machine *machine = *state;
    const struct hx_meter meter = {.measure = short_late_measure, .self = &machine->meter};
    struct isa_form form;
    struct isa_form *forms[1] = {&form};
    struct probe_transfers transfers;
    struct probe_latency latency;
    struct ip_error err = {0};
    form_make(machine, "vaddps xmm, xmm, xmm", &form, &transfers);
    assert_int_equal(probe_latency_measure_with(&meter, &machine->bench.encoder, &transfers, forms, NULL, 1,
                                                &latency, &err),
                     IP_OK);
    check_bound(&form, &latency, "op2", "op1", 4); /* 5.5 with up to three transfers */
    probe_latency_fini(&latency);
    probe_transfers_fini(&transfers);
}

static void what_does_not_depend_has_no_latency(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure(*state, "xadd r64, r64", &form, &latency);
    check_exact(&form, &latency, "op1", "op2", 1);
    check_exact(&form, &latency, "op2", "op1", 1);
    const struct probe_latency_pair *pair = pair_find(&form, &latency, "op2", "op2");
    assert_true(!pair->measured && pair->independent);
    assert_string_equal(pair->why, "op2 does not depend on it");
    assert_string_equal(probe_latency_bound(pair), "none");
    assert_string_equal(probe_latency_bound(pair_find(&form, &latency, "op1", "op2")), "exact");
    probe_latency_fini(&latency);
    /* A string's pointer moves on, whatever is stored. */
    measure(*state, "stosq", &form, &latency);
    assert_string_equal(probe_latency_bound(pair_find(&form, &latency, "rax", "rdi")), "none");
    assert_string_equal(pair_find(&form, &latency, "rax", "rdi")->why, "rdi does not depend on it");
    assert_string_equal(probe_latency_bound(pair_find(&form, &latency, "rdi", "rdi")), "exact");
    probe_latency_fini(&latency);
}

/* The nearest whole number, and of what is a half but for noise the next. */
static void a_half_is_rounded_up(void **state) {
    (void)state;
    static const struct {
        double cycles, whole;
    } cases[] = {{3.0, 3}, {3.07, 3}, {3.44, 3}, {3.46, 4}, {3.5, 4}, {3.54, 4}, {2.93, 3}, {0.0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(probe_latency_whole(cases[i].cycles) == cases[i].whole);
    }
    assert_true(isnan(probe_latency_whole(NAN)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(general_purpose_and_flags),
        cmocka_unit_test(half_a_cycle_is_no_latency_of_flags),
        cmocka_unit_test(a_shorter_pair_is_not_hidden_by_a_longer_one),
        cmocka_unit_test(a_round_is_longer_than_what_changes_memory_takes),
        cmocka_unit_test(implicit_registers),
        cmocka_unit_test(what_a_form_takes_anyway_is_no_latency),
        cmocka_unit_test(nor_is_it_slow_or_of_one_register),
        cmocka_unit_test(nor_in_vectors_masks_and_addresses),
        cmocka_unit_test(what_takes_longer_than_the_form_needs_no_longer_round),
        cmocka_unit_test(a_longer_round_that_tells_far_less_is_a_bound),
        cmocka_unit_test(what_does_not_depend_has_no_latency),
        cmocka_unit_test(a_half_is_rounded_up),
        cmocka_unit_test(an_idiom_is_a_fact_of_its_own),
        cmocka_unit_test(an_idiom_may_be_restless),
        cmocka_unit_test(what_a_form_says_itself_is_not_measured_through_others),
        cmocka_unit_test(only_pairs_that_are_asked_are_measured),
        cmocka_unit_test(no_pair_is_listed_twice),
        cmocka_unit_test(each_register_that_an_exchange_writes_is_looked_at),
        cmocka_unit_test(across_files_only_the_sum_is_known),
        cmocka_unit_test(a_masked_compare_makes_masks_exact),
        cmocka_unit_test(a_form_that_the_cpu_lacks_says_so),
        cmocka_unit_test(the_stack_pointer_is_not_chained),
        cmocka_unit_test(an_unsteady_chain_is_not_passed_off_as_steady),
        cmocka_unit_test(without_the_chain_of_the_form_alone_a_pair_is_marked),
    };
    return cmocka_run_group_tests(tests, machine_setup, machine_teardown);
}
