/* SPDX-License-Identifier: Apache-2.0 */
/* harness/cores.h - machines with cores of several kinds, such as Intel's since Alder Lake: another kind is
 * another CPU, with a store of its own, and nothing moves from one to the other in the middle of a run.
 * docs/method.md, "Cores of several kinds". */
#ifndef ISAPROBE_HARNESS_CORES_H
#define ISAPROBE_HARNESS_CORES_H

#include <stdbool.h>

#include "common/cpus.h"
#include "common/text.h"

enum hx_core_kind {
    HX_CORE_ALIKE, /* the system tells no kinds apart */
    HX_CORE_PERFORMANCE,
    HX_CORE_EFFICIENCY,
    HX_CORE_LOW_POWER,
    HX_CORE_KINDS
};

struct hx_cores {
    struct ip_cpus cpus[HX_CORE_KINDS]; /* of each kind; HX_CORE_ALIKE: none */
};

/* As Linux lists them for perf (/sys/devices/cpu_core/cpus) below `root`. */
void hx_cores_read(struct hx_cores *cores, const char *root);

/* The kind of that CPU's core. */
enum hx_core_kind hx_core_kind(const struct hx_cores *cores, int cpu);

/* "performance"; "" for HX_CORE_ALIKE. Static. */
const char *hx_core_kind_name(enum hx_core_kind kind);

/* The CPU to measure where nobody named one: of the first kind of which some are allowed, so that all runs
 * measure the same. `now`, on which the process is, where it is one of those, or all are alike. */
int hx_core_default(const struct hx_cores *cores, const struct ip_cpus *allowed, int now);

/* Of a list such as "0-3,8", up to a newline or the end of the string: the next range, and *list behind it.
 * False at its end, or where it is none. */
bool hx_cpu_range_next(const char **list, int *first, int *last);
/* The CPUs of such a list. False, and an empty set, where it is none. */
bool hx_cpus_of_list(struct ip_cpus *cpus, const char *list);
/* Appends such a list. */
void hx_cpus_print(struct ip_text *text, const struct ip_cpus *cpus);

#endif
