/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oncore/values.h"

enum {
    CYCLES_MAX = 1 << 14, /* of simulated time */
    PASSES_MIN = 12,
    PASSES_MAX = 200,
    SLOTS_AIM = 400, /* so many slots are simulated, where the limits allow it */
    BANKS = 64,
    DISPATCH = 5, /* cycles from issue to the first in which a µop may begin, as in uiCA */
    LINE = 64
};

/* Fractions of a cycle come from latencies that vary; a µop starts so much early rather than a cycle late. */
static const double EARLY = 0.3;

/* Which ports are taken in each cycle, and where its loads begin in their cache line. */
struct sim {
    const struct core_costs *costs;
    const struct core_block *block;
    const struct core_options *options;
    double width, load;
    double apart_slots; /* an instruction that is taken apart begins in the first so many slots */
    struct core_forwarding forwarding;
    uint32_t *busy;      /* owned; CYCLES_MAX */
    uint8_t (*banks)[4]; /* owned; CYCLES_MAX: 1 + bank */
    double ready[CORE_RESOURCES];
    double *unit_free; /* owned: by unit */
    double issued;     /* cycle in which slots are being issued */
    double slots;      /* issued in it */
    double retired;    /* when the youngest instruction so far retires */
    double committed;
    uint64_t last_line;
    uint32_t last_symbol;
    bool pair_open;                 /* a store to the same line may still share the last one's cycle */
    double load_of[CORE_PORTS_MAX]; /* µops bound to each port */
    int waiting[CORE_PORTS_MAX];    /* µops that were given each port and have not begun */
    size_t begun;                   /* the cycle up to which those that have begun were taken off */
    bool full;                      /* out of simulated time */
    double *credits;                /* owned: fractions of µops that are due, by instruction and term */
    double *retire_ring;            /* owned: rob entries */
    size_t ring_size, ring_at;
    struct core_values values;
};

/* The first cycle, at or after `from`, in which one of the ports is free, and that port. Loads that begin in
 * one bank come two a cycle. */
static double place(struct sim *sim, uint32_t ports, double from, int bank) {
    size_t cycle = from <= 0.0 ? 0 : (size_t)ceil(from - EARLY);
    for (; cycle < CYCLES_MAX; cycle++) {
        uint32_t free_ports = ports & ~sim->busy[cycle];
        if (free_ports == 0) {
            continue;
        }
        if (bank >= 0) {
            unsigned same = 0, used = 0;
            for (; used < 4 && sim->banks[cycle][used] != 0; used++) {
                same += sim->banks[cycle][used] == bank + 1;
            }
            if (same >= 2) {
                continue;
            }
            if (used < 4) {
                sim->banks[cycle][used] = (uint8_t)(bank + 1);
            }
        }
        int best = __builtin_ctz(free_ports);
        for (uint32_t left = free_ports & (free_ports - 1); left != 0; left &= left - 1) {
            int port = __builtin_ctz(left);
            best = sim->load_of[port] < sim->load_of[best] ? port : best;
        }
        sim->busy[cycle] |= UINT32_C(1) << best;
        sim->load_of[best] += 1.0;
        sim->waiting[best]++;
        return (double)cycle;
    }
    sim->full = true;
    return from;
}

/* An operation is given its port when it issues, and waits for that one: the one for which fewest wait. That
 * is not always the one that is free first. */
static uint32_t port_choose(struct sim *sim, uint32_t ports) {
    double now = fmin(sim->issued - DISPATCH, CYCLES_MAX);
    for (; (double)sim->begun < now; sim->begun++) {
        for (uint32_t left = sim->busy[sim->begun]; left != 0; left &= left - 1) {
            sim->waiting[__builtin_ctz(left)]--;
        }
    }
    int best = -1;
    for (uint32_t left = ports; left != 0; left &= left - 1) {
        int port = __builtin_ctz(left);
        bool fewer = best < 0 || sim->waiting[port] < sim->waiting[best];
        bool tie = best >= 0 && sim->waiting[port] == sim->waiting[best] &&
                   sim->costs->port_names[port] < sim->costs->port_names[best];
        best = fewer || tie ? port : best;
    }
    return UINT32_C(1) << best;
}

