/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/stack.h - the stack pointer in a block. Internal to oncore/; docs/oncore.md, "From bytes to costs".
 */
#ifndef ISAPROBE_ONCORE_STACK_H
#define ISAPROBE_ONCORE_STACK_H

#include "oncore/block.h"

/* What names RSP after PUSH, POP or their like moved it: `syncs`, and the slot that this takes. */
void core_stack_syncs_find(struct core_block *block, const struct core_costs *costs);

/* Notes how an instruction names and moves RSP; `hidden`: it accesses memory that is no operand of its text.
 */
void core_stack_read(struct core_instruction *to, bool hidden);
/* Is its t-th target RSP, which decode moves? */
bool core_moves_rsp(const struct core_instruction *instruction, unsigned t);
/* Does its load (`store`: its store) name the place by RSP, and not by its operand? */
bool core_through_rsp(const struct core_instruction *instruction, bool store);

#endif
