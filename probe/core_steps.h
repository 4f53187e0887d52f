/* SPDX-License-Identifier: Apache-2.0 */
/* probe/core_steps.h - where a sweep changes. Each function suits one kind of change; none knows what the
 * numbers are. Pure. */
#ifndef ISAPROBE_PROBE_CORE_STEPS_H
#define ISAPROBE_PROBE_CORE_STEPS_H

#include <stddef.h>

/* x ascends along a sweep. */
struct probe_point {
    double x, y;
    double error; /* of y, absolute */
};

enum { PROBE_POINTS_MAX = 256 };

/* How many points stay on the level of the first ones (the median of three) before y goes up for the first
 * time by `share` of the whole rise; `count` when the highest y is less than `least` times that level. */
size_t probe_departure(const struct probe_point *points, size_t count, double share, double least);

/* The position whose next but one is higher than it by most; `count` for fewer than three points. */
size_t probe_jump(const struct probe_point *points, size_t count);

/* The first point from which on all lie no more than `tolerance` below the line through the last `tail` ones;
 * `count` when there are no more points than those. */
size_t probe_arrival(const struct probe_point *points, size_t count, size_t tail, double tolerance);

#endif
