/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_predict.c - cycles of a block from the tables, and why. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/code_input.h"
#include "cli/predict.h"
#include "cli/store.h"
#include "common/ascii.h"
#include "generator/kernel.h"
#include "isa/decode.h"
#include "isa/table.h"
#include "oncore/loop.h"
#include "oncore/oncore.h"
#include "oncore/picture.h"

static const struct cli_column bound_columns[] = {{.name = "bound"}, {.name = "cycles"}, {.name = NULL}};
static const struct cli_column port_columns[] = {{.name = "port"}, {.name = "cycles"}, {.name = NULL}};
static const struct cli_column instruction_columns[] = {
    {.name = "offset"}, {.name = "text"},   {.name = "form"}, {.name = "slots"},
    {.name = "ports"},  {.name = "source"}, {.name = "note"}, {.name = NULL},
};
static const struct cli_column link_columns[] = {
    {.name = "instruction"}, {.name = "from"}, {.name = "to"}, {.name = "cycles"}, {.name = NULL}};
static const struct cli_column missing_columns[] = {
    {.name = "offset"}, {.name = "form"}, {.name = "why"}, {.name = NULL}};
enum { BOUND_VALUES = 2, PORT_VALUES = 2, INSTRUCTION_VALUES = 7, LINK_VALUES = 4, MISSING_VALUES = 3 };

static const struct cli_column columns[] = {
    {.name = "cycles"},
    {.name = "bound"},
    {.name = "loop"},
    {.name = "slots"},
    {.name = "bottleneck"},
    {.name = "bounds", .items = bound_columns},
    {.name = "pressure", .items = port_columns},
    {.name = "instructions", .items = instruction_columns},
    {.name = "chain", .items = link_columns},
    {.name = "chain_passes"},
    {.name = "missing", .items = missing_columns},
    {.name = "status"},
    {.name = NULL},
};

/* A chain is told when it takes this part of the time. */
static const double CHAIN_SHOWN = 0.5;

struct predict {
    const struct cli_settings *settings;
    struct cli_output output;
    struct ip_text path, code;
    struct res_store *store;
    struct core_costs costs;
    struct core_prediction prediction;
    struct core_timeline timeline;
    int scan_code; /* not 0: measuring what was missing failed so, and said why */
};

static void predict_fini(struct predict *predict) {
    core_prediction_fini(&predict->prediction);
    core_timeline_fini(&predict->timeline);
    core_costs_fini(&predict->costs);
    res_store_close(predict->store);
    ip_text_fini(&predict->path);
    ip_text_fini(&predict->code);
}

/* "1*p01+1*p5"; "" for none. */
static void ports_text(const struct core_costs *costs, const struct core_instruction *instruction,
                       struct ip_text *text) {
    char names[CORE_PORTS_MAX + 1];
    const struct core_cost *cost = instruction->executed;
    for (unsigned t = 0; t < core_term_count(instruction); t++) {
        ip_text_printf(text, "%s%g*p%s", text->length > 0 ? "+" : "", cost->terms[t].uops,
                       core_ports_print(costs, core_term_ports(instruction, t), names));
    }
}

static const char *source_name(const struct core_instruction *instruction) {
    static const char *const names[] = {[CORE_SOURCE_NONE] = "none",
                                        [CORE_SOURCE_MEASURED] = "measured",
                                        [CORE_SOURCE_COMPOSED] = "composed",
                                        [CORE_SOURCE_ASSUMED] = "assumed"};
    return names[instruction->cost->source];
}

const char *cli_predict_note(const struct core_instruction *instruction) {
    if (instruction->back) {
        return "taken as not taken: an inner loop counts once";
    }
    if (instruction->fused) {
        return "fused with the one before";
    }
    if (!instruction->cost->known) {
        return "only its slot";
    }
    if (instruction->idiom) {
        return "idiom";
    }
    if (instruction->renamed) {
        return instruction->joined                    ? "in the slot of the instruction behind it"
               : instruction->cost->eliminated >= 0.0 ? "done at rename"
                                                      : "no port";
    }
    return instruction->cost->why[0] == '\0' && instruction->closed != 0 ? "512 bits close a port"
                                                                         : instruction->cost->why;
}

