/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_infer.c - from what blockers took to counts of µops, and the checks of these counts. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probe/portmap_steps.h"
#include "probe/usage_steps.h"

static const double UOP_TOLERANCE = 0.4; /* of a count of µops to an integer */
static const double RESIDUAL_MAX = 0.45; /* of a measurement to its prediction, µops */
/* More for each uop beyond two: of many that come at once the scheduler binds some to a port that turns out
 * to be busy. */
static const double RESIDUAL_MORE = 0.15;
/* And of what holds a unit, whose uops come in bursts: a reading may be so far above a count, but hardly
 * below.
 */
static const double UNIT_ABOVE = 0.8, UNIT_BETWEEN = 0.7, UNIT_ABOVE_WIDEST = 1.2, UNIT_RESIDUAL_MORE = 0.3;

/* A set that reads less has none. */
static const double NO_UOP = 0.5;

/* Of a form that writes memory, a store that is seen at all is one. */
static const double STORE_SEEN = 0.25;

/* What unlucky binding of uops adds to a reading, at most. */
static const double EARLY_ABOVE = 0.75;

/* The widest set has all uops that the sets within it have. Beside few of them it is read so well that one
 * which it lacks was none (a slow rhythm). */
static const double WIDEST_LACKS = 0.6, FEW_UOPS = 5;

/* What a form's own throughput may be wrong by where it bounds uops. */
static const double CYCLES_MORE = 1.05, UOPS_MORE = 0.1;

/* Slots that uops leave over before these are doubted. */
static const double UNEXPLAINED_FACTOR = 2, UNEXPLAINED_SLOTS = 4;
enum { MICROCODE_UOPS = 8, GENERAL_BITS = 64 };

void probe_usage_give_up(struct probe_usage *result, enum probe_usage_verdict verdict, const char *why) {
    result->verdict = verdict;
    (void)snprintf(result->why, sizeof result->why, "%s", why);
}

/* Blockers of the widest set leave few issue slots: whatever the front end loses looks like a part of a µop.
 */
bool probe_usage_is_widest(const struct probe_portmap *map, const struct probe_usage_experiment *experiment) {
    return ports_in(experiment->target) + 1.5 > map->issue_width;
}

bool probe_usage_is_load(const struct probe_portmap *map, uint32_t ports) {
    for (unsigned c = 0; c < map->class_count; c++) {
        if (map->classes[c].load && map->classes[c].ports == ports) {
            return true;
        }
    }
    return false;
}

/* Only a load may share the slot of another µop, and a store's address that of its data. All together take no
 * longer than the form does. */
double probe_usage_widest_most(const struct probe_usage *result, const struct probe_portmap *map,
                               unsigned width) {
    double placed = 0, computing = 0, most = INFINITY;
    for (unsigned t = 0; t < result->term_count; t++) {
        bool load = probe_usage_is_load(map, result->terms[t].ports);
        placed += load ? 0 : result->terms[t].uops;
        computing += load || result->terms[t].store ? 0 : result->terms[t].uops;
    }
    if (isfinite(result->slots)) {
        most = round(result->slots) - placed;
    }
    if (isfinite(result->cycles)) {
        most = fmin(most, floor(CYCLES_MORE * result->cycles * width + UOPS_MORE) - computing);
    }
    return fmax(most, 0);
}

static double uops_of(const struct probe_usage *result) {
    return probe_usage_terms_uops(result->terms, result->term_count);
}

/* Stores that the operands in memory need of a form that is no microcode, each of general registers' size.
 * NaN where that is not known. */
static double operands_stores(const struct probe_usage_subject *subject, const struct probe_usage *result) {
    double stores = 0;
    for (unsigned i = 0; i < subject->form->operand_count; i++) {
        const struct isa_operand *operand = &subject->form->operands[i];
        bool plain = !isa_reg_is_vector(operand->reg_class) && operand->bits != 0;
        if (operand->kind == ISA_OPERAND_MEM && operand->write) {
            stores += plain && operand->bits <= GENERAL_BITS ? 1 : NAN;
        }
    }
    return stores > 0 && result->slots < PROBE_USAGE_MICROCODE - 0.5 ? stores : NAN;
}

/* Something is made of what is loaded, or merged with it: a load alone cannot do it. */
static bool computes(const struct isa_form *form) {
    int memory = isa_form_memory_operand(form);
    if (memory < 0 || form->operands[memory].write || form->flags_written != 0) {
        return true;
    }
    for (unsigned i = 0; i < form->explicit_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        bool merges = operand->write && isa_reg_is_gpr(operand->reg_class) && operand->bits < 32;
        if (operand->kind == ISA_OPERAND_REG && (operand->read || merges)) {
            return true;
        }
    }
    return false;
}

