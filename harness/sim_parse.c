/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a simulated CPU to its description. The format is in docs/sim.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "harness/sim_description.h"
#include "harness/sim_line.h"
#include "harness/sim_row_parse.h"

#define SIM_FILE_LIMIT_BYTES ((size_t)64 << 20)

struct parser {
    struct hx_sim_description *d;
    struct hx_sim_line line;
    const char *directory;
};

/* Settings that are one number each. */
struct integer_setting {
    const char *name;
    size_t offset;
    uint64_t low, high;
};
#define SETTING(field) offsetof(struct hx_sim_description, field)
static const struct integer_setting integer_settings[] = {
    {"issue-width", SETTING(issue_width), 1, HX_SIM_WIDTH_MAX},
    {"retire-width", SETTING(retire_width), 1, HX_SIM_WIDTH_MAX},
    {"rob", SETTING(rob), 1, HX_SIM_ROB_MAX},
    {"scheduler", SETTING(scheduler), 1, HX_SIM_ROB_MAX},
    {"fetch-width", SETTING(fetch_width), 1, HX_SIM_WIDTH_MAX},
    {"fetch-queue", SETTING(fetch_queue), 1, HX_SIM_ROB_MAX},
    {"load-latency", SETTING(load_latency), 1, HX_SIM_LATENCY_MAX},
    {"forward-latency", SETTING(forward_latency), 0, HX_SIM_LATENCY_MAX},
    {"known-pairs", SETTING(known_pairs), 0, HX_SIM_KNOWN_MAX},
    {"taken-branch", SETTING(taken_branch), 0, HX_SIM_LATENCY_MAX},
};
struct number_setting {
    const char *name;
    size_t offset;
    double low, high;
};
static const struct number_setting number_settings[] = {
    {"ticks-per-cycle", SETTING(ticks_per_cycle), 1e-3, 1e3},
    {"overhead", SETTING(overhead_ticks), 0, 1e9},
    {"resolution", SETTING(resolution_ticks), 1e-3, 1e6},
    {"noise", SETTING(noise), 0, 10},
    {"jitter", SETTING(jitter_ticks), 0, 1e9},
};

static enum ip_status ports_line(struct parser *p, struct ip_error *err) {
    struct hx_sim_description *d = p->d;
    if (d->ports_count > 0) {
        return hx_sim_line_fail(&p->line, 0, err, "the ports are listed already");
    }
    while (hx_sim_line_next(&p->line)) {
        const char *word = p->line.word;
        if (word == NULL || p->line.word_length != 2 || word[0] != 'p' ||
            !((word[1] >= '0' && word[1] <= '9') || (word[1] >= 'A' && word[1] <= 'Z'))) {
            return hx_sim_line_fail(&p->line, 0, err,
                                    "a port is p and a digit or capital letter, as in p0 pA");
        }
        if (strchr(d->ports, word[1]) != NULL) {
            return hx_sim_line_fail(&p->line, 0, err, "port p%c is listed twice", word[1]);
        }
        if (d->ports_count == HX_SIM_PORTS_MAX) {
            return hx_sim_line_fail(&p->line, 0, err, "more than %d ports", HX_SIM_PORTS_MAX);
        }
        d->ports[d->ports_count++] = word[1];
    }
    return d->ports_count > 0 ? IP_OK : hx_sim_line_fail(&p->line, 0, err, "ports are expected: p0 p1 ...");
}

/* "load-ports p23" and the like. */
static enum ip_status port_set_line(struct parser *p, uint32_t *set, struct ip_error *err) {
    if (!hx_sim_line_next(&p->line) || p->line.word == NULL || p->line.word_length > HX_SIM_PORTS_MAX + 1) {
        return hx_sim_line_fail(&p->line, 0, err, "a port set such as p23 is expected");
    }
    char text[HX_SIM_PORTS_MAX + 8];
    int length = snprintf(text, sizeof text, "1*%.*s", (int)p->line.word_length, p->line.word);
    struct hx_sim_row row = {0};
    size_t where;
    if (hx_sim_ports_parse(p->d, text, (size_t)length, &row, &where) != NULL || row.uops_count != 1) {
        return hx_sim_line_fail(&p->line, where >= 2 ? where - 2 : 0, err,
                                "a set of ports from the `ports` line is expected, as in p23");
    }
    *set = row.uops[0].ports;
    return IP_OK;
}

