/* SPDX-License-Identifier: Apache-2.0 */
/* common/cpus.h - sets of CPUs. glibc's cpu_set_t has room for 1024, and Linux refuses to fill one (EINVAL)
 * where it has more possible CPUs. */
#ifndef ISAPROBE_COMMON_CPUS_H
#define ISAPROBE_COMMON_CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

enum { IP_CPUS_MAX = 8192 }; /* as many as Linux for x86-64 can be built for */

/* All-zero is the empty set. */
struct ip_cpus {
    cpu_set_t parts[IP_CPUS_MAX / CPU_SETSIZE];
};

/* A number that is no CPU's is in no set, and adding it does nothing. */
bool ip_cpus_has(const struct ip_cpus *cpus, int cpu);
void ip_cpus_add(struct ip_cpus *cpus, int cpu);
int ip_cpus_count(const struct ip_cpus *cpus);

/* Those that this process may use. Returns 0, or an errno value. */
int ip_cpus_allowed(struct ip_cpus *cpus);
/* From now on process `pid` (0: this one) may use these only. Returns 0, or an errno value. */
int ip_cpus_allow(pid_t pid, const struct ip_cpus *cpus);

#endif
