/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/bounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oncore/call.h"
#include "oncore/line.h"
#include "probe/usage.h"

/* The µops of one pass, by set of ports. */
struct load {
    struct probe_usage_term *sets; /* owned */
    unsigned count;
};

/* `results`: what takes the way of results counts as if it took ports. */
static enum ip_status load_gather(struct load *load, const struct core_block *block, bool results,
                                  struct ip_error *err) {
    size_t most = 0;
    for (size_t i = 0; i < block->count; i++) {
        most += block->items[i].executed->term_count;
    }
    *load = (struct load){.sets = calloc(most + 1, sizeof *load->sets)};
    if (load->sets == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for a block of %zu instructions", block->count);
    }
    for (size_t i = 0; i < block->count; i++) {
        const struct core_instruction *instruction = &block->items[i];
        for (unsigned t = 0; t < core_term_count(instruction); t++) {
            uint32_t ports = core_term_ports(instruction, t);
            if (!results && instruction->executed->terms[t].results_of != 0) {
                continue;
            }
            unsigned at = 0;
            while (at < load->count && load->sets[at].ports != ports) {
                at++;
            }
            load->count += at == load->count;
            load->sets[at].ports = ports;
            load->sets[at].uops += instruction->executed->terms[t].uops;
        }
    }
    return IP_OK;
}

/* Cycles in which the way of results is taken from `ports`, and those that the µops take which write general
 * registers at once and have to go there. `any`: `ports` are all that are held up, and count for what could
 * go to each of them. */
static double results_cycles(const struct core_block *block, uint32_t ports, bool any) {
    double cycles = 0.0, uops = 0.0;
    for (size_t i = 0; i < block->count; i++) {
        const struct core_instruction *instruction = &block->items[i];
        for (unsigned t = 0; t < core_term_count(instruction); t++) {
            const struct core_term *term = &instruction->executed->terms[t];
            uint32_t where = core_term_ports(instruction, t);
            if (term->results_of != 0) {
                bool same = (any ? term->results_of : where) == ports;
                cycles += same ? term->uops / __builtin_popcount(where) : 0.0;
            } else if (instruction->at_once && (any ? where == ports : (where & ~ports) == 0)) {
                uops += term->uops;
            }
        }
    }
    return cycles + uops / __builtin_popcount(ports);
}

static void results_bound(const struct core_block *block, double *cycles, uint32_t *ports) {
    for (size_t i = 0; i < block->count; i++) {
        const struct core_instruction *instruction = &block->items[i];
        for (unsigned t = 0; t < core_term_count(instruction); t++) {
            const struct core_term *term = &instruction->executed->terms[t];
            const uint32_t held[] = {term->ports, term->results_of};
            for (unsigned any = 0; any < 2 && term->results_of != 0; any++) {
                double busy = results_cycles(block, held[any], any != 0);
                if (busy > *cycles) {
                    *cycles = busy;
                    *ports = held[any];
                }
            }
        }
    }
}

enum ip_status core_ports_bound(const struct core_block *block, double *cycles, uint32_t *ports,
                                struct ip_error *err) {
    struct load load;
    enum ip_status status = load_gather(&load, block, false, err);
    if (status == IP_OK) {
        *cycles = probe_ports_bound(load.sets, load.count, ports);
        results_bound(block, cycles, ports);
        free(load.sets);
    }
    return status;
}

/* The fullest set is filled evenly; what is left goes to the other ports, and so on. */
enum ip_status core_pressure_spread(const struct core_block *block, double pressure[CORE_PORTS_MAX],
                                    double (*shares)[CORE_PORTS_MAX], struct ip_error *err) {
    struct load load;
    enum ip_status status = load_gather(&load, block, true, err);
    if (status != IP_OK) {
        return status;
    }
    uint32_t level_ports[CORE_PORTS_MAX];
    unsigned levels = 0;
    memset(pressure, 0, CORE_PORTS_MAX * sizeof pressure[0]);
    for (;;) {
        uint32_t fullest;
        double cycles = probe_ports_bound(load.sets, load.count, &fullest);
        if (fullest == 0 || levels == CORE_PORTS_MAX) {
            break;
        }
        level_ports[levels++] = fullest;
        unsigned left = 0;
        for (unsigned i = 0; i < load.count; i++) {
            uint32_t others = load.sets[i].ports & ~fullest;
            if (others != 0) {
                load.sets[left++] = (struct probe_usage_term){.ports = others, .uops = load.sets[i].uops};
            }
        }
        load.count = left;
        for (unsigned p = 0; p < CORE_PORTS_MAX; p++) {
            pressure[p] += (fullest >> p & 1) != 0 ? cycles : 0.0;
        }
    }
    free(load.sets);
    /* Each instruction's part of the ports of its level, in proportion to what room they have for it. */
    for (size_t i = 0; i < block->count; i++) {
        const struct core_instruction *instruction = &block->items[i];
        for (unsigned t = 0; t < core_term_count(instruction); t++) {
            uint32_t left = core_term_ports(instruction, t);
            for (unsigned l = 0; l < levels && (left & ~level_ports[l]) != 0; l++) {
                left &= ~level_ports[l];
            }
            for (unsigned p = 0; p < CORE_PORTS_MAX; p++) {
                if ((left >> p & 1) != 0) {
                    shares[i][p] += instruction->executed->terms[t].uops / __builtin_popcount(left);
                }
            }
        }
    }
    return IP_OK;
}

