/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/portmap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/portmap_candidates.h"
#include "probe/portmap_steps.h"
#include "probe/rename.h"

enum {
    ALONE_INSTANCES = 24,   /* of a form in its throughput kernel */
    NOP_INSTANCES = 60,     /* beside some of the form: issue slots; at least ... */
    NOP_CYCLES = 7,         /* ... and so many cycles: what takes one a cycle still takes less */
    SLOT_INSTANCES = 6,     /* of the form */
    FAILURES_MAX = 8,       /* attempts that were broken off: most of them soon, without an issue width */
    ATTEMPTS_MAX = 6,       /* until two find the same sets */
    LOOP_INSTRUCTIONS = 48, /* enough for a loop; of larger ones parts may come from the decoders */
};

/* Calm, two attempts take a few seconds. Whoever waits for this much has a neighbour who stays. */
static const double ATTEMPTS_SECONDS = 30;
static const double WIDTH_TOLERANCE = 0.04; /* of 1/throughput to an integer, relative */
static const double ISSUE_TOLERANCE = 0.15; /* of the issue width to an integer; more is somebody else's */
static const double SLOT_TOLERANCE = 0.25;  /* of the slots of a one-slot form to 1 */
static const double STORE_SLOTS_MAX = 2;    /* of a store's µops: its address and its data */

void probe_portmap_fini(struct probe_portmap *map) {
    free(map->members);
    ip_lines_fini(&map->notes);
    memset(map, 0, sizeof *map);
}

bool probe_portmap_is_ambiguous(const struct probe_portmap *map) {
    return map->solutions > 1 || map->more_solutions != PROBE_PORTSET_NO_MORE;
}

const char *probe_ports_print(const struct probe_portmap *map, uint32_t ports, char *buffer) {
    size_t length = 0;
    for (unsigned p = 0; p < PROBE_PORTSET_PORTS; p++) {
        if ((ports >> p & 1u) == 0) {
            continue;
        }
        const char name = p < map->port_count ? map->names[p] : '?';
        size_t at = length++;
        while (at > 0 && (name != '?' && (buffer[at - 1] == '?' || buffer[at - 1] > name))) {
            buffer[at] = buffer[at - 1];
            at--;
        }
        buffer[at] = name;
    }
    buffer[length] = '\0';
    return buffer;
}

const char *probe_port_class_print(const struct probe_portmap *map, const struct probe_port_class *class,
                                   char *buffer) {
    (void)probe_ports_print(map, class->ports, buffer);
    if (class->store && map->store_address[0] != '\0') {
        size_t length = strlen(buffer);
        (void)snprintf(buffer + length, PROBE_PORTSET_PORTS + 6 - length, "+%s", map->store_address);
    }
    return buffer;
}

/* -- What the steps share ----------------------------------------------------------------------------- */

enum ip_status probe_mix_add(struct probe_batch *batch, const struct gen_part *parts, unsigned count,
                             size_t *slot, struct ip_error *err) {
    struct gen_program program;
    struct ip_error reason;
    *slot = SIZE_MAX;
    enum ip_status status = gen_mix_program(&program, parts, count, &reason);
    if (status == IP_OK) {
        size_t lines = program.unit.count > 0 ? program.unit.count : 1;
        program.copies = (uint32_t)((LOOP_INSTRUCTIONS + lines - 1) / lines);
        return probe_batch_add(batch, &program, slot, err);
    }
    if (status == IP_NO_MEMORY) {
        *err = reason;
        return status;
    }
    return IP_OK;
}

double probe_mix_cycles(const struct probe_batch *batch, size_t slot) {
    return slot != SIZE_MAX && batch->stats[slot].verdict == HX_VERDICT_OK ? batch->stats[slot].cycles : NAN;
}

enum ip_status probe_mixes_measure(const struct probe_mapper *mapper, struct probe_batch *batch,
                                   struct ip_error *err) {
    mapper->map->kernels += batch->count;
    batch->looks = PROBE_MIX_LOOKS;
    return batch->count > 0 ? probe_batch_measure(batch, mapper->meter, mapper->encoder, err) : IP_OK;
}

