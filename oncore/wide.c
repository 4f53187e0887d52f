/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/wide.h"

#include <string.h>

#include "oncore/cost_steps.h"

enum ip_status core_wide_ports_find(struct core_costs *costs, struct ip_error *err) {
    static const char kind[] = "wide ";
    static const char *const wide[] = {"vpord zmm, zmm, zmm",  "vpaddd zmm, zmm, zmm",
                                       "vmulpd zmm, zmm, zmm", "vpslld zmm, zmm, imm8",
                                       "vpermd zmm, zmm, zmm", "vpshufd zmm, zmm, imm8"};
    enum ip_status status = IP_OK;
    uint32_t lost = 0, kept = 0;
    size_t fact_count = 0;
    const struct probe_core_fact *facts = probe_core_facts_find(&costs->core, kind, &fact_count);
    for (size_t i = 0; i < fact_count && status == IP_OK; i++) {
        if (facts[i].value.known && facts[i].value.value > 0.5) {
            status = core_plain_ports(costs, facts[i].key + sizeof kind - 1, &lost, err);
        }
    }
    for (size_t i = 0; i < sizeof wide / sizeof wide[0] && lost != 0 && status == IP_OK; i++) {
        status = core_plain_ports(costs, wide[i], &kept, err);
    }
    costs->wide_closed = kept != 0 ? lost & ~kept : 0; /* else it is not known which */
    return status;
}

enum { WIDE_BITS = 512 };

void core_wide_close(struct core_block *block, const struct core_costs *costs) {
    bool any = false;
    for (size_t i = 0; i < block->count && costs->wide_closed != 0; i++) {
        any = any || isa_form_vector_bits(&block->items[i].cost->form) == WIDE_BITS;
    }
    for (size_t i = 0; i < block->count && any; i++) {
        struct core_instruction *to = &block->items[i];
        const unsigned bits = isa_form_vector_bits(&to->cost->form); /* 0: no vector */
        uint32_t ports = 0;
        for (unsigned t = 0; t < to->cost->term_count && bits != 0 && bits != WIDE_BITS; t++) {
            ports |= to->cost->terms[t].ports;
        }
        to->closed = ports & costs->wide_closed;
    }
}
