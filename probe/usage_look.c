/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_look.c - one look at the forms of a session: at a glance, or closely. */
#include "probe/usage_steps.h"

#include <math.h>

enum {
    ROUNDS = PROBE_USAGE_READINGS,
    ISSUE_GLANCES = 2,
    MANY_READINGS = 2, /* at least, of the short mixes of forms of many uops */
};

static const double SLOTS_ERROR = 0.4;
static const double SLOTS_ASSUMED = 2;
static const double SLOTS_VAGUE = 4; /* at least: a form of few has clear ones */
static const double MANY_SLOTS = 6;  /* beside so many blockers stand long */
/* By so many slots more uops than can be told are so many: by glances, and by glances for good. */
static const double SLOTS_GLANCED = 1, SLOTS_CLEAR = 4;

/* -- Steps that both ways have in common -------------------------------------------------------------- */

/* Nothing is wanted any more of a form of which nothing is known. */
static void unknown_leave(struct probe_usage_session *session) {
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        if (subject->result->verdict == PROBE_USAGE_UNKNOWN) {
            subject->issue.parts = 0;
            subject->count = subject->check_count = 0;
        }
    }
}

/* Issue slots that are not known well are not known. */
static void slots_take(struct probe_usage_session *session) {
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        bool known =
            probe_usage_error(&subject->issue) <= SLOTS_ERROR && !probe_usage_disagrees(&subject->issue);
        subject->result->slots = known ? subject->issue.confined : NAN;
    }
}

static void issue_plan(struct probe_usage_session *session, enum probe_usage_kind kind) {
    for (size_t i = 0; i < session->count; i++) {
        probe_usage_issue_plan(&session->subjects[i]);
        session->subjects[i].issue.kind = kind;
    }
    unknown_leave(session);
}

static void sets_plan(struct probe_usage_session *session, enum probe_usage_kind kind) {
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        if (!subject->too_many && !subject->settled) {
            probe_usage_experiments_plan(subject, session->map);
        }
        for (unsigned e = 0; e < subject->count; e++) {
            subject->experiments[e].kind = kind;
        }
    }
    unknown_leave(session);
}

static void subject_infer(struct probe_usage_subject *subject, const struct probe_portmap *map) {
    subject->result->verdict = PROBE_USAGE_OK;
    subject->result->why[0] = '\0';
    subject->check_count = 0;
    probe_usage_infer(subject, subject->result, map);
}

/* Infers from what the experiments say. */
static void usages_infer(struct probe_usage_session *session) {
    for (size_t i = 0; i < session->count; i++) {
        if (probe_usage_is_open(&session->subjects[i])) {
            subject_infer(&session->subjects[i], session->map);
        }
    }
}

/* And chooses mixes that were not used for it. */
static void checks_choose(struct probe_usage_session *session) {
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        if (probe_usage_is_open(subject)) {
            probe_usage_checks_choose(subject, subject->result, session->map);
        }
    }
}

static void usages_verify(struct probe_usage_session *session) {
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        if (probe_usage_is_open(subject)) {
            probe_usage_verify(subject, subject->result, session->map);
        }
    }
}

/* Readings until all experiments of the stage are clear, or nothing helps. */
static enum ip_status stage_run(struct probe_usage_session *session, enum probe_usage_stage stage,
                                struct ip_error *err) {
    enum ip_status status = IP_OK;
    size_t taken = 1;
    for (unsigned round = 0; round < ROUNDS && status == IP_OK && taken > 0; round++) {
        taken = 0;
        status = probe_usage_readings_take(session, stage, PROBE_USAGE_LOOKED, &taken, err);
        status = status == IP_OK
                     ? probe_usage_readings_take(session, stage, PROBE_USAGE_MEASURED, &taken, err)
                     : status;
    }
    return status;
}

/* -- At a glance -------------------------------------------------------------------------------------- */

static enum ip_status glance(struct probe_usage_session *session, unsigned stages, struct ip_error *err) {
    size_t taken = 0;
    return probe_usage_readings_take(session, stages, PROBE_USAGE_GLANCED, &taken, err);
}

typedef void want(struct probe_usage_subject *subject, const struct probe_portmap *map);

static enum ip_status sets_glance(struct probe_usage_session *session, want *some, struct ip_error *err) {
    for (size_t i = 0; i < session->count; i++) {
        if (!session->subjects[i].settled) {
            some(&session->subjects[i], session->map);
        }
    }
    return glance(session, PROBE_USAGE_SETS, err);
}

