/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/core_session.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/ascii.h"
#include "generator/shapes.h"

void core_program_init(struct gen_program *program, const char *title, ...) {
    gen_program_init(program);
    va_list args;
    va_start(args, title);
    (void)vsnprintf(program->title, sizeof program->title, title, args);
    va_end(args);
}

void core_lines(struct ip_lines *lines, const char *text, unsigned times) {
    for (unsigned i = 0; i < times; i++) {
        for (const char *at = text; *at != '\0';) {
            while (ip_ascii_is_space(*at)) {
                at++;
            }
            size_t length = strcspn(at, ";");
            if (length > 0) {
                ip_lines_printf(lines, "%.*s", (int)length, at);
            }
            at += length + (at[length] == ';');
        }
    }
}

void core_memory_fill(struct gen_program *program, uint64_t value) {
    for (unsigned i = 0; i < sizeof program->memory_fill; i++) {
        program->memory_fill[i] = (uint8_t)(value >> (8 * (i % 8)));
    }
}

void core_line_named(struct ip_lines *lines, const char *text, const char *name) {
    const char *hole = strstr(text, "%s");
    ip_lines_printf(lines, "%.*s%s%s", (int)(hole - text), text, name, hole + strlen("%s"));
}

/* Lengthened by operand-size prefixes: a displacement would take room in a µop cache, and without an
 * immediate such a prefix changes no length. */
void core_nops(struct ip_lines *lines, unsigned bytes, unsigned count) {
    static const char *const shortest[] = {"0x90", "0x66,0x90", "0x0f,0x1f,0x00"};
    enum { PLAIN = sizeof shortest / sizeof shortest[0], LONGEST = 15 };
    char prefixes[(LONGEST - PLAIN) * 5 + 1] = "";
    for (unsigned i = PLAIN; i < bytes && i < LONGEST; i++) {
        strcat(prefixes, "0x66,");
    }
    for (unsigned i = 0; i < count; i++) {
        ip_lines_printf(lines, "db %s%s", prefixes, shortest[bytes < PLAIN ? bytes - 1 : PLAIN - 1]);
    }
}

static bool fills(const struct core_session *session, const char *text) {
    return session->meter->filler != NULL && strcmp(session->meter->filler, text) == 0;
}

bool core_nops_ride(const struct core_session *session) {
    return fills(session, GEN_FILLER_MOVE);
}

void core_fillers(const struct core_session *session, struct ip_lines *lines, unsigned bytes,
                  unsigned count) {
    enum { LONG = 6 };
    if (!core_nops_ride(session)) {
        bool short_ones_lag = bytes < LONG && fills(session, GEN_FILLER_LONG_NOP);
        core_nops(lines, short_ones_lag ? LONG : bytes, count);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        ip_lines_add(lines, session->meter->filler);
    }
}

enum ip_status core_add(struct core_session *session, struct gen_program *program, size_t *slot,
                        struct ip_error *err) {
    if (session->batch.stats != NULL) {
        probe_batch_fini(&session->batch);
    }
    if (program->unit.failed || program->init.failed) {
        gen_program_fini(program);
        return ip_fail(err, IP_NO_MEMORY, "out of memory for a kernel");
    }
    return probe_batch_add(&session->batch, program, slot, err);
}

enum ip_status core_units_add(struct core_session *session, const char *title, const char *const *units,
                              unsigned count, size_t *slots, struct ip_error *err) {
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < count && status == IP_OK; i++) {
        struct gen_program program;
        core_program_init(&program, "core: %s, %u", title, i);
        core_lines(&program.unit, units[i], 1);
        status = core_add(session, &program, &slots[i], err);
    }
    return status;
}

enum ip_status core_run(struct core_session *session, struct ip_error *err) {
    if (session->batch.stats != NULL) {
        return IP_OK; /* nothing was added since */
    }
    session->tally->kernels += session->batch.count;
    return probe_batch_measure(&session->batch, session->meter, session->encoder, err);
}

