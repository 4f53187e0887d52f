/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/slots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/control.h"
#include "generator/shapes.h"
#include "probe/slots_held.h"
#include "probe/slots_session.h"

enum {
    SPARSE_ATTEMPTS = 2,
    REFUSALS = 2,       /* undisturbed attempts that no slots came out of: a third never had any */
    WIDTH_RETRIES = 12, /* no form has slots without the issue width */
    WIDTH_SECONDS = 3,
};

/* So near to an integer the issue width is one. */
static const double WIDTH_TOLERANCE = 0.2;

/* Of several places the one where NOPs are fastest: at one they may come from the decoders. */
static enum ip_status width_measure(struct slots_session *session, const struct hx_meter *meter,
                                    struct gen_encoder *encoder, struct ip_error *err) {
    size_t slots[SLOTS_KERNELS];
    enum ip_status status = IP_OK;
    for (unsigned k = 0; k < SLOTS_KERNELS && status == IP_OK; k++) {
        struct gen_program program;
        const struct gen_part part = {.filler = session->filler, .count = SLOTS_NOPS_LEAST};
        gen_program_init(&program);
        status = gen_mix_program(&program, &part, 1, err);
        if (status == IP_OK) {
            program.copies = 1;
            program.loop_shift = k * SLOTS_SHIFT;
            status = probe_batch_add(&session->batch, &program, &slots[k], err);
        }
    }
    if (status == IP_OK) {
        session->batch.retries = WIDTH_RETRIES;
        session->batch.retry_seconds = WIDTH_SECONDS;
        status = probe_batch_measure(&session->batch, meter, encoder, err);
    }
    session->width = NAN; /* all that follows hangs on it */
    for (unsigned k = 0; k < SLOTS_KERNELS && status == IP_OK; k++) {
        const struct hx_stat *stat = &session->batch.stats[slots[k]];
        session->width = stat->verdict == HX_VERDICT_OK
                             ? fmax(session->width, SLOTS_NOPS_LEAST / stat->cycles)
                             : session->width;
    }
    if (fabs(session->width - round(session->width)) <= WIDTH_TOLERANCE) {
        session->width = round(session->width); /* the rest is noise */
    }
    probe_batch_fini(&session->batch);
    return status;
}

/* Measures what is wanted, and leaves wanted what another attempt may settle. */
static enum ip_status attempt_run(struct slots_session *session, const struct hx_meter *meter,
                                  struct gen_encoder *encoder, struct isa_form *const *forms,
                                  const struct probe_throughput *throughputs, size_t count,
                                  struct probe_slots *results, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < SLOTS_BASES; i++) {
        session->bases[0][i] = session->bases[1][i] = SIZE_MAX;
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (session->mixes[i].wanted) {
            status = slots_mixes_add(session, i, forms[i], &throughputs[i], &results[i], err);
        }
    }
    if (status == IP_OK) {
        status = probe_batch_measure(&session->batch, meter, encoder, err);
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (session->mixes[i].wanted && session->mixes[i].slots[0] != SIZE_MAX) {
            struct slots_mixes *mixes = &session->mixes[i];
            bool read = slots_form_read(session, forms[i], mixes, &results[i]);
            mixes->more_nops = !results[i].measured && results[i].verdict == HX_VERDICT_OK;
            mixes->refusals += !session->glance && mixes->more_nops;
            if (!read && !session->glance) {
                read = slots_doubt_weigh(mixes, &results[i]);
            }
            mixes->wanted = !read && mixes->refusals < REFUSALS;
        }
    }
    probe_batch_fini(&session->batch);
    return status;
}

/* One batch of each mix settles most forms. The others begin anew. */
static enum ip_status glance_run(struct slots_session *session, const struct hx_meter *meter,
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
    return sparse->measured && (!found->measured || sparse->slots < found->slots - SLOTS_SAME);
}

/* Does a glance leave it at what was found? Less is much for a glance to say, and where it could not be read
 * it tells nothing of a number. */
static bool sparse_settles(const struct probe_slots *sparse, const struct probe_slots *found) {
    bool settled = sparse->measured ? !sparse_is_better(sparse, found) : !found->measured;
    return settled && sparse->verdict == HX_VERDICT_OK;
}

/* Do mixes of few instances disagree, and each says less than what was found? */
static bool sparse_denies(const struct slots_mixes *mixes, const struct probe_slots *found) {
    return found->measured && mixes->seen_count > 0 &&
           mixes->seen[mixes->seen_count - 1].slots < found->slots - SLOTS_SAME_OF_ALL / SLOTS_SPARSE;
}

/* A look that noise spoiled confirms what it does not undercut. Else nobody knows how much less it would have
 * been, or whether there is a number after all. */
static bool sparse_is_spoilt(const struct probe_slots *sparse, const struct probe_slots *found) {
    return hx_verdict_is_noise(sparse->verdict) && (!sparse->measured || sparse_is_better(sparse, found));
}

/* Of two looks at a form, among some NOPs and among more. */
static void sparse_take(const struct slots_mixes *mixes, const struct probe_slots *sparse,
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
static enum ip_status sparse_run(struct slots_session *session, const struct hx_meter *meter,
                                 struct gen_encoder *encoder, struct isa_form *const *forms,
                                 const struct probe_throughput *throughputs, size_t count,
                                 struct probe_slots *found, struct ip_error *err) {
    struct probe_slots *sparse = calloc(count + 1, sizeof *sparse);
    if (sparse == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu forms: measure fewer", count);
    }
    for (size_t i = 0; i < count; i++) {
        session->mixes[i] = (struct slots_mixes){.wanted = sparse_wanted(&found[i])};
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
static enum ip_status held_run(const struct slots_session *session, const struct hx_meter *meter,
                               struct gen_encoder *encoder, struct isa_form *const *forms,
                               const struct probe_throughput *throughputs, size_t count,
                               struct probe_slots *found, struct ip_error *err) {
    struct probe_slots_held *held = calloc(count + 1, sizeof *held);
    if (held == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu forms: measure fewer", count);
    }
    for (size_t i = 0; i < count; i++) {
        double cycles = slots_cycles_alone(&throughputs[i]);
        held[i] = (struct probe_slots_held){
            .form = forms[i],
            .cycles = cycles,
            .nops = found[i].measured ? (unsigned)slots_nops_for(session, cycles, 1) : 0,
            .result = &found[i]};
    }
    enum ip_status status = probe_slots_held_find(meter, encoder, session->width, held, count, err);
    free(held);
    return status;
}

enum ip_status probe_slots_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                   struct isa_form *const *forms, const struct probe_throughput *throughputs,
                                   size_t count, struct probe_slots *results, struct ip_error *err) {
    struct slots_session session = {.mixes = calloc(count + 1, sizeof *session.mixes),
                                    .filler = meter->filler};
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
            session.mixes[i].wanted = isfinite(slots_cycles_alone(&throughputs[i]));
            any = any || session.mixes[i].wanted;
        }
    }
    if (status == IP_OK && any) {
        status = width_measure(&session, meter, encoder, err);
    }
    for (unsigned glance = 0; glance < SLOTS_GLANCES && status == IP_OK && any; glance++) {
        status = glance_run(&session, meter, encoder, forms, throughputs, count, found, err);
    }
    for (unsigned attempt = 0; attempt < SLOTS_ATTEMPTS && status == IP_OK && any; attempt++) {
        status = attempt_run(&session, meter, encoder, forms, throughputs, count, found, err);
    }
    if (status == IP_OK && any) {
        slots_doubts_tell(&session, count, found);
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
