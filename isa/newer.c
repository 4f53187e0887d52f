/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/newer.h"

#include <stdio.h>
#include <string.h>

enum { MAP_0F38 = 2, MAP_0F3A = 3, PP_NONE = 0, PP_66 = 1, PP_F3 = 2, PP_F2 = 3 };

struct carrier {
    const char *mnemonic;
    uint8_t map, pp, opcode;
    bool vex, keeps_w; /* W is the operands' size, else ignored */
    uint8_t rm;        /* which operand of the instruction */
    uint8_t order[4];  /* of the carrier's operands: which of the instruction's each one is */
};

static const struct carrier carriers[ISA_NEWER_LAYOUTS] = {
    [ISA_NEWER_RVM] = {"vpshufb", MAP_0F38, PP_66, 0x00, true, false, 2, {0, 1, 2}},
    [ISA_NEWER_RM] = {"vpabsb", MAP_0F38, PP_66, 0x1c, true, false, 1, {0, 1}},
    [ISA_NEWER_RVMI] = {"vpalignr", MAP_0F3A, PP_66, 0x0f, true, false, 2, {0, 1, 2, 3}},
    [ISA_NEWER_RMV] = {"tdpbf16ps", MAP_0F38, PP_F3, 0x5c, true, false, 1, {0, 1, 2}},
    [ISA_NEWER_MRV] = {"sarx", MAP_0F38, PP_F3, 0xf7, true, true, 0, {1, 0, 2}},
    [ISA_NEWER_MR] = {"movbe", MAP_0F38, PP_NONE, 0xf1, false, true, 0, {0, 1}},
};

enum { W0 = 0, W1 = 1, W_SIZE = 2, L128 = 1, L256 = 2, LBOTH = 3, REGISTER = 1, MEMORY = 2, EITHER = 3 };

/* A line each; what is zero is left out. */
#define DOT(name, set, prefix, code, held)                                                                   \
    {                                                                                                        \
        .mnemonic = (name), .extension = (set), .layout = ISA_NEWER_RVM, .pp = (prefix), .opcode = (code),   \
        .lengths = LBOTH, .kinds = "vvv", .actions = "urr", .rm = EITHER, .element_bits = 32,                \
        .types = (held), .category = "VEX"                                                                   \
    }
#define MADD52(name, code)                                                                                   \
    {                                                                                                        \
        .mnemonic = (name), .extension = "AVX_IFMA", .layout = ISA_NEWER_RVM, .pp = PP_66, .opcode = (code), \
        .w = W1, .lengths = LBOTH, .kinds = "vvv", .actions = "urr", .rm = EITHER, .element_bits = 64,       \
        .evex_twin = true, .types = "u64 u64 u64", .category = "AVX_IFMA"                                    \
    }
#define CONVERT(name, prefix, code, memory, held, of)                                                        \
    {                                                                                                        \
        .mnemonic = (name), .extension = "AVX_NE_CONVERT", .layout = ISA_NEWER_RM, .pp = (prefix),           \
        .opcode = (code), .lengths = LBOTH, .kinds = "vv", .actions = "wr", .rm = MEMORY,                    \
        .memory_bits = (memory), .element_bits = 16, .floating = true, .types = (held), .category = (of)     \
    }
#define CMP_ADD(name, code)                                                                                  \
    {                                                                                                        \
        .mnemonic = "cmp" name "xadd", .extension = "CMPCCXADD", .layout = ISA_NEWER_MRV, .pp = PP_66,       \
        .opcode = (code), .w = W_SIZE, .lengths = L128, .kinds = "ggg", .actions = "uur", .rm = MEMORY,      \
        .flags = true, .types = "u u u", .category = "VEX"                                                   \
    }
#define TILE(name, set, prefix, code)                                                                        \
    {                                                                                                        \
        .mnemonic = (name), .extension = (set), .layout = ISA_NEWER_RMV, .pp = (prefix), .opcode = (code),   \
        .lengths = L128, .kinds = "ttt", .actions = "urr", .rm = REGISTER, .element_bits = 32,               \
        .floating = true, .types = "f32 2f16 2f16", .category = "AMX_TILE"                                   \
    }
