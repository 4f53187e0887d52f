/* SPDX-License-Identifier: Apache-2.0 */
/* Branches, each to the next instruction (Putigny 2014, Listing 2.3). */
#include <stdio.h>
#include <string.h>

#include "generator/control.h"
#include "generator/operands.h"
#include "generator/shapes.h"

enum { BRANCHES = 16 /* in a unit; one more instruction prepares the flags for all of them */ };

/* Keeps the comparison from fusing with the first branch. */
static const char KEEPS_APART[] = "nop dword [rax+8]";

/* The instruction that prepares the flags, and the conditions that then hold. r13, which nobody writes, is 1.
 */
struct preparation {
    const char *line;
    const char *holds; /* condition codes, each between blanks */
};

/* Between them each condition holds once and fails once. */
static const struct preparation preparations[] = {
    {"test r13, r13", " no nb ae nc nz ne nbe a ns np po nl ge nle g "}, /* all flags clear */
    {"cmp r13, r13", " no nb ae nc z e be na ns p pe nl ge le ng "},     /* ZF PF */
    {"cmp r13, 2", " no b nae c nz ne be na s p pe l nge le ng "},       /* CF SF PF */
    {"cmp r13b, 0x80", " o b nae c nz ne be na s p pe nl ge nle g "},    /* OF CF SF PF */
};

static bool condition_holds(const struct preparation *preparation, const char *condition) {
    char word[ISA_MNEMONIC_MAX + 2];
    (void)snprintf(word, sizeof word, " %s ", condition);
    return strstr(preparation->holds, word) != NULL;
}

static bool condition_is_known(const char *condition) {
    bool known = false;
    for (size_t i = 0; i < sizeof preparations / sizeof preparations[0]; i++) {
        known = known || condition_holds(&preparations[i], condition);
    }
    return known;
}

/* By which all of these jumps are taken, or none of them; NULL: there is none. */
static const struct preparation *preparation_find(const struct isa_form *const *jumps, unsigned count,
                                                  bool taken) {
    for (size_t i = 0; i < sizeof preparations / sizeof preparations[0]; i++) {
        bool all = true;
        for (unsigned k = 0; k < count; k++) {
            const char *condition = jumps[k]->mnemonic + 1;
            all =
                all && condition_is_known(condition) && condition_holds(&preparations[i], condition) == taken;
        }
        if (all) {
            return &preparations[i];
        }
    }
    return NULL;
}

bool gen_jumps_agree(const struct isa_form *one, const struct isa_form *other) {
    const struct isa_form *const jumps[] = {one, other};
    return preparation_find(jumps, 2, false) != NULL;
}

/* LOOP counts rcx down and is taken until that is zero, LOOPE and LOOPNE also only with and without ZF. So
 * many iterations nobody runs. */
static bool counts_down(const char *mnemonic) {
    return strncmp(mnemonic, "loop", 4) == 0;
}

static void count_prepare(struct gen_program *program, const char *mnemonic, bool taken) {
    bool equal = strcmp(mnemonic, "loope") == 0, unequal = strcmp(mnemonic, "loopne") == 0;
    ip_lines_add(&program->init, "mov rcx, 0x7fffffffffffffff");
    ip_lines_add(&program->init, "mov r13d, 1");
    if (equal || unequal) {
        ip_lines_add(&program->unit, equal == taken ? "cmp r13, r13" : "test r13, r13");
    }
}

static void conditional_prepare(struct gen_program *program, const struct preparation *preparation) {
    ip_lines_add(&program->init, "mov r13d, 1");
    ip_lines_add(&program->unit, preparation->line);
}

static bool is_relative(const struct isa_form *form) {
    return form->explicit_count == 1 && form->operands[0].kind == ISA_OPERAND_REL;
}

/* JECXZ, JRCXZ */
static bool asks_counter(const char *mnemonic) {
    size_t length = strlen(mnemonic);
    return length >= 4 && strcmp(mnemonic + length - 3, "cxz") == 0;
}

