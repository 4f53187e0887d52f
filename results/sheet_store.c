/* SPDX-License-Identifier: Apache-2.0 */
/* results/sheet_store.c - a sheet of what a store knows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/core.h"
#include "results/sheet.h"
#include "results/sql.h"
#include "results/transfer.h"

/* A value may be used: it was measured, and is trusted or asked for all the same. */
static bool usable(const struct res_value *value, bool doubtful, struct res_sheet *sheet) {
    if (!value->known || isnan(value->cycles)) {
        return false;
    }
    bool taken = doubtful || strcmp(value->verdict, "ok") == 0;
    sheet->doubtful += !taken;
    return taken;
}

static bool runs_here(const struct res_form *form) {
    return strcmp(form->status, "illegal") != 0 && strcmp(form->status, "unmeasurable") != 0 &&
           strcmp(form->status, "fault") != 0;
}

/* Where the rows come from. */
struct source {
    struct res_store *store;
    struct res_transfers transfers;
    bool doubtful;
};

static enum ip_status pair_add(struct res_row *row, const struct res_pair *from, struct source *source,
                               struct ip_error *err) {
    struct res_sheet_pair *pair = res_row_pair_add(row);
    if (pair == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for form '%s'", row->form);
    }
    memcpy(pair->src, from->src, sizeof pair->src);
    memcpy(pair->dst, from->dst, sizeof pair->dst);
    memcpy(pair->path, from->path, sizeof pair->path);
    pair->cycles = from->value.cycles;
    pair->upper_bound = from->upper_bound;
    pair->same_register_cycles = from->same_register_cycles;
    pair->slow_cycles = from->value.slow_cycles;
    return from->upper_bound ? res_transfer_cycles(source->store, &source->transfers, from->via, pair->cycles,
                                                   &pair->share, err)
                             : IP_OK;
}

static enum ip_status row_add(struct res_sheet *sheet, const struct res_form *form, struct source *source,
                              struct ip_error *err) {
    bool doubtful = source->doubtful;
    struct res_row *row = res_sheet_row_add(sheet);
    if (row == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for form '%s'", form->syntax);
    }
    (void)snprintf(row->form, sizeof row->form, "%s", form->syntax);
    (void)snprintf(row->extension, sizeof row->extension, "%s", form->extension);
    (void)snprintf(row->status, sizeof row->status, "%s", form->status);
    if (usable(&form->throughput, doubtful, sheet)) {
        row->throughput = form->throughput.cycles;
        row->throughput_slow = form->throughput.slow_cycles;
    }
    if (usable(&form->slots, doubtful, sheet)) {
        row->slots = form->slots.cycles;
    }
    bool ambiguous = form->ports.known && strcmp(form->ports.verdict, "ambiguous") == 0;
    if ((form->ports.known && strcmp(form->ports.verdict, "ok") == 0) || (ambiguous && doubtful)) {
        const char *others = strstr(form->ports.usage, PROBE_USAGE_OR);
        size_t length = others != NULL ? (size_t)(others - form->ports.usage) : strlen(form->ports.usage);
        (void)snprintf(row->ports, sizeof row->ports, "%.*s", (int)length, form->ports.usage);
    } else {
        sheet->inconsistent += form->ports.known && strcmp(form->ports.verdict, "inconsistent") == 0;
    }
    sheet->ambiguous += ambiguous;
    memcpy(row->unit, form->ports.unit, sizeof row->unit); /* seen whatever the ports are */
    row->unit_cycles = form->ports.unit_cycles;
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < form->pair_count && status == IP_OK; i++) {
        const struct res_pair *from = &form->pairs[i];
        if (usable(&from->value, doubtful, sheet)) {
            status = pair_add(row, from, source, err);
        }
    }
    res_row_range_find(row);
    return status;
}

static enum ip_status query_select(const struct isa_table *table, const char *path, const char *query,
                                   size_t **positions, size_t *count, struct ip_error *err) {
    struct isa_table known = {0};
    size_t *ignored = NULL, ignored_count = 0;
    enum ip_status status = isa_table_select(table, query, positions, count, err);
    if (status != IP_USAGE) {
        return status;
    }
    status = isa_table_builtin_add(&known, err);
    status = status == IP_OK ? isa_table_select(&known, query, &ignored, &ignored_count, err) : status;
    if (status == IP_OK) {
        status =
            ip_fail(err, IP_USAGE,
                    "the store '%.200s' has nothing that '%.100s' names: measure it with 'isaprobe scan'",
                    path, query);
    }
    free(ignored);
    isa_table_fini(&known);
    return status;
}

static enum ip_status all_select(const struct isa_table *table, size_t **positions, size_t *count,
                                 struct ip_error *err) {
    *positions = calloc(table->count + 1, sizeof **positions);
    if (*positions == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", table->count);
    }
    for (size_t i = 0; i < table->count; i++) {
        (*positions)[i] = i;
    }
    *count = table->count;
    return IP_OK;
}

static enum ip_status extension_check(const struct isa_table *table, const char *path, char *extension,
                                      struct ip_error *err) {
    const struct ip_lines one = {.items = &extension, .count = 1};
    struct isa_table known = {0};
    enum ip_status status = isa_table_extensions_check(table, &one, err);
    if (status != IP_USAGE) {
        return status;
    }
    status = isa_table_builtin_add(&known, err);
    status = status == IP_OK ? isa_table_extensions_check(&known, &one, err) : status;
    if (status == IP_OK) {
        status = ip_fail(err, IP_USAGE,
                         "the store '%.200s' has no form of extension '%.60s': measure some with 'isaprobe "
                         "scan --extension %.60s'",
                         path, extension, extension);
    }
    isa_table_fini(&known);
    return status;
}

