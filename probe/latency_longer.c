/* SPDX-License-Identifier: Apache-2.0 */
/* Longer rounds for latencies of vectors, masks and memory that are no whole number of cycles, and of
 * gathers. */
#include <math.h>

#include "generator/operands.h"
#include "probe/latency_session.h"

enum { LENGTHS = 3 };

/* What stands in a longer round beside the form and the way back, and how often: ORs of a vector with itself,
 * which go to other ports than the shuffles of the other rounds, and to more of them; moves of a mask. In two
 * lengths and more: what one of them makes whole, the other may not. NOPs, as many as a round of six cycles
 * hides on a core of four issue slots, and of eight on one of six: alone where the form changes its memory,
 * beside ORs, or sign extensions, where a store and a load close the round (a Zen 3 does not try all loads
 * again that go through its store buffer with 44 and 56 of them). Of a gather, which takes up to thirty
 * cycles, as many for each of them as its own round hides beside its own µops on a core of four issue slots,
 * and on one of six: more make the round longer, and of fewer some processes see less than the others (Zen 4,
 * a round of 17 cycles: 72 to 104 do). */
static const struct lengthening {
    enum probe_file file; /* of what stands there `times` times */
    unsigned times[LENGTHS], nops[LENGTHS];
    double nops_a_cycle[LENGTHS]; /* more of them */
    bool shuffles; /* a bound of integers: once more with these, for ORs may be late to them (Zen 3) */
} VECTORS = {PROBE_FILE_VECTOR, .times = {5, 7}, .shuffles = true},
  MASKS = {PROBE_FILE_MASK, .times = {2, 3}},
  CONTENT = {PROBE_FILE_VECTOR, .times = {5, 7}, .nops = {36, 36}},
  CONTENT_OF_INTEGERS = {PROBE_FILE_GPR, .times = {6, 7, 6}, .nops = {44, 36, 56}},
  MEMORY = {.nops = {20, 36}}, GATHER = {.nops_a_cycle = {3.5, 5}};

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

static bool joins(const struct isa_form *form, const struct probe_latency_pair *pair, enum probe_file file) {
    return probe_operand_file(&form->operands[pair->src]) == file ||
           probe_operand_file(&form->operands[pair->dst]) == file;
}

/* Does the result wait longer for this source, exactly, than for another? */
static bool is_late(const struct probe_latency *latency, const struct probe_latency_pair *pair) {
    bool late = false;
    for (size_t i = 0; i < latency->count && !pair->upper_bound && pair->path == PROBE_PATH_REGISTER; i++) {
        const struct probe_latency_pair *other = &latency->pairs[i];
        late = late || (other->measured && !other->upper_bound && other->path == PROBE_PATH_REGISTER &&
                        other->dst == pair->dst && other->src != pair->dst &&
                        pair->cycles > other->cycles + LATENCY_LATE_CYCLES);
    }
    return late;
}

/* Is it merged under a mask? Noise can make a whole number of such bounds: on a Zen 4 short rounds through
 * `vpaddd xmm{k}, xmm, m128` tell 9.7 most of the time, 9.95 in some processes, and longer ones 9.00. */
static bool is_masked(const struct isa_form *form) {
    bool masked = false;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        masked = masked || (probe_operand_file(operand) == PROBE_FILE_MASK && operand->read);
    }
    return masked;
}

/* From what memory holds to what it holds, exactly? */
static bool changes_memory(const struct isa_form *form, const struct probe_latency_pair *pair) {
    return pair->path == PROBE_PATH_CONTENT && form->operands[pair->dst].kind == ISA_OPERAND_MEM &&
           !pair->upper_bound;
}

/* Does a store and a load close the round, so that it can tell a bound alone? */
static bool is_content_bound(const struct probe_latency_pair *pair) {
    return pair->path == PROBE_PATH_CONTENT && pair->upper_bound;
}

/* What may tell more of the pair in longer rounds; NULL: nothing. Not of flags, unless through memory: what
 * leads to and from them goes to one port, whatever else is in the round. Nor of other bounds of 512 bits: on
 * a core that does them in halves all rounds without NOPs are between two whole numbers. Gathers are
 * microcode on some cores, and rounds of them without NOPs take a cycle or two more, now and then a whole
 * number. */
static const struct lengthening *lengthening_find(const struct isa_form *form,
                                                  const struct probe_latency *latency,
                                                  const struct probe_latency_pair *pair) {
    const bool flags = joins(form, pair, PROBE_FILE_FLAGS), masks = joins(form, pair, PROBE_FILE_MASK);
    if (!pair->measured || pair->verdict != HX_VERDICT_OK || pair->cycles > MOST_CYCLES ||
        (flags && !is_content_bound(pair))) {
        return NULL;
    }
    if (gen_form_is_gather(form)) {
        return &GATHER;
    }
    const bool between = fabs(pair->cycles - round(pair->cycles)) > WHOLE_WITHIN;
    const bool bound_is_merged = pair->upper_bound && is_masked(form) && !is_wide(form, pair);
    if (!between && !is_late(latency, pair) && !bound_is_merged) {
        return NULL;
    }
    if (changes_memory(form, pair)) {
        return &MEMORY;
    }
    if (masks) {
        return pair->upper_bound ? NULL : &MASKS;
    }
    if (is_content_bound(pair)) {
        return joins(form, pair, PROBE_FILE_VECTOR) ? &CONTENT
               : gen_form_modifies_memory(form)     ? NULL
                                                    : &CONTENT_OF_INTEGERS;
    }
    return pair->upper_bound && is_wide(form, pair) ? NULL : &VECTORS;
}

