/* SPDX-License-Identifier: Apache-2.0 */
/* cli/scan_readings.h - what the passes of a scan read of one form, and what they say together.
 *
 * Batches of one process agree where processes do not: which places of code and data a process has, and what
 * the core learned of its stores, stays for as long as it lives. What is no whole number of cycles, or takes
 * long, is therefore read in several processes, one after the other, and the middle counts. docs/method.md,
 * "Several readings". */
#ifndef ISAPROBE_CLI_SCAN_READINGS_H
#define ISAPROBE_CLI_SCAN_READINGS_H

#include <stdint.h>

#include "probe/latency.h"
#include "probe/throughput.h"

enum {
    SCAN_READINGS_FEW = 3,   /* enough where they are alike */
    SCAN_READINGS_SOME = 7,  /* enough where those in the middle are */
    SCAN_READINGS_MANY = 11, /* enough of what takes long, or is nearly alike */
    SCAN_READINGS_MOST = 15, /* enough in any case */
};

/* All-zero: no reading. */
struct scan_readings {
    struct probe_throughput throughputs[SCAN_READINGS_MOST];
    struct probe_latency latencies[SCAN_READINGS_MOST]; /* owned */
    unsigned throughput_count, latency_count;
};

/* Keeps a reading of what is not NULL, and takes the latency over; there is room for SCAN_READINGS_MOST. */
void scan_readings_add(struct scan_readings *readings, const struct probe_throughput *throughput,
                       struct probe_latency *latency);
/* What is to be read again: some of RES_PART_THROUGHPUT and RES_PART_LATENCY; 0: nothing. What could not be
 * trusted each time is not. */
unsigned scan_readings_wanted(const struct scan_readings *readings);
/* Of which pairs of operands the latency is to be read again: bit p for pair p. */
uint64_t scan_readings_pairs(const struct scan_readings *readings);
/* What they say, of each pair of operands alone: the median of those that are to be trusted; of
 * SCAN_READINGS_SOME and more that are near each other the mean of the third in the middle; where none is to
 * be trusted, the last. Of more than 25 cycles the readings (of five but the least and the longest) must
 * agree within 3 %, of less, where there are SCAN_READINGS_SOME, within 1.2 cycles, of what goes through
 * memory within 2.2, or nothing is to be trusted. `throughput` and `latency` are written where there are
 * readings; the caller owns the latency, and the readings are used up. */
void scan_readings_settle(struct scan_readings *readings, struct probe_throughput *throughput,
                          struct probe_latency *latency);
void scan_readings_fini(struct scan_readings *readings);

/* May another process say something else of what is measured and trusted? Of a throughput that is no ratio of
 * small numbers, of a latency that is no whole number of cycles or long, or no longer than the form takes by
 * itself (`throughput`; NULL: not known), or of what changes its memory. */
bool scan_throughput_wavers(const struct probe_throughput *throughput);
bool scan_latency_wavers(const struct probe_latency *latency, const struct probe_throughput *throughput);

#endif
