/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/forms.h"
#include "cli/output.h"
#include "cli/pair_words.h"
#include "isa/decode.h"
#include "probe/pair.h"

static const struct cli_column columns[] = {
    {.name = "form"},
    {.name = "with"},
    {.name = "sharing"},
    {.name = "shared_ports", .text_hidden = true},
    {.name = "union_ports", .text_hidden = true},
    {.name = "form_ports", .text_hidden = true},
    {.name = "with_ports", .text_hidden = true},
    {.name = "form_cycles"},
    {.name = "with_cycles"},
    {.name = "form_count", .text_hidden = true},
    {.name = "with_count", .text_hidden = true},
    {.name = "together_cycles"},
    {.name = "disjoint_cycles"},
    {.name = "shared_cycles"},
    {.name = "spread", .text_hidden = true},
    {.name = "issue_limited", .text_hidden = true},
    {.name = "shared_least", .text_hidden = true},
    {.name = "shared_most", .text_hidden = true},
    {.name = "interleaving", .text_hidden = true},
    {.name = "why"},
    {.name = "status"},
    {.name = NULL},
};

static const char *sharing_name(enum probe_sharing sharing) {
    static const char *const names[] = {[PROBE_SHARING_NONE] = "none",
                                        [PROBE_SHARING_SOME] = "some",
                                        [PROBE_SHARING_ALL] = "all",
                                        [PROBE_SHARING_UNKNOWN] = "unknown"};
    return names[sharing];
}

static struct cli_value width_value(double width) {
    return width > 0 ? cli_number(width) : cli_text(NULL);
}

static void pair_row(struct cli_output *output, const struct isa_form *a, const struct isa_form *b,
                     const struct probe_pair *pair, struct cli_tally *tally) {
    char words[48], buffer[160];
    bool measured = pair->verdict != HX_VERDICT_FAULT;
    bool bounded = pair->verdict == HX_VERDICT_OK && probe_pair_widths_known(pair);
    cli_tally_add(tally, measured, pair->verdict);
    const char *sharing = !measured                           ? ""
                          : output->format == CLI_FORMAT_TEXT ? cli_pair_sharing(pair, words, sizeof words)
                                                              : sharing_name(pair->sharing);
    const struct cli_value row[] = {
        cli_text(a->syntax),
        cli_text(b->syntax),
        cli_text(sharing),
        bounded && pair->sharing != PROBE_SHARING_UNKNOWN ? cli_number(pair->shared_width) : cli_text(NULL),
        width_value(pair->union_width),
        width_value(pair->sides[0].width),
        width_value(pair->sides[1].width),
        cli_number(measured ? pair->sides[0].cycles : NAN),
        cli_number(measured ? pair->sides[1].cycles : NAN),
        cli_integer(pair->sides[0].count),
        cli_integer(pair->sides[1].count),
        cli_number(measured ? pair->together_cycles : NAN),
        cli_number(measured ? pair->expected_disjoint_cycles : NAN),
        cli_number(measured ? pair->expected_shared_cycles : NAN),
        cli_number(measured ? pair->spread : NAN),
        cli_bool(pair->issue_limited),
        bounded ? cli_number(pair->shared_least) : cli_text(NULL),
        bounded ? cli_number(pair->shared_most) : cli_text(NULL),
        cli_text(pair->drawing),
        cli_text(measured && pair->verdict == HX_VERDICT_OK ? pair->why : ""),
        cli_text(cli_status_text(measured, pair->verdict, pair->why, buffer)),
    };
    cli_output_row(output, row, NULL);
}

