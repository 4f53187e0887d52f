/* SPDX-License-Identifier: Apache-2.0 */
/* A user's block as it is, in the manner of BHive (Chen et al. 2019). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/control.h"
#include "generator/operands.h"
#include "generator/pool.h"
#include "generator/shapes.h"
#include "isa/decode.h"

enum {
    BLOCK_MAX = 1 << 16,
    FORGOTTEN_BYTES = 6144, /* of the long loop, so that it still fits the µop cache */
    RSP = 4
};

/* What the block's instructions are and touch. */
struct scan {
    const uint8_t *code;
    size_t bytes;
    bool *starts;    /* owned; bytes + 1: an instruction begins here (the end counts) */
    int64_t *target; /* owned; bytes: where the branch at this offset goes; -1: no branch */
    uint32_t gprs;   /* bit per GPR64 number that is named */
    unsigned uses;
    unsigned masks; /* bit n: kn is named */
    bool legacy, vex, evex, zmm;
    bool loads, stores, moves_stack;
    uint32_t instructions;
};

static enum ip_status instruction_check(const struct isa_form *form, size_t offset, struct ip_error *err) {
    static const char *const why[] = {[ISA_OBSTACLE_PRIVILEGED] = "it is privileged",
                                      [ISA_OBSTACLE_CONTROL_FLOW] = "it leaves the block",
                                      [ISA_OBSTACLE_STATE] = "it changes state that the harness stands on"};
    enum isa_obstacle obstacle = form->obstacle;
    if (gen_form_needs_target(form) || strcmp(form->mnemonic, "xbegin") == 0) {
        obstacle = ISA_OBSTACLE_CONTROL_FLOW;
    } else if (gen_form_loads_state(form)) {
        obstacle = ISA_OBSTACLE_STATE;
    }
    switch (obstacle) {
    case ISA_OBSTACLE_PRIVILEGED:
    case ISA_OBSTACLE_CONTROL_FLOW:
    case ISA_OBSTACLE_STATE:
        break;
    default:
        return IP_OK;
    }
    return ip_fail(err, IP_UNSUPPORTED,
                   "the block's '%s' at offset %zu cannot run: %s; give the loop body alone", form->syntax,
                   offset, form->note[0] != '\0' ? form->note : why[obstacle]);
}

static void operand_scan(struct scan *scan, const struct isa_form *form, const struct isa_operand *operand,
                         unsigned number) {
    enum gen_file file = gen_file_of(operand->reg_class);
    bool indexed = operand->kind == ISA_OPERAND_MEM && file == GEN_FILE_VECTOR;
    if (operand->kind != ISA_OPERAND_REG && !indexed) {
        return;
    }
    switch (file) {
    case GEN_FILE_GPR:
        scan->gprs |= UINT32_C(1) << (number & 15);
        break;
    case GEN_FILE_VECTOR:
        scan->legacy = scan->legacy || (!form->vex && !form->evex);
        scan->vex = scan->vex || form->vex;
        scan->evex = scan->evex || form->evex;
        scan->zmm = scan->zmm || operand->reg_class == ISA_REG_ZMM;
        break;
    case GEN_FILE_MASK:
        scan->uses |= GEN_USES_MASK | GEN_USES_MASK_64;
        scan->masks |= 1u << (number & 7);
        break;
    case GEN_FILE_MMX:
        scan->uses |= GEN_USES_MMX;
        break;
    case GEN_FILE_X87:
        scan->uses |= GEN_USES_X87;
        break;
    default:
        break;
    }
}

/* A relative displacement stands at the end of its instruction. */
static int64_t branch_target(const struct scan *scan, const struct isa_operand *operand, size_t offset,
                             size_t length) {
    size_t width = operand->bits == 8 ? 1 : (operand->bits == 16 ? 2 : 4);
    uint32_t raw = 0;
    for (size_t i = 0; i < width && i < length; i++) {
        raw |= (uint32_t)scan->code[offset + length - width + i] << (8 * i);
    }
    int64_t displacement = width == 1 ? (int8_t)raw : (width == 2 ? (int16_t)raw : (int32_t)raw);
    return (int64_t)(offset + length) + displacement;
}

