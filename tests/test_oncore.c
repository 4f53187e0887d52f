/* SPDX-License-Identifier: Apache-2.0 */
/* The on-core model on tables made by hand, where the answer is known. */
#include "common/random.h"
#include "isa/assemble.h"
#include "oncore/bounds.h"
#include "oncore/cost_steps.h"
#include "oncore/loop.h"
#include "oncore/picture.h"
#include "tests/oncore_table.h"

#define IMUL_AX_CX   "\x48\x0f\xaf\xc1"         /* imul rax, rcx */
#define ADD_AX_CX    "\x48\x01\xc8"             /* add rax, rcx */
#define ADD_AX_8     "\x48\x83\xc0\x08"         /* add rax, 8 */
#define POPCNT_AX_AX "\xf3\x48\x0f\xb8\xc0"     /* popcnt rax, rax */
#define CMP_AX_INDEX "\x48\x3b\x04\xfe"         /* cmp rax, [rsi+rdi*8] */
#define SHL_AX_CL    "\x48\xd3\xe0"             /* shl rax, cl */
#define POPCNT_DX_AX "\xf3\x48\x0f\xb8\xd0"     /* popcnt rdx, rax */
#define LANE_0       "\xc4\xe3\x7d\x19\xc0\x00" /* vextractf128 xmm0, ymm0, 0 */
#define LANE_1       "\xc4\xe3\x7d\x19\xc0\x01" /* vextractf128 xmm0, ymm0, 1 */
#define PUSH_AX      "\x50"
#define POP_AX       "\x58"

/* The small machine, with a stack. */
static void machine_make(struct core_costs *costs) {
    small_machine_make(costs);
    form_add(costs, BYTES(PUSH_AX), "1*p4+1*p7", 1, NAN);
    form_add(costs, BYTES(POP_AX), "1*p23", 1, 0);
}

static void test_ports_and_issue(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    /* Two on p1 and two more that may go elsewhere: p1 binds. */
    struct core_prediction p = predict(&costs, BYTES(IMUL_AX_BX XOR_AX_AX POPCNT_DX_S XOR_AX_AX), false);
    assert_near(p.bounds[CORE_BOUND_PORTS], 2.0);
    assert_int_equal(__builtin_popcount(p.bottleneck), 1);
    assert_near(p.bounds[CORE_BOUND_ISSUE], 1.0);
    core_prediction_fini(&p);
    /* Seven on p015, one on p1: all three ports are full. */
    p = predict(&costs,
                BYTES(POPCNT_DX_S XOR_AX_AX XOR_AX_AX XOR_AX_AX XOR_AX_AX XOR_AX_AX XOR_AX_AX XOR_AX_AX),
                false);
    assert_near(p.bounds[CORE_BOUND_PORTS], 8.0 / 3.0);
    double sum = 0.0;
    for (unsigned port = 0; port < costs.port_count; port++) {
        sum += p.pressure[port];
        assert_true(p.pressure[port] <= p.bounds[CORE_BOUND_PORTS] + 1e-9);
    }
    assert_near(sum, 8.0);
    core_prediction_fini(&p);
    core_costs_fini(&costs);
}

static void test_chains(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    struct core_prediction p = predict(&costs, BYTES(IMUL_AX_BX ADD_AX_BX), false);
    assert_near(p.bounds[CORE_BOUND_CHAIN], 4.0);
    assert_int_equal(p.binding, CORE_BOUND_CHAIN);
    assert_int_equal(p.chain_count, 2);
    assert_int_equal(p.chain[0].instruction, 0);
    assert_int_equal(p.chain[1].instruction, 1);
    assert_about(p.bounds[CORE_BOUND_SIMULATION], 4.0);
    core_prediction_fini(&p);
    /* rax feeds rcx and rcx feeds rax, each once a pass: a cycle through both. */
    p = predict(&costs, BYTES(ADD_CX_AX IMUL_AX_CX), false);
    assert_near(p.bounds[CORE_BOUND_CHAIN], 4.0);
    core_prediction_fini(&p);
    /* A load that follows a pointer. */
    p = predict(&costs, BYTES(LOAD_SELF), false);
    assert_near(p.bounds[CORE_BOUND_CHAIN], 5.0);
    assert_about(p.cycles, 5.0);
    core_prediction_fini(&p);
    /* Nothing carried: rax is loaded anew in each pass. */
    p = predict(&costs, BYTES(LOAD_AX IMUL_AX_BX), false);
    assert_near(p.bounds[CORE_BOUND_CHAIN], 0.0);
    assert_about(p.cycles, 1.0);
    core_prediction_fini(&p);
    core_costs_fini(&costs);
}

