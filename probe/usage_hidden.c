/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_hidden.c - what the issue width hides: a set of as many ports as instructions are issued in a
 * cycle, which no blockers show. docs/port_usage.md, "What the issue width hides". */
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "probe/portmap_steps.h"
#include "probe/usage_steps.h"

/* Does a form of general registers block the class? Masks and MMX compute where vectors do, and tie no scalar
 * to it. */
static bool blocks_scalars(const struct probe_portmap *map, const struct probe_port_class *class) {
    int scalar = class->blocker[0];
    bool known = scalar >= 0 && (size_t)scalar < map->member_count;
    const struct isa_form *form = known ? map->members[scalar].form : NULL;
    return scalar >= 0 && !(known && (probe_port_is_of_masks(form) || probe_port_uses_mmx(form)));
}

uint32_t probe_usage_computing_ports(const struct probe_portmap *map, unsigned worlds) {
    uint32_t all = 0;
    for (unsigned c = 0; c < map->class_count; c++) {
        const struct probe_port_class *class = &map->classes[c];
        bool fits =
            (class->worlds & worlds) != 0 && (worlds != PROBE_PORTS_SCALAR || blocks_scalars(map, class));
        all |= fits && probe_port_class_computes(map, class) ? class->ports : 0;
    }
    return all;
}

/* Scalar and vector instructions may have no port in common: each kind has what its own use. */
static const unsigned KINDS[] = {PROBE_PORTS_SCALAR, PROBE_PORTS_VECTOR | PROBE_PORTS_WIDE};
enum { KIND_COUNT = sizeof KINDS / sizeof KINDS[0] };

/* May the form have uops of the kind? What works with vectors alone has none of general registers, what names
 * general registers, flags and memory alone none of vectors, and what names both may have either. */
static bool is_of_kind(const struct isa_form *form, unsigned kind) {
    return KINDS[kind] == PROBE_PORTS_SCALAR ? !probe_usage_is_vectors_alone(form)
                                             : probe_usage_names_others(form);
}

bool probe_usage_issue_is_narrow(const struct probe_portmap *map) {
    return ports_fill_issue(probe_usage_computing_ports(map, UINT_MAX), map);
}

bool probe_usage_has_a_result(const struct isa_form *form) {
    bool any = form->flags_written != 0;
    for (unsigned i = 0; i < form->operand_count; i++) {
        any = any || form->operands[i].write;
    }
    return any;
}

/* A form of one uop for so many ports would be as fast as instructions are issued. Where not one candidate
 * is, no form is known to have such a set: as of any other set, none is looked for. */
uint32_t probe_usage_hidden_ports(const struct probe_portmap *map, const struct isa_form *form) {
    uint32_t hidden = 0;
    for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
        bool any = false;
        for (size_t i = 0; i < map->member_count; i++) {
            const struct probe_port_member *member = &map->members[i];
            any = any || (probe_port_runs_at_the_issue(map, member) && (member->world & KINDS[kind]) != 0 &&
                          probe_usage_has_a_result(member->form));
        }
        uint32_t ports = probe_usage_computing_ports(map, KINDS[kind]);
        hidden |= any && is_of_kind(form, kind) && ports_fill_issue(ports, map) ? ports : 0;
    }
    return hidden;
}

/* Is one of these candidates as fast as instructions are issued? */
static bool any_at_the_issue(const struct probe_portmap *map, bool (*is)(const struct isa_form *form)) {
    bool any = false;
    for (size_t i = 0; i < map->member_count && !any; i++) {
        any = probe_port_runs_at_the_issue(map, &map->members[i]) && is(map->members[i].form);
    }
    return any;
}

bool probe_usage_works_with_flags(const struct isa_form *form) {
    return form->explicit_count > 0 && (form->flags_read | form->flags_written) != 0;
}

bool probe_usage_flags_are_hidden(const struct probe_portmap *map) {
    return any_at_the_issue(map, probe_usage_works_with_flags);
}

/* Has it two vectors to read? Moves have one, and what rename removes as an idiom has one register twice,
 * which candidates have not. */
static bool reads_two_vectors(const struct isa_form *form) {
    unsigned sources = 0;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        sources += operand->kind == ISA_OPERAND_REG && operand->read && isa_reg_is_vector(operand->reg_class);
    }
    return sources >= 2 && probe_usage_is_vectors_alone(form);
}

bool probe_usage_vectors_are_hidden(const struct probe_portmap *map) {
    return any_at_the_issue(map, reads_two_vectors);
}

/* Rename removes no instruction that makes flags of registers, nor one that works on two vectors: where those
 * of a kind are as fast as instructions are issued, they have a set of ports, and unless narrower sets make
 * it up no one knows which. Any uop without another term may be of it, if it may be one of that kind:
 * microcode's may be one of general registers.
 */
static bool set_is_unseen(const struct isa_form *form, double slots, const struct probe_portmap *map) {
    bool unseen = false;
    for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
        bool general = KINDS[kind] == PROBE_PORTS_SCALAR;
        bool may_be = is_of_kind(form, kind) || (general && slots > PROBE_USAGE_MICROCODE - 0.5);
        unseen =
            unseen || (may_be && !ports_fill_issue(probe_usage_computing_ports(map, KINDS[kind]), map) &&
                       (general ? probe_usage_flags_are_hidden(map) : probe_usage_vectors_are_hidden(map)));
    }
    return unseen;
}

/* Slots that read as so much more than a whole number may be one more (SUB of memory, of two: 1.24). */
static const double SLOTS_ABOVE = 0.2;

/* Where its slots are not known it has no more than are issued in the time that it takes. */
static double slots_most(const struct probe_usage *result, const struct probe_portmap *map) {
    if (isfinite(result->slots)) {
        return ceil(result->slots - SLOTS_ABOVE);
    }
    double timely = PROBE_USAGE_CYCLES_MORE * result->cycles * map->issue_width;
    return isfinite(timely) ? floor(timely) : 0;
}

void probe_usage_hidden_infer(const struct isa_form *form, struct probe_usage *result,
                              const struct probe_portmap *map) {
    const bool unseen = set_is_unseen(form, result->slots, map);
    const uint32_t ports = unseen ? 0 : probe_usage_hidden_ports(map, form);
    double placed = 0, loads = 0;
    for (unsigned t = 0; t < result->term_count; t++) {
        bool load = probe_usage_is_load(map, result->terms[t].ports);
        loads += load ? result->terms[t].uops : 0;
        placed += load ? 0 : result->terms[t].uops;
    }
    const double free_slots = slots_most(result, map) - placed;
    if ((ports == 0 && !unseen) || free_slots < 1 || result->term_count == PROBE_USAGE_TERMS) {
        return;
    }
    double likely = probe_usage_computes(form) ? free_slots : free_slots - loads;
    result->hidden_ports = ports;
    result->hidden_most = free_slots;
    if (unseen) {
        (void)snprintf(result->why, sizeof result->why,
                       "0 to %.0f uops may go to ports that the issue width hides", free_slots);
        return;
    }
    if (likely > 0 && isfinite(result->slots)) {
        result->terms[result->term_count++] = (struct probe_usage_term){.ports = ports, .uops = likely};
    }
    /* Those that are known are not all, perhaps, nor need it be all of them. */
    (void)snprintf(
        result->why, sizeof result->why,
        "0 to %.0f uops may go to any of %.0f ports or more, or to none: the issue width hides which",
        free_slots, round(map->issue_width));
}
