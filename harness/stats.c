/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/stats.h"

#include <math.h>
#include <stdlib.h>

static int compare_doubles(const void *left, const void *right) {
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

void hx_sort(double *values, size_t count) {
    if (count > 1) {
        qsort(values, count, sizeof *values, compare_doubles);
    }
}

double hx_quantile(const double *sorted, size_t count, double q) {
    if (count == 0) {
        return NAN;
    }
    double position = q * (double)(count - 1);
    size_t below = (size_t)position;
    if (below + 1 >= count) {
        return sorted[count - 1];
    }
    double part = position - (double)below;
    return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

double hx_median(double *values, size_t count) {
    hx_sort(values, count);
    return hx_quantile(values, count, 0.5);
}

size_t hx_narrowest(const double *sorted, size_t count, size_t size) {
    size_t best = 0;
    for (size_t i = 1; i + size <= count; i++) {
        if (sorted[i + size - 1] - sorted[i] < sorted[best + size - 1] - sorted[best]) {
            best = i;
        }
    }
    return best;
}

double hx_least_agreed(const double *sorted, size_t count, size_t agreeing, double within) {
    for (size_t i = 0; i + agreeing <= count; i++) {
        if (sorted[i + agreeing - 1] - sorted[i] <= within * sorted[i]) {
            return sorted[i];
        }
    }
    return NAN;
}
