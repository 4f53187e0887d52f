/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/rivals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/stats.h"

enum {
    TEAMS_MEASURED = 2,   /* of a set, those that look least */
    MEMBERS_MEASURED = 3, /* of a team, those around its median */
    STAGES_MAX = 4,       /* looks that were too high or too low are put right so many times */
    TEAM_MAX = 64,
};

/* A look may be so far from the truth: relative to the kernel's cycles, and at least. */
static const double LOOK_RELATIVE = 0.05;
static const double LOOK_CYCLES = 0.03;

/* Looks that are nearer to each other, as a part of that, are equal. */
static const double EQUAL_DOUBT = 0.2;
/* A look that is so near to its anchor says the same, where it can tell whole numbers of cycles apart. */
static const double ANCHOR_CYCLES = 0.25, ANCHOR_DOUBT = 0.5;
/* What is farther from a whole number, in cycles or as a part of itself, waits for something else: forms that
 * merge into what they write take 1.9 alone on a Zen 4, and 1 behind three shuffles. */
static const double WHOLE_CYCLES = 0.05, WHOLE_RELATIVE = 0.01;
/* More than any latency. */
static const double BELOW_FLOOR = 1e6;

/* What takes longer than this, and so many times the least, waits for what was guessed wrong. */
static const double GUESSED_CYCLES = 25, GUESSED_TIMES = 2;

size_t probe_rivals_quick(const double *values, size_t count) {
    while (count > 1 && values[count - 1] > fmax(GUESSED_CYCLES, GUESSED_TIMES * values[0])) {
        count--;
    }
    return count;
}

/* One set of rivals. */
struct race {
    const struct probe_rival *rivals;
    struct hx_stat *stats;
    bool *chosen; /* to be measured now */
    bool *mute;   /* a member of its team says that none has a result */
    size_t first, end;
};

static bool is_open(const struct race *race, size_t i) {
    return race->stats[i].screened && !race->chosen[i];
}

/* Nothing at all may look like somewhat less. */
static double rest(const struct race *race, size_t i) {
    double left = race->stats[i].cycles - race->rivals[i].offset;
    return isnan(left) || race->mute[i]   ? INFINITY
           : left < race->rivals[i].floor ? left + BELOW_FLOOR
                                          : fmax(left, 0.0);
}

static bool is_whole(double cycles) {
    return fabs(cycles - round(cycles)) <= fmax(WHOLE_CYCLES, WHOLE_RELATIVE * cycles);
}

static double stat_doubt(const struct hx_stat *stat) {
    return LOOK_CYCLES + LOOK_RELATIVE * stat->cycles;
}

static double doubt(const struct race *race, size_t i) {
    return stat_doubt(&race->stats[i]);
}

static bool is_teammate(const struct race *race, size_t i, size_t j) {
    return i == j || (race->rivals[i].team != 0 && race->rivals[i].team == race->rivals[j].team);
}

bool probe_rival_is_veto(const struct probe_rival *rival, const struct hx_stat *stat) {
    return rival->vetoes && stat->verdict == HX_VERDICT_OK &&
           stat->cycles - rival->offset < rival->floor - stat_doubt(stat);
}

/* Mutes the teams one of whose members says that they have no result. */
static void teams_mute(struct race *race) {
    for (size_t i = race->first; i < race->end; i++) {
        race->mute[i] = false;
    }
    for (size_t i = race->first; i < race->end; i++) {
        if (!probe_rival_is_veto(&race->rivals[i], &race->stats[i])) {
            continue;
        }
        for (size_t j = race->first; j < race->end; j++) {
            race->mute[j] = race->mute[j] || is_teammate(race, i, j);
        }
    }
}

/* The median of what was looked at of the team of `i`. */
static double team_median(const struct race *race, size_t i) {
    double values[TEAM_MAX];
    size_t count = 0;
    for (size_t j = race->first; j < race->end && count < TEAM_MAX; j++) {
        if (is_teammate(race, i, j) && isfinite(rest(race, j))) {
            values[count++] = rest(race, j);
        }
    }
    if (count == 0) {
        return INFINITY;
    }
    hx_sort(values, count);
    return values[probe_rivals_quick(values, count) / 2];
}

/* The least that was measured and can be trusted; infinite while there is none. */
static double measured_least(const struct race *race) {
    double least = INFINITY;
    for (size_t i = race->first; i < race->end; i++) {
        const struct hx_stat *stat = &race->stats[i];
        if (!stat->screened && stat->verdict == HX_VERDICT_OK) {
            least = fmin(least, team_median(race, i));
        }
    }
    return least;
}

