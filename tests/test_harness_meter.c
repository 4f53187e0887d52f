/* SPDX-License-Identifier: Apache-2.0 */
/* The statistics from samples to a number or a reason, on a scripted timer whose truth is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "common/random.h"
#include "harness/estimate.h"
#include "harness/meter.h"
#include "harness/passes.h"
#include "harness/stats.h"
#include "tests/near.h"

enum { FORWARDS_CYCLES = 12 }; /* a round through memory, undisturbed */

/* What the scripted timer does in batch number n (from 0). */
struct script {
    double cycles;          /* truth: cycles per copy */
    double overhead_cycles; /* of each call, to be removed by differencing */
    double waking_cycles;   /* of each call of the kernel, which uses vectors, more than of the chain's */
    double ticks_per_cycle; /* of batch 0 */
    double drift;           /* added to it in every batch */
    double noise;           /* relative, uniform */
    double spike_chance;    /* of a sample that is ten times too long */
    int disturbed_batches;  /* so many batches from the first: NOPs and kernel take twice as long */
    int beside_batches;     /* so many batches from the first: NOPs alone take twice as long */
    int moving_batches;     /* so many batches from the first: the clock changes in the middle */
    int slow_short_batches; /* so many batches from the first: the short loop takes a third longer */
    int slow_chain_from, slow_chain_to; /* in these batches the chain takes 8 % longer, and nothing else */
    int restless_batches;    /* so many batches from the first: most runs of the kernel take 5 % longer */
    int slow_memory_batches; /* so many batches from the first: a round through memory takes a cycle more */
    double batch_jitter;     /* relative, uniform: each batch has a truth of its own */
    enum hx_outcome outcome;
    uint32_t passes;
    int slow_from, slow_to; /* in these batches everything of the kernel takes 4 % longer: a slow mode */
    int batch;              /* counts */
    struct ip_random random;
};

static double noisy(struct script *script, double cycles, double ticks_per_cycle) {
    double ticks = (cycles + script->overhead_cycles) * ticks_per_cycle;
    ticks *= 1.0 + script->noise * (2.0 * ip_random_unit(&script->random) - 1.0);
    return ip_random_unit(&script->random) < script->spike_chance ? 10.0 * ticks : ticks;
}

static enum ip_status script_run(struct hx_timer *timer, const struct hx_job *jobs, size_t count,
                                 struct hx_samples *samples, struct ip_error *err) {
    (void)err;
    struct script *script = timer->state;
    for (size_t i = 0; i < count; i++) {
        struct hx_samples *out = &samples[i];
        const struct gen_kernel *kernel = jobs[i].kernel;
        out->outcome = script->outcome;
        (void)snprintf(out->why, sizeof out->why, "%s", hx_outcome_name(script->outcome));
        out->iterations = 40;
        out->reference_iterations = 20;
        out->sentinel_iterations = 30;
        bool disturbed = script->batch < script->disturbed_batches;
        double nop = disturbed || script->batch < script->beside_batches ? 0.5 : 0.25;
        double truth = script->cycles * (disturbed ? 1.5 : 1.0);
        if (kernel->forwards && script->batch < script->slow_memory_batches) {
            nop *= (FORWARDS_CYCLES + 1.0) / FORWARDS_CYCLES;
            truth += 1.0;
        }
        if (script->batch >= script->slow_from && script->batch < script->slow_to) {
            truth *= 1.04;
        }
        truth *= 1.0 + script->batch_jitter * (2.0 * ip_random_unit(&script->random) - 1.0);
        for (uint32_t r = 0; r < jobs[i].rounds; r++) {
            double tpc = script->ticks_per_cycle + script->drift * script->batch;
            if (script->batch < script->moving_batches && r >= jobs[i].rounds / 2) {
                tpc *= 1.25;
            }
            double rest = script->batch < script->restless_batches && r % 4 != 0 ? 1.05 : 1.0;
            double shorter = script->batch < script->slow_short_batches ? 1.33 * truth : truth;
            out->shorter[r] =
                noisy(script, rest * shorter * kernel->shorter.copies * 40 + script->waking_cycles, tpc);
            out->longer[r] =
                noisy(script, rest * truth * kernel->longer.copies * 40 + script->waking_cycles, tpc);
            bool slowed = script->batch >= script->slow_chain_from && script->batch < script->slow_chain_to;
            double link = slowed ? 1.08 : 1.0;
            out->reference_shorter[r] = noisy(script, link * 96.0 * 20, tpc);
            out->reference_longer[r] = noisy(script, link * 192.0 * 20, tpc);
            out->sentinel_shorter[r] = noisy(script, nop * 192 * 30, tpc);
            out->sentinel_longer[r] = noisy(script, nop * 384 * 30, tpc);
        }
    }
    script->batch++;
    return IP_OK;
}

