/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/simulate.h - a small out-of-order back end: what no single bound shows. Internal to oncore/;
 * docs/oncore.md, "Simulation". */
#ifndef ISAPROBE_ONCORE_SIMULATE_H
#define ISAPROBE_ONCORE_SIMULATE_H

#include "oncore/block.h"
#include "oncore/oncore.h"

/* Cycles of one pass through the block, in the long run; NaN when the issue width is not known. Fills
 * options->timeline, too. */
IP_CHECK enum ip_status core_simulate(const struct core_costs *costs, const struct core_block *block,
                                      const struct core_options *options, double *cycles,
                                      struct ip_error *err);

#endif
