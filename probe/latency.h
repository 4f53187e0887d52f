/* SPDX-License-Identifier: Apache-2.0 */
/* probe/latency.h - latency of every operand pair of a form. docs/latency.md. */
#ifndef ISAPROBE_PROBE_LATENCY_H
#define ISAPROBE_PROBE_LATENCY_H

#include "common/error.h"
#include "generator/kernel.h"
#include "harness/meter.h"
#include "isa/form.h"
#include "isa/table.h"

enum probe_path {
    PROBE_PATH_REGISTER, /* the source is a register or the flags */
    PROBE_PATH_ADDRESS,  /* the source is the address of the memory operand */
    PROBE_PATH_INDEX,    /* the source is the index register of the memory operand (VSIB) */
    PROBE_PATH_CONTENT,  /* the source is what memory holds: through a store (store-to-load forwarding) */
};

/* "register", "address", "index", "content": what output and store call it. Static storage. */
const char *probe_path_name(enum probe_path path);

/* Two latencies that differ by less are the same. */
#define PROBE_LATENCY_SAME_CYCLES 0.3

struct probe_latency_pair;
/* What the pair's number is: "exact" or "upper"; "none": there is none since nothing waits; NULL: not
 * measured. Static. */
const char *probe_latency_bound(const struct probe_latency_pair *pair);

struct probe_latency_pair {
    int src, dst; /* operand numbers of the form */
    enum probe_path path;
    bool measured;    /* false: see `why` */
    bool independent; /* not measured since the destination does not wait for the source */
    bool upper_bound; /* `cycles` is an upper bound (only a sum was measurable) */
    double cycles;
    double spread;
    enum hx_verdict verdict;
    struct hx_stat stat; /* of the chain that decided, transfers included; all-zero: none was run */
    char via[64];        /* the transfer that closed the chain, "" if none */
    /* The pair chained straight to itself although its operands differ ("vaddpd xmm1, xmm0, xmm2" after
     * itself): what a run of this one form costs a link. It can be less than `cycles` where the CPU forwards
     * faster between two of a kind. NaN: not measured. */
    double chained_cycles;
    /* With operand values that take long (division and square root; `cycles` is with those that are soon
     * done), or, of a form that merges, into what was written long before (`cycles`: by the instruction
     * before). NaN: neither is known to matter, or it was not measured. */
    double slow_cycles;
    /* The same as `cycles` with one register for all sources of the destination's class: below `cycles` where
     * the CPU knows the result without the operands (idioms). NaN: not measured. */
    double same_register_cycles;
    char why[128]; /* for a pair that was not measured: the reason */
};

/* The whole number of cycles that stands for a latency: the nearest, and of a half the next. What goes two
 * ways in turn takes a half (`imul r64` to the flags of a Zen 4: 3.5), and its readings lie on both sides of
 * it (3.49, 3.51): up to 0.05 below it is one. NaN stays NaN. */
double probe_latency_whole(double cycles);

struct probe_latency {
    struct probe_latency_pair *pairs; /* owned */
    size_t count;
};
void probe_latency_fini(struct probe_latency *latency);

struct probe_transfers; /* probe/transfer.h */

/* Measures forms[0..count) (derived) in few batches: one NASM run, one child per batch. results[i] belongs to
 * forms[i]. Transfers are looked up in `table` and only those that the CPU runs are used. A form that has no
 * pairs gets count 0. */
IP_CHECK enum ip_status probe_latency_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                              const struct isa_table *table, struct isa_form *const *forms,
                                              size_t count, struct probe_latency *results,
                                              struct ip_error *err);

/* So many pairs of a form may be asked for or left out. */
enum { PROBE_LATENCY_ASKED_MOST = 64 };

/* The same with transfers that are calibrated already, for many calls; where they are not, this call
 * calibrates those that it needs, and the others become unusable. `asked` NULL: all pairs; else only those of
 * forms[i] whose bit is set in asked[i] (those behind the first PROBE_LATENCY_ASKED_MOST in any case): the
 * others are listed, and not measured. */
IP_CHECK enum ip_status probe_latency_measure_with(const struct hx_meter *meter, struct gen_encoder *encoder,
                                                   struct probe_transfers *transfers,
                                                   struct isa_form *const *forms, const uint64_t *asked,
                                                   size_t count, struct probe_latency *results,
                                                   struct ip_error *err);

#endif
