/* SPDX-License-Identifier: Apache-2.0 */
/* Port maps and port usages of random simulated CPUs: what is told is right, and most of it is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "common/random.h"
#include "isa/decode.h"
#include "tests/brief.h"
#include "tests/port_machine.h"
#include "tests/port_proof.h"

enum {
    SETS = 9,      /* of ports that compute, at most */
    FORMS = 48,    /* of a CPU, at most */
    SUBJECTS = 24, /* of these, whose usage is asked for */
    ATTRIBUTES = 96,
};

/* Which sets a form may have, and what it does with memory. */
enum kind { SCALAR, VECTOR, BOTH };

struct subject {
    const char *form;
    enum kind kind;
    unsigned uops; /* that compute, at most */
    bool loads, stores;
};

static const char *const scalars[] = {"popcnt r64, r64",     "andn r64, r64, r64", "shlx r64, r64, r64",
                                      "movsxd r64, r32",     "pdep r64, r64, r64", "rorx r64, r64, imm8",
                                      "bzhi r64, r64, r64",  "mov r64, imm32",     "lzcnt r64, r64",
                                      "imul r64, r64, imm8", "pext r64, r64, r64", "blsr r64, r64"};
static const char *const vectors[] = {
    "vaddpd ymm, ymm, ymm",  "vmulpd ymm, ymm, ymm",        "vandpd ymm, ymm, ymm",
    "vpaddd ymm, ymm, ymm",  "vpshufd ymm, ymm, imm8",      "vpackssdw ymm, ymm, ymm",
    "vmaxpd ymm, ymm, ymm",  "vroundpd ymm, ymm, imm8",     "vpmuldq ymm, ymm, ymm",
    "vpsadbw ymm, ymm, ymm", "vshufpd ymm, ymm, ymm, imm8", "vpavgb ymm, ymm, ymm"};
static const struct subject subjects[] = {
    {"bswap r64", SCALAR, 4, false, false},
    {"xor r32, imm32", SCALAR, 3, false, false},
    {"shl r64, imm8", SCALAR, 2, false, false},
    {"xadd r64, r64", SCALAR, 4, false, false},
    {"bsf r64, r64", SCALAR, 3, false, false},
    {"btc r64, imm8", SCALAR, 4, false, false},
    {"mov r32, m32", SCALAR, 0, true, false},
    {"imul r64, m64", SCALAR, 2, true, false},
    {"andn r64, r64, m64", SCALAR, 2, true, false},
    {"rorx r64, m64, imm8", SCALAR, 2, true, false},
    {"mov m32, r32", SCALAR, 0, false, true},
    {"add m64, r64", SCALAR, 2, true, true},
    {"vhaddpd ymm, ymm, ymm", VECTOR, 4, false, false},
    {"vmaxss xmm, xmm, xmm", VECTOR, 2, false, false},
    {"vpblendvb ymm, ymm, ymm, ymm", VECTOR, 3, false, false},
    {"vpabsd ymm, m256", VECTOR, 2, true, false},
    {"vmaxps ymm, ymm, m256", VECTOR, 2, true, false},
    {"vcvttsd2si r64, xmm", BOTH, 3, false, false},
    {"vpinsrd xmm, xmm, r32, imm8", BOTH, 2, false, false},
};
enum {
    SCALARS = sizeof scalars / sizeof scalars[0],
    VECTORS = sizeof vectors / sizeof vectors[0],
    SUBJECTS_KNOWN = sizeof subjects / sizeof subjects[0],
};

struct cpu {
    struct ip_random random;
    struct ip_text core;
    struct cast cast[FORMS + 1];
    char attributes[FORMS][ATTRIBUTES];
    unsigned count, first; /* forms, and of these the first subject */
    unsigned ports, issue, loads, stores;
    uint32_t sets[SETS];
    enum kind kinds[SETS];
    unsigned set_count;
};

static unsigned below(struct cpu *cpu, unsigned limit) {
    return (unsigned)ip_random_below(&cpu->random, limit);
}

/* "p015". */
static void ports_print(uint32_t set, char *text) {
    *text++ = 'p';
    for (unsigned p = 0; p < 32; p++) {
        if ((set >> p & 1u) != 0) {
            *text++ = (char)(p < 10 ? '0' + p : 'A' + p - 10);
        }
    }
    *text = '\0';
}

static uint32_t range(unsigned first, unsigned count) {
    return ((UINT32_C(1) << count) - 1) << first;
}