static void instruction_scan(struct scan *scan, const struct isa_form *form,
                             const struct isa_binding *binding, size_t offset, size_t length) {
    scan->starts[offset] = true;
    scan->target[offset] = -1;
    scan->instructions++;
    if (strncmp(form->isa_set, "AMX", 3) == 0) { /* LDTILECFG and TILERELEASE name no tile */
        scan->uses |= GEN_USES_TILES;
    }
    scan->uses |= gen_form_leaves_stores(form) ? (unsigned)GEN_USES_LATE_STORES : 0u;
    for (unsigned o = 0; o < form->operand_count; o++) {
        const struct isa_operand *operand = &form->operands[o];
        unsigned number = operand->reg >= 0 ? (unsigned)operand->reg : binding->reg[o];
        operand_scan(scan, form, operand, number);
        scan->moves_stack =
            scan->moves_stack || (operand->kind == ISA_OPERAND_REG && !operand->implicit &&
                                  operand->reg_class == ISA_REG_GPR64 && operand->write && number == RSP);
        if (operand->kind == ISA_OPERAND_REL) {
            scan->target[offset] = branch_target(scan, operand, offset, length);
            /* Before the block: not the "no branch" of -1. */
            scan->target[offset] = scan->target[offset] < 0 ? -2 : scan->target[offset];
        }
        scan->loads = scan->loads || (operand->kind == ISA_OPERAND_MEM && operand->read);
        scan->stores = scan->stores || (operand->kind == ISA_OPERAND_MEM && operand->write);
        bool addressed = operand->kind == ISA_OPERAND_MEM || operand->kind == ISA_OPERAND_AGEN;
        if (addressed && binding->address.base >= 0) {
            scan->gprs |= UINT32_C(1) << binding->address.base;
        }
        if (addressed && binding->address.index >= 0 && !isa_reg_is_vector(operand->reg_class)) {
            scan->gprs |= UINT32_C(1) << binding->address.index;
        }
    }
}

static enum ip_status scan_run(struct scan *scan, struct ip_error *err) {
    for (size_t offset = 0; offset < scan->bytes;) {
        struct isa_form form;
        struct isa_binding binding;
        size_t length = 0;
        struct ip_error reason;
        memset(&form, 0, sizeof form);
        memset(&binding, 0, sizeof binding);
        enum ip_status status =
            isa_decode(scan->code + offset, scan->bytes - offset, &form, &binding, &length, &reason);
        if (status != IP_OK) {
            return ip_fail(err, status, "the block's bytes at offset %zu are no instruction: %s", offset,
                           reason.text);
        }
        status = instruction_check(&form, offset, err);
        if (status != IP_OK) {
            return status;
        }
        instruction_scan(scan, &form, &binding, offset, length);
        offset += length;
    }
    scan->starts[scan->bytes] = true;
    for (size_t offset = 0; offset < scan->bytes; offset++) {
        int64_t target = scan->starts[offset] ? scan->target[offset] : -1;
        if (target != -1 && (target < 0 || target > (int64_t)scan->bytes || !scan->starts[target])) {
            return ip_fail(err, IP_UNSUPPORTED,
                           "the branch at offset %zu of the block leaves it; only branches to its own "
                           "instructions or its end can be repeated",
                           offset);
        }
    }
    return IP_OK;
}

/* A register that the block does not name; those that instructions use without naming come last of all: not
 * at all. */
static int counter_choose(uint32_t gprs) {
    static const uint8_t candidates[] = {15, 14, 13, 12, 11, 10, 9, 8};
    for (size_t i = 0; i < sizeof candidates; i++) {
        if ((gprs >> candidates[i] & 1) == 0) {
            return candidates[i];
        }
    }
    return -1;
}