/* The cycle in which the instruction's last slot is issued. */
static double issue(struct sim *sim, const struct core_instruction *instruction) {
    double first = sim->retire_ring[sim->ring_at]; /* the instruction that had this place must have retired */
    if (sim->ring_size > 0 && first > sim->issued) {
        sim->issued = ceil(first);
        sim->slots = 0.0;
    }
    if (instruction->apart && sim->slots >= sim->apart_slots) {
        sim->slots = sim->width;
    }
    for (double left = instruction->slots; left > 0.0;) {
        if (sim->slots >= sim->width) {
            sim->issued += 1.0;
            sim->slots = 0.0;
        }
        double now = fmin(left, sim->width - sim->slots);
        sim->slots += now;
        left -= now;
    }
    return sim->issued;
}

/* Whole µops that are due of a term, now. */
static unsigned due(double *credit, double uops) {
    *credit += uops;
    unsigned count = (unsigned)(*credit + 1e-6);
    *credit -= count;
    return count;
}

struct flight {
    const struct core_instruction *instruction;
    double issued;
    double address;    /* when the address is there */
    double loaded;     /* when loaded data is there */
    double operands;   /* when everything but memory is there */
    double started;    /* when the last µop starts */
    double delay;      /* that ports and units cost beyond the operands */
    double load_delay; /* ... at the load ports */
    struct core_store *forwarded;
    struct core_word where;
    bool located;
};

/* Data that comes from a store which is still on its way. */
static double forwarded_at(const struct sim *sim, const struct flight *flight, double normally) {
    const struct core_store *store = flight->forwarded;
    const struct core_instruction *instruction = flight->instruction;
    bool inside = store->address.number <= flight->where.number &&
                  flight->where.number + instruction->bytes <= store->address.number + store->bytes;
    if (store->commit < flight->address) {
        return normally;
    }
    if (!inside) { /* it waits until the store is in the cache */
        return fmax(normally, fmax(store->commit, store->data) + sim->forwarding.blocked);
    }
    return fmax(flight->issued, store->data) + core_forward_cycles(&sim->forwarding, instruction, store);
}

static void load_run(struct sim *sim, struct flight *flight, double *credit) {
    const struct core_instruction *instruction = flight->instruction;
    uint32_t ports = sim->costs->load_ports;
    double exec = flight->address;
    int bank = -1;
    if (flight->located) {
        bank = (int)(flight->where.number % LINE);
        flight->forwarded = core_values_find(&sim->values, flight->where, instruction->bytes);
    }
    bool any = false;
    for (unsigned t = 0; t < instruction->cost->term_count; t++) {
        const struct core_term *term = &instruction->cost->terms[t];
        if ((term->ports & ~ports) != 0) {
            continue;
        }
        for (unsigned n = due(&credit[t], term->uops); n > 0; n--) {
            exec = fmax(exec, place(sim, term->ports, flight->address, any ? -1 : bank));
            any = true;
        }
    }
    flight->load_delay = exec - flight->address;
    flight->loaded = exec + sim->load;
    if (flight->forwarded != NULL) {
        flight->loaded = forwarded_at(sim, flight, flight->loaded);
    }
}

static void operations_run(struct sim *sim, struct flight *flight, double *credit) {
    const struct core_instruction *instruction = flight->instruction;
    uint32_t memory = sim->costs->load_ports | sim->costs->store_ports;
    double from = flight->operands;
    if (instruction->loads) {
        from = fmax(from, flight->loaded);
    }
    if (instruction->cost->unit >= 0 && !instruction->idiom) {
        double free_at = sim->unit_free[instruction->cost->unit];
        double start = fmax(from, free_at);
        sim->unit_free[instruction->cost->unit] = start + instruction->cost->unit_cycles;
        flight->delay = start - from;
    }
    flight->started = from + flight->delay;
    for (unsigned t = 0; t < instruction->cost->term_count; t++) {
        const struct core_term *term = &instruction->cost->terms[t];
        if ((term->ports & ~memory) == 0) {
            continue;
        }
        for (unsigned n = due(&credit[t], term->uops); n > 0; n--) {
            uint32_t port = port_choose(sim, core_term_ports(instruction, t));
            double exec = place(sim, port, from + flight->delay, -1);
            flight->started = fmax(flight->started, exec);
        }
    }
    flight->delay = fmax(0.0, flight->started - from);
}

