/* SPDX-License-Identifier: Apache-2.0 */
/* cli/scan.h - what the parts of `isaprobe scan` share. */
#ifndef ISAPROBE_CLI_SCAN_H
#define ISAPROBE_CLI_SCAN_H

#include "cli/bench.h"
#include "cli/scan_readings.h"
#include "cli/selection.h"
#include "probe/output.h"
#include "probe/rename.h"
#include "probe/slots.h"
#include "probe/transfer.h"
#include "results/pending.h"
#include "results/store.h"

/* Forms that are measured together, at most and by default. */
enum { SCAN_GROUP_MAX = 1024, SCAN_GROUP_DEFAULT = 512 };

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
    struct probe_usage suggested;       /* by glances */
    struct scan_calm calm;
};

/* A form that is measured more than once. */
struct scan_again {
    struct isa_form *form;
    struct scan_readings readings; /* owned */
    struct probe_slots slots;      /* where they are measured; of the last time */
    struct probe_usage usage;      /* with RES_PART_PORTS; of the last time */
    struct probe_usage suggested;  /* by glances, where it does not tell */
    bool settled;                  /* `usage` tells the ports */
    bool spoilt;                   /* noise spoilt all or some of it: it is measured closely */
    bool stored;
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
    struct scan_beside *beside; /* owned; of the first pass */
    size_t beside_count;
    struct scan_late *late; /* owned: looked at closely at the end, all together */
    size_t late_count;
    struct scan_again *again; /* owned */
    size_t again_count, again_capacity;
    struct probe_portmap map; /* with RES_PART_PORTS */
    struct probe_usage_core core;
    bool no_map; /* none was confirmed, and the ports were left out */
    struct probe_units units;
    struct probe_transfers transfers; /* with RES_PART_LATENCY */
};

/* Measures forms[0..count) together, and stores them one by one. `quick`: what noise spoilt, and what another
 * process may read otherwise, is stored as not yet known, and added to scan->again, and those whose ports a
 * glance does not tell are stored without, and added to scan->late. */
IP_CHECK enum ip_status scan_group_run(struct scan *scan, struct isa_form *const *forms, size_t count,
                                       bool quick, struct ip_error *err);
/* Measures `parts` of again[which[0..count)] together once more, and keeps the readings; of the latencies,
 * but where `close`, only those that are to be read again. */
IP_CHECK enum ip_status scan_again_run(struct scan *scan, const size_t *which, size_t count, unsigned parts,
                                       bool close, struct ip_error *err);
/* Stores what the readings of a form say. */
IP_CHECK enum ip_status scan_again_store(struct scan *scan, struct scan_again *again, struct ip_error *err);
/* Adds a form of which there are no readings yet; `*added` is borrowed until the next one is added. */
IP_CHECK enum ip_status scan_again_add(struct scan *scan, struct isa_form *form, struct scan_again **added,
                                       struct ip_error *err);
/* Forms of which the readings are not all there. */
size_t scan_again_count(const struct scan *scan);
void scan_again_fini(struct scan *scan);

/* Measures scan->left: all of it quickly, then what noise spoilt and what wavers again (cli/scan_passes.c).
 */
IP_CHECK enum ip_status scan_passes_run(struct scan *scan, struct ip_error *err);
/* How far it is, on a terminal. */
void scan_progress_show(struct scan *scan);

/* The ports of the forms that were put off, from late[first] on, `count` of them. */
IP_CHECK enum ip_status scan_late_run(struct scan *scan, size_t first, size_t count, struct ip_error *err);

/* Stores which of forms[0..count) wait for the register that they only write, as facts about the core. */
IP_CHECK enum ip_status scan_outputs_store(struct res_store *store, struct isa_form *const *forms,
                                           size_t count, const struct probe_output *outputs,
                                           struct ip_error *err);
/* Stores what forms[0..count) do at rename, as facts about the core (cli/scan_rename.c). */
IP_CHECK enum ip_status scan_rename_store(struct res_store *store, struct isa_form *const *forms,
                                          size_t count, const struct probe_rename *renamed,
                                          struct ip_error *err);

#endif
