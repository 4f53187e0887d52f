/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/zero.c - immediates that are zero: the tables have rows of their own for some, since a CPU may do
 * them at rename or as a move. */
#include <stdio.h>
#include <string.h>

#include "oncore/cost_steps.h"
#include "results/store.h"

/* The name that the row for zero has; false: the form does not end in an immediate. */
static bool zero_syntax(const struct isa_form *form, char *name) {
    static const char any[] = ", imm";
    const char *end = strrchr(form->syntax, ',');
    if (end == NULL || strncmp(end, any, strlen(any)) != 0) {
        return false;
    }
    (void)snprintf(name, ISA_SYNTAX_MAX, "%.*s, 0", (int)(end - form->syntax), form->syntax);
    return true;
}

enum ip_status core_zero_fill(struct core_costs *costs, struct core_cost *cost, struct ip_error *err) {
    char name[ISA_SYNTAX_MAX];
    return zero_syntax(&cost->form, name)
               ? res_form_known(costs->store, name, RES_PART_THROUGHPUT, true, &cost->zero_apart, err)
               : IP_OK;
}

enum ip_status core_zero_get(struct core_costs *costs, const struct isa_binding *binding,
                             const struct core_cost **cost, struct ip_error *err) {
    const struct isa_form *any = &(*cost)->form;
    char name[ISA_SYNTAX_MAX];
    bool zero = any->explicit_count > 0 && binding->imm[any->explicit_count - 1] == 0;
    if (!zero || !zero_syntax(any, name) || !((*cost)->zero_apart || core_costs_has(costs, name))) {
        return IP_OK;
    }
    struct isa_form form = *any;
    (void)snprintf(form.syntax, sizeof form.syntax, "%s", name);
    return core_costs_get(costs, &form, cost, err);
}
