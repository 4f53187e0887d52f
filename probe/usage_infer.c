/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_infer.c - from what blockers took to counts of µops. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "generator/operands.h"
#include "probe/portmap_steps.h"
#include "probe/usage_steps.h"

static const double UOP_TOLERANCE = 0.4; /* of a count of µops to an integer */
/* So much above one where uops are bound early, and those of narrower sets keep a port from others. */
static const double EARLY_ABOVE = 0.6, EARLY_BETWEEN = 0.65;
/* What holds a unit has uops that come in bursts: a reading may be so far above a count, but hardly below. */
static const double UNIT_ABOVE = 0.8, UNIT_BETWEEN = 0.7, UNIT_ABOVE_WIDEST = 1.2;

/* A set that reads less has none, where readings count and where they are upper bounds. */
static const double NO_UOP = 0.5, BOUND_UOP = 0.7;

/* The widest set has all uops that the sets within it have. Beside few of them it is read so well that one
 * which it lacks was none (a slow rhythm). */
static const double WIDEST_LACKS = 0.6, FEW_UOPS = 5;

/* And by how much more, in uops, what a form's own throughput bounds may be wrong. */
static const double UOPS_MORE = 0.1;

enum { GENERAL_BITS = 64, NARROW_BITS = 128 };

void probe_usage_give_up(struct probe_usage *result, enum probe_usage_verdict verdict, const char *why) {
    result->verdict = verdict;
    (void)snprintf(result->why, sizeof result->why, "%s", why);
}

/* Blockers of the widest set leave few issue slots: whatever the front end loses looks like a part of a µop.
 * Behind two or three slots only a set that takes them all is wide: one of two ports leaves the third. */
bool probe_usage_is_widest(const struct probe_portmap *map, const struct probe_usage_experiment *experiment) {
    static const double part = 0.7; /* of the issue slots */
    unsigned width = ports_in(experiment->target);
    return width + 1.5 > map->issue_width && width > part * map->issue_width;
}

bool probe_usage_is_load(const struct probe_portmap *map, uint32_t ports) {
    for (unsigned c = 0; c < map->class_count; c++) {
        if (map->classes[c].load && map->classes[c].ports == ports) {
            return true;
        }
    }
    return false;
}

/* µops that so many ports do in the time that the form takes; NaN: not known. */
static double timely_uops(const struct probe_usage *result, unsigned width) {
    return floor(PROBE_USAGE_CYCLES_MORE * result->cycles * width + UOPS_MORE);
}

/* Only a load may share the slot of another µop, and a store's address that of its data. With those of sets
 * within this one they take no longer than the form does. */
double probe_usage_widest_most(const struct probe_usage *result, const struct probe_portmap *map,
                               uint32_t ports) {
    double placed = 0, within = 0, most = INFINITY;
    for (unsigned t = 0; t < result->term_count; t++) {
        bool load = probe_usage_is_load(map, result->terms[t].ports);
        placed += load ? 0 : result->terms[t].uops;
        within += ports_within(result->terms[t].ports, ports) ? result->terms[t].uops : 0;
    }
    if (isfinite(result->slots)) {
        most = round(result->slots) - placed;
    }
    if (isfinite(result->cycles)) {
        most = fmin(most, timely_uops(result, ports_in(ports)) - within);
    }
    return fmax(most, 0);
}

static double uops_of(const struct probe_usage *result) {
    return probe_usage_terms_uops(result->terms, result->term_count);
}

double probe_usage_operands_stores(const struct probe_usage_subject *subject, double slots) {
    double stores = 0;
    for (unsigned i = 0; i < subject->form->operand_count; i++) {
        const struct isa_operand *operand = &subject->form->operands[i];
        bool plain = !isa_reg_is_vector(operand->reg_class) && operand->bits != 0;
        if (operand->kind == ISA_OPERAND_MEM && operand->write) {
            stores += plain && operand->bits <= GENERAL_BITS ? 1 : NAN;
        }
    }
    return stores > 0 && slots < PROBE_USAGE_MICROCODE - 0.5 ? stores : NAN;
}

