/* SPDX-License-Identifier: Apache-2.0 */
#include "scc_model/p54c.h"

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <string.h>

/* What an instruction reads and writes: integer registers by number, flags, x87 registers by distance from
 * the top of the stack. */
enum { REGISTERS = 8, ESP = 4, FLAGS = 8, RESOURCES = 9, STACK = 8, INSTRUCTIONS_MAX = 512 };

enum moves { MOVES_NOTHING, MOVES_PUSH, MOVES_POP }; /* what moves ESP beside what it names */

struct op {
    const struct scc_row *row;
    size_t offset;                     /* in the code */
    unsigned reads, writes, addresses; /* bits of resources, without the ESP that `moves` stands for */
    enum moves moves;
    unsigned st_reads, st_writes; /* bits of stack positions, before a pop, after a push */
    int pushes, pops;
    bool x87, fxch, store, branch, alone; /* alone: pairs with nothing */
    int fxch_with;
    int64_t target; /* of a branch: an offset into the code */
};

static bool word_is(const char *word, size_t length, const char *other) {
    return strlen(other) == length && strncmp(word, other, length) == 0;
}

static bool alternative_matches(const char *word, size_t length, const ZydisDecodedInstruction *instruction,
                                const ZydisDecodedOperand *operand) {
    char kind[16];
    switch (operand->type) {
    case ZYDIS_OPERAND_TYPE_REGISTER: {
        ZydisRegisterClass class = ZydisRegisterGetClass(operand->reg.value);
        const char *name = class == ZYDIS_REGCLASS_GPR32   ? "r32"
                           : class == ZYDIS_REGCLASS_GPR16 ? "r16"
                           : class == ZYDIS_REGCLASS_GPR8  ? "r8"
                           : class == ZYDIS_REGCLASS_X87   ? "st"
                                                           : "";
        return word_is(word, length, name) ||
               (operand->reg.value == ZYDIS_REGISTER_CL && word_is(word, length, "cl"));
    }
    case ZYDIS_OPERAND_TYPE_MEMORY:
        (void)snprintf(kind, sizeof kind, "m%u", operand->size);
        return word_is(word, length, kind) || word_is(word, length, "m");
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        if (instruction->raw.imm[0].size == 0 && instruction->raw.imm[1].size == 0) {
            return word_is(word, length, "1"); /* shifts by a constant 1 have no immediate byte */
        }
        (void)snprintf(kind, sizeof kind, "%s%u", operand->imm.is_relative ? "rel" : "imm",
                       instruction->raw.imm[0].size);
        return word_is(word, length, kind);
    default:
        return false;
    }
}

static bool row_matches(const struct scc_row *row, const ZydisDecodedInstruction *instruction,
                        const ZydisDecodedOperand *const *operands, size_t count) {
    const char *mnemonic = ZydisMnemonicGetString(instruction->mnemonic);
    const char *at = row->form;
    size_t length = strcspn(at, " ");
    if (mnemonic == NULL || !word_is(at, length, mnemonic)) {
        return false;
    }
    at += length;
    for (size_t i = 0; i < count; i++) {
        at += strspn(at, ", ");
        bool matched = false;
        while (*at != '\0' && *at != ',') {
            size_t span = strcspn(at, "/,");
            matched = matched || alternative_matches(at, span, instruction, operands[i]);
            at += span + (at[span] == '/');
        }
        if (!matched) {
            return false;
        }
    }
    return *at == '\0';
}

static unsigned register_bit(ZydisRegister reg) {
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_COMPAT_32, reg);
    return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR32 ? 1u << (ZydisRegisterGetId(whole) & 7) : 0;
}

static void operand_note(struct op *op, const ZydisDecodedOperand *operand) {
    bool read = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    bool write = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        op->addresses |= register_bit(operand->mem.base) | register_bit(operand->mem.index);
        op->store = op->store || write;
    } else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        unsigned bit = register_bit(operand->reg.value);
        op->reads |= read ? bit : 0;
        op->writes |= write ? bit : 0;
        if (ZydisRegisterGetClass(operand->reg.value) == ZYDIS_REGCLASS_X87) {
            unsigned st = 1u << (ZydisRegisterGetId(operand->reg.value) & 7);
            op->st_reads |= read ? st : 0;
            op->st_writes |= write ? st : 0;
        }
    }
}

static void stack_note(struct op *op, const ZydisDecodedInstruction *instruction) {
    const char *mnemonic = ZydisMnemonicGetString(instruction->mnemonic);
    size_t length = strlen(mnemonic);
    op->fxch = instruction->mnemonic == ZYDIS_MNEMONIC_FXCH;
    op->pushes = strncmp(mnemonic, "fld", 3) == 0 || strcmp(mnemonic, "fild") == 0;
    op->pops = mnemonic[length - 1] == 'p';
    if (op->pushes != 0) {
        op->st_writes = 1; /* the new top */
    }
}

