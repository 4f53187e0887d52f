/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/latency.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/shapes.h"
#include "harness/stats.h"
#include "probe/batch.h"
#include "probe/transfer.h"

enum { EXPERIMENTS_OF_PAIR_MAX = 256 };
enum { VIA_MAX = 3 }; /* transfers in a chain */

/* Two latencies that differ by less are the same. */
#define SAME_CYCLES 0.3

/* A chain of which so little is left was none: no flag takes less than a cycle. */
#define INDEPENDENT_CYCLES 0.5

/* One chain for one pair. */
struct experiment {
    size_t form, pair; /* the pair is results[form].pairs[pair] */
    size_t slot;       /* in the batch */
    int via[VIA_MAX];  /* positions of the transfers */
    unsigned via_count;
    bool same_register;
    bool slow;            /* with values that take long */
    double keeper_cycles; /* what the generator adds to a round, exactly, to keep the source's value */
};

/* Everything that one call works on. */
struct session {
    struct isa_form *const *forms;
    size_t count;
    struct probe_latency *results;
    struct probe_transfers transfers;
    struct probe_batch batch;
    struct experiment *experiments;
    size_t experiment_count, experiment_capacity;
};

void probe_latency_fini(struct probe_latency *latency) {
    free(latency->pairs);
    memset(latency, 0, sizeof *latency);
}

static void session_fini(struct session *session) {
    probe_transfers_fini(&session->transfers);
    probe_batch_fini(&session->batch);
    free(session->experiments);
    for (size_t i = 0; session->results != NULL && i < session->count; i++) {
        probe_latency_fini(&session->results[i]);
    }
    free(session->results);
}

/* -- Which pairs there are ----------------------------------------------------------------------------------
 */

/* An operand that a value can come from or go to. RSP is the harness's own and never allocated. */
static bool operand_counts(const struct isa_operand *operand) {
    return probe_operand_file(operand) != PROBE_FILE_NONE;
}

static bool operand_is_stack_pointer(const struct isa_operand *operand) {
    return operand->kind == ISA_OPERAND_REG && isa_reg_is_gpr(operand->reg_class) &&
           operand->reg_class != ISA_REG_GPR8H && operand->reg == 4;
}

static enum probe_path operand_path(const struct isa_operand *operand) {
    return operand->kind == ISA_OPERAND_MEM || operand->kind == ISA_OPERAND_AGEN ? PROBE_PATH_ADDRESS
                                                                                 : PROBE_PATH_REGISTER;
}

/* The source that `operand` is, if any: registers, masks and flags that are read, addresses. */
static bool operand_is_source(const struct isa_operand *operand) {
    if (operand->kind == ISA_OPERAND_MEM || operand->kind == ISA_OPERAND_AGEN) {
        return !operand->implicit;
    }
    /* The rest of a general-purpose register of which 8 or 16 bits are written is kept. */
    bool kept = operand->kind == ISA_OPERAND_REG && isa_reg_is_gpr(operand->reg_class) && operand->write &&
                operand->bits < 32;
    return (operand->read || kept) && operand_counts(operand);
}

static bool operand_is_destination(const struct isa_operand *operand) {
    return operand->write && operand_counts(operand) && operand->kind != ISA_OPERAND_MEM;
}

static void pair_init(struct probe_latency_pair *pair, int src, int dst, enum probe_path path) {
    memset(pair, 0, sizeof *pair);
    pair->src = src;
    pair->dst = dst;
    pair->path = path;
    pair->cycles = pair->spread = pair->chained_cycles = NAN;
    pair->same_register_cycles = pair->slow_cycles = NAN;
    pair->verdict = HX_VERDICT_OK;
}

static enum ip_status pairs_list(struct probe_latency *latency, const struct isa_form *form,
                                 struct ip_error *err) {
    if (form->obstacle != ISA_OBSTACLE_NONE) {
        return IP_OK;
    }
    struct probe_latency_pair *pairs =
        calloc((size_t)ISA_OPERANDS_MAX * (ISA_OPERANDS_MAX + 1), sizeof *pairs);
    if (pairs == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for the operand pairs of %s", form->syntax);
    }
    size_t count = 0;
    for (unsigned src = 0; src < form->operand_count; src++) {
        for (unsigned dst = 0; dst < form->operand_count; dst++) {
            const struct isa_operand *source = &form->operands[src];
            if (!operand_is_source(source) || !operand_is_destination(&form->operands[dst])) {
                continue;
            }
            pair_init(&pairs[count++], (int)src, (int)dst, operand_path(source));
            if (source->kind == ISA_OPERAND_MEM && isa_reg_is_vector(source->reg_class)) {
                pair_init(&pairs[count++], (int)src, (int)dst, PROBE_PATH_INDEX);
            }
        }
    }
    latency->pairs = pairs;
    latency->count = count;
    return IP_OK;
}

