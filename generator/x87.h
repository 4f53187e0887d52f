/* SPDX-License-Identifier: Apache-2.0 */
/* generator/x87.h - keeping the x87 stack balanced around an instance of a form.
 *
 * A push onto a full stack and a pop from an empty one cost a microcode assist of hundreds of cycles, and
 * leave a NaN. Kernels begin with gen_x87_depth registers of 1.0; what an instance pops was loaded before it,
 * what it pushes is removed again. */
#ifndef ISAPROBE_GENERATOR_X87_H
#define ISAPROBE_GENERATOR_X87_H

#include <stdbool.h>

#include "common/text.h"
#include "isa/form.h"

enum { GEN_X87_REGISTERS = 8 };

/* What stands around one instance. */
struct gen_x87_balance {
    unsigned loads; /* registers that are loaded before it */
    unsigned pops;  /* registers that are on the stack too many behind it */
    unsigned room;  /* registers that must be empty before the loads */
};

/* `fresh`: what it reads and writes below a fixed name (ST0 of FSQRT, ST1 of FPATAN) is loaded, too. */
struct gen_x87_balance gen_x87_balance_of(const struct isa_form *form, bool fresh);

/* Registers that are in use when a kernel of these forms begins: all that leave room for their pushes. No
 * instance names one behind them. */
unsigned gen_x87_depth(const struct isa_form *const *forms, unsigned count);

/* Appends the loads; `frees`: and makes room for them and for what the form pushes by marking the far end of
 * the stack empty, so that nothing need be popped and TOP goes round. */
void gen_x87_before(struct ip_lines *lines, const struct gen_x87_balance *balance, bool frees);
/* Appends the pops, unless room was made by `frees`. */
void gen_x87_after(struct ip_lines *lines, const struct gen_x87_balance *balance, bool frees);

/* Appends what a kernel of these forms begins with: 1.0 in gen_x87_depth registers and in GEN_ARENA_X87, or,
 * with `slow_values`, two numbers of irregular mantissas. */
void gen_x87_init(struct ip_lines *lines, const struct isa_form *const *forms, unsigned count,
                  bool slow_values);

/* Appends the load of one register. */
void gen_x87_load(struct ip_lines *lines);

/* Appends a fresh ST0: the stack moves on by one register, of which the furthest is lost. */
void gen_x87_renew(struct ip_lines *lines);

#endif
