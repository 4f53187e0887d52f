/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/slots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/control.h"
#include "generator/shapes.h"
#include "probe/batch.h"
#include "probe/slots_held.h"

enum {
    NOPS_LEAST = 48, /* small loops: a longer one may come from the decoders, which are slower */
    NOPS_SMALL = 144,
    NOPS_MOST = 480,
    LOOP_END = 1, /* slot: a subtraction that fuses with its jump */
    MIXES = 2,    /* of a form, the second with a step more NOPs */
    BASES = 2 * NOPS_MOST,
    /* Of NOPs alone, and of fine mixes; their median counts: how they run depends on their place, by 2 %. */
    KERNELS = 3,
    MANY = 8,        /* instances among the NOPs; fewer where that would take more than NOPS_SMALL */
    MANY_MMX = 4,    /* with 12 they cost 1.8 slots and not 1 */
    MANY_ENOUGH = 4, /* with fewer a hundredth of the time is a good part of a slot */
    SPARSE = 2,      /* instances, each among so many NOPs that the front end can run ahead again: */
    NOPS_SPARSE = 288,
    SPARSE_ATTEMPTS = 2,
    GLANCES = 2,
    ATTEMPTS = 3,
    SEEN_MOST = MIXES * (GLANCES + ATTEMPTS),
    REFUSALS = 2,       /* undisturbed attempts that no slots came out of: a third never had any */
    WIDTH_MOST = 32,    /* slots in a cycle: more were none */
    WIDTH_RETRIES = 12, /* no form has slots without the issue width */
    WIDTH_SECONDS = 3,
};

/* The NOPs take this many times as long as the instances alone would, and some cycles more: what an instance
 * waits for must be over before the NOPs are. */
static const double SPARE = 1.5;
static const double SPARE_CYCLES = 6.0;
/* How far the two mixes may be from each other, in slots for each instance. */
static const double SAME_SLOTS = 0.5;
static const double SAME_SLOTS_OF_ALL = 1.5; /* of all instances together */
/* Of several mixes that disagree, two say the same if they are as near to each other. */
static const double SAME_LEAST = 0.25;
/* So many more than the form has time for alone may be noise. */
static const double MOST_MORE = 1.0;
/* At a glance their mean is as near to a whole number. */
static const double CLEAR_SLOTS = 0.3;
/* So near to an integer the issue width is one. */
static const double WIDTH_TOLERANCE = 0.2;

/* Forms of more slots may be microcode, which holds up the front end: among more NOPs it does not show. */
static const double SLOTS_DECODED = 4.5;

/* So many NOPs alone must come from the µop cache: from the decoders they take 6 % longer, now in one kernel
 * and now in another, which is more than a form's slots. */
static const double SPARSE_BASE = 1.03;

/* What one mix said. */
struct reading {
    unsigned nops;
    double slots;
};

/* The mixes of one form: `count` instances among `nops` NOPs, and more. */
struct mixes {
    bool wanted, fine;
    unsigned nops, count;
    struct reading seen[SEEN_MOST]; /* of mixes that disagreed, the least first; each of its own NOPs */
    unsigned seen_count;
    unsigned refusals;
    double most; /* slots that an instance can have: all that there are while one takes its time alone */
    size_t slots[MIXES]; /* in the batch, the first kernel of each; SIZE_MAX: none */
    double others;       /* instructions that are neither NOP nor form, in one mix */
};

struct session {
    struct probe_batch batch;
    struct mixes *mixes;
    size_t bases[2][BASES]; /* kernels of i NOPs and the loop's end alone, the second ones fine: the first of
                               each; SIZE_MAX: none */
    double width;
    const char *filler; /* of the meter */
    bool glance;        /* one batch of each mix, before the attempts */
    bool sparse;        /* few instances, behind the attempts */
};

static void slots_none(struct probe_slots *result, const char *why) {
    memset(result, 0, sizeof *result);
    result->slots = result->spread = NAN;
    (void)snprintf(result->why, sizeof result->why, "%.127s", why);
}

/* One kernel of a mix, as one loop that runs once and twice: the loop stays small, and what its end takes is
 * the same in every mix. *slot stays SIZE_MAX where the form cannot stand in one; the result then says why.
 */
