/* SPDX-License-Identifier: Apache-2.0 */
/* Latencies on a CPU whose every pair of operands has one of its own: a second of `make proof`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/meter.h"
#include "tests/latency_proof.h"
#include "tests/random_forms.h"

enum { TRIED = 200 };
static const char BASE[] = "tests/data/everything.sim";

struct drawn {
    struct isa_table table;
    struct probe_transfers transfers;
    struct isa_form *forms[TRIED];
    size_t count;
    struct hx_sim_description description;
    struct hx_bench bench;
};

/* Forms of the tables, at random, of which latencies can be drawn. */
static void forms_choose(struct drawn *drawn, struct ip_random *random) {
    struct isa_form *tried[TRIED];
    random_forms_draw(&drawn->table, random, tried, TRIED);
    for (size_t i = 0; i < TRIED; i++) {
        if (latency_proof_is_subject(tried[i], &drawn->transfers)) {
            drawn->forms[drawn->count++] = tried[i];
        }
    }
}

static void drawn_open(struct drawn *drawn, uint64_t seed, const char *more) {
    struct ip_error err = {0};
    struct ip_random random = {.state = seed};
    struct ip_text text = {0};
    struct hx_sim_description base;
    char path[] = "/tmp/isaprobe-latency-XXXXXX", timer[64];
    memset(drawn, 0, sizeof *drawn);
    assert_int_equal(isa_table_builtin_add(&drawn->table, &err), IP_OK);
    assert_int_equal(probe_transfers_init(&drawn->transfers, &drawn->table, &err), IP_OK);
    assert_int_equal(hx_sim_description_read(&base, BASE, &err), IP_OK);
    forms_choose(drawn, &random);
    assert_int_equal(ip_file_read(&text, BASE, 1 << 20, &err), IP_OK);
    ip_text_printf(&text, "%s%s", LATENCY_PROOF_HELPERS, more);
    for (size_t i = 0; i < drawn->count; i++) {
        latency_proof_row(&text, &base, drawn->forms[i], &random);
    }
    hx_sim_description_fini(&base);
    int fd = mkstemp(path);
    assert_true(fd >= 0 && !text.failed);
    assert_int_equal(write(fd, text.data, text.length), (ssize_t)text.length);
    assert_int_equal(close(fd), 0);
    ip_text_fini(&text);
    assert_int_equal(hx_sim_description_read(&drawn->description, path, &err), IP_OK);
    (void)snprintf(timer, sizeof timer, "sim:%s", path);
    struct hx_bench_options options = {.timer = timer, .cpu = -1};
    if (hx_bench_open(&drawn->bench, &options, &err) != IP_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(unlink(path), 0);
}

static void drawn_close(struct drawn *drawn) {
    hx_bench_close(&drawn->bench);
    hx_sim_description_fini(&drawn->description);
    probe_transfers_fini(&drawn->transfers);
    isa_table_fini(&drawn->table);
}

/* MUL of 16 bits merges into DX, which the simulated CPU takes for a source of AX. */
static bool is_sixteen_bit_product(const struct isa_form *form) {
    return strstr(form->mnemonic, "mul") != NULL && form->operands[0].bits == 16;
}

static void latencies_are_those_drawn(uint64_t seed, const char *more) {
    struct drawn drawn;
    struct ip_error err = {0};
    struct probe_latency results[TRIED];
    size_t counts[LATENCY_PROOF_RESULTS] = {0};
    drawn_open(&drawn, seed, more);
    struct hx_meter meter = hx_bench_meter(&drawn.bench);
    assert_int_equal(probe_latency_measure_with(&meter, &drawn.bench.encoder, &drawn.transfers, drawn.forms,
                                                NULL, drawn.count, results, &err),
                     IP_OK);
    for (size_t i = 0; i < drawn.count; i++) {
        for (size_t p = 0; p < results[i].count; p++) {
            const struct probe_latency_pair *pair = &results[i].pairs[p];
            double truth = latency_proof_truth(&drawn.description, drawn.forms[i], pair);
            enum latency_proof_result result = latency_proof_judge(truth, pair);
            counts[result]++;
            char src[16], dst[16];
            if (result == LATENCY_PROOF_WRONG && !is_sixteen_bit_product(drawn.forms[i])) {
                fail_msg("seed %llu: %s %s->%s: %.0f cycles, found %.2f via %s", (unsigned long long)seed,
                         drawn.forms[i]->syntax, isa_operand_name(drawn.forms[i], (unsigned)pair->src, src),
                         isa_operand_name(drawn.forms[i], (unsigned)pair->dst, dst), truth, pair->cycles,
                         pair->via);
            }
        }
        probe_latency_fini(&results[i]);
    }
    print_message("seed %llu: %zu forms, %zu pairs exact, %zu bounds, %zu not measurable\n",
                  (unsigned long long)seed, drawn.count, counts[LATENCY_PROOF_EXACT],
                  counts[LATENCY_PROOF_BOUND], counts[LATENCY_PROOF_NONE]);
    assert_true(counts[LATENCY_PROOF_EXACT] > TRIED && counts[LATENCY_PROOF_NONE] < TRIED / 10);
    drawn_close(&drawn);
}

static void test_every_pair(void **state) {
    (void)state;
    latencies_are_those_drawn(20261125, "");
}

static void test_every_pair_among_noise(void **state) {
    (void)state;
    latencies_are_those_drawn(20261126, "noise 0.002\nspikes 0.05 14000\ndrift walk 0.0005 0.05\n");
}

/* `make proof` draws latencies for all forms, operands of any name among them. */
static void test_every_form_can_be_described(void **state) {
    (void)state;
    struct isa_table table = {0};
    struct probe_transfers transfers = {0};
    struct ip_error err = {0};
    struct ip_random random = {.state = 7};
    struct ip_text text = {0};
    struct hx_sim_description base, description;
    size_t described = 0;
    assert_int_equal(isa_table_builtin_add(&table, &err), IP_OK);
    assert_int_equal(probe_transfers_init(&transfers, &table, &err), IP_OK);
    assert_int_equal(hx_sim_description_read(&base, BASE, &err), IP_OK);
    assert_int_equal(ip_file_read(&text, BASE, 1 << 20, &err), IP_OK);
    ip_text_printf(&text, "%s", LATENCY_PROOF_HELPERS);
    struct isa_form **forms = calloc(table.count, sizeof(struct isa_form *));
    assert_non_null(forms);
    for (size_t i = 0; i < table.count; i++) {
        forms[i] = &table.forms[i];
    }
    assert_int_equal(isa_forms_derive(forms, table.count, &err), IP_OK);
    free(forms);
    for (size_t i = 0; i < table.count; i++) {
        if (latency_proof_is_subject(&table.forms[i], &transfers)) {
            latency_proof_row(&text, &base, &table.forms[i], &random);
            described++;
        }
    }
    assert_false(text.failed);
    if (hx_sim_description_parse(&description, "drawn", text.data, text.length, NULL, &err) != IP_OK) {
        fail_msg("%s: %s", err.place, err.text);
    }
    assert_true(described > 15000 && described < table.count);
    hx_sim_description_fini(&description);
    hx_sim_description_fini(&base);
    ip_text_fini(&text);
    probe_transfers_fini(&transfers);
    isa_table_fini(&table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_form_can_be_described),
        cmocka_unit_test(test_every_pair),
        cmocka_unit_test(test_every_pair_among_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
