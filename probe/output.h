/* SPDX-License-Identifier: Apache-2.0 */
/* probe/output.h - forms that wait for a register which they only write: false dependences. A chain of them,
 * all with one destination, is slower than instances with registers in turn. docs/throughput.md, "False
 * dependences". */
#ifndef ISAPROBE_PROBE_OUTPUT_H
#define ISAPROBE_PROBE_OUTPUT_H

#include "probe/throughput.h"

struct probe_output {
    bool asked; /* and there was an answer */
    bool waits;
    double cycles, spread; /* of a link of that chain; NaN: it does not wait, or was not asked */
};

/* The position of the register that such a form writes and does not read; -1: there is none, or more than
 * one, or the form reads what it writes in another way (narrow registers, the flags do not count). Pure. */
int probe_output_operand(const struct isa_form *form);

/* results[i] belongs to forms[i] (derived) and throughputs[i], which says what they take otherwise. One look
 * at each; those that look as if they waited are measured. */
IP_CHECK enum ip_status probe_outputs_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                              struct isa_form *const *forms,
                                              const struct probe_throughput *throughputs, size_t count,
                                              struct probe_output *results, struct ip_error *err);

#endif
