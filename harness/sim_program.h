/* SPDX-License-Identifier: Apache-2.0 */
/* harness/sim_program.h - machine code of a kernel to what the core model runs. Internal to the harness. */
#ifndef ISAPROBE_HARNESS_SIM_PROGRAM_H
#define ISAPROBE_HARNESS_SIM_PROGRAM_H

#include "harness/sim_core.h"

/* Every distinct instruction is decoded once. */
struct hx_sim_ops {
    struct hx_sim_cached_op **slots; /* owned, and what they point to */
    uint16_t *lengths; /* owned; by the first two bytes: bit n, instructions of n bytes are known */
    size_t count, size;
};
void hx_sim_ops_fini(struct hx_sim_ops *ops); /* all-zero is fine and empty */

/* Why a kernel cannot run. */
struct hx_sim_verdict {
    enum hx_outcome outcome;
    char why[96];
};

/* Decodes `code` up to its return and finds its loop: the longest span that a backward branch closes. What
 * the model cannot run (an instruction that is not listed within the loop, one with a scripted fault, bytes
 * that are no instruction, a loop without an end) is told in `verdict`; then `program` is untouched. */
IP_CHECK enum ip_status hx_sim_program_build(struct hx_sim_program *program, struct hx_sim_ops *ops,
                                             const struct hx_sim_description *description,
                                             const uint8_t *code, size_t code_bytes,
                                             struct hx_sim_verdict *verdict, struct ip_error *err);

#endif
