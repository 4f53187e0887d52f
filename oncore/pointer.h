/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/pointer.h - the pointers of string instructions, and RBP of LEAVE. Internal to oncore/. */
#ifndef ISAPROBE_ONCORE_POINTER_H
#define ISAPROBE_ONCORE_POINTER_H

#include "oncore/block.h"

/* The general register that holds the address of what a string instruction loads (`store`: stores); -1: it is
 * none, or repeats. Each string instruction moves its pointers on by the bytes of an access: upwards, for the
 * direction flag is clear wherever the ABI holds. Of CMPS the first of both loads. */
int core_pointer(const struct core_instruction *instruction, bool store);

/* Does it move such a pointer on, or is that RSP of LEAVE: what no data of its load go to? */
bool core_moves_pointer(const struct core_instruction *instruction, unsigned gpr);

#endif
