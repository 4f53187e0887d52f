/* SPDX-License-Identifier: Apache-2.0 */
/* isa/nasm.h - runs of the NASM program. Internal to isa/. */
#ifndef ISAPROBE_ISA_NASM_H
#define ISAPROBE_ISA_NASM_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/text.h"
#include "isa/bounds.h"

/* The source's name in NASM's messages: files live in memory and are passed as descriptors. */
#define ISA_NASM_SOURCE "/proc/self/fd/3"

enum { ISA_NASM_FILES = 4 };

struct isa_nasm_result {
    bool success;         /* NASM ended with 0 */
    struct ip_text code;  /* the flat binary, unless a listing was asked for */
    struct ip_text list;  /* the listing, when asked for */
    struct ip_text words; /* what NASM said */
    struct isa_bound_met stopped;
};

/* A NASM at work; all zero: none. */
struct isa_nasm {
    pid_t child;             /* 0: none */
    int fds[ISA_NASM_FILES]; /* source, code, list, words: files in memory */
    bool listing;
    struct isa_bounds bounds;
};

/* Starts assembling `source`, warnings as errors. `preprocess` off skips NASM's preprocessor. Where this
 * succeeds, isa_nasm_finish must be called; several may be at work at a time. IP_CAPABILITY when there is no
 * NASM. */
IP_CHECK enum ip_status isa_nasm_start(const struct ip_text *source, bool preprocess, bool listing,
                                       struct isa_nasm *nasm, struct ip_error *err);

/* Waits for it and takes what it wrote; `result` is all-zero on entry. That NASM rejects the source is no
 * error: see result->success; nor that it met a bound: see result->stopped. Whatever it returns, `nasm` is
 * none afterwards. */
IP_CHECK enum ip_status isa_nasm_finish(struct isa_nasm *nasm, struct isa_nasm_result *result,
                                        struct ip_error *err);
void isa_nasm_result_fini(struct isa_nasm_result *result);

#endif