static const struct hx_timer_ops script_ops = {.name = "script", .unit = "ticks", .run = script_run};

static struct script script_default(void) {
    return (struct script){
        .cycles = 3.0, .overhead_cycles = 120.0, .ticks_per_cycle = 0.66, .passes = 1, .random = {7}};
}

static void bench_prepare(struct hx_bench *target, struct script *script) {
    struct hx_bench bench;
    memset(&bench, 0, sizeof bench);
    hx_plan_init(&bench.plan);
    bench.plan.passes = script->passes;
    bench.timer.ops = &script_ops;
    bench.timer.state = script;
    bench.references.chain.shorter.copies = 96;
    bench.references.chain.longer.copies = 192;
    bench.references.chain.forms_per_unit = 1;
    bench.references.sentinels[HX_SENTINEL_NOPS].shorter.copies = 192;
    bench.references.sentinels[HX_SENTINEL_NOPS].longer.copies = 384;
    bench.references.sentinels[HX_SENTINEL_NOPS].forms_per_unit = 1;
    bench.sentinel_cycles = 0.25;
    *target = bench;
}

static struct hx_stat measure_kernel(struct script *script, const struct gen_kernel *kernel) {
    struct hx_bench bench;
    bench_prepare(&bench, script);
    const struct gen_kernel *kernels[1] = {kernel};
    struct hx_meter meter = hx_bench_meter(&bench);
    struct hx_stat stat;
    struct ip_error err;
    assert_int_equal(hx_measure(&meter, kernels, 1, &stat, &err), IP_OK);
    return stat;
}

static struct hx_stat measure(struct script *script, uint32_t forms_per_unit) {
    const struct gen_kernel kernel = {
        .shorter = {.copies = 32}, .longer = {.copies = 64}, .forms_per_unit = forms_per_unit};
    return measure_kernel(script, &kernel);
}

/* A neighbour that takes issue slots leaves a chain alone: one batch more than else must agree. */
static void test_a_chain_beside_a_neighbour_is_believed(void **state) {
    (void)state;
    struct gen_kernel kernel = {.shorter = {.copies = 32},
                                .longer = {.copies = 64},
                                .forms_per_unit = 1,
                                .unit_instructions = 3,
                                .chain = true};
    struct script script = script_default();
    script.beside_batches = 1000;
    struct hx_stat stat = measure_kernel(&script, &kernel);
    struct hx_plan plan;
    hx_plan_init(&plan);
    assert_int_equal(stat.verdict, HX_VERDICT_OK);
    assert_near(stat.cycles, script.cycles, 1e-6);
    assert_int_equal(stat.batches, plan.min_batches + 1);
    /* Batches that are restless or unlike each other are no witnesses. */
    script = script_default();
    script.beside_batches = script.restless_batches = 1000;
    assert_int_equal(measure_kernel(&script, &kernel).verdict, HX_VERDICT_DISTURBED);
    script = script_default();
    script.beside_batches = 1000;
    script.batch_jitter = 0.2;
    assert_int_equal(measure_kernel(&script, &kernel).verdict, HX_VERDICT_DISTURBED);
    /* A chain that needs issue slots is not left alone, nor is what is no chain, or goes through memory. */
    struct gen_kernel others[3] = {kernel, kernel, kernel};
    others[0].unit_instructions = 4;
    others[1].chain = false;
    others[2].forwards = true;
    for (unsigned i = 0; i < 3; i++) {
        script = script_default();
        script.beside_batches = 1000;
        assert_int_equal(measure_kernel(&script, &others[i]).verdict, HX_VERDICT_DISTURBED);
    }
}

/* A chain through memory, with a sentinel that goes through memory, which is thought to take `known` cycles
 * undisturbed. *learned: the same afterwards. `chain`: what a cycle of the chain took, calibrated. */
