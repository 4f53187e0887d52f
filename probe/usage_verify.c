/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_verify.c - does a form's usage give back all that was measured of it, and can it be true? */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probe/portmap_steps.h"
#include "probe/usage_steps.h"

static const double RESIDUAL_MAX = 0.45; /* of a measurement to its prediction, µops */
/* More for each uop beyond two: of many that come at once the scheduler binds some to a port that turns out
 * to be busy. */
static const double RESIDUAL_MORE = 0.15;
/* And of what holds a unit, whose uops come in bursts. */
static const double UNIT_RESIDUAL_MORE = 0.3;

/* What unlucky binding of uops adds to a reading, at most. */
static const double EARLY_ABOVE = 0.75;

/* Slots that uops leave over before these are doubted; so far above their number are those of a unit. */
static const double UNEXPLAINED_FACTOR = 2, UNEXPLAINED_SLOTS = 4, UNIT_SLOTS_ABOVE = 0.8;
enum { MICROCODE_UOPS = 8 };

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
    double ports = probe_ports_bound(all, count, NULL), issue = slots / map->issue_width;
    return ports > issue ? ports : issue;
}

/* What an early binding adds is no contradiction. */
static void residual_take(const struct probe_usage_subject *subject, struct probe_usage *result,
                          const struct probe_portmap *map, const struct probe_usage_experiment *experiment) {
    bool bounded = experiment->confined > probe_usage_confined_most(subject, result, map, experiment);
    bool plain = !experiment->store && !bounded && !probe_usage_is_widest(map, experiment) &&
                 !probe_usage_shares_the_way(subject, experiment, map);
    if (isfinite(experiment->cycles) && plain) {
        double more = (experiment->cycles - predicted(result, map, experiment)) *
                      ports_in(experiment->target) / experiment->copies;
        double above = EARLY_ABOVE * fmax(probe_usage_terms_uops(result->terms, result->term_count), 1);
        bool early = subject->binds_early || experiment->delays;
        above = early ? above : 0;
        if (result->reconciled || subject->delays != 0) {
            above = fmax(above, probe_usage_waits(result->terms, result->term_count, experiment->target));
        }
        double distance = more > 0 ? fmax(more - above, 0) : fabs(more);
        result->residual = distance > result->residual ? distance : result->residual;
    }
}

/* The operand in memory of a form that goes there each time it runs; NULL: none. A repeated one goes as often
 * as its counter says, perhaps never, and a hint only where the CPU takes it. */
static const struct isa_operand *memory_of(const struct isa_form *form) {
    int operand = isa_form_memory_operand(form);
    bool hint = strncmp(form->mnemonic, "prefetch", 8) == 0 || strcmp(form->mnemonic, "cldemote") == 0;
    bool goes = operand >= 0 && form->operands[operand].kind == ISA_OPERAND_MEM &&
                strncmp(form->prefix, "rep", 3) != 0 && !hint;
    return goes ? &form->operands[operand] : NULL;
}

/* Did candidates for loads, or for stores, run? Those that have no class have ports all the same. */
static bool memory_ran(const struct probe_portmap *map, bool stores) {
    bool ran = false;
    for (size_t i = 0; i < map->member_count; i++) {
        const struct probe_port_member *member = &map->members[i];
        ran = ran || ((stores ? member->store : member->load) && isfinite(member->cycles));
    }
    return ran;
}

/* A form that reads memory has a load: where nothing was seen on a load's ports (a store may share one: a Zen
 * has one address for what is read, changed and written), its count went wrong, or the map has lost them. */
static bool load_missing(const struct isa_form *form, const struct probe_usage *result,
                         const struct probe_portmap *map) {
    const struct isa_operand *memory = memory_of(form);
    bool known = memory_ran(map, false), seen = false;
    for (unsigned c = 0; c < map->class_count; c++) {
        known = known || map->classes[c].load;
        for (unsigned t = 0; t < result->term_count; t++) {
            seen =
                seen || (map->classes[c].load && ports_within(result->terms[t].ports, map->classes[c].ports));
        }
    }
    return known && !seen && memory != NULL && memory->read;
}

bool probe_usage_is_of_vectors(const struct probe_usage_subject *subject) {
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
    return probe_usage_is_of_vectors(subject) && seen && isa_form_memory_operand(subject->form) < 0;
}

