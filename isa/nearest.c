/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/nearest.h"

#include <stdio.h>
#include <string.h>

static bool same_letter(char a, char b) {
    a = a >= 'A' && a <= 'Z' ? (char)(a - 'A' + 'a') : a;
    b = b >= 'A' && b <= 'Z' ? (char)(b - 'A' + 'a') : b;
    return a == b;
}

/* Optimal string alignment distance, so that swapped letters count once. */
static unsigned edit_distance(const char *a, const char *b) {
    unsigned rows[3][ISA_MNEMONIC_MAX + 1];
    size_t la = strlen(a), lb = strlen(b);
    unsigned *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= lb; j++) {
        last[j] = (unsigned)j;
    }
    for (size_t i = 1; i <= la; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= lb; j++) {
            unsigned best = last[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            if (last[j] + 1 < best) {
                best = last[j] + 1;
            }
            if (now[j - 1] + 1 < best) {
                best = now[j - 1] + 1;
            }
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]) &&
                before[j - 2] + 1 < best) {
                best = before[j - 2] + 1;
            }
            now[j] = best;
        }
        unsigned *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[lb];
}

void isa_nearest_add(struct isa_nearest *nearest, const char *name) {
    size_t length = strlen(nearest->wanted);
    unsigned limit = length < 4 ? 1 : length < 8 ? 2 : 3;
    unsigned distance = edit_distance(nearest->wanted, name), at = nearest->count;
    if (distance > limit) {
        return;
    }
    for (unsigned k = 0; k < nearest->count; k++) {
        if (strcmp(nearest->names[k], name) == 0) {
            return;
        }
    }
    while (at > 0 && nearest->distances[at - 1] > distance) {
        at--;
    }
    if (at == ISA_NEAREST_MAX) {
        return;
    }
    nearest->count += nearest->count < ISA_NEAREST_MAX;
    for (unsigned k = nearest->count - 1; k > at; k--) {
        nearest->names[k] = nearest->names[k - 1];
        nearest->distances[k] = nearest->distances[k - 1];
    }
    nearest->names[at] = name;
    nearest->distances[at] = distance;
}

const char *isa_nearest_list(const struct isa_nearest *nearest, char text[ISA_NEAREST_TEXT]) {
    size_t length = 0;
    text[0] = '\0';
    for (unsigned k = 0; k < nearest->count; k++) {
        length += (size_t)snprintf(text + length, ISA_NEAREST_TEXT - length, "%s%s", k > 0 ? ", " : "",
                                   nearest->names[k]);
    }
    return text;
}
