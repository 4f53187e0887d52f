/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <x86intrin.h>

#include "harness/clock.h"

/* LFENCE before RDTSC waits for what came before; the one behind it keeps what follows from starting early
 * (Intel SDM vol. 2, RDTSC). No RDTSCP: it adds nothing between two fences, and virtual machines of a plain
 * CPU model do not have it. */
static uint64_t tsc_read(const struct hx_clock *clock) {
    (void)clock;
    _mm_lfence();
    uint64_t ticks = __rdtsc();
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
    clock->begin = tsc_read;
    clock->end = tsc_read;
    return IP_OK;
}
