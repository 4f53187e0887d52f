/* SPDX-License-Identifier: Apache-2.0 */
/* results/run.c - under which conditions facts were measured. */
#include "results/sql.h"

#define NOW "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"

static enum ip_status prepare(struct res_store *store, const char *sql, struct res_binder *binder,
                              struct ip_error *err) {
    *binder = (struct res_binder){0};
    return sqlite3_prepare_v2(store->db, sql, -1, &binder->statement, NULL) == SQLITE_OK
               ? IP_OK
               : res_sql_fail(store->db, store->path, err);
}

static enum ip_status run_put(struct res_store *store, const struct res_run *run, struct ip_error *err) {
    struct res_binder binder;
    enum ip_status status =
        prepare(store,
                "INSERT INTO runs(started, outcome, version, timer, cpu, selection, governor, turbo,"
                " ticks_per_cycle, chain_spread, sentinel_cycles, sentinel_suspect, rounds, min_batches,"
                " max_batches, spread_limit, trust_limit, target_cycles)"
                " VALUES(" NOW ", 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                &binder, err);
    if (status != IP_OK) {
        return status;
    }
    res_bind_text(&binder, run->version);
    res_bind_text(&binder, run->timer);
    res_bind_integer(&binder, run->cpu);
    res_bind_text(&binder, run->selection);
    res_bind_text(&binder, run->governor);
    res_bind_text(&binder, run->turbo);
    res_bind_real(&binder, run->ticks_per_cycle);
    res_bind_real(&binder, run->chain_spread);
    res_bind_real(&binder, run->sentinel_cycles);
    res_bind_integer(&binder, run->sentinel_suspect);
    res_bind_integer(&binder, run->plan.rounds);
    res_bind_integer(&binder, run->plan.min_batches);
    res_bind_integer(&binder, run->plan.max_batches);
    res_bind_real(&binder, run->plan.spread_limit);
    res_bind_real(&binder, run->plan.trust_limit);
    res_bind_integer(&binder, run->plan.target_cycles);
    status = res_bind_run(store, &binder, err);
    (void)sqlite3_finalize(binder.statement);
    return status;
}

enum ip_status res_run_begin(struct res_store *store, const struct res_run *run, struct ip_error *err) {
    enum ip_status status = res_transaction_begin(store, err);
    if (status != IP_OK) {
        return status;
    }
    /* We hold the lock: whoever began them is gone. */
    status = res_sql_exec(store, "UPDATE runs SET outcome = 'killed' WHERE outcome = 'running'", err);
    if (status == IP_OK) {
        status = run_put(store, run, err);
    }
    int64_t id = sqlite3_last_insert_rowid(store->db);
    status = res_transaction_end(store, status, err);
    if (status == IP_OK) {
        store->run_id = id;
    }
    return status;
}

static enum ip_status outcome_put(struct res_store *store, const char *outcome, uint64_t kernels,
                                  struct ip_error *err) {
    struct res_binder binder;
    enum ip_status status = prepare(
        store, "UPDATE runs SET ended = " NOW ", outcome = ?, kernels = ? WHERE id = ?", &binder, err);
    if (status != IP_OK) {
        return status;
    }
    res_bind_text(&binder, outcome);
    res_bind_integer(&binder, (int64_t)kernels);
    res_bind_integer(&binder, store->run_id);
    status = res_bind_run(store, &binder, err);
    (void)sqlite3_finalize(binder.statement);
    return status;
}

/* Facts that were replaced took their statistics with them, not the kernels: others may have had the same. (A
 * pending statistic names no row: its kernel is stored with the fact.) */
static const char drop_sql[] =
    "DELETE FROM kernels WHERE id NOT IN (SELECT kernel_id FROM statistics WHERE kernel_id IS NOT NULL);"
    "DELETE FROM preparations WHERE id NOT IN (SELECT preparation_id FROM kernels);";

enum ip_status res_run_end(struct res_store *store, const char *outcome, uint64_t kernels,
                           struct ip_error *err) {
    enum ip_status status = outcome_put(store, outcome, kernels, err);
    if (status == IP_OK) {
        status = res_transaction_begin(store, err);
    }
    return status == IP_OK ? res_transaction_end(store, res_sql_exec(store, drop_sql, err), err) : status;
}

enum ip_status res_run_get(struct res_store *store, int64_t run, struct res_run_text *text,
                           struct ip_error *err) {
    struct res_binder binder;
    enum ip_status status =
        prepare(store, "SELECT started, outcome, version, timer, cpu, ticks_per_cycle FROM runs WHERE id = ?",
                &binder, err);
    if (status != IP_OK) {
        return status;
    }
    res_bind_integer(&binder, run);
    bool row = false;
    status = res_sql_step(store, binder.statement, &row, err);
    if (status == IP_OK && !row) {
        status = ip_fail(err, IP_FAILED, "the store '%.200s' has no run %lld", store->path, (long long)run);
    } else if (status == IP_OK) {
        res_column_text(binder.statement, 0, text->started, sizeof text->started);
        res_column_text(binder.statement, 1, text->outcome, sizeof text->outcome);
        res_column_text(binder.statement, 2, text->version, sizeof text->version);
        res_column_text(binder.statement, 3, text->timer, sizeof text->timer);
        text->cpu = sqlite3_column_int64(binder.statement, 4);
        text->ticks_per_cycle = res_column_real(binder.statement, 5);
    }
    (void)sqlite3_finalize(binder.statement);
    return status;
}
