/* SPDX-License-Identifier: Apache-2.0 */
/* The latency probe on cores that differ from the simulated one in what some kernels take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "tests/latency_machine.h"

/* What kernels take on another core than the simulated one; NaN: they are never undisturbed. */
struct otherwise {
    struct hx_meter inner;
    double (*cycles)(const struct gen_kernel *kernel, double cycles);
    bool spoils; /* the first time that only longer rounds are measured, they are disturbed */
};

enum { LONGER_LINKS = 7 };

/* Instructions of a round for each of the form under test. */
static uint32_t links_of(const struct gen_kernel *kernel) {
    return kernel->unit_instructions / kernel->forms_per_unit;
}

static double as_simulated(const struct gen_kernel *kernel, double cycles) {
    (void)kernel;
    return cycles;
}

static void otherwise_adjust(struct otherwise *otherwise, const struct gen_kernel *const *kernels,
                             size_t count, struct hx_stat *stats) {
    bool spoils = otherwise->spoils;
    for (size_t i = 0; i < count; i++) {
        stats[i].cycles = kernels[i] != NULL ? otherwise->cycles(kernels[i], stats[i].cycles) : NAN;
        if (stats[i].verdict == HX_VERDICT_OK && isnan(stats[i].cycles)) {
            stats[i].verdict = HX_VERDICT_DISTURBED;
        }
        spoils = spoils && (kernels[i] == NULL || links_of(kernels[i]) >= LONGER_LINKS);
    }
    for (size_t i = 0; i < count && spoils; i++) {
        stats[i].verdict = HX_VERDICT_DISTURBED;
        otherwise->spoils = false;
    }
}

static enum ip_status otherwise_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                        struct hx_stat *stats, struct ip_error *err) {
    struct otherwise *otherwise = self;
    enum ip_status status = hx_measure(&otherwise->inner, kernels, count, stats, err);
    if (status == IP_OK) {
        otherwise_adjust(otherwise, kernels, count, stats);
    }
    return status;
}

static enum ip_status otherwise_screen(void *self, const struct gen_kernel *const *kernels, size_t count,
                                       struct hx_stat *stats, struct ip_error *err) {
    struct otherwise *otherwise = self;
    enum ip_status status = hx_screen(&otherwise->inner, kernels, count, stats, err);
    if (status == IP_OK) {
        otherwise_adjust(otherwise, kernels, count, stats);
    }
    return status;
}

static void measure_on(struct machine *machine, struct otherwise *core, const char *syntax,
                       struct isa_form *form, struct probe_latency *latency) {
    core->inner = machine->meter;
    machine->meter =
        (struct hx_meter){.measure = otherwise_measure, .screen = otherwise_screen, .self = core};
    measure(machine, syntax, form, latency);
    machine->meter = core->inner;
}

static void measure_otherwise(struct machine *machine, double (*cycles)(const struct gen_kernel *, double),
                              const char *syntax, struct isa_form *form, struct probe_latency *latency) {
    struct otherwise core = {.cycles = cycles};
    measure_on(machine, &core, syntax, form, latency);
}

/* On that core the pair's latency is told exactly: so many cycles. */
static void check_core(struct machine *machine, double (*core)(const struct gen_kernel *, double),
                       const char *syntax, const char *src, const char *dst, double cycles) {
    struct isa_form form;
    struct probe_latency latency;
    measure_otherwise(machine, core, syntax, &form, &latency);
    check_exact(&form, &latency, src, dst, cycles);
    probe_latency_fini(&latency);
}

/* A core on which nothing waits for flags of its own kind, neither alone nor behind a CMOV, five extensions
 * and a CMP. */
static double flags_free(const struct gen_kernel *kernel, double cycles) {
    const uint32_t links = links_of(kernel);
    return links == 1 ? 0.5 * cycles : links == 8 ? cycles - 1.0 : cycles;
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

/* A core on which flags come a cycle later to conditional moves than to the carry of the next addition. */
static double flags_late_for_moves(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) == 8 ? cycles + 1.0 : cycles;
}

