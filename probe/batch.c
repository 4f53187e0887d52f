/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/batch.h"
#include "probe/rivals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/stats.h"

/* Kernels per call of the meter: bounds the memory that machine code takes (about 1 KiB a kernel). */
#define BATCH_CHUNK 4096u
/* Lines of earlier batches: those that a group of forms has for its throughput serve its slots and latencies,
 * too. */
#define LINES_KEPT 60000u
/* A kernel that spreads so often though nobody disturbs it does so by itself. */
enum { UNSTABLE_MANY = 8 };

void probe_batch_fini(struct probe_batch *batch) {
    for (size_t i = 0; i < batch->count; i++) {
        gen_program_fini(&batch->programs[i]);
    }
    free(batch->programs);
    free(batch->rivals);
    free(batch->stats);
    memset(batch, 0, sizeof *batch);
}

enum ip_status probe_batch_add(struct probe_batch *batch, struct gen_program *program, size_t *slot,
                               struct ip_error *err) {
    if (batch->count == batch->capacity) {
        size_t capacity = batch->capacity != 0 ? batch->capacity * 2 : 64;
        struct gen_program *programs = realloc(batch->programs, capacity * sizeof *programs);
        if (programs == NULL) {
            gen_program_fini(program);
            return ip_fail(err, IP_NO_MEMORY, "no memory for %zu experiments: measure fewer forms", capacity);
        }
        batch->programs = programs;
        struct probe_rival *rivals = realloc(batch->rivals, capacity * sizeof *rivals);
        if (rivals == NULL) {
            gen_program_fini(program);
            return ip_fail(err, IP_NO_MEMORY, "no memory for %zu experiments: measure fewer forms", capacity);
        }
        batch->rivals = rivals;
        batch->capacity = capacity;
    }
    *slot = batch->count;
    batch->rivals[batch->count] = (struct probe_rival){0};
    batch->programs[batch->count++] = *program;
    memset(program, 0, sizeof *program);
    return IP_OK;
}

void probe_batch_rival(struct probe_batch *batch, size_t slot, const struct probe_rival *rival) {
    batch->rivals[slot] = *rival;
}

static void stat_fault(struct hx_stat *stat, const char *why) {
    memset(stat, 0, sizeof *stat);
    stat->verdict = HX_VERDICT_FAULT;
    stat->cycles = stat->low = stat->high = stat->spread = NAN;
    snprintf(stat->why, sizeof stat->why, "%s", why);
}

static bool is_void(const struct hx_stat *stat) {
    return hx_verdict_is_noise(stat->verdict);
}

static double from_whole(double cycles) {
    return fabs(cycles - round(cycles));
}

bool probe_is_nearer_whole(double cycles, double than) {
    return fabs(cycles - than) >= 1.0 ? cycles < than : from_whole(cycles) < from_whole(than);
}

/* Farther from a whole number, as a part of itself, it is none. */
static const double WHOLE_WITHIN = 0.01;

/* Did noise make it void, or, where it should be a whole number, perhaps longer? */
static bool is_again(const struct hx_stat *stat, bool whole) {
    return is_void(stat) || (whole && stat->verdict == HX_VERDICT_OK &&
                             from_whole(stat->cycles) > WHOLE_WITHIN * fmax(stat->cycles, 1.0));
}

/* Kernels that are measured again. */
struct again {
    const struct gen_kernel **kernels;
    size_t *of; /* which of the batch's each is */
    struct hx_stat *fresh;
    size_t count;
};

static void again_close(struct again *again) {
    free(again->kernels);
    free(again->of);
    free(again->fresh);
}

static enum ip_status again_open(struct again *again, size_t most, struct ip_error *err) {
    *again = (struct again){.kernels = calloc(most, sizeof(const struct gen_kernel *)),
                            .of = calloc(most, sizeof *again->of),
                            .fresh = calloc(most, sizeof *again->fresh)};
    if (again->kernels == NULL || again->of == NULL || again->fresh == NULL) {
        again_close(again);
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu experiments", most);
    }
    return IP_OK;
}

