/* SPDX-License-Identifier: Apache-2.0 */
/* harness/filler.h - which instruction takes an issue slot, and nothing else, on this core.
 *
 * A NOP does on most. Some cores (Zen 4) join a NOP to the instruction before it and issue both in one slot:
 * twelve NOPs a cycle on a core of six slots, and an instruction among NOPs costs half a slot or none. There
 * a move of a register to itself, which rename removes, is the filler. */
#ifndef ISAPROBE_HARNESS_FILLER_H
#define ISAPROBE_HARNESS_FILLER_H

#include "common/error.h"
#include "harness/meter.h"

/* Measures moves alone, each with a NOP behind it, and with two; sets bench->filler to GEN_FILLER_MOVE where
 * the first NOP costs nothing and the second does, and to GEN_FILLER_NOP elsewhere, or where they do not run
 * (`bench` has a timer and its references). The text is static. IP_NO_MEMORY, or what the timer says. */
IP_CHECK enum ip_status hx_filler_choose(struct hx_bench *bench, struct ip_error *err);

#endif
