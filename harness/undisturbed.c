/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/undisturbed.h"

#include <math.h>

/* A whole number of loads in a cycle, or almost: the branch of their loop takes its part. */
static double loads_undisturbed(double cycles) {
    const double more = 0.05, less = 0.09; /* of a load; of the loads in a cycle */
    double width = ceil(1.0 / cycles - less);
    return isfinite(width) && width >= 1.0 && cycles <= (1.0 + more) / width ? 1.0 / width : NAN;
}

static double forwards_undisturbed(double cycles) {
    const double within = 0.015;
    double whole = round(cycles);
    return fabs(cycles - whole) <= within * whole ? whole : NAN;
}

static double nops_undisturbed(double cycles) {
    const double within = 0.03;
    double width = round(1.0 / cycles);
    return isfinite(width) && width >= 1.0 && fabs(1.0 / cycles - width) <= within * width ? 1.0 / width
                                                                                           : NAN;
}

double hx_undisturbed(enum hx_sentinel sentinel, double cycles) {
    return sentinel == HX_SENTINEL_NOPS    ? nops_undisturbed(cycles)
           : sentinel == HX_SENTINEL_LOADS ? loads_undisturbed(cycles)
                                           : forwards_undisturbed(cycles);
}

/* How far the least of short runs may be below what long ones agree on, and above: beside a neighbour a Zen
 * 5's keep the cycle that it loses at the end of each pass (13 for 12). */
static const double LEAST_NEAR = 0.08, LEAST_MORE = 0.15;

/* So many in a cycle as short runs say, or the next whole number: of loads hardly a run is calm. */
static double width_of(double least) {
    const double less = 0.04; /* by which a coarse clock makes it too short */
    double width = ceil((1.0 - less) / least);
    return isfinite(width) && width >= 1.0 ? 1.0 / width : NAN;
}

double hx_undisturbed_settled(enum hx_sentinel sentinel, double agreed, double least) {
    const bool nops = sentinel == HX_SENTINEL_NOPS;
    double width = width_of(least);
    if (sentinel == HX_SENTINEL_FORWARDS || isnan(least)) {
        return nops ? agreed : hx_undisturbed(sentinel, agreed);
    }
    if (!(agreed <= least * (1.0 + LEAST_NEAR))) {
        return nops && least > width * (1.0 + LEAST_NEAR) ? NAN : width;
    }
    if (nops) {
        return least > agreed * (1.0 + LEAST_MORE) ? NAN : agreed;
    }
    return hx_undisturbed(sentinel, agreed);
}

double hx_undisturbed_known(const struct hx_bench *bench, enum hx_sentinel sentinel) {
    return sentinel == HX_SENTINEL_NOPS ? bench->sentinel_cycles : bench->beside_cycles[sentinel];
}

bool hx_chain_is_sound(const struct hx_bench *bench, const struct hx_estimate *estimate) {
    const double more = 0.03;
    return !estimate->clock_moved && estimate->ticks_per_cycle <= bench->ticks_least * (1.0 + more);
}

void hx_undisturbed_learn(struct hx_bench *bench, enum hx_sentinel sentinel, double cycles) {
    /* A single reading is short whenever its chain, and not it, was disturbed. */
    enum { WITNESSES = 6, WINDOW = 32 };
    const double clearly = 0.95;
    struct hx_better *better = &bench->better[sentinel];
    double known = hx_undisturbed_known(bench, sentinel);
    double now = hx_undisturbed(sentinel, cycles);
    if (better->seen == WINDOW) {
        *better = (struct hx_better){.cycles = NAN};
    }
    better->seen++;
    if (!(now < clearly * known)) {
        return;
    }
    better->witnesses = now == better->cycles ? better->witnesses + 1 : 1;
    better->cycles = now;
    if (better->witnesses < WITNESSES || 2 * better->witnesses < better->seen) {
        return;
    }
    if (sentinel == HX_SENTINEL_NOPS) {
        bench->sentinel_cycles = bench->sentinel_calibrated = now;
        bench->sentinel_suspect = false;
    } else {
        bench->beside_cycles[sentinel] = now;
    }
    *better = (struct hx_better){.cycles = NAN};
}