/* The most bits that one µop loads here: a load of the map has one. */
static unsigned load_bits(const struct probe_portmap *map) {
    unsigned bits = GENERAL_BITS;
    for (size_t i = 0; i < map->member_count; i++) {
        const struct probe_port_member *member = &map->members[i];
        int memory = member->load && member->class >= 0 ? isa_form_memory_operand(member->form) : -1;
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
    return known && result->slots < PROBE_USAGE_MICROCODE - 0.5 ? loads : INFINITY;
}

double probe_usage_confined_most(const struct probe_usage_subject *subject, const struct probe_usage *result,
                                 const struct probe_portmap *map, uint32_t ports) {
    double timely = floor(CYCLES_MORE * result->cycles * ports_in(ports) + UOPS_MORE); /* NaN: not known */
    double most = fmin(operands_loads(subject, result, map), timely <= 1 ? timely : INFINITY);
    for (unsigned t = 0; t < result->term_count; t++) { /* stores may share the ports */
        bool within = (result->terms[t].ports & ~ports) == 0;
        most += within && !probe_usage_is_load(map, result->terms[t].ports) ? result->terms[t].uops : 0;
    }
    return probe_usage_is_load(map, ports) ? most : INFINITY;
}

/* General registers on one side, others on the other. */
bool probe_usage_crosses(const struct isa_form *form) {
    bool crosses = false;
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

/* A blocker that takes a value from one register file to another keeps more busy than its ports: on a Zen 5
 * the way by which a form of three sources reads the third. A form that does not cross, and waits for it
 * where a wider set shows none of its uops, takes that and no port. */
static bool shares_the_way(const struct probe_usage_subject *subject,
                           const struct probe_usage_experiment *experiment, const struct probe_portmap *map) {
    int member = experiment->members[0];
    bool known = member >= 0 && (size_t)member < map->member_count;
    bool crosses = known && probe_usage_crosses(map->members[member].form);
    bool held = false, seen = false;
    for (unsigned e = 0; e < subject->count && crosses; e++) {
        const struct probe_usage_experiment *outer = &subject->experiments[e];
        bool holds = (experiment->target & ~outer->target) == 0 && experiment->target != outer->target;
        held = held || (holds && isfinite(outer->confined));
        seen = seen || (holds && outer->confined >= NO_UOP); /* NaN is not */
    }
    return held && !seen && !probe_usage_crosses(subject->form);
}

/* The blockers' reading, held within what the issue slots leave. What is only loaded needs no uop beside its
 * loads, and they need all the slots that there are no more of. */
static double widest_count(const struct isa_form *form, const struct probe_usage *result,
                           const struct probe_portmap *map, unsigned width, double reading) {
    bool loads_alone = !computes(form) && round(result->slots) <= uops_of(result);
    return loads_alone ? 0 : fmax(fmin(reading, probe_usage_widest_most(result, map, width)), 0);
}

/* Where readings are upper bounds: a set has no more than any set that holds it. */
static double least_confined(const struct probe_usage_subject *subject,
                             const struct probe_usage_experiment *experiment,
                             const struct probe_portmap *map) {
    double least = experiment->confined;
    for (unsigned e = 0; e < subject->count; e++) {
        const struct probe_usage_experiment *outer = &subject->experiments[e];
        bool holds = (experiment->target & ~outer->target) == 0 && !probe_usage_is_widest(map, outer);
        least = holds ? fmin(least, outer->confined) : least; /* fmin leaves NaN out */
    }
    return least;
}

bool probe_usage_is_of_ports(const struct probe_usage_subject *subject,
                             const struct probe_usage_experiment *experiment,
                             const struct probe_portmap *map) {
    bool memory = experiment->store || probe_usage_is_load(map, experiment->target);
    return experiment->parts != 0 && !memory && !subject->holds_unit &&
           !probe_usage_is_widest(map, experiment) && !shares_the_way(subject, experiment, map);
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
            bool inside = (result->terms[t].ports & ~experiment->target) == 0;
            found += inside ? result->terms[t].uops : 0;
        }
        uops = fmin(uops, probe_usage_confined_most(subject, result, map, experiment->target)) - found;
        uops = experiment->implied || shares_the_way(subject, experiment, map) ? 0 : uops;
        double stores = operands_stores(subject, result);
        /* What is read, changed and written holds up the stores behind it (1.5 of one on a Zen 5). */
        uops = experiment->store && isfinite(stores) && uops > STORE_SEEN ? stores : uops;
        bool unit = subject->holds_unit, doubtful = false;
        if (probe_usage_is_widest(map, experiment)) {
            double nearest = unit ? ceil(uops - UNIT_ABOVE_WIDEST) : round(uops);
            bool lacks = uops < -WIDEST_LACKS && uops_of(result) <= FEW_UOPS;
            uops = widest_count(subject->form, result, map, ports_in(experiment->target), nearest);
            /* Of a unit the slots, which are known, say more. */
            doubtful = !unit && (lacks || fabs(uops - nearest) > 1);
        } else if (bound) {
            double nearest = unit ? fmax(ceil(uops - UNIT_ABOVE), 0)
                                  : probe_usage_early_count(subject, experiment, map, found);
            doubtful = uops < -UNIT_ABOVE || (unit && uops > nearest + UNIT_BETWEEN);
            uops = doubtful ? uops : nearest;
        } else {
            doubtful = fabs(uops - round(uops)) > UOP_TOLERANCE || round(uops) < 0;
        }
        if (doubtful) {
            contradicts = contradicts || of_ports;
            result->verdict = PROBE_USAGE_INCONSISTENT;
            (void)snprintf(result->why, sizeof result->why,
                           "%.2f uops more are confined to a set of %u ports", uops,
                           ports_in(experiment->target));
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
            result->reconciled = true;
            result->verdict = before;
            result->why[0] = '\0';
            (void)terms_take(subject, result, map, true);
            terms_sort(subject, result);
        }
    }
    probe_usage_halves_join(subject, result, map);
}