/* Results: by the latency from each source, plus what was lost at ports and units. */
static double targets_run(struct sim *sim, struct flight *flight) {
    const struct core_instruction *instruction = flight->instruction;
    double last = flight->started, results[CORE_TARGETS_MAX];
    for (unsigned t = 0; t < instruction->target_count; t++) {
        double at = instruction->renamed && !instruction->idiom ? 0.0 : flight->issued;
        bool general = false;
        for (unsigned s = 0; s < instruction->source_count; s++) {
            double from = sim->ready[instruction->sources[s]];
            if (!instruction->renamed) {
                from = fmax(from, flight->issued);
            }
            if (s < instruction->address_count && instruction->loads) {
                continue;
            }
            general = true;
            at = fmax(at, from + instruction->latency[t][s] + flight->delay);
        }
        if (instruction->loads && !(instruction->stack && instruction->targets[t] == CORE_RESOURCE_GPR + 4)) {
            at = fmax(at,
                      flight->loaded + flight->delay + fmax(0.0, instruction->through_load[t] - sim->load));
        } else if (!general && !instruction->renamed) {
            at = fmax(at, flight->started + 1.0);
        }
        if (instruction->stack && instruction->targets[t] == CORE_RESOURCE_GPR + 4) {
            at = sim->ready[CORE_RESOURCE_GPR + 4];
        }
        last = fmax(last, at);
        results[t] = at;
    }
    for (unsigned t = 0; t < instruction->target_count; t++) { /* after all are read */
        sim->ready[instruction->targets[t]] = results[t];
    }
    return last;
}

static double store_run(struct sim *sim, struct flight *flight, double *credit) {
    const struct core_instruction *instruction = flight->instruction;
    double data = instruction->loads
                      ? fmax(flight->loaded, flight->operands) + flight->delay + instruction->to_store
                      : flight->operands + flight->delay;
    bool first = true;
    double last = data;
    for (unsigned t = 0; t < instruction->cost->term_count; t++) {
        const struct core_term *term = &instruction->cost->terms[t];
        if ((term->ports & ~sim->costs->store_ports) != 0) {
            continue;
        }
        for (unsigned n = due(&credit[t], term->uops); n > 0; n--) {
            last = fmax(last, place(sim, term->ports, first ? data : flight->address, -1));
        }
        first = false;
    }
    /* In order; two in one cycle only to the same line. */
    double commit = fmax(sim->committed, last);
    bool same = flight->located && sim->pair_open && sim->last_symbol == flight->where.symbol &&
                sim->last_line == flight->where.number / LINE;
    if (same && commit <= sim->committed) {
        sim->pair_open = false;
    } else {
        commit = fmax(sim->committed + 1.0, last);
        sim->pair_open = true;
    }
    sim->committed = commit;
    sim->last_symbol = flight->where.symbol;
    sim->last_line = flight->where.number / LINE;
    if (flight->located) {
        struct core_store *store = core_values_store(&sim->values, instruction, flight->where);
        store->data = data;
        store->commit = commit;
    }
    return last;
}