static void the_form_alone_may_have_its_flags_sooner(void **state) {
    check_core(*state, flags_late_for_moves, "adc r64, r64", "flags", "flags", 1);
}

/* A divider that is a little sooner behind anything else, and takes a whole number of cycles alone. */
static double sooner_behind_others(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) > 1 && cycles > 10 ? cycles - 0.84 : cycles;
}

static void a_whole_number_alone_goes_before_a_part_less(void **state) {
    check_core(*state, sooner_behind_others, "crc32 r64, r64", "op2", "op1", 15);
}

/* Rounds of a few instructions that go in two ways in turn, and take half a cycle more. */
static double in_turn(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) <= 4 && cycles > 8 ? cycles + 0.5 : cycles;
}

/* On that core the form's result comes so many cycles behind the address, as longer rounds of these tell. */
static void check_longer_by(struct machine *machine, struct otherwise core, const char *syntax,
                            const char *delay, double cycles) {
    struct isa_form form;
    struct probe_latency latency;
    measure_on(machine, &core, syntax, &form, &latency);
    for (size_t i = 0; i < latency.count; i++) {
        const struct probe_latency_pair *pair = &latency.pairs[i];
        if (pair->path == PROBE_PATH_ADDRESS) {
            assert_true(pair->measured && pair->upper_bound);
            assert_non_null(strstr(pair->via, delay));
            assert_near(pair->cycles, cycles, 0.05);
        }
    }
    probe_latency_fini(&latency);
}

static void check_longer(struct machine *machine, struct otherwise core, const char *syntax, double cycles) {
    check_longer_by(machine, core, syntax, " x vorps xmm, xmm, xmm + vmovd r32, xmm", cycles);
}

static void a_bound_between_two_whole_numbers_is_tried_in_longer_rounds(void **state) {
    check_longer(*state, (struct otherwise){.cycles = in_turn}, "vpaddd xmm, xmm, m128", 8);
}

static void what_noise_spoils_of_longer_rounds_is_measured_again(void **state) {
    check_longer(*state, (struct otherwise){.cycles = in_turn, .spoils = true}, "vpaddd xmm, xmm, m128", 8);
}

/* The same with a whole cycle more, which noise makes of a part: nothing shows that it is one. */
static double a_cycle_in_turn(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) <= 4 && cycles > 8 ? cycles + 1 : cycles;
}

static void the_bound_of_what_is_merged_is_tried_in_longer_rounds(void **state) {
    check_longer(*state, (struct otherwise){.cycles = a_cycle_in_turn}, "vpaddd xmm{k}, xmm, m128", 8);
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

static void one_register_makes_no_chain_of_the_form_alone_longer(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure_otherwise(*state, a_cycle_sooner, "imul r64, r64", &form, &latency);
    check_exact(&form, &latency, "op1", "op1", 2);
    assert_near(pair_find(&form, &latency, "op1", "op1")->same_register_cycles, 2, 0.05);
    assert_near(pair_find(&form, &latency, "op2", "op1")->same_register_cycles, 3, 0.05);
    probe_latency_fini(&latency);
}

/* A core on which a round of a multiplication and one instruction more, or less, takes half a cycle more. */
static double longer_in_short_rounds(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) <= 2 && cycles > 2.5 ? cycles + 0.5 : cycles;
}

static void where_the_first_chains_say_nothing_the_others_do(void **state) {
    check_core(*state, longer_in_short_rounds, "imul r64, r64", "op2", "op1", 3);
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

/* A core on which comparisons into masks alone seem to take less than they have to: the longer of two loops
 * was the quicker one. */
static double hurried(const struct gen_kernel *kernel, double cycles) {
    bool alone = kernel->unit_instructions == kernel->forms_per_unit;
    return alone && kernel->wakes_vectors && fabs(cycles - 3) < 0.05 ? cycles - 0.1 : cycles;
}

static void a_transfer_takes_no_part_less_than_a_whole_number(void **state) {
    check_core(*state, hurried, "vaddpd xmm{k}, xmm, xmm", "op2", "op1", 6);
}

static unsigned mask_moves(const struct gen_kernel *kernel) {
    static const uint8_t kmovq[] = {0xc4, 0xe1, 0xf8, 0x90}, kmovw[] = {0xc5, 0xf8, 0x90};
    return (in_unit(kernel, kmovq, sizeof kmovq) + in_unit(kernel, kmovw, sizeof kmovw)) /
           kernel->forms_per_unit;
}

/* A core on which moves of masks take one cycle alone, and two as soon as anything stands between them. */
static double unsteady_masks(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) > 1 ? cycles + mask_moves(kernel) : cycles;
}