/* -- Which chains to try ------------------------------------------------------------------------------------
 */

static enum ip_status experiment_add(struct session *session, const struct experiment *experiment,
                                     struct gen_program *program, struct ip_error *err) {
    if (session->experiment_count == session->experiment_capacity) {
        size_t capacity = session->experiment_capacity != 0 ? session->experiment_capacity * 2 : 64;
        struct experiment *grown = realloc(session->experiments, capacity * sizeof *grown);
        if (grown == NULL) {
            gen_program_fini(program);
            return ip_fail(err, IP_NO_MEMORY, "no memory for %zu chains: measure fewer forms", capacity);
        }
        session->experiments = grown;
        session->experiment_capacity = capacity;
    }
    struct experiment *added = &session->experiments[session->experiment_count];
    *added = *experiment;
    enum ip_status status = probe_batch_add(&session->batch, program, &added->slot, err);
    if (status == IP_OK) {
        session->experiment_count++;
    }
    return status;
}

/* Division and square root take longer for some values than for others. */
static bool form_depends_on_values(const struct isa_form *form) {
    bool root = strstr(form->mnemonic, "sqrt") != NULL && strstr(form->mnemonic, "rsqrt") == NULL;
    return form->floating && (root || strstr(form->mnemonic, "div") != NULL);
}

/* Large values with an irregular mantissa. */
static void slow_values_fill(const struct isa_form *form, uint8_t fill[64]) {
    uint64_t value = form->element_bits == 64   ? UINT64_C(0x4650f3a91c5d27b3)
                     : form->element_bits == 16 ? 0x6b5b
                                                : 0x725a3c71;
    unsigned bytes = form->element_bits / 8u;
    for (unsigned i = 0; i < 64 && bytes > 0; i++) {
        fill[i] = (uint8_t)(value >> (8 * (i % bytes)));
    }
}

enum chain_kind { CHAIN_PLAIN, CHAIN_SAME_REGISTER, CHAIN_SLOW_VALUES };

/* Adds the chain of a pair through `via_count` transfers; where the generator knows no such chain, notes why.
 */
static enum ip_status chain_add(struct session *session, size_t form_index, size_t pair_index, const int *via,
                                unsigned via_count, enum chain_kind kind, struct ip_error *err) {
    const struct isa_form *form = session->forms[form_index];
    struct probe_latency_pair *pair = &session->results[form_index].pairs[pair_index];
    struct gen_link links[1 + VIA_MAX] = {{.form = form,
                                           .src = pair->src,
                                           .dst = pair->dst,
                                           .src_address = pair->path == PROBE_PATH_ADDRESS,
                                           .src_index = pair->path == PROBE_PATH_INDEX,
                                           .same_register = kind == CHAIN_SAME_REGISTER}};
    struct experiment experiment = {.form = form_index,
                                    .pair = pair_index,
                                    .via_count = via_count,
                                    .same_register = kind == CHAIN_SAME_REGISTER,
                                    .slow = kind == CHAIN_SLOW_VALUES};
    for (unsigned i = 0; i < via_count; i++) {
        struct probe_transfer *transfer = &session->transfers.items[via[i]];
        transfer->needed = true;
        links[1 + i] = (struct gen_link){.form = &transfer->form, .src = transfer->src, .dst = transfer->dst};
        experiment.via[i] = via[i];
    }
    struct gen_program program;
    struct ip_error reason;
    gen_program_init(&program);
    /* A chain of one form with one register: the destination is the source. */
    unsigned registers = kind == CHAIN_SAME_REGISTER && via_count == 0 ? 1 : 0;
    enum ip_status status = gen_latency_program(&program, links, 1 + via_count, registers, 0, &reason);
    if (status == IP_OK) {
        if (kind == CHAIN_SLOW_VALUES) {
            slow_values_fill(form, program.vector_fill);
        }
        experiment.keeper_cycles = gen_latency_keeper_cycles(links, 1 + via_count);
        return experiment_add(session, &experiment, &program, err);
    }
    gen_program_fini(&program);
    if (status == IP_NO_MEMORY) {
        *err = reason;
        return status;
    }
    if (pair->why[0] == '\0') {
        snprintf(pair->why, sizeof pair->why, "%.127s", reason.text);
    }
    return IP_OK;
}

