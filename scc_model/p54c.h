/* SPDX-License-Identifier: Apache-2.0 */
/* scc_model/p54c.h - the SCC's core: costs of its instructions as a table, and an in-order model of its two
 * pipes that makes cycles of a loop body out of them. docs/power.md describes both.
 *
 * Ports of the table: p0 = U pipe, p1 = V pipe, p2 = floating-point unit, p3 = its multiplier; a count is for
 * how many cycles the port is taken. */
#ifndef ISAPROBE_SCC_MODEL_P54C_H
#define ISAPROBE_SCC_MODEL_P54C_H

#include <stdint.h>

#include "common/text.h"
#include "power/cycles_source.h"

enum { SCC_P54C_PORTS = 4, SCC_P54C_TERMS = 4 };

/* "2*p01": `cycles` on one of the ports of `mask`. */
struct scc_port_use {
    unsigned mask;
    int cycles;
};

struct scc_row {
    char form[48]; /* row syntax of the instruction tables: "add r32, r32/imm8/imm32" */
    double latency_cycles, throughput_cycles;
    struct scc_port_use uses[SCC_P54C_TERMS];
    int use_count;
};

/* The table as CSV, in the columns of 'isaprobe export --format csv'; its forms are rows, with alternatives.
 */
const char *scc_p54c_csv(void);

enum { SCC_P54C_ROWS_MAX = 160 };
struct scc_p54c {
    struct scc_row rows[SCC_P54C_ROWS_MAX];
    int row_count;
};

/* Parses such a table. IP_SYNTAX at "file:line". */
IP_CHECK enum ip_status scc_p54c_parse(struct scc_p54c *table, const char *file, const char *csv,
                                       struct ip_error *err);

/* How to add the costs up. */
enum scc_p54c_rule {
    SCC_P54C_PIPES,  /* two pipes, in order: pairing, dependences, overlap of the floating-point unit */
    SCC_P54C_SERIAL, /* one instruction after the other, the sum of latencies: the thesis's way */
};

/* Core cycles of a pass through `code` (32-bit), as it stands there, again and again. IP_UNSUPPORTED names
 * what the table lacks. */
IP_CHECK enum ip_status scc_p54c_cycles(const struct scc_p54c *table, enum scc_p54c_rule rule,
                                        const uint8_t *code, size_t code_bytes, double *cycles,
                                        struct ip_error *err);

/* The table as a source for power/, with SCC_P54C_PIPES: code that does not end in a branch to its start gets
 * a counter and one. IP_UNSUPPORTED for an inner loop, too. Borrows `table`. */
struct pw_cycles_source scc_p54c_source(struct scc_p54c *table);

#endif
