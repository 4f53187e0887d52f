/* SPDX-License-Identifier: Apache-2.0 */
#include "results/sql.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/queries.h"

/* SQLite does not tell a full disk from a bound on files: either may have cut a write short. */
static enum ip_status full(const char *path, struct ip_error *err) {
    return ip_fail(
        err, IP_IO,
        "no room left for the store '%.200s', or files may not grow so large (ulimit -f): free some "
        "space or raise that limit, and run the same command again; what was stored before is kept",
        path);
}

static enum ip_status denied(const char *path, const char *reason, struct ip_error *err) {
    return ip_fail(err, IP_CAPABILITY,
                   "no permission to use the store '%.200s': %s (--store FILE puts it elsewhere)", path,
                   reason);
}

static enum ip_status input_output(const char *path, int reason, struct ip_error *err) {
    if (reason == ENOSPC || reason == EFBIG || reason == EDQUOT) {
        return full(path, err);
    }
    if (reason == 0) {
        return ip_fail(err, IP_IO, "cannot read or write the store '%.200s'", path);
    }
    bool permission = ip_refusal_or(reason, IP_IO) == IP_CAPABILITY;
    return permission ? denied(path, strerror(reason), err)
                      : ip_fail_errno(err, IP_IO, reason, "cannot read or write the store '%.200s'", path);
}

/* SQLite does not always keep the reason of a failed write. */
static bool write_failed(int code) {
    return code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE || code == SQLITE_IOERR_TRUNCATE ||
           code == SQLITE_IOERR_FSYNC;
}

