/* SPDX-License-Identifier: Apache-2.0 */
/* probe/units_steps.h - the steps of probe_units_measure, for probe/units*.c only. */
#ifndef ISAPROBE_PROBE_UNITS_STEPS_H
#define ISAPROBE_PROBE_UNITS_STEPS_H

#include "probe/portmap_steps.h"
#include "probe/units.h"

/* What the steps share. */
struct unit_finder {
    const struct hx_meter *meter;
    struct gen_encoder *encoder;
    const struct probe_portmap *map;
    struct probe_units *units;
};

/* A form that may hold a unit. */
struct unit_subject {
    struct isa_form *form;
    double limit; /* cycles of an instance at best; NaN: not known */
    double bound; /* cycles below which it is no slower than ports or slots may be; 0: not known */
    struct gen_independence how; /* in which its instances are fastest */
    double cycles;               /* of an instance in a mix of its own kind; NaN: not measured */
    bool open;                   /* nothing speaks against a unit yet */
    bool founds;                 /* a unit of its own, when it shares none: issue slots are free beside it */
    int unit;                    /* position in `units`; -1: none */
    const char *why;             /* what speaks against it; static storage */
    bool pending;                /* it is to be looked at once more: noise spoilt the last time */
};

enum probe_unit_kind unit_kind_of(const struct isa_form *form);

enum { UNIT_ATTEMPTS = 3 }; /* where noise spoils what is to be seen */

/* Looks at what was added. */
IP_CHECK enum ip_status units_batch_run(const struct unit_finder *finder, struct probe_batch *batch,
                                        struct ip_error *err);

/* probe/units_alone.c: closes those subjects that are no unit's: whose instances wait for each other, whose
 * issue slots or ports are busy, too. */
IP_CHECK enum ip_status units_alone_measure(const struct unit_finder *finder, struct unit_subject *subjects,
                                            size_t count, struct ip_error *err);
IP_CHECK enum ip_status units_room_measure(const struct unit_finder *finder, struct unit_subject *subjects,
                                           size_t count, struct ip_error *err);

/* probe/units_candidates.c: appends of each kind the slowest form that depends on values, at most one; *found
 * counts all. */
IP_CHECK enum ip_status units_candidates_find(const struct unit_finder *finder, const struct isa_table *table,
                                              struct isa_form **candidates, size_t *found,
                                              struct ip_error *err);

#endif
