/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/forms.h"
#include "cli/latency_given.h"
#include "cli/links.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "probe/latency.h"

enum { CHUNK = 64 }; /* forms between two progress lines */

static const struct cli_column pair_columns[] = {
    {.name = "src"},
    {.name = "dst"},
    {.name = "path"},
    {.name = "cycles"},
    {.name = "bound"},
    {.name = "spread"},
    {.name = "via"},
    {.name = "chained_cycles"},
    {.name = "same_register_cycles"},
    {.name = "slow_cycles"},
    {.name = "why"},
    {.name = NULL},
};
enum { PAIR_VALUES = 11 };

static const struct cli_column columns[] = {
    {.name = "form"},
    {.name = "isa", .text_hidden = true},
    {.name = "latency", .items = pair_columns},
    {.name = "status", .text_hidden = true},
    {.name = NULL},
};

/* When every batch was void there is a verdict and nothing more. */
static bool has_number(const struct probe_latency_pair *pair) {
    return pair->measured && (pair->verdict == HX_VERDICT_OK || isfinite(pair->spread));
}

struct pair_names {
    char src[16], dst[16];
};

/* NaN: it is no other latency. */
static double differs(double cycles, double from) {
    return fabs(cycles - from) >= PROBE_LATENCY_SAME_CYCLES ? cycles : NAN;
}

/* " (slow 12.00)" */
static void remark_append(struct ip_text *text, const char *word, double cycles) {
    if (isfinite(cycles)) {
        ip_text_printf(text, " (%s ", word);
        cli_number_append(text, cycles);
        ip_text_append(text, ")");
    }
}

/* "op2:address->op1 <=5.00", "op2->op1 3.00 (to itself 2.00)" */
static void pair_cell(struct ip_lines *cells, const struct probe_latency_pair *pair,
                      const struct pair_names *names, bool utf8) {
    struct ip_text text = {0};
    ip_text_printf(&text, "%s%s%s->%s ", names->src, pair->path != PROBE_PATH_REGISTER ? ":" : "",
                   pair->path != PROBE_PATH_REGISTER ? probe_path_name(pair->path) : "", names->dst);
    if (has_number(pair) && pair->upper_bound) {
        ip_text_append(&text, utf8 ? "\xe2\x89\xa4" : "<=");
    }
    if (pair->independent) {
        ip_text_append(&text, "none");
    } else {
        cli_number_append(&text, has_number(pair) ? pair->cycles : NAN);
    }
    if (pair->measured && pair->verdict != HX_VERDICT_OK) {
        ip_text_append(&text, "?");
    }
    remark_append(&text, "to itself", differs(pair->chained_cycles, pair->cycles));
    remark_append(&text, "same register", differs(pair->same_register_cycles, pair->cycles));
    remark_append(&text, "slow", pair->slow_cycles);
    ip_lines_add(cells, ip_text_string(&text));
    cells->failed = cells->failed || text.failed;
    ip_text_fini(&text);
}

/* The form's own status: that of its least trustworthy pair, or why there is none; `none`: why there are no
 * pairs. */
static const char *form_status(const struct probe_latency *latency, const char *none, struct cli_tally *tally,
                               char *buffer) {
    const struct probe_latency_pair *best = NULL, *worst = NULL;
    for (size_t i = 0; i < latency->count; i++) {
        const struct probe_latency_pair *pair = &latency->pairs[i];
        if (pair->measured && best == NULL) {
            best = pair;
        }
        if (hx_verdict_is_noise(pair->verdict)) {
            worst = pair;
        }
    }
    const struct probe_latency_pair *told = worst != NULL ? worst : best;
    cli_tally_add(tally, best != NULL, told != NULL ? told->verdict : HX_VERDICT_FAULT);
    if (told != NULL) {
        return cli_status_text(best != NULL, told->verdict, told->why, buffer);
    }
    const char *why = latency->count == 0 ? none : "";
    for (size_t i = 0; i < latency->count && why[0] == '\0'; i++) {
        why = latency->pairs[i].why;
    }
    return cli_status_text(false, HX_VERDICT_FAULT, why, buffer);
}

