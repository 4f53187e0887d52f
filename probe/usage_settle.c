/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_settle.c - forms of which no further reading would tell more: what they are told to be now
 * stands. */
#include <math.h>
#include <string.h>

#include "generator/operands.h"
#include "probe/usage_steps.h"

static const double SLOTS_LOOKED =
    0.5; /* by so many more than can be told looks say that slots are so many */
static const double SAME_RESIDUAL = 0.15; /* uops */

bool probe_usage_is_open(const struct probe_usage_subject *subject) {
    return subject->result->verdict != PROBE_USAGE_UNKNOWN && !subject->settled && !subject->too_many;
}

bool probe_usage_same_terms(const struct probe_usage *one, const struct probe_usage *other) {
    bool same = one->term_count == other->term_count;
    for (unsigned t = 0; t < one->term_count && same; t++) {
        same = one->terms[t].ports == other->terms[t].ports && one->terms[t].uops == other->terms[t].uops;
    }
    return same;
}

/* Most sets, which could not be read, or what the others tell. */
bool probe_usage_same_contradiction(const struct probe_usage *one, const struct probe_usage *other) {
    bool both = one->verdict == PROBE_USAGE_INCONSISTENT && other->verdict == PROBE_USAGE_INCONSISTENT;
    bool blind = one->unread > one->read && other->unread > other->read;
    return both && (blind || (probe_usage_same_terms(one, other) &&
                              fabs(one->residual - other->residual) <= SAME_RESIDUAL));
}

/* Nothing more is wanted of it. */
void probe_usage_leave(struct probe_usage_subject *subject) {
    subject->issue.wanted = false;
    subject->check_count = 0;
    for (unsigned e = 0; e < subject->count; e++) {
        subject->experiments[e].wanted = false;
    }
}

/* What takes longer than as many NOPs as a kernel has room for is not told: nothing bounds its uops. */
void probe_usage_slow_settle(struct probe_usage_session *session) {
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        if (probe_usage_is_open(subject) && subject->issue.parts == 0) {
            probe_usage_give_up(subject->result, PROBE_USAGE_INCONSISTENT, PROBE_USAGE_SLOW_WHY);
            subject->settled = true;
            subject->count = 0;
        }
    }
}

/* What cannot run, or not in a mix, will not at a second try. */
void probe_usage_hopeless_settle(struct probe_usage_session *session) {
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        subject->settled = subject->result->verdict == PROBE_USAGE_UNKNOWN &&
                           (subject->slot == SIZE_MAX || subject->result->meter == HX_VERDICT_FAULT);
    }
}

/* A locked access to memory keeps all others waiting, and what is bound early waits with them: of 128 forms
 * of a Zen 4 three scans told 13 alike. */
void probe_usage_locked_settle(struct probe_usage_session *session) {
    for (size_t i = 0; i < session->count && session->core.binds_early; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        if (probe_usage_is_open(subject) && gen_form_locks(subject->form)) {
            probe_usage_give_up(subject->result, PROBE_USAGE_INCONSISTENT, PROBE_USAGE_LOCKED_WHY);
            subject->settled = true;
        }
    }
}

/* Does what could go elsewhere wait now and then for a blocked port? */
bool probe_usage_core_waits(const struct probe_usage_session *session) {
    return session->core.binds_early || session->core.delays != 0;
}

/* What does not fit together in the same way as before is no noise: no third look would tell more. */
void probe_usage_contradictions_settle(struct probe_usage_session *session) {
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        if (probe_usage_same_contradiction(&subject->before, subject->result)) {
            subject->settled = true;
            probe_usage_leave(subject);
        }
    }
}

/* Of too many uops the sets are not read. */
void probe_usage_microcode_settle(struct probe_usage_session *session) {
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        const char *why = probe_usage_too_many(subject, SLOTS_LOOKED);
        if (why != NULL) {
            probe_usage_give_up(subject->result, PROBE_USAGE_INCONSISTENT, why);
            subject->settled = true;
            subject->count = 0;
        }
    }
}

/* What reads as more uops than there is time for, again and again in the same way, is no noise. Nor is any
 * other contradiction where uops wait: of 480 that stayed closer looks told 50 on a Zen 4, at 6 ms each. */
void probe_usage_excesses_settle(struct probe_usage_session *session) {
    for (size_t i = 0; i < session->count; i++) {
        struct probe_usage_subject *subject = &session->subjects[i];
        bool steady = subject->times >= PROBE_USAGE_GLANCES_SAME &&
                      subject->result->verdict == PROBE_USAGE_INCONSISTENT;
        bool hopeless = probe_usage_core_waits(session) || probe_usage_runs_faster(subject->result);
        subject->settled = subject->settled || (steady && hopeless);
    }
}
