/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cpus.h"

#include <errno.h>

static bool is_number(int cpu) {
    return cpu >= 0 && cpu < IP_CPUS_MAX;
}

bool ip_cpus_has(const struct ip_cpus *cpus, int cpu) {
    return is_number(cpu) && CPU_ISSET_S((size_t)cpu, sizeof cpus->parts, cpus->parts);
}

void ip_cpus_add(struct ip_cpus *cpus, int cpu) {
    if (is_number(cpu)) {
        CPU_SET_S((size_t)cpu, sizeof cpus->parts, cpus->parts);
    }
}

int ip_cpus_count(const struct ip_cpus *cpus) {
    return CPU_COUNT_S(sizeof cpus->parts, cpus->parts);
}

int ip_cpus_allowed(struct ip_cpus *cpus) {
    struct ip_cpus found;
    if (sched_getaffinity(0, sizeof found.parts, found.parts) != 0) {
        return errno;
    }
    *cpus = found;
    return 0;
}

int ip_cpus_allow(pid_t pid, const struct ip_cpus *cpus) {
    return sched_setaffinity(pid, sizeof cpus->parts, cpus->parts) == 0 ? 0 : errno;
}
