/* SPDX-License-Identifier: Apache-2.0 */
/* What the sentinels and the chain take when nobody disturbs them: known, learned, calibrated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "generator/shapes.h"
#include "harness/judge.h"
#include "harness/meter.h"
#include "harness/ruler.h"
#include "harness/undisturbed.h"
#include "tests/core_file.h"
#include "tests/near.h"

static void test_what_undisturbed_means(void **state) {
    (void)state;
    assert_near(hx_undisturbed(HX_SENTINEL_NOPS, 0.168), 1.0 / 6, 1e-9);
    assert_true(isnan(hx_undisturbed(HX_SENTINEL_NOPS, 0.18)));
    assert_near(hx_undisturbed(HX_SENTINEL_LOADS, 0.34), 1.0 / 3, 1e-9);
    assert_true(isnan(hx_undisturbed(HX_SENTINEL_LOADS, 0.40)));
    assert_near(hx_undisturbed(HX_SENTINEL_FORWARDS, 11.1), 11, 1e-9);
    assert_true(isnan(hx_undisturbed(HX_SENTINEL_FORWARDS, 11.7)));
    assert_true(isnan(hx_undisturbed(HX_SENTINEL_FORWARDS, NAN)));
}

/* A chain is slowed that takes 5 % more than half of the last readings; if it stays so, it is the clock. */
static void test_a_slowed_chain_is_told(void **state) {
    (void)state;
    struct hx_ruler ruler = {.count = 0};
    for (int i = 0; i < 31; i++) {
        hx_ruler_add(&ruler, 0.70);
        hx_ruler_add(&ruler, 0.0);
        hx_ruler_add(&ruler, NAN);
        assert_false(hx_ruler_is_slowed(&ruler, 1.0)); /* of few readings nothing is known */
    }
    hx_ruler_add(&ruler, 0.70);
    assert_true(hx_ruler_is_slowed(&ruler, 0.74));
    assert_false(hx_ruler_is_slowed(&ruler, 0.73));
    assert_false(hx_ruler_is_slowed(&ruler, 0.60));
    for (int i = 0; i < 2 * HX_RULER_READINGS; i++) {
        hx_ruler_add(&ruler, 0.70);
    }
    int slowed = 0;
    for (int i = 0; i < 2 * HX_RULER_READINGS; i++) {
        slowed += hx_ruler_is_slowed(&ruler, 0.76);
        hx_ruler_add(&ruler, 0.76);
    }
    assert_in_range(slowed, HX_RULER_READINGS / 2, HX_RULER_READINGS / 2 + 32);
    assert_false(hx_ruler_is_slowed(&ruler, 0.76));
}

/* Calibrated as a core of four issues: many batches that see six put it right, single ones do not, nor do
 * those that agree on nothing. */
static void test_many_witnesses_put_it_right(void **state) {
    (void)state;
    struct hx_bench bench;
    memset(&bench, 0, sizeof bench);
    bench.sentinel_cycles = bench.sentinel_calibrated = 0.25;
    for (int i = 0; i < 1000; i++) {
        hx_undisturbed_learn(&bench, HX_SENTINEL_NOPS, i % 3 == 0 ? 0.1667 : 0.25);
    }
    for (int i = 0; i < 1000; i++) {
        hx_undisturbed_learn(&bench, HX_SENTINEL_NOPS, i % 2 == 0 ? 0.1667 : 0.2);
    }
    assert_true(bench.sentinel_cycles == 0.25);
    for (int i = 0; i < 40; i++) {
        hx_undisturbed_learn(&bench, HX_SENTINEL_NOPS, i % 4 == 0 ? 0.31 : 0.168);
    }
    assert_near(bench.sentinel_cycles, 1.0 / 6, 1e-9);
    assert_near(bench.sentinel_calibrated, 1.0 / 6, 1e-9);
}

/* A shorter loop of NOPs that loses a cycle makes the difference small, always alike; the longer one alone
 * knows better. */
static void test_a_slow_shorter_loop_is_no_witness(void **state) {
    (void)state;
    struct hx_bench bench;
    memset(&bench, 0, sizeof bench);
    bench.sentinel_cycles = bench.sentinel_calibrated = 0.125;
    bench.ticks_least = 1.0;
    struct hx_estimate estimate = {
        .ticks_per_cycle = 1.0, .sentinel_cycles = 1.0 / 9, .sentinel_bound = 0.126};
    for (int i = 0; i < 1000; i++) {
        hx_judge_learn(&bench, NULL, &estimate);
    }
    assert_true(bench.sentinel_cycles == 0.125);
    estimate.sentinel_bound = 0.112; /* there is a ninth slot */
    for (int i = 0; i < 100; i++) {
        hx_judge_learn(&bench, NULL, &estimate);
    }
    assert_near(bench.sentinel_cycles, 1.0 / 9, 1e-9);
}

/* Of every `of` batches the last: its longer chain is as short as the shorter. */
struct stuck {
    const struct hx_timer_ops *inner;
    size_t of;
};

