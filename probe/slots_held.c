/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/slots_held.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "generator/control.h"
#include "generator/pool.h"
#include "generator/shapes.h"
#include "probe/batch.h"

enum {
    /* Additions in a chain: longer than any core goes on issuing behind what does not retire (85 cycles on a
     * Golden Cove). */
    CHAIN = 112,
    NOPS_END = 1024,
};

/* An instance that holds retirement for so many cycles seems to have as many cycles' slots. Less is noise. */
static const double HELD_CYCLES = 0.4;
/* So many cycles of its own no reorder buffer leaves unhidden. What loses all of its own is another thing: a
 * LOCK, and what is microcode. */
static const double HIDDEN_CYCLES = 8;

static const char HELD[] = "it takes longer than what can be issued before it retires";

struct kernels {
    size_t with, without; /* the form, in front of a chain and NOPs; in the batch, SIZE_MAX: none */
    double others;        /* instructions that stand with it */
};

struct session {
    struct probe_batch batch;
    const char *filler;
    double width;
    struct kernels *kernels;  /* of each form */
    size_t without[NOPS_END]; /* of so many NOPs; SIZE_MAX: none */
};

/* Does the form name the chain's register, which is in no other's way? */
static bool names_keeper(const struct isa_form *form) {
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        if (operand->kind == ISA_OPERAND_REG && gen_operand_is_fixed(operand) &&
            isa_reg_is_gpr(operand->reg_class) && operand->reg == GEN_REG_KEEPER) {
            return true;
        }
    }
    return false;
}

/* Slots of which a part may be time. */
static bool is_suspect(const struct session *session, const struct probe_slots_held *form) {
    double slots = form->result->slots;
    return form->result->measured && form->result->verdict == HX_VERDICT_OK &&
           slots > 1 + HELD_CYCLES * session->width &&
           form->cycles > slots / session->width + HIDDEN_CYCLES && form->nops < NOPS_END &&
           !names_keeper(form->form);
}

/* An instance, or a filler, in front of a chain that takes longer, and NOPs. */
static enum ip_status kernel_add(struct session *session, const struct isa_form *form, unsigned nops,
                                 size_t *slot, double *others, struct ip_error *err) {
    const struct gen_part part = {.form = form,
                                  .filler = session->filler,
                                  .count = 1,
                                  .not_taken = form != NULL && gen_form_branches(form)};
    struct gen_program program;
    gen_program_init(&program);
    *slot = SIZE_MAX;
    enum ip_status status = gen_mix_program(&program, &part, 1, err);
    if (status != IP_OK) {
        gen_program_fini(&program);
        return status == IP_UNSUPPORTED ? IP_OK : status;
    }
    *others = (double)program.unit.count - 1;
    ip_lines_add(&program.unit, "mov ebp, 1");
    for (unsigned i = 0; i < CHAIN; i++) {
        ip_lines_add(&program.unit, "add rbp, rbp");
    }
    for (unsigned i = 0; i < nops; i++) {
        ip_lines_add(&program.unit, session->filler);
    }
    program.copies = 1;
    program.one_loop = true;
    program.fills_issue = true;
    program.fine = true;
    return probe_batch_add(&session->batch, &program, slot, err);
}

static enum ip_status kernels_add(struct session *session, const struct probe_slots_held *form,
                                  struct kernels *kernels, struct ip_error *err) {
    size_t *without = &session->without[form->nops];
    double none;
    enum ip_status status = IP_OK;
    if (*without == SIZE_MAX) {
        status = kernel_add(session, NULL, form->nops, without, &none, err);
    }
    kernels->without = *without;
    return status == IP_OK
               ? kernel_add(session, form->form, form->nops, &kernels->with, &kernels->others, err)
               : status;
}

/* Behind a chain that holds retirement longer the time of an instance that holds it is hidden, and its slots
 * are not: the chain begins later by as much. false as well where that was not measured. */
static bool is_held(const struct session *session, const struct kernels *kernels,
                    const struct probe_slots *result) {
    const struct hx_stat *stats = session->batch.stats;
    if (kernels->with == SIZE_MAX || stats[kernels->with].verdict != HX_VERDICT_OK ||
        stats[kernels->without].verdict != HX_VERDICT_OK) {
        return false;
    }
    const double filler = 1; /* without the form */
    double more = stats[kernels->with].cycles - stats[kernels->without].cycles;
    double slots = filler + more * session->width - kernels->others;
    return slots < result->slots - HELD_CYCLES * session->width;
}

static void held_say(struct probe_slots *result) {
    result->measured = false;
    result->slots = result->spread = NAN;
    (void)snprintf(result->why, sizeof result->why, "%s", HELD);
}

enum ip_status probe_slots_held_find(const struct hx_meter *meter, struct gen_encoder *encoder, double width,
                                     const struct probe_slots_held *forms, size_t count,
                                     struct ip_error *err) {
    struct session session = {
        .filler = meter->filler, .width = width, .kernels = calloc(count + 1, sizeof *session.kernels)};
    enum ip_status status = IP_OK;
    if (session.kernels == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu forms: measure fewer", count);
    }
    for (size_t i = 0; i < NOPS_END; i++) {
        session.without[i] = SIZE_MAX;
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        session.kernels[i].with = SIZE_MAX;
        if (is_suspect(&session, &forms[i])) {
            status = kernels_add(&session, &forms[i], &session.kernels[i], err);
        }
    }
    status = status == IP_OK ? probe_batch_measure(&session.batch, meter, encoder, err) : status;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (is_held(&session, &session.kernels[i], forms[i].result)) {
            held_say(forms[i].result);
        }
    }
    probe_batch_fini(&session.batch);
    free(session.kernels);
    return status;
}
