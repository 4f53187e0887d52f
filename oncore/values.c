/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/values.h"

#include <math.h>
#include <string.h>

#include "oncore/pointer.h"
#include "oncore/stack.h"

enum { RAX = 0, RSP = 4, RENAMED_BYTES = 4, SEGMENT_BIT = 30 /* of a symbol: no block has so many */ };

/* So many cycles are no noise. */
static const double CLEARLY = 0.5;

static struct core_word unknown(struct core_values *values) {
    return core_word_unknown(&values->words);
}

void core_values_init(struct core_values *values, bool filled, uint64_t fill) {
    memset(values, 0, sizeof *values);
    values->filled = filled;
    values->fill = fill;
    for (unsigned i = 0; i < 16; i++) {
        values->gprs[i] = filled ? core_word_constant(fill) : unknown(values);
    }
    values->code = unknown(values);
}

static struct core_word address_sum(struct core_values *values, const struct core_instruction *instruction) {
    const struct isa_address *from = &instruction->binding.address;
    struct core_word sum = core_word_constant(0);
    if (from->relative) {
        sum = values->code;
        sum.number += instruction->offset + instruction->length;
    } else if (from->base >= 0) {
        sum = values->gprs[from->base & 15];
    }
    if (from->index >= 0) {
        sum = core_word_add(&values->words, sum, values->gprs[from->index & 15], from->scale);
    }
    sum.number += (uint64_t)(int64_t)from->disp;
    return sum;
}

static struct core_name name_of(const struct core_values *values, const struct core_instruction *instruction,
                                bool store) {
    const struct isa_address *from = &instruction->binding.address;
    const int pointer = core_pointer(instruction, store);
    struct core_name name = {.base = pointer >= 0 ? (int8_t)pointer : RSP, .index = -1};
    if (pointer < 0 && !core_through_rsp(instruction, store)) {
        name = (struct core_name){.base = from->base, .index = from->index, .scale = from->scale};
    }
    name.base_writes = name.base >= 0 ? values->writes[name.base & 15] : 0;
    name.base_added = name.base == RSP ? values->added : 0;
    name.index_writes = name.index >= 0 ? values->writes[name.index & 15] : 0;
    return name;
}

static bool name_same(struct core_name a, struct core_name b) {
    return a.base == b.base && a.base_writes == b.base_writes && a.index == b.index &&
           (a.index < 0 || (a.index_writes == b.index_writes && a.scale == b.scale));
}

/* Of its load or its store; false when it cannot be followed. */
static bool place_find(struct core_values *values, const struct core_instruction *instruction, bool store,
                       struct core_word *address) {
    const struct isa_form *form = &instruction->cost->form;
    enum core_action action = instruction->cost->action;
    if (instruction->memory < 0) {
        return false;
    }
    if (core_through_rsp(instruction, store)) {
        *address = values->gprs[RSP];
        const bool pushes = action == CORE_ACTION_PUSH || action == CORE_ACTION_CALL;
        address->number -= pushes ? instruction->bytes : 0u;
        return pushes || action == CORE_ACTION_POP || (action == CORE_ACTION_RETURN && instruction->answered);
    }
    const int pointer = core_pointer(instruction, store);
    if (pointer >= 0) {
        *address = values->gprs[pointer];
        return true;
    }
    if (form->operands[instruction->memory].implicit ||
        isa_reg_is_vector(form->operands[instruction->memory].reg_class)) {
        return false;
    }
    *address = address_sum(values, instruction);
    /* Where a segment begins is not known: all of it is a place of its own. */
    address->symbol ^= (uint32_t)instruction->binding.address.segment << SEGMENT_BIT;
    if (instruction->copies && store && instruction->binding.address.base == RSP) { /* POP moves it first */
        address->number += instruction->bytes;
    }
    return true;
}

struct core_places core_values_places(struct core_values *values,
                                      const struct core_instruction *instruction) {
    struct core_places places = {0};
    places.loads = instruction->loads && place_find(values, instruction, false, &places.load);
    places.stores = instruction->stores && place_find(values, instruction, true, &places.store);
    return places;
}

/* Most loads hit no store: what touches no line that a store touches need not be compared with each. */
static unsigned line_hash(uint32_t symbol, uint64_t line) {
    return (unsigned)(line + symbol * 37u) % CORE_LINES;
}

