/* SPDX-License-Identifier: Apache-2.0 */
/* What a killed scan measured of forms that it had not stored is not measured again. */
#include "tests/results_samples.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "results/pending.h"

enum { KERNELS = 5, CALLS = 4 };
static const char FILLER[] = "mov r14, r14";

/* Counts what it is asked for. The fourth kernel faults. */
struct counter {
    size_t looks, measured;
};

static void answer(const struct gen_kernel *const *kernels, size_t count, struct hx_stat *stats,
                   double offset, size_t *counted) {
    for (size_t i = 0; i < count; i++) {
        *counted += kernels[i] != NULL;
        stats[i] = sample_stat(kernels[i] != NULL ? kernels[i]->forms_per_unit + offset : NAN);
        if (kernels[i] == NULL || kernels[i]->forms_per_unit == 4) {
            stats[i] = (struct hx_stat){.verdict = HX_VERDICT_FAULT, .cycles = NAN};
            (void)snprintf(stats[i].why, sizeof stats[i].why, "%s",
                           kernels[i] != NULL ? "trap" : "no kernel");
        }
    }
}

static enum ip_status count_measured(void *self, const struct gen_kernel *const *kernels, size_t count,
                                     struct hx_stat *stats, struct ip_error *err) {
    (void)err;
    struct counter *counter = self;
    /* A second measurement of a kernel gives another value. */
    answer(kernels, count, stats, counter->measured < KERNELS ? 0.0 : 0.5, &counter->measured);
    return IP_OK;
}

static enum ip_status count_looks(void *self, const struct gen_kernel *const *kernels, size_t count,
                                  struct hx_stat *stats, struct ip_error *err) {
    (void)err;
    struct counter *counter = self;
    answer(kernels, count, stats, 0.25, &counter->looks);
    return IP_OK;
}

struct session {
    struct res_store *store;
    struct hx_plan plan;
    struct counter counter;
    struct res_pending pending;
    struct gen_kernel kernels[KERNELS];
    uint8_t code[4];
    struct hx_stat stats[CALLS][KERNELS];
    size_t done; /* calls */
};

static void session_open(struct session *session, const char *path, bool fresh, struct ip_error *err) {
    struct res_machine machine = sample_machine("one");
    struct res_run run = sample_run();
    memset(session, 0, sizeof *session);
    hx_plan_init(&session->plan);
    must(res_store_open(&session->store, path, &machine, err), err);
    must(res_run_begin(session->store, &run, err), err);
    session->pending.inner =
        (struct hx_meter){.measure = count_measured, .screen = count_looks, .self = &session->counter};
    session->pending.inner.filler = FILLER;
    session->pending.plan = &session->plan;
    session->pending.store = session->store;
    must(res_pending_open(&session->pending, fresh, err), err);
    memcpy(session->code, "\x90\x48\x01\xc0", sizeof session->code);
    for (uint32_t i = 0; i < KERNELS; i++) {
        session->kernels[i] = (struct gen_kernel){
            .forms_per_unit = i + 1,
            .unit_instructions = 1,
            .unit_bytes = 3,
            .shorter = {
                .bytes = session->code, .length = sizeof session->code, .loop_offset = 1, .copies = 1}};
    }
}

static void session_close(struct session *session) {
    res_pending_fini(&session->pending);
    res_store_close(session->store);
}

/* A look at all, then all measured, then two of them once more, then all but one: `calls` of these. */
static void session_run(struct session *session, size_t calls, struct ip_error *err) {
    const struct hx_meter meter = res_pending_meter(&session->pending);
    const struct gen_kernel *all[KERNELS];
    assert_ptr_equal(meter.filler, FILLER); /* else a scan's slots are those among NOPs */
    for (size_t i = 0; i < KERNELS; i++) {
        all[i] = &session->kernels[i];
    }
    for (; session->done < calls; session->done++) {
        struct hx_stat *stats = session->stats[session->done];
        all[1] = session->done == 3 ? NULL : &session->kernels[1];
        size_t count = session->done == 2 ? 2 : KERNELS;
        must(session->done == 0 ? hx_screen(&meter, all, count, stats, err)
                                : hx_measure(&meter, all, count, stats, err),
             err);
    }
}

/* What the counter has after so many calls. */
static const size_t measured_by[CALLS + 1] = {0, 0, KERNELS, KERNELS + 2, 2 * KERNELS + 1};

