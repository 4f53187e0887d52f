/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/cost.c - costs by syntax: found, or made from what the store says. */
#include "oncore/cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oncore/cost_steps.h"
#include "oncore/wide.h"
#include "probe/usage.h"
#include "results/core.h"

double core_issue_width(const struct core_costs *costs) {
    return probe_core_get(&costs->core, PROBE_CORE_ISSUE_WIDTH);
}

void core_syntax_add(struct isa_form *form, const char *end) {
    size_t length = strlen(form->syntax);
    (void)snprintf(form->syntax + length, sizeof form->syntax - length, "%s", end);
}

bool core_syntax_ends(const char *syntax, const char *end) {
    size_t length = strlen(syntax), tail = strlen(end);
    return length > tail && strcmp(syntax + length - tail, end) == 0;
}

static size_t slot_find(const struct core_costs *costs, const char *syntax) {
    size_t at = ip_text_hash(syntax) & (costs->index_size - 1);
    while (costs->index[at] != 0 && strcmp(costs->items[costs->index[at] - 1]->form.syntax, syntax) != 0) {
        at = (at + 1) & (costs->index_size - 1);
    }
    return at;
}

static enum ip_status grow(struct core_costs *costs, struct ip_error *err) {
    size_t capacity = costs->capacity != 0 ? 2 * costs->capacity : 64;
    struct core_cost **items = realloc(costs->items, capacity * sizeof(struct core_cost *));
    if (items == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the costs of %zu forms", capacity);
    }
    costs->items = items;
    uint32_t *index = calloc(4 * capacity, sizeof *index);
    if (index == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the costs of %zu forms", capacity);
    }
    free(costs->index);
    costs->capacity = capacity;
    costs->index = index;
    costs->index_size = 4 * capacity;
    for (size_t i = 0; i < costs->count; i++) {
        costs->index[slot_find(costs, costs->items[i]->form.syntax)] = (uint32_t)(i + 1);
    }
    return IP_OK;
}

bool core_costs_has(const struct core_costs *costs, const char *syntax) {
    return costs->index_size != 0 && costs->index[slot_find(costs, syntax)] != 0;
}

/* The item of `syntax`, a new one when there is none. */
static enum ip_status item_get(struct core_costs *costs, const struct isa_form *form, struct core_cost **item,
                               struct ip_error *err) {
    if (costs->index_size != 0) {
        size_t at = slot_find(costs, form->syntax);
        if (costs->index[at] != 0) {
            *item = costs->items[costs->index[at] - 1];
            return IP_OK;
        }
    }
    if (costs->count == costs->capacity) {
        enum ip_status status = grow(costs, err);
        if (status != IP_OK) {
            return status;
        }
    }
    struct core_cost *cost = calloc(1, sizeof *cost);
    if (cost == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the cost of '%s'", form->syntax);
    }
    cost->form = *form;
    core_cost_describe(cost);
    size_t at = slot_find(costs, form->syntax);
    costs->items[costs->count++] = cost;
    costs->index[at] = (uint32_t)costs->count;
    *item = cost;
    return IP_OK;
}

void core_costs_fini(struct core_costs *costs) {
    for (size_t i = 0; i < costs->count; i++) {
        free(costs->items[i]);
    }
    free(costs->items);
    free(costs->index);
    probe_core_fini(&costs->core);
    memset(costs, 0, sizeof *costs);
}

static bool starts_fact(const char *text, char *name, double *count, size_t *length) {
    char *end;
    *count = strtod(text, &end);
    if (end == text || end[0] != '*' || end[1] != 'p' || !(*count >= 0.0) || *count > 1000.0) {
        return false;
    }
    const char *ports = end + 2;
    size_t names = strcspn(ports, "+ ");
    if (names == 0 || names > CORE_PORTS_MAX) {
        return false;
    }
    memcpy(name, ports, names);
    name[names] = '\0';
    *length = (size_t)(ports - text) + names;
    return true;
}

