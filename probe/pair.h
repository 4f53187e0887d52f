/* SPDX-License-Identifier: Apache-2.0 */
/* probe/pair.h - do two forms share ports? The interleaving experiment of Putigny 2014, 2.2.3. */
#ifndef ISAPROBE_PROBE_PAIR_H
#define ISAPROBE_PROBE_PAIR_H

#include "common/error.h"
#include "generator/kernel.h"
#include "harness/meter.h"
#include "isa/form.h"

enum probe_sharing { PROBE_SHARING_NONE, PROBE_SHARING_SOME, PROBE_SHARING_ALL, PROBE_SHARING_UNKNOWN };

struct probe_pair {
    double a_cycles, b_cycles;                               /* throughput of each alone */
    unsigned a_count, b_count;                               /* instances in the interleaved unit */
    double together_cycles;                                  /* cycles of the unit */
    double expected_disjoint_cycles, expected_shared_cycles; /* max and sum of the parts */
    double a_width, b_width; /* 1/throughput where that is an integer within 5 %, else 0 */
    double union_width;      /* ports that at least one of them uses, 0 where unknown */
    double shared_width;     /* ports that both use */
    enum probe_sharing sharing;
    bool issue_limited; /* the unit runs at the issue width: sharing may be hidden */
    enum hx_verdict verdict;
    double spread;
    char why[128];
};

IP_CHECK enum ip_status probe_pair_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                           const struct isa_form *form_a, const struct isa_form *form_b,
                                           struct probe_pair *result, struct ip_error *err);

#endif
