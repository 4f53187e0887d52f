/* SPDX-License-Identifier: Apache-2.0 */
/* isa/nearest.h - which known names a misspelt one may have meant. */
#ifndef ISAPROBE_ISA_NEAREST_H
#define ISAPROBE_ISA_NEAREST_H

#include "isa/form.h"

enum {
    ISA_NEAREST_MAX = 4,
    ISA_NEAREST_TEXT = ISA_NEAREST_MAX * (ISA_MNEMONIC_MAX + 2), /* bytes of their list, NUL included */
};

struct isa_nearest {
    const char *wanted;                 /* borrowed */
    const char *names[ISA_NEAREST_MAX]; /* borrowed; the nearest first */
    unsigned distances[ISA_NEAREST_MAX];
    unsigned count;
};

/* Offers a name of less than ISA_MNEMONIC_MAX bytes; kept when it is near `wanted` (letters of either case
 * are alike) and among the nearest. Of equally near ones those that were offered first are kept. */
void isa_nearest_add(struct isa_nearest *nearest, const char *name);
/* "addpd, add", or "" when none is near. Returns `text`. */
const char *isa_nearest_list(const struct isa_nearest *nearest, char text[ISA_NEAREST_TEXT]);

#endif
