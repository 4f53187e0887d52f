/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/simulate.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oncore/values.h"

enum {
    CYCLES_MAX = 1 << 14, /* of simulated time */
    PASSES_MIN = 12,
    PASSES_MAX = 200,
    SLOTS_AIM = 400,      /* so many slots are simulated, where the limits allow it */
    NAMES = 128,          /* a port's name is a character */
    CYCLES_CLEARED = 512, /* so many more at a time */
    DISPATCH = 5,         /* cycles from issue to the first in which a µop may begin, as in uiCA */
    LINE = 64,
    QUEUE = 24, /* µops that wait for a port, where ports are given in turn: as AMD says of Zen 3 and 4 */
    GAPS = 16   /* so many are remembered of each unit */
};

/* Fractions of a cycle come from latencies that vary; a µop starts so much early rather than a cycle late. */
static const double EARLY = 0.3;

/* Which ports are taken in a cycle, and where its loads begin in their cache line. */
struct cycle {
    uint32_t busy;
    uint8_t banks[4]; /* 1 + bank */
};

/* An instruction's terms by what their µops do, and what is the same in each pass. */
struct plan {
    uint8_t loads[CORE_TERMS_MAX], operations[CORE_TERMS_MAX], stores[CORE_TERMS_MAX];
    uint8_t load_count, operation_count, store_count;
    uint32_t ports[CORE_TERMS_MAX];
    unsigned whole[CORE_TERMS_MAX]; /* µops of a pass; 0: not a whole number, see `credits` */
    double credits[CORE_TERMS_MAX]; /* fractions of µops that are due */
};

/* When an unpipelined unit is idle: from `free` on, and in some gaps before, for what is issued earlier may
 * have to wait for its operands longer. */
struct unit {
    double free;
    struct {
        double begin, end;
    } gaps[GAPS];
    unsigned next; /* gap to be given up */
};

/* Not fmax: that is a call, and no time is NaN. */
static double later(double a, double b) {
    return b > a ? b : a;
}

/* Takes the unit for so many cycles, from `from` on or as soon as it can; returns when it begins. */
static double unit_take(struct unit *unit, double from, double cycles) {
    for (unsigned i = 0; i < GAPS; i++) {
        double start = later(from, unit->gaps[i].begin);
        if (start + cycles <= unit->gaps[i].end) {
            unit->gaps[i].begin = start + cycles; /* what is left before it is lost */
            return start;
        }
    }
    double start = later(from, unit->free);
    if (start > unit->free) {
        unit->gaps[unit->next].begin = unit->free;
        unit->gaps[unit->next].end = start;
        unit->next = (unit->next + 1) % GAPS;
    }
    unit->free = start + cycles;
    return start;
}

struct sim {
    const struct core_costs *costs;
    const struct core_block *block;
    const struct core_options *options;
    double width, load;
    unsigned bank_loads; /* loads a cycle that begin in the same place of a cache line */
    double apart_slots;  /* an instruction that is taken apart begins in the first so many slots */
    struct core_forwarding forwarding;
    struct cycle *cycles; /* owned; CYCLES_MAX, of which only the first `cleared` hold something */
    size_t cleared;
    double ready[CORE_RESOURCES];
    struct unit *units; /* owned */
    double issued;      /* cycle in which slots are being issued */
    double slots;       /* issued in it */
    double retired;     /* when the youngest instruction so far retires */
    double committed;
    uint64_t merge_bytes; /* stores into one aligned block of so many bytes may share a cycle ... */
    unsigned merge_more;  /* ... so many more than the first */
    bool merge_unread;    /* ... unless a load took its data from one of them */
    struct {
        bool open, read; /* there was a store; a load took its data from one */
        unsigned more;   /* stores that share the last one's cycle with it */
        uint64_t block;
        uint32_t symbol;
    } run;                       /* of stores into one block */
    int load_of[CORE_PORTS_MAX]; /* µops bound to each port */
    bool in_turn;                /* ports are given to µops in turn, else by what waits for each */
    int given[CORE_PORTS_MAX];   /* when each port was last given to a µop, in the order in which they were
                                    given */
    int givens;
    int waiting[CORE_PORTS_MAX]; /* µops that were given each port and have not begun */
    size_t begun;                /* the cycle up to which those that have begun were taken off */
    bool full;                   /* out of simulated time */
    struct plan *plans;          /* owned: of each instruction */
    double *retire_ring;         /* owned: rob entries */
    size_t ring_size, ring_at;
    struct core_values values;
};

