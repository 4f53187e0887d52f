/* SPDX-License-Identifier: Apache-2.0 */
#include "power/measured.h"

#include <math.h>
#include <string.h>

enum { FIELDS_MAX = 32, FIELD_MAX = 64, COLUMNS = 5 };
enum column { COLUMN_DIVISOR, COLUMN_FREQ, COLUMN_CYCLES, COLUMN_TIME, COLUMN_POWER };
static const char *const column_names[COLUMNS] = {"divisor", "freq_hz", "cycles", "time_s", "power_w"};

/* How far cycles and a time may be apart. A time of two digits may be rounded by as much; the clock of the
 * next setting is farther away (6 % from a 15th to a 16th). */
#define TIME_RELATIVE 0.05

struct record {
    char fields[FIELDS_MAX][FIELD_MAX];
    size_t count;
};

/* Takes a field that begins at line[*at], in quotes or without, and moves behind it, to a comma or the end. A
 * field that is too long is cut: those are columns that nobody reads. Returns false where its quotes are not
 * closed, or not at its end. */
static bool field_take(char field[FIELD_MAX], const char *line, size_t length, size_t *at) {
    size_t kept = 0, in = *at;
    while (in < length && line[in] == ' ') {
        in++;
    }
    const bool quoted = in < length && line[in] == '"';
    bool closed = !quoted;
    for (in += quoted; in < length && (quoted || line[in] != ','); in++) {
        if (quoted && line[in] == '"') {
            in++; /* the second of two, which are one of the field's, or what is behind the last */
            if (in == length || line[in] != '"') {
                closed = true;
                break;
            }
        }
        if (kept + 1 < FIELD_MAX) {
            field[kept++] = line[in];
        }
    }
    while (quoted && in < length && line[in] == ' ') {
        in++;
    }
    while (!quoted && kept > 0 && field[kept - 1] == ' ') {
        kept--;
    }
    field[kept] = '\0';
    *at = in;
    return closed && (in == length || line[in] == ',');
}

static enum ip_status record_split(struct record *record, const char *text, size_t length, const char *file,
                                   unsigned line, struct ip_error *err) {
    record->count = 0;
    for (size_t at = 0; at <= length; at++) {
        if (record->count == FIELDS_MAX) {
            return ip_fail_at(err, IP_SYNTAX, file, line, (unsigned)at + 1, "more than %d fields",
                              FIELDS_MAX);
        }
        size_t from = at;
        if (!field_take(record->fields[record->count++], text, length, &at)) {
            return ip_fail_at(err, IP_SYNTAX, file, line, (unsigned)from + 1,
                              "a field's quotes do not end where it ends");
        }
    }
    return IP_OK;
}

static enum ip_status header_read(const struct record *record, int columns[COLUMNS], const char *file,
                                  unsigned line, struct ip_error *err) {
    for (int c = 0; c < COLUMNS; c++) {
        columns[c] = -1;
        for (size_t i = 0; i < record->count; i++) {
            if (strcmp(record->fields[i], column_names[c]) != 0) {
                continue;
            }
            if (columns[c] >= 0) {
                return ip_fail_at(err, IP_SYNTAX, file, line, 0, "the header names the column '%s' twice",
                                  column_names[c]);
            }
            columns[c] = (int)i;
        }
    }
    if (columns[COLUMN_DIVISOR] < 0 && columns[COLUMN_FREQ] < 0) {
        return ip_fail_at(err, IP_SYNTAX, file, line, 0, "the header names no column 'divisor' or 'freq_hz'");
    }
    if (columns[COLUMN_CYCLES] < 0 && columns[COLUMN_TIME] < 0) {
        return ip_fail_at(err, IP_SYNTAX, file, line, 0, "the header names no column 'cycles' or 'time_s'");
    }
    return IP_OK;
}

/* Fails where columns of a row say different things of the setting of `hz`. */
static enum ip_status contradictions_check(const double values[COLUMNS], double hz, const char *file,
                                           unsigned line, struct ip_error *err) {
    double divisor = values[COLUMN_DIVISOR], freq_hz = values[COLUMN_FREQ];
    double cycles = values[COLUMN_CYCLES], time_s = values[COLUMN_TIME];
    /* What is not known (NaN) contradicts nothing. Tables cut frequencies, as in a machine's file. */
    if (!isnan(divisor) && fabs(freq_hz - hz) > fmax(0.005 * hz, 1e6)) {
        return ip_fail_at(err, IP_SYNTAX, file, line, 0,
                          "divisor %g is the setting of %.2f MHz, but freq_hz is that of %.2f MHz", divisor,
                          hz / 1e6, freq_hz / 1e6);
    }
    if (fabs(cycles / hz - time_s) > TIME_RELATIVE * time_s) {
        return ip_fail_at(err, IP_SYNTAX, file, line, 0,
                          "%g cycles take %.4g s at %.2f MHz, but time_s is %g: leave out what is wrong",
                          cycles, cycles / hz, hz / 1e6, time_s);
    }
    return IP_OK;
}

