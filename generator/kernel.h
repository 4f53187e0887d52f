/* SPDX-License-Identifier: Apache-2.0 */
/* generator/kernel.h - one benchmark kernel: machine code in two lengths plus what the harness must know to
 * run it.
 *
 * Two lengths (u and about 2u copies of the unit in the loop), because the difference of their times is free
 * of the loop's and the call's overhead. With `one_loop` (generator/program.h) both are the same code, which
 * the longer one runs for twice as many iterations: only the call's overhead goes, all of it. Built by
 * copying encodings that NASM made once (struct gen_encoder). */
#ifndef ISAPROBE_GENERATOR_KERNEL_H
#define ISAPROBE_GENERATOR_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "generator/program.h"
#include "isa/assemble.h"

struct gen_code {
    uint8_t *bytes; /* owned; position-independent; entry at offset 0 (see generator/abi.h) */
    size_t length;
    size_t loop_offset; /* of the loop's first instruction; the first copy of the unit begins there */
    uint32_t copies;    /* of the unit that run for each iteration asked for */
    uint32_t passes;    /* how many times the iterations asked for it is to be called with; 0 counts as 1 */
};

/* Iterations to call the code with where so many are asked for. */
static inline uint32_t gen_code_iterations(const struct gen_code *code, uint32_t asked) {
    return (code->passes > 1 ? code->passes : 1) * asked;
}

struct gen_kernel {
    struct gen_code shorter, longer;
    uint32_t forms_per_unit; /* divides cycles per unit into cycles per form */
    uint32_t unit_instructions;
    size_t unit_bytes;
    uint8_t memory_fill[64], vector_fill[64];
    bool map_on_demand;
    bool wakes_vectors;  /* it uses vector, MMX or x87 registers: waking their units may make each call longer
                          */
    bool fills_x87;      /* it uses MMX or x87 registers: each call empties them in the end */
    bool extended_state; /* its registers are among those that XRSTOR resets */
    bool touches_memory; /* by an operand of its unit, named or not; of a user's block it is not known */
    bool reaches_data;   /* a line of it names memory, or an address of the data pages; fillers do not */
    bool fills_issue;    /* almost no issue slots are left, or fillers take them: whatever takes slots from it
                            shows in its time */
    bool fine;           /* a small part of the result tells what is wanted: it is to be run for longer */
    bool once;           /* one undisturbed batch says enough: others check what it says */
    bool chain;          /* what it takes is what each instruction waits for the one before it */
    bool forwards;       /* a chain whose values are stored and loaded again */
    bool tiles;          /* needs the system's permission to use tiles */
};

/* Where the encoder finds a line again. */
struct gen_line_slot {
    uint32_t hash;   /* of the line */
    uint32_t number; /* its position + 1; 0: none */
};

/* Each distinct line is encoded once. Use: add all programs, flush, build all kernels. */
struct gen_encoder {
    char **lines; /* owned */
    struct isa_code *codes;
    char **complaints; /* owned; NULL for the good */
    size_t count, capacity, flushed;
    struct gen_line_slot *index; /* owned */
    size_t index_size;
    struct gen_frame_code *frames; /* owned; prologues and epilogues, each encoded once */
    size_t frame_count, frames_flushed;
};

void gen_encoder_fini(struct gen_encoder *encoder); /* all-zero is fine and empty */
/* Notes the lines of a program (its own prologue and epilogue included) that are not known yet. */
IP_CHECK enum ip_status gen_encoder_program_add(struct gen_encoder *encoder,
                                                const struct gen_program *program, struct ip_error *err);
/* Runs NASM on the lines added since the last flush; none: no process. Lines that NASM rejects are kept as
 * rejected. */
IP_CHECK enum ip_status gen_encoder_flush(struct gen_encoder *encoder, struct ip_error *err);

/* How many copies to use: `copies` 0 takes the program's, and if that is 0 the builder chooses (short loop:
 * about 128 instructions, at least 2 copies). The long one has twice as many, or is called with twice the
 * iterations. */
IP_CHECK enum ip_status gen_kernel_build(struct gen_kernel *kernel, const struct gen_program *program,
                                         const struct gen_encoder *encoder, uint32_t copies,
                                         struct ip_error *err);
void gen_kernel_fini(struct gen_kernel *kernel); /* an all-zero kernel is fine */

/* Convenience for one program: add, flush, build. */
IP_CHECK enum ip_status gen_kernel_make(struct gen_kernel *kernel, const struct gen_program *program,
                                        struct gen_encoder *encoder, uint32_t copies, struct ip_error *err);

#endif
