/* SPDX-License-Identifier: Apache-2.0 */
/* What goes into a store comes out again. */
#include "tests/results_samples.h"

#include <fcntl.h>
#include <sqlite3.h>

#include "results/sheet.h"
#include "results/sql.h"

#define assert_close(a, b) assert_true(fabs((a) - (b)) < 1e-12)

static void test_round_trip(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    sample_store_make(place->path, &machine, 3);

    struct ip_error err = {0};
    struct res_store *store = NULL;
    struct res_form form = {0};
    must(res_store_open_readonly(&store, place->path, &err), &err);
    must(res_form_get(store, "frob1 r64, m64", &form, &err), &err);
    assert_string_equal(form.syntax, "frob1 r64, m64");
    assert_string_equal(form.extension, "FROB");
    assert_string_equal(form.isa_set, "FROBS");
    assert_string_equal(form.status, "ok");
    assert_int_equal(form.parts, RES_PART_LATENCY | RES_PART_THROUGHPUT);
    assert_true(form.throughput.known);
    assert_close(form.throughput.cycles, 0.5);
    assert_close(form.throughput.spread, 0.003);
    assert_string_equal(form.throughput.how, "12 registers");
    assert_string_equal(form.throughput.verdict, "ok");
    assert_int_equal(form.throughput.registers, 12);
    assert_true(form.throughput.evidence.known);
    assert_close(form.throughput.evidence.low_cycles, 0.49);
    assert_close(form.throughput.evidence.high_cycles, 0.51);
    assert_close(form.throughput.evidence.ticks_per_cycle, 0.7);
    assert_int_equal(form.throughput.evidence.batches, 3);
    assert_int_equal(form.throughput.evidence.retakes, 1);
    assert_int_equal(form.throughput.evidence.kernel, 0); /* no log was given */
    assert_false(form.slots.known);
    assert_true(isnan(form.slots.cycles));

    assert_int_equal(form.pair_count, SAMPLE_PAIRS);
    assert_string_equal(form.pairs[0].src, "op1");
    assert_string_equal(form.pairs[0].dst, "op1");
    assert_string_equal(form.pairs[0].path, "register");
    assert_close(form.pairs[0].value.cycles, 2.0);
    assert_false(form.pairs[0].upper_bound);
    assert_true(isnan(form.pairs[0].chained_cycles));
    assert_close(form.pairs[0].same_register_cycles, 0.0);
    assert_true(isnan(form.pairs[0].value.slow_cycles));
    assert_close(form.pairs[1].value.slow_cycles, 11.0);
    assert_close(form.throughput.slow_cycles, 1.0);
    assert_string_equal(form.pairs[1].src, "op2");
    assert_string_equal(form.pairs[1].path, "address");
    assert_string_equal(form.pairs[1].via, "movq r64, xmm");
    assert_true(form.pairs[1].upper_bound);
    assert_close(form.pairs[1].value.cycles, 7.0);
    assert_close(form.pairs[1].chained_cycles, 6.0);
    assert_close(form.pairs[1].value.evidence.cycles, 8.0); /* the whole round */
    assert_string_equal(form.pairs[2].dst, "flags");
    assert_string_equal(form.pairs[2].value.verdict, "none");
    assert_string_equal(form.pairs[2].value.why, "nothing reads these flags");
    assert_true(isnan(form.pairs[2].value.cycles));
    assert_true(form.pairs[2].independent && !form.pairs[1].independent);
    assert_false(form.pairs[2].value.evidence.known);
    res_form_fini(&form);

    struct res_run_text run = {0};
    must(res_run_get(store, 1, &run, &err), &err);
    assert_string_equal(run.outcome, "finished");
    assert_string_equal(run.version, "9.9");
    assert_int_equal(run.cpu, 1);

    struct ip_text rows = {0};
    must(res_forms_table(store, &rows, &err), &err);
    assert_string_equal(ip_text_string(&rows),
                        "extension FROB\nfrob0 r64, m64\nfrob1 r64, m64\nfrob2 r64, m64\n");
    ip_text_fini(&rows);

    assert_int_equal(res_form_get(store, "frob9 r64, m64", &form, &err), IP_FAILED);
    assert_non_null(strstr(err.text, "frob9 r64, m64"));
    res_store_close(store);
    /* A reader leaves nothing behind. */
    char log[128];
    (void)snprintf(log, sizeof log, "%s-wal", place->path);
    assert_int_equal(access(log, F_OK), -1);
}

