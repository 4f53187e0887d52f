/* SPDX-License-Identifier: Apache-2.0 */
#include "generator/chain.h"

#include <string.h>

#include "generator/operands.h"

/* Instances between stores to the same address: store forwarding (5 cycles or so) must not bind. */
enum { MEMORY_ROUNDS = 16 };

/* `mov r64, m64` through its address: the loaded value is itself the next address. */
static bool is_pointer_chase(const struct gen_link *links, unsigned count) {
    const struct isa_form *form = links[0].form;
    const struct isa_operand *dst = &form->operands[links[0].dst];
    return count == 1 && links[0].src_address && strcmp(form->mnemonic, "mov") == 0 &&
           gen_operand_is_free(dst) && (dst->reg_class == ISA_REG_GPR64 || dst->reg_class == ISA_REG_GPR32);
}

/* Is this operand a pointer that a string form names itself, and mostly moves on? */
static bool is_pointer(const struct isa_form *form, int number) {
    const struct isa_operand *operand = &form->operands[number];
    return gen_operand_is_fixed(operand) && isa_reg_is_gpr(operand->reg_class) && operand->reg >= 0 &&
           gen_fixed_is_pointer(form, (unsigned)operand->reg);
}

/* The register by which such a pointer is the link's source; -1: it is not. */
static int pointer_of(const struct gen_link *link) {
    if (is_pointer(link->form, link->src)) {
        return link->form->operands[link->src].reg;
    }
    return link->src_address ? gen_string_pointer(link->form, (unsigned)link->src) : -1;
}

static bool link_keeps(const struct gen_link *links, unsigned count, unsigned l) {
    const struct isa_form *form = links[l].form;
    const struct isa_operand *src = &form->operands[links[l].src];
    if (src->kind == ISA_OPERAND_MEM && links[l].src_address) {
        return !is_pointer_chase(links, count);
    }
    if (pointer_of(&links[l]) >= 0) {
        return true;
    }
    bool demands = gen_form_divides(form) || gen_form_takes_selector(form);
    return demands && gen_operand_is_free(src) && links[l].src != links[l].dst;
}

unsigned gen_latency_keeper_cycles(const struct gen_link *links, unsigned count) {
    unsigned cycles = 0;
    for (unsigned l = 0; l < count; l++) {
        unsigned keeper = pointer_of(&links[l]) >= 0 ? 3 : 2;
        cycles += link_keeps(links, count, l) ? keeper : 0;
    }
    return cycles;
}

static enum ip_status end_of(struct gen_end *end, const struct isa_form *form, int number, bool is_source,
                             const struct gen_link *link, struct ip_error *err) {
    char name[16];
    const struct isa_operand *operand = &form->operands[number];
    *end = (struct gen_end){GEN_PLACE_REGISTER, GEN_FILES, ISA_REG_NONE, -1};
    if (is_source && (link->src_address || operand->kind == ISA_OPERAND_AGEN)) {
        if ((operand->kind != ISA_OPERAND_MEM && operand->kind != ISA_OPERAND_AGEN) ||
            (operand->implicit && pointer_of(link) < 0) || operand->absolute) {
            return ip_fail(err, IP_UNSUPPORTED, "operand %s of '%s' has no address register to chain through",
                           isa_operand_name(form, (unsigned)number, name), form->syntax);
        }
        end->file = GEN_FILE_GPR;
        end->reg_class = ISA_REG_GPR64;
        return IP_OK;
    }
    if (is_source && link->src_index) {
        if (!gen_form_is_gather(form)) {
            return ip_fail(err, IP_UNSUPPORTED, "'%s' has no index vector to chain through", form->syntax);
        }
        end->file = GEN_FILE_VECTOR;
        end->reg_class = operand->reg_class;
        return IP_OK;
    }
    /* What is not written is kept, so read: the rest of a register of which 8 or 16 bits are written. */
    bool kept = operand->kind == ISA_OPERAND_REG && isa_reg_is_gpr(operand->reg_class) && operand->write &&
                operand->bits < 32;
    if (is_source ? !operand->read && !kept : !operand->write) {
        return ip_fail(err, IP_UNSUPPORTED, "'%s' does not %s operand %s", form->syntax,
                       is_source ? "read" : "write", isa_operand_name(form, (unsigned)number, name));
    }
    switch (operand->kind) {
    case ISA_OPERAND_FLAGS:
        end->place = GEN_PLACE_FLAGS;
        return IP_OK;
    case ISA_OPERAND_MEM:
        if (!operand->implicit && operand->reg_class == ISA_REG_NONE) {
            end->place = GEN_PLACE_MEMORY;
            return IP_OK;
        }
        break;
    case ISA_OPERAND_REG:
        end->file = gen_file_of(operand->reg_class);
        end->reg_class = operand->reg_class;
        end->number = operand->reg;
        if (end->file != GEN_FILES && !(end->file == GEN_FILE_GPR && operand->reg == 4)) {
            return IP_OK;
        }
        break;
    default:
        break;
    }
    return ip_fail(err, IP_UNSUPPORTED, "no chain passes through operand %s of '%s'",
                   isa_operand_name(form, (unsigned)number, name), form->syntax);
}

