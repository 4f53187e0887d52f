/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_validate.c - predictions against measurements, and against llvm-mca's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/output.h"
#include "cli/replace.h"
#include "cli/store.h"
#include "cli/validate.h"
#include "common/clock.h"
#include "oncore/oncore.h"

enum { WORST_DEFAULT = 10 };

static const struct cli_column class_columns[] = {
    {.name = "up_to_percent"}, {.name = "blocks"}, {.name = NULL}};
static const struct cli_column apart_columns[] = {{.name = "why"}, {.name = "blocks"}, {.name = NULL}};
static const struct cli_column worst_columns[] = {
    {.name = "line"},  {.name = "block"},  {.name = "predicted"}, {.name = "measured"},
    {.name = "error"}, {.name = "reason"}, {.name = NULL}};
enum { CLASS_VALUES = 2, APART_VALUES = 2, WORST_VALUES = 6 };

static const struct cli_column columns[] = {
    {.name = "notion"},
    {.name = "predictor"},
    {.name = "blocks"},
    {.name = "predicted"},
    {.name = "compared"},
    {.name = "mape"},
    {.name = "tau"},
    {.name = "tau_b"},
    {.name = "bias"},
    {.name = "histogram", .items = class_columns},
    {.name = "apart", .items = apart_columns},
    {.name = "worst", .items = worst_columns},
    {.name = NULL},
};

static const struct cli_column block_columns[] = {
    {.name = "line"},  {.name = "block"},    {.name = "notion"}, {.name = "predicted"},
    {.name = "bound"}, {.name = "measured"}, {.name = "spread"}, {.name = "error"},
    {.name = "mca"},   {.name = "class"},    {.name = "status"}, {.name = NULL},
};

struct validate {
    struct cli_settings *settings;
    struct cli_output output;
    struct cli_samples samples;
    struct ip_text store_path;
    bool mca;
    char mca_version[64];
    double predict_seconds;
    size_t predictions;
};

static bool notion_wanted(const struct validate *validate, enum cli_notion notion) {
    return cli_notion_wanted(validate->settings, notion);
}

static enum ip_status all_predict(struct validate *validate, struct ip_error *err) {
    double begin_s = ip_clock_seconds();
    enum ip_status status = cli_samples_predict(&validate->samples, validate->settings,
                                                ip_text_string(&validate->store_path), err);
    validate->predict_seconds = ip_clock_seconds() - begin_s;
    for (unsigned n = 0; n < CLI_NOTIONS; n++) {
        validate->predictions += notion_wanted(validate, n) ? validate->samples.count : 0;
    }
    return status;
}

/* What is measured here is predicted of this CPU. */
static enum ip_status store_check(const struct validate *validate, struct ip_error *err) {
    const char *path = ip_text_string(&validate->store_path);
    struct res_store *store = NULL;
    enum ip_status status = res_store_open_readonly(&store, path, err);
    if (status == IP_OK) {
        status = cli_store_same_machine(store, path, validate->settings, err);
    }
    res_store_close(store);
    return status;
}

