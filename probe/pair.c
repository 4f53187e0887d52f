/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/pair.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "generator/control.h"
#include "generator/shapes.h"
#include "probe/portmap_steps.h"
#include "probe/slots.h"
#include "probe/throughput.h"
#include "probe/usage_steps.h"

enum {
    SLOTS_MAX = 16, /* instances of one form in a round at most */
    ROTATION = 6,   /* instances of each form in the unit at least */
    CHAIN_INSTANCES = 12,
    FEW = 4,      /* of one form beside many of the other */
    FEW_WIDE = 8, /* of 512 bits: near each other, so that there always is one in flight */
    MANY_LEAST = 24,
    MANY_MAX = 600,
    WAYS = 3,       /* to renew what an instance reads */
    RETRIES = 3,    /* of what noise spoils: each kernel here counts */
    LONGER_MAX = 3, /* times as long a unit, where its instances would wait for each other */
};

/* The many take so much longer than the few. */
#define BESIDE_FACTOR 3
/* How far the many alone may be from keeping their ports busy. */
#define BUSY_TOLERANCE 0.06
/* A unit takes so many times as long as a chain of one instance, at least. */
#define UNIT_FACTOR 1.2
/* So much less time with renewals: what they renew held the instances up. */
#define RENEWED_FACTOR 0.95

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

/* The two forms, and how an instance of each is made independent in a mix. */
struct duo {
    const struct hx_meter *meter;
    struct gen_encoder *encoder;
    struct isa_form *form[2];
    struct gen_independence how[2];
    double chain_cycles[2]; /* how long an instance waits for the one before when both use the same register;
                               0: it overwrites its register, and waits for none */
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

static enum ip_status parts_add(const struct gen_part *parts, unsigned count, struct probe_batch *batch,
                                size_t *slot, struct ip_error *err) {
    struct gen_program program;
    *slot = SIZE_MAX;
    enum ip_status status = gen_mix_program(&program, parts, count, err);
    return status == IP_OK ? probe_batch_add(batch, &program, slot, err) : status;
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
                                               .how = duo->how[i],
                                               .weight = 1 + (unsigned)(counts[i] * duo->chain_cycles[i])};
        }
    }
    enum ip_status status = parts_add(parts, count, batch, slot, err);
    if (status == IP_OK && drawing != NULL) {
        gen_mix_draw(parts, count, drawing, PROBE_PAIR_DRAWING);
    }
    return status;
}

/* `count` instances of form i alone. */
static enum ip_status part_add(const struct duo *duo, unsigned i, unsigned count, struct probe_batch *batch,
                               size_t *slot, struct ip_error *err) {
    unsigned counts[2] = {0};
    counts[i] = count;
    return mix_add(duo, counts, batch, slot, NULL, err);
}

static enum ip_status fillers_add(const struct duo *duo, unsigned count, struct probe_batch *batch,
                                  size_t *slot, struct ip_error *err) {
    const struct gen_part part = {.filler = duo->meter->filler, .count = count};
    return parts_add(&part, 1, batch, slot, err);
}

static enum ip_status batch_run(const struct duo *duo, struct probe_batch *batch, struct ip_error *err) {
    return batch->count > 0 ? probe_batch_measure(batch, duo->meter, duo->encoder, err) : IP_OK;
}

/* -- Each alone --------------------------------------------------------------------------------------- */

/* With one register for all instances the form's own latency shows. */
static enum ip_status chains_measure(struct duo *duo, struct ip_error *err) {
    struct probe_batch batch = {.retries = RETRIES};
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
    status = status == IP_OK ? batch_run(duo, &batch, err) : status;
    for (unsigned i = 0; i < 2 && status == IP_OK; i++) {
        double cycles = probe_mix_cycles(&batch, slots[i]);
        duo->chain_cycles[i] = cycles > 0.0 ? cycles : 0.0;
    }
    probe_batch_fini(&batch);
    return status;
}

static enum ip_status slots_measure(const struct duo *duo, const struct probe_throughput alone[2],
                                    struct probe_pair *pair, struct ip_error *err) {
    struct probe_slots slots[2];
    enum ip_status status = probe_slots_measure(duo->meter, duo->encoder, duo->form, alone, 2, slots, err);
    for (unsigned i = 0; i < 2 && status == IP_OK; i++) {
        pair->sides[i].slots = slots[i].measured ? slots[i].slots : NAN;
    }
    return status;
}

