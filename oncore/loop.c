/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/loop.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "isa/decode.h"

enum { FIRST_CANDIDATE = 15, LAST_CANDIDATE = 8 };

/* GPRs that an instruction names. */
static uint32_t registers_used(const struct isa_form *form, const struct isa_binding *binding) {
    uint32_t used = 0;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        if (operand->kind == ISA_OPERAND_REG && isa_reg_is_gpr(operand->reg_class)) {
            used |= UINT32_C(1) << ((operand->reg >= 0 ? (unsigned)operand->reg : binding->reg[i]) & 15);
        }
    }
    used |= binding->address.base >= 0 ? UINT32_C(1) << (binding->address.base & 15) : 0;
    used |= binding->address.index >= 0 ? UINT32_C(1) << (binding->address.index & 15) : 0;
    return used;
}

static void loop_append(struct ip_text *code, unsigned counter) {
    const uint8_t count[] = {(uint8_t)(0x48 | counter >> 3), 0x83, (uint8_t)(0xe8 | (counter & 7)), 1};
    ip_text_append_bytes(code, count, sizeof count); /* sub r64, 1 */
    uint32_t distance = (uint32_t) - (int64_t)(code->length + 6);
    const uint8_t jump[] = {0x0f,
                            0x85,
                            (uint8_t)distance,
                            (uint8_t)(distance >> 8),
                            (uint8_t)(distance >> 16),
                            (uint8_t)(distance >> 24)}; /* jnz rel32 */
    ip_text_append_bytes(code, jump, sizeof jump);
}

/* What a walk through a block tells. */
struct walk {
    uint32_t used; /* GPRs that it names */
    size_t last;   /* where its last instruction begins */
    bool closed;   /* that one is a branch back to the start */
};

static enum ip_status block_walk(struct walk *walk, const struct ip_text *code, struct ip_error *err) {
    *walk = (struct walk){0};
    for (size_t at = 0; at < code->length;) {
        struct isa_form form;
        struct isa_binding binding;
        size_t length = 0;
        struct ip_error reason;
        enum ip_status status = isa_decode((const uint8_t *)code->data + at, code->length - at, &form,
                                           &binding, &length, &reason);
        if (status != IP_OK && strstr(reason.text, "in the middle of") != NULL) {
            return ip_fail(err, status, "the block ends in the middle of the instruction at offset %zu", at);
        }
        if (status != IP_OK) {
            return ip_fail(err, status, "the block's bytes at offset %zu are no instruction: %s", at,
                           reason.text);
        }
        walk->used |= registers_used(&form, &binding);
        walk->last = at;
        walk->closed = false;
        for (unsigned i = 0; i < form.explicit_count; i++) {
            int64_t target =
                form.operands[i].kind == ISA_OPERAND_REL ? (int64_t)(at + length) + binding.imm[i] : 1;
            walk->closed = walk->closed || target == 0;
        }
        at += length;
    }
    return IP_OK;
}

enum ip_status core_loop_close(struct ip_text *code, struct ip_error *err) {
    struct walk walk;
    enum ip_status status = block_walk(&walk, code, err);
    if (status != IP_OK) {
        return status;
    }
    unsigned counter = FIRST_CANDIDATE;
    while (counter > LAST_CANDIDATE && (walk.used >> counter & 1) != 0) {
        counter--;
    }
    if (!walk.closed) {
        loop_append(code, (walk.used >> counter & 1) != 0 ? FIRST_CANDIDATE : counter);
    }
    return code->failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for a loop") : IP_OK;
}

enum ip_status core_loop_open(struct ip_text *code, struct ip_error *err) {
    struct walk walk;
    enum ip_status status = block_walk(&walk, code, err);
    if (status == IP_OK && walk.closed) {
        code->length = walk.last;
        code->data[code->length] = '\0';
    }
    if (status == IP_OK && code->length == 0) {
        status = ip_fail(err, IP_SYNTAX, "the loop has no body but its branch");
    }
    return status;
}