static struct stuck stuck;

static enum ip_status stuck_run(struct hx_timer *timer, const struct hx_job *jobs, size_t count,
                                struct hx_samples *samples, struct ip_error *err) {
    enum ip_status status = stuck.inner->run(timer, jobs, count, samples, err);
    for (size_t i = stuck.of - 1; i < count; i += stuck.of) {
        memcpy(samples[i].reference_longer, samples[i].reference_shorter,
               jobs[i].rounds * sizeof *samples[i].reference_longer);
    }
    return status;
}

/* Another process on this CPU spoils some batches of a calibration; where it spoils all, there is no clock.
 */
static void test_a_calibration_survives_batches_without_growth(void **state) {
    (void)state;
    struct ip_error err = {0};
    struct hx_bench bench;
    const struct hx_bench_options options = {.timer = "sim:tests/data/skl.sim", .cpu = -1};
    assert_int_equal(hx_bench_open(&bench, &options, &err), IP_OK);
    struct hx_timer_ops ops = *bench.timer.ops;
    ops.run = stuck_run;
    stuck = (struct stuck){.inner = bench.timer.ops, .of = 3};
    bench.timer.ops = &ops;
    bench.sentinel_suspect = true;
    assert_int_equal(hx_bench_recalibrate(&bench, &err), IP_OK);
    assert_false(bench.sentinel_suspect);
    assert_true(bench.ticks_per_cycle > 0);
    stuck.of = 1;
    bench.sentinel_suspect = true;
    assert_int_equal(hx_bench_recalibrate(&bench, &err), IP_CAPABILITY);
    assert_non_null(strstr(err.text, "does not grow with its length"));
    bench.timer.ops = stuck.inner;
    hx_bench_close(&bench);
}

/* Every chain takes 15 % longer, and nothing else does. */
static enum ip_status slow_run(struct hx_timer *timer, const struct hx_job *jobs, size_t count,
                               struct hx_samples *samples, struct ip_error *err) {
    enum ip_status status = stuck.inner->run(timer, jobs, count, samples, err);
    for (size_t i = 0; i < count; i++) {
        for (uint32_t r = 0; r < jobs[i].rounds; r++) {
            samples[i].reference_shorter[r] *= 1.15;
            samples[i].reference_longer[r] *= 1.15;
        }
    }
    return status;
}

/* A calibration at a bad moment finds a slower chain: beside it a core of six would look like one of seven.
 */
static void test_a_slow_calibration_makes_no_slow_chain_sound(void **state) {
    (void)state;
    struct ip_error err = {0};
    struct hx_bench bench;
    const struct hx_bench_options options = {.timer = "sim:tests/data/skl.sim", .cpu = -1};
    assert_int_equal(hx_bench_open(&bench, &options, &err), IP_OK);
    const double ticks = bench.ticks_per_cycle;
    const struct hx_estimate same = {.ticks_per_cycle = ticks}, slower = {.ticks_per_cycle = 1.15 * ticks};
    struct hx_timer_ops ops = *bench.timer.ops;
    ops.run = slow_run;
    stuck = (struct stuck){.inner = bench.timer.ops};
    bench.timer.ops = &ops;
    bench.sentinel_suspect = true;
    assert_int_equal(hx_bench_recalibrate(&bench, &err), IP_OK);
    assert_near(bench.ticks_per_cycle, 1.15 * ticks, 0.01 * ticks);
    assert_true(hx_chain_is_sound(&bench, &same));
    assert_false(hx_chain_is_sound(&bench, &slower));
    bench.timer.ops = stuck.inner;
    hx_bench_close(&bench);
}

enum { SIX_SHUFFLES_CYCLES = 6 + 5 }; /* and what the core forwards in */

/* What a round through memory with six shuffles takes beyond a whole number of cycles. */
static double six_shuffles_more;

/* Beside a round through memory runs that itself; a simulated CPU runs NOPs beside all. */
static enum ip_status rounds_run(struct hx_timer *timer, const struct hx_job *jobs, size_t count,
                                 struct hx_samples *samples, struct ip_error *err) {
    const unsigned six = 6 + 2;
    enum ip_status status = stuck.inner->run(timer, jobs, count, samples, err);
    for (size_t i = 0; i < count; i++) {
        bool between = jobs[i].kernel->unit_instructions == six;
        double longer = between ? 1 + six_shuffles_more / SIX_SHUFFLES_CYCLES : 1;
        for (uint32_t r = 0; r < jobs[i].rounds && jobs[i].kernel->forwards; r++) {
            samples[i].sentinel_shorter[r] = samples[i].shorter[r] * longer;
            samples[i].sentinel_longer[r] = samples[i].longer[r] * longer;
            samples[i].sentinel_iterations = samples[i].iterations;
        }
    }
    return status;
}

/* A core may need 20 cycles for one round and 21 for the next, whoever is there. Until somebody tried fewer
 * shuffles nothing watched what goes through memory on a Zen 5, or did from some moment of a scan on. */
