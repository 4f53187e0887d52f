/* SPDX-License-Identifier: Apache-2.0 */
/* power/governor.h - holds a CPU at one frequency, and gives the governor back whatever happens.
 *
 * A child process keeps what was found and waits at a pipe. It restores when the pipe closes: because we are
 * done, or failed, or were killed (SIGKILL too). Signals to us do not reach it: it has its own session. */
#ifndef ISAPROBE_POWER_GOVERNOR_H
#define ISAPROBE_POWER_GOVERNOR_H

#include <sys/types.h>

#include "power/sysfs.h"

struct pw_governor {
    char root[PW_PATH_MAX];
    int cpu;
    int pipe_fd; /* our end; -1: not held */
    pid_t guard;
};

/* Notes the present governor and limits and starts the guard. IP_CAPABILITY: not writable, or no cpufreq; it
 * names the file. Nothing has been changed then. */
IP_CHECK enum ip_status pw_governor_hold(struct pw_governor *governor, const char *root, int cpu,
                                         struct ip_error *err);
/* Both limits to this frequency. */
IP_CHECK enum ip_status pw_governor_set_khz(struct pw_governor *governor, double khz, struct ip_error *err);
/* The frequency the kernel says it runs at; false if it does not say. */
bool pw_governor_now_khz(const struct pw_governor *governor, double *khz);
/* Restores and waits until that is done. IP_IO names the file that could not be written back. */
IP_CHECK enum ip_status pw_governor_release(struct pw_governor *governor, struct ip_error *err);

#endif
