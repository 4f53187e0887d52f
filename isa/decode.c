/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/decode.h"

#include <stdio.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "isa/corrections.h"
#include "isa/kind.h"
#include "isa/mapping.h"
#include "isa/newer.h"
#include "isa/obstacle.h"

enum { KNOWN_FLAGS = ISA_ARITHMETIC_FLAGS | 0x400 };

struct decoded {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static void actions_read(struct isa_operand *to, const ZydisDecodedOperand *from) {
    ZydisOperandActions a = from->actions;
    to->read = (a & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    to->write = (a & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    to->cond_read = to->read && (a & ZYDIS_OPERAND_ACTION_READ) == 0;
    to->cond_write = to->write && (a & ZYDIS_OPERAND_ACTION_WRITE) == 0;
    /* A register that is written under a condition keeps its old value otherwise, so that the new one
     * depends on it. */
    if (to->cond_write && to->kind == ISA_OPERAND_REG && !to->read)
        to->read = to->cond_read = true;
}

static bool is_mask(const ZydisDecodedOperand *op) {
    return op->encoding == ZYDIS_OPERAND_ENCODING_MASK;
}

static uint8_t broadcast_count(ZydisBroadcastMode mode) {
    switch (mode) {
    case ZYDIS_BROADCAST_MODE_1_TO_2:
        return 2;
    case ZYDIS_BROADCAST_MODE_1_TO_4:
        return 4;
    case ZYDIS_BROADCAST_MODE_1_TO_8:
        return 8;
    case ZYDIS_BROADCAST_MODE_1_TO_16:
        return 16;
    case ZYDIS_BROADCAST_MODE_1_TO_32:
        return 32;
    default:
        return 0;
    }
}

/* 0F 1F /0, which programs are padded with, is a NOP of one operand to assemblers and to XED. Zydis has the
 * register in ModRM.reg for a second one. Returns whether it is one. */
static bool padding_read(struct decoded *d) {
    ZydisDecodedInstruction *instruction = &d->instruction;
    bool padding = instruction->mnemonic == ZYDIS_MNEMONIC_NOP && instruction->opcode == 0x1f &&
                   instruction->raw.modrm.reg == 0 && instruction->raw.rex.R == 0 &&
                   instruction->operand_count_visible == 2 && instruction->operand_count == 2;
    if (padding)
        instruction->operand_count = instruction->operand_count_visible = 1;
    return padding;
}

/* NOP names an address and leaves it alone, though Zydis calls it read. */
static bool is_nop(const ZydisDecodedInstruction *instruction) {
    return instruction->mnemonic == ZYDIS_MNEMONIC_NOP;
}

static void memory_read(struct isa_operand *to, const struct decoded *d, const ZydisDecodedOperand *from,
                        struct isa_binding *binding, bool visible) {
    to->kind = from->mem.type == ZYDIS_MEMOP_TYPE_AGEN ? ISA_OPERAND_AGEN : ISA_OPERAND_MEM;
    to->bits = to->kind == ISA_OPERAND_AGEN ? 0 : from->size;
    to->absolute = from->encoding == ZYDIS_OPERAND_ENCODING_DISP16_32_64;
    struct isa_operand index = {.kind = ISA_OPERAND_REG};
    unsigned index_number = isa_zydis_register_read(from->mem.index, &index);
    if (from->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
        to->reg_class = index.reg_class;
        /* vgatherDps, vpscatterQd: the letter before the element's type is the index's. */
        const char *name = ZydisMnemonicGetString(d->instruction.mnemonic);
        size_t length = strlen(name);
        if (length > 2 && (name[length - 1] == 's' || name[length - 1] == 'd') && name[length - 2] == 'p')
            length -= 1;
        to->bits = length > 2 && name[length - 2] == 'q' ? 64 : 32;
    }
    if (visible && d->instruction.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID &&
        !d->instruction.avx.broadcast.is_static) {
        to->broadcast = broadcast_count(d->instruction.avx.broadcast.mode);
        /* Zydis gives the size of the element already. */
    }
    if (visible && binding != NULL) {
        struct isa_operand base = {.kind = ISA_OPERAND_REG};
        unsigned base_number = isa_zydis_register_read(from->mem.base, &base);
        const bool based = base.reg_class == ISA_REG_GPR64 || base.reg_class == ISA_REG_GPR32; /* [eax] */
        binding->address.base = based ? (int8_t)base_number : -1;
        binding->address.relative =
            from->mem.base == ZYDIS_REGISTER_RIP || from->mem.base == ZYDIS_REGISTER_EIP;
        binding->address.index = from->mem.index == ZYDIS_REGISTER_NONE ? -1 : (int8_t)index_number;
        binding->address.scale = from->mem.scale == 0 ? 1 : from->mem.scale;
        binding->address.segment = to->kind == ISA_OPERAND_AGEN             ? ISA_SEGMENT_FLAT
                                   : from->mem.segment == ZYDIS_REGISTER_FS ? ISA_SEGMENT_FS
                                   : from->mem.segment == ZYDIS_REGISTER_GS ? ISA_SEGMENT_GS
                                                                            : ISA_SEGMENT_FLAT;
        binding->address.number = d->instruction.raw.disp.size != 0;
        binding->address.disp = (int32_t)(uint32_t)(uint64_t)from->mem.disp.value;
    }
}

static void immediate_read(struct isa_operand *to, const struct decoded *d, const ZydisDecodedOperand *from,
                           unsigned raw, int64_t *value) {
    to->kind = from->imm.is_relative ? ISA_OPERAND_REL : ISA_OPERAND_IMM;
    *value = from->imm.value.s;
    if (from->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT) {
        to->imm_fixed = true;
        to->imm = from->imm.value.s;
        return;
    }
    to->bits = raw < 2 ? d->instruction.raw.imm[raw].size : 0;
    if (to->bits == 0)
        to->bits = from->size;
}

static void operand_read(struct isa_operand *to, const struct decoded *d, unsigned i, unsigned *raw,
                         struct isa_binding *binding, unsigned position) {
    const ZydisDecodedOperand *from = &d->operands[i];
    bool hidden =
        from->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && !isa_zydis_written_xmm0(&d->instruction, from);
    int64_t value = 0;
    unsigned number;
    *to = (struct isa_operand){.reg = -1, .implicit = hidden};
    if (from->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        number = isa_zydis_register_read(from->reg.value, to);
        if (from->visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
            to->reg = (int8_t)number;
        to->mask = is_mask(from);
        if (binding != NULL)
            binding->reg[position] = (uint8_t)number;
    } else if (from->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        to->implicit = from->visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT;
        memory_read(to, d, from, binding, !to->implicit);
    } else {
        immediate_read(to, d, from, *raw, &value);
        if (!to->imm_fixed)
            (*raw)++;
        if (binding != NULL)
            binding->imm[position] = value;
    }
    actions_read(to, from);
    if (is_nop(&d->instruction))
        to->read = to->write = false;
}

static void flags_read(struct isa_form *form, const ZydisDecodedInstruction *instruction) {
    if (instruction->cpu_flags != NULL) {
        const ZydisAccessedFlags *flags = instruction->cpu_flags;
        form->flags_read = flags->tested & KNOWN_FLAGS;
        form->flags_written =
            (flags->modified | flags->set_0 | flags->set_1 | flags->undefined) & KNOWN_FLAGS;
        form->flags_undefined = flags->undefined & KNOWN_FLAGS;
    }
    bool reads = (form->flags_read & ISA_ARITHMETIC_FLAGS) != 0;
    bool writes = (form->flags_written & ISA_ARITHMETIC_FLAGS) != 0;
    if ((reads || writes) && form->operand_count < ISA_OPERANDS_MAX)
        form->operands[form->operand_count++] = (struct isa_operand){
            .kind = ISA_OPERAND_FLAGS, .reg = -1, .implicit = true, .read = reads, .write = writes};
}

/* The type of the data that the instruction works on: that of its first vector source, else of its vector
 * destination. */
static void element_read(struct isa_form *form, const struct decoded *d) {
    const ZydisDecodedOperand *best = NULL;
    bool best_reads = false, vector = false;
    for (unsigned i = 0; i < d->instruction.operand_count; i++) {
        ZydisRegisterClass reg_class = d->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER
                                           ? ZydisRegisterGetClass(d->operands[i].reg.value)
                                           : ZYDIS_REGCLASS_INVALID;
        if (reg_class == ZYDIS_REGCLASS_X87 ||
            (reg_class >= ZYDIS_REGCLASS_MMX && reg_class <= ZYDIS_REGCLASS_TMM))
            vector = true;
    }
    if (!vector)
        return;
    for (unsigned i = 0; i < d->instruction.operand_count; i++) {
        const ZydisDecodedOperand *op = &d->operands[i];
        ZydisRegisterClass reg_class = op->type == ZYDIS_OPERAND_TYPE_REGISTER
                                           ? ZydisRegisterGetClass(op->reg.value)
                                           : ZYDIS_REGCLASS_INVALID;
        bool data = op->type == ZYDIS_OPERAND_TYPE_MEMORY || reg_class == ZYDIS_REGCLASS_X87 ||
                    (reg_class >= ZYDIS_REGCLASS_MMX && reg_class <= ZYDIS_REGCLASS_TMM);
        bool reads = (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
        if (data && (best == NULL || (reads && !best_reads))) {
            best = op;
            best_reads = reads;
        }
    }
    if (best == NULL)
        return;
    unsigned bits = best->element_size;
    form->element_bits = (uint16_t)(bits > 80 || bits == 0 ? 64 : bits < 8 ? 8 : bits);
    form->floating = best->element_type == ZYDIS_ELEMENT_TYPE_FLOAT16 ||
                     best->element_type == ZYDIS_ELEMENT_TYPE_FLOAT32 ||
                     best->element_type == ZYDIS_ELEMENT_TYPE_FLOAT64 ||
                     best->element_type == ZYDIS_ELEMENT_TYPE_FLOAT80;
}

/* Does the same instruction exist in VEX, so that an assembler would choose that? */
static bool vex_twin_exists(const struct decoded *d) {
    const ZydisDecodedInstruction *instruction = &d->instruction;
    ZydisEncoderRequest request = {0};
    request.machine_mode = ZYDIS_MACHINE_MODE_LONG_64;
    request.mnemonic = instruction->mnemonic;
    request.allowed_encodings = ZYDIS_ENCODABLE_ENCODING_VEX;
    for (unsigned i = 0; i < instruction->operand_count_visible; i++) {
        const ZydisDecodedOperand *op = &d->operands[i];
        if (is_mask(op))
            continue;
        if (request.operand_count == ZYDIS_ENCODER_MAX_OPERANDS)
            return false;
        ZydisEncoderOperand *to = &request.operands[request.operand_count++];
        to->type = op->type;
        if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
            struct isa_operand ours = {.reg = -1};
            unsigned number = isa_zydis_register_read(op->reg.value, &ours);
            to->reg.value =
                isa_reg_is_vector(ours.reg_class) ? isa_zydis_register(&ours, number & 15) : op->reg.value;
        } else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            to->mem.base = ZYDIS_REGISTER_RAX;
            to->mem.size = op->size / 8;
        } else {
            to->imm.s = op->imm.value.s;
        }
    }
    ZyanU8 bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
    ZyanUSize size = sizeof bytes;
    return ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&request, bytes, &size));
}

/* Every instruction of every block comes through here: snprintf would take a quarter of the time. */
static void text_copy(char *to, size_t size, const char *from, size_t length) {
    size_t count = length < size ? length : size - 1;
    memcpy(to, from, count);
    to[count] = '\0';
}

static void prefix_read(struct isa_form *form, const struct decoded *d) {
    const ZydisDecodedInstruction *instruction = &d->instruction;
    ZydisInstructionAttributes a = instruction->attributes;
    bool evex_first = (form->vex || form->evex) && isa_evex_came_first(form->mnemonic);
    const char *prefix = "";
    if ((a & ZYDIS_ATTRIB_HAS_LOCK) != 0)
        prefix = "lock";
    else if ((a & ZYDIS_ATTRIB_HAS_REP) != 0)
        prefix = "rep";
    else if ((a & ZYDIS_ATTRIB_HAS_REPE) != 0)
        prefix = "repe";
    else if ((a & ZYDIS_ATTRIB_HAS_REPNE) != 0)
        prefix = "repne";
    else if (form->vex && evex_first)
        prefix = "{vex}";
    else if (form->evex && instruction->avx.vector_length != 512 && form->decorator[0] == '\0' &&
             instruction->avx.mask.reg == ZYDIS_REGISTER_K0 && !evex_first &&
             (instruction->avx.broadcast.mode == ZYDIS_BROADCAST_MODE_INVALID ||
              instruction->avx.broadcast.is_static) &&
             vex_twin_exists(d))
        prefix = "{evex}";
    text_copy(form->prefix, sizeof form->prefix, prefix, strlen(prefix));
}

static void decorator_read(struct isa_form *form, const ZydisDecodedInstruction *instruction) {
    static const char *const rounding[] = {[ZYDIS_ROUNDING_MODE_RN] = "{rn-sae}",
                                           [ZYDIS_ROUNDING_MODE_RD] = "{rd-sae}",
                                           [ZYDIS_ROUNDING_MODE_RU] = "{ru-sae}",
                                           [ZYDIS_ROUNDING_MODE_RZ] = "{rz-sae}"};
    if (!form->evex)
        return;
    ZydisRoundingMode mode = instruction->avx.rounding.mode;
    if (mode >= ZYDIS_ROUNDING_MODE_RN && mode <= ZYDIS_ROUNDING_MODE_RZ && instruction->avx.has_sae)
        strcpy(form->decorator, rounding[mode]);
    else if (instruction->avx.has_sae)
        strcpy(form->decorator, "{sae}");
}

/* ISA sets are split by vector length; extensions are not. */
static void extension_read(struct isa_form *form, const ZydisDecodedInstruction *instruction) {
    static const char *const endings[] = {"_128N", "_128", "_256", "_512", "_SCALAR", "_KOP", "B_KOP"};
    const char *set = ZydisISASetGetString(instruction->meta.isa_set);
    if (instruction->meta.isa_ext == ZYDIS_ISA_EXT_BASE ||
        instruction->meta.isa_ext == ZYDIS_ISA_EXT_LONGMODE)
        set = "BASE";
    size_t length = strlen(set);
    for (unsigned i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && strncmp(set, "AVX512", 6) == 0 &&
            strcmp(set + length - ending, endings[i]) == 0) {
            length -= ending;
            break;
        }
    }
    const char *isa_set = ZydisISASetGetString(instruction->meta.isa_set);
    text_copy(form->extension, sizeof form->extension, set, length);
    text_copy(form->isa_set, sizeof form->isa_set, isa_set, strlen(isa_set));
}