enum ip_status probe_mixes_measure_carefully(const struct probe_mapper *mapper, struct probe_batch *batch,
                                             struct ip_error *err) {
    mapper->map->kernels += batch->count;
    return batch->count > 0 ? probe_batch_measure(batch, mapper->meter, mapper->encoder, err) : IP_OK;
}

struct gen_part probe_port_part(const struct probe_port_member *member, unsigned count) {
    enum { REGISTERS = 2 }; /* so few that each is renewed in every mix */
    bool waits = probe_port_waits(member->form);
    return (struct gen_part){
        .form = member->form,
        .count = count,
        .how = {.scaled_index = member->scaled, .break_fourth = waits, .registers = waits ? REGISTERS : 0}};
}

double probe_port_slots(const struct probe_port_member *member) {
    return probe_port_waits(member->form) ? 1.25 : 1;
}

bool probe_port_runs_at_the_issue(const struct probe_portmap *map, const struct probe_port_member *member) {
    static const double spare = 0.5;
    return member->class < 0 && member->cycles * (round(map->issue_width) - spare) < 1;
}

/* -- Widths and issue slots --------------------------------------------------------------------------- */

/* 1/cycles where that is an integer, else 0. */
static unsigned width_of(double cycles) {
    double width = 1.0 / cycles;
    double nearest = round(width);
    bool integer = isfinite(width) && nearest >= 1.0 && fabs(width - nearest) <= WIDTH_TOLERANCE * nearest;
    return integer && nearest < PROBE_PORTSET_PORTS ? (unsigned)nearest : 0;
}

static bool is_memory(const struct probe_port_member *member) {
    return member->load || member->store;
}

/* Loads and stores are few, and a look at them is too rough: their time changes from run to run. */
static enum ip_status mixes_measure(const struct probe_mapper *mapper, struct probe_batch *batch, bool memory,
                                    struct ip_error *err) {
    return memory ? probe_mixes_measure_carefully(mapper, batch, err)
                  : probe_mixes_measure(mapper, batch, err);
}

/* Twice, with kernels of different lengths: one reading gone astray would found a class of its own. */
static enum ip_status alone_measure(const struct probe_mapper *mapper, size_t *slots, bool memory,
                                    struct ip_error *err) {
    static const unsigned instances[2] = {ALONE_INSTANCES, ALONE_INSTANCES + 6};
    struct probe_portmap *map = mapper->map;
    enum ip_status status = IP_OK;
    for (unsigned pass = 0; pass < 2 && status == IP_OK; pass++) {
        struct probe_batch batch = {0};
        for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
            slots[i] = SIZE_MAX;
            if (is_memory(&map->members[i]) == memory && (pass == 0 || map->members[i].width != 0)) {
                const struct gen_part part = probe_port_part(&map->members[i], instances[pass]);
                status = probe_mix_add(&batch, &part, 1, &slots[i], err);
            }
        }
        status = status == IP_OK ? mixes_measure(mapper, &batch, memory, err) : status;
        for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
            struct probe_port_member *member = &map->members[i];
            if (is_memory(member) != memory) {
                continue;
            }
            double cycles = probe_mix_cycles(&batch, slots[i]) / instances[pass];
            if (pass == 0) {
                member->runs = slots[i] != SIZE_MAX && batch.stats[slots[i]].outcome == HX_OUTCOME_OK;
                member->cycles = cycles;
                member->width = width_of(cycles);
            } else if (member->width != width_of(cycles)) {
                member->width = 0;
            }
        }
        probe_batch_fini(&batch);
    }
    return status;
}

/* NOPs, and of a form some beside them, as one loop that runs once and twice: the loop stays small, and what
 * its end takes is the same in all. */
