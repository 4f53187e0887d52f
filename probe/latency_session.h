/* SPDX-License-Identifier: Apache-2.0 */
/* probe/latency_session.h - what the parts of the latency probe share: the chains that were chosen for each
 * pair (latency_chains.c, latency_transfers.c, latency_values.c) and what is made of their cycles
 * (latency_read.c, latency_settle.c). Internal to probe/. */
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

/* A chain to the flags of which so little is left was none: no flag takes less than a cycle. Above the half
 * that two units leave of a form that waits for nothing (ROL by CL on a Zen 4: 0.50 to 0.54), below the 0.7
 * that a chain of one may seem to take (latency_read.c). */
#define LATENCY_INDEPENDENT_CYCLES 0.6
/* By so much what comes later than another is late. */
#define LATENCY_LATE_CYCLES 0.5

/* One chain for one pair. */
struct latency_experiment {
    size_t form, pair;        /* the pair is results[form].pairs[pair] */
    size_t slot;              /* in the batch */
    int via[LATENCY_VIA_MAX]; /* positions of the transfers */
    unsigned via_count;
    bool same_register;
    bool slow;             /* with values that take long */
    bool may_be_no_slower; /* than the ordinary ones: then it says nothing */
    unsigned nops;         /* in its round */
    bool is_outdone;       /* one without NOPs tells less: then it says nothing, either; set on reading */
    size_t shorter;        /* of a pair's longest round: the experiment that it should take longer than */
    double keeper_cycles;  /* what the generator adds to a round, exactly, to keep the source's value */
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

/* The same, with so many NOPs behind what stores in the round: docs/latency.md, "Memory". */
IP_CHECK enum ip_status latency_filled_add(struct latency_session *session, size_t form_index,
                                           size_t pair_index, const int *via, unsigned via_count,
                                           unsigned nops, struct ip_error *err);

/* Can the operand be an address? It is read as a whole general-purpose register. */
bool latency_is_address(const struct isa_operand *operand);

/* Does a transfer take its cycles whatever stands around it? What takes one, for no uop takes less. On a Zen
 * 5 the vectors' operations of one cycle take two beside others, and in long rounds now and then one. */
bool latency_delay_is_steady(const struct probe_transfer *transfer);

/* Marks as needed what latency_delayed_add puts into rounds of vectors and of masks, if a needed transfer
 * leads to or from them. */
void latency_delays_need(struct latency_session *session);

/* Adds the chain `like`, one with transfers, that goes through the same files, with `times` instructions of
 * `file` that only take their time instead of its transfers within a file; 0: as many as a chain may have;
 * of vectors ORs, or `shuffles`; and with so many NOPs behind what stores. Adds nothing where none may stand
 * in the chain. */
IP_CHECK enum ip_status latency_delayed_add(struct latency_session *session,
                                            const struct latency_experiment *like, enum probe_file file,
                                            bool shuffles, unsigned times, unsigned nops,
                                            struct ip_error *err);

/* Adds longer rounds for the pairs of experiments[0, read), which were read, whose latency is no whole number
 * of cycles, or later than from another source, and may pass through a vector or a mask: docs/latency.md,
 * "Between two whole numbers". */
IP_CHECK enum ip_status latency_longer_add(struct latency_session *session, size_t read,
                                           struct ip_error *err);

/* Of the longer rounds, experiments[first, end), which were measured: the least that tells the whole number
 * next below what its pair was given, or of a bound above, is the pair's from now on. */
void latency_longer_read(struct latency_session *session, size_t first, size_t end);

/* Adds the longest rounds for the pairs of experiments[0, read), which were read, where the form's own pace
 * may have made the round; where there is none, the pair's latency is an upper bound: docs/latency.md, "The
 * form's own pace". */
IP_CHECK enum ip_status latency_paced_add(struct latency_session *session, size_t read, struct ip_error *err);

/* Of these rounds, experiments[first, end), which were measured: where one tells less it is the pair's; a
 * pair whose round did not grow by what was put into it has an upper bound, or no dependence. */
void latency_paced_read(struct latency_session *session, size_t first, size_t end);

/* Of the chains [begin, end) of one pair the one whose value the pair was given; NULL: none. */
const struct latency_experiment *latency_teller_find(const struct latency_session *session, size_t begin,
                                                     size_t end);

/* What is left of a round of `cycles` once its transfers are taken off, not less than nothing; *exact: are
 * all of them known exactly? */
double latency_round_rest(const struct latency_session *session, const struct latency_experiment *experiment,
                          double cycles, bool *exact);

/* What the transfers of a round take, and what the generator adds to it. */
double latency_round_transfers(const struct latency_session *session,
                               const struct latency_experiment *experiment);

/* Gives the pair the chain's value, whatever it had. */
void latency_pair_give(const struct latency_session *session, struct probe_latency_pair *pair,
                       const struct latency_experiment *experiment);

/* Does the round take less than its transfers, beyond noise? Then no chain goes through the form. */
bool latency_round_is_short(const struct latency_session *session,
                            const struct latency_experiment *experiment, double cycles);

/* The pair's destination does not wait for its source: takes the number from it, and says so. */
void latency_pair_independent(const struct isa_form *form, struct probe_latency_pair *pair);

/* Does the chain tell what the pair was given, `least_cycles`, to within noise? Chains of different exactness
 * do not compare. *rest: what it tells. */
bool latency_chain_equals(const struct latency_session *session, const struct latency_experiment *experiment,
                          const struct probe_latency_pair *pair, double least_cycles, double *rest);

/* Can the chain tell something: do its transfers run, and was it measured and not only looked at? */
bool latency_transfers_run(const struct latency_session *session,
                           const struct latency_experiment *experiment);

/* The flag that the first transfer of a chain reads; 0: none. */
uint32_t latency_experiment_flag(const struct latency_session *session,
                                 const struct latency_experiment *experiment);

/* Is it the pair's chain to itself although its operands differ? */
bool latency_is_chain_to_itself(const struct latency_experiment *experiment,
                                const struct probe_latency_pair *pair);

/* After every chain was looked at alone: what all chains of a pair say together. (latency_settle.c) */
void latency_pairs_settle(struct latency_session *session);
/* At the end: bounds of what comes from memory, if it comes no sooner than from the address, so that it was
 * not passed on at rename, go without the cycle that a store or a load takes then. (latency_settle.c) */
void latency_buffered_settle(struct latency_session *session);

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

#endif
