/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/portmap_candidates.h"

#include <stdlib.h>
#include <string.h>

#include "generator/control.h"
#include "isa/decode.h"

enum {
    FAMILY_LETTERS =
        5, /* mnemonics that begin with the same letters are one family ("vpaddb", "vpaddq") ... */
    FAMILY_MEMBERS = 3, /* ... of which so many are tried in each world */
};

/* A short jump, none of JNB, JNE ...: those go on by other flags than most. Which of them ask the flags at
 * all is known when they are derived. */
static bool is_jump(const struct isa_form *form) {
    return form->mnemonic[0] == 'j' && form->mnemonic[1] != 'n' && form->explicit_count == 1 &&
           form->operands[0].kind == ISA_OPERAND_REL && form->operands[0].bits == 8;
}

/* Is it of legacy SSE, if it is of vectors? (Not derived yet, it does not know its encoding.) */
static bool is_legacy(const struct isa_form *form) {
    return form->mnemonic[0] != 'v';
}

/* The world of a form by its operands, 0 when it is no candidate: only plain registers of one world,
 * immediates, and addresses that are only computed. Vectors are encoded as VEX or EVEX, or all legacy SSE. */
static unsigned world_of(const struct isa_form *form, bool legacy) {
    unsigned world = PROBE_PORTS_SCALAR;
    if (form->prefix[0] != '\0' || form->decorator[0] != '\0' || form->explicit_count == 0) {
        return 0;
    }
    if (is_jump(form)) {
        return world;
    }
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        if ((operand->kind == ISA_OPERAND_IMM && !operand->imm_fixed) ||
            (operand->kind == ISA_OPERAND_AGEN && i > 0)) {
            continue;
        }
        if (operand->kind != ISA_OPERAND_REG || operand->reg >= 0 || (operand->mask && i > 0)) {
            return 0;
        }
        switch (operand->reg_class) {
        case ISA_REG_GPR32:
        case ISA_REG_GPR64:
        case ISA_REG_MASK:
        case ISA_REG_MMX:
            break;
        case ISA_REG_XMM:
        case ISA_REG_YMM:
            world = world == PROBE_PORTS_WIDE ? PROBE_PORTS_WIDE : PROBE_PORTS_VECTOR;
            break;
        case ISA_REG_ZMM:
            world = PROBE_PORTS_WIDE;
            break;
        default:
            return 0;
        }
    }
    return world != PROBE_PORTS_SCALAR && is_legacy(form) != legacy ? 0 : world;
}

/* A plain load or store. */
struct transfer {
    const char *syntax;
    unsigned world;
    bool legacy, load;
    bool narrow; /* of 128 bits where wider ones are tried: behind those */
};

/* That of the syntax, if it goes with such vectors; NULL: there is none. (Cores without AVX may take longer
 * for MOVUPS than for MOVAPS.) */
static const struct transfer *transfer_find(const struct isa_form *form, bool legacy) {
    static const struct transfer transfers[] = {
        {"mov r64, m64", PROBE_PORTS_SCALAR, false, true, false},
        {"mov m64, r64", PROBE_PORTS_SCALAR, false, false, false},
        {"vmovups ymm, m256", PROBE_PORTS_VECTOR, false, true, false},
        {"vmovups m256, ymm", PROBE_PORTS_VECTOR, false, false, false},
        {"vmovups xmm, m128", PROBE_PORTS_VECTOR, false, true, true},
        {"vmovups m128, xmm", PROBE_PORTS_VECTOR, false, false, true},
        {"vmovups zmm, m512", PROBE_PORTS_WIDE, false, true, false},
        {"vmovups m512, zmm", PROBE_PORTS_WIDE, false, false, false},
        {"movaps xmm, m128", PROBE_PORTS_VECTOR, true, true, false},
        {"movaps m128, xmm", PROBE_PORTS_VECTOR, true, false, false},
    };
    for (size_t i = 0; i < sizeof transfers / sizeof transfers[0]; i++) {
        bool fits = transfers[i].world == PROBE_PORTS_SCALAR || transfers[i].legacy == legacy;
        if (fits && strcmp(form->syntax, transfers[i].syntax) == 0) {
            return &transfers[i];
        }
    }
    return NULL;
}

