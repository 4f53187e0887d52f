/* SPDX-License-Identifier: Apache-2.0 */
/* The latency probe on a simulated CPU whose latencies are known: what is recovered, what can only be
 * bounded, and what is said of that which cannot be measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/decode.h"
#include "probe/latency.h"
#include "probe/transfer.h"
#include "tests/near.h"

static const char CPU[] = "isaprobe-sim 1\n"
                          "name \"latency test\"\n"
                          "issue-width 6\n"
                          "ports p0 p1 p2 p3 p4 p5\n"
                          "load-ports p23\n"
                          "store-address-ports p2\n"
                          "store-data-ports p4\n"
                          "ticks-per-cycle 0.7\n"
                          "form \"add r64, r64\" ports 1*p015 latency 1\n"
                          "form \"sub r64, imm8\" ports 1*p015\n"
                          "form \"j*\" ports 1*p05\n"
                          "form \"nop\" ports none\n"
                          "form \"nop *\" ports none\n"
                          /* transfers: movd is 2 one way and 3 the other, which no chain can tell apart */
                          "form \"movsx* *\" ports 1*p015\n"
                          "form \"mov r32, imm32\" ports 1*p015\n"
                          "form \"cmp *\" ports 1*p015\n"
                          "form \"cmov* r64, r64\" ports 1*p05\n"
                          "form \"set* *\" ports 1*p05\n"
                          "form \"pshufd xmm, xmm, imm8\" ports 1*p5\n"
                          "form \"vpshufd xmm, xmm, imm8\" ports 1*p5\n"
                          "form \"vmovd r32, xmm\" ports 1*p0 latency 3\n"
                          "form \"vmovd xmm, r32\" ports 1*p5 latency 2\n"
                          "form \"movd r32, xmm\" ports 1*p0 latency 3\n"
                          "form \"movd xmm, r32\" ports 1*p5 latency 2\n"
                          "form \"vptestmd k{k}, xmm, xmm\" ports 1*p5 latency 3\n"
                          "form \"vmovdqa32 xmm{k}{z}, xmm\" ports 1*p0 latency 2\n"
                          "form \"vandps xmm, xmm, xmm\" ports 1*p015\n"
                          "form \"vorps xmm, xmm, xmm\" ports 1*p015\n"
                          "form \"orps xmm, xmm\" ports 1*p015\n"
                          "form \"xor r64, r64\" ports 1*p015\n"
                          /* forms under test */
                          "form \"vpaddd xmm, xmm, m128\" ports 1*p015+1*p23 latency 1\n"
                          "form \"vpaddq xmm, xmm, xmm\" ports 1*p1 latency 4\n"
                          "form \"imul r64, r64\" ports 1*p1 latency 3\n"
                          "form \"dec r64\" ports 1*p015 latency 1\n"
                          "form \"adc r64, r64\" ports 1*p015 latency 1\n"
                          "form \"crc32 r64, r64\" ports 1*p1 latency 15\n"
                          "form \"aesdec xmm, xmm\" ports 1*p0 latency 3 op1->op1 5\n"
                          "form \"vpsubq xmm, xmm, xmm\" ports 1*p015 same-register eliminated\n"
                          "form \"vaddps xmm, xmm, xmm\" ports 1*p1 latency 4\n"
                          "form \"xchg r64, r64\" ports 3*p015 latency 2\n"
                          "form \"vaddpd xmm{k}, xmm, xmm\" ports 1*p1 latency 4 op2->op1 6\n"
                          "form \"shl m32, cl\" ports 4*p1+1*p23+1*p2+1*p4 latency 1\n"
                          "form \"popcnt r64, r64\" ports 3*p12 latency 3 op2->flags 0\n"
                          "form \"mul r64\" ports 1*p1+1*p5 latency 3 op1->rdx 4 rax->rdx 4\n"
                          "fault \"vdivpd xmm, xmm, xmm\" illegal\n";

struct machine {
    char path[64];
    struct hx_bench bench;
    struct hx_meter meter;
};

static int machine_setup(void **state) {
    struct machine *machine = calloc(1, sizeof *machine);
    assert_non_null(machine);
    strcpy(machine->path, "/tmp/isaprobe-latency-XXXXXX");
    int fd = mkstemp(machine->path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, CPU, sizeof CPU - 1), (ssize_t)(sizeof CPU - 1));
    close(fd);
    char timer[80];
    snprintf(timer, sizeof timer, "sim:%s", machine->path);
    struct hx_bench_options options = {.timer = timer, .cpu = -1};
    struct ip_error err = {0};
    if (hx_bench_open(&machine->bench, &options, &err) != IP_OK) {
        fail_msg("%s: %s", err.place, err.text);
    }
    machine->meter = hx_bench_meter(&machine->bench);
    *state = machine;
    return 0;
}