static enum ip_status all_measure(struct validate *validate, struct ip_error *err) {
    struct cli_settings *settings = validate->settings;
    enum ip_status status = IP_OK;
    if (settings->validate.measured != NULL) {
        status = cli_measurements_read(&validate->samples, settings->validate.measured, err);
    }
    if (status == IP_OK && settings->validate.keep != NULL) { /* before hours of measuring */
        status = cli_replacement_try(settings->validate.keep, err);
    }
    /* Else --keep would put next to nothing in the place of what --measured names. */
    const bool whole = status == IP_OK;
    bool todo = false;
    for (size_t i = 0; i < validate->samples.count; i++) {
        for (unsigned n = 0; n < CLI_NOTIONS; n++) {
            const struct cli_case *item = &validate->samples.items[i].cases[n];
            todo = todo || (notion_wanted(validate, n) && (!item->done || item->once));
        }
    }
    const bool measuring = todo && !settings->validate.no_measure;
    if (status == IP_OK && measuring) {
        status = store_check(validate, err);
    }
    if (status == IP_OK && measuring) {
        struct cli_bench bench;
        status = cli_bench_open(&bench, settings, err);
        for (unsigned n = 0; n < CLI_NOTIONS && status == IP_OK; n++) {
            status =
                notion_wanted(validate, n) ? cli_samples_measure(&validate->samples, n, &bench, err) : IP_OK;
        }
        status = cli_bench_close(&bench, status, err);
    }
    /* Also of what was interrupted: --measured goes on from there. */
    struct ip_error keep_err = {0};
    if (settings->validate.keep != NULL && whole) {
        size_t kept = 0;
        enum ip_status keep =
            cli_measurements_write(&validate->samples, settings->validate.keep, &kept, &keep_err);
        if (keep != IP_OK && status == IP_OK) {
            *err = keep_err;
            status = keep;
        } else if (keep == IP_OK && kept == 0 && cli_signal() != 0 && !settings->quiet) {
            cli_message("validate", "interrupted: nothing was measured yet, and '%s' is as it was",
                        settings->validate.keep);
        } else if (keep == IP_OK && cli_signal() != 0 && !settings->quiet) {
            cli_message("validate", "interrupted: %zu measurement%s in '%s'; --measured goes on from there",
                        kept, cli_plural(kept), settings->validate.keep);
        }
    }
    return status;
}

/* NaN: there is no prediction of all of the block. */
static double predicted_of(const struct cli_case *item) {
    return item->broken || item->missing ? NAN : item->predicted;
}

/* In this order: what is said of a block is the first that is true. */
static void classify(struct cli_case *item) {
    if (isnan(predicted_of(item))) {
        item->apart = CLI_APART_UNPREDICTED;
    } else if (isnan(item->measured)) {
        item->apart = strncmp(item->status, "disturbed", 9) == 0 ? CLI_APART_UNSTABLE : CLI_APART_UNMEASURED;
    } else if (strncmp(item->status, "ok", 2) != 0) {
        item->apart = CLI_APART_UNSTABLE;
    } else if (item->splits) {
        item->apart = CLI_APART_SPLIT;
    } else if (item->walks) {
        item->apart = CLI_APART_PAGES;
    } else if (item->x87) {
        item->apart = CLI_APART_DENORMAL;
    } else {
        item->apart = CLI_APART_NOT;
    }
}

static double error_of(const struct cli_case *item) {
    return (predicted_of(item) - item->measured) / item->measured;
}

/* What a case is compared for: the index into the samples, so that qsort can sort by error. */
struct ranked {
    double error;
    size_t sample;
};

static int compare_ranked(const void *a, const void *b) {
    double x = ((const struct ranked *)a)->error, y = ((const struct ranked *)b)->error;
    return x > y ? -1 : x < y;
}

/* The likely reason of a large error, from what is known of the block. */
static const char *reason_of(const struct cli_case *item, char buffer[160]) {
    if (item->why != NULL) {
        return item->why;
    }
    (void)snprintf(buffer, 160, "%s by '%s'%s",
                   item->predicted > item->measured ? "too slow, bound" : "too fast, bound",
                   item->bound >= 0 ? core_bound_name((enum core_bound)item->bound) : "-",
                   item->spread > 0.03 ? "; the measurement spreads" : "");
    return buffer;
}

struct verdict {
    struct cli_agreement agreement;
    size_t predicted;
};