static enum ip_status kernel_add(struct session *session, const struct isa_form *form,
                                 const struct mixes *mixes, unsigned nops, size_t *slot, double *others,
                                 struct probe_slots *result, struct ip_error *err) {
    unsigned count = form != NULL ? mixes->count : 0;
    const struct gen_part parts[2] = {
        {.form = form, .count = count, .not_taken = form != NULL && gen_form_branches(form)},
        {.filler = session->filler, .count = nops - LOOP_END}};
    struct gen_program program;
    struct ip_error reason;
    gen_program_init(&program);
    *slot = SIZE_MAX;
    const unsigned alone = form == NULL; /* the NOPs */
    enum ip_status status = gen_mix_program(&program, parts + alone, 2 - alone, &reason);
    if (status == IP_OK) {
        program.copies = 1;
        program.one_loop = true;
        program.fine = mixes->fine;
        program.once = session->glance && form != NULL; /* many hang on NOPs alone */
        *others = (double)program.unit.count - (nops - LOOP_END) - count;
        return probe_batch_add(&session->batch, &program, slot, err);
    }
    gen_program_fini(&program);
    if (status == IP_NO_MEMORY) {
        *err = reason;
        return status;
    }
    if (result != NULL) {
        slots_none(result, reason.text);
    }
    return IP_OK;
}

/* How many kernels stand for one mix. */
static unsigned kernels_of(const struct mixes *mixes, const struct isa_form *form) {
    return form == NULL || mixes->fine ? KERNELS : 1;
}

/* As kernel_add, all kernels of the mix. */
static enum ip_status mix_add(struct session *session, const struct isa_form *form, const struct mixes *mixes,
                              unsigned nops, size_t *first, double *others, struct probe_slots *result,
                              struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (unsigned k = 0; k < kernels_of(mixes, form) && status == IP_OK; k++) {
        size_t slot = SIZE_MAX;
        status = kernel_add(session, form, mixes, nops, &slot, others, result, err);
        *first = k == 0 ? slot : *first;
    }
    return status;
}

/* NOPs, the loop's end among them, come in whole cycles between two instances: so each finds a cycle's slots
 * as the one before it has left them. */
static unsigned step_of(const struct session *session, unsigned count) {
    return count * (unsigned)fmin(fmax(round(session->width), 1), WIDTH_MOST);
}

/* NOPs of the m-th mix. */
static unsigned mix_nops(const struct session *session, const struct mixes *mixes, unsigned m) {
    return mixes->nops + m * step_of(session, mixes->count);
}

/* So many NOPs, or as many more as make whole cycles. */
static double whole_steps(const struct session *session, double nops, unsigned count) {
    double step = step_of(session, count);
    return ceil(nops / step) * step;
}

/* How many NOPs hide `count` instances. */
static double nops_for(const struct session *session, double cycles, unsigned count) {
    double nops = fmax(session->width * (SPARE_CYCLES + SPARE * count * cycles), NOPS_LEAST);
    return whole_steps(session, nops, count);
}

/* Slots of an instance that belong to the whole cycles, too: on a Zen 4 what has to do with the registers
 * that MMX and x87 share costs half a slot more, or one and a half, unless it is the same of each cycle. With
 * it stands what keeps the x87 stack balanced. */
static unsigned slots_within(const struct isa_form *form) {
    bool shared = strncmp(form->extension, "X87", 3) == 0 || strcmp(form->mnemonic, "emms") == 0;
    for (unsigned i = 0; i < form->operand_count; i++) {
        enum isa_reg_class of = form->operands[i].reg_class;
        bool is_register = form->operands[i].kind == ISA_OPERAND_REG;
        shared = shared || (is_register && (of == ISA_REG_MMX || of == ISA_REG_X87));
    }
    return shared ? 1 + (unsigned)abs(form->x87_pushes) : 0;
}

