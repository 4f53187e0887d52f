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

/* Less by more than what is a tie? False where a value is not known. */
static bool less(double a, double b) {
    return a < b - tie * fabs(b);
}

/* Is `point` better than `other`, which costs the same and has a faster clock? */
static bool tie_beats(const struct pw_point *point, const struct pw_point *other) {
    return less(point->time_s, other->time_s) ||
           (!less(other->time_s, point->time_s) && less(point->energy_j, other->energy_j));
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
        if (chosen == count || tie_beats(&points[i], &points[chosen])) {
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

/* Which of the settings that cost the same it is, where there are several. */
static void ties_append(struct ip_text *text, const struct pw_point *points, size_t count, size_t best,
                        enum pw_metric metric, const struct pw_limits *limits) {
    const struct pw_point *chosen = &points[best];
    size_t ties = 0;
    bool slower = false, dearer = false;
    for (size_t i = 0; i < count; i++) {
        if (pw_allowed(&points[i], limits) && !less(pw_cost(chosen, metric), pw_cost(&points[i], metric))) {
            ties++;
            slower = slower || less(chosen->time_s, points[i].time_s);
            dearer = dearer || less(chosen->energy_j, points[i].energy_j);
        }
    }
    if (ties > 1 && slower) {
        ip_text_printf(text, ", the fastest of %zu settings that tie", ties);
    } else if (ties > 1) {
        ip_text_printf(text, ", the one with the %s of %zu settings that take as long",
                       dearer ? "least energy" : "fastest clock", ties);
    }
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

/* Is one of these over a limit, and would have been chosen without it? */
static bool limit_decides(const struct pw_point *points, size_t from, size_t to,
                          const struct pw_point *chosen, enum pw_metric metric,
                          const struct pw_limits *limits) {
    for (size_t i = from; i < to; i++) {
        if (!pw_allowed(&points[i], limits) && less(pw_cost(&points[i], metric), pw_cost(chosen, metric))) {
            return true;
        }
    }
    return false;
}

/* Why the setting below the chosen one costs no less; there are watts. */
static const char *slower_why(const struct pw_point *slower, const struct pw_point *chosen,
                              enum pw_metric metric) {
    if (!less(slower->power_w, chosen->power_w)) {
        return "; a slower one draws no less";
    }
    if (less(slower->energy_j, chosen->energy_j)) {
        return "; the longer time of a slower one outweighs its lower energy";
    }
    if (slower->setting->volts >= chosen->setting->volts) {
        return "; a slower one lowers the voltage no further";
    }
    return less(pw_cost(chosen, metric), pw_cost(slower, metric))
               ? "; with a slower one the longer time outweighs the lower power"
               : "; with a slower one the longer time makes up for the lower power";
}

/* Why not another setting; ends the sentence. */
static void others_append(struct ip_text *text, const struct pw_point *points, size_t count, size_t best,
                          enum pw_metric metric, const struct pw_limits *limits) {
    const struct pw_point *chosen = &points[best];
    const char *why = "";
    if (limit_decides(points, 0, best, chosen, metric, limits)) {
        why = "; a faster one is over the limit";
    } else if (limit_decides(points, best + 1, count, chosen, metric, limits)) {
        why = "; a slower one is over the limit";
    } else if (metric != PW_METRIC_TIME) {
        why = best + 1 == count ? "; there is no slower one" : slower_why(&points[best + 1], chosen, metric);
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
    ties_append(text, points, count, best, metric, limits);
    bool memory = chosen->bound == PW_BOUND_MEMORY;
    bool turns = memory != (first->bound == PW_BOUND_MEMORY);
    ip_text_printf(text, ": the kernel is %s-bound %s", memory ? "memory" : "compute",
                   turns ? "there" : "here");
    sides_append(text, chosen);
    if (best == 0) {
        ip_text_append(text, ", and this is the fastest clock");
        others_append(text, points, count, best, metric, limits);
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
    others_append(text, points, count, best, metric, limits);
}
