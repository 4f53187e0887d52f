/* SPDX-License-Identifier: Apache-2.0 */
/* probe/latency_settle.c - what all chains of a pair say together. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/stats.h"
#include "probe/latency_session.h"
#include "probe/outside.h"
#include "probe/rivals.h"

enum { EXPERIMENTS_OF_PAIR_MAX = 256 };

/* Chains of a pair tell the same when they are so near to the least of them. */
#define EQUAL_RELATIVE    0.04
#define EQUAL_CYCLES_MOST 0.2
#define EQUAL_CYCLES      0.03
/* A chain without transfers tells the same when it is so near: further than noise, nearer than any true
 * difference, which is a cycle (vfmaddcph takes 14 chained to itself and 15 behind a shuffle). */
#define DIRECT_RELATIVE    0.06
#define DIRECT_CYCLES      0.08
#define DIRECT_CYCLES_MOST 0.5
/* And when it is a whole number, as all latencies are, and the least of the others is none: a divider that
 * takes 10 or 11 cycles, by the pipe that its uops go to, takes 10.4 behind shuffles and 11.0 alone (Zen 4).
 */
#define DIRECT_WHOLE_RELATIVE 0.09
#define DIRECT_WHOLE_MORE     0.9
#define DIRECT_WHOLE_LESS     0.7
/* So near to a whole number is one. */
#define WHOLE_RELATIVE    0.01
#define WHOLE_CYCLES      0.03
#define WHOLE_CYCLES_MOST 0.09

/* Latencies are whole numbers of cycles. A fraction beyond noise tells of conflicts in the chain: µops that
 * wait for a port, values that come now by one bypass and now by another. */
static bool is_whole(double cycles) {
    double near = fmax(fmin(WHOLE_RELATIVE * cycles, WHOLE_CYCLES_MOST), WHOLE_CYCLES);
    return fabs(cycles - round(cycles)) <= near;
}

static bool experiment_tells_flags(const struct latency_session *session,
                                   const struct latency_experiment *experiment,
                                   const struct probe_latency_pair *pair, double *rest) {
    const struct hx_stat *stat = &session->batch.stats[experiment->slot];
    bool exact;
    *rest = latency_round_rest(session, experiment, stat->cycles, &exact);
    return experiment->via_count > 0 && !experiment->same_register && !experiment->slow && exact &&
           latency_transfers_run(session, experiment) && stat->verdict == HX_VERDICT_OK && pair->measured &&
           !pair->upper_bound && *rest >= LATENCY_INDEPENDENT_CYCLES;
}

/* Says one of the chains that nothing comes through this flag? In a short round the form may take longer than
 * its transfers by itself, and seem to have a latency: `shrd r64, r64, imm8` 2.00 with a CMOVC and with two
 * more instructions (Zen 4), for its carry does not depend on the second operand. */
static bool flag_is_vetoed(const struct latency_session *session, size_t begin, size_t end, uint32_t flag) {
    for (size_t i = begin; i < end; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        if (latency_experiment_flag(session, experiment) == flag &&
            probe_rival_is_veto(&session->batch.rivals[experiment->slot],
                                &session->batch.stats[experiment->slot])) {
            return true;
        }
    }
    return false;
}

/* The median of what the chains through one flag tell; NULL: there is none. */
static const struct latency_experiment *flag_median_find(const struct latency_session *session,
                                                         const struct probe_latency_pair *pair, size_t begin,
                                                         size_t end, uint32_t flag, double *median) {
    double values[EXPERIMENTS_OF_PAIR_MAX], rest;
    size_t count = 0;
    for (size_t i = begin; i < end && count < EXPERIMENTS_OF_PAIR_MAX; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        count += latency_experiment_flag(session, experiment) == flag &&
                 experiment_tells_flags(session, experiment, pair, &values[count]);
    }
    if (count == 0) {
        return NULL;
    }
    hx_sort(values, count);
    *median = values[probe_rivals_quick(values, count) / 2];
    for (size_t i = begin; i < end; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        if (latency_experiment_flag(session, experiment) == flag &&
            experiment_tells_flags(session, experiment, pair, &rest) && rest == *median) {
            return experiment;
        }
    }
    return NULL;
}

