/* SPDX-License-Identifier: Apache-2.0 */
/* One name for what assemblers call by several. */
#include <string.h>

#include "isa/parse.h"

struct alias {
    char from[8], to[8];
};

static const struct alias conditions[] = {
    {"e", "z"},   {"ne", "nz"}, {"c", "b"},   {"nae", "b"}, {"nc", "nb"}, {"ae", "nb"}, {"a", "nbe"},
    {"na", "be"}, {"pe", "p"},  {"po", "np"}, {"nge", "l"}, {"ge", "nl"}, {"ng", "le"}, {"g", "nle"},
};
static const struct alias whole[] = {
    {"sal", "shl"},     {"retn", "ret"},      {"xlatb", "xlat"}, {"wait", "fwait"},
    {"loopz", "loope"}, {"loopnz", "loopne"}, {"icebp", "int1"},
};

void isa_mnemonic_canonicalise(char *mnemonic) {
    for (char *p = mnemonic; *p != '\0'; p++) {
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
    }
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        if (strcmp(mnemonic, whole[i].from) == 0) {
            strcpy(mnemonic, whole[i].to);
            return;
        }
    }
    size_t stem = mnemonic[0] == 'j'                  ? 1
                  : strncmp(mnemonic, "set", 3) == 0  ? 3
                  : strncmp(mnemonic, "cmov", 4) == 0 ? 4
                                                      : 0;
    if (stem == 0)
        return;
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
        if (strcmp(mnemonic + stem, conditions[i].from) == 0) {
            strcpy(mnemonic + stem, conditions[i].to);
            return;
        }
    }
}
