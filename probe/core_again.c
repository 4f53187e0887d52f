/* SPDX-License-Identifier: Apache-2.0 */
/* probe/core_again.c - operations that take their port twice, since they are issued to it with what they wait
 * for, in vain, and once more when that is done. */
#include <math.h>

#include "probe/core_groups.h"

/* Of two operations, as many as there are ports for, the second waits for the first, or for none. The address
 * computation is long enough that no line of code holds more of them than issue. */
enum { WAITING, READY, KERNELS };
static const char *const pairs[KERNELS] = {"lea r8, [rax+0x1000]; cmp rcx, r8",
                                           "lea r8, [rax+0x1000]; cmp rcx, rdx"};

/* Three uses of ports for two operations, or two. */
static const double TWICE = 1.3;

enum ip_status core_again_measure(struct core_session *session, struct ip_error *err) {
    static const char key[] = "issue_again";
    if (probe_core_get(session->settled, PROBE_CORE_PORTS_IN_TURN) > 0.5) {
        return core_learn(session, key, NAN, NAN, err, "not asked: ports are given in turn");
    }
    size_t slots[KERNELS];
    double cycles[KERNELS];
    enum ip_status status = core_units_add(session, "operations issued twice", pairs, KERNELS, slots, err);
    status = status == IP_OK ? core_run_cycles(session, slots, KERNELS, cycles, err) : status;
    if (status != IP_OK) {
        return status;
    }
    if (isnan(cycles[WAITING]) || isnan(cycles[READY])) {
        return core_learn_stat(session, key, slots[isnan(cycles[WAITING]) ? WAITING : READY], err, "");
    }
    return core_learn(session, key, cycles[WAITING] > TWICE * cycles[READY], 0, err,
                      "LEA and a CMP that waits for it: %.2f cycles, one that does not: %.2f",
                      cycles[WAITING], cycles[READY]);
}