/* Many transfers of exactly one cycle tell the same thing of a flag. What CMOV and SETcc wait for after logic
 * varies by 0.3 cycle either way with the place of the code, so the least of them would be the luckiest: the
 * median is taken; and of the flags the first to arrive. Experiments [begin, end) belong to one pair. */
static void flags_median_take(const struct latency_session *session, struct probe_latency_pair *pair,
                              size_t begin, size_t end) {
    static const uint32_t FLAGS[] = {0x1, 0x4, 0x40, 0x80, 0x800}; /* CF PF ZF SF OF */
    const struct latency_experiment *best = NULL;
    double least_cycles = INFINITY;
    bool vetoed = false;
    for (size_t i = 0; i < sizeof FLAGS / sizeof FLAGS[0]; i++) {
        double median = INFINITY;
        if (flag_is_vetoed(session, begin, end, FLAGS[i])) {
            vetoed = true;
            continue;
        }
        const struct latency_experiment *found =
            flag_median_find(session, pair, begin, end, FLAGS[i], &median);
        if (found != NULL && median < least_cycles) {
            least_cycles = median;
            best = found;
        }
    }
    if (best != NULL) {
        latency_pair_give(session, pair, best);
    } else if (vetoed && !pair->upper_bound) {
        latency_pair_independent(session->forms[session->experiments[begin].form], pair);
    }
}

bool latency_chain_equals(const struct latency_session *session, const struct latency_experiment *experiment,
                          const struct probe_latency_pair *pair, double least_cycles, double *rest) {
    const struct hx_stat *stat = &session->batch.stats[experiment->slot];
    bool exact;
    *rest = latency_round_rest(session, experiment, stat->cycles, &exact);
    return !experiment->same_register && !experiment->slow && !latency_is_chain_to_itself(experiment, pair) &&
           exact == !pair->upper_bound && latency_transfers_run(session, experiment) &&
           stat->verdict == HX_VERDICT_OK &&
           *rest <= least_cycles + fmax(fmin(EQUAL_RELATIVE * least_cycles, EQUAL_CYCLES_MOST), EQUAL_CYCLES);
}

const struct latency_experiment *latency_teller_find(const struct latency_session *session, size_t begin,
                                                     size_t end) {
    const struct latency_experiment *all = session->experiments;
    const struct probe_latency_pair *pair = &session->results[all[begin].form].pairs[all[begin].pair];
    for (size_t i = begin; i < end; i++) {
        double rest;
        bool equals = latency_chain_equals(session, &all[i], pair, pair->cycles, &rest);
        if ((equals || latency_is_anchor(&all[i])) && rest == pair->cycles) {
            return &all[i];
        }
    }
    return NULL;
}

/* Does the chain without transfers, which takes `direct`, tell the same as the least of the others? */
static bool direct_tells(double direct, double least_cycles) {
    double more = direct - least_cycles;
    double near = fmax(fmin(DIRECT_RELATIVE * least_cycles, DIRECT_CYCLES_MOST), DIRECT_CYCLES);
    bool better = is_whole(direct) && !is_whole(least_cycles);
    return fabs(more) <= near || (better && more >= -DIRECT_WHOLE_LESS &&
                                  more <= fmin(DIRECT_WHOLE_RELATIVE * least_cycles, DIRECT_WHOLE_MORE));
}

/* The chain without transfers, if it was measured well. */
static const struct latency_experiment *anchor_find(const struct latency_session *session, size_t begin,
                                                    size_t end, double *cycles) {
    for (size_t i = begin; i < end; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        const struct hx_stat *stat = &session->batch.stats[experiment->slot];
        if (latency_is_anchor(experiment) && stat->verdict == HX_VERDICT_OK) {
            bool exact; /* there is nothing to subtract */
            *cycles = latency_round_rest(session, experiment, stat->cycles, &exact);
            return experiment;
        }
    }
    return NULL;
}

