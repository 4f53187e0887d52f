/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/cost_steps.h - how a cost is made. Internal to oncore/. */
#ifndef ISAPROBE_ONCORE_COST_STEPS_H
#define ISAPROBE_ONCORE_COST_STEPS_H

#include "oncore/cost.h"

/* What follows from the form alone: loads, stores, branch, action; nothing is known of its cost. */
void core_cost_describe(struct core_cost *cost);

/* Everything else, from the store. A form that it lacks stays unknown, which is no error. */
IP_CHECK enum ip_status core_cost_fill(struct core_costs *costs, struct core_cost *cost,
                                       struct ip_error *err);

/* Cycles an instance that each of its terms needs by itself; the most. */
double core_terms_cycles(const struct core_cost *cost);

/* Does the store have a usage of ports, or several of which the first serves? */
bool core_ports_told(const struct res_ports *ports);

/* Does the store have a usage of ports that can be right? Not one of more µops than its slots hold. */
bool core_ports_usable(const struct res_form *form);

/* Adds the ports of a form of which the store has a usage that can be right, of one term. */
IP_CHECK enum ip_status core_plain_ports(struct core_costs *costs, const char *syntax, uint32_t *ports,
                                         struct ip_error *err);

/* The terms of a form of which the store has a usage that can be right; none where it has not. */
IP_CHECK enum ip_status core_terms_find(struct core_costs *costs, const char *syntax,
                                        struct core_term terms[CORE_TERMS_MAX], unsigned *count,
                                        struct ip_error *err);

/* The operand that the store names so; -1: none. */
int core_operand_find(const struct isa_form *form, const char *name);

/* oncore/content.c: from a store's data to a load's result, into `forwarded`, and whether a store as narrow
 * takes a cycle of its own, into `put_late`. */
IP_CHECK enum ip_status core_forwarded_fill(struct core_costs *costs, struct core_cost *cost,
                                            const struct res_form *known, struct ip_error *err);
/* What a store does to its data before they can be loaded, into `stored`. */
IP_CHECK enum ip_status core_stored_fill(struct core_costs *costs, struct core_cost *cost,
                                         const struct res_form *known, struct ip_error *err);

/* oncore/cost_unit.c: reads the names of the units of the store. */
IP_CHECK enum ip_status core_units_open(struct core_costs *costs, struct ip_error *err);
/* The unit for which a form waits whose ports are filled in: by the name that a scan gave it (""), by the
 * ports that the form has which another one is called after, or a guess; -1: none. */
int core_unit_find(const struct core_costs *costs, const struct core_cost *cost, const char *name);

/* The issue width, when no parameter tells it: from the port map, or from the NOP sentinel of the runs. */
IP_CHECK enum ip_status core_width_find(struct core_costs *costs, struct ip_error *err);

/* oncore/twin.c: the syntax of the same operation between registers ("add r64, m64": "add r64, r64"); false
 * when the form has no memory operand or no such name. `syntax` holds ISA_SYNTAX_MAX bytes. */
bool core_twin_syntax(const struct isa_form *form, char *syntax);

/* The same form of another width of general registers, in the order 64, 32, 16 bits ("add r64, r64", 1: "add
 * r32, r32"); false when that is the form itself, has no such register, or `number` is past the last: see
 * CORE_WIDTHS. `other` holds ISA_SYNTAX_MAX bytes. */
enum { CORE_WIDTHS = 3 };
bool core_width_syntax(const char *syntax, unsigned number, char *other);

/* oncore/zero.c: has the store a row for an immediate of zero that it trusts ("vextractf128 xmm, ymm, 0")?
 * Once for each form, into `zero_apart`. */
IP_CHECK enum ip_status core_zero_fill(struct core_costs *costs, struct core_cost *cost,
                                       struct ip_error *err);
/* Where the instance's immediate is zero and the table or the store has such a row: its cost instead. */
IP_CHECK enum ip_status core_zero_get(struct core_costs *costs, const struct isa_binding *binding,
                                      const struct core_cost **cost, struct ip_error *err);

/* oncore/idiom.c: what the core was asked, or a scan of ports saw, of the form, or of the same operation of
 * vectors in another width or encoding, tells more than the latencies: whether a port is needed, too. */
void core_idiom_fill(const struct core_costs *costs, struct core_cost *cost);

/* Has the table a cost of that syntax? */
bool core_costs_has(const struct core_costs *costs, const char *syntax);

/* What an instance costs may hang on its operands: then its form has a name of its own, with such an end. */
void core_syntax_add(struct isa_form *form, const char *end);
bool core_syntax_ends(const char *syntax, const char *end);

/* oncore/lea.c: an address computation costs what its address is made of: other than "base + number" it gets
 * a name of its own, such as "lea r64, agen [scaled]". */
void core_lea_name(const struct core_costs *costs, struct isa_form *form, const struct isa_binding *binding);
/* The cost of such a name; false when it is none. */
IP_CHECK enum ip_status core_lea_fill(struct core_costs *costs, struct core_cost *cost, bool *done,
                                      struct ip_error *err);
/* The terms of an addition between registers, where the cost has none yet and the store knows some. */
IP_CHECK enum ip_status core_addition_ports(struct core_costs *costs, struct core_cost *cost,
                                            struct ip_error *err);

/* oncore/stack.c: a move from RSP has a name and a cost of its own, where the core executes it. */
void core_stack_name(const struct core_costs *costs, struct isa_form *form,
                     const struct isa_binding *binding);
IP_CHECK enum ip_status core_stack_fill(struct core_costs *costs, struct core_cost *cost, bool *done,
                                        struct ip_error *err);

#endif