/* The first cycle that is not before `time`. */
static size_t cycle_from(double time) {
    if (time <= 0.0) {
        return 0;
    }
    size_t whole = (size_t)time;
    return whole + ((double)whole < time);
}

/* Cycles are cleared as time goes on: most blocks need few. */
static struct cycle *cycle_at(struct sim *sim, size_t number) {
    if (number >= sim->cleared) {
        size_t end = number + CYCLES_CLEARED < CYCLES_MAX ? number + CYCLES_CLEARED : CYCLES_MAX;
        memset(sim->cycles + sim->cleared, 0, (end - sim->cleared) * sizeof *sim->cycles);
        sim->cleared = end;
    }
    return &sim->cycles[number];
}

/* The first cycle, at or after `from`, in which one of the ports is free, and that port. So many loads a
 * cycle may begin in one bank. */
static double place(struct sim *sim, uint32_t ports, double from, int bank) {
    for (size_t number = cycle_from(from - EARLY); number < CYCLES_MAX; number++) {
        struct cycle *cycle = cycle_at(sim, number);
        uint32_t free_ports = ports & ~cycle->busy;
        if (free_ports == 0) {
            continue;
        }
        if (bank >= 0) {
            unsigned same = 0, used = 0;
            for (; used < 4 && cycle->banks[used] != 0; used++) {
                same += cycle->banks[used] == bank + 1;
            }
            if (same >= sim->bank_loads) {
                continue;
            }
            if (used < 4) {
                cycle->banks[used] = (uint8_t)(bank + 1);
            }
        }
        int best = __builtin_ctz(free_ports);
        for (uint32_t left = free_ports & (free_ports - 1); left != 0; left &= left - 1) {
            int port = __builtin_ctz(left);
            best = sim->load_of[port] < sim->load_of[best] ? port : best;
        }
        cycle->busy |= UINT32_C(1) << best;
        sim->load_of[best]++;
        sim->waiting[best]++;
        return (double)number;
    }
    sim->full = true;
    return from;
}

/* Those that have begun wait no longer. */
static void begun_take_off(struct sim *sim) {
    double now = sim->issued - DISPATCH;
    for (; (double)sim->begun < now && sim->begun < CYCLES_MAX; sim->begun++) {
        for (uint32_t left = cycle_at(sim, sim->begun)->busy; left != 0; left &= left - 1) {
            sim->waiting[__builtin_ctz(left)]--;
        }
    }
}

/* The one for which fewest wait (Abel and Reineke 2022, of Intel's cores). */
static uint32_t port_by_count(const struct sim *sim, uint32_t ports) {
    int best = 0, least = INT_MAX;
    for (uint32_t left = ports; left != 0; left &= left - 1) {
        int port = __builtin_ctz(left);
        int rank = sim->waiting[port] * NAMES + sim->costs->port_names[port];
        best = rank < least ? port : best;
        least = rank < least ? rank : least;
    }
    return UINT32_C(1) << best;
}

/* The one that was given to another µop longest ago, unless its queue is full; nothing is issued while all
 * are. */
static uint32_t port_in_turn(struct sim *sim, uint32_t ports) {
    int best = -1;
    while (best < 0 && sim->issued < CYCLES_MAX) {
        begun_take_off(sim);
        int least = INT_MAX;
        for (uint32_t left = ports; left != 0; left &= left - 1) {
            int port = __builtin_ctz(left);
            if (sim->waiting[port] < QUEUE && sim->given[port] < least) {
                best = port;
                least = sim->given[port];
            }
        }
        if (best < 0) {
            sim->issued += 1.0;
            sim->slots = 0.0;
        }
    }
    best = best < 0 ? __builtin_ctz(ports) : best;
    sim->given[best] = ++sim->givens;
    return UINT32_C(1) << best;
}

