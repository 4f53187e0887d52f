/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/chain.c - the longest cycle of dependences.
 *
 * A value that the block reads before it writes it comes from the pass before: it is carried. For each
 * carried value the longest way to each carried value at the end of the block is one edge; the largest mean
 * of a cycle of such edges (Karp 1978) is the bound, and its edges, instruction by instruction, are the
 * critical chain. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oncore/bounds.h"
#include "oncore/pointer.h"
#include "oncore/stack.h"
#include "oncore/values.h"

enum {
    STORES_MAX = 40,
    NODES_MAX = CORE_RESOURCES + STORES_MAX,
    CARRIED_MAX = 64, /* all of 16 and 32 registers, and flags and memory */
    NONE = -1,
    STEP_STORE = CORE_TARGETS_MAX, /* of an instruction's steps, which begin with its targets */
    STEP_SYNC,
    STEPS,
    WARM_PASSES = 8,
    PAGE = 4096
};

/* Which store each load takes its data from, in the steady state. */
struct memory {
    int *node;      /* owned; of each instruction that stores to a load: its node, else NONE */
    int *from;      /* owned; of each load: the node of the store, else NONE */
    bool *before;   /* owned; ... of an earlier pass */
    double *cycles; /* owned; ... and how long that takes */
    uint64_t *page; /* owned; of each access in the pass before */
};

struct chains {
    const struct core_costs *costs;
    const struct core_block *block;
    struct memory memory;
    struct core_forwarding forwarding;
    double load;
    int carried[CARRIED_MAX];
    unsigned carried_count;
    double edges[CARRIED_MAX][CARRIED_MAX]; /* -INFINITY: none */
    struct core_link *steps;                /* owned; block->count: the way of one edge */
};

static void chains_fini(struct chains *chains) {
    free(chains->memory.node);
    free(chains->memory.from);
    free(chains->memory.before);
    free(chains->memory.cycles);
    free(chains->memory.page);
    free(chains->steps);
}

/* Follows the addresses for some passes; what a load of the last one hits is how it goes on. */
static enum ip_status memory_read(struct chains *chains, const struct core_options *options,
                                  struct core_prediction *prediction, struct ip_error *err) {
    const struct core_block *block = chains->block;
    struct memory *memory = &chains->memory;
    struct core_values *values = calloc(1, sizeof *values);
    uint32_t *writer = calloc(CORE_STORES_KEPT, sizeof *writer);
    memory->node = calloc(block->count, sizeof *memory->node);
    memory->from = calloc(block->count, sizeof *memory->from);
    memory->before = calloc(block->count, sizeof *memory->before);
    memory->cycles = calloc(block->count, sizeof *memory->cycles);
    memory->page = calloc(block->count, sizeof *memory->page);
    chains->steps = calloc(block->count, sizeof *chains->steps);
    if (values == NULL || writer == NULL || memory->node == NULL || memory->from == NULL ||
        memory->before == NULL || memory->cycles == NULL || memory->page == NULL || chains->steps == NULL) {
        free(values);
        free(writer);
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the dependences of a block");
    }
    core_values_init(values, options->filled, options->fill);
    int nodes = CORE_RESOURCES;
    for (size_t i = 0; i < block->count; i++) {
        memory->node[i] = memory->from[i] = NONE;
    }
    uint64_t begun = 0;
    for (unsigned pass = 0; pass < WARM_PASSES; pass++) {
        const uint64_t before = begun;
        begun = values->store_count;
        for (size_t i = 0; i < block->count; i++) {
            const struct core_instruction *instruction = &block->items[i];
            const struct core_places places = core_values_places(values, instruction);
            const struct core_word address = places.loads ? places.load : places.store;
            struct core_store *hit = NULL;
            if ((places.loads || places.stores) && options->filled && address.symbol == 0) {
                uint64_t page = address.number / PAGE, last = memory->page[i];
                bool next = page == last || page == last + 1 || page + 1 == last; /* a walk for many passes */
                prediction->splits |= address.number % CORE_LINE_BYTES + instruction->bytes > CORE_LINE_BYTES;
                prediction->walks |= pass == WARM_PASSES - 1 && !next;
                memory->page[i] = page;
            }
            if (places.loads) {
                hit = core_values_find(values, places.load, instruction->bytes);
            }
            struct core_store kept = hit != NULL ? *hit : (struct core_store){0};
            /* What was stored earlier still was stored once, or is met every so many passes: no chain from a
             * pass to the next. */
            const uint32_t from = hit != NULL ? writer[hit->serial % CORE_STORES_KEPT] : 0;
            /* Nor one of the pass before by what has stored in this one already: that is its node's. */
            const bool last = hit != NULL && hit->serial >= (from < i ? begun : before);
            if (pass == WARM_PASSES - 1 && last) {
                if (memory->node[from] == NONE && nodes < NODES_MAX) {
                    memory->node[from] = nodes++;
                }
                memory->from[i] = memory->node[from];
                memory->before[i] = hit->serial < begun;
                memory->cycles[i] =
                    core_forward_cycles(&chains->forwarding, values, instruction, places.load, hit);
            }
            if (places.stores) {
                writer[values->store_count % CORE_STORES_KEPT] = (uint32_t)i;
                (void)core_values_store(values, instruction, places.store);
            }
            core_values_step(values, instruction, hit != NULL ? &kept : NULL);
        }
    }
    free(values);
    free(writer);
    return IP_OK;
}

