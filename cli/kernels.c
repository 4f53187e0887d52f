/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/shapes.h"

const uint64_t cli_fills[CLI_FILLS] = {0x12345600, 0x20000, 1};

bool cli_fill_failed(const struct hx_stat *stat) {
    return stat->verdict == HX_VERDICT_FAULT &&
           (stat->outcome == HX_OUTCOME_ARITHMETIC || stat->outcome == HX_OUTCOME_PAGES ||
            stat->outcome == HX_OUTCOME_SEGFAULT || stat->outcome == HX_OUTCOME_TIMEOUT ||
            stat->outcome == HX_OUTCOME_WRECKED);
}

enum ip_status cli_block_program(struct gen_program *program, const struct ip_text *code, bool loop,
                                 uint64_t fill, struct ip_error *err) {
    enum ip_status status = gen_block_program(program, (const uint8_t *)code->data, code->length, fill, err);
    if (status == IP_OK && loop) {
        program->one_loop = true;
        program->copies = 1;
    }
    return status;
}

enum ip_status cli_kernels_init(struct cli_kernels *kernels, size_t count, struct ip_error *err) {
    memset(kernels, 0, sizeof *kernels);
    struct cli_kernels made = {
        .programs = calloc(count + 1, sizeof *made.programs),
        .usable = calloc(count + 1, sizeof *made.usable),
        .kernels = calloc(count + 1, sizeof *made.kernels),
        .stats = calloc(count + 1, sizeof *made.stats),
        .count = count,
    };
    if (made.programs == NULL || made.usable == NULL || made.kernels == NULL || made.stats == NULL) {
        free(made.programs);
        free(made.usable);
        free(made.kernels);
        free(made.stats);
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu kernels", count);
    }
    *kernels = made;
    return IP_OK;
}

void cli_kernels_fini(struct cli_kernels *kernels) {
    for (size_t i = 0; i < kernels->count; i++) {
        if (kernels->usable[i]) {
            gen_program_fini(&kernels->programs[i]);
        }
        gen_kernel_fini(&kernels->kernels[i]);
    }
    free(kernels->programs);
    free(kernels->usable);
    free(kernels->kernels);
    free(kernels->stats);
    memset(kernels, 0, sizeof *kernels);
}

static void fault_note(struct hx_stat *stat, const char *why) {
    memset(stat, 0, sizeof *stat);
    stat->verdict = HX_VERDICT_FAULT;
    stat->outcome = HX_OUTCOME_DIED;
    stat->cycles = stat->spread = stat->low = stat->high = NAN;
    (void)snprintf(stat->why, sizeof stat->why, "%.127s", why);
}

/* A reason to record, not a failure of the program. */
static bool is_fact(enum ip_status status) {
    return status == IP_SYNTAX || status == IP_UNSUPPORTED;
}

enum ip_status cli_kernels_note(struct cli_kernels *kernels, size_t i, enum ip_status status,
                                struct ip_error *err) {
    if (status == IP_OK) {
        kernels->usable[i] = true;
        return IP_OK;
    }
    fault_note(&kernels->stats[i], err->text);
    return is_fact(status) ? IP_OK : status;
}

/* Builds what can be built; the others get their reason. */
static enum ip_status kernels_build(struct cli_kernels *kernels, struct gen_encoder *encoder, unsigned copies,
                                    struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t i = 0; status == IP_OK && i < kernels->count; i++) {
        if (kernels->usable[i]) {
            status = gen_encoder_program_add(encoder, &kernels->programs[i], err);
        }
    }
    if (status == IP_OK) {
        status = gen_encoder_flush(encoder, err);
    }
    for (size_t i = 0; status == IP_OK && i < kernels->count; i++) {
        if (!kernels->usable[i]) {
            continue;
        }
        status = gen_kernel_build(&kernels->kernels[i], &kernels->programs[i], encoder, copies, err);
        if (is_fact(status)) {
            fault_note(&kernels->stats[i], err->text);
            gen_program_fini(&kernels->programs[i]);
            kernels->usable[i] = false;
            status = IP_OK;
        }
    }
    return status;
}

/* A loop takes a cycle for its branch, at least. What takes less in all copies of the short loop hides behind
 * it, and the difference of the two lengths is then less than the copies take: nothing, or less than that. */
static const double LOOP_CYCLES = 0.95;

static void few_copies_doubt(struct hx_stat *stat, const struct gen_kernel *kernel) {
    const double short_loop = stat->cycles * kernel->forms_per_unit * kernel->shorter.copies;
    if (stat->verdict == HX_VERDICT_OK && short_loop < LOOP_CYCLES) {
        stat->verdict = HX_VERDICT_UNSTABLE;
        (void)snprintf(stat->why, sizeof stat->why,
                       "unstable: so few copies (%u) hide behind the loop's own cycle; use a larger --unroll",
                       (unsigned)kernel->shorter.copies);
    }
}

enum ip_status cli_kernels_measure(struct cli_kernels *kernels, struct cli_bench *bench, unsigned copies,
                                   struct ip_error *err) {
    enum ip_status status = kernels_build(kernels, &bench->bench.encoder, copies, err);
    if (status != IP_OK) {
        return status;
    }
    const struct gen_kernel **run = calloc(kernels->count + 1, sizeof *run);
    struct hx_stat *stats = calloc(kernels->count + 1, sizeof *stats);
    size_t count = 0;
    if (run == NULL || stats == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for %zu kernels", kernels->count);
    }
    for (size_t i = 0; status == IP_OK && i < kernels->count; i++) {
        if (kernels->usable[i]) {
            run[count++] = &kernels->kernels[i];
        }
    }
    if (status == IP_OK && count > 0) {
        status = hx_measure(&bench->meter, run, count, stats, err);
    }
    for (size_t i = 0, next = 0; status == IP_OK && i < kernels->count; i++) {
        if (kernels->usable[i]) {
            kernels->stats[i] = stats[next++];
            if (copies != 0) {
                few_copies_doubt(&kernels->stats[i], &kernels->kernels[i]);
            }
        }
    }
    free(run);
    free(stats);
    return status;
}
