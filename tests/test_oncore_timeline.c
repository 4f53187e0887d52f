/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulated back end says that it did: cycles by hand, and what must hold in any block. */
#include "common/random.h"
#include "oncore/timeline.h"
#include "tests/oncore_table.h"

#define MOV_CX_AX "\x48\x89\xc1"     /* mov rcx, rax */
#define STORE_CX  "\x48\x89\x4e\x40" /* mov [rsi+64], rcx */
#define ADD_M_AX  "\x48\x01\x06"     /* add [rsi], rax */
#define ADD_CX_M  "\x48\x03\x0e"     /* add rcx, [rsi] */

/* The small machine, with moves that rename removes, and arithmetic from memory and in it. */
static void machine_make(struct core_costs *costs) {
    small_machine_make(costs);
    form_add(costs, BYTES(MOV_CX_AX), "none", 1, 0);
    form_add(costs, BYTES(ADD_M_AX), "1*p23+1*p015+1*p4+1*p7", 1, 1);
    form_add(costs, BYTES(ADD_CX_M), "1*p23+1*p015", 1, 1);
}

/* Predicts once more, and looks; what was predicted must not change by that. */
static struct core_prediction watch(struct core_costs *costs, struct bytes code, unsigned passes,
                                    struct core_timeline *timeline) {
    struct core_prediction unseen = predict(costs, code, false), prediction = {0};
    struct ip_error err = {0};
    const struct core_options options = {.timeline = timeline, .timeline_passes = passes};
    must(core_predict(costs, (const uint8_t *)code.data, code.length, &options, &prediction, &err), &err);
    for (unsigned b = 0; b < CORE_BOUNDS; b++) {
        assert_true(prediction.bounds[b] == unseen.bounds[b] ||
                    (isnan(prediction.bounds[b]) && isnan(unseen.bounds[b])));
    }
    core_prediction_fini(&unseen);
    return prediction;
}

struct watched {
    struct core_costs *costs;
    struct core_timeline timeline;
};

/* What became of a block, in so many passes. */
static struct watched watched_make(struct core_costs *costs, struct bytes code, unsigned passes) {
    struct watched watched = {.costs = costs};
    struct core_prediction prediction = watch(costs, code, passes, &watched.timeline);
    core_prediction_fini(&prediction);
    return watched;
}

/* Step `s` was issued, was done and retired then. */
static void step_expect(const struct watched *watched, size_t s, double issued, double done, double retired) {
    assert_true(s < watched->timeline.step_count);
    const struct core_step *step = &watched->timeline.steps[s];
    if (step->issued != issued || step->done != done || step->retired != retired) {
        fail_msg("step %zu: issued %g, done %g, retired %g; expected %g, %g, %g", s, step->issued, step->done,
                 step->retired, issued, done, retired);
    }
}

/* Its u-th µop began there and then; port 0: a unit. */
static void uop_expect(const struct watched *watched, size_t s, size_t u, enum core_uop_kind kind, char port,
                       double begin) {
    assert_true(s < watched->timeline.step_count);
    const struct core_step *step = &watched->timeline.steps[s];
    assert_true(u < step->uop_count);
    const struct core_uop *uop = &watched->timeline.uops[step->uop + u];
    char name = (char)(uop->port < 0 ? 0 : watched->costs->port_names[uop->port]);
    if (uop->kind != kind || name != port || uop->begin != begin) {
        fail_msg("step %zu, %zu: %s on '%c' in %g; expected %s on '%c' in %g", s, u,
                 core_uop_kind_name(uop->kind), name, uop->begin, core_uop_kind_name(kind), port, begin);
    }
}

static void no_uop_expect(const struct watched *watched, size_t s) {
    assert_true(s < watched->timeline.step_count);
    assert_int_equal(watched->timeline.steps[s].uop_count, 0);
}

