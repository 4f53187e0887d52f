/* SPDX-License-Identifier: Apache-2.0 */
/* isa/kind.h - operand kinds as text: "xmm", "m64{1to8}", "imm8", "cl" ... Internal to isa/. */
#ifndef ISAPROBE_ISA_KIND_H
#define ISAPROBE_ISA_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "isa/form.h"

/* The classes of ISA_REG_OTHER, in isa_operand.other_reg. */
enum isa_other {
    ISA_OTHER_NONE,
    ISA_OTHER_CONTROL, /* cr0 .. cr15: may be written in the source */
    ISA_OTHER_DEBUG,   /* dr0 .. dr15 */
    ISA_OTHER_BOUND,   /* bnd0 .. bnd3 */
    ISA_OTHER_HIDDEN,  /* implicit only: MXCSR, x87 status, SSP ... */
};

/* Reads one kind without mask decorators into *operand. False when `text` is none. */
bool isa_kind_parse(const char *text, size_t length, struct isa_operand *operand);

/* Writes the kind (24 bytes at most, NUL included) to `buffer`; returns its length. */
size_t isa_kind_print(const struct isa_operand *operand, char *buffer);

/* Builds form->syntax from the other fields. False when it is too long. */
bool isa_form_syntax_build(struct isa_form *form);

/* Name of a control, debug or bound register, or NULL. */
const char *isa_other_name(enum isa_other other, unsigned number);

#endif
