/* SPDX-License-Identifier: Apache-2.0 */
/* results/formats.h - the formats one by one, and what several of them need. Internal to results/. */
#ifndef ISAPROBE_RESULTS_FORMATS_H
#define ISAPROBE_RESULTS_FORMATS_H

#include "results/export.h"
#include "results/tree.h"

/* Writers append to `text`; that it failed is noticed by res_export_write. Readers add rows. */
void res_csv_write(const struct res_sheet *sheet, struct res_export *export, struct ip_text *text);
IP_CHECK enum ip_status res_csv_read(struct res_sheet *sheet, const char *name, const char *text,
                                     struct ip_error *err);
/* The columns instruction,extension,latency,throughput_from_ports,throughput_measured,slots,uops,ports (those
 * that are there). */
IP_CHECK enum ip_status res_uops_csv_read(struct res_sheet *sheet, const char *name, const char *text,
                                          struct ip_error *err);

void res_json_write(const struct res_sheet *sheet, struct res_export *export, struct ip_text *text);
IP_CHECK enum ip_status res_json_read(struct res_sheet *sheet, const char *name, const char *text,
                                      struct ip_error *err);

void res_lua_write(const struct res_sheet *sheet, struct res_export *export, struct ip_text *text);
IP_CHECK enum ip_status res_lua_read(struct res_sheet *sheet, const char *name, const char *text,
                                     struct ip_error *err);

void res_xml_write(const struct res_sheet *sheet, struct res_export *export, struct ip_text *text);
IP_CHECK enum ip_status res_xml_read(struct res_sheet *sheet, const char *name, const char *text,
                                     struct ip_error *err);

IP_CHECK enum ip_status res_osaca_write(const struct res_sheet *sheet, struct res_export *export,
                                        struct ip_text *text, struct ip_error *err);
IP_CHECK enum ip_status res_osaca_read(struct res_sheet *sheet, const char *name, const char *text,
                                       struct ip_error *err);

IP_CHECK enum ip_status res_exegesis_write(const struct res_sheet *sheet, struct res_export *export,
                                           struct ip_text *text, struct ip_error *err);
IP_CHECK enum ip_status res_exegesis_read(struct res_sheet *sheet, const char *name, const char *text,
                                          struct ip_error *err);

IP_CHECK enum ip_status res_schedule_write(const struct res_sheet *sheet, struct res_export *export,
                                           struct ip_text *text, struct ip_error *err);
IP_CHECK enum ip_status res_schedule_read(struct res_sheet *sheet, const char *name, const char *text,
                                          struct ip_error *err);

/* --- shared --------------------------------------------------------------------------------------------- */

/* The number, or `nothing` for NaN. */
void res_number_or(struct ip_text *text, double number, const char *nothing);

/* A pair's latency as one number: of a bound the share that is the form's own, where that was found. */
double res_pair_cycles(const struct res_sheet_pair *pair);
/* The greatest share of the bounds between registers, of those that were found to hold more than the form's
 * own; NaN: there is none. */
double res_row_latency_shared(const struct res_row *row);
/* One number for a form's latency, where a format has no room for pairs: the greatest of its exact pairs and
 * of those shares, of its bounds if no pair is exact; what a value takes through memory only counts where
 * there is nothing else. NaN: none is known. */
double res_row_latency(const struct res_row *row);
/* µops in all; NaN: the ports are not known. */
double res_row_uops(const struct res_row *row);

/* A port's number in the notation of LLVM, OSACA and MAQAO, which call the fifth ALU 10 and the third load
 * port 11, where uops.info has B and A. Its own inverse. */
unsigned res_port_number(unsigned port);
/* Appends [[1, [0, 1]], [2, [5]]], with the given brackets, each number between two `quote`s. */
void res_ports_append(struct ip_text *text, const char *ports, const char *open, const char *close,
                      const char *quote);
/* How the names of units begin where a format has them beside its ports: "U0". */
#define RES_UNIT_PIPE "U"
/* Is it such an entry of a list of ports: [4, [U0]]? */
bool res_is_unit_term(const struct res_node *term);
/* The way back: from the items of such a list; units are passed over. False when it is none, or too long. */
bool res_ports_of_node(const struct res_node *node, char ports[RES_PORTS_MAX]);

/* Of several rows with the same key, the one of the highest rank; of equals the first. */
struct res_choice {
    char key[160];
    int rank;
    size_t row;
    bool chosen;
};
/* Marks what is chosen, and counts the rest; the order of the array is kept. */
void res_choices_make(struct res_choice *choices, size_t count, size_t *merged);

/* One machine instruction as LLVM names it. */
struct res_llvm_name {
    char opcode[48];    /* "ADD64rm"; "": LLVM does not know the instruction */
    char prefix[24];    /* "LOCK_PREFIX"; "": none */
    char operands[160]; /* "RBX RBX RSI i_0x1 %noreg i_0x40 %noreg" */
    uint8_t code[ISA_CODE_MAX];
    uint8_t code_bytes;
};
/* Asks llvm-mc (on PATH, or $ISAPROBE_LLVM_MC) for the names of a sample of each row; rows without a form get
 * none. IP_CAPABILITY when it is not there. *names: owned by the caller, one per row. */
IP_CHECK enum ip_status res_llvm_names(const struct res_sheet *sheet, struct res_llvm_name **names,
                                       struct ip_error *err);

#endif
