/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/portmap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/shapes.h"
#include "probe/batch.h"
#include "probe/portmap_candidates.h"

enum {
    ALONE_INSTANCES = 24, /* of a form in its throughput kernel */
    NOP_INSTANCES = 96,   /* beside 1 and 4 of the form: issue slots */
    SLOT_INSTANCES = 4,
    TRIPLES_PER_ROUND = 64,
    WORLDS = 3,
};

static const double WIDTH_TOLERANCE = 0.06; /* of 1/throughput to an integer, relative */
static const double SLOT_TOLERANCE = 0.2;   /* of the slots of a one-slot form to 1 */
static const double SAME_TOLERANCE = 0.2;   /* of the union of two equal sets to their width, ports */
static const double UNION_TOLERANCE = 0.1;  /* of a union to an integer, ports */

struct mapper {
    const struct hx_meter *meter;
    struct gen_encoder *encoder;
    struct probe_portmap *map;
    double unions[PROBE_PORTSET_CLASSES][PROBE_PORTSET_CLASSES];
    struct probe_portset_problem problem;
};

void probe_portmap_fini(struct probe_portmap *map) {
    free(map->members);
    ip_lines_fini(&map->notes);
    memset(map, 0, sizeof *map);
}

const char *probe_ports_print(const struct probe_portmap *map, uint32_t ports, char *buffer) {
    size_t length = 0;
    for (unsigned p = 0; p < map->port_count; p++) {
        if ((ports >> p & 1u) == 0) {
            continue;
        }
        size_t at = length++;
        while (at > 0 && buffer[at - 1] > map->names[p]) {
            buffer[at] = buffer[at - 1];
            at--;
        }
        buffer[at] = map->names[p];
    }
    buffer[length] = '\0';
    return buffer;
}

/* Adds the kernel of a mix to the batch; *slot is SIZE_MAX when the forms cannot share a kernel. */
static enum ip_status mix_add(struct probe_batch *batch, const struct gen_part *parts, unsigned count,
                              size_t *slot, struct ip_error *err) {
    struct gen_program program;
    struct ip_error reason;
    *slot = SIZE_MAX;
    enum ip_status status = gen_mix_program(&program, parts, count, &reason);
    if (status == IP_OK) {
        return probe_batch_add(batch, &program, slot, err);
    }
    if (status == IP_NO_MEMORY) {
        *err = reason;
        return status;
    }
    return IP_OK;
}

static double batch_cycles(const struct probe_batch *batch, size_t slot) {
    return slot != SIZE_MAX && batch->stats[slot].verdict == HX_VERDICT_OK ? batch->stats[slot].cycles : NAN;
}

/* -- 1. Widths and issue slots ------------------------------------------------------------------------------
 */

struct member_slots {
    size_t alone, one, four;
};

static void member_interpret(struct mapper *mapper, struct probe_port_member *member,
                             const struct probe_batch *batch, const struct member_slots *slots) {
    member->cycles = batch_cycles(batch, slots->alone) / ALONE_INSTANCES;
    member->slots = (batch_cycles(batch, slots->four) - batch_cycles(batch, slots->one)) *
                    mapper->map->issue_width / (SLOT_INSTANCES - 1);
    double width = 1.0 / member->cycles;
    double nearest = round(width);
    bool integer = isfinite(width) && nearest >= 1.0 && fabs(width - nearest) <= WIDTH_TOLERANCE * nearest;
    bool one_slot = fabs(member->slots - 1.0) <= SLOT_TOLERANCE;
    /* A form as wide as the issue may use no port at all (moves and idioms that rename removes). */
    bool visible = nearest < round(mapper->map->issue_width) - 0.5;
    member->width = integer && one_slot && visible ? (unsigned)nearest : 0;
}