/* What the terms and slots say that the experiment takes. */
static double predicted(const struct probe_usage *result, const struct probe_portmap *map,
                        const struct probe_usage_experiment *experiment) {
    struct probe_usage_term all[PROBE_USAGE_TERMS + PROBE_USAGE_PARTS];
    unsigned count = 0;
    double slots = isfinite(result->slots) ? experiment->copies * result->slots : 0;
    for (unsigned t = 0; t < result->term_count; t++) {
        all[count] = result->terms[t];
        all[count++].uops *= experiment->copies;
    }
    for (unsigned p = 0; p < experiment->parts; p++) {
        all[count++] = experiment->blocked[p];
        slots += experiment->blocked[p].uops;
    }
    double ports = probe_ports_bound(all, count), issue = slots / map->issue_width;
    return ports > issue ? ports : issue;
}

/* What an early binding adds is no contradiction. */
static void residual_take(const struct probe_usage_subject *subject, struct probe_usage *result,
                          const struct probe_portmap *map, const struct probe_usage_experiment *experiment) {
    bool bounded = experiment->confined > probe_usage_confined_most(subject, result, map, experiment->target);
    bool plain = !experiment->store && !bounded && !probe_usage_is_widest(map, experiment) &&
                 !shares_the_way(subject, experiment, map);
    if (isfinite(experiment->cycles) && plain) {
        double more = (experiment->cycles - predicted(result, map, experiment)) *
                      ports_in(experiment->target) / experiment->copies;
        double above = EARLY_ABOVE * fmax(uops_of(result), 1);
        bool early = subject->binds_early || experiment->delays;
        above = early ? above : 0;
        if (result->reconciled) {
            above = fmax(above, probe_usage_waits(result->terms, result->term_count, experiment->target));
        }
        double distance = more > 0 ? fmax(more - above, 0) : fabs(more);
        result->residual = distance > result->residual ? distance : result->residual;
    }
}

/* -- What the issue width hides ----------------------------------------------------------------------- */

/* Does a form of general registers block the class? Masks and MMX compute where vectors do, and tie no scalar
 * to it. */
static bool blocks_scalars(const struct probe_portmap *map, const struct probe_port_class *class) {
    int scalar = class->blocker[0];
    bool known = scalar >= 0 && (size_t)scalar < map->member_count;
    return scalar >= 0 && !(known && probe_port_is_of_masks(map->members[scalar].form));
}

/* The ports of all classes with a member of these worlds, but for those of memory. */
static uint32_t computing_ports(const struct probe_portmap *map, unsigned worlds) {
    uint32_t all = 0;
    for (unsigned c = 0; c < map->class_count; c++) {
        const struct probe_port_class *class = &map->classes[c];
        bool memory = class->load || class->store;
        bool fits =
            (class->worlds & worlds) != 0 && (worlds != PROBE_PORTS_SCALAR || blocks_scalars(map, class));
        all |= fits && !memory ? class->ports : 0;
    }
    return all;
}

