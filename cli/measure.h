/* SPDX-License-Identifier: Apache-2.0 */
/* cli/measure.h - the run of a command that measures the forms that the user named, some at a time. */
#ifndef ISAPROBE_CLI_MEASURE_H
#define ISAPROBE_CLI_MEASURE_H

#include "cli/bench.h"
#include "cli/forms.h"
#include "cli/output.h"

/* Measures forms->items[from..from+count) and writes their rows. */
typedef enum ip_status cli_chunk_run(struct cli_bench *bench, const struct cli_settings *settings,
                                     struct cli_forms *forms, size_t from, size_t count,
                                     struct cli_output *output, struct cli_tally *tally,
                                     struct ip_error *err);

/* Opens the output and the bench, prepares the forms of `settings`, runs them in chunks of `chunk` and
 * closes. Returns the exit code. */
int cli_measure_forms(const struct cli_command *command, struct cli_settings *settings,
                      const struct cli_column *columns, size_t chunk, cli_chunk_run *run);

#endif
