/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/call.h - CALL and RET in a block. Internal to oncore/; docs/oncore.md, "From bytes to costs". */
#ifndef ISAPROBE_ONCORE_CALL_H
#define ISAPROBE_ONCORE_CALL_H

#include "oncore/block.h"

/* Notes which CALLs a RET of the block answers (`answered`, of both), and what each pair takes
 * (`pair_cycles`, of its RET, or of the one of them that is in the block): what the store says of RET, which
 * was measured with the CALL. */
IP_CHECK enum ip_status core_calls_find(struct core_block *block, struct core_costs *costs,
                                        struct ip_error *err);

/* What all pairs of a pass take. */
double core_calls_cycles(const struct core_block *block);

#endif
