/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/slots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/shapes.h"
#include "probe/batch.h"

enum {
    NOPS_LEAST = 96,
    NOPS_MOST = 1200, /* the longer loop, of four units, still fits a µop cache */
    FEW = 1,          /* instances among the NOPs */
    MANY = 4,
    ATTEMPTS = 2,
};

/* The NOPs take this many times as long as the instances alone would, and some cycles more: what an instance
 * waits for must be over before the NOPs are. */
static const double SPARE = 1.5;
static const double SPARE_CYCLES = 8.0;
/* How far the first instance and the others may be from each other: slots, or a part of the NOPs, which is
 * what noise comes to. */
static const double SAME_SLOTS = 0.5;
static const double SAME_OF_NOPS = 0.004;
/* So near to an integer the issue width is one. */
static const double WIDTH_TOLERANCE = 0.15;

/* The mixes of one form. */
struct mixes {
    bool wanted;
    unsigned nops;
    size_t few, many; /* in the batch; SIZE_MAX: none */
    double others;    /* instructions that each instance needs beside itself */
    double few_others;
};

struct session {
    struct probe_batch batch;
    struct mixes *mixes;
    size_t plain; /* NOPs alone */
    double width;
};

static bool form_branches(const struct isa_form *form) {
    for (unsigned i = 0; i < form->explicit_count; i++) {
        if (form->operands[i].kind == ISA_OPERAND_REL) {
            return true;
        }
    }
    return false;
}

static void slots_none(struct probe_slots *result, const char *why) {
    memset(result, 0, sizeof *result);
    result->slots = result->spread = NAN;
    (void)snprintf(result->why, sizeof result->why, "%.127s", why);
}

/* One mix. *slot stays SIZE_MAX where the form cannot stand in one; the result then says why. *others: the
 * lines of the unit that are neither NOP nor form, in all. */