static enum ip_status among_nops_add(const struct probe_mapper *mapper, struct probe_batch *batch,
                                     unsigned nops, const struct gen_part *part, size_t *slot,
                                     struct ip_error *err) {
    const struct gen_part parts[2] = {{.filler = mapper->meter->filler, .count = nops},
                                      part != NULL ? *part : (struct gen_part){0}};
    enum ip_status status = probe_mix_add(batch, parts, part != NULL ? 2 : 1, slot, err);
    if (status == IP_OK && *slot != SIZE_MAX) {
        batch->programs[*slot].copies = 1;
        batch->programs[*slot].one_loop = true;
    }
    return status;
}

/* What did not run at all; NULL: it did. */
static const struct hx_stat *stat_faulted(const struct probe_batch *batch, size_t slot) {
    const struct hx_stat *stat = slot != SIZE_MAX ? &batch->stats[slot] : NULL;
    return stat != NULL && stat->verdict == HX_VERDICT_FAULT ? stat : NULL;
}

/* Everything else stands on the issue width. */
static enum ip_status issue_width_measure(const struct probe_mapper *mapper, struct ip_error *err) {
    struct probe_batch batch = {0};
    size_t few = SIZE_MAX, more = SIZE_MAX;
    enum ip_status status = among_nops_add(mapper, &batch, NOP_INSTANCES, NULL, &few, err);
    status = status == IP_OK ? among_nops_add(mapper, &batch, 2 * NOP_INSTANCES, NULL, &more, err) : status;
    status = status == IP_OK ? probe_mixes_measure(mapper, &batch, err) : status;
    if (status == IP_OK) {
        double width = NOP_INSTANCES / (probe_mix_cycles(&batch, more) - probe_mix_cycles(&batch, few));
        mapper->map->issue_width = width;
        const struct hx_stat *fault = stat_faulted(&batch, few);
        fault = fault != NULL ? fault : stat_faulted(&batch, more);
        if (fault != NULL) { /* a recording of another command, for one */
            status = ip_fail(err, IP_FAILED, "the issue width cannot be measured: %s", fault->why);
        } else if (!isfinite(width)) {
            status =
                ip_fail(err, IP_UNTRUSTED,
                        "the issue width cannot be measured: another thread uses this core, or its clock "
                        "moves; leave the machine idle and try again");
        } else if (fabs(width - round(width)) > ISSUE_TOLERANCE) {
            status = ip_fail(err, IP_UNTRUSTED,
                             "%.2f NOPs a cycle are no issue width: something else uses the core; leave the "
                             "machine idle and try again",
                             width);
        }
    }
    probe_batch_fini(&batch);
    return status;
}

/* NOPs fill the issue; what a few instances of a form add to their time is the form's issue slots. A form
 * that takes more than one slot is more than one µop, and its throughput says nothing about its width. */
