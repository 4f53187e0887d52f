/* SPDX-License-Identifier: Apache-2.0 */
/* power/reader.h - description files, line by line: words, numbers with units, errors at "file:line".
 *
 * `#` begins a comment, blanks separate words, the first word of a line is its keyword. */
#ifndef ISAPROBE_POWER_READER_H
#define ISAPROBE_POWER_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/text.h"

enum {
    PW_LINE_MAX = 512,              /* the end included */
    PW_WORDS_MAX = PW_LINE_MAX / 2, /* a line cannot hold more: titles and CPUs' names have many */
    PW_NAME_MAX = 64,
    PW_TITLE_MAX = 160,
};

struct pw_reader {
    const char *file; /* for messages; borrowed */
    const char *next; /* borrowed text */
    unsigned line;    /* of the words, from 1 */
    char copy[PW_LINE_MAX];
    char *words[PW_WORDS_MAX]; /* point into `copy` */
    size_t offsets[PW_WORDS_MAX];
    const char *raw; /* the line as it stands, not terminated */
    size_t raw_length;
    size_t count;
};

enum pw_unit { PW_UNIT_HZ, PW_UNIT_VOLT, PW_UNIT_WATT, PW_UNIT_FARAD, PW_UNIT_SECOND, PW_UNIT_BYTE };

/* Reads a file of text, "-" is standard input. IP_SYNTAX when it holds a zero byte; `what` is what it should
 * have been: "a machine description". */
IP_CHECK enum ip_status pw_file_read(struct ip_text *text, const char *path, const char *what,
                                     struct ip_error *err);

void pw_reader_init(struct pw_reader *reader, const char *file, const char *text);

/* The next line with words; *more is false at the end. IP_SYNTAX for a line that is too long or holds a
 * control character. */
IP_CHECK enum ip_status pw_reader_next(struct pw_reader *reader, bool *more, struct ip_error *err);

/* The next line as it stands, comments too, for blocks of code. False at the end. */
bool pw_reader_raw(struct pw_reader *reader);

/* Fails with IP_SYNTAX at the present line. */
enum ip_status pw_reader_fail(const struct pw_reader *reader, struct ip_error *err, const char *format, ...)
    IP_PRINTF(3, 4);

/* The most that a count or an option may be: products of a few of them are still finite. */
#define PW_NUMBER_MAX 1e18

/* A finite decimal number that fills the whole word. */
bool pw_number(const char *word, double *number);

/* words[*at] is a number and words[*at + 1] its unit (they may stand together, "800MHz"): the value in SI
 * units; *at moves behind them. `what` names the quantity in messages. */
IP_CHECK enum ip_status pw_quantity(const struct pw_reader *reader, size_t *at, enum pw_unit unit,
                                    const char *what, double *value, struct ip_error *err);

/* A whole number without unit. */
IP_CHECK enum ip_status pw_count(const struct pw_reader *reader, size_t *at, const char *what, double *value,
                                 struct ip_error *err);

/* Fails unless all words are used up. */
IP_CHECK enum ip_status pw_line_end(const struct pw_reader *reader, size_t at, struct ip_error *err);

/* Copies the rest of the line from words[1] on, as it stands there. */
IP_CHECK enum ip_status pw_line_rest(const struct pw_reader *reader, const char *what, char *out, size_t size,
                                     struct ip_error *err);

#endif
