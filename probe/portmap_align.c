/* SPDX-License-Identifier: Apache-2.0 */
/* probe/portmap_align.c - where several systems of sets explain what was measured: the same names for the
 * ports of all of them, as far as the systems say the same.
 *
 * Names of ports mean nothing by themselves, so that of two systems {0 1} {2 3} and {0 1} {1 2} either set
 * may be called the same one. As many members as can be are called alike. What is then called alike in all
 * systems is so together: whichever system is true, any mix of such classes takes the time that these sets
 * say. */
#include <string.h>

#include "probe/portmap.h"

/* What is called alike so far: the classes of order[0..count). */
struct alike {
    unsigned order[PROBE_PORTSET_CLASSES];
    unsigned count;
};

/* The classes of `alike` that may use the port, by their places. */
static uint64_t classes_of_port(const struct alike *alike, const uint32_t *sets, unsigned port) {
    uint64_t classes = 0;
    for (unsigned i = 0; i < alike->count; i++) {
        classes |= (uint64_t)(sets[alike->order[i]] >> port & 1u) << i;
    }
    return classes;
}

/* The ports that just these of the classes may use. */
static uint32_t ports_of_classes(const struct alike *alike, const uint32_t *sets, uint64_t classes) {
    uint32_t ports = 0;
    for (unsigned p = 0; p < PROBE_PORTSET_PORTS; p++) {
        ports |= classes_of_port(alike, sets, p) == classes ? UINT32_C(1) << p : 0;
    }
    return ports;
}

/* Are there names by which each of the classes has the same set in both systems? There are where as many
 * ports of the one as of the other belong to just the same classes. */
static bool can_be_alike(const struct alike *alike, const uint32_t *one, const uint32_t *other) {
    uint64_t here[PROBE_PORTSET_PORTS], there[PROBE_PORTSET_PORTS];
    for (unsigned p = 0; p < PROBE_PORTSET_PORTS; p++) {
        here[p] = classes_of_port(alike, one, p);
        there[p] = classes_of_port(alike, other, p);
    }
    for (unsigned p = 0; p < PROBE_PORTSET_PORTS; p++) {
        unsigned match = 0;
        while (match < PROBE_PORTSET_PORTS && there[match] != here[p]) {
            match++;
        }
        if (match == PROBE_PORTSET_PORTS) {
            return false;
        }
        there[match] = UINT64_MAX; /* taken */
    }
    return true;
}

/* Those that can be called alike in the first system and in those from..to, added one by one, that class
 * last. */
static void alike_extend(const struct probe_portset_solution *systems, unsigned from, unsigned to,
                         const unsigned *order, unsigned count, unsigned last, struct alike *alike) {
    const unsigned before = alike->count;
    for (unsigned i = 0; i <= count; i++) {
        const unsigned class = i < count ? order[i] : last;
        bool fits = class < PROBE_PORTSET_CLASSES && (i == count || class != last);
        for (unsigned there = 0; there < before; there++) {
            fits = fits && alike->order[there] != class;
        }
        if (!fits) {
            continue; /* it is among them, or waits, or there is none */
        }
        alike->order[alike->count++] = class;
        for (unsigned s = from; s < to && fits; s++) {
            fits = can_be_alike(alike, systems->sets[0], systems->sets[s]);
        }
        alike->count -= !fits;
    }
}

/* How much of the map they are. */
static unsigned weight_of(const struct probe_portmap *map, const struct alike *alike) {
    unsigned weight = 0;
    for (unsigned i = 0; i < alike->count; i++) {
        weight += PROBE_PORTSET_CLASSES * map->classes[alike->order[i]].members + 1;
    }
    return weight;
}

/* Those with most members one by one; or, where these are more in all, without one that keeps several others
 * from it. */
static void alike_find(const struct probe_portmap *map, const unsigned *order, struct alike *alike) {
    const struct probe_portset_solution *systems = &map->alternatives;
    alike_extend(systems, 1, systems->count, order, map->class_count, PROBE_PORTSET_CLASSES, alike);
    for (unsigned c = 0; c < map->class_count; c++) {
        struct alike without = {.count = 0};
        alike_extend(systems, 1, systems->count, order, map->class_count, c, &without);
        if (weight_of(map, &without) > weight_of(map, alike)) {
            *alike = without;
        }
    }
}

/* Gives the ports of the system the names of those of the first one that the same classes may use. What is
 * left has those that the first one has left, and then names of its own. */
static void system_rename(const struct alike *alike, const uint32_t *first, unsigned first_ports,
                          unsigned class_count, uint32_t *sets) {
    uint32_t renamed[PROBE_PORTSET_CLASSES] = {0};
    uint32_t used = 0, left = (UINT32_C(1) << first_ports) - 1, more = ~left;
    for (unsigned c = 0; c < class_count; c++) {
        used |= sets[c];
    }
    /* Of the classes' own ports first. */
    for (unsigned rest = 0; rest < 2; rest++) {
        for (unsigned p = 0; p < PROBE_PORTSET_PORTS; p++) {
            uint64_t classes = classes_of_port(alike, sets, p);
            if ((used >> p & 1u) == 0 || (classes == 0) != (rest == 1)) {
                continue;
            }
            uint32_t names = ports_of_classes(alike, first, classes) & left;
            names = names != 0 ? names : more;
            const uint32_t name = names & -names;
            left &= ~name;
            more &= ~name;
            for (unsigned c = 0; c < class_count; c++) {
                renamed[c] |= (sets[c] >> p & 1u) != 0 ? name : 0;
            }
        }
    }
    memcpy(sets, renamed, class_count * sizeof *sets);
}

/* Those with most members first; where they have as many, in the order of the map. */
static void order_make(const struct probe_portmap *map, unsigned *order) {
    for (unsigned c = 0; c < map->class_count; c++) {
        unsigned at = c;
        while (at > 0 && map->classes[order[at - 1]].members < map->classes[c].members) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = c;
    }
}

void probe_portmap_align(struct probe_portmap *map) {
    struct probe_portset_solution *systems = &map->alternatives;
    unsigned order[PROBE_PORTSET_CLASSES] = {0};
    struct alike in_all = {.count = 0};
    order_make(map, order);
    if (systems->count <= 1) {
        return;
    }
    alike_find(map, order, &in_all);
    for (unsigned s = 1; s < systems->count; s++) {
        struct alike alike = in_all;
        alike_extend(systems, s, s + 1, order, map->class_count, PROBE_PORTSET_CLASSES, &alike);
        system_rename(&alike, systems->sets[0], map->port_count, map->class_count, systems->sets[s]);
    }
}

static bool is_memory(const struct probe_portmap *map, unsigned number) {
    return map->classes[number].load || map->classes[number].store;
}

static bool set_differs(const struct probe_portmap *map, unsigned number) {
    for (unsigned s = 1; s < map->alternatives.count; s++) {
        if (map->alternatives.sets[s][number] != map->alternatives.sets[0][number]) {
            return true;
        }
    }
    return false;
}

bool probe_port_class_is_ambiguous(const struct probe_portmap *map, unsigned number) {
    const bool memory = is_memory(map, number);
    bool same_kind = false, any = false;
    for (unsigned c = 0; c < map->class_count; c++) {
        bool differs = set_differs(map, c);
        any = any || differs;
        same_kind = same_kind || (differs && is_memory(map, c) == memory);
    }
    /* Who saw no other system, but broke the search off, did so among the sets that compute. */
    bool more = map->more_solutions == PROBE_PORTSET_MORE && (same_kind || (!any && !memory));
    return map->classes[number].contradicted || set_differs(map, number) || more;
}
