/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/accuracy/compare.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accuracy/lines.h"

/* Throughput agrees within 5 % or 0.02 cycle, whichever is more. */
#define THROUGHPUT_RELATIVE 0.05
#define THROUGHPUT_ABSOLUTE 0.02

/* The reference was rounded so that up to 0.2 cycle below an integer counts as it, and more goes down
 * (docs/accuracy.md); both sides are rounded alike. */
static double reference_round(double cycles) {
    return floor(cycles + 0.2);
}

static void range_add(struct reference_range *range, double cycles, bool bound) {
    if (isnan(cycles)) {
        return;
    }
    if (!range->known || cycles < range->low) {
        range->low = cycles;
        range->low_bound = bound;
    }
    if (!range->known || cycles > range->high) {
        range->high = cycles;
        range->high_bound = bound;
    }
    range->known = true;
}

/* Over all pairs, or over those between registers and flags. */
static struct reference_range range_of(const struct probe_latency *latency, bool memory) {
    struct reference_range range = {0};
    for (size_t i = 0; i < latency->count; i++) {
        const struct probe_latency_pair *pair = &latency->pairs[i];
        bool through = pair->path != PROBE_PATH_REGISTER;
        if (pair->measured && pair->verdict == HX_VERDICT_OK && (memory || !through)) {
            range_add(&range, pair->cycles, pair->upper_bound);
            range_add(&range, pair->slow_cycles, false);
            /* One register for all sources: idioms are faster, moves that are not removed are slower. */
            if (pair->same_register_cycles < pair->cycles || pair->cycles < 0.5) {
                range_add(&range, pair->same_register_cycles, false);
            }
        }
    }
    return range;
}

struct reference_range compare_latency_range(const struct probe_latency *latency) {
    return range_of(latency, true);
}

void compare_range_print(const struct reference_range *range, char buffer[COMPARE_TEXT_MAX]) {
    buffer[0] = '\0';
    if (!range->known) {
        return;
    }
    double low = reference_round(range->low), high = reference_round(range->high);
    const char *low_sign = range->low_bound ? "\xe2\x89\xa4" : "",
               *high_sign = range->high_bound ? "\xe2\x89\xa4" : "";
    if (low == high) {
        snprintf(buffer, COMPARE_TEXT_MAX, "%s%.0f",
                 range->low_bound || range->high_bound ? "\xe2\x89\xa4" : "", low);
    } else {
        snprintf(buffer, COMPARE_TEXT_MAX, "[%s%.0f;%s%.0f]", low_sign, low, high_sign, high);
    }
}

static bool latency_unsteady(const struct probe_latency *latency) {
    for (size_t i = 0; i < latency->count; i++) {
        const struct probe_latency_pair *pair = &latency->pairs[i];
        if (pair->measured && pair->verdict != HX_VERDICT_OK) {
            return true;
        }
    }
    return false;
}

/* One end of the range: equal, or below an upper bound of the reference. */
static bool end_consistent(double ours, double theirs, bool theirs_is_bound) {
    double a = reference_round(ours), b = reference_round(theirs);
    return a == b || (theirs_is_bound && a < b);
}

static const char *latency_category(const struct reference_range *ours,
                                    const struct reference_range *theirs) {
    bool low_same = reference_round(ours->low) == reference_round(theirs->low),
         high_same = reference_round(ours->high) == reference_round(theirs->high);
    if (low_same) {
        return ours->high < theirs->high ? "maximum lower" : "maximum higher";
    }
    if (high_same) {
        return ours->low < theirs->low ? "minimum lower" : "minimum higher";
    }
    return "both ends differ";
}

/* No load takes less than this from its address: a reference whose greatest is below has no such pair. */
#define LOAD_LEAST_CYCLES 4.0

static bool lacks_memory(const struct reference_row *row, const struct probe_latency *latency) {
    struct reference_range others = range_of(latency, false);
    return row->latency.high < LOAD_LEAST_CYCLES && others.known &&
           reference_round(others.low) == reference_round(row->latency.low) &&
           reference_round(others.high) == reference_round(row->latency.high);
}

/* A model has one latency: of a load the one from its address, else that of the slowest register. Slow values
 * and equal registers are none of its cases. */
static struct reference_range range_slowest(const struct probe_latency *latency, bool loads) {
    struct reference_range range = {0};
    for (size_t i = 0; i < latency->count; i++) {
        const struct probe_latency_pair *pair = &latency->pairs[i];
        bool wanted = loads ? pair->path == PROBE_PATH_ADDRESS : pair->path == PROBE_PATH_REGISTER;
        if (wanted && pair->measured && pair->verdict == HX_VERDICT_OK &&
            (!range.known || pair->cycles > range.high)) {
            range = (struct reference_range){.known = true,
                                             .low = pair->cycles,
                                             .high = pair->cycles,
                                             .low_bound = pair->upper_bound,
                                             .high_bound = pair->upper_bound};
        }
    }
    return range;
}

