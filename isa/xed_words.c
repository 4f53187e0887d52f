/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/xed_words.h"

#include <stdio.h>
#include <string.h>

#include "common/ascii.h"

struct maker {
    const ZydisDecodedInstruction *in;
    const ZydisDecodedOperand *operands;
    const char *class; /* the mnemonic in capitals */
    char *out;
    size_t used, size;
    bool sized;            /* a word was written that stands for several operand sizes */
    unsigned vectors, mem; /* operands so far */
};

static void add(struct maker *maker, const char *word) {
    int length = snprintf(maker->out + maker->used, maker->size - maker->used, "%s", word);
    maker->used +=
        (size_t)length < maker->size - maker->used ? (size_t)length : maker->size - maker->used - 1;
}

bool isa_xed_begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with) {
    size_t length = strlen(text), end = strlen(with);
    return length >= end && strcmp(text + length - end, with) == 0;
}

bool isa_xed_listed(const char *word, const char *list) {
    size_t length = strlen(word);
    for (const char *at = list; length > 0 && (at = strstr(at, word)) != NULL; at += length) {
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

/* --- widths --------------------------------------------------------------------------------------------- */

static const char *width_code(unsigned bits) {
    switch (bits) {
    case 8:
        return "b";
    case 16:
        return "w";
    case 32:
        return "d";
    case 64:
        return "q";
    case 128:
        return "dq";
    case 256:
        return "qq";
    default:
        return "";
    }
}

static bool is_float(const ZydisDecodedOperand *op) {
    return op->element_type == ZYDIS_ELEMENT_TYPE_FLOAT16 || op->element_type == ZYDIS_ELEMENT_TYPE_FLOAT32 ||
           op->element_type == ZYDIS_ELEMENT_TYPE_FLOAT64;
}

/* Zydis calls most integers signed, XED most of them unsigned. */
static bool is_signed(const char *class, const ZydisDecodedOperand *op) {
    static const char *const stems[] = {"VPABS",     "VPADDSB",    "VPADDSW",  "VPSUBSB", "VPSUBSW",
                                        "VPMINS",    "VPMAXS",     "VPMOVS",   "VPMOVZX", "VPMULDQ",
                                        "VPMULHRSW", "VPMADDUBSW", "VPMADDWD", "VPACKSS", "VPCMPGTD",
                                        "VPCMPGTQ",  "SHA1",       "SHA256"};
    if (isa_xed_listed(class, "VPCMPB VPCMPW VPCMPD VPCMPQ")) {
        return true;
    }
    for (size_t i = 0; i < sizeof stems / sizeof stems[0]; i++) {
        if (isa_xed_begins(class, stems[i])) {
            return true;
        }
    }
    return isa_xed_begins(class, "VCVT") && op->element_type == ZYDIS_ELEMENT_TYPE_INT;
}

/* "f64", "u8": the elements, as EVEX instructions have them. */
static void element_add(struct maker *maker, const ZydisDecodedOperand *op, bool result) {
    char word[8];
    char type = is_float(op) ? 'f' : is_signed(maker->class, op) ? 'i' : 'u';
    unsigned bits = op->element_size;
    if (isa_xed_begins(maker->class,
                       "VPDP")) { /* dot products: the accumulator, bytes or words, both as double words */
        bool words = isa_xed_begins(maker->class, "VPDPW"),
             middle = maker->vectors == 2 && maker->in->avx.mask.reg != 0;
        type = result || (words && middle) ? 'i' : 'u';
        bits = middle && maker->in->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ? (words ? 16 : 8) : 32;
    } else if (isa_xed_listed(maker->class, "VCVTQQ2PD")) { /* the other way round, as XED has it */
        type = result ? 'i' : 'f';
    } else if (isa_xed_listed(maker->class, "VCVTQQ2PS") && !result) {
        type = 'u';
    } else if (isa_xed_listed(maker->class, "TDPBSSD TDPBSUD TDPBUSD") && result) {
        type = 'i';
    } else if ((isa_xed_begins(maker->class, "VPMULDQ") || isa_xed_begins(maker->class, "VPMULUDQ")) &&
               !result) {
        bits = 32;
    }
    (void)snprintf(word, sizeof word, "%c%u", type, bits);
    add(maker, word);
}

/* --- one operand ---------------------------------------------------------------------------------------- */

/* Does the instruction name its elements? EVEX, and what came with or after it. */
static bool has_elements(const ZydisDecodedInstruction *in) {
    return in->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX || in->meta.isa_ext == ZYDIS_ISA_EXT_AVX_VNNI ||
           in->meta.isa_ext == ZYDIS_ISA_EXT_SHA ||
           strstr(ZydisISASetGetString(in->meta.isa_set), "GFNI") != NULL ||
           (in->meta.isa_ext == ZYDIS_ISA_EXT_VAES && in->avx.vector_length == 256);
}

/* The widths of legacy SSE operands that do not follow from size and elements. */
static const struct {
    const char *classes; /* separated by blanks */
    const char *first, *vector,
        *memory; /* the first operand, other registers, memory; NULL: as the rule has it */
} sse[] = {
    {"ANDPS ANDNPS ORPS XORPS", "xud", "xud", "xud"},
    {"ANDPD ANDNPD ORPD XORPD", "xuq", "xuq", "xuq"},
    {"BLENDPD BLENDPS BLENDVPD BLENDVPS DPPD DPPS MOVNTDQA MOVNTDQ", "dq", "dq", "dq"},
    {"UNPCKHPD UNPCKLPD", "pd", "q", "dq"},
    {"UNPCKHPS", "ps", "dq", "dq"},
    {"UNPCKLPS", "ps", "q", "dq"},
    {"MOVDDUP", "dq", "q", "q"},
    {"MOVHLPS MOVLHPS MOVLPS", "q", "q", "q"},
    {"ROUNDSD", "q", "q", "q"},
    {"ROUNDSS", "d", "d", "d"},
    {"LDDQU", "pd", NULL, "dq"},
    {"INSERTPS", "ps", "ps", "d"},
    {"CVTDQ2PD", "pd", "q", "q"},
    {"CVTPI2PD", "pd", "q", "q"},
    {"CVTPS2PD", "pd", "q", "q"},
    {"CVTPI2PS CVTPS2PI CVTTPS2PI", "q", "q", "q"},
    {"CVTPD2PS", "ps", "pd", "pd"},
    {"CVTPD2DQ CVTTPD2DQ", "dq", "pd", "pd"},
};

static const char *sse_code(const struct maker *maker, const ZydisDecodedOperand *op, bool memory,
                            unsigned number) {
    for (size_t i = 0; i < sizeof sse / sizeof sse[0]; i++) {
        if (isa_xed_listed(maker->class, sse[i].classes)) {
            const char *code = memory ? sse[i].memory : number == 0 ? sse[i].first : sse[i].vector;
            if (code != NULL) {
                return code;
            }
        }
    }
    bool loads = isa_xed_listed(maker->class, "MOVSD MOVSS") && number == 0 && op->size == 128;
    if (isa_xed_begins(maker->class, "MOVHP") || isa_xed_begins(maker->class, "MOVLPD")) { /* halves */
        return memory ? "q" : ends(maker->class, "PD") ? "sd" : number > 0 || op->size == 128 ? "ps" : "q";
    }
    if (isa_xed_begins(maker->class, "MOVNTP") && memory) {
        return "dq";
    }
    if (strcmp(maker->class, "EXTRACTPS") == 0) {
        return memory ? "d" : maker->mem > 0 ? "ps" : "dq";
    }
    if (maker->class[0] == 'P' || !is_float(op) || loads ||
        isa_xed_listed(maker->class, "MPSADBW AESIMC MOVNTSD MOVNTSS")) {
        return width_code(op->size);
    }
    bool wide = op->element_size == 64;
    return op->size == 128          ? (wide ? "pd" : "ps")
           : wide && op->size == 64 ? "sd"
           : op->size == 32         ? "ss"
                                    : "q";
}

static void vector_add(struct maker *maker, const ZydisDecodedOperand *op, unsigned number) {
    ZydisRegisterClass file = ZydisRegisterGetClass(op->reg.value);
    add(maker, file == ZYDIS_REGCLASS_XMM   ? "_XMM"
               : file == ZYDIS_REGCLASS_YMM ? "_YMM"
               : file == ZYDIS_REGCLASS_ZMM ? "_ZMM"
                                            : "_MMX");
    maker->vectors++;
    if (has_elements(maker->in)) {
        element_add(maker, op, number == 0);
    } else if (file != ZYDIS_REGCLASS_MMX && maker->in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY) {
        add(maker, sse_code(maker, op, false, number));
    } else if (file == ZYDIS_REGCLASS_YMM) {
        add(maker, "qq"); /* VEXTRACTF128's source has all of it, too */
    } else {
        add(maker, width_code(op->size));
    }
}

/* General registers of instructions that name their width: "_GPR32d", "_VGPR64q", "_GPR32". */
static bool fixed_gpr_add(struct maker *maker, const ZydisDecodedOperand *op) {
    const ZydisDecodedInstruction *in = maker->in;
    bool wide = ZydisRegisterGetClass(op->reg.value) == ZYDIS_REGCLASS_GPR64;
    char word[16];
    if (has_elements(in) || in->meta.category == ZYDIS_CATEGORY_KMASK ||
        isa_xed_listed(maker->class, "MOVDIRI RDPID TPAUSE WRSSD WRSSQ RDSSPD RDSSPQ SENDUIPI")) {
        bool narrow = ends(maker->class, "B") || ends(maker->class, "W");
        bool byte = narrow && ends(maker->class, "B") && in->meta.category != ZYDIS_CATEGORY_KMASK;
        bool word16 = narrow && ends(maker->class, "W") && in->meta.category != ZYDIS_CATEGORY_KMASK;
        (void)snprintf(word, sizeof word, "_GPR%s%c%s", wide ? "64" : "32",
                       is_signed(maker->class, op) ? 'i' : 'u',
                       byte     ? "8"
                       : word16 ? "16"
                       : wide   ? "64"
                                : "32");
        add(maker, word);
        return true;
    }
    if (in->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX) {
        bool vector = in->meta.isa_ext == ZYDIS_ISA_EXT_AVX || in->meta.isa_ext == ZYDIS_ISA_EXT_AVX2;
        (void)snprintf(word, sizeof word, "_%sGPR%s", vector ? "" : "V", wide ? "64q" : "32d");
        add(maker, word);
        return true;
    }
    bool bare = isa_xed_listed(maker->class,
                               "MOVD MOVQ MOVMSKPD MOVMSKPS PMOVMSKB PEXTRW PINSRW MOVNTI UMWAIT INVPCID");
    if (bare || isa_xed_begins(maker->class, "CVT") || isa_xed_begins(maker->class, "PEXTR") ||
        isa_xed_begins(maker->class, "PINSR") || isa_xed_listed(maker->class, "EXTRACTPS ADCX ADOX")) {
        (void)snprintf(word, sizeof word, "_GPR%s%s", wide ? "64" : "32", bare ? "" : wide ? "q" : "d");
        add(maker, word);
        return true;
    }
    return false;
}

static void gpr_add(struct maker *maker, const ZydisDecodedOperand *op, unsigned number) {
    ZydisRegisterClass file = ZydisRegisterGetClass(op->reg.value);
    if (op->visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT) { /* AL, CL, DX, rAX */
        bool accumulator = ZydisRegisterGetId(op->reg.value) == 0 && file != ZYDIS_REGCLASS_GPR8;
        if (accumulator && strcmp(maker->class, "FNSTSW") != 0) {
            add(maker, isa_xed_listed(maker->class, "IN OUT") ? "_OeAX" : "_OrAX");
            maker->sized = true;
            return;
        }
        char word[8] = "_";
        const char *name = ZydisRegisterGetString(op->reg.value);
        for (size_t i = 0; name[i] != '\0' && i + 2 < sizeof word; i++) {
            word[i + 1] = ip_ascii_upper(name[i]);
            word[i + 2] = '\0';
        }
        add(maker, word);
        return;
    }
    if (strcmp(maker->class, "CRC32") == 0) {
        add(maker, number == 0 ? "_GPRyy" : file == ZYDIS_REGCLASS_GPR8 ? "_GPR8b" : "_GPRv");
        maker->sized = true;
    } else if (file == ZYDIS_REGCLASS_GPR8) {
        add(maker, "_GPR8");
    } else if (!fixed_gpr_add(maker, op)) {
        bool source16 = number == 1 && isa_xed_listed(maker->class, "MOVSX MOVZX");
        bool to_segment = number == 1 && strcmp(maker->class, "MOV") == 0 && maker->in->opcode == 0x8e;
        if (source16 || to_segment || isa_xed_listed(maker->class, "LLDT LMSW LTR VERR VERW")) {
            add(maker, "_GPR16");
        } else if (number == 1 && isa_xed_listed(maker->class, "MOVSXD LSL")) {
            add(maker, "_GPRz");
        } else if (isa_xed_listed(maker->class, "MOVDIR64B ENQCMD ENQCMDS UMONITOR")) {
            add(maker, "_GPRa");
            return;
        } else {
            add(maker, isa_xed_begins(maker->class, "RDFSBASE") || isa_xed_begins(maker->class, "RDGSBASE") ||
                               isa_xed_begins(maker->class, "WRFSBASE") ||
                               isa_xed_begins(maker->class, "WRGSBASE") ||
                               strcmp(maker->class, "PTWRITE") == 0
                           ? "_GPRy"
                           : "_GPRv");
        }
        maker->sized = true;
    }
}

static void register_add(struct maker *maker, const ZydisDecodedOperand *op, unsigned number) {
    switch (ZydisRegisterGetClass(op->reg.value)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
        gpr_add(maker, op, number);
        break;
    case ZYDIS_REGCLASS_MMX:
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        vector_add(maker, op, number);
        if (ZydisRegisterGetClass(op->reg.value) == ZYDIS_REGCLASS_MMX) {
            bool word = isa_xed_listed(maker->class, "MOVD") && number > 0;
            if (word) {
                maker->used -= 1;
                add(maker, "d");
            }
        }
        break;
    case ZYDIS_REGCLASS_X87:
        add(maker, op->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT ? "_X87" : "_ST0");
        break;
    case ZYDIS_REGCLASS_MASK:
        if (isa_xed_begins(maker->class, "KMOV") && number == 1 && op->element_size > 1) {
            char word[16];
            (void)snprintf(word, sizeof word, "_MASKu%u", op->element_size);
            add(maker, word);
        } else {
            add(maker, isa_xed_begins(maker->class, "VPBROADCASTMB")   ? "_MASKu64"
                       : isa_xed_begins(maker->class, "VPBROADCASTMW") ? "_MASKu32"
                                                                       : "_MASKmskw");
        }
        break;
    case ZYDIS_REGCLASS_TMM:
        add(maker, "_TMM");
        element_add(maker, op, number == 0);
        break;
    case ZYDIS_REGCLASS_SEGMENT:
        add(maker, op->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT ? "_SEG"
                   : op->reg.value == ZYDIS_REGISTER_FS                ? "_FS"
                                                                       : "_GS");
        break;
    case ZYDIS_REGCLASS_CONTROL:
        add(maker, "_CR");
        break;
    case ZYDIS_REGCLASS_DEBUG:
        add(maker, "_DR");
        break;
    case ZYDIS_REGCLASS_BOUND:
        add(maker, "_BND");
        break;
    default:
        add(maker, "_REG");
        break;
    }
}

static void x87_memory_add(struct maker *maker, const ZydisDecodedOperand *op) {
    bool real = op->element_type == ZYDIS_ELEMENT_TYPE_FLOAT32 ||
                op->element_type == ZYDIS_ELEMENT_TYPE_FLOAT64 ||
                op->element_type == ZYDIS_ELEMENT_TYPE_FLOAT80;
    bool number = real || op->element_type == ZYDIS_ELEMENT_TYPE_INT;
    char word[24];
    if (isa_xed_listed(maker->class, "FBLD FBSTP")) {
        add(maker, "mem80dec");
    } else {
        (void)snprintf(word, sizeof word, "%s%u%s", number && op->size == 64 ? "m" : "mem",
                       number || op->size == 16 ? op->size : op->size / 8u,
                       !number ? ""
                       : real  ? "real"
                               : "int");
        add(maker, word);
    }
}

static void memory_add(struct maker *maker, const ZydisDecodedOperand *op, unsigned number) {
    const ZydisDecodedInstruction *in = maker->in;
    if (op->mem.type == ZYDIS_MEMOP_TYPE_AGEN) {
        add(maker, "_AGEN");
        return;
    }
    add(maker, "_MEM");
    maker->mem++;
    if (in->meta.category == ZYDIS_CATEGORY_X87_ALU) {
        x87_memory_add(maker, op);
    } else if (isa_xed_listed(maker->class, "LDTILECFG STTILECFG")) {
        return; /* 64 bytes that have no name */
    } else if (isa_xed_begins(maker->class, "XSAVE") || isa_xed_begins(maker->class, "XRSTOR")) {
        add(maker, "mxsave");
    } else if (strcmp(maker->class, "PREFETCHWT1") == 0 || strcmp(maker->class, "CLDEMOTE") == 0) {
        add(maker, "u8");
    } else if (isa_xed_listed(maker->class, "MOVDIRI WRSSD WRSSQ")) {
        add(maker, op->size == 64 ? "u64" : "u32");
    } else if (strcmp(maker->class, "PTWRITE") == 0) {
        add(maker, "y");
        maker->sized = true;
    } else if (isa_xed_begins(maker->class, "PREFETCH") || isa_xed_begins(maker->class, "CLFLUSH") ||
               strcmp(maker->class, "CLWB") == 0) {
        add(maker, "mprefetch");
    } else if (isa_xed_begins(maker->class, "FXSAVE") || isa_xed_begins(maker->class, "FXRSTOR")) {
        add(maker, "mfpxenv");
    } else if (has_elements(in) || in->meta.category == ZYDIS_CATEGORY_KMASK ||
               in->meta.isa_ext == ZYDIS_ISA_EXT_AMX_TILE) {
        element_add(maker, op, number == 0);
    } else if (in->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY) {
        add(maker, width_code(op->size));
    } else if (in->meta.isa_ext == ZYDIS_ISA_EXT_BASE || in->meta.isa_ext == ZYDIS_ISA_EXT_LONGMODE ||
               isa_xed_listed(maker->class, "POPCNT LZCNT TZCNT MOVBE CRC32")) {
        bool fixed =
            op->size == 8 || op->size == 128 ||
            isa_xed_listed(maker->class, "CMPXCHG8B CMPXCHG16B SETSSBSY") ||
            (isa_xed_listed(maker->class, "MOVSX MOVZX LLDT LMSW LTR VERR VERW LAR LSL SLDT SMSW STR")) ||
            (strcmp(maker->class, "MOV") == 0 && op->size == 16 && in->opcode >= 0x8c && in->opcode <= 0x8e);
        add(maker, strcmp(maker->class, "MOVSXD") == 0 ? "z" : fixed ? width_code(op->size) : "v");
        maker->sized = maker->sized || !fixed;
    } else if (isa_xed_listed(maker->class, "ADCX ADOX") || in->meta.isa_ext == ZYDIS_ISA_EXT_MMX) {
        add(maker, width_code(op->size));
    } else {
        add(maker, sse_code(maker, op, true, number));
    }
}

static void immediate_add(struct maker *maker, const ZydisDecodedOperand *op, unsigned raw) {
    const ZydisDecodedInstruction *in = maker->in;
    unsigned bits = raw < 2 ? in->raw.imm[raw].size : 0;
    if (op->imm.is_relative) {
        add(maker, bits == 8 ? "_RELBRb" : "_RELBRd");
    } else if (op->visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT) {
        add(maker, "_ONE");
    } else if (has_elements(in) || in->meta.category == ZYDIS_CATEGORY_KMASK) {
        add(maker, "_IMM8");
    } else if (bits == 8) {
        add(maker, "_IMMb");
    } else if (isa_xed_listed(maker->class, "ENTER RET RETF")) {
        add(maker, "_IMMw");
    } else {
        add(maker,
            strcmp(maker->class, "MOV") == 0 && in->opcode >= 0xb8 && in->opcode <= 0xbf ? "_IMMv" : "_IMMz");
        maker->sized = true;
    }
}

/* --- all of them ---------------------------------------------------------------------------------------- */

bool isa_xed_words_make(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands,
                        const uint8_t *order, unsigned count, const char *mnemonic, char *words,
                        size_t size) {
    struct maker maker = {.in = in, .operands = operands, .class = mnemonic, .out = words, .size = size};
    unsigned raw = 0;
    words[0] = '\0';
    for (unsigned i = 0; i < count; i++) {
        const ZydisDecodedOperand *op = &operands[order[i]];
        if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
            register_add(&maker, op, i);
        } else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            memory_add(&maker, op, i);
        } else if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
            immediate_add(&maker, op, raw);
            raw += op->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT;
        }
    }
    return maker.sized;
}
