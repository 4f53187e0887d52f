/* SPDX-License-Identifier: Apache-2.0 */
/* results/core.h - the core's parameters in the store: table core(key, value, spread, how, run_id). */
#ifndef ISAPROBE_RESULTS_CORE_H
#define ISAPROBE_RESULTS_CORE_H

#include "probe/core_params.h"
#include "results/store.h"

/* Stores all that `core` knows, in one transaction; what the store knows beyond that is kept. A run must have
 * begun. */
IP_CHECK enum ip_status res_core_put(struct res_store *store, const struct probe_core *core,
                                     struct ip_error *err);

/* The same for what a scan sees by the way, whose `how` begins with RES_CORE_OF_SCAN: what was put stays. */
#define RES_CORE_OF_SCAN "scan: "
IP_CHECK enum ip_status res_core_add(struct res_store *store, const struct probe_core *core,
                                     struct ip_error *err);

/* Reads what is known; nothing, when the store has no such table. Names that this version does not know are
 * passed over. Replaces `core`, which must be all-zero or hold earlier values. */
IP_CHECK enum ip_status res_core_get(struct res_store *store, struct probe_core *core, struct ip_error *err);

/* Issue slots a cycle as other experiments saw them: the port map's, else that of the last run's NOP
 * sentinel; NaN when the store has neither. */
IP_CHECK enum ip_status res_width_get(struct res_store *store, double *width, struct ip_error *err);

/* The characters that name the ports, each once, in order; "" without a port map. `names` holds 64 bytes. */
IP_CHECK enum ip_status res_port_names_get(struct res_store *store, char names[64], struct ip_error *err);

/* "1*p06B": the ports of an address computation with a scaled index, from the port map; "" without one,
 * "1*p06B or others" where the map leaves them open. */
IP_CHECK enum ip_status res_scaled_ports_get(struct res_store *store, char *ports, size_t size,
                                             struct ip_error *err);

#endif
