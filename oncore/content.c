/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/content.c - what stores and loads pass on through memory, by the halves of rounds that the store has
 * (docs/latency.md, "Memory"). Each half was measured as if the other took a cycle, but where a value is
 * passed on at rename. */
#include <math.h>
#include <string.h>

#include "oncore/cost_steps.h"
#include "oncore/latencies.h"

/* What a store and a load pass on in less than two cycles, they do at rename. */
static const double PASSED_ON = 1.5;
/* So little is noise. */
static const double NOISE = 0.1;
/* An operation takes no less. */
static const double OPERATION = 0.5;

static bool is_content(const struct res_pair *pair) {
    return strcmp(pair->path, "content") == 0 && !isnan(pair->value.cycles);
}

/* The way of stored data through the load, without the operation behind it, which the way from the address
 * tells. In a round, which is what a chain in a block is, the other half's cycle counts.
 */
void core_forwarded_fill(struct core_cost *cost, const struct res_form *known, double load_cycles) {
    for (size_t i = 0; i < known->pair_count; i++) {
        const struct res_pair *through = &known->pairs[i];
        int src = core_operand_find(&cost->form, through->src),
            dst = core_operand_find(&cost->form, through->dst);
        if (!is_content(through) || src == dst) {
            continue;
        }
        for (unsigned k = 0; k < cost->latency_count; k++) {
            const struct core_latency *address = &cost->latencies[k];
            if (address->address && address->src == src && address->dst == dst) {
                double cycles = through->value.cycles - ((double)address->cycles - load_cycles);
                cycles += cycles > PASSED_ON ? 1.0 : 0.0;
                cycles = cycles < NOISE ? 0.0 : cycles;
                cost->forwarded = isnan(cost->forwarded) ? cycles : fmin(cost->forwarded, cycles);
            }
        }
    }
}

/* From memory to the register that it loads, of the first form in a list of those that a pair was measured
 * through ("movq xmm, m64 + vptestmd k{k}, xmm, xmm"); NaN: not known. */
static enum ip_status load_content(struct core_costs *costs, const char *via, double *cycles,
                                   struct ip_error *err) {
    const char *end = strstr(via, " + ");
    const size_t length = end != NULL ? (size_t)(end - via) : strlen(via);
    char syntax[ISA_SYNTAX_MAX] = "";
    struct res_form load = {0};
    bool there = false;
    *cycles = NAN;
    if (length >= sizeof syntax) {
        return IP_OK;
    }
    memcpy(syntax, via, length);
    enum ip_status status = res_form_find(costs->store, syntax, &load, &there, err);
    for (size_t i = 0; status == IP_OK && there && i < load.pair_count; i++) {
        const struct res_pair *pair = &load.pairs[i];
        *cycles = is_content(pair) && strcmp(pair->dst, "flags") != 0 && isnan(*cycles) ? pair->value.cycles
                                                                                        : *cycles;
    }
    if (there) {
        res_form_fini(&load);
    }
    return status;
}

/* A store and a plain one, each through the same load, differ by what the first does to its data. Of several
 * sources that of which that is least: masks, which are ready as a rule, take longer. */
enum ip_status core_stored_fill(struct core_costs *costs, struct core_cost *cost,
                                const struct res_form *known, struct ip_error *err) {
    const int memory = isa_form_memory_operand(&cost->form);
    enum ip_status status = IP_OK;
    double least = INFINITY;
    for (size_t i = 0; i < known->pair_count && cost->stores && !cost->loads && status == IP_OK; i++) {
        const struct res_pair *pair = &known->pairs[i];
        if (is_content(pair) && core_operand_find(&cost->form, pair->dst) == memory) {
            double plain = NAN;
            status = load_content(costs, pair->via, &plain, err);
            const double more = (double)core_cycles_round((float)(pair->value.cycles - plain));
            const bool alike = (pair->value.cycles > PASSED_ON) == (plain > PASSED_ON);
            least = alike && more > OPERATION ? fmin(least, more) : fmin(least, 0.0);
        }
    }
    cost->stored = isfinite(least) ? least : 0.0;
    return status;
}
