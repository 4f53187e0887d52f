/* SPDX-License-Identifier: Apache-2.0 */
/* Taken branches: of small loops, which may come from a loop buffer, and many in one loop, which may not all
 * be known to the fastest level of the branch predictor. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe/core_groups.h"

enum {
    LOOP_MAX = 120, /* NOPs in a small loop */
    BLOCK = 12,     /* loops whose lengths follow each other are averaged: a loop can end in mid-group */
    SHORT_MAX = 26, /* NOPs in a loop whose code fills no line by its bytes */
    WIDTH_MAX = 16, /* slots that a fetch from the µop cache may bring */
    COPIES = 8,     /* of a form in a loop with its branch */
    JUMP_BYTES = 16,
    JUMPS_MAX = 200,
};

/* Cycles of a loop that a loop buffer must save to be seen. */
static const double GAIN_MIN = 0.3;

/* Mean distance of loops from what a width of the µop cache says, relative; and how much further they are
 * from what they take without. */
static const double FIT_MAX = 0.03, FIT_GAIN = 2.0;

/* Cycles that the branch adds to a loop of COPIES instances: a port that both need is a quarter of one behind
 * four ports, and a sixth behind six. Who needs other ports adds nothing. */
static const double SHARED_MIN = 0.15;

static void loop_write(const void *self, unsigned x, struct gen_program *program) {
    core_program_init(program, "core: a loop of %u NOPs", x);
    core_fillers(self, &program->unit, 8, x);
    program->one_loop = true;
    program->copies = 1;
}

static void short_write(const void *self, unsigned x, struct gen_program *program) {
    core_program_init(program, "core: a loop of %u short fillers", x);
    if (core_nops_ride(self)) {
        core_fillers(self, &program->unit, 3, x);
    } else {
        core_nops(&program->unit, 3, x);
    }
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

/* Mean distance of loops from the larger of issue and whole fetches of `width` slots. */
static double fit(const struct core_session *session, const struct core_curve *curve, double width) {
    double sum = 0;
    for (size_t i = 0; i < curve->count; i++) {
        double slots = curve->points[i].x + 1; /* the branch, with which the counting fuses */
        double cycles = fmax(slots / session->width, isinf(width) ? 1.0 : ceil(slots / width));
        sum += fabs(curve->points[i].y / fmax(1.0, cycles) - 1);
    }
    return sum / (double)curve->count;
}

/* A fetch ends at the loop's branch: a loop of one slot more than a fetch takes two of them. */
static enum ip_status width_learn(struct core_session *session, const struct core_curve *curve,
                                  struct ip_error *err) {
    if (curve->count < SHORT_MAX / 2) {
        session->tally->untrusted++;
        return core_learn(session, "uop_cache_width", NAN, NAN, err,
                          "not known: too few loops could be trusted");
    }
    unsigned best = 0;
    double least = INFINITY;
    for (unsigned width = (unsigned)ceil(session->width); width <= WIDTH_MAX; width++) {
        double distance = fit(session, curve, width);
        best = distance < least ? width : best;
        least = fmin(least, distance);
    }
    if (least > FIT_MAX || least * FIT_GAIN > fit(session, curve, INFINITY)) {
        return core_learn(session, "uop_cache_width", NAN, NAN, err,
                          "not seen: small loops take no whole fetches"); /* no number: passes must agree */
    }
    return core_learn(session, "uop_cache_width", best, least, err,
                      "loops of 1 to %d %s take whole fetches of so many, within %.1f %%", SHORT_MAX,
                      core_nops_ride(session) ? "moves" : "NOPs", 100 * least);
}

/* Instructions of which eight are independent, "%s" their register. */
static const struct {
    const char *form, *text;
    unsigned uses;
} rivals[] = {
    {"shl r64, imm8", "shl %s, 2", 0},      {"imul r64, r64", "imul %s, r13", 0},
    {"bt r64, imm8", "bt %s, 2", 0},        {"popcnt r64, r64", "popcnt %s, r13", 0},
    {"bswap r64", "bswap %s", 0},           {"movsx r64, r8", "movsx %s, r13b", 0},
    {"cmovz r64, r64", "cmovz %s, r13", 0}, {"movmskps r64, xmm", "movmskps %s, xmm0", GEN_USES_XMM},
};
enum { RIVALS = sizeof rivals / sizeof rivals[0] };

/* Does a loop's branch lengthen a loop of a form by what it takes from the form's ports? */
static enum ip_status ports_measure(struct core_session *session, struct ip_error *err) {
    static const char *const registers[COPIES] = {"rax", "rcx", "rdx", "rbx", "rbp", "rsi", "rdi", "r8"};
    size_t slots[RIVALS][2];
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < RIVALS; i++) {
        for (unsigned loop = 0; loop < 2 && status == IP_OK; loop++) {
            struct gen_program program;
            core_program_init(&program, "core: %s%s", rivals[i].form, loop ? " in a loop" : "");
            for (unsigned n = 0; n < COPIES; n++) {
                core_line_named(&program.unit, rivals[i].text, registers[n]);
            }
            program.uses = rivals[i].uses;
            program.one_loop = loop;
            program.copies = loop ? 1 : program.copies;
            status = core_add(session, &program, &slots[i][loop], err);
        }
    }
    status = status == IP_OK ? core_run(session, err) : status;
    for (unsigned i = 0; i < RIVALS && status == IP_OK; i++) {
        double more = core_cycles(session, slots[i][1]) - core_cycles(session, slots[i][0]);
        if (!isnan(more)) {
            char key[PROBE_CORE_FACT_MAX];
            probe_core_fact_key("branch", rivals[i].form, NULL, key);
            status =
                core_learn(session, key, more > SHARED_MIN ? 1 : 0, core_stat(session, slots[i][1])->spread,
                           err, "a loop of %d takes %.2f cycles more with its branch", COPIES, more);
        }
    }
    return status;
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
    const struct core_sweep loops = {.write = loop_write, .self = session},
                            shorts = {.write = short_write, .self = session}, jumps = {.write = jumps_write};
    struct core_curve *curve = malloc(sizeof *curve);
    if (curve == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for a sweep");
    }
    enum ip_status status = core_sweep_run(session, &loops, 1, LOOP_MAX, 1, curve, err);
    status = status == IP_OK ? loops_learn(session, curve, err) : status;
    if (status == IP_OK) {
        status = core_sweep_run(session, &shorts, 1, SHORT_MAX, 1, curve, err);
    }
    status = status == IP_OK ? width_learn(session, curve, err) : status;
    status = status == IP_OK ? ports_measure(session, err) : status;
    if (status == IP_OK) {
        status = core_sweep_run(session, &jumps, 1, JUMPS_MAX, 1, curve, err);
    }
    status = status == IP_OK ? jumps_learn(session, curve, err) : status;
    free(curve);
    return status;
}
