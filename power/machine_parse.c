/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "power/machine.h"

enum { MEASURED_MAX = PW_SETTINGS_MAX };

/* A `measured` line: kept until all settings are known. */
struct measured {
    unsigned line;
    double divisor, freq_hz, watts;
};

struct parse {
    struct pw_reader reader;
    struct pw_machine *machine;
    unsigned seen; /* one bit per keyword that may stand once */
    struct measured measured[MEASURED_MAX];
    size_t measured_count;
    unsigned setting_lines[PW_SETTINGS_MAX];
};

enum ip_status pw_machine_read(struct pw_machine *machine, const char *path, struct ip_error *err) {
    struct ip_text text = {0};
    enum ip_status status = pw_file_read(&text, path, "a machine description", err);
    if (status == IP_OK) {
        status = pw_machine_parse(machine, path, ip_text_string(&text), err);
    }
    ip_text_fini(&text);
    return status;
}

/* A quantity that is the whole line, larger than 0 (or 0 too). */
static enum ip_status single(struct parse *p, enum pw_unit unit, const char *what, bool zero_allowed,
                             double *value, struct ip_error *err) {
    size_t at = 1;
    double number = 0;
    enum ip_status status = pw_quantity(&p->reader, &at, unit, what, &number, err);
    if (status == IP_OK) {
        status = pw_line_end(&p->reader, at, err);
    }
    if (status == IP_OK && (number < 0 || (number == 0 && !zero_allowed))) {
        status = pw_reader_fail(&p->reader, err, "the %s is to be %s", what,
                                zero_allowed ? "0 or more" : "larger than 0");
    }
    if (status == IP_OK) {
        *value = number;
    }
    return status;
}

static enum ip_status parse_name(struct parse *p, struct ip_error *err) {
    enum ip_status status = pw_line_end(&p->reader, p->reader.count < 2 ? p->reader.count : 2, err);
    return status != IP_OK ? status
                           : pw_line_rest(&p->reader, "name", p->machine->name, sizeof p->machine->name, err);
}

static enum ip_status parse_title(struct parse *p, struct ip_error *err) {
    return pw_line_rest(&p->reader, "title", p->machine->title, sizeof p->machine->title, err);
}

static enum ip_status parse_cpu(struct parse *p, struct ip_error *err) {
    return pw_line_rest(&p->reader, "CPU", p->machine->cpu, sizeof p->machine->cpu, err);
}

static enum ip_status parse_reference(struct parse *p, struct ip_error *err) {
    return single(p, PW_UNIT_HZ, "reference clock", false, &p->machine->reference_hz, err);
}