enum ip_status core_ports_parse(struct core_costs *costs, const char *text,
                                struct core_term terms[CORE_TERMS_MAX], unsigned *count,
                                struct ip_error *err) {
    unsigned found = 0;
    const char *at = text;
    const size_t or_length = strlen(PROBE_USAGE_OR);
    const bool open = strstr(text, PROBE_USAGE_OR) != NULL;
    while (*at != '\0' && strcmp(text, "none") != 0 && strncmp(at, PROBE_USAGE_OR, or_length) != 0) {
        char ports[CORE_PORTS_MAX + 1];
        double uops;
        size_t length;
        if (found == CORE_TERMS_MAX || !starts_fact(at, ports, &uops, &length)) {
            return ip_fail(err, IP_SYNTAX, "'%.100s' is no port usage: write it as in 1*p01+2*p5", text);
        }
        struct core_term term = {.uops = uops, .open = open};
        for (const char *port = ports; *port != '\0'; port++) {
            char *known = memchr(costs->port_names, *port, costs->port_count);
            if (known == NULL && costs->port_count == CORE_PORTS_MAX) {
                return ip_fail(err, IP_SYNTAX, "'%.100s': more than %d ports", text, CORE_PORTS_MAX);
            }
            if (known == NULL) {
                known = &costs->port_names[costs->port_count++];
                *known = *port;
            }
            term.ports |= UINT32_C(1) << (known - costs->port_names);
        }
        if (uops > 0.0) {
            terms[found++] = term;
        }
        at += length;
        if (*at == '+') {
            at++;
        }
    }
    *count = found;
    return IP_OK;
}

bool core_cost_is_open(const struct core_cost *cost) {
    bool open = false;
    for (unsigned t = 0; t < cost->term_count; t++) {
        open = open || cost->terms[t].open;
    }
    return open;
}

const char *core_ports_print(const struct core_costs *costs, uint32_t ports, char *buffer) {
    size_t used = 0;
    for (unsigned p = 0; p < costs->port_count; p++) {
        if ((ports >> p & 1) != 0) {
            buffer[used++] = costs->port_names[p];
        }
    }
    buffer[used] = '\0';
    return buffer;
}

enum ip_status core_costs_add(struct core_costs *costs, const struct isa_form *form, const char *ports,
                              double slots, double latency, struct ip_error *err) {
    struct core_term terms[CORE_TERMS_MAX];
    unsigned count = 0;
    enum ip_status status = core_ports_parse(costs, ports, terms, &count, err);
    struct core_cost *cost = NULL;
    if (status == IP_OK) {
        status = item_get(costs, form, &cost, err);
    }
    if (status != IP_OK) {
        return status;
    }
    memcpy(cost->terms, terms, sizeof terms);
    cost->term_count = count;
    cost->slots = slots;
    cost->cycles = NAN;
    cost->known = true;
    cost->filled = true;
    cost->source = CORE_SOURCE_MEASURED;
    double load = probe_core_get(&costs->core, PROBE_CORE_LOAD_BASE);
    cost->latency_count = 0;
    cost->latency_known = !isnan(latency);
    for (int s = 0; s < form->operand_count && cost->latency_known; s++) {
        for (int d = 0; d < form->operand_count; d++) {
            bool memory = form->operands[s].kind == ISA_OPERAND_MEM;
            bool sends = form->operands[s].read && form->operands[d].write &&
                         form->operands[d].kind != ISA_OPERAND_MEM;
            if (sends && cost->latency_count < CORE_PAIRS_MAX) {
                double cycles = latency + (memory && !isnan(load) ? load : 0.0);
                cost->latencies[cost->latency_count++] = (struct core_latency){
                    .src = (int8_t)s, .dst = (int8_t)d, .address = memory, .cycles = (float)cycles};
            }
        }
    }
    return IP_OK;
}

/* The terms of a plain load or store, which any x86-64 CPU has. */
static enum ip_status plain_terms(struct core_costs *costs, const char *syntax, struct core_term *terms,
                                  unsigned *count, uint32_t *ports, double *load, struct ip_error *err) {
    struct res_form known = {0};
    bool there = false;
    enum ip_status status = res_form_find(costs->store, syntax, &known, &there, err);
    if (status != IP_OK || !there) {
        return status;
    }
    for (size_t i = 0; i < known.pair_count && load != NULL && isnan(*load); i++) {
        *load = strcmp(known.pairs[i].path, "address") == 0 ? known.pairs[i].value.cycles : NAN;
    }
    if (core_ports_usable(&known) && *count == 0) {
        status = core_ports_parse(costs, known.ports.usage, terms, count, err);
        for (unsigned i = 0; i < *count; i++) {
            *ports |= terms[i].ports;
        }
    }
    res_form_fini(&known);
    return status;
}

/* What a store of a general register takes may have ports that are not of stores: on a Zen 5 its data come
 * through an ALU. A vector's do not, so that the ports which both take are those of stores; where a vector's
 * are not known, or others, all are. */
static enum ip_status store_ports_narrow(struct core_costs *costs, struct ip_error *err) {
    static const char *const vectors[] = {"movups m128, xmm", "movaps m128, xmm", "movdqu m128, xmm"};
    struct core_term terms[CORE_TERMS_MAX];
    unsigned count = 0;
    uint32_t ports = 0, both = 0;
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0] && status == IP_OK; i++) {
        status = plain_terms(costs, vectors[i], terms, &count, &ports, NULL, err);
    }
    for (unsigned v = 0; v < count; v++) {
        for (unsigned s = 0; s < costs->store_term_count; s++) {
            both |= costs->store_terms[s].ports == terms[v].ports ? terms[v].ports : 0;
        }
    }
    costs->store_ports = both != 0 ? both : costs->store_ports;
    return status;
}