static enum ip_status form_fill(const struct decoded *d, struct isa_form *form, struct isa_binding *binding,
                                struct ip_error *err) {
    const ZydisDecodedInstruction *instruction = &d->instruction;
    memset(form, 0, sizeof *form);
    if (binding != NULL) {
        memset(binding, 0, sizeof *binding);
        binding->address = (struct isa_address){.base = -1, .index = -1, .scale = 1};
    }
    const char *mnemonic = ZydisMnemonicGetString(instruction->mnemonic);
    text_copy(form->mnemonic, sizeof form->mnemonic, mnemonic, strlen(mnemonic));
    form->vex = instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
                instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_XOP;
    form->evex = instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
    uint8_t order[ISA_OPERANDS_MAX];
    unsigned raw = 0, explicit_count,
             count = isa_zydis_operands_order(instruction, d->operands, order, &explicit_count);
    for (unsigned k = 0; k < count; k++)
        operand_read(&form->operands[k], d, order[k], &raw, binding, k);
    form->explicit_count = (uint8_t)explicit_count;
    form->operand_count = (uint8_t)count;
    /* Not the mask's mode: a comparison into a mask always zeroes, without {z}. */
    form->zeroing =
        form->evex && form->explicit_count > 1 && form->operands[1].mask && instruction->raw.evex.z != 0;
    flags_read(form, instruction);
    element_read(form, d);
    isa_corrections_apply(instruction, d->operands, form);
    int beside = isa_form_beside_operand(form);
    if (beside >= 0 && binding != NULL)
        binding->reg[beside] = isa_reg_beside(binding->reg[0]);
    decorator_read(form, instruction);
    prefix_read(form, d);
    extension_read(form, instruction);
    isa_obstacle_find(instruction, form);
    form->derived = true;
    if (!isa_form_syntax_build(form))
        return ip_fail(err, IP_UNSUPPORTED, "the syntax of '%s' is too long", form->mnemonic);
    return IP_OK;
}