/* Some of these ports: any, or those of a set that there is, one more, one less, or one for another. */
static uint32_t set_draw(struct cpu *cpu, uint32_t of) {
    const uint32_t set = cpu->set_count > 0 ? cpu->sets[below(cpu, cpu->set_count)] & of : 0;
    const uint32_t port = UINT32_C(1) << below(cpu, cpu->ports);
    const uint32_t other = UINT32_C(1) << below(cpu, cpu->ports);
    const uint32_t any = below(cpu, 1u << cpu->ports);
    switch (below(cpu, 4)) {
    case 0:
        return (set | port) & of;
    case 1:
        return set & ~port;
    case 2:
        return ((set & ~port) | other) & of;
    default:
        return any & (below(cpu, 1u << cpu->ports) | port) & of;
    }
}

/* Either all ports serve both kinds, or each kind has some of its own. */
static void sets_draw(struct cpu *cpu) {
    const uint32_t all = range(0, cpu->ports);
    const bool apart = cpu->ports >= 5 && below(cpu, 3) == 0;
    const unsigned general = 2 + below(cpu, cpu->ports > 3 ? cpu->ports - 3 : 1);
    const uint32_t of[] = {apart ? range(0, general) : all, apart ? all & ~range(0, general) : all, all};
    const unsigned wanted = 3 + below(cpu, SETS - 2);
    for (unsigned tries = 0; tries < 100 && cpu->set_count < wanted; tries++) {
        const enum kind kind = (enum kind)below(cpu, apart ? 2 : 3);
        const uint32_t set = set_draw(cpu, of[kind]);
        bool fresh = set != 0;
        for (unsigned s = 0; s < cpu->set_count; s++) {
            fresh = fresh && cpu->sets[s] != set;
        }
        cpu->sets[cpu->set_count] = set;
        cpu->kinds[cpu->set_count] = kind;
        cpu->set_count += fresh;
    }
}

/* `ports`: of one uop, or whole attributes. */
static void form_add(struct cpu *cpu, const char *form, const char *ports, const char *more) {
    assert_in_range(cpu->count, 0, FORMS - 1);
    (void)snprintf(cpu->attributes[cpu->count], ATTRIBUTES, "%s%s%s", ports[0] == 'p' ? "1*" : "", ports,
                   more);
    cpu->cast[cpu->count] = (struct cast){form, cpu->attributes[cpu->count]};
    cpu->count++;
}

/* One-uop forms for each set, of the kinds that may have it, as long as there are names. */
static void members_add(struct cpu *cpu) {
    unsigned scalar = 0, vector = 0;
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned s = 0; s < cpu->set_count; s++) {
            char ports[32];
            ports_print(cpu->sets[s], ports);
            if (cpu->kinds[s] != VECTOR && scalar < SCALARS) {
                form_add(cpu, scalars[scalar++], ports, "");
            }
            if (cpu->kinds[s] != SCALAR && vector < VECTORS) {
                form_add(cpu, vectors[vector++], ports, " latency 3");
            }
        }
    }
}

static void subject_add(struct cpu *cpu, const struct subject *subject) {
    unsigned counts[SETS] = {0}, uops = subject->uops > 0 ? 1 + below(cpu, subject->uops) : 0;
    char text[ATTRIBUTES] = "", ports[32];
    for (unsigned tries = 0; tries < 50 && uops > 0; tries++) {
        unsigned s = below(cpu, cpu->set_count);
        bool fits = subject->kind == BOTH || cpu->kinds[s] == BOTH || cpu->kinds[s] == subject->kind;
        counts[s] += fits;
        uops -= fits;
    }
    for (unsigned s = 0; s <= cpu->set_count; s++) {
        bool memory = s == cpu->set_count;
        ports_print(memory ? range(cpu->ports, cpu->loads) : cpu->sets[s], ports);
        unsigned its = memory ? subject->loads : counts[s];
        if (its > 0) {
            size_t used = strlen(text);
            (void)snprintf(text + used, sizeof text - used, "%s%u*%s", used > 0 ? "+" : "", its, ports);
        }
    }
    if (subject->stores) {
        size_t used = strlen(text);
        ports_print(range(cpu->ports + cpu->loads, cpu->stores), ports);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s1*%s", used > 0 ? "+" : "", ports);
        ports_print(range(cpu->ports + cpu->loads + cpu->stores, cpu->stores), ports);
        (void)snprintf(text + used, sizeof text - used, "+1*%s", ports);
    }
    form_add(cpu, subject->form, text[0] != '\0' ? text : "none slots 1", "");
}

/* What the loop's end and the references need runs on the widest set of general registers, as comparisons do.
 */