/* Counts the store in or (`by` -1) out. */
static void touched_count(struct core_values *values, const struct core_store *store, int by) {
    uint64_t last = (store->address.number + store->bytes) / CORE_LINE_BYTES;
    for (uint64_t line = store->address.number / CORE_LINE_BYTES; line <= last; line++) {
        uint16_t *count = &values->touched[line_hash(store->address.symbol, line)];
        *count = (uint16_t)(*count + by);
    }
}

static bool touched_any(const struct core_values *values, struct core_word address, unsigned bytes) {
    uint64_t last = (address.number + bytes) / CORE_LINE_BYTES;
    for (uint64_t line = address.number / CORE_LINE_BYTES; line <= last; line++) {
        if (values->touched[line_hash(address.symbol, line)] != 0) {
            return true;
        }
    }
    return false;
}

struct core_store *core_values_find(struct core_values *values, struct core_word address, unsigned bytes) {
    if (!touched_any(values, address, bytes)) {
        return NULL;
    }
    uint64_t kept = values->store_count < CORE_STORES_KEPT ? values->store_count : CORE_STORES_KEPT;
    for (uint64_t i = 0; i < kept; i++) {
        struct core_store *store = &values->stores[(values->store_count - 1 - i) % CORE_STORES_KEPT];
        if (store->address.symbol == address.symbol && store->address.number < address.number + bytes &&
            address.number < store->address.number + store->bytes) {
            return store;
        }
    }
    return NULL;
}

/* The general register or immediate that stands for operand `i`. */
static struct core_word operand_value(struct core_values *values, const struct core_instruction *instruction,
                                      unsigned i) {
    const struct isa_operand *op = &instruction->cost->form.operands[i];
    if (op->kind == ISA_OPERAND_IMM) {
        return core_word_constant((uint64_t)(op->imm_fixed ? op->imm : instruction->binding.imm[i]));
    }
    if (op->kind != ISA_OPERAND_REG || !isa_reg_is_gpr(op->reg_class) || op->reg_class == ISA_REG_GPR8H) {
        return unknown(values);
    }
    unsigned number = op->reg >= 0 ? (unsigned)op->reg : instruction->binding.reg[i];
    return core_word_narrow(&values->words, values->gprs[number & 15], op->bits);
}

/* One byte of memory; false when it is not known. */
static bool byte_find(struct core_values *values, struct core_word address, uint8_t *byte) {
    struct core_store *store = core_values_find(values, address, 1);
    if (store != NULL) {
        *byte = (uint8_t)(store->value.number >> 8 * ((address.number - store->address.number) & 7));
        return store->value.symbol == 0 && store->bytes <= 8;
    }
    *byte = (uint8_t)(values->fill >> 8 * (address.number % 8));
    return values->filled;
}

static struct core_word load_value(struct core_values *values, const struct core_instruction *instruction,
                                   const struct core_store *forwarded) {
    const struct core_places places = core_values_places(values, instruction);
    const struct core_word address = places.load;
    if (!places.loads || instruction->bytes > 8) {
        return unknown(values);
    }
    bool whole = forwarded != NULL && forwarded->address.number == address.number &&
                 instruction->bytes == forwarded->bytes;
    if (whole) {
        return core_word_narrow(&values->words, forwarded->value, 8u * instruction->bytes);
    }
    uint64_t number = 0;
    if (core_values_find(values, address, instruction->bytes) == NULL) { /* as nobody wrote it */
        unsigned shift = 8 * (address.number % 8);
        number = values->fill >> shift | (shift != 0 ? values->fill << (64 - shift) : 0);
        number &= instruction->bytes < 8 ? (UINT64_C(1) << 8 * instruction->bytes) - 1 : UINT64_MAX;
        return values->filled ? core_word_constant(number) : unknown(values);
    }
    for (unsigned i = 0; i < instruction->bytes; i++) {
        uint8_t byte;
        if (!byte_find(values, (struct core_word){address.symbol, address.number + i}, &byte)) {
            return unknown(values);
        }
        number |= (uint64_t)byte << 8 * i;
    }
    return core_word_constant(number);
}

/* Does no register name its place? String instructions, PUSHF and POPF, and addresses that are numbers: seen
 * on a Zen 5, they pass nothing on at rename. */
