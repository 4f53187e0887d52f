/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of simulated cores: what is measured is what the description says. */
#include "tests/brief.h"
#include "tests/core_machine.h"

static void parameters(void **state) {
    (void)state;
    static const char *const none[] = {NULL}, *const groups[] = {"memory", "forward", "window", "branch",
                                                                 NULL};
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(none, groups, NULL, &core, &tally);
    assert_int_equal(tally.untrusted, 0);
    assert_value(&core, PROBE_CORE_ISSUE_WIDTH, 5);
    assert_value(&core, PROBE_CORE_LOAD_BASE, 4);
    assert_value(&core, PROBE_CORE_STORE_FORWARD, 6);
    assert_value(&core, PROBE_CORE_LOAD_VECTOR, 5); /* at most: 4 + 2 - 1 */
    assert_value(&core, PROBE_CORE_LOAD_RATE, 2);
    assert_value(&core, PROBE_CORE_STORE_RATE, 1);
    assert_value(&core, PROBE_CORE_ROB_SLOTS, 150);
    assert_value(&core, PROBE_CORE_SCHEDULER_UOPS, 60);
    assert_value(&core, PROBE_CORE_TAKEN_BRANCH, 2);
    /* What a simulated core has no end of is not found; what it lacks is not known. */
    assert_false(core.values[PROBE_CORE_LOAD_BUFFER].known);
    assert_non_null(strstr(core.values[PROBE_CORE_LOAD_BUFFER].how, "not seen"));
    assert_false(core.values[PROBE_CORE_LOAD_YMM].known);
    assert_non_null(strstr(core.values[PROBE_CORE_LOAD_YMM].how, "not known"));
    probe_core_fini(&core);
}

static void other_parameters(void **state) {
    (void)state;
    skip_under_memcheck();
    static const char *const others[] = {
        "issue-width 5",  "issue-width 4",  "retire-width 5",    "retire-width 4",    "rob 150",
        "rob 233",        "scheduler 60",   "scheduler 41",      "load-latency 4",    "load-latency 7",
        "taken-branch 2", "taken-branch 1", "forward-latency 6", "forward-latency 3", NULL};
    static const char *const groups[] = {"memory", "forward", "window", "branch", NULL};
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(others, groups, NULL, &core, &tally);
    assert_value(&core, PROBE_CORE_ISSUE_WIDTH, 4);
    assert_value(&core, PROBE_CORE_LOAD_BASE, 7);
    assert_value(&core, PROBE_CORE_STORE_FORWARD, 3);
    assert_value(&core, PROBE_CORE_ROB_SLOTS, 233);
    assert_value(&core, PROBE_CORE_SCHEDULER_UOPS, 41);
    assert_value(&core, PROBE_CORE_TAKEN_BRANCH, 1);
    probe_core_fini(&core);
}

static void facts(void **state) {
    (void)state;
    static const char *const none[] = {NULL}, *const groups[] = {"eliminate", "idiom", "micro", "fuse", NULL};
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(none, groups, NULL, &core, &tally);
    assert_int_equal(tally.untrusted, 0);
    assert_fact(&core, "eliminate", "mov r64, r64", NULL, 0.2);
    assert_fact(&core, "eliminate", "movaps xmm, xmm", NULL, 0.2);
    assert_fact(&core, "eliminate", "mov r32, r32", NULL, NAN);
    assert_fact(&core, "idiom", "xor r32, r32", NULL, 2);
    assert_fact(&core, "idiom", "sub r64, r64", NULL, 1);
    assert_fact(&core, "idiom", "and r64, r64", NULL, 0);
    assert_fact(&core, "micro", "add r64, m64", NULL, 1);
    assert_fact(&core, "micro", "paddd xmm, m128", NULL, 2);
    assert_fact(&core, "fuse", "cmp r64, r64", "jz rel8", 1);
    assert_fact(&core, "fuse", "cmp r16, imm16", "jo rel8", 1);
    assert_fact(&core, "fuse", "cmp r64, m64", "jz rel8", 0);
    assert_fact(&core, "fuse", "cmp m64, imm8", "jz rel8", 0);
    assert_fact(&core, "fuse", "test r32, r32", "jnz rel8", 1);
    assert_fact(&core, "fuse", "test r32, r32", "jnb rel8", 0); /* never untaken: told by jb */
    assert_fact(&core, "fuse", "dec r64", "jl rel8", 1);
    assert_fact(&core, "fuse", "dec r64", "jnz rel8", 0);
    assert_fact(&core, "fuse", "add r64, r64", "jz rel8", 0);
    probe_core_fini(&core);
}

/* Where stores take longer than what stands around them no jump takes time: among more NOPs it does, if these
 * are enough. */
