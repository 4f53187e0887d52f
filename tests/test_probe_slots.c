/* SPDX-License-Identifier: Apache-2.0 */
/* Issue slots by a mix with NOPs, on simulated CPUs whose slots are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "generator/shapes.h"
#include "isa/decode.h"
#include "probe/slots.h"
#include "tests/brief.h"
#include "tests/near.h"
#include "tests/port_machine.h"

enum {
    FORMS_MAX = 16,
    IMUL = 2,  /* imul r64, r64 in the table of CAST */
    BASES = 3, /* kernels of NOPs alone: a call of their own, for the issue width, and in front of each mix */
};

static const struct cast CAST[] = {
    {"imul r64, r64", "1"},
    {"xchg r64, r64", "3*p015 slots 3"},
    {"add m64, r64", "1*p89+1*p015+1*pA+1*pB slots 2"},
    {"vhaddpd ymm, ymm, ymm", "1*p1+2*p5 latency 5"},
    {"mul r64", "1*p1+1*p5 latency 4"},             /* each waits for the one before: rax */
    {"div r64", "4*p0 latency 15 blocking 10 div"}, /* the divisor is renewed: that is not the form's slot */
    {"vsqrtpd ymm, ymm", "1*p0 latency 21 blocking 12 div"},
    {"vdivpd ymm, ymm, ymm", "1*p0 latency 300 blocking 300 div"},
    {"vaddpd ymm, ymm, ymm", "none"},
    {"popcnt r64, r64", "1*p1"},
    {"jz rel8", "1*p0"}, /* not taken: */
    {"test r64, r64", "015"},
    {"cmp r64, r64", "015"},
    {"jmp rel8", "1*p0"},
    {"hlt", "1*p0"},
    {"add r64, m64", "1*p89+1*p015 slots 2 together"}, /* what is left of a cycle's slots may be lost */
    {"", ""},
};
static const double SLOTS[] = {1, 3, 2, 3, 2, 4, 1, NAN, 1, 1, 1, 1, 1, NAN, NAN, 2};

static void slots_of(const char *core, const struct cast *cast, struct probe_slots *slots,
                     struct isa_form **forms, size_t *count, struct machine *machine) {
    machine_open(machine, core, cast);
    struct ip_error err = {0};
    struct hx_meter meter = hx_bench_meter(&machine->bench);
    struct probe_throughput throughputs[FORMS_MAX] = {0};
    *count = 0;
    for (; cast->form[0] != '\0'; cast++) {
        for (size_t i = 0; i < machine->table.count; i++) {
            if (strcmp(machine->table.forms[i].syntax, cast->form) == 0) {
                forms[(*count)++] = &machine->table.forms[i];
            }
        }
    }
    assert_int_equal(isa_forms_derive(forms, *count, &err), IP_OK);
    assert_int_equal(
        probe_throughput_measure(&meter, &machine->bench.encoder, forms, *count, throughputs, &err), IP_OK);
    if (probe_slots_measure(&meter, &machine->bench.encoder, forms, throughputs, *count, slots, &err) !=
        IP_OK) {
        fail_msg("%s", err.text);
    }
}

/* `off`: what the display rounds away, or less. */
static void slots_are_what_the_description_says(const char *core, double off) {
    struct machine machine;
    struct probe_slots slots[FORMS_MAX];
    struct isa_form *forms[FORMS_MAX];
    size_t count = 0;
    slots_of(core, CAST, slots, forms, &count, &machine);
    assert_int_equal(count, sizeof SLOTS / sizeof SLOTS[0]);
    for (size_t i = 0; i < count; i++) {
        bool known = !isnan(SLOTS[i]);
        if (slots[i].measured != known || (known && fabs(slots[i].slots - SLOTS[i]) > off)) {
            fail_msg("%s: %s%g slots, not %g %s", forms[i]->syntax, slots[i].measured ? "" : "not measured ",
                     slots[i].slots, SLOTS[i], slots[i].why);
        }
        if (slots[i].verdict != HX_VERDICT_OK) {
            fail_msg("%s: %s", forms[i]->syntax, slots[i].why);
        }
        assert_int_equal(slots[i].why[0] == '\0', known);
    }
    machine_close(&machine);
}

