/* SPDX-License-Identifier: Apache-2.0 */
/* scc_model/p54c_parse.c - the P54C's costs out of a table in the format of any other CPU's. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/export.h"
#include "scc_model/p54c.h"

/* What the in-order model can take: whole cycles on four ports. */
static bool ports_take(struct scc_row *row, const char *usage) {
    struct probe_usage_term terms[PROBE_USAGE_TERMS];
    unsigned count = 0;
    if (!res_usage_parse(usage, terms, &count) || count == 0 || count > SCC_P54C_TERMS) {
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        if (terms[i].uops != floor(terms[i].uops) || terms[i].uops < 1 || terms[i].uops > 1000 ||
            terms[i].ports >> SCC_P54C_PORTS != 0) {
            return false;
        }
        row->uses[i] = (struct scc_port_use){.mask = terms[i].ports, .cycles = (int)terms[i].uops};
    }
    row->use_count = (int)count;
    return true;
}

static bool row_take(struct scc_row *row, const struct res_row *from) {
    if (strlen(from->form) >= sizeof row->form || from->form[0] == '\0' || !from->latency.known) {
        return false;
    }
    (void)snprintf(row->form, sizeof row->form, "%.47s", from->form);
    row->latency_cycles = from->latency.high;
    row->throughput_cycles = from->throughput;
    return row->latency_cycles >= 0 && row->latency_cycles <= 1000 && row->throughput_cycles > 0 &&
           row->throughput_cycles <= 1000 && ports_take(row, from->ports);
}

enum ip_status scc_p54c_parse(struct scc_p54c *table, const char *file, const char *csv,
                              struct ip_error *err) {
    struct res_sheet sheet = {0};
    struct scc_p54c result = {.row_count = 0};
    enum ip_status status = res_export_read(&sheet, RES_FORMAT_CSV, file, csv, err);
    if (status == IP_OK && (sheet.count == 0 || sheet.count > SCC_P54C_ROWS_MAX)) {
        status = ip_fail_at(err, IP_SYNTAX, file, 0, 0, "%zu rows: from 1 to %d are taken", sheet.count,
                            SCC_P54C_ROWS_MAX);
    }
    for (size_t i = 0; status == IP_OK && i < sheet.count; i++) {
        if (!row_take(&result.rows[result.row_count++], &sheet.rows[i])) {
            status =
                ip_fail_at(err, IP_SYNTAX, file, (unsigned)i + 2, 0,
                           "the model needs a form, latency, throughput and whole cycles on ports 0 to %d",
                           SCC_P54C_PORTS - 1);
        }
    }
    res_sheet_fini(&sheet);
    if (status == IP_OK) {
        *table = result;
    }
    return status;
}
