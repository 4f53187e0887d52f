/* SPDX-License-Identifier: Apache-2.0 */
/* tests/results_samples.h - facts by hand for the tests of results/: no kernel is run. */
#ifndef ISAPROBE_TESTS_RESULTS_SAMPLES_H
#define ISAPROBE_TESTS_RESULTS_SAMPLES_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "results/store.h"

enum { SAMPLE_PAIRS = 3 };

/* A directory for one test; everything in it goes when the test ends. */
struct place {
    char directory[64], path[96];
};

static inline int place_open(void **state) {
    struct place *place = calloc(1, sizeof *place);
    (void)snprintf(place->directory, sizeof place->directory, "/tmp/isaprobe-store-XXXXXX");
    if (mkdtemp(place->directory) == NULL || chmod(place->directory, 0777) != 0) {
        free(place);
        return -1;
    }
    (void)snprintf(place->path, sizeof place->path, "%s/cpu.db", place->directory);
    *state = place;
    return 0;
}

static inline int place_close(void **state) {
    struct place *place = *state;
    static const char *const names[] = {"cpu.db", "cpu.db-wal", "cpu.db-shm", "cpu.db-journal",
                                        "cpu.db.lock"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "%s/%s", place->directory, names[i]);
        (void)unlink(path);
    }
    int left = rmdir(place->directory); /* fails when a file is left that has no business there */
    free(place);
    return left;
}

static inline struct res_machine sample_machine(const char *name) {
    struct res_machine machine = {
        .kind = "host", .vendor = "Imaginary", .family = 6, .model = 167, .stepping = 1};
    (void)snprintf(machine.identity, sizeof machine.identity, "Imaginary %s", name);
    (void)snprintf(machine.brand, sizeof machine.brand, "%s", name);
    (void)snprintf(machine.slug, sizeof machine.slug, "imaginary");
    return machine;
}

static inline struct res_run sample_run(void) {
    struct res_run run = {.version = "9.9",
                          .timer = "tsc",
                          .selection = "all",
                          .governor = "",
                          .turbo = "",
                          .cpu = 1,
                          .ticks_per_cycle = 0.7,
                          .chain_spread = 0.001,
                          .sentinel_cycles = 0.167};
    hx_plan_init(&run.plan);
    return run;
}

/* "frobN r64, m64": op1 is read and written, op2 is memory, and the flags are written. */
static inline void sample_form(struct isa_form *form, unsigned number) {
    memset(form, 0, sizeof *form);
    (void)snprintf(form->mnemonic, sizeof form->mnemonic, "frob%u", number);
    (void)snprintf(form->syntax, sizeof form->syntax, "%s r64, m64", form->mnemonic);
    (void)snprintf(form->extension, sizeof form->extension, "FROB");
    (void)snprintf(form->isa_set, sizeof form->isa_set, "FROBS");
    form->operand_count = 3;
    form->explicit_count = 2;
    form->operands[0] = (struct isa_operand){.kind = ISA_OPERAND_REG,
                                             .reg_class = ISA_REG_GPR64,
                                             .reg = -1,
                                             .bits = 64,
                                             .read = true,
                                             .write = true};
    form->operands[1] = (struct isa_operand){.kind = ISA_OPERAND_MEM, .reg = -1, .bits = 64, .read = true};
    form->operands[2] =
        (struct isa_operand){.kind = ISA_OPERAND_FLAGS, .reg = -1, .implicit = true, .write = true};
    form->derived = true;
}

static inline struct hx_stat sample_stat(double cycles) {
    return (struct hx_stat){.cycles = cycles,
                            .low = cycles - 0.01,
                            .high = cycles + 0.01,
                            .spread = 0.02 / cycles,
                            .ticks_per_cycle = 0.7,
                            .sentinel_cycles = 0.167,
                            .batches = 3,
                            .retakes = 1};
}

struct sample {
    struct isa_form form;
    struct probe_latency_pair pairs[SAMPLE_PAIRS];
    struct probe_latency latency;
    struct probe_throughput throughput;
};

