/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_readings.c - what several readings of one experiment say together, and whether there should be
 * more. */
#include <math.h>

#include "harness/stats.h"
#include "probe/usage_steps.h"

/* A count of µops so far from an integer is worth another reading. */
static const double DOUBT = 0.2;
/* Readings are wrong by such a part of a mix's whole time. */
static const double KIND_ERROR[PROBE_USAGE_KINDS] = {
    [PROBE_USAGE_GLANCED] = 0.008, [PROBE_USAGE_LOOKED] = 0.006, [PROBE_USAGE_MEASURED] = 0.0015};
/* Glances that may be wrong by more are vague. */
static const double GLANCE_ERROR_MOST = 0.2;
/* What the readings say together may be wrong by so many µops. */
static const double ERROR_MOST = 0.12, MEASURED_ERROR_MOST = 0.09;
/* µops over which the narrowest half of several readings may spread at least, or twice what one may be wrong
 * by: beyond, they do not speak of one mix. */
static const double DISAGREE = 1.0;
enum { READINGS_TOLD = 4 };
static const double AGREE = 0.3; /* µops: two readings that are nearer */
/* Readings after which a count between two integers is taken to be one. */
enum { BETWEEN_MOST = 11 };
/* Of all experiments of a form whose readings do not fit together. */
enum { READINGS_OF_CARE = 5 };

/* µops that an error as large as the mix's whole time would make. */
static double leverage(const struct probe_usage_experiment *experiment) {
    double blocked = 0;
    for (unsigned p = 0; p < experiment->parts; p++) {
        blocked += experiment->blocked[p].uops;
    }
    double confined = isfinite(experiment->confined) ? experiment->confined * experiment->copies : 0;
    return (blocked + confined) / (experiment->copies - experiment->base_copies);
}

static double error_of(const struct probe_usage_experiment *experiment, unsigned readings) {
    double part = KIND_ERROR[experiment->kind];
    /* What the base takes is as uncertain. */
    part *= experiment->based && experiment->kind != PROBE_USAGE_GLANCED ? M_SQRT2 : 1.0;
    return part * leverage(experiment) / sqrt(readings);
}

double probe_usage_error(const struct probe_usage_experiment *experiment) {
    return experiment->reading_count > 0 ? error_of(experiment, experiment->reading_count) : INFINITY;
}

void probe_usage_readings_drop(struct probe_usage_experiment *experiment, enum probe_usage_kind kind) {
    experiment->kind = kind;
    experiment->wanted = experiment->least;
    experiment->reading_count = experiment->tries = experiment->renewal_count = 0;
    experiment->renewed = 0;
    experiment->cycles = experiment->confined = NAN;
}

void probe_usage_experiment_begin(struct probe_usage_experiment *experiment) {
    if (experiment->kind == PROBE_USAGE_LOOKED &&
        !(error_of(experiment, PROBE_USAGE_READINGS) <= ERROR_MOST)) {
        probe_usage_readings_drop(experiment, PROBE_USAGE_MEASURED);
    }
}

bool probe_usage_look_again(struct probe_usage_subject *subject) {
    bool any = false;
    subject->check_count = 0; /* they are chosen anew */
    for (unsigned e = 0; e <= subject->count; e++) {
        struct probe_usage_experiment *experiment =
            e < subject->count ? &subject->experiments[e] : &subject->issue;
        experiment->least = READINGS_OF_CARE;
        if (subject->many && experiment->target != 0) {
            probe_usage_readings_drop(experiment, PROBE_USAGE_LOOKED);
        }
        bool more = experiment->parts != 0 && experiment->tries < READINGS_OF_CARE;
        experiment->wanted = more ? READINGS_OF_CARE - experiment->tries : 0;
        any = any || more;
    }
    return any;
}

/* The middle of those around the narrowest half of them, in order: some are spoilt, and then by anything. */
static double middle_of(const double *readings, unsigned count) {
    size_t half = count / 2 + 1, best = hx_narrowest(readings, count, half), near = 0;
    double width = readings[best + half - 1] - readings[best], sum = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_near = readings[i] >= readings[best] - width && readings[i] <= readings[best] + 2 * width;
        sum += is_near ? readings[i] : 0;
        near += is_near;
    }
    return sum / (double)near;
}

/* µops, and times what one reading may be wrong by, that lie between two rhythms. */
static const double RHYTHMS_APART = 0.6, RHYTHMS_ERRORS = 6;

static double rhythms_apart(const struct probe_usage_experiment *experiment) {
    return fmax(RHYTHMS_APART, RHYTHMS_ERRORS * error_of(experiment, 1));
}

/* Beside loads a kernel may run in a slower rhythm for as long as it runs; none runs faster than its ports
 * let it. So of readings, in order, that fall into parts the first narrow one counts, if no more than strays
 * are below it. Returns how many it has, *begin: where. */
static unsigned fast_part(const struct probe_usage_experiment *experiment, unsigned *begin) {
    enum { STRAYS = 2 };
    const double *readings = experiment->readings;
    unsigned count = experiment->reading_count, from = 0;
    *begin = 0;
    double apart = rhythms_apart(experiment);
    for (unsigned i = 1; i <= count && from <= STRAYS && experiment->rhythms; i++) {
        bool ends = i == count || readings[i] - readings[i - 1] > apart;
        if (ends && i - from > STRAYS && readings[i - 1] - readings[from] <= apart) {
            *begin = from;
            return i - from;
        }
        from = ends ? i : from;
    }
    return count;
}

