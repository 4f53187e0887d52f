/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/decode.h"
#include "probe/pair.h"
#include "probe/units_steps.h"

/* A form counts as slow when it takes so much longer than its ports and issue slots say. */
static const double SLOWER = 1.25, SLOWER_CYCLES = 0.5;
/* So much of the shorter part adds to the longer one when two forms wait for one unit, or for two. */
static const double SHARED = 0.7, APART = 0.3;
/* More than all of it adds where they disturb each other besides; this much tells nothing. */
static const double SHARED_MOST = 4;

enum ip_status units_batch_run(const struct unit_finder *finder, struct probe_batch *batch,
                               struct ip_error *err) {
    batch->looks = PROBE_MIX_LOOKS;
    return batch->count > 0 ? probe_batch_measure(batch, finder->meter, finder->encoder, err) : IP_OK;
}

/* -- Which unit --------------------------------------------------------------------------------------- */

/* One subject beside one unit. */
struct meeting {
    size_t subject;
    unsigned unit;
    unsigned company;  /* which of the unit's members: 0 that of the subject's kind, k + 1 that of kind k */
    double own, other; /* cycles of the two parts */
    size_t slot;
    bool made;     /* there is a kernel of both */
    double shared; /* part of the shorter that adds to the longer; NaN: not known */
};

static enum ip_status meeting_add(const struct unit_finder *finder, const struct unit_subject *subject,
                                  struct meeting *meeting, struct probe_batch *batch, struct ip_error *err) {
    const struct probe_unit *unit = &finder->units->units[meeting->unit];
    enum ip_status status = IP_OK;
    meeting->slot = SIZE_MAX;
    /* Its own kind first: some take longer beside another. */
    for (unsigned tries = 0; tries <= PROBE_UNIT_KINDS && meeting->slot == SIZE_MAX && status == IP_OK;
         tries++) {
        unsigned kind = meeting->company == 0 ? unit_kind_of(subject->form) : meeting->company - 1;
        const struct probe_unit_member *member = &unit->members[kind];
        unsigned own = 0, other = 0;
        meeting->company = (meeting->company + 1) % (PROBE_UNIT_KINDS + 1); /* for the next attempt */
        if (member->form == NULL) {
            continue;
        }
        probe_pair_counts(subject->cycles, member->cycles, &own, &other);
        const struct gen_part parts[2] = {{.form = subject->form, .count = own, .how = subject->how},
                                          {.form = member->form, .count = other, .how = member->how}};
        meeting->own = own * subject->cycles;
        meeting->other = other * member->cycles;
        status = probe_mix_add(batch, parts, 2, &meeting->slot, err);
    }
    meeting->made = meeting->made || meeting->slot != SIZE_MAX;
    return status;
}

static bool is_shared(double shared) {
    return shared >= SHARED && shared <= SHARED_MOST;
}

static bool is_clear(double shared) {
    return is_shared(shared) || shared <= APART;
}

/* Those that are not clear yet are looked at once more, beside another form of the unit. */
static enum ip_status meetings_measure(const struct unit_finder *finder, const struct unit_subject *subjects,
                                       struct meeting *meetings, size_t count, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (unsigned attempt = 0; attempt < UNIT_ATTEMPTS && status == IP_OK; attempt++) {
        struct probe_batch batch = {0};
        for (size_t m = 0; m < count && status == IP_OK; m++) {
            meetings[m].slot = SIZE_MAX;
            if (!is_clear(meetings[m].shared)) {
                status = meeting_add(finder, &subjects[meetings[m].subject], &meetings[m], &batch, err);
            }
        }
        status = status == IP_OK ? units_batch_run(finder, &batch, err) : status;
        for (size_t m = 0; m < count && status == IP_OK; m++) {
            double cycles = probe_mix_cycles(&batch, meetings[m].slot);
            double longer = fmax(meetings[m].own, meetings[m].other);
            double shorter = fmin(meetings[m].own, meetings[m].other);
            if (isfinite(cycles)) {
                meetings[m].shared = (cycles - longer) / shorter;
            }
        }
        probe_batch_fini(&batch);
    }
    return status;
}

static void member_add(struct probe_unit *unit, const struct unit_subject *subject) {
    struct probe_unit_member *member = &unit->members[unit_kind_of(subject->form)];
    if (member->form == NULL) {
        *member =
            (struct probe_unit_member){.form = subject->form, .how = subject->how, .cycles = subject->cycles};
    }
}

