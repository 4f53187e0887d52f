/* SPDX-License-Identifier: Apache-2.0 */
/* generator/shapes.h - programs from forms: dependent chain, independent, interleaved pair, blocked, user
 * block.
 *
 * Register allocation is Putigny's (2014, Listing 2.5): round-robin over `registers` registers of a class,
 * where 1 is his "always the same". r15 counts, r14 is the memory base, RSP is left alone: none of them is
 * ever allocated. */
#ifndef ISAPROBE_GENERATOR_SHAPES_H
#define ISAPROBE_GENERATOR_SHAPES_H

#include "generator/program.h"
#include "isa/form.h"

/* One link of a chain: `form` takes the value in operand `src` and leaves one that depends on it in operand
 * `dst`. For a memory operand as `src`, `src_address` says whether the chain goes through its address (base
 * register) or through its content. */
struct gen_link {
    const struct isa_form *form;
    int src, dst;
    bool src_address;
    bool src_index;     /* `src` is a gather's or scatter's memory: the chain goes through its index vector */
    bool slow_values;   /* with operands that take long: see gen_form_depends_on_values */
    bool same_register; /* every other source of the same kind as `src` is the same register as it */
    /* Of links[0], whose address the chain goes through and which stores: the load that brings it back has
     * that address, too, and not one that is known early. It always has where the form reads what it stores
     * to. */
    bool late_load;
};

/* Cycles that gen_latency_program itself adds to each round. Some sources must keep their value (a pointer, a
 * divisor), whatever the chain computes: the chain then passes through `xor rbp, V` twice, V being the
 * previous link's destination (any general-purpose register), which leaves rbp's value but makes it depend on
 * V. That is two cycles on every CPU since it is two dependent one-cycle operations; 0 where no link needs
 * it. A load that is itself a `mov` from its address (pointer chase) needs none; a pointer that the form
 * itself names (RSI of LODS) is renewed from rbp by a sign extension, a third cycle. */
unsigned gen_latency_keeper_cycles(const struct gen_link *links, unsigned count);

/* The latency chain over links[0..count): links[0] is the form under test, the others are transfers that
 * bring the value back from the kind of its destination to the kind of its source; count 1 chains the form to
 * itself. Every other dependence is broken: other sources get registers that nobody writes, flags that are
 * read get a fresh write, destinations that are merged rotate. forms_per_unit counts rounds of the chain:
 * cycles are those of the whole round, transfers included. `registers`: how many registers rotate (0: as many
 * as there are, at most 8; 1: always the same, where the operands allow it). `filler` independent NOPs
 * stand in each round behind the link that stores, or at its end where none does (0: none). IP_UNSUPPORTED:
 * no legal chain exists, a fact to record. */
IP_CHECK enum ip_status gen_latency_program(struct gen_program *program, const struct gen_link *links,
                                            unsigned count, unsigned registers, unsigned filler,
                                            struct ip_error *err);

/* What an independent instance must not wait for. */
struct gen_independence {
    unsigned registers;   /* independent chains: destinations rotate over so many registers; 0: all */
    bool break_flags;     /* a fresh write of the flags (a zero idiom) before every fourth instance */
    bool break_registers; /* zero idioms before each instance for what it reads and writes (read-modify-write,
                             merging) */
    bool break_fourth;    /* a load of each vector register that is read and written before it is used for the
                             first time, and every fourth: chains of four, of which many run at a time. (A zero
                             idiom of legacy SSE takes a port on a Zen 4, for it keeps the upper halves.) */
    bool frees_masks;     /* a zero idiom behind each instance for the masks that it only writes: the physical
                             register goes back as soon as the instance retires */
    bool x87_frees;   /* what an instance adds to the x87 stack goes by marking its far end empty (FFREE), not
                         by popping (FSTP ST0) */
    bool slow_values; /* with operands that take long: see gen_form_depends_on_values */
    bool same_register; /* all operands of a class get the same register (zero idiom, ones idiom) */
    bool renewals_only; /* the instances themselves are left out; what stands before them, to renew what they
                           use up (a gather's mask, a string's pointers, with `x87_frees` the x87 stack),
                           remains */
    unsigned stride;    /* of memory operands, at least; 0: what suits their size */
    bool scaled_index;  /* an address that is only computed (LEA) is base + 4 * index, not base + displacement
                         */
};

/* `count` independent instances of the form in a unit (Putigny 2014, Listing 2.4); memory operands walk
 * through the data pages: loads of up to 8 bytes at stride GEN_LOAD_STRIDE, of 16 at 48, what is only
 * stored of up to 8 bytes at its own width, all else at max(32, width). */
