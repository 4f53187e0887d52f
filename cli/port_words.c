/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/port_words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { JUMPS_ALL = (1u << PROBE_FUSION_JUMPS) - 1 };

/* Slots are counted to a part of one. */
static const double SLOTS_ERROR = 0.3;

double cli_micro_fused(const struct probe_portmap *map, const struct isa_form *form,
                       const struct probe_usage *usage) {
    double slots = round(usage->slots);
    if (usage->verdict != PROBE_USAGE_OK || usage->hidden_most > 0 || isa_form_memory_operand(form) < 0 ||
        !(slots >= 1) || fabs(usage->slots - slots) > SLOTS_ERROR) {
        return NAN;
    }
    return fmax(probe_usage_uops(map, usage) - slots, 0);
}

const char *cli_same_register_words(const struct probe_rename *renamed) {
    return renamed->breaks == PROBE_NOT_MEASURED ? NULL
           : renamed->breaks == PROBE_NO         ? "ordinary"
           : renamed->portless == PROBE_YES      ? "no dependence, no port"
                                                 : "no dependence";
}

static const char *jumps_print(unsigned jumps, char *buffer) {
    size_t used = 0;
    buffer[0] = '\0';
    for (unsigned c = 0; c < PROBE_FUSION_JUMPS; c++) {
        if ((jumps >> c & 1) != 0 && used < CLI_JUMPS_TEXT) {
            used += (size_t)snprintf(buffer + used, CLI_JUMPS_TEXT - used, "%s%s", used > 0 ? " " : "",
                                     probe_fusion_jumps[c]);
        }
    }
    return buffer;
}

const char *cli_fusion_jumps(const struct probe_fusion *fusion, char *buffer) {
    return fusion->measured ? jumps_print(fusion->fused, buffer) : NULL;
}

static void IP_PRINTF(2, 3) words_add(char *buffer, const char *format, ...) {
    size_t used = strlen(buffer);
    if (used > 0 && used + 3 < CLI_PORT_WORDS) {
        used += (size_t)snprintf(buffer + used, CLI_PORT_WORDS - used, "; ");
    }
    va_list args;
    va_start(args, format);
    (void)vsnprintf(buffer + used, CLI_PORT_WORDS - used, format, args);
    va_end(args);
}

static void rename_add(const struct probe_rename *renamed, const struct probe_fusion *fusion, char *buffer) {
    char jumps[CLI_JUMPS_TEXT];
    unsigned rest = JUMPS_ALL & ~fusion->fused;
    if (renamed->eliminated == PROBE_YES) {
        words_add(buffer, "eliminated");
    }
    if (renamed->breaks == PROBE_YES) {
        words_add(buffer, "same register: %s", cli_same_register_words(renamed));
    }
    if (fusion->fused != 0) {
        bool most = __builtin_popcount(fusion->fused) > PROBE_FUSION_JUMPS / 2;
        words_add(buffer, "fuses with %s%s",
                  rest == 0 ? "all jumps"
                  : most    ? "all jumps but "
                            : "",
                  jumps_print(most ? rest : fusion->fused, jumps));
    }
}

const char *cli_rename_words(const struct probe_rename *renamed, const struct probe_fusion *fusion,
                             char *buffer) {
    buffer[0] = '\0';
    rename_add(renamed, fusion, buffer);
    return buffer;
}

const char *cli_port_words(const struct probe_portmap *map, const struct isa_form *form,
                           const struct probe_usage *usage, const struct probe_rename *renamed,
                           const struct probe_fusion *fusion, char *buffer) {
    double slots = round(usage->slots);
    buffer[0] = '\0';
    if (cli_micro_fused(map, form, usage) > 0) {
        words_add(buffer, "%.0f uops in %.0f slot%s", probe_usage_uops(map, usage), slots,
                  slots > 1 ? "s" : "");
    }
    rename_add(renamed, fusion, buffer);
    return buffer;
}
