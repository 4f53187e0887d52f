/* SPDX-License-Identifier: Apache-2.0 */
/* probe/portmap_classes.c - one-µop forms with equal port sets: two of the same width whose mix is as fast as
 * each alone. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "probe/portmap_steps.h"

enum { WORLDS = 3 };

static const double SAME_TOLERANCE = 0.2; /* of the union of two equal sets to their width, ports */

static unsigned world_number(unsigned world) {
    return world == PROBE_PORTS_SCALAR ? 0 : world == PROBE_PORTS_VECTOR ? 1 : 2;
}

static bool worlds_meet(const struct probe_portmap *map, unsigned a, unsigned b) {
    return map->meet || a == b || a == PROBE_PORTS_SCALAR || b == PROBE_PORTS_SCALAR;
}

/* A member of the class to be compared with members of `world`; -1: none. */
static int class_founder(const struct probe_portmap *map, const struct probe_port_class *class,
                         unsigned world) {
    int own = class->blocker[world_number(world)];
    if (own >= 0) {
        return own;
    }
    if (world != PROBE_PORTS_SCALAR) {
        return probe_port_class_blocker(map, class, world_number(world));
    }
    return class->blocker[1] >= 0 ? class->blocker[1] : class->blocker[2];
}

static void class_join(struct probe_portmap *map, unsigned number, size_t member) {
    struct probe_port_class *class = &map->classes[number];
    struct probe_port_member *joined = &map->members[member];
    joined->class = (int)number;
    class->members++;
    class->worlds |= joined->world;
    int *blocker = &class->blocker[world_number(joined->world)];
    if (*blocker < 0) { /* members are sorted: the first is the best */
        *blocker = (int)member;
    }
}

static bool same_kind(const struct probe_port_class *class, const struct probe_port_member *member) {
    return class->width == member->width && class->load == member->load && class->store == member->store;
}

static bool member_open(const struct probe_port_member *member) {
    return member->width != 0 && member->class < 0;
}

bool probe_port_uses_mmx(const struct isa_form *form) {
    for (unsigned i = 0; i < form->explicit_count; i++) {
        if (form->operands[i].kind == ISA_OPERAND_REG && form->operands[i].reg_class == ISA_REG_MMX) {
            return true;
        }
    }
    return false;
}

bool probe_port_is_of_masks(const struct isa_form *form) {
    bool masks = form->explicit_count > 0;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        masks = masks && operand->kind == ISA_OPERAND_REG && operand->reg_class == ISA_REG_MASK;
    }
    return masks;
}

/* Founders of low rank come first: those that stand beside all others. Where all vectors meet, MMX is not
 * needed for that, and comes last: a Zen 5 loses half a cycle where MMX and others take turns, so that two
 * classes would look like one. */
static unsigned rank_of(const struct probe_portmap *map, const struct probe_port_member *member) {
    return map->meet && probe_port_uses_mmx(member->form) ? 2 * PROBE_PORTS_WIDE : member->world;
}

/* New classes of this round: for each width (loads and stores apart) the best member that is in none, of the
 * lowest rank that has one. */
static unsigned founders_choose(struct probe_portmap *map, unsigned first) {
    unsigned lowest = UINT_MAX;
    for (size_t i = 0; i < map->member_count; i++) {
        unsigned rank = rank_of(map, &map->members[i]);
        if (member_open(&map->members[i]) && rank < lowest) {
            lowest = rank;
        }
    }
    for (size_t i = 0; i < map->member_count && map->class_count < PROBE_PORTSET_CLASSES; i++) {
        const struct probe_port_member *member = &map->members[i];
        bool taken = !member_open(member) || rank_of(map, member) != lowest;
        for (unsigned c = first; c < map->class_count && !taken; c++) {
            taken = same_kind(&map->classes[c], member);
        }
        if (!taken) {
            map->classes[map->class_count] = (struct probe_port_class){.width = member->width,
                                                                       .blocker = {-1, -1, -1},
                                                                       .load = member->load,
                                                                       .store = member->store};
            class_join(map, map->class_count++, i);
        }
    }
    return map->class_count - first;
}

static unsigned compared_instances(unsigned width) {
    return 4 * width > 8 ? 4 * width : 8;
}

/* Compares every open member with the new class of its kind, if there is one; with[i] is that class. */
static enum ip_status members_compare(const struct probe_mapper *mapper, struct probe_batch *batch,
                                      unsigned first, size_t *slots, unsigned *with, struct ip_error *err) {
    struct probe_portmap *map = mapper->map;
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
        const struct probe_port_member *member = &map->members[i];
        slots[i] = SIZE_MAX;
        for (unsigned c = first; c < map->class_count && member_open(member); c++) {
            int founder = class_founder(map, &map->classes[c], member->world);
            if (same_kind(&map->classes[c], member) && founder >= 0 &&
                worlds_meet(map, map->members[founder].world, member->world)) {
                unsigned instances = compared_instances(member->width);
                const struct gen_part parts[2] = {probe_port_part(&map->members[founder], instances),
                                                  probe_port_part(member, instances)};
                status = probe_mix_add(batch, parts, 2, &slots[i], err);
                with[i] = c;
                break;
            }
        }
    }
    return status == IP_OK ? probe_mixes_measure(mapper, batch, err) : status;
}