/* The filler's own kernel is the sentinel: where NOPs share slots it must be something else, too. */
static void the_filler_takes_a_slot(void **state) {
    (void)state;
    static const struct cast moves[] = {{"mov r64, r64", "none eliminated latency 0"}, {"", ""}};
    static const struct {
        const char *core, *filler;
        double width;
    } cores[] = {{CORE("6", "0156"), GEN_FILLER_NOP, 6},
                 {CORE("6", "0156") "form \"nop m32\" ports 1*p0156\n", GEN_FILLER_LONG_NOP, 6},
                 {CORE("6", "0156") "fuse \"nop *\" \"*\"\n", GEN_FILLER_MOVE, 6},
                 {CORE("4", "0156") "fuse \"nop *\" \"*\"\n", GEN_FILLER_MOVE, 4}};
    for (size_t i = 0; i < sizeof cores / sizeof cores[0]; i++) {
        struct machine machine;
        machine_open(&machine, cores[i].core, moves);
        assert_string_equal(machine.bench.filler, cores[i].filler);
        assert_near(machine.bench.sentinel_cycles, 1 / cores[i].width, 1e-6);
        machine_close(&machine);
    }
    /* Moves that are executed hide the NOPs in a chain; of two slots a cycle one NOP, as if it were joined.
     */
    static const struct cast executed[] = {{"mov r64, r64", "0156"}, {"", ""}};
    static const struct {
        const char *core;
        double width; /* at which NOPs run */
    } chains[] = {{CORE("6", "0156") "fuse \"nop *\" \"*\"\n", 12}, {CORE("2", "0156"), 2}};
    for (size_t i = 0; i < sizeof chains / sizeof chains[0]; i++) {
        struct machine machine;
        machine_open(&machine, chains[i].core, executed);
        assert_string_equal(machine.bench.filler, GEN_FILLER_NOP);
        assert_near(machine.bench.sentinel_cycles, 1 / chains[i].width, 1e-6);
        machine_close(&machine);
    }
}

/* Where it advances in steps of ten nanoseconds runs must be longer. */
static void the_clock_has_steps(void **state) {
    (void)state;
    static const struct cast none[] = {{"", ""}};
    static const char *const cores[] = {CORE("6", "0156"), CORE("6", "0156") "resolution 2\n",
                                        CORE("6", "0156") "resolution 26\nnoise 0.001\n"};
    static const double steps[] = {0, 0, 26};
    for (size_t i = 0; i < sizeof cores / sizeof cores[0]; i++) {
        struct machine machine;
        machine_open(&machine, cores[i], none);
        assert_near(machine.bench.references.clock_step, steps[i], 0);
        machine_close(&machine);
    }
}

static void nops_that_share_slots(void **state) {
    (void)state;
    slots_are_what_the_description_says(CORE("6", "0156") "rob 512\nfuse \"nop *\" \"*\"\n"
                                                          "form \"mov r64, r64\" eliminated\n",
                                        0.3);
}

static void six_wide(void **state) {
    (void)state;
    slots_are_what_the_description_says(CORE("6", "0156") "rob 512\n", 0.3);
}

static void four_wide_with_noise(void **state) {
    (void)state;
    slots_are_what_the_description_says(CORE("4", "015") "rob 512\nnoise 0.001\nspikes 0.02 3000\nseed 11\n",
                                        0.45);
}

