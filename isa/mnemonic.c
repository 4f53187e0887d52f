/* SPDX-License-Identifier: Apache-2.0 */
/* One name for what assemblers call by several. */
#include <stdio.h>
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

/* Around a condition. */
static const struct {
    const char *before, *behind;
} conditional[] = {{"j", ""}, {"set", ""}, {"cmov", ""}, {"cmp", "xadd"}};

static void condition_canonicalise(char *condition, const char *behind) {
    size_t length = strlen(condition) - strlen(behind);
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
        if (strlen(conditions[i].from) == length && strncmp(condition, conditions[i].from, length) == 0) {
            strcpy(condition, conditions[i].to);
            strcat(condition, behind);
            return;
        }
    }
}

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
    for (size_t i = 0; i < sizeof conditional / sizeof conditional[0]; i++) {
        size_t before = strlen(conditional[i].before), behind = strlen(conditional[i].behind);
        size_t length = strlen(mnemonic);
        if (length > before + behind && strncmp(mnemonic, conditional[i].before, before) == 0 &&
            strcmp(mnemonic + length - behind, conditional[i].behind) == 0)
            condition_canonicalise(mnemonic + before, conditional[i].behind);
    }
}

static unsigned other_add(char names[ISA_OTHER_NAMES_MAX][ISA_MNEMONIC_MAX], unsigned count,
                          const char *before, const char *name, const char *behind) {
    if (count < ISA_OTHER_NAMES_MAX) {
        (void)snprintf(names[count++], ISA_MNEMONIC_MAX, "%s%s%s", before, name, behind);
    }
    return count;
}

unsigned isa_mnemonic_others(const char *mnemonic, char names[ISA_OTHER_NAMES_MAX][ISA_MNEMONIC_MAX]) {
    unsigned count = 0;
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        count = strcmp(mnemonic, whole[i].to) == 0 ? other_add(names, count, "", whole[i].from, "") : count;
    }
    for (size_t i = 0; i < sizeof conditional / sizeof conditional[0]; i++) {
        for (size_t c = 0; c < sizeof conditions / sizeof conditions[0]; c++) {
            char name[ISA_MNEMONIC_MAX];
            (void)snprintf(name, sizeof name, "%s%s%s", conditional[i].before, conditions[c].to,
                           conditional[i].behind);
            if (strcmp(mnemonic, name) == 0) {
                count =
                    other_add(names, count, conditional[i].before, conditions[c].from, conditional[i].behind);
            }
        }
    }
    return count;
}