static void a_chain_begins_every_three_cycles(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    struct watched w = watched_make(&costs, BYTES(IMUL_AX_BX), 9);
    assert_int_equal(w.timeline.passes, 9);
    assert_int_equal(w.timeline.step_count, 9);
    for (size_t s = 0; s < 9; s++) {
        assert_int_equal(w.timeline.steps[s].pass, s);
        assert_int_equal(w.timeline.steps[s].instruction, 0);
        assert_int_equal(w.timeline.steps[s].uop_count, 1);
        assert_true(isnan(w.timeline.steps[s].loaded) && isnan(w.timeline.steps[s].cached));
        uop_expect(&w, s, 0, CORE_UOP_OPERATION, '1', 3.0 * (double)s);
        const size_t cycle = s / SMALL_WIDTH; /* of its issue */
        step_expect(&w, s, (double)cycle, 3.0 * (double)s + 3.0, 3.0 * (double)s + 3.0);
    }
    core_timeline_fini(&w.timeline);
    /* With four entries the reorder buffer is full until the first of them retires. */
    parameter(&costs, "rob_slots", 4);
    w = watched_make(&costs, BYTES(IMUL_AX_BX), 6);
    step_expect(&w, 3, 0, 12, 12);
    step_expect(&w, 4, 3, 15, 15);
    step_expect(&w, 5, 6, 18, 18);
    core_timeline_fini(&w.timeline);
    core_costs_fini(&costs);
}

/* Whoever is issued first has the port; what is ready takes each cycle that the chain leaves. */
static void two_uops_want_one_port(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    struct watched w = watched_make(&costs, BYTES(IMUL_AX_BX POPCNT_DX_S), 3);
    static const double begins[] = {0, 1, 3, 2, 6, 4};
    for (size_t s = 0; s < 6; s++) {
        uop_expect(&w, s, 0, CORE_UOP_OPERATION, '1', begins[s]);
    }
    step_expect(&w, 1, 0, 4, 4);
    step_expect(&w, 3, 0, 5, 6); /* done, but the one before it retires later */
    step_expect(&w, 5, 1, 7, 9);
    core_timeline_fini(&w.timeline);
    core_costs_fini(&costs);
}

static void what_rename_does_takes_no_port(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    /* A move passes the value on when it is there. */
    struct watched w = watched_make(&costs, BYTES(IMUL_AX_BX MOV_CX_AX IMUL_CX_BX), 1);
    no_uop_expect(&w, 1);
    step_expect(&w, 1, 0, 3, 3);
    uop_expect(&w, 2, 0, CORE_UOP_OPERATION, '1', 3);
    core_timeline_fini(&w.timeline);
    /* A zero waits for nothing, with a port ... */
    cost_of(&costs, BYTES(XOR_AX_AX))->same_breaks = true;
    w = watched_make(&costs, BYTES(IMUL_AX_BX XOR_AX_AX ADD_AX_BX), 1);
    uop_expect(&w, 1, 0, CORE_UOP_OPERATION, '0', 0);
    uop_expect(&w, 2, 0, CORE_UOP_OPERATION, '5', 1);
    step_expect(&w, 1, 0, 1, 3);
    core_timeline_fini(&w.timeline);
    /* ... or without. */
    cost_of(&costs, BYTES(XOR_AX_AX))->same_eliminated = true;
    w = watched_make(&costs, BYTES(IMUL_AX_BX XOR_AX_AX ADD_AX_BX), 1);
    no_uop_expect(&w, 1);
    step_expect(&w, 1, 0, 0, 3);
    uop_expect(&w, 2, 0, CORE_UOP_OPERATION, '0', 0);
    core_timeline_fini(&w.timeline);
    /* A form of memory of which nothing takes a port loads nothing. */
    form_add(&costs, BYTES(LOAD_AX), "none", 1, 0);
    w = watched_make(&costs, BYTES(LOAD_AX), 1);
    no_uop_expect(&w, 0);
    assert_true(isnan(w.timeline.steps[0].loaded));
    core_timeline_fini(&w.timeline);
    core_costs_fini(&costs);
}

static void loads_wait_for_stores_on_their_way(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    struct watched w = watched_make(&costs, BYTES(LOAD_AX ADD_AX_BX STORE_AX), 2);
    uop_expect(&w, 0, 0, CORE_UOP_LOAD, '2', 0);
    assert_near(w.timeline.steps[0].loaded, 5);
    assert_false(w.timeline.steps[0].forwarded);
    uop_expect(&w, 1, 0, CORE_UOP_OPERATION, '0', 5);
    uop_expect(&w, 2, 0, CORE_UOP_STORE, '4', 6);
    uop_expect(&w, 2, 1, CORE_UOP_STORE, '7', 0);
    step_expect(&w, 2, 0, 6, 6);
    assert_near(w.timeline.steps[2].cached, 6);
    uop_expect(&w, 3, 0, CORE_UOP_LOAD, '3', 0);
    assert_near(w.timeline.steps[3].loaded, 10);
    assert_true(w.timeline.steps[3].forwarded);
    uop_expect(&w, 4, 0, CORE_UOP_OPERATION, '1', 10);
    core_timeline_fini(&w.timeline);
    /* All in one instruction, in the order of what they do. */
    w = watched_make(&costs, BYTES(ADD_M_AX), 1);
    assert_int_equal(w.timeline.steps[0].uop_count, 4);
    uop_expect(&w, 0, 0, CORE_UOP_LOAD, '2', 0);
    uop_expect(&w, 0, 1, CORE_UOP_OPERATION, '0', 5);
    uop_expect(&w, 0, 2, CORE_UOP_STORE, '4', 6);
    uop_expect(&w, 0, 3, CORE_UOP_STORE, '7', 0);
    core_timeline_fini(&w.timeline);
    /* Stores to two lines enter the cache one after the other. */
    w = watched_make(&costs, BYTES(STORE_AX STORE_CX), 1);
    assert_near(w.timeline.steps[0].cached, 1); /* the first cycle of the cache */
    assert_near(w.timeline.steps[1].cached, 2);
    core_timeline_fini(&w.timeline);
    core_costs_fini(&costs);
}