static void test_memory(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    /* Through memory: forwarding 4, addition 1. */
    struct core_prediction p = predict(&costs, BYTES(LOAD_AX ADD_AX_BX STORE_AX), false);
    assert_near(p.bounds[CORE_BOUND_CHAIN], 5.0);
    assert_about(p.bounds[CORE_BOUND_SIMULATION], 5.0);
    bool memory = false;
    for (unsigned l = 0; l < p.chain_count; l++) {
        memory = memory || p.chain[l].memory;
    }
    assert_true(memory);
    core_prediction_fini(&p);
    /* The stack's place is the same in each pass, though RSP moves. */
    p = predict(&costs, BYTES(PUSH_AX POP_AX), false);
    assert_near(p.bounds[CORE_BOUND_CHAIN], 4.0);
    core_prediction_fini(&p);
    /* Without forwarding known, a load's latency stands for it. */
    costs.core.values[PROBE_CORE_STORE_FORWARD].known = false;
    p = predict(&costs, BYTES(LOAD_AX ADD_AX_BX STORE_AX), false);
    assert_near(p.bounds[CORE_BOUND_CHAIN], 6.0);
    core_prediction_fini(&p);
    core_costs_fini(&costs);
}

static void test_rename(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    struct core_prediction p = predict(&costs, BYTES(XOR_AX_AX ADD_AX_BX), false);
    assert_near(p.bounds[CORE_BOUND_CHAIN], 2.0); /* nobody said that it is an idiom */
    core_prediction_fini(&p);
    cost_of(&costs, BYTES(XOR_AX_AX))->same_breaks = true;
    p = predict(&costs, BYTES(XOR_AX_AX ADD_AX_BX), false);
    assert_near(p.bounds[CORE_BOUND_CHAIN], 0.0);
    assert_near(p.bounds[CORE_BOUND_PORTS], 2.0 / 3.0);
    core_prediction_fini(&p);
    cost_of(&costs, BYTES(XOR_AX_AX))->same_eliminated = true;
    p = predict(&costs, BYTES(XOR_AX_AX ADD_AX_BX), false);
    assert_near(p.bounds[CORE_BOUND_PORTS], 1.0 / 3.0);
    assert_near(p.bounds[CORE_BOUND_ISSUE], 0.5);
    core_prediction_fini(&p);
    core_costs_fini(&costs);
}

static void test_fusion(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    struct core_prediction p = predict(&costs, BYTES(CMP_AX_BX JNZ_HERE), true);
    assert_near(p.slots, 1.0); /* by default */
    assert_int_equal(p.missing_count, 0);
    core_prediction_fini(&p);
    parameter(&costs, "fuse cmp r64, r64 + jnz rel8", 0);
    p = predict(&costs, BYTES(CMP_AX_BX JNZ_HERE), true);
    assert_near(p.slots, 2.0);
    core_prediction_fini(&p);
    parameter(&costs, "fuse cmp r64, r64 + jnz rel8", 1);
    p = predict(&costs, BYTES(CMP_AX_BX JNZ_HERE), true);
    assert_near(p.slots, 1.0);
    core_prediction_fini(&p);
    /* Something between them: no pair. */
    p = predict(&costs, BYTES(CMP_AX_BX LOAD_AX JNZ_HERE), true);
    assert_near(p.slots, 3.0);
    core_prediction_fini(&p);
    core_costs_fini(&costs);
}