static unsigned operand_bits(const struct isa_form *form) {
    unsigned bits = 0;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        if (form->operands[i].kind == ISA_OPERAND_REG && form->operands[i].bits > bits) {
            bits = form->operands[i].bits;
        }
    }
    return bits;
}

unsigned probe_port_blemishes(const struct isa_form *form) {
    unsigned blemishes = is_jump(form) ? 64u : 0u; /* beside one nothing that writes flags may stand */
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        if (operand->kind == ISA_OPERAND_FLAGS) {
            blemishes += (operand->read ? 16u : 0u) + (operand->write ? 2u : 0u);
        } else if (operand->kind == ISA_OPERAND_REG) {
            blemishes += operand->read && operand->write ? 4u : 0u;
            blemishes += operand->implicit ? 32u : 0u;
            blemishes += operand->reg_class == ISA_REG_MASK ? 1u : 0u;
            blemishes += operand->reg_class == ISA_REG_MMX ? 8u : 0u;
        }
    }
    return blemishes;
}

bool probe_port_waits(const struct isa_form *form) {
    bool waits = false;
    for (unsigned i = 0; i < form->explicit_count && is_legacy(form); i++) {
        const struct isa_operand *operand = &form->operands[i];
        waits = waits || (operand->reg_class == ISA_REG_XMM && operand->read && operand->write);
    }
    return waits;
}

/* Can instances run beside each other at the speed of their ports? Not when the form reads what it writes
 * (its latency would bind first), or has implicit registers or memory. A conditional move reads the flags,
 * which its neighbours write, and its destination: it waits, but nothing waits for it for longer than a
 * cycle. Most of legacy SSE has a destination that it reads, which is renewed (probe_port_part). */
static bool independent(const struct isa_form *form) {
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        bool flags = operand->kind == ISA_OPERAND_FLAGS;
        bool moves = form->flags_read != 0 && form->flags_written == 0 && operand->cond_write;
        if ((flags && operand->read && operand->write) || (!flags && operand->implicit) ||
            (operand->kind == ISA_OPERAND_REG && operand->read && operand->write && !moves &&
             !probe_port_waits(form))) {
            return false;
        }
    }
    return true;
}

/* What writes nothing may be gone before it gets to a port, and come as fast as it is fetched. */
static bool writes(const struct isa_form *form) {
    bool any = false;
    for (unsigned i = 0; i < form->operand_count; i++) {
        any = any || form->operands[i].write;
    }
    return any;
}

static bool usable(const struct isa_form *form) {
    return form->obstacle == ISA_OBSTACLE_NONE && independent(form) &&
           (writes(form) || gen_form_jumps_on_flags(form));
}

static unsigned register_classes(const struct isa_form *form) {
    uint32_t classes = 0;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        bool is_register = form->operands[i].kind == ISA_OPERAND_REG;
        classes |= is_register ? UINT32_C(1) << form->operands[i].reg_class : 0;
    }
    return (unsigned)__builtin_popcount(classes);
}

/* Among the forms of one mnemonic: the widest, with the fewest operands, within one file of registers
 * ("movq mm, mm" before "movq mm, r64"). */
static bool form_better(const struct isa_form *form, const struct isa_form *than) {
    unsigned bits = operand_bits(form), other = operand_bits(than);
    if (bits != other || form->explicit_count != than->explicit_count) {
        return bits > other || (bits == other && form->explicit_count < than->explicit_count);
    }
    return register_classes(form) < register_classes(than);
}

static bool has_address(const struct isa_form *form) {
    for (unsigned i = 0; i < form->explicit_count; i++) {
        if (form->operands[i].kind == ISA_OPERAND_AGEN) {
            return true;
        }
    }
    return false;
}

static struct probe_port_member *same_mnemonic(const struct probe_portmap *map, const char *mnemonic,
                                               unsigned world) {
    for (size_t i = map->member_count; i > 0; i--) {
        struct probe_port_member *member = &map->members[i - 1];
        if (member->world == world && !member->load && !member->store &&
            strcmp(member->form->mnemonic, mnemonic) == 0) {
            return member;
        }
    }
    return NULL;
}

