/* SPDX-License-Identifier: Apache-2.0 */
/* Speed, where the time goes, and two complete runs against each other: a seeded sample of all register forms
 * of the built-in tables that can be measured, in latency (every pair of operands) and throughput. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/clock.h"
#include "probe/latency.h"
#include "probe/throughput.h"
#include "tests/bench/bench.h"

enum { WORST_MAX = 40 };
/* Rounded, latencies agree when they are the same whole number, or within 1 % on its edge; throughputs within
 * 5 %. */
static const double rounded_throughput = 0.05;
/* Two values agree within 1 %, or within 0.01 cycle: a latency of 0.00 (executed at rename) has no per cent.
 */
static const double agreement = 0.01;
static const double agreement_cycles = 0.01;

struct run {
    struct probe_latency *latencies;
    struct probe_throughput *throughputs;
    double total_seconds, meter_seconds;
    size_t kernels;
};

static void run_measure(struct tool *tool, struct isa_form *const *forms, size_t count, struct run *run) {
    struct ip_error err = {0};
    struct bench_timed timed = {.inner = &tool->meter};
    /* It cannot look cheaply: all kernels are measured and compared. */
    struct hx_meter meter = hx_meter_before(&tool->meter, &timed);
    meter.measure = bench_timed_meter(&timed).measure;
    run->latencies = tool_alloc(tool, count, sizeof *run->latencies);
    run->throughputs = tool_alloc(tool, count, sizeof *run->throughputs);
    double begin = ip_clock_seconds();
    tool_must(
        tool,
        probe_latency_measure(&meter, &tool->bench.encoder, &tool->table, forms, count, run->latencies, &err),
        &err);
    tool_must(tool,
              probe_throughput_measure(&meter, &tool->bench.encoder, forms, count, run->throughputs, &err),
              &err);
    run->total_seconds = ip_clock_seconds() - begin;
    run->meter_seconds = timed.seconds;
    run->kernels = timed.kernels;
}

static void run_fini(struct run *run, size_t count) {
    for (size_t i = 0; i < count; i++) {
        probe_latency_fini(&run->latencies[i]);
    }
    free(run->latencies);
    free(run->throughputs);
}

static bool is_wanted(const struct isa_form *form, bool wide) {
    return form->obstacle == ISA_OBSTACLE_NONE && isa_form_memory_operand(form) < 0 &&
           (isa_form_vector_bits(form) > 256) == wide;
}

/* A seeded sample, without repetition, of the forms that can be measured; derives them. */
static struct isa_form **sample_choose(struct tool *tool, const struct bench_options *options, bool wide,
                                       size_t *count, double *derive_seconds) {
    struct ip_error err = {0};
    struct isa_form **forms = tool_alloc(tool, tool->table.count, sizeof *forms);
    for (size_t i = 0; i < tool->table.count; i++) {
        forms[i] = &tool->table.forms[i];
    }
    double begin = ip_clock_seconds();
    tool_must(tool, isa_forms_derive(forms, tool->table.count, &err), &err);
    *derive_seconds = ip_clock_seconds() - begin;
    size_t kept = 0;
    for (size_t i = 0; i < tool->table.count; i++) {
        if (is_wanted(forms[i], wide)) {
            forms[kept++] = forms[i];
        }
    }
    (void)printf(
        "\n## Speed and repeatability, register forms %s\n%zu forms in the built-in tables, %zu of these; ",
        wide ? "of 512 bits" : "up to 256 bits", tool->table.count, kept);
    *count = kept < options->forms ? kept : options->forms;
    bench_forms_shuffle(forms, kept, *count, options->seed);
    (void)printf("sample of %zu, seed %llu\n", *count, (unsigned long long)options->seed);
    return forms;
}

/* What two runs say about one form. */
struct verdicts {
    bool measured; /* a number in both, not marked */
    bool rounded;  /* the same when latencies are rounded to cycles and throughput is taken to 5 % */
    bool marked;   /* marked as not trustworthy in at least one */
    double worst;  /* largest relative difference */
    char what[40];
    char why[96]; /* of the mark */
};

static void compare_values(struct verdicts *verdicts, enum hx_verdict a_verdict, double a,
                           enum hx_verdict b_verdict, double b, const char *what, const char *why) {
    if (a_verdict == HX_VERDICT_FAULT || b_verdict == HX_VERDICT_FAULT) {
        return;
    }
    if (a_verdict != HX_VERDICT_OK || b_verdict != HX_VERDICT_OK) {
        verdicts->marked = true;
        (void)snprintf(verdicts->why, sizeof verdicts->why, "%s: %.80s", what, why);
        return;
    }
    verdicts->measured = true;
    double difference = fabs(a - b);
    double off = difference <= agreement_cycles ? 0 : difference / fmax(fabs(a), fabs(b));
    verdicts->rounded = verdicts->rounded && (what[0] == 'l' ? lround(a) == lround(b) || off <= agreement
                                                             : off <= rounded_throughput);
    if (off > verdicts->worst) {
        verdicts->worst = off;
        (void)snprintf(verdicts->what, sizeof verdicts->what, "%s %.3f, %.3f", what, a, b);
    }
}