/* `mca`: llvm-mca's predictions instead of ours. */
static struct verdict judge(const struct validate *validate, enum cli_notion notion, bool mca, bool all,
                            double *predicted, double *measured) {
    struct verdict verdict = {0};
    for (size_t i = 0; i < validate->samples.count; i++) {
        const struct cli_case *item = &validate->samples.items[i].cases[notion];
        double value = mca ? item->mca : predicted_of(item);
        bool runs_apart = item->apart == CLI_APART_SPLIT || item->apart == CLI_APART_PAGES ||
                          item->apart == CLI_APART_DENORMAL;
        bool counts = item->apart == CLI_APART_NOT || (all && runs_apart);
        verdict.predicted += !isnan(value);
        predicted[i] = counts ? value : NAN;
        measured[i] = counts ? item->measured : NAN;
    }
    verdict.agreement = cli_agreement_find(predicted, measured, validate->samples.count);
    return verdict;
}

struct report {
    struct cli_value classes[CLI_HISTOGRAM * CLASS_VALUES], aparts[CLI_APARTS * APART_VALUES];
    struct cli_value *worst; /* owned */
    struct ip_lines texts;   /* of `worst` */
    size_t aparts_count, worst_count;
};

static void worst_find(const struct validate *validate, enum cli_notion notion, struct report *report) {
    size_t limit =
        validate->settings->validate.worst > 0 ? (size_t)validate->settings->validate.worst : WORST_DEFAULT;
    struct ranked *ranked = calloc(validate->samples.count + 1, sizeof *ranked);
    report->worst = calloc(limit * WORST_VALUES + 1, sizeof *report->worst);
    if (ranked == NULL || report->worst == NULL) {
        report->texts.failed = true;
        free(ranked);
        return;
    }
    size_t count = 0;
    for (size_t i = 0; i < validate->samples.count; i++) {
        const struct cli_case *item = &validate->samples.items[i].cases[notion];
        if (item->apart == CLI_APART_NOT) {
            ranked[count++] = (struct ranked){fabs(error_of(item)), i};
        }
    }
    qsort(ranked, count, sizeof *ranked, compare_ranked);
    for (size_t k = 0; k < count && k < limit; k++) {
        const struct cli_sample *sample = &validate->samples.items[ranked[k].sample];
        const struct cli_case *item = &sample->cases[notion];
        char buffer[160];
        ip_lines_add(&report->texts, reason_of(item, buffer));
        if (report->texts.failed) {
            break;
        }
        struct cli_value *row = report->worst + k * WORST_VALUES;
        row[0] = cli_integer(sample->line);
        row[1] = cli_text(sample->hex);
        row[2] = cli_number(item->predicted);
        row[3] = cli_number(item->measured);
        row[4] = cli_number(100.0 * error_of(item));
        row[5] = cli_text(report->texts.items[k]);
        report->worst_count++;
    }
    free(ranked);
}

static void text_report(struct ip_text *text, const struct validate *validate, enum cli_notion notion,
                        const struct verdict *ours, const struct verdict *all, const struct verdict *mca,
                        const struct report *report) {
    double total = (double)validate->samples.count;
    ip_text_printf(text, "%s: %zu block%s, %zu predicted (%.1f %%), %zu compared\n", cli_notion_name(notion),
                   validate->samples.count, cli_plural(validate->samples.count), ours->predicted,
                   100.0 * ours->predicted / total, ours->agreement.count);
    ip_text_printf(text, "  %-14s  %8s  %7s  %7s  %7s  %7s\n", "predictor", "compared", "MAPE %", "tau",
                   "tau-b", "bias %");
    const struct {
        const char *name;
        const struct verdict *verdict;
    } lines[] = {{"isaprobe", ours}, {"isaprobe, all", all}, {validate->mca_version, mca}};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (lines[i].verdict != NULL && lines[i].verdict->agreement.count > 0) {
            const struct cli_agreement *a = &lines[i].verdict->agreement;
            ip_text_printf(text, "  %-14s  %8zu  %7.2f  %7.4f  %7.4f  %7.2f\n", lines[i].name, a->count,
                           a->mape, a->tau, a->tau_b, a->bias);
        }
    }
    ip_text_append(text, "  |error| up to  ");
    for (unsigned c = 0; c < CLI_HISTOGRAM; c++) {
        if (isfinite(cli_histogram_ends[c])) {
            ip_text_printf(text, "  %.0f%%: %zu", cli_histogram_ends[c], ours->agreement.histogram[c]);
        } else {
            ip_text_printf(text, "  more: %zu", ours->agreement.histogram[c]);
        }
    }
    ip_text_append(text, "\n  apart           ");
    for (size_t a = 0; a < report->aparts_count; a++) {
        ip_text_printf(text, " %s: %lld ", report->aparts[APART_VALUES * a].text,
                       (long long)report->aparts[APART_VALUES * a + 1].integer);
    }
    ip_text_append(text, "\n");
    for (size_t k = 0; k < report->worst_count; k++) {
        const struct cli_value *row = report->worst + k * WORST_VALUES;
        ip_text_printf(text, "  %s%6lld  %8.2f  %8.2f  %+8.1f %%  %-40.40s%s  %s\n",
                       k == 0 ? "worst: line, predicted, measured, error, block, why\n  " : "",
                       (long long)row[0].integer, row[2].number, row[3].number, row[4].number, row[1].text,
                       strlen(row[1].text) > 40 ? "..." : "", row[5].text);
    }
}

