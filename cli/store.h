/* SPDX-License-Identifier: Apache-2.0 */
/* cli/store.h - which store a command means: --store, or that of the CPU that it measures. */
#ifndef ISAPROBE_CLI_STORE_H
#define ISAPROBE_CLI_STORE_H

#include "cli/cli.h"
#include "harness/host.h"
#include "results/store.h"

/* The CPU that --timer and --cpu measure. `host` is read in any case. Finish both, also after a failure. */
IP_CHECK enum ip_status cli_machine_read(struct res_machine *machine, struct hx_host *host,
                                         const struct cli_settings *settings, struct ip_error *err);

/* Is there such a timer, and such a CPU? Also where a command then needs neither. Returns an exit code;
 * unless it is CLI_EXIT_OK a message is printed. */
int cli_machine_check(const struct cli_command *command, const struct cli_settings *settings);

/* The name of the store: --store, or the default of the machine that --timer measures, which is not read
 * otherwise. */
IP_CHECK enum ip_status cli_store_find(struct ip_text *path, const struct cli_settings *settings,
                                       struct ip_error *err);

/* Finds the store, which must exist, and opens it for reading. Finish `path` and close `*store`, also after a
 * failure. */
IP_CHECK enum ip_status cli_store_open_readonly(struct res_store **store, struct ip_text *path,
                                                const struct cli_settings *settings, struct ip_error *err);

/* Is the store at `path` of the CPU that --timer and --cpu measure? IP_FAILED: of another. For commands that
 * measure beside what they read. */
IP_CHECK enum ip_status cli_store_same_machine(struct res_store *store, const char *path,
                                               const struct cli_settings *settings, struct ip_error *err);

/* Finds the store, makes what of the default one is missing, and opens it for writing. Finish `path` and
 * `host`, which is read in any case, and close `*store`, also after a failure. */
IP_CHECK enum ip_status cli_store_open(struct res_store **store, struct ip_text *path, struct hx_host *host,
                                       const struct cli_settings *settings, struct ip_error *err);

/* A run for res_run_begin: `selection` is what it measures. It points into all that it is given. */
struct res_run cli_store_run(const struct cli_settings *settings, const struct hx_host *host,
                             const struct hx_bench *bench, const char *selection);

#endif