static enum ip_status op_decode(struct op *op, const struct scc_p54c *table, const ZydisDecoder *decoder,
                                const uint8_t *code, size_t code_bytes, size_t offset, size_t *length,
                                struct ip_error *err) {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(decoder, code + offset, code_bytes - offset, &instruction, operands))) {
        return ip_fail(err, IP_SYNTAX, "the code at byte %zu is no 32-bit instruction", offset);
    }
    *op = (struct op){.offset = offset,
                      .x87 = instruction.meta.category == ZYDIS_CATEGORY_X87_ALU,
                      .branch = instruction.meta.category == ZYDIS_CATEGORY_COND_BR ||
                                instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR,
                      .alone = instruction.raw.disp.size != 0 && instruction.raw.imm[0].size != 0 &&
                               !instruction.raw.imm[0].is_relative};
    op->target = (int64_t)(offset + instruction.length) + instruction.raw.imm[0].value.s;
    const ZydisDecodedOperand *shown[ZYDIS_MAX_OPERAND_COUNT];
    const ZydisDecodedOperand *named_top = NULL;
    size_t shown_count = 0;
    op->moves = instruction.mnemonic == ZYDIS_MNEMONIC_PUSH  ? MOVES_PUSH
                : instruction.mnemonic == ZYDIS_MNEMONIC_POP ? MOVES_POP
                                                             : MOVES_NOTHING;
    for (size_t i = 0; i < instruction.operand_count; i++) {
        if (op->moves == MOVES_NOTHING || operands[i].visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN) {
            operand_note(op, &operands[i]);
        }
        bool top = op->x87 && operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                   operands[i].reg.value == ZYDIS_REGISTER_ST0;
        if (top && operands[i].visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT) {
            named_top = &operands[i];
        } else if (!top && operands[i].visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN) {
            shown[shown_count++] = &operands[i];
        }
    }
    if (shown_count == 0 && named_top != NULL) {
        shown[shown_count++] = named_top; /* "fadd st0, st0": the row's st is the top, too */
    }
    for (size_t i = 0; i < shown_count; i++) {
        if (op->x87 && shown[i]->type == ZYDIS_OPERAND_TYPE_REGISTER) {
            op->fxch_with = ZydisRegisterGetId(shown[i]->reg.value) & 7;
        }
    }
    if (instruction.cpu_flags != NULL && !op->x87) {
        op->reads |= instruction.cpu_flags->tested != 0 ? 1u << FLAGS : 0;
        op->writes |= instruction.cpu_flags->modified != 0 ? 1u << FLAGS : 0;
    }
    if (op->x87) {
        stack_note(op, &instruction);
    }
    for (int i = 0; i < table->row_count && op->row == NULL; i++) {
        op->row = row_matches(&table->rows[i], &instruction, shown, shown_count) ? &table->rows[i] : NULL;
    }
    if (op->row == NULL) {
        char text[96];
        ZydisFormatter formatter;
        if (!ZYAN_SUCCESS(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL)) ||
            !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &instruction, operands,
                                                          instruction.operand_count_visible, text,
                                                          sizeof text, offset, NULL))) {
            text[0] = '\0';
        }
        return ip_fail(err, IP_UNSUPPORTED, "the P54C table has no row for '%s' (byte %zu): give --cycles",
                       text, offset);
    }
    *length = instruction.length;
    return IP_OK;
}

/* The core while it runs: when each thing is ready, when each port is free. */
struct core {
    double ready[RESOURCES], st_ready[STACK];
    double address_ready[RESOURCES]; /* when addresses may be made of it */
    double pipe_free;                /* both pipes move together */
    double fpu_free, multiplier_free;
};

static int port_cycles(const struct scc_row *row, unsigned port) {
    for (int i = 0; i < row->use_count; i++) {
        if ((row->uses[i].mask >> port & 1) != 0) {
            return row->uses[i].cycles;
        }
    }
    return 0;
}

/* The earliest cycle at which `op` may begin. */
static double begin_at(const struct core *core, const struct op *op) {
    double begin = core->pipe_free;
    const unsigned addresses = op->addresses | (op->moves != MOVES_NOTHING ? 1u << ESP : 0);
    for (int r = 0; r < RESOURCES; r++) {
        if ((op->reads >> r & 1) != 0 && core->ready[r] > begin) {
            begin = core->ready[r];
        }
        if ((addresses >> r & 1) != 0 && core->address_ready[r] > begin) {
            begin = core->address_ready[r];
        }
    }
    for (int s = 0; s < STACK; s++) {
        /* A store wants its value one cycle before; an exchange only renames. */
        double ready = core->st_ready[s] + (op->store ? 1 : 0);
        if (!op->fxch && (op->st_reads >> s & 1) != 0 && ready > begin) {
            begin = ready;
        }
    }
    if (port_cycles(op->row, 2) > 0 && core->fpu_free > begin) {
        begin = core->fpu_free;
    }
    if (port_cycles(op->row, 3) > 0 && core->multiplier_free > begin) {
        begin = core->multiplier_free;
    }
    return begin;
}

