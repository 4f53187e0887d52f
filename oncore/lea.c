/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/lea.c - address computations. The tables measure "base + number"; with an index, a scale or without
 * a base they can take other ports, and longer, and are not done at rename. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "oncore/cost_steps.h"
#include "results/core.h"

static const char scaled[] = " [scaled]", indexed[] = " [index]", based[] = " [number]",
                  displaced[] = " [displaced]", three[] = " [three]";

static bool known(const struct core_costs *costs, enum probe_core_key key) {
    return !isnan(probe_core_get(&costs->core, key));
}

void core_lea_name(const struct core_costs *costs, struct isa_form *form, const struct isa_binding *binding) {
    bool agen = form->explicit_count == 2 && form->operands[1].kind == ISA_OPERAND_AGEN;
    if (!agen || strcmp(form->mnemonic, "lea") != 0) {
        return;
    }
    const struct isa_address *address = &binding->address;
    bool all = address->index >= 0 && address->base >= 0 && address->number;
    bool number = address->index < 0 && address->number;
    const char *kind = all && known(costs, PROBE_CORE_LEA_THREE) ? three
                       : address->index >= 0                     ? address->scale > 1 ? scaled : indexed
                       : address->base < 0                       ? based
                       : number && known(costs, PROBE_CORE_LEA_DISPLACEMENT) ? displaced
                                                                             : "";
    core_syntax_add(form, kind);
}

/* Issue slots of an address of base, index and number: each is a µop. */
static double three_slots(const struct core_costs *costs) {
    const struct probe_core_value *slots =
        probe_core_fact_get(&costs->core, "micro_index", "lea r64, agen", NULL);
    return slots != NULL && slots->known ? fmax(1.0, round(slots->value)) : 1.0;
}

/* A link of a chain that takes less was not executed. */
static const double AT_RENAME = 0.9;

/* Of the first of these forms whose ports are told, if it takes any. */
static enum ip_status likely_ports(struct core_costs *costs, struct core_cost *cost,
                                   const char *const likely[], size_t count, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < count && cost->term_count == 0 && status == IP_OK; i++) {
        struct res_form form = {0};
        bool there = false;
        status = res_form_find(costs->store, likely[i], &form, &there, err);
        if (status != IP_OK || !there) {
            continue;
        }
        if (core_ports_told(&form.ports)) {
            status = core_ports_parse(costs, form.ports.usage, cost->terms, &cost->term_count, err);
        }
        res_form_fini(&form);
    }
    return status;
}

enum ip_status core_addition_ports(struct core_costs *costs, struct core_cost *cost, struct ip_error *err) {
    static const char *const likely[] = {"add r64, r64", "add r32, r32", "cmp r64, r64", "and r64, r64"};
    return likely_ports(costs, cost, likely, sizeof likely / sizeof likely[0], err);
}

enum ip_status core_lea_fill(struct core_costs *costs, struct core_cost *cost, bool *done,
                             struct ip_error *err) {
    const char *syntax = cost->form.syntax;
    bool scales = core_syntax_ends(syntax, scaled), all = core_syntax_ends(syntax, three),
         number = core_syntax_ends(syntax, displaced);
    double cycles = probe_core_get(&costs->core, scales   ? PROBE_CORE_LEA_SCALED
                                                 : all    ? PROBE_CORE_LEA_THREE
                                                 : number ? PROBE_CORE_LEA_DISPLACEMENT
                                                          : PROBE_CORE_LEA_INDEX);
    *done = scales || all || number || core_syntax_ends(syntax, indexed) || core_syntax_ends(syntax, based);
    if (!*done) {
        return IP_OK;
    }
    cost->slots = all ? three_slots(costs) : 1.0;
    cost->known = true;
    if (number && cycles < AT_RENAME) {
        cost->source = CORE_SOURCE_MEASURED;
        cost->eliminated = cycles;
        return IP_OK;
    }
    char ports[CORE_PORTS_MAX + 24] = "";
    enum ip_status status = scales ? res_scaled_ports_get(costs->store, ports, sizeof ports, err) : IP_OK;
    if (status == IP_OK && ports[0] != '\0') {
        status = core_ports_parse(costs, ports, cost->terms, &cost->term_count, err);
    }
    const bool mapped = ports[0] != '\0';
    static const char *const plain[] = {"lea r64, agen", "lea r32, agen"};
    if (status == IP_OK && cost->term_count == 0) { /* on a Skylake LEA has two of an addition's four ports */
        status = likely_ports(costs, cost, plain, sizeof plain / sizeof plain[0], err);
    }
    const bool own = !mapped && cost->term_count > 0;
    if (status == IP_OK && cost->term_count == 0) { /* on a Zen 5 the plain one takes none */
        status = core_addition_ports(costs, cost, err);
    }
    if (status != IP_OK) {
        return status;
    }
    for (unsigned t = 0; t < cost->term_count; t++) {
        cost->terms[t].uops *= cost->slots;
    }
    cost->source = CORE_SOURCE_COMPOSED;
    (void)snprintf(cost->why, sizeof cost->why, "ports of %s",
                   mapped ? "the map's scaled LEA"
                   : own  ? "a plain LEA"
                          : "an addition");
    cost->latencies[0] = (struct core_latency){
        .src = 1, .dst = 0, .address = true, .cycles = isnan(cycles) ? 1.0f : (float)cycles};
    cost->latency_count = 1;
    double from_index = all ? probe_core_get(&costs->core, PROBE_CORE_LEA_THREE_INDEX) : NAN;
    if (!isnan(from_index)) { /* behind the base's, which is the first that fits a base */
        cost->latencies[cost->latency_count++] =
            (struct core_latency){.src = 1, .dst = 0, .index = true, .cycles = (float)from_index};
    }
    cost->latency_known = !isnan(cycles);
    double rate = all ? probe_core_get(&costs->core, PROBE_CORE_LEA_THREE_RATE) : NAN;
    if (rate < 1.0 / core_terms_cycles(cost) - 0.5) { /* not all of the ports can */
        cost->unit_cycles = 1.0 / fmax(1.0, round(rate));
        cost->unit = CORE_UNIT_LEA;
    }
    return IP_OK;
}