/* The chain without transfers that tells the same as the pair was given, if there is one. Nothing is
 * subtracted from it, so it has a fraction of the noise of the others. */
static const struct latency_experiment *direct_find(const struct latency_session *session,
                                                    const struct probe_latency_pair *pair, size_t begin,
                                                    size_t end) {
    double cycles;
    const struct latency_experiment *anchor = anchor_find(session, begin, end, &cycles);
    return anchor != NULL && direct_tells(cycles, pair->cycles) ? anchor : NULL;
}

/* From the flags to the flags: the form alone where it tells the same, and where it tells less, for flags
 * that come late to who reads them may be sooner for it. */
static void direct_take(const struct latency_session *session, struct probe_latency_pair *pair, size_t begin,
                        size_t end) {
    double cycles;
    const struct latency_experiment *anchor = anchor_find(session, begin, end, &cycles);
    if (anchor != NULL && (direct_tells(cycles, pair->cycles) || cycles < pair->cycles)) {
        latency_pair_give(session, pair, anchor);
    }
}

/* Keeps the whole numbers, where there are any. Returns how many stay. */
static size_t keep_whole(double *values, size_t count) {
    size_t whole = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_whole(values[i])) {
            values[whole++] = values[i];
        }
    }
    return whole > 0 ? whole : count;
}

/* The least of many chains that tell the same is the one with the luckiest noise: a chain without transfers
 * goes first, else the median of all that equal the least, of those that tell a whole number where there are
 * such. */
static void equals_median_take(const struct latency_session *session, struct probe_latency_pair *pair,
                               size_t begin, size_t end) {
    double values[EXPERIMENTS_OF_PAIR_MAX], rest;
    double least_cycles = pair->cycles;
    const struct latency_experiment *chosen = direct_find(session, pair, begin, end);
    size_t count = 0;
    for (size_t i = begin; i < end && count < EXPERIMENTS_OF_PAIR_MAX && chosen == NULL; i++) {
        if (latency_chain_equals(session, &session->experiments[i], pair, least_cycles, &rest)) {
            values[count++] = rest;
        }
    }
    if (chosen == NULL && count > 0) {
        count = keep_whole(values, count);
        hx_sort(values, count);
        for (size_t i = begin; i < end && chosen == NULL; i++) {
            const struct latency_experiment *experiment = &session->experiments[i];
            if (latency_chain_equals(session, experiment, pair, least_cycles, &rest) &&
                rest == values[count / 2]) {
                chosen = experiment;
            }
        }
    }
    if (chosen != NULL) {
        latency_pair_give(session, pair, chosen);
    }
}

static bool is_rival(const struct latency_experiment *experiment, const struct probe_latency_pair *pair) {
    return !experiment->same_register && !experiment->slow && !latency_is_chain_to_itself(experiment, pair);
}

static bool is_noisy(const struct latency_session *session, const struct latency_experiment *experiment) {
    return hx_verdict_is_noise(session->batch.stats[experiment->slot].verdict);
}

/* Did noise spoil one of a pair's chains, and each other through the same transfer? */
static bool transfer_is_unheard(const struct latency_session *session, const struct probe_latency_pair *pair,
                                size_t begin, size_t end) {
    const struct latency_experiment *all = session->experiments;
    for (size_t i = begin; i < end; i++) {
        bool unheard = all[i].via_count > 0 && is_rival(&all[i], pair) && is_noisy(session, &all[i]);
        for (size_t j = begin; j < end && unheard; j++) {
            bool same = all[j].via_count > 0 && all[j].via[0] == all[i].via[0] && is_rival(&all[j], pair);
            unheard = !same || is_noisy(session, &all[j]);
        }
        if (unheard) {
            return true;
        }
    }
    return false;
}

