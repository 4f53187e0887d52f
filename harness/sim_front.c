/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/sim_front.h"

#include <stdlib.h>
#include <string.h>

#include "harness/sim_hash.h"

bool hx_sim_front_init(struct hx_sim_front *front, unsigned width, unsigned queue) {
    *front = (struct hx_sim_front){.width = width, .queue = queue};
    front->renamed = width > 0 ? calloc(queue, sizeof *front->renamed) : NULL;
    return width == 0 || front->renamed != NULL;
}

void hx_sim_front_fini(struct hx_sim_front *front) {
    free(front->renamed);
    memset(front, 0, sizeof *front);
}

static void cycle_next(struct hx_sim_front *front, unsigned cycles) {
    front->cycle += cycles;
    front->delivered = 0;
}

void hx_sim_front_begin(struct hx_sim_front *front, unsigned cycles) {
    if (cycles > 0) { /* its slots are there at the end of them */
        cycle_next(front, cycles - (front->delivered > 0 ? 0 : 1));
    }
}

void hx_sim_front_end(struct hx_sim_front *front, unsigned cycles) {
    if (cycles > 0) {
        cycle_next(front, 1);
    }
}

int64_t hx_sim_front_slot(struct hx_sim_front *front) {
    int64_t place = front->renamed[front->slots % front->queue];
    if (place > front->cycle) {
        front->cycle = place;
        front->delivered = 0;
    }
    if (front->delivered == front->width) {
        cycle_next(front, 1);
    }
    front->delivered++;
    return front->cycle;
}

void hx_sim_front_renamed(struct hx_sim_front *front, int64_t cycle) {
    front->renamed[front->slots++ % front->queue] = cycle;
}

uint64_t hx_sim_front_signature(const struct hx_sim_front *front, int64_t now) {
    uint64_t signature = front->delivered;
    if (front->width == 0) {
        return signature;
    }
    signature = hx_sim_hash(signature, now, front->cycle); /* how far it is ahead, */
    signature = hx_sim_hash(signature, front->cycle, now); /* or busy */
    for (unsigned i = 0; i < front->queue; i++) {          /* places that are not free yet */
        int64_t renamed = front->renamed[(front->slots + i) % front->queue];
        signature = hx_sim_hash(signature, renamed, front->cycle);
    }
    return signature;
}
