/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/scan_readings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/store.h"

static const double AGAIN_CYCLES = 18; /* longer latencies are read again: dividers take a cycle more or less,
                                          the same for as long as a process lives */
static const double LONG_CYCLES = 25;  /* longer ones have to agree */
static const double LONG_WITHIN = 0.03;  /* relative */
static const double RHYTHM_CYCLES = 2.2; /* a slow rhythm of stores and loads is up to two cycles more */
/* By so much an old value makes a form take longer that merges into it. */
static const double OLDER_CYCLES = 0.3;
/* Farther from a whole number a latency is none; of a bound other instructions are part, and their noise. */
static const double WHOLE_WITHIN = 0.12, WHOLE_WITHIN_BOUND = 0.15;
/* Readings are alike that round to the same; many also if they are as near as this. */
static const double NEARLY_ALIKE = 0.01;
static const double ALIKE_THROUGHPUT = 0.05, ALIKE_THROUGHPUT_CYCLES = 0.02;
/* Readings that are farther apart are of two kinds, and no mean of them is of any. */
static const double APART_CYCLES = 1.0, APART_THROUGHPUT = 0.15;
/* Of many readings of fewer cycles the same goes, with some noise, for what is to be trusted. */
static const double SHORT_WITHIN = 1.2;
/* A form that takes its time by itself bounds what chains of it can show, now more, now less. */
static const double PACE_CYCLES = 3, PACED = 1.3;

/* The values of what is trusted, ascending, and which readings they are. */
struct told {
    double values[SCAN_READINGS_MOST];
    unsigned from[SCAN_READINGS_MOST];
    unsigned count;
};

static void told_add(struct told *told, double value, unsigned from) {
    unsigned at = told->count++;
    for (; at > 0 && told->values[at - 1] > value; at--) {
        told->values[at] = told->values[at - 1];
        told->from[at] = told->from[at - 1];
    }
    told->values[at] = value;
    told->from[at] = from;
}

/* The place of the reading in the middle; of an even number of the lesser one, for what disturbs lengthens.
 */
static unsigned told_middle(const struct told *told) {
    return (told->count - 1) / 2;
}

/* The least and the longest of what counts: all but one at either end of five, three of fifteen. */
static void told_range(const struct told *told, double *low, double *high) {
    unsigned off = (told->count - 1) / 4;
    *low = told->values[off];
    *high = told->values[told->count - 1 - off];
}

/* What the readings say. Of many that are no farther apart than this, the mean of those in the middle: what
 * is done now one way and now another is of all values between the two. Else the reading in the middle. */
static double told_value(const struct told *told, double apart) {
    unsigned off = (told->count - 1) / 3;
    if (told->count < SCAN_READINGS_SOME || told->values[told->count - 1 - off] - told->values[off] > apart) {
        return told->values[told_middle(told)];
    }
    double sum = 0;
    for (unsigned i = off; i < told->count - off; i++) {
        sum += told->values[i];
    }
    return sum / (told->count - 2 * off);
}

static bool is_trusted(const struct probe_throughput *throughput) {
    return throughput->measured && throughput->verdict == HX_VERDICT_OK;
}

static struct told throughputs_told(const struct scan_readings *readings) {
    struct told told = {.count = 0};
    for (unsigned i = 0; i < readings->throughput_count; i++) {
        if (is_trusted(&readings->throughputs[i])) {
            told_add(&told, readings->throughputs[i].cycles, i);
        }
    }
    return told;
}

/* Those of one sort: exact values, or bounds. */
static struct told sort_told(const struct scan_readings *readings, size_t pair, bool bounds) {
    struct told told = {.count = 0};
    for (unsigned i = 0; i < readings->latency_count; i++) {
        const struct probe_latency_pair *its = &readings->latencies[i].pairs[pair];
        if (its->measured && its->verdict == HX_VERDICT_OK && its->upper_bound == bounds) {
            told_add(&told, its->cycles, i);
        }
    }
    return told;
}

/* Exact values, where they are not fewer than the bounds: a round of a hundred cycles seems to grow by one,
 * and a bound to be exact, now and then by noise (`lsl r32, r32` of a Zen 4: 97.4 once, <=95.5 else). */
static struct told pairs_told(const struct scan_readings *readings, size_t pair) {
    const struct told exact = sort_told(readings, pair, false), bounds = sort_told(readings, pair, true);
    return exact.count >= bounds.count ? exact : bounds;
}

/* What changes its memory has several ways to wait for itself, each for as long as a process lives: on a Zen
 * 4 `rcl m32, cl` takes 8.0 cycles, or 10.0. */
