/* SPDX-License-Identifier: Apache-2.0 */
/* tests/port_machine.h - small simulated CPUs whose ports are known, with a table of their forms. */
#ifndef ISAPROBE_TESTS_PORT_MACHINE_H
#define ISAPROBE_TESTS_PORT_MACHINE_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/meter.h"
#include "isa/table.h"
#include "probe/portmap.h"
#include "tests/core_file.h"

/* One-µop forms that stand for sets, scalar and vector. */
struct cast {
    const char *form;
    const char *ports; /* "015", or whole attributes ("2*p5+1*p01 latency 3"); "" ends the list */
};

struct machine {
    struct hx_bench bench;
    struct isa_table table;
    struct probe_portmap map;
};

/* What every kernel needs, and what memory forms have. */
#define CORE(issue, alu)                                                                                     \
    "isaprobe-sim 1\nissue-width " issue "\nports p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 pA pB\n"                     \
    "load-ports p89\nstore-address-ports pA\nstore-data-ports pB\n"                                          \
    "form \"sub r64, imm8\" ports 1*p" alu "\nform \"j*\" ports 1*p0\nfuse \"sub *\" \"j*\"\n"               \
    "form \"add r64, r64\" ports 1*p" alu "\nform \"nop *\" ports none\nform \"nop\" ports none\n"           \
    "form \"mov r64, m64\" ports 1*p89\nform \"mov m64, r64\" ports 1*pA+1*pB\n"

static void machine_open(struct machine *machine, const char *core, const struct cast *cast) {
    struct core_file file;
    struct ip_text rows = {0}, table = {0};
    ip_text_append(&rows, core);
    ip_text_append(&table, "mov r64, m64\nmov m64, r64\n");
    for (; cast->form[0] != '\0'; cast++) {
        ip_text_printf(&rows, "form \"%s\" ports %s%s\n", cast->form,
                       strchr(cast->ports, '*') != NULL || strncmp(cast->ports, "none", 4) == 0 ? "" : "1*p",
                       cast->ports);
        ip_text_printf(&table, "%s\n", cast->form);
    }
    core_file_write(&file, ip_text_string(&rows));
    memset(machine, 0, sizeof *machine);
    struct ip_error err = {0};
    struct hx_bench_options options = {.timer = file.timer, .cpu = -1};
    enum ip_status status = isa_table_text_add(&machine->table, "cast", table.data, table.length, &err);
    status = status == IP_OK ? hx_bench_open(&machine->bench, &options, &err) : status;
    if (status != IP_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(unlink(file.path), 0);
    ip_text_fini(&rows);
    ip_text_fini(&table);
}

static inline enum ip_status machine_map(struct machine *machine, const char *vendor, struct ip_error *err) {
    struct hx_meter meter = hx_bench_meter(&machine->bench);
    return probe_portmap_measure(&meter, &machine->bench.encoder, &machine->table, vendor, &machine->map,
                                 err);
}

/* The same with its port map, which must be found. */
static inline void machine_open_mapped(struct machine *machine, const char *core, const struct cast *cast,
                                       const char *vendor) {
    struct ip_error err = {0};
    machine_open(machine, core, cast);
    if (machine_map(machine, vendor, &err) != IP_OK) {
        fail_msg("%s", err.text);
    }
}

static void machine_close(struct machine *machine) {
    probe_portmap_fini(&machine->map);
    isa_table_fini(&machine->table);
    hx_bench_close(&machine->bench);
}

#endif
