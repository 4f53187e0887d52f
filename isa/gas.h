/* SPDX-License-Identifier: Apache-2.0 */
/* isa/gas.h - GNU as as a function: AT&T source to machine code. */
#ifndef ISAPROBE_ISA_GAS_H
#define ISAPROBE_ISA_GAS_H

#include "common/error.h"
#include "common/text.h"

/* Assembles AT&T source ("addq $1, %rax") with the program `as` of GNU binutils, which is looked for on PATH,
 * or at $ISAPROBE_AS. `code` receives the bytes of its .text section (references to other places stay zero).
 * IP_SYNTAX with "name:line" and the assembler's message on the first error, or that a bound was met
 * (isa/bounds.h); IP_CAPABILITY when there is no
 * `as`. */
IP_CHECK enum ip_status isa_assemble_att(const char *name, const char *source, struct ip_text *code,
                                         struct ip_error *err);

#endif
