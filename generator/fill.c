/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "generator/operands.h"
#include "generator/shapes.h"

/* Repeats `value` of `bytes` bytes, little-endian. */
static void fill_repeat(uint8_t fill[64], uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < 64; i++) {
        fill[i] = (uint8_t)(value >> (8 * (i % bytes)));
    }
}

/* 1.0 stays normal under any number of additions, multiplications, divisions and square roots of itself. */
static void fill_floating(uint8_t fill[64], const struct isa_form *form) {
    switch (form->element_bits) {
    case 16:
        fill_repeat(fill, strstr(form->mnemonic, "bf16") != NULL ? 0x3f80 : 0x3c00, 2);
        break;
    case 32:
        fill_repeat(fill, 0x3f800000, 4);
        break;
    case 80: /* the integer bit of the mantissa is written out; no stride is smaller than 16 bytes */
        memset(fill, 0, 64);
        for (unsigned i = 0; i < 64; i += 16) {
            fill[i + 7] = 0x80;
            fill[i + 8] = 0xff;
            fill[i + 9] = 0x3f;
        }
        break;
    default:
        fill_repeat(fill, UINT64_C(0x3ff0000000000000), 8);
        break;
    }
}

/* What instructions that load modes may find in memory: modes in which nothing traps. They repeat every 32
 * bytes, as the operands lie. Returns false for all other forms. */
static bool fill_state(uint8_t fill[64], const struct isa_form *form, int memory) {
    static const char *const modes[] = {"ldmxcsr", "vldmxcsr", NULL}, *const control[] = {"fldcw", NULL},
                             *const x87[] = {"fldenv", "frstor", NULL},
                             *const all[] = {"fxrstor", "fxrstor64", NULL};
    enum { CONTROL = 0x037f, TAGS = 0xffff, MXCSR = 0x9fc0 }; /* all masked; all empty; flush to zero, too */
    memset(fill, 0, 64);
    if (gen_mnemonic_is_one_of(form->mnemonic, modes)) {
        fill_repeat(fill, MXCSR, 4);
    } else if (gen_mnemonic_is_one_of(form->mnemonic, control)) {
        fill_repeat(fill, CONTROL, 2);
    } else if (gen_mnemonic_is_one_of(form->mnemonic, x87)) {
        /* Control, status and tags: words, or with 32-bit operands doublewords. */
        unsigned step = form->operands[memory].bits == 112 || form->operands[memory].bits == 752 ? 2 : 4;
        for (unsigned i = 0; i < 64; i += 32) {
            fill[i] = CONTROL & 0xff;
            fill[i + 1] = CONTROL >> 8;
            fill[i + 2 * step] = fill[i + 2 * step + 1] = TAGS & 0xff;
        }
    } else if (gen_mnemonic_is_one_of(form->mnemonic, all)) {
        for (unsigned i = 0; i < 64; i += 32) {
            fill[i] = CONTROL & 0xff;
            fill[i + 1] = CONTROL >> 8;
            fill[i + 24] = MXCSR & 0xff;
            fill[i + 25] = MXCSR >> 8;
        }
    } else {
        return gen_form_loads_segment(form); /* null selectors */
    }
    return true;
}

void gen_fill_for_form(const struct isa_form *form, uint8_t memory_fill[64], uint8_t vector_fill[64]) {
    uint8_t fill[64];
    int memory = isa_form_memory_operand(form);
    if (fill_state(fill, form, memory)) {
        /* done */
    } else if (strcmp(form->mnemonic, "ldtilecfg") == 0) {
        memset(fill, 0, sizeof fill); /* palette 1 and no tile */
        fill[0] = 1;
    } else if (gen_form_is_gather(form)) {
        memset(fill, 0, sizeof fill); /* indices: every element is at the base, whatever was loaded */
    } else if (gen_form_takes_selector(form)) {
        fill_repeat(fill, GEN_SELECTOR, 8);
    } else if (gen_form_scans(form)) {
        fill_repeat(fill, 1, 1); /* all elements are what RAX holds, or none is (gen_form_gpr_fill) */
    } else if (gen_form_seeks(form)) {
        for (unsigned i = 0; i < sizeof fill; i++) {
            fill[i] = (uint8_t)i; /* no two are alike */
        }
    } else if (strstr(form->mnemonic, "maskmov") != NULL) {
        memset(fill, 0xff, sizeof fill); /* masks: elements whose sign bit is clear would not be moved */
    } else if (gen_form_divides(form) && memory >= 0) {
        unsigned bytes = form->operands[memory].bits / 8u;
        fill_repeat(fill, 1, bytes >= 1 && bytes <= 8 ? bytes : 8);
    } else if (form->floating) {
        fill_floating(fill, form);
    } else {
        /* Integers and bits: 1 in each element. General-purpose forms see the quadword 0x101 that their
         * registers hold, too. */
        unsigned bytes = form->element_bits / 8u;
        bool element = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
        fill_repeat(fill, element ? 1 : 0x101, element ? bytes : 8);
    }
    memcpy(memory_fill, fill, sizeof fill);
    memcpy(vector_fill, fill, sizeof fill);
}

bool gen_form_may_depend_on_values(const struct isa_form *form) {
    bool root = strstr(form->mnemonic, "sqrt") != NULL && strstr(form->mnemonic, "rsqrt") == NULL;
    return gen_form_divides(form) || root || strstr(form->mnemonic, "div") != NULL;
}

bool gen_form_depends_on_values(const struct isa_form *form) {
    return gen_form_divides(form) || (form->floating && gen_form_may_depend_on_values(form));
}

void gen_slow_fill_for_form(const struct isa_form *form, uint8_t memory_fill[64], uint8_t vector_fill[64]) {
    int memory = isa_form_memory_operand(form);
    if (gen_form_divides(form)) {
        gen_fill_for_form(form, memory_fill, vector_fill);
        unsigned bytes = memory >= 0 ? form->operands[memory].bits / 8u : 8;
        fill_repeat(memory_fill, GEN_SLOW_DIVISOR, bytes >= 1 && bytes <= 8 ? bytes : 8);
        return;
    }
    switch (form->element_bits) {
    case 16:
        fill_repeat(vector_fill, 0x6b5b, 2);
        fill_repeat(memory_fill, 0x4797, 2);
        break;
    case 32:
        fill_repeat(vector_fill, 0x725a3c71, 4);
        fill_repeat(memory_fill, 0x40972b5d, 4);
        break;
    default:
        fill_repeat(vector_fill, UINT64_C(0x4650f3a91c5d27b3), 8);
        fill_repeat(memory_fill, UINT64_C(0x4012b7e151628aed), 8);
        break;
    }
}