/* Scalar and vector instructions may have no port in common: each kind has what its own use. */
static const unsigned KINDS[] = {PROBE_PORTS_SCALAR, PROBE_PORTS_VECTOR | PROBE_PORTS_WIDE};
enum { KIND_COUNT = sizeof KINDS / sizeof KINDS[0] };

bool probe_usage_issue_is_narrow(const struct probe_portmap *map) {
    return ports_in(computing_ports(map, UINT_MAX)) >= round(map->issue_width);
}

/* A NOP needs no port. */
static bool has_a_result(const struct isa_form *form) {
    bool any = form->flags_written != 0;
    for (unsigned i = 0; i < form->operand_count; i++) {
        any = any || form->operands[i].write;
    }
    return any;
}

/* A form of one uop for so many ports would be as fast as instructions are issued. Where not one candidate
 * is, no form is known to have such a set: as of any other set, none is looked for. */
uint32_t probe_usage_hidden_ports(const struct probe_portmap *map) {
    static const double spare = 0.5; /* a port less than the issue width is seen */
    uint32_t hidden = 0;
    for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
        bool any = false;
        for (size_t i = 0; i < map->member_count; i++) {
            const struct probe_port_member *member = &map->members[i];
            bool fast = member->cycles * (round(map->issue_width) - spare) < 1;
            any = any || (fast && member->class < 0 && (member->world & KINDS[kind]) != 0 &&
                          has_a_result(member->form));
        }
        uint32_t ports = computing_ports(map, KINDS[kind]);
        hidden |= any && ports_in(ports) >= round(map->issue_width) ? ports : 0;
    }
    return hidden;
}

/* uops in issue slots that no other term needs: none, or as many as there are such slots. A load may share
 * the slot of what it feeds, a store's data that of its address. */
static void hidden_infer(const struct isa_form *form, struct probe_usage *result,
                         const struct probe_portmap *map) {
    uint32_t ports = probe_usage_hidden_ports(map);
    double free_slots = isfinite(result->slots) ? round(result->slots) : 0, loads = 0;
    for (unsigned t = 0; t < result->term_count; t++) {
        bool load = probe_usage_is_load(map, result->terms[t].ports);
        loads += load ? result->terms[t].uops : 0;
        free_slots -= load ? 0 : result->terms[t].uops;
    }
    if (ports == 0 || free_slots < 1 || result->term_count == PROBE_USAGE_TERMS) {
        return;
    }
    double likely = computes(form) ? free_slots : free_slots - loads;
    result->hidden_ports = ports;
    result->hidden_most = free_slots;
    if (likely > 0) {
        result->terms[result->term_count++] = (struct probe_usage_term){.ports = ports, .uops = likely};
    }
    (void)snprintf(result->why, sizeof result->why,
                   "0 to %.0f uops may go to any of %u ports, or to none: the issue width hides which",
                   free_slots, ports_in(ports));
}

/* The operand in memory of a form that goes there each time it runs; NULL: none. A repeated one goes as often
 * as its counter says, perhaps never. */
static const struct isa_operand *memory_of(const struct isa_form *form) {
    int operand = isa_form_memory_operand(form);
    bool goes = operand >= 0 && form->operands[operand].kind == ISA_OPERAND_MEM &&
                strncmp(form->prefix, "rep", 3) != 0;
    return goes ? &form->operands[operand] : NULL;
}

/* A form that reads memory has a load: where nothing was seen on a load's ports (a store may share one: a Zen
 * has one address for what is read, changed and written), its count went wrong. */
static bool load_missing(const struct isa_form *form, const struct probe_usage *result,
                         const struct probe_portmap *map) {
    const struct isa_operand *memory = memory_of(form);
    bool known = false, seen = false;
    for (unsigned c = 0; c < map->class_count; c++) {
        known = known || map->classes[c].load;
        for (unsigned t = 0; t < result->term_count; t++) {
            seen = seen || (map->classes[c].load && (result->terms[t].ports & ~map->classes[c].ports) == 0);
        }
    }
    return known && !seen && memory != NULL && memory->read;
}

static bool is_of_vectors(const struct probe_usage_subject *subject) {
    return subject->legacy || subject->world != PROBE_PORTS_SCALAR;
}

