/* SPDX-License-Identifier: Apache-2.0 */
/* generator/control.h - near calls, returns and indirect jumps: what they need beside themselves. */
#ifndef ISAPROBE_GENERATOR_CONTROL_H
#define ISAPROBE_GENERATOR_CONTROL_H

#include "generator/program.h"
#include "isa/form.h"

/* Does it go somewhere else: a jump, conditional or not, a call or a return? */
bool gen_form_branches(const struct isa_form *form);
bool gen_form_is_return(const struct isa_form *form);
/* CALL, RET, and JMP through a register or memory: they go where other instructions say, and stand in no mix.
 */
bool gen_form_needs_target(const struct isa_form *form);

/* Appends `count` instances of such a form, one after another, and what tells them where to go: the address
 * that LEA computes, stored where it is read from memory; for returns the calls that they answer. */
IP_CHECK enum ip_status gen_control_add(struct gen_program *program, const struct isa_form *form,
                                        unsigned count, struct ip_error *err);

#endif