static bool changes_memory(const struct probe_latency_pair *pair) {
    return pair->path == PROBE_PATH_CONTENT && !pair->upper_bound;
}

/* Does it matter how old that is what the form merges into? Where other instructions close the chain it is
 * older in some processes: on a Zen 4 `vpord zmm{k}, zmm, zmm` takes 0.99 from its mask, or 1.97. */
static bool merged_matters(const struct probe_latency *latency) {
    bool matters = false;
    for (size_t i = 0; i < latency->count && !matters; i++) {
        const struct probe_latency_pair *pair = &latency->pairs[i];
        matters = pair->measured && pair->slow_cycles > pair->cycles + OLDER_CYCLES;
    }
    return matters;
}

/* Cycles from instance to instance, where they need none of each other's results; 0: not known. */
static double pace_of(const struct probe_throughput *throughput) {
    return throughput != NULL && is_trusted(throughput) ? throughput->cycles : 0.0;
}

static bool pair_wavers(const struct probe_latency *latency, const struct probe_latency_pair *pair,
                        double pace, double cycles) {
    double within = pair->upper_bound ? WHOLE_WITHIN_BOUND : WHOLE_WITHIN;
    return changes_memory(pair) || fabs(cycles - round(cycles)) > within || cycles > AGAIN_CYCLES ||
           (pace >= PACE_CYCLES && pace <= AGAIN_CYCLES && cycles <= PACED * pace) ||
           (pair->via[0] != '\0' && merged_matters(latency));
}

bool scan_latency_wavers(const struct probe_latency *latency, const struct probe_throughput *throughput) {
    bool wavers = false;
    for (size_t i = 0; i < latency->count && !wavers; i++) {
        const struct probe_latency_pair *pair = &latency->pairs[i];
        wavers = pair->measured && pair->verdict == HX_VERDICT_OK &&
                 pair_wavers(latency, pair, pace_of(throughput), pair->cycles);
    }
    return wavers;
}

bool scan_throughput_wavers(const struct probe_throughput *throughput) {
    return is_trusted(throughput) && !probe_throughput_is_plain(throughput);
}

/* The least and the longest reading that must be alike: of many, one may be far off. */
static void alike_range(const struct told *told, double *low, double *high) {
    *low = told->values[0];
    *high = told->values[told->count - 1];
    if (told->count >= SCAN_READINGS_SOME) {
        told_range(told, low, high);
    }
}

/* Few readings that do not waver, or some more that do, are enough where they are alike; and many in any case
 * of what takes long, for each costs as much as many others. */
static bool is_enough(const struct told *told, bool wavers, bool alike) {
    return (alike && (!wavers || told->count >= SCAN_READINGS_FEW)) ||
           (told->count >= SCAN_READINGS_MANY && told->values[0] > LONG_CYCLES);
}

static bool pair_wanted(const struct scan_readings *readings, size_t pair) {
    struct told told = pairs_told(readings, pair);
    if (told.count == 0) {
        return false;
    }
    const double pace = readings->throughput_count > 0 ? pace_of(&readings->throughputs[0]) : 0.0;
    bool wavers = false;
    for (unsigned i = 0; i < told.count; i++) {
        const struct probe_latency *from = &readings->latencies[told.from[i]];
        wavers = wavers || pair_wavers(from, &from->pairs[pair], pace, told.values[i]);
    }
    double low, high;
    alike_range(&told, &low, &high);
    bool nearly = told.count >= SCAN_READINGS_MANY && high - low <= NEARLY_ALIKE * high;
    return !is_enough(&told, wavers, nearly || probe_latency_whole(low) == probe_latency_whole(high));
}

static bool throughput_wanted(const struct scan_readings *readings) {
    struct told told = throughputs_told(readings);
    if (told.count == 0) {
        return false;
    }
    bool wavers = false;
    for (unsigned i = 0; i < told.count; i++) {
        wavers = wavers || scan_throughput_wavers(&readings->throughputs[told.from[i]]);
    }
    double low, high;
    alike_range(&told, &low, &high);
    return !is_enough(&told, wavers, high - low <= fmax(ALIKE_THROUGHPUT * low, ALIKE_THROUGHPUT_CYCLES));
}

uint64_t scan_readings_pairs(const struct scan_readings *readings) {
    bool more = readings->latency_count > 0 && readings->latency_count < SCAN_READINGS_MOST;
    uint64_t pairs = 0;
    for (size_t i = 0; more && i < readings->latencies[0].count && i < PROBE_LATENCY_ASKED_MOST; i++) {
        pairs |= (uint64_t)pair_wanted(readings, i) << i;
    }
    return pairs;
}

