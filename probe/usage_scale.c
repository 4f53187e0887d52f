/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_scale.c - what blockers take when nothing stands beside them: all readings are of that scale.
 */
#include <math.h>

#include "harness/stats.h"
#include "probe/portmap_steps.h"
#include "probe/usage_steps.h"

enum {
    STORES = 64,
    BIAS_CYCLES = 32, /* of blockers alone */
    BIAS_CLASSES_LEAST = 3,
    BIAS_TIMES = 5,
    STORE_READINGS = 8,
    STORE_RETRIES = 12,
};

static const double BIAS_MOST = 0.03;
static const double STORES_AGREE = 0.02, STORES_WHOLE = 0.04;
static const double STORE_SECONDS = 3; /* of retries, where noise lets nothing through */

/* The middle of those values that are known. NaN: too few are. Sorts. */
static double middle(double *values, size_t count, size_t least) {
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(values[i])) {
            values[known++] = values[i];
        }
    }
    return known >= least ? hx_median(values, known) : NAN;
}

/* Each class's blockers alone, and again and again: all else hangs on them. */
static enum ip_status bias_batch(const struct probe_usage_session *session, struct probe_batch *batch,
                                 size_t slots[BIAS_TIMES * PROBE_PORTSET_CLASSES], struct ip_error *err) {
    const struct probe_portmap *map = session->map;
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < BIAS_TIMES * map->class_count && status == IP_OK; i++) {
        const struct probe_port_class *class = &map->classes[i % map->class_count];
        const struct probe_port_member *member = probe_port_class_best(map, i % map->class_count);
        slots[i] = SIZE_MAX;
        if (member != NULL && probe_port_class_computes(map, class)) {
            const struct gen_part part = probe_port_part(member, BIAS_CYCLES * class->width);
            status = probe_mix_add(batch, &part, 1, &slots[i], err);
        }
    }
    return status;
}

/* Blockers alone take a known time. Noise lets the low quantiles of all samples come out too low by the same
 * part, which counts for much where a form takes long: so the blockers set the scale. */
enum ip_status probe_usage_bias_measure(struct probe_usage_session *session, enum probe_usage_kind kind,
                                        struct ip_error *err) {
    struct probe_batch batch = {0};
    size_t slots[BIAS_TIMES * PROBE_PORTSET_CLASSES];
    double ratios[BIAS_TIMES * PROBE_PORTSET_CLASSES];
    size_t count = BIAS_TIMES * session->map->class_count;
    enum ip_status status = bias_batch(session, &batch, slots, err);
    status = status == IP_OK ? probe_usage_batch_run(session, &batch, kind, err) : status;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        double ratio = probe_mix_cycles(&batch, slots[i]) / BIAS_CYCLES;
        ratios[i] = fabs(ratio - 1) < BIAS_MOST ? ratio : NAN;
    }
    double bias = status == IP_OK ? middle(ratios, count, BIAS_CLASSES_LEAST * BIAS_TIMES) : NAN;
    session->bias[kind] = isfinite(bias) ? bias : 1;
    probe_batch_fini(&batch);
    return status;
}

/* Once: stores, so many bytes from one to the next, measured and not looked at. NaN: noise left no sample. */
static enum ip_status stores_read(const struct probe_usage_session *session, struct isa_form *form,
                                  unsigned stride, double *cycles, struct ip_error *err) {
    struct probe_batch batch = {.retries = STORE_RETRIES, .retry_seconds = STORE_SECONDS};
    size_t slot = SIZE_MAX;
    const struct gen_part part = {.form = form, .count = STORES, .how = {.stride = stride}};
    enum ip_status status = probe_mix_add(&batch, &part, 1, &slot, err);
    if (status == IP_OK && batch.count > 0) {
        status = probe_batch_measure(&batch, session->meter, session->encoder, err);
    }
    *cycles = status == IP_OK ? probe_mix_cycles(&batch, slot) / STORES : NAN;
    probe_batch_fini(&batch);
    return status;
}

/* A whole number of cycles a store, or of stores a cycle, where it is almost that: what is off by two per
 * cent beside forty blockers is taken for a uop. */
static double stores_whole(double cycles) {
    double whole = cycles >= 1.0 ? round(cycles) : 1.0 / round(1.0 / cycles);
    return fabs(cycles - whole) <= STORES_WHOLE * whole ? whole : cycles;
}

/* The least that two readings agree on. */
static enum ip_status stores_agree(const struct probe_usage_session *session, struct isa_form *form,
                                   unsigned stride, double *cycles, struct ip_error *err) {
    double readings[STORE_READINGS];
    unsigned count = 0;
    enum ip_status status = IP_OK;
    *cycles = NAN;
    for (unsigned i = 0; i < STORE_READINGS && status == IP_OK && form != NULL && isnan(*cycles); i++) {
        status = stores_read(session, form, stride, &readings[count], err);
        count += status == IP_OK && isfinite(readings[count]);
        hx_sort(readings, count);
        *cycles = stores_whole(hx_least_agreed(readings, count, 2, STORES_AGREE));
    }
    return status;
}

static struct isa_form *store_blocker(const struct probe_portmap *map) {
    struct isa_form *form = NULL;
    for (unsigned c = 0; c < map->class_count && form == NULL; c++) {
        const struct probe_port_class *class = &map->classes[c];
        form = class->store && class->blocker[0] >= 0 ? map->members[class->blocker[0]].form : NULL;
    }
    return form;
}

/* All that write memory are counted by it. */
enum ip_status probe_usage_stores_measure(struct probe_usage_session *session, struct ip_error *err) {
    session->core.one_place_cycles = NAN;
    return stores_agree(session, store_blocker(session->map), PROBE_USAGE_STORE_STRIDE,
                        &session->core.store_cycles, err);
}

enum ip_status probe_usage_one_place_measure(struct probe_usage_session *session, struct ip_error *err) {
    double *cycles = &session->core.one_place_cycles;
    return *cycles > 0 ? IP_OK : stores_agree(session, store_blocker(session->map), 0, cycles, err);
}
