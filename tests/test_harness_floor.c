/* SPDX-License-Identifier: Apache-2.0 */
/* What undisturbed means beside a neighbour who never leaves: the least of many short runs tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <unistd.h>

#include "harness/floor.h"
#include "harness/undisturbed.h"
#include "tests/core_file.h"
#include "tests/near.h"

static void test_what_batches_and_short_runs_say(void **state) {
    (void)state;
    const double six = 1.0 / 6, four = 0.25, three = 1.0 / 3;
    assert_near(hx_undisturbed_settled(HX_SENTINEL_NOPS, 0.1664, 0.1701), 0.1664, 1e-9);
    assert_near(hx_undisturbed_settled(HX_SENTINEL_NOPS, four, 0.1701), six, 1e-9);
    assert_near(hx_undisturbed_settled(HX_SENTINEL_NOPS, NAN, 0.1620), six, 1e-9);
    assert_near(hx_undisturbed_settled(HX_SENTINEL_NOPS, four, NAN), four, 1e-9);
    assert_near(hx_undisturbed_settled(HX_SENTINEL_NOPS, 0.125, 13.0 / 12 / 8), 0.125, 1e-9);
    /* Short runs that are slower, or take what no issue width does, leave nothing known. */
    assert_true(isnan(hx_undisturbed_settled(HX_SENTINEL_NOPS, four, 0.30)));
    assert_true(isnan(hx_undisturbed_settled(HX_SENTINEL_NOPS, NAN, 0.30)));
    assert_near(hx_undisturbed_settled(HX_SENTINEL_LOADS, 0.5, 0.36), three, 1e-9);
    assert_near(hx_undisturbed_settled(HX_SENTINEL_LOADS, NAN, 0.40), three, 1e-9);
    assert_near(hx_undisturbed_settled(HX_SENTINEL_LOADS, 0.335, 0.40), three, 1e-9);
    assert_near(hx_undisturbed_settled(HX_SENTINEL_LOADS, 0.5, 0.51), 0.5, 1e-9);
    assert_true(
        isnan(hx_undisturbed_settled(HX_SENTINEL_LOADS, 0.40, 0.40))); /* this core has other limits */
    assert_near(hx_undisturbed_settled(HX_SENTINEL_FORWARDS, 11.1, 9.0), 11, 1e-9);
}

/* A neighbour beside a simulated core: all that is no chain of adds takes so many times as long, but for one
 * run in so many, and for all of them from some call on. */
struct neighbour {
    const struct hx_timer_ops *inner;
    double times;
    uint32_t calm_every;
    unsigned calls;
};

static struct neighbour neighbour;

static enum ip_status beside_run(struct hx_timer *timer, const struct hx_job *jobs, size_t count,
                                 struct hx_samples *samples, struct ip_error *err) {
    enum ip_status status = neighbour.inner->run(timer, jobs, count, samples, err);
    neighbour.calls++;
    for (size_t i = 0; i < count; i++) {
        for (uint32_t r = 0; r < jobs[i].rounds; r++) {
            if (jobs[i].rounds < neighbour.calm_every || r % neighbour.calm_every != 1) {
                samples[i].sentinel_shorter[r] *= neighbour.times;
                samples[i].sentinel_longer[r] *= neighbour.times * (1.0 + 0.02 * (r % 16));
            }
        }
    }
    return status;
}

/* Six issue slots; the caller closes it. *ops replaces the bench's. */
static void bench_open(struct hx_bench *bench, struct hx_timer_ops *ops) {
    struct core_file file;
    core_file_write(&file,
                    "isaprobe-sim 1\nissue-width 6\nretire-width 6\nrob 256\nload-latency 4\n"
                    "forward-latency 5\nports p0 p1 p2 p3 p4 p5\nload-ports p34\nstore-address-ports p3\n"
                    "store-data-ports p5\nform \"nop *\" ports none\nform \"movups xmm, m128\" ports 1*p34\n"
                    "form \"movups m128, xmm\" ports 1*p3+1*p5\ndefault ports 1*p012 latency 1\n");
    const struct hx_bench_options options = {.timer = file.timer, .cpu = -1};
    struct ip_error err = {0};
    enum ip_status status = hx_bench_open(bench, &options, &err);
    (void)unlink(file.path);
    assert_int_equal(status, IP_OK);
    assert_near(bench->sentinel_cycles, 1.0 / 6, 1e-9);
    *ops = *bench->timer.ops;
    ops->run = beside_run;
    neighbour = (struct neighbour){.inner = bench->timer.ops, .times = 1.5, .calm_every = 50};
    bench->timer.ops = ops;
    bench->watches_memory = true;
    hx_patience_init(&bench->patience, false);
}

static void bench_close(struct hx_bench *bench) {
    bench->timer.ops = neighbour.inner;
    hx_bench_close(bench);
}

/* Where most runs are calm one look will do; else some more, on the least of which the floor stands. */
static void test_the_least_of_many_short_runs(void **state) {
    (void)state;
    struct hx_bench bench;
    struct hx_timer_ops ops;
    struct ip_error err = {0};
    double cycles = NAN;
    bench_open(&bench, &ops);
    assert_int_equal(hx_floor_measure(&bench, HX_SENTINEL_NOPS, &cycles, &err), IP_OK);
    assert_near(cycles, 1.0 / 6, 0.04 / 6);
    assert_true(neighbour.calls > 2);
    neighbour = (struct neighbour){.inner = neighbour.inner, .times = 1.5, .calm_every = 2};
    assert_int_equal(hx_floor_measure(&bench, HX_SENTINEL_NOPS, &cycles, &err), IP_OK);
    assert_near(cycles, 1.0 / 6, 0.04 / 6);
    assert_int_equal(neighbour.calls, 1);
    /* He stays; without patience two looks have to do. */
    neighbour = (struct neighbour){.inner = neighbour.inner, .times = 1.5, .calm_every = UINT32_MAX};
    bench.patience.left_ms = 0;
    assert_int_equal(hx_floor_measure(&bench, HX_SENTINEL_NOPS, &cycles, &err), IP_OK);
    assert_near(cycles, 1.5 / 6, 0.06 / 6);
    assert_int_equal(neighbour.calls, 2);
    bench_close(&bench);
}

/* On an EPYC with other guests on all of its threads long NOPs agreed on four a cycle, and most throughputs
 * that loads bound came out half too long, as `ok`. */
static void test_a_neighbour_who_stays_makes_no_narrower_core(void **state) {
    (void)state;
    struct hx_bench bench;
    struct hx_timer_ops ops;
    struct ip_error err = {0};
    bench_open(&bench, &ops);
    bench.sentinel_suspect = true; /* as it is at first: nothing is known */
    assert_int_equal(hx_bench_recalibrate(&bench, &err), IP_OK);
    assert_false(bench.sentinel_suspect);
    assert_near(bench.sentinel_cycles, 1.0 / 6, 1e-9);
    bench_close(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_batches_and_short_runs_say),
        cmocka_unit_test(test_the_least_of_many_short_runs),
        cmocka_unit_test(test_a_neighbour_who_stays_makes_no_narrower_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