static enum ip_status round_compare(const struct probe_mapper *mapper, unsigned first, struct ip_error *err) {
    struct probe_portmap *map = mapper->map;
    struct probe_batch batch = {0};
    size_t *slots = calloc(map->member_count + 1, sizeof *slots);
    unsigned *with = calloc(map->member_count + 1, sizeof *with);
    enum ip_status status = slots != NULL && with != NULL
                                ? members_compare(mapper, &batch, first, slots, with, err)
                                : ip_fail(err, IP_NO_MEMORY, "no memory for a round of comparisons");
    for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
        unsigned width = map->members[i].width;
        double together = 2.0 * compared_instances(width) / probe_mix_cycles(&batch, slots[i]);
        if (fabs(together - width) <= SAME_TOLERANCE) {
            class_join(map, with[i], i);
        }
    }
    probe_batch_fini(&batch);
    free(slots);
    free(with);
    return status;
}

/* Where vectors have the ports of jumps these block: nothing that writes flags can stand beside a jump. */
static void jumps_step_back(struct probe_portmap *map, struct probe_port_class *class) {
    if (probe_port_class_jumps(map, class) && (class->blocker[1] >= 0 || class->blocker[2] >= 0)) {
        class->blocker[0] = -1;
    }
}

enum ip_status probe_port_classes_form(const struct probe_mapper *mapper, struct ip_error *err) {
    struct probe_portmap *map = mapper->map;
    enum ip_status status = IP_OK;
    unsigned first = map->class_count;
    while (status == IP_OK && founders_choose(map, first) > 0) {
        status = round_compare(mapper, first, err);
        first = map->class_count;
    }
    for (unsigned c = 0; c < map->class_count; c++) {
        jumps_step_back(map, &map->classes[c]);
    }
    return status;
}

const struct probe_port_member *probe_port_class_best(const struct probe_portmap *map, unsigned number) {
    const int *blocker = map->classes[number].blocker;
    int best = blocker[0] >= 0 ? blocker[0] : blocker[1] >= 0 ? blocker[1] : blocker[2];
    return best >= 0 ? &map->members[best] : NULL;
}

bool probe_port_class_jumps(const struct probe_portmap *map, const struct probe_port_class *class) {
    int best = class->blocker[0];
    return best >= 0 && (size_t)best < map->member_count && map->members[best].form->mnemonic[0] == 'j';
}

bool probe_port_class_computes(const struct probe_portmap *map, const struct probe_port_class *class) {
    return !class->load && !class->store && !probe_port_class_jumps(map, class);
}

/* Closes the gap in the numbering; the members have left. */
static void class_close(struct probe_portmap *map, unsigned gone) {
    for (size_t i = 0; i < map->member_count; i++) {
        map->members[i].class -= map->members[i].class > (int)gone;
    }
    map->class_count--;
    for (unsigned c = gone; c < map->class_count; c++) {
        map->classes[c] = map->classes[c + 1];
    }
}

void probe_port_class_remove(struct probe_portmap *map, unsigned gone) {
    for (size_t i = 0; i < map->member_count; i++) {
        if (map->members[i].class == (int)gone) {
            map->members[i].class = -1;
        }
    }
    class_close(map, gone);
}

void probe_port_classes_merge(struct probe_portmap *map, unsigned into, unsigned gone) {
    struct probe_port_class *to = &map->classes[into];
    const struct probe_port_class *from = &map->classes[gone];
    to->members += from->members;
    to->worlds |= from->worlds;
    to->contradicted = to->contradicted || from->contradicted;
    to->residual = from->residual > to->residual ? from->residual : to->residual;
    for (unsigned w = 0; w < WORLDS; w++) {
        if (to->blocker[w] < 0) {
            to->blocker[w] = from->blocker[w];
        }
    }
    jumps_step_back(map, to);
    for (size_t i = 0; i < map->member_count; i++) {
        int *class = &map->members[i].class;
        if (*class == (int)gone) {
            *class = (int)into;
        }
    }
    class_close(map, gone);
}

int probe_port_class_blocker(const struct probe_portmap *map, const struct probe_port_class *class,
                             unsigned world) {
    int scalar = class->blocker[0], own = class->blocker[world];
    if (map->meet && own < 0 && world != 0) {
        own = class->blocker[world == 1 ? 2 : 1];
    }
    const struct isa_form *form = scalar >= 0 ? map->members[scalar].form : NULL;
    bool instead =
        map->meet && own >= 0 && form != NULL && (probe_port_uses_mmx(form) || probe_port_is_of_masks(form));
    return scalar >= 0 && !instead ? scalar : own;
}

bool probe_port_blockers_choose(const struct probe_portmap *map, const unsigned *classes, unsigned count,
                                int *blockers) {
    for (unsigned w = map->meet ? 1 : 0; w < WORLDS; w++) {
        bool all = true;
        for (unsigned i = 0; i < count && all; i++) {
            const struct probe_port_class *class = &map->classes[classes[i]];
            blockers[i] = probe_port_class_blocker(map, class, w);
            all = blockers[i] >= 0;
        }
        if (all) {
            return true;
        }
    }
    return false;
}
