/* SPDX-License-Identifier: Apache-2.0 */
/* The throughput probe over a scripted meter: it measures nothing and answers from a list, so that
 * what is tested is which answer is taken and what is made of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "isa/decode.h"
#include "isa/table.h"
#include "probe/throughput.h"
#include "tests/near.h"

struct script {
    /* The call `calls` answers its kernels with answers[calls]: `first` for the first half of them, `second`
     * for the rest. */
    struct {
        double first, second;
    } answers[4];
    enum hx_verdict verdict; /* of the kernel at `odd_kernel` in call `odd_call` */
    size_t odd_kernel;
    unsigned odd_call;
    double odd_cycles, odd_high;
    bool odd;
    unsigned calls;
    size_t kernels; /* of the last call */
};

static enum ip_status script_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                     struct hx_stat *stats, struct ip_error *err) {
    struct script *script = self;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        assert_non_null(kernels[i]);
        memset(&stats[i], 0, sizeof stats[i]);
        stats[i].cycles = i < (count + 1) / 2 ? script->answers[script->calls].first
                                              : script->answers[script->calls].second;
        if (script->odd && script->odd_call == script->calls && i == script->odd_kernel) {
            stats[i].cycles = script->odd_cycles;
            stats[i].high = script->odd_high;
            stats[i].verdict = script->verdict;
            strcpy(stats[i].why, script->verdict == HX_VERDICT_OK ? "" : "scripted");
        }
    }
    script->calls++;
    script->kernels = count;
    return IP_OK;
}

static void form_make(struct isa_form *form, const char *syntax) {
    struct ip_error err = {0};
    struct isa_form *list[1] = {form};
    assert_int_equal(isa_form_parse(form, syntax, &err), IP_OK);
    assert_int_equal(isa_forms_derive(list, 1, &err), IP_OK);
    assert_true(form->derived);
}

static struct probe_throughput throughput_by(const struct hx_meter *meter, const char *syntax) {
    struct isa_form form;
    form_make(&form, syntax);
    struct isa_form *forms[1] = {&form};
    struct gen_encoder encoder = {0};
    struct probe_throughput result = {0};
    struct ip_error err = {0};
    assert_int_equal(probe_throughput_measure(meter, &encoder, forms, 1, &result, &err), IP_OK);
    gen_encoder_fini(&encoder);
    return result;
}

static struct probe_throughput throughput_of(struct script *script, const char *syntax) {
    const struct hx_meter meter = {.measure = script_measure, .self = script};
    return throughput_by(&meter, syntax);
}

static void the_minimum_is_taken(void **state) {
    (void)state;
    struct script script = {
        .answers = {{2.3, 2.3}, {2.3, 2.3}}, .odd = true, .odd_call = 1, .odd_kernel = 1, .odd_cycles = 0.7};
    struct probe_throughput result = throughput_of(&script, "vpaddd ymm, ymm, ymm");
    assert_true(result.measured);
    assert_int_equal(result.verdict, HX_VERDICT_OK);
    assert_near(result.cycles, 0.7, 1e-9);
    assert_int_equal(result.registers, 4);
    assert_string_equal(result.how, "4 registers");
    assert_true(script.kernels >= 4);
}

/* A whole number of cycles, or a part as of equal ports, leaves nothing for others to better. */
static void what_two_variants_tell_needs_no_others(void **state) {
    (void)state;
    static const struct {
        double cycles;
        unsigned calls;
    } cases[] = {{1.0, 1},  {0.5, 1},   {0.333, 1}, {0.2, 1},  {1.0 / 6, 1}, {3.0, 1},   {11.03, 1},
                 {0.66, 2}, {0.125, 2}, {0.75, 2},  {1.02, 2}, {2.3, 2},     {24.15, 2}, {0.51, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double cycles = cases[i].cycles;
        struct script script = {.answers = {{cycles, cycles}, {cycles, cycles}}};
        struct probe_throughput result = throughput_of(&script, "vpaddd ymm, ymm, ymm");
        assert_near(result.cycles, cycles, 1e-9);
        assert_int_equal(result.verdict, HX_VERDICT_OK);
        assert_int_equal(script.calls, cases[i].calls);
        assert_int_equal(script.kernels, cases[i].calls == 1 ? 2 : 5);
    }
}

/* Twelve chains of a third of the time of four: with more it may be less than a third of a cycle. */
static void chains_that_still_wait_have_all_tried(void **state) {
    (void)state;
    static const struct {
        double four, twelve;
        unsigned calls;
    } cases[] = {{1.0, 1.0 / 3, 2}, {6.0, 2.0, 2}, {1.0, 0.25, 1}, {1.0, 0.5, 1}, {1.0, 1.0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct script script = {.answers = {{cases[i].four, cases[i].twelve}, {1.0, 1.0}}};
        (void)throughput_of(&script, "vpaddd ymm, ymm, ymm");
        assert_int_equal(script.calls, cases[i].calls);
    }
}

/* Of general registers there are ten or eleven: of 24 instances some have three each, as of eight chains. */
static void chains_of_fewer_registers_have_all_tried(void **state) {
    (void)state;
    struct script script = {.answers = {{0.5, 0.25}, {0.5, 0.25}, {0.5, 0.25}}};
    (void)throughput_of(&script, "vpaddd ymm, ymm, ymm");
    assert_int_equal(script.calls, 1);
    script.calls = 0;
    (void)throughput_of(&script, "movsxd r64, r32");
    assert_true(script.calls > 1);
}

/* A meter by which what has as many instances in a unit is faster. */
static enum ip_status unit_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                   struct hx_stat *stats, struct ip_error *err) {
    const uint32_t *fast = self;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        memset(&stats[i], 0, sizeof stats[i]);
        stats[i].cycles = kernels[i]->forms_per_unit % *fast == 0 ? 0.4 : 0.66;
    }
    return IP_OK;
}

