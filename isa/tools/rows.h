/* SPDX-License-Identifier: Apache-2.0 */
/* isa/tools/rows.h - forms to the rows of a table: alternatives joined where it stays readable. */
#ifndef ISAPROBE_ISA_TOOLS_ROWS_H
#define ISAPROBE_ISA_TOOLS_ROWS_H

#include <stddef.h>
#include <stdio.h>

#include "isa/form.h"

/* Prints the rows of forms[0..count), which share extension, mnemonic, prefix and decorator, sorted by
 * syntax. False on no memory. */
bool walk_rows_print(FILE *out, const struct isa_form *const *forms, size_t count);

#endif
