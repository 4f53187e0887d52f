/* SPDX-License-Identifier: Apache-2.0 */
/* isa/corrections.h - dependences that exist and that Zydis 4.0 does not tell. Internal to isa/; listed in
 * docs/isa.md. */
#ifndef ISAPROBE_ISA_CORRECTIONS_H
#define ISAPROBE_ISA_CORRECTIONS_H

#include <Zydis/Zydis.h>

#include "isa/form.h"

/* `form` holds what Zydis says about `instruction`. */
void isa_corrections_apply(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
                           struct isa_form *form);
/* The same of a form whose immediate is fixed, which the instruction does not say. */
void isa_corrections_of_zero(struct isa_form *form);

#endif
