/* SPDX-License-Identifier: Apache-2.0 */
/* isa/table.h - instruction tables: rows of syntax, expanded to forms. The format is described in
 * docs/isa.md.
 *
 *   # comment to the end of the line
 *   extension SSE2                         the extension of the rows that follow
 *   addpd xmm, xmm/m128                    two forms
 *   lock add m32, r32                      prefixes: lock rep repe repne {evex} {vex}
 *   vaddpd zmm{k}{z}, zmm, m64{1to8}       masks, zeroing, broadcast
 *   vaddpd zmm, zmm, zmm, {rn-sae}         embedded rounding, {sae}
 *   frob r64, r64 ; reads: op1 op2 flags writes: op1 note: free text
 *   vfoo xmm, m64 ; unsized raw            how NASM must be told, or that it cannot be
 *
 * Operand kinds: r8 r8h r16 r32 r64 mm xmm ymm zmm k tmm st sreg cr dr bnd, fixed registers (al ax eax rax cl
 * dx xmm0 st0 ...), m m8 m16 ... m4608 (m: unsized), vm32x vm32y vm32z vm64x vm64y vm64z (VSIB), moffs8 ...
 * moffs64, agen, imm8 imm16 imm32 imm64, a bare integer (that immediate only), rel8 rel32. */
#ifndef ISAPROBE_ISA_TABLE_H
#define ISAPROBE_ISA_TABLE_H

#include "common/error.h"
#include "common/text.h"
#include "isa/form.h"

struct isa_table {
    struct isa_form *forms; /* owned; in the order of the rows */
    size_t count, capacity;
    uint32_t *index; /* owned; open-addressing hash of the syntax -> position + 1 */
    size_t index_size;
};

void isa_table_fini(struct isa_table *table); /* an all-zero table is fine and empty */

/* Adds the rows of `text` (`length` bytes, not necessarily NUL-terminated). `name` stands in messages.
 * A form that is already there is replaced. IP_SYNTAX with "name:line:column" on a bad row; then the table is
 * unchanged. */
IP_CHECK enum ip_status isa_table_text_add(struct isa_table *table, const char *name, const char *text,
                                           size_t length, struct ip_error *err);
/* The same for a file ("-": standard input). */
IP_CHECK enum ip_status isa_table_file_add(struct isa_table *table, const char *path, struct ip_error *err);
/* The tables that are built into the library (isa/x86-64/ *.isa). */
IP_CHECK enum ip_status isa_table_builtin_add(struct isa_table *table, struct ip_error *err);

/* The form with this syntax (canonicalised first: case, blanks), or NULL. Borrowed. */
struct isa_form *isa_table_find(const struct isa_table *table, const char *syntax);

/* Selects forms: `query` is a mnemonic in any case ("ADDPD": all its forms), a syntax ("add r64, imm32"; with
 * alternatives it names all of them), a pattern of mnemonics with * and ? ("vadd*"), or, with a blank in it,
 * one of whole forms ("lock *", "v* zmm, zmm, m512"). Appends positions to *positions (realloc'd, owned by
 * the caller). IP_USAGE when nothing matches: the text names the nearest mnemonics or, for a known mnemonic,
 * its forms. */
IP_CHECK enum ip_status isa_table_select(const struct isa_table *table, const char *query, size_t **positions,
                                         size_t *count, struct ip_error *err);

/* Whether `extension` is one of `extensions`, in either case; where there are none all are wanted. */
bool isa_extension_wanted(const struct ip_lines *extensions, const char *extension);
/* IP_USAGE unless the table has forms of each of `extensions`: the text names the nearest ones. */
IP_CHECK enum ip_status isa_table_extensions_check(const struct isa_table *table,
                                                   const struct ip_lines *extensions, struct ip_error *err);

/* Parses one syntax ("add r64, imm32", no alternatives) into a form, outside any table. IP_SYNTAX names the
 * column. */
IP_CHECK enum ip_status isa_form_parse(struct isa_form *form, const char *syntax, struct ip_error *err);

#endif
