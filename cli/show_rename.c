/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show_rename.h"

#include <math.h>
#include <stdio.h>

static bool fact_find(const struct probe_core *core, const char *kind, const char *form, const char *second,
                      double *value) {
    const struct probe_core_value *fact = probe_core_fact_get(core, kind, form, second);
    *value = fact != NULL && fact->known ? fact->value : NAN;
    return isfinite(*value);
}

void cli_rename_of_facts(const struct probe_core *core, const char *syntax, struct probe_rename *renamed,
                         struct probe_fusion *fusion) {
    double value = NAN;
    *renamed =
        (struct probe_rename){.link_cycles = NAN, .same_register_cycles = NAN, .same_register_uops = NAN};
    *fusion = (struct probe_fusion){0};
    if (fact_find(core, "eliminate", syntax, NULL, &renamed->link_cycles)) {
        renamed->eliminated = PROBE_YES;
    }
    if (fact_find(core, "idiom", syntax, NULL, &value)) {
        renamed->breaks = value >= 1 ? PROBE_YES : PROBE_NO;
        renamed->portless = value < 1 ? PROBE_NOT_MEASURED : value >= 2 ? PROBE_YES : PROBE_NO;
    }
    for (unsigned c = 0; c < PROBE_FUSION_JUMPS; c++) {
        char jump[16];
        (void)snprintf(jump, sizeof jump, "%s rel8", probe_fusion_jumps[c]);
        if (fact_find(core, "fuse", syntax, jump, &value)) {
            fusion->measured = true;
            fusion->fused |= value > 0.5 ? 1u << c : 0;
            fusion->apart |= value > 0.5 ? 0 : 1u << c;
        }
    }
}