/* An address is read as a whole general-purpose register, an index as a whole vector. */
static bool transfer_closes(const struct probe_transfer *transfer, const struct isa_form *form,
                            const struct probe_latency_pair *pair) {
    if (transfer->restore != PROBE_RESTORE_NONE) {
        return false;
    }
    if (pair->path == PROBE_PATH_REGISTER) {
        return probe_transfer_fits(transfer, form, pair->dst, pair->src);
    }
    const struct isa_operand *written = &transfer->form.operands[transfer->dst];
    bool whole = pair->path == PROBE_PATH_INDEX
                     ? transfer->to == PROBE_FILE_VECTOR
                     : written->reg_class == ISA_REG_GPR64 || written->reg_class == ISA_REG_GPR32;
    return whole && probe_transfer_fits(transfer, form, pair->dst, -1);
}

/* A sign extension that takes on what `transfer` writes, chains to itself, and serves `src`; -1: none. */
static int extension_find(const struct session *session, const struct probe_transfer *transfer,
                          const struct isa_form *form, int src) {
    for (size_t i = 0; i < session->transfers.count; i++) {
        const struct probe_transfer *extension = &session->transfers.items[i];
        if (extension->from == PROBE_FILE_GPR && extension->to == PROBE_FILE_GPR &&
            probe_transfer_fits(extension, &transfer->form, transfer->dst, extension->src) &&
            probe_transfer_fits(extension, form, -1, src)) {
            return (int)i;
        }
    }
    return -1;
}

/* Adds the chains through every single transfer that fits; *found counts them. */
static enum ip_status single_transfers_add(struct session *session, size_t form_index, size_t pair_index,
                                           enum chain_kind kind, unsigned *found, struct ip_error *err) {
    const struct isa_form *form = session->forms[form_index];
    const struct probe_latency_pair *pair = &session->results[form_index].pairs[pair_index];
    for (size_t i = 0; i < session->transfers.count; i++) {
        const struct probe_transfer *transfer = &session->transfers.items[i];
        if (!transfer_closes(transfer, form, pair)) {
            continue;
        }
        int via[VIA_MAX] = {(int)i, (int)i, (int)i};
        unsigned count = 1;
        if (transfer->from == PROBE_FILE_FLAGS && transfer->to == PROBE_FILE_GPR) {
            /* A round of two cycles is too short: right after logic, CMOV and SETcc then take up to 0.3 more
             * or less, as the code happens to lie. */
            via[1] = via[2] = extension_find(session, transfer, form, pair->src);
            count = via[1] >= 0 ? 3 : 1;
        }
        enum ip_status status = chain_add(session, form_index, pair_index, via, 1, kind, err);
        if (status == IP_OK && count > 1) {
            status = chain_add(session, form_index, pair_index, via, count, kind, err);
        }
        /* Three times as well, where it chains to itself: a long round hides neither what the form's own
         * throughput takes nor a quarrel over a port. */
        if (status == IP_OK && transfer->from == transfer->to && transfer->partner < 0 &&
            kind == CHAIN_PLAIN &&
            probe_transfer_fits(transfer, &transfer->form, transfer->dst, transfer->src)) {
            status = chain_add(session, form_index, pair_index, via, 3, kind, err);
        }
        if (status != IP_OK) {
            return status;
        }
        ++*found;
    }
    return IP_OK;
}

