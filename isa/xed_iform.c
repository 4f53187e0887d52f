/* SPDX-License-Identifier: Apache-2.0 */
/* isa/xed_iform.c - iforms: the instruction's class, a word for each operand that is not suppressed, and what
 * tells encodings of one class and operands apart. */
#include "isa/xed_iform.h"

#include <stdio.h>
#include <string.h>

#include "common/ascii.h"
#include "isa/xed_words.h"

static void class_make(const ZydisDecodedInstruction *in, char *mnemonic, char *class, size_t size) {
    bool vector = in->meta.isa_ext == ZYDIS_ISA_EXT_SSE2;
    const char *renamed = isa_xed_listed(mnemonic, "CALL RET")                ? "_NEAR"
                          : strcmp(mnemonic, "RETF") == 0                     ? "ET_FAR"
                          : vector && isa_xed_listed(mnemonic, "MOVSD CMPSD") ? "_XMM"
                          : strcmp(mnemonic, "PEXTRW") == 0 &&
                                  in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && in->opcode == 0x15
                              ? "_SSE4"
                          : strcmp(mnemonic, "MOV") == 0 && in->meta.category != ZYDIS_CATEGORY_DATAXFER
                              ? "_CR"
                              : "";
    bool repeats =
        (in->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
    const char *repeat = !repeats                                         ? ""
                         : (in->attributes & ZYDIS_ATTRIB_HAS_REPNE) != 0 ? "REPNE_"
                         : (in->attributes & ZYDIS_ATTRIB_HAS_REPE) != 0  ? "REPE_"
                                                                          : "REP_";
    (void)snprintf(class, size, "%s%s%s%s", repeat, strcmp(mnemonic, "RETF") == 0 ? "R" : mnemonic, renamed,
                   (in->attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 && strcmp(mnemonic, "XCHG") != 0 ? "_LOCK"
                                                                                                  : "");
}

/* Moves and arithmetic between two registers can be encoded in two ways, one for each register in ModRM.rm:
 * the opcodes of both. False when there is one way only. */
static bool encodings_find(const ZydisDecodedInstruction *in, const char *class, const char *words,
                           unsigned *this, unsigned *that) {
    bool plain = isa_xed_listed(words, "_GPRv_GPRv _GPR8_GPR8") && in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;
    bool registers = words[0] != '\0' && strstr(words, "MEM") == NULL && strstr(words, "GPR") == NULL &&
                     strstr(words, "IMM") == NULL && in->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX;
    bool loads = in->opcode == 0x6f || in->opcode == 0x7f;
    unsigned differ = 0;
    if (plain && isa_xed_listed(class, "ADD OR ADC SBB AND SUB XOR CMP MOV")) {
        differ = 2;
    } else if (registers &&
               isa_xed_listed(class,
                              "MOVAPS MOVAPD VMOVAPS VMOVAPD MOVUPS MOVUPD VMOVUPS VMOVUPD MOVSS VMOVSS "
                              "MOVSD VMOVSD")) {
        differ = 1;
    } else if (registers && loads &&
               (isa_xed_listed(class, "MOVDQA MOVDQU VMOVDQA VMOVDQU") || strcmp(words, "_MMXq_MMXq") == 0)) {
        differ = 0x10;
    } else if (registers && isa_xed_listed(class, "MOVQ VMOVQ") &&
               (in->opcode == 0x7e || in->opcode == 0xd6)) {
        differ = 0x7e ^ 0xd6;
    }
    *this = in->opcode;
    *that = in->opcode ^ differ;
    return differ != 0;
}

/* What XED adds where opcodes share their operands. */
static void ending_make(const ZydisDecodedInstruction *in, const char *class, const char *words, char *ending,
                        size_t size) {
    static const char group[] = "ADD OR ADC SBB AND SUB XOR CMP";
    unsigned reg = in->raw.modrm.reg, opcode = in->opcode;
    bool prefixed = in->opcode_map == ZYDIS_OPCODE_MAP_0F; /* legacy names have it, VEX ones not */
    bool legacy = in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    ending[0] = '\0';
    if ((isa_xed_listed(class, group) && opcode == 0x80) || (strcmp(class, "TEST") == 0 && opcode >= 0xf6) ||
        (isa_xed_listed(class, "INC DEC") && strcmp(words, "_GPRv") == 0) || strcmp(class, "SHL") == 0) {
        (void)snprintf(ending, size, "_%02Xr%u", opcode, reg);
    } else if (isa_xed_listed(class, "PUSH POP") && strcmp(words, "_GPRv") == 0) {
        (void)snprintf(ending, size, "_%02X", opcode & 0xf8u);
    } else if (strcmp(class, "MOV") == 0 && strcmp(words, "_GPR8_IMMb") == 0) {
        (void)snprintf(ending, size, "%s", opcode == 0xc6 ? "_C6r0" : "_B0");
    } else if (strcmp(class, "NOP") == 0 && opcode == 0x90) {
        (void)snprintf(ending, size, "_90");
    } else if (isa_xed_listed(class, "MOVQ VMOVQ") && strstr(words, "MEM") != NULL &&
               in->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX) {
        (void)snprintf(ending, size, legacy && prefixed ? "_0F%02X" : "_%02X", opcode);
    } else if (strcmp(class, "VPEXTRW") == 0 && strstr(words, "GPR32d") != NULL) {
        (void)snprintf(ending, size, "_%02X", opcode);
    } else if (in->meta.isa_ext == ZYDIS_ISA_EXT_SHA) {
        (void)snprintf(ending, size, "_SHA");
    }
}

static const char *suffix(const ZydisDecodedInstruction *in, const char *class) {
    if (in->meta.category == ZYDIS_CATEGORY_KMASK) {
        return "_AVX512";
    }
    if (in->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX) {
        return "";
    }
    bool wide = in->avx.vector_length == 512;
    if (wide && (isa_xed_begins(class, "VPCONFLICT") || isa_xed_begins(class, "VPLZCNT") ||
                 isa_xed_begins(class, "VPBROADCASTM"))) {
        return "_AVX512CD";
    }
    /* What gives a narrower vector or a mask has one name for sources in memory of all widths. */
    bool half = isa_xed_begins(class, "VCVT") &&
                (strstr(class, "2PH") != NULL || isa_xed_begins(class, "VCVTNEPS2BF16")) &&
                !isa_xed_listed(class, "VCVTPS2PH VCVTW2PH VCVTUW2PH");
    bool narrows = half || isa_xed_begins(class, "VFPCLASSP") || isa_xed_begins(class, "VCVTPD2DQ") ||
                   isa_xed_begins(class, "VCVTTPD2DQ") || isa_xed_begins(class, "VCVTPD2PS") ||
                   isa_xed_begins(class, "VCVTPD2UDQ") || isa_xed_begins(class, "VCVTTPD2UDQ") ||
                   isa_xed_begins(class, "VCVTQQ2PS") || isa_xed_begins(class, "VCVTUQQ2PS");
    if (narrows || in->meta.category == ZYDIS_CATEGORY_GATHER ||
        in->meta.category == ZYDIS_CATEGORY_SCATTER) {
        return wide ? "_AVX512_VL512" : in->avx.vector_length == 256 ? "_AVX512_VL256" : "_AVX512_VL128";
    }
    return "_AVX512";
}

void isa_xed_capitals(char *capitals, size_t size, const char *text) {
    (void)snprintf(capitals, size, "%s", text);
    ip_ascii_capitals(capitals);
}

void isa_xed_iform_make(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands,
                        const uint8_t *order, unsigned count, struct isa_xed *xed) {
    char mnemonic[ISA_MNEMONIC_MAX], words[96] = "", ending[16];
    isa_xed_capitals(mnemonic, sizeof mnemonic, ZydisMnemonicGetString(instruction->mnemonic));
    class_make(instruction, mnemonic, xed->iclass, sizeof xed->iclass);
    bool nop = strcmp(mnemonic, "NOP") == 0 && instruction->opcode != 0x90;
    bool sized = isa_xed_words_make(instruction, operands, order, count, mnemonic, words, sizeof words);
    xed->other[0] = '\0';
    xed->eosz = sized || nop ? -1 : 0;
    if (strcmp(mnemonic, "PREFETCHW") == 0) { /* its opcode is all of its name */
        (void)snprintf(xed->iform, sizeof xed->iform, "PREFETCHW_0F0Dr%u",
                       (unsigned)instruction->raw.modrm.reg);
        return;
    }
    if (nop) { /* the register in ModRM.reg counts there; of one operand assemblers write 0F 1F */
        (void)snprintf(xed->iform, sizeof xed->iform, "NOP_%s_GPRv_0F%02X",
                       operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY ? "MEMv" : "GPRv",
                       count > 1 ? instruction->opcode : 0x1fu);
        return;
    }
    unsigned this, that;
    if (encodings_find(instruction, mnemonic, words, &this, &that)) {
        const char *map = instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
                                  instruction->opcode_map == ZYDIS_OPCODE_MAP_0F
                              ? "0F"
                              : "";
        (void)snprintf(xed->iform, sizeof xed->iform, "%s%s_%s%02X", xed->iclass, words, map, this);
        (void)snprintf(xed->other, sizeof xed->other, "%s%s_%s%02X", xed->iclass, words, map, that);
        /* 02 is the bit of arithmetic and MOV; moves of vectors load by their lower opcode. */
        xed->other_loads = (this ^ that) == 2 ? (that & 2) != 0 : that < this;
        return;
    }
    ending_make(instruction, mnemonic, words, ending, sizeof ending);
    (void)snprintf(xed->iform, sizeof xed->iform, "%s%s%s%s", xed->iclass, words, ending,
                   suffix(instruction, mnemonic));
}
