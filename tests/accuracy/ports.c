/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/accuracy/ports.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "harness/host.h"
#include "harness/meter.h"
#include "probe/usage.h"
#include "results/store.h"
#include "tests/accuracy/compare.h"
#include "tests/accuracy/reference.h"
#include "tests/accuracy/wide.h"

enum { GROUPS = 4, TERMS_MAX = 16, RUNS_MAX = 8 };

/* The last is the table of the server part, of which only 512-bit rows are given. */
static const char *const GROUP_NAMES[GROUPS] = {"registers", "memory", "512 bits, the client's table",
                                                "512 bits, the server's model"};

enum outcome { EQUAL, DIFFERENT, MARKED, NOT_MEASURED, TRUE_DIFFERENCE, OUTCOMES };
static const char *const OUTCOME_NAMES[] = {"equal", "different", "marked inconsistent", "not measured",
                                            "reviewed true differences"};

/* A row of either table. */
struct subject {
    const struct reference_row *row; /* NULL: of `wide` */
    const struct wide_row *wide;
    struct isa_form *form;
    unsigned group;
};

struct answer {
    struct probe_usage usage;
    char text[PROBE_USAGE_TEXT];
};

struct comparer {
    const struct options *options;
    struct reference reference;
    struct wide wide;
    struct isa_table table;
    struct true_differences differences;
    struct subject *subjects; /* owned */
    size_t count;
    struct answer *answers[RUNS_MAX]; /* owned, by subject */
    unsigned runs;
    double seconds, map_seconds; /* of the last run */
    size_t tallies[GROUPS][OUTCOMES];
};

static void comparer_fini(struct comparer *comparer) {
    for (unsigned r = 0; r < RUNS_MAX; r++) {
        free(comparer->answers[r]);
    }
    free(comparer->subjects);
    reference_fini(&comparer->reference);
    wide_fini(&comparer->wide);
    isa_table_fini(&comparer->table);
    true_differences_fini(&comparer->differences);
}

/* -- Choosing ------------------------------------------------------------------------------------------- */

static bool wanted(const struct comparer *comparer, size_t number, const struct isa_form *form) {
    const struct options *options = comparer->options;
    return form != NULL && (options->sample < 2 || number % options->sample == 0) &&
           (options->form == NULL || strcmp(form->syntax, options->form) == 0);
}

static void subjects_choose(struct comparer *comparer) {
    for (size_t i = 0; i < comparer->reference.count; i++) {
        const struct reference_row *row = &comparer->reference.rows[i];
        if (wanted(comparer, i, row->form)) {
            unsigned group = row->scope == REFERENCE_512 ? 2 : row->scope == REFERENCE_MEMORY ? 1 : 0;
            comparer->subjects[comparer->count++] =
                (struct subject){.row = row, .form = row->form, .group = group};
        }
    }
    for (size_t i = 0; i < comparer->wide.count; i++) {
        const struct wide_row *row = &comparer->wide.rows[i];
        if (wanted(comparer, i, row->form)) {
            comparer->subjects[comparer->count++] =
                (struct subject){.wide = row, .form = row->form, .group = 3};
        }
    }
}

static enum ip_status prepare(struct comparer *comparer, struct ip_error *err) {
    const struct options *options = comparer->options;
    enum ip_status status = reference_read(&comparer->reference, options->reference, err);
    if (status == IP_OK && options->differences != NULL) {
        status = true_differences_read(&comparer->differences, options->differences, err);
    }
    status = status == IP_OK ? isa_table_builtin_add(&comparer->table, err) : status;
    status = status == IP_OK ? reference_map(&comparer->reference, &comparer->table, err) : status;
    if (status == IP_OK && options->wide != NULL && access(options->wide, R_OK) != 0) {
        printf("skipped: %s: %s\n", options->wide, strerror(errno));
    } else if (status == IP_OK && options->wide != NULL) {
        status = wide_read(&comparer->wide, options->wide, &comparer->table, err);
    }
    if (status != IP_OK) {
        return status;
    }
    size_t most = comparer->reference.count + comparer->wide.count + 1;
    comparer->subjects = calloc(most, sizeof *comparer->subjects);
    comparer->runs = options->repeat < 1 ? 1 : options->repeat > RUNS_MAX ? RUNS_MAX : options->repeat;
    bool whole = comparer->subjects != NULL;
    for (unsigned r = 0; r < comparer->runs; r++) {
        comparer->answers[r] = calloc(most, sizeof(struct answer));
        whole = whole && comparer->answers[r] != NULL;
    }
    if (!whole) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu rows", most);
    }
    subjects_choose(comparer);
    return IP_OK;
}

/* -- Measuring ------------------------------------------------------------------------------------------ */

