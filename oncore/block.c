/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/block.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/operands.h"
#include "isa/decode.h"
#include "oncore/call.h"
#include "oncore/cost_steps.h"
#include "oncore/latencies.h"
#include "oncore/move.h"
#include "oncore/pointer.h"
#include "oncore/stack.h"
#include "oncore/wide.h"

/* Slots that an index may cost. */
static const double APART_MOST = 3.0;

const char *core_resource_name(unsigned resource) {
    static const struct {
        unsigned first;
        enum isa_reg_class reg_class;
    } files[] = {{CORE_RESOURCE_TILE, ISA_REG_TILE},  {CORE_RESOURCE_MMX, ISA_REG_MMX},
                 {CORE_RESOURCE_X87, ISA_REG_X87},    {CORE_RESOURCE_MASK, ISA_REG_MASK},
                 {CORE_RESOURCE_VECTOR, ISA_REG_ZMM}, {CORE_RESOURCE_GPR, ISA_REG_GPR64}};
    if (resource == CORE_RESOURCE_CARRY) {
        return "carry";
    }
    if (resource == CORE_RESOURCE_OVERFLOW) {
        return "overflow";
    }
    if (resource == CORE_RESOURCE_FLAGS) {
        return "flags";
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (resource >= files[i].first) {
            const char *name = isa_reg_name(files[i].reg_class, resource - files[i].first);
            return name != NULL ? name : "?";
        }
    }
    return "?";
}

/* -1: carries no dependence that the model follows. */
static int resource_of(enum isa_reg_class reg_class, unsigned number) {
    switch (reg_class) {
    case ISA_REG_GPR8:
    case ISA_REG_GPR16:
    case ISA_REG_GPR32:
    case ISA_REG_GPR64:
        return (int)(CORE_RESOURCE_GPR + (number & 15));
    case ISA_REG_GPR8H:
        return (int)(CORE_RESOURCE_GPR + (number & 3));
    case ISA_REG_XMM:
    case ISA_REG_YMM:
    case ISA_REG_ZMM:
        return (int)(CORE_RESOURCE_VECTOR + (number & 31));
    case ISA_REG_MASK:
        return (int)(CORE_RESOURCE_MASK + (number & 7));
    case ISA_REG_X87:
        return (int)(CORE_RESOURCE_X87 + (number & 7));
    case ISA_REG_MMX:
        return (int)(CORE_RESOURCE_MMX + (number & 7));
    case ISA_REG_TILE:
        return (int)(CORE_RESOURCE_TILE + (number & 7));
    default:
        return -1;
    }
}

static void source_add(struct core_reading *reading, int resource, int operand, bool merges, bool index) {
    struct core_instruction *to = reading->to;
    if (resource < 0 || to->source_count == CORE_SOURCES_MAX) {
        return;
    }
    reading->source_operand[to->source_count] = operand;
    reading->merges[to->source_count] = merges;
    reading->index[to->source_count] = index;
    to->sources[to->source_count++] = (uint8_t)resource;
}

/* What is written twice keeps what its first operand gives: XADD's sum, MULX's upper half. */
static void target_add(struct core_reading *reading, int resource, int operand) {
    struct core_instruction *to = reading->to;
    for (unsigned t = 0; t < to->target_count; t++) {
        if (to->targets[t] == resource) {
            return;
        }
    }
    if (resource < 0 || to->target_count == CORE_TARGETS_MAX) {
        return;
    }
    reading->target_operand[to->target_count] = operand;
    to->general = to->general || resource < CORE_RESOURCE_VECTOR;
    to->targets[to->target_count++] = (uint8_t)resource;
}

static unsigned operand_number(const struct core_instruction *instruction, unsigned operand) {
    const struct isa_operand *op = &instruction->cost->form.operands[operand];
    return op->reg >= 0 ? (unsigned)op->reg : instruction->binding.reg[operand];
}

/* Which x87 register is ST0 behind the instruction: the stack grows downwards. */
static uint8_t x87_top_behind(const struct core_instruction *instruction) {
    const struct isa_form *form = &instruction->cost->form;
    int pushes = form->x87_pushes;
    pushes -= strcmp(form->mnemonic, "fincstp") == 0 ? 1 : 0;
    pushes += strcmp(form->mnemonic, "fdecstp") == 0 ? 1 : 0;
    return (uint8_t)((instruction->x87_top - pushes) & 7);
}

