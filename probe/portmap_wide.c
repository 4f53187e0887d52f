/* SPDX-License-Identifier: Apache-2.0 */
/* probe/portmap_wide.c - are 512-bit instructions executed in two halves, or like those of narrower vectors?
 */
#include <math.h>

#include "probe/portmap_steps.h"

enum { NARROW_INSTANCES = 24, WIDE_INSTANCES = 4 };

/* Each of the 512-bit instructions takes so many cycles of a narrower vector's ports. Where they close a port
 * for these, or have it for themselves, it is more, or less. */
static const double HALVES_LEAST = 1.6, HALVES_MOST = 2.4;
static const double LIKE_LEAST = 0.7, LIKE_MOST = 1.3;

/* The member of the world with the widest set, the best of these; -1: none. Members are sorted. */
static int widest_of(const struct probe_portmap *map, unsigned world) {
    int widest = -1;
    for (size_t i = 0; i < map->member_count; i++) {
        const struct probe_port_member *member = &map->members[i];
        bool wanted = member->world == world && member->width != 0 && !member->load && !member->store;
        if (wanted && (widest < 0 || member->width > map->members[widest].width)) {
            widest = (int)i;
        }
    }
    return widest;
}

static bool uses_masks(const struct isa_form *form) {
    for (unsigned i = 0; i < form->operand_count; i++) {
        if (form->operands[i].kind == ISA_OPERAND_REG && form->operands[i].reg_class == ISA_REG_MASK) {
            return true;
        }
    }
    return false;
}

/* Masks, too, which elsewhere tie the ports of the two vector worlds together. */
static void wide_leave_out(struct probe_portmap *map) {
    for (size_t i = 0; i < map->member_count; i++) {
        if (map->members[i].world == PROBE_PORTS_WIDE || uses_masks(map->members[i].form)) {
            map->members[i].width = 0;
        }
    }
}

enum ip_status probe_port_wide_measure(const struct probe_mapper *mapper, struct ip_error *err) {
    struct probe_portmap *map = mapper->map;
    int narrow = widest_of(map, PROBE_PORTS_VECTOR), wide = widest_of(map, PROBE_PORTS_WIDE);
    map->halves = map->meet = false;
    if (narrow < 0 || wide < 0) {
        return IP_OK;
    }
    const struct gen_part parts[2] = {probe_port_part(&map->members[narrow], NARROW_INSTANCES),
                                      probe_port_part(&map->members[wide], WIDE_INSTANCES)};
    struct probe_batch batch = {0};
    size_t alone = SIZE_MAX, beside = SIZE_MAX;
    enum ip_status status = probe_mix_add(&batch, parts, 1, &alone, err);
    status = status == IP_OK ? probe_mix_add(&batch, parts, 2, &beside, err) : status;
    status = status == IP_OK ? probe_mixes_measure(mapper, &batch, err) : status;
    if (status == IP_OK) {
        double more = probe_mix_cycles(&batch, beside) - probe_mix_cycles(&batch, alone);
        double each = more * map->members[narrow].width / WIDE_INSTANCES;
        map->halves = each >= HALVES_LEAST && each <= HALVES_MOST;
        map->meet = each >= LIKE_LEAST && each <= LIKE_MOST;
    }
    if (map->halves) {
        wide_leave_out(map);
    }
    probe_batch_fini(&batch);
    return status;
}

void probe_port_wide_blockers(struct probe_portmap *map) {
    for (unsigned c = 0; (map->halves || map->meet) && c < map->class_count; c++) {
        struct probe_port_class *class = &map->classes[c];
        if (map->meet) {
            if (probe_port_class_blocker(map, class, 1) != class->blocker[0]) {
                class->blocker[0] = -1;
            }
            if (class->blocker[1] < 0 && class->blocker[2] >= 0) {
                class->blocker[1] = class->blocker[2];
                class->worlds |= PROBE_PORTS_VECTOR;
            }
        }
        if (class->blocker[2] < 0 && class->blocker[1] >= 0) {
            class->blocker[2] = class->blocker[1];
            class->worlds |= PROBE_PORTS_WIDE;
        }
    }
}
