/* SPDX-License-Identifier: Apache-2.0 */
/* tests/core_machine.h - measures the parameters of simulated cores, undisturbed and not. */
#ifndef ISAPROBE_TESTS_CORE_MACHINE_H
#define ISAPROBE_TESTS_CORE_MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/random.h"
#include "common/text.h"
#include "probe/core.h"

/* A meter that a neighbour gets past, unseen: in the calls from `from` to before `to`, a share of the kernels
 * takes longer by up to `factor`, and looks as steady as ever. Or that of another core than the simulated
 * one, on which kernels take so many `cycles`. */
struct disturbed {
    struct hx_meter inner;
    double (*cycles)(const struct gen_kernel *kernel, double cycles); /* NULL: as on the simulated one */
    struct ip_random random;
    unsigned calls, from, to;
    double share, factor;
};

static inline enum ip_status disturbed_measure(void *self, const struct gen_kernel *const *kernels,
                                               size_t count, struct hx_stat *stats, struct ip_error *err) {
    struct disturbed *disturbed = self;
    enum ip_status status = hx_measure(&disturbed->inner, kernels, count, stats, err);
    bool comes = disturbed->calls >= disturbed->from && disturbed->calls < disturbed->to;
    disturbed->calls++;
    for (size_t i = 0; i < count && status == IP_OK && disturbed->cycles != NULL; i++) {
        stats[i].cycles = disturbed->cycles(kernels[i], stats[i].cycles);
    }
    for (size_t i = 0; i < count && status == IP_OK && comes; i++) {
        if (ip_random_unit(&disturbed->random) < disturbed->share) {
            stats[i].cycles *= 1 + (disturbed->factor - 1) * ip_random_unit(&disturbed->random);
        }
    }
    return status;
}

/* tests/data/core.sim with some settings replaced: pairs of what stands there and what shall. `disturbed` may
 * be NULL. */
static inline void core_measure(const char *const *replacements, const char *const *groups,
                                struct disturbed *disturbed, struct probe_core *core,
                                struct probe_core_tally *tally) {
    char path[] = "/tmp/isaprobe-core-XXXXXX", timer[64];
    struct ip_text text = {0};
    struct ip_error err = {0};
    struct hx_bench bench;
    assert_int_equal(ip_file_read(&text, "tests/data/core.sim", 1 << 20, &err), IP_OK);
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    for (const char *at = text.data; *at != '\0';) {
        const char *const *r = replacements;
        while (*r != NULL && strncmp(at, r[0], strlen(r[0])) != 0) {
            r += 2;
        }
        if (*r != NULL) {
            assert_true(fputs(r[1], file) >= 0);
            at += strlen(r[0]);
        } else {
            assert_true(fputc(*at++, file) != EOF);
        }
    }
    assert_int_equal(fclose(file), 0);
    ip_text_fini(&text);
    (void)snprintf(timer, sizeof timer, "sim:%s", path);
    const struct hx_bench_options options = {.timer = timer, .cpu = -1};
    if (hx_bench_open(&bench, &options, &err) != IP_OK) {
        fail_msg("%s: %s", err.place, err.text);
    }
    assert_int_equal(unlink(path), 0);
    bench.plan.passes = 1;
    struct hx_meter meter = hx_bench_meter(&bench);
    if (disturbed != NULL) {
        disturbed->inner = meter;
        meter = (struct hx_meter){.measure = disturbed_measure, .self = disturbed};
    }
    unsigned selected = 0;
    for (; *groups != NULL; groups++) {
        assert_true(probe_core_group_find(*groups) >= 0);
        selected |= 1u << probe_core_group_find(*groups);
    }
    memset(core, 0, sizeof *core);
    if (probe_core_measure(&meter, &bench.encoder, selected, core, tally, &err) != IP_OK) {
        fail_msg("%s", err.text);
    }
    hx_bench_close(&bench);
}

static inline void assert_value(const struct probe_core *core, enum probe_core_key key, double expected) {
    double value = probe_core_get(core, key);
    if (!(fabs(value - expected) <= 0.004 * expected)) {
        fail_msg("%s is %g (%s), not %g", probe_core_key_name(key), value, core->values[key].how, expected);
    }
}

static inline void assert_fact(const struct probe_core *core, const char *kind, const char *form,
                               const char *second, double expected) {
    const struct probe_core_value *value = probe_core_fact_get(core, kind, form, second);
    if (value == NULL ? !isnan(expected) : !(fabs(value->value - expected) <= 0.01)) {
        fail_msg("%s %s %s is %g, not %g", kind, form, second != NULL ? second : "",
                 value != NULL ? value->value : NAN, expected);
    }
}

#endif