static int machine_teardown(void **state) {
    struct machine *machine = *state;
    hx_bench_close(&machine->bench);
    unlink(machine->path);
    free(machine);
    return 0;
}

static void measure(struct machine *machine, const char *syntax, struct isa_form *form,
                    struct probe_latency *latency) {
    struct ip_error err = {0};
    struct isa_form *forms[1] = {form};
    assert_int_equal(isa_form_parse(form, syntax, &err), IP_OK);
    assert_int_equal(isa_forms_derive(forms, 1, &err), IP_OK);
    if (probe_latency_measure(&machine->meter, &machine->bench.encoder, NULL, forms, 1, latency, &err) !=
        IP_OK) {
        fail_msg("%s: %s", err.place, err.text);
    }
}

static const struct probe_latency_pair *pair_find(const struct isa_form *form,
                                                  const struct probe_latency *latency, const char *src,
                                                  const char *dst) {
    for (size_t i = 0; i < latency->count; i++) {
        char from[16], to[16];
        isa_operand_name(form, (unsigned)latency->pairs[i].src, from);
        isa_operand_name(form, (unsigned)latency->pairs[i].dst, to);
        if (strcmp(from, src) == 0 && strcmp(to, dst) == 0) {
            return &latency->pairs[i];
        }
    }
    fail_msg("%s has no pair %s -> %s", form->syntax, src, dst);
    return NULL;
}

static void check_exact(const struct isa_form *form, const struct probe_latency *latency, const char *src,
                        const char *dst, double cycles) {
    const struct probe_latency_pair *pair = pair_find(form, latency, src, dst);
    if (!pair->measured) {
        fail_msg("%s -> %s: %s", src, dst, pair->why);
    }
    assert_false(pair->upper_bound);
    assert_int_equal(pair->verdict, HX_VERDICT_OK);
    assert_near(pair->cycles, cycles, 0.05);
}

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
};

static enum ip_status counter_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                      struct hx_stat *stats, struct ip_error *err) {
    struct counter *counter = self;
    counter->measured += count;
    return hx_measure(&counter->inner, kernels, count, stats, err);
}

static enum ip_status counter_screen(void *self, const struct gen_kernel *const *kernels, size_t count,
                                     struct hx_stat *stats, struct ip_error *err) {
    struct counter *counter = self;
    counter->looked += count;
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

/* A meter by which chains of the form alone, the first of each pair, are disturbed. */
static enum ip_status direct_disturbed_measure(void *self, const struct gen_kernel *const *kernels,
                                               size_t count, struct hx_stat *stats, struct ip_error *err) {
    (void)kernels;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        bool disturbed = i == *(const size_t *)self;
        stats[i] = (struct hx_stat){.cycles = disturbed ? NAN : 3.0,
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

/* What kernels take on another core than the simulated one. */
struct otherwise {
    struct hx_meter inner;
    double (*cycles)(const struct gen_kernel *kernel, double cycles);
};

static void otherwise_adjust(const struct otherwise *otherwise, const struct gen_kernel *const *kernels,
                             size_t count, struct hx_stat *stats) {
    for (size_t i = 0; i < count; i++) {
        stats[i].cycles = kernels[i] != NULL ? otherwise->cycles(kernels[i], stats[i].cycles) : NAN;
    }
}

static enum ip_status otherwise_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                        struct hx_stat *stats, struct ip_error *err) {
    const struct otherwise *otherwise = self;
    enum ip_status status = hx_measure(&otherwise->inner, kernels, count, stats, err);
    if (status == IP_OK) {
        otherwise_adjust(otherwise, kernels, count, stats);
    }
    return status;
}

static enum ip_status otherwise_screen(void *self, const struct gen_kernel *const *kernels, size_t count,
                                       struct hx_stat *stats, struct ip_error *err) {
    const struct otherwise *otherwise = self;
    enum ip_status status = hx_screen(&otherwise->inner, kernels, count, stats, err);
    if (status == IP_OK) {
        otherwise_adjust(otherwise, kernels, count, stats);
    }
    return status;
}

static void measure_otherwise(struct machine *machine, double (*cycles)(const struct gen_kernel *, double),
                              const char *syntax, struct isa_form *form, struct probe_latency *latency) {
    struct otherwise otherwise = {machine->meter, cycles};
    machine->meter =
        (struct hx_meter){.measure = otherwise_measure, .screen = otherwise_screen, .self = &otherwise};
    measure(machine, syntax, form, latency);
    machine->meter = otherwise.inner;
}

/* Instructions of a round for each of the form under test. */
static uint32_t links_of(const struct gen_kernel *kernel) {
    return kernel->unit_instructions / kernel->forms_per_unit;
}

/* A core on which nothing waits for flags of its own kind. */
static double flags_free(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) == 1 ? 0.5 * cycles : cycles;
}

static void half_a_cycle_alone_is_no_latency_of_flags_either(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure_otherwise(*state, flags_free, "adc r64, r64", &form, &latency);
    const struct probe_latency_pair *pair = pair_find(&form, &latency, "flags", "flags");
    assert_false(pair->measured);
    assert_string_equal(pair->why, "the flags do not depend on it");
    probe_latency_fini(&latency);
}

/* A divider that is a little sooner behind anything else, and takes a whole number of cycles alone. */
static double sooner_behind_others(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) > 1 && cycles > 10 ? cycles - 0.84 : cycles;
}

