/* SPDX-License-Identifier: Apache-2.0 */
/* Costs out of a store: what cannot be read is an error each time that it is asked for. */
#include "tests/results_samples.h"

#include "isa/decode.h"
#include "oncore/oncore.h"

/* A core of which one parameter is known, and 1. */
#define CORE_TABLE(key)                                                                                      \
    "CREATE TABLE core(key TEXT PRIMARY KEY, value REAL, spread REAL, how TEXT NOT NULL,"                    \
    " run_id INTEGER NOT NULL) WITHOUT ROWID;"                                                               \
    "INSERT INTO core SELECT '" key "', 1, 0, '', run_id FROM forms"

/* The store at a place, costs out of it, and perhaps a block that has them. */
struct opened {
    struct res_store *store;
    struct core_costs costs;
    struct core_block block;
};

static void costs_open(struct opened *opened, const struct place *place) {
    struct ip_error err = {0};
    memset(opened, 0, sizeof *opened);
    must(res_store_open_readonly(&opened->store, place->path, &err), &err);
    must(core_costs_open(&opened->costs, opened->store, &err), &err);
}

/* After a change of the store. */
static void block_open(struct opened *opened, const struct place *place, const char *change,
                       const uint8_t *code, size_t bytes) {
    struct ip_error err = {0};
    sql(place->path, change);
    costs_open(opened, place);
    must(core_block_decode(&opened->block, code, bytes, &opened->costs, &err), &err);
}

static void costs_close(struct opened *opened) {
    core_block_fini(&opened->block);
    core_costs_fini(&opened->costs);
    res_store_close(opened->store);
}

/* A process that goes on after the first error (libisaprobe's model) would get a form without ports, and a
 * prediction without a word. */
static void test_damaged_usage(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    struct ip_error err = {0};
    struct opened opened;
    struct isa_form form;
    const struct core_cost *cost = NULL;
    size_t length = 0;
    static const uint8_t imul[] = {0x48, 0x0f, 0xaf, 0xc3};
    must(isa_decode(imul, sizeof imul, &form, NULL, &length, &err), &err);
    sample_store_make(place->path, &machine, 1);
    sql(place->path,
        "UPDATE forms SET syntax = 'imul r64, r64', mnemonic = 'imul';"
        "INSERT INTO ports SELECT id, 'x', 1, 1, 1, 1, 0, 'ok', '', NULL, '', '', NULL, run_id FROM forms");
    costs_open(&opened, place);
    for (unsigned twice = 0; twice < 2; twice++) {
        assert_int_not_equal(core_costs_get(&opened.costs, &form, &cost, &err), IP_OK);
        assert_null(cost);
    }
    costs_close(&opened);

    sql(place->path, "UPDATE ports SET usage = '1*p1'");
    costs_open(&opened, place);
    must(core_costs_get(&opened.costs, &form, &cost, &err), &err);
    assert_true(cost->known);
    costs_close(&opened);
}

/* Where a scan found a NOP that takes no issue slot NOPs share them, `core` or not: two additions and two
 * NOPs have as many slots as the additions. What `core` says goes first. */
static void test_nops_of_a_scan(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    static const uint8_t block[] = {0x48, 0x01, 0xd8, 0x0f, 0x1f, 0x00, 0x48, 0x01, 0xd1, 0x0f, 0x1f, 0x00};
    static const struct {
        const char *sql;
        double slots;
    } cases[] = {{"UPDATE slots SET slots = 1.04", 4},
                 {"UPDATE slots SET slots = 0.12", 2},
                 {"UPDATE slots SET verdict = 'unstable'", 4},
                 {"UPDATE slots SET verdict = 'ok';" CORE_TABLE("nop_slots"), 4}};
    sample_store_make(place->path, &machine, 1);
    sql(place->path, "UPDATE forms SET syntax = 'nop m32', mnemonic = 'nop';"
                     "INSERT INTO slots SELECT id, 0.12, 0, 'ok', '', NULL, run_id FROM forms");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct opened opened;
        block_open(&opened, place, cases[i].sql, block, sizeof block);
        double slots = 0;
        for (size_t k = 0; k < opened.block.count; k++) {
            slots += opened.block.items[k].slots;
        }
        assert_float_equal(slots, cases[i].slots, 0);
        costs_close(&opened);
    }
}

