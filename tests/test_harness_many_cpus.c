/* SPDX-License-Identifier: Apache-2.0 */
/* A machine with more possible CPUs than a cpu_set_t has room for: Linux then fills no set that is too small
 * (EINVAL). A seccomp filter has the same done here. */
#include <errno.h>
#include <libcpuid/libcpuid.h>
#include <sched.h>
#include <seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cpus.h"
#include "harness/companion.h"
#include "harness/host.h"
#include "harness/host_cpuid.h"
#include "harness/sandbox.h"
#include "harness/timer.h"

/* Where the filter cannot be had the tests are skipped. */
static int small_sets_forbid(void **state) {
    static bool forbidden;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    forbidden = filter != NULL &&
                seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(sched_getaffinity), 1,
                                 SCMP_A1(SCMP_CMP_LT, IP_CPUS_MAX / 8, 0)) == 0 &&
                seccomp_load(filter) == 0;
    seccomp_release(filter);
    *state = &forbidden;
    return 0;
}

static void require(void *const *state) {
    if (!*(const bool *)*state) {
        print_message("skipped: no seccomp filter can be loaded here\n");
        skip();
    }
    cpu_set_t small;
    assert_int_equal(sched_getaffinity(0, sizeof small, &small), -1);
    assert_int_equal(errno, EINVAL);
}

static void test_sets_are_large_enough(void **state) {
    require(state);
    struct ip_cpus all, one = {0}, now;
    assert_int_equal(ip_cpus_allowed(&all), 0);
    int cpu = sched_getcpu();
    assert_true(ip_cpus_has(&all, cpu));
    assert_true(ip_cpus_count(&all) >= 1);
    ip_cpus_add(&one, cpu);
    assert_int_equal(ip_cpus_allow(0, &one), 0);
    assert_int_equal(ip_cpus_allowed(&now), 0);
    assert_memory_equal(&now, &one, sizeof one);
    assert_int_equal(ip_cpus_allow(0, &all), 0);
}

static void test_timer_opens(void **state) {
    require(state);
    struct hx_references references;
    memset(&references, 0, sizeof references);
    struct hx_timer timer;
    struct ip_error err;
    enum ip_status status = hx_timer_open(&timer, "tsc", &references, -1, &err);
    if (status == IP_CAPABILITY && strstr(err.text, "CPUs that this process may use") == NULL) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    assert_int_equal(status, IP_OK);
    assert_true(timer.cpu >= 0);
    hx_timer_close(&timer);
}

static void test_identity_of_a_cpu(void **state) {
    require(state);
    struct cpu_raw_data_t *raw = calloc(1, sizeof *raw);
    struct ip_error err;
    struct ip_cpus before, after;
    assert_non_null(raw);
    assert_int_equal(ip_cpus_allowed(&before), 0);
    assert_int_equal(hx_host_cpuid_read(raw, sched_getcpu(), &err), IP_OK);
    assert_int_equal(ip_cpus_allowed(&after), 0);
    assert_memory_equal(&before, &after, sizeof before); /* it is back */
    free(raw);
}

static void test_companion_finds_its_cpu(void **state) {
    require(state);
    struct ip_cpus all;
    assert_int_equal(ip_cpus_allowed(&all), 0);
    for (int cpu = 0; cpu < IP_CPUS_MAX; cpu++) {
        int other = ip_cpus_has(&all, cpu) ? hx_companion_cpu("/nowhere", cpu) : -1;
        if (other >= 0) {
            assert_true(ip_cpus_has(&all, other));
            return;
        }
    }
    print_message("skipped: no companion here (no virtual machine, or one CPU)\n");
    skip();
}

static void test_numbers_beyond(void **state) {
    (void)state;
    static const int none[] = {-1, IP_CPUS_MAX, 1 << 30};
    struct ip_cpus cpus = {0};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        ip_cpus_add(&cpus, none[i]);
        assert_false(ip_cpus_has(&cpus, none[i]));
    }
    assert_int_equal(ip_cpus_count(&cpus), 0);
    ip_cpus_add(&cpus, 1500);
    ip_cpus_add(&cpus, IP_CPUS_MAX - 1);
    assert_true(ip_cpus_has(&cpus, 1500) && ip_cpus_has(&cpus, IP_CPUS_MAX - 1));
    assert_false(ip_cpus_has(&cpus, 1499));
    assert_int_equal(ip_cpus_count(&cpus), 2);
    assert_int_not_equal(hx_cpu_pin(0, IP_CPUS_MAX), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_beyond),
        cmocka_unit_test(test_sets_are_large_enough),
        cmocka_unit_test(test_timer_opens),
        cmocka_unit_test(test_identity_of_a_cpu),
        cmocka_unit_test(test_companion_finds_its_cpu),
    };
    return cmocka_run_group_tests(tests, small_sets_forbid, NULL);
}