/* Operands of the x87 stack are told as they are before what pops, and behind what pushes, but for what that
 * reads. */
static int operand_resource(const struct core_instruction *instruction, unsigned operand, bool written) {
    const struct isa_form *form = &instruction->cost->form;
    const struct isa_operand *op = &form->operands[operand];
    unsigned number = operand_number(instruction, operand);
    if (op->reg_class == ISA_REG_X87) {
        const bool behind = written && form->x87_pushes > 0;
        number += behind ? x87_top_behind(instruction) : instruction->x87_top;
    }
    return resource_of(op->reg_class, number);
}

static void address_read(struct core_reading *reading, int operand) {
    const struct isa_operand *op = &reading->to->cost->form.operands[operand];
    const struct isa_address *address = &reading->to->binding.address;
    if (op->implicit) { /* its address register is an implicit operand, or goes without saying */
        const bool leaves = reading->to->cost->action == CORE_ACTION_LEAVE;
        const int pointer =
            leaves ? CORE_RESOURCE_RBP : gen_string_pointer(&reading->to->cost->form, (unsigned)operand);
        source_add(reading, pointer < 0 ? pointer : CORE_RESOURCE_GPR + pointer, operand, false, false);
        return;
    }
    if (address->base >= 0) {
        source_add(reading, CORE_RESOURCE_GPR + address->base, operand, false, false);
    }
    if (address->index >= 0) {
        int resource = isa_reg_is_vector(op->reg_class) ? CORE_RESOURCE_VECTOR + address->index
                                                        : CORE_RESOURCE_GPR + address->index;
        source_add(reading, resource, operand, false, true);
    }
}

static void flags_read(struct core_reading *reading, int operand) {
    static const struct {
        uint32_t bits;
        int resource;
    } groups[] = {{0x1, CORE_RESOURCE_CARRY},
                  {0x800, CORE_RESOURCE_OVERFLOW},
                  {0xd4, CORE_RESOURCE_FLAGS}}; /* ZF, SF, AF, PF */
    const struct isa_form *form = &reading->to->cost->form;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if ((form->flags_read & groups[i].bits) != 0) {
            source_add(reading, groups[i].resource, operand, false, false);
        }
        if ((reading->to->cost->flags_changed & groups[i].bits) != 0) {
            target_add(reading, groups[i].resource, operand);
        }
    }
}

/* All sources of registers are one register, and the form does not wait for it then. */
static bool idiom_check(const struct core_instruction *instruction) {
    const struct isa_form *form = &instruction->cost->form;
    int first = -1;
    unsigned sources = 0;
    for (unsigned i = 0; i < form->explicit_count && instruction->cost->same_breaks; i++) {
        const struct isa_operand *op = &form->operands[i];
        if (op->kind == ISA_OPERAND_MEM) {
            return false;
        }
        if (op->kind != ISA_OPERAND_REG || !op->read || op->mask) {
            continue;
        }
        int number = (int)operand_number(instruction, i);
        if (first >= 0 && number != first) {
            return false;
        }
        first = number;
        sources++;
    }
    return sources >= 2;
}

