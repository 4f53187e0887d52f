/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/output.h"

#include <math.h>
#include <stdlib.h>

#include "generator/operands.h"
#include "generator/shapes.h"
#include "probe/batch.h"

enum { INSTANCES = 24, LOOKS = 2, NO_SLOT = -1 };

/* A link takes so many cycles more than an instance that waits for nothing; and a whole cycle, as what is
 * executed does. */
static const double MORE = 0.3, MORE_TIMES = 1.2, LEAST = 0.9;

int probe_output_operand(const struct isa_form *form) {
    int found = -1;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        if (operand->kind == ISA_OPERAND_FLAGS || !operand->write) {
            continue;
        }
        bool narrow =
            operand->kind == ISA_OPERAND_REG && isa_reg_is_gpr(operand->reg_class) && operand->bits < 32;
        bool free = operand->kind == ISA_OPERAND_REG && !operand->implicit && gen_operand_is_free(operand);
        if (!free || narrow || operand->read || operand->cond_write || found >= 0) {
            return -1;
        }
        found = (int)i;
    }
    bool file = found >= 0 && (isa_reg_is_gpr(form->operands[found].reg_class) ||
                               isa_reg_is_vector(form->operands[found].reg_class) ||
                               form->operands[found].reg_class == ISA_REG_MASK);
    return file ? found : -1;
}

/* No chain takes another number of cycles: a neighbour does. */
static bool is_whole(double cycles) {
    const double near = 0.15;
    return fabs(cycles - round(cycles)) <= near;
}

static bool waits(double cycles, const struct probe_throughput *throughput) {
    return cycles >= LEAST && cycles > throughput->cycles * MORE_TIMES && cycles > throughput->cycles + MORE;
}

static enum ip_status chain_add(const struct isa_form *form, struct probe_batch *batch, int *slot,
                                struct ip_error *err) {
    const struct gen_independence how = {.registers = 1};
    struct gen_program program;
    struct ip_error reason;
    size_t at = 0;
    gen_program_init(&program);
    enum ip_status status = gen_throughput_program(&program, form, &how, INSTANCES, &reason);
    if (status != IP_OK) {
        gen_program_fini(&program);
        if (status == IP_NO_MEMORY) {
            *err = reason;
        }
        return status == IP_NO_MEMORY ? status : IP_OK; /* there is no such chain */
    }
    status = probe_batch_add(batch, &program, &at, err);
    *slot = status == IP_OK ? (int)at : NO_SLOT;
    return status;
}

/* Chains of those forms whose slot is not NO_SLOT; afterwards only those that wait have one. */
static enum ip_status chains_run(const struct hx_meter *meter, struct gen_encoder *encoder,
                                 struct isa_form *const *forms, const struct probe_throughput *throughputs,
                                 size_t count, bool look, int *slots, struct probe_output *results,
                                 struct ip_error *err) {
    struct probe_batch batch = {.looks = look ? LOOKS : 0, .retries = 1};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        bool asked = slots[i] != NO_SLOT;
        slots[i] = NO_SLOT;
        status = asked ? chain_add(forms[i], &batch, &slots[i], err) : IP_OK;
    }
    if (status == IP_OK && batch.count > 0) {
        status = probe_batch_measure(&batch, meter, encoder, err);
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        const struct hx_stat *stat = slots[i] != NO_SLOT ? &batch.stats[slots[i]] : NULL;
        bool told = stat != NULL && stat->verdict == HX_VERDICT_OK && waits(stat->cycles, &throughputs[i]) &&
                    (look || is_whole(stat->cycles));
        bool ran = stat != NULL && stat->verdict == HX_VERDICT_OK;
        /* What looked as if it waits is told only by a measurement. */
        bool settled = stat == NULL || (ran && (told || !waits(stat->cycles, &throughputs[i])));
        bool asked = look ? ran : results[i].asked && settled;
        slots[i] = told ? slots[i] : NO_SLOT;
        results[i] = (struct probe_output){.asked = asked,
                                           .waits = told && !look,
                                           .cycles = told && !look ? stat->cycles : NAN,
                                           .spread = told && !look ? stat->spread : NAN};
    }
    probe_batch_fini(&batch);
    return status;
}

enum ip_status probe_outputs_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                     struct isa_form *const *forms,
                                     const struct probe_throughput *throughputs, size_t count,
                                     struct probe_output *results, struct ip_error *err) {
    int *slots = calloc(count + 1, sizeof *slots);
    if (slots == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu forms: measure fewer", count);
    }
    for (size_t i = 0; i < count; i++) {
        bool known = throughputs[i].measured && throughputs[i].verdict == HX_VERDICT_OK;
        slots[i] = known && probe_output_operand(forms[i]) >= 0 ? 0 : NO_SLOT;
    }
    enum ip_status status = chains_run(meter, encoder, forms, throughputs, count, true, slots, results, err);
    if (status == IP_OK) {
        status = chains_run(meter, encoder, forms, throughputs, count, false, slots, results, err);
    }
    free(slots);
    return status;
}
