/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/line.h - how soon code comes out of what holds it decoded. Internal to oncore/; docs/core.md, "Lines
 * of code". */
#ifndef ISAPROBE_ONCORE_LINE_H
#define ISAPROBE_ONCORE_LINE_H

#include "oncore/block.h"
#include "oncore/cost.h"

/* Cycles in which a pass of the block comes out of its lines of 64 bytes: copies of it in a row, or a loop
 * that begins with a line. NaN: it is not known. */
double core_lines_bound(const struct core_costs *costs, const struct core_block *block, bool loop);

#endif
