/* SPDX-License-Identifier: Apache-2.0 */
/* results/osaca_names.h - the mnemonics by which OSACA looks a form up: it reads the assembly of compilers,
 * in AT&T's syntax. Internal to results/. */
#ifndef ISAPROBE_RESULTS_OSACA_NAMES_H
#define ISAPROBE_RESULTS_OSACA_NAMES_H

#include "common/text.h"
#include "isa/form.h"

/* Appends "shl", or "[shl, sal]": isaprobe's, other assemblers', and those of GNU that are no other name with
 * a letter for the size behind it (which OSACA takes off). */
void res_osaca_names_append(struct ip_text *text, const struct isa_form *form);

/* Appends the names of a comparison that say its last operand, the immediate, and go without one: "[cmpeqpd,
 * cmpltpd, ...]". False, and nothing, where the form is none. */
bool res_osaca_predicates_append(struct ip_text *text, const struct isa_form *form);

/* 'x', 'y' or 'z' behind the mnemonic, which says how wide the source is where the destination does not
 * ("vcvtpd2psy %ymm0, %xmm0", and of memory); '\0': the form has no such letter. */
char res_osaca_width_letter(const struct isa_form *form);

#endif