static void test_a_round_between_two_whole_numbers_is_made_shorter(void **state) {
    (void)state;
    struct ip_error err = {0};
    struct hx_bench bench;
    struct core_file file;
    core_file_write(
        &file, "isaprobe-sim 1\nissue-width 4\nretire-width 4\nrob 224\nload-latency 5\nforward-latency 5\n"
               "ports p0 p1 p2 p3 p4\nload-ports p23\nstore-address-ports p3\nstore-data-ports p4\n"
               "form \"nop *\" ports none\nform \"movups xmm, m128\" ports 1*p23\n"
               "form \"movups m128, xmm\" ports 1*p3+1*p4\ndefault ports 1*p01 latency 1\n");
    const struct hx_bench_options options = {.timer = file.timer, .cpu = -1};
    enum ip_status status = hx_bench_open(&bench, &options, &err);
    (void)unlink(file.path);
    assert_int_equal(status, IP_OK);
    struct hx_timer_ops ops = *bench.timer.ops;
    ops.run = rounds_run;
    stuck = (struct stuck){.inner = bench.timer.ops};
    bench.timer.ops = &ops;
    bench.watches_memory = true;
    hx_patience_init(&bench.patience, false);
    six_shuffles_more = 0;
    assert_int_equal(hx_bench_recalibrate(&bench, &err), IP_OK);
    assert_near(bench.beside_cycles[HX_SENTINEL_FORWARDS], SIX_SHUFFLES_CYCLES, 1e-9);
    bench.beside_cycles[HX_SENTINEL_FORWARDS] = NAN; /* as it is at first */
    six_shuffles_more = 0.5;
    assert_int_equal(hx_bench_recalibrate(&bench, &err), IP_OK);
    assert_near(bench.beside_cycles[HX_SENTINEL_FORWARDS], SIX_SHUFFLES_CYCLES - 1, 1e-9);
    assert_non_null(bench.references.sentinels[HX_SENTINEL_FORWARDS].longer.bytes);
    bench.timer.ops = stuck.inner;
    hx_bench_close(&bench);
}

/* A core on which short NOPs come slower than slots, beside a neighbour who leaves it four: so it looks at
 * first. */
static struct hx_timer alone;

static enum ip_status alone_run(struct hx_timer *timer, const struct hx_job *jobs, size_t count,
                                struct hx_samples *samples, struct ip_error *err) {
    alone.references = timer->references;
    return alone.ops->run(&alone, jobs, count, samples, err);
}

static void short_nops_open(struct hx_timer *timer) {
    static const char core[] =
        "isaprobe-sim 1\nissue-width 8\nretire-width 8\nrob 512\nports p0 p1 p2 p3 p4 p5\n"
        "form \"nop m32\" ports 1*p012345\nform \"nop *\" ports none\n"
        "form \"mov r64, r64\" ports none eliminated latency 0\n"
        "default ports 1*p0123 latency 1\n";
    struct core_file file;
    core_file_write(&file, core);
    struct ip_error err = {0};
    enum ip_status status = hx_timer_open(timer, file.timer, NULL, -1, &err);
    (void)unlink(file.path);
    assert_int_equal(status, IP_OK);
}

static void test_the_filler_is_looked_at_again_when_the_neighbour_has_gone(void **state) {
    (void)state;
    struct ip_error err = {0};
    struct hx_bench bench;
    const struct hx_bench_options options = {.timer = "sim:tests/data/skl.sim", .cpu = -1};
    assert_int_equal(hx_bench_open(&bench, &options, &err), IP_OK);
    const struct hx_meter meter = hx_bench_meter(&bench);
    assert_string_equal(meter.filler, GEN_FILLER_NOP);
    assert_near(bench.sentinel_cycles, 1.0 / 4, 1e-6);
    short_nops_open(&alone);
    const struct hx_timer_ops *beside = bench.timer.ops;
    struct hx_timer_ops ops = *beside;
    ops.run = alone_run;
    ops.on_silicon = true;
    bench.timer.ops = &ops;
    assert_int_equal(hx_bench_recalibrate(&bench, &err), IP_OK);
    assert_string_equal(meter.filler, GEN_FILLER_LONG_NOP);
    assert_near(bench.sentinel_cycles, 1.0 / 8, 1e-6);
    assert_false(bench.sentinel_suspect);
    bench.timer.ops = beside;
    hx_bench_close(&bench);
    hx_timer_close(&alone);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_undisturbed_means),
        cmocka_unit_test(test_a_slowed_chain_is_told),
        cmocka_unit_test(test_many_witnesses_put_it_right),
        cmocka_unit_test(test_a_slow_shorter_loop_is_no_witness),
        cmocka_unit_test(test_a_calibration_survives_batches_without_growth),
        cmocka_unit_test(test_a_slow_calibration_makes_no_slow_chain_sound),
        cmocka_unit_test(test_a_round_between_two_whole_numbers_is_made_shorter),
        cmocka_unit_test(test_the_filler_is_looked_at_again_when_the_neighbour_has_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
