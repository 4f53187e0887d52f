/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of jobs when the measuring process ends. A process of the test's own stands for it, and ends
 * as it is told; it runs no kernel. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/worker.h"
#include "tests/refused.h"

enum { JOBS = 3, KILLED_JOB = 1, TICKS = 7 };

/* What the processes are to do; they share it. */
struct orders {
    int signal_number;            /* that kills a process */
    bool in_setup;                /* before it runs anything, else in the course of job KILLED_JOB */
    bool hangs;                   /* instead */
    volatile unsigned kills;      /* that are left */
    volatile unsigned runs[JOBS]; /* that each job had */
};

/* Dies of the signal, which the starter may ignore and cmocka may catch. */
static void die(struct orders *orders) {
    const struct rlimit no_core = {0, 0};
    orders->kills--;
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)signal(orders->signal_number, SIG_DFL);
    (void)kill(getpid(), orders->signal_number);
    for (;;) {
        (void)pause();
    }
}

static void child_main(const void *self, const struct hx_start *start) {
    struct orders *orders = *(struct orders *const *)self;
    struct hx_shared *shared =
        mmap(NULL, start->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, start->shared_fd, 0);
    if (shared == MAP_FAILED) {
        _exit(1);
    }
    struct hx_shared_parts parts = hx_shared_parts(shared, shared->kernel_count);
    if (orders->in_setup && orders->kills > 0) {
        die(orders);
    }
    shared->phase = HX_PHASE_RUNNING;
    char word = 0;
    while (read(start->wire, &word, 1) == 1) {
        for (uint32_t i = shared->first; i < shared->count; i++) {
            shared->current = i;
            orders->runs[i]++;
            if (i == KILLED_JOB && orders->hangs) {
                (void)pause();
            }
            if (i == KILLED_JOB && orders->kills > 0) {
                die(orders);
            }
            for (size_t kind = 0; kind < HX_TICK_KINDS; kind++) {
                parts.ticks[i * HX_TICK_KINDS + kind] = TICKS;
            }
        }
        if (write(start->wire, &word, 1) != 1) {
            break;
        }
    }
    _exit(0);
}

struct fixture {
    struct orders *orders;
    struct hx_references references;
    struct hx_timer timer;
    struct gen_kernel kernel;
    struct hx_starter starter;
    struct hx_worker worker;
    struct hx_samples samples[JOBS];
};

/* Runs all jobs once, with such orders. */
static enum ip_status jobs_run(struct fixture *fixture, struct orders orders, struct ip_error *err) {
    enum { ROUNDS = 1 };
    memset(fixture, 0, sizeof *fixture);
    fixture->orders =
        mmap(NULL, sizeof *fixture->orders, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(fixture->orders, MAP_FAILED);
    *fixture->orders = orders;
    fixture->timer.references = &fixture->references;
    const struct gen_kernel *kernels[JOBS];
    struct hx_job jobs[JOBS];
    static double values[JOBS][HX_SAMPLE_ROWS * ROUNDS];
    for (uint32_t i = 0; i < JOBS; i++) {
        kernels[i] = &fixture->kernel;
        jobs[i] = (struct hx_job){.kernel = &fixture->kernel, .rounds = ROUNDS, .held = i};
        hx_samples_place(&fixture->samples[i], values[i], ROUNDS);
    }
    assert_int_equal(hx_starter_open(&fixture->starter, child_main, &fixture->orders, err), IP_OK);
    assert_int_equal(
        hx_worker_open(&fixture->worker, &fixture->starter, &fixture->timer, kernels, JOBS, 1, ROUNDS, err),
        IP_OK);
    return hx_worker_run(&fixture->worker, jobs, JOBS, fixture->samples, err);
}

static void fixture_close(struct fixture *fixture) {
    hx_worker_close(&fixture->worker);
    hx_starter_close(&fixture->starter);
    (void)munmap(fixture->orders, sizeof *fixture->orders);
}

/* All but KILLED_JOB, which had so many runs, were run once and measured. */
static void assert_others_measured(const struct fixture *fixture, unsigned runs) {
    for (size_t i = 0; i < JOBS; i++) {
        assert_int_equal(fixture->orders->runs[i], i == KILLED_JOB ? runs : 1);
        if (i != KILLED_JOB) {
            assert_int_equal(fixture->samples[i].outcome, HX_OUTCOME_OK);
            assert_true(fixture->samples[i].longer[0] == TICKS);
        }
    }
}

/* Signals that come from outside: of the system when memory is short, of a terminal, of anybody. */
static const int outside[] = {SIGKILL, SIGINT, SIGTERM, SIGUSR1};

static void test_killed_once_runs_again(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        for (unsigned in_setup = 0; in_setup < 2; in_setup++) {
            struct fixture fixture;
            struct ip_error err;
            const struct orders orders = {.signal_number = outside[i], .in_setup = in_setup != 0, .kills = 1};
            assert_int_equal(jobs_run(&fixture, orders, &err), IP_OK);
            assert_others_measured(&fixture, in_setup != 0 ? 1 : 2);
            assert_int_equal(fixture.samples[KILLED_JOB].outcome, HX_OUTCOME_OK);
            assert_true(fixture.samples[KILLED_JOB].longer[0] == TICKS);
            fixture_close(&fixture);
        }
    }
}

