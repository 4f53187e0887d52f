/* SPDX-License-Identifier: Apache-2.0 */
/* probe/portmap_unions.c - how many ports classes use together, and the smallest sets of ports that explain
 * it. */
#include <math.h>
#include <string.h>

#include "probe/portmap_steps.h"

enum {
    TRIPLES_FIRST = 256,    /* that the pairs leave open */
    TRIPLES_PER_ROUND = 48, /* that decide between solutions */
    TRIPLE_ROUNDS = 4,
    INSIDE_FEW = 4,     /* instances of the narrower class ... */
    INSIDE_CYCLES = 12, /* ... beside so many cycles of the wider one */
    TRIPLES_MAX = TRIPLES_FIRST + TRIPLES_PER_ROUND * TRIPLE_ROUNDS,
};

static const double UNION_TOLERANCE = 0.12; /* of a union to an integer, ports */
/* uops of each of the few that found no other ports: one, and what unlucky binding adds, or none. */
static const double INSIDE_LEAST = 0.7, INSIDE_MOST = 1.5, OUTSIDE_MOST = 0.3;
/* What takes more than one of the others' is no one-uop form, or keeps them from their ports in some other
 * way. */
static const double HINDERS_LEAST = 1.6;
/* Two classes that are so much slower together than the wider one alone do not just share its ports. (A
 * result of three cycles and one of one that a port has at the same time: PDEP and RORX of a Zen 5, each
 * three a cycle, two together.) */
static const double CLASH_MOST = 0.75;

struct unions {
    const struct probe_mapper *mapper;
    struct probe_portset_problem pairs;             /* over all classes; no triples */
    struct probe_portset_triple tried[TRIPLES_MAX]; /* ports 0: measured, but it says nothing */
    unsigned tried_count;
    bool again[PROBE_PORTSET_CLASSES];   /* pairs with it were measured a second time */
    bool hinders[PROBE_PORTSET_CLASSES]; /* it takes more of others' ports than one uop can */
    bool clashes[PROBE_PORTSET_CLASSES][PROBE_PORTSET_CLASSES]; /* one of the two does, whichever */
};

/* -- Reading a union ---------------------------------------------------------------------------------- */

/* Instances in proportion to the widths: then the union of the sets is what binds. 0: no common kernel. */
static unsigned parts_make(const struct probe_portmap *map, const unsigned *classes, unsigned count,
                           struct gen_part *parts) {
    int blockers[GEN_PARTS_MAX];
    if (!probe_port_blockers_choose(map, classes, count, blockers)) {
        return 0;
    }
    unsigned least = UINT32_MAX;
    for (unsigned i = 0; i < count; i++) {
        unsigned width = map->classes[classes[i]].width;
        least = width < least ? width : least;
    }
    unsigned times = 12 / least > 4 ? 12 / least : 4;
    unsigned instances = 0;
    for (unsigned i = 0; i < count; i++) {
        parts[i] = probe_port_part(&map->members[blockers[i]], times * map->classes[classes[i]].width);
        instances += parts[i].count;
    }
    return instances;
}

/* What a measured union says. Whatever else slows a mix (bank conflicts of loads, the issue width) makes it
 * look narrower than it is: a reading is a lower bound, and exact when it is near an integer that nothing but
 * ports explains. */
struct reading {
    unsigned exact; /* 0: not known */
    unsigned at_least;
};

static struct reading union_read(struct probe_portmap *map, const unsigned *classes, unsigned count,
                                 double together) {
    unsigned widest = 0;
    unsigned sum = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned width = map->classes[classes[i]].width;
        widest = width > widest ? width : widest;
        sum += width;
    }
    struct reading reading = {.at_least = widest};
    if (!isfinite(together) || together < widest - UNION_TOLERANCE || together > sum + 0.5) {
        return reading; /* the forms hinder each other in ways that are no ports */
    }
    unsigned least = (unsigned)ceil(together - UNION_TOLERANCE);
    reading.at_least = least > widest ? least : widest;
    bool hidden = together > map->issue_width - 1.0 + UNION_TOLERANCE;
    double residual = fabs(together - round(together));
    if (reading.at_least >= sum) {
        reading.exact = reading.at_least = sum; /* disjoint */
    } else if (!hidden && residual <= UNION_TOLERANCE) {
        reading.exact = reading.at_least;
    }
    if (reading.exact != 0 && residual <= UNION_TOLERANCE) {
        for (unsigned i = 0; i < count; i++) {
            struct probe_port_class *class = &map->classes[classes[i]];
            class->residual = residual > class->residual ? residual : class->residual;
        }
    }
    return reading;
}