/* The chain `like` once more, with what may make it whole. */
static enum ip_status longer_add(struct latency_session *session, const struct latency_experiment *like,
                                 const struct lengthening *more, struct ip_error *err) {
    enum ip_status status = IP_OK;
    const struct probe_latency_pair *pair = &session->results[like->form].pairs[like->pair];
    const double cycles = pair->cycles;
    const bool shuffles = more->shuffles && pair->upper_bound && !session->forms[like->form]->floating;
    for (unsigned i = 0; i < LENGTHS && status == IP_OK; i++) {
        const unsigned nops = more->nops[i] + (unsigned)(more->nops_a_cycle[i] * cycles);
        if (more->times[i] == 0 && nops == 0) {
            continue;
        }
        status =
            more->times[i] == 0
                ? latency_filled_add(session, like->form, like->pair, like->via, like->via_count, nops, err)
                : latency_delayed_add(session, like, more->file, false, more->times[i], nops, err);
        if (status == IP_OK && shuffles) {
            status = latency_delayed_add(session, like, more->file, true, more->times[i], nops, err);
        }
    }
    return status;
}

enum ip_status latency_longer_add(struct latency_session *session, size_t read, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t begin = 0, end; begin < read && status == IP_OK; begin = end) {
        end = latency_pair_end(session, begin);
        const size_t form = session->experiments[begin].form, pair = session->experiments[begin].pair;
        const struct probe_latency *latency = &session->results[form];
        const struct lengthening *more =
            lengthening_find(session->forms[form], latency, &latency->pairs[pair]);
        const struct latency_experiment *teller =
            more != NULL ? latency_teller_find(session, begin, end) : NULL;
        if (teller == NULL) {
            continue;
        }
        const struct latency_experiment like = *teller; /* which moves when chains are added */
        status = longer_add(session, &like, more, err);
    }
    return status;
}

/* Does the longer round tell the pair better? NOPs make a round through memory no shorter than it is, so that
 * less is nearer. Else it is the whole number of cycles below what the pair was given, or, of a bound, the
 * one above; not of 512 bits, whose first half may be there a cycle before the other (Zen 4). */
static bool is_better(const struct isa_form *form, const struct latency_experiment *longer,
                      const struct probe_latency_pair *pair, double cycles) {
    bool less = pair->cycles - cycles > WHOLE_WITHIN;
    if (longer->nops > 0 && (less || !pair->upper_bound || is_wide(form, pair))) {
        return less;
    }
    double whole = round(cycles), more = whole - pair->cycles;
    return fabs(cycles - whole) <= LONGER_WHOLE && more >= -LONGER_LESS &&
           (pair->upper_bound ? more <= LONGER_MORE : more < -WHOLE_WITHIN);
}

/* Does it tell so much less that the other rounds were none of a chain? Then the latency is no more than
 * that. */
static bool is_far_less(const struct latency_experiment *longer, const struct probe_latency_pair *pair,
                        double cycles) {
    return longer->nops == 0 && !pair->upper_bound && cycles < pair->cycles - LONGER_LESS - LONGER_WHOLE;
}

/* Was the round made longer by shuffles? One with NOPs has those of the round that it is like. */
static bool is_shuffled(const struct latency_session *session, const struct latency_experiment *longer) {
    bool shuffled = false;
    for (unsigned i = 0; i < longer->via_count && longer->nops == 0; i++) {
        const struct probe_transfer *transfer = &session->transfers->items[longer->via[i]];
        shuffled = shuffled || (transfer->from == PROBE_FILE_VECTOR && transfer->to == PROBE_FILE_VECTOR &&
                                transfer->restore == PROBE_RESTORE_NONE);
    }
    return shuffled;
}

/* Is it denied that the pair takes more than it was given? By shuffles that tell a whole number and no more,
 * or by noise that let one of the longer rounds [begin, end) tell nothing. */
static bool more_is_denied(const struct latency_session *session, const struct probe_latency_pair *pair,
                           size_t begin, size_t end) {
    bool denied = false;
    for (size_t i = begin; i < end; i++) {
        const struct latency_experiment *longer = &session->experiments[i];
        double rest;
        denied =
            denied || hx_verdict_is_noise(session->batch.stats[longer->slot].verdict) ||
            (is_shuffled(session, longer) && latency_chain_equals(session, longer, pair, INFINITY, &rest) &&
             fabs(rest - round(rest)) <= LONGER_WHOLE && rest <= pair->cycles + WHOLE_WITHIN);
    }
    return denied;
}

void latency_longer_read(struct latency_session *session, size_t first, size_t end) {
    for (size_t begin = first, next; begin < end; begin = next) {
        const struct latency_experiment *all = session->experiments;
        struct probe_latency_pair *pair = &session->results[all[begin].form].pairs[all[begin].pair];
        next = latency_pair_end(session, begin);
        size_t least = SIZE_MAX;
        double least_cycles = more_is_denied(session, pair, begin, next) ? pair->cycles : INFINITY;
        bool is_bound = false;
        for (size_t i = begin; i < next; i++) {
            double rest;
            if (is_shuffled(session, &all[i]) ||
                !latency_chain_equals(session, &all[i], pair, INFINITY, &rest) || rest >= least_cycles) {
                continue;
            }
            const bool far = is_far_less(&all[i], pair, rest);
            if (far || is_better(session->forms[all[i].form], &all[i], pair, rest)) {
                least = i;
                least_cycles = rest;
                is_bound = far;
            }
        }
        if (least != SIZE_MAX) {
            const double before = pair->cycles;
            latency_pair_give(session, pair, &all[least]);
            pair->upper_bound = pair->upper_bound || is_bound;
            /* One register made no difference to the short rounds: it makes none. */
            if (fabs(pair->same_register_cycles - before) < PROBE_LATENCY_SAME_CYCLES) {
                pair->same_register_cycles = pair->cycles;
            }
        }
    }
}
