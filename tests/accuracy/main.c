/* SPDX-License-Identifier: Apache-2.0 */
/* accuracy - compares what isaprobe measures on this CPU with a published table (docs/accuracy.md).
 *
 *   accuracy [--timer TIMER] [--differences FILE] [--rows GROUP]... [--sample N] [--seconds N] [--all]
 *            [--form SYNTAX] [--wide FILE] REFERENCE.csv
 *   accuracy --ports [--sample N] [--repeat N] [--store FILE] [--wide FILE] [...] REFERENCE.csv
 *
 * Exit: 0 compared (or the reference is not there: says so), 1 failed, 2 usage, 3 this host cannot measure.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/meter.h"
#include "isa/table.h"
#include "probe/latency.h"
#include "probe/slots.h"
#include "probe/throughput.h"
#include "tests/accuracy/compare.h"
#include "tests/accuracy/options.h"
#include "tests/accuracy/ports.h"
#include "tests/accuracy/reference.h"
#include "tests/accuracy/wide.h"

enum {
    PASSES = 10,
    PAUSE_MS = 700,
    BUDGET_S = 100, /* for measuring again */
    GROUP = 64,     /* forms that are measured together */
};

static const char *const SCOPE_NAMES[] = {[REFERENCE_IN_SCOPE] = "registers",
                                          [REFERENCE_MEMORY] = "memory",
                                          [REFERENCE_512] = "wide",
                                          [REFERENCE_MODEL] = "model"};

struct run {
    struct reference reference;
    struct isa_table table;
    struct true_differences differences;
    struct isa_form **forms; /* of the rows in scope, in their order */
    size_t *rows;            /* position of each in the reference */
    size_t count;
    struct probe_latency *latencies;
    struct probe_throughput *throughputs;
    struct probe_slots *slots;
    unsigned passes; /* that were needed: more than one where something was disturbed */
};

static void run_fini(struct run *run) {
    for (size_t i = 0; run->latencies != NULL && i < run->count; i++) {
        probe_latency_fini(&run->latencies[i]);
    }
    free(run->latencies);
    free(run->throughputs);
    free(run->slots);
    free(run->forms);
    free(run->rows);
    reference_fini(&run->reference);
    isa_table_fini(&run->table);
    true_differences_fini(&run->differences);
}

/* The rows of the other table, where it is there. */
static enum ip_status model_append(struct run *run, const char *path, struct ip_error *err) {
    if (access(path, R_OK) != 0) {
        printf("skipped: %s: %s\n", path, strerror(errno));
        return IP_OK;
    }
    struct wide wide = {0};
    enum ip_status status = wide_read(&wide, path, &run->table, err);
    if (status == IP_OK) {
        status = wide_append(&wide, &run->reference, err);
    }
    wide_fini(&wide);
    return status;
}

static enum ip_status run_prepare(struct run *run, const struct options *options, struct ip_error *err) {
    enum ip_status status = reference_read(&run->reference, options->reference, err);
    if (status == IP_OK && options->differences != NULL) {
        status = true_differences_read(&run->differences, options->differences, err);
    }
    if (status == IP_OK) {
        status = isa_table_builtin_add(&run->table, err);
    }
    if (status == IP_OK) {
        status = reference_map(&run->reference, &run->table, err);
    }
    if (status == IP_OK && options->wide != NULL) {
        status = model_append(run, options->wide, err);
    }
    if (status != IP_OK) {
        return status;
    }
    size_t rows = run->reference.count + 1;
    run->forms = calloc(rows, sizeof *run->forms);
    run->rows = calloc(rows, sizeof *run->rows);
    run->latencies = calloc(rows, sizeof *run->latencies);
    run->throughputs = calloc(rows, sizeof *run->throughputs);
    run->slots = calloc(rows, sizeof *run->slots);
    if (run->forms == NULL || run->rows == NULL || run->latencies == NULL || run->throughputs == NULL ||
        run->slots == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu rows", rows);
    }
    size_t met = 0;
    for (size_t i = 0; i < run->reference.count; i++) {
        const struct reference_row *row = &run->reference.rows[i];
        bool wanted =
            row->form != NULL && (options->form != NULL ? strcmp(row->form->syntax, options->form) == 0
                                                        : options->scopes[row->scope]);
        if (wanted && (options->sample == 0 || met++ % options->sample == 0)) {
            run->forms[run->count] = row->form;
            run->rows[run->count++] = i;
        }
    }
    return IP_OK;
}

