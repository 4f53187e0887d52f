/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/usage.h"

#include <math.h>
#include <stdlib.h>

#include "probe/usage_steps.h"

enum {
    CHUNK = 512,       /* forms that are measured together: a group of a scan */
    GLANCES = 10,      /* at a form, before it is looked at closely */
    GLANCES_ALONE = 5, /* before that is left for later */
};

static const double SLOTS_WHOLE = 0.25, SLOTS_MANY = 8; /* more are known to a part only */

static void subject_begin(const struct probe_usage_session *session, struct probe_usage_subject *subject,
                          struct isa_form *form, const struct probe_throughput *throughput,
                          struct probe_usage *result) {
    probe_usage_subject_init(subject, form);
    subject->binds_early = session->core.binds_early;
    subject->delays = session->core.delays;
    subject->throughput = throughput;
    subject->result = result;
    *result = (struct probe_usage){.slots = NAN, .cycles = NAN, .expected_cycles = NAN};
}

/* Slots that are neither nearly whole nor enough for the uops were read beside a neighbour: they are not
 * told.
 */
static void slots_clear(struct probe_usage *result, const struct isa_form *form,
                        const struct probe_portmap *map) {
    double least = 0;
    for (unsigned t = 0; t < result->term_count; t++) {
        least += probe_usage_is_load(map, result->terms[t].ports) ? 0 : result->terms[t].uops;
    }
    bool whole = fabs(result->slots - round(result->slots)) <= SLOTS_WHOLE || result->slots > SLOTS_MANY;
    bool too_few = round(result->slots) + probe_usage_slotless(form) < least;
    if (!whole || too_few) {
        result->slots = NAN;
    }
}

/* Begins the subject anew, with what was found of it so far, at this place of the session. */
static void subject_renew(struct probe_usage_session *session, size_t place,
                          const struct probe_usage_subject *subject) {
    const struct probe_usage found = *subject->result;
    const bool renamed = subject->renamed, one_place = subject->one_place;
    subject_begin(session, &session->subjects[place], subject->form, subject->throughput, subject->result);
    session->subjects[place].before = found;
    session->subjects[place].renamed = renamed;
    session->subjects[place].one_place = one_place;
}

/* Looks at those subjects of the session anew whose result has this verdict and may be another, and leaves
 * the others out. */
static enum ip_status look_anew(struct probe_usage_session *session, enum probe_usage_verdict verdict,
                                struct ip_error *err) {
    size_t left = 0;
    for (size_t i = 0; i < session->count; i++) {
        const struct probe_usage_subject *subject = &session->subjects[i];
        if (subject->result->verdict == verdict && !subject->settled) {
            subject_renew(session, left++, subject);
        }
    }
    session->count = left;
    return left > 0 ? probe_usage_look_closely(session, true, err) : IP_OK;
}

/* Do two looks say the same of a form: the same ports, or both that nothing is to be told? */
static bool looks_agree(const struct probe_usage *one, const struct probe_usage *other) {
    return one->verdict == other->verdict &&
           (one->verdict != PROBE_USAGE_OK || probe_usage_same_terms(one, other));
}

/* What disturbed a whole look is often over when it ends: those that nothing made consistent begin once more.
 * Who looks again and again finds something that fits by chance, so a third look must say the same. */
static enum ip_status inconsistent_look(struct probe_usage_session *session, struct ip_error *err) {
    enum ip_status status = look_anew(session, PROBE_USAGE_INCONSISTENT, err);
    struct probe_usage *second = calloc(session->count + 1, sizeof *second);
    if (second == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for the port usage of %zu forms", session->count);
    }
    size_t count = 0;
    for (size_t i = 0; i < session->count && status == IP_OK; i++) {
        if (session->subjects[i].result->verdict == PROBE_USAGE_OK) {
            second[count++] = *session->subjects[i].result;
        }
    }
    status = status == IP_OK ? look_anew(session, PROBE_USAGE_OK, err) : status;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        struct probe_usage *third = session->subjects[i].result;
        if (third->verdict == PROBE_USAGE_OK && !probe_usage_same_terms(&second[i], third)) {
            probe_usage_give_up(third, PROBE_USAGE_INCONSISTENT, "each look at it finds other ports");
        }
    }
    free(second);
    return status;
}

/* A glance at all; a close look at those that it did not settle, or, with `settled`, only word of which, and
 * of what it suggests. */
