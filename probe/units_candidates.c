/* SPDX-License-Identifier: Apache-2.0 */
/* probe/units_candidates.c - the forms that found units: no mnemonic is named, the slowest are taken. */
#include <math.h>
#include <stdlib.h>

#include "isa/decode.h"
#include "probe/units_steps.h"

enum { INSTANCES = 12 };

/* The first of those that are about as slow, so that noise chooses no other. */
static const double CLEARLY_SLOWER = 1.1;

enum probe_unit_kind unit_kind_of(const struct isa_form *form) {
    enum probe_unit_kind kind = PROBE_UNIT_GENERAL;
    for (unsigned i = 0; i < form->operand_count; i++) {
        enum isa_reg_class class = form->operands[i].reg_class;
        bool encoded = form->vex || form->evex;
        enum probe_unit_kind own =
            class == ISA_REG_ZMM   ? PROBE_UNIT_ZMM
            : class == ISA_REG_YMM ? PROBE_UNIT_YMM
            : class == ISA_REG_XMM ? (encoded ? PROBE_UNIT_XMM : PROBE_UNIT_LEGACY)
            : class == ISA_REG_X87 || class == ISA_REG_MMX || class == ISA_REG_MASK || class == ISA_REG_TILE
                ? PROBE_UNIT_OTHER
                : PROBE_UNIT_GENERAL;
        kind = own > kind ? own : kind;
    }
    return kind;
}

/* Plain operands: registers, unmasked, as the CPU rounds. Of EVEX only what VEX has not. */
static bool plain(const struct isa_form *form) {
    bool wide = false;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        if (operand->kind != ISA_OPERAND_REG || operand->mask) {
            return false;
        }
        wide = wide || operand->reg_class == ISA_REG_ZMM;
    }
    return form->decorator[0] == '\0' && form->prefix[0] == '\0' && (wide || !form->evex);
}

static bool is_candidate(const struct isa_form *form) {
    return form->obstacle == ISA_OBSTACLE_NONE && gen_form_depends_on_values(form) && plain(form);
}

/* Looks at those whose cycles are NaN. */
static enum ip_status forms_look(const struct unit_finder *finder, struct isa_form *const *forms,
                                 size_t count, double *cycles, size_t *slots, struct ip_error *err) {
    struct probe_batch batch = {0};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        const struct gen_part part = {
            .form = forms[i], .count = INSTANCES, .how = {.break_registers = true, .break_flags = true}};
        slots[i] = SIZE_MAX;
        if (isnan(cycles[i]) && is_candidate(forms[i])) {
            status = probe_mix_add(&batch, &part, 1, &slots[i], err);
        }
    }
    status = status == IP_OK ? units_batch_run(finder, &batch, err) : status;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        cycles[i] = slots[i] != SIZE_MAX ? probe_mix_cycles(&batch, slots[i]) : cycles[i];
    }
    probe_batch_fini(&batch);
    return status;
}

static enum ip_status slowest_find(const struct unit_finder *finder, struct isa_form *const *forms,
                                   size_t count, struct isa_form *candidates[PROBE_UNIT_KINDS],
                                   struct ip_error *err) {
    double slowest[PROBE_UNIT_KINDS] = {0};
    size_t *slots = calloc(count + 1, sizeof *slots);
    double *cycles = calloc(count + 1, sizeof *cycles);
    enum ip_status status = IP_OK;
    if (slots == NULL || cycles == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "no memory for %zu forms that may hold a unit", count);
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        cycles[i] = NAN;
    }
    for (unsigned attempt = 0; attempt < UNIT_ATTEMPTS && status == IP_OK; attempt++) {
        status = forms_look(finder, forms, count, cycles, slots, err);
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        enum probe_unit_kind kind = unit_kind_of(forms[i]);
        if (cycles[i] > slowest[kind] * CLEARLY_SLOWER) {
            slowest[kind] = cycles[i];
            candidates[kind] = forms[i];
        }
    }
    free(slots);
    free(cycles);
    return status;
}

enum ip_status units_candidates_find(const struct unit_finder *finder, const struct isa_table *table,
                                     struct isa_form **candidates, size_t *found, struct ip_error *err) {
    struct isa_form *slowest[PROBE_UNIT_KINDS] = {NULL};
    struct isa_form **forms = calloc(table->count + 1, sizeof(struct isa_form *));
    if (forms == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for the forms that may hold a unit");
    }
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (gen_form_may_depend_on_values(&table->forms[i]) && plain(&table->forms[i])) {
            forms[count++] = &table->forms[i];
        }
    }
    enum ip_status status = isa_forms_derive(forms, count, err);
    status = status == IP_OK ? slowest_find(finder, forms, count, slowest, err) : status;
    for (unsigned k = 0; k < PROBE_UNIT_KINDS && status == IP_OK; k++) {
        if (slowest[k] != NULL) {
            candidates[(*found)++] = slowest[k];
        }
    }
    free(forms);
    return status;
}
