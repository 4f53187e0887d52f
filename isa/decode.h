/* SPDX-License-Identifier: Apache-2.0 */
/* isa/decode.h - machine code to forms, by Zydis. */
#ifndef ISAPROBE_ISA_DECODE_H
#define ISAPROBE_ISA_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/text.h"
#include "isa/form.h"

/* Decodes the first instruction of `code` into a form: canonical syntax, all operands (explicit and implicit)
 * with their actions, flags, ISA set, obstacle; and, unless `binding` is NULL, what stands for each operand.
 * *length gets its bytes. IP_SYNTAX when the bytes are no instruction or end in the middle of one (the text
 * says at which offset). */
IP_CHECK enum ip_status isa_decode(const uint8_t *code, size_t code_bytes, struct isa_form *form,
                                   struct isa_binding *binding, size_t *length, struct ip_error *err);

/* Fills the derived fields of forms[0..count): assembles a sample of each with NASM (Zydis's encoder where
 * NASM cannot: encode_raw is then set), decodes it, checks that it decodes back to the same syntax, takes the
 * operands' actions. A form that fails gets obstacle ISA_OBSTACLE_UNENCODABLE and a note, which is no error.
 * One NASM process for all. Forms already derived are skipped. */
IP_CHECK enum ip_status isa_forms_derive(struct isa_form *const *forms, size_t count, struct ip_error *err);

/* Disassembles a block for people: a line "offset  bytes  instruction" each. Undecodable bytes become `db`.
 */
void isa_disassemble(const uint8_t *code, size_t code_bytes, struct ip_lines *lines);

/* One instruction in Intel syntax as Zydis's formatter prints it. `buffer` of `size` bytes; returns the
 * instruction's length, 0 if none. */
size_t isa_disassemble_one(const uint8_t *code, size_t code_bytes, uint64_t address, char *buffer,
                           size_t size);

#endif
