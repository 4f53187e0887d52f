/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/encode.h"

#include <string.h>

#include <Zydis/Zydis.h>

#include "isa/kind.h"
#include "isa/mapping.h"
#include "isa/newer.h"

/* Zydis has no function from names to mnemonics, but numbers them in the order of their names
 * (tests/test_isa_assemble.c). */
ZydisMnemonic isa_zydis_mnemonic(const char *name) {
    int low = ZYDIS_MNEMONIC_INVALID + 1, high = ZYDIS_MNEMONIC_MAX_VALUE;
    while (low <= high) {
        int middle = (low + high) / 2;
        const char *known = ZydisMnemonicGetString((ZydisMnemonic)middle);
        int order = known != NULL ? strcmp(name, known) : -1;
        if (order == 0) {
            return (ZydisMnemonic)middle;
        }
        low = order > 0 ? middle + 1 : low;
        high = order < 0 ? middle - 1 : high;
    }
    return ZYDIS_MNEMONIC_INVALID;
}

static ZydisBroadcastMode broadcast_mode(unsigned n) {
    switch (n) {
    case 2:
        return ZYDIS_BROADCAST_MODE_1_TO_2;
    case 4:
        return ZYDIS_BROADCAST_MODE_1_TO_4;
    case 8:
        return ZYDIS_BROADCAST_MODE_1_TO_8;
    case 16:
        return ZYDIS_BROADCAST_MODE_1_TO_16;
    case 32:
        return ZYDIS_BROADCAST_MODE_1_TO_32;
    default:
        return ZYDIS_BROADCAST_MODE_INVALID;
    }
}

static ZydisRoundingMode rounding_mode(const char *decorator) {
    switch (decorator[0] == '\0' ? '\0' : decorator[2]) {
    case 'n':
        return ZYDIS_ROUNDING_MODE_RN;
    case 'd':
        return ZYDIS_ROUNDING_MODE_RD;
    case 'u':
        return ZYDIS_ROUNDING_MODE_RU;
    case 'z':
        return ZYDIS_ROUNDING_MODE_RZ;
    default:
        return ZYDIS_ROUNDING_MODE_INVALID;
    }
}

static bool operand_fill(ZydisEncoderOperand *out, const struct isa_form *form, unsigned i,
                         const struct isa_binding *binding, bool signed_bytes) {
    const struct isa_operand *op = &form->operands[i];
    const struct isa_address *address = &binding->address;
    switch (op->kind) {
    case ISA_OPERAND_REG:
        out->type = ZYDIS_OPERAND_TYPE_REGISTER;
        out->reg.value = isa_zydis_register(op, op->reg >= 0 ? (unsigned)op->reg : binding->reg[i]);
        return out->reg.value != ZYDIS_REGISTER_NONE;
    case ISA_OPERAND_MEM:
    case ISA_OPERAND_AGEN:
        out->type = ZYDIS_OPERAND_TYPE_MEMORY;
        out->mem.base = address->base < 0 ? ZYDIS_REGISTER_NONE
                                          : ZydisRegisterEncode(ZYDIS_REGCLASS_GPR64, (ZyanU8)address->base);
        out->mem.index = ZYDIS_REGISTER_NONE;
        if (address->index >= 0) {
            struct isa_operand index = {.kind = ISA_OPERAND_REG, .reg_class = op->reg_class};
            if (op->reg_class == ISA_REG_NONE)
                index.reg_class = ISA_REG_GPR64;
            out->mem.index = isa_zydis_register(&index, (unsigned)address->index);
            out->mem.scale = address->scale;
        }
        out->mem.displacement = op->absolute ? (int64_t)(uint32_t)address->disp : address->disp;
        out->mem.size = (ZyanU16)(op->kind == ISA_OPERAND_AGEN ? 8 : op->bits / 8);
        return true;
    case ISA_OPERAND_IMM:
        out->type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
        out->imm.s = op->imm_fixed ? op->imm : binding->imm[i];
        if (op->bits == 8 && !op->imm_fixed) /* a number, or a pattern of bits? The encoder wants its own */
            out->imm.s = signed_bytes ? (int8_t)(uint8_t)out->imm.s : (uint8_t)out->imm.s;
        return true;
    case ISA_OPERAND_REL:
        out->type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
        out->imm.s = 0;
        return true;
    case ISA_OPERAND_FLAGS:
        break;
    }
    return false;
}

