/* SPDX-License-Identifier: Apache-2.0 */
/* probe/portmap_candidates.h - which forms of the table are tried as members of port classes. */
#ifndef ISAPROBE_PROBE_PORTMAP_CANDIDATES_H
#define ISAPROBE_PROBE_PORTMAP_CANDIDATES_H

#include "probe/portmap.h"

/* Fills map->members: forms whose operands are registers (and immediates), one for each mnemonic and world
 * and a few for each family of mnemonics, plus plain loads and stores and scaled addresses. Only forms whose
 * instances can run beside each other. Derives the forms of `table` that could serve. `legacy`: of vectors
 * those of legacy SSE and no others, for cores without AVX. */
IP_CHECK enum ip_status probe_port_candidates(const struct isa_table *table, bool legacy,
                                              struct probe_portmap *map, struct ip_error *err);

/* Is it legacy SSE that reads the xmm register which it writes? Then an instance waits for the one before it
 * in the same register. */
bool probe_port_waits(const struct isa_form *form);

/* How well a form serves as a blocker: smaller is better. Forms that read what they write, read or write
 * flags, or have fixed registers disturb their neighbours. */
unsigned probe_port_blemishes(const struct isa_form *form);

#endif
