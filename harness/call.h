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
};

/* Calls the kernel at `entry` (generator/abi.h) with the callee-saved registers set to known values; the
 * arena must be mapped. Returns a mask of enum hx_wreck, 0 when all was kept. */
uint64_t hx_call(uintptr_t entry, uint64_t iterations);

#endif