static void test_killed_twice_is_no_fact(void **state) {
    (void)state;
    for (unsigned in_setup = 0; in_setup < 2; in_setup++) {
        struct fixture fixture;
        struct ip_error err;
        const struct orders orders = {.signal_number = SIGKILL, .in_setup = in_setup != 0, .kills = 9};
        assert_int_equal(jobs_run(&fixture, orders, &err), IP_FAILED);
        assert_string_equal(err.text, "somebody killed the measuring process twice (signal 9), or the system "
                                      "did for want of memory: see its log, and try again");
        assert_int_equal(fixture.orders->kills, 7);
        fixture_close(&fixture);
    }
}

/* What a kernel itself brings about is its outcome, at once. */
static void test_handler_that_faults_is_an_outcome(void **state) {
    (void)state;
    static const struct {
        int signal_number;
        enum hx_outcome outcome;
    } cases[] = {{SIGSEGV, HX_OUTCOME_WRECKED}, {SIGILL, HX_OUTCOME_DIED}, {SIGSYS, HX_OUTCOME_DIED}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        struct ip_error err;
        const struct orders orders = {.signal_number = cases[i].signal_number, .kills = 1};
        assert_int_equal(jobs_run(&fixture, orders, &err), IP_OK);
        assert_others_measured(&fixture, 1);
        assert_int_equal(fixture.samples[KILLED_JOB].outcome, cases[i].outcome);
        fixture_close(&fixture);
    }
}

/* The parent itself kills what makes no progress. */
static void test_hanging_is_a_timeout(void **state) {
    (void)state;
    struct fixture fixture;
    struct ip_error err;
    const struct orders orders = {.hangs = true};
    assert_int_equal(jobs_run(&fixture, orders, &err), IP_OK);
    assert_others_measured(&fixture, 1);
    assert_int_equal(fixture.samples[KILLED_JOB].outcome, HX_OUTCOME_TIMEOUT);
    assert_string_equal(fixture.samples[KILLED_JOB].why, "did not end in time");
    fixture_close(&fixture);
}

static enum ip_status worker_attempt(struct ip_error *err) {
    struct orders orders = {0}, *own = &orders;
    struct hx_references references;
    memset(&references, 0, sizeof references);
    struct hx_timer timer = {.references = &references};
    struct gen_kernel kernel = {0};
    const struct gen_kernel *const kernels[] = {&kernel};
    struct hx_starter starter = {0};
    struct hx_worker worker = {0};
    enum ip_status status = hx_starter_open(&starter, child_main, &own, err);
    if (status == IP_OK) {
        status = hx_worker_open(&worker, &starter, &timer, kernels, 1, 1, 1, err);
    }
    hx_worker_close(&worker);
    hx_starter_close(&starter);
    return status;
}

static void test_memory_refused(void **state) {
    (void)state;
    struct refused refused = refused_try(worker_attempt, SCMP_SYS(memfd_create), EPERM);
    if (!refused.done) {
        print_message("skipped: no seccomp filter can be loaded here\n");
        skip();
    }
    assert_int_equal(refused.status, IP_CAPABILITY);
    assert_int_equal(refused_try(worker_attempt, SCMP_SYS(memfd_create), ENOMEM).status, IP_NO_MEMORY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_once_runs_again),
        cmocka_unit_test(test_killed_twice_is_no_fact),
        cmocka_unit_test(test_handler_that_faults_is_an_outcome),
        cmocka_unit_test(test_hanging_is_a_timeout),
        cmocka_unit_test(test_memory_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
