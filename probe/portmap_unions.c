/* SPDX-License-Identifier: Apache-2.0 */
/* probe/portmap_unions.c - how many ports classes use together: pairs of them, and of three where pairs leave
 * it open. */
#include <math.h>
#include <string.h>

#include "probe/portmap_candidates.h"
#include "probe/portmap_steps.h"

enum {
    INSIDE_FEW = 4,     /* instances of the narrower class ... */
    INSIDE_CYCLES = 12, /* ... beside so many cycles of the wider one */
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

bool probe_port_is_memory(const struct probe_port_class *class) {
    return class->load || class->store;
}

/* Of loads and of what a load renews ever so often: these are more loads than the pair's, and say nothing of
 * how the two go together. */
static bool renewal_loads(const struct probe_portmap *map, unsigned a, unsigned b) {
    const unsigned classes[2] = {a, b};
    int blockers[2];
    return map->classes[a].load != map->classes[b].load &&
           probe_port_blockers_choose(map, classes, 2, blockers) &&
           (probe_port_waits(map->members[blockers[0]].form) ||
            probe_port_waits(map->members[blockers[1]].form));
}

/* Of those that are wanted, pairs of classes that touch memory (a look at these is too rough: their time
 * changes from run to run), or all others. */
static enum ip_status some_pairs_measure(struct probe_port_unions *unions, int only, bool memory,
                                         struct ip_error *err) {
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
            bool both = probe_port_is_memory(&map->classes[a]) && probe_port_is_memory(&map->classes[b]);
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
            bool both = probe_port_is_memory(&map->classes[a]) && probe_port_is_memory(&map->classes[b]);
            if ((only < 0 || (unsigned)only == a || (unsigned)only == b) && both == memory) {
                const unsigned classes[2] = {a, b};
                double together = instances[a][b] / probe_mix_cycles(&batch, slots[a][b]);
                unsigned widths[2] = {map->classes[a].width, map->classes[b].width};
                double widest = widths[0] > widths[1] ? widths[0] : widths[1];
                unions->clashes[a][b] = unions->clashes[b][a] =
                    !memory && together < CLASH_MOST * widest && !renewal_loads(map, a, b);
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
static enum ip_status insides_measure(struct probe_port_unions *unions, int only, struct ip_error *err) {
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
                probe_port_is_memory(&map->classes[few]) || probe_port_is_memory(&map->classes[many]) ||
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
            } else if (within <= OUTSIDE_MOST && unions->pairs.at_least[few][many] <= width) {
                pair_note(&unions->pairs, few, many, (struct reading){.at_least = width + 1});
            } else if (within >= HINDERS_LEAST) {
                unions->slows[few][many] = true;
            }
        }
    }
    probe_batch_fini(&batch);
    return status;
}

