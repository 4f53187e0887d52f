/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/holding.h"

#include <stdlib.h>
#include <string.h>

static int held_compare(const void *a, const void *b) {
    uintptr_t x = (uintptr_t)((const struct hx_held *)a)->kernel;
    uintptr_t y = (uintptr_t)((const struct hx_held *)b)->kernel;
    return (x > y) - (x < y);
}

enum ip_status hx_holding_begin(struct hx_holding *holding, struct hx_timer *timer,
                                const struct gen_kernel *const *kernels, size_t count, uint32_t rounds,
                                struct ip_error *err) {
    struct hx_held *items = calloc(count + 1, sizeof *items);
    const struct gen_kernel **list = calloc(count + 1, sizeof(const struct gen_kernel *));
    size_t used = 0;
    enum ip_status status = IP_OK;
    if (items == NULL || list == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for %zu kernels", count);
    }
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (kernels[i] != NULL) {
            items[used] = (struct hx_held){.kernel = kernels[i], .number = (uint32_t)used};
            list[used++] = kernels[i];
        }
    }
    if (status == IP_OK && used > 0) {
        status = timer->ops->hold(timer, list, used, rounds, err);
    }
    free(list);
    if (status != IP_OK || used == 0) {
        free(items);
        return status;
    }
    qsort(items, used, sizeof *items, held_compare);
    *holding = (struct hx_holding){.items = items, .count = used};
    return IP_OK;
}

void hx_holding_end(struct hx_holding *holding, struct hx_timer *timer) {
    if (holding->count > 0) {
        timer->ops->release(timer);
    }
    free(holding->items);
    memset(holding, 0, sizeof *holding);
}

struct hx_held *hx_holding_find(const struct hx_holding *holding, const struct gen_kernel *kernel) {
    const struct hx_held wanted = {.kernel = kernel};
    return holding->count > 0
               ? bsearch(&wanted, holding->items, holding->count, sizeof *holding->items, held_compare)
               : NULL;
}

void hx_holding_look(const struct hx_holding *holding, const struct gen_kernel *kernel,
                     const struct hx_estimate *look) {
    struct hx_held *held = hx_holding_find(holding, kernel);
    if (held != NULL) {
        held->looked = true;
        held->look = *look;
    }
}