static bool latency_steady(const struct probe_latency *latency) {
    for (size_t i = 0; i < latency->count; i++) {
        if (latency->pairs[i].verdict == HX_VERDICT_UNSTABLE ||
            latency->pairs[i].verdict == HX_VERDICT_DISTURBED) {
            return false;
        }
    }
    return true;
}

static bool slots_steady(const struct probe_slots *slots) {
    return slots->verdict == HX_VERDICT_OK || slots->verdict == HX_VERDICT_FAULT;
}

static bool throughput_steady(const struct probe_throughput *throughput) {
    return throughput->verdict == HX_VERDICT_OK || throughput->verdict == HX_VERDICT_FAULT;
}

/* Measures the rows at positions list[0..count) of run->forms. */
static enum ip_status rows_measure(struct run *run, const size_t *list, size_t count,
                                   const struct hx_meter *meter, struct gen_encoder *encoder,
                                   struct ip_error *err) {
    struct isa_form **forms = calloc(count, sizeof *forms);
    struct probe_latency *latencies = calloc(count, sizeof *latencies);
    struct probe_throughput *throughputs = calloc(count, sizeof *throughputs);
    struct probe_slots *slots = calloc(count, sizeof *slots);
    enum ip_status status = IP_OK;
    if (forms == NULL || latencies == NULL || throughputs == NULL || slots == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "no memory for %zu forms", count);
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        forms[i] = run->forms[list[i]];
    }
    if (status == IP_OK) {
        status = probe_latency_measure(meter, encoder, &run->table, forms, count, latencies, err);
    }
    if (status == IP_OK) {
        status = probe_throughput_measure(meter, encoder, forms, count, throughputs, err);
    }
    if (status == IP_OK) {
        status = probe_slots_measure(meter, encoder, forms, throughputs, count, slots, err);
    }
    for (size_t i = 0; i < count && latencies != NULL; i++) {
        if (status == IP_OK) {
            probe_latency_fini(&run->latencies[list[i]]);
            run->latencies[list[i]] = latencies[i];
            run->throughputs[list[i]] = throughputs[i];
            run->slots[list[i]] = slots[i];
        } else {
            probe_latency_fini(&latencies[i]);
        }
    }
    free(forms);
    free(latencies);
    free(throughputs);
    free(slots);
    return status;
}

/* The same in groups, with progress on standard error, until the time is over. *done counts them. */
static enum ip_status groups_measure(struct run *run, const size_t *list, size_t count,
                                     struct hx_bench *bench, time_t end, size_t *done, struct ip_error *err) {
    const struct hx_meter meter = hx_bench_meter(bench);
    enum ip_status status = IP_OK;
    for (*done = 0; *done < count && status == IP_OK && time(NULL) < end;) {
        size_t some = count - *done < GROUP ? count - *done : GROUP;
        status = hx_bench_recalibrate(bench, err);
        if (status == IP_OK) {
            status = rows_measure(run, list + *done, some, &meter, &bench->encoder, err);
        }
        *done += some;
        fprintf(stderr, "accuracy: %zu of %zu rows measured\n", *done, count);
    }
    return status;
}

/* Whatever was disturbed is measured again, a few times: a neighbour on the core comes and goes. */
static enum ip_status run_measure(struct run *run, const struct options *options, struct ip_error *err) {
    struct hx_bench bench;
    struct hx_bench_options bench_options = {.timer = options->timer, .cpu = -1};
    enum ip_status status = hx_bench_open(&bench, &bench_options, err);
    if (status != IP_OK) {
        return status;
    }
    size_t *list = calloc(run->count + 1, sizeof *list);
    if (list == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "no memory for %zu rows", run->count);
    }
    time_t begin = time(NULL);
    time_t end = options->seconds != 0 ? begin + (time_t)options->seconds : (time_t)INT32_MAX;
    for (unsigned pass = 0; pass < PASSES && status == IP_OK && time(NULL) < end; pass++) {
        size_t count = 0, done = 0;
        for (size_t i = 0; i < run->count; i++) {
            if (pass == 0 || !latency_steady(&run->latencies[i]) ||
                !throughput_steady(&run->throughputs[i]) || !slots_steady(&run->slots[i])) {
                list[count++] = i;
            }
        }
        if (count == 0) {
            break;
        }
        if (pass > 0) {
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
        }
        run->passes = pass + 1;
        status = groups_measure(run, list, count, &bench, end, &done, err);
        if (pass == 0) {
            run->count = done; /* the rest is not compared */
            end = time(NULL) + BUDGET_S < end ? time(NULL) + BUDGET_S : end;
        }
    }
    free(list);
    hx_bench_close(&bench);
    return status;
}