static const char *link_from(const struct core_link *link) {
    return link->memory ? "memory" : core_resource_name(link->from);
}

static const char *link_to(const struct core_link *link) {
    return link->to >= CORE_RESOURCES ? "memory" : core_resource_name(link->to);
}

bool cli_predict_on_chain(const struct core_prediction *prediction, size_t i) {
    for (unsigned l = 0; l < prediction->chain_count; l++) {
        if (prediction->chain[l].instruction == i) {
            return true;
        }
    }
    return false;
}

void cli_predict_words(const struct core_prediction *prediction, size_t i, char words[CLI_WORDS_MAX]) {
    const struct core_block *block = &prediction->block;
    (void)isa_disassemble_one(block->code + block->items[i].offset,
                              block->code_bytes - block->items[i].offset, block->items[i].offset, words,
                              CLI_WORDS_MAX);
}

static void listing_append(const struct predict *predict, struct ip_text *text) {
    const struct core_prediction *prediction = &predict->prediction;
    const struct core_costs *costs = &predict->costs;
    ip_text_printf(text, "\n%6s  %-40s  %5s", "offset", "instruction", "slots");
    for (unsigned p = 0; p < costs->port_count; p++) {
        ip_text_printf(text, "  %4c", costs->port_names[p]);
    }
    ip_text_append(text, "\n");
    for (size_t i = 0; i < prediction->block.count; i++) {
        const struct core_instruction *instruction = &prediction->block.items[i];
        char words[CLI_WORDS_MAX];
        cli_predict_words(prediction, i, words);
        ip_text_printf(text, "%6x %c%-40s  ", (unsigned)instruction->offset,
                       cli_predict_on_chain(prediction, i) ? '*' : ' ', words);
        if (instruction->fused) {
            ip_text_printf(text, "%5s", "-");
        } else {
            ip_text_printf(text, "%5g", instruction->slots);
        }
        for (unsigned p = 0; p < costs->port_count; p++) {
            if (prediction->shares[i][p] > 0.0) {
                ip_text_printf(text, "  %4.2f", prediction->shares[i][p]);
            } else {
                ip_text_printf(text, "  %4s", "");
            }
        }
        const char *note = cli_predict_note(instruction);
        ip_text_printf(text, "%s%s", note[0] != '\0' ? "  " : "", note);
        ip_text_trim(text);
        ip_text_append(text, "\n");
    }
    ip_text_printf(text, "%6s  %-40s  %5g", "", "all", prediction->slots);
    for (unsigned p = 0; p < costs->port_count; p++) {
        ip_text_printf(text, "  %4.2f", prediction->pressure[p]);
    }
    ip_text_append(text, "\n");
}

static void text_print(struct predict *predict) {
    const struct core_prediction *prediction = &predict->prediction;
    char names[CORE_PORTS_MAX + 1];
    struct ip_text text = {0};
    ip_text_append(&text, "cycles  ");
    cli_number_append(&text, prediction->cycles);
    ip_text_printf(&text, " in each pass%s, bound by: %s\nbounds ",
                   predict->settings->predict.loop ? " of the loop" : "",
                   core_bound_name(prediction->binding));
    for (unsigned b = 0; b < CORE_BOUNDS; b++) {
        if (!isnan(prediction->bounds[b])) {
            ip_text_printf(&text, " %s ", core_bound_name(b));
            cli_number_append(&text, prediction->bounds[b]);
            if (b == CORE_BOUND_PORTS && prediction->bottleneck != 0) {
                ip_text_printf(&text, " (p%s)",
                               core_ports_print(&predict->costs, prediction->bottleneck, names));
            }
        }
    }
    ip_text_append(&text, "\n");
    if (prediction->chain_count > 0 &&
        prediction->bounds[CORE_BOUND_CHAIN] >= CHAIN_SHOWN * prediction->cycles) {
        ip_text_append(&text, "chain  ");
        for (unsigned l = 0; l < prediction->chain_count; l++) {
            const struct core_link *link = &prediction->chain[l];
            char words[CLI_WORDS_MAX];
            cli_predict_words(prediction, link->instruction, words);
            ip_text_printf(&text, "%s %s -> %s (+%g, %s)", l > 0 ? ";" : "", link_from(link), link_to(link),
                           round(100.0 * link->cycles) / 100.0, words);
        }
        if (prediction->chain_passes > 1) {
            ip_text_printf(&text, "; in %u passes", prediction->chain_passes);
        }
        ip_text_append(&text, "\n");
    }
    listing_append(predict, &text);
    if (predict->timeline.passes > 0) {
        cli_timeline_draw(&predict->costs, prediction, &predict->timeline, &text);
    }
    cli_output_raw(&predict->output, &text);
    ip_text_fini(&text);
}

