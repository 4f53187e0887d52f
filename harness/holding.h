/* SPDX-License-Identifier: Apache-2.0 */
/* harness/holding.h - the kernels that a bench's timer holds between hx_hold and hx_release, and the calm
 * looks that were taken at them. For harness/meter.c and bench.c. */
#ifndef ISAPROBE_HARNESS_HOLDING_H
#define ISAPROBE_HARNESS_HOLDING_H

#include "harness/estimate.h"
#include "harness/meter.h"

struct hx_held {
    const struct gen_kernel *kernel; /* borrowed */
    uint32_t number;                 /* by which the timer knows it */
    bool looked;                     /* `look` is the estimate of a calm look at it */
    struct hx_estimate look;
};

/* Lets the timer hold these kernels (NULL ones apart), at most `rounds` rounds a job. After an error, and
 * where all are NULL, nothing is held. */
IP_CHECK enum ip_status hx_holding_begin(struct hx_holding *holding, struct hx_timer *timer,
                                         const struct gen_kernel *const *kernels, size_t count,
                                         uint32_t rounds, struct ip_error *err);
/* An all-zero holding is fine, and what is left. */
void hx_holding_end(struct hx_holding *holding, struct hx_timer *timer);

/* NULL: it is not held. */
struct hx_held *hx_holding_find(const struct hx_holding *holding, const struct gen_kernel *kernel);
/* Notes a calm look at a kernel, if it is held. */
void hx_holding_look(const struct hx_holding *holding, const struct gen_kernel *kernel,
                     const struct hx_estimate *look);

#endif
