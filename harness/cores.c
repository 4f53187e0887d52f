/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cores.h"

#include <stdlib.h>

#include "harness/host_files.h"

static const struct {
    const char *name, *path;
} kinds[HX_CORE_KINDS] = {
    [HX_CORE_ALIKE] = {"", NULL},
    [HX_CORE_PERFORMANCE] = {"performance", HX_HOST_CORES},
    [HX_CORE_EFFICIENCY] = {"efficiency", HX_HOST_ATOMS},
    [HX_CORE_LOW_POWER] = {"low-power", HX_HOST_LOW_POWER},
};

void hx_cores_read(struct hx_cores *cores, const char *root) {
    cores->cpus[HX_CORE_ALIKE][0] = '\0';
    for (unsigned kind = HX_CORE_PERFORMANCE; kind < HX_CORE_KINDS; kind++) {
        (void)hx_host_word_read(root, kinds[kind].path, cores->cpus[kind], sizeof cores->cpus[kind]);
    }
}

const char *hx_core_kind_name(enum hx_core_kind kind) {
    return kinds[kind].name;
}

bool hx_cpu_range_next(const char **list, int *first, int *last) {
    enum { MOST = 65535 };
    char *end = NULL;
    long from = strtol(*list, &end, 10), to = from;
    bool good = end != *list && from >= 0;
    if (good && *end == '-') {
        const char *second = end + 1;
        to = strtol(second, &end, 10);
        good = end != second;
    }
    good = good && to >= from && to <= MOST && (*end == ',' || *end == '\0');
    if (good) {
        *list = *end == ',' ? end + 1 : end;
        *first = (int)from;
        *last = (int)to;
    }
    return good;
}

static bool list_has(const char *list, int cpu) {
    int first = 0, last = 0;
    bool has = false;
    while (!has && hx_cpu_range_next(&list, &first, &last)) {
        has = cpu >= first && cpu <= last;
    }
    return has;
}

enum hx_core_kind hx_core_kind(const struct hx_cores *cores, int cpu) {
    for (unsigned kind = HX_CORE_PERFORMANCE; kind < HX_CORE_KINDS; kind++) {
        if (list_has(cores->cpus[kind], cpu)) {
            return (enum hx_core_kind)kind;
        }
    }
    return HX_CORE_ALIKE;
}

/* -1: there is none. */
static int first_allowed(const char *list, const struct ip_cpus *allowed) {
    int first = 0, last = 0;
    while (hx_cpu_range_next(&list, &first, &last)) {
        for (int cpu = first; cpu <= last; cpu++) {
            if (ip_cpus_has(allowed, cpu)) {
                return cpu;
            }
        }
    }
    return -1;
}

int hx_core_default(const struct hx_cores *cores, const struct ip_cpus *allowed, int now) {
    for (unsigned kind = HX_CORE_PERFORMANCE; kind < HX_CORE_KINDS; kind++) {
        int cpu = first_allowed(cores->cpus[kind], allowed);
        if (cpu >= 0) {
            return list_has(cores->cpus[kind], now) ? now : cpu;
        }
    }
    return now;
}
