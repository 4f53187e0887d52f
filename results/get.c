/* SPDX-License-Identifier: Apache-2.0 */
/* results/get.c - what the store knows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/sql.h"

static void value_fini(struct res_value *value) {
    free(value->evidence.unit);
}

void res_form_fini(struct res_form *form) {
    for (size_t i = 0; i < form->pair_count; i++) {
        value_fini(&form->pairs[i].value);
    }
    free(form->pairs);
    value_fini(&form->throughput);
    value_fini(&form->slots);
    free(form->ports.evidence.unit);
    memset(form, 0, sizeof *form);
}

enum ip_status res_form_known(struct res_store *store, const char *syntax, unsigned parts, bool trusted,
                              bool *known, struct ip_error *err) {
    struct res_binder binder;
    enum ip_status status = res_bind_begin(store, RES_QUERY_KNOWN, &binder, err);
    if (status != IP_OK) {
        return status;
    }
    res_bind_text(&binder, syntax);
    bool row = false, found = false;
    status = res_sql_step(store, binder.statement, &row, err);
    if (status != IP_OK) {
        return status;
    }
    if (row) {
        char word[16];
        res_column_text(binder.statement, 1, word, sizeof word);
        bool doubtful = strcmp(word, res_status_name(RES_STATUS_UNSTABLE)) == 0 ||
                        strcmp(word, res_status_name(RES_STATUS_DISTURBED)) == 0;
        unsigned has = (unsigned)sqlite3_column_int(binder.statement, 0),
                 doubted = (unsigned)sqlite3_column_int(binder.statement, 2);
        found = (has & parts) == parts && !(trusted && (doubtful || (doubted & parts) != 0));
        (void)sqlite3_reset(binder.statement);
    }
    *known = found;
    return IP_OK;
}

static enum ip_status evidence_get(struct res_store *store, int64_t statistic, struct res_evidence *evidence,
                                   struct ip_error *err) {
    struct res_binder binder;
    enum ip_status status = res_bind_begin(store, RES_QUERY_EVIDENCE_GET, &binder, err);
    if (status != IP_OK) {
        return status;
    }
    res_bind_integer(&binder, statistic);
    bool row = false;
    status = res_sql_step(store, binder.statement, &row, err);
    if (status != IP_OK || !row) {
        return status;
    }
    sqlite3_stmt *at = binder.statement;
    evidence->known = true;
    res_column_text(at, 0, evidence->verdict, sizeof evidence->verdict);
    evidence->low_cycles = res_column_real(at, 1);
    evidence->cycles = res_column_real(at, 2);
    evidence->high_cycles = res_column_real(at, 3);
    evidence->spread = res_column_real(at, 4);
    evidence->ticks_per_cycle = res_column_real(at, 5);
    evidence->sentinel_cycles = res_column_real(at, 6);
    evidence->batches = sqlite3_column_int64(at, 7);
    evidence->retakes = sqlite3_column_int64(at, 8);
    evidence->kernel = (uint64_t)sqlite3_column_int64(at, 9);
    evidence->copies = sqlite3_column_int64(at, 10);
    evidence->unit_instructions = sqlite3_column_int64(at, 11);
    evidence->forms_per_unit = sqlite3_column_int64(at, 12);
    int length = sqlite3_column_bytes(at, 13);
    if (length > 0) {
        evidence->unit = malloc((size_t)length);
        if (evidence->unit == NULL) {
            (void)sqlite3_reset(at);
            return ip_fail(err, IP_NO_MEMORY, "out of memory for a kernel of the store '%.200s'",
                           store->path);
        }
        memcpy(evidence->unit, sqlite3_column_blob(at, 13), (size_t)length);
        evidence->unit_bytes = (size_t)length;
    }
    (void)sqlite3_reset(at);
    return IP_OK;
}

/* The columns that all facts begin with: cycles, spread, verdict, why, statistic_id, run_id. */
static enum ip_status value_get(struct res_store *store, sqlite3_stmt *at, struct res_value *value,
                                struct ip_error *err) {
    value->known = true;
    value->cycles = res_column_real(at, 0);
    value->spread = res_column_real(at, 1);
    res_column_text(at, 2, value->verdict, sizeof value->verdict);
    res_column_text(at, 3, value->why, sizeof value->why);
    value->run = sqlite3_column_int64(at, 5);
    int64_t statistic = sqlite3_column_int64(at, 4);
    return statistic != 0 ? evidence_get(store, statistic, &value->evidence, err) : IP_OK;
}

enum { FACT_COLUMNS = 6 };

