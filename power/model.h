/* SPDX-License-Identifier: Apache-2.0 */
/* power/model.h - time, power and energy of a kernel at every setting of a machine, and the best one.
 *
 * cycles = max(iterations * body, accesses / pending * cycles of an access); time = cycles / f;
 * energy = time * (C·V²·f + static). After Putigny 2014, section 2.3.3; see docs/power.md. */
#ifndef ISAPROBE_POWER_MODEL_H
#define ISAPROBE_POWER_MODEL_H

#include "power/kernel.h"
#include "power/machine.h"

enum pw_bound { PW_BOUND_COMPUTE, PW_BOUND_MEMORY };

struct pw_point {
    const struct pw_setting *setting; /* of the machine; borrowed */
    double compute_cycles, memory_cycles;
    double cycles; /* the larger */
    enum pw_bound bound;
    double time_s;
    double power_w, energy_j, gflops_per_watt, edp_js, ed2p_js2; /* NaN where unknown */
    double slowdown;                                             /* time over the shortest time */
};

/* Fills points[0..machine->setting_count). IP_CAPABILITY: the kernel goes to memory and the machine does not
 * say what an access costs. IP_USAGE: the kernel's body cycles are not known yet, or its time is beyond all
 * numbers, or nothing. */
IP_CHECK enum ip_status pw_model(struct pw_point *points, const struct pw_machine *machine,
                                 const struct pw_kernel *kernel, struct ip_error *err);

enum pw_metric {
    PW_METRIC_ENERGY,
    PW_METRIC_GFLOPS_PER_WATT,
    PW_METRIC_EDP,
    PW_METRIC_ED2P,
    PW_METRIC_TIME,
};
#define PW_METRIC_WORDS "energy gflops-per-watt edp ed2p time"

/* 0: no limit. */
struct pw_limits {
    double max_slowdown; /* time over the shortest time */
    double max_time_s, max_power_w;
};

/* What a metric makes of a point: smaller is better (GFlops/W are negated). */
double pw_cost(const struct pw_point *point, enum pw_metric metric);
/* Within the limits? To a relative 1e-9. */
bool pw_allowed(const struct pw_point *point, const struct pw_limits *limits);

/* The point with the lowest cost among the allowed; among those within a relative 1e-9 of it the fastest, of
 * equally fast ones that with the least energy, or, where that decides nothing, the first. IP_UNSUPPORTED: no
 * setting keeps the limits. IP_CAPABILITY: the metric or a limit needs watts that are not known. IP_USAGE:
 * GFlops/W of a kernel without flops. */
IP_CHECK enum ip_status pw_choose(const struct pw_point *points, size_t count, enum pw_metric metric,
                                  const struct pw_limits *limits, size_t *best, struct ip_error *err);

/* One sentence that says why `best` was chosen. */
void pw_explain(struct ip_text *text, const struct pw_point *points, size_t count, size_t best,
                enum pw_metric metric, const struct pw_limits *limits);

#endif
