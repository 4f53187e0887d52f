/* SPDX-License-Identifier: Apache-2.0 */
/* cli/scan_group.c - one group of a scan. Forms are measured in groups, because one NASM run and one child
 * process then serve many, and stored one by one. */
#include "cli/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

/* Results of one group; those of forms without obstacle are measured. */
struct group {
    struct isa_form *const *forms;
    size_t count;
    struct isa_form *chosen[SCAN_GROUP_MAX];
    size_t chosen_count;
    struct probe_throughput throughput[SCAN_GROUP_MAX];
    struct probe_slots slots[SCAN_GROUP_MAX];
    struct probe_latency latency[SCAN_GROUP_MAX];
    struct probe_usage usage[SCAN_GROUP_MAX];
    bool settled[SCAN_GROUP_MAX]; /* `usage` tells the ports */
    struct probe_rename renamed[SCAN_GROUP_MAX];
};

/* Does the throughput say that this CPU lacks the form? */
static bool is_lacking(const struct scan *scan, const struct group *group, size_t i) {
    const struct probe_throughput *throughput = &group->throughput[i];
    bool known = (scan->parts & (RES_PART_THROUGHPUT | RES_PART_SLOTS)) != 0;
    return known && !throughput->measured && throughput->verdict == HX_VERDICT_FAULT &&
           throughput->stat.outcome == HX_OUTCOME_ILLEGAL;
}

/* The latencies of the forms that this CPU has. */
static enum ip_status group_latency(struct scan *scan, struct group *group, const struct hx_meter *meter,
                                    struct ip_error *err) {
    struct isa_form *forms[SCAN_GROUP_MAX];
    struct probe_latency latency[SCAN_GROUP_MAX];
    size_t count = 0;
    for (size_t i = 0; i < group->chosen_count; i++) {
        if (!is_lacking(scan, group, i)) {
            forms[count++] = group->chosen[i];
        }
    }
    enum ip_status status = probe_latency_measure_with(meter, &scan->bench.bench.encoder, &scan->transfers,
                                                       forms, count, latency, err);
    count = 0;
    for (size_t i = 0; i < group->chosen_count && status == IP_OK; i++) {
        if (!is_lacking(scan, group, i)) {
            group->latency[i] = latency[count++];
        }
    }
    return status;
}

/* The ports by glances alone, or in any case; and what hangs on them. */
static enum ip_status group_ports(struct scan *scan, struct group *group, const struct hx_meter *meter,
                                  bool glance, struct ip_error *err) {
    struct gen_encoder *encoder = &scan->bench.bench.encoder;
    bool slots = (scan->parts & RES_PART_SLOTS) != 0;
    const struct probe_usage_known before = {.throughputs = group->throughput,
                                             .slots = slots ? group->slots : NULL};
    const struct probe_usage_known *known =
        slots || (scan->parts & RES_PART_THROUGHPUT) != 0 ? &before : NULL;
    enum ip_status status = IP_OK;
    if (glance) {
        status = probe_usage_glance(meter, encoder, &scan->map, &scan->core, group->chosen, known,
                                    group->chosen_count, group->usage, group->settled, err);
    } else {
        memset(group->settled, true, sizeof group->settled);
        status = probe_usage_measure(meter, encoder, &scan->map, &scan->core, group->chosen, known,
                                     group->chosen_count, group->usage, err);
    }
    if (status == IP_OK) {
        status = probe_units_measure(meter, encoder, &scan->forms.table, &scan->map, &scan->units,
                                     group->chosen, group->chosen_count, group->usage, err);
    }
    return status == IP_OK ? probe_rename_measure(meter, encoder, &scan->map, group->chosen,
                                                  group->chosen_count, group->usage, group->renamed, err)
                           : status;
}

