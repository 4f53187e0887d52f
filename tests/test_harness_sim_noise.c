/* SPDX-License-Identifier: Apache-2.0 */
/* The timer `sim:` as a whole: exact ticks, seeded noise, spikes, drift, the neighbour. */
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

#include "harness/sim.h"

enum { ROUNDS = 400 };

/* add rax, rax (8 or 16 times); sub rdi, 1; jnz; ret */
static uint8_t chain_short[] = "\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0"
                               "\x48\x01\xc0\x48\x01\xc0\x48\x83\xef\x01\x75\xe2\xc3";
static uint8_t chain_long[] = "\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0"
                              "\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0"
                              "\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0\x48\x01\xc0\x48\x83\xef\x01\x75\xca\xc3";
/* nop (16 or 32 times); sub rdi, 1; jnz; ret */
static uint8_t nops_short[] = "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
                              "\x48\x83\xef\x01\x75\xea\xc3";
static uint8_t nops_long[] = "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
                             "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
                             "\x48\x83\xef\x01\x75\xda\xc3";
static uint8_t undefined[] = "\x0f\x0b\x48\x83\xef\x01\x75\xf8\xc3";

#define CODE(array)                                                                                          \
    { .bytes = (array), .length = sizeof(array) - 1, .copies = 1 }
static const struct hx_references references = {
    .chain = {.shorter = CODE(chain_short), .longer = CODE(chain_long), .forms_per_unit = 1},
    .sentinels = {[HX_SENTINEL_NOPS] = {.shorter = CODE(nops_short),
                                        .longer = CODE(nops_long),
                                        .forms_per_unit = 1}},
};
static const struct gen_kernel faulty = {.shorter = CODE(undefined), .longer = CODE(undefined)};

#define BASE                                                                                                 \
    "isaprobe-sim 1\nissue-width 4\nports p0 p1 p5 p6\nform \"add r64, r64\" ports 1*p0156\n"                \
    "form \"sub r64, imm8\" ports 1*p0156\nform \"jnz rel8\" ports 1*p06\nform \"nop\" ports none\n"         \
    "fault \"ud2\" illegal\n"

struct bench {
    struct hx_timer timer;
    struct hx_samples samples;
    double values[HX_SAMPLE_ROWS * ROUNDS];
};

static void bench_open(struct bench *bench, const char *settings) {
    char path[] = "/tmp/isaprobe-sim-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(dprintf(fd, "%s%s", BASE, settings) > 0);
    assert_int_equal(close(fd), 0);
    struct ip_error err;
    memset(bench, 0, sizeof *bench);
    bench->timer = (struct hx_timer){.ops = &hx_timer_sim, .references = &references};
    enum ip_status status = hx_timer_sim.open(&bench->timer, path, &err);
    (void)unlink(path);
    if (status != IP_OK) {
        fail_msg("%s: %s", err.place, err.text);
    }
    hx_samples_place(&bench->samples, bench->values, ROUNDS);
}

static void bench_run(struct bench *bench, const struct gen_kernel *kernel) {
    struct ip_error err;
    struct hx_job job = {.kernel = kernel, .iterations = 100, .rounds = ROUNDS};
    assert_int_equal(hx_timer_sim.run(&bench->timer, &job, 1, &bench->samples, &err), IP_OK);
}

static void quiet_ticks_are_exact(void **state) {
    (void)state;
    struct bench bench;
    struct ip_error err;
    double fixed, per_iteration;
    bench_open(&bench, "ticks-per-cycle 2\noverhead 34\n");
    assert_int_equal(
        hx_sim_exact_cycles(&bench.timer, chain_long, sizeof chain_long - 1, &fixed, &per_iteration, &err),
        IP_OK);
    assert_true(per_iteration == 16);
    bench_run(&bench, &references.chain);
    assert_int_equal(bench.samples.outcome, HX_OUTCOME_OK);
    assert_int_equal(bench.samples.iterations, 100);
    for (int i = 0; i < ROUNDS; i++) {
        assert_true(bench.samples.longer[i] == 2 * (fixed + 1600) + 34);
        assert_true(bench.samples.longer[i] - bench.samples.shorter[i] == 2 * 800);
    }
    /* the references choose their own number of iterations: long runs of about 6000 cycles */
    assert_int_equal(bench.samples.reference_iterations, 375);
    assert_true(bench.samples.sentinel_longer[0] > 11000 && bench.samples.sentinel_longer[0] < 13000);
    hx_timer_sim.close(&bench.timer);
    assert_null(bench.timer.state);
}

