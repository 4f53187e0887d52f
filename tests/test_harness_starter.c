/* SPDX-License-Identifier: Apache-2.0 */
/* The process that starts measuring processes: what it hands on, how they end, and that none outlives it. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/error.h"
#include "harness/starter.h"
#include "tests/refused.h"

enum { SHARED_BYTES = 4096, END_CODE = 7 };

/* Leaves words: what it has of the starter, and what is in the file that was handed on. Then waits for one.
 */
static void child_main(const void *self, const struct hx_start *start) {
    char *shared = mmap(NULL, start->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, start->shared_fd, 0);
    char word = 0;
    if (shared == MAP_FAILED || pread(start->code_fd, &shared[1], 1, 0) != 1) {
        _exit(1);
    }
    shared[0] = *(const char *)self;
    if (write(start->wire, "s", 1) != 1 || read(start->wire, &word, 1) != 1) {
        _exit(2);
    }
    _exit(END_CODE);
}

struct fixture {
    struct hx_starter starter;
    char *shared;
    int shared_fd, code_fd;
};

static void fixture_open(struct fixture *fixture, const char *own) {
    struct ip_error err;
    assert_int_equal(hx_starter_open(&fixture->starter, child_main, own, &err), IP_OK);
    fixture->shared_fd = memfd_create("shared", MFD_CLOEXEC);
    fixture->code_fd = memfd_create("code", MFD_CLOEXEC);
    assert_true(fixture->shared_fd >= 0 && fixture->code_fd >= 0);
    assert_int_equal(ftruncate(fixture->shared_fd, SHARED_BYTES), 0);
    assert_int_equal(write(fixture->code_fd, "c", 1), 1);
    fixture->shared = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fixture->shared_fd, 0);
    assert_ptr_not_equal(fixture->shared, MAP_FAILED);
}

static void fixture_close(struct fixture *fixture) {
    hx_starter_close(&fixture->starter);
    (void)munmap(fixture->shared, SHARED_BYTES);
    (void)close(fixture->shared_fd);
    (void)close(fixture->code_fd);
}

static struct hx_start start_of(const struct fixture *fixture, int wire) {
    return (struct hx_start){.shared_fd = fixture->shared_fd,
                             .code_fd = fixture->code_fd,
                             .wire = wire,
                             .shared_bytes = SHARED_BYTES};
}

/* Starts a process and waits until it says so. Returns its number, and this end of its wire. */
static pid_t child_begin(const struct fixture *fixture, int *wire) {
    struct ip_error err;
    int wires[2];
    pid_t pid = 0;
    char word = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, wires), 0);
    const struct hx_start start = start_of(fixture, wires[1]);
    assert_int_equal(hx_starter_start(&fixture->starter, &start, &pid, &err), IP_OK);
    (void)close(wires[1]);
    assert_int_equal(read(wires[0], &word, 1), 1);
    *wire = wires[0];
    return pid;
}

static void test_hands_on_and_waits(void **state) {
    (void)state;
    struct fixture fixture;
    char own = 'o';
    fixture_open(&fixture, &own);
    own = 'x'; /* too late: processes have it as it was */
    for (unsigned times = 0; times < 3; times++) {
        struct ip_error err;
        int wire = -1, wait_status = 0;
        memset(fixture.shared, 0, 2);
        pid_t pid = child_begin(&fixture, &wire);
        assert_true(pid > 0 && pid != fixture.starter.pid);
        assert_memory_equal(fixture.shared, "oc", 2);
        assert_int_equal(write(wire, "g", 1), 1);
        assert_int_equal(hx_starter_wait(&fixture.starter, pid, &wait_status, &err), IP_OK);
        assert_true(WIFEXITED(wait_status));
        assert_int_equal(WEXITSTATUS(wait_status), END_CODE);
        (void)close(wire);
    }
    fixture_close(&fixture);
}

/* Where the wire ends says that the process has. */
static bool has_ended(int wire) {
    char word = 0;
    return read(wire, &word, 1) == 0;
}