/* May all transfers be late to the pair? The form takes less to itself, or noise kept that from being told.
 */
static bool may_be_late(const struct latency_session *session, const struct probe_latency_pair *pair,
                        size_t begin, size_t end) {
    bool itself_is_noisy = false;
    for (size_t i = begin; i < end; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        itself_is_noisy = itself_is_noisy || (latency_is_chain_to_itself(experiment, pair) &&
                                              !experiment->same_register && is_noisy(session, experiment));
    }
    return isnan(pair->chained_cycles) ? itself_is_noisy
                                       : pair->chained_cycles < pair->cycles - LATENCY_LATE_CYCLES;
}

/* Do NOPs tell the pair that are in no other of its rounds, since noise spoiled the same one without them?
 * Where it is shorter than so many take to issue they tell that. */
static bool nops_are_alone(const struct latency_session *session, size_t begin, size_t end) {
    const struct latency_experiment *all = session->experiments;
    const struct latency_experiment *teller = latency_teller_find(session, begin, end);
    bool alone = false;
    for (size_t i = begin; i < end && teller != NULL && teller->nops > 0; i++) {
        bool same = all[i].nops == 0 && !all[i].same_register && !all[i].slow &&
                    all[i].via_count == teller->via_count &&
                    memcmp(all[i].via, teller->via, teller->via_count * sizeof *teller->via) == 0;
        alone = alone || (same && is_noisy(session, &all[i]));
    }
    return alone;
}

/* Marks a pair whose value looks good but is not to be trusted: the least may be among what was disturbed
 * when that is the chain of the form alone, or most of the others; or when all others may be late, and
 * nothing was heard of one transfer: on a Zen 3 shuffles are late to floating point, by a cycle each way, and
 * VORPS is not; or when it is told by NOPs alone. */
static void pair_doubt(const struct latency_session *session, struct probe_latency_pair *pair, size_t begin,
                       size_t end) {
    const struct isa_form *form = session->forms[session->experiments[begin].form];
    size_t disturbed = 0, noisy = 0, others = 0;
    bool direct = false, idiom = false;
    for (size_t i = begin; i < end; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        bool bad = session->batch.stats[experiment->slot].verdict == HX_VERDICT_DISTURBED;
        idiom = idiom || (bad && experiment->same_register);
        if (!is_rival(experiment, pair)) {
            continue;
        }
        direct = direct || (bad && experiment->via_count == 0);
        disturbed += bad;
        noisy += is_noisy(session, experiment);
        others += !bad;
    }
    if (!pair->measured || pair->verdict != HX_VERDICT_OK) {
        return;
    }
    bool unheard =
        (may_be_late(session, pair, begin, end) && transfer_is_unheard(session, pair, begin, end)) ||
        nops_are_alone(session, begin, end);
    if (probe_is_outside(form, pair->cycles, pair->why, sizeof pair->why)) {
        pair->verdict = HX_VERDICT_UNSTABLE;
    } else if (direct || disturbed > others || unheard) {
        pair->verdict = HX_VERDICT_DISTURBED;
        snprintf(pair->why, sizeof pair->why, "disturbed: %zu of %zu chains were never undisturbed",
                 unheard ? noisy : disturbed, disturbed + others);
    } else if (idiom && isnan(pair->same_register_cycles)) {
        pair->verdict = HX_VERDICT_DISTURBED;
        snprintf(pair->why, sizeof pair->why,
                 "disturbed: no chain with one register for all sources was undisturbed");
    }
}

/* With one register for all sources the chains looked like the pair's own, their anchor, and none was
 * measured: they take what it takes. */