/* A move from RSP is an addition where the core executes it, and what the store says of moves elsewhere. */
static void test_moves_from_the_stack(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    static const uint8_t from[] = {0x48, 0x89, 0xe5}, to[] = {0x48, 0x89, 0xec}, narrow[] = {0x89, 0xe5};
    static const struct {
        const char *sql;
        const uint8_t *code;
        size_t bytes;
        bool adds;
    } cases[] = {{"", from, sizeof from, false},
                 {CORE_TABLE("stack_move"), from, sizeof from, true},
                 {"", narrow, sizeof narrow, true},
                 {"", to, sizeof to, false},
                 {"UPDATE core SET value = 0.01", from, sizeof from, false}};
    sample_store_make(place->path, &machine, 1);
    sql(place->path, "UPDATE forms SET syntax = 'add r64, r64', mnemonic = 'add';"
                     "INSERT INTO ports SELECT id, '1*p0156', 1, 1, 1, 1, 0, 'ok', '', NULL, '', '', NULL, "
                     "run_id FROM forms");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct opened opened;
        block_open(&opened, place, cases[i].sql, cases[i].code, cases[i].bytes);
        const struct core_cost *cost = opened.block.items[0].cost;
        assert_int_equal(cost->known, cases[i].adds);
        assert_int_equal(core_term_count(&opened.block.items[0]), cases[i].adds ? 1 : 0);
        assert_true(!cases[i].adds || (cost->latency_count == 1 && cost->latencies[0].cycles == 1.0f));
        costs_close(&opened);
    }
}

/* Where ports are given in turn, two ports and as many µops more on twice as many are a result that takes the
 * way of general results; elsewhere, and of other numbers, they are ports. */
static void test_results_of_vectors(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    struct ip_error err = {0};
    static const uint8_t movd[] = {0x66, 0x0f, 0x7e, 0xc0};
    static const struct {
        const char *usage;
        int in_turn;
        unsigned terms;
    } cases[] = {{"2*p47+2*p4567", 1, 1},
                 {"2*p47+2*p4567", 0, 2},
                 {"1*p47+2*p4567", 1, 2},
                 {"2*p47+1*p4567", 1, 2},
                 {"2*p47+1*p12+2*p4567", 1, 2}};
    struct isa_form form;
    size_t length = 0;
    must(isa_decode(movd, sizeof movd, &form, NULL, &length, &err), &err);
    sample_store_make(place->path, &machine, 1);
    sql(place->path, "UPDATE forms SET syntax = 'movd r32, xmm', mnemonic = 'movd';" CORE_TABLE(
                         "ports_in_turn") ";"
                                          "INSERT INTO ports SELECT id, '', 4, 1, 1, 1, 0, 'ok', '', NULL, "
                                          "'', '', NULL, run_id FROM forms");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct opened opened;
        const struct core_cost *cost = NULL;
        char change[160];
        (void)snprintf(change, sizeof change, "UPDATE ports SET usage = '%s'; UPDATE core SET value = %d",
                       cases[i].usage, cases[i].in_turn);
        sql(place->path, change);
        costs_open(&opened, place);
        must(core_costs_get(&opened.costs, &form, &cost, &err), &err);
        assert_int_equal(cost->term_count, cases[i].terms);
        unsigned results = 0;
        for (unsigned t = 0; t < cost->term_count; t++) {
            int all = __builtin_popcount(cost->terms[t].results_of);
            results += all != 0;
            assert_true(all == 0 || (all == 4 && __builtin_popcount(cost->terms[t].ports) == 2));
        }
        assert_int_equal(results, i == 0 || i == 4 ? 1 : 0);
        costs_close(&opened);
    }
}

/* A general register's data may come through an ALU: stores' ports are those that a vector's store has, too.
 */
static void test_ports_of_stores(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    static const struct {
        const char *vector;
        unsigned ports;
    } cases[] = {{"1*pCD", 2}, {"1*pCD+1*p456789", 8}, {"1*p12", 8}, {"", 8}};
    sample_store_make(place->path, &machine, 2);
    sql(place->path,
        "UPDATE forms SET syntax = 'mov m64, r64', mnemonic = 'mov' WHERE id = (SELECT min(id) FROM forms);"
        "UPDATE forms SET syntax = 'movups m128, xmm', mnemonic = 'movups' WHERE id = (SELECT max(id) FROM "
        "forms);"
        "INSERT INTO ports SELECT id, '1*pCD+1*p456789', 1, 1, 1, 1, 0, 'ok', '', NULL, '', '', NULL, run_id "
        "FROM forms");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct opened opened;
        char change[160];
        (void)snprintf(change, sizeof change,
                       "UPDATE ports SET usage = '%s' WHERE form_id = (SELECT max(id) FROM forms)",
                       cases[i].vector);
        sql(place->path, cases[i].vector[0] != '\0' ? change : "DELETE FROM ports WHERE usage = '1*p12'");
        costs_open(&opened, place);
        assert_int_equal(__builtin_popcount(opened.costs.store_ports), cases[i].ports);
        costs_close(&opened);
    }
}

