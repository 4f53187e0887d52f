/* SPDX-License-Identifier: Apache-2.0 */
/* probe/rivals.h - measures kernels of which only the least of each set decides: a cheap look at all, then a
 * measurement of those that can be the least, or of none where their anchor tells the same. docs/method.md,
 * "Two stages". Internal to probe/. */
#ifndef ISAPROBE_PROBE_RIVALS_H
#define ISAPROBE_PROBE_RIVALS_H

#include "probe/batch.h"

/* How many of values[0..count), which ascend, no wrong guess lengthened: a shift by CL of which the core
 * guessed that CL is not zero, or is, takes 32 cycles to the flags on a Zen 4, not one. */
size_t probe_rivals_quick(const double *values, size_t count);

/* Does what was measured or looked at of a rival leave clearly less than its floor, and speaks it for its
 * team then? */
bool probe_rival_is_veto(const struct probe_rival *rival, const struct hx_stat *stat);

/* stats[i] belongs to kernels[i] (NULL: not built) and rivals[i]. What was only looked at has `screened` set.
 */
IP_CHECK enum ip_status probe_rivals_measure(const struct hx_meter *meter, const struct probe_rival *rivals,
                                             const struct gen_kernel *const *kernels, size_t count,
                                             struct hx_stat *stats, struct ip_error *err);

#endif
