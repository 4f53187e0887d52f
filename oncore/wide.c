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

static bool has_register(const struct core_instruction *of, enum isa_reg_class reg_class) {
    for (unsigned i = 0; i < of->cost->form.operand_count; i++) {
        const struct isa_operand *operand = &of->cost->form.operands[i];
        if (operand->kind == ISA_OPERAND_REG && operand->reg_class == reg_class) {
            return true;
        }
    }
    return false;
}

void core_wide_close(struct core_block *block, const struct core_costs *costs) {
    bool any = false;
    for (size_t i = 0; i < block->count && costs->wide_closed != 0; i++) {
        any = any || has_register(&block->items[i], ISA_REG_ZMM);
    }
    for (size_t i = 0; i < block->count && any; i++) {
        struct core_instruction *to = &block->items[i];
        bool narrow =
            !has_register(to, ISA_REG_ZMM) &&
            (has_register(to, ISA_REG_XMM) || has_register(to, ISA_REG_YMM) || has_register(to, ISA_REG_MMX));
        uint32_t ports = 0;
        for (unsigned t = 0; t < to->cost->term_count && narrow; t++) {
            ports |= to->cost->terms[t].ports;
        }
        to->closed = ports & costs->wide_closed;
    }
}
