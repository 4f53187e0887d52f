/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_show.c - what the store knows of a form; measures nothing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/forms.h"
#include "cli/output.h"
#include "cli/show_rename.h"
#include "cli/store.h"
#include "isa/decode.h"
#include "results/core.h"
#include "results/store.h"

static const struct cli_column pair_columns[] = {
    {.name = "src"},   {.name = "dst"},     {.name = "path"},           {.name = "cycles"},
    {.name = "bound"}, {.name = "spread"},  {.name = "slow_cycles"},    {.name = "via"},
    {.name = "why"},   {.name = "verdict"}, {.name = "chained_cycles"}, {.name = "same_register_cycles"},
    {.name = NULL},
};
enum { PAIR_VALUES = 12 };

static const struct cli_column columns[] = {
    {.name = "form"},
    {.name = "isa"},
    {.name = "throughput"},
    {.name = "throughput_spread"},
    {.name = "throughput_slow_cycles"},
    {.name = "how"},
    {.name = "slots"},
    {.name = "ports"},
    {.name = "ports_verdict"},
    {.name = "ports_residual"},
    {.name = "latency", .items = pair_columns},
    {.name = "run"},
    {.name = "status"},
    {.name = "throughput_verdict"},
    {.name = "throughput_why"},
    {.name = "slots_spread"},
    {.name = "slots_verdict"},
    {.name = "slots_why"},
    {.name = "ports_unit"},
    {.name = "ports_unit_cycles"},
    {.name = "ports_why"},
    {.name = "eliminated"},
    {.name = "same_register"},
    {.name = "fuses_with"},
    {.name = "output_cycles"},
    {.name = NULL},
};

static const struct cli_column evidence_columns[] = {
    {.name = "form"},
    {.name = "fact"},
    {.name = "verdict"},
    {.name = "low_cycles"},
    {.name = "cycles"},
    {.name = "high_cycles"},
    {.name = "batches"},
    {.name = "retakes"},
    {.name = "ticks_per_cycle"},
    {.name = "sentinel_cycles"},
    {.name = "kernel"},
    {.name = "copies"},
    {.name = "forms_per_unit"},
    {.name = "unit"},
    {.name = NULL},
};

struct show {
    const struct cli_settings *settings;
    struct cli_output output;
    struct ip_text path;
    struct res_store *store;
    struct probe_core core; /* what is known of rename */
    struct isa_table table; /* of the forms in the store */
    size_t *positions;      /* owned: in `table` */
    size_t count;
};

/* "ok", or why not, which may begin with the same word. */
static void status_append(struct ip_text *text, const struct res_form *form) {
    const size_t length = strlen(form->status);
    const bool told =
        strncmp(form->why, form->status, length) == 0 && strncmp(form->why + length, ": ", 2) == 0;
    ip_text_append(text, form->status);
    if (strcmp(form->status, "ok") != 0 && form->why[0] != '\0') {
        ip_text_printf(text, ": %s", told ? form->why + length + 2 : form->why);
    }
}

/* "op2:address->op1" */
static void pair_name_append(struct ip_text *text, const struct res_pair *pair) {
    bool plain = strcmp(pair->path, "register") == 0;
    ip_text_printf(text, "%s%s%s->%s", pair->src, plain ? "" : ":", plain ? "" : pair->path, pair->dst);
}

/* --- text: a paragraph for each form ---------------------------------------------------------------------
 */

static void spread_append(struct ip_text *text, const struct res_value *value) {
    if (isfinite(value->spread)) {
        ip_text_printf(text, ", spread %.1f %%", 100.0 * value->spread);
    }
    if (strcmp(value->verdict, "ok") != 0) {
        ip_text_printf(text, " (%s: not to be trusted)", value->verdict);
    }
}

/* "; slow operands 4.00" */
static void slow_append(struct ip_text *text, const struct res_value *value) {
    if (isfinite(value->slow_cycles)) {
        ip_text_append(text, "; slow operands ");
        cli_number_append(text, value->slow_cycles);
    }
}

static void throughput_append(struct ip_text *text, const struct res_value *value) {
    if (!value->known) {
        return;
    }
    ip_text_append(text, "  throughput  ");
    if (isnan(value->cycles)) {
        ip_text_printf(text, "not measured: %s\n", value->why);
        return;
    }
    cli_number_append(text, value->cycles);
    ip_text_printf(text, " cycles, %s", value->how);
    spread_append(text, value);
    slow_append(text, value);
    ip_text_append(text, "\n");
}

