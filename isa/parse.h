/* SPDX-License-Identifier: Apache-2.0 */
/* isa/parse.h - one row of an instruction table to forms. Internal to isa/. */
#ifndef ISAPROBE_ISA_PARSE_H
#define ISAPROBE_ISA_PARSE_H

#include "common/error.h"
#include "isa/form.h"

enum {
    ISA_ROW_FORMS_MAX = 256, /* forms that one row may stand for */
    ISA_ALTERNATIVES_MAX = 24,
    ISA_ROW_OPERANDS_MAX = 8, /* written operands, the mask not counted */
};

/* A row, read but not expanded. */
struct isa_row {
    struct isa_form base; /* prefix, mnemonic, decorator, overrides, hints; no operands */
    struct isa_alternative {
        struct isa_operand operand;
        bool masked, zeroing;
    } alternatives[ISA_ROW_OPERANDS_MAX][ISA_ALTERNATIVES_MAX];
    unsigned counts[ISA_ROW_OPERANDS_MAX];
    unsigned operand_count;
    unsigned form_count; /* the product of the counts */
};

/* Reads `text` (`length` bytes, one line, comment removed). On IP_SYNTAX *column (from 1) is where. */
IP_CHECK enum ip_status isa_row_parse(struct isa_row *row, const char *text, size_t length, unsigned *column,
                                      struct ip_error *err);

/* The n-th form of the row, n < form_count. IP_SYNTAX when its syntax would be too long. */
IP_CHECK enum ip_status isa_row_form(const struct isa_row *row, unsigned n, struct isa_form *form,
                                     struct ip_error *err);

/* Lower case, and the one name that isaprobe uses for each condition: "JNE" to "jnz", "setae" to "setnb".
 * `mnemonic` holds ISA_MNEMONIC_MAX bytes. */
void isa_mnemonic_canonicalise(char *mnemonic);

#endif