static const struct cast MICROCODE[] = {{"crc32 r32, r8", "3*p1+1*p015 microcode 4"},
                                        {"add m64, r64", "1*p89+2*p015+1*pA+1*pB slots 4 microcode 3"},
                                        {"vhaddpd ymm, ymm, ymm", "1*p1+2*p5 slots 6 microcode 4"},
                                        {"pcmpestri xmm, xmm, imm8", "3*p0+1*p1+1*p5+3*p015 microcode 4"},
                                        {"imul r64, r64", "1*p1"},
                                        {"", ""}};

/* A front end of eight slots that microcode keeps busy for four cycles: what waits ahead of rename hides that
 * among many NOPs, as on a Golden Cove, whose shifts of memory by CL take 4 slots, 11 of them among 40 NOPs
 * each. */
static void microcode_is_hidden(void **state) {
    (void)state;
    skip_under_memcheck();
    static const double known[] = {4, 4, 6, 8, 1};
    static const char *const noises[] = {"", "noise 0.001\nseed 3\n"};
    for (size_t i = 0; i < sizeof noises / sizeof noises[0]; i++) {
        struct machine machine;
        struct probe_slots slots[FORMS_MAX];
        struct isa_form *forms[FORMS_MAX];
        size_t count = 0;
        char core[2048];
        (void)snprintf(core, sizeof core, "%s%s",
                       CORE("6", "0156") "rob 512\nfetch-width 8\nfetch-queue 144\n", noises[i]);
        slots_of(core, MICROCODE, slots, forms, &count, &machine);
        assert_int_equal(count, sizeof known / sizeof known[0]);
        for (size_t k = 0; k < count; k++) {
            if (!slots[k].measured || fabs(slots[k].slots - known[k]) > 0.4) {
                fail_msg("%s: %g slots, not %g %s", forms[k]->syntax, slots[k].slots, known[k], slots[k].why);
            }
        }
        machine_close(&machine);
    }
}

/* Mixes of two instances and many NOPs are long, so that noise keeps them from agreeing at a glance: they are
 * looked at again, and what is told as sure is no time of the front end. */
static void microcode_is_hidden_on_a_bad_day(void **state) {
    (void)state;
    enum { SEEDS = 12 };
    static const double known[] = {4, 4, 6, 8, 1};
    unsigned told = 0;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        struct machine machine;
        struct probe_slots slots[FORMS_MAX];
        struct isa_form *forms[FORMS_MAX];
        size_t count = 0;
        char core[2048];
        (void)snprintf(core, sizeof core, "%snoise 0.003\nseed %u\n",
                       CORE("6", "0156") "rob 512\nfetch-width 8\nfetch-queue 144\n", seed);
        slots_of(core, MICROCODE, slots, forms, &count, &machine);
        assert_int_equal(count, sizeof known / sizeof known[0]);
        for (size_t k = 0; k < count; k++) {
            bool is_told = slots[k].measured && slots[k].verdict == HX_VERDICT_OK;
            told += is_told;
            if (is_told && fabs(slots[k].slots - known[k]) > 1.5) {
                fail_msg("seed %u: %s: %g slots, not %g", seed, forms[k]->syntax, slots[k].slots, known[k]);
            }
        }
        machine_close(&machine);
    }
    assert_true(told > SEEDS * sizeof known / sizeof known[0] * 9 / 10);
}

/* With 192 slots in flight of 6 a cycle what takes more than 32 cycles holds up the issue, which is no slot
 * of its own; with more in flight the same forms have theirs. */