IP_CHECK enum ip_status gen_throughput_program(struct gen_program *program, const struct isa_form *form,
                                               const struct gen_independence *how, unsigned count,
                                               struct ip_error *err);

/* So many independent instances of a form in a mix. */
struct gen_part {
    const struct isa_form *form; /* NULL: `filler`, which takes an issue slot and nothing else */
    const char *filler;          /* static; NULL: GEN_FILLER_NOP */
    unsigned count;
    struct gen_independence how;
    unsigned weight; /* registers are dealt in proportion to it; 0 for all parts: the same number for each */
    bool not_taken;  /* a branch, prepared so that it goes on to what follows, as conditional jumps are in any
                        case. Beside it nothing that writes RCX may stand; what writes flags is refused: it
                        would fuse with a jump, or have it taken */
};

enum { GEN_PARTS_MAX = 4 };

/* Bytes between loads of eight bytes that walk through all banks of the first-level cache. At one offset
 * within the lines a Golden Cove does two loads in a cycle, not three, and beside a second stream of loads 32
 * bytes are not enough: 2.3. */
#define GEN_LOAD_STRIDE 40

/* Four bytes: decoders that take 16 bytes a cycle for four instructions, or 32 for six, keep up with them, so
 * the NOPs run at the issue width whether they come from the micro-op cache or not. (Of one byte they fall
 * out of it; of eight they run at the decoders' bytes, seen: 0.25 instead of 0.167, for most of the time.) */
#define GEN_FILLER_NOP "nop dword [rax+0x12]"

/* Six bytes, where a core takes short ones slower than it issues (harness/filler.h). */
#define GEN_FILLER_LONG_NOP "nop qword [rax+rax+0x12]"

/* Of the base register, which it leaves as it is. Where NOPs share the slots of others (harness/filler.h). */
#define GEN_FILLER_MOVE "mov r14, r14"

/* The order of that unit: a letter for each instance, `a` for the first part's. What does not fit into `size`
 * bytes is cut off and ends in "...". */
void gen_mix_draw(const struct gen_part *parts, unsigned count, char *buffer, size_t size);
/* An even interleaving of the parts in a unit; the registers that they write are disjoint where the classes
 * allow it. forms_per_unit is 1: cycles are those of the unit. IP_UNSUPPORTED: the forms cannot share a
 * kernel (legacy SSE beside VEX on more than xmm, too few registers). */
IP_CHECK enum ip_status gen_mix_program(struct gen_program *program, const struct gen_part *parts,
                                        unsigned count, struct ip_error *err);

/* An even interleaving of `count_a` instances of a and `count_b` of b in a unit (Putigny 2014, 2.2.3);
 * registers of the two are disjoint where the classes allow it. forms_per_unit is 1: cycles are those of the
 * unit. */
IP_CHECK enum ip_status gen_pair_program(struct gen_program *program, const struct isa_form *form_a,
                                         unsigned count_a, const struct isa_form *form_b, unsigned count_b,
                                         struct ip_error *err);

/* A chain of branches, each to the next instruction (Putigny 2014, Listing 2.3): `form` is a near
 * jump, call or return; for conditional ones `taken` prepares the flags so that all are, or none is, taken.
 * Each return answers a call, and the unit holds both. */
IP_CHECK enum ip_status gen_branch_program(struct gen_program *program, const struct isa_form *form,
                                           bool taken, struct ip_error *err);

/* A user's block as it is: machine code, repeated. The counter is a register that the block does not touch,
 * or memory. All registers begin with `gpr_fill` and memory with `gpr_fill` in each quadword, as in the BHive
 * protocol (Chen et al. 2019), so that loaded pointers are mapped addresses. IP_SYNTAX when the bytes do not
 * decode; IP_UNSUPPORTED when the block leaves itself (branches out, calls, returns, system calls). Branches
 * within the block are allowed. */
IP_CHECK enum ip_status gen_block_program(struct gen_program *program, const uint8_t *code, size_t code_bytes,
                                          uint64_t gpr_fill, struct ip_error *err);

/* Is the form known to take longer for some values than for others? Divisions and square roots are. */
bool gen_form_depends_on_values(const struct isa_form *form);
/* The same of a form that is not derived yet; it may be wrong about integer forms of such names. */
bool gen_form_may_depend_on_values(const struct isa_form *form);
/* Contents that take such a form long, memory and registers different from each other: mantissas in which no
 * digit repeats, divisors that need every step. */
void gen_slow_fill_for_form(const struct isa_form *form, uint8_t memory_fill[64], uint8_t vector_fill[64]);

/* Sane contents for operands of this form: small integers, or 1.0-ish floating point of the right element
 * width. */
void gen_fill_for_form(const struct isa_form *form, uint8_t memory_fill[64], uint8_t vector_fill[64]);

#endif
