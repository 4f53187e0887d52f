/* SPDX-License-Identifier: Apache-2.0 */
/* tests/bench/proof_latency.c - `make proof`: are latencies right on a CPU whose every pair of operands has
 * one of its own?
 *
 *   proof_latency [--seed N] [--noise X,...] [--rows N] [--list] BASE.sim
 *
 * BASE.sim gives the core, the forms' ports, and the instructions that kernels put around a form. Of each
 * other form the latency of every pair is drawn at random, and the measured ones are compared with what was
 * drawn. With noise, as `proof` has it, come spikes and a clock that drifts. */
#include <getopt.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/bench/tool.h"
#include "tests/latency_proof.h"

enum { GROUP = 512 }; /* forms that are measured together */

struct options {
    uint64_t seed;
    size_t rows; /* 0: all */
    const char *noise;
    bool list;
};

struct subjects {
    struct isa_form **forms;
    size_t count;
};

/* All forms of the tables for which latencies are drawn, in random order. */
static void subjects_choose(const struct tool *tool, struct tool *machine,
                            const struct probe_transfers *transfers, struct ip_random *random,
                            struct subjects *subjects) {
    struct ip_error err = {0};
    struct isa_table *table = &machine->table;
    subjects->forms = tool_alloc(tool, table->count, sizeof(struct isa_form *));
    subjects->count = 0;
    struct isa_form **all = tool_alloc(tool, table->count, sizeof(struct isa_form *));
    for (size_t i = 0; i < table->count; i++) {
        all[i] = &table->forms[i];
    }
    tool_must(tool, isa_forms_derive(all, table->count, &err), &err);
    for (size_t i = 0; i < table->count; i++) {
        size_t other = i + ip_random_below(random, table->count - i);
        struct isa_form *form = all[other];
        all[other] = all[i];
        if (latency_proof_is_subject(form, transfers)) {
            subjects->forms[subjects->count++] = form;
        }
    }
    free(all);
}

/* The description with a row for each subject, and noise, in a file of its own. */
static void description_write(const struct tool *tool, const char *path, const struct subjects *subjects,
                              const struct hx_sim_description *base, double noise, struct ip_random *random,
                              char *written) {
    struct ip_text text = {0};
    struct ip_error err = {0};
    tool_must(tool, ip_file_read(&text, path, (size_t)1 << 20, &err), &err);
    ip_text_append(&text, LATENCY_PROOF_HELPERS);
    for (size_t i = 0; i < subjects->count; i++) {
        latency_proof_row(&text, base, subjects->forms[i], random);
    }
    if (noise > 0) {
        ip_text_printf(&text, "noise %g\nspikes 0.05 14000\ndrift walk 0.0005 0.05\n", noise);
    }
    tool_file_write(tool, &text, written);
    ip_text_fini(&text);
}

static void form_judge(const struct hx_sim_description *d, const struct isa_form *form,
                       const struct probe_latency *latency, bool list, size_t counts[LATENCY_PROOF_RESULTS]) {
    for (size_t p = 0; p < latency->count; p++) {
        const struct probe_latency_pair *pair = &latency->pairs[p];
        double truth = latency_proof_truth(d, form, pair);
        enum latency_proof_result result = latency_proof_judge(truth, pair);
        counts[result]++;
        if (list && (result == LATENCY_PROOF_WRONG || result == LATENCY_PROOF_NONE)) {
            char src[16], dst[16];
            printf("%-5s %-40s %s->%s (%s) truth %.0f found %.2f%s, via %s%s\n",
                   result == LATENCY_PROOF_WRONG ? "wrong" : "none", form->syntax,
                   isa_operand_name(form, (unsigned)pair->src, src),
                   isa_operand_name(form, (unsigned)pair->dst, dst), probe_path_name(pair->path), truth,
                   pair->cycles, pair->upper_bound ? " at most" : "", pair->via, pair->why);
        }
    }
}