/* -- Pairs -------------------------------------------------------------------------------------------- */

static void pair_note(struct probe_portset_problem *pairs, unsigned a, unsigned b, struct reading reading) {
    pairs->together[a][b] = pairs->together[b][a] = (uint8_t)reading.exact;
    pairs->at_least[a][b] = pairs->at_least[b][a] = (uint8_t)reading.at_least;
}

static bool is_memory(const struct probe_port_class *class) {
    return class->load || class->store;
}

/* Of those that are wanted, pairs of classes that touch memory (a look at these is too rough: their time
 * changes from run to run), or all others. */
static enum ip_status some_pairs_measure(struct unions *unions, int only, bool memory, struct ip_error *err) {
    struct probe_portmap *map = unions->mapper->map;
    struct probe_batch batch = {0};
    size_t slots[PROBE_PORTSET_CLASSES][PROBE_PORTSET_CLASSES];
    unsigned instances[PROBE_PORTSET_CLASSES][PROBE_PORTSET_CLASSES];
    enum ip_status status = IP_OK;
    for (unsigned a = 0; a < map->class_count; a++) {
        for (unsigned b = a + 1; b < map->class_count && status == IP_OK; b++) {
            const unsigned classes[2] = {a, b};
            struct gen_part parts[GEN_PARTS_MAX];
            slots[a][b] = SIZE_MAX;
            bool both = is_memory(&map->classes[a]) && is_memory(&map->classes[b]);
            bool wanted = (only < 0 || (unsigned)only == a || (unsigned)only == b) && both == memory;
            instances[a][b] = wanted ? parts_make(map, classes, 2, parts) : 0;
            if (instances[a][b] != 0) {
                status = probe_mix_add(&batch, parts, 2, &slots[a][b], err);
            }
        }
    }
    if (memory) {
        status = status == IP_OK ? probe_mixes_measure_carefully(unions->mapper, &batch, err) : status;
    } else {
        status = status == IP_OK ? probe_mixes_measure(unions->mapper, &batch, err) : status;
    }
    for (unsigned a = 0; a < map->class_count && status == IP_OK; a++) {
        for (unsigned b = a + 1; b < map->class_count; b++) {
            bool both = is_memory(&map->classes[a]) && is_memory(&map->classes[b]);
            if ((only < 0 || (unsigned)only == a || (unsigned)only == b) && both == memory) {
                const unsigned classes[2] = {a, b};
                double together = instances[a][b] / probe_mix_cycles(&batch, slots[a][b]);
                unsigned widths[2] = {map->classes[a].width, map->classes[b].width};
                double widest = widths[0] > widths[1] ? widths[0] : widths[1];
                unions->clashes[a][b] = unions->clashes[b][a] = !memory && together < CLASH_MOST * widest;
                pair_note(&unions->pairs, a, b, union_read(map, classes, 2, together));
            }
        }
    }
    probe_batch_fini(&batch);
    return status;
}

/* A core that binds uops to ports before it knows which are free loses cycles where two sets are full and one
 * holds the other: the interleaving proves nothing then. A few of the narrower class beside so many of the
 * wider that its ports are busy: do they find ports elsewhere? */
static enum ip_status insides_measure(struct unions *unions, int only, struct ip_error *err) {
    struct probe_portmap *map = unions->mapper->map;
    struct probe_batch batch = {0};
    size_t slots[PROBE_PORTSET_CLASSES][PROBE_PORTSET_CLASSES];
    enum ip_status status = IP_OK;
    for (unsigned few = 0; few < map->class_count; few++) {
        for (unsigned many = 0; many < map->class_count && status == IP_OK; many++) {
            slots[few][many] = SIZE_MAX;
            const unsigned classes[2] = {few, many};
            int blockers[2];
            unsigned width = map->classes[many].width;
            if ((only >= 0 && (unsigned)only != few && (unsigned)only != many) ||
                map->classes[few].width >= width || unions->pairs.together[few][many] != 0 ||
                is_memory(&map->classes[few]) || is_memory(&map->classes[many]) ||
                !probe_port_blockers_choose(map, classes, 2, blockers)) {
                continue;
            }
            const struct gen_part parts[2] = {
                probe_port_part(&map->members[blockers[0]], INSIDE_FEW),
                probe_port_part(&map->members[blockers[1]], INSIDE_CYCLES * width)};
            status = probe_mix_add(&batch, parts, 2, &slots[few][many], err);
        }
    }
    status = status == IP_OK ? probe_mixes_measure(unions->mapper, &batch, err) : status;
    for (unsigned few = 0; few < map->class_count && status == IP_OK; few++) {
        for (unsigned many = 0; many < map->class_count; many++) {
            unsigned width = map->classes[many].width;
            double cycles = probe_mix_cycles(&batch, slots[few][many]);
            double within = (cycles - INSIDE_CYCLES) * width / INSIDE_FEW; /* uops of each */
            if (within >= INSIDE_LEAST && within <= INSIDE_MOST) {
                pair_note(&unions->pairs, few, many, (struct reading){.exact = width, .at_least = width});
            } else if (within <= OUTSIDE_MOST) {
                pair_note(&unions->pairs, few, many, (struct reading){.at_least = width + 1});
            } else if (within >= HINDERS_LEAST) {
                unions->hinders[few] = true;
            }
        }
    }
    probe_batch_fini(&batch);
    return status;
}

