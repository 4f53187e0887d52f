/* SPDX-License-Identifier: Apache-2.0 */
/* power/host.h - this machine, or a recorded tree of one: frequencies (cpufreq) and voltages (operating
 * points in debugfs, or a voltage sensor). Read only; power/calibrate.h sets frequencies, power/energy.h
 * counts energy. */
#ifndef ISAPROBE_POWER_HOST_H
#define ISAPROBE_POWER_HOST_H

#include "power/machine.h"
#include "power/sysfs.h"

/* Fills a machine from cpufreq of `cpu` below `root`: settings, and voltages if all of them are shown. The
 * memory's costs are in no such file. `missing` receives a sentence for each thing that was not found and
 * what it is needed for. IP_CAPABILITY without cpufreq. */
IP_CHECK enum ip_status pw_host_read(struct pw_machine *machine, const char *root, int cpu,
                                     struct ip_lines *missing, struct ip_error *err);

/* Volts that a sensor labelled as the core's shows now; false when there is none. */
bool pw_host_sensor_volts(const char *root, double *volts);

#endif
