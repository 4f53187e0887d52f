/* SPDX-License-Identifier: Apache-2.0 */
/* results/sheet.h - what is known of a CPU's instruction forms, in memory, wherever it came from: a store,
 * one of our exports (results/export.h) or a table published by others. What writes exports and what compares
 * CPUs sees sheets only. */
#ifndef ISAPROBE_RESULTS_SHEET_H
#define ISAPROBE_RESULTS_SHEET_H

#include "isa/table.h"
#include "probe/usage.h"
#include "results/store.h"

enum {
    RES_NAME_MAX = 128,
    RES_PORTS_MAX = PROBE_USAGE_TEXT,
    RES_SHEET_BYTES_MAX = 256 << 20, /* of a file that is read: uops.info's has all architectures */
};

/* One latency: from an operand to another. */
struct res_sheet_pair {
    char src[16], dst[16];
    char path[12]; /* "register", "address", "index", "content" */
    double cycles;
    double same_register_cycles; /* with one register for all sources; NaN: not measured */
    /* With operands that take long (division), or merged into an old value, or the greater of uops.info's
     * two; NaN: not measured. */
    double slow_cycles;
    bool upper_bound;
    bool slow_upper_bound; /* slow_cycles is one, where cycles need not be: of uops.info */
    double share; /* of an upper bound: what adds up with the way back (results/transfer.h); NaN: not known */
};

/* The least and the greatest latency over all pairs. */
struct res_sheet_range {
    bool known;
    double low, high;
    bool low_bound, high_bound; /* an upper bound */
};

struct res_row {
    char form[ISA_SYNTAX_MAX]; /* our syntax; "": the source has only `name` */
    char name[RES_NAME_MAX];   /* in the notation of uops.info: "ADD (R64, M64)"; "": see res_sheet_derive */
    char extension[20];
    char status[16];              /* enum res_status in words; "" where the source does not say */
    struct res_sheet_pair *pairs; /* owned */
    size_t pair_count;
    struct res_sheet_range latency; /* of the pairs, where there are any */
    double throughput, slots;       /* NaN: not known */
    double throughput_slow;         /* with operands that take long; NaN: not measured */
    char ports[RES_PORTS_MAX];      /* "" not known; "none": known to need none */
    char unit[PROBE_UNIT_NAME];     /* the form after which the unit is called that it waits for; "": none */
    double unit_cycles;             /* that an instance keeps the unit busy; NaN: there is none */
    const struct isa_form *info;    /* res_sheet_derive; borrowed from the sheet's table */
};

/* What some formats say of the core besides its forms (`isaprobe core`). */
enum res_sheet_core { RES_SHEET_ROB_SLOTS, RES_SHEET_RETIRE_WIDTH, RES_SHEET_SCHEDULER_UOPS, RES_SHEET_CORE };

struct res_sheet {
    /* Given to readers: which architecture of a file with several is wanted, as uops.info's XML; NULL: there
     * is but one. Borrowed while they read. */
    const char *architecture;
    char machine[256];           /* res_machine.identity, or where the sheet comes from */
    double core[RES_SHEET_CORE]; /* 0: not known */
    struct res_row *rows;        /* owned; in the order of the source */
    size_t count, capacity;
    bool whole_latencies; /* they are rounded: the source has no other */
    size_t doubtful;      /* values that res_sheet_of_store left out */
    size_t inconsistent;  /* forms whose ports it does not have: the store marks them, and keeps none */
    size_t ambiguous;     /* forms whose ports are one of several possibilities: res_sheet_of_store left them
                             out, or, with doubtful values, took the first of each */
    struct isa_table table; /* of the rows' forms, after res_sheet_derive */
};

void res_sheet_fini(struct res_sheet *sheet); /* all-zero is fine and empty */
/* A new row at the end, with all numbers NaN; borrowed until the next call. NULL: out of memory. */
struct res_row *res_sheet_row_add(struct res_sheet *sheet);
/* A new pair of a row, all-zero but for NaN; borrowed until the next call. NULL: out of memory. */
struct res_sheet_pair *res_row_pair_add(struct res_row *row);
/* Sets row->latency from its pairs. */
void res_row_range_find(struct res_row *row);
/* The row with this syntax, or NULL. Linear. */
const struct res_row *res_sheet_find(const struct res_sheet *sheet, const char *form);

/* The wanted forms of a store that this CPU runs. Values that the store does not trust are left out unless
 * `doubtful`. IP_FAILED when the store has no forms; IP_USAGE as res_forms_select. */
IP_CHECK enum ip_status res_sheet_of_store(struct res_sheet *sheet, struct res_store *store,
                                           const struct res_wanted *wanted, bool doubtful,
                                           struct ip_error *err);

/* Finds out what the rows' forms mean: row->info and row->name. Asks NASM (isa_forms_derive). */
IP_CHECK enum ip_status res_sheet_derive(struct res_sheet *sheet, struct ip_error *err);

/* --- notations ------------------------------------------------------------------------------------------ */

/* The name of a derived form in the notation of uops.info, without the suffixes that tell encodings of one
 * form apart ("ADD (R64, R64)" for ADD_01 and ADD_03). `name` holds RES_NAME_MAX bytes. */
void res_uops_name(const struct isa_form *form, char *name);
/* Drops those suffixes from a name of uops.info. */
void res_uops_name_plain(char *name);

/* "1*p01+2*p5" as sets of bits: bit i of a term's ports is port i of "0123456789ABC...". uops.info's name of
 * an AMD's pipes, "1*FP01", is read as "1*p01". `terms` has room for PROBE_USAGE_TERMS. False where it is no
 * such list; "" and "none" have no terms. */
bool res_usage_parse(const char *text, struct probe_usage_term *terms, unsigned *count);
/* The name of such a port. */
char res_port_name(unsigned port);
/* Does the list name an AMD's pipes ("1*FP01")? uops.info's tables of such cores say nothing of other ports.
 */
bool res_usage_is_of_pipes(const char *text);
/* The same list with its terms sorted, for comparing: "2*p5+1*p01"; without terms that have no port of
 * `within` ("none": it has no others). False as res_usage_parse. */
bool res_usage_normal(const char *text, uint32_t within, char *normal, size_t size);

/* "0.25", "1", "3.6667": at most four decimals, without trailing zeros. */
void res_number_append(struct ip_text *text, double number);
/* The number that `text` says, to its end; NaN for NULL, "" or anything else. */
double res_number_read(const char *text);
/* The same of a value of uops.info's; false where it is no number, nor NULL, "" or "-": not known there. */
bool res_number_known(const char *text, double *number);

#endif
