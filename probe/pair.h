/* SPDX-License-Identifier: Apache-2.0 */
/* probe/pair.h - do two forms share ports? The interleaving experiment of Putigny 2014, 2.2.3.
 *
 * First both run interleaved in proportion to their rates: if the sets of ports have |A| and |B| ports, the
 * instances run at |A u B| a cycle. Where they seem to share some (which may be because the issue width is
 * reached first or ports are bound unevenly), some of one run beside so many of the other that its ports are
 * always busy: what they add to the time finds no room elsewhere. */
#ifndef ISAPROBE_PROBE_PAIR_H
#define ISAPROBE_PROBE_PAIR_H

#include "common/error.h"
#include "generator/kernel.h"
#include "harness/meter.h"
#include "isa/form.h"

enum probe_sharing { PROBE_SHARING_NONE, PROBE_SHARING_SOME, PROBE_SHARING_ALL, PROBE_SHARING_UNKNOWN };

enum { PROBE_PAIR_DRAWING = 64 };

/* Some of one form beside many of the other. */
struct probe_beside {
    bool measured;
    unsigned many, few;  /* instances */
    double cycles, base; /* of the unit, and of the many alone */
    double confined; /* how many of the few found room only on the ports of the many, 0 to 1; about 1: their
                        ports are all among them */
    char drawing[PROBE_PAIR_DRAWING]; /* the order: "aabaab" */
};

/* One of the two forms. */
struct probe_side {
    double cycles;      /* throughput alone */
    double slots;       /* issue slots of an instance; NaN: not measured */
    bool fused;         /* it loads or stores, and its one slot may have another uop besides */
    double width;       /* ports: 1/throughput where that is an integer within 5 %, of one uop, and without
                           renewals; else 0 */
    unsigned count;     /* instances in the interleaved unit */
    double part_cycles; /* of these alone, as they stand in the unit */
    unsigned renewals;  /* instructions before each, which renew what it reads: its instances would wait for
                           each  other */
    struct probe_beside beside; /* a few of this beside many of the other */
};

struct probe_pair {
    struct probe_side sides[2];
    double together_cycles;                                  /* cycles of the unit */
    double expected_disjoint_cycles, expected_shared_cycles; /* the longer part; what both take in turn */
    double slot_cycles;               /* what an issue slot takes, as a NOP does; NaN unknown */
    double issue_cycles;              /* of all slots of the unit: what the issue alone takes; NaN unknown */
    double union_width;               /* ports that at least one of them uses, 0 where unknown */
    double shared_width;              /* ports that both use, where the sharing is known */
    double shared_least, shared_most; /* bounds of it, where the widths are known; else 0 */
    enum probe_sharing sharing;
    double wide_more;   /* where one alone has 512 bits and the other narrower vectors: what a few of the one
                           add   to many of the other, as a multiple of what they take alone; else NaN */
    bool issue_limited; /* the unit runs at the issue width: sharing may be hidden */
    char drawing[PROBE_PAIR_DRAWING]; /* the order of the interleaved unit */
    enum hx_verdict verdict;
    double spread;
    char why[128];
};

IP_CHECK enum ip_status probe_pair_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                           const struct isa_form *form_a, const struct isa_form *form_b,
                                           struct probe_pair *result, struct ip_error *err);

/* Instances in proportion to the rates, so that both alone would take about as long: then sharing shows most.
 * `a` gets x and `b` gets y with x*a_cycles ~ y*b_cycles; several of each. */
void probe_pair_counts(double a_cycles, double b_cycles, unsigned *a_count, unsigned *b_count);

/* What the measurements say: fills what was expected, sharing, widths, bounds and why. Pure.
 * probe/pair_read.c. */
void probe_pair_read(struct probe_pair *pair);
/* Do the instances of one side alone take so long that those of the other would find room beside them in any
 * case? They wait for each other's results. */
bool probe_pair_hides(const struct probe_pair *pair, unsigned side);
/* Do 512 bits in flight close a port for narrower vectors, as on Intel's cores? Then what the two take
 * together says nothing of the ports that they share. */
bool probe_pair_closes(const struct probe_pair *pair);
/* Are the ports of both known by number, and as many together as alone? Else only their times say something.
 */
bool probe_pair_widths_known(const struct probe_pair *pair);
/* Would the second experiment tell more? What looks shared may be bound unevenly. */
bool probe_pair_open(const struct probe_pair *pair);

#endif