static void anchored_same_register_take(const struct latency_session *session,
                                        struct probe_latency_pair *pair, size_t begin, size_t end) {
    const struct latency_experiment *anchor = NULL;
    bool looked = false;
    for (size_t i = begin; i < end; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        const struct hx_stat *stat = &session->batch.stats[experiment->slot];
        if (latency_is_anchor(experiment) && stat->verdict == HX_VERDICT_OK) {
            anchor = experiment;
        } else if (experiment->same_register && !stat->screened) {
            return;
        }
        looked = looked || experiment->same_register;
    }
    if (anchor != NULL && looked) {
        bool exact;
        pair->same_register_cycles =
            latency_round_rest(session, anchor, session->batch.stats[anchor->slot].cycles, &exact);
    }
}

void latency_pairs_settle(struct latency_session *session) {
    for (size_t begin = 0, end; begin < session->experiment_count; begin = end) {
        const struct latency_experiment *first = &session->experiments[begin];
        struct probe_latency_pair *pair = &session->results[first->form].pairs[first->pair];
        end = latency_pair_end(session, begin);
        if (session->forms[first->form]->operands[pair->dst].kind == ISA_OPERAND_FLAGS) {
            flags_median_take(session, pair, begin, end);
            if (pair->measured && pair->verdict == HX_VERDICT_OK && pair->src == pair->dst) {
                direct_take(session, pair, begin, end);
            }
        } else if (pair->measured && pair->verdict == HX_VERDICT_OK) {
            equals_median_take(session, pair, begin, end);
        }
        pair_doubt(session, pair, begin, end);
        if (!pair->measured && !pair->independent && pair->why[0] == '\0') {
            snprintf(pair->why, sizeof pair->why, "no transfer that closes its chain could be measured here");
        }
        anchored_same_register_take(session, pair, begin, end);
    }
}

/* The pair from the address of the memory whose content this one comes from, to the same result, whether it
 * is to be trusted or not; NULL: there is none. */
static const struct probe_latency_pair *address_pair_find(const struct probe_latency *latency,
                                                          const struct probe_latency_pair *content) {
    for (size_t i = 0; i < latency->count; i++) {
        const struct probe_latency_pair *pair = &latency->pairs[i];
        if (pair->path == PROBE_PATH_ADDRESS && pair->src == content->src && pair->dst == content->dst &&
            pair->measured) {
            return pair;
        }
    }
    return NULL;
}

/* The chain that told the pair; NULL: none did. */
static const struct latency_experiment *pair_teller_find(const struct latency_session *session, size_t form,
                                                         size_t pair) {
    const struct probe_latency_pair *told = &session->results[form].pairs[pair];
    for (size_t i = 0; i < session->experiment_count; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        double rest;
        if (experiment->form == form && experiment->pair == pair &&
            latency_chain_equals(session, experiment, told, told->cycles, &rest) && rest == told->cycles) {
            return experiment;
        }
    }
    return NULL;
}

/* What a bound of the pair holds too much if its value went through the store buffer. */
static double buffered_surplus(const struct latency_session *session, size_t form, size_t pair) {
    const struct latency_experiment *teller = pair_teller_find(session, form, pair);
    double surplus = 0.0;
    for (unsigned v = 0; teller != NULL && v < teller->via_count; v++) {
        const struct probe_transfer *transfer = &session->transfers->items[teller->via[v]];
        surplus += transfer->pinned ? 0.0 : fmax(0.0, transfer->buffered_cycles - transfer->cycles);
    }
    return surplus;
}

void latency_buffered_settle(struct latency_session *session) {
    for (size_t form = 0; form < session->count; form++) {
        const struct probe_latency *latency = &session->results[form];
        for (size_t i = 0; i < latency->count; i++) {
            struct probe_latency_pair *pair = &latency->pairs[i];
            const bool told = pair->path == PROBE_PATH_CONTENT && pair->upper_bound && pair->measured;
            const struct probe_latency_pair *address = told ? address_pair_find(latency, pair) : NULL;
            if (address != NULL && pair->cycles >= address->cycles - LATENCY_LATE_CYCLES) {
                pair->cycles -= buffered_surplus(session, form, i);
            }
        }
    }
}
