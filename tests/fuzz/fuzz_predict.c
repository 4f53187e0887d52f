/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of any bytes through the model, on an empty table and with every form known: a prediction, or an
 * error in words; no bound is negative. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "isa/decode.h"
#include "oncore/loop.h"
#include "oncore/oncore.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each instruction costs something that depends on its bytes. */
static void costs_fill(struct core_costs *costs, const uint8_t *data, size_t size) {
    static const char *const ports[] = {"1*p0", "1*p01+1*p23", "2*p5+1*p015", "none"};
    struct ip_error err;
    (void)!probe_core_set(&costs->core, "issue_width", 4, 0, NULL, &err);
    for (size_t at = 0; at < size;) {
        struct isa_form form;
        size_t length = 0;
        if (isa_decode(data + at, size - at, &form, NULL, &length, &err) != IP_OK) {
            return;
        }
        if (core_costs_add(costs, &form, ports[data[at] % 4], 1 + data[at] % 3, data[at] % 5, &err) !=
            IP_OK) {
            abort();
        }
        at += length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 400) {
        return 0;
    }
    for (unsigned mode = 0; mode < 4; mode++) {
        struct core_costs costs = {0};
        struct core_prediction prediction = {0};
        struct ip_error err = {0};
        struct ip_text code = {0};
        const struct core_options options = {
            .loop = (mode & 1) != 0, .filled = (mode & 1) == 0, .fill = 0x12345600};
        if ((mode & 2) != 0) {
            costs_fill(&costs, data, size);
        }
        ip_text_append_bytes(&code, data, size);
        if (!options.loop || core_loop_close(&code, &err) == IP_OK) {
            enum ip_status status = core_predict(&costs, (const uint8_t *)ip_text_string(&code), code.length,
                                                 &options, &prediction, &err);
            if (status != IP_OK && err.text[0] == '\0') {
                abort();
            }
            for (unsigned b = 0; status == IP_OK && b < CORE_BOUNDS; b++) {
                if (prediction.bounds[b] < 0.0 || isinf(prediction.bounds[b])) {
                    abort();
                }
            }
        }
        core_prediction_fini(&prediction);
        core_costs_fini(&costs);
        ip_text_fini(&code);
    }
    return 0;
}
