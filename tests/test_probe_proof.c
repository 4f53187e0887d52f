/* SPDX-License-Identifier: Apache-2.0 */
/* The port inference on CPUs that are not here, made of published tables: a few seconds of `make proof`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/meter.h"
#include "tests/port_proof.h"
#include "tests/random_forms.h"

enum { SAMPLE = 48, TRIED = 1600 };

/* Text of the description with more lines before its import, whose file is named from the folder of `path`.
 */
static void description_make(const char *path, const char *lines, char *written) {
    struct ip_text text = {0}, out = {0};
    struct ip_error err = {0};
    char directory[4096];
    assert_int_equal(ip_file_read(&text, path, 1 << 20, &err), IP_OK);
    assert_non_null(realpath(path, directory));
    strrchr(directory, '/')[1] = '\0';
    const char *whole = ip_text_string(&text), *import = strstr(whole, "ports-csv \"");
    assert_non_null(import);
    import += strlen("ports-csv \"");
    ip_text_append_bytes(&out, whole, (size_t)(import - whole) - strlen("ports-csv \""));
    ip_text_printf(&out, "%sports-csv \"%s%s", lines, directory, import);
    (void)strcpy(written, "/tmp/isaprobe-proof-XXXXXX");
    int fd = mkstemp(written);
    assert_true(fd >= 0 && !out.failed);
    assert_int_equal(write(fd, out.data, out.length), (ssize_t)out.length);
    assert_int_equal(close(fd), 0);
    ip_text_fini(&text);
    ip_text_fini(&out);
}

static bool is_subject(const struct hx_sim_description *d, const struct isa_form *form) {
    const struct hx_sim_row *row = hx_sim_row_find(d, form, NULL);
    unsigned uops = 0;
    for (unsigned o = 0; o < form->explicit_count; o++) {
        if (form->operands[o].imm_fixed && form->operands[o].imm == 0) {
            return false; /* decoded as any other immediate, which may have another row */
        }
    }
    for (unsigned i = 0; row != NULL && i < row->uops_count; i++) {
        uops += row->uops[i].count;
    }
    return row != NULL && form->obstacle == ISA_OBSTACLE_NONE && uops <= 4;
}

/* Forms of at most four uops that the table has, in random order. */
static size_t forms_choose(struct isa_table *table, const struct hx_sim_description *d, uint64_t seed,
                           struct isa_form **forms) {
    struct ip_random random = {.state = seed};
    struct isa_form *tried[TRIED];
    size_t count = 0;
    random_forms_draw(table, &random, tried, TRIED);
    for (size_t i = 0; i < TRIED && count < SAMPLE; i++) {
        if (is_subject(d, tried[i])) {
            forms[count++] = tried[i];
        }
    }
    return count;
}

static void recovers(const char *path, const char *table_path, const char *lines, unsigned ports,
                     uint64_t seed) {
    if (access(table_path, R_OK) != 0) {
        print_message("skipped: %s is not here\n", table_path);
        skip();
    }
    struct ip_error err = {0};
    char written[64], timer[80];
    struct hx_sim_description d;
    struct isa_table table = {0};
    struct hx_bench bench;
    struct probe_portmap map;
    struct proof_ports pairs;
    struct isa_form *forms[SAMPLE];
    struct probe_usage usages[SAMPLE];
    description_make(path, lines, written);
    assert_int_equal(hx_sim_description_read(&d, written, &err), IP_OK);
    assert_int_equal(isa_table_builtin_add(&table, &err), IP_OK);
    (void)snprintf(timer, sizeof timer, "sim:%s", written);
    struct hx_bench_options options = {.timer = timer, .cpu = -1};
    if (hx_bench_open(&bench, &options, &err) != IP_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(unlink(written), 0);
    struct hx_meter meter = hx_bench_meter(&bench);
    assert_int_equal(probe_portmap_measure(&meter, &bench.encoder, &table, "", &map, &err), IP_OK);
    assert_int_equal(map.port_count, ports);
    assert_int_equal(map.solutions, 1);
    proof_ports_pair(&d, &map, &pairs);
    assert_int_equal(pairs.wrong, 0);
    size_t count = forms_choose(&table, &d, seed, forms);
    assert_int_equal(count, SAMPLE);
    assert_int_equal(
        probe_usage_measure(&meter, &bench.encoder, &map, NULL, forms, NULL, count, usages, &err), IP_OK);
    unsigned right = 0, known = 0;
    for (size_t i = 0; i < count; i++) {
        enum proof_result result =
            proof_judge(&d, &map, hx_sim_row_find(&d, forms[i], NULL), forms[i], &pairs, &usages[i]);
        char text[PROBE_USAGE_TEXT];
        known += result != PROOF_UNKNOWN;
        right += result == PROOF_EXACT || result == PROOF_AMBIGUOUS;
        if (result == PROOF_WRONG) {
            fail_msg("seed %llu: %s found %s", (unsigned long long)seed, forms[i]->syntax,
                     probe_usage_print(&map, &usages[i], text));
        }
    }
    print_message("seed %llu: %u of %u forms\n", (unsigned long long)seed, right, known);
    /* None is wrong; of a sample this small one in twenty may be marked. The rate is what `make proof` tells.
     */
    assert_true(right * 20 >= known * 19 && known >= SAMPLE - 4);
    probe_portmap_fini(&map);
    isa_table_fini(&table);
    hx_bench_close(&bench);
    hx_sim_description_fini(&d);
}

#define BAD_DAY "noise 0.003\nspikes 0.05 14000\ndrift walk 0.0005 0.05\n"

static void test_skylake_x(void **state) {
    (void)state;
    recovers("tests/data/skylake_x.sim", "../shared/reference/skylake_x_ports.csv",
             "issue-width 6\nretire-width 6\n" BAD_DAY, 7, 20140);
}

/* As many ports as issue slots: what may go to all of them is told to be ambiguous. */
static void test_skylake_x_behind_four_slots(void **state) {
    (void)state;
    recovers("tests/data/skylake_x.sim", "../shared/reference/skylake_x_ports.csv", "", 7, 20141);
}

static void test_zen_plus(void **state) {
    (void)state;
    recovers("tests/data/zen_plus.sim", "../shared/reference/zen_plus_ports.csv", BAD_DAY, 10, 20142);
}

/* Five ALUs behind six slots, and a port that 512 bits close for narrower vectors. */
static void test_golden_cove(void **state) {
    (void)state;
    recovers("tests/data/golden_cove.sim", "../shared/reference/golden_cove_sample.csv", BAD_DAY, 10, 20143);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_skylake_x),
        cmocka_unit_test(test_skylake_x_behind_four_slots),
        cmocka_unit_test(test_zen_plus),
        cmocka_unit_test(test_golden_cove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
