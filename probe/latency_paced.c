/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs whose round takes what the form takes anyway. */
#include <math.h>
#include <stdio.h>

#include "generator/pool.h"
#include "probe/latency_session.h"

/* Of two rounds the longer one takes this part of what it has more, at least, if the shorter one takes longer
 * than the form does by itself. */
static const double SHOWN_PART = 0.85;
/* And if only the longer one does, less, but more than the issue of what was put into it. */
static const double GROWS_PART = 0.6;
/* What takes longer no round can be longer than. */
static const double MOST_CYCLES = 40;
/* What takes less, chained to itself, is told. */
static const double ALONE_LEAST = 6;
/* A look (hx_screen) at a longer round may be off by as much as it should grow. */
static const double LOOK_CYCLES_MOST = 12;
/* So much more than the form's own pace and the transfers' is none. */
static const double SLOWER_CYCLES = 0.5;
/* By so much less a longer round tells something else. */
static const double LESS_CYCLES = 0.3;
/* And than the form chained to itself: a part of a cycle less is the divider that is a little sooner behind
 * anything else (latency_settle.c). */
static const double ALONE_LESS = 0.95;
/* So much more says the same. */
static const double NEARLY_CYCLES = 0.1;

/* Which pairs. What the form chained to itself tells, only of what takes long: most forms take fewer cycles
 * than that, and less by themselves, and the rounds with transfers said the same. */
static bool is_open(const struct probe_latency_pair *pair, const struct latency_experiment *teller) {
    return teller != NULL && pair->measured && pair->verdict == HX_VERDICT_OK && !pair->upper_bound &&
           pair->path != PROBE_PATH_CONTENT &&
           (teller->via_count > 0 || (pair->path == PROBE_PATH_REGISTER && pair->cycles >= ALONE_LEAST));
}

/* Can what was measured or looked at of a chain be compared with others of its form? */
static bool is_comparable(const struct latency_experiment *experiment, const struct hx_stat *stat) {
    return !experiment->same_register && !experiment->slow && stat->verdict == HX_VERDICT_OK &&
           (!stat->screened || stat->cycles <= LOOK_CYCLES_MOST);
}

/* Does another chain of the pair that begins with the same transfer show that the teller's round is longer
 * than the form's own pace? */
static bool is_shown(const struct latency_session *session, const struct latency_experiment *teller,
                     const struct latency_experiment *other) {
    const struct hx_stat *told = &session->batch.stats[teller->slot];
    const struct hx_stat *stat = &session->batch.stats[other->slot];
    const int more = (int)other->via_count - (int)teller->via_count;
    return teller->via_count > 0 && other->via_count > 0 && more != 0 && other->via[0] == teller->via[0] &&
           is_comparable(other, stat) && (stat->cycles - told->cycles) / more >= SHOWN_PART;
}

static bool is_general(const struct isa_operand *operand) {
    enum probe_file file = probe_operand_file(operand);
    return file == PROBE_FILE_GPR || file == PROBE_FILE_FLAGS;
}

/* Does the round take longer than the form's own pace allows? The form stands once in every round of all its
 * pairs, so it takes no longer than the least of them by itself, and each transfer, a µop, no more than a
 * cycle beside it. That leaves what takes a cycle or a few, as most forms do, without a longer round. Not of
 * addresses, general-purpose registers and flags: what a form reads beside them closes chains of its own. */