static enum ip_status members_measure(struct mapper *mapper, struct ip_error *err) {
    struct probe_portmap *map = mapper->map;
    struct probe_batch batch = {0};
    struct member_slots *slots = calloc(map->member_count + 1, sizeof *slots);
    if (slots == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu candidates", map->member_count);
    }
    size_t nops = SIZE_MAX;
    const struct gen_part nop = {.form = NULL, .count = NOP_INSTANCES};
    enum ip_status status = mix_add(&batch, &nop, 1, &nops, err);
    for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
        struct gen_part parts[2] = {{.form = map->members[i].form, .count = ALONE_INSTANCES}, nop};
        status = mix_add(&batch, parts, 1, &slots[i].alone, err);
        parts[0].count = 1;
        status = status == IP_OK ? mix_add(&batch, parts, 2, &slots[i].one, err) : status;
        parts[0].count = SLOT_INSTANCES;
        status = status == IP_OK ? mix_add(&batch, parts, 2, &slots[i].four, err) : status;
    }
    map->kernels += batch.count;
    if (status == IP_OK) {
        status = probe_batch_measure(&batch, mapper->meter, mapper->encoder, err);
    }
    if (status == IP_OK) {
        map->issue_width = NOP_INSTANCES / batch_cycles(&batch, nops);
        if (!isfinite(map->issue_width)) {
            status =
                ip_fail(err, IP_UNTRUSTED, "the issue width cannot be measured: %s", batch.stats[nops].why);
        }
    }
    for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
        member_interpret(mapper, &map->members[i], &batch, &slots[i]);
    }
    probe_batch_fini(&batch);
    free(slots);
    return status;
}

/* -- 2. Classes: equal sets
 * ---------------------------------------------------------------------------------- */

static unsigned world_number(unsigned world) {
    return world == PROBE_PORTS_SCALAR ? 0 : world == PROBE_PORTS_VECTOR ? 1 : 2;
}

static bool worlds_meet(unsigned a, unsigned b) {
    return a == b || a == PROBE_PORTS_SCALAR || b == PROBE_PORTS_SCALAR;
}