static enum ip_status decode_known(const uint8_t *code, size_t code_bytes, struct isa_form *form,
                                   struct isa_binding *binding, size_t *length, struct ip_error *err) {
    ZydisDecoder decoder;
    struct decoded d;
    if (ZYAN_FAILED(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return ip_fail(err, IP_FAILED, "cannot start Zydis's decoder");
    if (code_bytes == 0)
        return ip_fail(err, IP_SYNTAX, "no instruction in zero bytes");
    memset(&d, 0, sizeof d);
    ZyanStatus status = ZydisDecoderDecodeFull(&decoder, code, code_bytes, &d.instruction, d.operands);
    if (status == ZYDIS_STATUS_NO_MORE_DATA)
        return ip_fail(err, IP_SYNTAX, "the bytes end at offset %zu in the middle of an instruction",
                       code_bytes);
    if (ZYAN_FAILED(status))
        return ip_fail(err, IP_SYNTAX, "no instruction at offset 0 (byte 0x%02x)", code[0]);
    (void)padding_read(&d);
    struct isa_form out;
    struct isa_binding bound;
    enum ip_status filled = form_fill(&d, &out, binding != NULL ? &bound : NULL, err);
    if (filled != IP_OK)
        return filled;
    *form = out;
    if (binding != NULL)
        *binding = bound;
    *length = d.instruction.length;
    return IP_OK;
}

/* An instruction that not every Zydis knows, if it is one of those. */
static bool decode_newer(const uint8_t *code, size_t code_bytes, struct isa_form *form,
                         struct isa_binding *binding, size_t *length) {
    uint8_t carrier[ISA_CODE_MAX];
    size_t bytes, carrier_length;
    struct isa_form out;
    struct isa_binding bound;
    struct ip_error ignored;
    const struct isa_newer *newer = isa_newer_at(code, code_bytes, carrier, &bytes);
    if (newer == NULL || decode_known(carrier, bytes, &out, &bound, &carrier_length, &ignored) != IP_OK ||
        !isa_newer_decoded(newer, &out, &bound) || !isa_form_syntax_build(&out))
        return false;
    *form = out;
    if (binding != NULL)
        *binding = bound;
    *length = carrier_length + isa_newer_excess(newer);
    return true;
}

enum ip_status isa_decode(const uint8_t *code, size_t code_bytes, struct isa_form *form,
                          struct isa_binding *binding, size_t *length, struct ip_error *err) {
    /* First, so that they are the same with every Zydis. */
    if (decode_newer(code, code_bytes, form, binding, length))
        return IP_OK;
    return decode_known(code, code_bytes, form, binding, length, err);
}

/* As NASM writes it: not every Zydis's formatter has words for it. */
static size_t disassemble_newer(const uint8_t *code, size_t code_bytes, char *buffer, size_t size) {
    struct isa_form form;
    struct isa_binding binding;
    struct ip_error ignored;
    char line[ISA_LINE_MAX];
    size_t length;
    if (!decode_newer(code, code_bytes, &form, &binding, &length) ||
        isa_form_print(&form, &binding, line, &ignored) != IP_OK)
        return 0;
    (void)snprintf(buffer, size, "%s", line);
    return length;
}

size_t isa_disassemble_one(const uint8_t *code, size_t code_bytes, uint64_t address, char *buffer,
                           size_t size) {
    ZydisDecoder decoder;
    ZydisFormatter formatter;
    struct decoded d;
    if (size == 0)
        return 0;
    buffer[0] = '\0';
    if (code_bytes == 0 ||
        ZYAN_FAILED(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
        ZYAN_FAILED(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL)))
        return 0;
    if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code, code_bytes, &d.instruction, d.operands)))
        return disassemble_newer(code, code_bytes, buffer, size);
    char text[160] = "";
    if (padding_read(&d)) /* no register tells the size of its memory */
        (void)ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_TRUE);
    if (ZYAN_FAILED(ZydisFormatterFormatInstruction(&formatter, &d.instruction, d.operands,
                                                    d.instruction.operand_count_visible, text, sizeof text,
                                                    address, NULL)))
        text[0] = '\0';
    snprintf(buffer, size, "%s", text);
    return d.instruction.length;
}

void isa_disassemble(const uint8_t *code, size_t code_bytes, struct ip_lines *lines) {
    size_t at = 0;
    while (at < code_bytes) {
        char text[160], bytes[3 * ISA_CODE_MAX + 1] = "";
        size_t length = isa_disassemble_one(code + at, code_bytes - at, at, text, sizeof text);
        if (length == 0) {
            length = 1;
            snprintf(text, sizeof text, "db 0x%02x", code[at]);
        }
        for (size_t i = 0; i < length && i < ISA_CODE_MAX; i++)
            snprintf(bytes + 2 * i, sizeof bytes - 2 * i, "%02x", code[at + i]);
        ip_lines_printf(lines, "%6zx  %-30s  %s", at, bytes, text);
        at += length;
    }
}
