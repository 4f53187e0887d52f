/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_plan.c - which sets are asked of a form, and with which blockers. */
#include <math.h>
#include <string.h>

#include "generator/control.h"
#include "generator/operands.h"
#include "probe/portmap_steps.h"
#include "probe/usage_steps.h"

enum {
    LEAST_OF_ISSUE = 2, /* readings */
    LEAST_OF_SLOW = 6,
    WIDE_BITS = 512,
    LOAD_BITS = 64,        /* loads that can begin at any multiple of eight bytes within a line */
    BURST_SLOTS = 6,       /* what has more comes in bursts */
    READINGS_OF_WAITS = 3, /* of which two stand beside few blockers */
};

void probe_usage_subject_init(struct probe_usage_subject *subject, struct isa_form *form) {
    memset(subject, 0, sizeof *subject);
    subject->form = form;
    subject->world = PROBE_PORTS_SCALAR;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        bool vector = isa_reg_is_vector(operand->reg_class);
        unsigned elements = operand->broadcast > 0 ? operand->broadcast : 1;
        if ((vector && operand->reg_class == ISA_REG_ZMM) ||
            (form->evex && operand->bits * elements >= WIDE_BITS)) { /* in memory alone, too */
            subject->world = PROBE_PORTS_WIDE;
        } else if (vector && subject->world == PROBE_PORTS_SCALAR) {
            subject->world = PROBE_PORTS_VECTOR;
        }
        subject->legacy = subject->legacy || (vector && !form->vex && !form->evex);
    }
}

/* -- Blockers ----------------------------------------------------------------------------------------- */

static bool xmm_only(const struct isa_form *form) {
    for (unsigned i = 0; i < form->operand_count; i++) {
        enum isa_reg_class class = form->operands[i].reg_class;
        if (class == ISA_REG_YMM || class == ISA_REG_ZMM || form->operands[i].bits > 128) {
            return false;
        }
    }
    return !form->evex;
}

/* A jump for a branch, which is not taken by the flags that this one asks for; -1: there is none. */
static int jump_blocker(const struct isa_form *form, const struct probe_portmap *map, unsigned number) {
    for (size_t i = 0; i < map->member_count && gen_form_branches(form); i++) {
        bool agree = !gen_form_jumps_on_flags(form) || gen_jumps_agree(map->members[i].form, form);
        if (map->members[i].class == (int)number && agree) {
            return (int)i;
        }
    }
    return -1;
}

int probe_usage_blocker(const struct probe_usage_subject *subject, const struct probe_portmap *map,
                        unsigned number) {
    const struct probe_port_class *class = &map->classes[number];
    if (probe_port_class_jumps(map, class)) {
        return jump_blocker(subject->form, map, number);
    }
    bool scalar = subject->world == PROBE_PORTS_SCALAR && class->blocker[0] >= 0;
    unsigned world = scalar ? 0 : subject->world == PROBE_PORTS_WIDE ? 2 : 1;
    int member = probe_port_class_blocker(map, class, world);
    bool asks = gen_form_branches_on_flags(subject->form); /* flags, which all others must leave alone */
    bool mixes = subject->legacy && member >= 0 && member != class->blocker[0];
    if (member < 0 || (!mixes && !(asks && map->members[member].form->flags_written != 0))) {
        return member;
    }
    for (size_t i = 0; i < map->member_count; i++) {
        const struct isa_form *form = map->members[i].form;
        if (map->members[i].class == (int)number && (!mixes || xmm_only(form)) &&
            (!asks || form->flags_written == 0)) {
            return (int)i;
        }
    }
    return -1;
}

/* -- Which sets --------------------------------------------------------------------------------------- */

static bool set_known(const struct probe_usage_subject *subject, const struct probe_port_class *class) {
    for (unsigned i = 0; i < subject->count; i++) {
        if (subject->experiments[i].target == class->ports) {
            return true;
        }
    }
    return false;
}

/* Or without any operand that would say what it does (fences). */
static bool may_be_microcode(const struct probe_usage_subject *subject) {
    return subject->form->operand_count == 0 || !(subject->slots <= PROBE_USAGE_MICROCODE - 0.5);
}

static bool may_touch_memory(const struct probe_usage_subject *subject) {
    return isa_form_memory_operand(subject->form) >= 0 ||
           (may_be_microcode(subject) && !probe_usage_loads_as_it_says(subject));
}