/* A form of vectors that touches no memory has no loads (of general registers microcode may: LAR). What seems
 * to be some is time in which its microcode keeps all others from being issued, and its other counts are as
 * wrong. */
static bool load_absurd(const struct probe_usage_subject *subject, const struct probe_usage *result,
                        const struct probe_portmap *map) {
    bool seen = false;
    for (unsigned t = 0; t < result->term_count; t++) {
        seen = seen || probe_usage_is_load(map, result->terms[t].ports);
    }
    return is_of_vectors(subject) && seen && isa_form_memory_operand(subject->form) < 0;
}

/* Of vectors, one that works on what it loads and on a register, or merges the two, and the µop that does.
 * (Of general registers the issue width may hide it.) */
static bool work_missing(const struct probe_usage_subject *subject, const struct probe_usage *result,
                         const struct probe_portmap *map) {
    const struct isa_operand *memory = memory_of(subject->form);
    uint32_t ports = computing_ports(map, PROBE_PORTS_VECTOR | PROBE_PORTS_WIDE);
    bool works = false, seen = ports_in(ports) >= round(map->issue_width);
    for (unsigned i = 0; i < subject->form->explicit_count; i++) {
        const struct isa_operand *operand = &subject->form->operands[i];
        works = works || (operand->kind == ISA_OPERAND_REG && operand->read && !operand->mask);
    }
    for (unsigned t = 0; t < result->term_count; t++) {
        seen = seen || !probe_usage_is_load(map, result->terms[t].ports);
    }
    return is_of_vectors(subject) && works && !seen && result->term_count > 0 && memory != NULL &&
           memory->read && !memory->write;
}

/* The same of a form that writes memory, and a store. */
static bool store_missing(const struct isa_form *form, const struct probe_usage *result,
                          const struct probe_portmap *map) {
    const struct isa_operand *memory = memory_of(form);
    bool known = false, seen = false;
    for (unsigned c = 0; c < map->class_count; c++) {
        known = known || map->classes[c].store;
    }
    for (unsigned t = 0; t < result->term_count; t++) {
        seen = seen || result->terms[t].store;
    }
    return known && !seen && memory != NULL && memory->write;
}

/* Of microcode: a few uops may need no port, but not most. How many slots it takes, vague as that is, tells
 * whether some use sets that nobody looked for. */
static bool slots_unexplained(const struct probe_usage_subject *subject, double uops,
                              const struct probe_portmap *map) {
    if (subject->holds_unit) {
        return ceil(subject->result->slots - UNIT_ABOVE) > uops;
    }
    double error = probe_usage_error(&subject->issue), slots = subject->issue.confined;
    bool known = isfinite(error) && isfinite(slots) && probe_usage_hidden_ports(map) == 0;
    return known && uops >= MICROCODE_UOPS && slots > UNEXPLAINED_FACTOR * uops &&
           slots - uops > UNEXPLAINED_SLOTS + 3 * error;
}

/* Is this the only port of what the form computes, and no class's (so that two sets told it), and the form
 * slower than that? It keeps the port busy for more than a cycle: one uop counts as several. */
static bool holds_a_port(const struct probe_usage *result, const struct probe_portmap *map) {
    unsigned computing = 0;
    bool holds = result->slower;
    for (unsigned t = 0; t < result->term_count; t++) {
        if (!result->terms[t].store && !probe_usage_is_load(map, result->terms[t].ports)) {
            computing++;
            holds = holds && ports_in(result->terms[t].ports) == 1;
            for (unsigned c = 0; c < map->class_count; c++) {
                holds = holds && map->classes[c].ports != result->terms[t].ports;
            }
        }
    }
    return computing == 1 && holds;
}

static double residual_most(const struct probe_usage_subject *subject, double uops) {
    return RESIDUAL_MAX + (uops > 2 ? RESIDUAL_MORE * (uops - 2) : 0) +
           (subject->holds_unit ? UNIT_RESIDUAL_MORE : 0);
}

bool probe_usage_runs_faster(const struct probe_usage *result) {
    return result->cycles < 0.95 * result->expected_cycles - 0.03;
}

static void expected_take(struct probe_usage *result, const struct probe_portmap *map) {
    struct probe_usage_experiment alone = {.copies = 1, .target = 1};
    result->expected_cycles = predicted(result, map, &alone);
    result->slower = result->cycles > 1.1 * result->expected_cycles + 0.05;
}