/* What the unit's instances of either form take alone, and what as many NOPs do. */
static enum ip_status parts_measure(const struct duo *duo, struct probe_pair *pair, struct ip_error *err) {
    const unsigned instances = pair->sides[0].count + pair->sides[1].count;
    struct probe_batch batch = {.retries = RETRIES};
    size_t nops, slots[2];
    enum ip_status status = fillers_add(duo, instances, &batch, &nops, err);
    for (unsigned i = 0; i < 2 && status == IP_OK; i++) {
        status = part_add(duo, i, pair->sides[i].count, &batch, &slots[i], err);
    }
    status = status == IP_OK ? batch_run(duo, &batch, err) : status;
    for (unsigned i = 0; i < 2 && status == IP_OK; i++) {
        struct probe_side *side = &pair->sides[i];
        double cycles = probe_mix_cycles(&batch, slots[i]);
        side->part_cycles = fmax(cycles, side->count * side->cycles); /* NaN: as its throughput says */
    }
    if (status == IP_OK) {
        pair->slot_cycles = probe_mix_cycles(&batch, nops) / instances;
    }
    probe_batch_fini(&batch);
    return status;
}

/* Has something else renew what the instances of form i read, in the way that leaves them the fastest. */
static enum ip_status side_renew(struct duo *duo, struct probe_pair *pair, unsigned i, struct ip_error *err) {
    static const struct gen_independence ways[WAYS] = {
        {.break_flags = true}, {.break_registers = true}, {.break_flags = true, .break_registers = true}};
    struct probe_side *side = &pair->sides[i];
    struct probe_batch batch = {.retries = RETRIES};
    size_t slots[WAYS] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    unsigned renewals[WAYS];
    enum ip_status status = IP_OK;
    for (unsigned w = 0; w < WAYS && status == IP_OK; w++) {
        renewals[w] = probe_usage_renewals(duo->form[i], &ways[w]);
        if (renewals[w] > 0) {
            duo->how[i] = ways[w];
            status = part_add(duo, i, side->count, &batch, &slots[w], err);
        }
    }
    duo->how[i] = (struct gen_independence){0};
    status = status == IP_OK ? batch_run(duo, &batch, err) : status;
    for (unsigned w = 0; w < WAYS && status == IP_OK; w++) {
        double cycles = probe_mix_cycles(&batch, slots[w]);
        if (cycles < RENEWED_FACTOR * side->part_cycles) {
            duo->how[i] = ways[w];
            side->part_cycles = fmax(cycles, side->count * side->cycles);
            side->renewals = renewals[w];
        }
    }
    probe_batch_fini(&batch);
    return status;
}

/* -- Interleaved -------------------------------------------------------------------------------------- */

static enum ip_status interleaved_measure(const struct duo *duo, struct probe_pair *pair,
                                          struct ip_error *err) {
    const unsigned counts[2] = {pair->sides[0].count, pair->sides[1].count};
    struct probe_batch batch = {.retries = RETRIES};
    size_t slot;
    enum ip_status status = mix_add(duo, counts, &batch, &slot, pair->drawing, err);
    status = status == IP_OK ? batch_run(duo, &batch, err) : status;
    if (status == IP_OK) {
        const struct hx_stat *stat = &batch.stats[slot];
        if (stat->verdict != HX_VERDICT_OK) {
            pair->verdict = stat->verdict;
            (void)snprintf(pair->why, sizeof pair->why, "%s", stat->why);
        }
        pair->together_cycles = stat->cycles;
        pair->spread = isnan(stat->cycles) ? NAN : stat->spread;
    }
    probe_batch_fini(&batch);
    return status;
}

/* Units so long that no instance waits for the one of the unit before which had its register. */
static void counts_choose(const struct duo *duo, struct probe_pair *pair) {
    struct probe_side *sides = pair->sides;
    probe_pair_counts(sides[0].cycles, sides[1].cycles, &sides[0].count, &sides[1].count);
    unsigned times = 1;
    for (unsigned i = 0; i < 2; i++) {
        double part = sides[i].count * sides[i].cycles;
        while (times < LONGER_MAX && times * part < UNIT_FACTOR * duo->chain_cycles[i]) {
            times++;
        }
    }
    sides[0].count *= times;
    sides[1].count *= times;
}