/* An operation is given its port when it issues, and waits for that one, which is not always the one that is
 * free first. */
static uint32_t port_choose(struct sim *sim, uint32_t ports) {
    begun_take_off(sim);
    return sim->in_turn ? port_in_turn(sim, ports) : port_by_count(sim, ports);
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
        double room = sim->width - sim->slots, now = left < room ? left : room;
        sim->slots += now;
        left -= now;
    }
    return sim->issued;
}

/* Whole µops that are due of a term, now. */
static unsigned due(struct plan *plan, const struct core_instruction *instruction, unsigned t) {
    if (plan->whole[t] != 0) {
        return plan->whole[t];
    }
    plan->credits[t] += instruction->cost->terms[t].uops;
    unsigned count = (unsigned)(plan->credits[t] + 1e-6);
    plan->credits[t] -= count;
    return count;
}

static void plan_make(const struct core_costs *costs, const struct core_instruction *instruction,
                      struct plan *plan) {
    const struct core_cost *cost = instruction->cost;
    for (unsigned t = 0; t < cost->term_count; t++) {
        const struct core_term *term = &cost->terms[t];
        bool loads = instruction->loads && (term->ports & ~costs->load_ports) == 0;
        bool stores = instruction->stores && (term->ports & ~costs->store_ports) == 0;
        bool operates = (term->ports & ~(costs->load_ports | costs->store_ports)) != 0;
        stores = stores && !loads; /* ports of both: the access takes one once */
        if (loads) {
            plan->loads[plan->load_count++] = (uint8_t)t;
        }
        if (operates) {
            plan->operations[plan->operation_count++] = (uint8_t)t;
        }
        if (stores) {
            plan->stores[plan->store_count++] = (uint8_t)t;
        }
        plan->ports[t] = operates ? core_term_ports(instruction, t) : term->ports;
        plan->whole[t] = term->uops == floor(term->uops) ? (unsigned)term->uops : 0;
    }
}

struct flight {
    const struct core_instruction *instruction;
    double issued;
    double address;  /* when the address is there */
    double loaded;   /* when loaded data is there */
    double operands; /* when everything but memory is there */
    double started;  /* when the last µop starts */
    double delay;    /* that ports and units cost beyond the operands */
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
    double cycles = core_forward_cycles(&sim->forwarding, instruction, store);
    bool foretold = inside && core_forward_foretold(&sim->forwarding, cycles);
    if (store->commit < flight->address && !foretold) {
        return normally;
    }
    if (!inside) { /* it waits until the store is in the cache */
        return later(normally, later(store->commit, store->data) + sim->forwarding.blocked);
    }
    return later(flight->issued, store->data) + cycles;
}

static void load_run(struct sim *sim, struct flight *flight, struct plan *plan) {
    const struct core_instruction *instruction = flight->instruction;
    double exec = flight->address;
    int bank = -1;
    if (flight->located) {
        bank = (int)(flight->where.number % LINE);
        flight->forwarded = core_values_find(&sim->values, flight->where, instruction->bytes);
    }
    bool any = false;
    for (unsigned i = 0; i < plan->load_count; i++) {
        unsigned t = plan->loads[i];
        for (unsigned n = due(plan, instruction, t); n > 0; n--) {
            exec = later(exec, place(sim, plan->ports[t], flight->address, any ? -1 : bank));
            any = true;
        }
    }
    flight->loaded = exec + sim->load;
    if (flight->forwarded != NULL) {
        flight->loaded = forwarded_at(sim, flight, flight->loaded);
        const struct core_word *read = &flight->forwarded->address;
        sim->run.read = sim->run.read || (sim->run.open && sim->run.symbol == read->symbol &&
                                          sim->run.block == read->number / sim->merge_bytes);
    }
}

