/* SPDX-License-Identifier: Apache-2.0 */
/* probe/portmap_solve.c - the smallest sets of ports that explain how many ports classes use together. */
#include <string.h>

#include "probe/portmap_steps.h"

static int position_of(const unsigned *classes, unsigned count, unsigned class) {
    for (unsigned i = 0; i < count; i++) {
        if (classes[i] == class) {
            return (int)i;
        }
    }
    return -1;
}

/* The problem of some of the classes: what was read of their pairs and triples. */
static void problem_make(const struct probe_port_unions *unions, const unsigned *classes, unsigned count,
                         struct probe_portset_problem *problem) {
    memset(problem, 0, sizeof *problem);
    problem->count = count;
    for (unsigned i = 0; i < count; i++) {
        problem->width[i] = (uint8_t)unions->mapper->map->classes[classes[i]].width;
        for (unsigned j = 0; j < count; j++) {
            problem->together[i][j] = unions->pairs.together[classes[i]][classes[j]];
            problem->at_least[i][j] = unions->pairs.at_least[classes[i]][classes[j]];
        }
    }
    for (unsigned i = 0; i < unions->tried_count; i++) {
        const struct probe_portset_triple *triple = &unions->tried[i];
        int a = position_of(classes, count, triple->a), b = position_of(classes, count, triple->b);
        int c = position_of(classes, count, triple->c);
        if (triple->at_least != 0 && a >= 0 && b >= 0 && c >= 0) {
            problem->triples[problem->triple_count++] = (struct probe_portset_triple){
                (uint8_t)a, (uint8_t)b, (uint8_t)c, triple->ports, triple->at_least};
        }
    }
}

/* The class without which the others have sets of ports, of several the one with fewest members; -1: each
 * time there are none. */
static int culprit_find(const struct probe_port_unions *unions, const unsigned *classes, unsigned count) {
    const struct probe_portmap *map = unions->mapper->map;
    int culprit = -1;
    for (unsigned without = 0; without < count; without++) {
        unsigned others[PROBE_PORTSET_CLASSES], other_count = 0, ignored = 0;
        unsigned members = map->classes[classes[without]].members;
        if (culprit >= 0 && members >= map->classes[culprit].members) {
            continue;
        }
        for (unsigned i = 0; i < count; i++) {
            if (i != without) {
                others[other_count++] = classes[i];
            }
        }
        struct probe_portset_problem problem;
        struct probe_portset_solution solution = {0};
        problem_make(unions, others, other_count, &problem);
        if (probe_portset_solve(&problem, &solution, &ignored)) {
            culprit = (int)classes[without];
        }
    }
    return culprit;
}

static void class_forget(struct probe_port_unions *unions, unsigned number) {
    struct probe_portmap *map = unions->mapper->map;
    ip_lines_printf(&map->notes,
                    "the unions of '%s' with other classes contradict those of the others and are left out",
                    probe_port_class_best(map, number)->form->syntax);
    map->classes[number].contradicted = true;
    probe_port_unions_forget(unions, number);
}

/* Solves for the classes. One that contradicts the others is measured again. If it still does, and one class
 * is all that stands in the way, that is the *culprit (else -1), and there is no solution; if not, what
 * contradicts is left out. */
static enum ip_status part_solve(struct probe_port_unions *unions, const unsigned *classes, unsigned count,
                                 struct probe_portset_solution *solution, int *culprit,
                                 struct ip_error *err) {
    struct probe_portset_problem problem;
    unsigned conflict = 0;
    unsigned forgotten = 0;
    *culprit = -1;
    problem_make(unions, classes, count, &problem);
    while (!probe_portset_solve(&problem, solution, &conflict)) {
        unsigned class = classes[conflict];
        if (!unions->again[class]) {
            unions->again[class] = true;
            enum ip_status status = probe_port_pairs_measure(unions, (int)class, err);
            status = status == IP_OK ? probe_port_triples_measure(unions, 0, (int)class, err) : status;
            if (status != IP_OK) {
                return status;
            }
        } else if ((*culprit = culprit_find(unions, classes, count)) >= 0) {
            return IP_OK;
        } else if (++forgotten > count / 4 + 1) {
            return ip_fail(
                err, IP_UNTRUSTED,
                "no set of ports explains the measured unions; leave the machine idle and try again");
        } else {
            class_forget(unions, class);
        }
        problem_make(unions, classes, count, &problem);
    }
    return IP_OK;
}

/* Loads and stores are solved apart: on every CPU known so far they have ports of their own, and their mixes
 * suffer from more than ports, so that a single reading proves nothing. Many of them do: that is told. */