/* Two transfers, by way of the general-purpose registers. */
static enum ip_status double_transfers_add(struct session *session, size_t form_index, size_t pair_index,
                                           unsigned *found, struct ip_error *err) {
    const struct isa_form *form = session->forms[form_index];
    const struct probe_latency_pair *pair = &session->results[form_index].pairs[pair_index];
    const struct probe_transfers *transfers = &session->transfers;
    for (size_t i = 0; i < transfers->count; i++) {
        const struct probe_transfer *first = &transfers->items[i];
        if (first->to != PROBE_FILE_GPR || first->from == PROBE_FILE_GPR ||
            !probe_transfer_fits(first, form, pair->dst, -1)) {
            continue;
        }
        for (size_t j = 0; j < transfers->count; j++) {
            const struct probe_transfer *second = &transfers->items[j];
            if (second->from != PROBE_FILE_GPR || second->to == PROBE_FILE_GPR ||
                !probe_transfer_fits(second, form, -1, pair->src) ||
                !probe_transfer_fits(second, &first->form, first->dst, -1)) {
                continue;
            }
            int via[VIA_MAX] = {(int)i, (int)j};
            enum ip_status status = chain_add(session, form_index, pair_index, via, 2, CHAIN_PLAIN, err);
            if (status != IP_OK) {
                return status;
            }
            ++*found;
        }
    }
    return IP_OK;
}

/* An operand that the generator may give any register of this class. */
static bool operand_is_choice(const struct isa_operand *operand, enum isa_reg_class reg_class) {
    return operand->kind == ISA_OPERAND_REG && !operand->implicit && operand->reg < 0 && !operand->mask &&
           operand->reg_class == reg_class;
}

/* How many sources there are of the class of `src`, when `src` and `dst` are both free and of that class:
 * more than one can be the same register (idioms), a single one can be the destination (moves). */
static unsigned equal_sources_count(const struct isa_form *form, int src, int dst) {
    enum isa_reg_class reg_class = form->operands[src].reg_class;
    if (!operand_is_choice(&form->operands[src], reg_class) ||
        !operand_is_choice(&form->operands[dst], reg_class)) {
        return 0;
    }
    unsigned sources = 0;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        sources += operand_is_choice(&form->operands[i], reg_class) && form->operands[i].read;
    }
    return sources;
}

/* The transfer of this kind that takes the value on from operand `dst` of `form`; -1: none. */
static int restore_find(const struct session *session, const struct isa_form *form, int dst,
                        enum probe_restore restore) {
    for (size_t i = 0; i < session->transfers.count; i++) {
        const struct probe_transfer *transfer = &session->transfers.items[i];
        if (transfer->restore == restore && probe_transfer_fits(transfer, form, dst, -1)) {
            return (int)i;
        }
    }
    return -1;
}

/* The operand is put back after each instance, because quotients and roots of themselves soon become simple.
 */
static enum ip_status slow_chains_add(struct session *session, size_t form_index, size_t pair_index,
                                      struct ip_error *err) {
    const struct isa_form *form = session->forms[form_index];
    const struct probe_latency_pair *pair = &session->results[form_index].pairs[pair_index];
    if (!form_depends_on_values(form) || pair->path != PROBE_PATH_REGISTER ||
        probe_operand_file(&form->operands[pair->src]) != PROBE_FILE_VECTOR) {
        return IP_OK;
    }
    int via[VIA_MAX] = {restore_find(session, form, pair->dst, PROBE_RESTORE_AND), -1, -1};
    if (via[0] < 0) {
        return IP_OK;
    }
    const struct probe_transfer *first = &session->transfers.items[via[0]];
    via[1] = restore_find(session, &first->form, first->dst, PROBE_RESTORE_OR);
    return via[1] < 0 ? IP_OK : chain_add(session, form_index, pair_index, via, 2, CHAIN_SLOW_VALUES, err);
}

