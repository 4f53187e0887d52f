/* SPDX-License-Identifier: Apache-2.0 */
#include "results/schema.h"

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
    " via TEXT NOT NULL, chained_cycles REAL, same_register_cycles REAL, why TEXT NOT NULL,"
    " statistic_id INTEGER REFERENCES statistics(id), run_id INTEGER NOT NULL REFERENCES runs(id),"
    " PRIMARY KEY(form_id, position)) WITHOUT ROWID;"

    "CREATE TABLE throughput("
    " form_id INTEGER PRIMARY KEY REFERENCES forms(id), cycles REAL, spread REAL, verdict TEXT NOT NULL,"
    " registers INTEGER NOT NULL, how TEXT NOT NULL, why TEXT NOT NULL,"
    " statistic_id INTEGER REFERENCES statistics(id), run_id INTEGER NOT NULL REFERENCES runs(id));"

    "CREATE TABLE slots("
    " form_id INTEGER PRIMARY KEY REFERENCES forms(id), slots REAL, spread REAL, verdict TEXT NOT NULL,"
    " why TEXT NOT NULL, statistic_id INTEGER REFERENCES statistics(id),"
    " run_id INTEGER NOT NULL REFERENCES runs(id));"

    "CREATE VIEW summary AS"
    " SELECT f.syntax AS form, f.extension AS isa, f.status AS status,"
    "  (SELECT min(l.cycles) FROM latency l WHERE l.form_id = f.id) AS latency_min,"
    "  (SELECT max(l.cycles) FROM latency l WHERE l.form_id = f.id) AS latency_max,"
    "  t.cycles AS throughput, s.slots AS slots, f.why AS why"
    " FROM forms f LEFT JOIN throughput t ON t.form_id = f.id LEFT JOIN slots s ON s.form_id = f.id;";
