/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/form.h"
#include "isa/kind.h"

static const char *const gpr8[] = {"al",  "cl",  "dl",   "bl",   "spl",  "bpl",  "sil",  "dil",
                                   "r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b", "r15b"};
static const char *const gpr8h[] = {"ah", "ch", "dh", "bh"};
static const char *const gpr16[] = {"ax",  "cx",  "dx",   "bx",   "sp",   "bp",   "si",   "di",
                                    "r8w", "r9w", "r10w", "r11w", "r12w", "r13w", "r14w", "r15w"};
static const char *const gpr32[] = {"eax", "ecx", "edx",  "ebx",  "esp",  "ebp",  "esi",  "edi",
                                    "r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d"};
static const char *const gpr64[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
static const char *const x87[] = {"st0", "st1", "st2", "st3", "st4", "st5", "st6", "st7"};
static const char *const mmx[] = {"mm0", "mm1", "mm2", "mm3", "mm4", "mm5", "mm6", "mm7"};
#define VECTORS(v)                                                                                           \
    {                                                                                                        \
        v "0", v "1", v "2", v "3", v "4", v "5", v "6", v "7", v "8", v "9", v "10", v "11", v "12",        \
            v "13", v "14", v "15", v "16", v "17", v "18", v "19", v "20", v "21", v "22", v "23", v "24",  \
            v "25", v "26", v "27", v "28", v "29", v "30", v "31"                                           \
    }
static const char *const xmm[] = VECTORS("xmm");
static const char *const ymm[] = VECTORS("ymm");
static const char *const zmm[] = VECTORS("zmm");
static const char *const mask[] = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"};
static const char *const tile[] = {"tmm0", "tmm1", "tmm2", "tmm3", "tmm4", "tmm5", "tmm6", "tmm7"};
static const char *const segment[] = {"es", "cs", "ss", "ds", "fs", "gs"};
static const char *const control[] = {"cr0", "cr1", "cr2",  "cr3",  "cr4",  "cr5",  "cr6",  "cr7",
                                      "cr8", "cr9", "cr10", "cr11", "cr12", "cr13", "cr14", "cr15"};
static const char *const debug[] = {"dr0", "dr1", "dr2",  "dr3",  "dr4",  "dr5",  "dr6",  "dr7",
                                    "dr8", "dr9", "dr10", "dr11", "dr12", "dr13", "dr14", "dr15"};
static const char *const bound[] = {"bnd0", "bnd1", "bnd2", "bnd3"};

static const struct {
    const char *const *names;
    unsigned count;
} files[] = {
    [ISA_REG_GPR8] = {gpr8, 16},      [ISA_REG_GPR8H] = {gpr8h, 4},  [ISA_REG_GPR16] = {gpr16, 16},
    [ISA_REG_GPR32] = {gpr32, 16},    [ISA_REG_GPR64] = {gpr64, 16}, [ISA_REG_X87] = {x87, 8},
    [ISA_REG_MMX] = {mmx, 8},         [ISA_REG_XMM] = {xmm, 32},     [ISA_REG_YMM] = {ymm, 32},
    [ISA_REG_ZMM] = {zmm, 32},        [ISA_REG_MASK] = {mask, 8},    [ISA_REG_TILE] = {tile, 8},
    [ISA_REG_SEGMENT] = {segment, 6},
};

const char *isa_reg_name(enum isa_reg_class reg_class, unsigned number) {
    if ((unsigned)reg_class >= sizeof files / sizeof files[0] || number >= files[reg_class].count)
        return NULL;
    return files[reg_class].names[number];
}

unsigned isa_reg_count(enum isa_reg_class reg_class, bool evex) {
    if ((unsigned)reg_class >= sizeof files / sizeof files[0])
        return 0;
    return isa_reg_is_vector(reg_class) && !evex ? 16 : files[reg_class].count;
}

bool isa_reg_is_vector(enum isa_reg_class reg_class) {
    return reg_class == ISA_REG_XMM || reg_class == ISA_REG_YMM || reg_class == ISA_REG_ZMM;
}

bool isa_reg_is_gpr(enum isa_reg_class reg_class) {
    return reg_class >= ISA_REG_GPR8 && reg_class <= ISA_REG_GPR64;
}

const char *isa_other_name(enum isa_other other, unsigned number) {
    switch (other) {
    case ISA_OTHER_CONTROL:
        return number < 16 ? control[number] : NULL;
    case ISA_OTHER_DEBUG:
        return number < 16 ? debug[number] : NULL;
    case ISA_OTHER_BOUND:
        return number < 4 ? bound[number] : NULL;
    default:
        return NULL;
    }
}
