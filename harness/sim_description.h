/* SPDX-License-Identifier: Apache-2.0 */
/* harness/sim_description.h - what a simulated CPU is: the parsed text of a `.sim` file (docs/sim.md). */
#ifndef ISAPROBE_HARNESS_SIM_DESCRIPTION_H
#define ISAPROBE_HARNESS_SIM_DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/text.h"
#include "harness/timer.h"
#include "isa/form.h"

enum {
    HX_SIM_PORTS_MAX = 32,
    HX_SIM_UNITS_MAX = 16,
    HX_SIM_GROUPS_MAX = 12, /* different port sets of one form */
    HX_SIM_PAIRS_MAX = 16,
    HX_SIM_NAME_MAX = 16,
    HX_SIM_UOPS_MAX = 100,     /* of one form */
    HX_SIM_LATENCY_MAX = 1000, /* cycles */
    HX_SIM_KNOWN_MAX = 1000000,
    HX_SIM_INDEPENDENT = 0xffff, /* in place of a latency: the result does not wait for that source */
    HX_SIM_WIDTH_MAX = 64,
    HX_SIM_ROB_MAX = 4096,
};

struct hx_sim_uops {
    uint32_t ports; /* bit i: the i-th port of the description */
    uint16_t count;
};

struct hx_sim_pair {
    char src[HX_SIM_NAME_MAX], dst[HX_SIM_NAME_MAX]; /* "op1", "flags", "rax", "mem" */
    uint16_t cycles;                                 /* or HX_SIM_INDEPENDENT */
};

enum hx_sim_same_register {
    HX_SIM_SAME_NOTHING,    /* equal registers are nothing special */
    HX_SIM_SAME_BREAKS,     /* the result does not wait for them; the form executes */
    HX_SIM_SAME_ELIMINATED, /* and it needs no port either (zero idiom) */
};

/* What one form does. */
struct hx_sim_row {
    char syntax[ISA_SYNTAX_MAX]; /* canonical, or a pattern with * */
    struct hx_sim_uops uops[HX_SIM_GROUPS_MAX];
    struct hx_sim_pair pairs[HX_SIM_PAIRS_MAX];
    uint8_t uops_count, pairs_count;
    bool latency_given, slots_given;
    uint16_t latency, memory_latency; /* memory_latency: address to result, 0: load latency + latency */
    uint16_t slots;
    bool eliminated;    /* done at rename: a slot, no port, latency 0 */
    bool together;      /* its slots are of one cycle */
    uint16_t microcode; /* cycles for which the front end delivers nothing else; 0: none */
    enum hx_sim_same_register same_register;
    uint16_t blocking; /* cycles that the unit `unit` is taken by; 0: none */
    uint8_t unit;
    uint16_t reads;        /* bit i: operand i is read, whatever the decoder says */
    enum hx_outcome fault; /* HX_OUTCOME_OK: runs */
};

struct hx_sim_rows {
    struct hx_sim_row *items; /* owned */
    size_t count, capacity;
    uint32_t *index; /* owned; hash of the syntax -> position + 1; built by hx_sim_rows_index */
    size_t index_size;
};

struct hx_sim_fusion {
    char first[ISA_SYNTAX_MAX], second[ISA_SYNTAX_MAX]; /* patterns */
};

enum hx_sim_policy {
    HX_SIM_POLICY_EARLIEST, /* each µop takes the port of its set that is free first */
    HX_SIM_POLICY_COUNTERS, /* bound at rename to the port with the fewest waiting µops */
};

enum hx_sim_drift { HX_SIM_DRIFT_NONE, HX_SIM_DRIFT_SINE, HX_SIM_DRIFT_WALK };

