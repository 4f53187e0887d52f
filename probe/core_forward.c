/* SPDX-License-Identifier: Apache-2.0 */
/* probe/core_forward.c - store to load where another register names the place: in loops of few such pairs,
 * which a core may learn, and of more than it remembers. */
#include <math.h>
#include <stdio.h>

#include "probe/core_groups.h"
#include "probe/core_readings.h"

/* The value that a kernel told, or why it told none. */
static enum ip_status learn_or_why(struct core_session *session, const char *key, double value, size_t slot,
                                   const char *how, struct ip_error *err) {
    return isnan(value) ? core_learn_stat(session, key, slot, err, "")
                        : core_learn(session, key, value, core_stat(session, slot)->spread, err, "%s", how);
}

enum ip_status core_forward_measure(struct core_session *session, struct ip_error *err) {
    size_t slots[PROBE_FORWARDS];
    double cycles[PROBE_FORWARDS];
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < PROBE_FORWARDS && status == IP_OK; i++) {
        struct gen_program program;
        core_program_init(&program, "core: stores loaded through another register, %u",
                          probe_forward_pairs[i]);
        core_memory_fill(&program, 0);
        program.copies = probe_forward_pairs[i];
        program.one_loop = true;
        core_lines(&program.init, "mov rbx, r14", 1);
        /* The addition keeps a chain that takes no time from being bound by something else. */
        core_lines(&program.unit, "mov [r14], rax; mov rax, [rbx]; add rax, rcx", 1);
        status = core_add(session, &program, &slots[i], err);
    }
    status = status == IP_OK ? core_run_cycles(session, slots, PROBE_FORWARDS, cycles, err) : status;
    if (status != IP_OK) {
        return status;
    }
    const struct probe_forward forward = probe_forward_read(cycles);
    char how[PROBE_CORE_HOW_MAX];
    (void)snprintf(how, sizeof how,
                   "a loop of %u mov [r14], rax, mov rax, [rbx], the same place, and additions",
                   probe_forward_pairs[0]);
    status = learn_or_why(session, "store_forward_other", forward.other, slots[0], how, err);
    if (status == IP_OK) {
        (void)snprintf(how, sizeof how, "a loop of %u of them", probe_forward_pairs[PROBE_FORWARDS - 1]);
        status = learn_or_why(session, "store_forward_long", forward.long_code, slots[PROBE_FORWARDS - 1],
                              how, err);
    }
    if (status == IP_OK) {
        const char *none = isnan(forward.other) || isnan(forward.long_code)
                               ? "not known: the kernels were not steady"
                               : "not seen: loops of few and of many take the same time each";
        status = core_learn(session, "store_forward_pairs", forward.pairs, 0, err, "%s",
                            isnan(forward.pairs) ? none : "so many of them in a loop are as fast as few");
    }
    return status;
}
