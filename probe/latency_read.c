/* SPDX-License-Identifier: Apache-2.0 */
/* What the chains of a pair say of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/shapes.h"
#include "harness/stats.h"
#include "probe/latency_session.h"
#include "probe/outside.h"
#include "probe/rivals.h"

enum { EXPERIMENTS_OF_PAIR_MAX = 256 };

/* Noise makes less than nothing of nothing, and transfers that do not add up more of it. */
#define BELOW_NOTHING (-0.5)
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

/* What is left of a round once its transfers are taken off: exact where all of them are. */
static double round_rest_of(const struct latency_session *session,
                            const struct latency_experiment *experiment, double cycles, bool *exact) {
    *exact = true;
    cycles -= experiment->keeper_cycles;
    for (unsigned i = 0; i < experiment->via_count; i++) {
        const struct probe_transfer *transfer = &session->transfers->items[experiment->via[i]];
        cycles -= transfer->cycles;
        *exact = *exact && transfer->pinned;
    }
    return cycles;
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

/* Latencies are whole numbers of cycles. A fraction beyond noise tells of conflicts in the chain: µops that
 * wait for a port, values that come now by one bypass and now by another. */
static bool is_whole(double cycles) {
    double near = fmax(fmin(WHOLE_RELATIVE * cycles, WHOLE_CYCLES_MOST), WHOLE_CYCLES);
    return fabs(cycles - round(cycles)) <= near;
}

/* Can the chain tell something: do its transfers run, and was it measured and not only looked at? */
static bool transfers_run(const struct latency_session *session,
                          const struct latency_experiment *experiment) {
    if (session->batch.stats[experiment->slot].screened) {
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

size_t latency_pair_end(const struct latency_session *session, size_t first) {
    const struct latency_experiment *all = session->experiments;
    size_t end = first + 1;
    while (end < session->experiment_count && all[end].form == all[first].form &&
           all[end].pair == all[first].pair) {
        end++;
    }
    return end;
}

/* The pair's chain to itself although its operands differ. */
static bool is_chain_to_itself(const struct latency_experiment *experiment,
                               const struct probe_latency_pair *pair) {
    return experiment->via_count == 0 && pair->src != pair->dst && pair->path == PROBE_PATH_REGISTER;
}

static void experiment_interpret(struct latency_session *session,
                                 const struct latency_experiment *experiment) {
    struct probe_latency_pair *pair = &session->results[experiment->form].pairs[experiment->pair];
    const struct hx_stat *stat = &session->batch.stats[experiment->slot];
    if (!transfers_run(session, experiment)) {
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
    } else if (is_chain_to_itself(experiment, pair)) {
        if (steady) {
            pair->chained_cycles = rest;
        }
    } else {
        pair_take(session, pair, experiment);
    }
}

static bool experiment_tells_flags(const struct latency_session *session,
                                   const struct latency_experiment *experiment,
                                   const struct probe_latency_pair *pair, double *rest) {
    const struct hx_stat *stat = &session->batch.stats[experiment->slot];
    bool exact;
    *rest = latency_round_rest(session, experiment, stat->cycles, &exact);
    return experiment->via_count > 0 && !experiment->same_register && !experiment->slow && exact &&
           transfers_run(session, experiment) && stat->verdict == HX_VERDICT_OK && pair->measured &&
           !pair->upper_bound && *rest >= LATENCY_INDEPENDENT_CYCLES;
}

/* The flag that the first transfer of a chain reads. */
static uint32_t experiment_flag(const struct latency_session *session,
                                const struct latency_experiment *experiment) {
    return experiment->via_count > 0 ? session->transfers->items[experiment->via[0]].flags_read : 0;
}

/* Says one of the chains that nothing comes through this flag? In a short round the form may take longer than
 * its transfers by itself, and seem to have a latency: `shrd r64, r64, imm8` 2.00 with a CMOVC and with two
 * more instructions (Zen 4), for its carry does not depend on the second operand. */
static bool flag_is_vetoed(const struct latency_session *session, size_t begin, size_t end, uint32_t flag) {
    for (size_t i = begin; i < end; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        if (experiment_flag(session, experiment) == flag &&
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
        count += experiment_flag(session, experiment) == flag &&
                 experiment_tells_flags(session, experiment, pair, &values[count]);
    }
    if (count == 0) {
        return NULL;
    }
    hx_sort(values, count);
    *median = values[probe_rivals_quick(values, count) / 2];
    for (size_t i = begin; i < end; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        if (experiment_flag(session, experiment) == flag &&
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
    return !experiment->same_register && !experiment->slow && !is_chain_to_itself(experiment, pair) &&
           exact == !pair->upper_bound && transfers_run(session, experiment) &&
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

/* Marks a pair whose value looks good but is not to be trusted: the least may be among what was disturbed
 * when that is the chain of the form alone, or most of the others. */
static void pair_doubt(const struct latency_session *session, struct probe_latency_pair *pair, size_t begin,
                       size_t end) {
    const struct isa_form *form = session->forms[session->experiments[begin].form];
    size_t disturbed = 0, others = 0;
    bool direct = false, idiom = false;
    for (size_t i = begin; i < end; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        bool bad = session->batch.stats[experiment->slot].verdict == HX_VERDICT_DISTURBED;
        idiom = idiom || (bad && experiment->same_register);
        if (experiment->same_register || experiment->slow || is_chain_to_itself(experiment, pair)) {
            continue;
        }
        direct = direct || (bad && experiment->via_count == 0);
        disturbed += bad;
        others += !bad;
    }
    if (!pair->measured || pair->verdict != HX_VERDICT_OK) {
        return;
    }
    if (probe_is_outside(form, pair->cycles, pair->why, sizeof pair->why)) {
        pair->verdict = HX_VERDICT_UNSTABLE;
    } else if (direct || disturbed > others) {
        pair->verdict = HX_VERDICT_DISTURBED;
        snprintf(pair->why, sizeof pair->why, "disturbed: %zu of %zu chains were never undisturbed",
                 disturbed, disturbed + others);
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

/* After every chain was looked at alone: what all chains of a pair say together. */
static void session_pairs_settle(struct latency_session *session) {
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
            rival.anchor = anchor != SIZE_MAX ? (uint32_t)(experiment->slot - anchor) : 0;
        }
        if (session->forms[experiment->form]->operands[pair->dst].kind == ISA_OPERAND_FLAGS) {
            rival.team = experiment_flag(session, experiment);
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

void latency_session_read(struct latency_session *session) {
    if (session->experiment_count > 0) {
        qsort(session->experiments, session->experiment_count, sizeof *session->experiments, by_pair);
    }
    for (size_t i = 0; i < session->experiment_count; i++) {
        experiment_interpret(session, &session->experiments[i]);
    }
    /* Where no transfer closes a chain, or what they look like is what the chain to itself takes, that is
     * what is known. */
    for (size_t i = 0; i < session->experiment_count; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        struct probe_latency_pair *pair = &session->results[experiment->form].pairs[experiment->pair];
        const struct hx_stat *stat = &session->batch.stats[experiment->slot];
        if (!pair->measured && latency_is_anchor(experiment) && is_chain_to_itself(experiment, pair) &&
            !isnan(stat->cycles)) {
            pair_take(session, pair, experiment);
        }
    }
    session_pairs_settle(session);
    same_register_share(session);
    /* Where one register makes no difference to a chain of the form itself, there is no such fact. */
    for (size_t i = 0; i < session->experiment_count; i++) {
        const struct latency_experiment *experiment = &session->experiments[i];
        struct probe_latency_pair *pair = &session->results[experiment->form].pairs[experiment->pair];
        if (experiment->same_register && experiment->via_count == 0 &&
            fabs(pair->same_register_cycles - pair->chained_cycles) < LATENCY_SAME_CYCLES) {
            pair->same_register_cycles = NAN;
        }
        /* Nor where it does not matter how old that is what a form merges into, or that a count is zero. */
        if (experiment->may_be_no_slower && !(pair->slow_cycles >= pair->cycles + LATENCY_SAME_CYCLES)) {
            pair->slow_cycles = NAN;
        }
    }
}