static enum ip_status map_stored(struct comparer *comparer, struct probe_portmap *map, bool *found,
                                 struct ip_error *err) {
    struct res_store *store = NULL;
    enum ip_status status = res_store_open_readonly(&store, comparer->options->store, err);
    if (status == IP_OK) {
        status = res_portmap_get(store, &comparer->table, map, found, err);
    }
    res_store_close(store);
    return status;
}

/* A run finds the port map anew, unless there is a store to take it from. */
static enum ip_status run_measure(struct comparer *comparer, const struct hx_bench *bench,
                                  struct gen_encoder *encoder, struct answer *answers, struct ip_error *err) {
    struct hx_meter meter = hx_bench_meter((struct hx_bench *)bench);
    struct probe_portmap map = {0};
    struct hx_host host = {0};
    struct isa_form **forms = calloc(comparer->count + 1, sizeof *forms);
    struct probe_usage *usages = calloc(comparer->count + 1, sizeof *usages);
    double begin = ip_clock_seconds();
    enum ip_status status = forms == NULL || usages == NULL
                                ? ip_fail(err, IP_NO_MEMORY, "no memory for %zu rows", comparer->count)
                                : hx_host_read(&host, "", -1, err);
    bool found = false;
    if (status == IP_OK && comparer->options->store != NULL) {
        status = map_stored(comparer, &map, &found, err);
    }
    if (status == IP_OK && !found) {
        status = probe_portmap_measure(&meter, encoder, &comparer->table, host.vendor, &map, err);
        comparer->map_seconds = ip_clock_seconds() - begin;
        if (status == IP_OK && !map.confirmed) {
            status = ip_fail(err, IP_UNTRUSTED,
                             "no two attempts at the port map found the same: leave the machine idle");
        }
    }
    for (size_t i = 0; i < comparer->count && forms != NULL; i++) {
        forms[i] = comparer->subjects[i].form;
    }
    if (status == IP_OK) {
        status = probe_usage_measure(&meter, encoder, &map, NULL, forms, NULL, comparer->count, usages, err);
    }
    for (size_t i = 0; i < comparer->count && status == IP_OK; i++) {
        answers[i].usage = usages[i];
        (void)probe_usage_print(&map, &usages[i], answers[i].text);
    }
    comparer->seconds = ip_clock_seconds() - begin;
    probe_portmap_fini(&map);
    hx_host_fini(&host);
    free(forms);
    free(usages);
    return status;
}

/* -- Comparing ------------------------------------------------------------------------------------------ */

static int term_order(const void *a, const void *b) {
    return strcmp(((const struct res_port_term *)a)->ports, ((const struct res_port_term *)b)->ports);
}

/* Sorted and merged. 512-bit loads run on two of the three load ports, which the client's table counts among
 * the three: both are written 23A. */
static bool terms_read(const char *text, struct res_port_term *terms, unsigned *count) {
    if (!res_ports_parse(text, terms, TERMS_MAX, count)) {
        return false;
    }
    for (unsigned t = 0; t < *count; t++) {
        if (strcmp(terms[t].ports, "23") == 0) {
            (void)snprintf(terms[t].ports, sizeof terms[t].ports, "23A");
        }
    }
    qsort(terms, *count, sizeof terms[0], term_order);
    unsigned kept = 0;
    for (unsigned t = 0; t < *count; t++) {
        if (kept > 0 && strcmp(terms[kept - 1].ports, terms[t].ports) == 0) {
            terms[kept - 1].uops += terms[t].uops;
        } else {
            terms[kept++] = terms[t];
        }
    }
    *count = kept;
    return true;
}

static bool texts_equal(const char *ours, const char *theirs) {
    struct res_port_term a[TERMS_MAX], b[TERMS_MAX];
    unsigned count_a = 0, count_b = 0;
    if (!terms_read(ours, a, &count_a) || !terms_read(theirs, b, &count_b) || count_a != count_b) {
        return false;
    }
    for (unsigned t = 0; t < count_a; t++) {
        if (strcmp(a[t].ports, b[t].ports) != 0 || a[t].uops != b[t].uops) {
            return false;
        }
    }
    return true;
}

static enum outcome judge(struct comparer *comparer, const struct subject *subject,
                          const struct answer *answer) {
    struct res_port_term terms[TERMS_MAX];
    unsigned count = 0;
    if (answer->usage.verdict == PROBE_USAGE_UNKNOWN) {
        return NOT_MEASURED;
    }
    if (answer->usage.verdict == PROBE_USAGE_INCONSISTENT) {
        return MARKED;
    }
    bool equal = subject->row != NULL ? texts_equal(answer->text, subject->row->ports)
                                      : res_ports_parse(answer->text, terms, TERMS_MAX, &count) &&
                                            wide_agrees(subject->wide, terms, count);
    if (!equal && true_differences_ports(&comparer->differences, subject->form->syntax, answer->text)) {
        return TRUE_DIFFERENCE;
    }
    return equal ? EQUAL : DIFFERENT;
}