static bool request_fill(ZydisEncoderRequest *request, const struct isa_form *form,
                         const struct isa_binding *binding, bool signed_bytes) {
    memset(request, 0, sizeof *request);
    request->machine_mode = ZYDIS_MACHINE_MODE_LONG_64;
    request->mnemonic = isa_zydis_mnemonic(form->mnemonic);
    if (request->mnemonic == ZYDIS_MNEMONIC_INVALID || form->explicit_count > ZYDIS_ENCODER_MAX_OPERANDS)
        return false;
    static const struct {
        const char *prefix;
        ZydisInstructionAttributes attribute;
    } prefixes[] = {{"lock", ZYDIS_ATTRIB_HAS_LOCK},
                    {"rep", ZYDIS_ATTRIB_HAS_REP},
                    {"repe", ZYDIS_ATTRIB_HAS_REPE},
                    {"repne", ZYDIS_ATTRIB_HAS_REPNE}};
    for (unsigned i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strcmp(form->prefix, prefixes[i].prefix) == 0)
            request->prefixes = prefixes[i].attribute;
    }
    if (binding->address.segment != ISA_SEGMENT_FLAT)
        request->prefixes |= binding->address.segment == ISA_SEGMENT_FS ? ZYDIS_ATTRIB_HAS_SEGMENT_FS
                                                                        : ZYDIS_ATTRIB_HAS_SEGMENT_GS;
    if (strcmp(form->prefix, "{vex}") == 0)
        request->allowed_encodings = ZYDIS_ENCODABLE_ENCODING_VEX;
    else if (strcmp(form->prefix, "{evex}") == 0 ||
             (form->prefix[0] == '\0' && isa_evex_came_first(form->mnemonic)))
        request->allowed_encodings = ZYDIS_ENCODABLE_ENCODING_EVEX;
    request->evex.rounding = rounding_mode(form->decorator);
    request->evex.sae = form->decorator[0] != '\0';
    if (request->evex.sae)
        request->allowed_encodings = ZYDIS_ENCODABLE_ENCODING_EVEX;
    request->evex.zeroing_mask = form->zeroing;
    request->operand_count = form->explicit_count;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        if (!operand_fill(&request->operands[i], form, i, binding, signed_bytes))
            return false;
        if (form->operands[i].kind == ISA_OPERAND_MEM && form->operands[i].broadcast != 0)
            request->evex.broadcast = broadcast_mode(form->operands[i].broadcast);
        if (form->operands[i].kind == ISA_OPERAND_REL)
            request->branch_width =
                form->operands[i].bits == 8 ? ZYDIS_BRANCH_WIDTH_8 : ZYDIS_BRANCH_WIDTH_32;
    }
    return true;
}

/* EVEX instructions without a mask are, to Zydis, masked with k0. */
static bool mask_insert(ZydisEncoderRequest *request, const struct isa_form *form) {
    if (request->operand_count == 0 || request->operand_count == ZYDIS_ENCODER_MAX_OPERANDS ||
        (form->explicit_count > 1 && form->operands[1].mask))
        return false;
    memmove(&request->operands[2], &request->operands[1],
            (request->operand_count - 1u) * sizeof request->operands[0]);
    memset(&request->operands[1], 0, sizeof request->operands[1]);
    request->operands[1].type = ZYDIS_OPERAND_TYPE_REGISTER;
    request->operands[1].reg.value = ZYDIS_REGISTER_K0;
    request->operand_count++;
    return true;
}

/* Of all that a CPU may run as NOP with two operands programs have 0F 1F, but for register 0 (isa/decode.c),
 * where 0F 19 is as good. Zydis writes the first that decodes to it: 0F 0D, which is a prefetch to some and
 * no instruction to others. */
static void nop_make_common(const struct isa_form *form, uint8_t *code, size_t length) {
    if (!isa_form_is_nop(form) || form->explicit_count != 2)
        return;
    size_t at = 0;
    while (at + 2 < length && code[at] != 0x0f) /* behind prefixes */
        at++;
    if (at + 2 < length) {
        bool other = (code[at + 2] & 0x38) != 0 || (at > 0 && (code[at - 1] & 0xf4) == 0x44); /* REX.R */
        code[at + 1] = other ? 0x1f : 0x19;
    }
}

static bool encode_known(const struct isa_form *form, const struct isa_binding *binding, uint8_t *code,
                         size_t *length) {
    for (unsigned attempt = 0; attempt < 4; attempt++) {
        ZydisEncoderRequest request;
        ZyanU8 bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
        ZyanUSize size = sizeof bytes;
        if (!request_fill(&request, form, binding, attempt < 2) ||
            (attempt % 2 == 1 && !mask_insert(&request, form)))
            continue;
        if (ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&request, bytes, &size)) && size > 0 &&
            size <= ISA_CODE_MAX) {
            memcpy(code, bytes, size);
            *length = size;
            nop_make_common(form, code, size);
            return true;
        }
    }
    return false;
}

static bool encode_newer(const struct isa_form *form, const struct isa_binding *binding, uint8_t *code,
                         size_t *length) {
    const struct isa_newer *newer = isa_newer_of(form);
    struct isa_form carrier;
    struct isa_binding carried;
    if (newer == NULL)
        return false;
    isa_newer_carrier(newer, form, binding, &carrier, &carried);
    return encode_known(&carrier, &carried, code, length) && isa_newer_encoded(newer, code, length);
}

enum ip_status isa_encode(const struct isa_form *form, const struct isa_binding *binding, uint8_t *code,
                          size_t *length, struct ip_error *err) {
    if (encode_newer(form, binding, code, length) || encode_known(form, binding, code, length))
        return IP_OK;
    return ip_fail(err, IP_UNSUPPORTED, "%s: Zydis's encoder cannot write it", form->syntax);
}