/* Of those whose sets fit together, or would with the issue slots: does what was not used to infer it fit,
 * too? */
static enum ip_status glances_check(struct probe_usage_session *session, struct ip_error *err) {
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        if (probe_usage_is_open(subject) && (probe_usage_glance_fits(subject, session->map) ||
                                             probe_usage_glance_asks_issue(subject, session->map))) {
            subject_infer(subject, session->map);
            probe_usage_checks_choose(subject, subject->result, session->map);
            if (subject->check_count == 0) {
                probe_usage_verify(subject, subject->result, session->map);
            }
        }
    }
    enum ip_status status = glance(session, PROBE_USAGE_CHECKING, err);
    for (size_t i = 0; i < session->count && status == IP_OK; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        if (probe_usage_is_open(subject) && subject->check_count > 0) {
            probe_usage_verify(subject, subject->result, session->map);
        }
    }
    return status;
}

/* What the sets that were read leave for the widest, then the answer and its checks. Settles what fits. */
static enum ip_status glances_end(struct probe_usage_session *session, struct ip_error *err) {
    usages_infer(session);
    enum ip_status status = sets_glance(session, probe_usage_glance_widest, err);
    usages_infer(session);
    usages_verify(session);
    status = status == IP_OK ? glances_check(session, err) : status;
    if (status != IP_OK) {
        return status;
    }
    bool gathered = false;
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        if (subject->too_many) {
            probe_usage_leave(subject);
            continue;
        }
        subject->settled = subject->settled || probe_usage_glance_fits(subject, session->map);
        subject->asks_issue = !subject->settled && probe_usage_glance_asks_issue(subject, session->map);
        subject->times =
            probe_usage_same_contradiction(&subject->before, subject->result) ? subject->times + 1 : 0;
        subject->before = *subject->result;
        gathered = (!subject->settled && probe_usage_stores_gather(subject)) || gathered;
        if (subject->settled || subject->asks_issue || subject->times == PROBE_USAGE_GLANCES_SAME ||
            !probe_usage_glance_again(subject, session->map)) {
            probe_usage_leave(subject);
        }
    }
    return gathered ? probe_usage_one_place_measure(session, err) : IP_OK;
}

/* Glances at these stages, and at the issue slots of those that want it. */
static enum ip_status issue_glance(struct probe_usage_session *session, unsigned stages,
                                   struct ip_error *err) {
    bool issue = probe_usage_glance_needs_issue(session->map);
    enum ip_status status = glance(session, issue ? stages | PROBE_USAGE_ISSUE : stages, err);
    if (issue) {
        slots_take(session);
    }
    return status;
}

static enum ip_status sets_read(struct probe_usage_session *session, unsigned glances, struct ip_error *err) {
    sets_plan(session, PROBE_USAGE_GLANCED);
    enum ip_status status = sets_glance(session, probe_usage_glance_tops, err);
    status = status == IP_OK ? sets_glance(session, probe_usage_glance_inner, err) : status;
    status = status == IP_OK ? glances_end(session, err) : status;
    for (unsigned i = 1; i < glances && status == IP_OK; i++) {
        status = issue_glance(session, PROBE_USAGE_SETS, err);
        status = status == IP_OK ? glances_end(session, err) : status;
    }
    return status;
}

/* The issue slots of those that lack nothing else, or of all. */
static enum ip_status issue_look(struct probe_usage_session *session, struct ip_error *err) {
    bool any = false;
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        bool more = session->all_issue && subject->settled && subject->result->verdict == PROBE_USAGE_OK;
        if (subject->asks_issue || (more && !isfinite(subject->result->slots))) {
            subject->settled = false;
            probe_usage_readings_drop(&subject->issue, PROBE_USAGE_LOOKED);
            any = true;
        }
    }
    if (!any) {
        return IP_OK;
    }
    enum ip_status status = stage_run(session, PROBE_USAGE_ISSUE, err);
    slots_take(session);
    return status == IP_OK ? glances_end(session, err) : status;
}

