/* SPDX-License-Identifier: Apache-2.0 */
/* Which chains are tried for a pair of operands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/operands.h"
#include "generator/shapes.h"
#include "probe/latency_chains.h"

static enum ip_status experiment_add(struct latency_session *session,
                                     const struct latency_experiment *experiment, struct gen_program *program,
                                     struct ip_error *err) {
    if (session->experiment_count == session->experiment_capacity) {
        size_t capacity = session->experiment_capacity != 0 ? session->experiment_capacity * 2 : 64;
        struct latency_experiment *grown = realloc(session->experiments, capacity * sizeof *grown);
        if (grown == NULL) {
            gen_program_fini(program);
            return ip_fail(err, IP_NO_MEMORY, "no memory for %zu chains: measure fewer forms", capacity);
        }
        session->experiments = grown;
        session->experiment_capacity = capacity;
    }
    struct latency_experiment *added = &session->experiments[session->experiment_count];
    *added = *experiment;
    enum ip_status status = probe_batch_add(&session->batch, program, &added->slot, err);
    if (status == IP_OK) {
        session->experiment_count++;
    }
    return status;
}

bool latency_merges(const struct isa_form *form, int dst) {
    const struct isa_operand *to = &form->operands[dst];
    return form->evex && to->kind == ISA_OPERAND_REG && isa_reg_is_vector(to->reg_class) && to->write &&
           (to->read || to->cond_write);
}

/* Registers that rotate in a chain; 0: the usual number. What is merged into was written a round before, by
 * the form itself: on a Zen 4 a shuffle that merges into what is older takes a cycle more in some rounds. */
static unsigned rotation_of(const struct latency_session *session, const struct isa_form *form,
                            const struct probe_latency_pair *pair, const int *via, unsigned via_count) {
    if (pair->src == pair->dst || !latency_merges(form, pair->dst)) {
        return 0;
    }
    unsigned vectors = 1;
    for (unsigned i = 0; i < via_count; i++) {
        vectors += session->transfers->items[via[i]].to == PROBE_FILE_VECTOR;
    }
    return via_count == 0 ? 2 : vectors;
}

/* Adds the chain of a pair through `via_count` transfers, with so many NOPs in the round; where the generator
 * knows no such chain, notes why. */