static void op_finish(struct core *core, const struct op *op, double begin) {
    double done = begin + op->row->latency_cycles;
    /* The core foretells ESP after PUSH and POP, so addresses need not wait for it (Fog, "The
     * microarchitecture of Intel, AMD and VIA CPUs", "Address generation interlock"). */
    if (op->moves != MOVES_NOTHING) {
        core->ready[ESP] = core->address_ready[ESP] = begin + 1;
    }
    for (int r = 0; r < RESOURCES; r++) {
        if ((op->writes >> r & 1) != 0) {
            core->ready[r] = done;
            /* Addresses are formed a stage earlier: the register must have been written one cycle before. */
            core->address_ready[r] = done + 1;
        }
    }
    if (op->fxch) {
        double top = core->st_ready[0];
        core->st_ready[0] = core->st_ready[op->fxch_with];
        core->st_ready[op->fxch_with] = top;
    } else {
        if (op->pushes != 0) {
            memmove(core->st_ready + 1, core->st_ready, (STACK - 1) * sizeof core->st_ready[0]);
        }
        for (int s = 0; s < STACK; s++) {
            if ((op->st_writes >> s & 1) != 0) {
                core->st_ready[s] = done;
            }
        }
        if (op->pops != 0) {
            memmove(core->st_ready, core->st_ready + 1, (STACK - 1) * sizeof core->st_ready[0]);
            core->st_ready[STACK - 1] = 0;
        }
    }
    if (port_cycles(op->row, 2) > 0) {
        core->fpu_free = begin + port_cycles(op->row, 2);
    }
    if (port_cycles(op->row, 3) > 0) {
        core->multiplier_free = begin + port_cycles(op->row, 3);
    }
}

static int pipe_cycles(const struct op *op) {
    int u = port_cycles(op->row, 0), v = port_cycles(op->row, 1);
    return u > v ? u : v;
}

/* May the second go through the V pipe beside the first? */
static bool pairs(const struct op *first, const struct op *second) {
    bool first_alone = first->alone || (first->row->use_count > 1 && port_cycles(first->row, 1) > 0 &&
                                        port_cycles(first->row, 0) > 0);
    bool second_alone = second->alone || port_cycles(second->row, 1) == 0 ||
                        (second->row->use_count > 1 && port_cycles(second->row, 0) > 0);
    if (first_alone || second_alone || port_cycles(first->row, 0) == 0 || first->branch) {
        return false;
    }
    if (first->x87 || second->x87) {
        return first->x87 && second->fxch;
    }
    unsigned written = first->writes;
    unsigned used = second->reads | second->addresses | (second->writes & ~(1u << FLAGS));
    if (second->branch) {
        written &= ~(1u << FLAGS); /* compare and branch go together */
    }
    /* Two that push or two that pop pair, though both move ESP ("Pentium Processor User's Manual", volume 1,
     * 3.1.2; Fog has PUSH and CALL, too, which the table lacks). */
    if (second->moves != MOVES_NOTHING &&
        (second->moves != first->moves || (first->writes >> ESP & 1) != 0)) {
        used |= 1u << ESP;
    }
    if (first->moves != MOVES_NOTHING) {
        written |= 1u << ESP;
    }
    return (written & used) == 0;
}

/* How long the second of a pair waits in its pipe: behind one that reads, changes and writes memory, an
 * instruction that needs more than a cycle overlaps with the last cycle only (Fog: imperfect pairing). */
static double pair_wait(const struct op *first, const struct op *second) {
    bool changes_memory = first->store && pipe_cycles(first) == 3;
    return changes_memory && pipe_cycles(second) > 1 ? pipe_cycles(first) - 1 : 0;
}

/* One pass over the loop body. */
static void body_run(struct core *core, const struct op *ops, size_t count) {
    for (size_t i = 0; i < count;) {
        const struct op *first = &ops[i];
        double begin = begin_at(core, first);
        double busy = pipe_cycles(first);
        bool paired = i + 1 < count && pairs(first, &ops[i + 1]) && begin_at(core, &ops[i + 1]) <= begin;
        op_finish(core, first, begin);
        if (paired) {
            const struct op *second = &ops[i + 1];
            double wait = pair_wait(first, second), end = wait + pipe_cycles(second);
            busy = end > busy ? end : busy;
            op_finish(core, second, begin + wait);
        }
        core->pipe_free = begin + busy;
        i += paired ? 2 : 1;
    }
}