static struct verdicts compare_form(const struct run *runs, size_t i) {
    struct verdicts verdicts = {.rounded = true};
    const struct probe_throughput *ta = &runs[0].throughputs[i];
    const struct probe_throughput *tb = &runs[1].throughputs[i];
    if (ta->measured && tb->measured) {
        compare_values(&verdicts, ta->verdict, ta->cycles, tb->verdict, tb->cycles, "throughput",
                       ta->verdict != HX_VERDICT_OK ? ta->why : tb->why);
    }
    const struct probe_latency *la = &runs[0].latencies[i];
    const struct probe_latency *lb = &runs[1].latencies[i];
    for (size_t p = 0; p < la->count && p < lb->count; p++) {
        if (la->pairs[p].measured && lb->pairs[p].measured) {
            compare_values(&verdicts, la->pairs[p].verdict, la->pairs[p].cycles, lb->pairs[p].verdict,
                           lb->pairs[p].cycles, "latency",
                           la->pairs[p].verdict != HX_VERDICT_OK ? la->pairs[p].why : lb->pairs[p].why);
        }
    }
    return verdicts;
}

/* The extensions that one asks for at first: the general-purpose ones to AVX-512F, DQ and BW. Apart from them
 * the newest ones, whose forms are many and alike. */
static bool is_of_first_use(const struct isa_form *form) {
    static const char *const names[] = {"BASE",    "PPRO",     "MMX",      "PENTIUMMMX", "SSE",   "SSE2",
                                        "SSE2MMX", "SSE3",     "SSSE3",    "SSE4",       "SSE42", "POPCNT",
                                        "LZCNT",   "BMI1",     "BMI2",     "AVX",        "AVX2",  "FMA",
                                        "AVX512F", "AVX512VL", "AVX512DQ", "AVX512BW"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(form->extension, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void share_print(const char *what, size_t agree, size_t measured, double aim) {
    (void)printf("%-44s %zu of %zu, %.2f %% (aim: %.1f %%)\n", what, agree, measured,
                 measured != 0 ? 100.0 * (double)agree / (double)measured : 0.0, aim);
}

static void agreement_print(struct isa_form *const *forms, size_t count, const struct run *runs) {
    size_t measured = 0;
    size_t agree = 0;
    size_t rounded = 0;
    size_t marked = 0;
    size_t printed = 0;
    size_t first_measured = 0;
    size_t first_agree = 0;
    struct bench_reasons reasons = {0};
    for (size_t i = 0; i < count; i++) {
        struct verdicts verdicts = compare_form(runs, i);
        if (!verdicts.measured && !verdicts.marked) {
            bench_reason_count(&reasons, runs[0].throughputs[i].why);
        }
        measured += verdicts.measured;
        marked += verdicts.marked;
        bool agrees = verdicts.measured && verdicts.worst <= agreement;
        agree += agrees;
        rounded += verdicts.measured && verdicts.rounded;
        if (is_of_first_use(forms[i])) {
            first_measured += verdicts.measured;
            first_agree += agrees;
        }
        if (verdicts.marked && printed < WORST_MAX) {
            (void)printf("  marked:           %-36s %s\n", forms[i]->syntax, verdicts.why);
            printed++;
        }
        if (verdicts.worst > agreement && printed < WORST_MAX) {
            (void)printf("  differs by %4.1f %%: %-36s %s\n", 100 * verdicts.worst, forms[i]->syntax,
                         verdicts.what);
            printed++;
        }
    }
    (void)printf("%-44s %zu of %zu\n", "forms with a number in both runs; else:", measured, count);
    bench_reasons_print(&reasons);
    (void)printf("%-44s %zu\n", "forms with a value marked untrustworthy", marked);
    share_print("both runs within 1 %, latencies and throughput", agree, measured, 99);
    share_print("the same latencies rounded, throughput in 5 %", rounded, measured, 99.5);
    share_print("the same, general purpose to AVX-512BW", first_agree, first_measured, 99);
}

void bench_repeat(struct tool *tool, const struct bench_options *options, bool wide) {
    size_t count = 0;
    double derive_seconds = 0;
    struct isa_form **forms = sample_choose(tool, options, wide, &count, &derive_seconds);
    if (count == 0) {
        (void)printf("none\n");
        free(forms);
        return;
    }
    struct run runs[2];
    run_measure(tool, forms, count, &runs[0]);
    run_measure(tool, forms, count, &runs[1]);
    double build[2];
    for (int r = 0; r < 2; r++) {
        build[r] = runs[r].total_seconds - runs[r].meter_seconds;
        (void)printf("run %d: %.2f s for %zu kernels, %.0f kernels/s, %.2f ms a form\n", r + 1,
                     runs[r].total_seconds, runs[r].kernels, (double)runs[r].kernels / runs[r].total_seconds,
                     1e3 * runs[r].total_seconds / (double)count);
    }
    if (!wide) { /* the second group finds them derived */
        (void)printf("%-44s %.3f s for all %zu forms\n", "deriving operands (NASM, Zydis)", derive_seconds,
                     tool->table.count);
    }
    /* The second run finds every line encoded: what it spends outside the meter is building alone. */
    (void)printf("%-44s %.3f s\n", "encoding with NASM (run 1)", fmax(build[0] - build[1], 0));
    (void)printf("%-44s %.3f s\n", "building programs and kernels (run 2)", build[1]);
    (void)printf("%-44s %.3f s and %.3f s\n", "measuring", runs[0].meter_seconds, runs[1].meter_seconds);
    agreement_print(forms, count, runs);
    run_fini(&runs[0], count);
    run_fini(&runs[1], count);
    free(forms);
}
