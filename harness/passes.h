/* SPDX-License-Identifier: Apache-2.0 */
/* harness/passes.h - several complete measurements of one kernel, each in processes of its own, to one
 * statistic. */
#ifndef ISAPROBE_HARNESS_PASSES_H
#define ISAPROBE_HARNESS_PASSES_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/meter.h"

/* The passes of one kernel: first[0], first[stride] ... */
struct hx_passes {
    const struct hx_stat *first; /* borrowed */
    size_t stride, count;        /* at least one */
};

/* What the passes say together. Code can run in a slow mode for a whole process (µops bound unluckily, a
 * neighbour in a cache), so the fastest two that agree count, by their mean. Where none do, the fastest, and
 * how far the others are is its spread. */
void hx_passes_settle(const struct hx_passes *passes, const struct hx_plan *plan, struct hx_stat *stat);

/* Is it worth another pass? Two steady values or more of which no two agree. */
bool hx_passes_dispute(const struct hx_passes *passes);

#endif