enum ip_status core_terms_find(struct core_costs *costs, const char *syntax,
                               struct core_term terms[CORE_TERMS_MAX], unsigned *count,
                               struct ip_error *err) {
    uint32_t ports = 0;
    *count = 0;
    return plain_terms(costs, syntax, terms, count, &ports, NULL, err);
}

enum ip_status core_plain_ports(struct core_costs *costs, const char *syntax, uint32_t *ports,
                                struct ip_error *err) {
    struct core_term terms[CORE_TERMS_MAX];
    unsigned count = 0;
    uint32_t found = 0;
    enum ip_status status = plain_terms(costs, syntax, terms, &count, &found, NULL, err);
    *ports |= status == IP_OK && count == 1 ? found : 0;
    return status;
}

/* The narrowest ports of the forms from which a taken branch was seen to take one. */
static enum ip_status branch_ports_find(struct core_costs *costs, struct ip_error *err) {
    static const char kind[] = "branch ";
    enum ip_status status = IP_OK;
    size_t fact_count = 0;
    const struct probe_core_fact *facts = probe_core_facts_find(&costs->core, kind, &fact_count);
    for (size_t i = 0; i < fact_count && status == IP_OK; i++) {
        const struct probe_core_fact *fact = &facts[i];
        uint32_t ports = 0;
        if (!fact->value.known || fact->value.value < 0.5) {
            continue;
        }
        status = core_plain_ports(costs, fact->key + sizeof kind - 1, &ports, err);
        bool narrower =
            costs->branch_ports == 0 || __builtin_popcount(ports) < __builtin_popcount(costs->branch_ports);
        if (status == IP_OK && ports != 0 && narrower) {
            costs->branch_ports = ports;
        }
    }
    return status;
}

enum ip_status core_costs_open(struct core_costs *costs, struct res_store *store, struct ip_error *err) {
    static const char *const loads[] = {"mov r64, m64", "mov r32, m32", "pop r64", "movsxd r64, m32"};
    static const char *const stores[] = {"mov m64, r64", "mov m32, r32", "push r64"};
    struct core_costs made = {.store = store};
    char names[64] = "";
    enum ip_status status = res_core_get(store, &made.core, err);
    if (status == IP_OK) {
        status = res_port_names_get(store, names, err);
        made.port_count = (unsigned)strnlen(names, CORE_PORTS_MAX);
        memcpy(made.port_names, names, made.port_count);
    }
    made.load_cycles = probe_core_get(&made.core, PROBE_CORE_LOAD_BASE);
    for (size_t i = 0; i < sizeof loads / sizeof loads[0] && status == IP_OK; i++) {
        status = plain_terms(&made, loads[i], made.load_terms, &made.load_term_count, &made.load_ports,
                             &made.load_cycles, err);
    }
    for (size_t i = 0; i < sizeof stores / sizeof stores[0] && status == IP_OK; i++) {
        status = plain_terms(&made, stores[i], made.store_terms, &made.store_term_count, &made.store_ports,
                             NULL, err);
    }
    status = status == IP_OK ? store_ports_narrow(&made, err) : status;
    if (status == IP_OK) {
        status = branch_ports_find(&made, err);
    }
    status = status == IP_OK ? core_units_open(&made, err) : status;
    status = status == IP_OK ? core_wide_ports_find(&made, err) : status;
    if (status == IP_OK) {
        status = core_width_find(&made, err);
    }
    if (status != IP_OK) {
        core_costs_fini(&made);
        return status;
    }
    probe_entries_find(&made.entries, &made.core, core_issue_width(&made));
    *costs = made;
    return IP_OK;
}

enum ip_status core_costs_get(struct core_costs *costs, const struct isa_form *form,
                              const struct core_cost **cost, struct ip_error *err) {
    struct core_cost *item = NULL;
    enum ip_status status = item_get(costs, form, &item, err);
    if (status == IP_OK && !item->filled) {
        struct core_cost filled = *item;
        status = core_cost_fill(costs, &filled, err);
        if (core_cost_is_open(&filled)) {
            size_t used = strlen(filled.why);
            (void)snprintf(filled.why + used, sizeof filled.why - used,
                           "%sthe port map leaves open which of several ports it has", used > 0 ? "; " : "");
        }
        /* `item` stays where it is, while the table may have grown. */
        if (status == IP_OK) {
            filled.filled = true;
            *item = filled;
        }
    }
    if (status == IP_OK) {
        *cost = item;
    }
    return status;
}