static void a_unit_is_busy(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    struct core_cost *cost = cost_of(&costs, BYTES(POPCNT_DX_S));
    cost->unit = CORE_UNIT_SCALAR;
    cost->unit_cycles = 4.5;
    struct watched w = watched_make(&costs, BYTES(POPCNT_DX_S), 3);
    for (size_t s = 0; s < 3; s++) {
        assert_int_equal(w.timeline.steps[s].uop_count, 2);
        uop_expect(&w, s, 0, CORE_UOP_UNIT, 0, 4.5 * (double)s);
        assert_near(w.timeline.uops[w.timeline.steps[s].uop].cycles, 4.5);
    }
    uop_expect(&w, 1, 1, CORE_UOP_OPERATION, '1', 5);
    core_timeline_fini(&w.timeline);
    core_costs_fini(&costs);
}

static void fused_instructions_have_one_step(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    struct watched w = watched_make(&costs, BYTES(CMP_AX_BX JNZ_HERE ADD_AX_BX), 2);
    assert_int_equal(w.timeline.step_count, 4);
    assert_int_equal(w.timeline.steps[1].instruction, 2);
    assert_int_equal(w.timeline.steps[2].pass, 1);
    core_timeline_fini(&w.timeline);
    core_costs_fini(&costs);
}

/* What is simulated of a block does not depend on who looks: no more is shown. */
static void only_whole_passes_are_kept(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    char code[64 * 3];
    for (size_t i = 0; i < 64; i++) {
        memcpy(code + 3 * i, ADD_AX_BX, 3);
    }
    struct watched w = watched_make(&costs, (struct bytes){code, sizeof code}, CORE_PASSES_MAX);
    assert_int_equal(w.timeline.passes, CORE_PASSES_MIN);
    assert_int_equal(w.timeline.step_count, CORE_PASSES_MIN * 64);
    core_timeline_fini(&w.timeline);
    w = watched_make(&costs, BYTES(ADD_AX_BX), CORE_PASSES_MAX);
    assert_int_equal(w.timeline.passes, CORE_PASSES_MAX);
    core_timeline_fini(&w.timeline);
    /* Simulated time runs out in the second pass: µops of it are gone, too. */
    struct core_cost *cost = cost_of(&costs, BYTES(POPCNT_DX_S));
    cost->unit = CORE_UNIT_SCALAR;
    cost->unit_cycles = 0.4 * CORE_CYCLES_MAX;
    w = watched_make(&costs, BYTES(POPCNT_DX_S POPCNT_DX_S), 5);
    assert_int_equal(w.timeline.passes, 1);
    assert_int_equal(w.timeline.step_count, 2);
    assert_int_equal(w.timeline.uop_count, 4);
    /* In the first: nothing is left, and what was there before is gone. */
    cost->unit_cycles = 2.0 * CORE_CYCLES_MAX;
    struct core_prediction prediction = watch(&costs, BYTES(POPCNT_DX_S POPCNT_DX_S), 5, &w.timeline);
    core_prediction_fini(&prediction);
    assert_int_equal(w.timeline.passes, 0);
    assert_int_equal(w.timeline.step_count, 0);
    core_timeline_fini(&w.timeline);
    /* Without an issue width nothing is simulated. */
    w = watched_make(&costs, BYTES(ADD_AX_BX), 5);
    assert_int_equal(w.timeline.passes, 5);
    costs.core.values[PROBE_CORE_ISSUE_WIDTH].known = false;
    prediction = watch(&costs, BYTES(ADD_AX_BX), 5, &w.timeline);
    core_prediction_fini(&prediction);
    assert_int_equal(w.timeline.passes, 0);
    assert_int_equal(w.timeline.step_count, 0);
    core_timeline_fini(&w.timeline);
    core_costs_fini(&costs);
}