enum ip_status probe_port_pairs_measure(struct probe_port_unions *unions, int only, struct ip_error *err) {
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
static void triples_close(struct probe_port_unions *unions, unsigned gone) {
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

void probe_port_unions_drop(struct probe_port_unions *unions, unsigned gone, const char *why) {
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
static void clashes_settle(struct probe_port_unions *unions) {
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

/* Are two classes and more, with more members than this one, slow beside its blocker and beside no other?
 * Then that is no blocker: it has not the width that it was given. (CMOV of a Zen 5 takes 0.186 cycle, a
 * fifth in one run of eight; beside it nine VMOVD and fifteen shifts would be.) */
static bool is_no_blocker(const struct probe_port_unions *unions, unsigned blocker) {
    const struct probe_portmap *map = unions->mapper->map;
    unsigned classes = 0, members = 0;
    for (unsigned few = 0; few < map->class_count; few++) {
        bool here = unions->slows[few][blocker], elsewhere = false;
        for (unsigned many = 0; many < map->class_count; many++) {
            elsewhere = elsewhere || (many != blocker && unions->slows[few][many]);
        }
        classes += here && !elsewhere;
        members += here && !elsewhere ? map->classes[few].members : 0;
    }
    return classes >= 2 && members > map->classes[blocker].members;
}

static void slow_settle(struct probe_port_unions *unions) {
    const unsigned count = unions->mapper->map->class_count;
    bool wrong[PROBE_PORTSET_CLASSES];
    for (unsigned c = 0; c < count; c++) {
        wrong[c] = is_no_blocker(unions, c);
    }
    for (unsigned few = 0; few < count; few++) {
        for (unsigned many = 0; many < count; many++) {
            unions->hinders[few] = unions->hinders[few] || (unions->slows[few][many] && !wrong[many]);
        }
        unions->hinders[few] = unions->hinders[few] || wrong[few];
    }
}

/* As a blocker it would keep forms from ports that it does not have. */
static void hinderers_remove(struct probe_port_unions *unions) {
    slow_settle(unions);
    clashes_settle(unions);
    for (unsigned c = unions->mapper->map->class_count; c-- > 0;) {
        if (unions->hinders[c]) {
            probe_port_unions_drop(unions, c, "take more of others' time than one uop can");
        }
    }
}

/* A reading that was spoilt may have split a class, and loads of different worlds were never compared. */
static void equals_merge(struct probe_port_unions *unions) {
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

void probe_port_unions_settle(struct probe_port_unions *unions) {
    hinderers_remove(unions);
    equals_merge(unions);
}

/* -- Triples ------------------------------------------------------------------------------------------ */

static bool triple_tried(const struct probe_port_unions *unions, unsigned a, unsigned b, unsigned c) {
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
static bool triple_open(const struct probe_port_unions *unions, unsigned a, unsigned b, unsigned c) {
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

unsigned probe_port_triples_choose(struct probe_port_unions *unions, const unsigned *classes,
                                   const struct probe_portset_solution *solution, unsigned count) {
    unsigned first = unions->tried_count;
    unsigned limit = first + (solution != NULL ? PROBE_PORT_TRIPLES_PER_ROUND : PROBE_PORT_TRIPLES_FIRST);
    limit = limit < PROBE_PORT_TRIPLES ? limit : PROBE_PORT_TRIPLES;
    for (unsigned a = 0; a < count; a++) {
        for (unsigned b = a + 1; b < count; b++) {
            for (unsigned c = b + 1; c < count && unions->tried_count < limit; c++) {
                const unsigned positions[3] = {a, b, c};
                bool wanted = solution != NULL
                                  ? triple_decides(solution, positions, unions->mapper->map->issue_width)
                                  : triple_open(unions, classes[a], classes[b], classes[c]);
                if (wanted && !triple_tried(unions, classes[a], classes[b], classes[c])) {
                    unions->tried[unions->tried_count++] = (struct probe_portset_triple){
                        (uint8_t)classes[a], (uint8_t)classes[b], (uint8_t)classes[c], 0, 0};
                }
            }
        }
    }
    return first;
}

/* Three classes have no fewer ports than two of them. */
static unsigned pairs_least(const struct probe_port_unions *unions,
                            const struct probe_portset_triple *triple) {
    const struct probe_portset_problem *pairs = &unions->pairs;
    unsigned least = pairs->at_least[triple->a][triple->b];
    unsigned others[2] = {pairs->at_least[triple->a][triple->c], pairs->at_least[triple->b][triple->c]};
    least = others[0] > least ? others[0] : least;
    return others[1] > least ? others[1] : least;
}

enum ip_status probe_port_triples_measure(struct probe_port_unions *unions, unsigned first, int only,
                                          struct ip_error *err) {
    struct probe_portmap *map = unions->mapper->map;
    struct probe_batch batch = {0};
    size_t slots[PROBE_PORT_TRIPLES];
    unsigned instances[PROBE_PORT_TRIPLES];
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
            triple->at_least = (uint8_t)reading.at_least;
        }
    }
    probe_batch_fini(&batch);
    return status;
}

/* -- Of one class ------------------------------------------------------------------------------------- */

void probe_port_unions_forget(struct probe_port_unions *unions, unsigned number) {
    const struct probe_portmap *map = unions->mapper->map;
    for (unsigned other = 0; other < map->class_count; other++) {
        pair_note(&unions->pairs, number, other, (struct reading){0});
    }
    for (unsigned i = 0; i < unions->tried_count; i++) {
        struct probe_portset_triple *triple = &unions->tried[i];
        if (triple->a == number || triple->b == number || triple->c == number) {
            triple->ports = triple->at_least = 0;
        }
    }
}
