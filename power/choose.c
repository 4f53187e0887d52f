/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "power/model.h"

/* Settings that are equal on paper (C·V²·cycles of a compute-bound kernel at one voltage) differ in the last
 * bits when computed: such differences are ties. */
static const double tie = 1e-9;

double pw_cost(const struct pw_point *point, enum pw_metric metric) {
    switch (metric) {
    case PW_METRIC_ENERGY:
        return point->energy_j;
    case PW_METRIC_GFLOPS_PER_WATT:
        return -point->gflops_per_watt;
    case PW_METRIC_EDP:
        return point->edp_js;
    case PW_METRIC_ED2P:
        return point->ed2p_js2;
    case PW_METRIC_TIME:
        break;
    }
    return point->time_s;
}

bool pw_allowed(const struct pw_point *point, const struct pw_limits *limits) {
    if (limits->max_slowdown > 0 && point->slowdown > limits->max_slowdown * (1 + tie)) {
        return false;
    }
    if (limits->max_time_s > 0 && point->time_s > limits->max_time_s * (1 + tie)) {
        return false;
    }
    return !(limits->max_power_w > 0) || point->power_w <= limits->max_power_w * (1 + tie);
}

static enum ip_status needs_check(const struct pw_point *points, size_t count, enum pw_metric metric,
                                  const struct pw_limits *limits, struct ip_error *err) {
    for (size_t i = 0; i < count; i++) {
        bool watts = isfinite(points[i].power_w);
        if (!watts && (metric != PW_METRIC_TIME || limits->max_power_w > 0)) {
            return ip_fail(
                err, IP_CAPABILITY,
                "the power of this machine is not known: its file needs voltages with 'capacitance', or "
                "'measured' watts; --metric time works without");
        }
        if (metric == PW_METRIC_GFLOPS_PER_WATT && !isfinite(points[i].gflops_per_watt)) {
            return ip_fail(err, IP_USAGE,
                           "GFlops/W needs the kernel's flops: a 'flops' line in its file, "
                           "--flops-per-iteration with --code; or choose --metric energy");
        }
    }
    return IP_OK;
}

static enum ip_status none_allowed(const struct pw_point *points, size_t count, struct ip_error *err) {
    double time_s = INFINITY, power_w = INFINITY;
    for (size_t i = 0; i < count; i++) {
        time_s = fmin(time_s, points[i].time_s);
        power_w = fmin(power_w, points[i].power_w);
    }
    return isfinite(power_w)
               ? ip_fail(err, IP_UNSUPPORTED,
                         "no setting keeps these limits: the shortest time is %.6g s, the lowest "
                         "power %.6g W",
                         time_s, power_w)
               : ip_fail(err, IP_UNSUPPORTED, "no setting keeps these limits: the shortest time is %.6g s",
                         time_s);
}

enum ip_status pw_choose(const struct pw_point *points, size_t count, enum pw_metric metric,
                         const struct pw_limits *limits, size_t *best, struct ip_error *err) {
    enum ip_status status = needs_check(points, count, metric, limits, err);
    if (status != IP_OK) {
        return status;
    }
    double lowest = INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (pw_allowed(&points[i], limits)) {
            lowest = fmin(lowest, pw_cost(&points[i], metric));
        }
    }
    if (!isfinite(lowest)) {
        return none_allowed(points, count, err);
    }
    size_t chosen = count;
    for (size_t i = 0; i < count; i++) {
        if (!pw_allowed(&points[i], limits) || pw_cost(&points[i], metric) > lowest + tie * fabs(lowest)) {
            continue;
        }
        /* Equal times too: the first, which has the faster clock. */
        if (chosen == count || points[i].time_s < points[chosen].time_s * (1 - tie)) {
            chosen = i;
        }
    }
    *best = chosen;
    return IP_OK;
}

static void setting_append(struct ip_text *text, const struct pw_setting *setting) {
    if (setting->divisor != 0) {
        ip_text_printf(text, "divisor %d (%.0f MHz)", setting->divisor, setting->freq_hz / 1e6);
    } else {
        ip_text_printf(text, "%.0f MHz", setting->freq_hz / 1e6);
    }
}

