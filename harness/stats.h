/* SPDX-License-Identifier: Apache-2.0 */
/* harness/stats.h - order statistics of samples. Pure. */
#ifndef ISAPROBE_HARNESS_STATS_H
#define ISAPROBE_HARNESS_STATS_H

#include <stddef.h>

/* Sorts values[0..count) ascending. */
void hx_sort(double *values, size_t count);
/* The q-quantile (0 <= q <= 1) of ascending values by linear interpolation (Hyndman & Fan 1996, type 7); NaN
 * when empty. */
double hx_quantile(const double *sorted, size_t count, double q);
/* The median; sorts `values`. NaN when empty. */
double hx_median(double *values, size_t count);

/* Where the narrowest run of `size` neighbours among sorted values begins; the lowest of equals. 1 <= size <=
 * count. */
size_t hx_narrowest(const double *sorted, size_t count, size_t size);
/* The least of ascending values that lies within this part of itself of so many, itself counted: of times,
 * which disturbances make longer, what is no stray. NaN: none does. agreeing >= 1. */
double hx_least_agreed(const double *sorted, size_t count, size_t agreeing, double within);

#endif