static enum ip_status pairs_get(struct res_store *store, int64_t form_id, struct res_form *form,
                                struct ip_error *err) {
    struct res_binder binder;
    enum ip_status status = res_bind_begin(store, RES_QUERY_LATENCY_GET, &binder, err);
    if (status != IP_OK) {
        return status;
    }
    res_bind_integer(&binder, form_id);
    sqlite3_stmt *at = binder.statement;
    bool row = true;
    while (status == IP_OK) {
        status = res_sql_step(store, at, &row, err);
        if (status != IP_OK || !row) {
            break;
        }
        struct res_pair *pairs = realloc(form->pairs, (form->pair_count + 1) * sizeof *pairs);
        if (pairs == NULL) {
            status = ip_fail(err, IP_NO_MEMORY, "out of memory for the latencies of '%s'", form->syntax);
            break;
        }
        form->pairs = pairs;
        struct res_pair *pair = &pairs[form->pair_count++];
        memset(pair, 0, sizeof *pair);
        res_column_text(at, FACT_COLUMNS, pair->src, sizeof pair->src);
        res_column_text(at, FACT_COLUMNS + 1, pair->dst, sizeof pair->dst);
        res_column_text(at, FACT_COLUMNS + 2, pair->path, sizeof pair->path);
        char bound[8];
        res_column_text(at, FACT_COLUMNS + 3, bound, sizeof bound);
        pair->upper_bound = strcmp(bound, "upper") == 0;
        pair->independent = strcmp(bound, "none") == 0;
        res_column_text(at, FACT_COLUMNS + 4, pair->via, sizeof pair->via);
        pair->chained_cycles = res_column_real(at, FACT_COLUMNS + 5);
        pair->same_register_cycles = res_column_real(at, FACT_COLUMNS + 6);
        pair->value.slow_cycles = res_column_real(at, FACT_COLUMNS + 7);
        status = value_get(store, at, &pair->value, err);
    }
    (void)sqlite3_reset(at);
    return status;
}

/* The one row of a table that has at most one for each form. */
static enum ip_status fact_get(struct res_store *store, enum res_query query, int64_t form_id,
                               struct res_value *value, struct ip_error *err) {
    value->cycles = value->spread = value->slow_cycles = NAN;
    struct res_binder binder;
    enum ip_status status = res_bind_begin(store, query, &binder, err);
    if (status != IP_OK) {
        return status;
    }
    res_bind_integer(&binder, form_id);
    bool row = false;
    status = res_sql_step(store, binder.statement, &row, err);
    if (status == IP_OK && row) {
        if (query == RES_QUERY_THROUGHPUT_GET) {
            value->registers = sqlite3_column_int64(binder.statement, FACT_COLUMNS);
            res_column_text(binder.statement, FACT_COLUMNS + 1, value->how, sizeof value->how);
            value->slow_cycles = res_column_real(binder.statement, FACT_COLUMNS + 2);
        }
        status = value_get(store, binder.statement, value, err);
        (void)sqlite3_reset(binder.statement);
    }
    return status;
}

static enum ip_status ports_get(struct res_store *store, int64_t form_id, struct res_ports *ports,
                                struct ip_error *err) {
    ports->slots = ports->cycles = ports->expected_cycles = ports->unit_cycles = ports->residual = NAN;
    ports->uops = -1;
    struct res_binder binder;
    enum ip_status status = res_bind_begin(store, RES_QUERY_PORTS_GET, &binder, err);
    if (status != IP_OK) {
        return status;
    }
    res_bind_integer(&binder, form_id);
    bool row = false;
    sqlite3_stmt *at = binder.statement;
    status = res_sql_step(store, at, &row, err);
    if (status == IP_OK && row) {
        ports->known = true;
        res_column_text(at, 0, ports->usage, sizeof ports->usage);
        res_column_text(at, 1, ports->verdict, sizeof ports->verdict);
        res_column_text(at, 2, ports->unit, sizeof ports->unit);
        res_column_text(at, 3, ports->how, sizeof ports->how);
        res_column_text(at, 4, ports->why, sizeof ports->why);
        ports->uops = sqlite3_column_type(at, 5) != SQLITE_NULL ? sqlite3_column_int64(at, 5) : -1;
        ports->slots = res_column_real(at, 6);
        ports->cycles = res_column_real(at, 7);
        ports->expected_cycles = res_column_real(at, 8);
        ports->unit_cycles = res_column_real(at, 9);
        ports->residual = res_column_real(at, 10);
        ports->run = sqlite3_column_int64(at, 11);
        int64_t statistic = sqlite3_column_int64(at, 12);
        (void)sqlite3_reset(at);
        status = statistic != 0 ? evidence_get(store, statistic, &ports->evidence, err) : IP_OK;
    }
    return status;
}