static void what_holds_retirement_has_no_slots(void **state) {
    (void)state;
    skip_under_memcheck();
    static const struct cast cast[] = {{"div r64", "2*p1 latency 46 blocking 45 div"},
                                       {"vsqrtpd ymm, ymm", "8*p0156 latency 46 blocking 45 div"},
                                       {"vdivpd ymm, ymm, ymm", "8*p0156 latency 28 blocking 28 div"},
                                       {"", ""}};
    static const struct {
        const char *core;
        double slots[3];
    } cores[] = {
        {CORE("6", "0156") "form \"mov r32, imm32\" ports 1*p0156\nrob 192\n", {NAN, NAN, 8}},
        {CORE("6", "0156") "form \"mov r32, imm32\" ports 1*p0156\nrob 512\n", {2, 8, 8}},
    };
    for (size_t i = 0; i < sizeof cores / sizeof cores[0]; i++) {
        struct machine machine;
        struct probe_slots slots[FORMS_MAX];
        struct isa_form *forms[FORMS_MAX];
        size_t count = 0;
        slots_of(cores[i].core, cast, slots, forms, &count, &machine);
        assert_int_equal(count, 3);
        for (size_t k = 0; k < count; k++) {
            bool held = isnan(cores[i].slots[k]);
            assert_int_equal(slots[k].verdict, HX_VERDICT_OK);
            assert_string_equal(slots[k].why,
                                held ? "it takes longer than what can be issued before it retires" : "");
            if (slots[k].measured == held || !(held || fabs(slots[k].slots - cores[i].slots[k]) < 0.3)) {
                fail_msg("%s: %g slots, not %g", forms[k]->syntax, slots[k].slots, cores[i].slots[k]);
            }
        }
        machine_close(&machine);
    }
}

/* The slots of one form of the machine's table by another meter; alone an instance takes so many cycles. */
static struct probe_slots slots_by(const struct hx_meter *meter, struct machine *machine, size_t number,
                                   double cycles) {
    struct ip_error err = {0};
    struct isa_form *form = &machine->table.forms[number];
    struct probe_throughput throughput = {.measured = true, .cycles = cycles, .plain_cycles = cycles};
    struct probe_slots slots;
    assert_int_equal(isa_forms_derive(&form, 1, &err), IP_OK);
    assert_int_equal(probe_slots_measure(meter, &machine->bench.encoder, &form, &throughput, 1, &slots, &err),
                     IP_OK);
    return slots;
}

/* As slots_by, of a form of one cycle on a core of six slots, by a meter that changes what *inner measures,
 * which is set. */
static struct probe_slots slots_through(enum ip_status (*changed)(void *, const struct gen_kernel *const *,
                                                                  size_t, struct hx_stat *,
                                                                  struct ip_error *),
                                        void *self, struct hx_meter *inner, size_t number) {
    struct machine machine;
    machine_open(&machine, CORE("6", "0156") "rob 512\n", CAST);
    *inner = hx_bench_meter(&machine.bench);
    const struct hx_meter meter = {.measure = changed, .filler = inner->filler, .self = self};
    struct probe_slots slots = slots_by(&meter, &machine, number, 1);
    machine_close(&machine);
    return slots;
}

/* A meter by which long loops of NOPs alone come from the decoders, 6 % slower: with the bases in front of
 * each mix. */
static enum ip_status decoders_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                       struct hx_stat *stats, struct ip_error *err) {
    enum ip_status status = hx_measure(self, kernels, count, stats, err);
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        bool base = count > BASES && i % (count / 2) < BASES;
        stats[i].cycles *= base && stats[i].cycles > 47 ? 1.06 : 1;
    }
    return status;
}

static void nops_from_the_decoders_hide_nothing(void **state) {
    (void)state;
    static const struct cast cast[] = {{"crc32 r32, r8", "3*p1+1*p015 microcode 4"}, {"", ""}};
    struct machine machine;
    machine_open(&machine, CORE("6", "0156") "rob 512\nfetch-width 8\nfetch-queue 144\n", cast);
    struct hx_meter inner = hx_bench_meter(&machine.bench);
    const struct hx_meter meter = {.measure = decoders_measure, .filler = inner.filler, .self = &inner};
    struct probe_slots slots = slots_by(&meter, &machine, 2, 4); /* behind a load and a store */
    assert_true(slots.measured);
    assert_near(slots.slots, 12, 0.5); /* as among fewer NOPs */
    machine_close(&machine);
}