static unsigned family_size(const struct probe_portmap *map, const char *mnemonic, unsigned world) {
    unsigned size = 0;
    for (size_t i = 0; i < map->member_count; i++) {
        const struct probe_port_member *member = &map->members[i];
        size += member->world == world && !member->load && !member->store &&
                strncmp(member->form->mnemonic, mnemonic, FAMILY_LETTERS) == 0;
    }
    return size;
}

static void transfer_add(struct probe_portmap *map, struct isa_form *form, const struct transfer *transfer) {
    map->members[map->member_count++] = (struct probe_port_member){.form = form,
                                                                   .class = -1,
                                                                   .world = transfer->world,
                                                                   .load = transfer->load,
                                                                   .store = !transfer->load};
}

static void candidate_add(struct probe_portmap *map, struct isa_form *form, bool legacy) {
    const struct transfer *transfer = transfer_find(form, legacy);
    struct probe_port_member member = {.form = form, .class = -1, .world = world_of(form, legacy)};
    if (transfer != NULL) {
        if (!transfer->narrow) {
            transfer_add(map, form, transfer);
        }
        return;
    }
    struct probe_port_member *same = same_mnemonic(map, form->mnemonic, member.world);
    if (same != NULL && form_better(form, same->form)) {
        same->form = form;
    } else if (same == NULL && family_size(map, form->mnemonic, member.world) < FAMILY_MEMBERS) {
        map->members[map->member_count++] = member;
    }
}

/* The 128-bit form of each mnemonic of which a 256-bit one is tried: where wide vectors take two µops they
 * are no candidates, and beside legacy SSE only xmm may stand. So of loads and stores. They come behind the
 * wide ones. */
static void narrow_add(struct probe_portmap *map, struct isa_form *const *forms, size_t count) {
    size_t wide = map->member_count;
    for (size_t i = 0; i < count; i++) {
        struct isa_form *form = forms[i];
        const struct transfer *transfer = transfer_find(form, false);
        if (transfer != NULL && transfer->narrow) {
            transfer_add(map, form, transfer);
        }
        if (!usable(form) || world_of(form, false) != PROBE_PORTS_VECTOR || form->evex ||
            operand_bits(form) != 128) {
            continue;
        }
        const struct probe_port_member *last = same_mnemonic(map, form->mnemonic, PROBE_PORTS_VECTOR);
        if (last != NULL && last < map->members + wide && operand_bits(last->form) == 256) {
            map->members[map->member_count++] =
                (struct probe_port_member){.form = form, .class = -1, .world = PROBE_PORTS_VECTOR};
        }
    }
}

/* An address may take another unit with a scaled index than without. */
static void scaled_add(struct probe_portmap *map) {
    size_t count = map->member_count;
    for (size_t i = 0; i < count; i++) {
        if (has_address(map->members[i].form)) {
            map->members[map->member_count] = map->members[i];
            map->members[map->member_count++].scaled = true;
        }
    }
}

enum ip_status probe_port_candidates(const struct isa_table *table, bool legacy, struct probe_portmap *map,
                                     struct ip_error *err) {
    struct isa_form **forms = calloc(table->count + 1, sizeof(struct isa_form *));
    map->members = calloc(3 * table->count + 1, sizeof *map->members);
    if (forms == NULL || map->members == NULL) {
        free(forms);
        return ip_fail(err, IP_NO_MEMORY, "no memory for the candidates of the port map");
    }
    map->member_count = 0;
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        struct isa_form *form = &table->forms[i];
        if (world_of(form, legacy) != 0 || transfer_find(form, legacy) != NULL) {
            forms[count++] = form;
        }
    }
    enum ip_status status = isa_forms_derive(forms, count, err);
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (usable(forms[i])) {
            candidate_add(map, forms[i], legacy);
        }
    }
    if (status == IP_OK && !legacy) {
        narrow_add(map, forms, count);
    }
    scaled_add(map);
    free(forms);
    return status;
}
