/* SPDX-License-Identifier: Apache-2.0 */
#include "oncore/simulate.h"

#include <math.h>
#include <stdlib.h>

#include "oncore/access.h"
#include "oncore/binding.h"
#include "oncore/commit.h"
#include "oncore/later.h"
#include "oncore/pointer.h"
#include "oncore/stack.h"
#include "oncore/unit.h"
#include "oncore/values.h"

enum {
    SLOTS_AIM = 800, /* so many slots are simulated, where the limits allow it */
    ROB_DEFAULT = 512,
    ROB_MOST = 1 << 20,
    EARLY_BY_ONE = 3, /* of so many operations that wait one is issued a cycle too early: fitted to measured
                         loops (docs/oncore.md) */
    CROWDED = 3, /* of so many of those that find no port free one takes it from what comes later: likewise */
};

/* So much of a measured number of cycles is noise. */
static const double NOISE = 0.05;

/* An instruction's terms by what their µops do, and what is the same in each pass. */
struct plan {
    uint8_t loads[CORE_TERMS_MAX], operations[CORE_TERMS_MAX], stores[CORE_TERMS_MAX];
    uint8_t load_count, operation_count, store_count;
    uint32_t ports[CORE_TERMS_MAX];
    unsigned whole[CORE_TERMS_MAX]; /* µops of a pass; 0: not a whole number, see `credits` */
    double credits[CORE_TERMS_MAX]; /* fractions of µops that are due */
    double forwarded;               /* fractions of a cycle that forwarding has taken too few */
    bool scalar;                    /* of general registers and flags alone */
};

struct sim {
    const struct core_block *block;
    double width, load;
    double apart_slots; /* an instruction that is taken apart begins in the first so many slots */
    struct core_forwarding forwarding;
    struct core_binding binding;
    struct core_commits commits;
    struct core_access access;
    struct core_unit *units; /* owned */
    double ready[CORE_RESOURCES];
    bool again;                  /* what waits takes its port twice now and then */
    unsigned waited;             /* operations, for a value that is not prompt */
    unsigned crowded;            /* ... which are early where no port is free */
    bool prompt[CORE_RESOURCES]; /* it comes a cycle after the operation that makes it, which waited for
                                    nothing */
    double issued;               /* cycle in which slots are being issued */
    double slots;                /* issued in it */
    double retired;              /* when the youngest instruction so far retires */
    struct plan *plans;          /* owned: of each instruction */
    double *retire_ring;         /* owned: when what has each entry of the reorder buffer retires */
    size_t ring_size, ring_at;
    struct core_values values;
    struct core_timeline *timeline; /* borrowed; NULL: nobody looks */
    uint32_t pass;
};

/* Takes a port for a µop (core_binding_take). */
static double uop_take(struct sim *sim, enum core_uop_kind kind, uint32_t ports, double from, int bank,
                       enum core_takes takes) {
    /* Not before it is issued: that may have waited for room in a queue. */
    double begin = core_binding_take(&sim->binding, ports, core_later(from, sim->issued), bank, takes);
    if (sim->timeline != NULL) {
        core_timeline_uop_add(
            sim->timeline,
            (struct core_uop){.kind = kind, .port = sim->binding.taken, .begin = begin, .cycles = 1.0});
    }
    return begin;
}

/* Nothing is issued while all ports that the µop may be given have as many waiting as they can hold. */
static uint32_t port_choose(struct sim *sim, uint32_t ports) {
    uint32_t port = core_binding_port(&sim->binding, ports, sim->issued);
    while (port == 0 && sim->issued < CORE_CYCLES_MAX) {
        sim->issued += 1.0;
        sim->slots = 0.0;
        port = core_binding_port(&sim->binding, ports, sim->issued);
    }
    return port != 0 ? port : ports & -ports;
}

/* How many entries of the reorder buffer the instruction takes: one for each slot. */
static size_t entries(const struct sim *sim, const struct core_instruction *instruction) {
    double slots = core_later(1.0, round(instruction->slots));
    return slots < (double)sim->ring_size ? (size_t)slots : sim->ring_size;
}

/* Nothing is issued before `time`. */
static void issue_hold(struct sim *sim, double time) {
    if (time > sim->issued) {
        sim->issued = ceil(time);
        sim->slots = 0.0;
    }
}