/* A meter by which mixes of many NOPs say two slots more with each call, the second one more than the first.
 */
struct wanderer {
    struct hx_meter inner;
    unsigned calls;
};

static enum ip_status wanderer_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                       struct hx_stat *stats, struct ip_error *err) {
    const double slot = 2.0 / 6; /* cycles: of each of two instances one */
    struct wanderer *wanderer = self;
    enum ip_status status = hx_measure(&wanderer->inner, kernels, count, stats, err);
    bool many = count > 1 && stats[0].cycles > 47;
    for (size_t i = 0; i < count && status == IP_OK && many; i++) {
        bool base = i % (count / 2) < BASES;
        stats[i].cycles += base ? 0 : slot * (2 * wanderer->calls + (i >= count / 2));
    }
    wanderer->calls += many;
    return status;
}

/* 12 slots among 40 NOPs each, 4 to 9 among many: then 12 is none of its numbers. */
static void what_disagrees_with_less_is_doubted(void **state) {
    (void)state;
    static const struct cast cast[] = {{"crc32 r32, r8", "3*p1+1*p015 microcode 4"}, {"", ""}};
    struct machine machine;
    machine_open(&machine, CORE("6", "0156") "rob 512\nfetch-width 8\nfetch-queue 144\n", cast);
    struct wanderer wanderer = {.inner = hx_bench_meter(&machine.bench)};
    const struct hx_meter meter = {
        .measure = wanderer_measure, .filler = wanderer.inner.filler, .self = &wanderer};
    struct probe_slots slots = slots_by(&meter, &machine, 2, 4); /* behind a load and a store */
    assert_int_equal(slots.verdict, HX_VERDICT_UNSTABLE);
    assert_string_equal(slots.why, "fewer among more NOPs, where no two readings agree");
    machine_close(&machine);
}

/* A meter beside a neighbour who comes where loops are long, and takes so many cycles more. */
struct visitor {
    struct hx_meter inner;
    double more;
};

static enum ip_status visitor_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                      struct hx_stat *stats, struct ip_error *err) {
    const struct visitor *visitor = self;
    enum ip_status status = hx_measure(&visitor->inner, kernels, count, stats, err);
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (count > BASES && stats[i].cycles > 47) {
            bool base = i % (count / 2) < BASES;
            stats[i].cycles += base ? 0 : visitor->more;
            stats[i].verdict = HX_VERDICT_DISTURBED;
            (void)snprintf(stats[i].why, sizeof stats[i].why, "somebody came");
        }
    }
    return status;
}

/* 12 slots among 40 NOPs each, 4 among many, beside a neighbour: nobody knows how many less. What he makes as
 * many confirms them. */
static void a_look_among_many_that_was_disturbed_is_told(void **state) {
    (void)state;
    static const struct cast cast[] = {{"crc32 r32, r8", "3*p1+1*p015 microcode 4"}, {"", ""}};
    static const struct {
        double more; /* 4/3 cycles are 4 slots of both instances */
        enum hx_verdict verdict;
    } known[] = {{0, HX_VERDICT_DISTURBED}, {8.0 / 3, HX_VERDICT_OK}, {20, HX_VERDICT_DISTURBED}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct machine machine;
        machine_open(&machine, CORE("6", "0156") "rob 512\nfetch-width 8\nfetch-queue 144\n", cast);
        struct visitor visitor = {.inner = hx_bench_meter(&machine.bench), .more = known[i].more};
        const struct hx_meter meter = {
            .measure = visitor_measure, .filler = visitor.inner.filler, .self = &visitor};
        struct probe_slots slots = slots_by(&meter, &machine, 2, 4); /* behind a load and a store */
        assert_true(slots.measured);
        assert_near(slots.slots, 12, 0.5);
        assert_int_equal(slots.verdict, known[i].verdict);
        assert_string_equal(slots.why,
                            known[i].verdict == HX_VERDICT_OK ? "" : "somebody came, among more NOPs");
        machine_close(&machine);
    }
}

