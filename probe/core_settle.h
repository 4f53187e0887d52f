/* SPDX-License-Identifier: Apache-2.0 */
/* probe/core_settle.h - several measurements of the same parameters, each complete, to what they say
 * together. A neighbour can disturb one so steadily that each of its kernels looks right: what no other
 * measurement repeats is not known. Pure. Internal to probe/. */
#ifndef ISAPROBE_PROBE_CORE_SETTLE_H
#define ISAPROBE_PROBE_CORE_SETTLE_H

#include "probe/core_params.h"

/* Do they say the same, as far as it can be measured? Two that are not known do when they give one reason. */
bool core_values_agree(const struct probe_core_value *a, const struct probe_core_value *b);

/* Of each parameter and fact that one of the `count` passes names (missing in the others: nothing was found
 * there), the value that two of them or more agree on, and more of them than on any other: of those the one
 * that spreads least, with the distance between them as its spread if that is more. Where there is none it is
 * not known, and the values are named. *disputed: how many of those there are. Adds to `core`, which may be
 * NULL: then it only counts. IP_NO_MEMORY. */
IP_CHECK enum ip_status core_passes_settle(const struct probe_core *passes, unsigned count,
                                           struct probe_core *core, size_t *disputed, struct ip_error *err);

#endif
