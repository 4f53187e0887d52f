/* SPDX-License-Identifier: Apache-2.0 */
/* cli/scan_group.c - one group of a scan. Forms are measured in groups, because one NASM run and one child
 * process then serve many, and stored one by one. */
#include "cli/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "probe/outside.h"

/* Results of one group; those of forms without obstacle are measured. */
struct group {
    struct isa_form *const *forms;
    size_t count;
    unsigned parts; /* what is measured: enum res_part */
    struct isa_form *chosen[SCAN_GROUP_MAX];
    size_t chosen_count;
    uint64_t asked[SCAN_GROUP_MAX]; /* pairs of operands whose latency is measured, as
                                       probe_latency_measure_with has them */
    struct probe_throughput throughput[SCAN_GROUP_MAX];
    struct probe_slots slots[SCAN_GROUP_MAX];
    struct probe_latency latency[SCAN_GROUP_MAX];
    struct probe_usage usage[SCAN_GROUP_MAX];
    bool settled[SCAN_GROUP_MAX];                 /* `usage` tells the ports */
    struct probe_usage suggested[SCAN_GROUP_MAX]; /* by glances */
    bool glanced;                                 /* before this group was made: `suggested` is theirs */
    struct probe_rename renamed[SCAN_GROUP_MAX];
    struct probe_output outputs[SCAN_GROUP_MAX];
};

/* Does the throughput say that this CPU lacks the form? */
static bool is_lacking(const struct group *group, size_t i) {
    const struct probe_throughput *throughput = &group->throughput[i];
    bool known = (group->parts & (RES_PART_THROUGHPUT | RES_PART_SLOTS)) != 0;
    return known && !throughput->measured && throughput->verdict == HX_VERDICT_FAULT &&
           throughput->stat.outcome == HX_OUTCOME_ILLEGAL;
}

/* The latencies of the forms that this CPU has. */
static enum ip_status group_latency(struct scan *scan, struct group *group, const struct hx_meter *meter,
                                    struct ip_error *err) {
    struct isa_form *forms[SCAN_GROUP_MAX];
    struct probe_latency latency[SCAN_GROUP_MAX];
    uint64_t asked[SCAN_GROUP_MAX];
    size_t count = 0;
    for (size_t i = 0; i < group->chosen_count; i++) {
        if (!is_lacking(group, i)) {
            asked[count] = group->asked[i];
            forms[count++] = group->chosen[i];
        }
    }
    enum ip_status status = probe_latency_measure_with(meter, &scan->bench.bench.encoder, &scan->transfers,
                                                       forms, asked, count, latency, err);
    count = 0;
    for (size_t i = 0; i < group->chosen_count && status == IP_OK; i++) {
        if (!is_lacking(group, i)) {
            group->latency[i] = latency[count++];
        }
    }
    return status;
}