unsigned scan_readings_wanted(const struct scan_readings *readings) {
    unsigned wanted = 0;
    if (readings->throughput_count < SCAN_READINGS_MOST && throughput_wanted(readings)) {
        wanted |= RES_PART_THROUGHPUT;
    }
    wanted |= scan_readings_pairs(readings) != 0 ? (unsigned)RES_PART_LATENCY : 0u;
    return wanted;
}

void scan_readings_add(struct scan_readings *readings, const struct probe_throughput *throughput,
                       struct probe_latency *latency) {
    if (throughput != NULL && readings->throughput_count < SCAN_READINGS_MOST) {
        readings->throughputs[readings->throughput_count++] = *throughput;
    }
    if (latency == NULL) {
        return;
    }
    bool same = readings->latency_count == 0 || latency->count == readings->latencies[0].count;
    if (same && readings->latency_count < SCAN_READINGS_MOST) {
        readings->latencies[readings->latency_count++] = *latency;
        memset(latency, 0, sizeof *latency);
    } else {
        probe_latency_fini(latency); /* of no pairs: the form did not run this time */
    }
}

static void throughput_settle(const struct scan_readings *readings, struct probe_throughput *throughput) {
    struct told told = throughputs_told(readings);
    if (told.count == 0) {
        *throughput = readings->throughputs[readings->throughput_count - 1];
        return;
    }
    double low, high;
    told_range(&told, &low, &high);
    *throughput = readings->throughputs[told.from[told_middle(&told)]];
    throughput->cycles = told_value(&told, APART_THROUGHPUT * told.values[0]);
    throughput->spread = fmax(throughput->spread, (high - low) / throughput->cycles);
}

/* The last reading that says something of the pair, if only why there is nothing. */
static unsigned last_asked(const struct scan_readings *readings, size_t pair) {
    unsigned last = readings->latency_count - 1;
    for (; last > 0; last--) {
        const struct probe_latency_pair *its = &readings->latencies[last].pairs[pair];
        if (its->measured || its->why[0] != '\0' || its->verdict != HX_VERDICT_OK) {
            break;
        }
    }
    return last;
}

/* Cycles by which readings of what is to be trusted may differ, but for a quarter at either end. */
static double may_differ(const struct told *told, double low, enum probe_path path) {
    const double rhythm = path == PROBE_PATH_CONTENT ? RHYTHM_CYCLES : 0.0;
    if (low >= LONG_CYCLES) {
        return fmax(LONG_WITHIN * low, rhythm);
    }
    return told->count >= SCAN_READINGS_SOME ? fmax(SHORT_WITHIN, rhythm) : INFINITY;
}

static void pair_settle(const struct scan_readings *readings, size_t pair, struct probe_latency_pair *to) {
    struct told told = pairs_told(readings, pair);
    *to = readings->latencies[told.count > 0 ? told.from[told_middle(&told)] : last_asked(readings, pair)]
              .pairs[pair];
    if (isnan(to->same_register_cycles)) { /* which another pair told, that was not read again */
        to->same_register_cycles = readings->latencies[0].pairs[pair].same_register_cycles;
    }
    if (told.count < 2) {
        return;
    }
    to->cycles = told_value(&told, APART_CYCLES);
    double low, high;
    told_range(&told, &low, &high);
    if (high - low > may_differ(&told, low, to->path)) {
        to->verdict = HX_VERDICT_UNSTABLE;
        (void)snprintf(to->why, sizeof to->why, "unstable: %u processes measured %.1f to %.1f cycles",
                       told.count, told.values[0], told.values[told.count - 1]);
    }
}

void scan_readings_settle(struct scan_readings *readings, struct probe_throughput *throughput,
                          struct probe_latency *latency) {
    if (readings->throughput_count > 0) {
        throughput_settle(readings, throughput);
    }
    if (readings->latency_count == 0) {
        return;
    }
    /* Into the first, pair by pair: none is looked at twice. */
    for (size_t i = 0; i < readings->latencies[0].count; i++) {
        struct probe_latency_pair settled;
        pair_settle(readings, i, &settled);
        readings->latencies[0].pairs[i] = settled;
    }
    *latency = readings->latencies[0];
    memset(&readings->latencies[0], 0, sizeof readings->latencies[0]);
}

void scan_readings_fini(struct scan_readings *readings) {
    for (unsigned i = 0; i < readings->latency_count; i++) {
        probe_latency_fini(&readings->latencies[i]);
    }
    memset(readings, 0, sizeof *readings);
}
