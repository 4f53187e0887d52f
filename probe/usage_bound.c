/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "probe/usage.h"

enum { UNIONS_MAX = 4096 };

double probe_ports_bound(const struct probe_usage_term *terms, unsigned count) {
    /* Only unions of the terms' sets can bind: any other Q has ports that nothing is confined to. */
    uint32_t unions[UNIONS_MAX] = {0};
    unsigned known = 1;
    double bound = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned before = known;
        for (unsigned u = 0; u < before && terms[i].uops > 0; u++) {
            uint32_t grown = unions[u] | terms[i].ports;
            bool there = false;
            for (unsigned v = 0; v < known && !there; v++) {
                there = unions[v] == grown;
            }
            if (!there && known < UNIONS_MAX) {
                unions[known++] = grown;
            }
        }
    }
    for (unsigned u = 1; u < known; u++) {
        double confined = 0;
        for (unsigned i = 0; i < count; i++) {
            confined += (terms[i].ports & ~unions[u]) == 0 ? terms[i].uops : 0;
        }
        double cycles = confined / __builtin_popcount(unions[u]);
        bound = cycles > bound ? cycles : bound;
    }
    return bound;
}

double probe_usage_uops(const struct probe_portmap *map, const struct probe_usage *usage) {
    double uops = 0;
    for (unsigned t = 0; t < usage->term_count; t++) {
        bool pair = usage->terms[t].store && map->store_address[0] != '\0';
        uops += usage->terms[t].uops * (pair ? 2 : 1);
    }
    return uops;
}

const char *probe_usage_print(const struct probe_portmap *map, const struct probe_usage *usage,
                              char *buffer) {
    size_t used = 0;
    char ports[PROBE_PORTSET_PORTS + 1];
    (void)snprintf(buffer, PROBE_USAGE_TEXT, "%s", usage->term_count == 0 ? "none" : "");
    for (unsigned i = 0; i < usage->term_count && used < PROBE_USAGE_TEXT; i++) {
        const struct probe_usage_term *term = &usage->terms[i];
        used += (size_t)snprintf(buffer + used, PROBE_USAGE_TEXT - used, "%s%.0f*p%s", i > 0 ? "+" : "",
                                 term->uops, probe_ports_print(map, term->ports, ports));
        if (term->store && map->store_address[0] != '\0' && used < PROBE_USAGE_TEXT) {
            used += (size_t)snprintf(buffer + used, PROBE_USAGE_TEXT - used, "+%.0f*p%s", term->uops,
                                     map->store_address);
        }
    }
    return buffer;
}