static void slots_append(struct ip_text *text, const struct res_value *value) {
    if (!value->known) {
        return;
    }
    ip_text_append(text, "  slots       ");
    if (isnan(value->cycles)) {
        ip_text_printf(text, "not measured: %s\n", value->why);
        return;
    }
    char rounded[CLI_SLOTS_MAX];
    ip_text_append(text, cli_slots_text(value->cycles, rounded));
    spread_append(text, value);
    ip_text_append(text, "\n");
}

static void unit_held_append(struct ip_text *text, const struct res_ports *ports) {
    if (ports->unit[0] != '\0') {
        ip_text_append(text, "  unit        ");
        cli_number_append(text, ports->unit_cycles);
        ip_text_printf(text, " cycles in the unit of %s\n", ports->unit);
    }
}

static void ports_append(struct ip_text *text, const struct res_ports *ports) {
    if (!ports->known) {
        return;
    }
    ip_text_append(text, "  ports       ");
    if (ports->usage[0] == '\0') {
        ip_text_printf(text, "%s: %s\n",
                       strcmp(ports->verdict, "inconsistent") == 0 ? "inconsistent" : "not measured",
                       ports->why);
    } else {
        ip_text_printf(text, "%s%s, %lld uops in ", ports->usage,
                       strcmp(ports->verdict, "ambiguous") == 0 ? " (the port map leaves open which)" : "",
                       (long long)ports->uops);
        cli_number_append(text, ports->slots);
        ip_text_append(text, " slots, at best ");
        cli_number_append(text, ports->expected_cycles);
        ip_text_append(text, " cycles, residual ");
        cli_number_append(text, ports->residual);
        ip_text_printf(text, ports->how[0] != '\0' ? ", by %s\n" : "\n", ports->how);
    }
    unit_held_append(text, ports);
}

/* A link of the chain with one destination, of a form that waits for what it only writes; NaN: it does not,
 * or nobody asked. */
static double output_cycles(const struct probe_core *core, const char *syntax) {
    const struct probe_core_value *fact = probe_core_fact_get(core, "output", syntax, NULL);
    return fact != NULL && fact->value > 0.0 ? fact->value : NAN;
}

static void output_append(struct ip_text *text, const struct probe_core *core, const char *syntax) {
    double cycles = output_cycles(core, syntax);
    if (!isnan(cycles)) {
        ip_text_append(text, "  output      waits for the register that it only writes, ");
        cli_number_append(text, cycles);
        ip_text_append(text, " cycles\n");
    }
}

static void rename_append(struct ip_text *text, const struct probe_core *core, const char *syntax) {
    struct probe_rename renamed;
    struct probe_fusion fusion;
    char words[CLI_PORT_WORDS];
    cli_rename_of_facts(core, syntax, &renamed, &fusion);
    if (cli_rename_words(&renamed, &fusion, words)[0] != '\0') {
        ip_text_printf(text, "  rename      %s\n", words);
    }
}

static void pair_append(struct ip_text *text, const struct res_pair *pair, bool utf8) {
    ip_text_append(text, "  latency     ");
    pair_name_append(text, pair);
    if (isnan(pair->value.cycles)) {
        ip_text_printf(text, " %s: %s\n", pair->independent ? "none" : "not measured", pair->value.why);
        return;
    }
    ip_text_append(text, !pair->upper_bound ? " " : utf8 ? " \xe2\x89\xa4" : " <=");
    cli_number_append(text, pair->value.cycles);
    ip_text_append(text, " cycles");
    if (pair->via[0] != '\0') {
        ip_text_printf(text, ", through %s", pair->via);
    }
    spread_append(text, &pair->value);
    if (isfinite(pair->chained_cycles)) {
        ip_text_append(text, "; to itself ");
        cli_number_append(text, pair->chained_cycles);
    }
    if (isfinite(pair->same_register_cycles)) {
        ip_text_append(text, "; same register ");
        cli_number_append(text, pair->same_register_cycles);
    }
    slow_append(text, &pair->value);
    ip_text_append(text, "\n");
}

/* The run that the newest fact comes from. */
static int64_t form_run(const struct res_form *form) {
    int64_t run = form->throughput.known ? form->throughput.run : 0;
    if (form->slots.known && form->slots.run > run) {
        run = form->slots.run;
    }
    if (form->ports.known && form->ports.run > run) {
        run = form->ports.run;
    }
    for (size_t i = 0; i < form->pair_count; i++) {
        run = form->pairs[i].value.run > run ? form->pairs[i].value.run : run;
    }
    return run;
}

