/* SPDX-License-Identifier: Apache-2.0 */
/* generator/abi.h - what a kernel and the harness that runs it agree on.
 *
 * A kernel is a function void kernel(uint64_t iterations) in the System V ABI: RDI holds the number of
 * iterations (> 0) of its loop; it keeps the callee-saved registers, RSP, MXCSR and the direction flag, and
 * returns. Its code is position-independent. The harness maps an arena at a fixed low address, so that
 * kernels reach it with 32-bit absolute addresses. */
#ifndef ISAPROBE_GENERATOR_ABI_H
#define ISAPROBE_GENERATOR_ABI_H

#define GEN_ARENA_ADDRESS 0x20000000u /* start of the arena; read-write, locked in memory */
#define GEN_ARENA_BYTES   0x40000u
#define GEN_CODE_ADDRESS  0x10000000u /* the harness maps code from here on; kernels do not rely on it */

/* Control page, at the start of the arena. */
#define GEN_ARENA_RSP   0x20000000u /* 8 bytes: the kernel saves RSP here */
#define GEN_ARENA_MXCSR 0x20000008u /* 4 bytes: the caller's MXCSR, saved by the kernel */
#define GEN_ARENA_FAST_FP                                                                                    \
    0x2000000cu /* 4 bytes: MXCSR with FTZ and DAZ set, all exceptions masked (0x9fc0); written by the       \
                   harness */
#define GEN_ARENA_COUNTER 0x20000010u /* 8 bytes: loop counter of kernels that leave no register free */
#define GEN_ARENA_X87     0x20000018u /* 4 bytes: what a kernel loads onto the x87 stack */
#define GEN_ARENA_TILES   0x20000080u /* 64 bytes: the tile configuration; written by the kernel */
#define GEN_ARENA_VECTOR                                                                                     \
    0x20000100u /* 64 bytes: the kernel's `vector_fill`, loaded into its vector registers */
#define GEN_ARENA_FORWARD 0x20000200u /* 16 bytes: what a sentinel stores and loads again */

/* Data pages: filled with the kernel's `memory_fill` (64 bytes, repeated) before each kernel that reaches
 * them (gen_kernel.reaches_data) runs. */
#define GEN_DATA_ADDRESS 0x20010000u
#define GEN_DATA_BYTES   0x10000u
/* The memory base register of generated kernels points here: 16 KiB of data below and 48 KiB above it. */
#define GEN_DATA_BASE 0x20014000u

/* Stack of generated kernels that push and pop: RSP stays the harness's own unless the kernel is a user
 * block. */
#define GEN_STACK_ADDRESS 0x20030000u
#define GEN_STACK_TOP     0x20038000u

#define GEN_REG_COUNTER 15u /* r15 counts the loop's iterations */
#define GEN_REG_BASE    14u /* r14 = GEN_DATA_BASE */

#endif
