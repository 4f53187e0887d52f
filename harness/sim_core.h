/* SPDX-License-Identifier: Apache-2.0 */
/* harness/sim_core.h - the core model: a sequence of instructions in program order to cycles. Internal to the
 * harness; docs/sim.md describes the model. Deterministic: the same input gives the same cycles. */
#ifndef ISAPROBE_HARNESS_SIM_CORE_H
#define ISAPROBE_HARNESS_SIM_CORE_H

#include "harness/sim_description.h"
#include "harness/sim_op.h"

/* A kernel as instructions. The loop is ops[loop_begin..loop_end]; loop_end is its branch. No loop:
 * loop_begin == count. */
struct hx_sim_program {
    const struct hx_sim_op **ops; /* owned array of borrowed instructions */
    bool *fused;                  /* owned; ops[i] is macro-fused into ops[i + 1] */
    size_t count, capacity;
    size_t loop_begin, loop_end;
    uint64_t hash; /* of the code: seeds its random bindings */
};
void hx_sim_program_fini(struct hx_sim_program *program);

/* cycles(n) = fixed + n * per_iteration. */
struct hx_sim_cost {
    double fixed_cycles, cycles_per_iteration;
    double uops_per_iteration; /* on the ports that the description says to count */
};

struct hx_sim_widths {
    unsigned issue, retire; /* slots per cycle that this thread gets */
};

IP_CHECK enum ip_status hx_sim_core_run(const struct hx_sim_description *description,
                                        const struct hx_sim_program *program, struct hx_sim_widths widths,
                                        struct hx_sim_cost *cost, struct ip_error *err);

#endif
