/* SPDX-License-Identifier: Apache-2.0 */
/* isa/nasm.h - one run of the NASM program. Internal to isa/. */
#ifndef ISAPROBE_ISA_NASM_H
#define ISAPROBE_ISA_NASM_H

#include <stdbool.h>

#include "common/error.h"
#include "common/text.h"

/* The source's name in NASM's messages: files live in memory and are passed as descriptors. */
#define ISA_NASM_SOURCE "/dev/fd/3"

struct isa_nasm_result {
    bool success;         /* NASM ended with 0 */
    struct ip_text code;  /* the flat binary, unless a listing was asked for */
    struct ip_text list;  /* the listing, when asked for */
    struct ip_text words; /* what NASM said */
};

/* Assembles `source`, warnings as errors. `preprocess` off skips NASM's preprocessor. `result` is all-zero on
 * entry. IP_CAPABILITY when there is no NASM. That NASM rejects the source is no error: see
 * result->success. */
IP_CHECK enum ip_status isa_nasm_run(const struct ip_text *source, bool preprocess, bool listing,
                                     struct isa_nasm_result *result, struct ip_error *err);
void isa_nasm_result_fini(struct isa_nasm_result *result);

#endif