#define HASH(name, set, where, prefix, code, sizes, what, done, from, bits, held, of)                        \
    {                                                                                                        \
        .mnemonic = (name), .extension = (set), .layout = (where), .pp = (prefix), .opcode = (code),         \
        .lengths = (sizes), .kinds = (what), .actions = (done), .rm = (from), .element_bits = (bits),        \
        .types = (held), .category = (of)                                                                    \
    }
#define REMOTE(name, prefix)                                                                                 \
    {                                                                                                        \
        .mnemonic = (name), .extension = "RAO_INT", .layout = ISA_NEWER_MR, .pp = (prefix), .opcode = 0xfc,  \
        .w = W_SIZE, .lengths = L128, .kinds = "gg", .actions = "ur", .rm = MEMORY, .types = "n -",          \
        .category = "LEGACY"                                                                                 \
    }

static const struct isa_newer table[] = {
    MADD52("vpmadd52luq", 0xb4),
    MADD52("vpmadd52huq", 0xb5),
    DOT("vpdpbuud", "AVX_VNNI_INT8", PP_NONE, 0x50, "u32 4u8 4u8"),
    DOT("vpdpbuuds", "AVX_VNNI_INT8", PP_NONE, 0x51, "u32 4u8 4u8"),
    DOT("vpdpbsud", "AVX_VNNI_INT8", PP_F3, 0x50, "i32 4i8 4u8"),
    DOT("vpdpbsuds", "AVX_VNNI_INT8", PP_F3, 0x51, "i32 4i8 4u8"),
    DOT("vpdpbssd", "AVX_VNNI_INT8", PP_F2, 0x50, "i32 4i8 4i8"),
    DOT("vpdpbssds", "AVX_VNNI_INT8", PP_F2, 0x51, "i32 4i8 4i8"),
    DOT("vpdpwuud", "AVX_VNNI_INT16", PP_NONE, 0xd2, "u32 2u16 2u16"),
    DOT("vpdpwuuds", "AVX_VNNI_INT16", PP_NONE, 0xd3, "u32 2u16 2u16"),
    DOT("vpdpwusd", "AVX_VNNI_INT16", PP_66, 0xd2, "i32 2u16 2i16"),
    DOT("vpdpwusds", "AVX_VNNI_INT16", PP_66, 0xd3, "i32 2u16 2i16"),
    DOT("vpdpwsud", "AVX_VNNI_INT16", PP_F3, 0xd2, "i32 2i16 2u16"),
    DOT("vpdpwsuds", "AVX_VNNI_INT16", PP_F3, 0xd3, "i32 2i16 2u16"),
    CONVERT("vbcstnesh2ps", PP_66, 0xb1, 16, "f32 f16", "BROADCAST"),
    CONVERT("vbcstnebf162ps", PP_F3, 0xb1, 16, "f32 bf16", "BROADCAST"),
    CONVERT("vcvtneoph2ps", PP_NONE, 0xb0, 0, "f32 2f16", "CONVERT"),
    CONVERT("vcvtneeph2ps", PP_66, 0xb0, 0, "f32 2f16", "CONVERT"),
    CONVERT("vcvtneebf162ps", PP_F3, 0xb0, 0, "f32 2bf16", "CONVERT"),
    CONVERT("vcvtneobf162ps", PP_F2, 0xb0, 0, "f32 2bf16", "CONVERT"),
    {.mnemonic = "vcvtneps2bf16",
     .extension = "AVX_NE_CONVERT",
     .layout = ISA_NEWER_RM,
     .pp = PP_F3,
     .opcode = 0x72,
     .lengths = LBOTH,
     .kinds = "xv",
     .actions = "wr",
     .rm = EITHER,
     .element_bits = 32,
     .floating = true,
     .evex_twin = true,
     .types = "bf16 f32",
     .category = "CONVERT"},
    CMP_ADD("o", 0xe0),
    CMP_ADD("no", 0xe1),
    CMP_ADD("b", 0xe2),
    CMP_ADD("nb", 0xe3),
    CMP_ADD("z", 0xe4),
    CMP_ADD("nz", 0xe5),
    CMP_ADD("be", 0xe6),
    CMP_ADD("nbe", 0xe7),
    CMP_ADD("s", 0xe8),
    CMP_ADD("ns", 0xe9),
    CMP_ADD("p", 0xea),
    CMP_ADD("np", 0xeb),
    CMP_ADD("l", 0xec),
    CMP_ADD("nl", 0xed),
    CMP_ADD("le", 0xee),
    CMP_ADD("nle", 0xef),
    HASH("vsha512msg1", "SHA512", ISA_NEWER_RM, PP_F2, 0xcc, L256, "yx", "ur", REGISTER, 64, "u64 u64",
         "SHA512"),
    HASH("vsha512msg2", "SHA512", ISA_NEWER_RM, PP_F2, 0xcd, L256, "yy", "ur", REGISTER, 64, "u64 u64",
         "SHA512"),
    HASH("vsha512rnds2", "SHA512", ISA_NEWER_RVM, PP_F2, 0xcb, L256, "yyx", "urr", REGISTER, 64,
         "u64 u64 u64", "SHA512"),
    HASH("vsm3msg1", "SM3", ISA_NEWER_RVM, PP_NONE, 0xda, L128, "xxx", "urr", EITHER, 32, "u32 u32 u32",
         "VEX"),
    HASH("vsm3msg2", "SM3", ISA_NEWER_RVM, PP_66, 0xda, L128, "xxx", "urr", EITHER, 32, "u32 u32 u32", "VEX"),
    HASH("vsm3rnds2", "SM3", ISA_NEWER_RVMI, PP_66, 0xde, L128, "xxxi", "urrr", EITHER, 32, "u32 u32 u32 n",
         "VEX"),
    HASH("vsm4key4", "SM4", ISA_NEWER_RVM, PP_F3, 0xda, LBOTH, "vvv", "wrr", EITHER, 32, "u32 u32 u32",
         "VEX"),
    HASH("vsm4rnds4", "SM4", ISA_NEWER_RVM, PP_F2, 0xda, LBOTH, "vvv", "wrr", EITHER, 32, "u32 u32 u32",
         "VEX"),
    TILE("tdpfp16ps", "AMX_FP16", PP_F2, 0x5c),
    TILE("tcmmimfp16ps", "AMX_COMPLEX", PP_66, 0x6c),
    TILE("tcmmrlfp16ps", "AMX_COMPLEX", PP_NONE, 0x6c),
    REMOTE("aadd", PP_NONE),
    REMOTE("aand", PP_66),
    REMOTE("aor", PP_F2),
    REMOTE("axor", PP_F3),
};
enum { TABLE = sizeof table / sizeof table[0] };

