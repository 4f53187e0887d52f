/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/slots_session.h"

#include <math.h>
#include <stdio.h>

/* Of several mixes that disagree, two say the same if they are as near to each other. */
static const double SAME_LEAST = 0.25;
/* Their mean is so much above a whole number, or below, or others are looked at. What holds instances up adds
 * to their slots, and nothing takes from them but noise in the NOPs' own time. */
static const double CLEAR_MORE = 0.3, CLEAR_LESS = 0.15;
/* So many of a hundred slots more or less are as good. */
static const double UNCERTAIN = 0.1;
/* So many NOPs alone must come from the µop cache: from the decoders they take 6 % longer, now in one kernel
 * and now in another, which is more than a form's slots. */
static const double SPARSE_BASE = 1.03;

static bool stat_ok(const struct hx_stat *stat) {
    return stat->verdict == HX_VERDICT_OK;
}

/* The median of what the kernels of a mix say, of those that can be trusted, if any. */
static const struct hx_stat *kernels_median(const struct hx_stat *first, unsigned kernels) {
    const struct hx_stat *sorted[SLOTS_KERNELS];
    unsigned count = 0;
    for (unsigned k = 0; k < kernels; k++) {
        unsigned at = count;
        if (!stat_ok(&first[k])) {
            continue;
        }
        for (count++; at > 0 && sorted[at - 1]->cycles > first[k].cycles; at--) {
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = &first[k];
    }
    return count > 0 ? sorted[(count - 1) / 2] : first;
}

/* What one mix says; the result keeps the statistic that speaks against it, if one does. */
static double mix_read(const struct slots_session *session, const struct isa_form *form,
                       struct slots_mixes *mixes, unsigned m, struct probe_slots *result) {
    const struct hx_stat *stats = session->batch.stats;
    size_t first = session->bases[mixes->fine][slots_mix_nops(session, mixes, m)];
    const struct hx_stat *base = kernels_median(&stats[first], slots_kernels_of(mixes, NULL));
    const struct hx_stat *stat = kernels_median(&stats[mixes->slots[m]], slots_kernels_of(mixes, form));
    if (session->sparse && stat_ok(base) &&
        base->cycles * session->width > SPARSE_BASE * slots_mix_nops(session, mixes, m)) {
        return NAN;
    }
    mixes->disturbed = mixes->disturbed || stat->retakes > 0 || base->retakes > 0;
    const struct hx_stat *worse = !stat_ok(stat) || stat_ok(base) ? stat : base;
    if (result->verdict == HX_VERDICT_OK) {
        result->stat = *worse;
        result->verdict = worse->verdict;
        (void)snprintf(result->why, sizeof result->why, "%s", stat_ok(worse) ? "" : worse->why);
    }
    double uncertain = (base->spread * base->cycles + stat->spread * stat->cycles) * session->width;
    result->spread = fmax(result->spread, uncertain / mixes->count);
    return ((stat->cycles - base->cycles) * session->width - mixes->others) / mixes->count;
}

/* A reading takes the place of one of as many NOPs. */
static void seen_add(struct slots_mixes *mixes, unsigned nops, double slots) {
    unsigned at, count = 0;
    for (unsigned i = 0; i < mixes->seen_count; i++) {
        if (mixes->seen[i].nops != nops) {
            mixes->seen[count++] = mixes->seen[i];
        }
    }
    for (at = count; at > 0 && mixes->seen[at - 1].slots > slots; at--) {
        mixes->seen[at] = mixes->seen[at - 1];
    }
    mixes->seen[at] = (struct slots_reading){.nops = nops, .slots = slots};
    mixes->seen_count = count + 1;
}

/* Whatever else holds a mix up only adds to it: two uops that must issue in one cycle wait for the next where
 * the NOPs before them leave one slot of it. So of mixes that disagree the least counts, if the one above it
 * says the same. */
static bool least_agree(const struct slots_mixes *mixes, double *one, double *other) {
    if (mixes->seen_count < 3 || mixes->seen[1].slots - mixes->seen[0].slots > SAME_LEAST) {
        return false;
    }
    *one = mixes->seen[0].slots;
    *other = mixes->seen[1].slots;
    return true;
}

static double same_slots(const struct slots_mixes *mixes) {
    return fmax(SLOTS_SAME, SLOTS_SAME_OF_ALL / mixes->count);
}

/* How far the readings are from each other, in slots. */
static double slots_apart(const struct probe_slots *result) {
    return result->spread * fmax(result->slots, 1.0);
}

/* Are they further apart than what they are to tell? */
static bool is_uncertain(const struct slots_mixes *mixes, const struct probe_slots *result) {
    return slots_apart(result) > fmax(same_slots(mixes), UNCERTAIN * result->slots);
}

/* Few slots are a whole number, one or more, but where some are taken together with others. */
static bool is_whole(double slots) {
    double more = slots - floor(slots);
    return slots > SLOTS_DECODED ||
           (slots >= 1.0 - CLEAR_LESS && (more <= CLEAR_MORE || more >= 1.0 - CLEAR_LESS));
}

/* One batch beside neighbours, of whom hardly any is calm, says a slot too many of every thirtieth form:
 * there two glances must say so. */
static bool glance_settles(struct slots_mixes *mixes, double slots) {
    bool again = mixes->glanced > 0.0 && fabs(mixes->glanced - slots) <= same_slots(mixes);
    mixes->glanced = slots;
    return again || !mixes->disturbed || slots <= 1.0 + CLEAR_MORE;
}

bool slots_form_read(const struct slots_session *session, const struct isa_form *form,
                     struct slots_mixes *mixes, struct probe_slots *result) {
    slots_none(result, "");
    mixes->disturbed = false;
    double one = mix_read(session, form, mixes, 0, result);
    double other = mix_read(session, form, mixes, 1, result);
    if (isnan(one) || isnan(other)) {
        result->spread = NAN;
        return result->verdict == HX_VERDICT_FAULT;
    }
    bool agree = fabs(one - other) <= same_slots(mixes);
    if (!agree && result->verdict == HX_VERDICT_OK) {
        seen_add(mixes, slots_mix_nops(session, mixes, 0), one);
        seen_add(mixes, slots_mix_nops(session, mixes, 1), other);
        if (!least_agree(mixes, &one, &other)) {
            struct hx_stat stat = result->stat;
            slots_none(result, "something else than the issue limits it among NOPs");
            result->stat = stat;
            return false;
        }
    }
    double mean = (one + other) / 2.0;
    if (mean > mixes->most) {
        if (result->verdict == HX_VERDICT_OK) { /* else noise made it so, and is to be told */
            slots_none(result, "it takes longer among NOPs than alone");
        }
        return false;
    }
    result->measured = true;
    result->slots = mean > 0.0 ? mean : 0.0;
    result->spread = fmax(result->spread, fabs(one - other)) / fmax(result->slots, 1.0);
    if (result->verdict != HX_VERDICT_OK || !is_whole(result->slots)) {
        return false;
    }
    return session->glance ? glance_settles(mixes, result->slots) : !is_uncertain(mixes, result);
}

bool slots_doubt_weigh(struct slots_mixes *mixes, struct probe_slots *result) {
    const struct probe_slots before = mixes->doubtful;
    if (!result->measured || result->verdict != HX_VERDICT_OK) {
        *result = before.measured ? before : *result;
        return false;
    }
    bool same = before.measured && fabs(before.slots - result->slots) <= SAME_LEAST;
    if (before.measured && (same ? before.spread < result->spread : before.slots < result->slots)) {
        *result = before;
    }
    mixes->doubtful = *result;
    return same && !is_uncertain(mixes, result);
}

void slots_doubts_tell(const struct slots_session *session, size_t count, struct probe_slots *results) {
    for (size_t i = 0; i < count; i++) {
        struct probe_slots *result = &results[i];
        if (session->mixes[i].doubtful.measured && is_uncertain(&session->mixes[i], result)) {
            result->verdict = HX_VERDICT_UNSTABLE;
            (void)snprintf(result->why, sizeof result->why, "unstable: %.1f slots, give or take %.1f",
                           result->slots, slots_apart(result));
        }
    }
}
