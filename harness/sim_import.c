/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of port usage as they are published: a CSV with the columns instruction (or scheme), latency, slots
 * and ports. The names are read in harness/sim_names.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "common/text.h"
#include "harness/sim_description.h"

enum { CELLS_MAX = 32 };

struct cell {
    const char *text;
    size_t length, column; /* column from 1 */
};

/* Splits one line; a cell in double quotes may hold commas. */
static unsigned cells_split(const char *line, size_t length, struct cell cells[CELLS_MAX]) {
    unsigned count = 0;
    for (size_t at = 0; count < CELLS_MAX; at++) {
        struct cell *cell = &cells[count++];
        bool quoted = at < length && line[at] == '"';
        at += quoted;
        cell->text = line + at;
        cell->column = at + 1;
        while (at < length && line[at] != (quoted ? '"' : ',')) {
            at++;
        }
        cell->length = (size_t)(line + at - cell->text);
        at += quoted && at < length;
        if (at >= length) {
            break;
        }
    }
    return count;
}

/* "4", "[1;6]", "[≤3;≤11]", "23.0": lowest and highest number. False: none. */
static bool latency_read(const struct cell *cell, unsigned *low, unsigned *high) {
    bool any = false;
    for (size_t i = 0; i < cell->length; i++) {
        if (cell->text[i] < '0' || cell->text[i] > '9') {
            continue;
        }
        unsigned number = 0;
        while (i < cell->length && cell->text[i] >= '0' && cell->text[i] <= '9' &&
               number <= HX_SIM_LATENCY_MAX) {
            number = number * 10 + (unsigned)(cell->text[i++] - '0');
        }
        while (i < cell->length && cell->text[i] != ';') {
            i++; /* a fraction */
        }
        number = number > HX_SIM_LATENCY_MAX ? HX_SIM_LATENCY_MAX : number;
        *low = any && *low < number ? *low : number;
        *high = any && *high > number ? *high : number;
        any = true;
    }
    return any;
}

/* M64, Moffs8 or VSIB_XMM, but not MM. */
static bool has_memory_operand(const char *name) {
    for (const char *at = strpbrk(name, "(,"); at != NULL; at = strpbrk(at, "(,")) {
        at++;
        at += strspn(at, " ");
        if (strncmp(at, "VSIB", 4) == 0 || strncmp(at, "Moffs", 5) == 0 ||
            (at[0] == 'M' && (ip_ascii_is_digit(at[1]) || at[1] == ')' || at[1] == ','))) {
            return true;
        }
    }
    return false;
}

/* The table gives a range over operand pairs: with memory its ends are taken for the register operand and the
 * address, else its upper end for all. */
static void latency_apply(const struct hx_sim_description *d, struct hx_sim_row *row, unsigned low,
                          unsigned high) {
    bool moves_only = true;
    for (unsigned i = 0; i < row->uops_count; i++) {
        uint32_t ports = row->uops[i].ports;
        moves_only &=
            ports == d->load_ports || ports == d->store_address_ports || ports == d->store_data_ports;
    }
    bool memory = has_memory_operand(row->syntax);
    if (memory) {
        row->memory_latency = (uint16_t)high;
    }
    if (!(memory && moves_only)) {
        row->latency_given = true;
        row->latency = (uint16_t)(memory ? low : high);
    }
}

struct columns {
    int instruction, latency, slots, ports;
};

static bool cell_is(const struct cell *cell, const char *text) {
    return cell->length == strlen(text) && memcmp(cell->text, text, cell->length) == 0;
}

static bool header_read(const struct cell *cells, unsigned count, struct columns *columns) {
    *columns = (struct columns){-1, -1, -1, -1};
    for (unsigned i = 0; i < count; i++) {
        int *column = cell_is(&cells[i], "instruction") || cell_is(&cells[i], "scheme")
                          ? &columns->instruction
                      : cell_is(&cells[i], "latency") ? &columns->latency
                      : cell_is(&cells[i], "slots")   ? &columns->slots
                      : cell_is(&cells[i], "ports")   ? &columns->ports
                                                      : NULL;
        if (column != NULL) {
            *column = (int)i;
        }
    }
    return columns->instruction >= 0 && columns->ports >= 0;
}

