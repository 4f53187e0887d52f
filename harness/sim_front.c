/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/sim_front.h"

#include <stdlib.h>
#include <string.h>

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
    if (front->width > 0 && cycles > 0) { /* its slots are there at the end of them */
        cycle_next(front, cycles - (front->delivered > 0 ? 0 : 1));
    }
}

void hx_sim_front_end(struct hx_sim_front *front, unsigned cycles) {
    if (front->width > 0 && cycles > 0) {
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
    uint64_t signature = front->width;
    if (front->width == 0) {
        return signature;
    }
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    signature = (signature ^ (uint64_t)(now - front->cycle)) * factor + front->delivered;
    for (unsigned i = 0; i < front->queue; i++) {
        int64_t renamed = front->renamed[(front->slots + i) % front->queue];
        uint64_t ahead =
            renamed > front->cycle ? (uint64_t)(renamed - front->cycle) : 0; /* else it is free */
        signature = (signature ^ ahead) * factor + (signature >> 29);
    }
    return signature;
}