/* What an instruction waits for depends on who made it. */
static void test_neighbours(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    cost_of(&costs, BYTES(IMUL_AX_BX))->bypass = 1.0f;
    struct core_prediction p = predict(&costs, BYTES(IMUL_AX_BX IMUL_AX_BX), false);
    assert_near(p.bounds[CORE_BOUND_CHAIN], 4.0);
    assert_about(p.bounds[CORE_BOUND_SIMULATION], 4.0);
    core_prediction_fini(&p);
    p = predict(&costs, BYTES(IMUL_AX_BX ADD_AX_BX), false); /* another unit: no bypass */
    assert_near(p.bounds[CORE_BOUND_CHAIN], 4.0);
    core_prediction_fini(&p);
    /* A move that rename does is no other consumer; one that is executed is. */
    static const struct bytes moved = BYTES(IMUL_AX_BX "\x48\x89\xc1" IMUL_CX_BX "\x48\x89\xc8");
    form_add(&costs, BYTES("\x48\x89\xc1"), "none", 1, 0); /* mov rcx, rax; mov rax, rcx */
    assert_near(chain(&costs, moved), 4.0);
    form_add(&costs, BYTES("\x48\x89\xc1"), "1*p015", 1, 1);
    assert_near(chain(&costs, moved), 8.0);
    /* An addition at rename, and a consumer that cannot add its number. */
    form_add(&costs, BYTES(ADD_AX_8), "none", 1, 0);
    cost_of(&costs, BYTES(POPCNT_AX_AX))->after = 2.0f;
    p = predict(&costs, BYTES(ADD_AX_8 POPCNT_AX_AX), false);
    assert_near(p.bounds[CORE_BOUND_CHAIN], 5.0);
    core_prediction_fini(&p);
    p = predict(&costs, BYTES(ADD_AX_BX POPCNT_AX_AX), false);
    assert_near(p.bounds[CORE_BOUND_CHAIN], 4.0);
    core_prediction_fini(&p);
    core_costs_fini(&costs);
}

static void test_front(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    parameter(&costs, "uop_cache_width", 5);
    struct core_prediction p =
        predict(&costs, BYTES(ADD_AX_BX LOAD_AX LOAD_AX LOAD_AX CMP_AX_BX JNZ_HERE), true);
    assert_near(p.bounds[CORE_BOUND_UOP_CACHE], 1.0); /* five slots: one fetch */
    core_prediction_fini(&p);
    p = predict(&costs, BYTES(ADD_AX_BX ADD_AX_BX LOAD_AX LOAD_AX LOAD_AX CMP_AX_BX JNZ_HERE), true);
    assert_near(p.bounds[CORE_BOUND_UOP_CACHE], 2.0);
    core_prediction_fini(&p);
    /* The jump decides the ports of the pair. */
    p = predict(&costs, BYTES(IMUL_AX_BX CMP_AX_BX JNZ_HERE), true);
    assert_near(p.bounds[CORE_BOUND_PORTS], 1.0);
    core_prediction_fini(&p);
    costs.branch_ports = cost_of(&costs, BYTES(IMUL_AX_BX))->terms[0].ports;
    p = predict(&costs, BYTES(IMUL_AX_BX CMP_AX_BX JNZ_HERE), true);
    assert_near(p.bounds[CORE_BOUND_PORTS], 2.0);
    core_prediction_fini(&p);
    core_costs_fini(&costs);
}

/* With an index some loads are taken apart from their operation, and begin early in a cycle. */
static void test_apart(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    form_add(&costs, BYTES(CMP_AX_INDEX), "1*p015+1*p23", 1, 1);
    parameter(&costs, "micro cmp r64, m64", 1);
    parameter(&costs, "micro_index cmp r64, m64", 1);
    struct core_prediction p = predict(&costs, BYTES(CMP_AX_INDEX LOAD_AX LOAD_AX), false);
    assert_near(p.slots, 3.0);
    core_prediction_fini(&p);
    parameter(&costs, "micro_index cmp r64, m64", 2);
    p = predict(&costs, BYTES(CMP_AX_INDEX LOAD_AX LOAD_AX LOAD_AX), false);
    assert_near(p.slots, 5.0);
    assert_about(p.bounds[CORE_BOUND_SIMULATION], 2.0); /* four loads */
    core_prediction_fini(&p);
    p = predict(&costs, BYTES(CMP_AX_INDEX LOAD_AX POPCNT_DX_S ADD_AX_BX), false);
    assert_about(p.bounds[CORE_BOUND_SIMULATION], 1.25);
    core_prediction_fini(&p);
    parameter(&costs, "apart_slots", 1); /* what is left of each second cycle stays empty */
    p = predict(&costs, BYTES(CMP_AX_INDEX LOAD_AX POPCNT_DX_S ADD_AX_BX), false);
    assert_near(p.bounds[CORE_BOUND_ISSUE], 1.25);
    assert_about(p.bounds[CORE_BOUND_SIMULATION], 2.0);
    core_prediction_fini(&p);
    parameter(&costs, "micro_index cmp r64, m64",
              3); /* as what loads, changes and stores on a Sandy Bridge */
    p = predict(&costs, BYTES(CMP_AX_INDEX LOAD_AX), false);
    assert_near(p.slots, 4.0);
    core_prediction_fini(&p);
    core_costs_fini(&costs);
}

