/* SPDX-License-Identifier: Apache-2.0 */
/* probe/core.h - measures the parameters of a core (probe/core_params.h). docs/core.md says how each is
 * found.
 *
 * Nothing is known beforehand of the CPU: limits are where the cycles of a sweep change (probe/core_steps.h).
 */
#ifndef ISAPROBE_PROBE_CORE_H
#define ISAPROBE_PROBE_CORE_H

#include <stddef.h>

#include "common/error.h"
#include "generator/kernel.h"
#include "harness/meter.h"
#include "probe/core_params.h"

/* What it took. */
struct probe_core_tally {
    size_t kernels;
    size_t untrusted; /* parameters and facts whose kernels were unstable or disturbed */
};

/* The groups of experiments: "issue", "eliminate" ...; NULL past the last. `summary`: one line. */
const char *probe_core_group_name(size_t group);
const char *probe_core_group_summary(size_t group);
/* The group that measures the parameter `name` ("rob_slots") or kind of fact ("fuse"), or is called so; or
 * -1. */
int probe_core_group_find(const char *name);

/* Measures the groups whose bit is set in `groups` (and the issue width, which the others need) and adds what
 * was found to `core`, which may hold earlier values. What could not be found is there as not known, with the
 * reason in `how`. */
IP_CHECK enum ip_status probe_core_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                           unsigned groups, struct probe_core *core,
                                           struct probe_core_tally *tally, struct ip_error *err);

#endif