static enum ip_status record_store(struct pw_measured *measured, const struct record *record,
                                   const int columns[COLUMNS], const struct pw_machine *machine,
                                   const char *file, unsigned line, struct ip_error *err) {
    double values[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) {
        values[c] = NAN;
        if (columns[c] < 0 || record->fields[columns[c]][0] == '\0') {
            continue;
        }
        if (!pw_number(record->fields[columns[c]], &values[c]) || values[c] <= 0) {
            return ip_fail_at(err, IP_SYNTAX, file, line, 0,
                              "the %s is to be a number larger than 0, not '%s'", column_names[c],
                              record->fields[columns[c]]);
        }
    }
    if (isnan(values[COLUMN_CYCLES]) && isnan(values[COLUMN_TIME])) {
        return ip_fail_at(err, IP_SYNTAX, file, line, 0, "no cycles and no time");
    }
    double divisor = values[COLUMN_DIVISOR], freq_hz = values[COLUMN_FREQ];
    int at = -1;
    if (isfinite(divisor)) {
        at =
            divisor <= 1e6 && divisor == floor(divisor) ? pw_machine_find_divisor(machine, (int)divisor) : -1;
    } else if (isfinite(freq_hz)) {
        at = pw_machine_find_freq(machine, freq_hz);
    } else {
        return ip_fail_at(err, IP_SYNTAX, file, line, 0, "no divisor and no frequency");
    }
    if (at < 0) {
        return isfinite(divisor)
                   ? ip_fail_at(err, IP_SYNTAX, file, line, 0, "machine '%s' has no setting with divisor %g",
                                machine->name, divisor)
                   : ip_fail_at(err, IP_SYNTAX, file, line, 0, "machine '%s' has no setting of %.2f MHz",
                                machine->name, freq_hz / 1e6);
    }
    double hz = machine->settings[at].freq_hz;
    enum ip_status status = contradictions_check(values, hz, file, line, err);
    if (status != IP_OK) {
        return status;
    }
    struct pw_measured *m = &measured[at];
    if (!isnan(m->cycles)) {
        return ip_fail_at(err, IP_SYNTAX, file, line, 0,
                          "a line above has the setting of %.2f MHz, too: leave one of them", hz / 1e6);
    }
    m->cycles = isfinite(values[COLUMN_CYCLES]) ? values[COLUMN_CYCLES] : values[COLUMN_TIME] * hz;
    m->time_s = isfinite(values[COLUMN_TIME]) ? values[COLUMN_TIME] : values[COLUMN_CYCLES] / hz;
    m->power_w = values[COLUMN_POWER];
    return IP_OK;
}

enum ip_status pw_measured_parse(struct pw_measured *measured, const char *file, const char *text,
                                 const struct pw_machine *machine, const struct pw_point *points,
                                 double flops, struct ip_error *err) {
    struct pw_measured found[PW_SETTINGS_MAX];
    for (size_t i = 0; i < machine->setting_count; i++) {
        found[i] = (struct pw_measured){NAN, NAN, NAN, NAN};
    }
    int columns[COLUMNS];
    unsigned line = 0;
    size_t width = 0; /* fields of the header; 0 before it */
    size_t rows = 0;
    while (*text != '\0') {
        size_t end = strcspn(text, "\n"), length = end;
        struct record record;
        line++;
        while (length > 0 && (text[length - 1] == '\r' || text[length - 1] == ' ')) {
            length--;
        }
        if (length > 0 && text[strspn(text, " ")] != '#') {
            enum ip_status status = record_split(&record, text, length, file, line, err);
            if (status == IP_OK && width == 0) {
                status = header_read(&record, columns, file, line, err);
                width = record.count;
            } else if (status == IP_OK && record.count != width) {
                status = ip_fail_at(err, IP_SYNTAX, file, line, 0, "%zu field%s, where the header has %zu",
                                    record.count, record.count == 1 ? "" : "s", width);
            } else if (status == IP_OK) {
                status = record_store(found, &record, columns, machine, file, line, err);
                rows++;
            }
            if (status != IP_OK) {
                return status;
            }
        }
        text += end + (text[end] == '\n');
    }
    if (rows == 0) {
        return ip_fail_at(err, IP_SYNTAX, file, 0, 0,
                          "no measurements: a header line, then a row for each setting");
    }
    for (size_t i = 0; i < machine->setting_count; i++) {
        double watts = isfinite(found[i].power_w) ? found[i].power_w : points[i].power_w;
        double energy_j = watts * found[i].time_s;
        found[i].gflops_per_watt = flops > 0 && energy_j > 0 ? flops / energy_j / 1e9 : NAN;
    }
    memcpy(measured, found, machine->setting_count * sizeof *measured);
    return IP_OK;
}
