/* SPDX-License-Identifier: Apache-2.0 */
/* tests/latency_proof.h - a simulated CPU whose latencies are drawn at random, one for each pair of operands,
 * and what it says of a pair against what was measured. For the proof (tests/bench/proof_latency.c) and for
 * its reduced version among the unit tests. */
#ifndef ISAPROBE_TESTS_LATENCY_PROOF_H
#define ISAPROBE_TESTS_LATENCY_PROOF_H

#include <math.h>
#include <string.h>

#include "common/random.h"
#include "common/text.h"
#include "harness/sim_description.h"
#include "probe/latency.h"
#include "probe/transfer.h"

enum {
    LATENCY_PROOF_LEAST = 2, /* cycles that are drawn: no form's uops take longer on their ports */
    LATENCY_PROOF_MOST = 9,
    LATENCY_PROOF_SLOW_ONE_IN = 8, /* rows that wait for a unit, mostly longer than for their sources */
    LATENCY_PROOF_SLOW_MOST = 30,
};

enum latency_proof_result {
    LATENCY_PROOF_EXACT, /* the cycles that were drawn */
    LATENCY_PROOF_BOUND, /* an upper bound, and so it is */
    LATENCY_PROOF_NONE,  /* not measured, or not to be trusted, with a reason */
    LATENCY_PROOF_WRONG,
    LATENCY_PROOF_UNTOLD, /* not drawn */
    LATENCY_PROOF_RESULTS,
};

/* What kernels put around a form breaks dependences where one register is both operands, and costs a cycle.
 */
#define LATENCY_PROOF_HELPERS                                                                                \
    "form \"xor r32, r32\" ports 1*p0156 latency 1 same-register breaks\n"                                   \
    "form \"pxor xmm, xmm\" ports 1*p015 latency 1 same-register breaks\n"                                   \
    "form \"vpxor xmm, xmm, xmm\" ports 1*p015 latency 1 same-register breaks\n"