/* The unit with which its time adds up most plainly, if there is one. */
static void meetings_read(const struct unit_finder *finder, struct unit_subject *subject,
                          const struct meeting *meetings, size_t count) {
    double best = INFINITY;
    bool in_part = false, unknown = false;
    for (size_t m = 0; m < count; m++) {
        double distance = fabs(meetings[m].shared - 1);
        in_part = in_part || (isfinite(meetings[m].shared) && !is_clear(meetings[m].shared));
        unknown = unknown || (meetings[m].made && isnan(meetings[m].shared));
        if (is_shared(meetings[m].shared) && distance < best) {
            best = distance;
            subject->unit = (int)meetings[m].unit;
        }
    }
    if (subject->unit >= 0 && count > 0) {
        member_add(&finder->units->units[subject->unit], subject);
    } else if (in_part) {
        subject->open = false;
        subject->why = "it waits for a known unit in part: which it holds cannot be told";
    } else if (unknown) {
        subject->open = false;
        subject->why = "noise: whose unit it holds cannot be told";
    }
}

/* Compares all open subjects with units [first, count). */
static enum ip_status units_compare(const struct unit_finder *finder, struct unit_subject *subjects,
                                    size_t count, unsigned first, struct ip_error *err) {
    size_t units = finder->units->count - first, met = 0;
    struct meeting *meetings = calloc(count * units + 1, sizeof *meetings);
    if (meetings == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for the units of %zu forms", count);
    }
    for (size_t i = 0; i < count; i++) {
        for (unsigned u = 0; u < units && subjects[i].open && subjects[i].unit < 0; u++) {
            meetings[met++] = (struct meeting){.subject = i, .unit = first + u, .shared = NAN};
        }
    }
    enum ip_status status = meetings_measure(finder, subjects, meetings, met, err);
    for (size_t i = 0, m = 0; i < count && status == IP_OK; i++) {
        size_t first_meeting = m;
        for (; m < met && meetings[m].subject == i; m++) {
        }
        meetings_read(finder, &subjects[i], meetings + first_meeting, m - first_meeting);
    }
    free(meetings);
    return status;
}

/* The first open subject without a unit founds one. False when there is none, or no room for it. */
static bool unit_found(const struct unit_finder *finder, struct unit_subject *subjects, size_t count) {
    struct probe_units *units = finder->units;
    for (size_t i = 0; i < count; i++) {
        if (!subjects[i].open || !subjects[i].founds || subjects[i].unit >= 0) {
            continue;
        }
        if (units->count == PROBE_UNITS_MAX) {
            subjects[i].open = false;
            subjects[i].why = "more units than can be told apart";
            continue;
        }
        struct probe_unit *unit = &units->units[units->count];
        *unit = (struct probe_unit){.founder = subjects[i].form};
        member_add(unit, &subjects[i]);
        subjects[i].unit = (int)units->count++;
        return true;
    }
    return false;
}

static enum ip_status subjects_place(const struct unit_finder *finder, struct unit_subject *subjects,
                                     size_t count, struct ip_error *err) {
    enum ip_status status = units_alone_measure(finder, subjects, count, err);
    status = status == IP_OK ? units_room_measure(finder, subjects, count, err) : status;
    status = status == IP_OK ? units_compare(finder, subjects, count, 0, err) : status;
    while (status == IP_OK && unit_found(finder, subjects, count)) {
        status = units_compare(finder, subjects, count, finder->units->count - 1, err);
    }
    return status;
}

/* -- All together ------------------------------------------------------------------------------------- */

static enum ip_status units_begin(const struct unit_finder *finder, const struct isa_table *table,
                                  struct ip_error *err) {
    struct isa_form *candidates[PROBE_UNITS_MAX + PROBE_UNIT_KINDS];
    struct unit_subject subjects[PROBE_UNITS_MAX + PROBE_UNIT_KINDS];
    size_t count = 0;
    for (unsigned k = 0; k < finder->units->known_count; k++) {
        struct isa_form *form = isa_table_find(table, finder->units->known[k]);
        candidates[count] = form;
        count += form != NULL;
    }
    enum ip_status status = isa_forms_derive(candidates, count, err);
    if (status == IP_OK) {
        status = units_candidates_find(finder, table, candidates, &count, err);
    }
    for (size_t i = 0; i < count; i++) {
        subjects[i] = (struct unit_subject){.form = candidates[i], .limit = NAN, .cycles = NAN, .unit = -1};
    }
    status = status == IP_OK ? subjects_place(finder, subjects, count, err) : status;
    finder->units->founded = status == IP_OK && (finder->units->count > 0 || count == 0); /* else: noise */
    return status;
}

