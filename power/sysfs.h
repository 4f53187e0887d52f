/* SPDX-License-Identifier: Apache-2.0 */
/* power/sysfs.h - small files below a root directory: "" for this machine, else a recorded tree. */
#ifndef ISAPROBE_POWER_SYSFS_H
#define ISAPROBE_POWER_SYSFS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

enum { PW_PATH_MAX = 512, PW_VALUE_MAX = 4096 };

/* ROOT + formatted path; false when it is too long. */
bool pw_path(char *path, size_t size, const char *root, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The first line of a file without its newline; false when it is absent or unreadable (errno says why). */
bool pw_sysfs_line(const char *path, char *value, size_t size);
/* A line that is one number, not negative. */
bool pw_sysfs_number(const char *path, double *value);

/* Writes a value as the kernel wants it, in one call. IP_CAPABILITY without permission or file, IP_IO
 * otherwise. */
IP_CHECK enum ip_status pw_sysfs_write(const char *path, const char *value, struct ip_error *err);

#endif