static int clock_find(const struct pw_machine *machine, const char *name) {
    for (size_t i = 0; i < machine->clock_count; i++) {
        if (strcmp(machine->clocks[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static enum ip_status parse_clock(struct parse *p, struct ip_error *err) {
    struct pw_machine *machine = p->machine;
    const struct pw_reader *reader = &p->reader;
    if (reader->count < 2 || strlen(reader->words[1]) >= PW_NAME_MAX) {
        return pw_reader_fail(reader, err, "a clock has a short name, as in 'clock memory 800 MHz'");
    }
    const char *name = reader->words[1];
    if (strcmp(name, "core") == 0 || clock_find(machine, name) >= 0) {
        return pw_reader_fail(reader, err, "the clock '%s' is there already", name);
    }
    if (machine->clock_count == PW_CLOCKS_MAX) {
        return pw_reader_fail(reader, err, "more than %d clocks", PW_CLOCKS_MAX);
    }
    struct pw_clock clock = {0};
    size_t at = 2;
    enum ip_status status = pw_quantity(reader, &at, PW_UNIT_HZ, "clock", &clock.hz, err);
    if (status == IP_OK) {
        status = pw_line_end(reader, at, err);
    }
    if (status == IP_OK && clock.hz <= 0) {
        status = pw_reader_fail(reader, err, "the clock '%s' is to be larger than 0", name);
    }
    if (status == IP_OK) {
        (void)snprintf(clock.name, sizeof clock.name, "%s", name);
        machine->clocks[machine->clock_count++] = clock;
    }
    return status;
}

/* "access 40 core cycles", "access 8 mesh cycles per hop", "access 80 ns". */
static enum ip_status parse_access(struct parse *p, struct ip_error *err) {
    struct pw_machine *machine = p->machine;
    const struct pw_reader *reader = &p->reader;
    struct pw_term term = {0};
    size_t at = 1;
    if (machine->term_count == PW_TERMS_MAX) {
        return pw_reader_fail(reader, err, "more than %d access lines", PW_TERMS_MAX);
    }
    bool in_cycles = reader->count > 3 && strcmp(reader->words[3], "cycles") == 0;
    if (in_cycles) {
        if (!pw_number(reader->words[1], &term.amount)) {
            return pw_reader_fail(reader, err, "'%.40s' is no number of cycles", reader->words[1]);
        }
        int clock = clock_find(machine, reader->words[2]);
        bool core = strcmp(reader->words[2], "core") == 0;
        if (!core && clock < 0) {
            return pw_reader_fail(
                reader, err, "no clock '%.40s': name it before, as in 'clock %.40s 800 MHz', or use core",
                reader->words[2], reader->words[2]);
        }
        term.kind = core ? PW_TERM_CORE : PW_TERM_CLOCK;
        term.clock = core ? 0 : (size_t)clock;
        at = 4;
    } else {
        double number;
        bool named = reader->count > 2 &&
                     (strcmp(reader->words[2], "core") == 0 || clock_find(machine, reader->words[2]) >= 0);
        if (named && pw_number(reader->words[1], &number)) {
            return pw_reader_fail(reader, err, "the access of %s %s has no unit: write 'cycles' behind it",
                                  reader->words[1], reader->words[2]);
        }
        term.kind = PW_TERM_TIME;
        enum ip_status status = pw_quantity(reader, &at, PW_UNIT_SECOND, "access", &term.amount, err);
        if (status != IP_OK) {
            return status;
        }
    }
    if (at + 1 < reader->count && strcmp(reader->words[at], "per") == 0 &&
        strcmp(reader->words[at + 1], "hop") == 0) {
        term.per_hop = true;
        at += 2;
    }
    if (term.amount < 0) {
        return pw_reader_fail(reader, err, "an access cannot take less than nothing");
    }
    enum ip_status status = pw_line_end(reader, at, err);
    if (status == IP_OK) {
        machine->terms[machine->term_count++] = term;
    }
    return status;
}

static enum ip_status parse_hops(struct parse *p, struct ip_error *err) {
    size_t at = 1;
    double hops = 0;
    enum ip_status status = pw_count(&p->reader, &at, "number of hops", &hops, err);
    if (status == IP_OK) {
        status = pw_line_end(&p->reader, at, err);
    }
    if (status == IP_OK) {
        p->machine->hops = hops;
    }
    return status;
}

static enum ip_status parse_pending(struct parse *p, struct ip_error *err) {
    const struct pw_reader *reader = &p->reader;
    double pending = 0;
    if (reader->count != 3 || strcmp(reader->words[2], "requests") != 0 ||
        !pw_number(reader->words[1], &pending) || pending < 1 || pending > PW_NUMBER_MAX) {
        return pw_reader_fail(reader, err, "write 'pending N requests', N from 1 to %g", PW_NUMBER_MAX);
    }
    p->machine->pending = pending;
    return IP_OK;
}

static enum ip_status parse_access_size(struct parse *p, struct ip_error *err) {
    return single(p, PW_UNIT_BYTE, "access size", false, &p->machine->access_size_bytes, err);
}

static enum ip_status parse_capacitance(struct parse *p, struct ip_error *err) {
    return single(p, PW_UNIT_FARAD, "capacitance", false, &p->machine->capacitance_f, err);
}

static enum ip_status parse_static(struct parse *p, struct ip_error *err) {
    return single(p, PW_UNIT_WATT, "static power", true, &p->machine->static_w, err);
}

/* "div N" if it stands at *at: *divisor stays 0 otherwise. */
static enum ip_status divisor_parse(struct parse *p, size_t *at, double *divisor, struct ip_error *err) {
    const struct pw_reader *reader = &p->reader;
    if (*at >= reader->count || strcmp(reader->words[*at], "div") != 0) {
        return IP_OK;
    }
    *at += 1;
    enum ip_status status = pw_count(reader, at, "divisor", divisor, err);
    if (status == IP_OK && (*divisor < 1 || *divisor > 1e6)) {
        status = pw_reader_fail(reader, err, "the divisor is to be from 1 to 1000000");
    }
    return status;
}

/* Is the quantity at `at` a frequency? Tells "div 2 800 MHz" from "div 2 1.1 V". */
static bool frequency_next(const struct pw_reader *reader, size_t at) {
    for (size_t i = at; i < reader->count && i < at + 2; i++) {
        size_t length = strlen(reader->words[i]);
        if (length >= 2 && strcmp(reader->words[i] + length - 2, "Hz") == 0) {
            return true;
        }
    }
    return false;
}

static enum ip_status setting_frequency(struct parse *p, size_t *at, double divisor, double *freq_hz,
                                        struct ip_error *err) {
    const struct pw_reader *reader = &p->reader;
    double reference_hz = p->machine->reference_hz;
    double given_hz = 0;
    bool given = divisor == 0 || frequency_next(reader, *at);
    if (given) {
        enum ip_status status = pw_quantity(reader, at, PW_UNIT_HZ, "frequency", &given_hz, err);
        if (status != IP_OK) {
            return status;
        }
        if (given_hz <= 0) {
            return pw_reader_fail(reader, err, "the frequency is to be larger than 0");
        }
    }
    if (divisor == 0) {
        *freq_hz = given_hz;
        return IP_OK;
    }
    if (reference_hz <= 0) {
        return pw_reader_fail(reader, err, "a divisor needs the line 'reference ... MHz' before it");
    }
    /* Tables print frequencies cut to whole MHz; the model takes the exact quotient. */
    *freq_hz = reference_hz / divisor;
    if (given && fabs(given_hz - *freq_hz) >= 1e6) {
        return pw_reader_fail(reader, err, "%g MHz is not %g MHz / %g, which is %.2f MHz", given_hz / 1e6,
                              reference_hz / 1e6, divisor, *freq_hz / 1e6);
    }
    return IP_OK;
}

static enum ip_status setting_order(struct parse *p, const struct pw_setting *setting, struct ip_error *err) {
    struct pw_machine *machine = p->machine;
    if (machine->setting_count == 0) {
        return IP_OK;
    }
    const struct pw_setting *before = &machine->settings[machine->setting_count - 1];
    if ((before->divisor != 0) != (setting->divisor != 0)) {
        return pw_reader_fail(&p->reader, err,
                              "name all settings by divisors, or all by frequencies, not some of each");
    }
    if (setting->freq_hz >= before->freq_hz) {
        return pw_reader_fail(
            &p->reader, err,
            "%.2f MHz stands behind %.2f MHz: sort the settings from the fastest to the slowest",
            setting->freq_hz / 1e6, before->freq_hz / 1e6);
    }
    if (setting->divisor != 0 && setting->divisor != before->divisor + 1) {
        return pw_reader_fail(
            &p->reader, err,
            "a gap: divisor %d is missing between %d and %d (name settings by frequency if the "
            "machine lacks it)",
            before->divisor + 1, before->divisor, setting->divisor);
    }
    return IP_OK;
}

/* "setting div 2 800 MHz 1.1 V", "setting 2.4 GHz 0.95 V", without volts where only watts are known. */
static enum ip_status parse_setting(struct parse *p, struct ip_error *err) {
    struct pw_machine *machine = p->machine;
    const struct pw_reader *reader = &p->reader;
    struct pw_setting setting = {.volts = NAN, .measured_w = NAN};
    size_t at = 1;
    double divisor = 0;
    if (machine->setting_count == PW_SETTINGS_MAX) {
        return pw_reader_fail(reader, err, "more than %d settings", PW_SETTINGS_MAX);
    }
    enum ip_status status = divisor_parse(p, &at, &divisor, err);
    if (status == IP_OK) {
        setting.divisor = (int)divisor;
        status = setting_frequency(p, &at, divisor, &setting.freq_hz, err);
    }
    if (status == IP_OK && at < reader->count) {
        status = pw_quantity(reader, &at, PW_UNIT_VOLT, "voltage", &setting.volts, err);
        if (status == IP_OK && setting.volts <= 0) {
            status = pw_reader_fail(reader, err, "the voltage %g V is to be larger than 0", setting.volts);
        }
    }
    if (status == IP_OK) {
        status = pw_line_end(reader, at, err);
    }
    if (status == IP_OK) {
        status = setting_order(p, &setting, err);
    }
    if (status == IP_OK) {
        p->setting_lines[machine->setting_count] = reader->line;
        machine->settings[machine->setting_count++] = setting;
    }
    return status;
}

static enum ip_status parse_measured(struct parse *p, struct ip_error *err) {
    const struct pw_reader *reader = &p->reader;
    struct measured measured = {.line = reader->line};
    size_t at = 1;
    if (p->measured_count == MEASURED_MAX) {
        return pw_reader_fail(reader, err, "more than %d measured lines", MEASURED_MAX);
    }
    enum ip_status status = divisor_parse(p, &at, &measured.divisor, err);
    if (status == IP_OK && measured.divisor == 0) {
        status = pw_quantity(reader, &at, PW_UNIT_HZ, "frequency", &measured.freq_hz, err);
        if (status == IP_OK && measured.freq_hz <= 0) {
            status = pw_reader_fail(reader, err, "the frequency is to be larger than 0");
        }
    }
    if (status == IP_OK) {
        status = pw_quantity(reader, &at, PW_UNIT_WATT, "measured power", &measured.watts, err);
    }
    if (status == IP_OK && measured.watts <= 0) {
        status = pw_reader_fail(reader, err, "the measured power is to be larger than 0");
    }
    if (status == IP_OK) {
        status = pw_line_end(reader, at, err);
    }
    if (status == IP_OK) {
        p->measured[p->measured_count++] = measured;
    }
    return status;
}

struct keyword {
    const char *name;
    bool once;
    enum ip_status (*parse)(struct parse *p, struct ip_error *err);
};

static const struct keyword keywords[] = {
    {"machine", true, parse_name},
    {"title", true, parse_title},
    {"cpu", true, parse_cpu},
    {"reference", true, parse_reference},
    {"hops", true, parse_hops},
    {"pending", true, parse_pending},
    {"access-size", true, parse_access_size},
    {"capacitance", true, parse_capacitance},
    {"static", true, parse_static},
    {"clock", false, parse_clock},
    {"access", false, parse_access},
    {"setting", false, parse_setting},
    {"measured", false, parse_measured},
};

enum { KEYWORDS = sizeof keywords / sizeof keywords[0] };

static bool seen(const struct parse *p, const char *name) {
    for (size_t i = 0; i < KEYWORDS; i++) {
        if (strcmp(keywords[i].name, name) == 0) {
            return (p->seen >> i & 1) != 0;
        }
    }
    return false;
}

static enum ip_status line_parse(struct parse *p, struct ip_error *err) {
    for (size_t i = 0; i < KEYWORDS; i++) {
        if (strcmp(p->reader.words[0], keywords[i].name) != 0) {
            continue;
        }
        if (keywords[i].once && (p->seen >> i & 1) != 0) {
            return pw_reader_fail(&p->reader, err, "a second '%s' line", keywords[i].name);
        }
        p->seen |= 1u << i;
        return keywords[i].parse(p, err);
    }
    return pw_reader_fail(
        &p->reader, err,
        "unknown keyword '%.40s': a line begins with machine, title, cpu, reference, clock, access, "
        "access-size, hops, pending, capacitance, static, setting or measured",
        p->reader.words[0]);
}

static enum ip_status measured_place(struct parse *p, struct ip_error *err) {
    struct pw_machine *machine = p->machine;
    for (size_t i = 0; i < p->measured_count; i++) {
        const struct measured *m = &p->measured[i];
        int at = m->divisor != 0 ? pw_machine_find_divisor(machine, (int)m->divisor)
                                 : pw_machine_find_freq(machine, m->freq_hz);
        p->reader.line = m->line;
        if (at < 0) {
            return m->divisor != 0
                       ? pw_reader_fail(&p->reader, err, "no setting has divisor %g", m->divisor)
                       : pw_reader_fail(&p->reader, err, "no setting has %.2f MHz", m->freq_hz / 1e6);
        }
        if (isfinite(machine->settings[at].measured_w)) {
            return pw_reader_fail(&p->reader, err, "this setting has measured watts already");
        }
        machine->settings[at].measured_w = m->watts;
    }
    return IP_OK;
}

static enum ip_status whole_check(struct parse *p, struct ip_error *err) {
    struct pw_machine *machine = p->machine;
    if (machine->name[0] == '\0') {
        return ip_fail_at(err, IP_SYNTAX, p->reader.file, 0, 0, "the line 'machine NAME' is missing");
    }
    if (machine->setting_count == 0) {
        return ip_fail_at(err, IP_SYNTAX, p->reader.file, 0, 0,
                          "no settings: add lines such as 'setting 2.4 GHz 0.95 V'");
    }
    if (seen(p, "static") && !seen(p, "capacitance")) {
        return ip_fail_at(
            err, IP_SYNTAX, p->reader.file, 0, 0,
            "'static' without 'capacitance': give both, or neither and 'measured' lines to fit them");
    }
    bool measured_all = true, volts_any = false;
    for (size_t i = 0; i < machine->setting_count; i++) {
        measured_all = measured_all && isfinite(machine->settings[i].measured_w);
        volts_any = volts_any || isfinite(machine->settings[i].volts);
    }
    bool volts_needed = volts_any || seen(p, "capacitance") || (!measured_all && p->measured_count > 0);
    for (size_t i = 0; volts_needed && i < machine->setting_count; i++) {
        if (!isfinite(machine->settings[i].volts)) {
            p->reader.line = p->setting_lines[i];
            return pw_reader_fail(
                &p->reader, err,
                "the setting of %.2f MHz has no voltage: power is C·V²·f, write it behind the "
                "frequency, as in 0.95 V",
                machine->settings[i].freq_hz / 1e6);
        }
    }
    return IP_OK;
}

/* Measured watts that came to nothing. */
static enum ip_status watts_check(struct parse *p, struct ip_error *err) {
    if (p->machine->power != PW_POWER_UNKNOWN || p->measured_count == 0) {
        return IP_OK;
    }
    p->reader.line = p->measured[0].line;
    return pw_reader_fail(&p->reader, err,
                          "two measured settings that differ in V²·f are needed to fit C and static power: "
                          "measure another, or give 'capacitance'");
}

enum ip_status pw_machine_parse(struct pw_machine *machine, const char *file, const char *text,
                                struct ip_error *err) {
    struct pw_machine result = {.pending = 1, .access_size_bytes = 64};
    struct parse parse = {.machine = &result};
    pw_reader_init(&parse.reader, file, text);
    enum ip_status status = IP_OK;
    for (bool more = true; status == IP_OK;) {
        status = pw_reader_next(&parse.reader, &more, err);
        if (status != IP_OK || !more) {
            break;
        }
        status = line_parse(&parse, err);
    }
    if (status == IP_OK) {
        status = measured_place(&parse, err);
    }
    if (status == IP_OK) {
        status = whole_check(&parse, err);
    }
    if (status == IP_OK) {
        pw_machine_settle(&result, seen(&parse, "capacitance"));
        status = watts_check(&parse, err);
    }
    if (status == IP_OK) {
        if (result.title[0] == '\0') {
            (void)snprintf(result.title, sizeof result.title, "%s", result.name);
        }
        *machine = result;
    }
    return status;
}
