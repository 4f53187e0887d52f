/* SPDX-License-Identifier: Apache-2.0 */
/* The port map and port usage in a store; stores of the schema before them. */
#include "tests/results_samples.h"

#define assert_close(a, b) assert_true(fabs((a) - (b)) < 1e-12)

/* Two sets, 1 and 15, of two forms of the table, which gets the built-in ones; and a store's port. */
static void sample_map(struct probe_portmap *map, struct isa_table *table) {
    struct ip_error err = {0};
    must(isa_table_builtin_add(table, &err), &err);
    memset(map, 0, sizeof *map);
    map->members = calloc(3, sizeof *map->members);
    assert_non_null(map->members);
    map->member_count = 3;
    map->members[0] = (struct probe_port_member){.form = isa_table_find(table, "imul r64, r64, imm8"),
                                                 .world = PROBE_PORTS_SCALAR,
                                                 .cycles = 1.01,
                                                 .slots = NAN,
                                                 .width = 1,
                                                 .class = 1};
    map->members[1] = (struct probe_port_member){.form = isa_table_find(table, "lea r64, agen"),
                                                 .world = PROBE_PORTS_SCALAR,
                                                 .cycles = 0.5,
                                                 .slots = 1.02,
                                                 .class = -1,
                                                 .scaled = true};
    map->members[2] = (struct probe_port_member){.form = isa_table_find(table, "mov m64, r64"),
                                                 .world = PROBE_PORTS_SCALAR,
                                                 .cycles = 1,
                                                 .class = 2,
                                                 .store = true};
    map->class_count = 3;
    map->classes[0] =
        (struct probe_port_class){.width = 2, .ports = 3, .blocker = {-1, 1, -1}, .worlds = 2, .members = 0};
    map->classes[1] = (struct probe_port_class){
        .width = 1, .ports = 2, .blocker = {0, -1, -1}, .worlds = 1, .residual = 0.1, .members = 1};
    map->classes[2] = (struct probe_port_class){.width = 1,
                                                .ports = 4,
                                                .blocker = {2, -1, -1},
                                                .worlds = 1,
                                                .members = 1,
                                                .store = true,
                                                .contradicted = true};
    map->port_count = 3;
    map->confirmed = true;
    map->solutions = map->alternatives.count = 2;
    map->more_solutions = PROBE_PORTSET_MORE_ALIKE;
    for (unsigned c = 0; c < map->class_count; c++) {
        map->alternatives.sets[0][c] = map->alternatives.sets[1][c] = map->classes[c].ports;
    }
    map->alternatives.sets[1][0] = 9; /* the narrow one's port is not among them: one more */
    map->issue_width = 5.97;
    (void)snprintf(map->names, sizeof map->names, "514");
    (void)snprintf(map->store_address, sizeof map->store_address, "78");
    ip_lines_add(&map->notes, "first");
    ip_lines_add(&map->notes, "second");
    map->kernels = 77;
}

/* Versions before this one stored the other systems with names of their own: here the first one's port 1 is 3
 * there. */
static void test_map_of_other_names(void **state) {
    struct place *place = *state;
    struct ip_error err = {0};
    struct isa_table table = {0};
    struct probe_portmap map, read = {0};
    sample_map(&map, &table);
    map.alternatives.sets[1][0] = 3;
    map.alternatives.sets[1][1] = 8;
    struct res_store *store = sample_store_open(place->path, true);
    bool found = false;
    must(res_portmap_put(store, &map, &err), &err);
    must(res_portmap_get(store, &table, &read, &found, &err), &err);
    assert_true(found);
    assert_int_equal(read.alternatives.sets[1][0], 9);
    assert_int_equal(read.alternatives.sets[1][1], 2);
    assert_int_equal(read.alternatives.sets[1][2], 4);
    res_store_close(store);
    probe_portmap_fini(&read);
    probe_portmap_fini(&map);
    isa_table_fini(&table);
}

