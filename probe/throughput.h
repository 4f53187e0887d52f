/* SPDX-License-Identifier: Apache-2.0 */
/* probe/throughput.h - reciprocal throughput of a form: the minimum over several numbers of independent
 * chains. docs/throughput.md. */
#ifndef ISAPROBE_PROBE_THROUGHPUT_H
#define ISAPROBE_PROBE_THROUGHPUT_H

#include "common/error.h"
#include "generator/kernel.h"
#include "harness/meter.h"
#include "isa/form.h"

struct probe_throughput {
    bool measured;
    double cycles, spread;
    double plain_cycles; /* as many registers in turn as were tried and nothing broken: what a run of the form
                            alone waits for; NaN: not measured */
    double slow_cycles;  /* with operand values that take long (division and square root; `cycles` is with
                            those  that are soon done); NaN: values are not known to matter, or not measured */
    unsigned registers;  /* number of independent chains that gave the minimum */
    enum hx_verdict verdict;
    struct hx_stat stat; /* of the kernel that decided, a fault included; all-zero: none was run */
    char how[96];        /* "12 registers", "flags broken" ... */
    char why[128];
};

/* Are the cycles a whole number over one to four, or the n-th part of one, n up to six, as uops on equal
 * ports take where nothing is in their way? Where they are not, a slow mode may have lasted for all batches:
 * loads with 256 bits of arithmetic took 0.50 or 0.56 cycle for milliseconds at a time. (Two fifths and three
 * are what merging shuffles and additions of 512 bits take now and then that take 0.38 and 0.57 else.) False:
 * nothing was measured. */
bool probe_throughput_is_plain(const struct probe_throughput *throughput);
/* Do the batches agree on it, within 2 %? False: nothing was measured. */
bool probe_throughput_is_steady(const struct probe_throughput *throughput);

IP_CHECK enum ip_status probe_throughput_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                                 struct isa_form *const *forms, size_t count,
                                                 struct probe_throughput *results, struct ip_error *err);

#endif