/* The ports by glances alone, or in any case; and what hangs on them. */
static enum ip_status group_ports(struct scan *scan, struct group *group, const struct hx_meter *meter,
                                  bool glance, struct ip_error *err) {
    struct gen_encoder *encoder = &scan->bench.bench.encoder;
    bool slots = (group->parts & RES_PART_SLOTS) != 0;
    const struct probe_usage_known before = {.throughputs = group->throughput,
                                             .slots = slots ? group->slots : NULL,
                                             .suggested = group->glanced ? group->suggested : NULL};
    const struct probe_usage_known *known =
        slots || (group->parts & RES_PART_THROUGHPUT) != 0 ? &before : NULL;
    enum ip_status status = IP_OK;
    if (glance) {
        status = probe_usage_glance(meter, encoder, &scan->map, &scan->core, group->chosen, known,
                                    group->chosen_count, group->usage, group->settled, group->suggested, err);
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
    if ((group->parts & (RES_PART_THROUGHPUT | RES_PART_SLOTS)) != 0) {
        status = probe_throughput_measure(&meter, encoder, group->chosen, group->chosen_count,
                                          group->throughput, err);
    }
    if (status == IP_OK && (group->parts & RES_PART_THROUGHPUT) != 0) {
        status = probe_outputs_measure(&meter, encoder, group->chosen, group->throughput, group->chosen_count,
                                       group->outputs, err);
    }
    if (status == IP_OK && (group->parts & RES_PART_SLOTS) != 0) {
        status = probe_slots_measure(&meter, encoder, group->chosen, group->throughput, group->chosen_count,
                                     group->slots, err);
    }
    if (status == IP_OK && (group->parts & RES_PART_LATENCY) != 0) {
        status = group_latency(scan, group, &meter, err);
    }
    if (status == IP_OK && (group->parts & RES_PART_PORTS) != 0) {
        status = group_ports(scan, group, &meter, glance, err);
    }
    return status;
}

/* One form. `suggested`: what glances suggest of its ports, which are measured later; NULL: they are told.
 * `quick`: it may be measured again. */
static enum ip_status form_store(struct scan *scan, const struct res_facts *facts,
                                 const struct probe_usage *suggested, bool quick, struct ip_error *err) {
    enum res_status found = RES_STATUS_OK;
    const struct hx_bench *bench = &scan->bench.bench;
    struct scan_calm calm = {.nop_cycles = bench->sentinel_cycles};
    memcpy(calm.beside_cycles, bench->beside_cycles, sizeof calm.beside_cycles);
    struct res_facts most = *facts;
    if (suggested != NULL) {
        struct scan_late *its = &scan->late[scan->late_count++];
        *its =
            (struct scan_late){.form = (struct isa_form *)facts->form, .suggested = *suggested, .calm = calm};
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

/* A form that is measured again: what the first time gave, until then. It is not said that the parts are
 * known, so a scan that goes on measures them. What the store knows stays: it may be the middle of many
 * readings. */
static enum ip_status first_store(struct scan *scan, const struct res_facts *facts, bool settled,
                                  struct ip_error *err) {
    bool known = false;
    enum res_status found = RES_STATUS_OK;
    enum ip_status status = res_form_known(scan->store, facts->form->syntax, scan->parts, false, &known, err);
    struct res_facts first = *facts;
    first.parts = 0;
    first.usage = settled ? facts->usage : NULL;
    return status == IP_OK && !known ? res_form_put(scan->store, &first, &scan->log, &found, err) : status;
}

/* May another look tell more? What waits for something outside of the core does so again, and for long: CPUID
 * alone took a fifth of a scan. */
static bool is_spoilt(const struct isa_form *form, enum hx_verdict verdict, double cycles) {
    return hx_verdict_is_noise(verdict) && !probe_is_outside(form, cycles, NULL, 0);
}

/* Did noise spoil any of it? */
static bool facts_spoilt(const struct res_facts *facts) {
    const struct probe_throughput *throughput = facts->throughput;
    const double cycles = throughput != NULL ? throughput->cycles : NAN;
    bool spoilt = (throughput != NULL && is_spoilt(facts->form, throughput->verdict, cycles)) ||
                  (facts->slots != NULL && is_spoilt(facts->form, facts->slots->verdict, cycles));
    for (size_t i = 0; facts->latency != NULL && i < facts->latency->count && !spoilt; i++) {
        const struct probe_latency_pair *pair = &facts->latency->pairs[i];
        spoilt = is_spoilt(facts->form, pair->verdict, pair->cycles);
    }
    return spoilt;
}

/* The facts of the group's form that is the n-th of those that were measured. */
static struct res_facts facts_of(const struct scan *scan, struct group *group, size_t n) {
    struct res_facts facts = {.form = group->chosen[n], .parts = scan->parts};
    facts.throughput = (group->parts & RES_PART_THROUGHPUT) != 0 ? &group->throughput[n] : NULL;
    facts.latency = (group->parts & RES_PART_LATENCY) != 0 ? &group->latency[n] : NULL;
    facts.slots = (group->parts & RES_PART_SLOTS) != 0 ? &group->slots[n] : NULL;
    facts.usage = (group->parts & RES_PART_PORTS) != 0 ? &group->usage[n] : NULL;
    facts.map = &scan->map;
    return facts;
}

/* Keeps what was measured of the group's n-th form this time. */
static void again_read(struct scan_again *again, struct group *group, size_t n) {
    scan_readings_add(&again->readings,
                      (group->parts & RES_PART_THROUGHPUT) != 0 ? &group->throughput[n] : NULL,
                      (group->parts & RES_PART_LATENCY) != 0 ? &group->latency[n] : NULL);
    if ((group->parts & RES_PART_SLOTS) != 0) {
        again->slots = group->slots[n];
    }
    if ((group->parts & RES_PART_PORTS) != 0) {
        again->usage = group->usage[n];
        again->settled = group->settled[n];
        again->suggested = group->suggested[n];
    }
}

static enum ip_status group_store(struct scan *scan, struct group *group, bool quick, struct ip_error *err) {
    enum ip_status status = IP_OK;
    size_t next = 0;
    for (size_t i = 0; status == IP_OK && i < group->count; i++) {
        if (group->forms[i]->obstacle != ISA_OBSTACLE_NONE) {
            const struct res_facts facts = {.form = group->forms[i], .parts = scan->parts};
            status = form_store(scan, &facts, NULL, quick, err);
            continue;
        }
        size_t n = next++;
        const struct res_facts facts = facts_of(scan, group, n);
        bool spoilt = facts_spoilt(&facts);
        bool wavers = (facts.throughput != NULL && scan_throughput_wavers(facts.throughput)) ||
                      (facts.latency != NULL && scan_latency_wavers(facts.latency, facts.throughput));
        if (!quick || (!spoilt && !wavers)) {
            bool late = facts.usage != NULL && !group->settled[n];
            status = form_store(scan, &facts, late ? &group->suggested[n] : NULL, quick, err);
            continue;
        }
        struct scan_again *again;
        status = first_store(scan, &facts, group->settled[n], err);
        if (status == IP_OK) {
            status = scan_again_add(scan, group->forms[i], &again, err);
        }
        if (status == IP_OK) {
            again->spoilt = spoilt;
            again_read(again, group, n);
        }
    }
    return status;
}

enum ip_status scan_again_store(struct scan *scan, struct scan_again *again, struct ip_error *err) {
    struct probe_throughput throughput;
    struct probe_latency latency = {0};
    bool throughputs = again->readings.throughput_count > 0, latencies = again->readings.latency_count > 0;
    scan_readings_settle(&again->readings, &throughput, &latency);
    struct res_facts facts = {.form = again->form, .parts = scan->parts, .map = &scan->map};
    facts.throughput = throughputs ? &throughput : NULL;
    facts.latency = latencies ? &latency : NULL;
    facts.slots = (scan->parts & RES_PART_SLOTS) != 0 ? &again->slots : NULL;
    facts.usage = (scan->parts & RES_PART_PORTS) != 0 ? &again->usage : NULL;
    bool late = facts.usage != NULL && !again->settled;
    enum ip_status status = form_store(scan, &facts, late ? &again->suggested : NULL, false, err);
    probe_latency_fini(&latency);
    scan_readings_fini(&again->readings);
    again->stored = true;
    return status;
}

/* What a group leaves behind. */
static enum ip_status group_end(struct scan *scan, struct group *group, enum ip_status status,
                                struct ip_error *err) {
    if (status == IP_OK && (group->parts & RES_PART_PORTS) != 0) {
        status = scan_rename_store(scan->store, group->chosen, group->chosen_count, group->renamed, err);
    }
    if (status == IP_OK && (group->parts & RES_PART_THROUGHPUT) != 0) {
        status = scan_outputs_store(scan->store, group->chosen, group->chosen_count, group->outputs, err);
    }
    if (status == IP_OK) {
        status = res_pending_clear(&scan->pending, false, err);
    }
    for (size_t i = 0; i < group->count; i++) {
        probe_latency_fini(&group->latency[i]);
    }
    free(group);
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

static struct group *group_make(struct isa_form *const *forms, size_t count, unsigned parts,
                                struct ip_error *err) {
    struct group *group = calloc(1, sizeof *group);
    if (group == NULL) {
        (void)ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", count);
        return NULL;
    }
    group->forms = forms;
    group->count = count;
    group->parts = parts;
    for (size_t i = 0; i < count; i++) {
        group->asked[i] = UINT64_MAX;
    }
    return group;
}

enum ip_status scan_group_run(struct scan *scan, struct isa_form *const *forms, size_t count, bool quick,
                              struct ip_error *err) {
    struct group *group = group_make(forms, count, scan->parts, err);
    if (group == NULL) {
        return IP_NO_MEMORY;
    }
    enum ip_status status = recalibrate(scan, err);
    if (status == IP_OK) {
        status = group_measure(scan, group, quick, err);
    }
    if (status == IP_OK) {
        status = group_store(scan, group, quick, err);
    }
    status = group_end(scan, group, status, err);
    res_log_clear(&scan->log);
    return status;
}

/* The kernels stay in the log until all readings are there: any of them may be the one that counts. */
enum ip_status scan_again_run(struct scan *scan, const size_t *which, size_t count, unsigned parts,
                              bool close, struct ip_error *err) {
    struct isa_form *forms[SCAN_GROUP_MAX] = {NULL};
    for (size_t i = 0; i < count; i++) {
        forms[i] = scan->again[which[i]].form;
    }
    struct group *group = group_make(forms, count, parts, err);
    if (group == NULL) {
        return IP_NO_MEMORY;
    }
    for (size_t i = 0; i < count && !close; i++) {
        group->asked[i] = scan_readings_pairs(&scan->again[which[i]].readings);
    }
    enum ip_status status = recalibrate(scan, err);
    if (status == IP_OK) {
        status = group_measure(scan, group, false, err);
    }
    for (size_t i = 0; i < group->chosen_count && status == IP_OK; i++) {
        again_read(&scan->again[which[i]], group, i);
    }
    return group_end(scan, group, status, err);
}

enum ip_status scan_late_run(struct scan *scan, size_t first, size_t count, struct ip_error *err) {
    struct group *group = group_make(NULL, count, scan->parts, err);
    if (group == NULL) {
        return IP_NO_MEMORY;
    }
    group->forms = group->chosen;
    group->chosen_count = count;
    for (size_t i = 0; i < count; i++) {
        group->chosen[i] = scan->late[first + i].form;
        group->throughput[i] = scan->late[first + i].throughput;
        group->slots[i] = scan->late[first + i].slots;
        group->suggested[i] = scan->late[first + i].suggested;
    }
    group->glanced = true;
    struct hx_meter meter = res_log_meter(&scan->log);
    enum ip_status status = recalibrate(scan, err);
    if (status == IP_OK) {
        status = group_ports(scan, group, &meter, false, err);
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        const struct res_facts facts = {
            .form = group->chosen[i], .parts = RES_PART_PORTS, .usage = &group->usage[i], .map = &scan->map};
        status = form_store(scan, &facts, NULL, false, err);
    }
    status = group_end(scan, group, status, err);
    res_log_clear(&scan->log);
    return status;
}
