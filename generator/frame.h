/* SPDX-License-Identifier: Apache-2.0 */
/* generator/frame.h - what stands around the loop of every kernel: the prologue that prepares registers and
 * the epilogue that restores them. The one source of both the printed text and the machine code. */
#ifndef ISAPROBE_GENERATOR_FRAME_H
#define ISAPROBE_GENERATOR_FRAME_H

#include "generator/program.h"

enum {
    GEN_LOOP_ALIGN = 64,    /* the loop's first instruction is aligned to a cache line, with one-byte NOPs */
    GEN_FRAME_LINE_MAX = 64 /* bytes of a line of the frame, NUL included */
};

/* Receives one line; `comment` is NULL or says what begins here. */
typedef void gen_frame_sink(void *self, const char *line, const char *comment);

/* The instructions before the loop, without the program's init lines. */
void gen_frame_prologue(const struct gen_program *program, gen_frame_sink *call, void *self);
/* The instruction that counts one iteration and sets ZF at the last. */
void gen_frame_count(const struct gen_program *program, char line[GEN_FRAME_LINE_MAX]);
/* The instructions after the loop, `ret` included. */
void gen_frame_epilogue(const struct gen_program *program, gen_frame_sink *call, void *self);

#endif
