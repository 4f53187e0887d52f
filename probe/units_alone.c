/* SPDX-License-Identifier: Apache-2.0 */
/* probe/units_alone.c - does a slow form hold a unit at all? Its instances must not wait for each other, and
 * beside them issue slots and ports must be free. */
#include <math.h>
#include <stdlib.h>

#include "generator/x87.h"
#include "probe/units_steps.h"
#include "probe/usage_steps.h"

enum {
    INSTANCES = 24,
    FEW_REGISTERS = 4, /* half of them or less: a chain through them takes twice as long */
    FEW_OTHERS = 3,    /* of masks, tiles */
    WAYS = 3,
    ROOM_INSTANCES = 12,
    ROOM_CYCLES = 24, /* of a kernel that is to show room, at least ... */
    ROOM_MOST = 600,  /* ... and at most */
    ROOM_PARTS = GEN_PARTS_MAX - 1,
    ROOM_KERNELS = 6,
};

/* What holds a unit for less than two cycles cannot be told from µops that are bound unluckily. */
static const double CYCLES_LEAST = 1.9;
/* Instances in a mix are as fast as any. */
static const double AS_FAST = 1.08, AS_FAST_CYCLES = 0.1;
/* With half of the registers they are hardly slower. */
static const double INDEPENDENT = 1.5;
/* So much of the issue slots, or of each set of ports, is filled beside them, and they take no longer. */
static const double ISSUE_FILLED = 0.4, PORTS_FILLED = 0.3, ROOM_SLOWER = 1.1, ROOM_SLOWER_CYCLES = 1;

static const char NOT_MEASURED[] = "noise, or no mix with it can be made";

static void subject_close(struct unit_subject *subject, const char *why) {
    subject->open = false;
    subject->why = why;
}

/* -- Independent instances ---------------------------------------------------------------------------- */

/* What an instance may have to wait for and nothing here renews; NULL: nothing. */
static const char *carried_state(const struct isa_form *form) {
    for (unsigned i = 0; i < form->operand_count; i++) {
        const struct isa_operand *operand = &form->operands[i];
        bool both = operand->read && operand->write;
        if (operand->kind == ISA_OPERAND_MEM && operand->write) {
            return both ? "it may wait for the memory that it reads and writes"
                        : "it may wait for the memory that it writes";
        }
        bool fixed = operand->reg_class == ISA_REG_OTHER || operand->reg_class == ISA_REG_SEGMENT ||
                     (isa_reg_is_gpr(operand->reg_class) && operand->reg == 4);
        if (operand->kind == ISA_OPERAND_REG && both && fixed) {
            return "it may wait for the state that it reads and writes";
        }
    }
    return NULL;
}

/* The ways to make instances independent, each with all registers and with few. */
struct alone {
    struct gen_independence how[WAYS];
    unsigned ways; /* 0: not looked at */
    size_t all[WAYS], few[WAYS];
};

static void ways_choose(struct alone *alone, const struct isa_form *form) {
    const struct gen_independence broken = {.break_registers = true, .break_flags = true};
    alone->how[alone->ways++] = (struct gen_independence){0};
    if (gen_x87_balance_of(form, true).room > 0) {
        alone->how[alone->ways++] = broken;
        alone->how[alone->ways] = broken;
        alone->how[alone->ways++].x87_frees = true;
    } else if (probe_usage_renewals(form, &broken) > 0) {
        alone->how[alone->ways++] = broken;
    }
}

static enum ip_status alone_add(struct alone *alone, const struct isa_form *form, struct probe_batch *batch,
                                struct ip_error *err) {
    enum ip_status status = IP_OK;
    ways_choose(alone, form);
    for (unsigned w = 0; w < alone->ways && status == IP_OK; w++) {
        struct gen_part part = {.form = form, .count = INSTANCES, .how = alone->how[w]};
        status = probe_mix_add(batch, &part, 1, &alone->all[w], err);
        part.how.registers = unit_kind_of(form) == PROBE_UNIT_OTHER ? FEW_OTHERS : FEW_REGISTERS;
        status = status == IP_OK ? probe_mix_add(batch, &part, 1, &alone->few[w], err) : status;
    }
    return status;
}

