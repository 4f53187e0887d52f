/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/patience.h"

#include <time.h>

/* Neighbours in virtual machines were seen to stay for 10 to 50 ms, and now and then for seconds. */
enum { NAP_MS = 4, PATIENCE_MS = 5000, KERNELS_PER_MS = 10 };

void hx_patience_init(struct hx_patience *patience, bool naps) {
    *patience = (struct hx_patience){.given = true, .naps = naps, .left_ms = PATIENCE_MS};
}

void hx_patience_earn(struct hx_patience *patience, size_t kernels) {
    if (!patience->given) {
        return;
    }
    patience->kernels += (uint32_t)kernels;
    patience->left_ms += patience->kernels / KERNELS_PER_MS;
    patience->kernels %= KERNELS_PER_MS;
    if (patience->left_ms > PATIENCE_MS) {
        patience->left_ms = PATIENCE_MS;
    }
}

bool hx_patience_wait(struct hx_patience *patience) {
    if (patience->left_ms == 0) {
        return false;
    }
    uint32_t milliseconds = patience->left_ms < NAP_MS ? patience->left_ms : NAP_MS;
    const struct timespec nap = {.tv_nsec = (long)milliseconds * 1000000L};
    if (patience->naps) {
        (void)nanosleep(&nap, NULL);
    }
    patience->left_ms -= milliseconds;
    patience->waited_ms += milliseconds;
    return true;
}
