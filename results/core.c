/* SPDX-License-Identifier: Apache-2.0 */
#include "results/core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/sql.h"

/* Stores of the first version lack the table. */
static const char table_sql[] = "CREATE TABLE IF NOT EXISTS core("
                                " key TEXT PRIMARY KEY, value REAL, spread REAL, how TEXT NOT NULL,"
                                " run_id INTEGER NOT NULL REFERENCES runs(id)) WITHOUT ROWID;";

static enum ip_status value_put(struct res_store *store, sqlite3_stmt *statement, const char *key,
                                const struct probe_core_value *value, struct ip_error *err) {
    if (!value->known) {
        return IP_OK;
    }
    (void)sqlite3_reset(statement);
    struct res_binder binder = {.statement = statement};
    res_bind_text(&binder, key);
    res_bind_real(&binder, value->value);
    res_bind_real(&binder, value->spread);
    res_bind_text(&binder, value->how);
    res_bind_integer(&binder, store->run_id);
    return res_bind_run(store, &binder, err);
}

static const char replace_sql[] = "INSERT OR REPLACE INTO core(key, value, spread, how, run_id)"
                                  " VALUES(?, ?, ?, ?, ?)";
/* What `isaprobe core` measured was settled over several passes, and stays. */
static const char add_sql[] =
    "INSERT INTO core(key, value, spread, how, run_id) VALUES(?, ?, ?, ?, ?)"
    " ON CONFLICT(key) DO UPDATE SET value = excluded.value, spread = excluded.spread, how = excluded.how,"
    " run_id = excluded.run_id WHERE core.how LIKE '" RES_CORE_OF_SCAN "%'";

