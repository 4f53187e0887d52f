/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of a pair, made longer by instructions that only take their time. */
#include "probe/latency_session.h"

/* An instruction that chains to itself and keeps what passes: x | f in vectors, f being what all of the data
 * are, or a shuffle of them, moves of masks, and sign extensions of small values in general-purpose
 * registers. */
static bool delays(const struct probe_transfer *transfer, enum probe_file file, bool shuffles) {
    enum probe_restore restore =
        file == PROBE_FILE_VECTOR && !shuffles ? PROBE_RESTORE_OR : PROBE_RESTORE_NONE;
    return transfer->from == file && transfer->to == file && transfer->partner < 0 &&
           transfer->restore == restore &&
           probe_transfer_fits(transfer, &transfer->form, transfer->dst, transfer->src);
}

bool latency_delay_is_steady(const struct probe_transfer *transfer) {
    const double most = 1.05;
    return transfer->cycles <= most;
}

void latency_delays_need(struct latency_session *session) {
    static const enum probe_file FILES[] = {PROBE_FILE_VECTOR, PROBE_FILE_MASK};
    struct probe_transfer *items = session->transfers->items;
    for (size_t f = 0; f < sizeof FILES / sizeof FILES[0]; f++) {
        bool needed = false;
        for (size_t i = 0; i < session->transfers->count; i++) {
            needed = needed || (items[i].needed && (items[i].from == FILES[f] || items[i].to == FILES[f]));
        }
        for (size_t i = 0; i < session->transfers->count; i++) {
            items[i].needed = items[i].needed || (needed && delays(&items[i], FILES[f], false));
        }
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
    bool enters = after != NULL                    ? probe_transfer_fits(delay, &after->form, -1, after->src)
                  : pair->path == PROBE_PATH_INDEX ? delay->to == PROBE_FILE_VECTOR
                  : pair->path == PROBE_PATH_ADDRESS ? latency_is_address(&delay->form.operands[delay->dst])
                                                     : probe_transfer_fits(delay, form, -1, pair->src);
    return leaves && enters;
}

/* The way of the chain, with the first delay that may stand in the first gap where one may. */
static void way_find(const struct latency_session *session, const struct latency_experiment *experiment,
                     enum probe_file file, bool shuffles, struct way *way) {
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
            if (delay->pinned && delays(delay, file, shuffles) && stands(session, form, pair, way, delay)) {
                way->delay = (int)i;
                return;
            }
        }
    }
}

enum ip_status latency_delayed_add(struct latency_session *session, const struct latency_experiment *like,
                                   enum probe_file file, bool shuffles, unsigned times, unsigned nops,
                                   struct ip_error *err) {
    struct way way;
    way_find(session, like, file, shuffles, &way);
    int via[LATENCY_VIA_MAX];
    if (times > 0 && way.delay >= 0 && !latency_delay_is_steady(&session->transfers->items[way.delay])) {
        return IP_OK;
    }
    if (times == 0) {
        times = LATENCY_VIA_MAX - way.count;
    }
    const unsigned length = way.count + times;
    if (way.delay < 0 || length > LATENCY_VIA_MAX) {
        return IP_OK;
    }
    for (unsigned i = 0; i < length; i++) {
        via[i] = i < way.gap ? way.crossings[i] : i < way.gap + times ? way.delay : way.crossings[i - times];
    }
    return nops > 0 ? latency_filled_add(session, like->form, like->pair, via, length, nops, err)
                    : latency_chain_add(session, like->form, like->pair, via, length, err);
}