/* The unit of a form's cost. */
static int unit_of(struct opened *opened, const uint8_t *code, size_t bytes) {
    struct ip_error err = {0};
    struct isa_form form;
    const struct core_cost *cost = NULL;
    size_t length = 0;
    must(isa_decode(code, bytes, &form, NULL, &length, &err), &err);
    must(core_costs_get(&opened->costs, &form, &cost, &err), &err);
    return cost->unit;
}

/* Forms wait for the unit that a scan named, whether their ports are known or not; what has no name shares
 * the unit that a form on the same ports gave its name, or that of its kind. */
static void test_named_units(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    static const uint8_t div_64[] = {0x48, 0xf7, 0xf1}, div_32[] = {0xf7, 0xf1},
                         divpd[] = {0xc5, 0xf1, 0x5e, 0xc2}, divps[] = {0xc5, 0xf0, 0x5e, 0xc2},
                         haddpd[] = {0xc5, 0xf1, 0x7c, 0xc2}, addpd[] = {0xc5, 0xf1, 0x58, 0xc2},
                         kmovd[] = {0xc5, 0xfb, 0x92, 0xc8}, vpinsrd[] = {0xc4, 0xe3, 0x71, 0x22, 0xc8, 1},
                         vmovd[] = {0xc5, 0xf9, 0x6e, 0xc8};
    sample_store_make(place->path, &machine, 9);
    sql(place->path,
        "CREATE TEMP TABLE given(number INTEGER PRIMARY KEY, syntax TEXT, usage TEXT, unit TEXT);"
        "INSERT INTO given VALUES(0, 'div r64', NULL, 'div r64'), (1, 'div r32', '2*p0', 'div r64'),"
        "(2, 'vdivpd xmm, xmm, xmm', '2*p1', 'vdivpd xmm, xmm, xmm'), (3, 'vdivps xmm, xmm, xmm', '2*p1', "
        "''),"
        "(4, 'vhaddpd xmm, xmm, xmm', '2*p23', 'vhaddpd xmm, xmm, xmm'),"
        "(5, 'vaddpd xmm, xmm, xmm', '1*p12', ''), (6, 'kmovd k, r32', '1*p12', ''),"
        "(7, 'vpinsrd xmm, xmm, r32, imm8', '1*p1', ''), (8, 'vmovd xmm, r32', '1*p3', 'vmovd xmm, r32');"
        "UPDATE forms SET syntax = (SELECT syntax FROM given"
        " WHERE number = forms.id - (SELECT min(id) FROM forms));"
        "INSERT INTO ports SELECT id, usage, 2, 1, 7, 1, 0, CASE WHEN usage IS NULL THEN 'inconsistent' ELSE "
        "'ok' END, unit, CASE unit WHEN '' THEN NULL ELSE 7 END, '', '', NULL, run_id FROM forms JOIN given "
        "USING(syntax)");
    struct opened opened;
    costs_open(&opened, place);
    const int division = unit_of(&opened, div_64, sizeof div_64);
    const int vector = unit_of(&opened, divpd, sizeof divpd);
    assert_true(division >= CORE_UNIT_NAMED && division < CORE_UNITS_SHARED);
    assert_int_equal(unit_of(&opened, div_32, sizeof div_32), division);
    assert_true(vector >= CORE_UNIT_NAMED && vector != division);
    assert_int_equal(unit_of(&opened, divps, sizeof divps), vector);
    assert_true(unit_of(&opened, haddpd, sizeof haddpd) >= CORE_UNIT_NAMED);
    assert_int_not_equal(unit_of(&opened, haddpd, sizeof haddpd), vector);
    assert_int_equal(unit_of(&opened, addpd, sizeof addpd), CORE_UNIT_VECTOR);
    /* The way from general registers, whatever else has these ports, where a scan found no other. */
    assert_int_equal(unit_of(&opened, kmovd, sizeof kmovd), CORE_UNIT_ENTRY);
    assert_int_equal(unit_of(&opened, vpinsrd, sizeof vpinsrd), CORE_UNIT_ENTRY);
    assert_in_range(unit_of(&opened, vmovd, sizeof vmovd), CORE_UNIT_NAMED, CORE_UNITS_SHARED - 1);
    costs_close(&opened);
}

