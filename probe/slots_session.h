/* SPDX-License-Identifier: Apache-2.0 */
/* probe/slots_session.h - what the parts of the slots probe share: how instances stand among NOPs
 * (slots_mixes.c), what their times say (slots_read.c), and how often that is asked (slots.c). Internal to
 * probe/. */
#ifndef ISAPROBE_PROBE_SLOTS_SESSION_H
#define ISAPROBE_PROBE_SLOTS_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "isa/form.h"
#include "probe/batch.h"
#include "probe/slots.h"
#include "probe/throughput.h"

enum {
    SLOTS_NOPS_LEAST = 48, /* small loops: a longer one may come from the decoders, which are slower */
    SLOTS_NOPS_MOST = 480,
    SLOTS_MIXES = 2, /* of a form, the second with a step more NOPs */
    SLOTS_BASES = 2 * SLOTS_NOPS_MOST,
    /* Of NOPs alone, and of fine mixes; their median counts: how they run depends on their place, by 2 %. */
    SLOTS_KERNELS = 3,
    SLOTS_SHIFT = 20, /* bytes between the starts of their loops: less than a line, and not a half of one */
    SLOTS_SPARSE = 2, /* instances, each among so many NOPs that the front end can run ahead again */
    SLOTS_GLANCES = 2,
    SLOTS_ATTEMPTS = 3,
    SLOTS_SEEN_MOST = SLOTS_MIXES * (SLOTS_GLANCES + SLOTS_ATTEMPTS),
};

/* How far two mixes may be from each other, in slots for each instance. */
#define SLOTS_SAME        0.5
#define SLOTS_SAME_OF_ALL 1.5 /* of all instances together */
/* Forms of more slots may be microcode, which holds up the front end: among more NOPs it does not show. */
#define SLOTS_DECODED 4.5

/* What one mix said. */
struct slots_reading {
    unsigned nops;
    double slots;
};

/* The mixes of one form: `count` instances among `nops` NOPs, and more. */
struct slots_mixes {
    bool wanted, fine;
    unsigned nops, count;
    struct slots_reading
        seen[SLOTS_SEEN_MOST]; /* of mixes that disagreed, the least first; each of its own NOPs */
    unsigned seen_count;
    unsigned refusals;
    bool disturbed;              /* some batches of the last attempt were void */
    double glanced;              /* slots by the glance before; 0: none */
    bool more_nops;              /* the next attempt is to have more: these disagreed */
    struct probe_slots doubtful; /* an attempt's that another one may better; measured: there is one */
    double most; /* slots that an instance can have: all that there are while one takes its time alone */
    size_t slots[SLOTS_MIXES]; /* in the batch, the first kernel of each; SIZE_MAX: none */
    double others;             /* instructions that are neither NOP nor form, in one mix */
};

struct slots_session {
    struct probe_batch batch;
    struct slots_mixes *mixes;
    size_t bases[2][SLOTS_BASES]; /* kernels of i NOPs and the loop's end alone, the second ones fine: the
                               first of each; SIZE_MAX: none */
    double width;
    const char *filler; /* of the meter */
    bool glance;        /* one batch of each mix, before the attempts */
    bool sparse;        /* few instances, behind the attempts */
};

/* No result, and why. */
void slots_none(struct probe_slots *result, const char *why);

/* How many NOPs hide `count` instances that take so many cycles each. */
double slots_nops_for(const struct slots_session *session, double cycles, unsigned count);

/* What an instance of a run of the form alone takes. Where only runs with broken dependences or fewer
 * registers were undisturbed, those: too few NOPs are found out by the second mix. */
double slots_cycles_alone(const struct probe_throughput *throughput);

/* NOPs of the m-th mix. */
unsigned slots_mix_nops(const struct slots_session *session, const struct slots_mixes *mixes, unsigned m);

/* How many kernels stand for one mix; of NOPs alone: form NULL. */
unsigned slots_kernels_of(const struct slots_mixes *mixes, const struct isa_form *form);

/* Adds the kernels of form number i to the batch, and NOPs alone to compare them with. The form is no longer
 * `wanted` where it cannot be measured so; the result then says why, unless an attempt before has. */
IP_CHECK enum ip_status slots_mixes_add(struct slots_session *session, size_t i, const struct isa_form *form,
                                        const struct probe_throughput *throughput, struct probe_slots *result,
                                        struct ip_error *err);

/* Reads the mixes of one form. Returns false where another attempt may do better: something else than the
 * issue decided, so that the mixes disagree, or it was noise. */
bool slots_form_read(const struct slots_session *session, const struct isa_form *form,
                     struct slots_mixes *mixes, struct probe_slots *result);

/* An attempt has not settled it. Two that say the same do; else what holds instances up only adds to their
 * slots, and the least counts. Returns true when it is settled. */
bool slots_doubt_weigh(struct slots_mixes *mixes, struct probe_slots *result);

/* What no attempt has told well enough is not to be trusted. */
void slots_doubts_tell(const struct slots_session *session, size_t count, struct probe_slots *results);

#endif
