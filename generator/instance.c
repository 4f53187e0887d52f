/* SPDX-License-Identifier: Apache-2.0 */
#include "generator/instance.h"

#include <string.h>

#include "generator/abi.h"
#include "generator/control.h"
#include "generator/x87.h"

enum {
    CHAIN_INSTANCES = 4, /* wait for each other where flags, or a register that the form names, are renewed:
                            an idiom for each takes a slot, and hides what takes a quarter of a cycle */
    LOADS_APART = 8, /* loads walk through so many places from the base on, all banks of the L1 cache: more
                        would only be more lines to assemble ... */
    STORE_DISP = -0x1600, /* ... stores from here on */
    STRIDE_CHANGED = 8,
    STRIDE_MIN = 32,      /* at 64 loads would meet in one bank of the L1 cache */
    STRIDE_LOADS_16 = 48, /* what GEN_LOAD_STRIDE is for loads of 16 bytes, which must stay aligned */
};

static unsigned written_count(const struct isa_form *form, enum gen_file file) {
    unsigned count = 0;
    for (unsigned o = 0; o < form->explicit_count; o++) {
        const struct isa_operand *operand = &form->operands[o];
        count += gen_operand_is_free(operand) && operand->write && gen_file_of(operand->reg_class) == file;
    }
    return count;
}

static bool deals_from(const struct gen_stream *stream, const struct gen_pool *pool) {
    return stream->form != NULL && stream->pool == pool;
}

/* The registers of one written operand: the same number for all, or one and a part of the others by weight.
 */
static unsigned share_of(const struct gen_stream *streams, unsigned count, unsigned of, enum gen_file file,
                         unsigned registers, unsigned shares) {
    unsigned weights = 0;
    for (unsigned s = 0; s < count; s++) {
        bool other = deals_from(&streams[s], streams[of].pool);
        weights += other ? streams[s].weight * written_count(streams[s].form, file) : 0;
    }
    return weights == 0 ? registers / shares : 1 + (registers - shares) * streams[of].weight / weights;
}

/* Deals the rotating registers of one file of a pool to the written operands of its streams. */
static enum ip_status file_deal(struct gen_stream *streams, unsigned count, const struct gen_pool *pool,
                                enum gen_file file, struct ip_error *err) {
    unsigned shares = 0;
    const struct isa_form *some = NULL;
    for (unsigned s = 0; s < count; s++) {
        some = deals_from(&streams[s], pool) ? streams[s].form : some;
        shares += deals_from(&streams[s], pool) ? written_count(streams[s].form, file) : 0;
    }
    if (pool->rotating_count[file] < shares) {
        return ip_fail(err, IP_UNSUPPORTED, "'%s' needs more registers than there are", some->syntax);
    }
    unsigned dealt = 0; /* registers */
    for (unsigned s = 0; s < count && shares > 0; s++) {
        struct gen_stream *stream = &streams[s];
        if (!deals_from(stream, pool)) {
            continue;
        }
        unsigned share = share_of(streams, count, s, file, pool->rotating_count[file], shares);
        unsigned wanted = stream->how.registers != 0 ? stream->how.registers : share;
        for (unsigned o = 0; o < stream->form->explicit_count; o++) {
            const struct isa_operand *operand = &stream->form->operands[o];
            if (gen_operand_is_free(operand) && operand->write && gen_file_of(operand->reg_class) == file) {
                stream->first[o] = (uint8_t)dealt;
                dealt += share;
                stream->count[o] = (uint8_t)(wanted < share ? wanted : share);
            }
        }
    }
    return IP_OK;
}

/* All files of all pools. Pools differ in general-purpose registers alone, and what names ah to bh writes no
 * others. */
enum ip_status gen_streams_deal(struct gen_stream *streams, unsigned count, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (unsigned s = 0; s < count && status == IP_OK; s++) {
        bool first = streams[s].form != NULL;
        for (unsigned before = 0; before < s; before++) {
            first = first && !deals_from(&streams[before], streams[s].pool);
        }
        for (unsigned f = 0; f < GEN_FILES && first && status == IP_OK; f++) {
            status = file_deal(streams, count, streams[s].pool, f, err);
        }
    }
    return status;
}

