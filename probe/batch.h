/* SPDX-License-Identifier: Apache-2.0 */
/* probe/batch.h - many experiments at once: programs in, statistics out, with one NASM run and one call of
 * the meter. An experiment that cannot be built (a rejected line) is a recorded fault, not an error. */
#ifndef ISAPROBE_PROBE_BATCH_H
#define ISAPROBE_PROBE_BATCH_H

#include "common/error.h"
#include "generator/kernel.h"
#include "generator/program.h"
#include "harness/meter.h"

/* Which experiments are rivals: of those of one set only the least decides, so that all but the likely
 * winners need no more than a cheap look (hx_screen). Their statistics then have `screened` set. */
struct probe_rival {
    uint32_t set;  /* 0: no rival, measured in any case */
    uint32_t team; /* members of a team tell the same thing, and their median speaks for it; 0: a team of its
                      own */
    double offset; /* in cycles, taken off before rivals are compared */
    double floor;  /* what is then left below this is no result, and comes last */
    bool vetoes;   /* ... and if it is clearly below, nobody of the team has one */
    bool whole;    /* what is left should be a whole number of cycles */
    uint32_t anchor; /* so many experiments before this one stands one that is no rival and may tell the same
                        as the set: where the least look does, no rival is measured; 0: there is none */
};

struct probe_batch {
    struct gen_program *programs; /* owned; emptied once their kernels are built */
    struct probe_rival *rivals;   /* owned; of each program */
    struct hx_stat *stats;        /* owned; of the first `measured` */
    size_t count, capacity, measured;
    unsigned retries; /* what came out unstable or disturbed is measured so many times more: noise comes and
                         goes */
    double retry_seconds; /* ... and, on the silicon, for so long at least, but for what is unstable each time
                           */
    bool whole;           /* measured again is also what took no whole number of cycles; the nearest counts */
    unsigned between_retries; /* measured so many times more, at most, is what is no rival and took four
                                 cycles or more, and no whole number; the nearest counts */
    unsigned looks; /* more than 0: no measurement, but so many cheap looks (hx_screen) at most, until three
                       of them agree; no rivals, no retries */
};

/* Of two measurements of what should take a whole number of cycles, does the first tell it better? The less
 * does where they are a cycle and more apart (disturbances only lengthen a run), else the one that is nearer
 * to a whole number: a unit that takes 10 or 11 cycles, by the pipe that its uops go to, takes 10.5 now and
 * then. */
bool probe_is_nearer_whole(double cycles, double than);

void probe_batch_fini(struct probe_batch *batch); /* an all-zero batch is fine and empty */

/* Adds an experiment and takes the program over (it is all-zero afterwards, on failure too). *slot is its
 * position in `stats`. */
IP_CHECK enum ip_status probe_batch_add(struct probe_batch *batch, struct gen_program *program, size_t *slot,
                                        struct ip_error *err);

/* Makes the experiment at `slot` a rival of the others of its set; all of them stand together. */
void probe_batch_rival(struct probe_batch *batch, size_t slot, const struct probe_rival *rival);

/* Encodes, builds and measures everything that was added since the last call. */
IP_CHECK enum ip_status probe_batch_measure(struct probe_batch *batch, const struct hx_meter *meter,
                                            struct gen_encoder *encoder, struct ip_error *err);

#endif
