/* SPDX-License-Identifier: Apache-2.0 */
/* results/sql.h - a store from inside: the connection, its statements, and SQLite's errors in our words. */
#ifndef ISAPROBE_RESULTS_SQL_H
#define ISAPROBE_RESULTS_SQL_H

#include <sqlite3.h>

#include "results/lock.h"
#include "results/store.h"

/* Statements that are prepared once and kept. */
enum res_query {
    RES_QUERY_BEGIN,
    RES_QUERY_COMMIT,
    RES_QUERY_SNAPSHOT,
    RES_QUERY_RELEASE,
    RES_QUERY_KNOWN,
    RES_QUERY_FORM_PUT,
    RES_QUERY_FORM_STATUS,
    RES_QUERY_OPERANDS_DROP,
    RES_QUERY_OPERAND_PUT,
    RES_QUERY_PREPARATION_PUT,
    RES_QUERY_KERNEL_PUT,
    RES_QUERY_STATISTIC_PUT,
    RES_QUERY_LATENCY_STATISTICS_DROP,
    RES_QUERY_LATENCY_DROP,
    RES_QUERY_LATENCY_PUT,
    RES_QUERY_THROUGHPUT_STATISTICS_DROP,
    RES_QUERY_THROUGHPUT_PUT,
    RES_QUERY_SLOTS_STATISTICS_DROP,
    RES_QUERY_SLOTS_PUT,
    RES_QUERY_PORTS_STATISTICS_DROP,
    RES_QUERY_PORTS_PUT,
    RES_QUERY_PORTMAP_PUT,
    RES_QUERY_PORT_CLASS_PUT,
    RES_QUERY_PORT_MEMBER_PUT,
    RES_QUERY_PENDING_PUT,
    RES_QUERY_FACTS,
    RES_QUERY_FORM_GET,
    RES_QUERY_LATENCY_GET,
    RES_QUERY_THROUGHPUT_GET,
    RES_QUERY_SLOTS_GET,
    RES_QUERY_UNITS_GET,
    RES_QUERY_PORTS_GET,
    RES_QUERY_PORTMAP_GET,
    RES_QUERY_PORT_CLASSES_GET,
    RES_QUERY_PORT_MEMBERS_GET,
    RES_QUERY_EVIDENCE_GET,
    RES_QUERIES
};

struct res_store {
    sqlite3 *db;
    char *path;
    struct res_lock lock;
    int schema;     /* of the file when it was opened; 0: it was empty */
    int64_t run_id; /* 0: no run has begun */
    sqlite3_stmt *statements[RES_QUERIES];
};

/* What SQLite just reported for the store at `path`, as one clear line. */
enum ip_status res_sql_fail(sqlite3 *db, const char *path, struct ip_error *err);

/* Runs statements without parameters and results. */
IP_CHECK enum ip_status res_sql_exec(struct res_store *store, const char *sql, struct ip_error *err);

/* The kept statement, reset, with nothing bound. */
IP_CHECK enum ip_status res_sql_statement(struct res_store *store, enum res_query query,
                                          sqlite3_stmt **statement, struct ip_error *err);

/* Steps to the next row. *row is false at the end; the statement is then reset. */
IP_CHECK enum ip_status res_sql_step(struct res_store *store, sqlite3_stmt *statement, bool *row,
                                     struct ip_error *err);

/* Values for the parameters in their order. Failures to bind are found when the statement is run. */
struct res_binder {
    sqlite3_stmt *statement;
    int position, result;
};
IP_CHECK enum ip_status res_bind_begin(struct res_store *store, enum res_query query,
                                       struct res_binder *binder, struct ip_error *err);
void res_bind_text(struct res_binder *binder, const char *text); /* borrowed until it has run; NULL: NULL */
void res_bind_integer(struct res_binder *binder, int64_t value);
void res_bind_real(struct res_binder *binder, double value); /* NaN: NULL */
void res_bind_blob(struct res_binder *binder, const void *bytes, size_t length);
void res_bind_null(struct res_binder *binder);
/* Runs a statement that gives no rows. */
IP_CHECK enum ip_status res_bind_run(struct res_store *store, struct res_binder *binder,
                                     struct ip_error *err);

/* Columns of a row; NULL is "" or NaN, and so is a number that nothing measured can be (above 1e9): somebody
 * else wrote it. */
void res_column_text(sqlite3_stmt *statement, int column, char *buffer, size_t size);
double res_column_real(sqlite3_stmt *statement, int column);

/* Opens a transaction; res_transaction_end commits, or rolls back when `status` is not IP_OK, and returns the
 * first failure. */
IP_CHECK enum ip_status res_transaction_begin(struct res_store *store, struct ip_error *err);
IP_CHECK enum ip_status res_transaction_end(struct res_store *store, enum ip_status status,
                                            struct ip_error *err);

/* All that is read until res_snapshot_end is of one moment, though another process writes. May be nested.
 * res_snapshot_end returns `status` or, where that is IP_OK, its own failure. */
IP_CHECK enum ip_status res_snapshot_begin(struct res_store *store, struct ip_error *err);
IP_CHECK enum ip_status res_snapshot_end(struct res_store *store, enum ip_status status,
                                         struct ip_error *err);

#endif
