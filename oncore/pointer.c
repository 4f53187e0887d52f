/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/pointer.h"

#include <string.h>

#include "generator/operands.h"

enum { RSI = 6, RDI = 7, STEM = 4 /* letters */ };

static bool is_single_string(const struct core_instruction *instruction) {
    const struct isa_form *form = &instruction->cost->form;
    return form->explicit_count == 0 && form->prefix[0] == '\0' && gen_form_is_string(form);
}

int core_pointer(const struct core_instruction *instruction, bool store) {
    static const struct {
        char stem[STEM + 1];
        int load, store;
    } strings[] = {
        {"lods", RSI, -1}, {"stos", -1, RDI}, {"movs", RSI, RDI}, {"scas", RDI, -1}, {"cmps", RSI, -1}};
    const char *mnemonic = instruction->cost->form.mnemonic;
    if (instruction->cost->action == CORE_ACTION_LEAVE) {
        return store ? -1 : CORE_RESOURCE_RBP;
    }
    for (size_t i = 0; i < sizeof strings / sizeof strings[0] && is_single_string(instruction); i++) {
        if (strncmp(mnemonic, strings[i].stem, STEM) == 0) {
            return store ? strings[i].store : strings[i].load;
        }
    }
    return -1;
}

bool core_moves_pointer(const struct core_instruction *instruction, unsigned gpr) {
    const bool both = strncmp(instruction->cost->form.mnemonic, "cmps", STEM) == 0;
    const int pointer = (int)gpr;
    if (instruction->cost->action == CORE_ACTION_LEAVE) {
        return gpr == CORE_RESOURCE_RSP;
    }
    return is_single_string(instruction) &&
           (core_pointer(instruction, false) == pointer || core_pointer(instruction, true) == pointer ||
            (both && gpr == RDI));
}
