/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_export.c - a store as a file that another analyser reads. */
#include "cli/output.h"
#include "cli/store.h"
#include "results/export.h"

static enum ip_status store_open(const struct cli_settings *settings, struct res_store **store,
                                 struct ip_error *err) {
    struct ip_text path = {0};
    enum ip_status status = cli_store_open_readonly(store, &path, settings, err);
    ip_text_fini(&path);
    return status;
}

/* What the file does not have, and why: one line. */
static void losses_report(const struct cli_command *command, const struct cli_settings *settings,
                          const struct res_sheet *sheet, const struct res_export *export) {
    if (settings->quiet) {
        return;
    }
    if (sheet->doubtful > 0) {
        cli_message(command->name, "%zu value%s not to be trusted and left out; --doubtful exports %s",
                    sheet->doubtful, sheet->doubtful == 1 ? " is" : "s are",
                    sheet->doubtful == 1 ? "it" : "them");
    }
    if (sheet->inconsistent > 0) {
        cli_message(command->name, "%zu form%s no ports: what was inferred contradicts itself",
                    sheet->inconsistent, sheet->inconsistent == 1 ? " has" : "s have");
    }
    if (sheet->ambiguous > 0) {
        cli_message(command->name,
                    "%zu form%s one of several usages of ports, and the port map leaves open which: %s",
                    sheet->ambiguous, sheet->ambiguous == 1 ? " has" : "s have",
                    settings->export.doubtful ? "the first is exported"
                                              : "they are left out; --doubtful exports the first");
    }
    if (export->merged > 0) {
        cli_message(command->name, "%zu form%s left out, because this format does not tell %s from others",
                    export->merged, export->merged == 1 ? " is" : "s are",
                    export->merged == 1 ? "it" : "them");
    }
    if (export->unnamed > 0) {
        cli_message(command->name,
                    "%zu form%s left out: this format has no name for %s, or the store not "
                    "the value that it wants",
                    export->unnamed, export->unnamed == 1 ? " is" : "s are",
                    export->unnamed == 1 ? "it" : "them");
    }
}

static int export_run(const struct cli_command *command, struct cli_settings *settings) {
    const char *arch = settings->export.arch;
    if (arch != NULL && !res_arch_is_word(arch)) {
        return cli_usage_error(command->name, "--arch takes letters, digits and + - . _, not '%.40s'", arch);
    }
    if (settings->export.exegesis != RES_EXEGESIS_LATENCY &&
        settings->export.format != RES_FORMAT_LLVM_EXEGESIS) {
        return cli_usage_error(command->name, "--exegesis-mode is of --format llvm-exegesis");
    }
    struct cli_output output;
    int code = cli_output_open(&output, command, settings, NULL);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    struct res_export export = {.format = (enum res_format)settings->export.format,
                                .exegesis = (enum res_exegesis)settings->export.exegesis,
                                .arch = settings->export.arch};
    const struct res_wanted wanted = {.queries = settings->arguments,
                                      .count = (size_t)settings->argument_count,
                                      .extensions = settings->extensions};
    struct res_store *store = NULL;
    struct res_sheet sheet = {0};
    struct ip_text text = {0};
    struct ip_error err = {0};
    enum ip_status status = store_open(settings, &store, &err);
    if (status == IP_OK) {
        status = res_sheet_of_store(&sheet, store, &wanted, settings->export.doubtful, &err);
    }
    if (status == IP_OK) {
        status = res_export_write(&sheet, &export, &text, &err);
    }
    if (status == IP_OK) {
        losses_report(command, settings, &sheet, &export);
        cli_output_raw(&output, &text);
    }
    code = status == IP_OK ? CLI_EXIT_OK : cli_report(command->name, &err);
    ip_text_fini(&text);
    res_sheet_fini(&sheet);
    res_store_close(store);
    return cli_output_close(&output, code);
}

#define AT(field) offsetof(struct cli_settings, field)

static const struct cli_option options[] = {
    {"format", 0, "FORMAT",
     "uopsinfo-xml (the default), osaca, llvm-exegesis, llvm-sched-json, maqao-lua, csv or json",
     CLI_KIND_WORD, AT(export.format), 0, 0, res_format_words},
    {"store", 'S', "FILE", "the store; by default that of this CPU below $XDG_DATA_HOME/isaprobe",
     CLI_KIND_FILE, AT(store), 0, 0, NULL},
    {"arch", 0, "NAME",
     "what the file calls the CPU (\"isaprobe\"); llvm-exegesis: LLVM's -mcpu (\"x86-64\")", CLI_KIND_STRING,
     AT(export.arch), 0, 0, NULL},
    {"exegesis-mode", 0, "MODE", "latency (the default), throughput or uops: llvm-exegesis takes one a file",
     CLI_KIND_WORD, AT(export.exegesis), 0, 0, "latency throughput uops"},
    {"doubtful", 0, NULL, "also export values that are not to be trusted", CLI_KIND_FLAG, AT(export.doubtful),
     0, 0, NULL},
    {"output", 'o', "FILE", "write the data to FILE; - is standard output, the default", CLI_KIND_OUTPUT,
     AT(output), 0, 0, NULL},
    {"quiet", 'q', NULL, "no warnings on standard error", CLI_KIND_FLAG, AT(quiet), 0, 0, NULL},
    {0},
};

const struct cli_command cli_cmd_export = {
    .name = "export",
    .summary = "write a store in the format of another analyser",
    .arguments = "[FORM]...",
    .description =
        "Writes all forms of the store that this CPU runs, or those that FORM names, for uops.info's "
        "readers\n"
        "(uiCA, OSACA's importer), OSACA, llvm-exegesis --mode=analysis, schedtool (LLVM's scheduling "
        "models),\n"
        "MAQAO CQA, or as a table. What a format cannot hold is counted on standard error; docs/exports.md "
        "has\n"
        "an example for each tool. The formats of LLVM need llvm-mc, which knows the names of its opcodes.\n",
    .options = options,
    .groups = CLI_GROUP_FORMS | CLI_GROUP_CORE,
    .max_arguments = -1,
    .run = export_run,
};
