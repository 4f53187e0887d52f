/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of general-purpose registers and flags whose round takes what the form takes anyway. */
#include <math.h>

#include "generator/pool.h"
#include "probe/latency_session.h"

/* Of two rounds the longer one takes this part of what it has more, at least, if the shorter one takes longer
 * than the form does by itself. */
static const double SHOWN_PART = 0.75;
/* And if only the longer one does, less, but more than the issue of what was put into it. */
static const double GROWS_PART = 0.6;
/* What takes longer no round can be longer than. */
static const double MOST_CYCLES = 40;
/* A look (hx_screen) at a longer round may be off by as much as it should grow. */
static const double LOOK_CYCLES_MOST = 12;
/* By so much less a longer round tells something else. */
static const double LESS_CYCLES = 0.3;
/* So much more says the same. */
static const double NEARLY_CYCLES = 0.1;

static bool is_general(const struct isa_operand *operand) {
    enum probe_file file = probe_operand_file(operand);
    return file == PROBE_FILE_GPR || file == PROBE_FILE_FLAGS;
}

/* Which pairs, and only if a chain with transfers told them. */
static bool is_open(const struct isa_form *form, const struct probe_latency_pair *pair,
                    const struct latency_experiment *teller) {
    return teller != NULL && teller->via_count > 0 && pair->measured && pair->verdict == HX_VERDICT_OK &&
           !pair->upper_bound && pair->path == PROBE_PATH_REGISTER &&
           is_general(&form->operands[pair->src]) && is_general(&form->operands[pair->dst]);
}

/* Does another chain of the pair that begins with the same transfer show that the teller's round is longer
 * than the form's own pace? */
static bool is_shown(const struct latency_session *session, const struct latency_experiment *teller,
                     const struct latency_experiment *other) {
    const struct hx_stat *told = &session->batch.stats[teller->slot];
    const struct hx_stat *stat = &session->batch.stats[other->slot];
    const int more = (int)other->via_count - (int)teller->via_count;
    return other->via_count > 0 && more != 0 && other->via[0] == teller->via[0] && !other->same_register &&
           !other->slow && stat->verdict == HX_VERDICT_OK &&
           (!stat->screened || stat->cycles <= LOOK_CYCLES_MOST) &&
           (stat->cycles - told->cycles) / more >= SHOWN_PART;
}

static bool goes_through_high_bytes(const struct latency_session *session,
                                    const struct latency_experiment *experiment) {
    bool goes = false;
    for (unsigned i = 0; i < experiment->via_count; i++) {
        goes = goes || gen_form_has_high_byte(&session->transfers->items[experiment->via[i]].form);
    }
    return goes;
}

/* The chain to make longer: the teller's. Four registers have a high byte, so few that a longer round through
 * them waits for what the form itself wrote a few rounds ago: another that says the same, if there is one. */
static const struct latency_experiment *longer_of(const struct latency_session *session,
                                                  const struct latency_experiment *teller, size_t begin,
                                                  size_t end) {
    const struct probe_latency_pair *pair = &session->results[teller->form].pairs[teller->pair];
    if (gen_form_has_high_byte(session->forms[teller->form]) || !goes_through_high_bytes(session, teller)) {
        return teller;
    }
    for (size_t i = begin; i < end; i++) {
        const struct latency_experiment *other = &session->experiments[i];
        const struct hx_stat *stat = &session->batch.stats[other->slot]; /* a look will do */
        bool exact;
        if (other->via_count > 0 && !other->same_register && !other->slow &&
            !goes_through_high_bytes(session, other) && stat->verdict == HX_VERDICT_OK &&
            latency_round_rest(session, other, stat->cycles, &exact) <= pair->cycles + NEARLY_CYCLES) {
            return other;
        }
    }
    return teller;
}

enum ip_status latency_paced_add(struct latency_session *session, size_t read, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t begin = 0, end; begin < read && status == IP_OK; begin = end) {
        end = latency_pair_end(session, begin);
        const struct latency_experiment *all = session->experiments;
        const struct latency_experiment *teller = latency_teller_find(session, begin, end);
        struct probe_latency_pair *pair = &session->results[all[begin].form].pairs[all[begin].pair];
        bool open = is_open(session->forms[all[begin].form], pair, teller);
        for (size_t i = begin; i < end && open; i++) {
            open = !is_shown(session, teller, &all[i]);
        }
        if (open && pair->cycles > MOST_CYCLES) {
            pair->upper_bound = true;
        } else if (open) {
            const struct latency_experiment like = *longer_of(session, teller, begin, end); /* they move */
            status = latency_delayed_add(session, &like, PROBE_FILE_GPR, 0, err);
        }
    }
    return status;
}

void latency_paced_read(struct latency_session *session, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        const struct latency_experiment *longer = &session->experiments[i];
        const struct hx_stat *stat = &session->batch.stats[longer->slot];
        const struct isa_form *form = session->forms[longer->form];
        struct probe_latency_pair *pair = &session->results[longer->form].pairs[longer->pair];
        if (stat->verdict != HX_VERDICT_OK) {
            pair->upper_bound = true; /* nothing shows that it is more */
            continue;
        }
        bool exact;
        const double rest = latency_round_rest(session, longer, stat->cycles, &exact);
        const double grew = stat->cycles - pair->stat.cycles, less = pair->cycles - rest;
        bool flags = form->operands[pair->dst].kind == ISA_OPERAND_FLAGS;
        if (latency_round_is_short(session, longer, stat->cycles) ||
            (flags && rest < LATENCY_INDEPENDENT_CYCLES)) {
            latency_pair_independent(form, pair);
            continue;
        }
        if (less > LESS_CYCLES) {
            latency_pair_give(session, pair, longer);
        }
        /* What was put into the round is what it grew by, and what it tells less. */
        pair->upper_bound = rest > 0.0 && grew < GROWS_PART * (grew + less);
    }
}
