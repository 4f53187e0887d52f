/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/unit.h - when an unpipelined unit (a divider) is idle. Internal to oncore/. */
#ifndef ISAPROBE_ONCORE_UNIT_H
#define ISAPROBE_ONCORE_UNIT_H

enum { CORE_UNIT_GAPS = 16 }; /* so many are remembered of each unit */

/* Idle from `free` on, and in some gaps before, for what is issued earlier may have to wait for its operands
 * longer. All-zero: idle. Times are cycles. */
struct core_unit {
    double free;
    struct {
        double begin, end;
    } gaps[CORE_UNIT_GAPS];
    unsigned next; /* gap to be given up */
};

/* Takes the unit for so many cycles, from `from` on or as soon as it can; returns when it begins. */
double core_unit_take(struct core_unit *unit, double from, double cycles);

#endif
