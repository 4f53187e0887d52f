/* SPDX-License-Identifier: Apache-2.0 */
/* tests/bench/proof.c - `make proof`: is the port inference right on CPUs that are not here?
 *
 *   proof [--rows N] [--forms PATTERN] [--noise X,...] [--careful] [--set LINE]... [--list] CPU.sim...
 *
 * The columns: forms that were tried, of them not measurable; of the measured ones exact, told to be
 * ambiguous with the truth among the possibilities, marked as not to be trusted, and wrong; exact or
 * ambiguous among the forms of at most four uops; ports of the map that were found; seconds; kernels times
 * batches.
 *
 * The CPU is simulated from a published table of port usage; `portmap` and `ports` infer from time alone what
 * the table says, and are compared with it, form by form. --noise takes relative deviations of a run; with a
 * deviation come spikes (--spikes, ticks) and a clock that drifts. */
#include <errno.h>
#include <getopt.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/random.h"
#include "tests/bench/tool.h"
#include "tests/port_proof.h"

enum { SMALL_UOPS = 4 }; /* forms of so many uops at most are counted apart, too */

struct options {
    size_t rows; /* 0: all */
    bool list, careful;
    const char *forms; /* a pattern; NULL: all */
    const char *noise;
    const char *lines[16]; /* more lines for the description */
    unsigned line_count;
    uint64_t seed;
};

/* The forms that stand for the rows of the table, one for each. */
struct subjects {
    struct isa_form **forms;
    const struct hx_sim_row **rows;
    size_t count;
    size_t published;  /* rows of the table that have ports */
    size_t unnamed;    /* of them: no form of our tables has that name */
    size_t unmeasured; /* of them: named, but a form that cannot run in a loop */
};

static void description_read(const struct tool *tool, const char *path, struct ip_text *text) {
    struct ip_error err = {0};
    tool_must(tool, ip_file_read(text, path, (size_t)1 << 20, &err), &err);
}

/* The description with an absolute name for what it imports, and with more lines, in a file of its own. */
static void description_write(const struct tool *tool, const char *path, const char *const *lines,
                              unsigned count, char *written) {
    struct ip_text text = {0};
    struct ip_text out = {0};
    struct ip_error err = {0};
    char directory[4096];
    if (realpath(path, directory) == NULL) {
        tool_must(tool, ip_fail_at(&err, IP_IO, path, 0, 0, "%s", strerror(errno)), &err);
    }
    strrchr(directory, '/')[1] = '\0';
    description_read(tool, path, &text);
    static const char import[] = "ports-csv \"";
    for (const char *line = ip_text_string(&text), *end; *line != '\0'; line = end) {
        end = strchr(line, '\n');
        end = end != NULL ? end + 1 : line + strlen(line);
        bool imports = strncmp(line, import, sizeof import - 1) == 0 && line[sizeof import - 1] != '/';
        for (unsigned i = 0; imports && i < count; i++) {
            ip_text_printf(&out, "%s\n", lines[i]); /* before it: a setting may stand once or more */
        }
        if (imports) {
            ip_text_printf(&out, "%s%s", import, directory);
            line += sizeof import - 1;
        }
        ip_text_append_bytes(&out, line, (size_t)(end - line));
    }
    tool_file_write(tool, &out, written);
    ip_text_fini(&text);
    ip_text_fini(&out);
}

static void subjects_choose(const struct tool *tool, struct tool *machine, const struct hx_sim_description *d,
                            const struct options *options, struct subjects *subjects) {
    struct ip_error err = {0};
    struct isa_table *table = &machine->table;
    struct isa_form **forms = tool_alloc(tool, table->count, sizeof(struct isa_form *));
    bool *taken = tool_alloc(tool, d->imported.count, sizeof *taken);
    bool *named = tool_alloc(tool, d->imported.count, sizeof *named);
    for (size_t i = 0; i < table->count; i++) {
        forms[i] = &table->forms[i];
    }
    tool_must(tool, isa_forms_derive(forms, table->count, &err), &err);
    memset(subjects, 0, sizeof *subjects);
    subjects->forms = forms;
    subjects->rows = tool_alloc(tool, table->count, sizeof(struct hx_sim_row *));
    for (size_t i = 0; i < table->count; i++) {
        const struct hx_sim_row *row = hx_sim_row_find(d, &table->forms[i], NULL);
        ptrdiff_t at = row != NULL ? row - d->imported.items : -1;
        if (at < 0 || (size_t)at >= d->imported.count || taken[at]) {
            continue;
        }
        /* An immediate of 0 is decoded as any other. */
        bool zero = false;
        for (unsigned o = 0; o < table->forms[i].explicit_count; o++) {
            zero = zero || (table->forms[i].operands[o].imm_fixed && table->forms[i].operands[o].imm == 0);
        }
        named[at] = true;
        bool wanted =
            options->forms == NULL || hx_sim_pattern_matches(options->forms, table->forms[i].syntax);
        if (table->forms[i].obstacle == ISA_OBSTACLE_NONE && !zero && wanted) {
            taken[at] = true;
            subjects->rows[subjects->count] = row;
            subjects->forms[subjects->count++] = &table->forms[i];
        }
    }
    for (size_t i = 0; i < d->imported.count; i++) {
        const struct hx_sim_row *first = hx_sim_rows_find(&d->imported, d->imported.items[i].syntax);
        if (first == &d->imported.items[i]) {
            subjects->published++;
            subjects->unnamed += !named[i];
            subjects->unmeasured += named[i] && !taken[i];
            if (options->list && !named[i]) {
                printf("unnamed    %s\n", d->imported.items[i].syntax);
            }
        }
    }
    struct ip_random random = {.state = options->seed};
    for (size_t i = 0; options->rows > 0 && options->rows < subjects->count && i < options->rows; i++) {
        size_t other = i + ip_random_below(&random, subjects->count - i);
        struct isa_form *form = subjects->forms[i];
        const struct hx_sim_row *row = subjects->rows[i];
        subjects->forms[i] = subjects->forms[other];
        subjects->rows[i] = subjects->rows[other];
        subjects->forms[other] = form;
        subjects->rows[other] = row;
    }
    if (options->rows > 0 && options->rows < subjects->count) {
        subjects->count = options->rows;
    }
    free(taken);
    free(named);
}