/* Bytes between the places of two instances. What is loaded repeats as the fill does: every element up to 16
 * bytes, all else every 32. Stores of up to 8 bytes fill one place after the other: a Golden Cove writes two
 * to a line in a cycle, a Zen 4 only two that are neighbours (at 24 bytes three in two cycles, at 32 one).
 * Places that are read as well are eight bytes apart: what is loaded from within 4 bytes of a store waits for
 * it. */
static unsigned stride_of(const struct isa_operand *operand) {
    unsigned bytes = operand->bits / 8u;
    bool small = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    if (!operand->write && (small || bytes == 16)) {
        return small ? GEN_LOAD_STRIDE : STRIDE_LOADS_16;
    }
    if (operand->bits == 0) {
        return 64;
    }
    if (small) {
        return operand->read ? STRIDE_CHANGED : bytes;
    }
    return bytes > STRIDE_MIN ? (bytes + STRIDE_MIN - 1) / STRIDE_MIN * STRIDE_MIN : STRIDE_MIN;
}

static int32_t store_disp(unsigned walked) {
    unsigned at = walked % GEN_WINDOW_BYTES;
    return STORE_DISP + (int32_t)(at / GEN_WINDOW_HALF * 2 * GEN_WINDOW_HALF + at % GEN_WINDOW_HALF);
}

/* Which of the rotating registers the next instance writes with operand `o`. */
static unsigned rotating_position(const struct gen_stream *stream, unsigned o) {
    return stream->first[o] + stream->emitted % stream->count[o];
}

/* Which of the places the next instance loads from. It goes with the register that is written, unless those
 * are few, so that the same lines serve all numbers of registers, and all mixes. */
static unsigned load_place(const struct gen_stream *stream) {
    enum { FEW = 4 };
    for (unsigned o = 0; o < stream->form->explicit_count; o++) {
        const struct isa_operand *operand = &stream->form->operands[o];
        bool rotates =
            gen_operand_is_free(operand) && operand->write && gen_file_of(operand->reg_class) != GEN_FILES;
        if (rotates && stream->count[o] >= FEW) {
            return rotating_position(stream, o) % LOADS_APART;
        }
    }
    return stream->emitted % LOADS_APART;
}

static void address_bind(struct isa_binding *binding, const struct gen_stream *stream,
                         unsigned *vector_constants) {
    binding->address = (struct isa_address){.base = (int8_t)stream->pool->base, .index = -1, .scale = 1};
    int o = isa_form_memory_operand(stream->form);
    if (o < 0) {
        if (stream->how.scaled_index) {
            binding->address.index = (int8_t)stream->pool->constant[GEN_FILE_GPR][0];
            binding->address.scale = 4;
        }
        return;
    }
    const struct isa_operand *operand = &stream->form->operands[o];
    if (isa_reg_is_vector(operand->reg_class)) {
        binding->address.index = (int8_t)stream->pool->constant[GEN_FILE_VECTOR][(*vector_constants)++];
    }
    if (gen_form_moves_tile(stream->form)) {
        binding->address.index = (int8_t)stream->pool->constant[GEN_FILE_GPR][0];
    }
    unsigned stride = stride_of(operand);
    stride = stream->how.stride > stride ? stream->how.stride : stride;
    stride = gen_form_stores_past_caches(stream->form) ? 0 : stride;
    int32_t disp =
        operand->write ? store_disp(stream->emitted * stride) : (int32_t)(load_place(stream) * stride);
    binding->address.disp = stream->window_disp + disp;
    if (operand->absolute) {
        binding->address.disp += (int32_t)GEN_DATA_BASE;
    }
}

