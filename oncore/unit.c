/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/unit.h"

#include "oncore/later.h"

double core_unit_take(struct core_unit *unit, double from, double cycles) {
    for (unsigned i = 0; i < CORE_UNIT_GAPS; i++) {
        double start = core_later(from, unit->gaps[i].begin);
        if (start + cycles <= unit->gaps[i].end) {
            unit->gaps[i].begin = start + cycles; /* what is left before it is lost */
            return start;
        }
    }
    double start = core_later(from, unit->free);
    if (start > unit->free) {
        unit->gaps[unit->next].begin = unit->free;
        unit->gaps[unit->next].end = start;
        unit->next = (unit->next + 1) % CORE_UNIT_GAPS;
    }
    unit->free = start + cycles;
    return start;
}