/* Values of the lists; `texts` keeps their strings. */
struct lists {
    struct cli_value bounds[CORE_BOUNDS * BOUND_VALUES], ports[CORE_PORTS_MAX * PORT_VALUES];
    struct cli_value links[CORE_CHAIN_MAX * LINK_VALUES], missing[CORE_MISSING_MAX * MISSING_VALUES];
    struct cli_value *instructions; /* owned */
    struct ip_lines texts;
};

/* Keeps a string; borrowed from the list, which does not move its items' text. */
static const char *keep(struct lists *lists, const char *text) {
    ip_lines_add(&lists->texts, text);
    return lists->texts.failed ? "" : lists->texts.items[lists->texts.count - 1];
}

static void instruction_values(const struct predict *predict, struct lists *lists, size_t i) {
    const struct core_instruction *instruction = &predict->prediction.block.items[i];
    struct cli_value *to = lists->instructions + i * INSTRUCTION_VALUES;
    struct ip_text ports = {0};
    char words[CLI_WORDS_MAX];
    cli_predict_words(&predict->prediction, i, words);
    ports_text(&predict->costs, instruction, &ports);
    const char *note = cli_predict_note(instruction);
    to[0] = cli_integer(instruction->offset);
    to[1] = cli_text(keep(lists, words));
    to[2] = cli_text(instruction->cost->form.syntax);
    to[3] = cli_number(instruction->fused ? 0.0 : instruction->slots);
    to[4] = cli_text(ports.length > 0 ? keep(lists, ip_text_string(&ports)) : NULL);
    to[5] = cli_text(source_name(instruction));
    to[6] = cli_text(note[0] != '\0' ? note : NULL);
    ip_text_fini(&ports);
}

static void row_print(struct predict *predict, const char *status) {
    const struct core_prediction *prediction = &predict->prediction;
    struct lists *lists = calloc(1, sizeof *lists);
    if (lists != NULL) {
        lists->instructions =
            calloc(prediction->block.count * INSTRUCTION_VALUES, sizeof *lists->instructions);
    }
    if (lists == NULL || lists->instructions == NULL) {
        predict->output.failed = true;
        free(lists);
        return;
    }
    size_t bounds = 0;
    for (unsigned b = 0; b < CORE_BOUNDS; b++) {
        if (!isnan(prediction->bounds[b])) {
            lists->bounds[BOUND_VALUES * bounds] = cli_text(core_bound_name(b));
            lists->bounds[BOUND_VALUES * bounds++ + 1] = cli_number(prediction->bounds[b]);
        }
    }
    for (unsigned p = 0; p < predict->costs.port_count; p++) {
        char name[2] = {predict->costs.port_names[p], '\0'};
        lists->ports[PORT_VALUES * p] = cli_text(keep(lists, name));
        lists->ports[PORT_VALUES * p + 1] = cli_number(prediction->pressure[p]);
    }
    for (size_t i = 0; i < prediction->block.count; i++) {
        instruction_values(predict, lists, i);
    }
    for (unsigned l = 0; l < prediction->chain_count; l++) {
        const struct core_link *link = &prediction->chain[l];
        struct cli_value *to = &lists->links[LINK_VALUES * l];
        to[0] = cli_integer(link->instruction);
        to[1] = cli_text(link_from(link));
        to[2] = cli_text(link_to(link));
        to[3] = cli_number(link->cycles);
    }
    size_t missing =
        prediction->missing_count < CORE_MISSING_MAX ? prediction->missing_count : CORE_MISSING_MAX;
    for (size_t m = 0; m < missing; m++) {
        const struct core_instruction *instruction = &prediction->block.items[prediction->missing[m]];
        lists->missing[MISSING_VALUES * m] = cli_integer(instruction->offset);
        lists->missing[MISSING_VALUES * m + 1] = cli_text(instruction->cost->form.syntax);
        lists->missing[MISSING_VALUES * m + 2] = cli_text(instruction->cost->why);
    }
    char names[CORE_PORTS_MAX + 1];
    const char *bottleneck = core_ports_print(&predict->costs, prediction->bottleneck, names);
    const struct cli_value row[] = {
        cli_number(prediction->cycles),
        cli_text(core_bound_name(prediction->binding)),
        cli_bool(predict->settings->predict.loop),
        cli_number(prediction->slots),
        cli_text(bottleneck[0] != '\0' ? bottleneck : NULL),
        cli_list(lists->bounds, bounds),
        cli_list(lists->ports, predict->costs.port_count),
        cli_list(lists->instructions, prediction->block.count),
        cli_list(lists->links, prediction->chain_count),
        cli_integer(prediction->chain_passes),
        cli_list(lists->missing, missing),
        cli_text(status),
    };
    predict->output.failed = predict->output.failed || lists->texts.failed;
    cli_output_row(&predict->output, row, NULL);
    ip_lines_fini(&lists->texts);
    free(lists->instructions);
    free(lists);
}