static void core_print(struct cpu *cpu) {
    static const char *const policies[] = {"", "policy counters\n", "policy uneven 0.03\n"};
    char alu[32], loads[32], data[32], address[32];
    uint32_t widest = 0;
    for (unsigned s = 0; s < cpu->set_count; s++) {
        bool wider = __builtin_popcount(cpu->sets[s]) > __builtin_popcount(widest);
        widest = cpu->kinds[s] != VECTOR && wider ? cpu->sets[s] : widest;
    }
    ports_print(__builtin_popcount(widest) > 1 ? widest : range(0, 2), alu);
    ports_print(range(cpu->ports, cpu->loads), loads);
    ports_print(range(cpu->ports + cpu->loads, cpu->stores), data);
    ports_print(range(cpu->ports + cpu->loads + cpu->stores, cpu->stores), address);
    ip_text_printf(&cpu->core, "isaprobe-sim 1\nissue-width %u\nrob %u\n%sports", cpu->issue,
                   128 + 32 * below(cpu, 13), policies[below(cpu, 3)]);
    for (unsigned p = 0; p < cpu->ports + cpu->loads + 2 * cpu->stores; p++) {
        char port[32];
        ports_print(UINT32_C(1) << p, port);
        ip_text_printf(&cpu->core, " %s", port);
    }
    ip_text_printf(&cpu->core,
                   "\nload-ports %s\nstore-data-ports %s\nstore-address-ports %s\nfuse \"sub *\" \"j*\"\n"
                   "form \"nop *\" ports none\nform \"nop\" ports none\nform \"sub r64, imm8\" ports 1*%s\n"
                   "form \"j*\" ports 1*%s\nform \"add r64, r64\" ports 1*%s\n"
                   "form \"mov r64, m64\" ports 1*%s\nform \"mov m64, r64\" ports 1*%s+1*%s\n",
                   loads, data, address, alu, alu, alu, loads, data, address);
    form_add(cpu, "test r64, r64", alu, "");
    form_add(cpu, "vmovups ymm, m256", loads, "");
}

static void cpu_draw(struct cpu *cpu, uint64_t seed) {
    memset(cpu, 0, sizeof *cpu);
    cpu->random.state = seed;
    cpu->ports = 3 + below(cpu, 7);
    cpu->issue = 2 + below(cpu, 5) + below(cpu, 5);
    cpu->loads = 1 + below(cpu, 3);
    cpu->stores = 1 + below(cpu, 2);
    sets_draw(cpu);
    core_print(cpu);
    members_add(cpu);
    cpu->first = cpu->count;
    for (unsigned i = 0; i < SUBJECTS_KNOWN; i++) {
        subject_add(cpu, &subjects[i]);
    }
    cpu->cast[cpu->count] = (struct cast){"", ""};
}

/* -- What is told ------------------------------------------------------------------------------------- */

struct truth {
    struct hx_sim_description description;
    uint32_t sets[PROBE_PORTSET_CLASSES]; /* of the map's classes; members of one have the same */
};

static void truth_read(struct truth *truth, const struct cpu *cpu, const struct probe_portmap *map) {
    struct ip_text text = {0};
    struct ip_error err = {0};
    ip_text_append(&text, ip_text_string(&cpu->core));
    for (const struct cast *row = cpu->cast; row->form[0] != '\0'; row++) {
        ip_text_printf(&text, "form \"%s\" ports %s\n", row->form, row->ports);
    }
    memset(truth, 0, sizeof *truth);
    assert_int_equal(hx_sim_description_parse(&truth->description, "cpu", text.data, text.length, NULL, &err),
                     IP_OK);
    ip_text_fini(&text);
    for (size_t i = 0; i < map->member_count; i++) {
        const struct probe_port_member *member = &map->members[i];
        if (member->class >= 0) {
            const struct hx_sim_row *row = hx_sim_row_find(&truth->description, member->form, NULL);
            uint32_t *set = &truth->sets[member->class];
            *set = *set != 0 ? *set : proof_set(&truth->description, row, member->store);
            assert_int_equal(proof_set(&truth->description, row, member->store), *set);
        }
    }
}

/* Does any mix of these classes take the same time with both systems of sets? As many ports as instructions
 * are issued bind no more than that. */
static bool times_are_same(const uint32_t *sets, const uint32_t *truth, unsigned count, uint64_t among,
                           unsigned issue) {
    for (uint64_t classes = 1; classes < UINT64_C(1) << count; classes++) {
        uint32_t found = 0, its = 0;
        for (unsigned c = 0; c < count && (classes & ~among) == 0; c++) {
            found |= (classes >> c & 1u) != 0 ? sets[c] : 0;
            its |= (classes >> c & 1u) != 0 ? truth[c] : 0;
        }
        unsigned ports = (unsigned)__builtin_popcount(found), right = (unsigned)__builtin_popcount(its);
        if ((ports < issue ? ports : issue) != (right < issue ? right : issue)) {
            return false;
        }
    }
    return true;
}

