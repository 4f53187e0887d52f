/* SPDX-License-Identifier: Apache-2.0 */
/* Taken branches: of small loops, which may come from a loop buffer, and many in one loop, which may not all
 * be known to the fastest level of the branch predictor. */
#include <math.h>
#include <stdlib.h>

#include "probe/core_groups.h"

enum {
    LOOP_MAX = 120, /* NOPs in a small loop */
    BLOCK = 12,     /* loops whose lengths follow each other are averaged: a loop can end in mid-group */
    JUMP_BYTES = 16,
    JUMPS_MAX = 200,
};

/* Cycles of a loop that a loop buffer must save to be seen. */
static const double GAIN_MIN = 0.3;

static void loop_write(const void *self, unsigned x, struct gen_program *program) {
    (void)self;
    core_program_init(program, "core: a loop of %u NOPs", x);
    core_nops(&program->unit, 8, x);
    program->one_loop = true;
    program->copies = 1;
}

/* Jumps over NOPs that never run. */
static void jumps_write(const void *self, unsigned x, struct gen_program *program) {
    (void)self;
    core_program_init(program, "core: %u jumps", x);
    for (unsigned i = 0; i < x; i++) {
        ip_lines_printf(&program->unit, "jmp short $+%d", JUMP_BYTES);
        core_nops(&program->unit, JUMP_BYTES - 2, 1);
    }
    program->one_loop = true;
    program->copies = 1;
    program->forms_per_unit = x;
}

/* Mean cycles above the issue bound of `count` loops from `first` on. */
static double overhead(const struct core_session *session, const struct core_curve *curve, size_t first,
                       size_t count) {
    double sum = 0;
    for (size_t i = first; i < first + count; i++) {
        sum += curve->points[i].y - (curve->points[i].x + 1) / session->width;
    }
    return sum / (double)count;
}

static enum ip_status loops_learn(struct core_session *session, const struct core_curve *curve,
                                  struct ip_error *err) {
    if (curve->count < LOOP_MAX / 2) {
        session->tally->untrusted++;
        enum ip_status status =
            core_learn(session, "taken_branch", NAN, NAN, err, "not known: too few loops could be trusted");
        return status == IP_OK ? core_learn(session, "loop_buffer_slots", NAN, NAN, err,
                                            "not known: too few loops could be trusted")
                               : status;
    }
    const struct probe_point *least = &curve->points[0];
    for (size_t i = 1; i < curve->count && curve->points[i].x <= 4; i++) {
        least = curve->points[i].y < least->y ? &curve->points[i] : least;
    }
    enum ip_status status = core_learn(session, "taken_branch", least->y, least->error / least->y, err,
                                       "a loop of %.0f NOPs", least->x);
    if (status != IP_OK) {
        return status;
    }
    /* Where do loops begin to cost more than their slots, for good? */
    size_t best = 0;
    double gain = 0;
    for (size_t at = BLOCK; at + BLOCK <= curve->count; at++) {
        double more = overhead(session, curve, at, curve->count - at) - overhead(session, curve, 0, at);
        if (more > gain) {
            gain = more;
            best = at;
        }
    }
    if (gain < GAIN_MIN) {
        return core_learn(session, "loop_buffer_slots", 0, 0, err,
                          "none seen: loops of up to %d NOPs cost the same beyond their slots", LOOP_MAX);
    }
    return core_learn(session, "loop_buffer_slots", curve->points[best - 1].x + 1, 1 / curve->points[best].x,
                      err, "larger loops take %.2f cycles more than their slots", gain);
}

static enum ip_status jumps_learn(struct core_session *session, const struct core_curve *curve,
                                  struct ip_error *err) {
    size_t near = probe_departure(curve->points, curve->count, 0.25, 1.3);
    bool few = curve->count < JUMPS_MAX / 2;
    if (few || near == curve->count || near == 0) {
        session->tally->untrusted += few;
        static const char *const keys[] = {"taken_branch_far", "taken_branch_near"};
        enum ip_status status = IP_OK;
        for (unsigned i = 0; i < 2 && status == IP_OK; i++) {
            status =
                few ? core_learn(session, keys[i], NAN, NAN, err,
                                 "not known: too few kernels could be trusted")
                    : core_learn(session, keys[i], NAN, NAN, err,
                                 "not seen: up to %d jumps in a loop take the same time each", JUMPS_MAX);
        }
        return status;
    }
    double sum = 0;
    size_t rest = (curve->count - near) / 2;
    for (size_t i = curve->count - rest; i < curve->count; i++) {
        sum += curve->points[i].y / (double)rest;
    }
    /* The loop's own branch is one more. */
    enum ip_status status = core_learn(
        session, "taken_branch_near", curve->points[near - 1].x + 1, 1 / curve->points[near - 1].x, err,
        "so many jumps %d bytes apart take %.2f cycles each", JUMP_BYTES, curve->points[near - 1].y);
    return status == IP_OK
               ? core_learn(session, "taken_branch_far", sum, curve->points[curve->count - 1].error / sum,
                            err, "up to %d jumps %d bytes apart", JUMPS_MAX, JUMP_BYTES)
               : status;
}

enum ip_status core_branch_measure(struct core_session *session, struct ip_error *err) {
    const struct core_sweep loops = {loop_write, NULL}, jumps = {jumps_write, NULL};
    struct core_curve *curve = malloc(sizeof *curve);
    if (curve == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for a sweep");
    }
    enum ip_status status = core_sweep_run(session, &loops, 1, LOOP_MAX, 1, curve, err);
    status = status == IP_OK ? loops_learn(session, curve, err) : status;
    if (status == IP_OK) {
        status = core_sweep_run(session, &jumps, 1, JUMPS_MAX, 1, curve, err);
    }
    status = status == IP_OK ? jumps_learn(session, curve, err) : status;
    free(curve);
    return status;
}