static enum ip_status group_measure(struct scan *scan, struct group *group, bool glance,
                                    struct ip_error *err) {
    struct hx_meter meter = res_log_meter(&scan->log);
    struct gen_encoder *encoder = &scan->bench.bench.encoder;
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < group->count; i++) {
        if (group->forms[i]->obstacle == ISA_OBSTACLE_NONE) {
            group->chosen[group->chosen_count++] = group->forms[i];
        }
    }
    if (group->chosen_count == 0) {
        return status;
    }
    if ((scan->parts & (RES_PART_THROUGHPUT | RES_PART_SLOTS)) != 0) {
        status = probe_throughput_measure(&meter, encoder, group->chosen, group->chosen_count,
                                          group->throughput, err);
    }
    if (status == IP_OK && (scan->parts & RES_PART_SLOTS) != 0) {
        status = probe_slots_measure(&meter, encoder, group->chosen, group->throughput, group->chosen_count,
                                     group->slots, err);
    }
    if (status == IP_OK && (scan->parts & RES_PART_LATENCY) != 0) {
        status = group_latency(scan, group, &meter, err);
    }
    if (status == IP_OK && (scan->parts & RES_PART_PORTS) != 0) {
        status = group_ports(scan, group, &meter, glance, err);
    }
    return status;
}

static bool is_doubtful(enum hx_verdict verdict) {
    return verdict == HX_VERDICT_UNSTABLE || verdict == HX_VERDICT_DISTURBED;
}

static bool throughput_doubtful(const struct probe_throughput *throughput) {
    return is_doubtful(throughput->verdict) ||
           (throughput->measured && !probe_throughput_is_plain(throughput));
}

/* What a store hands to a load takes whole cycles where nobody disturbs it; beside a neighbour that uses the
 * caches a chain through memory runs up to two cycles slower, as steadily as ever. Of what is between whole
 * numbers, or takes long, each process may say something else. */
static bool pair_doubtful(const struct probe_latency_pair *pair) {
    const double near = pair->path == PROBE_PATH_CONTENT ? 0.2 : 0.3;
    return is_doubtful(pair->verdict) ||
           (pair->measured &&
            (fabs(pair->cycles - round(pair->cycles)) > near || pair->cycles > SCAN_LATENCY_LONG));
}

/* Did noise spoil any of it, or may it have? */
static bool facts_doubtful(const struct res_facts *facts) {
    bool doubtful = (facts->throughput != NULL && throughput_doubtful(facts->throughput)) ||
                    (facts->slots != NULL && is_doubtful(facts->slots->verdict));
    for (size_t i = 0; facts->latency != NULL && i < facts->latency->count && !doubtful; i++) {
        doubtful = pair_doubtful(&facts->latency->pairs[i]);
    }
    return doubtful;
}

/* One form. `late`: without its ports, which are measured later; `quick`: it may be measured again. */
static enum ip_status form_store(struct scan *scan, const struct res_facts *facts, bool late, bool quick,
                                 struct ip_error *err) {
    enum res_status found = RES_STATUS_OK;
    const struct hx_bench *bench = &scan->bench.bench;
    struct scan_calm calm = {.nop_cycles = bench->sentinel_cycles};
    memcpy(calm.beside_cycles, bench->beside_cycles, sizeof calm.beside_cycles);
    struct res_facts most = *facts;
    if (late) {
        struct scan_late *its = &scan->late[scan->late_count++];
        *its = (struct scan_late){.form = (struct isa_form *)facts->form, .calm = calm};
        if (facts->throughput != NULL) {
            its->throughput = *facts->throughput;
        }
        if (facts->slots != NULL) {
            its->slots = *facts->slots;
        }
        most.usage = NULL;
        most.parts &= ~(unsigned)RES_PART_PORTS;
        return most.parts != 0 ? res_form_put(scan->store, &most, &scan->log, &found, err) : IP_OK;
    }
    enum ip_status status = res_form_put(scan->store, facts, &scan->log, &found, err);
    if (status == IP_OK) {
        scan->stored[found]++;
        scan->stored_count++;
        if (quick) {
            scan->beside[scan->beside_count++] =
                (struct scan_beside){(struct isa_form *)facts->form, calm, found};
        }
    }
    return status;
}