static void what_takes_longer_beside_others_closes_no_chain(void **state) {
    check_core(*state, unsteady_masks, "vptestmd k{k}, xmm, xmm", "op2", "op1", 3);
}

/* Instructions of 128 bits of packed singles, as VORPS (56) and VADDPS (58), whatever their registers: VEX
 * prefix and opcode. */
static unsigned packed_singles(const struct gen_kernel *kernel, uint8_t opcode) {
    unsigned found = 0;
    for (unsigned vvvv = 0; vvvv < 128; vvvv += 8) {
        for (unsigned r = 0; r < 2; r++) {
            const uint8_t near[] = {0xc5, (uint8_t)(128 * r | vvvv), opcode};
            const uint8_t far[] = {0xc4, r ? 0xc1 : 0x41, (uint8_t)vvvv, opcode};
            found += in_unit(kernel, near, sizeof near) + in_unit(kernel, far, sizeof far);
        }
    }
    return found;
}

/* VPSHUFD and VPERMILPS of 128 bits. */
static unsigned shuffles(const struct gen_kernel *kernel) {
    static const uint8_t high[] = {0xe3, 0xc3, 0x63, 0x43}; /* with R or B, or both */
    unsigned found = 0;
    for (unsigned r = 0; r < 2; r++) {
        const uint8_t vpshufd[] = {0xc5, r ? 0xf9 : 0x79, 0x70}, far[] = {0xc4, r ? 0xc1 : 0x41, 0x79, 0x70};
        found += in_unit(kernel, vpshufd, sizeof vpshufd) + in_unit(kernel, far, sizeof far);
    }
    for (unsigned i = 0; i < sizeof high; i++) {
        const uint8_t vpermilps[] = {0xc4, high[i], 0x79, 0x04};
        found += in_unit(kernel, vpermilps, sizeof vpermilps);
    }
    return found;
}

/* Those and VORPS, in each round. */
static unsigned vector_delays(const struct gen_kernel *kernel) {
    enum { VORPS = 0x56 };
    return (packed_singles(kernel, VORPS) + shuffles(kernel)) / kernel->forms_per_unit;
}

/* A core on which both shuffles are of the integers' side, and what comes from there to floating point, or
 * goes back, is late by a cycle. */
static double shuffles_apart(const struct gen_kernel *kernel, double cycles) {
    enum { VADDPS = 0x58 };
    return packed_singles(kernel, VADDPS) > 0 && shuffles(kernel) > 0 ? cycles + 2 : cycles;
}

static void logic_closes_what_is_late_to_shuffles(void **state) {
    check_core(*state, shuffles_apart, "vaddps xmm, xmm, xmm", "op2", "op1", 4);
    check_core(*state, shuffles_apart, "vaddps xmm, xmm, xmm", "op3", "op1", 4);
}

/* Another on which VORPS is late to integers, and short rounds between two whole numbers; beside a neighbour
 * nothing is told of long ones through shuffles. */
static double logic_apart(const struct gen_kernel *kernel, double cycles) {
    enum { VORPS = 0x56 };
    const double late = packed_singles(kernel, VORPS) > kernel->forms_per_unit ? 1 : 0;
    return links_of(kernel) <= 4 && cycles > 8 ? cycles + 0.2 : cycles + late;
}

static double long_shuffles_unheard(const struct gen_kernel *kernel, double cycles) {
    return shuffles(kernel) > 4 * kernel->forms_per_unit ? NAN : logic_apart(kernel, cycles);
}

