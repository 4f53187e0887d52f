/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/slots_session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/control.h"
#include "generator/shapes.h"

enum {
    NOPS_SMALL = 144,
    LOOP_END = 1,    /* slot: a subtraction that fuses with its jump */
    MANY = 8,        /* instances among the NOPs; fewer where that would take more than NOPS_SMALL */
    MANY_MMX = 4,    /* with 12 they cost 1.8 slots and not 1 */
    MANY_ENOUGH = 4, /* with fewer a hundredth of the time is a good part of a slot */
    NOPS_SPARSE = 288,
    WIDTH_MOST = 32, /* slots in a cycle: more were none */
};

/* The NOPs take this many times as long as the instances alone would, and some cycles more: what an instance
 * waits for must be over before the NOPs are. */
static const double SPARE = 1.5;
static const double SPARE_CYCLES = 6.0;
/* So many more than the form has time for alone may be noise. */
static const double MOST_MORE = 1.0;

void slots_none(struct probe_slots *result, const char *why) {
    memset(result, 0, sizeof *result);
    result->slots = result->spread = NAN;
    (void)snprintf(result->why, sizeof result->why, "%.127s", why);
}

/* One kernel of a mix, as one loop that runs once and twice: the loop stays small, and what its end takes is
 * the same in every mix. *slot stays SIZE_MAX where the form cannot stand in one; the result then says why.
 */
static enum ip_status kernel_add(struct slots_session *session, const struct isa_form *form,
                                 const struct slots_mixes *mixes, unsigned nops, unsigned number,
                                 size_t *slot, double *others, struct probe_slots *result,
                                 struct ip_error *err) {
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
        program.loop_shift = number * SLOTS_SHIFT;
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

unsigned slots_kernels_of(const struct slots_mixes *mixes, const struct isa_form *form) {
    return form == NULL || mixes->fine ? SLOTS_KERNELS : 1;
}

/* NOPs, the loop's end among them, come in whole cycles between two instances: so each finds a cycle's slots
 * as the one before it has left them. */
static unsigned step_of(const struct slots_session *session, unsigned count) {
    return count * (unsigned)fmin(fmax(round(session->width), 1), WIDTH_MOST);
}

unsigned slots_mix_nops(const struct slots_session *session, const struct slots_mixes *mixes, unsigned m) {
    return mixes->nops + m * step_of(session, mixes->count);
}

/* As kernel_add, all kernels of the m-th mix. */
static enum ip_status mix_add(struct slots_session *session, const struct isa_form *form,
                              const struct slots_mixes *mixes, unsigned m, size_t *first, double *others,
                              struct probe_slots *result, struct ip_error *err) {
    const unsigned kernels = slots_kernels_of(mixes, form), nops = slots_mix_nops(session, mixes, m);
    enum ip_status status = IP_OK;
    for (unsigned k = 0; k < kernels && status == IP_OK; k++) {
        size_t slot = SIZE_MAX;
        status = kernel_add(session, form, mixes, nops, kernels > 1 ? k : m, &slot, others, result, err);
        *first = k == 0 ? slot : *first;
    }
    return status;
}

/* So many NOPs, or as many more as make whole cycles. */
static double whole_steps(const struct slots_session *session, double nops, unsigned count) {
    double step = step_of(session, count);
    return ceil(nops / step) * step;
}

double slots_nops_for(const struct slots_session *session, double cycles, unsigned count) {
    double nops = fmax(session->width * (SPARE_CYCLES + SPARE * count * cycles), SLOTS_NOPS_LEAST);
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
static bool form_mixes_size(const struct slots_session *session, const struct isa_form *form,
                            struct slots_mixes *mixes, double cycles) {
    const unsigned mmx_bits = 64;
    if (mixes->nops != 0) { /* another attempt */
        unsigned step = step_of(session, mixes->count);
        mixes->nops += mixes->more_nops ? step * (1 + mixes->nops / step / 2) : 0;
        return mixes->nops <= SLOTS_NOPS_MOST;
    }
    unsigned count = session->sparse                          ? SLOTS_SPARSE
                     : isa_form_vector_bits(form) == mmx_bits ? MANY_MMX
                                                              : MANY;
    const unsigned room = session->sparse ? NOPS_SPARSE : NOPS_SMALL;
    while (count > 1 && slots_nops_for(session, cycles, count) > room) {
        count /= 2;
    }
    double nops = slots_nops_for(session, cycles, count);
    nops = session->sparse ? fmax(nops, whole_steps(session, NOPS_SPARSE, count)) : nops;
    nops += session->glance ? mixes->seen_count * step_of(session, count) : 0; /* others than disagreed */
    if (!(nops <= SLOTS_NOPS_MOST)) {
        return false;
    }
    unsigned within = count * slots_within(form);
    mixes->nops = (unsigned)nops - (within < SLOTS_NOPS_LEAST ? within : 0);
    mixes->count = count;
    mixes->fine = !session->glance || (count < MANY_ENOUGH && !session->sparse);
    return true;
}

double slots_cycles_alone(const struct probe_throughput *throughput) {
    return isfinite(throughput->plain_cycles) || !throughput->measured ? throughput->plain_cycles
                                                                       : throughput->cycles;
}

enum ip_status slots_mixes_add(struct slots_session *session, size_t i, const struct isa_form *form,
                               const struct probe_throughput *throughput, struct probe_slots *result,
                               struct ip_error *err) {
    struct slots_mixes *mixes = &session->mixes[i];
    mixes->wanted = false;
    if (isnan(session->width)) {
        slots_none(result, "the issue width cannot be measured");
        result->verdict = HX_VERDICT_DISTURBED;
        return IP_OK;
    }
    bool again = mixes->nops != 0;
    mixes->most = session->width * slots_cycles_alone(throughput) + MOST_MORE;
    if (!form_mixes_size(session, form, mixes, slots_cycles_alone(throughput))) {
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
    for (unsigned m = 0; m < SLOTS_MIXES && status == IP_OK; m++) {
        size_t *base = &session->bases[mixes->fine][slots_mix_nops(session, mixes, m)];
        double none = 0.0;
        if (*base == SIZE_MAX) {
            status = mix_add(session, NULL, mixes, m, base, &none, NULL, err);
        }
        if (status == IP_OK) {
            status = mix_add(session, form, mixes, m, &mixes->slots[m], &mixes->others, result, err);
        }
        if (mixes->slots[m] == SIZE_MAX) {
            return status;
        }
    }
    mixes->wanted = true;
    return status;
}
