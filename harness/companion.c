/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/companion.h"

#include <cpuid.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cpus.h"
#include "harness/cores.h"
#include "harness/host_files.h"
#include "harness/sandbox.h"

static bool in_virtual_machine(void) {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & (1u << 31)) != 0;
}

static bool allowed(int cpu) {
    struct ip_cpus cpus;
    return ip_cpus_allowed(&cpus) == 0 && ip_cpus_has(&cpus, cpu);
}

/* The first of "0,64" or "2-3" that is not `cpu`; -1: there is no other. */
static int sibling_read(const char *root, int cpu) {
    char path[128], list[128];
    hx_host_cpu_file(path, cpu, HX_HOST_SIBLINGS);
    int sibling = -1, first = 0, last = 0;
    (void)hx_host_word_read(root, path, list, sizeof list);
    for (const char *rest = list; sibling < 0 && hx_cpu_range_next(&rest, &first, &last);) {
        sibling = first != cpu ? first : last != cpu ? first + 1 : -1;
    }
    return sibling;
}

int hx_companion_cpu(const char *root, int cpu) {
    if (cpu < 0 || !in_virtual_machine()) {
        return -1;
    }
    struct hx_cores cores;
    hx_cores_read(&cores, root);
    int sibling = sibling_read(root, cpu);
    int other = sibling >= 0 ? sibling : cpu ^ 1;
    bool alike = hx_core_kind(&cores, other) == hx_core_kind(&cores, cpu);
    return alike && allowed(other) ? other : -1;
}

/* A fence waits for the one before and takes hardly any issue slot, no execution port for long and neither
 * divider nor cache; PAUSE gives what there is to the other thread. */
static _Noreturn void keep_busy(void) {
    for (;;) {
        __asm__ volatile("pause\n\tmfence\n\tmfence\n\tmfence\n\tmfence" ::: "memory");
    }
}

static _Noreturn void companion_run(int cpu, pid_t parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent || hx_cpu_pin(0, cpu) != 0) {
        _exit(1);
    }
    /* The system takes a CPU with nothing else to run for an idle one and puts there what starts, not beside
     * what measures; where that is refused a low priority does. */
    (void)sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
    (void)setpriority(PRIO_PROCESS, 0, 19);
    (void)close_range(0, ~0U, 0); /* nobody waits for the end of a pipe because of it */
    keep_busy();
}

void hx_companion_start(struct hx_companion *companion, int cpu) {
    *companion = (struct hx_companion){.cpu = cpu};
    if (cpu < 0) {
        return;
    }
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        companion_run(cpu, parent);
    }
    companion->pid = pid > 0 ? pid : 0;
}

void hx_companion_move(struct hx_companion *companion, int cpu) {
    if (companion->pid > 0 && hx_cpu_pin(companion->pid, cpu) == 0) {
        companion->cpu = cpu;
    }
}

void hx_companion_stop(struct hx_companion *companion) {
    if (companion->pid > 0) {
        (void)kill(companion->pid, SIGKILL);
        while (waitpid(companion->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    *companion = (struct hx_companion){0};
}
