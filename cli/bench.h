/* SPDX-License-Identifier: Apache-2.0 */
/* cli/bench.h - the meter that the options describe, made interruptible; progress; the tally of verdicts. */
#ifndef ISAPROBE_CLI_BENCH_H
#define ISAPROBE_CLI_BENCH_H

#include "cli/cli.h"
#include "harness/meter.h"

struct cli_bench {
    struct hx_bench bench;
    struct hx_meter inner;
    struct hx_meter meter; /* as `inner`, but ends between groups of kernels when a signal came */
    double begin_s;        /* on the clock of common/clock.h */
    bool opened, progress, shown;
    const char *record; /* of the settings, unless they are quiet; else NULL */
};

/* What the rows said; it becomes the exit code. */
struct cli_tally {
    size_t measured, missing, untrusted;
};

IP_CHECK enum ip_status cli_bench_open(struct cli_bench *bench, const struct cli_settings *settings,
                                       struct ip_error *err);
/* Closes, also after a failed open, and clears the progress line. `status` is how the work went: when it is
 * IP_OK and the recording could not be written, that is the failure; one too large for a replay is told. */
IP_CHECK enum ip_status cli_bench_close(struct cli_bench *bench, enum ip_status status, struct ip_error *err);
/* On a terminal: how far, and how long still. */
void cli_bench_progress(struct cli_bench *bench, const char *what, size_t done, size_t total);

void cli_tally_add(struct cli_tally *tally, bool measured, enum hx_verdict verdict);
/* 4 when a row is not to be trusted, 1 when nothing was measured, else 0; says so on standard error. */
int cli_tally_exit(const struct cli_tally *tally, const struct cli_settings *settings, const char *command,
                   const char *what);

/* "ok", "unstable: ...", "disturbed: ...", "not measurable: ..."; `buffer` holds 160 bytes. */
const char *cli_status_text(bool measured, enum hx_verdict verdict, const char *why, char *buffer);

#endif