/* The register of each explicit operand of the next instance. */
static void instance_bind(struct isa_binding *binding, const struct gen_stream *stream) {
    unsigned constants[GEN_FILES] = {0};
    int shared[GEN_FILES];
    memset(binding, 0, sizeof *binding);
    for (unsigned f = 0; f < GEN_FILES; f++) {
        shared[f] = -1;
    }
    address_bind(binding, stream, &constants[GEN_FILE_VECTOR]);
    for (unsigned pass = 0; pass < 2; pass++) { /* destinations first: `same_register` follows them */
        for (unsigned o = 0; o < stream->form->explicit_count; o++) {
            const struct isa_operand *operand = &stream->form->operands[o];
            if (!gen_operand_is_free(operand)) {
                binding->imm[o] = gen_immediate(stream->form, o);
                continue;
            }
            enum gen_file file = gen_file_of(operand->reg_class);
            if (operand->write != (pass == 0)) {
                continue;
            }
            if (file == GEN_FILES) {
                binding->reg[o] = GEN_REG_SEGMENT;
                continue;
            }
            if (stream->how.same_register && shared[file] >= 0 && !operand->mask) {
                binding->reg[o] = (uint8_t)shared[file];
            } else if (operand->write) {
                binding->reg[o] = stream->pool->rotating[file][rotating_position(stream, o)];
            } else {
                binding->reg[o] = stream->pool->constant[file][constants[file]];
                constants[file] += constants[file] + 1 < GEN_POOL_CONSTANTS;
            }
            if (shared[file] < 0 && !operand->mask) {
                shared[file] = binding->reg[o];
            }
        }
    }
}

/* Is what operand `o` reads written by the instance before: by the same operand, or by another that names the
 * same register ("imul r8" reads al and writes ax)? */
static bool comes_from_itself(const struct isa_form *form, unsigned o) {
    const struct isa_operand *operand = &form->operands[o];
    for (unsigned i = 0; i < form->operand_count && gen_operand_is_fixed(operand); i++) {
        const struct isa_operand *other = &form->operands[i];
        if (gen_operand_is_fixed(other) && other->write && other->reg == operand->reg &&
            gen_file_of(other->reg_class) == gen_file_of(operand->reg_class)) {
            return true;
        }
    }
    return operand->write;
}

static void zero_idiom_add(struct gen_program *program, unsigned gpr) {
    const char *name = isa_reg_name(ISA_REG_GPR32, gpr);
    ip_lines_printf(&program->unit, "xor %s, %s", name, name);
}

/* Does the next instance begin a chain of a few that may wait for each other? */
static bool chain_begins(const struct gen_stream *stream) {
    return stream->emitted % CHAIN_INSTANCES == 0;
}

/* Does operand `o` have a vector register that begins a chain of a few? */
static bool breaks_fourth(const struct gen_stream *stream, unsigned o) {
    const struct isa_operand *operand = &stream->form->operands[o];
    return stream->how.break_fourth && o < stream->form->explicit_count && gen_operand_is_free(operand) &&
           operand->read && operand->write && gen_file_of(operand->reg_class) == GEN_FILE_VECTOR &&
           stream->emitted / stream->count[o] % CHAIN_INSTANCES == 0;
}

/* What is renewed before the next instance and not before each; flags. */
static unsigned renewals_of(const struct gen_stream *stream) {
    enum { CHAIN = 1, FOURTH = 2 };
    unsigned renewals = chain_begins(stream) ? CHAIN : 0;
    for (unsigned o = 0; stream->how.break_fourth && o < stream->form->explicit_count; o++) {
        renewals |= breaks_fourth(stream, o) ? (unsigned)FOURTH : 0;
    }
    return renewals;
}