static void logic_makes_no_more_of_integers_than_shuffles(void **state) {
    check_longer_by(*state, (struct otherwise){.cycles = logic_apart}, "vpaddd xmm, xmm, m128",
                    "vmovd r32, xmm", 8.2);
    check_longer_by(*state, (struct otherwise){.cycles = long_shuffles_unheard}, "vpaddd xmm, xmm, m128",
                    "vmovd r32, xmm", 8.2);
}

/* The core whose shuffles are apart beside a neighbour who lets nothing through VORPS be told. */
static double logic_unheard(const struct gen_kernel *kernel, double cycles) {
    enum { VORPS = 0x56, VADDPS = 0x58 };
    bool both = packed_singles(kernel, VADDPS) > 0 && packed_singles(kernel, VORPS) > 0;
    return both ? NAN : shuffles_apart(kernel, cycles);
}

/* ... nor what the form takes to itself. */
static double logic_and_form_unheard(const struct gen_kernel *kernel, double cycles) {
    enum { VADDPS = 0x58 };
    return links_of(kernel) == 1 && packed_singles(kernel, VADDPS) > 0 ? NAN : logic_unheard(kernel, cycles);
}

/* A core on which dozens of loads that wait for their data at once get them late: where no NOPs keep rounds
 * through memory apart they take a cycle and a part more. */
static double crowded(const struct gen_kernel *kernel, double cycles) {
    return kernel->forwards && links_of(kernel) < 20 ? cycles + 1.14 : cycles;
}

/* NOPs of a round through memory are heard, and the same round without them is not. */
static double nops_heard(const struct gen_kernel *kernel, double cycles) {
    const unsigned links = links_of(kernel);
    return kernel->forwards && links > 4 && links < 20 ? NAN : crowded(kernel, cycles);
}

/* On that core the pair from `src` by that path is not told: so many of its chains were not heard. */
static void check_disturbed(struct machine *machine, double (*core)(const struct gen_kernel *, double),
                            const char *syntax, enum probe_path path, const char *why) {
    struct isa_form form;
    struct probe_latency latency;
    measure_otherwise(machine, core, syntax, &form, &latency);
    size_t checked = 0;
    for (size_t i = 0; i < latency.count; i++) {
        const struct probe_latency_pair *pair = &latency.pairs[i];
        if (pair->path == path && pair->src == 1) {
            assert_string_equal(pair->why, why);
            assert_int_equal(pair->verdict, HX_VERDICT_DISTURBED);
            checked++;
        }
    }
    assert_true(checked > 0);
    probe_latency_fini(&latency);
}

static void what_was_not_heard_may_be_sooner(void **state) {
    static const char two_of_four[] = "disturbed: 2 of 4 chains were never undisturbed";
    check_disturbed(*state, logic_unheard, "vaddps xmm, xmm, xmm", PROBE_PATH_REGISTER, two_of_four);
    check_disturbed(*state, logic_and_form_unheard, "vaddps xmm, xmm, xmm", PROBE_PATH_REGISTER, two_of_four);
    check_disturbed(*state, nops_heard, "mov r64, m64", PROBE_PATH_CONTENT,
                    "disturbed: 1 of 3 chains were never undisturbed");
}

/* A core on which they take two cycles, but one of them a single one where there are five and more. Rounds of
 * few instructions take half a cycle more. */
static double unsteady_vectors(const struct gen_kernel *kernel, double cycles) {
    const unsigned delays = vector_delays(kernel);
    return in_turn(kernel, cycles) + delays - (delays >= 5);
}

static void what_may_take_less_delays_no_chain(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure_otherwise(*state, unsteady_vectors, "vpaddd xmm, xmm, m128", &form, &latency);
    for (size_t i = 0; i < latency.count; i++) {
        const struct probe_latency_pair *pair = &latency.pairs[i];
        assert_true(pair->path == PROBE_PATH_REGISTER || strstr(pair->via, " x v") == NULL);
        if (pair->path == PROBE_PATH_ADDRESS) {
            assert_string_equal(pair->via, "vmovd r32, xmm");
            assert_near(pair->cycles, 8.5, 0.05);
        }
    }
    probe_latency_fini(&latency);
}

