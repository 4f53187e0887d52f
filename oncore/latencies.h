/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/latencies.h - how long each target of an instruction waits for each of its sources. Internal to
 * oncore/. */
#ifndef ISAPROBE_ONCORE_LATENCIES_H
#define ISAPROBE_ONCORE_LATENCIES_H

#include "oncore/block.h"
#include "oncore/cost.h"

/* Which operand stands behind each source and target, while an instruction is read. */
struct core_reading {
    struct core_instruction *to;
    int source_operand[CORE_SOURCES_MAX], target_operand[CORE_TARGETS_MAX];
    bool merges[CORE_SOURCES_MAX]; /* the old value of a register that is written in part */
    bool index[CORE_SOURCES_MAX];
};

/* Fills what the instruction that was read has of latencies: between sources and targets, through its load,
 * to its store; `costs` and `block` say what all loads take. Cycles; -INFINITY: it does not wait. */
void core_latencies_fill(const struct core_costs *costs, const struct core_block *block,
                         const struct core_reading *reading);

/* A latency is a whole number of cycles, but for those that differ from one time to the next. */
float core_cycles_round(float cycles);

#endif