/* Measures the pairs with class `only`, or all of them when it is negative. */
static enum ip_status pairs_measure(struct unions *unions, int only, struct ip_error *err) {
    enum ip_status status = some_pairs_measure(unions, only, false, err);
    status = status == IP_OK ? some_pairs_measure(unions, only, true, err) : status;
    return status == IP_OK ? insides_measure(unions, only, err) : status;
}

/* Removes class `gone` from what is known of pairs. */
static void pairs_close(struct probe_portset_problem *pairs, unsigned gone, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        memmove(&pairs->together[i][gone], &pairs->together[i][gone + 1], count - gone - 1);
        memmove(&pairs->at_least[i][gone], &pairs->at_least[i][gone + 1], count - gone - 1);
    }
    for (unsigned i = gone; i + 1 < count; i++) {
        memcpy(pairs->together[i], pairs->together[i + 1], sizeof pairs->together[i]);
        memcpy(pairs->at_least[i], pairs->at_least[i + 1], sizeof pairs->at_least[i]);
    }
}

/* The triples that remain, of the classes that remain. */
static void triples_close(struct unions *unions, unsigned gone) {
    unsigned kept = 0;
    for (unsigned i = 0; i < unions->tried_count; i++) {
        struct probe_portset_triple triple = unions->tried[i];
        if (triple.a != gone && triple.b != gone && triple.c != gone) {
            triple.a -= triple.a > gone;
            triple.b -= triple.b > gone;
            triple.c -= triple.c > gone;
            unions->tried[kept++] = triple;
        }
    }
    unions->tried_count = kept;
}

/* `why`: what its forms do. */
static void class_drop(struct unions *unions, unsigned gone, const char *why) {
    struct probe_portmap *map = unions->mapper->map;
    ip_lines_printf(&map->notes, "%u forms such as '%s' %s: their ports are not told",
                    map->classes[gone].members, probe_port_class_best(map, gone)->form->syntax, why);
    pairs_close(&unions->pairs, gone, map->class_count);
    triples_close(unions, gone);
    memmove(&unions->again[gone], &unions->again[gone + 1],
            (map->class_count - gone - 1) * sizeof unions->again[gone]);
    probe_port_class_remove(map, gone);
}

/* Of two that clash one has to go: who clashes with most, of these who has fewest members. */
static void clashes_settle(struct unions *unions) {
    const struct probe_portmap *map = unions->mapper->map;
    unsigned most = 0;
    do {
        unsigned worst = 0;
        most = 0;
        for (unsigned a = 0; a < map->class_count; a++) {
            unsigned with = 0;
            for (unsigned b = 0; b < map->class_count; b++) {
                with += unions->clashes[a][b] && !unions->hinders[a] && !unions->hinders[b];
            }
            if (with > most ||
                (with == most && with > 0 && map->classes[a].members < map->classes[worst].members)) {
                most = with;
                worst = a;
            }
        }
        unions->hinders[worst] = unions->hinders[worst] || most > 0;
    } while (most > 0);
}

/* As a blocker it would keep forms from ports that it does not have. */
static void hinderers_remove(struct unions *unions) {
    clashes_settle(unions);
    for (unsigned c = unions->mapper->map->class_count; c-- > 0;) {
        if (unions->hinders[c]) {
            class_drop(unions, c, "take more of others' time than one uop can");
        }
    }
}

