/* SPDX-License-Identifier: Apache-2.0 */
/* generator/encoder.h - looking a line up in the encoder (for kernel.c; users see generator/kernel.h). */
#ifndef ISAPROBE_GENERATOR_ENCODER_H
#define ISAPROBE_GENERATOR_ENCODER_H

#include "generator/kernel.h"
#include "generator/program.h"

/* The encoding of a line that was added and flushed; borrowed. IP_UNSUPPORTED with NASM's complaint for a
 * rejected line; IP_FAILED for one that was never added. */
IP_CHECK enum ip_status gen_encoder_line_find(const struct gen_encoder *encoder, const char *line,
                                              const struct isa_code **code, struct ip_error *err);

/* Of the lines of one unit, which repeats most of them as the same string: those that were looked up last. */
enum { GEN_RECENT = 64 };
struct gen_recent {
    const char *lines[GEN_RECENT]; /* borrowed; all-zero: none */
};
static inline unsigned gen_recent_place(const char *line) {
    return (unsigned)((uintptr_t)line / 16 % GEN_RECENT);
}
/* Is it one of them? If not, it is from now on. */
static inline bool gen_recent_has(struct gen_recent *recent, const char *line) {
    unsigned place = gen_recent_place(line);
    bool has = recent->lines[place] == line;
    recent->lines[place] = line;
    return has;
}

/* The machine code of what stands around a program's loop, but for its init lines; owned by the encoder. */
struct gen_frame_code {
    unsigned uses;
    uint8_t idle_masks;
    int counter;
    uint64_t gpr_fill;
    struct ip_text prologue, epilogue; /* empty until flushed, or where NASM rejects a line */
    bool encoded;
};

/* NULL: not encoded; look its lines up to learn why. Borrowed until the next program is added. */
const struct gen_frame_code *gen_encoder_frame_find(const struct gen_encoder *encoder,
                                                    const struct gen_program *program);

#endif