double core_slots_count(const struct core_block *block) {
    double slots = 0.0;
    for (size_t i = 0; i < block->count; i++) {
        const struct core_instruction *instruction = &block->items[i];
        if (instruction->fused) {
            continue;
        }
        slots += instruction->slots;
    }
    return slots;
}

double core_unit_bound(const struct core_block *block) {
    double most = 0.0;
    for (size_t i = 0; i < block->count; i++) {
        int unit = block->items[i].cost->unit;
        double busy = 0.0;
        for (size_t k = 0; k < block->count && unit >= 0; k++) {
            const struct core_instruction *other = &block->items[k];
            if (other->cost->unit == unit && !other->idiom) {
                busy += other->cost->unit_cycles;
            }
            if (other->cost->unit == unit && k < i) {
                busy = 0.0; /* counted already */
                break;
            }
        }
        most = fmax(most, busy);
    }
    return fmax(most, core_calls_cycles(block));
}

/* Cycles of the taken branches of a pass: those inside, and the one that closes it, which takes as long, or
 * `closing` where all inside are calls and returns. */
static double taken_cycles(const struct core_block *block, double closing) {
    double cycles = 0.0, most = 0.0;
    for (size_t i = 0; i < block->count; i++) {
        const struct core_cost *cost = block->items[i].cost;
        bool always = cost->branch && block->items[i].source_count == 0 && !isnan(cost->unit_cycles);
        cycles += always ? cost->unit_cycles : 0.0;
        most = fmax(most, always ? cost->unit_cycles : 0.0);
    }
    const double calls = core_calls_cycles(block);
    return cycles + calls + (most > 0.0 || calls <= 0.0 ? most : closing);
}

void core_front_bounds(const struct core_costs *costs, const struct core_block *block,
                       const struct core_options *options, double slots, double bounds[CORE_BOUNDS]) {
    const struct probe_core *core = &costs->core;
    double bytes = probe_core_get(core, PROBE_CORE_PREDECODE_BYTES);
    double decode = probe_core_get(core, PROBE_CORE_DECODE_WIDTH);
    double cache = probe_core_get(core, PROBE_CORE_UOP_CACHE_WIDTH);
    double branch = probe_core_get(core, PROBE_CORE_TAKEN_BRANCH);
    double capacity = probe_core_get(core, PROBE_CORE_UOP_CACHE_SLOTS);
    double instructions = 0.0, cached = slots; /* what an index takes apart is whole in the µop cache */
    for (size_t i = 0; i < block->count; i++) {
        instructions += block->items[i].fused ? 0.0 : 1.0;
        cached -= block->items[i].apart;
    }
    /* Copies in a row are taken to fit the µop cache, as in the kernels that measure them. */
    bool decoded = options->loop && !isnan(capacity) && slots > capacity;
    if (decoded) {
        bounds[CORE_BOUND_PREDECODE] = (double)block->code_bytes / bytes;
        bounds[CORE_BOUND_DECODE] = instructions / decode;
    } else {
        double lines = cached / cache;
        bounds[CORE_BOUND_UOP_CACHE] =
            fmax(options->loop ? ceil(lines) : lines, core_lines_bound(costs, block, options->loop));
    }
    if (options->loop) {
        branch = isnan(branch) ? 1.0 : branch;
        bounds[CORE_BOUND_LOOP] = fmax(branch, taken_cycles(block, branch));
    }
}
