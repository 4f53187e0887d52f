/* SPDX-License-Identifier: Apache-2.0 */
/* What the chains of a pair say of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/latency_session.h"
#include "probe/rivals.h"

/* Noise makes less than nothing of nothing, and transfers that do not add up more of it. */
#define BELOW_NOTHING (-0.5)
/* More cycles than any round takes. */
#define NEVER_LEAST 1e6

double latency_round_transfers(const struct latency_session *session,
                               const struct latency_experiment *experiment) {
    const bool address =
        session->results[experiment->form].pairs[experiment->pair].path == PROBE_PATH_ADDRESS;
    double cycles = experiment->keeper_cycles;
    for (unsigned i = 0; i < experiment->via_count; i++) {
        const struct probe_transfer *transfer = &session->transfers->items[experiment->via[i]];
        cycles += address && !transfer->pinned ? transfer->buffered_cycles : transfer->cycles;
    }
    return cycles;
}

/* What is left of a round once its transfers are taken off: exact where all of them are. */
static double round_rest_of(const struct latency_session *session,
                            const struct latency_experiment *experiment, double cycles, bool *exact) {
    *exact = true;
    for (unsigned i = 0; i < experiment->via_count; i++) {
        *exact = *exact && session->transfers->items[experiment->via[i]].pinned;
    }
    return cycles - latency_round_transfers(session, experiment);
}

double latency_round_rest(const struct latency_session *session, const struct latency_experiment *experiment,
                          double cycles, bool *exact) {
    return fmax(round_rest_of(session, experiment, cycles, exact), 0.0);
}

bool latency_round_is_short(const struct latency_session *session,
                            const struct latency_experiment *experiment, double cycles) {
    bool exact;
    return round_rest_of(session, experiment, cycles, &exact) < BELOW_NOTHING;
}

/* Does the chain wait for instructions that only take their time, and may take less? They were added before
 * the transfers were calibrated. */
static bool is_delayed_unsteadily(const struct latency_session *session,
                                  const struct latency_experiment *experiment) {
    enum { MOST = 3 }; /* transfers in turn that are none of these */
    unsigned row = 0;
    for (unsigned i = 0; i < experiment->via_count; i++) {
        row = i > 0 && experiment->via[i] == experiment->via[i - 1] ? row + 1 : 1;
        if (row > MOST && !latency_delay_is_steady(&session->transfers->items[experiment->via[i]])) {
            return true;
        }
    }
    return false;
}

