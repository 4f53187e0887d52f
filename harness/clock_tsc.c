/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <x86intrin.h>

#include "harness/clock.h"

/* LFENCE before RDTSC waits for what came before; the one behind it keeps what follows from starting early
 * (Intel SDM vol. 2, RDTSC). */
static uint64_t tsc_begin(const struct hx_clock *clock) {
    (void)clock;
    _mm_lfence();
    uint64_t ticks = __rdtsc();
    _mm_lfence();
    return ticks;
}

static uint64_t tsc_end(const struct hx_clock *clock) {
    (void)clock;
    unsigned processor = 0;
    _mm_lfence();
    uint64_t ticks = __rdtscp(&processor);
    _mm_lfence();
    return ticks;
}

enum ip_status hx_clock_tsc_init(struct hx_clock *clock, struct ip_error *err) {
    int mode = PR_TSC_ENABLE;
    if (prctl(PR_GET_TSC, &mode) == 0 && mode != PR_TSC_ENABLE) {
        return ip_fail(
            err, IP_CAPABILITY,
            "timer tsc: RDTSC is disabled in this process (PR_SET_TSC); use --timer papi or sim:FILE");
    }
    memset(clock, 0, sizeof *clock);
    clock->unit = "ticks";
    clock->begin = tsc_begin;
    clock->end = tsc_end;
    return IP_OK;
}
