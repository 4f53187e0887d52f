/* SPDX-License-Identifier: Apache-2.0 */
/* tests/accuracy/reference.h - rows of uops.info's table as CSV, and which of our forms each one means. */
#ifndef ISAPROBE_TESTS_ACCURACY_REFERENCE_H
#define ISAPROBE_TESTS_ACCURACY_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "isa/table.h"

enum { REFERENCE_NAME_MAX = 80, REFERENCE_PORTS_MAX = 96 };

/* "[2;≤5]": the least and the greatest latency over all operand pairs. */
struct reference_range {
    bool known;
    double low, high;
    bool low_bound, high_bound; /* "≤" */
};

/* What a row is about; all but the last have a form. */
enum reference_scope {
    REFERENCE_IN_SCOPE, /* registers of up to 256 bits */
    REFERENCE_MEMORY,   /* touches memory */
    REFERENCE_512,      /* wider than 256 bits, with or without memory */
    REFERENCE_MODEL,    /* the same, of another table: LLVM's model of a server part (wide.h) */
    REFERENCE_UNMAPPED, /* no form of the tables: see `why` */
};

struct reference_row {
    char name[REFERENCE_NAME_MAX];
    char extension[24];
    struct reference_range latency;
    double throughput;               /* measured; NaN: not given */
    double slots;                    /* fused-domain uops; NaN: not given */
    char ports[REFERENCE_PORTS_MAX]; /* "1*p01+2*p5" as it stands there; "": none */
    enum reference_scope scope;
    char why[96];
    struct isa_form *form; /* borrowed from the table; NULL when unmapped */
};

struct reference {
    struct reference_row *rows; /* owned */
    size_t count;
};

void reference_fini(struct reference *reference);
/* Reads the CSV file; IP_SYNTAX names the line. */
IP_CHECK enum ip_status reference_read(struct reference *reference, const char *path, struct ip_error *err);
/* Finds the form of each row (deriving the forms that may be meant). */
IP_CHECK enum ip_status reference_map(struct reference *reference, const struct isa_table *table,
                                      struct ip_error *err);
/* Splits one line of CSV in place into at most `limit` fields; returns their number. */
size_t reference_fields_split(char *line, char **fields, size_t limit);
/* Moves *text behind `before` and the number that follows; false: neither is there, and *text as it was. */
bool reference_number_read(const char **text, const char *before, unsigned *number);

#endif
