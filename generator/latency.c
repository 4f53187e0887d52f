/* SPDX-License-Identifier: Apache-2.0 */
/* The dependent chain (Putigny 2014, 2.2.2), with every dependence but the one under test broken. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "generator/abi.h"
#include "generator/chain.h"
#include "generator/operands.h"
#include "generator/x87.h"

enum {
    STORE_DISP = -0x1800, /* stores beside the chain: other lines and other page offsets than the loads */
    LINE_BYTES = 64,
    ROUND_STORES = 32 /* no unit has more rounds where stores rotate (chain.c) */
};

/* Sources that belong to no chain read registers that nobody writes, each its own: equal sources would make
 * an idiom of some forms (vpxor x, y, y). */
struct constants {
    unsigned next[GEN_FILES];
};

static unsigned constant_take(struct constants *constants, const struct gen_pool *pool, enum gen_file file) {
    unsigned i = constants->next[file];
    constants->next[file] += i + 1 < GEN_POOL_CONSTANTS ? 1 : 0;
    return pool->constant[file][i];
}

static enum ip_status source_break(struct gen_program *program, const struct gen_chain *chain,
                                   const struct gen_link_plan *plan, unsigned o,
                                   const struct gen_location *at, struct ip_error *err) {
    const struct isa_operand *operand = &plan->form->operands[o];
    if (operand->kind == ISA_OPERAND_FLAGS) {
        if (gen_chain_writes_flags(chain)) {
            ip_lines_add(&program->unit, "test r13, r13");
        }
        return IP_OK;
    }
    enum gen_file file = gen_file_of(operand->reg_class);
    unsigned number = (unsigned)operand->reg;
    if (file == GEN_FILES || !gen_chain_writes_fixed(chain, file, number)) {
        return IP_OK;
    }
    char src[16], other[16];
    bool live = !plan->keeps && at->place == GEN_PLACE_REGISTER && at->file == file && at->number == number;
    bool top = file == GEN_FILE_X87 && number == 0;
    if (live || (file == GEN_FILE_X87 && !top)) {
        return ip_fail(
            err, IP_UNSUPPORTED,
            "operands %s and %s of '%s' would carry the chain together: a transfer is needed between",
            isa_operand_name(plan->form, (unsigned)plan->src, src), isa_operand_name(plan->form, o, other),
            plan->form->syntax);
    }
    if (top) {
        gen_x87_renew(&program->unit);
        return IP_OK;
    }
    uint64_t value = gen_fixed_value(&chain->pool, plan->form, number, program->gpr_fill);
    bool quotient_as_upper_half = chain->pool.division && number == 0 && !plan->in_place &&
                                  plan->in.place == GEN_PLACE_REGISTER && plan->in.number == 2;
    gen_renew(&program->unit, &chain->pool, file, number, quotient_as_upper_half ? 0 : value, false);
    return IP_OK;
}

/* Fresh writes for all that the link reads beside its source. */
static enum ip_status sources_break(struct gen_program *program, const struct gen_chain *chain,
                                    const struct gen_link_plan *plan, const struct gen_location *at,
                                    struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (unsigned o = 0; o < plan->form->operand_count && status == IP_OK; o++) {
        const struct isa_operand *operand = &plan->form->operands[o];
        bool breakable = operand->kind == ISA_OPERAND_FLAGS || gen_operand_is_fixed(operand);
        if (breakable && operand->read && (int)o != plan->src) {
            status = source_break(program, chain, plan, o, at, err);
        }
    }
    return status;
}

/* Does the link load what the first one has stored, at an address that the chain goes through? The load of
 * one that reads memory, too, then has the same address: from one that is known early it would be tried
 * before the store's is known, and again. (Some cores hand on what a store alone has before that, to an early
 * load; others try such a load again, too.) */
static bool loads_at_keeper(const struct gen_chain *chain, unsigned l, int o) {
    const struct gen_link_plan *first = &chain->links[0], *plan = &chain->links[l];
    return l > 0 && o == plan->src && first->keeps && first->address &&
           (first->late_load || gen_form_modifies_memory(first->form)) &&
           first->out.place == GEN_PLACE_MEMORY;
}