bool probe_usage_computes(const struct isa_form *form) {
    int memory = isa_form_memory_operand(form);
    if (memory < 0 || form->operands[memory].write || form->flags_written != 0) {
        return true;
    }
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        bool merges = operand->write && isa_reg_is_gpr(operand->reg_class) && operand->bits < 32;
        bool pointer = operand->implicit && operand->write; /* RSP of POP, RSI of LODS: it moves on */
        if (operand->kind == ISA_OPERAND_REG && !pointer && (operand->read || merges)) {
            return true;
        }
    }
    return false;
}

/* The most bits that one µop loads here: a load of the map has one. (Where those of 256 bits have two, those
 * of 128 say nothing: a Zen+ loads 128 bits twice for VINSERTF128.) */
static unsigned load_bits(const struct probe_portmap *map) {
    unsigned bits = GENERAL_BITS;
    for (size_t i = 0; i < map->member_count; i++) {
        const struct probe_port_member *member = &map->members[i];
        bool narrow = member->form->vex && member->form->operands[0].bits == NARROW_BITS;
        int memory =
            member->load && !narrow && member->class >= 0 ? isa_form_memory_operand(member->form) : -1;
        if (memory >= 0 && member->form->operands[memory].bits > bits) {
            bits = member->form->operands[memory].bits;
        }
    }
    return bits;
}

/* Loads that the operands in memory need of a form that is no microcode: as many as it takes µops that load.
 * What is only stored may have its address on a load's port (Skylake), but where uops are bound early it
 * waits there now and then for loads that it has no need of. Infinite where that is not known. */
static double operands_loads(const struct probe_usage_subject *subject, const struct probe_usage *result,
                             const struct probe_portmap *map) {
    double loads = 0;
    bool known = false;
    for (unsigned i = 0; i < subject->form->operand_count; i++) {
        const struct isa_operand *operand = &subject->form->operands[i];
        if (operand->kind == ISA_OPERAND_MEM) {
            bool plain = !isa_reg_is_vector(operand->reg_class) && operand->bits != 0;
            bool counts = plain && (operand->read || subject->binds_early);
            double its = operand->read ? ceil((double)operand->bits / load_bits(map)) : 0;
            loads += counts ? its : INFINITY;
            known = true;
        }
    }
    bool told = result->slots < PROBE_USAGE_MICROCODE - 0.5 || probe_usage_loads_as_it_says(subject);
    return known && told ? loads : INFINITY;
}

/* Where uops are bound early what changes memory is read beside loads as anything from what it is
 * upwards, 1.0 to 1.6 for one uop on a Zen 4: only where no reading is much less has it another. */
static bool load_is_refuted(const struct probe_usage_subject *subject, uint32_t ports, double others) {
    static const double one = 0.75;
    bool refuted = false;
    for (unsigned e = 0; e < subject->count; e++) {
        const struct probe_usage_experiment *experiment = &subject->experiments[e];
        bool read = experiment->target == ports && !experiment->store && experiment->reading_count > 0;
        refuted = refuted || (read && experiment->readings[0] < others + one);
    }
    return refuted && subject->binds_early && gen_form_modifies_memory(subject->form);
}

double probe_usage_confined_most(const struct probe_usage_subject *subject, const struct probe_usage *result,
                                 const struct probe_portmap *map,
                                 const struct probe_usage_experiment *experiment) {
    const uint32_t ports = experiment->target;
    const double timely = timely_uops(result, ports_in(ports));
    if (!probe_usage_is_load(map, ports)) {
        return experiment->delays ? fmin(timely, INFINITY) : INFINITY;
    }
    double others = 0; /* stores may share the ports */
    for (unsigned t = 0; t < result->term_count; t++) {
        bool within = ports_within(result->terms[t].ports, ports);
        others += within && !probe_usage_is_load(map, result->terms[t].ports) ? result->terms[t].uops : 0;
    }
    if (load_is_refuted(subject, ports, others)) {
        return others;
    }
    double most = fmin(operands_loads(subject, result, map), timely <= 1 ? timely : INFINITY);
    return most + others;
}

/* General registers on one side, others on the other; what converts a floating-point number from memory does
 * so in a vector's pipe (CVTSD2SI). */
