/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/cost_unit.c - for which unpipelined unit a form waits: the one that a scan of ports named, or, where
 * none did, a guess. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "generator/operands.h"
#include "oncore/cost_steps.h"

static bool only_loads(const struct core_costs *costs, const struct core_cost *cost) {
    bool only = cost->loads;
    for (unsigned t = 0; t < cost->term_count; t++) {
        only = only && (cost->terms[t].ports & ~costs->load_ports) == 0;
    }
    return only;
}

static bool multiplies_tiles(const struct isa_form *form) {
    return form->explicit_count > 1 && form->operands[0].reg_class == ISA_REG_TILE &&
           form->operands[1].reg_class == ISA_REG_TILE;
}

/* Does it write a register of another kind from a general one? */
static bool enters(const struct isa_form *form) {
    bool from = false, to = false;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        bool is_register = operand->kind == ISA_OPERAND_REG, general = isa_reg_is_gpr(operand->reg_class);
        from = from || (is_register && general && operand->read);
        to = to || (is_register && !general && operand->write);
    }
    return from && to;
}

/* The fewest ports of an operation's; 0: none is known. */
static uint32_t narrowest(const struct core_costs *costs, const struct core_term *terms, unsigned count) {
    const uint32_t memory = costs->load_ports | costs->store_ports;
    uint32_t ports = 0;
    for (unsigned t = 0; t < count; t++) {
        bool fewer = ports == 0 || __builtin_popcount(terms[t].ports) < __builtin_popcount(ports);
        ports = (terms[t].ports & ~memory) != 0 && fewer ? terms[t].ports : ports;
    }
    return ports;
}

enum ip_status core_units_open(struct core_costs *costs, struct ip_error *err) {
    struct probe_units names = {0};
    enum ip_status status = res_units_get(costs->store, &names, err);
    for (unsigned u = 0; u < names.known_count && status == IP_OK; u++) {
        struct core_named_unit *unit = &costs->units[costs->unit_count++];
        struct core_term terms[CORE_TERMS_MAX];
        unsigned count = 0;
        (void)snprintf(unit->name, sizeof unit->name, "%s", names.known[u]);
        status = core_terms_find(costs, unit->name, terms, &count, err);
        unit->ports = narrowest(costs, terms, count);
    }
    return status;
}

/* By its name, else by the ports of the form that it is called after; -1: no such unit. */
static int unit_named(const struct core_costs *costs, const char *name, uint32_t ports) {
    for (unsigned u = 0; u < costs->unit_count; u++) {
        const struct core_named_unit *unit = &costs->units[u];
        if (name[0] != '\0' ? strcmp(unit->name, name) == 0 : ports != 0 && unit->ports == ports) {
            return (int)(CORE_UNIT_NAMED + u);
        }
    }
    return -1;
}

/* Where no name helps: what goes from general registers to others shares one, loads that are slower than
 * their ports another, other vector forms that are a third, what multiplies tiles a fourth, scalar ones a
 * fifth; a form of which no port is known has one of its own. */
int core_unit_find(const struct core_costs *costs, const struct core_cost *cost, const char *name) {
    if (isnan(cost->unit_cycles)) {
        return -1;
    }
    if (gen_form_locks(&cost->form)) {
        return CORE_UNIT_ATOMIC;
    }
    if (name[0] == '\0' && cost->term_count > 0 && enters(&cost->form)) {
        return CORE_UNIT_ENTRY;
    }
    int named = unit_named(costs, name, narrowest(costs, cost->terms, cost->term_count));
    if (named >= 0) {
        return named;
    }
    if (cost->source == CORE_SOURCE_ASSUMED || cost->term_count == 0) {
        return (int)(CORE_UNITS_SHARED + costs->count); /* as many as there are costs at most */
    }
    if (only_loads(costs, cost)) {
        return CORE_UNIT_LOADS;
    }
    return multiplies_tiles(&cost->form)            ? CORE_UNIT_TILES
           : isa_form_vector_bits(&cost->form) != 0 ? CORE_UNIT_VECTOR
                                                    : CORE_UNIT_SCALAR;
}