bool gen_form_is_always_taken(const struct isa_form *form) {
    return gen_form_needs_target(form) || strcmp(form->mnemonic, "jmp") == 0 ||
           strcmp(form->mnemonic, "loop") == 0;
}

enum ip_status gen_branch_prepare(struct gen_program *program, const struct isa_form *form, bool taken,
                                  struct ip_error *err) {
    const char *mnemonic = form->mnemonic;
    bool unconditional = strcmp(mnemonic, "jmp") == 0, guided = gen_form_needs_target(form);
    bool by_counter = asks_counter(mnemonic), loops = counts_down(mnemonic);
    const struct preparation *preparation =
        mnemonic[0] == 'j' && !unconditional && !by_counter ? preparation_find(&form, 1, taken) : NULL;
    if (!guided && (!is_relative(form) || !(unconditional || by_counter || loops || preparation != NULL))) {
        return ip_fail(err, IP_UNSUPPORTED,
                       "'%s' does not branch; branch chains are made of near jumps, calls and returns",
                       form->syntax);
    }
    if (gen_form_is_always_taken(form) && !taken) {
        return ip_fail(err, IP_UNSUPPORTED, "'%s' is always taken", form->syntax);
    }
    if (loops) {
        count_prepare(program, mnemonic, taken);
    } else if (by_counter) {
        ip_lines_add(&program->init, taken ? "mov ecx, 0" : "mov ecx, 1");
    } else if (preparation != NULL) {
        conditional_prepare(program, preparation);
    }
    return IP_OK;
}

enum ip_status gen_jumps_prepare(struct gen_program *program, const struct isa_form *const *jumps,
                                 unsigned count, struct ip_error *err) {
    const struct preparation *preparation = preparation_find(jumps, count, false);
    if (preparation == NULL) {
        return ip_fail(err, IP_UNSUPPORTED, "no flags keep both '%s' and '%s' from being taken",
                       jumps[0]->syntax, jumps[count - 1]->syntax);
    }
    conditional_prepare(program, preparation);
    return IP_OK;
}

/* Each with a counter of its own, which ends there: nobody waits for the one before. */
static enum ip_status counted_out_add(struct ip_lines *unit, const struct isa_form *form,
                                      struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < BRANCHES && status == IP_OK; i++) {
        ip_lines_add(unit, "mov ecx, 1");
        status = gen_relative_add(unit, form, 1, false, err);
    }
    return status;
}

enum ip_status gen_branch_program(struct gen_program *program, const struct isa_form *form, bool taken,
                                  struct ip_error *err) {
    const struct isa_form *forms[1] = {form};
    struct gen_pool pool;
    struct gen_program made;
    gen_program_init(&made);
    made.forms_per_unit = BRANCHES;
    (void)snprintf(made.title, sizeof made.title, "branches: %s, %s", form->syntax,
                   taken ? "taken" : "not taken");
    enum ip_status status = gen_pool_init(&pool, forms, 1, err);
    bool counted_out = counts_down(form->mnemonic) && !taken;
    status = status == IP_OK && !counted_out ? gen_branch_prepare(&made, form, taken, err) : status;
    if (status == IP_OK && counted_out) {
        status = counted_out_add(&made.unit, form, err);
    } else if (status == IP_OK && gen_form_needs_target(form)) {
        status = gen_control_add(&made, form, BRANCHES, err);
    } else if (status == IP_OK) {
        if (form->mnemonic[0] == 'j' && made.unit.count > 0) {
            ip_lines_add(&made.unit, KEEPS_APART);
        }
        status = gen_relative_add(&made.unit, form, BRANCHES, taken, err);
    }
    if (status == IP_OK && (made.unit.failed || made.init.failed)) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory while writing branches of '%s'", form->syntax);
    }
    if (status != IP_OK) {
        gen_program_fini(&made);
        return status;
    }
    *program = made;
    return IP_OK;
}
