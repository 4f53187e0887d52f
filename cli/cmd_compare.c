/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_compare.c - what differs between two CPUs, or two scans of one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "results/compare.h"
#include "results/export.h"

#define TOLERANCE_DEFAULT 5.0   /* per cent */
enum { ARCHITECTURE_MAX = 64 }; /* bytes of a name */

static const struct cli_column difference_columns[] = {
    {.name = "isa"}, {.name = "form"}, {.name = "what"},   {.name = "operands"},
    {.name = "a"},   {.name = "b"},    {.name = "change"}, {.name = NULL},
};

static const struct cli_column class_columns[] = {
    {.name = "isa"},
    {.name = "forms"},
    {.name = "latency_compared"},
    {.name = "latency_changed"},
    {.name = "throughput_compared"},
    {.name = "throughput_changed"},
    {.name = "slower"},
    {.name = "faster"},
    {.name = "slots_compared"},
    {.name = "slots_changed"},
    {.name = "ports_compared"},
    {.name = "ports_changed"},
    {.name = NULL},
};

/* "op2:address->op1"; the whole form: no value. */
static struct cli_value pair_text(const struct res_sheet_pair *pair, char *buffer, size_t size) {
    if (pair == NULL) {
        return cli_text(NULL);
    }
    bool plain = pair->path[0] == 'r';
    (void)snprintf(buffer, size, "%s%s%s->%s", pair->src, plain ? "" : ":", plain ? "" : pair->path,
                   pair->dst);
    return cli_text(buffer);
}

static void differences_print(struct cli_output *output, const struct res_comparison *comparison) {
    for (size_t i = 0; i < comparison->count; i++) {
        const struct res_difference *difference = &comparison->differences[i];
        char operands[64];
        const struct res_row *a = difference->a, *b = difference->b;
        const struct cli_value row[] = {
            cli_text(a->extension[0] != '\0' ? a->extension : b->extension),
            cli_text(a->form[0] != '\0'   ? a->form
                     : b->form[0] != '\0' ? b->form
                                          : a->name),
            cli_text(res_aspect_name(difference->aspect)),
            pair_text(difference->pair, operands, sizeof operands),
            cli_text(difference->a_text),
            cli_text(difference->b_text),
            cli_number(difference->after - difference->before),
        };
        cli_output_row(output, row, NULL);
    }
}

static void classes_print(struct cli_output *output, const struct res_comparison *comparison) {
    for (size_t i = 0; i < comparison->class_count; i++) {
        const struct res_class_change *class = &comparison->classes[i];
        struct cli_value row[12];
        size_t used = 0;
        row[used++] = cli_text(class->extension);
        row[used++] = cli_integer((int64_t) class->forms);
        for (int aspect = 0; aspect < RES_ASPECTS; aspect++) {
            row[used++] = cli_integer((int64_t) class->compared[aspect]);
            row[used++] = cli_integer((int64_t) class->changed[aspect]);
            if (aspect == RES_ASPECT_THROUGHPUT) {
                row[used++] = cli_integer((int64_t) class->slower);
                row[used++] = cli_integer((int64_t) class->faster);
            }
        }
        cli_output_row(output, row, NULL);
    }
}

static void summary_report(const struct cli_command *command, const struct cli_settings *settings,
                           const struct res_comparison *comparison) {
    size_t compared[RES_ASPECTS] = {0}, changed[RES_ASPECTS] = {0};
    for (size_t i = 0; i < comparison->class_count; i++) {
        for (int aspect = 0; aspect < RES_ASPECTS; aspect++) {
            compared[aspect] += comparison->classes[i].compared[aspect];
            changed[aspect] += comparison->classes[i].changed[aspect];
        }
    }
    if (!settings->quiet) {
        cli_message(
            command->name,
            "%zu form%s in both, %zu only in A, %zu only in B; changed: latency %zu of %zu, throughput %zu "
            "of %zu, slots %zu of %zu, ports %zu of %zu",
            comparison->common, cli_plural(comparison->common), comparison->only_a, comparison->only_b,
            changed[0], compared[0], changed[1], compared[1], changed[2], compared[2], changed[3],
            compared[3]);
    }
}

/* Names in uops.info's notation, where only one of the sheets has forms. */
static enum ip_status names_find(struct res_sheet *a, struct res_sheet *b, struct ip_error *err) {
    bool named = false;
    for (size_t i = 0; i < a->count; i++) {
        named = named || a->rows[i].form[0] == '\0';
    }
    for (size_t i = 0; i < b->count; i++) {
        named = named || b->rows[i].form[0] == '\0';
    }
    enum ip_status status = named ? res_sheet_derive(a, err) : IP_OK;
    return status == IP_OK && named ? res_sheet_derive(b, err) : status;
}

