/* SPDX-License-Identifier: Apache-2.0 */
/* generator/control.h - branches, near calls, returns and indirect jumps: what they need beside themselves.
 */
#ifndef ISAPROBE_GENERATOR_CONTROL_H
#define ISAPROBE_GENERATOR_CONTROL_H

#include "generator/program.h"
#include "isa/form.h"

/* Does it go somewhere else: a jump, conditional or not, a call or a return? */
bool gen_form_branches(const struct isa_form *form);
/* A branch that asks the flags? */
bool gen_form_branches_on_flags(const struct isa_form *form);
/* ... which is a conditional jump? No LOOPE, which counts, too. */
bool gen_form_jumps_on_flags(const struct isa_form *form);
/* Are there flags by which neither of two such jumps is taken? */
bool gen_jumps_agree(const struct isa_form *one, const struct isa_form *other);
bool gen_form_is_return(const struct isa_form *form);
/* CALL, RET, and JMP through a register or memory: they go where other instructions say, and stand in no mix.
 */
bool gen_form_needs_target(const struct isa_form *form);

/* A near jump, call or return that asks nothing. */
bool gen_form_is_always_taken(const struct isa_form *form);

/* Appends to the program what makes all instances of the branch that follow in its unit taken, or not: the
 * flags or the counter that it asks for (R13 and RCX). A comparison may come last, which something has
 * to keep from fusing with the first of them. IP_UNSUPPORTED: it is no near branch, or always
 * taken. */
IP_CHECK enum ip_status gen_branch_prepare(struct gen_program *program, const struct isa_form *form,
                                           bool taken, struct ip_error *err);

/* The same of several jumps on flags, none of which is to be taken. IP_UNSUPPORTED: no flags do so. */
IP_CHECK enum ip_status gen_jumps_prepare(struct gen_program *program, const struct isa_form *const *jumps,
                                          unsigned count, struct ip_error *err);

/* Branches that are taken begin so many bytes apart, or a multiple of that, and what is between is leapt
 * over: cores know where branches are in the lines of their code by a few entries each. On a Zen 4 JMP in
 * each two bytes takes 1.09, 1.17 or 8 cycles, LOOP 1.1, 5 or 10, by how many there are; one in eight
 * bytes 1.00. */
enum { GEN_BRANCH_STRIDE = 16 };

/* Appends `count` instances of a form with a REL operand; those that are taken go to where the next one
 * begins, over NOPs. */
IP_CHECK enum ip_status gen_relative_add(struct ip_lines *unit, const struct isa_form *form, unsigned count,
                                         bool taken, struct ip_error *err);

/* Appends `count` instances of a form that needs a target, one after another, and what tells them where to
 * go: the address that LEA computes, stored where it is read from memory; for returns the calls that they
 * answer. */
IP_CHECK enum ip_status gen_control_add(struct gen_program *program, const struct isa_form *form,
                                        unsigned count, struct ip_error *err);

#endif