static void cpu_prove(const struct tool *tool, const char *path, const struct options *options,
                      double noise) {
    struct ip_error err = {0};
    char written[64], timer[80];
    struct tool machine;
    struct hx_sim_description base, drawn;
    struct probe_transfers transfers = {0};
    struct subjects subjects;
    struct ip_random random = {options->seed};
    size_t counts[LATENCY_PROOF_RESULTS] = {0};
    double start = ip_clock_seconds();
    tool_must(tool, hx_sim_description_read(&base, path, &err), &err);
    (void)snprintf(timer, sizeof timer, "sim:%s", path);
    tool_open(&machine, tool->name, timer); /* for the tables: to know what to draw */
    tool_must(tool, probe_transfers_init(&transfers, &machine.table, &err), &err);
    subjects_choose(tool, &machine, &transfers, &random, &subjects);
    description_write(tool, path, &subjects, &base, noise, &random, written);
    tool_must(tool, hx_sim_description_read(&drawn, written, &err), &err);
    hx_bench_close(&machine.bench);
    (void)snprintf(timer, sizeof timer, "sim:%s", written);
    const struct hx_bench_options bench = {.timer = timer, .cpu = -1};
    tool_must(tool, hx_bench_open(&machine.bench, &bench, &err), &err);
    (void)unlink(written);
    machine.meter = hx_bench_meter(&machine.bench);
    size_t count = options->rows > 0 && options->rows < subjects.count ? options->rows : subjects.count;
    struct probe_latency *results = tool_alloc(tool, GROUP, sizeof *results);
    for (size_t at = 0; at < count; at += GROUP) {
        size_t group = count - at < GROUP ? count - at : GROUP;
        tool_must(tool,
                  probe_latency_measure_with(&machine.meter, &machine.bench.encoder, &transfers,
                                             subjects.forms + at, NULL, group, results, &err),
                  &err);
        for (size_t i = 0; i < group; i++) {
            form_judge(&drawn, subjects.forms[at + i], &results[i], options->list, counts);
            probe_latency_fini(&results[i]);
        }
    }
    size_t exact = counts[LATENCY_PROOF_EXACT], wrong = counts[LATENCY_PROOF_WRONG];
    printf("%6.2f %% %6zu %7zu %7zu %6zu %6zu %8.3f %5.0f\n", 100 * noise, count, exact,
           counts[LATENCY_PROOF_BOUND], counts[LATENCY_PROOF_NONE], wrong,
           100.0 * (double)wrong / (double)(exact + counts[LATENCY_PROOF_BOUND] + wrong),
           ip_clock_seconds() - start);
    free(results);
    free(subjects.forms);
    probe_transfers_fini(&transfers);
    hx_sim_description_fini(&base);
    hx_sim_description_fini(&drawn);
    tool_close(&machine);
}

int main(int argc, char **argv) {
    static const struct option known[] = {{"seed", required_argument, NULL, 's'},
                                          {"noise", required_argument, NULL, 'n'},
                                          {"rows", required_argument, NULL, 'r'},
                                          {"list", no_argument, NULL, 'l'},
                                          {NULL, 0, NULL, 0}};
    struct options options = {.seed = 1, .noise = "0"};
    const struct tool tool = {.name = "proof_latency"};
    int letter;
    while ((letter = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (letter == 's') {
            options.seed = strtoull(optarg, NULL, 10);
        } else if (letter == 'n') {
            options.noise = optarg;
        } else if (letter == 'r') {
            options.rows = strtoul(optarg, NULL, 10);
        } else if (letter == 'l') {
            options.list = true;
        } else {
            optind = argc;
        }
    }
    if (optind + 1 != argc) {
        (void)fprintf(stderr,
                      "usage: proof_latency [--seed N] [--noise X,...] [--rows N] [--list] BASE.sim\n");
        return 2;
    }
    printf("%8s %6s %7s %7s %6s %6s %8s %5s\n", "noise", "forms", "exact", "bounds", "none", "wrong",
           "wrong%", "s");
    const char *at = options.noise;
    for (char *end; *at != '\0'; at = *end == ',' ? end + 1 : "") {
        double noise = strtod(at, &end);
        if (end == at || (*end != ',' && *end != '\0')) {
            (void)fprintf(stderr, "proof_latency: --noise takes numbers with commas between, not '%s'\n",
                          options.noise);
            return 2;
        }
        cpu_prove(&tool, argv[optind], &options, noise);
    }
    return 0;
}
