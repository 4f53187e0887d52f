/* SPDX-License-Identifier: Apache-2.0 */
#include "common/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#ifdef __clang_analyzer__ /* the functions themselves are meant here */
#undef ip_fail
#undef ip_refusal_or
#undef ip_fail_errno
#undef ip_fail_at
#endif

IP_PRINTF(3, 0)
static void error_set(struct ip_error *err, enum ip_status status, const char *format, va_list args) {
    /* By way of a copy, so that an argument may be err->text itself: "while reading X: <the earlier text>".
     */
    char text[sizeof err->text];
    (void)vsnprintf(text, sizeof text, format, args);
    memcpy(err->text, text, strlen(text) + 1);
    err->status = status;
    err->errno_value = 0;
    err->place[0] = '\0';
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

enum ip_status ip_refusal_or(int errno_value, enum ip_status otherwise) {
    bool refused =
        errno_value == EPERM || errno_value == EACCES || errno_value == EROFS || errno_value == ENOSYS;
    return refused ? IP_CAPABILITY : otherwise;
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
