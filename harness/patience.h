/* SPDX-License-Identifier: Apache-2.0 */
/* harness/patience.h - waiting, for a limited time in all, until a neighbour on the core goes away. */
#ifndef ISAPROBE_HARNESS_PATIENCE_H
#define ISAPROBE_HARNESS_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hx_patience {
    bool given; /* else there is none, and none can be earned */
    bool naps;  /* really: who replays samples has no need to */
    uint32_t left_ms;
    uint32_t waited_ms; /* so far, in all */
    uint32_t kernels;   /* measured since it last grew */
};

/* Five seconds; `naps`: they pass. */
void hx_patience_init(struct hx_patience *patience, bool naps);

/* Whoever measures much may wait more: a millisecond for every ten kernels that nobody disturbed, up to five
 * seconds. */
void hx_patience_earn(struct hx_patience *patience, size_t kernels);

/* Sleeps for a few ms (where it naps) and takes them off. Returns false, at once, when nothing is left; so
 * does an all-zero patience. */
bool hx_patience_wait(struct hx_patience *patience);

#endif
