/* SPDX-License-Identifier: Apache-2.0 */
/* harness/host_files.h - the files that describe a host, shared by the reader and the recorder. */
#ifndef ISAPROBE_HARNESS_HOST_FILES_H
#define ISAPROBE_HARNESS_HOST_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/cores.h"

#define HX_HOST_CPUINFO     "/proc/cpuinfo"
#define HX_HOST_STATUS      "/proc/self/status"
#define HX_HOST_PARANOID    "/proc/sys/kernel/perf_event_paranoid"
#define HX_HOST_SMT         "/sys/devices/system/cpu/smt/active"
#define HX_HOST_NO_TURBO    "/sys/devices/system/cpu/intel_pstate/no_turbo"
#define HX_HOST_BOOST       "/sys/devices/system/cpu/cpufreq/boost"
#define HX_HOST_CORES       "/sys/devices/cpu_core/cpus"
#define HX_HOST_ATOMS       "/sys/devices/cpu_atom/cpus"
#define HX_HOST_LOW_POWER   "/sys/devices/cpu_lowpower/cpus"
#define HX_HOST_CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* Of one CPU, below its directory (hx_host_cpu_file). */
#define HX_HOST_SIBLINGS "topology/thread_siblings_list"
#define HX_HOST_GOVERNOR "cpufreq/scaling_governor"
#define HX_HOST_DRIVER   "cpufreq/scaling_driver"
#define HX_HOST_PACKAGE  "topology/physical_package_id"
#define HX_HOST_DIE      "topology/die_id"

/* What only instructions tell; in a recorded tree these are files. */
#define HX_HOST_CPUID      "/cpuid.raw"  /* libcpuid's raw dump */
#define HX_HOST_XCR0       "/xcr0"       /* hexadecimal */
#define HX_HOST_HYPERVISOR "/hypervisor" /* the signature in CPUID leaf 0x40000000 */

/* The CPU that is measured where nobody names one: of `root`'s first kind of core, -1 where all are alike. */
int hx_host_core(const struct hx_cores *cores, const char *root);

/* The path of a CPU's file; of the first CPU's where `cpu` is negative. */
void hx_host_cpu_file(char path[128], int cpu, const char *file);

/* A short file below the root, without its newline. False, and "", when it cannot be read. */
bool hx_host_word_read(const char *root, const char *path, char *word, size_t size);

#endif
