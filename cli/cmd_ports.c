/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/forms.h"
#include "cli/output.h"
#include "cli/port_words.h"
#include "cli/portmap.h"
#include "cli/store.h"
#include "probe/counted.h"
#include "probe/units.h"

enum {
    CHUNK = 64, /* forms between two progress lines */
    SHARERS_TEXT = 1024,
};

static const struct cli_column columns[] = {
    {.name = "form"},
    {.name = "isa", .text_hidden = true},
    {.name = "ports"},
    {.name = "slots"},
    {.name = "throughput"},
    {.name = "throughput_from_ports"},
    {.name = "slower_than_ports", .text_hidden = true},
    {.name = "residual"},
    {.name = "counted", .text_hidden = true},
    {.name = "uops", .text_hidden = true},
    {.name = "micro_fused", .text_hidden = true},
    {.name = "eliminated", .text_hidden = true},
    {.name = "same_register", .text_hidden = true},
    {.name = "fuses_with", .text_hidden = true},
    {.name = "rename", .text_only = true},
    {.name = "unit"},
    {.name = "unit_cycles", .text_hidden = true},
    {.name = "unit_shared_with", .text_hidden = true},
    {.name = "status"},
    {.name = NULL},
};

/* All that is measured of some forms. */
struct measured {
    struct probe_usage usages[CHUNK];
    struct probe_rename renamed[CHUNK];
    struct probe_fusion fusions[CHUNK];
    struct probe_counted counted[CHUNK];
};

static void form_row(struct cli_output *output, const struct isa_form *form, const struct probe_portmap *map,
                     const struct probe_units *units, const struct measured *all, size_t at,
                     struct cli_tally *tally) {
    const struct probe_usage *usage = &all->usages[at];
    const struct probe_counted *counted = &all->counted[at];
    const struct probe_rename *renamed = &all->renamed[at];
    char jumps[CLI_JUMPS_TEXT], words[CLI_PORT_WORDS];
    char ports[PROBE_USAGE_ALTERNATIVES_TEXT], status[3 * PROBE_COUNTED_TEXT] = "ok",
                                                          events[PROBE_COUNTED_TEXT];
    char sharers[SHARERS_TEXT];
    bool held = usage->unit[0] != '\0';
    bool measured = usage->verdict != PROBE_USAGE_UNKNOWN;
    /* Nothing measured because of noise is not to be trusted either: not the same as nothing to measure. */
    enum hx_verdict verdict = !measured                          ? usage->meter
                              : usage->verdict == PROBE_USAGE_OK ? HX_VERDICT_OK
                                                                 : HX_VERDICT_UNSTABLE;
    cli_tally_add(tally, measured, verdict);
    if (usage->verdict == PROBE_USAGE_INCONSISTENT) {
        (void)snprintf(status, sizeof status, "inconsistent: %s", usage->why);
    } else if (!measured) {
        (void)cli_status_text(false, usage->meter, usage->why, status);
    } else if (usage->ambiguous) {
        (void)snprintf(status, sizeof status, "ambiguous: the port map leaves open which%s%s",
                       usage->why[0] != '\0' ? "; " : "", usage->why);
    } else if (usage->hidden_most > 0) {
        (void)snprintf(status, sizeof status, "ambiguous: %s", usage->why);
    } else if (usage->slower) {
        (void)snprintf(status, sizeof status, "ok; slower than its ports%s%s",
                       usage->why[0] != '\0' ? ": " : "", usage->why);
    }
    if (counted->measured && usage->verdict == PROBE_USAGE_OK) { /* a second opinion, where there is one */
        bool agrees = probe_counted_agrees(counted, usage);
        size_t used = strlen(status);
        (void)snprintf(status + used, sizeof status - used,
                       agrees ? "; counters agree" : "; counters disagree: %s",
                       probe_counted_print(counted, events));
    }
    const struct cli_value row[] = {
        cli_text(form->syntax),
        cli_text(form->extension),
        cli_text(usage->verdict == PROBE_USAGE_OK ? probe_usage_print_all(map, form, usage, ports) : NULL),
        cli_number(usage->slots),
        cli_number(usage->cycles),
        cli_number(usage->verdict == PROBE_USAGE_OK ? usage->expected_cycles : NAN),
        cli_bool(usage->slower),
        cli_number(measured ? usage->residual : NAN),
        cli_text(counted->measured ? probe_counted_print(counted, events) : NULL),
        cli_number(usage->verdict == PROBE_USAGE_OK ? probe_usage_uops(map, usage) : NAN),
        cli_number(cli_micro_fused(map, form, usage)),
        renamed->eliminated != PROBE_NOT_MEASURED ? cli_bool(renamed->eliminated == PROBE_YES)
                                                  : cli_text(NULL),
        cli_text(cli_same_register_words(renamed)),
        cli_text(cli_fusion_jumps(&all->fusions[at], jumps)),
        cli_text(cli_port_words(map, form, usage, renamed, &all->fusions[at], words)),
        cli_text(held ? usage->unit : NULL),
        cli_number(held ? usage->unit_cycles : NAN),
        cli_text(held ? probe_unit_sharers(units, usage->unit, form, sharers, sizeof sharers) : NULL),
        cli_text(status),
    };
    cli_output_row(output, row, NULL);
}

