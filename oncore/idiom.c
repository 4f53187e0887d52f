/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/idiom.c - what a form does with one register for all its sources, as far as the core was asked. */
#include <math.h>
#include <string.h>

#include "oncore/cost_steps.h"

/* "vpsubb" of "{evex} vpsubb xmm, xmm, xmm" without the V, and its length. */
static size_t operation_of(const char **syntax) {
    if (**syntax == '{') {
        *syntax += strcspn(*syntax, " ") + 1;
    }
    *syntax += **syntax == 'v' ? 1 : 0;
    return strcspn(*syntax, " ");
}

static bool same_operation(const char *a, const char *b) {
    const size_t a_length = operation_of(&a), b_length = operation_of(&b);
    return a_length == b_length && strncmp(a, b, a_length) == 0;
}

static bool of_vectors(const char *syntax) {
    return strstr(syntax, " xmm") != NULL || strstr(syntax, " ymm") != NULL || strstr(syntax, " zmm") != NULL;
}

/* Of the same operation in another width or encoding: the least; NaN: nobody asked about one. */
static double related(const struct core_costs *costs, const struct core_cost *cost) {
    static const char kind[] = "idiom ";
    double least = NAN;
    size_t count = 0;
    const struct probe_core_fact *facts = probe_core_facts_find(&costs->core, kind, &count);
    for (size_t i = 0; i < count && of_vectors(cost->form.syntax); i++) {
        const char *syntax = facts[i].key + sizeof kind - 1;
        if (facts[i].value.known && of_vectors(syntax) && same_operation(syntax, cost->form.syntax)) {
            least = fmin(least, facts[i].value.value);
        }
    }
    return least;
}

void core_idiom_fill(const struct core_costs *costs, struct core_cost *cost) {
    const struct probe_core_value *fact = probe_core_fact_get(&costs->core, "idiom", cost->form.syntax, NULL);
    if (cost->eliminated >= 0.0) {
        return;
    }
    if (fact != NULL && fact->known) {
        cost->same_breaks = fact->value >= 1.0;
        cost->same_eliminated = fact->value >= 2.0;
    } else if (cost->same_breaks) {
        cost->same_eliminated = !(related(costs, cost) < 2.0);
    }
}
