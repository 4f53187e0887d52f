/* SPDX-License-Identifier: Apache-2.0 */
/* What cores take in before they issue: lines of code, and moves that stand before operations. */
#include "tests/core_machine.h"

static const char *const none[] = {NULL};
static const char *const lines[] = {"line", NULL}, *const moves[] = {"move", NULL};

enum { LINE = 64 };

/* On the simulated core what issues is all: five slots a cycle. */
static void lines_that_issue(void **state) {
    (void)state;
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(none, lines, NULL, &core, &tally);
    assert_int_equal(tally.untrusted, 0);
    assert_fact(&core, "line", "10", NULL, 2);
    assert_fact(&core, "line", "18", NULL, 3.6);
    assert_fact(&core, "line", "64", NULL, 12.8);
    assert_value(&core, PROBE_CORE_LINE_CONSTANTS, 0);
    assert_false(core.values[PROBE_CORE_LINE_ENTRY].known);
    probe_core_fini(&core);
}

/* A core that takes up to twelve instructions of a line, or constants, at a time, in six cycles. */
static double by_twelve(const struct gen_kernel *kernel, double cycles) {
    static const uint8_t compares[] = {0x41, 0x80, 0xbe};
    const bool is_line = kernel->unit_bytes == LINE && kernel->forms_per_unit == 1;
    const bool constants =
        memmem(kernel->shorter.bytes, kernel->shorter.length, compares, sizeof compares) != NULL;
    const double items = (double)kernel->unit_instructions * (constants ? 2 : 1);
    return is_line ? fmax(cycles, 6 * ceil(items / 12)) : cycles;
}

static void lines_that_do_not(void **state) {
    (void)state;
    struct disturbed core_of_twelves = {.cycles = by_twelve};
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(none, lines, &core_of_twelves, &core, &tally);
    assert_fact(&core, "line", "12", NULL, 6);
    assert_fact(&core, "line", "13", NULL, 12);
    assert_fact(&core, "line", "24", NULL, 12);
    assert_fact(&core, "line", "25", NULL, 18);
    assert_value(&core, PROBE_CORE_LINE_CONSTANTS, 1);
    assert_value(&core, PROBE_CORE_LINE_ENTRY, 12);
    assert_value(&core, PROBE_CORE_LINE_ACROSS, 0);
    probe_core_fini(&core);
}

/* MOV there takes a slot before each of them. */
static void moves_apart(void **state) {
    (void)state;
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(none, moves, NULL, &core, &tally);
    assert_fact(&core, "move", "add r64, r64", NULL, 0);
    assert_fact(&core, "move", "and r32, imm8", NULL, 0);
    assert_fact(&core, "move", "cmp r64, r64", NULL, 0);
    probe_core_fini(&core);
}

/* A core on which `add rcx, rsi` right behind `mov rcx, rdi` takes its slot along. */
static double with_the_addition(const struct gen_kernel *kernel, double cycles) {
    static const uint8_t pair[] = {0x48, 0x89, 0xf9, 0x48, 0x01, 0xf1};
    const bool together = memmem(kernel->shorter.bytes, kernel->shorter.length, pair, sizeof pair) != NULL;
    const double slot = 1.0 / 5;
    return together && kernel->unit_instructions > 2 ? cycles - slot : cycles;
}

static void moves_together(void **state) {
    (void)state;
    struct disturbed core_of_pairs = {.cycles = with_the_addition};
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(none, moves, &core_of_pairs, &core, &tally);
    assert_fact(&core, "move", "add r64, r64", NULL, 1);
    assert_fact(&core, "move", "add r32, r32", NULL, 0);
    assert_fact(&core, "move", "sub r64, r64", NULL, 0);
    probe_core_fini(&core);
}

/* A core on which a CMP that waits for a LEA takes its port twice: three uses of ports for two. */
static double twice(const struct gen_kernel *kernel, double cycles) {
    static const uint8_t waits[] = {0x4c, 0x39, 0xc1}; /* cmp rcx, r8 */
    return memmem(kernel->shorter.bytes, kernel->shorter.length, waits, sizeof waits) != NULL ? 1.5 * cycles
                                                                                              : cycles;
}

static void issued_again(void **state) {
    (void)state;
    static const char *const again[] = {"again", NULL};
    struct disturbed core_of_twos = {.cycles = twice};
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(none, again, NULL, &core, &tally);
    assert_value(&core, PROBE_CORE_ISSUE_AGAIN, 0);
    probe_core_fini(&core);
    core_measure(none, again, &core_of_twos, &core, &tally);
    assert_value(&core, PROBE_CORE_ISSUE_AGAIN, 1);
    probe_core_fini(&core);
}