static enum ip_status chunk_measure(struct cli_bench *bench, struct hx_port_events *events,
                                    const struct isa_table *table, const struct probe_portmap *map,
                                    struct probe_units *units, struct isa_form *const *forms, size_t count,
                                    struct measured *all, struct ip_error *err) {
    const struct hx_meter *meter = &bench->meter;
    struct gen_encoder *encoder = &bench->bench.encoder;
    enum ip_status status =
        probe_usage_measure(meter, encoder, map, NULL, forms, NULL, count, all->usages, err);
    if (status == IP_OK) {
        status = probe_units_measure(meter, encoder, table, map, units, forms, count, all->usages, err);
    }
    if (status == IP_OK) {
        status = probe_rename_measure(meter, encoder, map, forms, count, all->usages, all->renamed, err);
    }
    if (status == IP_OK) {
        status = probe_fusion_measure(meter, encoder, map->issue_width, forms, count, all->fusions, err);
    }
    return status == IP_OK ? probe_counted_measure(events, encoder, forms, count, all->counted, err) : status;
}

static enum ip_status usages_run(struct cli_bench *bench, struct hx_port_events *events,
                                 const struct cli_forms *forms, const struct probe_portmap *map,
                                 struct probe_units *units, struct cli_output *output,
                                 struct cli_tally *tally, struct ip_error *err) {
    struct measured *all = calloc(1, sizeof *all);
    enum ip_status status =
        all != NULL ? IP_OK : ip_fail(err, IP_NO_MEMORY, "out of memory for %d forms", CHUNK);
    for (size_t at = 0; at < forms->count && status == IP_OK; at += CHUNK) {
        size_t count = forms->count - at < CHUNK ? forms->count - at : CHUNK;
        status = chunk_measure(bench, events, &forms->table, map, units, forms->items + at, count, all, err);
        for (size_t i = 0; i < count && status == IP_OK; i++) {
            form_row(output, forms->items[at + i], map, units, all, i, tally);
        }
        if (status == IP_OK) {
            cli_bench_progress(bench, "forms", at + count, forms->count);
        }
    }
    free(all);
    return status;
}

/* The store that --store names, for its map and the names of its units. */
static enum ip_status store_open(struct res_store **store, const struct cli_settings *settings,
                                 struct ip_error *err) {
    if (settings->store == NULL) {
        return IP_OK;
    }
    enum ip_status status = res_store_open_readonly(store, settings->store, err);
    return status == IP_OK ? cli_store_same_machine(*store, settings->store, settings, err) : status;
}

static enum ip_status forms_run(struct cli_forms *forms, const struct cli_settings *settings,
                                struct cli_output *output, struct cli_tally *tally, struct ip_error *err) {
    struct cli_bench bench;
    struct res_store *store = NULL;
    struct probe_portmap map = {0};
    struct probe_units units = {0};
    bool measured = false;
    enum ip_status status = store_open(&store, settings, err);
    if (status == IP_OK) {
        status = cli_bench_open(&bench, settings, err);
        if (status == IP_OK) {
            status = cli_portmap_get(&bench, &forms->table, store, false, &map, &measured, err);
        }
        if (status == IP_OK && store != NULL) {
            status = res_units_get(store, &units, err);
        }
        if (status == IP_OK) {
            struct hx_port_events events;
            hx_port_events_open(&events, settings->timer, settings->cpu, &bench.bench.references);
            status = usages_run(&bench, &events, forms, &map, &units, output, tally, err);
            hx_port_events_close(&events);
        }
        status = cli_bench_close(&bench, status, err);
    }
    probe_portmap_fini(&map);
    res_store_close(store);
    return status;
}

static int ports_run(const struct cli_command *command, struct cli_settings *settings) {
    struct cli_output output;
    int code = cli_output_open(&output, command, settings, columns);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    struct cli_forms forms = {0};
    struct cli_tally tally = {0};
    struct ip_error err = {0};
    enum ip_status status = cli_forms_prepare(&forms, settings, &err);
    status = status == IP_OK ? forms_run(&forms, settings, &output, &tally, &err) : status;
    cli_interrupted(command->name, settings, tally.measured + tally.missing, forms.count, "forms");
    code = status == IP_OK ? cli_tally_exit(&tally, settings, command->name, "forms")
                           : cli_report(command->name, &err);
    cli_forms_fini(&forms);
    return cli_output_close(&output, code);
}

#define AT(field) offsetof(struct cli_settings, field)

static const struct cli_option options[] = {
    {"store", 'S', "FILE", "take the port map from this store where it has one, instead of measuring it",
     CLI_KIND_FILE, AT(store), 0, 0, NULL},
    {0},
};

const struct cli_command cli_cmd_ports = {
    .name = "ports",
    .summary = "find out which execution ports a form's uops use",
    .arguments = "FORM...",
    .description =
        "Finds the port map first (see portmap), then runs each form beside forms that keep a set of ports\n"
        "busy. 1*p01+2*p5: one uop that may go to port 0 or 1, and two for port 5. What the answer cannot\n"
        "explain is marked as inconsistent, and its ports are left out. Where several systems of sets "
        "explain\n"
        "the map, a form whose ports they tell differently is ambiguous, and has them all: 1*p01 or 1*p12; "
        "of\n"
        "all other forms together any mix takes what their ports say. Where the machine counts the uops "
        "of\n"
        "each port, the counts are compared with it, and the status says whether they agree.\n",
    .options = options,
    .groups = CLI_GROUP_METER | CLI_GROUP_TABLE | CLI_GROUP_OUTPUT,
    .min_arguments = 1,
    .max_arguments = -1,
    .run = ports_run,
};