/* What moves the x87 stack gets it back where it was, so that the value's place keeps its number. */
static enum ip_status x87_plan(struct gen_link_plan *plan, struct ip_error *err) {
    const struct isa_form *form = plan->form;
    int pushes = form->x87_pushes;
    bool from_top = plan->in.file == GEN_FILE_X87 && plan->in.number == 0;
    bool to_x87 = plan->out.place == GEN_PLACE_REGISTER && plan->out.file == GEN_FILE_X87;
    if (pushes > 0) {
        if (to_x87 && plan->out.number == pushes) {
            plan->x87 = GEN_X87_POPS; /* ST1 of FSINCOS is ST0 once the rest is popped */
            plan->out.number = 0;
        } else {
            plan->x87 = GEN_X87_FREES;
        }
    } else if (pushes < 0) {
        plan->x87 = plan->in_place ? GEN_X87_LOADS_BEFORE : GEN_X87_LOADS_AFTER;
        /* Else the numbers of the value before and after would differ. */
        if (!plan->in_place && (to_x87 || (plan->in.file == GEN_FILE_X87 && !from_top))) {
            return ip_fail(err, IP_UNSUPPORTED,
                           "'%s' pops the x87 stack below the value, so that a chain of it would leave the "
                           "stack",
                           form->syntax);
        }
    }
    return IP_OK;
}

/* XGETBV faults unless rcx is 0: what a chain leaves there would not be. (A dividend may be anything.) */
static bool demands_value(const struct isa_form *form, int src) {
    const struct gen_pool any = {0};
    const struct isa_operand *operand = &form->operands[src];
    bool fixed = gen_operand_is_fixed(operand) && isa_reg_is_gpr(operand->reg_class) && operand->reg >= 0;
    unsigned gpr = fixed ? (unsigned)operand->reg : 0;
    return fixed && !gen_form_divides(form) &&
           gen_fixed_value(&any, form, gpr, 1) == gen_fixed_value(&any, form, gpr, 2);
}

