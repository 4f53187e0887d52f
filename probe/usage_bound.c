/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "probe/usage.h"

/* A core has a few sets that overlap, of a dozen ports at most: they have no more unions. */
enum { UNIONS_MAX = 1 << 12 };

static unsigned union_add(uint32_t unions[UNIONS_MAX], unsigned count, uint32_t set) {
    for (unsigned i = 0; i < count; i++) {
        if (unions[i] == set) {
            return count;
        }
    }
    if (count < UNIONS_MAX) {
        unions[count++] = set;
    }
    return count;
}

/* Only a union of the terms' sets can bind, and of sets that overlap: of two that do not, one alone is as
 * full. Each is reached by adding one set after the other that overlaps the union. */
static unsigned unions_make(const struct probe_usage_term *terms, unsigned count,
                            uint32_t unions[UNIONS_MAX]) {
    unsigned known = 0;
    for (unsigned i = 0; i < count; i++) {
        known = terms[i].uops > 0 ? union_add(unions, known, terms[i].ports) : known;
    }
    for (unsigned u = 0; u < known; u++) {
        for (unsigned i = 0; i < count; i++) {
            if (terms[i].uops > 0 && (terms[i].ports & unions[u]) != 0) {
                known = union_add(unions, known, terms[i].ports | unions[u]);
            }
        }
    }
    return known;
}

double probe_ports_bound(const struct probe_usage_term *terms, unsigned count, uint32_t *binding) {
    uint32_t unions[UNIONS_MAX], fullest = 0;
    const unsigned known = unions_make(terms, count, unions);
    double bound = 0;
    for (unsigned u = 0; u < known; u++) {
        double confined = 0;
        for (unsigned i = 0; i < count; i++) {
            confined += (terms[i].ports & ~unions[u]) == 0 ? terms[i].uops : 0;
        }
        double cycles = confined / __builtin_popcount(unions[u]);
        if (cycles > bound * (1 + 1e-12)) {
            bound = cycles;
            fullest = unions[u];
        }
    }
    if (binding != NULL) {
        *binding = fullest;
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
