/* SPDX-License-Identifier: Apache-2.0 */
/* probe/usage_systems.c - what a usage is where several systems of sets explain the port map. */
#include <stdio.h>
#include <string.h>

#include "probe/usage_steps.h"

/* The classes that could be read beside the form: others may happen to have the same sets. */
struct readable {
    bool classes[PROBE_PORTSET_CLASSES];
};

static void readable_find(const struct probe_portmap *map, const struct isa_form *form,
                          struct readable *readable) {
    struct isa_form own = *form;
    struct probe_usage_subject subject;
    probe_usage_subject_init(&subject, &own);
    for (unsigned c = 0; c < map->class_count; c++) {
        readable->classes[c] = probe_usage_blocker(&subject, map, c) >= 0;
    }
}

/* The class whose set these ports are, of several one that could be read; -1: none. */
static int class_of(const struct probe_portmap *map, const struct readable *readable, uint32_t ports) {
    int found = -1;
    for (unsigned c = 0; c < map->class_count; c++) {
        bool better = found < 0 || (readable->classes[c] && !readable->classes[found]);
        found = map->classes[c].ports == ports && better ? (int)c : found;
    }
    return found;
}

/* What all the sets around these ports share in the system, and whether *that is what they are. */
static uint32_t shared_in(const struct probe_portmap *map, const struct readable *readable, uint32_t ports,
                          const uint32_t *sets, bool *exact) {
    uint32_t here = UINT32_MAX, there = UINT32_MAX;
    for (unsigned c = 0; c < map->class_count; c++) {
        if (readable->classes[c] && ports_within(ports, map->classes[c].ports)) {
            here &= map->classes[c].ports;
            there &= sets[c];
        }
    }
    *exact = here == ports;
    return there;
}

/* The set in the system that is these ports in the first one: of a class, or what several classes share.
 * What the issue width hides is no set: it may be any port, or none. */
static uint32_t set_in(const struct probe_portmap *map, const struct readable *readable, uint32_t ports,
                       unsigned system) {
    const uint32_t *sets = map->alternatives.sets[system];
    bool exact = false;
    int class = class_of(map, readable, ports);
    uint32_t shared = shared_in(map, readable, ports, sets, &exact);
    return class >= 0 ? sets[class] : exact ? shared : ports;
}

/* Is the set one of which the map knows no more than how many ports it has? */
static bool is_open(const struct probe_portmap *map, const struct readable *readable, uint32_t ports) {
    int class = class_of(map, readable, ports);
    return class >= 0 && probe_port_class_is_ambiguous(map, (unsigned)class);
}

/* Which µops are counted within which sets must be the same in both systems. None are within what is hidden.
 */
static bool same_nesting(const struct probe_usage *usage, const struct probe_usage_term *terms) {
    bool same = true;
    for (unsigned a = 0; a < usage->term_count; a++) {
        for (unsigned b = 0; b < usage->term_count; b++) {
            bool hidden = usage->terms[b].ports == usage->hidden_ports;
            bool here = ports_within(usage->terms[a].ports, usage->terms[b].ports);
            same = same && (hidden || here == ports_within(terms[a].ports, terms[b].ports));
        }
    }
    return same;
}

static bool terms_in(const struct probe_portmap *map, const struct readable *readable,
                     const struct probe_usage *usage, unsigned system,
                     struct probe_usage_term terms[PROBE_USAGE_TERMS]) {
    bool whole = true;
    for (unsigned t = 0; t < usage->term_count; t++) {
        const uint32_t ports = usage->terms[t].ports;
        bool hidden = ports == usage->hidden_ports;
        terms[t] = usage->terms[t];
        terms[t].ports = hidden ? ports : set_in(map, readable, ports, system);
        whole = whole && ports_in(terms[t].ports) == ports_in(ports);
    }
    return whole && same_nesting(usage, terms);
}

bool probe_usage_in_system(const struct probe_portmap *map, const struct isa_form *form,
                           const struct probe_usage *usage, unsigned system,
                           struct probe_usage_term terms[PROBE_USAGE_TERMS]) {
    struct readable readable;
    readable_find(map, form, &readable);
    return terms_in(map, &readable, usage, system, terms);
}

static bool terms_differ(const struct probe_usage *usage, const struct probe_usage_term *terms) {
    bool differ = false;
    for (unsigned t = 0; t < usage->term_count; t++) {
        differ = differ || terms[t].ports != usage->terms[t].ports;
    }
    return differ;
}

void probe_usage_systems_ask(const struct isa_form *form, struct probe_usage *result,
                             const struct probe_portmap *map) {
    struct readable readable;
    struct probe_usage_term terms[PROBE_USAGE_TERMS];
    bool ambiguous = false, any = false;
    for (unsigned c = 0; c < map->class_count; c++) {
        any = any || probe_port_class_is_ambiguous(map, c);
    }
    if (result->verdict != PROBE_USAGE_OK || !any) {
        return;
    }
    readable_find(map, form, &readable);
    for (unsigned t = 0; t < result->term_count; t++) {
        bool hidden = result->terms[t].ports == result->hidden_ports;
        ambiguous = ambiguous || (!hidden && is_open(map, &readable, result->terms[t].ports));
    }
    for (unsigned s = 1; s < map->alternatives.count && !ambiguous; s++) {
        ambiguous = !terms_in(map, &readable, result, s, terms) || terms_differ(result, terms);
    }
    result->ambiguous = ambiguous;
}

/* Is the usage among those that are told? */
static bool is_told(const char *told, const char *usage) {
    size_t length = strlen(usage);
    for (const char *at = strstr(told, usage); at != NULL; at = strstr(at + 1, usage)) {
        if ((at == told || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' ')) {
            return true;
        }
    }
    return false;
}

const char *probe_usage_print_all(const struct probe_portmap *map, const struct isa_form *form,
                                  const struct probe_usage *usage, char *buffer) {
    static const char others[] = PROBE_USAGE_OR "others";
    struct readable readable;
    struct probe_usage system = *usage;
    char text[PROBE_USAGE_TEXT];
    bool more = map->more_solutions != PROBE_PORTSET_NO_MORE;
    size_t used = strlen(probe_usage_print(map, usage, buffer));
    if (!usage->ambiguous) {
        return buffer;
    }
    readable_find(map, form, &readable);
    for (unsigned t = 0; t < usage->term_count; t++) {
        int class = class_of(map, &readable, usage->terms[t].ports);
        more = more || (class >= 0 && map->classes[class].contradicted);
    }
    for (unsigned s = 1; s < map->alternatives.count; s++) {
        bool whole = terms_in(map, &readable, usage, s, system.terms);
        (void)probe_usage_print(map, &system, text);
        bool room =
            used + sizeof PROBE_USAGE_OR + strlen(text) + sizeof others <= PROBE_USAGE_ALTERNATIVES_TEXT;
        more = more || !whole || !room;
        if (whole && room && !is_told(buffer, text)) {
            used += (size_t)snprintf(buffer + used, PROBE_USAGE_ALTERNATIVES_TEXT - used, PROBE_USAGE_OR "%s",
                                     text);
        }
    }
    (void)snprintf(buffer + used, PROBE_USAGE_ALTERNATIVES_TEXT - used, "%s", more ? others : "");
    return buffer;
}
