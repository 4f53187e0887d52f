/* SPDX-License-Identifier: Apache-2.0 */
/* cli/store.h - which store a command means: --store, or that of the CPU that it measures. */
#ifndef ISAPROBE_CLI_STORE_H
#define ISAPROBE_CLI_STORE_H

#include "cli/cli.h"
#include "harness/host.h"
#include "results/machine.h"

/* The CPU that the timer `timer` (NULL: the default) measures. `host` is read in any case. Finish both, also
 * after a failure. */
IP_CHECK enum ip_status cli_machine_read(struct res_machine *machine, struct hx_host *host, const char *timer,
                                         struct ip_error *err);

/* The name of the store: `given`, or the default of the machine. */
IP_CHECK enum ip_status cli_store_path(struct ip_text *path, const char *given,
                                       const struct res_machine *machine, struct ip_error *err);

#endif