static enum ip_status together_measure(struct duo *duo, struct probe_pair *pair, struct ip_error *err) {
    counts_choose(duo, pair);
    enum ip_status status = parts_measure(duo, pair, err);
    for (unsigned i = 0; i < 2 && status == IP_OK; i++) {
        if (probe_pair_hides(pair, i)) {
            status = side_renew(duo, pair, i, err);
        }
    }
    return status == IP_OK ? interleaved_measure(duo, pair, err) : status;
}

/* -- A few of one beside many of the other ------------------------------------------------------------ */

/* So many that the ports of the many stay the bottleneck, whatever issue slots the few take. 0: impossible.
 */
static unsigned many_choose(double many_width, const struct probe_side *few, double issue_width) {
    double spare = issue_width - many_width;
    if (!(spare > 0.5)) {
        return 0;
    }
    double slots = FEW * fmax(few->slots, 1.0);
    double most = fmax(1.5 * slots * many_width / spare, BESIDE_FACTOR * FEW * few->cycles * many_width);
    unsigned many = (unsigned)(many_width * ceil(fmax(most, MANY_LEAST) / many_width));
    return many <= MANY_MAX ? many : 0;
}

static enum ip_status beside_measure(const struct duo *duo, struct probe_pair *pair, struct ip_error *err) {
    struct probe_batch batch = {.retries = RETRIES};
    size_t slots[2] = {SIZE_MAX, SIZE_MAX}, bases[2] = {SIZE_MAX, SIZE_MAX};
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < 2 && status == IP_OK; i++) { /* a few of form i beside many of the other */
        struct probe_beside *beside = &pair->sides[i].beside;
        beside->few = FEW;
        beside->many = many_choose(pair->sides[1 - i].width, &pair->sides[i], 1.0 / pair->slot_cycles);
        if (beside->many == 0) {
            continue;
        }
        unsigned counts[2] = {beside->many, beside->many};
        counts[i] = FEW;
        status = mix_add(duo, counts, &batch, &slots[i], beside->drawing, err);
        status = status == IP_OK ? part_add(duo, 1 - i, beside->many, &batch, &bases[i], err) : status;
    }
    status = status == IP_OK ? batch_run(duo, &batch, err) : status;
    for (unsigned i = 0; i < 2 && status == IP_OK; i++) {
        struct probe_beside *beside = &pair->sides[i].beside;
        double width = pair->sides[1 - i].width;
        beside->cycles = probe_mix_cycles(&batch, slots[i]);
        beside->base = probe_mix_cycles(&batch, bases[i]);
        beside->confined = (beside->cycles - beside->base) * width / beside->few;
        /* The many must keep their ports busy, or nothing can be said. */
        double busy = beside->many / width;
        beside->measured = fabs(beside->base - busy) <= BUSY_TOLERANCE * busy && !isnan(beside->cycles);
    }
    probe_batch_fini(&batch);
    return status;
}

/* -- 512 bits and narrower vectors ---------------------------------------------------------------------- */

/* Which of the two has 512 bits, where the other has narrower vectors; -1: it is not so. */
static int wide_of(const struct duo *duo) {
    unsigned worlds[2];
    for (unsigned i = 0; i < 2; i++) {
        struct probe_usage_subject subject;
        probe_usage_subject_init(&subject, duo->form[i]);
        worlds[i] = subject.world;
    }
    bool mixed = (worlds[0] | worlds[1]) == (PROBE_PORTS_VECTOR | PROBE_PORTS_WIDE);
    return !mixed ? -1 : worlds[0] == PROBE_PORTS_WIDE ? 0 : 1;
}

/* A few of 512 bits among so many of the other that these take longer: more than the few take alone they add
 * only where they close a port. */
static enum ip_status wide_measure(const struct duo *duo, struct probe_pair *pair, struct ip_error *err) {
    const int wide = wide_of(duo);
    const struct probe_side *few = &pair->sides[wide == 1], *many = &pair->sides[wide != 1];
    double instances = ceil(BESIDE_FACTOR * FEW_WIDE * few->cycles / many->cycles);
    if (wide < 0 || !(instances <= MANY_MAX)) {
        return IP_OK;
    }
    struct probe_batch batch = {.retries = RETRIES};
    size_t slot = SIZE_MAX, base = SIZE_MAX;
    unsigned counts[2] = {(unsigned)instances, (unsigned)instances};
    counts[wide] = FEW_WIDE;
    enum ip_status status = mix_add(duo, counts, &batch, &slot, NULL, err);
    status =
        status == IP_OK ? part_add(duo, 1 - (unsigned)wide, (unsigned)instances, &batch, &base, err) : status;
    status = status == IP_OK ? batch_run(duo, &batch, err) : status;
    if (status == IP_OK) {
        double more = probe_mix_cycles(&batch, slot) - probe_mix_cycles(&batch, base);
        pair->wide_more = more / (FEW_WIDE * few->cycles);
    }
    probe_batch_fini(&batch);
    return status;
}