static void test_map_round_trip(void **state) {
    struct place *place = *state;
    struct ip_error err = {0};
    struct isa_table table = {0};
    struct probe_portmap map, read = {.kernels = 5};
    sample_map(&map, &table);
    struct res_store *store = sample_store_open(place->path, true);
    bool found = true;
    must(res_portmap_get(store, &table, &read, &found, &err), &err);
    assert_false(found);
    assert_int_equal(read.kernels, 5);             /* untouched */
    for (unsigned twice = 0; twice < 2; twice++) { /* the second takes the place of the first */
        must(res_portmap_put(store, &map, &err), &err);
    }
    must(res_portmap_get(store, &table, &read, &found, &err), &err);
    assert_true(found);
    assert_string_equal(read.names, "514");
    assert_string_equal(read.store_address, "78");
    assert_close(read.issue_width, 5.97);
    assert_int_equal(read.port_count, 3);
    assert_int_equal(read.solutions, 2);
    assert_int_equal(read.more_solutions, PROBE_PORTSET_MORE_ALIKE);
    assert_int_equal(read.kernels, 77);
    assert_int_equal(read.notes.count, 2);
    assert_string_equal(read.notes.items[1], "second");
    assert_int_equal(read.class_count, 3);
    for (unsigned c = 0; c < 3; c++) {
        assert_int_equal(read.classes[c].ports, map.classes[c].ports);
        assert_int_equal(read.classes[c].width, map.classes[c].width);
        assert_int_equal(read.classes[c].worlds, map.classes[c].worlds);
        assert_int_equal(read.classes[c].store, map.classes[c].store);
        assert_int_equal(read.classes[c].contradicted, map.classes[c].contradicted);
        assert_close(read.classes[c].residual, map.classes[c].residual);
        assert_memory_equal(read.classes[c].blocker, map.classes[c].blocker, sizeof map.classes[c].blocker);
        assert_int_equal(read.alternatives.sets[1][c], map.alternatives.sets[1][c]);
    }
    assert_int_equal(read.member_count, 3);
    for (unsigned m = 0; m < 3; m++) {
        assert_ptr_equal(read.members[m].form, map.members[m].form);
        assert_true(read.members[m].form->derived);
        assert_int_equal(read.members[m].class, map.members[m].class);
        assert_int_equal(read.members[m].scaled, map.members[m].scaled);
        assert_int_equal(read.members[m].store, map.members[m].store);
    }
    assert_true(isnan(read.members[0].slots));
    probe_portmap_fini(&read);

    /* A table without one of its forms cannot use it. */
    struct isa_table small = {0};
    static const char row[] = "extension BASE\nlea r64, agen\n";
    must(isa_table_text_add(&small, "small", row, sizeof row - 1, &err), &err);
    must(res_portmap_get(store, &small, &read, &found, &err), &err);
    assert_false(found);
    isa_table_fini(&small);
    res_store_close(store);

    static const char *const spoilt[] = {
        "UPDATE port_members SET class = 9 WHERE position = 2",
        "UPDATE port_members SET class = 1 WHERE position = 2; UPDATE portmap SET solutions = 99",
    };
    for (size_t i = 0; i < sizeof spoilt / sizeof spoilt[0]; i++) {
        sql(place->path, spoilt[i]);
        store = sample_store_open(place->path, false);
        assert_int_equal(res_portmap_get(store, &table, &read, &found, &err), IP_IO);
        assert_non_null(strstr(err.text, "not whole"));
        res_store_close(store);
    }
    probe_portmap_fini(&map);
    isa_table_fini(&table);
}

static void usage_expect(struct res_store *store, const char *syntax, const char *status, const char *verdict,
                         const char *usage, int64_t uops) {
    struct ip_error err = {0};
    struct res_form form = {0};
    must(res_form_get(store, syntax, &form, &err), &err);
    assert_true(form.ports.known);
    assert_string_equal(form.status, status);
    assert_string_equal(form.ports.verdict, verdict);
    assert_string_equal(form.ports.usage, usage);
    assert_int_equal(form.ports.uops, uops);
    res_form_fini(&form);
}

static bool is_known(struct res_store *store, const char *syntax, unsigned parts, bool trusted) {
    struct ip_error err = {0};
    bool known = false;
    must(res_form_known(store, syntax, parts, trusted, &known, &err), &err);
    return known;
}