static enum ip_status chunk_measure(struct probe_usage_session *session, bool *settled,
                                    struct probe_usage *suggested, struct ip_error *err) {
    bool only = settled != NULL && suggested != NULL;
    enum ip_status status = probe_usage_renamed_ask(session, err);
    status =
        status == IP_OK ? probe_usage_glances_take(session, only ? GLANCES_ALONE : GLANCES, err) : status;
    if (!only) {
        probe_usage_excesses_settle(session);
    }
    size_t left = 0;
    for (size_t i = 0; i < session->count; i++) {
        const struct probe_usage_subject *subject = &session->subjects[i];
        if (only) {
            settled[i] = subject->settled;
            suggested[i] = *subject->result;
            if (!subject->settled) {
                probe_usage_give_up(subject->result, PROBE_USAGE_UNKNOWN, "a glance did not tell");
            }
        } else if (!subject->settled) {
            subject_renew(session, left++, subject);
        }
    }
    session->count = left;
    status = status == IP_OK && left > 0 ? probe_usage_look_closely(session, false, err) : status;
    bool again = status == IP_OK && !only && !probe_usage_core_waits(session);
    return again ? inconsistent_look(session, err) : status;
}

static enum ip_status core_measure(struct probe_usage_session *session, struct ip_error *err) {
    enum ip_status status = probe_usage_stores_measure(session, err);
    status = status == IP_OK ? probe_usage_binding_measure(session, err) : status;
    /* Noise may have left no reading of the stores. */
    bool stores = false;
    for (unsigned c = 0; c < session->map->class_count; c++) {
        const struct probe_port_class *class = &session->map->classes[c];
        stores = stores || (class->store && class->blocker[0] >= 0);
    }
    session->core.known = status == IP_OK && (!stores || isfinite(session->core.store_cycles));
    return status;
}

/* Forms that are measured together. */
struct chunk {
    struct isa_form *const *forms;
    const struct probe_throughput *throughputs;
    const struct probe_slots *slots;     /* NULL: not known */
    const struct probe_usage *suggested; /* by glances before; NULL: there were none */
    struct probe_usage *results;
    size_t count;
};

/* Begins the form of the chunk at the next place of the session. */
static void chunk_begin(struct probe_usage_session *session, const struct chunk *chunk, size_t i,
                        struct probe_usage *result) {
    struct probe_usage_subject *subject = &session->subjects[session->count++];
    subject_begin(session, subject, chunk->forms[i], &chunk->throughputs[i], result);
    subject->known_slots = chunk->slots != NULL ? &chunk->slots[i] : NULL;
}

/* Measures those of the chunk that are `which` anew, into found[0..count). */
static enum ip_status chunk_again(struct probe_usage_session *session, const struct chunk *chunk,
                                  const size_t *which, size_t count, struct probe_usage *found,
                                  struct ip_error *err) {
    session->count = 0;
    for (size_t i = 0; i < count; i++) {
        chunk_begin(session, chunk, which[i], &found[i]);
    }
    return count > 0 ? chunk_measure(session, NULL, NULL, err) : IP_OK;
}

/* Did glances suggest of the chunk's i-th form what this look says? */
static bool is_suggested(const struct chunk *chunk, size_t i, const struct probe_usage *look) {
    return chunk->suggested != NULL && looks_agree(look, &chunk->suggested[i]);
}

/* Where what could go elsewhere waits, a measurement is right as a rule, but not always: what says something
 * else than earlier glances suggested is measured anew, and once more where that agrees with neither. Two
 * must. */
