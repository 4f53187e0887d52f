/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/pair.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "generator/shapes.h"
#include "probe/batch.h"
#include "probe/throughput.h"

enum {
    WIDTH_MAX = 12, /* ports that a form is taken to use at most */
    SLOTS_MAX = 16, /* instances of one form in a round at most */
    ROTATION = 6,   /* instances of each form in the unit at least */
};

/* A width or a union counts as an integer when it is so near to one. */
#define WIDTH_TOLERANCE 0.05
#define UNION_TOLERANCE 0.15
/* The unit is issue-limited when it takes so little more than its instances take of the issue width. */
#define ISSUE_TOLERANCE 0.03

/* 1/throughput where that is an integer within 5 %, else 0: the number of ports of a one-slot form. */
static double width_of(double cycles) {
    if (!(cycles > 0.0)) {
        return 0.0;
    }
    double width = 1.0 / cycles, nearest = round(width);
    return nearest >= 1.0 && nearest <= WIDTH_MAX && fabs(width - nearest) <= WIDTH_TOLERANCE * nearest
               ? nearest
               : 0.0;
}

/* Instances in proportion to the rates, so that both alone would take about as long: then sharing shows most.
 * `a` gets x and `b` gets y with x*a_cycles ~ y*b_cycles. */
static void counts_choose(double a_cycles, double b_cycles, unsigned *a_count, unsigned *b_count) {
    double best = INFINITY;
    *a_count = *b_count = 1;
    for (unsigned a = 1; a <= SLOTS_MAX; a++) {
        for (unsigned b = 1; b <= SLOTS_MAX; b++) {
            double left = a * a_cycles, right = b * b_cycles;
            double imbalance = fabs(left - right) / fmax(left, right);
            if (imbalance < best - 0.01) {
                best = imbalance;
                *a_count = a;
                *b_count = b;
            }
        }
    }
    /* Several of each: destinations rotate within the unit, and a form that reads its destination must not
     * wait for itself. */
    unsigned least = *a_count < *b_count ? *a_count : *b_count;
    unsigned times = (ROTATION + least - 1) / least;
    *a_count *= times;
    *b_count *= times;
}

static void pair_interpret_ports(struct probe_pair *result) {
    /* Both take the same port time, so a round of (a_width of a + b_width of b) takes (a + b)/|A u B|. */
    double a_work = result->a_count, b_work = result->b_count; /* µops of one-slot forms */
    double shared = (a_work + b_work) / result->together_cycles, nearest = round(shared);
    double least = fmax(result->a_width, result->b_width), most = result->a_width + result->b_width;
    if (fabs(shared - nearest) > UNION_TOLERANCE) {
        snprintf(result->why, sizeof result->why, "%.2f ports in all is not near an integer", shared);
        return;
    }
    if (nearest < least - 0.5 || nearest > most + 0.5) {
        snprintf(result->why, sizeof result->why, "%.2f ports in all do not fit widths of %.0f and %.0f",
                 shared, result->a_width, result->b_width);
        return;
    }
    result->union_width = nearest;
    result->shared_width = most - nearest;
    if (result->shared_width < 0.5) {
        result->sharing = PROBE_SHARING_NONE;
    } else if (result->shared_width > fmin(result->a_width, result->b_width) - 0.5) {
        result->sharing = PROBE_SHARING_ALL;
    } else {
        result->sharing = PROBE_SHARING_SOME;
    }
}

/* Without widths only the extremes can be told: the times add up, or they do not meet at all. */
static void pair_interpret_times(struct probe_pair *result) {
    double low = result->expected_disjoint_cycles, high = result->expected_shared_cycles;
    double position = high > low ? (result->together_cycles - low) / (high - low) : 0.0;
    if (position < 0.1) {
        result->sharing = PROBE_SHARING_NONE;
    } else if (position > 0.9) {
        result->sharing = PROBE_SHARING_ALL;
    } else {
        result->sharing = PROBE_SHARING_SOME;
    }
}

