/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/sim_core.h"

#include <stdlib.h>
#include <string.h>

#include "harness/sim_front.h"
#include "harness/sim_hash.h"
#include "harness/sim_ports.h"

enum {
    SIM_PERIOD_MAX = 64,          /* iterations after which a steady loop repeats itself */
    SIM_INSTRUCTIONS_MAX = 16000, /* after so many a loop that never repeats is averaged */
    SIM_ITERATIONS_MAX = 8192,
};

struct memory_cell {
    uint64_t key;        /* 0: empty */
    int64_t made, ready; /* the value; for loads */
};

struct memory {
    struct memory_cell *cells; /* owned; open addressing */
    uint32_t *stored;          /* owned; the cells in use, in the order of their first stores */
    size_t size, stored_count; /* size: a power of two, at least twice the number of stores */
    uint64_t youngest;         /* the key of the last store */
};

/* The retire cycles of the last slots issued, as many as the reorder buffer has. */
struct reorder_buffer {
    int64_t *retired;  /* owned; ring */
    unsigned size, at; /* at: the oldest, whose place the next slot takes */
};

struct loop_history {
    int64_t ends[SIM_ITERATIONS_MAX + 1]; /* retire cycle of each iteration */
    uint64_t signatures[SIM_ITERATIONS_MAX + 1];
    uint64_t uops[SIM_ITERATIONS_MAX + 1]; /* on counted ports */
};

struct core {
    const struct hx_sim_description *d;
    struct hx_sim_widths widths;
    struct hx_sim_ports ports;
    struct hx_sim_front front;
    int64_t ready[HX_SIM_FILE_COUNT];
    int64_t unit_free[HX_SIM_UNITS_MAX];
    struct memory memory;
    int64_t issue_cycle, retire_cycle, branch_cycle;
    int64_t wide_until;       /* all 512-bit instructions so far are done in this cycle */
    unsigned issued, retired; /* slots of that cycle */
    struct reorder_buffer rob;
    unsigned waiting; /* µops in the scheduler: those that start later than in cycle waiting_from */
    int64_t waiting_from;
    bool knows_pairs; /* the loop's loads to general registers are few enough */
};

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static void issue_not_before(struct core *c, int64_t cycle) {
    if (cycle > c->issue_cycle) {
        c->issue_cycle = cycle;
        c->issued = 0;
    }
}

static void slots_issue(struct core *c, unsigned slots) {
    for (unsigned i = 0; i < slots; i++) {
        if (i < c->rob.size) { /* later ones would wait for the form itself */
            issue_not_before(c, c->rob.retired[c->rob.at]);
        }
        if (c->front.width > 0) {
            issue_not_before(c, hx_sim_front_slot(&c->front));
        }
        if (c->issued == c->widths.issue) {
            issue_not_before(c, c->issue_cycle + 1);
        }
        c->issued++;
        c->rob.at = c->rob.at + 1 < c->rob.size ? c->rob.at + 1 : 0;
        if (c->front.width > 0) {
            hx_sim_front_renamed(&c->front, c->issue_cycle);
        }
    }
}

static void slots_retire(struct core *c, unsigned slots, int64_t complete) {
    unsigned at = c->rob.at;
    for (unsigned i = 0; i < slots; i++) { /* back to the form's first slot */
        at = (at > 0 ? at : c->rob.size) - 1;
    }
    if (slots > 0 && complete > c->retire_cycle) {
        c->retire_cycle = complete;
        c->retired = 0;
    }
    for (unsigned i = 0; i < slots; i++) {
        if (c->retired == c->widths.retire) {
            c->retire_cycle++;
            c->retired = 0;
        }
        c->retired++;
        c->rob.retired[at] = c->retire_cycle;
        at = at + 1 < c->rob.size ? at + 1 : 0;
    }
}

/* A µop leaves the scheduler when it starts. */
static void waiting_leave(struct core *c) {
    if (c->waiting > 0 && c->waiting_from < c->issue_cycle) {
        c->waiting -= hx_sim_ports_starting(&c->ports, c->waiting_from + 1, c->issue_cycle);
    }
    c->waiting_from = c->issue_cycle;
}

