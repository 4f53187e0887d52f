/* SPDX-License-Identifier: Apache-2.0 */
/* harness/call.h - calls a kernel and checks that it kept what the ABI says it must keep. */
#ifndef ISAPROBE_HARNESS_CALL_H
#define ISAPROBE_HARNESS_CALL_H

#include <stdint.h>

enum hx_wreck {
    HX_WRECK_CALLEE_SAVED = 1, /* RBX, RBP or R12-R15 */
    HX_WRECK_STACK = 2,        /* RSP after the return */
    HX_WRECK_DIRECTION = 4,    /* RFLAGS.DF set */
    HX_WRECK_MXCSR = 8,
    HX_WRECK_ILLEGAL = 16, /* nothing is wrecked: the kernel was left at an instruction that the CPU lacks */
};

/* Calls the kernel at `entry` (generator/abi.h) with the callee-saved registers set to known values; the
 * arena must be mapped. Returns a mask of enum hx_wreck, 0 when all was kept. */
uint64_t hx_call(uintptr_t entry, uint64_t iterations);

/* Where a signal handler goes on to leave the kernel that runs: hx_call returns HX_WRECK_ILLEGAL, with all
 * that it keeps as it was before the call, and an x87 stack that is empty. */
void hx_call_leave(void);

#endif