/* What the form takes by such a path, or that it cannot be told, is the same on the simulated core and on
 * another, within noise. */
static void check_same(struct machine *machine, double (*core)(const struct gen_kernel *, double),
                       const char *syntax, enum probe_path path) {
    struct isa_form form, same;
    struct probe_latency latency, other;
    measure_otherwise(machine, as_simulated, syntax, &form, &latency);
    measure_otherwise(machine, core, syntax, &same, &other);
    assert_int_equal(latency.count, other.count);
    size_t checked = 0;
    for (size_t i = 0; i < latency.count; i++) {
        const struct probe_latency_pair *pair = &latency.pairs[i];
        assert_int_equal(other.pairs[i].measured, pair->measured);
        if (pair->path == path && pair->measured) {
            assert_near(other.pairs[i].cycles, pair->cycles, 0.05);
            assert_int_equal(other.pairs[i].upper_bound, pair->upper_bound);
            checked++;
        }
    }
    assert_true(checked > 0);
    probe_latency_fini(&other);
    probe_latency_fini(&latency);
}

static void nops_keep_loads_apart_that_wait_for_stores(void **state) {
    check_same(*state, crowded, "vpaddd xmm, xmm, m128", PROBE_PATH_CONTENT); /* to a register */
    check_same(*state, crowded, "bsf r64, m64", PROBE_PATH_CONTENT);          /* to the flags */
    check_same(*state, crowded, "shl m32, cl", PROBE_PATH_CONTENT); /* to memory, alone and from a register */
}

/* A core on which rounds through memory are whole behind five and seven ORs and NOPs alone (43 and 45 links),
 * or behind six and seven sign extensions and NOPs (45 and 46), and take a part of a cycle more else. */
static double whole_in_few(const struct gen_kernel *kernel, double cycles) {
    const uint32_t links = links_of(kernel);
    return kernel->forwards && links != 43 && links != 45 && links != 46 ? cycles + 0.42 : cycles;
}

static void rounds_through_memory_are_longer_and_have_nops(void **state) {
    check_same(*state, whole_in_few, "vpaddd xmm, xmm, m128", PROBE_PATH_CONTENT);
    check_same(*state, whole_in_few, "vpaddd zmm, zmm, m512", PROBE_PATH_CONTENT);
    check_same(*state, whole_in_few, "bsf r64, m64", PROBE_PATH_CONTENT);
}

/* The same, but what is whole is more than what is not. */
static double more_in_few(const struct gen_kernel *kernel, double cycles) {
    const uint32_t links = links_of(kernel);
    return kernel->forwards && links != 43 && links != 45 ? cycles - 0.4 : cycles;
}

static double content_of(struct machine *machine, double (*core)(const struct gen_kernel *, double),
                         const char *syntax) {
    struct isa_form form;
    struct probe_latency latency;
    double cycles = NAN;
    measure_otherwise(machine, core, syntax, &form, &latency);
    for (size_t i = 0; i < latency.count; i++) {
        const struct probe_latency_pair *pair = &latency.pairs[i];
        cycles = pair->path == PROBE_PATH_CONTENT ? pair->cycles : cycles;
    }
    probe_latency_fini(&latency);
    return cycles;
}

static void a_whole_number_above_is_no_better_of_512_bits(void **state) {
    static const char narrow_form[] = "vpaddd xmm, xmm, m128", wide_form[] = "vpaddd zmm, zmm, m512";
    assert_near(content_of(*state, more_in_few, narrow_form), content_of(*state, as_simulated, narrow_form),
                0.05);
    assert_near(content_of(*state, more_in_few, wide_form), content_of(*state, as_simulated, wide_form) - 0.4,
                0.05);
}

/* A core on which gathers are microcode, and without NOPs come a whole cycle later. */
static double gathers_late(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) < 20 && cycles > 8 ? cycles + 1 : cycles;
}

static void gathers_have_nops_whatever_they_take(void **state) {
    check_same(*state, gathers_late, "vgatherdps xmm{k}, vm32x", PROBE_PATH_INDEX);
    check_same(*state, gathers_late, "vgatherdps xmm{k}, vm32x", PROBE_PATH_ADDRESS);
}