/* NASM says "instruction expected" of a word that is none: say which are near. */
static enum ip_status nearest_name(const char *source, enum ip_status status, struct ip_error *err) {
    const char *colon = strrchr(err->place, ':');
    unsigned line = colon != NULL ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
    const char *at = source;
    if (status != IP_SYNTAX || line == 0 || at == NULL) {
        return status;
    }
    for (unsigned i = 1; i < line && *at != '\0'; at++) {
        i += *at == ';' || *at == '\n';
    }
    at += strspn(at, " \t");
    char word[ISA_MNEMONIC_MAX] = "";
    size_t length = 0;
    while (length + 1 < sizeof word && ip_ascii_is_alnum(at[length])) {
        word[length] = ip_ascii_lower(at[length]);
        length++;
    }
    struct isa_table table = {0};
    struct ip_error reason = {0}, ignored = {0};
    size_t *positions = NULL, count = 0;
    if (length > 0 && isa_table_builtin_add(&table, &ignored) == IP_OK &&
        isa_table_select(&table, word, &positions, &count, &reason) == IP_USAGE) {
        char place[sizeof err->place];
        (void)snprintf(place, sizeof place, "%s", err->place);
        *err = reason;
        err->status = status;
        (void)snprintf(err->place, sizeof err->place, "%s", place);
    }
    free(positions);
    isa_table_fini(&table);
    return status;
}

static enum ip_status store_open(struct predict *predict, struct ip_error *err) {
    enum ip_status status = cli_store_open_readonly(&predict->store, &predict->path, predict->settings, err);
    if (status == IP_OK && !predict->settings->predict.measure) {
        status = res_forms_need(predict->store, err);
    }
    return status;
}

static enum ip_status run_model(struct predict *predict, struct ip_error *err) {
    const struct core_options options = {
        .loop = predict->settings->predict.loop,
        .timeline = predict->settings->predict.timeline > 0 ? &predict->timeline : NULL,
        .timeline_passes = (unsigned)predict->settings->predict.timeline};
    enum ip_status status = core_costs_open(&predict->costs, predict->store, err);
    if (status == IP_OK) {
        status = core_predict(&predict->costs, (const uint8_t *)ip_text_string(&predict->code),
                              predict->code.length, &options, &predict->prediction, err);
    }
    return status;
}

/* Measures what is missing into the store, as `scan` does but under this command's name, and predicts again.
 */