static void test_kills(void **state) {
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, "o");
    int wire = -1, next_wire = -1;
    pid_t pid = child_begin(&fixture, &wire);
    hx_starter_kill(&fixture.starter, pid);
    assert_true(has_ended(wire));
    (void)child_begin(&fixture, &next_wire);
    assert_int_equal(kill(pid, 0), -1); /* the starter has waited for it: it is no zombie */
    assert_int_equal(errno, ESRCH);
    fixture_close(&fixture);
    assert_true(has_ended(next_wire));
    (void)close(wire);
    (void)close(next_wire);
}

static void test_is_gone(void **state) {
    (void)state;
    struct fixture fixture;
    struct ip_error err;
    fixture_open(&fixture, "o");
    int wire = -1, wait_status = 0;
    pid_t pid = child_begin(&fixture, &wire);
    assert_int_equal(kill(fixture.starter.pid, SIGKILL), 0);
    assert_true(has_ended(wire));
    const struct hx_start start = start_of(&fixture, wire);
    pid_t none = 0;
    assert_int_equal(hx_starter_start(&fixture.starter, &start, &none, &err), IP_FAILED);
    assert_non_null(strstr(err.text, "the starter of measuring processes is gone"));
    assert_int_equal(hx_starter_wait(&fixture.starter, pid, &wait_status, &err), IP_FAILED);
    hx_starter_kill(&fixture.starter, pid); /* nobody is killed by this one's signals */
    (void)close(wire);
    fixture_close(&fixture);
}

/* Whoever opened it may be killed: then nobody closes it. */
static void test_ends_with_its_parent(void **state) {
    (void)state;
    int wires[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, wires), 0);
    pid_t parent = fork();
    if (parent == 0) {
        struct fixture fixture;
        struct ip_error err;
        pid_t pid = 0;
        (void)close(wires[0]);
        fixture_open(&fixture, "o");
        const struct hx_start start = start_of(&fixture, wires[1]);
        (void)!hx_starter_start(&fixture.starter, &start, &pid, &err);
        (void)pause();
        _exit(0);
    }
    (void)close(wires[1]);
    char word = 0;
    assert_int_equal(read(wires[0], &word, 1), 1); /* its process runs */
    assert_int_equal(kill(parent, SIGKILL), 0);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    assert_true(has_ended(wires[0])); /* and so does the starter, which has that end, too */
    (void)close(wires[0]);
}

static enum ip_status open_attempt(struct ip_error *err) {
    struct hx_starter starter = {0};
    enum ip_status status = hx_starter_open(&starter, child_main, "o", err);
    hx_starter_close(&starter);
    return status;
}

/* What is refused for good is told as such, not as an accident. */
static void test_refused(void **state) {
    (void)state;
    static const struct {
        int system_call, error;
        enum ip_status status;
        const char *says;
    } cases[] = {
        {SCMP_SYS(prctl), EPERM, IP_CAPABILITY, "cannot be made to end with this process"},
        {SCMP_SYS(prctl), ENOSYS, IP_CAPABILITY, "cannot be made to end with this process"},
        {SCMP_SYS(socketpair), EACCES, IP_CAPABILITY, "cannot make a wire"},
        {SCMP_SYS(socketpair), EMFILE, IP_FAILED, "cannot make a wire"},
        {SCMP_SYS(clone), EPERM, IP_CAPABILITY, "cannot start the starter"},
        {SCMP_SYS(clone), EAGAIN, IP_FAILED, "cannot start the starter"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct refused refused = refused_try(open_attempt, cases[i].system_call, cases[i].error);
        if (!refused.done) {
            print_message("skipped: no seccomp filter can be loaded here\n");
            skip();
        }
        assert_int_equal(refused.status, cases[i].status);
        assert_int_equal(refused.err.errno_value, cases[i].error);
        assert_non_null(strstr(refused.err.text, cases[i].says));
    }
}

static void test_none(void **state) {
    (void)state;
    struct hx_starter starter = {0};
    hx_starter_close(&starter);
    assert_int_equal(starter.pid, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_hands_on_and_waits),
        cmocka_unit_test(test_kills),
        cmocka_unit_test(test_is_gone),
        cmocka_unit_test(test_ends_with_its_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