static void carried_find(struct chains *chains) {
    const struct core_block *block = chains->block;
    bool written[NODES_MAX] = {false}, early[NODES_MAX] = {false};
    for (size_t i = 0; i < block->count; i++) {
        const struct core_instruction *instruction = &block->items[i];
        for (unsigned s = 0; s < instruction->source_count; s++) {
            early[instruction->sources[s]] |= !written[instruction->sources[s]];
        }
        int from = chains->memory.from[i];
        if (from != NONE && chains->memory.before[i]) {
            early[from] = true;
        }
        for (unsigned t = 0; t < instruction->target_count; t++) {
            written[instruction->targets[t]] = true;
        }
        for (unsigned v = 0; v < ISA_CLEARED_VECTORS && instruction->clears; v++) {
            written[CORE_RESOURCE_VECTOR + v] = true;
        }
        if (chains->memory.node[i] != NONE) {
            written[chains->memory.node[i]] = true;
        }
    }
    for (int node = 0; node < NODES_MAX; node++) {
        if (written[node] && early[node] && chains->carried_count < CARRIED_MAX) {
            chains->carried[chains->carried_count++] = node;
        }
    }
}

/* Where the longest way to a node came from. */
struct step {
    int instruction; /* NONE: it is the start */
    int from;        /* node */
    bool memory;
    double cycles;
};

/* The longest ways from `origin` to all nodes, over the block from its start to its end. `steps` (may be
 * NULL): one for each instruction and target, one for its store, and one for RSP. */
