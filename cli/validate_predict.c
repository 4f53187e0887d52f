/* SPDX-License-Identifier: Apache-2.0 */
/* cli/validate_predict.c - predictions of a list of blocks, on all CPUs that this process may use. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/validate.h"
#include "common/cpus.h"
#include "oncore/loop.h"
#include "oncore/oncore.h"

enum {
    WORKERS_MAX = 64,
    SHARE_MIN = 128 /* blocks: for fewer a worker of its own, with costs of its own, does not pay */
};

bool cli_notion_wanted(const struct cli_settings *settings, enum cli_notion notion) {
    int wanted = settings->validate.notion; /* both unrolled loop */
    return wanted == 0 || wanted - 1 == (int)notion;
}

static enum ip_status block_predict(struct core_costs *costs, const struct cli_settings *settings,
                                    struct cli_sample *sample, enum cli_notion notion, struct ip_error *err) {
    struct cli_case *item = &sample->cases[notion];
    struct core_options options = {.loop = notion == CLI_NOTION_LOOP,
                                   .no_simulation = settings->validate.closed,
                                   .filled = true,
                                   .fill = item->fill != 0 ? item->fill : 0x12345600};
    struct core_prediction prediction = {0};
    struct ip_text code = {0}, why = {0};
    struct ip_error reason = {0};
    ip_text_append_bytes(&code, sample->code.data, sample->code.length);
    enum ip_status status = options.loop ? core_loop_close(&code, &reason) : IP_OK;
    if (status == IP_OK) {
        status = core_predict(costs, (const uint8_t *)ip_text_string(&code), code.length, &options,
                              &prediction, &reason);
    }
    if (status == IP_OK) {
        item->predicted = prediction.cycles;
        item->bound = (int)prediction.binding;
        item->missing = prediction.missing_count > 0;
        item->splits = prediction.splits;
        item->walks = prediction.walks;
        item->x87 = prediction.x87;
        if (item->missing) {
            const struct core_cost *cost = prediction.block.items[prediction.missing[0]].cost;
            ip_text_printf(&why, "'%s': %s", cost->form.syntax, cost->why);
        }
    } else if (status == IP_SYNTAX) {
        item->broken = true;
        ip_text_append(&why, reason.text);
        status = IP_OK;
    } else {
        *err = reason;
    }
    if (status == IP_OK && (code.failed || why.failed)) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for a block");
    }
    free(item->why);
    item->why = status == IP_OK ? why.data : NULL;
    if (status != IP_OK) {
        ip_text_fini(&why);
    }
    core_prediction_fini(&prediction);
    ip_text_fini(&code);
    return status;
}

/* Costs are made as they are met, so that each worker has its own. */
struct worker {
    pthread_t thread;
    const struct cli_settings *settings;
    const char *store_path;
    struct cli_sample *samples;
    size_t count;
    enum ip_status status;
    struct ip_error err;
};

static void *worker_run(void *self) {
    struct worker *worker = self;
    struct res_store *store = NULL;
    struct core_costs costs = {0};
    worker->status = res_store_open_readonly(&store, worker->store_path, &worker->err);
    if (worker->status == IP_OK) {
        worker->status = res_forms_need(store, &worker->err);
    }
    if (worker->status == IP_OK) {
        worker->status = core_costs_open(&costs, store, &worker->err);
    }
    for (unsigned n = 0; n < CLI_NOTIONS; n++) {
        for (size_t i = 0;
             cli_notion_wanted(worker->settings, n) && i < worker->count && worker->status == IP_OK; i++) {
            worker->status = block_predict(&costs, worker->settings, &worker->samples[i], n, &worker->err);
        }
    }
    core_costs_fini(&costs);
    res_store_close(store);
    return NULL;
}

static size_t workers_count(size_t blocks) {
    struct ip_cpus allowed;
    int cpus = ip_cpus_allowed(&allowed) == 0 ? ip_cpus_count(&allowed) : 1;
    size_t most = blocks / SHARE_MIN < WORKERS_MAX ? blocks / SHARE_MIN : WORKERS_MAX;
    most = (size_t)cpus < most ? (size_t)cpus : most;
    return most > 1 ? most : 1;
}

enum ip_status cli_samples_predict(struct cli_samples *samples, const struct cli_settings *settings,
                                   const char *store_path, struct ip_error *err) {
    struct worker workers[WORKERS_MAX] = {0};
    size_t count = workers_count(samples->count), started = 1;
    for (size_t w = 0, first = 0; w < count; w++) {
        size_t end = samples->count * (w + 1) / count;
        workers[w] = (struct worker){.settings = settings,
                                     .store_path = store_path,
                                     .samples = samples->items + first,
                                     .count = end - first};
        first = end;
    }
    while (started < count &&
           pthread_create(&workers[started].thread, NULL, worker_run, &workers[started]) == 0) {
        started++;
    }
    (void)worker_run(&workers[0]);
    for (size_t w = 1; w < count; w++) {
        if (w < started) {
            (void)pthread_join(workers[w].thread, NULL);
        } else {
            (void)worker_run(&workers[w]); /* no more threads to be had */
        }
    }
    for (size_t w = 0; w < count; w++) {
        if (workers[w].status != IP_OK) {
            *err = workers[w].err;
            return workers[w].status;
        }
    }
    return IP_OK;
}
