/* SPDX-License-Identifier: Apache-2.0 */
/* common/clock.h - the time that passes while we work; what is measured has clocks of its own
 * (harness/timer.h). */
#ifndef ISAPROBE_COMMON_CLOCK_H
#define ISAPROBE_COMMON_CLOCK_H

#include <time.h>

/* Seconds since some moment in the past, on a clock that never goes back: good for differences. */
static inline double ip_clock_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