/* A core may forward faster between two of a kind: a model has one figure for both ways. */
static bool is_chained(const struct probe_latency *latency, double cycles) {
    bool same = false;
    for (size_t i = 0; i < latency->count; i++) {
        same = same || reference_round(latency->pairs[i].chained_cycles) == cycles;
    }
    return same;
}

static void compare_model(struct comparison *comparison, const struct reference_row *row,
                          const struct probe_latency *latency) {
    struct reference_range ours = range_slowest(latency, isa_form_memory_operand(row->form) >= 0);
    compare_range_print(&ours, comparison->ours);
    comparison->result = COMPARE_DIFFERS;
    double here = reference_round(ours.high), there = reference_round(row->latency.high);
    if (!ours.known) {
        comparison->category = latency_unsteady(latency) ? "unsteady" : "not measured";
    } else if (here == there) {
        comparison->result = COMPARE_AGREES;
    } else if (ours.high_bound && here > there) {
        comparison->result = COMPARE_WITHIN_BOUND;
        comparison->category = "here is only a bound";
    } else if (!ours.high_bound && is_chained(latency, there)) {
        comparison->result = COMPARE_WITHIN_BOUND;
        comparison->category = "equal where it is chained to itself";
    } else {
        comparison->category = here < there ? "lower" : "higher";
    }
}

void compare_latency(struct comparison *comparison, const struct reference_row *row,
                     const struct probe_latency *latency) {
    memset(comparison, 0, sizeof *comparison);
    comparison->category = "";
    compare_range_print(&row->latency, comparison->theirs);
    struct reference_range ours = compare_latency_range(latency);
    compare_range_print(&ours, comparison->ours);
    if (!row->latency.known) {
        return;
    }
    if (row->scope == REFERENCE_MODEL) {
        compare_model(comparison, row, latency);
        return;
    }
    comparison->result = COMPARE_DIFFERS;
    if (latency_unsteady(latency)) {
        comparison->category = "unsteady";
    } else if (!ours.known) {
        comparison->category = "not measured";
    } else if (reference_round(ours.low) == reference_round(row->latency.low) &&
               reference_round(ours.high) == reference_round(row->latency.high)) {
        comparison->result = COMPARE_AGREES;
    } else if (end_consistent(ours.low, row->latency.low, row->latency.low_bound) &&
               end_consistent(ours.high, row->latency.high, row->latency.high_bound)) {
        comparison->result = COMPARE_WITHIN_BOUND;
        comparison->category = "the reference gives only a bound";
    } else if (lacks_memory(row, latency)) {
        comparison->result = COMPARE_WITHIN_BOUND;
        comparison->category = "the reference has no pair from memory; the others are equal";
    } else {
        comparison->category = latency_category(&ours, &row->latency);
    }
}

void compare_throughput(struct comparison *comparison, const struct reference_row *row,
                        const struct probe_throughput *throughput) {
    memset(comparison, 0, sizeof *comparison);
    comparison->category = "";
    if (throughput->measured) {
        snprintf(comparison->ours, sizeof comparison->ours, "%.2f", throughput->cycles);
    }
    if (isnan(row->throughput)) {
        return;
    }
    snprintf(comparison->theirs, sizeof comparison->theirs, "%.2f", row->throughput);
    comparison->result = COMPARE_DIFFERS;
    double limit = fmax(THROUGHPUT_RELATIVE * row->throughput, THROUGHPUT_ABSOLUTE);
    if (!throughput->measured) {
        comparison->category = "not measured";
    } else if (throughput->verdict != HX_VERDICT_OK) {
        comparison->category = "unsteady";
    } else if (fabs(throughput->cycles - row->throughput) <= limit) {
        comparison->result = COMPARE_AGREES;
    } else {
        comparison->category = throughput->cycles < row->throughput ? "faster" : "slower";
    }
}

void compare_slots(struct comparison *comparison, const struct reference_row *row,
                   const struct probe_slots *slots) {
    memset(comparison, 0, sizeof *comparison);
    comparison->category = "";
    if (slots->measured) {
        snprintf(comparison->ours, sizeof comparison->ours, "%.2f", slots->slots);
    }
    if (isnan(row->slots)) {
        return;
    }
    snprintf(comparison->theirs, sizeof comparison->theirs, "%.0f", row->slots);
    comparison->result = COMPARE_DIFFERS;
    if (!slots->measured) {
        comparison->category = "not measured";
    } else if (slots->verdict != HX_VERDICT_OK) {
        comparison->category = "unsteady";
    } else if (round(slots->slots) == round(row->slots)) {
        comparison->result = COMPARE_AGREES;
    } else {
        comparison->category = slots->slots < row->slots ? "fewer" : "more";
    }
}