static bool contains(const struct gen_kernel *kernel, const char *code, size_t length) {
    return memmem(kernel->shorter.bytes, kernel->shorter.length, code, length) != NULL;
}
#define CONTAINS(kernel, code) contains(kernel, code, sizeof(code) - 1)

/* A core on which an index costs a load a cycle and an addition a slot, unless XOR zeroed it: that is known
 * to be no index. */
static double known_zero(const struct gen_kernel *kernel, double cycles) {
    const double slot = 1.0 / 5;
    if (CONTAINS(kernel, "\x31\xdb")) { /* xor ebx, ebx */
        return cycles;
    }
    if (CONTAINS(kernel, "\x49\x03\x44\x1e\x08")) { /* add rax, [r14+rbx+8] */
        return cycles + slot;
    }
    return CONTAINS(kernel, "\x48\x8b\x04\xd8") ? cycles + 1 : cycles; /* mov rax, [rax+rbx*8] */
}

static void index_of_zero(void **state) {
    (void)state;
    static const char *const memory[] = {"memory", "micro", NULL};
    struct disturbed core_of_zeros = {.cycles = known_zero};
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(none, memory, &core_of_zeros, &core, &tally);
    assert_value(&core, PROBE_CORE_LOAD_BASE, 4);
    assert_value(&core, PROBE_CORE_LOAD_INDEX, 5);
    assert_fact(&core, "micro", "add r64, m64", NULL, 1);
    assert_fact(&core, "micro_index", "add r64, m64", NULL, 2);
    probe_core_fini(&core);
}

/* A core that adds base and number first, and the index in one more cycle. */
static double two_sums(const struct gen_kernel *kernel, double cycles) {
    return CONTAINS(kernel, "\x48\x8d\x44\x18\x08") ? cycles + 1 : cycles; /* lea rax, [rax+rbx+8] */
}

static void lea_by_its_index(void **state) {
    (void)state;
    static const char *const memory[] = {"memory", NULL};
    struct disturbed core_of_sums = {.cycles = two_sums};
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(none, memory, &core_of_sums, &core, &tally);
    assert_value(&core, PROBE_CORE_LEA_THREE, 2);
    assert_value(&core, PROBE_CORE_LEA_THREE_INDEX, 1);
    probe_core_fini(&core);
}

/* A core that looks for the place anew when RSP was written, and sooner when a number was added to it. */
static double by_its_name(const struct gen_kernel *kernel, double cycles) {
    const bool added = CONTAINS(kernel, "\x48\x83\xec\x20");       /* sub rsp, 32 */
    const bool written = CONTAINS(kernel, "\x48\x8d\x64\x24\xe0"); /* lea rsp, [rsp-32] */
    const double additions = 3;
    return added ? additions + 4 : written ? additions + 7 : cycles;
}

static void stored_by_rsp(void **state) {
    (void)state;
    static const char *const forward[] = {"store_forward_written", NULL};
    struct disturbed core_of_names = {.cycles = by_its_name};
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(none, forward, &core_of_names, &core, &tally);
    assert_value(&core, PROBE_CORE_STORE_FORWARD_ADDED, 4);
    assert_value(&core, PROBE_CORE_STORE_FORWARD_WRITTEN, 7);
    probe_core_fini(&core);
}

/* A core that remembers 20 pairs of store and load. */
static void few_pairs_of_store_and_load(void **state) {
    (void)state;
    static const char *const forward[] = {"forward", NULL};
    static const char *const learns[] = {"forward-latency 6", "forward-latency 6\nknown-pairs 20", NULL};
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(learns, forward, NULL, &core, &tally);
    assert_value(&core, PROBE_CORE_STORE_FORWARD, 0);
    assert_value(&core, PROBE_CORE_STORE_FORWARD_MANY, 6);
    probe_core_fini(&core);
    core_measure(none, forward, NULL, &core, &tally);
    assert_value(&core, PROBE_CORE_STORE_FORWARD, 6);
    assert_value(&core, PROBE_CORE_STORE_FORWARD_MANY, 6);
    probe_core_fini(&core);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_issue),
        cmocka_unit_test(lines_that_do_not),
        cmocka_unit_test(moves_apart),
        cmocka_unit_test(moves_together),
        cmocka_unit_test(issued_again),
        cmocka_unit_test(index_of_zero),
        cmocka_unit_test(lea_by_its_index),
        cmocka_unit_test(stored_by_rsp),
        cmocka_unit_test(few_pairs_of_store_and_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
