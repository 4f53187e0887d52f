/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/later.h - of two times the later one. Internal to oncore/. */
#ifndef ISAPROBE_ONCORE_LATER_H
#define ISAPROBE_ONCORE_LATER_H

/* Not fmax: that is a call, and no time is NaN. */
static inline double core_later(double a, double b) {
    return b > a ? b : a;
}

#endif
