/* SPDX-License-Identifier: Apache-2.0 */
/* power/energy.h - the energy that a CPU package has drawn, by RAPL: from powercap's files, or through PAPI
 * where the kernel shows no such files (its component rapl reads the registers, powercap the files). */
#ifndef ISAPROBE_POWER_ENERGY_H
#define ISAPROBE_POWER_ENERGY_H

#include "common/error.h"
#include "power/reader.h"
#include "power/sysfs.h"

/* What is asked of PAPI: the library's functions, or a test's. */
struct pw_papi {
    void *self;
    /* Begins to count an event in a set of its own. NULL, or why it cannot be counted (static storage). */
    const char *(*start)(void *self, const char *event, int *event_set);
    bool (*read)(void *self, int event_set, long long *value); /* since the start */
    void (*stop)(void *self, int event_set);
};
extern const struct pw_papi pw_papi_library;

struct pw_energy_counter {
    char name[PW_NAME_MAX];     /* "package-0" */
    char path[PW_PATH_MAX];     /* powercap: its file; else the event */
    double range_uj;            /* where it wraps; 0: unknown, or it does not */
    const struct pw_papi *papi; /* NULL: a file of powercap; borrowed */
    int event_set;
    double unit_uj; /* of PAPI's value */
};

/* The counter of the package that `cpu` is in: powercap's below `root`, else PAPI's (`papi` NULL: that is not
 * asked). IP_CAPABILITY: there is none, or it may not be read, and what to do. Close the counter. */
IP_CHECK enum ip_status pw_energy_open(struct pw_energy_counter *counter, const char *root, int cpu,
                                       const struct pw_papi *papi, struct ip_error *err);
void pw_energy_close(struct pw_energy_counter *counter);
IP_CHECK enum ip_status pw_energy_read_uj(const struct pw_energy_counter *counter, double *uj,
                                          struct ip_error *err);
/* From one reading to a later one, over at most one wrap. */
double pw_energy_between_uj(const struct pw_energy_counter *counter, double before_uj, double after_uj);

#endif