static const uint8_t prefix_bytes[] = {[PP_NONE] = 0, [PP_66] = 0x66, [PP_F3] = 0xf3, [PP_F2] = 0xf2};

static const struct isa_newer *vex_at(const uint8_t *code, size_t code_bytes) {
    if (code_bytes < 5 || code[0] != 0xc4)
        return NULL;
    unsigned map = code[1] & 31u, w = code[2] >> 7, length = code[2] >> 2 & 1u, pp = code[2] & 3u;
    for (unsigned i = 0; i < TABLE; i++) {
        const struct carrier *carrier = &carriers[table[i].layout];
        if (carrier->vex && carrier->map == map && table[i].pp == pp && table[i].opcode == code[3] &&
            (table[i].w == W_SIZE || table[i].w == w) && (table[i].lengths >> length & 1) != 0)
            return &table[i];
    }
    return NULL;
}

/* [66|F2|F3] [REX] 0F 38 opcode: `opcode_at` gets the place of the opcode. */
static const struct isa_newer *legacy_at(const uint8_t *code, size_t code_bytes, size_t *opcode_at) {
    unsigned pp = PP_NONE;
    for (unsigned p = PP_66; p <= PP_F2 && code_bytes > 0; p++)
        pp = code[0] == prefix_bytes[p] ? p : pp;
    size_t at = pp == PP_NONE ? 0 : 1;
    at += at < code_bytes && (code[at] & 0xf0) == 0x40;
    if (at + 4 > code_bytes || code[at] != 0x0f || code[at + 1] != 0x38)
        return NULL;
    for (unsigned i = 0; i < TABLE; i++) {
        if (!carriers[table[i].layout].vex && table[i].pp == pp && table[i].opcode == code[at + 2]) {
            *opcode_at = at + 2;
            return &table[i];
        }
    }
    return NULL;
}

