/* SPDX-License-Identifier: Apache-2.0 */
/* isa/xed_iform.h - XED's iform of a decoded instruction. Internal to isa/. */
#ifndef ISAPROBE_ISA_XED_IFORM_H
#define ISAPROBE_ISA_XED_IFORM_H

#include <Zydis/Zydis.h>

#include "isa/xed.h"

/* Fills iclass, iform, other; xed->eosz becomes -1 when the iform leaves the operand size open. `order` has
 * the operands in XED's order. */
void isa_xed_iform_make(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
                        const uint8_t *order, unsigned count, struct isa_xed *xed);

/* `text` in capitals, cut to `size` bytes. */
void isa_xed_capitals(char *capitals, size_t size, const char *text);

#endif