static void noise_is_seeded(void **state) {
    (void)state;
    static struct bench first, again, other;
    bench_open(&first, "noise 0.01\nspikes 0.1 500\njitter 9\ndrift walk 0.001 0.1\nseed 1\n");
    bench_open(&again, "noise 0.01\nspikes 0.1 500\njitter 9\ndrift walk 0.001 0.1\nseed 1\n");
    bench_open(&other, "noise 0.01\nspikes 0.1 500\njitter 9\ndrift walk 0.001 0.1\nseed 2\n");
    bench_run(&first, &references.chain);
    bench_run(&again, &references.chain);
    bench_run(&other, &references.chain);
    assert_memory_equal(first.values, again.values, sizeof first.values);
    assert_memory_not_equal(first.values, other.values, sizeof first.values);
    bench_run(&again, &references.chain); /* the same bench goes on: other noise */
    assert_memory_not_equal(first.values, again.values, sizeof first.values);
    hx_timer_sim.close(&first.timer);
    hx_timer_sim.close(&again.timer);
    hx_timer_sim.close(&other.timer);
}

static void noise_has_its_size(void **state) {
    (void)state;
    struct bench bench;
    bench_open(&bench, "noise 0.02\nticks-per-cycle 10\nseed 3\n");
    bench_run(&bench, &references.chain);
    double sum = 0, squares = 0;
    for (int i = 0; i < ROUNDS; i++) {
        sum += bench.samples.longer[i];
        squares += bench.samples.longer[i] * bench.samples.longer[i];
    }
    double mean = sum / ROUNDS, deviation = sqrt(squares / ROUNDS - mean * mean);
    assert_true(fabs(mean / 16000 - 1) < 0.01);
    assert_true(deviation / mean > 0.016 && deviation / mean < 0.024);
    hx_timer_sim.close(&bench.timer);
}

static void spikes_come_at_their_rate(void **state) {
    (void)state;
    struct bench bench;
    bench_open(&bench, "spikes 0.2 100000\nseed 4\n");
    bench_run(&bench, &references.chain);
    int spikes = 0;
    for (int i = 0; i < HX_SAMPLE_ROWS * ROUNDS; i++) {
        spikes += bench.values[i] > 50000;
        assert_true(bench.values[i] < 160000); /* at most 1.5 times the size */
    }
    double expected = 0.2 * HX_SAMPLE_ROWS * ROUNDS;
    assert_true(fabs(spikes - expected) < 4 * sqrt(expected));
    hx_timer_sim.close(&bench.timer);
}

static void clock_drifts(void **state) {
    (void)state;
    static struct bench sine, walk;
    bench_open(&sine, "drift sine 0.1 1200\n");
    bench_run(&sine, &references.chain);
    double low = 1e9, high = 0;
    for (int i = 0; i < ROUNDS; i++) {
        low = fmin(low, sine.samples.longer[i]);
        high = fmax(high, sine.samples.longer[i]);
        /* within a round the clock hardly moves: the ratio to the reference stays */
        double kernel = sine.samples.longer[i] - sine.samples.shorter[i];
        double chain = sine.samples.reference_longer[i] - sine.samples.reference_shorter[i];
        assert_true(fabs(kernel / 800 / (chain / 3000) - 1) < 0.02);
    }
    assert_true(high / low > 1.15 && high / low < 1.25);
    bench_open(&walk, "drift walk 0.01 0.05\nseed 6\n");
    bench_run(&walk, &references.chain);
    for (int i = 0; i < ROUNDS; i++) {
        assert_true(fabs(walk.samples.longer[i] / 1601 - 1) < 0.06); /* the walk keeps to its limit */
    }
    hx_timer_sim.close(&sine.timer);
    hx_timer_sim.close(&walk.timer);
}

