/* SPDX-License-Identifier: Apache-2.0 */
/* harness/filler.h - which instruction takes an issue slot, and nothing else, on this core.
 *
 * A NOP does on most. Some cores (Zen 4) join a NOP to the instruction before it and issue both in one slot:
 * twelve NOPs a cycle on a core of six slots, and an instruction among NOPs costs half a slot or none. There
 * a move of a register to itself, which rename removes, is the filler. Others (Zen 5) fetch short
 * instructions slower than they issue them, six NOPs of four bytes a cycle where there are eight slots: there
 * a longer NOP is. */
#ifndef ISAPROBE_HARNESS_FILLER_H
#define ISAPROBE_HARNESS_FILLER_H

#include "common/error.h"
#include "harness/meter.h"

/* Measures moves alone, each with a NOP behind it, and with two, and NOPs and long ones; sets bench->filler
 * to GEN_FILLER_MOVE where the first NOP costs nothing and the second does, to GEN_FILLER_LONG_NOP where long
 * ones take clearly less time, and to GEN_FILLER_NOP elsewhere, or where one of these does not run (`bench`
 * has a timer and its references). IP_NO_MEMORY, or what the timer says. */
IP_CHECK enum ip_status hx_filler_choose(struct hx_bench *bench, struct ip_error *err);

#endif