static enum ip_status missing_measure(struct predict *predict, struct ip_error *err) {
    struct core_prediction *prediction = &predict->prediction;
    char *forms[CORE_MISSING_MAX];
    int count = 0;
    for (unsigned m = 0; m < prediction->missing_count && m < CORE_MISSING_MAX; m++) {
        const char *form = prediction->block.items[prediction->missing[m]].cost->form.syntax;
        bool known = false;
        for (int i = 0; i < count; i++) {
            known = known || strcmp(forms[i], form) == 0;
        }
        if (!known) {
            forms[count] = strdup(form);
            if (forms[count] == NULL) {
                while (count > 0) {
                    free(forms[--count]);
                }
                return ip_fail(err, IP_NO_MEMORY, "out of memory for %u forms", prediction->missing_count);
            }
            count++;
        }
    }
    struct cli_settings scan = *predict->settings;
    scan.arguments = forms;
    scan.argument_count = count;
    scan.parts = "latency,throughput,ports";
    scan.list = NULL;
    scan.store = ip_text_string(&predict->path);
    core_prediction_fini(prediction);
    core_costs_fini(&predict->costs);
    res_store_close(predict->store);
    predict->store = NULL;
    struct cli_command command = cli_cmd_scan;
    command.name = cli_cmd_predict.name;
    predict->scan_code = command.run(&command, &scan);
    for (int i = 0; i < count; i++) {
        free(forms[i]);
    }
    if (predict->scan_code != CLI_EXIT_OK && predict->scan_code != CLI_EXIT_UNTRUSTED) {
        return ip_fail(err, IP_FAILED, "the missing forms could not be measured"); /* why, that has said */
    }
    predict->scan_code = CLI_EXIT_OK;
    enum ip_status status = res_store_open_readonly(&predict->store, ip_text_string(&predict->path), err);
    return status == IP_OK ? run_model(predict, err) : status;
}

/* Of what the store has no ports at all, a pass of the block cannot be told by them. */
static bool lacks_ports(const struct core_prediction *prediction) {
    return isnan(prediction->bounds[CORE_BOUND_PORTS]);
}

static void missing_report(const struct predict *predict) {
    const struct core_prediction *prediction = &predict->prediction;
    if (lacks_ports(prediction) && prediction->assumed_count > 0) {
        cli_message("predict",
                    "the store has ports of none of these forms: how they share them is not predicted; "
                    "'isaprobe scan --parts ports' adds them");
    }
    if (prediction->open_count > 0) {
        cli_message("predict",
                    "of the ports of %u instruction%s the port map leaves open which of several they are: "
                    "the first count, and with others the block may take another time",
                    prediction->open_count, cli_plural(prediction->open_count));
    }
    for (unsigned m = 0; m < prediction->missing_count && m < CORE_MISSING_MAX; m++) {
        const struct core_instruction *instruction = &prediction->block.items[prediction->missing[m]];
        char more[40] = "";
        unsigned before = 0, all = 0;
        for (unsigned i = 0; i < prediction->missing_count && i < CORE_MISSING_MAX; i++) {
            bool same = prediction->block.items[prediction->missing[i]].cost == instruction->cost;
            before += same && i < m;
            all += same;
        }
        if (before > 0) {
            continue; /* told */
        }
        if (all > 1) {
            (void)snprintf(more, sizeof more, " (and %u more)", all - 1);
        }
        const struct isa_form *form = &instruction->cost->form;
        const bool measurable = form->obstacle == ISA_OBSTACLE_NONE && !predict->settings->predict.measure;
        cli_message("predict", "of '%s' at offset %u%s only the issue slot counts: %s%s", form->syntax,
                    (unsigned)instruction->offset, more, instruction->cost->why,
                    measurable ? " (--measure measures it)" : "");
    }
    if (prediction->missing_count > CORE_MISSING_MAX) {
        cli_message("predict", "and %u more", prediction->missing_count - CORE_MISSING_MAX);
    }
}

static enum ip_status picture_write(const struct predict *predict, struct ip_error *err) {
    const char *path = predict->settings->predict.svg;
    struct ip_text svg = {0};
    char title[96];
    (void)snprintf(title, sizeof title, "%zu instructions, %zu bytes%s", predict->prediction.block.count,
                   predict->code.length, predict->settings->predict.loop ? ", a loop" : "");
    core_picture_write(&predict->costs, &predict->prediction, title, &svg);
    enum ip_status status = IP_OK;
    errno = 0;
    FILE *file = svg.failed ? NULL : fopen(path, "w");
    if (svg.failed) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for the picture");
    } else if (file == NULL) {
        status = ip_fail_errno(err, ip_refusal_or(errno, IP_IO), errno, "cannot write '%.200s'", path);
    } else {
        bool failed = fwrite(svg.data, 1, svg.length, file) != svg.length;
        if (fclose(file) != 0 || failed) {
            status = ip_fail_errno(err, ip_refusal_or(errno, IP_IO), errno, "cannot write '%.200s'", path);
        }
    }
    ip_text_fini(&svg);
    return status;
}

