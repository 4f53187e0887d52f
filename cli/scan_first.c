/* SPDX-License-Identifier: Apache-2.0 */
/* cli/scan_first.c - what the first of a scan's two passes found of a form that noise may have spoilt.
 * Disturbances only lengthen a run: where both passes trust what they found, the less of it is nearer; of a
 * latency that is no bound, what is nearer to a whole number. */
#include <stdlib.h>
#include <string.h>

#include "cli/scan.h"
#include "probe/batch.h"

void scan_first_keep(struct scan *scan, const struct isa_form *form,
                     const struct probe_throughput *throughput, struct probe_latency *latency) {
    struct scan_first *first = &scan->first[scan->first_count++];
    *first = (struct scan_first){.form = form};
    if (throughput != NULL) {
        first->throughput = *throughput;
    }
    if (latency != NULL) {
        first->latency = *latency;
        memset(latency, 0, sizeof *latency);
    }
}

/* The first pass has the forms in the order of the second. */
const struct scan_first *scan_first_find(struct scan *scan, const struct isa_form *form) {
    bool found = scan->first_next < scan->first_count && scan->first[scan->first_next].form == form;
    return found ? &scan->first[scan->first_next++] : NULL;
}

static bool pair_is_content(const struct probe_latency_pair *pair) {
    return pair->measured && pair->verdict == HX_VERDICT_OK && pair->path == PROBE_PATH_CONTENT;
}

void scan_first_use(const struct scan_first *first, struct probe_throughput *throughput,
                    struct probe_latency *latency) {
    bool both = throughput != NULL && probe_throughput_is_steady(&first->throughput) &&
                throughput->verdict == HX_VERDICT_OK;
    if (both && first->throughput.cycles < throughput->cycles) {
        *throughput = first->throughput;
    }
    for (size_t i = 0; latency != NULL && i < latency->count && i < first->latency.count; i++) {
        const struct probe_latency_pair *before = &first->latency.pairs[i];
        struct probe_latency_pair *now = &latency->pairs[i];
        bool same = before->src == now->src && before->dst == now->dst && before->path == now->path &&
                    before->upper_bound == now->upper_bound;
        bool nearer = now->upper_bound ? before->cycles < now->cycles
                                       : probe_is_nearer_whole(before->cycles, now->cycles);
        if (same && pair_is_content(before) && pair_is_content(now) && nearer) {
            *now = *before;
        }
    }
}

void scan_first_fini(struct scan *scan) {
    for (size_t i = 0; i < scan->first_count; i++) {
        probe_latency_fini(&scan->first[i].latency);
    }
    free(scan->first);
}
