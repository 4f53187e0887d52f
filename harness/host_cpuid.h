/* SPDX-License-Identifier: Apache-2.0 */
/* harness/host_cpuid.h - what the CPUID and XGETBV instructions of this machine say. */
#ifndef ISAPROBE_HARNESS_HOST_CPUID_H
#define ISAPROBE_HARNESS_HOST_CPUID_H

#include <stdint.h>

#include "common/error.h"

struct cpu_raw_data_t; /* libcpuid's */

/* XCR0, or 0 when the operating system has not enabled XGETBV. */
uint64_t hx_host_xcr0(void);
/* "GenuineIntel", "AuthenticAMD". `vendor` holds 13 bytes. */
void hx_host_vendor(char *vendor);
/* The hypervisor's signature ("KVMKVMKVM"), "" without one. `signature` holds 13 bytes. */
void hx_host_signature(char *signature);

/* CPUID says what the core is on which it runs: on CPU `cpu`, where the process goes for a moment; wherever
 * it is, where that is negative. IP_CAPABILITY when it may not go there. */
IP_CHECK enum ip_status hx_host_cpuid_read(struct cpu_raw_data_t *raw, int cpu, struct ip_error *err);

#endif
