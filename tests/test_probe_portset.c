/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the smallest set system, on systems that are known: what is read of them goes in, and what
 * comes out must be the same up to the names of the ports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "probe/portset.h"

struct truth {
    unsigned count;
    uint32_t sets[PROBE_PORTSET_CLASSES];
};

/* "015 23 4": a set for each word, a port for each letter. */
static struct truth truth_make(const char *words) {
    struct truth truth = {0};
    for (const char *at = words; *at != '\0'; at++) {
        if (*at == ' ') {
            truth.count++;
        } else {
            unsigned port = (unsigned)(*at <= '9' ? *at - '0' : *at - 'A' + 10);
            truth.sets[truth.count] |= UINT32_C(1) << port;
        }
    }
    truth.count++;
    return truth;
}

static unsigned size(uint32_t set) {
    return (unsigned)__builtin_popcount(set);
}

/* What is read with so many issue slots a cycle: unions beyond are bounds only. */
static struct probe_portset_problem problem_make(const struct truth *truth, unsigned issue, bool triples) {
    struct probe_portset_problem problem;
    memset(&problem, 0, sizeof problem);
    problem.count = truth->count;
    for (unsigned i = 0; i < truth->count; i++) {
        problem.width[i] = (uint8_t)size(truth->sets[i]);
        for (unsigned j = 0; j < truth->count; j++) {
            unsigned ports = size(truth->sets[i] | truth->sets[j]);
            if (i != j && ports < issue) {
                problem.together[i][j] = (uint8_t)ports;
            }
            problem.at_least[i][j] = (uint8_t)(ports < issue ? ports : issue);
        }
    }
    for (unsigned a = 0; a < truth->count && triples; a++) {
        for (unsigned b = a + 1; b < truth->count; b++) {
            for (unsigned c = b + 1; c < truth->count; c++) {
                unsigned ports = size(truth->sets[a] | truth->sets[b] | truth->sets[c]);
                if (problem.triple_count < PROBE_PORTSET_TRIPLES) {
                    problem.triples[problem.triple_count++] = (struct probe_portset_triple){
                        (uint8_t)a, (uint8_t)b, (uint8_t)c, (uint8_t)(ports < issue ? ports : 0),
                        (uint8_t)(ports < issue ? ports : issue)};
                }
            }
        }
    }
    return problem;
}