bool probe_usage_crosses(const struct isa_form *form) {
    int memory = isa_form_memory_operand(form);
    bool loads = memory >= 0 && form->operands[memory].read && form->floating;
    bool crosses = loads && form->operands[0].kind == ISA_OPERAND_REG && form->operands[0].write &&
                   isa_reg_is_gpr(form->operands[0].reg_class);
    for (unsigned w = 0; w < form->operand_count; w++) {
        for (unsigned r = 0; r < form->operand_count; r++) {
            const struct isa_operand *to = &form->operands[w], *from = &form->operands[r];
            bool both =
                to->kind == ISA_OPERAND_REG && to->write && from->kind == ISA_OPERAND_REG && from->read;
            crosses = crosses || (both && isa_reg_is_gpr(to->reg_class) != isa_reg_is_gpr(from->reg_class));
        }
    }
    return crosses;
}

double probe_usage_slotless(const struct isa_form *form) {
    return probe_usage_crosses(form) ? INFINITY : probe_usage_notes_address(form) ? 1 : 0;
}

bool probe_usage_shares_the_way(const struct probe_usage_subject *subject,
                                const struct probe_usage_experiment *experiment,
                                const struct probe_portmap *map) {
    int member = experiment->members[0];
    bool known = member >= 0 && (size_t)member < map->member_count;
    bool crosses = known && probe_usage_crosses(map->members[member].form);
    bool held = false, seen = false;
    for (unsigned e = 0; e < subject->count && crosses; e++) {
        const struct probe_usage_experiment *outer = &subject->experiments[e];
        bool holds = ports_within(experiment->target, outer->target) && experiment->target != outer->target;
        held = held || (holds && isfinite(outer->confined));
        double least = outer->bounds || subject->delays != 0 ? BOUND_UOP : NO_UOP;
        seen = seen || (holds && outer->confined >= least); /* NaN is not */
    }
    return held && !seen && !probe_usage_crosses(subject->form);
}

/* Is it told by a number what to make of the memory that it loads (VPERMQ), and no uop was found that does?
 */
static bool makes_something(const struct isa_form *form, const struct probe_usage *result,
                            const struct probe_portmap *map) {
    bool number = false, found = false;
    for (unsigned i = 0; i < form->explicit_count; i++) {
        number = number || form->operands[i].kind == ISA_OPERAND_IMM;
    }
    for (unsigned t = 0; t < result->term_count; t++) {
        found = found || !probe_usage_is_load(map, result->terms[t].ports);
    }
    return number && !found;
}

/* Goes what it loads as it is into a register, or into all parts of one? (MOVBE turns it round.) */
static bool only_moves(const struct isa_form *form) {
    static const char *const moves[] = {"mov", "vmov",  "kmov",   "pop",        "lods",
                                        "fld", "lddqu", "vlddqu", "vbroadcast", "vpbroadcast"};
    bool moves_it = false;
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        moves_it = moves_it || strncmp(form->mnemonic, moves[i], strlen(moves[i])) == 0;
    }
    return moves_it && strcmp(form->mnemonic, "movbe") != 0;
}

/* Has something that works with vectors alone just these ports? */
static bool vectors_have(const struct probe_portmap *map, uint32_t ports) {
    bool have = false;
    for (size_t i = 0; i < map->member_count; i++) {
        const struct probe_port_member *member = &map->members[i];
        have = have || (member->class >= 0 && map->classes[member->class].ports == ports &&
                        probe_usage_is_vectors_alone(member->form));
    }
    return have;
}

/* Does it do no more than load, so that what the widest set seems to have of it is none? It needs all the
 * slots that there are no more of. */
static bool loads_alone(const struct isa_form *form, const struct probe_usage *result,
                        const struct probe_portmap *map, uint32_t ports) {
    double loads = 0;
    for (unsigned t = 0; t < result->term_count; t++) {
        loads += probe_usage_is_load(map, result->terms[t].ports) ? result->terms[t].uops : 0;
    }
    const bool moves = only_moves(form);
    if (probe_usage_computes(form) || makes_something(form, result, map)) {
        return false;
    }
    if (probe_usage_is_vectors_alone(form)) {
        return (moves || !vectors_have(map, ports)) && round(result->slots) <= uops_of(result);
    }
    return moves && round(result->slots) <= loads;
}

/* The blockers' reading, held within what the issue slots leave. */
static double widest_count(const struct isa_form *form, const struct probe_usage *result,
                           const struct probe_portmap *map, uint32_t ports, double reading) {
    return loads_alone(form, result, map, ports)
               ? 0
               : fmax(fmin(reading, probe_usage_widest_most(result, map, ports)), 0);
}

