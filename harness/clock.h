/* SPDX-License-Identifier: Apache-2.0 */
/* harness/clock.h - how the child process reads time around a kernel. */
#ifndef ISAPROBE_HARNESS_CLOCK_H
#define ISAPROBE_HARNESS_CLOCK_H

#include <stdint.h>

#include "common/error.h"

struct hx_clock {
    const char *unit;
    /* Called once in the child before the sandbox closes; NULL: nothing to do. Returns 0 or an errno value.
     */
    int (*child_open)(struct hx_clock *clock);
    uint64_t (*begin)(const struct hx_clock *clock);
    uint64_t (*end)(const struct hx_clock *clock);
    char event[128];
    int event_set;
};

/* RDTSC: always there on x86-64 unless the kernel disables it (prctl PR_SET_TSC); IP_CAPABILITY then. */
IP_CHECK enum ip_status hx_clock_tsc_init(struct hx_clock *clock, struct ip_error *err);

/* A PAPI event; "" is PAPI_TOT_CYC. IP_CAPABILITY with PAPI's own reason when this machine cannot count it.
 */
IP_CHECK enum ip_status hx_clock_papi_init(struct hx_clock *clock, const char *event, struct ip_error *err);

#endif
