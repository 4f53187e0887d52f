/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/zero.c - immediates that are zero: the tables have rows of their own for some, since a CPU may do
 * them at rename or as a move. */
#include <stdio.h>
#include <string.h>

#include "oncore/cost_steps.h"
#include "results/store.h"

enum ip_status core_zero_name(const struct core_costs *costs, struct isa_form *form,
                              const struct isa_binding *binding, struct ip_error *err) {
    static const char any[] = ", imm";
    if (form->explicit_count == 0) {
        return IP_OK;
    }
    unsigned last = form->explicit_count - 1u;
    const struct isa_operand *operand = &form->operands[last];
    const char *end = strrchr(form->syntax, ',');
    bool zero = operand->kind == ISA_OPERAND_IMM && !operand->imm_fixed && binding->imm[last] == 0;
    if (!zero || end == NULL || strncmp(end, any, strlen(any)) != 0) {
        return IP_OK;
    }
    char name[ISA_SYNTAX_MAX];
    (void)snprintf(name, sizeof name, "%.*s, 0", (int)(end - form->syntax), form->syntax);
    bool there = core_costs_has(costs, name);
    if (!there && costs->store != NULL) {
        enum ip_status status = res_form_known(costs->store, name, RES_PART_THROUGHPUT, true, &there, err);
        if (status != IP_OK) {
            return status;
        }
    }
    if (there) {
        (void)snprintf(form->syntax, sizeof form->syntax, "%s", name);
    }
    return IP_OK;
}