static bool is_unnamed(const struct core_instruction *instruction) {
    const struct isa_address *address = &instruction->binding.address;
    if (instruction->cost->action == CORE_ACTION_LEAVE) {
        return false; /* RBP */
    }
    const bool number = address->base < 0 && address->index < 0 && !address->relative;
    return instruction->cost->form.explicit_count == 0 || (number && !instruction->stack);
}

/* Is its data a general register's, or an immediate? Not a vector's, a mask's, or the x87 stack's. */
static bool of_general(const struct isa_form *form) {
    bool other = false;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *op = &form->operands[i];
        other = other || (op->kind == ISA_OPERAND_REG && op->reg_class != ISA_REG_OTHER &&
                          !isa_reg_is_gpr(op->reg_class));
    }
    return !other;
}

struct core_store *core_values_store(struct core_values *values, const struct core_instruction *instruction,
                                     struct core_word address) {
    struct core_word value = unknown(values);
    if (instruction->copies) {
        const struct core_places places = core_values_places(values, instruction);
        value = load_value(values, instruction,
                           places.loads ? core_values_find(values, places.load, instruction->bytes) : NULL);
    }
    struct core_store *store = &values->stores[values->store_count % CORE_STORES_KEPT];
    if (values->store_count >= CORE_STORES_KEPT) {
        touched_count(values, store, -1);
    }
    const struct isa_form *form = &instruction->cost->form;
    const struct isa_address *from = &instruction->binding.address;
    *store =
        (struct core_store){.address = address, .bytes = instruction->bytes, .serial = values->store_count};
    store->value = value;
    store->name = name_of(values, instruction, true);
    store->general = of_general(form);
    store->indexed = !core_through_rsp(instruction, true) && from->index >= 0;
    store->unnamed = is_unnamed(instruction);
    store->by = instruction;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        bool data = form->operands[i].read && (form->operands[i].kind == ISA_OPERAND_IMM ||
                                               isa_reg_is_gpr(form->operands[i].reg_class));
        if (data && form->operands[i].kind != ISA_OPERAND_MEM) {
            if (instruction->cost->action == CORE_ACTION_MOVE ||
                instruction->cost->action == CORE_ACTION_PUSH) {
                store->value = operand_value(values, instruction, i);
            }
        }
    }
    values->store_count++;
    touched_count(values, store, 1);
    return store;
}

static int64_t sign_extend(uint64_t number, unsigned bits) {
    unsigned shift = 64 - (bits == 0 || bits > 64 ? 64 : bits);
    return (int64_t)(number << shift) >> shift;
}

/* Of a symbol it changes nothing (core_word_narrow). */
static struct core_word extended(struct core_word word, unsigned bits) {
    return word.symbol == 0 ? core_word_constant((uint64_t)sign_extend(word.number, bits)) : word;
}

/* A register less itself, whatever it holds, and whether the core knows that idiom or not. */
static bool is_zero(const struct core_instruction *instruction) {
    const struct isa_operand *ops = instruction->cost->form.operands;
    const enum core_action action = instruction->cost->action;
    return (action == CORE_ACTION_XOR || action == CORE_ACTION_SUBTRACT) && ops[0].kind == ISA_OPERAND_REG &&
           ops[1].kind == ISA_OPERAND_REG && ops[0].reg_class == ops[1].reg_class &&
           instruction->binding.reg[0] == instruction->binding.reg[1];
}

/* Of less than 64 bits a shift goes by the five lowest bits of its count. */
static struct core_word shift_count(struct core_word count, unsigned bits) {
    count.number &= count.symbol == 0 && bits < 64 ? 31 : UINT64_MAX;
    return count;
}

