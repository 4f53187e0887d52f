/* SPDX-License-Identifier: Apache-2.0 */
/* Which chains are tried for a pair of operands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/operands.h"
#include "generator/shapes.h"
#include "probe/latency_session.h"

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

/* So often a transfer stands in the longer of two rounds: what the shorter hides behind the form's
 * throughput, or a quarrel over a port, shows there. Forms that change memory take up to four cycles each. */
enum { REPEATS = 3, REPEATS_SLOW = 6 };

static unsigned repeats_of(const struct isa_form *form) {
    return gen_form_modifies_memory(form) ? REPEATS_SLOW : REPEATS;
}

static void via_fill(int *via, int transfer) {
    for (unsigned i = 0; i < LATENCY_VIA_MAX; i++) {
        via[i] = transfer;
    }
}

enum chain_kind {
    CHAIN_PLAIN,
    CHAIN_SAME_REGISTER,
    CHAIN_SLOW_VALUES,
    CHAIN_OLD_MERGED, /* what the form merges into was written many instructions before */
    CHAIN_LATE_LOAD
};

/* Does the form, of EVEX, read the vector that it writes: is it merged under a mask, or a third source? */
static bool merges(const struct isa_form *form, int dst) {
    const struct isa_operand *to = &form->operands[dst];
    return form->evex && to->kind == ISA_OPERAND_REG && isa_reg_is_vector(to->reg_class) && to->write &&
           (to->read || to->cond_write);
}

/* Registers that rotate in a chain; 0: the usual number. What is merged into was written a round before, by
 * the form itself: on a Zen 4 a shuffle that merges into what is older takes a cycle more in some rounds. */
static unsigned rotation_of(const struct latency_session *session, const struct isa_form *form,
                            const struct probe_latency_pair *pair, const int *via, unsigned via_count) {
    if (pair->src == pair->dst || !merges(form, pair->dst)) {
        return 0;
    }
    unsigned vectors = 1;
    for (unsigned i = 0; i < via_count; i++) {
        vectors += session->transfers->items[via[i]].to == PROBE_FILE_VECTOR;
    }
    return via_count == 0 ? 2 : vectors;
}

/* Adds the chain of a pair through `via_count` transfers; where the generator knows no such chain, notes why.
 */