static void operations_run(struct sim *sim, struct flight *flight, struct plan *plan) {
    const struct core_instruction *instruction = flight->instruction;
    double from = flight->operands;
    if (instruction->loads) {
        from = later(from, flight->loaded);
    }
    if (instruction->cost->unit >= 0 && !instruction->idiom) {
        struct unit *unit = &sim->units[instruction->cost->unit];
        flight->delay = unit_take(unit, from, instruction->cost->unit_cycles) - from;
    }
    flight->started = from + flight->delay;
    for (unsigned i = 0; i < plan->operation_count; i++) {
        unsigned t = plan->operations[i];
        for (unsigned n = due(plan, instruction, t); n > 0; n--) {
            uint32_t port = port_choose(sim, plan->ports[t]);
            double exec = place(sim, port, from + flight->delay, -1);
            flight->started = later(flight->started, exec);
        }
    }
    flight->delay = later(0.0, flight->started - from);
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
                from = later(from, flight->issued);
            }
            if (s < instruction->address_count && instruction->loads) {
                continue;
            }
            general = true;
            at = later(at, from + instruction->latency[t][s] + flight->delay);
        }
        if (instruction->loads && !(instruction->stack && instruction->targets[t] == CORE_RESOURCE_RSP)) {
            at = later(at,
                       flight->loaded + flight->delay + later(0.0, instruction->through_load[t] - sim->load));
        } else if (!general && !instruction->renamed) {
            at = later(at, flight->started + 1.0);
        }
        if (instruction->stack && instruction->targets[t] == CORE_RESOURCE_RSP) {
            at = sim->ready[CORE_RESOURCE_RSP];
        }
        last = later(last, at);
        results[t] = at;
    }
    for (unsigned t = 0; t < instruction->target_count; t++) { /* after all are read */
        sim->ready[instruction->targets[t]] = results[t];
    }
    return last;
}

/* Stores enter the cache in order, one a cycle, or some that follow each other into one block. */
static double commit_in_order(struct sim *sim, const struct flight *flight, double done) {
    uint64_t block = flight->where.number / sim->merge_bytes;
    bool same = flight->located && sim->run.open && sim->run.symbol == flight->where.symbol &&
                sim->run.block == block;
    bool shares = same && !(sim->merge_unread && sim->run.read) && sim->run.more < sim->merge_more &&
                  done <= sim->committed;
    sim->committed = shares ? sim->committed : later(sim->committed + 1.0, done);
    sim->run.more = shares ? sim->run.more + 1 : 0;
    sim->run.read = sim->run.read && same;
    sim->run.open = flight->located;
    sim->run.symbol = flight->where.symbol;
    sim->run.block = block;
    return sim->committed;
}

static double store_run(struct sim *sim, struct flight *flight, struct plan *plan) {
    const struct core_instruction *instruction = flight->instruction;
    double data = instruction->loads
                      ? later(flight->loaded, flight->operands) + flight->delay + instruction->to_store
                      : flight->operands + flight->delay;
    double last = data;
    for (unsigned i = 0; i < plan->store_count; i++) {
        unsigned t = plan->stores[i];
        for (unsigned n = due(plan, instruction, t); n > 0; n--) {
            last = later(last, place(sim, plan->ports[t], i == 0 ? data : flight->address, -1));
        }
    }
    double commit = commit_in_order(sim, flight, last);
    if (flight->located) {
        struct core_store *store = core_values_store(&sim->values, instruction, flight->where);
        store->data = data;
        store->commit = commit;
    }
    return last;
}