/* The branch that closes a loop goes, and what stands before it stays; without a body it is none. */
static void test_loop_open(void **state) {
    (void)state;
    struct ip_error err = {0};
    struct ip_text code = {0};
    ip_text_append_bytes(&code, IMUL_AX_BX, sizeof(IMUL_AX_BX) - 1);
    const size_t bare = code.length;
    must(core_loop_open(&code, &err), &err);
    assert_int_equal(code.length, bare);
    must(core_loop_close(&code, &err), &err);
    const size_t closed = code.length;
    must(core_loop_open(&code, &err), &err);
    assert_int_equal(code.length, closed - 6); /* jnz rel32 */
    ip_text_clear(&code);
    ip_text_append_bytes(&code, "\xeb\xfe", 2); /* jmp to itself */
    assert_int_equal(core_loop_open(&code, &err), IP_SYNTAX);
    ip_text_fini(&code);
}

static void test_loop(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    struct ip_error err = {0};
    struct ip_text code = {0};
    ip_text_append_bytes(&code, IMUL_AX_BX, sizeof(IMUL_AX_BX) - 1);
    must(core_loop_close(&code, &err), &err);
    size_t closed = code.length;
    assert_true(closed > sizeof(IMUL_AX_BX) - 1);
    must(core_loop_close(&code, &err), &err); /* it ends in a branch to its start: nothing is added */
    assert_int_equal(code.length, closed);
    struct core_prediction p = predict(&costs, (struct bytes){code.data, code.length}, true);
    assert_true(p.bounds[CORE_BOUND_LOOP] >= 1.0);
    assert_near(p.bounds[CORE_BOUND_CHAIN], 3.0);
    assert_int_equal(p.missing_count, 1); /* the subtraction: nobody gave it */
    core_prediction_fini(&p);
    parameter(&costs, "taken_branch", 7);
    p = predict(&costs, (struct bytes){code.data, code.length}, true);
    assert_near(p.cycles, 7.0);
    assert_int_equal(p.binding, CORE_BOUND_LOOP);
    core_prediction_fini(&p);
    ip_text_fini(&code);
    core_costs_fini(&costs);
}

/* An immediate of zero has the costs of its own row, where there is one. */
static void test_zero(void **state) {
    (void)state;
    for (unsigned own = 0; own < 2; own++) {
        struct core_costs costs;
        machine_make(&costs);
        form_add(&costs, BYTES(LANE_1), "1*p1", 1, 3);
        struct isa_form form;
        size_t length = 0;
        struct ip_error err = {0};
        must(isa_decode((const uint8_t *)LANE_0, 6, &form, NULL, &length, &err), &err);
        assert_string_equal(form.syntax, "vextractf128 xmm, ymm, imm8");
        (void)strcpy(form.syntax, "vextractf128 xmm, ymm, 0");
        if (own != 0) {
            must(core_costs_add(&costs, &form, "1*p015", 1, 1, &err), &err);
        }
        struct core_prediction p = predict(&costs, BYTES(LANE_0), false);
        assert_near(p.bounds[CORE_BOUND_CHAIN], own != 0 ? 1.0 : 3.0);
        core_prediction_fini(&p);
        p = predict(&costs, BYTES(LANE_1), false);
        assert_near(p.bounds[CORE_BOUND_CHAIN], 3.0);
        core_prediction_fini(&p);
        core_costs_fini(&costs);
    }
}

static void test_refusals(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    struct core_prediction p = {0};
    struct ip_error err = {0};
    const struct core_options options = {0};
    assert_int_equal(core_predict(&costs, (const uint8_t *)"\x48\x0f", 2, &options, &p, &err), IP_SYNTAX);
    assert_non_null(strstr(err.text, "middle of the instruction at offset 0"));
    assert_int_equal(core_predict(&costs, (const uint8_t *)IMUL_AX_BX "\x06", 5, &options, &p, &err),
                     IP_SYNTAX);
    assert_non_null(strstr(err.text, "offset 4"));
    assert_int_equal(core_predict(&costs, (const uint8_t *)"", 0, &options, &p, &err), IP_SYNTAX);
    assert_null(p.block.items);
    p = predict(&costs, BYTES("\x0f\xa2" IMUL_AX_BX), false); /* cpuid */
    assert_int_equal(p.missing_count, 1);
    assert_int_equal(p.missing[0], 0);
    core_prediction_fini(&p);
    struct core_term terms[CORE_TERMS_MAX];
    unsigned count = 7;
    static const char *const wrong[] = {"p1", "1*q1", "1*p", "x*p1", "-1*p0", "1*p01+", "1*p01 2"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        enum ip_status status = core_ports_parse(&costs, wrong[i], terms, &count, &err);
        if (strcmp(wrong[i], "1*p01+") != 0) {
            assert_int_equal(status, IP_SYNTAX);
        }
    }
    core_costs_fini(&costs);
}

