/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/line.h - straight code by its lines of 64 bytes: what a line takes by how many instructions it has,
 * or constants. Internal to oncore/; docs/core.md, "Lines of code". */
#ifndef ISAPROBE_ONCORE_LINE_H
#define ISAPROBE_ONCORE_LINE_H

#include "oncore/block.h"
#include "oncore/cost.h"

/* Fills costs->line_cycles from what the core's facts say ("line 18"), in between by proportion. */
void core_lines_fill(struct core_costs *costs);

/* Cycles in which a pass of the block comes out of its lines: copies of it in a row, or a loop that begins
 * with a line. NaN: it is not known, or no more than what issues. */
double core_lines_bound(const struct core_costs *costs, const struct core_block *block, bool loop);

#endif