/* Where readings are upper bounds: a set has no more than any set that holds it. */
static double least_confined(const struct probe_usage_subject *subject,
                             const struct probe_usage_experiment *experiment,
                             const struct probe_portmap *map) {
    double least = experiment->confined;
    for (unsigned e = 0; e < subject->count; e++) {
        const struct probe_usage_experiment *outer = &subject->experiments[e];
        bool holds = ports_within(experiment->target, outer->target) && !probe_usage_is_widest(map, outer);
        least = holds ? fmin(least, outer->confined) : least; /* fmin leaves NaN out */
    }
    return least;
}

bool probe_usage_is_of_ports(const struct probe_usage_subject *subject,
                             const struct probe_usage_experiment *experiment,
                             const struct probe_portmap *map) {
    bool memory = experiment->store || probe_usage_is_load(map, experiment->target);
    bool bursts = subject->holds_unit && subject->delays == 0;
    return experiment->parts != 0 && !memory && !bursts && !probe_usage_is_widest(map, experiment) &&
           !probe_usage_shares_the_way(subject, experiment, map);
}

/* Where stores have the ports of loads, and what changes memory does both there: between the two, as many as
 * the reading says, for a core may need one address for both. */
static double stores_and_loads(const struct probe_usage_subject *subject, const struct probe_usage *result,
                               const struct probe_portmap *map,
                               const struct probe_usage_experiment *experiment, double stores, double found) {
    bool both = experiment->store && probe_usage_is_load(map, experiment->target) &&
                gen_form_modifies_memory(subject->form);
    return both && isfinite(stores) ? fmin(fmax(round(experiment->confined - found), stores),
                                           stores + operands_loads(subject, result, map))
                                    : stores;
}

/* uops of loads or stores that the operands need beyond those `found`, of which the readings say only that
 * there are some. What is read, changed and written holds up the stores behind it (1.5 of one on a Zen 5, and
 * 0.1 to 0.5 in every fourth mix), and what holds a unit has its loads in bursts. NaN: readings count. */
static double operands_uops(const struct probe_usage_subject *subject, const struct probe_usage *result,
                            const struct probe_portmap *map, const struct probe_usage_experiment *experiment,
                            double found) {
    bool load = subject->holds_unit && probe_usage_is_load(map, experiment->target);
    double stores = experiment->store ? probe_usage_operands_stores(subject, result->slots) : NAN;
    double loads = load ? operands_loads(subject, result, map) - found : NAN;
    double needed =
        experiment->store ? stores_and_loads(subject, result, map, experiment, stores, found) : loads;
    bool seen = probe_usage_most_show(experiment, found + PROBE_USAGE_STORE_SEEN);
    return seen && isfinite(needed) ? fmax(needed, 0) : NAN;
}

/* The whole number that a reading means. NaN: it is too far from any. */
static double near_count(double uops, bool early) {
    double nearest = early ? floor(uops + 1 - EARLY_BETWEEN) : round(uops);
    double above = early ? EARLY_ABOVE : UOP_TOLERANCE;
    bool near = uops - nearest <= above && nearest - uops <= UOP_TOLERANCE && nearest >= 0;
    return near ? nearest : NAN;
}

/* From narrow sets to wide ones, beside the terms that there are: what is confined to each beyond those.
 * `others`: of memory and of the widest only. Returns whether what the computing ports read contradicts
 * itself. */
