/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/move.h - moves of registers that an operation right behind them takes into its own slot. Internal to
 * oncore/; docs/core.md, "Moves before operations". */
#ifndef ISAPROBE_ONCORE_MOVE_H
#define ISAPROBE_ONCORE_MOVE_H

#include "oncore/block.h"

/* Marks such moves (core_instruction.joined), which take no slot then. */
void core_moves_join(struct core_block *block, const struct core_costs *costs);

#endif
