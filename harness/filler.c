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
    NOPS_MOST = 2, /* behind each move */
    KERNELS = NOPS_MOST + 1,
    MOVES = 12,
    COPIES = 4,
    BATCHES = 4,
    ROUNDS = 11,
    ATTEMPTS = 3, /* while a neighbour leaves it open */
};

/* A NOP that rides along costs nothing, the one behind it half a move more; a slot of its own costs as much
 * as the move. */
static const double FREE = 1.15;
static const double COSTS = 1.35;

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

/* The least that a move takes in each kernel; infinite where it does not run. */
static enum ip_status moves_measure(struct hx_bench *bench, const struct gen_kernel kernels[KERNELS],
                                    struct hx_samples *samples, double least[KERNELS], struct ip_error *err) {
    struct hx_job jobs[KERNELS * BATCHES];
    for (size_t i = 0; i < KERNELS * BATCHES; i++) {
        jobs[i] = (struct hx_job){.kernel = &kernels[i % KERNELS], .rounds = ROUNDS};
    }
    enum ip_status status = bench->timer.ops->run(&bench->timer, jobs, KERNELS * BATCHES, samples, err);
    if (status == IP_OK && bench->recorder != NULL) {
        status = hx_recorder_add(bench->recorder, jobs, samples, KERNELS * BATCHES, err);
    }
    for (size_t i = 0; i < KERNELS * BATCHES && status == IP_OK; i++) {
        if (samples[i].outcome == HX_OUTCOME_OK) {
            struct hx_estimate estimate =
                hx_estimate_batch(jobs[i].kernel, &bench->references, &samples[i], ROUNDS);
            least[i % KERNELS] = fmin(least[i % KERNELS], estimate.cycles);
        }
    }
    return status;
}

/* Whether the moves fill the issue, and a NOP shares their slots. *clear: it could be told. */
static bool nops_ride(const double least[KERNELS], bool *clear) {
    double one = least[1] / least[0], two = least[2] / least[0];
    bool ride = one <= FREE && two >= COSTS;
    *clear = ride || one >= COSTS || two <= FREE || !isfinite(one) || !isfinite(two);
    return ride;
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
    double least[KERNELS] = {INFINITY, INFINITY, INFINITY};
    bool clear = false;
    enum ip_status status = IP_OK;
    for (int attempt = 0; attempt < ATTEMPTS && !clear && status == IP_OK; attempt++) {
        status = moves_measure(bench, kernels, samples, least, err);
        bench->filler = nops_ride(least, &clear) ? GEN_FILLER_MOVE : GEN_FILLER_NOP;
    }
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
