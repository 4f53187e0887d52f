/* SPDX-License-Identifier: Apache-2.0 */
/* probe/portlabel.c - names for ports that were found without names. A convention, so that tables can be
 * compared; nothing is inferred from it. For Intel the anchors are what Intel's optimisation manual and
 * uops.info agree on since Sandy Bridge; for AMD those of the vector pipes, FP0 to FP3 of a Zen in AMD's
 * optimization guides and uops.info: two multiply, two add, and one of each shuffles. */
#include <math.h>
#include <string.h>

#include "probe/portmap.h"

/* A port gets `name` when it is all that is common to the sets of the mnemonics `in`, less those of `out`.
 * The first row of a name that fits counts; the last ones are for cores without AVX. */
struct anchor {
    char name;
    const char *in[2];
    const char *out;
};

static const struct anchor intel[] = {
    {'1', {"imul"}, NULL},        {'1', {"popcnt"}, NULL},         {'1', {"pdep"}, NULL},
    {'5', {"vpermd"}, NULL},      {'5', {"vperm2f128"}, NULL},     {'5', {"vpermq"}, NULL},
    {'5', {"vpshufd"}, NULL},     {'0', {"shlx", "vmulps"}, NULL}, {'0', {"shlx", "vmulpd"}, NULL},
    {'0', {"vmovmskpd"}, NULL},   {'0', {"vmovd"}, NULL},          {'6', {"shlx"}, "vmulps"},
    {'6', {"shlx"}, "vmovmskpd"}, {'5', {"pshufd"}, NULL},         {'5', {"shufps"}, NULL},
    {'0', {"movmskpd"}, NULL},    {'0', {"movmskps"}, NULL},       {'6', {"bt"}, "movmskpd"},
    {'6', {"bt"}, "movmskps"},
};

static const char intel_core[] = "0156BCDEFGHIJKLMNOPQ"; /* for what no anchor names */

static const struct anchor amd[] = {
    {'0', {"vmulpd"}, "vpshufb"},       {'0', {"vmulps"}, "vpackssdw"},
    {'1', {"vmulpd", "vpshufb"}, NULL}, {'1', {"vmulps", "vpackssdw"}, NULL},
    {'2', {"vaddpd", "vpshufb"}, NULL}, {'2', {"vaddps", "vpackssdw"}, NULL},
    {'3', {"vaddpd"}, "vpshufb"},       {'3', {"vaddps"}, "vpackssdw"},
    {'0', {"mulps"}, "packssdw"},       {'1', {"mulps", "packssdw"}, NULL},
    {'2', {"addps", "packssdw"}, NULL}, {'3', {"addps"}, "packssdw"},
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
    uint32_t ports = ports_of(map, anchor->in[0]);
    if (anchor->in[1] != NULL) {
        ports &= ports_of(map, anchor->in[1]);
    }
    if (anchor->out != NULL) {
        uint32_t out = ports_of(map, anchor->out);
        ports = out != 0 ? ports & ~out : 0;
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
        if ((ports >> p & 1u) == 0 || map->names[p] != '?') {
            continue;
        }
        while (*names != '\0' && strchr(map->names, *names) != NULL) {
            names++;
        }
        if (*names != '\0') {
            map->names[p] = *names++;
        }
    }
}

/* Narrow classes first: of the loads' ports 2 and 3 are those that 512-bit loads have too. */
static void memory_label(struct probe_portmap *map, bool load, const char *names) {
    for (unsigned width = 1; width <= PROBE_PORTSET_PORTS; width++) {
        for (unsigned c = 0; c < map->class_count; c++) {
            const struct probe_port_class *class = &map->classes[c];
            if (class->width == width && (load ? class->load : class->store)) {
                names_give(map, class->ports, names);
            }
        }
    }
}

/* Of classes with as many ports that with more members first: by their order in the map names would change
 * from run to run. What jumps alone have comes behind all others. */
static void classes_label(struct probe_portmap *map, const char *names) {
    for (unsigned width = 1; width <= PROBE_PORTSET_PORTS; width++) {
        for (size_t members = map->member_count; members > 0; members--) {
            for (unsigned c = 0; c < map->class_count; c++) {
                const struct probe_port_class *class = &map->classes[c];
                if (class->width == width && class->members == members &&
                    probe_port_class_computes(map, class)) {
                    names_give(map, class->ports, names);
                }
            }
        }
    }
}

static bool named(const struct probe_portmap *map, const char *names) {
    bool all = true;
    for (; *names != '\0'; names++) {
        all = all && strchr(map->names, *names) != NULL;
    }
    return all;
}

static bool runs(const struct probe_portmap *map, bool (*is)(const struct probe_port_member *)) {
    bool any = false;
    for (size_t i = 0; i < map->member_count; i++) {
        any = any || (map->members[i].runs && is(&map->members[i]));
    }
    return any;
}

static bool is_wide(const struct probe_port_member *member) {
    return member->world == PROBE_PORTS_WIDE;
}

/* Of BMI2, as old as the third port for addresses. */
static bool is_bmi(const struct probe_port_member *member) {
    const char *mnemonic = member->form->mnemonic;
    return strcmp(mnemonic, "shlx") == 0 || strcmp(mnemonic, "sarx") == 0 || strcmp(mnemonic, "rorx") == 0;
}

/* Time does not show the ports of a store's address; who has such loads and stores does, of those cores that
 * Intel's manual and uops.info agree on. Two stores a cycle: 78 beside three loads (Golden Cove) or 512 bits
 * (Ice Lake) and no more than six issue slots; of other cores (Gracemont, Lion Cove) nothing is known. One:
 * 237 beside two loads since Haswell, whose BMI a Sandy Bridge (23) lacks. A Nehalem (3) and the older Atoms
 * have one load a cycle. */
static const char *intel_store_address(const struct probe_portmap *map) {
    if (named(map, "49")) {
        enum { SLOTS_MOST = 6 };
        bool known = named(map, "23A") || (named(map, "23") && runs(map, is_wide));
        return known && round(map->issue_width) <= SLOTS_MOST ? "78" : "";
    }
    return named(map, "234") && !named(map, "A") && runs(map, is_bmi) ? "237" : "";
}

void probe_portmap_label(struct probe_portmap *map, const char *vendor) {
    static const char all[] = "0123456789ABCDEFGHIJ";
    memset(map->names, '?', map->port_count);
    map->names[map->port_count] = '\0';
    if (strcmp(vendor, "GenuineIntel") == 0) {
        for (size_t i = 0; i < sizeof intel / sizeof intel[0]; i++) {
            anchor_apply(map, &intel[i]);
        }
        memory_label(map, true, "23A");
        memory_label(map, false, "4978");
        names_give(map, UINT32_MAX, intel_core);
        (void)strcpy(map->store_address, intel_store_address(map));
    }
    if (strcmp(vendor, "AuthenticAMD") == 0) {
        for (size_t i = 0; i < sizeof amd / sizeof amd[0]; i++) {
            anchor_apply(map, &amd[i]);
        }
        classes_label(map, all);
        memory_label(map, true, all);
        memory_label(map, false, all);
    }
    names_give(map, UINT32_MAX, all);
}
