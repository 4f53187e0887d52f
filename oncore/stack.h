/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/stack.h - the stack pointer in a block. Internal to oncore/; docs/oncore.md, "From bytes to costs".
 */
#ifndef ISAPROBE_ONCORE_STACK_H
#define ISAPROBE_ONCORE_STACK_H

#include "oncore/block.h"

/* What names RSP after PUSH, POP or their like moved it: `syncs`, and the slot that this takes. */
void core_stack_syncs_find(struct core_block *block, const struct core_costs *costs);

#endif