/* The facts depend on the number, so that a mixture of two forms would be seen. The sample must not move. */
static inline struct res_facts sample_facts(struct sample *sample, unsigned number) {
    double base = 1.0 + number;
    memset(sample, 0, sizeof *sample);
    sample_form(&sample->form, number);
    sample->pairs[0] = (struct probe_latency_pair){.src = 0,
                                                   .dst = 0,
                                                   .measured = true,
                                                   .cycles = base,
                                                   .spread = 0.001,
                                                   .stat = sample_stat(base),
                                                   .chained_cycles = NAN,
                                                   .same_register_cycles = 0.0,
                                                   .slow_cycles = NAN};
    sample->pairs[1] = (struct probe_latency_pair){.src = 1,
                                                   .dst = 0,
                                                   .path = PROBE_PATH_ADDRESS,
                                                   .measured = true,
                                                   .upper_bound = true,
                                                   .cycles = base + 5.0,
                                                   .spread = 0.002,
                                                   .stat = sample_stat(base + 6.0),
                                                   .via = "movq r64, xmm",
                                                   .chained_cycles = base + 4.0,
                                                   .same_register_cycles = NAN,
                                                   .slow_cycles = base + 9.0};
    sample->pairs[2] = (struct probe_latency_pair){.src = 0,
                                                   .dst = 2,
                                                   .independent = true,
                                                   .cycles = NAN,
                                                   .spread = NAN,
                                                   .chained_cycles = NAN,
                                                   .same_register_cycles = NAN,
                                                   .why = "nothing reads these flags"};
    sample->latency = (struct probe_latency){.pairs = sample->pairs, .count = SAMPLE_PAIRS};
    sample->throughput = (struct probe_throughput){.measured = true,
                                                   .slow_cycles = base / 2.0,
                                                   .cycles = base / 4.0,
                                                   .spread = 0.003,
                                                   .registers = 12,
                                                   .stat = sample_stat(base / 4.0),
                                                   .how = "12 registers"};
    return (struct res_facts){.form = &sample->form,
                              .parts = RES_PART_LATENCY | RES_PART_THROUGHPUT,
                              .latency = &sample->latency,
                              .throughput = &sample->throughput};
}

static inline void must(enum ip_status status, const struct ip_error *err) {
    if (status != IP_OK) {
        fail_msg("%s: %s", err->place, err->text);
    }
}

/* Does to the database what no function of results/ would. */
static inline void sql(const char *path, const char *statements) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    char *complaint = NULL;
    if (sqlite3_exec(db, statements, NULL, NULL, &complaint) != SQLITE_OK) {
        fail_msg("%s: %s", statements, complaint);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* The one number that a query gives. */
static inline double number(const char *path, const char *sql) {
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    double value = sqlite3_column_double(statement, 0);
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    return value;
}

/* The store of machine "one", to write; `run`: a run has begun. */
static inline struct res_store *sample_store_open(const char *path, bool run) {
    struct res_machine machine = sample_machine("one");
    struct ip_error err = {0};
    struct res_store *store = NULL;
    must(res_store_open(&store, path, &machine, &err), &err);
    if (run) {
        struct res_run about = sample_run();
        must(res_run_begin(store, &about, &err), &err);
    }
    return store;
}

/* A store with forms 0..count-1. */
static inline void sample_store_make(const char *path, const struct res_machine *machine, unsigned count) {
    struct ip_error err = {0};
    struct res_store *store = NULL;
    struct res_run run = sample_run();
    must(res_store_open(&store, path, machine, &err), &err);
    must(res_run_begin(store, &run, &err), &err);
    for (unsigned i = 0; i < count; i++) {
        struct sample sample;
        struct res_facts facts = sample_facts(&sample, i);
        enum res_status found = RES_STATUS_FAULT;
        must(res_form_put(store, &facts, NULL, &found, &err), &err);
        assert_int_equal(found, RES_STATUS_OK);
    }
    must(res_run_end(store, "finished", 42, &err), &err);
    res_store_close(store);
}

#endif
