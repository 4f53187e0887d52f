/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cores.h"

#include <stdlib.h>
#include <string.h>

#include "harness/host_files.h"

static const struct {
    const char *name, *path;
} kinds[HX_CORE_KINDS] = {
    [HX_CORE_ALIKE] = {"", NULL},
    [HX_CORE_PERFORMANCE] = {"performance", HX_HOST_CORES},
    [HX_CORE_EFFICIENCY] = {"efficiency", HX_HOST_ATOMS},
    [HX_CORE_LOW_POWER] = {"low-power", HX_HOST_LOW_POWER},
};

/* However long the list is: with gaps a machine's CPUs fill more than any line. */
static void list_read(struct ip_cpus *cpus, const char *root, const char *path) {
    struct ip_text name = {0}, list = {0};
    struct ip_error absent; /* then there are none of that kind */
    ip_text_printf(&name, "%s%s", root, path);
    memset(cpus, 0, sizeof *cpus);
    if (!name.failed && ip_file_read(&list, ip_text_string(&name), 1u << 20, &absent) == IP_OK) {
        (void)hx_cpus_of_list(cpus, ip_text_string(&list));
    }
    ip_text_fini(&list);
    ip_text_fini(&name);
}

void hx_cores_read(struct hx_cores *cores, const char *root) {
    memset(&cores->cpus[HX_CORE_ALIKE], 0, sizeof cores->cpus[HX_CORE_ALIKE]);
    for (unsigned kind = HX_CORE_PERFORMANCE; kind < HX_CORE_KINDS; kind++) {
        list_read(&cores->cpus[kind], root, kinds[kind].path);
    }
}

const char *hx_core_kind_name(enum hx_core_kind kind) {
    return kinds[kind].name;
}

bool hx_cpu_range_next(const char **list, int *first, int *last) {
    char *end = NULL;
    long from = strtol(*list, &end, 10), to = from;
    bool good = **list >= '0' && **list <= '9'; /* strtol would take blanks, too, and go to the next line */
    if (good && *end == '-') {
        const char *second = end + 1;
        to = strtol(second, &end, 10);
        good = end != second;
    }
    good = good && to >= from && to < IP_CPUS_MAX && (*end == ',' || *end == '\n' || *end == '\0');
    if (good) {
        *list = *end == ',' ? end + 1 : end;
        *first = (int)from;
        *last = (int)to;
    }
    return good;
}

bool hx_cpus_of_list(struct ip_cpus *cpus, const char *list) {
    int first = 0, last = 0;
    memset(cpus, 0, sizeof *cpus);
    while (hx_cpu_range_next(&list, &first, &last)) {
        for (int cpu = first; cpu <= last; cpu++) {
            ip_cpus_add(cpus, cpu);
        }
    }
    bool good = *list == '\0' || *list == '\n';
    if (!good) {
        memset(cpus, 0, sizeof *cpus);
    }
    return good;
}

void hx_cpus_print(struct ip_text *text, const struct ip_cpus *cpus) {
    const char *between = "";
    for (int first = 0; first < IP_CPUS_MAX; first++) {
        if (!ip_cpus_has(cpus, first)) {
            continue;
        }
        int last = first;
        while (ip_cpus_has(cpus, last + 1)) {
            last++;
        }
        ip_text_printf(text, last > first ? "%s%d-%d" : "%s%d", between, first, last);
        between = ",";
        first = last;
    }
}

enum hx_core_kind hx_core_kind(const struct hx_cores *cores, int cpu) {
    for (unsigned kind = HX_CORE_PERFORMANCE; kind < HX_CORE_KINDS; kind++) {
        if (ip_cpus_has(&cores->cpus[kind], cpu)) {
            return (enum hx_core_kind)kind;
        }
    }
    return HX_CORE_ALIKE;
}

/* -1: there is none. */
static int first_allowed(const struct ip_cpus *cpus, const struct ip_cpus *allowed) {
    for (int cpu = 0; cpu < IP_CPUS_MAX; cpu++) {
        if (ip_cpus_has(cpus, cpu) && ip_cpus_has(allowed, cpu)) {
            return cpu;
        }
    }
    return -1;
}

int hx_core_default(const struct hx_cores *cores, const struct ip_cpus *allowed, int now) {
    for (unsigned kind = HX_CORE_PERFORMANCE; kind < HX_CORE_KINDS; kind++) {
        int cpu = first_allowed(&cores->cpus[kind], allowed);
        if (cpu >= 0) {
            return ip_cpus_has(&cores->cpus[kind], now) ? now : cpu;
        }
    }
    return now;
}