static void row_report(struct cli_output *output, const char *notion, const char *predictor, size_t blocks,
                       const struct verdict *verdict, const struct report *report) {
    struct cli_value classes[CLI_HISTOGRAM * CLASS_VALUES];
    for (unsigned c = 0; c < CLI_HISTOGRAM; c++) {
        classes[CLASS_VALUES * c] = cli_number(cli_histogram_ends[c]);
        classes[CLASS_VALUES * c + 1] = cli_integer((int64_t)verdict->agreement.histogram[c]);
    }
    const struct cli_value row[] = {
        cli_text(notion),
        cli_text(predictor),
        cli_integer((int64_t)blocks),
        cli_integer((int64_t)verdict->predicted),
        cli_integer((int64_t)verdict->agreement.count),
        cli_number(verdict->agreement.mape),
        cli_number(verdict->agreement.tau),
        cli_number(verdict->agreement.tau_b),
        cli_number(verdict->agreement.bias),
        cli_list(classes, CLI_HISTOGRAM),
        cli_list(report->aparts, report->aparts_count),
        cli_list(report->worst, report->worst_count),
    };
    cli_output_row(output, row, NULL);
}

static void notion_report(struct validate *validate, enum cli_notion notion, struct ip_text *text) {
    double *predicted = calloc(2 * validate->samples.count + 2, sizeof *predicted);
    struct report report = {0};
    if (predicted == NULL) {
        validate->output.failed = true;
        return;
    }
    double *measured = predicted + validate->samples.count;
    for (unsigned a = 0; a < CLI_APARTS; a++) {
        size_t blocks = 0;
        for (size_t i = 0; i < validate->samples.count; i++) {
            blocks += validate->samples.items[i].cases[notion].apart == a;
        }
        report.aparts[APART_VALUES * report.aparts_count] = cli_text(cli_apart_name(a));
        report.aparts[APART_VALUES * report.aparts_count++ + 1] = cli_integer((int64_t)blocks);
    }
    worst_find(validate, notion, &report);
    struct verdict ours = judge(validate, notion, false, false, predicted, measured);
    struct verdict all = judge(validate, notion, false, true, predicted, measured);
    struct verdict mca = judge(validate, notion, true, false, predicted, measured);
    if (validate->settings->format == CLI_FORMAT_TEXT) {
        text_report(text, validate, notion, &ours, &all, validate->mca ? &mca : NULL, &report);
    } else {
        row_report(&validate->output, cli_notion_name(notion), "isaprobe", validate->samples.count, &ours,
                   &report);
        if (validate->mca) {
            report.worst_count = 0;
            row_report(&validate->output, cli_notion_name(notion), validate->mca_version,
                       validate->samples.count, &mca, &report);
        }
    }
    validate->output.failed = validate->output.failed || report.texts.failed;
    ip_lines_fini(&report.texts);
    free(report.worst);
    free(predicted);
}