static struct hx_stat memory_measure(struct script *script, double known, double chain, double *learned) {
    static uint8_t code[1];
    struct hx_bench bench;
    bench_prepare(&bench, script);
    bench.references.sentinels[HX_SENTINEL_FORWARDS] = (struct gen_kernel){
        .shorter = {.bytes = code, .copies = 192 * 0.25 / FORWARDS_CYCLES},
        .longer = {.bytes = code, .copies = 384 * 0.25 / FORWARDS_CYCLES},
        .forms_per_unit = 1,
    };
    bench.beside_cycles[HX_SENTINEL_FORWARDS] = known;
    bench.ticks_least = script->ticks_per_cycle * chain;
    const struct gen_kernel kernel = {.shorter = {.copies = 32},
                                      .longer = {.copies = 64},
                                      .forms_per_unit = 1,
                                      .touches_memory = true,
                                      .forwards = true};
    const struct gen_kernel *kernels[3] = {&kernel, &kernel, &kernel};
    struct hx_meter meter = hx_bench_meter(&bench);
    struct hx_stat stats[3];
    struct ip_error err;
    assert_int_equal(hx_measure(&meter, kernels, 3, stats, &err), IP_OK);
    *learned = bench.beside_cycles[HX_SENTINEL_FORWARDS];
    return stats[0];
}

static void test_chains_through_memory_are_watched(void **state) {
    (void)state;
    struct script script = script_default();
    double learned;
    script.slow_memory_batches = 5;
    struct hx_stat stat = memory_measure(&script, FORWARDS_CYCLES, 1.0, &learned);
    assert_int_equal(stat.verdict, HX_VERDICT_OK);
    assert_near(stat.cycles, script.cycles, 1e-6);
    assert_int_equal(stat.retakes, 5);
    assert_true(learned == FORWARDS_CYCLES);
    script = script_default();
    script.slow_memory_batches = 1000;
    assert_int_equal(memory_measure(&script, FORWARDS_CYCLES, 1.0, &learned).verdict, HX_VERDICT_DISTURBED);
    assert_true(learned == FORWARDS_CYCLES);
}

/* Calibrated at a bad moment: what is shorter is undisturbed all the same, and what that takes is learned. */
static void test_undisturbed_memory_is_learned(void **state) {
    (void)state;
    struct script script = script_default();
    double learned;
    struct hx_stat stat = memory_measure(&script, FORWARDS_CYCLES + 1, 1.0, &learned);
    assert_int_equal(stat.verdict, HX_VERDICT_OK);
    assert_near(stat.cycles, script.cycles, 1e-6);
    assert_near(learned, FORWARDS_CYCLES, 1e-6);
    /* Beside a chain that takes a tenth longer than calibrated nothing is learned. */
    script = script_default();
    (void)memory_measure(&script, FORWARDS_CYCLES + 1, 0.9, &learned);
    assert_near(learned, FORWARDS_CYCLES + 1, 1e-6);
}

/* A timer that holds kernels: each job must name the place of its kernel among those. */
struct holder {
    struct script script;
    const struct gen_kernel *held[4];
    size_t count, holds, releases, jobs;
};

static enum ip_status holder_hold(struct hx_timer *timer, const struct gen_kernel *const *kernels,
                                  size_t count, uint32_t rounds_max, struct ip_error *err) {
    (void)rounds_max;
    (void)err;
    struct holder *holder = timer->state;
    assert_within(count, 1, 4);
    memcpy(holder->held, kernels, count * sizeof(const struct gen_kernel *));
    holder->count = count;
    holder->holds++;
    return IP_OK;
}

static void holder_release(struct hx_timer *timer) {
    struct holder *holder = timer->state;
    holder->count = 0;
    holder->releases++;
}

static enum ip_status holder_run(struct hx_timer *timer, const struct hx_job *jobs, size_t count,
                                 struct hx_samples *samples, struct ip_error *err) {
    struct holder *holder = timer->state;
    holder->jobs += count;
    for (size_t i = 0; i < count && holder->count > 0; i++) {
        assert_within(jobs[i].held, 0, holder->count - 1);
        assert_ptr_equal(jobs[i].kernel, holder->held[jobs[i].held]);
    }
    return script_run(timer, jobs, count, samples, err); /* the script is the holder's first member */
}

static double an_hour(const void *self) {
    (void)self;
    return 3600;
}

