/* SPDX-License-Identifier: Apache-2.0 */
/* probe/latency_session.h - what the parts of the latency probe share: the chains that were chosen for each
 * pair (latency_chains.c) and what is made of their cycles (latency_read.c). Internal to probe/. */
#ifndef ISAPROBE_PROBE_LATENCY_SESSION_H
#define ISAPROBE_PROBE_LATENCY_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "isa/form.h"
#include "probe/batch.h"
#include "probe/latency.h"
#include "probe/transfer.h"

enum { LATENCY_VIA_MAX = 9 }; /* transfers in a chain */

/* One chain for one pair. */
struct latency_experiment {
    size_t form, pair;        /* the pair is results[form].pairs[pair] */
    size_t slot;              /* in the batch */
    int via[LATENCY_VIA_MAX]; /* positions of the transfers */
    unsigned via_count;
    bool same_register;
    bool slow;            /* with values that take long */
    double keeper_cycles; /* what the generator adds to a round, exactly, to keep the source's value */
};

/* Everything that one call works on. */
struct latency_session {
    struct isa_form *const *forms;
    const uint64_t *asked; /* bit p of asked[i]: pair p of forms[i] is measured; NULL: all */
    size_t count;
    struct probe_latency *results;
    struct probe_transfers *transfers; /* borrowed; calibrated before or in this call */
    struct probe_batch batch;
    struct latency_experiment *experiments;
    size_t experiment_count, experiment_capacity;
};

/* Chooses the chains of results[form_index].pairs[pair_index] and adds them to the batch, of a pair that the
 * form alone chains at first only that and one with a transfer; where there is none, the pair says why. The
 * chains of a pair stand together in `experiments`. */
IP_CHECK enum ip_status latency_chains_add(struct latency_session *session, size_t form_index,
                                           size_t pair_index, struct ip_error *err);

/* Adds the other chains of pairs whose first ones did not say the same, which were measured. */
IP_CHECK enum ip_status latency_chains_add_rest(struct latency_session *session, struct ip_error *err);

/* Adds the chain of a pair through `via_count` transfers, in the order in which they stand behind the form;
 * where the generator knows none, the pair notes why. */
IP_CHECK enum ip_status latency_chain_add(struct latency_session *session, size_t form_index,
                                          size_t pair_index, const int *via, unsigned via_count,
                                          struct ip_error *err);

/* Marks as needed what latency_longer_add puts into rounds, if a needed transfer leads to or from vectors. */
void latency_delays_need(struct latency_session *session);

/* Adds longer rounds for the pairs, which were read, whose latency is no whole number of cycles and may pass
 * through a vector: docs/method.md, "Between two whole numbers". */
IP_CHECK enum ip_status latency_longer_add(struct latency_session *session, struct ip_error *err);

/* Of the chains [begin, end) of one pair the one whose value the pair was given; NULL: none. */
const struct latency_experiment *latency_teller_find(const struct latency_session *session, size_t begin,
                                                     size_t end);

/* Is it the pair's chain without transfers, whose value the others are held against? */
bool latency_is_anchor(const struct latency_experiment *experiment);

/* The pair of `latency` whose chains with one register for all sources tell for pair `p`, too: `p` itself, or
 * an earlier one with the same destination. */
size_t latency_same_register_teller(const struct isa_form *form, const struct probe_latency *latency,
                                    size_t p);

/* Of the chains from `first` on, those of one pair end before this one. */
size_t latency_pair_end(const struct latency_session *session, size_t first);

/* Says which of the chains that were added since the last measurement are rivals; the transfers are
 * calibrated. */
void latency_rivals_set(struct latency_session *session);

/* Fills the pairs from the statistics of the batch; the transfers are calibrated. */
void latency_session_read(struct latency_session *session);

/* Of the longer rounds, experiments[first...], which were measured: the least that tells the whole number
 * next below what its pair was given, or of a bound above, is the pair's from now on. */
void latency_longer_read(struct latency_session *session, size_t first);

#endif
