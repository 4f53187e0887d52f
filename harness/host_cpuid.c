/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/host_cpuid.h"

#include <cpuid.h>
#include <string.h>

#define CPUID1_ECX_OSXSAVE    (1u << 27)
#define CPUID1_ECX_HYPERVISOR (1u << 31)

static uint32_t leaf1_ecx(void) {
    uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 ? ecx : 0;
}

uint64_t hx_host_xcr0(void) {
    if ((leaf1_ecx() & CPUID1_ECX_OSXSAVE) == 0) {
        return 0;
    }
    uint32_t low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

void hx_host_vendor(char *vendor) {
    uint32_t words[3] = {0}, eax = 0; /* EBX, EDX, ECX */
    memset(vendor, 0, 13);
    if (__get_cpuid(0, &eax, &words[0], &words[2], &words[1]) != 0) {
        memcpy(vendor, words, sizeof words);
    }
}

void hx_host_signature(char *signature) {
    memset(signature, 0, 13);
    if ((leaf1_ecx() & CPUID1_ECX_HYPERVISOR) != 0) {
        uint32_t words[3] = {0}, eax = 0;
        __cpuid(0x40000000, eax, words[0], words[1], words[2]);
        memcpy(signature, words, sizeof words);
    }
}
