/* SPDX-License-Identifier: Apache-2.0 */
/* cli/scan_first.c - what the first of a scan's two passes found of a form that noise may have spoilt.
 * Disturbances only lengthen a run: where both passes trust what they found, the less of it is nearer; of a
 * latency that is no bound, what is nearer to a whole number. What takes long and is another time each time
 * is not to be trusted. */
#include <math.h>
#include <stdio.h>
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

static bool is_told(const struct probe_latency_pair *pair) {
    return pair->measured && pair->verdict == HX_VERDICT_OK;
}

/* A register's or a flag's: the second pass looks closer, and is right but for what is less than a cycle.
 * What is now some cycles and now some tens waits for what was guessed wrong: it does not have to. */
static bool first_counts(const struct probe_latency_pair *before, const struct probe_latency_pair *now) {
    const double times = 2;
    bool nearer = probe_is_nearer_whole(before->cycles, now->cycles);
    bool guessed = now->cycles >= SCAN_LATENCY_LONG && now->cycles > times * before->cycles;
    if (now->upper_bound) {
        return before->cycles < now->cycles && (now->path == PROBE_PATH_CONTENT || guessed);
    }
    return now->path == PROBE_PATH_CONTENT ? nearer
                                           : guessed || (nearer && fabs(before->cycles - now->cycles) < 1.0);
}

/* Two measuring processes found other times of what takes long: stores that go around the caches, microcode.
 * A slow rhythm of contents is up to two cycles more. */
static bool wavers(const struct probe_latency_pair *before, const struct probe_latency_pair *now) {
    const double within = 0.03, rhythm = 2.2;
    double less = fmin(before->cycles, now->cycles);
    double apart = fmax(within * less, now->path == PROBE_PATH_CONTENT ? rhythm : 0.0);
    return less >= SCAN_LATENCY_LONG && fabs(before->cycles - now->cycles) > apart;
}

static void pair_use(const struct probe_latency_pair *before, struct probe_latency_pair *now) {
    if (wavers(before, now)) {
        (void)snprintf(now->why, sizeof now->why, "unstable: one process measured %.1f cycles, another %.1f",
                       before->cycles, now->cycles);
        now->verdict = HX_VERDICT_UNSTABLE;
    } else if (first_counts(before, now)) {
        *now = *before;
    }
}

void scan_first_use(const struct scan_first *first, struct probe_throughput *throughput,
                    struct probe_latency *latency) {
    bool both = throughput != NULL && probe_throughput_is_steady(&first->throughput) &&
                throughput->verdict == HX_VERDICT_OK;
    if (both) {
        double least = fmin(first->throughput.cycles, throughput->cycles);
        double apart = fabs(first->throughput.cycles - throughput->cycles) / least;
        *throughput = first->throughput.cycles < throughput->cycles ? first->throughput : *throughput;
        throughput->spread = fmax(throughput->spread, apart);
    }
    for (size_t i = 0; latency != NULL && i < latency->count && i < first->latency.count; i++) {
        const struct probe_latency_pair *before = &first->latency.pairs[i];
        struct probe_latency_pair *now = &latency->pairs[i];
        bool same = before->src == now->src && before->dst == now->dst && before->path == now->path &&
                    before->upper_bound == now->upper_bound;
        if (same && is_told(before) && is_told(now)) {
            pair_use(before, now);
        }
    }
}

void scan_first_fini(struct scan *scan) {
    for (size_t i = 0; i < scan->first_count; i++) {
        probe_latency_fini(&scan->first[i].latency);
    }
    free(scan->first);
}