/* A core on which a multiplication and a CMOV take four cycles and a half, whatever they wait for: with two
 * extensions more the round grows by a cycle and a half. */
static double paced_closely(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) == 2 && fabs(cycles - 4) < 0.05 ? cycles + 0.46 : cycles;
}

static void what_grows_by_three_quarters_is_not_shown(void **state) {
    check_core(*state, paced_closely, "imul r64, r64", "op2", "flags", 3);
}

/* A core of three issue slots: nothing that has NOPs takes less. */
static double narrow(const struct gen_kernel *kernel, double cycles) {
    return links_of(kernel) > 20 ? fmax(cycles, links_of(kernel) / 3.0) : cycles;
}

static void what_nops_take_is_no_latency(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure_otherwise(*state, narrow, "bsr r64, m64", &form, &latency);
    bool seen = false;
    for (size_t i = 0; i < latency.count; i++) {
        const struct probe_latency_pair *pair = &latency.pairs[i];
        if (pair->path == PROBE_PATH_CONTENT && form.operands[pair->dst].kind == ISA_OPERAND_FLAGS) {
            assert_false(pair->measured);
            assert_string_equal(pair->why, "the flags do not depend on it");
            seen = true;
        }
    }
    assert_true(seen);
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

/* Is it a chain of a multiplication and transfers? */
static bool is_multiplied(const struct gen_kernel *kernel) {
    static const uint8_t imul[] = {0x0f, 0xaf};
    return links_of(kernel) > 1 && in_unit(kernel, imul, sizeof imul) > 0;
}

/* A core on which nothing passes from an instance to the next, which takes two cycles. */
static double two_a_round(const struct gen_kernel *kernel, double cycles) {
    return is_multiplied(kernel) ? 2 : cycles;
}

static void a_round_shorter_than_its_transfers_is_no_latency(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure_otherwise(*state, two_a_round, "imul r64, r64", &form, &latency);
    const struct probe_latency_pair *pair = pair_find(&form, &latency, "op2", "flags");
    assert_false(pair->measured);
    assert_string_equal(pair->why, "the flags do not depend on it");
    /* Nine extensions in two cycles are no zero latency. */
    pair = pair_find(&form, &latency, "op2", "op1");
    assert_false(pair->measured);
    assert_string_equal(pair->why, "op1 does not depend on it");
    probe_latency_fini(&latency);
}

/* A core on which the form passes its source on at rename, but is done no sooner than after five cycles. */
static double renamed(const struct gen_kernel *kernel, double cycles) {
    return is_multiplied(kernel) ? fmax(links_of(kernel) - 1.0, 5.0) : cycles;
}

static void a_round_of_its_transfers_alone_is_a_latency_of_none(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure_otherwise(*state, renamed, "imul r64, r64", &form, &latency);
    check_exact(&form, &latency, "op2", "op1", 0);
    probe_latency_fini(&latency);
}

/* Is it a round through the slow operand of VADDPD, whose mask a comparison has just made, or did five ORs
 * before? */
static bool has_fresh_mask(const struct gen_kernel *kernel, double cycles) {
    return (links_of(kernel) == 2 && cycles > 8) || links_of(kernel) >= 7;
}

/* A core on which such a mask comes a part of a cycle later, or all of one. */
static double late_masks(const struct gen_kernel *kernel, double cycles) {
    return has_fresh_mask(kernel, cycles) ? cycles + 0.87 : cycles;
}

static double later_masks(const struct gen_kernel *kernel, double cycles) {
    return has_fresh_mask(kernel, cycles) ? cycles + 1 : cycles;
}

static void a_late_mask_is_tried_behind_moves(void **state) {
    check_core(*state, late_masks, "vaddpd xmm{k}, xmm, xmm", "op2", "op1", 6);
    /* A whole number, but later than what goes through the mask. */
    check_core(*state, later_masks, "vaddpd xmm{k}, xmm, xmm", "op2", "op1", 6);
}

/* A core on which flags come 31 cycles later where a shift found zero in CL, but not to the TEST that stands
 * between shifts that chain to themselves. */
static double flags_of_zero_counts(const struct gen_kernel *kernel, double cycles) {
    static const uint8_t clear_ecx[] = {0xb9, 0, 0, 0, 0};
    bool zero =
        memmem(kernel->shorter.bytes, kernel->shorter.loop_offset, clear_ecx, sizeof clear_ecx) != NULL;
    return zero && links_of(kernel) > 2 ? cycles + 31.0 : cycles;
}

static void a_count_of_zero_may_be_slow(void **state) {
    struct isa_form form;
    struct probe_latency latency;
    measure_otherwise(*state, flags_of_zero_counts, "shl r64, cl", &form, &latency);
    assert_near(pair_find(&form, &latency, "op1", "flags")->cycles, 1, 0.01);
    assert_near(pair_find(&form, &latency, "op1", "flags")->slow_cycles, 32, 0.01);
    assert_true(isnan(pair_find(&form, &latency, "op1", "op1")->slow_cycles));
    assert_true(isnan(pair_find(&form, &latency, "op2", "flags")->slow_cycles)); /* it would not stay zero */
    probe_latency_fini(&latency);
    /* Where it is not slow there is no such fact. */
    measure_otherwise(*state, as_simulated, "shl r64, cl", &form, &latency);
    assert_near(pair_find(&form, &latency, "op1", "flags")->cycles, 1, 0.01);
    assert_true(isnan(pair_find(&form, &latency, "op1", "flags")->slow_cycles));
    probe_latency_fini(&latency);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_a_cycle_alone_is_no_latency_of_flags_either),
        cmocka_unit_test(a_whole_number_alone_goes_before_a_part_less),
        cmocka_unit_test(a_bound_between_two_whole_numbers_is_tried_in_longer_rounds),
        cmocka_unit_test(what_noise_spoils_of_longer_rounds_is_measured_again),
        cmocka_unit_test(the_bound_of_what_is_merged_is_tried_in_longer_rounds),
        cmocka_unit_test(a_whole_number_far_above_does_not_count),
        cmocka_unit_test(an_exact_latency_is_the_whole_number_below),
        cmocka_unit_test(a_chain_that_is_a_cycle_shorter_tells_something_else),
        cmocka_unit_test(a_look_that_is_longer_than_the_chain_alone_is_believed),
        cmocka_unit_test(one_register_makes_no_chain_of_the_form_alone_longer),
        cmocka_unit_test(where_the_first_chains_say_nothing_the_others_do),
        cmocka_unit_test(transfers_that_wait_for_themselves_make_nothing_shorter),
        cmocka_unit_test(a_transfer_takes_no_part_less_than_a_whole_number),
        cmocka_unit_test(what_takes_longer_beside_others_closes_no_chain),
        cmocka_unit_test(logic_closes_what_is_late_to_shuffles),
        cmocka_unit_test(logic_makes_no_more_of_integers_than_shuffles),
        cmocka_unit_test(what_was_not_heard_may_be_sooner),
        cmocka_unit_test(what_may_take_less_delays_no_chain),
        cmocka_unit_test(nops_keep_loads_apart_that_wait_for_stores),
        cmocka_unit_test(rounds_through_memory_are_longer_and_have_nops),
        cmocka_unit_test(a_whole_number_above_is_no_better_of_512_bits),
        cmocka_unit_test(gathers_have_nops_whatever_they_take),
        cmocka_unit_test(what_grows_by_three_quarters_is_not_shown),
        cmocka_unit_test(what_nops_take_is_no_latency),
        cmocka_unit_test(what_is_merged_into_was_just_written),
        cmocka_unit_test(a_round_shorter_than_its_transfers_is_no_latency),
        cmocka_unit_test(a_round_of_its_transfers_alone_is_a_latency_of_none),
        cmocka_unit_test(the_form_alone_may_have_its_flags_sooner),
        cmocka_unit_test(a_late_mask_is_tried_behind_moves),
        cmocka_unit_test(a_count_of_zero_may_be_slow),
    };
    return cmocka_run_group_tests(tests, machine_setup, machine_teardown);
}
