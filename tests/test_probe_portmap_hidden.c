/* SPDX-License-Identifier: Apache-2.0 */
/* Random systems of sets behind few issue slots: what larger systems are told beside the smallest, and which
 * sets are certain then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "common/random.h"
#include "probe/portmap_steps.h"

enum { CLASSES = 6, TRIALS = 300 };

struct core {
    uint32_t sets[CLASSES];
    unsigned issue;
};

static unsigned size(uint32_t set) {
    return (unsigned)__builtin_popcount(set);
}

static unsigned least_of(unsigned a, unsigned b) {
    return a < b ? a : b;
}

static uint32_t union_of(const uint32_t *sets, unsigned classes) {
    uint32_t all = 0;
    for (unsigned c = 0; c < CLASSES; c++) {
        all |= (classes >> c & 1u) != 0 ? sets[c] : 0;
    }
    return all;
}

/* Sets of fewer ports than instructions are issued, each once. */
static struct core core_draw(struct ip_random *random) {
    struct core core = {.issue = 3 + (unsigned)ip_random_below(random, 5)};
    const unsigned ports = 4 + (unsigned)ip_random_below(random, 6);
    for (unsigned c = 0; c < CLASSES;) {
        uint32_t drawn[3];
        for (unsigned i = 0; i < 3; i++) {
            drawn[i] = (uint32_t)ip_random_below(random, UINT64_C(1) << ports);
        }
        const uint32_t set = drawn[0] & (drawn[1] | drawn[2]);
        bool fresh = set != 0 && size(set) < core.issue;
        for (unsigned other = 0; other < c; other++) {
            fresh = fresh && core.sets[other] != set;
        }
        core.sets[c] = set;
        c += fresh;
    }
    return core;
}

/* All pairs and triples, as they are read. */
static struct probe_portset_problem problem_of(const struct core *core) {
    struct probe_portset_problem problem = {.count = CLASSES};
    for (unsigned a = 0; a < CLASSES; a++) {
        problem.width[a] = (uint8_t)size(core->sets[a]);
        for (unsigned b = a + 1; b < CLASSES; b++) {
            unsigned ports = size(core->sets[a] | core->sets[b]);
            problem.together[a][b] = problem.together[b][a] = (uint8_t)(ports < core->issue ? ports : 0);
            problem.at_least[a][b] = problem.at_least[b][a] = (uint8_t)least_of(ports, core->issue);
            for (unsigned c = b + 1; c < CLASSES; c++) {
                ports = size(core->sets[a] | core->sets[b] | core->sets[c]);
                problem.triples[problem.triple_count++] = (struct probe_portset_triple){
                    (uint8_t)a, (uint8_t)b, (uint8_t)c, (uint8_t)(ports < core->issue ? ports : 0),
                    (uint8_t)least_of(ports, core->issue)};
            }
        }
    }
    return problem;
}

/* Do mixes of these classes take the same time? Those of as many ports as instructions are issued are bound
 * by that. */
static bool times_are_same(const struct core *core, const uint32_t *sets, unsigned among) {
    for (unsigned classes = 1; classes < 1u << CLASSES; classes++) {
        unsigned ports = size(union_of(sets, classes)), truth = size(union_of(core->sets, classes));
        if ((classes & ~among) == 0 && least_of(ports, core->issue) != least_of(truth, core->issue)) {
            return false;
        }
    }
    return true;
}

/* Have any two of these classes as many ports together? */
static bool pairs_are_same(const struct core *core, const uint32_t *sets, unsigned among) {
    for (unsigned a = 0; a < CLASSES; a++) {
        for (unsigned b = 0; b < a; b++) {
            const unsigned both = 1u << a | 1u << b;
            if ((both & ~among) == 0 && size(union_of(sets, both)) != size(union_of(core->sets, both))) {
                return false;
            }
        }
    }
    return true;
}

/* The smallest systems, and those that are hidden; and the classes that are certain. */
static unsigned systems_find(const struct core *core, struct ip_random *random, struct probe_portmap *map) {
    const struct probe_portset_problem problem = problem_of(core);
    unsigned conflict = 0, certain = 0;
    memset(map, 0, sizeof *map);
    assert_true(probe_portset_solve(&problem, &map->alternatives, &conflict));
    probe_port_hidden_add(&problem, core->issue, &map->alternatives);
    map->class_count = CLASSES;
    map->port_count = map->alternatives.ports;
    map->solutions = map->alternatives.count;
    map->more_solutions = map->alternatives.more;
    for (unsigned c = 0; c < CLASSES; c++) {
        map->classes[c].ports = map->alternatives.sets[0][c];
        map->classes[c].members = 1 + (unsigned)ip_random_below(random, 9);
    }
    probe_portmap_align(map);
    for (unsigned c = 0; c < CLASSES; c++) {
        certain |= (probe_port_class_is_ambiguous(map, c) ? 0 : 1u) << c;
    }
    return certain;
}

/* What is told to be certain is so, whatever is true; and the truth is told, or that there is more. */
static void test_random(void **state) {
    (void)state;
    const uint64_t seed = 20491;
    struct ip_random random = {.state = seed};
    unsigned open = 0, kept = 0, more = 0, all = 0, untold = 0;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        const struct core core = core_draw(&random);
        struct probe_portmap map;
        const unsigned certain = systems_find(&core, &random, &map);
        bool told = false;
        for (unsigned s = 0; s < map.solutions; s++) {
            told = told || (times_are_same(&core, map.alternatives.sets[s], (1u << CLASSES) - 1) &&
                            pairs_are_same(&core, map.alternatives.sets[s], (1u << CLASSES) - 1));
        }
        if (!times_are_same(&core, map.alternatives.sets[0], certain) ||
            !pairs_are_same(&core, map.alternatives.sets[0], certain)) {
            fail_msg("trial %u: a set that is told to be certain is not", trial);
        }
        untold += !told && map.more_solutions == PROBE_PORTSET_NO_MORE;
        open += certain != (1u << CLASSES) - 1;
        kept += map.solutions > 1 && told;
        more += map.more_solutions == PROBE_PORTSET_MORE_ALIKE;
        all += certain == 0;
    }
    print_message("%u open, %u with the truth, %u with others like these, %u where none is certain\n", open,
                  kept, more, all);
    assert_int_equal(untold, 0);
    assert_in_range(open, TRIALS / 2, 2 * TRIALS / 3);
    assert_in_range(kept, open / 2, open);
    assert_in_range(more, 1, open);
    assert_in_range(all, 0, TRIALS / 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