static void a_whole_number_alone_goes_before_a_part_less(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure_otherwise(*state, sooner_behind_others, "crc32 r64, r64", &form, &latency);
    check_exact(&form, &latency, "op2", "op1", 15);
    probe_latency_fini(&latency);
}

/* Rounds of a few instructions that go in two ways in turn, and take half a cycle more. */
static double in_turn(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) <= 4 && cycles > 8 ? cycles + 0.5 : cycles;
}

static void a_bound_between_two_whole_numbers_is_tried_in_longer_rounds(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure_otherwise(*state, in_turn, "vpaddd xmm, xmm, m128", &form, &latency);
    for (size_t i = 0; i < latency.count; i++) {
        const struct probe_latency_pair *pair = &latency.pairs[i];
        if (pair->path == PROBE_PATH_ADDRESS) {
            assert_true(pair->measured && pair->upper_bound);
            assert_non_null(strstr(pair->via, " x vorps xmm, xmm, xmm + vmovd r32, xmm"));
            assert_near(pair->cycles, 8, 0.05);
        }
    }
    probe_latency_fini(&latency);
}

/* The same a cycle and more above what the longer rounds take: a way of its own, and the less counts. */
static double in_short_rounds(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) <= 4 && cycles > 8 ? cycles - 1.4 : cycles;
}

static void a_whole_number_far_above_does_not_count(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure_otherwise(*state, in_short_rounds, "vpaddd xmm, xmm, m128", &form, &latency);
    for (size_t i = 0; i < latency.count; i++) {
        const struct probe_latency_pair *pair = &latency.pairs[i];
        if (pair->path == PROBE_PATH_ADDRESS) {
            assert_string_equal(pair->via, "vmovd r32, xmm");
        }
    }
    probe_latency_fini(&latency);
}

/* Likewise of registers: the whole number below is the latency, and one above says nothing of what was less.
 */
static double more_in_short_rounds(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) <= 4 && cycles > 3.5 ? cycles + 0.5 : cycles;
}

static double less_in_short_rounds(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) <= 4 && cycles > 3.5 ? cycles - 0.5 : cycles;
}

static void an_exact_latency_is_the_whole_number_below(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure_otherwise(*state, more_in_short_rounds, "vpaddq xmm, xmm, xmm", &form, &latency);
    check_exact(&form, &latency, "op2", "op1", 4);
    assert_near(pair_find(&form, &latency, "op2", "op1")->same_register_cycles, 4, 0.05);
    probe_latency_fini(&latency);
    measure_otherwise(*state, less_in_short_rounds, "vpaddq xmm, xmm, xmm", &form, &latency);
    check_exact(&form, &latency, "op2", "op1", 3.5);
    probe_latency_fini(&latency);
}

/* A core that forwards sooner between two of a kind: a long chain of the form alone takes 0.8 less a form. */
static double sooner(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) == 1 && cycles > 10 ? cycles - 0.8 : cycles;
}

/* From the second operand to the first, and of the form after itself. */
static void check_otherwise(struct machine *machine, double (*otherwise)(const struct gen_kernel *, double),
                            const char *syntax, double cycles, double chained_cycles) {
    struct isa_form form;
    struct probe_latency latency;
    measure_otherwise(machine, otherwise, syntax, &form, &latency);
    check_exact(&form, &latency, "op2", "op1", cycles);
    assert_near(pair_find(&form, &latency, "op2", "op1")->chained_cycles, chained_cycles, 0.05);
    probe_latency_fini(&latency);
}

