/* SPDX-License-Identifier: Apache-2.0 */
/* probe/rename.h - what a core does with a form before it reaches a port: moves that are eliminated, and
 * instances with one register for all operands whose result is known without them (zero and ones idioms).
 * docs/port_usage.md, "Before the ports". */
#ifndef ISAPROBE_PROBE_RENAME_H
#define ISAPROBE_PROBE_RENAME_H

#include "probe/batch.h"
#include "probe/usage.h"

enum probe_answer { PROBE_NOT_MEASURED, PROBE_NO, PROBE_YES };

struct probe_rename {
    /* A dependent chain of it takes less than a cycle a link, and its instances need no port. Asked of forms
     * without µops on ports that write a register from one of the same kind, or change one by a number. */
    enum probe_answer eliminated;
    double link_cycles; /* of that chain; NaN: not measured */
    /* With one register for all operands: is the chain broken, and is no port needed? Asked of forms of one
     * issue slot that read two registers of the kind that they write. */
    enum probe_answer breaks, portless;
    double same_register_cycles; /* a link of that chain; NaN: not measured */
    double same_register_uops;   /* beside blockers of the form's own ports; NaN: not measured */
};

/* A chain of what writes a register from the only one of its kind that it reads goes into the batch; *slot
 * stays as it is where the form is none such. A link of it takes less than PROBE_RENAME_EXECUTED
 * cycles where rename removes the move: no chain of executed instructions is faster. */
#define PROBE_RENAME_EXECUTED 0.9
IP_CHECK enum ip_status probe_rename_chain_add(const struct isa_form *form, struct probe_batch *batch,
                                               size_t *slot, struct ip_error *err);

/* The same of what changes the only register that it names, by a number or by itself: additions. */
IP_CHECK enum ip_status probe_rename_change_add(const struct isa_form *form, struct probe_batch *batch,
                                                size_t *slot, struct ip_error *err);

/* results[i] belongs to forms[i] (derived) and usages[i]. */
IP_CHECK enum ip_status probe_rename_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                             const struct probe_portmap *map, struct isa_form *const *forms,
                                             size_t count, const struct probe_usage *usages,
                                             struct probe_rename *results, struct ip_error *err);

#endif
