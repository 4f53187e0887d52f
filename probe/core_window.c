/* SPDX-License-Identifier: Apache-2.0 */
/* How many instructions of each kind can be in flight (after H. Wong, "Measuring Reorder Buffer Capacity",
 * 2013, with chains in place of cache misses).
 *
 * Two chains of slow instructions, A and B, take turns in a loop, with n fillers between them. While the
 * fillers fit, B begins before A has ended, and an iteration takes as long as the longer of the two. When
 * they fill what they need until they retire (a reorder buffer, a load buffer ...) B waits for A's end. So
 * the cycles of an iteration rise steeply to the sum of both chains and are flat again: the end of the rise
 * is the capacity.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe/core_groups.h"

enum {
    COARSE = 16, /* step of the first sweep */
    FINE = 48,   /* the second one, by ones, goes so far below and above what the first one found */
    TAIL = 12,   /* its last points, where the chains stand apart */
    LINKS_MAX = 120,
    ALONE = 8, /* fillers that are measured by themselves */
};

/* Share of a chain that the iteration must get longer by within two coarse steps. */
static const double RISE_MIN = 0.3;
/* Chains that take so much longer behind the fewest fillers do not overlap at all: one after the other they
 * take twice as long. */
static const double OVERLAP_MAX = 1.5;

/* How much longer a chain takes than all fillers of an iteration. */
static const double CHAIN_SHARE = 1.3;

/* Instructions that can make a chain: the slowest of which two chains run side by side. One operand is both
 * source and destination, and 1.0 stays 1.0. */
static const char *const slow[] = {"sqrtsd", "divsd", "mulsd"};
enum { SLOW = sizeof slow / sizeof slow[0] };

struct filler {
    const char *key;
    const char *lines[4]; /* in turn; NULL ends. xmm%u is what the last chain left */
    unsigned most;        /* the sweep's end */
    int offset;           /* capacity less the first number of fillers that keeps the chains apart */
    const char *how;
};

#define A_NOP "nop dword [rax]"

/* The reorder buffer holds the fillers, the last instruction of one chain and the first of the other, the
 * others only hold fillers. */
static const struct filler fillers[] = {
    {"rob_slots", {A_NOP}, 1040, 1, "NOPs"},
    {"load_buffer", {"mov rax, [r14]", "mov rcx, [r14+8]"}, 400, -1, "loads"},
    {"store_buffer", {"mov [r14], r13", "mov [r14+8], r13"}, 240, -1, "stores"},
    {"gpr_file", {"lea rax, [r14+r13]", "lea rcx, [r14+r13]", "lea rdx, [r14+r13]"}, 720, -1, "LEAs"},
    {"vector_file",
     {"paddd xmm4, xmm12", "paddd xmm5, xmm12", "paddd xmm6, xmm12", "paddd xmm7, xmm12"},
     720,
     -1,
     "PADDDs"},
    {"branch_buffer", {"jo short $+2"}, 400, -1, "untaken jumps"},
    {"scheduler_uops",
     {"paddd xmm4, xmm%u", "paddd xmm5, xmm%u", "paddd xmm6, xmm%u", "paddd xmm7, xmm%u"},
     400,
     -1,
     "PADDDs that wait"},
};
enum { FILLERS = sizeof fillers / sizeof fillers[0] };

struct kernel {
    const struct core_session *session;
    const struct filler *filler;
    const char *slow;
    unsigned links; /* of each chain */
};

static void vectors_fill(struct gen_program *program) {
    for (unsigned i = 0; i < sizeof program->vector_fill; i++) { /* 1.0 */
        program->vector_fill[i] = i % 8 == 7 ? 0x3f : (i % 8 == 6 ? 0xf0 : 0);
    }
    program->uses = GEN_USES_XMM;
}

/* Where NOPs share slots moves stand for them. */
static bool is_replaced(const struct core_session *session, const struct filler *filler) {
    return strcmp(filler->lines[0], A_NOP) == 0 && core_nops_ride(session);
}

static void filler_lines(const struct core_session *session, struct ip_lines *lines,
                         const struct filler *filler, unsigned chain, unsigned count) {
    if (is_replaced(session, filler)) {
        core_fillers(session, lines, 0, count);
        return;
    }
    unsigned kinds = 1;
    while (kinds < 4 && filler->lines[kinds] != NULL) {
        kinds++;
    }
    for (unsigned i = 0; i < count; i++) {
        const char *line = filler->lines[i % kinds], *hole = strstr(line, "%u");
        if (hole != NULL) {
            ip_lines_printf(lines, "%.*s%u", (int)(hole - line), line, chain);
        } else {
            ip_lines_add(lines, line);
        }
    }
}

static void kernel_write(const void *self, unsigned x, struct gen_program *program) {
    const struct kernel *kernel = self;
    core_program_init(program, "core: %u fillers (%s)", x, kernel->filler->key);
    vectors_fill(program);
    program->one_loop = true;
    program->copies = 1;
    for (unsigned chain = 0; chain < 2; chain++) {
        for (unsigned i = 0; i < kernel->links; i++) {
            ip_lines_printf(&program->unit, "%s xmm%u, xmm%u", kernel->slow, chain, chain);
        }
        filler_lines(kernel->session, &program->unit, kernel->filler, chain, x);
    }
}

/* What the sweeps need to know of this core. */
struct speeds {
    const char *slow;       /* what chains are made of */
    double latency;         /* of one link; NaN: nothing fits */
    double cycles[FILLERS]; /* of one filler, alone */
};

