/* SPDX-License-Identifier: Apache-2.0 */
/* isa/form.h - one instruction form: what a row of an instruction table means, and how to write an instance
 * of it.
 *
 * A row is a mnemonic and operand kinds in Intel order ("addpd xmm, xmm/m128"; Putigny 2014, Listing 2.1);
 * each combination of its alternatives is one form ("addpd xmm, m128"). The syntax of a form is its name
 * everywhere in isaprobe and is unique within a table.
 * Pure: no clock, no CPU state, no stdio. */
#ifndef ISAPROBE_ISA_FORM_H
#define ISAPROBE_ISA_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum {
    ISA_SYNTAX_MAX = 112,  /* bytes of a form's syntax, NUL included */
    ISA_MNEMONIC_MAX = 24, /* bytes of a mnemonic, NUL included */
    ISA_OPERANDS_MAX = 12, /* explicit and implicit together */
    ISA_CODE_MAX = 15,     /* bytes of an x86-64 instruction */
    ISA_LINE_MAX = 160,    /* bytes of one line of NASM source that holds one instruction, NUL included */
};

/* CF, PF, AF, ZF, SF, OF, as bits of RFLAGS. */
enum { ISA_ARITHMETIC_FLAGS = 0x8d5 };

enum isa_reg_class {
    ISA_REG_NONE,
    ISA_REG_GPR8,  /* al cl dl bl spl bpl sil dil r8b..r15b: numbers 0..15 */
    ISA_REG_GPR8H, /* ah ch dh bh: numbers 0..3 */
    ISA_REG_GPR16,
    ISA_REG_GPR32,
    ISA_REG_GPR64,
    ISA_REG_X87, /* st0..st7 */
    ISA_REG_MMX,
    ISA_REG_XMM,
    ISA_REG_YMM,
    ISA_REG_ZMM,
    ISA_REG_MASK,    /* k0..k7 */
    ISA_REG_TILE,    /* tmm0..tmm7 */
    ISA_REG_SEGMENT, /* es cs ss ds fs gs */
    ISA_REG_OTHER,   /* control, debug, bound, MXCSR, x87 control and status, IP, SSP ... */
};

enum isa_operand_kind {
    ISA_OPERAND_REG,
    ISA_OPERAND_MEM,
    ISA_OPERAND_AGEN, /* an address that is computed and not accessed (LEA, NOP) */
    ISA_OPERAND_IMM,
    ISA_OPERAND_REL,   /* a branch target */
    ISA_OPERAND_FLAGS, /* the arithmetic flags of RFLAGS, one implicit operand */
};

struct isa_operand {
    enum isa_operand_kind kind;
    enum isa_reg_class reg_class; /* REG: its class. MEM with VSIB: the class of the index register */
    int8_t reg;                   /* fixed register number within the class; -1: any may be chosen */
    uint8_t broadcast;            /* MEM: N of {1toN}; 0: none */
    uint16_t bits;                /* width of the register, the memory access or the immediate; 0: unsized;
                                     VSIB: of one index */
    bool imm_fixed;               /* IMM: only the value `imm` is meant ("shl r64, 1", "add r64, 0") */
    int64_t imm;
    bool implicit; /* not written in the source */
    bool mask;     /* REG of class MASK written as {k} behind operand 0 */
    bool beside;   /* implicit REG: the other one of the pair of operand 0's (k3 beside k2, k2 beside k3) */
    /* Derived: */
    bool read, write; /* conditional accesses count */
    bool cond_read,
        cond_write;   /* the access happens only under a condition (CMOV's destination, a masked one) */
    int8_t other_reg; /* ISA_REG_OTHER: which file (isa/kind.h); else 0 */
    bool absolute;    /* MEM: a 64-bit absolute address without registers ("mov al, moffs8") */
};

/* Why a form cannot be measured by running it in a loop. */
enum isa_obstacle {
    ISA_OBSTACLE_NONE,
    ISA_OBSTACLE_PRIVILEGED,   /* CPL 0 only, or faults outside a special environment */
    ISA_OBSTACLE_CONTROL_FLOW, /* leaves the kernel (far jumps, returns, system calls, traps) */
    ISA_OBSTACLE_STATE,        /* changes state that the harness stands on (XRSTOR, WRFSBASE, CLI, std) */
    ISA_OBSTACLE_UNENCODABLE,  /* neither NASM nor Zydis's encoder can write it */
    ISA_OBSTACLE_OPERANDS,     /* needs operands that the generator cannot prepare yet */
};

struct isa_form {
    char syntax[ISA_SYNTAX_MAX];     /* canonical text: lower case, ", " between operands */
    char mnemonic[ISA_MNEMONIC_MAX]; /* lower case, without prefixes */
    char prefix[16];                 /* "", "lock", "rep", "repe", "repne", "{evex}", "{vex}" ... */
    char decorator[12];              /* "", "{rn-sae}" or "{sae}" (as the last item), without comma */
    char extension[20];              /* the row's extension: "BASE", "SSE2", "AVX512F" ... */
    bool zeroing;                    /* {z} behind the mask */
    bool encode_raw;                 /* NASM cannot write it: print `db` from Zydis's encoder */
    bool memory_unsized;             /* NASM takes its memory operand only without a size keyword */

    /* Operands in Intel order, the mask (if any) right behind operand 0; then the implicit ones.
     * Memory base and index registers are not operands; the flags are one, if read or written. */
    struct isa_operand operands[ISA_OPERANDS_MAX];
    uint8_t explicit_count, operand_count;

