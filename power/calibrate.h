/* SPDX-License-Identifier: Apache-2.0 */
/* power/calibrate.h - a sweep over the frequencies of a machine: watts at each, C and static power from them.
 */
#ifndef ISAPROBE_POWER_CALIBRATE_H
#define ISAPROBE_POWER_CALIBRATE_H

#include "power/energy.h"
#include "power/host.h"

/* What the sweep needs from outside: a load, and a wish to stop. */
struct pw_sweep {
    const char *root;           /* "" for this machine */
    const struct pw_papi *papi; /* where powercap has no counter; NULL: no further */
    int cpu;
    double seconds; /* of load at each setting */
    void *self;
    /* Keeps the CPU busy for about `seconds`; *elapsed_s is how long it really was. */
    enum ip_status (*load)(void *self, double seconds, double *elapsed_s, struct ip_error *err);
    bool (*stop)(void *self); /* asked between settings */
};

/* Reads the host, measures watts (and volts, where a sensor shows them) at every setting, and fits. The
 * governor is back as it was on return, and when the process dies. Settings that the CPU did not take are
 * left out of the machine. `notes` receives a sentence for each, and for what was not found. IP_CAPABILITY
 * names what is missing (the notes more of it); IP_UNTRUSTED: fewer than two settings were measured;
 * IP_FAILED: stopped. */
IP_CHECK enum ip_status pw_calibrate(struct pw_machine *machine, const struct pw_sweep *sweep,
                                     struct ip_lines *notes, struct ip_error *err);

#endif