enum ip_status probe_usage_glances_take(struct probe_usage_session *session, unsigned glances,
                                        struct ip_error *err) {
    enum ip_status status = probe_usage_alone_read(session, PROBE_USAGE_GLANCED, err);
    probe_usage_hopeless_settle(session);
    probe_usage_locked_settle(session);
    issue_plan(session, PROBE_USAGE_GLANCED);
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        subject->issue.wanted = ISSUE_GLANCES;
        probe_usage_issue_know(subject, session->map);
    }
    status = status == IP_OK ? issue_glance(session, 0, err) : status;
    probe_usage_slow_settle(session);
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        subject->issue.wanted = 0;
        subject->slots = fmax(SLOTS_ASSUMED, subject->issue.confined); /* fmax leaves NaN out */
        const char *why = probe_usage_too_many(subject, SLOTS_CLEAR);
        if (!subject->settled && why != NULL) {
            probe_usage_give_up(subject->result, PROBE_USAGE_INCONSISTENT, why);
            subject->settled = true;
        }
        subject->too_many = probe_usage_too_many(subject, SLOTS_GLANCED) != NULL;
    }
    status = status == IP_OK ? sets_read(session, glances, err) : status;
    return status == IP_OK ? issue_look(session, err) : status;
}

/* -- Closely ------------------------------------------------------------------------------------------ */

static enum ip_status usages_check(struct probe_usage_session *session, struct ip_error *err) {
    usages_infer(session);
    checks_choose(session);
    enum ip_status status = stage_run(session, PROBE_USAGE_CHECKING, err);
    if (status == IP_OK) {
        usages_verify(session);
        probe_usage_contradictions_settle(session);
    }
    return status;
}

/* From here on mixes are as long as so many slots ask for. */
static void slots_use(struct probe_usage_session *session) {
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        double vague = fmax(subject->issue.confined, SLOTS_VAGUE);
        subject->slots = isfinite(subject->result->slots)    ? subject->result->slots
                         : isfinite(subject->issue.confined) ? vague
                                                             : NAN;
        subject->holds_unit = probe_usage_holds_unit(subject->alone, subject->result->slots);
    }
}

/* Beside many uops blockers must stand long, whichever ports these use, and then a small part of the time is
 * half a uop. Once it is known about where they go the mixes can be much shorter: a glance at each set says
 * it. */
static enum ip_status many_glance(struct probe_usage_session *session, struct ip_error *err) {
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        subject->many = !(subject->slots < MANY_SLOTS);
        for (unsigned e = 0; e < subject->count; e++) {
            subject->experiments[e].wanted = subject->many && subject->experiments[e].parts != 0;
            subject->experiments[e].kind = PROBE_USAGE_GLANCED;
        }
    }
    enum ip_status status = glance(session, PROBE_USAGE_SETS, err);
    for (size_t i = 0; i < session->count && status == IP_OK; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        if (subject->many) {
            probe_usage_infer(subject, subject->result, session->map);
            probe_usage_found_use(subject, subject->result);
        }
        for (unsigned e = 0; e < subject->count; e++) {
            if (subject->many && subject->experiments[e].least < MANY_READINGS) {
                subject->experiments[e].least = MANY_READINGS;
            }
            probe_usage_readings_drop(&subject->experiments[e], PROBE_USAGE_LOOKED);
        }
    }
    return status;
}

/* `careful`: more readings where they do not fit together, and not only of many uops, of which each may be
 * wrong by one. */
enum ip_status probe_usage_look_closely(struct probe_usage_session *session, bool careful,
                                        struct ip_error *err) {
    enum ip_status status = probe_usage_alone_read(session, PROBE_USAGE_LOOKED, err);
    issue_plan(session, PROBE_USAGE_LOOKED);
    status = status == IP_OK ? stage_run(session, PROBE_USAGE_ISSUE, err) : status;
    probe_usage_slow_settle(session);
    slots_take(session);
    slots_use(session);
    sets_plan(session, PROBE_USAGE_LOOKED);
    probe_usage_microcode_settle(session);
    status = status == IP_OK ? many_glance(session, err) : status;
    status = status == IP_OK ? stage_run(session, PROBE_USAGE_SETS, err) : status;
    status = status == IP_OK ? usages_check(session, err) : status;
    /* What does not fit together is looked at again, from the slots on. */
    bool again = false;
    for (size_t i = 0; i < session->count && status == IP_OK; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        bool open = subject->result->verdict == PROBE_USAGE_INCONSISTENT && !subject->settled;
        if (open && subject->many) { /* anew, with sizes from better readings than the glances */
            probe_usage_found_use(subject, subject->result);
        }
        if (open && (careful || subject->many)) {
            again = probe_usage_look_again(subject) || again;
        }
    }
    if (status != IP_OK || !again) {
        return status;
    }
    status = stage_run(session, PROBE_USAGE_ISSUE, err);
    slots_take(session);
    slots_use(session);
    status = status == IP_OK ? stage_run(session, PROBE_USAGE_SETS, err) : status;
    return status == IP_OK ? usages_check(session, err) : status;
}
