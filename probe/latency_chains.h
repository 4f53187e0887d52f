/* SPDX-License-Identifier: Apache-2.0 */
/* probe/latency_chains.h - the steps of choosing the chains of a pair, for probe/latency_*.c only. */
#ifndef ISAPROBE_PROBE_LATENCY_CHAINS_H
#define ISAPROBE_PROBE_LATENCY_CHAINS_H

#include "probe/latency_session.h"

enum latency_kind {
    LATENCY_PLAIN,
    LATENCY_SAME_REGISTER,
    LATENCY_SLOW_VALUES,
    LATENCY_OLD_MERGED, /* what the form merges into was written many instructions before */
    LATENCY_LATE_LOAD
};

/* Which of the chains through single transfers. */
enum latency_choice {
    LATENCY_CHOOSE_ALL,
    LATENCY_CHOOSE_FIRST, /* the one that stands for all where it says what the form's own chain says */
    LATENCY_CHOOSE_REST,  /* all but that one */
};

/* Does the form, of EVEX, read the vector that it writes: is it merged under a mask, or a third source? */
bool latency_merges(const struct isa_form *form, int dst);

/* From the flags to the flags? */
bool latency_stays_in_flags(const struct isa_form *form, const struct probe_latency_pair *pair);

/* Adds the chain of a pair through `via_count` transfers, of the address of a store that with a late load,
 * too; where the generator knows no such chain, the pair notes why. */
IP_CHECK enum ip_status latency_kind_add(struct latency_session *session, size_t form_index,
                                         size_t pair_index, const int *via, unsigned via_count,
                                         enum latency_kind kind, struct ip_error *err);

/* Adds the chains through every single transfer that fits; *found counts them. (probe/latency_transfers.c) */
IP_CHECK enum ip_status latency_single_transfers_add(struct latency_session *session, size_t form_index,
                                                     size_t pair_index, enum latency_kind kind,
                                                     enum latency_choice choice, unsigned *found,
                                                     struct ip_error *err);
/* ... through two, one after the other. */
IP_CHECK enum ip_status latency_double_transfers_add(struct latency_session *session, size_t form_index,
                                                     size_t pair_index, unsigned *found,
                                                     struct ip_error *err);

/* Adds the chains of a pair with operands that take longer, or an older value to merge into, where the form
 * has such. (probe/latency_values.c) */
IP_CHECK enum ip_status latency_values_add(struct latency_session *session, size_t form_index,
                                           size_t pair_index, struct ip_error *err);

#endif