static enum ip_status run_append(struct ip_text *text, struct show *show, const struct res_form *form,
                                 struct ip_error *err) {
    int64_t run = form_run(form);
    if (run == 0) {
        return IP_OK;
    }
    struct res_run_text about;
    enum ip_status status = res_run_get(show->store, run, &about, err);
    if (status == IP_OK) {
        ip_text_printf(text, "  measured    %s, timer %s, ", about.started, about.timer);
        if (about.cpu >= 0) { /* else it was none of this machine's */
            ip_text_printf(text, "CPU %lld, ", (long long)about.cpu);
        }
        ip_text_printf(text, "%.4f ticks per cycle, isaprobe %s (run %lld)\n", about.ticks_per_cycle,
                       about.version, (long long)run);
    }
    return status;
}

static enum ip_status paragraph_print(struct show *show, const struct res_form *form, bool first,
                                      struct ip_error *err) {
    struct ip_text text = {0};
    ip_text_printf(&text, "%s%s  (%s)  ", first ? "" : "\n", form->syntax, form->extension);
    status_append(&text, form);
    ip_text_append(&text, "\n");
    throughput_append(&text, &form->throughput);
    slots_append(&text, &form->slots);
    ports_append(&text, &form->ports);
    rename_append(&text, &show->core, form->syntax);
    output_append(&text, &show->core, form->syntax);
    for (size_t i = 0; i < form->pair_count; i++) {
        pair_append(&text, &form->pairs[i], show->output.utf8);
    }
    enum ip_status status = run_append(&text, show, form, err);
    if (status == IP_OK) {
        cli_output_raw(&show->output, &text);
    }
    ip_text_fini(&text);
    return status;
}

/* --- csv and json -----------------------------------------------------------------------------------------
 */

static enum ip_status row_print(struct show *show, const struct res_form *form, struct ip_error *err) {
    struct cli_value *values = calloc(form->pair_count * PAIR_VALUES + 1, sizeof *values);
    struct ip_text status_text = {0};
    if (values == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for form '%s'", form->syntax);
    }
    status_append(&status_text, form);
    for (size_t i = 0; i < form->pair_count; i++) {
        const struct res_pair *pair = &form->pairs[i];
        bool measured = !isnan(pair->value.cycles);
        struct cli_value *value = values + i * PAIR_VALUES;
        *value++ = cli_text(pair->src);
        *value++ = cli_text(pair->dst);
        *value++ = cli_text(pair->path);
        *value++ = cli_number(pair->value.cycles);
        *value++ = cli_text(pair->independent   ? "none"
                            : !measured         ? NULL
                            : pair->upper_bound ? "upper"
                                                : "exact");
        *value++ = cli_number(pair->value.spread);
        *value++ = cli_number(pair->value.slow_cycles);
        *value++ = cli_text(pair->via);
        *value++ = cli_text(pair->value.why);
        *value++ = cli_text(pair->value.verdict);
        *value++ = cli_number(pair->chained_cycles);
        *value = cli_number(pair->same_register_cycles);
    }
    const struct res_value *throughput = &form->throughput, *slots = &form->slots;
    const struct res_ports *ports = &form->ports;
    struct probe_rename renamed;
    struct probe_fusion fusion;
    char jumps[CLI_JUMPS_TEXT];
    cli_rename_of_facts(&show->core, form->syntax, &renamed, &fusion);
    int64_t run = form_run(form);
    const struct cli_value row[] = {
        cli_text(form->syntax),
        cli_text(form->extension),
        cli_number(form->throughput.cycles),
        cli_number(form->throughput.spread),
        cli_number(form->throughput.slow_cycles),
        cli_text(form->throughput.known ? form->throughput.how : NULL),
        cli_number(form->slots.cycles),
        cli_text(form->ports.usage[0] != '\0' ? form->ports.usage : NULL),
        cli_text(form->ports.known ? form->ports.verdict : NULL),
        cli_number(form->ports.residual),
        cli_list(values, form->pair_count),
        run != 0 ? cli_integer(run) : cli_text(NULL),
        cli_text(ip_text_string(&status_text)),
        cli_text(throughput->known ? throughput->verdict : NULL),
        cli_text(throughput->known ? throughput->why : NULL),
        cli_number(slots->spread),
        cli_text(slots->known ? slots->verdict : NULL),
        cli_text(slots->known ? slots->why : NULL),
        cli_text(ports->known && ports->unit[0] != '\0' ? ports->unit : NULL),
        cli_number(ports->known ? ports->unit_cycles : NAN),
        cli_text(ports->known ? ports->why : NULL),
        renamed.eliminated != PROBE_NOT_MEASURED ? cli_bool(true) : cli_text(NULL),
        cli_text(cli_same_register_words(&renamed)),
        cli_text(cli_fusion_jumps(&fusion, jumps)),
        cli_number(output_cycles(&show->core, form->syntax)),
    };
    cli_output_row(&show->output, row, NULL);
    enum ip_status status =
        status_text.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for form '%s'", form->syntax) : IP_OK;
    ip_text_fini(&status_text);
    free(values);
    return status;
}