static void alone_read(struct unit_subject *subject, const struct alone *alone,
                       const struct probe_batch *batch) {
    double few = NAN;
    subject->cycles = NAN;
    for (unsigned w = 0; w < alone->ways; w++) {
        double cycles = probe_mix_cycles(batch, alone->all[w]) / INSTANCES;
        if (isfinite(cycles) && !(subject->cycles <= cycles)) {
            subject->cycles = cycles;
            subject->how = alone->how[w];
            few = probe_mix_cycles(batch, alone->few[w]) / INSTANCES;
        }
    }
    double limit = isfinite(subject->limit) ? subject->limit : subject->cycles;
    if (!isfinite(subject->cycles)) {
        subject_close(subject, NOT_MEASURED);
    } else if (subject->cycles > limit * AS_FAST + AS_FAST_CYCLES) {
        subject_close(subject, "in a mix its instances wait for each other");
    } else if (subject->cycles < CYCLES_LEAST || subject->cycles < subject->bound) {
        subject_close(subject, "by too little for a unit to be told");
    } else if (isnan(few)) {
        subject_close(subject, NOT_MEASURED);
    } else if (few > subject->cycles * INDEPENDENT) {
        subject_close(subject, "its instances wait for results of others");
    }
    subject->pending = !subject->open; /* noise only makes it slower: what fails is looked at again */
}

/* Those that are pending once more. */
static enum ip_status alone_attempt(const struct unit_finder *finder, struct unit_subject *subjects,
                                    size_t count, struct alone *alone, struct ip_error *err) {
    struct probe_batch batch = {0};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        alone[i].ways = 0;
        if (subjects[i].pending) {
            subjects[i].open = true;
            status = alone_add(&alone[i], subjects[i].form, &batch, err);
        }
    }
    status = status == IP_OK ? units_batch_run(finder, &batch, err) : status;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (subjects[i].pending) {
            alone_read(&subjects[i], &alone[i], &batch);
        }
    }
    probe_batch_fini(&batch);
    return status;
}

enum ip_status units_alone_measure(const struct unit_finder *finder, struct unit_subject *subjects,
                                   size_t count, struct ip_error *err) {
    struct alone *alone = calloc(count + 1, sizeof *alone);
    if (alone == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for the units of %zu forms", count);
    }
    for (size_t i = 0; i < count; i++) {
        const char *state = carried_state(subjects[i].form);
        subjects[i].pending = state == NULL;
        if (state != NULL) {
            subject_close(&subjects[i], state);
        }
    }
    enum ip_status status = IP_OK;
    for (unsigned attempt = 0; attempt < UNIT_ATTEMPTS && status == IP_OK; attempt++) {
        status = alone_attempt(finder, subjects, count, alone, err);
    }
    free(alone);
    return status;
}

/* -- Room beside them --------------------------------------------------------------------------------- */

struct room {
    size_t issue, ports[ROOM_KERNELS];
    unsigned kernels, copies;
};

static struct gen_part copies_of(const struct unit_subject *subject, struct room *room) {
    double copies = fmax(ROOM_INSTANCES, ceil(ROOM_CYCLES / subject->cycles));
    room->copies = (unsigned)fmax(1, fmin(copies, floor(ROOM_MOST / subject->cycles)));
    return (struct gen_part){.form = subject->form, .count = room->copies, .how = subject->how};
}

/* Whatever keeps all ports of a set busy has none left for a set within it: so the smallest sets that can be
 * blocked beside the form will do. */
static bool is_smallest(const struct probe_portmap *map, const struct probe_usage_subject *company,
                        unsigned number) {
    uint32_t ports = map->classes[number].ports;
    for (unsigned c = 0; c < map->class_count; c++) {
        uint32_t other = map->classes[c].ports;
        bool within = ports_within(other, ports) && (other != ports || c < number);
        if (c != number && other != 0 && within && !map->classes[c].store &&
            probe_usage_blocker(company, map, c) >= 0) {
            return false;
        }
    }
    return ports != 0 && !map->classes[number].store;
}

