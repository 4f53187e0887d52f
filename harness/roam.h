/* SPDX-License-Identifier: Apache-2.0 */
/* harness/roam.h - leaving a CPU on whose core somebody else works, for the companion's. A hypervisor that
 * does not pin the CPUs of its guests has them on different cores for minutes, each with a neighbour of its
 * own: while one is disturbed all the time the other may be at peace. docs/method.md, "The other thread of
 * the core".
 */
#ifndef ISAPROBE_HARNESS_ROAM_H
#define ISAPROBE_HARNESS_ROAM_H

#include "harness/meter.h"

/* Lets measuring process and companion change places, also one that is held. Nothing happens where the bench
 * may not roam (hx_bench.roams) or that is not possible. */
void hx_bench_roam(struct hx_bench *bench);

#endif
