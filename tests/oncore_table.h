/* SPDX-License-Identifier: Apache-2.0 */
/* tests/oncore_table.h - tables of costs made by hand, and predictions from them. Each test that includes it
 * uses all of it. */
#ifndef ISAPROBE_TESTS_ONCORE_TABLE_H
#define ISAPROBE_TESTS_ONCORE_TABLE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/decode.h"
#include "oncore/oncore.h"

static void must(enum ip_status status, const struct ip_error *err) {
    if (status != IP_OK) {
        fail_msg("%s: %s", err->place, err->text);
    }
}

/* Machine code by hand: the tests need no assembler. */
struct bytes {
    const char *data;
    size_t length;
};
#define BYTES(text) ((struct bytes){text, sizeof(text) - 1})

static void form_add(struct core_costs *costs, struct bytes code, const char *ports, double slots,
                     double latency) {
    struct isa_form form;
    size_t length = 0;
    struct ip_error err = {0};
    must(isa_decode((const uint8_t *)code.data, code.length, &form, NULL, &length, &err), &err);
    must(core_costs_add(costs, &form, ports, slots, latency, &err), &err);
}

static void parameter(struct core_costs *costs, const char *key, double value) {
    struct ip_error err = {0};
    must(probe_core_set(&costs->core, key, value, NAN, "by hand", &err), &err);
}

static struct core_prediction predict(struct core_costs *costs, struct bytes code, bool loop) {
    struct core_prediction prediction = {0};
    struct ip_error err = {0};
    const struct core_options options = {.loop = loop};
    must(core_predict(costs, (const uint8_t *)code.data, code.length, &options, &prediction, &err), &err);
    return prediction;
}

static struct core_cost *cost_of(struct core_costs *costs, struct bytes code) {
    struct isa_form form;
    size_t length = 0;
    struct ip_error err = {0};
    const struct core_cost *cost = NULL;
    must(isa_decode((const uint8_t *)code.data, code.length, &form, NULL, &length, &err), &err);
    must(core_costs_get(costs, &form, &cost, &err), &err);
    return (struct core_cost *)(uintptr_t)cost;
}

#define assert_near(a, b)  assert_true(fabs((a) - (b)) < 1e-6)
#define assert_about(a, b) assert_true(fabs((a) - (b)) < 0.05 * (b))

#endif