/* A source that is the destination's own register takes what the form takes with one register for all: not
 * less than half a cycle, which an idiom does. */
static void test_own_register(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    static const uint8_t own[] = {0x62, 0xf3, 0x75, 0x08, 0x25, 0xc0, 0x96}, /* vpternlogd xmm0, xmm1, xmm0 */
        other[] = {0x62, 0xf3, 0x75, 0x08, 0x25, 0xc2, 0x96};                /* vpternlogd xmm0, xmm1, xmm2 */
    static const struct {
        const char *sql;
        const uint8_t *code;
        float cycles;
    } cases[] = {{"", own, 2.0f},
                 {"", other, 3.0f},
                 {"UPDATE latency SET same_register_cycles = 4", own, 3.0f},
                 {"UPDATE latency SET same_register_cycles = 0.17", own, 3.0f},
                 {"UPDATE latency SET same_register_cycles = NULL", own, 3.0f}};
    sample_store_make(place->path, &machine, 1);
    sql(place->path, "UPDATE forms SET syntax = 'vpternlogd xmm, xmm, xmm, imm8';"
                     "DELETE FROM latency;"
                     "INSERT INTO latency SELECT id, 0, 'op3', 'op1', 'register', 3, 'exact', 0, 'ok', '', "
                     "NULL, 2, NULL, '', NULL, run_id FROM forms");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct opened opened;
        block_open(&opened, place, cases[i].sql, cases[i].code, sizeof own);
        const struct core_instruction *instruction = &opened.block.items[0];
        assert_float_equal(instruction->latency[0][instruction->source_count - 1], cases[i].cycles, 0);
        costs_close(&opened);
    }
}

/* What locks memory is one after the other, whatever its ports are, and no place makes it so slow. */
static void test_atomic_unit(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    static const uint8_t increment[] = {0xf0, 0x48, 0xff, 0x06}, /* lock inc qword [rsi] */
        exchange[] = {0x48, 0x87, 0x06},                         /* xchg [rsi], rax */
        plain[] = {0x48, 0xff, 0x06};                            /* inc qword [rsi] */
    sample_store_make(place->path, &machine, 3);
    sql(place->path,
        "CREATE TEMP TABLE given(number INTEGER PRIMARY KEY, syntax TEXT, usage TEXT);"
        "INSERT INTO given VALUES(0, 'lock inc m64', NULL), (1, 'xchg m64, r64', '1*p0'), (2, 'inc m64', "
        "'1*p0');"
        "UPDATE forms SET syntax = (SELECT syntax FROM given"
        " WHERE number = forms.id - (SELECT min(id) FROM forms));"
        "INSERT INTO ports SELECT id, usage, 1, 1, 20, 1, 0, CASE WHEN usage IS NULL THEN 'inconsistent' "
        "ELSE "
        "'ok' END, '', NULL, '', '', NULL, run_id FROM forms JOIN given USING(syntax)");
    struct opened opened;
    costs_open(&opened, place);
    assert_int_equal(unit_of(&opened, increment, sizeof increment), CORE_UNIT_ATOMIC);
    assert_int_equal(unit_of(&opened, exchange, sizeof exchange), CORE_UNIT_ATOMIC);
    assert_int_equal(unit_of(&opened, plain, sizeof plain), -1);
    costs_close(&opened);
}

/* What the data of a store on its way takes to a load's result: the content's latency, and the cycle that
 * the store took for the other half of the round, but at rename; less than a tenth of a cycle is noise. */
static void test_forwarded(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    static const uint8_t load[] = {0x8b, 0x03}; /* mov eax, [rbx] */
    static const struct {
        const char *sql;
        double cycles;
    } cases[] = {{"UPDATE latency SET cycles = 5 WHERE path = 'content'", 6.0},
                 {"UPDATE latency SET cycles = 0.5 WHERE path = 'content'", 0.5},
                 {"UPDATE latency SET cycles = 0.07 WHERE path = 'content'", 0.0},
                 /* behind the load an operation of three cycles, which are none of the way */
                 {"UPDATE latency SET cycles = 7 WHERE path = 'address';"
                  "UPDATE latency SET cycles = 3.04 WHERE path = 'content'",
                  0.0},
                 {"UPDATE latency SET cycles = 8 WHERE path = 'content'", 6.0}};
    sample_store_make(place->path, &machine, 1);
    sql(place->path, CORE_TABLE("load_base") ";"
                                             "UPDATE core SET value = 4;"
                                             "UPDATE forms SET syntax = 'mov r32, m32';"
                                             "DELETE FROM latency;"
                                             "INSERT INTO latency SELECT id, 0, 'op2', 'op1', 'content', 0, "
                                             "'upper', 0, 'ok', '', "
                                             "NULL, NULL, NULL, '', NULL, run_id FROM forms;"
                                             "INSERT INTO latency SELECT id, 1, 'op2', 'op1', 'address', 4, "
                                             "'exact', 0, 'ok', '', "
                                             "NULL, NULL, NULL, '', NULL, run_id FROM forms");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct opened opened;
        block_open(&opened, place, cases[i].sql, load, sizeof load);
        assert_float_equal(opened.block.items[0].cost->forwarded, cases[i].cycles, 1e-6);
        costs_close(&opened);
    }
}