static enum ip_status form_read(struct res_store *store, const char *syntax, struct res_form *form,
                                struct ip_error *err) {
    struct res_binder binder;
    enum ip_status status = res_bind_begin(store, RES_QUERY_FORM_GET, &binder, err);
    if (status != IP_OK) {
        return status;
    }
    res_bind_text(&binder, syntax);
    bool row = false;
    status = res_sql_step(store, binder.statement, &row, err);
    if (status != IP_OK) {
        return status;
    }
    if (!row) {
        return ip_fail(err, IP_FAILED, "the store '%.200s' has no form '%s': measure it with 'isaprobe scan'",
                       store->path, syntax);
    }
    struct res_form found = {0};
    int64_t id = sqlite3_column_int64(binder.statement, 0);
    res_column_text(binder.statement, 1, found.syntax, sizeof found.syntax);
    res_column_text(binder.statement, 2, found.extension, sizeof found.extension);
    res_column_text(binder.statement, 3, found.isa_set, sizeof found.isa_set);
    found.parts = (unsigned)sqlite3_column_int(binder.statement, 4);
    res_column_text(binder.statement, 5, found.status, sizeof found.status);
    res_column_text(binder.statement, 6, found.why, sizeof found.why);
    (void)sqlite3_reset(binder.statement);
    status = fact_get(store, RES_QUERY_THROUGHPUT_GET, id, &found.throughput, err);
    if (status == IP_OK) {
        status = fact_get(store, RES_QUERY_SLOTS_GET, id, &found.slots, err);
    }
    if (status == IP_OK) {
        status = ports_get(store, id, &found.ports, err);
    }
    if (status == IP_OK) {
        status = pairs_get(store, id, &found, err);
    }
    if (status != IP_OK) {
        res_form_fini(&found);
        return status;
    }
    *form = found;
    return IP_OK;
}

enum ip_status res_form_get(struct res_store *store, const char *syntax, struct res_form *form,
                            struct ip_error *err) {
    struct res_form found = {0};
    enum ip_status status = res_snapshot_begin(store, err);
    if (status == IP_OK) {
        status = res_snapshot_end(store, form_read(store, syntax, &found, err), err);
    }
    if (status != IP_OK) {
        res_form_fini(&found);
        return status;
    }
    *form = found;
    return IP_OK;
}

enum ip_status res_forms_need(struct res_store *store, struct ip_error *err) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->db, "SELECT 1 FROM forms LIMIT 1", -1, &statement, NULL) != SQLITE_OK) {
        return res_sql_fail(store->db, store->path, err);
    }
    bool row = false;
    enum ip_status status = res_sql_step(store, statement, &row, err);
    (void)sqlite3_finalize(statement);
    if (status == IP_OK && !row) {
        status = ip_fail(err, IP_FAILED, "the store '%.200s' has no forms yet: fill it with 'isaprobe scan'",
                         store->path);
    }
    return status;
}

enum ip_status res_forms_table(struct res_store *store, struct ip_text *rows, struct ip_error *err) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->db, "SELECT extension, syntax FROM forms ORDER BY extension, syntax", -1,
                           &statement, NULL) != SQLITE_OK) {
        return res_sql_fail(store->db, store->path, err);
    }
    struct ip_text made = {0};
    char extension[20] = "";
    enum ip_status status = IP_OK;
    bool row = true;
    while (status == IP_OK) {
        status = res_sql_step(store, statement, &row, err);
        if (status != IP_OK || !row) {
            break;
        }
        char next[20], syntax[ISA_SYNTAX_MAX];
        res_column_text(statement, 0, next, sizeof next);
        res_column_text(statement, 1, syntax, sizeof syntax);
        if (strcmp(next, extension) != 0) {
            memcpy(extension, next, sizeof extension);
            ip_text_printf(&made, "extension %s\n", extension);
        }
        ip_text_printf(&made, "%s\n", syntax);
    }
    (void)sqlite3_finalize(statement);
    if (status == IP_OK && made.failed) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for the forms of the store '%.200s'", store->path);
    }
    if (status != IP_OK) {
        ip_text_fini(&made);
        return status;
    }
    ip_text_fini(rows);
    *rows = made;
    return IP_OK;
}

enum ip_status res_form_find(struct res_store *store, const char *syntax, struct res_form *form, bool *found,
                             struct ip_error *err) {
    enum ip_status status = res_form_known(store, syntax, 0, false, found, err);
    return status == IP_OK && *found ? res_form_get(store, syntax, form, err) : status;
}
