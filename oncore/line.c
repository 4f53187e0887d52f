/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oncore/cost_steps.h"
#include "oncore/values.h"

/* What takes no more than this times what issues is bound by that, and what is so near to a whole number is
 * one: long straight code was seen to take 1 to 2 % more than short loops of it. */
static const double NO_MORE = 1.03;

static double settled(double cycles, double issued) {
    const double whole = round(cycles);
    return cycles <= NO_MORE * issued                                           ? issued
           : whole >= issued && fabs(cycles - whole) <= (NO_MORE - 1.0) * whole ? whole
                                                                                : cycles;
}

/* The line's cycles for the least known number of instructions that is no less than `count`: that number; 0:
 * none is known. */
static unsigned known_above(const struct core_costs *costs, unsigned count, double *cycles) {
    static const char kind[] = "line ";
    size_t fact_count = 0;
    const struct probe_core_fact *facts = probe_core_facts_find(&costs->core, kind, &fact_count);
    unsigned least = 0;
    for (size_t i = 0; i < fact_count; i++) {
        const unsigned number = (unsigned)strtoul(facts[i].key + sizeof kind - 1, NULL, 10);
        if (facts[i].value.known && number >= count && (least == 0 || number < least)) {
            least = number;
            *cycles = facts[i].value.value;
        }
    }
    return least;
}

void core_lines_fill(struct core_costs *costs) {
    const double width = core_issue_width(costs);
    double below = 0.0, above = 0.0; /* cycles for the numbers next to `count` that are known */
    unsigned below_count = 0, above_count = 0;
    for (unsigned count = 1; count <= CORE_LINE_MOST; count++) {
        if (count > above_count) {
            below_count = above_count;
            below = above;
            above_count = known_above(costs, count, &above);
            if (above_count == 0) {
                return; /* nothing is known of so many */
            }
            above = settled(above, above_count / width);
        }
        const double share =
            below_count == 0 ? 1.0 : (double)(count - below_count) / (above_count - below_count);
        const double cycles = below + (above - below) * share;
        const bool issues = below_count == 0 ? above <= above_count / width : cycles <= count / width;
        costs->line_cycles[count] = issues ? 0.0 : cycles;
    }
}

/* Displacements and immediates in its encoding. */
static unsigned constants_of(const struct core_instruction *instruction) {
    const struct isa_form *form = &instruction->cost->form;
    unsigned constants = 0;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        const bool address = operand->kind == ISA_OPERAND_MEM || operand->kind == ISA_OPERAND_AGEN;
        constants += operand->kind == ISA_OPERAND_IMM && !operand->imm_fixed;
        constants += address && (core_address_has_number(&instruction->binding.address) ||
                                 instruction->binding.address.base < 0);
    }
    return constants;
}

double core_lines_bound(const struct core_costs *costs, const struct core_block *block, bool loop) {
    const bool with_constants = probe_core_get(&costs->core, PROBE_CORE_LINE_CONSTANTS) > 0.5;
    const double width = core_issue_width(costs);
    double cycles = 0.0, issued = 0.0;
    unsigned instructions = 0, constants = 0, passes = 0;
    size_t end = 0, line = 0;
    do { /* until the copies end where a line does */
        for (size_t i = 0; i <= block->count; i++) {
            const bool last = i == block->count;
            const size_t at = last ? end + block->code_bytes : end + block->items[i].offset;
            const bool closes = last && (loop || at % CORE_LINE_BYTES == 0);
            if (last && loop) {
                instructions++; /* the branch */
            }
            if (at / CORE_LINE_BYTES != line || closes) {
                const unsigned count = with_constants && constants > instructions ? constants : instructions;
                const double known = count <= CORE_LINE_MOST ? costs->line_cycles[count] : 0.0;
                cycles += known > 0.0 ? known : instructions / width;
                issued += instructions / width;
                line = at / CORE_LINE_BYTES;
                instructions = constants = 0;
            }
            if (!last && !block->items[i].fused && !block->items[i].joined) {
                instructions++;
            }
            constants += last ? 0 : constants_of(&block->items[i]);
        }
        end += block->code_bytes;
        passes++;
    } while (!loop && end % CORE_LINE_BYTES != 0 && passes < CORE_LINE_BYTES);
    return cycles > issued ? cycles / passes : NAN;
}