/* Where a plain store and load of a byte take two cycles, one was taken off each round with such a store: it
 * is the store's. */
static void test_put_late(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    static const uint8_t load[] = {0x0f, 0xbe, 0x03}; /* movsx eax, byte [rbx] */
    static const struct {
        const char *sql;
        bool late;
    } cases[] = {{"", true},
                 {"UPDATE latency SET cycles = 0.02 WHERE via = 'plain'", false},
                 {"UPDATE latency SET cycles = 0.94 WHERE via = 'plain';"
                  "UPDATE latency SET cycles = 7 WHERE path = 'content' AND via = ''", /* no short round */
                  false}};
    sample_store_make(place->path, &machine, 1);
    sql(place->path, CORE_TABLE("load_base") ";"
                                             "UPDATE core SET value = 4;"
                                             "UPDATE forms SET syntax = 'movsx r32, m8';"
                                             "INSERT INTO forms SELECT id + 1, 'mov r8, m8', mnemonic, "
                                             "extension, isa_set, parts, status, why, "
                                             "run_id FROM forms;"
                                             "DELETE FROM latency;"
                                             "INSERT INTO latency SELECT id, 0, 'op2', 'op1', 'content', "
                                             "0.94, 'upper', 0, 'ok', 'plain', NULL, "
                                             "NULL, NULL, '', NULL, run_id FROM forms;"
                                             "UPDATE latency SET via = '', cycles = 1.03 WHERE form_id = "
                                             "(SELECT min(id) FROM forms);"
                                             "INSERT INTO latency SELECT min(id), 1, 'op2', 'op1', "
                                             "'address', 5, 'exact', 0, 'ok', '', NULL, NULL, "
                                             "NULL, '', NULL, run_id FROM forms");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct opened opened;
        block_open(&opened, place, cases[i].sql, load, sizeof load);
        assert_int_equal(opened.block.items[0].cost->put_late, cases[i].late);
        costs_close(&opened);
    }
}

/* What MOVHPS takes to bring its data down comes on top of what a plain store of as many bytes takes; not
 * where only one of the two passes its data on at rename. */
static void test_stored_later(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    static const uint8_t stores[] = {0x0f, 0x17, 0x06, 0x66, 0x0f, 0xd6, 0x06}; /* movhps [rsi], xmm0; movq */
    static const struct {
        const char *sql;
        float cycles;
    } cases[] = {
        {"", 2.0f},
        {"UPDATE latency SET cycles = 8.2 WHERE via = 'own'", 0.0f},
        {"UPDATE latency SET cycles = 9 WHERE via = 'own';"
         "UPDATE latency SET cycles = 0 WHERE via = ''",
         0.0f},
        {"UPDATE latency SET cycles = 0.99 WHERE via = 'own'", 1.0f},
        {"UPDATE forms SET syntax = 'movd m32, xmm' WHERE mnemonic = 'movq'", 0.0f},
    };
    sample_store_make(place->path, &machine, 2);
    sql(place->path,
        "UPDATE forms SET syntax = 'movhps m64, xmm', mnemonic = 'movhps' WHERE id = (SELECT min(id) FROM "
        "forms);"
        "UPDATE forms SET syntax = 'movq m64, xmm', mnemonic = 'movq' WHERE id = (SELECT max(id) FROM forms);"
        "DELETE FROM latency;"
        "INSERT INTO latency SELECT min(id), 0, 'op2', 'op1', 'content', 9.97, 'upper', 0, 'ok', 'own', "
        "NULL, NULL, NULL, '', NULL, run_id FROM forms;"
        "INSERT INTO latency SELECT max(id), 0, 'op2', 'op1', 'content', 8.0, 'upper', 0, 'ok', '', NULL, "
        "NULL, NULL, '', NULL, run_id FROM forms");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct opened opened;
        block_open(&opened, place, cases[i].sql, stores, sizeof stores);
        assert_float_equal(opened.block.items[0].to_store, cases[i].cycles, 1e-6);
        assert_float_equal(opened.block.items[1].to_store, 0, 1e-6);
        costs_close(&opened);
    }
}

