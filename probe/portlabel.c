/* SPDX-License-Identifier: Apache-2.0 */
/* probe/portlabel.c - names for ports that were found without names. A convention, so that tables can be
 * compared; nothing is inferred from it. For Intel the anchors are what Intel's own optimisation manual and
 * uops.info agree on since Sandy Bridge. */
#include <string.h>

#include "probe/portmap.h"

/* A port is called `name` when it is the only one that is in the sets of all `in` and of none of `out`
 * (mnemonics; NULL ends). */
struct anchor {
    char name;
    const char *in[3];
    const char *out[3];
};

static const struct anchor intel[] = {
    {'1', {"imul", NULL}, {NULL}},
    {'5', {"vpermd", NULL}, {NULL}},
    {'0', {"shlx", "vmulps", NULL}, {NULL}},
    {'6', {"shlx", NULL}, {"vmulps", NULL}},
    {'B', {"lea", NULL}, {"imul", "shlx", "vpermd"}},
    {'B', {"andn", NULL}, {"imul", "shlx", "vpermd"}},
    {'B', {"movsxd", NULL}, {"imul", "shlx", "vpermd"}},
};

static uint32_t ports_of(const struct probe_portmap *map, const char *mnemonic) {
    for (size_t i = 0; i < map->member_count; i++) {
        const struct probe_port_member *member = &map->members[i];
        if (member->class >= 0 && !member->load && !member->store &&
            strcmp(member->form->mnemonic, mnemonic) == 0) {
            return map->classes[member->class].ports;
        }
    }
    return 0;
}

static void anchor_apply(struct probe_portmap *map, const struct anchor *anchor) {
    uint32_t ports = UINT32_MAX;
    for (unsigned i = 0; i < 3 && anchor->in[i] != NULL; i++) {
        ports &= ports_of(map, anchor->in[i]);
    }
    for (unsigned i = 0; i < 3 && anchor->out[i] != NULL; i++) {
        ports &= ~ports_of(map, anchor->out[i]);
    }
    if (ports == 0 || (ports & (ports - 1)) != 0 || strchr(map->names, anchor->name) != NULL) {
        return;
    }
    unsigned port = (unsigned)__builtin_ctz(ports);
    if (map->names[port] == '?') {
        map->names[port] = anchor->name;
    }
}

static void names_give(struct probe_portmap *map, uint32_t ports, const char *names) {
    for (unsigned p = 0; p < map->port_count; p++) {
        if ((ports >> p & 1u) != 0 && map->names[p] == '?') {
            while (*names != '\0' && strchr(map->names, *names) != NULL) {
                names++;
            }
            if (*names != '\0') {
                map->names[p] = *names++;
            }
        }
    }
}

void probe_portmap_label(struct probe_portmap *map, const char *vendor) {
    memset(map->names, '?', map->port_count);
    map->names[map->port_count] = '\0';
    if (strcmp(vendor, "GenuineIntel") == 0) {
        for (size_t i = 0; i < sizeof intel / sizeof intel[0]; i++) {
            anchor_apply(map, &intel[i]);
        }
        for (unsigned c = 0; c < map->class_count; c++) {
            if (map->classes[c].load) {
                names_give(map, map->classes[c].ports, "23A");
            } else if (map->classes[c].store) {
                names_give(map, map->classes[c].ports, "4978");
            }
        }
    }
    names_give(map, UINT32_MAX, "0123456789ABCDEFGHIJ");
}