/* The value that the first operand gets. */
static struct core_word result(struct core_values *values, const struct core_instruction *instruction,
                               const struct core_store *forwarded) {
    const struct isa_form *form = &instruction->cost->form;
    enum core_action action = instruction->cost->action;
    if (action == CORE_ACTION_LEA) {
        return address_sum(values, instruction);
    }
    if (action == CORE_ACTION_OPAQUE || form->explicit_count == 0) {
        return unknown(values);
    }
    if (is_zero(instruction)) {
        return core_word_constant(0);
    }
    unsigned last = form->explicit_count - 1u;
    const bool from_memory = instruction->loads && !instruction->stores;
    const bool three = form->explicit_count == 3; /* IMUL: the last is a number */
    struct core_word loaded =
        from_memory ? load_value(values, instruction, forwarded) : core_word_constant(0);
    struct core_word second = from_memory && !three ? loaded : operand_value(values, instruction, last);
    if (action == CORE_ACTION_MOVE || action == CORE_ACTION_POP) {
        return second;
    }
    if (action == CORE_ACTION_MOVE_SIGNED) {
        return extended(second, form->operands[last].bits);
    }
    struct core_word first =
        three && from_memory ? loaded : operand_value(values, instruction, three ? 1 : 0);
    first = action == CORE_ACTION_SHIFT_SIGNED ? extended(first, form->operands[0].bits) : first;
    if (action >= CORE_ACTION_SHIFT_LEFT && action <= CORE_ACTION_SHIFT_SIGNED) {
        second = shift_count(second, form->operands[0].bits);
    }
    if (action == CORE_ACTION_INCREMENT || action == CORE_ACTION_DECREMENT) {
        first.number += action == CORE_ACTION_INCREMENT ? 1u : UINT64_MAX;
        return first;
    }
    if (action == CORE_ACTION_NEGATE || action == CORE_ACTION_COMPLEMENT) {
        const struct core_word from = core_word_constant(action == CORE_ACTION_NEGATE ? 0 : UINT64_MAX);
        return core_word_combine(&values->words, CORE_ACTION_SUBTRACT, from, first);
    }
    return form->explicit_count >= 2 ? core_word_combine(&values->words, action, first, second)
                                     : unknown(values);
}

/* XCHG of two whole registers; of anything else both are unknown. */
static bool is_exchange(const struct core_instruction *instruction) {
    const struct isa_operand *ops = instruction->cost->form.operands;
    return instruction->cost->action == CORE_ACTION_EXCHANGE && ops[0].reg_class == ISA_REG_GPR64 &&
           ops[1].reg_class == ISA_REG_GPR64;
}

/* What RSP is behind an instruction that moves it. A CALL that is answered elsewhere is over, and who returns
 * will be called again, with RSP as it was. */
static struct core_word stack_behind(const struct core_values *values,
                                     const struct core_instruction *instruction) {
    const enum core_action action = instruction->cost->action;
    struct core_word stack = values->gprs[action == CORE_ACTION_LEAVE ? CORE_RESOURCE_RBP : RSP];
    const bool calls = action == CORE_ACTION_CALL || action == CORE_ACTION_RETURN;
    if (calls && !instruction->answered) {
        return stack;
    }
    if (action == CORE_ACTION_RETURN && instruction->cost->form.explicit_count > 0) { /* arguments, too */
        stack.number += (uint64_t)instruction->binding.imm[0];
    }
    const bool down = action == CORE_ACTION_PUSH || action == CORE_ACTION_CALL;
    stack.number += down ? (uint64_t) - (int64_t)instruction->bytes : instruction->bytes;
    return stack;
}