/* false: the form takes too long. */
static bool form_mixes_size(const struct session *session, const struct isa_form *form, struct mixes *mixes,
                            double cycles) {
    const unsigned mmx_bits = 64;
    if (mixes->nops != 0) { /* another attempt */
        unsigned step = step_of(session, mixes->count);
        mixes->nops += step * (1 + mixes->nops / step / 2);
        mixes->fine = true;
        return mixes->nops <= NOPS_MOST;
    }
    unsigned count = session->sparse ? SPARSE : isa_form_vector_bits(form) == mmx_bits ? MANY_MMX : MANY;
    const unsigned room = session->sparse ? NOPS_SPARSE : NOPS_SMALL;
    while (count > 1 && nops_for(session, cycles, count) > room) {
        count /= 2;
    }
    double nops = nops_for(session, cycles, count);
    nops = session->sparse ? fmax(nops, whole_steps(session, NOPS_SPARSE, count)) : nops;
    nops += session->glance ? mixes->seen_count * step_of(session, count) : 0; /* others than disagreed */
    if (!(nops <= NOPS_MOST)) {
        return false;
    }
    unsigned within = count * slots_within(form);
    mixes->nops = (unsigned)nops - (within < NOPS_LEAST ? within : 0);
    mixes->count = count;
    mixes->fine = count < MANY_ENOUGH && !(session->sparse && session->glance);
    return true;
}

/* What an instance of a run of the form alone takes. Where only runs with broken dependences or fewer
 * registers were undisturbed, those: too few NOPs are found out by the second mix. */
static double cycles_alone(const struct probe_throughput *throughput) {
    return isfinite(throughput->plain_cycles) || !throughput->measured ? throughput->plain_cycles
                                                                       : throughput->cycles;
}

static enum ip_status form_mixes_add(struct session *session, size_t i, const struct isa_form *form,
                                     const struct probe_throughput *throughput, struct probe_slots *result,
                                     struct ip_error *err) {
    struct mixes *mixes = &session->mixes[i];
    mixes->wanted = false;
    if (isnan(session->width)) {
        slots_none(result, "the issue width cannot be measured");
        result->verdict = HX_VERDICT_DISTURBED;
        return IP_OK;
    }
    bool again = mixes->nops != 0;
    mixes->most = session->width * cycles_alone(throughput) + MOST_MORE;
    if (!form_mixes_size(session, form, mixes, cycles_alone(throughput))) {
        if (!again) {
            slots_none(result, "takes too long to hide behind NOPs");
        }
        return IP_OK;
    }
    if (session->glance && mixes->fine) { /* too little of the time is the form's */
        mixes->wanted = true;
        mixes->slots[0] = SIZE_MAX;
        return IP_OK;
    }
    enum ip_status status = IP_OK;
    for (unsigned m = 0; m < MIXES && status == IP_OK; m++) {
        unsigned nops = mix_nops(session, mixes, m);
        size_t *base = &session->bases[mixes->fine][nops];
        double none = 0.0;
        if (*base == SIZE_MAX) {
            status = mix_add(session, NULL, mixes, nops, base, &none, NULL, err);
        }
        if (status == IP_OK) {
            status = mix_add(session, form, mixes, nops, &mixes->slots[m], &mixes->others, result, err);
        }
        if (mixes->slots[m] == SIZE_MAX) {
            return status;
        }
    }
    mixes->wanted = true;
    return status;
}

static bool stat_ok(const struct hx_stat *stat) {
    return stat->verdict == HX_VERDICT_OK;
}