static unsigned times_in(const struct gen_kernel *kernel, const uint8_t *bytes, size_t length) {
    const uint8_t *at = kernel->shorter.bytes, *end = at + kernel->shorter.length;
    unsigned times = 0;
    for (; (at = memmem(at, (size_t)(end - at), bytes, length)) != NULL; at++) {
        times++;
    }
    return times;
}

/* A meter by which each multiplication loses 17 cycles, as a LOCK on a Zen 5, but beside a chain. */
static enum ip_status loser_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                    struct hx_stat *stats, struct ip_error *err) {
    static const uint8_t product[] = {0x0f, 0xaf}, addition[] = {0x48, 0x01, 0xed};
    enum ip_status status = hx_measure(self, kernels, count, stats, err);
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        bool chained = times_in(kernels[i], addition, sizeof addition) > 1;
        stats[i].cycles += chained ? 0 : 17 * times_in(kernels[i], product, sizeof product);
    }
    return status;
}

/* What loses almost all of its time alone holds no retirement; what loses half of it may. */
static void what_is_lost_each_time_counts(void **state) {
    (void)state;
    struct machine machine;
    machine_open(&machine, CORE("6", "0156") "rob 512\nform \"mov r32, imm32\" ports 1*p0156\n", CAST);
    struct hx_meter inner = hx_bench_meter(&machine.bench);
    const struct hx_meter meter = {.measure = loser_measure, .filler = inner.filler, .self = &inner};
    struct probe_slots slots = slots_by(&meter, &machine, 2, 20);
    assert_true(slots.measured);
    assert_near(slots.slots, 1 + 17 * 6, 0.5);
    slots = slots_by(&meter, &machine, 2, 34);
    assert_false(slots.measured);
    machine_close(&machine);
}

/* Eight instances: one batch of each mix says a whole number. One instance: more are needed. */
static void a_glance_will_do_where_many_instances_fit(void **state) {
    (void)state;
    struct machine machine;
    struct probe_slots slots[FORMS_MAX];
    struct isa_form *forms[FORMS_MAX];
    size_t count = 0;
    slots_of(CORE("6", "0156") "rob 512\n", CAST, slots, forms, &count, &machine);
    assert_true(slots[0].stat.batches < slots[6].stat.batches);
    assert_int_equal(slots[0].stat.batches, slots[9].stat.batches);
    machine_close(&machine);
}

/* A meter by which mixes take other times each, ten cycles more with each call the second, the last quarter
 * of what is measured for one form, and five the first; or the second was disturbed. */
struct disputer {
    struct hx_meter inner;
    bool disturbed;
    bool always;    /* no two mixes agree */
    unsigned mixes; /* calls for more than the issue width */
};

static enum ip_status disputer_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                       struct hx_stat *stats, struct ip_error *err) {
    struct disputer *disputer = self;
    enum ip_status status = hx_measure(&disputer->inner, kernels, count, stats, err);
    disputer->mixes += count > BASES;
    for (size_t i = BASES; i < count / 2 && status == IP_OK; i++) {
        stats[i].cycles += disputer->always ? 5 * disputer->mixes : 0;
    }
    for (size_t i = count - count / 4; i < count && status == IP_OK; i++) {
        stats[i].cycles += disputer->always ? 10 * disputer->mixes : 10;
        stats[i].verdict = disputer->disturbed ? HX_VERDICT_DISTURBED : stats[i].verdict;
    }
    return status;
}

/* Two glances, two attempts and a glance at fewer instances; a third attempt where noise spoiled them. Two
 * glances will do where of mixes that disagree the least two say the same. */