/* However many stand before it: else nobody who measures through them ever stops. */
static void test_a_meter_before_another_has_its_seconds(void **state) {
    (void)state;
    const struct hx_meter clock = {.seconds = an_hour}, none = {0};
    const struct hx_meter one = hx_meter_before(&clock, NULL), two = hx_meter_before(&one, NULL);
    assert_true(hx_seconds(&two) == 3600);
    assert_true(hx_seconds(&none) == 0);
    const struct hx_meter before_none = hx_meter_before(&none, NULL);
    assert_true(hx_seconds(&before_none) == 0);
}

static void test_kernels_are_held_once(void **state) {
    (void)state;
    static const struct hx_timer_ops ops = {
        .name = "holder", .unit = "ticks", .run = holder_run, .hold = holder_hold, .release = holder_release};
    struct holder holder = {.script = script_default()};
    struct hx_bench bench;
    bench_prepare(&bench, &holder.script);
    hx_plan_quicken(&bench.plan, true);
    bench.timer.ops = &ops;
    struct gen_kernel kernels[3];
    for (size_t i = 0; i < 3; i++) {
        kernels[i] =
            (struct gen_kernel){.shorter = {.copies = 32}, .longer = {.copies = 64}, .forms_per_unit = 1};
    }
    const struct gen_kernel *const all[4] = {&kernels[2], NULL, &kernels[0], &kernels[1]};
    const struct gen_kernel *const some[2] = {&kernels[1], &kernels[2]};
    const struct hx_meter meter = hx_bench_meter(&bench);
    struct hx_stat stats[4];
    struct ip_error err;
    assert_int_equal(hx_hold(&meter, all, 4, &err), IP_OK);
    assert_int_equal(hx_screen(&meter, some, 2, stats, &err), IP_OK);
    assert_int_equal(holder.jobs, 2);
    assert_int_equal(hx_measure(&meter, all, 4, stats, &err), IP_OK);
    assert_int_equal(holder.jobs, 2 + 4);                 /* a calm look is the first of two batches */
    assert_int_equal(stats[1].verdict, HX_VERDICT_FAULT); /* no kernel */
    assert_near(stats[3].cycles, 3.0, 1e-9);
    assert_int_equal(hx_measure(&meter, some, 2, stats, &err), IP_OK);
    assert_int_equal(holder.holds, 1);
    assert_int_equal(holder.releases, 0);
    hx_release(&meter);
    assert_int_equal(holder.releases, 1);
    /* On its own a call holds what it needs. */
    assert_int_equal(hx_measure(&meter, some, 2, stats, &err), IP_OK);
    assert_int_equal(holder.holds, 2);
    assert_int_equal(holder.releases, 2);
}

/* A call that takes as much longer as waking the vector units can, or less, is no doubt; more is. */
static void test_waking_vectors_is_no_doubt(void **state) {
    (void)state;
    static const double waking[] = {0.0, 100.0, 230.0, 600.0};
    for (size_t i = 0; i < 4; i++) {
        struct script script = script_default();
        script.waking_cycles = waking[i];
        struct hx_bench bench;
        bench_prepare(&bench, &script);
        bench.references.call_cycles[HX_CALL_VECTOR] = 230.0;
        struct gen_kernel kernel = {
            .shorter = {.copies = 32}, .longer = {.copies = 64}, .forms_per_unit = 1, .wakes_vectors = true};
        const struct gen_kernel *kernels[1] = {&kernel};
        const struct hx_meter meter = hx_bench_meter(&bench);
        struct hx_stat stat;
        struct ip_error err;
        assert_int_equal(hx_measure(&meter, kernels, 1, &stat, &err), IP_OK);
        assert_near(stat.cycles, 3.0, 1e-9);
        assert_true(waking[i] <= 230.0 ? stat.spread < 1e-9 : stat.spread > 0.02);
    }
}

static void test_quiet_machine_gives_the_truth(void **state) {
    (void)state;
    struct script script = script_default();
    struct hx_stat stat = measure(&script, 1);
    assert_int_equal(stat.verdict, HX_VERDICT_OK);
    assert_near(stat.cycles, 3.0, 1e-9);
    assert_near(stat.spread, 0.0, 1e-9);
    assert_near(stat.ticks_per_cycle, 0.66, 1e-9);
    assert_near(stat.sentinel_cycles, 0.25, 1e-9);
    assert_int_equal(stat.batches, 3);
    assert_int_equal(stat.retakes, 0);
}

