/* SPDX-License-Identifier: Apache-2.0 */
/* isa/xed.h - what XED calls an instruction. uops.info's tables and the programs that read them know
 * instructions by XED's names: its iform ("ADD_GPRv_GPRv_01") and the attributes that tell the instructions
 * of one iform apart. XED is not at hand here: its names are made from Zydis's definitions of the operands,
 * which have the same widths, and from rules for what Zydis does not keep. docs/exports.md says how far that
 * goes. Pure: no clock, no CPU state, no stdio. */
#ifndef ISAPROBE_ISA_XED_H
#define ISAPROBE_ISA_XED_H

#include "isa/form.h"

struct isa_xed {
    char iclass[44];    /* "ADD", "ADD_LOCK", "REP_MOVSB" */
    char iform[176];    /* "ADD_GPRv_GPRv_01" */
    char other[176];    /* of the other encoding with the same operands: "ADD_GPRv_GPRv_03"; "": none */
    bool other_loads;   /* `other` has its destination in ModRM.reg */
    char category[24];  /* "BINARY" */
    char extension[24]; /* "AVX512EVEX" */
    char names[ISA_OPERANDS_MAX][8]; /* of the form's operands: "REG0", "MEM0", "AGEN", "IMM0", "RELBR" */
    /* What tells the instructions of one iform apart: */
    int eosz;       /* operand size: 1, 2, 3 for 16, 32, 64 bits; 0: the iform has one only */
    int bcast;      /* the number of the broadcast; 0: none; -1: XED does not ask (VPBROADCASTD) */
    int rep;        /* 2 REPNE, 3 REP or REPE; 0: none */
    int immzero;    /* is the 8-bit immediate zero? -1: XED does not ask */
    bool has_high8; /* has byte registers: `high8` lists those that are AH, CH, DH or BH ("REG0,REG1") */
    char high8[24];
    bool agen; /* LEA: its sample has the address [base] */
};

/* Describes a derived form by its sample. IP_UNSUPPORTED when it has none (obstacle UNENCODABLE). */
IP_CHECK enum ip_status isa_xed_describe(const struct isa_form *form, struct isa_xed *xed,
                                         struct ip_error *err);

#endif
