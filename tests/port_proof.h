/* SPDX-License-Identifier: Apache-2.0 */
/* tests/port_proof.h - what a simulated CPU's description says of a form's ports, against what was inferred.
 * For the proof (tests/bench/proof.c) and for its reduced version among the unit tests. */
#ifndef ISAPROBE_TESTS_PORT_PROOF_H
#define ISAPROBE_TESTS_PORT_PROOF_H

#include <math.h>
#include <string.h>

#include "harness/sim_description.h"
#include "probe/usage.h"

enum proof_result {
    PROOF_EXACT,     /* the same µops on the same ports */
    PROOF_AMBIGUOUS, /* told to be one of several, and the truth is among them */
    PROOF_MARKED,    /* told not to be trusted */
    PROOF_WRONG,     /* neither */
    PROOF_UNKNOWN,   /* not measured, with a reason */
    PROOF_RESULTS,
};

/* Ports have no names before they are found: which port of the description is which of the map. */
struct proof_ports {
    uint32_t truth[PROBE_PORTSET_PORTS]; /* bit of the description's port; 0: none */
    unsigned wrong;                      /* ports of the map without a partner */
    unsigned system;                     /* of several that explain the map the one that this is of */
};

/* The only set of a one-µop form, 0: it has none or several µops. Of a store, its data's. */
static inline uint32_t proof_set(const struct hx_sim_description *d, const struct hx_sim_row *row,
                                 bool store) {
    uint32_t set = 0;
    unsigned uops = 0;
    for (unsigned i = 0; row != NULL && i < row->uops_count; i++) {
        uint32_t ports = row->uops[i].ports;
        if (!store || ports == d->store_data_ports ||
            (d->store_data_ports == 0 && ports == d->store_address_ports)) {
            uops += row->uops[i].count;
            set = ports;
        }
    }
    return uops == 1 ? set : 0;
}

/* Pairs ports of one system of sets by the members of the map that may use them: a port of the map and one of
 * the description are the same when exactly the same members have them. */
static inline void proof_system_pair(const struct hx_sim_description *d, const struct probe_portmap *map,
                                     unsigned system, struct proof_ports *pairs) {
    const uint32_t *sets = map->alternatives.sets[system];
    uint32_t taken = 0, all = 0;
    *pairs = (struct proof_ports){.system = system};
    for (unsigned c = 0; c < map->class_count; c++) {
        all |= sets[c];
    }
    for (unsigned p = 0; p < PROBE_PORTSET_PORTS; p++) {
        for (unsigned t = 0; t < d->ports_count && (all >> p & 1u) != 0 && pairs->truth[p] == 0; t++) {
            bool same = (taken >> t & 1u) == 0, any = false;
            for (size_t i = 0; i < map->member_count && same; i++) {
                const struct probe_port_member *member = &map->members[i];
                if (member->class < 0 || member->scaled) {
                    continue;
                }
                uint32_t set = proof_set(d, hx_sim_row_find(d, member->form, NULL), member->store);
                bool found = (sets[member->class] >> p & 1u) != 0;
                same = set == 0 || (set >> t & 1u) == found;
                any = any || (set != 0 && found);
            }
            if (same && any) {
                pairs->truth[p] = UINT32_C(1) << t;
                taken |= pairs->truth[p];
            }
        }
        pairs->wrong += (all >> p & 1u) != 0 && pairs->truth[p] == 0;
    }
}

/* Of the systems that explain the map the one that fits best. */
static inline void proof_ports_pair(const struct hx_sim_description *d, const struct probe_portmap *map,
                                    struct proof_ports *pairs) {
    proof_system_pair(d, map, 0, pairs);
    for (unsigned s = 1; s < map->solutions && pairs->wrong > 0; s++) {
        struct proof_ports other;
        proof_system_pair(d, map, s, &other);
        *pairs = other.wrong < pairs->wrong ? other : *pairs;
    }
}