/* -- Report
 * -------------------------------------------------------------------------------------------------- */

struct tally {
    size_t compared, agree, within, true_differences, trapped, differ;
};

static void tally_add(struct tally *tally, const struct comparison *comparison) {
    tally->compared += comparison->result != COMPARE_NOTHING;
    tally->agree += comparison->result == COMPARE_AGREES;
    tally->within += comparison->result == COMPARE_WITHIN_BOUND;
    tally->true_differences += comparison->result == COMPARE_TRUE_DIFFERENCE;
    tally->trapped += comparison->result == COMPARE_TRAPPED;
    tally->differ += comparison->result == COMPARE_DIFFERS;
}

static double percent(size_t part, size_t whole) {
    return whole != 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

static void tally_print(const char *what, const struct tally *tally) {
    size_t common = tally->compared - tally->true_differences - tally->trapped;
    printf("%s: %zu compared\n", what, tally->compared);
    printf("  %4zu equal (%.1f %%)\n", tally->agree, percent(tally->agree, tally->compared));
    printf("  %4zu within an upper bound of the reference (%.1f %%)\n", tally->within,
           percent(tally->within, tally->compared));
    printf("  %4zu reviewed true differences of this core (%.1f %%)\n", tally->true_differences,
           percent(tally->true_differences, tally->compared));
    printf("  %4zu trapped by a hypervisor here (%.1f %%)\n", tally->trapped,
           percent(tally->trapped, tally->compared));
    printf("  %4zu differ (%.1f %%)\n", tally->differ, percent(tally->differ, tally->compared));
    printf("  apart from these and the true differences: %.1f %% equal, %.1f %% equal or within the bound\n",
           percent(tally->agree, common), percent(tally->agree + tally->within, common));
}

/* Each pair with its value and how its chain was closed: the evidence of a difference. */
static void pairs_print(const struct isa_form *form, const struct probe_latency *latency) {
    for (size_t i = 0; i < latency->count; i++) {
        const struct probe_latency_pair *pair = &latency->pairs[i];
        char src[16], dst[16];
        printf("      %s -> %s: ", isa_operand_name(form, (unsigned)pair->src, src),
               isa_operand_name(form, (unsigned)pair->dst, dst));
        if (pair->measured) {
            printf("%s%.2f", pair->upper_bound ? "\xe2\x89\xa4" : "", pair->cycles);
            printf("%s%s", pair->via[0] != '\0' ? " via " : "", pair->via);
        } else {
            printf("not measured");
        }
        if (!isnan(pair->chained_cycles)) {
            printf("; chained to itself %.2f", pair->chained_cycles);
        }
        if (!isnan(pair->slow_cycles)) {
            printf("; slow values %.2f", pair->slow_cycles);
        }
        if (!isnan(pair->same_register_cycles)) {
            printf("; one register %.2f", pair->same_register_cycles);
        }
        printf("%s%s\n", pair->why[0] != '\0' ? ": " : "", pair->why);
    }
}

static void comparison_print(const char *what, const struct reference_row *row,
                             const struct comparison *comparison) {
    static const char *const RESULTS[] = {"", "agrees", "within", "differs", "true difference", "trapped"};
    printf("  %s  %s (%s): here %s, reference %s: %s%s%s\n", what, row->form->syntax, row->name,
           comparison->ours[0] != '\0' ? comparison->ours : "-",
           comparison->theirs[0] != '\0' ? comparison->theirs : "-", RESULTS[comparison->result],
           comparison->category[0] != '\0' ? ", " : "", comparison->category);
}

static bool worth_printing(const struct comparison *comparison, bool all) {
    return all || comparison->result == COMPARE_WITHIN_BOUND || comparison->result == COMPARE_DIFFERS ||
           comparison->result == COMPARE_TRUE_DIFFERENCE || comparison->result == COMPARE_TRAPPED;
}

static void report_rows(struct run *run, enum reference_scope scope, bool all, struct tally *latency_tally,
                        struct tally *throughput_tally, struct tally *slots_tally) {
    for (size_t i = 0; i < run->count; i++) {
        const struct reference_row *row = &run->reference.rows[run->rows[i]];
        if (row->scope != scope) {
            continue;
        }
        struct comparison comparison;
        compare_latency(&comparison, row, &run->latencies[i]);
        true_differences_apply(&run->differences, row->form->syntax, TRUE_LATENCY, &comparison);
        compare_trap(&comparison, row, &run->throughputs[i]);
        tally_add(latency_tally, &comparison);
        if (worth_printing(&comparison, all)) {
            comparison_print("latency   ", row, &comparison);
            pairs_print(row->form, &run->latencies[i]);
        }
        compare_throughput(&comparison, row, &run->throughputs[i]);
        true_differences_apply(&run->differences, row->form->syntax, TRUE_THROUGHPUT, &comparison);
        compare_trap(&comparison, row, &run->throughputs[i]);
        tally_add(throughput_tally, &comparison);
        if (worth_printing(&comparison, all)) {
            comparison_print("throughput", row, &comparison);
            printf("      %s%s%s\n", run->throughputs[i].how, run->throughputs[i].why[0] != '\0' ? ": " : "",
                   run->throughputs[i].why);
        }
        compare_slots(&comparison, row, &run->slots[i]);
        true_differences_apply(&run->differences, row->form->syntax, TRUE_SLOTS, &comparison);
        compare_trap(&comparison, row, &run->throughputs[i]);
        tally_add(slots_tally, &comparison);
        if (worth_printing(&comparison, all)) {
            comparison_print("slots     ", row, &comparison);
            if (run->slots[i].why[0] != '\0') {
                printf("      %s\n", run->slots[i].why);
            }
        }
    }
}

static void tally_join(struct tally *sum, const struct tally *part) {
    sum->compared += part->compared;
    sum->agree += part->agree;
    sum->within += part->within;
    sum->true_differences += part->true_differences;
    sum->trapped += part->trapped;
    sum->differ += part->differ;
}

/* The rows of one group and what they add to the sums. */
static void report_group(struct run *run, enum reference_scope scope, bool all, struct tally *latency_sum,
                         struct tally *throughput_sum, struct tally *slots_sum) {
    struct tally latency = {0}, throughput = {0}, slots = {0};
    size_t rows = 0;
    for (size_t i = 0; i < run->count; i++) {
        rows += run->reference.rows[run->rows[i]].scope == scope;
    }
    if (rows == 0) {
        return;
    }
    printf("## %s\n", SCOPE_NAMES[scope]);
    report_rows(run, scope, all, &latency, &throughput, &slots);
    tally_print("latency", &latency);
    tally_print("throughput", &throughput);
    tally_print("slots", &slots);
    if (scope == REFERENCE_MODEL) {
        return; /* it stays apart */
    }
    tally_join(latency_sum, &latency);
    tally_join(throughput_sum, &throughput);
    tally_join(slots_sum, &slots);
}

static void report_scope(const struct run *run) {
    size_t counts[REFERENCE_UNMAPPED + 1] = {0};
    for (size_t i = 0; i < run->reference.count; i++) {
        counts[run->reference.rows[i].scope]++;
    }
    size_t all = run->reference.count - counts[REFERENCE_MODEL], mapped = all - counts[REFERENCE_UNMAPPED];
    printf("%zu rows, of which %zu are in the tables (%.1f %%): %zu of registers up to 256 bits, %zu with "
           "memory, %zu of 512 bits\n",
           all, mapped, percent(mapped, all), counts[REFERENCE_IN_SCOPE], counts[REFERENCE_MEMORY],
           counts[REFERENCE_512]);
    for (size_t i = 0; i < run->reference.count; i++) {
        if (run->reference.rows[i].scope == REFERENCE_UNMAPPED) {
            printf("  not in the tables  %s: %s\n", run->reference.rows[i].name, run->reference.rows[i].why);
        }
    }
}

static void report_unmet(const struct run *run) {
    for (size_t i = 0; i < run->differences.count; i++) {
        const struct true_difference *difference = &run->differences.items[i];
        if (!difference->met && difference->what != TRUE_PORTS) {
            printf("  note: the list of true differences has %s of %s at %s, which this run did not see\n",
                   difference->what == TRUE_LATENCY      ? "the latency"
                   : difference->what == TRUE_THROUGHPUT ? "the throughput"
                                                         : "the slots",
                   difference->form, difference->measured);
        }
    }
}

static int usage(FILE *stream, int code) {
    fputs(
        "usage: accuracy [--timer TIMER] [--differences FILE] [--rows registers|memory|wide|model]... "
        "[--sample "
        "N]\n"
        "                [--seconds N] [--all] [--form SYNTAX] [--wide FILE] REFERENCE.csv\n"
        "       accuracy --ports [--sample N] [--repeat N] [--store FILE] [--wide FILE] [...] REFERENCE.csv\n"
        "Compares latency, throughput and issue slots, or port usage, on this CPU with a published table.\n",
        stream);
    return code;
}

static int exit_code(enum ip_status status) {
    return status == IP_CAPABILITY ? 3 : status == IP_USAGE || status == IP_SYNTAX ? 2 : 1;
}

/* "registers", "memory", "wide" */
static bool scopes_parse(struct options *options, const char *name) {
    for (size_t i = 0; i < REFERENCE_UNMAPPED; i++) {
        if (strcmp(name, SCOPE_NAMES[i]) == 0) {
            options->scopes[i] = true;
            return true;
        }
    }
    return false;
}

/* Returns -1 to go on, or an exit code. */
static int options_parse(struct options *options, int argc, char **argv) {
    static const struct option LONG[] = {
        {"timer", required_argument, NULL, 't'},
        {"differences", required_argument, NULL, 'd'},
        {"all", no_argument, NULL, 'a'},
        {"form", required_argument, NULL, 'f'},
        {"ports", no_argument, NULL, 'p'},
        {"sample", required_argument, NULL, 's'},
        {"seconds", required_argument, NULL, 'T'},
        {"repeat", required_argument, NULL, 'r'},
        {"store", required_argument, NULL, 'S'},
        {"wide", required_argument, NULL, 'w'},
        {"rows", required_argument, NULL, 'R'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    for (int option; (option = getopt_long(argc, argv, "h", LONG, NULL)) != -1;) {
        switch (option) {
        case 't':
            options->timer = optarg;
            break;
        case 'd':
            options->differences = optarg;
            break;
        case 'a':
            options->all = true;
            break;
        case 'f':
            options->form = optarg;
            options->all = true;
            break;
        case 'p':
            options->ports = true;
            break;
        case 's':
            options->sample = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'T':
            options->seconds = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'r':
            options->repeat = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'S':
            options->store = optarg;
            break;
        case 'w':
            options->wide = optarg;
            break;
        case 'R':
            if (!scopes_parse(options, optarg)) {
                return usage(stderr, 2);
            }
            break;
        case 'h':
            return usage(stdout, 0);
        default:
            return usage(stderr, 2);
        }
    }
    if (optind + 1 != argc) {
        return usage(stderr, 2);
    }
    bool chosen = false;
    for (size_t i = 0; i < REFERENCE_UNMAPPED; i++) {
        chosen = chosen || options->scopes[i];
    }
    for (size_t i = 0; i < REFERENCE_UNMAPPED && !chosen; i++) {
        options->scopes[i] = i != REFERENCE_512; /* those are of a part with one 512-bit unit less */
    }
    options->reference = argv[optind];
    return -1;
}

int main(int argc, char **argv) {
    struct options options = {0};
    int code = options_parse(&options, argc, argv);
    if (code >= 0) {
        return code;
    }
    if (access(options.reference, R_OK) != 0) {
        printf("accuracy: skipped: %s: %s\n", options.reference, strerror(errno));
        return 0;
    }
    struct run run = {0};
    struct ip_error err = {0};
    if (options.ports) {
        enum ip_status ended = ports_compare(&options, &err);
        if (ended != IP_OK) {
            fprintf(stderr, "accuracy: %s%s%s\n", err.place, err.place[0] != '\0' ? ": " : "", err.text);
        }
        return ended == IP_OK && fflush(stdout) == 0 ? 0 : exit_code(ended);
    }
    enum ip_status status = run_prepare(&run, &options, &err);
    if (status == IP_OK) {
        status = run_measure(&run, &options, &err);
    }
    if (status == IP_OK) {
        report_scope(&run);
        struct tally latency = {0}, throughput = {0}, slots = {0};
        for (enum reference_scope scope = REFERENCE_IN_SCOPE; scope < REFERENCE_UNMAPPED; scope++) {
            report_group(&run, scope, options.all, &latency, &throughput, &slots);
        }
        if (options.form == NULL) {
            report_unmet(&run);
        }
        printf("%u of at most %d passes were needed to get steady values\n", run.passes, PASSES);
        if (throughput.compared > 0) {
            tally_print("latency, all groups", &latency);
            tally_print("throughput, all groups", &throughput);
            tally_print("slots, all groups", &slots);
        }
        printf("The target, 97 %% for each, is stated for this reference on a core like its own; on another "
               "CPU the figures only say how much the two differ.\n");
    } else {
        fprintf(stderr, "accuracy: %s%s%s\n", err.place, err.place[0] != '\0' ? ": " : "", err.text);
        code = exit_code(status);
    }
    run_fini(&run);
    if (fflush(stdout) != 0) {
        fprintf(stderr, "accuracy: cannot write the report: %s\n", strerror(errno));
        return 1;
    }
    return status == IP_OK ? 0 : code;
}
