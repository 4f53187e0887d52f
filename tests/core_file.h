/* SPDX-License-Identifier: Apache-2.0 */
/* tests/core_file.h - a simulated CPU in a file of its own. */
#ifndef ISAPROBE_TESTS_CORE_FILE_H
#define ISAPROBE_TESTS_CORE_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct core_file {
    char path[32], timer[40]; /* for --timer */
};

/* The caller unlinks `path`. */
static inline void core_file_write(struct core_file *file, const char *description) {
    (void)snprintf(file->path, sizeof file->path, "/tmp/isaprobe-core-XXXXXX");
    int fd = mkstemp(file->path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, description, strlen(description)), strlen(description));
    assert_int_equal(close(fd), 0);
    (void)snprintf(file->timer, sizeof file->timer, "sim:%s", file->path);
}

#endif
