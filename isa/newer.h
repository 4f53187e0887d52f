/* SPDX-License-Identifier: Apache-2.0 */
/* isa/newer.h - instructions that are newer than the Zydis that distributions have (Arrow Lake's, Lunar
 * Lake's, Sierra Forest's, Granite Rapids'). Internal to isa/.
 *
 * Each is laid out like an instruction that Zydis knows, its carrier: the same registers, addresses and
 * immediates in the same bytes, but for prefix and opcode. So the carrier is encoded and decoded by Zydis,
 * and what is kept here is which carrier, which bytes differ, and what becomes of the operands. Source of
 * opcodes and operands: Intel, Architecture Instruction Set Extensions Programming Reference (319433), and
 * Software Developer's Manual, volume 2. */
#ifndef ISAPROBE_ISA_NEWER_H
#define ISAPROBE_ISA_NEWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/form.h"

/* Where the operands stand: ModRM.reg, VEX.vvvv, ModRM.rm, an immediate. */
enum isa_newer_layout {
    ISA_NEWER_RVM,
    ISA_NEWER_RM,
    ISA_NEWER_RVMI,
    ISA_NEWER_RMV,
    ISA_NEWER_MRV,
    ISA_NEWER_MR,
    ISA_NEWER_LAYOUTS
};

struct isa_newer {
    const char *mnemonic, *extension;
    enum isa_newer_layout layout;
    uint8_t pp, opcode, w, lengths; /* the prefix, as VEX numbers it; W; L of 128 and 256 bits: newer.c */
    /* Of each operand: v (a vector of the encoded length), x, y, t(ile), g (r32 or r64, by W) or i(mm8); and
     * r(ead), w(ritten) or u(pdated). */
    const char *kinds, *actions;
    uint8_t rm;           /* what ModRM.rm may be */
    uint16_t memory_bits; /* 0: as wide as the register in its place */
    uint16_t element_bits;
    bool floating;
    bool flags;     /* writes them all */
    bool evex_twin; /* there is one of that name in EVEX, which came first: this one is {vex} */
    /* XED's words for what the operands hold, one for each ("i32 4i8 4i8"; u: unsigned, of the operand's
     * size; n: that size alone; -: nothing), and its category. */
    const char *types, *category;
};

/* The instruction that `code` begins with, and its carrier's bytes (at most as many). NULL: none of these. */
const struct isa_newer *isa_newer_at(const uint8_t *code, size_t code_bytes, uint8_t carrier[ISA_CODE_MAX],
                                     size_t *carrier_bytes);

/* What the carrier was decoded to, in place of it the instruction's own: operands, flags, extension; the
 * syntax is not built. False where the carrier has operands that the instruction has not (a register for
 * memory). */
bool isa_newer_decoded(const struct isa_newer *newer, struct isa_form *form, struct isa_binding *binding);

/* Bytes that the instruction has more than its carrier. */
size_t isa_newer_excess(const struct isa_newer *newer);

/* The instruction of a form that need not be derived. NULL: none of these. */
const struct isa_newer *isa_newer_of(const struct isa_form *form);

/* An instance of `form` as one of the carrier. */
void isa_newer_carrier(const struct isa_newer *newer, const struct isa_form *form,
                       const struct isa_binding *binding, struct isa_form *carrier,
                       struct isa_binding *carried);

/* Turns the carrier's code into the instruction's. False when it has not the carrier's shape, or gets too
 * long. */
bool isa_newer_encoded(const struct isa_newer *newer, uint8_t code[ISA_CODE_MAX], size_t *length);

#endif