static int64_t uop_start(struct core *c, uint32_t ports, int64_t ready) {
    waiting_leave(c);
    int64_t place = c->issue_cycle; /* when there is one in the scheduler */
    if (c->waiting == c->d->scheduler) {
        place = hx_sim_ports_next(&c->ports, c->issue_cycle + 1);
    }
    int64_t start = hx_sim_ports_take(&c->ports, ports, c->issue_cycle, ready);
    c->waiting += start > c->waiting_from;
    issue_not_before(c, place);
    return start;
}

static struct memory_cell *memory_cell(const struct memory *m, uint64_t key) {
    size_t slot = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (m->size - 1);
    while (m->cells[slot].key != 0 && m->cells[slot].key != key) {
        slot = (slot + 1) & (m->size - 1);
    }
    return &m->cells[slot];
}

static void memory_store(struct memory *m, struct memory_cell *cell, uint64_t key, int64_t made,
                         int64_t ready) {
    if (cell->key == 0) {
        m->stored[m->stored_count++] = (uint32_t)(cell - m->cells);
    }
    *cell = (struct memory_cell){.key = key, .made = made, .ready = ready};
    m->youngest = key;
}

static int64_t sources_ready(const struct core *c, const struct hx_sim_op *op, bool address, int64_t base) {
    for (unsigned s = 0; s < op->sources_count; s++) {
        uint8_t kind = op->sources[s].kind;
        bool is_address = kind == HX_SIM_SOURCE_LOAD_ADDRESS || kind == HX_SIM_SOURCE_ADDRESS;
        if (kind != HX_SIM_SOURCE_CONTENT && is_address == address) {
            base = later(base, c->ready[op->sources[s].resource]);
        }
    }
    return base;
}

/* When each source can be used, as far as the results are concerned. */
struct moment {
    int64_t base, loaded_from, content; /* renamed; the load's start; what was stored there before */
    int64_t delay;                      /* cycles lost to other instructions' µops and units */
};

static int64_t result_ready(const struct core *c, const struct hx_sim_op *op, const struct moment *at,
                            unsigned r) {
    int64_t ready = -1;
    for (unsigned s = 0; s < op->sources_count; s++) {
        if (op->latency[s][r] == HX_SIM_INDEPENDENT) {
            continue;
        }
        int64_t from = 0;
        switch ((enum hx_sim_source_kind)op->sources[s].kind) {
        case HX_SIM_SOURCE_VALUE:
            from = later(at->base, c->ready[op->sources[s].resource]);
            break;
        case HX_SIM_SOURCE_LOAD_ADDRESS:
            from = at->loaded_from;
            break;
        case HX_SIM_SOURCE_CONTENT:
            from = later(at->base, at->content);
            break;
        case HX_SIM_SOURCE_ADDRESS:
            continue;
        }
        ready = later(ready, from + op->latency[s][r]);
    }
    if (ready < 0) {
        ready = (op->loads ? at->loaded_from : at->base) + op->plain_latency;
    }
    return ready + at->delay;
}

/* At rename: nothing executes. A result is there when its sources are. */
static int64_t op_rename_only(struct core *c, const struct hx_sim_op *op) {
    int64_t ready = sources_ready(c, op, false, 0);
    for (unsigned r = 0; r < op->results_count; r++) {
        if (op->results[r] != HX_SIM_FILE_MEMORY) {
            c->ready[op->results[r]] = ready;
        }
    }
    return c->issue_cycle + 1;
}

/* The store-data µops of what is there in cycle `ready`; returns when the last of them starts. */
static int64_t data_store(struct core *c, const struct hx_sim_op *op, int64_t ready) {
    int64_t stored = ready;
    for (unsigned u = 0; u < op->uops_count; u++) {
        if (op->uops[u].kind == HX_SIM_UOP_DATA) {
            stored = later(stored, uop_start(c, op->uops[u].ports, ready));
        }
    }
    return stored;
}

