/* SPDX-License-Identifier: Apache-2.0 */
/* probe/counted.h - what counters say of a form's ports, beside what was inferred from time (probe/usage.h).
 * Only where the machine counts the uops of each port: nothing is inferred from it. */
#ifndef ISAPROBE_PROBE_COUNTED_H
#define ISAPROBE_PROBE_COUNTED_H

#include "harness/port_events.h"
#include "probe/usage.h"

enum { PROBE_COUNTED_TEXT = 160 };

struct probe_counted {
    bool measured;
    unsigned ports;
    char names[HX_PORT_EVENTS_MAX];
    double uops[HX_PORT_EVENTS_MAX]; /* of one instance, on each port */
    double total;
};

/* Counts for all forms (derived). With no events nothing is measured. */
IP_CHECK enum ip_status probe_counted_measure(struct hx_port_events *events, struct gen_encoder *encoder,
                                              struct isa_form *const *forms, size_t count,
                                              struct probe_counted *results, struct ip_error *err);

/* Are as many uops counted as were inferred? A store has two, of which time shows one. */
bool probe_counted_agrees(const struct probe_counted *counted, const struct probe_usage *usage);

/* "0.50 p0 + 0.50 p6", ports below 0.05 uops left out. `buffer` holds PROBE_COUNTED_TEXT bytes; returns it.
 */
const char *probe_counted_print(const struct probe_counted *counted, char *buffer);

#endif