/* The cycle in which the instruction's last slot is issued. */
static double issue(struct sim *sim, const struct core_instruction *instruction) {
    /* What had these entries must have retired. They retire in order: the last one as the latest. */
    size_t last = (sim->ring_at + entries(sim, instruction) - 1) % sim->ring_size;
    double free_at = sim->retire_ring[last];
    issue_hold(sim, free_at);
    if (instruction->apart > 0 && sim->slots >= sim->apart_slots) {
        sim->slots = sim->width;
    }
    if (sim->slots >= sim->width && instruction->slots > 0.0) {
        sim->issued += 1.0;
        sim->slots = 0.0;
    }
    const double over = instruction->slots - (sim->width - sim->slots);
    if (over > 0.0) {
        const double cycles = ceil(over / sim->width);
        sim->issued += cycles;
        sim->slots = over - (cycles - 1.0) * sim->width;
    } else {
        sim->slots += instruction->slots;
    }
    return sim->issued;
}

/* Whole µops that are due of a term, now. */
static unsigned due(struct plan *plan, const struct core_instruction *instruction, unsigned t) {
    if (plan->whole[t] != 0) {
        return plan->whole[t];
    }
    plan->credits[t] += instruction->executed->terms[t].uops;
    unsigned count = (unsigned)(plan->credits[t] + 1e-6);
    plan->credits[t] -= count;
    return count;
}

static bool is_scalar(uint8_t resource) {
    return resource < CORE_RESOURCE_VECTOR || resource >= CORE_RESOURCE_CARRY;
}