static void operands_read(struct core_reading *reading) {
    struct core_instruction *to = reading->to;
    const struct isa_form *form = &to->cost->form;
    bool hidden = false;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *op = &form->operands[i];
        if (op->kind == ISA_OPERAND_MEM || op->kind == ISA_OPERAND_AGEN) {
            address_read(reading, (int)i);
            to->loads = to->loads || op->read;
            to->stores = to->stores || op->write;
            hidden = hidden || op->implicit;
            to->bytes = op->kind == ISA_OPERAND_MEM ? (uint16_t)(op->bits / 8) : to->bytes;
        }
    }
    to->clears = isa_form_clears_vectors(form);
    to->address_count = to->source_count;
    to->memory = (int8_t)isa_form_memory_operand(form);
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *op = &form->operands[i];
        if (op->kind == ISA_OPERAND_FLAGS) {
            flags_read(reading, (int)i);
        }
        if (op->kind != ISA_OPERAND_REG) {
            continue;
        }
        bool partial = op->write && !op->read &&
                       (op->reg_class == ISA_REG_GPR8 || op->reg_class == ISA_REG_GPR8H ||
                        op->reg_class == ISA_REG_GPR16);
        if (op->read || partial || to->cost->output == (int)i) {
            source_add(reading, operand_resource(to, i, false), (int)i, partial, false);
        }
        if (op->write) {
            target_add(reading, operand_resource(to, i, true), (int)i);
        }
    }
    core_stack_read(to, hidden);
    to->copies = to->copies || (core_pointer(to, false) >= 0 && core_pointer(to, true) >= 0);
}

/* Which pairs fuse when no experiment says: a comparison, or an addition, before a conditional jump. */
static bool fuses_by_default(const struct core_instruction *first) {
    const struct core_cost *cost = first->cost;
    bool only_flags = !first->stores;
    for (unsigned t = 0; t < first->target_count; t++) {
        only_flags = only_flags && first->targets[t] >= CORE_RESOURCE_CARRY;
    }
    bool adds = !first->loads && (cost->action == CORE_ACTION_ADD || cost->action == CORE_ACTION_SUBTRACT ||
                                  cost->action == CORE_ACTION_AND || cost->action == CORE_ACTION_INCREMENT ||
                                  cost->action == CORE_ACTION_DECREMENT);
    return first->target_count > 0 && (only_flags || (adds && !first->stores));
}

static bool fuse_known(const struct probe_core *core) {
    size_t count = 0;
    (void)probe_core_facts_find(core, "fuse ", &count);
    return count > 0;
}

static bool fuses(const struct core_costs *costs, const struct core_instruction *first,
                  const struct core_instruction *branch) {
    bool conditional = branch->cost->branch && branch->source_count > 0 && branch->target_count == 0;
    for (unsigned s = 0; s < branch->source_count; s++) {
        conditional = conditional && branch->sources[s] >= CORE_RESOURCE_CARRY;
    }
    if (!conditional || first->fused || first->cost->branch) {
        return false;
    }
    /* Measured with the short encoding of the jump; the longer one is the same instruction. */
    char jump[ISA_SYNTAX_MAX];
    (void)snprintf(jump, sizeof jump, "%s rel8", branch->cost->form.mnemonic);
    const struct probe_core_value *fact = probe_core_fact_get(&costs->core, "fuse", first->syntax, jump);
    if (fact != NULL) {
        return fact->value > 0.5;
    }
    return !fuse_known(&costs->core) && fuses_by_default(first);
}

/* The form of its kind of which the core was asked whether an index takes it apart; NULL: none. */
static const char *apart_kind(const struct isa_form *form, const struct core_instruction *instruction) {
    if (form->explicit_count == 0) {
        return NULL;
    }
    unsigned bits = isa_form_vector_bits(form);
    const struct isa_operand *first = &form->operands[0], *last = &form->operands[form->explicit_count - 1];
    bool number = last->kind == ISA_OPERAND_IMM && form->explicit_count == 2;
    bool modifies = first->kind == ISA_OPERAND_REG && first->read && first->write;
    if (instruction->stores && instruction->loads) {
        return number || form->explicit_count == 1 ? "inc m64" : "add m64, r64";
    }
    if (instruction->stores) {
        return bits == 512   ? "vmovdqa64 m512, zmm"
               : bits == 256 ? "vmovdqa m256, ymm"
               : bits != 0   ? "movaps m128, xmm"
               : number      ? "mov m64, imm32"
                             : "mov m64, r64";
    }
    if (form->explicit_count < 2) {
        return NULL;
    }
    if (bits == 0) {
        return modifies && form->explicit_count == 2 ? "add r64, m64"
               : number && !modifies                 ? "cmp m64, imm8"
                                                     : "cmp r64, m64";
    }
    return modifies && form->explicit_count == 2 ? "paddd xmm, m128"
           : modifies                            ? "vfmadd231ps ymm, ymm, m256"
           : bits == 512                         ? "vpaddd zmm, zmm, m512"
                                                 : "vpaddd ymm, ymm, m256";
}