static void truth_print(const struct hx_sim_description *d, const struct hx_sim_row *row) {
    for (unsigned i = 0; i < row->uops_count; i++) {
        printf("%s%u*p", i > 0 ? "+" : "", row->uops[i].count);
        for (unsigned p = 0; p < d->ports_count; p++) {
            if ((row->uops[i].ports >> p & 1u) != 0) {
                putchar(d->ports[p]);
            }
        }
    }
}

/* In the description's names. */
static void found_print(const struct hx_sim_description *d, const struct proof_ports *pairs,
                        const struct probe_usage *usage) {
    for (unsigned i = 0; i < usage->term_count; i++) {
        printf("%s%.0f*p", i > 0 ? "+" : "", usage->terms[i].uops);
        uint32_t ports = proof_translate(pairs, usage->terms[i].ports);
        for (unsigned p = 0; p < d->ports_count; p++) {
            if ((ports >> p & 1u) != 0) {
                putchar(d->ports[p]);
            }
        }
    }
}

static unsigned row_uops(const struct hx_sim_row *row) {
    unsigned uops = 0;
    for (unsigned i = 0; i < row->uops_count; i++) {
        uops += row->uops[i].count;
    }
    return uops;
}

static double percent(size_t part, size_t of) {
    return of > 0 ? 100.0 * (double)part / (double)of : 0;
}

static void cpu_prove(const struct tool *tool, const char *path, const struct options *options,
                      const char *const *lines, unsigned line_count, const char *title) {
    static const char *const words[PROOF_RESULTS] = {"exact", "ambiguous", "marked", "wrong", "unknown"};
    struct ip_error err = {0};
    char written[64], timer[80];
    struct hx_sim_description d;
    struct tool machine;
    struct subjects subjects;
    struct probe_portmap map;
    struct proof_ports pairs;
    size_t counts[PROOF_RESULTS] = {0}, small = 0, small_exact = 0;
    double start = ip_clock_seconds();
    description_write(tool, path, lines, line_count, written);
    tool_must(tool, hx_sim_description_read(&d, written, &err), &err);
    (void)snprintf(timer, sizeof timer, "sim:%s", written);
    tool_open(&machine, tool->name, timer);
    (void)unlink(written);
    if (options->careful) { /* as isaprobe's --careful */
        machine.bench.plan.rounds *= 2;
        machine.bench.plan.min_batches *= 2;
        machine.bench.plan.max_batches *= 3;
        machine.bench.plan.spread_limit /= 2;
    }
    enum ip_status status =
        probe_portmap_measure(&machine.meter, &machine.bench.encoder, &machine.table, "", &map, &err);
    if (status != IP_OK) {
        printf("%-12s %-28s no port map: %s\n", d.name, title, err.text);
        hx_sim_description_fini(&d);
        tool_close(&machine);
        return;
    }
    proof_ports_pair(&d, &map, &pairs);
    subjects_choose(tool, &machine, &d, options, &subjects);
    struct probe_usage *usages = tool_alloc(tool, subjects.count, sizeof *usages);
    tool_must(tool,
              probe_usage_measure(&machine.meter, &machine.bench.encoder, &map, NULL, subjects.forms, NULL,
                                  subjects.count, usages, &err),
              &err);
    for (size_t i = 0; i < subjects.count; i++) {
        enum proof_result result =
            proof_judge(&d, &map, subjects.rows[i], subjects.forms[i], &pairs, &usages[i]);
        counts[result]++;
        bool is_small = result != PROOF_UNKNOWN && row_uops(subjects.rows[i]) <= SMALL_UOPS;
        small += is_small;
        small_exact += is_small && (result == PROOF_EXACT || result == PROOF_AMBIGUOUS);
        if (options->list && result != PROOF_EXACT) {
            printf("%-10s %-40s truth ", words[result], subjects.forms[i]->syntax);
            truth_print(&d, subjects.rows[i]);
            printf(" found ");
            if (usages[i].ambiguous) {
                (void)probe_usage_in_system(&map, subjects.forms[i], &usages[i], pairs.system,
                                            usages[i].terms);
            }
            found_print(&d, &pairs, &usages[i]);
            printf(" slots %.2f residual %.2f %s\n", usages[i].slots, usages[i].residual, usages[i].why);
        }
    }
    size_t measured = subjects.count - counts[PROOF_UNKNOWN];
    printf("%-10s %-30s %5zu %7zu %6.2f %6.2f %6.2f %6.2f %6.2f %2u/%-2u %5.0f %7zu\n", d.name, title,
           subjects.count, counts[PROOF_UNKNOWN], percent(counts[PROOF_EXACT], measured),
           percent(counts[PROOF_AMBIGUOUS], measured), percent(counts[PROOF_MARKED], measured),
           percent(counts[PROOF_WRONG], measured), percent(small_exact, small), map.port_count - pairs.wrong,
           map.port_count, ip_clock_seconds() - start, (size_t)machine.bench.kernels_run);
    if (options->list) {
        printf(
            "%zu rows with ports in the table, %zu that no form has as its name, %zu that cannot be looped\n",
            subjects.published, subjects.unnamed, subjects.unmeasured);
    }
    (void)fflush(stdout);
    free(usages);
    free(subjects.forms);
    free(subjects.rows);
    probe_portmap_fini(&map);
    hx_sim_description_fini(&d);
    tool_close(&machine);
}

