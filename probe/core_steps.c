/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/core_steps.h"

#include <math.h>

size_t probe_departure(const struct probe_point *points, size_t count, double share, double least) {
    if (count < 4) {
        return count;
    }
    double a = points[0].y, b = points[1].y, c = points[2].y;
    double level = fmax(fmin(a, b), fmin(fmax(a, b), c)); /* the median of three */
    double top = level;
    for (size_t i = 0; i < count; i++) {
        top = fmax(top, points[i].y);
    }
    if (top < least * level) {
        return count;
    }
    size_t staying = 0;
    while (staying < count && points[staying].y <= level + share * (top - level)) {
        staying++;
    }
    return staying;
}

size_t probe_jump(const struct probe_point *points, size_t count) {
    if (count < 3) {
        return count;
    }
    size_t best = 0;
    for (size_t i = 1; i + 2 < count; i++) {
        if (points[i + 2].y - points[i].y > points[best + 2].y - points[best].y) {
            best = i;
        }
    }
    return best;
}

size_t probe_arrival(const struct probe_point *points, size_t count, size_t tail, double tolerance) {
    if (tail < 2 || count <= tail) {
        return count;
    }
    const struct probe_point *last = points + count - tail;
    double x_mean = 0, y_mean = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < tail; i++) {
        x_mean += last[i].x / (double)tail;
        y_mean += last[i].y / (double)tail;
    }
    for (size_t i = 0; i < tail; i++) {
        xx += (last[i].x - x_mean) * (last[i].x - x_mean);
        xy += (last[i].x - x_mean) * (last[i].y - y_mean);
    }
    double slope = xx > 0 ? xy / xx : 0;
    size_t arrived = count;
    while (arrived > 0 &&
           points[arrived - 1].y >= y_mean + slope * (points[arrived - 1].x - x_mean) - tolerance) {
        arrived--;
    }
    return arrived;
}
