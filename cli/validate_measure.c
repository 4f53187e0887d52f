/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/kernels.h"
#include "cli/validate.h"
#include "generator/shapes.h"

enum { GROUP = 64, AGAIN = CLI_CASE_READINGS - 1 };

static bool is_ok(const struct cli_case *item) {
    return strncmp(item->status, "ok", 2) == 0;
}

static bool worth_another_run(const struct cli_case *item) {
    bool noise = strncmp(item->status, "disturbed", 9) == 0 || strncmp(item->status, "unstable", 8) == 0;
    return item->again && (noise || (is_ok(item) && !item->confirmed));
}

/* Notes a measurement that is to be confirmed, or confirms those before. */
static void case_note(struct cli_case *item, double cycles) {
    item->readings[item->reading_count++] = cycles;
    double agreed = cli_readings_agreed(item->readings, item->reading_count);
    item->confirmed = !isnan(agreed);
    item->measured = item->confirmed ? agreed : fmin(item->measured, cycles);
}

/* A measurement of a block that ran before. */
static void case_repeat(struct cli_case *item, const struct hx_stat *stat) {
    if (stat->verdict != HX_VERDICT_OK || isnan(stat->cycles)) {
        return;
    }
    if (!is_ok(item)) {
        item->measured = stat->cycles;
        item->spread = stat->spread;
        (void)snprintf(item->status, sizeof item->status, "ok");
    }
    item->spread = stat->cycles < item->measured ? stat->spread : item->spread;
    case_note(item, stat->cycles);
}

static void case_fill(struct cli_case *item, const struct hx_stat *stat, uint64_t fill) {
    bool measured = stat->verdict != HX_VERDICT_FAULT;
    if (!measured && item->status[0] != '\0') {
        item->done = !cli_fill_failed(stat);
        return; /* the first reason is kept */
    }
    item->measured = measured ? stat->cycles : NAN;
    item->spread = measured ? stat->spread : NAN;
    item->fill = fill;
    char buffer[160];
    const char *status = cli_status_text(measured, stat->verdict, stat->why, buffer);
    (void)snprintf(item->status, sizeof item->status, "%s", status);
    item->done = !cli_fill_failed(stat);
    if (is_ok(item) && item->again) {
        case_note(item, item->measured);
    }
}

static enum ip_status group_run(struct cli_samples *samples, const size_t *todo, size_t count,
                                enum cli_notion notion, uint64_t fill, bool again, struct cli_bench *bench,
                                struct ip_error *err) {
    struct cli_kernels kernels;
    enum ip_status status = cli_kernels_init(&kernels, count, err);
    if (status != IP_OK) {
        return status;
    }
    for (size_t i = 0; status == IP_OK && i < count; i++) {
        const struct ip_text *code = &samples->items[todo[i]].code;
        struct gen_program *program = &kernels.programs[i];
        status = cli_block_program(program, code, notion == CLI_NOTION_LOOP, fill, err);
        status = cli_kernels_note(&kernels, i, status, err);
    }
    if (status == IP_OK) {
        status = cli_kernels_measure(&kernels, bench, 0, err);
    }
    for (size_t i = 0; status == IP_OK && i < count; i++) {
        struct cli_case *item = &samples->items[todo[i]].cases[notion];
        if (again) {
            case_repeat(item, &kernels.stats[i]);
        } else {
            case_fill(item, &kernels.stats[i], fill);
        }
    }
    cli_kernels_fini(&kernels);
    return status;
}

enum ip_status cli_samples_measure(struct cli_samples *samples, enum cli_notion notion,
                                   struct cli_bench *bench, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < samples->count; i++) { /* what was read is left as it is */
        struct cli_case *item = &samples->items[i].cases[notion];
        item->again = !item->done || item->once;
        if (item->again && is_ok(item)) { /* by whoever was interrupted */
            case_note(item, item->measured);
        }
    }
    for (unsigned f = 0; f < CLI_FILLS + AGAIN * CLI_FILLS && status == IP_OK; f++) {
        bool again = f >= CLI_FILLS;
        size_t todo[GROUP], count = 0;
        uint64_t fill = cli_fills[f % CLI_FILLS];
        for (size_t i = 0; i <= samples->count && status == IP_OK; i++) {
            bool end = i == samples->count;
            struct cli_case *item = end ? NULL : &samples->items[i].cases[notion];
            if (!end && (again ? item->fill == fill && worth_another_run(item) : !item->done)) {
                todo[count++] = i;
            }
            if (count == GROUP || (end && count > 0)) {
                status = group_run(samples, todo, count, notion, fill, again, bench, err);
                count = 0;
                cli_bench_progress(bench, cli_notion_name(notion), i, samples->count);
            }
        }
    }
    for (size_t i = 0; i < samples->count && status == IP_OK; i++) {
        struct cli_case *item = &samples->items[i].cases[notion];
        if (item->again && is_ok(item) && !item->confirmed) {
            (void)snprintf(item->status, sizeof item->status,
                           "unstable: no two of %d measurements agree within %.0f %%", AGAIN + 1,
                           100 * CLI_READINGS_AGREEMENT);
        }
        item->done = true;
    }
    for (size_t i = 0; i < samples->count; i++) {
        struct cli_case *item = &samples->items[i].cases[notion];
        item->once = status != IP_OK && item->done && item->again && is_ok(item) && !item->confirmed;
    }
    return status;
}