static enum ip_status chunk_confirm(struct probe_usage_session *session, const struct chunk *chunk,
                                    struct ip_error *err) {
    struct probe_usage *second = calloc(CHUNK, sizeof *second), *third = calloc(CHUNK, sizeof *third);
    size_t which[CHUNK] = {0}, count = 0, left = 0;
    enum ip_status status =
        second == NULL || third == NULL
            ? ip_fail(err, IP_NO_MEMORY, "no memory for the port usage of %d forms", CHUNK)
            : IP_OK;
    for (size_t i = 0; i < chunk->count; i++) {
        const struct probe_usage *result = &chunk->results[i];
        if (result->verdict != PROBE_USAGE_UNKNOWN && !is_suggested(chunk, i, result)) {
            which[count++] = i;
        }
    }
    status = status == IP_OK ? chunk_again(session, chunk, which, count, second, err) : status;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        struct probe_usage *result = &chunk->results[which[i]];
        if (is_suggested(chunk, which[i], &second[i])) {
            *result = second[i];
        } else if (!looks_agree(&second[i], result)) {
            second[left] = second[i];
            which[left++] = which[i];
        }
    }
    status = status == IP_OK ? chunk_again(session, chunk, which, left, third, err) : status;
    for (size_t i = 0; i < left && status == IP_OK; i++) {
        struct probe_usage *result = &chunk->results[which[i]];
        if (looks_agree(&third[i], &second[i]) || is_suggested(chunk, which[i], &third[i])) {
            *result = third[i];
        } else if (!looks_agree(&third[i], result)) {
            probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT, "each look at it finds other ports");
        }
    }
    free(second);
    free(third);
    return status;
}

static enum ip_status usages_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                     const struct probe_portmap *map, struct probe_usage_core *core,
                                     struct isa_form *const *forms, const struct probe_usage_known *known,
                                     size_t count, struct probe_usage *results, bool *settled,
                                     struct probe_usage *suggested, struct ip_error *err) {
    struct probe_usage_subject *subjects = calloc(CHUNK, sizeof *subjects);
    struct probe_throughput *own = calloc(CHUNK, sizeof *own);
    if (subjects == NULL || own == NULL) {
        free(subjects);
        free(own);
        return ip_fail(err, IP_NO_MEMORY, "no memory for the port usage of %d forms", CHUNK);
    }
    struct probe_usage_session session = {
        .meter = meter, .encoder = encoder, .map = map, .subjects = subjects, .all_issue = known == NULL};
    session.core = core != NULL ? *core : session.core;
    enum ip_status status = session.core.known ? IP_OK : core_measure(&session, err);
    for (size_t at = 0; at < count && status == IP_OK; at += CHUNK) {
        const struct chunk chunk = {
            .forms = forms + at,
            .throughputs = known != NULL ? known->throughputs + at : own,
            .slots = known != NULL && known->slots != NULL ? known->slots + at : NULL,
            .suggested = known != NULL && known->suggested != NULL ? known->suggested + at : NULL,
            .results = results + at,
            .count = count - at < CHUNK ? count - at : CHUNK};
        if (known == NULL) {
            status = probe_throughput_measure(meter, encoder, forms + at, chunk.count, own, err);
        }
        session.count = 0;
        for (size_t i = 0; i < chunk.count; i++) {
            chunk_begin(&session, &chunk, i, &results[at + i]);
        }
        status = status == IP_OK ? chunk_measure(&session, settled != NULL ? settled + at : NULL,
                                                 suggested != NULL ? suggested + at : NULL, err)
                                 : status;
        if (status == IP_OK && settled == NULL && probe_usage_core_waits(&session)) {
            status = chunk_confirm(&session, &chunk, err);
        }
        for (size_t i = 0; i < chunk.count && status == IP_OK; i++) {
            slots_clear(&results[at + i], forms[at + i], map);
            if (!map->confirmed && results[at + i].verdict != PROBE_USAGE_UNKNOWN) {
                probe_usage_give_up(&results[at + i], PROBE_USAGE_INCONSISTENT,
                                    "nothing confirms the port map: no two attempts found the same");
            }
            probe_usage_systems_ask(forms[at + i], &results[at + i], map);
        }
    }
    if (core != NULL) {
        *core = session.core;
    }
    free(subjects);
    free(own);
    return status;
}

enum ip_status probe_usage_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                   const struct probe_portmap *map, struct probe_usage_core *core,
                                   struct isa_form *const *forms, const struct probe_usage_known *known,
                                   size_t count, struct probe_usage *results, struct ip_error *err) {
    return usages_measure(meter, encoder, map, core, forms, known, count, results, NULL, NULL, err);
}

enum ip_status probe_usage_glance(const struct hx_meter *meter, struct gen_encoder *encoder,
                                  const struct probe_portmap *map, struct probe_usage_core *core,
                                  struct isa_form *const *forms, const struct probe_usage_known *known,
                                  size_t count, struct probe_usage *results, bool *settled,
                                  struct probe_usage *suggested, struct ip_error *err) {
    return usages_measure(meter, encoder, map, core, forms, known, count, results, settled, suggested, err);
}
