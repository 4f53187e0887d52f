/* SPDX-License-Identifier: Apache-2.0 */
/* results/store.h - the store: one SQLite file that holds what is known of one CPU. docs/store.md describes
 * the schema.
 *
 * One writer at a time (STORE.lock), any number of readers. Each form is one transaction: whatever happens to
 * the process, a form is in the store as a whole or not at all. A store that is damaged, of another CPU or of
 * a newer schema is refused and left as it is.
 *
 * Statuses, for all functions: IP_CAPABILITY: no permission to read or write there; IP_FAILED: in use, of
 * another CPU, of another schema, no store; IP_IO: damaged, disk full, input or output failed. */
#ifndef ISAPROBE_RESULTS_STORE_H
#define ISAPROBE_RESULTS_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/text.h"
#include "harness/meter.h"
#include "isa/form.h"
#include "probe/latency.h"
#include "probe/slots.h"
#include "probe/throughput.h"
#include "probe/units.h"
#include "results/evidence.h"
#include "results/machine.h"

enum {
    RES_SCHEMA_VERSION = 2,          /* 1 is upgraded when it is opened for writing; 2 added ports */
    RES_APPLICATION_ID = 0x49534150, /* "ISAP": what `file` and others recognise */
};

struct res_store;

/* Opens for writing; makes the store where there is none (its directory must exist). */
IP_CHECK enum ip_status res_store_open(struct res_store **store, const char *path,
                                       const struct res_machine *machine, struct ip_error *err);
/* Opens for reading, while a scan writes too. */
IP_CHECK enum ip_status res_store_open_readonly(struct res_store **store, const char *path,
                                                struct ip_error *err);
void res_store_close(struct res_store *store); /* NULL is fine */

/* --- writing ------------------------------------------------------------------------------------------- */

/* The conditions under which facts were measured. Strings are borrowed. */
struct res_run {
    const char *version, *timer, *selection, *governor, *turbo;
    int cpu;
    double ticks_per_cycle, chain_spread, sentinel_cycles;
    bool sentinel_suspect;
    struct hx_plan plan;
};

/* Begins a run: what is stored from now on belongs to it. A run that an earlier process did not end is marked
 * "killed". */
IP_CHECK enum ip_status res_run_begin(struct res_store *store, const struct res_run *run,
                                      struct ip_error *err);
/* Ends it: "finished", "interrupted" or "failed". Kernels that no statistic has any more go. */
IP_CHECK enum ip_status res_run_end(struct res_store *store, const char *outcome, uint64_t kernels,
                                    struct ip_error *err);

/* What can be known of a form; a scan measures some of it. */
enum res_part { RES_PART_LATENCY = 1, RES_PART_THROUGHPUT = 2, RES_PART_SLOTS = 4, RES_PART_PORTS = 8 };

/* What was found out about a form. The facts that are given replace what the store had of them; NULL: not
 * measured now. With an obstacle (isa_form.obstacle) none need be given. `parts` says what of all that was
 * asked for is known now: the store counts what it has for known only then (res_form_known). */
struct res_facts {
    const struct isa_form *form; /* derived */
    unsigned parts;              /* enum res_part */
    const struct probe_latency *latency;
    const struct probe_throughput *throughput;
    const struct probe_slots *slots;
    const struct probe_usage *usage;
    const struct probe_portmap *map; /* in whose port names `usage` is stored; NULL without `usage` */
};

/* What the facts amount to; the words of the column `status`. */
enum res_status {
    RES_STATUS_OK,           /* "ok" */
    RES_STATUS_UNSTABLE,     /* "unstable": measured, not to be trusted */
    RES_STATUS_DISTURBED,    /* "disturbed": measured, not to be trusted */
    RES_STATUS_ILLEGAL,      /* "illegal": this CPU lacks the instruction */
    RES_STATUS_FAULT,        /* "fault": its kernels do not run to their end */
    RES_STATUS_UNMEASURABLE, /* "unmeasurable": no kernel can be made */
};
const char *res_status_name(enum res_status status);

/* Stores a form in one transaction. `log` (may be NULL) has the kernels behind the facts. */
IP_CHECK enum ip_status res_form_put(struct res_store *store, const struct res_facts *facts,
                                     const struct res_log *log, enum res_status *status,
                                     struct ip_error *err);

/* Has the store these parts of the form? With `trusted`, a form that is unstable or disturbed does not count,
 * nor do issue slots and ports that are so, or inconsistent, by themselves. */
IP_CHECK enum ip_status res_form_known(struct res_store *store, const char *syntax, unsigned parts,
                                       bool trusted, bool *known, struct ip_error *err);

/* Stores the port map of this CPU, in place of the one that was there. Belongs to the run that has begun.
 * IP_UNTRUSTED, and the one that was there stays, when it is not confirmed. */
IP_CHECK enum ip_status res_portmap_put(struct res_store *store, const struct probe_portmap *map,
                                        struct ip_error *err);

/* --- reading ------------------------------------------------------------------------------------------- */

/* The statistic behind a number, and its kernel. */
struct res_evidence {
    bool known;
    char verdict[12];
    double low_cycles, cycles, high_cycles, spread, ticks_per_cycle, sentinel_cycles;
    int64_t batches, retakes;
    uint64_t kernel; /* its hash; 0: not kept */
    int64_t copies, unit_instructions, forms_per_unit;
    uint8_t *unit; /* owned: machine code of the loop's unit */
    size_t unit_bytes;
};

