/* SPDX-License-Identifier: Apache-2.0 */
#include "results/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "results/hash.h"

_Static_assert(sizeof(((struct gen_kernel *)0)->memory_fill) == RES_FILL_BYTES, "fills are kept whole");
_Static_assert(sizeof(((struct gen_kernel *)0)->vector_fill) == RES_FILL_BYTES, "fills are kept whole");

void res_log_clear(struct res_log *log) {
    for (size_t i = 0; i < log->size; i++) {
        free(log->kernels[i].bytes);
    }
    free(log->kernels);
    log->kernels = NULL;
    log->count = log->size = 0;
}

void res_log_fini(struct res_log *log) {
    res_log_clear(log);
    memset(log, 0, sizeof *log);
}

/* Where `hash` is, or would be; the table is never full. */
static size_t place_find(const struct res_log *log, uint64_t hash) {
    size_t at = (size_t)hash & (log->size - 1);
    while (log->kernels[at].hash != 0 && log->kernels[at].hash != hash) {
        at = (at + 1) & (log->size - 1);
    }
    return at;
}

const struct res_kernel *res_log_find(const struct res_log *log, uint64_t hash) {
    if (log->size == 0 || hash == 0) {
        return NULL;
    }
    const struct res_kernel *found = &log->kernels[place_find(log, hash)];
    return found->hash == hash ? found : NULL;
}

static enum ip_status log_grow(struct res_log *log, struct ip_error *err) {
    struct res_log grown = {.size = log->size != 0 ? 2 * log->size : 1024};
    grown.kernels = calloc(grown.size, sizeof *grown.kernels);
    if (grown.kernels == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the evidence of %zu kernels", log->count);
    }
    for (size_t i = 0; i < log->size; i++) {
        if (log->kernels[i].hash != 0) {
            grown.kernels[place_find(&grown, log->kernels[i].hash)] = log->kernels[i];
        }
    }
    free(log->kernels);
    log->kernels = grown.kernels;
    log->size = grown.size;
    return IP_OK;
}

static void kernel_describe(struct res_kernel *described, const struct gen_kernel *kernel) {
    described->head_bytes = kernel->shorter.loop_offset;
    described->unit_bytes = kernel->unit_bytes;
    described->copies = kernel->shorter.copies;
    described->unit_instructions = kernel->unit_instructions;
    described->forms_per_unit = kernel->forms_per_unit;
    memcpy(described->memory_fill, kernel->memory_fill, sizeof described->memory_fill);
    memcpy(described->vector_fill, kernel->vector_fill, sizeof described->vector_fill);
    const uint8_t *code = kernel->shorter.bytes;
    uint64_t hash = res_hash(0, code, described->head_bytes);
    hash = res_hash(hash, kernel->memory_fill, sizeof kernel->memory_fill);
    hash = res_hash(hash, kernel->vector_fill, sizeof kernel->vector_fill);
    described->preparation = hash;
    hash = res_hash(hash, code + described->head_bytes, described->unit_bytes);
    const uint32_t numbers[] = {described->copies, described->unit_instructions, described->forms_per_unit};
    hash = res_hash(hash, numbers, sizeof numbers);
    described->hash = hash != 0 ? hash : 1; /* 0 means none */
}

uint64_t res_kernel_hash(const struct gen_kernel *kernel) {
    struct res_kernel described = {0};
    kernel_describe(&described, kernel);
    return described.hash;
}

static enum ip_status log_add(struct res_log *log, const struct gen_kernel *kernel, uint64_t *hash,
                              struct ip_error *err) {
    if (2 * (log->count + 1) > log->size) {
        enum ip_status status = log_grow(log, err);
        if (status != IP_OK) {
            return status;
        }
    }
    struct res_kernel described = {0};
    kernel_describe(&described, kernel);
    struct res_kernel *place = &log->kernels[place_find(log, described.hash)];
    if (place->hash == 0) {
        size_t size = described.head_bytes + described.unit_bytes;
        described.bytes = malloc(size != 0 ? size : 1);
        if (described.bytes == NULL) {
            return ip_fail(err, IP_NO_MEMORY, "out of memory for the evidence of %zu kernels", log->count);
        }
        memcpy(described.bytes, kernel->shorter.bytes, size);
        *place = described;
        log->count++;
    }
    *hash = described.hash;
    return IP_OK;
}

/* A recording that lacks the kernel says nothing of the form: a store must not have it as a fact. */
static enum ip_status log_take(struct res_log *log, const struct gen_kernel *kernel, struct hx_stat *stat,
                               struct ip_error *err) {
    if (stat->outcome == HX_OUTCOME_MISSING) {
        return ip_fail(err, IP_FAILED, "%s: it is of another command, or of other forms", stat->why);
    }
    return log_add(log, kernel, &stat->kernel_hash, err);
}

static enum ip_status log_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                  struct hx_stat *stats, struct ip_error *err) {
    struct res_log *log = self;
    enum ip_status status = hx_measure(&log->inner, kernels, count, stats, err);
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (kernels[i] != NULL) {
            status = log_take(log, kernels[i], &stats[i], err);
        }
    }
    return status;
}

/* A look is no evidence, unless it is the last: a fault. */
static enum ip_status log_screen(void *self, const struct gen_kernel *const *kernels, size_t count,
                                 struct hx_stat *stats, struct ip_error *err) {
    struct res_log *log = self;
    enum ip_status status = hx_screen(&log->inner, kernels, count, stats, err);
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (kernels[i] != NULL && !stats[i].screened) {
            status = log_take(log, kernels[i], &stats[i], err);
        }
    }
    return status;
}

static enum ip_status log_hold(void *self, const struct gen_kernel *const *kernels, size_t count,
                               struct ip_error *err) {
    struct res_log *log = self;
    return hx_hold(&log->inner, kernels, count, err);
}

static void log_release(void *self) {
    struct res_log *log = self;
    hx_release(&log->inner);
}

struct hx_meter res_log_meter(struct res_log *log) {
    struct hx_meter meter = hx_meter_before(&log->inner, log);
    meter.measure = log_measure;
    meter.screen = log_screen;
    meter.hold = log_hold;
    meter.release = log_release;
    return meter;
}