static int predict_run(const struct cli_command *command, struct cli_settings *settings) {
    struct predict predict = {.settings = settings};
    if (settings->record != NULL && !settings->predict.measure) {
        return cli_usage_error(command->name, "without --measure there are no samples to --record");
    }
    int code = cli_output_open(&predict.output, command, settings,
                               settings->predict.timeline > 0 ? cli_timeline_columns : columns);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    struct ip_error err = {0};
    enum ip_status status = cli_code_read(&predict.code, settings, &err);
    if (status == IP_SYNTAX && settings->predict.syntax == CLI_SYNTAX_NASM && settings->argument_count > 0) {
        status = nearest_name(settings->arguments[0], status, &err);
    }
    if (status == IP_OK && settings->predict.loop) {
        status = core_loop_close(&predict.code, &err);
    }
    if (status == IP_OK) {
        status = store_open(&predict, &err);
    }
    if (status == IP_OK) {
        status = run_model(&predict, &err);
    }
    if (status == IP_OK && predict.prediction.missing_count > 0 && settings->predict.measure) {
        status = missing_measure(&predict, &err);
    }
    if (status == IP_OK && settings->predict.timeline > 0) {
        status = cli_timeline_check(&predict.costs, &predict.timeline, (unsigned)settings->predict.timeline,
                                    settings->quiet, &err);
    }
    if (status == IP_OK && settings->predict.svg != NULL) {
        status = picture_write(&predict, &err);
    }
    if (status == IP_OK) {
        bool partial = predict.prediction.missing_count > 0;
        if (!settings->quiet) {
            missing_report(&predict);
        }
        if (settings->format == CLI_FORMAT_TEXT) {
            text_print(&predict);
        } else if (settings->predict.timeline > 0) {
            cli_timeline_rows(&predict.output, &predict.costs, &predict.prediction, &predict.timeline);
        } else {
            row_print(&predict, partial ? "partial" : "ok");
        }
        code = partial ? CLI_EXIT_UNTRUSTED : CLI_EXIT_OK;
    } else {
        code = predict.scan_code != CLI_EXIT_OK ? predict.scan_code : cli_report(command->name, &err);
    }
    predict_fini(&predict);
    return cli_output_close(&predict.output, code);
}

#define AT(field) offsetof(struct cli_settings, field)

static const struct cli_option options[] = {
    {"store", 'S', "FILE", "the tables; by default the store of this CPU below $XDG_DATA_HOME/isaprobe",
     CLI_KIND_FILE, AT(store), 0, 0, NULL},
    {"measure", 'm', NULL, "measure forms that the store lacks, now, and keep them there", CLI_KIND_FLAG,
     AT(predict.measure), 0, 0, NULL},
    {"svg", 0, "FILE", "draw the bounds, the ports' pressure and the critical chain", CLI_KIND_OUTPUT,
     AT(predict.svg), 0, 0, NULL},
    {"timeline", 0, "N", "what each instruction does in which cycle, of the first N passes of the simulation",
     CLI_KIND_NUMBER, AT(predict.timeline), 1, CORE_PASSES_MAX, NULL},
    {0},
};

const struct cli_command cli_cmd_predict = {
    .name = "predict",
    .summary = "predict a block's cycles from the tables, with every bound and the bottleneck",
    .arguments = "[BLOCK]",
    .description =
        "BLOCK is text with ';' between instructions ('imul rax, rbx; add rax, rcx'), or - for text from\n"
        "standard input. Nothing is run. Data is taken to be in the L1 cache, and branches to be predicted.\n"
        "Of forms that the store lacks only the issue slot counts (exit status 4). It is filled by 'isaprobe "
        "scan\n"
        "--parts latency,throughput,slots,ports' and 'isaprobe core'.\n",
    .options = options,
    .groups = CLI_GROUP_CODE | CLI_GROUP_METER | CLI_GROUP_OUTPUT,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = predict_run,
};
