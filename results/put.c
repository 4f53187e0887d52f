/* SPDX-License-Identifier: Apache-2.0 */
/* results/put.c - one form into the store, in one transaction. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/sql.h"

const char *res_status_name(enum res_status status) {
    static const char *const names[] = {
        [RES_STATUS_OK] = "ok",
        [RES_STATUS_UNSTABLE] = "unstable",
        [RES_STATUS_DISTURBED] = "disturbed",
        [RES_STATUS_ILLEGAL] = "illegal",
        [RES_STATUS_FAULT] = "fault",
        [RES_STATUS_UNMEASURABLE] = "unmeasurable",
    };
    return names[status];
}

/* One fact's verdict: "none" where no kernel was run. All batches may have been void: disturbed, and no
 * value. */
static const char *verdict_name(bool measured, enum hx_verdict verdict) {
    static const char *const names[] = {
        [HX_VERDICT_OK] = "ok",
        [HX_VERDICT_UNSTABLE] = "unstable",
        [HX_VERDICT_DISTURBED] = "disturbed",
        [HX_VERDICT_FAULT] = "fault",
    };
    return measured || verdict != HX_VERDICT_OK ? names[verdict] : "none";
}

/* What a put works on. */
struct put {
    struct res_store *store;
    const struct res_facts *facts;
    const struct res_log *log;
    int64_t form_id;
};

static enum ip_status form_put(struct put *put, struct ip_error *err) {
    const struct isa_form *form = put->facts->form;
    struct res_binder binder;
    enum ip_status status = res_bind_begin(put->store, RES_QUERY_FORM_PUT, &binder, err);
    if (status != IP_OK) {
        return status;
    }
    res_bind_text(&binder, form->syntax);
    res_bind_text(&binder, form->mnemonic);
    res_bind_text(&binder, form->extension);
    res_bind_text(&binder, form->isa_set);
    res_bind_integer(&binder, put->facts->parts);
    res_bind_integer(&binder, put->store->run_id);
    bool row = false;
    status = res_sql_step(put->store, binder.statement, &row, err);
    if (status == IP_OK && row) {
        put->form_id = sqlite3_column_int64(binder.statement, 0);
        status = res_sql_step(put->store, binder.statement, &row, err);
    }
    return status;
}

/* Runs a statement whose only parameter is the form. */
static enum ip_status form_run(struct put *put, enum res_query query, struct ip_error *err) {
    struct res_binder binder;
    enum ip_status status = res_bind_begin(put->store, query, &binder, err);
    if (status == IP_OK) {
        res_bind_integer(&binder, put->form_id);
        status = res_bind_run(put->store, &binder, err);
    }
    return status;
}

static enum ip_status operands_put(struct put *put, struct ip_error *err) {
    const struct isa_form *form = put->facts->form;
    enum ip_status status = form_run(put, RES_QUERY_OPERANDS_DROP, err);
    for (unsigned i = 0; i < form->operand_count && status == IP_OK; i++) {
        const struct isa_operand *operand = &form->operands[i];
        struct res_binder binder;
        char name[16];
        status = res_bind_begin(put->store, RES_QUERY_OPERAND_PUT, &binder, err);
        if (status == IP_OK) {
            res_bind_integer(&binder, put->form_id);
            res_bind_integer(&binder, i);
            res_bind_text(&binder, isa_operand_name(form, i, name));
            res_bind_integer(&binder, operand->bits);
            res_bind_integer(&binder, operand->implicit);
            res_bind_integer(&binder, operand->read);
            res_bind_integer(&binder, operand->write);
            status = res_bind_run(put->store, &binder, err);
        }
    }
    return status;
}

static enum ip_status kernel_put(struct put *put, const struct res_kernel *kernel, struct ip_error *err) {
    struct res_binder binder;
    enum ip_status status = res_bind_begin(put->store, RES_QUERY_PREPARATION_PUT, &binder, err);
    if (status == IP_OK) {
        res_bind_integer(&binder, (int64_t)kernel->preparation);
        res_bind_blob(&binder, kernel->bytes, kernel->head_bytes);
        res_bind_blob(&binder, kernel->memory_fill, sizeof kernel->memory_fill);
        res_bind_blob(&binder, kernel->vector_fill, sizeof kernel->vector_fill);
        status = res_bind_run(put->store, &binder, err);
    }
    if (status == IP_OK) {
        status = res_bind_begin(put->store, RES_QUERY_KERNEL_PUT, &binder, err);
    }
    if (status == IP_OK) {
        res_bind_integer(&binder, (int64_t)kernel->hash);
        res_bind_integer(&binder, (int64_t)kernel->preparation);
        res_bind_blob(&binder, kernel->bytes + kernel->head_bytes, kernel->unit_bytes);
        res_bind_integer(&binder, kernel->unit_instructions);
        res_bind_integer(&binder, kernel->copies);
        res_bind_integer(&binder, kernel->forms_per_unit);
        status = res_bind_run(put->store, &binder, err);
    }
    return status;
}