static void sharing_note(const struct probe_port_unions *unions, unsigned class) {
    struct probe_portmap *map = unions->mapper->map;
    unsigned known = 0, shared = 0;
    for (unsigned other = 0; other < map->class_count; other++) {
        unsigned together = unions->pairs.together[class][other];
        if (!probe_port_is_memory(&map->classes[other]) && together != 0) {
            known++;
            shared += together < map->classes[class].width + map->classes[other].width;
        }
    }
    if (shared * 2 > known) {
        ip_lines_printf(&map->notes,
                        "%s seem to share ports with %u of %u classes; they were taken to have their own",
                        map->classes[class].load ? "loads" : "stores", shared, known);
    }
}

static bool same_in_all(const struct probe_portset_solution *solution, unsigned a, unsigned b) {
    for (unsigned s = 0; s < solution->count; s++) {
        if (solution->sets[s][a] != solution->sets[s][b]) {
            return false;
        }
    }
    return solution->more != PROBE_PORTSET_MORE;
}

/* Classes of different worlds meet in no kernel; their sets may turn out to be equal nevertheless. */
static void solved_merge(struct probe_portmap *map) {
    struct probe_portset_solution *solution = &map->alternatives;
    for (unsigned a = 0; a < map->class_count; a++) {
        for (unsigned b = map->class_count - 1; b > a; b--) {
            if (map->classes[a].load == map->classes[b].load &&
                map->classes[a].store == map->classes[b].store && same_in_all(solution, a, b)) {
                probe_port_classes_merge(map, a, b);
                for (unsigned s = 0; s < solution->count; s++) {
                    memmove(&solution->sets[s][b], &solution->sets[s][b + 1],
                            (map->class_count - b) * sizeof solution->sets[s][b]);
                }
            }
        }
    }
}

/* One part's sets in one system. Ports that its first system has stand from `first` on, so many of them; what
 * this one has more, from `extra` on. Returns behind the last of these. */
static unsigned part_join(const uint32_t *part, const unsigned *classes, unsigned count, unsigned ports,
                          unsigned first, unsigned extra, uint64_t *sets) {
    const uint64_t own = (UINT64_C(1) << ports) - 1;
    uint64_t all = 0;
    for (unsigned i = 0; i < count; i++) {
        all |= part[i] & ~own;
        sets[classes[i]] = (part[i] & own) << first | (part[i] & ~own) >> ports << extra;
    }
    return all != 0 ? extra + 64 - ports - (unsigned)__builtin_clzll(all) : extra;
}

/* Those that are solved together, in all systems that explain them. */
struct part {
    const unsigned *classes;
    unsigned count;
    struct probe_portset_solution solution;
};

/* The classes' sets in one system of each part: first all ports of the first systems, then what larger ones
 * have more. Returns whether so many ports have a place. */
static bool system_join(const struct part *core, unsigned core_system, const struct part *memory,
                        unsigned memory_system, uint32_t sets[PROBE_PORTSET_CLASSES]) {
    uint64_t joined[PROBE_PORTSET_CLASSES] = {0};
    const unsigned cores = core->solution.ports, both = cores + memory->solution.ports;
    unsigned behind =
        part_join(core->solution.sets[core_system], core->classes, core->count, cores, 0, both, joined);
    behind = part_join(memory->solution.sets[memory_system], memory->classes, memory->count, both - cores,
                       cores, behind, joined);
    for (unsigned c = 0; c < PROBE_PORTSET_CLASSES; c++) {
        sets[c] = (uint32_t)joined[c];
    }
    return behind <= PROBE_PORTSET_PORTS;
}

static void system_add(struct probe_portset_solution *all, const struct part *core, unsigned core_system,
                       const struct part *memory, unsigned memory_system) {
    uint32_t sets[PROBE_PORTSET_CLASSES];
    if (!system_join(core, core_system, memory, memory_system, sets)) {
        all->more = PROBE_PORTSET_MORE;
        return;
    }
    memcpy(all->sets[all->count++], sets, sizeof sets);
}

static enum probe_portset_more more_of(enum probe_portset_more one, enum probe_portset_more other) {
    bool any = one == PROBE_PORTSET_MORE || other == PROBE_PORTSET_MORE;
    return any ? PROBE_PORTSET_MORE : one != PROBE_PORTSET_NO_MORE ? one : other;
}

/* Puts the two parts together: each system of one with each of the other, those that differ least from the
 * first before all others; or, where they are more than are kept, each at least once. */
static void solutions_join(struct probe_portmap *map, const struct part *core, const struct part *memory) {
    struct probe_portset_solution *all = &map->alternatives;
    const unsigned cores = core->solution.count;
    const unsigned memories = memory->count > 0 ? memory->solution.count : 1;
    const bool too_many = cores * memories > PROBE_PORTSET_SOLUTIONS;
    memset(all, 0, sizeof *all);
    all->ports = core->solution.ports + memory->solution.ports;
    all->more = more_of(more_of(core->solution.more, memory->solution.more),
                        too_many ? PROBE_PORTSET_MORE_ALIKE : PROBE_PORTSET_NO_MORE);
    for (unsigned s = 0; too_many && (s < cores || s < memories); s++) {
        system_add(all, core, s < cores ? s : 0, memory, s < memories ? s : 0);
    }
    for (unsigned apart = 0; !too_many && apart + 1 < cores + memories; apart++) {
        for (unsigned s = 0; s < cores && s <= apart; s++) {
            if (apart - s < memories) {
                system_add(all, core, s, memory, apart - s);
            }
        }
    }
}