/* A reading that was spoilt may have split a class, and loads of different worlds were never compared. */
static void equals_merge(struct unions *unions) {
    struct probe_portmap *map = unions->mapper->map;
    for (unsigned a = 0; a < map->class_count; a++) {
        for (unsigned b = map->class_count - 1; b > a; b--) {
            const struct probe_port_class *one = &map->classes[a], *other = &map->classes[b];
            if (one->width == other->width && one->load == other->load && one->store == other->store &&
                unions->pairs.together[a][b] == one->width) {
                pairs_close(&unions->pairs, b, map->class_count);
                probe_port_classes_merge(map, a, b);
            }
        }
    }
}

/* -- Triples ------------------------------------------------------------------------------------------ */

static bool triple_tried(const struct unions *unions, unsigned a, unsigned b, unsigned c) {
    for (unsigned i = 0; i < unions->tried_count; i++) {
        const struct probe_portset_triple *triple = &unions->tried[i];
        if (triple->a == a && triple->b == b && triple->c == c) {
            return true;
        }
    }
    return false;
}

/* Do the solutions differ in how many ports the three use together, and not only beyond the issue width? */
static bool triple_decides(const struct probe_portset_solution *solution, const unsigned *positions,
                           double issue_width) {
    unsigned least = PROBE_PORTSET_PORTS, most = 0;
    for (unsigned s = 0; s < solution->count; s++) {
        const uint32_t *sets = solution->sets[s];
        unsigned ports =
            (unsigned)__builtin_popcount(sets[positions[0]] | sets[positions[1]] | sets[positions[2]]);
        least = ports < least ? ports : least;
        most = ports > most ? ports : most;
    }
    return least < most && least < round(issue_width);
}

/* Do the pairs leave open how many ports all three share? Without such triples {01} {12} {02} would pass for
 * {03} {13} {23}: the smaller system explains the pairs of both. */
static bool triple_open(const struct unions *unions, unsigned a, unsigned b, unsigned c) {
    const struct probe_portmap *map = unions->mapper->map;
    const struct probe_portset_problem *pairs = &unions->pairs;
    int wide_a = (int)map->classes[a].width, wide_b = (int)map->classes[b].width;
    int wide_c = (int)map->classes[c].width;
    int ab = wide_a + wide_b - pairs->together[a][b], ac = wide_a + wide_c - pairs->together[a][c];
    int bc = wide_b + wide_c - pairs->together[b][c];
    if (pairs->together[a][b] == 0 || pairs->together[a][c] == 0 || pairs->together[b][c] == 0) {
        return false;
    }
    int most = ab < ac ? ab : ac, least = 0;
    most = bc < most ? bc : most;
    least = ab + ac - wide_a > least ? ab + ac - wide_a : least;
    least = ab + bc - wide_b > least ? ab + bc - wide_b : least;
    least = ac + bc - wide_c > least ? ac + bc - wide_c : least;
    return least < most && wide_a + wide_b + wide_c - ab - ac - bc + least < map->issue_width - 0.5;
}

/* Appends triples of the classes: those that decide between the solutions, or (no solution given) that the
 * pairs leave open. Each is taken at most once in all. Returns where they begin. */
static unsigned triples_choose(struct unions *unions, const unsigned *classes,
                               const struct probe_portset_solution *solution, unsigned count) {
    unsigned first = unions->tried_count;
    unsigned limit = first + (solution != NULL ? TRIPLES_PER_ROUND : TRIPLES_FIRST);
    limit = limit < TRIPLES_MAX ? limit : TRIPLES_MAX;
    for (unsigned a = 0; a < count; a++) {
        for (unsigned b = a + 1; b < count; b++) {
            for (unsigned c = b + 1; c < count && unions->tried_count < limit; c++) {
                const unsigned positions[3] = {a, b, c};
                bool wanted = solution != NULL
                                  ? triple_decides(solution, positions, unions->mapper->map->issue_width)
                                  : triple_open(unions, classes[a], classes[b], classes[c]);
                if (wanted && !triple_tried(unions, classes[a], classes[b], classes[c])) {
                    unions->tried[unions->tried_count++] = (struct probe_portset_triple){
                        (uint8_t)classes[a], (uint8_t)classes[b], (uint8_t)classes[c], 0};
                }
            }
        }
    }
    return first;
}

/* Three classes have no fewer ports than two of them. */
static unsigned pairs_least(const struct unions *unions, const struct probe_portset_triple *triple) {
    const struct probe_portset_problem *pairs = &unions->pairs;
    unsigned least = pairs->at_least[triple->a][triple->b];
    unsigned others[2] = {pairs->at_least[triple->a][triple->c], pairs->at_least[triple->b][triple->c]};
    least = others[0] > least ? others[0] : least;
    return others[1] > least ? others[1] : least;
}

