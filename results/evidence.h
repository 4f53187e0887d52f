/* SPDX-License-Identifier: Apache-2.0 */
/* results/evidence.h - remembers the kernels that a meter ran, so that the store can keep the one behind each
 * number.
 *
 * A log stands between a probe and its meter. Each statistic that passes gets the hash of its kernel
 * (hx_stat.kernel_hash), by which the kernel is found when the fact is stored. */
#ifndef ISAPROBE_RESULTS_EVIDENCE_H
#define ISAPROBE_RESULTS_EVIDENCE_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "harness/meter.h"

enum { RES_FILL_BYTES = 64 };

/* A kernel taken apart: what prepares it, and the unit that its loop repeats. */
struct res_kernel {
    uint64_t hash;        /* of all that follows */
    uint64_t preparation; /* hash of the head and the fills */
    uint8_t *bytes;       /* owned: head, then unit */
    size_t head_bytes, unit_bytes;
    uint8_t memory_fill[RES_FILL_BYTES], vector_fill[RES_FILL_BYTES];
    uint32_t copies; /* of the unit in the shorter loop; the longer one has twice as many */
    uint32_t unit_instructions, forms_per_unit;
};

struct res_log {
    struct hx_meter inner;
    struct res_kernel *kernels; /* owned; open addressing by hash */
    size_t count, size;
};

/* All-zero but for `inner` is an empty log. */
void res_log_fini(struct res_log *log);
void res_log_clear(struct res_log *log); /* forgets the kernels, keeps the meter */
/* The meter that remembers; borrows the log. */
struct hx_meter res_log_meter(struct res_log *log);
/* What names a kernel: its code, and what its registers and memory begin with. */
uint64_t res_kernel_hash(const struct gen_kernel *kernel);
/* NULL: unknown. Borrowed until the next measurement. */
const struct res_kernel *res_log_find(const struct res_log *log, uint64_t hash);

#endif