static bool seen_computing(const struct probe_usage *result, const struct probe_portmap *map) {
    for (unsigned t = 0; t < result->term_count; t++) {
        if (!result->terms[t].store && !probe_usage_is_load(map, result->terms[t].ports)) {
            return true;
        }
    }
    return false;
}

/* Of vectors, one that works on what it loads and on a register, or merges the two, and the µop that does. */
static bool vector_work_missing(const struct probe_usage_subject *subject, const struct probe_usage *result,
                                const struct probe_portmap *map) {
    const struct isa_operand *memory = memory_of(subject->form);
    uint32_t ports = probe_usage_computing_ports(map, PROBE_PORTS_VECTOR | PROBE_PORTS_WIDE);
    bool works = false, seen = ports_fill_issue(ports, map) || probe_usage_vectors_are_hidden(map) ||
                               seen_computing(result, map);
    for (unsigned i = 0; i < subject->form->explicit_count; i++) {
        const struct isa_operand *operand = &subject->form->operands[i];
        works = works || (operand->kind == ISA_OPERAND_REG && operand->read && !operand->mask);
    }
    for (unsigned t = 0; t < result->term_count; t++) {
        seen = seen || result->terms[t].store;
    }
    return probe_usage_is_of_vectors(subject) && works && !seen && result->term_count > 0 && memory != NULL &&
           memory->read && !memory->write;
}

bool probe_usage_scalars_are_hidden(const struct probe_portmap *map) {
    const uint32_t ports = probe_usage_computing_ports(map, PROBE_PORTS_SCALAR);
    return ports == 0 || ports_fill_issue(ports, map) || probe_usage_flags_are_hidden(map);
}

/* Of general registers, one that makes flags or something of them, and is not done at rename. */
static bool scalar_work_missing(const struct probe_usage_subject *subject, const struct probe_usage *result,
                                const struct probe_portmap *map) {
    return !probe_usage_is_of_vectors(subject) && probe_usage_works_with_flags(subject->form) &&
           !subject->renamed && !seen_computing(result, map) && !probe_usage_scalars_are_hidden(map);
}

/* A form that makes a value for a general register and takes longer than its slots: no move that rename
 * removes.
 */
static bool ports_missing(const struct probe_usage_subject *subject, const struct probe_usage *result,
                          const struct probe_portmap *map) {
    static const double longer = 1.25;
    bool general = false;
    for (unsigned i = 0; i < subject->form->explicit_count; i++) {
        const struct isa_operand *operand = &subject->form->operands[i];
        general = general ||
                  (operand->kind == ISA_OPERAND_REG && operand->write && isa_reg_is_gpr(operand->reg_class));
    }
    return general && result->term_count == 0 && !probe_usage_scalars_are_hidden(map) &&
           result->cycles > longer * fmax(round(result->slots), 1) / map->issue_width;
}

/* The same of a form that writes memory, and a store. */
static bool store_missing(const struct isa_form *form, const struct probe_usage *result,
                          const struct probe_portmap *map) {
    const struct isa_operand *memory = memory_of(form);
    bool known = memory_ran(map, true), seen = false;
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
        return ceil(subject->result->slots - UNIT_SLOTS_ABOVE) > uops;
    }
    double error = probe_usage_error(&subject->issue), slots = subject->issue.confined;
    bool known = isfinite(error) && isfinite(slots) && probe_usage_hidden_ports(map, subject->form) == 0;
    return known && uops >= MICROCODE_UOPS && slots > UNEXPLAINED_FACTOR * uops &&
           slots - uops > UNEXPLAINED_SLOTS + 3 * error;
}

bool probe_usage_holds_a_port(const struct isa_form *form, const struct probe_usage *result,
                              const struct probe_portmap *map) {
    unsigned held = 0;
    double others = 0;
    for (unsigned t = 0; t < result->term_count; t++) {
        const struct probe_usage_term *term = &result->terms[t];
        bool memory = term->store || probe_usage_is_load(map, term->ports);
        bool own = ports_in(term->ports) == 1 && probe_usage_class_of(map, term->ports) < 0;
        held += !memory && own;
        others += !memory && !own ? term->uops : 0;
    }
    bool notes = others == 1 && probe_usage_slotless(form) == 1; /* the address */
    return held == 1 && (others == 0 || notes) && result->slower;
}

