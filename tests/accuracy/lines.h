/* SPDX-License-Identifier: Apache-2.0 */
/* tests/accuracy/lines.h - the lines of a table in a text file, behind its heading. */
#ifndef ISAPROBE_TESTS_ACCURACY_LINES_H
#define ISAPROBE_TESTS_ACCURACY_LINES_H

#include <stddef.h>

#include "common/error.h"
#include "common/text.h"

struct lines {
    struct ip_text text; /* owned */
    char *rest;          /* what was not given out yet */
    size_t most;         /* no more lines than that */
    unsigned number;     /* of the line given out last, from 1 */
};

/* Reads the file. IP_IO, and IP_SYNTAX where it has more than `limit` bytes. */
IP_CHECK enum ip_status lines_open(struct lines *lines, const char *path, size_t limit, struct ip_error *err);
/* The next line behind the heading, ended by a zero; NULL at the end or at an empty line. */
char *lines_next(struct lines *lines);
void lines_close(struct lines *lines);

#endif
