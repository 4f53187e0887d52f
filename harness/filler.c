/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/filler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/shapes.h"
#include "harness/estimate.h"
#include "harness/record.h"

enum { LINES_MOST = 3 };

/* The kernels: what stands in each of a unit's places, and how many places there are. */
static const struct {
    const char *title, *lines[LINES_MOST];
    unsigned places;
} FILLERS[] = {
    {"moves", {GEN_FILLER_MOVE}, 12},
    {"moves, each with a NOP", {GEN_FILLER_MOVE, GEN_FILLER_NOP}, 12},
    {"moves, each with two NOPs", {GEN_FILLER_MOVE, GEN_FILLER_NOP, GEN_FILLER_NOP}, 12},
    {"NOPs", {GEN_FILLER_NOP}, 48},
    {"long NOPs", {GEN_FILLER_LONG_NOP}, 48},
};
enum { ALONE, ONE_NOP, TWO_NOPS, NOPS, LONG_NOPS };

enum {
    KERNELS = sizeof FILLERS / sizeof FILLERS[0],
    COPIES = 4,
    BATCHES = 4,
    ROUNDS = 11,
    VOTES = 3, /* at least, and two thirds of all, as long as the bench has patience */
};

/* A NOP that rides along costs nothing, the one behind it as much as a move; a slot of its own costs as much
 * as the move. */
static const double FREE = 1.15, COSTS = 1.35;
/* A move that takes so long is executed, and its chain is no filler, whatever two issue slots leave of NOPs
 * behind it. */
static const double EXECUTED_CYCLES = 0.9;
/* What short NOPs take for a long one's time, where they come slower than they could issue. */
static const double DENSE = 1.08;
/* Of a batch: where its shorter run was disturbed the difference comes out too small. */
static const double UNREST_MOST = 0.03, GAP_MOST = 0.05;

enum filler { SHORT, LONG, MOVES, CHOICES };
static const char *const TEXTS[CHOICES] = {GEN_FILLER_NOP, GEN_FILLER_LONG_NOP, GEN_FILLER_MOVE};

/* For what batches of all kernels in a row spoke: in a row, because a neighbour may make any of them twice as
 * long. */
struct votes {
    unsigned of[CHOICES];
    double nop_cycles; /* the least; NaN: no batch tells */
    bool runs;         /* all kernels do */
};

/* Moves alone, of one register: where rename does not remove them they are a chain, which hides the NOPs. */
static enum ip_status kernel_build(struct gen_kernel *kernel, struct gen_encoder *encoder, unsigned number,
                                   struct ip_error *err) {
    struct gen_program program;
    gen_program_init(&program);
    (void)snprintf(program.title, sizeof program.title, "filler: %s", FILLERS[number].title);
    program.forms_per_unit = FILLERS[number].places;
    for (unsigned i = 0; i < FILLERS[number].places; i++) {
        for (unsigned n = 0; n < LINES_MOST && FILLERS[number].lines[n] != NULL; n++) {
            ip_lines_add(&program.unit, FILLERS[number].lines[n]);
        }
    }
    enum ip_status status = program.unit.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for a kernel")
                                                : gen_kernel_make(kernel, &program, encoder, COPIES, err);
    gen_program_fini(&program);
    return status;
}

/* Cycles of a place in that kernel; NaN: the batch was disturbed. */
static double place_cycles(const struct hx_bench *bench, const struct gen_kernel *kernel,
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
    if (!votes->runs) {
        return;
    }
    double cycles[KERNELS];
    for (size_t i = 0; i < KERNELS; i++) {
        cycles[i] = place_cycles(bench, &kernels[i], &samples[i]);
    }
    votes->nop_cycles = fmin(votes->nop_cycles, cycles[NOPS]); /* of NaN and a number the number */
    double one = cycles[ONE_NOP] / cycles[ALONE], two = cycles[TWO_NOPS] / cycles[ALONE];
    if (cycles[NOPS] > DENSE * cycles[LONG_NOPS]) {
        votes->of[LONG]++; /* whatever moves say, which are as short */
    } else if (cycles[ALONE] >= EXECUTED_CYCLES || (one >= COSTS && isfinite(two)) ||
               (one <= COSTS && two <= FREE)) {
        votes->of[SHORT]++;
    } else if (one <= FREE && two >= COSTS) {
        votes->of[MOVES]++;
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

/* What most spoke for. */
static enum filler foremost(const struct votes *votes) {
    enum filler best = SHORT;
    for (enum filler f = LONG; f < CHOICES; f++) {
        best = votes->of[f] > votes->of[best] ? f : best;
    }
    return best;
}

static bool are_plain(const struct votes *votes) {
    unsigned all = votes->of[SHORT] + votes->of[LONG] + votes->of[MOVES], most = votes->of[foremost(votes)];
    return most >= VOTES && most > 2 * (all - most);
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
    struct votes votes = {.runs = true, .nop_cycles = NAN};
    enum ip_status status = batches_run(bench, kernels, samples, &votes, err);
    while (status == IP_OK && votes.runs && !are_plain(&votes) && hx_patience_wait(&bench->patience)) {
        status = batches_run(bench, kernels, samples, &votes, err);
    }
    (void)snprintf(bench->filler, sizeof bench->filler, "%s", TEXTS[foremost(&votes)]);
    bench->nop_cycles = votes.nop_cycles;
    free(values);
    return status;
}

enum ip_status hx_filler_choose(struct hx_bench *bench, struct ip_error *err) {
    struct gen_kernel kernels[KERNELS];
    memset(kernels, 0, sizeof kernels);
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < KERNELS && status == IP_OK; i++) {
        status = kernel_build(&kernels[i], &bench->encoder, i, err);
    }
    status = status == IP_OK ? filler_measure(bench, kernels, err) : status;
    for (unsigned i = 0; i < KERNELS; i++) {
        gen_kernel_fini(&kernels[i]);
    }
    return status;
}