/* With all registers each has as many instances: 20 of ten. */
static void all_registers_have_as_many_instances(void **state) {
    (void)state;
    uint32_t instances = 20;
    const struct hx_meter meter = {.measure = unit_measure, .self = &instances};
    struct probe_throughput result = throughput_by(&meter, "or r64, imm8");
    assert_near(result.cycles, 0.4, 1e-9);
    assert_string_equal(result.how, "all registers");
}

/* As many as there are, not as many as were asked for. */
static void registers_are_told_as_there_are(void **state) {
    (void)state;
    struct script script = {.answers = {{1.2, 1.0}}};
    assert_string_equal(throughput_of(&script, "pabsb mm, mm").how, "7 registers");
}

/* A mask that is only written is the only one in turn, too, given back and not; the others hold no physical
 * registers. */
static void few_masks_are_tried(void **state) {
    (void)state;
    struct script script = {.answers = {{0.58, 0.58}, {0.58, 0.58}}};
    (void)throughput_of(&script, "vpcmpeqb k, ymm, m256");
    assert_int_equal(script.kernels, 7);
    script.calls = 0;
    (void)throughput_of(&script, "kmovd k, m32");
    assert_int_equal(script.kernels, 7);
    script.calls = 0;
    (void)throughput_of(&script, "vpmovm2b xmm, k");
    assert_int_equal(script.kernels, 5);
}

/* One and two masks are given back by an idiom, one is tried without, too, and more are not. */
static void few_masks_are_freed(void **state) {
    (void)state;
    struct script script = {
        .answers = {{0.58, 0.58}, {0.58, 0.58}}, .odd = true, .odd_call = 1, .odd_cycles = 0.5};
    static const char *const HOW[] = {"1 register", "1 register, masks freed", "2 registers, masks freed",
                                      "4 registers"};
    for (size_t i = 0; i < sizeof HOW / sizeof HOW[0]; i++) {
        script.calls = 0;
        script.odd_kernel = i;
        struct probe_throughput result = throughput_of(&script, "vpcmpeqb k, ymm, m256");
        assert_near(result.cycles, 0.5, 1e-9);
        assert_string_equal(result.how, HOW[i]);
    }
    /* What writes none has none to free. */
    script.calls = 0;
    script.odd_kernel = 0;
    assert_string_equal(throughput_of(&script, "vpaddd ymm, ymm, ymm").how, "2 registers");
}

/* Whole numbers over one to four, and a fifth and a sixth: all else some process may tell otherwise. */
static void plain_ratios(void **state) {
    (void)state;
    static const struct {
        double cycles;
        bool plain;
    } cases[] = {{1.0, true},      {7.0, true},   {0.5, true},       {2.5, true},    {2.0 / 3, true},
                 {0.75, true},     {0.2, true},   {1.0 / 6, true},   {0.33, true},   {0.4, false},
                 {0.6, false},     {1.2, false},  {5.0 / 6, false},  {0.125, false}, {0.57, false},
                 {7.0 / 6, false}, {0.38, false}, {0.5 * 1.1, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct probe_throughput measured = {.measured = true, .cycles = cases[i].cycles};
        assert_int_equal(probe_throughput_is_plain(&measured), cases[i].plain);
    }
    assert_false(probe_throughput_is_plain(&(struct probe_throughput){.cycles = 1.0}));
}

/* Four registers take a whole cycle; of twelve there was only a look, and it saw what the script says. */
struct overlooked {
    double look;
    size_t looked;
};

static enum ip_status overlooked_answer(struct overlooked *script, bool look, size_t count,
                                        struct hx_stat *stats) {
    for (size_t i = 0; i < count; i++) {
        stats[i] =
            (struct hx_stat){.cycles = look && script->looked > 0 ? script->look : 1.0, .screened = look};
    }
    script->looked += look ? count : 0;
    return IP_OK;
}

static enum ip_status overlooked_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                         struct hx_stat *stats, struct ip_error *err) {
    (void)kernels, (void)err;
    return overlooked_answer(self, false, count, stats);
}

