/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/line.h"

#include <math.h>
#include <string.h>

#include "oncore/cost_steps.h"
#include "oncore/values.h"

/* Copies in a row are followed for so many bytes, or until they end where a line does. */
enum { BYTES_FOLLOWED = 4096 };

/* Where the walk through the code is. */
struct walk {
    const struct probe_entries *entries;
    bool with_constants;
    unsigned instructions, constants; /* in the last entry */
    unsigned begun;                   /* entries, in this line */
    size_t line;
    double cycles; /* of the lines before */
};

static void walk_to_line(struct walk *walk, size_t line) {
    for (; walk->line < line; walk->line++) {
        walk->cycles += walk->entries->cycles[walk->begun];
        walk->begun = 0;
        walk->instructions = walk->entries->across ? walk->instructions : walk->entries->size;
    }
}

/* Displacements and immediates in its encoding, by which an entry counts: those of NOPs it does not hold. */
static unsigned constants_of(const struct core_instruction *instruction) {
    const struct isa_form *form = &instruction->cost->form;
    unsigned constants = 0;
    if (strcmp(form->mnemonic, "nop") == 0) {
        return 0;
    }
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        const bool address = operand->kind == ISA_OPERAND_MEM || operand->kind == ISA_OPERAND_AGEN;
        if (operand->kind == ISA_OPERAND_IMM && !operand->imm_fixed) {
            constants += operand->bits > 32 ? 2 : 1;
        }
        constants += operand->kind == ISA_OPERAND_REL;
        constants += address && instruction->binding.address.number;
    }
    return constants;
}

/* Is it one with the instruction before it? */
static bool goes_along(const struct core_block *block, size_t i) {
    return i < block->count && (block->items[i].fused || block->items[i].joined);
}

static void walk_through(struct walk *walk, const struct core_block *block, size_t begin) {
    for (size_t i = 0; i < block->count; i++) {
        walk_to_line(walk, (begin + block->items[i].offset) / CORE_LINE_BYTES);
        if (goes_along(block, i)) {
            continue;
        }
        unsigned constants = 0;
        for (size_t with = i; walk->with_constants && (with == i || goes_along(block, with)); with++) {
            constants += constants_of(&block->items[with]);
        }
        if (walk->instructions + 1 > walk->entries->size ||
            walk->constants + constants > walk->entries->size) {
            walk->begun++;
            walk->instructions = walk->constants = 0;
        }
        walk->instructions++;
        walk->constants += constants;
    }
}

double core_lines_bound(const struct core_costs *costs, const struct core_block *block, bool loop) {
    struct walk walk = {.entries = &costs->entries,
                        .with_constants = probe_core_get(&costs->core, PROBE_CORE_LINE_CONSTANTS) > 0.5,
                        .instructions = costs->entries.size};
    if (costs->entries.size == 0) {
        return NAN;
    }
    if (loop) {
        walk_through(&walk, block, 0);
        walk_to_line(&walk, (block->code_bytes - 1) / CORE_LINE_BYTES + 1); /* with its branch's last byte */
        return walk.cycles;
    }
    unsigned passes = 0;
    size_t end = 0;
    for (; passes == 0 || end % CORE_LINE_BYTES != 0 || end < BYTES_FOLLOWED; passes++) {
        walk_through(&walk, block, end);
        end += block->code_bytes;
    }
    walk_to_line(&walk, end / CORE_LINE_BYTES);
    return walk.cycles / passes;
}