static void form_row(struct cli_output *output, const struct isa_form *form,
                     const struct probe_latency *latency, const char *status, bool quiet_pairs) {
    struct cli_value *values = calloc(latency->count * PAIR_VALUES + 1, sizeof *values);
    struct pair_names *names = calloc(latency->count + 1, sizeof *names);
    struct ip_lines cells = {0};
    if (values == NULL || names == NULL) {
        output->failed = true;
        free(values);
        free(names);
        return;
    }
    ip_lines_add(&cells, form->syntax);
    for (size_t i = 0; i < latency->count; i++) {
        const struct probe_latency_pair *pair = &latency->pairs[i];
        isa_operand_name(form, (unsigned)pair->src, names[i].src);
        isa_operand_name(form, (unsigned)pair->dst, names[i].dst);
        struct cli_value *value = values + i * PAIR_VALUES;
        value[0] = cli_text(names[i].src);
        value[1] = cli_text(names[i].dst);
        value[2] = cli_text(probe_path_name(pair->path));
        value[3] = cli_number(has_number(pair) ? pair->cycles : NAN);
        value[4] = cli_text(probe_latency_bound(pair));
        value[5] = cli_number(pair->measured ? pair->spread : NAN);
        value[6] = cli_text(pair->via);
        value[7] = cli_number(pair->chained_cycles);
        value[8] = cli_number(pair->same_register_cycles);
        value[9] = cli_number(pair->slow_cycles);
        value[10] = cli_text(pair->why);
        if (!quiet_pairs || pair->measured) {
            pair_cell(&cells, pair, &names[i], output->utf8);
        }
    }
    if (strcmp(status, "ok") != 0) {
        ip_lines_add(&cells, status);
    }
    struct cli_value row[] = {cli_text(form->syntax), cli_text(form->extension),
                              cli_list(values, latency->count), cli_text(status)};
    cli_output_row(output, row, &cells);
    free(values);
    free(names);
}

/* Measures forms[0..count), those with an obstacle left out, and prints their rows in order. */
static enum ip_status chunk_run(struct cli_bench *bench, const struct cli_settings *settings,
                                struct cli_forms *forms, size_t from, size_t count, struct cli_output *output,
                                struct cli_tally *tally, struct ip_error *err) {
    struct isa_form *chosen[CHUNK];
    struct probe_latency results[CHUNK];
    memset(results, 0, sizeof results);
    size_t chosen_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (forms->items[from + i]->obstacle == ISA_OBSTACLE_NONE) {
            chosen[chosen_count++] = forms->items[from + i];
        }
    }
    const bool given = settings->registers != 0 || settings->unroll != 0;
    if (chosen_count > 0) {
        enum ip_status status =
            given ? cli_latency_given(bench, settings, chosen, chosen_count, results, err)
                  : probe_latency_measure(&bench->meter, &bench->bench.encoder, &forms->table, chosen,
                                          chosen_count, results, err);
        if (status != IP_OK) {
            return status;
        }
    }
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        const struct isa_form *form = forms->items[from + i];
        static const struct probe_latency nothing;
        char buffer[160];
        const char *obstacle = cli_form_obstacle(form, buffer);
        if (obstacle != NULL) {
            cli_tally_add(tally, false, HX_VERDICT_FAULT);
            form_row(output, form, &nothing, obstacle, true);
            continue;
        }
        const char *none =
            given && cli_links_any(form)
                ? "its chains need a second instruction, which --registers and --unroll leave out"
                : "no operand depends on another";
        const char *status = form_status(&results[next], none, tally, buffer);
        form_row(output, form, &results[next], status, strncmp(status, "not ", 4) == 0);
        probe_latency_fini(&results[next]);
        next++;
    }
    return IP_OK;
}

static int latency_run(const struct cli_command *command, struct cli_settings *settings) {
    return cli_measure_forms(command, settings, columns, CHUNK, chunk_run);
}

#define AT(field) offsetof(struct cli_settings, field)

static const struct cli_option options[] = {
    {"registers", 'r', "N", "so many registers in turn (1: always the same); only chains without a transfer",
     CLI_KIND_NUMBER, AT(registers), 1, 32, NULL},
    {"unroll", 'u', "N",
     "so many rounds in the loop (and twice as many, for the difference); only such chains, too",
     CLI_KIND_NUMBER, AT(unroll), 1, 4096, NULL},
    {0},
};

const struct cli_command cli_cmd_latency = {
    .name = "latency",
    .summary = "measure the latency of every operand pair of a form",
    .arguments = "FORM...",
    .description =
        "FORM is a mnemonic in any case (ADDPD: all its forms), a pattern with * and ? (\"vadd*\", or with\n"
        "a blank of whole forms: \"lock *\"), or a quoted syntax (\"add r64, imm32\"). Each pair src->dst\n"
        "has the core cycles from the source operand to the destination operand; <= marks an upper bound,\n"
        "? a value that is not to be trusted. Of a memory operand, op2:address is the way through its\n"
        "address, op2:content through what is stored there; none is a pair whose result does not depend on\n"
        "its source, - one that could not be measured (--format json says why).\n",
    .options = options,
    .groups = CLI_GROUP_METER | CLI_GROUP_TABLE | CLI_GROUP_OUTPUT,
    .min_arguments = 1,
    .max_arguments = -1,
    .run = latency_run,
};
