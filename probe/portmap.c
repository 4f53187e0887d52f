/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/portmap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/portmap_candidates.h"
#include "probe/portmap_steps.h"

enum {
    ALONE_INSTANCES = 24, /* of a form in its throughput kernel */
    NOP_INSTANCES = 96,   /* beside some of the form: issue slots */
    SLOT_INSTANCES = 12,  /* a form of one a cycle still takes less than the NOPs */
    SMALL_UNIT = 64,      /* instructions: enough for a loop */
    NOP_KERNELS = 3,      /* of different lengths: all else stands on the issue width */
    NOP_MORE = 24,
};

static const double WIDTH_TOLERANCE = 0.06; /* of 1/throughput to an integer, relative */
static const double SLOT_TOLERANCE = 0.25;  /* of the slots of a one-slot form to 1 */

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
        /* Small loops: longer ones may come from the decoders, which can be slower than the ports. */
        program.copies = program.unit.count >= SMALL_UNIT ? 1 : 0;
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
    batch->retries = PROBE_MIX_RETRIES;
    return batch->count > 0 ? probe_batch_measure(batch, mapper->meter, mapper->encoder, err) : IP_OK;
}

struct gen_part probe_port_part(const struct probe_port_member *member, unsigned count) {
    return (struct gen_part){.form = member->form, .count = count, .how = {.scaled_index = member->scaled}};
}

/* -- Widths and issue slots --------------------------------------------------------------------------- */

/* 1/cycles where that is an integer, else 0. */
static unsigned width_of(double cycles) {
    double width = 1.0 / cycles;
    double nearest = round(width);
    bool integer = isfinite(width) && nearest >= 1.0 && fabs(width - nearest) <= WIDTH_TOLERANCE * nearest;
    return integer && nearest < PROBE_PORTSET_PORTS ? (unsigned)nearest : 0;
}

/* Twice, with kernels of different lengths: one reading gone astray would found a class of its own. */
static enum ip_status alone_measure(const struct probe_mapper *mapper, size_t *slots, struct ip_error *err) {
    static const unsigned instances[2] = {ALONE_INSTANCES, ALONE_INSTANCES + 6};
    struct probe_portmap *map = mapper->map;
    enum ip_status status = IP_OK;
    for (unsigned pass = 0; pass < 2 && status == IP_OK; pass++) {
        struct probe_batch batch = {0};
        for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
            slots[i] = SIZE_MAX;
            if (pass == 0 || map->members[i].width != 0) {
                const struct gen_part part = probe_port_part(&map->members[i], instances[pass]);
                status = probe_mix_add(&batch, &part, 1, &slots[i], err);
            }
        }
        status = status == IP_OK ? probe_mixes_measure(mapper, &batch, err) : status;
        for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
            struct probe_port_member *member = &map->members[i];
            double cycles = probe_mix_cycles(&batch, slots[i]) / instances[pass];
            if (pass == 0) {
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

/* NOPs fill the issue; what a few instances of a form add to their time is the form's issue slots. A form
 * that takes more than one slot is more than one µop, and its throughput says nothing about its width. */
static enum ip_status slots_measure(const struct probe_mapper *mapper, size_t *slots, struct ip_error *err) {
    struct probe_portmap *map = mapper->map;
    struct probe_batch batch = {0};
    size_t nops[NOP_KERNELS];
    struct gen_part parts[2] = {{.form = NULL, .count = NOP_INSTANCES}};
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < NOP_KERNELS && status == IP_OK; i++) {
        parts[0].count = NOP_INSTANCES + NOP_MORE * i;
        status = probe_mix_add(&batch, parts, 1, &nops[i], err);
    }
    parts[0].count = NOP_INSTANCES;
    for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
        slots[i] = SIZE_MAX;
        if (map->members[i].width != 0) {
            parts[1] = probe_port_part(&map->members[i], SLOT_INSTANCES);
            status = probe_mix_add(&batch, parts, 2, &slots[i], err);
        }
    }
    status = status == IP_OK ? probe_mixes_measure(mapper, &batch, err) : status;
    if (status == IP_OK) {
        for (unsigned i = 0; i < NOP_KERNELS; i++) {
            double width = (NOP_INSTANCES + NOP_MORE * i) / probe_mix_cycles(&batch, nops[i]);
            map->issue_width = width > map->issue_width ? width : map->issue_width;
        }
        if (!(map->issue_width > 0)) {
            status = ip_fail(err, IP_UNTRUSTED, "the issue width cannot be measured: %s",
                             batch.stats[nops[0]].why);
        }
    }
    size_t hidden = 0;
    const struct isa_form *example = NULL;
    for (size_t i = 0; i < map->member_count && status == IP_OK; i++) {
        struct probe_port_member *member = &map->members[i];
        double cycles = probe_mix_cycles(&batch, slots[i]);
        member->slots = (cycles * map->issue_width - NOP_INSTANCES) / SLOT_INSTANCES;
        /* A form as wide as the issue may use no port at all (moves and idioms that rename removes). */
        bool visible = member->width < round(map->issue_width) - 0.5;
        if (member->width != 0 && !visible) {
            hidden++;
            example = member->form;
        }
        /* A store may take a slot for its data and one for its address: it is a joint resource anyway. */
        double most = member->store ? 2.0 : 1.0;
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

static enum ip_status members_measure(const struct probe_mapper *mapper, struct ip_error *err) {
    size_t *slots = calloc(mapper->map->member_count + 1, sizeof *slots);
    if (slots == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for %zu candidates", mapper->map->member_count);
    }
    enum ip_status status = alone_measure(mapper, slots, err);
    status = status == IP_OK ? slots_measure(mapper, slots, err) : status;
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

enum ip_status probe_portmap_measure(const struct hx_meter *meter, struct gen_encoder *encoder,
                                     const struct isa_table *table, const char *vendor,
                                     struct probe_portmap *map, struct ip_error *err) {
    struct probe_portmap found;
    memset(&found, 0, sizeof found);
    const struct probe_mapper mapper = {.meter = meter, .encoder = encoder, .map = &found};
    enum ip_status status = probe_port_candidates(table, &found, err);
    if (status == IP_OK) {
        members_sort(&found);
        status = members_measure(&mapper, err);
    }
    status = status == IP_OK ? probe_port_classes_form(&mapper, err) : status;
    status = status == IP_OK ? probe_port_sets_find(&mapper, err) : status;
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
