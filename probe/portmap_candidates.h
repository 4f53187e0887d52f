/* SPDX-License-Identifier: Apache-2.0 */
/* probe/portmap_candidates.h - which forms of the table are tried as members of port classes. */
#ifndef ISAPROBE_PROBE_PORTMAP_CANDIDATES_H
#define ISAPROBE_PROBE_PORTMAP_CANDIDATES_H

#include "probe/portmap.h"

/* Fills map->members: forms whose operands are registers (and immediates), one for each mnemonic and world
 * and a few for each family of mnemonics, plus plain loads and stores and scaled addresses. Only forms whose
 * instances can run beside each other. Derives the forms of `table` that could serve. */
IP_CHECK enum ip_status probe_port_candidates(const struct isa_table *table, struct probe_portmap *map,
                                              struct ip_error *err);

/* How well a form serves as a blocker: smaller is better. Forms that read what they write, read or write
 * flags, or have fixed registers disturb their neighbours. */
unsigned probe_port_blemishes(const struct isa_form *form);

#endif
