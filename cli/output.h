/* SPDX-License-Identifier: Apache-2.0 */
/* cli/output.h - rows of typed values as aligned text, CSV (RFC 4180) or JSON lines.
 *
 * A command names its columns once and gives a row of values at a time. A list column holds a list of small
 * records: an array of objects in JSON, one record per item in CSV. Numbers have two decimals in text and
 * four elsewhere; NaN and infinities are null in JSON, empty in CSV, "-" in text. */
#ifndef ISAPROBE_CLI_OUTPUT_H
#define ISAPROBE_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/cli.h"

enum cli_type {
    CLI_TYPE_NONE,
    CLI_TYPE_TEXT,
    CLI_TYPE_NUMBER,
    CLI_TYPE_INTEGER,
    CLI_TYPE_BOOL,
    CLI_TYPE_LIST
};

struct cli_column {
    const char *name;
    bool text_hidden;               /* not part of the text table */
    bool text_only;                 /* part of nothing else */
    const struct cli_column *items; /* CLI_TYPE_LIST: columns of its items, ended by name NULL */
};

struct cli_value {
    enum cli_type type;
    const char *text; /* borrowed */
    double number;
    int64_t integer;              /* CLI_TYPE_NUMBER: significant digits, 0 for four decimals */
    const struct cli_value *list; /* count * (columns of an item) values, borrowed */
    size_t count;
};

struct cli_value cli_text(const char *text); /* NULL: no value */
struct cli_value cli_number(double number);
/* A number that takes its decimals from its size: nine significant digits outside the text format. */
struct cli_value cli_quantity(double number);
struct cli_value cli_integer(int64_t integer);
struct cli_value cli_bool(bool value);
struct cli_value cli_list(const struct cli_value *values, size_t items);

struct cli_output {
    enum cli_format format;
    const char *command;              /* for messages */
    const char *path;                 /* NULL: standard output */
    FILE *stream;                     /* NULL once writing has failed */
    const struct cli_column *columns; /* ended by name NULL */
    struct ip_lines *rows;            /* text: cells of each row, kept until the end for alignment */
    size_t row_count, row_capacity;
    bool colour, utf8, failed, written;
    bool made; /* the file was not there before */
    int write_errno;
};

/* Opens what --output names. On failure a message is printed and the exit code returned, else CLI_EXIT_OK. */
int cli_output_open(struct cli_output *output, const struct cli_command *command,
                    const struct cli_settings *settings, const struct cli_column *columns);

/* One row: a value per column. `cells`, when not NULL, is what the text format shows instead; it may have
 * more cells than there are columns. Its strings are taken. */
void cli_output_row(struct cli_output *output, const struct cli_value *values, struct ip_lines *cells);

/* Text as it is, for `emit`; columns may be NULL then. */
void cli_output_raw(struct cli_output *output, const struct ip_text *text);

/* Writes what is kept, closes, and checks everything; a file that was made here, and for which there was
 * nothing, is removed. Returns `code`, or, when the data could not be written,
 * prints a message and returns CLI_EXIT_FAILED (128 + SIGPIPE, silently, when the reader has gone). */
int cli_output_close(struct cli_output *output, int code);

/* Appends a number in the text format: "3.00", "-" for NaN. */
void cli_number_append(struct ip_text *text, double number);

/* Issue slots for people: the integer that they are near to, else "1.50"; "-" for NaN. Returns `buffer`. */
enum { CLI_SLOTS_MAX = 32 };
const char *cli_slots_text(double slots, char buffer[CLI_SLOTS_MAX]);

/* Appends a finite CLI_TYPE_NUMBER as CSV and JSON have it. */
void cli_number_exact_append(struct ip_text *text, const struct cli_value *value);

/* output_text.c, output_json.c, output_csv.c: one row (or the whole table) as text. */
void cli_json_row(struct ip_text *text, const struct cli_column *columns, const struct cli_value *values);
void cli_csv_header(struct ip_text *text, const struct cli_column *columns);
void cli_csv_row(struct ip_text *text, const struct cli_column *columns, const struct cli_value *values);
void cli_text_cells(struct ip_lines *cells, const struct cli_column *columns, const struct cli_value *values);
void cli_text_table(struct ip_text *text, const struct cli_output *output);

#endif