/* A unit that hands its results to itself a cycle early does not do so with what is merged under a mask,
 * where a chain through that takes as long as one through other forms. */
static void test_merged_late(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    static const uint8_t code[] = {0x62, 0xf1, 0xf5, 0x49, 0x58, 0xc2,  /* vaddpd zmm0{k1}, zmm1, zmm2 */
                                   0x62, 0xf1, 0xfd, 0x48, 0x59, 0xc3}; /* vmulpd zmm0, zmm0, zmm3 */
    static const struct {
        const char *sql;
        float alone, behind; /* cycles from its own result, and from the product's */
    } cases[] = {{"", 3, 3}, {"UPDATE latency SET cycles = 2 WHERE src = 'op1'", 2, 3}};
    sample_store_make(place->path, &machine, 1);
    sql(place->path, "UPDATE forms SET syntax = 'vaddpd zmm{k}, zmm, zmm', mnemonic = 'vaddpd';"
                     "DELETE FROM latency;"
                     "INSERT INTO ports SELECT id, '1*p23', 1, 1, 1, 1, 0, 'ok', '', NULL, '', '', NULL, "
                     "run_id FROM forms;"
                     "INSERT INTO latency SELECT id, 0, 'op1', 'op1', 'register', 3, 'exact', 0, 'ok', '', "
                     "NULL, NULL, NULL, '', NULL, run_id FROM forms;"
                     "INSERT INTO latency SELECT id, 1, 'op3', 'op1', 'register', 3, 'exact', 0, 'ok', '', "
                     "2, NULL, NULL, '', NULL, run_id FROM forms");
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++) {
        const bool behind = i % 2 != 0;
        struct opened opened;
        block_open(&opened, place, cases[i / 2].sql, code, behind ? sizeof code : sizeof code / 2);
        const struct core_instruction *sum = &opened.block.items[0];
        float cycles = NAN;
        for (unsigned s = 0; s < sum->source_count; s++) {
            cycles = sum->sources[s] == sum->targets[0] ? sum->latency[0][s] : cycles;
        }
        assert_float_equal(cycles, behind ? cases[i / 2].behind : cases[i / 2].alone, 0.01);
        costs_close(&opened);
    }
}

/* The rest of a register that is written in part stays there, and goes nowhere else: MUL of 16 bits gives
 * RAX and the flags nothing of the old RDX, if the store says so. */
static void test_rest_of_a_register(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    static const uint8_t mul[] = {0x66, 0xf7, 0xe1}; /* mul cx */
    sample_store_make(place->path, &machine, 1);
    struct opened opened;
    block_open(&opened, place,
               "UPDATE forms SET syntax = 'mul r16';"
               "DELETE FROM latency;"
               "INSERT INTO latency SELECT id, 0, 'rdx', 'rax', 'register', NULL, 'none', NULL, 'none', '', "
               "NULL, NULL, NULL, 'no', NULL, run_id FROM forms;"
               "INSERT INTO latency SELECT id, 1, 'rax', 'rax', 'register', 3, 'exact', 0, 'ok', '', "
               "NULL, NULL, NULL, '', NULL, run_id FROM forms",
               mul, sizeof mul);
    const struct core_instruction *instruction = &opened.block.items[0];
    float rest[2] = {NAN, NAN};
    for (unsigned t = 0; t < instruction->target_count; t++) {
        for (unsigned s = 0; s < instruction->source_count; s++) {
            const unsigned target = instruction->targets[t] - CORE_RESOURCE_GPR;
            if (instruction->sources[s] == CORE_RESOURCE_GPR + 2 && (target == 0 || target == 2)) {
                rest[target / 2] = instruction->latency[t][s];
            }
        }
    }
    assert_true(rest[0] == -INFINITY);
    assert_float_equal(rest[1], 1, 0);
    costs_close(&opened);
}

/* What writes a part of a register waits for the rest of it for a cycle, where the store has no such pair:
 * XLATB has one, since AL is an address, too. */