static double pipes_cycles(const struct op *ops, size_t count) {
    enum { WARM = 32, RUNS = 64 };
    struct core core = {.pipe_free = 0};
    double warm = 0;
    for (int i = 0; i < WARM + RUNS; i++) {
        warm = i == WARM ? core.pipe_free : warm;
        body_run(&core, ops, count);
    }
    return (core.pipe_free - warm) / RUNS;
}

static enum ip_status ops_decode(struct op *ops, size_t *count, const struct scc_p54c *table,
                                 const uint8_t *code, size_t code_bytes, struct ip_error *err) {
    ZydisDecoder decoder;
    if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_COMPAT_32, ZYDIS_STACK_WIDTH_32))) {
        return ip_fail(err, IP_FAILED, "Zydis has no 32-bit decoder");
    }
    *count = 0;
    for (size_t at = 0, length = 0; at < code_bytes; at += length) {
        if (*count == INSTRUCTIONS_MAX) {
            return ip_fail(err, IP_UNSUPPORTED, "the loop has more than %d instructions", INSTRUCTIONS_MAX);
        }
        enum ip_status status = op_decode(&ops[*count], table, &decoder, code, code_bytes, at, &length, err);
        if (status != IP_OK) {
            return status;
        }
        ++*count;
    }
    return *count > 0 ? IP_OK : ip_fail(err, IP_SYNTAX, "the loop is empty");
}

enum ip_status scc_p54c_cycles(const struct scc_p54c *table, enum scc_p54c_rule rule, const uint8_t *code,
                               size_t code_bytes, double *cycles, struct ip_error *err) {
    struct op ops[INSTRUCTIONS_MAX];
    size_t count = 0;
    enum ip_status status = ops_decode(ops, &count, table, code, code_bytes, err);
    if (status != IP_OK) {
        return status;
    }
    double serial = 0;
    for (size_t i = 0; i < count; i++) {
        serial += ops[i].row->latency_cycles;
    }
    *cycles = rule == SCC_P54C_SERIAL ? serial : pipes_cycles(ops, count);
    return IP_OK;
}

/* --- as a source: the code is the body of a loop ----------------------------------------------------------
 */

static bool closes_loop(const struct op *ops, size_t count) {
    return ops[count - 1].branch && ops[count - 1].target == 0;
}

/* How often an inner loop runs does not stand in the code. */
static enum ip_status inner_loops_check(const struct op *ops, size_t count, struct ip_error *err) {
    for (size_t i = 0; i < count; i++) {
        bool back = ops[i].branch && ops[i].target >= 0 && ops[i].target <= (int64_t)ops[i].offset;
        if (back && !(i + 1 == count && closes_loop(ops, count))) {
            return ip_fail(err, IP_UNSUPPORTED,
                           "the branch at byte %zu closes an inner loop, which may run any number of times: "
                           "give --cycles",
                           ops[i].offset);
        }
    }
    return IP_OK;
}

/* A counter of the loop's own, if a register is left for it. */
static unsigned counter_choose(const struct op *ops, size_t count) {
    enum { ECX = 1 };
    unsigned used = 1u << ESP;
    for (size_t i = 0; i < count; i++) {
        used |= ops[i].reads | ops[i].writes | ops[i].addresses;
    }
    for (unsigned r = ECX; r < REGISTERS; r++) {
        if ((used >> r & 1) == 0) {
            return r;
        }
    }
    return (used & 1) == 0 ? 0 : ECX;
}

static enum ip_status source_cycles(void *self, const uint8_t *code, size_t code_bytes, double *cycles,
                                    struct ip_error *err) {
    struct op ops[INSTRUCTIONS_MAX + 2];
    size_t count = 0, closing_count = 0;
    enum ip_status status = ops_decode(ops, &count, self, code, code_bytes, err);
    status = status == IP_OK ? inner_loops_check(ops, count, err) : status;
    if (status == IP_OK && !closes_loop(ops, count)) {
        const uint8_t closing[] = {(uint8_t)(0x48 | counter_choose(ops, count)), 0x75, 0xfd}; /* dec; jnz */
        status = ops_decode(ops + count, &closing_count, self, closing, sizeof closing, err);
    }
    if (status == IP_OK) {
        *cycles = pipes_cycles(ops, count + closing_count);
    }
    return status;
}

struct pw_cycles_source scc_p54c_source(struct scc_p54c *table) {
    return (struct pw_cycles_source){
        .name = "P54C table", .bits = 32, .cycles = source_cycles, .self = table};
}
