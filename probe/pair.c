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
    CHAIN_INSTANCES = 12,
    FEW = 4, /* of one form beside many of the other */
    MANY_LEAST = 24,
    MANY_MAX = 600,
};

/* A width counts as an integer when it is so near to one. */
#define WIDTH_TOLERANCE 0.05
/* The unit is issue-limited when it takes so little more than its instances take of the issue width. */
#define ISSUE_TOLERANCE 0.03
/* The many take so much longer than the few. */
#define BESIDE_FACTOR 3
/* How far the many alone may be from keeping their ports busy. */
#define BUSY_TOLERANCE 0.06

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

void probe_pair_counts(double a_cycles, double b_cycles, unsigned *a_count, unsigned *b_count) {
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

/* -- Kernels ------------------------------------------------------------------------------------------ */

/* The two forms, and how long an instance waits for the one before when both use the same register. */
struct duo {
    const struct hx_meter *meter;
    struct gen_encoder *encoder;
    const struct isa_form *form[2];
    double chain_cycles[2]; /* 0: an instance overwrites its register, and waits for none */
};

static bool overwrites_what_it_reads(const struct isa_form *form) {
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        if (operand->kind == ISA_OPERAND_REG && operand->read && operand->write) {
            return true;
        }
    }
    return false;
}

/* A mix of both. The registers go to the form whose instances wait for each other longer: few registers would
 * hold it up, whatever its ports. */
static enum ip_status mix_add(const struct duo *duo, const unsigned counts[2], struct probe_batch *batch,
                              size_t *slot, char *drawing, struct ip_error *err) {
    struct gen_part parts[2];
    unsigned count = 0;
    for (unsigned i = 0; i < 2; i++) {
        if (counts[i] > 0) {
            parts[count++] = (struct gen_part){.form = duo->form[i],
                                               .count = counts[i],
                                               .weight = 1 + (unsigned)(counts[i] * duo->chain_cycles[i])};
        }
    }
    struct gen_program program;
    *slot = SIZE_MAX;
    enum ip_status status = gen_mix_program(&program, parts, count, err);
    if (status == IP_OK) {
        if (drawing != NULL) {
            gen_mix_draw(parts, count, drawing, PROBE_PAIR_DRAWING);
        }
        status = probe_batch_add(batch, &program, slot, err);
    }
    return status;
}

static enum ip_status fillers_add(const struct duo *duo, unsigned count, struct probe_batch *batch,
                                  struct ip_error *err) {
    const struct gen_part part = {.filler = duo->meter->filler, .count = count};
    struct gen_program program;
    size_t slot;
    enum ip_status status = gen_mix_program(&program, &part, 1, err);
    return status == IP_OK ? probe_batch_add(batch, &program, &slot, err) : status;
}

/* With one register for all instances the form's own latency shows. */
static enum ip_status chains_measure(struct duo *duo, struct ip_error *err) {
    struct probe_batch batch = {0};
    size_t slots[2] = {SIZE_MAX, SIZE_MAX};
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < 2 && status == IP_OK; i++) {
        struct gen_program program;
        struct ip_error reason;
        const struct gen_independence how = {.registers = 1};
        if (overwrites_what_it_reads(duo->form[i]) &&
            gen_throughput_program(&program, duo->form[i], &how, CHAIN_INSTANCES, &reason) == IP_OK) {
            status = probe_batch_add(&batch, &program, &slots[i], err);
        }
    }
    if (status == IP_OK && batch.count > 0) {
        status = probe_batch_measure(&batch, duo->meter, duo->encoder, err);
    }
    for (unsigned i = 0; i < 2 && status == IP_OK; i++) {
        bool known = slots[i] != SIZE_MAX && batch.stats[slots[i]].verdict == HX_VERDICT_OK;
        duo->chain_cycles[i] = known ? batch.stats[slots[i]].cycles : 0.0;
    }
    probe_batch_fini(&batch);
    return status;
}

/* -- Interleaved -------------------------------------------------------------------------------------- */

/* The interleaving and, beside it, as many long NOPs: what the issue width alone would take. */
static enum ip_status together_measure(const struct duo *duo, struct probe_pair *result,
                                       struct hx_stat stats[2], struct ip_error *err) {
    struct probe_batch batch = {0};
    size_t slot;
    const unsigned counts[2] = {result->a_count, result->b_count};
    enum ip_status status = mix_add(duo, counts, &batch, &slot, result->drawing, err);
    status = status == IP_OK ? fillers_add(duo, result->a_count + result->b_count, &batch, err) : status;
    status = status == IP_OK ? probe_batch_measure(&batch, duo->meter, duo->encoder, err) : status;
    if (status == IP_OK) {
        stats[0] = batch.stats[0];
        stats[1] = batch.stats[1];
    }
    probe_batch_fini(&batch);
    return status;
}