/* All stores are counted by plain ones, at places where one takes as long as another. What then is slower
 * than its ports, and would not be with the fewer ports of another class of stores, is of that class: a Zen 4
 * does two stores of general registers in a cycle, and one of vectors. Stores of 512 bits are told with the
 * others.
 */
static void stores_narrow(struct probe_usage *result, const struct probe_portmap *map) {
    for (unsigned t = 0; t < result->term_count && result->slower; t++) {
        for (unsigned c = 0; c < map->class_count && result->terms[t].store && result->slower; c++) {
            const struct probe_port_class *class = &map->classes[c];
            const uint32_t ports = result->terms[t].ports;
            if (!class->store || class->worlds == PROBE_PORTS_WIDE || class->ports == ports ||
                (class->ports & ~ports) != 0) {
                continue;
            }
            struct probe_usage with = *result;
            with.terms[t].ports = class->ports;
            expected_take(&with, map);
            if (!with.slower && !probe_usage_runs_faster(&with)) {
                *result = with;
            }
        }
    }
}

void probe_usage_verify(const struct probe_usage_subject *subject, struct probe_usage *result,
                        const struct probe_portmap *map) {
    unsigned measured = 0, missing = 0;
    result->residual = 0;
    result->hidden_ports = 0;
    result->hidden_most = 0;
    for (unsigned e = 0; e < subject->count; e++) {
        residual_take(subject, result, map, &subject->experiments[e]);
        const struct probe_usage_experiment *experiment = &subject->experiments[e];
        bool early = subject->binds_early || experiment->delays;
        bool read = isfinite(experiment->cycles) && (early || !probe_usage_disagrees(experiment));
        bool by_slots = probe_usage_is_widest(map, experiment) && subject->holds_unit;
        bool known = read || experiment->implied || by_slots;
        measured += known;
        missing += !known && subject->experiments[e].members[0] >= 0;
    }
    result->read = measured;
    result->unread = missing;
    unsigned checked = 0;
    for (unsigned i = 0; i < subject->check_count; i++) {
        if (probe_usage_believed(&subject->checks[i])) {
            residual_take(subject, result, map, &subject->checks[i]);
            checked++;
        }
    }
    double uops = uops_of(result);
    expected_take(result, map);
    stores_narrow(result, map);
    if (result->verdict != PROBE_USAGE_OK) {
        return;
    }
    if (measured == 0) {
        probe_usage_give_up(result, PROBE_USAGE_UNKNOWN, "no blocker could run beside it long enough");
    } else if (missing > 0) {
        (void)snprintf(result->why, sizeof result->why,
                       "%u of %u sets of ports could not be kept busy beside it", missing,
                       measured + missing);
        result->verdict = PROBE_USAGE_INCONSISTENT;
    } else if (result->term_count == 0 && !isfinite(result->cycles) && !isfinite(result->slots)) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT,
                            "no port was seen busy, and what it takes could not be measured");
    } else if (load_missing(subject->form, result, map)) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT, "it reads memory, and no load was seen");
    } else if (work_missing(subject, result, map)) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT,
                            "it works on what it loads, and no uop was seen that does");
    } else if (load_absurd(subject, result, map)) {
        probe_usage_give_up(
            result, PROBE_USAGE_INCONSISTENT,
            "it reads no memory, and loads were kept from their ports: nothing else is issued "
            "beside its microcode");
    } else if (store_missing(subject->form, result, map)) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT, "it writes memory, and no store was seen");
    } else if (subject->binds_early && uops > PROBE_USAGE_EARLY_UOPS) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT, PROBE_USAGE_EARLY_WHY);
    } else if (result->residual > residual_most(subject, uops)) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT,
                            "a mix takes longer or shorter than these ports say");
    } else if (subject->check_count > 0 && checked == 0) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT,
                            "no mix that would check the answer could be measured");
    } else if (probe_usage_runs_faster(result)) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT, "it runs faster than these ports allow");
    } else if (isa_form_memory_operand(subject->form) < 0 && !probe_usage_crosses(subject->form) &&
               !holds_a_port(result, map) &&
               uops > probe_usage_slot_uops_most(subject, result, map) * result->slots + 0.5 +
                          probe_usage_error(&subject->issue)) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT, "it has fewer issue slots than uops");
    } else if (subject->many && !isfinite(subject->issue.confined)) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT,
                            "too slow for its issue slots to be read, which would bound its uops");
    } else if (slots_unexplained(subject, uops, map)) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT,
                            "it takes more issue slots than uops were found for");
    } else {
        hidden_infer(subject->form, result, map);
    }
}
