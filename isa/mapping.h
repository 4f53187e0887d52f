/* SPDX-License-Identifier: Apache-2.0 */
/* isa/mapping.h - Zydis's registers and operands, and ours. Internal to isa/. */
#ifndef ISAPROBE_ISA_MAPPING_H
#define ISAPROBE_ISA_MAPPING_H

#include <Zydis/Zydis.h>

#include "isa/form.h"

/* Fills kind, reg_class, other_reg, bits; returns the register's number in its class. */
unsigned isa_zydis_register_read(ZydisRegister reg, struct isa_operand *operand);

/* The other way; ZYDIS_REGISTER_NONE when there is no such register. */
ZydisRegister isa_zydis_register(const struct isa_operand *operand, unsigned number);

/* Which of Zydis's operands become operands of a form, the flags apart, in the form's order: the written ones
 * (*explicit_count), then the others. Returns how many. */
unsigned isa_zydis_operands_order(const ZydisDecodedInstruction *instruction,
                                  const ZydisDecodedOperand *operands, uint8_t order[ISA_OPERANDS_MAX],
                                  unsigned *explicit_count);

/* The manuals write the selecting XMM0 of the legacy blends, and of SHA256RNDS2, as the last operand; Zydis
 * hides it. */
bool isa_zydis_written_xmm0(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operand);

/* Had the instruction EVEX first, VEX later? Then assemblers write EVEX unless told otherwise, and the plain
 * name means that. */
bool isa_evex_came_first(const char *mnemonic);

#endif