/* Renews what the instance would otherwise wait for, and what it cannot do without. */
static void instance_break(struct gen_program *program, const struct gen_stream *stream,
                           const struct isa_binding *binding) {
    const struct isa_form *form = stream->form;
    bool flags = stream->how.break_flags && (form->flags_read | form->flags_written) != 0;
    bool string = gen_form_is_string(form);
    bool renewed = false;             /* a register, and the flags with it */
    if (gen_form_looks_up_al(form)) { /* part of the address, and of no operand */
        zero_idiom_add(program, 0);
    }
    for (unsigned o = 0; o < form->operand_count; o++) {
        const struct isa_operand *operand = &form->operands[o];
        if (operand->kind != ISA_OPERAND_REG || !operand->read || !comes_from_itself(form, o)) {
            continue;
        }
        enum gen_file file = gen_file_of(operand->reg_class);
        bool fixed = gen_operand_is_fixed(operand);
        unsigned number = fixed ? (unsigned)operand->reg : binding->reg[o];
        if (file == GEN_FILES || file == GEN_FILE_X87 || (file == GEN_FILE_GPR && number == 4)) {
            continue;
        }
        bool consumed = gen_operand_is_consumed(form, o), fourth = breaks_fourth(stream, o);
        if (consumed || stream->how.break_registers || fourth || (string && file == GEN_FILE_GPR)) {
            uint64_t value = fixed && file == GEN_FILE_GPR
                                 ? gen_fixed_value(stream->pool, form, number, program->gpr_fill)
                                 : program->gpr_fill;
            if ((stream->pool->slow_values || fourth) && file == GEN_FILE_VECTOR) {
                gen_vector_load(&program->unit, stream->pool, number);
            } else if (file == GEN_FILE_GPR && value == program->gpr_fill &&
                       (form->flags_read == 0 || flags)) {
                /* Any value will do, and nobody wants the flags: a zero idiom takes no port. */
                if (!fixed || chain_begins(stream)) {
                    zero_idiom_add(program, number);
                }
                renewed = true;
            } else {
                gen_renew(&program->unit, stream->pool, file, number, value, consumed);
            }
        }
    }
    if (flags && !renewed && chain_begins(stream)) {
        zero_idiom_add(program, GEN_REG_KEEPER);
    }
}

/* Zeroes the masks that the instance has written, and that nobody reads. */
static void masks_free(struct gen_program *program, const struct gen_stream *stream,
                       const struct isa_binding *binding) {
    const struct isa_form *form = stream->form;
    for (unsigned o = 0; stream->how.frees_masks && o < form->explicit_count; o++) {
        const struct isa_operand *operand = &form->operands[o];
        if (gen_operand_is_free(operand) && operand->write && !operand->read &&
            gen_file_of(operand->reg_class) == GEN_FILE_MASK) {
            ip_lines_printf(&program->unit, "kxor%c k%u, k%u, k%u",
                            (stream->pool->uses & GEN_USES_MASK_64) != 0 ? 'q' : 'w', binding->reg[o],
                            binding->reg[o], binding->reg[o]);
        }
    }
}

static enum ip_status instance_write(struct gen_program *program, const struct gen_stream *stream,
                                     const struct isa_binding *binding, struct ip_error *err) {
    instance_break(program, stream, binding);
    struct gen_x87_balance x87 = gen_x87_balance_of(stream->form, stream->how.break_registers);
    if (!stream->how.renewals_only || stream->how.x87_frees) { /* pops would have nothing to take */
        gen_x87_before(&program->unit, &x87, stream->how.x87_frees);
    }
    if (stream->how.renewals_only) {
        return IP_OK;
    }
    char line[ISA_LINE_MAX];
    enum ip_status status = isa_form_print(stream->form, binding, line, err);
    if (status == IP_OK) {
        ip_lines_add(&program->unit, line);
        gen_x87_after(&program->unit, &x87, stream->how.x87_frees);
        masks_free(program, stream, binding);
    }
    return status;
}

/* Of one form, so that immediates are the same. */
static bool same_binding(const struct isa_binding *one, const struct isa_binding *other) {
    return memcmp(one->reg, other->reg, sizeof one->reg) == 0 && one->address.disp == other->address.disp &&
           one->address.base == other->address.base && one->address.index == other->address.index &&
           one->address.scale == other->address.scale;
}

/* The same instance as one before has the same lines: printing them anew took a fifth of a scan of ports. */
static bool instance_repeat(struct gen_program *program, const struct gen_stream *stream,
                            const struct isa_binding *binding, unsigned renewals) {
    for (unsigned i = 0; i < stream->written_count; i++) {
        const struct gen_written *written = &stream->written[i];
        if (written->renewals == renewals && same_binding(&written->binding, binding)) {
            for (size_t k = 0; k < written->count; k++) {
                ip_lines_repeat(&program->unit, written->first + k);
            }
            return true;
        }
    }
    return false;
}

