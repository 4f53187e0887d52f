/* SPDX-License-Identifier: Apache-2.0 */
/* Independent instances of one form, or of two interleaved (Putigny 2014, Listings 2.4 and 2.6; 2.2.3). */
#include <stdio.h>
#include <string.h>

#include "generator/abi.h"
#include "generator/control.h"
#include "generator/operands.h"
#include "generator/shapes.h"
#include "generator/x87.h"

enum {
    LOADS_APART = 8,        /* loads walk through so many places from the base on, all banks of the L1 cache:
                               more would only be more lines to assemble ... */
    WINDOW_BYTES = 0x800,   /* ... stores through so many bytes ... */
    STORE_DISP = -0x1600,   /* ... from here on, every other ... */
    STORE_BYTES = 0x200,    /* ... half of 1 KiB: no page offset of a load, where they would alias, nor its
                               displacement modulo 1 KiB, by which a Zen 4 takes what is stored for what is
                               loaded (12 cycles a load, each time that it is wrong) */
    STRIDE_MIN = 32,        /* at 64 loads would meet in one bank of the L1 cache */
    STRIDE_LOADS_16 = 48,   /* what GEN_LOAD_STRIDE is for loads of 16 bytes, which must stay aligned */
    INSTANCES_MAX = 2000,   /* in a unit: so many pushes stay within the stack pages */
    LOOP_INSTRUCTIONS = 48, /* in the shorter loop of independent instances */
    WRITTEN_MAX = 16,       /* instances that are remembered: of most forms all that differ */
};

/* An instance that is in the unit. */
struct written {
    struct isa_binding binding;
    size_t first, count; /* its lines */
};

/* Where the operands of one form find their registers. */
struct stream {
    const struct isa_form *form;
    const struct gen_pool *pool;
    struct gen_independence how;
    unsigned weight;
    uint8_t first[ISA_OPERANDS_MAX], count[ISA_OPERANDS_MAX]; /* slice of the rotating registers */
    unsigned emitted;                                         /* instances so far */
    int32_t window_disp;                                      /* where this form's accesses begin */
    struct written written[WRITTEN_MAX];
    unsigned written_count;
};

static unsigned written_count(const struct isa_form *form, enum gen_file file) {
    unsigned count = 0;
    for (unsigned o = 0; o < form->explicit_count; o++) {
        const struct isa_operand *operand = &form->operands[o];
        count += gen_operand_is_free(operand) && operand->write && gen_file_of(operand->reg_class) == file;
    }
    return count;
}

static bool deals_from(const struct stream *stream, const struct gen_pool *pool) {
    return stream->form != NULL && stream->pool == pool;
}

/* The registers of one written operand: the same number for all, or one and a part of the others by weight.
 */
static unsigned share_of(const struct stream *streams, unsigned count, unsigned of, enum gen_file file,
                         unsigned registers, unsigned shares) {
    unsigned weights = 0;
    for (unsigned s = 0; s < count; s++) {
        bool other = deals_from(&streams[s], streams[of].pool);
        weights += other ? streams[s].weight * written_count(streams[s].form, file) : 0;
    }
    return weights == 0 ? registers / shares : 1 + (registers - shares) * streams[of].weight / weights;
}