static void no_jump_fuses_behind_slow_stores(void **state) {
    (void)state;
    skip_under_memcheck();
    static const char stores[] =
        "\nform \"add m64, r64\" ports 1*p23+1*p015+1*p3+1*p4\nform \"add m32, r32\" ports 1*p015+1*p4 "
        "blocking 12 stores\ndefault";
    static const char *const wide[] = {
        "issue-width 5", "issue-width 10", "retire-width 5", "retire-width 10", "\ndefault", stores, NULL};
    static const char *const groups[] = {"fuse", NULL};
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(wide, groups, NULL, &core, &tally);
    assert_fact(&core, "fuse", "cmp r64, r64", "jz rel8", 1);
    assert_fact(&core, "fuse", "cmp m64, imm8", "jz rel8", 0);
    assert_fact(&core, "fuse", "add m64, r64", "jz rel8", 0);   /* two stores, of one in a cycle */
    assert_fact(&core, "fuse", "add m32, r32", "jz rel8", NAN); /* twelve cycles */
    assert_true(tally.untrusted > 0);
    probe_core_fini(&core);
}

static void branch_ports(void **state) {
    (void)state;
    static const char *const shifts[] = {
        "form \"nop\" ports none", "form \"nop\" ports none\nform \"shl *\" ports 1*p06 latency 1", NULL};
    static const char *const groups[] = {"branch", "after", NULL};
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(shifts, groups, NULL, &core, &tally);
    assert_fact(&core, "branch", "shl r64, imm8", NULL, 1); /* the branch's ports: p06 */
    assert_fact(&core, "branch", "imul r64, r64", NULL, 0);
    /* Fetches of a simulated core have no end, and its additions no aftermath. */
    assert_false(core.values[PROBE_CORE_UOP_CACHE_WIDTH].known);
    assert_fact(&core, "after", "shl r64, imm8", NULL, NAN);
    probe_core_fini(&core);
}

/* Four and five ports, the branch's among them: eight instances take a quarter and a fifth of a cycle more.
 */
static void branch_of_many_ports(void **state) {
    (void)state;
    skip_under_memcheck();
    static const char branches[] =
        "form \"nop\" ports none\nform \"shl *\" ports 1*p06AB latency 1\nform \"movsx *\" ports 1*p06ABC "
        "latency 1\nform \"bswap *\" ports 1*p15AB latency 1";
    static const char *const wide[] = {"issue-width 5",           "issue-width 8", "retire-width 5",
                                       "retire-width 8",          "ports p0 p1",   "ports pA pB pC p0 p1",
                                       "form \"nop\" ports none", branches,        NULL};
    static const char *const groups[] = {"branch", NULL};
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(wide, groups, NULL, &core, &tally);
    assert_fact(&core, "branch", "shl r64, imm8", NULL, 1);
    assert_fact(&core, "branch", "movsx r64, r8", NULL, 1);
    assert_fact(&core, "branch", "bswap r64", NULL, 0);
    probe_core_fini(&core);
}

static void groups_by_name(void **state) {
    (void)state;
    assert_int_equal(probe_core_group_find("frob"), -1);
    assert_int_equal(probe_core_group_find("rob"), -1); /* neither a group nor a parameter */
    assert_int_equal(probe_core_group_find("rob_slots"), probe_core_group_find("window"));
    assert_int_equal(probe_core_group_find("load_buffer"), probe_core_group_find("window"));
    assert_int_equal(probe_core_group_find("load_base"), probe_core_group_find("memory"));
    assert_int_equal(probe_core_group_find("store_forward_far"), probe_core_group_find("memory"));
    assert_int_equal(probe_core_group_find("micro_index"), probe_core_group_find("micro"));
    for (unsigned key = 0; key < PROBE_CORE_KEYS; key++) {
        if (probe_core_group_find(probe_core_key_name(key)) < 0) {
            fail_msg("no group measures %s", probe_core_key_name(key));
        }
    }
}

/* Of masks, too, each width by itself: more than seven cannot be written and two others read. */
static void idioms_of_masks(void **state) {
    (void)state;
    static const char *const masks[] = {"fault \"v*\" illegal",
                                        "form \"kxorw k, k, k\" ports 1*p0 same-register eliminated\n"
                                        "form \"kxorq k, k, k\" ports 1*p0 same-register breaks\n"
                                        "form \"kshift*\" ports 1*p0 latency 4\n"
                                        "form \"k*\" ports 1*p0\n",
                                        NULL};
    static const char *const groups[] = {"idiom", NULL};
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(masks, groups, NULL, &core, &tally);
    assert_fact(&core, "idiom", "kxorw k, k, k", NULL, 2);
    assert_fact(&core, "idiom", "kxorq k, k, k", NULL, 1);
    assert_fact(&core, "idiom", "kxord k, k, k", NULL, 0);
    probe_core_fini(&core);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters),     cmocka_unit_test(other_parameters),
        cmocka_unit_test(facts),          cmocka_unit_test(no_jump_fuses_behind_slow_stores),
        cmocka_unit_test(branch_ports),   cmocka_unit_test(branch_of_many_ports),
        cmocka_unit_test(groups_by_name), cmocka_unit_test(idioms_of_masks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
