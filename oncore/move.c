/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/move.h"

#include <string.h>

/* Was this core seen to take a MOV into the operation's slot? With a long immediate it was not always to be
 * told: then as with a short one. */
static bool takes_moves(const struct core_costs *costs, const char *syntax) {
    static const char kind[] = "move", long_end[] = "imm32";
    const struct probe_core_value *fact = probe_core_fact_get(&costs->core, kind, syntax, NULL);
    const size_t length = strlen(syntax), end = sizeof long_end - 1;
    if ((fact == NULL || !fact->known) && length > end && strcmp(syntax + length - end, long_end) == 0) {
        char with_short[ISA_SYNTAX_MAX];
        memcpy(with_short, syntax, length + 1);
        strcpy(with_short + length - end, "imm8");
        fact = probe_core_fact_get(&costs->core, kind, with_short, NULL);
    }
    return fact != NULL && fact->known && fact->value > 0.5;
}

static bool is_move(const struct core_instruction *instruction) {
    const struct isa_form *form = &instruction->cost->form;
    return instruction->renamed && form->explicit_count == 2 && strcmp(form->mnemonic, "mov") == 0 &&
           form->operands[0].kind == ISA_OPERAND_REG && form->operands[1].kind == ISA_OPERAND_REG &&
           (form->operands[0].reg_class == ISA_REG_GPR64 || form->operands[0].reg_class == ISA_REG_GPR32) &&
           form->operands[1].reg_class == form->operands[0].reg_class;
}

/* Does the operation change what the move wrote, and read it nowhere else? */
static bool changes(const struct core_instruction *operation, const struct core_instruction *move) {
    const struct isa_form *form = &operation->cost->form;
    bool other = false;
    for (unsigned i = 1; i < form->explicit_count; i++) {
        other = other || (form->operands[i].kind == ISA_OPERAND_REG &&
                          operation->binding.reg[i] == move->binding.reg[0]);
    }
    return form->explicit_count > 0 && form->operands[0].kind == ISA_OPERAND_REG &&
           form->operands[0].reg_class == move->cost->form.operands[0].reg_class &&
           operation->binding.reg[0] == move->binding.reg[0] && !other;
}

void core_moves_join(struct core_block *block, const struct core_costs *costs) {
    for (size_t i = 0; i + 1 < block->count; i++) {
        struct core_instruction *move = &block->items[i];
        const struct core_instruction *operation = move + 1;
        if (is_move(move) && changes(operation, move) && takes_moves(costs, operation->syntax)) {
            move->joined = true;
            move->slots = 0.0;
        }
    }
}