static enum ip_status policy_line(struct parser *p, struct ip_error *err) {
    bool any = hx_sim_line_next(&p->line);
    if (any && hx_sim_line_is(&p->line, "earliest")) {
        p->d->policy = HX_SIM_POLICY_EARLIEST;
        p->d->uneven = 0; /* of an earlier line */
    } else if (any && hx_sim_line_is(&p->line, "counters")) {
        p->d->policy = HX_SIM_POLICY_COUNTERS;
        p->d->uneven = 0;
    } else if (any && hx_sim_line_is(&p->line, "uneven")) {
        p->d->policy = HX_SIM_POLICY_EARLIEST;
        return hx_sim_line_number(&p->line, "share of randomly bound µops", 0, 1, &p->d->uneven, err);
    } else {
        return hx_sim_line_fail(&p->line, 0, err, "policy: earliest, counters or uneven SHARE is expected");
    }
    return IP_OK;
}

static enum ip_status drift_line(struct parser *p, struct ip_error *err) {
    struct hx_sim_description *d = p->d;
    bool any = hx_sim_line_next(&p->line);
    enum ip_status status;
    if (any && hx_sim_line_is(&p->line, "sine")) {
        d->drift = HX_SIM_DRIFT_SINE;
        status = hx_sim_line_number(&p->line, "amplitude", 0, 0.9, &d->drift_amplitude, err);
        return status != IP_OK
                   ? status
                   : hx_sim_line_number(&p->line, "period in runs", 1, 1e12, &d->drift_period, err);
    }
    if (any && hx_sim_line_is(&p->line, "walk")) {
        d->drift = HX_SIM_DRIFT_WALK;
        status = hx_sim_line_number(&p->line, "step", 0, 0.9, &d->drift_step, err);
        return status != IP_OK ? status
                               : hx_sim_line_number(&p->line, "limit", 0, 0.9, &d->drift_amplitude, err);
    }
    return hx_sim_line_fail(&p->line, 0, err, "drift: sine AMPLITUDE PERIOD or walk STEP LIMIT is expected");
}

static enum ip_status neighbour_line(struct parser *p, struct ip_error *err) {
    struct hx_sim_description *d = p->d;
    bool any = hx_sim_line_next(&p->line);
    enum ip_status status;
    if (any && hx_sim_line_is(&p->line, "window")) {
        uint64_t from, to;
        status = hx_sim_line_integer(&p->line, "first run", 0, UINT64_C(1) << 60, &from, err);
        if (status == IP_OK) {
            status = hx_sim_line_integer(&p->line, "run behind the last", from, UINT64_C(1) << 60, &to, err);
        }
        if (status != IP_OK) {
            return status;
        }
        d->neighbour_from = from;
        d->neighbour_to = to;
    } else if (any && hx_sim_line_is(&p->line, "random")) {
        status = hx_sim_line_number(&p->line, "probability", 0, 1, &d->neighbour_probability, err);
        if (status == IP_OK) {
            status = hx_sim_line_integer(&p->line, "runs", 1, UINT64_C(1) << 60, &d->neighbour_runs, err);
        }
        if (status != IP_OK) {
            return status;
        }
    } else {
        return hx_sim_line_fail(
            &p->line, 0, err, "neighbour: window FROM TO SHARE or random PROBABILITY RUNS SHARE is expected");
    }
    return hx_sim_line_number(&p->line, "share of the issue width that is left", 0.01, 1, &d->neighbour_share,
                              err);
}