/* Deals the rotating registers of one file of a pool to the written operands of its streams. */
static enum ip_status file_deal(struct stream *streams, unsigned count, const struct gen_pool *pool,
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
        struct stream *stream = &streams[s];
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
static enum ip_status streams_deal(struct stream *streams, unsigned count, struct ip_error *err) {
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
 * to a line in a cycle, a Zen 4 only two that are neighbours (at 24 bytes three in two cycles, at 32 one). */
static unsigned stride_of(const struct isa_operand *operand) {
    unsigned bytes = operand->bits / 8u;
    bool small = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    if (!operand->write && (small || bytes == 16)) {
        return small ? GEN_LOAD_STRIDE : STRIDE_LOADS_16;
    }
    if (operand->bits == 0) {
        return 64;
    }
    if (small && !operand->read) {
        return bytes;
    }
    return bytes > STRIDE_MIN ? (bytes + STRIDE_MIN - 1) / STRIDE_MIN * STRIDE_MIN : STRIDE_MIN;
}

static int32_t store_disp(unsigned walked) {
    unsigned at = walked % WINDOW_BYTES;
    return STORE_DISP + (int32_t)(at / STORE_BYTES * 2 * STORE_BYTES + at % STORE_BYTES);
}

/* Which of the rotating registers the next instance writes with operand `o`. */
static unsigned rotating_position(const struct stream *stream, unsigned o) {
    return stream->first[o] + stream->emitted % stream->count[o];
}

/* Which of the places the next instance loads from. It goes with the register that is written, unless those
 * are few, so that the same lines serve all numbers of registers, and all mixes. */
static unsigned load_place(const struct stream *stream) {
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

static void address_bind(struct isa_binding *binding, const struct stream *stream,
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
    int32_t disp =
        operand->write ? store_disp(stream->emitted * stride) : (int32_t)(load_place(stream) * stride);
    binding->address.disp = stream->window_disp + disp;
    if (operand->absolute) {
        binding->address.disp += (int32_t)GEN_DATA_BASE;
    }
}

/* The register of each explicit operand of the next instance. */
static void instance_bind(struct isa_binding *binding, const struct stream *stream) {
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

/* Renews what the instance would otherwise wait for, and what it cannot do without. */
static void instance_break(struct gen_program *program, const struct stream *stream,
                           const struct isa_binding *binding) {
    const struct isa_form *form = stream->form;
    bool string = gen_form_is_string(form);
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
        bool consumed = gen_operand_is_consumed(form, o);
        if (consumed || stream->how.break_registers || (string && file == GEN_FILE_GPR)) {
            uint64_t value = fixed && file == GEN_FILE_GPR
                                 ? gen_fixed_value(stream->pool, form, number, program->gpr_fill)
                                 : program->gpr_fill;
            if (stream->pool->slow_values && file == GEN_FILE_VECTOR) {
                gen_vector_load(&program->unit, stream->pool, number);
            } else if (file == GEN_FILE_GPR && value == program->gpr_fill && form->flags_read == 0) {
                /* Any value will do, and nobody wants the flags: a zero idiom takes no port. */
                ip_lines_printf(&program->unit, "xor %s, %s", isa_reg_name(ISA_REG_GPR32, number),
                                isa_reg_name(ISA_REG_GPR32, number));
            } else {
                gen_renew(&program->unit, stream->pool, file, number, value, consumed);
            }
        }
    }
    if (stream->how.break_flags && (form->flags_read | form->flags_written) != 0) {
        ip_lines_add(&program->unit, "test r13, r13");
    }
}

static enum ip_status instance_write(struct gen_program *program, const struct stream *stream,
                                     const struct isa_binding *binding, struct ip_error *err) {
    instance_break(program, stream, binding);
    if (stream->how.renewals_only) {
        return IP_OK;
    }
    struct gen_x87_balance x87 = gen_x87_balance_of(stream->form, stream->how.break_registers);
    gen_x87_before(&program->unit, &x87, stream->how.x87_frees);
    char line[ISA_LINE_MAX];
    enum ip_status status = isa_form_print(stream->form, binding, line, err);
    if (status == IP_OK) {
        ip_lines_add(&program->unit, line);
        gen_x87_after(&program->unit, &x87, stream->how.x87_frees);
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
static bool instance_repeat(struct gen_program *program, const struct stream *stream,
                            const struct isa_binding *binding) {
    for (unsigned i = 0; i < stream->written_count; i++) {
        const struct written *written = &stream->written[i];
        if (same_binding(&written->binding, binding)) {
            for (size_t k = 0; k < written->count; k++) {
                ip_lines_repeat(&program->unit, written->first + k);
            }
            return true;
        }
    }
    return false;
}

static enum ip_status instance_emit(struct gen_program *program, struct stream *stream,
                                    struct ip_error *err) {
    struct isa_binding binding;
    instance_bind(&binding, stream);
    stream->emitted++;
    if (instance_repeat(program, stream, &binding)) {
        return IP_OK;
    }
    size_t first = program->unit.count;
    enum ip_status status = instance_write(program, stream, &binding, err);
    if (status == IP_OK && !program->unit.failed && stream->written_count < WRITTEN_MAX) {
        stream->written[stream->written_count++] =
            (struct written){.binding = binding, .first = first, .count = program->unit.count - first};
    }
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

/* What both shapes have in common once the pool is known. */
static void program_prepare(struct gen_program *program, const struct gen_pool *pool,
                            const struct isa_form *const *forms, unsigned count) {
    gen_program_init(program);
    program->uses = pool->uses;
    for (unsigned i = 0; i < count; i++) {
        program->uses |= gen_form_is_stack(forms[i]) ? (unsigned)GEN_USES_STACK : 0u;
        program->gpr_fill = gen_form_loads_segment(forms[i]) ? 0 : program->gpr_fill;
    }
    program_fill(program, pool, forms, count);
    gen_init_lines(program, pool, forms, count);
}

static enum ip_status program_finish(struct gen_program *program, struct gen_program *made,
                                     enum ip_status status, struct ip_error *err) {
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

static enum ip_status forms_check(const struct isa_form *const *forms, unsigned count, struct ip_error *err) {
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

/* Loops so small that they stay in the µop cache: of one that loses a line to the other thread of its core,
 * the rest of each iteration comes from the decoders. Half of that size where the form takes many µops for
 * its bytes (what it loads, changes and stores), and for a chain through the flags, which ends where the loop
 * counts, so that several fit the reorder buffer. */
static uint32_t copies_choose(const struct gen_program *program, bool half) {
    size_t lines = program->unit.count;
    size_t wanted = half ? LOOP_INSTRUCTIONS / 2 : LOOP_INSTRUCTIONS;
    return lines == 0 || lines > wanted ? 1 : (uint32_t)((wanted + lines - 1) / lines);
}

enum ip_status gen_throughput_program(struct gen_program *program, const struct isa_form *form,
                                      const struct gen_independence *how, unsigned count,
                                      struct ip_error *err) {
    if (count == 0 || count > INSTANCES_MAX) {
        return ip_fail(err, IP_USAGE, "a unit has 1 to %d instances of '%s', not %u", INSTANCES_MAX,
                       form->syntax, count);
    }
    struct gen_pool pool;
    enum ip_status status = gen_pool_init(&pool, &form, 1, err);
    if (status == IP_OK) {
        status = forms_check(&form, 1, err);
    }
    if (status != IP_OK) {
        return status;
    }
    pool.slow_values = how->slow_values;
    struct stream stream = {.form = form, .pool = &pool, .how = *how};
    status = streams_deal(&stream, 1, err);
    if (status != IP_OK) {
        return status;
    }
    struct gen_program made;
    program_prepare(&made, &pool, &form, 1);
    made.forms_per_unit = count;
    (void)snprintf(made.title, sizeof made.title, "throughput of %s%s%s%s%s", form->syntax,
                   how->break_registers ? ", registers renewed" : "",
                   how->break_flags ? ", flags renewed" : "", how->same_register ? ", same register" : "",
                   how->slow_values ? ", slow operands" : "");
    for (unsigned i = 0; i < count && status == IP_OK; i++) {
        status = instance_emit(&made, &stream, err);
    }
    bool flags_chained = form->flags_read != 0 && !how->break_flags;
    made.keeps_carry = flags_chained && form->flags_written != 0;
    made.copies = copies_choose(&made, flags_chained || gen_form_modifies_memory(form));
    return program_finish(program, &made, status, err);
}

/* Evenly: the next instance is of the part that is furthest behind its share (Bresenham); -1 when all are
 * done. */
static int part_next(const struct stream *streams, const struct gen_part *parts, unsigned count) {
    int next = -1;
    for (unsigned i = 0; i < count; i++) {
        bool open = streams[i].emitted < parts[i].count;
        if (open && (next < 0 || (uint64_t)streams[i].emitted * parts[next].count <
                                     (uint64_t)streams[next].emitted * parts[i].count)) {
            next = (int)i;
        }
    }
    return next;
}

void gen_mix_draw(const struct gen_part *parts, unsigned count, char *buffer, size_t size) {
    struct stream streams[GEN_PARTS_MAX];
    memset(streams, 0, sizeof streams);
    size_t used = 0;
    for (int next; (next = part_next(streams, parts, count)) >= 0; streams[next].emitted++) {
        if (used + 1 == size) {
            memcpy(buffer + size - 4, "...", 4);
            return;
        }
        buffer[used++] = (char)('a' + next);
    }
    buffer[used] = '\0';
}

static enum ip_status parts_check(const struct gen_part *parts, unsigned count, struct ip_error *err) {
    unsigned instances = 0;
    for (unsigned i = 0; i < count && instances <= INSTANCES_MAX; i++) {
        instances += parts[i].count <= INSTANCES_MAX ? parts[i].count : INSTANCES_MAX + 1;
    }
    if (count == 0 || count > GEN_PARTS_MAX || instances == 0 || instances > INSTANCES_MAX) {
        return ip_fail(err, IP_USAGE, "a unit has 1 to %d instances of 1 to %d forms", INSTANCES_MAX,
                       GEN_PARTS_MAX);
    }
    return IP_OK;
}

/* Where the accesses of a part begin. What modifies its memory also loads, and at the page offsets of stores
 * that others do this is taken for a load of what they store: it goes to those of loads, if nobody else does.
 * (On a Zen 4 a `sub` of 32 bits took up to 26 cycles more in such a mix, by a displacement that is the same
 * modulo 1 KiB, and one of 16 bits none.) */
static int32_t window_of(const struct gen_part *parts, unsigned count, unsigned of) {
    bool loads_too = false, stores_too = false;
    for (unsigned i = 0; i < count; i++) {
        int o = i != of && parts[i].form != NULL ? isa_form_memory_operand(parts[i].form) : -1;
        bool reads = o >= 0 && parts[i].form->operands[o].read;
        bool writes = o >= 0 && parts[i].form->operands[o].write;
        loads_too = loads_too || (reads && !writes);
        stores_too = stores_too || (writes && (!reads || i < of));
    }
    int own = parts[of].form != NULL ? isa_form_memory_operand(parts[of].form) : -1;
    if (own >= 0 && !parts[of].form->operands[own].write) {
        return 0; /* who only loads is in nobody's way */
    }
    bool modifies = parts[of].form != NULL && gen_form_modifies_memory(parts[of].form);
    return (int32_t)of * 2 * WINDOW_BYTES + (modifies && stores_too && !loads_too ? STORE_BYTES : 0);
}

static const char *filler_of(const struct gen_part *part) {
    return part->filler != NULL ? part->filler : GEN_FILLER_NOP;
}

static const char *filler_in(const struct gen_part *parts, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        if (parts[i].form == NULL) {
            return filler_of(&parts[i]);
        }
    }
    return GEN_FILLER_NOP;
}

enum ip_status gen_mix_program(struct gen_program *program, const struct gen_part *parts, unsigned count,
                               struct ip_error *err) {
    enum ip_status status = parts_check(parts, count, err);
    if (status != IP_OK) {
        return status;
    }
    const struct isa_form *forms[GEN_PARTS_MAX];
    unsigned form_count = 0;
    for (unsigned i = 0; i < count; i++) {
        if (parts[i].form != NULL) {
            forms[form_count++] = parts[i].form;
        }
    }
    struct gen_pool pool;
    status = gen_pool_init(&pool, forms, form_count, err);
    if (status == IP_OK) {
        status = forms_check(forms, form_count, err);
    }
    if (status != IP_OK) {
        return status;
    }
    const struct gen_pool with_rex = gen_pool_with_rex(&pool);
    struct stream streams[GEN_PARTS_MAX];
    memset(streams, 0, sizeof streams);
    for (unsigned i = 0; i < count; i++) {
        bool rex = parts[i].form != NULL && pool.high_bytes && !gen_form_has_high_byte(parts[i].form);
        streams[i] = (struct stream){.form = parts[i].form,
                                     .pool = rex ? &with_rex : &pool,
                                     .how = parts[i].how,
                                     .weight = parts[i].weight,
                                     .window_disp = window_of(parts, count, i)};
    }
    status = streams_deal(streams, count, err);
    if (status != IP_OK) {
        return status;
    }
    struct gen_program made;
    program_prepare(&made, &pool, forms, form_count);
    if (pool.division && pool.high_bytes) {
        gen_init_lines(&made, &with_rex, forms, form_count); /* its divisor */
    }
    made.forms_per_unit = 1;
    size_t used = 0;
    for (unsigned i = 0; i < count && used < sizeof made.title; i++) {
        used += (size_t)snprintf(made.title + used, sizeof made.title - used, "%s%u x %s",
                                 i > 0 ? " beside " : "", parts[i].count,
                                 parts[i].form != NULL ? parts[i].form->syntax : filler_of(&parts[i]));
        made.fills_issue = made.fills_issue || parts[i].form == NULL;
    }
    for (unsigned i = 0; i < count && status == IP_OK; i++) {
        bool prepared = parts[i].form != NULL && parts[i].not_taken;
        status = prepared ? gen_branch_prepare(&made, parts[i].form, false, err) : IP_OK;
        if (status == IP_OK && prepared && made.unit.count > 0) {
            ip_lines_add(&made.unit, filler_in(parts, count)); /* or it fuses with the first branch */
        }
    }
    int next = 0;
    while (status == IP_OK && (next = part_next(streams, parts, count)) >= 0) {
        if (parts[next].form == NULL) {
            ip_lines_add(&made.unit, filler_of(&parts[next]));
            streams[next].emitted++;
        } else {
            status = instance_emit(&made, &streams[next], err);
        }
    }
    return program_finish(program, &made, status, err);
}

enum ip_status gen_pair_program(struct gen_program *program, const struct isa_form *form_a, unsigned count_a,
                                const struct isa_form *form_b, unsigned count_b, struct ip_error *err) {
    const struct gen_part parts[2] = {{.form = form_a, .count = count_a}, {.form = form_b, .count = count_b}};
    return gen_mix_program(program, parts, 2, err);
}