/* The median of what the kernels of a mix say, of those that can be trusted, if any. */
static const struct hx_stat *kernels_median(const struct hx_stat *first, unsigned kernels) {
    const struct hx_stat *sorted[KERNELS];
    unsigned count = 0;
    for (unsigned k = 0; k < kernels; k++) {
        unsigned at = count;
        if (!stat_ok(&first[k])) {
            continue;
        }
        for (count++; at > 0 && sorted[at - 1]->cycles > first[k].cycles; at--) {
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = &first[k];
    }
    return count > 0 ? sorted[(count - 1) / 2] : first;
}

/* What one mix says; the result keeps the statistic that speaks against it, if one does. */
static double mix_read(const struct session *session, const struct isa_form *form, const struct mixes *mixes,
                       unsigned m, struct probe_slots *result) {
    const struct hx_stat *stats = session->batch.stats;
    size_t first = session->bases[mixes->fine][mix_nops(session, mixes, m)];
    const struct hx_stat *base = kernels_median(&stats[first], kernels_of(mixes, NULL));
    const struct hx_stat *stat = kernels_median(&stats[mixes->slots[m]], kernels_of(mixes, form));
    if (session->sparse && stat_ok(base) &&
        base->cycles * session->width > SPARSE_BASE * mix_nops(session, mixes, m)) {
        return NAN;
    }
    const struct hx_stat *worse = !stat_ok(stat) || stat_ok(base) ? stat : base;
    if (result->verdict == HX_VERDICT_OK) {
        result->stat = *worse;
        result->verdict = worse->verdict;
        (void)snprintf(result->why, sizeof result->why, "%s", stat_ok(worse) ? "" : worse->why);
    }
    double uncertain = (base->spread * base->cycles + stat->spread * stat->cycles) * session->width;
    result->spread = fmax(result->spread, uncertain / mixes->count);
    return ((stat->cycles - base->cycles) * session->width - mixes->others) / mixes->count;
}

/* A reading takes the place of one of as many NOPs. */
static void seen_add(struct mixes *mixes, unsigned nops, double slots) {
    unsigned at, count = 0;
    for (unsigned i = 0; i < mixes->seen_count; i++) {
        if (mixes->seen[i].nops != nops) {
            mixes->seen[count++] = mixes->seen[i];
        }
    }
    for (at = count; at > 0 && mixes->seen[at - 1].slots > slots; at--) {
        mixes->seen[at] = mixes->seen[at - 1];
    }
    mixes->seen[at] = (struct reading){.nops = nops, .slots = slots};
    mixes->seen_count = count + 1;
}

/* Whatever else holds a mix up only adds to it: two uops that must issue in one cycle wait for the next where
 * the NOPs before them leave one slot of it. So of mixes that disagree the least counts, if the one above it
 * says the same. */
static bool least_agree(const struct mixes *mixes, double *one, double *other) {
    if (mixes->seen_count < 3 || mixes->seen[1].slots - mixes->seen[0].slots > SAME_LEAST) {
        return false;
    }
    *one = mixes->seen[0].slots;
    *other = mixes->seen[1].slots;
    return true;
}

/* Reads the mixes of one form. Returns false where another attempt may do better: something else than the
 * issue decided, so that the mixes disagree, or it was noise. */
static bool form_read(const struct session *session, const struct isa_form *form, struct mixes *mixes,
                      struct probe_slots *result) {
    slots_none(result, "");
    double one = mix_read(session, form, mixes, 0, result);
    double other = mix_read(session, form, mixes, 1, result);
    if (isnan(one) || isnan(other)) {
        result->spread = NAN;
        return result->verdict == HX_VERDICT_FAULT;
    }
    bool agree = fabs(one - other) <= fmax(SAME_SLOTS, SAME_SLOTS_OF_ALL / mixes->count);
    if (!agree && result->verdict == HX_VERDICT_OK) {
        seen_add(mixes, mix_nops(session, mixes, 0), one);
        seen_add(mixes, mix_nops(session, mixes, 1), other);
        if (!least_agree(mixes, &one, &other)) {
            struct hx_stat stat = result->stat;
            slots_none(result, "something else than the issue limits it among NOPs");
            result->stat = stat;
            return false;
        }
    }
    double mean = (one + other) / 2.0;
    if (mean > mixes->most) {
        if (result->verdict == HX_VERDICT_OK) { /* else noise made it so, and is to be told */
            slots_none(result, "it takes longer among NOPs than alone");
        }
        return false;
    }
    result->measured = true;
    result->slots = mean > 0.0 ? mean : 0.0;
    result->spread = fmax(result->spread, fabs(one - other)) / fmax(result->slots, 1.0);
    return result->verdict == HX_VERDICT_OK && (!session->glance || fabs(mean - round(mean)) <= CLEAR_SLOTS);
}

static enum ip_status width_measure(struct session *session, const struct hx_meter *meter,
                                    struct gen_encoder *encoder, struct ip_error *err) {
    struct gen_program program;
    const struct gen_part part = {.filler = session->filler, .count = NOPS_LEAST};
    gen_program_init(&program);
    size_t slot = 0;
    enum ip_status status = gen_mix_program(&program, &part, 1, err);
    if (status == IP_OK) {
        program.copies = 1;
        status = probe_batch_add(&session->batch, &program, &slot, err);
    }
    if (status == IP_OK) {
        session->batch.retries = WIDTH_RETRIES;
        session->batch.retry_seconds = WIDTH_SECONDS;
        status = probe_batch_measure(&session->batch, meter, encoder, err);
    }
    if (status == IP_OK) {
        const struct hx_stat *stat = &session->batch.stats[slot];
        session->width = stat_ok(stat) ? NOPS_LEAST / stat->cycles : NAN; /* all that follows hangs on it */
        if (fabs(session->width - round(session->width)) <= WIDTH_TOLERANCE) {
            session->width = round(session->width); /* the rest is noise */
        }
    }
    probe_batch_fini(&session->batch);
    return status;
}

/* Measures what is wanted, and leaves wanted what another attempt may settle. */
static enum ip_status attempt_run(struct session *session, const struct hx_meter *meter,
                                  struct gen_encoder *encoder, struct isa_form *const *forms,
                                  const struct probe_throughput *throughputs, size_t count,
                                  struct probe_slots *results, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < BASES; i++) {
        session->bases[0][i] = session->bases[1][i] = SIZE_MAX;
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (session->mixes[i].wanted) {
            status = form_mixes_add(session, i, forms[i], &throughputs[i], &results[i], err);
        }
    }
    if (status == IP_OK) {
        status = probe_batch_measure(&session->batch, meter, encoder, err);
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (session->mixes[i].wanted && session->mixes[i].slots[0] != SIZE_MAX) {
            struct mixes *mixes = &session->mixes[i];
            bool read = form_read(session, forms[i], mixes, &results[i]);
            mixes->refusals +=
                !session->glance && !results[i].measured && results[i].verdict == HX_VERDICT_OK;
            mixes->wanted = !read && mixes->refusals < REFUSALS;
        }
    }
    probe_batch_fini(&session->batch);
    return status;
}