static void blocks_report(struct validate *validate) {
    for (size_t i = 0; i < validate->samples.count; i++) {
        for (unsigned n = 0; n < CLI_NOTIONS; n++) {
            const struct cli_sample *sample = &validate->samples.items[i];
            const struct cli_case *item = &sample->cases[n];
            if (!notion_wanted(validate, n)) {
                continue;
            }
            bool bound = item->bound >= 0 && !isnan(predicted_of(item));
            const struct cli_value row[] = {
                cli_integer(sample->line),
                cli_text(sample->hex),
                cli_text(cli_notion_name(n)),
                cli_number(predicted_of(item)),
                cli_text(bound ? core_bound_name((enum core_bound)item->bound) : NULL),
                cli_number(item->measured),
                cli_number(isnan(item->measured) ? NAN : item->spread), /* of no number there is none */
                cli_number(100.0 * error_of(item)),
                cli_number(item->mca),
                cli_text(cli_apart_name(item->apart)),
                cli_text(item->why != NULL         ? item->why
                         : item->status[0] != '\0' ? item->status
                                                   : NULL),
            };
            cli_output_row(&validate->output, row, NULL);
        }
    }
}

static bool mca_unwanted(const struct cli_settings *settings) {
    return settings->validate.mca != NULL && strcmp(settings->validate.mca, "none") == 0;
}

static enum ip_status mca_run(struct validate *validate, struct ip_error *err) {
    const struct cli_validate *given = &validate->settings->validate;
    enum ip_status status = IP_OK;
    if (mca_unwanted(validate->settings)) {
        return IP_OK;
    }
    for (unsigned n = 0; n < CLI_NOTIONS && status == IP_OK; n++) {
        if (notion_wanted(validate, n)) {
            status = cli_mca_run(&validate->samples, n, given->mca, given->mca_cpu, &validate->mca,
                                 validate->mca_version, err);
        }
    }
    return status;
}

static enum ip_status validate_all(struct validate *validate, struct ip_error *err) {
    const struct cli_settings *settings = validate->settings;
    enum ip_status status = cli_samples_read(&validate->samples, settings->arguments[0],
                                             settings->validate.sample, settings->validate.seed, err);
    if (status == IP_OK) {
        status = cli_store_find(&validate->store_path, validate->settings, err);
    }
    if (status == IP_OK) {
        status = all_measure(validate, err);
    }
    if (status == IP_OK) {
        status = all_predict(validate, err);
    }
    if (status == IP_OK) {
        status = mca_run(validate, err);
    }
    if (status != IP_OK) {
        return status;
    }
    struct ip_text text = {0};
    for (unsigned n = 0; n < CLI_NOTIONS; n++) {
        for (size_t i = 0; i < validate->samples.count; i++) {
            classify(&validate->samples.items[i].cases[n]);
        }
        if (notion_wanted(validate, n) && !settings->validate.blocks) {
            notion_report(validate, n, &text);
        }
    }
    if (settings->validate.blocks) {
        blocks_report(validate);
    } else if (settings->format == CLI_FORMAT_TEXT) {
        cli_output_raw(&validate->output, &text);
    }
    ip_text_fini(&text);
    if (!settings->quiet) {
        cli_message("validate", "%zu prediction%s in %.3f s: %.0f a second", validate->predictions,
                    cli_plural(validate->predictions), validate->predict_seconds,
                    (double)validate->predictions / validate->predict_seconds);
    }
    return IP_OK;
}

