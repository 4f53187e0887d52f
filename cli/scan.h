/* SPDX-License-Identifier: Apache-2.0 */
/* cli/scan.h - what the parts of `isaprobe scan` share. */
#ifndef ISAPROBE_CLI_SCAN_H
#define ISAPROBE_CLI_SCAN_H

#include "cli/bench.h"
#include "cli/selection.h"
#include "probe/rename.h"
#include "probe/slots.h"
#include "probe/transfer.h"
#include "results/pending.h"
#include "results/store.h"

/* Forms that are measured together, at most and by default. */
enum { SCAN_GROUP_MAX = 1024, SCAN_GROUP_DEFAULT = 256 };

/* cycles: two processes must agree on what takes longer */
static const double SCAN_LATENCY_LONG = 25;

/* What the bench thought that undisturbed sentinels take. */
struct scan_calm {
    double nop_cycles;
    double beside_cycles[HX_SENTINELS]; /* as in struct hx_bench */
};

/* A form that was stored, and what it was compared with. */
struct scan_beside {
    struct isa_form *form;
    struct scan_calm calm;
    enum res_status status;
};

/* A form whose ports a glance did not tell. */
struct scan_late {
    struct isa_form *form;
    struct probe_throughput throughput; /* where it is measured */
    struct probe_slots slots;           /* where they are */
    struct scan_calm calm;
};

/* What the first of two passes found of a form that is measured again. */
struct scan_first {
    const struct isa_form *form;
    struct probe_throughput throughput; /* all-zero: not measured */
    struct probe_latency latency;       /* owned */
};

struct scan {
    const struct cli_settings *settings;
    struct cli_forms forms;
    struct isa_form **left; /* owned: forms that the store does not have */
    size_t left_count;
    struct res_store *store;
    struct res_pending pending; /* before the meter, and before the log */
    struct res_log log;
    struct cli_bench bench;
    double calibrated_s; /* seconds after the bench was opened: the last time */
    unsigned parts;
    size_t group;                               /* forms in a group */
    size_t stored[RES_STATUS_UNMEASURABLE + 1]; /* by enum res_status */
    size_t stored_count;
    struct scan_beside *beside; /* owned; of the first of two passes */
    size_t beside_count;
    struct scan_late
        *late; /* owned; of the first of two passes: looked at closely at the end, all together */
    size_t late_count;
    struct scan_first *first; /* owned; of the first of two passes */
    size_t first_count;
    size_t first_next;        /* of the second pass, which takes them in turn */
    struct probe_portmap map; /* with RES_PART_PORTS */
    struct probe_usage_core core;
    bool no_map; /* none was confirmed, and the ports were left out */
    struct probe_units units;
    struct probe_transfers transfers; /* with RES_PART_LATENCY */
};

/* Measures forms[0..count) together, and stores them one by one. With `doubtful`, those that noise spoiled
 * are not stored but added there, *doubtful_count counts them; and those whose ports a glance does not tell
 * are stored without, and added to scan->late. */
IP_CHECK enum ip_status scan_group_run(struct scan *scan, struct isa_form *const *forms, size_t count,
                                       struct isa_form **doubtful, size_t *doubtful_count,
                                       struct ip_error *err);

/* Keeps what the first pass found of a form (either may be NULL), and takes the latency over. */
void scan_first_keep(struct scan *scan, const struct isa_form *form,
                     const struct probe_throughput *throughput, struct probe_latency *latency);
/* What it found of the second pass's next form; NULL: nothing. Borrowed. */
const struct scan_first *scan_first_find(struct scan *scan, const struct isa_form *form);
/* Replaces what the second pass found by what the first did where both are to be trusted and that is less, or
 * trusts neither where they are too far apart (cli/scan_first.c). */
void scan_first_use(const struct scan_first *first, struct probe_throughput *throughput,
                    struct probe_latency *latency);
void scan_first_fini(struct scan *scan);

/* The ports of the forms that were put off, from late[first] on, `count` of them. */
IP_CHECK enum ip_status scan_late_run(struct scan *scan, size_t first, size_t count, struct ip_error *err);

/* Stores what forms[0..count) do at rename, as facts about the core (cli/scan_rename.c). */
IP_CHECK enum ip_status scan_rename_store(struct res_store *store, struct isa_form *const *forms,
                                          size_t count, const struct probe_rename *renamed,
                                          struct ip_error *err);

#endif