static enum ip_status link_plan(struct gen_link_plan *plan, const struct gen_link *links, unsigned count,
                                unsigned l, struct ip_error *err) {
    const struct gen_link *link = &links[l];
    const struct isa_form *form = link->form;
    *plan = (struct gen_link_plan){.form = form, .src = link->src, .dst = link->dst, .fixed_number = -1};
    enum ip_status status = IP_OK;
    for (unsigned end = 0; end < 2; end++) {
        int number = end == 0 ? link->src : link->dst;
        if (number < 0 || number >= form->operand_count) {
            return ip_fail(err, IP_USAGE, "'%s' has no operand number %d", form->syntax, number);
        }
    }
    /* Other pointers than the chain's are renewed before each instance. */
    bool repeats = gen_form_is_string(form) && form->prefix[0] == 'r';
    if (gen_form_is_stack(form) || repeats) {
        status = ip_fail(err, IP_UNSUPPORTED,
                         "'%s' moves an implicit pointer, so that a chain of it would leave the data pages",
                         form->syntax);
    } else if (gen_pointer_moves_alone(form, (unsigned)link->src, (unsigned)link->dst)) {
        status = ip_fail(err, IP_UNSUPPORTED, "'%s' moves its pointer whatever the other operands are",
                         form->syntax);
    }
    plan->pointer = pointer_of(link);
    if (status == IP_OK && plan->pointer < 0 && demands_value(form, link->src)) {
        status = ip_fail(
            err, IP_UNSUPPORTED,
            "'%s' faults, or does something else, unless its source holds one certain value, which a chain "
            "does not keep",
            form->syntax);
    }
    if (status == IP_OK) {
        status = end_of(&plan->in, form, link->src, true, link, err);
    }
    if (status == IP_OK) {
        status = end_of(&plan->out, form, link->dst, false, link, err);
    }
    if (status != IP_OK) {
        return status;
    }
    bool consumed = gen_operand_is_consumed(form, (unsigned)link->src);
    if (gen_operand_is_consumed(form, (unsigned)link->dst) || (consumed && count == 1)) {
        return ip_fail(err, IP_UNSUPPORTED,
                       "the mask of '%s' is consumed: it is zero afterwards and cannot go on in a chain",
                       form->syntax);
    }
    plan->address = link->src_address || form->operands[link->src].kind == ISA_OPERAND_AGEN;
    plan->index = link->src_index;
    plan->late_load = link->late_load;
    plan->same =
        link->same_register && plan->in.place == GEN_PLACE_REGISTER && !plan->address && !plan->index;
    /* With one register for all sources, a destination that is read is that register, too. */
    const struct isa_operand *dst = &form->operands[link->dst];
    bool merged = plan->same && plan->in.file == plan->out.file && dst->read && gen_operand_is_free(dst) &&
                  gen_operand_is_free(&form->operands[link->src]);
    plan->in_place = merged || (link->src == link->dst && !plan->address && !plan->index);
    plan->keeps = link_keeps(links, count, l);
    return x87_plan(plan, err);
}

/* The register that must hold the value after link l, because the link itself or the next reader names it. */
static enum ip_status boundary_fix(struct gen_chain *chain, unsigned l, struct ip_error *err) {
    struct gen_link_plan *links = chain->links;
    int number = links[l].out.number;
    for (unsigned step = 1; step <= chain->count; step++) {
        const struct gen_link_plan *reader = &links[(l + step) % chain->count];
        if (reader->keeps) {
            break;
        }
        if (reader->in.number >= 0 && links[l].out.place == GEN_PLACE_REGISTER) {
            if (number >= 0 && number != reader->in.number) {
                return ip_fail(
                    err, IP_UNSUPPORTED,
                    "'%s' leaves its result in %s, but '%s' takes it from %s: a transfer is needed",
                    links[l].form->syntax, isa_reg_name(links[l].out.reg_class, (unsigned)number),
                    reader->form->syntax, isa_reg_name(reader->in.reg_class, (unsigned)reader->in.number));
            }
            number = reader->in.number;
        }
        if (!reader->in_place) {
            break;
        }
    }
    links[l].fixed_number = number;
    return IP_OK;
}

/* A destination that is also read must not be the register that the source is: "shl rcx, cl" would carry the
 * value through both. */
static enum ip_status merge_check(const struct gen_chain *chain, unsigned l, struct ip_error *err) {
    const struct gen_link_plan *plan = &chain->links[l];
    const struct gen_link_plan *before = &chain->links[(l + chain->count - 1) % chain->count];
    bool registers = plan->in.place == GEN_PLACE_REGISTER && plan->out.place == GEN_PLACE_REGISTER;
    if (registers && !plan->in_place && !plan->keeps && plan->in.file == plan->out.file &&
        plan->form->operands[plan->dst].read && plan->fixed_number >= 0 &&
        plan->fixed_number == before->fixed_number) {
        char src[16], dst[16];
        return ip_fail(
            err, IP_UNSUPPORTED,
            "operands %s and %s of '%s' would carry the chain together: a transfer is needed between",
            isa_operand_name(plan->form, (unsigned)plan->src, src),
            isa_operand_name(plan->form, (unsigned)plan->dst, dst), plan->form->syntax);
    }
    return IP_OK;
}