static enum ip_status pair_chains_add(struct session *session, size_t form_index, size_t pair_index,
                                      struct ip_error *err) {
    const struct isa_form *form = session->forms[form_index];
    struct probe_latency_pair *pair = &session->results[form_index].pairs[pair_index];
    const struct isa_operand *src = &form->operands[pair->src], *dst = &form->operands[pair->dst];
    if (operand_is_stack_pointer(src) || operand_is_stack_pointer(dst)) {
        snprintf(pair->why, sizeof pair->why, "the stack pointer is the harness's own and is not chained");
        return IP_OK;
    }
    enum probe_file from = probe_operand_file(src), to = probe_operand_file(dst);
    if (pair->path != PROBE_PATH_REGISTER) {
        from = pair->path == PROBE_PATH_INDEX ? PROBE_FILE_VECTOR : PROBE_FILE_GPR;
    }
    unsigned found = 0;
    enum ip_status status = IP_OK;
    if (from == to) {
        status = chain_add(session, form_index, pair_index, NULL, 0, CHAIN_PLAIN, err);
    }
    if (status == IP_OK && !(pair->src == pair->dst && from == PROBE_FILE_FLAGS)) {
        status = single_transfers_add(session, form_index, pair_index, CHAIN_PLAIN, &found, err);
        if (status == IP_OK && found == 0 && from != to && pair->path == PROBE_PATH_REGISTER) {
            status = double_transfers_add(session, form_index, pair_index, &found, err);
        }
        unsigned sources = equal_sources_count(form, pair->src, pair->dst);
        if (status == IP_OK && sources > 1 && pair->path == PROBE_PATH_REGISTER) {
            status = single_transfers_add(session, form_index, pair_index, CHAIN_SAME_REGISTER, &found, err);
        } else if (status == IP_OK && sources == 1 && pair->path == PROBE_PATH_REGISTER) {
            status = chain_add(session, form_index, pair_index, NULL, 0, CHAIN_SAME_REGISTER, err);
        }
    }
    if (status == IP_OK) {
        status = slow_chains_add(session, form_index, pair_index, err);
    }
    if (status == IP_OK && found == 0 && pair->why[0] == '\0') {
        snprintf(pair->why, sizeof pair->why, "no instruction carries the result back to the source");
    }
    return status;
}

/* -- What the chains say ------------------------------------------------------------------------------------
 */

/* What is left of a round once its transfers are taken off: exact where all of them are. */
static double round_rest(const struct session *session, const struct experiment *experiment, double cycles,
                         bool *exact) {
    *exact = true;
    cycles -= experiment->keeper_cycles;
    for (unsigned i = 0; i < experiment->via_count; i++) {
        const struct probe_transfer *transfer = &session->transfers.items[experiment->via[i]];
        cycles -= transfer->cycles;
        *exact = *exact && transfer->pinned;
    }
    return cycles > 0.0 ? cycles : 0.0;
}

static bool transfers_run(const struct session *session, const struct experiment *experiment) {
    for (unsigned i = 0; i < experiment->via_count; i++) {
        if (!session->transfers.items[experiment->via[i]].usable) {
            return false;
        }
    }
    return true;
}

/* A verdict that is at least as good: a steady value beats an unsteady one, whatever the cycles. */
static bool verdict_better(enum hx_verdict a, enum hx_verdict b) {
    return a == HX_VERDICT_OK && b != HX_VERDICT_OK;
}

/* "cmovb r64, r64 + vmovq xmm, r64", "3 x movsxd r64, r32" */
static void via_name(const struct session *session, const struct experiment *experiment, char *buffer,
                     size_t size) {
    buffer[0] = '\0';
    for (unsigned i = 0, same; i < experiment->via_count; i += same) {
        for (same = 1; i + same < experiment->via_count && experiment->via[i + same] == experiment->via[i];) {
            same++;
        }
        char times[16] = "";
        if (same > 1) {
            snprintf(times, sizeof times, "%u x ", same);
        }
        size_t used = strlen(buffer);
        snprintf(buffer + used, size - used, "%s%s%s", i != 0 ? " + " : "", times,
                 session->transfers.items[experiment->via[i]].form.syntax);
    }
}

/* Takes the chain's value for the pair if it is the best so far: steady before unsteady, exact before bound
 * at the same value, small before large. */
static void pair_take(const struct session *session, struct probe_latency_pair *pair,
                      const struct experiment *experiment, const struct hx_stat *stat) {
    bool exact;
    double cycles = round_rest(session, experiment, stat->cycles, &exact);
    bool take = !pair->measured || verdict_better(stat->verdict, pair->verdict);
    if (!take && !verdict_better(pair->verdict, stat->verdict)) {
        take = cycles < pair->cycles;
    }
    if (take) {
        pair->measured = true;
        pair->cycles = cycles;
        pair->upper_bound = !exact;
        pair->spread = stat->spread;
        pair->verdict = stat->verdict;
        pair->stat = *stat;
        via_name(session, experiment, pair->via, sizeof pair->via);
        pair->why[0] = '\0';
        if (stat->verdict != HX_VERDICT_OK) {
            snprintf(pair->why, sizeof pair->why, "%s", stat->why);
        }
    }
}