/* --- evidence ---------------------------------------------------------------------------------------------
 */

/* The loop's unit as source. */
static void unit_append(struct ip_text *text, const struct res_evidence *evidence, const char *separator) {
    char line[160];
    size_t at = 0;
    while (at < evidence->unit_bytes) {
        size_t length =
            isa_disassemble_one(evidence->unit + at, evidence->unit_bytes - at, at, line, sizeof line);
        ip_text_append(text, at > 0 ? separator : "");
        if (length == 0) {
            ip_text_printf(text, "db 0x%02x", evidence->unit[at]);
            length = 1;
        } else {
            ip_text_append(text, line);
        }
        at += length;
    }
}

static void evidence_append(struct ip_text *text, const struct res_evidence *evidence) {
    ip_text_printf(text, ": %s, ", evidence->verdict);
    cli_number_append(text, evidence->cycles);
    ip_text_append(text, " cycles (");
    cli_number_append(text, evidence->low_cycles);
    ip_text_append(text, " to ");
    cli_number_append(text, evidence->high_cycles);
    ip_text_printf(text, "), %lld batches, %lld void, %.4f ticks per cycle, NOP ",
                   (long long)evidence->batches, (long long)evidence->retakes, evidence->ticks_per_cycle);
    cli_number_append(text, evidence->sentinel_cycles);
    ip_text_append(text, " cycles\n");
    if (evidence->kernel != 0) {
        ip_text_printf(text, "  kernel %016llx: %lld form%s in a unit, %lld unit%s in the loop\n    ",
                       (unsigned long long)evidence->kernel, (long long)evidence->forms_per_unit,
                       cli_plural((size_t)evidence->forms_per_unit), (long long)evidence->copies,
                       cli_plural((size_t)evidence->copies));
        unit_append(text, evidence, "\n    ");
        ip_text_append(text, "\n");
    }
}

static enum ip_status evidence_print(struct show *show, const struct res_form *form, const char *fact,
                                     const struct res_evidence *evidence, struct ip_error *err) {
    if (!evidence->known) {
        return IP_OK;
    }
    struct ip_text unit = {0};
    if (show->output.format == CLI_FORMAT_TEXT) {
        ip_text_printf(&unit, "%s  %s", form->syntax, fact);
        evidence_append(&unit, evidence);
        cli_output_raw(&show->output, &unit);
        ip_text_fini(&unit);
        return IP_OK;
    }
    unit_append(&unit, evidence, "; ");
    char kernel[20];
    (void)snprintf(kernel, sizeof kernel, "%016llx", (unsigned long long)evidence->kernel);
    bool kept = evidence->kernel != 0;
    const struct cli_value row[] = {
        cli_text(form->syntax),
        cli_text(fact),
        cli_text(evidence->verdict),
        cli_number(evidence->low_cycles),
        cli_number(evidence->cycles),
        cli_number(evidence->high_cycles),
        cli_integer(evidence->batches),
        cli_integer(evidence->retakes),
        cli_number(evidence->ticks_per_cycle),
        cli_number(evidence->sentinel_cycles),
        cli_text(kept ? kernel : NULL),
        kept ? cli_integer(evidence->copies) : cli_text(NULL),
        kept ? cli_integer(evidence->forms_per_unit) : cli_text(NULL),
        cli_text(kept ? ip_text_string(&unit) : NULL),
    };
    cli_output_row(&show->output, row, NULL);
    enum ip_status status =
        unit.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for form '%s'", form->syntax) : IP_OK;
    ip_text_fini(&unit);
    return status;
}

