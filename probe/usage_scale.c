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
};

static const double BIAS_MOST = 0.03;

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
        const int *blocker = class->blocker;
        int member = blocker[0] >= 0 ? blocker[0] : blocker[1] >= 0 ? blocker[1] : blocker[2];
        slots[i] = SIZE_MAX;
        if (member >= 0 && !class->load && !class->store) {
            const struct gen_part part = probe_port_part(&map->members[member], BIAS_CYCLES * class->width);
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

enum ip_status probe_usage_stores_measure(struct probe_usage_session *session, struct ip_error *err) {
    struct probe_batch batch = {0};
    enum ip_status status = IP_OK;
    size_t slots[BIAS_TIMES], count = 0;
    double cycles[BIAS_TIMES];
    for (unsigned c = 0; c < session->map->class_count && count == 0 && status == IP_OK; c++) {
        const struct probe_port_class *class = &session->map->classes[c];
        const struct gen_part part = {
            .form = class->blocker[0] >= 0 ? session->map->members[class->blocker[0]].form : NULL,
            .count = STORES,
            .how = {.stride = PROBE_USAGE_STORE_STRIDE}};
        while (class->store && part.form != NULL && count < BIAS_TIMES && status == IP_OK) {
            status = probe_mix_add(&batch, &part, 1, &slots[count++], err);
        }
    }
    status = status == IP_OK ? probe_usage_batch_run(session, &batch, PROBE_USAGE_LOOKED, err) : status;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        cycles[i] = probe_mix_cycles(&batch, slots[i]) / STORES;
    }
    session->store_cycles = status == IP_OK ? middle(cycles, count, 1) : NAN;
    probe_batch_fini(&batch);
    return status;
}
