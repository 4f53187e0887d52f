/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oncore/bounds.h"
#include "oncore/oncore.h"
#include "oncore/simulate.h"

/* The simulation binds only when it is so much above all bounds: below, it says the same. */
static const double ABOVE = 1.01;
/* What is measured, an issue width of 3.002, is not known better than so: of bounds as near the first binds.
 */
static const double CLEARLY = 1.002;

const char *core_bound_name(enum core_bound bound) {
    static const char *const names[CORE_BOUNDS] = {[CORE_BOUND_PREDECODE] = "predecode",
                                                   [CORE_BOUND_DECODE] = "decode",
                                                   [CORE_BOUND_UOP_CACHE] = "uop-cache",
                                                   [CORE_BOUND_LOOP] = "loop",
                                                   [CORE_BOUND_ISSUE] = "issue",
                                                   [CORE_BOUND_PORTS] = "ports",
                                                   [CORE_BOUND_UNIT] = "unit",
                                                   [CORE_BOUND_CHAIN] = "chain",
                                                   [CORE_BOUND_SIMULATION] = "simulation"};
    return names[bound];
}

void core_prediction_fini(struct core_prediction *prediction) {
    core_block_fini(&prediction->block);
    free(prediction->shares);
    memset(prediction, 0, sizeof *prediction);
}

static void sources_count(struct core_prediction *prediction) {
    for (size_t i = 0; i < prediction->block.count; i++) {
        const struct core_instruction *instruction = &prediction->block.items[i];
        for (unsigned o = 0; o < instruction->cost->form.operand_count; o++) {
            prediction->x87 = prediction->x87 || instruction->cost->form.operands[o].reg_class == ISA_REG_X87;
        }
        /* A fused branch costs nothing of its own: that the tables lack it does no harm. */
        if (!instruction->cost->known && !instruction->fused) {
            if (prediction->missing_count < CORE_MISSING_MAX) {
                prediction->missing[prediction->missing_count] = (uint32_t)i;
            }
            prediction->missing_count++;
        }
        prediction->composed_count += instruction->cost->source == CORE_SOURCE_COMPOSED;
        prediction->assumed_count += instruction->cost->source == CORE_SOURCE_ASSUMED;
        prediction->open_count += !instruction->fused && core_cost_is_open(instruction->cost);
    }
}

/* The largest bound; the simulation only where it is clearly above the others. */
static void binding_find(struct core_prediction *prediction) {
    prediction->cycles = NAN;
    for (unsigned b = 0; b < CORE_BOUNDS; b++) {
        double bound = prediction->bounds[b], factor = b == CORE_BOUND_SIMULATION ? ABOVE : CLEARLY;
        if (isnan(bound)) {
            continue;
        }
        bool binds = isnan(prediction->cycles) || bound > prediction->bounds[prediction->binding] * factor;
        if (binds) {
            prediction->binding = b;
        }
        if (binds || b != CORE_BOUND_SIMULATION) {
            prediction->cycles = fmax(prediction->cycles, bound);
        }
    }
}

enum ip_status core_predict(struct core_costs *costs, const uint8_t *code, size_t code_bytes,
                            const struct core_options *options, struct core_prediction *prediction,
                            struct ip_error *err) {
    struct core_prediction made = {0};
    for (unsigned b = 0; b < CORE_BOUNDS; b++) {
        made.bounds[b] = NAN;
    }
    enum ip_status status = core_block_decode(&made.block, code, code_bytes, costs, err);
    if (status != IP_OK) {
        return status;
    }
    made.shares = calloc(made.block.count, sizeof *made.shares);
    if (made.shares == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for a block of %zu bytes", code_bytes);
    }
    if (status == IP_OK) {
        sources_count(&made);
        made.slots = core_slots_count(&made.block);
        made.bounds[CORE_BOUND_ISSUE] = made.slots / core_issue_width(costs);
        made.bounds[CORE_BOUND_UNIT] = core_unit_bound(&made.block);
        status = core_ports_bound(&made.block, &made.bounds[CORE_BOUND_PORTS], &made.bottleneck, err);
    }
    if (status == IP_OK && made.bottleneck == 0 && made.missing_count + made.assumed_count > 0) {
        made.bounds[CORE_BOUND_PORTS] =
            NAN; /* none is known, and some are needed: that is no bound of zero */
    }
    if (status == IP_OK) {
        status = core_pressure_spread(&made.block, made.pressure, made.shares, err);
    }
    if (status == IP_OK) {
        core_front_bounds(costs, &made.block, options, made.slots, made.bounds);
        status = core_chain_bound(costs, options, &made, err);
    }
    if (status == IP_OK && !options->no_simulation) {
        status = core_simulate(costs, &made.block, options, &made.bounds[CORE_BOUND_SIMULATION], err);
    }
    if (status != IP_OK) {
        core_prediction_fini(&made);
        return status;
    }
    binding_find(&made);
    *prediction = made;
    return IP_OK;
}