/* The statistic and its kernel. *id is 0 when nothing was run. */
static enum ip_status statistic_put(struct put *put, const struct hx_stat *stat, int64_t *id,
                                    struct ip_error *err) {
    *id = 0;
    if (stat->batches == 0 && stat->verdict == HX_VERDICT_OK) {
        return IP_OK; /* all-zero: no kernel */
    }
    const struct res_kernel *kernel = put->log != NULL ? res_log_find(put->log, stat->kernel_hash) : NULL;
    enum ip_status status = kernel != NULL ? kernel_put(put, kernel, err) : IP_OK;
    struct res_binder binder;
    if (status == IP_OK) {
        status = res_bind_begin(put->store, RES_QUERY_STATISTIC_PUT, &binder, err);
    }
    if (status != IP_OK) {
        return status;
    }
    if (kernel != NULL) {
        res_bind_integer(&binder, (int64_t)kernel->hash);
    } else {
        res_bind_null(&binder);
    }
    res_bind_text(&binder, verdict_name(true, stat->verdict));
    res_bind_text(&binder, hx_outcome_name(stat->outcome));
    res_bind_real(&binder, stat->low);
    res_bind_real(&binder, stat->cycles);
    res_bind_real(&binder, stat->high);
    res_bind_real(&binder, stat->spread);
    res_bind_real(&binder, stat->ticks_per_cycle);
    res_bind_real(&binder, stat->sentinel_cycles);
    res_bind_integer(&binder, stat->batches);
    res_bind_integer(&binder, stat->retakes);
    status = res_bind_run(put->store, &binder, err);
    if (status == IP_OK) {
        *id = sqlite3_last_insert_rowid(put->store->db);
    }
    return status;
}

static void bind_evidence(struct put *put, struct res_binder *binder, int64_t statistic) {
    if (statistic != 0) {
        res_bind_integer(binder, statistic);
    } else {
        res_bind_null(binder);
    }
    res_bind_integer(binder, put->store->run_id);
}

static enum ip_status pair_put(struct put *put, const struct probe_latency_pair *pair, size_t position,
                               struct ip_error *err) {
    const struct isa_form *form = put->facts->form;
    int64_t statistic = 0;
    struct res_binder binder;
    enum ip_status status = statistic_put(put, &pair->stat, &statistic, err);
    if (status == IP_OK) {
        status = res_bind_begin(put->store, RES_QUERY_LATENCY_PUT, &binder, err);
    }
    if (status != IP_OK) {
        return status;
    }
    char src[16], dst[16];
    res_bind_integer(&binder, put->form_id);
    res_bind_integer(&binder, (int64_t)position);
    res_bind_text(&binder, isa_operand_name(form, (unsigned)pair->src, src));
    res_bind_text(&binder, isa_operand_name(form, (unsigned)pair->dst, dst));
    res_bind_text(&binder, probe_path_name(pair->path));
    res_bind_real(&binder, pair->measured ? pair->cycles : NAN);
    res_bind_text(&binder, probe_latency_bound(pair));
    res_bind_real(&binder, pair->measured ? pair->spread : NAN);
    res_bind_text(&binder, verdict_name(pair->measured, pair->verdict));
    res_bind_text(&binder, pair->via);
    res_bind_real(&binder, pair->chained_cycles);
    res_bind_real(&binder, pair->same_register_cycles);
    res_bind_real(&binder, pair->slow_cycles);
    /* All chains of the pair were left out because their transfers do not run. */
    bool silent = !pair->measured && pair->why[0] == '\0';
    res_bind_text(&binder, silent ? "this CPU runs no instruction that closes its chain" : pair->why);
    bind_evidence(put, &binder, statistic);
    return res_bind_run(put->store, &binder, err);
}

static enum ip_status latency_put(struct put *put, struct ip_error *err) {
    const struct probe_latency *latency = put->facts->latency;
    enum ip_status status = form_run(put, RES_QUERY_LATENCY_STATISTICS_DROP, err);
    if (status == IP_OK) {
        status = form_run(put, RES_QUERY_LATENCY_DROP, err);
    }
    for (size_t i = 0; i < latency->count && status == IP_OK; i++) {
        status = pair_put(put, &latency->pairs[i], i, err);
    }
    return status;
}

