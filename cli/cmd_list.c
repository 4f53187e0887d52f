/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/coverage.h"
#include "cli/output.h"
#include "cli/selection.h"
#include "isa/decode.h"

static const struct cli_column plain_columns[] = {
    {.name = "form"},
    {.name = "isa"},
    {.name = NULL},
};

static const struct cli_column operand_columns[] = {
    {.name = "operand"},
    {.name = "action"},
    {.name = "implicit"},
    {.name = NULL},
};
enum { OPERAND_VALUES = 3 };

static const struct cli_column verbose_columns[] = {
    {.name = "form"},
    {.name = "isa"},
    {.name = "isa_set", .text_hidden = true},
    {.name = "operands", .items = operand_columns},
    {.name = "status", .text_hidden = true},
    {.name = NULL},
};

static const struct cli_column count_columns[] = {
    {.name = "forms"},
    {.name = NULL},
};

static const char *action_name(const struct isa_operand *operand) {
    bool conditional = operand->cond_read || operand->cond_write;
    if (operand->read && operand->write) {
        return conditional ? "read-write if" : "read-write";
    }
    if (operand->write) {
        return conditional ? "write if" : "write";
    }
    if (operand->read) {
        return conditional ? "read if" : "read";
    }
    return "none";
}

static void verbose_row(struct cli_output *output, const struct isa_form *form) {
    struct cli_value values[ISA_OPERANDS_MAX * OPERAND_VALUES];
    char names[ISA_OPERANDS_MAX][16];
    struct ip_lines cells = {0};
    struct ip_text operands = {0};
    char buffer[160];
    const char *obstacle = cli_form_obstacle(form, buffer);
    for (unsigned i = 0; i < form->operand_count; i++) {
        const char *name = isa_operand_name(form, i, names[i]);
        const char *action = action_name(&form->operands[i]);
        values[i * OPERAND_VALUES] = cli_text(name);
        values[i * OPERAND_VALUES + 1] = cli_text(action);
        values[i * OPERAND_VALUES + 2] = cli_bool(form->operands[i].implicit);
        ip_text_printf(&operands, "%s%s %s", i > 0 ? ", " : "", name, action);
    }
    ip_lines_add(&cells, form->syntax);
    ip_lines_add(&cells, form->extension);
    ip_lines_add(&cells, ip_text_string(&operands));
    if (obstacle != NULL) {
        ip_lines_add(&cells, obstacle);
    }
    cells.failed = cells.failed || operands.failed;
    ip_text_fini(&operands);
    const struct cli_value row[] = {cli_text(form->syntax), cli_text(form->extension),
                                    cli_text(form->isa_set), cli_list(values, form->operand_count),
                                    cli_text(obstacle != NULL ? obstacle : "ok")};
    cli_output_row(output, row, &cells);
    ip_lines_fini(&cells);
}

/* Without a query: the whole table. In the order of the queries, as scan's are not. */
static enum ip_status forms_choose(struct cli_forms *forms, const struct cli_settings *settings,
                                   struct ip_error *err) {
    enum ip_status status = cli_forms_load(forms, settings, err);
    for (int i = 0; status == IP_OK && i < settings->argument_count; i++) {
        status = cli_forms_select(forms, settings->arguments[i], 0, err);
    }
    if (status == IP_OK && settings->argument_count == 0) {
        status = cli_forms_select(forms, "*", 0, err);
    }
    if (status == IP_OK) {
        status = cli_selection_keep(forms, settings, err);
    }
    if (status == IP_OK && (settings->verbose || settings->coverage)) {
        status = isa_forms_derive(forms->items, forms->count, err);
    }
    return status;
}

static int list_run(const struct cli_command *command, struct cli_settings *settings) {
    if (settings->store != NULL && !settings->coverage) {
        return cli_usage_error(command->name, "--store goes with --coverage: the tables are in the program");
    }
    if (settings->verbose + settings->count + settings->coverage > 1) {
        return cli_usage_error(command->name, "of --verbose, --count and --coverage only one can be had");
    }
    struct cli_output output;
    int code = cli_output_open(&output, command, settings,
                               settings->count      ? count_columns
                               : settings->coverage ? cli_coverage_columns
                               : settings->verbose  ? verbose_columns
                                                    : plain_columns);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    struct cli_forms forms = {0};
    struct ip_error err = {0};
    if (forms_choose(&forms, settings, &err) != IP_OK) {
        code = cli_report(command->name, &err);
    } else if (settings->count) {
        const struct cli_value row[] = {cli_integer((int64_t)forms.count)};
        cli_output_row(&output, row, NULL);
    } else if (settings->coverage) {
        if (cli_coverage_write(&output, &forms, settings, &err) != IP_OK) {
            code = cli_report(command->name, &err);
        }
    } else {
        for (size_t i = 0; i < forms.count; i++) {
            const struct isa_form *form = forms.items[i];
            if (settings->verbose) {
                verbose_row(&output, form);
            } else {
                const struct cli_value row[] = {cli_text(form->syntax), cli_text(form->extension)};
                cli_output_row(&output, row, NULL);
            }
        }
    }
    cli_forms_fini(&forms);
    return cli_output_close(&output, code);
}

static const struct cli_option options[] = {
    {"verbose", 'v', NULL, "also what happens to each operand, implicit ones included", CLI_KIND_FLAG,
     offsetof(struct cli_settings, verbose), 0, 0, NULL},
    {"count", 'n', NULL, "print only how many forms there are", CLI_KIND_FLAG,
     offsetof(struct cli_settings, count), 0, 0, NULL},
    {"coverage", 'c', NULL,
     "for each extension: forms known, runnable here, measured; and why others are not", CLI_KIND_FLAG,
     offsetof(struct cli_settings, coverage), 0, 0, NULL},
    {"store", 'S', "FILE", "with --coverage: the store; by default that of this CPU", CLI_KIND_FILE,
     offsetof(struct cli_settings, store), 0, 0, NULL},
    {0},
};

const struct cli_command cli_cmd_list = {
    .name = "list",
    .summary = "list the instruction forms in the tables",
    .arguments = "[FORM]...",
    .description =
        "Without FORM: all of them. FORM is a mnemonic in any case, a pattern with * and ? (\"vadd*\", or\n"
        "with a blank of whole forms: \"lock *\"), or a quoted syntax; with alternatives\n"
        "(\"addpd xmm, xmm/m128\") it names all of them.\n",
    .options = options,
    .groups = CLI_GROUP_FORMS | CLI_GROUP_CORE | CLI_GROUP_TABLE | CLI_GROUP_OUTPUT,
    .min_arguments = 0,
    .max_arguments = -1,
    .run = list_run,
};
