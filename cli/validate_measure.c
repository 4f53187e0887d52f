/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/kernels.h"
#include "cli/validate.h"
#include "generator/shapes.h"

enum { GROUP = 64, RETRIES = 3 };

/* A measurement that spreads by more is taken again, and the steadiest counts: a neighbour on the core makes
 * short blocks slower by tens of per cent. */
static const double UNSTEADY = 0.02;

/* Contents of registers and memory, in the order of trial: the first is BHive's. */
static const uint64_t fills[] = {0x12345600, 0x20000, 1};
enum { FILLS = sizeof fills / sizeof fills[0] };

/* Would other contents help? */
static bool worth_another_fill(const struct hx_stat *stat) {
    return stat->verdict == HX_VERDICT_FAULT &&
           (stat->outcome == HX_OUTCOME_ARITHMETIC || stat->outcome == HX_OUTCOME_PAGES ||
            stat->outcome == HX_OUTCOME_SEGFAULT || stat->outcome == HX_OUTCOME_TIMEOUT ||
            stat->outcome == HX_OUTCOME_WRECKED);
}

static bool worth_a_retry(const struct cli_case *item) {
    bool noise = strncmp(item->status, "disturbed", 9) == 0 || strncmp(item->status, "unstable", 8) == 0;
    return item->retry && (noise || item->spread > UNSTEADY);
}

static void case_fill(struct cli_case *item, const struct hx_stat *stat, uint64_t fill) {
    bool measured = stat->verdict != HX_VERDICT_FAULT;
    bool known = item->retry && !isnan(item->measured);
    if (known && (!measured || isnan(stat->cycles) || stat->spread >= item->spread)) {
        item->done = true;
        return; /* no better than what is there */
    }
    if (!measured && item->status[0] != '\0') {
        item->done = !worth_another_fill(stat);
        return; /* the first reason is kept */
    }
    item->measured = measured ? stat->cycles : NAN;
    item->spread = measured ? stat->spread : NAN;
    item->fill = fill;
    char buffer[160];
    const char *status = cli_status_text(measured, stat->verdict, stat->why, buffer);
    (void)snprintf(item->status, sizeof item->status, "%s", status);
    item->done = !worth_another_fill(stat);
}

static enum ip_status group_run(struct cli_samples *samples, const size_t *todo, size_t count,
                                enum cli_notion notion, uint64_t fill, struct cli_bench *bench,
                                struct ip_error *err) {
    struct cli_kernels kernels;
    enum ip_status status = cli_kernels_init(&kernels, count, err);
    if (status != IP_OK) {
        return status;
    }
    for (size_t i = 0; status == IP_OK && i < count; i++) {
        const struct ip_text *code = &samples->items[todo[i]].code;
        struct gen_program *program = &kernels.programs[i];
        status = gen_block_program(program, (const uint8_t *)code->data, code->length, fill, err);
        if (status == IP_OK && notion == CLI_NOTION_LOOP) {
            program->one_loop = true;
            program->copies = 1;
        }
        status = cli_kernels_note(&kernels, i, status, err);
    }
    if (status == IP_OK) {
        status = cli_kernels_measure(&kernels, bench, 0, err);
    }
    for (size_t i = 0; status == IP_OK && i < count; i++) {
        case_fill(&samples->items[todo[i]].cases[notion], &kernels.stats[i], fill);
    }
    cli_kernels_fini(&kernels);
    return status;
}

enum ip_status cli_samples_measure(struct cli_samples *samples, enum cli_notion notion,
                                   struct cli_bench *bench, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (unsigned f = 0; f < FILLS + RETRIES && status == IP_OK; f++) {
        size_t todo[GROUP], count = 0;
        uint64_t fill = f < FILLS ? fills[f] : fills[0];
        for (size_t i = 0; i <= samples->count && status == IP_OK; i++) {
            bool end = i == samples->count;
            struct cli_case *item = end ? NULL : &samples->items[i].cases[notion];
            if (f == 0 && !end) {
                item->retry = !item->done; /* what was read is left as it is */
            }
            if (!end && (f < FILLS ? !item->done : worth_a_retry(item) && item->fill == fill)) {
                todo[count++] = i;
            }
            if (count == GROUP || (end && count > 0)) {
                status = group_run(samples, todo, count, notion, fill, bench, err);
                count = 0;
                cli_bench_progress(bench, cli_notion_name(notion), i, samples->count);
            }
        }
    }
    for (size_t i = 0; i < samples->count && status == IP_OK; i++) {
        samples->items[i].cases[notion].done = true;
    }
    return status;
}