static enum ip_status throughput_put(struct put *put, struct ip_error *err) {
    const struct probe_throughput *throughput = put->facts->throughput;
    int64_t statistic = 0;
    struct res_binder binder;
    enum ip_status status = form_run(put, RES_QUERY_THROUGHPUT_STATISTICS_DROP, err);
    if (status == IP_OK) {
        status = statistic_put(put, &throughput->stat, &statistic, err);
    }
    if (status == IP_OK) {
        status = res_bind_begin(put->store, RES_QUERY_THROUGHPUT_PUT, &binder, err);
    }
    if (status != IP_OK) {
        return status;
    }
    res_bind_integer(&binder, put->form_id);
    res_bind_real(&binder, throughput->measured ? throughput->cycles : NAN);
    res_bind_real(&binder, throughput->measured ? throughput->spread : NAN);
    res_bind_real(&binder, throughput->slow_cycles);
    res_bind_text(&binder, verdict_name(throughput->measured, throughput->verdict));
    res_bind_integer(&binder, throughput->registers);
    res_bind_text(&binder, throughput->how);
    res_bind_text(&binder, throughput->why);
    bind_evidence(put, &binder, statistic);
    return res_bind_run(put->store, &binder, err);
}

static enum ip_status slots_put(struct put *put, struct ip_error *err) {
    const struct probe_slots *slots = put->facts->slots;
    int64_t statistic = 0;
    struct res_binder binder;
    enum ip_status status = form_run(put, RES_QUERY_SLOTS_STATISTICS_DROP, err);
    if (status == IP_OK) {
        status = statistic_put(put, &slots->stat, &statistic, err);
    }
    if (status == IP_OK) {
        status = res_bind_begin(put->store, RES_QUERY_SLOTS_PUT, &binder, err);
    }
    if (status != IP_OK) {
        return status;
    }
    res_bind_integer(&binder, put->form_id);
    res_bind_real(&binder, slots->measured ? slots->slots : NAN);
    res_bind_real(&binder, slots->measured ? slots->spread : NAN);
    res_bind_text(&binder, verdict_name(slots->measured, slots->verdict));
    res_bind_text(&binder, slots->why);
    bind_evidence(put, &binder, statistic);
    return res_bind_run(put->store, &binder, err);
}

static const char *usage_verdict(const struct probe_usage *usage) {
    return usage->verdict == PROBE_USAGE_OK             ? (usage->ambiguous ? "ambiguous" : "ok")
           : usage->verdict == PROBE_USAGE_INCONSISTENT ? "inconsistent"
                                                        : verdict_name(false, usage->meter);
}

static enum ip_status ports_put(struct put *put, struct ip_error *err) {
    const struct probe_usage *usage = put->facts->usage;
    bool ok = usage->verdict == PROBE_USAGE_OK, measured = usage->verdict != PROBE_USAGE_UNKNOWN;
    char text[PROBE_USAGE_ALTERNATIVES_TEXT];
    int64_t statistic = 0;
    struct res_binder binder;
    enum ip_status status = form_run(put, RES_QUERY_PORTS_STATISTICS_DROP, err);
    if (status == IP_OK) {
        status = statistic_put(put, &usage->stat, &statistic, err);
    }
    if (status == IP_OK) {
        status = res_bind_begin(put->store, RES_QUERY_PORTS_PUT, &binder, err);
    }
    if (status != IP_OK) {
        return status;
    }
    res_bind_integer(&binder, put->form_id);
    res_bind_text(&binder, ok ? probe_usage_print_all(put->facts->map, put->facts->form, usage, text) : NULL);
    if (ok) {
        res_bind_integer(&binder, (int64_t)probe_usage_uops(put->facts->map, usage));
    } else {
        res_bind_null(&binder);
    }
    res_bind_real(&binder, usage->slots);
    res_bind_real(&binder, usage->cycles);
    res_bind_real(&binder, ok ? usage->expected_cycles : NAN);
    res_bind_real(&binder, measured ? usage->residual : NAN);
    res_bind_text(&binder, usage_verdict(usage));
    res_bind_text(&binder, usage->unit);
    res_bind_real(&binder, usage->unit[0] != '\0' ? usage->unit_cycles : NAN);
    res_bind_text(&binder, usage->how);
    res_bind_text(&binder, usage->why);
    bind_evidence(put, &binder, statistic);
    return res_bind_run(put->store, &binder, err);
}

/* The form's status, from one fact after another. */
struct judgement {
    enum res_status status;
    char why[128];
    bool decided;  /* the throughput was not measurable: that is said of the form */
    bool measured; /* some fact was */
    bool facts;
};

static bool word_is(sqlite3_stmt *row, int column, const char *word) {
    const unsigned char *text = sqlite3_column_text(row, column);
    return text != NULL && strcmp((const char *)text, word) == 0;
}

