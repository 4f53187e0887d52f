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

enum { LATENCY_VIA_MAX = 8 }; /* transfers in a chain */

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
    size_t count;
    struct probe_latency *results;
    struct probe_transfers *transfers; /* borrowed; calibrated before or in this call */
    struct probe_batch batch;
    struct latency_experiment *experiments;
    size_t experiment_count, experiment_capacity;
};

/* Chooses the chains of results[form_index].pairs[pair_index] and adds them to the batch; where there is
 * none, the pair says why. The chains of a pair stand together in `experiments`. */
IP_CHECK enum ip_status latency_chains_add(struct latency_session *session, size_t form_index,
                                           size_t pair_index, struct ip_error *err);

/* Says which chains are rivals, now that the transfers are calibrated. */
void latency_rivals_set(struct latency_session *session);

/* Fills the pairs from the statistics of the batch; the transfers are calibrated. */
void latency_session_read(struct latency_session *session);

#endif
