/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "power/machine.h"

static void term_print(struct ip_text *text, const struct pw_machine *machine, const struct pw_term *term) {
    switch (term->kind) {
    case PW_TERM_CORE:
        ip_text_printf(text, "access %.12g core cycles", term->amount);
        break;
    case PW_TERM_CLOCK:
        ip_text_printf(text, "access %.12g %s cycles", term->amount, machine->clocks[term->clock].name);
        break;
    case PW_TERM_TIME:
        ip_text_printf(text, "access %.12g ns", term->amount * 1e9);
        break;
    }
    ip_text_append(text, term->per_hop ? " per hop\n" : "\n");
}

static void setting_name(struct ip_text *text, const char *keyword, const struct pw_setting *setting) {
    if (setting->divisor != 0) {
        ip_text_printf(text, "%s div %d", keyword, setting->divisor);
    } else {
        ip_text_printf(text, "%s %.12g MHz", keyword, setting->freq_hz / 1e6);
    }
}

void pw_machine_print(struct ip_text *text, const struct pw_machine *machine) {
    ip_text_printf(text, "machine %s\ntitle %s\n", machine->name, machine->title);
    if (machine->cpu[0] != '\0') {
        ip_text_printf(text, "cpu %s\n", machine->cpu);
    }
    if (machine->reference_hz > 0) {
        ip_text_printf(text, "reference %.12g MHz\n", machine->reference_hz / 1e6);
    }
    for (size_t i = 0; i < machine->clock_count; i++) {
        ip_text_printf(text, "clock %s %.12g MHz\n", machine->clocks[i].name, machine->clocks[i].hz / 1e6);
    }
    for (size_t i = 0; i < machine->term_count; i++) {
        term_print(text, machine, &machine->terms[i]);
    }
    if (machine->hops > 0) {
        ip_text_printf(text, "hops %.0f\n", machine->hops);
    }
    ip_text_printf(text, "pending %.12g requests\naccess-size %.12g bytes\n", machine->pending,
                   machine->access_size_bytes);
    /* Fitted values come back from the measured lines. */
    if (machine->power == PW_POWER_GIVEN) {
        ip_text_printf(text, "capacitance %.12g nF\nstatic %.12g W\n", machine->capacitance_f * 1e9,
                       machine->static_w);
    }
    for (size_t i = 0; i < machine->setting_count; i++) {
        setting_name(text, "setting", &machine->settings[i]);
        if (isfinite(machine->settings[i].volts)) {
            ip_text_printf(text, " %.12g V", machine->settings[i].volts);
        }
        ip_text_append(text, "\n");
    }
    for (size_t i = 0; i < machine->setting_count; i++) {
        if (isfinite(machine->settings[i].measured_w)) {
            setting_name(text, "measured", &machine->settings[i]);
            ip_text_printf(text, " %.12g W\n", machine->settings[i].measured_w);
        }
    }
}
