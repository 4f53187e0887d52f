/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/floor.h"

#include <math.h>
#include <stdlib.h>

#include "harness/estimate.h"
#include "harness/patience.h"
#include "harness/roam.h"
#include "harness/stats.h"

enum { JOBS = 2, ROUNDS = HX_ROUNDS_MAX };
/* A calm look says what the least of those before it says, or less. */
static const double CALM_NEAR = 0.03;
/* Of a run, by which it takes a thousand and more: NOPs are more than one in a cycle. */
static const uint32_t target_cycles[HX_SENTINELS] = {2500, 800, 2500};

enum row { CHAIN_SHORTER, CHAIN_LONGER, SENTINEL_SHORTER, SENTINEL_LONGER };

/* The least of a row's samples and their lower quartile. */
struct low {
    double least, quartile;
};

static struct low low_of(const struct hx_samples *samples, enum row row) {
    double values[JOBS * ROUNDS];
    size_t count = 0;
    for (size_t i = 0; i < JOBS; i++) {
        const double *const rows[] = {samples[i].reference_shorter, samples[i].reference_longer,
                                      samples[i].sentinel_shorter, samples[i].sentinel_longer};
        for (size_t k = 0; k < ROUNDS && samples[i].outcome == HX_OUTCOME_OK; k++) {
            values[count++] = rows[row][k];
        }
    }
    hx_sort(values, count);
    return (struct low){hx_quantile(values, count, 0.0), hx_quantile(values, count, 0.25)};
}

/* Was nobody there for a quarter of the runs? */
static bool low_is_calm(const struct hx_bench *bench, struct low low) {
    const double near = 0.02;
    return low.quartile <= low.least * (1.0 + near) + bench->references.clock_step;
}

/* What a look says of the sentinel. */
struct look {
    double cycles; /* NaN: nothing */
    bool calm;
};

static struct look look_read(const struct hx_bench *bench, const struct gen_kernel *sentinel,
                             const struct hx_samples *samples) {
    const struct gen_kernel *chain = &bench->references.chain;
    const struct low chain_shorter = low_of(samples, CHAIN_SHORTER),
                     chain_longer = low_of(samples, CHAIN_LONGER);
    const struct low shorter = low_of(samples, SENTINEL_SHORTER), longer = low_of(samples, SENTINEL_LONGER);
    double links = (double)(chain->longer.copies - chain->shorter.copies) * chain->forms_per_unit *
                   samples->reference_iterations;
    double clock = (chain_longer.least - chain_shorter.least) / links;
    double call = chain_shorter.least - clock * chain->shorter.copies * samples->reference_iterations;
    double forms = (double)sentinel->forms_per_unit * samples->sentinel_iterations * clock;
    /* The longer run alone, its call being as long as the chain's, is never too short. The difference has
     * nothing of what is lost at the end of each pass, but is too small where no shorter run was calm. */
    double alone = (longer.least - call) / (forms * sentinel->longer.copies);
    double apart =
        (longer.least - shorter.least) / (forms * (sentinel->longer.copies - sentinel->shorter.copies));
    const bool calm = low_is_calm(bench, longer);
    double cycles = calm && low_is_calm(bench, shorter) ? fmin(alone, apart) : alone;
    return (struct look){.cycles = cycles > 0.0 && isfinite(cycles) ? cycles : NAN, .calm = calm};
}

enum ip_status hx_floor_measure(struct hx_bench *bench, enum hx_sentinel sentinel, double *cycles,
                                struct ip_error *err) {
    enum { LOOKS_MOST = 8, NAP_AFTER = 2 };
    const struct gen_kernel *kernel =
        sentinel == HX_SENTINEL_NOPS ? &bench->references.chain : &bench->references.sentinels[sentinel];
    struct hx_samples samples[JOBS] = {{0}};
    struct hx_job jobs[JOBS];
    double *values = calloc((size_t)JOBS * HX_SAMPLE_ROWS * ROUNDS, sizeof *values);
    if (values == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %d short runs", JOBS * ROUNDS);
    }
    for (size_t i = 0; i < JOBS; i++) {
        jobs[i] =
            (struct hx_job){.kernel = kernel, .rounds = ROUNDS, .target_cycles = target_cycles[sentinel]};
        hx_samples_place(&samples[i], values + i * HX_SAMPLE_ROWS * ROUNDS, ROUNDS);
    }
    enum ip_status status = IP_OK;
    bool calm = false;
    *cycles = NAN;
    for (size_t looks = 0; looks < LOOKS_MOST && status == IP_OK && !calm; looks++) {
        if (looks >= NAP_AFTER && !hx_patience_wait(&bench->patience)) {
            break;
        }
        status = bench->timer.ops->run(&bench->timer, jobs, JOBS, samples, err);
        if (status == IP_OK) {
            struct look now = look_read(bench, &bench->references.sentinels[sentinel], samples);
            calm = now.calm && !(now.cycles > *cycles * (1.0 + CALM_NEAR));
            *cycles = fmin(*cycles, now.cycles);
        }
        if (!calm) {
            hx_bench_roam(bench);
        }
    }
    free(values);
    return status;
}
