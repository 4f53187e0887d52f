/* SPDX-License-Identifier: Apache-2.0 */
#include "power/fit.h"

#include <math.h>

static bool usable(const struct pw_setting *setting) {
    return isfinite(setting->volts) && isfinite(setting->measured_w);
}

static double drive(const struct pw_setting *setting) {
    return setting->volts * setting->volts * setting->freq_hz;
}

bool pw_fit(struct pw_fit *fit, const struct pw_setting *settings, size_t count) {
    double n = 0, mean_x = 0, mean_y = 0, top = 0;
    for (size_t i = 0; i < count; i++) {
        if (usable(&settings[i])) {
            n++;
            mean_x += drive(&settings[i]);
            mean_y += settings[i].measured_w;
            top = fmax(top, drive(&settings[i]));
        }
    }
    if (n < 2) {
        return false;
    }
    mean_x /= n;
    mean_y /= n;
    /* Around the means: the sums of squares of 1e9-sized numbers would lose digits otherwise. */
    double xx = 0, xy = 0, raw_xx = 0, raw_xy = 0;
    for (size_t i = 0; i < count; i++) {
        if (usable(&settings[i])) {
            double x = drive(&settings[i]), y = settings[i].measured_w;
            xx += (x - mean_x) * (x - mean_x);
            xy += (x - mean_x) * (y - mean_y);
            raw_xx += x * x;
            raw_xy += x * y;
        }
    }
    if (!(xx > 1e-12 * top * top)) {
        return false;
    }
    struct pw_fit result = {.points = (size_t)n};
    result.capacitance_f = xy / xx;
    result.static_w = mean_y - result.capacitance_f * mean_x;
    if (result.capacitance_f < 0) {
        /* Power that falls with V²·f has no physical C: all of it is static. */
        result.capacitance_clamped = result.capacitance_f * top < -1e-9 * mean_y;
        result.capacitance_f = 0;
        result.static_w = mean_y;
    } else if (result.static_w < 0) {
        result.static_clamped = result.static_w < -1e-9 * mean_y;
        result.static_w = 0;
        result.capacitance_f = raw_xy / raw_xx;
    }
    for (size_t i = 0; i < count; i++) {
        if (usable(&settings[i])) {
            double model = result.capacitance_f * drive(&settings[i]) + result.static_w;
            double off = fabs(model - settings[i].measured_w) / settings[i].measured_w;
            result.worst_relative = fmax(result.worst_relative, off);
        }
    }
    *fit = result;
    return true;
}
