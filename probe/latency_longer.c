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

/* x | f, which keeps the value that all of the data are, and chains to itself. */
static bool delays(const struct probe_transfer *transfer) {
    return transfer->restore == PROBE_RESTORE_OR &&
           probe_transfer_fits(transfer, &transfer->form, transfer->dst, transfer->src);
}

void latency_delays_need(struct latency_session *session) {
    struct probe_transfer *items = session->transfers->items;
    bool vectors = false;
    for (size_t i = 0; i < session->transfers->count; i++) {
        vectors = vectors || (items[i].needed &&
                              (items[i].from == PROBE_FILE_VECTOR || items[i].to == PROBE_FILE_VECTOR));
    }
    for (size_t i = 0; i < session->transfers->count; i++) {
        items[i].needed = items[i].needed || (vectors && delays(&items[i]));
    }
}

/* The transfers of a chain that lead to another file, and where among them delays stand. */
struct way {
    int crossings[LATENCY_VIA_MAX];
    unsigned count;
    int delay;    /* -1: none may stand anywhere */
    unsigned gap; /* before this crossing */
};

/* May `delay` stand in the gap of the way? */
static bool stands(const struct latency_session *session, const struct isa_form *form,
                   const struct probe_latency_pair *pair, const struct way *way,
                   const struct probe_transfer *delay) {
    const struct probe_transfer *items = session->transfers->items;
    const struct probe_transfer *before = way->gap > 0 ? &items[way->crossings[way->gap - 1]] : NULL;
    const struct probe_transfer *after = way->gap < way->count ? &items[way->crossings[way->gap]] : NULL;
    bool leaves = before != NULL ? probe_transfer_fits(delay, &before->form, before->dst, -1)
                                 : probe_transfer_fits(delay, form, pair->dst, -1);
    bool enters = after != NULL
                      ? probe_transfer_fits(delay, &after->form, -1, after->src)
                      : pair->path == PROBE_PATH_INDEX || probe_transfer_fits(delay, form, -1, pair->src);
    return leaves && enters;
}

/* The way of the chain, with the first delay that may stand in the first gap where one may. */
static void way_find(const struct latency_session *session, const struct latency_experiment *experiment,
                     struct way *way) {
    const struct isa_form *form = session->forms[experiment->form];
    const struct probe_latency_pair *pair = &session->results[experiment->form].pairs[experiment->pair];
    *way = (struct way){.delay = -1};
    for (unsigned i = 0; i < experiment->via_count; i++) {
        const struct probe_transfer *transfer = &session->transfers->items[experiment->via[i]];
        if (transfer->from != transfer->to) {
            way->crossings[way->count++] = experiment->via[i];
        }
    }
    for (; way->gap <= way->count; way->gap++) {
        for (size_t i = 0; i < session->transfers->count; i++) {
            const struct probe_transfer *delay = &session->transfers->items[i];
            if (delay->pinned && delays(delay) && stands(session, form, pair, way, delay)) {
                way->delay = (int)i;
                return;
            }
        }
    }
}

/* Adds the way's chain with so many delays, if it is not too long. */
static enum ip_status way_add(struct latency_session *session, size_t form, size_t pair,
                              const struct way *way, unsigned times, struct ip_error *err) {
    int via[LATENCY_VIA_MAX];
    const unsigned length = way->count + times;
    if (length > LATENCY_VIA_MAX) {
        return IP_OK;
    }
    for (unsigned i = 0; i < length; i++) {
        via[i] = i < way->gap           ? way->crossings[i]
                 : i < way->gap + times ? way->delay
                                        : way->crossings[i - times];
    }
    return latency_chain_add(session, form, pair, via, length, err);
}

enum ip_status latency_longer_add(struct latency_session *session, struct ip_error *err) {
    const size_t before = session->experiment_count;
    enum ip_status status = IP_OK;
    for (size_t begin = 0, end; begin < before && status == IP_OK; begin = end) {
        end = latency_pair_end(session, begin);
        const size_t form = session->experiments[begin].form, pair = session->experiments[begin].pair;
        const struct latency_experiment *teller =
            is_between(session->forms[form], &session->results[form].pairs[pair])
                ? latency_teller_find(session, begin, end)
                : NULL;
        if (teller == NULL) {
            continue;
        }
        struct way way;
        way_find(session, teller, &way);
        for (unsigned i = 0; i < LENGTH_COUNT && way.delay >= 0 && status == IP_OK; i++) {
            status = way_add(session, form, pair, &way, LENGTHS[i], err);
        }
    }
    return status;
}