/* Exact forms and patterns are kept apart; each may be described once. */
static enum ip_status row_add(struct parser *p, const struct hx_sim_row *row, const struct hx_sim_line *name,
                              struct ip_error *err) {
    struct hx_sim_rows *rows = strchr(row->syntax, '*') != NULL ? &p->d->patterns : &p->d->rows;
    for (size_t i = 0; i < rows->count; i++) {
        if (strcmp(rows->items[i].syntax, row->syntax) == 0) {
            return hx_sim_line_fail(name, 0, err, "\"%s\" is described already", row->syntax);
        }
    }
    return hx_sim_rows_add(rows, row) ? IP_OK : ip_fail(err, IP_NO_MEMORY, "no memory for the description");
}

static enum ip_status form_line(struct parser *p, struct ip_error *err) {
    struct hx_sim_row row = {0};
    if (p->d->ports_count == 0) {
        return hx_sim_line_fail(&p->line, 0, err, "the `ports` line must come before the first form");
    }
    enum ip_status status = hx_sim_line_string(&p->line, "form", row.syntax, sizeof row.syntax, err);
    if (status != IP_OK) {
        return status;
    }
    struct hx_sim_line name = p->line; /* for the message below */
    if ((status = hx_sim_row_parse(p->d, &row, &p->line, err)) != IP_OK) {
        return status;
    }
    return row_add(p, &row, &name, err);
}

static enum ip_status default_line(struct parser *p, struct ip_error *err) {
    if (p->d->has_fallback || p->d->ports_count == 0) {
        return hx_sim_line_fail(&p->line, 0, err,
                                p->d->has_fallback ? "there is a default already"
                                                   : "the `ports` line must come before the default");
    }
    snprintf(p->d->fallback.syntax, sizeof p->d->fallback.syntax, "default");
    p->d->has_fallback = true;
    return hx_sim_row_parse(p->d, &p->d->fallback, &p->line, err);
}

static enum ip_status fault_line(struct parser *p, struct ip_error *err) {
    struct hx_sim_row row = {0};
    enum ip_status status = hx_sim_line_string(&p->line, "form", row.syntax, sizeof row.syntax, err);
    if (status != IP_OK) {
        return status;
    }
    struct hx_sim_line name = p->line;
    if (!hx_sim_line_next(&p->line) || !hx_sim_fault_parse(&p->line, &row.fault)) {
        return hx_sim_line_fail(&p->line, 0, err,
                                "fault: illegal, segfault, arithmetic, trap, syscall, timeout, wrecked, "
                                "pages or died is expected");
    }
    return row_add(p, &row, &name, err);
}

static enum ip_status fuse_line(struct parser *p, struct ip_error *err) {
    struct hx_sim_fusion fusion = {0};
    enum ip_status status =
        hx_sim_line_string(&p->line, "first form", fusion.first, sizeof fusion.first, err);
    if (status == IP_OK) {
        status = hx_sim_line_string(&p->line, "second form", fusion.second, sizeof fusion.second, err);
    }
    if (status != IP_OK) {
        return status;
    }
    if (p->d->fusions_count == p->d->fusions_capacity) {
        size_t capacity = p->d->fusions_capacity != 0 ? p->d->fusions_capacity * 2 : 8;
        struct hx_sim_fusion *fusions = realloc(p->d->fusions, capacity * sizeof *fusions);
        if (fusions == NULL) {
            return ip_fail(err, IP_NO_MEMORY, "no memory for the description");
        }
        p->d->fusions = fusions;
        p->d->fusions_capacity = capacity;
    }
    p->d->fusions[p->d->fusions_count++] = fusion;
    return IP_OK;
}

static enum ip_status microcode_line(struct parser *p, struct ip_error *err) {
    uint64_t slots, cycles;
    enum ip_status status = hx_sim_microcode_allowed(p->d, &p->line, err);
    status =
        status == IP_OK ? hx_sim_line_integer(&p->line, "slots", 0, HX_SIM_UOPS_MAX, &slots, err) : status;
    status = status == IP_OK ? hx_sim_line_integer(&p->line, "cycles", 1, HX_SIM_LATENCY_MAX, &cycles, err)
                             : status;
    if (status == IP_OK) {
        p->d->microcode_slots = (unsigned)slots;
        p->d->microcode_cycles = (unsigned)cycles;
    }
    return status;
}

