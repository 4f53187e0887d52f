/* SPDX-License-Identifier: Apache-2.0 */
#include "results/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "isa/decode.h"

void res_sheet_fini(struct res_sheet *sheet) {
    for (size_t i = 0; i < sheet->count; i++) {
        free(sheet->rows[i].pairs);
    }
    free(sheet->rows);
    isa_table_fini(&sheet->table);
    memset(sheet, 0, sizeof *sheet);
}

struct res_row *res_sheet_row_add(struct res_sheet *sheet) {
    if (sheet->count == sheet->capacity) {
        size_t capacity = sheet->capacity != 0 ? 2 * sheet->capacity : 64;
        struct res_row *rows = realloc(sheet->rows, capacity * sizeof *rows);
        if (rows == NULL) {
            return NULL;
        }
        sheet->rows = rows;
        sheet->capacity = capacity;
    }
    struct res_row *row = &sheet->rows[sheet->count++];
    memset(row, 0, sizeof *row);
    row->throughput = row->slots = row->throughput_slow = row->unit_cycles = NAN;
    return row;
}

struct res_sheet_pair *res_row_pair_add(struct res_row *row) {
    struct res_sheet_pair *pairs = realloc(row->pairs, (row->pair_count + 1) * sizeof *pairs);
    if (pairs == NULL) {
        return NULL;
    }
    row->pairs = pairs;
    struct res_sheet_pair *pair = &pairs[row->pair_count++];
    memset(pair, 0, sizeof *pair);
    pair->cycles = pair->same_register_cycles = pair->slow_cycles = pair->share = NAN;
    return pair;
}

void res_row_range_find(struct res_row *row) {
    if (row->pair_count == 0) {
        return;
    }
    struct res_sheet_range range = {0};
    for (size_t i = 0; i < row->pair_count; i++) {
        const struct res_sheet_pair *pair = &row->pairs[i];
        if (isnan(pair->cycles)) {
            continue;
        }
        if (!range.known || pair->cycles < range.low) {
            range.low = pair->cycles;
            range.low_bound = pair->upper_bound;
        }
        double slowest = fmax(pair->cycles, pair->slow_cycles); /* not NaN if one is not */
        if (!range.known || slowest > range.high) {
            range.high = slowest;
            range.high_bound =
                pair->upper_bound || (pair->slow_upper_bound && pair->slow_cycles > pair->cycles);
        }
        range.known = true;
    }
    row->latency = range;
}

const struct res_row *res_sheet_find(const struct res_sheet *sheet, const char *form) {
    for (size_t i = 0; i < sheet->count; i++) {
        if (strcmp(sheet->rows[i].form, form) == 0) {
            return &sheet->rows[i];
        }
    }
    return NULL;
}

enum ip_status res_sheet_derive(struct res_sheet *sheet, struct ip_error *err) {
    struct ip_text rows = {0};
    const char *extension = "";
    for (size_t i = 0; i < sheet->count; i++) {
        const struct res_row *row = &sheet->rows[i];
        if (row->form[0] == '\0') {
            continue;
        }
        if (strcmp(row->extension, extension) != 0 && row->extension[0] != '\0') {
            extension = row->extension;
            ip_text_printf(&rows, "extension %s\n", extension);
        }
        ip_text_printf(&rows, "%s\n", row->form);
    }
    struct isa_table table = {0};
    enum ip_status status =
        rows.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", sheet->count)
                    : isa_table_text_add(&table, sheet->machine, ip_text_string(&rows), rows.length, err);
    ip_text_fini(&rows);
    struct isa_form **forms = NULL;
    if (status == IP_OK) {
        forms = calloc(table.count + 1, sizeof(struct isa_form *));
        status =
            forms == NULL ? ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", table.count) : IP_OK;
    }
    for (size_t i = 0; status == IP_OK && i < table.count; i++) {
        forms[i] = &table.forms[i];
    }
    if (status == IP_OK) {
        status = isa_forms_derive(forms, table.count, err);
    }
    free(forms);
    if (status != IP_OK) {
        isa_table_fini(&table);
        return status;
    }
    isa_table_fini(&sheet->table);
    sheet->table = table;
    for (size_t i = 0; i < sheet->count; i++) {
        struct res_row *row = &sheet->rows[i];
        row->info = row->form[0] != '\0' ? isa_table_find(&sheet->table, row->form) : NULL;
        if (row->info != NULL) {
            res_uops_name(row->info, row->name);
        }
    }
    return IP_OK;
}