static void again_add(struct again *again, const struct gen_kernel *kernel, size_t of) {
    again->kernels[again->count] = kernel;
    again->of[again->count++] = of;
}

/* Measures them, and keeps in `stats` what is better than what was there. */
static enum ip_status again_measure(const struct again *again, struct hx_stat *stats,
                                    const struct hx_meter *meter, struct ip_error *err) {
    enum ip_status status =
        again->count > 0 ? hx_measure(meter, again->kernels, again->count, again->fresh, err) : IP_OK;
    for (size_t i = 0; i < again->count && status == IP_OK; i++) {
        struct hx_stat *stat = &stats[again->of[i]];
        const struct hx_stat *fresh = &again->fresh[i];
        bool better = is_void(stat) || probe_is_nearer_whole(fresh->cycles, stat->cycles);
        *stat = fresh->verdict == HX_VERDICT_OK && better ? *fresh : *stat;
    }
    return status;
}

/* Measures again what noise spoilt, and counts in `unstable` what was undisturbed and spread. */
static enum ip_status void_measure(const struct gen_kernel *const *pointers, size_t count,
                                   struct hx_stat *stats, bool whole, struct again *again, unsigned *unstable,
                                   const struct hx_meter *meter, struct ip_error *err) {
    again->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (pointers[i] != NULL && is_again(&stats[i], whole)) {
            again_add(again, pointers[i], i);
        }
    }
    enum ip_status status = again_measure(again, stats, meter, err);
    for (size_t i = 0; i < again->count && status == IP_OK; i++) {
        unstable[again->of[i]] += again->fresh[i].verdict == HX_VERDICT_UNSTABLE;
    }
    return status;
}

/* Those void for which a neighbour may be to blame. */
static size_t voids_count(const struct gen_kernel *const *pointers, size_t count, const struct hx_stat *stats,
                          const unsigned *unstable) {
    size_t voids = 0;
    for (size_t i = 0; i < count; i++) {
        voids += pointers[i] != NULL && is_void(&stats[i]) && unstable[i] < UNSTABLE_MANY;
    }
    return voids;
}

static enum ip_status voids_measure(const struct gen_kernel **pointers, size_t count, struct hx_stat *stats,
                                    const struct probe_batch *batch, const struct hx_meter *meter,
                                    struct ip_error *err) {
    struct again again;
    enum ip_status status = again_open(&again, count, err);
    if (status != IP_OK) {
        return status;
    }
    unsigned *unstable = calloc(count, sizeof *unstable);
    if (unstable == NULL) {
        again_close(&again);
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu experiments", count);
    }
    double begun = hx_seconds(meter);
    bool more = batch->retries > 0;
    for (unsigned r = 0; more && status == IP_OK; r++) {
        status = void_measure(pointers, count, stats, batch->whole, &again, unstable, meter, err);
        double passed = hx_seconds(meter) - begun;
        size_t voids = voids_count(pointers, count, stats, unstable);
        more = r + 1 < batch->retries || (passed > 0 && passed < batch->retry_seconds && voids > 0);
    }
    again_close(&again);
    free(unstable);
    return status;
}

/* Fewer cycles may well be halves: two ports that take turns. */
static const double BETWEEN_LEAST = 4, BETWEEN_WITHIN = 0.15;

/* Took it, undisturbed, between two whole numbers of cycles? */
static bool is_between(const struct hx_stat *stat) {
    return stat->verdict == HX_VERDICT_OK && stat->cycles >= BETWEEN_LEAST &&
           from_whole(stat->cycles) > fmax(BETWEEN_WITHIN, WHOLE_WITHIN * stat->cycles);
}

