/* SPDX-License-Identifier: Apache-2.0 */
/* power/host.h - this machine, or a recorded tree of one: frequencies (cpufreq), voltages (operating points
 * in debugfs, or a voltage sensor), energy counters (powercap). Read only; power/calibrate.h sets
 * frequencies. */
#ifndef ISAPROBE_POWER_HOST_H
#define ISAPROBE_POWER_HOST_H

#include "power/machine.h"
#include "power/sysfs.h"

/* An energy counter that wraps. */
struct pw_energy_counter {
    char path[PW_PATH_MAX];
    char name[PW_NAME_MAX]; /* "package-0" */
    double range_uj;        /* 0: unknown */
};

/* Fills a machine from cpufreq of `cpu` below `root`: settings, and voltages if all of them are shown. The
 * memory's costs are in no such file. `missing` receives a sentence for each thing that was not found and
 * what it is needed for. IP_CAPABILITY without cpufreq. */
IP_CHECK enum ip_status pw_host_read(struct pw_machine *machine, const char *root, int cpu,
                                     struct ip_lines *missing, struct ip_error *err);

/* The first package counter of powercap. IP_CAPABILITY: there is none, or it may not be read, and what to do.
 */
IP_CHECK enum ip_status pw_energy_open(struct pw_energy_counter *counter, const char *root,
                                       struct ip_error *err);
IP_CHECK enum ip_status pw_energy_read_uj(const struct pw_energy_counter *counter, double *uj,
                                          struct ip_error *err);
/* From one reading to a later one, over at most one wrap. */
double pw_energy_between_uj(const struct pw_energy_counter *counter, double before_uj, double after_uj);

/* Volts that a sensor labelled as the core's shows now; false when there is none. */
bool pw_host_sensor_volts(const char *root, double *volts);

#endif