/* A µop begins when what it waits for is nearly there. */
static void a_little_early_is_not_late(void **state) {
    (void)state;
    assert_int_equal(core_timeline_cycle(0.0), 0);
    assert_int_equal(core_timeline_cycle(3.0), 3);
    assert_int_equal(core_timeline_cycle(3.25), 3);
    assert_int_equal(core_timeline_cycle(3.5), 4);
    struct core_costs costs;
    machine_make(&costs);
    form_add(&costs, BYTES(IMUL_AX_BX), "1*p1", 1, 3.25);
    struct watched w = watched_make(&costs, BYTES(IMUL_AX_BX), 3);
    uop_expect(&w, 1, 0, CORE_UOP_OPERATION, '1', 3);
    core_timeline_fini(&w.timeline);
    core_costs_fini(&costs);
}

/* --- what must hold in any block -------------------------------------------------------------------- */

static const struct bytes parts[] = {
    {IMUL_AX_BX, sizeof(IMUL_AX_BX) - 1},   {IMUL_CX_BX, sizeof(IMUL_CX_BX) - 1},
    {ADD_AX_BX, sizeof(ADD_AX_BX) - 1},     {ADD_CX_AX, sizeof(ADD_CX_AX) - 1},
    {POPCNT_DX_S, sizeof(POPCNT_DX_S) - 1}, {XOR_AX_AX, sizeof(XOR_AX_AX) - 1},
    {MOV_CX_AX, sizeof(MOV_CX_AX) - 1},     {LOAD_AX, sizeof(LOAD_AX) - 1},
    {LOAD_SELF, sizeof(LOAD_SELF) - 1},     {STORE_AX, sizeof(STORE_AX) - 1},
    {STORE_CX, sizeof(STORE_CX) - 1},       {ADD_M_AX, sizeof(ADD_M_AX) - 1},
    {ADD_CX_M, sizeof(ADD_CX_M) - 1},       {CMP_AX_BX JNZ_HERE, sizeof(CMP_AX_BX JNZ_HERE) - 1},
};
enum { PARTS = sizeof parts / sizeof parts[0], ROUNDS = 400, LONGEST = 12, PASSES = 8 };

static const double EARLY = 0.3; /* a µop may begin so much before what it waits for is there */

/* When the last of its sources is there: of those that make its address, or of the others. */
static double sources_ready(const double *ready, const struct core_instruction *instruction, bool address) {
    double last = 0.0;
    for (unsigned s = 0; s < instruction->source_count; s++) {
        if ((s < instruction->address_count) == address) {
            last = fmax(last, ready[instruction->sources[s]]);
        }
    }
    return last;
}

static void begins_check(unsigned round, const struct core_timeline *timeline, const struct core_step *step,
                         const struct core_instruction *instruction, const double *ready) {
    const double address = sources_ready(ready, instruction, true),
                 others = sources_ready(ready, instruction, false);
    unsigned stores = 0;
    for (size_t u = step->uop; u < step->uop + step->uop_count; u++) {
        const struct core_uop *uop = &timeline->uops[u];
        double from = step->issued;
        if (uop->kind == CORE_UOP_LOAD) {
            from = fmax(from, address);
        } else if (uop->kind == CORE_UOP_STORE && stores++ > 0) {
            from = fmax(from, address);
        } else {
            from = fmax(from, fmax(others, instruction->loads ? step->loaded : 0.0));
        }
        if (uop->begin < from - EARLY) {
            fail_msg("seed 11, round %u, step %zu: a %s begins in %g, what it waits for is there at %g",
                     round, (size_t)(step - timeline->steps), core_uop_kind_name(uop->kind), uop->begin,
                     from);
        }
    }
}

/* The unit is taken once at a time: nothing before had it when this µop takes it. */
static void unit_check(const struct core_timeline *timeline, size_t taken) {
    const struct core_uop *uop = &timeline->uops[taken];
    for (size_t u = 0; u < taken; u++) {
        const struct core_uop *other = &timeline->uops[u];
        assert_true(other->kind != CORE_UOP_UNIT || other->begin + other->cycles <= uop->begin ||
                    uop->begin + uop->cycles <= other->begin);
    }
}