static bool terms_take(const struct probe_usage_subject *subject, struct probe_usage *result,
                       const struct probe_portmap *map, bool others) {
    bool contradicts = false;
    for (unsigned e = 0; e < subject->count; e++) {
        const struct probe_usage_experiment *experiment = &subject->experiments[e];
        bool of_ports = probe_usage_is_of_ports(subject, experiment, map);
        if ((!isfinite(experiment->confined) && !experiment->implied) || (of_ports && others)) {
            continue;
        }
        bool bound = subject->holds_unit || experiment->delays;
        double uops = bound ? least_confined(subject, experiment, map) : experiment->confined;
        double found = 0;
        for (unsigned t = 0; t < result->term_count; t++) {
            bool inside = ports_within(result->terms[t].ports, experiment->target);
            found += inside ? result->terms[t].uops : 0;
        }
        const double most = probe_usage_confined_most(subject, result, map, experiment) - found;
        uops = fmin(uops - found, most);
        uops = experiment->implied || probe_usage_shares_the_way(subject, experiment, map) ? 0 : uops;
        double needed = operands_uops(subject, result, map, experiment, found);
        uops = isfinite(needed) ? needed : uops;
        const double reading = uops;
        bool unit = subject->holds_unit, doubtful = false;
        if (probe_usage_is_widest(map, experiment)) {
            double nearest = unit ? ceil(uops - UNIT_ABOVE_WIDEST) : round(uops);
            bool lacks = uops < -WIDEST_LACKS && uops_of(result) <= FEW_UOPS;
            /* A load may share a slot, and needs no room there: the operands say how many there are. */
            bool load = probe_usage_is_load(map, experiment->target) && isfinite(most);
            uops = load ? fmax(nearest, 0)
                        : widest_count(subject->form, result, map, experiment->target, nearest);
            /* Of a unit the slots, which are known, say more. */
            doubtful = !unit && (lacks || fabs(uops - nearest) > 1);
        } else if (bound) {
            double count = probe_usage_early_count(subject, experiment, result, map, found);
            double nearest = unit ? fmax(ceil(uops - UNIT_ABOVE), 0) : fmin(count, fmax(most, 0));
            doubtful = uops < -UNIT_ABOVE || (unit && uops > nearest + UNIT_BETWEEN);
            uops = doubtful ? uops : nearest;
        } else {
            double nearest = near_count(uops, subject->binds_early && of_ports && found > 0 && uops > 0);
            doubtful = isnan(nearest);
            uops = doubtful ? uops : nearest;
        }
        if (doubtful) {
            contradicts = contradicts || of_ports;
            result->verdict = PROBE_USAGE_INCONSISTENT;
            (void)snprintf(result->why, sizeof result->why,
                           "%.2f uops %s are confined to a set of %u ports than to those within it",
                           fabs(reading), reading < 0 ? "fewer" : "more", ports_in(experiment->target));
        }
        if (round(uops) > 0) {
            result->terms[result->term_count++] = (struct probe_usage_term){
                .ports = experiment->target, .uops = round(uops), .store = experiment->store};
        }
    }
    return contradicts;
}

/* Place of a term: narrow sets first, and of these as the experiments are. */
static unsigned place_of(const struct probe_usage_subject *subject, const struct probe_usage_term *term) {
    unsigned e = 0;
    while (e < subject->count && subject->experiments[e].target != term->ports) {
        e++;
    }
    return ports_in(term->ports) * (PROBE_USAGE_EXPERIMENTS + 1) + e;
}

static void terms_sort(const struct probe_usage_subject *subject, struct probe_usage *result) {
    for (unsigned i = 1; i < result->term_count; i++) {
        const struct probe_usage_term term = result->terms[i];
        unsigned at = i;
        for (; at > 0 && place_of(subject, &result->terms[at - 1]) > place_of(subject, &term); at--) {
            result->terms[at] = result->terms[at - 1];
        }
        result->terms[at] = term;
    }
}

/* Other terms explain the readings that contradicted each other: `verdict` holds, as before these. */
static void contradiction_drop(struct probe_usage *result, enum probe_usage_verdict verdict,
                               bool reconciled) {
    result->reconciled = reconciled;
    result->verdict = verdict;
    result->why[0] = '\0';
}

void probe_usage_infer(const struct probe_usage_subject *subject, struct probe_usage *result,
                       const struct probe_portmap *map) {
    const enum probe_usage_verdict before = result->verdict;
    result->term_count = 0;
    result->reconciled = false;
    if (terms_take(subject, result, map, false)) {
        struct probe_usage_term terms[PROBE_USAGE_TERMS];
        unsigned count = probe_usage_reconcile(subject, map, terms);
        if (count > 0) {
            memcpy(result->terms, terms, count * sizeof *terms);
            result->term_count = count;
            contradiction_drop(result, before, true);
            (void)terms_take(subject, result, map, true);
            terms_sort(subject, result);
        }
    }
    if (probe_usage_halves_of_three(subject, result, map)) {
        contradiction_drop(result, before, false);
        terms_sort(subject, result);
    }
    probe_usage_halves_join(subject, result, map);
}
