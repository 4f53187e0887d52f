/* SPDX-License-Identifier: Apache-2.0 */
#include "power/model.h"

#include <math.h>
#include <string.h>

enum ip_status pw_model(struct pw_point *points, const struct pw_machine *machine,
                        const struct pw_kernel *kernel, struct ip_error *err) {
    if (!isfinite(kernel->body_cycles)) {
        return ip_fail(err, IP_USAGE, "the cycles of kernel '%s' are not known: give --cycles", kernel->name);
    }
    if (kernel->accesses > 0 && machine->term_count == 0) {
        return ip_fail(
            err, IP_CAPABILITY,
            "machine '%s' does not say what a memory access costs: give --memory-ns, or 'access' lines "
            "in its file",
            machine->name);
    }
    struct pw_point found[PW_SETTINGS_MAX];
    double shortest_s = INFINITY;
    for (size_t i = 0; i < machine->setting_count; i++) {
        const struct pw_setting *setting = &machine->settings[i];
        struct pw_point *p = &found[i];
        p->setting = setting;
        p->compute_cycles = kernel->iterations * kernel->body_cycles;
        p->memory_cycles =
            kernel->accesses / machine->pending * pw_machine_access_cycles(machine, setting->freq_hz);
        p->bound = p->memory_cycles > p->compute_cycles ? PW_BOUND_MEMORY : PW_BOUND_COMPUTE;
        p->cycles = fmax(p->compute_cycles, p->memory_cycles);
        p->time_s = p->cycles / setting->freq_hz;
        p->power_w = pw_machine_power_w(machine, i);
        p->energy_j = p->power_w * p->time_s;
        p->gflops_per_watt = kernel->flops > 0 && p->energy_j > 0 ? kernel->flops / p->energy_j / 1e9 : NAN;
        p->edp_js = p->energy_j * p->time_s;
        p->ed2p_js2 = p->edp_js * p->time_s;
        if (!(p->time_s > 0)) {
            return ip_fail(
                err, IP_USAGE,
                "kernel '%s' does nothing: neither its computation nor its memory accesses take any time",
                kernel->name);
        }
        /* Infinite costs cannot be compared. The last product (NaN without watts) overflows before others. */
        if (!isfinite(p->time_s) || isinf(p->ed2p_js2)) {
            return ip_fail(
                err, IP_USAGE,
                "kernel '%s' takes too long to compute with, %.4g s at %.2f MHz: %.4g iterations of "
                "%.4g cycles, %.4g accesses",
                kernel->name, p->time_s, setting->freq_hz / 1e6, kernel->iterations, kernel->body_cycles,
                kernel->accesses);
        }
        shortest_s = fmin(shortest_s, p->time_s);
    }
    for (size_t i = 0; i < machine->setting_count; i++) {
        found[i].slowdown = found[i].time_s / shortest_s;
    }
    memcpy(points, found, machine->setting_count * sizeof *points);
    return IP_OK;
}