static void row_print(const struct subject *subject, const struct answer *answer, enum outcome outcome) {
    char theirs[160];
    if (subject->row != NULL) {
        (void)snprintf(theirs, sizeof theirs, "%s", subject->row->ports);
    } else {
        wide_print(subject->wide, theirs, sizeof theirs);
    }
    const struct probe_usage *usage = &answer->usage;
    printf("  %s (%s): here %s, reference %s: %s; slots %.2f, throughput %.2f, from ports %.2f, residual "
           "%.2f%s%s%s%s\n",
           subject->form->syntax, GROUP_NAMES[subject->group], answer->text,
           theirs[0] != '\0' ? theirs : "none", OUTCOME_NAMES[outcome], usage->slots, usage->cycles,
           usage->expected_cycles, usage->residual, usage->why[0] != '\0' ? "; " : "", usage->why,
           usage->unit[0] != '\0' ? "; " : "", usage->unit);
}

static void report(struct comparer *comparer) {
    for (size_t i = 0; i < comparer->count; i++) {
        const struct subject *subject = &comparer->subjects[i];
        const struct answer *answer = &comparer->answers[0][i];
        enum outcome outcome = judge(comparer, subject, answer);
        comparer->tallies[subject->group][outcome]++;
        if (outcome != EQUAL || comparer->options->all) {
            row_print(subject, answer, outcome);
        }
    }
    for (unsigned group = 0; group < GROUPS; group++) {
        size_t total = 0;
        for (unsigned outcome = 0; outcome < OUTCOMES; outcome++) {
            total += comparer->tallies[group][outcome];
        }
        if (total == 0) {
            continue;
        }
        printf("ports, %s: %zu rows\n", GROUP_NAMES[group], total);
        for (unsigned outcome = 0; outcome < OUTCOMES; outcome++) {
            size_t count = comparer->tallies[group][outcome];
            printf("  %4zu %s (%.1f %%)\n", count, OUTCOME_NAMES[outcome],
                   100.0 * (double)count / (double)total);
        }
        size_t common = total - comparer->tallies[group][TRUE_DIFFERENCE];
        printf("  apart from the true differences: %.1f %% equal\n",
               common != 0 ? 100.0 * (double)comparer->tallies[group][EQUAL] / (double)common : 0.0);
    }
    printf("%.1f s for %zu rows, of which %.1f s for the port map\n", comparer->seconds, comparer->count,
           comparer->map_seconds);
}

/* How often all runs say the same, and how often two runs both give ports and contradict each other. */
static void report_repeats(const struct comparer *comparer) {
    size_t same = 0, contradicting = 0;
    for (size_t i = 0; i < comparer->count; i++) {
        bool agree = true, contradict = false;
        const struct answer *first = &comparer->answers[0][i];
        for (unsigned r = 1; r < comparer->runs; r++) {
            const struct answer *other = &comparer->answers[r][i];
            bool equal = strcmp(first->text, other->text) == 0;
            bool both = first->usage.verdict == PROBE_USAGE_OK && other->usage.verdict == PROBE_USAGE_OK;
            agree = agree && first->usage.verdict == other->usage.verdict && (!both || equal);
            contradict = contradict || (both && !equal);
        }
        same += agree;
        contradicting += contradict;
        if (!agree) {
            printf("  %s: ", comparer->subjects[i].form->syntax);
            for (unsigned r = 0; r < comparer->runs; r++) {
                const struct answer *answer = &comparer->answers[r][i];
                printf("%s%s%s%s", r > 0 ? " | " : "", answer->text, answer->usage.why[0] != '\0' ? ": " : "",
                       answer->usage.why);
            }
            printf("\n");
        }
    }
    printf("%u runs: %.1f %% of the rows the same in all, %zu rows with ports that contradict each other\n",
           comparer->runs, comparer->count != 0 ? 100.0 * (double)same / (double)comparer->count : 0.0,
           contradicting);
}

enum ip_status ports_compare(const struct options *options, struct ip_error *err) {
    struct comparer comparer = {.options = options};
    struct hx_bench bench;
    struct hx_bench_options bench_options = {.timer = options->timer, .cpu = -1};
    enum ip_status status = prepare(&comparer, err);
    if (status == IP_OK) {
        status = hx_bench_open(&bench, &bench_options, err);
        for (unsigned r = 0; r < comparer.runs && status == IP_OK; r++) {
            status = run_measure(&comparer, &bench, &bench.encoder, comparer.answers[r], err);
        }
        if (status == IP_OK) {
            report(&comparer);
            if (comparer.runs > 1) {
                report_repeats(&comparer);
            }
        }
        hx_bench_close(&bench);
    }
    comparer_fini(&comparer);
    return status;
}