static int compare(const void *a, const void *b) {
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

/* A port without its name is the list of the sets that it is in. */
static unsigned signatures(const uint32_t *sets, unsigned count, uint64_t *ports) {
    unsigned used = 0;
    for (unsigned p = 0; p < PROBE_PORTSET_PORTS; p++) {
        uint64_t signature = 0;
        for (unsigned i = 0; i < count; i++) {
            signature |= (uint64_t)(sets[i] >> p & 1u) << i;
        }
        if (signature != 0) {
            ports[used++] = signature;
        }
    }
    qsort(ports, used, sizeof *ports, compare);
    return used;
}

static bool same_up_to_names(const uint32_t *a, const uint32_t *b, unsigned count) {
    uint64_t of_a[PROBE_PORTSET_PORTS], of_b[PROBE_PORTSET_PORTS];
    unsigned used = signatures(a, count, of_a);
    return used == signatures(b, count, of_b) && memcmp(of_a, of_b, used * sizeof of_a[0]) == 0;
}

static void recovers(const char *words, unsigned issue, bool triples) {
    struct truth truth = truth_make(words);
    struct probe_portset_problem problem = problem_make(&truth, issue, triples);
    struct probe_portset_solution solution;
    unsigned conflict = 0;
    assert_true(probe_portset_solve(&problem, &solution, &conflict));
    if (solution.count != 1 || !same_up_to_names(solution.sets[0], truth.sets, truth.count)) {
        print_error("%s: %u solutions\n", words, solution.count);
    }
    assert_int_equal(solution.count, 1);
    assert_int_equal(solution.more, PROBE_PORTSET_NO_MORE);
    assert_true(same_up_to_names(solution.sets[0], truth.sets, truth.count));
}

static void test_known_cores(void **state) {
    (void)state;
    recovers("0 1 5 6 01 05 06 15 015 0156 23 237 4", 99, false);
    recovers("0 1 5 01 05 06 15 015 15B 06B 0156B", 6, false);
    recovers("0 1 2 3 01 12 03 0123 4 5 6 7 45 56 4567 89", 99, false); /* two clusters and loads */
}

/* Three that are as fast together as instructions are issued have so many ports at least, and not those of a
 * smaller system. */
static void test_triples_behind_the_issue(void **state) {
    (void)state;
    recovers("245 0235 035 125 345", 6, true);
}

static void test_disjoint_clusters(void **state) {
    (void)state;
    recovers("0 01 0123 4 45 4567", 99, false);
    recovers("0 1 2 3 4 5 6 7", 99, false);
    /* Behind an issue of six the two widest sets are only known to be more than five together. */
    recovers("0 01 012 4 45 456", 6, false);
}

static void test_nested(void **state) {
    (void)state;
    recovers("0 01 012 0123 01234", 99, false);
    recovers("0 01 02 012 0123", 99, false);
}

static void test_equal_widths(void **state) {
    (void)state;
    recovers("01 12 02", 99, true);
    recovers("03 13 23", 99, true); /* the same pairs: only the triple tells */
    recovers("012 123 230 301", 99, true);
}

static void test_no_width_one(void **state) {
    (void)state;
    recovers("01 23 0123 02", 99, true);
    recovers("012 34 23 01234", 99, true);
}

static void test_lonely_port(void **state) {
    (void)state;
    recovers("9 01 012", 99, false);
    recovers("0 01 012 0128", 99, false);
}

/* Without the triple, the smaller of two systems is taken; with nothing known of a pair there are several. */
static void test_ambiguous(void **state) {
    (void)state;
    struct truth truth = truth_make("03 13 23");
    struct probe_portset_problem problem = problem_make(&truth, 99, false);
    struct probe_portset_solution solution;
    unsigned conflict = 0;
    assert_true(probe_portset_solve(&problem, &solution, &conflict));
    assert_int_equal(solution.ports, 3);

    /* {012} and {01} or {02}... behind a narrow issue: how the two widest overlap is not known. */
    truth = truth_make("0 1 01 0123 0145");
    problem = problem_make(&truth, 99, false);
    problem.together[3][4] = problem.together[4][3] = 0;
    problem.at_least[3][4] = problem.at_least[4][3] = 0;
    problem.together[2][4] = problem.together[4][2] = 0;
    problem.at_least[2][4] = problem.at_least[4][2] = 0;
    problem.together[0][4] = problem.together[4][0] = 0;
    problem.at_least[0][4] = problem.at_least[4][0] = 0;
    problem.together[1][4] = problem.together[4][1] = 0;
    problem.at_least[1][4] = problem.at_least[4][1] = 0;
    problem.width[4] = 3;
    assert_true(probe_portset_solve(&problem, &solution, &conflict));
    assert_true(solution.count > 1);
    for (unsigned a = 0; a < solution.count; a++) {
        for (unsigned b = a + 1; b < solution.count; b++) {
            assert_false(same_up_to_names(solution.sets[a], solution.sets[b], problem.count));
        }
    }
}

static void test_contradiction_names_a_class(void **state) {
    (void)state;
    struct truth truth = truth_make("0 1 5 01 05 15 015");
    struct probe_portset_problem problem = problem_make(&truth, 99, true);
    problem.together[6][0] = problem.together[0][6] = 4; /* {015} beside {0} is said to use four ports */
    problem.at_least[6][0] = problem.at_least[0][6] = 4;
    struct probe_portset_solution solution;
    unsigned conflict = 99;
    assert_false(probe_portset_solve(&problem, &solution, &conflict));
    assert_int_equal(conflict, 6);
}

/* Random systems of at most eight ports: whatever is found explains every reading with no more ports. */
static void test_random(void **state) {
    (void)state;
    uint64_t seed = 20140417, random = seed;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned round = 0; round < 200; round++) {
        struct truth truth = {.count = 6};
        uint32_t all = 0;
        for (unsigned i = 0; i < truth.count; i++) {
            do {
                random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                truth.sets[i] = (uint32_t)(random >> 40) & (uint32_t)(random >> 50) & 0xffu;
            } while (truth.sets[i] == 0);
            all |= truth.sets[i];
        }
        struct probe_portset_problem problem = problem_make(&truth, 99, true);
        struct probe_portset_solution solution;
        unsigned conflict = 0;
        assert_true(probe_portset_solve(&problem, &solution, &conflict));
        assert_true(solution.ports <= size(all));
        bool found = solution.more != PROBE_PORTSET_NO_MORE || solution.ports < size(all);
        for (unsigned s = 0; s < solution.count; s++) {
            struct truth other = {.count = truth.count};
            memcpy(other.sets, solution.sets[s], sizeof other.sets);
            struct probe_portset_problem explained = problem_make(&other, 99, true);
            assert_memory_equal(&explained, &problem, sizeof problem);
            found = found || same_up_to_names(solution.sets[s], truth.sets, truth.count);
        }
        assert_true(found);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_cores),  cmocka_unit_test(test_disjoint_clusters),
        cmocka_unit_test(test_nested),       cmocka_unit_test(test_equal_widths),
        cmocka_unit_test(test_no_width_one), cmocka_unit_test(test_lonely_port),
        cmocka_unit_test(test_ambiguous),    cmocka_unit_test(test_contradiction_names_a_class),
        cmocka_unit_test(test_random),       cmocka_unit_test(test_triples_behind_the_issue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
