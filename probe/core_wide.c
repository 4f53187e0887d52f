/* SPDX-License-Identifier: Apache-2.0 */
/* probe/core_wide.c - narrower vectors that lose a port while 512 bits are in flight: on Intel's cores with
 * AVX-512 an operation of 512 bits takes the units of two ports, and what is narrower finds one of them
 * closed.
 *
 * Each of these forms stands alone, and among operations of 512 bits. What only shares ports with these takes
 * no longer among them than both take one after the other; what takes longer has lost a port. */
#include <math.h>
#include <stdio.h>

#include "probe/core_groups.h"

enum { NARROW = 12, BETWEEN = 3, WIDE = NARROW / BETWEEN }; /* ymm0 to ymm11, and zmm16 to zmm19 */

/* Times as long as one after the other: with two of three ports left 8 cycles for 6, with one of two 12
 * for 8. */
static const double OPEN = 1.1, CLOSED = 1.2;

/* "%s" is the destination; nobody writes the sources. One-µop forms of AVX2 that have two or three ports on
 * one core or another. */
static const struct {
    const char *form, *text;
} narrow[] = {
    {"vmulpd ymm, ymm, ymm", "vmulpd %s, ymm12, ymm13"},
    {"vpslld ymm, ymm, imm8", "vpslld %s, ymm12, 3"},
    {"vpaddd ymm, ymm, ymm", "vpaddd %s, ymm12, ymm13"},
    {"vpshufd ymm, ymm, imm8", "vpshufd %s, ymm12, 3"},
};
enum { FORMS = sizeof narrow / sizeof narrow[0] };

/* `form` FORMS: of 512 bits alone. */
static enum ip_status kernel_add(struct core_session *session, unsigned form, bool wide, size_t *slot,
                                 struct ip_error *err) {
    struct gen_program program;
    char name[16];
    core_program_init(&program, "core: %s%s", form < FORMS ? narrow[form].form : "512 bits",
                      form < FORMS && wide ? " among 512 bits" : "");
    for (unsigned n = 0; n < NARROW; n++) {
        if (form < FORMS) {
            (void)snprintf(name, sizeof name, "ymm%u", n);
            core_line_named(&program.unit, narrow[form].text, name);
        }
        if (wide && n % BETWEEN == 0) {
            ip_lines_printf(&program.unit, "vpord zmm%u, zmm12, zmm13", 16 + n / BETWEEN);
        }
    }
    program.uses = GEN_USES_EVEX;
    return core_add(session, &program, slot, err);
}

static enum ip_status fact_learn(struct core_session *session, unsigned form, double alone, double wide,
                                 size_t among, struct ip_error *err) {
    double cycles = core_cycles(session, among), times = cycles / (alone + wide);
    if (isnan(times) || (times > OPEN && times < CLOSED)) {
        session->tally->untrusted++;
        return IP_OK;
    }
    char key[PROBE_CORE_FACT_MAX];
    probe_core_fact_key("wide", narrow[form].form, NULL, key);
    return core_learn(session, key, times >= CLOSED, core_stat(session, among)->spread, err,
                      "%d take %.2f cycles, %d of 512 bits %.2f, both %.2f", NARROW, alone, WIDE, wide,
                      cycles);
}

enum ip_status core_wide_measure(struct core_session *session, struct ip_error *err) {
    size_t alone[FORMS], among[FORMS], wide = 0;
    enum ip_status status = kernel_add(session, FORMS, true, &wide, err);
    for (unsigned i = 0; i < FORMS && status == IP_OK; i++) {
        status = kernel_add(session, i, false, &alone[i], err);
        status = status == IP_OK ? kernel_add(session, i, true, &among[i], err) : status;
    }
    status = status == IP_OK ? core_run(session, err) : status;
    for (unsigned i = 0; i < FORMS && status == IP_OK; i++) {
        if (core_stat(session, among[i])->verdict != HX_VERDICT_FAULT) { /* else there is no AVX-512 */
            status = fact_learn(session, i, core_cycles(session, alone[i]), core_cycles(session, wide),
                                among[i], err);
        }
    }
    return status;
}