static enum ip_status pair_together(const struct duo *duo, struct probe_pair *result, struct ip_error *err) {
    probe_pair_counts(result->a_cycles, result->b_cycles, &result->a_count, &result->b_count);
    struct hx_stat stats[2];
    struct ip_error reason;
    enum ip_status status = together_measure(duo, result, stats, &reason);
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
    result->issue_cycles = stats[1].verdict == HX_VERDICT_OK ? stats[1].cycles : NAN;
    double a_part = result->a_count * result->a_cycles, b_part = result->b_count * result->b_cycles;
    result->expected_disjoint_cycles = fmax(a_part, b_part);
    result->expected_shared_cycles = a_part + b_part;
    result->issue_limited = result->together_cycles <= result->issue_cycles * (1.0 + ISSUE_TOLERANCE);
    probe_pair_read(result);
    return IP_OK;
}

/* -- A few of one beside many of the other ------------------------------------------------------------ */

/* So many that the ports of the many stay the bottleneck, whatever issue slots the few take. 0: impossible.
 */
static unsigned many_choose(double many_width, double few_cycles, double issue_width) {
    double spare = issue_width - many_width;
    if (!(spare > 0.5)) {
        return 0;
    }
    double most = fmax(1.5 * FEW * many_width / spare, BESIDE_FACTOR * FEW * few_cycles * many_width);
    unsigned many = (unsigned)(many_width * ceil(fmax(most, MANY_LEAST) / many_width));
    return many <= MANY_MAX ? many : 0;
}

static enum ip_status beside_measure(const struct duo *duo, struct probe_pair *pair, struct ip_error *err) {
    struct probe_beside *const besides[2] = {&pair->a_beside_b, &pair->b_beside_a};
    const double widths[2] = {pair->a_width, pair->b_width}, cycles[2] = {pair->a_cycles, pair->b_cycles};
    double issue_width = (pair->a_count + pair->b_count) / pair->issue_cycles;
    struct probe_batch batch = {0};
    size_t slots[2] = {SIZE_MAX, SIZE_MAX}, bases[2] = {SIZE_MAX, SIZE_MAX};
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < 2 && status == IP_OK; i++) {
        struct probe_beside *beside = besides[i]; /* a few of form i beside many of the other */
        beside->few = FEW;
        beside->many = many_choose(widths[1 - i], cycles[i], issue_width);
        if (beside->many == 0) {
            continue;
        }
        unsigned counts[2] = {beside->many, beside->many};
        counts[i] = FEW;
        status = mix_add(duo, counts, &batch, &slots[i], beside->drawing, err);
        counts[i] = 0;
        status = status == IP_OK ? mix_add(duo, counts, &batch, &bases[i], NULL, err) : status;
    }
    if (status == IP_OK && batch.count > 0) {
        status = probe_batch_measure(&batch, duo->meter, duo->encoder, err);
    }
    for (unsigned i = 0; i < 2 && status == IP_OK && batch.count > 0; i++) {
        struct probe_beside *beside = besides[i];
        if (slots[i] == SIZE_MAX || batch.stats[slots[i]].verdict != HX_VERDICT_OK ||
            batch.stats[bases[i]].verdict != HX_VERDICT_OK) {
            continue;
        }
        beside->cycles = batch.stats[slots[i]].cycles;
        beside->base = batch.stats[bases[i]].cycles;
        beside->confined = (beside->cycles - beside->base) * widths[1 - i] / beside->few;
        /* The many must keep their ports busy, or nothing can be said. */
        double busy = beside->many / widths[1 - i];
        beside->measured = fabs(beside->base - busy) <= BUSY_TOLERANCE * busy;
    }
    probe_batch_fini(&batch);
    return status;
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
                               .issue_cycles = NAN,
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
        struct duo duo = {.meter = meter, .encoder = encoder, .form = {form_a, form_b}};
        found.a_width = width_of(found.a_cycles);
        found.b_width = width_of(found.b_cycles);
        status = chains_measure(&duo, err);
        status = status == IP_OK ? pair_together(&duo, &found, err) : status;
        if (status == IP_OK && probe_pair_open(&found)) {
            status = beside_measure(&duo, &found, err);
            probe_pair_read(&found);
        }
    }
    if (status == IP_OK) {
        *result = found;
    }
    return status;
}
