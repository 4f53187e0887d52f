/* SPDX-License-Identifier: Apache-2.0 */
#include "power/machine.h"

#include <math.h>

#include "power/fit.h"

int pw_machine_find_divisor(const struct pw_machine *machine, int divisor) {
    for (size_t i = 0; i < machine->setting_count; i++) {
        if (machine->settings[i].divisor == divisor && divisor != 0) {
            return (int)i;
        }
    }
    return -1;
}

int pw_machine_find_freq(const struct pw_machine *machine, double freq_hz) {
    int best = -1;
    double best_off = 0.005;
    for (size_t i = 0; i < machine->setting_count; i++) {
        double off = fabs(machine->settings[i].freq_hz / freq_hz - 1);
        if (off <= best_off) {
            best_off = off;
            best = (int)i;
        }
    }
    return best;
}

double pw_machine_access_cycles(const struct pw_machine *machine, double freq_hz) {
    double cycles = 0;
    for (size_t i = 0; i < machine->term_count; i++) {
        const struct pw_term *term = &machine->terms[i];
        double amount = term->amount * (term->per_hop ? machine->hops : 1);
        switch (term->kind) {
        case PW_TERM_CORE:
            cycles += amount;
            break;
        case PW_TERM_CLOCK:
            cycles += amount * freq_hz / machine->clocks[term->clock].hz;
            break;
        case PW_TERM_TIME:
            cycles += amount * freq_hz;
            break;
        }
    }
    return cycles;
}

double pw_machine_power_w(const struct pw_machine *machine, size_t setting) {
    const struct pw_setting *s = &machine->settings[setting];
    switch (machine->power) {
    case PW_POWER_GIVEN:
    case PW_POWER_FITTED:
        return machine->capacitance_f * s->volts * s->volts * s->freq_hz + machine->static_w;
    case PW_POWER_MEASURED:
        return s->measured_w;
    case PW_POWER_UNKNOWN:
        break;
    }
    return NAN;
}

void pw_machine_settle(struct pw_machine *machine, bool capacitance_given) {
    bool volts = true, watts = true;
    for (size_t i = 0; i < machine->setting_count; i++) {
        volts = volts && isfinite(machine->settings[i].volts);
        watts = watts && isfinite(machine->settings[i].measured_w);
    }
    struct pw_fit fit;
    if (capacitance_given && volts) {
        machine->power = PW_POWER_GIVEN;
    } else if (volts && pw_fit(&fit, machine->settings, machine->setting_count)) {
        machine->power = PW_POWER_FITTED;
        machine->fit = fit;
        machine->capacitance_f = fit.capacitance_f;
        machine->static_w = fit.static_w;
    } else {
        machine->power = watts ? PW_POWER_MEASURED : PW_POWER_UNKNOWN;
    }
}
