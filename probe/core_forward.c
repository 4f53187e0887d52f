/* SPDX-License-Identifier: Apache-2.0 */
/* probe/core_forward.c - store to load where another register names the place: in loops of few such pairs,
 * which a core may learn, and of more than it remembers. */
#include <math.h>

#include "probe/core_groups.h"
#include "probe/core_readings.h"

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
    status = status == IP_OK ? core_run(session, err) : status;
    if (status != IP_OK) {
        return status;
    }
    for (unsigned i = 0; i < PROBE_FORWARDS; i++) {
        cycles[i] = core_cycles(session, slots[i]);
    }
    struct probe_forward forward = probe_forward_read(cycles);
    const unsigned few = probe_forward_pairs[0], many = probe_forward_pairs[PROBE_FORWARDS - 1];
    status =
        isnan(forward.other)
            ? core_learn_stat(session, "store_forward_other", slots[0], err, "")
            : core_learn(session, "store_forward_other", forward.other, core_stat(session, slots[0])->spread,
                         err, "a loop of %u mov [r14], rax, mov rax, [rbx], the same place, and additions",
                         few);
    if (status == IP_OK) {
        status = isnan(forward.long_code)
                     ? core_learn_stat(session, "store_forward_long", slots[PROBE_FORWARDS - 1], err, "")
                     : core_learn(session, "store_forward_long", forward.long_code,
                                  core_stat(session, slots[PROBE_FORWARDS - 1])->spread, err,
                                  "a loop of %u of them", many);
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
