/* SPDX-License-Identifier: Apache-2.0 */
#include "results/pending.h"

#include <stdlib.h>
#include <string.h>

#include "results/evidence.h"
#include "results/hash.h"
#include "results/sql.h"

/* Stores of earlier versions lack the table. */
static const char table_sql[] = "CREATE TABLE IF NOT EXISTS pending("
                                " id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs(id),"
                                " statistics BLOB NOT NULL);";

/* A statistic in a row of the table; the text of `why` follows it. */
struct record {
    uint64_t key;
    double cycles, spread, low, high, ticks_per_cycle, sentinel_cycles;
    uint32_t verdict, outcome, batches, retakes, screened, why_bytes;
};
_Static_assert(sizeof(struct record) == 80, "no padding: all of it is written");

struct res_pending_item {
    uint64_t key;
    size_t age; /* the older, the less */
    struct hx_stat stat;
    bool given;
};

/* What must be the same for a statistic to stand for another run of the kernel. */
static uint64_t key_of(const struct res_pending *pending, const struct gen_kernel *kernel, bool screen) {
    const struct hx_plan *plan = pending->plan;
    const uint32_t numbers[] = {screen,
                                plan->rounds,
                                plan->passes,
                                plan->min_batches,
                                plan->max_batches,
                                plan->target_cycles,
                                plan->reference_every,
                                plan->retakes,
                                plan->iterations};
    const double limits[] = {plan->spread_limit, plan->trust_limit, plan->block_trust_limit};
    uint64_t hash = res_hash(res_kernel_hash(kernel), numbers, sizeof numbers);
    hash = res_hash(hash, limits, sizeof limits);
    return res_hash(hash, ISAPROBE_VERSION, sizeof ISAPROBE_VERSION - 1);
}

static int item_compare(const void *a, const void *b) {
    const struct res_pending_item *x = a, *y = b;
    int by_key = (x->key > y->key) - (x->key < y->key);
    return by_key != 0 ? by_key : (x->age > y->age) - (x->age < y->age);
}

/* The oldest statistic of this key that was not given back yet; NULL: none. */
static struct res_pending_item *item_find(struct res_pending *pending, uint64_t key) {
    size_t low = 0, high = pending->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pending->items[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    while (low < pending->count && pending->items[low].key == key && pending->items[low].given) {
        low++;
    }
    return low < pending->count && pending->items[low].key == key ? &pending->items[low] : NULL;
}

static void record_read(const struct record *record, const unsigned char *why, struct hx_stat *stat) {
    *stat = (struct hx_stat){.verdict = (enum hx_verdict)record->verdict,
                             .outcome = (enum hx_outcome)record->outcome,
                             .cycles = record->cycles,
                             .spread = record->spread,
                             .low = record->low,
                             .high = record->high,
                             .ticks_per_cycle = record->ticks_per_cycle,
                             .sentinel_cycles = record->sentinel_cycles,
                             .batches = record->batches,
                             .retakes = record->retakes,
                             .screened = record->screened != 0};
    memcpy(stat->why, why, record->why_bytes);
}

static void record_write(struct ip_text *row, uint64_t key, const struct hx_stat *stat) {
    const struct record record = {.key = key,
                                  .cycles = stat->cycles,
                                  .spread = stat->spread,
                                  .low = stat->low,
                                  .high = stat->high,
                                  .ticks_per_cycle = stat->ticks_per_cycle,
                                  .sentinel_cycles = stat->sentinel_cycles,
                                  .verdict = stat->verdict,
                                  .outcome = stat->outcome,
                                  .batches = stat->batches,
                                  .retakes = stat->retakes,
                                  .screened = stat->screened,
                                  .why_bytes = (uint32_t)strlen(stat->why)};
    ip_text_append_bytes(row, (const char *)&record, sizeof record);
    ip_text_append_bytes(row, stat->why, record.why_bytes);
}

/* Adds the statistics of one row, up to what is none. */
static bool row_take(struct res_pending *pending, const unsigned char *bytes, size_t length) {
    struct record record;
    for (size_t at = 0; length - at >= sizeof record; at += record.why_bytes) {
        memcpy(&record, bytes + at, sizeof record);
        at += sizeof record;
        struct res_pending_item item = {.key = record.key, .age = pending->count};
        if (record.why_bytes > length - at || record.why_bytes >= sizeof item.stat.why ||
            record.verdict > HX_VERDICT_FAULT) {
            break;
        }
        record_read(&record, bytes + at, &item.stat);
        if ((pending->count & (pending->count - 1)) == 0) {
            size_t capacity = pending->count != 0 ? 2 * pending->count : 1;
            struct res_pending_item *items = realloc(pending->items, capacity * sizeof *items);
            if (items == NULL) {
                return false;
            }
            pending->items = items;
        }
        pending->items[pending->count++] = item;
    }
    return true;
}

static enum ip_status rows_load(struct res_pending *pending, struct ip_error *err) {
    struct res_store *store = pending->store;
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->db, "SELECT statistics FROM pending ORDER BY id", -1, &statement, NULL) !=
        SQLITE_OK) {
        return res_sql_fail(store->db, store->path, err);
    }
    bool row = true;
    enum ip_status status = IP_OK;
    while (status == IP_OK && row) {
        status = res_sql_step(store, statement, &row, err);
        if (status == IP_OK && row) {
            const unsigned char *bytes = sqlite3_column_blob(statement, 0);
            if (!row_take(pending, bytes, (size_t)sqlite3_column_bytes(statement, 0))) {
                status = ip_fail(err, IP_NO_MEMORY, "out of memory for what a killed scan left in '%.200s'",
                                 store->path);
            }
        }
    }
    (void)sqlite3_finalize(statement);
    return status;
}

