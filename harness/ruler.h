/* SPDX-License-Identifier: Apache-2.0 */
/* harness/ruler.h - what a link of the chain took lately, in ticks. A clock changes by a few per cent in some
 * milliseconds; a chain that takes more than that longer, all at once, was slowed by somebody, and beside it
 * all else looks short. docs/method.md, "Calibration". Internal to harness/. */
#ifndef ISAPROBE_HARNESS_RULER_H
#define ISAPROBE_HARNESS_RULER_H

#include <stdbool.h>

/* Some ten milliseconds, as long as a neighbour stays as a rule. */
enum { HX_RULER_READINGS = 256 };

/* The last readings, in a ring; all-zero: none. */
struct hx_ruler {
    double ticks[HX_RULER_READINGS];
    unsigned count, next;
    double median; /* as of some readings ago; 0: there were too few */
};

/* Keeps a reading, if it is one (above zero). Those that are too long as well: if they stay, the clock has
 * become a slower one. */
void hx_ruler_add(struct hx_ruler *ruler, double ticks_per_cycle);

/* Is this much longer than the median of the last readings? False while there are few. */
bool hx_ruler_is_slowed(const struct hx_ruler *ruler, double ticks_per_cycle);

#endif