static enum ip_status overlooked_screen(void *self, const struct gen_kernel *const *kernels, size_t count,
                                        struct hx_stat *stats, struct ip_error *err) {
    (void)kernels, (void)err;
    return overlooked_answer(self, true, count, stats);
}

static void more_registers_that_look_slower_are_looked_at_again(void **state) {
    (void)state;
    static const struct {
        double look;
        size_t looked; /* all five variants, where the second may be spoilt */
    } cases[] = {{1.0, 2}, {1.05, 2}, {1.3, 2 + 5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct overlooked script = {.look = cases[i].look};
        const struct hx_meter meter = {
            .measure = overlooked_measure, .screen = overlooked_screen, .self = &script};
        (void)throughput_by(&meter, "vpaddd ymm, ymm, ymm");
        assert_int_equal(script.looked, cases[i].looked);
    }
}

/* Two lengths of which the longer takes less time tell nothing (`loop rel8` of a Zen 4, -2.6 cycles). */
static void what_takes_less_than_no_time_is_no_throughput(void **state) {
    (void)state;
    struct script script = {.answers = {{-1.8, -1.8}, {-1.8, 0.0}}};
    struct probe_throughput result = throughput_of(&script, "vpaddd ymm, ymm, ymm");
    assert_false(result.measured);
    assert_true(isnan(result.cycles));
    assert_int_equal(result.verdict, HX_VERDICT_UNSTABLE);
    assert_true(result.why[0] != '\0');
    struct script half = {.answers = {{-1.8, -1.8}, {-1.8, 2.3}}};
    result = throughput_of(&half, "vpaddd ymm, ymm, ymm");
    assert_true(result.measured);
    assert_near(result.cycles, 2.3, 1e-9);
    assert_int_equal(result.verdict, HX_VERDICT_OK);
}

static struct probe_throughput throughput_with_unsteady(double cycles, double high) {
    struct script script = {.answers = {{2.3, 2.3}, {2.0, 2.0}},
                            .odd = true,
                            .odd_call = 1,
                            .odd_kernel = 1,
                            .odd_cycles = cycles,
                            .odd_high = high,
                            .verdict = HX_VERDICT_UNSTABLE};
    return throughput_of(&script, "vpaddd ymm, ymm, ymm");
}

static void an_unsteady_minimum_loses_against_a_steady_value(void **state) {
    (void)state;
    struct probe_throughput result = throughput_with_unsteady(1.8, 2.2);
    assert_true(result.measured);
    assert_int_equal(result.verdict, HX_VERDICT_OK);
    assert_near(result.cycles, 2.0, 1e-9);
}

/* Then the steady variant is not what the form can do, and that must not be told as if it were sure. */
static void a_clearly_smaller_unsteady_value_is_reported(void **state) {
    (void)state;
    struct probe_throughput result = throughput_with_unsteady(0.5, 0.6);
    assert_true(result.measured);
    assert_int_equal(result.verdict, HX_VERDICT_UNSTABLE);
    assert_near(result.cycles, 0.5, 1e-9);
}

/* A meter that gives every kernel the same verdict. */
static enum ip_status constant_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                       struct hx_stat *stats, struct ip_error *err) {
    (void)kernels;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        stats[i] = *(const struct hx_stat *)self;
    }
    return IP_OK;
}

/* The first half of the kernels keeps its registers, the second has them broken. */
static enum ip_status half_disturbed_measure(void *self, const struct gen_kernel *const *kernels,
                                             size_t count, struct hx_stat *stats, struct ip_error *err) {
    (void)kernels;
    (void)err;
    size_t spared = *(const size_t *)self;
    for (size_t i = 0; i < count; i++) {
        bool disturbed = i >= count / 2 + spared;
        stats[i] = (struct hx_stat){.cycles = disturbed ? NAN : 1.0,
                                    .verdict = disturbed ? HX_VERDICT_DISTURBED : HX_VERDICT_OK};
    }
    return IP_OK;
}