/* What must not be drawn: these, and what carries results back. */
static inline bool latency_proof_is_helper(const struct isa_form *form,
                                           const struct probe_transfers *transfers) {
    static const char *const helpers[] = {"xor r64, r64",
                                          "mov r64, imm32",
                                          "mov r32, imm32",
                                          "mov r64, r64",
                                          "mov r32, r32",
                                          "lea r64, agen",
                                          "xor r32, r32",
                                          "pxor xmm, xmm",
                                          "vpxor xmm, xmm, xmm",
                                          "add r64, r64",
                                          "kxnorq k, k, k",
                                          "kxnorw k, k, k",
                                          "{evex} vmovups xmm, m128",
                                          "cld"};
    for (size_t i = 0; i < sizeof helpers / sizeof helpers[0]; i++) {
        if (strcmp(form->syntax, helpers[i]) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < transfers->count; i++) {
        if (strcmp(form->syntax, transfers->items[i].form.syntax) == 0) {
            return true;
        }
    }
    return false;
}

static inline bool latency_proof_reads(const struct isa_operand *operand) {
    bool kind = operand->kind == ISA_OPERAND_REG || operand->kind == ISA_OPERAND_FLAGS ||
                operand->kind == ISA_OPERAND_MEM;
    return kind && operand->read;
}

static inline bool latency_proof_writes(const struct isa_operand *operand) {
    return (operand->kind == ISA_OPERAND_REG || operand->kind == ISA_OPERAND_FLAGS) && operand->write;
}

/* A form for which a row can be drawn. Of one with an immediate of 0 the code says that it is any other; a
 * division's values and those that XCHG swaps make chains of more than one pair; and the simulated CPU knows
 * neither pushes to the x87 stack, nor memory that is not named, nor that AH is not AL. */
static inline bool latency_proof_is_subject(const struct isa_form *form,
                                            const struct probe_transfers *transfers) {
    static const char *const others[] = {"div", "xchg", "xadd", "fptan", "fsincos", "fxtract"};
    bool fits = form->obstacle == ISA_OBSTACLE_NONE;
    for (unsigned o = 0; o < form->operand_count; o++) {
        const struct isa_operand *operand = &form->operands[o];
        bool unnamed = operand->kind == ISA_OPERAND_MEM && operand->implicit;
        bool half = operand->kind == ISA_OPERAND_REG && operand->reg_class == ISA_REG_GPR8H;
        fits = fits && !unnamed && !half && !(operand->imm_fixed && operand->imm == 0);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        fits = fits && strstr(form->mnemonic, others[i]) == NULL;
    }
    return fits && !latency_proof_is_helper(form, transfers);
}

/* May its row be slower than its latencies? What goes from a narrower vector to 512 bits or back only the
 * form itself chains, as in x87 registers and tiles, so that nothing tells the two apart. */
static inline bool latency_proof_may_be_slow(const struct isa_form *form) {
    bool wide = false, narrow = false, alone = false;
    for (unsigned o = 0; o < form->operand_count; o++) {
        const struct isa_operand *operand = &form->operands[o];
        enum probe_file file = probe_operand_file(operand);
        alone = alone || file == PROBE_FILE_X87 || file == PROBE_FILE_TILE;
        wide = wide || (file == PROBE_FILE_VECTOR && operand->reg_class == ISA_REG_ZMM);
        narrow = narrow || (file == PROBE_FILE_VECTOR && operand->reg_class != ISA_REG_ZMM);
    }
    return !alone && !(wide && narrow);
}

/* The row of a form that uses the ports which `base` gives it: latencies of all its pairs, drawn. What stays
 * in place is not later than anything else, and flags are not earlier than a result in a register that the
 * form does not let choose, into which they are carried back. */
static inline void latency_proof_row(struct ip_text *text, const struct hx_sim_description *base,
                                     const struct isa_form *form, struct ip_random *random) {
    const struct hx_sim_row *row = hx_sim_row_find(base, form, NULL);
    unsigned cycles[ISA_OPERANDS_MAX][ISA_OPERANDS_MAX] = {{0}}, pairs = 0, least = LATENCY_PROOF_MOST;
    for (unsigned dst = 0; dst < form->operand_count; dst++) {
        const struct isa_operand *to = &form->operands[dst];
        for (unsigned src = 0; src < form->operand_count && latency_proof_writes(to); src++) {
            bool merges = src == dst && to->cond_write;
            if (latency_proof_reads(&form->operands[src]) || merges) {
                cycles[src][dst] =
                    LATENCY_PROOF_LEAST +
                    (unsigned)ip_random_below(random, LATENCY_PROOF_MOST - LATENCY_PROOF_LEAST + 1);
                least = cycles[src][dst] < least ? cycles[src][dst] : least;
                pairs++;
            }
        }
    }
    for (unsigned o = 0; o < form->operand_count; o++) {
        cycles[o][o] = cycles[o][o] > 0 ? least : 0;
    }
    if (row == NULL || pairs == 0 || pairs > HX_SIM_PAIRS_MAX) {
        return;
    }
    ip_text_printf(text, "form \"%s\" ports ", form->syntax);
    for (unsigned i = 0; i < row->uops_count; i++) {
        ip_text_printf(text, "%s%u*p", i > 0 ? "+" : "", row->uops[i].count);
        for (unsigned p = 0; p < base->ports_count; p++) {
            if ((row->uops[i].ports >> p & 1u) != 0) {
                ip_text_printf(text, "%c", base->ports[p]);
            }
        }
    }
    ip_text_printf(text, "%s latency 1", row->uops_count == 0 ? "none" : "");
    if (row->uops_count > 0 && latency_proof_may_be_slow(form) &&
        ip_random_below(random, LATENCY_PROOF_SLOW_ONE_IN) == 0) {
        ip_text_printf(text, " blocking %u slow",
                       LATENCY_PROOF_LEAST +
                           (unsigned)ip_random_below(random, LATENCY_PROOF_SLOW_MOST - LATENCY_PROOF_LEAST));
    }
    for (unsigned dst = 0; dst < form->operand_count; dst++) {
        for (unsigned src = 0; src < form->operand_count; src++) {
            unsigned most = cycles[src][dst];
            for (unsigned o = 0; o < form->operand_count && form->operands[dst].kind == ISA_OPERAND_FLAGS;
                 o++) {
                bool fixed = form->operands[o].kind == ISA_OPERAND_REG && form->operands[o].reg >= 0;
                most = fixed && cycles[src][o] > most && most > 0 ? cycles[src][o] : most;
            }
            char from[16], to[16];
            bool memory = form->operands[src].kind == ISA_OPERAND_MEM;
            if (most > 0) {
                ip_text_printf(text, " %s->%s %u", isa_operand_name(form, src, from),
                               isa_operand_name(form, dst, to), most + (memory ? base->load_latency : 0));
            }
        }
    }
    ip_text_printf(text, "\n");
}

/* The cycles that were drawn for the pair; NaN: none. */
static inline double latency_proof_truth(const struct hx_sim_description *d, const struct isa_form *form,
                                         const struct probe_latency_pair *pair) {
    const struct hx_sim_row *row = hx_sim_rows_find(&d->rows, form->syntax);
    char src[16], dst[16];
    isa_operand_name(form, (unsigned)pair->src, src);
    isa_operand_name(form, (unsigned)pair->dst, dst);
    bool drawn = pair->path == PROBE_PATH_REGISTER || pair->path == PROBE_PATH_ADDRESS;
    for (unsigned i = 0; row != NULL && drawn && i < row->pairs_count; i++) {
        if (strcmp(row->pairs[i].src, src) == 0 && strcmp(row->pairs[i].dst, dst) == 0) {
            return row->pairs[i].cycles;
        }
    }
    return NAN;
}

static inline enum latency_proof_result latency_proof_judge(double truth,
                                                            const struct probe_latency_pair *pair) {
    /* cycles: noise is more of what takes longer, with its transfers */
    double equal = fmax(fmax(0.06, 0.02 * truth), 0.01 * pair->stat.cycles);
    if (isnan(truth)) {
        return LATENCY_PROOF_UNTOLD;
    }
    if (!pair->measured || pair->verdict != HX_VERDICT_OK) {
        return LATENCY_PROOF_NONE;
    }
    if (pair->upper_bound) {
        return pair->cycles >= truth - equal ? LATENCY_PROOF_BOUND : LATENCY_PROOF_WRONG;
    }
    return fabs(pair->cycles - truth) <= equal ? LATENCY_PROOF_EXACT : LATENCY_PROOF_WRONG;
}

#endif
