/* SPDX-License-Identifier: Apache-2.0 */
/* probe/slots.h - issue slots of a form: what it takes of the width at which the CPU issues (fused-domain
 * µops). docs/throughput.md, "Issue slots". */
#ifndef ISAPROBE_PROBE_SLOTS_H
#define ISAPROBE_PROBE_SLOTS_H

#include "common/error.h"
#include "generator/kernel.h"
#include "harness/meter.h"
#include "isa/form.h"
#include "probe/throughput.h"

struct probe_slots {
    bool measured; /* false: see `why` */
    double slots;  /* for each instance, as measured; round for display */
    double spread; /* how uncertain that is, relative */
    enum hx_verdict verdict;
    struct hx_stat stat; /* of the first mix, a fault included; all-zero: none was run */
    char why[128];
};

/* Mixes forms[i] with long NOPs, so many that the issue and nothing else decides; what one instance more
 * takes is its slots. How many that needs comes from throughputs[i] (probe_throughput_measure). results[i]
 * belongs to forms[i]. */
IP_CHECK enum ip_status probe_slots_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                            struct isa_form *const *forms,
                                            const struct probe_throughput *throughputs, size_t count,
                                            struct probe_slots *results, struct ip_error *err);

#endif
