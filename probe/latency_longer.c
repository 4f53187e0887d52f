/* SPDX-License-Identifier: Apache-2.0 */
/* Longer rounds for latencies of vectors that are no whole number of cycles. */
#include <math.h>

#include "probe/latency_session.h"

/* So many ORs of a vector with itself stand in a longer round. An OR goes to other ports than the shuffles of
 * the other rounds, and to more of them. Two lengths: what one of them makes whole, the other may not. */
static const unsigned LENGTHS[] = {5, 7};
enum { LENGTH_COUNT = sizeof LENGTHS / sizeof LENGTHS[0] };

/* Nearer to a whole number a latency is one. */
static const double WHOLE_WITHIN = 0.07;
/* What takes longer is microcode as a rule, and no round makes it whole. */
static const double MOST_CYCLES = 40;

/* So near to a whole number a longer round is one, and so far above or below what the shorter ones tell that
 * may be. */
static const double LONGER_WHOLE = 0.12;
static const double LONGER_MORE = 0.8;
static const double LONGER_LESS = 1.2;

static bool is_wide(const struct isa_form *form, const struct probe_latency_pair *pair) {
    return form->operands[pair->src].bits == 512 || form->operands[pair->dst].bits == 512;
}

/* Flags and masks: what leads to and from them goes to one port, whatever else is in the round. */
static bool is_out_of_reach(const struct isa_operand *operand) {
    enum probe_file file = probe_operand_file(operand);
    return file == PROBE_FILE_FLAGS || file == PROBE_FILE_MASK;
}

/* May longer rounds tell more than what lies between two whole numbers? Not of bounds of 512 bits: on a core
 * that does them in halves all rounds are between. */
static bool is_between(const struct isa_form *form, const struct probe_latency_pair *pair) {
    return pair->measured && pair->verdict == HX_VERDICT_OK && pair->cycles <= MOST_CYCLES &&
           fabs(pair->cycles - round(pair->cycles)) > WHOLE_WITHIN &&
           !is_out_of_reach(&form->operands[pair->src]) && !is_out_of_reach(&form->operands[pair->dst]) &&
           !(pair->upper_bound && is_wide(form, pair));
}

enum ip_status latency_longer_add(struct latency_session *session, size_t read, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t begin = 0, end; begin < read && status == IP_OK; begin = end) {
        end = latency_pair_end(session, begin);
        const size_t form = session->experiments[begin].form, pair = session->experiments[begin].pair;
        const struct latency_experiment *teller =
            is_between(session->forms[form], &session->results[form].pairs[pair])
                ? latency_teller_find(session, begin, end)
                : NULL;
        if (teller == NULL) {
            continue;
        }
        const struct latency_experiment like = *teller; /* which moves when chains are added */
        for (unsigned i = 0; i < LENGTH_COUNT && status == IP_OK; i++) {
            status = latency_delayed_add(session, &like, PROBE_FILE_VECTOR, LENGTHS[i], err);
        }
    }
    return status;
}

/* Is it the whole number of cycles below what the pair was given, or, of a bound, the one above? */
static bool is_next_whole(double cycles, const struct probe_latency_pair *pair) {
    double whole = round(cycles), more = whole - pair->cycles;
    return fabs(cycles - whole) <= LONGER_WHOLE && more >= -LONGER_LESS &&
           more <= (pair->upper_bound ? LONGER_MORE : 0.0);
}

void latency_longer_read(struct latency_session *session, size_t first, size_t end) {
    for (size_t begin = first, next; begin < end; begin = next) {
        const struct latency_experiment *all = session->experiments;
        struct probe_latency_pair *pair = &session->results[all[begin].form].pairs[all[begin].pair];
        next = latency_pair_end(session, begin);
        size_t least = SIZE_MAX;
        double least_cycles = INFINITY;
        for (size_t i = begin; i < next; i++) {
            double rest;
            if (latency_chain_equals(session, &all[i], pair, INFINITY, &rest) && is_next_whole(rest, pair) &&
                rest < least_cycles) {
                least = i;
                least_cycles = rest;
            }
        }
        if (least != SIZE_MAX) {
            const double before = pair->cycles;
            pair->measured = false;
            latency_pair_take(session, pair, &all[least], &session->batch.stats[all[least].slot]);
            /* One register made no difference to the short rounds: it makes none. */
            if (fabs(pair->same_register_cycles - before) < LATENCY_SAME_CYCLES) {
                pair->same_register_cycles = pair->cycles;
            }
        }
    }
}