static void plan_make(const struct core_costs *costs, const struct core_instruction *instruction,
                      struct plan *plan) {
    const struct core_cost *cost = instruction->executed;
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
    plan->scalar = true;
    for (unsigned s = 0; s < instruction->source_count; s++) {
        plan->scalar = plan->scalar && is_scalar(instruction->sources[s]);
    }
    for (unsigned t = 0; t < instruction->target_count; t++) {
        plan->scalar = plan->scalar && is_scalar(instruction->targets[t]);
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
    double result;   /* when the last result is there */
    double cached;   /* when its store is in the cache */
    struct core_store *forwarded;
    bool passed; /* the data did come from there */
    bool waits;  /* for values that are not there when it is issued ... */
    bool early;  /* ... and are prompt, all of them */
    struct core_places places;
};

/* Data that comes from a store which is still on its way. */
static double forwarded_at(const struct sim *sim, struct flight *flight, struct plan *plan, double normally) {
    const struct core_store *store = flight->forwarded;
    const struct core_instruction *instruction = flight->instruction;
    const struct core_word where = flight->places.load;
    bool inside = store->address.number <= where.number &&
                  where.number + instruction->bytes <= store->address.number + store->bytes;
    double cycles = core_forward_cycles(&sim->forwarding, &sim->values, instruction, where, store);
    bool foretold = inside && core_forward_foretold(&sim->forwarding, cycles);
    if (store->commit < flight->address && !foretold) {
        return normally;
    }
    flight->passed = true;
    if (!inside) { /* it waits until the store is in the cache */
        return core_later(normally, core_later(store->commit, store->data) + sim->forwarding.blocked);
    }
    /* What takes no whole number takes the one below and the one above, in turns. */
    double whole = floor(cycles + NOISE);
    plan->forwarded += fmax(0.0, cycles - whole);
    double more = plan->forwarded >= 1.0 ? 1.0 : 0.0;
    plan->forwarded -= more;
    return core_later(flight->issued, store->data) + whole + more;
}

/* Of an access: in turn, too; elsewhere the port that is free first. */
static uint32_t access_port(struct sim *sim, uint32_t ports) {
    ports = core_access_ports(&sim->access, ports);
    return sim->binding.in_turn ? port_choose(sim, ports) : ports;
}

static void load_run(struct sim *sim, struct flight *flight, struct plan *plan) {
    const struct core_instruction *instruction = flight->instruction;
    double exec = flight->address;
    int bank = -1;
    if (flight->places.loads) {
        bank = (int)(flight->places.load.number % CORE_LINE_BYTES);
        flight->forwarded = core_values_find(&sim->values, flight->places.load, instruction->bytes);
    }
    bool any = false;
    for (unsigned i = 0; i < plan->load_count; i++) {
        unsigned t = plan->loads[i];
        for (unsigned n = due(plan, instruction, t); n > 0; n--) {
            exec = core_later(exec, uop_take(sim, CORE_UOP_LOAD, access_port(sim, plan->ports[t]),
                                             flight->address, any ? -1 : bank, CORE_TAKES_PORT));
            any = true;
        }
    }
    flight->loaded = exec + sim->load + instruction->index_more;
    if (flight->forwarded != NULL) {
        flight->loaded = forwarded_at(sim, flight, plan, flight->loaded);
        if (!instruction->stores || instruction->copies) {
            core_commits_read(&sim->commits);
        }
    }
}

/* Takes a port in vain before what waits begins: in the first cycle in which it could, if what it waits for
 * comes promptly; else every few of them in the cycle before. Where all ports are taken by then, some of
 * those take theirs from what comes later. */
static void vain_take(struct sim *sim, const struct flight *flight, uint32_t ports, double begin) {
    if (flight->early) {
        (void)core_binding_waste(&sim->binding, ports, sim->issued, begin);
    } else if (++sim->waited % EARLY_BY_ONE == 0 &&
               !core_binding_waste(&sim->binding, ports, core_later(sim->issued, begin - 1.0), begin) &&
               ++sim->crowded % CROWDED == 0) {
        (void)core_binding_take(&sim->binding, ports, begin, -1, CORE_TAKES_PORT);
    }
}

static void operations_run(struct sim *sim, struct flight *flight, struct plan *plan) {
    const struct core_instruction *instruction = flight->instruction;
    double from = flight->operands;
    if (instruction->loads) {
        from = core_later(from, flight->loaded);
    }
    if (instruction->cost->unit >= 0 && !instruction->idiom) {
        struct core_unit *unit = &sim->units[instruction->cost->unit];
        const double cycles = instruction->cost->unit_cycles;
        double begin = core_unit_take(unit, from, cycles);
        /* What takes several in a cycle holds none up that can still begin in it. */
        flight->delay = core_later(cycles < 1.0 ? floor(begin) - from : begin - from, 0.0);
        if (sim->timeline != NULL) {
            core_timeline_uop_add(
                sim->timeline,
                (struct core_uop){.kind = CORE_UOP_UNIT, .port = -1, .begin = begin, .cycles = cycles});
        }
    }
    flight->started = from + flight->delay;
    double lost = flight->delay; /* to others: what the latencies do not hold */
    for (unsigned i = 0; i < plan->operation_count; i++) {
        unsigned t = plan->operations[i];
        const unsigned width = (unsigned)__builtin_popcount(plan->ports[t]),
                       count = due(plan, instruction, t);
        for (unsigned n = 0; n < count; n++) {
            enum core_takes takes = instruction->executed->terms[t].results_of != 0 ? CORE_TAKES_RESULT
                                    : instruction->at_once                          ? CORE_TAKES_BOTH
                                                                                    : CORE_TAKES_PORT;
            uint32_t ports = plan->ports[t];
            const bool again = sim->again && plan->scalar;
            /* Who is issued twice has no port before it begins. */
            ports = takes == CORE_TAKES_RESULT || again ? ports : port_choose(sim, ports);
            if (again && flight->waits) {
                vain_take(sim, flight, ports, from + flight->delay);
            }
            double exec = uop_take(sim, CORE_UOP_OPERATION, ports, from + flight->delay, -1, takes);
            flight->started = core_later(flight->started, exec);
            const unsigned turn = n / width; /* of the form's own */
            lost = core_later(lost, exec - from - turn);
        }
    }
    flight->delay = lost;
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
                from = core_later(from, flight->issued);
            }
            if (s < instruction->address_count && instruction->loads) {
                continue;
            }
            general = true;
            at = core_later(at, from + instruction->latency[t][s] + flight->delay);
        }
        if (instruction->loads && !core_moves_rsp(instruction, t) &&
            !core_moves_pointer(instruction, instruction->targets[t])) {
            at = core_later(at, flight->loaded + flight->delay +
                                    core_later(0.0, instruction->through_load[t] - sim->load));
        } else if (!general && !instruction->renamed) {
            at = core_later(at, flight->started + 1.0);
        }
        if (core_moves_rsp(instruction, t)) {
            at = sim->ready[CORE_RESOURCE_RSP];
        }
        last = core_later(last, at);
        results[t] = at;
    }
    for (unsigned t = 0; t < instruction->target_count; t++) { /* after all are read */
        sim->ready[instruction->targets[t]] = results[t];
        sim->prompt[instruction->targets[t]] = instruction->renamed ? flight->early
                                                                    : !flight->waits && !instruction->loads &&
                                                                          results[t] <= flight->started + 1.0;
    }
    for (unsigned v = 0; v < ISA_CLEARED_VECTORS && instruction->clears; v++) {
        sim->ready[CORE_RESOURCE_VECTOR + v] = flight->started + 1.0;
        sim->prompt[CORE_RESOURCE_VECTOR + v] = false;
    }
    return last;
}

