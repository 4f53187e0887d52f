/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/content.c - what stores and loads pass on through memory, by the halves of rounds that the store has
 * (docs/latency.md, "Memory"). Each half was measured as if the other took a cycle, but where a value is
 * passed on at rename. */
#include <math.h>
#include <stdio.h>
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

/* Is a value of so many bits passed on through a general register in no time by a plain store and load? Where
 * not, the cycle of the other half was taken off each short round of that width. */
static enum ip_status takes_other_half(struct core_costs *costs, unsigned bits, bool *takes,
                                       struct ip_error *err) {
    char syntax[ISA_SYNTAX_MAX];
    struct res_form load = {0};
    bool there = false;
    (void)snprintf(syntax, sizeof syntax, "mov r%u, m%u", bits, bits);
    const enum ip_status status = res_form_find(costs->store, syntax, &load, &there, err);
    for (size_t i = 0; status == IP_OK && there && i < load.pair_count; i++) {
        *takes = *takes || (is_content(&load.pairs[i]) && load.pairs[i].value.cycles > OPERATION);
    }
    if (status == IP_OK && there) {
        res_form_fini(&load);
    }
    return status;
}

/* The way of stored data through the load, without the operation behind it, which the way from the address
 * tells. In a round, which is what a chain in a block is, the other half's cycle counts.
 */
enum ip_status core_forwarded_fill(struct core_costs *costs, struct core_cost *cost,
                                   const struct res_form *known, struct ip_error *err) {
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
                double cycles = through->value.cycles - ((double)address->cycles - costs->load_cycles);
                cycles += cycles > PASSED_ON ? 1.0 : 0.0;
                cycles = cycles < NOISE ? 0.0 : cycles;
                cost->forwarded = isnan(cost->forwarded) ? cycles : fmin(cost->forwarded, cycles);
            }
        }
    }
    const int memory = isa_form_memory_operand(&cost->form);
    return memory >= 0 && cost->forwarded <= PASSED_ON
               ? takes_other_half(costs, cost->form.operands[memory].bits, &cost->put_late, err)
               : IP_OK;
}

/* The plain store of as many bytes, of a vector or of a general register or flags; NULL: there is none, as
 * for the x87 stack and masks. */
static const char *plain_store(const struct isa_form *form, unsigned bits) {
    static const struct {
        unsigned bits;
        bool vector;
        const char *syntax;
    } stores[] = {
        {8, false, "mov m8, r8"},        {16, false, "mov m16, r16"},      {32, false, "mov m32, r32"},
        {64, false, "mov m64, r64"},     {32, true, "movd m32, xmm"},      {64, true, "movq m64, xmm"},
        {128, true, "movups m128, xmm"}, {256, true, "vmovups m256, ymm"}, {512, true, "vmovups m512, zmm"}};
    const bool vector = isa_form_vector_bits(form) != 0;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const enum isa_reg_class reg_class = form->operands[i].reg_class;
        if (reg_class == ISA_REG_X87 || (reg_class == ISA_REG_MASK && !vector)) {
            return NULL;
        }
    }
    for (size_t i = 0; i < sizeof stores / sizeof stores[0]; i++) {
        if (stores[i].bits == bits && stores[i].vector == vector) {
            return stores[i].syntax;
        }
    }
    return NULL;
}

/* The least of what is known from a store's sources to its memory; NaN: nothing is. */
static double least_content(const struct isa_form *form, const struct res_form *known) {
    const int memory = isa_form_memory_operand(form);
    double least = NAN;
    for (size_t i = 0; i < known->pair_count; i++) {
        const struct res_pair *pair = &known->pairs[i];
        if (is_content(pair) && core_operand_find(form, pair->dst) == memory) {
            least = fmin(least, pair->value.cycles);
        }
    }
    return least;
}

/* A store and a plain one, each there and back, differ by what the first does to its data. Of several sources
 * that of which that is least: masks, which are ready as a rule, take longer. */
enum ip_status core_stored_fill(struct core_costs *costs, struct core_cost *cost,
                                const struct res_form *known, struct ip_error *err) {
    const int memory = isa_form_memory_operand(&cost->form);
    const bool only_stores = cost->stores && !cost->loads && memory >= 0;
    const char *syntax = only_stores ? plain_store(&cost->form, cost->form.operands[memory].bits) : NULL;
    if (syntax == NULL || strcmp(syntax, cost->form.syntax) == 0) {
        return IP_OK;
    }
    const double own = least_content(&cost->form, known);
    struct res_form store = {0};
    bool there = false;
    const enum ip_status status = res_form_find(costs->store, syntax, &store, &there, err);
    if (status == IP_OK && there) {                              /* NaN is no more than anything */
        const double plain = least_content(&cost->form, &store); /* both have memory first */
        const double more = (double)core_cycles_round((float)(own - plain));
        const bool alike = (own > PASSED_ON) == (plain > PASSED_ON);
        cost->stored = alike && more > OPERATION ? more : 0.0;
        res_form_fini(&store);
    }
    return status;
}
