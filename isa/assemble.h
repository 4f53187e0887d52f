/* SPDX-License-Identifier: Apache-2.0 */
/* isa/assemble.h - NASM as a function: lines of source to machine code, many at a time.
 *
 * NASM runs as a child process on files in memory (memfd_create), so that nothing is left behind however
 * either of them ends. It is looked for on PATH, or at $ISAPROBE_NASM. IP_CAPABILITY when it is not there,
 * or another program. */
#ifndef ISAPROBE_ISA_ASSEMBLE_H
#define ISAPROBE_ISA_ASSEMBLE_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/text.h"
#include "isa/form.h"

struct isa_code {
    uint8_t bytes[ISA_CODE_MAX];
    uint8_t length; /* 0: the line was rejected */
};

/* Assembles each line on its own: codes[i] is the encoding of lines[i], which must be a single instruction
 * (or a `db` of at most 15 bytes) and must not depend on its address. A line that NASM rejects, that gives no
 * code, or more than 15 bytes gets length 0; when `complaints` is not NULL, complaints->items[i] (all-zero on
 * entry; as many as lines, "" for the good) says why. Some NASM processes serve all lines, a part each, on
 * the CPUs that this process may use; where one rejects some, another run goes without them. Lines of
 * ISA_LINE_MAX bytes or more, with a line break, or that are directives are rejected unseen. */
IP_CHECK enum ip_status isa_assemble_lines(const char *const *lines, size_t count, struct isa_code *codes,
                                           struct ip_lines *complaints, struct ip_error *err);

/* Assembles a whole source (`bits 64` is set, `default abs`) to a flat binary. IP_SYNTAX with "name:line" and
 * NASM's own message on the first error; warnings are errors; and IP_SYNTAX where NASM would take more than
 * some 10 s of CPU time, 512 MB of memory or 64 MB of output: it is stopped there. `code` receives the bytes.
 */
IP_CHECK enum ip_status isa_assemble_source(const char *name, const char *source, struct ip_text *code,
                                            struct ip_error *err);

#endif