static double store_run(struct sim *sim, struct flight *flight, struct plan *plan) {
    const struct core_instruction *instruction = flight->instruction;
    double data = instruction->loads ? core_later(flight->loaded, flight->operands) : flight->operands;
    data += flight->delay + instruction->to_store;
    double last = data;
    for (unsigned i = 0; i < plan->store_count; i++) {
        unsigned t = plan->stores[i];
        for (unsigned n = due(plan, instruction, t); n > 0; n--) {
            last = core_later(last, uop_take(sim, CORE_UOP_STORE, access_port(sim, plan->ports[t]),
                                             i == 0 ? data : flight->address, -1, CORE_TAKES_PORT));
        }
    }
    /* What is older must have retired. */
    double commit = core_commits_take(&sim->commits, flight->places.stores ? &flight->places.store : NULL,
                                      instruction->bytes, core_later(last, sim->retired));
    flight->cached = commit;
    if (flight->places.stores) {
        struct core_store *store = core_values_store(&sim->values, instruction, flight->places.store);
        store->data = data;
        store->commit = commit;
    }
    return last;
}

/* What became of the i-th instruction, for who looks. */
static void step_note(const struct sim *sim, const struct flight *flight, size_t i, double done) {
    const bool loads = flight->instruction->loads && !flight->instruction->renamed;
    core_timeline_step_add(sim->timeline, (struct core_step){.pass = sim->pass,
                                                             .instruction = (uint32_t)i,
                                                             .issued = flight->issued,
                                                             .loaded = loads ? flight->loaded : NAN,
                                                             .forwarded = flight->passed,
                                                             .started = flight->started,
                                                             .result = flight->result,
                                                             .done = done,
                                                             .retired = sim->retired,
                                                             .cached = flight->cached});
}

static void instruction_run(struct sim *sim, size_t i) {
    const struct core_instruction *instruction = &sim->block->items[i];
    struct plan *plan = &sim->plans[i];
    if (instruction->fused) {
        return;
    }
    const bool fence = instruction->cost->action == CORE_ACTION_FENCE;
    if (fence) {
        issue_hold(sim, sim->retired);
    }
    struct flight flight;
    flight.instruction = instruction;
    flight.issued = issue(sim, instruction);
    flight.address = flight.operands = flight.started = flight.issued;
    flight.loaded = flight.delay = 0.0;
    flight.cached = NAN;
    flight.forwarded = NULL;
    flight.passed = flight.waits = false;
    flight.early = true;
    if (instruction->syncs) {
        sim->ready[CORE_RESOURCE_RSP] += sim->block->stack_sync;
    }
    for (unsigned s = 0; s < instruction->source_count; s++) {
        double *to = s < instruction->address_count ||
                             (instruction->stack && instruction->sources[s] == CORE_RESOURCE_RSP)
                         ? &flight.address
                         : &flight.operands;
        const double ready = sim->ready[instruction->sources[s]];
        *to = core_later(*to, ready);
        const bool of_load = instruction->loads && to == &flight.address; /* which needs no such port */
        if (ready > flight.issued && !of_load) {
            flight.early = flight.early && sim->prompt[instruction->sources[s]];
            flight.waits = true;
        }
    }
    if (!instruction->loads && !instruction->stores) { /* LEA */
        flight.operands = core_later(flight.operands, flight.address);
    }
    flight.places = core_values_places(&sim->values, instruction);
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
    flight.result = targets_run(sim, &flight);
    last = core_later(last, flight.result);
    if (instruction->cost->source == CORE_SOURCE_ASSUMED && instruction->cost->unit >= 0) {
        last = core_later(last, flight.started + instruction->cost->unit_cycles); /* that is all it does */
    }
    if (fence) {
        issue_hold(sim, last);
    }
    core_values_step(&sim->values, instruction, instruction->loads ? flight.forwarded : NULL);
    sim->retired = core_later(sim->retired, last);
    if (sim->timeline != NULL) {
        step_note(sim, &flight, i, last);
    }
    for (size_t left = entries(sim, instruction); left > 0; left--) {
        sim->retire_ring[sim->ring_at] = sim->retired;
        sim->ring_at = sim->ring_at + 1 < sim->ring_size ? sim->ring_at + 1 : 0;
    }
}

