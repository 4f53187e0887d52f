/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "power/reader.h"
#include "scc_model/p54c.h"

enum { FIELDS = 7 };

/* RFC 4180, one line: copies the fields; false for too many, too long, or an open quote. */
static bool fields_split(const char *line, size_t length, char fields[FIELDS][64], int *count) {
    size_t at = 0;
    *count = 0;
    do {
        size_t used = 0;
        bool quoted = at < length && line[at] == '"';
        at += quoted;
        if (*count == FIELDS) {
            return false;
        }
        while (at < length && line[at] != (quoted ? '"' : ',')) {
            if (used == sizeof fields[0] - 1) {
                return false;
            }
            fields[*count][used++] = line[at++];
        }
        if (quoted && (at == length || (at + 1 < length && line[at + 1] != ','))) {
            return false;
        }
        at += quoted;
        fields[*count][used] = '\0';
        ++*count;
    } while (at++ < length);
    return true;
}

/* "1*p0+2*p23" */
static bool ports_parse(struct scc_row *row, const char *ports) {
    row->use_count = 0;
    while (*ports != '\0') {
        char *end = NULL;
        long cycles = ports[0] >= '0' && ports[0] <= '9' ? strtol(ports, &end, 10) : 0;
        if (cycles < 1 || cycles > 1000 || end[0] != '*' || end[1] != 'p' ||
            row->use_count == SCC_P54C_TERMS) {
            return false;
        }
        struct scc_port_use use = {.cycles = (int)cycles};
        for (ports = end + 2; *ports >= '0' && *ports < '0' + SCC_P54C_PORTS; ports++) {
            use.mask |= 1u << (*ports - '0');
        }
        if (use.mask == 0) {
            return false;
        }
        row->uses[row->use_count++] = use;
        if (*ports == '+' && ports[1] != '\0') {
            ports++;
        } else if (*ports != '\0') {
            return false;
        }
    }
    return row->use_count > 0;
}

static bool row_parse(struct scc_row *row, char fields[FIELDS][64]) {
    if (strlen(fields[0]) >= sizeof row->form || fields[0][0] == '\0') {
        return false;
    }
    (void)snprintf(row->form, sizeof row->form, "%.47s", fields[0]);
    return pw_number(fields[2], &row->latency_cycles) && row->latency_cycles >= 0 &&
           row->latency_cycles <= 1000 && pw_number(fields[3], &row->throughput_cycles) &&
           row->throughput_cycles > 0 && row->throughput_cycles <= 1000 && ports_parse(row, fields[5]);
}

enum ip_status scc_p54c_parse(struct scc_p54c *table, const char *file, const char *csv,
                              struct ip_error *err) {
    static const char header[] = "form,isa,latency,throughput,slots,ports,status";
    struct scc_p54c result = {.row_count = 0};
    unsigned line = 0;
    while (*csv != '\0') {
        char fields[FIELDS][64];
        int count = 0;
        size_t length = strcspn(csv, "\n"), kept = length;
        kept -= kept > 0 && csv[kept - 1] == '\r';
        line++;
        if (line == 1) {
            if (kept != sizeof header - 1 || strncmp(csv, header, kept) != 0) {
                return ip_fail_at(err, IP_SYNTAX, file, line, 0, "the header is to be '%s'", header);
            }
        } else if (kept > 0) {
            if (result.row_count == SCC_P54C_ROWS_MAX) {
                return ip_fail_at(err, IP_SYNTAX, file, line, 0, "more than %d rows", SCC_P54C_ROWS_MAX);
            }
            if (!fields_split(csv, kept, fields, &count) || count != FIELDS ||
                !row_parse(&result.rows[result.row_count], fields)) {
                return ip_fail_at(err, IP_SYNTAX, file, line, 0,
                                  "not a row of form, isa, latency, throughput, slots, ports, status");
            }
            result.row_count++;
        }
        csv += length + (csv[length] == '\n');
    }
    if (result.row_count == 0) {
        return ip_fail_at(err, IP_SYNTAX, file, 0, 0, "no rows");
    }
    *table = result;
    return IP_OK;
}