static enum ip_status evidences_print(struct show *show, const struct res_form *form, struct ip_error *err) {
    enum ip_status status = evidence_print(show, form, "throughput", &form->throughput.evidence, err);
    if (status == IP_OK) {
        status = evidence_print(show, form, "slots", &form->slots.evidence, err);
    }
    if (status == IP_OK) {
        status = evidence_print(show, form, "ports", &form->ports.evidence, err);
    }
    for (size_t i = 0; status == IP_OK && i < form->pair_count; i++) {
        struct ip_text name = {0};
        pair_name_append(&name, &form->pairs[i]);
        status = evidence_print(show, form, ip_text_string(&name), &form->pairs[i].value.evidence, err);
        ip_text_fini(&name);
    }
    return status;
}

/* --- the command ------------------------------------------------------------------------------------------
 */

/* The store's forms become a table of their own, so that FORM means here what it means elsewhere, and rows of
 * --isa that were scanned are found without it. */
static enum ip_status forms_find(struct show *show, struct ip_error *err) {
    struct ip_text rows = {0};
    enum ip_status status = res_forms_table(show->store, &rows, err);
    if (status == IP_OK) {
        status = isa_table_text_add(&show->table, ip_text_string(&show->path), ip_text_string(&rows),
                                    rows.length, err);
    }
    if (status == IP_OK) {
        status = res_forms_need(show->store, err);
    }
    if (status == IP_OK) {
        status = res_core_get(show->store, &show->core, err);
    }
    ip_text_fini(&rows);
    const struct res_wanted wanted = {.queries = show->settings->arguments,
                                      .count = (size_t)show->settings->argument_count,
                                      .extensions = show->settings->extensions};
    if (status == IP_OK) {
        status = res_forms_select(&show->table, ip_text_string(&show->path), &wanted, &show->positions,
                                  &show->count, err);
    }
    return status;
}

static enum ip_status forms_print(struct show *show, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t i = 0; status == IP_OK && i < show->count; i++) {
        struct res_form form = {0};
        status = res_form_get(show->store, show->table.forms[show->positions[i]].syntax, &form, err);
        if (status != IP_OK) {
            break;
        }
        if (show->settings->evidence) {
            status = evidences_print(show, &form, err);
        } else if (show->output.format == CLI_FORMAT_TEXT) {
            status = paragraph_print(show, &form, i == 0, err);
        } else {
            status = row_print(show, &form, err);
        }
        res_form_fini(&form);
    }
    return status;
}

static int show_run(const struct cli_command *command, struct cli_settings *settings) {
    struct show show = {.settings = settings};
    if (settings->argument_count == 0 && settings->extensions.count == 0) {
        return cli_usage_error(command->name, "missing argument: a FORM, or --extension");
    }
    int code =
        cli_output_open(&show.output, command, settings, settings->evidence ? evidence_columns : columns);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    struct ip_error err = {0};
    enum ip_status status = cli_store_open_readonly(&show.store, &show.path, settings, &err);
    if (status == IP_OK) {
        status = forms_find(&show, &err);
    }
    if (status == IP_OK) {
        status = forms_print(&show, &err);
    }
    code = status == IP_OK ? CLI_EXIT_OK : cli_report(command->name, &err);
    probe_core_fini(&show.core);
    res_store_close(show.store);
    isa_table_fini(&show.table);
    free(show.positions);
    ip_text_fini(&show.path);
    return cli_output_close(&show.output, code);
}

#define AT(field) offsetof(struct cli_settings, field)

static const struct cli_option options[] = {
    {"store", 'S', "FILE", "the store; by default that of this CPU below $XDG_DATA_HOME/isaprobe",
     CLI_KIND_FILE, AT(store), 0, 0, NULL},
    {"evidence", 'e', NULL, "the statistic and the kernel behind each number instead", CLI_KIND_FLAG,
     AT(evidence), 0, 0, NULL},
    /* As of CLI_GROUP_FORMS, but for the letter. */
    {"extension", 0, "NAME", "only forms of this extension (AVX2); may be repeated", CLI_KIND_LIST,
     AT(extensions), 0, 0, NULL},
    {0},
};

const struct cli_command cli_cmd_show = {
    .name = "show",
    .summary = "print what the store knows of a form; measures nothing",
    .arguments = "[FORM]...",
    .description =
        "FORM is a mnemonic in any case, a pattern with * and ?, or a quoted syntax; with --extension it\n"
        "may be left out: all forms of that extension that the store has. The store is plain\n"
        "SQLite: sqlite3 FILE 'SELECT * FROM summary' prints all of it.\n",
    .options = options,
    .groups = CLI_GROUP_CORE | CLI_GROUP_OUTPUT,
    .min_arguments = 0,
    .max_arguments = -1,
    .run = show_run,
};
