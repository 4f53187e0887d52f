/* SPDX-License-Identifier: Apache-2.0 */
#include "results/schema.h"

/* What version 2 added: ports, and the slow_cycles of latency and throughput. */
#define PORT_TABLES                                                                                          \
    "CREATE TABLE ports("                                                                                    \
    " form_id INTEGER PRIMARY KEY REFERENCES forms(id), usage TEXT, uops INTEGER, slots REAL, cycles REAL,"  \
    " expected_cycles REAL, residual REAL, verdict TEXT NOT NULL, unit TEXT NOT NULL, unit_cycles REAL,"     \
    " how TEXT NOT NULL, why TEXT NOT NULL, statistic_id INTEGER REFERENCES statistics(id),"                 \
    " run_id INTEGER NOT NULL REFERENCES runs(id));"                                                         \
    "CREATE TABLE portmap("                                                                                  \
    " id INTEGER PRIMARY KEY CHECK(id = 1), names TEXT NOT NULL, store_address TEXT NOT NULL,"               \
    " issue_width REAL NOT NULL, solutions INTEGER NOT NULL, more_solutions INTEGER NOT NULL,"               \
    " notes TEXT NOT NULL, kernels INTEGER NOT NULL, run_id INTEGER REFERENCES runs(id));"                   \
    "CREATE TABLE port_classes("                                                                             \
    " position INTEGER PRIMARY KEY, ports TEXT NOT NULL, width INTEGER NOT NULL, kind TEXT NOT NULL,"        \
    " worlds INTEGER NOT NULL, members INTEGER NOT NULL, scalar_blocker INTEGER, vector_blocker INTEGER,"    \
    " wide_blocker INTEGER, residual REAL NOT NULL, contradicted INTEGER NOT NULL,"                          \
    " alternatives TEXT NOT NULL);"                                                                          \
    "CREATE TABLE port_members("                                                                             \
    " position INTEGER PRIMARY KEY, syntax TEXT NOT NULL, scaled INTEGER NOT NULL, kind TEXT NOT NULL,"      \
    " world INTEGER NOT NULL, cycles REAL, slots REAL, width INTEGER NOT NULL,"                              \
    " class INTEGER REFERENCES port_classes(position));"

#define SUMMARY_VIEW                                                                                         \
    "CREATE VIEW summary AS"                                                                                 \
    " SELECT f.syntax AS form, f.extension AS isa, f.status AS status,"                                      \
    "  (SELECT min(l.cycles) FROM latency l WHERE l.form_id = f.id) AS latency_min,"                         \
    "  (SELECT max(l.cycles) FROM latency l WHERE l.form_id = f.id) AS latency_max,"                         \
    "  t.cycles AS throughput, s.slots AS slots, p.usage AS ports, f.why AS why"                             \
    " FROM forms f LEFT JOIN throughput t ON t.form_id = f.id LEFT JOIN slots s ON s.form_id = f.id"         \
    " LEFT JOIN ports p ON p.form_id = f.id;"

const char res_schema_upgrade_sql[] = PORT_TABLES
    "DROP VIEW summary;" SUMMARY_VIEW
    "ALTER TABLE latency ADD COLUMN slow_cycles REAL; ALTER TABLE throughput ADD COLUMN slow_cycles REAL;";