static enum ip_status slots_measure(const struct probe_mapper *mapper, size_t *slots, bool memory,
                                    struct ip_error *err) {
    struct probe_portmap *map = mapper->map;
    const unsigned enough = NOP_CYCLES * (unsigned)round(map->issue_width);
    const unsigned nops = enough > NOP_INSTANCES ? enough : NOP_INSTANCES;
    struct probe_batch batch = {0};
    size_t alone = SIZE_MAX;
    enum ip_status status = among_nops_add(mapper, &batch, nops, NULL, &alone, err);
    for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
        slots[i] = SIZE_MAX;
        if (is_memory(&map->members[i]) == memory && map->members[i].width != 0) {
            const struct gen_part part = probe_port_part(&map->members[i], SLOT_INSTANCES);
            status = among_nops_add(mapper, &batch, nops, &part, &slots[i], err);
        }
        if (slots[i] != SIZE_MAX) { /* what prepares the flags of jumps takes slots, too */
            map->members[i].slots = (double)batch.programs[slots[i]].unit.count - nops - SLOT_INSTANCES;
        }
    }
    status = status == IP_OK ? mixes_measure(mapper, &batch, memory, err) : status;
    const double base = probe_mix_cycles(&batch, alone);
    double store_slots = STORE_SLOTS_MAX;
    for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
        struct probe_port_member *member = &map->members[i];
        if (is_memory(member) != memory) {
            continue;
        }
        double cycles = probe_mix_cycles(&batch, slots[i]);
        member->slots = ((cycles - base) * map->issue_width - member->slots) / SLOT_INSTANCES;
        if (member->store && member->slots >= 1.0 - SLOT_TOLERANCE && member->slots < store_slots) {
            store_slots = member->slots;
        }
    }
    size_t hidden = 0;
    const struct isa_form *example = NULL;
    for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
        struct probe_port_member *member = &map->members[i];
        if (is_memory(member) != memory) {
            continue;
        }
        /* A form as wide as the issue may use no port at all (moves and idioms that rename removes). */
        bool visible = member->width < round(map->issue_width) - 0.5;
        if (member->width != 0 && !visible) {
            hidden++;
            example = member->form;
        }
        /* A store may take a slot for its data and one for its address: it is a joint resource anyway. One
         * that takes more than the least is stored in parts. */
        double most = member->store ? round(store_slots) : 1.0;
        if (!(member->slots >= 1.0 - SLOT_TOLERANCE && member->slots <= most + SLOT_TOLERANCE) || !visible) {
            member->width = 0;
        }
    }
    if (hidden > 0) {
        ip_lines_printf(&map->notes,
                        "%zu forms such as '%s' are as fast as instructions are issued: they have that many "
                        "ports, or none",
                        hidden, example->syntax);
    }
    probe_batch_fini(&batch);
    return status;
}

/* Moves that rename removes need no port, but their time may say otherwise: a core that renames fewer of a
 * vector's in a cycle than it issues (Zen 5: six of eight) would have a set of so many ports. */
static enum ip_status moves_leave_out(const struct probe_mapper *mapper, size_t *slots,
                                      struct ip_error *err) {
    struct probe_portmap *map = mapper->map;
    struct probe_batch batch = {0};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
        slots[i] = SIZE_MAX;
        if (map->members[i].width != 0 && !is_memory(&map->members[i])) {
            status = probe_rename_chain_add(map->members[i].form, &batch, &slots[i], err);
        }
    }
    status = status == IP_OK ? probe_mixes_measure(mapper, &batch, err) : status;
    for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
        if (probe_mix_cycles(&batch, slots[i]) < PROBE_RENAME_EXECUTED) {
            map->members[i].width = 0;
        }
    }
    probe_batch_fini(&batch);
    return status;
}

