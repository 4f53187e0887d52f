/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/timer.h"

#include <string.h>

#include "harness/native.h"
#include "harness/replay.h"
#include "harness/sim.h"

const struct hx_timer_ops *const hx_timers[] = {&hx_timer_tsc, &hx_timer_papi, &hx_timer_sim,
                                                &hx_timer_replay, NULL};

enum ip_status hx_timer_open(struct hx_timer *timer, const char *specification,
                             const struct hx_references *references, int cpu, struct ip_error *err) {
    size_t length = strcspn(specification, ":");
    const char *argument = specification[length] == ':' ? specification + length + 1 : "";
    for (size_t i = 0; hx_timers[i] != NULL; i++) {
        if (strlen(hx_timers[i]->name) == length && strncmp(hx_timers[i]->name, specification, length) == 0) {
            struct hx_timer opened = {.ops = hx_timers[i], .references = references, .cpu = cpu};
            enum ip_status status = hx_timers[i]->open(&opened, argument, err);
            if (status == IP_OK) {
                *timer = opened;
            }
            return status;
        }
    }
    return ip_fail(err, IP_USAGE, "unknown timer '%s'; there are tsc, papi[:EVENT], sim:FILE and replay:FILE",
                   specification);
}

void hx_timer_close(struct hx_timer *timer) {
    if (timer->ops != NULL) {
        timer->ops->close(timer);
    }
    memset(timer, 0, sizeof *timer);
}

const char *hx_outcome_name(enum hx_outcome outcome) {
    static const char *const names[] = {
        [HX_OUTCOME_OK] = "ok",
        [HX_OUTCOME_ILLEGAL] = "illegal instruction",
        [HX_OUTCOME_SEGFAULT] = "segmentation fault",
        [HX_OUTCOME_ARITHMETIC] = "arithmetic exception",
        [HX_OUTCOME_TRAP] = "trap",
        [HX_OUTCOME_SYSCALL] = "system call",
        [HX_OUTCOME_TIMEOUT] = "did not end in time",
        [HX_OUTCOME_WRECKED] = "wrecked the caller's state",
        [HX_OUTCOME_PAGES] = "memory that cannot be mapped",
        [HX_OUTCOME_DIED] = "the measuring process died",
        [HX_OUTCOME_MISSING] = "no recorded samples",
        [HX_OUTCOME_UNKNOWN] = "instruction unknown to the simulated CPU",
    };
    return (size_t)outcome < sizeof names / sizeof names[0] ? names[outcome] : "unknown outcome";
}

void hx_samples_place(struct hx_samples *samples, double *values, uint32_t rounds) {
    samples->shorter = values;
    samples->longer = values + rounds;
    samples->reference_shorter = values + 2 * (size_t)rounds;
    samples->reference_longer = values + 3 * (size_t)rounds;
    samples->sentinel_shorter = values + 4 * (size_t)rounds;
    samples->sentinel_longer = values + 5 * (size_t)rounds;
}

static bool is_there(const struct hx_references *references, enum hx_sentinel sentinel) {
    return references->sentinels[sentinel].longer.bytes != NULL;
}

enum hx_sentinel hx_references_sentinel(const struct hx_references *references,
                                        const struct gen_kernel *kernel) {
    if (kernel != NULL && kernel->forwards && is_there(references, HX_SENTINEL_FORWARDS)) {
        return HX_SENTINEL_FORWARDS;
    }
    bool loads = kernel != NULL && kernel->touches_memory && !kernel->fills_issue &&
                 is_there(references, HX_SENTINEL_LOADS);
    return loads ? HX_SENTINEL_LOADS : HX_SENTINEL_NOPS;
}
