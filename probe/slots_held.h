/* SPDX-License-Identifier: Apache-2.0 */
/* probe/slots_held.h - issue slots that are the time for which a form holds retirement: docs/throughput.md,
 * "Issue slots". Internal to probe/. */
#ifndef ISAPROBE_PROBE_SLOTS_HELD_H
#define ISAPROBE_PROBE_SLOTS_HELD_H

#include "probe/slots.h"

/* A form whose slots were measured. */
struct probe_slots_held {
    const struct isa_form *form;
    double cycles; /* an instance takes them in a run of the form alone */
    unsigned nops; /* so many outlast it */
    struct probe_slots *result;
};

/* Takes the slots from those `forms` where they were none: an instance that takes longer than the reorder
 * buffer has room for what is issued meanwhile holds that up. `width`: slots issued in a cycle. */
IP_CHECK enum ip_status probe_slots_held_find(const struct hx_meter *meter, struct gen_encoder *encoder,
                                              double width, const struct probe_slots_held *forms,
                                              size_t count, struct ip_error *err);

#endif