static double now(const struct sim *sim) {
    return core_later(core_later(sim->retired, sim->commits.last), sim->issued);
}

/* Runs 2n passes; the second half counts. The first `watched` are kept in the timeline. */
static double passes_run(struct sim *sim, struct core_timeline *timeline, unsigned watched) {
    double slots = 0.0;
    for (size_t i = 0; i < sim->block->count; i++) {
        slots += sim->block->items[i].slots;
    }
    unsigned passes =
        (unsigned)fmin(CORE_PASSES_MAX, core_later(CORE_PASSES_MIN, SLOTS_AIM / core_later(slots, 1.0)));
    double times[CORE_PASSES_MAX + 1];
    unsigned done = 0;
    times[0] = 0.0;
    while (done < passes && !sim->binding.full) {
        sim->timeline = done < watched ? timeline : NULL;
        sim->pass = done;
        for (size_t i = 0; i < sim->block->count; i++) {
            instruction_run(sim, i);
        }
        done++;
        times[done] = now(sim);
    }
    unsigned ended = sim->binding.full ? done - 1 : done; /* the last one did not */
    core_timeline_close(timeline, ended < watched ? ended : watched);
    done = ended > 0 ? ended : done;
    unsigned half = done / 2;
    return (times[done] - times[half]) / (done - half);
}

static void sim_fini(struct sim *sim) {
    core_binding_fini(&sim->binding);
    free(sim->plans);
    free(sim->retire_ring);
    free(sim->units);
}

static enum ip_status sim_open(struct sim *sim, const struct core_costs *costs,
                               const struct core_block *block, double width, bool loop,
                               struct ip_error *err) {
    const double rob = probe_core_get(&costs->core, PROBE_CORE_ROB_SLOTS);
    const double apart = probe_core_get(&costs->core, PROBE_CORE_APART_SLOTS);
    sim->block = block;
    sim->again = probe_core_get(&costs->core, PROBE_CORE_ISSUE_AGAIN) > 0.5;
    sim->width = width;
    sim->apart_slots = isnan(apart) ? width : apart;
    sim->ring_size = rob >= 1.0 && rob <= ROB_MOST ? (size_t)rob : ROB_DEFAULT;
    sim->load = isnan(block->load_cycles) ? 4.0 : block->load_cycles;
    sim->plans = calloc(block->count, sizeof *sim->plans);
    sim->retire_ring = calloc(sim->ring_size, sizeof *sim->retire_ring);
    sim->units = calloc(CORE_UNITS_SHARED + costs->count + 1, sizeof *sim->units);
    if (sim->plans == NULL || sim->retire_ring == NULL || sim->units == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the simulation of a block");
    }
    unsigned stores = 0;
    for (size_t i = 0; i < block->count; i++) {
        plan_make(costs, &block->items[i], &sim->plans[i]);
        stores += block->items[i].stores ? 1 : 0;
    }
    core_forwarding_read(&sim->forwarding, costs, block, loop);
    core_commits_init(&sim->commits, costs, stores, loop);
    core_access_init(&sim->access, costs, block);
    return core_binding_open(&sim->binding, costs, err);
}

enum ip_status core_simulate(const struct core_costs *costs, const struct core_block *block,
                             const struct core_options *options, double *cycles, struct ip_error *err) {
    const double width = core_issue_width(costs);
    *cycles = NAN;
    if (isnan(width) || width < 1.0) {
        if (options->timeline != NULL) {
            core_timeline_fini(options->timeline);
        }
        return IP_OK;
    }
    struct sim *sim = calloc(1, sizeof *sim);
    if (sim == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the simulation of a block");
    }
    enum ip_status status = sim_open(sim, costs, block, width, options->loop, err);
    struct core_timeline timeline = {0};
    if (status == IP_OK) {
        core_values_init(&sim->values, options->filled, options->fill);
        *cycles = passes_run(sim, &timeline, options->timeline != NULL ? options->timeline_passes : 0);
    }
    if (status == IP_OK && timeline.failed) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for the timeline of a block");
    }
    if (status == IP_OK && options->timeline != NULL) {
        core_timeline_fini(options->timeline);
        *options->timeline = timeline;
    } else {
        core_timeline_fini(&timeline);
    }
    sim_fini(sim);
    free(sim);
    return status;
}