static enum ip_status counters_line(struct parser *p, struct ip_error *err) {
    (void)err;
    p->d->port_counters = true;
    return IP_OK;
}

static enum ip_status import_line(struct parser *p, struct ip_error *err) {
    char file[256];
    if (p->d->ports_count == 0) {
        return hx_sim_line_fail(&p->line, 0, err, "the `ports` line must come before an import");
    }
    if (p->directory == NULL) {
        return hx_sim_line_fail(&p->line, 0, err, "this text may not import files");
    }
    enum ip_status status = hx_sim_line_string(&p->line, "file", file, sizeof file, err);
    if (status != IP_OK) {
        return status;
    }
    struct ip_text path = {0};
    ip_text_printf(&path, "%s%s", file[0] == '/' ? "" : p->directory, file);
    status = path.failed ? ip_fail(err, IP_NO_MEMORY, "no memory for the name of %s", file)
                         : hx_sim_import_csv(p->d, ip_text_string(&path), err);
    ip_text_fini(&path);
    return status;
}

static enum ip_status directive(struct parser *p, struct ip_error *err) {
    struct hx_sim_line *line = &p->line;
    struct hx_sim_description *d = p->d;
    for (size_t i = 0; i < sizeof integer_settings / sizeof *integer_settings; i++) {
        const struct integer_setting *setting = &integer_settings[i];
        if (hx_sim_line_is(line, setting->name)) {
            uint64_t value;
            enum ip_status status =
                hx_sim_line_integer(line, setting->name, setting->low, setting->high, &value, err);
            if (status == IP_OK) {
                *(unsigned *)((char *)d + setting->offset) = (unsigned)value;
            }
            return status;
        }
    }
    for (size_t i = 0; i < sizeof number_settings / sizeof *number_settings; i++) {
        const struct number_setting *setting = &number_settings[i];
        if (hx_sim_line_is(line, setting->name)) {
            return hx_sim_line_number(line, setting->name, setting->low, setting->high,
                                      (double *)((char *)d + setting->offset), err);
        }
    }
    if (hx_sim_line_is(line, "seed")) {
        return hx_sim_line_integer(line, "seed", 0, (UINT64_MAX - 9) / 10, &d->seed, err);
    }
    if (hx_sim_line_is(line, "name")) {
        return hx_sim_line_string(line, "name", d->name, sizeof d->name, err);
    }
    if (hx_sim_line_is(line, "load-ports")) {
        return port_set_line(p, &d->load_ports, err);
    }
    if (hx_sim_line_is(line, "store-address-ports")) {
        return port_set_line(p, &d->store_address_ports, err);
    }
    if (hx_sim_line_is(line, "store-data-ports")) {
        return port_set_line(p, &d->store_data_ports, err);
    }
    if (hx_sim_line_is(line, "wide-closes")) {
        return port_set_line(p, &d->wide_closes, err);
    }
    if (hx_sim_line_is(line, "spikes")) {
        enum ip_status status = hx_sim_line_number(line, "probability", 0, 1, &d->spike_probability, err);
        return status != IP_OK ? status : hx_sim_line_number(line, "ticks", 0, 1e12, &d->spike_ticks, err);
    }
    static const struct {
        const char *name;
        enum ip_status (*parse)(struct parser *, struct ip_error *);
    } lines[] = {
        {"ports", ports_line},         {"policy", policy_line},
        {"drift", drift_line},         {"neighbour", neighbour_line},
        {"form", form_line},           {"default", default_line},
        {"fault", fault_line},         {"fuse", fuse_line},
        {"ports-csv", import_line},    {"port-counters", counters_line},
        {"microcode", microcode_line},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (hx_sim_line_is(line, lines[i].name)) {
            return lines[i].parse(p, err);
        }
    }
    return hx_sim_line_fail(line, 0, err,
                            "unknown setting; docs/sim.md lists them (form, ports, noise, ...)");
}

