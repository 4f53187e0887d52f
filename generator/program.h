/* SPDX-License-Identifier: Apache-2.0 */
/* generator/program.h - a kernel as text: what to prepare, what to repeat, what it counts.
 *
 * A program is the readable form of a kernel. Its unit (some lines) is repeated `copies` times in the body of
 * the loop. From it come the NASM source (gen_program_print) and the machine code (gen_kernel_build), which
 * are the same, byte for byte. Pure: no clock, no CPU state, no stdio. */
#ifndef ISAPROBE_GENERATOR_PROGRAM_H
#define ISAPROBE_GENERATOR_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/text.h"

/* Register files that the prologue fills with `vector_fill` (or sane values). With GEN_USES_XMM beside one of
 * the wider ones (a user block that mixes encodings) the fill is the legacy one, and the epilogue cleans the
 * upper halves. */
enum gen_uses {
    GEN_USES_XMM = 1,  /* xmm0-15 through legacy SSE: upper halves stay clean */
    GEN_USES_YMM = 2,  /* ymm0-15 through VEX */
    GEN_USES_EVEX = 4, /* zmm0-31 or, with GEN_USES_EVEX_256, ymm0-31 */
    GEN_USES_EVEX_256 = 8,
    GEN_USES_MASK = 16, /* k0-k7 = ones in the low 16 bits (kxnorw), in all 64 with GEN_USES_MASK_64 */
    GEN_USES_MMX = 32,
    GEN_USES_X87 = 64,      /* fninit; the stack is empty unless init lines load it */
    GEN_USES_STACK = 128,   /* RSP = GEN_STACK_TOP - 0x4000 while the loop runs */
    GEN_USES_ALL_GPR = 256, /* a user block: every GPR but the counter gets `gpr_fill`, RSP and RBP too */
    GEN_USES_MASK_64 = 512, /* with GEN_USES_MASK: kxnorq, which needs AVX512BW */
    /* With GEN_USES_YMM or GEN_USES_EVEX: no vector is wider than 128 bits, and the registers are filled so.
     * A 128-bit instruction whose other source was last written with more waits a cycle longer for a load. */
    GEN_USES_VEX_128 = 2048,
    GEN_USES_LATE_STORES = 4096, /* what it stores is on its way to memory when the loop ends: waited for */
    GEN_USES_TILES = 1024,       /* tmm0-7 of 16 rows of 64 bytes, zeros unless init lines load them */
};

/* Cores learn which load of a loop meets which store, and pass the value on sooner: 32 such pairs a Zen 5, 24
 * a Zen 4, 12 to 24 a Zen 3, by where they lie. So few are known, and of so many none when it comes again. */
enum { GEN_PAIRS_KNOWN = 8, GEN_PAIRS_FORGOTTEN = 48 };

struct gen_program {
    char title[256];         /* for people; first comment of the source */
    struct ip_lines init;    /* single instructions, once, after the register files are filled */
    struct ip_lines unit;    /* single instructions that are repeated; no labels */
    uint32_t forms_per_unit; /* > 0: instances of the measured form in the unit; divides the result */
    unsigned registers;      /* gen_throughput_program: so many in turn are written; 0: none is chosen */
    unsigned uses;           /* enum gen_uses */
    uint8_t idle_masks;      /* bit n: kn, which no line names, is zero instead (gen_program_idle_masks) */
    int counter;             /* GPR64 number of the loop counter; -1: GEN_ARENA_COUNTER in memory */
    uint64_t gpr_fill;       /* every GPR but RSP, the base and the counter begins with this; default 0x101 */
    uint8_t memory_fill[64]; /* 64-byte pattern of the data pages */
    uint8_t vector_fill[64]; /* initial value of each vector register */
    bool map_on_demand;      /* user block: the harness maps the pages that it touches */
    bool implicit_memory;    /* a form of it reads or writes memory that no line names (LODS, PUSH) */
    uint32_t copies;         /* of the unit in the shorter loop; 0: the builder chooses */
    bool one_loop; /* both lengths have the same loop, and the longer one goes through it twice as often: for
                      what depends on the loop's size. Its counting and branch are part of the result */
    unsigned loop_shift; /* bytes from the start of a cache line to the loop's first instruction */
    bool fine;           /* a small part of the result tells what is wanted: it is to be run for longer */
    bool once;           /* one undisturbed batch says enough: others check what it says */
    bool fills_issue;    /* it takes almost all issue slots, or fillers do */
    bool chain;          /* what it takes is what each instruction waits for the one before it */
    bool forwards;       /* each value of its chain goes through memory */
    bool keeps_carry;    /* the loop's own counting leaves the carry flag alone: what waits for flags from one
                            instance to the next waits for them from one round to the next, too */
};

/* Defaults: counter r15, forms_per_unit 1, fills as in the definition (memory: zeros). */
void gen_program_init(struct gen_program *program);
void gen_program_fini(struct gen_program *program);

/* The mask registers that no line of the program names, bit n for kn: to be its `idle_masks`. Zeroed by an
 * idiom they hold no physical register. Those are few, and what works on masks in a loop takes them all where
 * it waits for loads (docs/throughput.md). */
uint8_t gen_program_idle_masks(const struct gen_program *program);

/* The NASM source of the kernel with `copies` repetitions of the unit in its loop; assembling it with `nasm
 * -f bin` gives the bytes of gen_kernel_build. */
IP_CHECK enum ip_status gen_program_print(const struct gen_program *program, uint32_t copies,
                                          struct ip_text *source, struct ip_error *err);

#endif
