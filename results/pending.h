/* SPDX-License-Identifier: Apache-2.0 */
/* results/pending.h - keeps what was measured of forms that are not stored yet.
 *
 * Forms are measured in groups, so that a scan which is killed has measured much of which no form is whole.
 * This meter stands before the one that measures: what each call of it gave goes into the store's table
 * `pending`, and is given back, once, when a later scan asks for the same kernel, under the same plan, from
 * the same version of isaprobe. So only the call in hand is lost. */
#ifndef ISAPROBE_RESULTS_PENDING_H
#define ISAPROBE_RESULTS_PENDING_H

#include "harness/meter.h"
#include "results/store.h"

struct res_pending_item; /* results/pending.c */

struct res_pending {
    struct hx_meter inner;          /* set by the caller, as are the next two; all borrowed */
    const struct hx_plan *plan;     /* looked at in each call */
    struct res_store *store;        /* a run has begun */
    struct res_pending_item *items; /* owned: of scans that were killed; sorted by key and age */
    size_t count, left;             /* left: not given back yet */
};

/* Reads what killed scans left. With `fresh` that is dropped instead. */
IP_CHECK enum ip_status res_pending_open(struct res_pending *pending, bool fresh, struct ip_error *err);
void res_pending_fini(struct res_pending *pending); /* all-zero is fine */
struct hx_meter res_pending_meter(struct res_pending *pending);
/* Drops what this run has added: its forms are stored. With `all`, or where nothing else is left, everything.
 */
IP_CHECK enum ip_status res_pending_clear(struct res_pending *pending, bool all, struct ip_error *err);

#endif
