/* SPDX-License-Identifier: Apache-2.0 */
/* cli/validate.h - the parts of `validate`: blocks, their measurements, what others predict, and how far off.
 */
#ifndef ISAPROBE_CLI_VALIDATE_H
#define ISAPROBE_CLI_VALIDATE_H

#include <stdint.h>

#include "cli/cli.h"
#include "common/text.h"

enum cli_notion {
    CLI_NOTION_UNROLLED, /* copies of the block follow each other */
    CLI_NOTION_LOOP,     /* the block is the body of a loop */
    CLI_NOTIONS
};
const char *cli_notion_name(enum cli_notion notion);

/* What becomes of a block in the comparison. */
enum cli_apart {
    CLI_APART_NOT,         /* it counts */
    CLI_APART_UNPREDICTED, /* the tables lack some of its forms */
    CLI_APART_UNMEASURED,  /* it does not run: see `status` */
    CLI_APART_UNSTABLE,    /* measured, not to be trusted */
    CLI_APART_SPLIT,       /* an access crosses a cache line or a page */
    CLI_APART_PAGES,       /* each pass goes to another page, which takes a walk of the page tables */
    CLI_APART_DENORMAL, /* x87 code on what is no ordinary number: slow for reasons that are not the core's */
    CLI_APARTS
};
const char *cli_apart_name(enum cli_apart apart);

enum { CLI_CASE_READINGS = 5 }; /* a case is measured so many times at most */

struct cli_case {
    double predicted, measured, spread, mca; /* cycles; NaN: none */
    uint64_t fill;
    int bound; /* enum core_bound; -1: none */
    enum cli_apart apart;
    bool missing, done, broken;         /* broken: not one sensible prediction */
    bool again, confirmed;              /* measured here, rather than read; and twice alike */
    double readings[CLI_CASE_READINGS]; /* cycles, of the first reading_count */
    unsigned reading_count;
    bool once; /* read, and to be confirmed: whoever measured it was interrupted before */
    bool splits, walks, x87;
    char *why;        /* owned; what is missing, by form; NULL: nothing */
    char status[160]; /* of the measurement */
};

struct cli_sample {
    struct ip_text code;
    char *hex; /* owned */
    unsigned line;
    bool again; /* an earlier line has the same digits */
    struct cli_case cases[CLI_NOTIONS];
};

struct cli_samples {
    struct cli_sample *items; /* owned */
    size_t count, capacity;
    struct ip_lines others; /* measurements that were read of blocks that are not there, as lines of CSV */
};
void cli_samples_fini(struct cli_samples *samples);

/* Hex blocks, one a line or in the first column of CSV. `percent` of them (0 or 100: all), chosen by `seed`.
 * IP_SYNTAX names the line that is no hex. */
IP_CHECK enum ip_status cli_samples_read(struct cli_samples *samples, const char *path, long percent,
                                         long seed, struct ip_error *err);

/* Measurements as CSV: hex,notion,cycles,spread,fill,status (of one that is to be confirmed "once"). Reading
 * fills the cases of blocks that are there and marks them done, and keeps the others; IP_SYNTAX names the
 * line that is no measurement, or the second of one block and notion. Writing writes both, one row for a
 * block that is there twice, and leaves an earlier file as it is while there is nothing of blocks that are
 * there: *kept is 0 then. */
IP_CHECK enum ip_status cli_measurements_read(struct cli_samples *samples, const char *path,
                                              struct ip_error *err);
IP_CHECK enum ip_status cli_measurements_write(const struct cli_samples *samples, const char *path,
                                               size_t *kept, struct ip_error *err);

/* A neighbour on the core makes short blocks slower by tens of per cent, and steadily so while it runs. So
 * each block is measured again after all others were. The mean of the two least of so many readings of one
 * case, in cycles, that agree this closely; NaN: no two do. One may be too low by itself, and says nothing
 * then. */
#define CLI_READINGS_AGREEMENT 0.02
double cli_readings_agreed(const double *readings, unsigned count);

/* Does --notion ask for it? */
bool cli_notion_wanted(const struct cli_settings *settings, enum cli_notion notion);

/* Predicts the cases of all notions that are asked for, from the store at `store_path`. What cannot be
 * predicted is marked in its case. Statuses as the store's. */
IP_CHECK enum ip_status cli_samples_predict(struct cli_samples *samples, const struct cli_settings *settings,
                                            const char *store_path, struct ip_error *err);

/* Measures the cases of `notion` that are not done. */
struct cli_bench;
IP_CHECK enum ip_status cli_samples_measure(struct cli_samples *samples, enum cli_notion notion,
                                            struct cli_bench *bench, struct ip_error *err);

/* llvm-mca on all blocks. `program` NULL: the newest that PATH has; *found is false, and nothing done, when
 * there is none. `version` (64 bytes) gets its name. */
IP_CHECK enum ip_status cli_mca_run(struct cli_samples *samples, enum cli_notion notion, const char *program,
                                    const char *cpu, bool *found, char version[64], struct ip_error *err);

enum { CLI_HISTOGRAM = 8 };
/* Upper ends of the histogram's classes of |error|, in per cent; the last is open. */
extern const double cli_histogram_ends[CLI_HISTOGRAM];

struct cli_agreement {
    size_t count;
    double mape;  /* mean of |predicted - measured| / measured, in per cent */
    double tau;   /* Kendall's tau over the pairs of blocks whose measurements differ by more than 2 %; a pair
                     that is predicted alike counts as neither right nor wrong */
    double tau_b; /* Kendall's tau-b over all pairs, noise included */
    double bias;  /* mean of (predicted - measured) / measured, in per cent */
    size_t histogram[CLI_HISTOGRAM];
};
/* Over pairs of numbers that are both finite. */
struct cli_agreement cli_agreement_find(const double *predicted, const double *measured, size_t count);

#endif
