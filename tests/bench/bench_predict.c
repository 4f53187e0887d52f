/* SPDX-License-Identifier: Apache-2.0 */
/* How long predictions take: in the library, as a command, and of a list of blocks. Needs a store with the
 * forms of the blocks (isaprobe scan, core). */
#include <math.h>

#include "cli/validate.h"
#include "common/clock.h"
#include "oncore/loop.h"
#include "oncore/oncore.h"
#include "tests/bench/bench.h"

enum { RUNS = 21 };

/* Milliseconds of each block's prediction; negative where there is none. */
static void blocks_time(const struct tool *tool, struct core_costs *costs, const struct cli_samples *samples,
                        bool loop, double *milliseconds) {
    const struct core_options how = {.loop = loop, .filled = true, .fill = 0x12345600};
    for (size_t i = 0; i < samples->count; i++) {
        struct ip_text code = {0};
        struct ip_error err = {0};
        struct core_prediction prediction = {0};
        ip_text_append_bytes(&code, samples->items[i].code.data, samples->items[i].code.length);
        double begin = ip_clock_seconds();
        enum ip_status status = loop ? core_loop_close(&code, &err) : IP_OK;
        if (status == IP_OK) {
            status = core_predict(costs, (const uint8_t *)code.data, code.length, &how, &prediction, &err);
        }
        milliseconds[i] = status == IP_OK ? 1e3 * (ip_clock_seconds() - begin) : -1.0;
        if (status != IP_OK && status != IP_SYNTAX) {
            tool_die(tool, &err);
        }
        core_prediction_fini(&prediction);
        ip_text_fini(&code);
    }
}

static void library_print(const char *what, double *milliseconds, size_t count) {
    size_t below = 0, predicted = 0;
    for (size_t i = 0; i < count; i++) {
        predicted += milliseconds[i] >= 0.0;
        below += milliseconds[i] >= 0.0 && milliseconds[i] < 1.0;
    }
    hx_sort(milliseconds, count);
    (void)printf("%-44s median %.3f ms, 99 %% below %.3f ms, at most %.3f ms; %zu of %zu below 1 ms\n", what,
                 hx_quantile(milliseconds, count, 0.5), hx_quantile(milliseconds, count, 0.99),
                 milliseconds[count - 1], below, predicted);
}

static void command_print(const char *what, char *const *arguments) {
    double seconds[RUNS];
    int worst = 0;
    for (int i = 0; i < RUNS; i++) {
        int exit_code = 0;
        seconds[i] = bench_run_seconds(arguments, &exit_code);
        if (seconds[i] < 0) {
            (void)printf("cannot run '%s'; say which with --isaprobe\n", arguments[0]);
            return;
        }
        worst = exit_code > worst ? exit_code : worst;
    }
    double median = hx_median(seconds, RUNS); /* sorts */
    (void)printf("%-44s median %.1f ms, %.1f to %.1f ms, %d runs, highest exit code %d (aim: below 50 ms)\n",
                 what, 1e3 * median, 1e3 * seconds[0], 1e3 * seconds[RUNS - 1], RUNS, worst);
}

/* All blocks, both notions, by the clock on the wall: the best of some runs. */
static void list_print(const struct bench_options *options, size_t blocks) {
    double best = INFINITY;
    char *const arguments[] = {(char *)options->isaprobe,
                               "validate",
                               "--quiet",
                               "--no-measure",
                               "--mca",
                               "none",
                               "--store",
                               (char *)options->store,
                               (char *)options->bhive,
                               NULL};
    for (int i = 0; i < RUNS; i++) {
        int exit_code = 0;
        double seconds = bench_run_seconds(arguments, &exit_code);
        best = seconds >= 0 && exit_code == 0 && seconds < best ? seconds : best;
    }
    (void)printf("%-44s %.3f s at best of %d runs: %.0f blocks a second, each predicted twice (aim: 10000)\n",
                 "isaprobe validate --no-measure", best, RUNS, (double)blocks / best);
}

void bench_predict(const struct tool *tool, const struct bench_options *options) {
    (void)printf("\n## Predictions\n");
    if (options->store == NULL) {
        (void)printf(
            "skipped: give a store that knows the blocks' forms with --store FILE (isaprobe scan, core)\n");
        return;
    }
    struct ip_error err = {0};
    struct cli_samples samples = {0};
    struct res_store *store = NULL;
    struct core_costs costs = {0};
    tool_must(tool, cli_samples_read(&samples, options->bhive, 0, 1, &err), &err);
    tool_must(tool, res_store_open_readonly(&store, options->store, &err), &err);
    tool_must(tool, core_costs_open(&costs, store, &err), &err);
    double *milliseconds = tool_alloc(tool, samples.count, sizeof *milliseconds);
    if (samples.count > 0) {
        blocks_time(tool, &costs, &samples, false, milliseconds);
        library_print("in the library, costs read as they are met", milliseconds, samples.count);
        blocks_time(tool, &costs, &samples, false, milliseconds);
        library_print("again, all costs known", milliseconds, samples.count);
        blocks_time(tool, &costs, &samples, true, milliseconds);
        library_print("as loops", milliseconds, samples.count);
    }
    char *const hex[] = {
        (char *)options->isaprobe, "predict", "--quiet", "--store", (char *)options->store, "--hex",
        "480fafc34801c8488916",    NULL};
    char *const text[] = {(char *)options->isaprobe,
                          "predict",
                          "--quiet",
                          "--store",
                          (char *)options->store,
                          "imul rax, rbx; add rax, rcx; mov [rsi], rdx",
                          NULL};
    command_print("isaprobe predict --hex, three instructions", hex);
    command_print("isaprobe predict, the same as text (NASM)", text);
    list_print(options, samples.count);
    free(milliseconds);
    core_costs_fini(&costs);
    res_store_close(store);
    cli_samples_fini(&samples);
}