static enum ip_status one_chain_add(struct latency_session *session, size_t form_index, size_t pair_index,
                                    const int *via, unsigned via_count, enum latency_kind kind, unsigned nops,
                                    struct ip_error *err) {
    const struct isa_form *form = session->forms[form_index];
    struct probe_latency_pair *pair = &session->results[form_index].pairs[pair_index];
    struct gen_link links[1 + LATENCY_VIA_MAX] = {{.form = form,
                                                   .src = pair->src,
                                                   .dst = pair->dst,
                                                   .src_address = pair->path == PROBE_PATH_ADDRESS,
                                                   .src_index = pair->path == PROBE_PATH_INDEX,
                                                   .slow_values = kind == LATENCY_SLOW_VALUES,
                                                   .same_register = kind == LATENCY_SAME_REGISTER,
                                                   .late_load = kind == LATENCY_LATE_LOAD}};
    struct latency_experiment experiment = {.form = form_index,
                                            .pair = pair_index,
                                            .via_count = via_count,
                                            .nops = nops,
                                            .same_register = kind == LATENCY_SAME_REGISTER,
                                            .slow =
                                                kind == LATENCY_SLOW_VALUES || kind == LATENCY_OLD_MERGED};
    experiment.may_be_no_slower = experiment.slow && !gen_form_depends_on_values(form);
    for (unsigned i = 0; i < via_count; i++) {
        struct probe_transfer *transfer = &session->transfers->items[via[i]];
        transfer->needed = true;
        links[1 + i] = (struct gen_link){.form = &transfer->form, .src = transfer->src, .dst = transfer->dst};
        experiment.via[i] = via[i];
    }
    struct gen_program program;
    struct ip_error reason;
    gen_program_init(&program);
    /* A chain of one form with one register: the destination is the source. */
    unsigned registers = kind == LATENCY_SAME_REGISTER && via_count == 0 ? 1
                         : kind == LATENCY_OLD_MERGED                    ? 0
                                                      : rotation_of(session, form, pair, via, via_count);
    enum ip_status status = gen_latency_program(&program, links, 1 + via_count, registers, nops, &reason);
    if (status == IP_OK) {
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

/* Does the pair go from the address of what only stores to what it stores? */
static bool is_of_a_store(const struct isa_form *form, const struct probe_latency_pair *pair) {
    return pair->path == PROBE_PATH_ADDRESS && form->operands[pair->dst].kind == ISA_OPERAND_MEM &&
           !gen_form_modifies_memory(form);
}

/* The same, for the address of a store with a load whose address is known early and with one whose is not:
 * the less is the nearer bound, and cores differ in which that is. */
enum ip_status latency_kind_add(struct latency_session *session, size_t form_index, size_t pair_index,
                                const int *via, unsigned via_count, enum latency_kind kind,
                                struct ip_error *err) {
    enum ip_status status = one_chain_add(session, form_index, pair_index, via, via_count, kind, 0, err);
    bool both = kind == LATENCY_PLAIN &&
                is_of_a_store(session->forms[form_index], &session->results[form_index].pairs[pair_index]);
    return status == IP_OK && both
               ? one_chain_add(session, form_index, pair_index, via, via_count, LATENCY_LATE_LOAD, 0, err)
               : status;
}

enum ip_status latency_chain_add(struct latency_session *session, size_t form_index, size_t pair_index,
                                 const int *via, unsigned via_count, struct ip_error *err) {
    return latency_kind_add(session, form_index, pair_index, via, via_count, LATENCY_PLAIN, err);
}

enum ip_status latency_filled_add(struct latency_session *session, size_t form_index, size_t pair_index,
                                  const int *via, unsigned via_count, unsigned nops, struct ip_error *err) {
    return one_chain_add(session, form_index, pair_index, via, via_count, LATENCY_PLAIN, nops, err);
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

/* Does the pair have chains with one register for all sources, and several of them? */
static bool has_same_register(const struct isa_form *form, const struct probe_latency_pair *pair) {
    return pair->path == PROBE_PATH_REGISTER && equal_sources_count(form, pair->src, pair->dst) > 1 &&
           !gen_operand_is_consumed(form, (unsigned)pair->src);
}

/* Does it write one register alone? An exchange writes both that it reads, and which of them goes on matters.
 */
static bool has_one_destination(const struct isa_form *form) {
    unsigned destinations = 0;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        destinations += form->operands[i].kind == ISA_OPERAND_REG && form->operands[i].write;
    }
    return destinations == 1;
}

size_t latency_same_register_teller(const struct isa_form *form, const struct probe_latency *latency,
                                    size_t p) {
    size_t teller = p;
    bool shares = has_one_destination(form) && has_same_register(form, &latency->pairs[p]);
    for (size_t i = p; i > 0 && shares; i--) {
        const struct probe_latency_pair *other = &latency->pairs[i - 1];
        if (other->dst == latency->pairs[p].dst && has_same_register(form, other)) {
            teller = i - 1;
        }
    }
    return teller;
}

static bool operand_is_stack_pointer(const struct isa_operand *operand) {
    return operand->kind == ISA_OPERAND_REG && isa_reg_is_gpr(operand->reg_class) &&
           operand->reg_class != ISA_REG_GPR8H && operand->reg == 4;
}

/* A pair of registers of one file that the form alone can chain: one chain with a transfer says whether that
 * is all there is to know. */
static bool has_first_choice(const struct probe_latency_pair *pair, enum probe_file file) {
    return pair->path == PROBE_PATH_REGISTER && file != PROBE_FILE_FLAGS;
}

/* Why no chain can tell the pair; NULL: one may. */
static const char *refusal_of(const struct isa_form *form, const struct probe_latency_pair *pair) {
    const struct isa_operand *src = &form->operands[pair->src], *dst = &form->operands[pair->dst];
    const bool stores = dst->kind == ISA_OPERAND_MEM;
    if (operand_is_stack_pointer(src) || operand_is_stack_pointer(dst)) {
        return "the stack pointer is the harness's own and is not chained";
    }
    if (dst->kind == ISA_OPERAND_FLAGS && isa_form_flags_defined(form) == 0) {
        return "the flags are undefined";
    }
    if (gen_form_offsets_bits(form) && stores && pair->src == 1) {
        return "what was stored would be the next bit's offset";
    }
    if (gen_form_offsets_bits(form) && stores && pair->path == PROBE_PATH_ADDRESS) {
        /* A load behind it knows its own address first, guesses, and is done again (37 to 41 cycles on a Zen
         * 4, never twice the same). */
        return "the register moves the address: no load has the same in time";
    }
    if (gen_form_divides(form) && pair->path == PROBE_PATH_CONTENT && dst->kind == ISA_OPERAND_REG &&
        dst->reg == 2) {
        return "the remainder, zero, would be stored as the next divisor";
    }
    return NULL;
}

enum ip_status latency_chains_add(struct latency_session *session, size_t form_index, size_t pair_index,
                                  struct ip_error *err) {
    const struct isa_form *form = session->forms[form_index];
    struct probe_latency_pair *pair = &session->results[form_index].pairs[pair_index];
    const struct isa_operand *src = &form->operands[pair->src], *dst = &form->operands[pair->dst];
    const char *refusal = refusal_of(form, pair);
    if (refusal != NULL) {
        snprintf(pair->why, sizeof pair->why, "%s", refusal);
        return IP_OK;
    }
    if (gen_pointer_moves_alone(form, (unsigned)pair->src, (unsigned)pair->dst)) {
        latency_pair_independent(form, pair);
        return IP_OK;
    }
    enum probe_file from = probe_operand_file(src), to = probe_operand_file(dst);
    if (pair->path == PROBE_PATH_ADDRESS || pair->path == PROBE_PATH_INDEX) {
        from = pair->path == PROBE_PATH_INDEX ? PROBE_FILE_VECTOR : PROBE_FILE_GPR;
    }
    unsigned found = 0;
    enum ip_status status = IP_OK;
    size_t before = session->experiment_count;
    if (from == to) {
        status = latency_kind_add(session, form_index, pair_index, NULL, 0, LATENCY_PLAIN, err);
    }
    bool anchored = session->experiment_count > before && has_first_choice(pair, from);
    enum latency_choice choice = anchored ? LATENCY_CHOOSE_FIRST : LATENCY_CHOOSE_ALL;
    const bool flags_alone = latency_stays_in_flags(form, pair);
    /* A string's pointer goes on by itself; the generator puts it back. */
    bool pointer_alone = pair->src == pair->dst && from == PROBE_FILE_GPR && gen_operand_is_fixed(src) &&
                         gen_fixed_is_pointer(form, (unsigned)src->reg);
    if (status == IP_OK && !pointer_alone) {
        status =
            latency_single_transfers_add(session, form_index, pair_index, LATENCY_PLAIN, choice, &found, err);
        /* A mask loaded from what was stored in parts waits until all of it has left the store buffer. */
        bool wanted = (found == 0 && (from != to || flags_alone)) ||
                      (from == PROBE_FILE_MASK && to == PROBE_FILE_MEMORY);
        if (status == IP_OK && wanted && pair->path != PROBE_PATH_INDEX &&
            !gen_operand_is_consumed(form, (unsigned)pair->src)) {
            status = latency_double_transfers_add(session, form_index, pair_index, &found, err);
        }
        /* What is read and written alone has one register in any case. */
        bool moves = pair->src != pair->dst && equal_sources_count(form, pair->src, pair->dst) == 1;
        if (status == IP_OK && has_same_register(form, pair) &&
            latency_same_register_teller(form, &session->results[form_index], pair_index) == pair_index) {
            status = latency_single_transfers_add(session, form_index, pair_index, LATENCY_SAME_REGISTER,
                                                  choice, &found, err);
        } else if (status == IP_OK && moves && pair->path == PROBE_PATH_REGISTER) {
            status = latency_kind_add(session, form_index, pair_index, NULL, 0, LATENCY_SAME_REGISTER, err);
        }
    }
    if (status == IP_OK) {
        status = latency_values_add(session, form_index, pair_index, err);
    }
    if (status == IP_OK && found == 0 && pair->why[0] == '\0') {
        snprintf(pair->why, sizeof pair->why, "no instruction carries the result back to the source");
    }
    return status;
}

/* Had a chain of this kind with a transfer to be measured, and could be? Then the form's own did not say the
 * same. */
static bool kind_is_open(const struct latency_session *session, size_t begin, size_t end,
                         bool same_register) {
    for (size_t i = begin; i < end; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        if (experiment->via_count > 0 && !experiment->slow && experiment->same_register == same_register &&
            !session->batch.stats[experiment->slot].screened) {
            return true;
        }
    }
    return false;
}

enum ip_status latency_chains_add_rest(struct latency_session *session, struct ip_error *err) {
    const size_t first_count = session->experiment_count;
    enum ip_status status = IP_OK;
    for (size_t begin = 0, end; begin < first_count && status == IP_OK; begin = end) {
        end = latency_pair_end(session, begin);
        const struct latency_experiment first = session->experiments[begin];
        const struct probe_latency_pair *pair = &session->results[first.form].pairs[first.pair];
        enum probe_file from = probe_operand_file(&session->forms[first.form]->operands[pair->src]);
        bool runs = session->batch.stats[first.slot].verdict != HX_VERDICT_FAULT;
        if (!latency_is_anchor(&first) || !has_first_choice(pair, from) || !runs) {
            continue;
        }
        unsigned found = 0;
        if (kind_is_open(session, begin, end, false)) {
            status = latency_single_transfers_add(session, first.form, first.pair, LATENCY_PLAIN,
                                                  LATENCY_CHOOSE_REST, &found, err);
        }
        if (status == IP_OK && kind_is_open(session, begin, end, true)) {
            status = latency_single_transfers_add(session, first.form, first.pair, LATENCY_SAME_REGISTER,
                                                  LATENCY_CHOOSE_REST, &found, err);
        }
    }
    return status;
}
