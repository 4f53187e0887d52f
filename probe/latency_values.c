/* SPDX-License-Identifier: Apache-2.0 */
/* probe/latency_values.c - chains with operands that take longer than ordinary ones. */
#include <string.h>

#include "generator/operands.h"
#include "generator/shapes.h"
#include "probe/latency_chains.h"

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
        return latency_kind_add(session, form_index, pair_index, NULL, 0, LATENCY_SLOW_VALUES, err);
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
    return via[1] < 0 ? IP_OK
                      : latency_kind_add(session, form_index, pair_index, via, 2, LATENCY_SLOW_VALUES, err);
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
               ? latency_kind_add(session, form_index, pair_index, NULL, 0, LATENCY_SLOW_VALUES, err)
               : latency_single_transfers_add(session, form_index, pair_index, LATENCY_SLOW_VALUES,
                                              LATENCY_CHOOSE_FIRST, &found, err);
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
        if (vector && pair->src != pair->dst && latency_merges(form, pair->dst)) {
            return p == pair_index
                       ? latency_kind_add(session, form_index, pair_index, NULL, 0, LATENCY_OLD_MERGED, err)
                       : IP_OK;
        }
    }
    return IP_OK;
}

enum ip_status latency_values_add(struct latency_session *session, size_t form_index, size_t pair_index,
                                  struct ip_error *err) {
    const struct isa_form *form = session->forms[form_index];
    return gen_form_depends_on_values(form) ? slow_chains_add(session, form_index, pair_index, err)
           : gen_form_counts_in_cl(form)    ? zero_counts_add(session, form_index, pair_index, err)
                                            : old_merged_add(session, form_index, pair_index, err);
}