static void what_is_refused_twice_is_not_attempted_again(void **state) {
    (void)state;
    static const struct {
        bool disturbed, always;
        unsigned mixes;
        bool measured;
    } known[] = {{false, true, 2 + 2 + 1, false}, {true, false, 2 + 3, false}, {false, false, 2, true}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct disputer disputer = {.disturbed = known[i].disturbed, .always = known[i].always};
        struct probe_slots slots = slots_through(disputer_measure, &disputer, &disputer.inner, 0);
        assert_int_equal(disputer.mixes, known[i].mixes);
        assert_int_equal(slots.measured && slots.verdict == HX_VERDICT_OK, known[i].measured);
        assert_true(!known[i].measured || fabs(slots.slots - 1) < 0.1);
    }
}

/* A meter beside a neighbour: all that is measured takes longer, and is disturbed; `bases`: only NOPs alone
 * in a call of their own, from which the issue width comes. */
struct neighbour {
    struct hx_meter inner;
    bool bases;
};

static enum ip_status neighbour_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                        struct hx_stat *stats, struct ip_error *err) {
    const struct neighbour *neighbour = self;
    enum ip_status status = hx_measure(&neighbour->inner, kernels, count, stats, err);
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (neighbour->bases ? count == BASES : count > BASES && i >= BASES) {
            stats[i].cycles = neighbour->bases ? 2 * stats[i].cycles : stats[i].cycles + 60;
            stats[i].verdict = HX_VERDICT_DISTURBED;
        }
    }
    return status;
}

/* What a neighbour makes longer is no fact about the form: neither half the width, nor "longer than alone".
 */
static void a_neighbour_is_told(void **state) {
    (void)state;
    for (unsigned bases = 0; bases < 2; bases++) {
        struct neighbour neighbour = {.bases = bases == 1};
        struct probe_slots slots = slots_through(neighbour_measure, &neighbour, &neighbour.inner, IMUL);
        assert_int_equal(slots.verdict, HX_VERDICT_DISTURBED);
    }
}

/* A meter by which loops at one place of a cache line take longer, in cycles and in parts. */
struct placed {
    struct hx_meter inner;
    double more, times;
    bool all; /* NOPs alone, too */
};

static enum ip_status placed_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                     struct hx_stat *stats, struct ip_error *err) {
    enum { LINE = 64 };
    const struct placed *placed = self;
    enum ip_status status = hx_measure(&placed->inner, kernels, count, stats, err);
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        bool base = count == BASES || i % (count / 2) < BASES;
        if (kernels[i]->shorter.loop_offset % LINE == 0 && (placed->all || !base)) {
            stats[i].cycles = stats[i].cycles * placed->times + placed->more;
        }
    }
    return status;
}

/* As loops on a Zen 3, which lose half a cycle and more where they end at a bad place, and NOPs that come
 * from the decoders. */
static void the_place_of_a_loop_does_not_count(void **state) {
    (void)state;
    for (unsigned all = 0; all < 2; all++) {
        struct placed placed = {.more = all == 1 ? 0 : 2, .times = all == 1 ? 1.5 : 1, .all = all == 1};
        struct probe_slots slots = slots_through(placed_measure, &placed, &placed.inner, IMUL);
        assert_true(slots.measured);
        assert_int_equal(slots.verdict, HX_VERDICT_OK);
        assert_near(slots.slots, 1, 0.1);
    }
}

/* A meter by which the mixes take longer, with void batches before them. */
struct fluke {
    struct hx_meter inner;
    const double *more; /* cycles, of each call, the last for all that follow */
    unsigned calls, last;
    double spread;
};

static enum ip_status fluke_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                    struct hx_stat *stats, struct ip_error *err) {
    struct fluke *fluke = self;
    enum ip_status status = hx_measure(&fluke->inner, kernels, count, stats, err);
    if (count == BASES) {
        return status;
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        bool base = i % (count / 2) < BASES;
        stats[i].retakes = 3;
        stats[i].cycles += base ? 0 : fluke->more[fluke->calls];
        stats[i].spread = base ? 0 : fluke->spread;
    }
    fluke->calls += fluke->calls < fluke->last;
    return status;
}

