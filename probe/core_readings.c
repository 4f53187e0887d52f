/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/core_readings.h"

#include <math.h>
#include <stdbool.h>

struct probe_commit probe_commit_read(const double cycles[PROBE_COMMITS]) {
    /* Two cycles where each store takes one, one where two share it: seen were 0.99 to 1.34, and 1.99. */
    const double shared = 1.7, three_rows = 2.5;
    struct probe_commit commit = {.pair_bytes = NAN, .row = NAN, .read = NAN};
    for (unsigned i = PROBE_COMMIT_8; i <= PROBE_COMMIT_32; i++) {
        if (isnan(cycles[i])) {
            return commit;
        }
    }
    for (unsigned i = PROBE_COMMIT_8; i <= PROBE_COMMIT_32 && cycles[i] < shared; i++) {
        commit.pair_bytes = 16u << i; /* 8 bytes apart lie in one block of 16 */
    }
    if (commit.pair_bytes == 64 && cycles[PROBE_COMMIT_64] < shared) {
        commit.pair_bytes = 0;
    }
    if (isnan(commit.pair_bytes)) {
        return commit;
    }
    if (commit.pair_bytes == 32 && !isnan(cycles[PROBE_COMMIT_ROW])) {
        commit.row = cycles[PROBE_COMMIT_ROW] < three_rows; /* three and one, not two, one and one */
    }
    if (!isnan(cycles[PROBE_COMMIT_READ])) {
        commit.read = cycles[PROBE_COMMIT_READ] > shared;
    }
    return commit;
}

enum probe_turns probe_turns_read(const double cycles[PROBE_TURNS]) {
    const double near = 0.1, slower = 0.3;
    for (unsigned i = 0; i < PROBE_TURNS; i++) {
        if (isnan(cycles[i])) {
            return PROBE_TURNS_UNKNOWN;
        }
    }
    if (fabs(cycles[PROBE_TURNS_RATE] - 1) > near) {
        return PROBE_TURNS_NOT_ASKED;
    }
    bool apart = cycles[PROBE_TURNS_THREE] < 1 + near;
    return apart && cycles[PROBE_TURNS_TWO] > cycles[PROBE_TURNS_THREE] + slower ? PROBE_TURNS_YES
                                                                                 : PROBE_TURNS_NO;
}

const unsigned probe_forward_pairs[PROBE_FORWARDS] = {4, 8, 12, 16, 24, 32, 48, 64, 96, 128};

struct probe_forward probe_forward_read(const double cycles[PROBE_FORWARDS]) {
    static const double addition = 1.0, alike = 0.5, slower = 1.0;
    struct probe_forward forward = {.pairs = NAN};
    const double few = cycles[0], many = cycles[PROBE_FORWARDS - 1];
    forward.other = isnan(few) ? NAN : fmax(0.0, few - addition); /* fmax is deaf to NaN */
    forward.long_code = isnan(many) ? NAN : fmax(0.0, many - addition);
    forward.learns = forward.long_code - forward.other >= slower; /* not where one of them is NaN */
    if (forward.learns) {
        unsigned slow = 0;
        while (slow < PROBE_FORWARDS && !(cycles[slow] >= few + alike)) { /* nor what was not heard */
            slow++;
        }
        const bool heard = !isnan(cycles[slow - 1]); /* what is longer may be as fast */
        forward.pairs = heard ? probe_forward_pairs[slow - 1] : NAN;
    }
    return forward;
}

bool probe_idiom_is_free(const struct probe_idiom *idiom) {
    static const double near = 1.08, slower = 1.1, clearly = 0.8;
    const double slot = idiom->nops > idiom->slot ? idiom->nops : idiom->slot;
    bool as_nops = idiom->same < near * slot && idiom->different > slower * idiom->same;
    return as_nops || idiom->same < clearly * idiom->executed;
}