/* A member of the class that may stand beside forms of `world`; -1: none. */
static int class_blocker(const struct probe_port_class *class, unsigned world) {
    int own = class->blocker[world_number(world)];
    if (own >= 0) {
        return own;
    }
    if (world != PROBE_PORTS_SCALAR) {
        return class->blocker[0];
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

static bool member_open(const struct probe_port_member *member) {
    return member->width != 0 && member->class < 0;
}

/* New classes of this round: for each width (loads and stores apart) the best member that is in none, of the
 * lowest world that has one. */
static unsigned founders_choose(struct probe_portmap *map, unsigned first) {
    unsigned lowest = 8;
    for (size_t i = 0; i < map->member_count; i++) {
        if (member_open(&map->members[i]) && map->members[i].world < lowest) {
            lowest = map->members[i].world;
        }
    }
    for (size_t i = 0; i < map->member_count && map->class_count < PROBE_PORTSET_CLASSES; i++) {
        const struct probe_port_member *member = &map->members[i];
        bool taken = !member_open(member) || member->world != lowest;
        for (unsigned c = first; c < map->class_count && !taken; c++) {
            taken = map->classes[c].width == member->width && map->classes[c].load == member->load &&
                    map->classes[c].store == member->store;
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

static enum ip_status round_compare(struct mapper *mapper, unsigned first, struct ip_error *err) {
    struct probe_portmap *map = mapper->map;
    struct probe_batch batch = {0};
    size_t *slots = calloc(map->member_count + 1, sizeof *slots);
    unsigned *with = calloc(map->member_count + 1, sizeof *with);
    enum ip_status status = slots != NULL && with != NULL
                                ? IP_OK
                                : ip_fail(err, IP_NO_MEMORY, "no memory for a round of comparisons");
    for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
        slots[i] = SIZE_MAX;
        struct probe_port_member *member = &map->members[i];
        for (unsigned c = first; c < map->class_count && member_open(member) && status == IP_OK; c++) {
            const struct probe_port_class *class = &map->classes[c];
            int blocker = class_blocker(class, member->world);
            if (class->width != member->width || class->load != member->load ||
                class->store != member->store || blocker < 0 ||
                !worlds_meet(map->members[blocker].world, member->world)) {
                continue;
            }
            unsigned instances = 4 * member->width > 8 ? 4 * member->width : 8;
            const struct gen_part parts[2] = {{.form = map->members[blocker].form, .count = instances},
                                              {.form = member->form, .count = instances}};
            status = mix_add(&batch, parts, 2, &slots[i], err);
            with[i] = c;
            break;
        }
    }
    map->kernels += batch.count;
    if (status == IP_OK && batch.count > 0) {
        status = probe_batch_measure(&batch, mapper->meter, mapper->encoder, err);
    }
    for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
        struct probe_port_member *member = &map->members[i];
        if (slots[i] == SIZE_MAX || !member_open(member)) {
            continue;
        }
        unsigned instances = 4 * member->width > 8 ? 4 * member->width : 8;
        double together = 2.0 * instances / batch_cycles(&batch, slots[i]);
        if (fabs(together - member->width) <= SAME_TOLERANCE) {
            class_join(map, with[i], i);
        }
    }
    probe_batch_fini(&batch);
    free(slots);
    free(with);
    return status;
}

static enum ip_status classes_form(struct mapper *mapper, struct ip_error *err) {
    struct probe_portmap *map = mapper->map;
    enum ip_status status = IP_OK;
    unsigned first = map->class_count;
    while (status == IP_OK && founders_choose(map, first) > 0) {
        status = round_compare(mapper, first, err);
        first = map->class_count;
    }
    return status;
}

/* -- 3. Unions of pairs and triples
 * -------------------------------------------------------------------------- */

/* Blockers of the classes that can share a kernel. False when there are none. */
static bool blockers_choose(const struct probe_portmap *map, const unsigned *classes, unsigned count,
                            int *blockers) {
    static const unsigned worlds[WORLDS] = {PROBE_PORTS_SCALAR, PROBE_PORTS_VECTOR, PROBE_PORTS_WIDE};
    for (unsigned w = 0; w < WORLDS; w++) {
        bool all = true;
        for (unsigned i = 0; i < count && all; i++) {
            const struct probe_port_class *class = &map->classes[classes[i]];
            blockers[i] =
                class->blocker[0] >= 0 ? class->blocker[0] : class->blocker[world_number(worlds[w])];
            all = blockers[i] >= 0;
        }
        if (all) {
            return true;
        }
    }
    return false;
}

/* Instances in proportion to the widths: then the union of the sets is what binds. */
static unsigned parts_make(const struct probe_portmap *map, const unsigned *classes, unsigned count,
                           struct gen_part *parts) {
    int blockers[GEN_PARTS_MAX];
    if (!blockers_choose(map, classes, count, blockers)) {
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
        unsigned n = times * map->classes[classes[i]].width;
        parts[i] = (struct gen_part){.form = map->members[blockers[i]].form, .count = n};
        instances += n;
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

static struct reading union_read(struct mapper *mapper, const unsigned *classes, unsigned count,
                                 double together) {
    struct probe_portmap *map = mapper->map;
    unsigned widest = 0;
    unsigned sum = 0;
    for (unsigned i = 0; i < count; i++) {
        widest = map->classes[classes[i]].width > widest ? map->classes[classes[i]].width : widest;
        sum += map->classes[classes[i]].width;
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
        reading.exact = sum; /* disjoint */
        reading.at_least = sum;
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

static enum ip_status pairs_measure(struct mapper *mapper, struct ip_error *err) {
    struct probe_portmap *map = mapper->map;
    struct probe_batch batch = {0};
    static const size_t none = SIZE_MAX;
    size_t slots[PROBE_PORTSET_CLASSES][PROBE_PORTSET_CLASSES];
    unsigned instances[PROBE_PORTSET_CLASSES][PROBE_PORTSET_CLASSES];
    enum ip_status status = IP_OK;
    for (unsigned a = 0; a < map->class_count; a++) {
        for (unsigned b = a + 1; b < map->class_count && status == IP_OK; b++) {
            const unsigned classes[2] = {a, b};
            struct gen_part parts[GEN_PARTS_MAX];
            slots[a][b] = none;
            instances[a][b] = parts_make(map, classes, 2, parts);
            if (instances[a][b] != 0) {
                status = mix_add(&batch, parts, 2, &slots[a][b], err);
            }
        }
    }
    map->kernels += batch.count;
    if (status == IP_OK && batch.count > 0) {
        status = probe_batch_measure(&batch, mapper->meter, mapper->encoder, err);
    }
    for (unsigned a = 0; a < map->class_count && status == IP_OK; a++) {
        for (unsigned b = a + 1; b < map->class_count; b++) {
            const unsigned classes[2] = {a, b};
            double together = instances[a][b] / batch_cycles(&batch, slots[a][b]);
            mapper->unions[a][b] = mapper->unions[b][a] = together;
            struct reading reading = union_read(mapper, classes, 2, together);
            mapper->problem.together[a][b] = mapper->problem.together[b][a] = (uint8_t)reading.exact;
            mapper->problem.at_least[a][b] = mapper->problem.at_least[b][a] = (uint8_t)reading.at_least;
        }
    }
    probe_batch_fini(&batch);
    return status;
}

static unsigned triple_ports(const struct probe_portset_solution *solution, unsigned s, unsigned a,
                             unsigned b, unsigned c) {
    return (unsigned)__builtin_popcount(solution->sets[s][a] | solution->sets[s][b] | solution->sets[s][c]);
}

/* Triples whose union differs between two of the solutions, and is not hidden by the issue width. */
static unsigned triples_choose(const struct mapper *mapper, struct probe_portset_triple *triples) {
    const struct probe_portmap *map = mapper->map;
    const struct probe_portset_solution *solution = &map->alternatives;
    unsigned count = 0;
    for (unsigned a = 0; a < map->class_count; a++) {
        for (unsigned b = a + 1; b < map->class_count; b++) {
            for (unsigned c = b + 1; c < map->class_count && count < TRIPLES_PER_ROUND; c++) {
                unsigned least = 99, most = 0;
                for (unsigned s = 0; s < solution->count; s++) {
                    unsigned ports = triple_ports(solution, s, a, b, c);
                    least = ports < least ? ports : least;
                    most = ports > most ? ports : most;
                }
                if (least < most && least < round(map->issue_width)) {
                    triples[count++] = (struct probe_portset_triple){(uint8_t)a, (uint8_t)b, (uint8_t)c, 0};
                }
            }
        }
    }
    return count;
}

static enum ip_status triples_measure(struct mapper *mapper, unsigned *added, struct ip_error *err) {
    struct probe_portset_triple triples[TRIPLES_PER_ROUND];
    size_t slots[TRIPLES_PER_ROUND];
    unsigned instances[TRIPLES_PER_ROUND];
    unsigned count = triples_choose(mapper, triples);
    struct probe_batch batch = {0};
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < count && status == IP_OK; i++) {
        const unsigned classes[3] = {triples[i].a, triples[i].b, triples[i].c};
        struct gen_part parts[GEN_PARTS_MAX];
        slots[i] = SIZE_MAX;
        instances[i] = parts_make(mapper->map, classes, 3, parts);
        if (instances[i] != 0) {
            status = mix_add(&batch, parts, 3, &slots[i], err);
        }
    }
    mapper->map->kernels += batch.count;
    if (status == IP_OK && batch.count > 0) {
        status = probe_batch_measure(&batch, mapper->meter, mapper->encoder, err);
    }
    *added = 0;
    for (unsigned i = 0; i < count && status == IP_OK; i++) {
        const unsigned classes[3] = {triples[i].a, triples[i].b, triples[i].c};
        double together = instances[i] / batch_cycles(&batch, slots[i]);
        triples[i].ports = (uint8_t)union_read(mapper, classes, 3, together).exact;
        if (triples[i].ports != 0 && mapper->problem.triple_count < PROBE_PORTSET_TRIPLES) {
            mapper->problem.triples[mapper->problem.triple_count++] = triples[i];
            ++*added;
        }
    }
    probe_batch_fini(&batch);
    return status;
}

/* -- 4. The smallest set system
 * ------------------------------------------------------------------------------ */

static void class_forget(struct mapper *mapper, unsigned number) {
    struct probe_portmap *map = mapper->map;
    int blocker = class_blocker(&map->classes[number], PROBE_PORTS_SCALAR);
    ip_lines_printf(&map->notes,
                    "the unions of '%s' contradict the others: what is known of pairs with it is left out",
                    map->members[blocker].form->syntax);
    for (unsigned other = 0; other < map->class_count; other++) {
        mapper->problem.together[number][other] = mapper->problem.together[other][number] = 0;
        mapper->problem.at_least[number][other] = mapper->problem.at_least[other][number] = 0;
    }
    unsigned left = 0;
    for (unsigned i = 0; i < mapper->problem.triple_count; i++) {
        const struct probe_portset_triple *triple = &mapper->problem.triples[i];
        if (triple->a != number && triple->b != number && triple->c != number) {
            mapper->problem.triples[left++] = *triple;
        }
    }
    mapper->problem.triple_count = left;
}

static enum ip_status sets_solve(struct mapper *mapper, struct ip_error *err) {
    struct probe_portmap *map = mapper->map;
    unsigned forgotten = 0;
    unsigned conflict = 0;
    mapper->problem.count = map->class_count;
    for (unsigned i = 0; i < map->class_count; i++) {
        mapper->problem.width[i] = (uint8_t)map->classes[i].width;
    }
    while (!probe_portset_solve(&mapper->problem, &map->alternatives, &conflict)) {
        if (++forgotten > map->class_count / 4 + 1) {
            return ip_fail(
                err, IP_UNTRUSTED,
                "no set of ports explains the measured unions; leave the machine idle and try again");
        }
        class_forget(mapper, conflict);
    }
    return IP_OK;
}

static enum ip_status map_solve(struct mapper *mapper, struct ip_error *err) {
    struct probe_portmap *map = mapper->map;
    enum ip_status status = sets_solve(mapper, err);
    unsigned added = 1;
    while (status == IP_OK && map->alternatives.count > 1 && added > 0) {
        status = triples_measure(mapper, &added, err);
        if (status == IP_OK && added > 0) {
            status = sets_solve(mapper, err);
        }
    }
    if (status != IP_OK) {
        return status;
    }
    for (unsigned i = 0; i < map->class_count; i++) {
        map->classes[i].ports = map->alternatives.sets[0][i];
    }
    map->port_count = map->alternatives.ports;
    map->solutions = map->alternatives.count;
    map->more_solutions = map->alternatives.more;
    return IP_OK;
}

/* The best blockers first. Stable: the table's order decides among equals. */
static void members_sort(struct probe_portmap *map) {
    for (size_t i = 1; i < map->member_count; i++) {
        struct probe_port_member member = map->members[i];
        unsigned blemishes = probe_port_blemishes(member.form);
        size_t at = i;
        while (at > 0 && probe_port_blemishes(map->members[at - 1].form) > blemishes) {
            map->members[at] = map->members[at - 1];
            at--;
        }
        map->members[at] = member;
    }
}

enum ip_status probe_portmap_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                     const struct isa_table *table, const char *vendor,
                                     struct probe_portmap *map, struct ip_error *err) {
    struct probe_portmap found;
    memset(&found, 0, sizeof found);
    struct mapper mapper = {.meter = meter, .encoder = encoder, .map = &found};
    enum ip_status status = probe_port_candidates(table, &found, err);
    if (status == IP_OK) {
        members_sort(&found);
        status = members_measure(&mapper, err);
    }
    status = status == IP_OK ? classes_form(&mapper, err) : status;
    status = status == IP_OK ? pairs_measure(&mapper, err) : status;
#ifdef PM_DEBUG
    for (unsigned a = 0; a < found.class_count; a++) {
        int bl = class_blocker(&found.classes[a], PROBE_PORTS_SCALAR);
        fprintf(stderr, "%2u w%u m%u worlds %u %-28s", a, found.classes[a].width, found.classes[a].members,
                found.classes[a].worlds, found.members[bl].form->syntax);
        for (unsigned b = 0; b < found.class_count; b++)
            fprintf(stderr, " %.2f", mapper.unions[a][b]);
        fprintf(stderr, "\n");
    }
#endif
    status = status == IP_OK ? map_solve(&mapper, err) : status;
    if (status == IP_OK && found.notes.failed) {
        status = ip_fail(err, IP_NO_MEMORY, "no memory for the notes of the port map");
    }
    if (status != IP_OK) {
        probe_portmap_fini(&found);
        return status;
    }
    probe_portmap_label(&found, vendor);
    *map = found;
    return IP_OK;
}