/* Blockers of all those sets, as many in a kernel as do not overlap. */
static enum ip_status ports_add(const struct unit_finder *finder, const struct unit_subject *subject,
                                struct room *room, struct probe_batch *batch, struct ip_error *err) {
    struct probe_usage_subject company;
    const struct probe_portmap *map = finder->map;
    bool done[PROBE_PORTSET_CLASSES] = {0};
    enum ip_status status = IP_OK;
    probe_usage_subject_init(&company, subject->form);
    for (unsigned count = ROOM_PARTS; count > 1 && room->kernels < ROOM_KERNELS && status == IP_OK;) {
        struct gen_part parts[GEN_PARTS_MAX] = {copies_of(subject, room)};
        uint32_t taken = 0;
        count = 1;
        for (unsigned c = 0; c < map->class_count && count < GEN_PARTS_MAX; c++) {
            int member = done[c] ? -1 : probe_usage_blocker(&company, map, c);
            uint32_t ports = map->classes[c].ports;
            if (member < 0 || (ports & taken) != 0 || !is_smallest(map, &company, c)) {
                continue;
            }
            double cycles = PORTS_FILLED * room->copies * subject->cycles;
            done[c] = true;
            taken |= ports;
            parts[count] =
                probe_port_part(&map->members[member], (unsigned)ceil(cycles * map->classes[c].width));
            parts[count++].how.stride = map->classes[c].load ? GEN_LOAD_STRIDE : 0;
        }
        if (count > 1) {
            status = probe_mix_add(batch, parts, count, &room->ports[room->kernels++], err);
        }
    }
    return status;
}

static enum ip_status room_add(const struct unit_finder *finder, const struct unit_subject *subject,
                               struct room *room, struct probe_batch *batch, struct ip_error *err) {
    struct gen_part parts[2] = {copies_of(subject, room)};
    double slots = room->copies * subject->cycles * finder->map->issue_width;
    parts[1] =
        (struct gen_part){.filler = finder->meter->filler, .count = (unsigned)ceil(ISSUE_FILLED * slots)};
    enum ip_status status = probe_mix_add(batch, parts, 2, &room->issue, err);
    return status == IP_OK ? ports_add(finder, subject, room, batch, err) : status;
}

static void room_read(struct unit_subject *subject, const struct room *room,
                      const struct probe_batch *batch) {
    double most = room->copies * subject->cycles * ROOM_SLOWER + ROOM_SLOWER_CYCLES;
    double issue = probe_mix_cycles(batch, room->issue);
    bool known = isfinite(issue), blocked = false, fits = true;
    for (unsigned k = 0; k < room->kernels; k++) {
        double cycles = probe_mix_cycles(batch, room->ports[k]);
        known = known && (room->ports[k] == SIZE_MAX || isfinite(cycles));
        blocked = blocked || isfinite(cycles);
        fits = fits && !(cycles > most);
    }
    known = known && blocked;
    subject->founds = known && issue <= most;
    subject->pending = !known || !fits || !subject->founds; /* noise only makes it slower */
    subject->why = NULL;
    if (issue > most) {
        subject->why = "nothing is issued beside it: microcode, or it waits for all under way";
        subject->open = fits;
    } else if (!fits) {
        subject_close(subject, "ports are nearly as busy: no unit can be told");
    } else if (!known) {
        subject_close(subject, NOT_MEASURED);
    }
}

/* Those that are pending once more. */
static enum ip_status room_attempt(const struct unit_finder *finder, struct unit_subject *subjects,
                                   size_t count, struct room *rooms, struct ip_error *err) {
    struct probe_batch batch = {0};
    enum ip_status status = IP_OK;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        rooms[i] = (struct room){0};
        if (subjects[i].pending) {
            subjects[i].open = true;
            status = room_add(finder, &subjects[i], &rooms[i], &batch, err);
        }
    }
    status = status == IP_OK ? units_batch_run(finder, &batch, err) : status;
    for (size_t i = 0; i < count && status == IP_OK; i++) {
        if (subjects[i].pending) {
            room_read(&subjects[i], &rooms[i], &batch);
        }
    }
    probe_batch_fini(&batch);
    return status;
}

enum ip_status units_room_measure(const struct unit_finder *finder, struct unit_subject *subjects,
                                  size_t count, struct ip_error *err) {
    struct room *rooms = calloc(count + 1, sizeof *rooms);
    if (rooms == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "no memory for the units of %zu forms", count);
    }
    for (size_t i = 0; i < count; i++) {
        subjects[i].pending = subjects[i].open;
    }
    enum ip_status status = IP_OK;
    for (unsigned attempt = 0; attempt < UNIT_ATTEMPTS && status == IP_OK; attempt++) {
        status = room_attempt(finder, subjects, count, rooms, err);
    }
    free(rooms);
    return status;
}