/* The least that two readings agree on, in order; NaN where none do. */
static double least_agreed(const double *readings, unsigned count) {
    for (unsigned i = 0; i + 1 < count; i++) {
        double low = fmax(readings[i], 0), high = fmax(readings[i + 1], 0);
        if (high - low <= AGREE) {
            return (low + high) / 2;
        }
    }
    return NAN;
}

double probe_usage_agreed(const struct probe_usage_experiment *experiment) {
    return least_agreed(experiment->readings, experiment->reading_count);
}

/* Or the least of all. A bound below nothing says that there is nothing: of many readings of a divider beside
 * blockers some are a uop below what it has. */
static double least_of(const double *readings, unsigned count) {
    double agreed = least_agreed(readings, count);
    return isfinite(agreed) ? agreed : fmax(readings[0], 0);
}

/* Returns how many there are then. */
static unsigned in_order_add(double *readings, unsigned count, double reading) {
    unsigned at = count;
    if (!isfinite(reading) || count == PROBE_USAGE_READINGS) {
        return count;
    }
    for (; at > 0 && readings[at - 1] > reading; at--) {
        readings[at] = readings[at - 1];
    }
    readings[at] = reading;
    return count + 1;
}

/* Glances are too long as a rule; the least of vague ones is too short. */
static bool least_counts(const struct probe_usage_experiment *experiment) {
    bool glanced = experiment->kind == PROBE_USAGE_GLANCED && error_of(experiment, 1) <= GLANCE_ERROR_MOST;
    return glanced || experiment->bounds;
}

void probe_usage_renewal_add(struct probe_usage_experiment *experiment, double uops) {
    double *renewals = experiment->renewals, before = experiment->renewed;
    experiment->renewal_count = in_order_add(renewals, experiment->renewal_count, uops);
    if (experiment->renewal_count > 0) {
        experiment->renewed = least_counts(experiment) ? least_of(renewals, experiment->renewal_count)
                                                       : middle_of(renewals, experiment->renewal_count);
    }
    for (unsigned i = 0; i < experiment->reading_count; i++) {
        experiment->readings[i] += before - experiment->renewed;
    }
}

void probe_usage_reading_add(struct probe_usage_experiment *experiment, double confined, double rate) {
    experiment->tries++;
    experiment->reading_count =
        in_order_add(experiment->readings, experiment->reading_count, confined - experiment->renewed);
    if (experiment->reading_count == 0) {
        return;
    }
    bool bounds = least_counts(experiment);
    unsigned begin = 0, fast = fast_part(experiment, &begin);
    experiment->confined = bounds ? least_of(experiment->readings, experiment->reading_count)
                                  : middle_of(experiment->readings + begin, fast);
    /* Of the mix as it is now: each try has numbers of its own. */
    double blocked = 0;
    for (unsigned p = 0; p < experiment->parts; p++) {
        blocked += experiment->blocked[p].uops;
    }
    experiment->cycles = (blocked + experiment->confined * experiment->copies) / rate;
}

bool probe_usage_disagrees(const struct probe_usage_experiment *experiment) {
    unsigned begin = 0, count = fast_part(experiment, &begin);
    const double *readings = experiment->readings + begin;
    if (experiment->reading_count < READINGS_TOLD) {
        return false;
    }
    size_t half = count / 2 + 1, best = hx_narrowest(readings, count, half);
    return readings[best + half - 1] - readings[best] > fmax(DISAGREE, 2 * error_of(experiment, 1));
}

bool probe_usage_most_show(const struct probe_usage_experiment *experiment, double uops) {
    unsigned more = 0;
    for (unsigned i = 0; i < experiment->reading_count; i++) {
        more += experiment->readings[i] > uops;
    }
    return experiment->reading_count > 0 ? 2 * more >= experiment->reading_count
                                         : experiment->confined > uops; /* NaN is not */
}

bool probe_usage_believed(const struct probe_usage_experiment *experiment) {
    return experiment->reading_count > 0 && 2 * experiment->reading_count >= experiment->tries;
}

/* Do the readings fall into rhythms of which none has enough of them? */
static bool is_split(const struct probe_usage_experiment *experiment) {
    unsigned begin = 0, count = fast_part(experiment, &begin);
    return experiment->rhythms && count > 1 &&
           experiment->readings[begin + count - 1] - experiment->readings[begin] > rhythms_apart(experiment);
}

void probe_usage_reading_judge(struct probe_usage_experiment *experiment) {
    bool between =
        experiment->by_operands
            ? !probe_usage_most_show(experiment, PROBE_USAGE_STORE_SEEN)
            : !(fabs(experiment->confined - round(experiment->confined)) <= DOUBT) || is_split(experiment);
    bool measured = experiment->kind == PROBE_USAGE_MEASURED;
    double most_error = measured ? MEASURED_ERROR_MOST : ERROR_MOST;
    bool vague = !(error_of(experiment, experiment->reading_count) <= most_error);
    bool counts = experiment->target != 0; /* issue slots are told only where they are clear */
    unsigned most = vague
                        ? (measured && !(between && counts) ? PROBE_USAGE_MEASUREMENTS : PROBE_USAGE_READINGS)
                    : between ? BETWEEN_MOST
                              : experiment->least;
    /* As many at once as there were, and one: batches of their own for single readings would take longer. */
    unsigned tries = experiment->tries, more = tries < most ? most - tries : 0;
    /* Whether another glance is wanted all that is known of the form says. */
    experiment->wanted = experiment->kind == PROBE_USAGE_GLANCED ? 0 : more > tries ? tries + 1 : more;
}