/* Beside neighbours one reading is none, nor are attempts that differ, or say little. Eight instances: 4/3
 * cycles more are a slot, 2/3 a half. */
static void beside_neighbours_readings_are_confirmed(void **state) {
    (void)state;
    enum { CALLS = 5 };
    static const double SLOT = 4.0 / 3, HALF = 2.0 / 3;
    const struct {
        double more[CALLS];
        double spread, slots;
        enum hx_verdict verdict;
    } known[] = {
        {{SLOT, 0, SLOT, SLOT, SLOT}, 0, 1, HX_VERDICT_OK},    /* one glance's slot too many */
        {{SLOT, SLOT, 0, 0, 0}, 0, 2, HX_VERDICT_OK},          /* both glances' */
        {{4, SLOT, HALF, 0, SLOT}, 0, 1, HX_VERDICT_OK},       /* one attempt's half */
        {{HALF, HALF, HALF, HALF, 0}, 0, 1.5, HX_VERDICT_OK},  /* two attempts' */
        {{HALF, HALF, HALF, 2, 2}, 0, 1.5, HX_VERDICT_OK},     /* the least of three */
        {{HALF, HALF, SLOT, HALF, HALF}, 0, 2, HX_VERDICT_OK}, /* an attempt that says a whole one */
        {{HALF, HALF, 0, 0, 0}, 0.05, 1, HX_VERDICT_UNSTABLE}, /* attempts that spread by as much */
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct fluke fluke = {.more = known[i].more, .last = CALLS - 1, .spread = known[i].spread};
        struct probe_slots slots = slots_through(fluke_measure, &fluke, &fluke.inner, IMUL);
        if (!slots.measured || fabs(slots.slots - known[i].slots) > 0.1 ||
            slots.verdict != known[i].verdict) {
            fail_msg("case %zu: %g slots, %s", i, slots.slots, slots.why);
        }
    }
}

static void what_cannot_be_measured_says_why(void **state) {
    (void)state;
    struct machine machine;
    struct probe_slots slots[FORMS_MAX];
    struct isa_form *forms[FORMS_MAX];
    size_t count = 0;
    slots_of(CORE("4", "015"), CAST, slots, forms, &count, &machine);
    assert_string_equal(slots[7].why, "takes too long to hide behind NOPs");
    assert_string_equal(slots[13].why, "a branch that is taken also ends the groups of NOPs");
    assert_int_equal(slots[7].verdict, HX_VERDICT_OK);
    assert_string_equal(slots[14].why, "needs CPL 0");
    machine_close(&machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(six_wide),
        cmocka_unit_test(the_filler_takes_a_slot),
        cmocka_unit_test(the_clock_has_steps),
        cmocka_unit_test(nops_that_share_slots),
        cmocka_unit_test(four_wide_with_noise),
        cmocka_unit_test(microcode_is_hidden),
        cmocka_unit_test(microcode_is_hidden_on_a_bad_day),
        cmocka_unit_test(what_holds_retirement_has_no_slots),
        cmocka_unit_test(what_is_lost_each_time_counts),
        cmocka_unit_test(nops_from_the_decoders_hide_nothing),
        cmocka_unit_test(what_disagrees_with_less_is_doubted),
        cmocka_unit_test(a_look_among_many_that_was_disturbed_is_told),
        cmocka_unit_test(a_glance_will_do_where_many_instances_fit),
        cmocka_unit_test(what_is_refused_twice_is_not_attempted_again),
        cmocka_unit_test(a_neighbour_is_told),
        cmocka_unit_test(the_place_of_a_loop_does_not_count),
        cmocka_unit_test(beside_neighbours_readings_are_confirmed),
        cmocka_unit_test(what_cannot_be_measured_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