/* The value must be where the next link looks for it. */
static enum ip_status boundary_check(const struct gen_chain *chain, unsigned l, struct ip_error *err) {
    const struct gen_link_plan *writer = &chain->links[l], *reader = &chain->links[(l + 1) % chain->count];
    const struct gen_end *out = &writer->out, *in = &reader->in;
    bool fits = out->place == in->place && out->file == in->file;
    if (reader->keeps) {
        fits = out->place == GEN_PLACE_REGISTER && out->file == GEN_FILE_GPR;
    }
    /* ah and al are parts of the same register that do not depend on each other. */
    bool halves = out->place == GEN_PLACE_REGISTER && out->file == GEN_FILE_GPR &&
                  ((out->reg_class == ISA_REG_GPR8H && in->reg_class == ISA_REG_GPR8) ||
                   (out->reg_class == ISA_REG_GPR8 && in->reg_class == ISA_REG_GPR8H));
    if (!fits || halves) {
        return ip_fail(
            err, IP_UNSUPPORTED,
            "the result of '%s' is not what '%s' reads: a transfer between the two kinds is needed",
            writer->form->syntax, reader->form->syntax);
    }
    return IP_OK;
}

static bool operand_is_chain(const struct gen_link_plan *plan, unsigned o) {
    return (int)o == plan->src || (int)o == plan->dst;
}

/* Numbers the slices of the operands that are written beside the chain. */
static void scratch_plan(struct gen_chain *chain, unsigned slices[GEN_FILES], bool *memory_rotates) {
    for (unsigned l = 0; l < chain->count; l++) {
        struct gen_link_plan *plan = &chain->links[l];
        for (unsigned o = 0; o < plan->form->operand_count; o++) {
            const struct isa_operand *operand = &plan->form->operands[o];
            const bool chain_place =
                (int)o == plan->dst || ((int)o == plan->src && plan->in.place == GEN_PLACE_MEMORY);
            if (operand->kind == ISA_OPERAND_MEM && operand->write && !chain_place) {
                *memory_rotates = true;
            }
            bool paired = o == 0 && plan->form->operands[plan->dst].beside; /* with the chain's */
            if (!operand_is_chain(plan, o) && gen_operand_is_free(operand) && operand->write && !paired) {
                enum gen_file file = gen_file_of(operand->reg_class);
                plan->scratch[o] = (uint8_t)++slices[file]; /* slice number + 1 */
            }
        }
    }
}

static enum ip_status rotation_plan(struct gen_chain *chain, unsigned registers, struct ip_error *err) {
    unsigned slices[GEN_FILES] = {0};
    bool moves = false, memory_rotates = false;
    for (unsigned l = 0; l < chain->count; l++) {
        const struct gen_link_plan *plan = &chain->links[l];
        if (plan->out.place == GEN_PLACE_REGISTER && plan->fixed_number < 0) {
            chain->chain_in[plan->out.file] = true;
            moves = moves || !plan->in_place;
        }
        if (plan->out.place == GEN_PLACE_MEMORY) {
            chain->memory = true;
            chain->memory_rotates =
                chain->memory_rotates || (!plan->in_place && plan->form->operands[plan->dst].read);
        }
    }
    for (unsigned f = 0; f < GEN_FILES; f++) {
        slices[f] = chain->chain_in[f] ? 1 : 0;
    }
    unsigned before = 0, after = 0;
    for (unsigned f = 0; f < GEN_FILES; f++) {
        before += slices[f];
    }
    scratch_plan(chain, slices, &memory_rotates);
    unsigned rotation = registers == 0                 ? GEN_ROTATION_USUAL
                        : registers < GEN_ROTATION_MAX ? registers
                                                       : GEN_ROTATION_MAX;
    for (unsigned f = 0; f < GEN_FILES; f++) {
        after += slices[f];
        if (slices[f] > 0 && chain->pool.rotating_count[f] / slices[f] < rotation) {
            rotation = chain->pool.rotating_count[f] / slices[f];
        }
    }
    if (rotation == 0) {
        return ip_fail(err, IP_UNSUPPORTED, "the chain of '%s' needs more registers than there are",
                       chain->links[0].form->syntax);
    }
    chain->rotation = rotation;
    chain->rounds = moves || chain->memory_rotates || after > before ? rotation : 1;
    if (memory_rotates) {
        chain->rounds *= (MEMORY_ROUNDS + chain->rounds - 1) / chain->rounds;
    }
    return IP_OK;
}