/* Of positions[0..*count) keeps those of the extensions. */
static enum ip_status extensions_keep(const struct isa_table *table, const struct ip_lines *extensions,
                                      size_t *positions, size_t *count, struct ip_error *err) {
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        if (isa_extension_wanted(extensions, table->forms[positions[i]].extension)) {
            positions[kept++] = positions[i];
        }
    }
    if (kept == 0) {
        return ip_fail(err, IP_USAGE, "none of the forms named is of the extension asked for");
    }
    *count = kept;
    return IP_OK;
}

/* Several queries may name one form: it stays where it is named first. */
static enum ip_status repeats_drop(const struct isa_table *table, size_t *positions, size_t *count,
                                   struct ip_error *err) {
    bool *taken = calloc(table->count + 1, sizeof *taken);
    size_t kept = 0;
    if (taken == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", table->count);
    }
    for (size_t i = 0; i < *count; i++) {
        if (!taken[positions[i]]) {
            taken[positions[i]] = true;
            positions[kept++] = positions[i];
        }
    }
    free(taken);
    *count = kept;
    return IP_OK;
}

enum ip_status res_forms_select(const struct isa_table *table, const char *path,
                                const struct res_wanted *wanted, size_t **positions, size_t *count,
                                struct ip_error *err) {
    size_t *found = NULL, selected = 0;
    enum ip_status status = IP_OK;
    for (size_t i = 0; status == IP_OK && i < wanted->extensions.count; i++) {
        status = extension_check(table, path, wanted->extensions.items[i], err);
    }
    for (size_t i = 0; status == IP_OK && i < wanted->count; i++) {
        status = query_select(table, path, wanted->queries[i], &found, &selected, err);
    }
    if (status == IP_OK && wanted->count == 0) {
        status = all_select(table, &found, &selected, err);
    }
    if (status == IP_OK) {
        status = repeats_drop(table, found, &selected, err);
    }
    if (status == IP_OK) {
        status = extensions_keep(table, &wanted->extensions, found, &selected, err);
    }
    if (status != IP_OK) {
        free(found);
        return status;
    }
    *positions = found;
    *count = selected;
    return IP_OK;
}

static enum ip_status rows_read(struct res_sheet *sheet, struct res_store *store,
                                const struct isa_table *table, const size_t *positions, size_t count,
                                bool doubtful, struct ip_error *err) {
    enum ip_status status = IP_OK;
    struct source source = {.store = store, .doubtful = doubtful};
    for (size_t i = 0; status == IP_OK && i < count; i++) {
        struct res_form form = {0};
        status = res_form_get(store, table->forms[positions[i]].syntax, &form, err);
        if (status == IP_OK && runs_here(&form)) {
            status = row_add(sheet, &form, &source, err);
        }
        res_form_fini(&form);
    }
    return status;
}

static enum ip_status core_read(struct res_sheet *sheet, struct res_store *store, struct ip_error *err) {
    static const enum probe_core_key keys[] = {
        [RES_SHEET_ROB_SLOTS] = PROBE_CORE_ROB_SLOTS,
        [RES_SHEET_RETIRE_WIDTH] = PROBE_CORE_RETIRE_WIDTH,
        [RES_SHEET_SCHEDULER_UOPS] = PROBE_CORE_SCHEDULER_UOPS,
    };
    struct probe_core core = {0};
    enum ip_status status = res_core_get(store, &core, err);
    for (size_t i = 0; i < RES_SHEET_CORE && status == IP_OK; i++) {
        sheet->core[i] = fmax(0.0, probe_core_get(&core, keys[i]));
    }
    probe_core_fini(&core);
    return status;
}

static enum ip_status sheet_read(struct res_sheet *sheet, struct res_store *store,
                                 const struct res_wanted *wanted, bool doubtful, struct ip_error *err) {
    struct ip_text text = {0};
    struct isa_table table = {0};
    struct res_sheet made = {0};
    size_t *positions = NULL, selected = 0;
    enum ip_status status = res_machine_get(store, &text, err);
    if (status == IP_OK) {
        (void)snprintf(made.machine, sizeof made.machine, "%s", ip_text_string(&text));
        status = res_forms_table(store, &text, err);
    }
    if (status == IP_OK) {
        status = isa_table_text_add(&table, store->path, ip_text_string(&text), text.length, err);
    }
    if (status == IP_OK) {
        status = res_forms_need(store, err);
    }
    if (status == IP_OK) {
        status = res_forms_select(&table, store->path, wanted, &positions, &selected, err);
    }
    if (status == IP_OK) {
        status = core_read(&made, store, err);
    }
    if (status == IP_OK) {
        status = rows_read(&made, store, &table, positions, selected, doubtful, err);
    }
    free(positions);
    isa_table_fini(&table);
    ip_text_fini(&text);
    if (status != IP_OK) {
        res_sheet_fini(&made);
        return status;
    }
    *sheet = made;
    return IP_OK;
}

enum ip_status res_sheet_of_store(struct res_sheet *sheet, struct res_store *store,
                                  const struct res_wanted *wanted, bool doubtful, struct ip_error *err) {
    struct res_sheet made = {0};
    enum ip_status status = res_snapshot_begin(store, err);
    if (status == IP_OK) {
        status = res_snapshot_end(store, sheet_read(&made, store, wanted, doubtful, err), err);
    }
    if (status != IP_OK) {
        res_sheet_fini(&made);
        return status;
    }
    res_sheet_fini(sheet);
    *sheet = made;
    return IP_OK;
}
