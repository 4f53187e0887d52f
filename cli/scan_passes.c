/* SPDX-License-Identifier: Apache-2.0 */
/* cli/scan_passes.c - how often a scan measures what: all quickly, what noise spoilt closely, what another
 * process may read otherwise some times more, and at the end the ports that glances did not tell. */
#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/scan.h"
#include "harness/roam.h"

static enum ip_status groups_run(struct scan *scan, bool quick, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t at = 0; status == IP_OK && at < scan->left_count && cli_signal() == 0; at += scan->group) {
        size_t left = scan->left_count - at;
        status = scan_group_run(scan, scan->left + at, left < scan->group ? left : scan->group, quick, err);
        scan_progress_show(scan);
    }
    return status;
}

/* Was the form compared with sentinels that, as was found later, somebody disturbed? What is thought to be
 * undisturbed may be wrong for a while. Chains alone have a round through memory beside them. */
static bool is_misjudged(const struct scan *scan, const struct isa_form *form, const struct scan_calm *calm) {
    const double near = 0.05;
    const struct hx_bench *bench = &scan->bench.bench;
    bool misjudged = calm->nop_cycles > bench->sentinel_cycles * (1.0 + near);
    for (size_t i = 0; i < HX_SENTINELS && isa_form_memory_operand(form) >= 0; i++) {
        double now = bench->beside_cycles[i];
        bool concerns = i != HX_SENTINEL_FORWARDS || (scan->parts & RES_PART_LATENCY) != 0;
        misjudged =
            misjudged || (concerns && isfinite(now) && !(calm->beside_cycles[i] <= now * (1.0 + near)));
    }
    return misjudged && form->obstacle == ISA_OBSTACLE_NONE;
}

static enum ip_status spoilt_add(struct scan *scan, struct isa_form *form, struct ip_error *err) {
    struct scan_again *again;
    enum ip_status status = scan_again_add(scan, form, &again, err);
    if (status == IP_OK) {
        again->spoilt = true;
    }
    return status;
}

/* Adds to what is measured again what was stored, or put off, and is misjudged. */
static enum ip_status misjudged_add(struct scan *scan, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < scan->beside_count && status == IP_OK; i++) {
        const struct scan_beside *beside = &scan->beside[i];
        if (is_misjudged(scan, beside->form, &beside->calm)) {
            status = spoilt_add(scan, beside->form, err);
            scan->stored[beside->status]--;
            scan->stored_count--;
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < scan->late_count && status == IP_OK; i++) {
        const struct scan_late *late = &scan->late[i];
        if (is_misjudged(scan, late->form, &late->calm)) {
            status = spoilt_add(scan, late->form, err);
        } else {
            scan->late[kept++] = *late;
        }
    }
    scan->late_count = status == IP_OK ? kept : scan->late_count;
    return status;
}

/* Is this one of the forms of which `parts` are to be read now? */
static bool is_due(const struct scan_again *again, bool spoilt, unsigned parts) {
    return spoilt ? again->spoilt : !again->stored && (scan_readings_wanted(&again->readings) & parts) != 0;
}

/* Reads `parts` of the forms of which they are due. */
static enum ip_status due_run(struct scan *scan, bool spoilt, unsigned parts, struct ip_error *err) {
    enum ip_status status = IP_OK;
    size_t which[SCAN_GROUP_MAX], count = 0;
    for (size_t i = 0; i < scan->again_count && status == IP_OK && cli_signal() == 0; i++) {
        if (is_due(&scan->again[i], spoilt, parts)) {
            which[count++] = i;
        }
        if (count == scan->group || (count > 0 && i + 1 == scan->again_count)) {
            status = scan_again_run(scan, which, count, parts, spoilt, err);
            scan_progress_show(scan);
            count = 0;
        }
    }
    return status;
}

/* Stores the forms of which enough is known; all of them where `rest`. */
static enum ip_status known_store(struct scan *scan, bool rest, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < scan->again_count && status == IP_OK && cli_signal() == 0; i++) {
        struct scan_again *again = &scan->again[i];
        if (!again->stored && (rest || scan_readings_wanted(&again->readings) == 0)) {
            status = scan_again_store(scan, again, err);
        }
    }
    return status;
}

/* What wavers: each time in other processes and, where the scan may, on the other CPU. */
static enum ip_status wavering_run(struct scan *scan, struct ip_error *err) {
    static const unsigned each[] = {RES_PART_LATENCY, RES_PART_THROUGHPUT};
    enum ip_status status = known_store(scan, false, err);
    for (unsigned reading = 1; reading < SCAN_READINGS_MOST && status == IP_OK; reading++) {
        hx_bench_roam(&scan->bench.bench);
        for (size_t i = 0; i < sizeof each / sizeof each[0] && status == IP_OK; i++) {
            status = due_run(scan, false, each[i], err);
        }
        if (status == IP_OK) {
            status = known_store(scan, reading + 1 == SCAN_READINGS_MOST, err);
        }
    }
    return status;
}

/* The ports that glances did not tell: when all else is done, noise may have gone, and all together take the
 * least time. */
static enum ip_status late_run(struct scan *scan, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t at = 0; status == IP_OK && at < scan->late_count && cli_signal() == 0; at += SCAN_GROUP_MAX) {
        size_t left = scan->late_count - at;
        status = scan_late_run(scan, at, left < SCAN_GROUP_MAX ? left : SCAN_GROUP_MAX, err);
        scan_progress_show(scan);
    }
    return status;
}

enum ip_status scan_passes_run(struct scan *scan, struct ip_error *err) {
    if (scan->settings->careful) {
        return groups_run(scan, false, err);
    }
    scan->beside = calloc(scan->left_count + 1, sizeof *scan->beside);
    scan->late = calloc(scan->left_count + 1, sizeof *scan->late);
    if (scan->beside == NULL || scan->late == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", scan->left_count);
    }
    struct hx_plan *plan = &scan->bench.bench.plan;
    const struct hx_plan full = *plan;
    hx_plan_quicken(plan, true);
    enum ip_status status = groups_run(scan, true, err);
    if (status == IP_OK) {
        status = misjudged_add(scan, err);
    }
    if (status == IP_OK) {
        *plan = full;
        hx_plan_quicken(plan, false);
        hx_bench_roam(&scan->bench.bench);
        status = due_run(scan, true, scan->parts, err);
    }
    *plan = full;
    hx_plan_quicken(plan, true);
    if (status == IP_OK) {
        status = wavering_run(scan, err);
    }
    res_log_clear(&scan->log);
    return status == IP_OK ? late_run(scan, err) : status;
}