/* A measured value, NaN when there is none. */
struct res_value {
    bool known; /* the store has a row */
    double cycles, spread;
    double slow_cycles; /* latency, throughput: with operands that take long; else NaN */
    char verdict[12];   /* "ok", "unstable", "disturbed", "fault", "none" */
    char how[96], why[128];
    int64_t registers, run;
    struct res_evidence evidence;
};

struct res_pair {
    char src[16], dst[16], path[12];
    bool independent; /* the destination does not wait for the source: there is no number */
    bool upper_bound;
    char via[64];
    double chained_cycles, same_register_cycles;
    struct res_value value; /* `how` and `registers` are not used */
};

/* Port usage. In text, as everywhere: "1*p01+2*p5": one uop that may go to port 0 or 1, and two that go to
 * port 5; "none": uops that take no port, or no uop at all. res_ports_parse takes it apart. A store's uops
 * are two terms, its data and its address ("1*p49+1*p78"), where the vendor's names are known. */
struct res_ports {
    bool known;                                /* the store has a row */
    char usage[PROBE_USAGE_ALTERNATIVES_TEXT]; /* "": none that can be trusted, see the verdict */
    char verdict[16];           /* "ok"; "ambiguous": `usage` has several ("1*p01 or 1*p12", and "or others"
                                   where these are not all), and the port map leaves open which it is;
                                   "inconsistent": it does not explain all that was measured;
                                   "unstable", "disturbed", "fault", "none": not measured */
    char unit[PROBE_UNIT_NAME]; /* the form after which the unit is called that it waits for; "": none */
    char how[64], why[128];
    int64_t uops;                   /* in all terms; -1: not known */
    double slots;                   /* issue slots, fused domain; NaN: not measured */
    double cycles, expected_cycles; /* throughput that was measured; that ports and slots would allow */
    double unit_cycles;             /* that an instance keeps `unit` busy; NaN */
    double residual;                /* largest distance of a measurement from what the usage predicts, uops */
    int64_t run;
    struct res_evidence evidence; /* the form alone */
};

struct res_form {
    char syntax[ISA_SYNTAX_MAX], extension[20], isa_set[32];
    char status[16], why[128];
    unsigned parts;
    struct res_pair *pairs; /* owned */
    size_t pair_count;
    struct res_value throughput, slots;
    struct res_ports ports;
};
void res_form_fini(struct res_form *form); /* all-zero is fine */

/* Reads all that is known of a form. IP_FAILED when the store does not have it. */
IP_CHECK enum ip_status res_form_get(struct res_store *store, const char *syntax, struct res_form *form,
                                     struct ip_error *err);

/* The same; *found is false, and the form untouched, when the store does not have it. Finish the form when it
 * is. */
IP_CHECK enum ip_status res_form_find(struct res_store *store, const char *syntax, struct res_form *form,
                                      bool *found, struct ip_error *err);

/* IP_FAILED when nothing was scanned into the store yet. */
IP_CHECK enum ip_status res_forms_need(struct res_store *store, struct ip_error *err);

/* Rows of an instruction table ("extension X", syntaxes) for all forms in the store. */
IP_CHECK enum ip_status res_forms_table(struct res_store *store, struct ip_text *rows, struct ip_error *err);
/* Which forms are wanted: those that the queries name (isa_table_select; all when there are none) and that
 * are of the extensions (all when there are none). Borrowed. */
struct res_wanted {
    char *const *queries;
    size_t count;
    struct ip_lines extensions;
};
/* Selects in the table of those rows, of the store at `path`, each form once, in the order of the queries;
 * the array of positions is then the caller's. What the store lacks is to be scanned, or, where the built-in
 * tables lack it too, called so by nobody; a form named may be of none of the extensions: IP_USAGE, in these
 * words. */
IP_CHECK enum ip_status res_forms_select(const struct isa_table *table, const char *path,
                                         const struct res_wanted *wanted, size_t **positions, size_t *count,
                                         struct ip_error *err);

/* The port map that the store keeps; its forms are those of `table` (borrowed; derived by the way). *found is
 * false, and the map untouched, when there is none, or one with a form that `table` does not have. */
IP_CHECK enum ip_status res_portmap_get(struct res_store *store, const struct isa_table *table,
                                        struct probe_portmap *map, bool *found, struct ip_error *err);

/* The names of the units that forms of the store wait for become `known` of `units`, as many as there is room
 * for: a scan that goes on calls them by the same names. */
IP_CHECK enum ip_status res_units_get(struct res_store *store, struct probe_units *units,
                                      struct ip_error *err);

/* One term of a usage in text. */
struct res_port_term {
    char ports[PROBE_PORTSET_PORTS + 1]; /* a character for each port: "0156B" */
    double uops;
};
/* Takes "1*p01+2*p5" apart. False when it is none, or several; "none" and "" have no terms. Terms beyond
 * `limit` make it false. */
bool res_ports_parse(const char *usage, struct res_port_term *terms, unsigned limit, unsigned *count);

/* One run, as text for people. */
struct res_run_text {
    char started[24], outcome[16], version[24], timer[128];
    int64_t cpu;
    double ticks_per_cycle;
};
IP_CHECK enum ip_status res_run_get(struct res_store *store, int64_t run, struct res_run_text *text,
                                    struct ip_error *err);
/* The identity of the store's machine (results/machine.h). */
IP_CHECK enum ip_status res_machine_get(struct res_store *store, struct ip_text *identity,
                                        struct ip_error *err);

#endif