static bool is_slower(const struct latency_session *session, const struct latency_experiment *teller,
                      size_t begin, size_t read) {
    const struct latency_experiment *all = session->experiments;
    const struct isa_form *form = session->forms[teller->form];
    const struct probe_latency_pair *pair = &session->results[teller->form].pairs[teller->pair];
    double pace = INFINITY;
    if (pair->path == PROBE_PATH_ADDRESS ||
        (is_general(&form->operands[pair->src]) && is_general(&form->operands[pair->dst]))) {
        return false;
    }
    while (begin > 0 && all[begin - 1].form == teller->form) {
        begin--;
    }
    for (size_t i = begin; i < read && all[i].form == teller->form; i++) {
        const struct hx_stat *stat = &session->batch.stats[all[i].slot];
        /* Disturbances only lengthen it. An idiom takes less. */
        pace = all[i].same_register || all[i].slow ? pace : fmin(pace, stat->cycles);
    }
    return session->batch.stats[teller->slot].cycles >
           pace + teller->via_count + teller->keeper_cycles + SLOWER_CYCLES;
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

/* The chain `like` with as many instructions as it may have that only take their time, of whatever file they
 * can be. */
static enum ip_status longest_add(struct latency_session *session, const struct latency_experiment *like,
                                  struct ip_error *err) {
    static const enum probe_file FILES[] = {PROBE_FILE_VECTOR, PROBE_FILE_MASK, PROBE_FILE_MMX,
                                            PROBE_FILE_GPR};
    const size_t before = session->experiment_count;
    enum ip_status status = IP_OK;
    for (size_t i = 0;
         i < sizeof FILES / sizeof FILES[0] && session->experiment_count == before && status == IP_OK; i++) {
        status = latency_delayed_add(session, like, FILES[i], false, 0, 0, err);
    }
    return status;
}

enum ip_status latency_paced_add(struct latency_session *session, size_t read, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t begin = 0, end; begin < read && status == IP_OK; begin = end) {
        end = latency_pair_end(session, begin);
        const struct latency_experiment *all = session->experiments;
        const struct latency_experiment *teller = latency_teller_find(session, begin, end);
        struct probe_latency_pair *pair = &session->results[all[begin].form].pairs[all[begin].pair];
        bool open = is_open(pair, teller);
        for (size_t i = begin; i < end && open; i++) {
            open = !is_shown(session, teller, &all[i]);
        }
        if (!open || is_slower(session, teller, begin, read)) {
            continue;
        }
        const size_t before = session->experiment_count;
        const bool alone = teller->via_count == 0;
        if (pair->cycles <= MOST_CYCLES) {
            const struct latency_experiment like = *longer_of(session, teller, begin, end); /* they move */
            const size_t shorter = (size_t)(teller - all); /* those that were read stay where they are */
            status = longest_add(session, &like, err);
            for (size_t i = before; i < session->experiment_count; i++) {
                session->experiments[i].shorter = shorter;
            }
        }
        /* Nothing can show that it is more. */
        pair->upper_bound = session->experiment_count == before && !alone;
    }
    return status;
}

/* The longest round was void. What the form chained to itself told stays; else a neighbour may not be there
 * the next time, and of what spreads by itself nothing shows that it is more. */
static void unshown_read(struct probe_latency_pair *pair, const struct latency_experiment *shorter,
                         const struct hx_stat *stat) {
    if (shorter->via_count == 0) {
        return;
    }
    if (stat->verdict == HX_VERDICT_DISTURBED) {
        pair->verdict = stat->verdict;
        snprintf(pair->why, sizeof pair->why, "%s", stat->why);
    } else {
        pair->upper_bound = true;
    }
}

void latency_paced_read(struct latency_session *session, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        const struct latency_experiment *longer = &session->experiments[i];
        const struct hx_stat *stat = &session->batch.stats[longer->slot];
        const struct isa_form *form = session->forms[longer->form];
        struct probe_latency_pair *pair = &session->results[longer->form].pairs[longer->pair];
        const struct latency_experiment *shorter = &session->experiments[longer->shorter];
        if (stat->verdict != HX_VERDICT_OK) {
            unshown_read(pair, shorter, stat);
            continue;
        }
        bool exact;
        const double rest = latency_round_rest(session, longer, stat->cycles, &exact);
        const double grew = stat->cycles - session->batch.stats[shorter->slot].cycles;
        const double put =
            latency_round_transfers(session, longer) - latency_round_transfers(session, shorter);
        bool flags = form->operands[pair->dst].kind == ISA_OPERAND_FLAGS;
        if (latency_round_is_short(session, longer, stat->cycles) ||
            (flags && rest < LATENCY_INDEPENDENT_CYCLES)) {
            latency_pair_independent(form, pair);
            continue;
        }
        if (pair->cycles - rest > (shorter->via_count == 0 ? ALONE_LESS : LESS_CYCLES)) {
            latency_pair_give(session, pair, longer);
        }
        /* Where about as much was taken out of it as was put in, it shows nothing. */
        pair->upper_bound = rest > 0.0 && (put < 1.0 || grew < GROWS_PART * put);
    }
}