/* A load keeps the slot of its operation, and a store that of its data, with an index, too; or not, as far as
 * that was measured of a form of its kind: on a Golden Cove loads of comparisons and of VEX forms of three
 * operands do not, on a Zen 4 loads and stores of general registers. Returns the slots more, two of what a
 * Sandy Bridge loads, changes and stores. */
static unsigned apart_slots(const struct core_costs *costs, const struct core_instruction *instruction) {
    const struct isa_form *form = &instruction->cost->form;
    bool operates = instruction->stores;
    for (unsigned t = 0; t < instruction->cost->term_count; t++) {
        operates =
            operates || (instruction->cost->terms[t].ports & (costs->load_ports | costs->store_ports)) == 0;
    }
    bool accesses = instruction->loads || instruction->stores;
    if (instruction->stack || !accesses || !operates || instruction->binding.address.index < 0) {
        return 0;
    }
    const char *kind = apart_kind(form, instruction);
    const struct probe_core_value *plain = NULL, *index = NULL;
    if (kind != NULL) {
        plain = probe_core_fact_get(&costs->core, "micro", kind, NULL);
        index = probe_core_fact_get(&costs->core, "micro_index", kind, NULL);
    }
    double more = plain != NULL && index != NULL ? round(index->value - plain->value) : 0.0;
    return more > 0.0 ? (unsigned)fmin(more, APART_MOST) : 0;
}

/* A form that waits for flags does so with one register, too: SBB of it with itself. */
static void idiom_cut(struct core_instruction *to) {
    unsigned kept = 0;
    for (unsigned s = 0; s < to->source_count; s++) {
        if (to->sources[s] < CORE_RESOURCE_CARRY) {
            continue;
        }
        to->sources[kept] = to->sources[s];
        for (unsigned t = 0; t < to->target_count; t++) {
            to->latency[t][kept] = to->latency[t][s];
        }
        kept++;
    }
    to->source_count = (uint8_t)kept;
    to->address_count = 0;
    to->idiom = kept == 0;
}

/* A pair is executed, where rename would do the first alone, too: it takes the ports of the first, or, where
 * that is known to have none, or nothing is known of it, of the branch. */
static void pair_join(struct core_instruction *first, const struct core_instruction *branch) {
    if ((first->renamed && first->cost->term_count == 0) || !first->cost->known) {
        first->executed = branch->cost;
    }
    first->renamed = first->renamed && first->executed->term_count == 0;
}

static enum ip_status instruction_read(struct core_block *block, struct core_costs *costs, size_t offset,
                                       struct ip_error *err) {
    struct isa_form form;
    size_t length = 0;
    struct core_instruction *to = &block->items[block->count];
    memset(to, 0, sizeof *to);
    struct ip_error reason;
    enum ip_status status =
        isa_decode(block->code + offset, block->code_bytes - offset, &form, &to->binding, &length, &reason);
    if (status != IP_OK && strstr(reason.text, "in the middle of") != NULL) {
        return ip_fail(err, status, "the block ends in the middle of the instruction at offset %zu", offset);
    }
    if (status != IP_OK) {
        return ip_fail(err, status, "the block's bytes at offset %zu are no instruction: %s", offset,
                       reason.text);
    }
    core_lea_name(costs, &form, &to->binding);
    core_stack_name(costs, &form, &to->binding);
    status = core_costs_get(costs, &form, &to->cost, err);
    to->syntax = status == IP_OK ? to->cost->form.syntax : NULL;
    status = status == IP_OK ? core_zero_get(costs, &to->binding, &to->cost, err) : status;
    if (status != IP_OK) {
        return status;
    }
    to->executed = to->cost;
    to->x87_top = block->count > 0 ? x87_top_behind(to - 1) : 0;
    to->offset = (uint32_t)offset;
    to->length = (uint8_t)length;
    struct core_reading reading = {.to = to};
    operands_read(&reading);
    core_latencies_fill(costs, block, &reading);
    to->idiom = idiom_check(to);
    if (to->idiom) {
        idiom_cut(to);
    }
    to->renamed = to->idiom ? to->cost->same_eliminated
                            : to->cost->known && to->cost->unit < 0 &&
                                  (to->cost->term_count == 0 || to->cost->at_rename);
    to->apart = (uint8_t)apart_slots(costs, to);
    to->slots = (to->cost->known ? to->cost->slots : 1.0) + to->apart;
    block->count++;
    if (block->count > 1) {
        to->fused = fuses(costs, to - 1, to);
        if (to->fused) {
            pair_join(to - 1, to);
        }
    }
    return IP_OK;
}