static void instruction_run(struct sim *sim, size_t i) {
    const struct core_instruction *instruction = &sim->block->items[i];
    double *credit = &sim->credits[i * CORE_TERMS_MAX];
    struct flight flight = {.instruction = instruction};
    if (instruction->fused) {
        return;
    }
    flight.issued = issue(sim, instruction);
    flight.address = flight.operands = flight.issued;
    for (unsigned s = 0; s < instruction->source_count; s++) {
        double *to = s < instruction->address_count || (instruction->stack && instruction->sources[s] == 4)
                         ? &flight.address
                         : &flight.operands;
        *to = fmax(*to, sim->ready[instruction->sources[s]]);
    }
    if (!instruction->loads && !instruction->stores) { /* LEA */
        flight.operands = fmax(flight.operands, flight.address);
    }
    flight.located = (instruction->loads || instruction->stores) &&
                     core_values_address(&sim->values, instruction, &flight.where);
    double last = flight.issued;
    if (!instruction->renamed) {
        if (instruction->loads) {
            load_run(sim, &flight, credit);
        }
        operations_run(sim, &flight, credit);
        if (instruction->stores) {
            last = store_run(sim, &flight, credit);
        }
    }
    last = fmax(last, targets_run(sim, &flight));
    core_values_step(&sim->values, instruction, instruction->loads ? flight.forwarded : NULL);
    sim->retired = fmax(sim->retired, last);
    if (sim->ring_size > 0) {
        sim->retire_ring[sim->ring_at] = sim->retired;
        sim->ring_at = (sim->ring_at + 1) % sim->ring_size;
    }
}

static double now(const struct sim *sim) {
    return fmax(fmax(sim->retired, sim->committed), sim->issued);
}

/* Runs 2n passes; the second half counts. */
static double passes_run(struct sim *sim) {
    double slots = 0.0;
    for (size_t i = 0; i < sim->block->count; i++) {
        slots += sim->block->items[i].slots;
    }
    unsigned passes = (unsigned)fmin(PASSES_MAX, fmax(PASSES_MIN, SLOTS_AIM / fmax(slots, 1.0)));
    double times[PASSES_MAX + 1];
    unsigned done = 0;
    times[0] = 0.0;
    while (done < passes && !sim->full) {
        for (size_t i = 0; i < sim->block->count; i++) {
            instruction_run(sim, i);
        }
        done++;
        times[done] = now(sim);
    }
    if (sim->full && done > 1) {
        done--; /* the last one did not end */
    }
    unsigned half = done / 2;
    return (times[done] - times[half]) / (done - half);
}

enum ip_status core_simulate(const struct core_costs *costs, const struct core_block *block,
                             const struct core_options *options, double *cycles, struct ip_error *err) {
    struct sim *sim = calloc(1, sizeof *sim);
    double rob = probe_core_get(&costs->core, PROBE_CORE_ROB_SLOTS);
    double width = core_issue_width(costs);
    if (isnan(width) || width < 1.0) {
        free(sim);
        *cycles = NAN;
        return IP_OK;
    }
    size_t ring = isnan(rob) ? 512 : (size_t)rob;
    if (sim != NULL) {
        sim->busy = calloc(CYCLES_MAX, sizeof *sim->busy);
        sim->banks = calloc(CYCLES_MAX, sizeof *sim->banks);
        sim->credits = calloc(block->count * CORE_TERMS_MAX, sizeof *sim->credits);
        sim->retire_ring = calloc(ring, sizeof *sim->retire_ring);
        sim->unit_free = calloc(CORE_UNITS_SHARED + costs->count + 1, sizeof *sim->unit_free);
    }
    enum ip_status status = IP_OK;
    if (sim == NULL || sim->busy == NULL || sim->banks == NULL || sim->credits == NULL ||
        sim->retire_ring == NULL || sim->unit_free == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for the simulation of a block");
    } else {
        sim->costs = costs;
        sim->block = block;
        sim->options = options;
        sim->width = width;
        double apart = probe_core_get(&costs->core, PROBE_CORE_APART_SLOTS);
        sim->apart_slots = isnan(apart) ? width : apart;
        sim->ring_size = ring;
        sim->load = isnan(block->load_cycles) ? 4.0 : block->load_cycles;
        core_forwarding_read(&sim->forwarding, costs, block->load_cycles);
        core_values_init(&sim->values, options->filled, options->fill);
        *cycles = passes_run(sim);
    }
    if (sim != NULL) {
        free(sim->busy);
        free(sim->banks);
        free(sim->credits);
        free(sim->retire_ring);
        free(sim->unit_free);
        free(sim);
    }
    return status;
}