static void counter_can_be_coarse(void **state) {
    (void)state;
    struct bench bench;
    bench_open(&bench, "resolution 26\noverhead 7.5\n");
    bench_run(&bench, &references.chain);
    double sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double steps = bench.samples.longer[i] / 26;
        assert_true(steps == floor(steps));
        sum += bench.samples.longer[i];
    }
    assert_true(fabs(sum / ROUNDS - 1608.5) < 4); /* what is lost in one run appears in another */
    hx_timer_sim.close(&bench.timer);
}

static void neighbour_shows_in_the_sentinel(void **state) {
    (void)state;
    struct bench bench;
    /* Six runs a round: rounds 10 to 19 are disturbed. */
    bench_open(&bench, "neighbour window 60 120 0.5\n");
    bench_run(&bench, &references.chain);
    for (int i = 0; i < ROUNDS; i++) {
        bool disturbed = i >= 10 && i < 20;
        double nop = (bench.samples.sentinel_longer[i] - bench.samples.sentinel_shorter[i]) /
                     (16.0 * bench.samples.sentinel_iterations);
        double add = (bench.samples.longer[i] - bench.samples.shorter[i]) / (8.0 * 100);
        assert_true(fabs(nop - (disturbed ? 0.5 : 0.25)) < 0.01);
        assert_true(add == 1); /* a chain does not feel it */
    }
    hx_timer_sim.close(&bench.timer);
}

static void neighbour_comes_at_random(void **state) {
    (void)state;
    struct bench bench;
    bench_open(&bench, "neighbour random 0.01 60 0.5\nseed 8\n");
    bench_run(&bench, &references.chain);
    int disturbed = 0, changes = 0;
    bool before = false;
    for (int i = 0; i < ROUNDS; i++) {
        bool now = bench.samples.sentinel_longer[i] > 1.5 * 6000;
        disturbed += now;
        changes += now != before;
        before = now;
    }
    /* visits of 60 runs, about 100 runs apart */
    assert_true(disturbed > ROUNDS / 5 && disturbed < ROUNDS * 3 / 5);
    assert_true(changes >= 6 && changes <= 2 * ROUNDS / 10);
    hx_timer_sim.close(&bench.timer);
}

static void faults_are_outcomes(void **state) {
    (void)state;
    struct bench bench;
    bench_open(&bench, "");
    bench_run(&bench, &faulty);
    assert_int_equal(bench.samples.outcome, HX_OUTCOME_ILLEGAL);
    assert_non_null(strstr(bench.samples.why, "ud2"));
    bench_run(&bench, &references.chain); /* and the next one runs */
    assert_int_equal(bench.samples.outcome, HX_OUTCOME_OK);
    assert_string_equal(bench.samples.why, "");
    hx_timer_sim.close(&bench.timer);
}

static void open_reports_bad_files(void **state) {
    (void)state;
    struct hx_timer timer = {.ops = &hx_timer_sim};
    struct ip_error err;
    assert_int_equal(hx_timer_sim.open(&timer, "", &err), IP_USAGE);
    assert_int_equal(hx_timer_sim.open(&timer, "/nonexistent.sim", &err), IP_IO);
    assert_null(timer.state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quiet_ticks_are_exact),
        cmocka_unit_test(noise_is_seeded),
        cmocka_unit_test(noise_has_its_size),
        cmocka_unit_test(spikes_come_at_their_rate),
        cmocka_unit_test(clock_drifts),
        cmocka_unit_test(counter_can_be_coarse),
        cmocka_unit_test(neighbour_shows_in_the_sentinel),
        cmocka_unit_test(neighbour_comes_at_random),
        cmocka_unit_test(faults_are_outcomes),
        cmocka_unit_test(open_reports_bad_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