enum ip_status gen_instance_emit(struct gen_program *program, struct gen_stream *stream,
                                 struct ip_error *err) {
    struct isa_binding binding;
    instance_bind(&binding, stream);
    enum ip_status status = IP_OK;
    unsigned renewals = renewals_of(stream);
    if (!instance_repeat(program, stream, &binding, renewals)) {
        size_t first = program->unit.count;
        status = instance_write(program, stream, &binding, err);
        if (status == IP_OK && !program->unit.failed && stream->written_count < GEN_WRITTEN_MAX) {
            stream->written[stream->written_count++] =
                (struct gen_written){.binding = binding,
                                     .renewals = renewals,
                                     .first = first,
                                     .count = program->unit.count - first};
        }
    }
    stream->emitted++;
    return status;
}

/* Of several forms the one with the stricter needs decides: pointers and divisors before floating point, that
 * before integers. */
static unsigned strictness(const struct isa_form *form) {
    bool needs = gen_form_is_gather(form) || gen_form_divides(form);
    return needs ? 3 : (form->floating ? 2 : 1);
}

/* What memory and vectors begin with; memory is as a form needs it that has it as an operand, if there is
 * one. */
static void program_fill(struct gen_program *program, const struct gen_pool *pool,
                         const struct isa_form *const *forms, unsigned count) {
    unsigned strictest = 0, strictest_of_memory = 0;
    for (unsigned i = 0; i < count; i++) {
        uint8_t memory[sizeof program->memory_fill], vector[sizeof program->vector_fill];
        unsigned strict = strictness(forms[i]), of_memory = strict;
        of_memory += isa_form_memory_operand(forms[i]) >= 0 ? 3 : 0;
        memcpy(memory, program->memory_fill, sizeof memory);
        memcpy(vector, program->vector_fill, sizeof vector);
        if (pool->slow_values) {
            gen_slow_fill_for_form(forms[i], memory, vector);
        } else {
            gen_fill_for_form(forms[i], memory, vector);
        }
        if (strict > strictest) {
            strictest = strict;
            memcpy(program->vector_fill, vector, sizeof vector);
        }
        if (of_memory > strictest_of_memory) {
            strictest_of_memory = of_memory;
            memcpy(program->memory_fill, memory, sizeof memory);
        }
    }
}

void gen_instances_begin(struct gen_program *program, const struct gen_pool *pool,
                         const struct isa_form *const *forms, unsigned count) {
    gen_program_init(program);
    program->uses = pool->uses;
    for (unsigned i = 0; i < count; i++) {
        program->uses |= gen_form_is_stack(forms[i]) ? (unsigned)GEN_USES_STACK : 0u;
        program->implicit_memory =
            program->implicit_memory || gen_form_is_stack(forms[i]) || gen_form_is_string(forms[i]);
        program->gpr_fill = gen_form_gpr_fill(forms[i], program->gpr_fill);
    }
    program_fill(program, pool, forms, count);
    gen_init_lines(program, pool, forms, count);
}

enum ip_status gen_instances_end(struct gen_program *program, struct gen_program *made, enum ip_status status,
                                 struct ip_error *err) {
    if (status == IP_OK && (made->uses & GEN_USES_STACK) != 0) {
        gen_stack_reset(&made->unit);
    }
    if (status == IP_OK && (made->uses & GEN_USES_MASK) != 0) {
        made->idle_masks = gen_program_idle_masks(made);
    }
    if (status == IP_OK && (made->unit.failed || made->init.failed)) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory while writing kernel '%s'", made->title);
    }
    if (status != IP_OK) {
        gen_program_fini(made);
        return status;
    }
    *program = *made;
    return IP_OK;
}

enum ip_status gen_instances_check(const struct isa_form *const *forms, unsigned count,
                                   struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < count && status == IP_OK; i++) {
        if (gen_form_needs_target(forms[i])) {
            status =
                ip_fail(err, IP_UNSUPPORTED, "'%s' goes where other instructions say, and stands in no mix",
                        forms[i]->syntax);
        }
    }
    return status;
}
