/* SPDX-License-Identifier: Apache-2.0 */
/* harness/floor.h - the least that a sentinel takes in any of many short runs. Beside a neighbour who stays
 * hardly a long run is calm, and what most of them agree on is how much he leaves; but he waits for memory
 * himself, and for a thousand cycles nobody is there. docs/method.md, "What undisturbed means". Internal to
 * harness/. */
#ifndef ISAPROBE_HARNESS_FLOOR_H
#define ISAPROBE_HARNESS_FLOOR_H

#include "harness/meter.h"

/* *cycles: of a NOP, a load or a round through memory, in the least of some hundred runs on each CPU between
 * which the bench roams; NaN where the sentinel or its chain does not run. A few per cent too much or, with a
 * coarse clock, too little. */
IP_CHECK enum ip_status hx_floor_measure(struct hx_bench *bench, enum hx_sentinel sentinel, double *cycles,
                                         struct ip_error *err);

#endif