/* Does what looks least tell the same as the set's anchor, which was measured? */
static bool anchor_speaks(const struct race *race) {
    size_t least = SIZE_MAX;
    for (size_t i = race->first; i < race->end; i++) {
        bool calm = race->stats[i].verdict == HX_VERDICT_OK && isfinite(rest(race, i));
        least = calm && (least == SIZE_MAX || rest(race, i) < rest(race, least)) ? i : least;
    }
    if (least == SIZE_MAX || race->rivals[least].anchor == 0 || race->rivals[least].anchor > least) {
        return false;
    }
    size_t anchor = least - race->rivals[least].anchor;
    double says = rest(race, anchor);
    return race->stats[anchor].verdict == HX_VERDICT_OK && is_whole(says) &&
           doubt(race, least) <= ANCHOR_DOUBT && fabs(rest(race, least) - says) <= ANCHOR_CYCLES;
}

/* Chooses the members of one team that are nearest to its median. */
static size_t team_choose(struct race *race, size_t member) {
    double median = team_median(race, member);
    size_t chosen = 0;
    while (chosen < MEMBERS_MEASURED) {
        size_t nearest = SIZE_MAX;
        for (size_t i = race->first; i < race->end; i++) {
            if (is_teammate(race, member, i) && is_open(race, i) && isfinite(rest(race, i)) &&
                (nearest == SIZE_MAX || fabs(rest(race, i) - median) < fabs(rest(race, nearest) - median))) {
                nearest = i;
            }
        }
        if (nearest == SIZE_MAX) {
            break;
        }
        race->chosen[nearest] = true;
        chosen++;
    }
    return chosen;
}

static bool team_has_open(const struct race *race, size_t member) {
    for (size_t i = race->first; i < race->end; i++) {
        if (is_teammate(race, member, i) && (race->chosen[i] || !race->stats[i].screened)) {
            return false; /* somebody speaks for it already */
        }
    }
    return is_open(race, member);
}

/* Of the teams that look the same as the least the first: the plainest kernels stand first. */
static size_t first_equal(const struct race *race, size_t least, double least_rest) {
    for (size_t i = race->first; i < least; i++) {
        if (team_has_open(race, i) && team_median(race, i) <= least_rest + doubt(race, i) * EQUAL_DOUBT) {
            return i;
        }
    }
    return least;
}

/* Chooses what has to be measured now: at first the teams that look least, two of them but where whole
 * numbers are expected: then the second follows if the first was none; later those that look less than the
 * least that was measured, and, where nothing could be trusted, the next ones. Returns how many. */
static size_t race_choose(struct race *race, unsigned stage) {
    size_t chosen = 0;
    bool whole = race->rivals[race->first].whole;
    double known = measured_least(race);
    double best = INFINITY;
    bool another = stage == 1 && whole && isfinite(known) && !is_whole(known);
    for (unsigned team = 0; team < (whole && stage <= 1 ? 1 : TEAMS_MEASURED); team++) {
        size_t least = SIZE_MAX;
        double least_rest = INFINITY;
        for (size_t i = race->first; i < race->end; i++) {
            double median = team_has_open(race, i) ? team_median(race, i) : INFINITY;
            if (median < least_rest) {
                least = i;
                least_rest = median;
            }
        }
        if (least == SIZE_MAX) {
            break;
        }
        least = first_equal(race, least, least_rest);
        best = fmin(best, least_rest);
        bool wanted = stage == 0 ? least_rest <= best + doubt(race, least)
                      : another  ? least_rest <= known + doubt(race, least)
                                 : least_rest < known - doubt(race, least) / 2;
        if (!wanted) {
            break;
        }
        chosen += team_choose(race, least);
    }
    return chosen;
}

struct scratch {
    bool *chosen, *mute;
    const struct gen_kernel **kernels;
    struct hx_stat *stats;
};

/* One stage for all sets of which no anchor says all. *wanted counts what was chosen. */
static void races_choose(const struct probe_rival *rivals, struct hx_stat *stats, struct scratch *scratch,
                         size_t count, unsigned stage, size_t *wanted) {
    *wanted = 0;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && rivals[end].set == rivals[first].set;) {
            end++;
        }
        if (rivals[first].set != 0) {
            struct race race = {.rivals = rivals,
                                .stats = stats,
                                .chosen = scratch->chosen,
                                .mute = scratch->mute,
                                .first = first,
                                .end = end};
            teams_mute(&race);
            if (anchor_speaks(&race)) {
                continue;
            }
            *wanted += race_choose(&race, stage);
            /* A look that saw nothing, or that something disturbed, says nothing. */
            for (size_t i = first; stage == 0 && i < end; i++) {
                bool blind = stats[i].screened && !scratch->chosen[i] &&
                             (!isfinite(stats[i].cycles) || stats[i].verdict != HX_VERDICT_OK);
                scratch->chosen[i] = scratch->chosen[i] || blind;
                *wanted += blind;
            }
        }
    }
}