int main(int argc, char **argv) {
    static const struct option known[] = {
        {"rows", required_argument, NULL, 'r'},  {"forms", required_argument, NULL, 'f'},
        {"noise", required_argument, NULL, 'n'}, {"set", required_argument, NULL, 's'},
        {"seed", required_argument, NULL, 'd'},  {"list", no_argument, NULL, 'l'},
        {"careful", no_argument, NULL, 'c'},     {NULL, 0, NULL, 0}};
    struct options options = {.noise = "0", .seed = 1};
    struct tool tool = {.name = "proof"};
    int letter;
    while ((letter = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (letter == 'r') {
            options.rows = strtoul(optarg, NULL, 10);
        } else if (letter == 'f') {
            options.forms = optarg;
        } else if (letter == 'n') {
            options.noise = optarg;
        } else if (letter == 'd') {
            options.seed = strtoull(optarg, NULL, 10);
        } else if (letter == 'l') {
            options.list = true;
        } else if (letter == 'c') {
            options.careful = true;
        } else if (letter == 's' && options.line_count < sizeof options.lines / sizeof *options.lines) {
            options.lines[options.line_count++] = optarg;
        } else {
            (void)fprintf(
                stderr,
                "usage: proof [--rows N] [--forms PATTERN] [--seed N] [--noise X,...] [--careful] [--set "
                "LINE]... [--list] CPU.sim...\n");
            return 2;
        }
    }
    printf("%-10s %-30s %5s %7s %6s %6s %6s %6s %6s %5s %5s %7s\n", "CPU", "noise", "forms", "unknown",
           "exact%", "ambig%", "mark%", "wrong%", "small%", "ports", "s", "batches");
    for (; optind < argc; optind++) {
        const char *at = options.noise;
        for (char *end; *at != '\0'; at = *end != '\0' ? end + 1 : end) {
            double noise = strtod(at, &end);
            const char *lines[24];
            char made[3][64], title[64];
            unsigned count = 0;
            if (noise > 0) {
                /* Spikes of 3 to 8 us in 5 % of the runs, and a clock that walks by up to 5 %. */
                (void)snprintf(made[0], sizeof made[0], "noise %g", noise);
                (void)snprintf(made[1], sizeof made[1], "spikes 0.05 14000");
                (void)snprintf(made[2], sizeof made[2], "drift walk 0.0005 0.05");
                lines[count++] = made[0];
                lines[count++] = made[1];
                lines[count++] = made[2];
            }
            for (unsigned i = 0; i < options.line_count; i++) {
                lines[count++] = options.lines[i];
            }
            (void)snprintf(title, sizeof title, "%.2f %%%s%s", 100 * noise,
                           options.line_count > 0 ? ", " : "",
                           options.line_count > 0 ? options.lines[0] : "");
            cpu_prove(&tool, argv[optind], &options, lines, count, title);
            if (end == at) {
                break;
            }
        }
    }
    return 0;
}
