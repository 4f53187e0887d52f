/* SPDX-License-Identifier: Apache-2.0 */
/* cli/portmap.h - the port map that a command stands on: the store's, or measured now. */
#ifndef ISAPROBE_CLI_PORTMAP_H
#define ISAPROBE_CLI_PORTMAP_H

#include "cli/bench.h"
#include "isa/table.h"
#include "probe/portmap.h"
#include "results/store.h"

/* Takes the map from `store` (NULL: none), unless `fresh`; measures it when there is none, or one whose
 * classes contradict each other. *measured: it was. */
IP_CHECK enum ip_status cli_portmap_get(struct cli_bench *bench, const struct isa_table *table,
                                        struct res_store *store, bool fresh, struct probe_portmap *map,
                                        bool *measured, struct ip_error *err);

#endif
