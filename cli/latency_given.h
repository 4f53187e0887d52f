/* SPDX-License-Identifier: Apache-2.0 */
/* cli/latency_given.h - latency chains as --registers and --unroll describe them, instead of the probe's. */
#ifndef ISAPROBE_CLI_LATENCY_GIVEN_H
#define ISAPROBE_CLI_LATENCY_GIVEN_H

#include "cli/bench.h"
#include "isa/form.h"
#include "probe/latency.h"

/* Measures the chains of forms[0..count) that need no transfer. results[i], all-zero on entry, belongs to
 * forms[i]. */
IP_CHECK enum ip_status cli_latency_given(struct cli_bench *bench, const struct cli_settings *settings,
                                          struct isa_form *const *forms, size_t count,
                                          struct probe_latency *results, struct ip_error *err);

#endif