/* While 512-bit instructions are in flight narrower vectors do without some ports. */
static uint32_t ports_open(const struct core *c, const struct hx_sim_op *op, uint32_t ports) {
    bool closed = op->vector && c->issue_cycle < c->wide_until && (ports & ~c->d->wide_closes) != 0;
    return closed ? ports & ~c->d->wide_closes : ports;
}

/* Executes the µops; returns the cycle in which everything is done. */
static int64_t op_execute(struct core *c, const struct hx_sim_op *op, bool fused) {
    struct moment at = {.base = c->issue_cycle + 1};
    int64_t address_ready = sources_ready(c, op, true, at.base), done = at.base;
    struct memory_cell *cell = op->loads || op->stores ? memory_cell(&c->memory, op->address) : NULL;
    at.loaded_from = address_ready;
    for (unsigned u = 0; !fused && u < op->uops_count; u++) {
        if (op->uops[u].kind == HX_SIM_UOP_LOAD || op->uops[u].kind == HX_SIM_UOP_ADDRESS) {
            int64_t start = uop_start(c, op->uops[u].ports, address_ready);
            done = later(done, start + 1);
            if (op->uops[u].kind == HX_SIM_UOP_LOAD) {
                at.loaded_from = later(at.loaded_from, start);
            }
        }
    }
    int64_t compute_ready = sources_ready(c, op, false, at.base);
    if (cell != NULL && op->loads) {
        at.content = cell->key != 0 ? cell->ready : 0;
        int64_t data = later(at.loaded_from + c->d->load_latency, at.content);
        /* At rename, whatever the address. */
        if (c->knows_pairs && op->general && cell->key != 0 && cell->key == c->memory.youngest) {
            at.content = data = cell->made;
            at.loaded_from = data - c->d->load_latency;
        }
        compute_ready = later(compute_ready, data);
        done = later(done, data);
    }
    bool first = true;
    for (unsigned u = 0; !fused && u < op->uops_count; u++) {
        if (op->uops[u].kind != HX_SIM_UOP_COMPUTE) {
            continue;
        }
        int64_t ready = compute_ready;
        if (first && op->blocking > 0) {
            ready = later(ready, c->unit_free[op->unit]);
        }
        int64_t start = uop_start(c, ports_open(c, op, op->uops[u].ports), ready);
        if (first && op->blocking > 0) {
            c->unit_free[op->unit] = start + op->blocking;
        }
        first = false;
        done = later(done, start + 1);
        at.delay = later(at.delay, start - compute_ready - op->uops[u].offset);
    }
    int64_t results[HX_SIM_RESULTS_MAX];
    for (unsigned r = 0; r < op->results_count; r++) {
        results[r] = r > 0 && op->alike ? results[0] : result_ready(c, op, &at, r);
    }
    for (unsigned r = 0; r < op->results_count; r++) {
        if (op->results[r] != HX_SIM_FILE_MEMORY) {
            c->ready[op->results[r]] = results[r];
            done = later(done, results[r]);
        } else if (cell != NULL) {
            int64_t stored = fused ? results[r] : data_store(c, op, results[r]);
            memory_store(&c->memory, cell, op->address, results[r], stored + c->d->forward_latency);
            done = later(done, stored + 1);
        }
    }
    c->wide_until = op->wide ? later(c->wide_until, done) : c->wide_until;
    return done;
}

/* A store whose memory operand is implicit (PUSH) has data µops but no result in memory. */
static int64_t op_implicit_stores(struct core *c, const struct hx_sim_op *op, int64_t done) {
    for (unsigned u = 0; !op->stores && u < op->uops_count; u++) {
        if (op->uops[u].kind == HX_SIM_UOP_DATA) {
            done = later(
                done, uop_start(c, op->uops[u].ports, sources_ready(c, op, false, c->issue_cycle + 1)) + 1);
        }
    }
    return done;
}