/* Ports and slots have verdicts of their own, and who asks for them again gets them measured. */
static void test_parts_that_are_not_trusted(void **state) {
    struct place *place = *state;
    struct ip_error err = {0};
    struct isa_table table = {0};
    struct probe_portmap map;
    sample_map(&map, &table);
    struct sample sample;
    struct res_facts facts = sample_facts(&sample, 0);
    struct probe_usage usage = {.term_count = 1, .terms = {{.ports = 3, .uops = 2}}, .how = "some sets"};
    facts.parts |= RES_PART_PORTS;
    facts.usage = &usage;
    facts.map = &map;
    static const struct {
        enum probe_usage_verdict verdict;
        bool ambiguous, trusted;
    } cases[] = {{PROBE_USAGE_OK, false, true},
                 {PROBE_USAGE_OK, true, true},
                 {PROBE_USAGE_INCONSISTENT, false, false}};
    const char *syntax = sample.form.syntax;
    struct res_store *store = sample_store_open(place->path, true);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum res_status status = RES_STATUS_FAULT;
        usage.verdict = cases[i].verdict;
        usage.ambiguous = cases[i].ambiguous;
        must(res_form_put(store, &facts, NULL, &status, &err), &err);
        assert_int_equal(status, RES_STATUS_OK);
        assert_true(is_known(store, syntax, RES_PART_PORTS, false));
        assert_true(is_known(store, syntax, RES_PART_PORTS, true) == cases[i].trusted);
        assert_true(is_known(store, syntax, RES_PART_THROUGHPUT, true));
    }
    res_store_close(store);
    sql(place->path, "UPDATE forms SET parts = parts | 4;"
                     "INSERT INTO slots(form_id, slots, verdict, why, run_id)"
                     " SELECT id, 1, 'unstable', '', run_id FROM forms");
    store = sample_store_open(place->path, false);
    assert_true(is_known(store, syntax, RES_PART_SLOTS, false));
    assert_false(is_known(store, syntax, RES_PART_SLOTS, true));
    assert_true(is_known(store, syntax, RES_PART_THROUGHPUT, true));
    res_store_close(store);
    probe_portmap_fini(&map);
    isa_table_fini(&table);
}

static void test_usage_round_trip(void **state) {
    struct place *place = *state;
    struct ip_error err = {0};
    struct isa_table table = {0};
    struct probe_portmap map;
    sample_map(&map, &table);
    struct sample sample;
    (void)sample_facts(&sample, 0);
    struct probe_usage usage = {.term_count = 2,
                                .terms = {{.ports = 3, .uops = 2}, {.ports = 4, .uops = 1, .store = true}},
                                .slots = 3.02,
                                .cycles = 1.5,
                                .expected_cycles = 1,
                                .residual = 0.1,
                                .unit = "a unit",
                                .unit_cycles = 1.5,
                                .how = "some sets",
                                .stat = sample_stat(24)};
    struct res_facts facts = {.form = &sample.form, .parts = RES_PART_PORTS, .usage = &usage, .map = &map};
    struct res_store *store = sample_store_open(place->path, true);
    enum res_status status = RES_STATUS_FAULT;
    must(res_form_put(store, &facts, NULL, &status, &err), &err);
    assert_int_equal(status, RES_STATUS_OK);
    usage_expect(store, sample.form.syntax, "ok", "ok", "2*p15+1*p4+1*p78", 4);
    struct res_form form = {0};
    must(res_form_get(store, sample.form.syntax, &form, &err), &err);
    assert_close(form.ports.slots, 3.02);
    assert_close(form.ports.residual, 0.1);
    assert_close(form.ports.expected_cycles, 1);
    assert_close(form.ports.unit_cycles, 1.5);
    assert_string_equal(form.ports.unit, "a unit");
    assert_string_equal(form.ports.how, "some sets");
    assert_close(form.ports.evidence.cycles, 24);
    assert_int_equal(form.parts, RES_PART_PORTS);
    res_form_fini(&form);
    struct probe_units units = {.known_count = 1};
    must(res_units_get(store, &units, &err), &err); /* behind what is there */
    assert_int_equal(units.known_count, 2);
    assert_string_equal(units.known[1], "a unit");
    units.known_count = PROBE_UNITS_MAX;
    must(res_units_get(store, &units, &err), &err);
    assert_int_equal(units.known_count, PROBE_UNITS_MAX);

    /* Of the ports that two systems tell differently both are kept, and the form is none the worse. */
    usage.ambiguous = true;
    usage.terms[0] = (struct probe_usage_term){.ports = 3, .uops = 1};
    usage.term_count = 1;
    must(res_form_put(store, &facts, NULL, &status, &err), &err);
    assert_int_equal(status, RES_STATUS_OK);
    usage_expect(store, sample.form.syntax, "ok", "ambiguous", "1*p15 or 1*p5? or others", 1);

    /* What does not fit is said of the ports, not of the form; noise is said of the form. */
    usage.verdict = PROBE_USAGE_INCONSISTENT;
    must(res_form_put(store, &facts, NULL, &status, &err), &err);
    assert_int_equal(status, RES_STATUS_OK);
    usage_expect(store, sample.form.syntax, "ok", "inconsistent", "", -1);
    usage.verdict = PROBE_USAGE_UNKNOWN;
    usage.meter = HX_VERDICT_DISTURBED;
    must(res_form_put(store, &facts, NULL, &status, &err), &err);
    assert_int_equal(status, RES_STATUS_DISTURBED);
    usage_expect(store, sample.form.syntax, "disturbed", "disturbed", "", -1);
    usage.meter = HX_VERDICT_FAULT;
    usage.stat = (struct hx_stat){.verdict = HX_VERDICT_FAULT, .outcome = HX_OUTCOME_ILLEGAL};
    must(res_form_put(store, &facts, NULL, &status, &err), &err);
    assert_int_equal(status, RES_STATUS_ILLEGAL);
    res_store_close(store);
    probe_portmap_fini(&map);
    isa_table_fini(&table);
}