static enum ip_status speeds_add(struct core_session *session, size_t chains[SLOW][2], size_t fills[FILLERS],
                                 struct ip_error *err) {
    enum ip_status status = IP_OK;
    struct gen_program program;
    for (unsigned i = 0; i < SLOW && status == IP_OK; i++) {
        for (unsigned count = 1; count <= 2 && status == IP_OK; count++) {
            core_program_init(&program, "core: %u chains of %s", count, slow[i]);
            vectors_fill(&program);
            for (unsigned c = 0; c < count; c++) {
                ip_lines_printf(&program.unit, "%s xmm%u, xmm%u", slow[i], c, c);
            }
            status = core_add(session, &program, &chains[i][count - 1], err);
        }
    }
    for (unsigned i = 0; i < FILLERS && status == IP_OK; i++) {
        core_program_init(&program, "core: fillers alone (%s)", fillers[i].key);
        vectors_fill(&program);
        filler_lines(session, &program.unit, &fillers[i], 0, ALONE);
        program.forms_per_unit = ALONE;
        status = core_add(session, &program, &fills[i], err);
    }
    return status;
}

static enum ip_status speeds_measure(struct core_session *session, struct speeds *speeds,
                                     struct ip_error *err) {
    size_t chains[SLOW][2], fills[FILLERS];
    enum ip_status status = speeds_add(session, chains, fills, err);
    status = status == IP_OK ? core_run(session, err) : status;
    *speeds = (struct speeds){.slow = "", .latency = NAN};
    for (unsigned i = 0; i < SLOW && status == IP_OK; i++) {
        double one = core_cycles(session, chains[i][0]), two = core_cycles(session, chains[i][1]);
        if (two < 1.15 * one && !(one <= speeds->latency)) {
            speeds->latency = one;
            speeds->slow = slow[i];
        }
    }
    for (unsigned i = 0; i < FILLERS && status == IP_OK; i++) {
        speeds->cycles[i] = fmax(1 / session->width, core_cycles(session, fills[i]));
    }
    return status;
}

static enum ip_status capacity_measure(struct core_session *session, const struct speeds *speeds,
                                       unsigned number, struct core_curve *curve, struct ip_error *err) {
    const struct filler *filler = &fillers[number];
    struct kernel links = {.session = session, .filler = filler, .slow = speeds->slow}, *kernel = &links;
    double latency = speeds->latency;
    const char *how = is_replaced(session, filler) ? "moves" : filler->how;
    const struct core_sweep sweep = {.write = kernel_write, .self = kernel};
    double alone = 2 * filler->most * speeds->cycles[number];
    kernel->links = (unsigned)fmin(LINKS_MAX, ceil(CHAIN_SHARE * alone / latency) + 1);
    enum ip_status status = core_sweep_run(session, &sweep, COARSE, filler->most, COARSE, curve, err);
    if (status != IP_OK) {
        return status;
    }
    if (curve->count < 8 || curve->lost > curve->count) {
        session->tally->untrusted += !curve->lacks;
        return core_learn(session, filler->key, NAN, NAN, err, "not known: too few points could be trusted");
    }
    double chain = latency * kernel->links;
    if (curve->points[0].y > OVERLAP_MAX * chain) {
        return core_learn(session, filler->key, NAN, NAN, err,
                          "not known: with as few as %.0f %s the chains of %s do not overlap",
                          curve->points[0].x, how, kernel->slow);
    }
    size_t at = probe_jump(curve->points, curve->count);
    if (!(curve->points[at + 2].y - curve->points[at].y > RISE_MIN * chain)) {
        return core_learn(session, filler->key, NAN, NAN, err, "not seen: up to %u %s the chains overlap",
                          filler->most, how);
    }
    double middle = curve->points[at + 1].x;
    unsigned low = middle > FINE ? (unsigned)middle - FINE : 1;
    status = core_sweep_run(session, &sweep, low, (unsigned)middle + FINE, 1, curve, err);
    if (status != IP_OK) {
        return status;
    }
    size_t apart = probe_arrival(curve->points, curve->count, TAIL, 0.5 * latency);
    if (apart == 0 || apart >= curve->count) {
        session->tally->untrusted++;
        return core_learn(session, filler->key, NAN, NAN, err, "not known: the rise was not found again");
    }
    double rob = probe_core_get(session->core, PROBE_CORE_ROB_SLOTS);
    double capacity = curve->points[apart].x + filler->offset;
    if (capacity > rob - (0.02 * rob + 3)) { /* each takes a slot: there is no way to see more */
        return core_learn(session, filler->key, NAN, NAN, err,
                          "not seen: the reorder buffer is full of %s first", how);
    }
    return core_learn(session, filler->key, capacity,
                      (curve->points[apart].x - curve->points[apart - 1].x) / capacity, err,
                      "so many %s keep two chains of %s from overlapping", how, kernel->slow);
}

enum ip_status core_window_measure(struct core_session *session, struct ip_error *err) {
    struct speeds speeds;
    enum ip_status status = speeds_measure(session, &speeds, err);
    struct core_curve *curve = malloc(sizeof *curve);
    if (status == IP_OK && curve == NULL) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for a sweep");
    }
    for (unsigned i = 0; i < FILLERS && status == IP_OK; i++) {
        status = isnan(speeds.latency)
                     ? core_learn(session, fillers[i].key, NAN, NAN, err,
                                  "not known: no slow instruction of which two chains run side by side")
                     : capacity_measure(session, &speeds, i, curve, err);
    }
    free(curve);
    return status;
}