const struct isa_newer *isa_newer_at(const uint8_t *code, size_t code_bytes, uint8_t carrier[ISA_CODE_MAX],
                                     size_t *carrier_bytes) {
    size_t bytes = code_bytes < ISA_CODE_MAX ? code_bytes : ISA_CODE_MAX, opcode_at = 0;
    const struct isa_newer *newer = vex_at(code, bytes);
    if (newer != NULL) {
        const struct carrier *like = &carriers[newer->layout];
        memcpy(carrier, code, bytes);
        carrier[2] = (uint8_t)((code[2] & (like->keeps_w ? 0xfc : 0x7c)) | like->pp);
        carrier[3] = like->opcode;
        *carrier_bytes = bytes;
        return newer;
    }
    newer = legacy_at(code, bytes, &opcode_at);
    if (newer != NULL) {
        size_t skipped = isa_newer_excess(newer);
        memcpy(carrier, code + skipped, bytes - skipped);
        carrier[opcode_at - skipped] = carriers[newer->layout].opcode;
        *carrier_bytes = bytes - skipped;
    }
    return newer;
}

size_t isa_newer_excess(const struct isa_newer *newer) {
    return !carriers[newer->layout].vex && newer->pp != PP_NONE ? 1 : 0;
}

/* The kinds of a register operand; `vector` is the class of the encoded length, `general` that of W. */
static struct isa_operand register_of(char kind, enum isa_reg_class vector, enum isa_reg_class general) {
    struct isa_operand op = {.kind = ISA_OPERAND_REG, .reg = -1};
    op.reg_class = kind == 'g'   ? general
                   : kind == 't' ? ISA_REG_TILE
                   : kind == 'x' ? ISA_REG_XMM
                   : kind == 'y' ? ISA_REG_YMM
                                 : vector;
    op.bits = op.reg_class == ISA_REG_TILE    ? 8192
              : op.reg_class == ISA_REG_XMM   ? 128
              : op.reg_class == ISA_REG_YMM   ? 256
              : op.reg_class == ISA_REG_GPR64 ? 64
                                              : 32;
    return op;
}

bool isa_newer_decoded(const struct isa_newer *newer, struct isa_form *form, struct isa_binding *binding) {
    const struct carrier *like = &carriers[newer->layout];
    struct isa_form out = {
        .vex = like->vex, .element_bits = newer->element_bits, .floating = newer->floating};
    struct isa_binding bound = *binding;
    size_t count = strlen(newer->kinds);
    enum isa_reg_class vector = ISA_REG_NONE, general = ISA_REG_NONE;
    for (size_t i = 0; i < count; i++) {
        enum isa_reg_class class = form->operands[i].reg_class;
        vector = isa_reg_is_vector(class) ? class : vector;
        general = isa_reg_is_gpr(class) ? class : general;
    }
    for (size_t i = 0; i < count; i++) {
        unsigned mine = like->order[i];
        const struct isa_operand *from = &form->operands[i];
        struct isa_operand *to = &out.operands[mine];
        *to = register_of(newer->kinds[mine], vector, general);
        bound.reg[mine] = binding->reg[i];
        bound.imm[mine] = binding->imm[i];
        if (from->kind == ISA_OPERAND_IMM)
            *to = *from;
        if (from->kind == ISA_OPERAND_MEM) {
            *to = (struct isa_operand){.kind = ISA_OPERAND_MEM, .reg = -1, .bits = to->bits};
            to->bits = newer->memory_bits != 0 ? newer->memory_bits : to->bits;
        }
        if (mine == (unsigned)like->rm &&
            (newer->rm & (from->kind == ISA_OPERAND_MEM ? MEMORY : REGISTER)) == 0)
            return false;
        to->read = newer->actions[mine] != 'w';
        to->write = newer->actions[mine] != 'r';
    }
    out.explicit_count = out.operand_count = (uint8_t)count;
    if (newer->flags) {
        out.flags_written = ISA_ARITHMETIC_FLAGS;
        out.operands[out.operand_count++] =
            (struct isa_operand){.kind = ISA_OPERAND_FLAGS, .reg = -1, .implicit = true, .write = true};
    }
    (void)snprintf(out.mnemonic, sizeof out.mnemonic, "%s", newer->mnemonic);
    (void)snprintf(out.prefix, sizeof out.prefix, "%s", newer->evex_twin ? "{vex}" : "");
    (void)snprintf(out.extension, sizeof out.extension, "%s", newer->extension);
    (void)snprintf(out.isa_set, sizeof out.isa_set, "%s", newer->extension);
    out.derived = true;
    *form = out;
    *binding = bound;
    return true;
}