static int validate_run(const struct cli_command *command, struct cli_settings *settings) {
    struct validate validate = {.settings = settings};
    if (settings->validate.no_measure && settings->validate.keep != NULL &&
        settings->validate.measured == NULL) {
        return cli_usage_error(command->name,
                               "with --no-measure and without --measured there is nothing to --keep");
    }
    if (settings->validate.no_measure && settings->record != NULL) {
        return cli_usage_error(command->name, "with --no-measure there are no samples to --record");
    }
    if (settings->validate.mca_cpu != NULL && mca_unwanted(settings)) {
        return cli_usage_error(command->name, "--mca-cpu is of llvm-mca, which --mca none leaves out");
    }
    int code = cli_output_open(&validate.output, command, settings,
                               settings->validate.blocks ? block_columns : columns);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    struct ip_error err = {0};
    enum ip_status status = validate_all(&validate, &err);
    code = status == IP_OK ? CLI_EXIT_OK : cli_report(command->name, &err);
    ip_text_fini(&validate.store_path);
    cli_samples_fini(&validate.samples);
    return cli_output_close(&validate.output, code);
}

#define AT(field) offsetof(struct cli_settings, field)

static const struct cli_option options[] = {
    {"store", 'S', "FILE", "the tables; by default the store of this CPU below $XDG_DATA_HOME/isaprobe",
     CLI_KIND_FILE, AT(store), 0, 0, NULL},
    {"notion", 'n', "WHICH", "both (the default), unrolled (copies of the block in a row) or loop",
     CLI_KIND_WORD, AT(validate.notion), 0, 0, "both unrolled loop"},
    {"sample", 0, "PERCENT", "only so many of the blocks, chosen at random", CLI_KIND_NUMBER,
     AT(validate.sample), 1, 100, NULL},
    {"seed", 0, "N", "of that choice", CLI_KIND_NUMBER, AT(validate.seed), 0, 1000000000, NULL},
    {"no-measure", 0, NULL, "measure nothing: only predict, and compare with what --measured has",
     CLI_KIND_FLAG, AT(validate.no_measure), 0, 0, NULL},
    {"measured", 0, "FILE", "take measurements from this CSV; only what it lacks is measured", CLI_KIND_FILE,
     AT(validate.measured), 0, 0, NULL},
    {"keep", 0, "FILE", "write all measurements to this CSV, those read, too, for --measured",
     CLI_KIND_OUTPUT, AT(validate.keep), 0, 0, NULL},
    {"closed", 0, NULL, "only the closed forms, without the simulation", CLI_KIND_FLAG, AT(validate.closed),
     0, 0, NULL},
    {"blocks", 'b', NULL, "a row for each block instead of the summary", CLI_KIND_FLAG, AT(validate.blocks),
     0, 0, NULL},
    {"worst", 'w', "N", "so many of the worst blocks (10)", CLI_KIND_NUMBER, AT(validate.worst), 1, 100000,
     NULL},
    {"mca", 0, "PROGRAM", "llvm-mca to compare with; by default the newest on PATH, none: leave it out",
     CLI_KIND_STRING, AT(validate.mca), 0, 0, NULL},
    {"mca-cpu", 0, "NAME", "its -mcpu (native)", CLI_KIND_STRING, AT(validate.mca_cpu), 0, 0, NULL},
    {0},
};

const struct cli_command cli_cmd_validate = {
    .name = "validate",
    .summary = "predict and measure many blocks: how far off, and which are worst",
    .arguments = "FILE",
    .description =
        "FILE has a block of hex digits a line, or in the first column of CSV; - is standard input. Each is\n"
        "predicted from the store and measured, as copies in a row and as a loop. Blocks that do not run, "
        "whose\n"
        "measurement is unstable, whose accesses cross cache lines, or that are x87 code are told apart.\n",
    .options = options,
    .groups = CLI_GROUP_METER | CLI_GROUP_OUTPUT,
    .min_arguments = 1,
    .max_arguments = 1,
    .file_arguments = true,
    .run = validate_run,
};
