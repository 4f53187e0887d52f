/* SPDX-License-Identifier: Apache-2.0 */
#include "power/calibrate.h"

#include <math.h>
#include <string.h>

#include "power/governor.h"

/* How far the clock may be from what was asked for. */
static const double clock_tolerance = 0.05;

static enum ip_status setting_measure(struct pw_setting *setting, bool *taken, struct pw_governor *governor,
                                      const struct pw_energy_counter *counter, const struct pw_sweep *sweep,
                                      struct ip_lines *notes, struct ip_error *err) {
    double before = 0, after = 0, elapsed_s = 0, settled_s = 0, now_khz = 0;
    enum ip_status status = pw_governor_set_khz(governor, setting->freq_hz / 1e3, err);
    if (status == IP_OK) {
        /* Clock and voltage need a moment to follow. */
        status = sweep->load(sweep->self, sweep->seconds / 10, &settled_s, err);
    }
    if (status == IP_OK) {
        status = pw_energy_read_uj(counter, &before, err);
    }
    if (status == IP_OK) {
        status = sweep->load(sweep->self, sweep->seconds, &elapsed_s, err);
    }
    if (status == IP_OK) {
        status = pw_energy_read_uj(counter, &after, err);
    }
    if (status != IP_OK) {
        return status;
    }
    *taken = false;
    bool told = pw_governor_now_khz(governor, &now_khz);
    if (told && fabs(now_khz * 1e3 / setting->freq_hz - 1) > clock_tolerance) {
        ip_lines_printf(notes, "%.0f MHz was asked for, %.0f MHz came: left out", setting->freq_hz / 1e6,
                        now_khz / 1e3);
        return IP_OK;
    }
    double watts = pw_energy_between_uj(counter, before, after) / 1e6 / elapsed_s;
    if (watts < 0) {
        ip_lines_printf(notes,
                        "the energy counter went back at %.0f MHz, and its range is not told: left out",
                        setting->freq_hz / 1e6);
        return IP_OK;
    }
    if (!(watts > 0) || !isfinite(watts)) {
        ip_lines_printf(notes, "the energy counter stood still at %.0f MHz: left out",
                        setting->freq_hz / 1e6);
        return IP_OK;
    }
    setting->measured_w = watts;
    double volts = 0;
    if (!isfinite(setting->volts) && pw_host_sensor_volts(sweep->root, &volts)) {
        setting->volts = volts;
    }
    *taken = true;
    return IP_OK;
}

static enum ip_status sweep_run(struct pw_machine *machine, struct pw_governor *governor,
                                const struct pw_energy_counter *counter, const struct pw_sweep *sweep,
                                struct ip_lines *notes, struct ip_error *err) {
    size_t kept = 0;
    for (size_t i = 0; i < machine->setting_count; i++) {
        if (sweep->stop(sweep->self)) {
            return ip_fail(err, IP_FAILED, "interrupted");
        }
        bool taken = false;
        struct pw_setting setting = machine->settings[i];
        enum ip_status status = setting_measure(&setting, &taken, governor, counter, sweep, notes, err);
        if (status != IP_OK) {
            return status;
        }
        if (taken) {
            machine->settings[kept++] = setting;
        }
    }
    machine->setting_count = kept;
    if (kept < 2) {
        return ip_fail(err, IP_UNTRUSTED, "only %zu settings could be measured: two are needed to fit", kept);
    }
    return IP_OK;
}

/* All or none: half a table of voltages is no machine. */
static void volts_even(struct pw_machine *machine, struct ip_lines *notes) {
    bool all = true;
    for (size_t i = 0; i < machine->setting_count; i++) {
        all = all && isfinite(machine->settings[i].volts);
    }
    for (size_t i = 0; !all && i < machine->setting_count; i++) {
        machine->settings[i].volts = NAN;
    }
    if (!all) {
        ip_lines_add(notes,
                     "no voltages are shown here: the measured watts are kept as they are, C and static "
                     "power are not fitted");
    }
}

enum ip_status pw_calibrate(struct pw_machine *machine, const struct pw_sweep *sweep, struct ip_lines *notes,
                            struct ip_error *err) {
    struct pw_energy_counter counter = {.papi = NULL};
    struct pw_governor governor;
    struct pw_machine result;
    struct ip_error why = {0};
    enum ip_status counting = pw_energy_open(&counter, sweep->root, sweep->cpu, sweep->papi, &why);
    enum ip_status status = pw_host_read(&result, sweep->root, sweep->cpu, notes, err);
    status = status == IP_OK ? pw_governor_hold(&governor, sweep->root, sweep->cpu, err) : status;
    if (status != IP_OK) {
        if (counting != IP_OK) {
            ip_lines_add(notes, why.text); /* all that is missing, not only the first of it */
        }
        pw_energy_close(&counter);
        return status;
    }
    if (counting == IP_OK) {
        status = sweep_run(&result, &governor, &counter, sweep, notes, err);
    } else {
        *err = why;
        status = counting;
    }
    enum ip_status restored = pw_governor_release(&governor, &why);
    pw_energy_close(&counter);
    if (status == IP_OK && restored != IP_OK) {
        *err = why;
        status = restored;
    } else if (restored != IP_OK) {
        ip_lines_add(notes, why.text); /* the first failure is the one to report */
    }
    if (status != IP_OK) {
        return status;
    }
    volts_even(&result, notes);
    pw_machine_settle(&result, false);
    ip_lines_printf(notes, "the watts are those of the whole %s, measured with one busy CPU", counter.name);
    *machine = result;
    return IP_OK;
}
