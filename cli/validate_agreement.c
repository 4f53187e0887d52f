/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/validate.h"

const double cli_histogram_ends[CLI_HISTOGRAM] = {1, 2, 5, 10, 20, 50, 100, INFINITY};

/* Predictions that differ by less than this are a tie: the same number, but for rounding. Measurements that
 * differ by less than the other repeat no better: they do not say which block is faster. */
static const double SAME = 1e-6, INDISTINCT = 0.02;

static int order(double a, double b, double tolerance) {
    return fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b)) ? 0 : a < b ? -1 : 1;
}

struct cli_agreement cli_agreement_find(const double *predicted, const double *measured, size_t count) {
    struct cli_agreement result = {.mape = NAN, .tau = NAN, .tau_b = NAN, .bias = NAN};
    double errors = 0.0, bias = 0.0, concordant = 0.0, discordant = 0.0, tied_p = 0.0, tied_m = 0.0;
    double pairs = 0.0, balance = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(predicted[i]) || !isfinite(measured[i]) || measured[i] <= 0.0) {
            continue;
        }
        double error = (predicted[i] - measured[i]) / measured[i];
        result.count++;
        errors += fabs(error);
        bias += error;
        unsigned class = 0;
        while (100.0 * fabs(error) > cli_histogram_ends[class]) {
            class ++;
        }
        result.histogram[class]++;
        for (size_t k = 0; k < i; k++) {
            if (!isfinite(predicted[k]) || !isfinite(measured[k]) || measured[k] <= 0.0) {
                continue;
            }
            int p = order(predicted[i], predicted[k], SAME), m = order(measured[i], measured[k], SAME);
            concordant += p * m > 0;
            discordant += p * m < 0;
            tied_p += p == 0 && m != 0;
            tied_m += m == 0 && p != 0;
            int distinct = order(measured[i], measured[k], INDISTINCT);
            pairs += distinct != 0;
            balance += p * distinct;
        }
    }
    if (result.count > 0) {
        result.mape = 100.0 * errors / result.count;
        result.bias = 100.0 * bias / result.count;
        double both = concordant + discordant;
        double scale = sqrt((both + tied_p) * (both + tied_m));
        result.tau_b = scale > 0.0 ? (concordant - discordant) / scale : NAN;
        result.tau = pairs > 0.0 ? balance / pairs : NAN;
    }
    return result;
}

static int by_value(const void *a, const void *b) {
    double one = *(const double *)a, two = *(const double *)b;
    return (one > two) - (one < two);
}

double cli_readings_agreed(const double *readings, unsigned count) {
    double sorted[CLI_CASE_READINGS];
    memcpy(sorted, readings, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    for (unsigned i = 0; i + 1 < count; i++) {
        if (sorted[i + 1] - sorted[i] <= CLI_READINGS_AGREEMENT * sorted[i]) {
            return (sorted[i] + sorted[i + 1]) / 2;
        }
    }
    return NAN;
}