/* Any of eight ports, half of them as a rule; or one or two, which overlap here and there. */
static uint32_t random_ports(struct ip_random *random, bool few) {
    if (few) {
        const uint64_t one = ip_random_below(random, 8), other = ip_random_below(random, 8);
        return (1U << one) | (1U << other);
    }
    return 1 + (uint32_t)ip_random_below(random, 255);
}

/* The port bound is what trying every set of ports gives. */
static void test_ports_exhaustive(void **state) {
    (void)state;
    struct ip_random random = {.state = 20261};
    enum { MANY = 60 }; /* of every tenth block: instructions, with more than a hundred sets of ports */
    for (unsigned round = 0; round < 300; round++) {
        struct core_instruction items[MANY];
        struct core_cost costs[MANY];
        memset(items, 0, sizeof items);
        memset(costs, 0, sizeof costs);
        struct core_block block = {.items = items, .count = 1 + ip_random_below(&random, 6)};
        block.count = round % 10 == 0 ? MANY : block.count;
        for (size_t i = 0; i < block.count; i++) {
            costs[i].term_count = 1 + (unsigned)ip_random_below(&random, 3);
            for (unsigned t = 0; t < costs[i].term_count; t++) {
                costs[i].terms[t].ports = random_ports(&random, round % 2 == 1);
                costs[i].terms[t].uops = 1 + (double)ip_random_below(&random, 3);
            }
            items[i].cost = items[i].executed = &costs[i];
        }
        double most = 0.0;
        for (uint32_t set = 1; set < 256; set++) {
            double uops = 0.0;
            for (size_t i = 0; i < block.count; i++) {
                for (unsigned t = 0; t < costs[i].term_count; t++) {
                    uops += (costs[i].terms[t].ports & ~set) == 0 ? costs[i].terms[t].uops : 0.0;
                }
            }
            most = fmax(most, uops / __builtin_popcount(set));
        }
        uint32_t binding = 0;
        double found = NAN;
        struct ip_error err = {0};
        must(core_ports_bound(&block, &found, &binding, &err), &err);
        if (fabs(found - most) > 1e-9) {
            fail_msg("seed 20261, round %u: %f instead of %f", round, found, most);
        }
        double pressure[CORE_PORTS_MAX], shares[MANY][CORE_PORTS_MAX] = {{0}}, sum = 0.0, all = 0.0;
        must(core_pressure_spread(&block, pressure, shares, &err), &err);
        for (unsigned p = 0; p < CORE_PORTS_MAX; p++) {
            assert_true(pressure[p] <= most + 1e-9);
            sum += pressure[p];
        }
        for (size_t i = 0; i < block.count; i++) {
            for (unsigned t = 0; t < costs[i].term_count; t++) {
                all += costs[i].terms[t].uops;
            }
        }
        assert_near(sum, all);
    }
}