/* A process that is killed after `calls` of them, of which `known` were made before. */
static void run_killed(const char *path, size_t known, size_t calls) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct session session;
        struct ip_error err = {0};
        session_open(&session, path, false, &err);
        session.counter.measured = measured_by[known];
        session_run(&session, calls, &err);
        (void)raise(SIGKILL);
        _exit(1);
    }
    int ended = 0;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
}

static bool is_same(const struct hx_stat *a, const struct hx_stat *b) {
    return a->verdict == b->verdict && a->outcome == b->outcome && a->batches == b->batches &&
           (a->cycles == b->cycles || (isnan(a->cycles) && isnan(b->cycles))) && a->low == b->low &&
           a->high == b->high && a->spread == b->spread && a->retakes == b->retakes &&
           a->ticks_per_cycle == b->ticks_per_cycle && a->sentinel_cycles == b->sentinel_cycles &&
           a->screened == b->screened && strcmp(a->why, b->why) == 0;
}

/* Killed after each of the calls, a second time too: the whole gives what it gives in one go, and nothing is
 * measured twice. */
static void test_killed(void **state) {
    struct place *place = *state;
    struct ip_error err = {0};
    struct session whole, session;
    session_open(&whole, place->path, false, &err);
    session_run(&whole, CALLS, &err);
    must(res_pending_clear(&whole.pending, false, &err), &err);
    res_store_close(whole.store);
    for (size_t calls = 1; calls <= CALLS; calls++) {
        run_killed(place->path, 0, calls - 1);
        run_killed(place->path, calls - 1, calls);
        session_open(&session, place->path, false, &err);
        session.counter.measured = measured_by[calls];
        session_run(&session, CALLS, &err);
        assert_int_equal(session.counter.looks, 0);
        assert_int_equal(session.counter.measured, whole.counter.measured);
        for (size_t i = 0; i < CALLS; i++) {
            for (size_t j = 0; j < KERNELS; j++) {
                assert_true(is_same(&session.stats[i][j], &whole.stats[i][j]));
            }
        }
        assert_int_equal(session.pending.left, 0);
        must(res_pending_clear(&session.pending, false, &err), &err);
        session_close(&session);
    }
    res_pending_fini(&whole.pending);
}

/* Another plan, --force, and what was stored: nothing is given back. */
static void test_not_given(void **state) {
    struct place *place = *state;
    struct ip_error err = {0};
    struct session session;
    run_killed(place->path, 0, 2);
    session_open(&session, place->path, false, &err);
    assert_int_equal(session.pending.left, 2 * KERNELS);
    session.plan.max_batches = 6;
    session_run(&session, 2, &err);
    assert_int_equal(session.counter.measured, KERNELS);
    must(res_pending_clear(&session.pending, false, &err), &err); /* its own, not what it did not use */
    session_close(&session);

    session_open(&session, place->path, false, &err);
    assert_int_equal(session.pending.left, 2 * KERNELS);
    session_run(&session, 1, &err);
    must(res_pending_clear(&session.pending, true, &err), &err);
    session_close(&session);
    session_open(&session, place->path, false, &err);
    assert_int_equal(session.pending.left, 0);
    session_close(&session);

    run_killed(place->path, 0, 2);
    session_open(&session, place->path, true, &err);
    assert_int_equal(session.pending.left, 0);
    session_run(&session, 2, &err);
    assert_int_equal(session.counter.looks, KERNELS);
    assert_int_equal(session.counter.measured, KERNELS);
    session_close(&session);
}

/* A record with a verdict that there is none of ends what is taken from its row. */
static void test_spoilt(void **state) {
    struct place *place = *state;
    struct ip_error err = {0};
    struct session session;
    enum { VERDICT_AT = 8 + 6 * 8 /* behind the key and six numbers */ };
    static const uint32_t none = 77;
    run_killed(place->path, 0, 2);
    sqlite3 *db = NULL;
    sqlite3_blob *blob = NULL;
    assert_int_equal(sqlite3_open(place->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_blob_open(db, "main", "pending", "statistics", 1, 1, &blob), SQLITE_OK);
    assert_int_equal(sqlite3_blob_write(blob, &none, sizeof none, VERDICT_AT), SQLITE_OK);
    assert_int_equal(sqlite3_blob_close(blob), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    session_open(&session, place->path, false, &err);
    assert_int_equal(session.pending.left, KERNELS); /* of the other row */
    session_close(&session);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, place_open, place_close)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_killed), TEST(test_not_given), TEST(test_spoilt)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