static void test_part_of_a_register(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    static const uint8_t xlatb[] = {0xd7};
    static const struct {
        const char *sql;
        float cycles;
    } cases[] = {{"UPDATE latency SET src = 'mem', path = 'address'", 1.0f},
                 {"UPDATE latency SET src = 'rax', path = 'register'", 6.0f},
                 {"UPDATE latency SET cycles = 0", 1.0f}};
    sample_store_make(place->path, &machine, 1);
    sql(place->path, "UPDATE forms SET syntax = 'xlat';"
                     "DELETE FROM latency;"
                     "INSERT INTO latency SELECT id, 0, '', 'rax', '', 6, 'exact', 0, 'ok', '', "
                     "NULL, NULL, NULL, '', NULL, run_id FROM forms");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct opened opened;
        block_open(&opened, place, cases[i].sql, xlatb, sizeof xlatb);
        const struct core_instruction *instruction = &opened.block.items[0];
        float cycles = NAN;
        for (unsigned s = instruction->address_count; s < instruction->source_count; s++) {
            cycles = instruction->sources[s] == CORE_RESOURCE_GPR ? instruction->latency[0][s] : cycles;
        }
        assert_float_equal(cycles, cases[i].cycles, 0);
        costs_close(&opened);
    }
}

/* Rename does what it does to all that is written: XADD moves one register there, and adds in an ALU. With
 * one register for both the sum stays. */
static void test_renamed_in_part(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    static const uint8_t two[] = {0x48, 0x0f, 0xc1, 0xd8}, one[] = {0x48, 0x0f, 0xc1, 0xc0};
    static const struct {
        const char *sql;
        const uint8_t *code;
        bool renamed;
        float cycles; /* to the first register */
    } cases[] = {
        {"", two, false, 1.0f}, {"", one, false, 1.0f}, {"UPDATE latency SET cycles = 0", two, true, 0.0f}};
    sample_store_make(place->path, &machine, 1);
    sql(place->path,
        "UPDATE forms SET syntax = 'xadd r64, r64';"
        "INSERT INTO ports SELECT id, '1*p0156', 1, 1, 1, 1.2, 0, 'ok', '', NULL, '', '', NULL, "
        "run_id FROM forms;"
        "UPDATE ports SET cycles = 0.25;"
        "DELETE FROM latency;"
        "INSERT INTO latency SELECT id, position, src, dst, 'register', cycles, 'exact', 0, 'ok', "
        "'', NULL, NULL, NULL, '', NULL, run_id FROM forms JOIN (SELECT 0 position, 'op1' src, "
        "'op1' dst, 1 cycles UNION SELECT 1, 'op1', 'op2', 0 UNION SELECT 2, 'op2', 'op1', 1)");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct opened opened;
        block_open(&opened, place, cases[i].sql, cases[i].code, sizeof two);
        const struct core_instruction *instruction = &opened.block.items[0];
        assert_int_equal(instruction->renamed, cases[i].renamed);
        assert_int_equal(instruction->targets[0], CORE_RESOURCE_GPR);
        assert_float_equal(instruction->latency[0][0], cases[i].cycles, 0);
        for (unsigned t = 1; t < instruction->target_count; t++) {
            assert_int_not_equal(instruction->targets[t], CORE_RESOURCE_GPR);
        }
        costs_close(&opened);
    }
}

/* What takes no port and is slower than its slots all the same has a unit of its own, but NOPs; a loop's
 * own branch is one more than the jumps inside. */
static void test_slow_without_ports(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    struct ip_error err = {0};
    static const uint8_t emms[] = {0x0f, 0x77}, nop[] = {0x0f, 0x1f, 0x00},
                         jumps[] = {0xeb, 0x00, 0xeb, 0x00}; /* both to what follows */
    static const struct {
        const char *syntax;
        const uint8_t *code;
        size_t bytes;
        double unit, loop; /* cycles */
    } cases[] = {{"emms", emms, sizeof emms, 0.5, 1.0},
                 {"nop m32", nop, sizeof nop, 0.0, 1.0},
                 {"jmp rel8", jumps, sizeof jumps, 1.0, 1.5}};
    sample_store_make(place->path, &machine, 1);
    sql(place->path,
        "INSERT INTO ports SELECT id, 'none', 0, 1, 0.5, 0.125, 0, 'ok', '', NULL, '', '', NULL, "
        "run_id FROM forms;"
        "DELETE FROM latency");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct opened opened;
        struct core_prediction prediction = {0};
        const struct core_options options = {.loop = true, .no_simulation = true};
        char change[80];
        (void)snprintf(change, sizeof change, "UPDATE forms SET syntax = '%s'", cases[i].syntax);
        sql(place->path, change);
        costs_open(&opened, place);
        must(core_predict(&opened.costs, cases[i].code, cases[i].bytes, &options, &prediction, &err), &err);
        assert_float_equal(prediction.bounds[CORE_BOUND_UNIT], cases[i].unit, 0);
        assert_float_equal(prediction.bounds[CORE_BOUND_LOOP], cases[i].loop, 0);
        core_prediction_fini(&prediction);
        costs_close(&opened);
    }
}