static enum ip_status header_check(struct parser *p, struct ip_error *err) {
    uint64_t version;
    if (!hx_sim_line_is(&p->line, "isaprobe-sim")) {
        return hx_sim_line_fail(&p->line, 0, err, "a simulated CPU begins with the line `isaprobe-sim 1`");
    }
    return hx_sim_line_integer(&p->line, "version of the format", 1, 1, &version, err);
}

static enum ip_status text_parse(struct parser *p, const char *text, size_t length, struct ip_error *err) {
    bool header = false;
    for (size_t at = 0; at < length;) {
        const char *newline = memchr(text + at, '\n', length - at);
        size_t line_length = newline != NULL ? (size_t)(newline - text) - at : length - at;
        p->line.number++;
        p->line.text = text + at;
        p->line.length = line_length;
        p->line.at = 0;
        at += line_length + 1;
        if (!hx_sim_line_next(&p->line)) {
            continue;
        }
        enum ip_status status = header ? directive(p, err) : header_check(p, err);
        if (status == IP_OK) {
            status = hx_sim_line_end(&p->line, err);
        }
        if (status != IP_OK) {
            return status;
        }
        header = true;
    }
    if (!header) {
        return ip_fail_at(err, IP_SYNTAX, p->line.file, 1, 1,
                          "a simulated CPU begins with the line `isaprobe-sim 1`");
    }
    if (p->d->ports_count == 0) {
        return ip_fail_at(err, IP_SYNTAX, p->line.file, p->line.number, 0,
                          "the description ends without a `ports` line");
    }
    return IP_OK;
}

enum ip_status hx_sim_description_parse(struct hx_sim_description *description, const char *name,
                                        const char *text, size_t length, const char *directory,
                                        struct ip_error *err) {
    struct hx_sim_description *d = calloc(1, sizeof *d); /* too large for a careless stack */
    if (d == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for the description %s", name);
    }
    d->issue_width = 4;
    d->rob = 224;
    d->fetch_queue = 64;
    d->load_latency = 5;
    d->forward_latency = 4;
    d->taken_branch = 1;
    d->ticks_per_cycle = 1;
    d->resolution_ticks = 1;
    d->neighbour_share = 1;
    d->seed = 1;
    struct parser parser = {.d = d, .directory = directory, .line.file = name};
    enum ip_status status = text_parse(&parser, text, length, err);
    if (d->retire_width == 0) {
        d->retire_width = d->issue_width;
    }
    if (d->scheduler == 0) {
        d->scheduler = d->rob;
    }
    if (status == IP_OK && (!hx_sim_rows_index(&d->rows) || !hx_sim_rows_index(&d->imported))) {
        status = ip_fail(err, IP_NO_MEMORY, "no memory for the description %s", name);
    }
    if (status == IP_OK) {
        *description = *d;
    } else {
        hx_sim_description_fini(d);
    }
    free(d);
    return status;
}

enum ip_status hx_sim_description_read(struct hx_sim_description *description, const char *path,
                                       struct ip_error *err) {
    struct ip_text text = {0};
    struct ip_text directory = {0};
    const char *slash = strrchr(path, '/');
    if (slash != NULL) {
        ip_text_append_bytes(&directory, path, (size_t)(slash - path) + 1);
    }
    enum ip_status status = directory.failed
                                ? ip_fail(err, IP_NO_MEMORY, "no memory for the description %s", path)
                                : ip_text_file_read(&text, path, SIM_FILE_LIMIT_BYTES,
                                                    "the description of a CPU is expected", err);
    if (status == IP_OK) {
        status = hx_sim_description_parse(description, path, ip_text_string(&text), text.length,
                                          ip_text_string(&directory), err);
    }
    ip_text_fini(&text);
    ip_text_fini(&directory);
    return status;
}

void hx_sim_description_fini(struct hx_sim_description *description) {
    hx_sim_rows_fini(&description->rows);
    hx_sim_rows_fini(&description->patterns);
    hx_sim_rows_fini(&description->imported);
    ip_lines_fini(&description->imports);
    free(description->fusions);
    memset(description, 0, sizeof *description);
}
