/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/access.h"

#include <math.h>
#include <string.h>

/* So many cycles more for loads in pairs are no noise: a Zen 5 takes 0.43. */
static const double TURNS = 0.2;

static uint32_t narrow_ports(const struct core_costs *costs, const struct core_block *block) {
    uint32_t narrow = 0;
    for (size_t i = 0; i < block->count; i++) {
        const struct core_instruction *instruction = &block->items[i];
        const bool loads_only = instruction->loads && !instruction->stores;
        for (unsigned t = 0; loads_only && t < instruction->cost->term_count; t++) {
            const uint32_t ports = instruction->cost->terms[t].ports;
            if ((ports & ~costs->load_ports) == 0 && ports != costs->load_ports) {
                narrow |= ports;
            }
        }
    }
    return narrow;
}

void core_access_init(struct core_access *access, const struct core_costs *costs,
                      const struct core_block *block) {
    memset(access, 0, sizeof *access);
    const double more = probe_core_get(&costs->core, PROBE_CORE_LOAD_TURNS);
    const bool in_turn = probe_core_get(&costs->core, PROBE_CORE_PORTS_IN_TURN) > 0.5; /* all are */
    const uint32_t narrow = narrow_ports(costs, block);
    if (more > TURNS && !in_turn && narrow != 0 && narrow != costs->load_ports) {
        access->loads = costs->load_ports;
        access->narrow = narrow;
    }
}

uint32_t core_access_ports(struct core_access *access, uint32_t ports) {
    if ((ports & access->loads) == 0) {
        return ports;
    }
    const bool only = (ports & ~access->narrow) == 0;
    access->turned = !only && !access->turned;
    const uint32_t turn = access->turned ? access->loads & ~access->narrow : access->narrow;
    return only ? ports : turn;
}
