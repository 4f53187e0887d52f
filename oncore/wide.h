/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/wide.h - operations of 512 bits that close ports for narrower vectors. Internal to oncore/. */
#ifndef ISAPROBE_ONCORE_WIDE_H
#define ISAPROBE_ONCORE_WIDE_H

#include "oncore/block.h"
#include "oncore/cost.h"

/* Into costs->wide_closed: the ports of those forms that the core's parameters say to lose one ("wide", a
 * fact of probe/core_params.h), but for the ports that operations of 512 bits have themselves. Statuses as
 * the store's. */
IP_CHECK enum ip_status core_wide_ports_find(struct core_costs *costs, struct ip_error *err);

/* In a block with a register of 512 bits they are closed for narrower vectors: one is always in flight. */
void core_wide_close(struct core_block *block, const struct core_costs *costs);

#endif
