/* SPDX-License-Identifier: Apache-2.0 */
/* tests/accuracy/compare.h - does what was measured agree with the reference? docs/accuracy.md has the rules.
 */
#ifndef ISAPROBE_TESTS_ACCURACY_COMPARE_H
#define ISAPROBE_TESTS_ACCURACY_COMPARE_H

#include "probe/latency.h"
#include "probe/slots.h"
#include "probe/throughput.h"
#include "tests/accuracy/reference.h"

enum compare_result {
    COMPARE_NOTHING, /* the reference gives no value */
    COMPARE_AGREES,
    COMPARE_WITHIN_BOUND, /* not equal, but where the reference gives an upper bound this is below it */
    COMPARE_DIFFERS,
    COMPARE_TRUE_DIFFERENCE, /* differs, and is reviewed: tests/accuracy/true_differences.csv */
    COMPARE_TRAPPED,         /* differs, and a hypervisor runs it here in place of the core */
};

enum { COMPARE_TEXT_MAX = 48 };

struct comparison {
    enum compare_result result;
    char ours[COMPARE_TEXT_MAX], theirs[COMPARE_TEXT_MAX];
    const char *category; /* of a difference */
};

/* The range over all measured pairs, as the reference prints it. `known` is false when no pair was measured.
 */
struct reference_range compare_latency_range(const struct probe_latency *latency);
/* "[2;≤5]", both ends rounded to integers; "" where nothing is known. */
void compare_range_print(const struct reference_range *range, char buffer[COMPARE_TEXT_MAX]);

void compare_latency(struct comparison *comparison, const struct reference_row *row,
                     const struct probe_latency *latency);
void compare_throughput(struct comparison *comparison, const struct reference_row *row,
                        const struct probe_throughput *throughput);
/* Slots agree when they are the same whole number after rounding. */
void compare_slots(struct comparison *comparison, const struct reference_row *row,
                   const struct probe_slots *slots);

/* A reviewed true difference of the CPU at hand: it holds only for the values that were reviewed ("1|[1;2]").
 * `form` may hold * and ?, where one cause was reviewed for all that it names. */
struct true_difference {
    char form[ISA_SYNTAX_MAX];
    enum true_what { TRUE_LATENCY, TRUE_THROUGHPUT, TRUE_PORTS, TRUE_SLOTS } what;
    char measured[2 * COMPARE_TEXT_MAX];
    bool met; /* a row of this run was counted under it */
};
struct true_differences {
    struct true_difference *items; /* owned */
    size_t count;
};
void true_differences_fini(struct true_differences *list);
/* Reads the CSV file (form,what,measured,evidence); IP_SYNTAX names the line. */
IP_CHECK enum ip_status true_differences_read(struct true_differences *list, const char *path,
                                              struct ip_error *err);
/* Is this port usage of this form on the list? */
bool true_differences_ports(struct true_differences *list, const char *form, const char *usage);
/* Turns a difference into COMPARE_TRAPPED where the form's throughput is that of a trap, a thousand cycles
 * and more, and by the reference no core takes so long. */
void compare_trap(struct comparison *comparison, const struct reference_row *row,
                  const struct probe_throughput *throughput);
/* Turns a difference that is on the list, with the value that is on the list, into COMPARE_TRUE_DIFFERENCE.
 */
void true_differences_apply(struct true_differences *list, const char *form, enum true_what what,
                            struct comparison *comparison);

#endif
