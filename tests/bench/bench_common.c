/* SPDX-License-Identifier: Apache-2.0 */
/* What several sections share. */
#include "common/clock.h"
#include "common/random.h"
#include "tests/bench/bench.h"

void bench_forms_shuffle(struct isa_form **forms, size_t count, size_t sample, uint64_t seed) {
    struct ip_random random = {seed};
    for (size_t i = 0; i < sample; i++) {
        size_t other = i + ip_random_below(&random, count - i);
        struct isa_form *form = forms[i];
        forms[i] = forms[other];
        forms[other] = form;
    }
}

double bench_cpu_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void timed_add(struct bench_timed *timed, double begin, double cpu_begin) {
    timed->seconds += ip_clock_seconds() - begin;
    timed->cpu_seconds += bench_cpu_seconds() - cpu_begin;
}

static enum ip_status timed_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                    struct hx_stat *stats, struct ip_error *err) {
    struct bench_timed *timed = self;
    double begin = ip_clock_seconds(), cpu = bench_cpu_seconds();
    enum ip_status status = hx_measure(timed->inner, kernels, count, stats, err);
    timed_add(timed, begin, cpu);
    timed->kernels += count;
    return status;
}

static enum ip_status timed_screen(void *self, const struct gen_kernel *const *kernels, size_t count,
                                   struct hx_stat *stats, struct ip_error *err) {
    struct bench_timed *timed = self;
    double begin = ip_clock_seconds(), cpu = bench_cpu_seconds();
    enum ip_status status = hx_screen(timed->inner, kernels, count, stats, err);
    timed_add(timed, begin, cpu);
    return status;
}

static enum ip_status timed_hold(void *self, const struct gen_kernel *const *kernels, size_t count,
                                 struct ip_error *err) {
    struct bench_timed *timed = self;
    double begin = ip_clock_seconds(), cpu = bench_cpu_seconds();
    enum ip_status status = hx_hold(timed->inner, kernels, count, err);
    timed_add(timed, begin, cpu);
    return status;
}

static void timed_release(void *self) {
    struct bench_timed *timed = self;
    double begin = ip_clock_seconds(), cpu = bench_cpu_seconds();
    hx_release(timed->inner);
    timed_add(timed, begin, cpu);
}

struct hx_meter bench_timed_meter(struct bench_timed *timed) {
    struct hx_meter meter = hx_meter_before(timed->inner, timed);
    meter.measure = timed_measure;
    meter.screen = timed_screen;
    meter.hold = timed_hold;
    meter.release = timed_release;
    return meter;
}