void compare_trap(struct comparison *comparison, const struct reference_row *row,
                  const struct probe_throughput *throughput) {
    const double trap_cycles = 1000, core_cycles = 100;
    bool trapped = throughput->measured && throughput->cycles >= trap_cycles && row->throughput < core_cycles;
    if (trapped && comparison->result == COMPARE_DIFFERS) {
        comparison->result = COMPARE_TRAPPED;
        comparison->category = "";
    }
}

/* -- Reviewed differences
 * ------------------------------------------------------------------------------------ */

void true_differences_fini(struct true_differences *list) {
    free(list->items);
    memset(list, 0, sizeof *list);
}

static bool difference_parse(char *line, struct true_difference *difference) {
    char *fields[4];
    if (reference_fields_split(line, fields, 4) != 4 || fields[3][0] == '\0') {
        return false;
    }
    static const char *const WHAT[] = {"latency", "throughput", "ports", "slots"};
    enum { WHATS = sizeof WHAT / sizeof WHAT[0] };
    unsigned what = 0;
    while (what < WHATS && strcmp(fields[1], WHAT[what]) != 0) {
        what++;
    }
    if (what == WHATS) {
        return false;
    }
    difference->what = (enum true_what)what;
    snprintf(difference->form, sizeof difference->form, "%s", fields[0]);
    snprintf(difference->measured, sizeof difference->measured, "%s", fields[2]);
    return true;
}

enum ip_status true_differences_read(struct true_differences *list, const char *path, struct ip_error *err) {
    struct lines lines;
    enum ip_status status = lines_open(&lines, path, 1 << 20, err);
    if (status != IP_OK) {
        return status;
    }
    struct true_differences found = {.items = calloc(lines.most, sizeof *found.items)};
    if (found.items == NULL) {
        lines_close(&lines);
        return ip_fail(err, IP_NO_MEMORY, "no memory for the rows of %s", path);
    }
    for (char *line; status == IP_OK && (line = lines_next(&lines)) != NULL;) {
        if (!difference_parse(line, &found.items[found.count++])) {
            status = ip_fail_at(
                err, IP_SYNTAX, path, lines.number, 0,
                "expected form,latency|throughput|ports|slots,measured,evidence; none may be empty");
        }
    }
    lines_close(&lines);
    if (status != IP_OK) {
        true_differences_fini(&found);
        return status;
    }
    *list = found;
    return IP_OK;
}

/* Is the text one of those that stand in the list with | between them? */
static bool is_listed(const char *list, const char *text) {
    size_t length = strlen(text);
    for (const char *at = list; at != NULL && length > 0; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, text, length) == 0 && (at[length] == '|' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

/* One of the values that stand in the list with | between them: a range to the letter, a throughput within
 * the tolerance of the comparison itself. */
static bool difference_holds(const struct true_difference *difference, const struct comparison *comparison) {
    if (difference->what == TRUE_LATENCY) {
        return is_listed(difference->measured, comparison->ours);
    }
    double ours = strtod(comparison->ours, NULL);
    bool holds = false;
    for (const char *at = difference->measured; at != NULL && !holds; at = strchr(at, '|')) {
        at += *at == '|';
        double reviewed = strtod(at, NULL);
        holds = difference->what == TRUE_SLOTS
                    ? round(reviewed) == round(ours)
                    : fabs(reviewed - ours) <= fmax(THROUGHPUT_RELATIVE * reviewed, THROUGHPUT_ABSOLUTE);
    }
    return holds;
}

void true_differences_apply(struct true_differences *list, const char *form, enum true_what what,
                            struct comparison *comparison) {
    if (comparison->result != COMPARE_DIFFERS) {
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        struct true_difference *difference = &list->items[i];
        if (difference->what == what && fnmatch(difference->form, form, 0) == 0 &&
            difference_holds(difference, comparison)) {
            difference->met = true;
            comparison->result = COMPARE_TRUE_DIFFERENCE;
        }
    }
}

bool true_differences_ports(struct true_differences *list, const char *form, const char *usage) {
    for (size_t i = 0; i < list->count; i++) {
        struct true_difference *difference = &list->items[i];
        if (difference->what == TRUE_PORTS && fnmatch(difference->form, form, 0) == 0 &&
            strcmp(difference->measured, usage) == 0) {
            difference->met = true;
            return true;
        }
    }
    return false;
}