static enum ip_status one_chain_add(struct latency_session *session, size_t form_index, size_t pair_index,
                                    const int *via, unsigned via_count, enum chain_kind kind,
                                    struct ip_error *err) {
    const struct isa_form *form = session->forms[form_index];
    struct probe_latency_pair *pair = &session->results[form_index].pairs[pair_index];
    struct gen_link links[1 + LATENCY_VIA_MAX] = {{.form = form,
                                                   .src = pair->src,
                                                   .dst = pair->dst,
                                                   .src_address = pair->path == PROBE_PATH_ADDRESS,
                                                   .src_index = pair->path == PROBE_PATH_INDEX,
                                                   .slow_values = kind == CHAIN_SLOW_VALUES,
                                                   .same_register = kind == CHAIN_SAME_REGISTER,
                                                   .late_load = kind == CHAIN_LATE_LOAD}};
    struct latency_experiment experiment = {.form = form_index,
                                            .pair = pair_index,
                                            .via_count = via_count,
                                            .same_register = kind == CHAIN_SAME_REGISTER,
                                            .slow = kind == CHAIN_SLOW_VALUES || kind == CHAIN_OLD_MERGED};
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
    unsigned registers = kind == CHAIN_SAME_REGISTER && via_count == 0 ? 1
                         : kind == CHAIN_OLD_MERGED                    ? 0
                                                    : rotation_of(session, form, pair, via, via_count);
    enum ip_status status = gen_latency_program(&program, links, 1 + via_count, registers, 0, &reason);
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
static enum ip_status chain_add(struct latency_session *session, size_t form_index, size_t pair_index,
                                const int *via, unsigned via_count, enum chain_kind kind,
                                struct ip_error *err) {
    enum ip_status status = one_chain_add(session, form_index, pair_index, via, via_count, kind, err);
    bool both = kind == CHAIN_PLAIN &&
                is_of_a_store(session->forms[form_index], &session->results[form_index].pairs[pair_index]);
    return status == IP_OK && both
               ? one_chain_add(session, form_index, pair_index, via, via_count, CHAIN_LATE_LOAD, err)
               : status;
}

enum ip_status latency_chain_add(struct latency_session *session, size_t form_index, size_t pair_index,
                                 const int *via, unsigned via_count, struct ip_error *err) {
    return chain_add(session, form_index, pair_index, via, via_count, CHAIN_PLAIN, err);
}

/* An address is read as a whole general-purpose register. */
static bool operand_is_address(const struct isa_operand *operand) {
    return operand->reg_class == ISA_REG_GPR64 || operand->reg_class == ISA_REG_GPR32;
}

/* May the transfer alone close the pair's chain? An index is read as a whole vector. */
static bool transfer_closes(const struct probe_transfer *transfer, const struct isa_form *form,
                            const struct probe_latency_pair *pair) {
    /* The mask of a gather is consumed: it comes from what makes a new one of the zeros that were loaded. */
    enum probe_restore restore =
        gen_operand_is_consumed(form, (unsigned)pair->src) ? PROBE_RESTORE_ONES : PROBE_RESTORE_NONE;
    if (transfer->restore != restore) {
        return false;
    }
    if (pair->path == PROBE_PATH_REGISTER || pair->path == PROBE_PATH_CONTENT) {
        return probe_transfer_fits(transfer, form, pair->dst, pair->src);
    }
    const struct isa_operand *written = &transfer->form.operands[transfer->dst];
    bool whole =
        pair->path == PROBE_PATH_INDEX ? transfer->to == PROBE_FILE_VECTOR : operand_is_address(written);
    return whole && probe_transfer_fits(transfer, form, pair->dst, -1);
}

/* A sign extension that takes on what `transfer` writes, chains to itself, and serves `src`; -1: none. */
static int extension_find(const struct latency_session *session, const struct probe_transfer *transfer,
                          const struct isa_form *form, int src) {
    for (size_t i = 0; i < session->transfers->count; i++) {
        const struct probe_transfer *extension = &session->transfers->items[i];
        if (extension->from == PROBE_FILE_GPR && extension->to == PROBE_FILE_GPR &&
            probe_transfer_fits(extension, &extension->form, extension->dst, extension->src) &&
            probe_transfer_fits(extension, &transfer->form, transfer->dst, -1) &&
            probe_transfer_fits(extension, form, -1, src)) {
            return (int)i;
        }
    }
    return -1;
}

/* From `first` on, a transfer that chains to itself and can stand on the register side of a store or a load
 * of the chain; -1: none. */
static int delay_find(const struct latency_session *session, const struct probe_transfer *memory,
                      const struct isa_form *form, const struct probe_latency_pair *pair, size_t first) {
    for (size_t i = first; i < session->transfers->count; i++) {
        const struct probe_transfer *delay = &session->transfers->items[i];
        bool itself = delay->from == delay->to && delay->partner < 0 &&
                      delay->restore == PROBE_RESTORE_NONE &&
                      probe_transfer_fits(delay, &delay->form, delay->dst, delay->src);
        bool stands = memory->to == PROBE_FILE_MEMORY
                          ? probe_transfer_fits(delay, form, pair->dst, -1) &&
                                probe_transfer_fits(delay, &memory->form, -1, memory->src)
                          : probe_transfer_fits(delay, &memory->form, memory->dst, -1) &&
                                (pair->path == PROBE_PATH_ADDRESS
                                     ? operand_is_address(&delay->form.operands[delay->dst])
                                     : probe_transfer_fits(delay, form, -1, pair->src));
        if (itself && stands) {
            return (int)i;
        }
    }
    return -1;
}

/* A load that is tried before the data of the store are there is tried again, later than need be: a round of
 * a store and a load alone can take longer than one with a few instructions more between the two. On a Golden
 * Cove MOVAPS there and back with two to four shuffles between takes now what it should, now a cycle more,
 * for seconds; with six it never did. */
static enum ip_status delayed_transfer_add(struct latency_session *session, size_t form_index,
                                           size_t pair_index, size_t memory, enum chain_kind kind,
                                           struct ip_error *err) {
    enum { DELAYS = 2 }; /* of integers and of floating point: forwarding between the two may cost */
    const struct isa_form *form = session->forms[form_index];
    const struct probe_latency_pair *pair = &session->results[form_index].pairs[pair_index];
    const struct probe_transfer *transfer = &session->transfers->items[memory];
    enum ip_status status = IP_OK;
    int delay = delay_find(session, transfer, form, pair, 0);
    for (unsigned i = 0; i < DELAYS && delay >= 0 && status == IP_OK; i++) {
        int via[LATENCY_VIA_MAX];
        via_fill(via, delay);
        via[transfer->to == PROBE_FILE_MEMORY ? REPEATS_SLOW : 0] = (int)memory;
        status = chain_add(session, form_index, pair_index, via, REPEATS_SLOW + 1, kind, err);
        delay = session->transfers->items[delay].to == PROBE_FILE_VECTOR
                    ? delay_find(session, transfer, form, pair, (size_t)delay + 1)
                    : -1;
    }
    return status;
}

/* Which of the chains through single transfers. */
enum chain_choice {
    CHOICE_ALL,
    CHOICE_FIRST, /* the one that stands for all where it says what the form's own chain says */
    CHOICE_REST,  /* all but that one */
};

/* The transfer that is tried first: one for the form's kind of data where there is one, for forwarding
 * between integers and floating point may cost; -1: none. */
static int first_transfer_find(const struct latency_session *session, const struct isa_form *form,
                               const struct probe_latency_pair *pair) {
    int first = -1;
    for (size_t i = 0; i < session->transfers->count; i++) {
        const struct probe_transfer *transfer = &session->transfers->items[i];
        if (!transfer_closes(transfer, form, pair)) {
            continue;
        }
        if (transfer->form.floating == form->floating) {
            return (int)i;
        }
        first = first < 0 ? (int)i : first;
    }
    return first;
}

/* Adds the chains through every single transfer that fits; *found counts them. */
static enum ip_status single_transfers_add(struct latency_session *session, size_t form_index,
                                           size_t pair_index, enum chain_kind kind, enum chain_choice choice,
                                           unsigned *found, struct ip_error *err) {
    const struct isa_form *form = session->forms[form_index];
    const struct probe_latency_pair *pair = &session->results[form_index].pairs[pair_index];
    const unsigned repeats = repeats_of(form);
    const int stands_first = choice == CHOICE_ALL ? -1 : first_transfer_find(session, form, pair);
    for (size_t i = 0; i < session->transfers->count; i++) {
        struct probe_transfer *transfer = &session->transfers->items[i];
        if (!transfer_closes(transfer, form, pair)) {
            continue;
        }
        transfer->needed = true; /* if not now, perhaps later */
        ++*found;
        if (choice == CHOICE_FIRST && (int)i != stands_first) {
            continue;
        }
        int via[LATENCY_VIA_MAX];
        via_fill(via, (int)i);
        unsigned count = 1;
        enum ip_status status = IP_OK;
        if (transfer->from == PROBE_FILE_FLAGS && transfer->to == PROBE_FILE_GPR) {
            /* A round of two cycles is too short: right after logic, CMOV and SETcc then take up to 0.3 more
             * or less, as the code happens to lie. */
            int extension = extension_find(session, transfer, form, pair->src);
            via_fill(via, extension);
            via[0] = (int)i;
            count = extension < 0 ? 1 : repeats;
        }
        /* The median of all rounds is taken for a flag: none that is known to be too short. */
        if (count < REPEATS_SLOW && !(choice == CHOICE_REST && (int)i == stands_first)) {
            status = chain_add(session, form_index, pair_index, via, 1, kind, err);
        }
        if (status == IP_OK && count > 1) {
            status = chain_add(session, form_index, pair_index, via, count, kind, err);
        }
        /* Several times as well, where it chains to itself. */
        if (status == IP_OK && choice != CHOICE_FIRST && transfer->from == transfer->to &&
            transfer->partner < 0 && kind == CHAIN_PLAIN &&
            probe_transfer_fits(transfer, &transfer->form, transfer->dst, transfer->src)) {
            status = chain_add(session, form_index, pair_index, via, repeats, kind, err);
        }
        if (status == IP_OK && (transfer->to == PROBE_FILE_MEMORY || transfer->from == PROBE_FILE_MEMORY)) {
            status = delayed_transfer_add(session, form_index, pair_index, i, kind, err);
        }
        if (status != IP_OK) {
            return status;
        }
    }
    return IP_OK;
}

/* A file between two transfers: the general-purpose registers; the flags, where there is no other way out of
 * the x87 registers; the masks, where there is none of 512 bits out of the vectors; the vectors for what was
 * stored of them. */
static bool file_is_between(const struct probe_transfer *first) {
    return (first->to == PROBE_FILE_VECTOR && first->from == PROBE_FILE_MEMORY) ||
           (first->to == PROBE_FILE_GPR && first->from != PROBE_FILE_GPR) ||
           (first->to == PROBE_FILE_FLAGS && first->from == PROBE_FILE_X87) ||
           (first->to == PROBE_FILE_MASK && first->from == PROBE_FILE_VECTOR);
}

static bool stays_in_flags(const struct isa_form *form, const struct probe_latency_pair *pair) {
    return form->operands[pair->src].kind == ISA_OPERAND_FLAGS &&
           form->operands[pair->dst].kind == ISA_OPERAND_FLAGS;
}

/* Two transfers, one after the other. */
static enum ip_status double_transfers_add(struct latency_session *session, size_t form_index,
                                           size_t pair_index, unsigned *found, struct ip_error *err) {
    const struct isa_form *form = session->forms[form_index];
    const struct probe_latency_pair *pair = &session->results[form_index].pairs[pair_index];
    const struct probe_transfers *transfers = session->transfers;
    /* A short round tells the form's own pace. */
    const bool is_long = gen_form_modifies_memory(form) || stays_in_flags(form, pair);
    for (size_t i = 0; i < transfers->count; i++) {
        const struct probe_transfer *first = &transfers->items[i];
        if (!file_is_between(first) || first->restore != PROBE_RESTORE_NONE ||
            !probe_transfer_fits(first, form, pair->dst, -1)) {
            continue;
        }
        for (size_t j = 0; j < transfers->count; j++) {
            const struct probe_transfer *second = &transfers->items[j];
            bool to_source = pair->path == PROBE_PATH_ADDRESS
                                 ? operand_is_address(&second->form.operands[second->dst])
                                 : probe_transfer_fits(second, form, -1, pair->src);
            if (second->from != first->to || second->to == first->to || !to_source ||
                second->restore != PROBE_RESTORE_NONE ||
                !probe_transfer_fits(second, &first->form, first->dst, -1)) {
                continue;
            }
            int via[LATENCY_VIA_MAX] = {(int)i, (int)j};
            unsigned count = 2;
            int extension = extension_find(session, first, &second->form, second->src);
            if (is_long && extension >= 0) {
                via_fill(via, extension);
                via[0] = (int)i;
                via[REPEATS_SLOW] = (int)j;
                count = REPEATS_SLOW + 1;
            }
            enum ip_status status = chain_add(session, form_index, pair_index, via, count, CHAIN_PLAIN, err);
            if (status != IP_OK) {
                return status;
            }
            ++*found;
            if (count > 2) {
                break; /* what stands at the end of a long round makes no difference */
            }
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

/* The transfer of this kind that takes the value on from operand `dst` of `form`; -1: none. */
static int restore_find(const struct latency_session *session, const struct isa_form *form, int dst,
                        enum probe_restore restore) {
    for (size_t i = 0; i < session->transfers->count; i++) {
        const struct probe_transfer *transfer = &session->transfers->items[i];
        if (transfer->restore == restore && probe_transfer_fits(transfer, form, dst, -1)) {
            return (int)i;
        }
    }
    return -1;
}

/* Does the chain keep slow operands slow by itself? A quotient of integers does as the lower half of the next
 * dividend, whose upper half is renewed; not that of a byte, which lies beside its remainder. An x87 number
 * that is divided again and again keeps an irregular mantissa. */
static bool stays_slow(const struct isa_form *form, const struct probe_latency_pair *pair) {
    const struct isa_operand *src = &form->operands[pair->src], *dst = &form->operands[pair->dst];
    enum probe_file file = probe_operand_file(src);
    if (gen_form_divides(form)) {
        return file == PROBE_FILE_GPR && dst->reg == 0 && dst->bits >= 32 &&
               (src->reg == 0 || !src->implicit);
    }
    return file == PROBE_FILE_X87 && pair->src == pair->dst && strstr(form->mnemonic, "div") != NULL;
}

/* Quotients and roots of themselves soon become simple: the operand of a vector is put back after each
 * instance. */
static enum ip_status slow_chains_add(struct latency_session *session, size_t form_index, size_t pair_index,
                                      struct ip_error *err) {
    const struct isa_form *form = session->forms[form_index];
    const struct probe_latency_pair *pair = &session->results[form_index].pairs[pair_index];
    if (pair->path != PROBE_PATH_REGISTER) {
        return IP_OK;
    }
    if (stays_slow(form, pair)) {
        return chain_add(session, form_index, pair_index, NULL, 0, CHAIN_SLOW_VALUES, err);
    }
    if (probe_operand_file(&form->operands[pair->src]) != PROBE_FILE_VECTOR) {
        return IP_OK;
    }
    int via[LATENCY_VIA_MAX] = {restore_find(session, form, pair->dst, PROBE_RESTORE_AND), -1, -1};
    if (via[0] < 0) {
        return IP_OK;
    }
    const struct probe_transfer *first = &session->transfers->items[via[0]];
    via[1] = restore_find(session, &first->form, first->dst, PROBE_RESTORE_OR);
    return via[1] < 0 ? IP_OK : chain_add(session, form_index, pair_index, via, 2, CHAIN_SLOW_VALUES, err);
}

/* With a count of zero the flags are the old ones, which a core may have to wait for. */
static enum ip_status zero_counts_add(struct latency_session *session, size_t form_index, size_t pair_index,
                                      struct ip_error *err) {
    const struct isa_form *form = session->forms[form_index];
    const struct probe_latency_pair *pair = &session->results[form_index].pairs[pair_index];
    const struct isa_operand *src = &form->operands[pair->src];
    if (pair->path != PROBE_PATH_REGISTER || probe_operand_file(src) != PROBE_FILE_GPR ||
        pair->src + 1 == form->explicit_count) { /* CL itself would not stay zero */
        return IP_OK;
    }
    unsigned found = 0;
    return pair->src == pair->dst
               ? chain_add(session, form_index, pair_index, NULL, 0, CHAIN_SLOW_VALUES, err)
               : single_transfers_add(session, form_index, pair_index, CHAIN_SLOW_VALUES, CHOICE_FIRST,
                                      &found, err);
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

/* What is merged into may be old, and a core may take longer then. One pair tells it for all. */
static enum ip_status old_merged_add(struct latency_session *session, size_t form_index, size_t pair_index,
                                     struct ip_error *err) {
    const struct isa_form *form = session->forms[form_index];
    const struct probe_latency *latency = &session->results[form_index];
    for (size_t p = 0; p <= pair_index; p++) {
        const struct probe_latency_pair *pair = &latency->pairs[p];
        bool vector = pair->path == PROBE_PATH_REGISTER &&
                      probe_operand_file(&form->operands[pair->src]) == PROBE_FILE_VECTOR;
        if (vector && pair->src != pair->dst && merges(form, pair->dst)) {
            return p == pair_index
                       ? chain_add(session, form_index, pair_index, NULL, 0, CHAIN_OLD_MERGED, err)
                       : IP_OK;
        }
    }
    return IP_OK;
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
    enum probe_file from = probe_operand_file(src), to = probe_operand_file(dst);
    if (pair->path == PROBE_PATH_ADDRESS || pair->path == PROBE_PATH_INDEX) {
        from = pair->path == PROBE_PATH_INDEX ? PROBE_FILE_VECTOR : PROBE_FILE_GPR;
    }
    unsigned found = 0;
    enum ip_status status = IP_OK;
    size_t before = session->experiment_count;
    if (from == to) {
        status = chain_add(session, form_index, pair_index, NULL, 0, CHAIN_PLAIN, err);
    }
    bool anchored = session->experiment_count > before && has_first_choice(pair, from);
    enum chain_choice choice = anchored ? CHOICE_FIRST : CHOICE_ALL;
    const bool flags_alone = stays_in_flags(form, pair);
    /* A string's pointer goes on by itself; the generator puts it back. */
    bool pointer_alone = pair->src == pair->dst && from == PROBE_FILE_GPR && gen_operand_is_fixed(src) &&
                         gen_fixed_is_pointer(form, (unsigned)src->reg);
    if (status == IP_OK && !pointer_alone) {
        status = single_transfers_add(session, form_index, pair_index, CHAIN_PLAIN, choice, &found, err);
        /* A mask loaded from what was stored in parts waits until all of it has left the store buffer. */
        bool wanted = (found == 0 && (from != to || flags_alone)) ||
                      (from == PROBE_FILE_MASK && to == PROBE_FILE_MEMORY);
        if (status == IP_OK && wanted && pair->path != PROBE_PATH_INDEX &&
            !gen_operand_is_consumed(form, (unsigned)pair->src)) {
            status = double_transfers_add(session, form_index, pair_index, &found, err);
        }
        unsigned sources = equal_sources_count(form, pair->src, pair->dst);
        if (status == IP_OK && has_same_register(form, pair) &&
            latency_same_register_teller(form, &session->results[form_index], pair_index) == pair_index) {
            status = single_transfers_add(session, form_index, pair_index, CHAIN_SAME_REGISTER, choice,
                                          &found, err);
        } else if (status == IP_OK && sources == 1 && pair->path == PROBE_PATH_REGISTER) {
            status = chain_add(session, form_index, pair_index, NULL, 0, CHAIN_SAME_REGISTER, err);
        }
    }
    if (status == IP_OK) {
        status = gen_form_depends_on_values(form) ? slow_chains_add(session, form_index, pair_index, err)
                 : gen_form_counts_in_cl(form)    ? zero_counts_add(session, form_index, pair_index, err)
                                                  : old_merged_add(session, form_index, pair_index, err);
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
            status =
                single_transfers_add(session, first.form, first.pair, CHAIN_PLAIN, CHOICE_REST, &found, err);
        }
        if (status == IP_OK && kind_is_open(session, begin, end, true)) {
            status = single_transfers_add(session, first.form, first.pair, CHAIN_SAME_REGISTER, CHOICE_REST,
                                          &found, err);
        }
    }
    return status;
}