static void ways_find(const struct chains *chains, int origin, double distance[NODES_MAX],
                      struct step (*steps)[STEPS]) {
    const struct core_block *block = chains->block;
    for (int node = 0; node < NODES_MAX; node++) {
        distance[node] = -INFINITY;
    }
    distance[origin] = 0.0;
    for (size_t i = 0; i < block->count; i++) {
        const struct core_instruction *instruction = &block->items[i];
        double result[CORE_TARGETS_MAX + 1];
        int memory = chains->memory.from[i];
        bool foretold =
            memory != NONE && core_forward_foretold(&chains->forwarding, chains->memory.cycles[i]);
        for (unsigned t = 0; t <= instruction->target_count; t++) {
            bool store = t == instruction->target_count;
            /* PUSH and POP move RSP without looking at the data, as strings move their pointers. */
            bool pointer = !store && (core_moves_rsp(instruction, t) ||
                                      core_moves_pointer(instruction, instruction->targets[t]));
            struct step best = {.instruction = NONE, .from = NONE};
            result[t] = -INFINITY;
            for (unsigned s = 0; s < instruction->source_count; s++) {
                /* An address that is there does not make the data of a store. */
                bool address = s < instruction->address_count;
                if (address && ((store && !instruction->loads) || (foretold && !pointer))) {
                    continue;
                }
                double cycles =
                    store ? instruction->to_store + (address ? chains->load + instruction->index_more : 0.0)
                          : instruction->latency[t][s];
                cycles += instruction->syncs && instruction->sources[s] == CORE_RESOURCE_RSP
                              ? block->stack_sync
                              : 0.0;
                double way = distance[instruction->sources[s]] + cycles;
                if (way > result[t]) {
                    result[t] = way;
                    best = (struct step){
                        .instruction = (int)i, .from = instruction->sources[s], .cycles = cycles};
                }
            }
            if (memory != NONE && !pointer) {
                double cycles =
                    chains->memory.cycles[i] +
                    (store ? instruction->to_store : fmax(0.0, instruction->through_load[t] - chains->load));
                if (distance[memory] + cycles > result[t]) {
                    result[t] = distance[memory] + cycles;
                    best = (struct step){
                        .instruction = (int)i, .from = memory, .memory = true, .cycles = cycles};
                }
            }
            if (steps != NULL) {
                steps[i][store ? STEP_STORE : t] = best;
            }
        }
        if (instruction->syncs) {
            distance[CORE_RESOURCE_RSP] += block->stack_sync;
            if (steps != NULL) {
                steps[i][STEP_SYNC] = (struct step){
                    .instruction = (int)i, .from = CORE_RESOURCE_RSP, .cycles = block->stack_sync};
            }
        }
        for (unsigned t = 0; t < instruction->target_count; t++) {
            distance[instruction->targets[t]] = result[t];
        }
        for (unsigned v = 0; v < ISA_CLEARED_VECTORS && instruction->clears; v++) {
            distance[CORE_RESOURCE_VECTOR + v] = -INFINITY;
        }
        if (chains->memory.node[i] != NONE) {
            distance[chains->memory.node[i]] = result[instruction->target_count];
        }
    }
}

/* Karp's largest mean; the nodes of a cycle that has it go to `cycle`. Returns the mean, -INFINITY without a
 * cycle. */
static double mean_largest(const struct chains *chains, unsigned cycle[CARRIED_MAX], unsigned *length) {
    unsigned n = chains->carried_count;
    double ways[CARRIED_MAX + 1][CARRIED_MAX];
    uint8_t parent[CARRIED_MAX + 1][CARRIED_MAX];
    *length = 0;
    for (unsigned v = 0; v < n; v++) {
        ways[0][v] = 0.0;
    }
    for (unsigned k = 1; k <= n; k++) {
        for (unsigned v = 0; v < n; v++) {
            ways[k][v] = -INFINITY;
            parent[k][v] = 0;
            for (unsigned u = 0; u < n; u++) {
                double way = ways[k - 1][u] + chains->edges[u][v];
                if (way > ways[k][v]) {
                    ways[k][v] = way;
                    parent[k][v] = (uint8_t)u;
                }
            }
        }
    }
    double best = -INFINITY;
    unsigned end = 0;
    for (unsigned v = 0; v < n; v++) {
        double least = INFINITY;
        for (unsigned k = 0; k < n && ways[n][v] > -INFINITY; k++) {
            least = ways[k][v] > -INFINITY ? fmin(least, (ways[n][v] - ways[k][v]) / (n - k)) : least;
        }
        if (least < INFINITY && least > best) {
            best = least;
            end = v;
        }
    }
    if (best == -INFINITY) {
        return best;
    }
    /* Some cycle on the way of n edges to `end` has the mean: the best of them. */
    unsigned way[CARRIED_MAX + 1];
    unsigned at = end;
    for (unsigned k = n + 1; k-- > 0;) {
        way[k] = at;
        at = k > 0 ? parent[k][at] : at;
    }
    double found = -INFINITY;
    for (unsigned i = 0; i <= n; i++) {
        double sum = 0.0;
        for (unsigned j = i + 1; j <= n; j++) {
            sum += chains->edges[way[j - 1]][way[j]];
            if (way[j] != way[i]) {
                continue;
            }
            if (sum / (j - i) > found) {
                found = sum / (j - i);
                *length = j - i;
                memcpy(cycle, way + i, (j - i) * sizeof cycle[0]);
            }
            break;
        }
    }
    return best;
}

