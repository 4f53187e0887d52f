/* SPDX-License-Identifier: Apache-2.0 */
/* tests/oncore_table.h - tables of costs made by hand, and predictions from them. */
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

static inline void form_add(struct core_costs *costs, struct bytes code, const char *ports, double slots,
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

static inline struct core_prediction predict(struct core_costs *costs, struct bytes code, bool loop) {
    struct core_prediction prediction = {0};
    struct ip_error err = {0};
    const struct core_options options = {.loop = loop};
    must(core_predict(costs, (const uint8_t *)code.data, code.length, &options, &prediction, &err), &err);
    return prediction;
}

/* One bound of a block, of copies of it or of a loop. */
static inline double bound_in(struct core_costs *costs, struct bytes code, bool loop, enum core_bound which) {
    struct core_prediction prediction = predict(costs, code, loop);
    double cycles = prediction.bounds[which];
    core_prediction_fini(&prediction);
    return cycles;
}

static inline double bound(struct core_costs *costs, struct bytes code, enum core_bound which) {
    return bound_in(costs, code, false, which);
}

static inline double chain(struct core_costs *costs, struct bytes code) {
    return bound(costs, code, CORE_BOUND_CHAIN);
}

static inline double simulated(struct core_costs *costs, struct bytes code) {
    return bound(costs, code, CORE_BOUND_SIMULATION);
}

static inline struct core_cost *cost_of(struct core_costs *costs, struct bytes code) {
    struct isa_form form;
    size_t length = 0;
    struct ip_error err = {0};
    const struct core_cost *cost = NULL;
    must(isa_decode((const uint8_t *)code.data, code.length, &form, NULL, &length, &err), &err);
    must(core_costs_get(costs, &form, &cost, &err), &err);
    return (struct core_cost *)(uintptr_t)cost;
}

#define IMUL_AX_BX  "\x48\x0f\xaf\xc3"     /* imul rax, rbx */
#define IMUL_CX_BX  "\x48\x0f\xaf\xcb"     /* imul rcx, rbx */
#define ADD_AX_BX   "\x48\x01\xd8"         /* add rax, rbx */
#define ADD_CX_AX   "\x48\x01\xc1"         /* add rcx, rax */
#define XOR_AX_AX   "\x48\x31\xc0"         /* xor rax, rax */
#define POPCNT_DX_S "\xf3\x48\x0f\xb8\xd6" /* popcnt rdx, rsi */
#define LOAD_AX     "\x48\x8b\x06"         /* mov rax, [rsi] */
#define LOAD_SELF   "\x48\x8b\x36"         /* mov rsi, [rsi] */
#define STORE_AX    "\x48\x89\x06"         /* mov [rsi], rax */
#define CMP_AX_BX   "\x48\x39\xd8"         /* cmp rax, rbx */
#define JNZ_HERE    "\x75\x00"             /* jnz */

enum { SMALL_WIDTH = 4 }; /* issue slots */

/* Multiplier on p1, additions on p015, loads on p23, stores' data on p4 and addresses on p7. */
static inline void small_machine_make(struct core_costs *costs) {
    memset(costs, 0, sizeof *costs);
    parameter(costs, "issue_width", SMALL_WIDTH);
    parameter(costs, "load_base", 5);
    parameter(costs, "store_forward", 4);
    form_add(costs, BYTES(IMUL_AX_BX), "1*p1", 1, 3);
    form_add(costs, BYTES(ADD_AX_BX), "1*p015", 1, 1);
    form_add(costs, BYTES(POPCNT_DX_S), "1*p1", 1, 3);
    form_add(costs, BYTES(XOR_AX_AX), "1*p015", 1, 1);
    form_add(costs, BYTES(LOAD_AX), "1*p23", 1, 0);
    form_add(costs, BYTES(STORE_AX), "1*p4+1*p7", 1, NAN);
    form_add(costs, BYTES(CMP_AX_BX), "1*p015", 1, 1);
    struct core_term terms[CORE_TERMS_MAX];
    unsigned count = 0;
    struct ip_error err = {0};
    must(core_ports_parse(costs, "1*p23", terms, &count, &err), &err);
    costs->load_ports = terms[0].ports;
    must(core_ports_parse(costs, "1*p47", terms, &count, &err), &err);
    costs->store_ports = terms[0].ports;
}

#define assert_near(a, b)  assert_true(fabs((a) - (b)) < 1e-6)
#define assert_about(a, b) assert_true(fabs((a) - (b)) < 0.05 * (b))

#endif