static void memory_bind(struct isa_binding *binding, const struct gen_chain *chain, unsigned l,
                        unsigned round, const struct gen_location *at, struct constants *constants) {
    const struct gen_link_plan *plan = &chain->links[l];
    int o = isa_form_memory_operand(plan->form);
    binding->address =
        (struct isa_address){.base = (int8_t)chain->pool.base, .index = -1, .scale = 1, .disp = 0};
    if (o < 0) {
        return;
    }
    if (loads_at_keeper(chain, l, o)) {
        binding->address.base = GEN_REG_KEEPER;
    }
    const struct isa_operand *operand = &plan->form->operands[o];
    int32_t *disp = &binding->address.disp;
    *disp = operand->absolute ? (int32_t)GEN_DATA_BASE : 0;
    if (isa_reg_is_vector(operand->reg_class)) {
        binding->address.index = (int8_t)constant_take(constants, &chain->pool, GEN_FILE_VECTOR);
    }
    if (gen_form_moves_tile(plan->form)) {
        binding->address.index = (int8_t)chain->pool.constant[GEN_FILE_GPR][0];
    }
    if (o == plan->dst || (o == plan->src && !plan->address && !plan->index)) {
        /* The chain's own memory: the load takes what the store left. */
        unsigned slot = o == plan->dst && !plan->in_place ? chain->memory_slot + 1 : at->number;
        *disp += chain->memory_rotates ? (int32_t)(slot % chain->rotation) * LINE_BYTES : 0;
        return;
    }
    if (operand->write) {
        *disp += STORE_DISP + (int32_t)(l * ROUND_STORES + round) * LINE_BYTES;
    } else if (chain->memory) {
        *disp += GEN_ROTATION_MAX * LINE_BYTES; /* behind the chain's own lines */
    }
}

/* Chooses what the operands beside the chain are. */
static void others_bind(struct gen_program *program, struct isa_binding *binding,
                        const struct gen_chain *chain, const struct gen_link_plan *plan, unsigned round,
                        struct constants *constants) {
    for (unsigned o = 0; o < plan->form->explicit_count; o++) {
        const struct isa_operand *operand = &plan->form->operands[o];
        binding->imm[o] = gen_immediate(plan->form, o);
        if (!gen_operand_is_free(operand)) {
            continue;
        }
        enum gen_file file = gen_file_of(operand->reg_class);
        if (file == GEN_FILES) {
            binding->reg[o] = GEN_REG_SEGMENT;
        } else if (plan->scratch[o] != 0) {
            binding->reg[o] = (uint8_t)gen_chain_slice(chain, file, plan->scratch[o] - 1u, round);
            if (gen_operand_is_consumed(plan->form, o)) {
                gen_renew(&program->unit, &chain->pool, file, binding->reg[o], 0, true);
            }
        } else if ((int)o != plan->src && (int)o != plan->dst) {
            bool same = plan->same && file == plan->in.file && !operand->mask;
            binding->reg[o] =
                same ? binding->reg[plan->src] : (uint8_t)constant_take(constants, &chain->pool, file);
        }
    }
}

/* The register that holds the value behind a link, where the rotation is at `cursor`: a named one stays. */
static uint8_t register_after(const struct gen_chain *chain, const struct gen_link_plan *plan,
                              unsigned cursor) {
    unsigned number = plan->fixed_number >= 0 ? (unsigned)plan->fixed_number
                                              : gen_chain_slice(chain, plan->out.file, 0, cursor);
    return plan->form->operands[plan->dst].beside ? isa_reg_beside(number) : (uint8_t)number;
}

/* Where the value goes. */
static void location_advance(struct gen_location *at, struct gen_chain *chain,
                             const struct gen_link_plan *plan) {
    if (plan->in_place) {
        return;
    }
    *at = (struct gen_location){plan->out.place, plan->out.file, plan->out.reg_class, 0};
    if (plan->out.place == GEN_PLACE_MEMORY) {
        chain->memory_slot = (chain->memory_slot + 1) % chain->rotation;
        at->number = (uint8_t)chain->memory_slot;
    }
    if (plan->out.place == GEN_PLACE_REGISTER) {
        unsigned *cursor = &chain->cursor[plan->out.file];
        *cursor += plan->fixed_number < 0;
        at->number = register_after(chain, plan, *cursor);
    }
}

static void source_bind(struct gen_program *program, struct isa_binding *binding,
                        const struct gen_link_plan *plan, const struct gen_location *at) {
    unsigned number = at->number;
    if (plan->keeps) {
        for (unsigned i = 0; i < 2; i++) {
            ip_lines_printf(&program->unit, "xor %s, %s", isa_reg_name(ISA_REG_GPR64, GEN_REG_KEEPER),
                            isa_reg_name(ISA_REG_GPR64, at->number));
        }
        number = GEN_REG_KEEPER;
    }
    if (plan->pointer >= 0) { /* never done at rename, unlike a move */
        ip_lines_printf(&program->unit, "movsxd %s, %s", isa_reg_name(ISA_REG_GPR64, (unsigned)plan->pointer),
                        isa_reg_name(ISA_REG_GPR32, GEN_REG_KEEPER));
    } else if (plan->address) {
        binding->address.base = (int8_t)number;
    } else if (plan->index) {
        binding->address.index = (int8_t)number;
    } else if (plan->in.place == GEN_PLACE_REGISTER) {
        binding->reg[plan->src] = (uint8_t)number;
    }
}