/* Settings that cost the same as the chosen one, the chosen one included. */
static size_t ties_count(const struct pw_point *points, size_t count, size_t best, enum pw_metric metric,
                         const struct pw_limits *limits) {
    size_t ties = 0;
    double cost = pw_cost(&points[best], metric);
    for (size_t i = 0; i < count; i++) {
        ties +=
            pw_allowed(&points[i], limits) && fabs(pw_cost(&points[i], metric) - cost) <= tie * fabs(cost);
    }
    return ties;
}

/* By how much one side binds. */
static void sides_append(struct ip_text *text, const struct pw_point *p) {
    bool memory = p->bound == PW_BOUND_MEMORY;
    double other = memory ? p->compute_cycles : p->memory_cycles;
    if (other > 0) {
        ip_text_printf(text, " (%s takes %.3g times as long as %s)", memory ? "memory" : "computation",
                       p->cycles / other, memory ? "computation" : "memory");
    } else {
        ip_text_printf(text, " (it %s)", memory ? "computes nothing" : "leaves the memory alone");
    }
}

/* Why not the setting beside the chosen one; ends the sentence. */
static void neighbour_append(struct ip_text *text, const struct pw_point *points, size_t count, size_t best,
                             enum pw_metric metric, const struct pw_limits *limits) {
    const struct pw_point *slower = best + 1 < count ? &points[best + 1] : NULL;
    const char *why = "";
    if (metric == PW_METRIC_TIME) {
        why = best > 0 && !pw_allowed(&points[best - 1], limits) ? "; a faster one is over the limit" : "";
    } else if (slower == NULL) {
        why = "; there is no slower one";
    } else if (!pw_allowed(slower, limits)) {
        why = "; a slower one is over the limit";
    } else if (slower->setting->volts >= points[best].setting->volts) {
        why = "; a slower one lowers the voltage no further";
    } else {
        why = "; with a slower one the longer time outweighs the lower power";
    }
    ip_text_printf(text, "%s.", why);
}

void pw_explain(struct ip_text *text, const struct pw_point *points, size_t count, size_t best,
                enum pw_metric metric, const struct pw_limits *limits) {
    static const char *const aims[] = {"least energy", "most GFlops/W", "least energy-delay product",
                                       "least energy-delay-squared product", "shortest time"};
    const struct pw_point *chosen = &points[best], *first = &points[0];
    bool limited = limits->max_slowdown > 0 || limits->max_time_s > 0 || limits->max_power_w > 0;
    setting_append(text, chosen->setting);
    ip_text_printf(text, " gives the %s%s", aims[metric], limited ? " within the limits" : "");
    size_t ties = ties_count(points, count, best, metric, limits);
    if (ties > 1) {
        ip_text_printf(text, ", the fastest of %zu settings that tie", ties);
    }
    bool memory = chosen->bound == PW_BOUND_MEMORY;
    bool turns = memory != (first->bound == PW_BOUND_MEMORY);
    ip_text_printf(text, ": the kernel is %s-bound %s", memory ? "memory" : "compute",
                   turns ? "there" : "here");
    sides_append(text, chosen);
    if (best == 0) {
        ip_text_append(text, ", and this is the fastest clock");
        neighbour_append(text, points, count, best, metric, limits);
        return;
    }
    double longer = chosen->time_s / first->time_s;
    if (longer < 1.0005) {
        ip_text_append(text, ", takes as long as at ");
    } else {
        ip_text_printf(text, ", takes %.3g times as long as at ", longer);
    }
    setting_append(text, first->setting);
    if (isfinite(chosen->energy_j)) {
        double change = (chosen->energy_j / first->energy_j - 1) * 100;
        ip_text_printf(text, " and %.1f %% %s energy", fabs(change), change < 0 ? "less" : "more");
    }
    neighbour_append(text, points, count, best, metric, limits);
}
