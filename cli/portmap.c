/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/portmap.h"

static bool contradicts_itself(const struct probe_portmap *map) {
    for (unsigned c = 0; c < map->class_count; c++) {
        if (map->classes[c].contradicted) {
            return true;
        }
    }
    return false;
}

enum ip_status cli_portmap_get(struct cli_bench *bench, const struct isa_table *table,
                               struct res_store *store, bool fresh, struct probe_portmap *map, bool *measured,
                               struct ip_error *err) {
    bool found = false;
    enum ip_status status = IP_OK;
    *measured = false;
    if (store != NULL && !fresh) {
        status = res_portmap_get(store, table, map, &found, err);
    }
    if (status == IP_OK && found && contradicts_itself(map)) {
        probe_portmap_fini(map);
        found = false;
    }
    if (status != IP_OK || found) {
        return status;
    }
    status = probe_portmap_measure(&bench->meter, &bench->bench.encoder, table, bench->bench.timer.vendor,
                                   map, err);
    *measured = status == IP_OK;
    return status;
}