static void x87_before(struct gen_program *program, const struct gen_link_plan *plan) {
    struct gen_x87_balance balance = gen_x87_balance_of(plan->form, false);
    if (plan->x87 == GEN_X87_FREES || plan->x87 == GEN_X87_POPS || plan->x87 == GEN_X87_LOADS_BEFORE) {
        gen_x87_before(&program->unit, &balance, true);
    }
}

static void x87_after(struct gen_program *program, const struct gen_link_plan *plan) {
    struct gen_x87_balance balance = gen_x87_balance_of(plan->form, false);
    if (plan->x87 == GEN_X87_POPS) {
        gen_x87_after(&program->unit, &balance, false);
    }
    for (unsigned i = 0; plan->x87 == GEN_X87_LOADS_AFTER && i < balance.loads; i++) {
        gen_x87_load(&program->unit);
    }
}

static enum ip_status link_emit(struct gen_program *program, struct gen_chain *chain, unsigned l,
                                unsigned round, struct gen_location *at, struct ip_error *err) {
    const struct gen_link_plan *plan = &chain->links[l];
    struct isa_binding binding;
    struct constants constants = {{0}};
    memset(&binding, 0, sizeof binding);
    /* The first constant is what a chain of slow operands is restored to. */
    constants.next[GEN_FILE_VECTOR] = chain->pool.slow_values && l == 0 ? 1 : 0;
    memory_bind(&binding, chain, l, round, at, &constants);
    source_bind(program, &binding, plan, at);
    enum ip_status status = sources_break(program, chain, plan, at, err);
    if (status != IP_OK) {
        return status;
    }
    others_bind(program, &binding, chain, plan, round, &constants);
    location_advance(at, chain, plan);
    if (plan->out.place == GEN_PLACE_REGISTER && plan->dst < plan->form->explicit_count) {
        binding.reg[plan->dst] = at->number;
    }
    if (plan->form->operands[plan->dst].beside) {
        binding.reg[0] = isa_reg_beside(at->number);
    }
    char line[ISA_LINE_MAX];
    status = isa_form_print(plan->form, &binding, line, err);
    if (status == IP_OK) {
        x87_before(program, plan);
        ip_lines_add(&program->unit, line);
        x87_after(program, plan);
    }
    return status;
}

static void init_emit(struct gen_program *program, const struct gen_chain *chain) {
    const struct isa_form *forms[GEN_LINKS_MAX];
    for (unsigned l = 0; l < chain->count; l++) {
        const struct gen_link_plan *plan = &chain->links[l];
        forms[l] = plan->form;
        program->implicit_memory = program->implicit_memory || gen_form_is_string(plan->form);
        if (plan->keeps) {
            uint64_t value = plan->address                         ? GEN_DATA_BASE
                             : gen_form_takes_selector(plan->form) ? GEN_SELECTOR
                                                                   : gen_divisor(&chain->pool);
            if (plan->pointer >= 0) {
                value = gen_fixed_value(&chain->pool, plan->form, (unsigned)plan->pointer, value);
            }
            gen_renew(&program->init, &chain->pool, GEN_FILE_GPR, GEN_REG_KEEPER, value, false);
        }
    }
    gen_init_lines(program, &chain->pool, forms, chain->count);
    for (unsigned i = 0; i < chain->rotation && chain->pointers; i++) {
        gen_renew(&program->init, &chain->pool, GEN_FILE_GPR, gen_chain_slice(chain, GEN_FILE_GPR, 0, i),
                  GEN_DATA_BASE, false);
    }
    for (unsigned i = 0; i < sizeof program->memory_fill && chain->pointers; i++) {
        program->memory_fill[i] = (uint8_t)((uint64_t)GEN_DATA_BASE >> (8 * (i % 8)));
    }
}

static void title_print(struct gen_program *program, const struct gen_chain *chain) {
    size_t used = 0;
    for (unsigned l = 0; l < chain->count && used < sizeof program->title; l++) {
        const struct gen_link_plan *plan = &chain->links[l];
        char src[16], dst[16];
        int length = snprintf(program->title + used, sizeof program->title - used, "%s%s (%s%s -> %s)",
                              l == 0 ? "latency of " : ", back through ", plan->form->syntax,
                              isa_operand_name(plan->form, (unsigned)plan->src, src),
                              plan->index ? " index" : (plan->address ? " address" : ""),
                              isa_operand_name(plan->form, (unsigned)plan->dst, dst));
        used += length > 0 ? (size_t)length : 0;
    }
}

