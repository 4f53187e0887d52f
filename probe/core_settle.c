/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/core_settle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Repeated measurements of an undisturbed core differ by less, relative or in the parameter's unit. */
static const double NEAR = 0.03, NEAR_ABSOLUTE = 0.02;

enum { PASSES_MAX = 8 };

bool core_values_agree(const struct probe_core_value *a, const struct probe_core_value *b) {
    if (!a->known || !b->known) {
        return a->known == b->known && strcmp(a->how, b->how) == 0;
    }
    double least = fmin(fabs(a->value), fabs(b->value));
    double near = fmax(NEAR_ABSOLUTE, NEAR * least);
    double own =
        0.5 * (a->spread * fabs(a->value) + b->spread * fabs(b->value)); /* as wide as a sweep's steps */
    return fabs(a->value - b->value) <= (isnan(own) ? near : fmax(near, own));
}

/* What a pass that does not name the parameter says of it: nothing was found there. */
static const struct probe_core_value nothing = {.value = NAN, .spread = NAN};
/* Of facts that have a value, whatever it is, wherever they could be measured. */
static const struct probe_core_value unheard = {.value = NAN, .spread = NAN, .how = "not known: noise"};

static const struct probe_core_value *absence_of(const char *key) {
    static const char *const found[] = {"eliminate ", "after ", "output "}; /* told where there is any */
    bool fact = strchr(key, ' ') != NULL;
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        fact = fact && strncmp(key, found[i], strlen(found[i])) != 0;
    }
    return fact ? &unheard : &nothing;
}

/* The passes that agree with `values[i]`. */
static unsigned friends_count(const struct probe_core_value *const *values, unsigned count, unsigned i) {
    unsigned friends = 0;
    for (unsigned k = 0; k < count; k++) {
        friends += core_values_agree(values[i], values[k]);
    }
    return friends;
}

/* A pass that was kept from seeing anything; unlike "not seen", that says nothing against what others saw. */
static bool is_silent(const struct probe_core_value *value) {
    return !value->known && strncmp(value->how, "not known", strlen("not known")) == 0;
}

/* The most that agree, when no others are as many: the first of them, else NULL. */
static const struct probe_core_value *majority_find(const struct probe_core_value *const *values,
                                                    unsigned count) {
    const struct probe_core_value *best = NULL;
    unsigned most = 1;
    bool tie = false;
    for (unsigned i = 0; i < count; i++) {
        unsigned friends = is_silent(values[i]) ? 0 : friends_count(values, count, i);
        if (friends > most) {
            most = friends;
            best = values[i];
            tie = false;
        } else if (friends == most && best != NULL && !core_values_agree(best, values[i])) {
            tie = true;
        }
    }
    return tie ? NULL : best;
}

static struct probe_core_value majority_value(const struct probe_core_value *const *values, unsigned count,
                                              const struct probe_core_value *first) {
    struct probe_core_value settled = *first;
    double low = first->value, high = first->value;
    for (unsigned i = 0; i < count && first->known; i++) {
        if (!core_values_agree(first, values[i])) {
            continue;
        }
        low = fmin(low, values[i]->value);
        high = fmax(high, values[i]->value);
        if (values[i]->spread < settled.spread || isnan(settled.spread)) {
            settled = *values[i];
        }
    }
    if (high > low && settled.value != 0.0) {
        settled.spread =
            fmax(isnan(settled.spread) ? 0.0 : settled.spread, (high - low) / fabs(settled.value));
    }
    return settled;
}

/* "not known: 3 measurements differ: 512, 418, -" */
static struct probe_core_value disputed_value(const struct probe_core_value *const *values, unsigned count) {
    struct probe_core_value value = nothing;
    int used = snprintf(value.how, sizeof value.how, "not known: %u measurements differ:", count);
    for (unsigned i = 0; i < count && used > 0 && (size_t)used < sizeof value.how; i++) {
        char number[32] = " -";
        if (values[i]->known) {
            (void)snprintf(number, sizeof number, " %.4g", values[i]->value);
        }
        used += snprintf(value.how + used, sizeof value.how - (size_t)used, "%s%s", i > 0 ? "," : "", number);
    }
    return value;
}

static enum ip_status key_settle(const struct probe_core *passes, unsigned count, const char *key,
                                 struct probe_core *core, size_t *disputed, struct ip_error *err) {
    const struct probe_core_value *values[PASSES_MAX] = {&nothing};
    for (unsigned i = 0; i < count; i++) {
        const struct probe_core_value *value = probe_core_find(&passes[i], key);
        values[i] = value != NULL ? value : absence_of(key);
    }
    const struct probe_core_value *first = majority_find(values, count);
    bool silent = true, same = true;
    for (unsigned i = 0; i < count; i++) {
        silent = silent && is_silent(values[i]);
        same = same && core_values_agree(values[0], values[i]);
    }
    struct probe_core_value settled = first != NULL ? majority_value(values, count, first)
                                      : silent      ? *values[0]
                                                    : disputed_value(values, count);
    *disputed += first == NULL && !(silent && same); /* that one cannot be seen here at all */
    if (core == NULL) {
        return IP_OK;
    }
    if (!settled.known && settled.how[0] == '\0') {
        return IP_OK; /* most found nothing */
    }
    return probe_core_set(core, key, settled.known ? settled.value : NAN, settled.spread, settled.how, err);
}

enum ip_status core_passes_settle(const struct probe_core *passes, unsigned count, struct probe_core *core,
                                  size_t *disputed, struct ip_error *err) {
    enum ip_status status = IP_OK;
    *disputed = 0;
    count = count < PASSES_MAX ? count : PASSES_MAX;
    for (unsigned p = 0; p < count; p++) {
        for (unsigned key = 0; key < PROBE_CORE_KEYS && status == IP_OK; key++) {
            const char *name = probe_core_key_name(key);
            bool first = probe_core_find(&passes[p], name) != NULL;
            for (unsigned k = 0; k < p; k++) {
                first = first && probe_core_find(&passes[k], name) == NULL;
            }
            status = first ? key_settle(passes, count, name, core, disputed, err) : IP_OK;
        }
        for (size_t i = 0; i < passes[p].fact_count && status == IP_OK; i++) {
            const char *name = passes[p].facts[i].key;
            bool first = true;
            for (unsigned k = 0; k < p; k++) {
                first = first && probe_core_find(&passes[k], name) == NULL;
            }
            status = first ? key_settle(passes, count, name, core, disputed, err) : IP_OK;
        }
    }
    return status;
}