/* Runs `run` on the kernels that are chosen, and puts their statistics in their places. */
static enum ip_status some_run(const struct hx_meter *meter, bool screen,
                               const struct gen_kernel *const *kernels, size_t count, struct scratch *scratch,
                               struct hx_stat *stats, struct ip_error *err) {
    size_t some = 0;
    for (size_t i = 0; i < count; i++) {
        if (scratch->chosen[i]) {
            scratch->kernels[some++] = kernels[i];
        }
    }
    if (some == 0) {
        return IP_OK;
    }
    enum ip_status status = screen ? hx_screen(meter, scratch->kernels, some, scratch->stats, err)
                                   : hx_measure(meter, scratch->kernels, some, scratch->stats, err);
    some = 0;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (scratch->chosen[i]) {
            stats[i] = scratch->stats[some++];
            scratch->chosen[i] = false;
        }
    }
    return status;
}

/* Looks at the first kernel of each set. Where this CPU lacks the instruction, the others of the set need not
 * fault too. */
static enum ip_status trial_run(const struct hx_meter *meter, const struct probe_rival *rivals,
                                const struct gen_kernel *const *kernels, size_t count,
                                struct scratch *scratch, struct hx_stat *stats, struct ip_error *err) {
    for (size_t i = 0; i < count; i++) {
        scratch->chosen[i] = rivals[i].set != 0 && (i == 0 || rivals[i - 1].set != rivals[i].set);
    }
    enum ip_status status = some_run(meter, true, kernels, count, scratch, stats, err);
    size_t first = 0;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        bool head = i == 0 || rivals[i - 1].set != rivals[i].set;
        first = head ? i : first;
        bool lacking = stats[first].verdict == HX_VERDICT_FAULT && stats[first].outcome == HX_OUTCOME_ILLEGAL;
        scratch->chosen[i] = rivals[i].set != 0 && !head && !lacking;
        if (rivals[i].set != 0 && !head && lacking) {
            stats[i] = stats[first];
        }
    }
    return status;
}

static enum ip_status stages_run(const struct hx_meter *meter, const struct probe_rival *rivals,
                                 const struct gen_kernel *const *kernels, size_t count,
                                 struct scratch *scratch, struct hx_stat *stats, struct ip_error *err) {
    enum ip_status status = trial_run(meter, rivals, kernels, count, scratch, stats, err);
    if (status == IP_OK) {
        status = some_run(meter, true, kernels, count, scratch, stats, err);
    }
    if (status == IP_OK) {
        for (size_t i = 0; i < count; i++) {
            scratch->chosen[i] = rivals[i].set == 0;
        }
        status = some_run(meter, false, kernels, count, scratch, stats, err);
    }
    for (unsigned stage = 0; stage < STAGES_MAX && status == IP_OK; stage++) {
        size_t wanted = 0;
        races_choose(rivals, stats, scratch, count, stage, &wanted);
        if (wanted == 0) {
            break;
        }
        status = some_run(meter, false, kernels, count, scratch, stats, err);
    }
    return status;
}

enum ip_status probe_rivals_measure(const struct hx_meter *meter, const struct probe_rival *rivals,
                                    const struct gen_kernel *const *kernels, size_t count,
                                    struct hx_stat *stats, struct ip_error *err) {
    bool any = false;
    for (size_t i = 0; i < count && !any; i++) {
        any = rivals[i].set != 0;
    }
    if (!any || meter->screen == NULL) {
        return hx_measure(meter, kernels, count, stats, err);
    }
    struct scratch scratch = {.chosen = calloc(count, sizeof *scratch.chosen),
                              .mute = calloc(count, sizeof *scratch.mute),
                              .kernels = calloc(count, sizeof *scratch.kernels),
                              .stats = calloc(count, sizeof *scratch.stats)};
    enum ip_status status = IP_OK;
    if (scratch.chosen == NULL || scratch.mute == NULL || scratch.kernels == NULL || scratch.stats == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "no memory for %zu experiments: measure fewer forms", count);
    } else {
        status = stages_run(meter, rivals, kernels, count, &scratch, stats, err);
    }
    free(scratch.chosen);
    free(scratch.mute);
    free(scratch.kernels);
    free(scratch.stats);
    return status;
}