/* Measures those that are no rivals and took between two whole numbers of cycles up to so many times more. */
static enum ip_status betweens_measure(const struct probe_batch *batch, size_t first,
                                       const struct gen_kernel *const *pointers, size_t count,
                                       struct hx_stat *stats, const struct hx_meter *meter,
                                       struct ip_error *err) {
    struct again again;
    enum ip_status status = again_open(&again, count, err);
    if (status != IP_OK) {
        return status;
    }
    bool more = true;
    for (unsigned r = 0; r < batch->between_retries && more && status == IP_OK; r++) {
        again.count = 0;
        for (size_t i = 0; i < count; i++) {
            if (pointers[i] != NULL && batch->rivals[first + i].set == 0 && is_between(&stats[i])) {
                again_add(&again, pointers[i], i);
            }
        }
        more = again.count > 0;
        status = again_measure(&again, stats, meter, err);
    }
    again_close(&again);
    return status;
}

/* Looks that are nearer than this, relative or in cycles, say the same. */
static const double LOOKS_AGREE = 0.012;
static const double LOOKS_AGREE_CYCLES = 0.02;
enum { LOOKS_SAME = 3, LOOKS_IN_VAIN = 6 };

/* The least of ascending looks that say the same: whatever disturbs a look makes it longer, as a rule, and
 * those that are too short by chance seldom agree. Returns false where too few do. */
static bool looks_agree(const double *sorted, unsigned count, struct hx_stat *stat) {
    for (unsigned i = 0; i + LOOKS_SAME <= count; i++) {
        double low = sorted[i], high = sorted[i + LOOKS_SAME - 1];
        if (high - low <= LOOKS_AGREE * low + LOOKS_AGREE_CYCLES) {
            stat->low = low;
            stat->high = high;
            stat->cycles = hx_quantile(sorted + i, LOOKS_SAME, 0.5);
            return true;
        }
    }
    return false;
}

/* How often looks at kernels were undisturbed that were so once. */
struct calm {
    size_t ok, disturbed;
};

/* Is the machine calm, so that what was disturbed in so many looks always is? */
static bool is_in_vain(const struct calm *calm, unsigned looks) {
    enum { CALM_TIMES = 10 };
    return looks >= LOOKS_IN_VAIN && calm->ok > CALM_TIMES * calm->disturbed;
}

/* Looks until three agree, `looks` of undisturbed ones at most, and twice as many in all. What none of the
 * first few finds undisturbed in a calm time is let be: stores past the caches never are, and 18 kernels of
 * them took 1.7 s. */
static enum ip_status looks_take(const struct gen_kernel **pointers, size_t count, struct hx_stat *stats,
                                 unsigned looks, const struct hx_meter *meter, struct ip_error *err) {
    const struct gen_kernel **open = calloc(count, sizeof(const struct gen_kernel *));
    double *cycles = calloc(count * looks, sizeof *cycles);
    unsigned *good = calloc(count, sizeof *good);
    struct hx_stat *fresh = calloc(count, sizeof *fresh);
    struct calm calm = {0};
    enum ip_status status = open == NULL || cycles == NULL || good == NULL || fresh == NULL
                                ? ip_fail(err, IP_NO_MEMORY, "no memory for %zu experiments", count)
                                : IP_OK;
    size_t left = status == IP_OK ? count : 0;
    for (size_t i = 0; i < left; i++) {
        open[i] = pointers[i];
    }
    for (unsigned look = 0; look < 2 * looks && left > 0 && status == IP_OK; look++) {
        status = hx_screen(meter, open, count, fresh, err);
        const bool in_vain = is_in_vain(&calm, look + 1);
        left = 0;
        for (size_t i = 0; i < count && status == IP_OK; i++) {
            if (open[i] == NULL) {
                continue;
            }
            struct hx_stat *stat = &stats[i];
            bool ok = fresh[i].verdict == HX_VERDICT_OK;
            if (ok || good[i] == 0) {
                *stat = fresh[i];
            }
            if (ok) {
                calm.disturbed += good[i] == 0 ? look : 0;
                cycles[i * looks + good[i]++] = fresh[i].cycles;
                hx_sort(cycles + i * looks, good[i]);
                stat->cycles = hx_quantile(cycles + i * looks, good[i], 0.25);
            }
            calm.ok += ok;
            calm.disturbed += !ok && good[i] > 0;
            bool done = stat->verdict == HX_VERDICT_FAULT || looks_agree(cycles + i * looks, good[i], stat) ||
                        good[i] == looks || (in_vain && good[i] == 0);
            open[i] = done ? NULL : open[i];
            left += !done;
        }
    }
    free(open);
    free(cycles);
    free(good);
    free(fresh);
    return status;
}