static void hidden_add(const struct probe_port_unions *unions, const unsigned *classes, unsigned count,
                       struct probe_portset_solution *solution) {
    struct probe_portset_problem problem;
    problem_make(unions, classes, count, &problem);
    probe_port_hidden_add(&problem, unions->mapper->map->issue_width, solution);
}

static enum ip_status core_solve(struct probe_port_unions *unions, const unsigned *core, unsigned count,
                                 struct probe_portset_solution *solution, int *culprit,
                                 struct ip_error *err) {
    enum ip_status status = IP_OK;
    unsigned fresh = probe_port_triples_choose(unions, core, NULL, count);
    if (fresh < unions->tried_count) {
        status = probe_port_triples_measure(unions, fresh, -1, err);
    }
    status = status == IP_OK ? part_solve(unions, core, count, solution, culprit, err) : status;
    for (unsigned round = 0;
         round < PROBE_PORT_TRIPLE_ROUNDS && status == IP_OK && *culprit < 0 && solution->count > 1;
         round++) {
        unsigned first = probe_port_triples_choose(unions, core, solution, count);
        if (first == unions->tried_count) {
            break;
        }
        status = probe_port_triples_measure(unions, first, -1, err);
        status = status == IP_OK ? part_solve(unions, core, count, solution, culprit, err) : status;
    }
    if (status == IP_OK && *culprit < 0) {
        hidden_add(unions, core, count, solution);
    }
    return status;
}

/* The classes of loads and stores, or all others. */
static unsigned part_of(const struct probe_portmap *map, bool memory, unsigned *classes) {
    unsigned count = 0;
    for (unsigned c = 0; c < map->class_count; c++) {
        if (probe_port_is_memory(&map->classes[c]) == memory) {
            classes[count++] = c;
        }
    }
    return count;
}

enum ip_status probe_port_sets_find(const struct probe_mapper *mapper, struct ip_error *err) {
    struct probe_portmap *map = mapper->map;
    struct probe_port_unions unions = {.mapper = mapper};
    enum ip_status status = probe_port_pairs_measure(&unions, -1, err);
    if (status != IP_OK) {
        return status;
    }
    probe_port_unions_settle(&unions);
    for (unsigned c = 0; c < map->class_count; c++) {
        if (probe_port_is_memory(&map->classes[c])) {
            sharing_note(&unions, c);
        }
    }
    unsigned core_classes[PROBE_PORTSET_CLASSES], memory_classes[PROBE_PORTSET_CLASSES];
    struct part core = {.classes = core_classes}, memory = {.classes = memory_classes};
    int culprit = -1;
    do {
        if (culprit >= 0) {
            /* It takes two ports at once, or has another bound. */
            probe_port_unions_drop(&unions, (unsigned)culprit,
                                   "have no set of ports that explains what they take beside others");
        }
        core.count = part_of(map, false, core_classes);
        memory.count = part_of(map, true, memory_classes);
        if (core.count == 0) {
            return ip_fail(
                err, IP_UNSUPPORTED,
                "no form of the table has a throughput of 1/n cycles in one issue slot: there is nothing "
                "to find ports with");
        }
        core.solution = memory.solution = (struct probe_portset_solution){0};
        status = core_solve(&unions, core_classes, core.count, &core.solution, &culprit, err);
        if (status == IP_OK && culprit < 0 && memory.count > 0) {
            status = part_solve(&unions, memory_classes, memory.count, &memory.solution, &culprit, err);
        }
        if (status == IP_OK && culprit < 0 && memory.count > 0) {
            hidden_add(&unions, memory_classes, memory.count, &memory.solution);
        }
    } while (status == IP_OK && culprit >= 0);
    if (status == IP_OK && core.solution.ports + memory.solution.ports > PROBE_PORTSET_PORTS) {
        status = ip_fail(err, IP_UNTRUSTED, "the measured unions ask for %u ports, more than any CPU has",
                         core.solution.ports + memory.solution.ports);
    }
    if (status != IP_OK) {
        return status;
    }
    solutions_join(map, &core, &memory);
    map->port_count = map->alternatives.ports;
    solved_merge(map);
    for (unsigned c = 0; c < map->class_count; c++) {
        map->classes[c].ports = map->alternatives.sets[0][c];
    }
    map->solutions = map->alternatives.count;
    map->more_solutions = map->alternatives.more;
    probe_portmap_align(map);
    return IP_OK;
}