/* Of A and of B, from "NAME" or "A,B". `text` is cut at the comma. False: there is more than one, or a name
 * is empty. */
static bool architectures_split(char *text, struct res_sheet *a, struct res_sheet *b) {
    char *comma = strchr(text, ',');
    a->architecture = b->architecture = text;
    if (comma != NULL) {
        *comma = '\0';
        b->architecture = comma + 1;
    }
    return a->architecture[0] != '\0' && b->architecture[0] != '\0' && strchr(b->architecture, ',') == NULL;
}

static int compare_run(const struct cli_command *command, struct cli_settings *settings) {
    double percent = TOLERANCE_DEFAULT;
    if (settings->tolerance != NULL) {
        percent = res_number_read(settings->tolerance);
        if (!(percent >= 0 && percent <= 100)) {
            return cli_usage_error(command->name, "--tolerance takes per cent from 0 to 100, not '%.40s'",
                                   settings->tolerance);
        }
    }
    const char *arch = settings->export.arch;
    char names[2 * ARCHITECTURE_MAX];
    struct res_sheet a = {0}, b = {0};
    if (arch != NULL) {
        (void)snprintf(names, sizeof names, "%s", arch);
        if (strlen(arch) >= sizeof names || !architectures_split(names, &a, &b)) {
            return cli_usage_error(
                command->name,
                "--arch takes a name, or that of A and that of B with a comma between, not "
                "'%.40s'",
                arch);
        }
    }
    struct cli_output output;
    int code =
        cli_output_open(&output, command, settings, settings->by_class ? class_columns : difference_columns);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    struct res_comparison comparison = {0};
    struct ip_error err = {0};
    enum ip_status status = res_sheet_read(&a, settings->arguments[0], settings->export.doubtful, &err);
    if (status == IP_OK) {
        status = res_sheet_read(&b, settings->arguments[1], settings->export.doubtful, &err);
    }
    if (status == IP_OK) {
        status = names_find(&a, &b, &err);
    }
    if (status == IP_OK) {
        struct res_tolerance tolerance = {.relative = percent / 100};
        status = res_compare(&a, &b, tolerance, &comparison, &err);
    }
    if (status == IP_OK && comparison.common == 0) {
        status = ip_fail(&err, IP_FAILED, "'%.200s' and '%.200s' have no form in common",
                         settings->arguments[0], settings->arguments[1]);
    }
    if (status == IP_OK) {
        if (settings->by_class) {
            classes_print(&output, &comparison);
        } else {
            differences_print(&output, &comparison);
        }
        summary_report(command, settings, &comparison);
    }
    code = status == IP_OK ? CLI_EXIT_OK : cli_report(command->name, &err);
    res_comparison_fini(&comparison);
    res_sheet_fini(&a);
    res_sheet_fini(&b);
    return cli_output_close(&output, code);
}

#define AT(field) offsetof(struct cli_settings, field)

static const struct cli_option options[] = {
    {"by-class", 0, NULL, "a row for each extension: how many forms were compared, and how many changed",
     CLI_KIND_FLAG, AT(by_class), 0, 0, NULL},
    {"tolerance", 0, "PERCENT", "how far two values may be apart and count as the same (5)", CLI_KIND_STRING,
     AT(tolerance), 0, 0, NULL},
    {"arch", 0, "NAME",
     "which architecture of uops.info's XML, or another file that has several (SKL; of A and B: SKL,ICL)",
     CLI_KIND_STRING, AT(export.arch), 0, 0, NULL},
    {"doubtful", 0, NULL, "also compare values of a store that are not to be trusted", CLI_KIND_FLAG,
     AT(export.doubtful), 0, 0, NULL},
    {0},
};

const struct cli_command cli_cmd_compare = {
    .name = "compare",
    .summary = "tell what differs between two stores, exports or published tables",
    .arguments = "A B",
    .description =
        "A and B are stores, files that 'isaprobe export' wrote, uops.info's XML (--arch says of which CPU), "
        "or\n"
        "its tables as CSV (columns instruction and throughput_measured, and, where they are there,\n"
        "extension, latency, slots and ports). Prints what changed from A to B in latency, throughput, issue "
        "slots and ports of\n"
        "the forms that both have.\n",
    .options = options,
    .groups = CLI_GROUP_OUTPUT,
    .min_arguments = 2,
    .max_arguments = 2,
    .file_arguments = true,
    .run = compare_run,
};