/* Builds and measures experiments [first, first + count). `kernels` and `pointers` are scratch of `count`. */
static enum ip_status batch_chunk_measure(struct probe_batch *batch, size_t first, size_t count,
                                          struct gen_kernel *kernels, const struct gen_kernel **pointers,
                                          struct hx_stat *stats, const struct hx_meter *meter,
                                          struct gen_encoder *encoder, struct ip_error *err) {
    char(*reasons)[128] = calloc(count, sizeof *reasons);
    if (reasons == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu experiments: measure fewer forms", count);
    }
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        status = gen_kernel_build(&kernels[i], &batch->programs[first + i], encoder, 0, err);
        pointers[i] = status == IP_OK ? &kernels[i] : NULL;
        if (status != IP_OK && status != IP_NO_MEMORY && status != IP_IO) {
            snprintf(reasons[i], sizeof reasons[i], "%.*s", (int)sizeof reasons[i] - 1, err->text);
            status = IP_OK;
        }
    }
    if (status == IP_OK) {
        status = hx_hold(meter, pointers, count, err);
    }
    if (status == IP_OK && batch->looks > 0) {
        status = looks_take(pointers, count, stats, batch->looks, meter, err);
    } else if (status == IP_OK) {
        status = probe_rivals_measure(meter, batch->rivals + first, pointers, count, stats, err);
    }
    if (status == IP_OK && batch->retries > 0 && batch->looks == 0) {
        status = voids_measure(pointers, count, stats, batch, meter, err);
    }
    if (status == IP_OK && batch->between_retries > 0 && batch->looks == 0) {
        status = betweens_measure(batch, first, pointers, count, stats, meter, err);
    }
    hx_release(meter);
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (pointers[i] == NULL) {
            stat_fault(&stats[i], reasons[i]);
        }
    }
    free(reasons);
    return status;
}

enum ip_status probe_batch_measure(struct probe_batch *batch, const struct hx_meter *meter,
                                   struct gen_encoder *encoder, struct ip_error *err) {
    const size_t old = batch->measured, all = batch->count;
    if (old >= all) {
        return IP_OK;
    }
    if (encoder->count > LINES_KEPT) {
        gen_encoder_fini(encoder);
    }
    for (size_t i = old; i < all; i++) {
        enum ip_status status = gen_encoder_program_add(encoder, &batch->programs[i], err);
        if (status != IP_OK) {
            return status;
        }
    }
    enum ip_status status = gen_encoder_flush(encoder, err);
    if (status != IP_OK) {
        return status;
    }
    size_t chunk = all - old < BATCH_CHUNK ? all - old : BATCH_CHUNK;
    struct hx_stat *stats = realloc(batch->stats, all * sizeof *stats);
    struct gen_kernel *kernels = calloc(chunk, sizeof *kernels);
    const struct gen_kernel **pointers = calloc(chunk, sizeof *pointers);
    if (stats == NULL || kernels == NULL || pointers == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "no memory for %zu experiments: measure fewer forms", all);
    }
    if (stats != NULL) {
        batch->stats = stats;
        memset(stats + old, 0, (all - old) * sizeof *stats);
    }
    for (size_t left = all - old, count; left > 0 && status == IP_OK; left -= count) {
        size_t first = all - left;
        count = left < chunk ? left : chunk;
        status =
            batch_chunk_measure(batch, first, count, kernels, pointers, stats + first, meter, encoder, err);
        for (size_t i = 0; i < count; i++) {
            gen_kernel_fini(&kernels[i]);
            memset(&kernels[i], 0, sizeof kernels[i]);
            gen_program_fini(&batch->programs[first + i]);
            memset(&batch->programs[first + i], 0, sizeof batch->programs[first + i]);
        }
    }
    free(kernels);
    free(pointers);
    batch->measured = status == IP_OK ? all : old;
    return status;
}