static enum ip_status row_read(struct hx_sim_description *d, const struct columns *columns,
                               const struct cell *cells, unsigned count, const char *name, unsigned line,
                               struct ip_error *err) {
    struct hx_sim_row row = {0};
    if ((int)count <= columns->instruction || (int)count <= columns->ports) {
        return ip_fail_at(err, IP_SYNTAX, name, line, 1, "the line has fewer cells than the header");
    }
    const struct cell *instruction = &cells[columns->instruction], *ports = &cells[columns->ports];
    if (instruction->length == 0) {
        return ip_fail_at(err, IP_SYNTAX, name, line, (unsigned)instruction->column,
                          "an instruction of 1 to %zu characters is expected", sizeof row.syntax - 1);
    }
    if (ports->length == 0) {
        return IP_OK; /* the table does not know */
    }
    if (!hx_sim_published_name(instruction->text, instruction->length, row.syntax)) {
        return ip_fail_at(err, IP_SYNTAX, name, line, (unsigned)instruction->column,
                          "an instruction of 1 to %zu characters is expected", sizeof row.syntax - 1);
    }
    size_t where;
    const char *wrong = hx_sim_ports_parse(d, ports->text, ports->length, &row, &where);
    if (wrong == hx_sim_too_many_uops) {
        return IP_OK; /* WBINVD and the like: such forms stay unlisted */
    }
    if (wrong != NULL) {
        return ip_fail_at(err, IP_SYNTAX, name, line, (unsigned)(ports->column + where), "ports: %s", wrong);
    }
    unsigned low, high;
    if (columns->latency >= 0 && (int)count > columns->latency &&
        latency_read(&cells[columns->latency], &low, &high)) {
        latency_apply(d, &row, low, high);
    }
    if (columns->slots >= 0 && (int)count > columns->slots &&
        latency_read(&cells[columns->slots], &low, &high) && high >= 1 && high <= HX_SIM_UOPS_MAX) {
        row.slots_given = true;
        row.slots = (uint16_t)high;
    }
    return hx_sim_rows_add(&d->imported, &row) ? IP_OK : ip_fail(err, IP_NO_MEMORY, "no memory for %s", name);
}

enum ip_status hx_sim_import_text(struct hx_sim_description *description, const char *name, const char *text,
                                  size_t length, struct ip_error *err) {
    struct columns columns = {-1, -1, -1, -1};
    unsigned number = 0;
    for (size_t at = 0; at < length;) {
        const char *newline = memchr(text + at, '\n', length - at);
        size_t line_length = newline != NULL ? (size_t)(newline - text) - at : length - at;
        const char *line = text + at;
        struct cell cells[CELLS_MAX];
        at += line_length + 1;
        number++;
        if (line_length > 0 && line[line_length - 1] == '\r') {
            line_length--;
        }
        if (line_length == 0) {
            continue;
        }
        unsigned count = cells_split(line, line_length, cells);
        if (columns.instruction < 0) {
            if (!header_read(cells, count, &columns)) {
                return ip_fail_at(
                    err, IP_SYNTAX, name, number, 1,
                    "a header line with the columns instruction (or scheme) and ports is expected");
            }
            continue;
        }
        enum ip_status status = row_read(description, &columns, cells, count, name, number, err);
        if (status != IP_OK) {
            return status;
        }
    }
    return columns.instruction >= 0 ? IP_OK : ip_fail_at(err, IP_SYNTAX, name, 1, 1, "the table is empty");
}

enum ip_status hx_sim_import_csv(struct hx_sim_description *description, const char *path,
                                 struct ip_error *err) {
    struct ip_text text = {0};
    enum ip_status status =
        ip_text_file_read(&text, path, (size_t)64 << 20, "a table with a header line is expected", err);
    if (status == IP_OK) {
        status = hx_sim_import_text(description, path, ip_text_string(&text), text.length, err);
    }
    ip_lines_add(&description->imports, path);
    if (status == IP_OK && description->imports.failed) {
        status = ip_fail(err, IP_NO_MEMORY, "no memory for %s", path);
    }
    ip_text_fini(&text);
    return status;
}