void core_values_step(struct core_values *values, const struct core_instruction *instruction,
                      const struct core_store *forwarded) {
    if (!instruction->general) {
        return;
    }
    const struct isa_form *form = &instruction->cost->form;
    enum core_action action = instruction->cost->action;
    struct core_word first = core_word_constant(0);
    bool follows = form->explicit_count > 0 && form->operands[0].kind == ISA_OPERAND_REG &&
                   form->operands[0].write && isa_reg_is_gpr(form->operands[0].reg_class);
    if (follows) {
        first = result(values, instruction, forwarded);
        unsigned bits = form->operands[0].bits;
        first = bits >= 32 ? core_word_narrow(&values->words, first, bits) : unknown(values);
    }
    const bool widens = action == CORE_ACTION_MOVE_SIGNED && form->explicit_count == 0; /* CDQE */
    const struct core_word wide = widens
                                      ? extended(core_word_narrow(&values->words, values->gprs[RAX], 32), 32)
                                      : core_word_constant(0);
    const struct core_word stack = stack_behind(values, instruction);
    const struct core_word frame =
        action == CORE_ACTION_LEAVE ? load_value(values, instruction, forwarded) : core_word_constant(0);
    const uint8_t *regs = instruction->binding.reg;
    const struct core_word pair[2] = {values->gprs[regs[0] & 15], values->gprs[regs[1] & 15]};
    bool adds = (action == CORE_ACTION_ADD || action == CORE_ACTION_SUBTRACT) && follows &&
                form->operands[1].kind == ISA_OPERAND_IMM && form->operands[0].bits == 64;
    for (unsigned t = 0; t < instruction->target_count; t++) {
        if (instruction->targets[t] < 16) {
            const bool moves = core_moves_pointer(instruction, instruction->targets[t]);
            struct core_word *gpr = &values->gprs[instruction->targets[t]];
            *gpr =
                moves ? (struct core_word){gpr->symbol, gpr->number + instruction->bytes} : unknown(values);
            bool stack_pointer = instruction->targets[t] == RSP;
            values->added += stack_pointer && adds ? 1 : 0;
            values->writes[instruction->targets[t]] +=
                stack_pointer && (core_moves_rsp(instruction, t) || adds) ? 0 : 1;
        }
    }
    if (action >= CORE_ACTION_PUSH) {
        values->gprs[RSP] = stack;
    }
    if (action == CORE_ACTION_LEAVE) {
        values->gprs[CORE_RESOURCE_RBP] = frame;
    }
    if (widens) {
        values->gprs[RAX] = wide;
    }
    if (follows) {
        unsigned number =
            form->operands[0].reg >= 0 ? (unsigned)form->operands[0].reg : instruction->binding.reg[0];
        if (form->operands[0].reg_class != ISA_REG_GPR8H) {
            values->gprs[number & 15] = first;
        }
    }
    if (is_exchange(instruction)) {
        values->gprs[regs[0] & 15] = pair[1];
        values->gprs[regs[1] & 15] = pair[0];
    }
}

/* Does the core remember which store each load of the loop meets? */
static bool pairs_are_remembered(const struct probe_core *core, const struct core_block *block) {
    const double most = probe_core_get(core, PROBE_CORE_STORE_FORWARD_PAIRS);
    unsigned loads = 0, stores = 0;
    for (size_t i = 0; i < block->count; i++) {
        const struct core_instruction *instruction = &block->items[i];
        const bool general = of_general(&instruction->cost->form);
        loads += general && instruction->loads ? 1 : 0;
        stores += general && instruction->stores ? 1 : 0;
    }
    return isnan(most) || loads <= most || stores <= most;
}

void core_forwarding_read(struct core_forwarding *forwarding, const struct core_costs *costs,
                          const struct core_block *block, bool loop) {
    const struct probe_core *core = &costs->core;
    const bool learned = loop && pairs_are_remembered(core, block);
    double near = probe_core_get(core, PROBE_CORE_STORE_FORWARD),
           far = probe_core_get(core, PROBE_CORE_STORE_FORWARD_FAR);
    double vector = probe_core_get(core, PROBE_CORE_STORE_FORWARD_VECTOR);
    double blocked = probe_core_get(core, PROBE_CORE_STORE_FORWARD_BLOCKED);
    double other = probe_core_get(core, PROBE_CORE_STORE_FORWARD_OTHER);
    double straight = probe_core_get(core, PROBE_CORE_STORE_FORWARD_LONG);
    double added = probe_core_get(core, PROBE_CORE_STORE_FORWARD_ADDED),
           written = probe_core_get(core, PROBE_CORE_STORE_FORWARD_WRITTEN);
    double alike = probe_core_get(core, PROBE_CORE_STORE_FORWARD_MANY);
    double load = isnan(block->load_cycles) ? 0.0 : block->load_cycles;
    forwarding->load = load;
    forwarding->renamed = isnan(near) ? load : near;
    forwarding->part = isnan(straight) ? 0.0 : straight;
    forwarding->alike = learned || isnan(alike) ? 0.0 : alike;
    forwarding->other = fmax(isnan(other) ? 0.0 : other, learned ? 0.0 : forwarding->part);
    forwarding->added = isnan(added) ? forwarding->other : added;
    forwarding->written = fmax(forwarding->other, isnan(written) ? 0.0 : written);
    forwarding->changed = probe_core_get(core, PROBE_CORE_STORE_FORWARD_CHANGED);
    forwarding->buffered = !isnan(forwarding->changed) ? forwarding->changed
                           : isnan(far)                ? INFINITY
                                                       : far + 1.0;
    forwarding->far = isnan(far) ? fmax(load, forwarding->renamed) : far;
    forwarding->vector = isnan(vector) ? forwarding->far : vector;
    forwarding->blocked = isnan(blocked) ? 2.0 * load : blocked;
}

