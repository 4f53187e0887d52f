/* SPDX-License-Identifier: Apache-2.0 */
/* isa/mapping.h - Zydis's registers and ours. Internal to isa/. */
#ifndef ISAPROBE_ISA_MAPPING_H
#define ISAPROBE_ISA_MAPPING_H

#include <Zydis/Zydis.h>

#include "isa/form.h"

/* Fills kind, reg_class, other_reg, bits; returns the register's number in its class. */
unsigned isa_zydis_register_read(ZydisRegister reg, struct isa_operand *operand);

/* The other way; ZYDIS_REGISTER_NONE when there is no such register. */
ZydisRegister isa_zydis_register(const struct isa_operand *operand, unsigned number);

#endif
