/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/store.h"
#include "common/clock.h"
#include "harness/replay.h"

/* Kernels between two looks at the signal flag: a fraction of a second of measuring. */
enum { GROUP = 512 };

typedef enum ip_status meter_run(const struct hx_meter *meter, const struct gen_kernel *const *kernels,
                                 size_t count, struct hx_stat *stats, struct ip_error *err);

static enum ip_status run_interruptibly(struct cli_bench *bench, meter_run *run,
                                        const struct gen_kernel *const *kernels, size_t count,
                                        struct hx_stat *stats, struct ip_error *err) {
    for (size_t at = 0; at < count; at += GROUP) {
        if (cli_signal() != 0) {
            return ip_fail(err, IP_FAILED, "interrupted");
        }
        size_t group = count - at < GROUP ? count - at : GROUP;
        enum ip_status status = run(&bench->inner, kernels + at, group, stats + at, err);
        if (status != IP_OK) {
            return status;
        }
    }
    return IP_OK;
}

static enum ip_status measure_interruptibly(void *self, const struct gen_kernel *const *kernels, size_t count,
                                            struct hx_stat *stats, struct ip_error *err) {
    return run_interruptibly(self, hx_measure, kernels, count, stats, err);
}

static enum ip_status screen_interruptibly(void *self, const struct gen_kernel *const *kernels, size_t count,
                                           struct hx_stat *stats, struct ip_error *err) {
    return run_interruptibly(self, hx_screen, kernels, count, stats, err);
}

enum ip_status cli_bench_open(struct cli_bench *bench, const struct cli_settings *settings,
                              struct ip_error *err) {
    memset(bench, 0, sizeof *bench);
    struct res_machine machine = {0};
    struct hx_host host = {0};
    enum ip_status status =
        settings->record != NULL ? cli_machine_read(&machine, &host, settings, err) : IP_OK;
    struct hx_bench_options options = {.timer = settings->timer,
                                       .cpu = (int)settings->cpu,
                                       .no_companion = settings->no_companion,
                                       .record_path = settings->record,
                                       .record_machine = res_machine_whose(&machine),
                                       .stop = cli_signal_flag()};
    status = status == IP_OK ? hx_bench_open(&bench->bench, &options, err) : status;
    res_machine_fini(&machine);
    hx_host_fini(&host);
    if (status != IP_OK) {
        return status;
    }
    bench->opened = true;
    if (settings->careful) {
        struct hx_plan *plan = &bench->bench.plan;
        plan->rounds *= 2;
        plan->min_batches *= 2;
        plan->max_batches *= 3;
        plan->spread_limit /= 2;
    }
    bench->inner = hx_bench_meter(&bench->bench);
    bench->meter = hx_meter_before(&bench->inner, bench);
    bench->meter.measure = measure_interruptibly;
    bench->meter.screen = screen_interruptibly;
    bench->record = settings->quiet ? NULL : settings->record;
    bench->progress = !settings->quiet && isatty(STDERR_FILENO) != 0;
    bench->begin_s = ip_clock_seconds();
    return IP_OK;
}

enum ip_status cli_bench_close(struct cli_bench *bench, enum ip_status status, struct ip_error *err) {
    if (bench->shown) {
        (void)fputs("\r\x1b[K", stderr);
        bench->shown = false;
    }
    if (bench->opened) {
        status = status == IP_OK ? hx_bench_finish(&bench->bench, err) : status;
        hx_bench_close(&bench->bench);
        bench->opened = false;
        if (bench->record != NULL && hx_replay_is_too_large(bench->record)) {
            cli_message(NULL, "'%.200s' is larger than the %zu MiB that --timer replay: reads: record less",
                        bench->record, HX_REPLAY_LIMIT_BYTES >> 20);
        }
    }
    return status;
}

void cli_bench_progress(struct cli_bench *bench, const char *what, size_t done, size_t total) {
    if (!bench->progress || done == 0) {
        return;
    }
    double elapsed_s = ip_clock_seconds() - bench->begin_s;
    if (elapsed_s < 1.0) {
        return; /* what is done in a moment needs no progress */
    }
    double left_s = elapsed_s * (double)(total - done) / (double)done;
    (void)fprintf(stderr, "\r%zu of %zu %s, %.0f s left\x1b[K", done, total, what, left_s);
    (void)fflush(stderr);
    bench->shown = true;
}

void cli_tally_add(struct cli_tally *tally, bool measured, enum hx_verdict verdict) {
    tally->measured += measured;
    tally->missing += !measured;
    /* Also where nothing is left to report as a number: it was measured, and all of it was void. */
    tally->untrusted += hx_verdict_is_noise(verdict);
}

int cli_tally_exit(const struct cli_tally *tally, const struct cli_settings *settings, const char *command,
                   const char *what) {
    size_t rows = tally->measured + tally->missing;
    if (tally->untrusted > 0) {
        static const char next[] =
            "leave the machine idle and try again with --careful, or see 'isaprobe doctor'";
        bool one = tally->untrusted == 1;
        if (!settings->quiet && rows == 1) {
            cli_message(command, "it is not to be trusted (see its status): %s", next);
        } else if (!settings->quiet) {
            cli_message(command, "%zu of %zu %s %s not to be trusted (see %s status): %s", tally->untrusted,
                        rows, what, one ? "is" : "are", one ? "its" : "their", next);
        }
        return CLI_EXIT_UNTRUSTED;
    }
    if (tally->measured == 0) {
        if (rows == 1) {
            cli_message(command, "it could not be measured: see its status");
        } else {
            cli_message(command, "none of %zu %s could be measured: see the status", rows, what);
        }
        return CLI_EXIT_FAILED;
    }
    return CLI_EXIT_OK;
}

const char *cli_status_text(bool measured, enum hx_verdict verdict, const char *why, char *buffer) {
    const char *word = "not measurable";
    if (measured || hx_verdict_is_noise(verdict)) {
        switch (verdict) {
        case HX_VERDICT_OK:
            return "ok";
        case HX_VERDICT_UNSTABLE:
            word = "unstable";
            break;
        case HX_VERDICT_DISTURBED:
            word = "disturbed";
            break;
        case HX_VERDICT_FAULT:
            break;
        }
    }
    if (strncmp(why, word, strlen(word)) == 0) { /* the reason says it already */
        (void)snprintf(buffer, 160, "%.159s", why);
    } else {
        (void)snprintf(buffer, 160, why[0] != '\0' ? "%s: %.128s" : "%s", word, why);
    }
    return buffer;
}
