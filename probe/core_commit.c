/* SPDX-License-Identifier: Apache-2.0 */
/* probe/core_commit.c - how stores enter the first-level cache: how many in one cycle, and of which. */
#include <math.h>

#include "probe/core_groups.h"
#include "probe/core_readings.h"

static const char *const units[PROBE_COMMITS] = {
    [PROBE_COMMIT_8] = "mov [r14], rax; mov [r14+8], rax",
    [PROBE_COMMIT_16] = "mov [r14], rax; mov [r14+16], rax",
    [PROBE_COMMIT_32] = "mov [r14], rax; mov [r14+32], rax",
    [PROBE_COMMIT_64] = "mov [r14], rax; mov [r14+64], rax",
    [PROBE_COMMIT_ROW] = "mov [r14], rax; mov [r14+8], rax; mov [r14+16], rax; mov [r14+32], rax",
    [PROBE_COMMIT_READ] = "mov [r14], rax; mov [r14+8], rax; mov rcx, [r14]",
};

enum ip_status core_commit_measure(struct core_session *session, struct ip_error *err) {
    size_t slots[PROBE_COMMITS];
    double cycles[PROBE_COMMITS];
    enum ip_status status = core_units_add(session, "stores", units, PROBE_COMMITS, slots, err);
    status = status == IP_OK ? core_run_cycles(session, slots, PROBE_COMMITS, cycles, err) : status;
    if (status != IP_OK) {
        return status;
    }
    struct probe_commit commit = probe_commit_read(cycles);
    bool steady =
        !isnan(cycles[PROBE_COMMIT_8]) && !isnan(cycles[PROBE_COMMIT_16]) && !isnan(cycles[PROBE_COMMIT_32]);
    const char *none =
        steady ? "not seen: each store takes a cycle of its own" : "not known: the kernels were not steady";
    status = core_learn(session, "store_pair_bytes", commit.pair_bytes, 0, err, "%s",
                        isnan(commit.pair_bytes) ? none
                        : commit.pair_bytes == 0 ? "any: stores to two lines, in turns, enter together, too"
                                                 : "stores to two places 8, 16 and 32 bytes apart, in turns");
    if (status == IP_OK) {
        status = core_learn(session, "store_row", commit.row, 0, err, "%s",
                            isnan(commit.pair_bytes) ? none
                            : isnan(commit.row)      ? commit.pair_bytes == 32
                                                           ? "not known: the kernels were not steady"
                                                           : "not asked: only blocks of 32 bytes can tell"
                                                     : "three stores to one block and one to the next");
    }
    return status == IP_OK
               ? core_learn(session, "store_read", commit.read, 0, err, "%s",
                            isnan(commit.pair_bytes) ? none
                            : isnan(commit.read)     ? "not known: the kernels were not steady"
                                                     : "two stores to one block and a load of the first")
               : status;
}
