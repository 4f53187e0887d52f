/* SPDX-License-Identifier: Apache-2.0 */
/* common/error.h - the one status enum and the error object that travels with it.
 *
 * Rules: a function that can fail returns `enum ip_status`, is marked IP_CHECK and takes a
 * `struct ip_error *` as its last parameter (never NULL). On anything but IP_OK its outputs are
 * untouched and the error says what happened, where, and what to do next in one line. Facts such
 * as "this form has no such chain" are recorded values of the result, not statuses. */
#ifndef ISAPROBE_COMMON_ERROR_H
#define ISAPROBE_COMMON_ERROR_H

#include <stdarg.h>

#define IP_CHECK              __attribute__((warn_unused_result))
#define IP_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

enum ip_status {
    IP_OK = 0,
    IP_FAILED,      /* an operation failed (exit 1) */
    IP_NO_MEMORY,   /* allocation failed (exit 1) */
    IP_IO,          /* a file or pipe could not be read or written (exit 1) */
    IP_SYNTAX,      /* a text that the user gave does not parse (exit 2) */
    IP_USAGE,       /* the user asked for something that does not exist (exit 2) */
    IP_UNSUPPORTED, /* the request is legal but impossible by its nature (exit 1) */
    IP_CAPABILITY,  /* this host lacks a capability or permission (exit 3) */
    IP_UNTRUSTED,   /* measured, but not to be trusted (exit 4) */
};

struct ip_error {
    enum ip_status status;
    int errno_value; /* errno at the time, or 0 */
    char place[288]; /* "file:line:column", "file:line", "file", or "" */
    char text[480];  /* one line, no newline, names the object and the next step */
};

/* Fills `err` (place "", errno 0) and returns `status`, so that `return ip_fail(err, ...)` reads well. */
enum ip_status ip_fail(struct ip_error *err, enum ip_status status, const char *format, ...) IP_PRINTF(3, 4);

/* As ip_fail, keeps errno_value and appends ": strerror" to the text. */
enum ip_status ip_fail_errno(struct ip_error *err, enum ip_status status, int errno_value, const char *format,
                             ...) IP_PRINTF(4, 5);

/* The status of a system call that failed: IP_CAPABILITY where the system does not let this process have it
 * at all, for its permissions, in a container or under a seccomp filter (EPERM, EACCES, EROFS, ENOSYS), else
 * `otherwise`. */
enum ip_status ip_refusal_or(int errno_value, enum ip_status otherwise);

/* As ip_fail with a place "file:line:column"; line and column count from 1, 0 leaves them out. */
enum ip_status ip_fail_at(struct ip_error *err, enum ip_status status, const char *file, unsigned line,
                          unsigned column, const char *format, ...) IP_PRINTF(6, 7);

/* Clang's analyzer sees one file at a time: tell it that these return what they are given. */
#ifdef __clang_analyzer__
#define ip_fail(err, status, ...) (ip_fail(err, status, __VA_ARGS__), (status))
#define ip_refusal_or(value, otherwise)                                                                      \
    (ip_refusal_or(value, otherwise) == IP_CAPABILITY ? IP_CAPABILITY : (otherwise))
#define ip_fail_errno(err, status, value, ...) (ip_fail_errno(err, status, value, __VA_ARGS__), (status))
#define ip_fail_at(err, status, file, line, column, ...)                                                     \
    (ip_fail_at(err, status, file, line, column, __VA_ARGS__), (status))
#endif

#endif
