/* SPDX-License-Identifier: Apache-2.0 */
#include "power/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "power/reader.h"

bool pw_path(char *path, size_t size, const char *root, const char *format, ...) {
    size_t used = strlen(root);
    if (used >= size) {
        return false;
    }
    memcpy(path, root, used + 1);
    va_list args;
    va_start(args, format);
    int length = vsnprintf(path + used, size - used, format, args);
    va_end(args);
    return length >= 0 && (size_t)length < size - used;
}

bool pw_sysfs_line(const char *path, char *value, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t got = read(fd, value, size - 1);
    int read_errno = errno;
    (void)close(fd);
    if (got < 0) {
        errno = read_errno;
        return false;
    }
    value[got] = '\0';
    value[strcspn(value, "\n")] = '\0';
    return true;
}

bool pw_sysfs_number(const char *path, double *value) {
    char line[64];
    double number;
    if (!pw_sysfs_line(path, line, sizeof line) || !pw_number(line, &number) || number < 0) {
        return false;
    }
    *value = number;
    return true;
}

enum ip_status pw_sysfs_write(const char *path, const char *value, struct ip_error *err) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC);
    ssize_t put = fd >= 0 ? write(fd, value, strlen(value)) : -1;
    int write_errno = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (put == (ssize_t)strlen(value)) {
        return IP_OK;
    }
    enum ip_status status = write_errno == ENOENT ? IP_CAPABILITY : ip_refusal_or(write_errno, IP_IO);
    return ip_fail_errno(err, status, write_errno, "cannot write '%s' to %s", value, path);
}