static inline uint32_t proof_translate(const struct proof_ports *pairs, uint32_t ports) {
    uint32_t set = 0;
    for (; ports != 0; ports &= ports - 1) {
        set |= pairs->truth[__builtin_ctz(ports)];
    }
    return set;
}

static inline bool proof_writes_memory(const struct isa_form *form) {
    for (unsigned i = 0; i < form->operand_count; i++) {
        if (form->operands[i].kind == ISA_OPERAND_MEM && form->operands[i].write) {
            return true;
        }
    }
    return false;
}

/* What of a row the issue width hides, as a usage says. */
struct proof_hidden {
    unsigned term;  /* that has it; PROBE_USAGE_TERMS: none has */
    unsigned width; /* what may go to so many or more; 0: nothing is hidden */
};

static inline bool proof_is_hidden(const struct proof_hidden *hidden, uint32_t ports) {
    return hidden->width != 0 && (unsigned)__builtin_popcount(ports) >= hidden->width;
}

static inline unsigned proof_hidden_uops(const struct hx_sim_row *row, const struct proof_hidden *hidden) {
    unsigned uops = 0;
    for (unsigned i = 0; i < row->uops_count; i++) {
        uops += proof_is_hidden(hidden, row->uops[i].ports) ? row->uops[i].count : 0u;
    }
    return uops;
}

/* Do the terms say what the row says, but for uops that are `hidden`? A store's address goes
 * with its data: time does not show it. */
static inline bool proof_terms_equal(const struct hx_sim_description *d, const struct hx_sim_row *row,
                                     const struct isa_form *form, const struct proof_ports *pairs,
                                     const struct probe_usage *usage, const struct proof_hidden *hidden) {
    unsigned matched = 0, terms = 0;
    for (unsigned t = 0; t < usage->term_count; t++) {
        terms += t != hidden->term;
    }
    for (unsigned i = 0; i < row->uops_count; i++) {
        uint32_t ports = row->uops[i].ports;
        bool address =
            ports == d->store_address_ports && d->store_data_ports != 0 && proof_writes_memory(form);
        if (address || proof_is_hidden(hidden, ports)) {
            continue;
        }
        bool found = false;
        for (unsigned t = 0; t < usage->term_count && !found; t++) {
            found = proof_translate(pairs, usage->terms[t].ports) == ports &&
                    usage->terms[t].uops == row->uops[i].count;
        }
        if (!found) {
            return false;
        }
        matched++;
    }
    return matched == terms;
}

/* In the true system of sets a usage may be another; only one that is told to be ambiguous may. */
static inline enum proof_result proof_judge(const struct hx_sim_description *d,
                                            const struct probe_portmap *map, const struct hx_sim_row *row,
                                            const struct isa_form *form, const struct proof_ports *pairs,
                                            const struct probe_usage *usage) {
    if (usage->verdict == PROBE_USAGE_UNKNOWN) {
        return PROOF_UNKNOWN;
    }
    if (usage->verdict == PROBE_USAGE_INCONSISTENT) {
        return PROOF_MARKED;
    }
    struct probe_usage its = *usage;
    const bool hides = usage->hidden_most > 0;
    struct proof_hidden hidden = {PROBE_USAGE_TERMS, hides ? (unsigned)round(map->issue_width) : 0};
    for (unsigned t = 0; t < usage->term_count && usage->hidden_ports != 0; t++) {
        hidden.term = usage->terms[t].ports == usage->hidden_ports ? t : hidden.term;
    }
    if ((usage->ambiguous && !probe_usage_in_system(map, form, usage, pairs->system, its.terms)) ||
        !proof_terms_equal(d, row, form, pairs, &its, &hidden) ||
        proof_hidden_uops(row, &hidden) > usage->hidden_most) {
        return PROOF_WRONG;
    }
    return usage->hidden_most > 0 || usage->ambiguous ? PROOF_AMBIGUOUS : PROOF_EXACT;
}

#endif