/* The interleaving and, beside it, as many long NOPs: what the issue width alone would take. */
static enum ip_status together_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                       const struct isa_form *form_a, const struct isa_form *form_b,
                                       const struct probe_pair *result, struct hx_stat stats[2],
                                       struct ip_error *err) {
    struct probe_batch batch = {0};
    struct gen_program pair, nops;
    size_t slot;
    gen_program_init(&pair);
    enum ip_status status = gen_pair_program(&pair, form_a, result->a_count, form_b, result->b_count, err);
    if (status != IP_OK) {
        gen_program_fini(&pair);
        return status;
    }
    status = probe_batch_add(&batch, &pair, &slot, err);
    if (status == IP_OK) {
        gen_program_init(&nops);
        snprintf(nops.title, sizeof nops.title, "%u long NOPs", result->a_count + result->b_count);
        for (unsigned i = 0; i < result->a_count + result->b_count; i++) {
            ip_lines_add(&nops.unit, "nop dword [rax+rax+0]");
        }
        nops.forms_per_unit = 1;
        bool failed = nops.unit.failed;
        status = probe_batch_add(&batch, &nops, &slot, err);
        if (status == IP_OK && failed) {
            status = ip_fail(err, IP_NO_MEMORY, "no memory for a kernel of NOPs");
        }
    }
    if (status == IP_OK) {
        status = probe_batch_measure(&batch, meter, encoder, err);
    }
    if (status == IP_OK) {
        stats[0] = batch.stats[0];
        stats[1] = batch.stats[1];
    }
    probe_batch_fini(&batch);
    return status;
}

static enum ip_status pair_together(const struct hx_meter *meter, struct gen_encoder *encoder,
                                    const struct isa_form *form_a, const struct isa_form *form_b,
                                    struct probe_pair *result, struct ip_error *err) {
    counts_choose(result->a_cycles, result->b_cycles, &result->a_count, &result->b_count);
    struct hx_stat stats[2];
    struct ip_error reason;
    enum ip_status status = together_measure(meter, encoder, form_a, form_b, result, stats, &reason);
    if (status == IP_UNSUPPORTED) {
        snprintf(result->why, sizeof result->why, "%.127s", reason.text);
        return IP_OK;
    }
    if (status != IP_OK) {
        *err = reason;
        return status;
    }
    if (stats[0].verdict != HX_VERDICT_OK) {
        result->verdict = stats[0].verdict;
        snprintf(result->why, sizeof result->why, "%s", stats[0].why);
        if (isnan(stats[0].cycles)) {
            return IP_OK;
        }
    }
    result->together_cycles = stats[0].cycles;
    result->spread = stats[0].spread;
    double a_part = result->a_count * result->a_cycles, b_part = result->b_count * result->b_cycles;
    result->expected_disjoint_cycles = fmax(a_part, b_part);
    result->expected_shared_cycles = a_part + b_part;
    result->issue_limited = stats[1].verdict == HX_VERDICT_OK &&
                            result->together_cycles <= stats[1].cycles * (1.0 + ISSUE_TOLERANCE);
    if (result->verdict != HX_VERDICT_OK) {
        return IP_OK;
    }
    if (result->a_width > 0.0 && result->b_width > 0.0) {
        pair_interpret_ports(result);
    } else {
        pair_interpret_times(result);
    }
    return IP_OK;
}

enum ip_status probe_pair_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                  const struct isa_form *form_a, const struct isa_form *form_b,
                                  struct probe_pair *result, struct ip_error *err) {
    /* The probes read forms only; their array is of mutable ones because the table's are. */
    struct isa_form copies[2] = {*form_a, *form_b};
    struct isa_form *forms[2] = {&copies[0], &copies[1]};
    struct probe_throughput alone[2];
    enum ip_status status = probe_throughput_measure(meter, encoder, forms, 2, alone, err);
    if (status != IP_OK) {
        return status;
    }
    struct probe_pair found = {.a_cycles = alone[0].cycles,
                               .b_cycles = alone[1].cycles,
                               .together_cycles = NAN,
                               .expected_disjoint_cycles = NAN,
                               .expected_shared_cycles = NAN,
                               .spread = NAN,
                               .sharing = PROBE_SHARING_UNKNOWN,
                               .verdict = HX_VERDICT_OK};
    for (unsigned i = 0; i < 2; i++) {
        if (alone[i].verdict != HX_VERDICT_OK && found.verdict == HX_VERDICT_OK) {
            found.verdict = alone[i].verdict;
        }
        if (found.why[0] == '\0' && (!alone[i].measured || alone[i].verdict != HX_VERDICT_OK)) {
            snprintf(found.why, sizeof found.why, "%.40s alone: %.75s", copies[i].syntax, alone[i].why);
        }
    }
    if (alone[0].measured && alone[1].measured) {
        found.a_width = width_of(found.a_cycles);
        found.b_width = width_of(found.b_cycles);
        status = pair_together(meter, encoder, form_a, form_b, &found, err);
    }
    if (status == IP_OK) {
        *result = found;
    }
    return status;
}
