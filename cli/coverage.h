/* SPDX-License-Identifier: Apache-2.0 */
/* cli/coverage.h - `list --coverage`: for each extension how many forms are known, run here and are measured,
 * and why the others are not. */
#ifndef ISAPROBE_CLI_COVERAGE_H
#define ISAPROBE_CLI_COVERAGE_H

#include "cli/forms.h"
#include "cli/output.h"

extern const struct cli_column cli_coverage_columns[];

/* Writes a row for each extension of `forms`, which are derived. What runs and is measured is what the store
 * says (--store; by default that of this CPU); without a store nothing is. */
IP_CHECK enum ip_status cli_coverage_write(struct cli_output *output, const struct cli_forms *forms,
                                           const struct cli_settings *settings, struct ip_error *err);

#endif
