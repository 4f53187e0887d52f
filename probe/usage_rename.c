/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_rename.c - forms that make flags and need no port: a core may do additions of a number at
 * rename. A missing uop is no contradiction there. docs/port_usage.md, "Before the ports". */
#include <stdlib.h>

#include "probe/portmap_steps.h"
#include "probe/rename.h"
#include "probe/usage_steps.h"

/* What needs no port is as fast as it is issued. */
static bool runs_at_the_issue(const struct probe_usage_subject *subject, const struct probe_portmap *map) {
    static const double within = 1.25;
    return subject->throughput->verdict == HX_VERDICT_OK &&
           subject->throughput->cycles < within / map->issue_width;
}

enum ip_status probe_usage_renamed_ask(struct probe_usage_session *session, struct ip_error *err) {
    struct probe_batch batch = {.looks = PROBE_MIX_LOOKS};
    size_t *slots = calloc(session->count + 1, sizeof *slots);
    if (slots == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for the renaming of %zu forms", session->count);
    }
    const bool hidden = probe_usage_scalars_are_hidden(session->map);
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < session->count && status == IP_OK; i++) {
        const struct probe_usage_subject *subject = &session->subjects[i];
        slots[i] = SIZE_MAX;
        if (!hidden && probe_usage_works_with_flags(subject->form) &&
            runs_at_the_issue(subject, session->map)) {
            status = probe_rename_change_add(subject->form, &batch, &slots[i], err);
        }
    }
    if (status == IP_OK && batch.count > 0) {
        status = probe_batch_measure(&batch, session->meter, session->encoder, err);
    }
    for (size_t i = 0; i < session->count && status == IP_OK; i++) {
        session->subjects[i].renamed = probe_mix_cycles(&batch, slots[i]) < PROBE_RENAME_EXECUTED;
    }
    probe_batch_fini(&batch);
    free(slots);
    return status;
}