unsigned core_term_count(const struct core_instruction *instruction) {
    return instruction->renamed || instruction->fused ? 0 : instruction->executed->term_count;
}

uint32_t core_term_ports(const struct core_instruction *instruction, unsigned t) {
    uint32_t ports = instruction->executed->terms[t].ports, open = ports & ~instruction->closed;
    ports = open != 0 ? open : ports;
    return (ports & instruction->ports) != 0 ? instruction->ports : ports;
}

/* The instruction that wrote a source of the i-th last, in this pass or the one before; NULL: none. */
static const struct core_instruction *writer_find(const struct core_block *block, size_t i, unsigned source) {
    for (size_t back = 1; back <= block->count; back++) {
        const struct core_instruction *writer = &block->items[(i + block->count - back) % block->count];
        for (unsigned t = 0; t < writer->target_count; t++) {
            if (writer->targets[t] == source) {
                return writer;
            }
        }
    }
    return NULL;
}

/* Who made what it waits for: moves that rename does only passed it on. */
static const struct core_instruction *maker_find(const struct core_block *block, size_t i, unsigned source) {
    const struct core_instruction *writer = writer_find(block, i, source);
    for (size_t moves = 0; moves < block->count && writer != NULL; moves++) {
        const bool passes = writer->renamed && !writer->idiom && writer->source_count == 1 && !writer->loads;
        if (!passes) {
            break;
        }
        writer = writer_find(block, (size_t)(writer - block->items), writer->sources[0]);
    }
    return writer;
}

static bool same_ports(const struct core_cost *a, const struct core_cost *b) {
    for (unsigned i = 0; i < a->term_count; i++) {
        for (unsigned k = 0; k < b->term_count; k++) {
            if (a->terms[i].ports == b->terms[k].ports) {
                return true;
            }
        }
    }
    return false;
}

static bool adds_at_rename(const struct core_instruction *instruction) {
    enum core_action action = instruction->cost->action;
    return instruction->renamed &&
           (action == CORE_ACTION_ADD || action == CORE_ACTION_SUBTRACT || action == CORE_ACTION_INCREMENT ||
            action == CORE_ACTION_DECREMENT || action == CORE_ACTION_LEA);
}

/* What an instruction waits for depends on who made it, too. */
static void neighbours_fill(struct core_block *block) {
    for (size_t i = 0; i < block->count; i++) {
        struct core_instruction *to = &block->items[i];
        float after = to->renamed ? 0.0f : to->cost->after;
        if (after <= 0.0f && to->cost->bypass <= 0.0f) {
            continue;
        }
        for (unsigned s = to->address_count; s < to->source_count; s++) {
            const struct core_instruction *writer = writer_find(block, i, to->sources[s]);
            float more = writer != NULL && adds_at_rename(writer) ? after : 0.0f;
            const bool late = (to->late >> s & 1) != 0;
            const struct core_instruction *maker = maker_find(block, i, to->sources[s]);
            if (maker != NULL && maker->cost->bypass > 0.0f && !late && !maker->renamed && !maker->idiom &&
                same_ports(maker->cost, to->cost)) {
                more = -fminf(maker->cost->bypass, to->cost->bypass);
            }
            for (unsigned t = 0; t < to->target_count && to->sources[s] < CORE_RESOURCE_CARRY; t++) {
                to->latency[t][s] = fmaxf(0.0f, to->latency[t][s] + more);
            }
        }
    }
}