bool latency_transfers_run(const struct latency_session *session,
                           const struct latency_experiment *experiment) {
    if (session->batch.stats[experiment->slot].screened || experiment->is_outdone ||
        is_delayed_unsteadily(session, experiment)) {
        return false;
    }
    for (unsigned i = 0; i < experiment->via_count; i++) {
        if (!session->transfers->items[experiment->via[i]].usable) {
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
static void via_name(const struct latency_session *session, const struct latency_experiment *experiment,
                     char *buffer, size_t size) {
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
                 session->transfers->items[experiment->via[i]].form.syntax);
    }
}

/* Takes the chain's value for the pair if it is the best so far: steady before unsteady, exact before bound
 * at the same value, small before large. */
static void pair_take(const struct latency_session *session, struct probe_latency_pair *pair,
                      const struct latency_experiment *experiment) {
    const struct hx_stat *stat = &session->batch.stats[experiment->slot];
    bool exact;
    double cycles = latency_round_rest(session, experiment, stat->cycles, &exact);
    bool take = !pair->measured || verdict_better(stat->verdict, pair->verdict);
    if (!take && !verdict_better(pair->verdict, stat->verdict)) {
        take = cycles < pair->cycles;
    }
    if (take) {
        pair->measured = true;
        pair->independent = false;
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

void latency_pair_give(const struct latency_session *session, struct probe_latency_pair *pair,
                       const struct latency_experiment *experiment) {
    pair->measured = false;
    pair_take(session, pair, experiment);
}

static void independent_say(struct probe_latency_pair *pair, const char *why) {
    pair->measured = false;
    pair->independent = true;
    pair->cycles = pair->spread = NAN;
    pair->via[0] = '\0';
    pair->verdict = HX_VERDICT_OK;
    snprintf(pair->why, sizeof pair->why, "%s", why);
}

void latency_pair_independent(const struct isa_form *form, struct probe_latency_pair *pair) {
    char name[16], why[48];
    bool flags = form->operands[pair->dst].kind == ISA_OPERAND_FLAGS;
    (void)isa_operand_name(form, (unsigned)pair->dst, name);
    snprintf(why, sizeof why, "%s %s not depend on it", flags ? "the flags" : name, flags ? "do" : "does");
    independent_say(pair, why);
}

static double least(double a, double b) {
    return isnan(a) || b < a ? b : a;
}

bool latency_is_anchor(const struct latency_experiment *experiment) {
    return experiment->via_count == 0 && !experiment->same_register && !experiment->slow;
}

uint32_t latency_experiment_flag(const struct latency_session *session,
                                 const struct latency_experiment *experiment) {
    return experiment->via_count > 0 ? session->transfers->items[experiment->via[0]].flags_read : 0;
}

size_t latency_pair_end(const struct latency_session *session, size_t first) {
    const struct latency_experiment *all = session->experiments;
    size_t end = first + 1;
    while (end < session->experiment_count && all[end].form == all[first].form &&
           all[end].pair == all[first].pair) {
        end++;
    }
    return end;
}

bool latency_is_chain_to_itself(const struct latency_experiment *experiment,
                                const struct probe_latency_pair *pair) {
    return experiment->via_count == 0 && pair->src != pair->dst && pair->path == PROBE_PATH_REGISTER;
}

static void experiment_interpret(struct latency_session *session,
                                 const struct latency_experiment *experiment) {
    struct probe_latency_pair *pair = &session->results[experiment->form].pairs[experiment->pair];
    const struct hx_stat *stat = &session->batch.stats[experiment->slot];
    if (!latency_transfers_run(session, experiment)) {
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
    double rest = latency_round_rest(session, experiment, stat->cycles, &exact);
    const struct isa_form *form = session->forms[experiment->form];
    if (form->operands[pair->dst].kind == ISA_OPERAND_FLAGS && rest < LATENCY_INDEPENDENT_CYCLES) {
        /* Nothing came through: a flag that the form leaves alone (kept by a count of zero). */
        if (!pair->measured) {
            latency_pair_independent(form, pair);
        }
        return;
    }
    if (pair->path == PROBE_PATH_ADDRESS && form->operands[pair->dst].kind == ISA_OPERAND_MEM &&
        rest < LATENCY_INDEPENDENT_CYCLES) {
        /* The load took the value over at rename, before the store's address was known. */
        if (!pair->measured) {
            independent_say(pair, "the value is passed on without the address");
        }
        return;
    }
    if (form->operands[pair->src].kind == ISA_OPERAND_FLAGS &&
        form->operands[pair->dst].kind == ISA_OPERAND_MEM && rest < LATENCY_INDEPENDENT_CYCLES) {
        if (!pair->measured) {
            independent_say(pair, "what is stored does not depend on the flags");
        }
        return;
    }
    if (experiment->slow) {
        if (exact && steady) {
            pair->slow_cycles = least(pair->slow_cycles, rest);
        }
    } else if (experiment->same_register) {
        /* Nothing is passed on by an idiom, and its chain takes what issues: that is restless, but never as
         * long as what waits (of `pcmpeqd xmm, xmm` every third scan had no such fact). */
        bool idiom = stat->verdict == HX_VERDICT_UNSTABLE &&
                     latency_round_rest(session, experiment, stat->high, &exact) < LATENCY_INDEPENDENT_CYCLES;
        if (exact && (steady || idiom)) {
            pair->same_register_cycles = least(pair->same_register_cycles, rest);
        }
    } else if (latency_is_chain_to_itself(experiment, pair)) {
        if (steady) {
            pair->chained_cycles = rest;
        }
    } else {
        pair_take(session, pair, experiment);
    }
}

/* Of the chains of a pair that are closed by transfers the least decides; of those that close through the
 * same flag, the median. A chain without transfers is a fact of its own. */
void latency_rivals_set(struct latency_session *session) {
    uint32_t pairs = 0;
    size_t anchor = SIZE_MAX;
    for (size_t i = 0; i < session->experiment_count; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        if (experiment->slot < session->batch.measured) {
            continue;
        }
        if (i == 0 || experiment->form != experiment[-1].form || experiment->pair != experiment[-1].pair) {
            pairs++;
            anchor = SIZE_MAX;
        }
        if (latency_is_anchor(experiment)) {
            anchor = experiment->slot;
        }
        const struct probe_latency_pair *pair = &session->results[experiment->form].pairs[experiment->pair];
        bool exact = false;
        struct probe_rival rival = {.offset = -round_rest_of(session, experiment, 0.0, &exact),
                                    .floor = BELOW_NOTHING};
        if (experiment->via_count > 0 && !experiment->slow) {
            rival.set = 2 * pairs + experiment->same_register;
            rival.whole = true;
            rival.offset -= is_delayed_unsteadily(session, experiment) ? NEVER_LEAST : 0.0;
            rival.anchor = anchor != SIZE_MAX ? (uint32_t)(experiment->slot - anchor) : 0;
        }
        if (session->forms[experiment->form]->operands[pair->dst].kind == ISA_OPERAND_FLAGS) {
            rival.team = latency_experiment_flag(session, experiment);
            rival.floor = LATENCY_INDEPENDENT_CYCLES;
            rival.vetoes = exact;
        }
        probe_batch_rival(&session->batch, experiment->slot, &rival);
    }
}

static int by_pair(const void *a, const void *b) {
    const struct latency_experiment *one = a, *two = b;
    return one->form != two->form   ? (one->form > two->form ? 1 : -1)
           : one->pair != two->pair ? (one->pair > two->pair ? 1 : -1)
           : one->slot > two->slot  ? 1
                                    : -1;
}

/* The least that the chains [begin, end) without NOPs tell of this one's pair and flag: of those that were
 * measured, or else looked at. */
static double least_without_nops(const struct latency_session *session, size_t begin, size_t end,
                                 const struct latency_experiment *filled, bool measured) {
    double least_rest = INFINITY;
    for (size_t i = begin; i < end; i++) {
        const struct latency_experiment *other = &session->experiments[i];
        const struct hx_stat *stat = &session->batch.stats[other->slot];
        bool exact;
        if (other->nops == 0 && !other->same_register && !other->slow && !isnan(stat->cycles) &&
            stat->verdict == HX_VERDICT_OK && stat->screened != measured &&
            latency_experiment_flag(session, other) == latency_experiment_flag(session, filled)) {
            least_rest = fmin(least_rest, latency_round_rest(session, other, stat->cycles, &exact));
        }
    }
    return least_rest;
}

/* NOPs make nothing shorter that is a chain; what is none takes as long as they take to issue. So they count
 * only where they tell less than what has none. */
static void outdone_mark(struct latency_session *session) {
    for (size_t begin = 0, end; begin < session->experiment_count; begin = end) {
        end = latency_pair_end(session, begin);
        for (size_t i = begin; i < end; i++) {
            struct latency_experiment *filled = &session->experiments[i];
            if (filled->nops == 0) {
                continue;
            }
            double least_rest = least_without_nops(session, begin, end, filled, true);
            least_rest =
                isinf(least_rest) ? least_without_nops(session, begin, end, filled, false) : least_rest;
            bool exact;
            filled->is_outdone =
                least_rest <=
                latency_round_rest(session, filled, session->batch.stats[filled->slot].cycles, &exact);
        }
    }
}

/* With one register for all sources the chain is the same whichever of them the pair names. */
static void same_register_share(struct latency_session *session) {
    for (size_t f = 0; f < session->count; f++) {
        struct probe_latency *result = &session->results[f];
        for (size_t p = 0; p < result->count; p++) {
            size_t teller = latency_same_register_teller(session->forms[f], result, p);
            result->pairs[p].same_register_cycles = result->pairs[teller].same_register_cycles;
        }
    }
}

/* The least that a pair's rounds through transfers tell, looked at or measured; infinite: there are none. */
static double least_through_transfers(const struct latency_session *session, size_t begin, size_t end) {
    double least_rest = INFINITY;
    for (size_t i = begin; i < end; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        const struct hx_stat *stat = &session->batch.stats[experiment->slot];
        bool exact = false;
        if (experiment->via_count > 0 && !experiment->same_register && !experiment->slow &&
            stat->verdict == HX_VERDICT_OK) {
            double rest = latency_round_rest(session, experiment, stat->cycles, &exact);
            least_rest = exact ? fmin(least_rest, rest) : least_rest;
        }
    }
    return least_rest;
}

/* What one register for all sources takes is told by rounds through transfers, and of an operand that is
 * source and destination the latency by the form alone, which a core may pass on faster between two of a kind
 * (ADDPD of a Zen 5 and a Golden Cove: 2 cycles, else 3). Where one register makes no difference to those
 * rounds, it makes none. */
static void same_register_compare(struct latency_session *session) {
    for (size_t begin = 0, end; begin < session->experiment_count; begin = end) {
        end = latency_pair_end(session, begin);
        const struct latency_experiment *first = &session->experiments[begin];
        struct probe_latency_pair *pair = &session->results[first->form].pairs[first->pair];
        double rounds = least_through_transfers(session, begin, end);
        if (pair->src == pair->dst && fabs(pair->same_register_cycles - rounds) < PROBE_LATENCY_SAME_CYCLES) {
            pair->same_register_cycles = pair->cycles;
        }
    }
}

/* What the chain through the same transfers as `slow` tells with ordinary values; NaN: there is none. */
static double ordinary_rest(const struct latency_session *session, const struct latency_experiment *slow) {
    const struct latency_experiment *all = session->experiments;
    size_t begin = (size_t)(slow - all);
    while (begin > 0 && all[begin - 1].form == slow->form && all[begin - 1].pair == slow->pair) {
        begin--;
    }
    for (size_t i = begin, end = latency_pair_end(session, begin); i < end; i++) {
        bool same = all[i].via_count == slow->via_count && all[i].nops == slow->nops && !all[i].slow &&
                    !all[i].same_register &&
                    memcmp(all[i].via, slow->via, slow->via_count * sizeof *slow->via) == 0;
        const struct hx_stat *stat = &session->batch.stats[all[i].slot];
        bool exact;
        if (same && stat->verdict == HX_VERDICT_OK) {
            return latency_round_rest(session, &all[i], stat->cycles, &exact);
        }
    }
    return NAN;
}

/* Where it does not matter how old that is what a form merges into, or that a count is zero, there is no such
 * fact: both take what the pair takes, or what the chain takes anyway, at the form's own pace. */
static void slow_compare(const struct latency_session *session) {
    for (size_t i = 0; i < session->experiment_count; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        struct probe_latency_pair *pair = &session->results[experiment->form].pairs[experiment->pair];
        if (experiment->may_be_no_slower) {
            double ordinary = fmax(pair->cycles, ordinary_rest(session, experiment));
            bool slower = pair->slow_cycles >= ordinary + PROBE_LATENCY_SAME_CYCLES;
            pair->slow_cycles = slower ? pair->slow_cycles : NAN;
        }
    }
}

void latency_session_read(struct latency_session *session) {
    if (session->experiment_count > 0) {
        qsort(session->experiments, session->experiment_count, sizeof *session->experiments, by_pair);
    }
    outdone_mark(session);
    for (size_t i = 0; i < session->experiment_count; i++) {
        experiment_interpret(session, &session->experiments[i]);
    }
    /* Where no transfer closes a chain, or what they look like is what the chain to itself takes, that is
     * what is known. */
    for (size_t i = 0; i < session->experiment_count; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        struct probe_latency_pair *pair = &session->results[experiment->form].pairs[experiment->pair];
        const struct hx_stat *stat = &session->batch.stats[experiment->slot];
        if (!pair->measured && latency_is_anchor(experiment) &&
            latency_is_chain_to_itself(experiment, pair) && !isnan(stat->cycles)) {
            pair_take(session, pair, experiment);
        }
    }
    latency_pairs_settle(session);
    same_register_share(session);
    same_register_compare(session);
    /* Where one register makes no difference to a chain of the form itself, there is no such fact. */
    for (size_t i = 0; i < session->experiment_count; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        struct probe_latency_pair *pair = &session->results[experiment->form].pairs[experiment->pair];
        if (experiment->same_register && experiment->via_count == 0 &&
            fabs(pair->same_register_cycles - pair->chained_cycles) < PROBE_LATENCY_SAME_CYCLES) {
            pair->same_register_cycles = NAN;
        }
    }
    slow_compare(session);
}