const char res_schema_sql[] =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"

    "CREATE TABLE machine("
    " id INTEGER PRIMARY KEY CHECK(id = 1), kind TEXT NOT NULL, identity TEXT NOT NULL,"
    " vendor TEXT, brand TEXT, codename TEXT, family INTEGER, model INTEGER, stepping INTEGER,"
    " hypervisor TEXT, tsc_hz INTEGER, l1d_bytes INTEGER, l1i_bytes INTEGER, l2_bytes INTEGER,"
    " l3_bytes INTEGER, features TEXT);"

    "CREATE TABLE runs("
    " id INTEGER PRIMARY KEY, started TEXT NOT NULL, ended TEXT, outcome TEXT NOT NULL,"
    " version TEXT NOT NULL, timer TEXT NOT NULL, cpu INTEGER, selection TEXT, governor TEXT, turbo TEXT,"
    " ticks_per_cycle REAL, chain_spread REAL, sentinel_cycles REAL, sentinel_suspect INTEGER,"
    " rounds INTEGER, min_batches INTEGER, max_batches INTEGER, spread_limit REAL, trust_limit REAL,"
    " target_cycles INTEGER, kernels INTEGER);"

    "CREATE TABLE forms("
    " id INTEGER PRIMARY KEY, syntax TEXT NOT NULL UNIQUE, mnemonic TEXT NOT NULL, extension TEXT NOT NULL,"
    " isa_set TEXT NOT NULL, parts INTEGER NOT NULL, status TEXT NOT NULL, why TEXT NOT NULL,"
    " run_id INTEGER NOT NULL REFERENCES runs(id));"
    "CREATE INDEX forms_by_mnemonic ON forms(mnemonic);"

    "CREATE TABLE operands("
    " form_id INTEGER NOT NULL REFERENCES forms(id), position INTEGER NOT NULL, name TEXT NOT NULL,"
    " bits INTEGER NOT NULL, implicit INTEGER NOT NULL, reads INTEGER NOT NULL, writes INTEGER NOT NULL,"
    " PRIMARY KEY(form_id, position)) WITHOUT ROWID;"

    "CREATE TABLE preparations("
    " id INTEGER PRIMARY KEY, code BLOB NOT NULL, memory_fill BLOB NOT NULL, vector_fill BLOB NOT NULL);"
    "CREATE TABLE kernels("
    " id INTEGER PRIMARY KEY, preparation_id INTEGER NOT NULL REFERENCES preparations(id),"
    " unit BLOB NOT NULL, unit_instructions INTEGER NOT NULL, copies INTEGER NOT NULL,"
    " forms_per_unit INTEGER NOT NULL);"

    "CREATE TABLE statistics("
    " id INTEGER PRIMARY KEY, kernel_id INTEGER REFERENCES kernels(id), verdict TEXT NOT NULL,"
    " outcome TEXT NOT NULL, low_cycles REAL, cycles REAL, high_cycles REAL, spread REAL,"
    " ticks_per_cycle REAL, sentinel_cycles REAL, batches INTEGER NOT NULL, retakes INTEGER NOT NULL);"

    "CREATE TABLE latency("
    " form_id INTEGER NOT NULL REFERENCES forms(id), position INTEGER NOT NULL, src TEXT NOT NULL,"
    " dst TEXT NOT NULL, path TEXT NOT NULL, cycles REAL, bound TEXT, spread REAL, verdict TEXT NOT NULL,"
    " via TEXT NOT NULL, chained_cycles REAL, same_register_cycles REAL, slow_cycles REAL, why TEXT NOT NULL,"
    " statistic_id INTEGER REFERENCES statistics(id), run_id INTEGER NOT NULL REFERENCES runs(id),"
    " PRIMARY KEY(form_id, position)) WITHOUT ROWID;"

    "CREATE TABLE throughput("
    " form_id INTEGER PRIMARY KEY REFERENCES forms(id), cycles REAL, spread REAL, slow_cycles REAL,"
    " verdict TEXT NOT NULL, registers INTEGER NOT NULL, how TEXT NOT NULL, why TEXT NOT NULL,"
    " statistic_id INTEGER REFERENCES statistics(id), run_id INTEGER NOT NULL REFERENCES runs(id));"

    "CREATE TABLE slots("
    " form_id INTEGER PRIMARY KEY REFERENCES forms(id), slots REAL, spread REAL, verdict TEXT NOT NULL,"
    " why TEXT NOT NULL, statistic_id INTEGER REFERENCES statistics(id),"
    " run_id INTEGER NOT NULL REFERENCES runs(id));"

    PORT_TABLES SUMMARY_VIEW;
