/* SPDX-License-Identifier: Apache-2.0 */
/* probe/latency_transfers.c - chains that close through other instructions, one or two after the other. */
#include "generator/operands.h"
#include "probe/latency_chains.h"

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

bool latency_is_address(const struct isa_operand *operand) {
    return operand->reg_class == ISA_REG_GPR64 || operand->reg_class == ISA_REG_GPR32;
}

/* May the transfer alone close the pair's chain? An index is read as a whole vector. */
static bool transfer_closes(const struct probe_transfer *transfer, const struct isa_form *form,
                            const struct probe_latency_pair *pair) {
    const bool carries = transfer->restore == PROBE_RESTORE_NONE ||
                         (transfer->restore == PROBE_RESTORE_OR && pair->path == PROBE_PATH_REGISTER);
    /* The mask of a gather is consumed: it comes from what makes a new one of the zeros that were loaded. */
    const bool consumed = gen_operand_is_consumed(form, (unsigned)pair->src);
    if (consumed ? transfer->restore != PROBE_RESTORE_ONES : !carries) {
        return false;
    }
    if (pair->path == PROBE_PATH_REGISTER || pair->path == PROBE_PATH_CONTENT) {
        return probe_transfer_fits(transfer, form, pair->dst, pair->src);
    }
    const struct isa_operand *written = &transfer->form.operands[transfer->dst];
    bool whole =
        pair->path == PROBE_PATH_INDEX ? transfer->to == PROBE_FILE_VECTOR : latency_is_address(written);
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
                      delay->restore == PROBE_RESTORE_NONE && latency_delay_is_steady(delay) &&
                      probe_transfer_fits(delay, &delay->form, delay->dst, delay->src);
        bool stands = memory->to == PROBE_FILE_MEMORY
                          ? probe_transfer_fits(delay, form, pair->dst, -1) &&
                                probe_transfer_fits(delay, &memory->form, -1, memory->src)
                          : probe_transfer_fits(delay, &memory->form, memory->dst, -1) &&
                                (pair->path == PROBE_PATH_ADDRESS
                                     ? latency_is_address(&delay->form.operands[delay->dst])
                                     : probe_transfer_fits(delay, form, -1, pair->src));
        if (itself && stands) {
            return (int)i;
        }
    }
    return -1;
}

/* The same long round through memory with NOPs in it, as many as it hides on a core of four issue slots.
 * Without them so many rounds are on their way at once that dozens of loads wait for what is not stored yet,
 * and each is tried again when its turn comes, not when it could have its data. Not from the address of what
 * only stores: a load that is early may have what the store alone knows. */
static enum ip_status filled_add(struct latency_session *session, size_t form_index, size_t pair_index,
                                 const int *via, unsigned via_count, struct ip_error *err) {
    enum { NOPS = 36 };
    const struct isa_form *form = session->forms[form_index];
    const enum probe_path path = session->results[form_index].pairs[pair_index].path;
    const bool wanted =
        path == PROBE_PATH_CONTENT || (path == PROBE_PATH_ADDRESS && gen_form_modifies_memory(form));
    return wanted ? latency_filled_add(session, form_index, pair_index, via, via_count, NOPS, err) : IP_OK;
}

/* A load that is tried before the data of the store are there is tried again, later than need be: a round of
 * a store and a load alone can take longer than one with a few instructions more between the two. On a Golden
 * Cove MOVAPS there and back with two to four shuffles between takes now what it should, now a cycle more,
 * for seconds; with six it never did. */
static enum ip_status delayed_transfer_add(struct latency_session *session, size_t form_index,
                                           size_t pair_index, size_t memory, enum latency_kind kind,
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
        status = latency_kind_add(session, form_index, pair_index, via, REPEATS_SLOW + 1, kind, err);
        if (status == IP_OK && kind == LATENCY_PLAIN) {
            status = filled_add(session, form_index, pair_index, via, REPEATS_SLOW + 1, err);
        }
        delay = session->transfers->items[delay].to == PROBE_FILE_VECTOR
                    ? delay_find(session, transfer, form, pair, (size_t)delay + 1)
                    : -1;
    }
    return status;
}

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