static void op_run(struct core *c, const struct hx_sim_op *op, bool fused, bool taken) {
    unsigned slots = fused ? 0 : op->slots;
    if (taken) { /* the front end follows so many branches only */
        issue_not_before(c, c->branch_cycle);
    }
    if (op->together && c->issued > 0 && c->issued + slots > c->widths.issue) {
        issue_not_before(c, c->issue_cycle + 1);
    }
    hx_sim_front_begin(&c->front, op->microcode);
    slots_issue(c, slots);
    hx_sim_front_end(&c->front, op->microcode);
    if (taken) {
        c->branch_cycle = c->issue_cycle + c->d->taken_branch;
    }
    int64_t done = op->eliminated ? op_rename_only(c, op) : op_execute(c, op, fused);
    if (!fused) {
        done = op_implicit_stores(c, op, done);
    }
    slots_retire(c, slots, done);
}

/* Slots retire in order: those before one that has retired have, too. */
static uint64_t rob_signature(const struct reorder_buffer *rob, uint64_t signature, int64_t now) {
    unsigned at = rob->at;
    for (unsigned i = 0; i < rob->size; i++) {
        at = (at > 0 ? at : rob->size) - 1;
        if (rob->retired[at] <= now) {
            break;
        }
        signature = hx_sim_hash(signature, rob->retired[at], now);
    }
    return signature;
}

/* All that decides about what comes, relative to the current cycle, as a hash: when it is the same as some
 * iterations ago, the loop has become periodic. What waits in the scheduler waits for a port's cycle. */
static uint64_t core_signature(const struct core *c) {
    int64_t now = c->issue_cycle;
    uint64_t signature = hx_sim_ports_signature(&c->ports, now);
    signature = hx_sim_hash(signature, now + (int64_t)c->issued, now);
    signature = hx_sim_hash(signature, now + (int64_t)c->retired, now);
    signature = hx_sim_hash(hx_sim_hash(signature, c->retire_cycle, now), c->branch_cycle, now);
    signature = hx_sim_hash(signature, c->wide_until, now) ^ hx_sim_front_signature(&c->front, now);
    for (unsigned i = 0; i < HX_SIM_FILE_COUNT; i++) {
        signature = hx_sim_hash(signature, c->ready[i], now);
    }
    for (unsigned i = 0; i < c->d->units_count; i++) {
        signature = hx_sim_hash(signature, c->unit_free[i], now);
    }
    for (size_t i = 0; i < c->memory.stored_count; i++) {
        const struct memory_cell *cell = &c->memory.cells[c->memory.stored[i]];
        signature = c->knows_pairs ? hx_sim_hash(signature, cell->made, now) : signature;
        signature = hx_sim_hash(signature, cell->ready, now);
    }
    return rob_signature(&c->rob, signature, now);
}

/* Iterations since the same signature was there; 0: it was not. */
static unsigned period_find(const uint64_t *signatures, size_t count) {
    for (unsigned period = 1; period <= SIM_PERIOD_MAX && period < count; period++) {
        if (signatures[count - 1 - period] == signatures[count - 1]) {
            return period;
        }
    }
    return 0;
}

static void range_run(struct core *c, const struct hx_sim_program *p, size_t begin, size_t end, bool loop) {
    for (size_t i = begin; i < end && !c->ports.failed; i++) {
        bool taken = p->ops[i]->flow == HX_SIM_FLOW_JUMP || (loop && i + 1 == end);
        op_run(c, p->ops[i], p->fused[i], taken);
    }
}

static uint64_t uops_counted(const struct core *c) {
    uint64_t count = 0;
    for (unsigned p = 0; p < c->d->ports_count; p++) {
        count += (c->d->counted_ports >> p & 1u) != 0 ? c->ports.port[p].taken : 0;
    }
    return count;
}