/* Where the unit begins: behind a link that leaves the value in a register or in memory, if there is one. The
 * counting at the end of the loop writes the flags: a chain that passes there through them is cut, and its
 * iterations overlap. */
static unsigned first_link(const struct gen_chain *chain) {
    for (unsigned l = chain->count; l > 0; l--) {
        const struct gen_link_plan *plan = &chain->links[l - 1];
        if (!plan->in_place && plan->out.place != GEN_PLACE_FLAGS) {
            return l % chain->count;
        }
    }
    return 0;
}

/* Behind which link the fillers stand: the one that stores, if there is one, or the last. */
static unsigned filled_link(const struct gen_chain *chain, unsigned last) {
    for (unsigned l = 0; l < chain->count; l++) {
        if (chain->links[l].out.place == GEN_PLACE_MEMORY) {
            return l;
        }
    }
    return last;
}

/* The unit's copies in a loop where each value goes through memory to a general register, or straight to what
 * changes it there: by how many pairs of store and load a core may have to know. What memory holds is
 * measured in a loop of so few that any core that learns such pairs knows all of them. An address that comes
 * from a load is measured among so many that none is known: else the load is not waited for (`mov m64, r64`
 * through its address took 0.5 cycle a round in 32 of them, and 10 in 64). */
static void copies_choose(struct gen_program *made, const struct gen_chain *chain) {
    enum { SHORT_LINES = 7 }; /* twice as many such rounds fit: the loop's end is none of the result */
    const bool alone = chain->count == 1;
    bool names = false;
    for (unsigned l = 0; l < chain->count; l++) {
        names = names || chain->links[l].address || chain->links[l].index;
    }
    if (!chain->memory || !(chain->chain_in[GEN_FILE_GPR] || alone)) {
        return;
    }
    const unsigned pairs = names ? GEN_PAIRS_FORGOTTEN : GEN_PAIRS_KNOWN;
    const unsigned rounds = chain->rounds > 1 ? chain->rounds : 1;
    made->copies = (pairs + rounds - 1) / rounds;
    made->one_loop = !names || made->unit.count > (size_t)SHORT_LINES * rounds;
}

enum ip_status gen_latency_program(struct gen_program *program, const struct gen_link *links, unsigned count,
                                   unsigned registers, unsigned filler, struct ip_error *err) {
    struct gen_chain chain;
    enum ip_status status = gen_chain_plan(&chain, links, count, registers, err);
    if (status != IP_OK) {
        return status;
    }
    struct gen_program made;
    gen_program_init(&made);
    chain.pool.slow_values = links[0].slow_values;
    if (links[0].slow_values) {
        gen_slow_fill_for_form(links[0].form, made.memory_fill, made.vector_fill);
    } else {
        gen_fill_for_form(links[0].form, made.memory_fill, made.vector_fill);
    }
    made.gpr_fill = gen_form_gpr_fill(links[0].form, made.gpr_fill);
    made.uses = chain.pool.uses;
    made.forms_per_unit = chain.rounds;
    made.chain = true;
    made.forwards = chain.memory;
    title_print(&made, &chain);
    init_emit(&made, &chain);
    /* The first round reads where the last one writes. */
    unsigned first = first_link(&chain);
    const unsigned filled = filled_link(&chain, (first + count - 1) % count);
    const struct gen_link_plan *last = &chain.links[(first + count - 1) % count];
    struct gen_location at = {last->out.place, last->out.file, last->out.reg_class, 0};
    made.keeps_carry = at.place == GEN_PLACE_FLAGS;
    if (at.place == GEN_PLACE_REGISTER) {
        at.number = register_after(&chain, last, 0);
    }
    for (unsigned round = 0; round < chain.rounds && status == IP_OK; round++) {
        for (unsigned l = 0; l < count && status == IP_OK; l++) {
            status = link_emit(&made, &chain, (first + l) % count, round, &at, err);
            for (unsigned i = 0; i < filler && (first + l) % count == filled; i++) {
                ip_lines_add(&made.unit, "nop dword [rax+8]");
            }
        }
    }
    copies_choose(&made, &chain);
    if (status == IP_OK && (made.unit.failed || made.init.failed)) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory while writing the chain of '%s'",
                         links[0].form->syntax);
    }
    if (status != IP_OK) {
        gen_program_fini(&made);
        return status;
    }
    *program = made;
    return IP_OK;
}
