/* SPDX-License-Identifier: Apache-2.0 */
/* harness/port_events.h - counters of the uops that each execution port takes, where a machine has them: a
 * cross-check of what is inferred from time. On silicon these are the events of PAPI and libpfm4 that are
 * named UOPS_DISPATCHED_PORT:PORT_n, UOPS_DISPATCHED:PORT_n or UOPS_EXECUTED_PORT:PORT_n; a simulated CPU has
 * them when its description says `port-counters`. Many machines, virtual ones above all, have none: that is
 * no error. */
#ifndef ISAPROBE_HARNESS_PORT_EVENTS_H
#define ISAPROBE_HARNESS_PORT_EVENTS_H

#include "common/error.h"
#include "generator/kernel.h"
#include "harness/timer.h"

enum { HX_PORT_EVENTS_MAX = 16 };

struct hx_port_events {
    struct hx_timer timers[HX_PORT_EVENTS_MAX]; /* owned; one that counts the uops of names[i] */
    char names[HX_PORT_EVENTS_MAX];             /* '0' ... '9', 'A' ... */
    unsigned count;                             /* 0: this machine counts no ports */
};

/* Opens what there is beside the timer `specification` (NULL: tsc). `references` is borrowed. */
void hx_port_events_open(struct hx_port_events *events, const char *specification, int cpu,
                         const struct hx_references *references);
void hx_port_events_close(struct hx_port_events *events); /* all-zero is fine */

/* uops on each port for one form of the kernel: counts[i] for names[i]; NaN where it cannot run. */
IP_CHECK enum ip_status hx_port_events_count(struct hx_port_events *events, const struct gen_kernel *kernel,
                                             double counts[HX_PORT_EVENTS_MAX], struct ip_error *err);

#endif