/* What microcode of vectors stores its operands say. What has no result may be for any purpose (CLFLUSH). */
static bool may_store(const struct probe_usage_subject *subject) {
    int operand = isa_form_memory_operand(subject->form);
    bool writes = operand >= 0 && subject->form->operands[operand].write;
    return writes || !probe_usage_has_a_result(subject->form) || gen_form_is_stack(subject->form) ||
           (may_be_microcode(subject) && !probe_usage_is_of_vectors(subject));
}

/* One count of stores is enough, and goes by plain ones. */
static bool counts_stores(const struct probe_port_class *class) {
    return class->store && class->blocker[0] >= 0 && class->worlds != PROBE_PORTS_WIDE;
}

/* Has what the form stores the ports of these loads? Then that set is asked for both, by stores. */
static bool stores_count_loads(const struct probe_usage_subject *subject, const struct probe_portmap *map,
                               const struct probe_port_class *class) {
    bool count = false;
    for (unsigned c = 0; c < map->class_count && class->load; c++) {
        count = count || (counts_stores(&map->classes[c]) && map->classes[c].ports == class->ports);
    }
    return count && may_store(subject);
}

bool probe_usage_names_others(const struct isa_form *form) {
    bool others = false;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        others = others || (operand->kind == ISA_OPERAND_REG && !isa_reg_is_gpr(operand->reg_class));
    }
    return others;
}

bool probe_usage_is_x87(const struct isa_form *form) {
    bool x87 = false;
    for (unsigned i = 0; i < form->operand_count; i++) {
        x87 =
            x87 || (form->operands[i].kind == ISA_OPERAND_REG && form->operands[i].reg_class == ISA_REG_X87);
    }
    return x87;
}

bool probe_usage_notes_address(const struct isa_form *form) {
    return probe_usage_is_x87(form) && isa_form_memory_operand(form) >= 0;
}

bool probe_usage_is_vectors_alone(const struct isa_form *form) {
    const bool x87 = probe_usage_is_x87(form);
    bool vector = x87, scalar = (form->flags_read | form->flags_written) != 0 || gen_form_is_gather(form);
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        bool of_register = operand->kind == ISA_OPERAND_REG;
        vector = vector || (of_register &&
                            (isa_reg_is_vector(operand->reg_class) || operand->reg_class == ISA_REG_MMX));
        scalar = scalar || (of_register && isa_reg_is_gpr(operand->reg_class)) ||
                 (operand->kind == ISA_OPERAND_MEM && (operand->write || x87));
    }
    return vector && !scalar;
}

/* Does it store what vectors or masks hold, and work with nothing else? On a Zen 5 such data and what VMOVD
 * takes to general registers go by one pair of pipes, of which the map knows the second alone, as two ALUs'
 * way: stores took one of these in every third reading (1*pCD+1*p45, 1*pCD). */
static bool stores_vectors(const struct isa_form *form) {
    bool general = (form->flags_read | form->flags_written) != 0 || gen_form_is_gather(form);
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        general = general || (operand->kind == ISA_OPERAND_REG && isa_reg_is_gpr(operand->reg_class));
    }
    const int memory = isa_form_memory_operand(form);
    return probe_usage_names_others(form) && !general && !probe_usage_is_x87(form) && memory >= 0 &&
           form->operands[memory].write && !form->operands[memory].read;
}

bool probe_usage_loads_as_it_says(const struct probe_usage_subject *subject) {
    return subject->binds_early && probe_usage_is_vectors_alone(subject->form);
}

/* Ports that what works with vectors alone uses. */
static uint32_t vector_ports(const struct probe_portmap *map) {
    uint32_t ports = 0;
    for (size_t i = 0; i < map->member_count; i++) {
        const struct probe_port_member *member = &map->members[i];
        bool alone = member->class >= 0 && !probe_port_is_memory(&map->classes[member->class]) &&
                     probe_usage_is_vectors_alone(member->form);
        ports |= alone ? map->classes[member->class].ports : 0;
    }
    return ports;
}

/* Loads of 512 bits fill more than their ports, the way to the cache: beside them a narrow load, which could
 * go to one port more, seems to be confined to the same two (0.7 to 1.0 of it). */
