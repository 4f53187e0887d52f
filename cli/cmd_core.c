/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_core.c - measures the parameters of the core, prints them and keeps them in the store. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/output.h"
#include "cli/store.h"
#include "probe/core.h"
#include "results/core.h"

static const struct cli_column columns[] = {
    {.name = "parameter"},
    {.name = "form"},
    {.name = "second", .text_hidden = true},
    {.name = "value"},
    {.name = "unit"},
    {.name = "spread", .text_hidden = true},
    {.name = "status", .text_hidden = true},
    {.name = "how"},
    {.name = NULL},
};

/* Parts of a fact's key: "fuse cmp r64, r64 + jz rel8". */
struct fact_name {
    char kind[24], form[ISA_SYNTAX_MAX], second[ISA_SYNTAX_MAX];
};

static void fact_split(const char *key, struct fact_name *name) {
    size_t kind = strcspn(key, " ");
    const char *form = key + kind + (key[kind] == ' '), *plus = strstr(form, " + ");
    size_t length = plus != NULL ? (size_t)(plus - form) : strlen(form);
    (void)snprintf(name->kind, sizeof name->kind, "%.*s", (int)kind, key);
    (void)snprintf(name->form, sizeof name->form, "%.*s", (int)length, form);
    (void)snprintf(name->second, sizeof name->second, "%s", plus != NULL ? plus + 3 : "");
}

static const char *fact_unit(const char *kind) {
    if (strcmp(kind, "eliminate") == 0 || strcmp(kind, "line") == 0) {
        return "cycles";
    }
    return strncmp(kind, "micro", 5) == 0 ? "slots" : NULL;
}

static void row_print(struct cli_output *output, const char *parameter, const struct fact_name *fact,
                      const struct probe_core_value *value, const char *unit) {
    const struct cli_value row[] = {
        cli_text(parameter),
        cli_text(fact != NULL ? fact->form : NULL),
        cli_text(fact != NULL && fact->second[0] != '\0' ? fact->second : NULL),
        cli_number(value->known ? value->value : NAN),
        cli_text(unit),
        cli_number(value->known ? value->spread : NAN),
        cli_text(value->known ? "ok" : "unknown"),
        cli_text(value->how),
    };
    cli_output_row(output, row, NULL);
}

/* Text: one line for all jumps that fuse with an instruction, none for an instruction that fuses with none.
 */
static size_t fused_print(struct cli_output *output, const struct probe_core *core, size_t first) {
    struct fact_name name, other;
    struct ip_text jumps = {0};
    fact_split(core->facts[first].key, &name);
    size_t at = first, fused = 0;
    for (; at < core->fact_count; at++) {
        fact_split(core->facts[at].key, &other);
        if (strcmp(other.kind, name.kind) != 0 || strcmp(other.form, name.form) != 0) {
            break;
        }
        if (core->facts[at].value.known && core->facts[at].value.value > 0.5) {
            size_t word = strcspn(other.second, " ");
            ip_text_printf(&jumps, "%s%.*s", fused++ > 0 ? " " : "", (int)word, other.second);
        }
    }
    if (fused > 0) {
        struct ip_lines cells = {0};
        ip_lines_add(&cells, name.kind);
        ip_lines_add(&cells, name.form);
        ip_lines_add(&cells, fused == at - first ? "yes" : "some");
        ip_lines_add(&cells, "");
        ip_lines_add(&cells, fused == at - first ? "with all conditional jumps" : ip_text_string(&jumps));
        cli_output_row(output, NULL, &cells);
    }
    ip_text_fini(&jumps);
    return at;
}

static void core_print(struct cli_output *output, const struct probe_core *core) {
    for (unsigned key = 0; key < PROBE_CORE_KEYS; key++) {
        if (core->values[key].known || core->values[key].how[0] != '\0') {
            row_print(output, probe_core_key_name(key), NULL, &core->values[key], probe_core_key_unit(key));
        }
    }
    for (size_t i = 0; i < core->fact_count;) {
        struct fact_name name;
        fact_split(core->facts[i].key, &name);
        if (output->format == CLI_FORMAT_TEXT && name.second[0] != '\0') {
            i = fused_print(output, core, i);
            continue;
        }
        row_print(output, name.kind, &name, &core->facts[i].value, fact_unit(name.kind));
        i++;
    }
}

/* Which groups --only asks for; all without it. */
static int groups_choose(const struct cli_command *command, const struct cli_settings *settings,
                         unsigned *groups) {
    *groups = settings->only.count == 0 ? ~0u : 0;
    for (size_t i = 0; i < settings->only.count; i++) {
        int group = probe_core_group_find(settings->only.items[i]);
        if (group < 0) {
            struct ip_text names = {0};
            for (size_t g = 0; probe_core_group_name(g) != NULL; g++) {
                ip_text_printf(&names, " %s", probe_core_group_name(g));
            }
            int code = cli_usage_error(
                command->name, "unknown parameter '%s': name one that this command prints, or a group:%s",
                settings->only.items[i], ip_text_string(&names));
            ip_text_fini(&names);
            return code;
        }
        *groups |= 1u << group;
    }
    return CLI_EXIT_OK;
}