/* More cycles than that are slower than its ports, or, where these are not known, than its issue slots. */
static double bound_of(const struct probe_usage *usage, double issue_width) {
    double bound = usage->verdict == PROBE_USAGE_OK ? usage->expected_cycles
                   : isfinite(usage->slots)         ? usage->slots / issue_width
                                                    : 0;
    return bound * SLOWER + SLOWER_CYCLES;
}

/* Where noise spoilt the throughput, what it takes in a mix will tell. */
static bool may_be_slow(const struct probe_usage *usage, double issue_width) {
    bool slower = usage->verdict != PROBE_USAGE_OK || usage->slower || isnan(usage->cycles);
    return usage->verdict != PROBE_USAGE_UNKNOWN && slower && !(usage->cycles < bound_of(usage, issue_width));
}

static void usage_tell(const struct unit_finder *finder, const struct unit_subject *subject,
                       struct probe_usage *usage) {
    if (subject->unit >= 0) {
        const struct isa_form *founder = finder->units->units[subject->unit].founder;
        (void)snprintf(usage->unit, sizeof usage->unit, "%.*s", PROBE_UNIT_NAME - 1, founder->syntax);
        usage->unit_cycles = isfinite(usage->cycles) ? usage->cycles : subject->cycles;
    } else if (usage->slower && usage->why[0] == '\0' && subject->why != NULL) {
        (void)snprintf(usage->why, sizeof usage->why, "%s", subject->why);
    }
}

enum ip_status probe_units_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                   const struct isa_table *table, const struct probe_portmap *map,
                                   struct probe_units *units, struct isa_form *const *forms, size_t count,
                                   struct probe_usage *usages, struct ip_error *err) {
    const struct unit_finder finder = {.meter = meter, .encoder = encoder, .map = map, .units = units};
    struct unit_subject *subjects = calloc(count + 1, sizeof *subjects);
    size_t *owners = calloc(count + 1, sizeof *owners), slow = 0;
    if (subjects == NULL || owners == NULL) {
        free(subjects);
        free(owners);
        return ip_fail(err, IP_NO_MEMORY, "no memory for the units of %zu forms", count);
    }
    for (size_t i = 0; i < count; i++) {
        usages[i].unit[0] = '\0';
        usages[i].unit_cycles = NAN;
        if (may_be_slow(&usages[i], map->issue_width)) {
            owners[slow] = i;
            subjects[slow++] = (struct unit_subject){.form = forms[i],
                                                     .limit = usages[i].cycles,
                                                     .bound = bound_of(&usages[i], map->issue_width),
                                                     .cycles = NAN,
                                                     .unit = -1};
        }
    }
    enum ip_status status = IP_OK;
    if (slow > 0 && !units->founded) {
        status = units_begin(&finder, table, err);
    }
    if (status == IP_OK && slow > 0) {
        status = subjects_place(&finder, subjects, slow, err);
    }
    for (size_t s = 0; s < slow && status == IP_OK; s++) {
        usage_tell(&finder, &subjects[s], &usages[owners[s]]);
    }
    free(subjects);
    free(owners);
    return status;
}

const char *probe_unit_sharers(const struct probe_units *units, const char *name, const struct isa_form *form,
                               char *buffer, size_t size) {
    size_t used = 0;
    buffer[0] = '\0';
    for (unsigned u = 0; u < units->count; u++) {
        const struct probe_unit *unit = &units->units[u];
        for (unsigned k = 0; k < PROBE_UNIT_KINDS && strcmp(unit->founder->syntax, name) == 0; k++) {
            const struct isa_form *member = unit->members[k].form;
            if (member != NULL && strcmp(member->syntax, form->syntax) != 0 && used < size) {
                used += (size_t)snprintf(buffer + used, size - used, "%s%s", used > 0 ? "; " : "",
                                         member->syntax);
            }
        }
    }
    return buffer;
}