static enum ip_status members_measure(const struct probe_mapper *mapper, struct ip_error *err) {
    size_t *slots = calloc(mapper->map->member_count + 1, sizeof *slots);
    if (slots == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu candidates", mapper->map->member_count);
    }
    enum ip_status status = issue_width_measure(mapper, err);
    status = status == IP_OK ? alone_measure(mapper, slots, false, err) : status;
    status = status == IP_OK ? alone_measure(mapper, slots, true, err) : status;
    status = status == IP_OK ? slots_measure(mapper, slots, false, err) : status;
    status = status == IP_OK ? slots_measure(mapper, slots, true, err) : status;
    status = status == IP_OK ? moves_leave_out(mapper, slots, err) : status;
    free(slots);
    return status;
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

static bool vectors_run(const struct probe_portmap *map) {
    bool run = false;
    for (size_t i = 0; i < map->member_count; i++) {
        run = run || (map->members[i].world != PROBE_PORTS_SCALAR && map->members[i].runs);
    }
    return run;
}

static enum ip_status candidates_measure(const struct probe_mapper *mapper, const struct isa_table *table,
                                         bool legacy, struct ip_error *err) {
    enum ip_status status = probe_port_candidates(table, legacy, mapper->map, err);
    if (status == IP_OK) {
        members_sort(mapper->map);
        status = members_measure(mapper, err);
    }
    return status;
}

/* `legacy`: no vectors but those of legacy SSE run here, as far as is known yet. */
static enum ip_status attempt(const struct hx_meter *meter, struct gen_encoder *encoder,
                              const struct isa_table *table, bool *legacy, struct probe_portmap *map,
                              struct ip_error *err) {
    struct probe_portmap found;
    memset(&found, 0, sizeof found);
    const struct probe_mapper mapper = {.meter = meter, .encoder = encoder, .map = &found};
    enum ip_status status = candidates_measure(&mapper, table, *legacy, err);
    if (status == IP_OK && !*legacy && !vectors_run(&found)) {
        *legacy = true;
        probe_portmap_fini(&found);
        status = candidates_measure(&mapper, table, true, err);
    }
    status = status == IP_OK ? probe_port_wide_measure(&mapper, err) : status;
    status = status == IP_OK ? probe_port_classes_form(&mapper, err) : status;
    status = status == IP_OK ? probe_port_sets_find(&mapper, err) : status;
    probe_port_wide_blockers(&found);
    if (status == IP_OK && found.notes.failed) {
        status = ip_fail(err, IP_NO_MEMORY, "no memory for the notes of the port map");
    }
    if (status != IP_OK) {
        probe_portmap_fini(&found);
        return status;
    }
    *map = found;
    return IP_OK;
}

/* The class of `other` that has most members of this one; -1: none has more than half of those that are in
 * any. (Forms that take two ports at once may join the class of the one or of the other.) */
static int class_find(const struct probe_portmap *map, unsigned class, const struct probe_portmap *other) {
    unsigned in[PROBE_PORTSET_CLASSES] = {0}, all = 0;
    int found = -1;
    for (size_t i = 0; i < map->member_count && i < other->member_count; i++) {
        int there = other->members[i].class;
        if (map->members[i].class == (int)class && there >= 0) {
            all++;
            in[there]++;
            found = found < 0 || in[there] > in[found] ? there : found;
        }
    }
    return found >= 0 && 2 * in[found] > all ? found : -1;
}

static bool contradicts_itself(const struct probe_portmap *map) {
    bool any = false;
    for (unsigned c = 0; c < map->class_count; c++) {
        any = any || map->classes[c].contradicted;
    }
    return any;
}

static bool in_part(const struct probe_port_class *class, bool memory) {
    return (class->load || class->store) == memory;
}

static unsigned part_classes(const struct probe_portmap *map, bool memory) {
    unsigned count = 0;
    for (unsigned c = 0; c < map->class_count; c++) {
        count += in_part(&map->classes[c], memory);
    }
    return count;
}

/* Ran loads, or stores, not as fast as instructions are issued, and none of them could be told? A neighbour
 * was there, as a rule. */
static bool lacks(const struct probe_portmap *map, bool stores) {
    bool any = false, told = false;
    for (size_t i = 0; i < map->member_count; i++) {
        const struct probe_port_member *member = &map->members[i];
        bool seen = member->runs && !probe_port_runs_at_the_issue(map, member);
        any = any || (seen && (stores ? member->store : member->load));
    }
    for (unsigned c = 0; c < map->class_count; c++) {
        told = told || (stores ? map->classes[c].store : map->classes[c].load);
    }
    return any && !told;
}

/* Do two maps of the same candidates say the same of loads and stores, or of all else, up to the names of the
 * ports? */
static bool maps_agree(const struct probe_portmap *one, const struct probe_portmap *other, bool memory) {
    int partner[PROBE_PORTSET_CLASSES];
    if (part_classes(one, memory) != part_classes(other, memory) || one->solutions != other->solutions) {
        return false;
    }
    for (unsigned a = 0; a < one->class_count; a++) {
        partner[a] = -1;
        if (!in_part(&one->classes[a], memory)) {
            continue;
        }
        partner[a] = class_find(one, a, other);
        for (unsigned b = 0; b <= a && partner[a] >= 0; b++) {
            if (partner[b] < 0) {
                continue;
            }
            uint32_t both = one->classes[a].ports | one->classes[b].ports;
            uint32_t others = other->classes[partner[a]].ports | other->classes[partner[b]].ports;
            if ((b < a && partner[a] == partner[b]) ||
                __builtin_popcount(both) != __builtin_popcount(others)) {
                return false;
            }
        }
        if (partner[a] < 0) {
            return false;
        }
    }
    return true;
}

static unsigned members_placed(const struct probe_portmap *map) {
    unsigned placed = 0;
    for (unsigned c = 0; c < map->class_count; c++) {
        placed += map->classes[c].members;
    }
    return placed;
}

/* Maps that were found so far. */
struct attempts {
    struct probe_portmap maps[ATTEMPTS_MAX];
    unsigned count;
};

static bool is_confirmed(const struct attempts *attempts, unsigned number, bool memory) {
    for (unsigned i = 0; i < attempts->count; i++) {
        if (i != number && maps_agree(&attempts->maps[number], &attempts->maps[i], memory)) {
            return true;
        }
    }
    return false;
}

/* A map of which other attempts say the same, in both parts: of these the one with most members. `may_lack`:
 * loads or stores, but not both. NULL: there is none. */
static struct probe_portmap *confirmed(struct attempts *attempts, bool may_lack) {
    struct probe_portmap *best = NULL;
    for (unsigned i = 0; i < attempts->count; i++) {
        struct probe_portmap *map = &attempts->maps[i];
        unsigned lacking = lacks(map, false) + lacks(map, true);
        if (lacking <= may_lack && !contradicts_itself(map) && is_confirmed(attempts, i, false) &&
            is_confirmed(attempts, i, true) && (best == NULL || members_placed(map) > members_placed(best))) {
            best = map;
        }
    }
    return best;
}

/* Where none is confirmed: one without contradictions, and of these the one with most members. */
static struct probe_portmap *likeliest(struct attempts *attempts) {
    struct probe_portmap *best = NULL;
    for (unsigned i = 0; i < attempts->count; i++) {
        struct probe_portmap *map = &attempts->maps[i];
        bool whole = !contradicts_itself(map), best_whole = best != NULL && !contradicts_itself(best);
        if (best == NULL || (whole && !best_whole) ||
            (whole == best_whole && members_placed(map) > members_placed(best))) {
            best = map;
        }
    }
    if (best != NULL) {
        ip_lines_printf(
            &best->notes,
            "no two attempts found the same sets (of %u in all): leave the machine idle and try again",
            attempts->count);
    }
    return best;
}

enum ip_status probe_portmap_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                     const struct isa_table *table, const char *vendor,
                                     struct probe_portmap *map, struct ip_error *err) {
    struct attempts attempts = {.count = 0};
    struct probe_portmap *chosen = NULL;
    enum ip_status status = IP_OK;
    size_t kernels = 0;
    double latest = hx_seconds(meter) + ATTEMPTS_SECONDS;
    bool late = false, legacy = false;
    for (unsigned failed = 0;
         failed < FAILURES_MAX && attempts.count < ATTEMPTS_MAX && chosen == NULL && !late;) {
        status = attempt(meter, encoder, table, &legacy, &attempts.maps[attempts.count], err);
        if (status == IP_OK) {
            kernels += attempts.maps[attempts.count++].kernels;
            chosen = confirmed(&attempts, false);
        } else if (status == IP_UNTRUSTED || status == IP_UNSUPPORTED) { /* noise leaves no form, too */
            failed++;
        } else {
            break;
        }
        late = hx_seconds(meter) > latest;
    }
    chosen = chosen != NULL ? chosen : confirmed(&attempts, true);
    if (chosen != NULL) {
        chosen->confirmed = true;
    }
    bool noisy = status == IP_UNTRUSTED || status == IP_UNSUPPORTED;
    if (chosen == NULL && (status == IP_OK || noisy)) {
        chosen = likeliest(&attempts);
    }
    for (unsigned i = 0; i < attempts.count; i++) {
        if (&attempts.maps[i] != chosen) {
            probe_portmap_fini(&attempts.maps[i]);
        }
    }
    if (chosen == NULL) {
        return status;
    }
    probe_portmap_label(chosen, vendor);
    chosen->kernels = kernels;
    *map = *chosen;
    return IP_OK;
}