/* One pass of three falls into a slow mode: the two that agree count, whichever it was. */
static void test_passes_that_agree_count(void **state) {
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        struct script script = script_default();
        script.passes = 2;
        script.slow_from = 3 * slow;
        script.slow_to = 3 * slow + 3;
        struct hx_stat stat = measure(&script, 1);
        assert_int_equal(stat.verdict, HX_VERDICT_OK);
        assert_near(stat.cycles, 3.0, 1e-9);
        assert_int_equal(stat.batches, 9);
    }
}

/* The luckiest pass is not believed alone. */
static void test_a_fast_pass_that_no_other_confirms_is_left_out(void **state) {
    (void)state;
    struct script script = script_default();
    script.passes = 2;
    script.slow_from = 3;
    script.slow_to = 1000;
    struct hx_stat stat = measure(&script, 1);
    assert_int_equal(stat.verdict, HX_VERDICT_OK);
    assert_near(stat.cycles, 3.12, 1e-9);
}

static void test_passes_that_all_disagree_are_reported(void **state) {
    (void)state;
    struct hx_stat passes[4] = {{.cycles = 3.0, .spread = 0.001},
                                {.cycles = 3.3, .spread = 0.001},
                                {.cycles = 3.6, .spread = 0.001},
                                {.cycles = 3.9, .spread = 0.001}};
    const struct hx_passes all = {.first = passes, .stride = 1, .count = 4};
    struct hx_plan plan;
    struct hx_stat stat;
    hx_plan_init(&plan);
    assert_true(hx_passes_dispute(&all));
    hx_passes_settle(&all, &plan, &stat);
    assert_int_equal(stat.verdict, HX_VERDICT_UNSTABLE);
    assert_near(stat.cycles, 3.0, 1e-9);
    assert_near(stat.spread, 0.1, 1e-9);
    assert_string_equal(stat.why, "unstable: of 4 passes no two agree, the nearest to the least is 10 % off");
    /* Near enough to be trusted, and with its spread. */
    passes[1].cycles = 3.06;
    assert_true(hx_passes_dispute(&all));
    hx_passes_settle(&all, &plan, &stat);
    assert_int_equal(stat.verdict, HX_VERDICT_OK);
    assert_near(stat.spread, 0.02, 1e-9);
    /* One that agrees ends it; an unsteady one says nothing. */
    passes[3].cycles = 3.01;
    assert_false(hx_passes_dispute(&all));
    passes[0].verdict = passes[2].verdict = HX_VERDICT_DISTURBED;
    hx_passes_settle(&all, &plan, &stat);
    assert_near(stat.cycles, 3.01, 1e-9);
}

static void test_forms_per_unit_divides(void **state) {
    (void)state;
    struct script script = script_default();
    assert_near(measure(&script, 4).cycles, 0.75, 1e-9);
}

static void test_drifting_clock_cancels(void **state) {
    (void)state;
    struct script script = script_default();
    script.drift = 0.03; /* 4.5 % a batch */
    struct hx_stat stat = measure(&script, 1);
    assert_int_equal(stat.verdict, HX_VERDICT_OK);
    assert_near(stat.cycles, 3.0, 1e-9);
}

static void test_spikes_do_not_matter(void **state) {
    (void)state;
    struct script script = script_default();
    script.spike_chance = 0.15;
    script.noise = 0.002;
    struct hx_stat stat = measure(&script, 1);
    assert_int_equal(stat.verdict, HX_VERDICT_OK);
    assert_near(stat.cycles, 3.0, 0.03);
    assert_true(stat.spread <= 0.01);
}

static void test_moving_clock_is_retaken(void **state) {
    (void)state;
    struct script script = script_default();
    script.moving_batches = 4;
    struct hx_stat stat = measure(&script, 1);
    assert_int_equal(stat.verdict, HX_VERDICT_OK);
    assert_near(stat.cycles, 3.0, 1e-9);
    assert_int_equal(stat.retakes, 4);
    assert_int_equal(stat.batches, 3);
}