/* Runs iterations until they repeat, or to the limit: then the later half is averaged. */
static void loop_run(struct core *c, const struct hx_sim_program *p, struct loop_history *h,
                     struct hx_sim_cost *cost) {
    size_t size = p->loop_end + 1 - p->loop_begin, n = 0;
    unsigned period = 0;
    h->ends[0] = c->retire_cycle;
    h->uops[0] = uops_counted(c);
    h->signatures[0] = core_signature(c);
    while (period == 0 && n < SIM_ITERATIONS_MAX && (n < 8 || n * size < SIM_INSTRUCTIONS_MAX) &&
           !c->ports.failed) {
        range_run(c, p, p->loop_begin, p->loop_end + 1, true);
        h->ends[++n] = c->retire_cycle;
        h->uops[n] = uops_counted(c);
        if (c->d->uneven == 0) { /* a random binding never repeats */
            h->signatures[n] = core_signature(c);
            period = period_find(h->signatures, n + 1);
        }
    }
    size_t window = period > 0 ? period : n - n / 2;
    cost->cycles_per_iteration = (double)(h->ends[n] - h->ends[n - window]) / (double)window;
    cost->uops_per_iteration = (double)(h->uops[n] - h->uops[n - window]) / (double)window;
    cost->fixed_cycles = (double)h->ends[n] - (double)n * cost->cycles_per_iteration;
}

static bool pairs_are_known(const struct hx_sim_description *d, const struct hx_sim_program *p) {
    size_t loads = 0;
    for (size_t i = p->loop_begin; i <= p->loop_end && i < p->count; i++) {
        loads += p->ops[i]->loads && p->ops[i]->general;
    }
    return d->known_pairs > 0 && loads <= d->known_pairs;
}

static void core_fini(struct core *c) {
    hx_sim_ports_fini(&c->ports);
    hx_sim_front_fini(&c->front);
    free(c->memory.cells);
    free(c->memory.stored);
    free(c->rob.retired);
}

enum ip_status hx_sim_core_run(const struct hx_sim_description *description,
                               const struct hx_sim_program *program, struct hx_sim_widths widths,
                               struct hx_sim_cost *cost, struct ip_error *err) {
    struct core core = {
        .d = description, .widths = widths, .knows_pairs = pairs_are_known(description, program)};
    core.ports.count = description->ports_count;
    core.ports.policy = description->policy;
    core.ports.uneven = description->uneven;
    core.ports.random.state = description->seed ^ program->hash;
    core.memory.size = 16;
    while (core.memory.size < 2 * program->count) {
        core.memory.size *= 2;
    }
    core.memory.cells = calloc(core.memory.size, sizeof *core.memory.cells);
    core.memory.stored = calloc(core.memory.size, sizeof *core.memory.stored);
    core.rob.size = description->rob;
    core.rob.retired = calloc(description->rob, sizeof *core.rob.retired);
    struct loop_history *history = malloc(sizeof *history); /* too large for the stack */
    bool front = hx_sim_front_init(&core.front, description->fetch_width, description->fetch_queue);
    if (core.memory.cells == NULL || core.memory.stored == NULL || core.rob.retired == NULL ||
        history == NULL || !front) {
        core_fini(&core);
        free(history);
        return ip_fail(err, IP_NO_MEMORY, "no memory for the simulated core");
    }
    struct hx_sim_cost result = {0};
    size_t behind = program->loop_begin;
    range_run(&core, program, 0, program->loop_begin, false);
    if (program->loop_begin < program->count) {
        loop_run(&core, program, history, &result);
        behind = program->loop_end + 1;
    } else {
        result.fixed_cycles = (double)core.retire_cycle;
    }
    int64_t before = core.retire_cycle;
    range_run(&core, program, behind, program->count, false);
    result.fixed_cycles += (double)(core.retire_cycle - before);
    bool failed = core.ports.failed;
    core_fini(&core);
    free(history);
    if (failed) {
        return ip_fail(err, IP_FAILED,
                       "the kernel takes too many cycles or too much memory on the simulated CPU; use a "
                       "shorter one");
    }
    *cost = result;
    return IP_OK;
}

void hx_sim_program_fini(struct hx_sim_program *program) {
    free(program->ops);
    free(program->fused);
    memset(program, 0, sizeof *program);
}