/* One more instruction never makes a block faster, by any bound. */
static void test_monotone(void **state) {
    (void)state;
    static const struct bytes parts[] = {
        {IMUL_AX_BX, sizeof(IMUL_AX_BX) - 1},   {IMUL_CX_BX, sizeof(IMUL_CX_BX) - 1},
        {ADD_AX_BX, sizeof(ADD_AX_BX) - 1},     {ADD_CX_AX, sizeof(ADD_CX_AX) - 1},
        {POPCNT_DX_S, sizeof(POPCNT_DX_S) - 1}, {CMP_AX_BX, sizeof(CMP_AX_BX) - 1},
        {ADD_AX_CX, sizeof(ADD_AX_CX) - 1},     {IMUL_AX_CX, sizeof(IMUL_AX_CX) - 1}};
    struct core_costs costs;
    machine_make(&costs);
    struct ip_random random = {.state = 7};
    for (unsigned round = 0; round < 200; round++) {
        char code[256];
        size_t length = 0;
        double before[CORE_BOUNDS] = {0};
        double chain = 0.0;
        for (unsigned i = 0; i < 12; i++) {
            const struct bytes *part = &parts[ip_random_below(&random, sizeof parts / sizeof parts[0])];
            memcpy(code + length, part->data, part->length);
            length += part->length;
            struct core_prediction p = predict(&costs, (struct bytes){code, length}, false);
            /* These read what they write: a chain only grows. */
            assert_true(p.bounds[CORE_BOUND_ISSUE] > before[CORE_BOUND_ISSUE]);
            assert_true(p.bounds[CORE_BOUND_PORTS] >= before[CORE_BOUND_PORTS] - 1e-9);
            assert_true(p.bounds[CORE_BOUND_CHAIN] >= chain - 1e-9);
            assert_true(p.bounds[CORE_BOUND_SIMULATION] >= p.bounds[CORE_BOUND_ISSUE] * 0.95);
            assert_true(p.bounds[CORE_BOUND_SIMULATION] >= p.bounds[CORE_BOUND_PORTS] * 0.95);
            if (p.bounds[CORE_BOUND_SIMULATION] < p.bounds[CORE_BOUND_CHAIN] * 0.95) {
                fail_msg("seed 7, round %u: simulation %f, chain %f", round, p.bounds[CORE_BOUND_SIMULATION],
                         p.bounds[CORE_BOUND_CHAIN]);
            }
            memcpy(before, p.bounds, sizeof before);
            chain = p.bounds[CORE_BOUND_CHAIN];
            core_prediction_fini(&p);
        }
    }
    core_costs_fini(&costs);
}

/* Rename does an addition, unless a branch is fused with it: the pair takes a port of the branch's. */
static void test_at_rename(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    form_add(&costs, BYTES(ADD_AX_8), "1*p015", 1, 0);
    struct core_cost *add = cost_of(&costs, BYTES(ADD_AX_8));
    add->eliminated = 0.17;
    struct core_prediction p = predict(&costs, BYTES(ADD_AX_8 POPCNT_AX_AX), false);
    assert_near(p.bounds[CORE_BOUND_PORTS], 1.0);
    assert_near(p.pressure[0] + p.pressure[1] + p.pressure[2], 2.0);
    core_prediction_fini(&p);
    add->at_rename = true;
    p = predict(&costs, BYTES(ADD_AX_8 POPCNT_AX_AX), false);
    assert_near(p.pressure[0] + p.pressure[1] + p.pressure[2], 1.0);
    core_prediction_fini(&p);
    p = predict(&costs, BYTES(ADD_AX_8 JNZ_HERE), true);
    assert_near(p.slots, 1.0);
    assert_near(p.pressure[0] + p.pressure[1] + p.pressure[2], 1.0);
    core_prediction_fini(&p);
    core_costs_fini(&costs);
}

/* An addition that never takes a port is executed as a part of the branch: two POPCNT and the pair are three
 * µops of p1. */
static void test_executed_as_branch(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    form_add(&costs, BYTES(ADD_AX_8), "none", 1, 0);
    form_add(&costs, BYTES(JNZ_HERE), "1*p1", 1, NAN);
    cost_of(&costs, BYTES(ADD_AX_8))->eliminated = 0.17;
    struct core_prediction p =
        predict(&costs, BYTES(POPCNT_DX_S POPCNT_DX_S ADD_AX_8 POPCNT_DX_S JNZ_HERE), true);
    assert_near(p.bounds[CORE_BOUND_PORTS], 4.0); /* no pair: of the branch alone */
    core_prediction_fini(&p);
    p = predict(&costs, BYTES(POPCNT_DX_S POPCNT_DX_S ADD_AX_8 JNZ_HERE), true);
    assert_near(p.slots, 3.0);
    assert_near(p.bounds[CORE_BOUND_PORTS], 3.0);
    assert_about(p.bounds[CORE_BOUND_SIMULATION], 3.0);
    assert_false(p.block.items[2].renamed);
    core_prediction_fini(&p);
    /* So is a comparison that the tables lack. */
    p = predict(&costs, BYTES(POPCNT_DX_S POPCNT_DX_S "\x48\x85\xc0" JNZ_HERE), true);
    assert_int_equal(p.missing_count, 1);
    assert_near(p.slots, 3.0);
    assert_near(p.bounds[CORE_BOUND_PORTS], 3.0);
    core_prediction_fini(&p);
    core_costs_fini(&costs);
}