/* Beside a chain that somebody slows all else looks short, for as many batches as are enough. */
static void test_a_slowed_chain_is_no_ruler(void **state) {
    (void)state;
    enum { BEFORE = 40 };
    struct script script = script_default();
    struct hx_bench bench;
    bench_prepare(&bench, &script);
    const struct gen_kernel kernel = {
        .shorter = {.copies = 32}, .longer = {.copies = 64}, .forms_per_unit = 1};
    const struct gen_kernel *kernels[BEFORE];
    struct hx_stat stats[BEFORE];
    struct ip_error err;
    for (int i = 0; i < BEFORE; i++) {
        kernels[i] = &kernel;
    }
    const struct hx_meter meter = hx_bench_meter(&bench);
    assert_int_equal(hx_measure(&meter, kernels, BEFORE, stats, &err), IP_OK);
    script.slow_chain_from = script.batch;
    script.slow_chain_to = script.batch + 3;
    assert_int_equal(hx_measure(&meter, kernels, 1, stats, &err), IP_OK);
    assert_int_equal(stats[0].verdict, HX_VERDICT_OK);
    assert_near(stats[0].cycles, 3.0, 1e-9);
    assert_int_equal(stats[0].retakes, 3);
}

static void test_disturbed_batches_are_retaken(void **state) {
    (void)state;
    struct script script = script_default();
    script.disturbed_batches = 5;
    struct hx_stat stat = measure(&script, 1);
    assert_int_equal(stat.verdict, HX_VERDICT_OK);
    assert_near(stat.cycles, 3.0, 1e-9);
    assert_int_equal(stat.retakes, 5);
}

static void test_a_neighbour_that_stays_is_reported(void **state) {
    (void)state;
    struct script script = script_default();
    script.disturbed_batches = 1000;
    struct hx_stat stat = measure(&script, 1);
    assert_int_equal(stat.verdict, HX_VERDICT_DISTURBED);
    assert_true(isnan(stat.cycles));
    assert_int_equal(stat.retakes, 24);
    assert_string_equal(
        stat.why, "disturbed: 24 of 24 batches were void (another thread on this core, or a moving clock)");
}

static void test_hopeless_noise_is_reported(void **state) {
    (void)state;
    struct script script = script_default();
    script.batch_jitter = 0.6;
    struct hx_stat stat = measure(&script, 1);
    assert_int_equal(stat.verdict, HX_VERDICT_UNSTABLE);
    assert_non_null(strstr(stat.why, "unstable: 24 batches spread over"));
    assert_true(stat.spread > 0.10);
}

static void test_some_noise_keeps_its_spread(void **state) {
    (void)state;
    struct script script = script_default();
    script.batch_jitter = 0.025;
    struct hx_stat stat = measure(&script, 1);
    assert_int_equal(stat.verdict, HX_VERDICT_OK);
    assert_true(stat.spread > 0.006 && stat.spread <= 0.03);
    assert_true(stat.low <= stat.cycles && stat.cycles <= stat.high);
    assert_near(stat.cycles, 3.0, 0.075);
}

/* The short loop alone was slow: the difference would say 2.01 cycles instead of 3. */
static void test_lengths_that_disagree_are_retaken(void **state) {
    (void)state;
    struct script script = script_default();
    script.slow_short_batches = 6;
    struct hx_stat stat = measure(&script, 1);
    assert_int_equal(stat.verdict, HX_VERDICT_OK);
    assert_near(stat.cycles, 3.0, 1e-9);
    assert_int_equal(stat.retakes, 6);
}

/* The NOPs see nothing of it. */
static void test_restless_batches_are_retaken(void **state) {
    (void)state;
    struct script script = script_default();
    script.restless_batches = 2;
    struct hx_stat stat = measure(&script, 1);
    assert_int_equal(stat.verdict, HX_VERDICT_OK);
    assert_int_equal(stat.retakes, 2);
    assert_near(stat.cycles, 3.0, 0.003);
}

/* A kernel of which every batch is restless is what it is. */
static void test_a_restless_kernel_is_believed_after_a_while(void **state) {
    (void)state;
    struct script script = script_default();
    script.restless_batches = 1000;
    struct hx_stat stat = measure(&script, 1);
    assert_int_equal(stat.verdict, HX_VERDICT_OK);
    assert_int_equal(stat.batches, 9);
    assert_true(stat.cycles > 3.0 && stat.cycles < 3.0 * 1.06);
}

static void test_lengths_that_always_disagree_are_reported(void **state) {
    (void)state;
    struct script script = script_default();
    script.slow_short_batches = 1000;
    struct hx_stat stat = measure(&script, 1);
    assert_int_equal(stat.verdict, HX_VERDICT_UNSTABLE);
    assert_true(stat.spread > 0.3);
}

