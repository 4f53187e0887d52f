/* SPDX-License-Identifier: Apache-2.0 */
/* generator/pool.h - which registers the instances of some forms may use.
 *
 * Of each register file some registers rotate (are written by the kernel), a few are constant (nobody writes
 * them: sources that belong to no chain), and those that a form uses implicitly or names are kept out of
 * both. r13 (constant), r14 (base), r15 (counter), RSP and rbp (the keeper, see GEN_REG_KEEPER) never rotate.
 */
#ifndef ISAPROBE_GENERATOR_POOL_H
#define ISAPROBE_GENERATOR_POOL_H

#include "common/error.h"
#include "generator/program.h"
#include "isa/form.h"

/* Registers of different classes that overlap: al, ax, eax and rax are number 0 of one file. */
enum gen_file {
    GEN_FILE_GPR,
    GEN_FILE_VECTOR,
    GEN_FILE_MASK,
    GEN_FILE_MMX,
    GEN_FILE_X87,
    GEN_FILE_TILE,
    GEN_FILES
};

enum {
    GEN_POOL_CONSTANTS = 3,
    GEN_POOL_REX = 7,
    GEN_REG_CONSTANT = 13, /* r13: never written; `test r13, r13` writes flags that depend on nothing */
    GEN_REG_SEGMENT = 3,   /* ds: what a form that reads a segment register gets */
    GEN_REG_KEEPER = 5,    /* rbp: an operand whose value must survive while the chain passes through it */
};

struct gen_pool {
    uint8_t rotating[GEN_FILES][32], rotating_count[GEN_FILES];
    uint8_t constant[GEN_FILES][GEN_POOL_CONSTANTS];
    uint8_t base;  /* GPR64 that holds GEN_DATA_BASE: r14, or rsi in kernels that cannot have a REX prefix */
    bool division; /* a form divides: constants are 1 */
    bool rows;     /* a form has tiles: a constant is the distance of their rows in memory */
    bool slow_values; /* set by the shape: divisions and roots get operands that take long */
    bool high_bytes;  /* a form names ah, ch, dh or bh */
    /* With high bytes: general-purpose registers that only forms without them can have, none of them above;
     * the last is constant. */
    uint8_t rex[GEN_POOL_REX], rex_count;
    unsigned uses; /* for gen_program */
    bool legacy_vectors, vex_vectors;
};

/* IP_UNSUPPORTED when a form cannot run in a kernel (its obstacle), when legacy SSE and VEX or EVEX meet
 * (128-bit VEX apart), or when no register is left. */
IP_CHECK enum ip_status gen_pool_init(struct gen_pool *pool, const struct isa_form *const *forms,
                                      unsigned count, struct ip_error *err);

/* Does the form name ah, ch, dh or bh? Then it has no REX prefix, and its byte registers end at bl. */
bool gen_form_has_high_byte(const struct isa_form *form);

/* Of a pool with high bytes, the one for those of its forms that have none: they leave al to bl to the
 * others. Of any other pool, the same pool. */
struct gen_pool gen_pool_with_rex(const struct gen_pool *pool);

/* GEN_FILES for classes that are in no file (segments, control registers). */
enum gen_file gen_file_of(enum isa_reg_class reg_class);

/* True when operand `o` is a register that the generator chooses. */
bool gen_operand_is_free(const struct isa_operand *operand);
/* True when the operand names its register: implicit, or as CL in "shl r64, cl". */
bool gen_operand_is_fixed(const struct isa_operand *operand);

#endif