enum ip_status res_pending_open(struct res_pending *pending, bool fresh, struct ip_error *err) {
    enum ip_status status = res_sql_exec(pending->store, table_sql, err);
    if (status == IP_OK) {
        status = fresh ? res_sql_exec(pending->store, "DELETE FROM pending", err) : rows_load(pending, err);
    }
    if (pending->count > 0) {
        qsort(pending->items, pending->count, sizeof *pending->items, item_compare);
    }
    pending->left = pending->count;
    return status;
}

void res_pending_fini(struct res_pending *pending) {
    free(pending->items);
    memset(pending, 0, sizeof *pending);
}

enum ip_status res_pending_clear(struct res_pending *pending, bool all, struct ip_error *err) {
    struct ip_text sql = {0};
    ip_text_append(&sql, "DELETE FROM pending");
    if (!all && pending->left > 0) {
        ip_text_printf(&sql, " WHERE run_id = %lld", (long long)pending->store->run_id);
    }
    enum ip_status status =
        sql.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for the store '%.200s'", pending->store->path)
                   : res_sql_exec(pending->store, ip_text_string(&sql), err);
    ip_text_fini(&sql);
    return status;
}

static enum ip_status row_put(struct res_pending *pending, const struct ip_text *row, struct ip_error *err) {
    struct res_binder binder;
    enum ip_status status = res_bind_begin(pending->store, RES_QUERY_PENDING_PUT, &binder, err);
    if (status == IP_OK) {
        res_bind_integer(&binder, pending->store->run_id);
        res_bind_blob(&binder, row->data, row->length);
        status = res_bind_run(pending->store, &binder, err);
    }
    return status;
}

/* Gives back what is known, has the rest measured, and keeps that. */
static enum ip_status kernels_measure(struct res_pending *pending, bool screen,
                                      const struct gen_kernel *const *kernels, size_t count,
                                      struct hx_stat *stats, struct ip_error *err) {
    const struct gen_kernel **open = calloc(count, sizeof(const struct gen_kernel *));
    struct res_pending_item **known = calloc(count, sizeof *known);
    uint64_t *keys = calloc(count, sizeof *keys);
    struct ip_text row = {0};
    enum ip_status status = open == NULL || known == NULL || keys == NULL
                                ? ip_fail(err, IP_NO_MEMORY, "out of memory for %zu kernels", count)
                                : IP_OK;
    bool any = false;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (kernels[i] != NULL) {
            keys[i] = key_of(pending, kernels[i], screen);
            known[i] = item_find(pending, keys[i]);
        }
        if (known[i] != NULL) {
            known[i]->given = true;
            pending->left--;
        }
        open[i] = known[i] == NULL ? kernels[i] : NULL;
        any = any || open[i] != NULL;
    }
    if (status == IP_OK) {
        status = screen ? hx_screen(&pending->inner, open, count, stats, err)
                        : hx_measure(&pending->inner, open, count, stats, err);
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (known[i] != NULL) {
            stats[i] = known[i]->stat;
        } else if (open[i] != NULL) {
            record_write(&row, keys[i], &stats[i]);
        }
    }
    if (status == IP_OK && any) {
        status = row.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for %zu kernels", count)
                            : row_put(pending, &row, err);
    }
    ip_text_fini(&row);
    free(keys);
    free(known);
    free(open);
    return status;
}

static enum ip_status pending_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                      struct hx_stat *stats, struct ip_error *err) {
    return kernels_measure(self, false, kernels, count, stats, err);
}

static enum ip_status pending_screen(void *self, const struct gen_kernel *const *kernels, size_t count,
                                     struct hx_stat *stats, struct ip_error *err) {
    return kernels_measure(self, true, kernels, count, stats, err);
}

static enum ip_status pending_hold(void *self, const struct gen_kernel *const *kernels, size_t count,
                                   struct ip_error *err) {
    struct res_pending *pending = self;
    return hx_hold(&pending->inner, kernels, count, err);
}

static void pending_release(void *self) {
    struct res_pending *pending = self;
    hx_release(&pending->inner);
}

struct hx_meter res_pending_meter(struct res_pending *pending) {
    struct hx_meter meter = hx_meter_before(&pending->inner, pending);
    meter.measure = pending_measure;
    meter.screen = pending_screen;
    meter.hold = pending_hold;
    meter.release = pending_release;
    return meter;
}