/* One batch of each mix settles most forms. The others begin anew. */
static enum ip_status glance_run(struct session *session, const struct hx_meter *meter,
                                 struct gen_encoder *encoder, struct isa_form *const *forms,
                                 const struct probe_throughput *throughputs, size_t count,
                                 struct probe_slots *results, struct ip_error *err) {
    session->glance = true;
    enum ip_status status = attempt_run(session, meter, encoder, forms, throughputs, count, results, err);
    session->glance = false;
    for (size_t i = 0; i < count; i++) {
        session->mixes[i].nops = 0;
    }
    return status;
}

/* Is it worth looking at fewer instances? */
static bool sparse_wanted(const struct probe_slots *found) {
    return found->verdict == HX_VERDICT_OK &&
           (found->measured ? found->slots > SLOTS_DECODED : found->stat.batches > 0);
}

/* Less is nearer to the truth, for all obstacles only add. */
static bool sparse_is_better(const struct probe_slots *sparse, const struct probe_slots *found) {
    return sparse->measured && (!found->measured || sparse->slots < found->slots - SAME_SLOTS);
}

/* Does a glance leave it at what was found? Less is much for a glance to say, and where it could not be read
 * it tells nothing of a number. */
static bool sparse_settles(const struct probe_slots *sparse, const struct probe_slots *found) {
    bool settled = sparse->measured ? !sparse_is_better(sparse, found) : !found->measured;
    return settled && sparse->verdict == HX_VERDICT_OK;
}

/* Do mixes of few instances disagree, and each says less than what was found? */
static bool sparse_denies(const struct mixes *mixes, const struct probe_slots *found) {
    return found->measured && mixes->seen_count > 0 &&
           mixes->seen[mixes->seen_count - 1].slots < found->slots - SAME_SLOTS_OF_ALL / SPARSE;
}

/* A look that noise spoiled confirms what it does not undercut. Else nobody knows how much less it would have
 * been, or whether there is a number after all. */
static bool sparse_is_spoilt(const struct probe_slots *sparse, const struct probe_slots *found) {
    bool doubtful = sparse->verdict == HX_VERDICT_UNSTABLE || sparse->verdict == HX_VERDICT_DISTURBED;
    return doubtful && (!sparse->measured || sparse_is_better(sparse, found));
}

/* Of two looks at a form, among some NOPs and among more. */
static void sparse_take(const struct mixes *mixes, const struct probe_slots *sparse,
                        struct probe_slots *found) {
    if (sparse_is_spoilt(sparse, found)) {
        found->verdict = sparse->verdict;
        (void)snprintf(found->why, sizeof found->why, "%.80s, among more NOPs", sparse->why);
    }
    if (sparse->verdict != HX_VERDICT_OK) {
        return;
    }
    if (sparse_is_better(sparse, found)) {
        *found = *sparse;
    } else if (!sparse->measured && sparse_denies(mixes, found)) {
        found->verdict = HX_VERDICT_UNSTABLE;
        (void)snprintf(found->why, sizeof found->why, "fewer among more NOPs, where no two readings agree");
    }
}

