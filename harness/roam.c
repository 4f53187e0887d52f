/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/roam.h"

void hx_bench_roam(struct hx_bench *bench) {
    if (!bench->roams) {
        return;
    }
    int from = bench->timer.cpu;
    if (bench->timer.ops->move(&bench->timer, bench->companion.cpu)) {
        hx_companion_move(&bench->companion, from);
    }
}
