/* SPDX-License-Identifier: Apache-2.0 */
/* cli/scan_rename.c - what a scan sees of rename by the way becomes facts about the core. */
#include "cli/scan.h"

#include <math.h>

#include "results/core.h"

static enum ip_status fact_add(struct probe_core *core, const char *kind, const struct isa_form *form,
                               double value, const char *how, struct ip_error *err) {
    char key[PROBE_CORE_FACT_MAX];
    probe_core_fact_key(kind, form->syntax, NULL, key);
    return probe_core_set(core, key, value, NAN, how, err);
}

enum ip_status scan_outputs_store(struct res_store *store, struct isa_form *const *forms, size_t count,
                                  const struct probe_output *outputs, struct ip_error *err) {
    static const char how[] = RES_CORE_OF_SCAN "chain with one destination, cycles for each link";
    struct probe_core core = {0}, before = {0};
    enum ip_status status = res_core_get(store, &before, err);
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        const struct probe_core_value *fact = probe_core_fact_get(&before, "output", forms[i]->syntax, NULL);
        bool no_more =
            outputs[i].asked && fact != NULL && fact->value > 0.0; /* an earlier scan was disturbed */
        if (outputs[i].waits) {
            status = fact_add(&core, "output", forms[i], outputs[i].cycles, how, err);
        } else if (no_more) {
            status = fact_add(&core, "output", forms[i], 0.0, RES_CORE_OF_SCAN "it does not wait", err);
        }
    }
    if (status == IP_OK && core.fact_count > 0) {
        status = res_core_add(store, &core, err);
    }
    probe_core_fini(&core);
    probe_core_fini(&before);
    return status;
}

enum ip_status scan_rename_store(struct res_store *store, struct isa_form *const *forms, size_t count,
                                 const struct probe_rename *renamed, struct ip_error *err) {
    struct probe_core core = {0};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (renamed[i].eliminated == PROBE_YES) {
            status = fact_add(&core, "eliminate", forms[i], renamed[i].link_cycles,
                              RES_CORE_OF_SCAN "dependent chain, cycles for each link", err);
        }
        /* Where its ports are not known, neither is whether it needs one. */
        if (status == IP_OK && renamed[i].breaks == PROBE_YES && renamed[i].portless != PROBE_NOT_MEASURED) {
            status = fact_add(&core, "idiom", forms[i], renamed[i].portless == PROBE_YES ? 2 : 1,
                              RES_CORE_OF_SCAN "chain with one register, and beside blockers", err);
        }
    }
    if (status == IP_OK && core.fact_count > 0) {
        status = res_core_add(store, &core, err);
    }
    probe_core_fini(&core);
    return status;
}
