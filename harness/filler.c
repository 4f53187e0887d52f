/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/filler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/shapes.h"
#include "harness/estimate.h"
#include "harness/record.h"

enum {
    KERNELS = 3, /* no NOP behind each move, one, and two */
    MOVES = 12,
    COPIES = 4,
    BATCHES = 4,
    ROUNDS = 11,
    VOTES = 3, /* at least, and two thirds of all, as long as the bench has patience */
};

/* A NOP that rides along costs nothing, the one behind it as much as a move; a slot of its own costs as much
 * as the move. */
static const double FREE = 1.15, COSTS = 1.35;
/* Of a batch: where its shorter run was disturbed the difference comes out too small. */
static const double UNREST_MOST = 0.03, GAP_MOST = 0.05;

/* What batches of all kernels in a row said: in a row, because a neighbour may make any of them twice as
 * long. */
struct votes {
    unsigned rides, costs;
    bool runs; /* all kernels do */
};

/* Moves alone, of one register: where rename does not remove them they are a chain, which hides both NOPs. */
static enum ip_status kernel_build(struct gen_kernel *kernel, struct gen_encoder *encoder, unsigned nops,
                                   struct ip_error *err) {
    struct gen_program program;
    gen_program_init(&program);
    (void)snprintf(program.title, sizeof program.title, "filler: moves, each with %u NOPs", nops);
    program.forms_per_unit = MOVES;
    for (unsigned i = 0; i < MOVES; i++) {
        ip_lines_add(&program.unit, GEN_FILLER_MOVE);
        for (unsigned n = 0; n < nops; n++) {
            ip_lines_add(&program.unit, GEN_FILLER_NOP);
        }
    }
    enum ip_status status = program.unit.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for a kernel")
                                                : gen_kernel_make(kernel, &program, encoder, COPIES, err);
    gen_program_fini(&program);
    return status;
}

/* Cycles of a move in that kernel; NaN: the batch was disturbed. */
static double move_cycles(const struct hx_bench *bench, const struct gen_kernel *kernel,
                          const struct hx_samples *samples) {
    struct hx_estimate estimate = hx_estimate_batch(kernel, &bench->references, samples, ROUNDS);
    bool sound = !estimate.clock_moved && estimate.unrest <= UNREST_MOST && fabs(estimate.gap) <= GAP_MOST;
    return sound ? estimate.cycles : NAN;
}

static void votes_take(struct votes *votes, const struct hx_bench *bench,
                       const struct gen_kernel kernels[KERNELS], const struct hx_samples *samples) {
    for (size_t i = 0; i < KERNELS; i++) {
        votes->runs = votes->runs && samples[i].outcome == HX_OUTCOME_OK;
    }
    if (votes->runs) {
        double none = move_cycles(bench, &kernels[0], &samples[0]);
        double one = move_cycles(bench, &kernels[1], &samples[1]) / none;
        double two = move_cycles(bench, &kernels[2], &samples[2]) / none;
        votes->rides += one <= FREE && two >= COSTS;
        votes->costs += (one >= COSTS && isfinite(two)) || (one <= COSTS && two <= FREE);
    }
}

static enum ip_status batches_run(struct hx_bench *bench, const struct gen_kernel kernels[KERNELS],
                                  struct hx_samples *samples, struct votes *votes, struct ip_error *err) {
    struct hx_job jobs[KERNELS * BATCHES];
    for (size_t i = 0; i < KERNELS * BATCHES; i++) {
        jobs[i] = (struct hx_job){.kernel = &kernels[i % KERNELS], .rounds = ROUNDS};
    }
    enum ip_status status = bench->timer.ops->run(&bench->timer, jobs, KERNELS * BATCHES, samples, err);
    if (status == IP_OK && bench->recorder != NULL) {
        status = hx_recorder_add(bench->recorder, jobs, samples, KERNELS * BATCHES, err);
    }
    for (size_t i = 0; i < BATCHES && status == IP_OK; i++) {
        votes_take(votes, bench, kernels, &samples[i * KERNELS]);
    }
    return status;
}

static bool are_plain(unsigned votes, unsigned against) {
    return votes >= VOTES && votes > 2 * against;
}

static enum ip_status filler_measure(struct hx_bench *bench, const struct gen_kernel kernels[KERNELS],
                                     struct ip_error *err) {
    struct hx_samples samples[KERNELS * BATCHES];
    double *values = calloc((size_t)KERNELS * BATCHES * HX_SAMPLE_ROWS * ROUNDS, sizeof *values);
    if (values == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the calibration");
    }
    memset(samples, 0, sizeof samples);
    for (size_t i = 0; i < KERNELS * BATCHES; i++) {
        hx_samples_place(&samples[i], values + i * HX_SAMPLE_ROWS * ROUNDS, ROUNDS);
    }
    struct votes votes = {.runs = true};
    enum ip_status status = batches_run(bench, kernels, samples, &votes, err);
    while (status == IP_OK && votes.runs && !are_plain(votes.rides, votes.costs) &&
           !are_plain(votes.costs, votes.rides) && hx_patience_wait(&bench->patience)) {
        status = batches_run(bench, kernels, samples, &votes, err);
    }
    bench->filler = votes.rides > votes.costs ? GEN_FILLER_MOVE : GEN_FILLER_NOP;
    free(values);
    return status;
}

enum ip_status hx_filler_choose(struct hx_bench *bench, struct ip_error *err) {
    struct gen_kernel kernels[KERNELS];
    memset(kernels, 0, sizeof kernels);
    enum ip_status status = IP_OK;
    for (unsigned nops = 0; nops < KERNELS && status == IP_OK; nops++) {
        status = kernel_build(&kernels[nops], &bench->encoder, nops, err);
    }
    status = status == IP_OK ? filler_measure(bench, kernels, err) : status;
    for (unsigned nops = 0; nops < KERNELS; nops++) {
        gen_kernel_fini(&kernels[nops]);
    }
    return status;
}
