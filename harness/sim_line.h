/* SPDX-License-Identifier: Apache-2.0 */
/* harness/sim_line.h - one line of a description as words, with their places. Internal to the harness. */
#ifndef ISAPROBE_HARNESS_SIM_LINE_H
#define ISAPROBE_HARNESS_SIM_LINE_H

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hx_sim_line {
    const char *file;
    unsigned number;
    const char *text; /* the whole line, borrowed */
    size_t length, at;
    /* The current word: */
    const char *word;
    size_t word_length;
    bool quoted;
};

/* Moves to the next word; false at the end of the line or its comment. A quoted word has no quotes.
 * An unclosed quote is reported by hx_sim_line_next as a word with `word` NULL. */
bool hx_sim_line_next(struct hx_sim_line *line);
bool hx_sim_line_is(const struct hx_sim_line *line, const char *keyword);
/* Column of the current word, or of the line's end; from 1. */
unsigned hx_sim_line_column(const struct hx_sim_line *line);
/* A syntax error at the current word (or at the line's end), `offset` characters further. */
enum ip_status hx_sim_line_fail(const struct hx_sim_line *line, size_t offset, struct ip_error *err,
                                const char *format, ...) IP_PRINTF(4, 5);

/* The next word as ...; IP_SYNTAX names what was expected and the legal range. */
IP_CHECK enum ip_status hx_sim_line_integer(struct hx_sim_line *line, const char *what, uint64_t low,
                                            uint64_t high, uint64_t *value, struct ip_error *err);
IP_CHECK enum ip_status hx_sim_line_number(struct hx_sim_line *line, const char *what, double low,
                                           double high, double *value, struct ip_error *err);
/* A word or a quoted string, copied (shorter than `size`). */
IP_CHECK enum ip_status hx_sim_line_string(struct hx_sim_line *line, const char *what, char *buffer,
                                           size_t size, struct ip_error *err);
/* Nothing may follow. */
IP_CHECK enum ip_status hx_sim_line_end(struct hx_sim_line *line, struct ip_error *err);

#endif