static enum ip_status group_store(struct scan *scan, struct group *group, struct isa_form **doubtful,
                                  size_t *doubtful_count, struct ip_error *err) {
    enum ip_status status = IP_OK;
    size_t next = 0;
    for (size_t i = 0; status == IP_OK && i < group->count; i++) {
        struct res_facts facts = {.form = group->forms[i], .parts = scan->parts};
        struct probe_throughput *throughput = NULL;
        struct probe_latency *latency = NULL;
        bool late = false;
        if (facts.form->obstacle == ISA_OBSTACLE_NONE) {
            throughput = (scan->parts & RES_PART_THROUGHPUT) != 0 ? &group->throughput[next] : NULL;
            latency = (scan->parts & RES_PART_LATENCY) != 0 ? &group->latency[next] : NULL;
            facts.throughput = throughput;
            facts.latency = latency;
            facts.slots = (scan->parts & RES_PART_SLOTS) != 0 ? &group->slots[next] : NULL;
            facts.usage = (scan->parts & RES_PART_PORTS) != 0 ? &group->usage[next] : NULL;
            facts.map = &scan->map;
            late = facts.usage != NULL && !group->settled[next];
            next++;
        }
        if (doubtful != NULL && facts_doubtful(&facts)) {
            doubtful[(*doubtful_count)++] = group->forms[i];
            scan_first_keep(scan, group->forms[i], throughput, latency);
            continue;
        }
        const struct scan_first *first = doubtful == NULL ? scan_first_find(scan, group->forms[i]) : NULL;
        if (first != NULL) {
            scan_first_use(first, throughput, latency);
        }
        status = form_store(scan, &facts, late, doubtful != NULL, err);
    }
    return status;
}

/* What a group leaves behind once it is stored. */
static enum ip_status group_end(struct scan *scan, struct group *group, enum ip_status status,
                                struct ip_error *err) {
    if (status == IP_OK && (scan->parts & RES_PART_PORTS) != 0) {
        status = scan_rename_store(scan->store, group->chosen, group->chosen_count, group->renamed, err);
    }
    if (status == IP_OK) {
        status = res_pending_clear(&scan->pending, false, err);
    }
    for (size_t i = 0; i < group->count; i++) {
        probe_latency_fini(&group->latency[i]);
    }
    free(group);
    res_log_clear(&scan->log);
    return status;
}

/* What undisturbed is like is looked at again, but not more often than this. */
static const double RECALIBRATE_SECONDS = 1.0;

static enum ip_status recalibrate(struct scan *scan, struct ip_error *err) {
    struct hx_bench *bench = &scan->bench.bench;
    double now = ip_clock_seconds() - bench->opened_s;
    if (now - scan->calibrated_s < RECALIBRATE_SECONDS && !bench->sentinel_suspect) {
        return IP_OK;
    }
    scan->calibrated_s = now;
    return hx_bench_recalibrate(bench, err);
}

enum ip_status scan_group_run(struct scan *scan, struct isa_form *const *forms, size_t count,
                              struct isa_form **doubtful, size_t *doubtful_count, struct ip_error *err) {
    struct group *group = calloc(1, sizeof *group);
    if (group == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", count);
    }
    group->forms = forms;
    group->count = count;
    enum ip_status status = recalibrate(scan, err);
    if (status == IP_OK) {
        status = group_measure(scan, group, doubtful != NULL, err);
    }
    if (status == IP_OK) {
        status = group_store(scan, group, doubtful, doubtful_count, err);
    }
    return group_end(scan, group, status, err);
}

enum ip_status scan_late_run(struct scan *scan, size_t first, size_t count, struct ip_error *err) {
    struct group *group = calloc(1, sizeof *group);
    if (group == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", count);
    }
    group->forms = group->chosen;
    group->count = group->chosen_count = count;
    for (size_t i = 0; i < count; i++) {
        group->chosen[i] = scan->late[first + i].form;
        group->throughput[i] = scan->late[first + i].throughput;
        group->slots[i] = scan->late[first + i].slots;
    }
    struct hx_meter meter = res_log_meter(&scan->log);
    enum ip_status status = recalibrate(scan, err);
    if (status == IP_OK) {
        status = group_ports(scan, group, &meter, false, err);
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        const struct res_facts facts = {
            .form = group->chosen[i], .parts = RES_PART_PORTS, .usage = &group->usage[i], .map = &scan->map};
        status = form_store(scan, &facts, false, false, err);
    }
    return group_end(scan, group, status, err);
}
