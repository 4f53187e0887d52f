/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/forms.h"
#include "cli/kernels.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "generator/control.h"
#include "generator/shapes.h"
#include "probe/output.h"
#include "probe/slots.h"
#include "probe/throughput.h"

enum { CHUNK = 64 }; /* forms between two progress lines */

static const struct cli_column columns[] = {
    {.name = "form"},
    {.name = "isa", .text_hidden = true},
    {.name = "throughput"},
    {.name = "spread", .text_hidden = true},
    {.name = "slots"},
    {.name = "registers", .text_hidden = true},
    {.name = "how"},
    {.name = "slow_cycles", .text_hidden = true},
    {.name = "output_cycles", .text_hidden = true},
    {.name = "status"},
    {.name = NULL},
};

/* NULL: not measured. */
static void form_row(struct cli_output *output, const struct isa_form *form,
                     const struct probe_throughput *result, const struct probe_slots *slots,
                     const struct probe_output *waiting, const char *status) {
    bool measured = result != NULL && result->measured;
    double slots_number = slots != NULL && slots->measured ? slots->slots : NAN;
    const struct cli_value row[] = {
        cli_text(form->syntax),
        cli_text(form->extension),
        cli_number(measured ? result->cycles : NAN),
        cli_number(measured ? result->spread : NAN),
        cli_number(slots_number),
        measured ? cli_integer(result->registers) : cli_text(NULL),
        cli_text(measured ? result->how : NULL),
        cli_number(measured ? result->slow_cycles : NAN),
        cli_number(waiting != NULL && waiting->waits ? waiting->cycles : NAN),
        cli_text(status),
    };
    /* For people the slots are rounded. */
    char rounded[CLI_SLOTS_MAX];
    struct ip_text throughput = {0};
    struct ip_lines cells = {0};
    cli_number_append(&throughput, measured ? result->cycles : NAN);
    if (measured && isfinite(result->slow_cycles)) {
        ip_text_append(&throughput, " (slow ");
        cli_number_append(&throughput, result->slow_cycles);
        ip_text_append(&throughput, ")");
    }
    if (waiting != NULL && waiting->waits) {
        ip_text_append(&throughput, " (one destination ");
        cli_number_append(&throughput, waiting->cycles);
        ip_text_append(&throughput, ")");
    }
    ip_lines_add(&cells, form->syntax);
    ip_lines_add(&cells, ip_text_string(&throughput));
    ip_lines_add(&cells, cli_slots_text(slots_number, rounded));
    ip_lines_add(&cells, measured ? result->how : "");
    ip_lines_add(&cells, status);
    cells.failed = cells.failed || throughput.failed;
    ip_text_fini(&throughput);
    cli_output_row(output, row, &cells);
    ip_lines_fini(&cells);
}

/* The kernels that --registers and --unroll describe, instead of the probe's choice. */
static enum ip_status given_measure(struct cli_bench *bench, const struct cli_settings *settings,
                                    struct isa_form *const *forms, size_t count,
                                    struct probe_throughput *results, struct ip_error *err) {
    struct cli_kernels kernels;
    enum ip_status status = cli_kernels_init(&kernels, count, err);
    for (size_t i = 0; status == IP_OK && i < count; i++) {
        struct gen_independence how = {.registers = (unsigned)settings->registers};
        long instances = settings->unroll != 0 ? settings->unroll : settings->registers;
        status =
            gen_form_needs_target(forms[i])
                ? ip_fail(err, IP_UNSUPPORTED,
                          "'%s' has a unit of its own: leave --registers and --unroll away", forms[i]->syntax)
                : gen_throughput_program(&kernels.programs[i], forms[i], &how, (unsigned)instances, err);
        status = cli_kernels_note(&kernels, i, status, err);
    }
    if (status == IP_OK) {
        /* A given unroll factor is the number of instances in the loop: the short kernel has the unit once.
         */
        status = cli_kernels_measure(&kernels, bench, settings->unroll != 0 ? 1 : 0, err);
    }
    for (size_t i = 0; status == IP_OK && i < count; i++) {
        const struct hx_stat *stat = &kernels.stats[i];
        struct probe_throughput *result = &results[i];
        memset(result, 0, sizeof *result);
        result->measured = stat->verdict != HX_VERDICT_FAULT;
        result->cycles = stat->cycles;
        result->spread = stat->spread;
        result->plain_cycles = result->slow_cycles = NAN;
        /* There may be fewer than were asked for, and what has no choice writes always the same. */
        unsigned used = kernels.usable[i] ? kernels.programs[i].registers : 0;
        result->registers = used > 0 ? used : 1;
        result->verdict = stat->verdict;
        memcpy(result->how, "as given", sizeof "as given");
        memcpy(result->why, stat->why, sizeof result->why);
    }
    cli_kernels_fini(&kernels);
    return status;
}

