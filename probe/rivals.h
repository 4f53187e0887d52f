/* SPDX-License-Identifier: Apache-2.0 */
/* probe/rivals.h - measures kernels of which only the least of each set decides: a cheap look at all, then a
 * measurement of those that can be the least, or of none where their anchor tells the same. docs/method.md,
 * "Two stages". Internal to probe/. */
#ifndef ISAPROBE_PROBE_RIVALS_H
#define ISAPROBE_PROBE_RIVALS_H

#include "probe/batch.h"

/* stats[i] belongs to kernels[i] (NULL: not built) and rivals[i]. What was only looked at has `screened` set.
 */
IP_CHECK enum ip_status probe_rivals_measure(const struct hx_meter *meter, const struct probe_rival *rivals,
                                             const struct gen_kernel *const *kernels, size_t count,
                                             struct hx_stat *stats, struct ip_error *err);

#endif
