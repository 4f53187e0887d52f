/* SPDX-License-Identifier: Apache-2.0 */
/* probe/core_session.h - what the experiments of `isaprobe core` share: kernels from lines of text, one batch
 * at a time, and what is learned from them. Internal to probe/. */
#ifndef ISAPROBE_PROBE_CORE_SESSION_H
#define ISAPROBE_PROBE_CORE_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "generator/program.h"
#include "probe/batch.h"
#include "probe/core.h"
#include "probe/core_steps.h"

struct core_session {
    const struct hx_meter *meter;
    struct gen_encoder *encoder;
    struct probe_core *core;    /* what this pass over a group has learned so far */
    struct probe_core *settled; /* what all passes over the groups before it agree on */
    struct probe_core_tally *tally;
    struct probe_batch batch;
    double width; /* issue slots a cycle; NaN until core_width has measured it */
};

/* An empty program with a title; memory and registers 8 to 13 are zero. */
void core_program_init(struct gen_program *program, const char *title, ...) IP_PRINTF(2, 3);
/* Appends the instructions of `text` (separated by ';'), `times` times. */
void core_lines(struct ip_lines *lines, const char *text, unsigned times);
/* Appends the line that `text` is with `name` in the place of its "%s". */
void core_line_named(struct ip_lines *lines, const char *text, const char *name);
/* Every quadword of the data is `value`. */
void core_memory_fill(struct gen_program *program, uint64_t value);
/* Appends `count` NOPs of `bytes` (1 to 15) each. */
void core_nops(struct ip_lines *lines, unsigned bytes, unsigned count);

/* Do NOPs share the slots of others on this core, so that moves are the fillers (harness/filler.h)? */
bool core_nops_ride(const struct core_session *session);
/* Appends `count` instructions that take an issue slot each and nothing else: such NOPs where these do,
 * longer ones where short ones come too slowly. */
void core_fillers(const struct core_session *session, struct ip_lines *lines, unsigned bytes, unsigned count);

/* Adds a kernel to the batch and takes the program over. */
IP_CHECK enum ip_status core_add(struct core_session *session, struct gen_program *program, size_t *slot,
                                 struct ip_error *err);
/* Adds a kernel for each of these units of text (as in core_lines), with the title and its number. */
IP_CHECK enum ip_status core_units_add(struct core_session *session, const char *title,
                                       const char *const *units, unsigned count, size_t *slots,
                                       struct ip_error *err);
/* Measures what was added. The statistics stay until the next core_add. */
IP_CHECK enum ip_status core_run(struct core_session *session, struct ip_error *err);
const struct hx_stat *core_stat(const struct core_session *session, size_t slot);
/* Its cycles when they are to be trusted, else NaN. */
double core_cycles(const struct core_session *session, size_t slot);
/* Is there no number since this CPU does not run the kernel, whatever else goes on? */
bool core_lacks(const struct core_session *session, size_t slot);
/* Measures what was added, and reads the cycles of these kernels. */
IP_CHECK enum ip_status core_run_cycles(struct core_session *session, const size_t *slots, unsigned count,
                                        double *cycles, struct ip_error *err);

/* Records a parameter or fact. With a value that is NaN `how` is the reason why it is not known. */
IP_CHECK enum ip_status core_learn(struct core_session *session, const char *key, double value, double spread,
                                   struct ip_error *err, const char *how, ...) IP_PRINTF(6, 7);
/* A statistic as a parameter, as it is. */
IP_CHECK enum ip_status core_learn_stat(struct core_session *session, const char *key, size_t slot,
                                        struct ip_error *err, const char *how);

/* A family of kernels over a number. */
struct core_sweep {
    /* Writes the kernel for x; its cycles (per form) are y. */
    void (*write)(const void *self, unsigned x, struct gen_program *program);
    const void *self;
    bool wavering; /* points that are unstable count, too: what fits a cache in part comes and goes */
};
/* What came out; points that cannot be trusted are left out. */
struct core_curve {
    struct probe_point points[PROBE_POINTS_MAX];
    size_t count, lost;
    bool lacks; /* some are, since this CPU does not run their kernels */
};
/* Measures the kernels for x = low, low + step ... up to high, at most PROBE_POINTS_MAX. */
IP_CHECK enum ip_status core_sweep_run(struct core_session *session, const struct core_sweep *sweep,
                                       unsigned low, unsigned high, unsigned step, struct core_curve *curve,
                                       struct ip_error *err);

#endif
