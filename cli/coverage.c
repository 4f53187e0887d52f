/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/coverage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/store.h"
#include "results/store.h"

static const struct cli_column reason_columns[] = {
    {.name = "reason"},
    {.name = "forms"},
    {.name = NULL},
};

const struct cli_column cli_coverage_columns[] = {
    {.name = "isa"},
    {.name = "known"},
    {.name = "scanned"},
    {.name = "runnable"},
    {.name = "measured"},
    {.name = "not_measurable"},
    {.name = "reasons", .items = reason_columns},
    {.name = NULL},
};

enum { REASONS_MAX = 64, REASON_BYTES = 128 };

struct extension {
    char name[20];
    size_t known, scanned, runnable, measured, not_measurable;
    char reasons[REASONS_MAX][REASON_BYTES];
    size_t counts[REASONS_MAX];
    size_t reason_count;
};

/* Counts a reason, without the form that it may begin with, so that one reason is one line. */
static void reason_count(struct extension *extension, const char *why) {
    const char *rest = why[0] == '\'' ? strchr(why + 1, '\'') : NULL;
    why = rest != NULL && rest[1] == ' ' ? rest + 2 : why;
    size_t i = 0;
    while (i < extension->reason_count && strcmp(extension->reasons[i], why) != 0) {
        i++;
    }
    if (i == REASONS_MAX) {
        i--; /* the last one stands for all that follow */
    } else if (i == extension->reason_count) {
        (void)snprintf(extension->reasons[i], REASON_BYTES, "%.127s", why[0] != '\0' ? why : "unknown");
        extension->reason_count++;
    }
    extension->counts[i]++;
}

static enum ip_status form_count(struct extension *extension, const struct isa_form *form,
                                 struct res_store *store, struct ip_error *err) {
    bool known = false;
    enum ip_status status =
        store != NULL ? res_form_known(store, form->syntax, 0, false, &known, err) : IP_OK;
    extension->known++;
    if (status != IP_OK || !known) {
        if (status == IP_OK && form->obstacle != ISA_OBSTACLE_NONE) {
            extension->not_measurable++;
            reason_count(extension, form->note);
        }
        return status;
    }
    struct res_form found = {0};
    status = res_form_get(store, form->syntax, &found, err);
    if (status == IP_OK) {
        bool illegal = strcmp(found.status, res_status_name(RES_STATUS_ILLEGAL)) == 0;
        bool unmeasurable = strcmp(found.status, res_status_name(RES_STATUS_UNMEASURABLE)) == 0;
        bool fault = strcmp(found.status, res_status_name(RES_STATUS_FAULT)) == 0;
        extension->scanned++;
        extension->runnable += !illegal && !unmeasurable;
        extension->measured += !illegal && !unmeasurable && !fault;
        extension->not_measurable += illegal || unmeasurable || fault;
        if (illegal) {
            reason_count(extension, "this CPU lacks it");
        } else if (unmeasurable || fault) {
            reason_count(extension, found.why);
        }
    }
    res_form_fini(&found);
    return status;
}

static void extension_write(struct cli_output *output, const struct extension *extension) {
    struct cli_value values[REASONS_MAX * 2];
    struct ip_lines cells = {0};
    struct ip_text text = {0};
    const size_t numbers[] = {extension->known, extension->scanned, extension->runnable, extension->measured,
                              extension->not_measurable};
    ip_lines_add(&cells, extension->name);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        ip_lines_printf(&cells, "%zu", numbers[i]);
    }
    for (size_t i = 0; i < extension->reason_count; i++) {
        values[2 * i] = cli_text(extension->reasons[i]);
        values[2 * i + 1] = cli_integer((int64_t)extension->counts[i]);
        ip_text_printf(&text, "%s%zu %s", i > 0 ? "; " : "", extension->counts[i], extension->reasons[i]);
    }
    ip_lines_add(&cells, ip_text_string(&text));
    cells.failed = cells.failed || text.failed;
    ip_text_fini(&text);
    const struct cli_value row[] = {cli_text(extension->name),
                                    cli_integer((int64_t)extension->known),
                                    cli_integer((int64_t)extension->scanned),
                                    cli_integer((int64_t)extension->runnable),
                                    cli_integer((int64_t)extension->measured),
                                    cli_integer((int64_t)extension->not_measurable),
                                    cli_list(values, extension->reason_count)};
    cli_output_row(output, row, &cells);
    ip_lines_fini(&cells);
}

/* NULL where there is no default store yet: nothing is measured. */
static enum ip_status store_open(struct res_store **store, const struct cli_settings *settings,
                                 struct ip_error *err) {
    struct ip_text path = {0};
    enum ip_status status = cli_store_find(&path, settings, err);
    if (status == IP_OK && (settings->store != NULL || access(ip_text_string(&path), F_OK) == 0)) {
        status = res_store_open_readonly(store, ip_text_string(&path), err);
    }
    ip_text_fini(&path);
    return status;
}

enum ip_status cli_coverage_write(struct cli_output *output, const struct cli_forms *forms,
                                  const struct cli_settings *settings, struct ip_error *err) {
    struct res_store *store = NULL;
    enum ip_status status = store_open(&store, settings, err);
    struct extension *extension = calloc(1, sizeof *extension);
    bool *done = calloc(forms->count + 1, sizeof *done);
    if (status == IP_OK && (extension == NULL || done == NULL)) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", forms->count);
    }
    for (size_t i = 0; i < forms->count && status == IP_OK; i++) {
        if (done[i]) {
            continue;
        }
        memset(extension, 0, sizeof *extension);
        (void)snprintf(extension->name, sizeof extension->name, "%s", forms->items[i]->extension);
        for (size_t j = i; j < forms->count && status == IP_OK; j++) {
            if (!done[j] && strcmp(forms->items[j]->extension, extension->name) == 0) {
                done[j] = true;
                status = form_count(extension, forms->items[j], store, err);
            }
        }
        if (status == IP_OK) {
            extension_write(output, extension);
        }
    }
    free(extension);
    free(done);
    res_store_close(store);
    return status;
}