/* Another process stores the form anew, while it is read: all before its slots. */
static int another_writes(unsigned what, void *self, void *statement, void *text) {
    (void)what;
    (void)text;
    const struct place *place = self;
    if (strstr(sqlite3_sql(statement), "FROM slots") != NULL) {
        sqlite3 *db = NULL;
        assert_int_equal(sqlite3_open(place->path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db,
                                      "BEGIN; UPDATE throughput SET cycles = 2 * cycles;"
                                      " UPDATE slots SET slots = 2 * slots; COMMIT",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
    }
    return 0;
}

/* What is read of a form is of one moment. */
static void test_read_while_written(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    struct ip_error err = {0};
    struct res_store *store = NULL;
    sample_store_make(place->path, &machine, 1);
    must(res_store_open(&store, place->path, &machine, &err), &err);
    must(res_sql_exec(
             store,
             "UPDATE throughput SET cycles = 3; INSERT INTO slots(form_id, slots, verdict, why, run_id)"
             " SELECT id, 3, 'ok', '', 1 FROM forms",
             &err),
         &err);
    res_store_close(store);
    must(res_store_open_readonly(&store, place->path, &err), &err);
    assert_int_equal(sqlite3_trace_v2(store->db, SQLITE_TRACE_STMT, another_writes, place), SQLITE_OK);
    for (unsigned i = 0; i < 2; i++) {
        struct res_form form = {0};
        struct res_sheet sheet = {0};
        const struct res_wanted all = {0};
        must(res_form_get(store, "frob0 r64, m64", &form, &err), &err);
        assert_close(form.throughput.cycles, form.slots.cycles);
        res_form_fini(&form);
        must(res_sheet_of_store(&sheet, store, &all, false, &err), &err);
        assert_int_equal(sheet.count, 1);
        assert_close(sheet.rows[0].throughput, sheet.rows[0].slots);
        res_sheet_fini(&sheet);
    }
    res_store_close(store);
}

/* A store is a file, also where its name means something else to SQLite. */
static void test_names_of_sqlite(void **state) {
    struct place *place = *state;
    static const char *const names[] = {":memory:", "file:cpu.db", "file:cpu.db?mode=memory"};
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(here >= 0);
    assert_int_equal(chdir(place->directory), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct res_machine machine = sample_machine("one");
        struct ip_error err = {0};
        struct res_store *store = NULL;
        sample_store_make(names[i], &machine, 1);
        assert_int_equal(access(names[i], F_OK), 0);
        must(res_store_open_readonly(&store, names[i], &err), &err);
        res_store_close(store);
        assert_int_equal(unlink(names[i]), 0);
    }
    assert_int_equal(fchdir(here), 0);
    assert_int_equal(close(here), 0);
}

/* What is to be read again is there, and not known. */
static void test_first_reading(void **state) {
    struct place *place = *state;
    struct ip_error err = {0};
    struct res_store *store = sample_store_open(place->path, true);
    struct sample sample;
    struct res_facts facts = sample_facts(&sample, 0), first = facts;
    enum res_status found = RES_STATUS_FAULT;
    bool known = true;
    first.parts = 0;
    must(res_form_put(store, &first, NULL, &found, &err), &err);
    assert_int_equal(found, RES_STATUS_OK);
    must(res_form_known(store, sample.form.syntax, facts.parts, false, &known, &err), &err);
    assert_false(known);
    struct res_form form = {0};
    must(res_form_get(store, sample.form.syntax, &form, &err), &err);
    assert_int_equal(form.parts, 0);
    assert_close(form.throughput.cycles, sample.throughput.cycles);
    res_form_fini(&form);
    must(res_form_put(store, &facts, NULL, &found, &err), &err);
    must(res_form_known(store, sample.form.syntax, facts.parts, false, &known, &err), &err);
    assert_true(known);
    res_store_close(store);
}

static void test_parts_add_up(void **state) {
    struct place *place = *state;
    struct ip_error err = {0};
    struct res_store *store = sample_store_open(place->path, true);
    struct sample sample;
    struct res_facts facts = sample_facts(&sample, 0), part = facts;
    enum res_status found = RES_STATUS_FAULT;
    bool known = true;

    part.parts = RES_PART_THROUGHPUT;
    part.latency = NULL;
    must(res_form_known(store, sample.form.syntax, RES_PART_THROUGHPUT, false, &known, &err), &err);
    assert_false(known);
    must(res_form_put(store, &part, NULL, &found, &err), &err);
    must(res_form_known(store, sample.form.syntax, RES_PART_THROUGHPUT, false, &known, &err), &err);
    assert_true(known);
    must(res_form_known(store, sample.form.syntax, facts.parts, false, &known, &err), &err);
    assert_false(known);

    part = facts;
    part.parts = RES_PART_LATENCY;
    part.throughput = NULL;
    must(res_form_put(store, &part, NULL, &found, &err), &err);
    must(res_form_known(store, sample.form.syntax, facts.parts, false, &known, &err), &err);
    assert_true(known);

    struct probe_slots slots = {.measured = true, .slots = 2.0, .spread = 0.01, .stat = sample_stat(24.0)};
    part = (struct res_facts){.form = &sample.form, .parts = RES_PART_SLOTS, .slots = &slots};
    must(res_form_put(store, &part, NULL, &found, &err), &err);
    struct res_form form = {0};
    must(res_form_get(store, sample.form.syntax, &form, &err), &err);
    assert_int_equal(form.parts, RES_PART_LATENCY | RES_PART_THROUGHPUT | RES_PART_SLOTS);
    assert_close(form.slots.cycles, 2.0);
    assert_close(form.throughput.cycles, 0.25);
    assert_int_equal(form.pair_count, SAMPLE_PAIRS);
    res_form_fini(&form);
    /* Slots that are not to be trusted say so themselves, and nothing of the form. */
    slots.verdict = HX_VERDICT_UNSTABLE;
    must(res_form_put(store, &part, NULL, &found, &err), &err);
    assert_int_equal(found, RES_STATUS_OK);
    must(res_form_get(store, sample.form.syntax, &form, &err), &err);
    assert_string_equal(form.slots.verdict, "unstable");
    res_form_fini(&form);
    res_store_close(store);
}

/* Storing a form again replaces what was there, and leaves no statistics without owner. */
static void test_replace(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    sample_store_make(place->path, &machine, 4);
    double statistics = number(place->path, "SELECT count(*) FROM statistics");
    assert_close(statistics, 4.0 * 3.0);
    struct ip_error err = {0};
    struct res_store *store = sample_store_open(place->path, true);
    struct sample sample;
    struct res_facts facts = sample_facts(&sample, 2);
    enum res_status found = RES_STATUS_FAULT;
    sample.throughput.cycles = 9.0;
    sample.latency.count = 1;
    must(res_form_put(store, &facts, NULL, &found, &err), &err);
    must(res_run_end(store, "finished", 1, &err), &err);
    res_store_close(store);
    assert_close(number(place->path, "SELECT count(*) FROM forms"), 4.0);
    assert_close(number(place->path, "SELECT count(*) FROM statistics"), statistics - 1.0);
    assert_close(number(place->path, "SELECT count(*) FROM latency"), 4.0 * SAMPLE_PAIRS - 2.0);
    assert_close(number(place->path, "SELECT throughput FROM summary WHERE form LIKE 'frob2 %'"), 9.0);
    assert_close(number(place->path, "SELECT count(*) FROM runs WHERE outcome = 'finished'"), 2.0);
    assert_close(number(place->path, "SELECT count(*) FROM operands"), 4.0 * 3.0);
}

struct verdict_case {
    const char *name;
    bool measured;
    enum hx_verdict verdict;
    enum hx_outcome outcome;
    enum res_status wanted;
};

/* The throughput speaks for the form. */
static void test_statuses(void **state) {
    static const struct verdict_case cases[] = {
        {"unstable", true, HX_VERDICT_UNSTABLE, HX_OUTCOME_OK, RES_STATUS_UNSTABLE},
        {"disturbed", true, HX_VERDICT_DISTURBED, HX_OUTCOME_OK, RES_STATUS_DISTURBED},
        {"all void", false, HX_VERDICT_DISTURBED, HX_OUTCOME_OK, RES_STATUS_DISTURBED},
        {"illegal", false, HX_VERDICT_FAULT, HX_OUTCOME_ILLEGAL, RES_STATUS_ILLEGAL},
        {"not in the simulated CPU", false, HX_VERDICT_FAULT, HX_OUTCOME_UNKNOWN, RES_STATUS_ILLEGAL},
        {"fault", false, HX_VERDICT_FAULT, HX_OUTCOME_SEGFAULT, RES_STATUS_FAULT},
        {"no kernel", false, HX_VERDICT_OK, HX_OUTCOME_OK, RES_STATUS_UNMEASURABLE},
    };
    struct place *place = *state;
    struct ip_error err = {0};
    struct res_store *store = sample_store_open(place->path, true);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sample sample;
        struct res_facts facts = sample_facts(&sample, i);
        struct probe_throughput *throughput = &sample.throughput;
        throughput->measured = cases[i].measured;
        throughput->verdict = throughput->stat.verdict = cases[i].verdict;
        throughput->stat.outcome = cases[i].outcome;
        if (strcmp(cases[i].name, "no kernel") == 0) {
            memset(&throughput->stat, 0, sizeof throughput->stat);
        }
        (void)snprintf(throughput->why, sizeof throughput->why, "%s", cases[i].name);
        enum res_status found = RES_STATUS_OK;
        must(res_form_put(store, &facts, NULL, &found, &err), &err);
        assert_int_equal(found, cases[i].wanted);
        struct res_form form = {0};
        must(res_form_get(store, sample.form.syntax, &form, &err), &err);
        assert_string_equal(form.status, res_status_name(cases[i].wanted));
        assert_string_equal(form.why, cases[i].name);
        assert_int_equal(isnan(form.throughput.cycles) != 0, !cases[i].measured);
        res_form_fini(&form);
        bool known = false, trusted = false;
        must(res_form_known(store, sample.form.syntax, facts.parts, false, &known, &err), &err);
        must(res_form_known(store, sample.form.syntax, facts.parts, true, &trusted, &err), &err);
        assert_true(known);
        assert_int_equal(trusted,
                         cases[i].wanted != RES_STATUS_UNSTABLE && cases[i].wanted != RES_STATUS_DISTURBED);
    }
    res_store_close(store);
}

static void test_latency_alone(void **state) {
    struct place *place = *state;
    struct ip_error err = {0};
    struct res_store *store = sample_store_open(place->path, true);
    struct sample sample;
    struct res_facts facts = sample_facts(&sample, 0);
    facts.parts = RES_PART_LATENCY;
    facts.throughput = NULL;
    enum res_status found = RES_STATUS_FAULT;

    /* The worst of the measured pairs counts; one without a chain does not. */
    sample.pairs[1].verdict = HX_VERDICT_UNSTABLE;
    (void)snprintf(sample.pairs[1].why, sizeof sample.pairs[1].why, "shaky");
    must(res_form_put(store, &facts, NULL, &found, &err), &err);
    assert_int_equal(found, RES_STATUS_UNSTABLE);
    /* No pair has a chain. */
    struct probe_latency none = {.pairs = &sample.pairs[2], .count = 1};
    facts.latency = &none;
    must(res_form_put(store, &facts, NULL, &found, &err), &err);
    assert_int_equal(found, RES_STATUS_UNMEASURABLE);
    /* There are no pairs. */
    none.count = 0;
    must(res_form_put(store, &facts, NULL, &found, &err), &err);
    assert_int_equal(found, RES_STATUS_OK);
    /* It cannot be put into a loop. */
    struct isa_form form;
    sample_form(&form, 1);
    form.obstacle = ISA_OBSTACLE_PRIVILEGED;
    (void)snprintf(form.note, sizeof form.note, "needs CPL 0");
    facts = (struct res_facts){.form = &form, .parts = RES_PART_LATENCY | RES_PART_THROUGHPUT};
    must(res_form_put(store, &facts, NULL, &found, &err), &err);
    assert_int_equal(found, RES_STATUS_UNMEASURABLE);
    struct res_form got = {0};
    must(res_form_get(store, form.syntax, &got, &err), &err);
    assert_string_equal(got.why, "needs CPL 0");
    res_form_fini(&got);
    res_store_close(store);
}

/* The next run finds that the one before it was killed. */
static void test_runs(void **state) {
    struct place *place = *state;
    struct ip_error err = {0};
    struct res_run_text text = {0};
    for (int i = 0; i < 2; i++) {
        struct res_store *store = sample_store_open(place->path, true);
        must(res_run_get(store, i + 1, &text, &err), &err);
        assert_string_equal(text.outcome, "running");
        if (i == 1) {
            must(res_run_get(store, 1, &text, &err), &err);
            assert_string_equal(text.outcome, "killed");
            assert_int_equal(res_run_get(store, 7, &text, &err), IP_FAILED);
        }
        res_store_close(store);
    }
}

/* What keeps being read while a scan writes. */
static void test_reader_beside_writer(void **state) {
    struct place *place = *state;
    struct ip_error err = {0};
    struct res_store *reader = NULL;
    struct res_store *writer = sample_store_open(place->path, true);
    for (unsigned i = 0; i < 3; i++) {
        struct sample sample;
        struct res_facts facts = sample_facts(&sample, i);
        enum res_status found = RES_STATUS_OK;
        must(res_form_put(writer, &facts, NULL, &found, &err), &err);
        must(res_store_open_readonly(&reader, place->path, &err), &err);
        struct res_form form = {0};
        must(res_form_get(reader, sample.form.syntax, &form, &err), &err);
        assert_int_equal(form.pair_count, SAMPLE_PAIRS);
        res_form_fini(&form);
        /* A reader does not write. */
        assert_int_not_equal(res_form_put(reader, &facts, NULL, &found, &err), IP_OK);
        res_store_close(reader);
    }
    res_store_close(writer);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, place_open, place_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),
        TEST(test_names_of_sqlite),
        TEST(test_first_reading),
        TEST(test_parts_add_up),
        TEST(test_replace),
        TEST(test_statuses),
        TEST(test_latency_alone),
        TEST(test_runs),
        TEST(test_reader_beside_writer),
        TEST(test_read_while_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