const struct isa_newer *isa_newer_of(const struct isa_form *form) {
    for (unsigned i = 0; i < TABLE; i++) {
        const char *prefix = table[i].evex_twin ? "{vex}" : "";
        if (strcmp(form->mnemonic, table[i].mnemonic) == 0 && strcmp(form->prefix, prefix) == 0 &&
            form->explicit_count == strlen(table[i].kinds))
            return &table[i];
    }
    return NULL;
}

/* The encoded length is that of the operand that the table calls v; where none is, there is only one. */
static enum isa_reg_class vector_class(const struct isa_newer *newer, const struct isa_form *form) {
    const char *v = strchr(newer->kinds, 'v');
    bool wide = newer->lengths == L256;
    if (v != NULL) {
        const struct isa_operand *op = &form->operands[v - newer->kinds];
        wide = op->bits == 256;
    }
    return wide ? ISA_REG_YMM : ISA_REG_XMM;
}

void isa_newer_carrier(const struct isa_newer *newer, const struct isa_form *form,
                       const struct isa_binding *binding, struct isa_form *carrier,
                       struct isa_binding *carried) {
    const struct carrier *like = &carriers[newer->layout];
    enum isa_reg_class vector = vector_class(newer, form);
    *carrier = (struct isa_form){.explicit_count = form->explicit_count};
    *carried = *binding;
    (void)snprintf(carrier->mnemonic, sizeof carrier->mnemonic, "%s", like->mnemonic);
    (void)snprintf(carrier->prefix, sizeof carrier->prefix, "%s", like->vex ? "{vex}" : "");
    for (unsigned i = 0; i < form->explicit_count; i++) {
        unsigned mine = like->order[i];
        const struct isa_operand *from = &form->operands[mine];
        struct isa_operand *to = &carrier->operands[i];
        *to = *from;
        if (from->kind == ISA_OPERAND_REG && isa_reg_is_vector(from->reg_class))
            *to = register_of('v', vector, ISA_REG_NONE);
        else if (from->kind == ISA_OPERAND_MEM && strchr(newer->kinds, 'g') == NULL)
            to->bits = vector == ISA_REG_YMM ? 256 : 128;
        carried->reg[i] = binding->reg[mine];
        carried->imm[i] = binding->imm[mine];
    }
}

bool isa_newer_encoded(const struct isa_newer *newer, uint8_t code[ISA_CODE_MAX], size_t *length) {
    const struct carrier *like = &carriers[newer->layout];
    if (like->vex) {
        if (*length < 5 || code[0] != 0xc4 || code[3] != like->opcode)
            return false;
        unsigned w = newer->w == W_SIZE ? code[2] & 0x80u : (unsigned)newer->w << 7;
        code[2] = (uint8_t)(w | (code[2] & 0x7cu) | newer->pp);
        code[3] = newer->opcode;
        return true;
    }
    size_t excess = isa_newer_excess(newer), at = (code[0] & 0xf0) == 0x40 ? 1 : 0;
    if (*length < at + 4 || *length + excess > ISA_CODE_MAX || code[at + 2] != like->opcode)
        return false;
    code[at + 2] = newer->opcode;
    memmove(code + excess, code, *length);
    if (excess != 0)
        code[0] = prefix_bytes[newer->pp];
    *length += excess;
    return true;
}
