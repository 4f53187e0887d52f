/* SPDX-License-Identifier: Apache-2.0 */
/* Two processes and one store: the second one is told; and a process that is killed at any moment loses the
 * form in hand and nothing else. */
#include "tests/results_samples.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "common/random.h"
#include "tests/near.h"

enum { KILLS = 50, FORMS_MAX = 100000 };

/* Stores forms from `first` on, and says after each that it is stored. */
static void child_store(const char *path, unsigned first, int says) {
    struct res_machine machine = sample_machine("one");
    struct res_store *store = NULL;
    struct res_run run = sample_run();
    struct ip_error err = {0};
    enum ip_status status = res_store_open(&store, path, &machine, &err);
    if (status == IP_OK) {
        status = res_run_begin(store, &run, &err);
    }
    for (unsigned i = first; status == IP_OK && i < FORMS_MAX; i++) {
        struct sample sample;
        struct res_facts facts = sample_facts(&sample, i);
        enum res_status found = RES_STATUS_OK;
        status = res_form_put(store, &facts, NULL, &found, &err);
        if (status == IP_OK && write(says, &i, sizeof i) != (ssize_t)sizeof i) {
            break;
        }
    }
    _exit(1); /* it was to be killed long before */
}

/* Forms that the store has, all of them whole; they must be 0, 1, 2 ... without a gap. */
static unsigned forms_count(const char *path) {
    struct res_machine machine = sample_machine("one");
    struct res_store *store = NULL;
    struct ip_error err = {0};
    unsigned count = 0;
    must(res_store_open(&store, path, &machine, &err), &err); /* looks for damage */
    for (;; count++) {
        struct sample sample;
        (void)sample_facts(&sample, count);
        struct res_form form = {0};
        if (res_form_get(store, sample.form.syntax, &form, &err) != IP_OK) {
            break;
        }
        assert_int_equal(form.pair_count, SAMPLE_PAIRS);
        assert_true(form.pairs[1].value.cycles == sample.pairs[1].cycles);
        assert_true(form.pairs[1].value.evidence.known);
        assert_true(form.throughput.cycles == sample.throughput.cycles);
        assert_string_equal(form.status, "ok");
        res_form_fini(&form);
    }
    res_store_close(store);
    return count;
}

static void test_kill(void **state) {
    struct place *place = *state;
    const uint64_t seed = 20140;
    struct ip_random random = {.state = seed};
    print_message("seed %llu\n", (unsigned long long)seed);
    unsigned stored = 0;
    for (int kills = 0; kills < KILLS; kills++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            (void)close(ends[0]);
            child_store(place->path, stored, ends[1]);
        }
        (void)close(ends[1]);
        unsigned said = stored, last = 0;
        /* Every other one is killed while it stores, the others at any moment, opening included. */
        if (kills % 2 == 1) {
            assert_int_equal(read(ends[0], &last, sizeof last), (ssize_t)sizeof last);
            assert_int_equal(last, said);
            said++;
        }
        struct timespec nap = {.tv_nsec = (long)ip_random_below(&random, 12000000)};
        (void)nanosleep(&nap, NULL);
        assert_int_equal(kill(child, SIGKILL), 0);
        int ended = 0;
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_true(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
        while (read(ends[0], &last, sizeof last) == (ssize_t)sizeof last) {
            assert_int_equal(last, said);
            said++;
        }
        (void)close(ends[0]);
        unsigned now = forms_count(place->path);
        /* Everything that it had reported is there, and at most the one that it was about to report. */
        assert_within(now, said, said + 1);
        stored = now;
    }
    print_message("%d kills, %u forms\n", KILLS, stored);
    assert_true(stored > 0);
}

static void test_lock(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    int ends[2];
    unsigned first = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(ends[0]);
        child_store(place->path, 0, ends[1]);
    }
    (void)close(ends[1]);
    assert_int_equal(read(ends[0], &first, sizeof first), (ssize_t)sizeof first); /* it has the store */
    assert_int_equal(kill(child, SIGSTOP), 0);
    int ended = 0;
    assert_int_equal(waitpid(child, &ended, WUNTRACED), child);

    struct res_store *store = NULL;
    struct ip_error err = {0};
    char words[64];
    (void)snprintf(words, sizeof words, "in use by another scan (process %ld)", (long)child);
    enum ip_status second = res_store_open(&store, place->path, &machine, &err);
    /* So is it through links, to the file and to its directory. */
    char link[128], directory[128], through[256];
    (void)snprintf(link, sizeof link, "%s/link.db", place->directory);
    (void)snprintf(directory, sizeof directory, "%s/here", place->directory);
    (void)snprintf(through, sizeof through, "%s/cpu.db", directory);
    assert_int_equal(symlink("cpu.db", link), 0);
    assert_int_equal(symlink(place->directory, directory), 0);
    struct res_store *other = NULL;
    struct ip_error link_err = {0}, through_err = {0};
    enum ip_status linked = res_store_open(&other, link, &machine, &link_err);
    enum ip_status passed = res_store_open(&other, through, &machine, &through_err);
    (void)unlink(link);
    (void)unlink(directory);
    /* Reading goes on. */
    struct ip_error read_err = {0};
    struct res_form form = {0};
    enum ip_status reading = res_store_open_readonly(&store, place->path, &read_err);
    if (reading == IP_OK) {
        reading = res_form_get(store, "frob0 r64, m64", &form, &read_err);
        res_form_fini(&form);
        res_store_close(store);
        store = NULL;
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &ended, 0), child);
    (void)close(ends[0]);

    assert_int_equal(second, IP_FAILED);
    assert_non_null(strstr(err.text, words));
    assert_int_equal(linked, IP_FAILED);
    assert_non_null(strstr(link_err.text, words));
    assert_int_equal(passed, IP_FAILED);
    assert_non_null(strstr(through_err.text, words));
    must(reading, &read_err);
    /* The kernel has taken the lock back. */
    must(res_store_open(&store, place->path, &machine, &err), &err);
    res_store_close(store);
}

/* A link may lead to a store that is still to be made: its lock is beside that one, not beside the link. */
static void test_lock_of_link(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    struct res_store *store = NULL;
    struct ip_error err = {0};
    char link[128], lock[128];
    (void)snprintf(link, sizeof link, "%s/link.db", place->directory);
    (void)snprintf(lock, sizeof lock, "%s.lock", place->path);
    assert_int_equal(symlink("cpu.db", link), 0);
    enum ip_status opened = res_store_open(&store, link, &machine, &err);
    (void)unlink(link);
    must(opened, &err);
    int there = access(lock, F_OK);
    res_store_close(store);
    assert_int_equal(there, 0);
    assert_int_equal(access(lock, F_OK), -1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, place_open, place_close)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_kill), TEST(test_lock), TEST(test_lock_of_link)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