static void instruction_run(struct sim *sim, size_t i) {
    const struct core_instruction *instruction = &sim->block->items[i];
    struct plan *plan = &sim->plans[i];
    if (instruction->fused) {
        return;
    }
    struct flight flight;
    flight.instruction = instruction;
    flight.issued = issue(sim, instruction);
    flight.address = flight.operands = flight.started = flight.issued;
    flight.loaded = flight.delay = 0.0;
    flight.forwarded = NULL;
    if (instruction->syncs) {
        sim->ready[CORE_RESOURCE_RSP] += sim->block->stack_sync;
    }
    for (unsigned s = 0; s < instruction->source_count; s++) {
        double *to = s < instruction->address_count ||
                             (instruction->stack && instruction->sources[s] == CORE_RESOURCE_RSP)
                         ? &flight.address
                         : &flight.operands;
        *to = later(*to, sim->ready[instruction->sources[s]]);
    }
    if (!instruction->loads && !instruction->stores) { /* LEA */
        flight.operands = later(flight.operands, flight.address);
    }
    flight.located = (instruction->loads || instruction->stores) &&
                     core_values_address(&sim->values, instruction, &flight.where);
    double last = flight.issued;
    if (!instruction->renamed) {
        if (instruction->loads) {
            load_run(sim, &flight, plan);
        }
        operations_run(sim, &flight, plan);
        if (instruction->stores) {
            last = store_run(sim, &flight, plan);
        }
    }
    last = later(last, targets_run(sim, &flight));
    core_values_step(&sim->values, instruction, instruction->loads ? flight.forwarded : NULL);
    sim->retired = later(sim->retired, last);
    if (sim->ring_size > 0) {
        sim->retire_ring[sim->ring_at] = sim->retired;
        sim->ring_at = sim->ring_at + 1 < sim->ring_size ? sim->ring_at + 1 : 0;
    }
}

static double now(const struct sim *sim) {
    return later(later(sim->retired, sim->committed), sim->issued);
}

/* Runs 2n passes; the second half counts. */
static double passes_run(struct sim *sim) {
    double slots = 0.0;
    for (size_t i = 0; i < sim->block->count; i++) {
        slots += sim->block->items[i].slots;
    }
    unsigned passes = (unsigned)fmin(PASSES_MAX, later(PASSES_MIN, SLOTS_AIM / later(slots, 1.0)));
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
        sim->cycles = malloc(CYCLES_MAX * sizeof *sim->cycles);
        sim->plans = calloc(block->count, sizeof *sim->plans);
        sim->retire_ring = calloc(ring, sizeof *sim->retire_ring);
        sim->units = calloc(CORE_UNITS_SHARED + costs->count + 1, sizeof *sim->units);
    }
    enum ip_status status = IP_OK;
    if (sim == NULL || sim->cycles == NULL || sim->plans == NULL || sim->retire_ring == NULL ||
        sim->units == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for the simulation of a block");
    } else {
        for (size_t i = 0; i < block->count; i++) {
            plan_make(costs, &block->items[i], &sim->plans[i]);
        }
        sim->costs = costs;
        sim->block = block;
        sim->options = options;
        sim->width = width;
        double apart = probe_core_get(&costs->core, PROBE_CORE_APART_SLOTS);
        sim->apart_slots = isnan(apart) ? width : apart;
        double bank = probe_core_get(&costs->core, PROBE_CORE_LOAD_RATE_STRIDE);
        sim->bank_loads = isnan(bank) ? UINT_MAX : (unsigned)fmax(1.0, round(bank));
        double pair = probe_core_get(&costs->core, PROBE_CORE_STORE_PAIR_BYTES);
        sim->merge_bytes = pair >= 1.0 ? (uint64_t)pair : LINE;
        sim->merge_more = probe_core_get(&costs->core, PROBE_CORE_STORE_ROW) > 0.5 ? UINT_MAX : 1;
        sim->merge_unread = probe_core_get(&costs->core, PROBE_CORE_STORE_READ) > 0.5;
        sim->in_turn = probe_core_get(&costs->core, PROBE_CORE_PORTS_IN_TURN) > 0.5;
        sim->ring_size = ring;
        sim->load = isnan(block->load_cycles) ? 4.0 : block->load_cycles;
        core_forwarding_read(&sim->forwarding, costs, block->load_cycles);
        core_values_init(&sim->values, options->filled, options->fill);
        *cycles = passes_run(sim);
    }
    if (sim != NULL) {
        free(sim->cycles);
        free(sim->plans);
        free(sim->retire_ring);
        free(sim->units);
        free(sim);
    }
    return status;
}