static double least(double a, double b) {
    return isnan(a) || b < a ? b : a;
}

/* The pair's chain to itself although its operands differ. */
static bool is_chain_to_itself(const struct experiment *experiment, const struct probe_latency_pair *pair) {
    return experiment->via_count == 0 && pair->src != pair->dst && pair->path == PROBE_PATH_REGISTER;
}

static void experiment_interpret(struct session *session, const struct experiment *experiment) {
    struct probe_latency_pair *pair = &session->results[experiment->form].pairs[experiment->pair];
    const struct hx_stat *stat = &session->batch.stats[experiment->slot];
    if (!transfers_run(session, experiment)) {
        return;
    }
    if (isnan(stat->cycles)) { /* a fault, or no sample that could be used */
        if (!pair->measured) {
            pair->verdict = stat->verdict;
            pair->stat = *stat;
            snprintf(pair->why, sizeof pair->why, "%s", stat->why);
        }
        return;
    }
    bool exact, steady = stat->verdict == HX_VERDICT_OK;
    double rest = round_rest(session, experiment, stat->cycles, &exact);
    const struct isa_form *form = session->forms[experiment->form];
    if (form->operands[pair->dst].kind == ISA_OPERAND_FLAGS && experiment->via_count > 0 &&
        rest < INDEPENDENT_CYCLES) {
        /* Nothing came through: a flag that the form leaves alone (undefined, or kept by a count of zero). */
        if (!pair->measured) {
            snprintf(pair->why, sizeof pair->why, "the flags do not depend on it");
        }
        return;
    }
    if (experiment->slow) {
        if (exact && steady) {
            pair->slow_cycles = least(pair->slow_cycles, rest);
        }
    } else if (experiment->same_register) {
        if (exact && steady) {
            pair->same_register_cycles = least(pair->same_register_cycles, rest);
        }
    } else if (is_chain_to_itself(experiment, pair)) {
        if (steady) {
            pair->chained_cycles = rest;
        }
    } else {
        pair_take(session, pair, experiment, stat);
    }
}

static bool experiment_tells_flags(const struct session *session, const struct experiment *experiment,
                                   const struct probe_latency_pair *pair, double *rest) {
    const struct hx_stat *stat = &session->batch.stats[experiment->slot];
    bool exact;
    *rest = round_rest(session, experiment, stat->cycles, &exact);
    return experiment->via_count > 0 && !experiment->same_register && !experiment->slow && exact &&
           transfers_run(session, experiment) && stat->verdict == HX_VERDICT_OK && pair->measured &&
           !pair->upper_bound && *rest >= INDEPENDENT_CYCLES;
}

/* The flag that the first transfer of a chain reads. */
static uint32_t experiment_flag(const struct session *session, const struct experiment *experiment) {
    return experiment->via_count > 0 ? session->transfers.items[experiment->via[0]].flags_read : 0;
}

/* The median of what the chains through one flag tell; NULL: there is none. */
static const struct experiment *flag_median_find(const struct session *session,
                                                 const struct probe_latency_pair *pair, size_t begin,
                                                 size_t end, uint32_t flag, double *median) {
    double values[EXPERIMENTS_OF_PAIR_MAX], rest;
    size_t count = 0;
    for (size_t i = begin; i < end && count < EXPERIMENTS_OF_PAIR_MAX; i++) {
        const struct experiment *experiment = &session->experiments[i];
        count += experiment_flag(session, experiment) == flag &&
                 experiment_tells_flags(session, experiment, pair, &values[count]);
    }
    if (count == 0) {
        return NULL;
    }
    hx_sort(values, count);
    *median = values[count / 2];
    for (size_t i = begin; i < end; i++) {
        const struct experiment *experiment = &session->experiments[i];
        if (experiment_flag(session, experiment) == flag &&
            experiment_tells_flags(session, experiment, pair, &rest) && rest == *median) {
            return experiment;
        }
    }
    return NULL;
}

/* Many transfers of exactly one cycle tell the same thing of a flag. What CMOV and SETcc wait for after logic
 * varies by 0.3 cycle either way with the place of the code, so the least of them would be the luckiest: the
 * median is taken; and of the flags the first to arrive. Experiments [begin, end) belong to one pair. */
