/* SPDX-License-Identifier: Apache-2.0 */
/* results/compare.h - what differs between two sheets: latency, throughput, issue slots and ports of the
 * forms that both have. */
#ifndef ISAPROBE_RESULTS_COMPARE_H
#define ISAPROBE_RESULTS_COMPARE_H

#include "results/sheet.h"

enum res_aspect {
    RES_ASPECT_LATENCY,
    RES_ASPECT_THROUGHPUT,
    RES_ASPECT_SLOTS,
    RES_ASPECT_PORTS,
    RES_ASPECTS
};
const char *res_aspect_name(enum res_aspect aspect);

/* One value that is not the same in both. */
struct res_difference {
    const struct res_row *a, *b; /* borrowed from the sheets */
    enum res_aspect aspect;
    const struct res_sheet_pair *pair; /* of `a`; LATENCY of one pair of operands; NULL: of the whole form */
    double before, after;              /* NaN for ports and for ranges */
    char a_text[RES_PORTS_MAX], b_text[RES_PORTS_MAX]; /* the values: "3.7", "<=5", "[1;<=6]", "1*p01" */
};

/* The forms of one extension. A form counts once for each aspect that both sheets know. */
struct res_class_change {
    char extension[20];
    size_t forms; /* in both */
    size_t compared[RES_ASPECTS], changed[RES_ASPECTS];
    size_t slower, faster; /* of the changed throughputs */
};

struct res_comparison {
    struct res_difference *differences; /* owned; in the order of `a` */
    size_t count, capacity;
    struct res_class_change *classes; /* owned; by name */
    size_t class_count;
    size_t common, only_a, only_b; /* forms */
};

/* Two cycles are the same when they are no further apart than `relative` of the larger one, or than 0.3 cycle
 * (0.55 where one side has whole latencies; throughput: 0.02); slots than 0.3. Where one side knows only an
 * upper bound, a value below it is the same. Latencies are compared pair by pair where both sides have pairs,
 * else by their least and greatest. Of ports that one side lists as an AMD's pipes ("1*FP01") those terms
 * count that have one of its pipes. */
struct res_tolerance {
    double relative;
};

/* Forms are matched by their syntax, or where a sheet has none by the name in uops.info's notation (then the
 * other sheet must have been derived). */
IP_CHECK enum ip_status res_compare(const struct res_sheet *a, const struct res_sheet *b,
                                    struct res_tolerance tolerance, struct res_comparison *comparison,
                                    struct ip_error *err);
void res_comparison_fini(struct res_comparison *comparison); /* all-zero is fine */

#endif
