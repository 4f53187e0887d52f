/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/ruler.h"

#include <string.h>

#include "harness/stats.h"

enum { FEW = 32 }; /* readings: no median of less, nor a new one for less */

void hx_ruler_add(struct hx_ruler *ruler, double ticks_per_cycle) {
    if (!(ticks_per_cycle > 0.0)) {
        return;
    }
    ruler->ticks[ruler->next] = ticks_per_cycle;
    ruler->next = (ruler->next + 1) % HX_RULER_READINGS;
    ruler->count += ruler->count < HX_RULER_READINGS;
    if (ruler->next % FEW == 0) {
        double sorted[HX_RULER_READINGS];
        memcpy(sorted, ruler->ticks, ruler->count * sizeof sorted[0]);
        ruler->median = hx_median(sorted, ruler->count);
    }
}

bool hx_ruler_is_slowed(const struct hx_ruler *ruler, double ticks_per_cycle) {
    const double more = 0.05;
    return ruler->median > 0.0 && ticks_per_cycle > ruler->median * (1.0 + more);
}