static enum ip_status links_write(const struct chains *chains, const unsigned *cycle, unsigned length,
                                  struct core_prediction *prediction, struct ip_error *err) {
    const struct core_block *block = chains->block;
    struct step(*steps)[STEPS] = calloc(block->count, sizeof *steps);
    if (steps == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the critical chain of a block");
    }
    prediction->chain_passes = length;
    for (unsigned e = 0; e < length; e++) {
        int origin = chains->carried[cycle[e]], node = chains->carried[cycle[(e + 1) % length]];
        double distance[NODES_MAX];
        ways_find(chains, origin, distance, steps);
        unsigned first = prediction->chain_count;
        /* Backwards from the last writer of the node. */
        for (size_t i = block->count; i-- > 0;) {
            const struct core_instruction *instruction = &block->items[i];
            int target = NONE;
            for (unsigned t = 0; t < instruction->target_count; t++) {
                target = instruction->targets[t] == node ? (int)t : target;
            }
            target = chains->memory.node[i] == node ? STEP_STORE : target;
            target = target == NONE && instruction->syncs && node == CORE_RESOURCE_RSP ? STEP_SYNC : target;
            if (target == NONE || prediction->chain_count == CORE_CHAIN_MAX) {
                continue;
            }
            const struct step *step = &steps[i][target];
            if (step->instruction == NONE) {
                break;
            }
            prediction->chain[prediction->chain_count++] =
                (struct core_link){.instruction = (uint32_t)i,
                                   .from = (uint8_t)(step->memory ? CORE_RESOURCES : step->from),
                                   .to = (uint8_t)(node >= CORE_RESOURCES ? CORE_RESOURCES : node),
                                   .memory = step->memory,
                                   .cycles = step->cycles};
            node = step->from;
        }
        for (unsigned a = first, b = prediction->chain_count; a + 1 < b; a++) { /* forwards again */
            struct core_link link = prediction->chain[a];
            prediction->chain[a] = prediction->chain[--b];
            prediction->chain[b] = link;
        }
    }
    free(steps);
    return IP_OK;
}

enum ip_status core_chain_bound(const struct core_costs *costs, const struct core_options *options,
                                struct core_prediction *prediction, struct ip_error *err) {
    struct chains *chains = calloc(1, sizeof *chains);
    if (chains == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the dependences of a block");
    }
    chains->costs = costs;
    chains->block = &prediction->block;
    chains->load = isnan(prediction->block.load_cycles) ? 0.0 : prediction->block.load_cycles;
    core_forwarding_read(&chains->forwarding, costs, &prediction->block, options->loop);
    enum ip_status status = memory_read(chains, options, prediction, err);
    prediction->bounds[CORE_BOUND_CHAIN] = 0.0;
    if (status == IP_OK) {
        carried_find(chains);
        for (unsigned u = 0; u < chains->carried_count; u++) {
            double distance[NODES_MAX];
            ways_find(chains, chains->carried[u], distance, NULL);
            for (unsigned v = 0; v < chains->carried_count; v++) {
                chains->edges[u][v] = distance[chains->carried[v]];
            }
        }
        /* A carried value that is never written again in a pass keeps its distance of 0: it is none. */
        unsigned cycle[CARRIED_MAX], length = 0;
        double mean = chains->carried_count > 0 ? mean_largest(chains, cycle, &length) : -INFINITY;
        if (mean > 0.0) {
            prediction->bounds[CORE_BOUND_CHAIN] = mean;
            status = links_write(chains, cycle, length, prediction, err);
        }
    }
    chains_fini(chains);
    free(chains);
    return status;
}