/* Does it load, modify and store? */
static bool modifies(const struct core_instruction *instruction) {
    return instruction->loads && instruction->stores && !instruction->copies;
}

/* By what the form is and where its data lies, whatever names the place. Seen: a value goes through the
 * register file when store and load are of general registers and not indexed, and neither extends its sign.
 * An instruction that loads, modifies and stores takes part when it has no register beside the memory
 * operand: INC alone was seen at both speeds, and in other code at the fast one. One of 8 or 16 bits does
 * not. */
static double plain_cycles(const struct core_forwarding *forwarding, const struct core_instruction *load,
                           const struct core_store *store) {
    const struct isa_form *form = &load->cost->form;
    bool general = of_general(form);
    bool indexed = store->indexed || (!core_through_rsp(load, false) && load->binding.address.index >= 0);
    bool modify = modifies(load);
    /* The form's own way through memory, where that was measured: with a plain address, and data of its kind.
     */
    bool alone = load->bytes >= RENAMED_BYTES &&
                 (form->explicit_count == 1 ||
                  (form->explicit_count == 2 && form->operands[1].kind == ISA_OPERAND_IMM));
    /* ... but what takes longer alone than an operation and the store buffer is not done so fast elsewhere.
     */
    const bool slow = load->cost->modifies > forwarding->buffered + CLEARLY;
    if (modify && (!alone || slow) && !isnan(load->cost->modifies) && !indexed) {
        return fmax(0.0, load->cost->modifies - (double)load->to_store);
    }
    /* What takes as long as a load came through the store buffer, whatever names the place. */
    const bool known = !indexed || load->cost->forwarded >= forwarding->load;
    if (!modify && !isnan(load->cost->forwarded) && known && (store->general || !general)) {
        return load->cost->forwarded + (load->cost->put_late && store->bytes <= load->bytes ? 1.0 : 0.0);
    }
    if (!store->general || !general) {
        return forwarding->vector;
    }
    bool extends = load->cost->action == CORE_ACTION_MOVE_SIGNED;
    return (modify && !alone) || extends || indexed ? forwarding->far : forwarding->renamed;
}

/* Is it the youngest of the instruction that stored it? Which one a load meets is learned of instructions. */
static bool is_youngest(const struct core_values *values, const struct core_store *store) {
    for (uint64_t serial = values->store_count; serial > store->serial + 1; serial--) {
        if (values->stores[(serial - 1) % CORE_STORES_KEPT].by == store->by) {
            return false;
        }
    }
    return true;
}

/* What takes less than a load came through the register file: rename compares names of places, or has learned
 * which store a load meets. */
double core_forward_cycles(const struct core_forwarding *forwarding, const struct core_values *values,
                           const struct core_instruction *load, struct core_word where,
                           const struct core_store *store) {
    double cycles = plain_cycles(forwarding, load, store);
    if (cycles >= forwarding->load) {
        return cycles;
    }
    const struct core_name name = name_of(values, load, false);
    const bool by_rsp = store->name.base == RSP && name.base == RSP;
    double least = store->name.base_added != name.base_added ? forwarding->added
                   : by_rsp                                  ? fmin(forwarding->added, forwarding->alike)
                                                             : forwarding->alike;
    if (where.number != store->address.number || store->unnamed || is_unnamed(load)) {
        least = forwarding->part;
    } else if (!name_same(store->name, name)) {
        least = by_rsp ? forwarding->written : forwarding->other;
        least = is_youngest(values, store) ? least : fmax(least, forwarding->part);
    }
    const double most = forwarding->changed - (double)load->to_store; /* which comes on top of this */
    return fmax(cycles, modifies(load) && most < least ? most : least);
}

bool core_forward_foretold(const struct core_forwarding *forwarding, double cycles) {
    return forwarding->far < forwarding->load && cycles < forwarding->load;
}