static void a_chain_that_is_a_cycle_shorter_tells_something_else(void **state) {
    check_otherwise(*state, sooner, "crc32 r64, r64", 15, 14.2);
}

/* A core on which a multiplication takes a cycle less behind one of its kind. */
static double a_cycle_sooner(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) == 1 && cycles > 2.5 ? cycles - 1 : cycles;
}

static void a_look_that_is_longer_than_the_chain_alone_is_believed(void **state) {
    check_otherwise(*state, a_cycle_sooner, "imul r64, r64", 3, 2);
}

/* A core on which a round of a multiplication and one instruction more, or less, takes half a cycle more. */
static double longer_in_short_rounds(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) <= 2 && cycles > 2.5 ? cycles + 0.5 : cycles;
}

static void where_the_first_chains_say_nothing_the_others_do(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure_otherwise(*state, longer_in_short_rounds, "imul r64, r64", &form, &latency);
    check_exact(&form, &latency, "op2", "op1", 3);
    probe_latency_fini(&latency);
}

/* A core whose shuffles wait for themselves where nothing else is in their chain. */
static double contended(const struct gen_kernel *kernel, double cycles) {
    bool alone = kernel->unit_instructions == kernel->forms_per_unit;
    return alone && kernel->wakes_vectors && cycles < 1.5 ? 1.13 * cycles : cycles;
}

static void transfers_that_wait_for_themselves_make_nothing_shorter(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure_otherwise(*state, contended, "vaddpd xmm{k}, xmm, xmm", &form, &latency);
    check_exact(&form, &latency, "op2", "op1", 6);
    check_exact(&form, &latency, "op3", "op1", 4);
    probe_latency_fini(&latency);
}

/* A core on which what merges into a value of more than two instructions ago takes a part of a cycle more. */
static double merges_slowly(const struct gen_kernel *kernel, double cycles) {
    uint32_t ago = kernel->forms_per_unit * links_of(kernel);
    return kernel->wakes_vectors && cycles > 3.5 && links_of(kernel) == 1 && ago > 2 ? cycles + 0.87 : cycles;
}

static void what_is_merged_into_was_just_written(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure_otherwise(*state, merges_slowly, "vaddpd xmm{k}, xmm, xmm", &form, &latency);
    check_exact(&form, &latency, "op3", "op1", 4);
    assert_near(pair_find(&form, &latency, "op3", "op1")->chained_cycles, 4, 0.05);
    probe_latency_fini(&latency);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(general_purpose_and_flags),
        cmocka_unit_test(half_a_cycle_is_no_latency_of_flags),
        cmocka_unit_test(transfers_that_wait_for_themselves_make_nothing_shorter),
        cmocka_unit_test(what_is_merged_into_was_just_written),
        cmocka_unit_test(half_a_cycle_alone_is_no_latency_of_flags_either),
        cmocka_unit_test(a_whole_number_alone_goes_before_a_part_less),
        cmocka_unit_test(a_bound_between_two_whole_numbers_is_tried_in_longer_rounds),
        cmocka_unit_test(a_whole_number_far_above_does_not_count),
        cmocka_unit_test(an_exact_latency_is_the_whole_number_below),
        cmocka_unit_test(a_chain_that_is_a_cycle_shorter_tells_something_else),
        cmocka_unit_test(a_shorter_pair_is_not_hidden_by_a_longer_one),
        cmocka_unit_test(a_round_is_longer_than_what_changes_memory_takes),
        cmocka_unit_test(implicit_registers),
        cmocka_unit_test(an_idiom_is_a_fact_of_its_own),
        cmocka_unit_test(what_a_form_says_itself_is_not_measured_through_others),
        cmocka_unit_test(only_pairs_that_are_asked_are_measured),
        cmocka_unit_test(each_register_that_an_exchange_writes_is_looked_at),
        cmocka_unit_test(a_look_that_is_longer_than_the_chain_alone_is_believed),
        cmocka_unit_test(where_the_first_chains_say_nothing_the_others_do),
        cmocka_unit_test(across_files_only_the_sum_is_known),
        cmocka_unit_test(a_masked_compare_makes_masks_exact),
        cmocka_unit_test(a_form_that_the_cpu_lacks_says_so),
        cmocka_unit_test(the_stack_pointer_is_not_chained),
        cmocka_unit_test(an_unsteady_chain_is_not_passed_off_as_steady),
        cmocka_unit_test(without_the_chain_of_the_form_alone_a_pair_is_marked),
    };
    return cmocka_run_group_tests(tests, machine_setup, machine_teardown);
}