static void what_was_disturbed_in_one_way_is_marked(void **state) {
    (void)state;
    for (size_t spared = 0; spared < 2; spared++) {
        const struct hx_meter meter = {.measure = half_disturbed_measure, .self = &spared};
        struct probe_throughput result = throughput_by(&meter, "addpd xmm, xmm");
        assert_near(result.cycles, 1.0, 1e-9);
        assert_int_equal(result.verdict, spared == 0 ? HX_VERDICT_DISTURBED : HX_VERDICT_OK);
    }
}

static void what_takes_too_long_for_a_core_is_marked(void **state) {
    (void)state;
    static const struct {
        const char *syntax;
        double cycles;
        enum hx_verdict verdict;
    } cases[] = {{"str r64", 2400.0, HX_VERDICT_UNSTABLE},
                 {"str r64", 120.0, HX_VERDICT_OK},
                 {"movnti m64, r64", 2400.0, HX_VERDICT_UNSTABLE},
                 {"mov m64, r64", 2400.0, HX_VERDICT_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double cycles = cases[i].cycles;
        struct script script = {.answers = {{cycles, cycles}, {cycles, cycles}}};
        struct probe_throughput result = throughput_of(&script, cases[i].syntax);
        assert_int_equal(result.verdict, cases[i].verdict);
        assert_int_equal(result.why[0] != '\0', cases[i].verdict != HX_VERDICT_OK);
    }
}

/* Short loops are not trusted; `longer` ones, of 200 instances and more, may be. */
struct loops {
    struct hx_stat shorter, longer;
    size_t longer_seen;
};

static enum ip_status loops_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                    struct hx_stat *stats, struct ip_error *err) {
    struct loops *loops = self;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        bool longer = kernels[i]->shorter.copies * kernels[i]->forms_per_unit >= 200;
        stats[i] = longer ? loops->longer : loops->shorter;
        loops->longer_seen += longer;
    }
    return IP_OK;
}

static struct probe_throughput in_loops(struct loops *loops) {
    const struct hx_meter meter = {.measure = loops_measure, .self = loops};
    return throughput_by(&meter, "add r64, r64");
}

static void longer_loops_tell_what_short_ones_do_not(void **state) {
    (void)state;
    struct loops loops = {
        .shorter = {.cycles = 0.20, .spread = 0.07, .verdict = HX_VERDICT_UNSTABLE, .why = "too wide"},
        .longer = {.cycles = 0.19, .spread = 0.005, .verdict = HX_VERDICT_OK}};
    struct probe_throughput result = in_loops(&loops);
    assert_int_equal(result.verdict, HX_VERDICT_OK);
    assert_near(result.cycles, 0.19, 1e-9);
    loops.longer = (struct hx_stat){.cycles = 0.18, .spread = 0.2, .verdict = HX_VERDICT_UNSTABLE};
    result = in_loops(&loops); /* they know no better */
    assert_int_equal(result.verdict, HX_VERDICT_UNSTABLE);
    assert_near(result.cycles, 0.20, 1e-9);
    assert_string_equal(result.why, "too wide");
    loops.longer_seen = 0;
    loops.shorter.cycles = 2100; /* a trap, perhaps */
    assert_int_equal(in_loops(&loops).verdict, HX_VERDICT_UNSTABLE);
    loops.shorter = (struct hx_stat){.cycles = 0.25, .spread = 0.004, .verdict = HX_VERDICT_OK};
    assert_near(in_loops(&loops).cycles, 0.25, 1e-9);
    assert_int_equal(loops.longer_seen, 0);
}

static void a_bad_verdict_is_passed_on(void **state) {
    (void)state;
    struct hx_stat stat = {.cycles = 1.5, .spread = 0.4, .verdict = HX_VERDICT_UNSTABLE, .why = "too wide"};
    const struct hx_meter meter = {.measure = constant_measure, .self = &stat};
    struct probe_throughput result = throughput_by(&meter, "imul r64, r64");
    assert_true(result.measured);
    assert_int_equal(result.verdict, HX_VERDICT_UNSTABLE);
    assert_string_equal(result.why, "too wide");

    stat.verdict = HX_VERDICT_FAULT;
    stat.cycles = NAN;
    strcpy(stat.why, "illegal instruction");
    result = throughput_by(&meter, "imul r64, r64");
    assert_false(result.measured);
    assert_true(isnan(result.cycles));
    assert_int_equal(result.verdict, HX_VERDICT_FAULT);
    assert_string_equal(result.why, "illegal instruction");
}

