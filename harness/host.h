/* SPDX-License-Identifier: Apache-2.0 */
/* harness/host.h - what this machine is: CPU identity (libcpuid), clocks, topology, counters, and what is
 * degraded. Every reader of sysfs and procfs takes a root directory, so that recorded trees serve in tests.
 */
#ifndef ISAPROBE_HARNESS_HOST_H
#define ISAPROBE_HARNESS_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/text.h"
#include "harness/cores.h"

struct hx_host {
    struct hx_cores cores;
    int cpu;            /* that is described, or another of its kind; -1: all are alike */
    char core_kind[16]; /* of its core: "performance", "efficiency" ...; "" where all are alike */
    char vendor[16], brand[64], codename[64];
    int family, model, stepping;
    bool hypervisor;
    char hypervisor_name[16];
    bool emulated;          /* it executes the guest's instructions by others of its own: QEMU without KVM */
    uint64_t tsc_hz;        /* 0: unknown */
    bool tsc_invariant;     /* constant and nonstop */
    int cpus, cpus_allowed; /* 0: unknown */
    int smt_siblings;       /* threads per core as the system says; 0: unknown */
    char smt_active[8];     /* "0", "1" or "" (sysfs) */
    char governor[32], scaling_driver[32]; /* "" where there is no cpufreq */
    char turbo[8];                         /* "on", "off", "" */
    char clocksource[32];                  /* the kernel's current one, "" where unknown */
    int perf_event_paranoid;               /* -99: unknown */
    uint64_t l1d_bytes, l1i_bytes, l2_bytes, l3_bytes;
    bool avx, avx2, avx512, amx; /* usable: CPUID and XGETBV */
    struct ip_lines features;    /* CPUID feature names, sorted */
};

/* `root` "" for this machine, else the root of a recorded tree (CPUID then comes from ROOT/cpuid.raw, a
 * libcpuid raw dump). `cpu` is the one that will be measured, -1 where nobody named one: the process goes
 * there for a moment where cores are of several kinds. IP_CAPABILITY when it cannot, or that CPU is of no
 * kind. */
IP_CHECK enum ip_status hx_host_read(struct hx_host *host, const char *root, int cpu, struct ip_error *err);
void hx_host_fini(struct hx_host *host); /* all-zero is fine */

/* Writes what hx_host_read looks at on this machine, of the same `cpu`, to `directory` (made if absent), as a
 * recorded tree. */
IP_CHECK enum ip_status hx_host_record(const char *directory, int cpu, struct ip_error *err);

#endif
