/* SPDX-License-Identifier: Apache-2.0 */
/* probe/core_forward.c - store to load where the same register names the place, or another one, or RSP that
 * was written between: in loops of few such pairs, which a core may learn, and of more than it remembers. */
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

/* The additions keep a chain that takes no time from being bound by something else: RSP's own takes two
 * cycles. What an adder of decode follows, if it does, names a place as if it had not been written. */
static const struct {
    const char *key, *unit, *how;
    unsigned additions, pairs; /* position in probe_forward_pairs */
} named[] = {
    {"store_forward", "mov [r14], rax; mov rax, [r14]",
     "a loop of few mov [r14], rax, mov rax, [r14] and an addition, less its one cycle", 1, 1},
    {"store_forward_many", "mov [r14], rax; mov rax, [r14]", "long code of them", 1, PROBE_FORWARDS - 1},
    {"store_forward_added", "mov [rsp-8], rax; sub rsp, 32; mov rax, [rsp+24]; add rsp, 32",
     "long code of mov [rsp-8], rax, sub rsp, 32, mov rax, [rsp+24], add rsp, 32", 3, PROBE_FORWARDS - 1},
    {"store_forward_written", "mov [rsp-8], rax; lea rsp, [rsp-32]; mov rax, [rsp+24]; lea rsp, [rsp+32]",
     "a loop of few such pairs with LEA of RSP", 3, 0},
};
enum { NAMED = sizeof named / sizeof named[0] };

static enum ip_status forward_add(struct core_session *session, const char *init, const char *unit,
                                  unsigned additions, unsigned pairs, size_t *slot, struct ip_error *err) {
    struct gen_program program;
    core_program_init(&program, "core: %u times %s", pairs, unit);
    core_memory_fill(&program, 0);
    program.copies = pairs;
    program.one_loop = true;
    core_lines(&program.init, init, 1);
    core_lines(&program.unit, unit, 1);
    core_lines(&program.unit, "add rax, rcx", additions);
    return core_add(session, &program, slot, err);
}

static enum ip_status named_measure(struct core_session *session, struct ip_error *err) {
    size_t slots[NAMED];
    double cycles[NAMED];
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < NAMED && status == IP_OK; i++) {
        status = forward_add(session, "", named[i].unit, named[i].additions,
                             probe_forward_pairs[named[i].pairs], &slots[i], err);
    }
    status = status == IP_OK ? core_run_cycles(session, slots, NAMED, cycles, err) : status;
    for (unsigned i = 0; i < NAMED && status == IP_OK; i++) {
        double value = isnan(cycles[i]) ? NAN : fmax(0.0, cycles[i] - named[i].additions);
        status = learn_or_why(session, named[i].key, value, slots[i], named[i].how, err);
    }
    return status;
}

enum ip_status core_forward_measure(struct core_session *session, struct ip_error *err) {
    size_t slots[PROBE_FORWARDS];
    double cycles[PROBE_FORWARDS];
    enum ip_status status = named_measure(session, err);
    for (unsigned i = 0; i < PROBE_FORWARDS && status == IP_OK; i++) {
        status = forward_add(session, "mov rbx, r14", "mov [r14], rax; mov rax, [rbx]", 1,
                             probe_forward_pairs[i], &slots[i], err);
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
        const char *none = forward.learns || isnan(forward.other) || isnan(forward.long_code)
                               ? "not known: the kernels were not steady"
                               : "not seen: loops of few and of many take the same time each";
        status = core_learn(session, "store_forward_pairs", forward.pairs, 0, err, "%s",
                            isnan(forward.pairs) ? none : "so many of them in a loop are as fast as few");
    }
    return status;
}