/* Where the parameters go; store NULL: nowhere. */
struct destination {
    struct res_store *store;
    struct ip_text path;
    struct hx_host host;
};

static void destination_close(struct destination *to) {
    res_store_close(to->store);
    ip_text_fini(&to->path);
    hx_host_fini(&to->host);
}

static enum ip_status core_store(const struct destination *to, const struct cli_settings *settings,
                                 const struct hx_bench *bench, const struct probe_core *core, size_t kernels,
                                 struct ip_error *err) {
    const struct res_run run = cli_store_run(settings, &to->host, bench, "core");
    enum ip_status status = res_run_begin(to->store, &run, err);
    status = status == IP_OK ? res_core_put(to->store, core, err) : status;
    return status == IP_OK ? res_run_end(to->store, "finished", kernels, err) : status;
}

/* Thousands of kernels, most of them points of a sweep: one pass will do. */
static void plan_loosen(struct cli_bench *bench, const struct cli_settings *settings) {
    if (!settings->careful) {
        bench->bench.plan.passes = 1;
    }
}

static int core_conclude(const struct cli_command *command, const struct cli_settings *settings,
                         const struct probe_core_tally *tally, const char *path) {
    if (!settings->quiet && !settings->no_store) {
        cli_message(command->name, "from %zu kernels; stored in '%s'", tally->kernels, path);
    }
    if (tally->untrusted == 0) {
        return CLI_EXIT_OK;
    }
    if (!settings->quiet) {
        cli_message(command->name,
                    "%zu parameter%s or fact%s not to be trusted and left out: leave the machine idle and "
                    "try again, with --careful too, or see 'isaprobe doctor'",
                    tally->untrusted, cli_plural(tally->untrusted), tally->untrusted == 1 ? " is" : "s are");
    }
    return CLI_EXIT_UNTRUSTED;
}

static int core_run_command(const struct cli_command *command, struct cli_settings *settings) {
    unsigned groups = 0;
    if (settings->no_store && settings->store != NULL) {
        return cli_usage_error(command->name, "--store and --no-store do not go together");
    }
    int code = groups_choose(command, settings, &groups);
    struct cli_output output;
    code = code == CLI_EXIT_OK ? cli_output_open(&output, command, settings, columns) : code;
    if (code != CLI_EXIT_OK) {
        return code;
    }
    struct cli_bench bench;
    struct ip_error err = {0};
    struct destination to = {0};
    struct probe_core core = {0};
    struct probe_core_tally tally = {0};
    /* Before anything is measured: a minute's work is not lost to a store that cannot be written. */
    enum ip_status status =
        settings->no_store ? IP_OK : cli_store_open(&to.store, &to.path, &to.host, settings, &err);
    if (status != IP_OK) {
        destination_close(&to);
        return cli_output_close(&output, cli_report(command->name, &err));
    }
    status = cli_bench_open(&bench, settings, &err);
    if (status == IP_OK) {
        plan_loosen(&bench, settings);
        status = probe_core_measure(&bench.meter, &bench.bench.encoder, groups, &core, &tally, &err);
        if (status == IP_OK) {
            core_print(&output, &core); /* also where it cannot be kept */
        }
        if (status == IP_OK && to.store != NULL) {
            status = core_store(&to, settings, &bench.bench, &core, tally.kernels, &err);
        }
    }
    status = cli_bench_close(&bench, status, &err);
    if (status != IP_OK) {
        cli_interrupted_whole(command->name, settings,
                              "no parameter is printed or stored before all are measured");
    }
    code = status == IP_OK ? core_conclude(command, settings, &tally, ip_text_string(&to.path))
                           : cli_report(command->name, &err);
    probe_core_fini(&core);
    destination_close(&to);
    return cli_output_close(&output, code);
}

#define AT(field) offsetof(struct cli_settings, field)

static const struct cli_option options[] = {
    {"only", 0, "NAME", "only this parameter (rob_slots) or group (issue); may be repeated", CLI_KIND_LIST,
     AT(only), 0, 0, NULL},
    {"store", 'S', "FILE", "the store; by default that of this CPU below $XDG_DATA_HOME/isaprobe",
     CLI_KIND_FILE, AT(store), 0, 0, NULL},
    {"no-store", 0, NULL, "print only", CLI_KIND_FLAG, AT(no_store), 0, 0, NULL},
    {0},
};

const struct cli_command cli_cmd_core = {
    .name = "core",
    .summary = "measure the core's parameters: widths, buffers, caches of code, fusion, loads and stores",
    .arguments = "",
    .description =
        "Finds each parameter by an experiment and keeps it in the store, for 'isaprobe predict'. What time\n"
        "cannot show here is printed with the reason. Groups: issue eliminate after idiom micro fuse\n"
        "again move memory forward commit branch wide line front window. CSV and JSON have a row for each\n"
        "pair that was tried for fusion.\n",
    .options = options,
    .groups = CLI_GROUP_METER | CLI_GROUP_OUTPUT,
    .min_arguments = 0,
    .max_arguments = 0,
    .run = core_run_command,
};
