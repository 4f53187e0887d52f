/* SPDX-License-Identifier: Apache-2.0 */
/* generator/operands.h - values that operands need, and lines that renew them. */
#ifndef ISAPROBE_GENERATOR_OPERANDS_H
#define ISAPROBE_GENERATOR_OPERANDS_H

#include "generator/pool.h"
#include "generator/program.h"

/* An immediate that fills its width, so that NASM picks the encoding that the form means; of ENTER 16 bytes
 * and no nesting. */
int64_t gen_immediate(const struct isa_form *form, unsigned o);

enum { GEN_REPETITIONS = 4 }; /* of a string operation with a prefix: RCX before each instance */
/* What a fixed general-purpose register of the form must hold (a pointer for string operations, zero for the
 * upper half of a dividend, ...), else `otherwise`. */
uint64_t gen_fixed_value(const struct gen_pool *pool, const struct isa_form *form, unsigned gpr,
                         uint64_t otherwise);
/* The divisor that leaves every quotient of gen_fixed_value's dividend in its register. */
uint64_t gen_divisor(const struct gen_pool *pool);
enum {
    GEN_SELECTOR = 0x2b, /* of Linux's data segment for programs: valid, and may be read and written */
    GEN_SLOW_DIVISOR = 0x7fff7f7f,  /* in each width that DIV reads of it ... */
    GEN_SLOW_DIVIDEND = 0x30303030, /* ... the quotient of twice this needs all but one bit, signed as well */
};
/* `list` ends with NULL. */
bool gen_mnemonic_is_one_of(const char *mnemonic, const char *const *list);
/* True when the register is a pointer that the form moves on (string operations). */
bool gen_fixed_is_pointer(const struct isa_form *form, unsigned gpr);
/* True when operand `dst` is a pointer that the form moves on (string operations), the same whatever operand
 * `src`, another one, holds. Under a prefix how far depends on the count, and of comparisons on what they
 * compare. */
bool gen_pointer_moves_alone(const struct isa_form *form, unsigned src, unsigned dst);
/* The pointer by which a string form addresses memory operand `o`, where no operand is that register: it
 * stays (RDI of MASKMOVQ, RBX of XLAT); else -1. */
int gen_string_pointer(const struct isa_form *form, unsigned o);
/* True when the form has a memory operand that it addresses through a fixed register. */
bool gen_form_is_string(const struct isa_form *form);
/* True of XLAT, whose result is a part of its next address. */
bool gen_form_looks_up_al(const struct isa_form *form);
/* True when the form reads memory and writes back what it makes of it. */
bool gen_form_modifies_memory(const struct isa_form *form);
/* True when the form locks the memory that it changes: with a prefix, or XCHG, which needs none. */
bool gen_form_locks(const struct isa_form *form);
/* True when the form stores past the caches (MOVNTDQ). Such stores share the buffer of a line, which goes to
 * memory when it is full or another one is wanted: a kernel has all in one place, or it would take memory's
 * time. */
bool gen_form_stores_past_caches(const struct isa_form *form);
/* True when what the form stores, or writes back, leaves the caches and is on its way for longer than the
 * form runs: such stores, CLFLUSH, CLWB, CLZERO, MOVDIRI, MOVDIR64B. */
bool gen_form_leaves_stores(const struct isa_form *form);
/* True when the form pushes or pops: RSP is an implicit operand that it writes. */
bool gen_form_is_stack(const struct isa_form *form);
/* Sets RSP to where it is when the loop begins: pushes and pops do not balance. */
void gen_stack_reset(struct ip_lines *lines);
/* True when a register operand points to memory (MOVDIR64B stores there, UMONITOR watches it). */
bool gen_form_points_by_register(const struct isa_form *form);
/* True when the form writes a segment register: null selectors are all that any system lets it load. */
bool gen_form_loads_segment(const struct isa_form *form);
/* Looks a segment up by its selector, and does less for one that there is not: LAR, LSL, VERR, VERW. */
bool gen_form_takes_selector(const struct isa_form *form);
/* SCAS, with or without a prefix. */
bool gen_form_scans(const struct isa_form *form);
/* SCAS or CMPS that goes on while its elements differ (REPNE). */
bool gen_form_seeks(const struct isa_form *form);
/* True for BT m, r and its like: the register says which bit of a string that begins at the address. */
bool gen_form_offsets_bits(const struct isa_form *form);
/* What the general-purpose registers begin with in a program of this form: `otherwise`, where it does not
 * demand another value. The register of `bt m32, r32` moves its address: with 0x101 it would test a bit 32
 * bytes behind the one that was stored. */
uint64_t gen_form_gpr_fill(const struct isa_form *form, uint64_t otherwise);
/* True when the form loads modes, segments or keys: it runs in kernels that prepare what it loads, and
 * in nobody else's block. */
bool gen_form_loads_state(const struct isa_form *form);
/* True for DIV and IDIV. */
bool gen_form_divides(const struct isa_form *form);
/* True for shifts and rotations by CL. A count of zero leaves the flags alone. */
bool gen_form_counts_in_cl(const struct isa_form *form);
bool gen_form_has_tile(const struct isa_form *form);
/* True for loads and stores of tiles: their address has an index register, the distance of the rows. */
bool gen_form_moves_tile(const struct isa_form *form);
enum { GEN_TILE_ROW_BYTES = 64 };
/* True for gathers and scatters: they consume their mask. */
bool gen_form_is_gather(const struct isa_form *form);
/* True for the mask of a gather or scatter: it must be renewed before each instance. */
bool gen_operand_is_consumed(const struct isa_form *form, unsigned o);

/* Appends the instruction that gives a register a value that depends on nothing: `mov r32, value`, a zero
 * idiom in the encoding that the pool's forms have, all ones for masks and the masks of gathers. */
void gen_renew(struct ip_lines *lines, const struct gen_pool *pool, enum gen_file file, unsigned number,
               uint64_t value, bool ones);

/* Appends the load of a vector register from the data pages. */
void gen_vector_load(struct ip_lines *lines, const struct gen_pool *pool, unsigned number);

/* Init lines that the forms need: pointers, divisors, a full x87 stack. */
void gen_init_lines(struct gen_program *program, const struct gen_pool *pool,
                    const struct isa_form *const *forms, unsigned count);

#endif
