/* SPDX-License-Identifier: Apache-2.0 */
/* probe/units.h - unpipelined units (dividers, square roots): which forms keep one busy for longer than their
 * ports and issue slots say, for how long, and which of them wait for the same one. docs/port_usage.md,
 * "Units".
 *
 * From time alone, and without a list of mnemonics: a form holds a unit when 40 % of the issue slots and 30 %
 * of every set of ports are free beside it and its instances wait for nothing that the form leaves; two forms
 * hold the same unit when their times add up (Putigny 2014, 2.2.3, the pair experiment). */
#ifndef ISAPROBE_PROBE_UNITS_H
#define ISAPROBE_PROBE_UNITS_H

#include "generator/shapes.h"
#include "isa/table.h"
#include "probe/usage.h"

/* Forms that may stand in one kernel only with some others, so that a unit is known by one of each kind. */
enum probe_unit_kind {
    PROBE_UNIT_GENERAL,
    PROBE_UNIT_XMM,    /* VEX and EVEX: stands beside all vectors */
    PROBE_UNIT_LEGACY, /* SSE */
    PROBE_UNIT_YMM,
    PROBE_UNIT_ZMM,
    PROBE_UNIT_OTHER, /* x87, MMX, masks, tiles */
    PROBE_UNIT_KINDS,
};

enum { PROBE_UNITS_MAX = 16, PROBE_UNIT_NAME = 64 /* bytes, as in probe_usage */ };

/* A form that is known to hold a unit. */
struct probe_unit_member {
    const struct isa_form *form; /* borrowed from the table; NULL: none of this kind is known */
    struct gen_independence how; /* its instances do not wait for each other */
    double cycles;               /* that an instance takes in a mix */
};

struct probe_unit {
    const struct isa_form *founder; /* borrowed; the unit is called after it */
    struct probe_unit_member members[PROBE_UNIT_KINDS];
};

/* What is known so far; all-zero: nothing. Owns nothing. It outlives calls, so that forms that are measured
 * later are compared with the same units. */
struct probe_units {
    struct probe_unit units[PROBE_UNITS_MAX];
    unsigned count;
    bool founded;                                 /* those of `known` and the table's candidates were tried */
    char known[PROBE_UNITS_MAX][PROBE_UNIT_NAME]; /* what units were called before: they are tried first */
    unsigned known_count;
};

/* For each of forms[0..count) (derived) that is slower than its ports: fills `unit` and `unit_cycles` of its
 * usage, or, where no unit can be told and `why` is empty, `why`. Forms that wait for none of `units` found
 * units of their own. The first form that is slow has the table's candidates tried first: of each kind the
 * slowest of those that depend on values. Forms of `table` are derived by the way. */
IP_CHECK enum ip_status probe_units_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                            const struct isa_table *table, const struct probe_portmap *map,
                                            struct probe_units *units, struct isa_form *const *forms,
                                            size_t count, struct probe_usage *usages, struct ip_error *err);

/* The forms by which unit `name` (probe_usage.unit) is known, but for `form`: "idiv r64; fsqrt". "": no other
 * one. `buffer` holds `size` bytes; returns it. */
const char *probe_unit_sharers(const struct probe_units *units, const char *name, const struct isa_form *form,
                               char *buffer, size_t size);

#endif
