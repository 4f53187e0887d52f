/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/bounds.h - the closed forms. Internal to oncore/. */
#ifndef ISAPROBE_ONCORE_BOUNDS_H
#define ISAPROBE_ONCORE_BOUNDS_H

#include "oncore/oncore.h"

/* Cycles in which the ports take all µops: max over sets Q of (µops confined to Q) / |Q|. *ports gets a set
 * that binds. */
IP_CHECK enum ip_status core_ports_bound(const struct core_block *block, double *cycles, uint32_t *ports,
                                         struct ip_error *err);

/* How the µops spread over the ports when the fullest port is as empty as can be, then the next, and so on.
 */
IP_CHECK enum ip_status core_pressure_spread(const struct core_block *block, double pressure[CORE_PORTS_MAX],
                                             double (*shares)[CORE_PORTS_MAX], struct ip_error *err);

double core_slots_count(const struct core_block *block);
double core_unit_bound(const struct core_block *block);
/* Predecode, decode, µop cache and loop bounds, as far as their parameters are known. */
void core_front_bounds(const struct core_costs *costs, const struct core_block *block,
                       const struct core_options *options, double slots, double bounds[CORE_BOUNDS]);

/* oncore/chain.c: the longest cycle of dependences and its links. */
IP_CHECK enum ip_status core_chain_bound(const struct core_costs *costs, const struct core_options *options,
                                         struct core_prediction *prediction, struct ip_error *err);

#endif
