/* SPDX-License-Identifier: Apache-2.0 */
/* What of a batch is measured again, over a scripted meter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "probe/batch.h"
#include "tests/near.h"

enum { CALLS = 16 };

/* What the one kernel takes from call to call; 0: the call is void; below 0: it is unstable. */
struct script {
    double cycles[CALLS];
    unsigned calls;
    double seconds_per_call;
};

static enum ip_status script_measure(void *self, const struct gen_kernel *const *kernels, size_t count,
                                     struct hx_stat *stats, struct ip_error *err) {
    (void)kernels, (void)err;
    struct script *script = self;
    assert_int_equal(count, 1);
    assert_true(script->calls < CALLS);
    double cycles = script->cycles[script->calls++];
    enum hx_verdict bad = cycles < 0 ? HX_VERDICT_UNSTABLE : HX_VERDICT_DISTURBED;
    stats[0] =
        (struct hx_stat){.verdict = cycles > 0 ? HX_VERDICT_OK : bad, .cycles = cycles > 0 ? cycles : NAN};
    return IP_OK;
}

static double script_seconds(const void *self) {
    const struct script *script = self;
    return script->calls * script->seconds_per_call;
}

static struct hx_stat run(struct script *script, struct probe_batch batch) {
    struct gen_encoder encoder = {0};
    struct gen_program program;
    struct ip_error err = {0};
    size_t slot;
    gen_program_init(&program);
    ip_lines_add(&program.unit, "add rax, rax");
    assert_int_equal(probe_batch_add(&batch, &program, &slot, &err), IP_OK);
    const struct hx_meter meter = {.measure = script_measure, .seconds = script_seconds, .self = script};
    assert_int_equal(probe_batch_measure(&batch, &meter, &encoder, &err), IP_OK);
    struct hx_stat stat = batch.stats[slot];
    probe_batch_fini(&batch);
    gen_encoder_fini(&encoder);
    return stat;
}

static void voids_are_measured_again(void **state) {
    (void)state;
    struct script script = {.cycles = {0, 0, 4.3, 5.0}};
    assert_true(run(&script, (struct probe_batch){.retries = 5}).cycles == 4.3);
    assert_int_equal(script.calls, 3);
    script = (struct script){.cycles = {0, 0, 4.3}};
    assert_int_equal(run(&script, (struct probe_batch){.retries = 1}).verdict, HX_VERDICT_DISTURBED);
    assert_int_equal(script.calls, 2);
}

/* On the silicon, as long as that may help; a simulated CPU knows no time. */
static void voids_are_measured_for_a_while(void **state) {
    (void)state;
    const struct probe_batch batch = {.retries = 1, .retry_seconds = 3.5};
    struct script script = {.cycles = {0, 0, 0, 2.0}, .seconds_per_call = 1};
    assert_true(run(&script, batch).cycles == 2.0);
    script = (struct script){.cycles = {0}, .seconds_per_call = 1};
    assert_int_equal(run(&script, batch).verdict, HX_VERDICT_DISTURBED);
    assert_int_equal(script.calls, 1 + 4);
    script = (struct script){.cycles = {0}};
    assert_int_equal(run(&script, batch).verdict, HX_VERDICT_DISTURBED);
    assert_int_equal(script.calls, 2);
}

/* ... nor what spreads by itself: that does not last as long as there is time. */
static void what_spreads_by_itself_is_let_be(void **state) {
    (void)state;
    const struct probe_batch batch = {.retries = 2, .retry_seconds = 1000};
    struct script script = {.seconds_per_call = 1};
    for (size_t i = 0; i < CALLS; i++) {
        script.cycles[i] = -13.8;
    }
    assert_int_equal(run(&script, batch).verdict, HX_VERDICT_UNSTABLE);
    assert_within(script.calls, 4, 12);
    /* A neighbour's turns among its own are no reason to stop earlier. */
    struct script neighbour = {.cycles = {-13.8, 0, 0, 0, -13.8, 0, 0, 0, 0, 13.5}, .seconds_per_call = 1};
    assert_true(run(&neighbour, batch).cycles == 13.5);
}

enum { OTHERS = 3 };

/* Looks at one kernel as the script has them, and at others, which each `disturbs`-th disturbs. */
struct company {
    double cycles[CALLS];
    unsigned disturbs;
    unsigned calls, looks; /* at any, and at the one */
};