static enum res_status fact_status(sqlite3_stmt *row, bool measured) {
    if (word_is(row, 2, "unstable")) {
        return RES_STATUS_UNSTABLE;
    }
    if (word_is(row, 2, "disturbed")) {
        return RES_STATUS_DISTURBED;
    }
    if (measured) {
        return RES_STATUS_OK;
    }
    if (word_is(row, 3, hx_outcome_name(HX_OUTCOME_ILLEGAL)) ||
        word_is(row, 3, hx_outcome_name(HX_OUTCOME_UNKNOWN))) {
        return RES_STATUS_ILLEGAL;
    }
    return word_is(row, 2, "fault") ? RES_STATUS_FAULT : RES_STATUS_UNMEASURABLE;
}

/* Columns: which, measured, verdict, outcome, why. */
static void judge(struct judgement *judgement, sqlite3_stmt *row) {
    if (judgement->decided) {
        return;
    }
    if (judgement->measured && word_is(row, 0, "s")) {
        return; /* slots have a verdict of their own; they say nothing against a throughput */
    }
    bool measured = sqlite3_column_int(row, 1) != 0;
    enum res_status status = fact_status(row, measured);
    judgement->decided = !measured && word_is(row, 0, "t");
    /* A pair that cannot be chained says nothing of a form of which something was measured. */
    bool take = judgement->decided || !judgement->facts;
    if (measured && !take) {
        take = !judgement->measured || status > judgement->status;
    } else if (!take) {
        take = !judgement->measured && status < judgement->status;
    }
    judgement->facts = true;
    judgement->measured = judgement->measured || measured;
    if (take) {
        judgement->status = status;
        res_column_text(row, 4, judgement->why, sizeof judgement->why);
    }
}

static enum ip_status judgement_put(struct put *put, enum res_status *status_found, struct ip_error *err) {
    const struct isa_form *form = put->facts->form;
    struct judgement judgement = {.status = RES_STATUS_OK};
    struct res_binder binder;
    enum ip_status status = res_bind_begin(put->store, RES_QUERY_FACTS, &binder, err);
    if (status != IP_OK) {
        return status;
    }
    res_bind_integer(&binder, put->form_id);
    bool row = true;
    while (status == IP_OK && row) {
        status = res_sql_step(put->store, binder.statement, &row, err);
        if (status == IP_OK && row) {
            judge(&judgement, binder.statement);
        }
    }
    if (!judgement.facts && form->obstacle != ISA_OBSTACLE_NONE) {
        judgement.status = RES_STATUS_UNMEASURABLE;
        (void)snprintf(judgement.why, sizeof judgement.why, "%s",
                       form->note[0] != '\0' ? form->note : "cannot run in a loop");
    } else if (!judgement.facts) {
        (void)snprintf(judgement.why, sizeof judgement.why, "no operand depends on another");
    }
    if (status == IP_OK) {
        status = res_bind_begin(put->store, RES_QUERY_FORM_STATUS, &binder, err);
    }
    if (status == IP_OK) {
        res_bind_text(&binder, res_status_name(judgement.status));
        res_bind_text(&binder, judgement.why);
        res_bind_integer(&binder, put->form_id);
        status = res_bind_run(put->store, &binder, err);
    }
    if (status == IP_OK) {
        *status_found = judgement.status;
    }
    return status;
}

static enum ip_status all_put(struct put *put, enum res_status *status_found, struct ip_error *err) {
    enum ip_status status = form_put(put, err);
    if (status == IP_OK) {
        status = operands_put(put, err);
    }
    if (status == IP_OK && put->facts->throughput != NULL) {
        status = throughput_put(put, err);
    }
    if (status == IP_OK && put->facts->slots != NULL) {
        status = slots_put(put, err);
    }
    if (status == IP_OK && put->facts->usage != NULL) {
        status = ports_put(put, err);
    }
    if (status == IP_OK && put->facts->latency != NULL) {
        status = latency_put(put, err);
    }
    return status == IP_OK ? judgement_put(put, status_found, err) : status;
}

enum ip_status res_form_put(struct res_store *store, const struct res_facts *facts, const struct res_log *log,
                            enum res_status *status_found, struct ip_error *err) {
    struct put put = {.store = store, .facts = facts, .log = log};
    enum res_status found = RES_STATUS_OK;
    enum ip_status status = res_transaction_begin(store, err);
    if (status == IP_OK) {
        status = all_put(&put, &found, err);
        status = res_transaction_end(store, status, err);
    }
    if (status == IP_OK) {
        *status_found = found;
    }
    return status;
}
