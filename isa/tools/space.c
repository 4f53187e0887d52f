/* SPDX-License-Identifier: Apache-2.0 */
/* The opcode space, byte by byte. Everything that changes an instruction's syntax is varied; what does not
 * (register numbers, displacements, the values of immediates) stands still. */
#include "isa/tools/space.h"

#include <string.h>

#include <Zydis/Zydis.h>

struct walker {
    ZydisDecoder decoder;
    walk_visit *visit;
    void *context;
};

/* An encoding in the making. */
struct bytes {
    uint8_t at[32];
    unsigned count;
};

static void put(struct bytes *bytes, unsigned value) {
    bytes->at[bytes->count++] = (uint8_t)value;
}

/* Immediates that keep their width and are no special case (1, 3, 0xff). */
static void visit(struct walker *walker, struct bytes bytes, unsigned suffix) {
    put(&bytes, suffix);
    for (unsigned i = 0; i < 8; i++)
        put(&bytes, 0x12 + i);
    walker->visit(walker->context, bytes.at, bytes.count < 15 ? bytes.count : 15);
}

enum { SUFFIX = 0x11, MODRM_RSI = 0x06, MODRM_SIB = 0x04, SIB_RSI_RDI = 0x3e };

/* Every ModRM byte that may matter: all of mod 3, and two addresses for each reg. */
static void modrm_walk(struct walker *walker, struct bytes bytes, unsigned suffix) {
    for (unsigned modrm = 0xc0; modrm <= 0xff; modrm++) {
        struct bytes with = bytes;
        put(&with, modrm);
        visit(walker, with, suffix);
    }
    for (unsigned reg = 0; reg < 8; reg++) {
        struct bytes plain = bytes, sib = bytes;
        put(&plain, reg << 3 | MODRM_RSI);
        visit(walker, plain, suffix);
        put(&sib, reg << 3 | MODRM_SIB);
        put(&sib, SIB_RSI_RDI);
        visit(walker, sib, suffix);
    }
}

static bool is_prefix(unsigned opcode) {
    return opcode == 0x26 || opcode == 0x2e || opcode == 0x36 || opcode == 0x3e || (opcode & 0xf0) == 0x40 ||
           (opcode >= 0x64 && opcode <= 0x67) || opcode == 0xf0 || opcode == 0xf2 || opcode == 0xf3 ||
           opcode == 0x0f || opcode == 0x62 || opcode == 0xc4 || opcode == 0xc5;
}

static void legacy_walk(struct walker *walker) {
    static const uint8_t prefixes[][2] = {{0, 0},       {0x66, 0}, {0xf3, 0},    {0xf2, 0}, {0x66, 0xf3},
                                          {0x66, 0xf2}, {0xf0, 0}, {0x66, 0xf0}, {0x67, 0}};
    static const uint8_t escapes[][2] = {{0, 0}, {0x0f, 0}, {0x0f, 0x38}, {0x0f, 0x3a}};
    for (unsigned map = 0; map < 4; map++)
        for (unsigned p = 0; p < sizeof prefixes / sizeof prefixes[0]; p++)
            for (unsigned rex = 0; rex < 3; rex++) /* none, W, and one that turns ah..bh into spl..dil */
                for (unsigned opcode = 0; opcode < 256; opcode++) {
                    struct bytes bytes = {.count = 0};
                    if ((map == 0 && is_prefix(opcode)) || (map == 1 && (opcode == 0x38 || opcode == 0x3a)))
                        continue;
                    for (unsigned i = 0; i < 2 && prefixes[p][i] != 0; i++)
                        put(&bytes, prefixes[p][i]);
                    if (rex > 0)
                        put(&bytes, rex == 1 ? 0x48 : 0x40);
                    for (unsigned i = 0; i < 2 && escapes[map][i] != 0; i++)
                        put(&bytes, escapes[map][i]);
                    put(&bytes, opcode);
                    modrm_walk(walker, bytes, SUFFIX);
                }
    /* 3DNow! has its opcode behind the operands. */
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        struct bytes bytes = {.at = {0x0f, 0x0f}, .count = 2};
        modrm_walk(walker, bytes, opcode);
    }
}

