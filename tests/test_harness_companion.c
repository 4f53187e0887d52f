/* SPDX-License-Identifier: Apache-2.0 */
/* The process that occupies the other thread of the core: where it runs, and that it ends. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cpus.h"
#include "harness/companion.h"

static void test_none(void **state) {
    (void)state;
    struct hx_companion companion;
    hx_companion_start(&companion, -1);
    assert_int_equal(companion.pid, 0);
    hx_companion_stop(&companion);
    hx_companion_stop(&companion);
    assert_int_equal(hx_companion_cpu("", -1), -1);
}

/* May a process of ours step back behind all others? A sandbox may refuse it. */
static bool may_be_idle(void) {
    int state = 0;
    pid_t child = fork();
    if (child == 0) {
        _exit(sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0}) == 0);
    }
    assert_int_equal(waitpid(child, &state, 0), child);
    return WEXITSTATUS(state) == 1;
}

static void test_pinned_and_ended(void **state) {
    (void)state;
    int cpu = sched_getcpu();
    struct hx_companion companion;
    hx_companion_start(&companion, cpu);
    assert_true(companion.pid > 0);
    /* It lowers its priority after it has pinned itself. */
    for (unsigned i = 0; i < 10000 && getpriority(PRIO_PROCESS, (id_t)companion.pid) != 19; i++) {
        (void)usleep(1000);
    }
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)companion.pid), 19);
    assert_int_equal(sched_getscheduler(companion.pid), may_be_idle() ? SCHED_IDLE : SCHED_OTHER);
    struct ip_cpus set;
    assert_int_equal(sched_getaffinity(companion.pid, sizeof set.parts, set.parts), 0);
    assert_int_equal(ip_cpus_count(&set), 1);
    assert_true(ip_cpus_has(&set, cpu));
    pid_t pid = companion.pid;
    hx_companion_stop(&companion);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
}

/* Whoever started it may be killed: then nobody stops it. */
static void test_ends_with_its_parent(void **state) {
    (void)state;
    int pipe_fds[2];
    assert_int_equal(pipe(pipe_fds), 0);
    pid_t parent = fork();
    if (parent == 0) {
        struct hx_companion companion;
        hx_companion_start(&companion, sched_getcpu());
        (void)!write(pipe_fds[1], &companion.pid, sizeof companion.pid);
        (void)pause();
        _exit(0);
    }
    (void)close(pipe_fds[1]);
    pid_t pid = 0;
    assert_int_equal(read(pipe_fds[0], &pid, sizeof pid), sizeof pid);
    assert_true(pid > 0);
    for (unsigned i = 0; i < 10000 && getpriority(PRIO_PROCESS, (id_t)pid) != 19; i++) {
        (void)usleep(1000);
    }
    assert_int_equal(kill(parent, SIGKILL), 0);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    /* An orphan that has ended may stay a zombie until init looks: it runs no more. */
    char path[64], line[256] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    bool gone = false;
    for (unsigned i = 0; i < 10000 && !gone; i++) {
        FILE *file = fopen(path, "re");
        gone = file == NULL || fgets(line, sizeof line, file) == NULL || strstr(line, ") Z") != NULL ||
               strstr(line, ") X") != NULL;
        if (file != NULL) {
            (void)fclose(file);
        }
        (void)usleep(1000);
    }
    assert_true(gone);
    (void)close(pipe_fds[0]);
}

static void cores_write(const char *root, const char *list) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/sys/devices/cpu_core/cpus", root);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    (void)fputs(list, file);
    assert_int_equal(fclose(file), 0);
}

/* A CPU of another kind of core is no companion for CPU 5. */
static void sibling_is_of_its_kind(const char *root, int sibling) {
    char path[256], list[32];
    (void)snprintf(path, sizeof path, "%s/sys/devices/cpu_core", root);
    assert_int_equal(mkdir(path, 0700), 0);
    cores_write(root, "5\n");
    assert_int_equal(hx_companion_cpu(root, 5), -1);
    (void)snprintf(list, sizeof list, "5,%d\n", sibling);
    cores_write(root, list);
    assert_int_equal(hx_companion_cpu(root, 5), sibling);
    (void)snprintf(path, sizeof path, "%s/sys/devices/cpu_core/cpus", root);
    assert_int_equal(remove(path), 0);
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path), 0);
}

/* In a virtual machine the system's word counts before the guess; a CPU that this process may not use is
 * none. */
static void test_whose_sibling(void **state) {
    (void)state;
    char root[] = "/tmp/isaprobe-companion-XXXXXX";
    assert_non_null(mkdtemp(root));
    char path[256];
    static const char *const PARTS[] = {"sys",
                                        "sys/devices",
                                        "sys/devices/system",
                                        "sys/devices/system/cpu",
                                        "sys/devices/system/cpu/cpu5",
                                        "sys/devices/system/cpu/cpu5/topology"};
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", root, PARTS[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    struct ip_cpus set;
    assert_int_equal(ip_cpus_allowed(&set), 0);
    int mine = sched_getcpu();
    (void)snprintf(path, sizeof path, "%s/%s/thread_siblings_list", root, PARTS[5]);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    (void)fprintf(file, "5,%d\n", mine != 5 ? mine : 6);
    assert_int_equal(fclose(file), 0);
    int found = hx_companion_cpu(root, 5);
    if (found >= 0) { /* else no virtual machine */
        assert_int_equal(found, mine != 5 ? mine : 6);
        assert_true(ip_cpus_has(&set, found));
        sibling_is_of_its_kind(root, found);
        file = fopen(path, "we");
        assert_non_null(file);
        (void)fprintf(file, "5,%d\n", IP_CPUS_MAX - 1);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(hx_companion_cpu(root, 5), -1);
    } else {
        print_message("skipped: no hypervisor here, so there is no companion\n");
    }
    assert_int_equal(remove(path), 0);
    for (size_t i = sizeof PARTS / sizeof PARTS[0]; i > 0; i--) {
        (void)snprintf(path, sizeof path, "%s/%s", root, PARTS[i - 1]);
        assert_int_equal(rmdir(path), 0);
    }
    assert_int_equal(rmdir(root), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_pinned_and_ended),
        cmocka_unit_test(test_ends_with_its_parent),
        cmocka_unit_test(test_whose_sibling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