/* MASKMOVQ stores byte by byte, and is no plain store, whose ports are known; where its own are not its
 * throughput counts. */
static void test_stored_by_bytes(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    struct ip_error err = {0};
    struct opened opened;
    struct core_prediction prediction = {0};
    static const uint8_t maskmovq[] = {0x0f, 0xf7, 0xc1};
    const struct core_options options = {.no_simulation = true};
    sample_store_make(place->path, &machine, 3);
    sql(place->path,
        "UPDATE forms SET syntax = 'mov m64, r64' WHERE id = (SELECT min(id) FROM forms);"
        "UPDATE forms SET syntax = 'mov r64, m64' WHERE id = (SELECT max(id) FROM forms);"
        "UPDATE forms SET syntax = 'maskmovq mm, mm' WHERE syntax NOT LIKE 'mov %';"
        "DELETE FROM latency;"
        "UPDATE throughput SET cycles = 9;"
        "INSERT INTO ports SELECT id, '1*p45', 1, 1, 1, 1, 0, 'ok', '', NULL, '', '', NULL, run_id "
        "FROM forms WHERE syntax != 'maskmovq mm, mm'");
    costs_open(&opened, place);
    must(core_predict(&opened.costs, maskmovq, sizeof maskmovq, &options, &prediction, &err), &err);
    assert_float_equal(prediction.bounds[CORE_BOUND_UNIT], 9, 1e-9);
    core_prediction_fini(&prediction);
    costs_close(&opened);
}

/* Whether an idiom needs a port is told of the same operation in another width or encoding, of vectors; the
 * least where they differ, and where nobody asked it needs none. */
static void test_related_idioms(void **state) {
    struct place *place = *state;
    struct res_machine machine = sample_machine("one");
    static const uint8_t vex[] = {0xc5, 0xfd, 0x74, 0xc0}, mmx[] = {0x0f, 0x74, 0xc0};
    static const struct {
        const char *sql;
        const uint8_t *code;
        size_t bytes;
        bool ports;
    } cases[] = {{"", vex, sizeof vex, true},
                 {"UPDATE core SET value = 2", vex, sizeof vex, false},
                 {"INSERT INTO core SELECT 'idiom {evex} vpcmpeqb xmm, xmm, xmm', 1, 0, '', run_id FROM core",
                  vex, sizeof vex, true},
                 {"UPDATE core SET key = replace(key, 'eqb', 'eqw')", vex, sizeof vex, false},
                 {"UPDATE core SET key = replace(key, 'eqw', 'eqb');"
                  "UPDATE forms SET syntax = 'pcmpeqb mm, mm'",
                  mmx, sizeof mmx, false}};
    sample_store_make(place->path, &machine, 1);
    sql(place->path,
        "UPDATE forms SET syntax = 'vpcmpeqb ymm, ymm, ymm'; DELETE FROM latency;"
        "INSERT INTO latency SELECT id, 0, 'op2', 'op1', 'register', 1, 'exact', 0, 'ok', '', 1, "
        "0, NULL, '', NULL, run_id FROM forms;"
        "INSERT INTO ports SELECT id, '1*p0123', 1, 1, 0.25, 0.25, 0, 'ok', '', NULL, '', '', "
        "NULL, run_id FROM forms;" CORE_TABLE("idiom pcmpeqb xmm, xmm"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct opened opened;
        block_open(&opened, place, cases[i].sql, cases[i].code, cases[i].bytes);
        assert_true(opened.block.items[0].idiom);
        assert_int_equal(core_term_count(&opened.block.items[0]), cases[i].ports ? 1 : 0);
        costs_close(&opened);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_damaged_usage, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_nops_of_a_scan, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_moves_from_the_stack, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_results_of_vectors, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_ports_of_stores, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_named_units, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_own_register, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_forwarded, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_put_late, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_atomic_unit, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_stored_later, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_merged_late, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_rest_of_a_register, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_part_of_a_register, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_renamed_in_part, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_slow_without_ports, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_stored_by_bytes, place_open, place_close),
        cmocka_unit_test_setup_teardown(test_related_idioms, place_open, place_close)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