static void test_fault_is_a_fact(void **state) {
    (void)state;
    struct script script = script_default();
    script.outcome = HX_OUTCOME_ILLEGAL;
    struct hx_stat stat = measure(&script, 1);
    assert_int_equal(stat.verdict, HX_VERDICT_FAULT);
    assert_int_equal(stat.outcome, HX_OUTCOME_ILLEGAL);
    assert_string_equal(stat.why, "illegal instruction");
    assert_true(isnan(stat.cycles));
    assert_int_equal(script.batch, 1);
}

static void test_missing_kernel_is_a_fact(void **state) {
    (void)state;
    struct hx_bench bench;
    memset(&bench, 0, sizeof bench);
    hx_plan_init(&bench.plan);
    const struct gen_kernel *kernels[1] = {NULL};
    struct hx_meter meter = hx_bench_meter(&bench);
    struct hx_stat stat;
    struct ip_error err;
    assert_int_equal(hx_measure(&meter, kernels, 1, &stat, &err), IP_OK);
    assert_int_equal(stat.verdict, HX_VERDICT_FAULT);
    assert_string_equal(stat.why, "no kernel");
}

static void test_quantiles(void **state) {
    (void)state;
    double values[] = {4.0, 1.0, 3.0, 2.0};
    assert_near(hx_median(values, 4), 2.5, 1e-12);
    assert_near(hx_quantile(values, 4, 0.0), 1.0, 1e-12);
    assert_near(hx_quantile(values, 4, 0.25), 1.75, 1e-12);
    assert_near(hx_quantile(values, 4, 1.0), 4.0, 1e-12);
    assert_true(isnan(hx_quantile(values, 0, 0.5)));
    assert_near(hx_quantile(values, 1, 0.9), 1.0, 1e-12);
}

/* Random truths, noise, drift: whatever is accepted is right. */
static void test_property_accepted_means_right(void **state) {
    (void)state;
    struct ip_random random = {20240607};
    print_message("seed %u\n", 20240607u);
    for (int i = 0; i < 200; i++) {
        struct script script = script_default();
        script.cycles = 0.1 + 30.0 * ip_random_unit(&random);
        script.noise = 0.004 * ip_random_unit(&random);
        script.spike_chance = 0.1 * ip_random_unit(&random);
        script.drift = 0.02 * ip_random_unit(&random);
        script.disturbed_batches = (int)ip_random_below(&random, 4);
        script.random.state = ip_random_next(&random);
        struct hx_stat stat = measure(&script, 1);
        if (stat.verdict == HX_VERDICT_OK && stat.spread <= 0.01) {
            assert_near(stat.cycles, script.cycles, 0.02 * script.cycles);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_meter_before_another_has_its_seconds),
        cmocka_unit_test(test_kernels_are_held_once),
        cmocka_unit_test(test_waking_vectors_is_no_doubt),
        cmocka_unit_test(test_chains_through_memory_are_watched),
        cmocka_unit_test(test_undisturbed_memory_is_learned),
        cmocka_unit_test(test_quiet_machine_gives_the_truth),
        cmocka_unit_test(test_passes_that_agree_count),
        cmocka_unit_test(test_a_fast_pass_that_no_other_confirms_is_left_out),
        cmocka_unit_test(test_passes_that_all_disagree_are_reported),
        cmocka_unit_test(test_forms_per_unit_divides),
        cmocka_unit_test(test_drifting_clock_cancels),
        cmocka_unit_test(test_spikes_do_not_matter),
        cmocka_unit_test(test_moving_clock_is_retaken),
        cmocka_unit_test(test_a_slowed_chain_is_no_ruler),
        cmocka_unit_test(test_disturbed_batches_are_retaken),
        cmocka_unit_test(test_a_neighbour_that_stays_is_reported),
        cmocka_unit_test(test_a_chain_beside_a_neighbour_is_believed),
        cmocka_unit_test(test_hopeless_noise_is_reported),
        cmocka_unit_test(test_some_noise_keeps_its_spread),
        cmocka_unit_test(test_lengths_that_disagree_are_retaken),
        cmocka_unit_test(test_restless_batches_are_retaken),
        cmocka_unit_test(test_a_restless_kernel_is_believed_after_a_while),
        cmocka_unit_test(test_lengths_that_always_disagree_are_reported),
        cmocka_unit_test(test_fault_is_a_fact),
        cmocka_unit_test(test_missing_kernel_is_a_fact),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_property_accepted_means_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