enum ip_status res_sql_fail(sqlite3 *db, const char *path, struct ip_error *err) {
    int reason = db != NULL ? sqlite3_system_errno(db) : 0;
    switch (db != NULL ? sqlite3_errcode(db) & 0xff : SQLITE_NOMEM) {
    case SQLITE_NOMEM:
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the store '%.200s'", path);
    case SQLITE_NOTADB:
        return ip_fail(err, IP_IO, "'%.200s' is no store (not an SQLite file): it was left as it is", path);
    case SQLITE_CORRUPT:
        return ip_fail(
            err, IP_IO,
            "the store '%.200s' is damaged (%s) and was left as it is: move it away and scan again; "
            "sqlite3's .recover saves what is readable",
            path, sqlite3_errmsg(db));
    case SQLITE_FULL:
        return full(path, err);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return denied(path, sqlite3_errmsg(db), err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return ip_fail(
            err, IP_FAILED,
            "another program keeps the store '%.200s' locked: close it (an sqlite3 shell?) and try "
            "again",
            path);
    case SQLITE_CANTOPEN:
        return reason == 0 ? ip_fail(err, IP_IO, "cannot open the store '%.200s'", path)
                           : input_output(path, reason, err);
    case SQLITE_IOERR:
        if (reason == 0 && write_failed(sqlite3_extended_errcode(db))) {
            return full(path, err);
        }
        return input_output(path, reason, err);
    default:
        return ip_fail(err, IP_FAILED, "store '%.200s': %s", path, sqlite3_errmsg(db));
    }
}

enum ip_status res_sql_exec(struct res_store *store, const char *sql, struct ip_error *err) {
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK
               ? IP_OK
               : res_sql_fail(store->db, store->path, err);
}

enum ip_status res_sql_statement(struct res_store *store, enum res_query query, sqlite3_stmt **statement,
                                 struct ip_error *err) {
    sqlite3_stmt **kept = &store->statements[query];
    if (*kept == NULL && sqlite3_prepare_v3(store->db, res_queries[query], -1, SQLITE_PREPARE_PERSISTENT,
                                            kept, NULL) != SQLITE_OK) {
        return res_sql_fail(store->db, store->path, err);
    }
    (void)sqlite3_reset(*kept); /* repeats the failure of the last run, which was reported then */
    (void)sqlite3_clear_bindings(*kept);
    *statement = *kept;
    return IP_OK;
}

enum ip_status res_sql_step(struct res_store *store, sqlite3_stmt *statement, bool *row,
                            struct ip_error *err) {
    int result = sqlite3_step(statement);
    *row = result == SQLITE_ROW;
    if (result == SQLITE_ROW) {
        return IP_OK;
    }
    enum ip_status status = result == SQLITE_DONE ? IP_OK : res_sql_fail(store->db, store->path, err);
    (void)sqlite3_reset(statement);
    return status;
}

enum ip_status res_bind_begin(struct res_store *store, enum res_query query, struct res_binder *binder,
                              struct ip_error *err) {
    *binder = (struct res_binder){.result = SQLITE_OK};
    return res_sql_statement(store, query, &binder->statement, err);
}

static void note(struct res_binder *binder, int result) {
    if (binder->result == SQLITE_OK) {
        binder->result = result;
    }
}

void res_bind_text(struct res_binder *binder, const char *text) {
    note(binder, sqlite3_bind_text(binder->statement, ++binder->position, text, -1, SQLITE_STATIC));
}

void res_bind_integer(struct res_binder *binder, int64_t value) {
    note(binder, sqlite3_bind_int64(binder->statement, ++binder->position, value));
}

void res_bind_real(struct res_binder *binder, double value) {
    ++binder->position;
    note(binder, isnan(value) ? sqlite3_bind_null(binder->statement, binder->position)
                              : sqlite3_bind_double(binder->statement, binder->position, value));
}

void res_bind_blob(struct res_binder *binder, const void *bytes, size_t length) {
    ++binder->position;
    /* A null pointer would bind NULL, not an empty blob. */
    note(binder, length > INT_MAX ? SQLITE_TOOBIG
                                  : sqlite3_bind_blob(binder->statement, binder->position,
                                                      length != 0 ? bytes : "", (int)length, SQLITE_STATIC));
}

void res_bind_null(struct res_binder *binder) {
    note(binder, sqlite3_bind_null(binder->statement, ++binder->position));
}

enum ip_status res_bind_run(struct res_store *store, struct res_binder *binder, struct ip_error *err) {
    if (binder->result != SQLITE_OK) {
        return ip_fail(err, IP_NO_MEMORY, "store '%.200s': a value cannot be stored: %s", store->path,
                       sqlite3_errstr(binder->result));
    }
    bool row = true;
    enum ip_status status = IP_OK;
    while (status == IP_OK && row) {
        status = res_sql_step(store, binder->statement, &row, err);
    }
    return status;
}

void res_column_text(sqlite3_stmt *statement, int column, char *buffer, size_t size) {
    const unsigned char *text = sqlite3_column_text(statement, column);
    (void)snprintf(buffer, size, "%s", text != NULL ? (const char *)text : "");
}

double res_column_real(sqlite3_stmt *statement, int column) {
    const double most = 1e9, value = sqlite3_column_double(statement, column);
    const bool known = sqlite3_column_type(statement, column) != SQLITE_NULL;
    return known && fabs(value) <= most ? value : NAN;
}

static enum ip_status run_plain(struct res_store *store, enum res_query query, struct ip_error *err) {
    struct res_binder binder;
    enum ip_status status = res_bind_begin(store, query, &binder, err);
    return status == IP_OK ? res_bind_run(store, &binder, err) : status;
}

enum ip_status res_snapshot_begin(struct res_store *store, struct ip_error *err) {
    return run_plain(store, RES_QUERY_SNAPSHOT, err);
}

enum ip_status res_snapshot_end(struct res_store *store, enum ip_status status, struct ip_error *err) {
    struct ip_error own; /* the first failure is the one to report */
    enum ip_status ended = run_plain(store, RES_QUERY_RELEASE, status == IP_OK ? err : &own);
    return status == IP_OK ? ended : status;
}

enum ip_status res_transaction_begin(struct res_store *store, struct ip_error *err) {
    return run_plain(store, RES_QUERY_BEGIN, err);
}

enum ip_status res_transaction_end(struct res_store *store, enum ip_status status, struct ip_error *err) {
    if (status == IP_OK) {
        status = run_plain(store, RES_QUERY_COMMIT, err);
    }
    if (status != IP_OK && sqlite3_get_autocommit(store->db) == 0) {
        /* Some failures (a full disk) have rolled back already. */
        (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return status;
}