enum ip_status gen_chain_plan(struct gen_chain *chain, const struct gen_link *links, unsigned count,
                              unsigned registers, struct ip_error *err) {
    if (count == 0 || count > GEN_LINKS_MAX) {
        return ip_fail(err, IP_USAGE, "a chain has 1 to %d links, not %u", GEN_LINKS_MAX, count);
    }
    struct gen_chain made = {.count = count};
    const struct isa_form *forms[GEN_LINKS_MAX];
    unsigned keepers = 0;
    for (unsigned l = 0; l < count; l++) {
        forms[l] = links[l].form;
    }
    enum ip_status status = gen_pool_init(&made.pool, forms, count, err);
    if (status == IP_OK && made.pool.legacy_vectors && made.pool.vex_vectors) {
        /* Harmless beside each other when the upper halves are clean, but a chain would merge and zero them
         * in turn, and that is another latency. */
        status =
            ip_fail(err, IP_UNSUPPORTED,
                    "'%s': legacy SSE and VEX/EVEX instructions do not meet in one chain; choose forms of "
                    "one encoding",
                    forms[0]->syntax);
    }
    for (unsigned l = 0; l < count && status == IP_OK; l++) {
        status = link_plan(&made.links[l], links, count, l, err);
        keepers += made.links[l].keeps ? 1 : 0;
    }
    for (unsigned l = 0; l < count && status == IP_OK; l++) {
        status = boundary_check(&made, l, err);
    }
    for (unsigned l = 0; l < count && status == IP_OK; l++) {
        status = boundary_fix(&made, l, err);
    }
    for (unsigned l = 0; l < count && status == IP_OK; l++) {
        status = merge_check(&made, l, err);
    }
    if (status == IP_OK && keepers > 1) {
        status = ip_fail(err, IP_UNSUPPORTED, "the chain of '%s' has two sources whose values must be kept",
                         forms[0]->syntax);
    }
    made.pointers = is_pointer_chase(links, count);
    if (status == IP_OK) {
        status = rotation_plan(&made, registers, err);
    }
    if (status == IP_OK) {
        *chain = made;
    }
    return status;
}

unsigned gen_chain_slice(const struct gen_chain *chain, enum gen_file file, unsigned slice, unsigned round) {
    return chain->pool.rotating[file][slice * chain->rotation + round % chain->rotation];
}

bool gen_chain_writes_flags(const struct gen_chain *chain) {
    for (unsigned l = 0; l < chain->count; l++) {
        if (chain->links[l].keeps || chain->links[l].form->flags_written != 0) {
            return true;
        }
    }
    return false;
}

bool gen_chain_writes_fixed(const struct gen_chain *chain, enum gen_file file, unsigned number) {
    for (unsigned l = 0; l < chain->count; l++) {
        const struct gen_link_plan *plan = &chain->links[l];
        if (plan->out.place == GEN_PLACE_REGISTER && plan->out.file == file &&
            plan->fixed_number == (int)number) {
            return true;
        }
        for (unsigned o = 0; o < plan->form->operand_count; o++) {
            const struct isa_operand *operand = &plan->form->operands[o];
            if (gen_operand_is_fixed(operand) && operand->write && gen_file_of(operand->reg_class) == file &&
                operand->reg == (int)number) {
                return true;
            }
        }
    }
    return false;
}