/* The forms of a chunk that can be measured, and what came of them. */
struct chunk {
    struct isa_form *forms[CHUNK];
    struct probe_throughput throughputs[CHUNK];
    struct probe_slots slots[CHUNK];
    struct probe_output outputs[CHUNK];
    size_t count;
};

static enum ip_status chunk_measure(struct cli_bench *bench, const struct cli_settings *settings,
                                    struct chunk *chunk, struct ip_error *err) {
    if (settings->registers != 0 || settings->unroll != 0) {
        return given_measure(bench, settings, chunk->forms, chunk->count, chunk->throughputs, err);
    }
    enum ip_status status = probe_throughput_measure(&bench->meter, &bench->bench.encoder, chunk->forms,
                                                     chunk->count, chunk->throughputs, err);
    if (status == IP_OK) {
        status = probe_outputs_measure(&bench->meter, &bench->bench.encoder, chunk->forms, chunk->throughputs,
                                       chunk->count, chunk->outputs, err);
    }
    return status == IP_OK ? probe_slots_measure(&bench->meter, &bench->bench.encoder, chunk->forms,
                                                 chunk->throughputs, chunk->count, chunk->slots, err)
                           : status;
}

static void result_print(struct cli_output *output, struct cli_tally *tally, const struct isa_form *form,
                         const struct probe_throughput *throughput, const struct probe_slots *slots,
                         const struct probe_output *waiting) {
    char buffer[160], text[160 + 8];
    enum hx_verdict verdict = throughput->verdict;
    const char *status = cli_status_text(throughput->measured, verdict, throughput->why, buffer);
    if (throughput->measured && verdict == HX_VERDICT_OK && slots->measured &&
        slots->verdict != HX_VERDICT_OK) {
        verdict = slots->verdict;
        (void)snprintf(text, sizeof text, "slots %s", cli_status_text(true, verdict, slots->why, buffer));
        status = text;
    }
    cli_tally_add(tally, throughput->measured, verdict);
    form_row(output, form, throughput, slots, waiting, status);
}

static enum ip_status chunk_run(struct cli_bench *bench, const struct cli_settings *settings,
                                struct cli_forms *forms, size_t from, size_t count, struct cli_output *output,
                                struct cli_tally *tally, struct ip_error *err) {
    struct chunk *chunk = calloc(1, sizeof *chunk);
    if (chunk == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", count);
    }
    for (size_t i = 0; i < count; i++) {
        if (forms->items[from + i]->obstacle == ISA_OBSTACLE_NONE) {
            chunk->forms[chunk->count++] = forms->items[from + i];
        }
    }
    enum ip_status status = chunk->count > 0 ? chunk_measure(bench, settings, chunk, err) : IP_OK;
    size_t next = 0;
    for (size_t i = 0; status == IP_OK && i < count; i++) {
        const struct isa_form *form = forms->items[from + i];
        char buffer[160];
        const char *obstacle = cli_form_obstacle(form, buffer);
        if (obstacle != NULL) {
            cli_tally_add(tally, false, HX_VERDICT_FAULT);
            form_row(output, form, NULL, NULL, NULL, obstacle);
            continue;
        }
        result_print(output, tally, form, &chunk->throughputs[next], &chunk->slots[next],
                     &chunk->outputs[next]);
        next++;
    }
    free(chunk);
    return status;
}

static int throughput_run(const struct cli_command *command, struct cli_settings *settings) {
    return cli_measure_forms(command, settings, columns, CHUNK, chunk_run);
}

#define AT(field) offsetof(struct cli_settings, field)

static const struct cli_option options[] = {
    {"registers", 'r', "N", "so many independent chains instead of the best of several (1: always the same)",
     CLI_KIND_NUMBER, AT(registers), 1, 32, NULL},
    {"unroll", 'u', "N", "so many instances in the loop (and twice as many, for the difference)",
     CLI_KIND_NUMBER, AT(unroll), 1, 4096, NULL},
    {0},
};

const struct cli_command cli_cmd_throughput = {
    .name = "throughput",
    .summary = "measure the reciprocal throughput and the issue slots of a form",
    .arguments = "FORM...",
    .description =
        "Prints core cycles per instance when many independent ones run: the minimum over several numbers "
        "of\n"
        "register chains; and how many issue slots (fused-domain uops) an instance takes. 'one destination': "
        "the\n"
        "form waits for the register that it only writes. With --registers or --unroll the slots are not\n"
        "measured. FORM is a mnemonic in any case, a pattern with *\n"
        "and ?, or a quoted syntax.\n",
    .options = options,
    .groups = CLI_GROUP_METER | CLI_GROUP_TABLE | CLI_GROUP_OUTPUT,
    .min_arguments = 1,
    .max_arguments = -1,
    .run = throughput_run,
};