static void flags_median_take(const struct session *session, struct probe_latency_pair *pair, size_t begin,
                              size_t end) {
    static const uint32_t FLAGS[] = {0x1, 0x4, 0x40, 0x80, 0x800}; /* CF PF ZF SF OF */
    const struct experiment *best = NULL;
    double least_cycles = INFINITY;
    for (size_t i = 0; i < sizeof FLAGS / sizeof FLAGS[0]; i++) {
        double median = INFINITY;
        const struct experiment *found = flag_median_find(session, pair, begin, end, FLAGS[i], &median);
        if (found != NULL && median < least_cycles) {
            least_cycles = median;
            best = found;
        }
    }
    if (best != NULL) {
        pair->measured = false;
        pair_take(session, pair, best, &session->batch.stats[best->slot]);
    }
}

static void session_flags_interpret(struct session *session) {
    for (size_t begin = 0, end; begin < session->experiment_count; begin = end) {
        const struct experiment *first = &session->experiments[begin];
        struct probe_latency_pair *pair = &session->results[first->form].pairs[first->pair];
        for (end = begin + 1; end < session->experiment_count; end++) {
            const struct experiment *next = &session->experiments[end];
            if (next->form != first->form || next->pair != first->pair) {
                break;
            }
        }
        if (session->forms[first->form]->operands[pair->dst].kind == ISA_OPERAND_FLAGS) {
            flags_median_take(session, pair, begin, end);
        }
    }
}

static void session_interpret(struct session *session) {
    for (size_t i = 0; i < session->experiment_count; i++) {
        experiment_interpret(session, &session->experiments[i]);
    }
    session_flags_interpret(session);
    /* Where one register makes no difference to a chain of the form itself, there is no such fact. */
    for (size_t i = 0; i < session->experiment_count; i++) {
        const struct experiment *experiment = &session->experiments[i];
        struct probe_latency_pair *pair = &session->results[experiment->form].pairs[experiment->pair];
        if (experiment->same_register && experiment->via_count == 0 &&
            fabs(pair->same_register_cycles - pair->chained_cycles) < SAME_CYCLES) {
            pair->same_register_cycles = NAN;
        }
    }
    /* Where no transfer closes a chain, the chain to itself is what is known. */
    for (size_t i = 0; i < session->experiment_count; i++) {
        const struct experiment *experiment = &session->experiments[i];
        struct probe_latency_pair *pair = &session->results[experiment->form].pairs[experiment->pair];
        const struct hx_stat *stat = &session->batch.stats[experiment->slot];
        if (!pair->measured && !experiment->same_register && !experiment->slow &&
            is_chain_to_itself(experiment, pair) && !isnan(stat->cycles)) {
            pair_take(session, pair, experiment, stat);
        }
    }
}

static enum ip_status session_run(struct session *session, const struct hx_meter *meter,
                                  struct gen_encoder *encoder, const struct isa_table *table,
                                  struct ip_error *err) {
    enum ip_status status = probe_transfers_init(&session->transfers, table, err);
    for (size_t i = 0; i < session->count && status == IP_OK; i++) {
        status = pairs_list(&session->results[i], session->forms[i], err);
        for (size_t j = 0; j < session->results[i].count && status == IP_OK; j++) {
            status = pair_chains_add(session, i, j, err);
        }
    }
    if (status == IP_OK) {
        status = probe_transfers_chains_add(&session->transfers, &session->batch, err);
    }
    if (status == IP_OK) {
        status = probe_batch_measure(&session->batch, meter, encoder, err);
    }
    if (status == IP_OK) {
        probe_transfers_calibrate(&session->transfers, session->batch.stats);
        session_interpret(session);
    }
    return status;
}

enum ip_status probe_latency_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                     const struct isa_table *table, struct isa_form *const *forms,
                                     size_t count, struct probe_latency *results, struct ip_error *err) {
    if (count == 0) {
        return IP_OK;
    }
    struct session session = {.forms = forms, .count = count};
    session.results = calloc(count, sizeof *session.results);
    if (session.results == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu forms: measure fewer", count);
    }
    enum ip_status status = session_run(&session, meter, encoder, table, err);
    if (status == IP_OK) {
        memcpy(results, session.results, count * sizeof *results);
        free(session.results);
        session.results = NULL; /* the pairs are the caller's now */
    }
    session_fini(&session);
    return status;
}