/* A store as version 1 made it. */
static void version_1_make(const char *path) {
    struct res_machine machine = sample_machine("one");
    sample_store_make(path, &machine, 2);
    sql(path, "DROP VIEW summary; DROP TABLE port_members; DROP TABLE port_classes; DROP TABLE portmap;"
              "ALTER TABLE latency DROP COLUMN slow_cycles; ALTER TABLE throughput DROP COLUMN slow_cycles;"
              "DROP TABLE ports; CREATE VIEW summary AS SELECT syntax AS form FROM forms;"
              "UPDATE meta SET value = '1' WHERE key = 'schema'; PRAGMA user_version = 1");
}

static void test_upgrade(void **state) {
    struct place *place = *state;
    struct ip_error err = {0};
    struct res_store *store = NULL;
    version_1_make(place->path);
    assert_int_equal(res_store_open_readonly(&store, place->path, &err), IP_FAILED);
    assert_non_null(strstr(err.text, "older schema 1"));
    res_store_close(sample_store_open(place->path, false));
    must(res_store_open_readonly(&store, place->path, &err), &err);
    struct res_form form = {0};
    must(res_form_get(store, "frob1 r64, m64", &form, &err), &err);
    assert_close(form.throughput.cycles, 0.5); /* kept */
    assert_false(form.ports.known);
    res_form_fini(&form);
    res_store_close(store);
    sql(place->path, "SELECT ports FROM summary; SELECT * FROM portmap, port_classes, port_members");
}

static void test_upgrade_of_another_cpu(void **state) {
    struct place *place = *state;
    version_1_make(place->path);
    struct res_machine machine = sample_machine("two");
    struct ip_error err = {0};
    struct res_store *store = NULL;
    assert_int_equal(res_store_open(&store, place->path, &machine, &err), IP_FAILED);
    assert_non_null(strstr(err.text, "another CPU"));
    assert_int_equal(res_store_open_readonly(&store, place->path, &err), IP_FAILED); /* and left as it is */
    assert_non_null(strstr(err.text, "older schema 1"));
}

static void test_parse(void **state) {
    (void)state;
    struct res_port_term terms[3];
    unsigned count = 9;
    assert_true(res_ports_parse("1*p01+12*p0156B", terms, 3, &count));
    assert_int_equal(count, 2);
    assert_string_equal(terms[0].ports, "01");
    assert_close(terms[0].uops, 1);
    assert_string_equal(terms[1].ports, "0156B");
    assert_close(terms[1].uops, 12);
    assert_true(res_ports_parse("none", terms, 3, &count));
    assert_int_equal(count, 0);
    assert_true(res_ports_parse("", terms, 3, &count));
    static const char *const bad[] = {
        "1*p", "p01", "1*p0+", "1*p0+x", "1*p0 +1*p1", "0*p1", "1*p0+1*p1+1*p5+1*p6", "1*p0 or 1*p1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (res_ports_parse(bad[i], terms, 3, &count)) {
            fail_msg("'%s' was taken", bad[i]);
        }
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, place_open, place_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_map_round_trip),    TEST(test_map_of_other_names),
        TEST(test_usage_round_trip),  TEST(test_parts_that_are_not_trusted),
        TEST(test_upgrade),           TEST(test_upgrade_of_another_cpu),
        cmocka_unit_test(test_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
