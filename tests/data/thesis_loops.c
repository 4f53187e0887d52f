/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of Putigny's thesis, for tests/bench/loops.sh: the inner loop of each function is predicted and
 * measured. */
#include <stddef.h>

double dot(const double *restrict x, const double *restrict y, size_t n);
void daxpy(double *restrict y, const double *restrict x, double a, size_t n);
void matvec(double *restrict y, const double *restrict a, const double *restrict x, size_t n);
void matmul(double *restrict c, const double *restrict a, const double *restrict b, size_t n);

double dot(const double *restrict x, const double *restrict y, size_t n) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

void daxpy(double *restrict y, const double *restrict x, double a, size_t n) {
    for (size_t i = 0; i < n; i++) {
        y[i] += a * x[i];
    }
}

void matvec(double *restrict y, const double *restrict a, const double *restrict x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < n; j++) {
            sum += a[i * n + j] * x[j];
        }
        y[i] = sum;
    }
}

void matmul(double *restrict c, const double *restrict a, const double *restrict b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            for (size_t j = 0; j < n; j++) {
                c[i * n + j] += a[i * n + k] * b[k * n + j];
            }
        }
    }
}