/* A shift by CL passes the flags on, and its result does not wait for them. */
static void test_idle_source(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    form_add(&costs, BYTES(SHL_AX_CL), "2*p015", 2, 1);
    struct core_prediction p = predict(&costs, BYTES(LOAD_AX SHL_AX_CL POPCNT_DX_AX), false);
    assert_near(p.bounds[CORE_BOUND_CHAIN], 4.0);
    core_prediction_fini(&p);
    struct core_cost *shift = cost_of(&costs, BYTES(SHL_AX_CL));
    static const float idle[] = {0.1f, -INFINITY}; /* less than noise; or known to be independent */
    for (unsigned k = 0; k < 2; k++) {
        for (unsigned i = 0; i < shift->latency_count; i++) {
            const struct core_latency *pair = &shift->latencies[i];
            bool flags = shift->form.operands[pair->src].kind == ISA_OPERAND_FLAGS;
            shift->latencies[i].cycles = flags ? idle[k] : pair->cycles;
        }
        p = predict(&costs, BYTES(LOAD_AX SHL_AX_CL POPCNT_DX_AX), false);
        assert_near(p.bounds[CORE_BOUND_CHAIN], 0.0);
        core_prediction_fini(&p);
    }
    core_costs_fini(&costs);
}

/* A usage of more µops than its slots hold is none. */
static void test_usage_believed(void **state) {
    (void)state;
    struct res_form form = {.syntax = "add m64, r64",
                            .ports = {.known = true,
                                      .usage = "1*p49+1*p78",
                                      .verdict = "ok",
                                      .uops = 2,
                                      .slots = 1.07,
                                      .cycles = 0.5,
                                      .expected_cycles = 0.5}};
    assert_true(core_ports_usable(&form));
    form.ports.uops = 3;
    assert_false(core_ports_usable(&form));
    (void)strcpy(form.syntax, "vmovd r32, xmm"); /* between registers: it may hold up several ports */
    assert_true(core_ports_usable(&form));
    (void)strcpy(form.syntax, "movq mm, m64");
    assert_false(core_ports_usable(&form));
    (void)strcpy(form.syntax, "movq mm, r64");
    assert_true(core_ports_usable(&form));
    (void)strcpy(form.syntax, "add m64, r64");
    form.ports.slots = 1.93;
    assert_true(core_ports_usable(&form));
    form.ports.slots = form.slots.cycles = NAN; /* nothing says so */
    assert_true(core_ports_usable(&form));
    (void)strcpy(form.syntax, "fild m32"); /* notes its address besides */
    form.ports.slots = 0.86;
    assert_false(core_ports_usable(&form));
    (void)strcpy(form.extension, "X87");
    assert_true(core_ports_usable(&form));
    form.ports.uops = 4;
    assert_false(core_ports_usable(&form));
    form.ports.usage[0] = '\0';
    assert_false(core_ports_usable(&form));
}

static void test_picture(void **state) {
    (void)state;
    struct core_costs costs;
    machine_make(&costs);
    struct core_prediction p = predict(&costs, BYTES(IMUL_AX_BX ADD_AX_BX STORE_AX "\x0f\xa2"), false);
    struct ip_text svg = {0};
    core_picture_write(&costs, &p, "a <title> & more", &svg);
    assert_false(svg.failed);
    assert_non_null(strstr(svg.data, "a &lt;title&gt; &amp; more"));
    assert_non_null(strstr(svg.data, "imul rax, rbx"));
    assert_non_null(strstr(svg.data, "not in the tables"));
    assert_non_null(strstr(svg.data, "marker-end"));
    assert_string_equal(svg.data + svg.length - 7, "</svg>\n");
    ip_text_fini(&svg);
    core_prediction_fini(&p);
    core_costs_fini(&costs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ports_and_issue),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_rename),
        cmocka_unit_test(test_fusion),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_loop_open),
        cmocka_unit_test(test_zero),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_ports_exhaustive),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_front),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_monotone),
        cmocka_unit_test(test_picture),
        cmocka_unit_test(test_at_rename),
        cmocka_unit_test(test_executed_as_branch),
        cmocka_unit_test(test_idle_source),
        cmocka_unit_test(test_usage_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
