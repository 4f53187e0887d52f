/* SPDX-License-Identifier: Apache-2.0 */
/* harness/sim.h - the timer `sim:FILE`: kernels run on a model of a CPU that FILE describes (docs/sim.md), so
 * that the whole pipeline can be tested, deterministically, on CPUs that are not here.
 *
 * The kernel's machine code is decoded, never executed. Samples depend only on the description and on the
 * sequence of the jobs. */
#ifndef ISAPROBE_HARNESS_SIM_H
#define ISAPROBE_HARNESS_SIM_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "harness/timer.h"

extern const struct hx_timer_ops hx_timer_sim;

/* The exact cost of machine code on the simulated CPU of an open `sim` timer, without noise:
 * cycles(n iterations) = *fixed_cycles + n * *cycles_per_iteration. What tests compare results with.
 * IP_UNSUPPORTED: the code does not run there; the text says why. */
IP_CHECK enum ip_status hx_sim_exact_cycles(struct hx_timer *timer, const uint8_t *code, size_t code_bytes,
                                            double *fixed_cycles, double *cycles_per_iteration,
                                            struct ip_error *err);

#endif