/* Measures those from `first` on, or of them those with class `only` when it is not negative. */
static enum ip_status triples_measure(struct unions *unions, unsigned first, int only, struct ip_error *err) {
    struct probe_portmap *map = unions->mapper->map;
    struct probe_batch batch = {0};
    size_t slots[TRIPLES_MAX];
    unsigned instances[TRIPLES_MAX];
    enum ip_status status = IP_OK;
    for (unsigned i = first; i < unions->tried_count && status == IP_OK; i++) {
        const struct probe_portset_triple *triple = &unions->tried[i];
        const unsigned classes[3] = {triple->a, triple->b, triple->c};
        struct gen_part parts[GEN_PARTS_MAX];
        slots[i] = SIZE_MAX;
        bool wanted = only < 0 || triple->a == only || triple->b == only || triple->c == only;
        instances[i] = wanted ? parts_make(map, classes, 3, parts) : 0;
        if (instances[i] != 0) {
            status = probe_mix_add(&batch, parts, 3, &slots[i], err);
        }
    }
    status = status == IP_OK ? probe_mixes_measure(unions->mapper, &batch, err) : status;
    for (unsigned i = first; i < unions->tried_count && status == IP_OK; i++) {
        struct probe_portset_triple *triple = &unions->tried[i];
        const unsigned classes[3] = {triple->a, triple->b, triple->c};
        if (only < 0 || instances[i] != 0) {
            double together = instances[i] / probe_mix_cycles(&batch, slots[i]);
            struct reading reading = union_read(map, classes, 3, together);
            triple->ports = (uint8_t)(reading.exact >= pairs_least(unions, triple) ? reading.exact : 0);
        }
    }
    probe_batch_fini(&batch);
    return status;
}

/* -- The smallest set system -------------------------------------------------------------------------- */

static int position_of(const unsigned *classes, unsigned count, unsigned class) {
    for (unsigned i = 0; i < count; i++) {
        if (classes[i] == class) {
            return (int)i;
        }
    }
    return -1;
}

/* The problem of some of the classes: what was read of their pairs and triples. */
static void problem_make(const struct unions *unions, const unsigned *classes, unsigned count,
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
        if (triple->ports != 0 && a >= 0 && b >= 0 && c >= 0) {
            problem->triples[problem->triple_count++] =
                (struct probe_portset_triple){(uint8_t)a, (uint8_t)b, (uint8_t)c, triple->ports};
        }
    }
}

/* The class without which the others have sets of ports, of several the one with fewest members; -1: each
 * time there are none. */