static void lines_write(struct ip_lines *lines, const struct scan *scan) {
    for (size_t offset = 0; offset < scan->bytes;) {
        size_t end = offset + 1;
        while (!scan->starts[end]) {
            end++;
        }
        char disassembly[96], bytes[5 * ISA_CODE_MAX + 1];
        size_t used = 0;
        for (size_t i = offset; i < end; i++) {
            used += (size_t)snprintf(bytes + used, sizeof bytes - used, "%s0x%02x", i == offset ? "" : ",",
                                     scan->code[i]);
        }
        if (isa_disassemble_one(scan->code + offset, end - offset, offset, disassembly, sizeof disassembly) ==
            0) {
            disassembly[0] = '\0';
        }
        /* NASM is given no line of ISA_LINE_MAX characters: the comment ends where it would be. */
        int room = ISA_LINE_MAX - 1 - (int)strlen("db  ; ") - (int)used;
        ip_lines_printf(lines, "db %s ; %.*s", bytes, room > 0 ? room : 0, disassembly);
        offset = end;
    }
}

/* 0: the builder chooses, which of one or two instructions takes more. What adds to RSP leaves the cache in
 * many copies. */
static uint32_t copies_choose(const struct scan *scan) {
    const bool forgets = scan->loads && scan->stores && scan->instructions > 2 && !scan->moves_stack;
    return forgets && 2 * GEN_PAIRS_FORGOTTEN * scan->bytes <= FORGOTTEN_BYTES ? GEN_PAIRS_FORGOTTEN : 0;
}

static enum ip_status program_fill(struct gen_program *program, const struct scan *scan, uint64_t gpr_fill,
                                   struct ip_error *err) {
    struct gen_program made;
    gen_program_init(&made);
    made.uses = scan->uses | GEN_USES_ALL_GPR;
    made.uses |= scan->legacy ? (unsigned)GEN_USES_XMM : 0u;
    if (scan->evex) {
        made.uses |= GEN_USES_EVEX | (scan->zmm ? 0u : (unsigned)GEN_USES_EVEX_256);
    } else if (scan->vex) {
        made.uses |= GEN_USES_YMM;
    }
    made.idle_masks = (uint8_t)~scan->masks;
    made.counter = counter_choose(scan->gprs);
    made.gpr_fill = gpr_fill;
    made.map_on_demand = true;
    made.copies = copies_choose(scan);
    for (unsigned i = 0; i < sizeof made.memory_fill; i++) {
        made.memory_fill[i] = made.vector_fill[i] = (uint8_t)(gpr_fill >> (8 * (i % 8)));
    }
    (void)snprintf(made.title, sizeof made.title, "a block of %u instructions, %zu bytes", scan->instructions,
                   scan->bytes);
    lines_write(&made.unit, scan);
    if (made.unit.failed) {
        gen_program_fini(&made);
        return ip_fail(err, IP_NO_MEMORY, "out of memory while copying a block of %zu bytes", scan->bytes);
    }
    *program = made;
    return IP_OK;
}

enum ip_status gen_block_program(struct gen_program *program, const uint8_t *code, size_t code_bytes,
                                 uint64_t gpr_fill, struct ip_error *err) {
    if (code_bytes == 0 || code_bytes > BLOCK_MAX) {
        return ip_fail(err, IP_SYNTAX, "a block has 1 to %d bytes, not %zu", BLOCK_MAX, code_bytes);
    }
    struct scan scan = {.code = code, .bytes = code_bytes};
    scan.starts = calloc(code_bytes + 1, sizeof *scan.starts);
    scan.target = calloc(code_bytes, sizeof *scan.target);
    enum ip_status status = IP_OK;
    if (scan.starts == NULL || scan.target == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory while reading a block of %zu bytes", code_bytes);
    }
    if (status == IP_OK) {
        status = scan_run(&scan, err);
    }
    if (status == IP_OK) {
        status = program_fill(program, &scan, gpr_fill, err);
    }
    free(scan.starts);
    free(scan.target);
    return status;
}
