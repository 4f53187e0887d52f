/* SPDX-License-Identifier: Apache-2.0 */
/* isa/obstacle.h - why a form cannot be measured in a loop. Internal to isa/. */
#ifndef ISAPROBE_ISA_OBSTACLE_H
#define ISAPROBE_ISA_OBSTACLE_H

#include <Zydis/Zydis.h>

#include "isa/form.h"

/* Sets form->obstacle and form->note from the decoded instruction. Operands are filled already. */
void isa_obstacle_find(const ZydisDecodedInstruction *instruction, struct isa_form *form);

#endif
