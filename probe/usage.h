/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage.h - which ports the µops of any form use: "1*p01+2*p5". docs/port_usage.md, "How a usage is
 * found".
 *
 * For each set of the port map, blockers saturate it, and some copies of the form run beside them: what they
 * add to the time are the form's µops that can go nowhere else. From the small sets to the large, what
 * subsets explain is subtracted. The answer must give back every measurement, and some that it was not made
 * from. */
#ifndef ISAPROBE_PROBE_USAGE_H
#define ISAPROBE_PROBE_USAGE_H

#include "probe/portmap.h"
#include "probe/slots.h"
#include "probe/throughput.h"

enum {
    PROBE_USAGE_TERMS = PROBE_PORTSET_CLASSES,
    PROBE_USAGE_TEXT = 160,
    PROBE_USAGE_ALTERNATIVES_TEXT = 512,
};

/* Between the usages that a form may have, in text. */
#define PROBE_USAGE_OR " or "

/* µops that may go to any of `ports`. */
struct probe_usage_term {
    uint32_t ports;
    double uops;
    bool store; /* of data; its address goes with it */
};

enum probe_usage_verdict {
    PROBE_USAGE_OK,
    PROBE_USAGE_INCONSISTENT, /* the terms do not explain what was measured, or nothing confirms the map that
                                 they stand on: see `why` */
    PROBE_USAGE_UNKNOWN,      /* not measured: see `why` */
};

struct probe_usage {
    enum probe_usage_verdict verdict;
    struct probe_usage_term terms[PROBE_USAGE_TERMS]; /* narrow sets first; whole numbers of µops */
    unsigned term_count;
    double slots;           /* issue slots; NaN: not measured, or not clear */
    double cycles;          /* reciprocal throughput; NaN: not measured */
    double expected_cycles; /* what ports and issue slots alone would allow */
    double residual;        /* largest distance of a measurement from what the terms predict, in µops */
    unsigned read, unread;  /* sets of ports that blockers kept busy beside it, and that they could not */
    bool reconciled;        /* set by set the counts contradict each other: these terms fit all readings */
    bool slower;            /* than its ports: an unpipelined unit, or a dependence */
    uint32_t hidden_ports;  /* 0, or the ports of one of the terms, of which time says only how many uops it
                               has at most: where a core has as many ports as issue slots, a uop that may go to
                               any of them, or of so many of them if they are more, costs what its issue slot
                               costs */
    double hidden_most; /* uops of that term at most; it has the likeliest number, or is left out at 0. With
                           hidden_ports 0: uops at most that may go to a set which is not in the map, for
                           the issue width hides it altogether, and have no term */
    bool ambiguous;     /* other systems of sets explain the port map as well, and in those it has other terms
                           (probe_usage_in_system): the verdict is PROBE_USAGE_OK, for these explain what was
                           measured, and so do those */
    enum hx_verdict meter; /* HX_VERDICT_OK, or why the kernels of an unknown one were void */
    struct hx_stat stat;   /* of the form alone, a fault included; all-zero: no kernel was run */
    char unit[64];         /* the unit that it waits for, by the form that founded it (probe/units.h); "" */
    double unit_cycles;    /* that an instance keeps the unit busy; NaN */
    char how[64];          /* "7 sets, 1 mix to check": those that were read */
    char why[128];
};

/* What the readings of all forms hang on, and the core alone tells. */
struct probe_usage_core {
    bool known;       /* false: measured at the next call. All-zero to begin with */
    bool binds_early; /* uops get their ports before it is known which are free: one that could go elsewhere
                         may wait for a blocked port, so that each reading is an upper bound */
    uint64_t delays;  /* bit c: beside blockers of class c one that could go elsewhere waits now and then */
    double store_cycles;     /* of a store that shares its line with none before or behind it; NaN */
    double one_place_cycles; /* of a store among others to the same place, measured when it is asked for; 0 or
                                NaN: not yet */
};

/* What was measured of the forms before; throughputs[i] and slots[i] belong to forms[i]. */
struct probe_usage_known {
    const struct probe_throughput *throughputs; /* borrowed */
    const struct probe_slots
        *slots; /* borrowed; NULL: not known. Those that are not to be trusted are ignored */
    const struct probe_usage
        *suggested; /* borrowed; by glances (probe_usage_glance); NULL: there were none */
};

/* Measures all forms (derived). `core`: kept from call to call, for the same map; NULL: for this one alone.
 * `known` NULL: throughputs are measured here, and all issue slots, too, which are else left out where the
 * ports are plain without. */
IP_CHECK enum ip_status probe_usage_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                            const struct probe_portmap *map, struct probe_usage_core *core,
                                            struct isa_form *const *forms,
                                            const struct probe_usage_known *known, size_t count,
                                            struct probe_usage *results, struct ip_error *err);

/* The same of those forms that a few glances settle, most of them in a part of the time: settled[i] says
 * whether forms[i] is one. The others' verdict is PROBE_USAGE_UNKNOWN: measure them when there is time, or
 * less noise. suggested[i] is what glances say of it all the same: a measurement that says so, too, need not
 * be confirmed where uops wait for blocked ports. */
IP_CHECK enum ip_status probe_usage_glance(const struct hx_meter *meter, struct gen_encoder *encoder,
                                           const struct probe_portmap *map, struct probe_usage_core *core,
                                           struct isa_form *const *forms,
                                           const struct probe_usage_known *known, size_t count,
                                           struct probe_usage *results, bool *settled,
                                           struct probe_usage *suggested, struct ip_error *err);

/* "1*p5+2*p01", "none" without a term. `buffer` holds PROBE_USAGE_TEXT bytes; returns it. */
const char *probe_usage_print(const struct probe_portmap *map, const struct probe_usage *usage, char *buffer);

/* The terms of a usage with verdict PROBE_USAGE_OK in another of the systems of sets that explain the port
 * map (0: the first, whose terms the usage has), one for each of the usage's. False: what was measured cannot
 * be told in the sets of that system. */
bool probe_usage_in_system(const struct probe_portmap *map, const struct isa_form *form,
                           const struct probe_usage *usage, unsigned system,
                           struct probe_usage_term terms[PROBE_USAGE_TERMS]);

/* All that the usage may be, the first system's before all others: "1*p01 or 1*p12 or 1*p2?", and "others" at
 * the end where there are systems that are not kept or cannot tell it. That of probe_usage_print where it is
 * not ambiguous. `buffer` holds PROBE_USAGE_ALTERNATIVES_TEXT bytes; returns it. */
const char *probe_usage_print_all(const struct probe_portmap *map, const struct isa_form *form,
                                  const struct probe_usage *usage, char *buffer);

/* µops of all terms; a store's has an address beside the data where the map names the ports of it. */
double probe_usage_uops(const struct probe_portmap *map, const struct probe_usage *usage);

/* The closed form: cycles in which the ports can take all µops, max over sets Q of (µops confined to Q)/|Q|.
 * *binding gets a set that binds, 0 where there are no µops; NULL: it is not wanted. */
double probe_ports_bound(const struct probe_usage_term *terms, unsigned count, uint32_t *binding);

#endif