static enum ip_status mix_add(struct session *session, const struct isa_form *form, unsigned nops,
                              unsigned count, size_t *slot, double *others, struct probe_slots *result,
                              struct ip_error *err) {
    const struct gen_part parts[2] = {{.form = NULL, .count = nops}, {.form = form, .count = count}};
    struct gen_program program;
    struct ip_error reason;
    gen_program_init(&program);
    *slot = SIZE_MAX;
    enum ip_status status = gen_mix_program(&program, parts, form != NULL ? 2 : 1, &reason);
    if (status == IP_OK) {
        *others = (double)program.unit.count - nops - count;
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

static enum ip_status form_mixes_add(struct session *session, size_t i, const struct isa_form *form,
                                     const struct probe_throughput *throughput, struct probe_slots *result,
                                     struct ip_error *err) {
    struct mixes *mixes = &session->mixes[i];
    double nops = ceil(session->width * (SPARE_CYCLES + SPARE * MANY * throughput->plain_cycles));
    if (mixes->nops != 0) {
        nops = 2.0 * mixes->nops; /* another attempt */
    }
    mixes->few = mixes->many = SIZE_MAX;
    if (isnan(session->width)) {
        slots_none(result, "the issue width cannot be measured");
        result->verdict = HX_VERDICT_DISTURBED;
        mixes->wanted = false;
        return IP_OK;
    }
    if (!(nops <= NOPS_MOST)) {
        slots_none(result, "takes too long to hide behind NOPs");
        mixes->wanted = false;
        return IP_OK;
    }
    mixes->nops = nops > NOPS_LEAST ? (unsigned)nops : NOPS_LEAST;
    enum ip_status status =
        mix_add(session, form, mixes->nops, FEW, &mixes->few, &mixes->few_others, result, err);
    if (status == IP_OK && mixes->few != SIZE_MAX) {
        status = mix_add(session, form, mixes->nops, MANY, &mixes->many, &mixes->others, result, err);
    }
    mixes->wanted = mixes->many != SIZE_MAX;
    mixes->others = (mixes->others - mixes->few_others) / (MANY - FEW);
    return status;
}

static bool stat_ok(const struct hx_stat *stat) {
    return stat->verdict == HX_VERDICT_OK;
}

/* Reads the mixes of one form. Returns false where something else than the issue decided: the first instance
 * and the others do not cost the same. */
static bool form_read(const struct session *session, const struct mixes *mixes, struct probe_slots *result) {
    const struct hx_stat *few = &session->batch.stats[mixes->few];
    const struct hx_stat *many = &session->batch.stats[mixes->many];
    slots_none(result, "");
    const struct hx_stat *worse = stat_ok(many) ? few : many;
    result->stat = *worse;
    result->verdict = worse->verdict;
    if (!stat_ok(worse)) {
        (void)snprintf(result->why, sizeof result->why, "%s", worse->why);
    }
    if (isnan(few->cycles) || isnan(many->cycles)) {
        return true;
    }
    double each = (many->cycles - few->cycles) * session->width / (MANY - FEW) - mixes->others;
    double first = few->cycles * session->width - mixes->nops - FEW * mixes->others -
                   (mixes->few_others - mixes->others);
    result->stat = *many;
    result->measured = true;
    result->slots = each > 0.0 ? each : 0.0;
    double uncertain = (few->spread * few->cycles + many->spread * many->cycles) * session->width;
    result->spread = uncertain / (MANY - FEW) / fmax(result->slots, 1.0);
    return !stat_ok(worse) || fabs(first - each) <= fmax(SAME_SLOTS, SAME_OF_NOPS * mixes->nops);
}

static enum ip_status width_measure(struct session *session, const struct hx_meter *meter,
                                    struct gen_encoder *encoder, struct ip_error *err) {
    double others = 0.0;
    enum ip_status status = mix_add(session, NULL, NOPS_LEAST, 0, &session->plain, &others, NULL, err);
    if (status == IP_OK) {
        status = probe_batch_measure(&session->batch, meter, encoder, err);
    }
    if (status == IP_OK) {
        session->width = NOPS_LEAST / session->batch.stats[session->plain].cycles;
        if (fabs(session->width - round(session->width)) <= WIDTH_TOLERANCE) {
            session->width = round(session->width); /* the rest is what the loop's branch costs */
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
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (session->mixes[i].wanted) {
            status = form_mixes_add(session, i, forms[i], &throughputs[i], &results[i], err);
        }
    }
    if (status == IP_OK) {
        status = probe_batch_measure(&session->batch, meter, encoder, err);
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (session->mixes[i].wanted) {
            session->mixes[i].wanted = !form_read(session, &session->mixes[i], &results[i]);
        }
    }
    probe_batch_fini(&session->batch);
    return status;
}

enum ip_status probe_slots_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                   struct isa_form *const *forms, const struct probe_throughput *throughputs,
                                   size_t count, struct probe_slots *results, struct ip_error *err) {
    struct session session = {.mixes = calloc(count + 1, sizeof *session.mixes)};
    struct probe_slots *found = calloc(count + 1, sizeof *found);
    enum ip_status status = IP_OK;
    if (session.mixes == NULL || found == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "no memory for %zu forms: measure fewer", count);
    }
    bool any = false;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (forms[i]->obstacle != ISA_OBSTACLE_NONE) {
            slots_none(&found[i], forms[i]->note);
        } else if (form_branches(forms[i])) {
            slots_none(&found[i], "a branch among NOPs also ends their groups");
        } else {
            slots_none(&found[i], throughputs[i].why);
            found[i].verdict = throughputs[i].verdict;
            session.mixes[i].wanted = isfinite(throughputs[i].plain_cycles);
            any = any || session.mixes[i].wanted;
        }
    }
    if (status == IP_OK && any) {
        status = width_measure(&session, meter, encoder, err);
    }
    for (unsigned attempt = 0; attempt < ATTEMPTS && status == IP_OK && any; attempt++) {
        status = attempt_run(&session, meter, encoder, forms, throughputs, count, found, err);
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (session.mixes[i].wanted) {
            struct hx_stat stat = found[i].stat;
            slots_none(&found[i], "something else than the issue limits it among NOPs");
            found[i].stat = stat;
        }
    }
    if (status == IP_OK) {
        memcpy(results, found, count * sizeof *results);
    }
    free(session.mixes);
    free(found);
    return status;
}