/* Where a branch goes, from the block's first byte; behind itself where it is none. */
static int64_t branch_target(const struct core_instruction *branch) {
    const struct isa_form *form = &branch->cost->form;
    int64_t behind = (int64_t)branch->offset + branch->length;
    for (unsigned o = 0; o < form->explicit_count; o++) {
        if (form->operands[o].kind == ISA_OPERAND_REL) {
            return behind + branch->binding.imm[o];
        }
    }
    return behind;
}

/* A branch that goes on takes a port of its own form's, if those were told; one that is taken one of these
 * from which taken branches were seen to take one. (On a Zen 4 {5 B} and 5: two fused pairs and two CMOV, on
 * {5 6}, take 1.33 cycles, not 2.) */
static uint32_t branch_ports(const struct core_costs *costs, const struct core_instruction *branch) {
    const struct core_cost *cost = branch->cost;
    bool told = cost->source == CORE_SOURCE_MEASURED && cost->term_count == 1 && cost->terms[0].uops == 1.0;
    uint32_t own = told ? cost->terms[0].ports : 0, seen = costs->branch_ports;
    uint32_t both = own & seen;
    if (branch_target(branch) == 0 && seen != 0) {
        return both != 0 ? both : seen;
    }
    return own != 0 ? own : seen;
}

static void branches_place(struct core_block *block, const struct core_costs *costs) {
    for (size_t i = 0; i < block->count; i++) {
        struct core_instruction *branch = &block->items[i];
        if (branch->cost->branch) {
            int64_t target = branch_target(branch);
            bool closing = target == 0 && i + 1 == block->count;
            branch->back = target >= 0 && target <= branch->offset && !closing;
            struct core_instruction *bearer = branch->fused ? branch - 1 : branch;
            bearer->ports = branch_ports(costs, branch);
        }
    }
}

/* NOPs that take no slot behind another instruction share its own; what has one already takes no second. Of
 * NOPs alone the first has its own. */
static void nops_place(struct core_block *block, double slots) {
    size_t nops = 0;
    while (nops < block->count && isa_form_is_nop(&block->items[nops].cost->form)) {
        nops++;
    }
    bool shared = nops == block->count || block->items[block->count - 1].fused;
    for (size_t i = 0; i < block->count; i++) {
        struct core_instruction *to = &block->items[i];
        if (!isa_form_is_nop(&to->cost->form)) {
            shared = false;
        } else {
            to->slots = shared ? to->slots : slots;
            shared = !shared;
        }
    }
}

enum ip_status core_block_decode(struct core_block *block, const uint8_t *code, size_t code_bytes,
                                 struct core_costs *costs, struct ip_error *err) {
    struct core_block made = {.code = code, .code_bytes = code_bytes};
    if (code_bytes == 0) {
        return ip_fail(err, IP_SYNTAX, "the block is empty");
    }
    made.items = calloc(code_bytes, sizeof *made.items);
    if (made.items == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for a block of %zu bytes", code_bytes);
    }
    double load = probe_core_get(&costs->core, PROBE_CORE_LOAD_BASE);
    load = isnan(load) ? costs->load_cycles : load;
    made.load_cycles = load > 0.0 ? (double)core_cycles_round((float)load) : NAN;
    enum ip_status status = IP_OK;
    for (size_t offset = 0; offset < code_bytes && status == IP_OK;) {
        status = instruction_read(&made, costs, offset, err);
        offset += status == IP_OK ? made.items[made.count - 1].length : 0;
    }
    if (status != IP_OK) {
        core_block_fini(&made);
        return status;
    }
    neighbours_fill(&made);
    core_moves_join(&made, costs);
    branches_place(&made, costs);
    core_wide_close(&made, costs);
    core_stack_syncs_find(&made, costs);
    status = core_calls_find(&made, costs, err);
    if (status != IP_OK) {
        core_block_fini(&made);
        return status;
    }
    double nop = probe_core_get(&costs->core, PROBE_CORE_NOP_SLOTS);
    if (nop < 1.0) { /* not where it is not known */
        nops_place(&made, nop);
    }
    *block = made;
    return IP_OK;
}

void core_block_fini(struct core_block *block) {
    free(block->items);
    memset(block, 0, sizeof *block);
}
