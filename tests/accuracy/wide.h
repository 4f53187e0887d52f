/* SPDX-License-Identifier: Apache-2.0 */
/* tests/accuracy/wide.h - the 512-bit rows of LLVM's SapphireRapids model: one latency, and a pressure on
 * each port instead of sets. */
#ifndef ISAPROBE_TESTS_ACCURACY_WIDE_H
#define ISAPROBE_TESTS_ACCURACY_WIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "isa/table.h"
#include "results/store.h"
#include "tests/accuracy/reference.h"

enum { WIDE_NAME_MAX = 80, WIDE_PORTS = 12 };

struct wide_row {
    char name[WIDE_NAME_MAX];
    double
        pressure[WIDE_PORTS]; /* cycles of a port for one instance; ports 10 and 11 as uops.info has them */
    double uops, latency, throughput;
    struct isa_form *form; /* NULL: the tables have none */
};

struct wide {
    struct wide_row *rows; /* owned */
    size_t count;
};

void wide_fini(struct wide *wide);
IP_CHECK enum ip_status wide_read(struct wide *wide, const char *path, const struct isa_table *table,
                                  struct ip_error *err);
/* Appends the rows that have a form to a reference, with scope REFERENCE_MODEL: the latency from the slowest
 * register, or from the address of a load (none of a store); as slots the uops of rows without memory, for
 * the model does not say which loads issue together with their operation. */
IP_CHECK enum ip_status wide_append(const struct wide *wide, struct reference *reference,
                                    struct ip_error *err);
/* Could these terms put that pressure on the ports, and do they bind as hard? Where 512-bit loads run on two
 * ports the model has three: a load counts on any of them. */
bool wide_agrees(const struct wide_row *row, const struct res_port_term *terms, unsigned count);
/* "p0=1.00 p23A=1.00" */
void wide_print(const struct wide_row *row, char *buffer, size_t size);

#endif