static int culprit_find(const struct unions *unions, const unsigned *classes, unsigned count) {
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

static void class_forget(struct unions *unions, unsigned number) {
    struct probe_portmap *map = unions->mapper->map;
    ip_lines_printf(&map->notes,
                    "the unions of '%s' with other classes contradict those of the others and are left out",
                    probe_port_class_best(map, number)->form->syntax);
    map->classes[number].contradicted = true;
    for (unsigned other = 0; other < map->class_count; other++) {
        pair_note(&unions->pairs, number, other, (struct reading){0});
    }
    for (unsigned i = 0; i < unions->tried_count; i++) {
        struct probe_portset_triple *triple = &unions->tried[i];
        if (triple->a == number || triple->b == number || triple->c == number) {
            triple->ports = 0;
        }
    }
}

/* Solves for the classes. One that contradicts the others is measured again. If it still does, and one class
 * is all that stands in the way, that is the *culprit (else -1), and there is no solution; if not, what
 * contradicts is left out. */
static enum ip_status part_solve(struct unions *unions, const unsigned *classes, unsigned count,
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
            enum ip_status status = pairs_measure(unions, (int)class, err);
            status = status == IP_OK ? triples_measure(unions, 0, (int)class, err) : status;
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
static void sharing_note(const struct unions *unions, unsigned class) {
    struct probe_portmap *map = unions->mapper->map;
    unsigned known = 0, shared = 0;
    for (unsigned other = 0; other < map->class_count; other++) {
        unsigned together = unions->pairs.together[class][other];
        if (!is_memory(&map->classes[other]) && together != 0) {
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
    return !solution->more;
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

/* Puts the two parts together: the ports of memory come behind the others. */
static void solutions_join(struct unions *unions, const unsigned *core, unsigned core_count,
                           const struct probe_portset_solution *cores, const unsigned *memory,
                           unsigned memory_count, const struct probe_portset_solution *memories) {
    struct probe_portmap *map = unions->mapper->map;
    struct probe_portset_solution *all = &map->alternatives;
    memset(all, 0, sizeof *all);
    all->ports = cores->ports + memories->ports;
    all->count = cores->count;
    all->more = cores->more;
    for (unsigned s = 0; s < all->count; s++) {
        for (unsigned i = 0; i < core_count; i++) {
            all->sets[s][core[i]] = cores->sets[s][i];
        }
        for (unsigned i = 0; i < memory_count; i++) {
            all->sets[s][memory[i]] = memories->sets[0][i] << cores->ports;
        }
    }
    if (memory_count > 0 && (memories->count > 1 || memories->more)) {
        ip_lines_add(&map->notes, "the ports of loads and stores are one of several possibilities");
    }
}

static enum ip_status core_solve(struct unions *unions, const unsigned *core, unsigned count,
                                 struct probe_portset_solution *solution, int *culprit,
                                 struct ip_error *err) {
    enum ip_status status = IP_OK;
    if (triples_choose(unions, core, NULL, count) < unions->tried_count) {
        status = triples_measure(unions, 0, -1, err);
    }
    status = status == IP_OK ? part_solve(unions, core, count, solution, culprit, err) : status;
    for (unsigned round = 0; round < TRIPLE_ROUNDS && status == IP_OK && *culprit < 0 && solution->count > 1;
         round++) {
        unsigned first = triples_choose(unions, core, solution, count);
        if (first == unions->tried_count) {
            break;
        }
        status = triples_measure(unions, first, -1, err);
        status = status == IP_OK ? part_solve(unions, core, count, solution, culprit, err) : status;
    }
    return status;
}

/* The classes of loads and stores, or all others. */
static unsigned part_of(const struct probe_portmap *map, bool memory, unsigned *classes) {
    unsigned count = 0;
    for (unsigned c = 0; c < map->class_count; c++) {
        if (is_memory(&map->classes[c]) == memory) {
            classes[count++] = c;
        }
    }
    return count;
}

enum ip_status probe_port_sets_find(const struct probe_mapper *mapper, struct ip_error *err) {
    struct probe_portmap *map = mapper->map;
    struct unions unions = {.mapper = mapper};
    enum ip_status status = pairs_measure(&unions, -1, err);
    if (status != IP_OK) {
        return status;
    }
    hinderers_remove(&unions);
    equals_merge(&unions);
    for (unsigned c = 0; c < map->class_count; c++) {
        if (is_memory(&map->classes[c])) {
            sharing_note(&unions, c);
        }
    }
    unsigned core[PROBE_PORTSET_CLASSES], memory[PROBE_PORTSET_CLASSES];
    unsigned core_count = 0, memory_count = 0;
    struct probe_portset_solution cores, memories;
    int culprit = -1;
    do {
        if (culprit >= 0) {
            /* It takes two ports at once, or has another bound. */
            class_drop(&unions, (unsigned)culprit,
                       "have no set of ports that explains what they take beside others");
        }
        core_count = part_of(map, false, core);
        memory_count = part_of(map, true, memory);
        if (core_count == 0) {
            return ip_fail(
                err, IP_UNSUPPORTED,
                "no form of the table has a throughput of 1/n cycles in one issue slot: there is nothing "
                "to find ports with");
        }
        cores = memories = (struct probe_portset_solution){0};
        status = core_solve(&unions, core, core_count, &cores, &culprit, err);
        if (status == IP_OK && culprit < 0 && memory_count > 0) {
            status = part_solve(&unions, memory, memory_count, &memories, &culprit, err);
        }
    } while (status == IP_OK && culprit >= 0);
    if (status == IP_OK && cores.ports + memories.ports > PROBE_PORTSET_PORTS) {
        status = ip_fail(err, IP_UNTRUSTED, "the measured unions ask for %u ports, more than any CPU has",
                         cores.ports + memories.ports);
    }
    if (status != IP_OK) {
        return status;
    }
    solutions_join(&unions, core, core_count, &cores, memory, memory_count, &memories);
    map->port_count = map->alternatives.ports;
    solved_merge(map);
    for (unsigned c = 0; c < map->class_count; c++) {
        map->classes[c].ports = map->alternatives.sets[0][c];
    }
    map->solutions = map->alternatives.count;
    map->more_solutions = map->alternatives.more;
    return IP_OK;
}