static enum ip_status company_screen(void *self, const struct gen_kernel *const *kernels, size_t count,
                                     struct hx_stat *stats, struct ip_error *err) {
    (void)err;
    struct company *company = self;
    assert_int_equal(count, 1 + OTHERS);
    for (size_t i = 0; i < count; i++) {
        bool disturbed = i == 0 ? company->cycles[company->looks] == 0
                                : company->disturbs > 0 && (company->calls + i) % company->disturbs == 0;
        double cycles = i == 0 ? company->cycles[company->looks] : 2.0 + 0.1 * company->calls;
        stats[i] = (struct hx_stat){.verdict = disturbed ? HX_VERDICT_DISTURBED : HX_VERDICT_OK,
                                    .cycles = disturbed ? NAN : cycles};
    }
    company->looks += kernels[0] != NULL;
    company->calls++;
    return IP_OK;
}

static struct hx_stat look_among(struct company *company, unsigned looks) {
    struct probe_batch batch = {.looks = looks};
    struct gen_encoder encoder = {0};
    struct ip_error err = {0};
    for (int i = 0; i < 1 + OTHERS; i++) {
        struct gen_program program;
        size_t slot;
        gen_program_init(&program);
        ip_lines_add(&program.unit, "add rax, rax");
        assert_int_equal(probe_batch_add(&batch, &program, &slot, &err), IP_OK);
    }
    const struct hx_meter meter = {.screen = company_screen, .self = company};
    assert_int_equal(probe_batch_measure(&batch, &meter, &encoder, &err), IP_OK);
    struct hx_stat stat = batch.stats[0];
    probe_batch_fini(&batch);
    gen_encoder_fini(&encoder);
    return stat;
}

/* What no look finds undisturbed while others are calm is let be sooner than what some do, and than anything
 * where others are disturbed, too. */
static void looks_in_vain_are_few(void **state) {
    (void)state;
    struct company calm = {.cycles = {0, 0, 0, 0, 0, 0, 0, 0, 0, 4.3, 4.3, 4.3}};
    assert_int_equal(look_among(&calm, 7).verdict, HX_VERDICT_DISTURBED);
    assert_int_equal(calm.looks, 6);
    struct company noisy = {.cycles = {0, 0, 0, 0, 0, 0, 0, 0, 0, 4.3, 4.3, 4.3}, .disturbs = 3};
    assert_true(look_among(&noisy, 7).cycles == 4.3);
    assert_int_equal(noisy.looks, 12);
    struct company late = {.cycles = {0, 0, 0, 0, 4.3, 0, 5.0, 0, 4.3, 4.3}};
    assert_true(look_among(&late, 7).cycles == 4.3);
    assert_int_equal(late.looks, 10);
}

static void the_nearest_to_a_whole_number_counts(void **state) {
    (void)state;
    const struct probe_batch batch = {.retries = 4, .whole = true};
    struct script script = {.cycles = {1.08, 1.5, 0, 1.002, 9.0}};
    assert_true(run(&script, batch).cycles == 1.002);
    assert_int_equal(script.calls, 4);
    script = (struct script){.cycles = {2.3, 2.2, 2.4, 2.1, 2.5}};
    assert_true(run(&script, batch).cycles == 2.1);
    assert_int_equal(script.calls, 5);
}

static void what_is_between_is_measured_again(void **state) {
    (void)state;
    const struct probe_batch batch = {.between_retries = 3};
    struct script script = {.cycles = {10.45, 10.6, 11.02, 9.0}};
    assert_true(run(&script, batch).cycles == 11.02);
    assert_int_equal(script.calls, 3);
    /* A neighbour adds whole cycles, too. */
    script = (struct script){.cycles = {7.3, 9.0, 0, 7.4, 7.0}};
    assert_true(run(&script, batch).cycles == 7.3);
    assert_int_equal(script.calls, 4);
    script = (struct script){.cycles = {9.3, 7.6, 8.0}};
    assert_true(run(&script, batch).cycles == 8.0);
    /* Few cycles may be halves; of many, a small part is noise. */
    script = (struct script){.cycles = {1.5, 1.0}};
    assert_true(run(&script, batch).cycles == 1.5);
    script = (struct script){.cycles = {100.4, 100.0}};
    assert_true(run(&script, batch).cycles == 100.4);
    /* What is void is left to those who want it again. */
    script = (struct script){.cycles = {0, 5.0}};
    assert_int_equal(run(&script, batch).verdict, HX_VERDICT_DISTURBED);
    assert_int_equal(script.calls, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_between_is_measured_again),
        cmocka_unit_test(voids_are_measured_again),
        cmocka_unit_test(voids_are_measured_for_a_while),
        cmocka_unit_test(what_spreads_by_itself_is_let_be),
        cmocka_unit_test(looks_in_vain_are_few),
        cmocka_unit_test(the_nearest_to_a_whole_number_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