/* VEX and XOP: three bytes, all maps. */
static void vex_walk(struct walker *walker, unsigned escape, unsigned first_map, unsigned last_map) {
    static const uint8_t inverted_vvvv[] = {15, 13}; /* none or register 0, and register 2 */
    for (unsigned map = first_map; map <= last_map; map++)
        for (unsigned opcode = 0; opcode < 256; opcode++)
            for (unsigned flags = 0; flags < 16; flags++) /* W, L, pp */
                for (unsigned v = 0; v < sizeof inverted_vvvv; v++) {
                    struct bytes bytes = {.count = 0};
                    put(&bytes, escape);
                    put(&bytes, 0xe0 | map);
                    put(&bytes, (flags & 8) << 4 | (unsigned)inverted_vvvv[v] << 3 | (flags & 7));
                    put(&bytes, opcode);
                    modrm_walk(walker, bytes, SUFFIX);
                }
}

static ZydisMnemonic mnemonic_of(struct walker *walker, const struct bytes *bytes) {
    ZydisDecodedInstruction instruction;
    uint8_t code[15] = {0};
    memcpy(code, bytes->at, bytes->count);
    if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&walker->decoder, NULL, code, sizeof code, &instruction)))
        return ZYDIS_MNEMONIC_INVALID;
    return instruction.mnemonic;
}

struct evex {
    unsigned map, opcode, w, pp, length, vvvv;
};

static struct bytes evex_bytes(const struct evex *e, unsigned modrm, bool sib, unsigned zeroing, unsigned b,
                               unsigned mask) {
    struct bytes bytes = {.count = 0};
    put(&bytes, 0x62);
    put(&bytes, 0xf0 | e->map);
    put(&bytes, e->w << 7 | e->vvvv << 3 | 4 | e->pp);
    put(&bytes, zeroing << 7 | e->length << 5 | b << 4 | 8 | mask);
    put(&bytes, e->opcode);
    put(&bytes, modrm);
    if (sib)
        put(&bytes, SIB_RSI_RDI);
    return bytes;
}

/* All decorations of one opcode. ModRM.reg is an operand for most opcodes: where it does not change the
 * mnemonic, one value stands for all. */
static void evex_opcode_walk(struct walker *walker, const struct evex *e) {
    static const uint8_t rms[] = {0xc3, MODRM_RSI, MODRM_SIB};
    static const uint8_t regs[] = {1, 0, 2, 3, 4, 5, 6, 7};
    for (unsigned m = 0; m < sizeof rms; m++) {
        ZydisMnemonic usual[2] = {ZYDIS_MNEMONIC_INVALID, ZYDIS_MNEMONIC_INVALID};
        bool sib = rms[m] == MODRM_SIB;
        for (unsigned r = 0; r < sizeof regs; r++) {
            unsigned modrm = rms[m] | (unsigned)regs[r] << 3;
            ZydisMnemonic now[2];
            for (unsigned mask = 0; mask < 2; mask++) {
                struct bytes bytes = evex_bytes(e, modrm, sib, 0, 0, mask);
                now[mask] = mnemonic_of(walker, &bytes);
            }
            if (r == 0)
                memcpy(usual, now, sizeof usual);
            else if (memcmp(usual, now, sizeof usual) == 0)
                continue;
            for (unsigned flags = 0; flags < 8; flags++)
                visit(walker, evex_bytes(e, modrm, sib, flags >> 2, flags >> 1 & 1, flags & 1), SUFFIX);
        }
    }
}

static void evex_walk(struct walker *walker) {
    static const uint8_t maps[] = {1, 2, 3, 5, 6}, inverted_vvvv[] = {15, 13};
    for (unsigned map = 0; map < sizeof maps; map++)
        for (unsigned opcode = 0; opcode < 256; opcode++)
            for (unsigned flags = 0; flags < 32; flags++)
                for (unsigned v = 0; v < sizeof inverted_vvvv; v++) {
                    struct evex e = {maps[map], opcode,         flags >> 4,
                                     flags & 3, flags >> 2 & 3, inverted_vvvv[v]};
                    evex_opcode_walk(walker, &e);
                }
}

bool walk_space(walk_visit *visitor, void *context) {
    struct walker walker = {.visit = visitor, .context = context};
    if (ZYAN_FAILED(ZydisDecoderInit(&walker.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return false;
    legacy_walk(&walker);
    vex_walk(&walker, 0xc4, 1, 3);
    vex_walk(&walker, 0x8f, 8, 10);
    evex_walk(&walker);
    return true;
}