const struct hx_stat *core_stat(const struct core_session *session, size_t slot) {
    return &session->batch.stats[slot];
}

double core_cycles(const struct core_session *session, size_t slot) {
    const struct hx_stat *stat = core_stat(session, slot);
    return stat->verdict == HX_VERDICT_OK ? stat->cycles : NAN;
}

bool core_lacks(const struct core_session *session, size_t slot) {
    return core_stat(session, slot)->verdict == HX_VERDICT_FAULT;
}

enum ip_status core_run_cycles(struct core_session *session, const size_t *slots, unsigned count,
                               double *cycles, struct ip_error *err) {
    enum ip_status status = core_run(session, err);
    for (unsigned i = 0; i < count && status == IP_OK; i++) {
        cycles[i] = core_cycles(session, slots[i]);
    }
    return status;
}

enum ip_status core_learn(struct core_session *session, const char *key, double value, double spread,
                          struct ip_error *err, const char *how, ...) {
    char text[sizeof((struct probe_core_value *)0)->how];
    va_list args;
    va_start(args, how);
    (void)vsnprintf(text, sizeof text, how, args);
    va_end(args);
    return probe_core_set(session->core, key, value, spread, text, err);
}

enum ip_status core_learn_stat(struct core_session *session, const char *key, size_t slot,
                               struct ip_error *err, const char *how) {
    const struct hx_stat *stat = core_stat(session, slot);
    if (stat->verdict == HX_VERDICT_OK) {
        return core_learn(session, key, stat->cycles, stat->spread, err, "%s", how);
    }
    session->tally->untrusted += stat->verdict != HX_VERDICT_FAULT;
    return core_learn(session, key, NAN, NAN, err, "not known: %s", stat->why);
}

/* The kernels of a sweep into the batch; *slot is that of the first, *added how many. */
static enum ip_status sweep_add(struct core_session *session, const struct core_sweep *sweep, unsigned low,
                                unsigned high, unsigned step, size_t *slot, size_t *added,
                                struct ip_error *err) {
    enum ip_status status = IP_OK;
    *added = 0;
    for (unsigned x = low; x <= high && *added < PROBE_POINTS_MAX && status == IP_OK; x += step) {
        struct gen_program program;
        size_t position;
        gen_program_init(&program);
        sweep->write(sweep->self, x, &program);
        status = core_add(session, &program, &position, err);
        *slot = *added == 0 ? position : *slot;
        *added += 1;
    }
    return status;
}

/* Reads them after core_run. */
static void sweep_read(const struct core_session *session, const struct core_sweep *sweep, unsigned low,
                       unsigned step, size_t slot, size_t added, struct core_curve *curve) {
    curve->count = curve->lost = 0;
    curve->lacks = false;
    for (size_t i = 0; i < added; i++) {
        const struct hx_stat *stat = core_stat(session, slot + i);
        bool counts = stat->verdict == HX_VERDICT_OK ||
                      (sweep->wavering && stat->verdict == HX_VERDICT_UNSTABLE && isfinite(stat->cycles));
        if (counts) {
            curve->points[curve->count++] = (struct probe_point){
                .x = low + (double)i * step, .y = stat->cycles, .error = stat->spread * stat->cycles};
        } else {
            curve->lost++;
            curve->lacks = curve->lacks || core_lacks(session, slot + i);
        }
    }
}

enum ip_status core_sweep_run(struct core_session *session, const struct core_sweep *sweep, unsigned low,
                              unsigned high, unsigned step, struct core_curve *curve, struct ip_error *err) {
    size_t slot = 0, added = 0;
    enum ip_status status = sweep_add(session, sweep, low, high, step, &slot, &added, err);
    if (status == IP_OK) {
        status = core_run(session, err);
    }
    if (status == IP_OK) {
        sweep_read(session, sweep, low, step, slot, added, curve);
    }
    return status;
}
