/* SPDX-License-Identifier: Apache-2.0 */
/* power/cycles_source.h - where the cycles of a loop body come from: a table, a model or a measurement.
 *
 * The energy model needs one number of a block of machine code: core cycles per iteration when it runs in a
 * loop with its data at hand. An in-order table serves (scc_model/p54c.h), so does a measurement on this host
 * (cli/), and so will a model of an out-of-order core. */
#ifndef ISAPROBE_POWER_CYCLES_SOURCE_H
#define ISAPROBE_POWER_CYCLES_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct pw_cycles_source {
    const char *name; /* for messages: "P54C table" */
    int bits;         /* of the code: 32 or 64 */
    /* Of `code` as the body of a loop: a branch to its start may end it, or else the source closes it.
     * IP_UNSUPPORTED: the block holds something that the source knows nothing about; the text names it. */
    enum ip_status (*cycles)(void *self, const uint8_t *code, size_t code_bytes, double *cycles,
                             struct ip_error *err);
    void *self;
};

#endif
