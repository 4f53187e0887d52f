/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/portmap_candidates.h"

#include <stdlib.h>
#include <string.h>

#include "isa/decode.h"

/* The world of a form by its operands, 0 when it is no candidate: only plain registers of one world, and
 * immediates. */
static unsigned world_of(const struct isa_form *form) {
    unsigned world = PROBE_PORTS_SCALAR;
    if (form->prefix[0] != '\0' || form->decorator[0] != '\0' || form->explicit_count == 0) {
        return 0;
    }
    bool legacy_vector = false;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        if (operand->kind == ISA_OPERAND_IMM && !operand->imm_fixed) {
            continue;
        }
        if (operand->kind != ISA_OPERAND_REG || operand->reg >= 0 || (operand->mask && i > 0)) {
            return 0;
        }
        switch (operand->reg_class) {
        case ISA_REG_GPR32:
        case ISA_REG_GPR64:
        case ISA_REG_MASK:
            break;
        case ISA_REG_XMM:
        case ISA_REG_YMM:
            world = world == PROBE_PORTS_WIDE ? PROBE_PORTS_WIDE : PROBE_PORTS_VECTOR;
            legacy_vector = legacy_vector || form->mnemonic[0] != 'v';
            break;
        case ISA_REG_ZMM:
            world = PROBE_PORTS_WIDE;
            break;
        default:
            return 0;
        }
    }
    return legacy_vector ? 0 : world;
}

/* "mov r64, m64" and its like: exactly a register and a memory operand of the same kind as the register. */
static bool transfer_is(const struct isa_form *form, bool load) {
    static const char *const loads[] = {"mov r64, m64", "vmovups ymm, m256", "vmovups zmm, m512"};
    static const char *const stores[] = {"mov m64, r64", "vmovups m256, ymm", "vmovups m512, zmm"};
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(form->syntax, load ? loads[i] : stores[i]) == 0) {
            return true;
        }
    }
    return false;
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
    unsigned blemishes = 0;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        if (operand->kind == ISA_OPERAND_FLAGS) {
            blemishes += (operand->read ? 16u : 0u) + (operand->write ? 2u : 0u);
        } else if (operand->kind == ISA_OPERAND_REG) {
            blemishes += operand->read && operand->write ? 4u : 0u;
            blemishes += operand->implicit ? 32u : 0u;
            blemishes += operand->reg_class == ISA_REG_MASK ? 1u : 0u;
        }
    }
    return blemishes;
}

static bool candidate_better(const struct isa_form *form, const struct isa_form *than) {
    unsigned bits = operand_bits(form), other = operand_bits(than);
    return bits > other || (bits == other && form->explicit_count < than->explicit_count);
}

static enum ip_status candidates_collect(const struct isa_table *table, struct probe_portmap *map,
                                         struct ip_error *err) {
    map->members = calloc(table->count != 0 ? table->count : 1, sizeof *map->members);
    if (map->members == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for the candidates of the port map");
    }
    for (size_t i = 0; i < table->count; i++) {
        struct isa_form *form = &table->forms[i];
        bool load = transfer_is(form, true), store = transfer_is(form, false);
        struct probe_port_member member = {.form = form, .class = -1, .load = load, .store = store};
        if (load || store) {
            unsigned bits = operand_bits(form);
            member.world = bits == 512   ? PROBE_PORTS_WIDE
                           : bits == 256 ? PROBE_PORTS_VECTOR
                                         : PROBE_PORTS_SCALAR;
        } else {
            member.world = world_of(form);
        }
        if (member.world == 0) {
            continue;
        }
        /* One form for each mnemonic and world: the widest, with the fewest operands. The table is sorted by
         * mnemonic. */
        struct probe_port_member *same = NULL;
        for (size_t back = map->member_count; back > 0 && !load && !store; back--) {
            struct probe_port_member *other = &map->members[back - 1];
            if (strcmp(other->form->mnemonic, form->mnemonic) == 0 && other->world == member.world &&
                !other->load && !other->store) {
                same = other;
                break;
            }
        }
        if (same == NULL) {
            map->members[map->member_count++] = member;
        } else if (candidate_better(form, same->form)) {
            *same = member;
        }
    }
    return IP_OK;
}

/* Neither reads what it writes (its latency would bind before its ports) nor has implicit registers or
 * memory. */
static bool independent(const struct isa_form *form) {
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        bool flags = operand->kind == ISA_OPERAND_FLAGS;
        if (!flags &&
            (operand->implicit || (operand->kind == ISA_OPERAND_REG && operand->read && operand->write))) {
            return false;
        }
    }
    return true;
}

enum ip_status probe_port_candidates(const struct isa_table *table, struct probe_portmap *map,
                                     struct ip_error *err) {
    enum ip_status status = candidates_collect(table, map, err);
    struct isa_form **forms = calloc(map->member_count + 1, sizeof *forms);
    if (status == IP_OK && forms == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "no memory for the candidates of the port map");
    }
    for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
        forms[i] = map->members[i].form;
    }
    if (status == IP_OK) {
        status = isa_forms_derive(forms, map->member_count, err);
    }
    free(forms);
    size_t left = 0;
    for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
        const struct isa_form *form = map->members[i].form;
        /* A form that reads flags waits for whatever its neighbours do to them. */
        int flags = isa_form_flags_operand(form);
        bool reads_flags = flags >= 0 && form->operands[flags].read;
        if (form->obstacle == ISA_OBSTACLE_NONE && !reads_flags && independent(form)) {
            map->members[left++] = map->members[i];
        }
    }
    map->member_count = left;
    return status;
}
