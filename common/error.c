/* SPDX-License-Identifier: Apache-2.0 */
#include "common/error.h"

#include <stdio.h>
#include <string.h>

static void error_set(struct ip_error *err, enum ip_status status, const char *format, va_list args) {
    err->status = status;
    err->errno_value = 0;
    err->place[0] = '\0';
    (void)vsnprintf(err->text, sizeof err->text, format, args);
}

enum ip_status ip_fail(struct ip_error *err, enum ip_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    error_set(err, status, format, args);
    va_end(args);
    return status;
}

enum ip_status ip_fail_errno(struct ip_error *err, enum ip_status status, int errno_value, const char *format,
                             ...) {
    va_list args;
    va_start(args, format);
    error_set(err, status, format, args);
    va_end(args);
    err->errno_value = errno_value;
    size_t used = strlen(err->text);
    (void)snprintf(err->text + used, sizeof err->text - used, ": %s", strerror(errno_value));
    return status;
}

enum ip_status ip_fail_at(struct ip_error *err, enum ip_status status, const char *file, unsigned line,
                          unsigned column, const char *format, ...) {
    va_list args;
    va_start(args, format);
    error_set(err, status, format, args);
    va_end(args);
    if (line == 0) {
        (void)snprintf(err->place, sizeof err->place, "%s", file);
    } else if (column == 0) {
        (void)snprintf(err->place, sizeof err->place, "%s:%u", file, line);
    } else {
        (void)snprintf(err->place, sizeof err->place, "%s:%u:%u", file, line, column);
    }
    return status;
}