/* The front end is faster than the issue, and what it has ahead hides where it is held up, if there is time
 * between two instances to run ahead again. */
static enum ip_status sparse_run(struct session *session, const struct hx_meter *meter,
                                 struct gen_encoder *encoder, struct isa_form *const *forms,
                                 const struct probe_throughput *throughputs, size_t count,
                                 struct probe_slots *found, struct ip_error *err) {
    struct probe_slots *sparse = calloc(count + 1, sizeof *sparse);
    if (sparse == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu forms: measure fewer", count);
    }
    for (size_t i = 0; i < count; i++) {
        session->mixes[i] = (struct mixes){.wanted = sparse_wanted(&found[i])};
    }
    session->sparse = true;
    enum ip_status status = glance_run(session, meter, encoder, forms, throughputs, count, sparse, err);
    for (size_t i = 0; i < count; i++) {
        session->mixes[i].wanted = sparse_wanted(&found[i]) && !sparse_settles(&sparse[i], &found[i]);
    }
    for (unsigned attempt = 0; attempt < SPARSE_ATTEMPTS && status == IP_OK; attempt++) {
        status = attempt_run(session, meter, encoder, forms, throughputs, count, sparse, err);
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        sparse_take(&session->mixes[i], &sparse[i], &found[i]);
    }
    free(sparse);
    return status;
}

/* Where the time is that for which the instances hold retirement, there are no slots. */
static enum ip_status held_run(const struct session *session, const struct hx_meter *meter,
                               struct gen_encoder *encoder, struct isa_form *const *forms,
                               const struct probe_throughput *throughputs, size_t count,
                               struct probe_slots *found, struct ip_error *err) {
    struct probe_slots_held *held = calloc(count + 1, sizeof *held);
    if (held == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu forms: measure fewer", count);
    }
    for (size_t i = 0; i < count; i++) {
        double cycles = cycles_alone(&throughputs[i]);
        held[i] =
            (struct probe_slots_held){.form = forms[i],
                                      .cycles = cycles,
                                      .nops = found[i].measured ? (unsigned)nops_for(session, cycles, 1) : 0,
                                      .result = &found[i]};
    }
    enum ip_status status = probe_slots_held_find(meter, encoder, session->width, held, count, err);
    free(held);
    return status;
}

enum ip_status probe_slots_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                   struct isa_form *const *forms, const struct probe_throughput *throughputs,
                                   size_t count, struct probe_slots *results, struct ip_error *err) {
    struct session session = {.mixes = calloc(count + 1, sizeof *session.mixes), .filler = meter->filler};
    struct probe_slots *found = calloc(count + 1, sizeof *found);
    enum ip_status status = IP_OK;
    if (session.mixes == NULL || found == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "no memory for %zu forms: measure fewer", count);
    }
    bool any = false;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (forms[i]->obstacle != ISA_OBSTACLE_NONE) {
            slots_none(&found[i], forms[i]->note);
        } else if (gen_form_is_always_taken(forms[i])) {
            slots_none(&found[i], "a branch that is taken also ends the groups of NOPs");
        } else {
            slots_none(&found[i], throughputs[i].why);
            found[i].verdict = throughputs[i].verdict;
            session.mixes[i].wanted = isfinite(cycles_alone(&throughputs[i]));
            any = any || session.mixes[i].wanted;
        }
    }
    if (status == IP_OK && any) {
        status = width_measure(&session, meter, encoder, err);
    }
    for (unsigned glance = 0; glance < GLANCES && status == IP_OK && any; glance++) {
        status = glance_run(&session, meter, encoder, forms, throughputs, count, found, err);
    }
    for (unsigned attempt = 0; attempt < ATTEMPTS && status == IP_OK && any; attempt++) {
        status = attempt_run(&session, meter, encoder, forms, throughputs, count, found, err);
    }
    if (status == IP_OK && any) {
        status = sparse_run(&session, meter, encoder, forms, throughputs, count, found, err);
    }
    if (status == IP_OK && any) {
        status = held_run(&session, meter, encoder, forms, throughputs, count, found, err);
    }
    if (status == IP_OK) {
        memcpy(results, found, count * sizeof *results);
    }
    free(session.mixes);
    free(found);
    return status;
}