static void forms_that_read_flags_are_tried_with_flags_broken(void **state) {
    (void)state;
    struct script plain = {.answers = {{1.0, 1.0}}}, flags = {.answers = {{1.0, 1.0}}};
    throughput_of(&plain, "vpaddd ymm, ymm, ymm");
    throughput_of(&flags, "adc r64, r64");
    assert_true(flags.kernels > plain.kernels);
}

/* Kernels whose memory differs from their registers have slow operands; `self` says how long they take. */
static enum ip_status slow_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                   struct hx_stat *stats, struct ip_error *err) {
    const double *slow_cycles = self;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        bool slow = kernels[i] != NULL && memcmp(kernels[i]->memory_fill, kernels[i]->vector_fill, 64) != 0;
        double cycles = slow ? *slow_cycles : 4.0;
        stats[i] = (struct hx_stat){.cycles = cycles, .low = cycles, .high = cycles, .batches = 3};
    }
    return IP_OK;
}

static enum ip_status slow_screen(void *self, const struct gen_kernel *const *kernels, size_t count,
                                  struct hx_stat *stats, struct ip_error *err) {
    enum ip_status status = slow_measure(self, kernels, count, stats, err);
    for (size_t i = 0; i < count; i++) {
        stats[i].screened = true;
    }
    return status;
}

static struct probe_throughput slow_throughput_of(const char *syntax, double slow_cycles) {
    struct isa_form form;
    form_make(&form, syntax);
    struct isa_form *forms[1] = {&form};
    struct hx_meter meter = {.measure = slow_measure, .screen = slow_screen, .self = &slow_cycles};
    struct gen_encoder encoder = {0};
    struct probe_throughput result = {0};
    struct ip_error err = {0};
    assert_int_equal(probe_throughput_measure(&meter, &encoder, forms, 1, &result, &err), IP_OK);
    gen_encoder_fini(&encoder);
    return result;
}

static void slow_operands_stand_for_themselves(void **state) {
    (void)state;
    struct probe_throughput divpd = slow_throughput_of("divpd xmm, xmm", 9.0);
    assert_true(divpd.measured);
    assert_near(divpd.cycles, 4.0, 1e-9);
    assert_near(divpd.slow_cycles, 9.0, 1e-9);
    assert_near(slow_throughput_of("vsqrtps ymm, ymm", 9.0).slow_cycles, 9.0, 1e-9);
    assert_true(isnan(slow_throughput_of("addpd xmm, xmm", 9.0).slow_cycles));
    /* Slow ones that look faster are no rivals of the ordinary ones. */
    divpd = slow_throughput_of("divpd xmm, xmm", 3.0);
    assert_true(divpd.measured);
    assert_near(divpd.cycles, 4.0, 1e-9);
}

static void what_a_kernel_chose_is_told(void **state) {
    (void)state;
    struct script repeats = {.answers = {{8.0, 8.0}}}, plain = {.answers = {{1.0, 1.0}}};
    assert_non_null(strstr(throughput_of(&repeats, "rep stosb").how, ", rcx 4"));
    assert_null(strstr(throughput_of(&plain, "stosb").how, "rcx"));
    struct script frees = {.answers = {{1.0, 0.5}}}; /* the second half of the variants are those */
    assert_non_null(strstr(throughput_of(&frees, "fld m32").how, "stack freed"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_minimum_is_taken),
        cmocka_unit_test(longer_loops_tell_what_short_ones_do_not),
        cmocka_unit_test(what_two_variants_tell_needs_no_others),
        cmocka_unit_test(chains_that_still_wait_have_all_tried),
        cmocka_unit_test(chains_of_fewer_registers_have_all_tried),
        cmocka_unit_test(all_registers_have_as_many_instances),
        cmocka_unit_test(registers_are_told_as_there_are),
        cmocka_unit_test(few_masks_are_tried),
        cmocka_unit_test(few_masks_are_freed),
        cmocka_unit_test(plain_ratios),
        cmocka_unit_test(more_registers_that_look_slower_are_looked_at_again),
        cmocka_unit_test(what_takes_less_than_no_time_is_no_throughput),
        cmocka_unit_test(an_unsteady_minimum_loses_against_a_steady_value),
        cmocka_unit_test(a_clearly_smaller_unsteady_value_is_reported),
        cmocka_unit_test(what_was_disturbed_in_one_way_is_marked),
        cmocka_unit_test(what_takes_too_long_for_a_core_is_marked),
        cmocka_unit_test(a_bad_verdict_is_passed_on),
        cmocka_unit_test(forms_that_read_flags_are_tried_with_flags_broken),
        cmocka_unit_test(slow_operands_stand_for_themselves),
        cmocka_unit_test(what_a_kernel_chose_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