enum ip_status latency_single_transfers_add(struct latency_session *session, size_t form_index,
                                            size_t pair_index, enum latency_kind kind,
                                            enum latency_choice choice, unsigned *found,
                                            struct ip_error *err) {
    const struct isa_form *form = session->forms[form_index];
    const struct probe_latency_pair *pair = &session->results[form_index].pairs[pair_index];
    const unsigned repeats = repeats_of(form);
    const int stands_first = choice == LATENCY_CHOOSE_ALL ? -1 : first_transfer_find(session, form, pair);
    for (size_t i = 0; i < session->transfers->count; i++) {
        struct probe_transfer *transfer = &session->transfers->items[i];
        if (!transfer_closes(transfer, form, pair)) {
            continue;
        }
        transfer->needed = true; /* if not now, perhaps later */
        ++*found;
        if (choice == LATENCY_CHOOSE_FIRST && (int)i != stands_first) {
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
        if (count < REPEATS_SLOW && !(choice == LATENCY_CHOOSE_REST && (int)i == stands_first)) {
            status = latency_kind_add(session, form_index, pair_index, via, 1, kind, err);
        }
        if (status == IP_OK && count > 1) {
            status = latency_kind_add(session, form_index, pair_index, via, count, kind, err);
        }
        /* Several times as well, where it chains to itself. */
        if (status == IP_OK && choice != LATENCY_CHOOSE_FIRST && transfer->from == transfer->to &&
            transfer->partner < 0 && kind == LATENCY_PLAIN &&
            probe_transfer_fits(transfer, &transfer->form, transfer->dst, transfer->src)) {
            status = latency_kind_add(session, form_index, pair_index, via, repeats, kind, err);
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

bool latency_stays_in_flags(const struct isa_form *form, const struct probe_latency_pair *pair) {
    return form->operands[pair->src].kind == ISA_OPERAND_FLAGS &&
           form->operands[pair->dst].kind == ISA_OPERAND_FLAGS;
}

enum { LONG_WAY = REPEATS_SLOW + 1 };

/* The way through these two transfers with sign extensions between, where they may stand there. */
static bool long_way_find(const struct latency_session *session, size_t first, size_t second,
                          int way[LATENCY_VIA_MAX]) {
    const struct probe_transfer *items = session->transfers->items;
    const int extension = extension_find(session, &items[first], &items[second].form, items[second].src);
    if (extension >= 0) {
        via_fill(way, extension);
        way[0] = (int)first;
        way[LONG_WAY - 1] = (int)second;
    }
    return extension >= 0;
}

enum ip_status latency_double_transfers_add(struct latency_session *session, size_t form_index,
                                            size_t pair_index, unsigned *found, struct ip_error *err) {
    const struct isa_form *form = session->forms[form_index];
    const struct probe_latency_pair *pair = &session->results[form_index].pairs[pair_index];
    const struct probe_transfers *transfers = session->transfers;
    /* A short round tells the form's own pace. */
    const bool wants_long = gen_form_modifies_memory(form) || latency_stays_in_flags(form, pair);
    for (size_t i = 0; i < transfers->count; i++) {
        const struct probe_transfer *first = &transfers->items[i];
        if (!file_is_between(first) || first->restore != PROBE_RESTORE_NONE ||
            !probe_transfer_fits(first, form, pair->dst, -1)) {
            continue;
        }
        bool is_filled = false;
        for (size_t j = 0; j < transfers->count; j++) {
            const struct probe_transfer *second = &transfers->items[j];
            bool to_source = pair->path == PROBE_PATH_ADDRESS
                                 ? latency_is_address(&second->form.operands[second->dst])
                                 : probe_transfer_fits(second, form, -1, pair->src);
            if (second->from != first->to || second->to == first->to || !to_source ||
                second->restore != PROBE_RESTORE_NONE ||
                !probe_transfer_fits(second, &first->form, first->dst, -1)) {
                continue;
            }
            const int both[2] = {(int)i, (int)j};
            int way[LATENCY_VIA_MAX];
            const bool may_be_long = long_way_find(session, i, j, way), is_long = wants_long && may_be_long;
            enum ip_status status = latency_kind_add(session, form_index, pair_index, is_long ? way : both,
                                                     is_long ? LONG_WAY : 2, LATENCY_PLAIN, err);
            if (status == IP_OK && may_be_long && !is_filled) {
                status = filled_add(session, form_index, pair_index, way, LONG_WAY, err);
                is_filled = true; /* what stands at the end of a long round makes no difference */
            }
            if (status != IP_OK) {
                return status;
            }
            ++*found;
            if (is_long) {
                break; /* nor here */
            }
        }
    }
    return IP_OK;
}