static bool loads_too_wide(const struct probe_usage_subject *subject, const struct probe_port_class *class,
                           const struct probe_portmap *map, int member) {
    int operand = isa_form_memory_operand(subject->form);
    unsigned bits = operand >= 0 ? subject->form->operands[operand].bits : 0;
    const struct isa_form *blocker = map->members[member].form;
    return class->load && class->worlds == PROBE_PORTS_WIDE &&
           bits < blocker->operands[isa_form_memory_operand(blocker)].bits;
}

/* Does it load into general registers? Conversions to these load into those of vectors. */
static bool loads_to_general(const struct isa_form *form) {
    bool converts = strncmp(form->mnemonic, "cvt", 3) == 0 || strncmp(form->mnemonic, "vcvt", 4) == 0;
    return !converts && !probe_usage_names_others(form);
}

/* Is there a set of loads within this one, or around it, with blockers of these worlds? */
static bool loads_nested(const struct probe_usage_subject *subject, const struct probe_portmap *map,
                         const struct probe_port_class *class, bool within, unsigned worlds) {
    bool nested = false;
    for (unsigned c = 0; c < map->class_count; c++) {
        const struct probe_port_class *other = &map->classes[c];
        uint32_t beyond = within ? other->ports & ~class->ports : class->ports & ~other->ports;
        bool fits = other->load && beyond == 0 && other->ports != class->ports;
        nested =
            nested || (fits && (other->worlds & worlds) != 0 && probe_usage_blocker(subject, map, c) >= 0);
    }
    return nested;
}

/* Where loads of vectors have a set of their own within that of all, what the ones take beside the others
 * says nothing of it: both fill the same cache (0.3 to 2.4 of one load of a Zen 4). */
static bool loads_of_other_kind(const struct probe_usage_subject *subject,
                                const struct probe_port_class *class, const struct probe_portmap *map,
                                int member) {
    bool general = loads_to_general(subject->form);
    bool others = (map->members[member].world == PROBE_PORTS_SCALAR) != general;
    return class->load && others &&
           loads_nested(subject, map, class, !general,
                        general ? (unsigned)PROBE_PORTS_SCALAR : (unsigned)PROBE_PORTS_VECTOR);
}

static void experiment_init(struct probe_usage_experiment *experiment, uint32_t target, int member) {
    *experiment = (struct probe_usage_experiment){.target = target,
                                                  .parts = member >= 0 || target == 0,
                                                  .wanted = 1,
                                                  .least = 1,
                                                  .members = {member},
                                                  .blocked = {{.ports = target}},
                                                  .cycles = NAN,
                                                  .confined = NAN};
}

void probe_usage_issue_plan(struct probe_usage_subject *subject) {
    experiment_init(&subject->issue, 0, -1);
    subject->issue.based = true;
    subject->issue.least = subject->issue.wanted =
        subject->alone < PROBE_USAGE_SLOW_CYCLES ? LEAST_OF_ISSUE : LEAST_OF_SLOW;
}

void probe_usage_issue_know(struct probe_usage_subject *subject, const struct probe_portmap *map) {
    enum { AS_GOOD_AS = 3 }; /* readings: of more instances, in looks that agree */
    const struct probe_slots *known = subject->known_slots;
    struct probe_usage_experiment *issue = &subject->issue;
    if (known == NULL || issue->parts == 0 || !known->measured || known->verdict != HX_VERDICT_OK) {
        return;
    }
    probe_usage_experiment_size(issue, subject, map, issue->kind, 0);
    for (unsigned i = 0; i < AS_GOOD_AS && issue->parts != 0; i++) {
        probe_usage_reading_add(issue, known->slots, map->issue_width);
    }
    issue->wanted = 0;
}

/* Where readings are upper bounds: what x87 with an operand in memory does among general registers' ports is
 * to note the address (probe_usage_slotless). Beside blockers of many ports, which leave few slots, that
 * cannot be read, nor beside what takes values from vectors: the data of its store go by that way, too. */
static bool unread_of_x87(const struct probe_port_class *class, int member, const struct probe_portmap *map) {
    return class->width >= PROBE_USAGE_MANY_PORTS ||
           (member >= 0 && probe_usage_crosses(map->members[member].form));
}

/* What has a way around blocked ports waits for them now and then in two cases: the core is known to let it
 * (probe/usage_early.c), or it is microcode, whose uops come at once (VREDUCEPD from memory on a Zen 5: two
 * of {2 3} and one of {0 3} read as 1.1 to 2.0 of the latter). */