static void block_check(unsigned round, const struct core_block *block, const struct core_timeline *timeline,
                        size_t rob) {
    static uint32_t busy[CORE_CYCLES_MAX];
    static unsigned issued[CORE_CYCLES_MAX];
    memset(busy, 0, sizeof busy);
    memset(issued, 0, sizeof issued);
    double ready[CORE_RESOURCES] = {0.0}, cached = 0.0;
    for (size_t s = 0; s < timeline->step_count; s++) {
        const struct core_step *step = &timeline->steps[s];
        const struct core_step *before = s > 0 ? step - 1 : NULL;
        const struct core_instruction *instruction = &block->items[step->instruction];
        uint32_t may = 0;
        double uops = instruction->cost->unit >= 0;
        for (unsigned t = 0; t < instruction->cost->term_count && !instruction->renamed; t++) {
            may |= instruction->cost->terms[t].ports;
            uops += instruction->cost->terms[t].uops;
        }
        assert_near((double)step->uop_count, uops);
        assert_true(before == NULL || (step->issued >= before->issued && step->retired >= before->retired));
        assert_true(step->issued <= step->done && step->done <= step->retired);
        assert_true(step->result <= step->done);
        assert_true(++issued[(size_t)step->issued] <= SMALL_WIDTH); /* all take one slot */
        assert_true(s < rob || step->issued >= timeline->steps[s - rob].retired);
        begins_check(round, timeline, step, instruction, ready);
        for (size_t u = step->uop; u < step->uop + step->uop_count; u++) {
            const struct core_uop *uop = &timeline->uops[u];
            if (uop->kind == CORE_UOP_UNIT) {
                unit_check(timeline, u);
                continue;
            }
            uint32_t port = UINT32_C(1) << uop->port;
            assert_true((port & may) != 0);
            assert_int_equal(busy[(size_t)uop->begin] & port, 0);
            busy[(size_t)uop->begin] |= port;
            assert_true(uop->kind == CORE_UOP_LOAD || uop->begin <= step->done);
            assert_true(uop->kind != CORE_UOP_STORE || uop->begin <= step->cached);
        }
        assert_true(instruction->loads == !isnan(step->loaded));
        assert_true(instruction->stores == !isnan(step->cached));
        if (instruction->stores) {
            assert_true(step->cached >= cached);
            cached = step->cached;
        }
        for (unsigned t = 0; t < instruction->target_count; t++) {
            ready[instruction->targets[t]] = step->result;
        }
    }
}

static void any_block_keeps_the_rules(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    cost_of(&costs, BYTES(XOR_AX_AX))->same_breaks = true;
    cost_of(&costs, BYTES(XOR_AX_AX))->same_eliminated = true;
    form_add(&costs, BYTES(IMUL_AX_BX), "1*p1", 1, 3.5);
    struct core_cost *slow = cost_of(&costs, BYTES(POPCNT_DX_S));
    slow->unit = CORE_UNIT_SCALAR;
    slow->unit_cycles = 2.5;
    struct ip_random random = {.state = 11};
    struct core_timeline timeline = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        char code[128];
        size_t length = 0;
        for (unsigned i = 0, count = 1 + (unsigned)ip_random_below(&random, LONGEST); i < count; i++) {
            const struct bytes *part = &parts[ip_random_below(&random, PARTS)];
            memcpy(code + length, part->data, part->length);
            length += part->length;
        }
        const size_t rob = 8 + (size_t)ip_random_below(&random, 40);
        parameter(&costs, "rob_slots", (double)rob);
        parameter(&costs, "ports_in_turn", round % 2);
        struct core_prediction prediction = watch(&costs, (struct bytes){code, length}, PASSES, &timeline);
        assert_int_equal(timeline.passes, PASSES);
        block_check(round, &prediction.block, &timeline, rob);
        core_prediction_fini(&prediction);
    }
    core_timeline_fini(&timeline);
    core_costs_fini(&costs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_begins_every_three_cycles),
        cmocka_unit_test(two_uops_want_one_port),
        cmocka_unit_test(what_rename_does_takes_no_port),
        cmocka_unit_test(loads_wait_for_stores_on_their_way),
        cmocka_unit_test(a_unit_is_busy),
        cmocka_unit_test(fused_instructions_have_one_step),
        cmocka_unit_test(only_whole_passes_are_kept),
        cmocka_unit_test(a_little_early_is_not_late),
        cmocka_unit_test(any_block_keeps_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