/* uops with issue slots of their own: loads and stores may share those of others. Microcode that goes to
 * memory counts its slots in its own way. */
static double uops_with_slots(const struct probe_usage_subject *subject, const struct probe_usage *result,
                              const struct probe_portmap *map) {
    bool memory = isa_form_memory_operand(subject->form) >= 0;
    double uops = 0;
    if (memory && !(result->slots < PROBE_USAGE_MICROCODE - 0.5)) {
        return 0;
    }
    for (unsigned t = 0; t < result->term_count; t++) {
        const struct probe_usage_term *term = &result->terms[t];
        bool shares = memory && (term->store || probe_usage_is_load(map, term->ports));
        uops += shares ? 0 : term->uops;
    }
    return uops;
}

/* Has it more uops that may go anywhere than the slots leave, which are not told, for readings disagree? What
 * holds up the front end adds to all of these readings, and keeps the blockers of the widest set waiting. */
static bool widest_exceeds_slots(const struct probe_usage_subject *subject, const struct probe_usage *result,
                                 const struct probe_portmap *map) {
    static const double by_chance = 1.5;
    double uops = 0;
    bool widest = false;
    for (unsigned t = 0; t < result->term_count; t++) {
        const struct probe_usage_term *term = &result->terms[t];
        const struct probe_usage_experiment set = {.target = term->ports};
        bool memory = term->store || probe_usage_is_load(map, term->ports);
        widest = widest || (!memory && probe_usage_is_widest(map, &set));
        uops += memory ? 0 : term->uops;
    }
    return isnan(result->slots) && widest && uops > probe_usage_agreed(&subject->issue) + by_chance;
}

static double residual_most(const struct probe_usage_subject *subject, double uops) {
    return RESIDUAL_MAX + (uops > 2 ? RESIDUAL_MORE * (uops - 2) : 0) +
           (subject->holds_unit ? UNIT_RESIDUAL_MORE : 0);
}

static bool is_faster(double cycles, double expected_cycles) {
    return cycles < 0.95 * expected_cycles - 0.03;
}

bool probe_usage_runs_faster(const struct probe_usage *result) {
    return is_faster(result->cycles, result->expected_cycles);
}

/* Nothing takes less time alone than its issue slots: such slots were read wrong, and are not told (those of
 * MMX seem to be nearly two among NOPs on a Zen 4, and four instructions run in a cycle). */
static void slots_refute(struct probe_usage *result, const struct probe_portmap *map) {
    if (result->slots < PROBE_USAGE_MICROCODE &&
        is_faster(result->cycles, result->slots / map->issue_width)) {
        result->slots = NAN;
    }
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
                !ports_within(class->ports, ports)) {
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
    (void)snprintf(result->how, sizeof result->how, "%u set%s, %u mix%s to check", measured,
                   measured == 1 ? "" : "s", checked, checked == 1 ? "" : "es");
    double uops = probe_usage_terms_uops(result->terms, result->term_count);
    slots_refute(result, map);
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
    } else if (vector_work_missing(subject, result, map)) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT,
                            "it works on what it loads, and no uop was seen that does");
    } else if (scalar_work_missing(subject, result, map)) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT, "it computes, and no uop was seen that does");
    } else if (ports_missing(subject, result, map)) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT,
                            "no port was seen busy, and it takes longer than its issue slots");
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
    } else if (!probe_usage_holds_a_port(subject->form, result, map) &&
               uops_with_slots(subject, result, map) >
                   probe_usage_slot_uops_most(subject, result, map) * result->slots + 0.5 +
                       probe_usage_slotless(subject->form) + probe_usage_error(&subject->issue)) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT, "it has fewer issue slots than uops");
    } else if (widest_exceeds_slots(subject, result, map)) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT,
                            "the front end is held up: it has more uops than its issue slots can be");
    } else if (subject->many && !isfinite(subject->issue.confined)) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT, PROBE_USAGE_SLOW_WHY);
    } else if (slots_unexplained(subject, uops, map)) {
        probe_usage_give_up(result, PROBE_USAGE_INCONSISTENT,
                            "it takes more issue slots than uops were found for");
    } else {
        probe_usage_hidden_infer(subject->form, result, map);
    }
}
