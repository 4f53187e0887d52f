/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of simulated cores: what is measured is what the description says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"
#include "probe/core.h"

/* tests/data/core.sim with some settings replaced: pairs of what stands there and what shall. */
static void core_measure(const char *const *replacements, const char *const *groups, struct probe_core *core,
                         struct probe_core_tally *tally) {
    char path[] = "/tmp/isaprobe-core-XXXXXX", timer[64];
    struct ip_text text = {0};
    struct ip_error err = {0};
    struct hx_bench bench;
    assert_int_equal(ip_file_read(&text, "tests/data/core.sim", 1 << 20, &err), IP_OK);
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    for (const char *at = text.data; *at != '\0';) {
        const char *const *r = replacements;
        while (*r != NULL && strncmp(at, r[0], strlen(r[0])) != 0) {
            r += 2;
        }
        if (*r != NULL) {
            assert_true(fputs(r[1], file) >= 0);
            at += strlen(r[0]);
        } else {
            assert_true(fputc(*at++, file) != EOF);
        }
    }
    assert_int_equal(fclose(file), 0);
    ip_text_fini(&text);
    (void)snprintf(timer, sizeof timer, "sim:%s", path);
    const struct hx_bench_options options = {.timer = timer, .cpu = -1};
    if (hx_bench_open(&bench, &options, &err) != IP_OK) {
        fail_msg("%s: %s", err.place, err.text);
    }
    assert_int_equal(unlink(path), 0);
    bench.plan.passes = 1;
    struct hx_meter meter = hx_bench_meter(&bench);
    unsigned selected = 0;
    for (; *groups != NULL; groups++) {
        assert_true(probe_core_group_find(*groups) >= 0);
        selected |= 1u << probe_core_group_find(*groups);
    }
    memset(core, 0, sizeof *core);
    if (probe_core_measure(&meter, &bench.encoder, selected, core, tally, &err) != IP_OK) {
        fail_msg("%s", err.text);
    }
    hx_bench_close(&bench);
}

static void assert_value(const struct probe_core *core, enum probe_core_key key, double expected) {
    double value = probe_core_get(core, key);
    if (!(fabs(value - expected) <= 0.004 * expected)) {
        fail_msg("%s is %g (%s), not %g", probe_core_key_name(key), value, core->values[key].how, expected);
    }
}

static void assert_fact(const struct probe_core *core, const char *kind, const char *form, const char *second,
                        double expected) {
    const struct probe_core_value *value = probe_core_fact_get(core, kind, form, second);
    if (value == NULL ? !isnan(expected) : !(fabs(value->value - expected) <= 0.01)) {
        fail_msg("%s %s %s is %g, not %g", kind, form, second != NULL ? second : "",
                 value != NULL ? value->value : NAN, expected);
    }
}

static void parameters(void **state) {
    (void)state;
    static const char *const none[] = {NULL}, *const groups[] = {"memory", "window", "branch", NULL};
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(none, groups, &core, &tally);
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
    static const char *const others[] = {
        "issue-width 5",  "issue-width 4",  "retire-width 5",    "retire-width 4",    "rob 150",
        "rob 233",        "scheduler 60",   "scheduler 41",      "load-latency 4",    "load-latency 7",
        "taken-branch 2", "taken-branch 1", "forward-latency 6", "forward-latency 3", NULL};
    static const char *const groups[] = {"memory", "window", "branch", NULL};
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(others, groups, &core, &tally);
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
    core_measure(none, groups, &core, &tally);
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

static void branch_ports(void **state) {
    (void)state;
    static const char *const shifts[] = {
        "form \"nop\" ports none", "form \"nop\" ports none\nform \"shl *\" ports 1*p06 latency 1", NULL};
    static const char *const groups[] = {"branch", "after", NULL};
    struct probe_core core;
    struct probe_core_tally tally;
    core_measure(shifts, groups, &core, &tally);
    assert_fact(&core, "branch", "shl r64, imm8", NULL, 1); /* the branch's ports: p06 */
    assert_fact(&core, "branch", "imul r64, r64", NULL, 0);
    /* Fetches of a simulated core have no end, and its additions no aftermath. */
    assert_false(core.values[PROBE_CORE_UOP_CACHE_WIDTH].known);
    assert_fact(&core, "after", "shl r64, imm8", NULL, NAN);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters),   cmocka_unit_test(other_parameters), cmocka_unit_test(facts),
        cmocka_unit_test(branch_ports), cmocka_unit_test(groups_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