static enum ip_status values_put(struct res_store *store, const struct probe_core *core, const char *sql,
                                 struct ip_error *err) {
    enum ip_status status = res_sql_exec(store, table_sql, err);
    sqlite3_stmt *statement = NULL;
    if (status == IP_OK && sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK) {
        status = res_sql_fail(store->db, store->path, err);
    }
    for (unsigned i = 0; i < PROBE_CORE_KEYS && status == IP_OK; i++) {
        status = value_put(store, statement, probe_core_key_name(i), &core->values[i], err);
    }
    for (size_t i = 0; i < core->fact_count && status == IP_OK; i++) {
        status = value_put(store, statement, core->facts[i].key, &core->facts[i].value, err);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

static enum ip_status core_put(struct res_store *store, const struct probe_core *core, const char *sql,
                               struct ip_error *err) {
    enum ip_status status = res_transaction_begin(store, err);
    if (status != IP_OK) {
        return status;
    }
    status = values_put(store, core, sql, err);
    return res_transaction_end(store, status, err);
}

enum ip_status res_core_put(struct res_store *store, const struct probe_core *core, struct ip_error *err) {
    return core_put(store, core, replace_sql, err);
}

enum ip_status res_core_add(struct res_store *store, const struct probe_core *core, struct ip_error *err) {
    return core_put(store, core, add_sql, err);
}

/* What no core has was written by somebody else. */
static bool is_possible(const char *key, double value) {
    const double most = 1e9;
    bool counts = strcmp(key, probe_core_key_name(PROBE_CORE_ISSUE_WIDTH)) == 0 ||
                  strcmp(key, probe_core_key_name(PROBE_CORE_ROB_SLOTS)) == 0;
    return isfinite(value) && fabs(value) < most && (!counts || value >= 1.0);
}

static enum ip_status rows_get(struct res_store *store, sqlite3_stmt *statement, struct probe_core *core,
                               struct ip_error *err) {
    char key[PROBE_CORE_FACT_MAX], how[PROBE_CORE_HOW_MAX];
    bool row = true;
    enum ip_status status = IP_OK;
    while (status == IP_OK && row) {
        status = res_sql_step(store, statement, &row, err);
        if (status != IP_OK || !row) {
            break;
        }
        res_column_text(statement, 0, key, sizeof key);
        res_column_text(statement, 3, how, sizeof how);
        double value = res_column_real(statement, 1);
        if (!is_possible(key, value)) {
            return ip_fail(err, IP_IO,
                           "the store '%.200s' is damaged: its table core has %g for '%.60s', which no core "
                           "has: 'isaprobe core' measures it again",
                           store->path, value, key);
        }
        status = probe_core_set(core, key, value, res_column_real(statement, 2), how, err);
        status = status == IP_USAGE ? IP_OK : status;
    }
    return status;
}

/* The first column of the first row; NaN when there is none. */
static enum ip_status number_get(struct res_store *store, const char *sql, double *number,
                                 struct ip_error *err) {
    sqlite3_stmt *statement = NULL;
    bool row = false;
    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK) {
        return res_sql_fail(store->db, store->path, err);
    }
    enum ip_status status = res_sql_step(store, statement, &row, err);
    if (status == IP_OK) {
        *number = row ? res_column_real(statement, 0) : NAN;
    }
    (void)sqlite3_finalize(statement);
    return status;
}

enum ip_status res_width_get(struct res_store *store, double *width, struct ip_error *err) {
    double map = NAN, sentinel = NAN;
    enum ip_status status =
        number_get(store, "SELECT issue_width FROM portmap WHERE issue_width > 0", &map, err);
    if (status == IP_OK && isnan(map)) {
        status = number_get(store,
                            "SELECT round(1 / sentinel_cycles) FROM runs WHERE sentinel_cycles > 0"
                            " AND NOT sentinel_suspect ORDER BY id DESC LIMIT 1",
                            &sentinel, err);
    }
    if (status == IP_OK) {
        *width = isnan(map) ? sentinel : map;
    }
    return status;
}

enum ip_status res_core_get(struct res_store *store, struct probe_core *core, struct ip_error *err) {
    struct probe_core read = {0};
    sqlite3_stmt *statement = NULL;
    bool there = false;
    enum ip_status status = IP_OK;
    if (sqlite3_prepare_v2(store->db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'core'",
                           -1, &statement, NULL) != SQLITE_OK) {
        return res_sql_fail(store->db, store->path, err);
    }
    status = res_sql_step(store, statement, &there, err);
    (void)sqlite3_finalize(statement);
    statement = NULL;
    if (status == IP_OK && there) {
        status = sqlite3_prepare_v2(store->db, "SELECT key, value, spread, how FROM core ORDER BY key", -1,
                                    &statement, NULL) != SQLITE_OK
                     ? res_sql_fail(store->db, store->path, err)
                     : rows_get(store, statement, &read, err);
        (void)sqlite3_finalize(statement);
    }
    if (status != IP_OK) {
        probe_core_fini(&read);
        return status;
    }
    probe_core_fini(core);
    *core = read;
    return IP_OK;
}

enum ip_status res_port_names_get(struct res_store *store, char names[64], struct ip_error *err) {
    sqlite3_stmt *statement = NULL;
    char text[64] = "";
    bool row = false, seen[128] = {false};
    if (sqlite3_prepare_v2(store->db, "SELECT names || store_address FROM portmap", -1, &statement, NULL) !=
        SQLITE_OK) {
        return res_sql_fail(store->db, store->path, err);
    }
    enum ip_status status = res_sql_step(store, statement, &row, err);
    if (status == IP_OK && row) {
        res_column_text(statement, 0, text, sizeof text);
    }
    (void)sqlite3_finalize(statement);
    if (status != IP_OK) {
        return status;
    }
    for (const char *at = text; *at != '\0'; at++) {
        seen[*at & 127] = true;
    }
    unsigned count = 0;
    for (int name = '0'; name <= 'z'; name++) {
        if (seen[name] && count < 63) {
            names[count++] = (char)name;
        }
    }
    names[count] = '\0';
    return IP_OK;
}

/* Are there two different ones among the numbers, "12 12 24"? */
static bool differ(const char *numbers) {
    char *next = NULL;
    unsigned long first = strtoul(numbers, &next, 10);
    bool any = false;
    for (const char *at = next; *at != '\0' && next != numbers; at = next) {
        any = any || strtoul(at, &next, 10) != first;
        numbers = at;
    }
    return any;
}

enum ip_status res_scaled_ports_get(struct res_store *store, char *ports, size_t size, struct ip_error *err) {
    sqlite3_stmt *statement = NULL;
    bool row = false;
    if (sqlite3_prepare_v2(store->db,
                           "SELECT '1*p' || c.ports, c.alternatives FROM port_members m JOIN port_classes c"
                           " ON c.position = m.class WHERE m.scaled AND m.syntax LIKE 'lea r64,%'",
                           -1, &statement, NULL) != SQLITE_OK) {
        return res_sql_fail(store->db, store->path, err);
    }
    enum ip_status status = res_sql_step(store, statement, &row, err);
    if (status == IP_OK) {
        ports[0] = '\0';
        if (row) {
            char sets[PROBE_PORTSET_SOLUTIONS * 12];
            res_column_text(statement, 0, ports, (int)size);
            res_column_text(statement, 1, sets, sizeof sets);
            size_t used = strlen(ports);
            (void)snprintf(ports + used, size - used, "%s", differ(sets) ? PROBE_USAGE_OR "others" : "");
        }
    }
    (void)sqlite3_finalize(statement);
    return status;
}
