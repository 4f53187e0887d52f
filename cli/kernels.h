/* SPDX-License-Identifier: Apache-2.0 */
/* cli/kernels.h - kernels that the user describes himself, measured together. */
#ifndef ISAPROBE_CLI_KERNELS_H
#define ISAPROBE_CLI_KERNELS_H

#include "cli/bench.h"
#include "generator/program.h"

/* What the registers and the memory of a block begin with, in this order of trial. The first is the BHive
 * protocol's (Chen et al. 2019): a mappable address, also after some arithmetic. Blocks that shift or
 * multiply it out of the address space, or divide by it, may run with the others. */
enum { CLI_FILLS = 3 };
extern const uint64_t cli_fills[CLI_FILLS];
/* Would another of them help? */
bool cli_fill_failed(const struct hx_stat *stat);

/* The program of a block of code: copies in a row, or once as the body of a loop. Errors as of
 * gen_block_program. */
IP_CHECK enum ip_status cli_block_program(struct gen_program *program, const struct ip_text *code, bool loop,
                                          uint64_t fill, struct ip_error *err);

struct cli_kernels {
    struct gen_program *programs; /* to be filled by the caller, who notes the outcome of each */
    bool *usable;
    struct gen_kernel *kernels;
    struct hx_stat *stats;
    size_t count;
};

IP_CHECK enum ip_status cli_kernels_init(struct cli_kernels *kernels, size_t count, struct ip_error *err);
void cli_kernels_fini(struct cli_kernels *kernels);

/* Notes how programs[i] came out: IP_SYNTAX and IP_UNSUPPORTED become the reason why stats[i] is a fault, and
 * the call succeeds; what else went wrong is passed on. */
IP_CHECK enum ip_status cli_kernels_note(struct cli_kernels *kernels, size_t i, enum ip_status status,
                                         struct ip_error *err);

/* Assembles and measures all usable programs: one NASM run, one batch. `copies` as in gen_kernel_build; where
 * they are given and so few that the loop's own cycle hides them, the verdict is HX_VERDICT_UNSTABLE. */
IP_CHECK enum ip_status cli_kernels_measure(struct cli_kernels *kernels, struct cli_bench *bench,
                                            unsigned copies, struct ip_error *err);

#endif
