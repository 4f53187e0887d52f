/* SPDX-License-Identifier: Apache-2.0 */
/* probe/fusion.h - macro-fusion of single forms: which conditional jumps behind one take no issue slot of
 * their own. `isaprobe core` measures all forms that are known to fuse somewhere (docs/core.md, "Fusion"). */
#ifndef ISAPROBE_PROBE_FUSION_H
#define ISAPROBE_PROBE_FUSION_H

#include "common/error.h"
#include "generator/kernel.h"
#include "harness/meter.h"
#include "isa/form.h"

enum { PROBE_FUSION_JUMPS = 16 };

/* "jo", "jno" ...: in the order of their codes. */
extern const char *const probe_fusion_jumps[PROBE_FUSION_JUMPS];

struct probe_fusion {
    bool measured;  /* false: the form does not set flags in a way that any core fuses with a jump */
    unsigned fused; /* bit c: a slot for both with jump c */
    unsigned apart; /* bit c: a slot for each. Neither: noise, or in part */
};

/* results[i] belongs to forms[i]. */
IP_CHECK enum ip_status probe_fusion_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                             double issue_width, struct isa_form *const *forms, size_t count,
                                             struct probe_fusion *results, struct ip_error *err);

#endif