void probe_usage_experiments_plan(struct probe_usage_subject *subject, const struct probe_portmap *map) {
    const uint32_t vectors = vector_ports(map);
    subject->vector_ports = probe_usage_is_vectors_alone(subject->form) ? vectors : 0;
    /* Where readings are no upper bounds what they say counts. */
    const bool alone = vectors != 0 && subject->delays != 0 &&
                       (probe_usage_is_vectors_alone(subject->form) || stores_vectors(subject->form));
    const bool records = vectors != 0 && subject->delays != 0 && probe_usage_notes_address(subject->form);
    for (unsigned width = 1; width <= PROBE_PORTSET_PORTS; width++) {
        for (unsigned c = 0; c < map->class_count; c++) {
            const struct probe_port_class *class = &map->classes[c];
            bool memory = class->load || class->store;
            int member = probe_usage_blocker(subject, map, c);
            if ((class->store && !counts_stores(class)) || stores_count_loads(subject, map, class)) {
                continue;
            }
            bool others = member < 0 && probe_port_class_jumps(map, class); /* beside it jumps alone stand */
            bool unread =
                records && !memory && (class->ports & vectors) == 0 && unread_of_x87(class, member, map);
            if (class->width != width || set_known(subject, class) || others || unread ||
                subject->count == PROBE_USAGE_EXPERIMENTS || (class->store && !may_store(subject)) ||
                (memory &&
                 (member < 0 || !may_touch_memory(subject) || loads_too_wide(subject, class, map, member) ||
                  loads_of_other_kind(subject, class, map, member)))) {
                continue;
            }
            struct probe_usage_experiment *experiment = &subject->experiments[subject->count++];
            experiment_init(experiment, class->ports, member);
            experiment->store = class->store;
            experiment->one_place = class->store && subject->one_place;
            experiment->by_operands =
                class->store && isfinite(probe_usage_operands_stores(subject, subject->slots));
            experiment->load = class->load && map->members[member].form->operands[0].bits <= LOAD_BITS;
            experiment->widest = probe_usage_is_widest(map, experiment);
            experiment->least =
                class->load && gen_form_modifies_memory(subject->form) ? PROBE_USAGE_BOUND_READINGS : 1;
            experiment->rhythms =
                !(subject->slots > BURST_SLOTS) && isa_form_memory_operand(subject->form) >= 0;
            bool wide = !memory && !experiment->widest && width >= PROBE_USAGE_MANY_PORTS;
            bool bursts =
                alone && subject->slots > BURST_SLOTS && !memory && !ports_within(vectors, class->ports);
            bool waits = probe_usage_delays(subject, map, c) || (wide && subject->delays != 0) || bursts;
            experiment->delays = !experiment->widest && waits;
            experiment->waits = experiment->delays && !subject->binds_early && !wide;
            if (experiment->waits) {
                experiment->least = READINGS_OF_WAITS;
            }
            experiment->bounds = experiment->delays || wide || (!experiment->widest && subject->holds_unit);
            experiment->based = class->load || experiment->widest;
            if (alone && !memory && (class->ports & vectors) == 0) {
                experiment->implied = true;
                experiment->parts = 0;
            }
        }
    }
}

/* Does it store what it has not read there, so that at one place no instance waits for another? */
static bool stores_alone(const struct isa_form *form) {
    int memory = isa_form_memory_operand(form);
    return memory >= 0 && form->operands[memory].write && !form->operands[memory].read;
}

/* Do its stores read as none, or as more than there is time for? */
static bool stores_misread(const struct probe_usage_subject *subject,
                           const struct probe_usage_experiment *experiment) {
    const double more = 0.3; /* uops */
    double timely = PROBE_USAGE_CYCLES_MORE * subject->result->cycles * ports_in(experiment->target);
    bool none = !probe_usage_most_show(experiment, PROBE_USAGE_STORE_SEEN);
    bool many = !experiment->by_operands && experiment->confined > timely + more;
    return experiment->store && !experiment->one_place && experiment->reading_count > 0 && (none || many);
}

bool probe_usage_stores_gather(struct probe_usage_subject *subject) {
    bool gathered = false;
    for (unsigned e = 0; e < subject->count && stores_alone(subject->form); e++) {
        struct probe_usage_experiment *experiment = &subject->experiments[e];
        if (stores_misread(subject, experiment)) {
            probe_usage_readings_drop(experiment, experiment->kind);
            experiment->one_place = subject->one_place = gathered = true;
        }
    }
    return gathered;
}