/* -- All of it ---------------------------------------------------------------------------------------- */

/* Has it a uop that loads or stores, and perhaps another one in the same slot? All that touches memory but
 * for what only moves it into a register. */
static bool may_be_fused(const struct isa_form *form) {
    int memory = isa_form_memory_operand(form);
    bool moves = strstr(form->mnemonic, "mov") != NULL && !probe_usage_computes(form);
    return memory >= 0 && !moves;
}

static struct probe_pair pair_begin(struct isa_form *const forms[2], const struct probe_throughput alone[2]) {
    struct probe_pair pair = {.together_cycles = NAN,
                              .expected_disjoint_cycles = NAN,
                              .expected_shared_cycles = NAN,
                              .issue_cycles = NAN,
                              .slot_cycles = NAN,
                              .spread = NAN,
                              .wide_more = NAN,
                              .sharing = PROBE_SHARING_UNKNOWN,
                              .verdict = HX_VERDICT_OK};
    for (unsigned i = 0; i < 2; i++) {
        pair.sides[i] = (struct probe_side){
            .cycles = alone[i].cycles, .part_cycles = NAN, .slots = NAN, .fused = may_be_fused(forms[i])};
        if (alone[i].verdict != HX_VERDICT_OK && pair.verdict == HX_VERDICT_OK) {
            pair.verdict = alone[i].verdict;
        }
        if (pair.why[0] == '\0' && (!alone[i].measured || alone[i].verdict != HX_VERDICT_OK)) {
            (void)snprintf(pair.why, sizeof pair.why, "%.40s alone: %.75s", forms[i]->syntax, alone[i].why);
        }
    }
    return pair;
}

/* Both experiments; IP_UNSUPPORTED: the forms cannot share a kernel. */
static enum ip_status pair_experiment(struct duo *duo, const struct probe_throughput alone[2],
                                      struct probe_pair *pair, struct ip_error *err) {
    for (unsigned i = 0; i < 2; i++) {
        if (gen_form_branches_on_flags(duo->form[i]) && duo->form[1 - i]->flags_written != 0) {
            return ip_fail(err, IP_UNSUPPORTED,
                           "'%s' may fuse with '%s', whose flags it would follow: see isaprobe core",
                           duo->form[i]->syntax, duo->form[1 - i]->syntax);
        }
    }
    enum ip_status status = slots_measure(duo, alone, pair, err);
    status = status == IP_OK ? chains_measure(duo, err) : status;
    status = status == IP_OK ? wide_measure(duo, pair, err) : status;
    status = status == IP_OK ? together_measure(duo, pair, err) : status;
    if (status == IP_OK) {
        probe_pair_read(pair);
    }
    if (status == IP_OK && probe_pair_open(pair)) {
        status = beside_measure(duo, pair, err);
        probe_pair_read(pair);
    }
    return status;
}

enum ip_status probe_pair_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                  const struct isa_form *form_a, const struct isa_form *form_b,
                                  struct probe_pair *result, struct ip_error *err) {
    /* The probes read forms only; their array is of mutable ones because the table's are. */
    struct isa_form copies[2] = {*form_a, *form_b};
    struct duo duo = {.meter = meter, .encoder = encoder, .form = {&copies[0], &copies[1]}};
    struct probe_throughput alone[2];
    enum ip_status status = probe_throughput_measure(meter, encoder, duo.form, 2, alone, err);
    if (status != IP_OK) {
        return status;
    }
    struct probe_pair found = pair_begin(duo.form, alone);
    struct ip_error reason;
    if (alone[0].measured && alone[1].measured) {
        status = pair_experiment(&duo, alone, &found, &reason);
    }
    if (status == IP_UNSUPPORTED) {
        (void)snprintf(found.why, sizeof found.why, "%.127s", reason.text);
    } else if (status != IP_OK) {
        *err = reason;
        return status;
    }
    *result = found;
    return IP_OK;
}
