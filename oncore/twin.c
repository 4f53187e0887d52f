/* SPDX-License-Identifier: Apache-2.0 */
/* oncore/twin.c - the same operation between registers. */
#include <stdio.h>
#include <string.h>

#include "oncore/cost_steps.h"

/* The register kind that stands for a memory operand of `bits`; NULL: none. `vector`: a vector register. */
static const char *register_kind(bool vector, unsigned bits) {
    if (vector) {
        return bits <= 128 ? "xmm" : bits == 256 ? "ymm" : bits == 512 ? "zmm" : NULL;
    }
    switch (bits) {
    case 8:
        return "r8";
    case 16:
        return "r16";
    case 32:
        return "r32";
    case 64:
        return "r64";
    default:
        return NULL;
    }
}

bool core_twin_syntax(const struct isa_form *form, char *syntax) {
    int memory = isa_form_memory_operand(form);
    if (memory < 0 || form->operands[memory].implicit || strcmp(form->prefix, "lock") == 0) {
        return false;
    }
    bool vector = form->floating; /* CVTSD2SI from memory has no vector register, its twin has */
    for (unsigned i = 0; i < form->operand_count; i++) {
        enum isa_reg_class reg_class = form->operands[i].reg_class;
        vector = vector || isa_reg_is_vector(reg_class);
        if (reg_class == ISA_REG_X87 || reg_class == ISA_REG_MMX) {
            return false;
        }
    }
    unsigned bits = form->operands[memory].bits;
    if (form->operands[memory].broadcast != 0) {
        bits = isa_form_vector_bits(form);
    }
    const char *kind = register_kind(vector, bits);
    /* The memory operand begins with 'm' behind a blank: "add r64, m64", "vaddpd xmm, xmm, m64{1to2}". */
    const char *found = NULL;
    for (const char *at = strchr(form->syntax, ' '); at != NULL; at = strchr(at + 1, ' ')) {
        if (at[1] == 'm' && at[2] >= '0' && at[2] <= '9') {
            found = at + 1;
        }
    }
    if (kind == NULL || found == NULL) {
        return false;
    }
    const char *rest = found + strcspn(found, ",{");
    if (*rest == '{') {
        rest += strcspn(rest, ",");
    }
    int length =
        snprintf(syntax, ISA_SYNTAX_MAX, "%.*s%s%s", (int)(found - form->syntax), form->syntax, kind, rest);
    return length > 0 && length < ISA_SYNTAX_MAX;
}

bool core_width_syntax(const char *syntax, unsigned number, char *other) {
    static const char *const widths[] = {"r64", "r32", "r16"};
    if (number >= sizeof widths / sizeof widths[0]) {
        return false;
    }
    bool changed = false;
    size_t length = 0;
    for (const char *at = syntax; *at != '\0' && length + 4 < ISA_SYNTAX_MAX;) {
        bool wide = false;
        for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
            wide = wide || (strncmp(at, widths[i], 3) == 0 && at > syntax && at[-1] == ' ');
        }
        memcpy(other + length, wide ? widths[number] : at, wide ? 3 : 1);
        changed = changed || (wide && strncmp(at, widths[number], 3) != 0);
        at += wide ? 3 : 1;
        length += wide ? 3 : 1;
    }
    other[length] = '\0';
    return changed;
}