struct hx_sim_description {
    char name[64];
    /* Core */
    unsigned issue_width, retire_width, rob, scheduler; /* scheduler 0: as large as the ROB */
    unsigned fetch_width, fetch_queue;                  /* width 0: all that rename asks for is there */
    /* Forms of more slots keep the front end busy so long, unless they say otherwise; 0 cycles: none. */
    unsigned microcode_slots, microcode_cycles;
    unsigned load_latency, forward_latency, taken_branch;
    unsigned known_pairs; /* in loops of so many loads to general registers each takes up what the last store
                             put there */
    enum hx_sim_policy policy;
    double uneven;                    /* probability that a µop is bound to a random port of its set */
    char ports[HX_SIM_PORTS_MAX + 1]; /* one character each */
    unsigned ports_count;
    uint32_t load_ports, store_address_ports, store_data_ports;
    uint32_t wide_closes;   /* ports that narrower vectors do not get while 512 bits are in flight */
    bool port_counters;     /* it has events that count the uops of each port */
    unsigned counted_ports; /* set of ports that are counted instead of time; 0: time. Not of the text */
    char units[HX_SIM_UNITS_MAX][HX_SIM_NAME_MAX];
    unsigned units_count;
    /* Clock and disturbances */
    double ticks_per_cycle, overhead_ticks, resolution_ticks, noise, jitter_ticks;
    enum hx_sim_drift drift;
    double drift_amplitude, drift_period, drift_step; /* amplitude: relative; period: runs */
    double spike_probability, spike_ticks;
    uint64_t neighbour_from, neighbour_to; /* window of runs; from == to: none */
    double neighbour_probability, neighbour_share;
    uint64_t neighbour_runs;
    uint64_t seed;
    /* Forms, in the order in which they are consulted */
    struct hx_sim_rows rows, patterns, imported;
    struct hx_sim_row fallback; /* the `default` row */
    bool has_fallback;
    struct hx_sim_fusion *fusions; /* owned */
    size_t fusions_count, fusions_capacity;
    struct ip_lines imports; /* paths of the tables that `imported` was read from */
};

/* Parses `length` bytes of text. `name` stands in messages. `directory` is where relative names of imported
 * files begin ("" for the current one); NULL refuses imports. IP_SYNTAX with "name:line:column";
 * `description` is untouched unless IP_OK. */
IP_CHECK enum ip_status hx_sim_description_parse(struct hx_sim_description *description, const char *name,
                                                 const char *text, size_t length, const char *directory,
                                                 struct ip_error *err);
IP_CHECK enum ip_status hx_sim_description_read(struct hx_sim_description *description, const char *path,
                                                struct ip_error *err);
void hx_sim_description_fini(struct hx_sim_description *description); /* all-zero is fine */

/* The row for a decoded form: its own, else the first pattern that matches, else the imported one, else the
 * default; NULL: none. Borrowed. `binding` NULL: an instance with any operands. */
const struct hx_sim_row *hx_sim_row_find(const struct hx_sim_description *description,
                                         const struct isa_form *form, const struct isa_binding *binding);

/* Rows as a growing list with an index; false: no memory. */
bool hx_sim_rows_add(struct hx_sim_rows *rows, const struct hx_sim_row *row);
bool hx_sim_rows_index(struct hx_sim_rows *rows);
const struct hx_sim_row *hx_sim_rows_find(const struct hx_sim_rows *rows, const char *syntax);
void hx_sim_rows_fini(struct hx_sim_rows *rows);
/* `*` stands for any run of characters. */
bool hx_sim_pattern_matches(const char *pattern, const char *text);

/* "1*p0156+2*p5" or "none" -> uops of `row`. NULL when good, else what is wrong; *where gets the offset in
 * `text` (`length` bytes). Ports must be those of the description. Returns hx_sim_too_many_uops itself for a
 * term that is well-formed but too large for the model. */
const char *hx_sim_ports_parse(const struct hx_sim_description *description, const char *text, size_t length,
                               struct hx_sim_row *row, size_t *where);

extern const char hx_sim_too_many_uops[];

/* Reads a table of port usage with uops.info names (columns instruction, latency, ..., slots, ports) into
 * description->imported, and remembers its path. harness/sim_import.c. */
IP_CHECK enum ip_status hx_sim_import_csv(struct hx_sim_description *description, const char *path,
                                          struct ip_error *err);
/* The same from text. */
IP_CHECK enum ip_status hx_sim_import_text(struct hx_sim_description *description, const char *name,
                                           const char *text, size_t length, struct ip_error *err);
/* harness/sim_names.c. "ADD (R64, I8)" for a form, whatever its encoding; `buffer` of ISA_SYNTAX_MAX bytes.
 */
void hx_sim_import_name(const struct isa_form *form, char *buffer);
/* A published name in that manner. False: longer than ISA_SYNTAX_MAX allows. */
bool hx_sim_published_name(const char *text, size_t length, char *name);
/* The imported row of a form; LEA's depends on its address, if a binding is given. NULL: none. */
const struct hx_sim_row *hx_sim_import_find(const struct hx_sim_rows *imported, const struct isa_form *form,
                                            const struct isa_binding *binding);

#endif