struct tally {
    unsigned results[PROOF_RESULTS];
    unsigned classes, open;
};

static void map_is_right(const struct cpu *cpu, const struct probe_portmap *map, const struct truth *truth,
                         struct tally *tally) {
    uint64_t certain = 0;
    assert_true(map->confirmed);
    for (unsigned c = 0; c < map->class_count; c++) {
        assert_false(map->classes[c].contradicted);
        certain |= (uint64_t)!probe_port_class_is_ambiguous(map, c) << c;
    }
    assert_true(
        times_are_same(map->alternatives.sets[0], truth->sets, map->class_count, certain, cpu->issue));
    tally->classes += map->class_count;
    tally->open += map->class_count - (unsigned)__builtin_popcountll(certain);
}

static void usages_are_right(const struct cpu *cpu, struct machine *machine, const struct truth *truth,
                             struct tally *tally, uint64_t seed) {
    struct ip_error err = {0};
    struct isa_form *forms[SUBJECTS];
    struct probe_usage usages[SUBJECTS];
    struct proof_ports pairs;
    const struct hx_meter meter = hx_bench_meter(&machine->bench);
    const size_t count = cpu->count - cpu->first;
    for (size_t i = 0; i < count; i++) {
        forms[i] = isa_table_find(&machine->table, cpu->cast[cpu->first + i].form);
        assert_non_null(forms[i]);
    }
    assert_int_equal(isa_forms_derive(forms, count, &err), IP_OK);
    assert_int_equal(probe_usage_measure(&meter, &machine->bench.encoder, &machine->map, NULL, forms, NULL,
                                         count, usages, &err),
                     IP_OK);
    proof_ports_pair(&truth->description, &machine->map, &pairs);
    if (pairs.wrong > 0) { /* the true one is none of those that are kept */
        assert_int_not_equal(machine->map.more_solutions, PROBE_PORTSET_NO_MORE);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        char text[PROBE_USAGE_TEXT];
        enum proof_result result =
            proof_judge(&truth->description, &machine->map,
                        hx_sim_row_find(&truth->description, forms[i], NULL), forms[i], &pairs, &usages[i]);
        if (result == PROOF_WRONG) {
            fail_msg("seed %llu: %s is %s, found %s %s", (unsigned long long)seed, forms[i]->syntax,
                     cpu->cast[cpu->first + i].ports, probe_usage_print(&machine->map, &usages[i], text),
                     usages[i].why);
        }
        tally->results[result]++;
    }
}

static void test_random_cpus(void **state) {
    (void)state;
    skip_under_memcheck();
    /* The first ones, and some of those after them of whose map the issue width hides a part. */
    static const uint64_t seeds[] = {1,  2,  3,  4,   5,   6,   7,   8,   25,  40,
                                     55, 72, 75, 100, 115, 131, 139, 158, 174, 199};
    struct tally tally = {.classes = 0};
    for (size_t s = 0; s < sizeof seeds / sizeof seeds[0]; s++) {
        const uint64_t seed = seeds[s];
        struct cpu cpu;
        struct machine machine;
        struct truth truth;
        cpu_draw(&cpu, seed);
        machine_open_mapped(&machine, ip_text_string(&cpu.core), cpu.cast, "");
        truth_read(&truth, &cpu, &machine.map);
        map_is_right(&cpu, &machine.map, &truth, &tally);
        usages_are_right(&cpu, &machine, &truth, &tally, seed);
        hx_sim_description_fini(&truth.description);
        machine_close(&machine);
        ip_text_fini(&cpu.core);
    }
    print_message("%u classes, %u open; usages: %u exact, %u ambiguous, %u marked\n", tally.classes,
                  tally.open, tally.results[PROOF_EXACT], tally.results[PROOF_AMBIGUOUS],
                  tally.results[PROOF_MARKED]);
    const unsigned told = tally.results[PROOF_EXACT] + tally.results[PROOF_AMBIGUOUS];
    assert_in_range(tally.open, 1, tally.classes / 4);
    assert_in_range(tally.results[PROOF_EXACT], 2 * told / 3, told);
    assert_in_range(tally.results[PROOF_MARKED] + tally.results[PROOF_UNKNOWN], 0, told / 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_cpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