    /* Derived by isa_forms_derive (zero before): */
    bool derived;
    enum isa_obstacle obstacle;
    uint32_t flags_read,
        flags_written;        /* RFLAGS bits: CF 1, PF 4, AF 0x10, ZF 0x40, SF 0x80, OF 0x800, DF 0x400 */
    uint32_t flags_undefined; /* those of flags_written that have no defined value: a core may leave them */
    uint16_t element_bits;    /* width of a vector element, 0 for scalars of the GPR world */
    bool floating;            /* operates on floating-point data */
    bool vex, evex;           /* encoding; neither: legacy */
    int8_t x87_pushes;        /* registers that it adds to the x87 stack; negative: that it pops */
    char isa_set[32];         /* Zydis's ISA set name */
    char note[96];            /* for an obstacle: the reason in words */
    uint8_t sample[ISA_CODE_MAX], sample_bytes; /* an instance, that of isa_binding_init; 0 bytes: none */

    /* Overrides of a row ("; reads: op1 flags writes: op2"): bit i = operand i; bit 15 = flags. */
    bool override;
    uint16_t override_reads, override_writes;
};

/* An address as the generator writes it: [base + index*scale + disp]. */
/* Those whose base may be another address than 0. */
enum isa_segment { ISA_SEGMENT_FLAT, ISA_SEGMENT_FS, ISA_SEGMENT_GS };

struct isa_address {
    int8_t base;  /* GPR number; -1: none (absolute) */
    int8_t index; /* GPR number, or vector register number for VSIB; -1: none */
    uint8_t scale;
    uint8_t segment; /* enum isa_segment */
    bool relative;   /* no base, no index: disp counts from the end of the instruction */
    bool number;     /* decoded: its code has a displacement, be it 0 */
    int32_t disp;
};

/* What stands for each explicit operand in one instance of a form. */
struct isa_binding {
    uint8_t reg[ISA_OPERANDS_MAX]; /* REG operands: number within the class (fixed ones are ignored) */
    int64_t imm[ISA_OPERANDS_MAX]; /* IMM operands (fixed ones are ignored) */
    struct isa_address address;    /* the MEM or AGEN operand */
    uint8_t leaps;                 /* REL operands: bytes between the branch and where it goes */
};

/* Bytes of a branch with a REL operand; 0: the form has none. */
unsigned isa_branch_bytes(const struct isa_form *form);

/* Writes one instance as a line of NASM source ("vaddpd xmm1{k1}, xmm2, oword [r14+64]") without newline.
 * REL operands are written relative to the branch ("$+2", "$+6": it goes to what follows, if it leaps over
 * nothing). IP_UNSUPPORTED when a register number does not exist in its class. For forms with encode_raw the
 * line is "db 0x62,..." followed by a comment with the instruction. `buffer` holds ISA_LINE_MAX bytes. */
IP_CHECK enum ip_status isa_form_print(const struct isa_form *form, const struct isa_binding *binding,
                                       char *buffer, struct ip_error *err);

/* Fills `binding` with distinct registers, an address on rsi and immediates that need their full width: a
 * sample of the form. No register that a short encoding of its own exists for (rax) comes first. */
void isa_binding_init(const struct isa_form *form, struct isa_binding *binding);

/* Do two bindings of `form` stand for the same explicit operands? */
bool isa_binding_equal(const struct isa_form *form, const struct isa_binding *a, const struct isa_binding *b);

/* "rax", "r10d", "ah", "zmm17", "k3", "st2" ... NULL when there is no such register. Static storage. */
const char *isa_reg_name(enum isa_reg_class reg_class, unsigned number);
/* Number of registers that an instance of `form` may use in this class (16 or 32 vectors, 8 masks ...). */
unsigned isa_reg_count(enum isa_reg_class reg_class, bool evex);
/* True for XMM, YMM, ZMM. */
bool isa_reg_is_vector(enum isa_reg_class reg_class);
/* True for the five GPR classes. */
bool isa_reg_is_gpr(enum isa_reg_class reg_class);

/* "op1", "op2" ... for explicit operands, "flags", or the register's 64-bit/full name for implicit ones
 * ("rax", "xmm0"), "k+1" for the second of a pair of masks; implicit memory: "mem", of string
 * instructions with two "mem_rsi" and "mem_rdi". `buffer` holds 16 bytes; returns it. */
const char *isa_operand_name(const struct isa_form *form, unsigned operand, char *buffer);

/* The names that assemblers have beside isaprobe's own for a mnemonic: "jne" of "jnz", "sal" of "shl".
 * Returns how many. */
enum { ISA_OTHER_NAMES_MAX = 4 };
unsigned isa_mnemonic_others(const char *mnemonic, char names[ISA_OTHER_NAMES_MAX][ISA_MNEMONIC_MAX]);

/* Is it a NOP, with operands or without? */
bool isa_form_is_nop(const struct isa_form *form);
/* VZEROALL writes the vector registers of these numbers, from 0 on, which are too many for its operands. */
enum { ISA_CLEARED_VECTORS = 16 };
bool isa_form_clears_vectors(const struct isa_form *form);

/* The number of the register beside number `number`: they are pairs of an even number and the next. */
static inline uint8_t isa_reg_beside(unsigned number) {
    return (uint8_t)(number ^ 1);
}
/* Index of the operand that is the register beside operand 0's, or -1. */
int isa_form_beside_operand(const struct isa_form *form);

/* Index of the (first) explicit or implicit memory operand, or -1. */
int isa_form_memory_operand(const struct isa_form *form);
/* RFLAGS bits that the form writes and the manuals define. */
uint32_t isa_form_flags_defined(const struct isa_form *form);

/* Index of the flags operand, or -1. */
int isa_form_flags_operand(const struct isa_form *form);
/* The widest vector register or memory vector that the form touches: 0, 64 (MMX), 128, 256, 512. */
unsigned isa_form_vector_bits(const struct isa_form *form);

#endif