/* Every form of the first argument with every form of the second. */
static enum ip_status pairs_run(struct cli_bench *bench, struct cli_forms *forms, size_t first_count,
                                struct cli_output *output, struct cli_tally *tally, struct ip_error *err) {
    size_t total = first_count * (forms->count - first_count), done = 0;
    for (size_t i = 0; i < first_count; i++) {
        for (size_t j = first_count; j < forms->count; j++) {
            const struct isa_form *a = forms->items[i], *b = forms->items[j];
            struct probe_pair pair = {.verdict = HX_VERDICT_FAULT, .sharing = PROBE_SHARING_UNKNOWN};
            const struct isa_form *bad = a->obstacle != ISA_OBSTACLE_NONE ? a : b;
            char buffer[160];
            if (cli_form_obstacle(bad, buffer) != NULL) {
                (void)snprintf(pair.why, sizeof pair.why, "%.60s: %.60s", bad->mnemonic,
                               bad->note[0] != '\0' ? bad->note : "cannot be measured");
            } else {
                enum ip_status status =
                    probe_pair_measure(&bench->meter, &bench->bench.encoder, a, b, &pair, err);
                if (status != IP_OK) {
                    return status;
                }
            }
            bool in_words = total == 1 && output->format == CLI_FORMAT_TEXT && pair.verdict == HX_VERDICT_OK;
            if (in_words) {
                struct ip_text text = {0};
                cli_pair_words(&text, a->syntax, b->syntax, &pair);
                cli_tally_add(tally, true, pair.verdict);
                cli_output_raw(output, &text);
                ip_text_fini(&text);
            } else {
                pair_row(output, a, b, &pair, tally);
            }
            cli_bench_progress(bench, "pairs", ++done, total);
        }
    }
    return IP_OK;
}

/* The forms of both arguments in one list; *first_count of them belong to the first. A form may be paired
 * with itself, so the second list is selected on its own. */
static enum ip_status pairs_select(struct cli_forms *forms, const struct cli_settings *settings,
                                   size_t *first_count, struct ip_error *err) {
    enum ip_status status = cli_forms_load(forms, settings, err);
    if (status == IP_OK) {
        status = cli_forms_select(forms, settings->arguments[0], 0, err);
    }
    if (status == IP_OK) {
        *first_count = forms->count;
        status = cli_forms_select(forms, settings->arguments[1], forms->count, err);
    }
    return status == IP_OK ? isa_forms_derive(forms->items, forms->count, err) : status;
}

static int pair_run(const struct cli_command *command, struct cli_settings *settings) {
    struct cli_output output;
    int code = cli_output_open(&output, command, settings, columns);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    struct cli_forms forms = {0};
    struct cli_bench bench;
    struct cli_tally tally = {0};
    struct ip_error err = {0};
    size_t first_count = 0;
    enum ip_status status = pairs_select(&forms, settings, &first_count, &err);
    if (status == IP_OK) {
        status = cli_bench_open(&bench, settings, &err);
        if (status == IP_OK) {
            status = pairs_run(&bench, &forms, first_count, &output, &tally, &err);
        }
        status = cli_bench_close(&bench, status, &err);
    }
    cli_interrupted(command->name, settings, tally.measured + tally.missing,
                    first_count * (forms.count - first_count), "pairs");
    code = status == IP_OK ? cli_tally_exit(&tally, settings, command->name, "pairs")
                           : cli_report(command->name, &err);
    cli_forms_fini(&forms);
    return cli_output_close(&output, code);
}

const struct cli_command cli_cmd_pair = {
    .name = "pair",
    .summary = "find out whether two forms share execution ports",
    .arguments = "FORM FORM",
    .description = "Runs the two interleaved in proportion to their throughputs, and where they seem to "
                   "share ports a few\n"
                   "of one beside many of the other, and says whether they share no port, some or all, with "
                   "the numbers\n"
                   "behind it and the order of the instances. A FORM that names several forms is paired form "
                   "by form, in\n"
                   "a table.\n",
    .groups = CLI_GROUP_METER | CLI_GROUP_TABLE | CLI_GROUP_OUTPUT,
    .min_arguments = 2,
    .max_arguments = 2,
    .run = pair_run,
};
