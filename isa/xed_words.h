/* SPDX-License-Identifier: Apache-2.0 */
/* isa/xed_words.h - the words for operands in XED's iforms: where an operand lies and how wide it is, in a
 * code of its own for each kind of encoding ("_GPRv_MEMv", "_XMMpd_XMMpd", "_YMMqq_MEMqq",
 * "_ZMMf64_MASKmskw_ZMMf64"). Internal to isa/. */
#ifndef ISAPROBE_ISA_XED_WORDS_H
#define ISAPROBE_ISA_XED_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <Zydis/Zydis.h>

/* Writes a word for each of `count` operands in `order`; `mnemonic` is in capitals. True when one of them
 * stands for several operand sizes. */
bool isa_xed_words_make(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands,
                        const uint8_t *order, unsigned count, const char *mnemonic, char *words, size_t size);

bool isa_xed_begins(const char *text, const char *with);
/* Is the word one of the list's, which are separated by blanks? The empty word is none. */
bool isa_xed_listed(const char *word, const char *list);

#endif
